;;; (srfi 46): syntax-rules with another ellipsis, and with patterns behind one.
(define-library (srfi 46)
  (export syntax-rules)
  (import (scheme base)))
