;; Large reads and writes, opening a named pipe, and looking up a name let other threads have their turns.
;; Arguments: a named pipe, a file to be made.
(import (scheme base) (scheme write) (scheme file) (scheme process-context) (cairn thread) (cairn net))
(define pipe (cadr (command-line)))
(define file (list-ref (command-line) 2))

(define ticks 0)
(define (tick)
  (thread-yield!)
  (set! ticks (+ ticks 1))
  (tick))
(spawn tick)
;; Its value, if others have had so many turns meanwhile.
(define (beside turns thunk)
  (let* ((before ticks) (x (thunk)))
    (if (< (- ticks before) turns) (list 'turns (- ticks before)) x)))

(define reader (spawn (lambda () (call-with-input-file pipe read-line))))
(thread-yield!)
(define through
  (beside 1
    (lambda ()
      (call-with-output-file pipe (lambda (port) (write-string "through\n" port)))
      (string->symbol (thread-join! reader)))))

(define n 40000000)
(define text (make-string n #\a))
(string-set! text (- n 1) #\λ)
(define bytes (make-bytevector n 7))
(bytevector-u8-set! bytes 5000000 8)
(write
  (list
    through
    (beside 1
      (lambda ()
        (call-with-output-file file (lambda (port) (write-string text port)))
        (call-with-input-file file (lambda (port) (string=? text (read-string (+ n 5) port))))))
    (beside 1
      (lambda ()
        (call-with-port (open-binary-output-file file) (lambda (port) (write-bytevector bytes port 1)))
        (call-with-port (open-binary-input-file file)
          (lambda (port)
            (let ((copy (make-bytevector n 7)))
              (and (= (read-bytevector! copy port 1) (- n 1))
                   (equal? copy bytes)
                   (eof-object? (read-bytevector 5000000 port))))))))
    (beside 1
      (lambda ()
        (call-with-port (open-binary-input-file "/dev/zero")
          (lambda (port) (= n (bytevector-length (read-bytevector n port)))))))
    (let ((l (tcp-listen 0 "localhost")))
      (beside 0
        (lambda ()
          (let-values (((in out) (tcp-connect "localhost" (tcp-listener-port l))))
            (close-port in)
            (close-port out)
            #t))))))
(newline)
(exit 0)
