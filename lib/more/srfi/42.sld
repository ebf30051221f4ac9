;;; (srfi 42): eager comprehensions: (list-ec (:range i 5) (if (odd? i)) (* i i)) is (1 9).
;;;
;;; A generator is a macro that is called with a continuation, which is a list that begins with the name of a macro, and
;;; ends in (:do continuation (let (ob …) oc …) (lb …) ne1? (let (ib …) ic …) ne2? (ls …)), a loop:
;;;
;;;     (let (ob …) oc … (let loop (lb …) (if ne1? (let (ib …) ic … BODY (if ne2? (loop ls …))))))
;;;
;;; `:do` hands the loop to the continuation: that of `do-ec` puts the rest of the comprehension into it; those of
;;; `:parallel`, `:while` and `:until` change the loop, or join several, and go on.
(define-library (srfi 42)
  (export
   do-ec list-ec append-ec string-ec string-append-ec vector-ec vector-of-length-ec sum-ec product-ec min-ec max-ec
   any?-ec every?-ec first-ec last-ec fold-ec fold3-ec
   : :do :list :string :vector :integers :range :real-range :char-range :port :dispatched :generator-proc :let
   :parallel :while :until
   dispatch-union make-initial-:-dispatch :-dispatch-ref :-dispatch-set!)
  (import (scheme base) (scheme read))
  (begin

    ;;;; Loops

    (define-syntax do-ec
      (syntax-rules (nested if not and or begin)
        ((_ command) command)
        ((_ (nested q ...) . rest) (do-ec q ... . rest))
        ((_ (if test) . rest) (if test (do-ec . rest)))
        ((_ (not test) . rest) (if (not test) (do-ec . rest)))
        ((_ (and test ...) . rest) (if (and test ...) (do-ec . rest)))
        ((_ (or test ...) . rest) (if (or test ...) (do-ec . rest)))
        ((_ (begin e ...) . rest) (begin e ... (do-ec . rest)))
        ((_ (generator . args) . rest) (generator (loop-over . rest) . args))))

    (define-syntax loop-over
      (syntax-rules (let)
        ((_ q ... (do (let (ob ...) oc ...) ((lv li) ...) ne1? (let (ib ...) ic ...) ne2? (ls ...)))
         (let (ob ...)
           oc ...
           (let loop ((lv li) ...)
             (if ne1?
                 (let (ib ...)
                   ic ...
                   (do-ec q ...)
                   (if ne2? (loop ls ...)))))))))

    (define-syntax :do
      (syntax-rules (let)
        ((_ (cc ...) (let obs . ocs) lbs ne1? (let ibs . ics) ne2? lss)
         (cc ... (:do (let obs . ocs) lbs ne1? (let ibs . ics) ne2? lss)))
        ((_ cc lbs ne1? lss) (:do cc (let ()) lbs ne1? (let ()) #t lss))))

    ;;;; Generators

    ;; Several generators side by side: the loop is over when one of them is.
    (define-syntax :parallel
      (syntax-rules ()
        ((_ cc) (:do cc (let ()) () #t (let ()) #t ()))
        ((_ cc (generator . args) q ...) (generator (join cc (q ...)) . args))))
    ;; (join cc qualifiers [loop so far] loop)
    (define-syntax join
      (syntax-rules ()
        ((_ cc () (do . loop)) (:do cc . loop))
        ((_ cc () so-far (do . loop)) (merge cc so-far loop))
        ((_ cc ((generator . args) q ...) (do . loop)) (generator (join cc (q ...) loop) . args))
        ((_ cc ((generator . args) q ...) so-far (do . loop))
         (merge (merged cc (generator . args) (q ...)) so-far loop))))
    (define-syntax merge
      (syntax-rules (let)
        ((_ cc
            ((let (ob ...) oc ...) (lb ...) ne1? (let (ib ...) ic ...) ne2? (ls ...))
            ((let (ob2 ...) oc2 ...) (lb2 ...) ne1?2 (let (ib2 ...) ic2 ...) ne2?2 (ls2 ...)))
         (:do cc
              (let (ob ... ob2 ...) oc ... oc2 ...)
              (lb ... lb2 ...)
              (and ne1? ne1?2)
              (let (ib ... ib2 ...) ic ... ic2 ...)
              (and ne2? ne2?2)
              (ls ... ls2 ...)))))
    (define-syntax merged
      (syntax-rules ()
        ((_ cc (generator . args) qs (do . loop)) (generator (join cc qs loop) . args))))

    ;; The variable of a generator and its index.
    (define-syntax with-index
      (syntax-rules ()
        ((_ cc generator i) (:parallel cc generator (:integers i)))))

    (define-syntax :while
      (syntax-rules ()
        ((_ cc (generator . args) test) (generator (while cc test) . args))))
    (define-syntax while
      (syntax-rules (let)
        ((_ cc test (do (let obs . ocs) lbs ne1? (let ibs . ics) ne2? lss))
         (:do cc (let obs . ocs) lbs (and ne1? (let ibs (begin #t . ics) test)) (let ibs . ics) ne2? lss))))
    (define-syntax :until
      (syntax-rules ()
        ((_ cc (generator . args) test) (generator (until cc test) . args))))
    (define-syntax until
      (syntax-rules (let)
        ((_ cc test (do (let obs . ocs) lbs ne1? (let ibs . ics) ne2? lss))
         (:do cc (let obs . ocs) lbs ne1? (let ibs . ics) (and ne2? (not test)) lss))))

    (define-syntax :let
      (syntax-rules (index)
        ((_ cc var (index i) e) (:do cc (let ((var e) (i 0))) () #t (let ()) #f ()))
        ((_ cc var e) (:do cc (let ((var e))) () #t (let ()) #f ()))))

    (define-syntax :list
      (syntax-rules (index)
        ((_ cc var (index i) . args) (with-index cc (:list var . args) i))
        ((_ cc var e) (:do cc (let ()) ((l e)) (not (null? l)) (let ((var (car l)))) #t ((cdr l))))
        ((_ cc var e ...) (:list cc var (append e ...)))))
    (define-syntax :string
      (syntax-rules (index)
        ((_ cc var (index i) . args) (with-index cc (:string var . args) i))
        ((_ cc var e)
         (:do cc (let ((s e) (n 0)) (set! n (string-length s))) ((i 0)) (< i n) (let ((var (string-ref s i)))) #t
              ((+ i 1))))
        ((_ cc var e ...) (:string cc var (string-append e ...)))))
    (define-syntax :vector
      (syntax-rules (index)
        ((_ cc var (index i) . args) (with-index cc (:vector var . args) i))
        ((_ cc var e)
         (:do cc (let ((v e) (n 0)) (set! n (vector-length v))) ((i 0)) (< i n) (let ((var (vector-ref v i)))) #t
              ((+ i 1))))
        ((_ cc var e ...) (:vector cc var (vector-append e ...)))))

    (define-syntax :integers
      (syntax-rules (index)
        ((_ cc var (index i)) (:do cc ((var 0) (i 0)) #t ((+ var 1) (+ i 1))))
        ((_ cc var) (:do cc ((var 0)) #t ((+ var 1))))))

    (define (check-range . numbers)
      (for-each (lambda (x) (if (not (and (real? x) (exact? x))) (error ":range: not an exact number:" x))) numbers))
    ;; How often a step fits between two numbers.
    (define (steps start stop step)
      (if (= 0 step) (error "the step of a range is zero"))
      (max 0 (ceiling (/ (- stop start) step))))
    (define-syntax :range
      (syntax-rules (index)
        ((_ cc var (index i) . args) (with-index cc (:range var . args) i))
        ((_ cc var stop) (:range cc var 0 stop))
        ((_ cc var start stop)
         (:do cc (let ((a start) (b stop)) (check-range a b)) ((var a)) (< var b) (let ()) #t ((+ var 1))))
        ((_ cc var start stop step)
         (:do cc
              (let ((a start) (b stop) (s step) (n 0))
                (check-range a b s)
                (set! n (steps a b s)))
              ((var a) (k 0)) (< k n) (let ()) #t ((+ var s) (+ k 1))))))
    (define-syntax :real-range
      (syntax-rules (index)
        ((_ cc var (index i) . args) (with-index cc (:real-range var . args) i))
        ((_ cc var stop) (:real-range cc var 0 stop 1))
        ((_ cc var start stop) (:real-range cc var start stop 1))
        ((_ cc var start stop step)
         (:do cc
              (let ((a start) (b stop) (s step) (n 0))
                (set! n (steps a b s))
                ;; all elements are inexact if one argument is
                (if (not (and (exact? a) (exact? b) (exact? s))) (set! a (inexact a))))
              ((k 0)) (< k n) (let ((var (+ a (* k s))))) #t ((+ k 1))))))
    (define-syntax :char-range
      (syntax-rules (index)
        ((_ cc var (index i) . args) (with-index cc (:char-range var . args) i))
        ((_ cc var first last)
         (:do cc
              (let ((b (char->integer last))))
              ((k (char->integer first))) (<= k b) (let ((var (integer->char k)))) #t ((+ k 1))))))
    (define-syntax :port
      (syntax-rules (index)
        ((_ cc var (index i) . args) (with-index cc (:port var . args) i))
        ((_ cc var port) (:port cc var port read))
        ((_ cc var port reader)
         (:do cc (let ((p port) (next reader))) ((var (next p))) (not (eof-object? var)) (let ()) #t ((next p))))))

    ;;;; Generators that are found when the program runs

    ;; A procedure of one argument, which it returns at the end of what the generator has.
    (define-syntax :generator-proc
      (syntax-rules ()
        ((_ (generator . args)) (generator (as-procedure x) x . args))))
    (define-syntax as-procedure
      (syntax-rules (let)
        ((_ var (do (let (ob ...) oc ...) ((lv li) ...) ne1? (let (ib ...) ic ...) ne2? (ls ...)))
         (let (ob ...)
           oc ...
           (let ((lv li) ... (more? #t))
             (lambda (end)
               (if (and more? ne1?)
                   (let (ib ...)
                     ic ...
                     (let ((value var))
                       (if ne2?
                           (let ((next (list ls ...)))
                             (begin
                               (set! lv (car next))
                               (set! next (cdr next)))
                             ...
                             value)
                           (begin
                             (set! more? #f)
                             value))))
                   (begin
                     (set! more? #f)
                     end))))))))

    (define-syntax :dispatched
      (syntax-rules (index)
        ((_ cc var (index i) dispatch . args) (with-index cc (:dispatched var dispatch . args) i))
        ((_ cc var dispatch e ...)
         (:do cc
              (let ((next (generator-of dispatch (list e ...))) (end (list #f))))
              ((var (next end))) (not (eq? var end)) (let ()) #t ((next end))))))
    (define (generator-of dispatch args)
      (let ((g (dispatch args)))
        (if (procedure? g) g (error "nothing can be generated from these:" args))))

    (define-syntax :
      (syntax-rules (index)
        ((_ cc var (index i) . args) (:dispatched cc var (index i) (:-dispatch-ref) . args))
        ((_ cc var . args) (:dispatched cc var (:-dispatch-ref) . args))))

    (define (all? ok? l) (or (null? l) (and (ok? (car l)) (all? ok? (cdr l)))))
    (define (exact-number? x) (and (real? x) (exact? x)))
    (define (make-initial-:-dispatch)
      (lambda (args)
        (let ((n (length args)))
          (cond
            ((= n 0) 'SRFI42)
            ((all? list? args) (:generator-proc (:list (apply append args))))
            ((all? string? args) (:generator-proc (:string (apply string-append args))))
            ((all? vector? args) (:generator-proc (:vector (apply vector-append args))))
            ((and (= n 1) (exact-integer? (car args))) (:generator-proc (:range (car args))))
            ((and (= n 1) (real? (car args))) (:generator-proc (:real-range (car args))))
            ((and (= n 1) (input-port? (car args))) (:generator-proc (:port (car args))))
            ((and (= n 2) (all? char? args)) (:generator-proc (:char-range (car args) (cadr args))))
            ((and (= n 2) (input-port? (car args)) (procedure? (cadr args)))
             (:generator-proc (:port (car args) (cadr args))))
            ((and (= n 2) (all? exact-number? args)) (:generator-proc (:range (car args) (cadr args))))
            ((and (= n 2) (all? real? args)) (:generator-proc (:real-range (car args) (cadr args))))
            ((and (= n 3) (all? exact-number? args))
             (:generator-proc (:range (car args) (cadr args) (list-ref args 2))))
            ((and (= n 3) (all? real? args))
             (:generator-proc (:real-range (car args) (cadr args) (list-ref args 2))))
            (else #f)))))
    (define (dispatch-union d1 d2)
      (lambda (args)
        (let ((g1 (d1 args)) (g2 (d2 args)))
          (cond ((null? args) (append (if (list? g1) g1 (list g1)) (if (list? g2) g2 (list g2))))
                ((and g1 g2) (error "two dispatchers generate from these:" args))
                (else (or g1 g2))))))
    (define dispatcher (make-initial-:-dispatch))
    (define (:-dispatch-ref) dispatcher)
    (define (:-dispatch-set! d)
      (if (not (procedure? d)) (error ":-dispatch-set!: not a procedure:" d))
      (set! dispatcher d))

    ;;;; Comprehensions

    (define-syntax fold-ec
      (syntax-rules ()
        ((_ nil q ... e f)
         (let ((acc nil))
           (do-ec q ... (set! acc (f e acc)))
           acc))))
    ;; The first element is taken by another procedure.
    (define-syntax fold3-ec
      (syntax-rules ()
        ((_ nil q ... e first f)
         (let ((any? #f) (acc #f))
           (do-ec q ... (if any?
                            (set! acc (f e acc))
                            (begin
                              (set! acc (first e))
                              (set! any? #t))))
           (if any? acc nil)))))
    (define-syntax list-ec
      (syntax-rules () ((_ q ... e) (reverse (fold-ec '() q ... e cons)))))
    (define-syntax append-ec
      (syntax-rules () ((_ q ... e) (apply append (list-ec q ... e)))))
    (define-syntax string-ec
      (syntax-rules () ((_ q ... e) (list->string (list-ec q ... e)))))
    (define-syntax string-append-ec
      (syntax-rules () ((_ q ... e) (apply string-append (list-ec q ... e)))))
    (define-syntax vector-ec
      (syntax-rules () ((_ q ... e) (list->vector (list-ec q ... e)))))
    (define-syntax vector-of-length-ec
      (syntax-rules ()
        ((_ k q ... e)
         (let* ((n k) (v (make-vector n)) (i 0))
           (do-ec q ... (begin
                          (if (= i n) (error "vector-of-length-ec: there are more elements than" n))
                          (vector-set! v i e)
                          (set! i (+ i 1))))
           (if (< i n) (error "vector-of-length-ec: there are fewer elements than" n))
           v))))
    (define-syntax sum-ec
      (syntax-rules () ((_ q ... e) (fold-ec 0 q ... e +))))
    (define-syntax product-ec
      (syntax-rules () ((_ q ... e) (fold-ec 1 q ... e *))))
    (define-syntax min-ec
      (syntax-rules () ((_ q ... e) (fold3-ec (error "min-ec: there are no elements") q ... e values min))))
    (define-syntax max-ec
      (syntax-rules () ((_ q ... e) (fold3-ec (error "max-ec: there are no elements") q ... e values max))))
    (define-syntax first-ec
      (syntax-rules ()
        ((_ default q ... e)
         (call/cc
          (lambda (return)
            (do-ec q ... (return e))
            default)))))
    (define-syntax last-ec
      (syntax-rules ()
        ((_ default q ... e)
         (let ((last default))
           (do-ec q ... (set! last e))
           last))))
    (define-syntax any?-ec
      (syntax-rules () ((_ q ... test) (first-ec #f q ... (if test) #t))))
    (define-syntax every?-ec
      (syntax-rules () ((_ q ... test) (first-ec #t q ... (if (not test)) #f))))))
