;; args: one "two" 3
;; R7RS section 6.14: system interface; libraries (scheme time) and (scheme process-context).
(import (scheme base) (scheme time) (scheme process-context) (scheme write) (scheme file))
(include "include/check.scm")

(check (let* ((a (current-jiffy)) (b (current-jiffy))) (and (exact-integer? a) (<= a b))) => #t)
(check (exact-integer? (jiffies-per-second)) => #t)
(check (let ((t (current-second))) (and (inexact? t) (> t 1700000000.0))) => #t)
(check (let ((j (current-jiffy)) (s (current-second)))
         (let loop () (if (< (- (current-second) s) 0.02) (loop)))
         (let ((elapsed (/ (- (current-jiffy) j) (jiffies-per-second)))) (and (>= elapsed 1/100) (< elapsed 60))))
       => #t)
(check (list? (command-line)) => #t)
(check (string? (car (command-line))) => #t)
(check (cdr (command-line)) => '("one" "\"two\"" "3"))
(check (get-environment-variable "CAIRN_SURELY_NOT_SET") => #f)
(check (let ((all (get-environment-variables))) (or (null? all) (and (string? (caar all)) (string? (cdar all))))) => #t)
(check (and (memq 'r7rs (features)) #t) => #t)
(check (and (memq 'full-unicode (features)) #t) => #t)

;; exit runs the after thunks, innermost first, and flushes
(report)
(dynamic-wind
 (lambda () (display "in "))
 (lambda ()
   (dynamic-wind
    (lambda () (display "in "))
    (lambda () (exit #t))
    (lambda () (display "out "))))
 (lambda () (display "out") (newline)))
