(define greet
  (case-lambda
    ((name) (list 'hello name))
    ((greeting name) (list greeting name))))
(display (greet 'a))
(newline)
(display (greet 1 2 3))
