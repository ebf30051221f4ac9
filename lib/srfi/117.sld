;;; (srfi 117): queues of lists; also as (scheme list-queue).  A queue knows the first and the last pair of its list.
(define-library (srfi 117)
  (export
   make-list-queue list-queue list-queue-copy list-queue-unfold list-queue-unfold-right
   list-queue? list-queue-empty? list-queue-front list-queue-back list-queue-list list-queue-first-last
   list-queue-add-front! list-queue-add-back! list-queue-remove-front! list-queue-remove-back!
   list-queue-remove-all! list-queue-set-list!
   list-queue-append list-queue-append! list-queue-concatenate
   list-queue-map list-queue-map! list-queue-for-each)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type))
  (begin

    (define-record-type <list-queue>
      (make-queue first last)
      list-queue?
      (first first-pair set-first!)
      (last last-pair set-last!))

    (define (last-of who l)
      (let loop ((rest l))
        (cond
          ((null? rest) rest)
          ((not (pair? rest)) (wrong-type who "a list" l))
          ((null? (cdr rest)) rest)
          (else (loop (cdr rest))))))
    (define (queue-of who l) (make-queue l (last-of who l)))
    ;; The list of what must be a queue.
    (define (list-of who q) (first-pair (check-queue who q)))

    (define make-list-queue
      (case-lambda
        ((l) (queue-of "make-list-queue" l))
        ((l last) (make-queue l last))))
    (define (list-queue . l) (make-list-queue l))
    (define (list-queue-copy q) (make-list-queue (list-copy (list-of "list-queue-copy" q))))

    (define list-queue-unfold
      (case-lambda
        ((stop? mapper successor seed) (list-queue-unfold stop? mapper successor seed (list-queue)))
        ((stop? mapper successor seed q)
         (let loop ((seed seed) (l '()))
           (if (stop? seed)
               (begin
                 (for-each (lambda (x) (list-queue-add-front! q x)) l)
                 q)
               (loop (successor seed) (cons (mapper seed) l)))))))
    (define list-queue-unfold-right
      (case-lambda
        ((stop? mapper successor seed) (list-queue-unfold-right stop? mapper successor seed (list-queue)))
        ((stop? mapper successor seed q)
         (let loop ((seed seed) (l '()))
           (if (stop? seed)
               (begin
                 (for-each (lambda (x) (list-queue-add-back! q x)) l)
                 q)
               (loop (successor seed) (cons (mapper seed) l)))))))

    (define (check-queue who q)
      (if (list-queue? q) q (wrong-type who "a queue" q)))
    (define (list-queue-empty? q) (null? (first-pair (check-queue "list-queue-empty?" q))))
    (define (check who q)
      (if (list-queue-empty? (check-queue who q)) (error (string-append who ": the queue is empty"))))
    (define (list-queue-front q)
      (check "list-queue-front" q)
      (car (first-pair q)))
    (define (list-queue-back q)
      (check "list-queue-back" q)
      (car (last-pair q)))
    (define (list-queue-list q) (first-pair (check-queue "list-queue-list" q)))
    (define (list-queue-first-last q)
      (values (list-of "list-queue-first-last" q) (last-pair q)))

    (define (list-queue-add-front! q x)
      (check-queue "list-queue-add-front!" q)
      (let ((l (cons x (first-pair q))))
        (if (list-queue-empty? q) (set-last! q l))
        (set-first! q l)))
    (define (list-queue-add-back! q x)
      (check-queue "list-queue-add-back!" q)
      (let ((l (list x)))
        (if (list-queue-empty? q)
            (set-first! q l)
            (set-cdr! (last-pair q) l))
        (set-last! q l)))
    (define (list-queue-remove-front! q)
      (check "list-queue-remove-front!" q)
      (let ((l (first-pair q)))
        (set-first! q (cdr l))
        (if (null? (cdr l)) (set-last! q '()))
        (car l)))
    (define (list-queue-remove-back! q)
      (check "list-queue-remove-back!" q)
      (let ((last (last-pair q)) (l (first-pair q)))
        (if (eq? l last)
            (list-queue-set-list! q '())
            (let loop ((l l))
              (if (eq? (cdr l) last)
                  (begin
                    (set-cdr! l '())
                    (set-last! q l))
                  (loop (cdr l)))))
        (car last)))
    (define (list-queue-remove-all! q)
      (check-queue "list-queue-remove-all!" q)
      (let ((l (first-pair q)))
        (list-queue-set-list! q '())
        l))
    (define list-queue-set-list!
      (case-lambda
        ((q l) (list-queue-set-list! q l (last-of "list-queue-set-list!" l)))
        ((q l last)
         (check-queue "list-queue-set-list!" q)
         (set-first! q l)
         (set-last! q last))))

    (define (concatenated who queues)
      (make-list-queue
       (apply append
              (append (map (lambda (q) (list-of who q))
                           (if (list? queues) queues (wrong-type who "a list" queues)))
                      (list '())))))
    (define (list-queue-append . queues) (concatenated "list-queue-append" queues))
    (define (list-queue-concatenate queues) (concatenated "list-queue-concatenate" queues))
    ;; The queues are not to be used any more.
    (define (list-queue-append! . queues) (concatenated "list-queue-append!" queues))

    (define (list-queue-map proc q) (make-list-queue (map proc (list-of "list-queue-map" q))))
    (define (list-queue-map! proc q)
      (do ((l (list-of "list-queue-map!" q) (cdr l))) ((null? l))
        (set-car! l (proc (car l)))))
    (define (list-queue-for-each proc q) (for-each proc (list-of "list-queue-for-each" q)))))
