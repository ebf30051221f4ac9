;;; (cairn structures): what the procedures that `define-structure-vector` defines call.
;;;
;;; A structure vector is a record of length, storage and *pages*.  The storage is a vector, or a bytevector, in which
;;; the fields of the elements lie side by side (cairn-rt/src/structure.rs); pages are what knows the references to
;;; them.

(define-library (cairn structures)
  (export make-structure-word make-structure-type structure-wrong
          structure-make structure-make-filled structure-vector? structure-length
          structure-fill! structure-copy structure-map structure-for-each
          structure-sortable structure-sort-range! structure-stable-sort!
          structure->list list->structure)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn records) (cairn list) (cairn sort))
  (begin

    ;; `word` is the type of the vectors, `rtd` that of the elements; `vector` and `element` are what errors call them.
    (define-record-type structure-type
      (make-type word rtd stride vector element)
      structure-type?
      (word type-word)
      (rtd type-rtd)
      (stride type-stride)
      (vector type-vector)
      (element type-element))

    (define (make-structure-word name)
      (let ((word (make-rtd name '(length storage pages))))
        (show-fields! word '(length))
        word))

    (define (make-structure-type word vector element rtd)
      (make-type word rtd (%structure-stride rtd) vector element))

    ;;;; The record

    (define (make-vector-record t n storage)
      (%make-record (type-word t) (%cons n (%cons storage (%cons #f '())))))

    (define-syntax length-of
      (syntax-rules () ((_ t v) (%record-ref v (type-word t) 0))))
    (define-syntax storage-of
      (syntax-rules () ((_ t v) (%record-ref v (type-word t) 1))))

    (define (structure-vector? t who x)
      (%record-instance? x (type-word t)))

    (define-syntax with-vector
      (syntax-rules ()
        ((_ t who v body)
         (if (%record-instance? v (type-word t)) body (wrong-vector t who v)))))

    (define (wrong-vector t who v)
      (wrong-record who (type-word t) (type-vector t) v))

    (define-syntax with-procedure
      (syntax-rules ()
        ((_ who f body) (begin (check-procedure who f) body))))

    ;; `x` if it is of the very type of the elements: one that extends it has fields that are not there.
    (define (checked t who x)
      (if (if (%record? x) (%eq? (%record-rtd x) (type-rtd t)) #f)
          x
          (wrong-record who (type-rtd t) (type-element t) x)))

    (define (offset t i)
      (%fx* i (type-stride t)))

    ;;;; Making them

    ;; This does not leave the library, so that errors say `who`.
    (define (make t who n)
      (make-filled t who n #f))

    (define (make-filled t who n record)
      (let ((storage (%structure-storage (type-rtd t) n who record)))
        (make-vector-record t n storage)))

    (define (structure-make t who n)
      (make t who n))

    (define (structure-make-filled t who n record)
      (make-filled t who n record))

    (define (list->structure t who l)
      (let count ((rest l) (n 0))
        (if (%pair? rest)
            (begin
              (checked t who (%car rest))
              (count (%cdr rest) (%fx+ n 1)))
            (begin
              (list-end who rest)
              (let ((v (make t who n)))
                (store-list! t v l)
                v)))))

    (define (store-list! t v l)
      (let ((storage (storage-of t v)))
        (let loop ((l l) (i 0))
          (if (%pair? l)
              (begin
                (%structure-fill! storage (offset t i) 1 (%car l))
                (loop (%cdr l) (%fx+ i 1)))))))

    ;;;; Elements

    (define (structure-length t who v)
      (with-vector t who v (length-of t v)))

    ;; What `define-structure-vector` writes has found that `v` has no element `i`.
    (define (structure-wrong t who v i)
      (if (%record-instance? v (type-word t))
          (if (%fixnum? i)
              (out-of-range who "index out of range" i)
              (wrong-type who "an index" i))
          (wrong-vector t who v)))

    (define (element t v i)
      (%structure-reference v i (storage-of t v) (offset t i) (type-rtd t)))

    ;; The fields come in a fresh record.
    (define (structure-fill! t who v record)
      (with-vector t who v (%structure-fill! (storage-of t v) 0 (length-of t v) record)))

    ;;;; All elements

    (define structure-copy
      (case-lambda
        ((t who v) (with-vector t who v (copy t who v 0 (length-of t v))))
        ((t who v start) (with-vector t who v (copy t who v start (length-of t v))))
        ((t who v start end) (with-vector t who v (copy t who v start end)))))

    (define (copy t who v start end)
      (within-range who (length-of t v) start end
        (let* ((n (%fx- end start)) (new (make t who n)) (from (storage-of t v)) (to (storage-of t new)))
          (if (%bytevector? from)
              (%bytevector-copy! to 0 from (offset t start) (offset t end))
              (%vector-copy! to 0 from (%fxsra (offset t start) 3) (%fxsra (offset t end) 3)))
          new)))

    (define (structure-for-each t who f v)
      (with-procedure who f
        (with-vector t who v
          (let ((n (length-of t v)))
            (let loop ((i 0))
              (if (%fx< i n)
                  (begin
                    (f (element t v i))
                    (loop (%fx+ i 1)))))))))

    ;; The results are stored when there are all of them: a continuation that was captured in `f` may be entered again.
    (define (structure-map t who f v)
      (with-procedure who f
        (with-vector t who v
          (let ((n (length-of t v)))
            (let loop ((i 0) (done '()))
              (if (%fx< i n)
                  (loop (%fx+ i 1) (%cons (%structure-plain (checked t who (f (element t v i)))) done))
                  (list->structure t who (reverse done))))))))

    (define structure->list
      (case-lambda
        ((t who v) (with-vector t who v (elements t who v 0 (length-of t v))))
        ((t who v start) (with-vector t who v (elements t who v start (length-of t v))))
        ((t who v start end) (with-vector t who v (elements t who v start end)))))

    (define (elements t who v start end)
      (within-range who (length-of t v) start end
        (let loop ((i (%fx- end 1)) (l '()))
          (if (%fx< i start)
              l
              (loop (%fx- i 1) (%cons (element t v i) l))))))

    ;; How many bytes of `v` are to be sorted.
    (define (structure-sortable t who less? v)
      (with-procedure who less?
        (with-vector t who v (offset t (length-of t v)))))

    ;; A part with as many elements, or fewer, is sorted by insertion.
    (define-syntax few (syntax-rules () ((_) 8)))

    ;; Sorts the bytes from `low` to `high` of `s` in place: quicksort (Hoare 1962) with the median of three, and heap
    ;; sort where its parts have become smaller for the `limit`th time and are still large (Musser 1997).  Elements only
    ;; ever change places, so all of them are there whenever `less?` is called, and stay if it does not return.
    ;; `(element s i)` is a reference that nobody else knows, `(swap! s i j)` lets two elements change places: where
    ;; they and `less?` are known the optimizer copies all of this, and no reference is made.
    (define (structure-sort-range! s low high step limit less? element swap!)
      (let ((before? (lambda (i j) (less? (element s i) (element s j)))))
        (if (%fx< (%fx* (few) step) (%fx- high low))
            (if (%eq? limit 0)
                (heap-sort! s low high step before? swap!)
                (let* ((second (%fx+ low step))
                       (last (%fx- high step))
                       (half (%fx+ low (%fx* step (%fxsra (%quotient (%fx- high low) step) 1)))))
                  ;; the median comes first, the others stop the walks below
                  (swap! s second half)
                  (let ((order! (lambda (i j) (if (before? j i) (swap! s i j)))))
                    (order! second last)
                    (order! low last)
                    (order! second low))
                  (let part ((i second) (j last))
                    (let* ((i (let up ((i (%fx+ i step)))
                                (if (if (%fx< i high) (before? i low) #f) (up (%fx+ i step)) i)))
                           (j (let down ((j (%fx- j step)))
                                (if (if (%fx< low j) (before? low j) #f) (down (%fx- j step)) j))))
                      (if (%fx< i j)
                          (begin
                            (swap! s i j)
                            (part i j))
                          (let ((behind (%fx+ j step))
                                (limit (%fx- limit 1)))
                            (swap! s low j)
                            ;; the smaller part first: there are never many frames
                            (if (%fx< (%fx- j low) (%fx- high behind))
                                (begin
                                  (structure-sort-range! s low j step limit less? element swap!)
                                  (structure-sort-range! s behind high step limit less? element swap!))
                                (begin
                                  (structure-sort-range! s behind high step limit less? element swap!)
                                  (structure-sort-range! s low j step limit less? element swap!)))))))))
            (let next ((i (%fx+ low step)))
              (if (%fx< i high)
                  (let back ((j i))
                    (let ((i2 (%fx- j step)))
                      (if (if (%fx< low j) (before? j i2) #f)
                          (begin
                            (swap! s i2 j)
                            (back i2))
                          (next (%fx+ i step))))))))))

    (define (heap-sort! s low high step before? swap!)
      ;; the element at `i` sinks below those that it is before, among those up to `end`
      (define (sink! i end)
        (let* ((left (%fx+ (%fx+ i (%fx- i low)) step))
               (right (%fx+ left step)))
          (if (%fx< left end)
              (let ((child (if (if (%fx< right end) (before? left right) #f) right left)))
                (if (before? i child)
                    (begin
                      (swap! s i child)
                      (sink! child end)))))))
      (let build ((i (%fx- high step)))
        (if (%fx<= low i)
            (begin
              (sink! i high)
              (build (%fx- i step)))))
      (let take ((end (%fx- high step)))
        (if (%fx< low end)
            (begin
              (swap! s low end)
              (sink! low end)
              (take (%fx- end step))))))

    ;; Stable.  `less?` sees copies, and the elements change when it is over.
    (define (structure-stable-sort! t who less? v)
      (with-procedure who less?
        (with-vector t who v
          (let loop ((i (%fx- (length-of t v) 1)) (l '()))
            (if (%fx< i 0)
                (store-list! t v (list-sort less? l))
                (loop (%fx- i 1)
                      (%cons (plain-copy t v i) l)))))))

    (define (plain-copy t v i)
      (%structure-plain (%structure-element (storage-of t v) (offset t i) (type-rtd t))))))
