;;; (srfi 38): external representation of data with shared structure.
(define-library (srfi 38)
  (export write-with-shared-structure (rename write-with-shared-structure write/ss)
          read-with-shared-structure (rename read-with-shared-structure read/ss))
  (import (scheme base) (scheme case-lambda) (scheme read) (scheme write))
  (begin
    ;; The third argument of the text has no meaning.
    (define write-with-shared-structure
      (case-lambda
        ((x) (write-shared x))
        ((x port) (write-shared x port))
        ((x port more) (write-shared x port))))
    (define read-with-shared-structure
      (case-lambda
        (() (read))
        ((port) (read port))))))
