;;; (srfi 222): compound objects: objects that are several others, without compounds in compounds.
(define-library (srfi 222)
  (export make-compound compound? compound-subobjects compound-length compound-ref compound-map compound-map->list
          compound-filter compound-predicate compound-access)
  (import (scheme base) (only (cairn control) wrong-type))
  (begin

    (define-record-type compound
      (wrap subobjects)
      compound?
      (subobjects subobjects-of))

    (define (make-compound . objs)
      (list->compound objs))
    (define (list->compound objs)
      (wrap (apply append (map compound-subobjects objs))))

    (define (compound-subobjects x)
      (if (compound? x) (subobjects-of x) (list x)))
    (define (compound-length x) (length (compound-subobjects x)))
    (define (compound-ref x k)
      (cond ((not (exact-integer? k)) (wrong-type "compound-ref" "an index" k))
            ((< -1 k (compound-length x)) (list-ref (compound-subobjects x) k))
            (else (error "compound-ref: the object has no such part:" x k))))
    (define (compound-map->list proc x)
      (map proc (compound-subobjects x)))
    (define (compound-map proc x)
      (list->compound (compound-map->list proc x)))

    ;; The first part that `pred` accepts and what comes then, or ().
    (define (find-tail pred l)
      (cond ((null? l) '())
            ((pred (car l)) l)
            (else (find-tail pred (cdr l)))))
    (define (compound-filter pred x)
      (wrap
       (let filter ((l (compound-subobjects x)))
         (let ((found (find-tail pred l)))
           (if (null? found) '() (cons (car found) (filter (cdr found))))))))
    (define (compound-predicate pred x)
      (or (and (pred x) #t) (pair? (find-tail pred (compound-subobjects x)))))
    (define (compound-access pred accessor default x)
      (if (pred x)
          (accessor x)
          (let ((found (if (compound? x) (find-tail pred (subobjects-of x)) '())))
            (if (pair? found) (accessor (car found)) default))))))
