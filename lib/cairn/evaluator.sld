;;; (cairn evaluator): code as data, run by closures.
;;;
;;; A form goes to the expander, which is part of the program (crate cairn-eval), and comes back as code: vectors
;;; headed by a symbol, described in cairn-eval/src/encode.rs.  `gen` turns each node into a procedure of one
;;; argument, the scope; so evaluated code runs on the frames of the program, whatever they are, its tail calls are
;;; tail calls, and its continuations can be captured and entered again like any others.
;;;
;;; A scope is a vector: the scope outside, then the values of its variables.  It is never changed once it is
;;; complete (assigned variables live in boxes), so a continuation may enter code again.  The scope outside of a
;;; procedure's own are its free variables, so that a closure keeps nothing else alive.
;;;
;;; A call that leaves its caller to be returned to has a *mark*, a record of the procedure around it, the text and the
;;; place there.  The mark is live in the call's frame, where backtraces find it (cairn-rt/src/evaluated_marks.rs); a
;;; procedure's mark is one of its free variables.
;;;
;;; Variables of the program's libraries are found by number in `values-of-program`: their values were read once, for
;;; a library's variables do not change.  All other global variables are cells: pairs of a value and a name.

(define-library (cairn evaluator)
  (export run-program run-open-program run-given-program
          eval environment interaction-environment scheme-report-environment null-environment load
          ;; for (cairn repl)
          evaluate-text environment-number define-in reject
          debug-code! stepping! stop-with! stoppable forget-variants! entry-of cell-in
          mark? mark-name mark-scope point-mark point-names point-parameters point-enter? point-break point-break!)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn control) (cairn records) (cairn number) (cairn list)
          (cairn text) (cairn vector) (cairn port) (cairn reader))
  (begin

    ;;;; Cells

    ;; What a cell without a value holds, and native code knows; it must not be the value of a variable.
    (define without-value (cons (%native-unbound) #f))

    ;; Cells by number; grows.
    (define cells (make-vector 64 #f))

    ;; A cell: its value, and what defined it, `(unit . value)`, if that was a form that may become native.  While it
    ;; has no value: #t if there is code that defines it.
    (define (new-cell)
      (cons (car without-value) #f))

    ;; Who defined what a cell holds, or #f.
    (define (definer c)
      (let ((d (cdr c)))
        (and (pair? d) (eq? (car c) (cdr d)) (car d))))

    (define (cell n)
      (if (>= n (vector-length cells))
          (set! cells (vector-grow cells (* 2 (+ n 1)))))
      (or (vector-ref cells n)
          (let ((c (new-cell)))
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
        ((1)
         (case i
           ((0) (lambda (env) (vector-ref (vector-ref env 0) 0)))
           ((1) (lambda (env) (vector-ref (vector-ref env 0) 1)))
           (else (lambda (env) (vector-ref (vector-ref env 0) i)))))
        ((2) (lambda (env) (vector-ref (vector-ref (vector-ref env 0) 0) i)))
        (else (lambda (env) (vector-ref (outer env depth) i)))))

    ;; The path leads from scope to scope: how far out, which element there, and so on.
    (define (gen-far path)
      (let ((last (- (vector-length path) 2)))
        (lambda (env)
          (let loop ((env env) (i 0))
            (let ((v (vector-ref (outer env (vector-ref path i)) (vector-ref path (+ i 1)))))
              (if (eq? i last) v (loop v (+ i 2))))))))

    (define (gen-cell c name at)
      (let ((m (mark at)))
        (lambda (env)
          (let ((v (car c)))
            (if (eq? v (car without-value))
                (raise-unbound c name m)
                v)))))

    (define (raise-unbound c name m)
      (raise-at m
        (lambda ()
          (let* ((name (symbol->string name))
                 (later? (or (cdr c) (%evaluator-console "defined-later?" name -1)))
                 (said (if later? "variable used before its definition gives it a value: " "unbound variable: ")))
            (raise-condition (kind-unbound) #f (string-append said name) '() (no-site))))))

    ;;;; Marks

    (define-record-type evaluated-place
      (make-mark name source start use scope)
      mark?
      (name mark-name)
      (source mark-source)
      (start mark-start)
      (use mark-use)
      (scope mark-scope))

    ;; What is being generated: the name of the procedure, the source of the text, the objects that stand in it, and the
    ;; unit that it is part of, if it may become native.
    (define this-procedure 'program)
    (define this-source #f)
    (define these-objects '#())
    (define this-unit #f)

    ;; Is it for a debugger?  Marks of such code say so.
    (define this-debug #f)

    ;; Sources of other files, by number; of files that were evaluated.
    (define other-sources '())
    (define evaluated-sources '())

    ;; A place is a number, #f, or that of what a macro has made: #(place macro use).
    (define (mark at)
      (if (vector? at)
          (let ((use (mark (vector-ref at 2))))
            (or (mark-in (vector-ref at 1) (vector-ref at 0) use) use))
          (mark-in this-procedure at #f)))

    (define (mark-in name at use)
      (if at
          (if (< at 4294967296)
              (make-mark name this-source at use this-debug)
              (let ((source (assv (quotient at 4294967296) other-sources)))
                (and source (make-mark name (cdr source) (remainder at 4294967296) use this-debug))))
          #f))

    ;; The mark of a procedure: its name, and where it is written.
    (define (name-mark at)
      (or (mark at) (make-mark this-procedure #f #f #f this-debug)))

    ;; Calls that return here: the mark lives on behind the call.  Backtraces look at the frames of these procedures;
    ;; what evaluates the operands is not among them.  So they must not be inlined, and are assigned.  By what the
    ;; surroundings want: one value, none, all.  What is no procedure is called once their frame is there.
    (define call-thing #f)
    (set! call-thing (lambda (f) (f)))

    (define-syntax calling
      (syntax-rules ()
        ((_ f call otherwise) (if (%procedure? f) call otherwise))))

    (define-syntax define-calls
      (syntax-rules ()
        ((_ value-call effect-call values-call (f operand ...) call)
         (begin
           (define value-call #f)
           (define effect-call #f)
           (define values-call #f)
           (set! value-call
             (named-lambda (evaluated-call f operand ... m)
               (let ((x (calling f call (call-thing f))))
                 (if (eq? x m) #f x))))
           (set! effect-call
             (named-lambda (evaluated-call f operand ... m)
               (calling f call (call-thing f))
               m))
           (set! values-call
             (named-lambda (evaluated-call f operand ... m)
               (%receive vals (calling f call (call-thing f))
                 (if (eq? vals m) #f (list->values vals)))))))))

    (define-calls value-call:0 effect-call:0 values-call:0 (f) (f))
    (define-calls value-call:1 effect-call:1 values-call:1 (f x) (f x))
    (define-calls value-call:2 effect-call:2 values-call:2 (f x y) (f x y))
    (define-calls value-call:3 effect-call:3 values-call:3 (f x y z) (f x y z))
    (define-calls value-call:4 effect-call:4 values-call:4 (f x y z w) (f x y z w))
    (define-calls value-apply effect-apply values-apply (f xs) (apply f xs))
    (define-calls value-call/cc effect-call/cc values-call/cc (f) (%call/cc f))
    (define-calls value-call/1cc effect-call/1cc values-call/1cc (f) (%call/1cc f))

    ;; Calls a procedure that raises: backtraces show the procedure and the place of the mark.
    (define (raise-at m raising)
      (if m
          (value-call:0 raising m)
          (raising)))

    ;; The tail call of what is no procedure.
    (define (call-nothing f m)
      (raise-at m (lambda () (f))))

    ;; A tail call leaves no frame, so `m` stays where the runtime finds it if the callee takes another number of
    ;; arguments.
    (define-syntax tail-calling
      (syntax-rules ()
        ((_ f call m)
         (calling f (begin (%machine-set! (slot-tail-mark) m) call) (call-nothing f m)))))

    ;; A procedure of `env` that makes such a call.
    (define-syntax returning
      (syntax-rules ()
        ((_ env m want ((operand init) ...) (value-call effect-call values-call))
         (case want
           ((value) (lambda (env) (let* ((operand init) ...) (value-call operand ... m))))
           ((effect) (lambda (env) (let* ((operand init) ...) (effect-call operand ... m))))
           (else (lambda (env) (let* ((operand init) ...) (values-call operand ... m))))))))

    ;; The body in a scope of the values of some expressions, which are computed from left to right.
    (define (gen-let inits body)
      (let ((gens (map gen (vector->list inits))))
        (case (length gens)
          ((0) (lambda (env) (body (vector env))))
          ((1) (let ((a (car gens))) (lambda (env) (let ((x (a env))) (body (vector env x))))))
          ((2)
           (let ((a (car gens)) (b (cadr gens)))
             (lambda (env)
               (let* ((x (a env)) (y (b env)))
                 (body (vector env x y))))))
          ((3)
           (let ((a (car gens)) (b (cadr gens)) (c (caddr gens)))
             (lambda (env)
               (let* ((x (a env)) (y (b env)) (z (c env)))
                 (body (vector env x y z))))))
          (else (lambda (env) (body (list->vector (cons env (run-all gens env)))))))))

    ;; While the last one is computed, nothing holds the scope.
    (define (run-all gens env)
      (cond
        ((null? gens) '())
        ((null? (cdr gens)) (list ((car gens) env)))
        (else
         (let ((x ((car gens) env)))
           (cons x (run-all (cdr gens) env))))))

    ;; A scope of just these values.
    (define (gen-values gens)
      (case (length gens)
        ((0) (lambda (env) #f))
        ((1) (let ((a (car gens))) (lambda (env) (vector (a env)))))
        ((2)
         (let ((a (car gens)) (b (cadr gens)))
           (lambda (env) (vector (a env) (b env)))))
        ((3)
         (let ((a (car gens)) (b (cadr gens)) (c (caddr gens)))
           (lambda (env) (vector (a env) (b env) (c env)))))
        (else (lambda (env) (list->vector (run-all gens env))))))

    ;; What comes behind the values of some expressions in a scope with them, and sees else what `trim` gives it.
    (define (gen-trimmed-let gens trim body)
      (case (length gens)
        ((1)
         (let ((a (car gens)))
           (lambda (env)
             (let* ((small (trim env)) (x (a env)))
               (body (vector small x))))))
        ((2)
         (let ((a (car gens)) (b (cadr gens)))
           (lambda (env)
             (let* ((small (trim env)) (x (a env)) (y (b env)))
               (body (vector small x y))))))
        (else
         (lambda (env)
           (let* ((small (trim env)) (xs (run-all gens env)))
             (body (list->vector (cons small xs))))))))

    ;;;; Code

    (define (gen code)
      (define (part i) (vector-ref code i))
      (define (sub i) (gen (part i)))
      (case (part 0)
        ((local) (gen-local (part 1) (part 2)))
        ((far) (gen-far (part 1)))
        ((quote) (let ((x (part 1))) (lambda (env) x)))
        ((constant)
         (let ((c (constant-cell (part 1))))
           (if (eq? (car c) (car without-value))
               (set-car! c (part 2)))
           (let ((x (car c))) (lambda (env) x))))
        ((value) (let ((x (vector-ref values-of-program (part 1)))) (lambda (env) x)))
        ((cell) (gen-cell (cell (part 1)) (part 2) (part 3)))
        ((object) (let ((x (vector-ref these-objects (part 1)))) (lambda (env) x)))
        ((call)
         (let ((f (part 1)) (m (mark (part 3))))
           (or (and (eq? (vector-ref f 0) 'value)
                    (gen-known-call (vector-ref values-of-program (vector-ref f 1)) (part 2) m (part 4)))
               (gen-unknown-call f (part 2) m (part 4)))))
        ((if) (gen-if (part 1) (sub 2) (sub 3)))
        ((trim)
         (let ((first (sub 1)) (trim (gen-values (map gen (vector->list (part 2))))) (rest (sub 3)))
           (lambda (env)
             (let ((small (trim env)))
               (first env)
               (rest small)))))
        ((trim-if)
         (let ((test (sub 1)) (trim (gen-values (map gen (vector->list (part 2))))) (then (sub 3)) (other (sub 4)))
           (lambda (env)
             (let ((small (trim env)))
               (if (test env) (then small) (other small))))))
        ((trim-let)
         (gen-trimmed-let (map gen (vector->list (part 1))) (gen-values (map gen (vector->list (part 2)))) (sub 3)))
        ((trim-receive)
         (gen-receive (sub 1) (gen-values (map gen (vector->list (part 6)))) (part 2) (part 3) (sub 4)
                      (mark (part 5))))
        ((let)
         (gen-let (part 1) (sub 2)))
        ((lambda)
         (let ((outer this-procedure))
           (set! this-procedure (part 1))
           (let ((maker (gen-lambda (part 2) (name-mark (part 3)))))
             (set! this-procedure outer)
             maker)))
        ((native)
         (let ((outer this-procedure) (l (part 1)))
           (set! this-procedure (vector-ref l 1))
           (let ((maker
                  (gen-native (vector-ref (vector-ref l 2) 0) (part 2) (map gen (vector->list (part 3))) (part 4)
                              (name-mark (vector-ref l 3)))))
             (set! this-procedure outer)
             maker)))
        ((begin) (gen-begin (map gen (cdr (vector->list code)))))
        ((close) (gen-close (map gen (vector->list (part 1))) (sub 2)))
        ((fix)
         (let ((lambdas (map gen (vector->list (part 1)))) (body (sub 2)))
           (if (part 3)
               (gen-closed-fix lambdas (map gen (vector->list (part 3))) body)
               (gen-fix lambdas body))))
        ((set)
         (let ((c (cell (part 1))) (name (part 2)) (value (sub 3)) (m (mark (part 4))))
           (lambda (env)
             (let ((x (value env)))
               (if (eq? (car c) (car without-value))
                   (raise-unbound c name m))
               (set-car! c x)))))
        ((define)
         (let ((c (cell (part 1))) (value (sub 2)) (u (and this-unit (unit-place this-unit) this-unit)))
           (if (eq? (car c) (car without-value))
               (set-cdr! c #t))
           (lambda (env)
             (let ((x (value env)))
               (set-car! c x)
               (set-cdr! c (if (and u (%procedure? x)) (cons u x) #f))))))
        ((apply)
         (let ((f (sub 1)) (args (map gen (vector->list (part 2)))) (m (mark (part 3))) (want (part 4)))
           (if (and m want)
               (returning env m want ((f (f env)) (args (list-of-arguments (run-all args env))))
                          (value-apply effect-apply values-apply))
               (lambda (env)
                 (let* ((f (f env)) (args (list-of-arguments (run-all args env))))
                   (tail-calling f (apply f args) m))))))
        ((values)
         (let ((gens (map gen (cdr (vector->list code)))))
           (lambda (env) (apply values (run-all gens env)))))
        ((receive) (gen-receive (sub 1) #f (part 2) (part 3) (sub 4) (mark (part 5))))
        ((call/cc)
         (let ((f (sub 1)) (m (mark (part 2))) (want (part 3)))
           (if (and m want)
               (returning env m want ((f (f env))) (value-call/cc effect-call/cc values-call/cc))
               (lambda (env) (let ((f (f env))) (tail-calling f (%call/cc f) m))))))
        ((call/1cc)
         (let ((f (sub 1)) (m (mark (part 2))) (want (part 3)))
           (if (and m want)
               (returning env m want ((f (f env))) (value-call/1cc effect-call/1cc values-call/1cc))
               (lambda (env) (let ((f (f env))) (tail-calling f (%call/1cc f) m))))))
        ((record-ref)
         (gen-record-ref (sub 1) (sub 2) (vector-ref (part 3) 1) (part 4)))
        ((record-at)
         (let ((r (sub 1)) (rtd (sub 2)) (i (vector-ref (part 3) 1)) (k (sub 4)) (apart (part 5)) (who (part 6)))
           (lambda (env)
             (let* ((type (rtd env)) (record (r env)))
               (if (instance? record type)
                   (%record-slot record type (%fx+ i (%fx* apart (k env))))
                   (not-an-instance who type record))))))
        ((record-at-set!)
         (let ((r (sub 1)) (rtd (sub 2)) (i (vector-ref (part 3) 1)) (x (sub 4)) (k (sub 5)) (apart (part 6))
               (who (part 7)))
           (lambda (env)
             (let* ((rtd (rtd env)) (r (r env)) (x (x env)))
               (if (instance? r rtd)
                   (%record-slot-set! r rtd (%fx+ i (%fx* apart (k env))) x who)
                   (not-an-instance who rtd r))))))
        ((debug) (gen-stop-before-call code))
        ((debug-enter) (gen-stop-at-entry code))
        (else ; record-set!
         (let ((r (sub 1)) (rtd (sub 2)) (i (vector-ref (part 3) 1)) (x (sub 4)) (who (part 5)))
           (lambda (env)
             (let* ((rtd (rtd env)) (r (r env)) (x (x env)))
               (if (instance? r rtd)
                   (%record-slot-set! r rtd i x who)
                   (not-an-instance who rtd r))))))))

    ;; The first fields are read without asking the runtime.
    (define (gen-record-ref r rtd i who)
      (define-syntax reading
        (syntax-rules ()
          ((_ (record type) access)
           (lambda (env)
             (let* ((type (rtd env)) (record (r env)))
               (if (%record-instance? record type) access (not-an-instance who type record)))))))
      (case i
        ((0) (reading (r t) (%record-ref r t 0)))
        ((1) (reading (r t) (%record-ref r t 1)))
        ((2) (reading (r t) (%record-ref r t 2)))
        ((3) (reading (r t) (%record-ref r t 3)))
        (else
         (lambda (env)
           (let* ((type (rtd env)) (record (r env)))
             (if (instance? record type) (%record-slot record type i) (not-an-instance who type record)))))))

    (define (instance? x rtd)
      (or (%record-instance? x rtd) (%compact-instance? x rtd)))

    (define (not-an-instance who rtd x)
      (let* ((name (symbol->string (rtd-name rtd)))
             (vowel? (memv (string-ref name 0) '(#\a #\e #\i #\o)))
             (expected (string-append (if vowel? "an " "a ") name)))
        (wrong-record (if who (symbol->string who) #f) rtd expected x)))

    (define (gen-begin gens)
      (if (null? (cdr gens))
          (car gens)
          (let ((first (car gens)) (rest (gen-begin (cdr gens))))
            (lambda (env)
              (first env)
              (rest env)))))

    ;; The last argument of `apply` is a list of more.
    (define (list-of-arguments args)
      (apply apply list args))

    ;; A procedure that is found to have the name of `m`.
    (define-syntax evaluated-procedure
      (syntax-rules ()
        ((_ m env formals body)
         (lambda (env)
           (named-lambda (evaluated . formals)
             (if (eq? env m) #f body))))))

    ;; A clause is #(required rest? body).
    (define (gen-lambda clauses m)
      (let* ((clause (vector-ref clauses 0))
             (required (vector-ref clause 0))
             (rest? (vector-ref clause 1)))
        (if (> (vector-length clauses) 1)
            (gen-case-lambda (vector->list clauses) m)
            (let ((body (gen (vector-ref clause 2))))
              (if rest?
                  (case required
                    ((0) (evaluated-procedure m env rest (body (vector env rest))))
                    ((1) (evaluated-procedure m env (a . rest) (body (vector env a rest))))
                    ((2) (evaluated-procedure m env (a b . rest) (body (vector env a b rest))))
                    (else (evaluated-procedure m env args (enter required #t body env args m))))
                  (case required
                    ((0) (evaluated-procedure m env () (body (vector env))))
                    ((1) (evaluated-procedure m env (a) (body (vector env a))))
                    ((2) (evaluated-procedure m env (a b) (body (vector env a b))))
                    ((3) (evaluated-procedure m env (a b c) (body (vector env a b c))))
                    ((4) (evaluated-procedure m env (a b c d) (body (vector env a b c d))))
                    (else (evaluated-procedure m env args (enter required #f body env args m)))))))))

    (define (accepts? required rest? n)
      (if rest? (>= n required) (= n required)))

    ;; For a list of clauses.
    (define (wrong-count clauses args m)
      (raise-condition (kind-arity) (symbol->string (mark-name m)) (%count-message clauses #f (length args)) args
                       (%place-of-call m)))

    ;; The body with the arguments in a list.
    (define (enter required rest? body env args m)
      (if (accepts? required rest? (length args))
          (body (scope-of required rest? env args))
          (wrong-count (list (vector required rest?)) args m)))

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

    (define (gen-case-lambda clauses m)
      (let ((clauses
             (map (lambda (c) (vector (vector-ref c 0) (vector-ref c 1) (gen (vector-ref c 2)))) clauses)))
        (lambda (env)
          (named-lambda (evaluated . args)
            (let ((n (length args)))
              (let loop ((cs clauses))
                (if (null? cs)
                    (wrong-count clauses args m)
                    (let ((required (vector-ref (car cs) 0)) (rest? (vector-ref (car cs) 1)))
                      (if (accepts? required rest? n)
                          ((vector-ref (car cs) 2) (scope-of required rest? env args))
                          (loop (cdr cs)))))))))))

    ;; A procedure that sees these values and nothing else.
    (define (gen-close gens procedure)
      (case (length gens)
        ((0) (lambda (env) (procedure #f)))
        ((1) (let ((a (car gens))) (lambda (env) (procedure (vector (a env))))))
        ((2)
         (let ((a (car gens)) (b (cadr gens)))
           (lambda (env) (procedure (vector (a env) (b env))))))
        ((3)
         (let ((a (car gens)) (b (cadr gens)) (c (caddr gens)))
           (lambda (env) (procedure (vector (a env) (b env) (c env))))))
        (else (lambda (env) (procedure (list->vector (run-all gens env)))))))

    ;; The procedures see the scope that they are in.
    (define (gen-fix lambdas body)
      (if (null? (cdr lambdas))
          (let ((l (car lambdas)))
            (lambda (env)
              (let ((scope (vector env #f)))
                (vector-set! scope 1 (l scope))
                (body scope))))
          (let ((n (length lambdas)))
            (lambda (env)
              (let ((scope (make-vector (+ n 1) env)))
                (put-procedures! lambdas scope scope 1)
                (body scope))))))

    ;; The procedures see each other and some values.
    (define (gen-closed-fix lambdas gens body)
      (define-syntax one
        (syntax-rules ()
          ((_ env make)
           (let ((l (car lambdas)))
             (lambda (env)
               (let* ((group make) (f (l group)))
                 (vector-set! group 1 f)
                 (body (vector env f))))))))
      (let ((n (length lambdas)) (k (length gens)))
        (case (if (= n 1) k -1)
          ((0) (one env (vector #f #f)))
          ((1) (let ((a (car gens))) (one env (vector #f #f (a env)))))
          ((2) (let ((a (car gens)) (b (cadr gens))) (one env (vector #f #f (a env) (b env)))))
          (else
           (lambda (env)
             (let ((group (make-vector (+ n k 1) #f)) (scope (make-vector (+ n 1) env)))
               (let loop ((i (+ n 1)) (gens gens))
                 (if (pair? gens)
                     (begin
                       (vector-set! group i ((car gens) env))
                       (loop (+ i 1) (cdr gens)))))
               (put-procedures! lambdas group scope 1)
               (body scope)))))))

    ;; Procedures that see `group` into it and `scope`.
    (define (put-procedures! lambdas group scope i)
      (if (pair? lambdas)
          (let ((f ((car lambdas) group)))
            (vector-set! group i f)
            (vector-set! scope i f)
            (put-procedures! (cdr lambdas) group scope (+ i 1)))))

    (define (gen-receive producer trim required rest? body m)
      (define (receive-values env vals)
        (if (accepts? required rest? (length vals))
            (body (scope-of required rest? env vals))
            (raise-at m
              (lambda ()
                (raise-condition (kind-arity) #f
                                 (%count-message (list (vector required rest?)) #t (length vals)) vals
                                 (no-site))))))
      (if trim
          (lambda (env)
            (let ((small (trim env)))
              (%receive vals (producer env) (receive-values small vals))))
          (lambda (env)
            (%receive vals (producer env) (receive-values env vals)))))

    ;;;; Programs

    ;; What is evaluated becomes native where it is hot: cairn-rt/src/native.rs.  A *unit* is a program, or a form that
    ;; was typed or loaded.  It has a counter for each lambda, by number; where the form stands, #f for a program; its
    ;; cells, likewise; the number of the cell for the value of modules.
    ;;
    ;; A counter is a vector: how many entries of evaluated closures of the lambda are left until something is done
    ;; about them; how many there were before these, since there was a module; and the procedure that makes the native
    ;; closure of the values of its free variables, or #f.  So an entry costs a subtraction.
    ;;
    ;; What a form calls may be defined by other forms.  These are other *parts* of its module, which finds out by
    ;; itself whether the variables still hold what it knows.  A request is a vector: the ticket, the cells of all
    ;; parts, the procedures that they hold, each from the part's own definition, or #f.
    ;;
    ;; The budget: entries until it is time to ask for a module, or to look for it.  Nobody waits for a module: it may
    ;; come late, or never.  A unit whose module could not be made asks once more, much later.
    ;; There are more than a few modules only in programs that are hot here and there for minutes.
    (define-record-type unit
      (make-unit counters place own-cells value-cell budget asked modules-left)
      unit?
      (counters unit-counters)
      (place unit-place)
      (own-cells unit-own-cells)
      (value-cell unit-value-cell)
      (budget unit-budget set-unit-budget!)
      (asked unit-asked set-unit-asked!)
      (modules-left unit-modules-left set-unit-modules-left!))

    (define haste (%native-haste))
    (define first-budget (or haste 80000))
    (define next-budget (or haste 200000))
    (define entries-worth-it (if haste 1 (hot-entries)))
    (define looking-budget (if haste 1 1000))
    (define entries-at-once (if haste 1 64))
    (define-syntax budget-after-failure (syntax-rules () ((_) 5000000)))
    (define-syntax budget-of-none (syntax-rules () ((_) 1000000000000000)))
    (define most-modules (if haste 8 100))
    (define-syntax most-parts (syntax-rules () ((_) 64)))

    (define (new-unit lambdas place own-cells value-cell)
      (let ((counters (make-vector lambdas #f)))
        (do ((i 0 (+ i 1)))
            ((= i lambdas))
          (vector-set! counters i (vector entries-at-once 0 #f)))
        (make-unit counters place own-cells value-cell first-budget #f most-modules)))

    (define-syntax counter-left (syntax-rules () ((_ c) (vector-ref c 0))))
    (define-syntax counter-before (syntax-rules () ((_ c) (vector-ref c 1))))
    (define-syntax counter-native (syntax-rules () ((_ c) (vector-ref c 2))))

    (define (counter-entries c)
      (+ (counter-before c) (- entries-at-once (counter-left c))))

    (define (unit-cells u)
      (or (unit-own-cells u) cells))

    ;; A cell of constants of the unit that is being generated.
    (define (constant-cell n)
      (let ((own (and this-unit (unit-own-cells this-unit))))
        (if own (vector-ref own n) (cell n))))

    ;; The entries that were left of an evaluated closure's lambda are used up, or there is native code: what makes a
    ;; native closure, or #f.
    (define (account-entries! u c)
      (if (not (counter-native c))
          (let ((budget (- (unit-budget u) entries-at-once)))
            (vector-set! c 0 entries-at-once)
            (vector-set! c 1 (+ (counter-before c) entries-at-once))
            (set-unit-budget! u budget)
            (if (<= budget 0)
                (look-for-module u))))
      (if (counter-native c)
          (vector-set! c 0 1))
      (counter-native c))

    (define (look-for-module u)
      (set-unit-budget! u looking-budget)
      (let ((asked (unit-asked u)))
        (if asked
            (let* ((cells (vector-ref asked 1))
                   (module (%native-ready (vector-ref asked 0) cells)))
              (cond
                ((not module) #f)
                ((vector? module)
                 (set-unit-asked! u #f)
                 (set-unit-budget! u next-budget)
                 (forget-entries u)
                 ((vector-ref module 0))
                 (if (still-held? cells (vector-ref asked 2))
                     (install-module u (vector-ref module 1) (vector-ref module 2)
                                     (car (vector-ref cells (unit-value-cell u))))))
                (else
                 (set-unit-asked! u #f)
                 (set-unit-modules-left! u (min 1 (unit-modules-left u)))
                 (set-unit-budget! u (budget-after-failure)))))
            (if (or (= (unit-modules-left u) 0) (worth-a-module? u))
                (begin
                  (set-unit-asked! u (and (> (unit-modules-left u) 0) (request-module u)))
                  (set-unit-modules-left! u (- (unit-modules-left u) 1))
                  (if (not (unit-asked u))
                      (set-unit-budget! u (budget-of-none))))
                (set-unit-budget! u first-budget)))))

    ;; A form whose module was made before the program began: the form's procedures are native when it runs.
    (define (install-module-ahead u)
      (set-unit-modules-left! u 0)
      (let ((ticket (%native-request (vector (unit-place u)) '#() (unit-own-cells u) '#())))
        (if ticket
            (begin
              (set-unit-asked! u (vector ticket (unit-own-cells u) (vector-map (lambda (c) #f) (unit-own-cells u))))
              (look-for-module u)))))

    ;; The next module is for what is hot from now on.  Whether something was entered at all stays known.
    (define (forget-entries u)
      (vector-for-each
       (lambda (c)
         (vector-set! c 1 (min 1 (counter-entries c)))
         (vector-set! c 0 entries-at-once))
       (unit-counters u)))

    ;; Is there a lambda that is worth it?
    (define (worth-a-module? u)
      (let ((counters (unit-counters u)))
        (let loop ((i (- (vector-length counters) 1)))
          (and (>= i 0)
               (let ((c (vector-ref counters i)))
                 (or (and (not (counter-native c)) (>= (counter-entries c) entries-worth-it))
                     (loop (- i 1))))))))

    (define (request-module u)
      (let* ((form? (unit-place u)) (parts (if form? (parts-of u) (list u)))
             (cells (if form? (apply vector-append (map unit-own-cells parts)) (unit-cells u)))
             (held (if form? (apply vector-append (map held-by parts)) '#()))
             (places (and form? (list->vector (map unit-place parts))))
             (entries (vector-map (lambda (c) (and (not (counter-native c)) (counter-entries c))) (unit-counters u)))
             (ticket (%native-request places entries cells held)))
        (and ticket (vector ticket cells held))))

    ;; The units whose procedures a unit's code may come to, itself first.
    (define (parts-of u)
      (let next ((waiting (list u)) (found '()) (room (most-parts)))
        (cond
          ((or (null? waiting) (eq? room 0)) (reverse found))
          ((memq (car waiting) found) (next (cdr waiting) found room))
          (else
           (next (append (cdr waiting) (definers (car waiting))) (cons (car waiting) found) (- room 1))))))

    (define (definers u)
      (let ((cells (unit-own-cells u)))
        (do ((i (- (unit-value-cell u) 1) (- i 1))
             (found '() (let ((d (definer (vector-ref cells i)))) (if d (cons d found) found))))
            ((< i 0) found))))

    ;; What its definitions have put into its cells, and still is there.
    (define (held-by u)
      (vector-map (lambda (c) (and (eq? (definer c) u) (car c))) (unit-own-cells u)))

    (define (still-held? cells held)
      (let loop ((i 0))
        (cond
          ((= i (vector-length held)) #t)
          ((or (not (vector-ref held i)) (eq? (vector-ref held i) (car (vector-ref cells i)))) (loop (+ i 1)))
          (else #f))))

    ;; The value of a module: makers of lambdas, then procedures that take the place of evaluated ones.
    (define (install-module u lambdas procedures value)
      (let ((n (vector-length lambdas)))
        (do ((i 0 (+ i 1)))
            ((= i n))
          (let ((c (vector-ref (unit-counters u) (vector-ref lambdas i))))
            (vector-set! c 2 (vector-ref value i))
            (vector-set! c 0 1)))
        (do ((i 0 (+ i 1)))
            ((= i (vector-length procedures)))
          (%native-become! (car (vector-ref (unit-cells u) (vector-ref procedures i))) (vector-ref value (+ n i))))))

    ;; The unit of a form: what the expander says of it is #(text form fingerprint lambdas cells variables code).  Its
    ;; cells are those of its variables, by number, and new ones.
    (define (unit-of-form answer)
      (let* ((variables (vector-ref answer 5)) (n (vector-length variables))
             (own (make-vector (vector-ref answer 4) #f)))
        (do ((i 0 (+ i 1)))
            ((= i (vector-length own)))
          (vector-set! own i (if (< i n) (cell (vector-ref variables i)) (new-cell))))
        (new-unit (vector-ref answer 3) answer own n)))

    ;; Procedures of lambda `n`, evaluated until there is native code, which is made for free variables `free`.  The
    ;; variables of a member of a recursive group have values only when the whole group is made.
    ;;
    ;; Such a closure has one variable, its *state*: a vector of the native closure or #f, the scope outside, the mark,
    ;; the body, the lambda's counter, what gives the free variables, how many arguments it takes, and the unit.  When
    ;; the closure becomes the native one, which has no free variables, an activation of it may wait at its beginning,
    ;; in another thread or behind a signal handler: the collector then takes the closure for one of two words, and that
    ;; is what it must be.
    (define-syntax state-native (syntax-rules () ((_ s) (vector-ref s 0))))
    (define-syntax state-env (syntax-rules () ((_ s) (vector-ref s 1))))
    (define-syntax state-mark (syntax-rules () ((_ s) (vector-ref s 2))))
    (define-syntax state-body (syntax-rules () ((_ s) (vector-ref s 3))))
    (define-syntax state-counter (syntax-rules () ((_ s) (vector-ref s 4))))
    (define-syntax state-free (syntax-rules () ((_ s) (vector-ref s 5))))
    (define-syntax state-required (syntax-rules () ((_ s) (vector-ref s 6))))
    (define-syntax state-unit (syntax-rules () ((_ s) (vector-ref s 7))))

    ;; Accounts for entries; makes the native closure if it is time.  Assigned, so that it is never inlined: `self` is
    ;; its argument, and nothing else looks at the closure any more.
    (define enter-procedure! #f)
    (set! enter-procedure!
      (lambda (self s)
        (if (account-entries! (state-unit s) (state-counter s))
            (let ((native (make-native s)))
              (vector-set! s 0 native)
              (if (null? (state-free s)) (%native-become! self native))
              native)
            #f)))

    (define (make-native s)
      (apply (counter-native (state-counter s)) (run-all (state-free s) (state-env s))))

    (define (gen-native clause n free member? m)
      (define required (vector-ref clause 0))
      (define u this-unit)
      (define c (vector-ref (unit-counters u) n))
      ;; An entry is counted: the native closure, or #f.
      (define-syntax entering
        (syntax-rules ()
          ((_ self s)
           (let* ((c (state-counter s)) (left (%fx- (counter-left c) 1)))
             (if (eq? left 0)
                 (enter-procedure! self s)
                 (begin
                   (vector-set! c 0 left)
                   #f))))))
      (define-syntax switching
        (syntax-rules ()
          ((_ (s native env body) formals native-call evaluated-call)
           (lambda (env)
             (let ((s (vector #f env m body c free required u)))
               (if (if member? #f (counter-native c))
                   (make-native s)
                   (letrec
                       ((self
                         (named-lambda (evaluated . formals)
                           (let ((native (or (state-native s) (entering self s))))
                             (if native
                                 native-call
                                 (let ((env (state-env s)) (body (state-body s)))
                                   evaluated-call))))))
                     self)))))))
      (let ((rest? (vector-ref clause 1))
            (body (gen (vector-ref clause 2))))
        (if rest?
            (case required
              ((0) (switching (s native env body) rest (apply native rest) (body (vector env rest))))
              ((1) (switching (s native env body) (a . rest) (apply native a rest) (body (vector env a rest))))
              (else
               (switching (s native env body) args
                 (apply native args)
                 (enter (state-required s) #t body env args (state-mark s)))))
            (case required
              ((0) (switching (s native env body) () (native) (body (vector env))))
              ((1) (switching (s native env body) (a) (native a) (body (vector env a))))
              ((2) (switching (s native env body) (a b) (native a b) (body (vector env a b))))
              ((3) (switching (s native env body) (a b c) (native a b c) (body (vector env a b c))))
              ((4) (switching (s native env body) (a b c d) (native a b c d) (body (vector env a b c d))))
              (else
               (switching (s native env body) args
                 (apply native args)
                 (enter (state-required s) #f body env args (state-mark s))))))))

    ;; Runs the program, which is evaluated.
    (define (run-program)
      (let* ((sizes (%native-program)) (forms (vector-ref sizes 0)) (sources (vector-ref sizes 4)) (program #f))
        (set! values-of-program (%machine-ref (slot-exports)))
        (set! program (new-unit (vector-ref sizes 1) #f #f (vector-ref sizes 2)))
        (do ((i 0 (+ i 1)))
            ((= i (vector-ref sizes 3)))
          (set-cdr! (cell i) #t))
        (for-each (lambda (i) (set-cdr! (cell i) #f)) (vector-ref sizes 5))
        (let loop ((i 0))
          (if (< i forms)
              (begin
                ((generate (%native-form i cells) (car sources) '#() (cdr sources) program) #f)
                (loop (+ i 1))))))))
  (include "evaluator-operations.scm")
  (include "evaluator-environments.scm")
  (include "evaluator-debug.scm"))
