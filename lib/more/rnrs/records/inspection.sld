;;; (rnrs records inspection) of R6RS.
(define-library (rnrs records inspection)
  (export record? record-rtd record-type-name record-type-parent record-type-uid record-type-generative?
          record-type-sealed? record-type-opaque? record-type-field-names record-field-mutable?)
  (import (cairn rnrs records)))
