(import)
(import scheme)
(import ())
(import (scheme "base"))
(import (scheme -1))
(import (only (scheme base) kar))
(import (only (scheme base) 1))
(import (prefix (scheme base)))
(import (rename (scheme base) car))
(import (rename (scheme base) (kar x)))
(import (except (scheme base) kar))
(import (rnrs base))
;;;;
(define-library)
(define-library x)
(define-library (a) 5)
(define-library (b) (frob))
(define-library (c) (import (scheme base)) (define x 1))
(define-library (d) (export 1))
(define-library (e) (export (rename x)))
(define-library (f) (export x))
(define-library (g) (import (scheme base)) (export x (rename y x)) (begin (define x 1) (define y 2)))
(define-library (g))
(define-library (h) (import (h)))
(define-library (i) (import (scheme base)) (begin (define car 1)))
(define-library (j) (cond-expand 1))
(define-library (k) (include))
(define-library (l) (include 5))
(define-library (m) (include "nowhere.scm"))
(import (scheme base))
;;;;
(cond-expand ((frob x) 1))
(cond-expand ("x" 1))
(cond-expand 5)
(let () (import (scheme base)) 1)
(if (import (scheme base)) 1)
(include 5)
;;;;
(import (cairn primitives) (scheme base))
%record-ref
(list %car %opaque)
(%apply list)
(%call/cc)
(%car 1 2)
;;;;
(import (scheme base) (rename (scheme base) (cons car)))
(car 1 2)
;;;;
'(#0=(a . #1#) #1=(b . #0#))
;;;;
'(a #0=(b . #0#)) #0=(car . #0#)
;;;;
`(1 #0=(2 . #0#))
;;;;
(import (scheme wirte) (srfi :1))
;;;;
(define-library (twice) (import (scheme base)) (export a) (begin (define a 1) (define a 2)))
(import (scheme base) (twice))
a
;;;;
(import (scheme evil))
