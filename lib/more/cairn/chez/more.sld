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
   pretty-initial-indent pretty-standard-indent pretty-maximum-lines print-unicode print-record
   print-vector-length print-precision print-char-name print-extended-identifiers case-sensitive subset-mode
   compile-profile compile-file-message commonization-level cp0-effort-limit cp0-score-limit cp0-outer-unroll-limit
   generate-allocation-counts generate-instruction-counts generate-interrupt-trap generate-covin-files
   heap-reserve-ratio release-minimum-generation collect-maximum-generation internal-defines-as-letrec*
   self-evaluating-vectors import-notify fasl-compressed compress-level compress-format
   require-nongenerative-clause expand-output expand/optimize-output eval-syntax-expanders-when
   char-name box-cas! vector-cas!)
  (import (scheme base) (scheme case-lambda) (scheme complex) (scheme inexact) (srfi 111)
          (only (cairn control) out-of-range wrong-type) (only (cairn scheduler) mask! unmask!)
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
      (print-record #t) (print-vector-length #f) (print-precision #f) (print-char-name #f)
      (print-extended-identifiers #f) (case-sensitive #t) (subset-mode #f) (compile-profile #f)
      (compile-file-message #t) (commonization-level 0) (cp0-effort-limit 200) (cp0-score-limit 20)
      (cp0-outer-unroll-limit 0) (generate-allocation-counts #f) (generate-instruction-counts #f)
      (generate-interrupt-trap #t) (generate-covin-files #f) (heap-reserve-ratio 1.0) (release-minimum-generation 4)
      (collect-maximum-generation 4) (internal-defines-as-letrec* #t) (self-evaluating-vectors #f)
      (import-notify #f) (fasl-compressed #t) (compress-level 'medium) (compress-format 'lz4)
      (require-nongenerative-clause #f) (expand-output #f) (expand/optimize-output #f)
      (eval-syntax-expanders-when '(compile load eval)))

    ;;;; Characters by their names

    (define char-names
      '((space . #\space) (newline . #\newline) (tab . #\tab) (nul . #\null) (alarm . #\alarm) (bel . #\alarm)
        (backspace . #\backspace) (linefeed . #\newline) (vtab . #\x0B) (page . #\x0C) (return . #\return)
        (esc . #\escape) (delete . #\delete) (rubout . #\delete) (nel . #\x85) (ls . #\x2028)))
    ;; The character of a name, the name of a character, or #f; or a new name.
    (define char-name
      (case-lambda
        ((x)
         (cond ((symbol? x) (cond ((assq x char-names) => cdr) (else #f)))
               ((char? x)
                (let loop ((l char-names))
                  (cond ((null? l) #f)
                        ((char=? x (cdr (car l))) (car (car l)))
                        (else (loop (cdr l))))))
               (else (wrong-type "char-name" "a character or a symbol" x))))
        ((name c)
         (if (not (symbol? name)) (wrong-type "char-name" "a symbol" name))
         (if (not (or (char? c) (not c))) (wrong-type "char-name" "a character or #f" c))
         (let ((others (let loop ((l char-names))
                         (cond ((null? l) '())
                               ((eq? name (car (car l))) (loop (cdr l)))
                               (else (cons (car l) (loop (cdr l))))))))
           (set! char-names (if c (cons (cons name c) others) others))))))

    ;;;; Changes that happen only if the old value is there

    ;; No other thread has its turn in between.
    (define-syntax replace-if
      (syntax-rules ()
        ((_ get old set)
         (begin
           (mask!)
           (let ((is? (eq? get old)))
             (if is? set)
             (unmask!)
             is?)))))
    (define (box-cas! b old new)
      (if (not (box? b)) (wrong-type "box-cas!" "a box" b))
      (replace-if (unbox b) old (set-box! b new)))
    (define (vector-cas! v i old new)
      (if (not (vector? v)) (wrong-type "vector-cas!" "a vector" v))
      (if (not (and (exact-integer? i) (< -1 i (vector-length v)))) (out-of-range "vector-cas!" "index out of range" i))
      (replace-if (vector-ref v i) old (vector-set! v i new)))))
