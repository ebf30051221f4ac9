;;; (cairn weak): references that do not keep their objects alive, and what happens when objects die.
;;;
;;; Weak pairs are those of MIT Scheme, weak boxes those of Racket, weak vectors those of Guile, ephemerons those of
;;; SRFI 124, guardians those of Chez Scheme and Guile.  Where something has died, #f is read.
;;;
;;; Weak words lie in objects that the collector does not look into (%weak-make); everything else here is ordinary.  A
;;; guardian is a record that the runtime puts the objects into which only guardians still refer to, and finalizers are
;;; a guardian that the program need not ask: it is told at a safepoint.

(define-library (cairn weak)
  (export
   weak-cons weak-pair? weak-car weak-cdr weak-pair/car? (rename weak-set-car! set-weak-car!)
   (rename weak-set-cdr! set-weak-cdr!) weak-set-car! weak-set-cdr!
   make-weak-box weak-box? weak-box-value
   make-weak-vector weak-vector weak-vector? weak-vector-length weak-vector-ref weak-vector-set!
   make-ephemeron ephemeron? ephemeron-broken? ephemeron-key ephemeron-datum reference-barrier
   make-guardian add-finalizer!
   collect)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control) (cairn number))
  (begin

    ;; What a weak word reads as.
    (define (unbroken x)
      (if (%eq? x (%broken-object)) #f x))

    (define (weak-of-kind? x kind)
      (%eq? (%weak-kind x) kind))

    ;;;; Weak boxes

    (define-record-type <weak-box> (make-box words) weak-box? (words box-words))

    (define (make-words x)
      (let ((words (%weak-make (weak-references) 1)))
        (%weak-set! words 0 x)
        words))

    (define (make-weak-box x) (make-box (make-words x)))

    (define (weak-box-value box)
      (if (weak-box? box)
          (unbroken (%weak-ref (box-words box) 0))
          (wrong-type "weak-box-value" "a weak box" box)))

    ;;;; Weak pairs: the car is weak

    (define-record-type <weak-pair>
      (make-weak-pair words cdr)
      weak-pair?
      (words pair-words)
      (cdr pair-cdr set-pair-cdr!))

    (define (weak-cons x y) (make-weak-pair (make-words x) y))

    (define-syntax with-pair
      (syntax-rules ()
        ((_ who pair body) (if (weak-pair? pair) body (wrong-type who "a weak pair" pair)))))

    (define (weak-car pair) (with-pair "weak-car" pair (unbroken (%weak-ref (pair-words pair) 0))))
    (define (weak-cdr pair) (with-pair "weak-cdr" pair (pair-cdr pair)))
    ;; Is the car still there (and not #f)?
    (define (weak-pair/car? pair)
      (with-pair "weak-pair/car?" pair (if (unbroken (%weak-ref (pair-words pair) 0)) #t #f)))
    (define (weak-set-car! pair x) (with-pair "weak-set-car!" pair (%weak-set! (pair-words pair) 0 x)))
    (define (weak-set-cdr! pair x) (with-pair "weak-set-cdr!" pair (set-pair-cdr! pair x)))

    ;;;; Weak vectors

    (define (weak-vector? x) (weak-of-kind? x (weak-references)))

    (define make-weak-vector
      (case-lambda
        ((n) (make-weak-vector n #f))
        ((n x)
         (if (if (%fixnum? n) (if (%fx<= 0 n) (%fx< n 1000000000) #f) #f)
             (let ((v (%weak-make (weak-references) n)))
               (let loop ((i 0))
                 (if (%fx< i n) (begin (%weak-set! v i x) (loop (%fx+ i 1)))))
               v)
             (wrong-type "make-weak-vector" "a length" n)))))

    (define (weak-vector . items)
      (let ((v (%weak-make (weak-references) (%length items))))
        (let loop ((i 0) (items items))
          (if (%pair? items)
              (begin (%weak-set! v i (%car items)) (loop (%fx+ i 1) (%cdr items)))))
        v))

    (define-syntax with-vector
      (syntax-rules ()
        ((_ who v body) (if (weak-vector? v) body (wrong-type who "a weak vector" v)))
        ((_ who v i body)
         (with-vector who v
           (if (%fixnum? i)
               (if (if (%fx<= 0 i) (%fx< i (%weak-length v)) #f)
                   body
                   (out-of-range who "index out of range" i))
               (wrong-type who "an index" i))))))

    (define (weak-vector-length v) (with-vector "weak-vector-length" v (%weak-length v)))
    (define (weak-vector-ref v i) (with-vector "weak-vector-ref" v i (unbroken (%weak-ref v i))))
    (define (weak-vector-set! v i x) (with-vector "weak-vector-set!" v i (%weak-set! v i x)))

    ;;;; Ephemerons

    (define (ephemeron? x) (weak-of-kind? x (weak-ephemerons)))

    (define (make-ephemeron key datum)
      (let ((e (%weak-make (weak-ephemerons) 2)))
        (%weak-set! e 0 key)
        (%weak-set! e 1 datum)
        e))

    (define-syntax define-of-ephemeron
      (syntax-rules ()
        ((_ name e body)
         (define (name e)
           (if (ephemeron? e) body (wrong-type (%symbol->string 'name) "an ephemeron" e))))))

    (define-of-ephemeron ephemeron-broken? e (%eq? (%weak-ref e 0) (%broken-object)))
    (define-of-ephemeron ephemeron-key e (unbroken (%weak-ref e 0)))
    (define-of-ephemeron ephemeron-datum e (unbroken (%weak-ref e 1)))

    ;; Up to here `x` is alive.
    (define (reference-barrier x)
      (%weak-touch x)
      #t)

    ;;;; Guardians

    ;; The runtime knows that `items` comes first: a list of (object . companion).
    (define-record-type <guardian> (make-queue items) guardian? (items queue-items set-queue-items!))

    (define (next queue)
      (let ((items (queue-items queue)))
        (if (%pair? items)
            (begin
              (set-queue-items! queue (%cdr items))
              (%car items))
            #f)))

    ;; (g object) registers it; (g object other) too, but `other` is given back in its place; (g) gives back what only
    ;; guardians refer to any more, or #f.
    (define (make-guardian)
      (let ((queue (make-queue '())))
        (case-lambda
          (() (let ((item (next queue))) (if item (%cdr item) #f)))
          ((object) (%weak-guard! object object queue))
          ((object other) (%weak-guard! object other queue)))))

    ;;;; Finalizers

    (define finalizers #f)
    (define running? #f)

    ;; (procedure object) is called some time after nothing else refers to the object, at a safepoint of whatever runs
    ;; then.  It may keep the object, make others and raise: what it raises is reported and goes no further.
    (define (add-finalizer! object procedure)
      (check-procedure "add-finalizer!" procedure)
      (if (%not finalizers)
          (begin
            (set! finalizers (make-queue '()))
            (%machine-set! (slot-finalizer-hook) finalize-soon)))
      (%weak-guard! object procedure finalizers))

    ;; In programs with threads the main thread does it, when it is in the middle of nothing.
    (define (finalize-soon)
      (let ((hook (%machine-ref (slot-interrupt-hook))))
        (if (%procedure? hook) (hook run-finalizers) (run-finalizers))))

    (define (run-finalizers)
      (if (%not running?)
          (begin
            (set! running? #t)
            (let loop ((item (next finalizers)))
              (if item
                  (begin
                    (finalize (%cdr item) (%car item))
                    (loop (next finalizers)))))
            (set! running? #f)
            ;; What came after the last look, while nobody else could run.
            (if (%pair? (queue-items finalizers)) (run-finalizers)))))

    (define (finalize procedure object)
      (%call/cc
       (lambda (k)
         (with-exception-handler
          (lambda (x)
            (%weak-report
             (%describe-error
              (%string-append "in a finalizer: " (uncaught->string x))
              (site-of x)
              0))
            (k #f))
          (lambda () (procedure object))))))

    ;;;; Collections

    ;; Collects everything now; (collect #f) only what is young.
    (define collect
      (case-lambda
        (() (collect #t))
        ((everything?)
         (let ((before (%weak-collections)))
           (%weak-collect (if everything? #t #f))
           ;; A heap check fails soon.
           (let loop ((i 0))
             (if (if (%eq? before (%weak-collections)) (%fx< i 1000000) #f)
                 (begin
                   (%weak-touch (%cons i i))
                   (loop (%fx+ i 1)))))))))))
