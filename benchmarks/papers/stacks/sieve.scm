;; The sieve of Eratosthenes as a chain of threads: each holds a prime and sends on, through a channel, what its prime
;; does not divide. The argument says which prime is asked for. (Like the post's `sieve`.)
(import (scheme base) (scheme write) (scheme process-context) (cairn thread))

(define which (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 50)))

(define (numbers out)
  (let loop ((n 2))
    (channel-put! out n)
    (loop (+ n 1))))

(define (sift prime in out)
  (let loop ()
    (let ((n (channel-get! in)))
      (if (> (remainder n prime) 0) (channel-put! out n))
      (loop))))

(define source (make-channel))
(spawn (lambda () (numbers source)))
(let loop ((i 1) (in source))
  (let ((prime (channel-get! in)))
    (if (= i which)
        (begin (write prime) (newline))
        (let ((out (make-channel)))
          (spawn (lambda () (sift prime in out)))
          (loop (+ i 1) out)))))
