;; Records beyond R7RS: types that extend others (SRFI 131), sealed types, fields that say what they hold.
(import (scheme base) (scheme write) (scheme inexact) (srfi 131) (cairn records))
(include "include/check.scm" "include/observe.scm")

;;;; Inheritance

(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define-record-type (point3 point) (make-point3 x y z) point3? (z point3-z set-point3-z!))
(define-record-type (coloured point3) make-coloured coloured? (colour coloured-colour))
(define p (make-point 1 2))
(define q (make-point3 3 4 5))
(define c (make-coloured 6 7 8 'red))

(check (map point? (list p q c 5 '() #t)) => '(#t #t #t #f #f #f))
(check (map point3? (list p q c)) => '(#f #t #t))
(check (map coloured? (list p q c)) => '(#f #f #t))
(check (map point-x (list p q c)) => '(1 3 6))
(check (map point3-z (list q c)) => '(5 8))
(check (coloured-colour c) => 'red)
(set-point-x! c 60)
(set-point3-z! c 80)
(check (shown c) => "#<coloured x: 60 y: 7 z: 80 colour: red>")
(check (message (point3-z p)) => (list "point3-z: expected a point3, got" p))
(check (message (set-point3-z! 'z 1)) => '("set-point3-z!: expected a point3, got" z))
(check (message (point-x (make-vector 9000000 0)))
       => (list "point-x: expected a point, got" (make-vector 9000000 0)))
(check (rtd-parent point3) => point)
(check (rtd-parent point) => #f)
(check (rtd-field-names coloured) => '(colour))
(check (rtd-all-field-names coloured) => '(x y z colour))
(check (eq? (record-rtd c) coloured) => #t)
(check (map rtd? (list point #t #f 5 p)) => '(#t #f #f #f #f))
(check (shown point3) => "#<record-type point3>")

(define-record-type (leaf #f sealed) (make-leaf v) leaf? (v leaf-v))
(check (map leaf? (list (make-leaf 1) p)) => '(#t #f))
(check (leaf-v (make-leaf 1)) => 1)

;; a record without fields, and one that adds none
(define-record-type thing (make-thing) thing?)
(define-record-type (sub thing) (make-sub) sub?)
(check (list (thing? (make-thing)) (thing? (make-sub)) (sub? (make-thing))) => '(#t #t #f))
(check (shown (make-sub)) => "#<sub>")

;; a type is what it was when a constructor was made
(define-record-type cell (make-cell a) cell? (a cell-a))
(define old-make make-cell)
(define old-a cell-a)
(define old (make-cell 1))
(define-record-type cell (make-cell a b c) cell? (a cell-a) (b cell-b) (c cell-c))
(check (old-a (old-make 5)) => 5)
(check (cell? old) => #f)
(check (car (message (cell-c (old-make 5)))) => "cell-c: expected a cell, got")
(set! cell 'anything)
(check (cell-c (make-cell 1 2 3)) => 3)

;; types made in a procedure differ
(define (fresh)
  (define-record-type point (make x) it? ((x f64) x-of))
  (define-record-type (sub point) (make-sub x y) sub? ((y i8) y-of))
  (cons (make-sub 1.5 2) it?))
(let ((a (fresh)) (b (fresh)))
  (check (list ((cdr a) (car a)) ((cdr a) (car b))) => '(#t #f)))

;;;; Fields that say what they hold

(define-record-type all
  (make-all f64 f32 i8 i16 i32 i64 u8 u16 u32 u64 char bool)
  all?
  ((f64 f64) all-f64 set-f64!) ((f32 f32) all-f32 set-f32!)
  ((i8 i8) all-i8 set-i8!) ((i16 i16) all-i16 set-i16!) ((i32 i32) all-i32 set-i32!) ((i64 i64) all-i64 set-i64!)
  ((u8 u8) all-u8 set-u8!) ((u16 u16) all-u16 set-u16!) ((u32 u32) all-u32 set-u32!) ((u64 u64) all-u64 set-u64!)
  ((char char) all-char set-char!) ((bool bool) all-bool set-bool!))

(define (make-some) (make-all 1.5 2.5 1 2 3 4 5 6 7 8 #\x #t))
(define (list-of a)
  (list (all-f64 a) (all-f32 a) (all-i8 a) (all-i16 a) (all-i32 a) (all-i64 a) (all-u8 a) (all-u16 a) (all-u32 a)
        (all-u64 a) (all-char a) (all-bool a)))
(define a (make-some))
(check (list-of a) => '(1.5 2.5 1 2 3 4 5 6 7 8 #\x #t))
(check (shown a)
       => "#<all f64: 1.5 f32: 2.5 i8: 1 i16: 2 i32: 3 i64: 4 u8: 5 u16: 6 u32: 7 u64: 8 char: #\\x bool: #t>")

;; both ends of what a field holds, with neighbours untouched, and one beyond
(define-syntax check-range
  (syntax-rules ()
    ((_ get set lo hi)
     (begin
       (for-each
        (lambda (n)
          (let ((before (list-of (make-some))) (b (make-some)))
            (set b (opaque n))
            (check (get b) => n)
            (set b (get (make-some)))
            (check (list-of b) => before)))
        (list lo hi 0 1))
       (check (map (lambda (bad) (pair? (message (begin (set a bad) 'stored))))
                   (list (- lo 1) (+ hi 1) 0.5 1.0 #f #\a "1" (expt 2 70) (- (expt 2 70)) 1/2))
              => '(#t #t #t #t #t #t #t #t #t #t))))))
(check-range all-i8 set-i8! -128 127)
(check-range all-i16 set-i16! -32768 32767)
(check-range all-i32 set-i32! -2147483648 2147483647)
(check-range all-i64 set-i64! (- (expt 2 63)) (- (expt 2 63) 1))
(check-range all-u8 set-u8! 0 255)
(check-range all-u16 set-u16! 0 65535)
(check-range all-u32 set-u32! 0 4294967295)
(check-range all-u64 set-u64! 0 (- (expt 2 64) 1))
(check (list-of a) => '(1.5 2.5 1 2 3 4 5 6 7 8 #\x #t))
(check (message (set-i8! a 128)) => '("set-i8!: expected an integer from -128 to 127, got" 128))
(check (message (set-u64! a -1)) => '("set-u64!: expected a natural number of 64 bits, got" -1))
(check (message (set-f64! a 1)) => '("set-f64!: expected a flonum, got" 1))
(check (message (set-f32! a 1/2)) => '("set-f32!: expected a flonum, got" 1/2))
(check (message (set-char! a 65)) => '("set-char!: expected a character, got" 65))
(check (message (set-bool! a '())) => '("set-bool!: expected a boolean, got" ()))
(check (message (all-f64 p)) => (list "all-f64: expected an all, got" p))

(for-each
 (lambda (x)
   (set-f64! a x)
   (check (let ((y (all-f64 a))) (or (eqv? x y) (and (nan? x) (nan? y)))) => #t))
 '(0.0 -0.0 1e300 -1e-300 +inf.0 -inf.0 +nan.0 4.9e-324 1.7976931348623157e308))
(set-f32! a 0.1)
(check (all-f32 a) => 0.10000000149011612)
(set-f32! a 1e300)
(check (all-f32 a) => +inf.0)
(set-char! a #\x10FFFF)
(check (all-char a) => #\x10FFFF)
(set-bool! a #f)
(check (all-bool a) => #f)

;; what a constructor does not mention
(define-record-type half (make-half b) half? ((a f64) half-a) ((b i16) half-b) ((c char) half-c) ((d bool) half-d))
(check (shown (make-half -5)) => "#<half a: 0.0 b: -5 c: #\\null d: #f>")

;; numbers beside values: the record is no raw one, and checks the same
(define-record-type mixed (make-mixed name x n) mixed?
  (name mixed-name) ((x f64) mixed-x set-mixed-x!) ((n u64) mixed-n set-mixed-n!))
(define m (make-mixed "m" 1e300 (- (expt 2 64) 1)))
(check (shown m) => "#<mixed name: \"m\" x: 1e300 n: 18446744073709551615>")
(check (+ (mixed-x m) 1.0) => 1e300)
(check (message (set-mixed-x! m 'x)) => '("set-mixed-x!: expected a flonum, got" x))
(check (message (set-mixed-n! m (expt 2 64)))
       => '("set-mixed-n!: expected a natural number of 64 bits, got" 18446744073709551616))
(check (message (make-mixed 1 2 3)) => '("make-mixed: field x: expected a flonum, got" 2))

;; references
(define-record-type node (make-node key next) node? ((key u8) node-key) ((next (ref node)) node-next set-node-next!))
(define n1 (make-node 1 #f))
(define n2 (make-node 2 n1))
(check (node-key (node-next n2)) => 1)
(check (message (set-node-next! n1 p)) => (list "set-node-next!: expected a record of type node or #f, got" p))
(set-node-next! n1 n2)
(check (eq? (node-next (node-next n1)) n1) => #t)
(check (shown n1) => "#0=#<node key: 1 next: #<node key: 2 next: #0#>>")

;; raw records extend raw records
(define-record-type (wide all) (make-wide f64 more) wide? ((more f64) wide-more set-more!))
(define w (make-wide 0.5 0.25))
(check (all? w) => #t)
(check (list (all-f64 w) (wide-more w) (all-i64 w)) => '(0.5 0.25 0))
(set-f64! w 9.0)
(check (list (all-f64 w) (wide-more w)) => '(9.0 0.25))

;;;; Fields of which the program says nothing, and that hold flonums only

(define-record-type body (make-body x v id) body? (x body-x set-body-x!) (v body-v set-body-v!) (id body-id))
(define bodies (list (make-body 0. 1. 1) (make-body (sqrt 2.) -1e300 2)))
(define (step! b dt)
  (set-body-x! b (+ (body-x b) (* dt (body-v b))))
  (set-body-v! b (* 0.5 (body-v b))))
(for-each (lambda (b) (step! b 0.25) (step! b 0.5)) bodies)
(check (map body-x bodies) => '(0.5 -5e299))
(check (map body-id bodies) => '(1 2))
(check (shown (car bodies)) => "#<body x: 0.5 v: 0.25 id: 1>")
(check (apply + (map body-v bodies)) => -2.5e299)
(check (eq? (car bodies) (car bodies)) => #t)
(check (message (step! 5 1.0)) => '("body-x: expected a body, got" 5))

;; many of them live through collections
(define many
  (let loop ((i 0) (l '()))
    (if (= i 50000)
        (reverse l)
        (loop (+ i 1) (cons (make-body (inexact i) (* 1e200 (inexact i)) i) l)))))
(check (let loop ((i 0) (l many))
         (or (null? l)
             (let ((b (car l)))
               (and (= (body-x b) i) (= (body-v b) (* 1e200 i)) (eqv? (body-id b) i) (loop (+ i 1) (cdr l))))))
       => #t)

;; fields that hold other things besides keep them
(define-record-type loose (make-loose x) loose? (x loose-x set-loose-x!))
(define l (make-loose 1.0))
(set-loose-x! l (opaque 'symbol))
(check (loose-x l) => 'symbol)
;;;; Five types deep, and what is no record: compiled code looks at two ancestors, the runtime at all
(define-record-type first (make-first x) first? (x first-x))
(define-record-type (second first) (make-second x y) second? (y second-y))
(define-record-type (third second) (make-third x y z) third? (z third-z))
(define-record-type (fourth third) (make-fourth x y z u) fourth? (u fourth-u))
(define-record-type (fifth fourth) (make-fifth x y z u v) fifth? (v fifth-v))
(define generations
  (list (make-first 1) (make-second 1 2) (make-third 1 2 3) (make-fourth 1 2 3 4) (make-fifth 1 2 3 4 5)
        7 "s" (vector 1 2) car (make-point 1 2)))
(define (members type?)
  (map (lambda (x) (if (type? x) 1 0)) generations))
(check (map members (list first? second? third? fourth? fifth?))
       => '((1 1 1 1 1 0 0 0 0 0) (0 1 1 1 1 0 0 0 0 0) (0 0 1 1 1 0 0 0 0 0) (0 0 0 1 1 0 0 0 0 0)
            (0 0 0 0 1 0 0 0 0 0)))
(define (read-all field)
  (map (lambda (x) (guard (e (#t 'no)) (field x))) generations))
(check (map read-all (list first-x second-y third-z fourth-u fifth-v))
       => '((1 1 1 1 1 no no no no no) (no 2 2 2 2 no no no no no) (no no 3 3 3 no no no no no)
            (no no no 4 4 no no no no no) (no no no no 5 no no no no no)))

(report)
