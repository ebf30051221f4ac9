;; Procedures of SICP's picture language with wrong arguments.
(import (scheme base) (scheme case-lambda) (scheme write) (sicp picture) (only (cairn control) condition->string))

(include "../support/say.scm")
(include "../support/wrong.scm")

(define line (segments->painter (list (make-segment (make-vect 0 0) (make-vect 1 1)))))
(say (segments->painter five) (segments->painter (list five)) (beside five line) (superpose line five)
     (transform-painter five (make-vect 0 0) (make-vect 1 0) (make-vect 0 1)) (paint-svg five line)
     (paint-svg "x.svg" five))
