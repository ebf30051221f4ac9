;;; (srfi 221): more of generators and accumulators.
(define-library (srfi 221)
  (export gcompose-left gcompose-right accumulate-generated-values genumerate gchoice generator->stream
          stream->generator)
  (import (scheme base) (only (srfi 41) stream-lambda stream-cons stream-null stream-pair? stream-car stream-cdr
                              stream?)
          (only (cairn control) wrong-type))
  (begin

    (define (gcompose-left make . operations)
      (let loop ((gen (make)) (operations operations))
        (if (null? operations) gen (loop ((car operations) gen) (cdr operations)))))
    (define (gcompose-right . operations)
      (apply gcompose-left (reverse operations)))

    (define (accumulate-generated-values accumulator gen)
      (let loop ()
        (let* ((x (gen)) (result (accumulator x)))
          (if (eof-object? x) result (loop)))))

    (define (genumerate gen)
      (let ((n -1))
        (lambda ()
          (let ((x (gen)))
            (if (eof-object? x)
                x
                (begin
                  (set! n (+ n 1))
                  (cons n x)))))))

    (define (gchoice choice . sources)
      (let* ((sources (list->vector sources)) (left (vector-length sources)))
        (define (next)
          (if (= left 0)
              (eof-object)
              (let ((i (choice)))
                (cond
                  ((eof-object? i) i)
                  ((not (and (exact-integer? i) (< -1 i (vector-length sources))))
                   (error "gchoice: there is no source of this number:" i))
                  ((vector-ref sources i)
                   => (lambda (source)
                        (let ((x (source)))
                          (if (eof-object? x)
                              (begin
                                (vector-set! sources i #f)
                                (set! left (- left 1))
                                (next))
                              x))))
                  (else (next))))))
        next))

    (define generator->stream
      (stream-lambda (gen)
        (let ((x (gen)))
          (if (eof-object? x) stream-null (stream-cons x (generator->stream gen))))))
    (define (stream->generator s)
      (if (not (stream? s)) (wrong-type "stream->generator" "a stream" s))
      (lambda ()
        (if (stream-pair? s)
            (let ((x (stream-car s)))
              (set! s (stream-cdr s))
              x)
            (eof-object))))))
