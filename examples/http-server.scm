;; An HTTP/1.1 server: a thread for each connection, which reads requests and answers them until the other side leaves.
;;
;;     cairn run examples/http-server.scm 8080
;;
;; Connections are kept alive, requests may follow each other without waiting (pipelining), and SIGTERM or Ctrl-C ends
;; the server in order: it takes no new connections, answers what has been asked, and leaves. `/` says hello, `/count`
;; how many requests have been answered, `/echo` gives back the body of a POST, `/slow` takes a second.
(import (scheme base) (scheme write) (scheme char) (scheme process-context)
        (cairn thread) (cairn net) (cairn signal))

;;;; Requests

(define-record-type request
  (make-request method target version headers body)
  request?
  (method request-method)
  (target request-target)
  (version request-version)
  (headers request-headers)
  (body request-body))

(define (header request name)
  (let ((field (assoc name (request-headers request))))
    (and field (cdr field))))

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
      ((char-whitespace? (string-ref text start)) (loop (+ start 1) end))
      ((char-whitespace? (string-ref text (- end 1))) (loop start (- end 1)))
      (else (substring text start end)))))

(define (position c text)
  (let loop ((i 0))
    (cond
      ((= i (string-length text)) #f)
      ((char=? (string-ref text i) c) i)
      (else (loop (+ i 1))))))

;; The header lines up to the empty one, as pairs; #f: they are no header lines.
(define (read-headers in)
  (let loop ((headers '()))
    (let ((line (read-line in)))
      (cond
        ((eof-object? line) #f)
        ((string=? line "") (reverse headers))
        ((position #\: line)
         => (lambda (i)
              (loop (cons (cons (string-downcase (substring line 0 i))
                                (trim (substring line (+ i 1) (string-length line))))
                          headers))))
        (else #f)))))

;; The next request; the end-of-file object when there is none, #f when it is not understood.
(define (read-request in)
  (let ((line (read-line in)))
    (if (eof-object? line)
        line
        (let* ((parts (split-string line #\space)) (headers (read-headers in)))
          (and headers
               (= (length parts) 3)
               (let* ((field (assoc "content-length" headers))
                      (length (if field (string->number (cdr field)) 0))
                      (body (and (exact-integer? length) (>= length 0)
                                 (if (= length 0) (bytevector) (read-bytevector length in)))))
                 (and (bytevector? body)
                      (make-request (car parts) (cadr parts) (list-ref parts 2) headers body))))))))

;;;; Answers

(define (keep-alive? request)
  (let ((connection (header request "connection")))
    (if (string=? (request-version request) "HTTP/1.0")
        (and connection (string-ci=? connection "keep-alive"))
        (not (and connection (string-ci=? connection "close"))))))

(define (answer out status body keep?)
  (write-string "HTTP/1.1 " out)
  (write-string status out)
  (write-string "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " out)
  (write (bytevector-length body) out)
  (write-string (if keep? "\r\n\r\n" "\r\nConnection: close\r\n\r\n") out)
  (write-bytevector body out)
  (flush-output-port out))

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
  (let ((target (request-target request)) (keep? (and (not stopping?) (keep-alive? request))))
    (cond
      ((string=? target "/") (answer out "200 OK" hello keep?))
      ((string=? target "/count") (answer out "200 OK" (string->utf8 (number->string answered)) keep?))
      ((string=? target "/echo") (answer out "200 OK" (request-body request) keep?))
      ((string=? target "/slow") (thread-sleep! 1) (answer out "200 OK" hello keep?))
      (else (answer out "404 Not Found" (string->utf8 "not found\n") keep?)))
    keep?))

(define hello (string->utf8 "Hello from Cairn\n"))

;;;; Connections

(define (serve in out)
  (let ((request (read-request in)))
    (cond
      ((eof-object? request) #f)
      ((not request) (answer out "400 Bad Request" (string->utf8 "bad request\n") #f))
      ((dynamic-wind begin-request! (lambda () (respond request out)) end-request!) (serve in out)))))

;; The other side may leave at any time; then reads and writes fail.
(define (connection in out)
  (guard (e ((or (file-error? e) (read-error? e)) #f))
    (serve in out))
  (guard (e (#t #f)) (close-port out))
  (close-port in))

;; There may be more connections than the system has descriptors for us: who comes then waits until others have left.
(define (accept-all listener)
  (guard (e ((file-error? e) (thread-sleep! 0.1)))
    (let-values (((in out) (tcp-accept listener)))
      (spawn (lambda () (connection in out)) 'connection)))
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
