;;; (srfi 106): sockets.
;;;
;;; A socket is one of (cairn net): two ports, a listener, or a socket for datagrams with where it sends to.  What would
;;; block parks the thread that asks.  There is one port of each direction for a socket, and closing it ends only that
;;; direction; what was not written yet goes out with `socket-send`, `socket-shutdown` and `socket-close`.
(define-library (srfi 106)
  (export make-client-socket make-server-socket socket? socket-accept socket-send socket-recv socket-shutdown
          socket-close socket-input-port socket-output-port call-with-socket address-family address-info socket-domain
          ip-protocol message-type shutdown-method socket-merge-flags socket-purge-flags
          *af-unspec* *af-inet* *af-inet6* *sock-stream* *sock-dgram*
          *ai-canonname* *ai-numerichost* *ai-v4mapped* *ai-all* *ai-addrconfig*
          *ipproto-ip* *ipproto-tcp* *ipproto-udp* *msg-none* *msg-peek* *msg-oob* *msg-waitall*
          *shut-rd* *shut-wr* *shut-rdwr*)
  (import (scheme base) (scheme case-lambda) (cairn c) (cairn net)
          (only (cairn control) wrong-type) (only (cairn number) bitwise-and bitwise-ior bitwise-not)
          (rename (only (cairn primitives) %port-unread) (%port-unread port-unread)))
  (begin

    ;;;; Flags: the numbers of Linux

    (define *af-unspec* 0)
    (define *af-inet* 2)
    (define *af-inet6* 10)
    (define *sock-stream* 1)
    (define *sock-dgram* 2)
    (define *ai-canonname* 2)
    (define *ai-numerichost* 4)
    (define *ai-v4mapped* 8)
    (define *ai-all* 16)
    (define *ai-addrconfig* 32)
    (define *ipproto-ip* 0)
    (define *ipproto-tcp* 6)
    (define *ipproto-udp* 17)
    (define *msg-none* 0)
    (define *msg-oob* 1)
    (define *msg-peek* 2)
    (define *msg-waitall* 256)
    ;; These are no flags for C here: `read` and `write` together are both.
    (define *shut-rd* 1)
    (define *shut-wr* 2)
    (define *shut-rdwr* 3)

    (define (socket-merge-flags . flags) (apply bitwise-ior 0 flags))
    (define (socket-purge-flags base . flags)
      (bitwise-and base (bitwise-not (apply bitwise-ior 0 flags))))

    ;; A name means what it is called, whatever it is bound to where the form stands: `(shutdown-method read)`.
    (define-syntax define-flags
      (syntax-rules ()
        ((_ form procedure (name flag) ...)
         (begin
           (define (procedure x)
             (case x
               ((name) flag) ...
               (else (error "no such name:" 'form x))))
           (define-syntax form
             (syntax-rules ()
               ((_ n (... ...)) (socket-merge-flags (procedure 'n) (... ...)))))))))
    (define-flags address-family family-flag (inet *af-inet*) (inet6 *af-inet6*) (unspec *af-unspec*))
    (define-flags address-info info-flag
      (canoname *ai-canonname*) (canonname *ai-canonname*) (numerichost *ai-numerichost*) (v4mapped *ai-v4mapped*)
      (all *ai-all*) (addrconfig *ai-addrconfig*))
    (define-flags socket-domain domain-flag (stream *sock-stream*) (datagram *sock-dgram*))
    (define-flags ip-protocol protocol-flag (ip *ipproto-ip*) (tcp *ipproto-tcp*) (udp *ipproto-udp*))
    (define-flags message-type message-flag
      (none *msg-none*) (peek *msg-peek*) (oob *msg-oob*) (wait-all *msg-waitall*))
    (define-flags shutdown-method shutdown-flag (read *shut-rd*) (write *shut-wr*))

    ;;;; Sockets

    ;; Of a connection `in` and `out` are its ports; otherwise `base` is a listener or a socket for datagrams, which go
    ;; to `host` and `port` when these are known.
    (define-record-type socket
      (make-socket base in out host port)
      socket?
      (base socket-base)
      (in socket-in)
      (out socket-out)
      (host socket-host)
      (port socket-port))

    (define (connection in out) (make-socket #f in out #f #f))
    (define (connection? s) (and (socket-in s) #t))
    (define (datagrams? s) (udp-socket? (socket-base s)))
    (define (check who s)
      (if (not (socket? s)) (wrong-type who "a socket" s)))
    (define (check-connection who s)
      (if (not (and (socket? s) (connection? s))) (wrong-type who "the socket of a connection" s)))

    (define getservbyname (c-procedure pointer "getservbyname" (string pointer)))

    ;; The port of a service: a number as text, or a name.
    (define (service-port who service)
      (cond
        ((not (string? service)) (wrong-type who "a string" service))
        ((string->number service))
        (else
         (let ((entry (getservbyname service #f)))
           (if (not entry) (error "no such service:" service))
           ;; `struct servent`: a name, aliases, and the port, whose first byte is the high one.
           (+ (* 256 (c-ref entry uint8 16)) (c-ref entry uint8 17))))))

    (define make-client-socket
      (case-lambda
        ((node service) (make-client-socket node service *af-inet*))
        ((node service family) (make-client-socket node service family *sock-stream*))
        ((node service family type . _)
         (if (not (string? node)) (wrong-type "make-client-socket" "a string" node))
         (let ((port (service-port "make-client-socket" service)))
           (if (eqv? type *sock-dgram*)
               (make-socket (udp-open 0 (any-address family)) #f #f node port)
               (call-with-values (lambda () (tcp-connect node port)) connection))))))

    (define make-server-socket
      (case-lambda
        ((service) (make-server-socket service *af-inet*))
        ((service family) (make-server-socket service family *sock-stream*))
        ((service family type . _)
         (let ((port (service-port "make-server-socket" service)))
           (make-socket ((if (eqv? type *sock-dgram*) udp-open tcp-listen) port (any-address family)) #f #f #f #f)))))

    (define (any-address family) (if (eqv? family *af-inet6*) "::" "0.0.0.0"))

    (define (socket-accept s)
      (if (not (and (socket? s) (tcp-listener? (socket-base s))))
          (wrong-type "socket-accept" "the socket of a server" s))
      (call-with-values (lambda () (tcp-accept (socket-base s))) connection))

    (define (cannot flags)
      (if (not (eqv? flags *msg-none*)) (error "messages cannot have these flags here:" flags)))

    (define socket-send
      (case-lambda
        ((s bytes) (socket-send s bytes *msg-none*))
        ((s bytes flags)
         (check "socket-send" s)
         (cannot flags)
         (cond
           ((connection? s)
            (write-bytevector bytes (socket-out s))
            (flush-output-port (socket-out s)))
           ((socket-host s) (udp-send! (socket-base s) bytes (socket-host s) (socket-port s)))
           (else (wrong-type "socket-send" "a socket that knows where to send" s)))
         (bytevector-length bytes))))

    ;; At most `size` bytes, those that are there; none when the other side has left.
    (define socket-recv
      (case-lambda
        ((s size) (socket-recv s size *msg-none*))
        ((s size flags)
         (check "socket-recv" s)
         (cannot (socket-purge-flags flags *msg-waitall*))
         (cond
           ((datagrams? s)
            (call-with-values (lambda () (udp-receive! (socket-base s) size)) (lambda (bytes . _) bytes)))
           (else
            (check-connection "socket-recv" s)
            (let ((bytes (if (eqv? flags *msg-waitall*)
                             (read-bytevector size (socket-in s))
                             (some-bytes size (socket-in s)))))
              (if (eof-object? bytes) (bytevector) bytes)))))))

    (define (some-bytes size in)
      (if (and (< 0 size) (not (eof-object? (peek-u8 in))))
          (read-bytevector (min size (port-unread in)) in)
          (bytevector)))

    (define (socket-shutdown s how)
      (check-connection "socket-shutdown" s)
      (if (not (= 0 (bitwise-and how *shut-wr*))) (close-port (socket-out s)))
      (if (not (= 0 (bitwise-and how *shut-rd*))) (close-port (socket-in s))))

    (define (socket-close s)
      (check "socket-close" s)
      (cond
        ((connection? s) (socket-shutdown s *shut-rdwr*))
        ((datagrams? s) (udp-close (socket-base s)))
        (else (tcp-close (socket-base s)))))

    (define (socket-input-port s)
      (check-connection "socket-input-port" s)
      (socket-in s))
    (define (socket-output-port s)
      (check-connection "socket-output-port" s)
      (socket-out s))

    (define (call-with-socket s proc)
      (call-with-values (lambda () (proc s))
        (lambda results
          (socket-close s)
          (apply values results))))))
