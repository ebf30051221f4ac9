;;; (cairn strings): what SRFIs 13, 130 and 152 have in common.
;;;
;;; Places are indices.  A criterion for characters is a predicate, a character or a char-set.  Ranges at the ends of
;;; argument lists may be left out; `define-ranged-string` makes the clauses.  Names end in ":" where the SRFIs differ:
;;; there the clauses are made elsewhere.
(define-library (cairn strings)
  (export
   define-ranged-string criterion check-range
   string-null? string-every string-any string-tabulate string-unfold string-unfold-right reverse-list->string
   string-take string-take-right string-drop string-drop-right string-pad string-pad-right
   string-trim string-trim-right string-trim-both string-replace
   string-prefix-length string-suffix-length string-prefix? string-suffix?
   index: index-right: string-contains string-contains-right
   string-reverse string-concatenate string-concatenate-reverse string-join the-strings
   string-fold string-fold-right string-count string-filter string-remove
   string-replicate string-split)
  (import (scheme base) (scheme case-lambda) (scheme char) (srfi 14)
          (only (cairn control) wrong-type out-of-range))
  (begin

    (define (check-range who s start end)
      (if (not (string? s)) (wrong-type who "a string" s))
      (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end (string-length s))))
          (out-of-range who "not a range of the string:" (cons start end))))

    ;; (define-ranged-string (name argument ...) (s start end) body): a procedure that takes a range of s at the end.
    ;; The last of the arguments is s.
    (define-syntax define-ranged-string
      (syntax-rules ()
        ((_ (name argument ...) (s start end) body)
         (define name
           (case-lambda
             ((argument ...) (name argument ... 0 (string-length s)))
             ((argument ... start) (name argument ... start (string-length s)))
             ((argument ... start end)
              (check-range (symbol->string 'name) s start end)
              body))))))

    ;; A predicate.
    (define (criterion who x)
      (cond ((procedure? x) x)
            ((char? x) (lambda (c) (char=? c x)))
            ((char-set? x) (lambda (c) (char-set-contains? x c)))
            (else (wrong-type who "a predicate, a character or a char-set" x))))

    ;;;; Asking

    (define (string-null? s) (eqv? (string-length s) 0))

    ;; The value of the last call, in tail position.
    (define-ranged-string (string-every pred s) (s start end)
      (let ((ok? (criterion "string-every" pred)))
        (or (= start end)
            (let loop ((i start))
              (if (= (+ i 1) end)
                  (ok? (string-ref s i))
                  (and (ok? (string-ref s i)) (loop (+ i 1))))))))

    (define-ranged-string (string-any pred s) (s start end)
      (let ((ok? (criterion "string-any" pred)))
        (and (< start end)
             (let loop ((i start))
               (if (= (+ i 1) end)
                   (ok? (string-ref s i))
                   (or (ok? (string-ref s i)) (loop (+ i 1))))))))

    ;;;; Making

    (define (string-tabulate proc n)
      (check-length "string-tabulate" n)
      (let ((s (make-string n)))
        (do ((i 0 (+ i 1))) ((= i n) s)
          (string-set! s i (proc i)))))

    ;; Characters, and strings as well, from the left.
    (define (unfold stop? mapper successor seed)
      (let ((port (open-output-string)))
        (let loop ((seed seed))
          (if (stop? seed)
              (values (get-output-string port) seed)
              (let ((x (mapper seed)))
                (if (char? x) (write-char x port) (write-string x port))
                (loop (successor seed)))))))

    (define (final make-final seed)
      (let ((x (make-final seed)))
        (if (char? x) (string x) x)))
    (define (text x) (if (char? x) (string x) x))

    (define string-unfold
      (case-lambda
        ((stop? mapper successor seed) (string-unfold stop? mapper successor seed "" (lambda (x) "")))
        ((stop? mapper successor seed base) (string-unfold stop? mapper successor seed base (lambda (x) "")))
        ((stop? mapper successor seed base make-final)
         (let-values (((s last) (unfold stop? mapper successor seed)))
           (string-append (text base) s (final make-final last))))))

    (define string-unfold-right
      (case-lambda
        ((stop? mapper successor seed) (string-unfold-right stop? mapper successor seed "" (lambda (x) "")))
        ((stop? mapper successor seed base) (string-unfold-right stop? mapper successor seed base (lambda (x) "")))
        ((stop? mapper successor seed base make-final)
         (let loop ((seed seed) (l (list (text base))))
           (if (stop? seed)
               (apply string-append (final make-final seed) l)
               (loop (successor seed) (cons (text (mapper seed)) l)))))))

    (define (reverse-list->string l)
      (if (and (list? l) (all? char? l))
          (list->string (reverse l))
          (wrong-type "reverse-list->string" "a list of characters" l)))
    (define (all? kind? l)
      (or (null? l) (and (kind? (car l)) (all? kind? (cdr l)))))
    (define (the-strings who l)
      (if (and (list? l) (all? string? l)) l (wrong-type who "a list of strings" l)))

    ;;;; Parts

    (define (check-count who s n)
      (if (not (string? s)) (wrong-type who "a string" s))
      (if (not (and (exact-integer? n) (<= 0 n (string-length s))))
          (out-of-range who "the string does not have so many characters:" n)))

    (define (string-take s n)
      (check-count "string-take" s n)
      (substring s 0 n))
    (define (string-drop s n)
      (check-count "string-drop" s n)
      (substring s n (string-length s)))
    (define (string-take-right s n)
      (check-count "string-take-right" s n)
      (substring s (- (string-length s) n) (string-length s)))
    (define (string-drop-right s n)
      (check-count "string-drop-right" s n)
      (substring s 0 (- (string-length s) n)))

    ;; The last n characters, filled up on the left; the first n, filled up on the right.
    (define (check-length who n)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "a length" n)))
    (define (check-char who c)
      (if (not (char? c)) (wrong-type who "a character" c)))
    (define string-pad
      (case-lambda
        ((s n) (string-pad s n #\space 0 (string-length s)))
        ((s n c) (string-pad s n c 0 (string-length s)))
        ((s n c start) (string-pad s n c start (string-length s)))
        ((s n c start end)
         (check-range "string-pad" s start end)
         (check-length "string-pad" n)
         (check-char "string-pad" c)
         (let ((length (- end start)))
           (if (<= n length)
               (substring s (- end n) end)
               (string-append (make-string (- n length) c) (substring s start end)))))))
    (define string-pad-right
      (case-lambda
        ((s n) (string-pad-right s n #\space 0 (string-length s)))
        ((s n c) (string-pad-right s n c 0 (string-length s)))
        ((s n c start) (string-pad-right s n c start (string-length s)))
        ((s n c start end)
         (check-range "string-pad-right" s start end)
         (check-length "string-pad-right" n)
         (check-char "string-pad-right" c)
         (let ((length (- end start)))
           (if (<= n length)
               (substring s start (+ start n))
               (string-append (substring s start end) (make-string (- n length) c)))))))

    (define-syntax define-trim
      (syntax-rules ()
        ((_ name (s out? start end) from to)
         (define name
           (case-lambda
             ((s) (name s char-whitespace? 0 (string-length s)))
             ((s pred) (name s pred 0 (string-length s)))
             ((s pred start) (name s pred start (string-length s)))
             ((s pred start end)
              (check-range (symbol->string 'name) s start end)
              (let* ((out? (criterion (symbol->string 'name) pred)) (start from) (end to))
                (substring s start end))))))))
    (define-trim string-trim (s out? start end) (skip s out? start end) end)
    (define-trim string-trim-right (s out? start end) start (skip-right s out? start end))
    (define-trim string-trim-both (s out? start end) (skip s out? start end) (skip-right s out? start end))

    ;; The first place of a character that is not `out?`, or the end; the place behind the last, or the start.
    (define (skip s out? start end)
      (if (and (< start end) (out? (string-ref s start))) (skip s out? (+ start 1) end) start))
    (define (skip-right s out? start end)
      (if (and (< start end) (out? (string-ref s (- end 1)))) (skip-right s out? start (- end 1)) end))

    (define string-replace
      (case-lambda
        ((a b start end) (string-replace a b start end 0 (string-length b)))
        ((a b start end from) (string-replace a b start end from (string-length b)))
        ((a b start end from to)
         (check-range "string-replace" a start end)
         (check-range "string-replace" b from to)
         (string-append (substring a 0 start) (substring b from to) (substring a end (string-length a))))))

    ;;;; Prefixes and suffixes

    (define-syntax define-on-two
      (syntax-rules ()
        ((_ name (a b start1 end1 start2 end2) body)
         (define name
           (case-lambda
             ((a b) (name a b 0 (string-length a) 0 (string-length b)))
             ((a b start1) (name a b start1 (string-length a) 0 (string-length b)))
             ((a b start1 end1) (name a b start1 end1 0 (string-length b)))
             ((a b start1 end1 start2) (name a b start1 end1 start2 (string-length b)))
             ((a b start1 end1 start2 end2)
              (check-range (symbol->string 'name) a start1 end1)
              (check-range (symbol->string 'name) b start2 end2)
              body))))))

    (define (common a b start1 end1 start2 end2)
      (let loop ((i start1) (j start2))
        (if (and (< i end1) (< j end2) (char=? (string-ref a i) (string-ref b j)))
            (loop (+ i 1) (+ j 1))
            (- i start1))))
    (define (common-right a b start1 end1 start2 end2)
      (let loop ((i end1) (j end2))
        (if (and (< start1 i) (< start2 j) (char=? (string-ref a (- i 1)) (string-ref b (- j 1))))
            (loop (- i 1) (- j 1))
            (- end1 i))))

    (define-on-two string-prefix-length (a b start1 end1 start2 end2) (common a b start1 end1 start2 end2))
    (define-on-two string-suffix-length (a b start1 end1 start2 end2) (common-right a b start1 end1 start2 end2))
    (define-on-two string-prefix? (a b start1 end1 start2 end2)
      (= (common a b start1 end1 start2 end2) (- end1 start1)))
    (define-on-two string-suffix? (a b start1 end1 start2 end2)
      (= (common-right a b start1 end1 start2 end2) (- end1 start1)))

    ;;;; Searching

    ;; Where `found?` holds, from the left and from the right; #f.
    (define (index: s found? start end)
      (let loop ((i start))
        (and (< i end) (if (found? (string-ref s i)) i (loop (+ i 1))))))
    (define (index-right: s found? start end)
      (let loop ((i (- end 1)))
        (and (>= i start) (if (found? (string-ref s i)) i (loop (- i 1))))))

    ;; Does a have b from start2 to end2 at i?
    (define (at? a i b start2 end2)
      (let loop ((i i) (j start2))
        (or (= j end2)
            (and (char=? (string-ref a i) (string-ref b j)) (loop (+ i 1) (+ j 1))))))

    (define-on-two string-contains (a b start1 end1 start2 end2)
      (let ((last (- end1 (- end2 start2))))
        (let loop ((i start1))
          (and (<= i last) (if (at? a i b start2 end2) i (loop (+ i 1)))))))
    (define-on-two string-contains-right (a b start1 end1 start2 end2)
      (let loop ((i (- end1 (- end2 start2))))
        (and (>= i start1) (if (at? a i b start2 end2) i (loop (- i 1))))))

    ;;;; The whole string

    (define-ranged-string (string-reverse s) (s start end)
      (let* ((n (- end start)) (r (make-string n)))
        (do ((i 0 (+ i 1))) ((= i n) r)
          (string-set! r i (string-ref s (- end i 1))))))

    (define (string-concatenate l) (apply string-append (the-strings "string-concatenate" l)))

    (define string-concatenate-reverse
      (case-lambda
        ((l) (apply string-append (reverse (the-strings "string-concatenate-reverse" l))))
        ((l last) (string-concatenate-reverse (cons last (the-strings "string-concatenate-reverse" l))))
        ((l last end)
         (check-range "string-concatenate-reverse" last 0 end)
         (string-concatenate-reverse l (substring last 0 end)))))

    (define string-join
      (case-lambda
        ((l) (string-join l " " 'infix))
        ((l delimiter) (string-join l delimiter 'infix))
        ((l delimiter grammar)
         (define (the-first rest)
           (if (and (pair? rest) (string? (car rest))) (car rest) (wrong-type "string-join" "a list of strings" l)))
         (define (between rest)
           (if (null? rest)
               '()
               (let ((s (the-first rest)))
                 (cons delimiter (cons s (between (cdr rest)))))))
         (if (not (string? delimiter)) (wrong-type "string-join" "a string between the others" delimiter))
         (case grammar
           ((infix strict-infix)
            (if (null? l)
                (if (eq? grammar 'infix) "" (wrong-type "string-join" "a non-empty list" l))
                (apply string-append (the-first l) (between (cdr l)))))
           ((prefix) (apply string-append (between l)))
           ((suffix) (if (null? l)
                         ""
                         (string-append (apply string-append (the-first l) (between (cdr l))) delimiter)))
           (else (wrong-type "string-join" "infix, strict-infix, prefix or suffix" grammar))))))

    (define-ranged-string (string-fold kons knil s) (s start end)
      (let loop ((i start) (acc knil))
        (if (= i end) acc (loop (+ i 1) (kons (string-ref s i) acc)))))
    (define-ranged-string (string-fold-right kons knil s) (s start end)
      (let loop ((i end) (acc knil))
        (if (= i start) acc (loop (- i 1) (kons (string-ref s (- i 1)) acc)))))

    (define string-count
      (case-lambda
        ((s pred) (string-count s pred 0 (string-length s)))
        ((s pred start) (string-count s pred start (string-length s)))
        ((s pred start end)
         (check-range "string-count" s start end)
         (let ((ok? (criterion "string-count" pred)))
           (let loop ((i start) (n 0))
             (if (= i end) n (loop (+ i 1) (if (ok? (string-ref s i)) (+ n 1) n))))))))

    (define (filtered s ok? start end)
      (let loop ((i end) (l '()))
        (if (= i start)
            (list->string l)
            (let ((c (string-ref s (- i 1))))
              (loop (- i 1) (if (ok? c) (cons c l) l))))))
    (define-ranged-string (string-filter pred s) (s start end)
      (filtered s (criterion "string-filter" pred) start end))
    (define-ranged-string (string-remove pred s) (s start end)
      (let ((out? (criterion "string-remove" pred)))
        (filtered s (lambda (c) (not (out? c))) start end)))

    ;; Characters `from` to `to` of the string repeated for ever in both directions.
    (define string-replicate
      (case-lambda
        ((s from to) (string-replicate s from to 0 (string-length s)))
        ((s from to start) (string-replicate s from to start (string-length s)))
        ((s from to start end)
         (check-range "string-replicate" s start end)
         (if (not (and (exact-integer? from) (exact-integer? to)))
             (out-of-range "string-replicate" "not a range:" (cons from to)))
         (let ((length (- end start)) (n (- to from)))
           (cond
             ((= n 0) "")
             ((< n 0) (out-of-range "string-replicate" "not a range:" (cons from to)))
             ((= length 0) (out-of-range "string-replicate" "nothing to be repeated in the range" (cons start end)))
             (else
              (let ((r (make-string n)))
                (do ((i 0 (+ i 1))) ((= i n) r)
                  (string-set! r i (string-ref s (+ start (floor-remainder (+ from i) length))))))))))))

    (define string-split
      (case-lambda
        ((s delimiter) (string-split s delimiter 'infix #f 0 (string-length s)))
        ((s delimiter grammar) (string-split s delimiter grammar #f 0 (string-length s)))
        ((s delimiter grammar limit) (string-split s delimiter grammar limit 0 (string-length s)))
        ((s delimiter grammar limit start) (string-split s delimiter grammar limit start (string-length s)))
        ((s delimiter grammar limit start end)
         (check-range "string-split" s start end)
         (if (not (memq grammar '(infix strict-infix prefix suffix)))
             (wrong-type "string-split" "infix, strict-infix, prefix or suffix" grammar))
         (let ((width (string-length delimiter)))
           ;; the parts from i on, with at most `left` more splits
           (define (parts i left)
             (let ((at (and (not (eqv? left 0))
                            (if (= width 0)
                                (and (< (+ i 1) end) (+ i 1))
                                (string-contains s delimiter i end)))))
               (if at
                   (cons (substring s i at) (parts (+ at width) (and left (- left 1))))
                   (list (substring s i end)))))
           (cond
             ((< start end)
              (let ((l (parts start limit)))
                (cond
                  ((null? (cdr l)) l)
                  ((and (eq? grammar 'prefix) (string=? (car l) "")) (cdr l))
                  ((and (eq? grammar 'suffix) (string=? (car (reverse l)) "")) (reverse (cdr (reverse l))))
                  (else l))))
             ((eq? grammar 'strict-infix) (wrong-type "string-split" "a non-empty string" ""))
             (else '()))))))))
