;; What the system says when something fails at run time: one line for every kind of failure of every group of
;; operations.
(import (scheme base) (scheme case-lambda) (scheme char) (scheme complex) (scheme cxr) (scheme file) (scheme inexact) (scheme lazy) (scheme read) (scheme write)
        (cairn control) (except (cairn hash-table) string-hash) (cairn list) (cairn number)
        (only (cairn port) with-output-to-string) (cairn signal) (cairn sort) (cairn text) (cairn vector))

(include "../support/say.scm")
(include "../support/wrong.scm")

;; calls
(say (five) (name 1) (two 1) (two 1 2 3) (some) (none 1) (one-or-three) (one-or-three 1 2) (apply two '(1))
     (apply two five) (apply two 1 loop)
     (+ 1 (values 1 2)) (call/cc five) (with-exception-handler five none) (dynamic-wind five none none)
     (letrec ((a (lambda () b)) (b (a))) b))

;; pairs and lists
(say (car five) (cdr '()) (cadr '(1)) (cdddr '(1 2)) (set-car! '() 1) (length five) (length '(1 . 2)) (length loop)
     (reverse '(1 . 2)) (append '(1 . 2) '()) (list-tail '(1 2) 3) (list-tail '(1 2) name) (list-ref '(1 2) 2)
     (memq 1 five) (memv 2 '(1 . 3)) (member 2 '(1 . 3)) (assq name '(5)) (assoc 1 5) (map car five) (map car '(1 . 2))
     (for-each five '(1)) (list-copy 5) (make-list -1 0) (list-set! (list 1) 1 0) (last-pair '()))

;; vectors, bytevectors, records
(say (vector-ref five 0) (vector-ref #(1 2) 2) (vector-ref #(1 2) -1) (vector-ref #(1 2) 1.) (vector-set! five 0 0)
     (make-vector -1) (make-vector name) (vector-copy #(1 2 3) 2 1) (vector-copy #(1 2 3) 4) (vector-copy #(1 2 3) 0 name)
     (vector-fill! (vector 1) 0 0 2) (vector-copy! (vector 1) 0 #(1 2)) (vector-map car #(5)) (vector-length "a")
     (list->vector '(1 . 2)) (vector->list five) (bytevector 256) (bytevector-u8-ref #u8(1) 1)
     (bytevector-u8-set! (bytevector 1) 0 256) (bytevector-copy five) (bytevector-append #u8() five)
     (utf8->string #u8(255)) (make-bytevector 2 -1) (weight five) (set-weight! 5 1) (make-stone))

;; strings, characters, symbols
(say (string-ref "abc" 3) (string-ref five 0) (string-set! (make-string 1 #\a) 1 #\b) (string-set! (string #\a) 0 five)
     (make-string -1) (make-string 1 five) (substring "abc" 2 1) (substring "abc" 0 4) (string-append "a" five)
     (string-length name) (string-upcase five) (string<? "a" five) (string->symbol five) (symbol->string "a")
     (symbol=? name "a") (string->number five) (string->number "1" 1) (number->string five 37) (number->string name)
     (char->integer five) (integer->char -1) (integer->char #xD800) (char-upcase "a") (char<? #\a five)
     (list->string '(1)) (string-copy! (make-string 1) 0 "ab") (string-map five "a") (string->vector 5)
     (digit-value five) (boolean=? 1 #t) (string-join '(1) ""))

;; numbers
(say (+ 1 name) (- name) (* "2" 3) (/ 1 (- five 5)) (/ half 0) (/ name 1) (quotient five 0) (modulo 5. 0.) (remainder half 2)
     (floor/ 1 0) (exact-integer-sqrt -1) (exact-integer-sqrt half) (< name 1) (< 1 +i) (= name 1) (max 1 +i) (zero? name)
     (even? flo) (odd? half) (abs name) (floor name) (round +i) (numerator flo) (numerator +i) (gcd half 1) (exact +nan.0)
     (exact +inf.0) (exact "1") (inexact name) (sqrt name) (exp "1") (log 0) (atan name 1) (expt name 2) (expt 0 -1)
     (square name) (real-part name) (make-rectangular +i 1) (make-polar 1 name) (bitwise-and 1 flo) (bitwise-not half)
     (arithmetic-shift 1 name) (arithmetic-shift 1 (expt 10 20)) (bit-count 1.) (exact->inexact name) (truncate "1"))

;; ports and files
(say (open-input-file "no such file") (open-output-file "no/such/folder") (open-input-file five)
     (open-input-file (string #\a (integer->char 0))) (delete-file "no such file") (read-char five)
     (read-char (open-input-bytevector #u8(1))) (read-u8 (open-input-string "a")) (write-char 5) (write-char #\a five)
     (write-u8 256 (open-output-bytevector)) (read-line (open-output-string)) (write-string five)
     (get-output-string five) (close-port five) (read-string name (open-input-string "a"))
     (let ((p (open-input-string "a"))) (close-port p) (read-char p))
     (read (open-input-string "(1 . )")) (read (open-input-string "#<")) (read (open-input-string "(1 2"))
     (read (open-input-string "\"abc")) (read (open-input-string ")")) (read (open-input-string "#\\nonsense"))
     (with-output-to-string five))

;; the rest
(say (error "a message" 1 "two" #\3 '(four)) (error 'who "message" 1) (raise name) (raise-continuable five)
     (hash-table-ref (make-hash-table) 'key) (hash-table-ref five 1) (list-sort 1 <) (vector-sort! five <)
     (make-parameter) (parameterize ((five 1)) 2) (force (delay (car five))) (exact-rational? 1 2)
     (interrupt-signal five))
