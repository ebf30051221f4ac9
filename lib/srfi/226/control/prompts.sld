;;; (srfi 226 control prompts): prompts; also as (srfi 226 prompt).
(define-library (srfi 226 control prompts)
  (export make-continuation-prompt-tag default-continuation-prompt-tag continuation-prompt-tag?
          call-with-continuation-prompt abort-current-continuation
          continuation-violation? make-continuation-violation continuation-violation-prompt-tag)
  (import (only (cairn control)
                continuation-violation? continuation-violation-prompt-tag make-continuation-prompt-tag
                default-continuation-prompt-tag continuation-prompt-tag?
                call-with-continuation-prompt abort-current-continuation)
          (only (cairn continuation)
                make-continuation-violation)))
