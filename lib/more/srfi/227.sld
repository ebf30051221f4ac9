;;; (srfi 227): procedures with optional arguments, as a case-lambda of one clause for each number of arguments.
(define-library (srfi 227)
  (export opt-lambda opt*-lambda let-optionals let-optionals* define-optionals define-optionals*)
  (import (scheme base) (scheme case-lambda) (cairn macro) (only (cairn control) wrong-type))
  (begin

    ;; `sequential?`: the defaults see the arguments to their left.
    (define (expand formals body sequential? rename)
      (let loop ((rest formals) (required '()) (optional '()))
        (cond
          ((and (pair? rest) (symbol? (car rest)))
           (if (pair? optional)
               (refuse-form "an argument without a default stands behind one with a default" (car rest) #f))
           (loop (cdr rest) (cons (car rest) required) optional))
          ((pair? rest)
           (let ((binding (car rest)))
             (if (not (and (list? binding) (= (length binding) 2) (symbol? (car binding))))
                 (refuse-form "an optional argument is (name default)" binding #f))
             (loop (cdr rest) required (cons binding optional))))
          (else (clauses (reverse required) (reverse optional) rest body sequential? rename)))))

    (define (clauses required optional rest body sequential? rename)
      (let* ((names (append required (map car optional)))
             (given (if sequential?
                        (lambda (name) name)
                        ;; names that the defaults do not see
                        (lambda (name) (rename (string->symbol (string-append "given-" (symbol->string name)))))))
             (tail (rename 'rest))
             (full (rename 'full))
             (empty `(,(rename 'quote) ())))
        (define (clause n)
          (let loop ((i 0) (ns optional) (passed (reverse (map given required))) (defaults '()))
            (cond
              ((null? ns)
               (let ((call `(,full ,@(reverse passed) ,@(if (null? rest) '() (list empty)))))
                 (list (take (map given names) (+ (length required) n))
                       (if sequential? `(,(rename 'let*) ,(reverse defaults) ,call) call))))
              ((< i n) (loop (+ i 1) (cdr ns) (cons (given (car (car ns))) passed) defaults))
              (sequential? (loop (+ i 1) (cdr ns) (cons (car (car ns)) passed) (cons (car ns) defaults)))
              (else (loop (+ i 1) (cdr ns) (cons (cadr (car ns)) passed) defaults)))))
        (let ((m (length optional)))
          `(,(rename 'let) ((,full (,(rename 'lambda) (,@names ,@(if (null? rest) '() (list rest))) ,@body)))
            (,(rename 'case-lambda)
             ,@(let loop ((n 0))
                 (cond ((< n m) (cons (clause n) (loop (+ n 1))))
                       ((null? rest) (list (clause n)))
                       (else '())))
             ,@(if (null? rest)
                   '()
                   (list `((,@(map given names) . ,tail) (,full ,@(map given names) ,tail)))))))))

    (define (take l n)
      (if (= n 0) '() (cons (car l) (take (cdr l) (- n 1)))))

    (define-syntax opt-lambda
      (er-macro-transformer
       (lambda (form rename compare)
         (expand (cadr form) (cddr form) #f rename))))
    (define-syntax opt*-lambda
      (er-macro-transformer
       (lambda (form rename compare)
         (expand (cadr form) (cddr form) #t rename))))

    (define (check-list who x)
      (if (list? x) x (wrong-type who "a list of arguments" x)))
    ;; The procedure has the name of the form, which is told when there are too few or too many arguments.
    (define-syntax let-optionals
      (syntax-rules ()
        ((_ e formals . body)
         (let ((let-optionals (opt-lambda formals . body)))
           (apply let-optionals (check-list "let-optionals" e))))))
    (define-syntax let-optionals*
      (syntax-rules ()
        ((_ e formals . body)
         (let ((let-optionals* (opt*-lambda formals . body)))
           (apply let-optionals* (check-list "let-optionals*" e))))))
    (define-syntax define-optionals
      (syntax-rules ()
        ((_ (name . formals) . body) (define name (opt-lambda formals . body)))))
    (define-syntax define-optionals*
      (syntax-rules ()
        ((_ (name . formals) . body) (define name (opt*-lambda formals . body)))))))
