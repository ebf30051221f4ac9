;;; (rnrs records syntactic) of R6RS.
(define-library (rnrs records syntactic)
  (export define-record-type fields mutable immutable parent protocol sealed opaque nongenerative parent-rtd
          record-type-descriptor record-constructor-descriptor)
  (import (cairn rnrs records)))
