;;; (scheme time) of R7RS-small.  A jiffy is a nanosecond.
(define-library (scheme time)
  (export (rename %current-jiffy current-jiffy) (rename %current-second current-second) jiffies-per-second)
  (import (cairn syntax) (cairn primitives))
  (begin
    (define (jiffies-per-second) 1000000000)))
