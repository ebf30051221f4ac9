;;; (cairn reader): `read`.
(define-library (cairn reader)
  (export read)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn list) (cairn text) (cairn port))
  (include "reader.scm"))
