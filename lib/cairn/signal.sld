;;; (cairn signal): SIGINT and SIGTERM as conditions.
;;;
;;; A program that does not ask is ended by them.  While the thunk of `call-with-interrupts` runs, they are raised with
;;; `raise-continuable` in the program, wherever it is: a handler that returns lets it go on.
(define-library (cairn signal)
  (export call-with-interrupts interrupt? interrupt-signal)
  (import (cairn syntax) (cairn primitives) (cairn control))
  (begin
    ;; The symbol `interrupt` for SIGINT, `terminate` for SIGTERM.
    (define (interrupt-signal x)
      (if (interrupt? x)
          (if (%eq? (interrupt-number x) 2) 'interrupt 'terminate)
          (wrong-type "interrupt-signal" "an interrupt" x)))))
