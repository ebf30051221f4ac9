(import (scheme base) (scheme write))
(define area (case-lambda ((r) (* 3 r r)) ((a b) (* a b))))
(define volume (case-lambda ((r) (* 4 r r r)) ((a b c) (* a b c))))
(write (area (volume 1)))
