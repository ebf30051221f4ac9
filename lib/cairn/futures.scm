;;; Futures and pools of threads.
;;;
;;; A future is a thread whose value, or error, somebody will ask for: so an error is not said when it happens, but
;;; raised where the future is touched.  A pool is a number of threads that do what is submitted, one after another,
;;; through a channel; what is submitted is a future.

;;;; Threads whose errors somebody asks for

;; What the thunk returns, or raises, as a pair.
(define (attempt thunk)
  (call-with-current-continuation
   (lambda (k)
     (with-exception-handler
      (lambda (obj) (k (%cons #f obj)))
      (lambda () (%cons #t (thunk)))))))

;; outcome: an MVar of what `attempt` returns.
(define-record-type <future> (new-future outcome) future? (outcome outcome-of))

(show-fields! <future> '())
(unsendable! <future>)

(define (make-future thunk)
  (check-procedure "make-future" thunk)
  (let ((outcome (make-mvar)))
    (thread-start! (make-thread (lambda () (mvar-put! outcome (attempt thunk))) "future"))
    (new-future outcome)))

(define-syntax future
  (syntax-rules ()
    ((_ body ...) (make-future (lambda () body ...)))))

(define (check-future who x)
  (if (future? x) x (wrong-type who "a future" x)))

(define (future-done? f) (%not (mvar-empty? (outcome-of (check-future "future-done?" f)))))

;; The value; what was raised is raised here.
(define (touch f)
  (let ((outcome (mvar-read (outcome-of (check-future "touch" f)))))
    (if (%car outcome) (%cdr outcome) (raise (%cdr outcome)))))

;;;; Threads that are started at once

(define spawn
  (case-lambda
    ((thunk) (thread-start! (make-thread (check-procedure "spawn" thunk))))
    ((thunk name) (thread-start! (make-thread (check-procedure "spawn" thunk) name)))))

;; The value that `thunk` returns within so many seconds; else it is left, and `late` called.
(define (call-with-timeout seconds thunk late)
  (let ((t (current-thread)) (mark (%opaque 'late)))
    (let ((outcome
           (call-with-current-continuation
            (lambda (k)
              (let ((clock (make-thread
                            (lambda ()
                              (thread-sleep! seconds)
                              (thread-interrupt! t (lambda () (if mark (k mark)))))
                            "clock")))
                (dynamic-wind
                 (lambda () (if (%eq? (thread-state clock) 'new) (thread-start! clock)))
                 thunk
                 (lambda () (thread-terminate! clock))))))))
      (if (%eq? outcome mark)
          (late)
          (begin
            ;; The clock may have rung when it was too late for that.
            (set! mark #f)
            outcome)))))

;;;; Pools

(define-record-type thread-pool (new-pool work threads) thread-pool? (work work-of) (threads threads-of))

(show-fields! thread-pool '())
(unsendable! thread-pool)

(define (make-thread-pool n)
  (if (%not (if (%fixnum? n) (%fx< 0 n) #f)) (wrong-type "make-thread-pool" "a number of threads" n))
  (let ((work (make-channel #f)))
    (define (worker)
      (let ((task (channel-get! work)))
        (if (%pair? task)
            (begin
              (mvar-put! (%cdr task) (attempt (%car task)))
              (worker)))))
    (new-pool work
              (let loop ((n n) (threads '()))
                (if (%fx= n 0) threads (loop (%fx- n 1) (%cons (spawn worker "worker") threads)))))))

(define (check-pool who x)
  (if (thread-pool? x) x (wrong-type who "a thread pool" x)))

;; A future of what the thunk returns, when a thread of the pool has called it.
(define (thread-pool-submit! pool thunk)
  (check-pool "thread-pool-submit!" pool)
  (check-procedure "thread-pool-submit!" thunk)
  (let ((outcome (make-mvar)))
    (channel-put! (work-of pool) (%cons thunk outcome))
    (new-future outcome)))

;; Takes nothing more, waits until everything is done.
(define (thread-pool-shutdown! pool)
  (channel-close! (work-of (check-pool "thread-pool-shutdown!" pool)))
  (let loop ((threads (threads-of pool)))
    (if (%pair? threads)
        (begin
          (thread-join! (%car threads))
          (loop (%cdr threads))))))
