;;; (srfi 101): random-access pairs and lists; (scheme rlist) has them under names of their own.
;;;
;;; A pair is the head of a list of complete binary trees whose sizes grow, but for the first two, which may be of one
;;; size (skew binary numbers, Okasaki 1995).  So `cons`, `car` and `cdr` take constant time, `list-ref` and `list-set`
;;; logarithmic time.  A leaf is an element itself; trees of size 1 are leaves.
(define-library (srfi 101)
  (export
   quote pair? cons car cdr caar cadr cdar cddr caaar caadr cadar caddr cdaar cdadr cddar cdddr
   caaaar caaadr caadar caaddr cadaar cadadr caddar cadddr cdaaar cdaadr cdadar cdaddr cddaar cddadr cdddar cddddr
   null? list? list make-list length length<=? append reverse list-tail list-ref list-set list-ref/update map for-each
   random-access-list->linear-access-list linear-access-list->random-access-list)
  (import (rename (except (scheme base) caar cadr cdar cddr list-set!)
                  (quote l:quote) (pair? l:pair?) (cons l:cons) (car l:car) (cdr l:cdr) (list? l:list?) (list l:list)
                  (make-list l:make-list) (length l:length) (append l:append) (reverse l:reverse)
                  (list-tail l:list-tail) (list-ref l:list-ref) (map l:map) (for-each l:for-each))
          (scheme case-lambda) (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (cairn control) out-of-range wrong-type))
  (begin

    ;; A tree of this size, and the list behind it.
    (define-record-type <pair>
      (make-pair size tree rest)
      pair?
      (size pair-size)
      (tree pair-tree)
      (rest pair-rest))
    ;; A tree of 3 elements or more.
    (define-record-type <node>
      (make-node value left right)
      node?
      (value node-value)
      (left node-left)
      (right node-right))

    (define (cons x rest)
      (if (and (pair? rest) (pair? (pair-rest rest)) (= (pair-size rest) (pair-size (pair-rest rest))))
          (make-pair (+ 1 (* 2 (pair-size rest)))
                     (make-node x (pair-tree rest) (pair-tree (pair-rest rest)))
                     (pair-rest (pair-rest rest)))
          (make-pair 1 x rest)))

    (define (check who p)
      (if (pair? p) p (wrong-type who "a random-access pair" p)))

    (define (car p)
      (check "car" p)
      (if (= (pair-size p) 1) (pair-tree p) (node-value (pair-tree p))))
    (define (cdr p)
      (check "cdr" p)
      (if (= (pair-size p) 1)
          (pair-rest p)
          (let ((half (quotient (pair-size p) 2)) (tree (pair-tree p)))
            (make-pair half (node-left tree) (make-pair half (node-right tree) (pair-rest p))))))

    ;; The steps to a part, the first one first.
    (define-syntax part-of
      (syntax-rules ()
        ((_ who x) x)
        ((_ who x step . steps) (part-of who (step (check who x)) . steps))))
    (define-syntax define-selectors
      (syntax-rules ()
        ((_ (name step ...) ...)
         (begin
           (define (name x) (part-of (symbol->string (l:quote name)) x step ...))
           ...))))
    (define-selectors
      (caar car car) (cadr cdr car) (cdar car cdr) (cddr cdr cdr) (caaar car car car) (caadr cdr car car)
      (cadar car cdr car) (caddr cdr cdr car) (cdaar car car cdr) (cdadr cdr car cdr) (cddar car cdr cdr)
      (cdddr cdr cdr cdr) (caaaar car car car car) (caaadr cdr car car car) (caadar car cdr car car)
      (caaddr cdr cdr car car) (cadaar car car cdr car) (cadadr cdr car cdr car) (caddar car cdr cdr car)
      (cadddr cdr cdr cdr car) (cdaaar car car car cdr) (cdaadr cdr car car cdr) (cdadar car cdr car cdr)
      (cdaddr cdr cdr car cdr) (cddaar car car cdr cdr) (cddadr cdr car cdr cdr) (cdddar car cdr cdr cdr)
      (cddddr cdr cdr cdr cdr))

    ;;;; Places

    (define (beyond who l k)
      (out-of-range who "not a place in the list:" k))

    (define (check-index who k)
      (if (not (and (exact-integer? k) (>= k 0))) (wrong-type who "an index" k)))
    (define (list-tail l k)
      (check-index "list-tail" k)
      (let loop ((rest l) (n k))
        (cond
          ((= n 0) rest)
          ((not (pair? rest)) (beyond "list-tail" l k))
          ((>= n (pair-size rest)) (loop (pair-rest rest) (- n (pair-size rest))))
          (else (tree-tail (pair-tree rest) (pair-size rest) n (pair-rest rest))))))
    ;; The list of what is in the tree from k on, and `rest`.
    (define (tree-tail tree size k rest)
      (let ((half (quotient size 2)))
        (cond ((= k 0) (make-pair size tree rest))
              ((<= k half) (tree-tail (node-left tree) half (- k 1) (make-pair half (node-right tree) rest)))
              (else (tree-tail (node-right tree) half (- k half 1) rest)))))

    (define (tree-ref tree size k)
      (if (= size 1)
          tree
          (let ((half (quotient size 2)))
            (cond ((= k 0) (node-value tree))
                  ((<= k half) (tree-ref (node-left tree) half (- k 1)))
                  (else (tree-ref (node-right tree) half (- k half 1)))))))
    (define (list-ref l k) (element "list-ref" l k))
    (define (element who l k)
      (check-index who k)
      (let loop ((rest l) (n k))
        (cond ((not (pair? rest)) (beyond who l k))
              ((< n (pair-size rest)) (tree-ref (pair-tree rest) (pair-size rest) n))
              (else (loop (pair-rest rest) (- n (pair-size rest)))))))

    (define (tree-update tree size k proc)
      (if (= size 1)
          (proc tree)
          (let ((half (quotient size 2)) (x (node-value tree)) (left (node-left tree)) (right (node-right tree)))
            (cond ((= k 0) (make-node (proc x) left right))
                  ((<= k half) (make-node x (tree-update left half (- k 1) proc) right))
                  (else (make-node x left (tree-update right half (- k half 1) proc)))))))
    (define (update l k proc)
      (let loop ((rest l) (n k))
        (cond ((not (pair? rest)) (beyond "list-set" l k))
              ((< n (pair-size rest))
               (make-pair (pair-size rest) (tree-update (pair-tree rest) (pair-size rest) n proc) (pair-rest rest)))
              (else (make-pair (pair-size rest) (pair-tree rest) (loop (pair-rest rest) (- n (pair-size rest))))))))
    (define (list-set l k x)
      (check-index "list-set" k)
      (update l k (lambda (old) x)))
    (define (list-ref/update l k proc)
      (let ((x (element "list-ref/update" l k)))
        (values x (list-set l k (proc x)))))

    ;;;; Whole lists

    (define (list? x)
      (if (pair? x) (list? (pair-rest x)) (null? x)))
    (define (length l)
      (let loop ((rest l) (n 0))
        (cond ((pair? rest) (loop (pair-rest rest) (+ n (pair-size rest))))
              ((null? rest) n)
              (else (wrong-type "length" "a random-access list" l)))))
    (define (length<=? x k)
      (check-index "length<=?" k)
      (let loop ((x x) (n 0))
        (and (<= n k)
             (or (not (pair? x)) (loop (pair-rest x) (+ n (pair-size x)))))))

    (define (linear-access-list->random-access-list l)
      (if (not (l:list? l)) (wrong-type "linear-access-list->random-access-list" "a list" l))
      (from-linear l))
    (define (from-linear l)
      (let loop ((l (l:reverse l)) (acc (l:quote ())))
        (if (null? l) acc (loop (l:cdr l) (cons (l:car l) acc)))))
    (define (check-list who l)
      (if (list? l) l (wrong-type who "a random-access list" l)))
    (define (random-access-list->linear-access-list l) (to-linear "random-access-list->linear-access-list" l))
    (define (to-linear who l)
      (let loop ((l (check-list who l)))
        (if (null? l) l (l:cons (car l) (loop (cdr l))))))
    (define (list . elements) (from-linear elements))
    (define make-list
      (case-lambda
        ((n) (make-list n #f))
        ((n fill)
         (if (not (and (exact-integer? n) (>= n 0))) (wrong-type "make-list" "a length" n))
         (let loop ((n n) (acc (l:quote ())))
           (if (= n 0) acc (loop (- n 1) (cons fill acc)))))))

    (define (append-reverse l tail)
      (if (null? l) tail (append-reverse (cdr l) (cons (car l) tail))))
    (define (reverse l) (append-reverse (check-list "reverse" l) (l:quote ())))
    (define append
      (case-lambda
        (() (l:quote ()))
        ((l) l)
        ((l . rest) (append-reverse (append-reverse (check-list "append" l) (l:quote ())) (apply append rest)))))

    (define (map proc l . rest)
      (from-linear (apply l:map proc (l:map (lambda (l) (to-linear "map" l)) (l:cons l rest)))))
    (define (for-each proc l . rest)
      (apply l:for-each proc (l:map (lambda (l) (to-linear "for-each" l)) (l:cons l rest))))

    ;;;; Literals

    ;; What a literal has become, so that it is the same object each time.
    (define literals (make-hash-table eq? (l:quote weak-keys)))
    (define (literal x)
      (if (l:pair? x)
          (or (hash-table-ref/default literals x #f)
              (let ((new (convert x)))
                (hash-table-set! literals x new)
                new))
          x))
    (define (convert x)
      (if (l:pair? x) (cons (convert (l:car x)) (convert (l:cdr x))) x))
    (define-syntax quote
      (syntax-rules ()
        ((_ datum) (literal (l:quote datum)))))))
