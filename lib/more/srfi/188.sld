;;; (srfi 188): `let-syntax` and `letrec-syntax` whose bodies belong to the body around them.
(define-library (srfi 188)
  (export splicing-let-syntax splicing-letrec-syntax)
  (import (cairn syntax)))
