;; Two threads hand a number to and fro; see pingpong.scm. Mailboxes are the MVars.
(declare (standard-bindings) (extended-bindings) (block))

(define rounds (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define main-thread (current-thread))

(define other
  (thread-start!
    (make-thread
      (lambda ()
        (let loop ()
          (thread-send main-thread (+ (thread-receive) 1))
          (loop))))))
(let loop ((i 0) (n 0))
  (if (< i rounds)
      (begin
        (thread-send other n)
        (loop (+ i 1) (thread-receive)))
      (begin (write n) (newline))))
