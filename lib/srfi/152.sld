;;; (srfi 152): strings, places as indices; with what R7RS-small has of them.
(define-library (srfi 152)
  (export
   string? string-null? string-every string-any
   make-string string string-tabulate string-unfold string-unfold-right
   string->vector string->list vector->string list->string reverse-list->string
   string-length string-ref substring string-copy
   string-take string-take-right string-drop string-drop-right string-pad string-pad-right
   string-trim string-trim-right string-trim-both string-replace
   string=? string<? string>? string<=? string>=? string-ci=? string-ci<? string-ci>? string-ci<=? string-ci>=?
   string-prefix-length string-suffix-length string-prefix? string-suffix?
   string-index string-index-right string-skip string-skip-right string-contains string-contains-right
   string-take-while string-take-while-right string-drop-while string-drop-while-right string-break string-span
   string-append string-concatenate string-concatenate-reverse string-join
   string-fold string-fold-right string-map string-for-each string-count string-filter string-remove
   string-replicate string-segment string-split
   read-string write-string string-set! string-fill! string-copy!)
  (import (scheme base) (scheme case-lambda) (scheme char) (cairn strings) (only (cairn control) out-of-range))
  (begin

    ;; (define-search (name s pred start end) who ok? body): `ok?` is the predicate.
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

    (define-syntax but-not
      (syntax-rules () ((_ ok?) (lambda (c) (not (ok? c))))))

    (define-search (string-index s start end) ok? (index: s ok? start end))
    (define-search (string-index-right s start end) ok? (index-right: s ok? start end))
    (define-search (string-skip s start end) ok? (index: s (but-not ok?) start end))
    (define-search (string-skip-right s start end) ok? (index-right: s (but-not ok?) start end))

    (define-search (string-take-while s start end) ok?
      (substring s start (or (index: s (but-not ok?) start end) end)))
    (define-search (string-drop-while s start end) ok?
      (substring s (or (index: s (but-not ok?) start end) end) end))
    (define (behind i start) (if i (+ i 1) start))
    (define-search (string-take-while-right s start end) ok?
      (substring s (behind (index-right: s (but-not ok?) start end) start) end))
    (define-search (string-drop-while-right s start end) ok?
      (substring s start (behind (index-right: s (but-not ok?) start end) start)))
    (define-search (string-span s start end) ok?
      (let ((i (or (index: s (but-not ok?) start end) end)))
        (values (substring s start i) (substring s i end))))
    (define-search (string-break s start end) ok?
      (let ((i (or (index: s ok? start end) end)))
        (values (substring s start i) (substring s i end))))

    (define (string-segment s k)
      (if (not (and (exact-integer? k) (> k 0)))
          (out-of-range "string-segment" "not the length of a part:" k))
      (let loop ((end (string-length s)) (l '()))
        (if (= end 0)
            l
            (let ((start (* k (quotient (- end 1) k))))
              (loop start (cons (substring s start end) l))))))))
