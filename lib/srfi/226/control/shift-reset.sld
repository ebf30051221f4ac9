;;; (srfi 226 control shift-reset): `shift` and `reset`; also as (srfi 226 shift-reset).
(define-library (srfi 226 control shift-reset)
  (export reset-at shift-at reset shift)
  (import (only (cairn control)
                reset-at shift-at reset shift)))
