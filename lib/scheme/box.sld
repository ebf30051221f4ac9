;;; (scheme box) of R7RS-large: (srfi 111).
(define-library (scheme box)
  (export box box? unbox set-box!)
  (import (srfi 111)))
