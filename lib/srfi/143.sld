;;; (srfi 143): operations on fixnums; also as (scheme fixnum) of R7RS-large.
;;;
;;; A fixnum has 61 bits here.  Every operand is checked; a result that is no fixnum is an error, never another number
;;; (SRFI 143 leaves both open).  The operations are the general ones of (cairn number): between two fixnums these are
;;; single instructions.  Sums, differences, products and comparisons of two are small enough to be inlined: what is
;;; wrong with their operands is found out by a procedure of its own, which never returns and so stays one.
(define-library (srfi 143)
  (export
   fx-width fx-greatest fx-least fixnum?
   fx=? fx<? fx>? fx<=? fx>=? fxzero? fxpositive? fxnegative? fxodd? fxeven? fxmax fxmin
   fx+ fx- fx* fxneg fxquotient fxremainder fxabs fxsquare fxsqrt fx+/carry fx-/carry fx*/carry
   fxnot fxand fxior fxxor fxarithmetic-shift fxarithmetic-shift-left fxarithmetic-shift-right
   fxbit-count fxlength fxif fxbit-set? fxcopy-bit fxfirst-set-bit
   fxbit-field fxbit-field-rotate fxbit-field-reverse)
  (import (scheme base) (scheme case-lambda) (only (cairn control) out-of-range wrong-type)
          (only (cairn number) fixnum?) (only (cairn primitives) %fxand %fxior %fxsra %fxxor)
          (only (scheme division) balanced/)
          (only (srfi 151)
                bitwise-not bitwise-if arithmetic-shift bit-count integer-length bit-set? copy-bit first-set-bit
                bit-field bit-field-rotate bit-field-reverse))
  (begin
    (define fx-width 61)
    (define fx-greatest 1152921504606846975)
    (define fx-least -1152921504606846976)

    (define (check who x)
      (if (fixnum? x) x (wrong-type who "a fixnum" x)))
    (define (check-result who x)
      (if (fixnum? x) x (out-of-range who "the result is no fixnum:" x)))

    ;; (name operand ...): `body`, once the operands have been checked; the result, too, when `=>` says so.
    (define-syntax define-fx
      (syntax-rules (=>)
        ((_ (name x ...) => body)
         (begin
           (define (fail result x ...)
             (check (symbol->string 'name) x)
             ...
             (out-of-range (symbol->string 'name) "the result is no fixnum:" result))
           (define (name x ...)
             (let ((result (if (and (fixnum? x) ...) body #f)))
               (if (fixnum? result) result (fail result x ...))))))
        ((_ (name x ... y) body)
         (begin
           (define (fail x ... y)
             (check (symbol->string 'name) x)
             ...
             (wrong-type (symbol->string 'name) "a fixnum" y))
           (define (name x ... y)
             (if (and (fixnum? x) ... (fixnum? y)) body (fail x ... y)))))))

    ;; (name a b): the operation on two fixnums, inlined.
    (define-syntax define-inlined
      (syntax-rules ()
        ((_ name operation)
         (begin
           (define (fail a b)
             (check (symbol->string 'name) a)
             (check (symbol->string 'name) b)
             (out-of-range (symbol->string 'name) "the result is no fixnum:" (operation a b)))
           (define (name a b)
             (let ((x (if (if (fixnum? a) (fixnum? b) #f) (operation a b) #f)))
               (if (fixnum? x) x (fail a b))))))))

    ;;;; Comparison

    (define-syntax define-comparison
      (syntax-rules ()
        ((_ name compare)
         (begin
           (define (fail a b)
             (check (symbol->string 'name) a)
             (wrong-type (symbol->string 'name) "a fixnum" b))
           (define name
             (let ((compare:2
                    (lambda (a b)
                      (if (if (fixnum? a) (fixnum? b) #f) (compare a b) (fail a b)))))
               (case-lambda
                 ((a b) (compare:2 a b))
                 ((a) (check (symbol->string 'name) a) #t)
                 ((a b . rest)
                  (let loop ((holds (compare:2 a b)) (b b) (rest rest))
                    (if (null? rest)
                        holds
                        (let ((next (compare:2 b (car rest))))
                          (loop (and holds next) (car rest) (cdr rest)))))))))))))

    (define-comparison fx=? =)
    (define-comparison fx<? <)
    (define-comparison fx>? >)
    (define-comparison fx<=? <=)
    (define-comparison fx>=? >=)

    (define-fx (fxzero? x) (zero? x))
    (define-fx (fxpositive? x) (positive? x))
    (define-fx (fxnegative? x) (negative? x))
    (define-fx (fxodd? x) (odd? x))
    (define-fx (fxeven? x) (even? x))

    ;; `unit` is the value without operands; without one, there must be an operand.
    (define-syntax define-fold
      (syntax-rules ()
        ((_ name combine unit ...)
         (begin
           (define (fail a b)
             (check (symbol->string 'name) a)
             (wrong-type (symbol->string 'name) "a fixnum" b))
           (define name
             (let ((combine:2
                    (lambda (a b)
                      (if (if (fixnum? a) (fixnum? b) #f) (combine a b) (fail a b)))))
               (case-lambda
                 ((a b) (combine:2 a b))
                 (() unit)
                 ...
                 ((a) (check (symbol->string 'name) a))
                 ((a b . rest)
                  (let loop ((value (combine:2 a b)) (rest rest))
                    (if (null? rest)
                        value
                        (loop (combine:2 value (car rest)) (cdr rest))))))))))))

    (define-fold fxmax max)
    (define-fold fxmin min)

    ;;;; Arithmetic

    (define-inlined fx+ +)
    (define-inlined fx- -)
    (define-inlined fx* *)
    (define-fx (fxneg a) => (- a))
    (define-fx (fxquotient a b) => (quotient a b))
    (define-fx (fxremainder a b) (remainder a b))
    (define-fx (fxabs a) => (abs a))
    (define-fx (fxsquare a) => (* a a))
    (define-fx (fxsqrt a) (exact-integer-sqrt a))

    ;; The sum as a fixnum and what carries to the next digit of a number with digits of `fx-width` bits.
    (define (carried sum)
      (let-values (((carry digit) (balanced/ sum (expt 2 fx-width))))
        (values digit carry)))
    (define-fx (fx+/carry a b carry) (carried (+ a b carry)))
    (define-fx (fx-/carry a b carry) (carried (- a b carry)))
    (define-fx (fx*/carry a b carry) (carried (+ (* a b) carry)))

    ;;;; Bits

    (define-fx (fxnot a) (bitwise-not a))
    (define-fold fxand %fxand -1)
    (define-fold fxior %fxior 0)
    (define-fold fxxor %fxxor 0)

    (define-fx (fxarithmetic-shift a count) => (arithmetic-shift a count))
    (define-fx (fxarithmetic-shift-left a count) =>
      (arithmetic-shift a (check-count "fxarithmetic-shift-left" count)))
    (define-fx (fxarithmetic-shift-right a count)
      (if (if (>= count 0) (< count fx-width) #f)
          (%fxsra a count)
          (arithmetic-shift a (- (check-count "fxarithmetic-shift-right" count)))))
    (define (check-count who count)
      (if (negative? count) (out-of-range who "not a number of bits:" count) count))

    (define-fx (fxbit-count a) (bit-count a))
    (define-fx (fxlength a) (integer-length a))
    (define-fx (fxif mask a b) (bitwise-if mask a b))
    (define-fx (fxbit-set? i a) (bit-set? i a))
    (define (fxcopy-bit i a on?)
      (check-result "fxcopy-bit" (copy-bit (check "fxcopy-bit" i) (check "fxcopy-bit" a) on?)))
    (define-fx (fxfirst-set-bit a) (first-set-bit a))
    (define-fx (fxbit-field a start end) => (bit-field a start end))
    (define-fx (fxbit-field-rotate a count start end) => (bit-field-rotate a count start end))
    (define-fx (fxbit-field-reverse a start end) => (bit-field-reverse a start end))))
