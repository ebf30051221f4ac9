;;; Calls of procedures of the library that are known: most of what evaluated code does.
;;;
;;; A variable of the library has one value, so what a call of it calls is known when code is generated.  For the
;;; procedures below the usual case is done here, without a call; in any other case the procedure is called and does,
;;; or says, what it does anywhere.  So an operation here must give what the procedure gives, and must not fail.
;;;
;;; An operand that is a variable of the innermost scope or of the one around it, or a constant, is fetched without a
;;; call, too.

;; How an operand is fetched: 0 and 1, how many scopes out; 2, a constant; 3, by what `gen` makes of it.
(define (operand-kind code)
  (case (vector-ref code 0)
    ((local) (let ((depth (vector-ref code 1))) (if (< depth 2) depth 3)))
    ((quote value) 2)
    (else 3)))

(define (constant-operand code)
  (if (eq? (vector-ref code 0) 'value)
      (vector-ref values-of-program (vector-ref code 1))
      (vector-ref code 1)))

;; `body`, for any kind of operand: `(fetch env)` is its value.
(define-syntax with-operand
  (syntax-rules ()
    ((_ code fetch body)
     (case (operand-kind code)
       ((0)
        (let ((i (vector-ref code 2)))
          (let-syntax ((fetch (syntax-rules () ((_ env) (vector-ref env i)))))
            body)))
       ((1)
        (let ((i (vector-ref code 2)))
          (let-syntax ((fetch (syntax-rules () ((_ env) (vector-ref (vector-ref env 0) i)))))
            body)))
       ((2)
        (let ((x (constant-operand code)))
          (let-syntax ((fetch (syntax-rules () ((_ env) x))))
            body)))
       (else
        (let ((g (gen code)))
          (let-syntax ((fetch (syntax-rules () ((_ env) (g env)))))
            body)))))))

;; Likewise, for variables of the innermost scope and for others.
(define-syntax with-first-operand
  (syntax-rules ()
    ((_ code fetch body)
     (if (eq? (operand-kind code) 0)
         (let ((i (vector-ref code 2)))
           (let-syntax ((fetch (syntax-rules () ((_ env) (vector-ref env i)))))
             body))
         (let ((g (gen code)))
           (let-syntax ((fetch (syntax-rules () ((_ env) (g env)))))
             body))))))

;; The unusual cases.  Assigned, so that they are not inlined.
(define call-known:1 #f)
(define call-known:2 #f)
(define call-known:3 #f)
(set! call-known:1 (lambda (f x m want) (if (and m want) (value-call:1 f x m) (tail-calling f (f x) m))))
(set! call-known:2 (lambda (f x y m want) (if (and m want) (value-call:2 f x y m) (tail-calling f (f x y) m))))
(set! call-known:3
  (lambda (f x y z m want) (if (and m want) (value-call:3 f x y z m) (tail-calling f (f x y z) m))))

;; A procedure of `env` that calls `f`, a procedure of the library, with operands of these codes; #f if that is none of
;; those below.
(define (gen-known-call f codes m want)
  (case (vector-length codes)
    ((1) (gen-known:1 f (vector-ref codes 0) m want))
    ((2) (gen-known:2 f (vector-ref codes 0) (vector-ref codes 1) m want))
    ((3) (gen-known:3 f (vector-ref codes 0) (vector-ref codes 1) (vector-ref codes 2) m want))
    (else #f)))

(define-syntax fixnums
  (syntax-rules ()
    ((_ x y) (and (%fixnum? x) (%fixnum? y)))))

(define-syntax flonums
  (syntax-rules ()
    ((_ x y) (and (%flonum? x) (%flonum? y)))))

(define (gen-known:1 f code m want)
  (define-syntax choose
    (syntax-rules ()
      ((_ x (procedure usual? result) ...)
       (cond
         ((eq? f procedure)
          (with-operand code fetch
            (lambda (env)
              (let ((x (fetch env)))
                (if usual? result (call-known:1 f x m want))))))
         ...
         (else #f)))))
  (choose x
    (car (pair? x) (car x))
    (cdr (pair? x) (cdr x))
    (null? #t (null? x))
    (pair? #t (pair? x))
    (not #t (not x))
    (zero? (%fixnum? x) (eq? x 0))
    (cadr (and (pair? x) (pair? (cdr x))) (car (cdr x)))
    (cddr (and (pair? x) (pair? (cdr x))) (cdr (cdr x)))
    (caar (and (pair? x) (pair? (car x))) (car (car x)))
    (cdar (and (pair? x) (pair? (car x))) (cdr (car x)))
    (symbol? #t (symbol? x))
    (string? #t (string? x))
    (char? #t (char? x))
    (vector? #t (vector? x))
    (number? #t (number? x))
    (integer? (%fixnum? x) #t)
    (eof-object? #t (eof-object? x))
    (even? (%fixnum? x) (even? x))
    (odd? (%fixnum? x) (odd? x))
    (- (%fixnum? x) (- x))
    (vector-length (vector? x) (vector-length x))
    (string-length (string? x) (string-length x))
    (char->integer (char? x) (char->integer x))
    (%unbox #t (%unbox x))))

(define (gen-known:2 f code1 code2 m want)
  (define-syntax choose
    (syntax-rules ()
      ((_ x y (procedure (usual? result) ...) ...)
       (cond
         ((eq? f procedure)
          (with-first-operand code1 first
            (with-operand code2 second
              (lambda (env)
                (let* ((x (first env)) (y (second env)))
                  (cond
                    (usual? result) ...
                    (else (call-known:2 f x y m want))))))))
         ...
         (else #f)))))
  (choose x y
    (+ ((fixnums x y) (%+ x y)) ((flonums x y) (%fl+ x y)))
    (- ((fixnums x y) (%- x y)) ((flonums x y) (%fl- x y)))
    (= ((fixnums x y) (%fx= x y)) ((flonums x y) (%fl= x y)))
    (< ((fixnums x y) (%fx< x y)) ((flonums x y) (%fl< x y)))
    (eq? (#t (eq? x y)))
    (cons (#t (cons x y)))
    (vector-ref ((and (vector? x) (%fixnum? y) (%fx<= 0 y) (%fx< y (vector-length x))) (vector-ref x y)))
    (* ((fixnums x y) (%* x y)) ((flonums x y) (%fl* x y)))
    (> ((fixnums x y) (%fx< y x)) ((flonums x y) (%fl< y x)))
    (<= ((fixnums x y) (%fx<= x y)) ((flonums x y) (%fl<= x y)))
    (>= ((fixnums x y) (%fx<= y x)) ((flonums x y) (%fl<= y x)))
    (eqv? (#t (eqv? x y)))
    (equal? ((eq? x y) #t))
    (string-ref ((and (string? x) (%fixnum? y) (%fx<= 0 y) (%fx< y (string-length x))) (string-ref x y)))
    (char=? ((and (char? x) (char? y)) (%char=? x y)))
    (char<? ((and (char? x) (char? y)) (%char<? x y)))
    (/ ((flonums x y) (%fl/ x y)))
    (quotient ((and (fixnums x y) (not (eq? y 0))) (quotient x y)))
    (remainder ((and (fixnums x y) (not (eq? y 0))) (remainder x y)))
    (modulo ((and (fixnums x y) (not (eq? y 0))) (modulo x y)))
    (%set-box! (#t (%set-box! x y)))
    (set-car! ((pair? x) (set-car! x y)))
    (set-cdr! ((pair? x) (set-cdr! x y)))))

(define (gen-known:3 f code1 code2 code3 m want)
  (if (eq? f vector-set!)
      (with-first-operand code1 first
        (with-first-operand code2 second
          (with-operand code3 third
            (lambda (env)
              (let* ((x (first env)) (y (second env)) (z (third env)))
                (if (and (vector? x) (%fixnum? y) (%fx<= 0 y) (%fx< y (vector-length x)))
                    (vector-set! x y z)
                    (call-known:3 f x y z m want)))))))
      #f))

;;;; Tests

(define (gen-if test then other)
  (let* ((call? (eq? (vector-ref test 0) 'call))
         (callee (and call? (vector-ref test 1)))
         (f (and call? (eq? (vector-ref callee 0) 'value) (vector-ref values-of-program (vector-ref callee 1))))
         (codes (if f (vector-ref test 2) '#())) (m (and f (mark (vector-ref test 3)))))
    (cond
      ((and (eq? f not) (eq? (vector-length codes) 1))
       (gen-if (vector-ref codes 0) other then))
      ((and f
            (case (vector-length codes)
              ((1) (gen-test:1 f (vector-ref codes 0) m then other))
              ((2) (gen-test:2 f (vector-ref codes 0) (vector-ref codes 1) m then other))
              (else #f))))
      ((eq? (operand-kind test) 3)
       (let ((g (gen test)))
         (lambda (env) (if (g env) (then env) (other env)))))
      (else
       (with-operand test fetch
         (lambda (env) (if (fetch env) (then env) (other env))))))))

;; Tests of what is most often tested, without a call that returns a truth value.
(define (gen-test:1 f code m then other)
  (define-syntax choose
    (syntax-rules ()
      ((_ x (procedure usual? result) ...)
       (cond
         ((eq? f procedure)
          (with-operand code fetch
            (lambda (env)
              (if (let ((x (fetch env)))
                    (if usual? result (call-known:1 f x m 'value)))
                  (then env)
                  (other env)))))
         ...
         (else #f)))))
  (choose x
    (null? #t (null? x))
    (pair? #t (pair? x))
    (zero? (%fixnum? x) (eq? x 0))))

(define (gen-test:2 f code1 code2 m then other)
  (define-syntax choose
    (syntax-rules ()
      ((_ x y (procedure (usual? result) ...) ...)
       (cond
         ((eq? f procedure)
          (with-first-operand code1 first
            (with-operand code2 second
              (lambda (env)
                (if (let* ((x (first env)) (y (second env)))
                      (cond
                        (usual? result) ...
                        (else (call-known:2 f x y m 'value))))
                    (then env)
                    (other env))))))
         ...
         (else #f)))))
  (choose x y
    (= ((fixnums x y) (%fx= x y)))
    (< ((fixnums x y) (%fx< x y)))
    (> ((fixnums x y) (%fx< y x)))
    (eq? (#t (eq? x y)))))

;;;; Other calls

;; What is called is often a variable of the program, or one near by.
(define-syntax with-callee
  (syntax-rules ()
    ((_ code fetch body)
     (if (eq? (vector-ref code 0) 'cell)
         (let ((c (cell (vector-ref code 1))) (name (vector-ref code 2)) (m (mark (vector-ref code 3))))
           (let-syntax ((fetch
                         (syntax-rules ()
                           ((_ env)
                            (let ((v (car c)))
                              (if (eq? v (car without-value)) (raise-unbound c name m) v))))))
             body))
         (with-operand code fetch body)))))

(define-syntax tail-call
  (syntax-rules ()
    ((_ m f x ...) (tail-calling f (f x ...) m))))

(define (gen-unknown-call callee codes m want)
  (define returns? (and m want))
  (case (vector-length codes)
    ((0)
     (with-callee callee fetch
       (if returns?
           (returning env m want ((f (fetch env))) (value-call:0 effect-call:0 values-call:0))
           (lambda (env) (let* ((f (fetch env))) (tail-call m f))))))
    ((1)
     (let ((code (vector-ref codes 0)))
       (with-callee callee fetch
         (with-operand code first
           (if returns?
               (returning env m want ((f (fetch env)) (x (first env))) (value-call:1 effect-call:1 values-call:1))
               (lambda (env)
                 (let* ((f (fetch env)) (x (first env)))
                   (tail-call m f x))))))))
    ((2)
     (let ((code1 (vector-ref codes 0)) (code2 (vector-ref codes 1)))
       (with-callee callee fetch
         (with-first-operand code1 first
           (with-first-operand code2 second
             (if returns?
                 (returning env m want ((f (fetch env)) (x (first env)) (y (second env)))
                   (value-call:2 effect-call:2 values-call:2))
                 (lambda (env)
                   (let* ((f (fetch env)) (x (first env)) (y (second env)))
                     (tail-call m f x y)))))))))
    ((3)
     (let ((a (gen (vector-ref codes 0))) (b (gen (vector-ref codes 1))) (c (gen (vector-ref codes 2))))
       (with-callee callee fetch
         (if returns?
             (returning env m want ((f (fetch env)) (x (a env)) (y (b env)) (z (c env)))
               (value-call:3 effect-call:3 values-call:3))
             (lambda (env)
               (let* ((f (fetch env)) (x (a env)) (y (b env)) (z (c env)))
                 (tail-call m f x y z)))))))
    ((4)
     (let ((a (gen (vector-ref codes 0))) (b (gen (vector-ref codes 1))) (c (gen (vector-ref codes 2)))
           (d (gen (vector-ref codes 3))))
       (with-callee callee fetch
         (if returns?
             (returning env m want ((f (fetch env)) (x (a env)) (y (b env)) (z (c env)) (w (d env)))
               (value-call:4 effect-call:4 values-call:4))
             (lambda (env)
               (let* ((f (fetch env)) (x (a env)) (y (b env)) (z (c env)) (w (d env)))
                 (tail-call m f x y z w)))))))
    (else
     (let ((callee (gen callee)) (gens (map gen (vector->list codes))))
       (if returns?
           (returning env m want ((f (callee env)) (xs (run-all gens env))) (value-apply effect-apply values-apply))
           (lambda (env)
             (let* ((f (callee env)) (xs (run-all gens env)))
               (tail-calling f (apply f xs) m))))))))
