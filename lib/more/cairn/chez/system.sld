;;; (cairn chez system): files, paths, times, threads and C functions under the names that Chez Scheme has for them.
(define-library (cairn chez system)
  (export
   open-output-file call-with-output-file with-output-to-file open-input-file call-with-input-file
   with-input-from-file delete-file file-exists?
   current-directory cd directory-list file-directory? file-regular? file-symbolic-link? mkdir delete-directory
   rename-file path-absolute? path-extension path-first path-last path-parent path-rest path-root directory-separator
   directory-separator? getenv putenv command-line-arguments get-process-id display-string
   real-time cpu-time current-time make-time time? time-type time-second time-nanosecond time=? time<? time<=? time>?
   time>=? time-difference add-duration subtract-duration copy-time sleep
   set-time-type! set-time-second! set-time-nanosecond! time-difference! add-duration! subtract-duration!
   date-dst? date-zone-name file-access-time file-modification-time file-change-time chmod
   current-date make-date date? date-nanosecond date-second date-minute date-hour date-day date-month date-year
   date-zone-offset date-week-day date-year-day date->time-utc time-utc->date date-and-time
   fork-thread thread? threaded? get-thread-id make-mutex mutex? mutex-acquire mutex-release with-mutex
   make-condition condition-wait condition-signal condition-broadcast make-thread-parameter
   mutex-name condition-name (rename condition-variable? thread-condition?)
   process open-process-ports
   load-shared-object foreign-procedure foreign-callable foreign-callable-entry-point foreign-alloc
   foreign-free foreign-ref foreign-set! foreign-sizeof)
  (import (rename (except (scheme base) let-syntax letrec-syntax) (define-record-type define-plain-record-type))
          (scheme case-lambda) (scheme time)
          (prefix (only (scheme file) open-output-file open-input-file call-with-input-file with-input-from-file
                        delete-file file-exists?)
                  r7-)
          (scheme process-context)
          (cairn syntax-case) (cairn c)
          (only (cairn control) wrong-type)
          (only (cairn process) start-process process-input process-output process-error process-id)
          (only (srfi 13) string-index string-index-right)
          (rename (only (srfi 18) current-thread thread? make-thread thread-start! thread-sleep! mutex? make-mutex
                        mutex-lock! mutex-unlock! make-condition-variable condition-variable-signal!
                        condition-variable-broadcast! condition-variable? mutex-name condition-variable-name)
                  (make-mutex make-plain-mutex))
          (rename (srfi 19) (current-time srfi-19-time))
          (only (srfi 170) open-file textual-output open/append open/create create-directory
                set-current-directory! directory-files
                rename-file set-environment-variable! set-file-mode posix-error? file-info:atime file-info:mtime
                file-info:ctime file-info file-info-directory? file-info-regular?
                file-info-symlink? pid)
          (prefix (only (srfi 170) current-directory delete-directory) srfi-170-))
  (begin

    ;;;; Files

    ;; Options: a symbol or a list of symbols.  What exists is replaced unless something else is asked for.
    (define open-output-file
      (case-lambda
        ((name) (r7-open-output-file name))
        ((name options)
         (let ((options (if (list? options) options (list options))))
           (for-each
            (lambda (o)
              (if (not (memq o '(error truncate replace append buffered unbuffered exclusive nonexclusive uncompressed
                                 block-buffered line-buffered)))
                  (wrong-type "open-output-file" "an option" o)))
            options)
           (cond
             ((memq 'append options) (open-appending name))
             ((and (memq 'error options) (file-is? name #t (lambda (info) #t)))
              (wrong-type "open-output-file" "a file that does not exist" name))
             (else (r7-open-output-file name)))))))
    (define (open-appending name)
      (open-file name textual-output (+ open/append open/create)))
    (define (call-with-output-file name proc . options)
      (let ((port (apply open-output-file name options)))
        (call-with-values (lambda () (proc port))
          (lambda results
            (close-port port)
            (apply values results)))))
    (define (with-output-to-file name thunk . options)
      (apply call-with-output-file
             name
             (lambda (port) (parameterize ((current-output-port port)) (thunk)))
             options))

    ;; Those of a file that is read say how it is buffered, and that it may be compressed, which none is here.
    (define (check-input-options who options)
      (for-each
       (lambda (o)
         (if (not (memq o '(buffered unbuffered compressed uncompressed block-buffered line-buffered)))
             (wrong-type who "an option" o)))
       (if (list? options) options (list options))))
    (define open-input-file
      (case-lambda
        ((name) (r7-open-input-file name))
        ((name options) (check-input-options "open-input-file" options) (r7-open-input-file name))))
    (define call-with-input-file
      (case-lambda
        ((name proc) (r7-call-with-input-file name proc))
        ((name proc options)
         (check-input-options "call-with-input-file" options)
         (r7-call-with-input-file name proc))))
    (define with-input-from-file
      (case-lambda
        ((name thunk) (r7-with-input-from-file name thunk))
        ((name thunk options)
         (check-input-options "with-input-from-file" options)
         (r7-with-input-from-file name thunk))))

    (define current-directory
      (case-lambda
        (() (srfi-170-current-directory))
        ((directory) (set-current-directory! directory))))
    (define cd current-directory)
    (define (directory-list path) (directory-files path #t))
    (define (file-is? name follow? kind?)
      (guard (e (#t #f)) (kind? (file-info name follow?))))
    (define file-exists?
      (case-lambda
        ((name) (r7-file-exists? name))
        ((name follow?) (if follow? (r7-file-exists? name) (file-is? name #f (lambda (info) #t))))))
    (define (file-directory? name . follow?) (file-is? name (or (null? follow?) (car follow?)) file-info-directory?))
    (define (file-regular? name . follow?) (file-is? name (or (null? follow?) (car follow?)) file-info-regular?))
    (define (file-symbolic-link? name) (file-is? name #f file-info-symlink?))
    (define (chmod name mode) (set-file-mode name mode))
    (define-syntax define-file-times
      (syntax-rules ()
        ((_ (name field) ...)
         (begin
           (define (name path . follow?)
             (field (file-info path (or (null? follow?) (car follow?))))) ...))))
    (define-file-times
      (file-access-time file-info:atime)
      (file-modification-time file-info:mtime)
      (file-change-time file-info:ctime))
    (define (mkdir name . mode) (apply create-directory name mode))
    ;; Whether it is gone; what cannot be deleted is an error only if that is asked for.
    (define-syntax define-deleters
      (syntax-rules ()
        ((_ (name delete) ...)
         (begin
           (define name
             (case-lambda
               ((path) (name path #f))
               ((path error?)
                (guard (e ((and (not error?) (or (file-error? e) (posix-error? e))) #f))
                  (delete path)
                  #t)))) ...))))
    (define-deleters (delete-file r7-delete-file) (delete-directory srfi-170-delete-directory))

    (define (directory-separator) #\/)
    (define (directory-separator? c) (char=? c #\/))
    (define (path-absolute? p) (and (> (string-length p) 0) (char=? (string-ref p 0) #\/)))
    ;; Where the last part begins.
    (define (last-start p)
      (cond ((string-index-right p #\/) => (lambda (i) (+ i 1))) (else 0)))
    (define (path-last p) (string-copy p (last-start p)))
    (define (path-parent p)
      (let ((n (last-start p)))
        (cond ((= n 0) "") ((= n 1) "/") (else (string-copy p 0 (- n 1))))))
    (define (path-first p)
      (cond ((path-absolute? p) "/")
            ((string-index p #\/) => (lambda (i) (string-copy p 0 i)))
            (else "")))
    (define (path-rest p)
      (cond ((string-index p #\/) => (lambda (i) (string-copy p (+ i 1)))) (else p)))
    ;; Where the dot of an extension is, or #f.
    (define (extension-start p)
      (let ((i (string-index-right p #\.)))
        (and i (> i (last-start p)) i)))
    (define (path-extension p)
      (cond ((extension-start p) => (lambda (i) (string-copy p (+ i 1)))) (else "")))
    (define (path-root p)
      (cond ((extension-start p) => (lambda (i) (string-copy p 0 i))) (else p)))

    (define (getenv name) (get-environment-variable name))
    (define (putenv name value) (set-environment-variable! name value))
    (define (command-line-arguments) (cdr (command-line)))
    (define (get-process-id) (pid))
    (define display-string
      (case-lambda
        ((s) (write-string s))
        ((s port) (write-string s port))))

    ;;;; Times

    (define (milliseconds) (quotient (* 1000 (current-jiffy)) (jiffies-per-second)))
    (define (real-time) (milliseconds))
    (define (cpu-time)
      (let ((t (srfi-19-time 'time-process)))
        (+ (* 1000 (time-second t)) (quotient (time-nanosecond t) 1000000))))
    (define (current-time . kind)
      (srfi-19-time (if (pair? kind) (car kind) 'time-utc)))
    ;; Dates have a distance from UTC and no more.
    (define (date-dst? d) #f)
    (define (date-zone-name d) #f)
    (define (sleep t)
      (thread-sleep! (+ (time-second t) (/ (time-nanosecond t) 1000000000))))
    (define date-and-time
      (case-lambda
        (() (date-and-time (current-date)))
        ((d) (date->string d "~a ~b ~e ~H:~M:~S ~Y"))))

    ;;;; Threads

    (define (fork-thread thunk) (thread-start! (make-thread thunk)))
    (define (threaded?) #t)
    (define (make-mutex . name) (apply make-plain-mutex name))
    (define mutex-acquire
      (case-lambda
        ((m) (mutex-lock! m))
        ((m block?) (mutex-lock! m (if block? #f 0)))))
    (define (mutex-release m) (mutex-unlock! m))
    (define-syntax with-mutex
      (syntax-rules ()
        ((_ m body ...)
         (let ((mutex m))
           (dynamic-wind (lambda () (mutex-acquire mutex)) (lambda () body ...) (lambda () (mutex-release mutex)))))))
    (define (make-condition . name) (apply make-condition-variable name))
    (define condition-wait
      (case-lambda
        ((c m)
         (mutex-unlock! m c)
         (mutex-lock! m)
         #t)
        ((c m timeout)
         (let ((signalled?
                (mutex-unlock! m c (if (time? timeout)
                                       (+ (time-second timeout) (/ (time-nanosecond timeout) 1000000000))
                                       timeout))))
           (mutex-lock! m)
           signalled?))))
    (define (condition-signal c) (condition-variable-signal! c))
    (define (condition-broadcast c) (condition-variable-broadcast! c))
    (define (condition-name c)
      (if (condition-variable? c) (condition-variable-name c) (wrong-type "condition-name" "a condition" c)))
    (define ids '())
    (define (get-thread-id)
      (let ((t (current-thread)))
        (cond ((assq t ids) => cdr)
              (else
               (let ((n (length ids)))
                 (set! ids (cons (cons t n) ids))
                 n)))))
    (define (make-thread-parameter value . filter) (apply make-parameter value filter))

    ;;;; Other programs

    (define (start who command . pipes)
      (if (not (string? command)) (wrong-type who "a command for the shell" command))
      (apply start-process (list "/bin/sh" "-c" command) pipes))
    ;; What it writes, what it reads, its number.
    (define (process command)
      (let ((p (start "process" command 'in 'out)))
        (list (process-output p) (process-input p) (process-id p))))
    ;; What it reads, what it writes, its errors, its number. The ports take bytes and text alike.
    (define (open-process-ports command . mode+transcoder)
      (let ((p (start "open-process-ports" command 'in 'out 'error)))
        (values (process-input p) (process-output p) (process-error p) (process-id p))))

    ;;;; C

    ;; Addresses are integers.
    (define libraries '())
    (define (load-shared-object name)
      (if name (set! libraries (cons (c-library name) libraries))))
    (define-for-syntax (c-type t)
      (let ((entry (assq (syntax->datum t)
                         '((integer-8 . int8) (integer-16 . int16) (integer-32 . int32) (integer-64 . int64)
                           (unsigned-8 . uint8) (unsigned-16 . uint16) (unsigned-32 . uint32) (unsigned-64 . uint64)
                           (fixnum . long) (double-float . double) (single-float . float) (void* . uintptr_t)
                           (uptr . uintptr_t) (iptr . intptr_t) (u8* . bytevector) (boolean . bool)
                           (unsigned-char . unsigned-char) (unsigned-int . unsigned-int)
                           (unsigned-long . unsigned-long) (unsigned-short . unsigned-short)
                           (long-long . int64) (unsigned-long-long . uint64) (utf-8 . string) (stdbool . bool)))))
        (if entry (datum->syntax t (cdr entry)) t)))
    ;; Conventions of calls, `__collect_safe` and `#f` among them, make no difference.
    (define-syntax foreign-procedure
      (lambda (form)
        (syntax-case form ()
          ((_ convention ... entry (type ...) result)
           (with-syntax (((type ...) (map c-type #'(type ...))) (result (c-type #'result)))
             (if (string? (syntax->datum #'entry))
                 #'(find-entry (lambda (library)
                                 (if library
                                     (c-procedure result entry (type ...) library)
                                     (c-procedure result entry (type ...)))))
                 #'(c-procedure result "foreign-procedure" (type ...) (address->pointer entry))))))))
    ;; A procedure that C can call, as what holds its address. It lives as long as the program: nothing need be locked.
    (define-plain-record-type foreign-code (make-foreign-code address) foreign-code? (address foreign-code-address))
    (define-syntax foreign-callable
      (lambda (form)
        (syntax-case form ()
          ((_ convention ... procedure (type ...) result)
           (with-syntax (((type ...) (map c-type #'(type ...))) (result (c-type #'result)))
             #'(make-foreign-code (pointer-address (c-callback result (type ...) procedure))))))))
    (define (foreign-callable-entry-point code)
      (if (foreign-code? code)
          (foreign-code-address code)
          (wrong-type "foreign-callable-entry-point" "what foreign-callable makes" code)))

    ;; In the libraries loaded, the last first, or in the program.
    (define (find-entry make)
      (let loop ((l libraries))
        (if (null? l)
            (make #f)
            (or (guard (e (#t #f)) (make (car l))) (loop (cdr l))))))
    (define (foreign-alloc n) (pointer-address (c-malloc n)))
    (define (foreign-free address) (c-free (address->pointer address)))
    (define-syntax for-type
      (syntax-rules ()
        ((_ type use)
         (case type
           ((char) (use char))
           ((integer-8) (use int8)) ((unsigned-8) (use uint8))
           ((short integer-16) (use int16)) ((unsigned-short unsigned-16) (use uint16))
           ((int integer-32) (use int32)) ((unsigned unsigned-int unsigned-32) (use uint32))
           ((long long-long iptr fixnum ptrdiff_t ssize_t integer-64) (use int64))
           ((unsigned-long unsigned-long-long uptr void* size_t unsigned-64) (use uint64))
           ((float single-float) (use float))
           ((double double-float) (use double))
           (else (wrong-type "foreign-ref" "the name of a type" type))))))
    (define (foreign-ref type address offset)
      (define-syntax use (syntax-rules () ((_ t) (c-ref (address->pointer address) t offset))))
      (for-type type use))
    (define (foreign-set! type address offset x)
      (define-syntax use (syntax-rules () ((_ t) (c-set! (address->pointer address) t offset x))))
      (for-type type use))
    (define (foreign-sizeof type)
      (define-syntax use (syntax-rules () ((_ t) (c-sizeof t))))
      (for-type type use))))
