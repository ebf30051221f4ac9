;; Messages that nobody receives are memory like any other: the limit holds for them, and what is received is free
;; again.
(import (scheme base) (scheme write) (cairn place))
(define channel (make-place-channel))
(define message (make-bytevector 1000000 7))
(define (send-all n)
  (guard (e ((error-object? e) (display (error-object-message e)) (newline) n))
    (place-channel-put! channel message)
    (send-all (+ n 1))))
(define (receive-all n)
  (if (bytevector? (place-channel-try-get! channel #f)) (receive-all (+ n 1)) n))
(write (let* ((sent (send-all 0)) (received (receive-all 0)) (again (send-all 0)))
         (list sent received again)))
(newline)
