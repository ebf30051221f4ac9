;;; (scheme process-context) of R7RS-small.
(define-library (scheme process-context)
  (export (rename %command-line command-line) emergency-exit exit
          (rename %get-environment-variable get-environment-variable)
          (rename %get-environment-variables get-environment-variables))
  (import (cairn primitives) (cairn control)))
