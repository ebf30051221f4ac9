;;; (srfi 127): lazy sequences; also as (scheme lseq).  A lazy sequence is a list that may end in a generator instead of
;;; the empty list; what has been taken from the generator becomes a part of the list.
(define-library (srfi 127)
  (export
   generator->lseq lseq? lseq=? lseq-car lseq-cdr (rename lseq-car lseq-first) (rename lseq-cdr lseq-rest) lseq-ref
   lseq-take lseq-drop lseq-realize lseq->generator lseq-length lseq-append lseq-zip
   lseq-map lseq-for-each lseq-filter lseq-remove lseq-find lseq-find-tail lseq-any lseq-every lseq-index
   lseq-take-while lseq-drop-while lseq-member lseq-memq lseq-memv)
  (import (scheme base) (scheme case-lambda) (only (srfi 1) any) (only (cairn control) wrong-type))
  (begin

    (define (generator->lseq g)
      (let ((x (g)))
        (if (eof-object? x) '() (cons x g))))

    (define (lseq? x)
      (or (null? x) (procedure? x)
          (and (pair? x) (lseq? (cdr x)))))

    (define (lseq-car s)
      (if (pair? s) (car s) (wrong-type "lseq-car" "a lazy sequence with an element" s)))
    (define (lseq-cdr s)
      (if (not (pair? s)) (wrong-type "lseq-cdr" "a lazy sequence with an element" s))
      (let ((rest (cdr s)))
        (when (procedure? rest)
          (let ((x (rest)))
            (set-cdr! s (if (eof-object? x) '() (cons x rest)))))
        (cdr s)))

    (define (lseq=? same? a b)
      (cond ((null? a) (null? b))
            ((null? b) #f)
            (else (and (same? (lseq-car a) (lseq-car b))
                       (lseq=? same? (lseq-cdr a) (lseq-cdr b))))))

    (define (lseq-drop s n)
      (if (= n 0) s (lseq-drop (lseq-cdr s) (- n 1))))
    (define (lseq-ref s n) (lseq-car (lseq-drop s n)))
    (define (lseq-realize s)
      (let loop ((l s))
        (if (pair? l) (loop (lseq-cdr l))))
      s)
    (define (lseq-length s)
      (let loop ((s s) (n 0))
        (if (null? s) n (loop (lseq-cdr s) (+ n 1)))))

    ;; The sequence is looked at when an element of it is asked for, and not before.
    (define (lseq->generator s)
      (let ((started? #f))
        (lambda ()
          (if (and started? (pair? s)) (set! s (lseq-cdr s)))
          (set! started? #t)
          (if (null? s) (eof-object) (lseq-car s)))))

    (define (lseq-take s n)
      (let ((next (lseq->generator s)))
        (generator->lseq
         (lambda ()
           (if (= n 0)
               (eof-object)
               (let ((x (next)))
                 (if (eof-object? x) (error "lseq-take: the lazy sequence is too short:" s))
                 (set! n (- n 1))
                 x))))))

    (define (lseq-append . sequences)
      (let ((generators (map lseq->generator sequences)))
        (generator->lseq
         (lambda ()
           (let loop ()
             (if (null? generators)
                 (eof-object)
                 (let ((x ((car generators))))
                   (if (eof-object? x)
                       (begin
                         (set! generators (cdr generators))
                         (loop))
                       x))))))))

    ;; The next element of each, or an end of file.
    (define (next-of-all generators)
      (let ((elements (map (lambda (g) (g)) generators)))
        (if (any eof-object? elements) (eof-object) elements)))

    (define (lseq-map proc . sequences)
      (let ((generators (map lseq->generator sequences)))
        (generator->lseq
         (lambda ()
           (let ((elements (next-of-all generators)))
             (if (eof-object? elements) elements (apply proc elements)))))))
    (define (lseq-zip . sequences) (apply lseq-map list sequences))

    ;; Calls (step elements) until there are none, when `end` is the value, or `step` returns something true.
    (define (walk step end sequences)
      (let ((generators (map lseq->generator sequences)))
        (let loop ()
          (let ((elements (next-of-all generators)))
            (if (eof-object? elements)
                (end)
                (or (step elements) (loop)))))))

    (define (lseq-for-each proc . sequences)
      (walk (lambda (elements)
              (apply proc elements)
              #f)
            (lambda () (if #f #f))
            sequences))
    (define (lseq-any pred . sequences)
      (walk (lambda (elements) (apply pred elements)) (lambda () #f) sequences))
    (define (lseq-every pred . sequences)
      (let ((last #t))
        (walk (lambda (elements)
                (set! last (apply pred elements))
                (not last))
              (lambda () #f)
              sequences)
        last))
    (define (lseq-index pred . sequences)
      (let ((i -1))
        (walk (lambda (elements)
                (set! i (+ i 1))
                (and (apply pred elements) i))
              (lambda () #f)
              sequences)))

    (define (lseq-filter pred s)
      (let ((next (lseq->generator s)))
        (generator->lseq
         (lambda ()
           (let loop ()
             (let ((x (next)))
               (if (or (eof-object? x) (pred x)) x (loop))))))))
    (define (lseq-remove pred s) (lseq-filter (lambda (x) (not (pred x))) s))

    (define (lseq-find-tail pred s)
      (and (pair? s)
           (if (pred (lseq-car s)) s (lseq-find-tail pred (lseq-cdr s)))))
    (define (lseq-find pred s)
      (let ((tail (lseq-find-tail pred s)))
        (and tail (lseq-car tail))))
    (define (lseq-take-while pred s)
      (let ((next (lseq->generator s)))
        (generator->lseq
         (lambda ()
           (let ((x (next)))
             (if (or (eof-object? x) (pred x)) x (eof-object)))))))
    (define (lseq-drop-while pred s)
      (or (lseq-find-tail (lambda (x) (not (pred x))) s) '()))
    (define lseq-member
      (case-lambda
        ((x s) (lseq-member x s equal?))
        ((x s same?) (lseq-find-tail (lambda (y) (same? x y)) s))))
    (define (lseq-memq x s) (lseq-member x s eq?))
    (define (lseq-memv x s) (lseq-member x s eqv?))))
