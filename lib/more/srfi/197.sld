;;; (srfi 197): pipelines: expressions whose values go into the next expression, where a placeholder stands.
;;;
;;;     (chain (a b) (c _ d) (e f _))  ⟶  (let ((x (a b))) (let ((y (c x d))) (e f y)))
(define-library (srfi 197)
  (export chain chain-and chain-when chain-lambda nest nest-reverse)
  (import (scheme base) (cairn macro))
  (begin

    ;; Does a datum stand for a value?  `name` is the placeholder that was given, or the usual one.
    (define (is? x name given? rename compare)
      (and (symbol? x)
           (if given? (eq? x name) (compare x (rename name)))))

    ;; Calls `use` with the placeholder, the ellipsis (both as procedures) and the steps.
    (define (with-placeholders parts most rename compare use)
      (let* ((one? (and (pair? parts) (symbol? (car parts))))
             (two? (and one? (> most 1) (pair? (cdr parts)) (symbol? (cadr parts))))
             (hole (if one? (car parts) '_))
             (dots (if two? (cadr parts) '...))
             (steps (cond (two? (cddr parts))
                          (one? (cdr parts))
                          (else parts))))
        (use (lambda (x) (is? x hole one? rename compare)) (lambda (x) (is? x dots two? rename compare)) steps)))

    (define (check-step step)
      (if (not (and (list? step) (pair? step)))
          (refuse-form "a step is a list of expressions and placeholders" step #f)))

    ;; Calls `use` with the formals of a step and the expression that it is then.
    (define (open-step step hole? dots? rename use)
      (let loop ((rest step) (names '()) (done '()))
        (cond
          ((null? rest) (use (reverse names) (reverse done)))
          ((and (hole? (car rest)) (pair? (cdr rest)) (dots? (cadr rest)))
           (if (pair? (cddr rest)) (refuse-form "an ellipsis stands at the end of a step" step #f))
           (let ((others (rename 'others)))
             (use (append (reverse names) others)
                  `(,(rename 'apply) ,@(reverse done) ,others))))
          ((hole? (car rest))
           (let ((name (rename (string->symbol (string-append "value" (number->string (length names)))))))
             (loop (cdr rest) (cons name names) (cons name done))))
          ((dots? (car rest)) (refuse-form "an ellipsis stands behind a placeholder" step #f))
          (else (loop (cdr rest) names (cons (car rest) done))))))

    ;; The expression with a step behind it.
    (define (then expr formals step rename)
      (cond ((null? formals) `(,(rename 'call-with-values) (,(rename 'lambda) () ,expr) (,(rename 'lambda)
                                                                                         ,(rename 'none) ,step)))
            ((and (pair? formals) (null? (cdr formals))) `(,(rename 'let) ((,(car formals) ,expr)) ,step))
            (else `(,(rename 'call-with-values) (,(rename 'lambda) () ,expr) (,(rename 'lambda) ,formals ,step)))))

    (define (all-steps expr steps hole? dots? rename)
      (if (null? steps)
          expr
          (begin
            (check-step (car steps))
            (open-step (car steps) hole? dots? rename
                       (lambda (formals step)
                         (all-steps (then expr formals step rename) (cdr steps) hole? dots? rename))))))

    (define-syntax chain
      (er-macro-transformer
       (lambda (form rename compare)
         (with-placeholders (cddr form) 2 rename compare
                            (lambda (hole? dots? steps) (all-steps (cadr form) steps hole? dots? rename))))))

    (define-syntax chain-lambda
      (er-macro-transformer
       (lambda (form rename compare)
         (with-placeholders
          (cdr form) 2 rename compare
          (lambda (hole? dots? steps)
            (if (null? steps) (refuse-form "chain-lambda has no steps" form #f))
            (check-step (car steps))
            (open-step (car steps) hole? dots? rename
                       (lambda (formals step)
                         `(,(rename 'lambda) ,formals ,(all-steps step (cdr steps) hole? dots? rename)))))))))

    ;; A step of one placeholder at most, as a procedure of the name that takes its place.
    (define (with-one step hole? name)
      (check-step step)
      (map (lambda (x) (if (hole? x) name x)) step))

    (define-syntax chain-and
      (er-macro-transformer
       (lambda (form rename compare)
         (with-placeholders
          (cddr form) 1 rename compare
          (lambda (hole? dots? steps)
            (let loop ((expr (cadr form)) (steps steps))
              (if (null? steps)
                  expr
                  (loop `(,(rename 'let) ((,(rename 'value) ,expr))
                          (,(rename 'and) ,(rename 'value) ,(with-one (car steps) hole? (rename 'value))))
                        (cdr steps)))))))))

    (define-syntax chain-when
      (er-macro-transformer
       (lambda (form rename compare)
         (with-placeholders
          (cddr form) 1 rename compare
          (lambda (hole? dots? steps)
            (let loop ((expr (cadr form)) (steps steps))
              (if (null? steps)
                  expr
                  (let* ((clause (car steps)) (guarded? (and (pair? clause) (pair? (cdr clause)))))
                    (check-step clause)
                    (let ((step (with-one (if guarded? (cadr clause) (car clause)) hole? (rename 'value))))
                      (loop `(,(rename 'let) ((,(rename 'value) ,expr))
                              ,(if guarded? `(,(rename 'if) ,(car clause) ,step ,(rename 'value)) step))
                            (cdr steps)))))))))))

    (define-syntax nest
      (er-macro-transformer
       (lambda (form rename compare)
         (with-placeholders
          (cdr form) 1 rename compare
          (lambda (hole? dots? steps)
            (let ((steps (reverse steps)))
              (if (null? steps) (refuse-form "nest has no expression" form #f))
              (let loop ((inner (car steps)) (steps (cdr steps)))
                (if (null? steps) inner (loop (with-one (car steps) hole? inner) (cdr steps))))))))))

    (define-syntax nest-reverse
      (er-macro-transformer
       (lambda (form rename compare)
         (with-placeholders
          (cddr form) 1 rename compare
          (lambda (hole? dots? steps)
            (let loop ((inner (cadr form)) (steps steps))
              (if (null? steps) inner (loop (with-one (car steps) hole? inner) (cdr steps)))))))))))
