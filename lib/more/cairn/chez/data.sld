;;; (cairn chez data): what Chez Scheme has besides R6RS for tables, lists, numbers, fxvectors and symbols.
(define-library (cairn chez data)
  (export
   make-weak-eq-hashtable make-weak-eqv-hashtable hashtable-weak?
   eq-hashtable? eq-hashtable-weak? eq-hashtable-ref eq-hashtable-set! eq-hashtable-contains? eq-hashtable-update!
   eq-hashtable-delete! symbol-hashtable? symbol-hashtable-ref symbol-hashtable-set! symbol-hashtable-contains?
   symbol-hashtable-update! symbol-hashtable-delete! hashtable-cell hashtable-cells eq-hashtable-cell
   symbol-hashtable-cell hashtable-keys hashtable-values hashtable-entries
   subst substq substv subst! substq! substv! vector-set-fixnum! decode-float bytevector-truncate!
   remq! remv! remove! merge! list*
   bignum? ratnum? cflonum? nonnegative? nonpositive? logtest
   fxlogtest fxnonnegative? fxnonpositive? flnonnegative? flnonpositive? expt-mod
   random-seed char- number->string bytevector->s8-list s8-list->bytevector
   make-fxvector fxvector fxvector? fxvector-length fxvector-ref fxvector-set! fxvector-fill! fxvector-copy
   fxvector->list list->fxvector
   gensym gensym? gensym-prefix gensym-count gensym->unique-string string->immutable-string immutable-string?
   mutable-string? getprop putprop remprop property-list
   optimize-level debug-level collect-request-handler enable-cross-library-optimization
   generate-inspector-information print-gensym print-graph print-brackets)
  (import (except (scheme base) number->string) (prefix (only (scheme base) number->string) r7-)
          (scheme case-lambda) (scheme char) (scheme inexact)
          (only (cairn control) wrong-type) (only (cairn sort) list-merge)
          (only (cairn primitives) %generate-symbol-named %numeric-writable?)
          (only (srfi 1) cons*) (only (rnrs lists) remove remv remq)
          (only (srfi 27) default-random-source random-source-pseudo-randomize!)
          (only (srfi 126) make-eq-hashtable make-eqv-hashtable hashtable? hashtable-ref hashtable-set!
                hashtable-contains? hashtable-update! hashtable-delete! hashtable-weakness
                hashtable-equivalence-function %hashtable-cell %hashtable-cells)
          (prefix (only (srfi 126) hashtable-keys hashtable-values hashtable-entries) srfi-)
          (only (srfi 143) fixnum? fxand)
          (only (srfi 151) bitwise-and)
          (only (srfi 160 s64) make-s64vector s64vector? s64vector-length s64vector-ref s64vector-set!
                s64vector-fill! s64vector-copy s64vector->list list->s64vector))
  (begin

    ;;;; Tables

    (define (make-weak-eq-hashtable . capacity) (make-eq-hashtable (if (pair? capacity) (car capacity) #f) 'weak-key))
    (define (make-weak-eqv-hashtable . capacity) (make-eqv-hashtable (if (pair? capacity) (car capacity) #f) 'weak-key))
    (define (hashtable-weak? t) (and (hashtable-weakness t) #t))
    (define (eq-hashtable? x) (and (hashtable? x) (eq? (hashtable-equivalence-function x) eq?)))
    (define (eq-hashtable-weak? t) (hashtable-weak? t))
    (define (eq-hashtable-ref t key default) (hashtable-ref t key default))
    (define (eq-hashtable-set! t key value) (hashtable-set! t key value))
    (define (eq-hashtable-contains? t key) (hashtable-contains? t key))
    (define (eq-hashtable-update! t key proc default) (hashtable-update! t key proc default))
    (define (eq-hashtable-delete! t key) (hashtable-delete! t key))
    (define (symbol-hashtable? x) (eq-hashtable? x))
    (define (symbol-hashtable-ref t key default) (hashtable-ref t key default))
    (define (symbol-hashtable-set! t key value) (hashtable-set! t key value))
    (define (symbol-hashtable-contains? t key) (hashtable-contains? t key))
    (define (symbol-hashtable-update! t key proc default) (hashtable-update! t key proc default))
    (define (symbol-hashtable-delete! t key) (hashtable-delete! t key))
    (define hashtable-cell %hashtable-cell)
    (define hashtable-cells %hashtable-cells)
    ;; Vectors of all keys, or of `most` of them.
    (define (first-of who v most)
      (cond
        ((not (and (exact-integer? most) (>= most 0)))
         (wrong-type who "an exact integer that is not negative" most))
        ((< most (vector-length v)) (vector-copy v 0 most))
        (else v)))
    (define hashtable-keys
      (case-lambda
        ((t) (srfi-hashtable-keys t))
        ((t most) (first-of "hashtable-keys" (srfi-hashtable-keys t) most))))
    (define hashtable-values
      (case-lambda
        ((t) (srfi-hashtable-values t))
        ((t most) (first-of "hashtable-values" (srfi-hashtable-values t) most))))
    (define hashtable-entries
      (case-lambda
        ((t) (srfi-hashtable-entries t))
        ((t most)
         (let-values (((keys values-of) (srfi-hashtable-entries t)))
           (values (first-of "hashtable-entries" keys most) (first-of "hashtable-entries" values-of most))))))
    (define (eq-hashtable-cell t key default) (hashtable-cell t key default))
    (define (symbol-hashtable-cell t key default) (hashtable-cell t key default))

    ;;;; Lists

    (define (substituter same?)
      (lambda (new old tree)
        (let replace ((x tree))
          (cond
            ((same? x old) new)
            ((pair? x)
             (let ((a (replace (car x))) (d (replace (cdr x))))
               (if (and (eq? a (car x)) (eq? d (cdr x))) x (cons a d))))
            (else x)))))
    (define subst (substituter equal?))
    (define substq (substituter eq?))
    (define substv (substituter eqv?))
    (define subst! subst)
    (define substq! substq)
    (define substv! substv)
    (define remq! remq)
    (define remv! remv)
    (define remove! remove)
    (define (merge! less? a b) (list-merge less? a b))
    (define list* cons*)

    ;;;; Numbers

    (define (bignum? x) (and (exact-integer? x) (not (fixnum? x))))
    (define (ratnum? x) (and (number? x) (exact? x) (rational? x) (not (integer? x))))
    (define (cflonum? x) (and (number? x) (inexact? x)))
    (define (nonnegative? x) (>= x 0))
    (define (nonpositive? x) (<= x 0))
    (define (logtest a b) (not (eqv? 0 (bitwise-and a b))))
    (define (fxlogtest a b) (not (eqv? 0 (fxand a b))))
    (define (fxnonnegative? n) (>= n 0))
    (define (fxnonpositive? n) (<= n 0))
    (define (flnonnegative? x) (>= x 0.0))
    (define (flnonpositive? x) (<= x 0.0))
    (define (expt-mod base e m) (if (= m 1) 0 (exact-integer-power base e m)))
    (define (exact-integer-power base e m)
      (let loop ((base (modulo base m)) (e e) (result 1))
        (cond ((= e 0) result)
              ((odd? e) (loop (modulo (* base base) m) (quotient e 2) (modulo (* result base) m)))
              (else (loop (modulo (* base base) m) (quotient e 2) result)))))
    (define seed 1)
    (define random-seed
      (case-lambda
        (() seed)
        ((n)
         (set! seed n)
         (random-source-pseudo-randomize! default-random-source n 0))))
    (define (char- a b) (- (char->integer a) (char->integer b)))
    ;; Digits above 9 are capital letters.
    (define number->string
      (case-lambda
        ((x) (r7-number->string x))
        ((x radix)
         (let ((s (r7-number->string x radix)))
           (cond ((not (and (> radix 10) (finite? x))) s)
                 ((real? x) (string-upcase s))
                 ;; its last letter is no digit
                 (else (string-append (string-upcase (substring s 0 (- (string-length s) 1))) "i")))))
        ((x radix precision) (number->string x radix))))

    (define (bytevector->s8-list v)
      (let loop ((i (- (bytevector-length v) 1)) (l '()))
        (if (< i 0)
            l
            (let ((n (bytevector-u8-ref v i))) (loop (- i 1) (cons (if (< n 128) n (- n 256)) l))))))
    (define (vector-set-fixnum! v i n) (vector-set! v i (check-fixnum "vector-set-fixnum!" n)))
    (define (bytevector-truncate! v n) (bytevector-copy v 0 n))
    ;; Mantissa, exponent and sign: the flonum is their product with a power of 2.
    (define (decode-float x)
      (if (not (and (rational? x) (inexact? x))) (wrong-type "decode-float" "a finite flonum" x))
      (let* ((sign (if (or (< x 0.0) (eqv? x -0.0)) -1 1)) (q (exact (abs x))))
        (let up ((n q) (e 0))
          (cond
            ((= n 0) (vector 0 0 sign))
            ((not (integer? n)) (up (* n 2) (- e 1)))
            (else
             (let fit ((n n) (e e))
               (cond
                 ((>= n 9007199254740992) (fit (quotient n 2) (+ e 1)))
                 ((and (< n 4503599627370496) (> e -1074)) (fit (* n 2) (- e 1)))
                 (else (vector n e sign)))))))))
    (define (s8-list->bytevector l)
      (apply bytevector
             (map (lambda (n)
                    (if (not (and (fixnum? n) (<= -128 n 127))) (wrong-type "s8-list->bytevector" "a signed byte" n))
                    (if (< n 0) (+ n 256) n))
                  l)))

    ;;;; Vectors of fixnums

    (define (check-fixnum who x)
      (if (fixnum? x) x (wrong-type who "a fixnum" x)))
    (define make-fxvector
      (case-lambda
        ((n) (make-s64vector n 0))
        ((n fill) (make-s64vector n (check-fixnum "make-fxvector" fill)))))
    (define (fxvector . l) (list->fxvector l))
    (define (list->fxvector l)
      (for-each (lambda (x) (check-fixnum "list->fxvector" x)) l)
      (list->s64vector l))
    (define fxvector? s64vector?)
    (define (fxvector-length v) (s64vector-length v))
    (define (fxvector-ref v i) (s64vector-ref v i))
    (define (fxvector-set! v i x) (s64vector-set! v i (check-fixnum "fxvector-set!" x)))
    (define (fxvector-fill! v x) (s64vector-fill! v (check-fixnum "fxvector-fill!" x)))
    (define (fxvector-copy v) (s64vector-copy v))
    (define (fxvector->list v) (s64vector->list v))

    ;;;; Symbols

    (define (check-string who x) (if (string? x) x (wrong-type who "a string" x)))
    (define gensym-prefix
      (make-parameter "g" (lambda (s) (if (symbol? s) (symbol->string s) (check-string "gensym-prefix" s)))))
    ;; What the next name ends in.
    (define gensym-count
      (make-parameter 0
                      (lambda (n)
                        (if (and (exact-integer? n) (>= n 0))
                            n
                            (wrong-type "gensym-count" "an exact non-negative integer" n)))))
    (define gensym
      (case-lambda
        (()
         (let ((n (gensym-count)))
           (gensym-count (+ n 1))
           (%generate-symbol-named (string-append (gensym-prefix) (number->string n)))))
        ((name) (%generate-symbol-named (check-string "gensym" name)))
        ((name unique)
         (let ((symbol (gensym name)))
           (hashtable-set! unique-strings symbol (check-string "gensym" unique))
           symbol))))
    ;; To a symbol that was generated no name leads, not its own either.
    (define (gensym? x) (and (symbol? x) (not (eq? x (string->symbol (symbol->string x))))))
    ;; Strings of those that were asked for theirs, or given one.
    (define unique-strings (make-weak-eq-hashtable))
    (define uniques 0)
    (define (gensym->unique-string symbol)
      (if (not (gensym? symbol)) (wrong-type "gensym->unique-string" "what gensym makes" symbol))
      (or (hashtable-ref unique-strings symbol #f)
          (let ((unique (string-append "cairn-" (number->string uniques))))
            (set! uniques (+ uniques 1))
            (hashtable-set! unique-strings symbol unique)
            unique)))

    ;;;; Strings that cannot be changed

    (define (immutable-string? x) (and (string? x) (not (%numeric-writable? x))))
    (define (mutable-string? x) (and (string? x) (%numeric-writable? x)))
    ;; The name of a symbol is such a string.
    (define (string->immutable-string s)
      (if (immutable-string? s)
          s
          (symbol->string (%generate-symbol-named (check-string "string->immutable-string" s)))))

    (define properties (make-eq-hashtable))
    ;; key, value, key, value, …
    (define (property-list symbol) (hashtable-ref properties symbol '()))
    (define (getprop symbol key . default)
      (let loop ((l (property-list symbol)))
        (cond ((null? l) (if (pair? default) (car default) #f))
              ((eq? (car l) key) (cadr l))
              (else (loop (cddr l))))))
    (define (remprop symbol key)
      (hashtable-set! properties symbol
                      (let loop ((l (property-list symbol)))
                        (cond ((null? l) '())
                              ((eq? (car l) key) (cddr l))
                              (else (cons* (car l) (cadr l) (loop (cddr l))))))))
    (define (putprop symbol key value)
      (let loop ((l (property-list symbol)))
        (cond ((null? l) (hashtable-set! properties symbol (cons* key value (property-list symbol))))
              ((eq? (car l) key) (set-car! (cdr l) value))
              (else (loop (cddr l))))))

    ;;;; Settings that nothing here depends on

    (define optimize-level (make-parameter 0))
    (define debug-level (make-parameter 1))
    (define collect-request-handler (make-parameter (lambda () #f)))
    (define enable-cross-library-optimization (make-parameter #t))
    (define generate-inspector-information (make-parameter #f))
    (define print-gensym (make-parameter #t))
    (define print-graph (make-parameter #f))
    (define print-brackets (make-parameter #t))))
