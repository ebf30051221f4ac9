;; Everything at once, for so many seconds as the argument says: threads that come and go, channels, locks, time-outs,
;; sockets, other programs, places. Each kind of work checks what it gets and counts its rounds. A line now and then
;; says how much memory is resident (kilobytes), so that what is never given back shows; the last one, whether all was
;; well.
;;
;;     cairn build tests/threads/soak.scm -o soak && ./soak 1800
(import (scheme base) (scheme write) (scheme read) (scheme file) (scheme time) (scheme process-context)
        (cairn thread) (cairn net) (cairn process) (cairn place))

(define seconds (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 2)))
(define between-lines (max 0.5 (/ seconds 60.)))

(define (now) (/ (current-jiffy) (jiffies-per-second) 1.))
(define begun (now))
(define (time-left?) (< (- (now) begun) seconds))

;; Resident kilobytes, as the system counts them; pages have four.
(define (resident)
  (call-with-input-file "/proc/self/statm" (lambda (in) (read in) (* 4 (read in)))))
(define (descriptors)
  (call-with-input-file "/proc/self/status"
    (lambda (in)
      (let loop ()
        (let ((line (read-line in)))
          (if (string=? "FDSize:" (substring line 0 (min 7 (string-length line))))
              (read (open-input-string (substring line 7 (string-length line))))
              (loop)))))))

(define (check name got expected)
  (if (not (equal? got expected)) (error "soak: wrong answer:" name got expected)))
(define (numbers n) (let loop ((i (- n 1)) (l '())) (if (< i 0) l (loop (- i 1) (cons i l)))))
(define (repeat n f) (do ((i 0 (+ i 1))) ((= i n)) (f i)))

;;;; Kinds of work; each is a procedure that does one round of it

;; Threads that end in all ways.
(define (threads)
  (let* ((gate (make-mvar))
         (many (map (lambda (i) (spawn (lambda () (mvar-read gate) (* i i)))) (numbers 300)))
         (stuck (map (lambda (i) (spawn (lambda () (mvar-take! (make-mvar))))) (numbers 20))))
    (thread-yield!)
    (mvar-put! gate 'open)
    (check 'squares (map thread-join! many) (map (lambda (i) (* i i)) (numbers 300)))
    (for-each thread-terminate! stuck)
    (check 'terminated
           (map (lambda (t) (guard (e ((terminated-thread-exception? e) 'ended)) (thread-join! t))) stuck)
           (map (lambda (t) 'ended) stuck))
    (let ((t (spawn (lambda () (guard (e ((symbol? e) (list 'caught e))) (thread-sleep! 100))))))
      ;; It has its handler when it sleeps.
      (let wait () (if (not (eq? (thread-state t) 'waiting)) (begin (thread-yield!) (wait))))
      (thread-raise! t 'wake)
      (check 'raised (thread-join! t) '(caught wake)))))

;; A value through a chain of channels of several sizes, with `select` in the middle.
(define (channels)
  (let* ((a (make-channel)) (b (make-channel 3)) (c (make-channel #f)) (sum (make-mvar)))
    (spawn (lambda () (repeat 200 (lambda (i) (channel-put! a i))) (channel-close! a)))
    (spawn (lambda ()
             (let loop ()
               (let ((x (select (get a (x) x) (after 60 'late))))
                 (if (eof-object? x) (channel-close! b) (begin (channel-put! b x) (loop)))))))
    (spawn (lambda ()
             (let loop ()
               (let ((x (channel-get! b)))
                 (if (eof-object? x) (channel-close! c) (begin (channel-put! c (* 2 x)) (loop)))))))
    (spawn (lambda ()
             (let loop ((n 0))
               (let ((x (channel-get! c)))
                 (if (eof-object? x) (mvar-put! sum n) (loop (+ n x)))))))
    (check 'sum (mvar-take! sum) 39800)))

;; A counter under a mutex; a condition variable; a pool.
(define (locks)
  (let ((m (make-mutex)) (cv (make-condition-variable)) (n 0) (pool (make-thread-pool 4)))
    (let ((all (map (lambda (i) (thread-pool-submit! pool
                                  (lambda ()
                                    (repeat 20 (lambda (j) (with-mutex m (let ((old n)) (thread-yield!) (set! n (+ old 1))))))
                                    (condition-variable-signal! cv)
                                    i)))
                    (numbers 10))))
      (let wait ()
        (mutex-lock! m)
        (if (< n 200)
            (begin (mutex-unlock! m cv 0.05) (wait))
            (mutex-unlock! m)))
      (check 'pool (map touch all) (numbers 10))
      (thread-pool-shutdown! pool)
      (check 'counted n 200))))

;; Alarms: most are cancelled, some ring.
(define (timers)
  (let ((sleepers (map (lambda (i) (spawn (lambda () (thread-sleep! (/ i 2000.)) i))) (numbers 100))))
    (repeat 200 (lambda (i) (check 'in-time (call-with-timeout 1000 (lambda () i) (lambda () 'late)) i)))
    (check 'late (call-with-timeout 0.002 (lambda () (thread-sleep! 10)) (lambda () 'late)) 'late)
    (check 'slept (map thread-join! sleepers) (numbers 100))))

;; An echo over sockets: twenty connections at once, which come and go.
(define (sockets)
  (let* ((listener (tcp-listen 0 "127.0.0.1"))
         (port (tcp-listener-port listener))
         (server (spawn (lambda ()
                          (let accept ()
                            (let-values (((in out) (tcp-accept listener)))
                              (spawn (lambda ()
                                       (let loop ()
                                         (let ((line (read-line in)))
                                           (if (not (eof-object? line))
                                               (begin (write-string line out) (newline out) (flush-output-port out)
                                                      (loop)))))
                                       (close-port out)
                                       (close-port in)))
                              (accept))))))
         (text (make-string 3000 #\x))
         (clients (map (lambda (i)
                         (spawn (lambda ()
                                  (let-values (((in out) (tcp-connect "127.0.0.1" port)))
                                    (repeat 10 (lambda (j)
                                      (write-string text out)
                                      (newline out)
                                      (flush-output-port out)
                                      (check 'echo (read-line in) text)))
                                    (close-port out)
                                    (check 'end (eof-object? (read-line in)) #t)
                                    (close-port in)
                                    'done))))
                       (numbers 20))))
    (check 'clients (map thread-join! clients) (map (lambda (c) 'done) clients))
    (thread-terminate! server)
    (tcp-close listener)))

(define (programs)
  (let-values (((output status) (run-process '("cat") "to and fro\n")))
    (check 'cat (list output status) '("to and fro\n" 0))))

;; Places that return, fail, are killed, and a channel between two of them.
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (places)
  (let* ((to (make-place-channel)) (from (make-place-channel))
         (echo (place (let loop ((n 0))
                        (let ((x (place-channel-get! to)))
                          (if (eof-object? x) n (begin (place-channel-put! from (cons 'got x)) (loop (+ n 1))))))))
         (endless (place (let loop () (loop)))))
    (repeat 20 (lambda (i)
      (let ((data (list i (make-vector 1000 i) (number->string i))))
        (place-channel-put! to data)
        (check 'message (place-channel-get! from) (cons 'got data)))))
    (place-channel-close! to)
    (check 'echoed (place-wait echo) 20)
    (place-kill! endless)
    (check 'killed (guard (e (#t 'killed)) (place-wait endless)) 'killed)
    (check 'map (place-map fib '(10 11 12 13 14 15) 2) '(55 89 144 233 377 610))))

;;;; All of them beside each other

(define work (list (cons 'threads threads) (cons 'channels channels) (cons 'locks locks) (cons 'timers timers)
                   (cons 'sockets sockets) (cons 'programs programs) (cons 'places places)))
(define rounds (map (lambda (w) (list (car w) 0)) work))

(define (worker kind)
  (let ((counter (assq (car kind) rounds)))
    (spawn (lambda ()
             (let loop ()
               (if (time-left?)
                   (begin
                     ((cdr kind))
                     (set-car! (cdr counter) (+ 1 (cadr counter)))
                     (thread-sleep! 0.1)
                     (loop))
                   'well)))
           (car kind))))

(define (say . items)
  (for-each display items)
  (newline)
  (flush-output-port))

(define (say-state)
  (say "after " (/ (round (* 10 (- (now) begun))) 10) " s: " (resident) " kilobytes, " (descriptors)
       " descriptors at most, " (length (all-threads)) " threads, rounds " rounds))

(define workers (map worker work))
(let loop ()
  (if (time-left?)
      (begin
        (thread-sleep! between-lines)
        (say-state)
        (loop))))
(check 'workers (map thread-join! workers) (map (lambda (w) 'well) workers))
(check 'left (length (all-threads)) 1)
(say-state)
(say "all well")
