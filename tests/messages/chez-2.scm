;; What (cairn chez) has for records, ports and more that few programs use, with wrong arguments.
(import (scheme base) (scheme case-lambda) (scheme write) (only (cairn control) condition->string)
        (prefix (only (cairn chez) box-cas! vector-cas! char-name condition-name file-length file-port? port-length
                      port-file-descriptor port-name unread-char unget-char unget-u8 get-string-some! get-bytevector-some!
                      block-read fasl-write fasl-read make-record-type record-constructor record?
                      csv7:record-field-accessor csv7:record-field-mutator csv7:record-field-accessible?
                      csv7:record-field-mutable? csv7:record-type-name csv7:record-type-symbol
                      csv7:record-type-field-names csv7:record-type-field-decls csv7:record-type-descriptor)
                c:))

(include "../support/say.scm")
(include "../support/wrong.scm")

(define type (c:make-record-type "thing" '((immutable a) b)))
(define text (open-input-string "abc"))
(say (c:make-record-type five '()) (c:make-record-type "a" five) (c:make-record-type "a" (list five))
     (c:make-record-type "a" '((odd b))) (c:record-constructor five) (c:record? five five)
     (c:csv7:record-field-accessor type name) (c:csv7:record-field-accessor five 'a)
     ((c:csv7:record-field-accessor type 'a) five) (c:csv7:record-field-accessor type 2)
     (c:csv7:record-field-mutator type 'a) (c:csv7:record-field-mutator type 'c)
     (c:csv7:record-field-accessible? type 'c) (c:csv7:record-field-mutable? five 'a) (c:csv7:record-type-name five)
     (c:csv7:record-type-symbol five) (c:csv7:record-type-field-names five) (c:csv7:record-type-field-decls five)
     (c:csv7:record-type-descriptor five))
(say (c:file-port? five) (c:port-file-descriptor text) (c:file-length text) (c:port-length five) (c:port-name five)
     (c:unread-char five text) (c:unread-char #\x text) (c:unread-char #\x five) (c:unget-char text five)
     (c:unget-char text #\x) (c:unget-char five #\x) (c:unget-u8 text 1) (c:unget-u8 (open-input-bytevector (bytevector 1)) 1)
     (c:get-string-some! text five 0 1) (c:get-string-some! text (make-string 2) 1 5)
     (c:get-bytevector-some! text (make-bytevector 2) 0 name) (c:get-bytevector-some! text five 0 1)
     (c:block-read text (make-string 2) 5) (c:fasl-write (list 1 car) (open-output-bytevector))
     (c:fasl-read (open-input-bytevector (bytevector 0 0 0 9 1))))
(say (c:char-name five) (c:char-name five #\a) (c:char-name 'a five) (c:box-cas! five 1 2) (c:vector-cas! five 0 1 2)
     (c:vector-cas! (vector 1) five 1 2) (c:condition-name five))
