;; Library procedures that are made of others report under their own names, and number their own arguments.
(import (except (scheme base) vector-map) (srfi 1) (prefix (srfi 13) s:) (scheme file) (scheme inexact) (scheme write) (only (cairn control) condition->string)
        (srfi 133))

(include "../support/say.scm")

(define five 5)
(define pairs '((1 . 2) 5))
(define (long end) (append (map (lambda (i) (cons i i)) (iota 100000 10)) end))
(define (one x) #t)
(define (two x y) #t)

;; files
(say (call-with-input-file "none" five) (call-with-output-file "none" five) (with-input-from-file "none" five)
     (with-output-to-file "none" five) (call-with-port (open-input-string "") five) (file-exists? "none"))

;; numbers
(say (log 2 0) (log 0) (log 0 2))

;; lists
(say (second five) (third '(1)) (fourth '(1 2)) (fifth five) (sixth '(1)) (seventh '()) (eighth '()) (ninth '()) (tenth '(1))
     (take five 1) (drop five 1) (drop '(1) 2) (drop '(1) 'x) (take! (list 1) 2) (take-right '(1) 2) (drop-right '(1) 2)
     (drop-right! (list 1) 2) (split-at '(1) 2) (split-at '(1) 'x) (split-at! (list 1) 3) (last five) (append! five '(1))
     (concatenate five) (concatenate '(1 2)) (concatenate! '((1) 2 3)) (zip five) (zip '(1) five) (unzip1 five) (unzip1 '(1))
     (unzip2 '((1))) (unzip3 '((1 2))) (unzip4 '((1 2 3))) (unzip5 '((1 2 3 4))) (fold two 0) (fold-right two 0)
     (pair-fold two 0) (pair-fold-right two 0) (append-map two five '(1)) (append-map! one five) (append-map! one)
     (map! two five '(1)) (map-in-order one five) (map-in-order two '(1) five) (map-in-order one) (filter-map two '(1) five)
     (remove one five) (delete 1 five) (delete-duplicates '(1 . 5)) (alist-copy five) (alist-copy '(5)) (alist-delete 1 five)
     (lset-intersection eq? five) (lset-difference eq? five) (lset-xor eq? five '(1)) (lset-union!) (lset-intersection! eq?)
     (lset-intersection! eq? five) (lset-difference! eq? five '(1)) (lset-xor! eq? five '(1))
     (lset-difference! eq? five) (lset-xor!) (lset-diff+intersection! eq?)
     (assq 'x pairs) (assq 'x (long '(5))) (assv 1/2 pairs) (assv 1/2 (long '(5))) (assoc "x" pairs)
     (assoc "x" (long '(5))))

;; vectors
(say (vector-append-subvectors (vector 1)) (vector-append-subvectors five 0 0) (vector-fold two 0)
     (vector-fold two 0 (vector 1) five) (vector-fold-right two 0) (vector-fold-right two 0 (vector 1) five)
     (vector-map! one five) (vector-count one) (vector-count one five) (vector-count two (vector 1) five) (vector-index one)
     (vector-index two (vector 1) five) (vector-index-right one) (vector-index-right two (vector 1) five) (vector-skip one)
     (vector-skip one five) (vector-skip-right one) (vector-skip-right one five) (vector-any one) (vector-any one five)
     (vector-every one) (vector-every one five) (vector-reverse! five 0 2) (vector-reverse-copy five)
     (vector-reverse-copy (vector 1) 2) (vector-reverse-copy! (vector 1) 0 five) (vector-reverse-copy! (vector 1) 1 (vector 2))
     (vector-reverse-copy! (vector 1) 'x (vector 2)) (reverse-vector->list five) (reverse-vector->list (vector 1) 2)
     (reverse-list->vector five))

;; strings of SRFI 13
(say (s:xsubstring five 0) (s:xsubstring five 0 3) (s:string-xcopy! (make-string 3) 0 five 0) (s:string-xcopy! five 0 "a" 0 1)
     (s:string-filter one five) (s:string-delete one five) (s:string-concatenate five) (s:string-concatenate '("a" 5))
     (s:string-concatenate/shared '(5)) (s:string-append/shared five) (s:string-concatenate-reverse five)
     (s:string-concatenate-reverse '("a" 5)) (s:string-concatenate-reverse '("a") five) (s:string-concatenate-reverse '("a") "b" 2)
     (s:string-concatenate-reverse/shared five) (s:reverse-list->string five) (s:reverse-list->string '(#\a 5)))
