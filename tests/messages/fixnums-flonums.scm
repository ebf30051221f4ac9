;; What the operations of SRFI 143 and 144 say of wrong operands and results; and what they answer where they do not.
(import (scheme base) (scheme write) (srfi 143) (srfi 144) (only (cairn control) condition->string))
(define-syntax say
  (syntax-rules ()
    ((_ e ...)
     (begin
       (begin
         (write 'e)
         (display " => ")
         (guard (c (#t (display (condition->string c))))
           (write e))
         (newline))
       ...))))

(say (fx+ 1 2) (fx+ 1. 2) (fx+ 1 'a) (fx+ fx-greatest 1) (fx- fx-least 1) (fx* fx-greatest 2)
     (fx=? 1 1) (fx=? 1 2 3) (fx=? 1 2 'a) (fx<? 'a 1) (fx<? 1 'a) (fx<? 1 2 3) (fx>=? 3 3 1)
     (fxneg 5) (fxneg "x") (fxneg fx-least) (fxabs fx-least) (fxquotient 7 2) (fxquotient 7 0) (fxquotient 7 'a)
     (fxquotient fx-least -1) (fxremainder 7 2.) (fxsquare 'a) (fxmax 1 3 2) (fxmin 1 'a) (fxmax 'a) (fxmax 1 2 'a)
     (fxand) (fxand 12 10) (fxand 12 'a) (fxior 'a 12) (fxxor 12 10 'a) (fxnot 'a)
     (fxarithmetic-shift-left 1 59) (fxarithmetic-shift-left 1 60) (fxarithmetic-shift-left -1 60)
     (fxarithmetic-shift-left 0 10) (fxarithmetic-shift-left 0 1000) (fxarithmetic-shift-left 3 1000)
     (fxarithmetic-shift-left 1 -1) (fxarithmetic-shift-left 1 'a) (fxarithmetic-shift-left 'a 1)
     (fxarithmetic-shift-right -5 1) (fxarithmetic-shift-right 5 1000) (fxarithmetic-shift-right -5 1000)
     (fxarithmetic-shift-right 5 -1) (fxarithmetic-shift-right 5. 1) (fxarithmetic-shift 5 -1) (fxarithmetic-shift 5 100)
     (fxbit-set? 'a 1) (fxzero? 0.) (fxodd? 'a))

(say (fl+ 1. 2.) (fl+) (fl+ 1.) (fl+ 1) (fl+ 1. 2. 3. 4.) (fl+ 1 2.) (fl+ 1. 2) (fl+ 1. 2. 3) (fl* 1. 'a) (fl* 2. 3. 4.)
     (fl- 1.) (fl- 'a) (fl- 1. 2. 3.) (fl- 1. 2. 'a) (fl- 1 2.) (fl/ 2.) (fl/ 1. 2. 4.) (fl/ 1. 2) (fl/ 1. 0.)
     (fl=? 1. 1.) (fl=?) (fl=? 'a) (fl<? 1. 2. 3.) (fl<? 1. 3. 2. 'a) (fl<? 1. 2) (fl<=? 2 1.) (fl>? 3. 2. 1.) (fl>=? 1. 2.)
     (flmax 1. 2. 3.) (flmax) (flmin) (flmax 1. 'a) (flmin +nan.0 2.) (flabs -1.) (flabs -1) (flsqrt 4.) (flsqrt -1.)
     (flsqrt 4) (flhypot 3. 4) (fl+* 1. 2. 'a) (flzero? 0))
