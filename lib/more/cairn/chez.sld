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
   caaar caadr cadar caddr cdaar cdadr cddar cdddr
   caaaar caaadr caadar caaddr cadaar cadadr caddar cadddr cdaaar cdaadr cdadar cdaddr cddaar cddadr cdddar cddddr
   call-with-input-file call-with-output-file delete-file file-exists? open-input-file open-output-file
   with-input-from-file with-output-to-file exit emergency-exit command-line get-environment-variable
   current-jiffy jiffies-per-second current-second eval environment interaction-environment scheme-environment
   load
   exact->inexact inexact->exact
   vector-fill!
   ;; records, structures and other definitions
   define-record-type fields mutable immutable parent protocol sealed opaque nongenerative parent-rtd
   record-type-descriptor record-constructor-descriptor make-record-type-descriptor record-type-descriptor?
   make-record-constructor-descriptor record-constructor record-predicate record-accessor record-mutator record?
   record-constructor-descriptor? make-record-type (rename record-type-descriptor type-descriptor)
   csv7:record-type-descriptor csv7:record-field-accessor csv7:record-field-mutator
   csv7:record-field-accessible? csv7:record-field-mutable? csv7:record-type-name csv7:record-type-symbol
   csv7:record-type-field-names csv7:record-type-field-decls
   record-rtd record-type-name record-type-parent record-type-uid record-type-generative? record-type-sealed?
   record-type-opaque? record-type-field-names record-field-mutable?
   define-enumeration make-enumeration enum-set? enum-set-universe enum-set-indexer enum-set-constructor enum-set->list
   enum-set-member? enum-set-subset? enum-set=? enum-set-union enum-set-intersection enum-set-difference
   enum-set-complement enum-set-projection
   syntax-case syntax quasisyntax unsyntax unsyntax-splicing with-syntax identifier-syntax identifier?
   bound-identifier=? free-identifier=? datum->syntax syntax->datum generate-temporaries make-variable-transformer
   syntax-violation syntax->list datum with-implicit meta
   define-structure define-record rec fluid-let fluid-let-syntax assert time
   record-case exclusive-cond alias module eval-when meta-cond
   critical-section with-interrupts-disabled
   trace untrace trace-define trace-lambda trace-case-lambda trace-let trace-do trace-output-port pariah
   ;; lists
   iota enumerate list-head last-pair cons* filter partition find memp assp remp remq remv remove remq! remv! remove!
   merge!
   list* subst substq substv subst! substq! substv! fold-left fold-right
   for-all exists (rename for-all andmap) (rename exists ormap) append! reverse! atom? list-sort sort sort! merge
   vector-sort vector-sort!
   ;; numbers
   1+ 1- -1+ add1 sub1 random random-seed integer-length nonnegative? nonpositive? bignum? ratnum? cflonum? expt-mod
   logbit? logtest logbit0 logbit1 bitwise-if bitwise-bit-field bitwise-copy-bit bitwise-copy-bit-field
   bitwise-first-bit-set bitwise-reverse-bit-field bitwise-rotate-bit-field
   div mod div-and-mod div0 mod0 div0-and-mod0 isqrt
   bitwise-and bitwise-ior bitwise-xor bitwise-not bitwise-arithmetic-shift bitwise-arithmetic-shift-left
   bitwise-arithmetic-shift-right bitwise-bit-count bitwise-length bitwise-bit-set?
   (rename bitwise-and logand) (rename bitwise-ior logor) (rename bitwise-ior logior)
   (rename bitwise-xor logxor) (rename bitwise-not lognot)
   (rename bitwise-arithmetic-shift ash)
   fixnum? flonum? greatest-fixnum least-fixnum most-positive-fixnum most-negative-fixnum fixnum-width
   fx+ fx- fx* fxquotient fxremainder fxmodulo (rename fxquotient fx/) fxdiv fxmod fxabs fx1+ fx1- fxmax fxmin
   fx=? fx<? fx>? fx<=? fx>=? fx= fx< fx> fx<= fx>=
   fxzero? fxpositive? fxnegative? fxodd? fxeven? fxnot fxand fxior fxxor
   (rename fxnot fxlognot) (rename fxand fxlogand) (rename fxior fxlogor) (rename fxior fxlogior)
   (rename fxxor fxlogxor)
   fxlogbit? fxlogtest fxlogbit0 fxlogbit1 fxsrl fxnonnegative? fxnonpositive? flnonnegative? flnonpositive?
   fxdiv-and-mod fxdiv0 fxmod0 fxdiv0-and-mod0 fxif fxbit-count fxlength fxfirst-bit-set fxbit-set? fxcopy-bit
   fxbit-field fxcopy-bit-field fxrotate-bit-field fxreverse-bit-field fx*/carry fx+/carry fx-/carry
   real->flonum flodd? fleven? flfinite? flinfinite? flnumerator fldenominator flexpt fldiv flmod fldiv-and-mod fldiv0
   flmod0 fldiv0-and-mod0 real-valued? rational-valued? integer-valued?
   make-fxvector fxvector fxvector? fxvector-length fxvector-ref fxvector-set! fxvector-fill! fxvector-copy
   fxvector->list list->fxvector
   fxarithmetic-shift fxarithmetic-shift-left fxarithmetic-shift-right (rename fxarithmetic-shift-left fxsll)
   (rename fxarithmetic-shift-right fxsra)
   fl+ fl- fl* fl/ fl=? fl<? fl>? fl<=? fl>=? fl= fl< fl> fl<= fl>= flabs flsqrt flexp
   fllog flsin flcos fltan flasin flacos flatan flfloor flceiling flround
   fltruncate flmax flmin flzero? flpositive? flnegative? flinteger? flnan? fixnum->flonum flonum->fixnum
   ;; symbols, strings, characters
   gensym gensym? gensym-prefix gensym->unique-string string->immutable-string immutable-string? mutable-string?
   property-list char- symbol<? string-copy! string-truncate! substring-fill!
   bytevector-copy! putprop getprop remprop
   string-titlecase string-normalize-nfc string-normalize-nfd string-normalize-nfkc string-normalize-nfkd
   char-titlecase char-title-case? char-general-category
   ;; bytevectors
   endianness native-endianness bytevector-fill! bytevector=? bytevector-s8-ref bytevector-s8-set!
   bytevector->u8-list u8-list->bytevector bytevector->s8-list s8-list->bytevector
   bytevector-uint-ref bytevector-sint-ref bytevector-uint-set! bytevector-sint-set! bytevector->uint-list
   bytevector->sint-list uint-list->bytevector sint-list->bytevector
   bytevector-u16-ref bytevector-s16-ref bytevector-u16-set! bytevector-s16-set! bytevector-u16-native-ref
   bytevector-s16-native-ref bytevector-u16-native-set! bytevector-s16-native-set!
   bytevector-u32-ref bytevector-s32-ref bytevector-u32-set! bytevector-s32-set! bytevector-u32-native-ref
   bytevector-s32-native-ref bytevector-u32-native-set! bytevector-s32-native-set!
   bytevector-u64-ref bytevector-s64-ref bytevector-u64-set! bytevector-s64-set! bytevector-u64-native-ref
   bytevector-s64-native-ref bytevector-u64-native-set! bytevector-s64-native-set!
   bytevector-ieee-single-ref bytevector-ieee-single-set! bytevector-ieee-single-native-ref
   bytevector-ieee-single-native-set! bytevector-ieee-double-ref bytevector-ieee-double-set!
   bytevector-ieee-double-native-ref bytevector-ieee-double-native-set!
   string->utf16 utf16->string string->utf32 utf32->string
   ;; tables
   make-weak-eq-hashtable make-weak-eqv-hashtable hashtable-weak? hashtable-mutable? hashtable-equivalence-function
   hashtable-hash-function string-ci-hash
   eq-hashtable? eq-hashtable-weak? eq-hashtable-ref eq-hashtable-set! eq-hashtable-contains? eq-hashtable-update!
   eq-hashtable-delete! symbol-hashtable? symbol-hashtable-ref symbol-hashtable-set! symbol-hashtable-contains?
   symbol-hashtable-update! symbol-hashtable-delete! hashtable-cell hashtable-cells eq-hashtable-cell
   symbol-hashtable-cell
   make-eq-hashtable make-eqv-hashtable make-hashtable hashtable? hashtable-ref hashtable-set! hashtable-delete!
   hashtable-contains? hashtable-size hashtable-keys hashtable-values hashtable-entries hashtable-update!
   hashtable-clear! hashtable-copy equal-hash string-hash symbol-hash
   ;; boxes
   box box? unbox set-box! box-cas! vector-cas!
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
   format printf fprintf fresh-line pretty-print get-line get-char get-string-all get-datum lookahead-char put-char
   put-string
   put-datum with-output-to-string with-input-from-string call-with-string-output-port open-string-output-port
   optimize-level debug-level collect-request-handler enable-cross-library-optimization
   generate-inspector-information print-gensym print-graph print-brackets print-length print-level
   print-radix record-writer gensym-count make-engine engine-block engine-return reset reset-handler
   break break-handler abort-handler
   base-exception-handler default-exception-handler process open-process-ports
   ;; time
   real-time cpu-time current-time make-time time? time-type time-second time-nanosecond time=? time<? time<=? time>?
   time>=? time-difference add-duration subtract-duration copy-time sleep
   current-date make-date date? date-nanosecond date-second date-minute date-hour date-day date-month date-year
   date-zone-offset date-week-day date-year-day date->time-utc time-utc->date date-and-time
   ;; files and the system
   port-eof? open-string-input-port open-bytevector-input-port open-bytevector-output-port
   call-with-bytevector-output-port get-string-n get-string-n! get-u8 lookahead-u8 get-bytevector-n
   get-bytevector-n! get-bytevector-some get-bytevector-all put-u8 put-bytevector file-options
   buffer-mode open-file-input-port open-file-output-port native-transcoder make-transcoder utf-8-codec
   latin-1-codec transcoded-port standard-input-port standard-output-port standard-error-port display-string
   current-directory cd directory-list file-directory? file-regular? file-symbolic-link? mkdir delete-directory
   rename-file path-absolute? path-extension path-first path-last path-parent path-rest path-root directory-separator
   directory-separator? getenv putenv command-line-arguments get-process-id
   file-port? port-file-descriptor file-length port-length (rename chez-port-name port-name)
   open-fd-input-port open-fd-output-port unread-char
   unget-char unget-u8 get-string-some! put-string-some get-bytevector-some!
   put-bytevector-some block-read block-write transcoder? current-transcoder fasl-write fasl-read
   &i/o i/o-error? &i/o-filename i/o-filename-error? i/o-error-filename i/o-file-does-not-exist-error?
   i/o-file-already-exists-error? i/o-read-error? i/o-write-error? i/o-error-port
   ;; threads
   fork-thread thread? threaded? get-thread-id make-mutex mutex? mutex-acquire mutex-release with-mutex make-condition
   condition-wait condition-signal condition-broadcast make-thread-parameter mutex-name condition-name
   thread-condition?
   ;; C, the collector
   load-shared-object foreign-procedure foreign-callable foreign-callable-entry-point foreign-alloc
   foreign-free foreign-ref foreign-set! foreign-sizeof collect make-guardian
   collections current-memory-bytes maximum-memory-bytes
   ;; the rest of R6RS
   eol-style native-eol-style error-handling-mode buffer-mode? output-port-buffer-mode utf-16-codec
   transcoder-codec transcoder-eol-style transcoder-error-handling-mode port-transcoder
   bytevector->string string->bytevector port? port-has-port-position? port-has-set-port-position!?
   port-position set-port-position! file-position open-file-input/output-port
   make-custom-binary-input-port make-custom-textual-input-port make-custom-binary-output-port
   make-custom-textual-output-port make-custom-binary-input/output-port make-custom-textual-input/output-port
   make-i/o-error &i/o-read make-i/o-read-error &i/o-write make-i/o-write-error
   &i/o-invalid-position make-i/o-invalid-position-error i/o-invalid-position-error? i/o-error-position
   make-i/o-filename-error &i/o-file-protection make-i/o-file-protection-error i/o-file-protection-error?
   &i/o-file-is-read-only make-i/o-file-is-read-only-error i/o-file-is-read-only-error?
   &i/o-file-already-exists make-i/o-file-already-exists-error
   &i/o-file-does-not-exist make-i/o-file-does-not-exist-error &i/o-port make-i/o-port-error i/o-port-error?
   &i/o-decoding make-i/o-decoding-error i/o-decoding-error?
   &i/o-encoding make-i/o-encoding-error i/o-encoding-error? i/o-encoding-error-char
   &no-infinities make-no-infinities-violation no-infinities-violation?
   &no-nans make-no-nans-violation no-nans-violation? null-environment scheme-report-environment
   ;; what few programs use
   set-time-type! set-time-second! set-time-nanosecond! time-difference! add-duration! subtract-duration!
   date-dst? date-zone-name file-access-time file-modification-time file-change-time chmod
   vector-set-fixnum! decode-float bytevector-truncate!
   top-level-value set-top-level-value! define-top-level-value top-level-bound? exit-handler
   &continuation make-continuation-condition continuation-condition? condition-continuation
   (rename char-ready? input-port-ready?)
   (rename eval interpret) (rename eval compile) (rename free-identifier=? literal-identifier=?)
   (rename datum->syntax datum->syntax-object) (rename syntax->datum syntax-object->datum) syntax->vector
   (rename define-syntax trace-define-syntax)
   warningf assertion-violationf &format make-format-condition format-condition? (rename box box-immutable)
   (rename make-weak-eq-hashtable make-ephemeron-eq-hashtable)
   (rename make-weak-eqv-hashtable make-ephemeron-eqv-hashtable)
   sinh cosh tanh asinh acosh atanh conjugate magnitude-squared fl-make-rectangular
   cfl+ cfl- cfl* cfl/ cfl= cfl-real-part cfl-imag-part cfl-conjugate cfl-magnitude-squared
   bytevector-u24-ref bytevector-s24-ref bytevector-u24-set! bytevector-s24-set!
   bytevector-u40-ref bytevector-s40-ref bytevector-u40-set! bytevector-s40-set!
   bytevector-u48-ref bytevector-s48-ref bytevector-u48-set! bytevector-s48-set!
   bytevector-u56-ref bytevector-s56-ref bytevector-u56-set! bytevector-s56-set!
   make-hash-table hash-table? get-hash-table put-hash-table! remove-hash-table! hash-table-map hash-table-for-each
   get-string-some port-closed? clear-input-port clear-output-port
   console-input-port console-output-port console-error-port
   enable-interrupts disable-interrupts lock-object unlock-object collect-rendezvous
   virtual-register set-virtual-register! virtual-register-count
   scheme-version scheme-version-number machine-type petite? interactive? abort system
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
   require-nongenerative-clause expand-output expand/optimize-output eval-syntax-expanders-when char-name)
  (import
   (rename (except (scheme base) case string-copy! bytevector bytevector-copy! utf8->string error let-syntax
                   letrec-syntax number->string get-output-string parameterize syntax-rules syntax-error)
           (define-record-type define-plain-record-type))
   (prefix (only (scheme base) string-copy! bytevector bytevector-copy!) r7-)
   (scheme case-lambda) (scheme lazy) (except (scheme write) write display) (scheme read) (scheme inexact)
   (scheme complex) (scheme char) (scheme cxr)
   (rename (scheme process-context) (exit r7-exit))
   (scheme time) (only (scheme eval) environment)
   (prefix (only (scheme eval) eval) r7-) (scheme repl) (scheme load)
   (only (scheme r5rs) exact->inexact inexact->exact null-environment scheme-report-environment)
   (only (cairn primitives) %take-output-string) (cairn chez print)
   (only (cairn syntax) fluid-let-syntax)
   (rename (only (cairn syntax) splicing-let-syntax splicing-letrec-syntax)
           (splicing-let-syntax let-syntax) (splicing-letrec-syntax letrec-syntax))
   (cairn syntax-case)
   (cairn chez control) (cairn chez macros) (cairn chez syntax) (cairn chez arithmetic) (cairn chez data)
   (cairn chez system) (cairn chez more) (cairn chez ports) (cairn chez records)
   (only (cairn weak) collect make-guardian)
   (only (rnrs base) div mod div-and-mod div0 mod0 div0-and-mod0 real-valued? rational-valued? integer-valued?)
   (only (rnrs unicode) string-titlecase string-normalize-nfc string-normalize-nfd string-normalize-nfkc
         string-normalize-nfkd char-titlecase char-title-case? char-general-category)
   (except (rnrs bytevectors) bytevector? make-bytevector bytevector-length bytevector-copy bytevector-copy!
           bytevector-u8-ref bytevector-u8-set! string->utf8)
   (only (rnrs arithmetic bitwise) bitwise-bit-count bitwise-if bitwise-bit-field bitwise-copy-bit
         bitwise-copy-bit-field
         bitwise-first-bit-set bitwise-reverse-bit-field bitwise-rotate-bit-field)
   (only (rnrs arithmetic fixnums) fx=? fx<? fx>? fx<=? fx>=? fxdiv fxmod fxdiv-and-mod fxdiv0 fxmod0
         fxdiv0-and-mod0 fxif fxbit-count fxlength
         fxfirst-bit-set fxbit-set? fxcopy-bit fxbit-field fxcopy-bit-field fxrotate-bit-field fxreverse-bit-field
         fx*/carry fx+/carry fx-/carry)
   (only (rnrs arithmetic flonums) real->flonum flodd? fleven? flfinite? flinfinite? flnumerator fldenominator flexpt
         flmod flmod0 fl=? fl<? fl>? fl<=? fl>=?)
   (only (rnrs io ports) port-eof? open-string-input-port open-bytevector-input-port open-bytevector-output-port
         call-with-bytevector-output-port get-string-n get-string-n! get-u8 lookahead-u8 get-bytevector-n
         get-bytevector-n! get-bytevector-some get-bytevector-all put-u8 put-bytevector file-options buffer-mode
         open-file-input-port open-file-output-port native-transcoder make-transcoder utf-8-codec latin-1-codec
         transcoded-port standard-input-port standard-output-port standard-error-port
         eol-style native-eol-style error-handling-mode buffer-mode? output-port-buffer-mode utf-16-codec
         transcoder-codec transcoder-eol-style transcoder-error-handling-mode port-transcoder
         bytevector->string string->bytevector port? port-has-port-position? port-has-set-port-position!?
         port-position set-port-position! open-file-input/output-port
         make-custom-binary-input-port make-custom-textual-input-port make-custom-binary-output-port
         make-custom-textual-output-port make-custom-binary-input/output-port make-custom-textual-input/output-port)
   (only (srfi 1) last-pair append! reverse!)
   (only (rnrs lists) cons* filter partition find remove remv remq remp memp assp for-all exists)
   (prefix (only (srfi 1) iota) srfi-)
   (srfi 111)
   (cairn rnrs conditions)
   (except (cairn rnrs records) record-constructor record?)
   (rnrs enums)
   (only (srfi 126) make-eq-hashtable make-eqv-hashtable make-hashtable hashtable? hashtable-ref hashtable-set!
         hashtable-delete! hashtable-contains? hashtable-size
         hashtable-update! hashtable-clear! hashtable-copy equal-hash string-hash symbol-hash string-ci-hash
         hashtable-mutable?
         hashtable-equivalence-function hashtable-hash-function)
   (except (srfi 143) fx+ fx- fx* fxquotient fx=? fx<? fx>? fx<=? fx>=? fx-width fx-greatest fx-least
           fxneg fxsquare fxsqrt fx+/carry fx-/carry fx*/carry fxbit-count
           fxlength fxif fxbit-set? fxcopy-bit fxfirst-set-bit fxbit-field fxbit-field-rotate fxbit-field-reverse)
   (prefix (only (srfi 143) fx-width fx-greatest fx-least) srfi-)
   (only (srfi 144) flonum? flinteger? flzero? flpositive? flnegative? flnan? fl+ fl* fl-
         fl/ flabs flfloor flceiling flround fltruncate flexp flsqrt flsin flcos fltan flasin flacos flatan)
   (only (rnrs arithmetic flonums) flmax flmin fllog fixnum->flonum)
   (rename (only (srfi 151) bitwise-and bitwise-ior bitwise-xor bitwise-not arithmetic-shift integer-length bit-set?)
           (arithmetic-shift bitwise-arithmetic-shift) (integer-length bitwise-length))
   (only (srfi 151) integer-length)
   (only (cairn list) fold-left fold-right)
   (rename (only (cairn sort) list-sort list-merge vector-sort vector-sort! sort sort!)
           (sort sort-sequence) (sort! sort-sequence!))
   (rename (only (cairn control) call/1cc condition? wrong-type &format make-format-part format-part? unhandled?)
           (condition? system-error?))
   (only (cairn port) with-input-from-string fresh-line) (only (cairn pretty) write-pretty)
   (cairn format)
   (only (cairn dialects) 1+ 1- -1+ add1 sub1 random list-head atom?
         fluid-let void get-line get-char get-string-all
         get-datum lookahead-char put-char put-string with-output-to-string
         call-with-string-output-port symbol<?))
  (begin

    ;;;; Definitions

    (define (syntax->list x) x)
    (define (syntax->vector x) x)
    (define-syntax datum
      (syntax-rules () ((_ template) (syntax->datum #'template))))
    (define-syntax with-implicit
      (syntax-rules ()
        ((_ (k id ...) body ...) (with-syntax ((id (datum->syntax #'k 'id)) ...) body ...))))
    ;; Every phase sees what is defined before it.
    (define-syntax meta
      (syntax-rules () ((_ definition ...) (definition ...))))

    ;; The program's own top level, which is an open one then.
    (define-syntax scheme-environment (identifier-syntax interaction-environment))
    ;; Without an environment: in that of the program, which is an open one then.
    (define-syntax eval
      (lambda (form)
        (syntax-case form ()
          ((_ x) #'(r7-eval x (interaction-environment)))
          ((_ x environment) #'(r7-eval x environment))
          (id
           (identifier? #'id)
           #'(case-lambda
               ((x) (r7-eval x (interaction-environment)))
               ((x environment) (r7-eval x environment)))))))

    ;; Variables by their names, in the environment of the program unless another is given.
    (define (value-in name environment) (r7-eval name environment))
    (define (set-in! name value environment) (r7-eval `(set! ,name ',(list value)) environment)
      (r7-eval `(set! ,name (car ,name)) environment))
    (define (define-in! name value environment)
      (r7-eval `(define ,name ',(list value)) environment)
      (r7-eval `(set! ,name (car ,name)) environment))
    (define (bound-in? name environment) (guard (e (#t #f)) (r7-eval name environment) #t))
    (define-syntax define-by-name
      (syntax-rules ()
        ((_ (name procedure argument ...) ...)
         (begin
           (define-syntax name
             (lambda (form)
               (syntax-case form ()
                 ((_ argument ...) #'(procedure argument ... (interaction-environment)))
                 ((_ argument ... environment) #'(procedure argument ... environment))
                 (id
                  (identifier? #'id)
                  #'(case-lambda
                      ((argument ...) (procedure argument ... (interaction-environment)))
                      ((argument ... environment) (procedure argument ... environment)))))))
           ...))))
    (define-by-name
      (top-level-value value-in s)
      (set-top-level-value! set-in! s x)
      (define-top-level-value define-in! s x)
      (top-level-bound? bound-in? s))

    (define exit-handler (make-parameter (lambda status (apply r7-exit status))))
    (define (exit . status) (apply (exit-handler) status))

    ;;;; Lists

    ;; A third argument is where to begin.
    (define (iota n . start+step) (apply srfi-iota n start+step))
    (define (enumerate l) (srfi-iota (length l)))
    (define (sort less? sequence) (sort-sequence sequence less?))
    (define (sort! less? sequence) (sort-sequence! sequence less?))
    (define (merge less? a b) (list-merge less? a b))

    ;;;; Numbers

    (define (isqrt n) (call-with-values (lambda () (exact-integer-sqrt n)) (lambda (root rest) root)))
    (define (bitwise-bit-set? n k) (bit-set? k n))
    (define (greatest-fixnum) srfi-fx-greatest)
    (define (least-fixnum) srfi-fx-least)
    (define (most-positive-fixnum) srfi-fx-greatest)
    (define (most-negative-fixnum) srfi-fx-least)
    (define (fixnum-width) srfi-fx-width)
    (define (fxmodulo a b)
      (if (and (fixnum? a) (fixnum? b))
          (modulo a b)
          (wrong-type "fxmodulo" "a fixnum" (if (fixnum? a) b a))))
    (define (fx1+ n) (fx+ n 1))
    (define (fx1- n) (fx- n 1))
    (define (flonum->fixnum x)
      (let ((n (and (flonum? x) (< -1e30 x 1e30) (exact (truncate x)))))
        (if (fixnum? n) n (wrong-type "flonum->fixnum" "a flonum whose integer part is a fixnum" x))))

    ;;;; Symbols, strings, bytevectors

    (define (string-copy! from start to at n)
      (r7-string-copy! to at from start (+ start n)))
    (define (bytevector-copy! from start to at n)
      (r7-bytevector-copy! to at from start (+ start n)))
    ;; Bytes may be given as signed ones.
    (define (byte n) (if (and (fixnum? n) (<= -128 n -1)) (+ n 256) n))
    (define (bytevector . bytes) (apply r7-bytevector (map byte bytes)))
    (define (string-truncate! s n) (substring s 0 n))
    (define (substring-fill! s start end c) (string-fill! s c start end))

    ;;;; Errors

    ;; That the message is a control string, and the irritants are its arguments.
    ;; Where they do not fit each other, both are shown as they are: an error is being reported.
    (define (make-format-condition)
      (make-format-part
       (lambda (control arguments)
         (guard (c (#t (format "~a~{ ~s~}" control arguments)))
           (apply format control arguments)))))
    (define (format-condition? x) (and (condition? x) (exists format-part? (simple-conditions x))))
    (define-condition-type &continuation &condition make-continuation-condition continuation-condition?
      (k condition-continuation))
    (define (said simple who message irritants . more)
      (apply condition simple
             (append more
                     (if who (list (make-who-condition who)) '())
                     (list (make-message-condition message) (make-irritants-condition irritants)))))
    (define (errorf who control . arguments)
      (raise (said (make-error) who control arguments (make-format-condition))))
    (define (assertion-violationf who control . arguments)
      (raise (said (make-assertion-violation) who control arguments (make-format-condition))))
    (define (warningf who control . arguments)
      (warn (said (make-warning) who control arguments (make-format-condition))))
    (define (warning who message . irritants)
      (warn (said (make-warning) who message irritants)))
    ;; A warning that nobody handles is shown, and the program goes on.
    (define (warn c)
      (if (unhandled?)
          (let ((port (current-error-port)))
            (display-condition c port)
            (newline port))
          (raise-continuable c)))
    ;; Errors of the system say everything in their message; of others the irritants are named.
    (define display-condition
      (case-lambda
        ((c) (display-condition c (current-output-port)))
        ((c port)
         (cond
           ((not (condition? c)) (fprintf port "Exception occurred with non-condition value ~s" c))
           (else
            (display (if (and (warning? c) (not (serious-condition? c))) "Warning" "Exception") port)
            (if (and (who-condition? c) (condition-who c)) (fprintf port " in ~a" (condition-who c)))
            (let ((irritants (if (irritants-condition? c) (condition-irritants c) '())))
              (if (message-condition? c)
                  (fprintf port ": ~a"
                           (if (format-condition? c)
                               (apply format (condition-message c) irritants)
                               (condition-message c))))
              (cond ((or (null? irritants) (format-condition? c)))
                    ((system-error? c) (fprintf port "~{ ~s~}" irritants))
                    ((null? (cdr irritants)) (fprintf port " with irritant ~s" (car irritants)))
                    (else (fprintf port " with irritants ~s" irritants)))))))))

    ;; Where Chez Scheme waits for commands, the program ends here, as it does there at the end of the input.
    (define break-handler
      (make-parameter
       (lambda who+message
         (let ((port (current-error-port)))
           (display "Break" port)
           (if (and (pair? who+message) (car who+message)) (fprintf port " in ~a" (car who+message)))
           (if (and (pair? who+message) (pair? (cdr who+message)))
               (fprintf port ": ~?" (cadr who+message) (cddr who+message)))
           (newline port)
           (reset)))
       (lambda (handler)
         (if (procedure? handler) handler (wrong-type "break-handler" "a procedure" handler)))))
    (define (break . who+message) (apply (break-handler) who+message))

    ;;;; Ports and time

    (define pretty-print
      (case-lambda
        ((x) (pretty-print x (current-output-port)))
        ((x port) (write-pretty (abbreviated x) port (pretty-line-length) write))))
    (define (put-datum port x) (write x port))

    ;; What was written since the last time.
    (define (get-output-string port) (%take-output-string port))
    ;; A port, and a procedure that returns what was written and begins anew.
    (define (open-string-output-port)
      (let ((port (open-output-string)))
        (values port (lambda () (%take-output-string port)))))

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
