;;; (scheme sort) of R7RS-large: (srfi 132).
(define-library (scheme sort)
  (export list-sort list-stable-sort list-sort! list-stable-sort! vector-sort vector-stable-sort vector-sort!
          vector-stable-sort! list-sorted? vector-sorted?
          list-merge list-merge! vector-merge vector-merge!
          list-delete-neighbor-dups list-delete-neighbor-dups!
          vector-delete-neighbor-dups vector-delete-neighbor-dups!
          vector-find-median vector-find-median! vector-select! vector-separate!)
  (import (srfi 132)))
