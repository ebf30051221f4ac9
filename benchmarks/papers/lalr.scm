;;; Lalr: a generator of LALR(1) parsers, which makes the tables for a grammar of an ML-like language and parses with
;;; them. LR(0) states, then lookaheads by propagation (Aho, Sethi and Ullman 1986, algorithms 4.12 and 4.13),
;;; conflicts settled by precedence (section 4.8), rows of the tables packed, as YACC does.
;;;
;;; Sets of symbols are bits of an integer; items are numbers; states are records. Closures of item sets are recursions
;;; over lists, so frames are small and many.
(import (scheme base) (scheme cxr) (scheme write) (scheme process-context))

;; Productions: a left side, and right sides. What has no production is a token. `(prec t)` at the end of a right side
;; gives it the precedence of a token.
(define grammar
  '((program (declarations))
    (declarations () (declarations declaration) (declarations semicolon))
    (declaration (val pattern equals expression) (val rec id equals function)
                 (fun clauses) (datatype type-variables id equals constructors) (exception id of-type)
                 (infix number id) (local declarations in declarations end)
                 (structure id equals structure-expression))
    (structure-expression (struct declarations end) (id))
    (clauses (clause) (clauses bar clause))
    (clause (id atomic-patterns equals expression))
    (atomic-patterns (atomic-pattern) (atomic-patterns atomic-pattern))
    (constructors (constructor) (constructors bar constructor))
    (constructor (id of-type))
    (of-type () (of type))
    (type-variables () (type-variable) (left-paren type-variable-list right-paren))
    (type-variable-list (type-variable) (type-variable-list comma type-variable))
    (type (type arrow type) (tuple-type))
    (tuple-type (type-application) (tuple-type star type-application))
    (type-application (atomic-type) (type-application id))
    (atomic-type (id) (type-variable) (left-paren type right-paren))
    (pattern (atomic-pattern) (id atomic-pattern) (pattern cons pattern) (pattern colon type) (id as pattern))
    (atomic-pattern (id) (number) (string) (wildcard) (left-paren right-paren)
                    (left-paren pattern-list right-paren) (left-bracket right-bracket)
                    (left-bracket pattern-list right-bracket))
    (pattern-list (pattern) (pattern-list comma pattern))
    (expression (infix-expression) (function) (expression colon type) (expression andalso expression)
                (expression orelse expression) (expression handle matches (prec handle))
                (raise expression) (if expression then expression else expression)
                (while expression do expression) (case expression of-word matches))
    (function (fn matches))
    (matches (match) (matches bar match))
    (match (pattern double-arrow expression))
    (infix-expression (application) (infix-expression plus infix-expression) (infix-expression minus infix-expression)
                      (infix-expression star infix-expression) (infix-expression divide infix-expression)
                      (infix-expression less infix-expression) (infix-expression greater infix-expression)
                      (infix-expression equals infix-expression) (infix-expression cons infix-expression)
                      (infix-expression append infix-expression) (infix-expression assign infix-expression)
                      (infix-expression compose infix-expression))
    (application (atomic-expression) (application atomic-expression))
    (atomic-expression (id) (number) (string) (operator op) (left-paren right-paren)
                       (left-paren expression-list right-paren) (left-paren sequence right-paren)
                       (left-bracket right-bracket) (left-bracket expression-list right-bracket)
                       (let declarations in expression end) (let declarations in sequence end)
                       (hash id) (left-brace fields right-brace))
    (sequence (expression semicolon expression) (sequence semicolon expression))
    (expression-list (expression) (expression-list comma expression))
    (fields (id equals expression) (fields comma id equals expression))
    (op (plus) (minus) (star) (divide) (less) (greater) (equals) (cons) (append) (assign) (compose))))

;; From the weakest to the strongest.
(define precedences
  '((right arrow) (right double-arrow) (left bar) (left else do) (left raise) (left handle) (left orelse)
    (left andalso) (left colon) (right as) (left assign compose) (left less greater equals) (right cons append)
    (left plus minus) (left star divide)))

;;; Numbers for symbols: tokens, then nonterminals. Token 0 is the end of the text.
(define nonterminal-names (map car grammar))
(define (distinct l)
  (let loop ((l l) (found '()))
    (cond ((null? l) (reverse found))
          ((memq (car l) found) (loop (cdr l) found))
          (else (loop (cdr l) (cons (car l) found))))))
(define (concatenate ls) (if (null? ls) '() (append (car ls) (concatenate (cdr ls)))))
(define (proper side)
  (cond ((null? side) '()) ((pair? (car side)) '()) (else (cons (car side) (proper (cdr side))))))
(define token-names
  (cons 'end-of-text
        (let keep ((l (distinct (concatenate (map (lambda (g) (concatenate (map proper (cdr g)))) grammar)))))
          (cond ((null? l) '())
                ((memq (car l) nonterminal-names) (keep (cdr l)))
                (else (cons (car l) (keep (cdr l))))))))
(define tokens (length token-names))
(define nonterminals (length nonterminal-names))
(define (index x l) (let loop ((l l) (n 0)) (cond ((null? l) #f) ((eq? (car l) x) n) (else (loop (cdr l) (+ n 1))))))
(define (symbol-number name) (or (index name token-names) (+ tokens (index name nonterminal-names))))
(define (token? s) (< s tokens))

;; Strength and direction of a token; #f.
(define (precedence-of name)
  (let loop ((ps precedences) (n 1))
    (cond ((null? ps) #f)
          ((memq name (cdar ps)) (cons n (caar ps)))
          (else (loop (cdr ps) (+ n 1))))))
(define token-precedences (list->vector (map precedence-of token-names)))

(define-record-type production (make-production left right length precedence) production?
  (left left) (right right) (length right-length) (precedence production-precedence))
(define (side-precedence side)
  (let loop ((side side) (found #f))
    (cond ((null? side) found)
          ((pair? (car side)) (precedence-of (cadar* side)))
          ((precedence-of (car side)) => (lambda (p) (loop (cdr side) p)))
          (else (loop (cdr side) found)))))
(define (cadar* l) (cadr (car l)))
(define productions
  (list->vector
    (cons (make-production (+ tokens nonterminals) (vector (symbol-number 'program)) 1 #f)
          (concatenate
            (map (lambda (group)
                   (map (lambda (side)
                          (let ((symbols (list->vector (map symbol-number (proper side)))))
                            (make-production (symbol-number (car group)) symbols (vector-length symbols)
                                             (side-precedence side))))
                        (cdr group)))
                 grammar)))))
(define production-count (vector-length productions))

;;; Sets as integers.
(define (set-bit set n) (if (odd? (quotient set (expt 2 n))) set (+ set (expt 2 n))))
(define (union a b)
  (cond ((= a 0) b)
        ((= b 0) a)
        (else (let ((ah (quotient a 1048576)) (bh (quotient b 1048576)))
                (+ (* 1048576 (union ah bh)) (union-small (remainder a 1048576) (remainder b 1048576)))))))
(define (union-small a b)
  (cond ((= a 0) b) ((= b 0) a) ((= a b) a)
        (else (+ (* 2 (union-small (quotient a 2) (quotient b 2))) (if (or (odd? a) (odd? b)) 1 0)))))
(define (members set)
  (let loop ((set set) (n 0))
    (cond ((= set 0) '())
          ((odd? set) (cons n (loop (quotient set 2) (+ n 1))))
          (else (loop (quotient set 2) (+ n 1))))))

;;; What may be empty, and first tokens: of nonterminals, until nothing changes.
(define (generate)
  (define nullable (make-vector (+ tokens nonterminals 1) #f))
  (define first (make-vector (+ tokens nonterminals 1) 0))
  (define (each-production f) (let loop ((p 0)) (if (< p production-count) (begin (f p (vector-ref productions p)) (loop (+ p 1))))))
  (define (until-stable step) (let loop () (if (step) (loop))))
  (define (first-of-side side from)
    (cond ((= from (vector-length side)) 0)
          ((vector-ref nullable (vector-ref side from))
           (union (vector-ref first (vector-ref side from)) (first-of-side side (+ from 1))))
          (else (vector-ref first (vector-ref side from)))))
  (define (empty-side? side from)
    (or (= from (vector-length side))
        (and (vector-ref nullable (vector-ref side from)) (empty-side? side (+ from 1)))))
  (let loop ((t 0)) (if (< t tokens) (begin (vector-set! first t (expt 2 t)) (loop (+ t 1)))))
  (until-stable
    (lambda ()
      (let ((changed #f))
        (each-production
          (lambda (n p)
            (if (and (not (vector-ref nullable (left p))) (empty-side? (right p) 0))
                (begin (vector-set! nullable (left p) #t) (set! changed #t)))))
        changed)))
  (until-stable
    (lambda ()
      (let ((changed #f))
        (each-production
          (lambda (n p)
            (let* ((old (vector-ref first (left p))) (new (union old (first-of-side (right p) 0))))
              (if (not (= old new)) (begin (vector-set! first (left p) new) (set! changed #t))))))
        changed)))

  ;; Items: production and place in one number. Productions of each nonterminal as lists.
  (let ((by-left (make-vector (+ tokens nonterminals 1) '())))
    (define (item production dot) (+ (* 16 production) dot))
    (define (item-production i) (vector-ref productions (quotient i 16)))
    (define (item-dot i) (remainder i 16))
    (define (after-dot i)
      (let ((p (item-production i)))
        (and (< (item-dot i) (right-length p)) (vector-ref (right p) (item-dot i)))))
    (define (insert i l) (cond ((null? l) (list i)) ((< i (car l)) (cons i l)) ((= i (car l)) l) (else (cons (car l) (insert i (cdr l))))))

    ;;; States by their kernels. A state is kernel, closure, transitions, lookaheads of the kernel's items.
    (define states (make-vector 1024 #f))
    (define state-count 0)
    (define buckets (make-vector 509 '()))
    (define (hash-kernel k) (let loop ((k k) (h 7)) (if (null? k) h (loop (cdr k) (modulo (+ (* h 31) (car k)) 509)))))
    (define (closure kernel)
      (let ((seen (make-vector nonterminals #f)))
        (define (add-all items done) (if (null? items) done (add-all (cdr items) (add (car items) done))))
        (define (add i done)
          (let ((s (after-dot i)) (done (cons i done)))
            (if (or (not s) (token? s) (vector-ref seen (- s tokens)))
                done
                (begin (vector-set! seen (- s tokens) #t) (add-all (vector-ref by-left s) done)))))
        (reverse (add-all kernel '()))))
    (define (state-for kernel)
      (let* ((h (hash-kernel kernel)) (known (assoc kernel (vector-ref buckets h))))
        (if known
            (cdr known)
            (let ((n state-count))
              (vector-set! buckets h (cons (cons kernel n) (vector-ref buckets h)))
              (vector-set! states n (vector kernel (closure kernel) '() (map (lambda (i) 0) kernel)))
              (set! state-count (+ n 1))
              n))))
    (define (kernel-of n) (vector-ref (vector-ref states n) 0))
    (define (closure-of n) (vector-ref (vector-ref states n) 1))
    (define (transitions-of n) (vector-ref (vector-ref states n) 2))
    (define (lookaheads-of n) (vector-ref (vector-ref states n) 3))
    ;; Kernels by the symbol that leads to them.
    (define (successors items)
      (if (null? items)
          '()
          (let ((s (after-dot (car items))) (rest (successors (cdr items))))
            (if s (add-successor s (+ (car items) 1) rest) rest))))
    (define (add-successor s i table)
      (cond ((null? table) (list (list s i)))
            ((= s (caar table)) (cons (cons s (insert i (cdar table))) (cdr table)))
            (else (cons (car table) (add-successor s i (cdr table))))))

    ;;; Lookaheads: what is generated in a state, and where a state's lookaheads go on. `#` stands for the kernel's own.
    (define own tokens)
    (define (spread n)
      (map (lambda (i) (cons i (closure-with-lookaheads i))) (kernel-of n)))
    ;; The closure of one item with lookahead #: items with sets.
    (define (closure-with-lookaheads i)
      (let ((sets (list (cons i (expt 2 own)))))
        (define (set-of i) (let ((e (assv i sets))) (if e (cdr e) 0)))
        (define (work items)
          (if (pair? items)
              (let* ((i (car items)) (s (after-dot i)))
                (if (or (not s) (token? s))
                    (work (cdr items))
                    (let* ((p (item-production i))
                           (next (+ (item-dot i) 1))
                           (ahead (first-of-side (right p) next))
                           (ahead (if (empty-side? (right p) next) (union ahead (set-of i)) ahead)))
                      (work (add-ahead (vector-ref by-left s) ahead (cdr items))))))))
        (define (add-ahead items ahead queue)
          (if (null? items)
              queue
              (let* ((e (assv (car items) sets)) (old (if e (cdr e) 0)) (new (union old ahead)))
                (cond ((not e) (set! sets (cons (cons (car items) new) sets)))
                      (else (set-cdr! e new)))
                (if (and e (= old new))
                    (add-ahead (cdr items) ahead queue)
                    (cons (car items) (add-ahead (cdr items) ahead queue))))))
        (work (list i))
        sets))
    (define (target n s) (cdr (assv s (transitions-of n))))
    (define (add-lookahead! n i set)
      (let loop ((items (kernel-of n)) (sets (lookaheads-of n)))
        (cond ((null? items) #f)
              ((= (car items) i)
               (let ((new (union (car sets) set)))
                 (and (not (= new (car sets))) (begin (set-car! sets new) #t))))
              (else (loop (cdr items) (cdr sets))))))
    (define (without-own set) (if (>= set (expt 2 own)) (- set (expt 2 own)) set))

    ;;; Actions. Conflicts are settled by precedence, else the shift or the earlier production wins and is counted.
    (define conflicts 0)
    (define (settle token old new)
      (cond ((not old) new)
            ((equal? old new) old)
            ((and (eq? (car old) 'shift) (eq? (car new) 'reduce))
             (let ((of-token (vector-ref token-precedences token))
                   (of-rule (production-precedence (vector-ref productions (cdr new)))))
               (cond ((not (and of-token of-rule)) (set! conflicts (+ conflicts 1)) old)
                     ((> (car of-token) (car of-rule)) old)
                     ((< (car of-token) (car of-rule)) new)
                     ((eq? (cdr of-token) 'left) new)
                     (else old))))
            (else (set! conflicts (+ conflicts 1))
                  (if (and (eq? (car old) 'reduce) (< (cdr old) (cdr new))) old new))))
    (define (row n)
      (let ((actions (make-vector tokens #f)))
        (define (put! token action) (vector-set! actions token (settle token (vector-ref actions token) action)))
        (for-each (lambda (t) (if (token? (car t)) (put! (car t) (cons 'shift (cdr t))))) (transitions-of n))
        (for-each
          (lambda (i set)
            (for-each
              (lambda (e)
                (if (not (after-dot (car e)))
                    (let ((set (if (>= (cdr e) (expt 2 own)) (union (without-own (cdr e)) set) (cdr e)))
                          (p (quotient (car e) 16)))
                      (for-each (lambda (t) (put! t (if (= p 0) '(accept . 0) (cons 'reduce p)))) (members set)))))
              (closure-with-lookaheads i)))
          (kernel-of n) (lookaheads-of n))
        actions))

    ;;; Rows are laid over each other where they do not collide: place of each row in one vector.
    (define (packed rows)
      (define table (make-vector 65536 #f))
      (define (fits? entries at)
        (or (null? entries)
            (and (not (vector-ref table (+ at (caar entries)))) (fits? (cdr entries) at))))
      (define (entries-of row)
        (let loop ((t 0))
          (cond ((= t (vector-length row)) '())
                ((vector-ref row t) (cons (cons t (vector-ref row t)) (loop (+ t 1))))
                (else (loop (+ t 1))))))
      (define (place row)
        (let ((entries (entries-of row)))
          (let loop ((at 0))
            (if (fits? entries at)
                (begin (for-each (lambda (e) (vector-set! table (+ at (car e)) row)) entries) at)
                (loop (+ at 1))))))
      (let ((places (map place rows)))
        (apply max places)))

    (each-production
      (lambda (n p) (vector-set! by-left (left p) (append (vector-ref by-left (left p)) (list (item n 0))))))
    (state-for (list (item 0 0)))
    (let build ((n 0))
      (if (< n state-count)
          (let ((table (map (lambda (e) (cons (car e) (state-for (cdr e)))) (successors (closure-of n)))))
            (vector-set! (vector-ref states n) 2 table)
            (build (+ n 1)))))
    (add-lookahead! 0 (item 0 0) 1)
    (let ((spreads (let loop ((n 0)) (if (= n state-count) '() (let ((s (spread n))) (cons s (loop (+ n 1))))))))
      (until-stable
        (lambda ()
          (let ((changed #f))
            (let each ((n 0) (spreads spreads))
              (if (pair? spreads)
                  (begin
                    (for-each
                      (lambda (entry set)
                        (for-each
                          (lambda (e)
                            (let ((s (after-dot (car e))))
                              (if s
                                  (let ((ahead (if (>= (cdr e) (expt 2 own))
                                                   (union (without-own (cdr e)) set)
                                                   (cdr e))))
                                    (if (add-lookahead! (target n s) (+ (car e) 1) ahead) (set! changed #t))))))
                          (cdr entry)))
                      (car spreads) (lookaheads-of n))
                    (each (+ n 1) (cdr spreads)))))
            changed))))
    (let* ((rows (let loop ((n 0)) (if (= n state-count) '() (let ((r (row n))) (cons r (loop (+ n 1)))))))
           (table (list->vector rows)))
      (vector table (lambda (n s) (target n s)) state-count conflicts (packed rows)))))

;;; The parser: a stack of states, which counts what it reduces.
(define (parse tables text)
  (let ((rows (vector-ref tables 0)) (target (vector-ref tables 1)))
    (let loop ((stack '(0)) (text text) (reductions 0))
      (let ((action (vector-ref (vector-ref rows (car stack)) (if (null? text) 0 (car text)))))
        (cond ((not action) 'error)
              ((eq? (car action) 'shift) (loop (cons (cdr action) stack) (cdr text) reductions))
              ((eq? (car action) 'accept) reductions)
              (else
               (let* ((p (vector-ref productions (cdr action))) (stack (list-tail stack (right-length p))))
                 (loop (cons (target (car stack) (left p)) stack) text (+ reductions 1)))))))))

(define good
  (map symbol-number
       '(datatype type-variable id equals id bar id of type-variable star id semicolon
         fun id id left-paren id comma id right-paren equals if id less number then id else
           id plus id star left-paren id minus number right-paren divide id
         bar id left-bracket right-bracket equals left-bracket number comma string right-bracket
         val rec id equals fn id double-arrow case id of-word number double-arrow id bar wildcard double-arrow
           let val id equals operator plus in id assign id semicolon id end
         local exception id of id arrow id arrow id in structure id equals struct val id equals hash id end end
         val id cons id equals id append id cons id handle id double-arrow raise id andalso id orelse id
         infix number id)))
;; `val` without a pattern.
(define bad (map symbol-number '(val equals id)))

(define (main rounds)
  (let loop ((n 1))
    (let* ((tables (generate)) (result (parse tables good)) (error (parse tables bad)))
      (if (< n rounds)
          (loop (+ n 1))
          (begin
            (write (list (vector-ref tables 2) (vector-ref tables 3) (vector-ref tables 4) result error))
            (newline))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 1))
