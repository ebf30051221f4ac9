;; args: 7
;; Compact records against a model of plain ones: random stores, links, losses and collections; and rounds in which the
;; pool of a new type has any number of records when its references become wider (with --compact-bits=8).
(import (scheme base) (scheme write) (scheme process-context) (cairn weak))

(define seed (string->number (list-ref (command-line) 1)))
(define (random n)
  (set! seed (modulo (+ (* seed 1103515245) 12345) 2147483648))
  (modulo (quotient seed 256) n))

(define-record-type (leaf compact) (make-leaf id tag) leaf? ((id u16) leaf-id) ((tag char) leaf-tag set-leaf-tag!))
(define-record-type (node compact) (make-node id x left right leaf on?) node?
  ((id u32) node-id)
  ((x f64) node-x set-node-x!)
  ((left (ref node)) node-left set-node-left!)
  ((leaf (ref leaf)) node-leaf set-node-leaf!)
  ((on? bool) node-on? set-node-on!)
  ((right (ref node)) node-right set-node-right!))

;; The same, of plain records; `self` is the compact one.
(define-record-type model (make-model self id x left right leaf tag on?) model?
  (self model-self) (id model-id) (x model-x set-model-x!) (left model-left set-model-left!)
  (right model-right set-model-right!) (leaf model-leaf set-model-leaf!) (tag model-tag set-model-tag!)
  (on? model-on? set-model-on!))

(define (self m) (and m (model-self m)))
(define (fail what m) (error "differs" what (model-id m) (model-self m)))

;; Does the record say what the model says, and so on along a random path?
(define (check m steps)
  (let ((n (model-self m)))
    (if (not (and (node? n) (not (leaf? n)) (= (node-id n) (model-id m)) (eqv? (node-x n) (model-x m))
                  (eq? (node-on? n) (model-on? m))))
        (fail 'fields m))
    (if (not (and (eq? (node-left n) (self (model-left m))) (eq? (node-right n) (self (model-right m)))))
        (fail 'links m))
    (let ((l (node-leaf n)))
      (if (not (if (model-leaf m)
                   (and (leaf? l) (= (leaf-id l) (model-leaf m)) (char=? (leaf-tag l) (model-tag m)))
                   (not l)))
          (fail 'leaf m)))
    (if (> steps 0)
        (let ((next (if (= 0 (random 2)) (model-left m) (model-right m))))
          (if next (check next (- steps 1)))))))

(define slots 60)
(define held (make-vector slots #f))
(define (pick) (vector-ref held (random slots)))
(define made 0)

(define (step)
  (let ((i (random slots)) (m (pick)))
    (case (random 12)
      ((0 1 2 3)
       (let* ((l (pick)) (r (pick)) (x (/ (random 1000) 8.)) (leaf (and (= 0 (random 2)) (random 65536)))
              (on? (= 0 (random 2))) (tag (integer->char (+ 65 (random 1000)))))
         (set! made (+ made 1))
         (vector-set! held i
           (make-model (make-node made x (self l) (self r) (and leaf (make-leaf leaf tag)) on?)
                       made x l r leaf tag on?))))
      ((4) (if m (let ((o (pick))) (set-node-left! (model-self m) (self o)) (set-model-left! m o))))
      ((5) (if m (let ((o (pick))) (set-node-right! (model-self m) (self o)) (set-model-right! m o))))
      ((6) (if m (let ((x (exact->inexact (random 100)))) (set-node-x! (model-self m) x) (set-model-x! m x))))
      ((7) (if m (let ((on? (= 0 (random 2)))) (set-node-on! (model-self m) on?) (set-model-on! m on?))))
      ((8) (if (and m (model-leaf m))
               (begin (set-leaf-tag! (node-leaf (model-self m)) #\z) (set-model-tag! m #\z))))
      ((9) (if m (begin (set-node-leaf! (model-self m) #f) (set-model-leaf! m #f))))
      ((10) (vector-set! held i #f))
      (else (if m (check m 20))))))

(define (exact->inexact x) (inexact x))

(let loop ((i 0))
  (if (< i 20000)
      (begin
        (step)
        (if (= 0 (modulo i 1500)) (collect (= 0 (random 2))))
        (loop (+ i 1)))))
(vector-for-each (lambda (m) (if m (check m 100))) held)
(write made) (newline)

;; A new type each time: there are so many records already when 40 more are linked, forwards and backwards.
(define (a-round before)
  (define-record-type (link compact) (make-link n next) link?
    ((n i16) link-n set-link-n!) ((next (ref link)) link-next set-link-next!) ((back (ref link)) link-back set-link-back!))
  (define others (let loop ((i 0) (l '())) (if (= i before) l (loop (+ i 1) (cons (make-link (- i) #f) l)))))
  (define (verify last n)
    (let loop ((l last) (i n))
      (cond ((not l) (if (not (= i 0)) (error "too short" before n i)))
            ((not (= (link-n l) i)) (error "wrong number" before n i))
            ((let ((b (link-back l))) (not (if b (eq? (link-next b) l) (eq? l last)))) (error "wrong link" before n i))
            (else (loop (link-next l) (- i 1))))))
  (let loop ((i 1) (last #f))
    (if (<= i 40)
        (let ((l (make-link i last)))
          (if last (set-link-back! last l))
          (verify l i)
          (loop (+ i 1) l))))
  (for-each (lambda (l i) (if (not (and (= (link-n l) i) (not (link-next l)) (not (link-back l)))) (error "spoilt" before)))
            others
            (let loop ((i 0) (l '())) (if (= i before) l (loop (+ i 1) (cons (- i) l))))))

(let loop ((before 0)) (if (<= before 270) (begin (a-round before) (loop (+ before 1)))))
(display "ok") (newline)
