;;; (srfi 115): regular expressions as lists; also as (scheme regex).  It is (cairn regexp).
(define-library (srfi 115)
  (export
   regexp rx regexp? valid-sre? regexp->sre char-set->sre regexp-matches regexp-matches? regexp-search regexp-fold
   regexp-extract regexp-split regexp-partition regexp-replace regexp-replace-all
   regexp-match? regexp-match-count regexp-match-submatch regexp-match-submatch-start regexp-match-submatch-end
   regexp-match->list)
  (import (cairn regexp)))
