;;; (srfi 166 base): the basic formatters, `fn`, `with` and the state variables.
;;;
;;; The state variable `pretty-environment`, which no formatter reads, is #f as long as the program gives it no value: a
;;; library that asks for the interaction environment makes each program that imports it an open one.
(define-library (srfi 166 base)
  (export
   show displayed written written-shared written-simply escaped maybe-escaped numeric numeric/comma numeric/si
   numeric/fitted nl fl space-to tab-to nothing each each-in-list joined joined/prefix joined/suffix joined/last
   joined/dot joined/range padded padded/right padded/both trimmed trimmed/right trimmed/both trimmed/lazy fitted
   fitted/right fitted/both output-default
   fn with with! forked call-with-output
   make-state-variable port row col width output writer pad-char ellipsis string-width substring/width
   substring/preserve radix precision decimal-sep decimal-align sign-rule comma-sep comma-rule word-separator?
   ambiguous-is-wide? pretty-environment)
  (import (scheme base) (scheme char) (scheme complex) (scheme inexact) (scheme write)
          (srfi 1) (srfi 130)
          (rename (srfi 165)
                  (computation-each sequence)
                  (computation-with! with!)
                  (computation-forked forked)
                  (make-computation-environment-variable make-state-variable))
          (srfi 166 shared))
  (begin
    (define (interaction-environment) #f))
  (include "base.scm" "write.scm" "show.scm"))
