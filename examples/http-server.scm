;; An HTTP/1.1 server: a thread for each connection, which reads requests and answers them until the other side leaves.
;;
;;     cairn run examples/http-server.scm 8080
;;
;; Connections are kept alive, requests may follow each other without waiting (pipelining), and SIGTERM or Ctrl-C ends
;; the server in order: it takes no new connections, answers what has been asked, and leaves. `/` says hello, `/count`
;; how many requests have been answered, `/echo` gives back the body of a POST, `/slow` takes a second.  Bodies may come
;; in chunks; requests that are not well-formed, or too large, are refused.
(import (scheme base) (scheme write) (scheme char) (scheme time) (scheme process-context)
        (cairn thread) (cairn net) (cairn signal))

;;;; Requests

;; What is read is limited, so nobody can make the server keep more than this: bytes of a line, of all header lines
;; together, and of a body; and how many header lines there may be.
(define most-in-line 8000)
(define most-in-headers 32000)
(define most-headers 100)
(define most-in-body 10000000)

(define-record-type request
  (make-request method path version headers body)
  request?
  (method request-method)
  (path request-path)
  (version request-version)
  (headers request-headers)
  (body request-body))

;; What is raised when a request is not served, with the status that says why.
(define-record-type refusal (make-refusal status) refusal? (status refusal-status))
(define (refuse status) (raise (make-refusal status)))
(define (bad) (refuse "400 Bad Request"))

;; The other side has left in the middle of something.
(define (must-be-there x) (if (eof-object? x) (bad) x))

;; A line of at most `most` bytes without its end, as characters 0 to 255, or the end-of-file object: `status` says that
;; it is longer.
(define (read-limited in most status)
  (let loop ((n 0) (chars '()))
    (let ((b (read-u8 in)))
      (cond
        ((eof-object? b) (if (null? chars) b (bad)))
        ((= b 10) (list->string (reverse chars)))
        ((= b 13) (if (eqv? (read-u8 in) 10) (list->string (reverse chars)) (bad)))
        ((= n most) (refuse status))
        (else (loop (+ n 1) (cons (integer->char b) chars)))))))

(define (all? ok? text)
  (let loop ((i 0))
    (or (= i (string-length text))
        (and (ok? (string-ref text i)) (loop (+ i 1))))))

(define (between? low c high) (and (char<=? low c) (char<=? c high)))
(define (ascii-digit? c) (between? #\0 c #\9))
(define (hex-digit? c) (or (ascii-digit? c) (between? #\a (char-downcase c) #\f)))
(define (token-char? c)
  (or (between? #\a c #\z) (between? #\A c #\Z) (ascii-digit? c) (position c "!#$%&'*+-.^_`|~")))
(define (token? text) (and (> (string-length text) 0) (all? token-char? text)))
(define (visible? c) (and (char<? #\space c) (not (char=? c #\delete))))
(define (field-char? c) (or (visible? c) (char=? c #\space) (char=? c #\tab)))
(define (blank? c) (or (char=? c #\space) (char=? c #\tab)))

(define (position c text)
  (let loop ((i 0))
    (cond
      ((= i (string-length text)) #f)
      ((char=? (string-ref text i) c) i)
      (else (loop (+ i 1))))))

;; What is between characters c of a string.
(define (split-string text c)
  (let loop ((i 0) (start 0) (parts '()))
    (cond
      ((= i (string-length text)) (reverse (cons (substring text start i) parts)))
      ((char=? (string-ref text i) c) (loop (+ i 1) (+ i 1) (cons (substring text start i) parts)))
      (else (loop (+ i 1) start parts)))))

(define (trim text)
  (let loop ((start 0) (end (string-length text)))
    (cond
      ((= start end) "")
      ((blank? (string-ref text start)) (loop (+ start 1) end))
      ((blank? (string-ref text (- end 1))) (loop start (- end 1)))
      (else (substring text start end)))))

(define (starts-with? prefix text)
  (and (<= (string-length prefix) (string-length text))
       (string-ci=? prefix (substring text 0 (string-length prefix)))))

;; The header lines up to the empty one, as pairs of a name in small letters and a value.
(define (read-headers in)
  (let loop ((n 0) (size 0) (headers '()))
    (let ((line (must-be-there (read-limited in (min most-in-line (- most-in-headers size)) too-large))))
      (cond
        ((string=? line "") (reverse headers))
        ((= n most-headers) (refuse too-large))
        (else (loop (+ n 1) (+ size (string-length line)) (cons (parse-field line) headers)))))))
(define too-large "431 Request Header Fields Too Large")

;; A line that goes on with the one before begins with a blank, which is no name.
(define (parse-field line)
  (let* ((colon (or (position #\: line) (bad)))
         (name (substring line 0 colon))
         (value (trim (substring line (+ colon 1) (string-length line)))))
    (if (and (token? name) (all? field-char? value))
        (cons (string-downcase name) value)
        (bad))))

;; All values of a field.
(define (fields headers name)
  (cond
    ((null? headers) '())
    ((string=? (caar headers) name) (cons (cdar headers) (fields (cdr headers) name)))
    (else (fields (cdr headers) name))))

;; The only value of a field, or #f.
(define (field headers name)
  (let ((values (fields headers name)))
    (cond
      ((null? values) #f)
      ((null? (cdr values)) (car values))
      (else (bad)))))

;; Is the word in a field that is a list of words?
(define (lists? headers name word)
  (let of-fields ((values (fields headers name)))
    (and (pair? values)
         (or (let of-words ((words (split-string (car values) #\,)))
               (and (pair? words)
                    (or (string-ci=? (trim (car words)) word) (of-words (cdr words)))))
             (of-fields (cdr values))))))

;; The path of a target: without the query, and without scheme and host where it has these.
(define (path-of target)
  (let* ((from (if (starts-with? "http://" target) 7 0))
         (rest (substring target from (string-length target)))
         (slash (position #\/ rest))
         (path (cond
                 ((= from 0) rest)
                 (slash (substring rest slash (string-length rest)))
                 (else "/")))
         (query (position #\? path)))
    (if query (substring path 0 query) path)))

;; 0 or 1: the last digit of HTTP/1.0, and of what is later but compatible.
(define (version-of text)
  (cond
    ((not (and (= (string-length text) 8)
               (string=? (substring text 0 5) "HTTP/")
               (ascii-digit? (string-ref text 5))
               (char=? (string-ref text 6) #\.)
               (ascii-digit? (string-ref text 7))))
     (bad))
    ((not (char=? (string-ref text 5) #\1)) (refuse "505 HTTP Version Not Supported"))
    ((char=? (string-ref text 7) #\0) 0)
    (else 1)))

;; The next request, or the end-of-file object when there is none.
(define (read-request in out)
  (let ((line (read-limited in most-in-line "414 URI Too Long")))
    (cond
      ((eof-object? line) line)
      ;; an empty line before a request is left out
      ((string=? line "") (let ((line (read-limited in most-in-line "414 URI Too Long")))
                            (if (eof-object? line) line (parse-request line in out))))
      (else (parse-request line in out)))))

(define (parse-request line in out)
  (let ((parts (split-string line #\space)))
    (if (not (and (= (length parts) 3) (token? (car parts))
                  (> (string-length (cadr parts)) 0) (all? visible? (cadr parts))))
        (bad))
    (let* ((version (version-of (list-ref parts 2))) (headers (read-headers in)) (host (field headers "host")))
      (if (and (= version 1) (not host)) (bad))
      (make-request (car parts) (path-of (cadr parts)) version headers (read-body in out version headers)))))

;; There is one way to tell how long a body is; whoever gives two wants us to read something else than others do.
(define (read-body in out version headers)
  (let ((coding (field headers "transfer-encoding")) (length (field headers "content-length")))
    (cond
      ((and coding (or length (= version 0))) (bad))
      ((and coding (not (string-ci=? coding "chunked"))) (refuse "501 Not Implemented"))
      (coding
       (go-on headers out version)
       (read-chunks in))
      ((not length) (bytevector))
      ((not (and (> (string-length length) 0) (all? ascii-digit? length))) (bad))
      (else
       (let ((n (string->number length 10)))
         (check-size n)
         (if (> n 0) (go-on headers out version))
         (read-bytes n in))))))

(define (check-size n)
  (if (> n most-in-body) (refuse "413 Content Too Large")))

(define (read-bytes n in)
  (if (= n 0)
      (bytevector)
      (let ((bytes (must-be-there (read-bytevector n in))))
        (if (= (bytevector-length bytes) n) bytes (bad)))))

;; Some send a body only when they are told to.
(define (go-on headers out version)
  (let ((expected (field headers "expect")))
    (cond
      ((or (not expected) (= version 0)) #f)
      ((string-ci=? expected "100-continue")
       (write-string "HTTP/1.1 100 Continue\r\n\r\n" out)
       (flush-output-port out))
      (else (refuse "417 Expectation Failed")))))

(define (read-chunks in)
  (let loop ((size 0) (chunks '()))
    (let* ((line (must-be-there (read-limited in 200 "400 Bad Request")))
           (digits (trim (car (split-string line #\;))))
           (n (if (and (<= 1 (string-length digits) 8) (all? hex-digit? digits)) (string->number digits 16) (bad))))
      (check-size (+ size n))
      (if (= n 0)
          (begin
            (read-headers in)           ; trailers
            (apply bytevector-append (reverse chunks)))
          (let ((chunk (read-bytes n in)))
            (if (not (string=? (must-be-there (read-limited in 0 "400 Bad Request")) "")) (bad))
            (loop (+ size n) (cons chunk chunks)))))))

;;;; Answers

(define (keep-alive? request)
  (let ((headers (request-headers request)))
    (and (not (lists? headers "connection" "close"))
         (or (= (request-version request) 1) (lists? headers "connection" "keep-alive")))))

;; `head?`: only the head of the answer is asked for.
(define (answer out status body keep? head? . more)
  (write-string "HTTP/1.1 " out)
  (write-string status out)
  (write-string "\r\nDate: " out)
  (write-string (date) out)
  (write-string "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " out)
  (write (bytevector-length body) out)
  (for-each (lambda (line) (write-string "\r\n" out) (write-string line out)) more)
  (write-string (if keep? "\r\n\r\n" "\r\nConnection: close\r\n\r\n") out)
  (if (not head?) (write-bytevector body out))
  (flush-output-port out))

;; The time as HTTP has it, made once in a second.
(define date-second -1)
(define date-text "")
(define (date)
  (let ((now (exact (floor (current-second)))))
    (if (not (= now date-second))
        (begin
          (set! date-text (date->text now))
          (set! date-second now)))
    date-text))

(define (two n) (if (< n 10) (string-append "0" (number->string n)) (number->string n)))

;; Years begin in March here, so that a leap day is the last day of its year.
(define (date->text second)
  (let* ((days (quotient second 86400)) (left (remainder second 86400))
         (z (+ days 719468)) (era (quotient z 146097)) (of-era (remainder z 146097))
         (year (quotient (- of-era (quotient of-era 1460) (- (quotient of-era 36524)) (quotient of-era 146096)) 365))
         (day (- of-era (+ (* 365 year) (quotient year 4) (- (quotient year 100)))))
         (month (quotient (+ (* 5 day) 2) 153))
         (name (lambda (names i) (substring names (* 3 i) (* 3 (+ i 1))))))
    (string-append
      (name "ThuFriSatSunMonTueWed" (remainder days 7)) ", "
      (two (+ 1 (- day (quotient (+ (* 153 month) 2) 5)))) " "
      (name "MarAprMayJunJulAugSepOctNovDecJanFeb" month) " "
      (number->string (+ year (* 400 era) (if (< month 10) 0 1))) " "
      (two (quotient left 3600)) ":" (two (remainder (quotient left 60) 60)) ":" (two (remainder left 60)) " GMT")))

;; Requests that were answered, and those under way; `idle` is filled when the last of these is answered at the end.
(define lock (make-mutex))
(define answered 0)
(define busy 0)
(define stopping? #f)
(define idle (make-mvar))

(define (begin-request!)
  (with-mutex lock (set! busy (+ busy 1))))
(define (end-request!)
  (with-mutex lock
    (set! answered (+ answered 1))
    (set! busy (- busy 1))
    (if (and stopping? (= busy 0)) (mvar-try-put! idle #t))))

(define (respond request out)
  (let* ((path (request-path request)) (method (request-method request))
         (head? (string=? method "HEAD")) (get? (or head? (string=? method "GET")))
         (keep? (and (not stopping?) (keep-alive? request))))
    (define (say status body) (answer out status body keep? head?))
    (define (only allowed)
      (answer out "405 Method Not Allowed" (string->utf8 "method not allowed\n") keep? head?
              (string-append "Allow: " allowed)))
    (cond
      ((not (or get? (string=? method "POST")))
       (answer out "501 Not Implemented" (string->utf8 "not implemented\n") keep? #f))
      ((string=? path "/echo") (if get? (only "POST") (say "200 OK" (request-body request))))
      ((not (member path '("/" "/count" "/slow"))) (say "404 Not Found" (string->utf8 "not found\n")))
      ((not get?) (only "GET, HEAD"))
      ((string=? path "/count") (say "200 OK" (string->utf8 (number->string answered))))
      (else
       (if (string=? path "/slow") (thread-sleep! 1))
       (say "200 OK" hello)))
    keep?))

(define hello (string->utf8 "Hello from Cairn\n"))

;;;; Connections

;; Does the other side want more?
(define (serve in out)
  (let ((request (read-request in out)))
    (if (and (not (eof-object? request))
             (dynamic-wind begin-request! (lambda () (respond request out)) end-request!))
        (serve in out))))

;; What was not understood is answered, and nothing that follows it is read as a request.  The other side may still be
;; sending: if the connection were closed at once, it would not see the answer.
(define (turn-away status in out)
  (answer out status (string->utf8 (string-append (string-downcase (substring status 4 (string-length status))) "\n"))
          #f #f)
  (close-port out)
  (call-with-timeout 1
    (lambda ()
      (let loop ((left most-in-body))
        (let ((bytes (read-bytevector 4096 in)))
          (if (and (bytevector? bytes) (> left 0)) (loop (- left (bytevector-length bytes)))))))
    (lambda () #f)))

;; The other side may leave at any time; then reads and writes fail.
(define (connection in out)
  (guard (e ((file-error? e) #f))
    (guard (e ((refusal? e) (turn-away (refusal-status e) in out)))
      (serve in out)))
  (guard (e (#t #f)) (close-port out))
  (close-port in))

;; There may be more connections than the system has descriptors for us: who comes then waits until others have left.
(define (accept-all listener)
  (let-values (((in out) (tcp-accept listener)))
    (spawn (lambda () (connection in out)) 'connection))
  (accept-all listener))

;;;; The server

(define (start port)
  (let* ((listener (tcp-listen port)) (acceptor (spawn (lambda () (accept-all listener)) 'acceptor)))
    (display "listening at port ")
    (display (tcp-listener-port listener))
    (newline)
    (flush-output-port)
    (guard (e ((interrupt? e) #f))
      (call-with-interrupts (lambda () (mvar-take! (make-mvar)))))
    (set! stopping? #t)
    (thread-terminate! acceptor)
    (tcp-close listener)
    ;; What has been asked is answered, for ten seconds; who asks nothing is left.
    (if (> busy 0) (call-with-timeout 10 (lambda () (mvar-take! idle)) (lambda () #f)))
    (display answered)
    (display " requests answered")
    (newline)))

(start (let ((arguments (cdr (command-line)))) (if (pair? arguments) (string->number (car arguments)) 8080)))
