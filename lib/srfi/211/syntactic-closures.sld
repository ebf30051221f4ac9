;;; (srfi 211 syntactic-closures): sc-macro-transformer and its relatives.
(define-library (srfi 211 syntactic-closures)
  (export sc-macro-transformer rsc-macro-transformer make-syntactic-closure close-syntax identifier? identifier=?)
  (import (cairn macro)))
