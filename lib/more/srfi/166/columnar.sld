;;; (srfi 166 columnar): columns, tables, wrapped and justified text.
(define-library (srfi 166 columnar)
  (export columnar tabular wrapped wrapped/list wrapped/char justified from-file line-numbers)
  (import (scheme base) (scheme char) (scheme file) (srfi 1) (srfi 117) (srfi 130) (srfi 166 base) (srfi 166 shared))
  (include "column.scm"))
