;; heap-max: 48M
;; Random stores of fresh objects into old containers of every kind, checked against a model that holds numbers only, so
;; that no collection can change it. A store whose barrier is missing, or a card that is not scanned, shows as a wrong
;; element.
(import (scheme base) (scheme write) (scheme lazy) (scheme case-lambda) (scheme process-context) (srfi 69))

(define zeal (not (member (get-environment-variable "CAIRN_ZEAL") '(#f "" "0"))))
(define state 12345)
(define (below n)
  (set! state (modulo (+ (* state 1103515245) 12345) 2147483648))
  (modulo (quotient state 256) n))

;; What is stored: made anew, and recognized by its number.
(define (fresh id)
  (case (modulo id 4)
    ((0) (list id))
    ((1) (vector id (number->string id)))
    ((2) (cons id (+ id .5)))
    (else (lambda () id))))
(define (id-of x)
  (cond ((eq? x 'none) -1)
        ((procedure? x) (x))
        ((vector? x) (if (equal? (vector-ref x 1) (number->string (vector-ref x 0))) (vector-ref x 0) (list 'torn x)))
        ((and (pair? x) (null? (cdr x))) (car x))
        ((and (pair? x) (eqv? (cdr x) (+ (car x) .5))) (car x))
        (else (list 'not-ours x))))

;;; Containers: a size, and a procedure that gets slot `i` or sets it.

(define (vector-container n)
  (let ((v (make-vector n 'none)))
    (cons n (case-lambda ((i) (vector-ref v i)) ((i x) (vector-set! v i x))))))

(define-record-type three (make-three a b c) three? (a three-a set-a!) (b three-b set-b!) (c three-c set-c!))
(define (record-container)
  (let ((r (make-three 'none 'none 'none)))
    (cons 3 (case-lambda
              ((i) (case i ((0) (three-a r)) ((1) (three-b r)) (else (three-c r))))
              ((i x) (case i ((0) (set-a! r x)) ((1) (set-b! r x)) (else (set-c! r x))))))))

;; a large field list: the last ones are on another line of the heap than the first
(define-record-type wide
  (make-wide a b c d e f g h i j k l m n o p q r s t)
  wide?
  (a wide-a) (b wide-b) (c wide-c) (d wide-d) (e wide-e) (f wide-f) (g wide-g) (h wide-h) (i wide-i) (j wide-j)
  (k wide-k) (l wide-l) (m wide-m) (n wide-n) (o wide-o) (p wide-p) (q wide-q) (r wide-r) (s wide-s) (t wide-t set-t!))
(define (wide-container)
  (let ((r (make-wide 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 'none)))
    (cons 1 (case-lambda ((i) (if (eqv? (wide-s r) 18) (wide-t r) 'damaged)) ((i x) (set-t! r x))))))

(define (pair-container)
  (let ((p (cons 'none 'none)))
    (cons 2 (case-lambda
              ((i) (if (= i 0) (car p) (cdr p)))
              ((i x) (if (= i 0) (set-car! p x) (set-cdr! p x)))))))

;; assigned variables of a closure
(define (box-container)
  (let ((a 'none) (b 'none))
    (cons 2 (case-lambda
              ((i) (if (= i 0) a b))
              ((i x) (if (= i 0) (set! a x) (set! b x)))))))

(define global-a 'none)
(define global-b 'none)
(define (global-container)
  (cons 2 (case-lambda
            ((i) (if (= i 0) global-a global-b))
            ((i x) (if (= i 0) (set! global-a x) (set! global-b x))))))

(define (table-container n key)
  (let ((t (make-hash-table)))
    (cons n (case-lambda
              ((i) (hash-table-ref/default t (key i) 'none))
              ((i x)
               (if (= (modulo i 7) 3) (hash-table-delete! t (key i)))
               (hash-table-set! t (key i) x))))))

;; A promise is made when the slot is set and forced when it is first read: the value goes into an old promise.
(define (promise-container n)
  (let ((v (make-vector n (make-promise 'none))))
    (cons n (case-lambda
              ((i) (force (vector-ref v i)))
              ((i x) (let ((id (id-of x))) (vector-set! v i (delay (fresh id)))))))))

;; The slots are in a list that procedures of the library write to.
(define (list-container n)
  (let ((l (make-list n 'none)))
    (cons n (case-lambda ((i) (list-ref l i)) ((i x) (list-set! l i x))))))

;; through vector-copy! and vector-fill!
(define (copied-container n)
  (let ((v (make-vector n 'none)))
    (cons n (case-lambda
              ((i) (vector-ref v i))
              ((i x) (if (even? i) (vector-fill! v x i (+ i 1)) (vector-copy! v i (vector 'other x) 1 2)))))))

(define large (if zeal '(8 1000 9000) '(1 2 15 63 64 65 511 512 513 1023 1024 1025 4096 8191 8192 20000 70000)))
(define containers
  (list->vector
    (append
      (map vector-container large)
      (map copied-container (if zeal '(5 9001) '(5 700 9001 20001)))
      (list (record-container) (record-container) (wide-container) (wide-container) (pair-container) (pair-container)
            (box-container) (box-container) (global-container) (list-container 9) (promise-container 8)
            (table-container 30 (lambda (i) i))
            (table-container 30 (lambda (i) (number->string i)))))))
(define model (vector-map (lambda (c) (make-vector (car c) -1)) containers))

;; Often the ends: a card, a block or an object ends there.
(define (slot n)
  (case (below 4)
    ((0) (- n 1))
    ((1) (let ((k (* 64 (below (+ 1 (quotient n 64)))))) (if (< k n) k (- n 1))))
    ((2) (max 0 (- n 1 (below 3))))
    (else (below n))))

(define failures 0)
(define (check c i)
  (let ((found (id-of ((cdr (vector-ref containers c)) i))) (wanted (vector-ref (vector-ref model c) i)))
    (if (not (eqv? found wanted))
        (begin
          (set! failures (+ failures 1))
          (if (< failures 10)
              (begin (write (list 'container c 'slot i 'wanted wanted 'found found)) (newline)))))))

(define (store id)
  (let* ((c (below (vector-length containers))) (n (car (vector-ref containers c))) (i (slot n)))
    ((cdr (vector-ref containers c)) i (fresh id))
    (vector-set! (vector-ref model c) i id)))

(define here (make-parameter 'none))
(define kept '())
(define (churn n)
  (set! kept '())
  (do ((i 0 (+ i 1))) ((= i n)) (set! kept (cons (make-vector 20 i) kept))))

(define (check-all)
  (do ((c 0 (+ c 1))) ((= c (vector-length containers)))
    (let ((n (car (vector-ref containers c))))
      (do ((i 0 (+ i 1))) ((= i n)) (check c i)))))

(define ops (if zeal 1200 60000))
(define pause (if zeal 400 6000))
(define id 0)
(do ((k 1 (+ k 1))) ((= k ops))
  (set! id (+ id 1))
  (store id)
  (if (= 0 (below 8))
      (let* ((c (below (vector-length containers))) (i (slot (car (vector-ref containers c))))) (check c i)))
  (if (= 0 (modulo k (quotient pause 3)))
      (let ((mine id))
        ; a parameter's value is reached through the state of dynamic-wind alone
        (parameterize ((here (fresh mine)))
          (churn (if zeal 3 30000))
          (if (not (eqv? (id-of (here)) mine)) (begin (write (list 'parameter (here))) (newline))))))
  (if (= 0 (modulo k pause)) (check-all)))
(check-all)
(write (list 'failures failures))
(newline)
