;; SRFIs 25, 37, 42, 43, 78, 126 and 175: arrays, options, comprehensions, vectors, checks, hashtables, ASCII.
(import (except (scheme base) vector-map vector-for-each vector-copy) (scheme write) (srfi 25) (srfi 37) (srfi 42) (srfi 43)
        (rename (srfi 78) (check check-78)) (srfi 126) (srfi 175))
(include "include/check.scm")

;; 25
(define a (array (shape 0 2 1 4) 'a 'b 'c 'd 'e 'f))
(check (list (array-rank a) (array-start a 1) (array-end a 1) (array-ref a 0 1) (array-ref a 1 3) (array-ref a (vector 1 2))
             (array-ref a (array (shape 0 2) 0 3)))
       => '(2 1 4 a f e c))
(define diagonal (share-array a (shape 0 2) (lambda (i) (values i (+ i 1)))))
(define transposed (share-array a (shape 1 4 0 2) (lambda (i j) (values j i))))
(array-set! diagonal 1 'x)
(check (list (array-ref a 1 2) (array-ref transposed 2 1) (array-ref transposed 3 0) (array-rank (make-array (shape))))
       => '(x x c 0))
(check-error (array-ref a 0 0))
(check-error (array-ref a 0))
(check-error (share-array a (shape 0 3) (lambda (i) (values i 1))))
(check-error (shape 1 0))

;; 37
(define (parse . args)
  (reverse
   (args-fold args
              (list (option '(#\v "verbose") #f #f (lambda (o name arg l) (cons (list name arg) l)))
                    (option '(#\o "output") #t #f (lambda (o name arg l) (cons (list name arg) l)))
                    (option '(#\d "debug") #f #t (lambda (o name arg l) (cons (list name arg) l))))
              (lambda (o name arg l) (cons (list 'unknown name arg) l))
              cons
              '())))
(check (parse "-vofile" "x" "--output" "y" "--output=z" "-d" "-d3" "--debug=" "-q" "--what=1" "-" "--" "-v")
       => '((#\v #f) (#\o "file") "x" ("output" "y") ("output" "z") (#\d #f) (#\d "3") ("debug" "") (unknown #\q #f)
            (unknown "what" "1") "-" "-v"))
(check (parse "-o") => '((#\o #f)))
(check-error (option "v" #f #f list))

;; 42
(check (list (list-ec (:range i 5) (if (odd? i)) (* i i)) (list-ec (:range i 3) (:range j i) (list i j)) (list-ec (:list x '(a b) '(c)) x)
             (list-ec (:string c "ab" "c") c) (list-ec (:vector x (index i) #(a b)) (cons i x)) (list-ec (:range i 10 0 -3) i)
             (list-ec (:parallel (:integers i) (:list x '(a b)) (:range k 5 9)) (list i x k)) (list-ec (:while (:integers i) (< i 3)) i)
             (list-ec (:until (:integers i) (= i 3)) i) (list-ec (: x '(1 2)) x) (list-ec (: x (index i) "ab") (list x i)) (list-ec (: x 1 3) x)
             (list-ec (:let x 5) (:range i x) (not (< i 3)) i) (list-ec (:char-range c #\a #\c) c) (list-ec (:real-range x 0. 1 .5) x)
             (list-ec (:do ((i 0)) (< i 3) ((+ i 1))) i) (list-ec (nested (:range i 3) (if (> i 0))) i)
             (append-ec (:range i 3) (list i i)) (string-ec (:list c '(#\a)) c) (vector-ec (:range i 3) i) (vector-of-length-ec 2 (:range i 2) i)
             (sum-ec (:range i 5) i) (product-ec (:range i 1 5) i) (min-ec (:list x '(3 1 2)) x) (max-ec (:list x '(3 1 2)) x)
             (any?-ec (:range i 5) (> i 3)) (every?-ec (:range i 5) (> i 3)) (first-ec 'no (:range i 5) (if (> i 2)) i) (last-ec 'no (:range i 0) i)
             (fold-ec 10 (:range i 3) i +) (fold3-ec 'none (:range i 1 4) i - +) (list-ec (:port x (open-input-string "1 (2)")) x))
       => '((1 9) ((1 0) (2 0) (2 1)) (a b c) (#\a #\b #\c) ((0 . a) (1 . b)) (10 7 4 1) ((0 a 5) (1 b 6)) (0 1 2) (0 1 2 3) (1 2)
            ((#\a 0) (#\b 1)) (1 2) (3 4) (#\a #\b #\c) (0. .5) (0 1 2) (1 2) (0 0 1 1 2 2) "a" #(0 1 2) #(0 1) 10 24 1 3 #t #f 3 no 13 4
            (1 (2))))
(define-syntax :twice
  (syntax-rules () ((_ cc var n) (:range cc var 0 (* 2 n) 2))))
(check (list-ec (:twice i 3) i) => '(0 2 4))
(check-error (list-ec (: x 'a) x))
(check-error (vector-of-length-ec 3 (:range i 2) i))

;; 43
(check (list (vector-map (lambda (i x y) (list i x y)) #(a b) #(c d e)) (vector-fold (lambda (i acc x) (+ acc (* i x))) 0 #(1 2 3))
             (vector-fold-right (lambda (i acc x) (cons (cons i x) acc)) '() #(a b)) (vector-count (lambda (i x) (= i x)) #(0 5 2))
             (vector-copy #(1 2 3) 1 5 'x) (vector-binary-search #(1 3 5) 3 -) (let ((v (vector 1 2))) (vector-map! (lambda (i x) (+ i x)) v) v)
             (vector-index even? #(1 2)) (reverse-vector->list #(1 2)))
       => '(#((0 a c) (1 b d)) 8 ((0 . a) (1 . b)) 2 #(2 3 x x) 1 #(1 3) 1 (2 1)))
(check-error (vector-map 5 #(1)))

;; 78
(check-set-mode! 'off)
(check-78 (+ 1 1) => 3)
(check (check-passed? 0) => #t)
(check-set-mode! 'report-failed)
(check-78 (+ 1 1) => 2)
(check-ec (:range i 5) (:range j 5) (+ i j) => (+ j i) (i j))
(check (check-passed? 2) => #t)
(define report-78
  (let ((out (open-output-string)))
    (parameterize ((current-output-port out))
      (check-78 (+ 1 1) => 3)
      (check-ec (:range i 5) (* i i) => (+ i i) (i))
      (check-report))
    (get-output-string out)))
(check report-78
       => (string-append "(+ 1 1) => 2 ; *** failed ***\n ; expected result: 3\n(let ((i 1)) (* i i)) => 1 ; *** failed ***\n"
                         " ; expected result: 2\n\n; *** checks *** : 2 correct, 2 failed. First failed example:\n\n"
                         "(+ 1 1) => 2 ; *** failed ***\n ; expected result: 3\n"))
(check-reset!)
(check-error (check-set-mode! 'loud))

;; 126
(define t (alist->eqv-hashtable '((a . 1) (b . 2) (a . 3))))
(check (list (hashtable-ref t 'a 0) (hashtable-ref t 'c 0) (hashtable-size t) (hashtable-keys t) (hashtable-value-list t) (hashtable-contains? t 'b)
             (hashtable-update! t 'c (lambda (x) (+ x 1)) 9) (hashtable-intern! t 'd (lambda () 'new)) (hashtable-inc! t 'a)
             (hashtable-sum t 0 (lambda (k v n) (+ n 1))) (hashtable-map->lset t cons))
       => '(1 0 2 #(a b) (1 2) #t 10 new 2 4 ((a . 2) (b . 2) (c . 10) (d . new))))
(check-values (hashtable-lookup t 'b) => 2 #t)
(check-values (hashtable-lookup t 'z) => #f #f)
(check-values (hashtable-find t (lambda (k v) (eqv? v 10))) => 'c 10 #t)
(hashtable-prune! t (lambda (k v) (eqv? v 2)))
(check (list (hashtable-key-list t) (hashtable-size (hashtable-empty-copy t)) (hashtable-mutable? (hashtable-copy t)) (hashtable-weakness t)
             (hashtable-ref (alist->hashtable string-hash string=? '(("x" . 1))) "x") (hashtable-empty? (make-eq-hashtable 10 'weak-key)))
       => '((c d) 0 #f #f 1 #t))
(check-error (hashtable-ref t 'z))
(check-error (hashtable-set! (hashtable-copy t) 'a 1))
(check-error (hashtable-ref '() 'a 1))

;; 175
(check (list (ascii-upcase #\a) (ascii-downcase 65) (ascii-digit-value #\7 10) (ascii-digit-value #\7 7) (ascii-lower-case-value #\c 10 6)
             (ascii-nth-digit 3) (ascii-control->graphic 1) (ascii-graphic->control #\A) (ascii-mirror-bracket #\() (ascii-string-ci<? "aB" "Ac")
             (ascii-alphabetic? #\é) (ascii-string? "é") (ascii-whitespace? #\tab) (ascii-ci=? #\a #\A))
       => '(#\A 97 7 #f 12 #\3 65 #\x1 #\) #t #f #f #t #t))
(check-error (ascii-upcase "a"))

(report)
