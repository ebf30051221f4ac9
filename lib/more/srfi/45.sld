;;; (srfi 45): promises for iterative lazy algorithms, which R7RS has under other names.
(define-library (srfi 45)
  (export (rename delay-force lazy) delay force eager)
  (import (scheme base) (scheme lazy))
  (begin
    ;; A promise of a value that is there, be that a promise or not.
    (define (eager x) (delay x))))
