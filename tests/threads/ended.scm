;; The memory of threads that have ended goes back to the system while the program waits.
(import (scheme base) (scheme write) (scheme file) (scheme time) (cairn thread))

;; Resident kilobytes.
(define (resident)
  (call-with-input-file "/proc/self/status"
    (lambda (port)
      (let loop ()
        (let ((line (read-line port)))
          (if (string=? (substring line 0 6) "VmRSS:")
              (read-number line 6)
              (loop)))))))
(define (read-number line i)
  (let loop ((i i) (n 0))
    (cond
      ((char<=? #\0 (string-ref line i) #\9)
       (loop (+ i 1) (+ (* 10 n) (- (char->integer (string-ref line i)) 48))))
      ((= n 0) (loop (+ i 1) n))
      (else n))))

(define before (resident))
(define go (make-mvar))
(let ((threads (let loop ((i 0) (l '()))
                 (if (= i 200000) l (loop (+ i 1) (cons (spawn (lambda () (mvar-read go))) l))))))
  (thread-yield!)
  (mvar-put! go 1)
  (for-each thread-join! threads))
(define most (resident))
(write (> (- most before) 40000))
;; It waits for twenty times as long as the longest collection has taken, then collects.
(let loop ((times 60))
  (thread-sleep! 0.5)
  (cond
    ((< (- (resident) before) (/ (- most before) 3)) (write 'back))
    ((= times 0) (write (list before most (resident))))
    (else (loop (- times 1)))))
(newline)
