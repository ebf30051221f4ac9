;;; (srfi 166 pretty): programs and data, broken into lines and indented.
(define-library (srfi 166 pretty)
  (export pretty pretty-shared pretty-simply pretty-with-color)
  (import (scheme base) (scheme write) (srfi 1) (srfi 69) (srfi 130) (srfi 166 base) (srfi 166 color)
          (srfi 166 shared))
  (include "pretty.scm"))
