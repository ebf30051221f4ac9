;; SRFIs 214, 217, 219, 221, 222, 223, 227, 228, 232, 233, 234, 235, 236, 239, 244 and 253.
(import (except (scheme base) define) (scheme write) (srfi 214) (srfi 217) (srfi 219) (srfi 221) (srfi 222) (srfi 223)
        (srfi 227) (srfi 228) (srfi 232) (srfi 233) (srfi 234) (srfi 235) (srfi 236) (srfi 239)
        (rename (only (srfi 244) define-values) (define-values define-values-244)) (srfi 253)
        (only (srfi 41) stream->list) (only (srfi 158) generator generator->list list-accumulator)
        (only (srfi 128) =? <? comparator-hash real-comparator string-comparator comparator-test-type))
(include "include/check.scm")

;; 214, against lists
(define fv (flexvector))
(for-each (lambda (x) (flexvector-add-back! fv x)) '(1 2 3 4 5 6 7 8 9))
(define (copy) (flexvector-copy fv))
(check (map flexvector->list
            (list fv (flexvector-add! (copy) 2 'a 'b) (flexvector-add-front! (copy) 'a 'b) (flexvector-append fv
                                                                                            (flexvector 0))
                  (flexvector-remove-range! (copy) 1 7) (flexvector-map - fv) (flexvector-filter odd? fv)
                  (flexvector-filter/index! (lambda (i x) (< i 2)) (copy)) (flexvector-reverse! (copy))
                  (flexvector-copy! (flexvector 'x 'y) 1 fv 7) (flexvector-reverse-copy! (flexvector 'x 'y) 1 fv 7)
                  (flexvector-copy fv 7 100) (flexvector-append-subvectors fv 0 1 fv 8 9) (flexvector-cumulate + 0 fv)
                  (flexvector-unfold (lambda (x) (> x 3)) square (lambda (x) (+ x 1)) 1)
                  (flexvector-append-map (lambda (x) (flexvector x x)) (flexvector 1 2)) (flexvector-map/index list
                                                                                          (flexvector 'a))
                  (vector->flexvector #(1 2 3) 1) (string->flexvector "ab") (generator->flexvector (generator 1 2))))
       => '((1 2 3 4 5 6 7 8 9) (1 2 a b 3 4 5 6 7 8 9) (a b 1 2 3 4 5 6 7 8 9) (1 2 3 4 5 6 7 8 9 0) (1 8 9)
            (-1 -2 -3 -4 -5 -6 -7 -8 -9) (1 3 5 7 9) (1 2) (9 8 7 6 5 4 3 2 1) (x 8 9) (x 9 8) (8 9) (1 9)
            (1 3 6 10 15 21 28 36 45) (1 4 9) (1 1 2 2) ((0 a)) (2 3) (#\a #\b) (1 2)))
(check (list (flexvector-length fv) (flexvector-ref fv 3) (flexvector-front fv) (flexvector-back fv) (flexvector-fold
                                                                                                      + 0 fv)
             (flexvector-fold-right (lambda (acc x) (cons x acc)) '() fv) (flexvector-count < fv (flexvector 2 1 4))
             (flexvector-index even? fv) (flexvector-index-right even? fv) (flexvector-skip odd? fv)
             (flexvector-binary-search fv 7 -) (flexvector-binary-search fv 1/2 -) (flexvector-any even?
                                                                                    fv) (flexvector-every even? fv)
             (flexvector=? eqv? fv (copy)) (generator->list (flexvector->generator (flexvector 1 2)))
             (let ((c (copy))) (list (flexvector-remove! c 0) (flexvector-remove-back! c) (flexvector-set! c 0 'x)
                                     (flexvector-ref c 0))))
       => '(9 4 1 9 45 (1 2 3 4 5 6 7 8 9) 2 1 7 1 6 #f #t #f #t (1 2) (1 9 2 x)))
(check-error (flexvector-ref fv 9))
(check-error (flexvector-front (flexvector)))

;; 217, against lists
(define some (iset 2 3 5 7 11))
(check (map iset->list
            (list some (iset 3 1 2 1) (make-range-iset 25 30) (make-range-iset 10 -10 -6) (iset-adjoin some 4)
                  (iset-delete some 3 4)
                  (iset-union some (iset 1 2)) (iset-intersection some (iset 1 2 3)) (iset-difference some (iset 2)
                                                                                      (iset 11))
                  (iset-xor some (iset 1 2)) (iset-filter even? some) (iset-map (lambda (x) (quotient x 2)) some)
                  (iset-open-interval some 2 7) (iset-closed-interval some 2 7) (isubset< some 5) (isubset>= some
                                                                                                             5) (isubset= some 7)
                  (iset-unfold (lambda (n) (> n 64)) values (lambda (n) (* n 2)) 2)))
       => '((2 3 5 7 11) (1 2 3) (25 26 27 28 29) (-8 -2 4 10) (2 3 4 5 7 11) (2 5 7 11) (1 2 3 5 7 11) (2 3) (3 5 7)
            (1 3 5 7 11) (2) (1 2 3 5) (3 5) (2 3 5 7) (2 3) (5 7 11) (7) (2 4 8 16 32 64)))
(check (list (iset-contains? some 5) (iset-min some) (iset-max (iset)) (iset-size some) (iset-disjoint? some (iset 1 4))
             (iset<? (iset 2 3) some) (iset<=? some some) (iset=? some (iset 3 2 5 11 7)) (iset-fold + 0 some)
             (iset-find even? some (lambda () #f)) (iset-count odd? some) (iset-every? positive? some))
       => '(#t 2 #f 5 #t #t #t #t 28 2 4 #t))
(check-values (let-values (((n rest) (iset-delete-max some))) (values n (iset->list rest))) => 11 '(2 3 5 7))
(check-values (let-values (((s x) (iset-search some 4 (lambda (insert ignore) (insert 'new)) (lambda (n update remove)
                                                                                                     (remove 'old)))))
                (values (iset->list s) x))
              => '(2 3 4 5 7 11) 'new)
(check-error (iset 'a))

;; 219, 232
(define (((adder a) b) c) (list a b c))
(define-curried (add3 a b c) (+ a b c))
(check (list (((adder 1) 2) 3) (((add3 1) 2) 3) ((add3 1 2) 3) (add3 1 2 3)
             ((curried (a) (curried (b . c) (list a b c))) 1 2 3)
             ((curried () (curried (x y) (+ x y))) 2 3) (((curried (a b . rest) (list a b rest)) 1) 2 3 4) ((curried l
                                                                                                                     l) 1 2))
       => '((1 2 3) 6 6 6 (1 2 (3)) 5 (1 2 (3 4)) (1 2)))

;; 221
(check (list (generator->list (genumerate (generator 'a 'b))) (generator->list (gchoice (generator 0 1 0 1 1)
                                                                                        (generator 1 2 3) (generator
                                                                                                            4)))
             (generator->list (gcompose-left (lambda () (generator 1 2)) genumerate)) (stream->list (generator->stream
                                                                                                     (generator 1 2)))
             (generator->list (stream->generator (generator->stream (generator 1 2))))
             (accumulate-generated-values (list-accumulator) (generator 1 2)))
       => '(((0 . a) (1 . b)) (1 4 2) ((0 . 1) (1 . 2)) (1 2) (1 2) (1 2)))

;; 222
(define compound (make-compound 1 (make-compound 'a 2) "s"))
(check (list (compound-subobjects compound) (compound-length 5) (compound-ref compound 1) (compound-map->list list
                                                                                           compound)
             (compound-subobjects (compound-filter number? compound)) (compound-predicate symbol? compound)
             (compound-access string? string-length #f compound) (compound-access char? list 'none
                                                                  compound) (compound? 5))
       => '((1 a 2 "s") 1 a ((1) (a) (2) ("s")) (1 2) #t 1 none #f))
(check-error (compound-ref compound 4))

;; 223
(check (list (vector-bisect-left #(1 2 2 3) 2 <) (vector-bisect-right #(1 2 2 3) 2 <) (vector-bisect-left #(1 2 2 3) 4
                                                                                       < 0 2)
             (bisect-left #f 10 (lambda (a i) (* i i)) < -3 10))
       => '(1 3 2 4))

;; 227
(define n 10)
(define-optionals (f a (n 1) (m (+ n 1)) . rest) (list a n m rest))
(define-optionals* (g a (n 1) (m (+ n 1))) (list a n m))
(check (list (f 0) (f 0 2) (f 0 2 3) (f 0 2 3 4) (g 0) (g 0 5) (g 0 5 6) (let-optionals '(1) (a (b 2)) (list a b))
             (let-optionals* '(1) (a (b (+ a 1)) . c) (list a b c)) ((opt-lambda () 'none)) ((opt-lambda ((x 1))
                                                                                                         x)) ((opt-lambda l l) 1))
       => '((0 1 11 ()) (0 2 11 ()) (0 2 3 ()) (0 2 3 (4)) (0 1 2) (0 5 6) (0 5 6) (1 2) (1 2 ()) none 1 (1)))
(check-error (g))
(check-error (g 1 2 3 4))

;; 228
(define by-car (make-wrapper-comparator pair? car real-comparator))
(define by-both (make-product-comparator by-car (make-wrapper-comparator pair? cdr string-comparator)))
(define either (make-sum-comparator real-comparator string-comparator))
(check (list (=? by-car '(1 . "a") '(1 . "b")) (<? by-both '(1 . "a") '(1 . "b")) (<? either 5 "a") (<? either "a" 5)
             (<? either "a" "b")
             (=? comparator-one 1 'a) (comparator-test-type comparator-zero 1)
             (= (comparator-hash by-both '(1 . "a")) (comparator-hash by-both (cons 1 "a"))))
       => '(#t #t #t #f #t #t #f #t))

;; 233
(check (generator->list (make-ini-file-generator (open-input-string " a = 1 ; one\n\n; nothing\n[part]\nb=x=y\nc\n")))
       => '((#f a "1") (part b "x=y") (part c #f)))
(check (let* ((out (open-output-string)) (put (make-ini-file-accumulator out)))
         (for-each put (list '(#f a "1") "note" '(part b "2") '(part c #f) (eof-object)))
         (get-output-string out))
       => "a=1\n; note\n[part]\nb=2\nc\n")

;; 234
(check (list (topological-sort '((a b c) (b d) (c) (d c))) (topological-sort '((a b) (b a))) (topological-sort
                                                                                              '((0 1) (1)) = #(x y))
             (edgelist->graph '((a b) (a c) (b e))) (graph->edgelist '((a b c) (b e))) (edgelist/inverted->graph
                                                                                        '((b a) (c a)))
             (graph->edgelist/inverted '((a b c))) (connected-components '((1 2) (2 1 3) (3 4) (4))))
       => '((a b d c) #f (x y) ((a b c) (b e)) ((a b) (a c) (b e)) ((a b c)) ((b a) (c a)) ((4) (3) (1 2))))
(check-values (topological-sort/details '((x a) (a b) (b c) (c a))) => #f "graph has circular dependency" '(a b c))

;; 235
(check (list ((constantly 1) 2) ((complement even?) 1) ((flip list) 1 2 3) ((swap list) 1 2 3) ((on-left -) 1 2)
             ((on-right -) 1 2)
             ((conjoin number? even?) 2) ((disjoin string? even?) 1) ((all-of even?) '(2 4)) ((any-of odd?)
                                                                                              '(2 4)) ((on + square) 1
                                                                                                       2)
             ((left-section list 1 2) 3) ((right-section list 1 2) 3) ((apply-chain car cdr) '(1 2)) ((arguments-drop
                                                                                                       + 2) 1 2 3)
             ((arguments-take-right list 2) 1 2 3) ((group-by even?) '(1 2 3 4)) (and-procedure (lambda () 1)
                                                                                  (lambda () 2))
             (or-procedure (lambda () #f) (lambda () 2)) (case-procedure 1
                                                          (list (cons 1 (lambda () 'one)))) (if-procedure #f list
                                                                                             vector)
             (value-procedure 3 - list) (always 1) (never) (boolean 5))
       => '(1 #t (3 2 1) (2 1 3) -1 -2 #t #f #t #f 5 (1 2 3) (3 2 1) 2 3 (2 3) ((1 3) (2 4)) 2 2 one #() -3 #t #f #t))

;; 236, 239, 244
(define trace '())
(independently (set! trace (cons 1 trace)) (set! trace (cons 1 trace)))
(define (kind x) (list-case x (_ 'other) ((a . _) (list 'pair a)) (() 'null)))
(define-values-244 (x . y) (values 1 2 3))
(check (list trace (map kind '((1) () 5)) x y) => '((1 1) ((pair 1) null other) 1 (2 3)))
(check-error (list-case 5 (() 1)))

;; 253
(define-checked (half (n even?) k) (list (/ n 2) k))
(define-checked greeting string? "hello")
(define-record-type-checked <item> (make-item name price) item? (name string? item-name) (price number? item-price
                                                                                                set-item-price!))
(define item (make-item "a" 1))
(check (list (half 4 'k) greeting ((lambda-checked ((a string?) . rest) (list a rest)) "x" 1)
             (check-case 5 (string? 's) (number? 'n))
             (check-case 'a (string? 's) (else 'e)) ((case-lambda-checked (((a number?)) 1) ((a (b string?)) 2)) 1 "b")
             (begin (set-item-price! item 2) (item-price item)) (item-name item))
       => '((2 k) "hello" ("x" (1)) n e 2 2 "a"))
(check-values (values-checked (number? string?) 1 "a") => 1 "a")
(check-error (half 3 'k))
(check-error (make-item 1 1))
(check-error (set-item-price! item 'x))
(check-error (check-arg string? 5 'here))
(check-error (values-checked (string?) 5))
(check-error (check-case 'a (string? 's)))

(report)
