;;; (srfi 226 prompt): (srfi 226 control prompts), as SRFI 226 names it for R7RS.
(define-library (srfi 226 prompt)
  (export make-continuation-prompt-tag default-continuation-prompt-tag continuation-prompt-tag?
          call-with-continuation-prompt abort-current-continuation
          continuation-violation? make-continuation-violation continuation-violation-prompt-tag)
  (import (srfi 226 control prompts)))
