;;; (rnrs unicode) of R6RS.
(define-library (rnrs unicode)
  (export
   char-upcase char-downcase char-titlecase char-foldcase char-ci=? char-ci<? char-ci>? char-ci<=? char-ci>=?
   char-alphabetic? char-numeric? char-whitespace? char-upper-case? char-lower-case? char-title-case?
   char-general-category
   string-upcase string-downcase string-titlecase string-foldcase string-ci=? string-ci<? string-ci>? string-ci<=?
   string-ci>=? string-normalize-nfd string-normalize-nfkd string-normalize-nfc string-normalize-nfkc)
  (import (scheme base) (scheme char) (rename (srfi 129) (string-titlecase titlecase)) (cairn unicode)
          (only (cairn control) wrong-type))
  (begin

    ;; Words are those of Unicode, in which digits may be: R6RS is one.
    (define (string-titlecase s)
      (if (not (string? s)) (wrong-type "string-titlecase" "a string" s))
      (apply string-append (map word-titlecase (string->words s))))
    (define (word-titlecase s)
      (let ((n (string-length s)))
        (let loop ((k 0))
          (cond
            ((= k n) s)
            ((cased? (string-ref s k))
             (string-append (substring s 0 k) (titlecase (string (string-ref s k)))
                            (let ((low (string-downcase (substring s k n))))
                              (substring low (string-length (string-downcase (string (string-ref s k))))
                                         (string-length low)))))
            (else (loop (+ k 1)))))))
    (define (cased? c)
      (or (char-upper-case? c) (char-lower-case? c) (char-title-case? c)))))
