;;; (srfi 234): topological sorting (Kahn 1962), and graphs as lists.
;;;
;;; A node that nothing comes before any more is taken, the first such one in the order of the graph; what is left at
;;; the end has a circle in it.
(define-library (srfi 234)
  (export topological-sort topological-sort/details edgelist->graph edgelist/inverted->graph graph->edgelist
          graph->edgelist/inverted connected-components)
  (import (scheme base) (scheme case-lambda)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (cairn control) wrong-type))
  (begin

    (define (check who graph)
      (if (not (list? graph)) (wrong-type who "a graph: a list of (node dependent …)" graph))
      (for-each
       (lambda (connection)
         (if (not (and (pair? connection) (list? connection)))
             (wrong-type who "a connection: a list (node dependent …)" connection)))
       graph))

    ;; Two procedures: the value of a node or #f, and one that changes it.
    (define (node-table same?)
      (if (memq same? (list eq? eqv? equal? string=?))
          (let ((table (make-hash-table same?)))
            (values (lambda (node) (hash-table-ref/default table node #f))
                    (lambda (node value) (hash-table-set! table node value))))
          (let ((alist '()))
            (define (entry node)
              (let loop ((l alist))
                (cond ((null? l) #f)
                      ((same? (car (car l)) node) (car l))
                      (else (loop (cdr l))))))
            (values (lambda (node)
                      (let ((e (entry node)))
                        (and e (cdr e))))
                    (lambda (node value)
                      (let ((e (entry node)))
                        (if e
                            (set-cdr! e value)
                            (set! alist (cons (cons node value) alist)))))))))

    (define (topological-sort . args)
      (let-values (((sorted message circle) (apply topological-sort/details args)))
        sorted))

    ;; The nodes, or #f with a message and the nodes of a circle.
    (define topological-sort/details
      (case-lambda
        ((graph) (topological-sort/details graph equal?))
        ((graph same?) (sort graph same?))
        ((graph same? nodes)
         (let-values (((sorted message circle) (sort graph same?)))
           (let ((names (lambda (l) (and l (map (lambda (i) (vector-ref nodes i)) l)))))
             (values (names sorted) message (names circle)))))))

    (define (sort graph same?)
      (check "topological-sort" graph)
      ;; how many come before a node, and what comes after it
      (let-values (((before set-before!) (node-table same?)) ((after set-after!) (node-table same?)))
        (let ((all '()))
          (define (note! node)
            (if (not (before node))
                (begin
                  (set-before! node 0)
                  (set! all (cons node all)))))
          (for-each
           (lambda (connection)
             (note! (car connection))
             (set-after! (car connection) (append (or (after (car connection)) '()) (cdr connection)))
             (for-each
              (lambda (node)
                (note! node)
                (set-before! node (+ (before node) 1)))
              (cdr connection)))
           graph)
          (let loop ((ready (select (lambda (node) (= 0 (before node))) (reverse all))) (later '()) (sorted '()) (n 0))
            (cond
              ((pair? ready)
               (let ((node (car ready)) (new '()))
                 (for-each
                  (lambda (next)
                    (set-before! next (- (before next) 1))
                    (if (= 0 (before next)) (set! new (cons next new))))
                  (or (after node) '()))
                 (loop (cdr ready) (append new later) (cons node sorted) (+ n 1))))
              ((pair? later) (loop (reverse later) '() sorted n))
              ((= n (length all)) (values (reverse sorted) #f #f))
              (else
               (values #f "graph has circular dependency"
                       (circle (reverse all) (lambda (node) (> (before node) 0)) after same?))))))))

    (define (select ok? l)
      (cond ((null? l) '())
            ((ok? (car l)) (cons (car l) (select ok? (cdr l))))
            (else (select ok? (cdr l)))))

    ;; The nodes of a circle among those that are left: going back from one to what comes before it must end in one.
    (define (circle all left? after same?)
      (define (predecessor node)
        (car (select (lambda (p) (and (left? p) (member node (or (after p) '()) same?))) all)))
      (let walk ((node (car (select left? all))) (seen '()))
        (if (member node seen same?)
            (let cut ((l seen) (found '()))
              (if (same? (car l) node) (from-first all (cons node (reverse found)) same?)
                  (cut (cdr l) (cons (car l) found))))
            (walk (predecessor node) (cons node seen)))))
    ;; A circle that begins with its node that is first in the graph.
    (define (from-first all circle same?)
      (let ((start (car (select (lambda (node) (member node circle same?)) all))))
        (let turn ((l circle))
          (if (same? (car l) start) l (turn (append (cdr l) (list (car l))))))))

    ;;;; Lists of edges

    (define edgelist->graph
      (case-lambda
        ((edges) (edgelist->graph edges assoc))
        ((edges assoc)
         (let loop ((edges edges) (graph '()))
           (if (null? edges)
               (reverse (map (lambda (c) (cons (car c) (reverse (cdr c)))) graph))
               (let* ((edge (car edges)) (c (assoc (car edge) graph)))
                 (if c
                     (begin
                       (set-cdr! c (append (reverse (cdr edge)) (cdr c)))
                       (loop (cdr edges) graph))
                     (loop (cdr edges) (cons (cons (car edge) (reverse (cdr edge))) graph)))))))))
    (define edgelist/inverted->graph
      (case-lambda
        ((edges) (edgelist/inverted->graph edges assoc))
        ((edges assoc) (edgelist->graph (map reverse edges) assoc))))

    (define (graph->edgelist graph)
      (check "graph->edgelist" graph)
      (apply append (map (lambda (c) (map (lambda (node) (list (car c) node)) (cdr c))) graph)))
    (define (graph->edgelist/inverted graph)
      (map reverse (graph->edgelist graph)))

    ;; The strongly connected ones: each node of a component can be reached from each other one (Tarjan 1972).
    (define (connected-components graph)
      (check "connected-components" graph)
      (let-values (((number set-number!) (node-table equal?)) ((next set-next!) (node-table equal?))
                   ((done? set-done!) (node-table equal?)))
        (let ((count 0) (stack '()) (components '()))
          ;; the least number of a node on the stack that can be reached
          (define (visit node)
            (let ((own count))
              (set! count (+ count 1))
              (set-number! node own)
              (set! stack (cons node stack))
              (let ((least (let loop ((nodes (or (next node) '())) (least own))
                             (cond ((null? nodes) least)
                                   ((done? (car nodes)) (loop (cdr nodes) least))
                                   ((number (car nodes)) => (lambda (n) (loop (cdr nodes) (min n least))))
                                   (else (loop (cdr nodes) (min least (visit (car nodes)))))))))
                (if (= least own)
                    (let take ((component '()))
                      (let ((top (car stack)))
                        (set! stack (cdr stack))
                        (set-done! top #t)
                        (if (equal? top node)
                            (set! components (cons (cons top component) components))
                            (take (cons top component))))))
                least)))
          (for-each (lambda (c) (set-next! (car c) (append (or (next (car c)) '()) (cdr c)))) graph)
          (for-each
           (lambda (c)
             (for-each (lambda (node) (if (not (number node)) (visit node))) c))
           graph)
          (reverse components))))))
