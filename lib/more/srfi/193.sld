;;; (srfi 193): the command line in parts.
(define-library (srfi 193)
  (export command-line command-name command-args script-file script-directory)
  (import (scheme base) (scheme process-context))
  (begin

    (define (command-args) (cdr (command-line)))

    ;; The place behind the last `c` before `end`, or #f.
    (define (behind s c end)
      (let loop ((i end))
        (cond ((= i 0) #f)
              ((char=? c (string-ref s (- i 1))) i)
              (else (loop (- i 1))))))

    ;; The file without its directory, and without an extension that says that it is Scheme; #f at the prompt.
    (define (command-name)
      (let ((path (car (command-line))))
        (and (not (string=? path ""))
             (let* ((name (substring path (or (behind path #\/ (string-length path)) 0) (string-length path)))
                    (dot (behind name #\. (string-length name))))
               (if (and dot (> dot 1) (member (substring name dot (string-length name)) '("scm" "sps" "ss" "sld")))
                   (substring name 0 (- dot 1))
                   name)))))

    ;; Where the program is, from the root on; #f if that is not known.
    (define (script-file)
      (let ((path (car (command-line))) (here (get-environment-variable "PWD")))
        (cond ((string=? path "") #f)
              ((char=? #\/ (string-ref path 0)) path)
              (here (string-append here "/" path))
              (else #f))))
    (define (script-directory)
      (let ((file (script-file)))
        (and file (substring file 0 (behind file #\/ (string-length file))))))))
