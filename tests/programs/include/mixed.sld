;; A library of R7RS on one of R6RS.
(define-library (include mixed)
  (export safely)
  (import (scheme base) (only (include shapes (1)) shape-error? shape-error-name))
  (begin
    ;; What R7RS's procedures say of what `thunk` raises.
    (define (safely thunk)
      (guard (e ((shape-error? e) (list 'shape (shape-error-name e)))
                ((error-object? e) (list (error-object-message e) (error-object-irritants e)))
                (else (list 'other e)))
        (thunk)))))
