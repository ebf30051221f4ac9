;; zeal: not
;; (srfi 180) where it reads the buffer of a port: tokens of all kinds at the end of it, against a generator of the same
;; characters, which is read by the character; and what it writes into a buffer.
(import (scheme base) (scheme write) (scheme file) (scheme time) (srfi 180) (only (srfi 158) generator->list))
(include "include/check.scm")

;; several configurations run at the same time
(define path (string-append "cairn-test-" (number->string (current-jiffy)) ".json"))
(define (file-with text)
  (call-with-output-file path (lambda (out) (write-string text out)))
  path)
(define (characters text)
  (let ((in (open-input-string text)))
    (lambda () (read-char in))))

;; A value, or why there is none.
(define (result read)
  (guard (e ((json-error? e) (list 'error (json-error-reason e) (error-object-irritants e)))) (read)))

;; As a string port, as a file port and by the character; all three must agree.
(define (parse text)
  (let ((value (result (lambda () (json-read (open-input-string text)))))
        (by-character (result (lambda () (json-read (characters text)))))
        (of-file (result (lambda () (call-with-input-file (file-with text) json-read)))))
    (if (and (equal? value by-character) (equal? value of-file)) value (list value by-character of-file))))

;; Numbers: those that one operation makes of exact parts, and those that go through their text
(check (map parse '("[9007199254740991e22]" "[9007199254740993.0]" "[0.1]" "[1e23]" "[5e-324]" "[1e400]" "[-0.0]"
                    "[-0]"))
       => '(#(9007199254740991e22) #(9007199254740992.) #(.1) #(1e23) #(5e-324) #(+inf.0) #(-0.) #(0)))
(check (map parse '("[99999999999999999]" "[100000000000000000]" "[-576460752303423488]"
                    "[123456789012345678901]" "[1E2]"))
       => '(#(99999999999999999) #(100000000000000000) #(-576460752303423488) #(123456789012345678901) #(100.)))
(check (map parse '("[1.2.3]" "[01]" "[-01]" "[1.]" "[1e]" "[1e+]" "[-]" "[1x]" "[.5]" "[1e5"))
       => '((error "unexpected character behind a number:" (#\.))
            (error "unexpected character behind a zero:" (#\1))
            (error "unexpected character behind a zero:" (#\1))
            (error "unexpected character in a number:" (#\]))
            (error "unexpected character in a number:" (#\]))
            (error "unexpected character in a number:" (#\]))
            (error "unexpected character in a number:" (#\]))
            (error "unexpected character behind a number:" (#\x))
            (error "unexpected character where a value is expected:" (#\.))
            (error "the text ends in an array" ())))

;; Strings and keys: ASCII or not, with escapes, and keys that share a place in the table of keys
(check (parse "{\"é\": \"\\n\", \"Ã©\": \"a\\\"b\\\\\", \"é\": \"\\ud83d\\ude00é\", \"\": \"\"}")
       => '((é . "\n") (Ã© . "a\"b\\") (é . "😀é") (|| . "")))
(check (map parse '("\"a\tb\"" "\"é\tb\"" "\"a\\nb\nc\"" "\"a" "\"a\\" "\"\\ud83d\"" "{\"a" "{\"a\tb\":1}"))
       => '((error "a control character in a string:" (#\tab))
            (error "a control character in a string:" (#\tab))
            (error "a control character in a string:" (#\newline))
            (error "the text ends in a string" ())
            (error "the text ends in a string" ())
            (error "half a character in a string:" ("d83d"))
            (error "the text ends in a string" ())
            (error "a control character in a string:" (#\tab))))
(define many
  (let loop ((i 0) (texts '()))
    (if (= i 2000)
        (apply string-append "{" (reverse (cons "\"z\":0}" texts)))
        (loop (+ i 1) (cons (string-append "\"k" (number->string i) "\":" (number->string i) ",") texts)))))
(check (let ((entries (parse many)))
         (list (length entries)
               (let all ((i 0) (l entries))
                 (or (= i 2000)
                     (and (eq? (car (car l)) (string->symbol (string-append "k" (number->string i))))
                          (eqv? (cdr (car l)) i)
                          (all (+ i 1) (cdr l)))))))
       => '(2001 #t))

;; Each place of a text is once the end of a file port's buffer of 65,536 bytes.
(define sample "{\"kéy\":[-12.5e1,\"a\\u00e9😀é\",true,null , 17]}")
(define size (bytevector-length (string->utf8 sample)))
(check (let loop ((n 0) (wrong '()))
         (if (> n size)
             wrong
             (loop (+ n 1)
                   (if (equal? (parse (string-append (make-string (- 65536 n) #\space) sample))
                               '((kéy . #(-125. "aé😀é" #t null 17))))
                       wrong
                       (cons n wrong)))))
       => '())
;; A string that is longer than several buffers
(check (let ((long (string-append (make-string 100001 #\é) (make-string 100000 #\x))))
         (equal? (parse (string-append "[\"" long "\"]")) (vector long)))
       => #t)

;; Bytes that are no UTF-8 are an error that names the place, with and without escapes before them.
(define (reason-of . parts)
  (let ((out (open-binary-output-file path)))
    (for-each (lambda (part) (write-bytevector (if (string? part) (string->utf8 part) part) out)) parts)
    (close-port out)
    (let ((reason (cadr (result (lambda () (call-with-input-file path json-read))))))
      (substring reason (- (string-length reason) 23) (string-length reason)))))
(check (list (reason-of "[\n\"abc" #u8(#xff) "\"]")
             (reason-of "[\n\"a\\nb" #u8(#xc3) "\"]")
             (reason-of "[\n" #u8(#x80)))
       => '("json, line 2: byte #xff" "json, line 2: byte #xc3" "json, line 2: byte #x80"))
(check (reason-of "{\n\"abc" #u8(#xff) "\":1}") => "json, line 2: byte #xff")

;; Where a value ended
(check (let ((in (open-input-string "{\"a\":[1,\"b\"]} \"c\"12 true[]x")))
         (let* ((a (json-read in)) (c (json-read in)))
           (list a c (read-string 20 in))))
       => '(((a . #(1 "b"))) "c" "12 true[]x"))
(check (generator->list (json-generator (open-input-string "[\"a\\tb\", {\"é\":1.25}]")))
       => '(array-start "a\tb" object-start "é" 1.25 object-end array-end))
(check (let ((in (open-input-string "[1]")))
         (close-port in)
         (guard (e (#t (json-error? e))) (json-read in)))
       => #t)

;; Writing: into the buffer, and beyond its end
(define (unparse x)
  (let ((out (open-output-string)))
    (json-write x out)
    (get-output-string out)))
(define (by-parts x)
  (let ((out (open-output-string)))
    (json-write x (lambda (text) (write-string text out)))
    (get-output-string out)))
(define (in-file x)
  (call-with-output-file path (lambda (out) (json-write x out)))
  (call-with-input-file path (lambda (in) (read-string 1000000 in))))
(define (written x)
  (let ((text (unparse x)))
    (if (and (equal? text (by-parts x)) (equal? text (in-file x))) text (list text (by-parts x) (in-file x)))))
(check (written '#(0 9 10 99 100 999999999 1000000000 -1 .5 -.5 100. 1e100 12345678901234567890))
       => "[0,9,10,99,100,999999999,1000000000,-1,0.5,-0.5,100.0,1e100,12345678901234567890]")
(check (written '((a . "x\"y\\z\n\r\t\b\x1;\x1f;\x7f;é😀") (|a"b| . #()) (c) (d . #(#t #f null ""))))
       => "{\"a\":\"x\\\"y\\\\z\\n\\r\\t\\b\\u0001\\u001f\x7f;é😀\",\
           \"a\\\"b\":[],\"c\":{},\"d\":[true,false,null,\"\"]}")
(check (let loop ((n 65500) (wrong '()))
         (if (= n 65600)
             wrong
             (let ((x (vector (make-string n #\x) "a\"é" 12345 '((k . 1.5)) #t)))
               (loop (+ n 1)
                     (if (and (equal? (in-file x)
                                      (string-append "[\"" (make-string n #\x)
                                                     "\",\"a\\\"é\",12345,{\"k\":1.5},true]"))
                              (equal? (call-with-input-file path json-read) x))
                         wrong
                         (cons n wrong))))))
       => '())
(check (guard (e (#t 'closed))
         (let ((out (open-output-string)))
           (close-port out)
           (json-write '#(1) out)))
       => 'closed)

(delete-file path)
(report)
