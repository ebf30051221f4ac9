;;; (cairn process): other programs.
;;;
;;; (start-process '("grep" "-c" "x") 'in 'out) runs a program; `in`, `out` and `error` say which of its standard ports
;;; are connected to this program by pipes, the others are those of this program.  Waiting for its end parks the thread.

(define-library (cairn process)
  (export start-process process? process-id process-input process-output process-error process-wait process-status
          process-signal! run-process)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control) (cairn scheduler)
          (only (cairn port) close-port read-string write-string))
  (begin

    ;; descriptor: readable when the process has ended; #f once that is known.
    (define-record-type process
      (make-process id descriptor input output error status)
      process?
      (id id-of)
      (descriptor descriptor-of set-descriptor!)
      (input input-of)
      (output output-of)
      (error error-of)
      (status status-of set-status!))
    (show-fields! process '(id))
    (unsendable! process)

    (define (check-process who x)
      (if (process? x) x (wrong-type who "a process" x)))
    (define (process-id p) (id-of (check-process "process-id" p)))
    ;; The port that writes to its standard input, and those that read what it writes; #f if there is none.
    (define (process-input p) (input-of (check-process "process-input" p)))
    (define (process-output p) (output-of (check-process "process-output" p)))
    (define (process-error p) (error-of (check-process "process-error" p)))

    (define (start-process command . pipes)
      (ensure-started!)
      (if (%not (%list? command)) (wrong-type "start-process" "a list of strings" command))
      (let loop ((l pipes) (bits 0))
        (if (%pair? l)
            (let ((bit (cond
                         ((%eq? (%car l) 'in) 1)
                         ((%eq? (%car l) 'out) 2)
                         ((%eq? (%car l) 'error) 4)
                         (else (wrong-type "start-process" "in, out or error" (%car l))))))
              (loop (%cdr l) (%fxior bits bit)))
            (let ((parts (%process-start command bits)))
              (make-process (%vector-ref parts 0) (%vector-ref parts 1) (%vector-ref parts 2) (%vector-ref parts 3)
                            (%vector-ref parts 4) #f)))))

    ;; Its exit status, the signal that ended it as a negative number, or #f while it runs.
    (define (process-status p)
      (check-process "process-status" p)
      (mask!)
      (if (%not (status-of p))
          (let ((status (%process-status (id-of p))))
            (if status (set-status! p status))))
      (unmask!)
      (status-of p))

    ;; The same, when it has ended.
    (define (process-wait p)
      (check-process "process-wait" p)
      (let ((status (process-status p)))
        (cond
          (status
           (release! p)
           status)
          ((descriptor-of p)
           (wait-for-file! (descriptor-of p) 1)
           (process-wait p))
          (else
           (thread-sleep! 1/100)
           (process-wait p)))))

    (define (release! p)
      (mask!)
      (let ((fd (descriptor-of p)))
        (set-descriptor! p #f)
        (unmask!)
        (if fd (%process-release fd))))

    (define (process-signal! p signal)
      (check-process "process-signal!" p)
      (if (process-status p) #f (%process-signal (id-of p) signal)))

    ;; Runs a program to its end, with this text as its input: its output, and its status.
    (define (run-process command text)
      (let* ((p (start-process command 'in 'out)) (in (input-of p)) (out (output-of p)))
        (thread-start!
         (make-thread
          (lambda ()
            ;; It need not read all.
            (call-with-current-continuation
             (lambda (k)
               (with-exception-handler
                (lambda (e) (k #f))
                (lambda ()
                  (write-string text in)
                  (close-port in))))))
          "input"))
        (let ((result (read-all out)))
          (close-port out)
          (%values result (process-wait p)))))

    (define (read-all port)
      (let loop ((parts '()))
        (let ((x (read-string 4096 port)))
          (if (%eof-object? x)
              (%string-concat (%append-reversed parts '()))
              (loop (%cons x parts))))))
))
