;; Procedures of SRFI 14, 69, 117 and 158 that are made of others fail by their own names.
(import (scheme base) (scheme write) (only (srfi 1) lset-diff+intersection!) (srfi 14) (srfi 69)
        (only (cairn hash-table) hash-table-key-vector hash-table-value-vector) (srfi 117) (srfi 158)
        (only (cairn control) condition->string))
(include "../support/say.scm")

(define five 5)

;; character sets
(say (char-set five) (list->char-set five) (list->char-set '(#\a 5)) (list->char-set! '(5) char-set:empty)
     (list->char-set! '() five) (string->char-set five) (string->char-set! "a" five) (string->char-set! five char-set:empty)
     (char-set-filter! char? five char-set:empty) (char-set-filter! char? char-set:digit five)
     (char-set-union char-set:digit five) (char-set-union! five) (char-set-intersection! char-set:digit five)
     (char-set-difference five) (char-set-difference! char-set:digit five) (char-set-xor! five)
     (char-set-complement five) (char-set-complement! five)
     (char-set-diff+intersection five) (char-set-diff+intersection char-set:digit five)
     (char-set-diff+intersection! char-set:digit five) (char-set-delete five #\a) (char-set-delete char-set:digit five)
     (char-set-delete! five #\a) (char-set-adjoin! five #\a) (char-set-adjoin! char-set:digit five))
;; and where nothing is wrong
(say (char-set->list (char-set #\b #\a)) (char-set->list (list->char-set! '(#\a) (char-set #\c)))
     (char-set->list (string->char-set! "ba" (char-set #\c)))
     (char-set->list (char-set-filter! char? (char-set #\x) (char-set #\c)))
     (char-set->list (char-set-delete (char-set #\a #\b) #\a #\q)) (char-set->list (char-set-delete! (char-set #\a #\b) #\b))
     (char-set->list (char-set-adjoin! (char-set #\a) #\b)) (char-set-size (char-set-union)) (char-set-size (char-set-xor))
     (char-set->list (char-set-xor! (char-set #\a #\b) (char-set #\b #\c)))
     (char-set->list (char-set-difference! (char-set #\a #\b #\c) (char-set #\b) (char-set #\c)))
     (char-set= (char-set-complement (char-set-complement! (char-set #\a))) (char-set #\a))
     (let-values (((without both) (char-set-diff+intersection! (char-set #\a #\b) (char-set #\b) (char-set #\c))))
       (list (char-set->list without) (char-set->list both))))

;; tables
(say (alist->hash-table five) (alist->hash-table '((1 . 2) 5)) (alist->hash-table '((1 . 2) . 5))
     (hash-table-key-vector five) (hash-table-value-vector five)
     (hash-table-ref/default (alist->hash-table '((1 . one) (1 . two))) 1 #f))

;; queues
(say (make-list-queue five) (make-list-queue '(1 . 2)) (list-queue-copy five) (list-queue-first-last five)
     (list-queue-set-list! five '()) (list-queue-set-list! (list-queue) five) (list-queue-append (list-queue) five)
     (list-queue-append! five) (list-queue-concatenate five) (list-queue-concatenate (list five)) (list-queue-map list five)
     (list-queue-map! list five) (list-queue-for-each list five)
     (list-queue-list (list-queue-append (list-queue 1) (list-queue) (list-queue 2 3)))
     (list-queue-list (list-queue-map - (list-queue 1 2))) (list-queue-back (make-list-queue (list 1 2))))

;; generators
(say (generator->list five) (generator->vector five) (generator->string five) (generator->reverse-list five)
     (generator->list (generator 1) 'many) (generator->vector (generator 1) -1)
     (generator->list (gflatten (generator '(1) 2))) (generator->list (gflatten (generator '(1) '() '(2 3))))
     (generator->list (generator 1 2 3) 2) (generator->vector (generator 1 2 3) 2) (generator->string (generator #\a #\b))
     (generator->reverse-list (generator 1 2 3) 2))

(say (lset-diff+intersection! eq? five) (lset-diff+intersection! eq? '(1) five))
