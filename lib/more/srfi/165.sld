;;; (srfi 165): the environment monad: computations that ask for the values of variables and give others to parts.
;;;
;;; The text is the reference implementation, unchanged: the folder 165, with its licence.
(define-library (srfi 165)
  (export make-computation-environment-variable make-computation-environment computation-environment-ref
          computation-environment-update computation-environment-update! computation-environment-copy
          make-computation computation-each computation-each-in-list computation-pure computation-bind
          computation-sequence computation-run computation-ask computation-local computation-fn computation-with
          computation-with! computation-forked computation-bind/forked default-computation define-computation-type)
  (import (scheme base) (srfi 1) (srfi 111) (srfi 125) (srfi 128) (srfi 146))
  (include "165/165.scm"))
