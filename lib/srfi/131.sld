;;; (srfi 131): record types that extend others.
(define-library (srfi 131)
  (export define-record-type)
  (import (only (cairn syntax) define-record-type)))
