;; Procedures that are made of others fail by the name that was called: files of SRFI 170.
(import (scheme base) (scheme write) (srfi 170) (only (cairn control) condition->string))
(include "../support/say.scm")

(define five 5)
(say (create-directory five) (create-directory "d" 'all) (create-fifo five) (create-hard-link five "x")
     (create-symlink "x" five) (rename-file 'a "b") (delete-directory five) (set-file-mode "d" -1) (set-file-mode five 0)
     (set-file-owner "d" 'root 0) (set-current-directory! five) (read-symlink five) (set-file-times five)
     (truncate-file five 0) (truncate-file "none" 'x) (real-path five) (file-space five) (file-info five #t)
     (file-info-directory? five) (file-info-regular? five) (file-info-symlink? five) (file-info-device? five)
     (open-directory five) (read-directory five) (close-directory five) (make-directory-files-generator five)
     (directory-files five) (open-file five textual-input 0) (open-file "none" textual-input 'x)
     (posix-error-message five) (create-temp-file five) (call-with-temporary-filename list five) (set-umask! 'x)
     (set-environment-variable! "A" five) (delete-environment-variable! five) (user-info:parsed-full-name five))
;; what the system says
(say (directory-files "none/at/all") (delete-directory "none/at/all") (read-symlink "none/at/all")
     (file-info "none/at/all" #t) (truncate-file "none/at/all" 0))
