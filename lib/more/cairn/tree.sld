;;; (cairn tree): persistent search trees, from which ordered mappings are made.
;;;
;;; A tree is #f or a node: a key, its value, the number of nodes, and two trees, of the smaller and of the larger keys.
;;; Neither of the two has more than `delta` times the weight of the other, where the weight is the size and one (Adams
;;; 1993; the parameters are those that Hirai and Yamamoto 2011 prove right).  So one step down takes a constant part of
;;; the nodes away, and looking up, putting in and taking out take logarithmic time; `tree-link` takes time that is
;;; logarithmic in the ratio of the sizes, and by it splitting is logarithmic, and the operations of set theory take
;;; time O(m log (n/m + 1)).  `less?` compares keys.
(define-library (cairn tree)
  (export tree-key tree-value tree-size tree-left tree-right
          tree-find tree-put tree-drop tree-min tree-max tree-drop-min tree-drop-max
          tree-below tree-above tree-nth tree-fold tree-fold-right tree-search tree-map-values
          tree-link tree-append tree-split tree-union tree-intersection tree-difference tree-filter list->tree)
  (import (scheme base))
  (begin

    (define-record-type <node>
      (make-node key value size left right)
      node?
      (key tree-key)
      (value tree-value)
      (size node-size)
      (left tree-left)
      (right tree-right))

    (define (tree-size tree) (if tree (node-size tree) 0))

    (define (node left key value right)
      (make-node key value (+ (tree-size left) (tree-size right) 1) left right))

    (define delta 3)
    (define gamma 2)
    (define (heavier? a b) (> (+ (tree-size a) 1) (* delta (+ (tree-size b) 1))))

    ;; A node of trees whose weights fit, but for one element that was put in or taken out.
    (define (balance left key value right)
      (cond
        ((heavier? right left)
         (let ((rl (tree-left right)) (rr (tree-right right)))
           (if (< (+ (tree-size rl) 1) (* gamma (+ (tree-size rr) 1)))
               (node (node left key value rl) (tree-key right) (tree-value right) rr)
               (node (node left key value (tree-left rl)) (tree-key rl) (tree-value rl)
                     (node (tree-right rl) (tree-key right) (tree-value right) rr)))))
        ((heavier? left right)
         (let ((ll (tree-left left)) (lr (tree-right left)))
           (if (< (+ (tree-size lr) 1) (* gamma (+ (tree-size ll) 1)))
               (node ll (tree-key left) (tree-value left) (node lr key value right))
               (node (node ll (tree-key left) (tree-value left) (tree-left lr)) (tree-key lr) (tree-value lr)
                     (node (tree-right lr) key value right)))))
        (else (node left key value right))))

    ;;;; One key

    ;; The node of a key, or #f.
    (define (tree-find less? tree key)
      (let loop ((tree tree))
        (cond ((not tree) #f)
              ((less? key (tree-key tree)) (loop (tree-left tree)))
              ((less? (tree-key tree) key) (loop (tree-right tree)))
              (else tree))))

    (define (tree-put less? tree key value)
      (let put ((tree tree))
        (cond
          ((not tree) (node #f key value #f))
          ((less? key (tree-key tree))
           (balance (put (tree-left tree)) (tree-key tree) (tree-value tree) (tree-right tree)))
          ((less? (tree-key tree) key)
           (balance (tree-left tree) (tree-key tree) (tree-value tree) (put (tree-right tree))))
          (else (node (tree-left tree) key value (tree-right tree))))))

    ;; The same tree if the key is not there.
    (define (tree-drop less? tree key)
      (let drop ((tree tree))
        (cond
          ((not tree) #f)
          ((less? key (tree-key tree))
           (let ((left (drop (tree-left tree))))
             (if (eq? left (tree-left tree))
                 tree
                 (balance left (tree-key tree) (tree-value tree) (tree-right tree)))))
          ((less? (tree-key tree) key)
           (let ((right (drop (tree-right tree))))
             (if (eq? right (tree-right tree))
                 tree
                 (balance (tree-left tree) (tree-key tree) (tree-value tree) right))))
          (else (glue (tree-left tree) (tree-right tree))))))

    ;; Neighbours as one tree; their weights fit.
    (define (glue left right)
      (cond
        ((not left) right)
        ((not right) left)
        ((> (tree-size left) (tree-size right))
         (let ((max (tree-max left)))
           (balance (tree-drop-max left) (tree-key max) (tree-value max) right)))
        (else
         (let ((min (tree-min right)))
           (balance left (tree-key min) (tree-value min) (tree-drop-min right))))))

    ;; Nodes of the least and the greatest key of a tree that is not empty; what is left without them.
    (define (tree-min tree)
      (if (tree-left tree) (tree-min (tree-left tree)) tree))
    (define (tree-max tree)
      (if (tree-right tree) (tree-max (tree-right tree)) tree))
    (define (tree-drop-min tree)
      (if (tree-left tree)
          (balance (tree-drop-min (tree-left tree)) (tree-key tree) (tree-value tree) (tree-right tree))
          (tree-right tree)))
    (define (tree-drop-max tree)
      (if (tree-right tree)
          (balance (tree-left tree) (tree-key tree) (tree-value tree) (tree-drop-max (tree-right tree)))
          (tree-left tree)))

    ;; The node of the next key below or above a key, be that there or not; or #f.
    (define (tree-below less? tree key)
      (let loop ((tree tree) (best #f))
        (cond ((not tree) best)
              ((less? (tree-key tree) key) (loop (tree-right tree) tree))
              (else (loop (tree-left tree) best)))))
    (define (tree-above less? tree key)
      (let loop ((tree tree) (best #f))
        (cond ((not tree) best)
              ((less? key (tree-key tree)) (loop (tree-left tree) tree))
              (else (loop (tree-right tree) best)))))

    ;; The node with n nodes before it.
    (define (tree-nth tree n)
      (let ((before (tree-size (tree-left tree))))
        (cond ((< n before) (tree-nth (tree-left tree) n))
              ((= n before) tree)
              (else (tree-nth (tree-right tree) (- n before 1))))))

    ;;;; All of them

    (define (tree-fold proc nil tree)
      (if tree
          (let ((acc (tree-fold proc nil (tree-left tree))))
            (tree-fold proc (proc (tree-key tree) (tree-value tree) acc) (tree-right tree)))
          nil))
    (define (tree-fold-right proc nil tree)
      (if tree
          (let ((acc (tree-fold-right proc nil (tree-right tree))))
            (tree-fold-right proc (proc (tree-key tree) (tree-value tree) acc) (tree-left tree)))
          nil))

    ;; The first node with (ok? key value), or #f.
    (define (tree-search ok? tree)
      (and tree
           (or (tree-search ok? (tree-left tree))
               (and (ok? (tree-key tree) (tree-value tree)) tree)
               (tree-search ok? (tree-right tree)))))

    (define (tree-map-values proc tree)
      (and tree
           (let* ((left (tree-map-values proc (tree-left tree)))
                  (value (proc (tree-key tree) (tree-value tree))))
             (make-node (tree-key tree) value (node-size tree) left (tree-map-values proc (tree-right tree))))))

    ;; From a list of pairs with rising keys, in linear time.
    (define (list->tree alist)
      (let ((rest alist))
        (let build ((n (length alist)))
          (and (> n 0)
               (let* ((left (build (quotient (- n 1) 2)))
                      (p (car rest)))
                 (set! rest (cdr rest))
                 (node left (car p) (cdr p) (build (- n 1 (tree-size left)))))))))

    ;;;; Trees with trees

    ;; All of `left` is below the key, all of `right` above it.
    (define (tree-link left key value right)
      (cond
        ((heavier? right left)
         (balance (tree-link left key value (tree-left right)) (tree-key right) (tree-value right) (tree-right right)))
        ((heavier? left right)
         (balance (tree-left left) (tree-key left) (tree-value left) (tree-link (tree-right left) key value right)))
        (else (node left key value right))))

    ;; All of `left` is below all of `right`.
    (define (tree-append left right)
      (cond ((not left) right)
            ((not right) left)
            (else
             (let ((min (tree-min right)))
               (tree-link left (tree-key min) (tree-value min) (tree-drop-min right))))))

    ;; What is below the key, the node of the key or #f, what is above the key.
    (define (tree-split less? tree key)
      (cond
        ((not tree) (values #f #f #f))
        ((less? key (tree-key tree))
         (let-values (((below at above) (tree-split less? (tree-left tree) key)))
           (values below at (tree-link above (tree-key tree) (tree-value tree) (tree-right tree)))))
        ((less? (tree-key tree) key)
         (let-values (((below at above) (tree-split less? (tree-right tree) key)))
           (values (tree-link (tree-left tree) (tree-key tree) (tree-value tree) below) at above)))
        (else (values (tree-left tree) tree (tree-right tree)))))

    ;; Of keys in both, `a` gives key and value; or (combine key value-of-a value-of-b) gives the value.
    (define (tree-union less? a b . combine)
      (let union ((a a) (b b))
        (cond
          ((not a) b)
          ((not b) a)
          (else
           (let-values (((below at above) (tree-split less? b (tree-key a))))
             (tree-link (union (tree-left a) below)
                        (tree-key a)
                        (if (and at (pair? combine))
                            ((car combine) (tree-key a) (tree-value a) (tree-value at))
                            (tree-value a))
                        (union (tree-right a) above)))))))
    (define (tree-intersection less? a b . combine)
      (let intersection ((a a) (b b))
        (and a b
             (let-values (((below at above) (tree-split less? b (tree-key a))))
               (let ((left (intersection (tree-left a) below)) (right (intersection (tree-right a) above)))
                 (if at
                     (tree-link left
                                (tree-key a)
                                (if (pair? combine)
                                    ((car combine) (tree-key a) (tree-value a) (tree-value at))
                                    (tree-value a))
                                right)
                     (tree-append left right)))))))
    (define (tree-difference less? a b)
      (let difference ((a a) (b b))
        (if (and a b)
            (let-values (((below at above) (tree-split less? a (tree-key b))))
              (tree-append (difference below (tree-left b)) (difference above (tree-right b))))
            a)))

    (define (tree-filter ok? tree)
      (and tree
           (let* ((left (tree-filter ok? (tree-left tree)))
                  (in? (ok? (tree-key tree) (tree-value tree)))
                  (right (tree-filter ok? (tree-right tree))))
             (if in?
                 (tree-link left (tree-key tree) (tree-value tree) right)
                 (tree-append left right)))))))
