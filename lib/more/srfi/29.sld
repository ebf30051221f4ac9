;;; (srfi 29): messages in the language of the user.
;;;
;;; A bundle is an association list of names and texts, kept under a specifier, a list of the name of a package, a
;;; language, a country and further details.  What a name means in the most special bundle is found; without one there,
;;; the specifier loses its last element.  Bundles are stored for later runs in files of the directory SRFI29_BUNDLES,
;;; if the environment has it.
(define-library (srfi 29)
  (export current-language current-country current-locale-details declare-bundle! store-bundle load-bundle!
          localized-template format)
  (import (scheme base) (scheme char) (scheme file) (scheme process-context) (scheme read) (scheme write)
          (only (srfi 1) cons* drop-right) (only (cairn control) out-of-range wrong-type)
          (only (srfi 13) string-index))
  (begin

    ;;;; Where the user is: by the environment, as in de_DE.UTF-8

    (define locale
      (let look ((names '("LC_ALL" "LC_MESSAGES" "LANG")))
        (cond
          ((null? names) "")
          ((get-environment-variable (car names)) => (lambda (s) (if (string=? s "") (look (cdr names)) s)))
          (else (look (cdr names))))))
    (define (part-of s start end)
      (string->symbol (string-downcase (string-copy s start end))))
    (define where-language-ends
      (or (string-index locale (lambda (c) (memv c '(#\_ #\. #\@)))) (string-length locale)))
    (define language
      (if (< 1 where-language-ends 4) (part-of locale 0 where-language-ends) 'en))
    (define country
      (let ((start (+ where-language-ends 1)))
        (if (and (< start (string-length locale)) (char=? (string-ref locale where-language-ends) #\_))
            (part-of locale
                     start
                     (or (string-index locale (lambda (c) (memv c '(#\. #\@))) start) (string-length locale)))
            'us)))

    ;; A procedure that returns the value, or sets it.
    (define (setting who value valid? expected)
      (lambda new
        (cond
          ((null? new) value)
          ((valid? (car new)) (set! value (car new)))
          (else (wrong-type who expected (car new))))))
    (define current-language (setting "current-language" language symbol? "a symbol"))
    (define current-country (setting "current-country" country symbol? "a symbol"))
    (define current-locale-details (setting "current-locale-details" '() list? "a list of symbols"))

    ;;;; Bundles

    (define bundles '())

    (define (check-specifier who specifier)
      (if (not (and (list? specifier) (pair? specifier)))
          (wrong-type who "a list of a package's name, a language, a country and details" specifier)))

    (define (declare-bundle! specifier texts)
      (check-specifier "declare-bundle!" specifier)
      (let ((known (assoc specifier bundles)))
        (if known
            (set-cdr! known texts)
            (set! bundles (cons (cons specifier texts) bundles)))))

    ;; The text of a name of a package, or #f.
    (define (localized-template package name)
      (let loop ((specifier (cons* package (current-language) (current-country) (current-locale-details))))
        (let* ((bundle (assoc specifier bundles)) (entry (and bundle (assq name (cdr bundle)))))
          (cond
            (entry (cdr entry))
            ((null? (cdr specifier)) #f)
            (else (loop (drop-right specifier 1)))))))

    ;;;; Files

    (define (file-of specifier)
      (let ((directory (get-environment-variable "SRFI29_BUNDLES")))
        (and directory
             (let join ((s directory) (parts specifier) (between "/"))
               (if (null? parts)
                   s
                   (join (string-append s between (symbol->string (car parts))) (cdr parts) "."))))))

    ;; Was it stored?
    (define (store-bundle specifier)
      (check-specifier "store-bundle" specifier)
      (let ((bundle (assoc specifier bundles)) (file (file-of specifier)))
        (and bundle
             file
             (guard (e ((file-error? e) #f))
               (call-with-output-file file (lambda (port) (write (cdr bundle) port)))
               #t))))
    (define (load-bundle! specifier)
      (check-specifier "load-bundle!" specifier)
      (let ((file (file-of specifier)))
        (and file
             (file-exists? file)
             (let ((texts (call-with-input-file file read)))
               (and (list? texts)
                    (begin
                      (declare-bundle! specifier texts)
                      #t))))))

    ;;;; format

    ;; Of SRFI 28, with ~N@*: the next directive takes argument number N; the one behind it goes on where it was.
    (define (format control . arguments)
      (define end (string-length control))
      (define out (open-output-string))
      (define (fail message . irritants)
        (apply error (string-append "format: " message) irritants))
      (define (take-next rest)
        (if (null? rest) (fail "too few arguments for control string" control) (car rest)))
      (if (not (string? control)) (wrong-type "format" "a control string" control))
      ;; chosen: (argument) for the next directive, or #f
      (let loop ((i 0) (rest arguments) (chosen #f))
        (define (show writer)
          (writer (if chosen (car chosen) (take-next rest)) out)
          (loop (+ i 2) (if chosen rest (cdr rest)) #f))
        (cond
          ((= i end) (get-output-string out))
          ((not (char=? (string-ref control i) #\~))
           (write-char (string-ref control i) out)
           (loop (+ i 1) rest chosen))
          ((= (+ i 1) end) (fail "incomplete escape sequence" control))
          (else
           (let ((c (string-ref control (+ i 1))))
             (case c
               ((#\a #\A) (show display))
               ((#\s #\S) (show write))
               ((#\%)
                (newline out)
                (loop (+ i 2) rest chosen))
               ((#\~)
                (write-char #\~ out)
                (loop (+ i 2) rest chosen))
               (else
                (let number ((j (+ i 1)) (n #f))
                  (let ((digit (and (< j end) (digit-value (string-ref control j)))))
                    (cond
                      (digit (number (+ j 1) (+ (* 10 (or n 0)) digit)))
                      ((and n (< (+ j 1) end) (string=? (string-copy control j (+ j 2)) "@*"))
                       (if (< n (length arguments))
                           (loop (+ j 2) rest (list (list-ref arguments n)))
                           (out-of-range "format" "no argument has this number:" n)))
                      (else (fail "unrecognized escape sequence" control))))))))))))))
