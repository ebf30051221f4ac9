;; A literal string lies in read-only memory: the runtime's bulk operations must refuse it too.
(define greeting "hello")
(define copy (string-copy greeting))
(string-fill! copy #\x)
(display copy)
(newline)
(string-copy! greeting 0 "J")
