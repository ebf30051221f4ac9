;; What (cairn chez) and (cairn format) refuse.
(import (rename (scheme base) (error r7-error) (define-record-type r7-define-record-type)) (scheme write)
        (only (cairn control) condition->string)
        (only (cairn chez) format printf fprintf open-output-file open-input-file foreign-ref foreign-set!
              foreign-sizeof foreign-callable-entry-point make-fxvector list->fxvector fxvector-set! fxmodulo
              flonum->fixnum decode-float vector-set-fixnum! make-eq-hashtable hashtable-cells hashtable-keys
              print-length print-level)
        (prefix (only (cairn chez) print-radix record-writer gensym-count gensym-prefix base-exception-handler
                      break-handler parameterize make-engine engine-block engine-return process open-process-ports
                      record-type-descriptor define-record-type)
                c:)
        (prefix (only (srfi 29) declare-bundle! format) l:)
        (only (srfi 17) setter)
        (only (cairn chez arithmetic) logbit? logbit1 fxlogbit? fxlogbit0 fxlogbit1 fxsrl)
        (only (cairn chez data) s8-list->bytevector gensym gensym->unique-string string->immutable-string))
(include "../support/say.scm")

(say (open-output-file "/tmp/x" 'sideways) (open-input-file "/tmp/x" 'append) (open-output-file "/" 'error)
     (foreign-ref 'thing 8 0) (foreign-sizeof 'thing) (foreign-callable-entry-point 5) (make-fxvector 1 1.5)
     (list->fxvector '(a)) (fxvector-set! (make-fxvector 1) 0 (quote a)) (fxmodulo 7 2.) (flonum->fixnum 1e30)
     (decode-float +inf.0) (decode-float 1) (vector-set-fixnum! (vector 1) 0 'a) (setter abs))

;; control strings: mistakes show before anything is written
(say (format 5) (format 5 "a") (printf "~q") (printf "~") (printf "~,") (printf "~1,2,3,4,5a" 1) (printf "~'xd" 1)
     (printf "~:a" 1) (printf "~@%") (printf "~:@*") (printf "~{~a") (printf "~}") (printf "~;") (printf "~]")
     (printf "~:[a~]" 1) (printf "~a") (printf "a" 1))
;; arguments
(say (format "~r" 1.5) (format "~f" 'a) (format "~e" 'a) (format "~g" 'a) (format "~$" 'a) (format "~c" 5)
     (format "~va" 'x 1) (format "~?" 5 '()) (format "~?" "~a" 5) (format "~{~a~}" 5) (format "~?" "~a" '())
     (format "~2:*") (format "~2*") (format "~2@*") (format "~:p") (format "~{~q~}" '(1)) (fprintf 5 "a")
     (format (open-input-string "") "a"))
(say (hashtable-cells (make-eq-hashtable) 'a) (hashtable-keys (make-eq-hashtable) -1) (print-length -1) (print-level 'a)
     (l:declare-bundle! 'a '()) (l:format "~2@*~a" 1) (l:format "~a") (l:format "~q") (l:format "~"))
(say (logbit? -1 5) (logbit1 'a 5) (fxlogbit? 1 5.) (fxlogbit0 1 'a) (fxlogbit1 100 1) (fxsrl 5 -1)
     (s8-list->bytevector '(1 200)))
(say (gensym->unique-string 'a) (gensym 5) (gensym "a" 5) (string->immutable-string 'a))
;; settings, engines, other programs
(c:define-record-type engine-test)
(say (c:print-radix 37) (c:record-writer 5) (c:record-writer (c:record-type-descriptor engine-test) 5)
     (c:gensym-count -1) (c:gensym-prefix 5) (c:base-exception-handler 5) (c:break-handler 5)
     (c:parameterize ((5 6)) 7)
     (c:make-engine 5) ((c:make-engine list) 'x list list) ((c:make-engine list) 5 5 list)
     ((c:make-engine list) 5 list 5) (c:engine-block) (c:engine-return 1)
     ((c:make-engine (lambda () ((c:make-engine list) 5 list list))) 1000000 list list)
     (c:process 5) (c:open-process-ports '("ls")))
