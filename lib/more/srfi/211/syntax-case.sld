;;; (srfi 211 syntax-case): syntax-case with its procedures.
(define-library (srfi 211 syntax-case)
  (export syntax-case syntax identifier? bound-identifier=? free-identifier=? syntax->datum datum->syntax
          generate-temporaries with-syntax quasisyntax unsyntax unsyntax-splicing syntax-violation ... _)
  (import (cairn syntax-case) (only (scheme base) ... _)))
