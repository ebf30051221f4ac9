;;; (srfi 28): format with ~a, ~s, ~% and ~~.
(define-library (srfi 28)
  (export (rename basic-format format))
  (import (scheme base) (rename (srfi 48) (format full-format)))
  (begin
    (define (basic-format control . arguments)
      (apply full-format #f control arguments))))
