;;; The part of (cairn evaluator) with environments, `eval`, `load`, and programs that load.

;;;; Environments

(define-record-type evaluation-environment
  (make-environment number)
  environment?
  (number environment-number))
(show-fields! evaluation-environment '())

;; Values of the variables of the program's libraries, by number.
(define values-of-program #f)

(define started #f)

(define (start!)
  (if (not started)
      (let ((exports (%machine-ref (slot-exports))) (bindings (running-bindings)))
        (set! started #t)
        (%evaluator-start (vector-ref bindings 0) (vector-ref bindings 1))
        (set! values-of-program (or exports (apply vector-append (vector-ref bindings 2)))))))

;; Files that are new, `#(number path text)`.
(define (note-files! files)
  (for-each
   (lambda (file)
     (set! evaluated-sources
       (cons (cons (vector-ref file 0) (vector (vector-ref file 1) (vector-ref file 2) 0)) evaluated-sources)))
   files))

;; A procedure that runs the code of an answer of the expander: the forms, or what makes a unit of them, then files
;; that are new.  It returns the value of the last form, by a tail call.
(define (runner answer source objects)
  (note-files! (cdr answer))
  (let ((forms (car answer)))
    (if (vector? forms)
        (let ((u (unit-of-form forms)) (code (vector-ref forms 6)))
          (vector-set! forms 6 #f)
          (let ((runs (generate-all code source objects u)))
            (if (not (vector-ref forms 0))
                (install-module-ahead u))
            (in-order runs)))
        (in-order (generate-all forms source objects #f)))))

(define (generate-all forms source objects u)
  (if (pair? forms)
      (let ((run (generate (car forms) source objects evaluated-sources u)))
        (cons run (generate-all (cdr forms) source objects u)))
      '()))

(define (in-order runs)
  (lambda ()
    (let loop ((runs runs))
      (cond
        ((null? runs) (if #f #f))
        ((null? (cdr runs)) ((car runs) #f))
        (else
         ((car runs) #f)
         (loop (cdr runs)))))))

(define (run-answer answer source objects)
  ((runner answer source objects)))

(define (generate code source objects others u)
  (set! this-source source)
  (set! other-sources others)
  (set! these-objects objects)
  (set! this-unit u)
  (set! this-procedure 'program)
  (let ((run (gen code)))
    (set! this-source #f)
    (set! these-objects '#())
    (set! this-unit #f)
    run))

;; What the expander found wrong: #(message text help place files violation).  Where the text is shown with the message
;; it need not be quoted.
(define (reject who answer source)
  (note-files! (vector-ref answer 4))
  (set! this-source source)
  (set! other-sources evaluated-sources)
  (let* ((message (vector-ref answer 0)) (text (vector-ref answer 1)) (help (vector-ref answer 2))
         (at (vector-ref answer 3)) (place (mark at))
         (shown? (or (not who) (and place (not (eq? (mark-source place) source)))))
         (quoted (if (or (string=? text "") shown?) message (string-append message (colon-behind message) text))))
    (raise-condition (kind-of-violation (vector-ref answer 5)) who
                     (if help (string-append quoted " (" help ")") quoted) '() (or place (no-site)))))

;; The kind of a condition of wrong syntax: #(who message form subform), the parts that R6RS's conditions have.  Without
;; a message there, who and message are the condition's.
(define (kind-of-violation violation)
  (if violation
      (let ((part (lambda (i) (and (vector-ref violation i) (datum-of (vector-ref violation i))))))
        (vector (part 0) (vector-ref violation 1) (part 2) (part 3)))
      (kind-syntax)))

;; The datum that is written so; #f if it is not to be read.
(define (datum-of text)
  (guard (c (#t #f))
    (read (open-input-string text))))

;; What stands between a message and the text that it is about.
(define (colon-behind message)
  (let ((n (string-length message)))
    (if (and (> n 0) (char=? (string-ref message (- n 1)) #\:)) " " ": ")))

;; `sets`: import sets, or #f for what a program without imports has.
(define (new-environment sets)
  (start!)
  (let ((n (%evaluator-environment (if sets (apply string-append (map write-to-string sets)) #f))))
    (if (vector? n)
        (reject "environment" n #f))
    (let ((answer (%evaluator-expand "" n)))
      (if (vector? answer)
          (reject "environment" answer #f))
      (run-answer answer #f '#()))
    (make-environment n)))

(define (environment . sets)
  (new-environment sets))

(define the-interaction-environment #f)

(define (interaction-environment)
  (if (not the-interaction-environment)
      (set! the-interaction-environment (new-environment #f)))
  the-interaction-environment)

(define (check-version who version)
  (if (not (memv version '(5 7)))
      (out-of-range who "there is no such report:" version)))

(define (scheme-report-environment version)
  (check-version "scheme-report-environment" version)
  (if (eqv? version 5)
      (new-environment '((scheme r5rs)))
      (new-environment #f)))

(define (null-environment version)
  (check-version "null-environment" version)
  (new-environment
   '((only (scheme r5rs)
           and begin case cond define define-syntax delay do if lambda let let* let-syntax letrec letrec-syntax
           or quasiquote quote set! syntax-rules unquote unquote-splicing else => ... _))))

(define (check-environment who env)
  (if (not (environment? env))
      (wrong-type who "an environment" env)))

;; A form that cannot be walked in this many steps is taken for a circular one.
(define-syntax most-steps (syntax-rules () ((_) 5000000)))

;; The form as text, and the objects in it by number: lists, vectors, strings, bytevectors and whatever cannot be
;; written, in the order in which they begin.  What cannot be written is written as a string.
(define (written-form form)
  (let ((port (%open-output-string)) (objects '()) (steps 0))
    (define (put x) (%write-object x port 0))
    (define (note! x) (set! objects (cons x objects)))
    (define (items x)
      (write-datum (car x))
      (let ((rest (cdr x)))
        (cond
          ((and (pair? rest) (<= steps (most-steps))) (put " ") (items rest))
          ((not (null? rest)) (put " . ") (write-datum rest)))))
    (define (elements v i)
      (if (< i (vector-length v))
          (begin
            (if (> i 0) (put " "))
            (write-datum (vector-ref v i))
            (elements v (+ i 1)))))
    (define (write-datum x)
      (set! steps (+ steps 1))
      (cond
        ((> steps (most-steps)) #f)
        ((pair? x) (note! x) (put "(") (items x) (put ")"))
        ((vector? x) (note! x) (put "#(") (elements x 0) (put ")"))
        ((or (string? x) (bytevector? x)) (note! x) (%write-object x port 1))
        ((or (symbol? x) (number? x) (char? x) (boolean? x) (null? x)) (%write-object x port 1))
        (else (note! x) (%write-object (write-to-string x) port 1))))
    (write-datum form)
    (if (> steps (most-steps))
        (values (write-to-string form) '#())
        (values (%get-output-string port) (list->vector (reverse objects))))))

(define (eval expr env)
  (check-environment "eval" env)
  (call-with-values (lambda () (written-form expr))
    (lambda (text objects)
      (let ((answer (%evaluator-expand text (environment-number env)))
            (source (vector "evaluated code" text 0)))
        (if (vector? answer)
            (reject "eval" answer source)
            (run-answer answer source objects))))))

;; Evaluates the forms of a text one after another; those of a `file` may go together.  `with-value` is called with
;; a thunk for each; its values are ignored.  Places are told as if so many lines came before the text.
;;
;; What runs the forms is a chain of pairs that is made while it is followed: a continuation that comes back to a
;; form goes on with those behind it, as in a program.
(define (evaluate-text text name lines-before env file? with-value)
  (let ((n (%evaluator-open text name lines-before file?))
        (source (vector name text lines-before))
        (e (environment-number env)))
    (define (next)
      (let ((answer (%evaluator-next n e)))
        (cond
          ((not answer)
           (%evaluator-close n)
           '())
          ((vector? answer)
           (%evaluator-close n)
           (reject #f answer source))
          (else (cons (runner answer source '#()) #f)))))
    (let loop ((here (cons #f #f)))
      (if (not (cdr here))
          (set-cdr! here (next)))
      (let ((here (cdr here)))
        (if (pair? here)
            (begin
              (with-value (car here))
              (loop here)))))))

;; Gives a variable of an environment a value.
(define (define-in env name value)
  (set-car! (cell (%evaluator-variable name (environment-number env))) value))

(define load
  (case-lambda
    ((filename) (load-in filename (interaction-environment)))
    ((filename env) (load-in filename env))))

;; Files that are being loaded, innermost first; the program behind them.
(define loading (make-parameter '()))
(define program-file #f)

(define (load-in filename env)
  (check-environment "load" env)
  (let ((file (file-to-load filename)))
    (parameterize* (list (cons loading (cons file (loading))))
      (lambda ()
        (evaluate-text (text-of-file "load" file) file 0 env #t (lambda (thunk) (thunk)))))))

;; The text of a file for `who`, who says so if there is none.
(define (text-of-file who file)
  (if (not (string? file))
      (wrong-type who "a string" file))
  (let* ((port (with-exception-handler
                 (lambda (c)
                   (if (and (condition? c) (eq? (condition-kind c) (kind-file)))
                       (raise-condition (kind-file) who (condition-text c) (condition-irritants c) (no-site))
                       (raise-continuable c)))
                 (lambda () (open-input-file file))))
         (text (read-whole port)))
    (close-port port)
    text))

;; A file that is not in the working directory is looked for beside those that are being loaded, and beside the
;; program.
(define (file-to-load filename)
  (if (or (not (string? filename)) (file-exists? filename))
      filename
      (let loop ((files (if program-file (append (loading) (list program-file)) (loading))))
        (if (null? files)
            filename
            (let ((file (beside (car files) filename)))
              (if (file-exists? file) file (loop (cdr files))))))))

(define (beside file name)
  (let loop ((i (string-length file)))
    (cond
      ((= i 0) name)
      ((char=? (string-ref file (- i 1)) #\/) (string-append (substring file 0 i) name))
      (else (loop (- i 1))))))

;;;; Open programs

;; A program that loads, or evaluates in the interaction environment, is evaluated there itself, form by form: what
;; it defines and what it loads or evaluates are one world.  It sees what programs without imports see, and on top
;; what it imports.  Files that it includes, and its libraries, may be part of an executable.
(define (run-open-program name text directories files)
  (start!)
  (if directories
      (%evaluator-bring directories files))
  (set! program-file name)
  (set! the-interaction-environment (new-environment #f)) ; what the program imports comes on top
  (evaluate-text text name 0 the-interaction-environment #t (lambda (thunk) (thunk))))

;; The program that the compiler runs in this process.
(define (run-given-program)
  (let ((given (%evaluator-console "program" "" -1)))
    (run-open-program (vector-ref given 0) (vector-ref given 1) #f #f)))

;; All that comes from a port.
(define (read-whole port)
  (let loop ((pieces '()))
    (let ((piece (read-string 65536 port)))
      (if (eof-object? piece)
          (apply string-append (reverse pieces))
          (loop (cons piece pieces))))))
