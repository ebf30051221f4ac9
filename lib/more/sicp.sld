;;; (sicp): the language of "Structure and Interpretation of Computer Programs": R5RS, streams, and the names that the
;;; book takes for granted.  The picture language is in (sicp picture).
(define-library (sicp)
  (export
   and begin case cond define define-syntax delay do if lambda let let* let-syntax letrec letrec-syntax or
   quasiquote quote set! syntax-rules unquote unquote-splicing else => ... _ * + - / < <= = > >= abs acos
   angle append apply asin assoc assq assv atan boolean? caaaar caaadr caaar caadar caaddr caadr caar cadaar
   cadadr cadar caddar cadddr caddr cadr call-with-current-continuation call-with-input-file
   call-with-output-file call-with-values car cdaaar cdaadr cdaar cdadar cdaddr cdadr cdar cddaar cddadr cddar
   cdddar cddddr cdddr cddr cdr ceiling char->integer char-alphabetic? char-ci<=? char-ci<? char-ci=?
   char-ci>=? char-ci>? char-downcase char-lower-case? char-numeric? char-ready? char-upcase char-upper-case?
   char-whitespace? char<=? char<? char=? char>=? char>? char? close-input-port close-output-port complex?
   cons cos current-input-port current-output-port denominator display dynamic-wind eof-object? eq? equal?
   eqv? even? exact->inexact exact? exp expt floor for-each force gcd imag-part inexact->exact inexact?
   input-port? integer->char integer? lcm length list list->string list->vector list-ref list-tail list? log
   magnitude make-polar make-rectangular make-string make-vector map max member memq memv min modulo negative?
   newline not null? number->string number? numerator odd? open-input-file open-output-file output-port? pair?
   peek-char positive? procedure? quotient rational? rationalize read read-char real-part
   real? remainder reverse round set-car! set-cdr! sin sqrt string string->list string->number string->symbol
   string-append string-ci<=? string-ci<? string-ci=? string-ci>=? string-ci>? string-copy string-fill!
   string-length string-ref string-set! string<=? string<? string=? string>=? string>? string? substring
   symbol->string symbol? tan truncate values vector vector->list vector-fill! vector-length vector-ref
   vector-set! vector? with-input-from-file with-output-to-file write write-char zero? eval
   interaction-environment load null-environment scheme-report-environment when unless let-values let*-values
   define-values define-record-type parameterize case-lambda guard raise error error-object?
   error-object-message error-object-irritants list-copy make-list string-map string-for-each vector-map
   vector-for-each vector-append vector-copy exact inexact exact-integer? square boolean=? symbol=?
   flush-output-port write-string read-line letrec* truncate/ floor/ eof-object true false nil
   the-empty-stream inc dec 1+ -1+ random runtime identity cons-stream stream-car stream-cdr stream-pair?
   stream-null? empty-stream?)
  (import (scheme r5rs)
          (only (scheme base) when unless let-values let*-values define-values define-record-type parameterize guard
                raise error error-object? error-object-message error-object-irritants list-copy make-list string-map
                string-for-each vector-map vector-for-each vector-append vector-copy exact inexact exact-integer? square
                boolean=? symbol=? flush-output-port write-string read-line letrec* truncate/ floor/ eof-object)
          (only (scheme case-lambda) case-lambda)
          (only (cairn dialects) true false nil the-empty-stream inc dec 1+ -1+ random runtime cons-stream stream-car
                stream-cdr stream-pair? stream-null? empty-stream?))
  (begin

    (define (identity x) x)))
