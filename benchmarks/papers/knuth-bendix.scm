;;; Knuth-Bendix: completes the axioms of a group, and of the alternating group of degree five given by two
;;; generators, to rewrite rules that decide its word problem (Knuth and Bendix 1970, in the form of Huet 1981:
;;; orient, add, reduce what stands, form critical pairs).
;;;
;;; Failure is an exception: of a match, of a unification, of an orientation. Searches try one thing in a handler and
;;; the rest behind it, so calls in handlers are no tail calls and the stack is deep, as the paper says of the ML
;;; program.
(import (scheme base) (scheme write) (scheme process-context))

;; A term is a variable, which is a number, or an application.
(define-record-type application (apply-operator operator arguments) application?
  (operator operator) (arguments arguments))
(define (term operator . arguments) (apply-operator operator arguments))
(define variable? integer?)

(define-record-type rule (make-rule left right) rule? (left rule-left) (right rule-right))
(define-record-type equation (make-equation left right) equation? (left equation-left) (right equation-right))

(define failure (list 'failure))
(define (fail) (raise failure))
(define-syntax attempt
  (syntax-rules (else)
    ((_ expression else alternative)
     (guard (e ((eq? e failure) alternative)) expression))))

(define (same? a b)
  (cond ((variable? a) (and (variable? b) (= a b)))
        ((variable? b) #f)
        (else (and (eq? (operator a) (operator b)) (same-all? (arguments a) (arguments b))))))
(define (same-all? a b)
  (or (null? a) (and (same? (car a) (car b)) (same-all? (cdr a) (cdr b)))))

(define (occurs? variable t)
  (if (variable? t)
      (= variable t)
      (let loop ((ts (arguments t))) (and (pair? ts) (or (occurs? variable (car ts)) (loop (cdr ts)))))))

(define (size t)
  (if (variable? t) 1 (let loop ((ts (arguments t)) (n 1)) (if (null? ts) n (loop (cdr ts) (+ n (size (car ts))))))))

;; Substitutions are association lists.
(define (substitute s t)
  (if (variable? t)
      (let ((binding (assv t s))) (if binding (cdr binding) t))
      (apply-operator (operator t) (map (lambda (u) (substitute s u)) (arguments t)))))

;; The substitution that makes `pattern` into `t`.
(define (match pattern t)
  (let walk ((pattern pattern) (t t) (s '()))
    (cond ((variable? pattern)
           (let ((binding (assv pattern s)))
             (cond ((not binding) (cons (cons pattern t) s))
                   ((same? (cdr binding) t) s)
                   (else (fail)))))
          ((or (variable? t) (not (eq? (operator pattern) (operator t)))) (fail))
          (else (let loop ((ps (arguments pattern)) (ts (arguments t)) (s s))
                  (if (null? ps) s (loop (cdr ps) (cdr ts) (walk (car ps) (car ts) s))))))))

;; The most general unifier, fully applied.
(define (unify a b)
  (let walk ((a a) (b b) (s '()))
    (let ((a (substitute s a)) (b (substitute s b)))
      (cond ((variable? a)
             (cond ((and (variable? b) (= a b)) s)
                   ((occurs? a b) (fail))
                   (else (extend a b s))))
            ((variable? b) (walk b a s))
            ((not (eq? (operator a) (operator b))) (fail))
            (else (let loop ((as (arguments a)) (bs (arguments b)) (s s))
                    (if (null? as) s (loop (cdr as) (cdr bs) (walk (car as) (car bs) s)))))))))
(define (extend variable t s)
  (let ((one (list (cons variable t))))
    (cons (cons variable t) (map (lambda (binding) (cons (car binding) (substitute one (cdr binding)))) s))))

;; Rewriting: outermost first, then inside, until nothing applies. The rest of the rules is tried behind a handler.
(define (rewrite-top rules t)
  (if (null? rules)
      (fail)
      (attempt (substitute (match (rule-left (car rules)) t) (rule-right (car rules)))
        else (rewrite-top (cdr rules) t))))
(define (rewrite-once rules t)
  (if (variable? t)
      (fail)
      (attempt (rewrite-top rules t)
        else (apply-operator (operator t) (rewrite-one-of rules (arguments t))))))
(define (rewrite-one-of rules ts)
  (if (null? ts)
      (fail)
      (attempt (cons (rewrite-once rules (car ts)) (cdr ts))
        else (cons (car ts) (rewrite-one-of rules (cdr ts))))))
(define (normal-form rules t)
  (attempt (normal-form rules (rewrite-once rules t))
    else t))

;; The lexicographic path order; inverse before product before generators before unit.
(define (rank operator) (case operator ((i) 5) ((*) 4) ((a) 3) ((b) 2) (else 1)))
(define (greater? a b)
  (cond ((variable? a) #f)
        ((variable? b) (occurs? b a))
        (else
         (or (any (lambda (t) (or (same? t b) (greater? t b))) (arguments a))
             (let ((m (rank (operator a))) (n (rank (operator b))))
               (cond ((> m n) (every (lambda (t) (greater? a t)) (arguments b)))
                     ((< m n) #f)
                     (else (and (every (lambda (t) (greater? a t)) (arguments b))
                                (lexicographic? (arguments a) (arguments b))))))))))
(define (lexicographic? as bs)
  (cond ((null? as) #f)
        ((same? (car as) (car bs)) (lexicographic? (cdr as) (cdr bs)))
        (else (greater? (car as) (car bs)))))
(define (any f list) (and (pair? list) (or (f (car list)) (any f (cdr list)))))
(define (every f list) (or (null? list) (and (f (car list)) (every f (cdr list)))))

(define (orient a b)
  (cond ((greater? a b) (make-rule a b))
        ((greater? b a) (make-rule b a))
        (else (fail))))

;; Variables numbered from `start`, in order of appearance.
(define (renamed start r)
  (let* ((s '()) (next start)
         (name! (lambda (t)
                  (let walk ((t t))
                    (cond ((not (variable? t)) (for-each walk (arguments t)))
                          ((not (assv t s)) (set! s (cons (cons t next) s)) (set! next (+ next 1))))))))
    (name! (rule-left r))
    (name! (rule-right r))
    (make-rule (substitute s (rule-left r)) (substitute s (rule-right r)))))

;; Critical pairs: where the left side of `inner`, renamed apart, unifies with a part of the left side of `outer`.
(define (superpose inner outer found)
  (let walk ((t (rule-left outer)) (context (lambda (u) u)) (found found))
    (if (variable? t)
        found
        (let ((found (attempt (let ((s (unify (rule-left inner) t)))
                                (cons (make-equation (substitute s (context (rule-right inner)))
                                                     (substitute s (rule-right outer)))
                                      found))
                       else found)))
          (let loop ((before '()) (ts (arguments t)) (found found))
            (if (null? ts)
                found
                (loop (append before (list (car ts)))
                      (cdr ts)
                      (walk (car ts)
                            (lambda (u) (context (apply-operator (operator t) (append before (cons u (cdr ts))))))
                            found))))))))

(define (critical-pairs new rules found)
  (let ((apart (renamed 1000 new)))
    (let loop ((rules rules) (found (superpose apart new found)))
      (if (null? rules)
          found
          (loop (cdr rules) (superpose apart (car rules) (superpose (renamed 2000 (car rules)) new found)))))))

;; The smallest equation first.
(define (equation-size e) (+ (size (equation-left e)) (size (equation-right e))))
(define (insert e equations)
  (if (or (null? equations) (<= (equation-size e) (equation-size (car equations))))
      (cons e equations)
      (cons (car equations) (insert e (cdr equations)))))
(define (insert-all es equations) (if (null? es) equations (insert-all (cdr es) (insert (car es) equations))))

;; One step a call, each within the handler of the step before: an equation that cannot be oriented is put off.
(define (complete rules equations put-off)
  (if (null? equations)
      (if (null? put-off) rules (fail))
      (let ((a (normal-form rules (equation-left (car equations))))
            (b (normal-form rules (equation-right (car equations)))))
        (if (same? a b)
            (complete rules (cdr equations) put-off)
            (attempt (add-rule (orient a b) rules (cdr equations) put-off)
              else (complete rules (cdr equations) (cons (make-equation a b) put-off)))))))

;; Rules whose left side the new rule reduces become equations again.
(define (add-rule new rules equations put-off)
  (let loop ((rest rules) (kept '()) (equations (insert-all put-off equations)))
    (if (pair? rest)
        (let* ((r (car rest))
               (reduced (attempt (rewrite-once (list new) (rule-left r)) else #f)))
          (if reduced
              (loop (cdr rest) kept (insert (make-equation reduced (rule-right r)) equations))
              (loop (cdr rest) (cons r kept) equations)))
        (let* ((new (renamed 0 new))
               (normal (lambda (r) (make-rule (rule-left r) (normal-form (cons new kept) (rule-right r)))))
               (kept (map normal (reverse kept))))
          (complete (append kept (list new)) (insert-all (critical-pairs new kept '()) equations) '())))))

(define (shown t)
  (if (variable? t)
      (string->symbol (string-append "x" (number->string t)))
      (if (null? (arguments t)) (operator t) (cons (operator t) (map shown (arguments t))))))

(define axioms
  (let ((e (term 'e)))
    (list (make-equation (term '* e 0) 0)
          (make-equation (term '* (term 'i 0) 0) e)
          (make-equation (term '* (term '* 0 1) 2) (term '* 0 (term '* 1 2))))))

;; a^2 = b^3 = (ab)^5 = e.
(define alternating
  (let* ((e (term 'e)) (a (term 'a)) (b (term 'b)) (ab (term '* a b)))
    (append axioms
            (list (make-equation (term '* a a) e)
                  (make-equation (term '* b (term '* b b)) e)
                  (make-equation (term '* ab (term '* ab (term '* ab (term '* ab ab)))) e)))))

(define (completion equations) (complete '() (insert-all equations '()) '()))

;; No rounds: the group alone, a thousandth of the work.
(define (main rounds)
  (let loop ((n 1))
    (let ((group (completion axioms)) (alternating (if (= rounds 0) '() (completion alternating))))
      (if (< n rounds)
          (loop (+ n 1))
          (begin
            (write (list (map (lambda (r) (list (shown (rule-left r)) '-> (shown (rule-right r)))) group)
                         (length alternating)))
            (newline))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 1))
