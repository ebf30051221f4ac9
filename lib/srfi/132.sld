;;; (srfi 132): sorting; the procedures that (cairn sort) has.
(define-library (srfi 132)
  (export list-sort list-stable-sort list-sort! list-stable-sort! vector-sort vector-stable-sort vector-sort!
          vector-stable-sort! list-sorted? vector-sorted? list-merge)
  (import (cairn sort)))
