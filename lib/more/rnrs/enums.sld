;;; (rnrs enums) of R6RS.  A set is the bits of an integer: bit k says whether symbol k of the universe is in it.
(define-library (rnrs enums)
  (export make-enumeration enum-set-universe enum-set-indexer enum-set-constructor enum-set->list enum-set-member?
          enum-set-subset? enum-set=? enum-set-union enum-set-intersection enum-set-difference enum-set-complement
          enum-set-projection define-enumeration)
  (import (scheme base)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (srfi 151) bitwise-and bitwise-ior bitwise-xor bitwise-not bit-set? arithmetic-shift)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!)
          (only (cairn macro) er-macro-transformer refuse-form)
          (only (cairn rnrs conditions) assertion-violation))
  (begin

    (define-record-type <universe>
      (make-universe symbols indices)
      universe?
      ;; a vector, and a table of its indices
      (symbols universe-symbols)
      (indices universe-indices))
    (define-record-type <enum-set>
      (make-set universe bits)
      enum-set?
      (universe set-universe)
      (bits set-bits))
    (show-fields! <enum-set> '())

    (define (check who x)
      (if (not (enum-set? x)) (wrong-type who "an enumeration set" x)))
    (define (size u) (vector-length (universe-symbols u)))
    (define (index u x) (hash-table-ref/default (universe-indices u) x #f))
    (define (all u) (- (arithmetic-shift 1 (size u)) 1))

    (define (make-enumeration symbols)
      (let ((indices (make-hash-table eq?)))
        (let loop ((l symbols) (k 0) (distinct '()))
          (cond
            ((null? l)
             (let ((u (make-universe (list->vector (reverse distinct)) indices)))
               (make-set u (all u))))
            ((not (symbol? (car l))) (wrong-type "make-enumeration" "a symbol" (car l)))
            ((hash-table-ref/default indices (car l) #f) (loop (cdr l) k distinct))
            (else
             (hash-table-set! indices (car l) k)
             (loop (cdr l) (+ k 1) (cons (car l) distinct)))))))

    (define (enum-set-universe s)
      (check "enum-set-universe" s)
      (make-set (set-universe s) (all (set-universe s))))
    (define (enum-set-indexer s)
      (check "enum-set-indexer" s)
      (lambda (symbol) (index (set-universe s) symbol)))
    (define (enum-set-constructor s)
      (check "enum-set-constructor" s)
      (let ((u (set-universe s)))
        (lambda (symbols)
          (let loop ((l symbols) (bits 0))
            (if (null? l)
                (make-set u bits)
                (let ((k (index u (car l))))
                  (if (not k)
                      (assertion-violation 'enum-set-constructor "not a symbol of the universe:" (car l)))
                  (loop (cdr l) (bitwise-ior bits (arithmetic-shift 1 k)))))))))
    (define (enum-set->list s)
      (check "enum-set->list" s)
      (let ((symbols (universe-symbols (set-universe s))))
        (let loop ((k (- (vector-length symbols) 1)) (l '()))
          (if (< k 0)
              l
              (loop (- k 1) (if (bit-set? k (set-bits s)) (cons (vector-ref symbols k) l) l))))))
    (define (enum-set-member? symbol s)
      (check "enum-set-member?" s)
      (let ((k (index (set-universe s) symbol)))
        (and k (bit-set? k (set-bits s)))))

    ;; The bits of the symbols of a set in another universe; #f for `extra` if one is not there, else those are left
    ;; out.
    (define (bits-in u s extra)
      (if (eq? u (set-universe s))
          (set-bits s)
          (let loop ((l (enum-set->list s)) (bits 0))
            (cond
              ((null? l) bits)
              ((index u (car l)) => (lambda (k) (loop (cdr l) (bitwise-ior bits (arithmetic-shift 1 k)))))
              (extra (loop (cdr l) bits))
              (else #f)))))
    (define (enum-set-subset? a b)
      (check "enum-set-subset?" a)
      (check "enum-set-subset?" b)
      (let ((bits (bits-in (set-universe b) a #f)) (u (enum-set-universe a)))
        (and bits
             (bits-in (set-universe b) u #f)
             (= 0 (bitwise-and bits (bitwise-not (set-bits b)))))))
    (define (enum-set=? a b)
      (and (enum-set-subset? a b) (enum-set-subset? b a)))

    (define (combine who a b operation)
      (check who a)
      (check who b)
      (if (not (eq? (set-universe a) (set-universe b)))
          (assertion-violation (string->symbol who) "sets of different enumerations:" a b))
      (make-set (set-universe a) (operation (set-bits a) (set-bits b))))
    (define (enum-set-union a b) (combine "enum-set-union" a b bitwise-ior))
    (define (enum-set-intersection a b) (combine "enum-set-intersection" a b bitwise-and))
    (define (enum-set-difference a b)
      (combine "enum-set-difference" a b (lambda (x y) (bitwise-and x (bitwise-not y)))))
    (define (enum-set-complement s)
      (check "enum-set-complement" s)
      (make-set (set-universe s) (bitwise-xor (set-bits s) (all (set-universe s)))))
    (define (enum-set-projection a b)
      (check "enum-set-projection" a)
      (check "enum-set-projection" b)
      (make-set (set-universe b) (bits-in (set-universe b) a #t)))

    ;; Symbols are checked when the program is expanded.
    (define-syntax define-enumeration
      (syntax-rules ()
        ((_ name (symbol ...) constructor)
         (begin
           (define construct (enum-set-constructor (make-enumeration '(symbol ...))))
           (define-syntax name
             (er-macro-transformer
              (lambda (form rename compare)
                (list (rename 'quote) (chosen form '(symbol ...))))))
           (define-syntax constructor
             (syntax-rules ()
               ((_ x (... ...)) (construct (list (name x) (... ...))))))))))

    (define (chosen form symbols)
      (if (and (pair? (cdr form)) (null? (cddr form)) (symbol? (cadr form)))
          (let ((x (string->symbol (symbol->string (cadr form)))))
            (if (memq x symbols) x (refuse-form "the enumeration has no such symbol" (cadr form) #f)))
          (refuse-form "one symbol is expected" form #f)))))
