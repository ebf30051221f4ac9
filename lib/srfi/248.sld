;;; (srfi 248): minimal delimited continuations: exception handlers that get the continuation of the raise.  All names
;;; are those of (cairn control); `guard` is that of (scheme base), which knows continuation variables, too.
(define-library (srfi 248)
  (export with-unwind-handler empty-continuation? with-exception-handler raise raise-continuable guard => else)
  (import (scheme base) (only (cairn control) with-unwind-handler empty-continuation?)))
