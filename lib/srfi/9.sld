;;; (srfi 9): define-record-type.
(define-library (srfi 9)
  (export define-record-type)
  (import (only (cairn syntax) define-record-type)))
