;;; (srfi 204): the pattern matcher of Wright, as (cairn match) has it.
(define-library (srfi 204)
  (export match match-lambda match-lambda* match-let match-let* match-letrec)
  (import (cairn match)))
