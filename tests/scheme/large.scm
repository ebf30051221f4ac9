;; Names of R7RS-large for SRFIs: the same bindings.
(import (scheme base) (scheme write)
        (scheme list) (scheme sort) (scheme vector)
        (prefix (srfi 1) 1:) (prefix (srfi 132) 132:) (prefix (srfi 133) 133:))
(include "include/check.scm")

(check (list (eq? fold 1:fold) (eq? unzip5 1:unzip5) (eq? map 1:map) (eq? lset-xor! 1:lset-xor!)) => '(#t #t #t #t))
(check (list (eq? list-sort 132:list-sort) (eq? vector-separate! 132:vector-separate!)) => '(#t #t))
(check (list (eq? vector-fold 133:vector-fold) (eq? string->vector 133:string->vector)) => '(#t #t))
(check (fold cons* '() '(a b c) '(1 2 3)) => '(c 3 b 2 a 1))
(check (list-sort > '(1 3 2)) => '(3 2 1))
(check (vector-count even? #(1 2 4)) => 2)

(report)
