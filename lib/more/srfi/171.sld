;;; (srfi 171): transducers: steps that map, filter, group … whatever is reduced, without lists in between.
;;;
;;; A reducer is called without arguments for its identity, with a result at the end, and with a result and a value for
;;; each value.  A transducer makes a reducer of a reducer.
(define-library (srfi 171)
  (export rcons reverse-rcons rcount rany revery
          list-transduce vector-transduce string-transduce bytevector-u8-transduce port-transduce generator-transduce
          tmap tfilter tremove treplace tfilter-map tdrop tdrop-while ttake ttake-while tconcatenate tappend-map
          tflatten tdelete-neighbor-duplicates tdelete-duplicates tsegment tpartition tadd-between tenumerate tlog)
  (import (scheme base) (scheme case-lambda) (scheme write) (srfi 171 meta)
          (only (cairn hash-table) make-hash-table hash-table? hash-table-ref/default hash-table-set!)
          (only (cairn control) wrong-type check-procedure))
  (begin

    (define (check-count who n)
      (if (and (exact-integer? n) (>= n 0)) n (wrong-type who "a number of values" n)))

    ;;;; Reducers

    (define rcons
      (case-lambda
        (() '())
        ((l) (reverse l))
        ((l x) (cons x l))))

    (define reverse-rcons
      (case-lambda
        (() '())
        ((l) l)
        ((l x) (cons x l))))

    (define rcount
      (case-lambda
        (() 0)
        ((n) n)
        ((n x) (+ n 1))))

    (define (rany pred)
      (check-procedure "rany" pred)
      (case-lambda
        (() #f)
        ((result) result)
        ((result x)
         (let ((found (pred x)))
           (if found (reduced found) #f)))))

    (define (revery pred)
      (check-procedure "revery" pred)
      (case-lambda
        (() #t)
        ((result) result)
        ((result x)
         (let ((holds (pred x)))
           (if (and result holds) holds (reduced #f))))))

    ;;;; Reductions

    (define-syntax define-transduction
      (syntax-rules ()
        ((_ name reduce)
         (define name
           (case-lambda
             ((xform f data) (name xform f (f) data))
             ((xform f identity data)
              (let ((reducer (xform f)))
                (reducer (reduce reducer identity data)))))))))
    (define-transduction list-transduce list-reduce)
    (define-transduction vector-transduce vector-reduce)
    (define-transduction string-transduce string-reduce)
    (define-transduction bytevector-u8-transduce bytevector-u8-reduce)
    (define-transduction generator-transduce generator-reduce)

    (define port-transduce
      (case-lambda
        ((xform f reader) (generator-transduce xform f (f) reader))
        ((xform f reader port) (port-transduce xform f (f) reader port))
        ((xform f identity reader port)
         (generator-transduce xform f identity (lambda () (reader port))))))

    ;;;; Transducers

    ;; A reducer that does something else than `reducer` with values, and at the end.
    (define-syntax step
      (syntax-rules ()
        ((_ reducer (result x) end body)
         (case-lambda
           (() (reducer))
           ((result) end)
           ((result x) body)))))

    (define (tmap proc)
      (check-procedure "tmap" proc)
      (lambda (reducer)
        (step reducer (result x) (reducer result) (reducer result (proc x)))))

    (define (tfilter pred)
      (check-procedure "tfilter" pred)
      (lambda (reducer)
        (step reducer (result x) (reducer result) (if (pred x) (reducer result x) result))))

    (define (tremove pred)
      (check-procedure "tremove" pred)
      (tfilter (lambda (x) (not (pred x)))))

    (define (tfilter-map proc)
      (check-procedure "tfilter-map" proc)
      (lambda (reducer)
        (step reducer (result x) (reducer result)
                  (let ((y (proc x)))
                    (if y (reducer result y) result)))))

    (define (treplace mapping)
      (tmap
       (cond
         ((procedure? mapping) mapping)
         ((hash-table? mapping) (lambda (x) (hash-table-ref/default mapping x x)))
         ((list? mapping)
          (lambda (x)
            (let ((p (assoc x mapping)))
              (if p (cdr p) x))))
         (else (wrong-type "treplace" "a procedure, a hash table or an association list" mapping)))))

    (define (tdrop n)
      (check-count "tdrop" n)
      (lambda (reducer)
        (let ((left n))
          (step reducer (result x) (reducer result)
                    (if (> left 0)
                        (begin
                          (set! left (- left 1))
                          result)
                        (reducer result x))))))

    (define (ttake n)
      (check-count "ttake" n)
      (lambda (reducer)
        (let ((left n))
          (step reducer (result x) (reducer result)
                    (begin
                      (set! left (- left 1))
                      (cond ((> left 0) (reducer result x))
                            ((= left 0) (ensure-reduced (reducer result x)))
                            (else (reduced result))))))))

    (define (tdrop-while pred)
      (check-procedure "tdrop-while" pred)
      (lambda (reducer)
        (let ((dropping #t))
          (step reducer (result x) (reducer result)
                    (if (and dropping (pred x))
                        result
                        (begin
                          (set! dropping #f)
                          (reducer result x)))))))

    (define ttake-while
      (case-lambda
        ((pred) (ttake-while pred (lambda (result x) result)))
        ((pred last)
         (check-procedure "ttake-while" pred)
         (lambda (reducer)
           (let ((taking #t))
             (step reducer (result x) (reducer result)
                       (if (and taking (pred x))
                           (reducer result x)
                           (begin
                             (set! taking #f)
                             (ensure-reduced (last result x))))))))))

    (define (tconcatenate reducer)
      (let ((inner (preserving-reduced reducer)))
        (step reducer (result x) (reducer result) (list-reduce inner result x))))

    (define (tappend-map proc)
      (check-procedure "tappend-map" proc)
      (lambda (reducer) ((tmap proc) (tconcatenate reducer))))

    (define (tflatten reducer)
      (define (put result x)
        (if (list? x)
            (list-reduce (preserving-reduced put) result x)
            (reducer result x)))
      (step reducer (result x) (reducer result) (put result x)))

    (define tdelete-neighbor-duplicates
      (case-lambda
        (() (tdelete-neighbor-duplicates equal?))
        ((same?)
         (check-procedure "tdelete-neighbor-duplicates" same?)
         (lambda (reducer)
           (let ((any? #f) (last #f))
             (step reducer (result x) (reducer result)
                       (if (and any? (same? last x))
                           result
                           (begin
                             (set! any? #t)
                             (set! last x)
                             (reducer result x)))))))))

    (define tdelete-duplicates
      (case-lambda
        (() (tdelete-duplicates equal?))
        ((same?)
         (check-procedure "tdelete-duplicates" same?)
         (lambda (reducer)
           (if (memq same? (list eq? eqv? equal? string=?))
               (let ((seen (make-hash-table same?)))
                 (step reducer (result x) (reducer result)
                           (if (hash-table-ref/default seen x #f)
                               result
                               (begin
                                 (hash-table-set! seen x #t)
                                 (reducer result x)))))
               (let ((seen '()))
                 (step reducer (result x) (reducer result)
                           (if (member x seen same?)
                               result
                               (begin
                                 (set! seen (cons x seen))
                                 (reducer result x))))))))))

    ;; What a reducer made of what was still to come.
    (define (flush reducer result group)
      (if (null? group)
          result
          (let ((result (reducer result (reverse group))))
            (if (reduced? result) (unreduce result) result))))

    (define (tsegment n)
      (if (not (and (exact-integer? n) (> n 0))) (wrong-type "tsegment" "a positive number of values" n))
      (lambda (reducer)
        (let ((group '()) (size 0))
          (define (take-group!)
            (let ((whole group))
              (set! group '())
              (set! size 0)
              whole))
          (step reducer (result x)
                    (reducer (flush reducer result (take-group!)))
                    (begin
                      (set! group (cons x group))
                      (set! size (+ size 1))
                      (if (< size n) result (reducer result (reverse (take-group!)))))))))

    (define (tpartition pred)
      (check-procedure "tpartition" pred)
      (lambda (reducer)
        (let ((group '()) (kind #f))
          (define (take-group!)
            (let ((whole group))
              (set! group '())
              whole))
          (step reducer (result x)
                    (reducer (flush reducer result (take-group!)))
                    (let ((new (pred x)))
                      (if (or (null? group) (equal? new kind))
                          (begin
                            (set! group (cons x group))
                            (set! kind new)
                            result)
                          (let ((whole (reverse (take-group!))))
                            (set! group (list x))
                            (set! kind new)
                            (let ((next (reducer result whole)))
                              (if (reduced? next) (set! group '()))
                              next))))))))

    (define (tadd-between between)
      (lambda (reducer)
        (let ((first? #t))
          (step reducer (result x) (reducer result)
                    (if first?
                        (begin
                          (set! first? #f)
                          (reducer result x))
                        (let ((next (reducer result between)))
                          (if (reduced? next) next (reducer next x))))))))

    (define tenumerate
      (case-lambda
        (() (tenumerate 0))
        ((start)
         (lambda (reducer)
           (let ((n start))
             (step reducer (result x) (reducer result)
                       (let ((numbered (cons n x)))
                         (set! n (+ n 1))
                         (reducer result numbered))))))))

    (define tlog
      (case-lambda
        (()
         (tlog (lambda (result x)
                 (write x)
                 (newline))))
        ((logger)
         (check-procedure "tlog" logger)
         (lambda (reducer)
           (step reducer (result x) (reducer result)
                     (begin
                       (logger result x)
                       (reducer result x)))))))))
