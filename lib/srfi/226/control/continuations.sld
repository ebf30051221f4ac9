;;; (srfi 226 control continuations): continuations up to prompts, composable ones and others; also as
;;; (srfi 226 continuation).
(define-library (srfi 226 control continuations)
  (export call-with-non-composable-continuation call-with-current-continuation call/cc call-with-composable-continuation
          call-in-continuation call-in return-to call-with-continuation-barrier continuation-prompt-available?
          dynamic-wind unwind-protect
          continuation-violation? make-continuation-violation continuation-violation-prompt-tag)
  (import (only (cairn control)
                dynamic-wind call-with-continuation-barrier
                continuation-violation? continuation-violation-prompt-tag)
          (only (cairn continuation)
                call-with-non-composable-continuation call-with-current-continuation call/cc
                call-with-composable-continuation call-in-continuation call-in return-to
                continuation-prompt-available? unwind-protect make-continuation-violation)))
