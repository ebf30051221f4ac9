;;; (srfi 189): Maybe and Either: values that may be missing, and values or what went wrong instead.
;;;
;;; A Just, a Right and a Left each hold a list of any number of values; there is one Nothing.
(define-library (srfi 189)
  (export
   maybe? either? just nothing left right nothing? just? maybe= left? right? either= either-swap
   maybe-ref maybe-ref/default either-ref either-ref/default
   maybe-join maybe-bind maybe-compose either-join either-bind either-compose
   maybe-length maybe-filter maybe-remove maybe-sequence either-length either-filter either-remove either-sequence
   maybe->either either->maybe list->just list->left list->right maybe->list either->list list->maybe list->either
   maybe->truth either->truth truth->maybe truth->either maybe->list-truth either->list-truth list-truth->maybe
   list-truth->either maybe->generation either->generation generation->maybe generation->either maybe->values
   either->values values->maybe values->either maybe->two-values two-values->maybe exception->either
   maybe-map maybe-for-each maybe-fold maybe-unfold either-map either-for-each either-fold either-unfold
   maybe-if maybe-and maybe-or maybe-let* maybe-let*-values either-and either-or either-let* either-let*-values
   either-guard
   tri-not tri=? tri-and tri-or tri-merge)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type))
  (begin

    (define-record-type <just>
      (list->just values)
      just?
      (values just-values))
    (define-record-type <nothing>
      (make-nothing)
      nothing?)
    (define-record-type <right>
      (list->right values)
      right?
      (values right-values))
    (define-record-type <left>
      (list->left values)
      left?
      (values left-values))

    (define the-nothing (make-nothing))
    (define (nothing) the-nothing)
    (define (just . objs) (list->just objs))
    (define (right . objs) (list->right objs))
    (define (left . objs) (list->left objs))

    (define (maybe? x) (or (just? x) (nothing? x)))
    (define (either? x) (or (right? x) (left? x)))

    (define (check-maybe who x)
      (if (maybe? x) x (wrong-type who "a Maybe" x)))
    (define (check-either who x)
      (if (either? x) x (wrong-type who "an Either" x)))
    (define (check-procedure who x)
      (if (procedure? x) x (wrong-type who "a procedure" x)))
    ;; The one value of a list that a container holds.
    (define (single who values)
      (if (and (pair? values) (null? (cdr values)))
          (car values)
          (error (string-append who ": not one value, but these:") values)))
    ;; What wraps the values of a procedure.
    (define-syntax wrapped
      (syntax-rules ()
        ((_ wrap expr) (call-with-values (lambda () expr) wrap))))

    ;;;; Comparison, conversion of one to the other

    (define (equal-by? same? as bs)
      (cond ((null? as) (null? bs))
            ((null? bs) #f)
            (else (and (same? (car as) (car bs)) (equal-by? same? (cdr as) (cdr bs))))))

    (define (alike? same? a b)
      (cond ((just? a) (and (just? b) (equal-by? same? (just-values a) (just-values b))))
            ((nothing? a) (nothing? b))
            ((right? a) (and (right? b) (equal-by? same? (right-values a) (right-values b))))
            (else (and (left? b) (equal-by? same? (left-values a) (left-values b))))))
    (define (all-alike? who check same? a rest)
      (check-procedure who same?)
      (check who a)
      (for-each (lambda (b) (check who b)) rest)
      (let loop ((rest rest))
        (or (null? rest) (and (alike? same? a (car rest)) (loop (cdr rest))))))
    (define (maybe= same? a . rest) (all-alike? "maybe=" check-maybe same? a rest))
    (define (either= same? a . rest) (all-alike? "either=" check-either same? a rest))

    (define (maybe->either maybe . objs)
      (if (just? (check-maybe "maybe->either" maybe)) (list->right (just-values maybe)) (list->left objs)))
    (define (either->maybe either)
      (if (right? (check-either "either->maybe" either)) (list->just (right-values either)) the-nothing))
    (define (either-swap either)
      (if (right? (check-either "either-swap" either))
          (list->left (right-values either))
          (list->right (left-values either))))

    ;;;; Values

    (define maybe-ref
      (case-lambda
        ((maybe failure) (maybe-ref maybe failure values))
        ((maybe failure success)
         (check-procedure "maybe-ref" failure)
         (check-procedure "maybe-ref" success)
         (if (just? (check-maybe "maybe-ref" maybe)) (apply success (just-values maybe)) (failure)))))
    (define either-ref
      (case-lambda
        ((either failure) (either-ref either failure values))
        ((either failure success)
         (check-procedure "either-ref" failure)
         (check-procedure "either-ref" success)
         (if (right? (check-either "either-ref" either))
             (apply success (right-values either))
             (apply failure (left-values either))))))
    (define (maybe-ref/default maybe . objs)
      (apply values (if (just? (check-maybe "maybe-ref/default" maybe)) (just-values maybe) objs)))
    (define (either-ref/default either . objs)
      (apply values (if (right? (check-either "either-ref/default" either)) (right-values either) objs)))

    ;;;; Join and bind

    (define (maybe-join maybe)
      (if (just? (check-maybe "maybe-join" maybe))
          (check-maybe "maybe-join" (single "maybe-join" (just-values maybe)))
          maybe))
    (define (either-join either)
      (if (right? (check-either "either-join" either))
          (check-either "either-join" (single "either-join" (right-values either)))
          either))

    (define-syntax define-bind
      (syntax-rules ()
        ((_ name compose check full? values-of)
         (begin
           (define (bind who container procs)
             (let loop ((container (check who container)) (procs procs))
               (if (and (pair? procs) (full? container))
                   (let ((next (apply (car procs) (values-of container))))
                     ;; what the last one returns is the value, whatever it is
                     (if (null? (cdr procs)) next (loop (check who next) (cdr procs))))
                   container)))
           (define (name container . procs)
             (for-each (lambda (proc) (check-procedure (symbol->string 'name) proc)) procs)
             (bind (symbol->string 'name) container procs))
           (define (compose proc . procs)
             (for-each (lambda (proc) (check-procedure (symbol->string 'compose) proc)) (cons proc procs))
             (lambda args (bind (symbol->string 'compose) (apply proc args) procs)))))))
    (define-bind maybe-bind maybe-compose check-maybe just? just-values)
    (define-bind either-bind either-compose check-either right? right-values)

    ;;;; As sequences of at most one element

    (define (maybe-length maybe)
      (if (just? (check-maybe "maybe-length" maybe)) 1 0))
    (define (either-length either)
      (if (right? (check-either "either-length" either)) 1 0))

    (define (maybe-filter pred maybe)
      (check-procedure "maybe-filter" pred)
      (if (and (just? (check-maybe "maybe-filter" maybe)) (apply pred (just-values maybe))) maybe the-nothing))
    (define (maybe-remove pred maybe)
      (check-procedure "maybe-remove" pred)
      (if (and (just? (check-maybe "maybe-remove" maybe)) (not (apply pred (just-values maybe)))) maybe the-nothing))
    (define (either-filter pred either . objs)
      (check-procedure "either-filter" pred)
      (if (and (right? (check-either "either-filter" either)) (apply pred (right-values either)))
          either
          (list->left objs)))
    (define (either-remove pred either . objs)
      (check-procedure "either-remove" pred)
      (if (and (right? (check-either "either-remove" either)) (not (apply pred (right-values either))))
          either
          (list->left objs)))

    (define-syntax define-sequence
      (syntax-rules ()
        ((_ name check empty? values-of wrap)
         (define name
           (case-lambda
             ((container map) (name container map list))
             ((container map aggregator)
              (let ((who (symbol->string 'name)))
                (check-procedure who map)
                (check-procedure who aggregator)
                (call/cc
                 (lambda (return)
                   (wrap
                    (map (lambda (m)
                           (check who m)
                           (if (empty? m) (return m) (apply aggregator (values-of m))))
                         container)))))))))))
    (define-sequence maybe-sequence check-maybe nothing? just-values just)
    (define-sequence either-sequence check-either left? right-values right)

    ;;;; Other protocols

    (define (maybe->list maybe)
      (if (just? (check-maybe "maybe->list" maybe)) (just-values maybe) '()))
    (define (either->list either)
      (if (right? (check-either "either->list" either)) (right-values either) '()))
    (define (list->maybe l)
      (if (null? l) the-nothing (list->just l)))
    (define (list->either l . objs)
      (if (null? l) (list->left objs) (list->right l)))

    (define (maybe->truth maybe)
      (and (just? (check-maybe "maybe->truth" maybe)) (single "maybe->truth" (just-values maybe))))
    (define (either->truth either)
      (and (right? (check-either "either->truth" either)) (single "either->truth" (right-values either))))
    (define (truth->maybe x)
      (if x (just x) the-nothing))
    (define (truth->either x . objs)
      (if x (right x) (list->left objs)))

    (define (maybe->list-truth maybe)
      (and (just? (check-maybe "maybe->list-truth" maybe)) (just-values maybe)))
    (define (either->list-truth either)
      (and (right? (check-either "either->list-truth" either)) (right-values either)))
    (define (list-truth->maybe l)
      (if l (list->just l) the-nothing))
    (define (list-truth->either l . objs)
      (if l (list->right l) (list->left objs)))

    (define (maybe->generation maybe)
      (if (just? (check-maybe "maybe->generation" maybe))
          (single "maybe->generation" (just-values maybe))
          (eof-object)))
    (define (either->generation either)
      (if (right? (check-either "either->generation" either))
          (single "either->generation" (right-values either))
          (eof-object)))
    (define (generation->maybe x)
      (if (eof-object? x) the-nothing (just x)))
    (define (generation->either x . objs)
      (if (eof-object? x) (list->left objs) (right x)))

    (define (maybe->values maybe)
      (if (just? (check-maybe "maybe->values" maybe)) (apply values (just-values maybe)) (values)))
    (define (either->values either)
      (if (right? (check-either "either->values" either)) (apply values (right-values either)) (values)))
    (define (values->maybe producer)
      (wrapped (lambda l (list->maybe l)) (producer)))
    (define (values->either producer . objs)
      (wrapped (lambda l (if (null? l) (list->left objs) (list->right l))) (producer)))

    (define (maybe->two-values maybe)
      (if (just? (check-maybe "maybe->two-values" maybe))
          (values (single "maybe->two-values" (just-values maybe)) #t)
          (values #f #f)))
    (define (two-values->maybe producer)
      (let-values (((x success?) (producer)))
        (if success? (just x) the-nothing)))

    (define (exception->either pred thunk)
      (guard (e ((pred e) (left e)))
        (wrapped right (thunk))))

    ;;;; Map, fold and unfold

    (define (maybe-map proc maybe)
      (check-procedure "maybe-map" proc)
      (if (just? (check-maybe "maybe-map" maybe)) (wrapped just (apply proc (just-values maybe))) maybe))
    (define (either-map proc either)
      (check-procedure "either-map" proc)
      (if (right? (check-either "either-map" either)) (wrapped right (apply proc (right-values either))) either))
    (define (maybe-for-each proc maybe)
      (check-procedure "maybe-for-each" proc)
      (if (just? (check-maybe "maybe-for-each" maybe)) (apply proc (just-values maybe)))
      #t)
    (define (either-for-each proc either)
      (check-procedure "either-for-each" proc)
      (if (right? (check-either "either-for-each" either)) (apply proc (right-values either)))
      #t)
    (define (maybe-fold kons nil maybe)
      (check-procedure "maybe-fold" kons)
      (if (just? (check-maybe "maybe-fold" maybe)) (apply kons (append (just-values maybe) (list nil))) nil))
    (define (either-fold kons nil either)
      (check-procedure "either-fold" kons)
      (if (right? (check-either "either-fold" either)) (apply kons (append (right-values either) (list nil))) nil))

    (define (check-procedures who . all)
      (for-each (lambda (proc) (check-procedure who proc)) all))
    (define (check-end who stop? successor seeds)
      (wrapped (lambda next
                 (if (not (apply stop? next)) (error (string-append who ": it does not stop after one step:") next)))
               (apply successor seeds)))
    (define (maybe-unfold stop? mapper successor . seeds)
      (check-procedures "maybe-unfold" stop? mapper successor)
      (if (apply stop? seeds)
          the-nothing
          (begin
            (check-end "maybe-unfold" stop? successor seeds)
            (wrapped just (apply mapper seeds)))))
    (define (either-unfold stop? mapper successor . seeds)
      (check-procedures "either-unfold" stop? mapper successor)
      (if (apply stop? seeds)
          (list->left seeds)
          (begin
            (check-end "either-unfold" stop? successor seeds)
            (wrapped right (apply mapper seeds)))))

    ;;;; Syntax

    (define-syntax maybe-if
      (syntax-rules ()
        ((_ maybe then else)
         (if (just? (check-maybe "maybe-if" maybe)) then else))))

    (define-syntax maybe-and
      (syntax-rules ()
        ((_) (just #t))
        ((_ e) (check-maybe "maybe-and" e))
        ((_ e more ...)
         (let ((m e))
           (if (just? (check-maybe "maybe-and" m)) (maybe-and more ...) m)))))
    (define-syntax maybe-or
      (syntax-rules ()
        ((_) (nothing))
        ((_ e) (check-maybe "maybe-or" e))
        ((_ e more ...)
         (let ((m e))
           (if (just? (check-maybe "maybe-or" m)) m (maybe-or more ...))))))
    (define-syntax either-and
      (syntax-rules ()
        ((_) (right #t))
        ((_ e) (check-either "either-and" e))
        ((_ e more ...)
         (let ((m e))
           (if (right? (check-either "either-and" m)) (either-and more ...) m)))))
    (define-syntax either-or
      (syntax-rules ()
        ((_) (left #f))
        ((_ e) (check-either "either-or" e))
        ((_ e more ...)
         (let ((m e))
           (if (right? (check-either "either-or" m)) m (either-or more ...))))))

    (define-syntax maybe-let*
      (syntax-rules ()
        ((_ ()) (just #t))
        ((_ () . body) (wrapped just (let () . body)))
        ((_ ((id e) . claws) . body)
         (let ((m e))
           (if (just? (check-maybe "maybe-let*" m))
               (let ((id (single "maybe-let*" (just-values m)))) (maybe-let* claws . body))
               m)))
        ((_ ((e) . claws) . body)
         (let ((m e))
           (if (just? (check-maybe "maybe-let*" m)) (maybe-let* claws . body) m)))
        ((_ (id . claws) . body)
         (if (just? (check-maybe "maybe-let*" id)) (maybe-let* claws . body) id))))
    (define-syntax either-let*
      (syntax-rules ()
        ((_ ()) (right #t))
        ((_ () . body) (wrapped right (let () . body)))
        ((_ ((id e) . claws) . body)
         (let ((m e))
           (if (right? (check-either "either-let*" m))
               (let ((id (single "either-let*" (right-values m)))) (either-let* claws . body))
               m)))
        ((_ ((e) . claws) . body)
         (let ((m e))
           (if (right? (check-either "either-let*" m)) (either-let* claws . body) m)))
        ((_ (id . claws) . body)
         (if (right? (check-either "either-let*" id)) (either-let* claws . body) id))))
    (define-syntax maybe-let*-values
      (syntax-rules ()
        ((_ ()) (just #t))
        ((_ () . body) (wrapped just (let () . body)))
        ((_ ((formals e) . claws) . body)
         (maybe-bind e (lambda formals (maybe-let*-values claws . body))))
        ((_ ((e) . claws) . body)
         (maybe-bind e (lambda ignored (maybe-let*-values claws . body))))
        ((_ (id . claws) . body)
         (maybe-bind id (lambda ignored (maybe-let*-values claws . body))))))
    (define-syntax either-let*-values
      (syntax-rules ()
        ((_ ()) (right #t))
        ((_ () . body) (wrapped right (let () . body)))
        ((_ ((formals e) . claws) . body)
         (either-bind e (lambda formals (either-let*-values claws . body))))
        ((_ ((e) . claws) . body)
         (either-bind e (lambda ignored (either-let*-values claws . body))))
        ((_ (id . claws) . body)
         (either-bind id (lambda ignored (either-let*-values claws . body))))))

    (define-syntax either-guard
      (syntax-rules ()
        ((_ pred . body) (exception->either pred (lambda () . body)))))

    ;;;; Three truth values

    (define (truth who maybe)
      (if (nothing? (check-maybe who maybe)) 'unknown (if (single who (just-values maybe)) #t #f)))

    (define (tri-not maybe)
      (let ((t (truth "tri-not" maybe)))
        (if (eq? t 'unknown) maybe (just (not t)))))
    (define (tri=? maybe . maybes)
      (let ((t (truth "tri=?" maybe)))
        (let loop ((maybes maybes) (same? (not (eq? t 'unknown))))
          (if (null? maybes)
              (just same?)
              (loop (cdr maybes) (and (eq? t (truth "tri=?" (car maybes))) same?))))))
    (define (tri-and . maybes)
      (let loop ((maybes maybes))
        (cond ((null? maybes) (just #t))
              ((eq? #t (truth "tri-and" (car maybes))) (loop (cdr maybes)))
              (else (car maybes)))))
    (define (tri-or . maybes)
      (let loop ((maybes maybes))
        (cond ((null? maybes) (just #f))
              ((eq? #f (truth "tri-or" (car maybes))) (loop (cdr maybes)))
              (else (car maybes)))))
    (define (tri-merge . maybes)
      (let loop ((maybes maybes))
        (cond ((null? maybes) the-nothing)
              ((just? (check-maybe "tri-merge" (car maybes))) (car maybes))
              (else (loop (cdr maybes))))))))
