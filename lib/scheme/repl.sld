;;; (scheme repl) of R7RS-small.
(define-library (scheme repl)
  (export interaction-environment)
  (import (cairn evaluator)))
