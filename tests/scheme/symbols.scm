;;; Symbols: what `write` prints of one is read back as that symbol, and has no bars that nobody needs; hexadecimal
;;; escapes outside of bars.
(import (scheme base) (scheme read) (scheme write))
(import (scheme base) (scheme read) (scheme write) (only (srfi 1) iota))
(define (written x)
  (let ((port (open-output-string)))
    (write x port)
    (get-output-string port)))

;; What the reader makes of a text in parentheses, or `wrong`.
(define (data text)
  (guard (c ((read-error? c) 'wrong))
    (let* ((port (open-input-string (string-append "(" text ")"))) (x (read port)))
      (if (eof-object? (read-char port)) x 'wrong))))

;; A backslash has bars, though it is read as itself: it means different things to other systems.
(define (needs-bars? name)
  (or (memv #\\ (string->list name))
      (char=? (string-ref name 0) #\#)
      (not (equal? (data name) (list (string->symbol name))))))

(define (check name)
  (let* ((symbol (string->symbol name)) (text (written symbol)))
    (unless (equal? (data text) (list symbol))
      (write (list 'not-read-back name text))
      (newline))
    (unless (or (not (char=? (string-ref text 0) #\|)) (needs-bars? name))
      (write (list 'bars-for-nothing name text))
      (newline))))

(define ascii (map integer->char (iota 128)))
(for-each (lambda (c) (check (string c))) ascii)
(for-each (lambda (c) (for-each (lambda (d) (check (string c d))) ascii)) (string->list "#|\\.+"))

;; Random names of what means something to the reader.
(define parts (string->list "+-.#|\\x;3iInNaAfF0eE/@ \"'`,"))
(define seed 2026)
(define (random n)
  (set! seed (modulo (+ (* seed 1103515245) 12345) 2147483648))
  (modulo (quotient seed 65536) n))
(do ((i 0 (+ i 1))) ((= i 800))
  (check (apply string (map (lambda (_) (list-ref parts (random (length parts)))) (iota (+ 1 (random 6)))))))
(check "a#|b|#")
(write (map string->symbol '("" "a#|" "+i" "1+" "+inf.0" "..." "." "#t" "a#" "\\x41;")))
(newline)

;; Escapes in names, at their beginning, too: what has one is no number.
(define (show text)
  (write (data text))
  (newline))
(show "\\x31;+ \\x31; a\\x20;b \\x61; b\\X3b;c")
(show "\\x28;\\x29;(\\x7c;)\\x3bb;")
(show "\\x \\xg \\y \\x41 \\")
(show "\\xD800;")
(show "#!fold-case AB\\x43;D A|B|C 1\\x45;1 1E1")
(define \x61;bc 3)
(write (list abc '(\x31;+ \x31; a\x20;b \x61;\X3b;b #!fold-case AB\x43;D #!no-fold-case) (symbol->string '\x31;)))
(newline)
