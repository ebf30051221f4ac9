;; R6RS replaces what is no UTF-8 by U+FFFD, wherever it decodes: in utf8->string as in ports.  R7RS's utf8->string
;; raises.
(import (rnrs) (prefix (only (scheme base) utf8->string) r7:) (prefix (only (chezscheme) utf8->string) chez:))
(define bytes
  '(#vu8() #vu8(97) #vu8(206 187) #vu8(255 97) #vu8(97 226 130) #vu8(226 130 97) #vu8(192 128) #vu8(237 160 128 98)
           #vu8(240 159 152 128) #vu8(240 159 152) #vu8(244 144 128 128) #vu8(128 128 97)))
(define (by-port bv)
  (let ((s (get-string-all (open-bytevector-input-port bv (make-transcoder (utf-8-codec))))))
    (if (eof-object? s) "" s)))
(for-each
 (lambda (bv)
   (let ((s (utf8->string bv)))
     (write (map char->integer (string->list s)))
     (write (list (string=? s (by-port bv)) (string=? s (bytevector->string bv (native-transcoder)))
                  (string=? s (chez:utf8->string bv))
                  (guard (e (#t 'error)) (string=? s (r7:utf8->string bv)))))
     (newline)))
 bytes)
(write (utf8->string #vu8(97 98 255 99) 1))
(write (utf8->string #vu8(97 98 255 99) 0 3))
(write (guard (e (#t (list (assertion-violation? e) (condition-who e)))) (utf8->string "a")))
(newline)
