;;; (cairn features): what (features) returns.  `cond-expand` decides by the list in crates/cairn-syntax.
(define-library (cairn features)
  (export features)
  (import (cairn syntax) (cairn primitives))
  (begin
    (define (features)
      '(r7rs full-unicode ratios exact-closed exact-complex ieee-float cairn x86-64 linux unix little-endian))))
