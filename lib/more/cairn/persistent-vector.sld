;;; (cairn persistent-vector): vectors that operations leave as they were.
;;;
;;; A trie over the digits of the index, base 32: each node has 32 places, so that 10⁶ elements are four steps down
;;; (Bagwell 2001).  What is changed is the path to the element, and the last 32 elements are apart in a *tail*, which
;;; makes adding at the end constant time on average.
;;;
;;;   size 70:  root ─┬─ elements 0 to 31     tail: elements 64 to 69
;;;                   └─ elements 32 to 63
(define-library (cairn persistent-vector)
  (export pvector make-pvector pvector? pvector-length pvector-ref pvector-set pvector-add pvector-drop-last
          pvector-map pvector-for-each pvector-fold pvector->list list->pvector pvector->vector vector->pvector
          pvector-append)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type out-of-range)
          (only (srfi 143) fxand fxarithmetic-shift-right))
  (begin

    (define width 32)

    ;; `height`: steps from the root to the elements' nodes; `root`: vectors of vectors; of those that do not exist #f.
    (define-record-type persistent-vector
      (new-pvector size height root tail)
      pvector?
      (size pvector-length)
      (height height-of)
      (root root-of)
      (tail tail-of))

    (define empty (new-pvector 0 0 #f (vector)))

    ;; How many elements are not in the tail?
    (define (in-trie v) (- (pvector-length v) (vector-length (tail-of v))))

    (define (check who v i)
      (if (not (pvector? v)) (wrong-type who "a persistent vector" v))
      (if (not (and (exact-integer? i) (< -1 i (pvector-length v))))
          (out-of-range who "not the index of an element:" i)))

    ;; The digit of an index at a height.
    (define (digit i height) (fxand (fxarithmetic-shift-right i (* 5 height)) (- width 1)))

    (define (pvector-ref v i)
      (check "pvector-ref" v i)
      (let ((first (in-trie v)))
        (if (<= first i)
            (vector-ref (tail-of v) (- i first))
            (let loop ((node (root-of v)) (height (height-of v)))
              (if (= height 0)
                  (vector-ref node (remainder i width))
                  (loop (vector-ref node (digit i height)) (- height 1)))))))

    (define (with node i x)
      (let ((node (vector-copy node)))
        (vector-set! node i x)
        node))

    (define (pvector-set v i x)
      (check "pvector-set" v i)
      (let ((first (in-trie v)))
        (if (<= first i)
            (new-pvector (pvector-length v) (height-of v) (root-of v) (with (tail-of v) (- i first) x))
            (new-pvector (pvector-length v) (height-of v)
                         (let loop ((node (root-of v)) (height (height-of v)))
                           (let ((d (digit i height)))
                             (with node d (if (= height 0) x (loop (vector-ref node d) (- height 1))))))
                         (tail-of v)))))

    ;; With one more element at the end.
    (define (pvector-add v x)
      (if (not (pvector? v)) (wrong-type "pvector-add" "a persistent vector" v))
      (let ((tail (tail-of v)) (size (pvector-length v)))
        (if (< (vector-length tail) width)
            (new-pvector (+ size 1) (height-of v) (root-of v) (vector-append tail (vector x)))
            (put-node v tail (lambda (height root) (new-pvector (+ size 1) height root (vector x)))))))

    ;; Puts a full tail into the trie.
    (define (put-node v tail receive)
      (let ((n (in-trie v)) (height (height-of v)) (root (root-of v)))
        (cond
          ((not root) (receive 0 tail))
          ((= n (expt width (+ height 1)))
           (receive (+ height 1)
               (let ((node (make-vector width #f)))
                 (vector-set! node 0 root)
                 (vector-set! node 1 (path tail height))
                 node)))
          (else
           (receive height
               (let loop ((node root) (height height))
                 (let* ((d (digit n height)) (below (vector-ref node d)))
                   (with node d (if below (loop below (- height 1)) (path tail (- height 1)))))))))))

    ;; A node of this height with one path, to these elements.
    (define (path tail height)
      (if (= height 0)
          tail
          (let ((node (make-vector width #f)))
            (vector-set! node 0 (path tail (- height 1)))
            node)))

    ;; Without the last element.
    (define (pvector-drop-last v)
      (check "pvector-drop-last" v (- (pvector-length v) 1))
      (let ((tail (tail-of v)) (size (- (pvector-length v) 1)) (height (height-of v)) (root (root-of v)))
        (cond
          ((= size 0) empty)
          ((< 1 (vector-length tail))
           (new-pvector size height root (vector-copy tail 0 (- (vector-length tail) 1))))
          (else
           ;; the last node of the trie becomes the tail
           (let* ((last (- size 1))
                  (tail (let loop ((node root) (h height))
                          (if (= h 0) node (loop (vector-ref node (digit last h)) (- h 1)))))
                  (root (without root height (- size width))))
             (cond
               ((not root) (new-pvector size 0 #f tail))
               ((and (< 0 height) (not (vector-ref root 1))) (new-pvector size (- height 1) (vector-ref root 0) tail))
               (else (new-pvector size height root tail))))))))

    ;; A node without the elements from `first` on, which are one node of elements; #f if nothing is left.
    (define (without node height first)
      (if (= height 0)
          #f
          (let* ((d (digit first height)) (below (without (vector-ref node d) (- height 1) first)))
            (if (and (not below) (= d 0)) #f (with node d below)))))

    (define (list->pvector objects)
      (vector->pvector (list->vector objects)))

    (define (vector->pvector objects)
      (let loop ((i 0) (v empty))
        (let ((left (- (vector-length objects) i)))
          (if (<= left width)
              (new-pvector (vector-length objects) (height-of v) (root-of v) (vector-copy objects i))
              (loop (+ i width)
                    (put-node v (vector-copy objects i (+ i width))
                              (lambda (height root) (new-pvector (+ i width) height root (vector)))))))))

    (define (pvector . objects) (list->pvector objects))

    (define make-pvector
      (case-lambda
        ((n) (make-pvector n #f))
        ((n x) (vector->pvector (make-vector n x)))))

    (define (pvector-fold f start v)
      (if (not (pvector? v)) (wrong-type "pvector-fold" "a persistent vector" v))
      (define (elements node n result)
        (do ((i 0 (+ i 1)) (result result (f (vector-ref node i) result))) ((= i n) result)))
      (define (below node height result)
        (cond
          ((not node) result)
          ((= height 0) (elements node width result))
          (else
           (do ((i 0 (+ i 1)) (result result (below (vector-ref node i) (- height 1) result)))
               ((= i width) result)))))
      (elements (tail-of v) (vector-length (tail-of v)) (below (root-of v) (height-of v) start)))

    (define (pvector-for-each f v)
      (pvector-fold (lambda (x result) (f x) result) (if #f #f) v))

    (define (pvector->list v) (reverse (pvector-fold cons '() v)))
    (define (pvector->vector v) (list->vector (pvector->list v)))

    (define (pvector-map f v)
      (list->pvector (reverse (pvector-fold (lambda (x all) (cons (f x) all)) '() v))))

    (define (pvector-append v . others)
      (let loop ((v v) (others others))
        (if (pair? others)
            (loop (pvector-fold (lambda (x v) (pvector-add v x)) v (car others)) (cdr others))
            v)))))
