;;; (srfi 226 continuation-mark): (srfi 226 control continuation-marks), as SRFI 226 names it for R7RS.
(define-library (srfi 226 continuation-mark)
  (export with-continuation-mark with-continuation-marks call-with-immediate-continuation-mark
          continuation-marks current-continuation-marks continuation-mark-set?
          continuation-mark-set->list continuation-mark-set->list* continuation-mark-set->iterator
          continuation-mark-set-first
          make-continuation-mark-key continuation-mark-key?
          continuation-violation? make-continuation-violation continuation-violation-prompt-tag)
  (import (srfi 226 control continuation-marks)))
