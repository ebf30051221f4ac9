;;; (cairn chez more): names of Chez Scheme that few programs use: functions of numbers, fields of 3, 5, 6 and 7 bytes,
;;; the older kind of tables, versions, and parameters that nothing depends on.
(define-library (cairn chez more)
  (export
   sinh cosh tanh asinh acosh atanh conjugate magnitude-squared fl-make-rectangular
   cfl-real-part cfl-imag-part cfl-conjugate cfl-magnitude-squared
   bytevector-u24-ref bytevector-s24-ref bytevector-u24-set! bytevector-s24-set!
   bytevector-u40-ref bytevector-s40-ref bytevector-u40-set! bytevector-s40-set!
   bytevector-u48-ref bytevector-s48-ref bytevector-u48-set! bytevector-s48-set!
   bytevector-u56-ref bytevector-s56-ref bytevector-u56-set! bytevector-s56-set!
   make-hash-table hash-table? get-hash-table put-hash-table! remove-hash-table! hash-table-map hash-table-for-each
   get-string-some port-closed? clear-input-port clear-output-port
   console-input-port console-output-port console-error-port
   enable-interrupts disable-interrupts lock-object unlock-object collect-rendezvous
   virtual-register set-virtual-register! virtual-register-count
   scheme-version scheme-version-number machine-type petite? interactive? system
   compile-imported-libraries generate-wpo-files generate-procedure-source-information undefined-variable-warnings
   enable-object-counts compile-interpret-simple run-cp0 collect-notify collect-trip-bytes collect-generation-radix
   debug-on-exception library-directories source-directories library-extensions waiter-prompt-string
   suppress-greeting custom-port-buffer-size file-buffer-size pretty-line-length pretty-one-line-limit
   pretty-initial-indent pretty-standard-indent pretty-maximum-lines print-unicode print-record)
  (import (scheme base) (scheme complex) (scheme inexact)
          (only (rnrs bytevectors) bytevector-uint-ref bytevector-sint-ref bytevector-uint-set! bytevector-sint-set!)
          (only (cairn process) start-process process-wait)
          (only (srfi 144) flsinh flcosh fltanh flasinh flacosh flatanh)
          (only (srfi 126) make-eq-hashtable hashtable? hashtable-ref hashtable-set! hashtable-delete!
                hashtable-map->lset hashtable-walk))
  (begin

    ;;;; Numbers

    ;; Of real numbers as exactly as flonums allow.
    (define-syntax define-hyperbolic
      (syntax-rules ()
        ((_ (name of-flonum real-if z formula) ...)
         (begin
           (define (name z) (if (and (real? z) real-if) (of-flonum (inexact z)) formula)) ...))))
    (define-hyperbolic
      (general-sinh flsinh #t z (/ (- (exp z) (exp (- z))) 2))
      (general-cosh flcosh #t z (/ (+ (exp z) (exp (- z))) 2))
      (general-tanh fltanh #t z (complex-tanh (real-part z) (imag-part z)))
      (general-asinh flasinh #t z (log (+ z (sqrt (+ (* z z) 1)))))
      (general-acosh flacosh (>= z 1) z (* 2 (log (+ (sqrt (/ (+ z 1) 2)) (sqrt (/ (- z 1) 2))))))
      (general-atanh flatanh (< -1 z 1) z
                     (if (and (real? z) (> z 1))
                         (conjugate (atanh-formula z))
                         (atanh-formula z))))
    (define (atanh-formula z) (/ (- (log (+ 1 z)) (log (- 1 z))) 2))
    (define (complex-tanh x y)
      (if (> (abs x) 20)
          (make-rectangular (if (> x 0) 1.0 -1.0) (* 2 (sin (* 2 y)) (exp (* -2 (abs x)))))
          (let ((below (+ (cosh (* 2 x)) (cos (* 2 y)))))
            (make-rectangular (/ (sinh (* 2 x)) below) (/ (sin (* 2 y)) below)))))
    ;; What is exact of an exact number is.
    (define (zero-or f zero) (lambda (z) (if (eqv? z 0) zero (f z))))
    (define sinh (zero-or general-sinh 0))
    (define cosh (zero-or general-cosh 1))
    (define tanh (zero-or general-tanh 0))
    (define asinh (zero-or general-asinh 0))
    (define (acosh z) (if (eqv? z 1) 0 (general-acosh z)))
    (define atanh (zero-or general-atanh 0))
    (define (conjugate z) (make-rectangular (real-part z) (- (imag-part z))))
    (define (magnitude-squared z) (+ (square (real-part z)) (square (imag-part z))))
    (define (fl-make-rectangular x y) (make-rectangular x y))
    (define (cfl-real-part z) (inexact (real-part z)))
    (define (cfl-imag-part z) (inexact (imag-part z)))
    (define (cfl-conjugate z) (conjugate z))
    (define (cfl-magnitude-squared z) (inexact (magnitude-squared z)))

    ;;;; Bytevectors

    (define-syntax define-fields
      (syntax-rules ()
        ((_ (size unsigned signed unsigned! signed!) ...)
         (begin
           (begin
             (define (unsigned b k order) (bytevector-uint-ref b k order size))
             (define (signed b k order) (bytevector-sint-ref b k order size))
             (define (unsigned! b k n order) (bytevector-uint-set! b k n order size))
             (define (signed! b k n order) (bytevector-sint-set! b k n order size)))
           ...))))
    (define-fields
      (3 bytevector-u24-ref bytevector-s24-ref bytevector-u24-set! bytevector-s24-set!)
      (5 bytevector-u40-ref bytevector-s40-ref bytevector-u40-set! bytevector-s40-set!)
      (6 bytevector-u48-ref bytevector-s48-ref bytevector-u48-set! bytevector-s48-set!)
      (7 bytevector-u56-ref bytevector-s56-ref bytevector-u56-set! bytevector-s56-set!))

    ;;;; Tables by eq?

    (define (make-hash-table . weak) (if (pair? weak) (make-eq-hashtable #f 'weak-key) (make-eq-hashtable)))
    (define (hash-table? x) (hashtable? x))
    (define (get-hash-table t key default) (hashtable-ref t key default))
    (define (put-hash-table! t key value) (hashtable-set! t key value))
    (define (remove-hash-table! t key) (hashtable-delete! t key))
    (define (hash-table-map t proc) (hashtable-map->lset t proc))
    (define (hash-table-for-each t proc) (hashtable-walk t proc))

    ;;;; Ports

    ;; At least one character, if there is one.
    (define (get-string-some port)
      (let ((c (read-char port)))
        (if (eof-object? c) c (string c))))
    (define (port-closed? port)
      (if (input-port? port) (not (input-port-open? port)) (not (output-port-open? port))))
    (define (clear-input-port . port) (if #f #f))
    (define (clear-output-port . port) (if #f #f))
    (define standard-input (current-input-port))
    (define standard-output (current-output-port))
    (define standard-error (current-error-port))
    (define console-input-port (make-parameter standard-input))
    (define console-output-port (make-parameter standard-output))
    (define console-error-port (make-parameter standard-error))

    ;;;; The system

    ;; Programs ask for the version to know what is there: that is what the version had to which these names belong.
    (define (scheme-version) "Chez Scheme Version 9.5.8")
    (define (scheme-version-number) (values 9 5 8))
    (define (machine-type) 'ta6le)
    (define (petite?) #f)
    (define (interactive?) #f)
    (define (system command)
      (flush-output-port)
      (process-wait (start-process (list "/bin/sh" "-c" command))))

    ;; Objects that are locked stay, and threads take turns, whatever a program says.
    (define (enable-interrupts) 0)
    (define (disable-interrupts) 1)
    (define (lock-object x) (if #f #f))
    (define (unlock-object x) (if #f #f))
    (define (collect-rendezvous) (if #f #f))

    ;; Registers for whatever a program likes; all threads have the same.
    (define registers (make-vector 16 0))
    (define (virtual-register-count) (vector-length registers))
    (define (virtual-register k) (vector-ref registers k))
    (define (set-virtual-register! k x) (vector-set! registers k x))

    (define-syntax define-parameters
      (syntax-rules ()
        ((_ (name value) ...) (begin (define name (make-parameter value)) ...))))
    (define-parameters
      (compile-imported-libraries #f) (generate-wpo-files #f) (generate-procedure-source-information #f)
      (undefined-variable-warnings #f) (enable-object-counts #f) (compile-interpret-simple #t)
      (run-cp0 (lambda (cp0 x) x)) (collect-notify #f) (collect-trip-bytes 8388608) (collect-generation-radix 4)
      (debug-on-exception #f) (library-directories '(("." . "."))) (source-directories '("."))
      (library-extensions '((".sls" . ".so"))) (waiter-prompt-string ">") (suppress-greeting #f)
      (custom-port-buffer-size 128) (file-buffer-size 4096) (pretty-line-length 75) (pretty-one-line-limit 60)
      (pretty-initial-indent 0) (pretty-standard-indent 1) (pretty-maximum-lines #f) (print-unicode #t)
      (print-record #t))))
