;;; (srfi 170): POSIX: files and directories, the state of the process, users, clocks, the environment.
;;;
;;; The functions are C's own, by (cairn c); layouts of structures are those of Linux on x86-64.  A failure is a
;;; condition with its name (`ENOENT`), the procedure, the system's words and the arguments.  A port opened here is one
;;; of the runtime on which the descriptor of the file has been put (dup2): so flags and permissions are the program's.
(define-library (srfi 170)
  (export
   posix-error? posix-error-name posix-error-message
   binary-input textual-input binary-output textual-output binary-input/output
   buffer-none buffer-block buffer-line open/append open/create open/exclusive open/nofollow open/truncate
   open-file fd->port
   create-directory create-fifo create-hard-link create-symlink read-symlink rename-file delete-directory
   set-file-owner owner/unchanged group/unchanged set-file-mode set-file-times time/now time/unchanged truncate-file
   (rename file-info-of file-info) file-info? file-info:device file-info:inode file-info:mode file-info:nlinks
   file-info:uid file-info:gid file-info:rdev file-info:size file-info:blksize file-info:blocks file-info:atime
   file-info:mtime file-info:ctime
   file-info-directory? file-info-fifo? file-info-symlink? file-info-regular? file-info-socket? file-info-device?
   directory-files make-directory-files-generator open-directory read-directory close-directory
   real-path file-space temp-file-prefix create-temp-file call-with-temporary-filename
   umask set-umask! current-directory set-current-directory! pid nice
   user-uid user-gid user-effective-uid user-effective-gid user-supplementary-gids
   (rename find-user user-info) user-info? user-info:name user-info:uid user-info:gid user-info:home-dir user-info:shell
   user-info:full-name user-info:parsed-full-name (rename find-group group-info) group-info? group-info:name
   group-info:gid
   posix-time monotonic-time set-environment-variable! delete-environment-variable! terminal?)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme file) (scheme process-context) (cairn c)
          (only (srfi 19) make-time time? time-type time-second time-nanosecond time-utc time-monotonic)
          (only (rnrs conditions) condition define-condition-type &error make-who-condition make-message-condition
                make-irritants-condition condition-message)
          (only (cairn control) wrong-type) (rename (only (cairn port) port-descriptor) (port-descriptor descriptor)))
  (begin

    ;;;; Failures

    (define-condition-type &posix &error make-posix posix-error? (name posix-error-name))
    (define (posix-error-message e)
      (if (posix-error? e) (condition-message e) (wrong-type "posix-error-message" "a POSIX error" e)))

    (define strerrorname (c-procedure string "strerrorname_np" (int)))

    (define (fail who . irritants)
      (let ((n (c-errno)))
        (raise (condition (make-posix (string->symbol (or (strerrorname n) (number->string n))))
                          (make-who-condition who) (make-message-condition (c-error-text n))
                          (make-irritants-condition irritants)))))

    ;; The result of a function that answers -1 when it fails.
    (define (check r who . irritants)
      (if (< r 0) (apply fail who irritants) r))

    ;; (define-action (name (parameter check-parameter) ...) call)
    (define-syntax define-action
      (syntax-rules ()
        ((_ (name (parameter check-parameter) ...) call)
         (define (name parameter ...)
           (check-parameter (symbol->string 'name) parameter) ...
           (check call 'name parameter ...)
           (if #f #f)))))

    (define (file-name who x)
      (if (not (string? x)) (wrong-type who "the name of a file" x)))
    (define (text who x)
      (if (not (string? x)) (wrong-type who "a string" x)))
    (define (bits who x)
      (if (not (and (exact-integer? x) (<= 0 x #o7777))) (wrong-type who "the bits of a file's mode" x)))
    (define (number who x)
      (if (not (and (exact-integer? x) (<= 0 x #xffffffff))) (wrong-type who "the number of a user or a group" x)))

    ;;;; Ports

    (define binary-input 0)
    (define textual-input 1)
    (define binary-output 2)
    (define textual-output 3)
    (define binary-input/output 4)
    (define buffer-none 0)
    (define buffer-block 1)
    (define buffer-line 2)
    (define open/append #o2000)
    (define open/create #o100)
    (define open/exclusive #o200)
    (define open/nofollow #o400000)
    (define open/truncate #o1000)
    (define close-on-exec #o2000000)

    (define c-open (c-procedure int "open" (string int ... unsigned)))
    (define c-close (c-procedure int "close" (int)))
    (define dup3 (c-procedure int "dup3" (int int int)))

    (define open-file
      (case-lambda
        ((name type flags) (open-file name type flags #o666))
        ((name type flags permissions) (open-file name type flags permissions buffer-block))
        ((name type flags permissions buffer)
         (file-name "open-file" name)
         (bits "open-file" permissions)
         (if (not (exact-integer? flags)) (wrong-type "open-file" "the sum of flags" flags))
         (let ((how (cond ((one-way? type) (if (< type binary-output) 0 1)) (else (refuse-both 'open-file)))))
           (opened-port (check (c-open name (+ flags how close-on-exec) permissions) 'open-file name)
                        type 'open-file)))))

    (define fd->port
      (case-lambda
        ((fd type) (fd->port fd type buffer-block))
        ((fd type buffer) (if (one-way? type) (opened-port fd type 'fd->port) (refuse-both 'fd->port)))))

    (define (one-way? type) (and (exact-integer? type) (<= binary-input type textual-output)))
    (define (refuse-both who)
      (error (string-append (symbol->string who) ": a port is for input or for output, not for both")))

    ;; A port of the runtime, whose file becomes that of the descriptor.
    (define (opened-port fd type who)
      (let ((port ((vector-ref (vector open-binary-input-file open-input-file open-binary-output-file open-output-file)
                               type)
                   "/dev/null")))
        (if (< (dup3 fd (descriptor port) close-on-exec) 0)
            (begin
              (close-port port)
              (fail who fd))
            (begin
              (c-close fd)
              port))))

    ;; Of a port that has one; what is buffered is in the file by then.
    (define (port-descriptor port who)
      (if (output-port? port) (flush-output-port port))
      (let ((fd (descriptor port)))
        (if (and (exact-integer? fd) (<= 0 fd)) fd (wrong-type who "a port of a file" port))))

    (define isatty (c-procedure int "isatty" (int)))
    (define (terminal? port)
      (if (not (port? port)) (wrong-type "terminal?" "a port" port))
      (let ((fd (descriptor port)))
        (and (exact-integer? fd) (<= 0 fd) (= 1 (isatty fd)))))

    ;;;; Files

    (define mkdir (c-procedure int "mkdir" (string unsigned)))
    (define mkfifo (c-procedure int "mkfifo" (string unsigned)))
    (define link (c-procedure int "link" (string string)))
    (define symlink (c-procedure int "symlink" (string string)))
    (define readlink (c-procedure ssize_t "readlink" (string bytevector size_t)))
    (define rename (c-procedure int "rename" (string string)))
    (define rmdir (c-procedure int "rmdir" (string)))
    (define chown (c-procedure int "chown" (string unsigned unsigned)))
    (define chmod (c-procedure int "chmod" (string unsigned)))
    (define truncate-by-name (c-procedure int "truncate" (string int64)))
    (define ftruncate (c-procedure int "ftruncate" (int int64)))
    (define utimensat (c-procedure int "utimensat" (int string bytevector int)))
    (define c-realpath (c-procedure pointer "realpath" (string pointer)))
    (define c-statvfs (c-procedure int "statvfs" (string bytevector)))
    (define c-fstatvfs (c-procedure int "fstatvfs" (int bytevector)))

    (define create-directory
      (case-lambda
        ((name) (create-directory name #o775))
        ((name permissions)
         (file-name "create-directory" name)
         (bits "create-directory" permissions)
         (check (mkdir name permissions) 'create-directory name)
         (if #f #f))))
    (define create-fifo
      (case-lambda
        ((name) (create-fifo name #o664))
        ((name permissions)
         (file-name "create-fifo" name)
         (bits "create-fifo" permissions)
         (check (mkfifo name permissions) 'create-fifo name)
         (if #f #f))))
    (define-action (create-hard-link (old file-name) (new file-name)) (link old new))
    (define-action (create-symlink (old file-name) (new file-name)) (symlink old new))
    (define-action (rename-file (old file-name) (new file-name)) (rename old new))
    (define-action (delete-directory (name file-name)) (rmdir name))
    (define-action (set-file-mode (name file-name) (mode bits)) (chmod name mode))

    (define (read-symlink name)
      (file-name "read-symlink" name)
      (let loop ((size 256))
        (let* ((to (make-bytevector size)) (n (check (readlink name to size) 'read-symlink name)))
          (if (< n size) (utf8->string to 0 n) (loop (* 2 size))))))

    (define owner/unchanged #xffffffff)
    (define group/unchanged #xffffffff)
    (define-action (set-file-owner (name file-name) (uid number) (gid number)) (chown name uid gid))

    (define time/now 'now)
    (define time/unchanged 'unchanged)
    (define at-fdcwd -100)
    (define-c-struct times (access int64) (access-ns int64) (modify int64) (modify-ns int64))
    (define set-file-times
      (case-lambda
        ((name) (set-file-times name time/now time/now))
        ((name access modify)
         (file-name "set-file-times" name)
         (let ((to (make-bytevector (c-sizeof times) 0)))
           (call-with-values (lambda () (seconds-of access))
             (lambda (s ns) (set-times-access! to s) (set-times-access-ns! to ns)))
           (call-with-values (lambda () (seconds-of modify))
             (lambda (s ns) (set-times-modify! to s) (set-times-modify-ns! to ns)))
           (check (utimensat at-fdcwd name to 0) 'set-file-times name)
           (if #f #f)))))
    ;; Seconds and nanoseconds, or what stands for them.
    (define (seconds-of t)
      (cond
        ((eq? t time/now) (values 0 #x3fffffff))
        ((eq? t time/unchanged) (values 0 #x3ffffffe))
        ((and (time? t) (eq? (time-type t) time-utc)) (values (time-second t) (time-nanosecond t)))
        (else (wrong-type "set-file-times" "a UTC time" t))))

    (define (truncate-file file size)
      (if (not (port? file)) (file-name "truncate-file" file))
      (if (not (exact-integer? size)) (wrong-type "truncate-file" "a size" size))
      (check (if (port? file) (ftruncate (port-descriptor file "truncate-file") size) (truncate-by-name file size))
             'truncate-file file)
      (if #f #f))

    (define (real-path name)
      (file-name "real-path" name)
      (let ((p (c-realpath name #f)))
        (if (not p) (fail 'real-path name))
        (let ((path (c-string p)))
          (c-free p)
          path)))

    (define-c-struct statvfs (block uint64) (fragment uint64) (blocks uint64) (free uint64) (available uint64)
      (rest (array uint64 9)))
    (define (file-space file)
      (if (not (port? file)) (file-name "file-space" file))
      (let ((to (make-bytevector (c-sizeof statvfs) 0)))
        (check (if (port? file) (c-fstatvfs (port-descriptor file "file-space") to) (c-statvfs file to))
               'file-space file)
        (* (statvfs-available to) (statvfs-fragment to))))

    ;;;; What is known of a file

    (define-c-struct stat
      (dev uint64) (ino uint64) (nlink uint64) (mode uint32) (uid uint32) (gid uint32) (pad int32) (rdev uint64)
      (size int64) (blksize int64) (blocks int64) (atime int64) (atime-ns int64) (mtime int64) (mtime-ns int64)
      (ctime int64) (ctime-ns int64) (rest (array int64 3)))
    (define c-stat (c-procedure int "stat" (string bytevector)))
    (define c-lstat (c-procedure int "lstat" (string bytevector)))
    (define c-fstat (c-procedure int "fstat" (int bytevector)))

    (define-record-type file-info
      (make-file-info device inode mode nlinks uid gid rdev size blksize blocks atime mtime ctime)
      file-info?
      (device file-info:device) (inode file-info:inode) (mode file-info:mode) (nlinks file-info:nlinks)
      (uid file-info:uid) (gid file-info:gid) (rdev file-info:rdev) (size file-info:size)
      (blksize file-info:blksize) (blocks file-info:blocks) (atime file-info:atime) (mtime file-info:mtime)
      (ctime file-info:ctime))

    (define (file-info-of file follow?)
      (if (not (port? file)) (file-name "file-info" file))
      (let ((s (make-bytevector (c-sizeof stat) 0)))
        (check (cond
                 ((port? file) (c-fstat (port-descriptor file "file-info") s))
                 (follow? (c-stat file s))
                 (else (c-lstat file s)))
               'file-info file)
        (make-file-info (stat-dev s) (stat-ino s) (stat-mode s) (stat-nlink s) (stat-uid s) (stat-gid s) (stat-rdev s)
                        (stat-size s) (stat-blksize s) (stat-blocks s)
                        (make-time time-utc (stat-atime-ns s) (stat-atime s))
                        (make-time time-utc (stat-mtime-ns s) (stat-mtime s))
                        (make-time time-utc (stat-ctime-ns s) (stat-ctime s)))))

    (define (of-kind? who info . kinds)
      (if (not (file-info? info)) (wrong-type who "a file-info" info))
      (if (memv (* #o10000 (quotient (file-info:mode info) #o10000)) kinds) #t #f))
    (define (file-info-directory? info) (of-kind? "file-info-directory?" info #o040000))
    (define (file-info-fifo? info) (of-kind? "file-info-fifo?" info #o010000))
    (define (file-info-symlink? info) (of-kind? "file-info-symlink?" info #o120000))
    (define (file-info-regular? info) (of-kind? "file-info-regular?" info #o100000))
    (define (file-info-socket? info) (of-kind? "file-info-socket?" info #o140000))
    (define (file-info-device? info) (of-kind? "file-info-device?" info #o020000 #o060000))

    ;;;; Directories

    (define opendir (c-procedure pointer "opendir" (string)))
    (define readdir (c-procedure pointer "readdir" (pointer)))
    (define closedir (c-procedure int "closedir" (pointer)))
    (define name-in-entry 19)

    ;; `stream`: C's; #f when it is closed.
    (define-record-type directory
      (make-directory stream dot-files?)
      directory?
      (stream directory-stream set-directory-stream!) (dot-files? directory-dot-files?))

    (define open-directory
      (case-lambda
        ((name) (open-directory name #f))
        ((name dot-files?) (opened-directory 'open-directory name dot-files?))))
    (define (opened-directory who name dot-files?)
      (file-name (symbol->string who) name)
      (make-directory (or (opendir name) (fail who name)) dot-files?))
    (define (check-directory who d)
      (if (not (directory? d)) (wrong-type who "a directory" d)))

    (define (read-directory d)
      (check-directory "read-directory" d)
      (let loop ()
        (let ((entry (and (directory-stream d) (readdir (directory-stream d)))))
          (if entry
              (let ((name (c-string (pointer+ entry name-in-entry))))
                (if (and (char=? (string-ref name 0) #\.)
                         (or (not (directory-dot-files? d)) (member name '("." ".."))))
                    (loop)
                    name))
              (eof-object)))))

    (define (close-directory d)
      (check-directory "close-directory" d)
      (let ((stream (directory-stream d)))
        (set-directory-stream! d #f)
        (if stream (closedir stream))
        (if #f #f)))

    (define make-directory-files-generator
      (case-lambda
        ((name) (make-directory-files-generator name #f))
        ((name dot-files?) (files-of 'make-directory-files-generator name dot-files?))))
    (define (files-of who name dot-files?)
      (let ((d (opened-directory who name dot-files?)))
        (lambda ()
          (let ((file (read-directory d)))
            (if (eof-object? file) (close-directory d))
            file))))

    (define (directory-files name . dot-files?)
      (let ((next (files-of 'directory-files name (and (pair? dot-files?) (car dot-files?)))))
        (let loop ((files '()))
          (let ((file (next)))
            (if (eof-object? file) (reverse files) (loop (cons file files)))))))

    ;;;; Temporary files

    (define getpid (c-procedure int "getpid" ()))
    (define (pid) (getpid))

    (define temp-file-prefix
      (make-parameter
       (string-append (or (get-environment-variable "TMPDIR") "/tmp") "/" (number->string (pid)))))

    (define trials 1000)
    (define counter 0)

    (define call-with-temporary-filename
      (case-lambda
        ((maker) (call-with-temporary-filename maker (temp-file-prefix)))
        ((maker prefix)
         (if (not (string? prefix)) (wrong-type "call-with-temporary-filename" "a string" prefix))
         (let loop ((n trials))
           (set! counter (+ counter 1))
           (call-with-values
            (lambda ()
              (guard (e ((and (posix-error? e) (eq? (posix-error-name e) 'EEXIST) (< 0 n)) #f))
                (maker (string-append prefix "." (number->string counter)))))
            (lambda results
              (cond
                ((and (pair? results) (car results)) (apply values results))
                ((< 0 n) (loop (- n 1)))
                (else (error "call-with-temporary-filename: no name of this prefix is free" prefix)))))))))

    (define (create-temp-file . prefix)
      (if (pair? prefix) (file-name "create-temp-file" (car prefix)))
      (apply call-with-temporary-filename
             (lambda (name)
               (let ((flags (+ open/create open/exclusive close-on-exec 1)))
                 (c-close (check (c-open name flags #o600) 'create-temp-file name))
                 name))
             prefix))

    ;;;; The process

    (define c-umask (c-procedure unsigned "umask" (unsigned)))
    (define chdir (c-procedure int "chdir" (string)))
    (define getcwd (c-procedure pointer "getcwd" (pointer size_t)))
    (define c-nice (c-procedure int "nice" (int)))
    (define getpriority (c-procedure int "getpriority" (int unsigned)))
    (define user-uid (c-procedure unsigned "getuid" ()))
    (define user-gid (c-procedure unsigned "getgid" ()))
    (define user-effective-uid (c-procedure unsigned "geteuid" ()))
    (define user-effective-gid (c-procedure unsigned "getegid" ()))
    (define getgroups (c-procedure int "getgroups" (int bytevector)))

    (define (umask)
      (let ((mask (c-umask 0)))
        (c-umask mask)
        mask))
    (define (set-umask! mask)
      (bits "set-umask!" mask)
      (c-umask mask)
      (if #f #f))

    (define (current-directory)
      (let ((p (getcwd #f 0)))
        (if (not p) (fail 'current-directory))
        (let ((path (c-string p)))
          (c-free p)
          path)))
    (define-action (set-current-directory! (name file-name)) (chdir name))

    ;; -1 may be a niceness.
    (define (nice . delta)
      (let* ((delta (if (pair? delta) (car delta) 1)) (after (c-nice delta)))
        (if (and (= after -1) (not (= (getpriority 0 0) -1))) (fail 'nice delta))
        after))

    (define (user-supplementary-gids)
      (let* ((n (check (getgroups 0 #f) 'user-supplementary-gids)) (to (make-bytevector (* 4 n)))
             (n (check (getgroups n to) 'user-supplementary-gids)))
        (let loop ((i (- n 1)) (all '()))
          (if (< i 0) all (loop (- i 1) (cons (c-ref to uint32 (* 4 i)) all))))))

    ;;;; Users and groups

    (define-c-struct passwd
      (name string) (password string) (uid uint32) (gid uint32) (gecos string) (directory string) (shell string))
    (define-c-struct group (name string) (password string) (gid uint32) (members pointer))
    (define getpwnam (c-procedure pointer "getpwnam" (string)))
    (define getpwuid (c-procedure pointer "getpwuid" (unsigned)))
    (define getgrnam (c-procedure pointer "getgrnam" (string)))
    (define getgrgid (c-procedure pointer "getgrgid" (unsigned)))

    (define-record-type user-info
      (make-user-info name uid gid home-dir shell full-name)
      user-info?
      (name user-info:name) (uid user-info:uid) (gid user-info:gid) (home-dir user-info:home-dir)
      (shell user-info:shell) (full-name user-info:full-name))
    (define (find-user user)
      (let ((p (if (string? user) (getpwnam user) (getpwuid user))))
        (and p
             (make-user-info (passwd-name p) (passwd-uid p) (passwd-gid p) (passwd-directory p) (passwd-shell p)
                             (passwd-gecos p)))))

    (define (user-info:parsed-full-name user)
      (if (not (user-info? user)) (wrong-type "user-info:parsed-full-name" "a user-info" user))
      (let* ((parts (split (user-info:full-name user) #\,)) (name (user-info:name user)))
        (cons (join (split (car parts) #\&) (capitalized name)) (cdr parts))))
    (define (capitalized name)
      (if (and (< 0 (string-length name)) (char<=? #\a (string-ref name 0) #\z))
          (string-append (string (char-upcase (string-ref name 0))) (string-copy name 1))
          name))
    (define (split s c)
      (let loop ((i (string-length s)) (end (string-length s)) (parts '()))
        (cond
          ((= i 0) (cons (substring s 0 end) parts))
          ((char=? (string-ref s (- i 1)) c) (loop (- i 1) (- i 1) (cons (substring s i end) parts)))
          (else (loop (- i 1) end parts)))))
    (define (join parts between)
      (let loop ((rest (cdr parts)) (all (car parts)))
        (if (pair? rest) (loop (cdr rest) (string-append all between (car rest))) all)))

    (define-record-type group-info
      (make-group-info name gid)
      group-info?
      (name group-info:name) (gid group-info:gid))
    (define (find-group g)
      (let ((p (if (string? g) (getgrnam g) (getgrgid g))))
        (and p (make-group-info (group-name p) (group-gid p)))))

    ;;;; Clocks and the environment

    (define-c-struct timespec (seconds int64) (nanoseconds int64))
    (define clock-gettime (c-procedure int "clock_gettime" (int bytevector)))
    (define (clock n type)
      (let ((t (make-bytevector (c-sizeof timespec) 0)))
        (clock-gettime n t)
        (make-time type (timespec-nanoseconds t) (timespec-seconds t))))
    (define (posix-time) (clock 0 time-utc))
    (define (monotonic-time) (clock 1 time-monotonic))

    (define setenv (c-procedure int "setenv" (string string int)))
    (define unsetenv (c-procedure int "unsetenv" (string)))
    (define-action (set-environment-variable! (name text) (value text)) (setenv name value 1))
    (define-action (delete-environment-variable! (name text)) (unsetenv name))))
