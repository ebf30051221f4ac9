(define area (case-lambda ((r) (* 3 r r)) ((w h) (* w h)) ((a b c d . more) a)))
(display (area 2 3))
(newline)
(display (area 1 2 3))
