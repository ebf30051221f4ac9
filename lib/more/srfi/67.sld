;;; (srfi 67): compare procedures, whose results are -1, 0 and 1, and what is built of them.
;;;
;;; Where a compare procedure can be left out, the number of arguments tells. Each result of a compare procedure is
;;; checked where it is used, by the name that the program called.
(define-library (srfi 67)
  (export boolean-compare char-compare char-compare-ci string-compare string-compare-ci symbol-compare integer-compare
          rational-compare real-compare complex-compare number-compare
          vector-compare vector-compare-as-list list-compare list-compare-as-vector
          pair-compare-car pair-compare-cdr pair-compare default-compare
          refine-compare select-compare cond-compare if3 if=? if<? if>? if<=? if>=? if-not=?
          =? <? >? <=? >=? not=? </<? </<=? <=/<? <=/<=? >/>? >/>=? >=/>? >=/>=?
          chain=? chain<? chain>? chain<=? chain>=? pairwise-not=? min-compare max-compare kth-largest
          compare-by< compare-by> compare-by<= compare-by>= compare-by=/< compare-by=/> debug-compare)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme complex) (only (srfi 132) list-sort)
          (only (cairn control) wrong-type))
  (begin

    ;; The result of a comparison.
    (define (checked who c)
      (if (or (eqv? c -1) (eqv? c 0) (eqv? c 1)) c (wrong-type who "-1, 0 or 1" c)))

    ;;;; Syntax

    (define-syntax if3
      (syntax-rules ()
        ((_ c less equal greater)
         (let ((sign (checked "if3" c)))
           (cond ((eqv? sign -1) less) ((eqv? sign 0) equal) (else greater))))))

    (define-syntax define-conditional
      (syntax-rules ()
        ((_ name who sign test)
         (define-syntax name
           (syntax-rules ()
             ((_ c consequent) (let ((sign (checked who c))) (if test consequent)))
             ((_ c consequent alternate) (let ((sign (checked who c))) (if test consequent alternate))))))))
    (define-conditional if=? "if=?" sign (eqv? sign 0))
    (define-conditional if<? "if<?" sign (eqv? sign -1))
    (define-conditional if>? "if>?" sign (eqv? sign 1))
    (define-conditional if<=? "if<=?" sign (not (eqv? sign 1)))
    (define-conditional if>=? "if>=?" sign (not (eqv? sign -1)))
    (define-conditional if-not=? "if-not=?" sign (not (eqv? sign 0)))

    (define-syntax refine-compare
      (syntax-rules ()
        ((_ c ...) (refine "refine-compare" c ...))))
    (define-syntax refine
      (syntax-rules ()
        ((_ who) 0)
        ((_ who c) (checked who c))
        ((_ who c . more)
         (let ((sign (checked who c))) (if (eqv? sign 0) (refine who . more) sign)))))

    (define-syntax select-compare
      (syntax-rules ()
        ((_ a b . clauses) (let ((x a) (y b)) (select x y . clauses)))))
    (define-syntax select
      (syntax-rules (else)
        ((_ x y) 0)
        ((_ x y (else c ...)) (refine "select-compare" c ...))
        ((_ x y (type? c ...) . more)
         (let ((test type?))
           (ordered (test x) (test y) (refine "select-compare" c ...) (select x y . more))))))
    (define-syntax cond-compare
      (syntax-rules (else)
        ((_) 0)
        ((_ (else c ...)) (refine "cond-compare" c ...))
        ((_ ((s t) c ...) . more)
         (ordered s t (refine "cond-compare" c ...) (cond-compare . more)))))
    ;; What the first of two tests accepts comes before what the second accepts.
    (define-syntax ordered
      (syntax-rules ()
        ((_ s t both neither)
         (let* ((first? s) (second? t))
           (if first?
               (if second? both -1)
               (if second? 1 neither))))))

    ;;;; Objects without parts

    (define-syntax define-compare
      (syntax-rules ()
        ((_ name who type? expected (x y) sign)
         (define (name x y)
           (if (not (type? x)) (wrong-type who expected x))
           (if (not (type? y)) (wrong-type who expected y))
           sign))))
    (define-syntax sign-by
      (syntax-rules ()
        ((_ less? x y) (cond ((less? x y) -1) ((less? y x) 1) (else 0)))))

    (define-compare boolean-compare "boolean-compare" boolean? "a boolean" (x y)
      (cond ((eq? x y) 0) (x 1) (else -1)))
    (define-compare char-compare "char-compare" char? "a character" (x y) (sign-by char<? x y))
    (define-compare char-compare-ci "char-compare-ci" char? "a character" (x y) (sign-by char-ci<? x y))
    (define-compare string-compare "string-compare" string? "a string" (x y) (sign-by string<? x y))
    (define-compare string-compare-ci "string-compare-ci" string? "a string" (x y) (sign-by string-ci<? x y))
    (define-compare symbol-compare "symbol-compare" symbol? "a symbol" (x y)
      (if (eq? x y) 0 (sign-by string<? (symbol->string x) (symbol->string y))))
    (define-compare integer-compare "integer-compare" integer? "an integer" (x y) (sign-by < x y))
    (define-compare rational-compare "rational-compare" rational? "a rational number" (x y) (sign-by < x y))
    (define-compare real-compare "real-compare" real? "a real number" (x y) (sign-by < x y))
    (define-compare complex-compare "complex-compare" number? "a number" (x y) (compare-parts x y))
    (define-compare number-compare "number-compare" number? "a number" (x y) (compare-parts x y))
    (define (compare-parts x y)
      (if (and (real? x) (real? y))
          (sign-by < x y)
          (let ((re (sign-by < (real-part x) (real-part y))))
            (if (eqv? re 0) (sign-by < (imag-part x) (imag-part y)) re))))

    (define (default-compare x y)
      (select-compare x y
        (null? 0)
        (pair? (default-compare (car x) (car y)) (default-compare (cdr x) (cdr y)))
        (boolean? (boolean-compare x y))
        (char? (char-compare x y))
        (string? (string-compare x y))
        (symbol? (symbol-compare x y))
        (number? (number-compare x y))
        (vector? (vector-compare default-compare x y))
        (bytevector? (vector-compare integer-compare x y bytevector-length bytevector-u8-ref))
        (else (wrong-type "default-compare" "an object that has an order" x))))

    ;;;; Sequences

    ;; Elements at the same places, as far as both go; if these are equal, the shorter sequence comes first.
    (define (compare-places who compare x y size-x size-y ref)
      (let ((n (min size-x size-y)))
        (let loop ((i 0))
          (if (< i n)
              (let ((sign (checked who (compare (ref x i) (ref y i)))))
                (if (eqv? sign 0) (loop (+ i 1)) sign))
              (sign-by < size-x size-y)))))
    (define (as-vectors who compare x y size ref)
      (let ((size-x (size x)) (size-y (size y)))
        (if (= size-x size-y)
            (compare-places who compare x y size-x size-y ref)
            (sign-by < size-x size-y))))
    (define (as-lists who compare x y size ref)
      (compare-places who compare x y (size x) (size y) ref))

    (define (lists-as-lists who compare x y empty? head tail)
      (let loop ((x x) (y y))
        (cond ((empty? x) (if (empty? y) 0 -1))
              ((empty? y) 1)
              (else
               (let ((sign (checked who (compare (head x) (head y)))))
                 (if (eqv? sign 0) (loop (tail x) (tail y)) sign))))))
    (define (lists-as-vectors who compare x y empty? head tail)
      (let loop ((a x) (b y))
        (cond ((empty? a) (if (empty? b) (lists-as-lists who compare x y empty? head tail) -1))
              ((empty? b) 1)
              (else (loop (tail a) (tail b))))))

    (define-syntax define-vector-compare
      (syntax-rules ()
        ((_ name who how)
         (define name
           (let ((size (lambda (v) (if (vector? v) (vector-length v) (wrong-type who "a vector" v)))))
             (case-lambda
               ((x y) (how who default-compare x y size vector-ref))
               ((compare x y) (how who compare x y size vector-ref))
               ((x y size ref) (how who default-compare x y size ref))
               ((compare x y size ref) (how who compare x y size ref))))))))
    (define-vector-compare vector-compare "vector-compare" as-vectors)
    (define-vector-compare vector-compare-as-list "vector-compare-as-list" as-lists)

    (define-syntax define-list-compare
      (syntax-rules ()
        ((_ name who how)
         (define name
           (let ((empty? (lambda (l) (or (null? l) (if (pair? l) #f (wrong-type who "a list" l))))))
             (case-lambda
               ((x y) (how who default-compare x y empty? car cdr))
               ((compare x y) (how who compare x y empty? car cdr))
               ((x y empty? head tail) (how who default-compare x y empty? head tail))
               ((compare x y empty? head tail) (how who compare x y empty? head tail))))))))
    (define-list-compare list-compare "list-compare" lists-as-lists)
    (define-list-compare list-compare-as-vector "list-compare-as-vector" lists-as-vectors)

    (define (check-pair who x)
      (if (not (pair? x)) (wrong-type who "a pair" x)))
    (define (pair-compare-car compare)
      (lambda (x y)
        (check-pair "pair-compare-car" x)
        (check-pair "pair-compare-car" y)
        (compare (car x) (car y))))
    (define (pair-compare-cdr compare)
      (lambda (x y)
        (check-pair "pair-compare-cdr" x)
        (check-pair "pair-compare-cdr" y)
        (compare (cdr x) (cdr y))))
    (define pair-compare
      (case-lambda
        ((x y) (compare-chains default-compare x y))
        ((compare x y) (compare-chains compare x y))
        ((compare-car compare-cdr x y)
         (check-pair "pair-compare" x)
         (check-pair "pair-compare" y)
         (refine "pair-compare" (compare-car (car x) (car y)) (compare-cdr (cdr x) (cdr y))))))
    ;; Lists, proper or not, and what may stand at their ends: the empty list, then pairs, then all else.
    (define (compare-chains compare x y)
      (ordered (null? x) (null? y) 0
        (ordered (pair? x) (pair? y)
          (let ((sign (checked "pair-compare" (compare (car x) (car y)))))
            (if (eqv? sign 0) (compare-chains compare (cdr x) (cdr y)) sign))
          (checked "pair-compare" (compare x y)))))

    ;;;; Tests of two and three objects

    (define-syntax define-relation
      (syntax-rules ()
        ((_ name who sign test)
         (define name
           (let ((holds? (lambda (compare x y) (let ((sign (checked who (compare x y)))) test))))
             (case-lambda
               (() (lambda (x y) (holds? default-compare x y)))
               ((compare) (lambda (x y) (holds? compare x y)))
               ((x y) (holds? default-compare x y))
               ((compare x y) (holds? compare x y))))))))
    (define-relation =? "=?" sign (eqv? sign 0))
    (define-relation <? "<?" sign (eqv? sign -1))
    (define-relation >? ">?" sign (eqv? sign 1))
    (define-relation <=? "<=?" sign (not (eqv? sign 1)))
    (define-relation >=? ">=?" sign (not (eqv? sign -1)))
    (define-relation not=? "not=?" sign (not (eqv? sign 0)))

    ;; Both comparisons are made, so that all three objects are of the compare procedure's type.
    (define-syntax define-between
      (syntax-rules ()
        ((_ name who (a left) (b right))
         (define name
           (let ((holds? (lambda (compare x y z)
                           (let* ((a (checked who (compare x y))) (b (checked who (compare y z))))
                             (and left right)))))
             (case-lambda
               (() (lambda (x y z) (holds? default-compare x y z)))
               ((compare) (lambda (x y z) (holds? compare x y z)))
               ((x y z) (holds? default-compare x y z))
               ((compare x y z) (holds? compare x y z))))))))
    (define-between </<? "</<?" (a (eqv? a -1)) (b (eqv? b -1)))
    (define-between </<=? "</<=?" (a (eqv? a -1)) (b (not (eqv? b 1))))
    (define-between <=/<? "<=/<?" (a (not (eqv? a 1))) (b (eqv? b -1)))
    (define-between <=/<=? "<=/<=?" (a (not (eqv? a 1))) (b (not (eqv? b 1))))
    (define-between >/>? ">/>?" (a (eqv? a 1)) (b (eqv? b 1)))
    (define-between >/>=? ">/>=?" (a (eqv? a 1)) (b (not (eqv? b -1))))
    (define-between >=/>? ">=/>?" (a (not (eqv? a -1))) (b (eqv? b 1)))
    (define-between >=/>=? ">=/>=?" (a (not (eqv? a -1))) (b (not (eqv? b -1))))

    ;;;; Tests and choices among any number of objects: each is compared, also a single one

    (define-syntax define-chain
      (syntax-rules ()
        ((_ name who sign test)
         (define (name compare . l)
           (if (null? l)
               #t
               (let loop ((x (car l)) (l (if (null? (cdr l)) l (cdr l))) (alone? (null? (cdr l))) (so-far? #t))
                 (if (null? l)
                     so-far?
                     (let ((sign (checked who (compare x (car l)))))
                       (loop (car l) (cdr l) #f (and so-far? (or alone? test)))))))))))
    (define-chain chain=? "chain=?" sign (eqv? sign 0))
    (define-chain chain<? "chain<?" sign (eqv? sign -1))
    (define-chain chain>? "chain>?" sign (eqv? sign 1))
    (define-chain chain<=? "chain<=?" sign (not (eqv? sign 1)))
    (define-chain chain>=? "chain>=?" sign (not (eqv? sign -1)))

    ;; A stable order of the objects.
    (define (in-order who compare l)
      (if (null? (cdr l)) (checked who (compare (car l) (car l))))
      (list-sort (lambda (x y) (eqv? -1 (checked who (compare x y)))) l))

    (define (pairwise-not=? compare . l)
      (or (null? l)
          (let loop ((x (in-order "pairwise-not=?" compare l)))
            (or (null? (cdr x))
                (and (not (eqv? 0 (checked "pairwise-not=?" (compare (car x) (cadr x)))))
                     (loop (cdr x)))))))
    ;; The first of the objects to which no other has the sign.
    (define (extreme who sign compare x l)
      (if (null? l) (checked who (compare x x)))
      (let loop ((x x) (l l))
        (cond ((null? l) x)
              ((eqv? sign (checked who (compare (car l) x))) (loop (car l) (cdr l)))
              (else (loop x (cdr l))))))
    (define (min-compare compare x . l) (extreme "min-compare" -1 compare x l))
    (define (max-compare compare x . l) (extreme "max-compare" 1 compare x l))
    (define (kth-largest compare k x . l)
      (if (not (exact-integer? k)) (wrong-type "kth-largest" "an exact integer" k))
      (list-ref (in-order "kth-largest" compare (cons x l)) (modulo k (+ 1 (length l)))))

    ;;;; Compare procedures of predicates, and checks of compare procedures

    (define-syntax define-by
      (syntax-rules ()
        ((_ name (predicate ...) (x y) sign)
         (define name
           (case-lambda
             ((predicate ...) (lambda (x y) sign))
             ((predicate ... x y) sign))))))
    (define-by compare-by< (less?) (x y) (sign-by less? x y))
    (define-by compare-by> (greater?) (x y) (sign-by greater? y x))
    (define-by compare-by<= (at-most?) (x y) (if (at-most? x y) (if (at-most? y x) 0 -1) 1))
    (define-by compare-by>= (at-least?) (x y) (if (at-least? x y) (if (at-least? y x) 0 1) -1))
    (define-by compare-by=/< (same? less?) (x y) (cond ((same? x y) 0) ((less? x y) -1) (else 1)))
    (define-by compare-by=/> (same? greater?) (x y) (cond ((same? x y) 0) ((greater? x y) 1) (else -1)))

    ;; Compares also with one of the two objects of the call before, now the first, now the second.
    (define (debug-compare compare)
      (define before '())
      (define bits 1)
      (define (next-bit!)
        (set! bits (modulo (+ (* bits 75) 74) 65537))
        (odd? (quotient bits 16)))
      (define (sign-of x y) (checked "debug-compare" (compare x y)))
      (define (check-itself x)
        (if (not (eqv? 0 (sign-of x x))) (error "debug-compare: this is not equal to itself:" x)))
      (define (both-ways x y)
        (let ((sign (sign-of x y)))
          (if (not (eqv? sign (- (sign-of y x))))
              (error "debug-compare: the comparisons of these in both orders contradict each other:" x y))
          sign))
      ;; Steps that do not lead there and back tell the sign of both together.
      (define (check-three x y z sign)
        (let ((next (both-ways y z)) (whole (both-ways x z)))
          (if (not (or (eqv? -1 (* sign next))
                       (eqv? whole (if (eqv? sign 0) next sign))))
              (error "debug-compare: these three have no order:" x y z))))
      (lambda (x y)
        (check-itself x)
        (check-itself y)
        (let ((sign (both-ways x y)))
          (if (pair? before)
              (let ((z (if (next-bit!) (car before) (cdr before))))
                (check-itself z)
                (check-three x y z sign)))
          (set! before (cons x y))
          sign)))))
