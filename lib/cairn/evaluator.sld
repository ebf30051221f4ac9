;;; (cairn evaluator): code as data, run by closures.
;;;
;;; A form goes to the expander, which is part of the program (crate cairn-eval), and comes back as code: vectors
;;; headed by a symbol, described in cairn-eval/src/encode.rs.  `gen` turns each node into a procedure of one
;;; argument, the scope; so evaluated code runs on the frames of the program, whatever they are, its tail calls are
;;; tail calls, and its continuations can be captured and entered again like any others.
;;;
;;; A scope is a vector: the scope outside, then the values of its variables.  It is never changed once it is
;;; complete (assigned variables live in boxes), so a continuation may enter code again.
;;;
;;; Variables of the program's libraries are found by number in `values-of-program`: their values were read once, for
;;; a library's variables do not change.  All other global variables are cells: pairs of a value and a name.

(define-library (cairn evaluator)
  (export run-program
          eval environment interaction-environment scheme-report-environment null-environment load)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn control) (cairn records) (cairn number) (cairn list)
          (cairn text) (cairn vector) (cairn port) (cairn reader))
  (begin

    ;;;; Cells

    ;; What a cell without a value holds, and native code knows; it must not be the value of a variable.
    (define without-value (cons (%native-unbound) #f))

    ;; Cells by number; grows.
    (define cells (make-vector 64 #f))

    (define (cell n)
      (if (>= n (vector-length cells))
          (set! cells (vector-grow cells (* 2 (+ n 1)))))
      (or (vector-ref cells n)
          (let ((c (cons (car without-value) #f)))
            (vector-set! cells n c)
            c)))

    ;;;; Scopes

    (define (outer env depth)
      (if (eq? depth 0) env (outer (vector-ref env 0) (- depth 1))))

    (define (gen-local depth i)
      (case depth
        ((0)
         (case i
           ((1) (lambda (env) (vector-ref env 1)))
           ((2) (lambda (env) (vector-ref env 2)))
           (else (lambda (env) (vector-ref env i)))))
        ((1) (lambda (env) (vector-ref (vector-ref env 0) i)))
        ((2) (lambda (env) (vector-ref (vector-ref (vector-ref env 0) 0) i)))
        (else (lambda (env) (vector-ref (outer env depth) i)))))

    (define (gen-cell c name)
      (lambda (env)
        (let ((v (car c)))
          (if (eq? v (car without-value))
              (raise-unbound name)
              v))))

    (define (raise-unbound name)
      (error (string-append "unbound variable: " (symbol->string name))))

    ;; A scope of the values of some expressions, from left to right.
    (define (gen-scope inits)
      (let ((gens (map gen (vector->list inits))))
        (case (length gens)
          ((0) (lambda (env) (vector env)))
          ((1) (let ((a (car gens))) (lambda (env) (vector env (a env)))))
          ((2)
           (let ((a (car gens)) (b (cadr gens)))
             (lambda (env)
               (let* ((x (a env)) (y (b env)))
                 (vector env x y)))))
          (else (lambda (env) (list->vector (cons env (run-all gens env))))))))

    (define (run-all gens env)
      (if (pair? gens)
          (let ((x ((car gens) env)))
            (cons x (run-all (cdr gens) env)))
          '()))

    ;;;; Code

    (define (gen code)
      (define (part i) (vector-ref code i))
      (define (sub i) (gen (part i)))
      (case (part 0)
        ((local) (gen-local (part 1) (part 2)))
        ((quote) (let ((x (part 1))) (lambda (env) x)))
        ((constant)
         (let ((c (cell (part 1))))
           (if (eq? (car c) (car without-value))
               (set-car! c (part 2)))
           (let ((x (car c))) (lambda (env) x))))
        ((value) (let ((x (vector-ref values-of-program (part 1)))) (lambda (env) x)))
        ((cell) (gen-cell (cell (part 1)) (part 2)))
        ((call) (gen-call (part 1) (vector->list (part 2))))
        ((if)
         (let ((test (sub 1)) (then (sub 2)) (other (sub 3)))
           (lambda (env) (if (test env) (then env) (other env)))))
        ((let)
         (let ((scope (gen-scope (part 1))) (body (sub 2)))
           (lambda (env) (body (scope env)))))
        ((lambda) (gen-lambda (part 2)))
        ((native)
         (gen-native (vector-ref (vector-ref (part 1) 2) 0) (part 2) (map gen (vector->list (part 3))) (part 4)))
        ((begin) (gen-begin (map gen (cdr (vector->list code)))))
        ((fix) (gen-fix (map gen (vector->list (part 1))) (sub 2)))
        ((set)
         (let ((c (cell (part 1))) (name (part 2)) (value (sub 3)))
           (lambda (env)
             (let ((x (value env)))
               (if (eq? (car c) (car without-value))
                   (raise-unbound name))
               (set-car! c x)))))
        ((define)
         (let ((c (cell (part 1))) (value (sub 2)))
           (lambda (env) (set-car! c (value env)))))
        ((apply)
         (let ((f (sub 1)) (args (map gen (vector->list (part 2)))))
           (lambda (env)
             (let ((f (f env)))
               (apply apply f (run-all args env))))))
        ((values)
         (let ((gens (map gen (cdr (vector->list code)))))
           (lambda (env) (apply values (run-all gens env)))))
        ((receive) (gen-receive (sub 1) (part 2) (part 3) (sub 4)))
        ((call/cc) (let ((f (sub 1))) (lambda (env) (%call/cc (f env)))))
        ((record-ref)
         (let ((r (sub 1)) (rtd (sub 2)) (i (sub 3)))
           (lambda (env) (let ((r (r env))) (%record-slot r (rtd env) (i env))))))
        (else ; record-set!
         (let ((r (sub 1)) (rtd (sub 2)) (i (sub 3)) (x (sub 4)))
           (lambda (env)
             (let* ((r (r env)) (rtd (rtd env)) (i (i env)))
               (%record-slot-set! r rtd i (x env))))))))

    (define (gen-begin gens)
      (if (null? (cdr gens))
          (car gens)
          (let ((first (car gens)) (rest (gen-begin (cdr gens))))
            (lambda (env)
              (first env)
              (rest env)))))

    (define (gen-call f args)
      (let ((f (gen f)) (args (map gen args)))
        (case (length args)
          ((0) (lambda (env) ((f env))))
          ((1)
           (let ((a (car args)))
             (lambda (env)
               (let* ((f (f env)) (x (a env)))
                 (f x)))))
          ((2)
           (let ((a (car args)) (b (cadr args)))
             (lambda (env)
               (let* ((f (f env)) (x (a env)) (y (b env)))
                 (f x y)))))
          ((3)
           (let ((a (car args)) (b (cadr args)) (c (caddr args)))
             (lambda (env)
               (let* ((f (f env)) (x (a env)) (y (b env)) (z (c env)))
                 (f x y z)))))
          (else
           (lambda (env)
             (let ((f (f env)))
               (apply f (run-all args env))))))))

    ;; A clause is #(required rest? body).
    (define (gen-lambda clauses)
      (let* ((clause (vector-ref clauses 0))
             (required (vector-ref clause 0))
             (rest? (vector-ref clause 1)))
        (if (> (vector-length clauses) 1)
            (gen-case-lambda (vector->list clauses))
            (let ((body (gen (vector-ref clause 2))))
              (if rest?
                  (case required
                    ((0) (lambda (env) (named-lambda (evaluated . rest) (body (vector env rest)))))
                    ((1) (lambda (env) (named-lambda (evaluated a . rest) (body (vector env a rest)))))
                    ((2) (lambda (env) (named-lambda (evaluated a b . rest) (body (vector env a b rest)))))
                    (else
                     (lambda (env)
                       (named-lambda (evaluated . args)
                         (enter required #t body env args)))))
                  (case required
                    ((0) (lambda (env) (named-lambda (evaluated) (body (vector env)))))
                    ((1) (lambda (env) (named-lambda (evaluated a) (body (vector env a)))))
                    ((2) (lambda (env) (named-lambda (evaluated a b) (body (vector env a b)))))
                    ((3) (lambda (env) (named-lambda (evaluated a b c) (body (vector env a b c)))))
                    ((4) (lambda (env) (named-lambda (evaluated a b c d) (body (vector env a b c d)))))
                    (else
                     (lambda (env)
                       (named-lambda (evaluated . args)
                         (enter required #f body env args))))))))))

    (define (accepts? required rest? n)
      (if rest? (>= n required) (= n required)))

    (define (wrong-count required rest? args)
      (error (string-append "evaluated procedure: expected " (if rest? "at least " "") (number->string required)
                            (if (= required 1) " argument, got" " arguments, got"))
             (length args)))

    ;; The body with the arguments in a list.
    (define (enter required rest? body env args)
      (if (accepts? required rest? (length args))
          (body (scope-of required rest? env args))
          (wrong-count required rest? args)))

    (define (scope-of required rest? env args)
      (if rest?
          (let ((scope (make-vector (+ required 2) '())))
            (vector-set! scope 0 env)
            (let loop ((i 1) (args args))
              (if (<= i required)
                  (begin
                    (vector-set! scope i (car args))
                    (loop (+ i 1) (cdr args)))
                  (vector-set! scope i args)))
            scope)
          (list->vector (cons env args))))

    (define (gen-case-lambda clauses)
      (let ((clauses
             (map (lambda (c) (vector (vector-ref c 0) (vector-ref c 1) (gen (vector-ref c 2)))) clauses)))
        (lambda (env)
          (named-lambda (evaluated . args)
            (let ((n (length args)))
              (let loop ((cs clauses))
                (if (null? cs)
                    (error "evaluated procedure: no clause for this number of arguments:" n)
                    (let ((required (vector-ref (car cs) 0)) (rest? (vector-ref (car cs) 1)))
                      (if (accepts? required rest? n)
                          ((vector-ref (car cs) 2) (scope-of required rest? env args))
                          (loop (cdr cs)))))))))))

    ;; The procedures see the scope that they are in.
    (define (gen-fix lambdas body)
      (let ((n (length lambdas)))
        (lambda (env)
          (let ((scope (make-vector (+ n 1) env)))
            (let loop ((i 1) (ls lambdas))
              (if (pair? ls)
                  (begin
                    (vector-set! scope i ((car ls) scope))
                    (loop (+ i 1) (cdr ls)))))
            (body scope)))))

    (define (gen-receive producer required rest? body)
      (lambda (env)
        (%receive vals (producer env)
          (if (accepts? required rest? (length vals))
              (body (scope-of required rest? env vals))
              (error (string-append "expected " (if rest? "at least " "") (number->string required)
                                    (if (= required 1) " value, got" " values, got"))
                     (length vals))))))

    ;;;; Programs

    ;; A program that is evaluated becomes native where it is hot: cairn-rt/src/native.rs.  By number of a lambda: the
    ;; procedure that makes its native closure of the values of its free variables, or #f; and how often evaluated
    ;; closures were entered.
    (define natives #f)
    (define entries #f)

    ;; Entries until it is time to ask for a module, or to look for it.  Whoever has looked for it often waits: what it
    ;; would evaluate meanwhile is little, and the other thread has the processor for itself.
    (define budget 0)
    (define asked #f)
    (define value-cell 0)
    (define modules-left 4)
    (define-syntax first-budget (syntax-rules () ((_) 20000)))
    (define-syntax next-budget (syntax-rules () ((_) 200000)))
    (define-syntax waiting-budget (syntax-rules () ((_) 1000)))
    (define-syntax looks (syntax-rules () ((_) 200)))
    (define-syntax milliseconds-to-wait (syntax-rules () ((_) 20)))
    (define looks-left 0)

    ;; An evaluated closure of lambda `n` is entered: what makes a native one, or #f.
    (define (enter-evaluated n)
      (vector-set! entries n (+ (vector-ref entries n) 1))
      (set! budget (- budget 1))
      (if (eq? budget 0)
          (look-for-module))
      (vector-ref natives n))

    (define (look-for-module)
      (set! budget (waiting-budget))
      (set! looks-left (- looks-left 1))
      (if asked
          (let ((module (%native-ready cells (if (< looks-left 0) (milliseconds-to-wait) 0))))
            (if module
                (begin
                  (set! asked #f)
                  (set! budget (next-budget))
                  ((vector-ref module 0))
                  (install-module (vector-ref module 1) (vector-ref module 2)
                                  (car (cell value-cell))))))
          (begin
            (set! asked (and (> modules-left 0) (%native-request entries cells)))
            (set! modules-left (- modules-left 1))
            (set! looks-left (looks))
            (if (not asked)
                (set! budget -1)))))

    ;; The value of a module: makers of lambdas, then procedures that take the place of evaluated ones.
    (define (install-module lambdas procedures value)
      (let ((n (vector-length lambdas)))
        (do ((i 0 (+ i 1)))
            ((= i n))
          (vector-set! natives (vector-ref lambdas i) (vector-ref value i)))
        (do ((i 0 (+ i 1)))
            ((= i (vector-length procedures)))
          (%native-become! (car (cell (vector-ref procedures i))) (vector-ref value (+ n i))))))

    ;; Procedures of lambda `n`, evaluated until there is native code, which is made for free variables `free`.  The
    ;; variables of a member of a recursive group have values only when the whole group is made.
    (define (gen-native clause n free member?)
      (define (make env)
        (apply (vector-ref natives n) (run-all free env)))
      (define-syntax switching
        (syntax-rules ()
          ((_ (env native) formals native-call evaluated-call)
           (lambda (env)
             (if (if member? #f (vector-ref natives n))
                 (make env)
                 (let ((native #f))
                   (named-lambda (evaluated . formals)
                     (if (or native
                             (and (enter-evaluated n)
                                  (begin
                                    (set! native (make env))
                                    #t)))
                         native-call
                         evaluated-call))))))))
      (let ((required (vector-ref clause 0))
            (rest? (vector-ref clause 1))
            (body (gen (vector-ref clause 2))))
        (if rest?
            (case required
              ((0) (switching (env native) rest (apply native rest) (body (vector env rest))))
              ((1) (switching (env native) (a . rest) (apply native a rest) (body (vector env a rest))))
              (else (switching (env native) args (apply native args) (enter required #t body env args))))
            (case required
              ((0) (switching (env native) () (native) (body (vector env))))
              ((1) (switching (env native) (a) (native a) (body (vector env a))))
              ((2) (switching (env native) (a b) (native a b) (body (vector env a b))))
              ((3) (switching (env native) (a b c) (native a b c) (body (vector env a b c))))
              ((4) (switching (env native) (a b c d) (native a b c d) (body (vector env a b c d))))
              (else (switching (env native) args (apply native args) (enter required #f body env args)))))))

    ;; Runs the program, which is evaluated.
    (define (run-program)
      (let* ((sizes (%native-program)) (forms (vector-ref sizes 0)))
        (set! values-of-program (%machine-ref (slot-exports)))
        (set! natives (make-vector (vector-ref sizes 1) #f))
        (set! entries (make-vector (vector-ref sizes 1) 0))
        (set! value-cell (vector-ref sizes 2))
        (do ((i 0 (+ i 1)))
            ((= i (vector-ref sizes 3)))
          (cell i))
        (set! budget (first-budget))
        (let loop ((i 0))
          (if (< i forms)
              (begin
                ((gen (%native-form i cells)) #f)
                (loop (+ i 1)))))))

    ;;;; Environments

    (define-record-type evaluation-environment
      (make-environment number)
      environment?
      (number environment-number))

    ;; Values of the variables of the program's libraries, by number.
    (define values-of-program #f)

    (define started #f)

    (define (start!)
      (if (not started)
          (let ((exports (%machine-ref (slot-exports))) (bindings (running-bindings)))
            (set! started #t)
            (%evaluator-start (vector-ref bindings 0) (vector-ref bindings 1))
            (set! values-of-program (or exports (apply vector-append (vector-ref bindings 2)))))))

    ;; Runs the code of forms; the value of the last one is returned, by a tail call.
    (define (run-forms forms)
      (cond
        ((null? forms) (if #f #f))
        ((null? (cdr forms)) ((gen (car forms)) #f))
        (else
         ((gen (car forms)) #f)
         (run-forms (cdr forms)))))

    ;; `sets`: import sets, or #f for what a program without imports has.
    (define (new-environment sets)
      (start!)
      (let ((n (%evaluator-environment (if sets (apply string-append (map write-to-string sets)) #f))))
        (run-forms (%evaluator-expand "" n))
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

    (define (eval expr env)
      (check-environment "eval" env)
      (run-forms (%evaluator-expand (write-to-string expr) (environment-number env))))

    (define load
      (case-lambda
        ((filename) (load-in filename (interaction-environment)))
        ((filename env) (load-in filename env))))

    (define (load-in filename env)
      (check-environment "load" env)
      (call-with-input-file filename
        (lambda (port)
          (let loop ()
            (let ((form (read port)))
              (if (not (eof-object? form))
                  (begin
                    (eval form env)
                    (loop))))))))))
