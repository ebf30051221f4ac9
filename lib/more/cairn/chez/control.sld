;;; (cairn chez control): Chez Scheme's `parameterize`, whose parameters may be any procedures, engines, and the
;;; handlers of last resort.
;;;
;;; **Engines.** (make-engine thunk) is a procedure of ticks and two procedures.  It runs the thunk behind a prompt; a
;;; thread beside it sleeps for the ticks and then interrupts the one that runs.  If the thunk ended before, `complete`
;;; is called with the ticks left and its values; if not, the rest of the computation is captured up to the prompt, and
;;; `expire` is called with an engine that goes on with it.
(define-library (cairn chez control)
  (export parameterize make-engine engine-block engine-return
          reset reset-handler abort abort-handler base-exception-handler default-exception-handler)
  (import (rename (scheme base) (parameterize r7-parameterize)) (scheme process-context)
          (only (scheme time) current-jiffy jiffies-per-second)
          (only (cairn control) abort-to-prompt call-with-composable-continuation call-with-continuation-prompt
                make-prompt-tag parameterize* uncaught before-uncaught! write-to-string wrong-type)
          (only (cairn thread) current-thread make-thread thread-interrupt! thread-sleep! thread-start!
                thread-terminate!))
  (begin

    ;;;; Parameters

    ;; A procedure that makes no parameter is one all the same if it returns its value without an argument, and takes
    ;; another one with one: that is put in its place, and back, whenever control comes and goes.
    (define-syntax parameterize
      (syntax-rules ()
        ((_ () body ...) (let () body ...))
        ((_ ((parameter value) ...) body ...)
         (with-values (list (cons parameter value) ...) (lambda () body ...)))))
    (define (with-values bindings thunk)
      (let sort ((l bindings) (real '()) (others '()))
        (cond
          ((pair? l)
           (cond ((not (procedure? (car (car l)))) (wrong-type "parameterize" "a parameter" (car (car l))))
                 ((real-parameter? (car (car l))) (sort (cdr l) (cons (car l) real) others))
                 (else (sort (cdr l) real (cons (car l) others)))))
          ((null? others) (parameterize* real thunk))
          (else
           (let ((inside (map cdr others)))
             (define (swap!)
               (let ((outside (map (lambda (b) ((car b))) others)))
                 (for-each (lambda (b x) ((car b) x)) others inside)
                 (set! inside outside)))
             (parameterize* real (lambda () (dynamic-wind swap! thunk swap!))))))))
    ;; Only how it is printed tells a parameter without calling it, but for those of ports, which are printed by name.
    ;; That takes long, so the last one is remembered.
    (define last-seen current-output-port)
    (define (real-parameter? p)
      (cond ((or (eq? p last-seen) (eq? p current-output-port) (eq? p current-input-port) (eq? p current-error-port)))
            ((string=? (write-to-string p) "#<parameter>")
             (set! last-seen p)
             #t)
            (else #f)))

    ;;;; Engines

    ;; A computation: the thread that runs it; a mark of its last run; that mark, too, while the run is behind its
    ;; prompt, or #f; that mark when the clock has rung before; and the jiffy when the run is to end.
    (define-record-type computation
      (make-computation thread run mark rung deadline)
      computation?
      (thread thread-of set-thread!)
      (run run-of set-run!)
      (mark mark-of set-mark!)
      (rung rung-of set-rung!)
      (deadline deadline-of set-deadline!))
    ;; The computation around, of whatever is asked, or #f.
    (define active (make-parameter #f))
    (define tag (make-prompt-tag 'engine))
    ;; A tick is a microsecond.
    (define jiffies-per-tick (quotient (jiffies-per-second) 1000000))

    (define (running who)
      (let ((c (active)))
        (if (and c (mark-of c) (eq? (thread-of c) (current-thread)))
            c
            (error (string-append who ": no engine is active")))))
    (define (running?)
      (let ((c (active)))
        (and c (mark-of c) (eq? (thread-of c) (current-thread)))))
    (define (ticks-left c)
      (max 0 (quotient (- (deadline-of c) (current-jiffy)) jiffies-per-tick)))

    ;; What comes out of the prompt is a procedure of `complete` and `expire`.
    (define (leave! c results)
      (let ((left (ticks-left c)))
        (set-mark! c #f)
        (abort-to-prompt tag (lambda (complete expire) (apply complete left results)))))
    (define (preempt! c)
      (set-mark! c #f)
      (call-with-composable-continuation
       (lambda (rest)
         (abort-to-prompt tag (lambda (complete expire) (expire (engine c (lambda () (rest #f)))))))
       tag)
      (arrive! c))
    ;; A run is behind its prompt, in the computation.
    (define (arrive! c)
      (set-mark! c (run-of c))
      (if (eq? (rung-of c) (run-of c)) (preempt! c)))
    ;; The clock may ring before that, and when the computation has been left.
    (define (ring! c mark)
      (cond ((and (eq? (mark-of c) mark) (eq? (active) c)) (preempt! c))
            ((eq? (run-of c) mark) (set-rung! c mark))))

    (define (check-procedure who x)
      (if (not (procedure? x)) (wrong-type who "a procedure" x)))
    (define (make-engine thunk)
      (check-procedure "make-engine" thunk)
      (let ((c (make-computation #f #f #f #f 0)))
        (engine c (lambda ()
                    (r7-parameterize ((active c))
                      (arrive! c)
                      (call-with-values thunk (lambda results (leave! c results))))))))
    (define (engine c go-on)
      (define (engine ticks complete expire)
        (if (not (and (exact-integer? ticks) (>= ticks 0))) (wrong-type "engine" "a number of ticks" ticks))
        (check-procedure "engine" complete)
        (check-procedure "engine" expire)
        (if (running?) (error "engine: engines cannot run inside of each other"))
        (if (= ticks 0)
            (expire engine)
            ((run c go-on ticks) complete expire)))
      engine)
    (define (run c go-on ticks)
      (let* ((mark (list 'run))
             (t (current-thread))
             (clock (make-thread
                     (lambda ()
                       (thread-sleep! (/ ticks 1000000))
                       (thread-interrupt! t (lambda () (ring! c mark))))
                     "engine clock")))
        (set-thread! c t)
        (set-run! c mark)
        (set-deadline! c (+ (current-jiffy) (* ticks jiffies-per-tick)))
        (thread-start! clock)
        (let ((outcome (call-with-continuation-prompt go-on tag (lambda (outcome) outcome))))
          (thread-terminate! clock)
          outcome)))

    (define (engine-block) (preempt! (running "engine-block")))
    (define (engine-return . results) (leave! (running "engine-return") results))

    ;;;; Handlers of last resort

    (define reset-handler (make-parameter (lambda () (exit 255))))
    (define (reset) ((reset-handler)))
    (define abort-handler (make-parameter (lambda status (emergency-exit (if (pair? status) (car status) 255)))))
    (define (abort . status) (apply (abort-handler) status))

    (define (default-exception-handler condition) (uncaught condition))
    (define base-exception-handler
      (make-parameter default-exception-handler
                      (lambda (handler)
                        (check-procedure "base-exception-handler" handler)
                        (if (not (eq? handler default-exception-handler)) (install!))
                        handler)))
    ;; Before what no handler takes is reported, the base handler gets it.  While it runs, there is none.
    (define installed? #f)
    (define (install!)
      (if (not installed?)
          (begin
            (set! installed? #t)
            (current-thread) ; threads have their own hook, which is there now
            (before-uncaught!
             (lambda (condition)
               (let ((handler (base-exception-handler)))
                 (if (not (eq? handler default-exception-handler))
                     (r7-parameterize ((base-exception-handler default-exception-handler))
                       (handler condition)))))))))))
