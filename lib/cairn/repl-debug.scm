;;; The part of (cairn repl) for debugging: breakpoints, steps, and the variables of frames.
;;;
;;; Code that can be stopped calls `stopped` at its points (evaluator-debug.scm).  That is a prompt of its own, whose
;;; inputs are evaluated while the call that was stopped waits; then the code goes on by calling a thunk.
;;;
;;; Who steps waits for what is computed, to show its value: an *activation*.  Its call is no tail call then.  Code that
;;; nobody steps in, breakpoints or not, keeps its tail calls.

;;;; Frames

;; #(name place names values): the frames of the last error or of the break, the youngest first; names and values are
;; #f where they are not known.
(define frames '())
(define selected 0)

(define (set-frames! all)
  (set! frames all)
  (set! selected 0))

(define (frame-of name place)
  (let ((scope (and (mark? place) (mark-scope place))))
    (if (vector? scope)
        (vector name place (vector->list (vector-ref scope 0)) (vector-ref scope 1))
        (vector name place #f #f))))

;; The frames of the calls under way, of an error at `site` or of none.
(define (frames-at site)
  (map (lambda (f) (frame-of (vector-ref f 0) (vector-ref f 1))) (%evaluator-console "frames" site 0)))

(define (where place)
  (let ((found (%evaluator-console "place" place error-style)))
    (if found (car found) "")))

(define (excerpt place)
  (let ((found (%evaluator-console "place" place error-style)))
    (if found (cdr found) "")))

;; A value in at most a few lines.
(define (brief value)
  (let ((text (written value)))
    (if (> (string-length text) 300)
        (string-append (substring text 0 300) " ...")
        text)))

(define (boxed? name) (vector? name))

(define (plain-name name)
  (if (boxed? name) (vector-ref name 0) name))

(define (show-locals names values)
  (for-each
   (lambda (name value)
     (let ((value (value-in-frame name value)))
       (say "  " (plain-name name) " = " (if (eq? value (%native-unbound)) "(no value yet)" (brief value)))))
   names values))

(define (show-frame n)
  (let ((f (list-ref frames n)))
    (say n ": " (vector-ref f 0))
    (display (excerpt (vector-ref f 1)))
    (show-frame-locals f)))

(define (show-frame-locals f)
  (cond
    ((not (vector-ref f 2))
     (say "Its variables are not kept: `,debug on` does so for what is evaluated from then on."))
    ((null? (vector-ref f 2)) (say "It has no local variables here."))
    (else (show-locals (vector-ref f 2) (vector-ref f 3)))))

(define (frame rest name)
  (let ((n (if (string=? rest "") selected (string->number rest))))
    (cond
      ((null? frames) (say "There was no error yet, and this is no break."))
      ((and n (exact-integer? n) (< -1 n (length frames)))
       (set! selected n)
       (show-frame n))
      (else (say "There are frames 0 to " (- (length frames) 1) "; ,bt shows them.")))))

(define (locals rest name)
  (if (null? frames)
      (say "There was no error yet, and this is no break.")
      (show-frame-locals (list-ref frames selected))))

(define (show-frames)
  (let loop ((all frames) (n 0))
    (if (pair? all)
        (if (< n 100)
            (begin
              (say (if (= n selected) "> " "  ") n ": " (vector-ref (car all) 0) "  " (where (vector-ref (car all) 1)))
              (loop (cdr all) (+ n 1)))
            (say "  ... " (length all) " more")))))

;;;; Inputs that see the variables of a frame

;; At a break an expression is the body of a procedure of the frame's variables.  Behind it that gives their values to
;; whom it may concern: what has been assigned is put back into the boxes.  The line before the input is none of it.
(define (evaluate-in-frame text name names contents)
  (let ((plain (map plain-name names)))
    (define-mentioned! text)
    (evaluate-text
     (string-append "(lambda " (written (append plain '(%frame))) " (%frame (lambda ()\n" text "\n) (lambda (%values) "
                    (written (cons '%values plain)) ")))")
     name (- lines-before 1) env #f
     (lambda (thunk)
       (let ((body (thunk)))
         (call-with-values
          (lambda () (apply body (append (map value-in-frame names contents) (list (put-back names contents)))))
          (lambda results (for-each show-value results))))))))

(define (value-in-frame name value)
  (if (boxed? name) (%unbox value) value))

(define (put-back names contents)
  (lambda (body values-now)
    (call-with-values body
      (lambda results
        (values-now
         (lambda now
           (for-each
            (lambda (name old value)
              (cond
                ((boxed? name) (%set-box! old value))
                ((not (eqv? old value)) (say ";; " name " keeps its value: the code never assigns it"))))
            names contents now)))
        (apply values results)))))

;; Does the text begin with a form that is for the top level?
(define (for-top-level? text)
  (let ((form (guard (c (#t #f)) (read (open-input-string text)))))
    (and (pair? form) (memq (car form) '(define define-syntax define-values define-record-type import begin
                                         define-library)))))

;;;; Stopping

;; The breaks that wait for their commands; what a break shows of itself.
(define level 0)

;; Procedures entered step by step, and which of them is to end before steps go on, or #f.
(define depth 0)
(define muted #f)

;; Changes when everything is to go on: activations from before are silent.
(define epoch 0)

(define (go-on!)
  (set! epoch (+ epoch 1))
  (set! muted #f)
  (stepping! #f))

;; Before an input of the session.
(define (forget-steps!)
  (go-on!)
  (set! level 0)
  (set! depth 0)
  (forget-variants!)
  (if (not (eq? debugging code-debugged))
      (debug-all! debugging)))

;; Is code that can be stopped wanted of all inputs; is it made?
(define debugging #f)
(define code-debugged #f)

(define (debug-all! on)
  (set! code-debugged on)
  (debug-code! on))

;; What the session reads and writes, whatever the program has made of its ports.
(define (at-the-terminal thunk)
  (parameterize* (list (cons current-output-port session-output) (cons current-input-port session-input)) thunk))

(define (stopped point values resume)
  (stepping! #f)
  (case (at-the-terminal (lambda () (break-at point values)))
    ((into)
     (stepping! #t)
     (activate point resume))
    ((over)
     (if (point-enter? point) (stepping! #t))
     (activate point resume))
    ((out)
     (set! muted (if (point-enter? point) (+ depth 1) depth))
     (activate point resume))
    (else
     (go-on!)
     (resume))))

(define (activate point resume)
  (let* ((mine epoch) (outside depth) (enter? (point-enter? point)) (here (if enter? (+ depth 1) depth)))
    (set! depth here)
    (call-with-values resume
      (lambda results
        (if (= mine epoch)
            (begin
              (stepping! #f)
              (set! depth outside)
              (if (and muted enter? (<= here muted)) (set! muted #f))
              (if (not muted)
                  (begin
                    (at-the-terminal (lambda () (show-results point results)))
                    (stepping! #t)))))
        (apply values results)))))

(define (show-results point results)
  (fresh-line)
  (display (if (point-enter? point)
               (mark-of-name (point-mark point))
               (shortened (form-at (point-mark point)))))
  (display " =>")
  (for-each (lambda (x) (display " ") (display (brief x))) results)
  (newline))

(define (mark-of-name m)
  (symbol->string (mark-name m)))

;; The text of the form at a place, in one line.
(define (form-at m)
  (or (%evaluator-console "form" m 0) ""))

(define (shortened text)
  (let ((words (one-line text)))
    (if (> (string-length words) 60)
        (string-append (substring words 0 57) "...")
        words)))

(define (one-line text)
  (let loop ((chars (string->list text)) (blank? #f) (out '()))
    (cond
      ((null? chars) (list->string (reverse out)))
      ((char-whitespace? (car chars)) (loop (cdr chars) #t out))
      (blank? (loop (cdr chars) #f (cons (car chars) (cons #\space out))))
      (else (loop (cdr chars) #f (cons (car chars) out))))))

;; Reads and evaluates until somebody says how to go on.
(define (break-at point values)
  (let* ((names (vector->list (point-names point))) (m (point-mark point)) (saved leave) (outer-level level)
         (outer-frames frames) (outer-selected selected) (mine (+ level 1))
         (here (cons (vector (mark-of-name m) m names values) (frames-at (no-site)))))
    (define (mine!)
      (stepping! #f)
      (set! leave saved)
      (set! level mine)
      (set! frames here))
    (define (ask)
      (let ((input (read-one (if (= mine 1) "break> " (string-append "break " (number->string mine) "> ")))))
        (mine!)
        (cond
          ((eof-object? input)
           (fresh-line)
           (abandon))
          ((not input) (ask))
          (else
           (let* ((command #f)
                  (fine? (guarded
                          (lambda ()
                            (set! command (run-at-break (vector-ref input 0) (vector-ref input 1)))))))
             (flush-output-port (current-output-port))
             (if (and expressions? (not fine?))
                 (exit 1))
             (mine!)
             (case command
               ((into over out continue) command)
               ((abort) (abandon))
               (else (ask))))))))
    (define (abandon)
      (set! frames outer-frames)
      (set! selected outer-selected)
      (saved #f))
    (set! selected 0)
    (mine!)
    (flush-output-port (current-output-port))
    (fresh-line)
    (if (point-enter? point)
        (say (if (point-break point) "break: " "enter: ") (call-text point names values)))
    (display (excerpt m))
    (let ((command (ask)))
      (set! level outer-level)
      (set! frames outer-frames)
      (set! selected outer-selected)
      command)))

;; The call that has entered a procedure.
(define (call-text point names values)
  (let ((others (- (length names) (point-parameters point))))
    (brief (cons (mark-name (point-mark point)) (list-tail (map value-in-frame names values) others)))))

(define (run-at-break text name)
  (if (command? text)
      (call-with-values (lambda () (split (trim text)))
        (lambda (command rest)
          (let ((resuming (assoc command resuming-commands)))
            (if (and resuming (string=? rest ""))
                (cdr resuming)
                (begin
                  (run-command (trim text) name)
                  #f)))))
      (let ((f (list-ref frames selected)))
        (if (and (pair? (vector-ref f 2)) (not (for-top-level? text)))
            (evaluate-in-frame text name (vector-ref f 2) (vector-ref f 3))
            (evaluate text name))
        #f)))

(define resuming-commands
  '((",into" . into) (",i" . into) (",step" . into) (",over" . over) (",o" . over) (",out" . out)
    (",continue" . continue) (",c" . continue) (",abort" . abort)))

(define (not-at-a-break rest name)
  (say "That is for breaks: see ,break and ,step."))

;;;; What is stopped

;; #(name cell procedure stoppable point) of each that stops when it is entered; the cell is #f if the procedure is the
;; same as before.
(define breaks '())

(define (break rest name)
  (if (string=? rest "")
      (for-each (lambda (b) (say (vector-ref b 0))) breaks)
      (for-each-word rest break-in)))

(define (break-in word)
  (let ((f (eval (string->symbol word) env)))
    (if (not (%procedure? f))
        (say word " is no procedure.")
        (let* ((stops (stoppable f)) (m (and stops (%evaluator-console "mark" stops 0)))
               (point (and (mark? m) (entry-of m))) (cell (and stops (not (eq? stops f)) (cell-in env word))))
          (cond
            ((and point (point-break point) (eq? stops f)) (say word " stops already."))
            ((or (not point) (not (or (eq? stops f) (and cell (eq? (car cell) f)))))
             (say word " cannot stop: its text is not known here, or it has variables that are not."))
            (else
             (unbreak-one word)
             (point-break! point #t)
             (if cell (set-car! cell stops))
             (set! breaks (cons (vector word cell f stops point) breaks))))))))

(define (unbreak rest name)
  (if (string=? rest "")
      (for-each (lambda (b) (unbreak-one (vector-ref b 0))) breaks)
      (for-each-word rest
        (lambda (word)
          (if (not (unbreak-one word))
              (say word " does not stop."))))))

(define (unbreak-one word)
  (let ((found (memp (lambda (b) (string=? (vector-ref b 0) word)) breaks)))
    (and found
         (let* ((b (car found)) (cell (vector-ref b 1)))
           (point-break! (vector-ref b 4) #f)
           ;; somebody may have defined it anew
           (if (and cell (eq? (car cell) (vector-ref b 3)))
               (set-car! cell (vector-ref b 2)))
           (set! breaks (without word breaks))
           #t))))

(define (step rest name)
  (cond
    ((string=? rest "") (say "Which expression?  ,step EXPR"))
    (else
     (define-mentioned! rest)
     (debug-all! #t)
     (evaluate-text rest name lines-before env #f
       (lambda (thunk)
         (debug-all! debugging)
         (set! muted #f)
         (stepping! #t)
         (call-with-values thunk
           (lambda results
             (go-on!)
             (for-each show-value results)))
         (debug-all! #t)))
     (debug-all! debugging))))

(define (debug rest name)
  (cond
    ((string=? rest "on") (set! debugging #t) (debug-all! #t))
    ((string=? rest "off") (set! debugging #f) (debug-all! #f))
    ((string=? rest "") (say (if debugging "on" "off")))
    (else (say "It is on or off."))))
