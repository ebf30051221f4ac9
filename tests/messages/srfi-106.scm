;; What sockets of SRFI 106 say of wrong arguments.
(import (scheme base) (scheme case-lambda) (scheme write) (only (cairn control) condition->string) (srfi 106))
(include "../support/say.scm")
(include "../support/wrong.scm")
(define server (make-server-socket "0" *af-inet* *sock-dgram*))
(define listener (make-server-socket "0"))

(say (make-client-socket five "80") (make-client-socket "localhost" five) (make-client-socket "localhost" "no-such-service")
     (make-client-socket "127.0.0.1" "1") (make-server-socket five) (make-server-socket "no-such-service"))
(say (socket-accept five) (socket-accept server) (socket-send five (bytevector)) (socket-send server (bytevector))
     (socket-send listener (bytevector)) (socket-send server (bytevector) *msg-oob*) (socket-recv five 1)
     (socket-recv listener 1) (socket-recv server 1 (message-type peek wait-all)) (socket-shutdown listener *shut-rd*)
     (socket-close five) (socket-input-port listener) (socket-output-port five) (call-with-socket five list))
(say (address-family appletalk) (shutdown-method read five))
