;;; (cairn net): TCP and UDP.
;;;
;;; The names are Racket's.  A connection is two ports, one to read and one to write; they carry text and bytes.  What
;;; would block parks the thread that asks, and no other one: a program with one thread just waits.
;;;
;;; The runtime's sockets never block (cairn-rt/src/net.rs): each call here asks, and waits for the descriptor when the
;;; answer is #f.

(define-library (cairn net)
  (export tcp-listen tcp-accept tcp-close tcp-connect tcp-listener? tcp-listener-port tcp-addresses
          udp-open udp-close udp-socket? udp-port udp-send! udp-receive!)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control) (cairn scheduler)
          (only (cairn port) close-port))
  (begin

    (define-record-type <tcp-listener> (make-listener socket) tcp-listener? (socket listener-socket))
    (define-record-type <udp-socket> (make-udp socket) udp-socket? (socket udp-socket))
    (show-fields! <tcp-listener> '())
    (show-fields! <udp-socket> '())
    (unsendable! <tcp-listener>)
    (unsendable! <udp-socket>)

    (define (descriptor socket) (%port-ref socket (port-field-descriptor)))

    ;; What the call gives, when it does not give #f any more.
    (define-syntax waiting
      (syntax-rules ()
        ((_ socket what call)
         (let loop ()
           (let ((x call))
             (if x
                 x
                 (begin
                   (wait-for-file! (descriptor socket) what)
                   (loop))))))))

    ;; Has the addresses of a host looked up, before a call that needs them and would keep all threads waiting.
    (define (look-up! host)
      (let ((job (%net-look-up host)))
        (if (%fixnum? job)
            (begin
              (wait-for-file! job 1)
              (look-up! host)))))

    ;; The socket that the call opens.  Without a free descriptor the runtime answers #f and asks for a collection,
    ;; which closes sockets that nobody can use any more, and happens in this loop.
    (define-syntax opened
      (syntax-rules ()
        ((_ call)
         (let loop ()
           (let ((socket call))
             (if socket socket (loop)))))))

    (define (check-listener who x)
      (if (tcp-listener? x) (listener-socket x) (wrong-type who "a TCP listener" x)))
    (define (check-udp who x)
      (if (udp-socket? x) (udp-socket x) (wrong-type who "a UDP socket" x)))

    ;; Where the host comes behind the port, the runtime cannot say which argument is wrong.
    (define (check-address who port host)
      (if (%not (%fixnum? port)) (wrong-type who "a port number" port))
      (if (%not (%string? host)) (wrong-type who "a string" host)))

    ;; Listens at a port, 0 for any that is free, of the address of `host`: at first that of all of this machine's.
    (define tcp-listen
      (case-lambda
        ((port) (tcp-listen port "0.0.0.0"))
        ((port host)
         (check-address "tcp-listen" port host)
         (ensure-started!)
         (look-up! host)
         (make-listener (opened (%net-listen host port))))))

    (define (tcp-listener-port l)
      (%cdr (%net-address (check-listener "tcp-listener-port" l) #f)))

    (define (tcp-close l)
      (close-port (check-listener "tcp-close" l)))

    ;; Two ports: to read from, to write to.  While there is no descriptor for a connection, it waits.
    (define (tcp-accept l)
      (let ((socket (check-listener "tcp-accept" l)))
        (let loop ()
          (let ((x (%net-accept socket)))
            (cond
              ((%port? x) (connection x))
              ((%null? x) (loop))
              (x
               (thread-sleep! 1/50)
               (loop))
              (else
               (wait-for-file! (descriptor socket) 1)
               (loop)))))))

    (define (connection in)
      (%values in (%net-port in (%fxior (port-output) (%fxior (port-textual) (port-binary))))))

    (define (tcp-connect host port)
      (ensure-started!)
      (look-up! host)
      (let ((socket (opened (%net-connect host port))))
        (wait-for-file! (descriptor socket) 2)
        (%net-outcome socket)
        (connection socket)))

    ;; Address and port of this side of a connection, then those of the other.
    (define (tcp-addresses port)
      (let ((here (%net-address port #f)) (there (%net-address port #t)))
        (%values (%car here) (%cdr here) (%car there) (%cdr there))))

    (define udp-open
      (case-lambda
        (() (udp-open 0))
        ((port) (udp-open port "0.0.0.0"))
        ((port host)
         (check-address "udp-open" port host)
         (ensure-started!)
         (look-up! host)
         (make-udp (opened (%net-datagram host port))))))

    (define (udp-port u) (%cdr (%net-address (check-udp "udp-port" u) #f)))
    (define (udp-close u) (close-port (check-udp "udp-close" u)))

    (define (udp-send! u bytes host port)
      (let ((socket (check-udp "udp-send!" u)))
        (look-up! host)
        (waiting socket 2 (%net-send socket bytes host port))))

    ;; A datagram, cut after `most` bytes, and where it comes from: bytes, address, port.
    (define udp-receive!
      (case-lambda
        ((u) (udp-receive! u 65536))
        ((u most)
         (let* ((socket (check-udp "udp-receive!" u)) (x (waiting socket 1 (%net-receive socket most))))
           (%values (%car x) (%car (%cdr x)) (%cdr (%cdr x)))))))))
