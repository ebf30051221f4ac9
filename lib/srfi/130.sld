;;; (srfi 130): strings with cursors; a cursor is an index.
(define-library (srfi 130)
  (export
   string-cursor? string-cursor-start string-cursor-end string-cursor-next string-cursor-prev
   string-cursor-forward string-cursor-back
   string-cursor=? string-cursor<? string-cursor>? string-cursor<=? string-cursor>=?
   string-cursor-diff string-cursor->index string-index->cursor
   string-null? string-every string-any string-tabulate string-unfold string-unfold-right
   string->list/cursors string->vector/cursors reverse-list->string string-join
   string-ref/cursor substring/cursors string-copy/cursors
   string-take string-take-right string-drop string-drop-right string-pad string-pad-right
   string-trim string-trim-right string-trim-both
   string-prefix-length string-suffix-length string-prefix? string-suffix?
   string-index string-index-right string-skip string-skip-right string-contains string-contains-right
   string-reverse string-concatenate string-concatenate-reverse
   string-fold string-fold-right string-for-each-cursor string-replicate string-count string-replace
   string-split string-filter string-remove)
  (import (scheme base) (scheme case-lambda) (cairn strings) (only (cairn control) wrong-type))
  (begin

    (define (string-cursor? x) (and (exact-integer? x) (>= x 0)))
    (define (string-cursor-start s) 0)
    (define (string-cursor-end s) (string-length s))
    ;; `op` on two cursors, or a cursor and a number of characters.
    (define-syntax define-on-cursors
      (syntax-rules ()
        ((_ (name s ...) a b op)
         (define (name s ... a b)
           (if (and (exact-integer? a) (exact-integer? b))
               op
               (wrong-type (symbol->string 'name) "a cursor" (if (exact-integer? a) b a)))))))
    (define (string-cursor-next s cursor)
      (if (exact-integer? cursor) (+ cursor 1) (wrong-type "string-cursor-next" "a cursor" cursor)))
    (define (string-cursor-prev s cursor)
      (if (exact-integer? cursor) (- cursor 1) (wrong-type "string-cursor-prev" "a cursor" cursor)))
    (define-on-cursors (string-cursor-forward s) cursor n (+ cursor n))
    (define-on-cursors (string-cursor-back s) cursor n (- cursor n))
    (define-on-cursors (string-cursor=?) a b (= a b))
    (define-on-cursors (string-cursor<?) a b (< a b))
    (define-on-cursors (string-cursor>?) a b (> a b))
    (define-on-cursors (string-cursor<=?) a b (<= a b))
    (define-on-cursors (string-cursor>=?) a b (>= a b))
    (define-on-cursors (string-cursor-diff s) start end (- end start))
    (define (string-cursor->index s cursor) cursor)
    (define (string-index->cursor s index) index)

    (define-ranged-string (string->list/cursors s) (s start end) (string->list s start end))
    (define-ranged-string (string->vector/cursors s) (s start end) (string->vector s start end))
    (define-ranged-string (string-copy/cursors s) (s start end) (substring s start end))
    (define (substring/cursors s start end)
      (check-range "substring/cursors" s start end)
      (substring s start end))
    (define (string-ref/cursor s cursor) (string-ref s cursor))

    ;; To the right of nothing found is the start; a search from the right ends behind the character.
    (define-syntax define-search
      (syntax-rules ()
        ((_ (name s start end) ok? body)
         (define name
           (case-lambda
             ((s pred) (name s pred 0 (string-length s)))
             ((s pred start) (name s pred start (string-length s)))
             ((s pred start end)
              (check-range (symbol->string 'name) s start end)
              (let ((ok? (criterion (symbol->string 'name) pred)))
                body)))))))
    (define (behind i start) (if i (+ i 1) start))
    (define-search (string-index s start end) ok? (or (index: s ok? start end) end))
    (define-search (string-index-right s start end) ok? (behind (index-right: s ok? start end) start))
    (define-search (string-skip s start end) ok?
      (or (index: s (lambda (c) (not (ok? c))) start end) end))
    (define-search (string-skip-right s start end) ok?
      (behind (index-right: s (lambda (c) (not (ok? c))) start end) start))

    (define-ranged-string (string-for-each-cursor proc s) (s start end)
      (do ((i start (+ i 1))) ((= i end))
        (proc i)))))
