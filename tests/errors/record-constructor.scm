;; A wrong count of arguments of a constructor that is made at run time: by the name that it has, at the call.
(import (scheme base) (scheme write) (only (scheme process-context) exit) (prefix (srfi 99) e:))
(e:define-record-type animal #t #t name)
(e:define-record-type (dog animal) (new-dog breed name) #t breed)
(define (try n)
  (guard (e (#t (write (cons (error-object-message e) (error-object-irritants e)))))
    (case n
      ((0) ((e:rtd-constructor animal)))
      ((1) ((e:rtd-constructor dog) 1)))))
(try 0)
(try 1)
(define (make n)
  (list (new-dog n)))
(make 1)
