;;; (srfi 57): record types whose records are made, updated and composed by the labels of their fields, and record
;;; schemes, whose procedures take the records of all types that conform to them.
;;;
;;; A record type itself is one of Cairn's under a hidden name, whose constructor takes all fields, so its procedures
;;; are compiled where they are called. The macro of the public name makes records by labels, and tells other macros
;;; what it is: `(name internal (k datum …))` becomes `(k datum … about)`, where `about` is
;;;
;;;     (type NAME all ((label get set) …) is?)
;;;     (scheme NAME object ((label) …) ((object label …) …))       itself and all that it extends
;;;
;;; At run time a scheme is an object with a table, where each type that conforms to it has a line with the accessors
;;; and modifiers of the scheme's fields, in their order there.
(define-library (srfi 57)
  (export define-record-type define-record-scheme record-update record-update! record-compose)
  (import (rename (scheme base) (define-record-type define-plain-record-type)) (only (scheme cxr) caddr)
          (cairn syntax-case) (only (cairn control) wrong-type) (only (cairn macro) refuse-form)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (srfi 99 records inspection) record? record-rtd))
  (begin

    ;;;; Schemes at run time

    (define-plain-record-type scheme
      (make-scheme name lines)
      scheme?
      (name scheme-name)
      (lines scheme-lines))
    (define-plain-record-type line
      (make-line getters setters copy)
      line?
      (getters line-getters)
      (setters line-setters)
      (copy line-copy))

    (define (new-scheme name)
      (make-scheme (symbol->string name) (make-hash-table eq?)))
    (define (conform! rtd copy . schemes)
      (for-each (lambda (s)
                  (hash-table-set! (scheme-lines (car s)) rtd (make-line (cadr s) (caddr s) copy)))
                schemes))
    (define (line-of scheme x)
      (and (record? x) (hash-table-ref/default (scheme-lines scheme) (record-rtd x) #f)))
    (define (expect-line who scheme x)
      (or (line-of scheme x) (expected-record who (scheme-name scheme) x)))
    (define (expected-record who type x)
      (wrong-type who (string-append "a record of " type) x))

    (define (scheme-accessor who scheme i)
      (lambda (record)
        ((vector-ref (line-getters (expect-line who scheme record)) i) record)))
    (define (scheme-modifier who scheme i)
      (lambda (record x)
        ((vector-ref (line-setters (expect-line who scheme record)) i) record x)))
    (define (copied who scheme record)
      ((line-copy (expect-line who scheme record)) record))

    ;;;; What macros know of labels, which are told apart by their names

    (define (label=? a b)
      (eq? (syntax->datum a) (syntax->datum b)))
    (define (label-assoc label l)
      (cond ((null? l) #f)
            ((label=? label (caar l)) (car l))
            (else (label-assoc label (cdr l)))))
    (define (label-index label labels)
      (let loop ((l labels) (i 0))
        (cond ((null? l) #f)
              ((label=? label (car l)) i)
              (else (loop (cdr l) (+ i 1))))))
    (define (without-repeated labels)
      (let loop ((l labels) (done '()))
        (cond ((null? l) (reverse done))
              ((label-index (car l) done) (loop (cdr l) done))
              (else (loop (cdr l) (cons (car l) done))))))
    ;; Each label is part of the form at the same place of the other list.
    (define (check-distinct labels forms)
      (let loop ((l labels) (forms forms) (before '()))
        (if (pair? l)
            (begin
              (if (label-index (car l) before) (refuse-form "this label stands twice" (car forms) #f))
              (loop (cdr l) (cdr forms) (cons (car l) before))))))

    ;; The parts of a definition.
    (define (name-of clause) (if (pair? clause) (car clause) clause))
    (define (labels-of constructor) (if (pair? constructor) (cdr constructor) '()))
    (define (check-field field)
      (if (not (and (list? field) (<= 1 (length field) 3) (identifier? (car field))))
          (refuse-form "not a field of a record" field shape-of-field)))
    (define shape-of-field "a field is (label accessor modifier), the last two optional")
    (define (all-labels abouts constructor fields)
      (for-each check-field fields)
      (check-distinct (labels-of constructor) (map (lambda (label) constructor) (labels-of constructor)))
      (check-distinct (map car fields) fields)
      (without-repeated
       (append (apply append (map (lambda (about) (map car (fields-of about))) abouts))
               (labels-of constructor)
               (map car fields))))
    (define (fields-of about) (list-ref about 3))
    (define (part-of field i)
      (and field (> (length field) i) (list-ref field i)))
    (define (named part)
      (or part (car (generate-temporaries '(x)))))
    ;; (object label …) of the schemes and all that they extend.
    (define (ancestors abouts)
      (apply append (map (lambda (about)
                           (if (not (eq? 'scheme (syntax->datum (car about))))
                               (refuse-form (string-append (symbol->string (syntax->datum (cadr about)))
                                                           " is a record type and not a scheme")
                                            about
                                            #f))
                           (list-ref about 4))
                         abouts)))

    ;; ((label expression) …), whose labels are those of what `about` tells of.
    (define (check-bindings bindings about)
      (for-each (lambda (b)
                  (if (not (and (list? b) (= 2 (length b)) (identifier? (car b))))
                      (refuse-form "not a label and its value" b #f))
                  (if (not (label-assoc (car b) (fields-of about)))
                      (refuse-form (string-append (symbol->string (syntax->datum (cadr about)))
                                                  " has no field of this label")
                                   (car b)
                                   #f)))
                bindings)
      (check-distinct (map car bindings) bindings))

    ;;;; Definitions

    ;; (ask done (name …) k): (k … (about …)), of all the names.
    (define-syntax ask
      (syntax-rules ()
        ((_ done () (k ...)) (k ... done))
        ((_ done (name . more) k) (name internal (asked done more k)))))
    (define-syntax asked
      (syntax-rules ()
        ((_ (done ...) more k about) (ask (done ... about) more k))))
    ;; Known here only.
    (define-syntax internal (syntax-rules ()))

    (define-syntax define-record-type
      (syntax-rules ()
        ((_ (name . schemes)) (define-record-type (name . schemes) #f #f))
        ((_ (name . schemes) constructor) (define-record-type (name . schemes) constructor #f))
        ((_ (name . schemes) constructor predicate field ...)
         (ask () schemes (define-labelled name constructor predicate (field ...))))
        ((_ name . more) (define-record-type (name) . more))))

    (define-syntax define-labelled
      (lambda (x)
        (syntax-case x ()
          ((_ name constructor predicate (field ...) (about ...))
           (let* ((constructor #'constructor)
                  (fields #'(field ...))
                  (labels (all-labels #'(about ...) constructor fields))
                  (whole (map (lambda (label)
                                (let ((field (label-assoc label fields)))
                                  (list label (named (part-of field 1)) (named (part-of field 2)))))
                              labels))
                  (given (if (pair? constructor) (cdr constructor) labels)))
             (with-syntax ((hidden (datum->syntax #'here (syntax->datum #'name)))
                           (is? (named #'predicate))
                           ((label ...) (map (lambda (l) (datum->syntax #'here (syntax->datum l))) labels))
                           (((public get set) ...) whole)
                           ((argument ...) given)
                           ((value ...)
                            (map (lambda (l)
                                   (let ((i (label-index l given))) (if i (list-ref given i) #'undefined)))
                                 labels))
                           (((object (ancestor-get ...) (ancestor-set ...)) ...)
                            (map (lambda (ancestor)
                                   (let ((lines (map (lambda (l) (label-assoc l whole)) (cdr ancestor))))
                                     (list (car ancestor) (map cadr lines) (map caddr lines))))
                                 (ancestors #'(about ...)))))
               (with-syntax (((made ...)
                              (if constructor
                                  (with-syntax ((make (name-of constructor)))
                                    (list #'(define (make argument ...) (all value ...))))
                                  '())))
                 #'(begin
                     (define-plain-record-type hidden (all label ...) is? (label get set) ...)
                     made ...
                     (define done
                       (conform! hidden (lambda (record) (all (get record) ...))
                                 (list object (vector ancestor-get ...) (vector ancestor-set ...)) ...))
                     (define-keyword name (type name all ((public get set) ...) is?))))))))))
    (define undefined '<undefined>)

    (define-syntax define-keyword
      (syntax-rules ()
        ((_ name about)
         (define-syntax name
           (syntax-rules (internal)
             ((_ internal (k datum (... ...))) (k datum (... ...) about))
             ((_ . bindings) (construct bindings () about)))))))

    (define-syntax define-record-scheme
      (syntax-rules ()
        ((_ (name . parents)) (define-record-scheme (name . parents) #f #f))
        ((_ (name . parents) deconstructor) (define-record-scheme (name . parents) deconstructor #f))
        ((_ (name . parents) deconstructor predicate field ...)
         (ask () parents (define-scheme name deconstructor predicate (field ...))))
        ((_ name . more) (define-record-scheme (name) . more))))

    (define-syntax define-scheme
      (lambda (x)
        (syntax-case x ()
          ((_ name deconstructor predicate (field ...) (about ...))
           (let* ((fields #'(field ...))
                  (labels (all-labels #'(about ...) #'deconstructor fields)))
             (with-syntax ((object (datum->syntax #'here (syntax->datum #'name)))
                           ((label ...) labels)
                           ((ancestor ...) (ancestors #'(about ...))))
               (with-syntax (((definition ...)
                              (append (if #'predicate
                                          (list #'(define (predicate x) (if (line-of object x) #t #f)))
                                          '())
                                      (procedures-of #'object labels fields))))
                 #'(begin
                     (define object (new-scheme 'name))
                     definition ...
                     (define-keyword name
                       (scheme name object ((label) ...) ((object label ...) ancestor ...)))))))))))
    (define (procedures-of object labels fields)
      (define (procedure maker name label)
        (if name
            (with-syntax ((name name) (maker maker) (object object)
                          (who (symbol->string (syntax->datum name)))
                          (i (label-index label labels)))
              (list #'(define name (maker who object i))))
            '()))
      (apply append (map (lambda (field)
                           (append (procedure #'scheme-accessor (part-of field 1) (car field))
                                   (procedure #'scheme-modifier (part-of field 2) (car field))))
                         fields)))

    ;;;; Expressions

    ;; A record of the type: its fields have the values of the bindings, else those of the first import that has the
    ;; label. Imports are (variable about).
    (define-syntax construct
      (lambda (x)
        (syntax-case x ()
          ((_ (binding ...) ((record from) ...) about)
           (let ((about #'about) (bindings #'(binding ...)))
             (if (not (eq? 'type (syntax->datum (car about))))
                 (refuse-form "this is a scheme and has no records of its own"
                              (if (pair? bindings) (car bindings) (syntax->datum (cadr about)))
                              #f))
             (check-bindings bindings about)
             (with-syntax ((all (list-ref about 2))
                           ((value ...)
                            (map (lambda (field)
                                   (let ((b (label-assoc (car field) bindings)))
                                     (if b
                                         (cadr b)
                                         (imported (car field) #'((record from) ...)))))
                                 (fields-of about))))
               #'(all value ...)))))))
    (define (imported label imports)
      (if (null? imports)
          #'undefined
          (let* ((from (cadr (car imports))) (field (label-assoc label (fields-of from))))
            (if field
                (reference (car (car imports)) from field)
                (imported label (cdr imports))))))
    ;; The value of a field of a record that fits.
    (define (reference record about field)
      (with-syntax ((record record) (object (list-ref about 2)))
        (if (eq? 'type (syntax->datum (car about)))
            (with-syntax ((get (cadr field))) #'(get record))
            (with-syntax ((i (label-index (car field) (map car (fields-of about)))))
              #'((vector-ref (line-getters (line-of object record)) i) record)))))

    (define-syntax record-compose
      (syntax-rules ()
        ((_ (from record) ... (name binding ...))
         (ask () (name from ...) (compose (record ...) (binding ...))))))
    (define-syntax compose
      (lambda (x)
        (syntax-case x ()
          ((_ (record ...) bindings (about from ...))
           (with-syntax (((variable ...) (generate-temporaries #'(record ...))))
             #'(let ((variable record) ...)
                 (check-record "record-compose" variable from) ...
                 (construct bindings ((variable from) ...) about)))))))
    (define-syntax check-record
      (lambda (x)
        (syntax-case x ()
          ((_ who record (kind name object-or-all fields is?))
           (if (eq? 'type (syntax->datum #'kind))
               #'(if (not (is? record)) (expected-record who (symbol->string 'name) record))
               #'(expect-line who object-or-all record))))))

    (define-syntax record-update
      (syntax-rules ()
        ((_ record name binding ...)
         (name internal (update "record-update" #f record (binding ...))))))
    (define-syntax record-update!
      (syntax-rules ()
        ((_ record name binding ...)
         (name internal (update "record-update!" #t record (binding ...))))))
    (define-syntax update
      (lambda (x)
        (syntax-case x ()
          ((_ who in-place? e bindings about)
           (begin
             (check-bindings #'bindings #'about)
             (if (eq? 'type (syntax->datum (car #'about)))
                 (with-syntax ((record #'record))
                   (with-syntax ((result
                                  (if #'in-place?
                                      (with-syntax (((set! ...) (setters #'bindings #'about)))
                                        #'(begin set! ... record))
                                      #'(construct bindings ((record about)) about))))
                     #'(let ((record e))
                         (check-record who record about)
                         result)))
                 (with-syntax ((object (list-ref #'about 2))
                               (((i value) ...) (indexed #'bindings #'about)))
                   #'(let* ((before e)
                            (setters (line-setters (expect-line who object before)))
                            (record (if in-place? before (copied who object before))))
                       ((vector-ref setters i) record value) ...
                       record))))))))
    (define (setters bindings about)
      (map (lambda (b)
             (with-syntax ((set (caddr (label-assoc (car b) (fields-of about)))) (value (cadr b)))
               #'(set record value)))
           bindings))
    (define (indexed bindings about)
      (map (lambda (b) (list (label-index (car b) (map car (fields-of about))) (cadr b))) bindings))))
