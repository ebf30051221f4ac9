;;; (cairn rnrs records): the records of R6RS.
;;;
;;; `define-record-type` becomes Cairn's own, so a record made by its procedures costs what any record costs.  What R6RS
;;; knows of a type besides, its protocol above all, is in a table by the type; types made at run time are there too.
(define-library (cairn rnrs records)
  (export
   define-record-type fields mutable immutable parent protocol sealed opaque nongenerative parent-rtd
   record-type-descriptor record-constructor-descriptor
   make-record-type-descriptor record-type-descriptor? make-record-constructor-descriptor
   record-constructor record-predicate record-accessor record-mutator
   record? record-rtd record-type-name record-type-parent record-type-uid record-type-generative?
   record-type-sealed? record-type-opaque? record-type-field-names record-field-mutable?
   note-mutable! accessor-at mutator-at wrong-count)
  (import (rename (except (scheme base) error) (define-record-type define-plain-record-type))
          (scheme case-lambda) (scheme cxr)
          (rename (only (cairn records) rtd? rtd-name rtd-field-names rtd-all-field-names rtd-parent show-fields!
                        record? record-rtd)
                  (record? any-record?) (record-rtd rtd-of))
          (only (cairn primitives) %make-record %record-instance? %compact-instance? %record-slot %record-slot-set!)
          (only (cairn records) rtd-field-kinds rtd-field-codes rtd-compact? rtd-sealed?)
          (prefix (only (cairn records) make-rtd-of) plain:)
          (only (cairn macro) er-macro-transformer derived-identifier refuse-form)
          (cairn layout) (only (cairn control) wrong-type raise-condition)
          (only (cairn text) symbol-append)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (cairn rnrs conditions) assertion-violation))
  (begin

    ;;;; What is known of a type

    (define-plain-record-type <note>
      (make-note uid sealed? opaque? mutable rcd)
      note?
      (uid note-uid)
      (sealed? note-sealed?)
      (opaque? note-opaque?)
      ;; a vector: may its own fields be changed?
      (mutable note-mutable)
      ;; that of define-record-type, or #f
      (rcd note-rcd))
    (define notes (make-hash-table eq?))
    (define types-by-uid (make-hash-table eq?))
    (define (note-of rtd) (hash-table-ref/default notes rtd #f))
    (define (note! rtd uid sealed? opaque? mutable rcd)
      (if uid (hash-table-set! types-by-uid uid rtd))
      (hash-table-set! notes rtd (make-note uid sealed? opaque? mutable rcd)))

    ;; For definitions by other forms: which of the type's own fields can be changed.
    (define (note-mutable! rtd mutable) (note! rtd #f #f #f mutable #f))

    (define (check-rtd who x)
      (if (rtd? x) x (wrong-type who "a record-type descriptor" x)))

    ;;;; Constructors

    ;; `chain` takes what makes a record of all fields, those of the parents first, and returns the constructor.
    (define-plain-record-type <constructor-descriptor>
      (make-rcd rtd chain)
      rcd?
      (rtd rcd-rtd)
      (chain rcd-chain))
    (show-fields! <constructor-descriptor> '(rtd))

    (define (plain-chain make) make)
    (define (chain-of parent protocol)
      (cond
        ((not protocol)
         (if (or (not parent) (eq? (rcd-chain parent) plain-chain))
             plain-chain
             (assertion-violation 'make-record-constructor-descriptor
                                  "the parent has a protocol, so a protocol is needed" (rcd-rtd parent))))
        ((not parent) protocol)
        (else
         (let ((inherited (rcd-chain parent)) (n (length (rtd-all-field-names (rcd-rtd parent)))))
           (lambda (make)
             (protocol
              (if (eq? inherited plain-chain)
                  (lambda fields
                    (if (= (length fields) n)
                        (lambda own (apply make (append fields own)))
                        (wrong-fields n fields)))
                  (case-lambda
                    ((a) (lambda own ((inherited (with-own make own n)) a)))
                    ((a b) (lambda own ((inherited (with-own make own n)) a b)))
                    ((a b c) (lambda own ((inherited (with-own make own n)) a b c)))
                    (arguments (lambda own (apply (inherited (with-own make own n)) arguments)))))))))))

    ;; What makes a record with these own fields of the `n` of the parents. `make` looks how many there are together.
    (define (with-own make own n)
      (cond
        ((null? own) make)
        ((null? (cdr own))
         (let ((own1 (car own)))
           (case-lambda
             ((a) (if (eq? n 1) (make a own1) (wrong-fields n (list a))))
             ((a b) (if (eq? n 2) (make a b own1) (wrong-fields n (list a b))))
             ((a b c) (if (eq? n 3) (make a b c own1) (wrong-fields n (list a b c))))
             (fields (with-all make fields own n)))))
        ((null? (cddr own))
         (let ((own1 (car own)) (own2 (cadr own)))
           (case-lambda
             ((a) (if (eq? n 1) (make a own1 own2) (wrong-fields n (list a))))
             ((a b) (if (eq? n 2) (make a b own1 own2) (wrong-fields n (list a b))))
             ((a b c) (if (eq? n 3) (make a b c own1 own2) (wrong-fields n (list a b c))))
             (fields (with-all make fields own n)))))
        (else (lambda fields (with-all make fields own n)))))
    (define (with-all make fields own n)
      (if (= (length fields) n) (apply make (append fields own)) (wrong-fields n fields)))
    (define (wrong-fields n fields) (wrong-count "make-of-parent-fields" n fields))

    (define (rcd-of rtd)
      (let ((note (note-of (check-rtd "record-constructor-descriptor" rtd))))
        (or (and note (note-rcd note)) (make-rcd rtd plain-chain))))

    (define (make-record-constructor-descriptor rtd parent protocol)
      (check-rtd "make-record-constructor-descriptor" rtd)
      (if (and parent (not (rcd? parent)))
          (wrong-type "make-record-constructor-descriptor" "a constructor descriptor of the parent, or #f" parent))
      (if (and protocol (not (procedure? protocol)))
          (wrong-type "make-record-constructor-descriptor" "a procedure or #f" protocol))
      (make-rcd rtd (chain-of (or parent (and (rtd-parent rtd) (make-rcd (rtd-parent rtd) plain-chain))) protocol)))

    ;; That of define-record-type, which has the parent's type or #f.
    (define (described rtd parent protocol uid sealed? opaque? mutable)
      (let ((rcd (make-rcd rtd (chain-of (and parent (rcd-of parent)) protocol))))
        (note! rtd uid sealed? opaque? mutable rcd)
        rcd))

    (define (record-constructor rcd)
      (if (not (rcd? rcd)) (wrong-type "record-constructor" "a constructor descriptor" rcd))
      (let* ((rtd (rcd-rtd rcd)) (n (length (rtd-all-field-names rtd))))
        ((rcd-chain rcd)
         (lambda fields
           (if (= (length fields) n)
               (%make-record rtd fields)
               (wrong-count (string-append "make-" (symbol->string (rtd-name rtd))) n fields))))))
    ;; As calls of procedures whose parameters are known fail.
    (define (wrong-count who expected arguments)
      (raise-condition (kind-arity) who
                       (string-append "expected " (number->string expected) (if (= expected 1) " argument" " arguments")
                                      ", got "
                                      (if (null? arguments)
                                          "none"
                                          (string-append (number->string (length arguments)) ":")))
                       arguments (no-site)))

    ;;;; Types and procedures made at run time

    (define (record-type-descriptor? x) (rtd? x))

    ;; A field is (mutable name) or (immutable name); (name kind) in the place of the name says what it holds, which
    ;; types that extend one with raw records must.
    (define (make-record-type-descriptor name parent uid sealed? opaque? fields)
      (define who "make-record-type-descriptor")
      (if (not (symbol? name)) (wrong-type who "a symbol" name))
      (if parent (check-rtd who parent))
      (if (and parent (record-type-sealed? parent))
          (assertion-violation 'make-record-type-descriptor "the parent is sealed:" parent))
      (if (not (vector? fields)) (wrong-type who "a vector of fields" fields))
      (vector-for-each
       (lambda (f)
         (if (not (and (list? f) (= (length f) 2) (memq (car f) '(mutable immutable)) (field-name? (cadr f))))
             (wrong-type who "a field: (mutable name) or (immutable name)" f)))
       fields)
      (let* ((own (map cadr (vector->list fields)))
             (names (map (lambda (f) (if (pair? f) (car f) f)) own))
             (kinds (map (lambda (f) (if (pair? f) (cadr f) 'any)) own))
             (old (and uid (hash-table-ref/default types-by-uid uid #f))))
        (cond
          ((not old)
           (let ((rtd (plain:make-rtd-of name (map cons names kinds) sealed? parent who)))
             (note! rtd uid sealed? opaque? (vector-map (lambda (f) (eq? (car f) 'mutable)) fields) #f)
             rtd))
          ((and (eq? parent (rtd-parent old)) (equal? names (rtd-field-names old)) (equal? kinds (own-kinds old))) old)
          (else
           (assertion-violation 'make-record-type-descriptor "another record type has this uid:" uid)))))
    (define (field-name? x)
      (or (symbol? x)
          (and (list? x) (= (length x) 2) (symbol? (car x)) (symbol? (cadr x)))))
    (define (own-kinds rtd)
      (list-tail (rtd-field-kinds rtd) (- (length (rtd-all-field-names rtd)) (length (rtd-field-names rtd)))))

    ;; The number of the type's own field `k` among all.
    (define (place who rtd k)
      (check-rtd who rtd)
      (let ((own (length (rtd-field-names rtd))) (all (length (rtd-all-field-names rtd))))
        (if (and (exact-integer? k) (< -1 k own))
            (+ (- all own) k)
            (wrong-type who (string-append "the index of a field of " (symbol->string (rtd-name rtd))) k))))

    (define (record-predicate rtd)
      (check-rtd "record-predicate" rtd)
      (if (rtd-compact? rtd)
          (lambda (x) (%compact-instance? x rtd))
          (lambda (x) (%record-instance? x rtd))))
    (define (record-accessor rtd k)
      (accessor-at rtd (place "record-accessor" rtd k)))
    (define (record-mutator rtd k)
      (let ((at (place "record-mutator" rtd k)))
        (if (not (record-field-mutable? rtd k))
            (assertion-violation 'record-mutator "the field cannot be changed:" (list-ref (rtd-field-names rtd) k) rtd))
        (mutator-at rtd at)))

    ;; Of a field by its number among all.
    (define (accessor-at rtd i)
      (let ((code (list-ref (rtd-field-codes rtd) i))
            (who (string-append (symbol->string (rtd-name rtd)) "-"
                                (symbol->string (list-ref (rtd-all-field-names rtd) i))))
            (instance? (record-predicate rtd)))
        (lambda (x)
          (if (not (instance? x)) (wrong-record who rtd x))
          (%record-slot x rtd code))))
    (define (mutator-at rtd i)
      (let* ((code (list-ref (rtd-field-codes rtd) i))
             (field (list-ref (rtd-all-field-names rtd) i))
             (who (symbol-append (rtd-name rtd) '- field '-set!))
             (instance? (record-predicate rtd)))
        (lambda (x value)
          (if (not (instance? x)) (wrong-record (symbol->string who) rtd x))
          (%record-slot-set! x rtd code value who))))
    (define (wrong-record who rtd x)
      (wrong-type who (string-append "a record of type " (symbol->string (rtd-name rtd))) x))

    ;;;; Inspection

    (define (known rtd get default)
      (let ((note (note-of rtd)))
        (if note (get note) default)))
    (define (record? x)
      (and (any-record? x) (not (opaque-type? (rtd-of x)))))
    (define (opaque-type? rtd)
      (or (known rtd note-opaque? #f)
          (and (rtd-parent rtd) (opaque-type? (rtd-parent rtd)))))
    (define (record-rtd x)
      (if (record? x) (rtd-of x) (wrong-type "record-rtd" "a record" x)))
    (define (record-type-name rtd) (rtd-name (check-rtd "record-type-name" rtd)))
    (define (record-type-parent rtd) (rtd-parent (check-rtd "record-type-parent" rtd)))
    (define (record-type-uid rtd) (known (check-rtd "record-type-uid" rtd) note-uid #f))
    (define (record-type-generative? rtd) (not (record-type-uid rtd)))
    (define (record-type-sealed? rtd) (rtd-sealed? (check-rtd "record-type-sealed?" rtd)))
    (define (record-type-opaque? rtd) (opaque-type? (check-rtd "record-type-opaque?" rtd)))
    (define (record-type-field-names rtd)
      (list->vector (rtd-field-names (check-rtd "record-type-field-names" rtd))))
    (define (record-field-mutable? rtd k)
      (place "record-field-mutable?" rtd k)
      (let ((mutable (known rtd note-mutable #f)))
        (and mutable (vector-ref mutable k))))

    ;;;; Syntax

    ;; Words of clauses.
    (define-syntax define-words
      (syntax-rules ()
        ((_ word ...) (begin (define-syntax word (syntax-rules ())) ...))))
    (define-words fields mutable immutable parent protocol sealed opaque nongenerative parent-rtd)

    (define-syntax record-type-descriptor
      (syntax-rules () ((_ name) (check-rtd "record-type-descriptor" name))))
    (define-syntax record-constructor-descriptor
      (syntax-rules () ((_ name) (rcd-of name))))

    (define shape-of-form "(define-record-type name (fields field ...) clause ...), or R7RS's form")
    (define shape-of-field
      "a field of R6RS's define-record-type is name, (immutable name [accessor]) or (mutable name [accessor modifier])")
    (define (names? x)
      (and (list? x) (= (length x) 3) (symbol? (car x)) (symbol? (cadr x)) (symbol? (caddr x))))
    ;; With procedures of its own, a field may say what it holds: (name kind).
    (define (field? f)
      (or (symbol? f)
          (and (list? f) (<= 2 (length f) 4) (symbol? (car f))
               (case (string->symbol (symbol->string (car f)))
                 ((immutable) (< (length f) 4))
                 ((mutable) (not (= (length f) 3)))
                 (else #f))
               (let all-names? ((l (if (and (pair? (cddr f)) (field-name? (cadr f))) (cddr f) (cdr f))))
                 (or (null? l) (and (symbol? (car l)) (all-names? (cdr l))))))))

    ;; R7RS's form is understood too.
    (define-syntax define-record-type
      (er-macro-transformer
       (lambda (form rename compare)
         (define (word x) (string->symbol (symbol->string x)))
         (define clause-names '(fields parent protocol sealed opaque nongenerative parent-rtd))
         (define (clause? x)
           (and (pair? x) (list? x) (symbol? (car x)) (memq (word (car x)) clause-names)))
         (if (not (and (pair? (cdr form)) (list? form)))
             (refuse-form "the name of a record type is missing" form shape-of-form))
         (let ((spec (cadr form)) (clauses (cddr form)))
           (define (clause key)
             (let loop ((l clauses))
               (cond ((null? l) #f)
                     ((eq? (word (car (car l))) key) (car l))
                     (else (loop (cdr l))))))
           (define (setting key)
             (let ((c (clause key)))
               (and c (pair? (cdr c)) (cadr c))))
           (if (and (pair? clauses) (not (clause? (car clauses))))
               (cons (rename 'define-plain-record-type) (cdr form))
               (let ()
                 (for-each
                  (lambda (c)
                    (if (not (clause? c)) (refuse-form "not a clause of `define-record-type`" c shape-of-form)))
                  clauses)
                 (if (not (or (symbol? spec) (names? spec)))
                     (refuse-form "the name of a record type is expected, or (name constructor predicate)"
                                  spec shape-of-form))
                 (define name (if (pair? spec) (car spec) spec))
                 (define (named . parts) (apply derived-identifier name parts))
                 ;; name, accessor, modifier or #f
                 (define (field f)
                   (cond
                     ((symbol? f) (list f (named name '- f) #f))
                     ((not (field? f)) (refuse-form "not a field of a record" f shape-of-field))
                     ((eq? (word (car f)) 'immutable)
                      (list (cadr f) (if (pair? (cddr f)) (caddr f) (named name '- (cadr f))) #f))
                     ((pair? (cddr f)) (list (cadr f) (caddr f) (car (cdddr f))))
                     (else
                      (let ((x (cadr f)))
                        (list x (named name '- x) (named name '- x '-set!))))))
                 (define fields (map field (if (clause 'fields) (cdr (clause 'fields)) '())))
                 (define flags (list->vector (map (lambda (f) (and (caddr f) #t)) fields)))
                 (define parent (setting 'parent))
                 (define constructor (if (pair? spec) (cadr spec) (named 'make- name)))
                 (define protocol (setting 'protocol))
                 ;; (lambda (new) … (lambda …)): the inner procedure gets the name of the constructor, for errors.
                 (define (with-name x)
                   (if (and (pair? x) (list? x) (symbol? (car x))
                            (or (compare (car x) (rename 'lambda)) (compare (car x) (rename 'case-lambda))))
                       (list (rename 'let) (list (list constructor x)) constructor)
                       x))
                 (define protocol-with-name
                   (if (and (pair? protocol) (list? protocol) (> (length protocol) 2)
                            (symbol? (car protocol)) (compare (car protocol) (rename 'lambda)))
                       (let name-last ((l protocol))
                         (if (null? (cdr l))
                             (list (with-name (car l)))
                             (cons (car l) (name-last (cdr l)))))
                       protocol))
                 (define sealed? (setting 'sealed))
                 (define uid
                   (let ((c (clause 'nongenerative)))
                     (and c (if (pair? (cdr c)) (cadr c) name))))
                 (define predicate (if (pair? spec) (caddr spec) (named name '?)))
                 (define rcd (rename 'rcd))
                 (define all (if protocol (rename 'make-of-all-fields) constructor))
                 (define (quoted x) (list (rename 'quote) x))
                 (define (definition what value) (list (rename 'define) what value))
                 (define note-arguments (list (quoted uid) sealed? (setting 'opaque) flags))
                 (define (number-fields l k)
                   (if (null? l)
                       '()
                       (let ((f (car l)))
                         (append
                          (list (definition (cadr f) (list (rename 'record-accessor) name k)))
                          (if (caddr f)
                              (list (definition (caddr f) (list (rename 'record-mutator) name k)))
                              '())
                          (number-fields (cdr l) (+ k 1))))))
                 (if (clause 'parent-rtd)
                     (cons* (rename 'begin)
                            (definition name
                              (list (rename 'make-record-type-descriptor) (quoted name) (setting 'parent-rtd)
                                    (quoted uid) sealed? (setting 'opaque)
                                    (quoted
                                     (list->vector
                                      (map (lambda (f) (list (if (caddr f) 'mutable 'immutable) (car f))) fields)))))
                            (definition rcd
                              (cons* (rename 'described-by) name (caddr (clause 'parent-rtd)) protocol-with-name
                                     note-arguments))
                            (definition constructor (list (rename 'record-constructor) rcd))
                            (definition predicate (list (rename 'record-predicate) name))
                            (number-fields fields 0))
                     (append
                      (cons* (rename 'begin)
                            (append
                             (list (rename 'define-plain-record-type)
                                   (cond
                                     (sealed? (list name parent (rename 'sealed)))
                                     (parent (list name parent))
                                     (else name))
                                   all predicate)
                             (map (lambda (f) (if (caddr f) f (list (car f) (cadr f)))) fields))
                            (if protocol (list (definition (rename 'protocol) protocol-with-name)) '()))
                      (list (definition rcd
                              (cons* (rename 'described) name parent (and protocol (rename 'protocol)) note-arguments)))
                      (cond
                        ((not protocol) '())
                        ;; known to the compiler, which puts it in place of calls
                        ((not parent) (list (definition constructor (list (rename 'protocol) all))))
                        (else (list (definition constructor (list (list (rename 'rcd-chain) rcd) all)))))))))))))

    (define (cons* first . rest)
      (if (null? rest) first (cons first (apply cons* rest))))

    (define (described-by rtd parent protocol uid sealed? opaque? mutable)
      (let ((rcd (make-record-constructor-descriptor rtd parent protocol)))
        (note! rtd uid sealed? opaque? mutable rcd)
        rcd))))
