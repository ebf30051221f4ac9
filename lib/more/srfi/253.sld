;;; (srfi 253): checks of arguments, values and fields by predicates.
;;;
;;; As in Chibi, `=> (predicate …)` before a body checks what it returns.
(define-library (srfi 253)
  (export check-arg values-checked check-case lambda-checked case-lambda-checked define-checked
          define-record-type-checked)
  (import (scheme base) (scheme case-lambda) (scheme write))
  (begin

    (define (shown x)
      (let ((out (open-output-string)))
        (display x out)
        (get-output-string out)))
    (define (fail predicate x caller)
      (error (string-append (if caller (string-append (shown caller) ": ") "")
                            "this does not satisfy " (shown predicate) ":")
             x))

    (define-syntax check-arg
      (syntax-rules ()
        ((_ predicate x) (check-arg predicate x #f))
        ((_ predicate x caller)
         (let ((value x))
           (if (not (predicate value)) (fail 'predicate value caller))))))

    (define-syntax values-checked
      (syntax-rules ()
        ((_ (predicate) e) (checked predicate e #f))
        ((_ (predicate ...) e ...) (values (checked predicate e #f) ...))))
    ;; The value, which satisfies the predicate.
    (define-syntax checked
      (syntax-rules ()
        ((_ predicate e caller)
         (let ((value e))
           (if (predicate value) value (fail 'predicate value caller))))))

    (define-syntax check-case
      (syntax-rules (else)
        ((_ e clause ...) (let ((value e)) (%check-case value clause ...)))))
    (define-syntax %check-case
      (syntax-rules (else)
        ((_ value) (error "check-case: no predicate holds for:" value))
        ((_ value (else . body)) (begin . body))
        ((_ value (predicate . body) . more)
         (if (predicate value) (begin . body) (%check-case value . more)))))

    ;; (%formals (use …) formals () () body): the formals without predicates, and the checks.
    (define-syntax %formals
      (syntax-rules (=>)
        ((_ use ((name predicate) . rest) (done ...) (check ...) caller . body)
         (%formals use rest (done ... name) (check ... (check-arg predicate name caller)) caller . body))
        ((_ use (name . rest) (done ...) checks caller . body)
         (%formals use rest (done ... name) checks caller . body))
        ((_ use rest done checks caller => (predicate ...) . body)
         (%formals use rest done checks caller
           (call-with-values (lambda () (let () . body)) (results-checked caller predicate ...))))
        ((_ (use ...) rest (done ...) (check ...) caller . body)
         (use ... ((done ... . rest) check ... (let () . body))))))
    ;; Passes values on that satisfy the predicates.
    (define (results-checker caller predicates names)
      (lambda results
        (if (not (= (length results) (length predicates)))
            (error "another number of values than predicates:" results))
        (for-each (lambda (predicate name x) (if (not (predicate x)) (fail name x caller))) predicates names results)
        (apply values results)))
    (define-syntax results-checked
      (syntax-rules ()
        ((_ caller predicate ...) (results-checker caller (list predicate ...) '(predicate ...)))))
    (define-syntax %lambda
      (syntax-rules ()
        ((_ (formals . body)) (lambda formals . body))))
    (define-syntax %define
      (syntax-rules ()
        ((_ name (formals . body)) (define (name . formals) . body))))

    (define-syntax lambda-checked
      (syntax-rules ()
        ((_ formals . body) (%formals (%lambda) formals () () #f . body))))
    (define-syntax case-lambda-checked
      (syntax-rules ()
        ((_ clause ...) (%clauses () clause ...))))
    (define-syntax %clauses
      (syntax-rules ()
        ((_ (done ...)) (case-lambda done ...))
        ((_ done (formals . body) . more)
         (%formals (%next-clause done more) formals () () #f . body))))
    (define-syntax %next-clause
      (syntax-rules ()
        ((_ (done ...) more clause) (%clauses (done ... clause) . more))))

    (define-syntax define-checked
      (syntax-rules ()
        ((_ (name . formals) . body) (%formals (%define name) formals () () 'name . body))
        ((_ name predicate e) (define name (checked predicate e 'name)))))

    ;; The constructor checks the fields that it is given, and modifiers their values.
    (define-syntax define-record-type-checked
      (syntax-rules ()
        ((_ type (constructor name ...) predicate field ...)
         (%record type (constructor) (name ...) predicate () () (field ...) (field ...)))))
    (define-syntax %record
      (syntax-rules ()
        ;; each field: one of the record type with a hidden modifier, and a definition of the public one
        ((_ type make names predicate (done ...) (definition ...) ((name ok? accessor) . more) fields)
         (%record type make names predicate (done ... (name accessor)) (definition ...) more fields))
        ((_ type make names predicate (done ...) (definition ...) ((name ok? accessor modifier) . more) fields)
         (%record type make names predicate (done ... (name accessor set))
                  (definition ... (define (modifier record x)
                                    (check-arg ok? x 'modifier)
                                    (set record x)))
                  more fields))
        ((_ type (constructor) (name ...) predicate (done ...) (definition ...) () fields)
         (begin
           (define-record-type type (make name ...) predicate done ...)
           definition ...
           (%constructor constructor make fields () (name ...) ())))))
    ;; For each argument of the constructor, the predicate of its field.
    (define-syntax %constructor
      (syntax-rules ()
        ((_ constructor make fields (arg ...) () (check ...))
         (define (constructor arg ...)
           check ...
           (make arg ...)))
        ((_ constructor make fields (arg ...) (name . names) (check ...))
         (%constructor constructor make fields (arg ... name) names
                       (check ... (%check-field constructor name fields))))))
    (define-syntax %check-field
      (syntax-rules ()
        ((_ constructor name ((field ok? . accessors) ...))
         (let-syntax ((pick (syntax-rules (name)
                              ((_ name test) (check-arg test name 'constructor))
                              ((_ other test) #t))))
           (pick field ok?) ...
           #t))))))
