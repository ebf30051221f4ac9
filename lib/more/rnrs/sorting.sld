;;; (rnrs sorting) of R6RS.
(define-library (rnrs sorting)
  (export list-sort vector-sort vector-sort!)
  (import (only (cairn sort) list-sort vector-sort vector-sort!)))
