;;; (cairn c): C functions as procedures, procedures as C functions, memory of C; see docs/c.md.
;;;
;;; Problem.  C knows addresses and words; what they mean is in no object file.  C code may call Scheme procedures,
;;; which may raise, capture continuations and let other threads run.
;;;
;;; Idea.  The expander turns types into numbers (crates/cairn-syntax/src/expand/c.rs), and the runtime converts by them
;;; (crates/cairn-rt/src/c/).  A call that calls back comes back as a *request*, an opaque object of a fiber, the number
;;; of a callback and its arguments; the procedure is called here, as any other, and the fiber resumed.
;;;
;;; Invariant.  Each request is answered once: what would leave it by a continuation becomes an error, which is raised
;;; when the call of C has returned.
(define-library (cairn c)
  (export c-procedure define-c-procedures c-callback c-export c-source define-c-library define-c-struct
          c-library c-library? c-errno c-error-text
          pointer? null-pointer pointer=? pointer-address address->pointer pointer+ free-callback!
          c-malloc c-free c-sizeof c-ref c-set! c-string string->pointer pointer->bytevector pointer-copy!
          ;; for the expander, and for the macros here
          c-function c-function-address c-direct-address c-apply c-apply-blocking make-c-callback make-c-export c-serve
          make-c-struct make-c-layout c-struct-maker c-struct-getter c-struct-setter
          c-bits-getter c-bits-setter)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control) (cairn number) (cairn list)
          (only (cairn port) flush-output-port) (only (cairn scheduler) wait-for-file!))
  (begin

    ;;;; Pointers

    (define-record-type pointer (make-pointer address) pointer? ((address u64) address-of))
    (unsendable! pointer)

    (define null-pointer #f)

    (define (check-pointer who x)
      (if (if x (pointer? x) #t) x (wrong-type who "a pointer or #f" x)))

    (define (pointer-address p)
      (%c-address (check-pointer "pointer-address" p) pointer))

    (define (address->pointer n)
      (let ((p (%c-pointer n pointer)))
        (if (%null? p) (wrong-type "address->pointer" "an address" n) p)))

    (define (pointer=? p q)
      (%num-eq (%c-address (check-pointer "pointer=?" p) pointer) (%c-address (check-pointer "pointer=?" q) pointer)))

    (define (pointer+ p n)
      (if (pointer? p)
          (if (%fixnum? n)
              (address->pointer (+ (%c-address p pointer) n))
              (wrong-type "pointer+" "an offset" n))
          (wrong-type "pointer+" "a pointer" p)))

    ;;;; Libraries

    (define-syntax define-c-procedures
      (syntax-rules ()
        ((_ library (name result c-name types) ...)
         (begin (define name (c-procedure result c-name types library)) ...))))

    (define-record-type <c-library> (make-library name handle) c-library? (name library-name) (handle library-handle))
    (unsendable! <c-library>)
    (show-fields! <c-library> '(name))

    (define (check-string who x)
      (if (%string? x) x (wrong-type who "a string" x)))

    ;; The first of the libraries of these names that can be loaded.
    (define (c-library name . others)
      (let loop ((names (%cons name others)))
        (let* ((name (check-string "c-library" (%car names))) (handle (%c-open name)))
          (cond
            ((%not (%string? handle)) (make-library name handle))
            ((%pair? (%cdr names)) (loop (%cdr names)))
            (else (raise-file-error "c-library" (%string-append "cannot load the library: " handle) '()))))))

    ;; The program itself with what it is linked with, and C's library of mathematics, which it may not be.
    (define (own-libraries)
      (%cons (%c-open #f) (%cons (%c-open "libm.so.6") '())))

    (define (symbol-in handles name)
      (if (%pair? handles)
          (or (if (%string? (%car handles)) #f (%c-symbol (%car handles) name))
              (symbol-in (%cdr handles) name))
          #f))

    (define (handles libraries)
      (if (%pair? libraries)
          (%cons (library-handle (%car libraries)) (handles (%cdr libraries)))
          '()))

    ;;;; Functions

    ;; A function is a vector; see cairn_rt::c::c_calls::function.
    ;; `structs`: for each type a structure or #f; or #f, if there is none among them.
    (define (c-function name library types names structs)
      (let ((shapes (if structs (shapes-of structs) #f))
            (address
             (cond
               ((c-library? library) (%c-symbol (library-handle library) name))
               ((pointer? library) (%c-address library pointer))
               ((%pair? library) (symbol-in (handles library) name))
               (library (wrong-type "c-procedure" "a C library" library))
               (else (symbol-in (own-libraries) name)))))
        (if address
            (%vector address name types names pointer shapes)
            (raise-condition (kind-other) "c-procedure"
                             (%string-concat
                              (%cons "there is no function "
                                     (%cons name (%cons (if library " in" " in the program and C's own library") '()))))
                             (if library (%cons library '()) '())
                             (no-site)))))

    (define (c-function-address f) (%vector-ref f 0))

    ;; The address, if structures travel as compiled code believes, else #f: it may have seen others of their names.
    (define (c-direct-address f shapes)
      (if (same-shapes? shapes (%vector-ref f 5)) (%vector-ref f 0) #f))

    (define (same-shapes? shapes actual)
      (let loop ((i 0))
        (cond
          ((%fx= i (%vector-length shapes)) #t)
          ((%eq? (%vector-ref shapes i) (%vector-ref actual i)) (loop (%fx+ i 1)))
          (else #f))))

    (define (c-apply f arguments)
      (invoke f arguments))

    ;; This does not leave the library, so that errors name the C function.
    (define (invoke f arguments)
      (served arguments (%c-invoke f arguments)))

    ;; Another OS thread makes the call; this thread waits for it, and the others go on.
    (define (c-apply-blocking f arguments)
      (wait-for-call f arguments))
    (define (wait-for-call f arguments)
      (let ((job (%c-begin f arguments)))
        (let loop ()
          (wait-for-file! job 1)
          (let ((done (%c-end job arguments pointer)))
            (if done (%vector-ref done 0) (loop))))))

    (define (c-errno) (%c-errno))

    (define c-error-text
      (case-lambda
        (() (%c-error-text (%c-errno)))
        ((n) (if (%fixnum? n) (%c-error-text n) (wrong-type "c-error-text" "an error number" n)))))

    ;;;; Callbacks

    ;; By number: #(procedure name-of-the-result-type), or #f.
    (define callbacks (%make-vector 16 #f))

    ;; The vector, or a larger one, which has a place n.
    (define (with-room v n)
      (if (%fx<= (%vector-length v) n)
          (let ((larger (%make-vector (%fx* 2 n) #f)))
            (%vector-copy! larger 0 v 0 (%vector-length v))
            larger)
          v))

    ;; `structs` is as for c-function.
    (define (make-c-callback types names structs procedure)
      (check-procedure "c-callback" procedure)
      (let* ((made (%c-callback types (if structs (shapes-of structs) #f) pointer)) (n (%car made)))
        (set! callbacks (with-room callbacks n))
        (%vector-set! callbacks n (%vector procedure (%vector-ref names 0)))
        (%cdr made)))

    ;; C must not call it any more; if it does, it gets 0.
    (define (free-callback! p)
      (let ((n (if (pointer? p) (%c-callback-free p pointer) #f)))
        (if n
            (%vector-set! callbacks n #f)
            (wrong-type "free-callback!" "a callback" p))))

    ;; The result of a call of C, of which `r` is the result or the first request.  `failure`: what was raised in a
    ;; callback, in a vector; from then on callbacks answer 0 without asking.
    (define (served arguments r)
      (if (%opaque? r)
          (let loop ((r r) (failure #f))
            (if (%opaque? r)
                (let ((failure (or (raised-by r) failure)))
                  (loop (%c-resume (%opaque-ref r 0) (if failure #t #f) arguments pointer) failure))
                (if failure (raise (%vector-ref failure 0)) r)))
          r))

    ;; Calls the procedure that is asked for, and gives its result to C.  #f, or a vector of what was raised in a
    ;; callback; the errors of an exported procedure are C's.
    (define (raised-by request)
      (let ((callback (procedure-of request)) (exported? (%fx< (%opaque-ref request 1) 0)))
        (if callback
            (%call/1cc
             (lambda (k)
               (let ((leaving #f) (entered #f))
                 (with-exception-handler
                  (lambda (x)
                    (set! leaving #t)
                    (if exported? (refuse! request x))
                    (k (if exported? #f (%vector x))))
                  (lambda ()
                    (dynamic-wind
                     ;; Whoever comes back here later hears that the call is over.
                     (lambda ()
                       (if entered (k #f))
                       (set! entered #t))
                     (lambda ()
                       (let ((x (%apply (%vector-ref callback 0) (%vector->list* (%opaque-ref request 2)))))
                         (%c-answer request x (%vector-ref callback 1) pointer)
                         (set! leaving #t)))
                     (lambda ()
                       (if (%not (if leaving #t (%exiting?)))
                           (raise-condition (kind-other) "c-callback" left '() (no-site)))))
                    #f)))))
            #f)))

    (define left "a continuation leaves a callback: the call of C would never return")

    ;;;; Scheme from C

    ;; By number, as callbacks are.
    (define exports (%make-vector 16 #f))

    ;; `structs` is as for c-function; `expected`: how they travel as C has been told.  `functions`: for each type #f,
    ;; or what makes a procedure of C's pointer; or #f, if there is none among them.
    (define (make-c-export n name types names structs expected functions procedure)
      (check-procedure "c-export" procedure)
      (let ((shapes (if structs (shapes-of structs) #f)))
        (if (%not (if shapes (same-shapes? expected shapes) #t))
            (raise-condition (kind-other) "c-export"
                             (%string-append name ": the structures are others than those that the header declares")
                             '() (no-site)))
        (%c-export n name types shapes)
        (set! exports (with-room exports n))
        (%vector-set! exports n (%vector (if functions (with-procedures procedure functions) procedure)
                                         (%vector-ref names 0)))))

    ;; The procedure, which gets procedures for pointers to functions.
    (define (with-procedures procedure functions)
      (lambda arguments
        (%apply procedure
                (let loop ((i 1) (arguments arguments))
                  (if (%pair? arguments)
                      (let ((x (%car arguments)) (make (%vector-ref functions i)))
                        (%cons (if make (if x (make x) #f) x) (loop (%fx+ i 1) (%cdr arguments))))
                      '())))))

    ;; What a request is for: a callback, or an exported procedure.
    (define (procedure-of request)
      (let ((n (%opaque-ref request 1)))
        (if (%fx< n 0)
            (%vector-ref exports (%fx- -1 n))
            (%vector-ref callbacks n))))

    ;; Calls what C asks for, until the library is closed.
    (define (c-serve)
      (flush-quietly)
      (let loop ()
        (let ((request (%c-await pointer)))
          (if request
              (begin
                (serve request)
                (loop))))))

    ;; A continuation may leave the procedure for good, or go on with an earlier call's: `%c-await` sees to it that C
    ;; hears of it.
    (define (serve request)
      (let ((raised (%call/1cc
                     (lambda (k)
                       (with-exception-handler
                        (lambda (x)
                          (refuse! request x)
                          (k #t))
                        (lambda ()
                          (let* ((exported (procedure-of request))
                                 (x (%apply (%vector-ref exported 0) (%vector->list* (%opaque-ref request 2)))))
                            ;; what C writes next comes behind it
                            (flush-output-port (%standard-port 1))
                            (%c-answer request x (%vector-ref exported 1) pointer)
                            #f)))))))
        (if raised (flush-quietly))))

    (define (refuse! request x)
      (%c-refuse (%opaque-ref request 0) (%describe-error (uncaught->string x) (site-of x) 0)))

    (define (flush-quietly)
      (%call/1cc
       (lambda (k)
         (with-exception-handler
          (lambda (x) (k #f))
          (lambda () (flush-output-port (%standard-port 1)))))))

    (define (%vector->list* v)
      (%vector->list v 0 (%vector-length v)))

    ;;;; Memory

    (define (natural? n)
      (if (%fixnum? n) (%fx<= 0 n) #f))

    (define (c-malloc n)
      (if (natural? n)
          (or (%c-allocate n pointer)
              (raise-condition (kind-other) "c-malloc" "C has no memory left for bytes:" (%cons n '()) (no-site)))
          (wrong-type "c-malloc" "a number of bytes" n)))

    (define (c-free p) (%c-release p pointer))

    (define-syntax c-sizeof
      (syntax-rules () ((_ type) (sizeof (c-type type)))))
    (define (sizeof type)
      (if (%fixnum? type) (%c-bytes type) (struct-bytes (check-struct "c-sizeof" type))))

    (define-syntax c-ref
      (syntax-rules ()
        ((_ at type) (c-load at (c-type type) 0))
        ((_ at type offset) (c-load at (c-type type) offset))))
    (define-syntax c-set!
      (syntax-rules ()
        ((_ at type x) (c-store! at (c-type type) 0 x))
        ((_ at type offset x) (c-store! at (c-type type) offset x))))

    ;; Errors are those of `who`, which the runtime does not know.
    (define (load who at type offset)
      (let ((x (%c-load at type offset pointer)))
        (if (%null? x) (%c-misplaced who at offset (%c-bytes type) pointer) x)))
    (define (copy-out who at offset bytes)
      (let ((x (%c-copy-out at offset bytes pointer)))
        (if (%null? x) (%c-misplaced who at offset bytes pointer) x)))
    (define (copy-in! who at offset v bytes)
      (if (%null? (%c-copy-in! at offset v pointer))
          (%c-misplaced who at offset bytes pointer)))

    ;; A structure is a pointer to it.
    (define (c-load at type offset)
      (if (%fixnum? type)
          (load "c-ref" at type offset)
          (begin
            (check-struct "c-ref" type)
            (pointer+ at offset))))
    (define (c-store! at type offset x)
      (if (%fixnum? type)
          (store! "c-set!" at type offset x)
          (let ((bytes (struct-bytes (check-struct "c-set!" type))))
            (copy-in! "c-set!" at offset (copy-out "c-set!" x 0 bytes) bytes))))

    (define (store! who at type offset x)
      (let ((stored (%c-store! at type offset x pointer)))
        (cond
          ((%null? stored) (%c-misplaced who at offset (%c-bytes type) pointer))
          ((%not stored)
           (raise-condition (if (%fixnum? x) (kind-range) (kind-type)) who
                            (%string-concat (%cons "the value must be " (%cons (%c-expected type) (%cons ", got" '()))))
                            (%cons x '()) (no-site))))))

    (define (check-struct who x)
      (if (c-struct? x) x (wrong-type who "a type of C or a structure" x)))

    ;; The text at an address, or #f at NULL.
    (define (c-string p)
      (if (check-pointer "c-string" p)
          (let ((cell (%make-bytevector 8 0)))
            (%c-store! cell (c-type pointer) 0 p pointer)
            (%c-load cell (c-type string) 0 pointer))
          #f))

    ;; A copy of the text in C's memory, for c-free.
    (define (string->pointer s)
      (let* ((bytes (%string->utf8 (check-string "string->pointer" s) 0 (%string-length s)))
             (p (c-malloc (%fx+ 1 (%bytevector-length bytes)))))
        (%c-copy-in! p 0 bytes pointer)
        p))

    (define pointer->bytevector
      (case-lambda
        ((p n) (pointer->bytevector p n 0))
        ((p n offset)
         (if (natural? n)
             (copy-out "pointer->bytevector" p offset n)
             (wrong-type "pointer->bytevector" "a number of bytes" n)))))

    (define pointer-copy!
      (case-lambda
        ((p v) (pointer-copy! p v 0))
        ((p v offset)
         (if (%null? (%c-copy-in! p offset v pointer))
             (%c-misplaced "pointer-copy!" p offset v pointer)))))

    ;;;; Structures

    ;; `fields` is a vector: name, number of a type or a structure, offset, length of an array or #f, and so on.
    (define-record-type <c-struct>
      (make-struct name fields bytes alignment)
      c-struct?
      (name struct-name)
      (fields struct-fields)
      (bytes struct-bytes)
      (alignment struct-alignment))
    (show-fields! <c-struct> '(name))

    (define (alignment type)
      (if (%fixnum? type) (%c-bytes type) (struct-alignment type)))

    (define (round-up n unit)
      (%fx* unit (quotient (%fx+ n (%fx- unit 1)) unit)))

    ;; `described` is a vector: name, type, length of an array or #f, and so on.
    (define (make-c-struct name described)
      (let* ((n (%vector-length described)) (fields (%make-vector (%fx* 4 (quotient n 3)) #f)))
        (let loop ((i 0) (j 0) (end 0) (most 1))
          (if (%fx< i n)
              (let ((type (%vector-ref described (%fx+ i 1))) (length (%vector-ref described (%fx+ i 2))))
                (if (%not (if (%fixnum? type) #t (c-struct? type)))
                    (wrong-type "define-c-struct" "a type of C or a structure" type))
                (if (%not (if length (natural? length) #t))
                    (wrong-type "define-c-struct" "the length of an array" length))
                (let ((at (round-up end (alignment type))))
                  (%vector-set! fields j (%vector-ref described i))
                  (%vector-set! fields (%fx+ j 1) type)
                  (%vector-set! fields (%fx+ j 2) at)
                  (%vector-set! fields (%fx+ j 3) length)
                  (loop (%fx+ i 3) (%fx+ j 4) (%fx+ at (%fx* (sizeof type) (or length 1)))
                        (max most (alignment type)))))
              (make-struct name fields (round-up end most) most)))))

    ;; How the structures of a function travel by value; see cairn_layout::c::Shape.
    (define (shapes-of structs)
      (let ((shapes (%make-vector (%vector-length structs) 0)))
        (let loop ((i 0))
          (if (%fx< i (%vector-length structs))
              (begin
                (if (%vector-ref structs i)
                    (%vector-set! shapes i (shape-of (%vector-ref structs i))))
                (loop (%fx+ i 1)))
              shapes))))

    (define (shape-of struct)
      (let ((bytes (struct-bytes (check-struct "c-procedure" struct))))
        (cond
          ((%fx= bytes 0) (wrong-type "c-procedure" "a structure that has fields" struct))
          ((%fx< 16 bytes) (%fx+ (%fx* 8 bytes) 4))
          (else
           (%fx+ (%fx* 8 bytes)
                 (%fx+ (if (floating? struct 0 0) 1 0)
                       (if (floating? struct 0 1) 2 0)))))))

    ;; Has a structure that lies `at` bytes behind the beginning nothing but floating point in the first eight bytes
    ;; from there (eight: 0), or in the second ones (1)?
    (define (floating? struct at eight)
      (let ((fields (struct-fields struct)))
        (let loop ((j 0))
          (if (%fx< j (%vector-length fields))
              (if (all-floating? (%vector-ref fields (%fx+ j 1))
                                 (%fx+ at (%vector-ref fields (%fx+ j 2)))
                                 (or (%vector-ref fields (%fx+ j 3)) 1)
                                 eight)
                  (loop (%fx+ j 4))
                  #f)
              #t))))
    (define (all-floating? type at n eight)
      (cond
        ((%fx= n 0) #t)
        ((if (%fixnum? type)
             (if (%fx= (quotient at 8) eight) (or (%fx= type (c-type float)) (%fx= type (c-type double))) #t)
             (floating? type at eight))
         (all-floating? type (%fx+ at (sizeof type)) (%fx- n 1) eight))
        (else #f)))

    ;; One whose layout is known: `fields` is as in <c-struct>.
    (define (make-c-layout name fields bytes alignment)
      (make-struct name fields bytes alignment))

    ;; Memory of C for one, all zeros, or for an array of them.
    (define (c-struct-maker struct who)
      (case-lambda
        (() (c-malloc (struct-bytes struct)))
        ((n)
         (if (natural? n)
             (c-malloc (%fx* n (struct-bytes struct)))
             (wrong-type who "a number of structures" n)))))

    (define (field-index who i length)
      (if (%fixnum? i)
          (if (if (%fx<= 0 i) (%fx< i length) #f) i (out-of-range who "index out of range" i))
          (wrong-type who "an index" i)))

    ;; Calls `use` with type, offset, length of an array or #f, and bytes of an element, of field `i`.
    (define (call-with-field struct i use)
      (let* ((fields (struct-fields struct)) (at (%fx* 4 i)) (type (%vector-ref fields (%fx+ at 1))))
        (use type (%vector-ref fields (%fx+ at 2)) (%vector-ref fields (%fx+ at 3)) (sizeof type))))

    ;; (get at) or, of an array, (get at i); a structure in it is a pointer to it, of a bytevector a copy.
    (define (c-struct-getter struct i who)
      (call-with-field struct i
        (lambda (type offset length step)
          (define (get at offset)
            (if (%fixnum? type)
                (load who at type offset)
                (if (pointer? at) (pointer+ at offset) (copy-out who at offset step))))
          (if length
              (case-lambda
                ((at) (pointer+ (if (pointer? at) at (wrong-type who "a pointer" at)) offset))
                ((at i) (get at (%fx+ offset (%fx* step (field-index who i length))))))
              (lambda (at) (get at offset))))))

    (define (c-struct-setter struct i who)
      (call-with-field struct i
        (lambda (type offset length step)
          ;; A structure is copied from a pointer to another one.
          (define (set at offset x)
            (if (%fixnum? type)
                (store! who at type offset x)
                (copy-in! who at offset (copy-out who x 0 step) step)))
          (if length
              (lambda (at i x) (set at (%fx+ offset (%fx* step (field-index who i length))) x))
              (lambda (at x) (set at offset x))))))

    ;;;; Bit-fields

    ;; `parts` is a vector: type, offset, bits below the field's in the part, bits of the field in it, bits of the field
    ;; below those, and so on.  Calls `use` with all of a part and what `state` was made by the parts before.
    (define (over-parts parts state use)
      (let loop ((j 0) (state state))
        (if (%fx< j (%vector-length parts))
            (loop (%fx+ j 5)
                  (use (%vector-ref parts j) (%vector-ref parts (%fx+ j 1)) (%vector-ref parts (%fx+ j 2))
                       (%vector-ref parts (%fx+ j 3)) (%vector-ref parts (%fx+ j 4)) state))
            state)))

    (define (bits-of word from width)
      (bitwise-and (arithmetic-shift word (%fx- 0 from)) (- (arithmetic-shift 1 width) 1)))

    ;; `sign`: #t of a field with a sign, #f of one without, or `boolean`.
    (define (c-bits-getter parts width sign who)
      (lambda (at)
        (let ((n (over-parts parts 0
                             (lambda (type offset below bits before n)
                               (+ n (arithmetic-shift (bits-of (load who at type offset) below bits) before))))))
          (cond
            ((%eq? sign 'boolean) (%not (%eq? n 0)))
            ((if sign (<= (arithmetic-shift 1 (%fx- width 1)) n) #f) (- n (arithmetic-shift 1 width)))
            (else n)))))

    (define (c-bits-setter parts width sign who)
      (let* ((least (if (%eq? sign #t) (- (arithmetic-shift 1 (%fx- width 1))) 0))
             (end (+ least (arithmetic-shift 1 width))))
        (define (fits? n)
          (if (exact-integer? n) (if (<= least n) (< n end) #f) #f))
        (lambda (at x)
          (let ((n (if (%eq? sign 'boolean) (if x 1 0) x)))
            (if (%not (fits? n))
                (raise-condition (if (%fixnum? n) (kind-range) (kind-type)) who
                                 (%string-concat
                                  (%cons "the value must be an integer from "
                                         (%cons (number->string least)
                                                (%cons " to " (%cons (number->string (- end 1)) (%cons ", got" '()))))))
                                 (%cons x '()) (no-site)))
            (over-parts parts #f
                        (lambda (type offset below bits before state)
                          (let* ((old (load who at type offset))
                                 (gone (- old (arithmetic-shift (bits-of old below bits) below))))
                            (store! who at type offset (+ gone (arithmetic-shift (bits-of n before bits) below)))
                            #f)))))))))
