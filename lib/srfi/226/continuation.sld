;;; (srfi 226 continuation): (srfi 226 control continuations), as SRFI 226 names it for R7RS.
(define-library (srfi 226 continuation)
  (export call-with-non-composable-continuation call-with-current-continuation call/cc call-with-composable-continuation
          call-in-continuation call-in return-to call-with-continuation-barrier continuation-prompt-available?
          dynamic-wind unwind-protect
          continuation-violation? make-continuation-violation continuation-violation-prompt-tag)
  (import (srfi 226 control continuations)))
