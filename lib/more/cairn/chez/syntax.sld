;;; (cairn chez syntax): forms of Chez Scheme: old kinds of records, dispatch on records that are lists, tracing.
(define-library (cairn chez syntax)
  (export define-structure define-record rec record-case (rename chez-case case) exclusive-cond alias
          module eval-when meta-cond critical-section with-interrupts-disabled
          trace untrace trace-define trace-lambda trace-case-lambda trace-let trace-do trace-output-port pariah)
  (import (except (scheme base) define-record-type let-syntax letrec-syntax) (scheme case-lambda) (scheme write)
          (cairn syntax-case)
          (only (cairn rnrs records) define-record-type fields mutable immutable parent protocol)
          (only (srfi 1) every iota split-at)
          (only (srfi 226 control continuation-marks) make-continuation-mark-key with-continuation-mark
                call-with-immediate-continuation-mark current-continuation-marks continuation-mark-set-first))
  (begin

    (define-for-syntax (name-of context . parts)
      (datum->syntax context
                     (string->symbol
                      (apply string-append
                             (map (lambda (part)
                                    (if (string? part) part (symbol->string (syntax->datum part))))
                                  parts)))))

    (define-syntax rec
      (syntax-rules ()
        ((_ name value) (letrec ((name value)) name))))

    ;;;; Records

    ;; (define-structure (name field …) ((field value) …)): the second fields are not arguments of the constructor.
    ;; Structures are vectors with the name in front, so `equal?` compares their fields.  The name is not defined.
    (define-syntax define-structure
      (lambda (form)
        (syntax-case form ()
          ((_ (name field ...)) #'(define-structure (name field ...) ()))
          ((_ (name field ...) ((more value) ...))
           (let ((fields #'(field ... more ...)))
             (with-syntax ((maker (name-of #'name "make-" #'name))
                           (predicate (name-of #'name #'name "?"))
                           (size (+ 1 (length fields)))
                           (((get set place) ...)
                            (map (lambda (f i)
                                   (list (name-of #'name #'name "-" f) (name-of #'name "set-" #'name "-" f "!") i))
                                 fields
                                 (iota (length fields) 1))))
               #'(begin
                   (define (maker field ...)
                     (let* ((more value) ...)
                       (vector 'name field ... more ...)))
                   (define (predicate x)
                     (and (vector? x) (= (vector-length x) size) (eq? (vector-ref x 0) 'name)))
                   (define (get x) (vector-ref x place)) ...
                   (define (set x new) (vector-set! x place new)) ...)))))))

    ;; (define-record name [parent] (field …) [((field value) …)]), a field being its name or (immutable name).
    (define-syntax define-record
      (lambda (form)
        (define (field-name f)
          (syntax-case f ()
            ((kind type name) #'name)
            ((kind name) #'name)
            (name #'name)))
        (define (immutable? f)
          (syntax-case f ()
            ((kind . rest) (eq? (syntax->datum #'kind) 'immutable))
            (_ #f)))
        (define (field-spec context record f)
          (let ((name (field-name f)))
            (with-syntax ((name name)
                          (get (name-of record record "-" name))
                          (set (name-of record "set-" record "-" name "!")))
              (if (immutable? f)
                  #'(immutable name get)
                  #'(mutable name get set)))))
        (syntax-case form ()
          ((_ name (field ...)) (identifier? #'name) #'(define-record name #f (field ...) ()))
          ((_ name (field ...) ((more value) ...))
           (identifier? #'name)
           #'(define-record name #f (field ...) ((more value) ...)))
          ((_ name super (field ...)) #'(define-record name super (field ...) ()))
          ((_ name super (field ...) ((more value) ...))
           (with-syntax ((maker (name-of #'name "make-" #'name))
                         (predicate (name-of #'name #'name "?"))
                         ((spec ...) (map (lambda (f) (field-spec form #'name f)) #'(field ... more ...)))
                         ((argument ...) (map field-name #'(field ...)))
                         ((other ...) (map field-name #'(more ...)))
                         (count (length #'(field ...))))
             (if (identifier? #'super)
                 #'(define-record-type (name maker predicate)
                     (parent super)
                     (fields spec ...)
                     (protocol
                      (lambda (new)
                        (lambda arguments
                          (let-values (((inherited own) (split-at arguments (- (length arguments) count))))
                            (apply (lambda (argument ...)
                                     (let* ((other value) ...)
                                       ((apply new inherited) argument ... other ...)))
                                   own))))))
                 #'(define-record-type (name maker predicate)
                     (fields spec ...)
                     (protocol
                      (lambda (new)
                        (lambda (argument ...)
                          (let* ((other value) ...)
                            (new argument ... other ...))))))))))))

    ;;;; Control

    ;; Clauses (key formals body …) or ((key …) formals body …): the rest of the list are the arguments.
    (define-syntax record-case
      (syntax-rules ()
        ((_ e clause ...) (let ((v e)) (record-case-clauses v clause ...)))))
    (define-syntax record-case-clauses
      (syntax-rules (else)
        ((_ v) (if #f #f))
        ((_ v (else body ...)) (let () body ...))
        ((_ v ((key ...) formals body ...) clause ...)
         (if (memv (car v) '(key ...))
             (apply (lambda formals body ...) (cdr v))
             (record-case-clauses v clause ...)))
        ((_ v (key formals body ...) clause ...)
         (record-case-clauses v ((key) formals body ...) clause ...))))

    ;; Keys are compared by equal?, and one that is no list may stand alone: (key body …).
    (define-syntax chez-case
      (lambda (form)
        (define (is? x keyword) (and (identifier? x) (free-identifier=? x keyword)))
        (define (in-list clause)
          (syntax-case clause ()
            ((word . body) (is? #'word #'else) clause)
            (((key ...) . body) clause)
            ((key . body) #'((key) . body))))
        (define (by-eqv? clause)
          (syntax-case clause ()
            (((key ...) . body)
             (every (lambda (key) (or (symbol? key) (number? key) (char? key) (boolean? key) (null? key)))
                    (syntax->datum #'(key ...))))
            (_ #t)))
        (define (by-equal clause)
          (syntax-case clause ()
            ((keys arrow f) (is? #'arrow #'=>) (by-equal #'(keys (f value))))
            ((word . body) (is? #'word #'else) clause)
            ((keys . body) #'((member value 'keys) . body))))
        (syntax-case form ()
          ((_ e clause ...)
           (let ((clauses (map in-list #'(clause ...))))
             (if (every by-eqv? clauses)
                 #`(case e #,@clauses)
                 #`(let ((value e)) (cond #,@(map by-equal clauses)))))))))
    (define-syntax exclusive-cond
      (syntax-rules () ((_ clause ...) (cond clause ...))))
    ;; Another name for a variable or a macro.
    (define-syntax alias
      (syntax-rules () ((_ new old) (define-syntax new (identifier-syntax old)))))
    ;; Definitions that only each other see, but for the exported ones; (name part …) exports a name whose macro needs
    ;; parts, which hygiene finds by itself.  What a macro's template defines is hidden, so the body is one.
    (define-syntax module
      (lambda (form)
        (syntax-case form ()
          ((_ (export ...) body ...)
           (with-syntax (((name ...)
                          (map (lambda (e) (syntax-case e () ((name . parts) #'name) (name #'name)))
                               #'(export ...))))
             #'(begin
                 (define-syntax hidden (syntax-rules () ((_ name ...) ((... ...) (begin body ...)))))
                 (hidden name ...))))
          ((_ name . rest)
           (identifier? #'name)
           (syntax-violation 'module
                             "a module with a name is a library here: (library (name) (export …) (import …) …)"
                             form #'name)))))
    (define-syntax eval-when
      (syntax-rules () ((_ (situation ...) body ...) (begin body ...))))
    ;; Conditions that the expander can decide: literals, and what R7RS's cond-expand knows.
    (define-syntax meta-cond
      (syntax-rules (else)
        ((_ (else body ...)) (begin body ...))
        ((_ (test body ...) clause ...) (if test (begin body ...) (meta-cond clause ...)))
        ((_) (if #f #f))))

    ;; Signals are served between evaluations of a program's threads, and these bodies are evaluated as they are.
    (define-syntax critical-section
      (syntax-rules () ((_ body ...) (let () body ...))))
    (define-syntax with-interrupts-disabled
      (syntax-rules () ((_ body ...) (let () body ...))))

    ;;;; Tracing

    (define trace-output-port (make-parameter #f))
    (define depth-key (make-continuation-mark-key 'trace))

    ;; As deep as that: bars and blanks, or from 10 on a number.
    (define (indent depth)
      (if (< depth 10)
          (let loop ((i depth) (s ""))
            (if (< i 0) s (loop (- i 1) (string-append (if (even? i) "|" " ") s))))
          (string-append "| | | |[" (number->string depth) "]")))
    (define (show depth objects)
      (let ((port (or (trace-output-port) (current-output-port))) (bars (indent depth)))
        (for-each
         (lambda (x first?)
           (display (if first? bars (make-string (string-length bars) #\space)) port)
           (write x port)
           (newline port))
         objects
         (cons #t (map (lambda (x) #f) objects)))))

    ;; A procedure that tells of its calls.  A tail call of a traced procedure is as deep as its caller, and stays one.
    (define (traced name procedure)
      (lambda arguments
        (call-with-immediate-continuation-mark
         depth-key
         (lambda (depth)
           (if depth
               (begin
                 (show depth (list (cons name arguments)))
                 (apply procedure arguments))
               (let ((depth (+ 1 (continuation-mark-set-first (current-continuation-marks) depth-key -1))))
                 (show depth (list (cons name arguments)))
                 (call-with-values
                  (lambda () (with-continuation-mark depth-key depth (apply procedure arguments)))
                  (lambda results
                    (show depth results)
                    (apply values results))))))
         #f)))

    (define-syntax trace-lambda
      (syntax-rules () ((_ name formals body ...) (traced 'name (lambda formals body ...)))))
    (define-syntax trace-case-lambda
      (syntax-rules () ((_ name clause ...) (traced 'name (case-lambda clause ...)))))
    (define-syntax trace-define
      (syntax-rules ()
        ((_ (name . formals) body ...) (define name (traced 'name (lambda formals body ...))))
        ((_ name value) (define name (traced 'name value)))))
    (define-syntax trace-let
      (syntax-rules ()
        ((_ name ((x value) ...) body ...)
         ((letrec ((name (traced 'name (lambda (x ...) body ...)))) name) value ...))))

    ;; Tells of the turns of a loop.
    (define-syntax trace-do
      (syntax-rules ()
        ((_ ((x value step ...) ...) (test result ...) body ...)
         (trace-let do ((x value) ...)
           (if test
               (let () (if #f #f) result ...)
               (begin body ... (do (stepped x step ...) ...)))))))
    (define-syntax stepped
      (syntax-rules ()
        ((_ x) x)
        ((_ x step) step)))

    ;; Code that seldom runs.
    (define-syntax pariah
      (syntax-rules () ((_ e ...) (begin e ...))))

    ;; What was there before.
    (define originals '())
    (define (trace! name procedure)
      (let ((t (traced name procedure)))
        (set! originals (cons (cons t procedure) originals))
        t))
    (define (untrace! procedure)
      (cond ((assq procedure originals) => cdr) (else procedure)))
    (define-syntax trace
      (syntax-rules () ((_ name ...) (begin (set! name (trace! 'name name)) ...))))
    (define-syntax untrace
      (syntax-rules () ((_ name ...) (begin (set! name (untrace! name)) ...))))))
