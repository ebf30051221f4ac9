;;; (cairn numeric): the procedures of SRFI 4 and SRFI 160 on homogeneous numeric vectors.
;;;
;;; Problem.  There are twelve kinds of vectors with sixty procedures each.
;;;
;;; Idea.  Each procedure is here once, for all kinds: it takes the number of the kind and what errors call it, and asks
;;; the runtime for elements (crates/cairn-rt/src/numeric.rs).  `define-numeric-procedures` and `define-numeric-base`
;;; write the twelve times sixty that call these; their names come from a pattern with @ for the kind.  What is used
;;; most, references, stores, lengths and type tests, are primitives.
;;;
;;; Invariant: `%numeric-get`, `%numeric-put!` and `%numeric-copy!` do not check vectors and indices, so that is done
;;; first; vectors keep their length.

(define-library (cairn numeric)
  (export define-numeric-base define-numeric-procedures)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn macro)
          (only (scheme base)
                append cadr car cddr cdr char=? cons eof-object list null? pair? reverse string string->list
                string->symbol string-append string=? symbol->string +)
          (only (scheme write) write) (only (srfi 128) make-comparator))
  (begin

    ;; By the numbers of kinds.
    (define names
      '#("a u8vector" "an s8vector" "a u16vector" "an s16vector" "a u32vector" "an s32vector" "a u64vector"
         "an s64vector" "an f32vector" "an f64vector" "a c64vector" "a c128vector"))

    (define (fail k who v)
      (wrong-type who (%vector-ref names k) v))

    (define (check k who v)
      (if (%eq? (%numeric-kind v) k) v (fail k who v)))

    (define (check-writable k who v)
      (check k who v)
      (if (%numeric-writable? v) v (wrong-type who "a mutable vector" v)))

    (define (check-index who v i)
      (if (%fixnum? i)
          (if (if (%fx<= 0 i) (%fx< i (%numeric-length v)) #f)
              i
              (out-of-range who "index out of range" i))
          (wrong-type who "an index" i)))

    (define (check-list k who l)
      (let loop ((rest l))
        (if (%pair? rest)
            (begin
              (check k who (%car rest))
              (loop (%cdr rest)))
            (list-end who rest))))

    ;; `body` with the bounds, of which those that are `#f` have been left out.
    (define-syntax with-range
      (syntax-rules ()
        ((_ who length (start end) body)
         (let* ((n length) (start (if start start 0)) (end (if end end n)))
           (within-range who n start end body)))))

    (define-syntax for
      (syntax-rules ()
        ((_ (i from to) body ...)
         (let ((end to))
           (let loop ((i from))
             (if (%fx< i end)
                 (begin
                   body ...
                   (loop (%fx+ i 1)))))))))

    (define (fresh k who n)
      (%numeric-make k n #f who))

    (define (slice k who v start end)
      (let ((new (fresh k who (%fx- end start))))
        (%numeric-copy! new 0 v start end)
        new))

    ;; The length of the shortest vector, when all are of the kind.
    (define (common-length k who v more)
      (let loop ((n (%numeric-length (check k who v))) (rest more))
        (if (%null? rest)
            n
            (let ((m (%numeric-length (check k who (%car rest)))))
              (loop (if (%fx< m n) m n) (%cdr rest))))))

    (define (same-length k who v more)
      (let ((n (common-length k who v more)))
        (let loop ((rest (%cons v more)))
          (cond
            ((%null? rest) n)
            ((%fx= (%numeric-length (%car rest)) n) (loop (%cdr rest)))
            (else (out-of-range who "vectors of different lengths, one of" (%numeric-length (%car rest))))))))

    (define (gather vectors i)
      (if (%null? vectors)
          '()
          (%cons (%numeric-get (%car vectors) i) (gather (%cdr vectors) i))))

    (define-syntax call
      (syntax-rules ()
        ((_ f before ... (v more i))
         (if (%null? more)
             (f before ... (%numeric-get v i))
             (%apply f before ... (%numeric-get v i) (gather more i))))))

    ;;;; Constructors

    (define (make k who n fill)
      (%numeric-make k n fill who))

    (define (from-list k who l)
      (let count ((rest l) (n 0))
        (if (%pair? rest)
            (count (%cdr rest) (%fx+ n 1))
            (begin
              (list-end who rest)
              (let ((v (fresh k who n)))
                (let loop ((l l) (i 0))
                  (if (%fx< i n)
                      (begin
                        (%numeric-put! v i (%car l) who)
                        (loop (%cdr l) (%fx+ i 1)))))
                v)))))

    (define (from-reverse-list k who l)
      (let ((v (from-list k who l)))
        (%numeric-reverse! v 0 (%numeric-length v))
        v))

    (define (unfold-up! f v start end seed who)
      (let loop ((i start) (seed seed))
        (if (%fx< i end)
            (%receive (x seed) (f i seed)
              (%numeric-put! v i x who)
              (loop (%fx+ i 1) seed)))))

    (define (unfold-down! f v start end seed who)
      (let loop ((i (%fx- end 1)) (seed seed))
        (if (%fx<= start i)
            (%receive (x seed) (f i seed)
              (%numeric-put! v i x who)
              (loop (%fx- i 1) seed)))))

    (define (unfold k who f n seed)
      (check-procedure who f)
      (let ((v (fresh k who n)))
        (unfold-up! f v 0 n seed who)
        v))

    (define (unfold-right k who f n seed)
      (check-procedure who f)
      (let ((v (fresh k who n)))
        (unfold-down! f v 0 n seed who)
        v))

    (define (unfold! k who f v start end seed)
      (check-procedure who f)
      (check-writable k who v)
      (with-range who (%numeric-length v) (start end) (unfold-up! f v start end seed who)))

    (define (unfold-right! k who f v start end seed)
      (check-procedure who f)
      (check-writable k who v)
      (with-range who (%numeric-length v) (start end) (unfold-down! f v start end seed who)))

    (define (copy k who v start end)
      (check k who v)
      (with-range who (%numeric-length v) (start end) (slice k who v start end)))

    (define (reverse-copy k who v start end)
      (let ((new (copy k who v start end)))
        (%numeric-reverse! new 0 (%numeric-length new))
        new))

    (define (append-list k who vectors)
      (check-list k who vectors)
      (let sum ((rest vectors) (n 0))
        (if (%pair? rest)
            (sum (%cdr rest) (%fx+ n (%numeric-length (%car rest))))
            (let ((new (fresh k who n)))
              (let loop ((rest vectors) (at 0))
                (if (%pair? rest)
                    (let ((m (%numeric-length (%car rest))))
                      (%numeric-copy! new at (%car rest) 0 m)
                      (loop (%cdr rest) (%fx+ at m)))
                    new))))))

    (define (append-subvectors k who triplets)
      (let loop ((rest triplets) (parts '()))
        (cond
          ((%null? rest) (append-list k who (reverse parts)))
          ((if (%pair? (%cdr rest)) (%pair? (%cdr (%cdr rest))) #f)
           (loop (%cdr (%cdr (%cdr rest)))
                 (%cons (copy k who (%car rest) (%car (%cdr rest)) (%car (%cdr (%cdr rest)))) parts)))
          (else (wrong-type who "vectors, each with a start and an end" triplets)))))

    ;;;; Predicates and comparison

    (define (element? k who x)
      (%numeric-fits? k x))

    (define (vector-empty? k who v)
      (%fx= (%numeric-length (check k who v)) 0))

    (define (vectors= k who vectors)
      (check-list k who vectors)
      (if (%null? vectors)
          #t
          (let loop ((v (%car vectors)) (rest (%cdr vectors)))
            (cond
              ((%null? rest) #t)
              ((%numeric-same? v (%car rest)) (loop (%car rest) (%cdr rest)))
              (else #f)))))

    (define (comparator-of k)
      (make-comparator
        (lambda (x) (%eq? (%numeric-kind x) k))
        (lambda (v w) (%numeric-same? v w))
        (lambda (v w) (%numeric-less? v w))
        (lambda (v) (%numeric-hash v))))

    ;;;; Iteration

    (define (take k who v n)
      (check k who v)
      (let ((length (%numeric-length v)))
        (within-range who length 0 n (slice k who v 0 n))))

    (define (drop k who v n)
      (check k who v)
      (let ((length (%numeric-length v)))
        (within-range who length n length (slice k who v n length))))

    (define (from-right who v n)
      (let ((length (%numeric-length v)))
        (within-range who length 0 n (%fx- length n))))

    (define (take-right k who v n)
      (check k who v)
      (slice k who v (from-right who v n) (%numeric-length v)))

    (define (drop-right k who v n)
      (check k who v)
      (slice k who v 0 (from-right who v n)))

    (define (segment k who v n)
      (check k who v)
      (if (if (%fixnum? n) (%fx< 0 n) #f)
          (let ((length (%numeric-length v)))
            (let loop ((start 0) (parts '()))
              (if (%fx< start length)
                  (let* ((left (%fx- length start)) (end (if (%fx< n left) (%fx+ start n) length)))
                    (loop end (%cons (slice k who v start end) parts)))
                  (reverse parts))))
          (wrong-type who "a positive length" n)))

    (define (fold k who f knil v more)
      (check-procedure who f)
      (let ((n (common-length k who v more)))
        (let loop ((i 0) (state knil))
          (if (%fx< i n)
              (loop (%fx+ i 1) (call f state (v more i)))
              state))))

    (define (fold-right k who f knil v more)
      (check-procedure who f)
      (let loop ((i (%fx- (common-length k who v more) 1)) (state knil))
        (if (%fx< i 0)
            state
            (loop (%fx- i 1) (call f state (v more i))))))

    (define (map k who f v more)
      (check-procedure who f)
      (let* ((n (common-length k who v more)) (new (fresh k who n)))
        (for (i 0 n) (%numeric-put! new i (call f (v more i)) who))
        new))

    (define (map! k who f v more)
      (check-procedure who f)
      (check-writable k who v)
      (for (i 0 (common-length k who v more)) (%numeric-put! v i (call f (v more i)) who)))

    (define (for-each k who f v more)
      (check-procedure who f)
      (for (i 0 (common-length k who v more)) (call f (v more i))))

    (define (count k who f v more)
      (check-procedure who f)
      (let ((n (common-length k who v more)))
        (let loop ((i 0) (found 0))
          (if (%fx< i n)
              (loop (%fx+ i 1) (if (call f (v more i)) (%fx+ found 1) found))
              found))))

    (define (cumulate k who f knil v)
      (check-procedure who f)
      (check k who v)
      (let* ((n (%numeric-length v)) (new (fresh k who n)))
        (let loop ((i 0) (state knil))
          (if (%fx< i n)
              (let ((state (f state (%numeric-get v i))))
                (%numeric-put! new i state who)
                (loop (%fx+ i 1) state))
              new))))

    ;;;; Searching

    ;; The first index from `from` on at which the answer, as a boolean, is `wanted`; else `to`.
    (define-syntax search-up
      (syntax-rules ()
        ((_ wanted from to f (v more i) none)
         (let ((end to))
           (let loop ((i from))
             (if (%fx< i end)
                 (if (%eq? (if (call f (v more i)) #t #f) wanted) i (loop (%fx+ i 1)))
                 none))))))

    (define-syntax search-down
      (syntax-rules ()
        ((_ wanted from f (v more i) none)
         (let loop ((i (%fx- from 1)))
           (if (%fx< i 0)
               none
               (if (%eq? (if (call f (v more i)) #t #f) wanted) i (loop (%fx- i 1))))))))

    (define (index k who f v more)
      (check-procedure who f)
      (search-up #t 0 (common-length k who v more) f (v more i) #f))

    (define (skip k who f v more)
      (check-procedure who f)
      (search-up #f 0 (common-length k who v more) f (v more i) #f))

    (define (index-right k who f v more)
      (check-procedure who f)
      (search-down #t (same-length k who v more) f (v more i) #f))

    (define (skip-right k who f v more)
      (check-procedure who f)
      (search-down #f (same-length k who v more) f (v more i) #f))

    ;; How many elements at the beginning satisfy f; the index of the first of those that do at the end.
    (define (prefix k who f v)
      (check-procedure who f)
      (check k who v)
      (let ((n (%numeric-length v)))
        (search-up #f 0 n f (v '() i) n)))

    (define (suffix k who f v)
      (check-procedure who f)
      (check k who v)
      (%fx+ (search-down #f (%numeric-length v) f (v '() i) -1) 1))

    (define (take-while k who f v)
      (slice k who v 0 (prefix k who f v)))

    (define (drop-while k who f v)
      (let ((start (prefix k who f v)))
        (slice k who v start (%numeric-length v))))

    (define (take-while-right k who f v)
      (let ((start (suffix k who f v)))
        (slice k who v start (%numeric-length v))))

    (define (drop-while-right k who f v)
      (slice k who v 0 (suffix k who f v)))

    (define (any k who f v more)
      (check-procedure who f)
      (let ((n (common-length k who v more)))
        (let loop ((i 0))
          (if (%fx< i n)
              (let ((x (call f (v more i))))
                (if x x (loop (%fx+ i 1))))
              #f))))

    (define (every k who f v more)
      (check-procedure who f)
      (let ((n (common-length k who v more)))
        (let loop ((i 0) (last #t))
          (if (%fx< i n)
              (let ((x (call f (v more i))))
                (if x (loop (%fx+ i 1) x) #f))
              last))))

    ;; The elements that satisfy f, and those that do not, both from the last to the first.
    (define (split k who f v)
      (check-procedure who f)
      (check k who v)
      (let ((n (%numeric-length v)))
        (let loop ((i 0) (yes '()) (no '()))
          (if (%fx< i n)
              (let ((x (%numeric-get v i)))
                (if (f x)
                    (loop (%fx+ i 1) (%cons x yes) no)
                    (loop (%fx+ i 1) yes (%cons x no))))
              (values yes no)))))

    (define (partition k who f v)
      (%receive (yes no) (split k who f v)
        (values (from-list k who (append-reverse yes (reverse no))) (%length yes))))

    (define (append-reverse l tail)
      (if (%null? l) tail (append-reverse (%cdr l) (%cons (%car l) tail))))

    (define (filter k who f v)
      (%receive (yes no) (split k who f v) (from-reverse-list k who yes)))

    (define (remove k who f v)
      (%receive (yes no) (split k who f v) (from-reverse-list k who no)))

    ;;;; Mutators

    (define (swap! k who v i j)
      (check-writable k who v)
      (check-index who v i)
      (check-index who v j)
      (let ((x (%numeric-get v i)))
        (%numeric-put! v i (%numeric-get v j) who)
        (%numeric-put! v j x who)))

    (define (fill! k who v x start end)
      (check-writable k who v)
      (with-range who (%numeric-length v) (start end) (%numeric-fill! v x start end who)))

    (define (reverse! k who v start end)
      (check-writable k who v)
      (with-range who (%numeric-length v) (start end) (%numeric-reverse! v start end)))

    (define (copy! k who to at from start end)
      (check-writable k who to)
      (check k who from)
      (with-range who (%numeric-length from) (start end)
        (if (%fixnum? at)
            (within-range who (%numeric-length to) at (%fx+ at (%fx- end start))
              (%numeric-copy! to at from start end))
            (wrong-type who "an index" at))))

    (define (reverse-copy! k who to at from start end)
      (copy! k who to at from start end)
      (let* ((n (%numeric-length from)) (start (if start start 0)) (end (if end end n)))
        (%numeric-reverse! to at (%fx+ at (%fx- end start)))))

    ;;;; Conversion

    (define (to-list k who v start end)
      (check k who v)
      (with-range who (%numeric-length v) (start end)
        (let loop ((i (%fx- end 1)) (l '()))
          (if (%fx< i start)
              l
              (loop (%fx- i 1) (%cons (%numeric-get v i) l))))))

    (define (to-reverse-list k who v start end)
      (check k who v)
      (with-range who (%numeric-length v) (start end)
        (let loop ((i start) (l '()))
          (if (%fx< i end)
              (loop (%fx+ i 1) (%cons (%numeric-get v i) l))
              l))))

    (define (to-vector k who v start end)
      (%list->vector (to-list k who v start end)))

    (define (from-vector k who v start end)
      (if (%vector? v)
          (with-range who (%vector-length v) (start end)
            (let ((new (fresh k who (%fx- end start))))
              (for (i start end) (%numeric-put! new (%fx- i start) (%vector-ref v i) who))
              new))
          (wrong-type who "a vector" v)))

    (define (generator k who v)
      (check k who v)
      (let ((i 0))
        (lambda ()
          (if (%fx< i (%numeric-length v))
              (let ((x (%numeric-get v i)))
                (set! i (%fx+ i 1))
                x)
              (eof-object)))))

    (define (write-vector k who v port)
      (check k who v)
      (if port (write v port) (write v)))

    ;;;; All kinds

    ;; What a macro with entries (pattern parameters optional-parameters procedure) and a kind expands to.
    (define-syntax define-writer
      (syntax-rules ()
        ((_ name (comparator) entry ...)
         (define-syntax name
           (er-macro-transformer
             (lambda (form rename compare)
               (letrec*
                   ((kind (symbol->string (cadr form)))
                    (kinds '("u8" "s8" "u16" "s16" "u32" "s32" "u64" "s64" "f32" "f64" "c64" "c128"))
                    (number (lambda (kinds i) (if (string=? (car kinds) kind) i (number (cdr kinds) (+ i 1)))))
                    (k (number kinds 0))
                    (filled (lambda (chars)
                              (cond
                                ((null? chars) "")
                                ((char=? (car chars) #\@) (string-append kind (filled (cdr chars))))
                                (else (string-append (string (car chars)) (filled (cdr chars)))))))
                    (clause (lambda (who parameters absent procedure)
                              (list parameters
                                    (append (list procedure k who) (flat parameters) absent))))
                    (flat (lambda (p)
                            (cond ((null? p) '()) ((pair? p) (cons (car p) (flat (cdr p)))) (else (list p)))))
                    (clauses (lambda (who parameters optional procedure)
                               (cons (clause who parameters (mapped (lambda (x) #f) optional) procedure)
                                     (if (null? optional)
                                         '()
                                         (clauses who (append parameters (list (car optional))) (cdr optional)
                                                  procedure)))))
                    (mapped (lambda (f l) (if (null? l) '() (cons (f (car l)) (mapped f (cdr l))))))
                    (definition (lambda (e)
                                  (let* ((who (filled (string->list (symbol->string (car e)))))
                                         (all (clauses who (cadr e) (car (cddr e)) (rename (cadr (cddr e))))))
                                    (list (rename 'define) (string->symbol who)
                                          (if (null? (cdr all))
                                              (cons (rename 'lambda) (car all))
                                              (cons (rename 'case-lambda) all)))))))
                 (cons (rename 'begin)
                       (append
                         (if comparator
                             (list (list (rename 'define) (string->symbol (string-append kind "vector-comparator"))
                                         (list (rename 'comparator-of) k)))
                             '())
                         (mapped definition 'entry) ...)))))))))

    (define-writer define-numeric-base (#f)
      ((make-@vector (n) (fill) make)
       (@vector items () from-list)
       (list->@vector (l) () from-list)
       (@vector->list (v) (start end) to-list)
       (@? (x) () element?)))

    (define-writer define-numeric-procedures (#t)
      ((@vector-unfold (f n seed) () unfold)
       (@vector-unfold-right (f n seed) () unfold-right)
       (@vector-copy (v) (start end) copy)
       (@vector-reverse-copy (v) (start end) reverse-copy)
       (@vector-append vectors () append-list)
       (@vector-concatenate (vectors) () append-list)
       (@vector-append-subvectors triplets () append-subvectors)
       (@vector-empty? (v) () vector-empty?)
       (@vector= vectors () vectors=)
       (@vector-take (v n) () take)
       (@vector-take-right (v n) () take-right)
       (@vector-drop (v n) () drop)
       (@vector-drop-right (v n) () drop-right)
       (@vector-segment (v n) () segment)
       (@vector-fold (f knil v . more) () fold)
       (@vector-fold-right (f knil v . more) () fold-right)
       (@vector-map (f v . more) () map)
       (@vector-map! (f v . more) () map!)
       (@vector-for-each (f v . more) () for-each)
       (@vector-count (f v . more) () count)
       (@vector-cumulate (f knil v) () cumulate)
       (@vector-take-while (f v) () take-while)
       (@vector-take-while-right (f v) () take-while-right)
       (@vector-drop-while (f v) () drop-while)
       (@vector-drop-while-right (f v) () drop-while-right)
       (@vector-index (f v . more) () index)
       (@vector-index-right (f v . more) () index-right)
       (@vector-skip (f v . more) () skip)
       (@vector-skip-right (f v . more) () skip-right)
       (@vector-any (f v . more) () any)
       (@vector-every (f v . more) () every)
       (@vector-partition (f v) () partition)
       (@vector-filter (f v) () filter)
       (@vector-remove (f v) () remove)
       (@vector-swap! (v i j) () swap!)
       (@vector-fill! (v x) (start end) fill!)
       (@vector-reverse! (v) (start end) reverse!)
       (@vector-copy! (to at from) (start end) copy!)
       (@vector-reverse-copy! (to at from) (start end) reverse-copy!)
       (@vector-unfold! (f v start end seed) () unfold!)
       (@vector-unfold-right! (f v start end seed) () unfold-right!)
       (reverse-@vector->list (v) (start end) to-reverse-list)
       (reverse-list->@vector (l) () from-reverse-list)
       (@vector->vector (v) (start end) to-vector)
       (vector->@vector (v) (start end) from-vector)
       (make-@vector-generator (v) () generator)
       (write-@vector (v) (port) write-vector)))))
