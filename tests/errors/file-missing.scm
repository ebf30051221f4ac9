(define (slurp name) (call-with-input-file name read-line))
(display (slurp "no/such/file"))
