;;; Lexgen: makes a lexical analyser for ML from a list of regular expressions. Each is parsed to a tree with nodes of
;;; many sizes; positions, followed by positions (Aho, Sethi and Ullman 1986, section 3.9), give a deterministic
;;; automaton whose states are made minimal (Moore 1956) and whose rows are packed. Then the analyser reads a text.
(import (scheme base) (scheme char) (scheme write) (scheme process-context))

;;; Sets of small integers are ascending lists.
(define (union a b)
  (cond ((null? a) b)
        ((null? b) a)
        ((< (car a) (car b)) (cons (car a) (union (cdr a) b)))
        ((< (car b) (car a)) (cons (car b) (union a (cdr b))))
        (else (cons (car a) (union (cdr a) (cdr b))))))

;;; Trees. Every node knows whether it matches the empty string, and its first and last positions.
(define-record-type <empty> (make-empty) empty?)
(define-record-type <leaf> (make-leaf position characters) leaf? (position leaf-position) (characters leaf-characters))
(define-record-type <star> (make-star tree first last) star? (tree star-tree) (first star-first) (last star-last))
(define-record-type <alternative> (make-alternative left right nullable first last) alternative?
  (left alternative-left) (right alternative-right)
  (nullable alternative-nullable) (first alternative-first) (last alternative-last))
(define-record-type <sequence> (make-sequence left right nullable first last) sequence?
  (left sequence-left) (right sequence-right)
  (nullable sequence-nullable) (first sequence-first) (last sequence-last))

(define (nullable t)
  (cond ((leaf? t) #f) ((empty? t) #t) ((star? t) #t)
        ((alternative? t) (alternative-nullable t))
        (else (sequence-nullable t))))
(define (first t)
  (cond ((leaf? t) (list (leaf-position t))) ((empty? t) '()) ((star? t) (star-first t))
        ((alternative? t) (alternative-first t))
        (else (sequence-first t))))
(define (last t)
  (cond ((leaf? t) (list (leaf-position t))) ((empty? t) '()) ((star? t) (star-last t))
        ((alternative? t) (alternative-last t))
        (else (sequence-last t))))

(define (star t) (make-star t (first t) (last t)))
(define (alternative a b)
  (make-alternative a b (or (nullable a) (nullable b)) (union (first a) (first b)) (union (last a) (last b))))
(define (sequence a b)
  (make-sequence a b (and (nullable a) (nullable b))
                 (if (nullable a) (union (first a) (first b)) (first a))
                 (if (nullable b) (union (last a) (last b)) (last b))))

;;; Parser: a|b, ab, a*, a+, a?, (a), [a-z], [^a-z], . and \ before what stands for itself.
(define next-position 0)
(define (new-position!) (set! next-position (+ next-position 1)) (- next-position 1))

;; The result is a tree, the rest of the characters goes to k.
(define (parse-alternatives cs k)
  (parse-sequence cs
    (lambda (t cs)
      (if (and (pair? cs) (char=? #\| (car cs)))
          (parse-alternatives (cdr cs) (lambda (u cs) (k (alternative t u) cs)))
          (k t cs)))))
(define (parse-sequence cs k)
  (if (or (null? cs) (memv (car cs) '(#\| #\))))
      (k (make-empty) cs)
      (parse-repeated cs
        (lambda (t cs)
          (if (or (null? cs) (memv (car cs) '(#\| #\))))
              (k t cs)
              (parse-sequence cs (lambda (u cs) (k (sequence t u) cs))))))))
(define (parse-repeated cs k)
  (parse-atom cs
    (lambda (make cs)
      (let ((t (make)))
        (cond ((null? cs) (k t cs))
              ((char=? #\* (car cs)) (k (star t) (cdr cs)))
              ((char=? #\? (car cs)) (k (alternative t (make-empty)) (cdr cs)))
              ((char=? #\+ (car cs)) (k (sequence t (star (make))) (cdr cs)))
              (else (k t cs)))))))
;; An atom is a procedure that makes a fresh tree, for a+ needs two.
(define (parse-atom cs k)
  (case (car cs)
    ((#\()
     (let* ((inner (cdr cs)) (rest (parse-alternatives inner (lambda (t cs) (cdr cs)))))
       (k (lambda () (parse-alternatives inner (lambda (t cs) t))) rest)))
    ((#\[)
     (let ((negative (char=? #\^ (cadr cs))))
       (parse-class (if negative (cddr cs) (cdr cs)) '()
         (lambda (class cs)
           (let ((class (if negative (complement class 0) class)))
             (k (lambda () (make-leaf (new-position!) class)) cs))))))
    ((#\.) (k (lambda () (make-leaf (new-position!) (complement '(10) 0))) (cdr cs)))
    ((#\\) (k (literal (cadr cs)) (cddr cs)))
    (else (k (literal (car cs)) (cdr cs)))))
(define (literal c) (lambda () (make-leaf (new-position!) (list (char->integer c)))))
(define (parse-class cs class k)
  (cond ((char=? #\] (car cs)) (k class (cdr cs)))
        ((char=? #\\ (car cs)) (parse-class (cddr cs) (union (list (char->integer (cadr cs))) class) k))
        ((char=? #\- (cadr cs))
         (parse-class (cdddr* cs) (union (range (char->integer (car cs)) (char->integer (car (cddr cs)))) class) k))
        (else (parse-class (cdr cs) (union (list (char->integer (car cs))) class) k))))
(define (cdddr* list) (cdr (cddr list)))
(define (range from to) (if (> from to) '() (cons from (range (+ from 1) to))))
(define (complement class from)
  (cond ((= from 128) '())
        ((and (pair? class) (= from (car class))) (complement (cdr class) (+ from 1)))
        (else (cons from (complement class (+ from 1))))))

;;; A rule: a tree that ends in a position of its own, which says what was recognized.
(define (rule-tree text)
  (let ((t (parse-alternatives (string->list text) (lambda (t cs) t))))
    (let ((end (new-position!)))
      (cons (sequence t (make-leaf end '())) end))))

;;; What follows a position, and the leaf at it.
(define (fill-follow! t follow)
  (cond ((star? t)
         (fill-follow! (star-tree t) follow)
         (add-follow! follow (star-last t) (star-first t)))
        ((alternative? t)
         (fill-follow! (alternative-left t) follow)
         (fill-follow! (alternative-right t) follow))
        ((sequence? t)
         (fill-follow! (sequence-left t) follow)
         (fill-follow! (sequence-right t) follow)
         (add-follow! follow (last (sequence-left t)) (first (sequence-right t))))))
(define (add-follow! follow positions more)
  (for-each (lambda (p) (vector-set! follow p (union (vector-ref follow p) more))) positions))
(define (fill-leaves! t leaves)
  (cond ((leaf? t) (vector-set! leaves (leaf-position t) t))
        ((star? t) (fill-leaves! (star-tree t) leaves))
        ((alternative? t) (fill-leaves! (alternative-left t) leaves) (fill-leaves! (alternative-right t) leaves))
        ((sequence? t) (fill-leaves! (sequence-left t) leaves) (fill-leaves! (sequence-right t) leaves))))

;;; States: a tree of state sets, ordered by comparison of lists; its nodes are records.
(define-record-type <state> (make-state set number row) state?
  (set state-set) (number state-number) (row state-row set-state-row!))
(define-record-type <node> (make-node state left right) node? (state node-state) (left node-left) (right node-right))

(define (set-order a b)
  (cond ((null? a) (if (null? b) 0 -1))
        ((null? b) 1)
        ((= (car a) (car b)) (set-order (cdr a) (cdr b)))
        (else (- (car a) (car b)))))
(define (find-state set tree)
  (and tree
       (let ((order (set-order set (state-set (node-state tree)))))
         (cond ((= order 0) (node-state tree))
               ((< order 0) (find-state set (node-left tree)))
               (else (find-state set (node-right tree)))))))
(define (insert-state state tree)
  (if (not tree)
      (make-node state #f #f)
      (if (< (set-order (state-set state) (state-set (node-state tree))) 0)
          (make-node (node-state tree) (insert-state state (node-left tree)) (node-right tree))
          (make-node (node-state tree) (node-left tree) (insert-state state (node-right tree))))))

;; Positions of a set by character: a vector of 128 sets.
(define (moves set leaves follow)
  (let ((row (make-vector 128 '())))
    (for-each (lambda (p)
                (let ((next (vector-ref follow p)))
                  (for-each (lambda (c) (vector-set! row c (union next (vector-ref row c))))
                            (leaf-characters (vector-ref leaves p)))))
              set)
    row))

;; All states, the last found first; a row holds numbers of states, -1 for none.
(define (automaton start leaves follow)
  (let ((state (make-state start 0 #f)))
    (let loop ((waiting (list state)) (done '()) (tree (insert-state state #f)) (count 1))
      (if (null? waiting)
          (reverse done)
          (let* ((state (car waiting)) (sets (moves (state-set state) leaves follow)) (row (make-vector 128 -1)))
            (let fill ((c 0) (waiting (cdr waiting)) (tree tree) (count count))
              (cond ((= c 128)
                     (set-state-row! state row)
                     (loop waiting (cons state done) tree count))
                    ((null? (vector-ref sets c)) (fill (+ c 1) waiting tree count))
                    (else
                     (let ((known (find-state (vector-ref sets c) tree)))
                       (if known
                           (begin (vector-set! row c (state-number known)) (fill (+ c 1) waiting tree count))
                           (let ((new (make-state (vector-ref sets c) count #f)))
                             (vector-set! row c count)
                             (fill (+ c 1) (append waiting (list new)) (insert-state new tree) (+ count 1)))))))))))))

;; The first rule whose end is in the set, or -1.
(define (accepted set ends)
  (let loop ((ends ends) (n 0))
    (cond ((null? ends) -1) ((memv (car ends) set) n) (else (loop (cdr ends) (+ n 1))))))

;;; Minimal automaton: blocks of states are divided until all in a block go to the same blocks. Blocks are numbered in
;;; the order of their first states, which a tree of signatures finds.
(define (divide states blocks)
  (let ((new (make-vector (vector-length blocks) -1)))
    (let loop ((states states) (known '()) (count 0))
      (if (null? states)
          (cons count new)
          (let* ((n (state-number (car states)))
                 (signature (signature-of (state-row (car states)) blocks n))
                 (entry (assoc signature known)))
            (if entry
                (begin (vector-set! new n (cdr entry)) (loop (cdr states) known count))
                (begin (vector-set! new n count)
                       (loop (cdr states) (cons (cons signature count) known) (+ count 1)))))))))
;; Block, then runs of equal targets as pairs of length and block.
(define (signature-of row blocks n)
  (define (target c) (let ((t (vector-ref row c))) (if (< t 0) -1 (vector-ref blocks t))))
  (cons (vector-ref blocks n)
        (let runs ((c 1) (length 1) (block (target 0)))
          (cond ((= c 128) (list (cons length block)))
                ((= (target c) block) (runs (+ c 1) (+ length 1) block))
                (else (cons (cons length block) (runs (+ c 1) 1 (target c))))))))
(define (minimal states accepting)
  (let loop ((count 0) (blocks accepting))
    (let ((next (divide states blocks)))
      (if (= (car next) count) next (loop (car next) (cdr next))))))

;;; An analyser: rows of blocks, what each block accepts, the first block.
(define-record-type <analyser> (make-analyser rows accepts start) analyser?
  (rows analyser-rows) (accepts analyser-accepts) (start analyser-start))

(define (generate rules)
  (set! next-position 0)
  (let* ((trees (map rule-tree rules))
         (ends (map cdr trees))
         (tree (let join ((ts (map car trees))) (if (null? (cdr ts)) (car ts) (alternative (car ts) (join (cdr ts))))))
         (follow (make-vector next-position '()))
         (leaves (make-vector next-position #f)))
    (fill-follow! tree follow)
    (fill-leaves! tree leaves)
    (let* ((states (automaton (first tree) leaves follow))
           (accepting (list->vector (map (lambda (s) (accepted (state-set s) ends)) states)))
           (minimum (minimal states accepting))
           (count (car minimum))
           (blocks (cdr minimum))
           (rows (make-vector count #f))
           (accepts (make-vector count -1)))
      (for-each (lambda (s)
                  (let ((block (vector-ref blocks (state-number s))))
                    (vector-set! rows block
                                 (vector-map (lambda (t) (if (< t 0) t (vector-ref blocks t))) (state-row s)))
                    (vector-set! accepts block (vector-ref accepting (state-number s)))))
                states)
      (make-analyser rows accepts (vector-ref blocks 0)))))

;; Numbers of the rules that the longest matches from the front belong to.
(define (analyse analyser text)
  (let ((rows (analyser-rows analyser)) (accepts (analyser-accepts analyser)) (end (string-length text)))
    (let next ((from 0) (tokens '()))
      (if (= from end)
          (reverse tokens)
          (let scan ((i from) (state (analyser-start analyser)) (found -1) (found-end from))
            (let* ((t (if (< i end) (vector-ref (vector-ref rows state) (char->integer (string-ref text i))) -1))
                   (accept (if (< t 0) -1 (vector-ref accepts t))))
              (cond ((>= t 0)
                     (if (>= accept 0) (scan (+ i 1) t accept (+ i 1)) (scan (+ i 1) t found found-end)))
                    ((< found 0) (error "no token at" from))
                    (else (next found-end (cons found tokens))))))))))

(define ml-rules
  '("[ \t\n]+" "\\(\\*([^*]|\\*+[^*)])*\\*+\\)"
    "abstype" "and" "andalso" "as" "case" "datatype" "do" "else" "end" "eqtype" "exception" "fn" "fun" "functor"
    "handle" "if" "in" "include" "infix" "infixr" "let" "local" "nonfix" "of" "op" "open" "orelse" "raise" "rec"
    "sharing" "sig" "signature" "struct" "structure" "then" "type" "val" "where" "while" "with" "withtype"
    "[A-Za-z]([A-Za-z0-9_']*)" "'[A-Za-z0-9_']+"
    "~?[0-9]+" "~?0x[0-9a-fA-F]+" "0w[0-9]+" "0wx[0-9a-fA-F]+"
    "~?[0-9]+((\\.[0-9]+)|((\\.[0-9]+)?[eE]~?[0-9]+))"
    "\"([^\"\\\\]|\\\\[ntabvfr\"\\\\]|\\\\[0-9][0-9][0-9]|\\\\^[A-Z])*\"" "#\"([^\"\\\\]|\\\\.)\""
    "\\(" "\\)" "\\[" "\\]" "{" "}" "," ";" "_" "\\.\\.\\."
    "[!%&$#+\\-/:<=>?@\\\\~`^|*]+"))

(define text
  "structure Tree = struct (* binary trees ** of numbers *)
     datatype 'a tree = Leaf | Node of 'a tree * 'a * 'a tree
     fun insert (Leaf, x) = Node (Leaf, x, Leaf)
       | insert (t as Node (l, y, r), x) = if x < y then Node (insert (l, x), y, r)
           else if x > y then Node (l, y, insert (r, x)) else t
     val sum = fn t => let fun go (Leaf, n) = n | go (Node (l, x, r), n) = go (l, go (r, n + x)) in go (t, 0.0e~3) end
     exception Empty of string val word = 0wxFF and hex = ~0x1f val greeting = \"hello,\\n\\065 \\\"world\\\"\" end\n")

(define (main rounds)
  (let loop ((n 1))
    (let* ((analyser (generate ml-rules)) (tokens (analyse analyser text)))
      (if (< n rounds)
          (loop (+ n 1))
          (begin (write (list (vector-length (analyser-rows analyser)) (length tokens) (apply + tokens))) (newline))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 1))
