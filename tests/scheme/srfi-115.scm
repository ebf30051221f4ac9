;; (srfi 115): regular expressions.
(import (scheme base) (scheme write) (scheme regex) (only (srfi 14) char-set))
(include "include/check.scm")

(define (found re s . range)
  (let ((m (apply regexp-search re s range)))
    (and m (regexp-match->list m))))
(define (matched re s . range)
  (let ((m (apply regexp-matches re s range)))
    (and m (regexp-match->list m))))

;; the kinds of patterns
(check (matched "abc" "abc") => '("abc"))
(check (matched "abc" "abcd") => #f)
(check (matched #\a "a") => '("a"))
(check (matched '(: "a" ($ (* "b")) (? "c")) "abbc") => '("abbc" "bb"))
(check (matched '(or "ab" "cd" (: "e" "f")) "ef") => '("ef"))
(check (map (lambda (s) (regexp-matches? '(= 2 "a") s)) '("a" "aa" "aaa")) => '(#f #t #f))
(check (map (lambda (s) (regexp-matches? '(>= 2 "a") s)) '("a" "aa" "aaa")) => '(#f #t #t))
(check (map (lambda (s) (regexp-matches? '(** 1 2 "a") s)) '("" "a" "aa" "aaa")) => '(#f #t #t #f))
(check (map (lambda (s) (regexp-matches? '(+ "ab") s)) '("" "ab" "abab")) => '(#f #t #t))
(check (regexp-matches? '(or) "") => #f)
(check (regexp-matches? '(:) "") => #t)

;; sets
(check (map (lambda (set) (regexp-extract `(+ ,set) "aB3 _é!"))
            `(alpha num alnum lower upper space punct (/ "ac03") ("a3") (~ alpha) (- alnum ("B"))
              (& alnum (~ num)) ,(char-set #\B #\3) (w/ascii alpha) (w/nocase "b") any xdigit))
       => '(("aB" "é") ("3") ("aB3" "é") ("a" "é") ("B") (" ") ("_" "!") ("a" "3") ("a" "3") ("3 _" "!") ("a" "3" "é")
            ("aB" "é") ("B3") ("aB") ("B") ("aB3 _é!") ("aB3")))
(check (matched '(w/nocase "hello" (w/case "X")) "HeLLoX") => '("HeLLoX"))
(check (matched '(w/nocase "hello" (w/case "X")) "HeLLox") => #f)

;; submatches
(check (matched '(: ($ (+ num)) "-" (-> month (+ num)) (? "-" ($ (+ num)))) "2026-11") => '("2026-11" "2026" "11" #f))
(define m (regexp-search '(: (-> year (= 4 num)) "-" (-> month (+ num))) "on 2026-11, at"))
(check (list (regexp-match-count m) (regexp-match-submatch m 'month) (regexp-match-submatch-start m 'month)
             (regexp-match-submatch-end m 0) (regexp-match-submatch m) (regexp-match? m) (regexp-match? 5))
       => '(2 "11" 8 10 "2026-11" #t #f))
(check (regexp-match-submatch (regexp-matches '(or (: "a" (-> x any)) (: "b" (-> x any))) "bc") 'x) => "c")
(check (regexp-match-count (regexp-matches '(: ($ "a") (w/nocapture ($ "b")) ($ "c")) "abc")) => 2)
(check-error (regexp-match-submatch m 'day))
(check-error (regexp-match-submatch m 3))

;; what is preferred
(check (found '(or "foo" "foobar") "xfoobarx") => '("foobar"))
(check (found '(: ($ (* "a")) ($ (* "a"))) "aaa") => '("aaa" "aaa" ""))
(check (found '(: "<" ($ (*? any)) ">") "<a><b>") => '("<a>" "a"))
(check (found '(: "<" ($ (* any)) ">") "<a><b>") => '("<a><b>" "a><b"))
(check (found '(: "a" (?? "b")) "ab") => '("a"))
(check (found '(**? 1 3 "a") "aaa") => '("a"))
(check (found '(+ num) "ab12 345") => '("12"))

;; places
(check (regexp-extract '(: bow (+ alpha) eow) "an apple_pie a9 dog") => '("an" "dog"))
(check (regexp-extract '(: bol (+ alpha)) "one two\nthree\r\nfour") => '("one" "three" "four"))
(check (regexp-extract '(: (+ alpha) eol) "one two\nthree\r\nfour") => '("two" "three" "four"))
(check (map (lambda (re) (found re "abc")) '((: bos "b") (: "b" eos) (: bos "a") (: "c" eos))) => '(#f #f ("a") ("c")))
(check (found '(: bos "b") "abc" 1) => '("b"))
(check (found '(: "b" eos) "abc" 0 2) => '("b"))
(check (regexp-extract 'word "to be, or") => '("to" "be" "or"))
(check (regexp-extract '(word+ (~ "x")) "to fox") => '("to"))
(check (found '(: nwb "b") "b ab") => '("b"))
(check (regexp-match-submatch-start (regexp-search '(: nwb "b") "b ab")) => 3)
(check (regexp-extract 'grapheme "a\x0301;b\r\n\x1f1e6;\x1f1e7;\x1f1e8;\x1112;\x1161;\x11ab;")
       => '("a\x0301;" "b" "\r\n" "\x1f1e6;\x1f1e7;" "\x1f1e8;" "\x1112;\x1161;\x11ab;"))

;; looking around
(check (regexp-extract '(: (+ num) (look-ahead "%")) "10 20% 30") => '("20"))
(check (regexp-extract '(: bow (+ num) eow (neg-look-ahead "%")) "10 20% 30") => '("10" "30"))
(check (regexp-extract '(: (look-behind "$") (+ num)) "10 $20 30") => '("20"))
(check (regexp-extract '(: (neg-look-behind (or "$" num)) (+ num)) "10 $20 30") => '("10" "30"))
(check-error (regexp '(look-behind (* "a"))))

;; uses
(check (regexp-split '(+ space) " fee fi  fo\tfum\n") => '("" "fee" "fi" "fo" "fum" ""))
(check (regexp-split '(",;") "a,,b,") => '("a" "" "b" ""))
(check (regexp-partition '(+ (or space punct)) "Hello, world!\n") => '("Hello" ", " "world" "!\n"))
(check (regexp-partition '(+ space) "") => '(""))
(check (list (regexp-replace '(+ space) "one two three" "_") (regexp-replace '(+ space) "one two three" "_" 0 #f 1)
             (regexp-replace '(+ space) "one two three" "_" 0 #f 2) (regexp-replace-all '(+ space) "one two three" "_"))
       => '("one_two three" "one two_three" "one two three" "one_two_three"))
(check (regexp-replace-all '(: ($ alpha) ($ num)) "a1-b2" '(2 1 "!")) => "1a!-2b!")
(check (regexp-replace "b" "abc" '("<" pre "|" post ">")) => "a<a|c>c")
(check (regexp-replace-all "" "abc" "-") => "-a-b-c-")
(check (regexp-fold 'word (lambda (i m s acc) (cons (list i (regexp-match-submatch m)) acc)) '() "to be"
                    (lambda (i m s acc) (cons (list i m) acc)))
       => '((5 #f) (2 "be") (0 "to")))

(define vowels (rx (+ ("aeiou"))))
(check (list (regexp? vowels) (regexp->sre vowels) (eq? (regexp vowels) vowels)) => '(#t (: (+ ("aeiou"))) #t))
(check (map valid-sre? '("a" (* "a") (foo "a") (= -1 "a") (* . "a") 5 (- ) (~ "ab"))) => '(#t #t #f #f #f #f #f #f))
(check (regexp-matches? `(* ,(char-set->sre (char-set #\a #\b))) "abba") => #t)

;; linear where backtracking takes exponential time
(define (times n x) (if (= n 0) '() (cons x (times (- n 1) x))))
(check (regexp-matches? `(: ,@(times 60 '(? "a")) ,@(times 60 "a")) (make-string 60 #\a)) => #t)
(check (regexp-matches? '(: (* (* (* "a"))) "b") (make-string 2000 #\a)) => #f)
(report)
