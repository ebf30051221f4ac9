;;; (scheme list) of R7RS-large: (srfi 1).
(define-library (scheme list)
  (export
   ;; constructors
   cons list xcons cons* make-list list-tabulate list-copy circular-list iota
   ;; predicates
   pair? null? proper-list? circular-list? dotted-list? not-pair? null-list? list=
   ;; selectors
   car cdr caar cadr cdar cddr caaar caadr cadar caddr cdaar cdadr cddar cdddr
   caaaar caaadr caadar caaddr cadaar cadadr caddar cadddr cdaaar cdaadr cdadar cdaddr cddaar cddadr cdddar cddddr
   list-ref first second third fourth fifth sixth seventh eighth ninth tenth car+cdr
   take drop take! take-right drop-right drop-right! split-at split-at! last last-pair
   ;; the whole spine
   length length+ append append! concatenate concatenate! reverse reverse! append-reverse append-reverse!
   zip unzip1 unzip2 unzip3 unzip4 unzip5 count
   ;; fold, unfold, map
   fold fold-right pair-fold pair-fold-right reduce reduce-right unfold unfold-right
   map for-each append-map append-map! map! map-in-order pair-for-each filter-map
   ;; filtering and searching
   filter partition remove filter! partition! remove! find find-tail any every list-index
   take-while take-while! drop-while span break span! break!
   memq memv member delete delete! delete-duplicates delete-duplicates!
   ;; association lists
   assq assv assoc alist-cons alist-copy alist-delete alist-delete!
   ;; sets
   lset<= lset= lset-adjoin lset-union lset-union! lset-intersection lset-intersection! lset-difference
   lset-difference! lset-xor lset-xor! lset-diff+intersection lset-diff+intersection!
   set-car! set-cdr!)
  (import (srfi 1)))
