;; Every sort and merge beside insertion sort: whole results, with the order of equal elements.
;;
;; Elements are pairs (key . serial number) and are compared by keys; numbers are given out in the order of the input,
;; so that a result equals the oracle's only when the sort is stable and has lost and doubled nothing.
(import (scheme base) (scheme write) (srfi 1) (srfi 132) (only (cairn sort) sort sort! list-merge)
        (prefix (scheme sort) large:) (prefix (cairn sort) own:))
(include "include/check.scm")

(define seed 7)
(define (random n)
  (set! seed (modulo (+ (* seed 1103515245) 12345) 2147483648))
  (modulo (quotient seed 65536) n))

(define (less? a b) (< (car a) (car b)))
(define (same? a b) (= (car a) (car b)))

;;;; The oracle

;; Behind everything that is not greater, which keeps equal elements in order.
(define (insert less? x sorted)
  (if (or (null? sorted) (less? x (car sorted)))
      (cons x sorted)
      (cons (car sorted) (insert less? x (cdr sorted)))))
(define (insertion-sort less? l)
  (fold-left-of (lambda (sorted x) (insert less? x sorted)) '() l))
(define (fold-left-of f acc l)
  (if (null? l) acc (fold-left-of f (f acc (car l)) (cdr l))))

(define (numbered keys) (map cons keys (iota (length keys))))
(define (by-serial l) (insertion-sort (lambda (a b) (< (cdr a) (cdr b))) l))
(define (slice l start end) (take (drop l start) (- end start)))

;; Inputs of n elements, by name.
(define (inputs n)
  (list (list 'any (numbered (list-tabulate n (lambda (i) (random 1000)))))
        (list 'few (numbered (list-tabulate n (lambda (i) (random 3)))))
        (list 'rising (numbered (iota n)))
        (list 'falling (numbered (reverse (iota n))))
        (list 'parts (numbered (list-tabulate n (lambda (i) (if (< i (quotient n 3)) (- (quotient i 2)) (quotient i 40))))))
        (list 'steps (numbered (list-tabulate n (lambda (i) (- (quotient i 3))))))))

;;;; Every sort, as a procedure from list to list

(define (of-vector sort-it)
  (lambda (less? l) (vector->list (sort-it less? (list->vector l)))))
(define (in-place sort!)
  (lambda (less? l)
    (let ((v (list->vector l)))
      (sort! less? v)
      (vector->list v))))
(define (turned sort-it) (lambda (less? x) (sort-it x less?)))

;; These leave what they are given as it is.
(define pure
  (list (list 'list-sort list-sort)
        (list 'list-stable-sort list-stable-sort)
        (list 'sort-of-list (turned sort))
        (list 'vector-sort (of-vector vector-sort))
        (list 'vector-stable-sort (of-vector vector-stable-sort))
        (list 'sort-of-vector (of-vector (turned sort)))))
(define sorts
  (append
    pure
    (list (list 'list-sort! (lambda (less? l) (list-sort! less? (list-copy l))))
          (list 'list-stable-sort! (lambda (less? l) (list-stable-sort! less? (list-copy l))))
          (list 'sort!-of-list (lambda (less? l) (sort! (list-copy l) less?)))
          (list 'vector-sort! (in-place vector-sort!))
          (list 'vector-stable-sort! (in-place vector-stable-sort!))
          (list 'sort!-of-vector (of-vector (turned sort!))))))

(define (check-sorts n)
  (for-each
    (lambda (input)
      (let* ((l (cadr input)) (expected (insertion-sort less? l)))
        (for-each
          (lambda (entry)
            (let ((about (list (car entry) n (car input))))
              (check (list about ((cadr entry) less? l)) => (list about expected))))
          sorts)
        (check (list n (car input) (list-sorted? less? l) (vector-sorted? less? (list->vector l)))
               => (let ((in-order (equal? l expected))) (list n (car input) in-order in-order)))))
    (inputs n)))
(do ((n 0 (+ n 1))) ((= n 41)) (check-sorts n))

;; a thousand; the oracle takes long for that, so it is asked once
(let* ((l (numbered (list-tabulate 1000 (lambda (i) (random 100))))) (expected (insertion-sort less? l)))
  (for-each (lambda (entry) (check (list (car entry) ((cadr entry) less? l)) => (list (car entry) expected))) sorts)
  (for-each (lambda (entry) (check (list (car entry) ((cadr entry) less? expected)) => (list (car entry) expected))) sorts))

;; in the other direction, with a predicate that answers with other things than #t
(let ((l (numbered (list-tabulate 50 (lambda (i) (random 9))))) (more? (lambda (a b) (and (> (car a) (car b)) 'yes))))
  (for-each (lambda (entry)
              (check (list (car entry) ((cadr entry) more? l)) => (list (car entry) (insertion-sort more? l))))
            sorts)
  (check (list (list-sorted? more? (insertion-sort more? l)) (list-sorted? more? l)) => '(#t #f)))

;; a predicate that says anything: everything is there still
(let ((l (numbered (iota 37))))
  (for-each
    (lambda (entry)
      (check (list (car entry) (by-serial ((cadr entry) (lambda (a b) (= 0 (random 2))) l))) => (list (car entry) l)))
    sorts))

;; sorted input costs a comparison for each element but one, any other at most n log n, and those
(define (comparisons sort-it l)
  (let ((n 0))
    (sort-it (lambda (a b) (set! n (+ n 1)) (less? a b)) l)
    n))
(for-each
  (lambda (entry)
    (check (list (car entry) (comparisons (cadr entry) (numbered (iota 256)))) => (list (car entry) 255))
    (check (list (car entry) (<= (comparisons (cadr entry) (numbered (list-tabulate 256 (lambda (i) (random 256)))))
                                 (+ 255 (* 8 256))))
           => (list (car entry) #t)))
  sorts)

;;;; What is given stays, and what is returned is new

(let* ((l (numbered '(3 1 2 1))) (as-it-was (list-copy l)) (v (list->vector l)) (sorted (insertion-sort less? l)))
  (for-each (lambda (sort-it) (sort-it less? l)) (list list-sort list-stable-sort (turned sort)))
  (check l => as-it-was)
  (for-each (lambda (sort-it)
              (sort-it less? v)
              (let ((in-order (list->vector sorted)))
                (check (eq? (sort-it less? in-order) in-order) => #f)))
            (list vector-sort vector-stable-sort (turned sort)))
  (check v => (list->vector as-it-was))
  (check (eq? (sort! v less?) v) => #t)
  (check v => (list->vector sorted)))

;;;; Ranges of vectors

(do ((n 0 (+ n 1))) ((= n 7))
  (do ((start 0 (+ start 1))) ((> start n))
    (do ((end start (+ end 1))) ((> end n))
      (let* ((l (numbered (list-tabulate n (lambda (i) (random 4)))))
             (middle (insertion-sort less? (slice l start end)))
             (whole (append (take l start) middle (drop l end)))
             (about (list n start end)))
        (define (in-range sort!)
          (let ((v (list->vector l)))
            (sort! less? v start end)
            (vector->list v)))
        (check (list about (vector->list (vector-sort less? (list->vector l) start end))) => (list about middle))
        (check (list about (vector->list (vector-stable-sort less? (list->vector l) start end))) => (list about middle))
        (check (list about (in-range vector-sort!)) => (list about whole))
        (check (list about (in-range vector-stable-sort!)) => (list about whole))
        (check (list about (vector-sorted? less? (list->vector l) start end))
               => (list about (equal? middle (slice l start end))))
        (when (= end n)
          (check (list about (vector->list (vector-sort less? (list->vector l) start))) => (list about middle))
          (check (list about (vector->list (vector-stable-sort less? (list->vector l) start))) => (list about middle))
          (check (list about (let ((v (list->vector l))) (vector-sort! less? v start) (vector->list v)))
                 => (list about whole))
          (check (list about (vector-sorted? less? (list->vector l) start))
                 => (list about (equal? middle (drop l start)))))))))

(define-syntax check-message
  (syntax-rules ()
    ((_ expr message)
     (check (guard (e ((error-object? e) (error-object-message e))) expr) => message))))
(check-message (vector-sort! < (vector 1 2) 0 3) "vector-sort!: not a range of the vector:")
(check-message (vector-sort! < (vector 1 2) 2 1) "vector-sort!: not a range of the vector:")
(check-message (vector-sort! < (vector 1 2) -1) "vector-sort!: not a range of the vector:")
(check-error (vector-sort < (vector 1 2) 0 3))
(check-error (vector-sort < (vector 1 2) 2 1))
(check-error (vector-sort < (vector 1 2) -1))

;; what is no procedure, no list and no vector is told before anything happens
(let ((v (vector 2 1)))
  (for-each (lambda (wrong) (check-error (wrong)))
            (list (lambda () (list-sort 5 '(2 1))) (lambda () (list-sort! 5 (list 2 1))) (lambda () (sort '(2 1) 5))
                  (lambda () (sort! v 5)) (lambda () (vector-sort 5 v)) (lambda () (vector-sort! 5 v))
                  (lambda () (list-sort < 5)) (lambda () (list-sort < '(2 1 . 0))) (lambda () (vector-sort < '(2 1)))
                  (lambda () (vector-sort! < '(2 1))) (lambda () (sort 5 <)) (lambda () (sort! '(2 1 . 0) <))))
  (check v => #(2 1)))

;;;; Merging: of equal elements those of the first come first

(define (sorted-input n serial)
  (insertion-sort less? (map cons (list-tabulate n (lambda (i) (random 6))) (iota n serial))))
(do ((m 0 (+ m 1))) ((= m 9))
  (do ((n 0 (+ n 1))) ((= n 9))
    (let* ((a (sorted-input m 0)) (b (sorted-input n 100)) (expected (insertion-sort less? (append a b)))
           (about (list m n)))
      (check (list about (list-merge less? a b)) => (list about expected))
      (check (list about (list-merge! less? (list-copy a) (list-copy b))) => (list about expected))
      (check (list about (vector->list (vector-merge less? (list->vector a) (list->vector b)))) => (list about expected))
      (check (list about
                   (let ((to (make-vector (+ m n 2) '-)))
                     (vector-merge! less? to (list->vector a) (list->vector b) 1)
                     (vector->list to)))
             => (list about (append '(-) expected '(-)))))))
(do ((round 0 (+ round 1))) ((= round 40))
  (let* ((a (sorted-input 6 0)) (b (sorted-input 7 100))
         (i (random 7)) (end-a (+ i (random (- 7 i)))) (j (random 8)) (end-b (+ j (random (- 8 j))))
         (expected (insertion-sort less? (append (slice a i end-a) (slice b j end-b))))
         (about (list i end-a j end-b)))
    (check (list about (vector->list (vector-merge less? (list->vector a) (list->vector b) i end-a j end-b)))
           => (list about expected))
    (check (list about
                 (let ((to (make-vector (+ 3 (length expected)) '-)))
                   (vector-merge! less? to (list->vector a) (list->vector b) 2 i end-a j end-b)
                   (vector->list to)))
           => (list about (append '(- -) expected '(-))))))

;;;; Neighbours that are the same: what differs from the one kept before it

(define (without-dups l)
  (reverse (fold-left-of (lambda (kept x) (if (and (pair? kept) (same? (car kept) x)) kept (cons x kept))) '() l)))
(do ((n 0 (+ n 1))) ((= n 20))
  (let* ((l (numbered (list-tabulate n (lambda (i) (random 2))))) (expected (without-dups l)))
    (check (list-delete-neighbor-dups same? l) => expected)
    (check (list-delete-neighbor-dups! same? (list-copy l)) => expected)
    (check (vector->list (vector-delete-neighbor-dups same? (list->vector l))) => expected)
    (check (let* ((v (list->vector l)) (end (vector-delete-neighbor-dups! same? v))) (vector->list v 0 end)) => expected)
    (let* ((start (random (+ n 1))) (end (+ start (random (- (+ n 1) start)))) (expected (without-dups (slice l start end))))
      (check (vector->list (vector-delete-neighbor-dups same? (list->vector l) start end)) => expected)
      (let* ((v (list->vector l)) (new-end (vector-delete-neighbor-dups! same? v start end)))
        (check (list (vector->list v 0 start) (vector->list v start new-end) (vector->list v end))
               => (list (take l start) expected (drop l end)))))))

;;;; Medians and ranks

(define (median l default mean)
  (let* ((sorted (insertion-sort less? l)) (n (length l)) (half (quotient n 2)))
    (cond ((null? l) default)
          ((odd? n) (list-ref sorted half))
          (else (mean (list-ref sorted (- half 1)) (list-ref sorted half))))))
(do ((n 0 (+ n 1))) ((= n 30))
  (let* ((l (numbered (list-tabulate n (lambda (i) (random 10))))) (sorted (insertion-sort less? l)))
    (check (vector-find-median less? (list->vector l) 'none list) => (median l 'none list))
    (check (let* ((v (list->vector l)) (m (vector-find-median! less? v 'none list))) (list m (vector->list v)))
           => (list (median l 'none list) sorted))
    ;; every rank of a range, and everything stays in its range
    (let* ((start (random (+ n 1))) (end (+ start (random (- (+ n 1) start)))) (l-sorted (insertion-sort less? (slice l start end))))
      (do ((k 0 (+ k 1))) ((> k (- end start)))
        (let ((v (list->vector l)) (w (list->vector l)) (about (list n start end k)))
          (when (< k (- end start))
            (check (list about (car (vector-select! less? v k start end))) => (list about (car (list-ref l-sorted k))))
            (check (list about (by-serial (vector->list v start end))) => (list about (slice l start end))))
          (vector-separate! less? w k start end)
          (check (list about (map car (insertion-sort less? (vector->list w start (+ start k)))))
                 => (list about (map car (take l-sorted k))))
          (check (list about (by-serial (vector->list w start end))) => (list about (slice l start end)))
          (check (list about (vector->list w 0 start) (vector->list w end))
                 => (list about (take l start) (drop l end))))))))

;;;; Re-entry: the continuation of any comparison, entered twice more, brings the whole result each time, and results
;;;; that were returned before stay as they are

(define (results-of-returns sort-it l at)
  (define k #f)
  (define comparisons 0)
  (define results '())
  (define (before? a b)
    (set! comparisons (+ comparisons 1))
    (if (= comparisons at) (call/cc (lambda (c) (set! k c))))
    (less? a b))
  (let ((result (sort-it before? l)))
    (set! results (cons result results))
    (if (and k (< (length results) 3)) (k #f))
    results))
(let* ((l (numbered '(9 3 7 1 8 2 6 3 5 0 9 3 7))) (expected (insertion-sort less? l)))
  (for-each
    (lambda (entry)
      (let ((last (comparisons (cadr entry) l)))
        (do ((at 1 (+ at 1))) ((> at last))
          (check (list (car entry) at (results-of-returns (cadr entry) l at))
                 => (list (car entry) at (list expected expected expected))))))
    sorts)
  (let ((a (sorted-input 5 0)) (b (sorted-input 5 100)))
    (do ((at 1 (+ at 1))) ((= at 5))
      (check (list at (results-of-returns (lambda (less? a) (list-merge less? a b)) a at))
             => (list at (make-list 3 (insertion-sort less? (append a b))))))))

;; ended early and late: by an error in the predicate, with the vector as it was
(let ((v (list->vector (numbered '(4 3 2 1)))))
  (for-each (lambda (sort!)
              (check-error (sort! (lambda (a b) (if (or (= 1 (car a)) (= 1 (car b))) (error "no") (less? a b))) v))
              (check v => #((4 . 0) (3 . 1) (2 . 2) (1 . 3))))
            (list vector-sort! vector-stable-sort! (turned sort!))))

;;;; The same procedures under their other names

(check (map eq?
            (list large:list-sort large:list-stable-sort large:list-sort! large:list-stable-sort! large:vector-sort
                  large:vector-stable-sort large:vector-sort! large:vector-stable-sort! large:list-sorted?
                  large:vector-sorted? large:list-merge large:list-merge! large:vector-merge large:vector-merge!
                  large:list-delete-neighbor-dups large:list-delete-neighbor-dups! large:vector-delete-neighbor-dups
                  large:vector-delete-neighbor-dups! large:vector-find-median large:vector-find-median!
                  large:vector-select! large:vector-separate!)
            (list list-sort list-stable-sort list-sort! list-stable-sort! vector-sort
                  vector-stable-sort vector-sort! vector-stable-sort! list-sorted?
                  vector-sorted? list-merge list-merge! vector-merge vector-merge!
                  list-delete-neighbor-dups list-delete-neighbor-dups! vector-delete-neighbor-dups
                  vector-delete-neighbor-dups! vector-find-median vector-find-median!
                  vector-select! vector-separate!))
       => (make-list 22 #t))
(check (map eq?
            (list own:list-sort own:list-stable-sort own:list-sort! own:list-stable-sort! own:vector-sort
                  own:vector-stable-sort own:vector-sort! own:vector-stable-sort! own:list-sorted? own:vector-sorted?
                  own:list-merge own:sort own:sort!)
            (list list-sort list-stable-sort list-sort! list-stable-sort! vector-sort
                  vector-stable-sort vector-sort! vector-stable-sort! list-sorted? vector-sorted?
                  list-merge sort sort!))
       => (make-list 13 #t))

(report)
