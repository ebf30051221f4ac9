;;; (srfi 226 control continuation-marks): marks on the frames of continuations; also as (srfi 226 continuation-mark).
(define-library (srfi 226 control continuation-marks)
  (export with-continuation-mark with-continuation-marks call-with-immediate-continuation-mark
          continuation-marks current-continuation-marks continuation-mark-set?
          continuation-mark-set->list continuation-mark-set->list* continuation-mark-set->iterator
          continuation-mark-set-first
          make-continuation-mark-key continuation-mark-key?
          continuation-violation? make-continuation-violation continuation-violation-prompt-tag)
  (import (only (cairn control)
                continuation-violation? continuation-violation-prompt-tag)
          (only (cairn continuation)
                with-continuation-mark with-continuation-marks call-with-immediate-continuation-mark
                continuation-marks current-continuation-marks continuation-mark-set?
                continuation-mark-set->list continuation-mark-set->list* continuation-mark-set->iterator
                continuation-mark-set-first make-continuation-mark-key continuation-mark-key?
                make-continuation-violation)))
