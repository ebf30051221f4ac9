;;; (cairn place): several processors for one program; docs/places.md is for users.
;;;
;;; A place is a runtime of its own: a heap, green threads, an OS thread on which they run.  It begins with a copy of
;;; the variables of the program as they are in the place that makes it, and calls a thunk that was sent along.  Places
;;; share nothing; what they say to each other is copied (cairn-rt/src/places).
;;;
;;; Whoever waits for a channel or a place parks its green thread only.  The order is: listen, look, wait, all masked,
;;; so that a change after the look finds the thread in the queue of the doorbell.

(define-library (cairn place)
  (export place place-spawn place? place-name place-wait place-done? place-kill! place-map place-count
          make-place-channel place-channel? place-channel-put! place-channel-get! place-channel-try-get!
          place-channel-close! place-copy)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control) (cairn scheduler))
  (begin

    ;; id: the runtime's number; it holds on to what has one as long as the record lives.
    (define-record-type <place> (new-place id name) place? (id place-id) (name name-of))
    (define-record-type <place-channel> (new-channel id) place-channel? (id channel-id))
    (show-fields! <place> '())
    (show-fields! <place-channel> '())

    ;; What continuations become among the variables of a place.
    (define (continuation-of-another-place . values)
      (error "a continuation of another place was called"))

    ;; The compiler knows programs with places by this runtime call (crate cairn, pipeline.rs).
    (define (know-places!)
      (%place-types! <place> <place-channel> continuation-of-another-place))

    (define (check-place who x)
      (if (place? x) x (wrong-type who "a place" x)))
    (define (check-channel who x)
      (if (place-channel? x) x (wrong-type who "a place channel" x)))

    ;;;; Waiting

    ;; What `look` gives when it does not give #f any more; until then this waits for changes of these records.
    (define (await records look)
      (let ((x (look)))
        (if x
            x
            (begin
              (ensure-started!)
              (mask!)
              (let* ((fd (listen records #f)) (x (look)))
                (if (%not x) (wait-for-ring! fd))
                (unmask!)
                (if x x (await records look)))))))

    (define (listen records fd)
      (if (%pair? records)
          (listen (%cdr records) (%place-listen! (%car records)))
          fd))

    ;;;; Places

    (define place-number 0)
    (define (numbered-name)
      (set! place-number (%fx+ place-number 1))
      (%string-append "place-" (%num->string place-number 10)))

    (define place-spawn
      (case-lambda
        ((thunk) (place-spawn thunk (numbered-name)))
        ((thunk name)
         (check-procedure "place-spawn" thunk)
         (if (%not (%string? name)) (wrong-type "place-spawn" "a string" name))
         (start-place! thunk name))))

    (define-syntax place
      (syntax-rules ()
        ((_ body ...) (place-spawn (lambda () body ...)))))

    (define (start-place! thunk name)
      (know-places!)
      (let ((p (new-place #f name)))
        (%place-start! p (lambda () (live thunk name)))
        p))

    ;; What a place does.
    (define (live thunk name)
      (become-place! name end-with-value end-with-error)
      (finish! (thunk)))

    (define (finish! v)
      (let ((rest (%place-finish! 1 v)))
        (if rest (error "place: its value cannot be sent to another place:" (%vector-ref rest 0)))))

    (define (end-with-value v)
      (finish! v)
      (exit #t))

    ;; Nobody handles what was raised, which has been reported.
    (define (end-with-error obj)
      (if (%place-finish! 2 obj)
          (%place-finish! 2 (make-condition 'other #f
                                            (if (condition? obj) (condition->string obj) (write-to-string obj))
                                            '() (no-site))))
      (emergency-exit 70))

    (define (place-name p) (name-of (check-place "place-name" p)))
    (define (place-done? p) (if (%place-outcome (check-place "place-done?" p)) #t #f))
    (define (place-kill! p) (%place-kill! (check-place "place-kill!" p)))

    ;; The value of its thunk; what ended it instead is raised.
    (define (place-wait p)
      (check-place "place-wait" p)
      (let* ((outcome (await (%cons p '()) (lambda () (%place-outcome p)))) (how (%car outcome)))
        (cond
          ((%fx= how 1) (%car (%cdr outcome)))
          ((%fx= how 2) (raise (%car (%cdr outcome))))
          ((%fx= how 3) (error "place-wait: the place ended by itself with exit status" (%car (%cdr outcome)) p))
          (else (error "place-wait: the place was killed:" p)))))

    ;; How many places can compute at the same time.
    (define (place-count) (%place-processors))

    ;;;; Channels

    (define (make-place-channel)
      (know-places!)
      (let ((c (new-channel #f)))
        (%place-channel! c)
        c))

    (define (place-channel-put! c x)
      (let ((sent (%place-put! (check-channel "place-channel-put!" c) x)))
        (cond
          ((%vector? sent) (error "place-channel-put!: cannot be sent to another place:" (%vector-ref sent 0)))
          ((%not sent) (error "place-channel-put!: the channel is closed:" c)))))

    (define (place-channel-close! c)
      (%place-close! (check-channel "place-channel-close!" c)))

    (define (place-channel-get! c)
      (check-channel "place-channel-get!" c)
      (let ((x (await (%cons c '()) (lambda () (%place-get c)))))
        (if (%vector? x) (%vector-ref x 0) '#!eof)))

    (define place-channel-try-get!
      (case-lambda
        ((c) (place-channel-try-get! c #f))
        ((c default)
         (let ((x (%place-get (check-channel "place-channel-try-get!" c))))
           (cond
             ((%vector? x) (%vector-ref x 0))
             (x '#!eof)
             (else default))))))

    ;; A copy as another place would get it.
    (define (place-copy x)
      (let* ((c (make-place-channel)) (sent (%place-put! c x)))
        (if (%vector? sent)
            (error "place-copy: cannot be copied for another place:" (%vector-ref sent 0))
            (place-channel-get! c))))

    ;;;; A parallel map

    ;; The results in the order of the items.  Items are given out one by one, so it does not matter whether some take
    ;; longer than others; an error is raised here, and ends the other places.
    (define place-map
      (case-lambda
        ((f items) (place-map f items (place-count)))
        ((f items most)
         (check-procedure "place-map" f)
         (if (%not (%list? items)) (wrong-type "place-map" "a list" items))
         (if (%not (if (%fixnum? most) (%fx< 0 most) #f)) (wrong-type "place-map" "a number of places" most))
         (let ((n (%length items)))
           (if (%fx= n 0) '() (map-in-places f items n (if (%fx< n most) n most)))))))

    (define (map-in-places f items n places)
      (let ((work (make-place-channel)) (results (make-place-channel)) (all (%make-vector n #f)))
        (define (worker)
          (let ((task (place-channel-get! work)))
            (if (%pair? task)
                (begin
                  (place-channel-put! results (%cons (%car task) (f (%cdr task))))
                  (worker)))))
        (let put ((i 0) (items items))
          (if (%pair? items)
              (begin
                (place-channel-put! work (%cons i (%car items)))
                (put (%fx+ i 1) (%cdr items)))))
        (place-channel-close! work)
        (let ((workers (let spawn ((i 0))
                         (if (%fx= i places) '() (%cons (place-spawn worker) (spawn (%fx+ i 1)))))))
          ;; A result, or a worker that has ended before all results were there.
          (define (look)
            (let ((x (%place-get results)))
              (if x x (failed-among workers))))
          (let collect ((left n))
            (if (%fx< 0 left)
                (let ((x (await (%cons results workers) look)))
                  (if (%vector? x)
                      (let ((result (%vector-ref x 0)))
                        (%vector-set! all (%car result) (%cdr result))
                        (collect (%fx- left 1)))
                      (begin
                        (for-all place-kill! workers)
                        (place-wait x))))))
          (for-all place-wait workers)
          (%vector->list all 0 n))))

    (define (failed-among places)
      (cond
        ((%null? places) #f)
        ((let ((outcome (%place-outcome (%car places))))
           (if outcome (%not (%fx= 1 (%car outcome))) #f))
         (%car places))
        (else (failed-among (%cdr places)))))

    (define (for-all f items)
      (if (%pair? items)
          (begin
            (f (%car items))
            (for-all f (%cdr items)))))))
