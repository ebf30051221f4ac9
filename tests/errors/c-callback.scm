; What a callback raises comes out of the call of C.
(import (scheme base) (scheme write) (cairn c))
(define qsort (c-procedure void "qsort" (bytevector size_t size_t pointer)))
(define (sort! v less) (qsort v (bytevector-length v) 1 (c-callback int (pointer pointer) less)))
(define (compare a b) (- (c-ref a uint8) (error "cannot compare with" (c-ref b uint8))))
(sort! (bytevector 3 1 2) compare)
