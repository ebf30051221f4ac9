;;; The part of (cairn evaluator) for debugging: code that can be stopped.
;;;
;;; The problem: ordinary code keeps neither names nor values that it does not need, and becomes native.  The idea: a
;;; procedure that is to be stopped in is expanded once more, as code with *points*: where it is entered and before each
;;; of its calls.  Nothing of this is in other code, so who does not debug pays nothing.
;;;
;;;   #(debug at #(name ...) #(x ...) call)            a point before a call
;;;   #(debug-enter at #(name ...) #(x ...) body n)    one at which a procedure is entered; the last n are parameters
;;;
;;; A name in a vector is that of a box.  The mark of a call in such code is made for each call anew: its scope is the
;;; names and values of the variables that are visible there, for who looks at the frame.  The scope of its other marks
;;; is #t.

(define-record-type debug-point
  (make-point mark names parameters flag)
  point?
  (mark point-mark)
  (names point-names)
  (parameters point-parameters)
  (flag point-flag))

;; Does it stop always?  A pair, the same for all clauses of a procedure, and for all code that is made of its text.
(define (point-break point)
  (car (point-flag point)))

(define (point-break! point on)
  (set-car! (point-flag point) on))

;; Is it one at which a procedure is entered?
(define (point-enter? point)
  (and (point-parameters point) #t))

;; Does code stop at its next point?
(define stepping #f)

(define (stepping! on)
  (set! stepping on))

;; What stops: called with the point, the values of its variables, and a thunk that goes on.
(define stop (lambda (point values go-on) (go-on)))

(define (stop-with! f)
  (set! stop f))

;; Is what is evaluated from now on code that can be stopped?
(define (debug-code! on)
  (%evaluator-console "debug" (if on "on" "off") 0)
  (set! this-debug on))

;; The points of entry, newest first.
(define entries '())

(define (entry-of m)
  (let loop ((points entries))
    (cond
      ((null? points) #f)
      ((same-place? m (point-mark (car points))) (car points))
      (else (loop (cdr points))))))

(define (same-place? a b)
  (and (eqv? (mark-start a) (mark-start b))
       (let ((s (mark-source a)) (t (mark-source b)))
         (or (eq? s t)
             (and s t (equal? (vector-ref s 0) (vector-ref t 0)) (equal? (vector-ref s 1) (vector-ref t 1)))))))

(define (gen-stop-at-entry code)
  (let* ((m (mark (vector-ref code 1))) (same (entry-of m))
         (flag (if same (point-flag same) (list #f)))
         (point (make-point m (vector-ref code 2) (vector-ref code 5) flag))
         (gens (map gen (vector->list (vector-ref code 3))))
         (body (gen (vector-ref code 4))))
    (if (not same)
        (set! entries (cons point entries)))
    (lambda (env)
      (if (or stepping (car flag))
          (stop point (run-all gens env) (lambda () (body env)))
          (body env)))))

(define (gen-stop-before-call code)
  (let* ((point (make-point (mark (vector-ref code 1)) (vector-ref code 2) #f #f))
         (gens (map gen (vector->list (vector-ref code 3))))
         (call (gen-call-with-scope (vector-ref code 4) point gens)))
    (lambda (env)
      (if stepping
          (stop point (run-all gens env) (lambda () (call env)))
          (call env)))))

;; The call, whose frame has the variables.
(define (gen-call-with-scope code point gens)
  (define head (vector-ref code 0))
  (define m (point-mark point))
  (define (with-scope env)
    (make-mark (mark-name m) (mark-source m) (mark-start m) (mark-use m)
               (vector (point-names point) (run-all gens env))))
  (define (calling-with f args want)
    (lambda (env)
      (let* ((f (f env)) (xs (run-all args env)) (f (if stepping (to-step-into f) f)))
        (let ((f (if (eq? head 'apply) (lambda xs (apply apply f xs)) f)))
          (case want
            ((value) (value-apply f xs (with-scope env)))
            ((effect) (effect-apply f xs (with-scope env)))
            ((values) (values-apply f xs (with-scope env)))
            (else (calling f (apply f xs) (call-nothing f m))))))))
  (if (and m (memq head '(call apply)))
      (calling-with (gen (vector-ref code 1)) (map gen (vector->list (vector-ref code 2))) (vector-ref code 4))
      (gen code)))

(define (to-step-into f)
  (or (and (%procedure? f) (stoppable f)) f))

;; A procedure that does what `f` does and can be stopped: itself, or one made of its text; #f if nobody has written
;; it, or its variables cannot be found.
(define (stoppable f)
  (let ((m (%evaluator-console "mark" f 0)))
    (cond
      ((mark? m)
       (if (mark-scope m)
           f
           (let ((source (mark-source m)))
             (and source (variant-of f source (mark-start m))))))
      ((vector? m) (variant-of f (vector (vector-ref m 0) (vector-ref m 1) 0) (vector-ref m 2)))
      (else #f))))

;; Those made before, `(procedure . variant)`, newest first.
(define variants '())

(define (forget-variants!)
  (set! variants '()))

(define (variant-of f source start)
  (let ((known (assq f variants)))
    (if known
        (cdr known)
        (let ((v (make-variant f source start)))
          (set! variants (cons (cons f v) variants))
          v))))

(define (make-variant f source start)
  (let ((answer
         (%evaluator-console "variant" (vector (vector-ref source 0) (vector-ref source 1) start)
                             (environment-number (interaction-environment)))))
    (and answer
         (let* ((n (vector-ref (car answer) 0)) (debug this-debug) (free (free-values f n)))
           (note-files! (cdr answer))
           (and free
                (begin
                  (set! this-debug #t)
                  (let ((make (generate (vector-ref (car answer) 1) source '#() evaluated-sources #f)))
                    (set! this-debug debug)
                    (make free))))))))

;; The values of so many free variables of a procedure, a vector; #f if they cannot be found.
(define (free-values f n)
  (if (eq? n 0)
      '#()
      (let ((s (%evaluator-console "state" f 0)))
        (and s
             (let ((values (run-all (state-free s) (state-env s))))
               (and (= (length values) n) (list->vector values)))))))

;; The cell of what a name means, or #f.
(define (cell-in env name)
  (let ((n (%evaluator-console "cell" name (environment-number env))))
    (and n (cell n))))
