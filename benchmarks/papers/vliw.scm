;;; Vliw: schedules straight code for a machine that starts several operations in each cycle. Programs of pseudo-random
;;; expressions and loops are compiled to operations on virtual registers, unrolled and renamed; the graph of
;;; dependences gives heights; a list scheduler fills the words (Fisher 1981, for one trace); registers are allocated by
;;; linear scan. Then a simulator executes schedule and operations one by one and compares what they compute.
;;;
;;; Lists, records and small closures; recursion over expressions and graphs.
(import (scheme base) (scheme cxr) (scheme write) (scheme process-context))

;;; Pseudo-random numbers (Park and Miller 1988).
(define seed 1)
(define (random! n) (set! seed (modulo (* 16807 seed) 2147483647)) (modulo (quotient seed 8) n))

;;; Sources: statements (set variable expression), (store address expression), (repeat n statements).
(define variables '(a b c d e f g h))
(define (random-expression depth)
  (if (or (= depth 0) (= (random! 5) 0))
      (case (random! 3)
        ((0) (- (random! 40) 20))
        ((1) (list-ref variables (random! 8)))
        (else (list 'load (random! 16))))
      (let* ((operator (list-ref '(add sub mul and-bits shift min max add) (random! 8)))
             (left (random-expression (- depth 1))))
        (list operator left (random-expression (- depth 1))))))
(define (random-statement depth)
  (cond ((and (> depth 0) (= (random! 4) 0))
         (let ((times (+ 2 (random! 2)))) (list 'repeat times (random-statements 2 (- depth 1)))))
        ((= (random! 3) 0)
         (let ((address (random! 16))) (list 'store address (random-expression 3))))
        (else (let ((variable (list-ref variables (random! 8)))) (list 'set variable (random-expression 3))))))
(define (random-statements n depth)
  (if (= n 0)
      '()
      (let ((first (random-statement depth))) (cons first (random-statements (- n 1) depth)))))

;;; Operations: a name, a register for the result (or #f), operands (registers, or (constant n)), a memory address.
(define-record-type operation
  (make-operation number name result operands address)
  operation?
  (number operation-number) (name operation-name) (result operation-result) (operands operation-operands)
  (address operation-address))

;; Loops are unrolled: all of them are short. Every assignment makes a new register.
(define (unrolled statements)
  (if (null? statements)
      '()
      (let ((first (car statements)) (rest (unrolled (cdr statements))))
        (if (eq? (car first) 'repeat)
            (let copies ((n (cadr first)))
              (if (= n 0) rest (append (unrolled (caddr first)) (copies (- n 1)))))
            (cons first rest)))))

(define (compile statements)
  (define operations '())
  (define count 0)
  (define registers 0)
  (define (new-register!) (set! registers (+ registers 1)) (- registers 1))
  (define (emit! name result operands address)
    (set! operations (cons (make-operation count name result operands address) operations))
    (set! count (+ count 1))
    result)
  ;; What is computed already, by name and operands: a list that ends at the last store for loads.
  (define known '())
  (define (value name operands address)
    (let ((key (list name operands address)))
      (let ((found (assoc key known)))
        (if found
            (cdr found)
            (let ((r (emit! name (new-register!) operands address)))
              (set! known (cons (cons key r) known))
              r)))))
  (define (forget-loads! address)
    (set! known
          (let keep ((l known))
            (cond ((null? l) '())
                  ((eqv? (caddr (caar l)) address) (keep (cdr l)))
                  (else (cons (car l) (keep (cdr l))))))))
  (define (expression e environment)
    (cond ((number? e) (list 'constant e))
          ((symbol? e) (cdr (assq e environment)))
          ((eq? (car e) 'load) (value 'load '() (cadr e)))
          (else
           (let* ((left (expression (cadr e) environment)) (right (expression (caddr e) environment)))
             (if (and (pair? left) (pair? right))
                 (list 'constant (compute (car e) (cadr left) (cadr right)))
                 (value (car e) (list left right) #f))))))
  (let loop ((statements statements) (environment (map (lambda (v) (cons v (list 'constant 0))) variables)))
    (cond ((null? statements)
           (for-each (lambda (b n) (emit! 'store #f (list (cdr b)) (+ 16 n))) environment '(0 1 2 3 4 5 6 7))
           (cons registers (reverse operations)))
          ((eq? (caar statements) 'set)
           (let ((r (expression (caddar* statements) environment)) (v (cadar* statements)))
             (loop (cdr statements)
                   (map (lambda (b) (if (eq? (car b) v) (cons v r) b)) environment))))
          (else
           (let ((r (expression (caddar* statements) environment)) (address (cadar* statements)))
             (emit! 'store #f (list r) address)
             (forget-loads! address)
             (loop (cdr statements) environment))))))
(define (cadar* l) (cadr (car l)))
(define (caddar* l) (caddr (car l)))

(define (wrapped x) (- (modulo (+ x 32768) 65536) 32768))
(define (compute name a b)
  (wrapped
    (case name
      ((add) (+ a b))
      ((sub) (- a b))
      ((mul) (* a b))
      ((and-bits) (bits-and (modulo a 256) (modulo b 256)))
      ((shift) (* a (expt 2 (modulo b 4))))
      ((min) (min a b))
      (else (max a b)))))
(define (bits-and a b)
  (if (or (= a 0) (= b 0))
      0
      (+ (* 2 (bits-and (quotient a 2) (quotient b 2))) (if (and (odd? a) (odd? b)) 1 0))))

;;; The machine: units by kind, and cycles until a result is there.
(define units '((arithmetic . 2) (multiplier . 1) (memory . 2)))
(define (kind-of o)
  (case (operation-name o) ((load store) 'memory) ((mul) 'multiplier) (else 'arithmetic)))
(define (latency o) (case (operation-name o) ((load) 3) ((mul) 2) (else 1)))

;;; Dependences: edges (from . cycles) of each operation: results, and memory at the same address in order.
(define (dependences operations count)
  (let ((before (make-vector count '())) (makers '()) (stores '()) (loads '()))
    (define (edge! o from cycles)
      (vector-set! before (operation-number o)
                   (cons (cons (operation-number from) cycles) (vector-ref before (operation-number o)))))
    (for-each
      (lambda (o)
        (for-each (lambda (r) (if (number? r) (let ((m (cdr (assv r makers)))) (edge! o m (latency m)))))
                  (operation-operands o))
        (let ((address (operation-address o)))
          (if address
              (begin
                (let ((s (assv address stores))) (if s (edge! o (cdr s) 1)))
                (if (eq? (operation-name o) 'store)
                    (begin
                      (for-each (lambda (l) (if (= (car l) address) (edge! o (cdr l) 0))) loads)
                      (set! stores (cons (cons address o) stores)))
                    (set! loads (cons (cons address o) loads))))))
        (if (operation-result o) (set! makers (cons (cons (operation-result o) o) makers))))
      operations)
    before))

;; The longest way from an operation to the end: a recursion over the graph with a memory.
(define (heights operations before count)
  (let ((after (make-vector count '())) (height (make-vector count #f)))
    (define (height-of n)
      (or (vector-ref height n)
          (let ((h (longest (vector-ref after n))))
            (vector-set! height n h)
            h)))
    (define (longest edges)
      (if (null? edges) 0 (max (+ (cdar edges) (height-of (caar edges))) (longest (cdr edges)))))
    (for-each
      (lambda (o)
        (let ((n (operation-number o)))
          (for-each
            (lambda (e) (vector-set! after (car e) (cons (cons n (cdr e)) (vector-ref after (car e)))))
            (vector-ref before n))))
      operations)
    (for-each (lambda (o) (height-of (operation-number o))) operations)
    height))

;;; List scheduling: in each cycle the highest operations whose operands are there, as far as units are free.
(define (sorted l less?)
  (define (merge a b)
    (cond ((null? a) b) ((null? b) a)
          ((less? (car b) (car a)) (cons (car b) (merge a (cdr b))))
          (else (cons (car a) (merge (cdr a) b)))))
  (define (halves l a b) (if (null? l) (cons a b) (halves (cdr l) (cons (car l) b) a)))
  (if (or (null? l) (null? (cdr l)))
      l
      (let ((h (halves l '() '()))) (merge (sorted (car h) less?) (sorted (cdr h) less?)))))

;; Words, each a list of operations.
(define (schedule operations before height count)
  (let ((cycle-of (make-vector count #f)))
    (define (ready-at n edges)
      (if (null? edges)
          0
          (let ((from (vector-ref cycle-of (caar edges))))
            (and from
                 (let ((rest (ready-at n (cdr edges)))) (and rest (max (+ from (cdar edges)) rest)))))))
    (define (ready? o cycle)
      (let ((at (ready-at (operation-number o) (vector-ref before (operation-number o))))) (and at (<= at cycle))))
    (define (above? a b)
      (let ((x (vector-ref height (operation-number a))) (y (vector-ref height (operation-number b))))
        (or (> x y) (and (= x y) (< (operation-number a) (operation-number b))))))
    ;; What of the candidates goes into a word with so many units left.
    (define (word candidates free)
      (if (null? candidates)
          '()
          (let ((left (assq (kind-of (car candidates)) free)))
            (if (= (cdr left) 0)
                (word (cdr candidates) free)
                (cons (car candidates)
                      (word (cdr candidates)
                            (map (lambda (u) (if (eq? u left) (cons (car u) (- (cdr u) 1)) u)) free)))))))
    (define (without chosen l)
      (cond ((null? l) '())
            ((memq (car l) chosen) (without chosen (cdr l)))
            (else (cons (car l) (without chosen (cdr l))))))
    (define (keep p l) (cond ((null? l) '()) ((p (car l)) (cons (car l) (keep p (cdr l)))) (else (keep p (cdr l)))))
    (let cycles ((cycle 0) (left operations))
      (if (null? left)
          '()
          (let ((chosen (word (sorted (keep (lambda (o) (ready? o cycle)) left) above?) units)))
            (for-each (lambda (o) (vector-set! cycle-of (operation-number o) cycle)) chosen)
            (cons chosen (cycles (+ cycle 1) (without chosen left))))))))

;;; Linear scan: how many registers the schedule needs at once, and a real one for each virtual.
(define (last-uses words registers)
  (let ((last (make-vector registers -1)))
    (let loop ((words words) (cycle 0))
      (if (pair? words)
          (begin
            (for-each
              (lambda (o) (for-each (lambda (r) (if (number? r) (vector-set! last r cycle))) (operation-operands o)))
              (car words))
            (loop (cdr words) (+ cycle 1)))))
    last))
(define (allocate words registers)
  (let ((last (last-uses words registers)) (place (make-vector registers #f)))
    (define (take free r)
      (vector-set! place r (car free))
      (cdr free))
    (define (count-up n m) (if (= n m) '() (cons n (count-up (+ n 1) m))))
    (let loop ((words words) (cycle 0) (free (count-up 0 512)) (live '()) (most 0))
      (if (null? words)
          (cons most place)
          (let release ((l live) (kept '()) (free free))
            (cond ((pair? l)
                   (if (< (vector-ref last (car l)) cycle)
                       (release (cdr l) kept (cons (vector-ref place (car l)) free))
                       (release (cdr l) (cons (car l) kept) free)))
                  (else
                   (let define-results ((os (car words)) (free free) (live kept))
                     (cond ((null? os) (loop (cdr words) (+ cycle 1) free live (max most (length live))))
                           ((operation-result (car os))
                            => (lambda (r) (define-results (cdr os) (take free r) (cons r live))))
                           (else (define-results (cdr os) free live)))))))))))

;;; Execution: one by one, and by words. In a word, all operands are read before anything is written. Results are there
;;; at the end of their word: that nobody reads them too early is what latencies in the dependences are for.
(define (fresh-memory) (let ((m (make-vector 24 0))) (let fill ((i 0)) (if (< i 16) (begin (vector-set! m i (* i 37)) (fill (+ i 1))))) m))
(define (operand registers place r) (if (pair? r) (cadr r) (vector-ref registers (place r))))
(define (result-of o registers place memory)
  (let ((operands (map (lambda (r) (operand registers place r)) (operation-operands o))))
    (case (operation-name o)
      ((load) (vector-ref memory (operation-address o)))
      ((store) (car operands))
      (else (compute (operation-name o) (car operands) (cadr operands))))))

(define (run-in-order operations registers)
  (let ((memory (fresh-memory)) (file (make-vector registers 0)) (same (lambda (r) r)))
    (for-each
      (lambda (o)
        (let ((value (result-of o file same memory)))
          (if (operation-result o)
              (vector-set! file (operation-result o) value)
              (vector-set! memory (operation-address o) value))))
      operations)
    memory))
(define (run-by-words words place)
  (let ((memory (fresh-memory)) (file (make-vector 512 0)) (place (lambda (r) (vector-ref place r))))
    (for-each
      (lambda (word)
        (for-each
          (lambda (o value)
            (if (operation-result o)
                (vector-set! file (place (operation-result o)) value)
                (vector-set! memory (operation-address o) value)))
          word
          (map (lambda (o) (result-of o file place memory)) word)))
      words)
    memory))

;; Operations, cycles, registers, and whether both executions agree.
(define (one-program size)
  (let* ((compiled (compile (unrolled (random-statements size 2))))
         (registers (car compiled)) (operations (cdr compiled)) (count (length operations))
         (before (dependences operations count))
         (words (schedule operations before (heights operations before count) count))
         (allocation (allocate words registers)))
    (list count (length words) (car allocation)
          (if (equal? (run-in-order operations registers) (run-by-words words (cdr allocation))) 1 0))))

(define (main programs)
  (set! seed 1)
  (let loop ((n 0) (sums '(0 0 0 0)))
    (if (< n programs)
        (loop (+ n 1) (map + sums (one-program (+ 6 (modulo n 5)))))
        (begin (write sums) (newline)))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 8))
