;;; MVars and channels: how threads hand each other values.
;;;
;;; An MVar is a place for one value (Peyton Jones, Gordon & Finne 1996).  At any time either takers wait, because it
;;; is empty, or putters, because it is full; so it has one queue, and none as long as only one thread waits: see
;;; scheduler.sld.  A channel has two, for a `select` may offer to send and to receive.  Whoever finds somebody waiting
;;; on the other side completes both operations at once, so that no value is ever on its way.

;;;; MVars

(define nothing (%opaque 'nothing))
;; The datum of a thread that wants to read an MVar and leave the value there.
(define reader (%opaque 'reader))

(define make-mvar
  (case-lambda
    (() (new-mvar nothing '()))
    ((value) (new-mvar value '()))))

(define (check-mvar who x)
  (if (mvar? x) x (wrong-type who "an MVar" x)))
(define (mvar-empty? m) (%eq? (mvar:value (check-mvar "mvar-empty?" m)) nothing))

;; Waits for what another thread does to the MVar.  Masked.
(define (wait-for-mvar! m datum)
  (let ((waiting (mvar:waiting m)))
    (cond
      ((%null? waiting) (wait-alone! m datum))
      ((%opaque? waiting) (wait-in! waiting datum #f))
      (else
       (accompany! m waiting)
       (wait-in! (mvar:waiting m) datum #f)))))

;; The value of a full MVar leaves it: the first putter that waits comes next.  Masked.
(define (empty-mvar! m)
  (let ((waiting (mvar:waiting m)))
    (cond
      ((%null? waiting) (set-mvar:value! m nothing))
      ((%not (%opaque? waiting))
       (set-mvar:value! m (datum-of waiting))
       (wake-alone! m waiting #t))
      ((queue-empty? waiting) (set-mvar:value! m nothing))
      (else
       (let ((cell (first-cell waiting)))
         (set-mvar:value! m (cell-datum cell))
         (deliver! cell #t))))))

;; A value comes to an empty MVar: readers see it, the first taker has it.  Masked.
(define (fill-mvar! m v)
  (let ((waiting (mvar:waiting m)))
    (cond
      ((%null? waiting) (set-mvar:value! m v))
      ((%not (%opaque? waiting))
       (if (%eq? (datum-of waiting) reader) (set-mvar:value! m v))
       (wake-alone! m waiting v))
      ((queue-empty? waiting) (set-mvar:value! m v))
      (else
       (let* ((cell (first-cell waiting)) (reads? (%eq? (cell-datum cell) reader)))
         (deliver! cell v)
         (if reads? (fill-mvar! m v)))))))

(define (mvar-take! m)
  (check-mvar "mvar-take!" m)
  (let loop ()
    (mask!)
    (let ((v (mvar:value m)))
      (if (%eq? v nothing)
          (let ((v (wait-for-mvar! m #f)))
            (unmask!)
            (if (%eq? v interrupted)
                (begin
                  (serve-pending!)
                  (loop))
                v))
          (begin
            (empty-mvar! m)
            (unmask!)
            v)))))

(define (mvar-read m)
  (check-mvar "mvar-read" m)
  (let loop ()
    (mask!)
    (let ((v (mvar:value m)))
      (if (%eq? v nothing)
          (let ((v (wait-for-mvar! m reader)))
            (unmask!)
            (if (%eq? v interrupted) (loop) v))
          (begin
            (unmask!)
            v)))))

(define (mvar-put! m v)
  (check-mvar "mvar-put!" m)
  (let loop ()
    (mask!)
    (if (%eq? (mvar:value m) nothing)
        (begin
          (fill-mvar! m v)
          (unmask!))
        (let ((answer (wait-for-mvar! m v)))
          (unmask!)
          (if (%eq? answer interrupted) (loop))))))

;; The value, or `default` if there is none now.
(define mvar-try-take!
  (case-lambda
    ((m) (mvar-try-take! m #f))
    ((m default)
     (check-mvar "mvar-try-take!" m)
     (mask!)
     (let ((v (mvar:value m)))
       (if (%not (%eq? v nothing)) (empty-mvar! m))
       (unmask!)
       (if (%eq? v nothing) default v)))))

;; Was there room?
(define (mvar-try-put! m v)
  (check-mvar "mvar-try-put!" m)
  (mask!)
  (let ((empty? (%eq? (mvar:value m) nothing)))
    (if empty? (fill-mvar! m v))
    (unmask!)
    empty?))

;; Puts what `f` makes of the value back; the value itself, if that fails.
(define (mvar-update! m f)
  (let ((new #f))
    (protect
     (lambda () (set! new (mvar-take! m)))
     (lambda () (set! new (f new)))
     (lambda () (mvar-put! m new)))
    new))

;;;; Channels

;; capacity: how many values it holds, #f without limit.  buffer: a ring.
(define-record-type channel
  (new-channel capacity buffer first count senders receivers closed)
  channel?
  (capacity capacity-of)
  (buffer buffer-of set-buffer!)
  (first first-of set-first!)
  (count count-of set-count!)
  (senders senders-of)
  (receivers receivers-of)
  (closed closed? set-closed!))

(show-fields! channel '(capacity))
(unsendable! channel)

(define make-channel
  (case-lambda
    (() (make-channel 0))
    ((capacity)
     (if (if (%fixnum? capacity) (%fx<= 0 capacity) (%not capacity))
         (new-channel capacity (%make-vector (if capacity (if (%fx< capacity 16) capacity 16) 16) #f) 0 0
                      (make-queue) (make-queue) #f)
         (wrong-type "make-channel" "the number of values it may hold, or #f" capacity)))))

(define (check-channel who x)
  (if (channel? x) x (wrong-type who "a channel" x)))
(define (channel-closed? c) (closed? (check-channel "channel-closed?" c)))
;; How many values it holds.
(define (channel-count c) (count-of (check-channel "channel-count" c)))

(define (room? c)
  (let ((capacity (capacity-of c)))
    (if capacity (%fx< (count-of c) capacity) #t)))

(define (push-value! c v)
  (let* ((buffer (buffer-of c)) (size (%vector-length buffer)) (count (count-of c)))
    (if (%fx= count size)
        (let ((new (%make-vector (%fx+ 1 (%fx* 2 size)) #f)) (rest (%fx- size (first-of c))))
          (%vector-copy! new 0 buffer (first-of c) size)
          (%vector-copy! new rest buffer 0 (first-of c))
          (set-buffer! c new)
          (set-first! c 0)
          (push-value! c v))
        (let ((i (%fx+ (first-of c) count)))
          (%vector-set! buffer (if (%fx< i size) i (%fx- i size)) v)
          (set-count! c (%fx+ count 1))))))

(define (pop-value! c)
  (let* ((buffer (buffer-of c)) (first (first-of c)) (next (%fx+ first 1)) (v (%vector-ref buffer first)))
    (%vector-set! buffer first #f)
    (set-first! c (if (%fx= next (%vector-length buffer)) 0 next))
    (set-count! c (%fx- (count-of c) 1))
    v))

;; Sends if that is possible now.  Masked.
(define (send-now! c v)
  (cond
    ((%not (queue-empty? (receivers-of c)))
     (deliver! (first-cell (receivers-of c)) v)
     #t)
    ((room? c)
     (push-value! c v)
     #t)
    (else #f)))

;; Receives if that is possible now: the value, or `nothing`; the end-of-file object when it is closed.  Masked.
(define (receive-now! c)
  (let ((senders (senders-of c)))
    (cond
      ((%fx< 0 (count-of c))
       (let ((v (pop-value! c)))
         (if (%not (queue-empty? senders))
             (let ((cell (first-cell senders)))
               (push-value! c (cell-datum cell))
               (deliver! cell #t)))
         v))
      ((%not (queue-empty? senders))
       (let* ((cell (first-cell senders)) (v (cell-datum cell)))
         (deliver! cell #t)
         v))
      ((closed? c) '#!eof)
      (else nothing))))

(define (closed-error c) (error "channel-put!: the channel is closed:" c))

;; What senders are woken with when the channel is closed.
(define broken (%opaque 'broken))

(define (channel-put! c v)
  (check-channel "channel-put!" c)
  (let loop ()
    (mask!)
    (cond
      ((closed? c)
       (unmask!)
       (closed-error c))
      ((send-now! c v) (unmask!))
      (else
       (let ((answer (wait-in! (senders-of c) v #f)))
         (unmask!)
         (cond
           ((%eq? answer interrupted) (loop))
           ((%eq? answer broken) (closed-error c))))))))

(define (channel-get! c)
  (check-channel "channel-get!" c)
  (let loop ()
    (mask!)
    (let ((v (receive-now! c)))
      (if (%eq? v nothing)
          (let ((v (wait-in! (receivers-of c) #f #f)))
            (unmask!)
            (if (%eq? v interrupted) (loop) v))
          (begin
            (unmask!)
            v)))))

;; Could it be sent without waiting?
(define (channel-try-put! c v)
  (check-channel "channel-try-put!" c)
  (mask!)
  (let ((open? (%not (closed? c))))
    (let ((sent? (if open? (send-now! c v) #f)))
      (unmask!)
      (if open? sent? (closed-error c)))))

(define channel-try-get!
  (case-lambda
    ((c) (channel-try-get! c #f))
    ((c default)
     (check-channel "channel-try-get!" c)
     (mask!)
     (let ((v (receive-now! c)))
       (unmask!)
       (if (%eq? v nothing) default v)))))

;; What it holds can still be received; then comes the end-of-file object.
(define (channel-close! c)
  (check-channel "channel-close!" c)
  (mask!)
  (set-closed! c #t)
  (wake-queue! (receivers-of c) '#!eof)
  (wake-queue! (senders-of c) broken)
  (unmask!))

(define (wake-queue! q v)
  (if (%not (queue-empty? q))
      (begin
        (deliver! (first-cell q) v)
        (wake-queue! q v))))

;;;; Select

;; A case: a vector of the channel, is it sent to?, the value sent, what to do with the value received.
(define (get-case c proc) (%vector (check-channel "select" c) #f #f proc))
(define (put-case c v thunk) (%vector (check-channel "select" c) #t v (lambda (ok) (thunk))))
(define (case-channel x) (%vector-ref x 0))
(define (case-sends? x) (%vector-ref x 1))
(define (case-value x) (%vector-ref x 2))

;; Does what can be done, one of what can be done now if there is anything; else `otherwise`, if that is a procedure, or
;; `late` when the time `timeout` has run out.
(define (select* cases timeout late otherwise)
  (let* ((cases (%list->vector cases)) (n (%vector-length cases)) (deadline (deadline-of "select" timeout)))
    (let again ()
      (mask!)
      (let ((first (if (%fx< 0 n) (choose n (next-start n)) 0)))
        (let loop ((i 0))
          (if (%fx< i n)
              (let* ((j (%fx+ first i)) (x (%vector-ref cases (if (%fx< j n) j (%fx- j n)))) (v (case-now! x)))
                (if (%eq? v nothing)
                    (loop (%fx+ i 1))
                    (begin
                      (unmask!)
                      (finish-case x v))))
              (cond
                (otherwise
                 (unmask!)
                 (otherwise))
                ((past? deadline)
                 (unmask!)
                 (late))
                (else
                 (let ((v (wait-among! (map-cases case-queue cases) (map-cases case-cell cases) deadline)))
                   (unmask!)
                   (if (%pair? v) (finish-case (%car v) (%cdr v)) (again)))))))))))

;; Where to begin: not always with the same case.
(define starts 0)
(define (next-start n)
  (set! starts (%fxand (%fx+ starts 1) 65535))
  (%remainder starts n))

;; Masked.
(define (case-now! x)
  (let ((c (case-channel x)))
    (cond
      ((%not (case-sends? x)) (receive-now! c))
      ((closed? c) broken)
      ((send-now! c (case-value x)) #t)
      (else nothing))))

(define (finish-case x v)
  (if (%eq? v broken)
      (closed-error (case-channel x))
      ((%vector-ref x 3) v)))

(define (case-queue x)
  (if (case-sends? x) (senders-of (case-channel x)) (receivers-of (case-channel x))))
(define (case-cell x) (make-cell (case-value x) x))

(define (map-cases f cases)
  (let loop ((i (%fx- (%vector-length cases) 1)) (l '()))
    (if (%fx< i 0) l (loop (%fx- i 1) (%cons (f (%vector-ref cases i)) l)))))

;; (select (get channel (x) body ...) (put channel value body ...) ... [(after seconds body ...)] [(else body ...)])
(define-syntax select
  (syntax-rules (get put after else)
    ((_ "cases" done timeout late otherwise)
     (select* done timeout late otherwise))
    ((_ "cases" (list-of case ...) timeout late otherwise (get c (x) body0 body ...) . rest)
     (select "cases" (list-of case ... (get-case c (lambda (x) body0 body ...))) timeout late otherwise . rest))
    ((_ "cases" (list-of case ...) timeout late otherwise (put c v body ...) . rest)
     (select "cases" (list-of case ... (put-case c v (lambda () #f body ...))) timeout late otherwise . rest))
    ((_ "cases" done #f #f otherwise (after seconds body ...) . rest)
     (select "cases" done seconds (lambda () #f body ...) otherwise . rest))
    ((_ "cases" done timeout late #f (else body ...) . rest)
     (select "cases" done timeout late (lambda () #f body ...) . rest))
    ((_ "cases" done timeout late otherwise clause . rest)
     (syntax-error "the clauses of `select` are (get channel (x) body ...), (put channel value body ...) and, once, \
                    (after seconds body ...) and (else body ...), not"
                   clause))
    ((_ clause ...)
     (select "cases" (case-list) #f #f #f clause ...))))

(define (case-list . cases) cases)
