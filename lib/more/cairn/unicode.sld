;;; (cairn unicode): general categories, normal forms, and the parts of a text: graphemes, words, sentences.
;;;
;;; The tables are those of the crates unicode-properties, unicode-normalization and unicode-segmentation.
(define-library (cairn unicode)
  (export char-general-category
          string-normalize-nfd string-normalize-nfkd string-normalize-nfc string-normalize-nfkc
          string->graphemes string->words string->sentences string-grapheme-count)
  (import (scheme base) (only (cairn control) wrong-type)
          (only (cairn primitives) %char-category %string-normal-form %string-segments))
  (begin

    (define categories
      #(Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn))
    (define (char-general-category c)
      (if (char? c)
          (vector-ref categories (%char-category c))
          (wrong-type "char-general-category" "a character" c)))

    (define (check who s)
      (if (string? s) s (wrong-type who "a string" s)))
    (define (string-normalize-nfd s) (%string-normal-form (check "string-normalize-nfd" s) 0))
    (define (string-normalize-nfkd s) (%string-normal-form (check "string-normalize-nfkd" s) 1))
    (define (string-normalize-nfc s) (%string-normal-form (check "string-normalize-nfc" s) 2))
    (define (string-normalize-nfkc s) (%string-normal-form (check "string-normalize-nfkc" s) 3))

    ;; Lists of strings which, appended, are the string: what people see as characters (extended grapheme clusters);
    ;; what lies between the bounds of words, so spaces and punctuation too; sentences.  UAX 29.
    (define (string->graphemes s) (%string-segments (check "string->graphemes" s) 0))
    (define (string->words s) (%string-segments (check "string->words" s) 1))
    (define (string->sentences s) (%string-segments (check "string->sentences" s) 2))
    (define (string-grapheme-count s) (length (%string-segments (check "string-grapheme-count" s) 0)))))
