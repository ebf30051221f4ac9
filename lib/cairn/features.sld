;;; (cairn features): what (features) returns.  `cond-expand` decides by the list in crates/cairn-syntax.
(define-library (cairn features)
  (export features)
  (import (cairn syntax) (cairn primitives))
  (begin
    (define (features)
      '(r7rs exact-closed exact-complex ieee-float full-unicode ratios x86-64 linux gnu-linux unix
        cairn cairn-0.1))))
