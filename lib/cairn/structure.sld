;;; (cairn structure): structure vectors, whose elements are records without headers; see docs/structures.md.
(define-library (cairn structure)
  (export define-structure-vector)
  (import (only (cairn syntax) define-structure-vector)))
