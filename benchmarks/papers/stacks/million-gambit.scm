;; Many threads wait at one condition variable and then answer as they end; see million.scm.
(declare (standard-bindings) (extended-bindings) (block))

(define count (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define mutex (make-mutex))
(define opened (make-condition-variable))
(define open? #f)

(define (wait)
  (mutex-lock! mutex)
  (if open?
      (mutex-unlock! mutex)
      (begin
        (mutex-unlock! mutex opened)
        (wait))))

(define (start number)
  (thread-start! (make-thread (lambda () (wait) number))))

(define threads
  (let loop ((number count) (threads '()))
    (if (= number 0) threads (loop (- number 1) (cons (start number) threads)))))
(thread-yield!)
(mutex-lock! mutex)
(set! open? #t)
(condition-variable-broadcast! opened)
(mutex-unlock! mutex)
(let loop ((threads threads) (sum 0))
  (if (pair? threads)
      (loop (cdr threads) (+ sum (thread-join! (car threads))))
      (begin (write sum) (newline))))
