;; SRFIs 34, 45, 66, 95, 129, 171, 173, 189, 193, 195, 196 and 197.
(import (scheme base) (scheme write) (scheme read)
        (only (srfi 34) guard raise) (only (srfi 45) lazy eager force) (srfi 66) (rename (srfi 95) (sort sort-95))
        (srfi 129) (srfi 171) (srfi 171 meta) (srfi 173) (srfi 189) (only (srfi 193) command-name command-args
                                                                          script-file)
        (only (srfi 195) box unbox set-box! box-arity unbox-value set-box-value!) (srfi 196) (srfi 197)
        (only (srfi 69) make-hash-table hash-table-set!))
(include "include/check.scm")

;; 34, 45
(check (guard (e ((symbol? e) (list 'caught e))) (raise 'oops)) => '(caught oops))
(define (count-down n) (if (= n 0) (eager 'done) (lazy (count-down (- n 1)))))
(check (force (count-down 100000)) => 'done)
(check (force (force (eager (eager 1)))) => 1)

;; 66
(define v (u8vector 1 2 3))
(check (list (u8vector-length v) (u8vector-ref v 1) (u8vector->list v) (list->u8vector '(4 5)) (make-u8vector 2 7))
       => '(3 2 (1 2 3) #u8(4 5) #u8(7 7)))
(check (let ((w (make-u8vector 4 0))) (u8vector-copy! v 1 w 2 2) w) => #u8(0 0 2 3))
(check (list (u8vector=? v (u8vector-copy v)) (u8vector-compare v #u8(9)) (u8vector-compare v #u8(1 2 4))
             (u8vector-compare v v))
       => '(#t 1 -1 0))

;; 95
(define l (list 3 1 2))
(check (list (sort-95 l <) (sort-95 #(3 1 2) >) (sort-95 '((2 a) (1 b)) < car) (merge '(1 4) '(2 3) <)
             (sorted? '(1 2 2) <) (sorted? #(2 1) <) (sorted? '((1) (2)) < car))
       => '((1 2 3) #(3 2 1) ((1 b) (2 a)) (1 2 3 4) #t #f #t))
(check (begin (sort! l <) l) => '(1 2 3))
(check-error (sort-95 5 <))

;; 129
(check (list (string-titlecase "hELLO wORLD, it's ßo") (char-titlecase #\x1c6) (char-title-case? #\x1c5)
             (char-title-case? #\A) (char-titlecase #\x10d0) (string-titlecase "ΟΔΟΣ οδοΣ"))
       => '("Hello World, It's Sso" #\x1c5 #t #f #\x10d0 "Οδος Οδος"))

;; 171
(define (both f g) (lambda (x) (f (g x))))
(define (char-upcase* c) (integer->char (- (char->integer c) 32)))
(define numbers '(1 2 3 4 5 6))
(define (through . transducers)
  (list-transduce (let loop ((ts transducers))
                    (if (null? (cdr ts)) (car ts) (both (car ts) (loop (cdr ts)))))
                  rcons numbers))
(check (list (through (tmap square)) (through (tfilter odd?)) (through (tremove odd?))
             (through (tfilter-map (lambda (x) (and (odd? x) (- x))))) (through (tdrop 4)) (through (ttake 2))
             (through (tdrop-while odd?)) (through (ttake-while (lambda (x) (< x 4)))) (through (tsegment 4))
             (through (tpartition (lambda (x) (< x 3)))) (through (tadd-between 0)) (through (tenumerate 5) (ttake 2))
             (through (tappend-map (lambda (x) (list x x))) (ttake 3)) (through (treplace '((1 . one) (2 . two))))
             (through (tmap (lambda (x) (quotient x 2))) (tdelete-neighbor-duplicates))
             (through (tmap even?) (tdelete-duplicates)) (through (tmap even?) (tdelete-duplicates eqv?))
             (through (tfilter odd?) (tmap square) (ttake 2)))
       => '((1 4 9 16 25 36) (1 3 5) (2 4 6) (-1 -3 -5) (5 6) (1 2) (2 3 4 5 6) (1 2 3) ((1 2 3 4) (5 6))
            ((1 2) (3 4 5 6)) (1 0 2 0 3 0 4 0 5 0 6) ((5 . 1) (6 . 2) ) (1 1 2) (one two 3 4 5 6) (0 1 2 3)
            (#f #t) (#f #t) (1 9)))
(check (list (list-transduce tconcatenate rcons '((1 2) (3))) (list-transduce tflatten reverse-rcons '(1 (2 (3)) 4))
             (list-transduce (both tflatten (ttake 2)) rcons '(1 (2 (3)) 4))
             (vector-transduce (tmap -) rcount #(1 2)) (string-transduce (tmap char-upcase*) rcons "ab")
             (bytevector-u8-transduce (tmap +) + #u8(1 2 3)) (port-transduce (tfilter odd?) rcons read
                                                              (open-input-string "1 2 3"))
             (list-transduce (tmap -) (rany (lambda (x) (and (< x -1) x))) '(1 2 3)) (list-transduce (tmap -)
                                                                                      (revery even?) '(2 3 4))
             (list-transduce (tmap +) + 10 '(1 2)) (list-reduce (lambda (acc x) (if (= x 3) (reduced acc) (+ acc x)))
                                                                0 numbers))
       => '((1 2 3) (4 3 2 1) (1 2) 2 (#\A #\B) 6 (1 3) -2 #f 13 3))
(define table (make-hash-table))
(hash-table-set! table 1 'one)
(check (through (treplace table) (ttake 2)) => '(one 2))
(check-error (tmap 5))
(check-error (ttake -1))

;; 173
(define log '())
(define (note x) (set! log (cons x log)))
(define (twice x) (note (* 2 x)))
(define hook (list->hook 1 (list note)))
(hook-add! hook twice)
(hook-run hook 3)
(hook-delete! hook twice)
(hook-run hook 4)
(check (list log (length (hook->list hook)) (begin (hook-reset! hook) (hook->list hook)) (hook? hook)) =>
       '((4 3 6) 1 () #t))
(check-error (hook-run hook))

;; 189
(check (list (maybe->list (just 1 2)) (maybe->list (nothing)) (maybe-ref (just 1) (lambda () 'none))
             (maybe-ref (nothing) (lambda () 'none)) (either-ref (left 'bad) list) (maybe-ref/default (nothing) 7)
             (either->list (either-swap (left 1))) (maybe->truth (maybe-map square (just 3)))
             (maybe->truth (maybe-bind (just 4) (lambda (x) (just (* 2 x))) (lambda (x) (just (+ x 1)))))
             (maybe= eqv? (just 1) (just 1)) (maybe= eqv? (just 1) (nothing)) (either= eqv? (left 1) (right 1))
             (maybe->list (maybe-sequence (list (just 1) (just 2)) map (lambda (x) x)))
             (nothing? (maybe-sequence (list (just 1) (nothing)) map))
             (maybe->list (maybe-let* ((a (just 1)) (b (just (+ a 1)))) (* a b)))
             (either->list (either-swap (either-let* ((a (left 'no)) (b (right 2))) b)))
             (maybe->list (maybe-let*-values (((a b) (just 1 2))) (values b a)))
             (maybe->truth (tri-and (just #t) (just 2))) (maybe->truth (tri-or (just #f) (just 5)))
             (maybe->truth (tri-not (just #f))) (maybe-fold + 10 (just 1 2)) (maybe-if (just 1) 'yes 'no)
             (either-ref (either-guard symbol? (raise 'oops)) list) (maybe->truth (maybe-or (nothing) (just 3))))
       => '((1 2) () 1 none (bad) 7 (1) 9 9 #t #f #f ((1 2)) #t (2) (no) (2 1) #t 5 #t 13 yes (oops) 3))
(check-error (maybe-ref 5 list))
(check-error (maybe-join (just 1 2)))

;; 193
(check (list (string? (command-name)) (command-args) (string? (script-file))) => '(#t () #t))

;; 195
(define b (box 1 2))
(set-box-value! b 0 'x)
(check-values (unbox b) => 'x 2)
(check (list (box-arity b) (unbox-value b 1) (unbox (box 5)) (begin (set-box! b 3 4) (unbox-value b 0))) => '(2 2 5 3))
(check-error (set-box! b 1))

;; 196
(define r (numeric-range 0 10 3))
(check (list (range->list r) (range-length r) (range-ref r 2) (range-first r) (range-last r)
             (range->list (range-reverse r))
             (range->list (subrange r 1 3)) (range->list (range-take-right r 1)) (map range->list (range-segment r 3))
             (range->list (range-append r (vector-range #(a)))) (range-fold + 0 r) (range-fold-right
                                                                                    (lambda (l x) (cons x l)) '() r)
             (range->list (range-map * r r)) (range-map->vector - r) (range-count odd? r) (range-any odd?
                                                                                                     r) (range-every
                                                                                                          odd? r)
             (range->list (range-filter odd? r)) (range-index odd? r) (range-index-right odd? r)
             (range->list (range-take-while even? r)) (range->list (range-drop-while even? r))
             (range->string (string-range "abc")) (range=? = r (vector->range #(0 3 6 9))) (range->list
                                                                                             (iota-range 3 1)))
       => '((0 3 6 9) 4 6 0 9 (9 6 3 0) (3 6) (9) ((0 3 6) (9)) (0 3 6 9 a) 18 (0 3 6 9) (0 9 36 81) #(0 -3 -6 -9) 2
            #t #f
            (3 9) 1 3 (0) (3 6 9) "abc" #t (1 2 3)))
(check (range-length (numeric-range 0 1 .1)) => 10)
(check-error (range-ref r 4))
(check-error (numeric-range 0 1 0))

;; 197
(define <>* 2)
(check (list (chain 5 (- _ 1) (list 'a _ 'b)) (chain (values 1 2) (list _ 'x _)) (chain (values 1 2 3) (list _ 0 _ ...))
             (chain 1 (list)) (chain 2 <> (* <> <>* 3)) (chain-and '(1) (car _) (+ _ 1)) (chain-and #f (car _))
             (chain-when 5 (#t (+ _ 1)) (#f (car _))) ((chain-lambda (+ _ _) (list _)) 1 2) ((chain-lambda
                                                                                              (list _ _ ...)) 1 2 3)
             (nest (list 1 _) (list 2 _) 3) (nest-reverse 3 (list 2 _) (list 1 _)) (nest '_ (1 2 _) (3 _ 5) (_) 4))
       => '((a 4 b) (1 x 2) (1 0 2 3) () 12 2 #f 6 (3) (1 2 3) (1 (2 3)) (1 (2 3)) (1 2 (3 (4) 5))))

(report)
