;;; (cairn log): lines about what a program does, for those who run it.
;;;
;;; A line has the time, the level, the message, and values by name:
;;;
;;;   2026-11-27T12:00:00Z info: connected peer="10.0.0.7" port=8080
;;;
;;; What is below the level costs a test; the values of its line are not computed.
(define-library (cairn log)
  (export log-debug log-info log-warning log-error log-level log-port log-line?)
  (import (scheme base) (scheme write) (scheme time) (only (cairn control) wrong-type)
          (only (srfi 19) date->string time-utc->date make-time time-utc))
  (begin

    (define levels '((debug . 0) (info . 1) (warning . 2) (error . 3) (none . 4)))
    (define (level-number level)
      (let ((found (assq level levels)))
        (if found (cdr found) (wrong-type "log-level" "debug, info, warning, error or none" level))))

    ;; Lines of this level and the levels above it are written.
    (define log-level
      (make-parameter 'info (lambda (level) (level-number level) level)))

    ;; Where to; #f: to (current-error-port).
    (define log-port (make-parameter #f))

    ;; Is a line of this level written?
    (define (log-line? level)
      (<= (level-number (log-level)) (level-number level)))

    ;; (log-info "connected" 'peer address 'port 8080)
    (define-syntax define-level
      (syntax-rules ()
        ((_ name level)
         (define-syntax name
           (syntax-rules ()
             ((_ message value (... ...))
              (if (log-line? 'level) (write-line! 'level message (list value (... ...))))))))))
    (define-level log-debug debug)
    (define-level log-info info)
    (define-level log-warning warning)
    (define-level log-error error)

    (define (now)
      (date->string (time-utc->date (make-time time-utc 0 (exact (floor (current-second)))) 0) "~Y-~m-~dT~H:~M:~SZ"))

    ;; One write, so that lines of several threads do not mix.
    (define (write-line! level message values)
      (let ((out (open-output-string)) (port (or (log-port) (current-error-port))))
        (write-string (now) out)
        (write-char #\space out)
        (display level out)
        (write-string ": " out)
        (display message out)
        (let loop ((values values))
          (cond
            ((null? values))
            ((and (symbol? (car values)) (pair? (cdr values)))
             (write-char #\space out)
             (display (car values) out)
             (write-char #\= out)
             (write (cadr values) out)
             (loop (cddr values)))
            (else (error "log: names and values by turns are expected, got" values))))
        (newline out)
        (write-string (get-output-string out) port)
        (flush-output-port port)))))
