;; Histories of a channel and of a mutex, under whatever schedule: are they those of a queue, of a lock?  A history is
;; linearizable (Herlihy & Wing 1990) if its operations can be put in an order that respects which ended before which
;; began, and in which a queue would have given the same answers; the search is Wing & Gong's (1993).
(import (scheme base) (scheme write) (cairn thread) (only (cairn scheduler) mask! unmask!))

(define clock 0)
(define (now)
  (mask!)
  (set! clock (+ clock 1))
  (let ((time clock)) (unmask!) time))

;; An operation: began, ended, name, argument, answer.
(define history '())
(define (perform name argument thunk)
  (let* ((began (now)) (answer (thunk)) (ended (now)))
    (mask!)
    (set! history (cons (vector began ended name argument answer) history))
    (unmask!)
    answer))
(define (began op) (vector-ref op 0))
(define (ended op) (vector-ref op 1))

;; What is left of the queue after the operation, or #f if it could not have answered so.
(define (apply-op op queue capacity)
  (let ((name (vector-ref op 2)) (argument (vector-ref op 3)) (answer (vector-ref op 4)))
    (case name
      ((put) (append queue (list argument)))
      ((try-put) (if answer (append queue (list argument)) (and (>= (length queue) capacity) queue)))
      ((get) (and (pair? queue) (eqv? (car queue) answer) (cdr queue)))
      (else (error "no such operation" name)))))

(define (linearizable? history capacity)
  (let search ((left history) (queue '()))
    (or (null? left)
        (let ((first-end (apply min (map ended left))))
          (let try ((ops left))
            (and (pair? ops)
                 (or (and (< (began (car ops)) first-end)
                          (let ((next (apply-op (car ops) queue capacity)))
                            (and next (search (without (car ops) left) next))))
                     (try (cdr ops)))))))))
(define (without x l) (cond ((null? l) '()) ((eq? (car l) x) (cdr l)) (else (cons (car l) (without x (cdr l))))))

(define (channel-history capacity)
  (set! history '())
  (let* ((c (make-channel capacity))
         (put (lambda (from)
                (spawn (lambda () (do ((i from (+ i 1))) ((= i (+ from 3))) (perform 'put i (lambda () (channel-put! c i))))))))
         (get (lambda () (spawn (lambda () (do ((i 0 (+ i 1))) ((= i 3)) (perform 'get #f (lambda () (channel-get! c))))))))
         ;; Without room for it, a value more would keep a sender waiting for ever.
         (try (spawn (lambda ()
                       (if (> capacity 0) (perform 'try-put 99 (lambda () (channel-try-put! c 99))))))))
    (for-each thread-join! (list (put 0) (get) (put 10) (get)))
    (thread-join! try)
    history))

;; The same with an MVar, which is a queue of one.
(define (mvar-history)
  (set! history '())
  (let* ((m (make-mvar))
         (put (lambda (from)
                (spawn (lambda () (do ((i from (+ i 1))) ((= i (+ from 3))) (perform 'put i (lambda () (mvar-put! m i))))))))
         (get (lambda () (spawn (lambda () (do ((i 0 (+ i 1))) ((= i 3)) (perform 'get #f (lambda () (mvar-take! m)))))))))
    (for-each thread-join! (list (put 0) (get) (put 10) (get)))
    history))

(define (wrong-history)
  (list (vector 1 2 'put 1 #t) (vector 3 4 'put 2 #t) (vector 5 6 'get #f 2)))
(write (list (linearizable? (wrong-history) 1)
             (linearizable? (channel-history 1) 1) (linearizable? (channel-history 3) 3)
             (linearizable? (channel-history 0) 0)
             (linearizable? (mvar-history) 1)))
(newline)

;; Nobody else is inside.
(define inside 0)
(define worst 0)
(define (visit m)
  (with-mutex m
    (set! inside (+ inside 1))
    (if (> inside worst) (set! worst inside))
    (thread-yield!)
    (set! inside (- inside 1))))
(let* ((m (make-mutex)) (ts (map (lambda (i) (spawn (lambda () (do ((j 0 (+ j 1))) ((= j 10)) (visit m))))) '(1 2 3 4))))
  (for-each thread-join! ts)
  (write (list inside worst (mutex-state m)))
  (newline))
