;;; (cairn control): the dynamic state of a program: winders, handlers, parameters; conditions, promises, values.
;;;
;;; Problem.  `dynamic-wind`, exception handlers and parameters are three stacks that must all be right after any
;;; jump through a continuation.
;;;
;;; Idea.  There is one stack.  Machine slot 0 holds the innermost *winder*, an opaque object:
;;;
;;;     0 parent     the enclosing winder, or ()
;;;     1 depth      number of winders from here to the bottom
;;;     2 before     thunk or #f
;;;     3 after      thunk or #f
;;;     4 handlers   handler stack inside this winder's extent
;;;     5 params     parameterization inside this winder's extent
;;;
;;; Slot 1 (handlers) and slot 4 (parameterization) cache fields 4 and 5 of the winder in slot 0, so that `raise` and
;;; parameter references need no detour.  Whatever changes them pushes a winder.  A continuation remembers slot 0;
;;; the runtime compares it when the continuation is invoked and calls `rewind` when it differs.
;;;
;;; Invariant: outside this file, slot 1 = field 4 and slot 4 = field 5 of slot 0 (both () when slot 0 is ()).
;;;
;;; The expander refers to parameterize*, guard*, delay* and delay-force* for the forms of similar names.

(define-library (cairn control)
  (export
   ;; continuations and values
   values call-with-values call-with-current-continuation
   (rename call-with-current-continuation call/cc)
   dynamic-wind list->values
   ;; exceptions
   raise raise-continuable with-exception-handler error guard*
   error-object? error-object-message error-object-irritants read-error? file-error?
   condition? condition-kind condition-who condition-message condition-irritants condition-site
   condition->string raise-condition raise-read-error raise-file-error
   wrong-type out-of-range check-procedure list-end endless-list write-to-string
   ;; parameters
   make-parameter parameterize* parameter-cell-value parameter-access
   ;; promises
   delay* delay-force* make-promise force (rename %promise? promise?)
   ;; leaving
   exit emergency-exit)
  (import (cairn syntax) (cairn primitives) (cairn records))
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
        ;; A continuation takes any number of values.
        (vals (%call/cc (lambda (k) (%apply k vals))))))

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

    ;;;; Winders

    (%machine-set! 0 '())
    (%machine-set! 1 '())
    (%machine-set! 2 '())

    (define (winder-depth w)
      (if (%null? w) 0 (%opaque-ref w 1)))

    (define (make-winder parent before after handlers params)
      (%opaque parent (%fx+ 1 (winder-depth parent)) before after handlers params))

    ;; Makes `w` the innermost winder.
    (define (enter-state! w)
      (%machine-set! 0 w)
      (if (%null? w)
          (begin
            (%machine-set! 1 '())
            (%machine-set! 2 '()))
          (begin
            (%machine-set! 1 (%opaque-ref w 4))
            (%machine-set! 2 (%opaque-ref w 5)))))

    (define (dynamic-wind before thunk after)
      (before)
      (let ((outer (%machine-ref 0)))
        (%machine-set! 0 (make-winder outer before after (%machine-ref 1) (%machine-ref 2)))
        (%receive vals (thunk)
          (%machine-set! 0 outer)
          (after)
          (list->values vals))))

    ;; Calls `thunk` with these handlers and parameters.
    (define (with-state handlers params thunk)
      (let ((outer (%machine-ref 0))
            (outer-handlers (%machine-ref 1))
            (outer-params (%machine-ref 2)))
        (%machine-set! 0 (make-winder outer #f #f handlers params))
        (%machine-set! 1 handlers)
        (%machine-set! 2 params)
        (%receive vals (thunk)
          (%machine-set! 0 outer)
          (%machine-set! 1 outer-handlers)
          (%machine-set! 2 outer-params)
          (list->values vals))))

    ;; Leaves and enters winders until `target` is the innermost one.  Each thunk runs in the state outside its own
    ;; dynamic-wind.
    (define (rewind-to target)
      (define (common a b)
        (cond
          ((%eq? a b) a)
          ((%fx< (winder-depth a) (winder-depth b)) (common a (%opaque-ref b 0)))
          ((%fx< (winder-depth b) (winder-depth a)) (common (%opaque-ref a 0) b))
          (else (common (%opaque-ref a 0) (%opaque-ref b 0)))))
      (define (unwind w base)
        (if (%eq? w base)
            #f
            (let ((after (%opaque-ref w 3))
                  (parent (%opaque-ref w 0)))
              (if after
                  (begin
                    (enter-state! parent)
                    (after)))
              (unwind parent base))))
      (define (wind w base)
        (if (%eq? w base)
            #f
            (let ((before (%opaque-ref w 2)))
              (wind (%opaque-ref w 0) base)
              (if before
                  (begin
                    (enter-state! (%opaque-ref w 0))
                    (before))))))
      (let* ((here (%machine-ref 0))
             (base (common here target)))
        (unwind here base)
        (wind target base)
        (enter-state! target)))

    ;; The rewind hook: a continuation with other winders was invoked.
    (%machine-set! 4
      (lambda (k vals)
        (rewind-to (%continuation-winders k))
        (%apply k vals)))

    ;;;; Conditions

    (define-record-type condition
      (make-condition kind who message irritants site)
      condition?
      (kind condition-kind)
      (who condition-who)
      (message condition-text)
      (irritants condition-irritants)
      (site condition-site))

    ;; Kinds: the codes of cairn_layout::machine::error, here where they are needed.
    (define-syntax kind-type (syntax-rules () ((_) 0)))
    (define-syntax kind-range (syntax-rules () ((_) 1)))
    (define-syntax kind-file (syntax-rules () ((_) 6)))
    (define-syntax kind-read (syntax-rules () ((_) 7)))
    (define-syntax kind-other (syntax-rules () ((_) 8)))
    ;; code::Site::NONE
    (define-syntax no-site (syntax-rules () ((_) 1152851135862669312)))

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

    ;; One line: message, then the irritants as `write` shows them.
    (define (condition->string c)
      (call-with-string-port
       (lambda (port)
         (%write-object (condition-message c) port 0)
         (let loop ((irritants (condition-irritants c)))
           (if (%pair? irritants)
               (begin
                 (%write-char #\space port)
                 (%write-object (%car irritants) port 1)
                 (loop (%cdr irritants))))))))

    (define error-object? condition?)
    (define (error-object-message c)
      (if (condition? c) (condition-message c) (wrong-type "error-object-message" "an error object" c)))
    (define (error-object-irritants c)
      (if (condition? c) (condition-irritants c) (wrong-type "error-object-irritants" "an error object" c)))

    (define (condition-of-kind? x kind)
      (if (condition? x) (%eq? (condition-kind x) kind) #f))
    (define (read-error? x) (condition-of-kind? x (kind-read)))
    (define (file-error? x) (condition-of-kind? x (kind-file)))

    ;;;; Raising

    ;; No handler is left: report and exit.
    (define (uncaught obj)
      (if (condition? obj)
          (%fatal (condition->string obj) (condition-site obj))
          (%fatal (%string-append "uncaught exception: " (write-to-string obj)) (no-site))))

    (define (raise-continuable obj)
      (let ((handlers (%machine-ref 1)))
        (if (%null? handlers)
            (uncaught obj)
            (with-state (%cdr handlers) (%machine-ref 2)
              (lambda () ((%car handlers) obj))))))

    (define (raise obj)
      (let ((handlers (%machine-ref 1)))
        (if (%null? handlers)
            (uncaught obj)
            (begin
              (with-state (%cdr handlers) (%machine-ref 2)
                (lambda ()
                  ((%car handlers) obj)
                  ;; Where the first error was: behind a failed check there need not be a frame of its procedure.
                  (raise (make-condition (kind-other) #f "exception handler returned from non-continuable raise of"
                                         (%cons obj '()) (if (condition? obj) (condition-site obj) (no-site))))))
              ;; Not reached; it tells the compiler that `raise` does not return.
              (%fatal "raise returned" (no-site))))))

    (define (raise-condition kind who message irritants site)
      (raise (make-condition kind who message irritants site)))

    (define (with-exception-handler handler thunk)
      (if (%procedure? handler)
          (with-state (%cons handler (%machine-ref 1)) (%machine-ref 2) thunk)
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

    ;; `message` ends so that the value can follow.
    (define (out-of-range who message got)
      (raise-condition (kind-range) who message (%cons got '()) (no-site)))

    (define (check-procedure who x)
      (if (%procedure? x) x (wrong-type who "a procedure" x)))

    ;; What a list loop returns at the end: () for a proper list.
    (define (list-end who end)
      (if (%null? end) '() (wrong-type who "a list" end)))

    ;; A loop over a list that would never end.
    (define (endless-list who l)
      (raise-condition (kind-type) who "expected a list, got a circular one that begins with" (%cons (%car l) '())
                       (no-site)))

    ;; The error hook: a check in compiled code or a runtime call failed.
    (%machine-set! 3
      (lambda (kind who message irritants site)
        (raise-condition kind who message irritants site)))

    ;; The raise hook: the runtime ended an activation, and left the error hook's arguments in slot 9.
    (%machine-set! 8
      (lambda ()
        (%apply raise-condition (%machine-ref 9))))

    ;; (guard (x clause ...) body ...) is (guard* (lambda (x reraise) (cond clause ... (else (reraise)))) (lambda () body ...)).
    ;; The handler runs in the dynamic state of the guard form; `reraise` goes back to that of the raise.
    (define (guard* handler body)
      ((%call/cc
        (lambda (guard-k)
          (with-exception-handler
           (lambda (condition)
             ((%call/cc
               (lambda (raise-k)
                 (guard-k
                  (lambda ()
                    (handler condition
                             (lambda ()
                               (raise-k (lambda () (raise-continuable condition)))))))))))
           (lambda ()
             (%receive vals (body)
               (if (if (%pair? vals) (%null? (%cdr vals)) #f)
                   (let ((val (%car vals)))
                     (lambda () val))
                   (lambda () (%apply values vals))))))))))

    ;;;; Parameters

    ;; A parameter is a procedure over a cell, an opaque object: 0 the global value, 1 the converter.  A
    ;; parameterization is a list of (cell . value).  The key below makes a parameter give away its cell or convert.
    (define parameter-key (%opaque 'parameter))

    (define (parameter-cell-value cell)
      (let loop ((params (%machine-ref 2)))
        (cond
          ((%null? params) (%opaque-ref cell 0))
          ((%eq? (%car (%car params)) cell) (%cdr (%car params)))
          (else (loop (%cdr params))))))

    (define (parameter-cell-set! cell value)
      (let loop ((params (%machine-ref 2)))
        (cond
          ((%null? params) (%opaque-set! cell 0 value))
          ((%eq? (%car (%car params)) cell) (%set-cdr! (%car params) value))
          (else (loop (%cdr params))))))

    ;; A parameter called with one argument gives away its cell, or assigns: an extension.
    (define (parameter-access cell x)
      (if (%eq? x parameter-key)
          cell
          (parameter-cell-set! cell ((%opaque-ref cell 1) x))))

    (define (make-cell-parameter cell)
      (case-lambda
        (() (parameter-cell-value cell))
        ((x) (parameter-access cell x))
        ((key x) ((%opaque-ref cell 1) x))))

    (define make-parameter
      (case-lambda
        ((value) (make-cell-parameter (%opaque value (lambda (x) x))))
        ((value converter) (make-cell-parameter (%opaque (converter value) converter)))))

    ;; All values are converted before any is bound.
    (define (parameterize* bindings thunk)
      (let loop ((bindings bindings) (params (%machine-ref 2)))
        (if (%null? bindings)
            (with-state (%machine-ref 1) params thunk)
            (let ((parameter (%car (%car bindings))))
              (loop (%cdr bindings)
                    (%cons (%cons (parameter parameter-key)
                                  (parameter parameter-key (%cdr (%car bindings))))
                           params))))))

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
         (rewind-to '())
         (%exit obj))))

    (define emergency-exit
      (case-lambda
        (() (emergency-exit #t))
        ((obj) (%emergency-exit obj))))))
