;;; (srfi 39): parameter objects.
(define-library (srfi 39)
  (export make-parameter parameterize)
  (import (only (cairn syntax) parameterize) (only (cairn control) make-parameter)))
