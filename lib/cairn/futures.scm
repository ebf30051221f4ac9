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

;; A thread that shall fill `outcome` has ended: by what `attempted` returns, or as it never should, by an error around
;; that or because it called the continuation of another thread.  Masked.
(define (fill-outcome! outcome t result)
  (if (%eq? (mvar:value outcome) nothing)
      (fill-mvar! outcome
        (cond
          ((if (%opaque? result) (%eq? (%opaque-ref result 0) outcome-tag) #f) (%opaque-ref result 1))
          ((%eq? (thread-state t) 'done) (%cons #t result))
          ((%eq? result terminated) (%cons #f (terminated-condition t)))
          (else (%cons #f result))))))

(define outcome-tag (%opaque 'outcome))
(define (attempted thunk) (%opaque outcome-tag (attempt thunk)))

(define (make-future thunk)
  (check-procedure "make-future" thunk)
  (let* ((outcome (make-mvar)) (t (make-thread (lambda () (attempted thunk)) "future")))
    (set-contended! t (%cons (%cons outcome fill-outcome!) '()))
    (thread-start! t)
    (new-future outcome)))

(define-syntax future
  (syntax-rules ()
    ((_ body ...) (make-future (lambda () body ...)))))

(define (check-future who x)
  (if (future? x) x (wrong-type who "a future" x)))

(define (future-done? f) (%not (mvar-empty? (outcome-of (check-future "future-done?" f)))))

;; The value; what was raised is raised here.
(define (touch f) (value-of (mvar-read (outcome-of (check-future "touch" f)))))
(define (value-of outcome)
  (if (%car outcome) (%cdr outcome) (raise (%cdr outcome))))

;;;; Threads that are started at once

(define spawn
  (case-lambda
    ((thunk) (thread-start! (make-thread (check-procedure "spawn" thunk))))
    ((thunk name) (thread-start! (make-thread (check-procedure "spawn" thunk) name)))))

;; The values that `thunk` returns within so many seconds; else it is left, and `late` called.
(define (call-with-timeout seconds thunk late)
  (deadline-of "call-with-timeout" seconds)
  (check-procedure "call-with-timeout" thunk)
  (check-procedure "call-with-timeout" late)
  (let ((t (current-thread)) (mark (%opaque 'late)))
    (let ((outcome
           (call-with-current-continuation
            (lambda (k)
              (let ((clock (make-thread
                            (lambda ()
                              (thread-sleep! seconds)
                              (thread-interrupt! t (lambda () (if mark (k mark)))))
                            "clock")))
                (%receive vals
                    (dynamic-wind
                     (lambda () (if (%eq? (thread-state clock) 'new) (thread-start! clock)))
                     thunk
                     (lambda () (thread-terminate! clock)))
                  vals))))))
      (if (%eq? outcome mark)
          (late)
          (begin
            ;; The clock may have rung when it was too late for that.
            (set! mark #f)
            (list->values outcome))))))

;;;; Pools

;; work: a channel of what is submitted, pairs of a thunk and an MVar for its outcome.  threads: the workers that have
;; not ended, pairs of a thread and what it works on, or #f.  A worker that is terminated, or has an exception raised in
;; it when it does not call a thunk, ends; what it works on fails, and a new one takes its place.
(define-record-type thread-pool (new-pool work threads) thread-pool? (work work-of) (threads threads-of set-threads!))

(show-fields! thread-pool '())
(unsendable! thread-pool)

(define (make-thread-pool n)
  (if (%not (if (%fixnum? n) (%fx< 0 n) #f)) (wrong-type "make-thread-pool" "a number of threads" n))
  (let ((pool (new-pool (make-channel #f) '())))
    (ensure-started!)
    (let loop ((i 0))
      (if (%fx< i n)
          (begin
            (mask!)
            (start-worker! pool)
            (unmask!)
            (loop (%fx+ i 1)))))
    pool))

;; Masked.
(define (start-worker! pool)
  (let* ((state (%cons #f #f)) (t (make-thread (lambda () (work pool state)) "worker")))
    (%set-car! state t)
    (set-threads! pool (%cons state (threads-of pool)))
    (set-contended! t (%cons (%cons (%cons pool state) replace-worker!) '()))
    (start-thread! t)))

;; What a worker does; `state` says what it works on before anybody can interrupt it.
(define (work pool state)
  (mask!)
  (let* ((c (work-of pool)) (now (receive-now! c))
         (task (if (%eq? now nothing) (wait-in! (receivers-of c) #f #f) now)))
    (if (%pair? task) (%set-cdr! state task))
    (unmask!)
    (cond
      ((%pair? task)
       (let ((outcome (attempt (%car task))))
         (mask!)
         (if (%eq? (current-thread) (%car state)) (%set-cdr! state #f))
         (if (%eq? (mvar:value (%cdr task)) nothing) (fill-mvar! (%cdr task) outcome))
         (unmask!)
         ;; Another thread may have called a continuation of the task.
         (if (%eq? (current-thread) (%car state))
             (work pool state)
             (value-of outcome))))
      ((%eq? task interrupted) (work pool state)))))

;; A worker ends.  Masked.
(define (replace-worker! x t result)
  (let* ((pool (%car x)) (state (%cdr x)) (c (work-of pool))
         ;; What it was woken with and has not looked at yet counts, too.
         (task (if (%pair? (%cdr state)) (%cdr state) (result-of t))))
    (set-threads! pool (without state (threads-of pool)))
    (if (%pair? task) (fill-outcome! (%cdr task) t result))
    (if (if (closed? c) (%fx< 0 (count-of c)) #t) (start-worker! pool))))

(define (without x l)
  (cond
    ((%null? l) '())
    ((%eq? (%car l) x) (%cdr l))
    (else (%cons (%car l) (without x (%cdr l))))))

(define (check-pool who x)
  (if (thread-pool? x) x (wrong-type who "a thread pool" x)))

;; A future of what the thunk returns, when a thread of the pool has called it.
(define (thread-pool-submit! pool thunk)
  (check-pool "thread-pool-submit!" pool)
  (check-procedure "thread-pool-submit!" thunk)
  (if (closed? (work-of pool)) (error "thread-pool-submit!: the pool is shut down:" pool))
  (let ((outcome (make-mvar)))
    (channel-put! (work-of pool) (%cons thunk outcome))
    (new-future outcome)))

;; Takes nothing more, waits until everything is done.
(define (thread-pool-shutdown! pool)
  (channel-close! (work-of (check-pool "thread-pool-shutdown!" pool)))
  (let loop ()
    (let ((threads (threads-of pool)))
      (if (%pair? threads)
          (begin
            (wait-for-end! (%car (%car threads)))
            (loop))))))
