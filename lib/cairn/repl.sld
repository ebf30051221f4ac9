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
;;;   "describe" "apropos" what is said of names; "note": definitions and imports for that
;;;   "pretty" "formatted" a datum over several lines; a form as `cairn fmt` writes it
;;;   ",cd" ",edit" "changed" go there and tell where; edit a file; when it was changed
;;;   a procedure    #(place text-of-the-form-there), or #f; "mark" "state": for the evaluator
;;;   a place        "place": (path:line:column . the line with carets), "form": the text there, "frames": all calls
;;;   "debug" "cell" "variant": for the evaluator
;;;   "names" "disassemble" "expand" "statistics" "counters" "collect"
;;;   "inside-line?" did the last output not end a line?  "new-line": somebody typed the end of one
;;;
;;; Values are written one to a line; they get names, $1 $2 …, of which the last hundred are kept.  A name becomes a
;;; variable when an input mentions it: so a session has no more variables than its inputs have.  Errors go to the
;;; standard error with a backtrace.  Expressions of -e end with the first error, and status 1.

(define-library (cairn repl)
  (export repl)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn control) (cairn records) (cairn number) (cairn list)
          (cairn text) (cairn vector) (except (cairn port) fresh-line) (cairn reader) (cairn evaluator)
          (only (cairn scheduler) all-threads thread-state))
  (include "repl-debug.scm")
  (begin
    (define env #f)
    (define editor? #f)
    (define expressions? #f)
    (define error-style 0)

    ;; The ports of the session.
    (define session-output #f)
    (define session-input #f)

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
            (write-value value)
            (newline))))

    ;; Of a procedure also its parameters and its place.
    (define (write-value value)
      (let ((about (and (%procedure? value) (%evaluator-console "procedure" value 0))))
        (if about
            (let ((parameters (header (vector-ref about 1) (procedure-name value))))
              (display "#<procedure ")
              (display (or parameters (procedure-name value)))
              (display " at ")
              (display (vector-ref about 0))
              (display ">"))
            (write value))))

    (define (written value)
      (let ((port (open-output-string)))
        (write value port)
        (get-output-string port)))

    ;; Printed as #<procedure name>.
    (define (procedure-name value)
      (let* ((text (written value)) (n (string-length text)) (start (string-length "#<procedure ")))
        (if (> n start)
            (substring text start (- n 1))
            "lambda")))

    ;; How the procedure that a form defines is called, if one can see it there.
    (define (header text name)
      (let ((form (guard (c (#t #f)) (read (open-input-string text)))))
        (and (pair? form) (pair? (cdr form))
             (case (car form)
               ((define) (and (pair? (cadr form)) (not (pair? (car (cadr form)))) (written (cadr form))))
               ((lambda)
                (if (string=? name "lambda")
                    (written (list 'lambda (cadr form)))
                    (written (cons (string->symbol name) (cadr form)))))
               ((named-lambda) (written (cadr form)))
               (else #f)))))

    ;;;; Errors and interrupts

    ;; Where the session goes on.
    (define leave #f)

    (define (report message site)
      (flush-output-port (current-output-port))
      (fresh-line)
      (set! last-report (%describe-error message site (+ error-style 2)))
      (write-string (%describe-error message site error-style) (current-error-port))
      (flush-output-port (current-error-port)))

    ;; What the condition of a name that is not defined says before it.
    (define unknown "unbound variable: ")

    ;; What to do about a name that is not defined; its condition ends with the name.
    (define (suggest c)
      (if (and (eq? (condition-kind c) (kind-unbound)) (string-prefix? unknown (condition-message c)))
          (let* ((message (condition-message c))
                 (help (console "suggestion" (substring message (string-length unknown) (string-length message)))))
            (if help
                (begin
                  (write-string "help: " (current-error-port))
                  (write-string help (current-error-port))
                  (newline (current-error-port))
                  (flush-output-port (current-error-port)))))))

    (define (handle c)
      (report (uncaught->string c) (site-of c))
      (if (= level 0)
          (set-frames! (frames-at (site-of c))))
      (if (condition? c) (suggest c))
      (leave #f))

    ;; The signal hook. A program that wants signals itself has its own.  In sessions with threads, the main thread is
    ;; interrupted, wherever it waits.
    (define (interrupted)
      (let ((number (%machine-ref (slot-raised))) (hook (%machine-ref (slot-interrupt-hook))))
        (define (thunk)
          (if (= (abs number) 2)
              (begin
                (report "interrupted" (no-site))
                (if (= level 0)
                    (set-frames! (frames-at (no-site))))
                (if leave
                    (leave #f)))
              (exit 143)))
        (if (and (> number 0) (%procedure? hook))
            (hook thunk)
            (thunk))))

    ;; Calls `thunk`; #f if it was left by an error.
    (define (guarded thunk)
      (set-prompt-handler! handle)
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
      (set! trace-depth 0)
      (look-after-files)
      (if (command? text)
          (run-command (trim text) name)
          (evaluate (in-language text) name)))

    ;; A first line `#lang sicp` imports what it does in a file.
    (define (in-language text)
      (let* ((n (string-length text))
             (end (let loop ((i 0))
                    (if (or (= i n) (char=? (string-ref text i) #\newline)) i (loop (+ i 1))))))
        (call-with-values (lambda () (split (trim (substring text 0 end))))
          (lambda (word language)
            (if (and (string=? word "#lang") (string=? language "sicp"))
                (string-append "(import (sicp))" (substring text end n))
                text)))))

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

    ;; The next input, #(text name): what was typed, or comes from a pipe; end of file; #f if there is none after all.
    (define (read-one prompt)
      (if editor?
          (fresh-line))
      (let ((input (console "input" prompt)))
        (if editor?
            (console "new-line" ""))
        (if (string? input)
            (let ((text #f))
              (let ((whole? (guarded (lambda () (set! text (read-input input))))))
                (cond
                  ((not whole?) #f)
                  (text (vector text "input"))
                  (else (eof-object)))))
            (and (or (vector? input) (eof-object? input)) input))))

    (define (session)
      (forget-steps!)
      (let ((input (read-one "> ")))
        (cond
          ((eof-object? input) (end-of-session))
          (input (finish-input (guarded (lambda () (run-input (vector-ref input 0) (vector-ref input 1))))))
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
      (set! session-output (current-output-port))
      (set! session-input (current-input-port))
      (stop-with! stopped)
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
            (cond
              (entry ((cadr entry) rest name))
              ((assoc command resuming-commands) (not-at-a-break rest name))
              (else (say "There is no command " command "; ,help lists them.")))))))

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
        (let* ((spent (- (%current-jiffy) start))
               (after (console "counters" ""))
               (collections (- (vector-ref after 0) (vector-ref before 0))))
          (say ";; " (milliseconds spent) ", "
               collections (if (= collections 1) " collection, " " collections, ")
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

    ;;;; Names

    ;; Runs `use` with the value of a variable, if it has one.
    (define (with-value-of text use)
      (let* ((absent (list 'absent))
             (value (guard (c (#t absent)) (eval (string->symbol text) env))))
        (if (not (eq? value absent))
            (use value))))

    (define (describe rest name)
      (let ((page (console "describe" rest)))
        (if page
            (display page))
        (let ((known? (and page #t)))
          (with-value-of rest
            (lambda (value)
              (set! known? #t)
              (let ((place (and (%procedure? value) (%evaluator-console "procedure" value 0))))
                (cond
                  (place (say "Defined at " (vector-ref place 0) "."))
                  ((not (%procedure? value))
                   (display "Its value is ")
                   (write value)
                   (newline))
                  ((not page) (say "A procedure."))))))
          (if (not known?)
              (let ((help (console "suggestion" rest)))
                (say "No " rest " is defined here" (if help (string-append "; " help) ".")))))))

    (define (apropos rest name)
      (let ((found (console "apropos" rest)))
        (if (string=? found "")
            (say "No name contains " rest ".")
            (display found))))

    ;; Values over several lines; of a procedure that somebody has written, its text.
    (define (pretty rest name)
      (define-mentioned! rest)
      (evaluate-text rest name lines-before env #f
        (lambda (thunk)
          (call-with-values thunk
            (lambda values
              (for-each
               (lambda (value)
                 (if (not (eq? value unspecified))
                     (let ((about (and (%procedure? value) (%evaluator-console "procedure" value 0))))
                       (fresh-line)
                       (display (if about
                                    (console "formatted" (vector-ref about 1))
                                    (console "pretty" (written value)))))))
               values))))))

    ;;;; Calls that are shown

    ;; #(name procedure as-it-is-shown) of each that is traced.
    (define traced '())
    (define trace-depth 0)

    (define (trace-line depth text)
      (fresh-line)
      (let loop ((i 0))
        (if (< i depth)
            (begin
              (display "| ")
              (loop (+ i 1)))))
      (say text))

    (define (shown f name)
      (lambda arguments
        (let ((depth trace-depth))
          (trace-line depth (written (cons name arguments)))
          (set! trace-depth (+ depth 1))
          (call-with-values (lambda () (apply f arguments))
            (lambda results
              (set! trace-depth depth)
              (trace-line depth
                (let loop ((text "=>") (results results))
                  (if (null? results)
                      text
                      (loop (string-append text " " (written (car results))) (cdr results)))))
              (apply values results))))))

    (define (trace rest name)
      (cond
        ((string=? rest "") (for-each (lambda (t) (say (vector-ref t 0))) traced))
        (else
         (for-each-word rest
           (lambda (word)
             (let ((f (eval (string->symbol word) env)))
               (cond
                 ((not (%procedure? f)) (say word " is no procedure."))
                 ((memp (lambda (t) (eq? (vector-ref t 2) f)) traced) (say word " is traced already."))
                 (else
                  (let ((s (shown f (string->symbol word))))
                    (define-in env word s)
                    (set! traced (cons (vector word f s) (without word traced))))))))))))

    (define (untrace rest name)
      (define (end t)
        (with-value-of (vector-ref t 0)
          (lambda (value)
            ;; somebody may have defined it anew
            (if (eq? value (vector-ref t 2))
                (define-in env (vector-ref t 0) (vector-ref t 1)))))
        (set! traced (without (vector-ref t 0) traced)))
      (if (string=? rest "")
          (for-each end traced)
          (for-each-word rest
            (lambda (word)
              (let ((found (memp (lambda (t) (string=? (vector-ref t 0) word)) traced)))
                (if found
                    (end (car found))
                    (say word " is not traced.")))))))

    (define (memp fits? items)
      (cond
        ((null? items) #f)
        ((fits? (car items)) items)
        (else (memp fits? (cdr items)))))

    (define (without word traced)
      (cond
        ((null? traced) '())
        ((string=? (vector-ref (car traced) 0) word) (without word (cdr traced)))
        (else (cons (car traced) (without word (cdr traced))))))

    (define (for-each-word text f)
      (if (not (string=? text ""))
          (call-with-values (lambda () (split text))
            (lambda (word rest)
              (f word)
              (for-each-word rest f)))))

    ;;;; Files

    ;; The last one loaded.
    (define last-file #f)

    (define (load-file rest name)
      (let ((file (file-name rest)))
        (set! last-file file)
        (load file env)
        (note-definitions file)))

    ;; What is said of names knows the definitions of files, too.
    (define (note-definitions file)
      (let ((text (guard (c (#t #f))
                    (call-with-input-file file (lambda (port) (read-all port))))))
        (if text
            (console "note" text))))

    (define (read-all port)
      (let loop ((text ""))
        (let ((more (read-string 65536 port)))
          (if (eof-object? more)
              text
              (loop (string-append text more))))))

    (define (edit rest name)
      (let ((file (if (string=? rest "") last-file (file-name rest))))
        (if file
            (begin
              (console ",edit" file)
              (load-file file name))
            (say "Which file? None has been loaded."))))

    (define (directory rest name)
      (say (console ",cd" (file-name rest))))

    ;; (file . when it was changed) of each that is loaded again when it changes.
    (define watched '())

    (define (changed file)
      (guard (c (#t #f)) (console "changed" file)))

    (define (watch rest name)
      (if (string=? rest "")
          (for-each (lambda (w) (say (car w))) watched)
          (let ((file (file-name rest)))
            (set! watched (cons (cons file (changed file)) watched))
            (load-file file name))))

    ;; Loads what has changed since, before the next input is evaluated.
    (define (look-after-files)
      (for-each
       (lambda (w)
         (let ((now (changed (car w))))
           (if (and now (not (equal? now (cdr w))))
               (begin
                 (set-cdr! w now)
                 (say ";; " (car w) " has changed")
                 (load-file (car w) "input")))))
       watched))

    (define (threads rest name)
      (for-each
       (lambda (thread)
         (write thread)
         (say " " (thread-state thread)))
       (all-threads)))

    (define (environment-names rest name)
      (for-each say (console "names" rest)))

    (define (explain rest name)
      (cond
       ((> (string-length rest) 0) (display (console ",explain" rest)))
       (last-report (display (console ",explain" last-report)))
       (else (say "There was no error yet."))))

    (define (backtrace rest name)
      (cond
        ((> level 0) (show-frames))
        (last-report (display last-report))
        (else (say "There was no error yet."))))

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
       (list ",import" (lambda (rest name)
                         (let ((text (string-append "(import " rest ")")))
                           (evaluate text name)
                           (console "note" text)))
             ",import SET ...     import libraries, such as (srfi 1)")
       (list ",load" load-file ",load FILE          evaluate the forms of a file")
       (list ",edit" edit ",edit [FILE]        edit a file, the last one loaded, and load it")
       (list ",watch" watch ",watch FILE         load a file, and again whenever it has changed")
       (list ",cd" directory ",cd [DIR]           go to a directory; tell which it is")
       (list ",describe" describe ",describe NAME      what a name means, how it is used, where it is from")
       (list ",apropos" apropos ",apropos TEXT       all names that contain TEXT, and what to import for them")
       (list ",pp" pretty ",pp EXPR            evaluate, and print over several lines; the text of a procedure")
       (list ",trace" trace ",trace [NAME ...]   show the calls of procedures and what they return")
       (list ",untrace" untrace ",untrace [NAME ...] do so no longer")
       (list ",threads" threads ",threads            the threads, and what they do")
       (list ",env" environment-names ",env [TEXT]         what was defined here; or all names that contain TEXT")
       (list ",break" break ",break [NAME ...]   stop when procedures are entered; which do")
       (list ",unbreak" unbreak ",unbreak [NAME ...] do so no longer")
       (list ",step" step ",step EXPR          evaluate step by step")
       (list ",into" not-at-a-break ",into               at a break: on to the next step, also in what is called")
       (list ",over" not-at-a-break ",over               at a break: on until the expression has its value")
       (list ",out" not-at-a-break ",out                at a break: on until the procedure returns")
       (list ",continue" not-at-a-break ",continue           at a break: on, without steps")
       (list ",abort" not-at-a-break ",abort              at a break: give the evaluation up, as Ctrl-D")
       (list ",bt" backtrace ",bt                 the last error, or the break, with the whole backtrace")
       (list ",frame" frame ",frame [N]          a frame of it, with its variables")
       (list ",locals" locals ",locals             the variables of the frame looked at last")
       (list ",debug" debug ",debug on           keep the variables of what is evaluated from now on; off")
       (list ",explain" explain ",explain [NAME]     why the last error happens, or the one of this name")
       (list ",quit" (lambda (rest name) (exit 0)) ",quit               end the session")))))
