;;; (srfi 61): cond with clauses (generator guard => receiver).
(define-library (srfi 61)
  (export cond)
  (import (rename (scheme base) (cond base:cond)))
  (begin
    (define-syntax cond
      (syntax-rules (=> else)
        ((_ (else body ...)) (begin body ...))
        ((_ (test => receiver) clause ...)
         (let ((x test)) (if x (receiver x) (cond clause ...))))
        ((_ (generator guard => receiver) clause ...)
         (call-with-values (lambda () generator)
           (lambda args (if (apply guard args) (apply receiver args) (cond clause ...)))))
        ((_ (test) clause ...) (or test (cond clause ...)))
        ((_ (test body ...) clause ...) (if test (begin body ...) (cond clause ...)))
        ((_) (base:cond (#f #f)))))))
