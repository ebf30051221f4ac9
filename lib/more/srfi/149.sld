;;; (srfi 149): `syntax-rules` in which a variable that more ellipses follow than in its pattern is repeated for the
;;; innermost of them; that of (scheme base) repeats it for the outermost, as R6RS has it.
(define-library (srfi 149)
  (export (rename innermost-syntax-rules syntax-rules))
  (import (cairn syntax)))
