;; Procedures of SICP's picture language, and of (srfi 203), with wrong arguments.
(import (scheme base) (scheme case-lambda) (scheme write) (sicp picture) (prefix (srfi 203) canvas:)
        (only (cairn control) condition->string))

(include "../support/say.scm")
(include "../support/wrong.scm")

(define line (segments->painter (list (make-segment (make-vect 0 0) (make-vect 1 1)))))
(say (segments->painter five) (segments->painter (list five)) (beside five line) (superpose line five)
     (transform-painter five (make-vect 0 0) (make-vect 1 0) (make-vect 0 1)) (paint-svg five line)
     (paint-svg "x.svg" five))
(say (parameterize ((canvas:canvas-size 1)) 1) (parameterize ((canvas:canvas-name five)) 1)
     (canvas:draw-line five '(1 1)) (canvas:image-file->painter five) (canvas:rogers five))
