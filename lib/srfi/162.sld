;;; (srfi 162): comparators of the standard types; maximum and minimum by a comparator.
(define-library (srfi 162)
  (export comparator-max comparator-min comparator-max-in-list comparator-min-in-list
          default-comparator boolean-comparator real-comparator char-comparator char-ci-comparator
          string-comparator string-ci-comparator pair-comparator list-comparator vector-comparator
          eq-comparator eqv-comparator equal-comparator)
  (import (srfi 128)))
