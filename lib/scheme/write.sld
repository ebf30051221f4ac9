;;; (scheme write) of R7RS-small.
(define-library (scheme write)
  (export display write write-shared write-simple)
  (import (cairn port)))
