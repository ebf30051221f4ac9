;;; (srfi 230): places in memory that several threads read and write, each operation as one.
;;;
;;; Threads take turns, so an operation is one if no turn ends in it: it runs masked (see (cairn scheduler)). All orders
;;; of memory are sequentially consistent then. What may be wrong is found out before.
(define-library (srfi 230)
  (export
   memory-order memory-order?
   make-atomic-flag atomic-flag? atomic-flag-test-and-set! atomic-flag-clear!
   make-atomic-box atomic-box? atomic-box-ref atomic-box-set! atomic-box-swap! atomic-box-compare-and-swap!
   make-atomic-fxbox atomic-fxbox? atomic-fxbox-ref atomic-fxbox-set! atomic-fxbox-swap!
   atomic-fxbox-compare-and-swap! atomic-fxbox+/fetch! atomic-fxbox-/fetch! atomic-fxbox-and/fetch!
   atomic-fxbox-ior/fetch! atomic-fxbox-xor/fetch!
   make-atomic-pair atomic-pair? atomic-pair-ref atomic-pair-set! atomic-pair-swap! atomic-pair-compare-and-swap!
   atomic-fence)
  (import (scheme base) (scheme case-lambda) (srfi 143) (only (srfi 151) bitwise-and bitwise-ior bitwise-xor)
          (only (cairn control) wrong-type) (only (cairn scheduler) mask! unmask!))
  (begin

    (define orders '(relaxed acquire release acquire-release sequentially-consistent))
    (define (memory-order? x)
      (and (memq x orders) #t))
    (define-syntax memory-order
      (syntax-rules (relaxed acquire release acquire-release sequentially-consistent)
        ((_ relaxed) 'relaxed)
        ((_ acquire) 'acquire)
        ((_ release) 'release)
        ((_ acquire-release) 'acquire-release)
        ((_ sequentially-consistent) 'sequentially-consistent)
        ((_ other) (syntax-error "memory-order: no such order:" other))))

    (define-record-type atomic-flag (new-flag set) atomic-flag? (set flag-set set-flag!))
    (define-record-type atomic-box (make-atomic-box content) atomic-box? (content box-content set-box!))
    (define-record-type atomic-fxbox (new-fxbox content) atomic-fxbox? (content fxbox-content set-fxbox!))
    (define-record-type atomic-pair
      (make-atomic-pair car cdr)
      atomic-pair?
      (car pair-car set-pair-car!)
      (cdr pair-cdr set-pair-cdr!))

    (define (make-atomic-flag) (new-flag #f))
    (define (make-atomic-fxbox n)
      (new-fxbox (check-fixnum "make-atomic-fxbox" n)))

    (define (check-fixnum who n)
      (if (fixnum? n) n (wrong-type who "a fixnum" n)))
    (define (check-order who x)
      (if (not (memory-order? x)) (wrong-type who "a memory order" x)))

    ;; (define-atomic (name object argument ...) type? "a type" (check argument) old next ...): with and without an
    ;; order of memory. The value, or the values, of `old` come out; then the expressions of `next` are evaluated.
    (define-syntax define-atomic
      (syntax-rules ()
        ((_ (name object x ...) type? type (checked ...) (result old) ... next)
         (define name
           (case-lambda
             ((object x ...)
              (if (not (type? object)) (wrong-type (symbol->string 'name) type object))
              (check-fixnum (symbol->string 'name) checked)
              ...
              (mask!)
              (let* ((result old) ...)
                next
                (unmask!)
                (values result ...)))
             ((object x ... order)
              (check-order (symbol->string 'name) order)
              (name object x ...)))))))

    (define-atomic (atomic-flag-test-and-set! flag) atomic-flag? "an atomic flag" ()
      (old (flag-set flag))
      (set-flag! flag #t))
    (define-atomic (atomic-flag-clear! flag) atomic-flag? "an atomic flag" ()
      (set-flag! flag #f))

    (define-atomic (atomic-box-ref box) atomic-box? "an atomic box" ()
      (old (box-content box))
      #f)
    (define-atomic (atomic-box-set! box x) atomic-box? "an atomic box" ()
      (set-box! box x))
    (define-atomic (atomic-box-swap! box x) atomic-box? "an atomic box" ()
      (old (box-content box))
      (set-box! box x))
    (define-atomic (atomic-box-compare-and-swap! box expected desired) atomic-box? "an atomic box" ()
      (old (box-content box))
      (if (eq? old expected) (set-box! box desired)))

    (define-atomic (atomic-fxbox-ref box) atomic-fxbox? "an atomic fixnum box" ()
      (old (fxbox-content box))
      #f)
    (define-atomic (atomic-fxbox-set! box n) atomic-fxbox? "an atomic fixnum box" (n)
      (set-fxbox! box n))
    (define-atomic (atomic-fxbox-swap! box n) atomic-fxbox? "an atomic fixnum box" (n)
      (old (fxbox-content box))
      (set-fxbox! box n))
    (define-atomic (atomic-fxbox-compare-and-swap! box expected desired) atomic-fxbox? "an atomic fixnum box"
      (expected desired)
      (old (fxbox-content box))
      (if (eq? old expected) (set-fxbox! box desired)))

    ;; Sums wrap around, as in two's complement.
    (define (wrapped n)
      (if (fixnum? n)
          n
          (let ((n (bitwise-and n (- (* -2 fx-least) 1))))
            (if (fixnum? n) n (+ n fx-least fx-least)))))
    (define-syntax define-fetch
      (syntax-rules ()
        ((_ name op)
         (define-atomic (name box n) atomic-fxbox? "an atomic fixnum box" (n)
           (old (fxbox-content box))
           (set-fxbox! box (wrapped (op old n)))))))
    (define-fetch atomic-fxbox+/fetch! +)
    (define-fetch atomic-fxbox-/fetch! -)
    (define-fetch atomic-fxbox-and/fetch! bitwise-and)
    (define-fetch atomic-fxbox-ior/fetch! bitwise-ior)
    (define-fetch atomic-fxbox-xor/fetch! bitwise-xor)

    (define-atomic (atomic-pair-ref pair) atomic-pair? "an atomic pair" ()
      (a (pair-car pair))
      (b (pair-cdr pair))
      #f)
    (define-atomic (atomic-pair-set! pair x y) atomic-pair? "an atomic pair" ()
      (begin (set-pair-car! pair x) (set-pair-cdr! pair y)))
    (define-atomic (atomic-pair-swap! pair x y) atomic-pair? "an atomic pair" ()
      (a (pair-car pair))
      (b (pair-cdr pair))
      (begin (set-pair-car! pair x) (set-pair-cdr! pair y)))
    (define-atomic (atomic-pair-compare-and-swap! pair expected-car expected-cdr x y) atomic-pair? "an atomic pair" ()
      (a (pair-car pair))
      (b (pair-cdr pair))
      (if (and (eq? a expected-car) (eq? b expected-cdr))
          (begin (set-pair-car! pair x) (set-pair-cdr! pair y))))

    (define atomic-fence
      (case-lambda
        (() (if #f #f))
        ((order) (check-order "atomic-fence" order))))))
