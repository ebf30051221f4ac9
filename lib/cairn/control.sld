;;; (cairn control): the dynamic state of a program: winders, handlers, parameters; conditions, promises, values.
;;;
;;; Problem.  `dynamic-wind`, exception handlers and parameters are three stacks that must all be right after any
;;; jump through a continuation.
;;;
;;; Idea.  There is one stack.  The machine slot `winders` holds the innermost *winder*, an opaque object:
;;;
;;;     0 parent     the enclosing winder, or ()
;;;     1 depth      number of winders from here to the bottom
;;;     2 before     thunk or #f; a mark (prompts.scm); #t: a guard
;;;     3 after      thunk or #f
;;;     4 handlers   handler stack inside this winder's extent
;;;     5 params     parameterization inside this winder's extent
;;;
;;; The slots `handlers` and `parameters` hold copies of fields 4 and 5 of that winder, so that `raise` and parameter
;;; references need no detour.  Whatever changes them pushes a winder.  A continuation remembers the winder;
;;; the runtime compares it when the continuation is invoked and calls `rewind` when it differs.
;;;
;;; Winders are left relative to the present one, by going to its parent: frames may have been put on other winders than
;;; those they were made under (prompts.scm).
;;;
;;; Invariant: outside this file, the two slots equal these fields (both are () when there is no winder).
;;;
;;; The expander refers to parameterize*, guard*, delay* and delay-force* for the forms of similar names.

(define-library (cairn control)
  (export
   ;; continuations and values
   values call-with-values call-with-current-continuation
   (rename call-with-current-continuation call/cc)
   call/1cc call-in dynamic-wind (rename with-state %with-state) list->values
   ;; exceptions
   raise raise-continuable with-exception-handler with-unwind-handler empty-continuation? error guard* reraise-to
   (rename call-handler %call-handler)
   error-object? error-object-message error-object-irritants read-error? file-error?
   condition? condition-kind condition-who condition-text condition-message condition-irritants condition-site
   condition->string uncaught->string site-of raise-condition raise-read-error raise-file-error
   not-continuable
   &condition simple-condition? compound-condition? make-compound-condition condition-parts
   &message make-message-condition message-part? part-message
   &irritants make-irritants-condition irritants-part? part-irritants
   &who make-who-condition who-part? part-who
   &format make-format-part format-part? unhandled? set-prompt-handler!
   call-with-interrupts raise-interrupt interrupt? interrupt-number
   make-condition make-winder enter-state! uncaught before-uncaught!
   wrong-type wrong-record no-clause no-byte
   out-of-range wrong-element check-procedure is-range? within-range define-ranged list-end endless-list write-to-string
   ;; prompts
   make-continuation-prompt-tag (rename make-continuation-prompt-tag make-prompt-tag)
   default-continuation-prompt-tag (rename default-continuation-prompt-tag default-prompt-tag)
   continuation-prompt-tag? continuation-prompt-available?
   call-with-continuation-prompt call-with-prompt
   abort-to-prompt abort-current-continuation
   call-with-composable-continuation
   reset reset-at shift shift-at control control-at
   shift0 shift0-at control0 control0-at
   (rename reset prompt) (rename reset-at prompt-at) (rename reset reset0) (rename reset-at reset0-at)
   (rename reset prompt0) (rename reset-at prompt0-at)
   continuation-violation? continuation-violation-prompt-tag call-with-continuation-barrier
   make-effect with-handler with-shallow-handler make-coroutine-generator
   ;; for (cairn continuation)
   (rename make-violation %make-violation) (rename raise-violation %raise-violation) (rename barrier? %barrier?)
   (rename rewind-to %rewind-to) (rename rewind-from %rewind-from) (rename wind-above %wind-above)
   (rename find-prompt %find-prompt) (rename prompt-for %prompt-for) (rename call-composed %call-composed)
   (rename check-tag %check-tag) (rename has-tag? %has-tag?) (rename captured %captured)
   (rename immediate-marks %immediate-marks) (rename winder-marks %winder-marks)
   (rename call-with-marks %call-with-marks)
   ;; parameters
   make-parameter parameterize* parameter-cell-value parameter-access
   ;; promises
   delay* delay-force* make-promise force (rename %promise? promise?)
   ;; leaving
   exit emergency-exit (rename exiting? %exiting?))
  (import (cairn syntax) (cairn primitives) (cairn layout))
  (begin

    ;;;; Values and continuations

    (define values
      (case-lambda
        ((a) a)
        ((a b) (%values a b))
        ((a b c) (%values a b c))
        (() (%values))
        ((a b c d) (%values a b c d))
        ((a b c d e) (%values a b c d e))
        ((a b c d e f) (%values a b c d e f))
        ((a b c d e f g) (%values a b c d e f g))
        ((a b c d e f g h) (%values a b c d e f g h))
        ((a b c d e f g h i) (%values a b c d e f g h i))
        ((a b c d e f g h i j) (%values a b c d e f g h i j))
        (vals (%apply return-values vals))))

    (define return-values (%machine-builtin (builtin-return-values)))

    ;; The elements of a list as multiple values.
    (define (list->values vals)
      (if (if (%pair? vals) (%null? (%cdr vals)) #f)
          (%car vals)
          (%apply values vals)))

    (define (call-with-values producer consumer)
      (%receive vals (producer)
        (%apply consumer vals)))

    ;; The runtime restores the dynamic state when the continuation is invoked.
    (define (call-with-current-continuation receiver)
      (%call/cc receiver))

    ;; For one use, by calling it or by returning; the name is Chez Scheme's.
    (define (call/1cc receiver)
      (%call/1cc receiver))

    ;; Calls `thunk` with the continuation `k`, which is one; winders stay as they are.
    (define call-in (%machine-builtin (builtin-call-in)))

    ;;;; Winders

    (%machine-set! (slot-winders) '())
    (%machine-set! (slot-handlers) '())
    (%machine-set! (slot-parameters) '())

    ;; 0 the winder around it, 1 how many there are, 2 and 3 `before` and `after`, 4 handlers, 5 parameters; 6 the
    ;; innermost significant one around it: entering and leaving have to look at no other.
    (define (winder-depth w)
      (if (%null? w) 0 (%opaque-ref w 1)))

    (define (make-winder parent before after handlers params)
      (%opaque parent (%fx+ 1 (winder-depth parent)) before after handlers params (significant parent)))

    ;; The innermost of `w` and those around it that has thunks or a mark (prompts.scm), or ().
    (define (significant w)
      (cond
        ((%null? w) w)
        ((%opaque-ref w 3) w)
        ((%opaque? (%opaque-ref w 2)) w)
        (else (%opaque-ref w 6))))

    ;; Makes `w` the innermost winder.
    (define (enter-state! w)
      (%machine-set! (slot-winders) w)
      (if (%null? w)
          (begin
            (%machine-set! (slot-handlers) '())
            (%machine-set! (slot-parameters) '()))
          (begin
            (%machine-set! (slot-handlers) (%opaque-ref w 4))
            (%machine-set! (slot-parameters) (%opaque-ref w 5)))))

    (define (dynamic-wind before thunk after)
      (before)
      (let ((outer (%machine-ref (slot-winders))))
        (%machine-set! (slot-winders)
                       (make-winder outer before after (%machine-ref (slot-handlers)) (%machine-ref (slot-parameters))))
        (%receive vals (thunk)
          (leave-winder!)
          (after)
          (list->values vals))))

    (define (leave-winder!)
      (enter-state! (%opaque-ref (%machine-ref (slot-winders)) 0)))

    ;; Calls `thunk` with these handlers and parameters; `what` is for the winder's field `before`, and no thunk.
    (define (with-state what handlers params thunk)
      (let* ((outer (%machine-ref (slot-winders)))
             (outer-handlers (%machine-ref (slot-handlers)))
             (outer-params (%machine-ref (slot-parameters)))
             (w (make-winder outer what #f handlers params)))
        (%machine-set! (slot-winders) w)
        (%machine-set! (slot-handlers) handlers)
        (%machine-set! (slot-parameters) params)
        (%receive vals (thunk)
          ;; as a rule the frames are where they were made
          (if (%eq? (%machine-ref (slot-winders)) w)
              (begin
                (%machine-set! (slot-winders) outer)
                (%machine-set! (slot-handlers) outer-handlers)
                (%machine-set! (slot-parameters) outer-params))
              (leave-winder!))
          (list->values vals))))

    ;; Leaves and enters winders until `target` is the innermost one.  Each thunk runs in the state outside its own
    ;; dynamic-wind.
    (define (rewind-to target)
      (rewind-from (%machine-ref (slot-winders)) target (lambda (here) target)))

    ;; Leaves and enters winders from `here`, the innermost one, until that is `target`.  Thunks, and who interrupts the
    ;; thread, may capture what is being done here and put it under other winders: then `find` says, of the one that is
    ;; innermost there, where to go.
    (define (rewind-from here target find)
      (define (outer w) (%opaque-ref w 6))
      (define (common a b)
        (cond
          ((%eq? a b) a)
          ((%fx< (winder-depth a) (winder-depth b)) (common a (outer b)))
          ((%fx< (winder-depth b) (winder-depth a)) (common (outer a) b))
          (else (common (outer a) (outer b)))))
      ;; These get the innermost winder and return what it is then, or #f if somebody else has changed it.
      (define (run-in w now thunk)
        (if (innermost? now)
            (begin
              (enter-state! w)
              (thunk)
              w)
            #f))
      (define (unwind now w base)
        (if (if now (%eq? w base) #t)
            now
            (let ((after (%opaque-ref w 3)))
              (unwind (if after (run-in (%opaque-ref w 0) now after) now) (outer w) base))))
      (define (wind now w base)
        (if (%eq? w base)
            now
            (let ((before (%opaque-ref w 2)) (now (wind now (outer w) base)))
              (if (if now (%procedure? before) #f)
                  (run-in (%opaque-ref w 0) now before)
                  now))))
      (let* ((start (significant here))
             (end (significant target))
             (base (common start end))
             (now (wind (unwind here start base) end base)))
        (if (innermost? now)
            (enter-state! target)
            (let ((here (%machine-ref (slot-winders))))
              (rewind-from here (find here) find)))))

    (define (innermost? w)
      (%eq? (%machine-ref (slot-winders)) w))

    ;;;; Conditions

    (define-record-type condition
      (make-condition kind who message irritants site)
      condition?
      (kind condition-kind)
      (who condition-who)
      (message condition-text)
      (irritants condition-irritants)
      (site condition-site))

    (define (call-with-string-port proc)
      (let ((port (%open-output-string)))
        (proc port)
        (%get-output-string port)))

    (define (write-to-string x)
      (call-with-string-port (lambda (port) (%write-object x port 1))))

    ;; The message without the irritants, as `error-object-message` returns it.  Messages are made so that the
    ;; irritants complete the sentence: "car: expected a pair, got" 5.
    (define (condition-message c)
      (let ((who (condition-who c))
            (message (condition-text c)))
        (if (%string? who)
            (%string-concat (%cons who (%cons ": " (%cons message '()))))
            message)))

    ;; Conditions of R6RS, which are error objects too: records of types that extend &condition, and compounds of such.
    ;; The other types, and the view of the conditions above as such, are in (rnrs conditions).
    (define-record-type &condition #f simple-condition?)
    (define-record-type (&message &condition) (make-message-condition message) message-part? (message part-message))
    (define-record-type (&irritants &condition) (make-irritants-condition irritants) irritants-part?
      (irritants part-irritants))
    (define-record-type (&who &condition) (make-who-condition who) who-part? (who part-who))
    ;; Chez Scheme's: the message is a control string, of which `text` makes a string, given what it says of the
    ;; irritants.
    (define-record-type (&format &condition) (make-format-part text) format-part? (text part-text))
    (define-record-type compound-condition (make-compound-condition parts) compound-condition? (parts compound-parts))

    (define (condition-parts c)
      (if (compound-condition? c) (compound-parts c) (%cons c '())))
    ;; What the first part of a kind holds.
    (define (part-value c part? value default)
      (let loop ((parts (condition-parts c)))
        (cond
          ((%null? parts) default)
          ((part? (%car parts)) (value (%car parts)))
          (else (loop (%cdr parts))))))

    (define (message-of-parts c) (message-after-who c (part-value c message-part? part-message "")))
    (define (message-after-who c message)
      (let ((who (part-value c who-part? part-who #f)))
        (if who
            (call-with-string-port
             (lambda (port)
               (%write-object who port 0)
               (%write-object ": " port 0)
               (%write-object message port 0)))
            message)))

    (define (write-all objects port)
      (if (%pair? objects)
          (begin
            (%write-char #\space port)
            (%write-object (%car objects) port 1)
            (write-all (%cdr objects) port))))

    ;; Parts that say more than their type, if there is a message.
    (define (telling parts message?)
      (cond
        ((%null? parts) '())
        ((let ((part (%car parts)))
           (if message?
               (cond
                 ((message-part? part) #f)
                 ((irritants-part? part) #f)
                 ((who-part? part) #f)
                 ((format-part? part) #f)
                 (else (%pair? (%record-type-about (%record-rtd part) 2))))
               #t))
         (%cons (%car parts) (telling (%cdr parts) message?)))
        (else (telling (%cdr parts) message?))))

    ;; One line: message, then the irritants as `write` shows them, then what else is known.
    (define (condition->string c)
      (call-with-string-port
       (lambda (port)
         (if (condition? c)
             (begin
               (%write-object (condition-message c) port 0)
               (write-all (condition-irritants c) port))
             (let* ((message? (part-value c message-part? part-message #f))
                    (text (part-value c format-part? part-text #f))
                    (others (telling (condition-parts c) message?)))
               (cond
                 ((if message? text #f)
                  (%write-object
                   (message-after-who c (text message? (part-value c irritants-part? part-irritants '()))) port 0)
                  (write-all others port))
                 (message?
                  (%write-object (message-of-parts c) port 0)
                  (write-all (part-value c irritants-part? part-irritants '()) port)
                  (write-all others port))
                 ((%pair? others)
                  (%write-object (%car others) port 1)
                  (write-all (%cdr others) port))))))))

    (define (error-object? x)
      (cond ((condition? x) #t) ((compound-condition? x) #t) (else (simple-condition? x))))
    (define (error-object-message c)
      (cond
        ((condition? c) (condition-message c))
        ((error-object? c) (message-of-parts c))
        (else (wrong-type "error-object-message" "an error object" c))))
    (define (error-object-irritants c)
      (cond
        ((condition? c) (condition-irritants c))
        ((error-object? c) (part-value c irritants-part? part-irritants '()))
        (else (wrong-type "error-object-irritants" "an error object" c))))

    ;; What is said of an object that nobody handles, and the place.
    (define (uncaught->string obj)
      (cond
        ((condition? obj) (condition->string obj))
        ((%not (error-object? obj)) (%string-append "uncaught exception: " (write-to-string obj)))
        ((part-value obj message-part? part-message #f) (condition->string obj))
        (else (%string-append "uncaught exception: " (condition->string obj)))))
    (define (site-of obj)
      (if (condition? obj) (condition-site obj) (no-site)))

    (define (condition-of-kind? x kind)
      (if (condition? x) (%eq? (condition-kind x) kind) #f))
    (define (read-error? x) (condition-of-kind? x (kind-read)))
    (define (file-error? x) (condition-of-kind? x (kind-file)))

    ;;;; Raising

    ;; Does nobody handle what is raised here?  At the prompt its own handler, which reports and abandons the input, is
    ;; nobody.
    (define prompt-handler #f)
    (define (set-prompt-handler! handler) (set! prompt-handler handler))
    (define (unhandled?)
      (let ((handlers (%machine-ref (slot-handlers))))
        (if (%null? handlers) #t (%eq? (%car handlers) prompt-handler))))

    ;; Has `proc` called with what no handler takes, before that is reported.
    (define (before-uncaught! proc)
      (let ((hook (%machine-ref (slot-uncaught-hook))))
        (%machine-set! (slot-uncaught-hook)
                       (lambda (obj)
                         (proc obj)
                         (if (%procedure? hook) (hook obj))))))

    ;; No handler is left: report and exit.
    (define (uncaught obj)
      ;; An uncaught error of a thread that is not the main one ends that thread: this does not return then.
      (let ((hook (%machine-ref (slot-uncaught-hook))))
        (if (%procedure? hook) (hook obj)))
      (if (interrupt? obj)
          (begin
            (exit (%fx+ 128 (interrupt-number obj)))
            ;; Not reached; it tells the compiler that `raise` does not return.
            (%fatal "exit returned" (no-site)))
          (%fatal (uncaught->string obj) (site-of obj))))

    ;;;; Signals

    ;; What a signal becomes in programs that ask for it.
    (define-record-type interrupt (make-interrupt number) interrupt? (number interrupt-number))

    ;; The signal hook: a signal has arrived, its number is in slot `raised`. The program goes on when this returns,
    ;; unless it was waiting for input: then the number is negative.
    (define (raise-interrupt)
      (let ((number (%machine-ref (slot-raised))))
        (if (%fx< number 0)
            (raise (make-interrupt (%fx- 0 number)))
            (let ((hook (%machine-ref (slot-interrupt-hook)))
                  (thunk (lambda () (raise-continuable (make-interrupt number)))))
              ;; In programs with threads, the main thread is interrupted.
              (if (%procedure? hook) (hook thunk) (thunk))))))

    (define (call-with-interrupts thunk)
      (let ((outer #f))
        (dynamic-wind
         (lambda ()
           (set! outer (%machine-ref (slot-signal-hook)))
           (%machine-set! (slot-signal-hook) raise-interrupt))
         thunk
         (lambda () (%machine-set! (slot-signal-hook) outer)))))

    (define (raise-continuable obj)
      (let ((handlers (%machine-ref (slot-handlers))))
        (cond
          ((%null? handlers) (uncaught obj))
          ((%procedure? (%car handlers))
           (with-state raised (%cdr handlers) (%machine-ref (slot-parameters))
             (lambda () ((%car handlers) obj))))
          (else (call-unwinding (%car handlers) obj)))))

    ;; Field `before` of the winder that a handler runs under: a list of the winder where the search for the next guard
    ;; begins; of #f if that is everywhere.
    (define raised '(#f))

    ;; `raise-continuable`, in tail position in `handle`, the handler of a guard.  The winder that the handler runs
    ;; under is replaced: through however many guards an object is raised again, there is one, and the next guard's
    ;; winder is looked for where this one's ends.  Below winder `from`, this one's is `found`.
    (define (raise-again obj handle from found)
      (let* ((handlers (%machine-ref (slot-handlers)))
             (here (%machine-ref (slot-winders)))
             (w (cond
                  ((%not (%pair? (%opaque-ref here 2))) #f)
                  ((%eq? here from) found)
                  (else (guard-winder here handle)))))
        (if (if w (if (%pair? handlers) (%procedure? (%car handlers)) #f) #f)
            (let ((new (make-winder (%opaque-ref here 0) (%cons (%opaque-ref w 0) '()) #f
                                    (%cdr handlers) (%machine-ref (slot-parameters)))))
              ;; not so if this was interrupted and put elsewhere
              (if (innermost? here)
                  (begin
                    (enter-state! new)
                    ((%car handlers) obj))
                  (raise-again obj handle from found)))
            (raise-continuable obj))))

    ;; What is in the list of handlers is a procedure, or stands for a prompt: see `with-unwind-handler`.
    (define (call-unwinding handler obj)
      ((%opaque-ref handler 1) handler obj))
    (define (call-handler handler obj)
      (if (%procedure? handler)
          (handler obj)
          (call-unwinding handler obj)))

    (define not-continuable "exception handler returned from non-continuable raise of")
    ;; However many handlers have returned, it is about the first object.
    (define (first-raised obj)
      (if (if (condition? obj) (%eq? (condition-text obj) not-continuable) #f)
          (condition-irritants obj)
          (%cons obj '())))
    (define (raise obj)
      (let ((handlers (%machine-ref (slot-handlers))))
        (if (%null? handlers)
            (uncaught obj)
            (begin
              (with-state #f (%cdr handlers) (%machine-ref (slot-parameters))
                (lambda ()
                  ;; under a winder of its own, which guards may replace
                  (with-state raised (%cdr handlers) (%machine-ref (slot-parameters))
                    (lambda () (call-handler (%car handlers) obj)))
                  ;; Where the first error was: behind a failed check there need not be a frame of its procedure.
                  (raise (make-condition (kind-other) #f not-continuable (first-raised obj)
                                         (if (condition? obj) (condition-site obj) (no-site))))))
              ;; Not reached; it tells the compiler that `raise` does not return.
              (%fatal "raise returned" (no-site))))))

    (define (raise-condition kind who message irritants site)
      (raise (make-condition kind who message irritants site)))

    (define (with-exception-handler handler thunk)
      (if (%procedure? handler)
          (with-state #f (%cons handler (%machine-ref (slot-handlers))) (%machine-ref (slot-parameters)) thunk)
          (wrong-type "with-exception-handler" "a procedure" handler)))

    ;; (error 'who "message" irritant ...), as in R6RS, is understood too.
    (define (error message . irritants)
      (if (if (%symbol? message) (if (%pair? irritants) (%string? (%car irritants)) #f) #f)
          (raise-condition (kind-other) (%symbol->string message) (%car irritants) (%cdr irritants) (no-site))
          (raise-condition (kind-other) #f message irritants (no-site))))

    (define (raise-read-error message irritants)
      (raise-condition (kind-read) "read" message irritants (no-site)))

    (define (raise-file-error who message irritants)
      (raise-condition (kind-file) who message irritants (no-site)))

    ;; Failing checks of library procedures.
    (define (wrong-type who expected got)
      (raise-condition (kind-type) who
                       (%string-concat (%cons "expected " (%cons expected (%cons ", got" '()))))
                       (%cons got '()) (no-site)))

    ;; The same where a record of the type `rtd` is expected: another type may have its name.
    (define (wrong-record who rtd expected got)
      (let ((message (%record-instead got rtd expected)))
        (if message
            (raise-condition (kind-type) who message (%cons got '()) (no-site))
            (wrong-type who expected got))))

    ;; `message` ends so that the value can follow.
    (define (out-of-range who message got)
      (raise-condition (kind-range) who message (%cons got '()) (no-site)))

    ;; No byte of the bytevector is at `got`.
    (define (no-byte who bytes got)
      (let ((message
             (%string-concat
              (%cons "a bytevector of length "
                     (%cons (write-to-string (%bytevector-length bytes)) (%cons " has no element" '()))))))
        (out-of-range who message got)))

    ;; No element of a field that is an array.
    (define (wrong-element who message expected got)
      (if (%fixnum? got) (out-of-range who message got) (wrong-type who expected got)))

    ;; `who` is a case-lambda without clauses.
    (define (no-clause who arguments)
      (raise-condition (kind-arity) who
                       (if (%null? arguments)
                           "a case-lambda without clauses cannot be called; got no arguments"
                           "a case-lambda without clauses cannot be called; got")
                       arguments (no-site)))

    (define (check-procedure who x)
      (if (%procedure? x) x (wrong-type who "a procedure" x)))

    ;; Do `start` and `end` bound a range of `length` elements?
    (define-syntax is-range?
      (syntax-rules ()
        ((_ start end length)
         (if (if (%fixnum? start) (%fixnum? end) #f)
             (if (%fx<= 0 start) (if (%fx<= start end) (%fx<= end length) #f) #f)
             #f))))
    ;; `body` if they do.
    (define-syntax within-range
      (syntax-rules ()
        ((_ who length start end body)
         (if (is-range? start end length)
             body
             (out-of-range who "not a range of the vector:" (%cons start end))))))

    ;; A procedure that takes a range of the vector v after its other arguments: start and end may be left out.
    (define-syntax define-ranged
      (syntax-rules ()
        ((_ (name argument ...) who (v start end) body)
         (define name
           (case-lambda
             ((argument ...) (name argument ... 0 (%vector-length v)))
             ((argument ... start) (name argument ... start (%vector-length v)))
             ((argument ... start end) (within-range who (%vector-length v) start end body)))))))

    ;; What a list loop returns at the end: () for a proper list.
    (define (list-end who end)
      (if (%null? end) '() (wrong-type who "a list" end)))

    ;; A loop over a list that would never end.
    (define (endless-list who l)
      (raise-condition (kind-type) who "expected a list, got a circular one that begins with" (%cons (%car l) '())
                       (no-site)))

    ;; The error hook: a check in compiled code or a runtime call failed.
    (%machine-set! (slot-error-hook)
      (lambda (kind who message irritants site)
        (raise-condition kind who message irritants site)))

    ;; The rewind hook: a continuation with other winders was invoked.
    (%machine-set! (slot-rewind-hook)
      (lambda (k vals)
        (let ((winders (%continuation-winders k)))
          (if winders
              (begin
                (rewind-to winders)
                (%apply k vals))
              (raise-condition (kind-other) #f "a one-shot continuation was called a second time, with"
                               vals (no-site))))))

    ;; The raise hook: the runtime ended an activation, and left the error hook's arguments in slot 9.
    (%machine-set! (slot-raise-hook)
      (lambda ()
        (%apply raise-condition (%machine-ref (slot-raised)))))

    ;; (guard (x clause ...) body ...) is (guard* (lambda (x) (cond clause ... (else #f))) (lambda () body ...)), where
    ;; what follows the tests is made a thunk: `handler` says what to do, in the dynamic state of the guard form, or #f.
    ;; That is done in place of the form; for #f, the object is raised again in the state of the raise.
    ;;
    ;; So that this costs little through many guards, the tests run on top of the frames of the raise, if there is
    ;; nothing between the two states that has to be left and entered.
    ;;
    ;; The guard is found among the present winders: its frames may have been put elsewhere since.
    (define (guard* handler body)
      (%call/1cc
       (lambda (guard-k)
         (define (handle condition)
           (let* ((here (%machine-ref (slot-winders))) (w (guard-winder here handle)))
             (cond
               ((%not (innermost? here))
                ;; interrupted, and put elsewhere
                (handle condition))
               ((if w (%eq? (significant here) (significant w)) #f)
                (let* ((outside (%opaque-ref w 0))
                       (thunk (begin (enter-state! outside) (handler condition)))
                       (now (%machine-ref (slot-winders))))
                  (if thunk
                      (call-in guard-k thunk)
                      (begin
                        ;; the tests may have been captured, and put under other winders
                        (if (%eq? now outside)
                            (enter-state! here)
                            (wind-above (winders-between here outside) outside))
                        (raise-again condition handle here w)))))
               (else
                (leave-for-guard guard-k handle here w handler condition)))))
         (with-state #t (%cons handle (%machine-ref (slot-handlers))) (%machine-ref (slot-parameters)) body))))

    ;; Goes to the guard that has put `handle` among the handlers; where no clause applies, back to raise the object
    ;; again.  Below winder `from`, its winder is `found`.
    (define (leave-for-guard guard-k handle from found handler condition)
      (define (outside-of w)
        (if w (%opaque-ref w 0) (%continuation-winders guard-k)))
      ((%call/cc
        (lambda (raise-k)
          (let* ((here (%continuation-winders raise-k))
                 (w (if (%eq? here from) found (guard-winder here handle)))
                 (outside (outside-of w)))
            (define (clauses)
              (let ((thunk (handler condition)) (now (%machine-ref (slot-winders))))
                (cond
                  (thunk (thunk))
                  ((%not w) (raise-k (lambda () (raise-continuable condition))))
                  ((%eq? now outside) (raise-k (lambda () (raise-again condition handle here w))))
                  (else
                   ;; the tests were captured, and put under other winders: so are the frames of the raise
                   (wind-above (winders-between here outside) outside)
                   (call-in raise-k (lambda () (lambda () (raise-again condition handle here w))))))))
            (rewind-from here outside (lambda (here) (outside-of (guard-winder here handle))))
            (call-in guard-k clauses))))))

    ;; The innermost of `w` and the winders around it that is of the guard with this handler, or #f.
    (define (guard-winder w handle)
      (if (%null? w)
          #f
          (let ((what (%opaque-ref w 2)))
            (cond
              ((if (%eq? what #t) (%eq? (%car (%opaque-ref w 4)) handle) #f) w)
              ((if (%pair? what) (%car what) #f) (guard-winder (%car what) handle))
              (else (guard-winder (%opaque-ref w 0) handle))))))

    ;;;; Parameters

    ;; A parameter is a procedure over a cell, an opaque object: 0 the global value, 1 the converter.  A
    ;; parameterization is a list of (cell . value).  The key below makes a parameter give away its cell or convert.
    (define parameter-key (%opaque 'parameter))

    (define (parameter-cell-value cell)
      (let loop ((params (%machine-ref (slot-parameters))))
        (cond
          ((%null? params) (%opaque-ref cell 0))
          ((%eq? (%car (%car params)) cell) (%cdr (%car params)))
          (else (loop (%cdr params))))))

    (define (parameter-cell-set! cell value)
      (let loop ((params (%machine-ref (slot-parameters))))
        (cond
          ((%null? params) (%opaque-set! cell 0 value))
          ((%eq? (%car (%car params)) cell) (%set-cdr! (%car params) value))
          (else (loop (%cdr params))))))

    ;; A parameter called with one argument gives away its cell, or assigns: an extension.
    (define (parameter-access cell x)
      (if (%eq? x parameter-key)
          cell
          (parameter-cell-set! cell ((%opaque-ref cell 1) x))))

    ;; It is printed as a parameter by its name.
    (define (make-cell-parameter cell)
      (define parameter
        (case-lambda
          (() (parameter-cell-value cell))
          ((x) (parameter-access cell x))
          ((key x) ((%opaque-ref cell 1) x))))
      parameter)

    (define make-parameter
      (case-lambda
        ((value) (make-cell-parameter (%opaque value (lambda (x) x))))
        ((value converter) (make-cell-parameter (%opaque (converter value) converter)))))

    ;; All values are converted before any is bound.
    (define (parameterize* bindings thunk)
      (let loop ((bindings bindings) (params (%machine-ref (slot-parameters))))
        (if (%null? bindings)
            (with-state #f (%machine-ref (slot-handlers)) params thunk)
            (let* ((parameter (%car (%car bindings)))
                   (cell (if (%procedure? parameter) (parameter parameter-key) #f)))
              ;; another procedure may have returned what it was given
              (if (if (%opaque? cell) (%eq? cell parameter-key) #t)
                  (wrong-type "parameterize" "a parameter" parameter))
              (loop (%cdr bindings)
                    (%cons (%cons cell (parameter parameter-key (%cdr (%car bindings)))) params))))))

    ;;;; Promises

    ;; A promise refers to a pair, shared by the promises of a delay-force chain: the car tells what the cdr is.
    ;;     #t      the value
    ;;     #f      the thunk of (delay expression)
    ;;     chain   the thunk of (delay-force expression)
    (define (delay* thunk)
      (%make-promise-object (%cons #f thunk)))

    (define (delay-force* thunk)
      (%make-promise-object (%cons 'chain thunk)))

    (define (make-promise x)
      (if (%promise? x) x (%make-promise-object (%cons #t x))))

    (define (fulfil! cell value)
      (%set-car! cell #t)
      (%set-cdr! cell value))

    ;; Forcing a promise may force it again from within: the first value to arrive stays.
    (define (force promise)
      (if (%promise? promise)
          (let loop ()
            (let* ((cell (%promise-ref promise))
                   (state (%car cell)))
              (cond
                ((%eq? state #t) (%cdr cell))
                ((%eq? state #f)
                 (let* ((value ((%cdr cell)))
                        (cell (%promise-ref promise)))
                   (if (%not (%eq? (%car cell) #t))
                       (fulfil! cell value))
                   (%cdr cell)))
                (else
                 (let* ((next ((%cdr cell)))
                        (cell (%promise-ref promise)))
                   (cond
                     ((%eq? (%car cell) #t) (%cdr cell))
                     ((%promise? next)
                      (let ((next-cell (%promise-ref next)))
                        (%set-car! cell (%car next-cell))
                        (%set-cdr! cell (%cdr next-cell))
                        (%promise-set! next cell)
                        (loop)))
                     (else
                      (fulfil! cell next)
                      next)))))))
          promise))

    ;;;; Leaving

    ;; Runs the outstanding `after` thunks first.
    (define exit
      (case-lambda
        (() (exit #t))
        ((obj)
         (set! leaving? #t)
         (rewind-to '())
         (%exit obj))))

    ;; Winders may ask whether it is the program's end that leaves them.
    (define leaving? #f)
    (define (exiting?) leaving?)

    (define emergency-exit
      (case-lambda
        (() (emergency-exit #t))
        ((obj) (%emergency-exit obj)))))
  (include "prompts.scm"))
