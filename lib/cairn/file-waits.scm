;;; What threads wait for outside of the program, files, sockets and other places: part of (cairn scheduler).
;;;
;;; Problem.  A read that would block must keep one thread waiting, and not the program.
;;;
;;; Idea.  A port that would block calls the wait hook.  The thread waits in a queue of the file's descriptor, which the
;;; runtime watches (cairn-rt/src/events.rs); when nobody can run, or a turn ends, the system is asked what is ready.
;;;
;;; Invariant.  `file-waits` is the number of threads in these queues, `place-waits` of those among them that wait for
;;; another place.

;; For each file descriptor #f or an opaque object: queues of the threads that want to read, and to write.
(define files (%make-vector 16 #f))
;; How many threads wait there, and how many of these for other places.
(define file-waits 0)
(define place-waits 0)
;; The data of their cells.
(define for-file (%opaque 'for-file))
(define for-place (%opaque 'for-place))

(define (waiting-outside?)
  (if (%fx< 0 file-waits) #t (%fx< 0 alarm-count)))

(define (queues-of fd)
  (if (%fx<= (%vector-length files) fd)
      (let ((new (%make-vector (%fx* 2 (%fx+ fd 1)) #f)))
        (%vector-copy! new 0 files 0 (%vector-length files))
        (set! files new)))
  (let ((queues (%vector-ref files fd)))
    (if queues
        queues
        (let ((queues (%opaque (make-queue) (make-queue))))
          (%vector-set! files fd queues)
          queues))))

;; Waits until a file can be read (what: 1) or written (2).
(define (wait-for-file! fd what)
  (ensure-started!)
  (mask!)
  (let* ((queues (queues-of fd)) (q (%opaque-ref queues (%fx- what 1))))
    (if (%thread-watch fd (if (queue-empty? (%opaque-ref queues (%fx- 2 what))) what 3))
        (begin
          (set! file-waits (%fx+ file-waits 1))
          (if (%not ticking) (start-ticker!))
          (wait-in! q for-file #f)))
    (unmask!)))

(define (wake-all! q v)
  (if (%not (queue-empty? q))
      (begin
        (deliver! (first-cell q) v)
        (wake-all! q v))))

;; Waits until the descriptor `fd`, which is watched anyway, is told of.  Comes back masked, as it is entered.
(define (wait-for-ring! fd)
  (set! file-waits (%fx+ file-waits 1))
  (set! place-waits (%fx+ place-waits 1))
  (if (%not ticking) (start-ticker!))
  (wait-in! (%opaque-ref (queues-of fd) 0) for-place #f))

;; A file is closed: who waits for it shall find out.
(define (forget-file! fd)
  (if (%fx< fd (%vector-length files))
      (let ((queues (%vector-ref files fd)))
        (if queues
            (begin
              (mask!)
              (wake-all! (%opaque-ref queues 0) #f)
              (wake-all! (%opaque-ref queues 1) #f)
              (unmask!))))))

;; Asks the system what is ready, for at most so many nanoseconds.  Masked.
(define (look-outside time)
  (if (if (%fx= time 0) (%fx< 0 file-waits) #t)
      (let loop ((events (%thread-wait time)))
        (if (%eq? events #t) (deadlock (lambda () (error "deadlock: every place waits for another one"))))
        (if (%pair? events)
            (let* ((event (%car events)) (queues (queues-of (%fxsra event 2))))
              (if (%fx= 1 (%fxand event 1)) (wake-all! (%opaque-ref queues 0) #t))
              (if (%fx= 2 (%fxand event 2)) (wake-all! (%opaque-ref queues 1) #t))
              (loop (%cdr events))))))
  (ring-alarms!))

;; The wait hook: a port, or the file with this number, would block.  `what` 0: it is closed.
(define (wait-for-port! port what)
  (let ((fd (if (%fixnum? port) port (%port-ref port (port-field-descriptor)))))
    (if (%fixnum? fd)
        (if (%fx= what 0) (forget-file! fd) (wait-for-file! fd what)))))
