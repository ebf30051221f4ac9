;; A token goes round in a ring of 503 threads; see ring.scm. Each thread's mailbox is its MVar.
(declare (standard-bindings) (extended-bindings) (block))

(define size 503)
(define hops (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define main-thread (current-thread))

(define (member-of-ring number)
  (let ((next (thread-receive)))
    (let loop ()
      (let ((token (thread-receive)))
        (if (= token 0)
            (thread-send main-thread number)
            (begin (thread-send next (- token 1)) (loop)))))))

(define members
  (let make ((number size) (made '()))
    (if (= number 0)
        made
        (make (- number 1) (cons (make-thread (lambda () (member-of-ring number))) made)))))
(for-each thread-start! members)
(for-each (lambda (t next) (thread-send t next)) members (append (cdr members) (list (car members))))
(thread-send (car members) hops)
(write (thread-receive))
(newline)
