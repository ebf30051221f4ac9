;;; (srfi 139): syntax parameters, which are built into the expander.
(define-library (srfi 139)
  (export define-syntax-parameter syntax-parameterize)
  (import (cairn syntax)))
