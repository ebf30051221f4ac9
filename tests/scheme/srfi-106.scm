;; SRFI 106: a server and its clients in one program, streams and datagrams.
(import (scheme base) (scheme read) (scheme write) (srfi 18) (srfi 106))
(include "include/check.scm")

;; A server at a port that is free, and the port as text.
(define (with-server type proc)
  (let loop ((port 20011))
    (let ((s (guard (_ ((< port 60000) #f)) (make-server-socket (number->string port) *af-inet* type))))
      (if s (call-with-socket s (lambda (s) (proc s (number->string port)))) (loop (+ port 137))))))

(define (in-thread thunk) (thread-start! (make-thread thunk)))

;; What comes is sent back in capitals, until the other side writes no more.
(check (with-server *sock-stream*
         (lambda (server port)
           (let ((echo (in-thread (lambda ()
                                    (call-with-socket (socket-accept server)
                                      (lambda (s)
                                        (let loop ()
                                          (let ((bytes (socket-recv s 100)))
                                            (if (< 0 (bytevector-length bytes))
                                                (begin
                                                  (socket-send s (bytevector-append bytes bytes))
                                                  (loop)))))))))))
             (let* ((s (make-client-socket "localhost" port (address-family inet) (socket-domain stream)
                                           (address-info v4mapped addrconfig) (ip-protocol tcp)))
                    (sent (socket-send s (string->utf8 "ab") (message-type none)))
                    (first (socket-recv s 4 (message-type wait-all)))
                    (second (begin (socket-send s (bytevector 1 2 3)) (socket-recv s 6 *msg-waitall*)))
                    (out (socket-output-port s)))
               (write-u8 7 out)
               (flush-output-port out)
               (let* ((third (list (read-u8 (socket-input-port s)) (peek-u8 (socket-input-port s)))))
                 (socket-shutdown s (shutdown-method write))
                 (let* ((rest (socket-recv s 100)) (end (socket-recv s 100)))
                   (thread-join! echo)
                   (socket-close s)
                   (socket-shutdown s (shutdown-method read write))
                   (list sent (utf8->string first) second third rest end (socket? s) (socket? port))))))))
       => (list 2 "abab" (bytevector 1 2 3 1 2 3) '(7 7) (bytevector 7) (bytevector) #t #f))

;; No more bytes than were asked for, and those that are there.
(check (with-server *sock-stream*
         (lambda (server port)
           (let* ((client (make-client-socket "127.0.0.1" port)) (s (socket-accept server)))
             (socket-send client (bytevector 1 2 3 4 5))
             (let* ((a (socket-recv s 2)) (b (socket-recv s 100)) (none (socket-recv s 0)))
               (socket-close client)
               (let ((end (socket-recv s 1)))
                 (socket-close s)
                 (list a b none end))))))
       => (list (bytevector 1 2) (bytevector 3 4 5) (bytevector) (bytevector)))

;; Datagrams keep their ends.
(check (with-server *sock-dgram*
         (lambda (server port)
           (call-with-socket (make-client-socket "127.0.0.1" port *af-inet* *sock-dgram* (address-info) (ip-protocol udp))
             (lambda (s)
               (socket-send s (string->utf8 "one"))
               (socket-send s (string->utf8 "second"))
               (let* ((a (socket-recv server 100)) (b (socket-recv server 3)))
                 (map utf8->string (list a b)))))))
       => '("one" "sec"))

(check (call-with-values (lambda () (with-server *sock-stream* (lambda (server port) (values 1 2)))) list) => '(1 2))
(check (list (socket-merge-flags) (= (socket-merge-flags *ai-all* *ai-v4mapped*) (address-info all v4mapped))
             (= *ai-all* (socket-purge-flags (address-info all v4mapped) *ai-v4mapped*))
             (= *shut-rdwr* (shutdown-method read write)) (message-type none))
       => '(0 #t #t #t 0))

(check-error (make-client-socket "localhost" "no-such-service"))
(check-error (make-client-socket "127.0.0.1" "1"))
(check-error (make-server-socket 8080))
(check-error (with-server *sock-stream* (lambda (server port) (socket-send server (bytevector 1)))))
(check-error (with-server *sock-stream* (lambda (server port) (socket-recv server 1))))
(check-error (with-server *sock-stream* (lambda (server port) (socket-input-port server))))
(check-error (with-server *sock-dgram* (lambda (server port) (socket-accept server))))
(check-error (with-server *sock-dgram* (lambda (server port) (socket-send server (bytevector 1)))))
(check-error (address-family appletalk))
(report)
