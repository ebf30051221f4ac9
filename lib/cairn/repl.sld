;;; (cairn repl): the interactive session.
;;;
;;; What is evaluated here runs on the frames of this program, so errors and interrupts leave it by a continuation, and
;;; continuations of earlier inputs can be entered.  The terminal (crates/cairn/src/prompt) answers requests:
;;;
;;;   "input"        #(text name): evaluate that; a string: read standard input, with this prompt; end of file;
;;;                  `interrupt`: nothing
;;;   "complete?"    is this text a whole input?
;;;   "file"         what to load first, or #f
;;;   "editor?" "expressions?" "colour?"   who is there
;;;   "names" "disassemble" "expand" "statistics" "counters" "collect"
;;;   "inside-line?" did the last output not end a line?  "new-line": somebody typed the end of one
;;;
;;; Values are written one to a line; they get names, $1 $2 …, of which the last hundred are kept.  A name becomes a
;;; variable when an input mentions it: so a session has no more variables than its inputs have.  Errors go to the
;;; standard error with a backtrace.  Expressions of -e end with the first error, and status 1.

(define-library (cairn repl)
  (export repl)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn control) (cairn records) (cairn number) (cairn list)
          (cairn text) (cairn vector) (cairn port) (cairn evaluator))
  (begin
    (define env #f)
    (define editor? #f)
    (define expressions? #f)
    (define error-style 0)

    ;; The report of the last error, with all frames.
    (define last-report #f)

    ;; Values so far.
    (define value-count 0)

    (define (console request text)
      (%evaluator-console request text (environment-number env)))

    ;; Goes to the start of a line of the standard output.
    (define (fresh-line)
      (if (console "inside-line?" "")
          (begin
            (newline)
            (flush-output-port (current-output-port)))))

    (define (say . things)
      (for-each display things)
      (newline))

    ;;;; Values

    (define unspecified (if #f #f))

    (define (value-name n)
      (string-append "$" (number->string n)))

    ;; Older ones are forgotten.
    (define-syntax values-kept (syntax-rules () ((_) 100)))

    ;; The last values, and whether their names are variables by now; value n is element n modulo their number.
    (define kept (make-vector (values-kept) #f))
    (define named (make-vector (values-kept) #f))

    (define (kept-index n)
      (remainder n (values-kept)))

    ;; Numbers of values that the input mentions and has not made yet.
    (define awaited '())

    (define (keep-value! n value)
      (let ((i (kept-index n)))
        (if (vector-ref named i)
            (define-in env (value-name (- n (values-kept))) unspecified))
        (vector-set! kept i value)
        (vector-set! named i #f)
        (if (memv n awaited)
            (define-value! n))))

    ;; Defines the names of values that occur in a text: wherever it has a dollar sign and digits.
    (define (define-mentioned! text)
      (define most (+ value-count (string-length text)))
      (define (digit i)
        (and (< i (string-length text))
             (let ((d (- (char->integer (string-ref text i)) 48)))
               (and (<= 0 d 9) d))))
      (define (from i)
        (if (< i (string-length text))
            (if (char=? (string-ref text i) #\$)
                (number-at (+ i 1) 0)
                (from (+ i 1)))))
      (define (number-at i n)
        (let ((d (and (<= n most) (digit i))))
          (if d
              (number-at (+ i 1) (+ (* 10 n) d))
              (begin
                (if (<= n value-count)
                    (define-value! n)
                    (set! awaited (cons n awaited)))
                (from i)))))
      (set! awaited '())
      (from 0))

    (define (define-value! n)
      (if (and (<= 1 n value-count) (< (- value-count n) (values-kept)))
          (let ((i (kept-index n)))
            (if (not (vector-ref named i))
                (begin
                  (vector-set! named i #t)
                  (define-in env (value-name n) (vector-ref kept i))
                  (vector-set! kept i #f))))))

    ;; A value gets a name, which is shown at a terminal.
    (define (show-value value)
      (if (not (eq? value unspecified))
          (begin
            (fresh-line)
            (set! value-count (+ value-count 1))
            (if (not expressions?)
                (keep-value! value-count value))
            (if editor?
                (begin
                  (display (value-name value-count))
                  (display " = ")))
            (write value)
            (newline))))

    ;;;; Errors and interrupts

    ;; Where the session goes on.
    (define leave #f)

    (define (report message site)
      (flush-output-port (current-output-port))
      (fresh-line)
      (set! last-report (%describe-error message site (+ error-style 2)))
      (write-string (%describe-error message site error-style) (current-error-port))
      (flush-output-port (current-error-port)))

    ;; What to do about a name that is not defined; its condition ends with the name.
    (define (suggest c)
      (if (eq? (condition-kind c) (kind-unbound))
          (let* ((message (condition-message c))
                 (help (console "suggestion" (substring message (string-length "unbound variable: ")
                                                        (string-length message)))))
            (if help
                (begin
                  (write-string "help: " (current-error-port))
                  (write-string help (current-error-port))
                  (newline (current-error-port))
                  (flush-output-port (current-error-port)))))))

    (define (handle c)
      (report (uncaught->string c) (site-of c))
      (if (condition? c) (suggest c))
      (leave #f))

    ;; The signal hook. A program that wants signals itself has its own.
    (define (interrupted)
      (if (= (abs (%machine-ref (slot-raised))) 2)
          (begin
            (report "interrupted" (no-site))
            (if leave
                (leave #f)))
          (exit 143)))

    ;; Calls `thunk`; #f if it was left by an error.
    (define (guarded thunk)
      (call-with-current-continuation
       (lambda (k)
         (set! leave k)
         (with-exception-handler handle
           (lambda ()
             (thunk)
             #t)))))

    ;;;; Inputs

    (define (evaluate text name)
      (define-mentioned! text)
      (evaluate-text text name lines-before env #f
        (lambda (thunk)
          (call-with-values thunk
            (lambda values (for-each show-value values))))))

    ;; Is the first character that is not blank a comma?
    (define (command? text)
      (let loop ((i 0))
        (cond
          ((= i (string-length text)) #f)
          ((char-whitespace? (string-ref text i)) (loop (+ i 1)))
          (else (char=? (string-ref text i) #\,)))))

    (define (run-input text name)
      (if (command? text)
          (run-command (trim text) name)
          (evaluate text name)))

    ;; How many lines of a piped text came before the input.
    (define lines-before 0)

    ;; A whole input from the standard input; #f at its end.
    (define (read-input prompt)
      (let loop ((text ""))
        (if (and (string=? prompt "") (string=? text ""))
            (set! lines-before (- (port-line (current-input-port)) 1)))
        (if (not (string=? prompt ""))
            (begin
              (fresh-line)
              (display (if (string=? text "") prompt ""))
              (flush-output-port (current-output-port))))
        (let ((line (read-line (current-input-port))))
          (if (not (string=? prompt ""))
              (console "new-line" ""))
          (cond
            ((eof-object? line) (if (string=? (trim text) "") #f text))
            ((string=? text "") (continue loop (string-append line "\n")))
            (else (continue loop (string-append text line "\n")))))))

    (define (continue loop text)
      (cond
        ((string=? (trim text) "") (loop ""))
        ((or (command? text) (console "complete?" text)) text)
        (else (loop text))))

    (define (session)
      (if editor?
          (fresh-line))
      (let ((input (console "input" "")))
        (if editor?
            (console "new-line" ""))
        (cond
          ((vector? input) (finish-input (guarded (lambda () (run-input (vector-ref input 0) (vector-ref input 1))))))
          ((string? input)
           (let ((text #f))
             (let ((whole? (guarded (lambda () (set! text (read-input input))))))
               (cond
                 ((not whole?) (session))
                 (text (finish-input (guarded (lambda () (run-input text "input")))))
                 (else (end-of-session))))))
          ((eof-object? input) (end-of-session))
          (else (session)))))

    (define (finish-input fine?)
      (flush-output-port (current-output-port))
      (if (and expressions? (not fine?))
          (exit 1)
          (session)))

    (define (end-of-session)
      (if (and editor? (not expressions?))
          (newline))
      (exit 0))

    (define (repl)
      (set! env (interaction-environment))
      (set! editor? (console "editor?" ""))
      (set! expressions? (console "expressions?" ""))
      (set! error-style (if (console "colour?" "") 1 0))
      (%machine-set! (slot-signal-hook) interrupted)
      (if editor?
          (say "Cairn Scheme. ,help lists the commands; Ctrl-D ends the session."))
      (let ((file (console "file" "")))
        (if file
            (guarded (lambda () (load file env)))))
      (session))

    ;;;; Commands

    (define (trim text)
      (let* ((end (let loop ((i (string-length text)))
                    (if (and (> i 0) (char-whitespace? (string-ref text (- i 1)))) (loop (- i 1)) i)))
             (start (let loop ((i 0))
                      (if (and (< i end) (char-whitespace? (string-ref text i))) (loop (+ i 1)) i))))
        (substring text start end)))

    ;; The word at the start, and what follows it.
    (define (split text)
      (let loop ((i 0))
        (if (or (= i (string-length text)) (char-whitespace? (string-ref text i)))
            (values (substring text 0 i) (trim (substring text i (string-length text))))
            (loop (+ i 1)))))

    (define (run-command text name)
      (call-with-values (lambda () (split text))
        (lambda (command rest)
          (let ((entry (assoc command commands)))
            (if entry
                ((cadr entry) rest name)
                (say "There is no command " command "; ,help lists them."))))))

    (define (help rest name)
      (for-each
       (lambda (entry) (say (caddr entry)))
       commands))

    ;; Milliseconds with one digit behind the point.
    (define (milliseconds jiffies)
      (let ((tenths (quotient (+ jiffies 50000) 100000)))
        (string-append (number->string (quotient tenths 10)) "." (number->string (remainder tenths 10)) " ms")))

    (define (time rest name)
      (let ((start (%current-jiffy)) (before (console "counters" "")))
        (evaluate rest name)
        (let ((spent (- (%current-jiffy) start)) (after (console "counters" "")))
          (say ";; " (milliseconds spent) ", "
               (- (vector-ref after 0) (vector-ref before 0)) " collections, "
               (quotient (- (vector-ref after 1) (vector-ref before 1)) 1024) " KiB allocated"))))

    ;; Where the time of an evaluation goes, by procedure.
    (define (profile rest name)
      (if (%profile-start)
          (begin
            (evaluate rest name)
            (display (%profile-stop)))
          (say "The whole session is being profiled, or this system has no timer for it.")))

    (define (expand rest name)
      (let ((answer (console "expand" rest)))
        (if (vector? answer)
            (reject #f answer (vector name rest 0))
            (display answer))))

    (define (environment-names rest name)
      (for-each say (console "names" rest)))

    (define (backtrace rest name)
      (if last-report
          (display last-report)
          (say "There was no error yet.")))

    ;; The names in quotation marks are optional.
    (define (file-name text)
      (let ((n (string-length text)))
        (if (and (> n 1) (char=? (string-ref text 0) #\") (char=? (string-ref text (- n 1)) #\"))
            (substring text 1 (- n 1))
            text)))

    (define commands
      (list
       (list ",help" help ",help               this list")
       (list ",time" time ",time EXPR          evaluate, and tell how long it took")
       (list ",profile" profile ",profile EXPR       evaluate, and tell which procedures took the time")
       (list ",expand" expand ",expand EXPR        what EXPR is without macros and library syntax")
       (list ",disassemble" (lambda (rest name) (display (console "disassemble" rest)))
             ",disassemble EXPR   machine code of a procedure or expression, at full optimization")
       (list ",stats" (lambda (rest name) (display (console "statistics" "")))
             ",stats              memory and collections")
       (list ",gc" (lambda (rest name) (console "collect" "")) ",gc                 collect all garbage now")
       (list ",import" (lambda (rest name) (evaluate (string-append "(import " rest ")") name))
             ",import SET ...     import libraries, such as (srfi 1)")
       (list ",load" (lambda (rest name) (load (file-name rest) env))
             ",load FILE          evaluate the forms of a file")
       (list ",env" environment-names ",env [TEXT]         what was defined here; or all names that contain TEXT")
       (list ",bt" backtrace ",bt                 the last error, with the whole backtrace")
       (list ",quit" (lambda (rest name) (exit 0)) ",quit               end the session")))))
