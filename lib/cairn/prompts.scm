;;; Part of (cairn control): prompts, composable continuations, and what is made of them.
;;;
;;; Problem.  A prompt delimits what is captured above it and what an abort drops; the frames captured go on elsewhere,
;;; any number of times, with the winders, handlers and parameters of their new place around their own.
;;;
;;; Idea.  A prompt cuts the stack (the metacontinuation of Dybvig, Peyton Jones & Sabry 2007).  The continuation of
;;; `call-with-continuation-prompt` goes into a winder, the *prompt winder*, and the thunk is called on the *base
;;; continuation*: one frame that, when it is returned to, leaves the innermost prompt winder and goes on with the
;;; continuation in it.  So a captured continuation ends where the prompt begins, and nothing in its frames says where:
;;; they can be put on any prompt winder as they are.  What is below is a list of winders, and the machine's
;;; continuations remember the winders anyway: a full continuation brings its prompts back without further ado.
;;;
;;;     winders:  w3 ─▶ prompt winder ─▶ w2 ─▶ prompt winder ─▶ w1          w: dynamic-wind, handlers, parameters
;;;                     │ mark            │ mark
;;;     frames:   f5 f4 base        f3 f2 base               f1 halt       base: the same frame everywhere
;;;                          ◀─ k ──┘           ◀─ k ────────┘
;;;
;;; A composable continuation is the frames above the prompt, the winders above it, and the prompts between: O(prompts
;;; and winders) to capture and to put back, whatever the number of frames.  Winders are put back as copies: their
;;; handlers and parameters are those that they had above the prompt, then those of the new place.
;;;
;;; Field 2 of a winder tells prompts from others: a *mark*, an opaque object.
;;;
;;;     0 tag       what finds it; #f: nothing does, it is only returned through
;;;     1 k         the continuation of the prompt, a raw one
;;;     2 handler   called there with the values of an abort; without a tag: the frame's continuation marks, or #f
;;;     3 more      how many more prompts with this tag and handler begin in this place
;;;
;;; Tail calls: what is called in tail position in a prompt has the base continuation, so a prompt or a composable
;;; continuation called there needs no return of its own.  Loops through them run in constant space: prompts in place of
;;; each other are counted, for an abort, or `control0`, leaves one of them.

;;;; Tags

;; The handler of a tag is that of prompts without one: it calls a thunk in a prompt like it.
(define-record-type continuation-prompt-tag
  (make-tag name handler)
  continuation-prompt-tag?
  (name tag-name)
  (handler tag-handler set-tag-handler!))

(define make-continuation-prompt-tag
  (case-lambda
    (() (make-continuation-prompt-tag 'prompt))
    ((name)
     (let ((tag (make-tag name #f)))
       (set-tag-handler! tag (lambda (thunk) (call-at-prompt tag (tag-handler tag) thunk)))
       tag))))

;; Made when first asked for: programs without prompts do not keep what it refers to.
(define default-tag-cell (%opaque #f))
(define (default-continuation-prompt-tag)
  (let ((tag (%opaque-ref default-tag-cell 0)))
    (if tag
        tag
        (let ((new (make-continuation-prompt-tag 'default)))
          ;; another thread may have been here meanwhile
          (if (%not (%opaque-ref default-tag-cell 0))
              (%opaque-set! default-tag-cell 0 new))
          (%opaque-ref default-tag-cell 0)))))

(define (check-tag who tag)
  (if (continuation-prompt-tag? tag) tag (wrong-type who "a prompt tag" tag)))

;;;; Winders of prompts

(define (make-mark tag k handler) (%opaque tag k handler 0))
(define (mark-tag m) (%opaque-ref m 0))
(define (mark-k m) (%opaque-ref m 1))
(define (mark-handler m) (%opaque-ref m 2))
(define (mark-more m) (%opaque-ref m 3))

;; The mark of a winder, or #f.
(define (winder-mark w)
  (let ((m (%opaque-ref w 2)))
    (if (%opaque? m) m #f)))

(define (enter-mark! m)
  (%machine-set! (slot-winders)
                 (make-winder (%machine-ref (slot-winders)) m #f
                              (%machine-ref (slot-handlers)) (%machine-ref (slot-parameters)))))

;; The innermost of `w` and the winders around it whose mark has this tag, or ().
(define (find-prompt w tag)
  (if (if (%null? w) #t (has-tag? w tag))
      w
      (find-prompt (%opaque-ref w 0) tag)))

(define (has-tag? w tag)
  (let ((m (if (%null? w) #f (%opaque-ref w 2))))
    (if (%opaque? m) (%eq? (mark-tag m) tag) #f)))

;; That winder, which has to be there.
(define (prompt-for who w tag)
  (let ((w (find-prompt w tag)))
    (if (%null? w)
        (raise-violation who "there is no prompt with this tag around the call:" tag)
        w)))

;; An error object whose kind is an opaque object with the tag.
(define (make-violation who message irritants tag)
  (make-condition (%opaque tag) who message irritants (no-site)))

(define (continuation-violation? x)
  (if (condition? x) (%opaque? (condition-kind x)) #f))

(define (continuation-violation-prompt-tag c)
  (if (continuation-violation? c)
      (%opaque-ref (condition-kind c) 0)
      (wrong-type "continuation-violation-prompt-tag" "a continuation violation" c)))

(define (raise-violation who message tag)
  (raise
   (if (continuation-prompt-tag? tag)
       (make-violation who message (%cons (tag-name tag) '()) tag)
       ;; the prompt of a handler
       (make-violation who message '() #f))))

(define (continuation-prompt-available? tag)
  (%not (%null? (find-prompt (%machine-ref (slot-winders)) (check-tag "continuation-prompt-available?" tag)))))

;;;; The base continuation

;; Backtraces go on below the prompt where they come to its frame.
(define base
  (%note-base
   (%call/cc
    (lambda (return)
      (%receive vals (%call/cc (lambda (k) (return k)))
        (leave-prompt vals))))))

;; The frames of a prompt have returned these values.
(define (leave-prompt vals)
  (let ((m (%opaque-ref (%machine-ref (slot-winders)) 2)))
    (leave-winder!)
    (if (%pair? (mark-tag m))
        (call-in (mark-k m) (lambda () (%apply (mark-handler m) vals)))
        (return-to (mark-k m) vals))))

;; Goes on with raw continuation `k`, whatever winders it was captured with.
(define (return-to k vals)
  (if (if (%pair? vals) (%null? (%cdr vals)) #f)
      (let ((x (%car vals)))
        (call-in k (lambda () x)))
      (call-in k (lambda () (list->values vals)))))

;; Is this the continuation of a tail call in a prompt?
(define (at-base? k)
  (%continuation-same? k base))

;;;; Prompts

;; First the frames are cut: who interrupts the thread between the two, and captures what it does, finds no frames from
;; below the prompt above it.
(define (call-above k tag handler thunk)
  (let ((m (make-mark tag k handler)))
    (call-in base (lambda () (enter-mark! m) (thunk)))))

(define (same-prompt? w tag handler)
  (if (has-tag? w tag) (%eq? (mark-handler (%opaque-ref w 2)) handler) #f))

(define (call-at-prompt tag handler thunk)
  (%call/cc
   (lambda (k)
     (let ((w (%machine-ref (slot-winders))))
       (if (if (same-prompt? w tag handler) (at-base? k) #f)
           (let ((new (with-more w (%fx+ (mark-more (%opaque-ref w 2)) 1))))
             (if (innermost? w)
                 (begin
                   (%machine-set! (slot-winders) new)
                   (thunk))
                 (call-at-prompt tag handler thunk)))
           (call-above k tag handler thunk))))))

;; Prompt winder `w` with so many more prompts in its place.
(define (with-more w more)
  (let ((m (%opaque-ref w 2)))
    (make-winder (%opaque-ref w 0) (%opaque (mark-tag m) (mark-k m) (mark-handler m) more) #f
                 (%opaque-ref w 4) (%opaque-ref w 5))))

(define call-with-continuation-prompt
  (case-lambda
    ((thunk) (call-with-continuation-prompt thunk (default-continuation-prompt-tag)))
    ((thunk tag)
     (check-procedure "call-with-continuation-prompt" thunk)
     (check-tag "call-with-continuation-prompt" tag)
     (call-at-prompt tag (tag-handler tag) thunk))
    ((thunk tag handler)
     (if handler
         (begin
           (check-procedure "call-with-continuation-prompt" thunk)
           (check-procedure "call-with-continuation-prompt" handler)
           (call-at-prompt (check-tag "call-with-continuation-prompt" tag) handler thunk))
         (call-with-continuation-prompt thunk tag)))))

;; A prompt that nothing finds, and that no continuation is captured across.
(define (call-with-continuation-barrier thunk)
  (check-procedure "call-with-continuation-barrier" thunk)
  (%call/cc (lambda (k) (call-above k 'barrier #f thunk))))

(define (barrier? w)
  (has-tag? w 'barrier))

;; Leaves what is above the innermost prompt with this tag, and calls `thunk` in it.
(define (call-in-prompt who tag thunk)
  (if (has-tag? (%machine-ref (slot-winders)) tag)
      (call-in base thunk)
      (begin
        (leave-to-prompt who tag)
        (call-in-prompt who tag thunk))))

;; Leaves what is above the innermost prompt with this tag, and the prompt, whose mark goes into `arrival`, an opaque
;; object; calls `thunk` in its place.
(define (abort-to who tag arrival thunk)
  (let ((w (%machine-ref (slot-winders))))
    (if (has-tag? w tag)
        (let ((m (%opaque-ref w 2)))
          (%opaque-set! arrival 0 m)
          (if (%eq? (mark-more m) 0)
              (begin
                (enter-state! (%opaque-ref w 0))
                (call-in (mark-k m) thunk))
              (let ((new (with-more w (%fx- (mark-more m) 1))))
                (if (innermost? w)
                    (begin
                      (enter-state! new)
                      (call-in base thunk))
                    (abort-to who tag arrival thunk)))))
        (begin
          (leave-to-prompt who tag)
          (abort-to who tag arrival thunk)))))

(define (leave-to-prompt who tag)
  (let ((here (%machine-ref (slot-winders))))
    (rewind-from here (prompt-for who here tag) (lambda (here) (prompt-for who here tag)))))

;;;; Composable continuations

;; The winders from `here`, the innermost, to the one inside of `w`; outermost first.
(define (winders-between here w)
  (let loop ((here here) (above '()))
    (if (%eq? here w)
        above
        (loop (%opaque-ref here 0) (%cons here above)))))

;; List `l`, with `to` instead of its tail `from`; if it has no such tail, it does not depend on what is there.
(define (rebase l from to)
  (define (has-tail? l)
    (cond
      ((%eq? l from) #t)
      ((%pair? l) (has-tail? (%cdr l)))
      (else #f)))
  (define (copy l)
    (if (%eq? l from) to (%cons (%car l) (copy (%cdr l)))))
  (cond
    ((%eq? l from) to)
    ((%eq? from to) l)
    ((has-tail? l) (copy l))
    (else l)))

;; Enters copies of `winders`, outermost first, that were above winder `old`.
(define (wind-above winders old)
  (if (%pair? winders)
      (let ((from-handlers (%opaque-ref old 4))
            (from-params (%opaque-ref old 5))
            (to-handlers (%machine-ref (slot-handlers)))
            (to-params (%machine-ref (slot-parameters))))
        (let loop ((winders winders))
          (if (%pair? winders)
              (let* ((w (%car winders)) (before (%opaque-ref w 2)))
                (if (%procedure? before) (before))
                (enter-state!
                 (make-winder (%machine-ref (slot-winders))
                              ;; what a raise has noted about winders is about the old ones
                              (if (%pair? before) raised before)
                              (%opaque-ref w 3)
                              (rebase (%opaque-ref w 4) from-handlers to-handlers)
                              (rebase (%opaque-ref w 5) from-params to-params)))
                (loop (%cdr winders))))))))

;; Calls `thunk` with the frames of raw continuation `k`, which were under `winders` above `old`, on top of the
;; present continuation.
(define (call-composed k winders old thunk)
  (%call/cc
   (lambda (now)
     (if (if (%null? (%machine-ref (slot-winders))) #t
             (if (winder-mark (%machine-ref (slot-winders))) (%not (at-base? now)) #t))
         (enter-mark! (make-mark #f now #f)))
     (wind-above winders old)
     (call-in k thunk))))

(define (refuse-barriers winders w)
  (if (%pair? winders)
      (if (barrier? (%car winders))
          (raise-violation #f "there is a continuation barrier between the capture and its prompt"
                           (mark-tag (winder-mark w)))
          (refuse-barriers (%cdr winders) w))))

;; The procedure that puts the frames of raw continuation `k` under the present winders, up to prompt winder `w`, on top
;; of the continuation that it is called with.
(define-syntax composable-of
  (syntax-rules ()
    ((_ k winders w)
     (case-lambda
       ((x) (call-composed k winders w (lambda () x)))
       (vals (call-composed k winders w (lambda () (list->values vals))))))))

(define (composable k w)
  (let ((winders (winders-between (%continuation-winders k) w)))
    (composable-of k winders w)))

;; The same, if there is no barrier among these winders.
(define (captured k w)
  (let ((winders (winders-between (%continuation-winders k) w)))
    (refuse-barriers winders w)
    (composable-of k winders w)))

;; The same, up to the innermost prompt with this tag.
(define (captured-to who tag k)
  (captured k (prompt-for who (%continuation-winders k) tag)))

(define call-with-composable-continuation
  (case-lambda
    ((receiver) (call-with-composable-continuation receiver (default-continuation-prompt-tag)))
    ((receiver tag)
     (check-procedure "call-with-composable-continuation" receiver)
     (check-tag "call-with-composable-continuation" tag)
     (%call/cc (lambda (k) (receiver (captured-to "call-with-composable-continuation" tag k)))))))

;;;; Continuation marks

;; A frame with marks is a cut like a prompt's, with an association list in place of a handler.  What is called in tail
;; position in it has the base continuation: so a call there knows that it has the same frame.

(define (winder-marks w)
  (let ((m (winder-mark w)))
    (if m
        (if (%not (mark-tag m)) (mark-handler m) #f)
        #f)))

;; The winder of the frame that raw continuation `k`, the present one, begins with, if there are marks for it, or could
;; be; else #f.
(define (frame-winder k)
  (let ((w (%machine-ref (slot-winders))))
    (if (%null? w)
        #f
        (let ((m (winder-mark w)))
          (if m
              (if (%not (mark-tag m)) (if (at-base? k) w #f) #f)
              #f)))))

;; The marks of the frame that raw continuation `k`, the present one, begins with.
(define (immediate-marks k)
  (let ((w (frame-winder k)))
    (if w (mark-handler (winder-mark w)) #f)))

;; Calls `thunk` with the frame of the present continuation, which is to have the marks that `(update marks)` returns.
(define (call-with-marks update thunk)
  (%call/cc
   (lambda (k)
     (let ((w (frame-winder k)))
       (if w
           (let ((m (winder-mark w)))
             (%machine-set! (slot-winders) (%opaque-ref w 0))
             (enter-mark! (make-mark #f (mark-k m) (update (mark-handler m))))
             (thunk))
           (call-above k #f (update #f) thunk))))))

;;;; shift, reset, control, prompt

;; Captures up to the prompt, drops what was captured and calls `receiver` with it in the prompt.
(define (control* who tag receiver)
  (check-tag who tag)
  (%call/cc
   (lambda (k)
     (let ((c (captured-to who tag k)))
       (call-in-prompt who tag (lambda () (receiver c)))))))

;; The same without the prompt.
(define (control0* who tag receiver)
  (check-tag who tag)
  (%call/cc
   (lambda (k)
     (let ((c (captured-to who tag k)))
       (abort-to who tag (%opaque #f) (lambda () (receiver c)))))))

;; `c` in a prompt of its own, when it is called.
(define (delimited tag c)
  (case-lambda
    ((x) (call-with-continuation-prompt (lambda () (c x)) tag))
    (vals (call-with-continuation-prompt (lambda () (%apply c vals)) tag))))

(define-syntax reset
  (syntax-rules ()
    ((_ body0 body ...) (call-with-continuation-prompt (lambda () body0 body ...)))))

(define-syntax reset-at
  (syntax-rules ()
    ((_ tag body0 body ...) (call-with-continuation-prompt (lambda () body0 body ...) tag))))

(define-syntax define-capturing
  (syntax-rules ()
    ((_ (name name-at text control) (tag c) k-value)
     (begin
       (define-syntax name
         (syntax-rules ()
           ((_ k body0 body (... ...)) (name-at (default-continuation-prompt-tag) k body0 body (... ...)))))
       (define-syntax name-at
         (syntax-rules ()
           ((_ t k body0 body (... ...))
            (let ((tag t))
              (control text tag (lambda (c) (let ((k k-value)) body0 body (... ...))))))))))))

(define-capturing (control control-at "control" control*) (tag c) c)
(define-capturing (shift shift-at "shift" control*) (tag c) (delimited tag c))
(define-capturing (control0 control0-at "control0" control0*) (tag c) c)
(define-capturing (shift0 shift0-at "shift0" control0*) (tag c) (delimited tag c))

;;;; Guile's names

;; The handler gets the composable continuation of the abort, then its values.
(define (call-with-prompt tag thunk handler)
  (check-procedure "call-with-prompt" thunk)
  (check-procedure "call-with-prompt" handler)
  (call-at-prompt (check-tag "call-with-prompt" tag) (%opaque handler) thunk))

(define (abort-to-prompt tag . vals)
  (abort "abort-to-prompt" tag vals))
(define (abort-current-continuation tag . vals)
  (abort "abort-current-continuation" tag vals))

(define (abort who tag vals)
  (check-tag who tag)
  (let* ((m (winder-mark (prompt-for who (%machine-ref (slot-winders)) tag))) (arrival (%opaque m)))
    ;; Of the prompt that was come to: `after` thunks may have gone on in another one.  But what was not captured cannot
    ;; be given to a handler.
    (define (handler)
      (let ((found (mark-handler m)) (there (mark-handler (%opaque-ref arrival 0))))
        (if (%eq? (%opaque? found) (%opaque? there)) there found)))
    (if (%opaque? (mark-handler m))
        (%call/cc
         (lambda (k)
           (let ((c (captured-to who tag k)))
             (abort-to who tag arrival (lambda () (%apply (%opaque-ref (handler) 0) (%cons c vals)))))))
        (abort-to who tag arrival (lambda () (%apply (handler) vals))))))

;;;; Unwind handlers (SRFI 248)

;; An exception handler that gets the continuation of the raise, up to and with the call that installed it.  The list of
;; handlers has an opaque object with the procedure and with what to call in its place: so programs without such
;; handlers do without all this.  The object is the tag of a prompt, too.
(define (with-unwind-handler handler thunk)
  (check-procedure "with-unwind-handler" handler)
  (check-procedure "with-unwind-handler" thunk)
  (call-with-unwinding (%opaque handler unwind) thunk))

(define (call-with-unwinding h thunk)
  (%call/cc
   (lambda (k)
     (if (if (same-prompt? (%machine-ref (slot-winders)) h #f) (at-base? k) #f)
         (thunk)
         (let ((m (make-mark h k #f)))
           (call-in base
             (lambda ()
               (enter-state! (make-winder (%machine-ref (slot-winders)) m #f
                                          (%cons h (%machine-ref (slot-handlers))) (%machine-ref (slot-parameters))))
               (thunk))))))))

;; In the place of a call to `raise` or `raise-continuable`.
(define (unwind h obj)
  (%call/cc
   (lambda (k)
     (let* ((here (%continuation-winders k))
            (w (prompt-for #f here h))
            (empty (if (%eq? here w) (at-base? k) #f))
            (c (unwound (composable k w) h empty)))
       (abort-to #f h (%opaque #f) (lambda () ((%opaque-ref h 0) obj c)))))))

;; Called with the key, the continuation says whether it is the empty one.
(define unwound-key (%opaque 'unwound))
(define (unwound c h empty)
  (case-lambda
    ((x) (if (%eq? x unwound-key) empty (call-with-unwinding h (lambda () (c x)))))
    (vals (call-with-unwinding h (lambda () (%apply c vals))))))
(define (empty-continuation? k)
  (check-procedure "empty-continuation?" k)
  (%eq? (k unwound-key) #t))

;; (guard (x k clause ...) body ...) is (with-unwind-handler (lambda (x k) (cond clause ... (else (reraise-to k x))))
;; (lambda () body ...)).
(define (reraise-to k obj)
  (%receive vals (raise-continuable obj) (%apply k vals)))

;;;; Effects

;; An effect is a procedure: calling it performs the effect, with what the innermost handler that has a clause for it
;; makes of its arguments and of the continuation up to the handler.
(define (make-effect name)
  (define (perform . args)
    (let loop ((w (%machine-ref (slot-winders))))
      (if (%null? w)
          (raise-condition (kind-other) #f "there is no handler around the call for the effect" (%cons name args)
                           (no-site)))
      (let* ((m (winder-mark w)) (clause (if m (clause-for perform (mark-tag m)) #f)))
        (if clause
            (%call/cc
             (lambda (k)
               (let ((resume (resumption (captured-to #f (mark-tag m) k) m)))
                 (abort-to #f (mark-tag m) (%opaque #f) (lambda () (%apply (%cdr clause) (%cons resume args)))))))
            (loop (%opaque-ref w 0))))))
  perform)

;; The tag of a handler's mark is a list of whether it is deep, and pairs of an effect and the procedure for it; what
;; the body returns goes to the mark's handler.
(define (clause-for effect tag)
  (if (%pair? tag)
      (let loop ((clauses (%cdr tag)))
        (cond
          ((%null? clauses) #f)
          ((%eq? (%car (%car clauses)) effect) (%car clauses))
          (else (loop (%cdr clauses)))))
      #f))

(define (call-with-effects tag return thunk)
  (%call/cc (lambda (k) (call-above k tag return thunk))))

;; What a clause gets: under a deep handler, the continuation with the handler around.
(define (resumption c m)
  (if (%car (mark-tag m))
      (case-lambda
        ((x) (call-with-effects (mark-tag m) (mark-handler m) (lambda () (c x))))
        (vals (call-with-effects (mark-tag m) (mark-handler m) (lambda () (%apply c vals)))))
      c))

(define (pairs . pairs) pairs)

;; (with-handler ((effect (k argument ...) body ...) ... (return (x) body ...)) body ...)
(define-syntax with-handler
  (syntax-rules ()
    ((_ (clause ...) body0 body ...)
     (handler-clauses #t () values (lambda () body0 body ...) clause ...))))

(define-syntax with-shallow-handler
  (syntax-rules ()
    ((_ (clause ...) body0 body ...)
     (handler-clauses #f () values (lambda () body0 body ...) clause ...))))

(define-syntax handler-clauses
  (syntax-rules (return)
    ((_ deep (pair ...) end thunk)
     (call-with-effects (pairs deep pair ...) end thunk))
    ((_ deep pairs end thunk (return formals body0 body ...) . more)
     (handler-clauses deep pairs (lambda formals body0 body ...) thunk . more))
    ((_ deep (pair ...) end thunk (effect (k . formals) body0 body ...) . more)
     (handler-clauses deep (pair ... (%cons effect (lambda (k . formals) body0 body ...))) end thunk . more))))

;;;; Generators

;; A procedure without arguments that returns what `proc` yields, one value each time, and an end-of-file object when it
;; has returned.  Each step is two one-shot captures; the frames of `proc` run on top of the call's continuation, under
;; its winders.  The mark of the prompt winder belongs to the generator: its k is the continuation of the step under
;; way.
;;
;; That continuation is not below the frames of `proc`, so a capture of these for more than one use does not see it; but
;; who enters them again comes to the next `yield` again, which then returns to it again.  So each step finds out
;; whether anybody has captured anything meanwhile; then this step's continuation and those of all that follow are for
;; more than one use.
(define (make-coroutine-generator proc)
  (define mark (make-mark #f #f #f))
  ;; What to go on with: a raw continuation and the winders that it had above those of the step.  Before the first step
  ;; #f, during a step and when an error has ended it #t, at the end ().
  (define resume #f)
  (define above '())
  (define place '())                    ; the last step's prompt winder
  (define captures 0)                   ; how many there were before the step; #f: it can be entered again
  (define (yield x)
    (%call/1cc
     (lambda (k)
       (let ((caller (%opaque-ref mark 1)))
         (if (if (%eq? (%machine-ref (slot-winders)) place) (%eq? captures (%machine-ref (slot-captures))) #f)
             (begin
               (if (%pair? above) (set! above '()))
               (set! resume k)
               ;; a mark leaves handlers and parameters as they are
               (%machine-set! (slot-winders) (%opaque-ref place 0))
               (caller x))
             (let ((w (running)))
               (if (%not w)
                   (raise-condition (kind-other) "make-coroutine-generator"
                                    "yield was called outside of its generator" '() (no-site)))
               ;; what `proc` has around the call
               (set! above (winders-between (%continuation-winders k) w))
               (rewind-to w)
               (set! place w)
               (set! resume k)
               (leave-winder!)
               (give caller x)))))))
  ;; Returns `x` from the step, whose winders are those present unless it is entered again.
  (define (give caller x)
    (cond
      ((%not captures) (caller x))
      ((%eq? captures (%machine-ref (slot-captures))) (call-in caller (lambda () x)))
      (else
       (set! captures #f)
       (call-in caller
         (lambda ()
           (%call/cc
            (lambda (k)
              (%opaque-set! mark 1 k)
              x)))))))
  ;; The winder of the step under way, or #f.
  (define (running)
    (let loop ((w (%machine-ref (slot-winders))))
      (cond
        ((%null? w) #f)
        ((%eq? (%opaque-ref w 2) mark) w)
        (else (loop (%opaque-ref w 0))))))
  (define (start)
    (proc yield)
    (set! resume '())
    (if (%eq? captures (%machine-ref (slot-captures)))
        '#!eof
        (begin
          (leave-winder!)
          (give (%opaque-ref mark 1) '#!eof))))
  (define (step caller)
    (let ((k resume) (old place))
      (cond
        ((if (%procedure? k)
             (if (%null? above) (%eq? (%opaque-ref old 0) (%machine-ref (slot-winders))) #f)
             #f)
         ;; called where it was called the last time
         (%opaque-set! mark 1 caller)
         (set! resume #t)
         (if captures (set! captures (%machine-ref (slot-captures))))
         (%machine-set! (slot-winders) old)
         (k #t))
        ((%procedure? k)
         (enter! caller)
         (wind-above above old)
         (call-in k unspecific))
        ((%not k)
         (enter! caller)
         (call-in base start))
        ((if (%eq? k #t) (running) #f)
         (raise-condition (kind-other) "make-coroutine-generator" "the generator is running already" '() (no-site)))
        (else '#!eof))))
  (define (enter! caller)
    (%opaque-set! mark 1 caller)
    (set! resume #t)
    (if captures (set! captures (%machine-ref (slot-captures))))
    (enter-mark! mark)
    (set! place (%machine-ref (slot-winders))))
  (check-procedure "make-coroutine-generator" proc)
  (lambda () (if captures (%call/1cc step) (%call/cc step))))

(define (unspecific) #t)
