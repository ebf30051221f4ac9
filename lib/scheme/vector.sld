;;; (scheme vector) of R7RS-large: (srfi 133).
(define-library (scheme vector)
  (export
   make-vector vector vector-unfold vector-unfold-right vector-copy vector-reverse-copy vector-append
   vector-concatenate vector-append-subvectors vector? vector-empty? vector= vector-ref vector-length
   vector-fold vector-fold-right vector-map vector-map! vector-for-each vector-count vector-cumulate
   vector-index vector-index-right vector-skip vector-skip-right vector-any vector-every
   vector-binary-search vector-partition
   vector-set! vector-swap! vector-fill! vector-reverse! vector-copy! vector-reverse-copy!
   vector-unfold! vector-unfold-right!
   vector->list reverse-vector->list list->vector reverse-list->vector vector->string string->vector)
  (import (srfi 133)))
