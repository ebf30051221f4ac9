;;; Time, as the scheduler knows it: part of (cairn scheduler).
;;;
;;; Problem.  Of a hundred thousand threads that wait with a time-out, hardly any waits so long: most alarms are set
;;; and cancelled again.
;;;
;;; Idea.  Alarms are a binary heap, the earliest one first.  One that is cancelled stays where it is and has no thread
;;; any more; when half of them are such, the heap is made anew.
;;;
;;; Invariant.  An alarm that has a thread is that thread's field `timer`.

;; SRFI 18's time objects: seconds since 1970.
(define-record-type time (make-time seconds) time? (seconds time-seconds))

;; More than that is for ever.
(define longest 1000000000)

;; The jiffy that a time-out means: #f, a time, or a number of seconds from now.
(define (deadline-of who timeout)
  (cond
    ((%not timeout) #f)
    ((time? timeout) (jiffy-at (%- (time-seconds timeout) (epoch))))
    ((if (%number? timeout) (%num-rational? timeout) #f)
     (jiffy-at (%+ timeout (%/ (%current-jiffy) 1000000000))))
    ((if (%number? timeout) (%eqv? timeout +inf.0) #f) #f)
    (else (wrong-type who "a time, a number of seconds or #f" timeout))))

;; When the jiffies began, in seconds since 1970: looked at once, so that of two times the earlier one comes first.
(define epoch-seconds #f)
(define (epoch)
  (if (%not epoch-seconds)
      (set! epoch-seconds (%- (%current-second) (%/ (%current-jiffy) 1000000000))))
  epoch-seconds)

;; The jiffy so many seconds after the first; #f if that is too far away.
(define (jiffy-at seconds)
  (cond
    ((%< longest seconds) #f)
    ((%< seconds 0) 0)
    (else (%num-exact (%num-floor (%* seconds 1000000000))))))

(define (past? deadline)
  (if deadline (%fx<= deadline (%current-jiffy)) #f))

;; Alarms: a binary heap of opaque objects, 0 jiffy, 1 thread or #f when cancelled.
(define alarms (%make-vector 16 #f))
(define alarm-count 0)
(define cancelled 0)

(define (set-alarm! t deadline)
  (let ((alarm (%opaque deadline t)))
    (if (%fx= alarm-count (%vector-length alarms))
        (let ((new (%make-vector (%fx* 2 alarm-count) #f)))
          (%vector-copy! new 0 alarms 0 alarm-count)
          (set! alarms new)))
    (set-timer! t alarm)
    (set! alarm-count (%fx+ alarm-count 1))
    (sift-up! alarm (%fx- alarm-count 1))
    (if (%not ticking) (start-ticker!))))

(define (cancel-timer! t)
  (%opaque-set! (timer-of t) 1 #f)
  (set-timer! t #f)
  (set! cancelled (%fx+ cancelled 1))
  (if (%fx< (%fx+ 64 (%fxsra alarm-count 1)) cancelled) (purge-alarms!)))

(define (earlier? a b) (%fx< (%opaque-ref a 0) (%opaque-ref b 0)))

(define (sift-up! alarm i)
  (if (%fx= i 0)
      (%vector-set! alarms 0 alarm)
      (let* ((parent (%fxsra (%fx- i 1) 1)) (p (%vector-ref alarms parent)))
        (if (earlier? alarm p)
            (begin
              (%vector-set! alarms i p)
              (sift-up! alarm parent))
            (%vector-set! alarms i alarm)))))

(define (sift-down! alarm i)
  (let ((child (%fx+ 1 (%fx* 2 i))))
    (if (%fx< child alarm-count)
        (let* ((right (%fx+ child 1))
               (child (if (if (%fx< right alarm-count)
                              (earlier? (%vector-ref alarms right) (%vector-ref alarms child))
                              #f)
                          right
                          child))
               (c (%vector-ref alarms child)))
          (if (earlier? c alarm)
              (begin
                (%vector-set! alarms i c)
                (sift-down! alarm child))
              (%vector-set! alarms i alarm)))
        (%vector-set! alarms i alarm))))

(define (drop-first-alarm!)
  (set! alarm-count (%fx- alarm-count 1))
  (let ((last (%vector-ref alarms alarm-count)))
    (%vector-set! alarms alarm-count #f)
    (if (%fx< 0 alarm-count) (sift-down! last 0))))

;; Half of them are cancelled: makes the heap anew.
(define (purge-alarms!)
  (let ((old alarms) (n alarm-count))
    (set! alarms (%make-vector (%vector-length old) #f))
    (set! alarm-count 0)
    (set! cancelled 0)
    (let loop ((i 0))
      (if (%fx< i n)
          (let ((alarm (%vector-ref old i)))
            (if (%opaque-ref alarm 1)
                (begin
                  (set! alarm-count (%fx+ alarm-count 1))
                  (sift-up! alarm (%fx- alarm-count 1))))
            (loop (%fx+ i 1)))))))

;; Nanoseconds until the next alarm; -1: there is none.
(define (time-to-next)
  (cond
    ((%fx= alarm-count 0) -1)
    ((%opaque-ref (%vector-ref alarms 0) 1)
     (let ((time (%fx- (%opaque-ref (%vector-ref alarms 0) 0) (%current-jiffy))))
       (if (%fx< time 0) 0 time)))
    (else
     (drop-first-alarm!)
     (set! cancelled (%fx- cancelled 1))
     (time-to-next))))

(define (ring-alarms!)
  (if (%fx= (time-to-next) 0)
      (let ((t (%opaque-ref (%vector-ref alarms 0) 1)))
        (drop-first-alarm!)
        (set-timer! t #f)
        (wake! t timed-out)
        (ring-alarms!))))

(define (thread-sleep! timeout)
  (let ((deadline (deadline-of "thread-sleep!" timeout)))
    (let loop ()
      (mask!)
      (if (past? deadline)
          (unmask!)
          (let ((t current))
            (if deadline (set-alarm! t deadline))
            (park t)
            (unmask!)
            (loop))))))
