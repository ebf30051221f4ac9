;;; (cairn chez): what programs for Chez Scheme take for granted: R7RS-small, and the names of Chez Scheme and R6RS for
;;; records, lists, numbers, tables, text and errors.  Where R7RS has another meaning for a name, Chez Scheme's counts:
;;; `error` takes who first, `sort` the predicate, `remove` an element, `string-copy!` the source.
(define-library (cairn chez)
  (export
   ;; R7RS
   * + - ... / < <= = => > >= _ abs and append apply assoc assq assv begin binary-port? boolean=? boolean? bytevector
   bytevector-append bytevector-copy bytevector-length bytevector-u8-ref bytevector-u8-set!
   bytevector? caar cadr call-with-current-continuation call-with-port call-with-values call/cc car case cdar cddr cdr
   ceiling char->integer char-ready? char<=? char<? char=? char>=? char>? char? close-input-port close-output-port
   close-port complex? cond cond-expand cons current-error-port current-input-port current-output-port define
   define-syntax define-values denominator do dynamic-wind else eof-object eof-object? eq? equal?
   eqv? error-object-irritants error-object-message error-object? even? exact exact-integer-sqrt exact-integer?
   exact? expt features file-error? floor floor-quotient floor-remainder floor/ flush-output-port for-each gcd
   get-output-bytevector get-output-string guard if include include-ci inexact inexact? input-port-open? input-port?
   integer->char integer? lambda lcm length let let* let*-values let-syntax let-values letrec letrec* letrec-syntax
   list list->string list->vector list-copy list-ref list-set! list-tail list? make-bytevector make-list
   make-parameter make-string make-vector map max member memq memv min modulo negative? newline not null?
   number->string number? numerator odd? open-input-bytevector open-input-string open-output-bytevector
   open-output-string or output-port-open? output-port? pair? parameterize peek-char peek-u8 positive? procedure?
   quasiquote quote quotient raise raise-continuable rational? rationalize read-bytevector read-bytevector! read-char
   read-error? read-line read-string read-u8 real? remainder reverse round set! set-car! set-cdr! square string
   string->list string->number string->symbol string->utf8 string->vector string-append string-copy
   string-fill! string-for-each string-length string-map string-ref string-set! string<=? string<? string=?
   string>=? string>? string? substring symbol->string symbol=? symbol? syntax-error syntax-rules textual-port?
   truncate truncate-quotient truncate-remainder truncate/ u8-ready? unless unquote unquote-splicing utf8->string
   values vector vector->list vector->string vector-append vector-copy vector-copy! vector-for-each
   vector-length vector-map vector-ref vector-set! vector? when with-exception-handler write-bytevector write-char
   write-string write-u8 zero?
   case-lambda delay delay-force force make-promise promise? display write write-shared write-simple read
   acos asin atan cos exp finite? infinite? log nan? sin sqrt tan
   angle imag-part magnitude make-polar make-rectangular real-part
   char-alphabetic? char-ci<=? char-ci<? char-ci=? char-ci>=? char-ci>? char-downcase char-foldcase
   char-lower-case? char-numeric? char-upcase char-upper-case? char-whitespace? digit-value string-ci<=?
   string-ci<? string-ci=? string-ci>=? string-ci>? string-downcase string-foldcase string-upcase
   caaar caadr cadar caddr cdaar cdadr cddar cdddr cadddr cddddr
   call-with-input-file call-with-output-file delete-file file-exists? open-input-file open-output-file
   with-input-from-file with-output-to-file exit emergency-exit command-line get-environment-variable
   current-jiffy jiffies-per-second current-second eval environment interaction-environment load
   exact->inexact inexact->exact
   vector-fill!
   ;; records, structures and other definitions
   define-record-type fields mutable immutable parent protocol sealed opaque nongenerative parent-rtd
   record-type-descriptor record-constructor-descriptor make-record-type-descriptor record-type-descriptor?
   make-record-constructor-descriptor record-constructor record-predicate record-accessor record-mutator record?
   record-rtd record-type-name record-type-parent record-type-uid record-type-generative? record-type-sealed?
   record-type-opaque? record-type-field-names record-field-mutable?
   define-enumeration make-enumeration enum-set-universe enum-set-indexer enum-set-constructor enum-set->list
   enum-set-member? enum-set-subset? enum-set=? enum-set-union enum-set-intersection enum-set-difference
   enum-set-complement enum-set-projection
   syntax-case syntax quasisyntax unsyntax unsyntax-splicing with-syntax identifier-syntax identifier?
   bound-identifier=? free-identifier=? datum->syntax syntax->datum generate-temporaries make-variable-transformer
   syntax-violation syntax->list datum with-implicit meta
   define-structure rec fluid-let assert time
   ;; lists
   iota enumerate list-head last-pair cons* filter partition find memp assp remp remq remv remove fold-left fold-right
   for-all exists (rename for-all andmap) (rename exists ormap) append! reverse! atom? list-sort sort sort! merge
   vector-sort vector-sort!
   ;; numbers
   1+ 1- add1 sub1 random div mod div-and-mod div0 mod0 div0-and-mod0 isqrt
   bitwise-and bitwise-ior bitwise-xor bitwise-not bitwise-arithmetic-shift bitwise-arithmetic-shift-left
   bitwise-arithmetic-shift-right bitwise-bit-count bitwise-length bitwise-bit-set?
   (rename bitwise-and logand) (rename bitwise-ior logor) (rename bitwise-xor logxor) (rename bitwise-not lognot)
   (rename bitwise-arithmetic-shift ash)
   fixnum? flonum? greatest-fixnum least-fixnum most-positive-fixnum most-negative-fixnum fixnum-width
   fx+ fx- fx* fxquotient fxremainder fxmodulo (rename fxquotient fx/) fxdiv fxmod fxabs fx1+ fx1- fxmax fxmin
   fx=? fx<? fx>? fx<=? fx>=? (rename fx=? fx=) (rename fx<? fx<) (rename fx>? fx>) (rename fx<=? fx<=)
   (rename fx>=? fx>=) fxzero? fxpositive? fxnegative? fxodd? fxeven? fxnot fxand fxior fxxor
   (rename fxnot fxlognot) (rename fxand fxlogand) (rename fxior fxlogor) (rename fxxor fxlogxor)
   fxarithmetic-shift fxarithmetic-shift-left fxarithmetic-shift-right (rename fxarithmetic-shift-left fxsll)
   (rename fxarithmetic-shift-right fxsra)
   fl+ fl- fl* fl/ fl=? fl<? fl>? fl<=? fl>=? (rename fl=? fl=) (rename fl<? fl<) (rename fl>? fl>) (rename fl<=? fl<=)
   (rename fl>=? fl>=) flabs flsqrt flexp fllog flsin flcos fltan flasin flacos flatan flfloor flceiling flround
   fltruncate flmax flmin flzero? flpositive? flnegative? flinteger? flnan? fixnum->flonum flonum->fixnum
   ;; symbols, strings, characters
   gensym symbol<? string-copy! string-truncate! substring-fill! bytevector-copy! putprop getprop remprop
   ;; tables
   make-eq-hashtable make-eqv-hashtable make-hashtable hashtable? hashtable-ref hashtable-set! hashtable-delete!
   hashtable-contains? hashtable-size hashtable-keys hashtable-values hashtable-entries hashtable-update!
   hashtable-clear! hashtable-copy equal-hash string-hash symbol-hash
   ;; boxes
   box box? unbox set-box!
   ;; control and errors
   void call/1cc error errorf warning assertion-violation display-condition
   condition simple-conditions condition? condition-predicate condition-accessor define-condition-type
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
   ;; text ports
   format printf fprintf fresh-line pretty-print get-line get-char get-string-all get-datum lookahead-char put-char put-string
   put-datum with-output-to-string with-input-from-string call-with-string-output-port open-string-output-port
   ;; time
   real-time cpu-time current-time time-second time-nanosecond)
  (import
   (rename (except (scheme base) string-copy! bytevector-copy! error let-syntax letrec-syntax)
           (define-record-type define-plain-record-type))
   (prefix (only (scheme base) string-copy! bytevector-copy!) r7-)
   (scheme case-lambda) (scheme lazy) (scheme write) (scheme read) (scheme inexact) (scheme complex) (scheme char)
   (scheme cxr) (scheme file) (scheme process-context) (scheme time) (scheme eval) (scheme repl) (scheme load)
   (only (scheme r5rs) exact->inexact inexact->exact)
   (rename (only (cairn syntax) splicing-let-syntax splicing-letrec-syntax)
           (splicing-let-syntax let-syntax) (splicing-letrec-syntax letrec-syntax))
   (cairn syntax-case)
   (only (rnrs base) div mod div-and-mod div0 mod0 div0-and-mod0)
   (only (srfi 1) last-pair cons* filter partition find append! reverse!)
   (prefix (only (srfi 1) iota remove) srfi-)
   (srfi 111)
   (cairn rnrs conditions)
   (cairn rnrs records)
   (rnrs enums)
   (only (srfi 126) make-eq-hashtable make-eqv-hashtable make-hashtable hashtable? hashtable-ref hashtable-set!
         hashtable-delete! hashtable-contains? hashtable-size hashtable-keys hashtable-values hashtable-entries
         hashtable-update! hashtable-clear! hashtable-copy equal-hash string-hash symbol-hash)
   (except (srfi 143) fx-width fx-greatest fx-least fxneg fxsquare fxsqrt fx+/carry fx-/carry fx*/carry fxbit-count
           fxlength fxif fxbit-set? fxcopy-bit fxfirst-set-bit fxbit-field fxbit-field-rotate fxbit-field-reverse)
   (prefix (only (srfi 143) fx-width fx-greatest fx-least) srfi-)
   (only (srfi 144) flonum? fl=? fl<? fl>? fl<=? fl>=? flinteger? flzero? flpositive? flnegative? flnan? flmax flmin fl+
         fl* fl- fl/ flabs flfloor flceiling flround fltruncate flexp fllog flsqrt flsin flcos fltan flasin flacos
         flatan)
   (rename (only (srfi 151) bitwise-and bitwise-ior bitwise-xor bitwise-not arithmetic-shift bit-count integer-length
                 bit-set?)
           (arithmetic-shift bitwise-arithmetic-shift) (bit-count bitwise-bit-count) (integer-length bitwise-length))
   (only (cairn list) fold-left fold-right)
   (rename (only (cairn sort) list-sort list-merge vector-sort vector-sort! sort sort!)
           (sort sort-sequence) (sort! sort-sequence!))
   (only (cairn control) call/1cc condition->string)
   (only (cairn port) with-input-from-string fresh-line)
   (cairn format)
   (rename (only (cairn dialects) 1+ 1- add1 sub1 random list-head for-all exists remp atom?
                 fluid-let gensym void pretty-print get-line get-char get-string-all
                 get-datum lookahead-char put-char put-string put-datum with-output-to-string
                 call-with-string-output-port real-time symbol<? define-structure)
           (define-structure define-mit-structure)))
  (begin

    ;;;; Definitions

    (define-syntax define-structure
      (syntax-rules ()
        ((_ (name field ...)) (define-mit-structure name field ...))))

    (define (syntax->list x) x)
    (define-syntax datum
      (syntax-rules () ((_ template) (syntax->datum #'template))))
    (define-syntax with-implicit
      (syntax-rules ()
        ((_ (k id ...) body ...) (with-syntax ((id (datum->syntax #'k 'id)) ...) body ...))))
    ;; Every phase sees what is defined before it.
    (define-syntax meta
      (syntax-rules () ((_ definition ...) (definition ...))))

    (define-syntax rec
      (syntax-rules ()
        ((_ name value) (letrec ((name value)) name))))

    ;;;; Lists

    ;; A third argument is where to begin.
    (define (iota n . start+step) (apply srfi-iota n start+step))
    (define (enumerate l) (srfi-iota (length l)))
    (define (memp accept? l)
      (let loop ((l l))
        (cond ((null? l) #f) ((accept? (car l)) l) (else (loop (cdr l))))))
    (define (assp accept? l)
      (find (lambda (entry) (accept? (car entry))) l))
    (define (remover same?)
      (lambda (x l) (srfi-remove (lambda (y) (same? x y)) l)))
    (define remq (remover eq?))
    (define remv (remover eqv?))
    (define remove (remover equal?))
    (define (sort less? sequence) (sort-sequence sequence less?))
    (define (sort! less? sequence) (sort-sequence! sequence less?))
    (define (merge less? a b) (list-merge less? a b))

    ;;;; Numbers

    (define (isqrt n) (call-with-values (lambda () (exact-integer-sqrt n)) (lambda (root rest) root)))
    (define (bitwise-arithmetic-shift-left n k) (bitwise-arithmetic-shift n k))
    (define (bitwise-arithmetic-shift-right n k) (bitwise-arithmetic-shift n (- k)))
    (define (bitwise-bit-set? n k) (bit-set? k n))
    (define (greatest-fixnum) srfi-fx-greatest)
    (define (least-fixnum) srfi-fx-least)
    (define (most-positive-fixnum) srfi-fx-greatest)
    (define (most-negative-fixnum) srfi-fx-least)
    (define (fixnum-width) srfi-fx-width)
    (define (fxmodulo a b) (modulo a b))
    (define (fxdiv a b) (div a b))
    (define (fxmod a b) (mod a b))
    (define (fx1+ n) (fx+ n 1))
    (define (fx1- n) (fx- n 1))
    (define (fixnum->flonum n) (inexact n))
    (define (flonum->fixnum x) (exact (truncate x)))

    ;;;; Symbols, strings, bytevectors

    (define (string-copy! from start to at n)
      (r7-string-copy! to at from start (+ start n)))
    (define (bytevector-copy! from start to at n)
      (r7-bytevector-copy! to at from start (+ start n)))
    (define (string-truncate! s n) (substring s 0 n))
    (define (substring-fill! s start end c) (string-fill! s c start end))

    (define properties (make-eq-hashtable))
    (define (putprop symbol key value)
      (let ((entry (assq key (hashtable-ref properties symbol '()))))
        (if entry
            (set-cdr! entry value)
            (hashtable-set! properties symbol (cons (cons key value) (hashtable-ref properties symbol '()))))))
    (define (getprop symbol key . default)
      (let ((entry (assq key (hashtable-ref properties symbol '()))))
        (cond (entry (cdr entry)) ((pair? default) (car default)) (else #f))))
    (define (remprop symbol key)
      (hashtable-set! properties symbol
                      (srfi-remove (lambda (entry) (eq? (car entry) key)) (hashtable-ref properties symbol '()))))

    ;;;; Errors

    (define (errorf who control . arguments)
      (error who (apply format control arguments)))
    (define (warning who message . irritants)
      (let ((port (current-error-port)))
        (display "Warning" port)
        (if who
            (begin
              (display " in " port)
              (display who port)))
        (display ": " port)
        (display message port)
        (for-each
          (lambda (x)
            (write-char #\space port)
            (write x port))
          irritants)
        (newline port)))
    (define display-condition
      (case-lambda
        ((c) (display-condition c (current-output-port)))
        ((c port) (display (condition->string c) port))))

    ;;;; Ports and time

    ;; A port, and a procedure that returns what was written and begins anew.
    (define (open-string-output-port)
      (let ((port (open-output-string)) (seen 0))
        (values port
                (lambda ()
                  (let* ((text (get-output-string port)) (new (substring text seen (string-length text))))
                    (set! seen (string-length text))
                    new)))))

    (define (cpu-time)
      (quotient (* 1000 (current-jiffy)) (jiffies-per-second)))
    (define-plain-record-type <time>
      (make-time nanoseconds)
      time?
      (nanoseconds time-nanoseconds))
    ;; The time of day, or what has gone by of a clock that only goes forward.
    (define (current-time . kind)
      (make-time
       (exact (floor (if (and (pair? kind) (not (eq? (car kind) 'time-utc)))
                         (/ (* (current-jiffy) 1000000000) (jiffies-per-second))
                         (* 1000000000 (exact (current-second))))))))
    (define (time-second t) (quotient (time-nanoseconds t) 1000000000))
    (define (time-nanosecond t) (remainder (time-nanoseconds t) 1000000000))

    ;; The value of the expression; how long it took is written to the standard output.
    (define-syntax time
      (syntax-rules ()
        ((_ expression)
         (let ((start (current-jiffy)))
           (call-with-values (lambda () expression)
             (lambda results
               (printf "(time ~s)~%    ~s ms elapsed~%" 'expression
                       (quotient (* 1000 (- (current-jiffy) start)) (jiffies-per-second)))
               (apply values results)))))))))
