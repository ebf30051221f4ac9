;;; (srfi 6): basic string ports.
(define-library (srfi 6)
  (export open-input-string open-output-string get-output-string)
  (import (cairn port)))
