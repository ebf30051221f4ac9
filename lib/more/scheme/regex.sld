;;; (scheme regex) of R7RS-large: (srfi 115).
(define-library (scheme regex)
  (export
   regexp rx regexp? valid-sre? regexp->sre char-set->sre regexp-matches regexp-matches? regexp-search regexp-fold
   regexp-extract regexp-split regexp-partition regexp-replace regexp-replace-all regexp-match? regexp-match-count
   regexp-match-submatch regexp-match-submatch-start regexp-match-submatch-end regexp-match->list)
  (import (srfi 115)))
