;; Something happens to a thread at each safepoint in turn: it is terminated, an exception is raised in it, its time
;; runs out, it is interrupted.  Each scenario is run without that, to count its safepoints, and then again and again
;; with it at the first, the second, and so on; afterwards what the threads had in common must be whole.  What is tried
;; comes from another thread, which has its turn at this safepoint, or at the end of the masked section around it.
(import (scheme base) (scheme write) (scheme time) (cairn thread) (only (cairn list) filter)
        (only (cairn scheduler) tick-at!))

;; A scenario makes fresh things; it returns a procedure that says what is wrong afterwards, #f if nothing is, and
;; thunks for threads, or a thread.  The first one is the victim; the others end by themselves, whatever happens to it.
(define (run scenario action k)
  (call-with-values scenario
    (lambda (check . thunks)
      (let* ((go (make-mvar))
             (victim (if (thread? (car thunks)) (car thunks) (make-thread (stoppable (car thunks)))))
             (threads (cons victim (map (lambda (thunk) (make-thread thunk)) (cdr thunks))))
             (killer (spawn (lambda () (if (mvar-take! go) (action victim))))))
        (thread-yield!)                 ; the killer waits
        (tick-at! k (lambda () (mvar-put! go #t) (thread-yield!)))
        ;; A thread may be terminated before it is started.
        (for-each (lambda (t) (if (eq? (thread-state t) 'new) (guard (e (#t #f)) (thread-start! t)))) threads)
        (for-each end-of threads)
        (let ((left (tick-at! 0 #f)))
          (mvar-try-put! go #f)
          (end-of killer)
          (let ((wrong (check (thread-state victim))))
            (if wrong (set! failures (cons (list k (thread-state victim) wrong) failures))))
          left)))))

;; Waits for the end of a thread, however it ends.
(define (end-of t)
  (guard (e ((or (terminated-thread-exception? e) (uncaught-exception? e)) #f)) (thread-join! t)))

;; A victim's thunk: it can be told to stop, and has a continuation by which its time runs out.
(define (stoppable thunk)
  (lambda ()
    (guard (e ((eq? e 'stop) 'stopped))
      (call/cc (lambda (k) (thread-specific-set! (current-thread) k) (thunk))))))

(define actions
  (list (cons 'terminate thread-terminate!)
        (cons 'raise (lambda (t) (thread-raise! t 'stop)))
        (cons 'time-out (lambda (t) (thread-interrupt! t (lambda () (let ((k (thread-specific t))) (if k (k 'late)))))))
        (cons 'interrupt (lambda (t) (thread-interrupt! t (lambda () #f))))
        (cons 'delay (lambda (t) (spend 0.0015)))))
(define (spend seconds)
  (let ((end (+ (current-jiffy) (exact (round (* seconds (jiffies-per-second)))))))
    (let loop () (if (< (current-jiffy) end) (loop)))))

(define failures '())
(define most 1000000)
(define (every-safepoint name scenario . whats)
  (for-each
    (lambda (what)
      (set! failures '())
      (let ((n (- most (run scenario (lambda (t) #f) most))))
        (do ((k 1 (+ k 1))) ((> k (+ n 2))) (run scenario (cdr (assq what actions)) k))
        (write (list name what n (reverse failures)))
        (newline)))
    whats))

(define (until-waiting t) (if (not (eq? (thread-state t) 'waiting)) (begin (thread-yield!) (until-waiting t))))
;; Is the mutex free, or found to be abandoned?
(define (bad-mutex m state)
  (let ((s (mutex-state m)))
    (cond
      ((and (eq? state 'failed) (eq? s 'abandoned))
       (if (guard (e ((abandoned-mutex-exception? e) #t)) (mutex-lock! m 1)) #f 'not-locked))
      ((not (eq? s 'not-abandoned)) s)
      ((not (mutex-lock! m 0)) 'not-free)
      (else #f))))
;; Can values pass through the channel, and is nobody else there?
(define (bad-channel c)
  (let ((old (channel-try-get! c 'none)))
    (cond
      ((not (eq? old 'none)) (bad-channel c))
      ((> (channel-count c) 0) (list 'count (channel-count c)))
      (else
       (let ((t (spawn (lambda () (channel-get! c)))))
         (until-waiting t)
         (if (and (channel-try-put! c 'through) (eq? 'through (thread-join! t))) #f 'stuck))))))
(define (strictly-increasing? l) (or (null? l) (null? (cdr l)) (and (< (car l) (cadr l)) (strictly-increasing? (cdr l)))))

;; A mutex that another thread wants, too: nobody else comes in while one is inside.
(define (locking)
  (let* ((m (make-mutex)) (inside #f) (broken #f)
         (visit (lambda ()
                  (guard (e ((abandoned-mutex-exception? e) (mutex-unlock! m)))
                    (with-mutex m
                      (set! inside (current-thread))
                      (thread-yield!)
                      (if (not (eq? inside (current-thread))) (set! broken #t)))))))
    (values (lambda (state) (if broken 'two-inside (bad-mutex m state)))
            (lambda () (visit) (visit))
            (lambda () (visit) (visit)))))

;; A condition variable: the other thread says when.
(define (signalling)
  (let ((m (make-mutex)) (cv (make-condition-variable)) (there #f))
    (values (lambda (state)
              (or (bad-mutex m 'failed)
                  ;; Whoever waits now is the only one.
                  (let ((t (begin (mutex-unlock! m) (spawn (lambda () (mutex-lock! m) (mutex-unlock! m cv) 'woken)))))
                    (until-waiting t)
                    (condition-variable-signal! cv)
                    (if (eq? 'woken (thread-join! t 10 'lost)) #f 'lost))))
            (lambda ()
              (let loop ()
                (mutex-lock! m)
                (if there (mutex-unlock! m) (begin (mutex-unlock! m cv) (loop)))))
            (lambda ()
              (thread-yield!)
              ;; Who has held it may have been told to stop, and has not unlocked it.
              (guard (e ((abandoned-mutex-exception? e) #t)) (mutex-lock! m))
              (set! there #t)
              (condition-variable-signal! cv)
              (mutex-unlock! m)))))

;; An MVar as a lock: `mvar-update!` puts something back.
(define (updating)
  (let* ((v (make-mvar 0)) (update (lambda () (mvar-update! v (lambda (n) (thread-yield!) (+ n 1))))))
    (values (lambda (state)
              (let ((n (mvar-try-take! v 'empty)))
                (cond ((not (memv n '(2 3))) n)
                      ((not (mvar-empty? v)) 'full)
                      (else #f))))
            update
            (lambda () (update) (update)))))

;; MVars: nobody is left waiting in one.
(define (passing)
  (let ((a (make-mvar)) (b (make-mvar)))
    (values (lambda (state)
              (mvar-try-take! a)
              (mvar-try-take! b)
              (cond ((not (and (mvar-empty? a) (mvar-empty? b))) 'full)
                    ((not (and (mvar-try-put! a 1) (eqv? 1 (mvar-try-take! a)) (mvar-empty? a))) 'taken)
                    ((not (and (mvar-try-put! b 1) (eqv? 1 (mvar-try-take! b)) (mvar-empty? b))) 'taken)
                    (else #f)))
            (lambda () (mvar-take! a) (mvar-put! b 1) (mvar-put! b 2) (mvar-read a))
            (lambda ()
              (mvar-try-put! a 1) (thread-yield!) (mvar-try-take! b) (thread-yield!) (mvar-try-take! b)
              (thread-yield!) (mvar-try-put! a 2) (thread-yield!) (mvar-try-take! b)
              (let loop ((i 0)) (if (< i 5) (begin (mvar-try-put! a 3) (mvar-try-take! b) (thread-yield!) (loop (+ i 1)))))))))

;; Channels with and without room, and select: values come in order, none twice.
(define (selecting capacity)
  (lambda ()
    (let ((c (make-channel capacity)) (d (make-channel capacity)) (got '()))
      (define (receive x) (if (number? x) (set! got (cons x got))))
      (values (lambda (state)
                (or (if (strictly-increasing? (reverse got)) #f (list 'order got))
                    (bad-channel c)
                    (bad-channel d)))
              (lambda ()
                (let loop ((i 0))
                  (if (< i 3)
                      (begin
                        (select (get c (x) (receive x)) (put d i #t))
                        (loop (+ i 1))))))
              (lambda ()
                (let loop ((i 0))
                  (if (< i 6)
                      (begin
                        (select (put c i #t) (get d (x) #t) (else (thread-yield!)))
                        (loop (+ i 1)))))
                ;; Until the victim is through.
                (let loop ((i 0))
                  (if (< i 8)
                      (begin (channel-try-get! d) (channel-try-put! c (+ 10 i)) (thread-yield!) (loop (+ i 1))))))))))

;; Closing wakes everybody.
(define (closing)
  (let ((c (make-channel)) (d (make-channel)))
    (values (lambda (state)
              (channel-close! d)
              (cond ((not (and (channel-closed? c) (eof-object? (channel-get! c)))) 'open) (else #f)))
            (lambda () (guard (e ((error-object? e) #f)) (channel-put! c 1)))
            (lambda () (guard (e ((error-object? e) #f)) (select (put c 2 #t) (get d (x) #t))))
            (lambda () (thread-yield!) (thread-yield!) (channel-close! c)))))

;; Time-outs while what is waited for comes: either it has it, or not.
(define (timing)
  (let ((m (make-mutex)) (c (make-channel)) (mine 'unknown) (got 'nothing) (sent 'unknown))
    (mutex-lock! m #f #f)
    (values (lambda (state)
              (cond ((and (eq? state 'done) (eq? mine #f) (not (eq? (mutex-state m) 'not-abandoned))) 'not-handed-over)
                    ((and (eq? state 'done) (eq? mine #t) (not (eq? (mutex-state m) 'abandoned))) (list 'mine (mutex-state m)))
                    ((and (eq? sent #t) (eq? got 'late)) 'lost)
                    ((and (eq? sent #f) (eqv? got 1)) 'twice)
                    (else (bad-channel c))))
            (lambda ()
              (set! mine (mutex-lock! m 0.001))
              (set! got (select (get c (x) x) (after 0.001 'late)))
              (thread-sleep! 0.0001))
            (lambda ()
              (thread-yield!)
              (mutex-unlock! m)
              (thread-yield!)
              (set! sent (channel-try-put! c 1))))))

;; A pool, one of whose workers is the victim: each thing submitted ends, with a value or an error.
(define (pooling)
  (let* ((before (all-threads))
         (pool (make-thread-pool 2))
         (workers (filter (lambda (t) (not (memq t before))) (all-threads)))
         (done '()))
    (values (lambda (state)
              (let ((failed (length (filter symbol? done))))
                (if (and (= (length done) 4) (<= failed 1)) #f done)))
            (car workers)
            (lambda ()
              (for-each (lambda (f) (set! done (cons (guard (e (#t 'failed)) (touch f)) done)))
                        (map (lambda (i) (thread-pool-submit! pool (lambda () (thread-yield!) i))) '(1 2 3 4)))
              (thread-pool-shutdown! pool)))))
(every-safepoint 'locking locking 'terminate 'raise 'time-out 'interrupt 'delay)
(every-safepoint 'signalling signalling 'terminate 'raise 'time-out 'interrupt)
(every-safepoint 'updating updating 'raise 'time-out 'interrupt)
(every-safepoint 'passing passing 'terminate 'raise 'time-out 'interrupt)
(every-safepoint 'meeting (selecting 0) 'terminate 'raise 'time-out 'interrupt)
(every-safepoint 'room (selecting 2) 'terminate 'raise 'time-out 'interrupt)
(every-safepoint 'closing closing 'terminate 'raise 'time-out 'interrupt)
(every-safepoint 'timing timing 'terminate 'raise 'time-out 'interrupt 'delay)
(every-safepoint 'pooling pooling 'terminate 'raise 'interrupt)
