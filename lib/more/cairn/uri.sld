;;; (cairn uri): addresses of the web and their kin (RFC 3986).
;;;
;;; A URI is taken to parts as it is written; `uri-decode` gives what a part means.
(define-library (cairn uri)
  (export make-uri uri? uri-scheme uri-userinfo uri-host uri-port uri-path uri-query uri-fragment
          string->uri uri->string uri-resolve uri-encode uri-decode query->alist alist->query)
  (import (scheme base) (scheme case-lambda) (scheme char) (only (cairn control) wrong-type))
  (begin

    ;; All are strings or #f, but for the port, a number or #f, and the path, a string.
    (define-record-type uri
      (make-uri scheme userinfo host port path query fragment)
      uri?
      (scheme uri-scheme)
      (userinfo uri-userinfo)
      (host uri-host)
      (port uri-port)
      (path uri-path)
      (query uri-query)
      (fragment uri-fragment))

    ;; The first place from `start` on of one of the characters, or #f.
    (define (find text characters start)
      (let ((n (string-length text)))
        (let loop ((i start))
          (and (< i n) (if (memv (string-ref text i) characters) i (loop (+ i 1)))))))
    (define (from text i) (substring text i (string-length text)))

    (define (scheme? text)
      (let ((n (string-length text)))
        (and (> n 0)
             (char<? (string-ref text 0) #\x80)
             (char-alphabetic? (string-ref text 0))
             (let loop ((i 1))
               (or (= i n)
                   (let ((c (string-ref text i)))
                     (and (char<? c #\x80)
                          (or (char-alphabetic? c) (char-numeric? c) (memv c '(#\+ #\- #\.)))
                          (loop (+ i 1)))))))))

    ;; The URI, or the reference relative to one; #f if the text is none.
    (define (string->uri text)
      (if (not (string? text)) (wrong-type "string->uri" "a string" text))
      (let*-values (((text fragment) (split-off text #\#))
                    ((text query) (split-off text #\?)))
        (let* ((colon (find text '(#\: #\/) 0))
               (scheme? (and colon (char=? #\: (string-ref text colon)) (scheme? (substring text 0 colon))))
               (scheme (and scheme? (string-downcase (substring text 0 colon))))
               (text (if scheme? (from text (+ colon 1)) text)))
          (if (and (>= (string-length text) 2) (string=? "//" (substring text 0 2)))
              (let* ((end (or (find text '(#\/) 2) (string-length text))) (path (from text end)))
                (with-authority
                 (substring text 2 end)
                 (lambda (userinfo host port)
                   (and (check-characters host '(#\space #\< #\> #\"))
                        (make-uri scheme userinfo host port path query fragment)))))
              (and (check-characters text '(#\space #\< #\> #\"))
                   (make-uri scheme #f #f #f text query fragment))))))

    (define (check-characters text bad) (not (find text bad 0)))

    ;; The text before the character, and that behind it or #f.
    (define (split-off text c)
      (let ((i (find text (list c) 0)))
        (if i
            (values (substring text 0 i) (from text (+ i 1)))
            (values text #f))))

    (define (with-authority text use)
      (let* ((at (let loop ((i (- (string-length text) 1)))
                   (cond ((< i 0) #f)
                         ((char=? #\@ (string-ref text i)) i)
                         (else (loop (- i 1))))))
             (userinfo (and at (substring text 0 at)))
             (text (if at (from text (+ at 1)) text))
             ;; the colons of an address in brackets are not before a port
             (bracket (find text '(#\]) 0))
             (colon (find text '(#\:) (or bracket 0)))
             (digits (if colon (from text (+ colon 1)) "")))
        (and (check-digits digits)
             (use userinfo
                  (if colon (substring text 0 colon) text)
                  (if (string=? digits "") #f (string->number digits))))))
    (define (check-digits text)
      (let loop ((i 0))
        (or (= i (string-length text))
            (and (char<=? #\0 (string-ref text i) #\9) (loop (+ i 1))))))

    (define (uri->string u)
      (if (not (uri? u)) (wrong-type "uri->string" "a URI" u))
      (string-append
       (if (uri-scheme u) (string-append (uri-scheme u) ":") "")
       (if (uri-host u)
           (string-append "//"
                          (if (uri-userinfo u) (string-append (uri-userinfo u) "@") "")
                          (uri-host u)
                          (if (uri-port u) (string-append ":" (number->string (uri-port u))) ""))
           "")
       (uri-path u)
       (if (uri-query u) (string-append "?" (uri-query u)) "")
       (if (uri-fragment u) (string-append "#" (uri-fragment u)) "")))

    ;;;; Resolution

    (define (->uri who x)
      (cond ((uri? x) x)
            ((and (string? x) (string->uri x)))
            (else (wrong-type who "a URI or its text" x))))

    ;; What a reference means in a text of the base address.
    (define (uri-resolve base reference)
      (let ((b (->uri "uri-resolve" base)) (r (->uri "uri-resolve" reference)))
        (cond
          ((uri-scheme r)
           (make-uri (uri-scheme r) (uri-userinfo r) (uri-host r) (uri-port r) (without-dots (uri-path r)) (uri-query r)
                     (uri-fragment r)))
          ((uri-host r)
           (make-uri (uri-scheme b) (uri-userinfo r) (uri-host r) (uri-port r) (without-dots (uri-path r)) (uri-query r)
                     (uri-fragment r)))
          (else
           (let ((path (uri-path r)))
             (make-uri (uri-scheme b) (uri-userinfo b) (uri-host b) (uri-port b)
                       (cond ((string=? path "") (uri-path b))
                             ((char=? #\/ (string-ref path 0)) (without-dots path))
                             (else (without-dots (beside b path))))
                       (if (string=? path "") (or (uri-query r) (uri-query b)) (uri-query r))
                       (uri-fragment r)))))))

    ;; A path relative to that of `base`.
    (define (beside base path)
      (let ((b (uri-path base)))
        (if (and (uri-host base) (string=? b ""))
            (string-append "/" path)
            (let loop ((i (string-length b)))
              (cond ((= i 0) path)
                    ((char=? #\/ (string-ref b (- i 1))) (string-append (substring b 0 i) path))
                    (else (loop (- i 1))))))))

    (define (split text c)
      (let loop ((start 0))
        (let ((i (find text (list c) start)))
          (if i
              (cons (substring text start i) (loop (+ i 1)))
              (list (from text start))))))
    (define (join parts between)
      (if (null? parts)
          ""
          (apply string-append (car parts)
                 (let loop ((l (cdr parts)))
                   (if (null? l) '() (cons between (cons (car l) (loop (cdr l)))))))))

    ;; Without the parts . and .. (section 5.2.4 of the RFC).
    (define (without-dots path)
      (let* ((parts (split path #\/)) (rooted? (and (pair? (cdr parts)) (string=? "" (car parts)))))
        (let loop ((l (if rooted? (cdr parts) parts)) (done '()))
          (cond
            ((null? l) (string-append (if rooted? "/" "") (join (reverse done) "/")))
            ((string=? (car l) ".") (loop (cdr l) (if (null? (cdr l)) (cons "" done) done)))
            ((string=? (car l) "..")
             (let ((done (if (pair? done) (cdr done) done)))
               (loop (cdr l) (if (null? (cdr l)) (cons "" done) done))))
            (else (loop (cdr l) (cons (car l) done)))))))

    ;;;; Quoting

    (define (unreserved? b)
      (or (<= 48 b 57) (<= 65 b 90) (<= 97 b 122) (memv b '(45 46 95 126))))

    ;; The text, with anything but letters, digits and -._~ as %XX of its UTF-8; `keep` has characters to leave as well.
    (define uri-encode
      (case-lambda
        ((text) (uri-encode text ""))
        ((text keep)
         (if (not (string? text)) (wrong-type "uri-encode" "a string" text))
         (let ((out (open-output-string)) (bv (string->utf8 text)) (keep (map char->integer (string->list keep))))
           (let loop ((i 0))
             (if (= i (bytevector-length bv))
                 (get-output-string out)
                 (let ((b (bytevector-u8-ref bv i)))
                   (if (or (unreserved? b) (memv b keep))
                       (write-char (integer->char b) out)
                       (begin
                         (write-char #\% out)
                         (if (< b 16) (write-char #\0 out))
                         (write-string (string-upcase (number->string b 16)) out)))
                   (loop (+ i 1)))))))))

    ;; %XX are bytes of UTF-8; with `plus?`, + is a space, as in forms.
    (define uri-decode
      (case-lambda
        ((text) (uri-decode text #f))
        ((text plus?)
         (if (not (string? text)) (wrong-type "uri-decode" "a string" text))
         (let ((out (open-output-bytevector)) (bv (string->utf8 text)))
           (let loop ((i 0))
             (if (= i (bytevector-length bv))
                 (utf8->string (get-output-bytevector out))
                 (let ((b (bytevector-u8-ref bv i)))
                   (cond
                     ((= b 37)
                      (let ((n (and (<= (+ i 3) (bytevector-length bv))
                                    (hexadecimal (bytevector-u8-ref bv (+ i 1)))
                                    (hexadecimal (bytevector-u8-ref bv (+ i 2)))
                                    (+ (* 16 (hexadecimal (bytevector-u8-ref bv (+ i 1))))
                                       (hexadecimal (bytevector-u8-ref bv (+ i 2)))))))
                        (if (not n) (error "uri-decode: % is not followed by two hexadecimal digits:" text))
                        (write-u8 n out)
                        (loop (+ i 3))))
                     ((and plus? (= b 43))
                      (write-u8 32 out)
                      (loop (+ i 1)))
                     (else
                      (write-u8 b out)
                      (loop (+ i 1)))))))))))
    (define (hexadecimal b)
      (cond ((<= 48 b 57) (- b 48))
            ((<= 65 b 70) (- b 55))
            ((<= 97 b 102) (- b 87))
            (else #f)))

    ;; "a=1&b=x+y" ⟷ (("a" . "1") ("b" . "x y")); a name without = has the value #f.
    (define (query->alist text)
      (if (or (not text) (string=? text ""))
          '()
          (map (lambda (part)
                 (let-values (((name value) (split-off part #\=)))
                   (cons (uri-decode name #t) (and value (uri-decode value #t)))))
               (split text #\&))))
    (define (alist->query alist)
      (join (map (lambda (p)
                   (if (cdr p)
                       (string-append (uri-encode (car p)) "=" (uri-encode (cdr p)))
                       (uri-encode (car p))))
                 alist)
            "&"))))
