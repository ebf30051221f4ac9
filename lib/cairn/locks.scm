;;; Mutexes and condition variables, as SRFI 18 has them.
;;;
;;; A mutex is handed over: who unlocks it makes the first thread that waits its owner, so nobody waits for ever and no
;;; thread is woken for nothing.  A mutex whose owner has ended is abandoned: that is found out when somebody looks, or,
;;; if others wait already, when the owner ends, whose field `contended` tells.

;; owner: the thread; not-owned: locked by nobody in particular; not-abandoned and abandoned: free.
(define-record-type mutex
  (new-mutex name owner queue specific)
  mutex?
  (name mutex:name)
  (owner owner-of set-owner!)
  (queue mutex:queue set-mutex:queue!)
  (specific mutex:specific set-mutex:specific!))

(show-fields! mutex '(name))
(unsendable! mutex)

(define make-mutex
  (case-lambda
    (() (make-mutex #f))
    ((name) (new-mutex name 'not-abandoned '() #f))))

(define (check-mutex who x)
  (if (mutex? x) x (wrong-type who "a mutex" x)))
(define (mutex-name m) (mutex:name (check-mutex "mutex-name" m)))
(define (mutex-specific m) (mutex:specific (check-mutex "mutex-specific" m)))
(define (mutex-specific-set! m x) (set-mutex:specific! (check-mutex "mutex-specific-set!" m) x))

(define (mutex-state m)
  (let ((owner (owner-of (check-mutex "mutex-state" m))))
    (if (if (thread? owner) (ended? owner) #f) 'abandoned owner)))

(define (abandoned-mutex-exception? x) (thread-condition? x 'abandoned-mutex))
(define (abandoned-mutex m)
  (raise (thread-condition 'abandoned-mutex "mutex-lock!: the thread that had locked it has ended:" m)))

;; What a thread is woken with that has got the mutex.
(define granted (%opaque 'granted))
(define granted-abandoned (%opaque 'granted-abandoned))

(define mutex-lock!
  (case-lambda
    ((m) (lock! m #f (current-thread)))
    ((m timeout) (lock! m timeout (current-thread)))
    ((m timeout thread) (lock! m timeout (if thread thread 'not-owned)))))

(define (lock! m timeout owner)
  (check-mutex "mutex-lock!" m)
  (if (%not (if (thread? owner) #t (%eq? owner 'not-owned)))
      (wrong-type "mutex-lock!" "a thread or #f" owner))
  (let ((deadline (deadline-of "mutex-lock!" timeout)))
    (let loop ()
      (mask!)
      (let ((state (mutex-state m)))
        (cond
          ((%eq? state 'not-abandoned)
           (set-owner! m owner)
           (unmask!)
           #t)
          ((%eq? state 'abandoned)
           (set-owner! m owner)
           (unmask!)
           (abandoned-mutex m))
          ((past? deadline)
           (unmask!)
           #f)
          (else
           (if (%null? (mutex:queue m)) (set-mutex:queue! m (make-queue)))
           (if (if (queue-empty? (mutex:queue m)) (thread? state) #f) (note-contended! state m))
           (let ((v (wait-in! (mutex:queue m) owner deadline)))
             (unmask!)
             (cond
               ((%eq? v granted) #t)
               ((%eq? v granted-abandoned) (abandoned-mutex m))
               (else
                ;; It has nothing yet that an interrupt could make it lose.
                (if (%eq? v interrupted) (serve-pending!))
                (loop))))))))))

;; Notes that others wait for a mutex that `t` owns; forgets those that it does not own any more.
(define (note-contended! t m)
  (set-contended! t
    (%cons (%cons m abandon!)
           (let loop ((l (contended t)))
             (cond
               ((%null? l) '())
               ((%not (mutex? (%car (%car l)))) (%cons (%car l) (loop (%cdr l))))
               ((%eq? (%car (%car l)) m) (loop (%cdr l)))
               ((%eq? (owner-of (%car (%car l))) t) (%cons (%car l) (loop (%cdr l))))
               (else (loop (%cdr l))))))))

(define (abandon! m t result)
  (if (%eq? (owner-of m) t) (hand-over! m 'abandoned granted-abandoned)))

;; Gives a mutex to the first thread that waits, or leaves it in state `free`.  Masked.
(define (hand-over! m free grant)
  (let ((q (mutex:queue m)))
    (if (queue-empty? q)
        (set-owner! m free)
        (let* ((cell (first-cell q)) (owner (cell-datum cell)))
          (set-owner! m owner)
          (deliver! cell grant)
          (if (if (queue-empty? q) #f (thread? owner)) (note-contended! owner m))))))

(define mutex-unlock!
  (case-lambda
    ((m)
     (check-mutex "mutex-unlock!" m)
     (mask!)
     (hand-over! m 'not-abandoned granted)
     (unmask!)
     #t)
    ((m cv) (mutex-unlock! m cv #f))
    ((m cv timeout)
     (check-mutex "mutex-unlock!" m)
     (check-condition-variable "mutex-unlock!" cv)
     (let ((deadline (deadline-of "mutex-unlock!" timeout)))
       (mask!)
       (hand-over! m 'not-abandoned granted)
       (wait-on cv deadline)))))

;; Waits on a condition variable: #f when time has run out.  After an interrupt it does not wait again, for it would not
;; have heard a signal meanwhile: who waits looks again at what it waits for.  Masked; afterwards not.
(define (wait-on cv deadline)
  (if (%null? (condition-variable:queue cv)) (set-condition-variable:queue! cv (make-queue)))
  (let ((v (wait-in! (condition-variable:queue cv) #f deadline)))
    ;; A signal that an interrupt may make it lose is the next one's.
    (if (has-pending? (current-thread)) (pass-on! v))
    (unmask!)
    (%not (%eq? v timed-out))))

;; The mutex is locked while the thunk runs, also when it is entered again.
(define (call-with-mutex m thunk)
  (protect
   (lambda () (mutex-lock! m))
   thunk
   (lambda () (mutex-unlock! m))))

(define-syntax with-mutex
  (syntax-rules ()
    ((_ m body ...) (call-with-mutex m (lambda () body ...)))))

;;;; Condition variables

(define-record-type condition-variable
  (new-condition-variable name queue specific)
  condition-variable?
  (name condition-variable:name)
  (queue condition-variable:queue set-condition-variable:queue!)
  (specific condition-variable:specific set-condition-variable:specific!))

(show-fields! condition-variable '(name))
(unsendable! condition-variable)

(define make-condition-variable
  (case-lambda
    (() (make-condition-variable #f))
    ((name) (new-condition-variable name '() #f))))

(define (check-condition-variable who x)
  (if (condition-variable? x) x (wrong-type who "a condition variable" x)))
(define (condition-variable-name cv)
  (condition-variable:name (check-condition-variable "condition-variable-name" cv)))
(define (condition-variable-specific cv)
  (condition-variable:specific (check-condition-variable "condition-variable-specific" cv)))
(define (condition-variable-specific-set! cv x)
  (set-condition-variable:specific! (check-condition-variable "condition-variable-specific-set!" cv) x))

(define (condition-variable-signal! cv)
  (check-condition-variable "condition-variable-signal!" cv)
  (mask!)
  (signal! (condition-variable:queue cv))
  (unmask!))

(define (condition-variable-broadcast! cv)
  (check-condition-variable "condition-variable-broadcast!" cv)
  (mask!)
  (let ((q (condition-variable:queue cv)))
    (let loop ()
      (if (%not (queue-empty? q))
          (begin
            (deliver! (first-cell q) #t)
            (loop)))))
  (unmask!))

;;;; SRFI 18's time

(define (current-time) (make-time (%current-second)))
(define (time->seconds time)
  (if (time? time) (time-seconds time) (wrong-type "time->seconds" "a time" time)))
(define (seconds->time seconds)
  (if (if (%number? seconds) (%num-rational? seconds) #f)
      (make-time seconds)
      (wrong-type "seconds->time" "a real number" seconds)))

(define (current-exception-handler)
  (let ((handlers (%machine-ref (slot-handlers))))
    (cond
      ((%null? handlers) uncaught)
      ((%procedure? (%car handlers)) (%car handlers))
      (else (lambda (obj) (%call-handler (%car handlers) obj))))))
