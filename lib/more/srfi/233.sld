;;; (srfi 233): INI files.
(define-library (srfi 233)
  (export make-ini-file-generator make-ini-file-accumulator)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type))
  (begin

    (define (blank? c) (or (char=? c #\space) (char=? c #\tab) (char=? c #\return)))
    (define (trim s)
      (let* ((n (string-length s))
             (start (let loop ((i 0))
                      (if (and (< i n) (blank? (string-ref s i))) (loop (+ i 1)) i)))
             (end (let loop ((i n))
                    (if (and (> i start) (blank? (string-ref s (- i 1)))) (loop (- i 1)) i))))
        (substring s start end)))
    (define (find s c)
      (let ((n (string-length s)))
        (let loop ((i 0))
          (and (< i n) (if (char=? c (string-ref s i)) i (loop (+ i 1)))))))

    (define make-ini-file-generator
      (case-lambda
        ((in) (make-ini-file-generator in #\=))
        ((in separator) (make-ini-file-generator in separator #\;))
        ((in separator comment)
         (let ((section #f))
           (lambda ()
             (let loop ()
               (let ((line (read-line in)))
                 (if (eof-object? line)
                     line
                     (let* ((mark (find line comment))
                            (line (trim (if mark (substring line 0 mark) line)))
                            (n (string-length line))
                            (place (find line separator)))
                       (cond
                         ((= n 0) (loop))
                         ((and (char=? #\[ (string-ref line 0)) (char=? #\] (string-ref line (- n 1))))
                          (set! section (string->symbol (substring line 1 (- n 1))))
                          (loop))
                         (place
                          (list section (string->symbol (trim (substring line 0 place)))
                                (trim (substring line (+ place 1) n))))
                         (else (list section (string->symbol line) #f))))))))))))

    (define make-ini-file-accumulator
      (case-lambda
        ((out) (make-ini-file-accumulator out #\=))
        ((out separator) (make-ini-file-accumulator out separator #\;))
        ((out separator comment)
         (let ((section #f))
           (lambda (x)
             (cond
               ((eof-object? x) x)
               ((string? x)
                (write-char comment out)
                (write-char #\space out)
                (write-string x out)
                (newline out))
               ((and (list? x) (= (length x) 3) (or (not (car x)) (symbol? (car x))) (symbol? (cadr x)))
                ;; the empty symbol is no section, either
                (if (not (memq (car x) (if section (list section) '(#f ||))))
                    (begin
                      (set! section (car x))
                      (write-char #\[ out)
                      (write-string (if section (symbol->string section) "") out)
                      (write-char #\] out)
                      (newline out)))
                (write-string (symbol->string (cadr x)) out)
                (let ((value (car (cddr x))))
                  (if value
                      (begin
                        (write-char separator out)
                        (write-string value out))))
                (newline out))
               (else (wrong-type "an accumulator of an INI file" "a comment or (section key value)" x))))))))))
