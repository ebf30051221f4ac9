;;; (cairn pretty): data and programs in lines of a given width.
;;;
;;; A tree of texts with their widths is made first, so what does not fit is found without writing it. A *node* is a
;;; string, or a part: its width when it stands in one line, the text that opens it, the nodes inside and the node
;;; behind the dot, or #f. What fits stands in one line; else
;;;
;;;     (define (f x)          a form with a body: so many operands as its head wants, the others indented by two
;;;       body)
;;;     (call operand          a list that begins with a symbol
;;;           operand)
;;;     (datum                 any other one
;;;      datum)
;;;     (1 2 3 4 5 …           atoms, unless they may be a call, fill the lines
;;;      6 7)
;;;
;;; Data that contain themselves, as all that have more than a million parts, are written in one line. `format` of
;;; SRFI 48 has a smaller printer for ~y, as this one would be in all programs that use `format`.
(define-library (cairn pretty)
  (export write-pretty)
  (import (scheme base))
  (begin

    ;; `write-atom` writes what is neither a list nor a vector, to a port; it also writes data that contain themselves.
    (define (write-pretty x port width write-atom)
      (if (= 0 (parts-left x most-parts))
          (write-atom x port)
          (print (node x write-atom) port 0 0 width))
      (newline port))

    (define most-parts 1000000)
    ;; How many of so many parts are left after those of `x`; 0 if it has more.
    (define (parts-left x n)
      (let loop ((x x) (n n))
        (cond ((<= n 0) 0)
              ((pair? x) (loop (cdr x) (parts-left (car x) (- n 1))))
              ((vector? x)
               (let each ((i 0) (n n))
                 (if (and (> n 0) (< i (vector-length x)))
                     (each (+ i 1) (parts-left (vector-ref x i) (- n 1)))
                     n)))
              (else n))))

    ;;;; Nodes

    (define-record-type part (make-part width opening nodes tail) part?
      (width part-width) (opening opening) (nodes nodes) (tail tail))
    (define (width-of node)
      (if (string? node) (string-length node) (part-width node)))

    (define (node x write-atom)
      (define (atom x)
        (let ((out (open-output-string)))
          (write-atom x out)
          (get-output-string out)))
      (define (node x)
        (cond ((prefix x) => (lambda (mark) (prefixed mark (node (cadr x)))))
              ((pair? x)
               (let loop ((x x) (done '()))
                 (if (pair? x)
                     (loop (cdr x) (cons (node (car x)) done))
                     (whole "(" (reverse done) (if (null? x) #f (node x))))))
              ((and (vector? x) (> (vector-length x) 0)) (whole "#(" (map node (vector->list x)) #f))
              (else (atom x))))
      (node x))
    (define (whole opening nodes tail)
      (let loop ((l nodes) (n (+ (string-length opening) (length nodes) (if tail (+ 3 (width-of tail)) 0))))
        (if (null? l)
            (make-part n opening nodes tail)
            (loop (cdr l) (+ n (width-of (car l)))))))
    (define (prefixed mark node)
      (if (string? node)
          (string-append mark node)
          (make-part (+ (string-length mark) (part-width node)) (string-append mark (opening node)) (nodes node)
                     (tail node))))
    (define (prefix x)
      (and (pair? x) (pair? (cdr x)) (null? (cddr x))
           (case (car x)
             ((quote) "'") ((quasiquote) "`") ((unquote) ",") ((unquote-splicing) ",@")
             (else #f))))

    ;;;; Lines

    ;; How many operands stand in the first line of a form with a body.
    (define (operands-of head)
      (case (string->symbol head)
        ((begin case-lambda else) 0)
        ((define lambda let let* letrec letrec* let-values let*-values let-syntax letrec-syntax define-syntax
          define-values define-record-type define-library library module when unless case guard parameterize
          syntax-rules fluid-let receive match match-lambda define-macro define-public named-lambda λ rec with-syntax
          define-structure define-class define-method do)
         1)
        ((syntax-case do-ec) 2)
        (else #f)))
    ;; One more for the name of a named let.
    (define (operands part)
      (let* ((l (nodes part)) (n (and (string? (car l)) (operands-of (car l)))))
        (if (and (eqv? n 1) (member (car l) '("let" "do"))
                 (pair? (cdr l)) (string? (cadr l)) (not (string=? (cadr l) "()")))
            2
            n)))

    ;; `after`: how many parentheses follow in the last line.
    (define (print node port column after width)
      (cond ((string? node) (write-string node port))
            ((<= (+ column (part-width node) after) width) (print-flat node port))
            (else
             (let* ((start (+ column (string-length (opening node)))) (l (nodes node)) (n (operands node)))
               (write-string (opening node) port)
               (cond ((and (all-strings? l) (not (and (symbol-text? (car l)) (< (length l) 6))))
                      (print-filled node port start after width))
                     (n (print-body node port column start n after width))
                     ((and (symbol-text? (car l)) (pair? (cdr l)) (<= (string-length (car l)) 24))
                      (write-string (car l) port)
                      (write-char #\space port)
                      (print-lines (cdr l) (tail node) port (+ start (string-length (car l)) 1) after width))
                     (else (print-lines l (tail node) port start after width)))
               (write-char #\) port)))))

    (define (print-flat node port)
      (if (string? node)
          (write-string node port)
          (begin
            (write-string (opening node) port)
            (print-flat (car (nodes node)) port)
            (for-each (lambda (n) (write-char #\space port) (print-flat n port)) (cdr (nodes node)))
            (if (tail node)
                (begin (write-string " . " port)
                       (print-flat (tail node) port)))
            (write-char #\) port))))
    (define (all-strings? l)
      (or (null? l) (and (string? (car l)) (all-strings? (cdr l)))))
    ;; Is it the text of a symbol, and of no number, string, character or the like?
    (define (symbol-text? node)
      (and (string? node)
           (not (memv (string-ref node 0) '(#\" #\# #\' #\` #\,)))
           (not (string->number node))))

    (define (next-line port column)
      (newline port)
      (write-string (make-string column #\space) port))
    ;; One below the other.
    (define (print-lines l tail port column after width)
      (let loop ((l l))
        (print (car l) port column (if (and (null? (cdr l)) (not tail)) (+ after 1) 0) width)
        (if (pair? (cdr l))
            (begin (next-line port column)
                   (loop (cdr l)))
            (print-tail tail port column after width))))
    (define (print-tail tail port column after width)
      (if tail
          (begin (next-line port column)
                 (write-string ". " port)
                 (print tail port (+ column 2) (+ after 1) width))))
    (define (print-filled node port start after width)
      (let loop ((l (cdr (nodes node))) (column (+ start (write-text (car (nodes node)) port))))
        (cond ((null? l) (print-tail (tail node) port start after width))
              ((<= (+ column 1 (string-length (car l)) (if (null? (cdr l)) (+ after 1) 0)) width)
               (write-char #\space port)
               (loop (cdr l) (+ column 1 (write-text (car l) port))))
              (else
               (next-line port start)
               (loop (cdr l) (+ start (write-text (car l) port)))))))
    (define (write-text s port)
      (write-string s port)
      (string-length s))
    (define (print-body node port column start n after width)
      (let loop ((l (cdr (nodes node))) (n n) (column (+ start (write-text (car (nodes node)) port))))
        (if (and (> n 0) (pair? l))
            (begin
              (write-char #\space port)
              (print (car l) port (+ column 1) (if (and (null? (cdr l)) (not (tail node))) (+ after 1) 0) width)
              (loop (cdr l) (- n 1) (+ column 1 (width-of (car l)))))
            (let ((inside (+ start 1)))
              (if (pair? l)
                  (begin (next-line port inside)
                         (print-lines l (tail node) port inside after width))
                  (print-tail (tail node) port inside after width))))))))
