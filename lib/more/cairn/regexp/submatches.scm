;;; The submatches of (cairn regexp), of a match whose beginning and end the automaton has found.
;;;
;;; Often there is only one way to go on at each character: then a table says by place in the program and class of the
;;; character what the next place is, and which ends of submatches are passed before it.  The loop of the runtime goes
;;; by it (crates/cairn-rt/src/scan.rs describes the table), which is filled where it is come to (Cox, "Regular
;;; Expression Matching in the Wild", 2010, calls such patterns one-pass).  Else all ways are tried, the preferred ones
;;; first, none twice from the same place; and if that would need much memory the machine goes on.

(define-syntax saved-at (syntax-rules () ((_) 384)))
(define-syntax places-at (syntax-rules () ((_) 640)))
(define-syntax most-sets (syntax-rules () ((_) 256)))
(define-syntax most-track-words (syntax-rules () ((_) 65536)))

;; `sets`: the sets of submatches' ends, the last one first, so many.
(define-record-type <tracks>
  (make-tracks table width sets)
  tracks?
  (table tracks-table)
  (width tracks-width)
  (sets tracks-sets set-tracks-sets!))

;; The places of the match of s from `from` to `to`, which is one.
(define (submatches r a s from to start end)
  (cond
    ((= 0 (submatches-of r)) (vector from to))
    ((track r a s from to))
    ((<= (* (program-size r) (+ 1 (- to from))) (most-cells)) (trace r s from to start end))
    (else (machine r s from to start end #t #t))))

;; The same by the only way through the program; #f if there may be another one.
(define (track r a s from to)
  (let again ((tracks (or (automaton-tracks a) (new-tracks! r a 16))))
    (and (not (eq? tracks 'none))
         (let* ((places (make-vector (* 2 (+ 1 (submatches-of r))) #f))
                (missing (%scan-submatches s (tracks-table tracks) places from to)))
           (cond
             ((eqv? missing -1) places)
             ((< missing 0)
              (again (if (classify! a (tracks-table tracks) (tracks-width tracks) (integer->char (- -2 missing)))
                         tracks
                         (new-tracks! r a (* 2 (tracks-width tracks))))))
             ((track! a tracks (quotient missing (most-classes))
                      (numbered-class a (modulo missing (most-classes))))
              (again tracks))
             (else
              (set-automaton-tracks! a 'none)
              #f))))))

(define (new-tracks! r a width)
  (let* ((words (+ (places-at) (* width (program-size r))))
         (new (if (and (<= words (most-track-words)) (< (submatches-of r) 16) (= 0 (automaton-kinds a)))
                  (make-tracks (make-table words) width '(0))
                  'none)))
    (set-automaton-tracks! a new)
    new))

;; Stores the way on from a row by a class; #f if there is not exactly one.
(define (track! a tracks row class)
  (let* ((program (automaton-program a)) (ops (vector-ref program 0)) (xs (vector-ref program 1))
         (ys (vector-ref program 2)) (width (tracks-width tracks)) (size (vector-length ops))
         (numbers (automaton-set-numbers a)) (seen (make-bytevector size 0)))
    ;; pairs of a place that takes the class, and the set of what is passed before
    (define (walk pc saved found)
      (if (eqv? 1 (bytevector-u8-ref seen pc))
          found
          (let ((op (vector-ref ops pc)))
            (bytevector-u8-set! seen pc 1)
            (cond
              ((eqv? op (op-jump)) (walk (vector-ref xs pc) saved found))
              ((eqv? op (op-split)) (walk (vector-ref ys pc) saved (walk (vector-ref xs pc) saved found)))
              ((eqv? op (op-save)) (walk (+ pc 1) (bitwise-ior saved (expt 2 (vector-ref xs pc))) found))
              ((if (eqv? op (op-match))
                   (eqv? 0 (class-number class))
                   (eqv? 1 (bytevector-u8-ref (class-members class) (vector-ref numbers pc))))
               (cons (cons pc saved) found))
              (else found)))))
    (let ((found (walk (quotient (- row (places-at)) width) 0 '())))
      (and (pair? found) (null? (cdr found))
           (let ((set (set-number! tracks (cdar found)))
                 (next (+ (places-at) (* width (if (eqv? 0 (class-number class)) 0 (+ 1 (caar found)))))))
             (and set
                  (begin
                    (u32vector-set! (tracks-table tracks) (+ row (class-number class)) (+ (* set (step-row)) next))
                    #t)))))))

;; The number of a set, which the table has then; #f if there are too many.
(define (set-number! tracks set)
  (let* ((sets (tracks-sets tracks)) (known (member set sets)))
    (cond
      (known (- (length known) 1))
      ((>= (length sets) (most-sets)) #f)
      (else
       (let ((number (length sets)) (longer (cons set sets)))
         (if (eq? sets (tracks-sets tracks))
             (begin
               (set-tracks-sets! tracks longer)
               (u32vector-set! (tracks-table tracks) (+ (saved-at) number) set)
               number)
             (set-number! tracks set)))))))

;; Beyond so many pairs of an instruction and a place, submatches are found by the machine.
(define-syntax most-cells (syntax-rules () ((_) 65536)))

;; The places of the match of s from `from` to `to`, which is one: the preferred way through the program that ends
;; there.  No way is tried twice from the same place.
(define (trace r s from to start end)
  (let* ((program (program-of r)) (ops (vector-ref program 0)) (xs (vector-ref program 1))
         (ys (vector-ref program 2)) (size (program-size r)) (cells (* size (+ 1 (- to from))))
         (places (make-vector (* 2 (+ 1 (submatches-of r))) #f)) (seen (make-bytevector cells 0)))
    (define (leads? pc i)
      (let ((op (vector-ref ops pc)))
        (cond
          ((eqv? op (op-set))
           (and (< i to) (takes? xs ys pc (string-ref s i)) (leads? (+ pc 1) (+ i 1))))
          ((eqv? op (op-jump)) (leads? (vector-ref xs pc) i))
          ((eqv? op (op-split))
           (let ((cell (+ pc (* size (- i from)))))
             (and (eqv? 0 (bytevector-u8-ref seen cell))
                  (begin
                    (bytevector-u8-set! seen cell 1)
                    (or (leads? (vector-ref xs pc) i) (leads? (vector-ref ys pc) i))))))
          ((eqv? op (op-save))
           (and (leads? (+ pc 1) i)
                (begin
                  ;; what comes later on the way has been stored already, and counts
                  (if (not (vector-ref places (vector-ref xs pc))) (vector-set! places (vector-ref xs pc) i))
                  #t)))
          ((eqv? op (op-assert)) (and ((vector-ref xs pc) s i start end) (leads? (+ pc 1) i)))
          (else (= i to)))))
    (leads? 0 from)
    (vector-set! places 0 from)
    (vector-set! places 1 to)
    places))
