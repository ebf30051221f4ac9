;;; (cairn text): booleans, characters, symbols and strings.
;;;
;;; Strings are flat arrays of characters, so indexing is constant time and ranges are block moves in the runtime.
;;; Optional start and end arguments become explicit bounds, which the runtime checks.

(define-library (cairn text)
  (export
   (rename %boolean? boolean?) (rename %not not) boolean=?
   ;; characters
   (rename %char? char?) (rename %char->integer char->integer) (rename %integer->char integer->char)
   char=? char<? char>? char<=? char>=?
   char-ci=? char-ci<? char-ci>? char-ci<=? char-ci>=?
   char-upcase char-downcase char-foldcase
   char-alphabetic? char-numeric? char-whitespace?
   (rename %char-upper-case? char-upper-case?) (rename %char-lower-case? char-lower-case?)
   (rename %digit-value digit-value)
   ;; symbols
   (rename %symbol? symbol?) symbol=? (rename %symbol->string symbol->string)
   (rename %string->symbol string->symbol) (rename %generate-symbol generate-symbol) symbol-append
   ;; strings
   (rename %string? string?) (rename %string-length string-length)
   (rename %string-ref string-ref) (rename %string-set! string-set!)
   make-string string string-copy substring string-copy! string-fill!
   string-append string->list (rename %list->string list->string) string->vector vector->string
   string=? string<? string>? string<=? string>=?
   string-ci=? string-ci<? string-ci>? string-ci<=? string-ci>=?
   (rename %string-upcase string-upcase) (rename %string-downcase string-downcase)
   (rename %string-foldcase string-foldcase)
   string-map string-for-each string->utf8 utf8->string
   string-join string-index string-search-forward string-prefix? string-null? (rename %string-hash string-hash))
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn list))
  (begin

    ;; A predicate that holds for all neighbours among its arguments. `test` checks its operands. It is repeated, for
    ;; errors give the name of the definition that they are in, and a procedure that calls itself is not inlined.
    (define-syntax define-chain
      (syntax-rules ()
        ((_ name (a b) test)
         (begin
           (define-syntax two? (syntax-rules () ((_ a b) test)))
           (define name
             (case-lambda
               ((a b) test)
               ((x y z) (if (two? x y) (two? y z) (begin (two? y z) #f)))
               ((x) (two? x x) #t)
               ((x y . rest)
                (let loop ((ok (two? x y)) (y y) (rest rest))
                  (if (%null? rest)
                      ok
                      (let ((z (%car rest)))
                        (let ((next (two? y z)))
                          (loop (if ok next #f) z (%cdr rest)))))))))))))

    (define (check-boolean x)
      (if (%boolean? x) x (wrong-type "boolean=?" "a boolean" x)))
    (define-chain boolean=? (a b)
      (%eq? (check-boolean a) (check-boolean b)))

    ;;;; Characters

    (define-chain char=? (a b) (%char=? a b))
    (define-chain char<? (a b) (%char<? a b))
    (define-chain char>? (a b) (%char<? b a))
    (define-chain char<=? (a b) (%not (%char<? b a)))
    (define-chain char>=? (a b) (%not (%char<? a b)))

    ;; ASCII is decided here.  What is no character goes to the runtime, which says so.
    (define-syntax define-by-code
      (syntax-rules ()
        ((_ (name c n) ascii other)
         (define (name c)
           (if (%char? c)
               (let ((n (%char->integer c)))
                 (if (%fx< n 128) ascii (other c)))
               (other c))))))

    (define-by-code (char-upcase c n)
      (if (if (%fx<= 97 n) (%fx<= n 122) #f)
          (%integer->char (%fx- n 32))
          c)
      %char-upcase)
    (define-by-code (char-downcase c n)
      (if (if (%fx<= 65 n) (%fx<= n 90) #f)
          (%integer->char (%fx+ n 32))
          c)
      %char-downcase)
    (define-by-code (char-foldcase c n)
      (if (if (%fx<= 65 n) (%fx<= n 90) #f)
          (%integer->char (%fx+ n 32))
          c)
      %char-foldcase)

    (define-syntax fold
      (syntax-rules ()
        ((_ c) (if (%char? c) (char-foldcase c) (%char-foldcase c)))))
    (define-chain char-ci=? (a b) (%char=? (fold a) (fold b)))
    (define-chain char-ci<? (a b) (%char<? (fold a) (fold b)))
    (define-chain char-ci>? (a b) (%char<? (fold b) (fold a)))
    (define-chain char-ci<=? (a b) (%not (%char<? (fold b) (fold a))))
    (define-chain char-ci>=? (a b) (%not (%char<? (fold a) (fold b))))

    (define-by-code (char-alphabetic? c n)
      (let ((lower (%fxior n 32)))
        (if (%fx<= 97 lower) (%fx<= lower 122) #f))
      %char-alphabetic?)
    (define-by-code (char-numeric? c n)
      (if (%fx<= 48 n) (%fx<= n 57) #f)
      %char-numeric?)
    (define-by-code (char-whitespace? c n)
      (if (%fx= n 32) #t (if (%fx<= 9 n) (%fx<= n 13) #f))
      %char-whitespace?)

    ;;;; Symbols

    (define (check-symbol x)
      (if (%symbol? x) x (wrong-type "symbol=?" "a symbol" x)))
    (define-chain symbol=? (a b)
      (%eq? (check-symbol a) (check-symbol b)))

    (define (symbol-append . symbols)
      (%string->symbol (%string-concat (map (lambda (s) (%symbol->string s)) symbols))))

    ;;;; Strings

    (define make-string
      (case-lambda
        ((n) (%make-string n #\space))
        ((n c) (%make-string n c))))

    (define (string . chars)
      (%list->string chars))

    (define-syntax define-copy
      (syntax-rules ()
        ((_ name)
         (define name
           (case-lambda
             ((s) (%substring s 0 (%string-length s)))
             ((s start) (%substring s start (%string-length s)))
             ((s start end) (%substring s start end)))))))
    (define-copy string-copy)
    (define-copy substring)

    (define string-copy!
      (case-lambda
        ((to at from) (%string-copy! to at from 0 (%string-length from)))
        ((to at from start) (%string-copy! to at from start (%string-length from)))
        ((to at from start end) (%string-copy! to at from start end))))

    (define string-fill!
      (case-lambda
        ((s c) (%string-fill! s c 0 (%string-length s)))
        ((s c start) (%string-fill! s c start (%string-length s)))
        ((s c start end) (%string-fill! s c start end))))

    (define string-append
      (case-lambda
        ((a b) (%string-append a b))
        (() (%make-string 0 #\space))
        ((a) (%substring a 0 (%string-length a)))
        (strings (%string-concat strings))))

    (define string->list
      (case-lambda
        ((s) (string->list s 0 (%string-length s)))
        ((s start) (string->list s start (%string-length s)))
        ((s start end)
         (if (is-range? start end (%string-length s))
             (let loop ((i end) (l '()))
               (if (%fx< start i)
                   (let ((i (%fx- i 1)))
                     (loop i (%cons (%string-ref s i) l)))
                   l))
             (%string->list s start end)))))

    (define string->vector
      (case-lambda
        ((s) (%string->vector s 0 (%string-length s)))
        ((s start) (%string->vector s start (%string-length s)))
        ((s start end) (%string->vector s start end))))

    (define vector->string
      (case-lambda
        ((v) (%vector->string v 0 (%vector-length v)))
        ((v start) (%vector->string v start (%vector-length v)))
        ((v start end) (%vector->string v start end))))

    (define string->utf8
      (case-lambda
        ((s) (%string->utf8 s 0 (%string-length s)))
        ((s start) (%string->utf8 s start (%string-length s)))
        ((s start end) (%string->utf8 s start end))))

    (define utf8->string
      (case-lambda
        ((b) (%utf8->string b 0 (%bytevector-length b)))
        ((b start) (%utf8->string b start (%bytevector-length b)))
        ((b start end) (%utf8->string b start end))))

    (define-chain string=? (a b) (%string=? a b))
    (define-chain string<? (a b) (%fx< (%string-compare a b) 0))
    (define-chain string>? (a b) (%fx< 0 (%string-compare a b)))
    (define-chain string<=? (a b) (%fx<= (%string-compare a b) 0))
    (define-chain string>=? (a b) (%fx<= 0 (%string-compare a b)))

    (define-syntax compare-ci
      (syntax-rules ()
        ((_ a b) (%string-compare (%string-foldcase a) (%string-foldcase b)))))
    (define-chain string-ci=? (a b) (%fx= (compare-ci a b) 0))
    (define-chain string-ci<? (a b) (%fx< (compare-ci a b) 0))
    (define-chain string-ci>? (a b) (%fx< 0 (compare-ci a b)))
    (define-chain string-ci<=? (a b) (%fx<= (compare-ci a b) 0))
    (define-chain string-ci>=? (a b) (%fx<= 0 (compare-ci a b)))

    (define-syntax min-length
      (syntax-rules ()
        ((_ strings)
         (let loop ((n (%string-length (%car strings))) (rest (%cdr strings)))
           (if (%null? rest)
               n
               (let ((m (%string-length (%car rest))))
                 (loop (if (%fx< m n) m n) (%cdr rest))))))))

    (define (refs strings i)
      (if (%null? strings)
          '()
          (%cons (%string-ref (%car strings) i) (refs (%cdr strings) i))))

    (define string-map
      (case-lambda
        ((f s)
         (let ((n (%string-length s)))
           (let loop ((i 0) (acc '()))
             (if (%fx< i n)
                 (loop (%fx+ i 1) (%cons (f (%string-ref s i)) acc))
                 (%list->string (reverse acc))))))
        ((f s . strings)
         (let* ((strings (%cons s strings))
                (n (min-length strings)))
           (let loop ((i 0) (acc '()))
             (if (%fx< i n)
                 (loop (%fx+ i 1) (%cons (%apply f (refs strings i)) acc))
                 (%list->string (reverse acc))))))))

    (define string-for-each
      (case-lambda
        ((f s)
         (let ((n (%string-length s)))
           (let loop ((i 0))
             (if (%fx< i n)
                 (begin
                   (f (%string-ref s i))
                   (loop (%fx+ i 1)))))))
        ((f s . strings)
         (let* ((strings (%cons s strings))
                (n (min-length strings)))
           (let loop ((i 0))
             (if (%fx< i n)
                 (begin
                   (%apply f (refs strings i))
                   (loop (%fx+ i 1)))))))))

    ;;;; Beyond R7RS, from SRFI 13 and 130

    (define (string-null? s)
      (%fx= (%string-length s) 0))

    (define string-join
      (case-lambda
        ((strings) (string-join strings " "))
        ((strings separator)
         (if (%null? strings)
             (%make-string 0 #\space)
             (%string-concat
              (%cons (%car strings)
                     (let loop ((rest (%cdr strings)))
                       (if (%null? rest)
                           '()
                           (%cons separator (%cons (%car rest) (loop (%cdr rest))))))))))))

    ;; Index of the first character that is, or satisfies, `what`; or #f.
    (define (string-index s what)
      (let ((n (%string-length s)))
        (let loop ((i 0))
          (cond
            ((%fx= i n) #f)
            ((if (%char? what) (%char=? what (%string-ref s i)) (what (%string-ref s i))) i)
            (else (loop (%fx+ i 1)))))))

    ;; Does `pattern` occur in `s` at `start`?
    (define (match-at? pattern s start)
      (let ((n (%string-length pattern)))
        (if (%fx<= (%fx+ start n) (%string-length s))
            (let loop ((i 0))
              (cond
                ((%fx= i n) #t)
                ((%char=? (%string-ref pattern i) (%string-ref s (%fx+ start i))) (loop (%fx+ i 1)))
                (else #f)))
            #f)))

    (define (string-prefix? prefix s)
      (match-at? prefix s 0))

    (define (string-search-forward pattern s start)
      (let ((last (%fx- (%string-length s) (%string-length pattern))))
        (let loop ((i start))
          (cond
            ((%fx< last i) #f)
            ((match-at? pattern s i) i)
            (else (loop (%fx+ i 1)))))))))
