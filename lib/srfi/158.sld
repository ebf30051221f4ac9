;;; (srfi 158): generators and accumulators; also as (scheme generator).
;;;
;;; A generator is a procedure without arguments that returns the next value, and an end-of-file object from the end
;;; on.  An accumulator is a procedure of one argument, called with values, and with an end-of-file object for the
;;; result.
(define-library (srfi 158)
  (export
   generator circular-generator make-iota-generator make-range-generator make-coroutine-generator
   list->generator vector->generator reverse-vector->generator string->generator bytevector->generator
   make-for-each-generator make-unfold-generator
   gcons* gappend gflatten ggroup gmerge gmap gcombine gfilter gremove gstate-filter
   gtake gdrop gtake-while gdrop-while gdelete gdelete-neighbor-dups gindex gselect
   generator->list generator->reverse-list generator-map->list generator->vector generator->vector!
   generator->string generator-fold generator-for-each generator-find generator-count generator-any
   generator-every generator-unfold
   make-accumulator count-accumulator list-accumulator reverse-list-accumulator
   vector-accumulator reverse-vector-accumulator vector-accumulator! string-accumulator
   bytevector-accumulator bytevector-accumulator! sum-accumulator product-accumulator)
  (import (scheme base) (scheme case-lambda)
          (only (cairn control) out-of-range wrong-type check-procedure make-coroutine-generator))
  (begin

    (define end (eof-object))

    ;; (define-with-range (name sequence start end) length body): start and end may be left out.
    (define-syntax define-with-range
      (syntax-rules ()
        ((_ (name sequence start stop) length body)
         (define name
           (case-lambda
             ((sequence) (name sequence 0 (length sequence)))
             ((sequence start) (name sequence start (length sequence)))
             ((sequence start stop)
              (if (and (exact-integer? start) (exact-integer? stop) (<= 0 start stop (length sequence)))
                  body
                  (out-of-range (symbol->string 'name) "not a range of the sequence:" (cons start stop)))))))))

    ;; (next (x generator) at-end body): x is the next value, in `body`; at the end the result is `at-end`.
    (define-syntax next
      (syntax-rules ()
        ((_ (x g) at-end body)
         (let ((x (g)))
           (if (eof-object? x) at-end body)))))

    ;;;; Making generators

    (define (generator . l) (list->generator l))

    (define (circular-generator first . rest)
      (let* ((all (cons first rest)) (l all))
        (lambda ()
          (if (null? l) (set! l all))
          (let ((x (car l)))
            (set! l (cdr l))
            x))))

    (define make-iota-generator
      (case-lambda
        ((count) (make-iota-generator count 0 1))
        ((count start) (make-iota-generator count start 1))
        ((count start step)
         (let ((i 0))
           ;; products, so that rounding errors do not add up
           (lambda ()
             (if (< i count)
                 (let ((x (+ start (* i step))))
                   (set! i (+ i 1))
                   x)
                 end))))))

    (define make-range-generator
      (case-lambda
        ((start)
         (lambda ()
           (let ((x start))
             (set! start (+ start 1))
             x)))
        ((start stop) (make-range-generator start stop 1))
        ((start stop step)
         (lambda ()
           (if (< start stop)
               (let ((x start))
                 (set! start (+ start step))
                 x)
               end)))))

    (define (list->generator l)
      (lambda ()
        (if (null? l)
            end
            (let ((x (car l)))
              (set! l (cdr l))
              x))))

    (define-syntax define-indexed
      (syntax-rules ()
        ((_ name length ref)
         (define-with-range (name s start stop) length
           (let ((i start))
             (lambda ()
               (if (< i stop)
                   (let ((x (ref s i)))
                     (set! i (+ i 1))
                     x)
                   end)))))))
    (define-indexed vector->generator vector-length vector-ref)
    (define-indexed string->generator string-length string-ref)
    (define-indexed bytevector->generator bytevector-length bytevector-u8-ref)

    (define-with-range (reverse-vector->generator v start stop) vector-length
      (let ((i stop))
        (lambda ()
          (if (> i start)
              (begin
                (set! i (- i 1))
                (vector-ref v i))
              end))))

    (define (make-for-each-generator for-each collection)
      (make-coroutine-generator (lambda (yield) (for-each yield collection))))

    (define (make-unfold-generator stop? mapper successor seed)
      (let ((done #f))
        (lambda ()
          (cond
            (done end)
            ((stop? seed)
             (set! done #t)
             end)
            (else
             (let ((x (mapper seed)))
               (set! seed (successor seed))
               x))))))

    ;;;; Generators from generators

    (define (gcons* . items)
      (lambda ()
        (cond
          ((null? items) end)
          ((null? (cdr items)) ((car items)))
          (else
           (let ((x (car items)))
             (set! items (cdr items))
             x)))))

    (define (gappend . gens)
      (lambda ()
        (let loop ()
          (if (null? gens)
              end
              (next (x (car gens))
                (begin
                  (set! gens (cdr gens))
                  (loop))
                x)))))

    ;; The elements of the lists that g generates.
    (define (gflatten g)
      (let ((l '()))
        (lambda ()
          (let loop ()
            (if (pair? l)
                (let ((x (car l)))
                  (set! l (cdr l))
                  x)
                (next (x g) end
                  (if (or (pair? x) (null? x))
                      (begin
                        (set! l x)
                        (loop))
                      (wrong-type "gflatten" "lists from the generator" x))))))))

    ;; Lists of k values; the last one may be shorter, or is filled up.
    (define ggroup
      (case-lambda
        ((g k) (groups g k (lambda (n) '())))
        ((g k padding) (groups g k (lambda (n) (make-list n padding))))))

    (define (groups g k padding)
      (lambda ()
        (let loop ((n 0) (l '()))
          (if (= n k)
              (reverse l)
              (next (x g)
                (if (= n 0) end (append (reverse l) (padding (- k n))))
                (loop (+ n 1) (cons x l)))))))

    ;; Of equal values those of the left generator come first.
    (define gmerge
      (case-lambda
        ((less? g) g)
        ((less? left right)
         (let ((a (left)) (b (right)))
           (lambda ()
             (define (take-a)
               (let ((x a))
                 (set! a (left))
                 x))
             (define (take-b)
               (let ((x b))
                 (set! b (right))
                 x))
             (cond ((eof-object? a) (if (eof-object? b) end (take-b)))
                   ((eof-object? b) (take-a))
                   ((less? b a) (take-b))
                   (else (take-a))))))
        ((less? a b c . rest)
         (apply gmerge less? (gmerge less? a b) c rest))))

    ;; The next values of several generators, or #f when one is at its end.
    (define (next-of-all gens)
      (let loop ((gens gens) (l '()))
        (if (null? gens)
            (reverse l)
            (next (x (car gens)) #f (loop (cdr gens) (cons x l))))))

    (define gmap
      (case-lambda
        ((proc g) (lambda () (next (x g) end (proc x))))
        ((proc a b) (lambda () (next (x a) end (next (y b) end (proc x y)))))
        ((proc . gens)
         (lambda ()
           (let ((args (next-of-all gens)))
             (if args (apply proc args) end))))))

    ;; `proc` takes the values and a state, and returns a value and the next state.
    (define (gcombine proc seed g . gens)
      (let ((gens (cons g gens)))
        (lambda ()
          (let ((args (next-of-all gens)))
            (if args
                (let-values (((x state) (apply proc (append args (list seed)))))
                  (set! seed state)
                  x)
                end)))))

    (define (gfilter keep? g)
      (lambda ()
        (let loop ()
          (next (x g) end (if (keep? x) x (loop))))))

    (define (gremove drop? g)
      (lambda ()
        (let loop ()
          (next (x g) end (if (drop? x) (loop) x)))))

    (define (gstate-filter proc seed g)
      (lambda ()
        (let loop ()
          (next (x g) end
            (let-values (((keep? state) (proc x seed)))
              (set! seed state)
              (if keep? x (loop)))))))

    ;; At most k values; exactly k with padding.
    (define gtake
      (case-lambda
        ((g k)
         (lambda ()
           (if (> k 0)
               (begin
                 (set! k (- k 1))
                 (g))
               end)))
        ((g k padding)
         (lambda ()
           (if (> k 0)
               (begin
                 (set! k (- k 1))
                 (next (x g) padding x))
               end)))))

    (define (gdrop g k)
      (lambda ()
        (let loop ()
          (if (> k 0)
              (begin
                (set! k (- k 1))
                (next (x g)
                  (begin
                    (set! k 0)
                    end)
                  (loop)))
              (g)))))

    (define (gtake-while keep? g)
      (let ((done #f))
        (lambda ()
          (if done
              end
              (let ((x (g)))
                (if (and (not (eof-object? x)) (keep? x))
                    x
                    (begin
                      (set! done #t)
                      end)))))))

    (define (gdrop-while drop? g)
      (let ((found #f))
        (lambda ()
          (if found
              (g)
              (let loop ()
                (let ((x (g)))
                  (if (and (not (eof-object? x)) (drop? x))
                      (loop)
                      (begin
                        (set! found #t)
                        x))))))))

    (define gdelete
      (case-lambda
        ((item g) (gdelete item g equal?))
        ((item g same?) (gremove (lambda (x) (same? item x)) g))))

    (define gdelete-neighbor-dups
      (case-lambda
        ((g) (gdelete-neighbor-dups g equal?))
        ((g same?)
         (let ((first? #t) (last #f))
           (lambda ()
             (let loop ()
               (next (x g) end
                 (if (and (not first?) (same? last x))
                     (loop)
                     (begin
                       (set! first? #f)
                       (set! last x)
                       x)))))))))

    ;; The values at the places that the second generator gives, in ascending order.
    (define (gindex g indices)
      (let ((place 0))
        (lambda ()
          (next (i indices) end
            (begin
              (if (< i place) (out-of-range "gindex" "an index is not greater than the one before:" i))
              (let loop ()
                (next (x g) end
                  (begin
                    (set! place (+ place 1))
                    (if (< i place) x (loop))))))))))

    ;; The values at whose places the second generator has true values.
    (define (gselect g truths)
      (lambda ()
        (let loop ()
          (next (x g) end
            (next (keep? truths) end
              (if keep? x (loop)))))))

    ;;;; Using generators

    ;; `(name g [k])`: `(finish l)`, of the list of the values, the last first; of k values at most.
    (define-syntax define-collectors
      (syntax-rules ()
        ((_ (name finish) ...)
         (begin
           (define name
             (case-lambda
               ((g)
                (let loop ((l '()))
                  (next (x g) (finish l) (loop (cons x l)))))
               ((g k)
                (if (not (and (real? k) (>= k 0))) (wrong-type (symbol->string 'name) "a number of values" k))
                (name (gtake g k)))))
           ...))))
    ;; In line, so that the collectors fail by their own names.
    (define-syntax reversed->vector
      (syntax-rules () ((_ l) (list->vector (reverse l)))))
    (define-syntax reversed->string
      (syntax-rules () ((_ l) (list->string (reverse l)))))
    (define-collectors
      (generator->reverse-list begin)
      (generator->list reverse)
      (generator->vector reversed->vector)
      (generator->string reversed->string))

    (define (generator-map->list proc g . gens)
      (generator->list (apply gmap proc g gens)))

    ;; Fills v from `at` on; returns how many values there were.
    (define (generator->vector! v at g)
      (if (not (and (exact-integer? at) (<= 0 at (vector-length v))))
          (out-of-range "generator->vector!" "not a place in the vector:" at))
      (let loop ((i at))
        (if (= i (vector-length v))
            (- i at)
            (next (x g) (- i at)
              (begin
                (vector-set! v i x)
                (loop (+ i 1)))))))

    (define generator-fold
      (case-lambda
        ((proc seed g)
         (let loop ((acc seed))
           (next (x g) acc (loop (proc x acc)))))
        ((proc seed . gens)
         (let loop ((acc seed))
           (let ((args (next-of-all gens)))
             (if args (loop (apply proc (append args (list acc)))) acc))))))

    (define generator-for-each
      (case-lambda
        ((proc g)
         (let loop ()
           (next (x g) (if #f #f)
             (begin
               (proc x)
               (loop)))))
        ((proc . gens)
         (let loop ()
           (let ((args (next-of-all gens)))
             (if args
                 (begin
                   (apply proc args)
                   (loop))))))))

    (define (generator-find found? g)
      (let loop ()
        (next (x g) #f (if (found? x) x (loop)))))

    (define (generator-count counts? g)
      (let loop ((n 0))
        (next (x g) n (loop (if (counts? x) (+ n 1) n)))))

    (define (generator-any found? g)
      (let loop ()
        (next (x g) #f (or (found? x) (loop)))))

    (define (generator-every holds? g)
      (let loop ((last #t))
        (next (x g) last
          (let ((y (holds? x)))
            (and y (loop y))))))

    ;; Any unfold of SRFI 1 and its relatives, with the generator as the seed.
    (define (generator-unfold g unfold . args)
      (apply unfold eof-object? (lambda (x) x) (lambda (x) (g)) (g) args))

    ;;;; Accumulators

    (define (make-accumulator combine seed finish)
      (lambda (x)
        (if (eof-object? x)
            (finish seed)
            (set! seed (combine x seed)))))

    (define (count-accumulator) (make-accumulator (lambda (x n) (+ n 1)) 0 (lambda (n) n)))
    (define (list-accumulator) (make-accumulator cons '() reverse))
    (define (reverse-list-accumulator) (make-accumulator cons '() (lambda (l) l)))
    (define (vector-accumulator) (make-accumulator cons '() (lambda (l) (list->vector (reverse l)))))
    (define (reverse-vector-accumulator) (make-accumulator cons '() list->vector))
    (define (string-accumulator) (make-accumulator cons '() (lambda (l) (list->string (reverse l)))))
    (define (bytevector-accumulator)
      (make-accumulator cons '() (lambda (l) (apply bytevector (reverse l)))))
    (define (sum-accumulator) (make-accumulator + 0 (lambda (n) n)))
    (define (product-accumulator) (make-accumulator * 1 (lambda (n) n)))

    ;; The result is the vector itself; more values than there is room for are an error.
    (define-syntax define-filling
      (syntax-rules ()
        ((_ name length set)
         (define (name v at)
           (let ((i at))
             (if (not (and (exact-integer? i) (<= 0 i (length v))))
                 (out-of-range (symbol->string 'name) "not a place in the sequence:" i))
             (lambda (x)
               (cond
                 ((eof-object? x) v)
                 ((= i (length v)) (out-of-range (symbol->string 'name) "there is no room at index" i))
                 (else
                  (set v i x)
                  (set! i (+ i 1))))))))))
    (define-filling vector-accumulator! vector-length vector-set!)
    (define-filling bytevector-accumulator! bytevector-length bytevector-u8-set!)))
