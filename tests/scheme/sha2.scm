;; zeal: not
;; (cairn sha2).  A collection at each safepoint of a hash would take minutes.
(import (scheme base) (scheme write) (cairn sha2) (only (scheme list) iota delete-duplicates))
(include "include/check.scm")

;; SHA-2: the vectors of FIPS 180 and RFC 4231
(define (hex hash text) (bytevector->hex (hash text)))
(check (hex sha256 "abc") => "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
(check (hex sha256 "") => "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
(check (hex sha256 (make-string 1000 #\a)) => "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
(check (hex sha224 "abc") => "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7")
(check (hex sha512 "abc")
       => (string-append "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                         "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"))
(check (hex sha384 "abc")
       => "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7")
(check (bytevector->hex (hmac-sha256 "Jefe" "what do ya want for nothing?"))
       => "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
(check (bytevector->hex (hmac-sha512 "Jefe" "what do ya want for nothing?"))
       => (string-append "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                         "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"))
;; lengths around those of blocks
(check (let ((hashes (map (lambda (n) (hex sha512 (make-string n #\x))) (iota 20 105))))
         (length (delete-duplicates hashes)))
       => 20)
(check-error (sha256 5))

(report)
