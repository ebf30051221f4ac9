;;; (srfi 211 explicit-renaming): er-macro-transformer.
(define-library (srfi 211 explicit-renaming)
  (export er-macro-transformer identifier?)
  (import (cairn macro)))
