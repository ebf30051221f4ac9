;;; How threads begin, end, and are waited for: part of (cairn scheduler).
;;;
;;; Problem.  A thread may be ended by itself, by an error or by another thread, at any moment; whoever waits for it, or
;;; for what it owns, has to hear of that.
;;;
;;; Invariant.  `end!` is the only way out of the ring of threads: it gives up what others wait for (`contended`) and
;;; wakes who joins.

;;;; Beginning and end

(define started #f)

(define (ensure-started!)
  (if (%not started)
      (begin
        (set! started #t)
        (set! random? (%fixnum? (%thread-random 1)))
        (%machine-set! (slot-tick-hook) on-tick)
        (%machine-set! (slot-uncaught-hook) uncaught-in-thread)
        (%machine-set! (slot-wait-hook) wait-for-port!)
        (%machine-set! (slot-interrupt-hook) interrupt-main))))

;; In a place that has just begun, with a copy of another one's variables: here nothing runs but the main thread,
;; which is the current one.  `returned` is called when another thread's continuation has been given a value there,
;; `ended` when nobody handles what it has raised; neither returns.
(define (become-place! name returned ended)
  (set! masked #t)
  ;; What the maker's threads waited for must not find them.
  (let loop ((t (younger main)))
    (stop-waiting! t)
    (if (%not (%eq? t main)) (loop (younger t))))
  (let loop ((t (younger main)))
    (if (%not (%eq? t main))
        (let ((next (younger t)))
          (set-state! t (failed))
          (set-result! t terminated)
          (set-k! t #f)
          (set-older! t #f)
          (set-younger! t #f)
          (loop next))))
  (set-older! main main)
  (set-younger! main main)
  (set-state! main (running))
  (set-k! main #f)
  (set-result! main #f)
  (set-winders! main '())
  (set-joiners! main '())
  (set-timer! main #f)
  (set-pending! main '())
  (set-contended! main '())
  (set! current main)
  (set! turn-ring (%make-vector 64 #f))
  (set! ready-mask 63)
  (set! ready-first 0)
  (set! ready-count 0)
  (set! alarms (%make-vector 16 #f))
  (set! alarm-count 0)
  (set! cancelled 0)
  (set! files (%make-vector 16 #f))
  (set! ticking #f)
  (set! tick-due #f)
  (set! attention #f)
  (set! bottom (make-bottom))
  (set! place-name name)
  (set! return-place returned)
  (set! end-place ended)
  (set! started #f)
  (ensure-started!)
  (set! masked #f))

;; In a place: its name, and what is called with its value, and with what ends it.
(define place-name #f)
(define return-place #f)
(define end-place #f)

(define (thread-start! t)
  (check-thread "thread-start!" t)
  (ensure-started!)
  (mask!)
  (if (is? t new)
      (begin
        (start-thread! t)
        (unmask!)
        t)
      (begin
        (unmask!)
        (error "thread-start!: the thread was started before:" t))))

;; Starts a new thread.  Masked.
(define (start-thread! t)
  (let ((last (older main)))
    (set-older! t last)
    (set-younger! t main)
    (set-younger! last t)
    (set-older! main t)
    (set-state! t (ready))
    (push-ready! t)))

;; Ends a thread.  Masked, if it is another one than the current thread.
(define (end! t state result)
  (set-state! t state)
  (let loop ((l (contended t)))
    (if (%pair? l)
        (begin
          ((%cdr (%car l)) (%car (%car l)) t result)
          (loop (%cdr l)))))
  (set-contended! t '())
  (set-result! t result)
  (set-k! t #f)
  (set-winders! t '())
  (set-pending! t '())
  (let ((before (older t)) (after (younger t)))
    (if before
        (begin
          (set-younger! before after)
          (set-older! after before)
          (set-older! t #f)
          (set-younger! t #f))))
  (if (%not (%null? (joiners-of t)))
      (begin
        (wake-all! (joiners-of t) joined)
        (set-joiners! t '()))))

(define joined (%opaque 'joined))

;; The thunk of a thread has returned `v`.  The thread that ends is the current one, which need not be the one that
;; called the thunk: a continuation of that may have been called in another.  The end of the main thread is the
;; program's, or the place's.
(define (thread-return! v)
  (cond
    ((%not (%eq? current main)) (thread-end! current (done) v))
    (return-place (return-place v))
    (else (exit #t))))

;; Ends the current thread.
(define (thread-end! t state result)
  (mask!)
  (end! t state result)
  (resume (next-thread)))

(define (thread-terminate! t)
  (check-thread "thread-terminate!" t)
  (if (%eq? t main)
      (exit #f)
      (begin
        (mask!)
        (cond
          ((ended? t) (unmask!))
          ((%eq? t current) (thread-end! t (failed) terminated))
          (else
           ;; It may be waiting: nothing may find it any more.
           (if (is? t waiting)
               (wake! t #f)
               (if (is? t ready) (pass-on! (result-of t))))
           (end! t (failed) terminated)
           (unmask!))))))

(define (thread-interrupt! t thunk)
  (check-thread "thread-interrupt!" t)
  (check-procedure "thread-interrupt!" thunk)
  (mask!)
  (if (%not (ended? t)) (post! t thunk))
  (unmask!))

(define (thread-raise! t obj)
  (check-thread "thread-raise!" t)
  (thread-interrupt! t (lambda () (raise obj))))

;; The interrupt hook.
(define (interrupt-main thunk)
  (cond
    (masked (post! main thunk))
    ((%eq? current main) (thunk))
    (else
     (mask!)
     (post! main thunk)
     (unmask!))))

;;;; Joining

;; What is wrong with threads, as conditions: the kind tells, the irritants are whose it is, and why.
(define (thread-condition kind message . irritants)
  (make-condition kind #f message irritants (no-site)))
(define (thread-condition? x kind)
  (if (condition? x) (%eq? (condition-kind x) kind) #f))
(define (join-timeout-exception? x) (thread-condition? x 'join-timeout))
(define (terminated-thread-exception? x) (thread-condition? x 'terminated-thread))
(define (uncaught-exception? x) (thread-condition? x 'uncaught))
(define (uncaught-exception-reason x)
  (if (uncaught-exception? x)
      (%car (%cdr (condition-irritants x)))
      (wrong-type "uncaught-exception-reason" "an uncaught exception" x)))

(define (terminated-condition t)
  (thread-condition 'terminated-thread "thread-join!: the thread was terminated:" t))

;; The result of a terminated thread.
(define terminated (%opaque 'terminated))

(define thread-join!
  (case-lambda
    ((t) (join t #f #f #f))
    ((t timeout) (join t timeout #f #f))
    ((t timeout default) (join t timeout #t default))))

(define (join t timeout default? default)
  (check-thread "thread-join!" t)
  (let ((deadline (deadline-of "thread-join!" timeout)))
    (let loop ()
      (mask!)
      (cond
        ((ended? t)
         (unmask!)
         (outcome t))
        ((past? deadline)
         (unmask!)
         (if default? default (raise (thread-condition 'join-timeout "thread-join!: time has run out for" t))))
        (else
         (if (%null? (joiners-of t)) (set-joiners! t (make-queue)))
         (wait-in! (joiners-of t) #f deadline)
         (unmask!)
         (loop))))))

;; Waits for the end of a thread, however it ends.
(define (wait-for-end! t)
  (mask!)
  (if (ended? t)
      (unmask!)
      (begin
        (if (%null? (joiners-of t)) (set-joiners! t (make-queue)))
        (wait-in! (joiners-of t) #f #f)
        (unmask!)
        (wait-for-end! t))))

(define (outcome t)
  (let ((result (result-of t)))
    (cond
      ((is? t done) result)
      ((%eq? result terminated)
       (raise (terminated-condition t)))
      (else
       (raise (thread-condition 'uncaught "thread-join!: the thread ended with an error:" t result))))))
