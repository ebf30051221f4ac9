;;; (srfi 41): streams; also as (scheme stream).
;;;
;;; A stream is a promise in a record, whose value is the empty stream's mark or a cell: two promises.  So both parts of
;;; a pair are evaluated when they are asked for, and once.
(define-library (srfi 41)
  (export
   stream-null stream-cons stream? stream-null? stream-pair? stream-car stream-cdr stream-lambda
   define-stream list->stream port->stream stream stream->list stream-append stream-concat stream-constant
   stream-drop stream-drop-while stream-filter stream-fold stream-for-each stream-from stream-iterate stream-length
   stream-let stream-map stream-match stream-of stream-range stream-ref stream-reverse stream-scan stream-take
   stream-take-while stream-unfold stream-unfolds stream-zip)
  (import (scheme base) (scheme case-lambda) (scheme lazy)
          (only (cairn control) wrong-type out-of-range check-procedure))
  (begin

    (define-record-type <stream> (make-stream promise) stream? (promise stream-promise))
    (define-record-type <cell> (make-cell first rest) cell? (first cell-first) (rest cell-rest))

    (define (promise-of x)
      (if (stream? x) (stream-promise x) (wrong-type "stream" "a stream" x)))
    (define-syntax stream-lazy
      (syntax-rules () ((_ e) (make-stream (delay-force (promise-of e))))))
    (define-syntax stream-cons
      (syntax-rules () ((_ a b) (make-stream (make-promise (make-cell (delay a) (stream-lazy b)))))))
    (define stream-null (make-stream (make-promise 'empty)))

    (define (contents who s)
      (if (stream? s) (force (stream-promise s)) (wrong-type who "a stream" s)))
    (define (stream-null? x) (and (stream? x) (eq? (contents "stream-null?" x) 'empty)))
    (define (stream-pair? x) (and (stream? x) (cell? (contents "stream-pair?" x))))
    (define (cell who s)
      (let ((c (contents who s))) (if (cell? c) c (wrong-type who "a stream that is not empty" s))))
    (define (stream-car s) (force (cell-first (cell "stream-car" s))))
    (define (stream-cdr s) (cell-rest (cell "stream-cdr" s)))

    (define-syntax stream-lambda
      (syntax-rules () ((_ formals body ...) (lambda formals (stream-lazy (let () body ...))))))
    (define-syntax define-stream
      (syntax-rules ()
        ((_ (name . formals) body ...) (define name (stream-lambda formals body ...)))))
    (define-syntax stream-let
      (syntax-rules ()
        ((_ tag ((name value) ...) body ...)
         ((letrec ((tag (stream-lambda (name ...) body ...))) tag) value ...))))

    (define (check-count who n)
      (if (not (and (exact-integer? n) (>= n 0))) (out-of-range who "not a number of elements:" n)))
    (define (check-stream who s)
      (if (not (stream? s)) (wrong-type who "a stream" s)))
    ;; At least one.
    (define (check-streams who streams)
      (if (null? streams) (wrong-type who "a stream" streams))
      (for-each (lambda (s) (check-stream who s)) streams))
    (define (check-number who x)
      (if (not (number? x)) (wrong-type who "a number" x)))

    ;;;; Making

    (define (list->stream l)
      (if (not (list? l)) (wrong-type "list->stream" "a list" l))
      (stream-let loop ((l l))
        (if (null? l) stream-null (stream-cons (car l) (loop (cdr l))))))
    (define port->stream
      (case-lambda
        (() (port->stream (current-input-port)))
        ((port)
         (if (not (input-port? port)) (wrong-type "port->stream" "an input port" port))
         (stream-let loop ()
           (let ((c (read-char port)))
             (if (eof-object? c) stream-null (stream-cons c (loop))))))))
    (define-syntax stream
      (syntax-rules ()
        ((_) stream-null)
        ((_ x y ...) (stream-cons x (stream y ...)))))
    (define (stream-constant . l)
      (if (null? l)
          stream-null
          (stream-let loop ((rest l))
            (if (null? rest) (loop l) (stream-cons (car rest) (loop (cdr rest)))))))
    (define stream-from
      (case-lambda
        ((first) (stream-from first 1))
        ((first step)
         (check-number "stream-from" first)
         (check-number "stream-from" step)
         (stream-let loop ((x first)) (stream-cons x (loop (+ x step)))))))
    (define (stream-iterate proc base)
      (check-procedure "stream-iterate" proc)
      (stream-let loop ((x base)) (stream-cons x (loop (proc x)))))
    (define stream-range
      (case-lambda
        ((first past)
         (check-number "stream-range" first)
         (check-number "stream-range" past)
         (stream-range first past (if (< first past) 1 -1)))
        ((first past step)
         (for-each (lambda (x) (check-number "stream-range" x)) (list first past step))
         (let ((more? (if (< 0 step) < >)))
           (stream-let loop ((x first))
             (if (more? x past) (stream-cons x (loop (+ x step))) stream-null))))))
    (define (stream-unfold mapper more? successor base)
      (for-each (lambda (f) (check-procedure "stream-unfold" f)) (list mapper more? successor))
      (stream-let loop ((x base))
        (if (more? x) (stream-cons (mapper x) (loop (successor x))) stream-null)))

    ;; `generator` returns a seed and, for each stream, a list of its next element, #f for nothing, or () for the end.
    (define (stream-unfolds generator seed)
      (let* ((n (call-with-values (lambda () (generator seed)) (lambda (seed . results) (length results))))
             (rows (stream-let loop ((seed seed))
                     (call-with-values (lambda () (generator seed))
                       (lambda (seed . results) (stream-cons results (loop seed)))))))
        (define (column i)
          (stream-let loop ((rows rows))
            (let ((x (list-ref (stream-car rows) i)))
              (cond ((pair? x) (stream-cons (car x) (loop (stream-cdr rows))))
                    (x stream-null)
                    (else (loop (stream-cdr rows)))))))
        (apply values (let loop ((i 0)) (if (= i n) '() (cons (column i) (loop (+ i 1))))))))

    ;;;; Using

    (define stream->list
      (case-lambda
        ((s) (stream->list #f s))
        ((n s)
         (check-stream "stream->list" s)
         (if n (check-count "stream->list" n))
         (let loop ((n n) (s s) (l '()))
           (if (or (eqv? n 0) (stream-null? s))
               (reverse l)
               (loop (and n (- n 1)) (stream-cdr s) (cons (stream-car s) l)))))))
    (define (stream-fold proc base s)
      (check-procedure "stream-fold" proc)
      (check-stream "stream-fold" s)
      (let loop ((acc base) (s s))
        (if (stream-null? s) acc (loop (proc acc (stream-car s)) (stream-cdr s)))))
    (define (stream-for-each proc . streams)
      (check-procedure "stream-for-each" proc)
      (check-streams "stream-for-each" streams)
      (let loop ((streams streams))
        (if (not (any-null? streams))
            (begin
              (apply proc (map stream-car streams))
              (loop (map stream-cdr streams))))))
    (define (any-null? streams)
      (and (pair? streams) (or (stream-null? (car streams)) (any-null? (cdr streams)))))
    ;; No element is evaluated.
    (define (stream-length s)
      (check-stream "stream-length" s)
      (let loop ((n 0) (s s))
        (if (stream-null? s) n (loop (+ n 1) (stream-cdr s)))))
    (define (stream-ref s n)
      (check-count "stream-ref" n)
      (check-stream "stream-ref" s)
      (let loop ((s s) (i n))
        (cond ((not (stream-pair? s)) (out-of-range "stream-ref" "the stream has no element" n))
              ((= i 0) (stream-car s))
              (else (loop (stream-cdr s) (- i 1))))))

    ;;;; Streams from streams

    (define (stream-append . streams)
      (for-each (lambda (s) (check-stream "stream-append" s)) streams)
      (stream-let loop ((streams streams))
        (cond ((null? streams) stream-null)
              ((null? (cdr streams)) (car streams))
              ((stream-null? (car streams)) (loop (cdr streams)))
              (else (stream-cons (stream-car (car streams))
                                 (loop (cons (stream-cdr (car streams)) (cdr streams))))))))
    (define (stream-concat s)
      (check-stream "stream-concat" s)
      (stream-let loop ((s s))
        (cond ((stream-null? s) stream-null)
              ((stream-null? (stream-car s)) (loop (stream-cdr s)))
              (else
               (let ((inner (stream-car s)))
                 (stream-cons (stream-car inner) (loop (stream-cons (stream-cdr inner) (stream-cdr s)))))))))
    (define (stream-drop n s)
      (check-count "stream-drop" n)
      (check-stream "stream-drop" s)
      (stream-let loop ((n n) (s s))
        (if (or (= n 0) (stream-null? s)) s (loop (- n 1) (stream-cdr s)))))
    (define (stream-drop-while out? s)
      (check-procedure "stream-drop-while" out?)
      (check-stream "stream-drop-while" s)
      (stream-let loop ((s s))
        (if (and (stream-pair? s) (out? (stream-car s))) (loop (stream-cdr s)) s)))
    (define (stream-filter keep? s)
      (check-procedure "stream-filter" keep?)
      (check-stream "stream-filter" s)
      (stream-let loop ((s s))
        (cond ((stream-null? s) stream-null)
              ((keep? (stream-car s)) (stream-cons (stream-car s) (loop (stream-cdr s))))
              (else (loop (stream-cdr s))))))
    (define (stream-map proc . streams)
      (check-procedure "stream-map" proc)
      (check-streams "stream-map" streams)
      (stream-let loop ((streams streams))
        (if (any-null? streams)
            stream-null
            (stream-cons (apply proc (map stream-car streams)) (loop (map stream-cdr streams))))))
    (define (stream-zip . streams)
      (check-streams "stream-zip" streams)
      (apply stream-map list streams))
    (define (stream-reverse s)
      (check-stream "stream-reverse" s)
      (stream-let loop ((acc stream-null) (s s))
        (if (stream-null? s) acc (loop (stream-cons (stream-car s) acc) (stream-cdr s)))))
    (define (stream-scan proc base s)
      (check-procedure "stream-scan" proc)
      (check-stream "stream-scan" s)
      (stream-let loop ((acc base) (s s))
        (if (stream-null? s)
            (stream acc)
            (stream-cons acc (loop (proc acc (stream-car s)) (stream-cdr s))))))
    (define (stream-take n s)
      (check-count "stream-take" n)
      (check-stream "stream-take" s)
      (stream-let loop ((n n) (s s))
        (if (or (= n 0) (stream-null? s))
            stream-null
            (stream-cons (stream-car s) (loop (- n 1) (stream-cdr s))))))
    (define (stream-take-while keep? s)
      (check-procedure "stream-take-while" keep?)
      (check-stream "stream-take-while" s)
      (stream-let loop ((s s))
        (if (and (stream-pair? s) (keep? (stream-car s)))
            (stream-cons (stream-car s) (loop (stream-cdr s)))
            stream-null)))

    ;;;; Syntax

    (define-syntax stream-of
      (syntax-rules ()
        ((_ e rest ...) (stream-of-aux e stream-null rest ...))))
    (define-syntax stream-of-aux
      (syntax-rules (in is)
        ((_ e base) (stream-cons e base))
        ((_ e base (x in s) rest ...)
         (stream-let loop ((strm s))
           (if (stream-null? strm)
               base
               (let ((x (stream-car strm)))
                 (stream-of-aux e (loop (stream-cdr strm)) rest ...)))))
        ((_ e base (x is value) rest ...)
         (let ((x value)) (stream-of-aux e base rest ...)))
        ((_ e base test rest ...)
         (if test (stream-of-aux e base rest ...) base))))

    (define-syntax stream-match
      (syntax-rules ()
        ((_ e clause ...)
         (let ((s e))
           (check-stream "stream-match" s)
           (stream-match-clauses s clause ...)))))
    (define-syntax stream-match-clauses
      (syntax-rules ()
        ((_ s) (error "stream-match: no pattern matches"))
        ((_ s (pattern body ...) clause ...)
         (let ((next (lambda () (stream-match-clauses s clause ...))))
           (stream-match-pattern s pattern (next) body ...)))))
    (define-syntax stream-match-pattern
      (syntax-rules (_)
        ((m s () failed body) (if (stream-null? s) body failed))
        ((m s () failed fender body) (if (and (stream-null? s) fender) body failed))
        ((m s (_ . rest) failed . body)
         (if (stream-pair? s)
             (let ((tail (stream-cdr s))) (stream-match-pattern tail rest failed . body))
             failed))
        ((m s (x . rest) failed . body)
         (if (stream-pair? s)
             (let ((x (stream-car s)) (tail (stream-cdr s))) (stream-match-pattern tail rest failed . body))
             failed))
        ((m s _ failed body) body)
        ((m s _ failed fender body) (if fender body failed))
        ((m s x failed body) (let ((x s)) body))
        ((m s x failed fender body) (let ((x s)) (if fender body failed)))))))
