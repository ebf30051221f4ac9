;;; (srfi 14): sets of characters; also as (scheme charset).
;;;
;;; A set is a vector of its boundaries in ascending order: #(48 58 97 103) are the characters from 48 to 57 and from
;;; 97 to 102.  Union, intersection and the like walk through two such vectors once.  For the first 256 characters a
;;; set has a bytevector of flags, made when it is first asked for one of them.
;;;
;;; The standard sets are given by predicates over Unicode; their boundaries are computed when they are first needed,
;;; in about 20 ms, and membership before that asks the predicate.  Surrogates belong to no set.  The procedures whose
;;; names end with `!` return new sets.
(define-library (srfi 14)
  (export
   char-set? char-set= char-set<= char-set-hash
   char-set-cursor char-set-ref char-set-cursor-next end-of-char-set?
   char-set-fold char-set-unfold char-set-unfold! char-set-for-each char-set-map
   char-set-copy char-set list->char-set list->char-set! string->char-set string->char-set!
   char-set-filter char-set-filter! ucs-range->char-set ucs-range->char-set! ->char-set
   char-set->list char-set->string char-set-size char-set-count char-set-contains?
   char-set-every char-set-any
   char-set-adjoin char-set-adjoin! char-set-delete char-set-delete!
   char-set-complement char-set-complement! char-set-union char-set-union!
   char-set-intersection char-set-intersection! char-set-difference char-set-difference!
   char-set-xor char-set-xor! char-set-diff+intersection char-set-diff+intersection!
   char-set:lower-case char-set:upper-case char-set:title-case char-set:letter char-set:digit
   char-set:letter+digit char-set:graphic char-set:printing char-set:whitespace char-set:iso-control
   char-set:punctuation char-set:symbol char-set:hex-digit char-set:blank char-set:ascii
   char-set:empty char-set:full)
  (import (scheme base) (scheme case-lambda) (scheme char)
          (rename (only (cairn primitives) %char-category) (%char-category char-category))
          (only (cairn control) wrong-type out-of-range check-procedure)
          (only (cairn sort) list-sort))
  (begin

    (define-record-type <char-set>
      (make-set predicate boundaries flags)
      char-set?
      ;; for the standard sets, else #f
      (predicate set-predicate)
      ;; #f until needed, if there is a predicate
      (boundaries set-boundaries set-boundaries!)
      ;; #f until needed
      (flags set-flags set-flags!))

    (define (from-boundaries v) (make-set #f v #f))

    (define limit #x110000)
    (define first-surrogate #xD800)
    (define after-surrogates #xE000)

    (define (boundaries who cs)
      (if (not (char-set? cs)) (wrong-type who "a char-set" cs))
      (or (set-boundaries cs)
          (let ((v (boundaries-of (set-predicate cs))))
            (set-boundaries! cs v)
            v)))

    ;; No character of a standard set is among the planes that Unicode reserves, 4 to 13, nor in those for private use,
    ;; 15 and 16.
    (define first-reserved #x40000)
    (define after-reserved #xE0000)
    (define first-private #xF0000)

    ;; The boundaries of the characters for which the predicate of a standard set holds.
    (define (boundaries-of in?)
      (let loop ((i 0) (inside? #f) (l '()))
        (cond
          ((eqv? i first-surrogate) (loop after-surrogates #f (if inside? (cons i l) l)))
          ((eqv? i first-reserved) (loop after-reserved #f (if inside? (cons i l) l)))
          ((eqv? i first-private) (list->vector (reverse (if inside? (cons i l) l))))
          ((eq? inside? (if (in? (integer->char i)) #t #f)) (loop (+ i 1) inside? l))
          (else (loop (+ i 1) (not inside?) (cons i l))))))

    ;;;; Membership

    (define (char-set-contains? cs c)
      (if (not (char? c)) (wrong-type "char-set-contains?" "a character" c))
      (if (not (char-set? cs)) (wrong-type "char-set-contains?" "a char-set" cs))
      (let ((i (char->integer c)))
        (if (< i 256)
            (eqv? 1 (bytevector-u8-ref (or (set-flags cs) (make-flags cs)) i))
            (let ((v (set-boundaries cs)))
              (if v
                  (within? v i)
                  (and ((set-predicate cs) c) #t))))))

    (define (make-flags cs)
      (let ((flags (make-bytevector 256 0)) (v (set-boundaries cs)) (in? (set-predicate cs)))
        (do ((i 0 (+ i 1))) ((= i 256))
          (if (if v (within? v i) (in? (integer->char i)))
              (bytevector-u8-set! flags i 1)))
        (set-flags! cs flags)
        flags))

    ;; Is the number of boundaries up to i odd?
    (define (within? v i)
      (let loop ((low 0) (high (vector-length v)))
        (if (< low high)
            (let ((middle (quotient (+ low high) 2)))
              (if (<= (vector-ref v middle) i)
                  (loop (+ middle 1) high)
                  (loop low middle)))
            (odd? low))))

    ;;;; Sets from two sets

    ;; Walks through both vectors of boundaries; `in?` decides by the membership in each.
    (define (combine in? a b)
      (let ((n (vector-length a)) (m (vector-length b)))
        (let loop ((i 0) (j 0) (inside? #f) (l '()))
          (if (and (= i n) (= j m))
              (from-boundaries (list->vector (reverse l)))
              (let* ((x (if (< i n) (vector-ref a i) limit))
                     (y (if (< j m) (vector-ref b j) limit))
                     (at (min x y))
                     (i (if (= x at) (min n (+ i 1)) i))
                     (j (if (= y at) (min m (+ j 1)) j))
                     (now? (in? (odd? i) (odd? j))))
                (loop i j now? (if (eq? now? inside?) l (cons at l))))))))

    ;; Sets are combined from the left.  `who` fails where something is no set.
    (define (combined who in? cs rest)
      (if (null? rest)
          (begin
            (boundaries who cs)
            cs)
          (combined who in? (combine in? (boundaries who cs) (boundaries who (car rest))) (cdr rest))))
    (define (either a b) (or a b))
    (define (both a b) (and a b))
    (define (one a b) (not (eq? a b)))
    (define (minus a b) (and a (not b)))

    ;; `(name set ...)`, with the value for no sets, and `(name! set set ...)`.
    (define-syntax define-combination
      (syntax-rules ()
        ((_ in? none (name who) (name! who!))
         (begin
           (define (name . sets)
             (if (null? sets) none (combined who in? (car sets) (cdr sets))))
           (define (name! cs . rest) (combined who! in? cs rest))))))
    (define-combination either char-set:empty
      (char-set-union "char-set-union") (char-set-union! "char-set-union!"))
    (define-combination both char-set:full
      (char-set-intersection "char-set-intersection") (char-set-intersection! "char-set-intersection!"))
    (define-combination one char-set:empty (char-set-xor "char-set-xor") (char-set-xor! "char-set-xor!"))

    (define (char-set-difference cs . rest) (combined "char-set-difference" minus cs rest))
    (define (char-set-difference! cs . rest) (combined "char-set-difference!" minus cs rest))
    (define (char-set-complement cs) (combined "char-set-complement" minus char-set:full (list cs)))
    (define (char-set-complement! cs) (combined "char-set-complement!" minus char-set:full (list cs)))
    (define (difference+intersection who cs rest)
      (let ((others (list (combined who either char-set:empty rest))))
        (values (combined who minus cs others) (combined who both cs others))))
    (define (char-set-diff+intersection cs . rest) (difference+intersection "char-set-diff+intersection" cs rest))
    (define (char-set-diff+intersection! a b . rest)
      (difference+intersection "char-set-diff+intersection!" a (cons b rest)))

    ;;;; Comparing

    (define-syntax define-chain
      (syntax-rules ()
        ((_ name who (a b) ok?)
         (define (name . sets)
           (let ((all (map (lambda (cs) (boundaries who cs)) sets)))
             (or (null? all)
                 (let loop ((a (car all)) (rest (cdr all)))
                   (or (null? rest)
                       (let ((b (car rest)))
                         (and ok? (loop b (cdr rest))))))))))))
    (define-chain char-set= "char-set=" (a b) (equal? a b))
    (define-chain char-set<= "char-set<=" (a b)
      (eqv? 0 (vector-length (set-boundaries (combine (lambda (x y) (and x (not y))) a b)))))

    (define char-set-hash
      (case-lambda
        ((cs) (char-set-hash cs 0))
        ((cs bound)
         (let ((bound (if (eqv? bound 0) 33554432 bound)))
           (if (not (and (exact-integer? bound) (> bound 0)))
               (out-of-range "char-set-hash" "not a bound:" bound))
           (let ((v (boundaries "char-set-hash" cs)))
             (let loop ((i 0) (h 0))
               (if (= i (vector-length v))
                   (modulo h bound)
                   (loop (+ i 1) (modulo (+ (* 31 h) (vector-ref v i)) 33554393)))))))))

    ;;;; Iterating.  A cursor is the number of a character, or #f.

    ;; The first member from number i on.
    (define (member-from v i)
      (let ((n (vector-length v)))
        (if (within? v i)
            i
            (let loop ((k 0))
              (cond ((= k n) #f)
                    ((> (vector-ref v k) i) (vector-ref v k))
                    (else (loop (+ k 2))))))))

    (define (char-set-cursor cs) (member-from (boundaries "char-set-cursor" cs) 0))
    (define (char-set-ref cs cursor)
      (if (not (exact-integer? cursor)) (wrong-type "char-set-ref" "a cursor that is not at the end" cursor))
      (integer->char cursor))
    (define (char-set-cursor-next cs cursor)
      (if (not (exact-integer? cursor)) (wrong-type "char-set-cursor-next" "a cursor that is not at the end" cursor))
      (member-from (boundaries "char-set-cursor-next" cs) (+ cursor 1)))
    (define (end-of-char-set? cursor) (not cursor))

    ;; From the last character to the first, so that consing gives lists in ascending order.
    (define (fold-down proc seed v)
      (let loop ((k (vector-length v)) (acc seed))
        (if (= k 0)
            acc
            (let ((start (vector-ref v (- k 2))))
              (let inner ((i (- (vector-ref v (- k 1)) 1)) (acc acc))
                (if (< i start)
                    (loop (- k 2) acc)
                    (inner (- i 1) (proc (integer->char i) acc))))))))

    (define (char-set-fold proc seed cs) (fold-down proc seed (boundaries "char-set-fold" cs)))
    (define (char-set-for-each proc cs)
      (fold-down (lambda (c acc) (proc c) acc) #t (boundaries "char-set-for-each" cs)))
    (define (char-set-map proc cs)
      (list->char-set (fold-down (lambda (c l) (cons (proc c) l)) '() (boundaries "char-set-map" cs))))
    (define (char-set->list cs) (fold-down cons '() (boundaries "char-set->list" cs)))
    (define (char-set->string cs) (list->string (fold-down cons '() (boundaries "char-set->string" cs))))

    (define (char-set-size cs)
      (let ((v (boundaries "char-set-size" cs)))
        (do ((k 0 (+ k 2)) (n 0 (+ n (- (vector-ref v (+ k 1)) (vector-ref v k)))))
            ((= k (vector-length v)) n))))

    (define (char-set-count counts? cs)
      (fold-down (lambda (c n) (if (counts? c) (+ n 1) n)) 0 (boundaries "char-set-count" cs)))

    (define (char-set-every ok? cs)
      (let ((v (boundaries "char-set-every" cs)))
        (let loop ((i (member-from v 0)))
          (or (not i)
              (and (ok? (integer->char i)) (loop (member-from v (+ i 1))))))))

    (define (char-set-any ok? cs)
      (let ((v (boundaries "char-set-any" cs)))
        (let loop ((i (member-from v 0)))
          (and i
               (or (ok? (integer->char i)) (loop (member-from v (+ i 1))))))))

    ;;;; Making sets

    (define (char-set . chars) (set-with "char-set" chars '#()))

    (define (char-set-copy cs) (from-boundaries (boundaries "char-set-copy" cs)))

    (define (check-base who rest)
      (boundaries who (if (pair? rest) (car rest) char-set:empty)))

    (define (set-of-numbers l)
      (let loop ((l (list-sort < l)) (out '()))
        (cond
          ((null? l) (from-boundaries (list->vector (reverse out))))
          ((and (pair? out) (= (car l) (- (car out) 1))) (loop (cdr l) out))
          ;; it continues the last range
          ((and (pair? out) (= (car l) (car out))) (loop (cdr l) (cons (+ (car l) 1) (cdr out))))
          (else (loop (cdr l) (cons (+ (car l) 1) (cons (car l) out)))))))

    (define (set-with who chars base)
      (combine (lambda (a b) (or a b))
               (set-boundaries
                (set-of-numbers
                 (map (lambda (c) (if (char? c) (char->integer c) (wrong-type who "a character" c)))
                      (if (list? chars) chars (wrong-type who "a list" chars)))))
               base))
    (define (set-with-string who s base)
      (set-with who (if (string? s) (string->list s) (wrong-type who "a string" s)) base))
    (define (set-with-some who keep? cs base)
      (set-with who (fold-down (lambda (c l) (if (keep? c) (cons c l) l)) '() (boundaries who cs)) base))

    (define (list->char-set chars . base)
      (set-with "list->char-set" chars (check-base "list->char-set" base)))
    (define (list->char-set! chars base)
      (set-with "list->char-set!" chars (boundaries "list->char-set!" base)))
    (define (string->char-set s . base)
      (set-with-string "string->char-set" s (check-base "string->char-set" base)))
    (define (string->char-set! s base)
      (set-with-string "string->char-set!" s (boundaries "string->char-set!" base)))

    (define (char-set-filter keep? cs . base)
      (set-with-some "char-set-filter" keep? cs (check-base "char-set-filter" base)))
    (define (char-set-filter! keep? cs base)
      (set-with-some "char-set-filter!" keep? cs (boundaries "char-set-filter!" base)))

    (define (char-set-unfold stop? mapper successor seed . base)
      (let loop ((seed seed) (l '()))
        (if (stop? seed)
            (set-with "char-set-unfold" l (check-base "char-set-unfold" base))
            (loop (successor seed) (cons (mapper seed) l)))))
    (define (char-set-unfold! stop? mapper successor seed base)
      (char-set-unfold stop? mapper successor seed base))

    ;; Numbers that are no characters are left out, or an error.
    (define ucs-range->char-set
      (case-lambda
        ((low high) (ucs-range->char-set low high #f char-set:empty))
        ((low high error?) (ucs-range->char-set low high error? char-set:empty))
        ((low high error? base)
         (if (not (and (exact-integer? low) (exact-integer? high) (<= 0 low high)))
             (out-of-range "ucs-range->char-set" "not a range of characters:" (cons low high)))
         (if (and error? (or (> high limit) (and (< low after-surrogates) (> high first-surrogate) (< low high))))
             (out-of-range "ucs-range->char-set" "there are numbers that are no characters in" (cons low high)))
         (let ((high (min high limit)))
           (char-set-union (char-set-intersection
                            (from-boundaries (if (< low high) (vector low high) (vector)))
                            char-set:full)
                           base)))))
    (define (ucs-range->char-set! low high error? base) (ucs-range->char-set low high error? base))

    (define (->char-set x)
      (cond ((char-set? x) x)
            ((string? x) (string->char-set x))
            ((char? x) (char-set x))
            (else (wrong-type "->char-set" "a char-set, a string or a character" x))))

    (define (char-set-adjoin cs . chars)
      (set-with "char-set-adjoin" chars (boundaries "char-set-adjoin" cs)))
    (define (char-set-delete cs . chars)
      (without "char-set-delete" cs chars))
    (define (char-set-adjoin! cs . chars)
      (set-with "char-set-adjoin!" chars (boundaries "char-set-adjoin!" cs)))
    (define (char-set-delete! cs . chars)
      (without "char-set-delete!" cs chars))
    (define (without who cs chars)
      (combined who minus cs (list (set-with who chars '#()))))

    ;;;; The standard sets

    (define (of-predicate in?) (make-set in? #f #f))

    ;; Is the general category (see cairn-rt/src/chars.rs) one of those from `low` to `high`?
    (define-syntax category-in?
      (syntax-rules ()
        ((_ c low high) (<= low (char-category c) high))))

    (define (letter? c) (category-in? c 0 4))
    (define (digit? c) (category-in? c 8 8))
    (define (graphic? c)
      (let ((k (char-category c)))
        (or (<= 0 k 4) (= k 8) (<= 11 k 21))))
    (define (whitespace? c)
      (or (category-in? c 22 24) (char<=? #\tab c #\return)))

    (define char-set:lower-case (of-predicate char-lower-case?))
    (define char-set:upper-case (of-predicate char-upper-case?))
    (define char-set:title-case (of-predicate (lambda (c) (category-in? c 2 2))))
    (define char-set:letter (of-predicate letter?))
    (define char-set:digit (of-predicate digit?))
    (define char-set:letter+digit (of-predicate (lambda (c) (or (letter? c) (digit? c)))))
    (define char-set:punctuation (of-predicate (lambda (c) (category-in? c 11 17))))
    (define char-set:symbol (of-predicate (lambda (c) (category-in? c 18 21))))
    (define char-set:graphic (of-predicate graphic?))
    (define char-set:printing (of-predicate (lambda (c) (or (graphic? c) (whitespace? c)))))
    (define char-set:whitespace (of-predicate whitespace?))
    (define char-set:blank (of-predicate (lambda (c) (or (char=? c #\tab) (category-in? c 22 22)))))
    (define char-set:iso-control (from-boundaries '#(0 32 127 160)))
    (define char-set:hex-digit (from-boundaries '#(48 58 65 71 97 103)))
    (define char-set:ascii (from-boundaries '#(0 128)))
    (define char-set:empty (from-boundaries '#()))
    (define char-set:full (from-boundaries (vector 0 first-surrogate after-surrogates limit)))))
