;;; (scheme division) of R7RS-large: (srfi 141).
(define-library (scheme division)
  (export ceiling/ ceiling-quotient ceiling-remainder round/ round-quotient round-remainder
          euclidean/ euclidean-quotient euclidean-remainder balanced/ balanced-quotient balanced-remainder
          floor/ floor-quotient floor-remainder truncate/ truncate-quotient truncate-remainder)
  (import (srfi 141)))
