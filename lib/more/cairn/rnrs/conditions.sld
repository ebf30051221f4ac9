;;; (cairn rnrs conditions): the conditions of R6RS, all of its types.
;;;
;;; The types &condition, &message, &irritants, &who and compound conditions are those of (cairn control), where R7RS's
;;; procedures know them as error objects.  Errors of Cairn's own, which R7RS's `error` and failing checks raise, are
;;; conditions here: seen as compounds of the parts that R6RS asks for.
(define-library (cairn rnrs conditions)
  (export
   condition simple-conditions condition? condition-predicate condition-accessor define-condition-type
   error assertion-violation assert
   &condition &message make-message-condition message-condition? condition-message
   &warning make-warning warning? &serious make-serious-condition serious-condition? &error make-error error?
   &violation make-violation violation? &assertion make-assertion-violation assertion-violation?
   &irritants make-irritants-condition irritants-condition? condition-irritants
   &who make-who-condition who-condition? condition-who
   &non-continuable make-non-continuable-violation non-continuable-violation?
   &implementation-restriction make-implementation-restriction-violation implementation-restriction-violation?
   &lexical make-lexical-violation lexical-violation?
   &syntax make-syntax-violation syntax-violation? syntax-violation-form syntax-violation-subform
   &undefined make-undefined-violation undefined-violation?
   &no-infinities make-no-infinities-violation no-infinities-violation?
   &no-nans make-no-nans-violation no-nans-violation?
   &i/o make-i/o-error i/o-error? &i/o-read make-i/o-read-error i/o-read-error?
   &i/o-write make-i/o-write-error i/o-write-error?
   &i/o-invalid-position make-i/o-invalid-position-error i/o-invalid-position-error? i/o-error-position
   &i/o-filename make-i/o-filename-error i/o-filename-error? i/o-error-filename
   &i/o-file-protection make-i/o-file-protection-error i/o-file-protection-error?
   &i/o-file-is-read-only make-i/o-file-is-read-only-error i/o-file-is-read-only-error?
   &i/o-file-already-exists make-i/o-file-already-exists-error i/o-file-already-exists-error?
   &i/o-file-does-not-exist make-i/o-file-does-not-exist-error i/o-file-does-not-exist-error?
   &i/o-port make-i/o-port-error i/o-port-error? i/o-error-port
   &i/o-decoding make-i/o-decoding-error i/o-decoding-error?
   &i/o-encoding make-i/o-encoding-error i/o-encoding-error? i/o-encoding-error-char)
  (import (rename (except (scheme base) error) (define-record-type define-plain-record-type))
          (cairn layout)
          (rename (only (cairn control) condition? simple-condition? compound-condition? make-compound-condition
                        condition-parts condition-kind condition-who condition-text condition-irritants
                        not-continuable wrong-type
                        &condition &message make-message-condition message-part? part-message
                        &irritants make-irritants-condition irritants-part? part-irritants
                        &who make-who-condition who-part? part-who)
                  (condition? native?) (condition-who native-who) (condition-irritants native-irritants))
          (only (cairn primitives) %record-instance?) (only (cairn records) rtd-name)
          (only (srfi 13) string-contains string-index string-index-right))
  (begin

    (define (condition? x)
      (or (native? x) (compound-condition? x) (simple-condition? x)))

    ;; The simple conditions of a condition.
    (define (simple-conditions c) (parts-of "simple-conditions" c))
    (define (parts-of who c)
      (cond
        ((native? c) (parts-of-native c))
        ((or (compound-condition? c) (simple-condition? c)) (condition-parts c))
        (else (wrong-type who "a condition" c))))

    (define (condition . conditions)
      (make-compound-condition (apply append (map (lambda (c) (parts-of "condition" c)) conditions))))

    ;; The first part of a type, or #f.
    (define (part is? c)
      (let loop ((parts (simple-conditions c)))
        (cond ((null? parts) #f) ((is? (car parts)) (car parts)) (else (loop (cdr parts))))))
    (define (has-part? is? x)
      (and (condition? x) (part is? x) #t))
    (define (needed-part is? x who type)
      (or (and (condition? x) (part is? x))
          (wrong-type (symbol->string who) (string-append "a condition of type " (symbol->string type)) x)))

    (define (condition-predicate type)
      (lambda (x) (has-part? (lambda (p) (%record-instance? p type)) x)))
    (define (condition-accessor type proc)
      (lambda (c) (proc (needed-part (lambda (p) (%record-instance? p type)) c 'condition-accessor (rtd-name type)))))

    ;; Adds to each accessor a name for what it does with a part.
    (define-syntax define-condition-type
      (syntax-rules ()
        ((_ name parent make is? field ...) (define-condition-type:fields name parent make is? (field ...) ()))))
    (define-syntax define-condition-type:fields
      (syntax-rules ()
        ((_ name parent make is? () ((field accessor get) ...))
         (begin
           (define-plain-record-type (name parent) make plain? (field get) ...)
           (define (is? x) (has-part? plain? x))
           (define (accessor c) (get (needed-part plain? c 'accessor 'name)))
           ...))
        ((_ name parent make is? ((field accessor) . more) (done ...))
         (define-condition-type:fields name parent make is? more (done ... (field accessor get))))))

    (define (message-condition? x) (has-part? message-part? x))
    (define (condition-message c) (part-message (needed-part message-part? c 'condition-message '&message)))
    (define (irritants-condition? x) (has-part? irritants-part? x))
    (define (condition-irritants c)
      (part-irritants (needed-part irritants-part? c 'condition-irritants '&irritants)))
    (define (who-condition? x) (has-part? who-part? x))
    (define (condition-who c) (part-who (needed-part who-part? c 'condition-who '&who)))

    (define-condition-type &warning &condition make-warning warning?)
    (define-condition-type &serious &condition make-serious-condition serious-condition?)
    (define-condition-type &error &serious make-error error?)
    (define-condition-type &violation &serious make-violation violation?)
    (define-condition-type &assertion &violation make-assertion-violation assertion-violation?)
    (define-condition-type &non-continuable &violation make-non-continuable-violation non-continuable-violation?)
    (define-condition-type &implementation-restriction &violation
      make-implementation-restriction-violation implementation-restriction-violation?)
    (define-condition-type &lexical &violation make-lexical-violation lexical-violation?)
    (define-condition-type &syntax &violation make-syntax-violation syntax-violation?
      (form syntax-violation-form) (subform syntax-violation-subform))
    (define-condition-type &undefined &violation make-undefined-violation undefined-violation?)
    (define-condition-type &no-infinities &implementation-restriction
      make-no-infinities-violation no-infinities-violation?)
    (define-condition-type &no-nans &implementation-restriction make-no-nans-violation no-nans-violation?)

    (define-condition-type &i/o &error make-i/o-error i/o-error?)
    (define-condition-type &i/o-read &i/o make-i/o-read-error i/o-read-error?)
    (define-condition-type &i/o-write &i/o make-i/o-write-error i/o-write-error?)
    (define-condition-type &i/o-invalid-position &i/o make-i/o-invalid-position-error i/o-invalid-position-error?
      (position i/o-error-position))
    (define-condition-type &i/o-filename &i/o make-i/o-filename-error i/o-filename-error?
      (filename i/o-error-filename))
    (define-condition-type &i/o-file-protection &i/o-filename
      make-i/o-file-protection-error i/o-file-protection-error?)
    (define-condition-type &i/o-file-is-read-only &i/o-file-protection
      make-i/o-file-is-read-only-error i/o-file-is-read-only-error?)
    (define-condition-type &i/o-file-already-exists &i/o-filename
      make-i/o-file-already-exists-error i/o-file-already-exists-error?)
    (define-condition-type &i/o-file-does-not-exist &i/o-filename
      make-i/o-file-does-not-exist-error i/o-file-does-not-exist-error?)
    (define-condition-type &i/o-port &i/o make-i/o-port-error i/o-port-error? (port i/o-error-port))
    (define-condition-type &i/o-decoding &i/o-port make-i/o-decoding-error i/o-decoding-error?)
    (define-condition-type &i/o-encoding &i/o-port make-i/o-encoding-error i/o-encoding-error?
      (char i/o-encoding-error-char))

    ;;;; Errors of Cairn's own

    (define (parts-of-native c)
      (let* ((kind (condition-kind c))
             (said? (and (vector? kind) (vector-ref kind 1)))
             (who (if said? (vector-ref kind 0) (native-who c)))
             (text (if said? (vector-ref kind 1) (condition-text c)))
             (irritants (native-irritants c)))
        (append
         (list
          (cond
            ((eqv? kind (kind-unbound)) (make-undefined-violation))
            ((eqv? kind (kind-read)) (make-lexical-violation))
            ((eqv? kind (kind-syntax)) (make-syntax-violation #f #f))
            ;; see (cairn evaluator)
            ((vector? kind) (make-syntax-violation (vector-ref kind 2) (vector-ref kind 3)))
            ((eqv? kind (kind-file)) (file-error text))
            ((equal? text "the result is no fixnum:") (make-implementation-restriction-violation))
            ((not (eqv? kind (kind-other))) (make-assertion-violation))
            ((eq? text not-continuable) (make-non-continuable-violation))
            (else (make-error))))
         (if (eqv? kind (kind-read)) (list (make-i/o-read-error)) '())
         (if who (list (make-who-condition (if (string? who) (string->symbol who) who))) '())
         (list (make-message-condition text) (make-irritants-condition irritants)))))

    ;; The text, `cannot open "name": why`, has the name, and what the system said.
    (define (file-error text)
      (let* ((start (string-index text #\")) (end (and start (string-index-right text #\"))))
        (define (says what) (string-contains text what end))
        (if (and end (< start end))
            ((cond
               ((says "o such file") make-i/o-file-does-not-exist-error)
               ((says "ermission denied") make-i/o-file-protection-error)
               ((says "ead-only") make-i/o-file-is-read-only-error)
               (else make-i/o-filename-error))
             (substring text (+ start 1) end))
            (make-i/o-error))))

    ;;;; Raising

    (define (raise-compound simple who message irritants)
      (raise
       (make-compound-condition
        (append (list simple)
                (if who (list (make-who-condition who)) '())
                (list (make-message-condition message) (make-irritants-condition irritants))))))

    ;; Where there is no message, who is R7RS's.
    (define (error who . message+irritants)
      (if (and (pair? message+irritants) (or (not (string? who)) (string? (car message+irritants))))
          (raise-compound (make-error) who (car message+irritants) (cdr message+irritants))
          (raise-compound (make-error) #f who message+irritants)))
    (define (assertion-violation who message . irritants)
      (raise-compound (make-assertion-violation) who message irritants))

    (define-syntax assert
      (syntax-rules ()
        ((_ test) (or test (assertion-violation #f "assertion failed:" 'test)))))))
