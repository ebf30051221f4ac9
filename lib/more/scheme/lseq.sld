;;; (scheme lseq) of R7RS-large: (srfi 127).
(define-library (scheme lseq)
  (export
   generator->lseq lseq? lseq=? lseq-car lseq-cdr lseq-first lseq-rest lseq-ref lseq-take lseq-drop lseq-realize
   lseq->generator lseq-length lseq-append lseq-zip lseq-map lseq-for-each lseq-filter lseq-remove lseq-find
   lseq-find-tail lseq-any lseq-every lseq-index lseq-take-while lseq-drop-while lseq-member lseq-memq lseq-memv)
  (import (srfi 127)))
