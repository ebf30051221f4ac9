;;; TLS by OpenSSL's C library, over the sockets of (cairn net).  (apt-get install libssl3)
;;;
;;; OpenSSL never sees a socket: what it reads and writes is in its memory, and the program carries it to the connection
;;; and back, so a thread that waits for the network keeps no other one waiting.

(import (scheme base) (scheme write) (cairn c) (cairn net) (cairn thread)
        (only (rnrs io ports) get-bytevector-some make-custom-binary-input-port make-custom-binary-output-port))

(define crypto (c-library "libcrypto.so.3"))
(define ssl (c-library "libssl.so.3"))

(define-c-procedures crypto
  (bio-new pointer "BIO_new" (pointer))
  (bio-in-memory pointer "BIO_s_mem" ())
  (bio-read int "BIO_read" (pointer bytevector int))
  (bio-write int "BIO_write" (pointer bytevector int))
  (next-error unsigned-long "ERR_get_error" ())
  (error-reason string "ERR_reason_error_string" (unsigned-long))
  (generate-key pointer "EVP_PKEY_Q_keygen" (pointer pointer string ... size_t))
  (sha256 pointer "EVP_sha256" ())
  (certificate-new pointer "X509_new" ())
  (certificate-version! int "X509_set_version" (pointer long))
  (certificate-serial pointer "X509_get_serialNumber" (pointer))
  (integer-set! int "ASN1_INTEGER_set" (pointer long))
  (certificate-from pointer "X509_getm_notBefore" (pointer))
  (certificate-until pointer "X509_getm_notAfter" (pointer))
  (time-set! pointer "X509_gmtime_adj" (pointer long))
  (certificate-key! int "X509_set_pubkey" (pointer pointer))
  (certificate-name pointer "X509_get_subject_name" (pointer))
  (name-add! int "X509_NAME_add_entry_by_txt" (pointer string int string int int int))
  (certificate-issuer! int "X509_set_issuer_name" (pointer pointer))
  (certificate-sign! int "X509_sign" (pointer pointer pointer))
  (store-add! int "X509_STORE_add_cert" (pointer pointer)))

(define-c-procedures ssl
  (context-new pointer "SSL_CTX_new" (pointer))
  (client-method pointer "TLS_client_method" ())
  (server-method pointer "TLS_server_method" ())
  (context-verify! void "SSL_CTX_set_verify" (pointer int pointer))
  (context-default-paths! int "SSL_CTX_set_default_verify_paths" (pointer))
  (context-free void "SSL_CTX_free" (pointer))
  (context-store pointer "SSL_CTX_get_cert_store" (pointer))
  (context-certificate! int "SSL_CTX_use_certificate" (pointer pointer))
  (context-key! int "SSL_CTX_use_PrivateKey" (pointer pointer))
  (session-new pointer "SSL_new" (pointer))
  (session-free void "SSL_free" (pointer))
  (session-bios! void "SSL_set_bio" (pointer pointer pointer))
  (session-connects! void "SSL_set_connect_state" (pointer))
  (session-accepts! void "SSL_set_accept_state" (pointer))
  (session-control long "SSL_ctrl" (pointer int long string))
  (session-host! int "SSL_set1_host" (pointer string))
  (session-handshake int "SSL_do_handshake" (pointer))
  (session-read int "SSL_read" (pointer bytevector int))
  (session-write int "SSL_write" (pointer bytevector int))
  (session-shutdown int "SSL_shutdown" (pointer))
  (session-version string "SSL_get_version" (pointer))
  (session-error int "SSL_get_error" (pointer int)))

(define want-read 2)
(define want-write 3)
(define closed 6)

;; What OpenSSL says of its last failure.
(define (openssl-message)
  (or (error-reason (next-error)) "no reason given"))

(define (check who ok)
  (if (or (not ok) (and (integer? ok) (<= ok 0))) (error (string-append who ": " (openssl-message))))
  ok)

;; Two ports over those of a connection: what is written to one is encrypted, what is read from the other deciphered.
(define (tls-ports context in out prepare!)
  (define session (check "TLS" (session-new context)))
  (define arrived (bio-new (bio-in-memory)))
  (define departing (bio-new (bio-in-memory)))
  (define buffer (make-bytevector 16384))
  (define open 2)
  (define (send!)
    (let ((n (bio-read departing buffer (bytevector-length buffer))))
      (if (and (> n 0) (output-port-open? out))
          (begin
            (write-bytevector buffer out 0 n)
            (flush-output-port out)
            (send!)))))
  ;; The other side has more to say?
  (define (receive!)
    (let ((bytes (get-bytevector-some in)))
      (if (eof-object? bytes)
          #f
          (begin (bio-write arrived bytes (bytevector-length bytes)) #t))))
  ;; What an operation gives, once the network has what it waits for: 0 at the end.
  (define (complete who operation)
    (let loop ()
      (let ((n (operation)))
        (send!)
        (if (> n 0)
            n
            (let ((why (session-error session n)))
              (cond
                ((= why closed) 0)
                ((= why want-write) (loop))
                ((and (= why want-read) (receive!)) (loop))
                ((= why want-read) (error (string-append who ": the connection ended early")))
                (else (error (string-append who ": " (openssl-message))))))))))
  (define (close)
    (set! open (- open 1))
    (if (= open 0) (session-free session)))
  (context-free context) ; the session has its own reference
  (session-bios! session arrived departing)
  (prepare! session)
  (complete "TLS handshake" (lambda () (session-handshake session)))
  (values
   (make-custom-binary-input-port (session-version session)
     (lambda (to start count)
       (let* ((part (make-bytevector count)) (n (complete "TLS" (lambda () (session-read session part count)))))
         (bytevector-copy! to start part 0 n)
         n))
     #f #f
     (lambda () (close-port in) (close)))
   (make-custom-binary-output-port (session-version session)
     (lambda (from start count)
       (if (= count 0)
           0
           (let ((part (bytevector-copy from start (+ start count))))
             (complete "TLS" (lambda () (session-write session part count))))))
     #f #f
     (lambda ()
       (session-shutdown session)
       (send!)
       (close-port out)
       (close)))))

;; Connects to a server whose certificate is for `host`, and signed by somebody whom the machine, or `trusted`, knows.
(define (tls-connect host port . trusted)
  (define context (check "TLS" (context-new (client-method))))
  (context-verify! context 1 #f)
  (context-default-paths! context)
  (for-each (lambda (certificate) (store-add! (context-store context) certificate)) trusted)
  (let-values (((in out) (tcp-connect host port)))
    (tls-ports context in out
               (lambda (session)
                 (session-control session 55 0 host)
                 (check "TLS" (session-host! session host))
                 (session-connects! session)))))

;; Waits for a connection to a server that has this certificate and key.
(define (tls-accept listener certificate key)
  (define context (check "TLS" (context-new (server-method))))
  (check "certificate" (context-certificate! context certificate))
  (check "key" (context-key! context key))
  (let-values (((in out) (tcp-accept listener)))
    (tls-ports context in out session-accepts!)))

;; A certificate for a name, which its own key signs, for a day.
(define (self-signed name)
  (let ((key (check "key" (generate-key #f #f "RSA" 2048))) (certificate (certificate-new)))
    (certificate-version! certificate 2)
    (integer-set! (certificate-serial certificate) 1)
    (time-set! (certificate-from certificate) 0)
    (time-set! (certificate-until certificate) 86400)
    (certificate-key! certificate key)
    (name-add! (certificate-name certificate) "CN" #x1001 name -1 -1 0)
    (certificate-issuer! certificate (certificate-name certificate))
    (check "certificate" (certificate-sign! certificate key (sha256)))
    (values certificate key)))

;;; A server that answers each line, and two clients: one that knows the certificate, and one that does not.

(define-values (certificate key) (self-signed "localhost"))
(define listener (tcp-listen 0 "127.0.0.1"))

(define (read-line-of-bytes port)
  (let loop ((bytes '()))
    (let ((b (read-u8 port)))
      (cond
        ((and (eof-object? b) (null? bytes)) b)
        ((or (eof-object? b) (= b 10)) (utf8->string (apply bytevector (reverse bytes))))
        (else (loop (cons b bytes)))))))

(define (answer-lines)
  (guard (e (#t #f))
    (let-values (((in out) (tls-accept listener certificate key)))
      (let loop ()
        (let ((line (read-line-of-bytes in)))
          (if (not (eof-object? line))
              (begin
                (write-bytevector (string->utf8 (string-append "> " line "\n")) out)
                (flush-output-port out)
                (loop)))))
      (close-port out)
      (close-port in))))

(define server (spawn (lambda () (answer-lines) (answer-lines))))

(let-values (((in out) (tls-connect "localhost" (tcp-listener-port listener) certificate)))
  (define (say text)
    (write-bytevector (string->utf8 (string-append text "\n")) out)
    (flush-output-port out)
    (write (read-line-of-bytes in))
    (newline))
  (say "Grüße")
  (say (make-string 60 #\x))
  (let ((long (make-bytevector 200000 97)))
    (write-bytevector long out)
    (write-u8 10 out)
    (flush-output-port out)
    (write (string-length (read-line-of-bytes in)))
    (newline))
  (close-port out)
  (write (eof-object? (read-u8 in)))
  (newline)
  (close-port in))

(write (guard (e (#t (error-object-message e)))
         (tls-connect "localhost" (tcp-listener-port listener))))
(newline)
(thread-join! server)
(tcp-close listener)
