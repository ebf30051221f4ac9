;;; (srfi 48): format.
;;;
;;;   ~a ~s ~w ~y    display, write, write with labels, pretty print      ~d ~x ~o ~b    numbers by radix
;;;   ~w,dF          numbers by width and digits                          ~c             character
;;;   ~? ~k          another control string and its list of arguments     ~% ~& ~_ ~t ~~ ~h
(define-library (srfi 48)
  (export format)
  (import (scheme base) (scheme char) (only (scheme complex) real-part imag-part) (scheme write)
          (only (cairn control) wrong-type))
  (begin

    (define (format first . rest)
      (cond
        ((string? first) (format-to-string first rest))
        ((null? rest) (error "format: a control string is missing"))
        ((not (string? (car rest))) (wrong-type "format" "a control string" (car rest)))
        ((not first) (format-to-string (car rest) (cdr rest)))
        ((output-port? first) (write-string (format-to-string (car rest) (cdr rest)) first))
        ((eq? first #t) (write-string (format-to-string (car rest) (cdr rest)) (current-output-port)))
        (else (wrong-type "format" "a boolean, an output port or a control string" first))))

    (define (format-to-string control arguments)
      (let* ((port (open-output-string))
             (left (format-on port control arguments)))
        (if (pair? left)
            (error "format: more arguments than the control string uses:" left control))
        (get-output-string port)))

    ;; Is the port at the beginning of a line?
    (define (fresh? port)
      (let* ((s (get-output-string port)) (n (string-length s)))
        (or (= n 0) (char=? (string-ref s (- n 1)) #\newline))))

    ;; Returns the arguments that are left.
    (define (format-on port control arguments)
      (define n (string-length control))
      (define (fail message . irritants)
        (apply error (string-append "format: " message) (append irritants (list control))))
      (let loop ((i 0) (args arguments))
        (define (argument)
          (if (null? args) (fail "too few arguments for") (car args)))
        (define (number radix)
          (let ((x (argument)))
            (if (number? x)
                (write-string (number->string x radix) port)
                (wrong-type "format" "a number" x))))
        (cond
          ((= i n) args)
          ((not (char=? (string-ref control i) #\~))
           (write-char (string-ref control i) port)
           (loop (+ i 1) args))
          ((= (+ i 1) n) (fail "a tilde ends"))
          (else
           (let ((next (+ i 2)))
             (define (used) (loop next (cdr args)))
             (case (char-downcase (string-ref control (+ i 1)))
               ((#\a) (display (argument) port) (used))
               ((#\s) (write (argument) port) (used))
               ((#\w) (write-shared (argument) port) (used))
               ((#\y) (pretty-print (argument) port) (used))
               ((#\d) (number 10) (used))
               ((#\x) (number 16) (used))
               ((#\o) (number 8) (used))
               ((#\b) (number 2) (used))
               ((#\c)
                (let ((c (argument)))
                  (if (not (char? c)) (wrong-type "format" "a character" c))
                  (write-char c port)
                  (used)))
               ((#\? #\k)
                (let ((inner (argument)))
                  (if (not (string? inner)) (wrong-type "format" "a control string" inner))
                  (if (not (and (pair? (cdr args)) (list? (cadr args)))) (fail "~? takes a list of arguments in"))
                  (let ((left (format-on port inner (cadr args))))
                    (if (pair? left) (error "format: more arguments than the control string uses:" left inner))
                    (loop next (cddr args)))))
               ((#\%) (newline port) (loop next args))
               ((#\&)
                (if (not (fresh? port)) (newline port))
                (loop next args))
               ((#\t) (write-char #\tab port) (loop next args))
               ((#\_) (write-char #\space port) (loop next args))
               ((#\~) (write-char #\~ port) (loop next args))
               ((#\h) (write-string help port) (loop next args))
               ((#\f)
                (write-string (fixed (argument) 0 #f) port)
                (used))
               (else
                (let*-values (((width at) (digits control (+ i 1)))
                              ((places end)
                               (if (and width (< at n) (char=? (string-ref control at) #\,))
                                   (digits control (+ at 1))
                                   (values #f at))))
                  (if (not (and width (< end n) (char-ci=? (string-ref control end) #\f)))
                      (fail "unknown directive" (string-ref control (+ i 1))))
                  (write-string (fixed (argument) width places) port)
                  (loop (+ end 1) (cdr args))))))))))

    ;; The number at `start` of the control string, or #f, and where it ends.
    (define (digits control start)
      (let loop ((i start) (value #f))
        (let ((d (and (< i (string-length control)) (digit-value (string-ref control i)))))
          (if d
              (loop (+ i 1) (+ (* 10 (or value 0)) d))
              (values value i)))))

    (define (pad s width)
      (let ((n (string-length s)))
        (if (< n width)
            (string-append (make-string (- width n) #\space) s)
            s)))

    ;; A number, or a string, in a field of `width`; with `places` digits behind the point.
    (define (fixed x width places)
      (cond
        ((string? x) (pad x width))
        ((not (number? x)) (wrong-type "format" "a number or a string" x))
        ((not places) (pad (number->string x) width))
        ((real? x) (pad (fixed-real x places) width))
        (else
         (let ((imaginary (fixed-real (imag-part x) places)))
           (pad (string-append (fixed-real (real-part x) places)
                               (if (char=? (string-ref imaginary 0) #\-) "" "+")
                               imaginary
                               "i")
                width)))))

    ;; Correctly rounded, ties to even.
    (define (fixed-real x places)
      (if (not (and (rational? x) (= x x)))
          (number->string x)
          (let* ((scaled (round (* (exact (abs x)) (expt 10 places))))
                 (digits (number->string scaled))
                 (digits (if (<= (string-length digits) places)
                             (string-append (make-string (- (+ places 1) (string-length digits)) #\0) digits)
                             digits))
                 (point (- (string-length digits) places)))
            (string-append (if (and (negative? x) (not (eqv? scaled 0))) "-" "")
                           (string-copy digits 0 point)
                           "."
                           (string-copy digits point)))))

    ;; Lists that do not fit into a line are broken behind their first element.
    (define (pretty-print x port)
      (define (text x)
        (let ((p (open-output-string)))
          (write x p)
          (get-output-string p)))
      (define (print x column)
        (let ((s (text x)))
          (if (or (not (pair? x)) (not (list? x)) (<= (+ column (string-length s)) 79))
              (write-string s port)
              (begin
                (write-char #\( port)
                (print (car x) (+ column 1))
                (for-each (lambda (y)
                            (newline port)
                            (write-string (make-string (+ column 2) #\space) port)
                            (print y (+ column 2)))
                          (cdr x))
                (write-char #\) port)))))
      (print x 0)
      (newline port))

    (define help
      "(format [<port>] <format-string> [<arg>...]) -- <port> is #t, #f or an output port
~a display   ~s write   ~w write with labels   ~y pretty print
~d decimal   ~x hexadecimal   ~o octal   ~b binary   ~c character
~[w[,d]]F number in a field of width w with d digits behind the point
~? ~k next argument is a format string, the one after it its list of arguments
~% newline   ~& newline unless at the beginning of a line   ~t tab   ~_ space   ~~ tilde   ~h this help
")))
