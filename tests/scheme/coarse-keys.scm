;; Tables whose equivalence is coarser than equal? find what it takes for the same key.
(import (scheme base) (scheme write) (scheme char) (srfi 128)
        (prefix (srfi 69) a:) (prefix (srfi 125) b:) (prefix (only (srfi 113) set set-size) s:))

(define-syntax test
  (syntax-rules ()
    ((_ form ...)
     (begin
       (begin (write 'form) (display " => ") (write form) (newline))
       ...))))

(define (found make set-it! ref same? stored keys)
  (let ((table (make same?)))
    (set-it! table stored 'here)
    (map (lambda (key) (ref table key 'none)) keys)))
(define (found-69 same? stored . keys)
  (found a:make-hash-table a:hash-table-set! a:hash-table-ref/default same? stored keys))
(define (found-125 same? stored . keys)
  (found b:make-hash-table b:hash-table-set! b:hash-table-ref/default same? stored keys))

(test (found-69 string-ci=? "Straße" "STRASSE" "strasse" "stra")
      (found-69 char-ci=? #\A #\a #\A #\b)
      (found-69 = 2 2. 2+0.i 3)
      (found-69 = 0 0. -0. -0.+0.i 0-0.i)
      (found-69 = 1/2 .5 1/3)
      (found-69 = (expt 10 400) (expt 10 400) +inf.0)
      (found-69 = 1+2i 1.+2.i 1.+2i 1.-2.i)
      (found-69 = 1e300 (exact 1e300)))
(test (found-125 string-ci=? "Straße" "STRASSE" "strasse" "stra")
      (found-125 char-ci=? #\A #\a #\A #\b)
      (found-125 = 2 2. 2+0.i 3)
      (found-125 string=? "a" "a" "A")
      (found-125 equal? 2 2 2.))
(test (a:hash-table-ref/default (a:alist->hash-table '(("Key" . 1) ("KEY" . 2)) string-ci=?) "key" #f)
      (a:hash-table-size (a:alist->hash-table '((1 . a) (1. . b) (2 . c)) =))
      (b:hash-table-ref/default (b:hash-table-copy (b:alist->hash-table '(("Key" . 1)) string-ci=?)) "kEY" #f))

;; numbers in sets and tables of the default comparator
(define order (make-default-comparator))
(test (s:set-size (s:set order 0. -0. 0)) (s:set-size (s:set order 1 1. 1/2 .5 1+0.i))
      (s:set-size (s:set order '(0.) '(-0.) '#(0) '#(-0.)))
      (= (number-hash 0.) (number-hash -0.) (number-hash 0)) (= (default-hash 3) (default-hash 3.))
      (b:hash-table-ref/default (b:hash-table order -0. 'zero) 0 #f))
