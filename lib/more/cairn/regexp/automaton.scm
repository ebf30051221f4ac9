;;; The automaton of (cairn regexp): where a match begins and ends.
;;;
;;; A state is what is known behind some character: a list of attempts, the one that began first in front, each a set of
;;; places in the program.  A place where an earlier attempt is too is dropped from a later one, since the earlier one
;;; would win.  A state that is open has an attempt more, which begins with the next character.  Where an attempt
;;; matches, those behind it are dropped, and none begins any more.
;;;
;;;   [a-z]+ing      0 set a-z   1 split 0 2   2 set i   3 set n   4 set g   5 match
;;;     behind "si"  ((0 2 3)), open: the attempts that begin with "i" or behind it are places of the first one
;;;
;;; So the automaton goes once over the text, whatever fails.  That the first of the attempts began here is a mark of a
;;; step between states; where an attempt becomes the first one later on, its beginning is looked for by an automaton of
;;; the reversed pattern, backward from the end of the match, for the longest way (Cox, "Regular Expression Matching in
;;; the Wild", 2010, does so for every match).
;;;
;;; Assertions that ask for the two characters around a place are decided when the second one is known, so a state
;;; holds the places before them, and what kind of character the first one was.  Thus a match ends before the
;;; character that shows it; at the end of the text that is class 0.  Other assertions count as true: the machine goes
;;; over what is found.
;;;
;;; Characters that are in the same sets, and of the same kind for assertions, are of one class.  A table says for each
;;; state and class what comes next, or 0: so the loop of the runtime wants it (crates/cairn-rt/src/scan.rs describes
;;; the table), which stops where something is missing.  Classes, states and steps are made when they are come to.
;;;
;;; A generation is a table and its states.  When it is full a new one begins; who is on its way may end in the old one.
;;; Threads share an automaton: all that is stored is right whoever stored it, and lists by whose length something is
;;; numbered are compared and stored with neither call nor allocation between.

(define-syntax others-at (syntax-rules () ((_) 128)))
(define-syntax ranges-at (syntax-rules () ((_) 384)))
(define-syntax idle-at (syntax-rules () ((_) 393)))
(define-syntax most-ranges (syntax-rules () ((_) 4)))
(define-syntax most-classes (syntax-rules () ((_) 2048)))

(define-syntax step-row (syntax-rules () ((_) #x1000000)))
(define-syntax step-match (syntax-rules () ((_) #x1000000)))
(define-syntax step-start (syntax-rules () ((_) #x4000000)))
(define-syntax step-lost (syntax-rules () ((_) #x8000000)))
(define-syntax step-stop (syntax-rules () ((_) #x10000000)))
(define-syntax step-idle (syntax-rules () ((_) #x20000000)))

;; So many states are in a generation at most, and so many words in its table; so often a new one may begin because the
;; old one was full, before the machine has to do without.
(define-syntax most-states (syntax-rules () ((_) 1000)))
(define-syntax most-words (syntax-rules () ((_) 1000000)))
(define-syntax most-drops (syntax-rules () ((_) 3)))
(define-syntax buckets (syntax-rules () ((_) 61)))

(define-record-type <automaton>
  (new-automaton program backward? sets set-numbers kinds begin ranges classes drops generation open? reverse tracks)
  automaton?
  (program automaton-program)
  ;; does it go backward, by a program of the reversed pattern?
  (backward? automaton-backward?)
  ;; the sets of the program, each once: (predicate bitmap . number); and by place the number of the set
  (sets automaton-sets)
  (set-numbers automaton-set-numbers)
  ;; the kinds of characters that assertions ask for
  (kinds automaton-kinds)
  ;; where an attempt begins
  (begin automaton-begin)
  ;; ((low . high) ...): what a match begins with; '() for anything
  (ranges automaton-ranges)
  ;; the last one first
  (classes automaton-classes set-automaton-classes!)
  (drops automaton-drops set-automaton-drops!)
  (generation automaton-generation set-automaton-generation!)
  ;; does it go once over the text?  If that takes too many states, each place is tried
  (open? goes-once? set-goes-once!)
  ;; #f before it is needed
  (reverse automaton-reverse set-automaton-reverse!)
  ;; #f before they are needed, or after they were no good: 'none
  (tracks automaton-tracks set-automaton-tracks!))

;; A class: in which sets it is, as a bytevector, and its kind.
(define-record-type <class>
  (make-class number members kind)
  class?
  (number class-number)
  (members class-members)
  (kind class-kind))

(define-record-type <generation>
  (make-generation table width states index)
  generation?
  (table generation-table set-generation-table!)
  ;; so many classes a row has room for
  (width generation-width)
  ;; the last one first, and in lists by a hash
  (states generation-states set-generation-states!)
  (index generation-index))

(define-record-type <state>
  (make-state number attempts kind open? row)
  state?
  (number state-number)
  (attempts state-attempts)
  ;; of the character before
  (kind state-kind)
  (open? state-open?)
  (row state-row))

;;;; Making one

(define (make-automaton program backward?)
  (let* ((ops (vector-ref program 0)) (xs (vector-ref program 1)) (ys (vector-ref program 2)) (size (vector-length ops))
         (numbers (make-vector size #f)))
    (let loop ((pc 0) (sets '()) (n 0) (kinds 0))
      (cond
        ((< pc size)
         (let ((op (vector-ref ops pc)))
           (cond
             ((eqv? op (op-set))
              (let ((known (assq (vector-ref ys pc) sets)))
                (vector-set! numbers pc (if known (cddr known) n))
                (if known
                    (loop (+ pc 1) sets n kinds)
                    (loop (+ pc 1) (cons (cons* (vector-ref ys pc) (vector-ref xs pc) n) sets) (+ n 1) kinds))))
             ((and (eqv? op (op-assert)) (vector-ref ys pc))
              (loop (+ pc 1) sets n (bitwise-ior kinds (car (vector-ref ys pc)))))
             (else (loop (+ pc 1) sets n kinds)))))
        (else
         (let ((a (new-automaton program backward? (list->vector (reverse sets)) numbers kinds
                                 (gather program '(0) (make-bytevector size 0))
                                 (if backward? '() (ranges-of program))
                                 (list (make-class 0 (make-bytevector n 0) (bitwise-and kinds (kind-edge))))
                                 0 #f #t #f #f)))
           (set-automaton-generation! a (new-generation a 16))
           a))))))

;; The ranges of characters that a match may begin with, whatever assertions say; '() if there are too many of them, or
;; a match may be empty.  Beyond ASCII it is any, or none.
(define (ranges-of program)
  (let* ((ops (vector-ref program 0)) (xs (vector-ref program 1)) (ys (vector-ref program 2))
         (seen (make-bytevector (vector-length ops) 0)) (first (make-bytevector 129 0)))
    (define (reach! pc)
      (when (eqv? 0 (bytevector-u8-ref seen pc))
        (bytevector-u8-set! seen pc 1)
        (let ((op (vector-ref ops pc)))
          (cond
            ((eqv? op (op-set))
             (let ((bits (vector-ref xs pc)))
               (do ((i 0 (+ i 1))) ((= i 129))
                 (if (eqv? 1 (bytevector-u8-ref bits i)) (bytevector-u8-set! first i 1)))))
            ((eqv? op (op-jump)) (reach! (vector-ref xs pc)))
            ((eqv? op (op-split))
             (reach! (vector-ref xs pc))
             (reach! (vector-ref ys pc)))
            ((eqv? op (op-match)) #f)
            (else (reach! (+ pc 1)))))))
    (reach! 0)
    (if (eqv? 1 (bytevector-u8-ref seen (- (vector-length ops) 1)))
        '()
        (let loop ((i 0) (ranges '()))
          (cond
            ((> i 128) (if (> (length ranges) (most-ranges)) '() ranges))
            ((eqv? 0 (bytevector-u8-ref first i)) (loop (+ i 1) ranges))
            (else
             (let end ((j i))
               (cond ((= j 128) (loop 129 (cons (cons i #x10ffff) ranges)))
                     ((eqv? 1 (bytevector-u8-ref first (+ j 1))) (end (+ j 1)))
                     (else (loop (+ j 1) (cons (cons i j) ranges)))))))))))

(define (make-table words)
  (%numeric-make (%numeric-named "u32") words 0 "regexp"))

(define (new-generation a width)
  (let ((table (make-table (+ (idle-at) width (* 8 width)))) (ranges (automaton-ranges a)))
    (u32vector-set! table (ranges-at) (length ranges))
    (let loop ((l ranges) (i (+ 1 (ranges-at))))
      (when (pair? l)
        (u32vector-set! table i (caar l))
        (u32vector-set! table (+ i 1) (- (cdar l) (caar l)))
        (loop (cdr l) (+ i 2))))
    (make-generation table width '() (make-vector (buckets) '()))))

;; A new generation after `old`, of the same width if that was full of states; #f if there have been too many.  If
;; another thread has begun one already, that one.
(define (next-generation a old width)
  (let ((now (automaton-generation a)))
    (cond
      ((and (not (eq? now old)) (>= (generation-width now) width)) now)
      (else
       (if (= width (generation-width old)) (set-automaton-drops! a (+ 1 (automaton-drops a))))
       (and (<= (automaton-drops a) (most-drops))
            (let ((new (new-generation a width)))
              (set-automaton-generation! a new)
              new))))))

;;;; Classes

;; Stores the class of a character in a table; #f if its rows have no room for it.
(define (classify! a table width c)
  (let* ((sets (automaton-sets a)) (n (char->integer c)) (members (make-bytevector (vector-length sets) 0))
         (kind (if (eqv? 0 (automaton-kinds a)) 0 (bitwise-and (automaton-kinds a) (kind-of c)))))
    (do ((i 0 (+ i 1))) ((= i (vector-length sets)))
      (if (if (< n 128)
              (eqv? 1 (bytevector-u8-ref (cadr (vector-ref sets i)) n))
              ((car (vector-ref sets i)) c))
          (bytevector-u8-set! members i 1)))
    (let ((number (class-number (class-of! a members kind))))
      (and (< number width)
           (begin
             (if (< n 128)
                 (u32vector-set! table n number)
                 (u32vector-set! table (+ (others-at) (bitwise-and n 255)) (+ (* n (most-classes)) number)))
             #t)))))

(define (class-of! a members kind)
  (let ((classes (automaton-classes a)))
    ;; class 0 is not a character's
    (let find ((l classes))
      (cond
        ((null? (cdr l))
         (let* ((new (make-class (+ 1 (class-number (car classes))) members kind)) (longer (cons new classes)))
           (if (eq? classes (automaton-classes a))
               (begin
                 (set-automaton-classes! a longer)
                 new)
               (class-of! a members kind))))
        ((and (eqv? kind (class-kind (car l))) (equal? members (class-members (car l)))) (car l))
        (else (find (cdr l)))))))

(define (numbered-class a n)
  (let find ((l (automaton-classes a)))
    (if (eqv? n (class-number (car l))) (car l) (find (cdr l)))))

;;;; States and steps

;; The places that take a character, end a match or wait for an assertion, to which these lead, ascending; without those
;; that are marked as seen, which these then are too.
(define (gather program places seen)
  (let* ((ops (vector-ref program 0)) (xs (vector-ref program 1)) (ys (vector-ref program 2)))
    (define (walk pc found)
      (if (eqv? 1 (bytevector-u8-ref seen pc))
          found
          (let ((op (vector-ref ops pc)))
            (bytevector-u8-set! seen pc 1)
            (cond
              ((eqv? op (op-jump)) (walk (vector-ref xs pc) found))
              ((eqv? op (op-split)) (walk (vector-ref ys pc) (walk (vector-ref xs pc) found)))
              ((or (eqv? op (op-save)) (and (eqv? op (op-assert)) (not (vector-ref ys pc)))) (walk (+ pc 1) found))
              (else (insert pc found))))))
    (let loop ((l places) (found '()))
      (if (null? l) found (loop (cdr l) (walk (car l) found))))))
(define (insert x l)
  (if (or (null? l) (< x (car l))) (cons x l) (cons (car l) (insert x (cdr l)))))

;; Those of the places, and of those behind assertions that hold between two kinds of characters, that take a character
;; or end a match.
(define (resolve a places left right seen)
  (let* ((program (automaton-program a)) (ops (vector-ref program 0)) (ys (vector-ref program 2)))
    (let loop ((l places) (found '()))
      (cond
        ((null? l) found)
        ((eqv? (vector-ref ops (car l)) (op-assert))
         (loop (cdr l)
               (if ((cdr (vector-ref ys (car l))) left right)
                   (loop (gather program (list (+ (car l) 1)) seen) found)
                   found)))
        (else (loop (cdr l) (cons (car l) found)))))))

;; The state of these attempts, an old one if there is one; #f if the generation is full.
(define (state-of! g attempts kind open?)
  (let* ((hash (let loop ((l attempts) (h (+ kind (if open? 100 0))))
                 (if (null? l)
                     (modulo h (buckets))
                     (let places ((p (car l)) (h (modulo (+ (* 31 h) 7) 1000003)))
                       (if (null? p)
                           (loop (cdr l) h)
                           (places (cdr p) (modulo (+ (* 31 h) (car p)) 1000003)))))))
         (index (generation-index g)))
    (let find ((l (vector-ref index hash)))
      (cond
        ((pair? l)
         (if (and (eqv? kind (state-kind (car l))) (eq? open? (state-open? (car l)))
                  (equal? attempts (state-attempts (car l))))
             (car l)
             (find (cdr l))))
        (else
         (let* ((states (generation-states g)) (number (if (null? states) 0 (+ 1 (state-number (car states)))))
                (row (row-of g number)))
           (cond
             ((or (>= number (most-states)) (> (+ row (generation-width g)) (most-words))) #f)
             (else
              (make-room! g (+ row (generation-width g)))
              (let* ((new (make-state number attempts kind open? row)) (longer (cons new states)))
                (if (eq? states (generation-states g))
                    (begin
                      (set-generation-states! g longer)
                      (vector-set! index hash (cons new (vector-ref index hash)))
                      new)
                    (state-of! g attempts kind open?)))))))))))

(define (row-of g number) (+ (idle-at) (* (generation-width g) (+ number 1))))
(define (state-at g row)
  (let find ((l (generation-states g)))
    (if (= row (state-row (car l))) (car l) (find (cdr l)))))

;; Sees to it that the table has so many words.
(define (make-room! g words)
  (let* ((old (generation-table g)) (length (u32vector-length old)))
    (when (< length words)
      (let ((new (make-table (* 2 length))))
        (do ((i 0 (+ i 1))) ((= i length))
          (u32vector-set! new i (u32vector-ref old i)))
        (if (eq? old (generation-table g)) (set-generation-table! g new)))
      (make-room! g words))))

;; Stores what comes next in a state by a class; #f if the generation is full.
(define (step! a g state class)
  (let* ((program (automaton-program a)) (ops (vector-ref program 0)) (size (vector-length ops))
         (numbers (automaton-set-numbers a)) (members (class-members class))
         (before (make-bytevector size 0)) (behind (make-bytevector size 0))
         (left (if (automaton-backward? a) (class-kind class) (state-kind state)))
         (right (if (automaton-backward? a) (state-kind state) (class-kind class))))
    (define (moved places)
      (gather program
              (let loop ((l places) (taken '()))
                (cond ((null? l) taken)
                      ((and (vector-ref numbers (car l))
                            (eqv? 1 (bytevector-u8-ref members (vector-ref numbers (car l)))))
                       (loop (cdr l) (cons (+ 1 (car l)) taken)))
                      (else (loop (cdr l) taken))))
              behind))
    ;; `next`: attempts, the last one first, and which one was the first of them
    (define (store! next origin match open?)
      (let ((flags (+ (* match (step-match))
                      (case origin ((here) (step-start)) ((other) (step-lost)) (else 0)))))
        (define (put! step)
          (u32vector-set! (generation-table g) (+ (state-row state) (class-number class)) step)
          #t)
        (cond
          ((or (eqv? 0 (class-number class)) (and (null? next) (not open?))) (put! (+ flags (step-stop))))
          ((state-of! g (reverse next) (class-kind class) open?)
           => (lambda (new)
                (put! (+ flags (state-row new)
                         (if (and open? (null? next) (pair? (automaton-ranges a))) (step-idle) 0)))))
          (else #f))))
    (let loop ((l (state-attempts state)) (which 'first) (next '()) (origin #f))
      (let* ((last? (null? l)) (which (if last? 'here which)))
        (if (and last? (not (state-open? state)))
            (store! next origin 0 #f)
            (let* ((reached (resolve a (if last? (automaton-begin a) (car l)) left right before))
                   (places (moved reached))
                   (next (if (null? places) next (cons places next)))
                   (origin (or origin (and (pair? places) which))))
              (cond
                ((memv (- size 1) reached)
                 (store! next origin (case which ((first) 1) ((other) 2) (else 3)) #f))
                (last? (store! next origin 0 #t))
                (else (loop (cdr l) 'other next origin)))))))))

;; Stores the state between matches behind a character of this class; #f if the generation is full.
(define (idle! a g class)
  (let ((state (state-of! g '() (class-kind class) #t)))
    (and state
         (begin
           (u32vector-set! (generation-table g) (+ (idle-at) (class-number class)) (state-row state))
           #t))))

;;;; Going over a string

;; The registers of the loop: the search begins at `at`, and all around of low..high is nothing.
(define-syntax registers
  (syntax-rules () ((_ at limit low high) (vector at limit 0 at -1 -1 low high 0))))
(define-syntax now-at (syntax-rules () ((_ now) (vector-ref now 0))))
(define-syntax now-row (syntax-rules () ((_ now) (vector-ref now 2))))
(define-syntax set-now-row! (syntax-rules () ((_ now row) (vector-set! now 2 row))))
(define-syntax now-end (syntax-rules () ((_ now) (vector-ref now 4))))
(define-syntax now-from (syntax-rules () ((_ now) (vector-ref now 5))))
(define-syntax now-what (syntax-rules () ((_ now) (vector-ref now 8))))

;; Goes from where the registers say to the end of the match, with a generation.  #f if the automaton is no good.
(define (scan! a g s now)
  (or (eqv? (%string-scan s (generation-table g) now (automaton-backward? a)) 0)
      (scan-on! a g s now)))
(define (scan-on! a g s now)
  (let again ((g g))
    ;; goes on with a new generation
    (define (renewed width)
      (let ((new (next-generation a g width)) (row (now-row now)))
        (cond
          ((not new) #f)
          ;; between matches
          ((eqv? row 0) (again new))
          (else
           (let* ((old (state-at g row))
                  (state (state-of! new (state-attempts old) (state-kind old) (state-open? old))))
             (and state
                  (begin
                    (set-now-row! now (state-row state))
                    (again new))))))))
    (let ((reason (%string-scan s (generation-table g) now (automaton-backward? a))) (what (now-what now)))
      (case reason
        ((0) #t)
        ((1) (if (step! a g (state-at g (now-row now)) (numbered-class a what))
                 (again g)
                 (renewed (generation-width g))))
        ((2) (cond ((classify! a (generation-table g) (generation-width g) (integer->char what)) (again g))
                   ((>= (* 2 (generation-width g)) (most-classes)) #f)
                   (else (renewed (* 2 (generation-width g))))))
        ((3) (if (idle! a g (numbered-class a what))
                 (again g)
                 (renewed (generation-width g))))
        ;; so long that it paused
        (else (again g))))))

;; As `scan!`, for a match that begins where the registers say.
(define (scan-from! a s now low high)
  (let* ((i (now-at now)) (kinds (automaton-kinds a)) (backward? (automaton-backward? a))
         (kind (cond ((eqv? kinds 0) 0)
                     ((= i (if backward? high low)) (bitwise-and kinds (kind-edge)))
                     (else (bitwise-and kinds (kind-of (string-ref s (if backward? i (- i 1)))))))))
    (let again ((g (automaton-generation a)))
      (let ((state (state-of! g (list (automaton-begin a)) kind #f)))
        (cond
          (state
           (set-now-row! now (state-row state))
           (scan! a g s now))
          ((next-generation a g (generation-width g)) => again)
          (else #f))))))

;; Goes to the end of the first match from i on, where the registers are.  #f if the automaton is no good for this.
(define (search! a s now i low high)
  (or (and (goes-once? a) (scan! a (automaton-generation a) s now))
      (begin
        (when (goes-once? a)
          (set-goes-once! a #f)
          (set-automaton-drops! a 0))
        (try-each! a s now i low high))))

;; The same from i on, by an attempt at each place, as long as these take time that is linear in the text.
(define (try-each! a s now i low high)
  (let try ((from i) (work 0))
    (vector-set! now 0 from)
    (vector-set! now 3 from)
    (vector-set! now 4 -1)
    (vector-set! now 5 -1)
    (and (scan-from! a s now low high)
         (or (>= (now-end now) 0)
             (= from (vector-ref now 1))
             (let ((work (+ work (- (now-at now) from))))
               (and (<= work (+ 4096 (* 8 (- from i)))) (try (+ from 1) work)))))))

;; Where the longest match begins that ends at `to`, not before i, by an automaton that goes backward; #f if that is no
;; good.
(define (scan-back! a s i to low high)
  (let ((now (registers to i low high)))
    (and (scan-from! a s now low high) (now-end now))))

;; Is this a macro transformer?  There the loops of the runtime are not to be had.  5: see (cairn syntax-case).
(define (expanding?) (and (%syntax-host 5 #f #f) #t))

;; The places of the best match, or #f: see `machine`.
(define (run r s i limit start end anchored? whole?)
  (let ((a (or (automaton-of r)
               (let ((a (if (expanding?) 'none (make-automaton (program-of r) #f))))
                 (set-automaton! r a)
                 a))))
    (if (eq? a 'none)
        (machine r s i limit start end anchored? whole?)
        (let ((exact? (and (is-greedy? r) (not (has-asserts? r)))))
          (let search ((i i) (tries 0))
            (let ((now (registers i limit start end)))
              (cond
                ((not (if anchored?
                          (scan-from! a s now start end)
                          (search! a s now i start end)))
                 (if (> (automaton-drops a) (most-drops)) (set-automaton! r 'none))
                 (machine r s i limit start end anchored? whole?))
                ((or (< (now-end now) 0) (and whole? (not (= (now-end now) limit)))) #f)
                (else
                 (let* ((to (now-end now))
                        (from (cond (anchored? i)
                                    ((>= (now-from now) 0) (now-from now))
                                    ((scan-back! (reversed-automaton r a) s i to start end))
                                    (else (vector-ref (machine r s i to start end #f #t) 0)))))
                   (cond
                     (exact? (submatches r a s from to start end))
                     ;; an assertion may not hold, and the preferred match may end elsewhere
                     ((machine r s from limit start end #t whole?))
                     ((or anchored? (>= from limit)) #f)
                     ((> tries 32) (machine r s (+ from 1) limit start end #f whole?))
                     (else (search (+ from 1) (+ tries 1)))))))))))))

(define (reversed-automaton r a)
  (or (automaton-reverse a)
      (let ((b (make-automaton (program-for (reversed (node-of r))) #t)))
        (set-automaton-reverse! a b)
        b)))
