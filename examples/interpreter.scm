;;; A small Scheme in Scheme.
;;;
;;;     ./cairn run examples/interpreter.scm FILE     interprets FILE
;;;     ./cairn run examples/interpreter.scm          interprets a few programs of its own
;;;
;;; Expressions are first compiled to closures: syntax is looked at once, variables become a depth and an index into
;;; frames, which are vectors.  Tail calls are tail calls because Cairn's are.  `define-macro` comes for free.

(import (scheme base) (scheme cxr) (scheme read) (scheme write) (scheme file) (scheme process-context)
        (srfi 1) (cairn hash-table))

;;;; Environments at run time: a vector of values whose element 0 is the enclosing one.
;;;; Environments at compile time: a list of lists of names, the innermost first.

(define globals (make-hash-table eq?))

;; A global is a pair (name . value).
(define unbound (list 'unbound))
(define (global name)
  (hash-table-intern! globals name (lambda () (cons name unbound))))
(define (define-global! name value)
  (set-cdr! (global name) value))

(define (up frame depth)
  (if (= depth 0) frame (up (vector-ref frame 0) (- depth 1))))

;; Calls (found depth index) or (missing).
(define (find-variable name env found missing)
  (let loop ((env env) (depth 0))
    (if (null? env)
        (missing)
        (let ((index (list-index (lambda (x) (eq? x name)) (car env))))
          (if index
              (found depth (+ index 1))
              (loop (cdr env) (+ depth 1)))))))

;;;; Compilation: expression and environment to a procedure of the frame

(define macros (make-hash-table eq?))
(define special-forms (make-hash-table eq?))
(define-syntax define-special
  (syntax-rules ()
    ((_ (name x env) body ...)
     (hash-table-set! special-forms 'name (lambda (x env) body ...)))))

(define (comp x env)
  (cond
    ((symbol? x) (comp-variable x env))
    ((not (pair? x)) (lambda (frame) x))
    ((and (symbol? (car x)) (not (bound? (car x) env)) (hash-table-ref/default special-forms (car x) #f))
     => (lambda (special) (special x env)))
    ((and (symbol? (car x)) (not (bound? (car x) env)) (hash-table-ref/default macros (car x) #f))
     => (lambda (macro) (comp (apply macro (cdr x)) env)))
    (else (comp-call (comp (car x) env) (map (lambda (a) (comp a env)) (cdr x))))))

(define (bound? name env)
  (any (lambda (names) (memq name names)) env))

(define (comp-variable name env)
  (find-variable name env
    (lambda (depth index)
      (case depth
        ((0) (lambda (frame) (vector-ref frame index)))
        ((1) (lambda (frame) (vector-ref (vector-ref frame 0) index)))
        (else (lambda (frame) (vector-ref (up frame depth) index)))))
    (lambda ()
      (let ((cell (global name)))
        (lambda (frame)
          (let ((value (cdr cell)))
            (if (eq? value unbound)
                (error "unbound variable:" name)
                value)))))))

(define (comp-call f arguments)
  (case (length arguments)
    ((0) (lambda (frame) ((f frame))))
    ((1) (let ((a (car arguments)))
           (lambda (frame) ((f frame) (a frame)))))
    ((2) (let ((a (car arguments)) (b (cadr arguments)))
           (lambda (frame) ((f frame) (a frame) (b frame)))))
    (else
     (lambda (frame)
       (apply (f frame) (map (lambda (a) (a frame)) arguments))))))

(define (comp-body body env)
  ;; internal definitions become assignments to variables of the body
  (let ((names (filter-map
                (lambda (x)
                  (and (pair? x) (eq? (car x) 'define)
                       (if (pair? (cadr x)) (caadr x) (cadr x))))
                body)))
    (if (null? names)
        (comp-sequence body env)
        (let* ((inner (cons names env))
               (code (comp-sequence body inner))
               (size (+ 1 (length names))))
          (lambda (frame)
            (let ((new (make-vector size unbound)))
              (vector-set! new 0 frame)
              (code new)))))))

(define (comp-sequence body env)
  (cond
    ((null? body) (lambda (frame) #f))
    ((null? (cdr body)) (comp (car body) env))
    (else
     ;; in this order: a macro must be known before its uses
     (let* ((first (comp (car body) env))
            (rest (comp-sequence (cdr body) env)))
       (lambda (frame)
         (first frame)
         (rest frame))))))

(define (comp-set name value env)
  (find-variable name env
    (lambda (depth index)
      (lambda (frame) (vector-set! (up frame depth) index (value frame))))
    (lambda ()
      (let ((cell (global name)))
        (lambda (frame) (set-cdr! cell (value frame)))))))

(define-special (quote x env)
  (let ((datum (cadr x)))
    (lambda (frame) datum)))

(define-special (if x env)
  (let ((test (comp (cadr x) env))
        (yes (comp (caddr x) env))
        (no (if (pair? (cdddr x)) (comp (cadddr x) env) (lambda (frame) #f))))
    (lambda (frame)
      (if (test frame) (yes frame) (no frame)))))

(define-special (define x env)
  (if (pair? (cadr x))
      (comp-set (caadr x) (comp `(lambda ,(cdadr x) ,@(cddr x)) env) env)
      (comp-set (cadr x) (comp (caddr x) env) env)))

(define-special (set! x env)
  (comp-set (cadr x) (comp (caddr x) env) env))

(define-special (begin x env)
  (comp-sequence (cdr x) env))

(define-special (lambda x env)
  (let* ((formals (cadr x))
         (names (let loop ((f formals)) (cond ((null? f) '()) ((symbol? f) (list f)) (else (cons (car f) (loop (cdr f)))))))
         (code (comp-body (cddr x) (cons names env))))
    (cond
      ((symbol? formals)
       (lambda (frame) (lambda arguments (code (vector frame arguments)))))
      ((dotted-list? formals)
       (let ((n (- (length names) 1)))
         (lambda (frame)
           (lambda arguments
             (code (list->vector (cons frame (append (take arguments n) (list (drop arguments n))))))))))
      (else
       (case (length names)
         ((0) (lambda (frame) (lambda () (code (vector frame)))))
         ((1) (lambda (frame) (lambda (a) (code (vector frame a)))))
         ((2) (lambda (frame) (lambda (a b) (code (vector frame a b)))))
         (else (lambda (frame) (lambda arguments (code (list->vector (cons frame arguments)))))))))))

(define-special (let x env)
  (comp (if (symbol? (cadr x))
            (let ((name (cadr x)) (bindings (caddr x)))
              `((letrec ((,name (lambda ,(map car bindings) ,@(cdddr x)))) ,name) ,@(map cadr bindings)))
            `((lambda ,(map car (cadr x)) ,@(cddr x)) ,@(map cadr (cadr x))))
        env))

(define-special (letrec x env)
  (comp `((lambda () ,@(map (lambda (b) `(define ,@b)) (cadr x)) ,@(cddr x))) env))

(define-special (cond x env)
  (comp (let loop ((clauses (cdr x)))
          (cond
            ((null? clauses) #f)
            ((eq? (caar clauses) 'else) `(begin ,@(cdar clauses)))
            (else `(if ,(caar clauses) (begin ,@(cdar clauses)) ,(loop (cdr clauses))))))
        env))

(define-special (define-macro x env)
  (hash-table-set! macros (caadr x) ((comp `(lambda ,(cdadr x) ,@(cddr x)) env) (vector #f)))
  (lambda (frame) #f))

(define (interpret x)
  ((comp x '()) (vector #f)))

;;;; Globals

(for-each
 (lambda (entry) (define-global! (car entry) (cdr entry)))
 `((+ . ,+) (- . ,-) (* . ,*) (/ . ,/) (= . ,=) (< . ,<) (> . ,>) (<= . ,<=) (quotient . ,quotient) (remainder . ,remainder)
   (cons . ,cons) (car . ,car) (cdr . ,cdr) (cadr . ,cadr) (list . ,list) (append . ,append) (reverse . ,reverse)
   (length . ,length) (null? . ,null?) (pair? . ,pair?) (symbol? . ,symbol?) (number? . ,number?) (eq? . ,eq?)
   (equal? . ,equal?) (not . ,not) (map . ,map) (for-each . ,for-each) (apply . ,apply) (memq . ,memq) (assq . ,assq)
   (call/cc . ,call/cc) (display . ,display) (write . ,write) (newline . ,newline) (eval . ,interpret)
   (vector-ref . ,vector-ref) (vector-set! . ,vector-set!) (make-vector . ,make-vector) (error . ,error)))

;;;; Main

(define programs
  '((begin
      (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
      (fib 22))
    (let loop ((i 0) (acc '()))
      (if (= i 10) (reverse acc) (loop (+ i 1) (cons (* i i) acc))))
    (begin
      (define-macro (swap! a b) (list 'let (list (list 'tmp a)) (list 'set! a b) (list 'set! b 'tmp)))
      (define x 1)
      (define y 2)
      (swap! x y)
      (list x y))
    (+ 1 (call/cc (lambda (k) (* 1000 (k 41)))))
    (begin
      (define (count n) (let loop ((i 0)) (if (< i n) (loop (+ i 1)) i)))
      (count 100000))
    ;; the interpreter's own idea, one level down
    (begin
      (define (lookup name env) (cond ((null? env) (error "unbound:" name)) ((eq? name (car (car env))) (cdr (car env))) (else (lookup name (cdr env)))))
      (define (ev x env)
        (cond ((symbol? x) (lookup x env))
              ((not (pair? x)) x)
              ((eq? (car x) 'lambda) (lambda (a) (ev (car (cdr (cdr x))) (cons (cons (car (cadr x)) a) env))))
              ((eq? (car x) 'if) (if (ev (cadr x) env) (ev (car (cdr (cdr x))) env) (ev (car (cdr (cdr (cdr x)))) env)))
              (else (let ((f (ev (car x) env))) (if (null? (cdr (cdr x))) (f (ev (cadr x) env)) (f (ev (cadr x) env) (ev (car (cdr (cdr x))) env)))))))
      (ev '(((lambda (f) (lambda (n) ((f f) n)))
             (lambda (self) (lambda (n) (if (< n 1) 1 (* n ((self self) (- n 1)))))))
            20)
          (list (cons '* *) (cons '- -) (cons '< <))))
    (undefined-procedure 1 2)))

(define (show-result x)
  (guard (e ((error-object? e)
             (display "error: ")
             (display (error-object-message e))
             (for-each (lambda (i) (display " ") (write i)) (error-object-irritants e))
             (newline)))
    (write (interpret x))
    (newline)))

(let ((arguments (cdr (command-line))))
  (if (null? arguments)
      (for-each show-result programs)
      (call-with-input-file (car arguments)
        (lambda (port)
          (let loop ()
            (let ((x (read port)))
              (unless (eof-object? x)
                (interpret x)
                (loop))))))))
