;;; (srfi 226 control inspection): what is a continuation?; also as (srfi 226 inspection).
(define-library (srfi 226 control inspection)
  (export continuation? non-composable-continuation?)
  (import (only (cairn continuation)
                continuation? non-composable-continuation?)))
