;;; (rnrs unicode) of R6RS, but for general categories and normalization.
(define-library (rnrs unicode)
  (export
   char-upcase char-downcase char-titlecase char-foldcase char-ci=? char-ci<? char-ci>? char-ci<=? char-ci>=?
   char-alphabetic? char-numeric? char-whitespace? char-upper-case? char-lower-case? char-title-case?
   string-upcase string-downcase string-titlecase string-foldcase string-ci=? string-ci<? string-ci>? string-ci<=?
   string-ci>=?)
  (import (scheme char) (srfi 129)))
