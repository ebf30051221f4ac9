;;; A tour of Cairn: one program, six things that a Scheme does.
;;;
;;;     ./cairn run examples/tour.scm
;;;     ./cairn build examples/tour.scm -o tour && ./tour

(import (scheme base) (scheme write) (scheme char) (scheme inexact) (scheme file)
        (srfi 1) (cairn sort) (cairn hash-table))

(define (heading number title)
  (newline)
  (display number)
  (display ". ")
  (display title)
  (newline)
  (newline))

(define (display-line . things)
  (for-each display things)
  (newline))

;;;; 1. Floating point: the Mandelbrot set, every character a pixel.
;; Doubles of ordinary size live in the value word itself, so this loop allocates nothing.

(define (escape-time cr ci limit)
  (let loop ((zr 0.0) (zi 0.0) (n 0))
    (let ((zr2 (* zr zr)) (zi2 (* zi zi)))
      (if (or (= n limit) (> (+ zr2 zi2) 4.0))
          n
          (loop (+ (- zr2 zi2) cr) (+ (* 2.0 zr zi) ci) (+ n 1))))))

(define shades " .:-=+*#%@")

(define (mandelbrot width height)
  (do ((y 0 (+ y 1))) ((= y height))
    (do ((x 0 (+ x 1))) ((= x width))
      (let* ((cr (- (* 3.0 (/ x width)) 2.2))
             (ci (- (* 2.4 (/ y (- height 1))) 1.2))
             (n (escape-time (inexact cr) (inexact ci) 1000))
             (shade (if (= n 1000) 9 (min 8 (exact (floor (* 2 (log (+ n 1)))))))))
        (write-char (string-ref shades shade))))
    (newline)))

(heading 1 "Floating point: the Mandelbrot set")
(mandelbrot 72 25)

;;;; 2. Exact arithmetic: digits of pi, integers of any size.
;; Gibbons' streaming algorithm (2006): a linear fractional transformation, digit by digit.

(define (pi-digits count)
  (let loop ((q 1) (r 0) (t 1) (k 1) (n 3) (l 3) (digits '()))
    (cond
      ((= (length digits) count)
       (reverse digits))
      ((< (- (+ (* 4 q) r) t) (* n t))
       (loop (* 10 q) (* 10 (- r (* n t))) t k
             (- (quotient (* 10 (+ (* 3 q) r)) t) (* 10 n)) l
             (cons n digits)))
      (else
       (loop (* q k) (* (+ (* 2 q) r) l) (* t l) (+ k 1)
             (quotient (+ (* q (+ (* 7 k) 2)) (* r l)) (* t l))
             (+ l 2)
             digits)))))

(heading 2 "Exact integers: 300 digits of pi, and a ratio")
(let loop ((digits (pi-digits 300)) (column 0))
  (unless (null? digits)
    (display (car digits))
    (if (= column 0) (display "."))
    (if (= (modulo column 60) 59) (newline))
    (loop (cdr digits) (+ column 1))))
(display-line "H(30) = 1 + 1/2 + ... + 1/30 = " (fold + 0 (map / (iota 30 1))))

;;;; 3. Continuations: nondeterminism by backtracking.
;; (choose list) returns an element; (fail) goes back to the latest choice that has elements left.

(define choices '())

(define (fail)
  (let ((retry (car choices)))
    (set! choices (cdr choices))
    (retry #f)))

(define (choose options)
  (call/cc
   (lambda (return)
     (for-each
      (lambda (option)
        (call/cc
         (lambda (retry)
           (set! choices (cons retry choices))
           (return option))))
      options)
     (fail))))

(define (safe? row queens)
  (let loop ((queens queens) (distance 1))
    (or (null? queens)
        (and (not (= (car queens) row))
             (not (= (abs (- (car queens) row)) distance))
             (loop (cdr queens) (+ distance 1))))))

(define (place-queens n)
  (let loop ((queens '()))
    (if (= (length queens) n)
        queens
        (let ((row (choose (iota n))))
          (if (safe? row queens)
              (loop (cons row queens))
              (fail))))))

(heading 3 "Continuations: eight queens, found by going back in time")
(for-each
 (lambda (queen)
   (display "  ")
   (do ((column 0 (+ column 1))) ((= column 8))
     (display (if (= column queen) " Q" " .")))
   (newline))
 (place-queens 8))

;;;; 4. Macros: a little language for state machines, expanded into mutually recursive procedures.

(define-syntax automaton
  (syntax-rules (-> accept)
    ((_ start (state (symbol -> target) ... verdict) ...)
     (letrec ((state
               (lambda (input)
                 (cond
                   ((null? input) 'verdict)
                   ((eqv? (car input) symbol) (target (cdr input))) ...
                   (else 'reject))))
              ...)
       start))))

;; binary numerals divisible by three
(define divisible-by-three?
  (automaton zero
    (zero (#\0 -> zero) (#\1 -> one) accept)
    (one (#\0 -> two) (#\1 -> zero) reject)
    (two (#\0 -> one) (#\1 -> two) reject)))

(heading 4 "Macros: an automaton compiled to jumps")
(for-each
 (lambda (n)
   (let ((numeral (number->string n 2)))
     (display-line "  " numeral
                   (if (eq? (divisible-by-three? (string->list numeral)) 'accept) " is" " is not")
                   " divisible by three")))
 '(9 100 12345678901234567890))

;;;; 5. Data: hash tables, strings, sorting.

(define verse
  "Stone upon stone the cairn is made,
each hand that passes adds its own;
no stone is first, and none is last,
and none is lost, and none alone.
By day a mark, by mist a guide,
by night a shape against the sky:
stone upon stone, and hand by hand,
it stands where those who built it lie.")

(define (words text)
  (let loop ((chars (string->list text)) (word '()) (acc '()))
    (define (end) (if (null? word) acc (cons (list->string (reverse word)) acc)))
    (cond
      ((null? chars) (reverse (end)))
      ((char-alphabetic? (car chars)) (loop (cdr chars) (cons (char-downcase (car chars)) word) acc))
      (else (loop (cdr chars) '() (end))))))

(define (frequencies items)
  (let ((table (make-hash-table equal?)))
    (for-each (lambda (item) (hash-table-update!/default table item (lambda (n) (+ n 1)) 0)) items)
    (list-sort (lambda (a b)
                 (or (> (cdr a) (cdr b))
                     (and (= (cdr a) (cdr b)) (string<? (car a) (car b)))))
               (hash-table->alist table))))

(heading 5 "Data: the words of a verse")
(for-each
 (lambda (entry)
   (display-line "  " (make-string (cdr entry) #\#) (make-string (- 6 (cdr entry)) #\space) (car entry)))
 (take (frequencies (words verse)) 7))

;;;; 6. Errors are objects, the stack is as deep as memory, and what is opened is closed.

(define (depth n)
  (if (= n 0) 0 (+ 1 (depth (- n 1)))))

(define (attempt thunk)
  (guard (e ((file-error? e) (display-line "  a file error:  " (error-object-message e)))
            ((error-object? e)
             (display "  an error:      ")
             (display (error-object-message e))
             (for-each (lambda (x) (display " ") (write x)) (error-object-irritants e))
             (newline))
            (else (display-line "  something else: " e)))
    (dynamic-wind
     (lambda () (display "  ["))
     thunk
     (lambda () (display "]")))))

(heading 6 "Depth and errors")
(display-line "  a recursion " (depth 1000000) " calls deep")
(attempt (lambda () (vector-ref (vector 1 2 3) 3)))
(attempt (lambda () (error "the cairn has no stone named" 'granite 42)))
(attempt (lambda () (open-input-file "no/such/file")))
(attempt (lambda () (raise 'a-symbol)))
(newline)
