;;; (srfi 226 inspection): (srfi 226 control inspection), as SRFI 226 names it for R7RS.
(define-library (srfi 226 inspection)
  (export continuation? non-composable-continuation?)
  (import (srfi 226 control inspection)))
