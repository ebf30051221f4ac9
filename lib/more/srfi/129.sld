;;; (srfi 129): title case.
;;;
;;; Few characters have a title case of their own: the digraphs of Latin, and Greek letters with an iota beside them,
;;; whose simple upper case it is.  Georgian letters have none.
(define-library (srfi 129)
  (export char-title-case? char-titlecase string-titlecase)
  (import (scheme base) (scheme char))
  (begin

    (define (char-title-case? c)
      (let ((n (char->integer c)))
        (or (and (memv n '(#x1c5 #x1c8 #x1cb #x1f2 #x1fbc #x1fcc #x1ffc)) #t)
            (<= #x1f88 n #x1f8f)
            (<= #x1f98 n #x1f9f)
            (<= #x1fa8 n #x1faf))))

    (define (char-titlecase c)
      (let ((n (char->integer c)))
        (cond ((<= #x1c4 n #x1cc) (integer->char (+ #x1c5 (* 3 (quotient (- n #x1c4) 3)))))
              ((<= #x1f1 n #x1f3) (integer->char #x1f2))
              ((<= #x10d0 n #x10ff) c)
              (else (char-upcase c)))))

    ;; The titles of characters that become several.
    (define expansions
      '((#xdf . "Ss") (#x149 . "ʼN") (#x1f0 . "J̌") (#x390 . "Ϊ́") (#x3b0 . "Ϋ́") (#x587 . "Եւ") (#x1e96 . "H̱")
        (#x1e97 . "T̈") (#x1e98 . "W̊") (#x1e99 . "Y̊") (#x1e9a . "Aʾ") (#xfb00 . "Ff") (#xfb01 . "Fi") (#xfb02 . "Fl")
        (#xfb03 . "Ffi") (#xfb04 . "Ffl") (#xfb05 . "St") (#xfb06 . "St") (#xfb13 . "Մն") (#xfb14 . "Մե")
        (#xfb15 . "Մի") (#xfb16 . "Վն") (#xfb17 . "Մխ")))

    (define (title c)
      (let ((several (assv (char->integer c) expansions)))
        (if several (cdr several) (string (char-titlecase c)))))

    ;; A word is letters, with what is inside of words: apostrophes and marks that combine.
    (define (inside? c)
      (or (char-alphabetic? c)
          (memv c '(#\' #\x2019 #\xad))
          (<= #x300 (char->integer c) #x36f)))

    ;; The rest of a word goes through string-downcase as a whole, for the final sigma is another one.
    (define (string-titlecase s)
      (let ((n (string-length s)) (out (open-output-string)))
        (let loop ((i 0))
          (cond
            ((= i n) (get-output-string out))
            ((char-alphabetic? (string-ref s i))
             (let ((end (let next ((j (+ i 1)))
                          (if (and (< j n) (inside? (string-ref s j))) (next (+ j 1)) j))))
               (write-string (title (string-ref s i)) out)
               ;; with the first letter before it, so that a sigma knows whether it stands alone
               (let ((lower (string-downcase (string-append "a" (substring s (+ i 1) end)))))
                 (write-string lower out 1))
               (loop end)))
            (else
             (write-char (string-ref s i) out)
             (loop (+ i 1)))))))))
