;; What Chez Scheme's procedures of files and tables take besides their usual arguments: (chezscheme).  Chez Scheme
;; prints the same.
(import (chezscheme))
(define (show . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))
(define-syntax or-error
  (syntax-rules () ((_ e) (guard (c (#t 'error)) e))))
(define name
  (string-append (or (getenv "TMPDIR") "/tmp") "/cairn-chez-files-" (number->string (get-process-id))))

;; deleting says whether it was there, and is an error only on demand
(show (delete-file name) (delete-file name #f) (or-error (delete-file name #t)))
(show (delete-directory name) (delete-directory name #f) (or-error (delete-directory name #t)))
(show (or-error (delete-file 5)) (or-error (delete-directory 5)) (or-error (delete-directory "/")))
(mkdir name)
(let* ((before (list (file-exists? name) (or-error (delete-file name)))) (gone (delete-directory name)))
  (show before gone (file-exists? name)))

;; options of files that are read
(call-with-output-file name (lambda (p) (write '(a (b c)) p)) 'replace)
(show (call-with-input-file name read 'buffered))
(show (with-input-from-file name read '(unbuffered uncompressed)))
(let ((p (open-input-file name 'buffered)))
  (show (read-char p))
  (close-port p))
(show (or-error (open-input-file name 'replace)) (or-error (call-with-input-file name read '(buffered append))))

;; positions
(let ((p (open-file-input-port name)))
  (get-u8 p)
  (show (file-position p))
  (file-position p 3)
  (show (integer->char (get-u8 p)))
  (close-port p))
(show (file-exists? name #t))
(delete-file name #t)
(system (string-append "ln -s nothing-there '" name "'"))
(show (file-exists? name) (file-exists? name #f))
(let ((gone (delete-file name)))
  (show gone (file-exists? name #f)))

;; some of a table
(define h (make-eqv-hashtable))
(do ((i 0 (+ i 1))) ((= i 9)) (hashtable-set! h i (* i i)))
(show (vector-length (hashtable-keys h 4)) (vector-length (hashtable-values h 0)) (vector-length (hashtable-keys h 99)))
(let-values (((k v) (hashtable-entries h 5)))
  (show (vector-length k) (equal? v (vector-map (lambda (i) (* i i)) k))))
(show (or-error (hashtable-keys h -1)) (or-error (hashtable-values h 1.5)))
