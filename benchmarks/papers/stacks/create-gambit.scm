;; Threads are made one after the other; see create.scm.
(declare (standard-bindings) (extended-bindings) (block))

(define count (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define main-thread (current-thread))

(let loop ((number 0) (sum 0))
  (if (< number count)
      (begin
        (thread-start! (make-thread (lambda () (thread-send main-thread (modulo number 7)))))
        (loop (+ number 1) (+ sum (thread-receive))))
      (begin (write sum) (newline))))
