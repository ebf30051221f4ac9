;; (srfi 14): every procedure; the standard sets against predicates; set algebra against membership.
(import (scheme base) (scheme char) (scheme write) (scheme charset))
(include "include/check.scm")

(define vowels (char-set #\a #\e #\i #\o #\u))
(define (text cs) (char-set->string cs))

;; making and taking apart
(check (text (char-set #\c #\a #\b #\a)) => "abc")
(check (text (list->char-set '(#\z #\b))) => "bz")
(check (text (list->char-set '(#\z) vowels)) => "aeiouz")
(check (text (string->char-set "hello" (char-set #\!))) => "!ehlo")
(check (text (string->char-set! "ab" vowels)) => "abeiou")
(check (text (ucs-range->char-set 97 100)) => "abc")
(check (text (ucs-range->char-set 97 99 #t vowels)) => "abeiou")
(check (char-set-size (ucs-range->char-set #xD7FF #xE001)) => 2)
(check-error (ucs-range->char-set #xD7FF #xE001 #t))
(check-error (ucs-range->char-set 5 2))
(check (text (char-set-filter char-upper-case? char-set:ascii)) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
(check (text (char-set-filter char-numeric? char-set:ascii vowels)) => "0123456789aeiou")
(check (text (char-set-unfold null? car cdr '(#\b #\d) vowels)) => "abdeiou")
(check (list (text (->char-set "ba")) (text (->char-set #\x)) (text (->char-set vowels))) => '("ab" "x" "aeiou"))
(check (char-set->list vowels) => '(#\a #\e #\i #\o #\u))
(check (text (char-set-copy vowels)) => "aeiou")
(check (let ((odd '())) (char-set-for-each (lambda (c) (set! odd (cons c odd))) vowels) (length odd)) => 5)
(check (text (char-set-map char-upcase vowels)) => "AEIOU")
(check (char-set-fold (lambda (c n) (+ n 1)) 0 vowels) => 5)
(check (let loop ((k (char-set-cursor vowels)) (l '()))
         (if (end-of-char-set? k) (reverse l) (loop (char-set-cursor-next vowels k) (cons (char-set-ref vowels k) l))))
       => '(#\a #\e #\i #\o #\u))

;; asking
(check (list (char-set? vowels) (char-set? "a")) => '(#t #f))
(check (list (char-set=) (char-set= vowels) (char-set= vowels (string->char-set "uoiea") (char-set-copy vowels))
             (char-set= vowels (char-set #\a)))
       => '(#t #t #t #f))
(check (list (char-set<= (char-set #\a) vowels char-set:letter char-set:full) (char-set<= vowels (char-set #\a))
             (char-set<=))
       => '(#t #f #t))
(check (= (char-set-hash vowels) (char-set-hash (string->char-set "uoiea"))) => #t)
(check (< -1 (char-set-hash char-set:letter 100) 100) => #t)
(check (list (char-set-size vowels) (char-set-size char-set:full) (char-set-size char-set:empty)) => '(5 1112064 0))
(check (char-set-count char-alphabetic? char-set:ascii) => 52)
(check (list (char-set-contains? vowels #\e) (char-set-contains? vowels #\x) (char-set-contains? vowels #\λ))
       => '(#t #f #f))
(check (list (char-set-every char-alphabetic? vowels) (char-set-every char-upper-case? vowels)
             (char-set-any char-numeric? vowels) (char-set-any char-upcase vowels))
       => '(#t #f #f #\A))

;; algebra
(check (text (char-set-adjoin vowels #\y #\a)) => "aeiouy")
(check (text (char-set-delete vowels #\a #\b)) => "eiou")
(check (text (char-set-adjoin! vowels #\y)) => "aeiouy")
(check (text (char-set-delete! vowels #\u)) => "aeio")
(define some-sets
  (list char-set:empty char-set:full vowels char-set:ascii char-set:letter char-set:hex-digit
        (char-set #\λ #\a) (ucs-range->char-set 100 105) (char-set-complement vowels)))
(define some-chars (map integer->char '(0 47 48 57 58 65 96 97 98 99 100 101 104 105 106 117 127 128 955 956 #xD7FF
                                          #xE000 #x10FFFF)))
(define-syntax both
  (syntax-rules ()
    ((_ (a b) (name x y) ...)
     (for-each
      (lambda (a)
        (for-each
         (lambda (b)
           (check (map (lambda (c) (list (char-set-contains? (name a b) c) ...)) some-chars)
                  => (map (lambda (c)
                            (let ((p (char-set-contains? a c)) (q (char-set-contains? b c)))
                              (list (if (vector-ref x (+ (if p 2 0) (if q 1 0))) #t #f) ...)))
                          some-chars)))
         some-sets))
      some-sets))))
(both (a b) (char-set-union #(#f #t #t #t) y) (char-set-intersection #(#f #f #f #t) y)
      (char-set-difference #(#f #f #t #f) y) (char-set-xor #(#f #t #t #f) y)
      (char-set-union! #(#f #t #t #t) y) (char-set-intersection! #(#f #f #f #t) y)
      (char-set-difference! #(#f #f #t #f) y) (char-set-xor! #(#f #t #t #f) y))
(for-each
 (lambda (a)
   (check (map (lambda (c) (char-set-contains? (char-set-complement a) c)) some-chars)
          => (map (lambda (c) (not (char-set-contains? a c))) some-chars))
   (check (char-set= a (char-set-complement! (char-set-complement a))) => #t)
   (for-each
    (lambda (b)
      (let-values (((d i) (char-set-diff+intersection a b)))
        (check (and (char-set= d (char-set-difference a b)) (char-set= i (char-set-intersection a b))) => #t)))
    some-sets))
 some-sets)
(check (list (text (char-set-union)) (char-set= char-set:full (char-set-intersection)) (text (char-set-xor)))
       => '("" #t ""))

;; the standard sets
(define ascii-members
  (lambda (cs) (text (char-set-intersection cs (ucs-range->char-set 33 127)))))
(check (map ascii-members (list char-set:punctuation char-set:symbol char-set:digit char-set:hex-digit))
       => '("!\"#%&'()*,-./:;?@[\\]_{}" "$+<=>^`|~" "0123456789" "0123456789ABCDEFabcdef"))
(check (char-set->list (char-set-intersection char-set:whitespace char-set:ascii))
       => '(#\tab #\newline #\x0b #\x0c #\return #\space))
(check (map (lambda (c) (map (lambda (cs) (char-set-contains? cs c))
                             (list char-set:letter char-set:lower-case char-set:upper-case char-set:title-case
                                   char-set:digit
                                   char-set:letter+digit char-set:graphic char-set:printing char-set:whitespace
                                   char-set:blank
                                   char-set:iso-control char-set:punctuation char-set:symbol char-set:ascii)))
            '(#\λ #\Σ #\ǅ #\x664 #\x2003 #\x85 #\« #\€ #\x378 #\a))
       => '((#t #t #f #f #f #t #t #t #f #f #f #f #f #f)
            (#t #f #t #f #f #t #t #t #f #f #f #f #f #f)
            (#t #f #f #t #f #t #t #t #f #f #f #f #f #f)
            (#f #f #f #f #t #t #t #t #f #f #f #f #f #f)
            (#f #f #f #f #f #f #f #t #t #t #f #f #f #f)
            (#f #f #f #f #f #f #f #f #f #f #t #f #f #f)
            (#f #f #f #f #f #f #t #t #f #f #f #t #f #f)
            (#f #f #f #f #f #f #t #t #f #f #f #f #t #f)
            (#f #f #f #f #f #f #f #f #f #f #f #f #f #f)
            (#t #t #f #f #f #t #t #t #f #f #f #f #f #t)))
(check (char-set= char-set:letter+digit (char-set-union char-set:letter char-set:digit)) => #t)
(check (char-set= char-set:graphic
                  (char-set-union char-set:letter char-set:digit char-set:punctuation char-set:symbol)) => #t)
(check (char-set= char-set:printing (char-set-union char-set:graphic char-set:whitespace)) => #t)
;; asked before and after the boundaries are known
(check (char-set-contains? char-set:lower-case #\ß) => #t)
(check (< 2000 (char-set-size char-set:lower-case)) => #t)
(check (char-set-contains? char-set:lower-case #\ß) => #t)
(check (char-set-every char-lower-case? char-set:lower-case) => #t)
(check-error (char-set-contains? vowels 5))
(check-error (char-set-union vowels "a"))
(check-error (char-set-ref vowels (let loop ((k (char-set-cursor vowels)))
                                       (if (end-of-char-set? k) k (loop (char-set-cursor-next vowels k))))))
(report)
