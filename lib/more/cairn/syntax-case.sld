;;; (cairn syntax-case): what `syntax-case` and `syntax` call, and the procedures of R6RS on syntax objects.
;;;
;;; A syntax object is an identifier, or a datum whose identifiers are such: lists and vectors are not wrapped.  While a
;;; macro is expanded, identifiers are the expander's (crates/cairn-syntax/src/expand/procedural.rs), which answers by
;;; `%syntax-host`.  When a program runs, that is #f, and identifiers are records: two with the same name mean the same.
;;;
;;; Patterns and templates are data: see the table in crates/cairn-syntax/src/expand/syntax_case.rs.
(define-library (cairn syntax-case)
  (export syntax-case syntax quasisyntax unsyntax unsyntax-splicing with-syntax identifier-syntax
          identifier? bound-identifier=? free-identifier=? datum->syntax syntax->datum generate-temporaries
          make-variable-transformer syntax-violation define-for-syntax begin-for-syntax
          match-syntax build-syntax no-clause)
  (import (scheme base) (cairn syntax) (only (cairn primitives) %syntax-host %generate-symbol)
          (only (cairn control) wrong-type) (only (cairn macro) raise-refusal) (only (cairn records) show-fields!)
          (rename (only (cairn rnrs conditions) condition make-who-condition make-message-condition
                        make-syntax-violation)
                  (make-syntax-violation make-violation)))
  (begin

    ;; What the expander is asked for.
    (define is-identifier 0)
    (define same-meaning 1)
    (define of-template 2)
    (define like 3)
    (define name-of 4)
    (define temporary 5)

    ;;;; Identifiers

    (define-record-type identifier
      (make-identifier name mark)
      record-identifier?
      (name identifier-name)
      ;; of two that a program could bind separately they are different
      (mark identifier-mark))
    (show-fields! identifier '(name))

    (define (identifier? x)
      (if (symbol? x) (%syntax-host is-identifier x #f) (record-identifier? x)))
    (define (check who x)
      (if (not (identifier? x)) (wrong-type who "an identifier" x)))

    ;; One that a template or pattern has: its number is #f if no macro has made it.
    (define (template-identifier code)
      (let ((name (vector-ref code 1)) (number (vector-ref code 2)))
        (or (%syntax-host of-template (or number name) (vector-ref code 3))
            (make-identifier name number))))

    (define (bound-identifier=? a b)
      (check "bound-identifier=?" a)
      (check "bound-identifier=?" b)
      (or (eq? a b)
          (and (record-identifier? a)
               (record-identifier? b)
               (eq? (identifier-name a) (identifier-name b))
               (equal? (identifier-mark a) (identifier-mark b)))))
    (define (free-identifier=? a b)
      (check "free-identifier=?" a)
      (check "free-identifier=?" b)
      (if (record-identifier? a)
          (eq? (identifier-name a) (identifier-name b))
          (%syntax-host same-meaning a b)))

    (define (syntax->datum x)
      (cond
        ((pair? x) (cons (syntax->datum (car x)) (syntax->datum (cdr x))))
        ((symbol? x) (or (%syntax-host name-of x #f) x))
        ((record-identifier? x) (identifier-name x))
        ((vector? x) (vector-map syntax->datum x))
        (else x)))
    (define (datum->syntax id datum)
      (check "datum->syntax" id)
      (let wrap ((x datum))
        (cond
          ((pair? x) (cons (wrap (car x)) (wrap (cdr x))))
          ((identifier? x) x)
          ((symbol? x) (or (%syntax-host like id x) (make-identifier x (identifier-mark id))))
          ((vector? x) (vector-map wrap x))
          (else x))))
    (define (generate-temporaries l)
      (if (list? l)
          (map (lambda (x) (or (%syntax-host temporary #f #f) (make-identifier (%generate-symbol) (list x)))) l)
          (wrong-type "generate-temporaries" "a list" l)))

    ;;;; Matching

    ;; A vector of what the slots match, or #f.
    (define (match-syntax pattern slots x)
      (let ((found (make-vector slots #f)))
        (and (match? pattern x found) found)))

    (define (match? p x found)
      (cond
        ((pair? p) (and (pair? x) (match? (car p) (car x) found) (match? (cdr p) (cdr x) found)))
        ((null? p) (null? x))
        ((eq? p #t) #t)
        ((vector? p)
         (case (vector-ref p 0)
           ((repeat) (match-repeat? p x found))
           ((literal) (and (identifier? x) (free-identifier=? x (template-identifier p))))
           ((datum) (equal? (vector-ref p 1) x))
           (else (and (vector? x) (match? (vector-ref p 1) (vector->list x) found)))))
        (else
         (vector-set! found p x)
         #t)))

    (define (match-repeat? p x found)
      (let* ((repeated (vector-ref p 1))
             (slots (vector-ref p 2))
             (after (vector-ref p 3))
             (n (- (pairs x) (length after))))
        (and (>= n 0)
             (let loop ((n n) (x x) (lists (map (lambda (slot) '()) slots)))
               (cond
                 ((> n 0)
                  (and (match? repeated (car x) found)
                       (loop (- n 1) (cdr x)
                             (map (lambda (slot l) (cons (vector-ref found slot) l)) slots lists))))
                 (else
                  (for-each (lambda (slot l) (vector-set! found slot (reverse l))) slots lists)
                  (match? (append after (vector-ref p 4)) x found)))))))
    (define (pairs x)
      (let loop ((x x) (n 0))
        (if (pair? x) (loop (cdr x) (+ n 1)) n)))

    (define (no-clause x)
      (raise-refusal
       (condition (make-violation (syntax->datum x) #f) (make-who-condition 'syntax-case)
                  (make-message-condition "no clause matches"))
       #f "no clause of the macro's `syntax-case` matches this" (list x) #f))

    ;;;; Building

    (define (build-syntax template slots)
      (let build ((t template))
        (cond
          ((pair? t) (cons (build (car t)) (build (cdr t))))
          ((null? t) t)
          ((vector? t)
           (case (vector-ref t 0)
             ((id) (template-identifier t))
             ((datum) (vector-ref t 1))
             ((repeat) (repeat (vector-ref t 1) (vector-ref t 2) slots (build (vector-ref t 3))))
             ((splice) (append (vector-ref slots (vector-ref t 1)) (build (vector-ref t 2))))
             (else (list->vector (build (vector-ref t 1))))))
          (else (vector-ref slots t)))))

    ;; What the template makes for all elements of the slots of each level, before `rest`.
    (define (repeat t levels slots rest)
      (if (null? levels)
          (cons (build-syntax t slots) rest)
          (let* ((vars (car levels))
                 (lists (map (lambda (slot) (vector-ref slots slot)) vars))
                 (n (length (car lists))))
            (for-each
             (lambda (l)
               (if (not (= (length l) n))
                   (error "syntax: parts that belong together differ in number:" (syntax->datum l))))
             lists)
            (let loop ((lists lists) (n n))
              (if (= n 0)
                  rest
                  (let ((inner (vector-copy slots)))
                    (for-each (lambda (slot l) (vector-set! inner slot (car l))) vars lists)
                    (let ((later (loop (map cdr lists) (- n 1))))
                      (repeat t (cdr levels) inner later))))))))

    ;;;; Transformers

    ;; The tag is the expander's.
    (define (make-variable-transformer procedure)
      (if (procedure? procedure)
          (vector 'variable-transformer procedure)
          (wrong-type "make-variable-transformer" "a procedure" procedure)))

    (define (syntax-violation who message form . subform)
      (let ((violation (make-violation (syntax->datum form) (and (pair? subform) (syntax->datum (car subform)))))
            (who (or who
                     (cond
                       ((identifier? form) (syntax->datum form))
                       ((and (pair? form) (identifier? (car form))) (syntax->datum (car form)))
                       (else #f)))))
        (raise-refusal
         (if who
             (condition violation (make-who-condition who) (make-message-condition message))
             (condition violation (make-message-condition message)))
         who message (append subform (list form)) #f)))

    (define-syntax with-syntax
      (syntax-rules ()
        ((_ ((pattern expression) ...) body ...)
         (syntax-case (list expression ...) ()
           ((pattern ...) (let () body ...))))))

    (define-syntax identifier-syntax
      (lambda (x)
        (syntax-case x (set!)
          ((_ e)
           #'(lambda (x)
               (syntax-case x ()
                 ((_ . arguments) #'(e . arguments))
                 (_ #'e))))
          ((_ (id get) ((set! variable value) set))
           #'(make-variable-transformer
              (lambda (x)
                (syntax-case x (set!)
                  ((set! variable value) #'set)
                  ((id . arguments) #'(get . arguments))
                  (id #'get))))))))

    ;; Every phase sees what is defined before it.
    (define-syntax define-for-syntax
      (syntax-rules () ((_ what ...) (define what ...))))
    (define-syntax begin-for-syntax
      (syntax-rules () ((_ form ...) (begin form ...))))))
