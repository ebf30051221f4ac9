;;; (srfi 128): comparators: a type test, an equality, an order and a hash function as one object; with the comparators
;;; of SRFI 162, as that asks.
;;;
;;; The default comparator orders objects of different types by type, in the order of `type-rank`; then come the types
;;; registered with `comparator-register-default!`, in the order of registration.
(define-library (srfi 128)
  (export
   comparator? comparator-ordered? comparator-hashable?
   make-comparator make-pair-comparator make-list-comparator make-vector-comparator
   make-eq-comparator make-eqv-comparator make-equal-comparator
   boolean-hash char-hash char-ci-hash string-hash string-ci-hash symbol-hash number-hash
   make-default-comparator default-hash comparator-register-default!
   comparator-type-test-predicate comparator-equality-predicate comparator-ordering-predicate
   comparator-hash-function
   comparator-test-type comparator-check-type comparator-hash
   hash-bound hash-salt
   =? <? >? <=? >=? comparator-if<=>
   ;; SRFI 162
   comparator-max comparator-min comparator-max-in-list comparator-min-in-list
   default-comparator boolean-comparator real-comparator char-comparator char-ci-comparator
   string-comparator string-ci-comparator pair-comparator list-comparator vector-comparator
   eq-comparator eqv-comparator equal-comparator)
  (import (scheme base) (scheme char) (scheme complex) (scheme inexact)
          (only (cairn control) wrong-type check-procedure)
          (rename (only (cairn hash-table) hash string-hash string-ci-hash number-hash)
                  (number-hash table:number-hash) (string-hash table:string-hash)
                  (string-ci-hash table:string-ci-hash)))
  (begin

    (define-record-type comparator
      (%comparator type-test equality ordering hash ordered? hashable?)
      comparator?
      (type-test comparator-type-test-predicate)
      (equality comparator-equality-predicate)
      (ordering comparator-ordering-predicate)
      (hash comparator-hash-function)
      (ordered? comparator-ordered?)
      (hashable? comparator-hashable?))

    (define (make-comparator type-test equality ordering hash)
      (let ((type-test (if (eq? type-test #t) (lambda (x) #t) (check-procedure "make-comparator" type-test)))
            (equality (cond
                        ((not (eq? equality #t)) (check-procedure "make-comparator" equality))
                        (ordering (lambda (x y) (not (or (ordering x y) (ordering y x)))))
                        (else (wrong-type "make-comparator" "an ordering, for there is no equality" ordering)))))
        (%comparator type-test equality
                     (if ordering
                         (check-procedure "make-comparator" ordering)
                         (lambda (x y) (error "this comparator has no order; compared:" x y)))
                     (if hash
                         (check-procedure "make-comparator" hash)
                         (lambda (x . bound) (error "this comparator has no hash function; hashed:" x)))
                     (if ordering #t #f) (if hash #t #f))))

    ;;;; Use

    (define (check-comparator who x)
      (if (comparator? x) x (wrong-type who "a comparator" x)))

    (define (comparator-test-type comparator x)
      ((comparator-type-test-predicate (check-comparator "comparator-test-type" comparator)) x))

    (define (comparator-check-type comparator x)
      (if ((comparator-type-test-predicate (check-comparator "comparator-check-type" comparator)) x)
          #t
          (error "comparator-check-type: not of the type of the comparator:" x comparator)))

    (define (comparator-hash comparator x)
      ((comparator-hash-function (check-comparator "comparator-hash" comparator)) x))

    ;; Does `ok?` hold for all neighbours?
    (define-syntax define-comparison
      (syntax-rules ()
        ((_ name who (comparator same less a b) ok?)
         (define (name comparator a b . rest)
           (check-comparator who comparator)
           (let ((same (comparator-equality-predicate comparator)) (less (comparator-ordering-predicate comparator)))
             (let loop ((a a) (b b) (rest rest))
               (cond ((not ok?) #f)
                     ((null? rest) #t)
                     (else (loop b (car rest) (cdr rest))))))))))
    (define-comparison =? "=?" (c same less a b) (same a b))
    (define-comparison <? "<?" (c same less a b) (less a b))
    (define-comparison >? ">?" (c same less a b) (less b a))
    (define-comparison <=? "<=?" (c same less a b) (not (less b a)))
    (define-comparison >=? ">=?" (c same less a b) (not (less a b)))

    (define-syntax comparator-if<=>
      (syntax-rules ()
        ((_ a b less equal greater)
         (comparator-if<=> (make-default-comparator) a b less equal greater))
        ((_ comparator a b less equal greater)
         (let ((c comparator) (x a) (y b))
           (cond ((=? c x y) equal)
                 ((<? c x y) less)
                 (else greater))))))

    ;;;; Hash functions

    (define-syntax hash-bound (syntax-rules () ((_) 33554432)))
    (define-syntax hash-salt (syntax-rules () ((_) 16064047)))

    (define-syntax define-hash
      (syntax-rules ()
        ((_ name who (x) type? expected value)
         (define (name x . bound)
           (if (type? x) value (wrong-type who expected x))))))
    (define-hash boolean-hash "boolean-hash" (x) boolean? "a boolean" (hash x))
    (define-hash char-hash "char-hash" (x) char? "a character" (hash x))
    (define-hash char-ci-hash "char-ci-hash" (x) char? "a character" (hash (char-foldcase x)))
    (define-hash string-hash "string-hash" (x) string? "a string" (table:string-hash x))
    (define-hash string-ci-hash "string-ci-hash" (x) string? "a string" (table:string-ci-hash x))
    (define-hash symbol-hash "symbol-hash" (x) symbol? "a symbol" (hash x))
    (define-hash number-hash "number-hash" (x) number? "a number" (table:number-hash x))

    ;; Hashes of elements, one after another.
    (define (mix a b)
      (modulo (+ (* 31 a) b) (hash-bound)))

    ;;;; Comparators of compound objects

    (define (make-eq-comparator) (make-comparator #t eq? #f default-hash))
    (define (make-eqv-comparator) (make-comparator #t eqv? #f default-hash))
    (define (make-equal-comparator) (make-comparator #t equal? #f default-hash))

    (define (make-pair-comparator first second)
      (check-comparator "make-pair-comparator" first)
      (check-comparator "make-pair-comparator" second)
      (make-comparator
       (lambda (x)
         (and (pair? x) (comparator-test-type first (car x)) (comparator-test-type second (cdr x))))
       (lambda (a b)
         (and (=? first (car a) (car b)) (=? second (cdr a) (cdr b))))
       (and (comparator-ordered? first) (comparator-ordered? second)
            (lambda (a b)
              (if (=? first (car a) (car b))
                  (<? second (cdr a) (cdr b))
                  (<? first (car a) (car b)))))
       (and (comparator-hashable? first) (comparator-hashable? second)
            (lambda (x) (mix (comparator-hash first (car x)) (comparator-hash second (cdr x)))))))

    ;; By the first elements that differ; a list comes before those that it begins.
    (define (make-list-comparator element type-test empty? head tail)
      (let ((same? (comparator-equality-predicate element)) (less? (comparator-ordering-predicate element)))
        (make-comparator
         (lambda (x)
           (and (type-test x)
                (let loop ((x x))
                  (or (empty? x)
                      (and (comparator-test-type element (head x)) (loop (tail x)))))))
         (lambda (a b)
           (let loop ((a a) (b b))
             (cond ((empty? a) (empty? b))
                   ((empty? b) #f)
                   (else (and (same? (head a) (head b)) (loop (tail a) (tail b)))))))
         (and (comparator-ordered? element)
              (lambda (a b)
                (let loop ((a a) (b b))
                  (cond ((empty? a) (not (empty? b)))
                        ((empty? b) #f)
                        ((same? (head a) (head b)) (loop (tail a) (tail b)))
                        (else (less? (head a) (head b)))))))
         (and (comparator-hashable? element)
              (lambda (x)
                (let loop ((x x) (h 5381))
                  (if (empty? x)
                      h
                      (loop (tail x) (mix h (comparator-hash element (head x)))))))))))

    ;; Shorter vectors come first; then by the first elements that differ.
    (define (make-vector-comparator element type-test length ref)
      (check-comparator "make-vector-comparator" element)
      (let ((same? (comparator-equality-predicate element)) (less? (comparator-ordering-predicate element)))
        (make-comparator
         (lambda (x)
           (and (type-test x)
                (let ((n (length x)))
                  (let loop ((i 0))
                    (or (= i n)
                        (and (comparator-test-type element (ref x i)) (loop (+ i 1))))))))
         (lambda (a b)
           (let ((n (length a)))
             (and (= n (length b))
                  (let loop ((i 0))
                    (or (= i n)
                        (and (same? (ref a i) (ref b i)) (loop (+ i 1))))))))
         (and (comparator-ordered? element)
              (lambda (a b)
                (let ((n (length a)) (m (length b)))
                  (cond
                    ((< n m) #t)
                    ((< m n) #f)
                    (else
                     (let loop ((i 0))
                       (cond ((= i n) #f)
                             ((same? (ref a i) (ref b i)) (loop (+ i 1)))
                             (else (less? (ref a i) (ref b i))))))))))
         (and (comparator-hashable? element)
              (lambda (x)
                (let ((n (length x)))
                  (let loop ((i 0) (h 5381))
                    (if (= i n)
                        h
                        (loop (+ i 1) (mix h (comparator-hash element (ref x i))))))))))))

    ;;;; The default comparator

    ;; Comparators of further types, the oldest first.
    (define registered '())

    (define (comparator-register-default! comparator)
      (set! registered
            (append registered (list (check-comparator "comparator-register-default!" comparator)))))

    (define first-registered 9)

    ;; The number of the type, and the registered comparator or #f.
    (define (type-rank x)
      (cond ((null? x) 0)
            ((pair? x) 1)
            ((boolean? x) 2)
            ((char? x) 3)
            ((string? x) 4)
            ((symbol? x) 5)
            ((number? x) 6)
            ((vector? x) 7)
            ((bytevector? x) 8)
            (else
             (let loop ((cs registered) (rank first-registered))
               (cond ((null? cs) rank)
                     ((comparator-test-type (car cs) x) rank)
                     (else (loop (cdr cs) (+ rank 1))))))))

    ;; The comparator of a rank; objects of unregistered types are in no order.
    (define (comparator-of rank)
      (let ((i (- rank first-registered)))
        (if (< i (length registered)) (list-ref registered i) unregistered)))

    (define unregistered (make-comparator #t eqv? (lambda (a b) #f) (lambda (x) (hash x))))

    (define (real<? a b)
      (or (< a b)
          ;; a NaN comes before all other numbers
          (and (nan? a) (not (nan? b)))))

    (define (real=? a b)
      (or (= a b) (and (nan? a) (nan? b))))

    (define (number<? a b)
      (if (and (real? a) (real? b))
          (real<? a b)
          (or (real<? (real-part a) (real-part b))
              (and (real=? (real-part a) (real-part b))
                   (real<? (imag-part a) (imag-part b))))))

    (define (default-equal? a b)
      (let ((rank (type-rank a)))
        (and (eqv? rank (type-rank b))
             (case rank
               ((0) #t)
               ((1) (and (default-equal? (car a) (car b)) (default-equal? (cdr a) (cdr b))))
               ((2 3 5) (eqv? a b))
               ((4) (string=? a b))
               ((6) (or (= a b) (eqv? a b)))
               ((7) ((comparator-equality-predicate default-vectors) a b))
               ((8) (equal? a b))
               (else (=? (comparator-of rank) a b))))))

    (define (default-less? a b)
      (let ((rank (type-rank a)) (rank-b (type-rank b)))
        (cond
          ((< rank rank-b) #t)
          ((> rank rank-b) #f)
          (else
           (case rank
             ((0) #f)
             ((1) (if (default-equal? (car a) (car b))
                      (default-less? (cdr a) (cdr b))
                      (default-less? (car a) (car b))))
             ((2) (and (not a) b))
             ((3) (char<? a b))
             ((4) (string<? a b))
             ((5) (string<? (symbol->string a) (symbol->string b)))
             ((6) (number<? a b))
             ((7) ((comparator-ordering-predicate default-vectors) a b))
             ((8) ((comparator-ordering-predicate default-bytevectors) a b))
             (else (<? (comparator-of rank) a b)))))))

    (define (default-hash x . bound)
      (case (type-rank x)
        ((4) (table:string-hash x))
        ((6) (number-hash x))
        ((1) (mix (default-hash (car x)) (default-hash (cdr x))))
        ((7) (vector-fold-hash x))
        ((0 2 3 5 8) (hash x))
        (else => (lambda (rank) (comparator-hash (comparator-of rank) x)))))

    (define (vector-fold-hash v)
      (let loop ((i 0) (h 5381))
        (if (= i (vector-length v))
            h
            (loop (+ i 1) (mix h (default-hash (vector-ref v i)))))))

    (define default-comparator
      (make-comparator #t default-equal? default-less? default-hash))
    (define (make-default-comparator) default-comparator)

    (define default-vectors
      (make-vector-comparator default-comparator vector? vector-length vector-ref))
    (define default-bytevectors
      (make-vector-comparator default-comparator bytevector? bytevector-length bytevector-u8-ref))

    ;;;; SRFI 162

    (define boolean-comparator (make-comparator boolean? boolean=? (lambda (a b) (and (not a) b)) boolean-hash))
    (define real-comparator (make-comparator real? = < number-hash))
    (define char-comparator (make-comparator char? char=? char<? char-hash))
    (define char-ci-comparator (make-comparator char? char-ci=? char-ci<? char-ci-hash))
    (define string-comparator (make-comparator string? string=? string<? string-hash))
    (define string-ci-comparator (make-comparator string? string-ci=? string-ci<? string-ci-hash))
    (define pair-comparator (make-pair-comparator default-comparator default-comparator))
    (define list-comparator (make-list-comparator default-comparator list? null? car cdr))
    (define vector-comparator (make-vector-comparator default-comparator vector? vector-length vector-ref))
    (define eq-comparator (make-eq-comparator))
    (define eqv-comparator (make-eqv-comparator))
    (define equal-comparator (make-equal-comparator))

    ;; The first of several that are equal.
    (define (extreme better? who l)
      (if (null? l)
          (error (string-append who ": expected a non-empty list, got") l))
      (let loop ((best (car l)) (rest (cdr l)))
        (cond ((null? rest) best)
              ((better? (car rest) best) (loop (car rest) (cdr rest)))
              (else (loop best (cdr rest))))))

    (define (greatest who comparator l)
      (check-comparator who comparator)
      (extreme (lambda (a b) (>? comparator a b)) who l))
    (define (least who comparator l)
      (check-comparator who comparator)
      (extreme (lambda (a b) (<? comparator a b)) who l))
    (define (comparator-max comparator x . rest) (greatest "comparator-max" comparator (cons x rest)))
    (define (comparator-min comparator x . rest) (least "comparator-min" comparator (cons x rest)))
    (define (comparator-max-in-list comparator l) (greatest "comparator-max-in-list" comparator l))
    (define (comparator-min-in-list comparator l) (least "comparator-min-in-list" comparator l))))
