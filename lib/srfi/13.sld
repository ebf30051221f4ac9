;;; (srfi 13): strings.  Where the text has `pred s` and older programs `s pred`, both orders are understood; what the
;;; text allows to share storage does not.
(define-library (srfi 13)
  (export
   string? string-null? string-every string-any make-string string string-tabulate string-unfold string-unfold-right
   string->list list->string reverse-list->string string-join string-length string-ref
   string-copy substring/shared string-copy!
   string-take string-take-right string-drop string-drop-right string-pad string-pad-right
   string-trim string-trim-right string-trim-both string-set! string-fill!
   string-compare string-compare-ci
   string<> string= string< string> string<= string>= string-ci<> string-ci= string-ci< string-ci> string-ci<=
   string-ci>=
   string-hash string-hash-ci
   string-prefix-length string-suffix-length string-prefix-length-ci string-suffix-length-ci
   string-prefix? string-suffix? string-prefix-ci? string-suffix-ci?
   string-index string-index-right string-skip string-skip-right string-count string-contains string-contains-ci
   string-titlecase string-titlecase! string-upcase string-upcase! string-downcase string-downcase!
   string-reverse string-reverse! string-append string-concatenate string-append/shared string-concatenate/shared
   string-concatenate-reverse string-concatenate-reverse/shared
   string-map string-map! string-fold string-fold-right string-for-each string-for-each-index
   xsubstring string-xcopy! string-replace string-tokenize string-filter string-delete)
  (import (except (scheme base) string-map string-for-each) (scheme case-lambda)
          (rename (scheme char) (string-upcase upcase) (string-downcase downcase))
          (rename (cairn strings) (string-filter filter:) (string-remove remove:) (string-replicate replicate:))
          (only (srfi 152) string-index string-index-right string-skip string-skip-right)
          (srfi 14)
          (rename (only (cairn hash-table) string-hash) (string-hash hash:))
          (only (cairn control) out-of-range wrong-type))
  (begin

    (define-ranged-string (substring/shared s) (s start end) (substring s start end))
    (define (string-append/shared . strings) (apply string-append (the-strings "string-append/shared" strings)))
    (define (string-concatenate/shared strings)
      (apply string-append (the-strings "string-concatenate/shared" strings)))
    (define (string-concatenate-reverse/shared strings . tail+end)
      (apply string-concatenate-reverse (the-strings "string-concatenate-reverse/shared" strings) tail+end))

    ;;;; Comparing ranges

    (define-syntax define-on-two
      (syntax-rules ()
        ((_ (name extra ... a b) (i j start1 end1 start2 end2) body)
         (define name
           (case-lambda
             ((extra ... a b) (name extra ... a b 0 (string-length a) 0 (string-length b)))
             ((extra ... a b start1) (name extra ... a b start1 (string-length a) 0 (string-length b)))
             ((extra ... a b start1 end1) (name extra ... a b start1 end1 0 (string-length b)))
             ((extra ... a b start1 end1 start2) (name extra ... a b start1 end1 start2 (string-length b)))
             ((extra ... a b start1 end1 start2 end2)
              (check-range (symbol->string 'name) a start1 end1)
              (check-range (symbol->string 'name) b start2 end2)
              body))))))

    ;; -1, 0 or 1, and the place of the difference in a.
    (define (compare a b start1 end1 start2 end2 fold)
      (let loop ((i start1) (j start2))
        (cond
          ((= i end1) (values (if (= j end2) 0 -1) i))
          ((= j end2) (values 1 i))
          (else
           (let ((x (fold (string-ref a i))) (y (fold (string-ref b j))))
             (cond ((char=? x y) (loop (+ i 1) (+ j 1)))
                   ((char<? x y) (values -1 i))
                   (else (values 1 i))))))))
    (define (exactly c) c)

    (define-syntax define-comparisons
      (syntax-rules ()
        ((_ fold (name order ok?) ...)
         (begin
           (define-on-two (name a b) (i j start1 end1 start2 end2)
             (let-values (((order place) (compare a b start1 end1 start2 end2 fold)))
               ok?))
           ...))))
    (define-comparisons exactly
      (string= o (eqv? o 0)) (string<> o (not (eqv? o 0))) (string< o (< o 0)) (string> o (> o 0))
      (string<= o (<= o 0)) (string>= o (>= o 0)))
    (define-comparisons char-foldcase
      (string-ci= o (eqv? o 0)) (string-ci<> o (not (eqv? o 0))) (string-ci< o (< o 0)) (string-ci> o (> o 0))
      (string-ci<= o (<= o 0)) (string-ci>= o (>= o 0)))

    (define (choose fold a b start1 end1 start2 end2 less equal greater)
      (let-values (((order place) (compare a b start1 end1 start2 end2 fold)))
        ((cond ((< order 0) less) ((> order 0) greater) (else equal)) place)))
    (define-syntax define-compare
      (syntax-rules ()
        ((_ name fold)
         (define name
           (case-lambda
             ((a b less equal greater) (name a b less equal greater 0 (string-length a) 0 (string-length b)))
             ((a b less equal greater start1) (name a b less equal greater start1 (string-length a)))
             ((a b less equal greater start1 end1) (name a b less equal greater start1 end1 0))
             ((a b less equal greater start1 end1 start2)
              (name a b less equal greater start1 end1 start2 (string-length b)))
             ((a b less equal greater start1 end1 start2 end2)
              (check-range (symbol->string 'name) a start1 end1)
              (check-range (symbol->string 'name) b start2 end2)
              (choose fold a b start1 end1 start2 end2 less equal greater)))))))
    (define-compare string-compare exactly)
    (define-compare string-compare-ci char-foldcase)

    ;; Ignoring case: of the strings folded character by character.
    (define (folded s start end)
      (let* ((n (- end start)) (r (make-string n)))
        (do ((i 0 (+ i 1))) ((= i n) r)
          (string-set! r i (char-foldcase (string-ref s (+ start i)))))))
    (define-syntax define-folded
      (syntax-rules ()
        ((_ (name a b) (start1) (fa fb) body)
         (define-on-two (name a b) (i j start1 end1 start2 end2)
           (let ((fa (folded a start1 end1)) (fb (folded b start2 end2)))
             body)))))
    (define-folded (string-prefix-length-ci a b) (start) (fa fb) (string-prefix-length fa fb))
    (define-folded (string-suffix-length-ci a b) (start) (fa fb) (string-suffix-length fa fb))
    (define-folded (string-prefix-ci? a b) (start) (fa fb) (string-prefix? fa fb))
    (define-folded (string-suffix-ci? a b) (start) (fa fb) (string-suffix? fa fb))
    (define-folded (string-contains-ci a b) (start) (fa fb)
      (let ((i (string-contains fa fb)))
        (and i (+ start i))))

    ;; A bound of 0 is none.
    (define (hash who s bound start end)
      (check-range who s start end)
      (let ((h (hash: (substring s start end))))
        (if (eqv? bound 0)
            h
            (if (and (exact-integer? bound) (> bound 0)) (modulo h bound) (out-of-range who "not a bound:" bound)))))
    (define string-hash
      (case-lambda
        ((s) (hash: s))
        ((s bound) (string-hash s bound 0 (string-length s)))
        ((s bound start) (string-hash s bound start (string-length s)))
        ((s bound start end) (hash "string-hash" s bound start end))))
    (define string-hash-ci
      (case-lambda
        ((s) (string-hash-ci s 0))
        ((s bound) (string-hash-ci s bound 0))
        ((s bound start) (string-hash-ci s bound start (string-length s)))
        ((s bound start end)
         (check-range "string-hash-ci" s start end)
         (let ((s (folded s start end)))
           (hash "string-hash-ci" s bound 0 (string-length s))))))

    ;;;; Case

    (define-ranged-string (string-upcase s) (s start end) (upcase (substring s start end)))
    (define-ranged-string (string-downcase s) (s start end) (downcase (substring s start end)))

    (define (titlecase s)
      (let ((r (string-copy s)))
        (let loop ((i 0) (in-word? #f))
          (if (< i (string-length r))
              (let ((c (string-ref r i)))
                (string-set! r i (if in-word? (char-downcase c) (char-upcase c)))
                (loop (+ i 1) (char-alphabetic? c)))
              r))))
    (define-ranged-string (string-titlecase s) (s start end) (titlecase (substring s start end)))

    ;; Character by character, so that the length stays. A macro, so that failures are those of the procedure around.
    (define-syntax replace!
      (syntax-rules ()
        ((_ s start end proc)
         (do ((i start (+ i 1))) ((= i end))
           (string-set! s i (proc (string-ref s i)))))))
    (define-ranged-string (string-upcase! s) (s start end)
      (replace! s start end char-upcase))
    (define-ranged-string (string-downcase! s) (s start end)
      (replace! s start end char-downcase))
    (define-ranged-string (string-titlecase! s) (s start end)
      (string-copy! s start (titlecase (substring s start end))))

    ;;;; Loops

    (define-ranged-string (string-reverse! s) (s start end)
      (string-copy! s start (string-reverse s start end)))
    (define-ranged-string (string-map proc s) (s start end)
      (let ((r (substring s start end)))
        (replace! r 0 (- end start) proc)
        r))
    (define-ranged-string (string-map! proc s) (s start end) (replace! s start end proc))
    (define-ranged-string (string-for-each proc s) (s start end)
      (do ((i start (+ i 1))) ((= i end))
        (proc (string-ref s i))))
    (define-ranged-string (string-for-each-index proc s) (s start end)
      (do ((i start (+ i 1))) ((= i end))
        (proc i)))

    (define-syntax define-filter
      (syntax-rules ()
        ((_ name original)
         (define name
           (case-lambda
             ((a b) (name a b 0 #f))
             ((a b start) (name a b start #f))
             ((a b start end)
              (let ((s (cond ((string? b) b) ((string? a) a) (else (wrong-type (symbol->string 'name) "a string" b)))))
                (let ((end (or end (string-length s))))
                  (check-range (symbol->string 'name) s start end)
                  (original (criterion (symbol->string 'name) (if (eq? s b) a b)) s start end)))))))))
    (define-filter string-filter filter:)
    (define-filter string-delete remove:)

    (define xsubstring
      (case-lambda
        ((s from)
         (let ((n (string-length (the-string "xsubstring" s))))
           (check-place "xsubstring" from)
           (xsubstring s from (+ from n) 0 n)))
        ((s from to) (xsubstring s from to 0 (string-length (the-string "xsubstring" s))))
        ((s from to start) (xsubstring s from to start (string-length (the-string "xsubstring" s))))
        ((s from to start end)
         (check-place "xsubstring" from)
         (check-place "xsubstring" to)
         (check-range "xsubstring" (the-string "xsubstring" s) start end)
         (if (> from to) (out-of-range "xsubstring" "not a range:" (cons from to)))
         (if (and (= start end) (< from to))
             (out-of-range "xsubstring" "nothing to be repeated in the range" (cons start end)))
         (replicate: s from to start end))))
    (define (check-place who i)
      (if (not (exact-integer? i)) (wrong-type who "a place, an exact integer" i)))
    (define (the-string who s)
      (if (string? s) s (wrong-type who "a string" s)))
    (define string-xcopy!
      (case-lambda
        ((target at s from)
         (string-copy! (the-string "string-xcopy!" target) at (xsubstring (the-string "string-xcopy!" s) from)))
        ((target at s from to . range)
         (string-copy! (the-string "string-xcopy!" target) at
                       (apply xsubstring (the-string "string-xcopy!" s) from to range)))))

    (define string-tokenize
      (case-lambda
        ((s) (string-tokenize s char-set:graphic 0 (string-length s)))
        ((s token) (string-tokenize s token 0 (string-length s)))
        ((s token start) (string-tokenize s token start (string-length s)))
        ((s token start end)
         (check-range "string-tokenize" s start end)
         (let ((in? (criterion "string-tokenize" token)))
           (let loop ((end end) (l '()))
             (let ((last (index-right: s in? start end)))
               (if last
                   (let ((before (index-right: s (lambda (c) (not (in? c))) start last)))
                     (loop (or before start)
                           (cons (substring s (if before (+ before 1) start) (+ last 1)) l)))
                   l)))))))))
