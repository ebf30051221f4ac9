;;; (cairn scheduler): threads of control that take turns on one machine.
;;;
;;; Problem.  A program wants to do many things at once: to wait for a thousand connections, and to compute meanwhile.
;;;
;;; Idea.  A thread is a continuation and a few fields.  A thread that has to wait puts a *cell* into the queue of what
;;; it waits for, captures its continuation and invokes that of another thread (`switch`).  Whoever has what it waits
;;; for takes the cell out of the queue and makes the thread ready again (`wake!`), with a value: that of the call that
;;; waits.  Threads that are ready take turns; the runtime's ticker calls `on-tick` at a safepoint when somebody has
;;; had his for long enough (cairn-rt/src/machine/ticker.rs).
;;;
;;;     thread-start!                            wake!: value, time-out, interrupt
;;;   new ─────────▶ ready ◀────────────────────────────────┐
;;;                    │ ▲ tick, yield                       │
;;;               turn ▼ │            park                   │
;;;                  running ────────────────────────▶ waiting
;;;                    │ returns: done; an error, terminated: failed
;;;
;;; Invariants.  A tick or a signal may come at any safepoint, so whatever is read and written here and in the
;;; libraries on top is read and written while `masked` is true: then a tick only leaves a note, which `unmask!` finds.
;;; `switch` is entered masked and comes back masked, whichever thread it goes to.  A waiting thread has all its cells
;;; in its field `wait`; a cell is in a queue if its field 1 is not #f.  A thread that is the only one to wait for an
;;; MVar, which is what most of them do, needs no cell: the MVar has it in its field `waiting`, and it has the MVar in
;;; `wait`.  Exactly the threads that were started and have not ended are in the ring that begins with the main thread.
;;;
;;; Parts of it: time-outs (alarms.scm), files and other places (file-waits.scm), how threads begin, end and are joined
;;; (lifetimes.scm), and what is said when nobody can run (deadlock.scm).

(define-library (cairn scheduler)
  (export
   thread? make-thread thread-name thread-specific thread-specific-set! thread-start! thread-yield! thread-sleep!
   thread-join! thread-terminate! thread-raise! thread-interrupt! thread-state current-thread all-threads
   ;; for the libraries of what threads wait for
   mask! unmask! current state-of make-queue queue-empty? cell-datum first-cell wait-in! wait-among! make-cell wake!
   mvar? new-mvar mvar:value set-mvar:value! mvar:waiting set-mvar:waiting! wait-alone! datum-of wake-alone! accompany!
   deliver! signal! pass-on! has-pending? timed-out interrupted contended set-contended! deadline-of past? thread-end!
   joined ended?
   wait-for-file! forget-file! ensure-started! choose wait-for-ring! become-place!
   protect serve-pending! start-thread! wait-for-end! terminated terminated-condition result-of
   ;; for tests
   tick-at!
   thread-condition thread-condition? join-timeout-exception? terminated-thread-exception? uncaught-exception?
   uncaught-exception-reason
   make-time time? time-seconds)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control))
  (begin

    ;;;; Threads

    ;; contended: a pair (x . f) for each x that others may lose by its end: mutexes that it may own and that others
    ;; wait for, the pool that it works for.  At its end f is called with x, the thread, and its result.
    ;; k: the thunk of a new thread; the continuation of one that does not run.  winders: its dynamic state meanwhile.
    ;; result: what it is woken with; at the end its value, or what it raised.
    ;; pending: thunks that others want it to call; while it ends by an error, an opaque object with that.
    (define-record-type thread
      (new-thread name k winders state result joiners timer pending specific contended wait older younger)
      thread?
      (name name-of)
      (k k-of set-k!)
      (winders winders-of set-winders!)
      (state state-of set-state!)
      (result result-of set-result!)
      (joiners joiners-of set-joiners!)
      (timer timer-of set-timer!)
      (pending pending-of set-pending!)
      (specific specific-of set-specific!)
      (contended contended set-contended!)
      (wait wait-of set-wait!)
      (older older set-older!)
      (younger younger set-younger!))

    (show-fields! thread '(name))
    (unsendable! thread)

    ;; States are small integers: to store one needs no barrier.
    (define-syntax new (syntax-rules () ((_) 0)))
    (define-syntax ready (syntax-rules () ((_) 1)))
    (define-syntax running (syntax-rules () ((_) 2)))
    (define-syntax waiting (syntax-rules () ((_) 3)))
    (define-syntax done (syntax-rules () ((_) 4)))
    (define-syntax failed (syntax-rules () ((_) 5)))
    (define state-names '#(new ready running waiting done failed))
    (define-syntax is?
      (syntax-rules () ((_ t state) (%eq? (state-of t) (state)))))

    ;; The result of a thread that has not begun.
    (define fresh (%opaque 'fresh))

    (define (thread-with k winders state name)
      (new-thread name k winders state fresh '() #f '() #f '() '() #f #f))

    (define main
      (let ((thread (thread-with #f '() (running) "main")))
        (set-older! thread thread)
        (set-younger! thread thread)
        thread))

    (define current main)
    (define (current-thread) current)

    (define thread-count 0)
    (define (numbered-name)
      (set! thread-count (%fx+ thread-count 1))
      (%string-append "thread-" (%num->string thread-count 10)))

    ;; A thread inherits the parameters of who makes it.
    (define make-thread
      (case-lambda
        ((thunk) (make-thread thunk (numbered-name)))
        ((thunk name)
         (thread-with (check-procedure "make-thread" thunk)
                      (let ((params (%machine-ref (slot-parameters))))
                        (if (%null? params) '() (make-winder '() #f #f '() params)))
                      (new) name))))

    (define (check-thread who x)
      (if (thread? x) x (wrong-type who "a thread" x)))
    (define (thread-name t) (name-of (check-thread "thread-name" t)))
    (define (thread-specific t) (specific-of (check-thread "thread-specific" t)))
    (define (thread-specific-set! t x) (set-specific! (check-thread "thread-specific-set!" t) x))
    (define (thread-state t) (%vector-ref state-names (state-of (check-thread "thread-state" t))))
    (define (ended? t) (%fx<= (done) (state-of t)))

    (define (all-threads)
      (mask!)
      (let loop ((t (older main)) (all '()))
        (if (%eq? t main)
            (begin (unmask!) (%cons main all))
            (loop (older t) (%cons t all)))))

    ;;;; Masking

    (define masked #f)
    ;; There may be something to do at the next `unmask!`.
    (define attention #f)
    (define tick-due #f)

    (define (mask!) (set! masked #t))
    (define (unmask!)
      (set! masked #f)
      (if attention (attend)))

    ;; Takes the turn's end that fell into a masked section; runs what others have asked of the current thread.
    (define (attend)
      (set! attention #f)
      (if tick-due
          (begin
            (set! tick-due #f)
            (end-turn)))
      (if trial-due (try!))
      (if (%pair? (pending-of current))
          (if (shielded?)
              ;; Later: at the end of a masked section, or of a turn.
              (begin
                (set! attention #t)
                (if (%not ticking) (start-ticker!)))
              (serve-pending!))))

    ;; Runs what others have asked of the current thread, also where it is shielded.
    (define (serve-pending!)
      (let ((pending (pending-of current)))
        (if (%pair? pending)
            (begin
              (set-pending! current (%cdr pending))
              (set! attention #t)
              ((%car pending))
              (attend)))))

    ;; `dynamic-wind` for what must not be left half-done: `before` and `after`, and what is between them and `thunk`,
    ;; are not interrupted.  They run below a winder of their own, the shield: when it is the innermost one, whatever
    ;; others have asked of the thread has to wait.  A `before` that waits serves them itself (`serve-pending!`).
    (define (protect before thunk after)
      (%receive vals (%with-state shield (%machine-ref (slot-handlers)) (%machine-ref (slot-parameters))
                       (lambda () (dynamic-wind before (lambda () (unmask!) (thunk)) after)))
        (unmask!)
        (list->values vals)))
    (define shield (%opaque 'shield))
    (define (shielded?)
      (let ((w (%machine-ref (slot-winders))))
        (if (%null? w) #f (%eq? (%opaque-ref w 2) shield))))

    ;; Has `thunk` run in thread `t`, which may have to stop waiting for it, unless that is ending.  Masked.
    (define (post! t thunk)
      (if (%not (ending? t))
          (begin
            (set-pending! t (let append ((l (pending-of t)))
                              (if (%null? l) (%cons thunk '()) (%cons (%car l) (append (%cdr l))))))
            (cond
              ((is? t waiting) (wake! t interrupted))
              ((%eq? t current) (set! attention #t))))))

    ;;;; Queues of cells

    ;; A queue is a ring of cells with a cell of its own: 0 #f, 1 previous, 2 next.  A cell: 0 thread, 1 previous, 2
    ;; next, 3 what a sender sends, 4 which of several things waited for it is (delivered with the value), or #f.
    (define (make-queue)
      (let ((q (%opaque #f #f #f)))
        (%opaque-set! q 1 q)
        (%opaque-set! q 2 q)
        q))
    (define (queue-empty? q)
      (if (%null? q) #t (%eq? (%opaque-ref q 2) q)))
    (define (first-cell q) (%opaque-ref q 2))
    (define (make-cell datum tag) (%opaque current #f #f datum tag))
    (define (cell-datum cell) (%opaque-ref cell 3))

    (define (enqueue! q cell)
      (let ((last (%opaque-ref q 1)))
        (%opaque-set! cell 1 last)
        (%opaque-set! cell 2 q)
        (%opaque-set! last 2 cell)
        (%opaque-set! q 1 cell)))

    (define (unlink! cell)
      (let ((previous (%opaque-ref cell 1)) (next (%opaque-ref cell 2)))
        (if previous
            (begin
              (%opaque-set! previous 2 next)
              (%opaque-set! next 1 previous)
              ;; A dead cell that is old must not keep young ones alive.
              (%opaque-set! cell 1 #f)
              (%opaque-set! cell 2 #f)))))

    ;;;; MVars, as far as the scheduler knows them

    ;; waiting: '() if nobody waits, the thread that waits alone, or a queue.
    (define-record-type mvar
      (new-mvar value waiting)
      mvar?
      (value mvar:value set-mvar:value!)
      (waiting mvar:waiting set-mvar:waiting!))

    (show-fields! mvar '())
    (unsendable! mvar)

    ;; The current thread waits for an MVar that nobody waits for; `datum` is what a cell would have.  Masked.
    (define (wait-alone! m datum)
      (let ((t current))
        (set-mvar:waiting! m t)
        (set-wait! t m)
        (set-result! t datum)
        (park t)))
    (define (datum-of t) (result-of t))

    ;; The thread that waits alone for `m` is woken: its call returns `v`.  It has no time-out.  Masked.
    (define (wake-alone! m t v)
      (set-mvar:waiting! m '())
      (set-wait! t '())
      (set-result! t v)
      (set-state! t (ready))
      (push-ready! t))

    ;; The thread that waits alone for `m` gets a cell: another one comes.  Masked.
    (define (accompany! m t)
      (let ((q (make-queue)) (cell (%opaque t #f #f (datum-of t) #f)))
        (enqueue! q cell)
        (set-wait! t cell)
        (set-result! t #f)
        (set-mvar:waiting! m q)))

    ;;;; Ready threads: a ring in a vector

    (define turn-ring (%make-vector 64 #f))
    (define ready-mask 63)
    (define ready-first 0)
    (define ready-count 0)

    (define (push-ready! t)
      (if (%fx< ready-mask ready-count) (grow-ready!))
      (%vector-set! turn-ring (%fxand (%fx+ ready-first ready-count) ready-mask) t)
      (set! ready-count (%fx+ ready-count 1))
      (if (%not ticking) (start-ticker!)))

    (define (grow-ready!)
      (let* ((size (%fx+ ready-mask 1)) (new (%make-vector (%fx* 2 size) #f)) (rest (%fx- size ready-first)))
        (%vector-copy! new 0 turn-ring ready-first size)
        (%vector-copy! new rest turn-ring 0 ready-first)
        (set! turn-ring new)
        (set! ready-first 0)
        (set! ready-mask (%fx- (%fx* 2 size) 1))))

    (define (pop-ready!)
      (if random?
          ;; Any of them.
            (let* ((i (%thread-random ready-count))
                   (j (%fxand (%fx+ ready-first i) ready-mask)) (t (%vector-ref turn-ring j)))
              (%vector-set! turn-ring j (%vector-ref turn-ring ready-first))
              (%vector-set! turn-ring ready-first t)))
      (let ((t (%vector-ref turn-ring ready-first)))
        (%vector-set! turn-ring ready-first #f)
        (set! ready-first (%fxand (%fx+ ready-first 1) ready-mask))
        (set! ready-count (%fx- ready-count 1))
        t))

    ;; `CAIRN_SCHEDULE` is given.
    (define random? #f)
    ;; A number below n: at random if schedules are, else `otherwise`.
    (define (choose n otherwise)
      (if random? (%thread-random n) otherwise))

    ;;;; Ticks

    (define ticking #f)
    (define tick-nanoseconds 5000000)

    (define (start-ticker!)
      (set! ticking #t)
      (%thread-tick tick-nanoseconds))
    (define (stop-ticker!)
      (set! ticking #f)
      (%thread-tick 0))

    ;; The tick hook.
    (define (on-tick)
      (cond
        (masked
         (if trial (set! trial-due #t) (set! tick-due #t))
         (set! attention #t))
        (trial (try!))
        (else (end-turn))))

    (define (end-turn)
      (set! masked #t)
      (if (waiting-outside?) (look-outside 0))
      (cond
        ((%fx< 0 ready-count) (give-way))
        ((%not (waiting-outside?)) (stop-ticker!)))
      (unmask!))

    ;; For tests: has `thunk` be called at the `k`-th safepoint from now on, by the thread that is there, or, if that is
    ;; masked, by whoever is not any more; until then nobody's turn ends.  0: not so.  The result is how many safepoints
    ;; were left of the last time.
    (define (tick-at! k thunk)
      (ensure-started!)
      (set! trial-due #f)
      (set! trial thunk)
      (%thread-tick-at k))
    (define trial #f)
    (define trial-due #f)

    (define (try!)
      (let ((thunk trial))
        (set! trial #f)
        (set! trial-due #f)
        (if thunk (thunk))))

    (define (give-way)
      (let ((t current))
        (set-state! t (ready))
        (push-ready! t)
        (switch t)))

    (define (thread-yield!)
      (if (%fx< 0 ready-count)
          (begin
            (mask!)
            (give-way)
            (unmask!))))

    ;;;; Switching

    ;; Does somebody want to know whose turn it is?
    (define timeline? (%timeline?))

    ;; Leaves the current thread, whose state is set, for another one.  The result is what it is woken with.  Masked.
    (define (switch t)
      (set-winders! t (%machine-ref (slot-winders)))
      ;; A tail call: so there is no frame to be copied when the thread comes back.
      (%call/1cc (lambda (k) (set-k! t k) (resume (next-thread)))))

    (define (resume t)
      (let ((k (k-of t)) (v (result-of t)))
        (set! current t)
        (if timeline? (%timeline-turn (display-name t)))
        ;; Its turn begins now.
        (set! tick-due #f)
        (set-state! t (running))
        (set-k! t #f)
        (set-result! t #f)
        (if (%pair? (pending-of t)) (set! attention #t))
        (if (%eq? v fresh)
            (begin
              (enter-state! '())
              (bottom (lambda () (begin-thread t k))))
            (begin
              (enter-state! (winders-of t))
              (k v)))))

    ;; The continuation of nothing: a thunk given to it runs with hardly a frame below.  Two captures, so that what it
    ;; brings back is one small frame and not those of whoever loads this library.
    (define (make-bottom)
      (%call/cc
       (lambda (return)
         ((%call/cc (lambda (k) (return k)))))))
    (define bottom (make-bottom))

    (define (begin-thread t thunk)
      (enter-state! (winders-of t))
      (unmask!)
      (let ((v (thunk)))
        (thread-return! v)))

    ;; Which thread is next: waits until there is one.  Masked.
    (define (next-thread)
      (set! turns (%fx- turns 1))
      (if (%fx< turns 0)
          (begin
            (set! turns turns-between-looks)
            (if (waiting-outside?) (look-outside 0))))
      (let loop ()
        (if (%fx= ready-count 0)
            (begin
              (idle)
              (loop))
            (let ((t (pop-ready!)))
              ;; Others were terminated.
              (if (is? t ready) t (loop))))))

    (define turns-between-looks 61)
    (define turns turns-between-looks)

    ;; Has the program asked for signals?  A session at the prompt, which only ends what is running, has not.
    (define (signals-wake?)
      (%eq? (%machine-ref (slot-signal-hook)) raise-interrupt))

    ;; Nobody can run: waits for files, time and signals.
    (define (idle)
      (if timeline? (%timeline-turn #f))
      (let ((time (time-to-next)))
        (cond
          ((if (waiting-outside?) #t (signals-wake?))
           (cond
             ((if ticking (if (%fx< time 0) #t (%fx< tick-nanoseconds time)) #f)
              ;; The ticker stays on for a while: most waits are short.
              (look-outside tick-nanoseconds)
              (if (%fx= ready-count 0) (stop-ticker!)))
             ;; All wait for other places, and nothing else can happen here.
             ((if (%fx< time 0)
                  (if (%fx= place-waits file-waits) (%not (signals-wake?)) #f)
                  #f)
              (look-outside -2))
             (else (look-outside time))))
          (else (deadlock (lambda () (error "deadlock: every thread waits for another one")))))))

    (define (park t)
      (set-state! t (waiting))
      (switch t))

    ;; Takes a thread out of the queues in which it waits.
    (define (stop-waiting! t)
      (let ((wait (wait-of t)))
        (cond
          ((%opaque? wait)
           (unlink! wait)
           (let ((datum (cell-datum wait)))
             (cond
               ((%eq? datum for-file) (set! file-waits (%fx- file-waits 1)))
               ((%eq? datum for-place)
                (set! file-waits (%fx- file-waits 1))
                (set! place-waits (%fx- place-waits 1))))))
          ((mvar? wait) (set-mvar:waiting! wait '()))
          (else
           (let loop ((l wait))
             (if (%pair? l)
                 (begin
                   (unlink! (%car l))
                   (loop (%cdr l))))))))
      (set-wait! t '()))

    ;; Makes a waiting thread ready: its call that waits returns `v`.  Masked.
    (define (wake! t v)
      (stop-waiting! t)
      (if (timer-of t) (cancel-timer! t))
      (set-result! t v)
      (set-state! t (ready))
      (push-ready! t))

    ;; Wakes the thread of a cell that is in a queue.
    (define (deliver! cell v)
      (let ((tag (%opaque-ref cell 4)))
        (wake! (%opaque-ref cell 0) (if tag (%cons tag v) v))))

    ;; Wakes the first thread of a queue of which one is to hear of something, and tells no other one.  If it ends or
    ;; is interrupted before it could hear of that, the next one does (`pass-on!`).  Masked.
    (define (signal! q)
      (if (%not (queue-empty? q)) (deliver! (first-cell q) (%opaque signal q))))
    (define signal (%opaque 'signal))
    (define (pass-on! v)
      (if (if (%opaque? v) (%eq? (%opaque-ref v 0) signal) #f) (signal! (%opaque-ref v 1))))
    (define (has-pending? t) (%pair? (pending-of t)))
    (define (ending? t) (%opaque? (pending-of t)))

    (define timed-out (%opaque 'timed-out))
    ;; What a thread is woken with that was asked to do something else: `unmask!` does it, then it may wait again.
    (define interrupted (%opaque 'interrupted))

    ;; Waits in a queue, until the jiffy `deadline` or, if that is #f, for ever.  Masked.
    (define (wait-in! q datum deadline)
      (let ((t current) (cell (make-cell datum #f)))
        (enqueue! q cell)
        (set-wait! t cell)
        (if deadline (set-alarm! t deadline))
        (park t)))

    ;; The same with a list of cells, each in the queue of another list.
    (define (wait-among! queues cells deadline)
      (let ((t current))
        (let loop ((queues queues) (cells cells))
          (if (%pair? queues)
              (begin
                (enqueue! (%car queues) (%car cells))
                (loop (%cdr queues) (%cdr cells)))))
        (set-wait! t cells)
        (if deadline (set-alarm! t deadline))
        (park t)))

    ;;;; Errors

    (define (display-name t)
      (let ((name (name-of t)))
        (cond
          ((%string? name) name)
          ((%symbol? name) (%symbol->string name))
          (else (write-to-string name)))))

    ;; Says on standard error what has happened in the current thread, and where.
    (define (report message site) (print-error (%describe-error message site 0)))
    (define (print-error text) (%write-string text (%standard-port 2) 0 (%string-length text)))

    (define (report-uncaught kind name obj)
      (set! masked #f)
      (report (%string-concat (%cons kind (%cons name (%cons ": " (%cons (uncaught->string obj) '()))))) (site-of obj)))

    ;; The uncaught hook: a thread or a place ends, a program goes on.  What a thread was in the middle of is undone by
    ;; the `after` thunks around it.  The first error is the result: others may come of it.
    (define (uncaught-in-thread obj)
      (cond
        ((%not (%eq? current main))
         (let ((t current))
           (end-unwound "in thread " (display-name t) obj (lambda (obj) (thread-end! t (failed) obj)))))
        (end-place (end-unwound "in place " place-name obj end-place))))

    (define (end-unwound kind name obj end)
      (if (%not (ending? current)) (set-pending! current (%opaque obj)))
      (report-uncaught kind name obj)
      (unwind-all!)
      (end (%opaque-ref (pending-of current) 0)))

    ;; Calls the outstanding `after` thunks, innermost first, each in the state around its `dynamic-wind`, but without
    ;; handlers: what one of them raises comes back to `uncaught-in-thread`, which goes on with the next one.
    (define (unwind-all!)
      (let ((w (%machine-ref (slot-winders))))
        (if (%not (%null? w))
            (let ((after (%opaque-ref w 3)))
              (enter-state! (%opaque-ref w 0))
              (if after
                  (%with-state #f '() (%machine-ref (slot-parameters)) after))
              (unwind-all!))))))
  (include "alarms.scm")
  (include "file-waits.scm")
  (include "lifetimes.scm")
  (include "deadlock.scm"))
