;;; (srfi 115): regular expressions as lists; also as (scheme regex).
;;;
;;; An expression becomes a tree, the tree a program of an abstract machine that follows all ways at once (Thompson
;;; 1968, Pike; see Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009).  So a search takes time
;;; that is linear in the string, times the size of the expression, whatever these are.
;;;
;;;   (: ($ (* "ab")) "c")     0 save 2     1 split 2 5     2 char a     3 char b     4 jump 1
;;;                            5 save 3     6 char c        7 match
;;;
;;; The machine has a list of threads, the preferred one first: a place in the program, and where submatches begin and
;;; end.  A thread whose place another one has reached in the same step is dropped.  The leftmost match wins, of these
;;; the longest one, of these the one of the preferred thread.  If a pattern is not greedy the preferred thread wins.
;;;
;;; That machine is for submatches and assertions.  Where a match begins and ends says a deterministic automaton first,
;;; whose states, sets of places in the program, are made when they are come to (Thompson 1968; Cox, "Regular Expression
;;; Matching Can Be Simple And Fast", 2007).  Should that take more time than the machine would, the machine goes on.
;;;
;;; Back-references are not there.  A boundary of graphemes is found by the rules of UAX #29 for controls, Hangul, flags
;;; and extending characters, where everything counts as extending that is beyond ASCII and neither letter, digit,
;;; punctuation, symbol, space nor control character.
(define-library (srfi 115)
  (export
   regexp rx regexp? valid-sre? regexp->sre char-set->sre regexp-matches regexp-matches? regexp-search regexp-fold
   regexp-extract regexp-split regexp-partition regexp-replace regexp-replace-all
   regexp-match? regexp-match-count regexp-match-submatch regexp-match-submatch-start regexp-match-submatch-end
   regexp-match->list)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme cxr)
          (only (srfi 1) any append-map every filter last-pair take) (only (srfi 133) vector-index)
          (only (srfi 14) char-set? char-set-contains? char-set->list char-set:title-case char-set:punctuation
                char-set:symbol char-set:iso-control)
          (only (cairn control) out-of-range wrong-type) (only (cairn records) show-fields!)
          (only (cairn primitives) %fx< %fx+ %string-ref %char->integer %vector-ref %vector-set! %eq? %not))
  (begin

    (define-record-type <regexp>
      (make-regexp sre program size first greedy? submatches names asserts? automaton)
      regexp?
      (sre regexp->sre)
      ;; three vectors: operations and two operands
      (program program-of)
      (size program-size)
      ;; the instructions that a match begins with, or #f if not all of them take a character
      (first first-of)
      (greedy? is-greedy?)
      (submatches submatches-of)
      ;; list of (name number ...)
      (names names-of)
      ;; are there assertions?
      (asserts? has-asserts?)
      ;; #f before it is needed, or after it was no good: 'none
      (automaton automaton-of set-automaton!))
    (show-fields! <regexp> '(sre))

    (define-record-type <match>
      (make-match string places names)
      regexp-match?
      (string match-string)
      ;; beginning and end of each submatch, those of the whole first
      (places match-places)
      (names match-names))
    (show-fields! <match> '(places))

    (define (not-sre x) (error "not a regular expression:" x))

    ;;;; From expressions to trees
    ;;
    ;; #(set pred)   (seq node ...)   (alt node ...)   (repeat from to greedy? node)   (submatch number node)
    ;; (assert proc)   (look ahead? wanted? node)
    ;; `to` is #f for any number.  A set is a predicate of characters.

    (define (set pred) (vector 'set pred))
    (define (set? node) (vector? node))
    (define (set-pred node) (vector-ref node 1))

    ;; What parsing needs to know and find out.
    (define-record-type <parse>
      (make-parse submatches names greedy?)
      parse?
      (submatches parse-submatches set-parse-submatches!)
      (names parse-names set-parse-names!)
      (greedy? parse-greedy? set-parse-greedy?!))

    ;; The context: is case looked at, is the alphabet ASCII, do submatches count?
    (define-record-type <context>
      (make-context case? ascii? capture?)
      context?
      (case? context-case?)
      (ascii? context-ascii?)
      (capture? context-capture?))

    (define (ascii? c) (char<? c #\x80))

    ;; The set of a predicate in a context.
    (define (set-in context pred)
      (let ((pred (if (context-case? context)
                      pred
                      (lambda (c) (or (pred c) (pred (char-downcase c)) (pred (char-upcase c)))))))
        (set (if (context-ascii? context)
                 (lambda (c) (and (ascii? c) (pred c)))
                 pred))))
    (define (one context c)
      (if (and (context-case? context) (not (context-ascii? context)))
          (set (lambda (x) (char=? x c)))
          (let ((folded (char-foldcase c)))
            (set-in context (lambda (x) (or (char=? x c) (char=? x folded)))))))

    (define (in-string? s)
      (let ((l (string->list s)))
        (lambda (c) (memv c l))))
    (define (char-between? from to) (lambda (c) (char<=? from c to)))
    (define (alphanumeric? c) (or (char-alphabetic? c) (char-numeric? c)))
    (define ascii-punctuation? (in-string? "!\"#%&'()*,-./:;?@[\\]_{}"))
    (define ascii-symbol? (in-string? "$+<=>^`|~"))
    (define (punctuation? c) (if (ascii? c) (ascii-punctuation? c) (char-set-contains? char-set:punctuation c)))
    (define (symbolic? c) (if (ascii? c) (ascii-symbol? c) (char-set-contains? char-set:symbol c)))
    (define (graphic? c) (or (alphanumeric? c) (punctuation? c) (symbolic? c)))
    (define (control? c) (char-set-contains? char-set:iso-control c))
    (define (hex-digit? c) (and (ascii? c) (digit-value-16 c)))
    (define (digit-value-16 c) (or (char-numeric? c) (char<=? #\a (char-downcase c) #\f)))
    (define (word-character? c) (or (alphanumeric? c) (char=? c #\_)))

    (define (named-set name)
      (case name
        ((any) (lambda (c) #t))
        ((nonl) (lambda (c) (not (or (char=? c #\newline) (char=? c #\return)))))
        ((ascii) ascii?)
        ((lower-case lower) char-lower-case?)
        ((upper-case upper) char-upper-case?)
        ((title-case title) (lambda (c) (char-set-contains? char-set:title-case c)))
        ((alphabetic alpha) char-alphabetic?)
        ((numeric num digit) char-numeric?)
        ((alphanumeric alphanum alnum) alphanumeric?)
        ((punctuation punct) punctuation?)
        ((symbol) symbolic?)
        ((graphic graph) graphic?)
        ((whitespace white space) char-whitespace?)
        ((printing print) (lambda (c) (or (graphic? c) (char-whitespace? c))))
        ((control cntrl) control?)
        ((hex-digit xdigit) hex-digit?)
        (else #f)))

    ;; The predicate of the ranges of (/ spec ...).
    (define (ranges specs)
      (let loop ((l (append-map (lambda (x)
                                  (cond ((char? x) (list x))
                                        ((string? x) (string->list x))
                                        (else (not-sre x))))
                                specs))
                 (preds '()))
        (cond ((null? l) (any-of preds))
              ((null? (cdr l)) (not-sre specs))
              (else (loop (cddr l) (cons (char-between? (car l) (cadr l)) preds))))))

    (define (any-of preds)
      (lambda (c)
        (let loop ((l preds))
          (and (pair? l) (or ((car l) c) (loop (cdr l)))))))
    (define (all-of preds)
      (lambda (c)
        (let loop ((l preds))
          (or (null? l) (and ((car l) c) (loop (cdr l)))))))

    (define (parse x p context)
      (define (sub l context) (sequence (map (lambda (x) (parse x p context)) l)))
      (define (here l) (sub l context))
      ;; predicates of sets
      (define (preds l)
        (map (lambda (x)
               (let ((node (parse x p context)))
                 (if (set? node) (set-pred node) (not-sre x))))
             l))
      (define (repeat from to greedy? l)
        (if (not greedy?) (set-parse-greedy?! p #f))
        (if (not (and (exact-integer? from) (<= 0 from)
                      (or (not to) (and (exact-integer? to) (<= from to)))))
            (not-sre x))
        (list 'repeat from to greedy? (here l)))
      (define (submatch name l)
        (if (context-capture? context)
            (let ((number (+ (parse-submatches p) 1)))
              (set-parse-submatches! p number)
              (when name
                (let ((known (assq name (parse-names p))))
                  (if known
                      (set-cdr! (last-pair known) (list number))
                      (set-parse-names! p (cons (list name number) (parse-names p))))))
              (list 'submatch number (here l)))
            (here l)))
      (define (alternatives l)
        (let ((nodes (map (lambda (x) (parse x p context)) l)))
          (if (every set? nodes)
              (set (any-of (map set-pred nodes)))
              (cons 'alt nodes))))
      (define (word-assert ok?) (list 'assert (ok? context)))
      (cond
        ((char? x) (one context x))
        ((string? x)
         (sequence (map (lambda (c) (one context c)) (string->list x))))
        ((char-set? x) (set-in context (lambda (c) (char-set-contains? x c))))
        ((symbol? x)
         (case x
           ((bos) (list 'assert (lambda (s i start end) (= i start))))
           ((eos) (list 'assert (lambda (s i start end) (= i end))))
           ((bol) (list 'assert bol?))
           ((eol) (list 'assert eol?))
           ((bow) (word-assert bow?))
           ((eow) (word-assert eow?))
           ((nwb) (word-assert nwb?))
           ((word) (parse '(word+ any) p context))
           ((bog eog) (list 'assert (if (context-ascii? context) (lambda (s i start end) #t) grapheme-boundary?)))
           ((grapheme)
            (if (context-ascii? context)
                (parse 'any p context)
                (let ((any (set (lambda (c) #t)))
                      (inside (lambda (s i start end) (not (grapheme-boundary? s i start end)))))
                  (list 'seq any
                        (list 'repeat 0 #f #t (list 'seq (list 'assert inside) any))
                        (list 'assert grapheme-boundary?)))))
           (else
            (let ((pred (named-set x)))
              (if pred (set-in context pred) (not-sre x))))))
        ((not (and (pair? x) (list? x))) (not-sre x))
        ((string? (car x)) (parse (cons 'char-set x) p context))
        (else
         (case (car x)
           ((seq :) (here (cdr x)))
           ((or |\||) (alternatives (cdr x)))
           ((* zero-or-more) (repeat 0 #f #t (cdr x)))
           ((+ one-or-more) (repeat 1 #f #t (cdr x)))
           ((? optional) (repeat 0 1 #t (cdr x)))
           ((*? non-greedy-zero-or-more) (repeat 0 #f #f (cdr x)))
           ((?? non-greedy-optional) (repeat 0 1 #f (cdr x)))
           ((= exactly) (repeat (argument x 1) (argument x 1) #t (cddr x)))
           ((>= at-least) (repeat (argument x 1) #f #t (cddr x)))
           ((** repeated) (repeat (argument x 1) (argument x 2) #t (cdddr x)))
           ((**? non-greedy-repeated) (repeat (argument x 1) (argument x 2) #f (cdddr x)))
           (($ submatch) (submatch #f (cdr x)))
           ((-> submatch-named) (submatch (argument x 1) (cddr x)))
           ((w/case) (sub (cdr x) (make-context #t (context-ascii? context) (context-capture? context))))
           ((w/nocase) (sub (cdr x) (make-context #f (context-ascii? context) (context-capture? context))))
           ((w/unicode) (sub (cdr x) (make-context (context-case? context) #f (context-capture? context))))
           ((w/ascii) (sub (cdr x) (make-context (context-case? context) #t (context-capture? context))))
           ((w/nocapture) (sub (cdr x) (make-context (context-case? context) (context-ascii? context) #f)))
           ((char-set)
            (if (not (string? (argument x 1))) (not-sre x))
            (set-in context (in-string? (cadr x))))
           ((/ char-range) (set-in context (ranges (cdr x))))
           ((and &) (set-in context (all-of (preds (cdr x)))))
           ((- difference)
            (let ((l (preds (cdr x))))
              (if (null? l) (not-sre x))
              (let ((in? (car l)) (out? (any-of (cdr l))))
                (set-in context (lambda (c) (and (in? c) (not (out? c))))))))
           ((~ complement)
            (let ((out? (any-of (preds (cdr x)))))
              (set (if (context-ascii? context)
                       (lambda (c) (and (ascii? c) (not (out? c))))
                       (lambda (c) (not (out? c)))))))
           ((word) (here (append '(bow) (cdr x) '(eow))))
           ((word+) (here `(bow (+ (and (or alphanumeric "_") (or ,@(cdr x)))) eow)))
           ((look-ahead) (list 'look #t #t (here (cdr x))))
           ((neg-look-ahead) (list 'look #t #f (here (cdr x))))
           ((look-behind) (list 'look #f #t (here (cdr x))))
           ((neg-look-behind) (list 'look #f #f (here (cdr x))))
           (else (not-sre x))))))

    (define (argument x n)
      (if (> (length x) n) (list-ref x n) (not-sre x)))

    (define (sequence nodes)
      (if (and (pair? nodes) (null? (cdr nodes))) (car nodes) (cons 'seq nodes)))

    ;;;; Assertions: of the string, the place, and the range in which is searched

    (define (newline? c) (or (char=? c #\newline) (char=? c #\return)))
    (define (bol? s i start end)
      (or (= i start)
          (let ((before (string-ref s (- i 1))))
            (and (newline? before)
                 (not (and (char=? before #\return) (< i end) (char=? (string-ref s i) #\newline)))))))
    (define (eol? s i start end)
      (or (= i end)
          (let ((after (string-ref s i)))
            (and (newline? after)
                 (not (and (char=? after #\newline) (< start i) (char=? (string-ref s (- i 1)) #\return)))))))

    (define (word-character-in context)
      (if (context-ascii? context) (lambda (c) (and (ascii? c) (word-character? c))) word-character?))
    ;; Is there a word before and behind the place?
    (define (at-word context ok?)
      (let ((word? (word-character-in context)))
        (lambda (s i start end)
          (ok? (and (> i start) (word? (string-ref s (- i 1)))) (and (< i end) (word? (string-ref s i)))))))
    (define (bow? context) (at-word context (lambda (before after) (and (not before) after))))
    (define (eow? context) (at-word context (lambda (before after) (and before (not after)))))
    (define (nwb? context) (at-word context (lambda (before after) (eq? (not before) (not after)))))

    (define (extends? c)
      (let ((n (char->integer c)))
        (and (>= n #x300) (not (graphic? c)) (not (char-whitespace? c)) (not (control? c)))))
    (define (flag? c) (char<=? #\x1f1e6 c #\x1f1ff))
    ;; What kind of Hangul a character is: l, v, t, lv, lvt; or #f.
    (define (hangul c)
      (let ((n (char->integer c)))
        (cond ((<= #x1100 n #x115f) 'l)
              ((<= #x1160 n #x11a7) 'v)
              ((<= #x11a8 n #x11ff) 't)
              ((<= #xac00 n #xd7a3) (if (= 0 (modulo (- n #xac00) 28)) 'lv 'lvt))
              (else #f))))
    (define (grapheme-boundary? s i start end)
      (or (= i start) (= i end)
          (let* ((a (string-ref s (- i 1))) (b (string-ref s i)) (kind (hangul a)))
            (not
             (cond
               ((and (char=? a #\return) (char=? b #\newline)) #t)
               ((or (control? a) (control? b)) #f)
               ((extends? b) #t)
               ((eq? kind 'l) (memq (hangul b) '(l v lv lvt)))
               ((memq kind '(v lv)) (memq (hangul b) '(v t)))
               ((memq kind '(t lvt)) (eq? (hangul b) 't))
               ;; an even number of flags before this one ends a pair
               ((and (flag? a) (flag? b))
                (let loop ((j (- i 1)) (n 0))
                  (if (and (>= j start) (flag? (string-ref s j)))
                      (loop (- j 1) (+ n 1))
                      (odd? n))))
               (else #f))))))

    ;;;; From trees to programs

    (define-syntax op-set (syntax-rules () ((_) 0)))
    (define-syntax op-split (syntax-rules () ((_) 1)))
    (define-syntax op-jump (syntax-rules () ((_) 2)))
    (define-syntax op-save (syntax-rules () ((_) 3)))
    (define-syntax op-assert (syntax-rules () ((_) 4)))
    (define-syntax op-match (syntax-rules () ((_) 5)))

    ;; Instructions, each a vector of operation and two operands, in order; `match` ends them.
    (define (instructions node)
      (let ((code '()) (n 0))
        (define (emit! op x y)
          (let ((instruction (vector op x y)))
            (set! code (cons instruction code))
            (set! n (+ n 1))
            instruction))
        (define (put! node)
          (if (set? node)
              (emit! (op-set) (bitmap (set-pred node)) (set-pred node))
              (case (car node)
                ((seq) (for-each put! (cdr node)))
                ((alt) (put-alternatives! (cdr node)))
                ((repeat) (apply put-repeat! (cdr node)))
                ((submatch)
                 (emit! (op-save) (* 2 (cadr node)) #f)
                 (put! (caddr node))
                 (emit! (op-save) (+ 1 (* 2 (cadr node))) #f))
                ((assert) (emit! (op-assert) (cadr node) #f))
                ((look) (emit! (op-assert) (apply looker (cdr node)) #f)))))
        ;; (branch! greedy? proc): a split between the code that `proc` puts and what comes behind it.
        (define (branch! greedy? proc)
          (let ((split (emit! (op-split) #f #f)) (inside n))
            (proc)
            (vector-set! split 1 (if greedy? inside n))
            (vector-set! split 2 (if greedy? n inside))))
        (define (put-alternatives! nodes)
          (cond
            ((null? nodes) (emit! (op-set) (make-bytevector 128 0) (lambda (c) #f)))
            ((null? (cdr nodes)) (put! (car nodes)))
            (else
             (let ((jump #f))
               (branch! #t (lambda ()
                             (put! (car nodes))
                             (set! jump (emit! (op-jump) #f #f))))
               (put-alternatives! (cdr nodes))
               (vector-set! jump 1 n)))))
        (define (put-repeat! from to greedy? node)
          (cond
            ((> from 0)
             (put! node)
             (put-repeat! (- from 1) (and to (- to 1)) greedy? node))
            ((not to)
             (let ((top n))
               (branch! greedy? (lambda ()
                                  (put! node)
                                  (emit! (op-jump) top #f)))))
            ((> to 0)
             (branch! greedy? (lambda ()
                                (put! node)
                                (put-repeat! 0 (- to 1) greedy? node))))))
        (put! node)
        (emit! (op-match) #f #f)
        (reverse code)))

    ;; Which ASCII characters are in the set.
    (define (bitmap pred)
      (let ((bits (make-bytevector 128 0)))
        (do ((i 0 (+ i 1))) ((= i 128) bits)
          (if (pred (integer->char i)) (bytevector-u8-set! bits i 1)))))

    (define (compile sre node p)
      (let* ((code (instructions node))
             (program (vector (list->vector (map (lambda (i) (vector-ref i 0)) code))
                              (list->vector (map (lambda (i) (vector-ref i 1)) code))
                              (list->vector (map (lambda (i) (vector-ref i 2)) code)))))
        (make-regexp sre program (length code) (first-instructions program) (parse-greedy? p) (parse-submatches p)
                     (parse-names p)
                     (and (vector-index (lambda (op) (= op (op-assert))) (vector-ref program 0)) #t)
                     #f)))

    ;; The instructions that take the first character of a match, or #f.
    (define (first-instructions program)
      (let ((ops (vector-ref program 0)) (xs (vector-ref program 1)) (ys (vector-ref program 2)))
        (call/cc
         (lambda (return)
           (let reach ((pc 0) (seen '()))
             (let ((op (vector-ref ops pc)))
               (cond
                 ((memv pc seen) seen)
                 ((= op (op-set)) (cons pc seen))
                 ((= op (op-jump)) (reach (vector-ref xs pc) (cons pc seen)))
                 ((= op (op-save)) (reach (+ pc 1) (cons pc seen)))
                 ((= op (op-split)) (reach (vector-ref ys pc) (reach (vector-ref xs pc) (cons pc seen))))
                 (else (return #f)))))))))

    (define (regexp x)
      (if (regexp? x)
          x
          (let* ((p (make-parse 0 '() #t)) (node (parse x p (make-context #t #f #t))))
            (compile x node p))))

    (define-syntax rx
      (syntax-rules ()
        ((_ sre ...) (regexp (quasiquote (: sre ...))))))

    (define (valid-sre? x)
      (or (regexp? x)
          (guard (e (#t #f))
            (regexp x)
            #t)))

    ;; An assertion that looks ahead, or behind.
    (define (looker ahead? wanted? node)
      (let ((r (compile #f (without-submatches node) (make-parse 0 '() #t)))
            (length (and (not ahead?) (fixed-length node))))
        (if (and (not ahead?) (not length)) (error "what is looked for behind has no fixed length"))
        (lambda (s i start end)
          (eq? wanted?
               (if ahead?
                   (and (run r s i end start end #t #f) #t)
                   (and (>= (- i length) start)
                        (run r s (- i length) i start end #t #t)
                        #t))))))

    ;; What an assertion matches is no submatch.
    (define (without-submatches node)
      (if (set? node)
          node
          (case (car node)
            ((seq alt) (cons (car node) (map without-submatches (cdr node))))
            ((repeat) (append (take node 4) (list (without-submatches (list-ref node 4)))))
            ((submatch) (without-submatches (caddr node)))
            (else node))))

    ;; How many characters a tree takes, or #f if that depends.
    (define (fixed-length node)
      (define (all nodes combine)
        (let ((lengths (map fixed-length nodes)))
          (and (every values lengths) (combine lengths))))
      (if (set? node)
          1
          (case (car node)
            ((seq) (all (cdr node) (lambda (l) (apply + l))))
            ((alt) (all (cdr node) (lambda (l) (and (pair? l) (apply = (car l) l) (car l)))))
            ((repeat)
             (let ((n (fixed-length (list-ref node 4))))
               (and n (eqv? (cadr node) (caddr node)) (* n (cadr node)))))
            ((submatch) (fixed-length (caddr node)))
            (else 0))))

    ;;;; The automaton

    ;; A state is a vector: by ASCII character the next state, #f before it is known; then whether a match may end
    ;; here, the places in the program, ascending, and by other characters, modulo, a pair of the last one and the
    ;; state behind it.  Assertions count as true.  All that is stored is right whoever stored it: threads share an
    ;; automaton.
    (define-syntax state-accepts (syntax-rules () ((_) 128)))
    (define-syntax state-places (syntax-rules () ((_) 129)))
    (define-syntax state-wide (syntax-rules () ((_) 130)))
    (define-syntax state-length (syntax-rules () ((_) 131)))
    (define-syntax wide-places (syntax-rules () ((_) 64)))

    (define-record-type <automaton>
      (new-automaton program states number cleared dead start)
      automaton?
      (program automaton-program)
      ;; lists of states, by a hash of their places
      (states automaton-states set-automaton-states!)
      (number automaton-number set-automaton-number!)
      (cleared automaton-cleared set-automaton-cleared!)
      ;; of no places
      (dead automaton-dead set-automaton-dead!)
      (start automaton-start set-automaton-start!))

    ;; So many states are kept; so often all are dropped, before the machine has to do without.
    (define-syntax most-states (syntax-rules () ((_) 1000)))
    (define-syntax most-drops (syntax-rules () ((_) 3)))
    (define-syntax buckets (syntax-rules () ((_) 127)))

    (define (make-automaton r)
      (let ((a (new-automaton (program-of r) (make-vector (buckets) '()) 0 0 #f #f)))
        (set-automaton-dead! a (state-of a '()))
        (do ((i 0 (+ i 1))) ((= i 128))
          (vector-set! (automaton-dead a) i (automaton-dead a)))
        (set-automaton-start! a (state-of a (closure a '(0))))
        a))

    ;; The places, ascending, that take a character or end a match, to which these lead.
    (define (closure a places)
      (let* ((program (automaton-program a)) (ops (vector-ref program 0)) (xs (vector-ref program 1))
             (ys (vector-ref program 2)) (marks (make-bytevector (vector-length ops) 0)))
        (for-each
         (lambda (pc)
           (let walk ((pc pc))
             (when (eqv? 0 (bytevector-u8-ref marks pc))
               (let ((op (vector-ref ops pc)))
                 (bytevector-u8-set! marks pc 1)
                 (cond
                   ((eqv? op (op-jump)) (walk (vector-ref xs pc)))
                   ((eqv? op (op-split))
                    (walk (vector-ref xs pc))
                    (walk (vector-ref ys pc)))
                   ((or (eqv? op (op-save)) (eqv? op (op-assert))) (walk (+ pc 1)))
                   (else (bytevector-u8-set! marks pc 2)))))))
         places)
        (let loop ((pc (- (bytevector-length marks) 1)) (l '()))
          (cond ((< pc 0) l)
                ((eqv? 2 (bytevector-u8-ref marks pc)) (loop (- pc 1) (cons pc l)))
                (else (loop (- pc 1) l))))))

    ;; The state of these places, an old one if there is one.
    (define (state-of a places)
      (let* ((hash (let loop ((l places) (h 0))
                     (if (null? l) (modulo h (buckets)) (loop (cdr l) (modulo (+ (* 31 h) (car l)) 1000003)))))
             (ops (vector-ref (automaton-program a) 0)))
        (let find ((l (vector-ref (automaton-states a) hash)))
          (cond
            ((pair? l) (if (equal? (vector-ref (car l) (state-places)) places) (car l) (find (cdr l))))
            (else
             (let ((new (make-vector (state-length) #f)))
               (vector-set! new (state-places) places)
               (vector-set! new (state-accepts)
                            (and (any (lambda (pc) (eqv? (vector-ref ops pc) (op-match))) places) #t))
               (when (>= (automaton-number a) (most-states))
                 (set-automaton-states! a (make-vector (buckets) '()))
                 (set-automaton-number! a 0)
                 (set-automaton-cleared! a (+ 1 (automaton-cleared a))))
               (set-automaton-number! a (+ 1 (automaton-number a)))
               (vector-set! (automaton-states a) hash (cons new (vector-ref (automaton-states a) hash)))
               new))))))

    (define (takes? xs ys pc c)
      (let ((n (char->integer c)))
        (if (< n 128)
            (eqv? 1 (bytevector-u8-ref (vector-ref xs pc) n))
            ((vector-ref ys pc) c))))

    ;; The state behind a character, where the state itself does not say: it does from now on.
    (define (follow a state c)
      (let* ((n (char->integer c)) (wide (vector-ref state (state-wide))) (at (modulo n (wide-places)))
             (known (if (< n 128) (vector-ref state n) (and wide (vector-ref wide at)))))
        (cond
          ((and known (< n 128)) known)
          ((and known (eqv? (car known) c)) (cdr known))
          (else
            (let* ((program (automaton-program a)) (ops (vector-ref program 0)) (xs (vector-ref program 1))
                   (ys (vector-ref program 2))
                   (taken (filter (lambda (pc) (and (eqv? (vector-ref ops pc) (op-set)) (takes? xs ys pc c)))
                                  (vector-ref state (state-places))))
                   (next (if (null? taken)
                             (automaton-dead a)
                             (state-of a (closure a (map (lambda (pc) (+ pc 1)) taken))))))
              (cond
                ((< n 128) (vector-set! state n next))
                (else
                 (if (not wide) (vector-set! state (state-wide) (make-vector (wide-places) #f)))
                 (vector-set! (vector-ref state (state-wide)) at (cons c next))))
              next)))))

    ;; The next two call nobody, so that they keep all they need in registers.

    ;; The first place from i on with a character that does not lead from `start` to the dead state, for all that is
    ;; known; or the limit.
    (define (skip start dead s i limit)
      (let skip ((i i))
        (if (%fx< i limit)
            (let ((n (%char->integer (%string-ref s i))))
              (if (if (%fx< n 128) (%eq? (%vector-ref start n) dead) #f)
                  (skip (%fx+ i 1))
                  i))
            i)))

    ;; Goes on from the place, the state and the last end of a match in `now`, until the next state is not known, or the
    ;; dead one, or the limit is reached.
    (define (glide now dead s limit)
      (let glide ((i (%vector-ref now 0)) (state (%vector-ref now 1)) (last (%vector-ref now 2)))
        (let ((next (if (%fx< i limit)
                        (let ((n (%char->integer (%string-ref s i))))
                          (if (%fx< n 128) (%vector-ref state n) #f))
                        #f)))
          (if (if next (%not (%eq? next dead)) #f)
              (let ((i (%fx+ i 1)))
                (glide i next (if (%vector-ref next (state-accepts)) i last)))
              (begin
                (%vector-set! now 0 i)
                (%vector-set! now 1 state)
                (%vector-set! now 2 last))))))

    ;; Calls (found from to stop) for the first place from i on where a match may begin, with the last place where it
    ;; may end, and where the automaton has stopped; or (lost from): from there on all is open, before it there is none.
    (define (scan a s i limit anchored? whole? found lost)
      (let* ((start (automaton-start a)) (dead (automaton-dead a)) (empty? (vector-ref start (state-accepts)))
             (now (vector i start -1)))
        ;; the first place from `from` on where a match may begin
        (define (first from)
          (let ((i (skip start dead s from limit)))
            (if (and (< i limit) (eq? (follow a start (string-ref s i)) dead))
                (first (+ i 1))
                i)))
        ;; to the end of the longest match from here
        (define (along!)
          (glide now dead s limit)
          (let ((i (vector-ref now 0)))
            (if (< i limit)
                (let ((next (follow a (vector-ref now 1) (string-ref s i))))
                  (when (not (eq? next dead))
                    (vector-set! now 0 (+ i 1))
                    (vector-set! now 1 next)
                    (if (vector-ref next (state-accepts)) (vector-set! now 2 (+ i 1)))
                    (along!))))))
        (let search ((from i) (work 0))
          (let ((from (if (or anchored? empty?) from (first from))))
            (vector-set! now 0 from)
            (vector-set! now 1 start)
            (vector-set! now 2 (if empty? from -1))
            (along!)
            (let* ((stop (vector-ref now 0)) (last (vector-ref now 2)) (work (+ work (- stop from))))
              (cond
                ((if whole? (= last limit) (>= last 0)) (found from last stop))
                ((or anchored? (>= from limit)) (lost limit))
                ;; what was passed in vain is more than a few times what was gone through
                ((> work (+ 4096 (* 8 (- from i)))) (lost from))
                (else (search (+ from 1) work))))))))

    ;; The places of the match of s from `from` to `to`, which is one: the preferred way through the program that ends
    ;; there.  No way is tried twice from the same place; without assertions.
    (define (trace r s from to)
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
              (else (= i to)))))
        (leads? 0 from)
        (vector-set! places 0 from)
        (vector-set! places 1 to)
        places))

    ;; Beyond so many pairs of an instruction and a place, submatches are found by the machine.
    (define-syntax most-cells (syntax-rules () ((_) 65536)))

    ;; The places of the best match, or #f: see `machine`.
    (define (run r s i limit start end anchored? whole?)
      (let ((a (or (automaton-of r)
                   (let ((a (make-automaton r)))
                     (set-automaton! r a)
                     a))))
        (cond
          ((eq? a 'none) (machine r s i limit start end anchored? whole?))
          ((> (automaton-cleared a) (most-drops))
           (set-automaton! r 'none)
           (machine r s i limit start end anchored? whole?))
          (else
           (let ((exact? (and (is-greedy? r) (not (has-asserts? r)))))
             (let again ((i i) (tries 0))
               (scan a s i limit anchored? whole?
                     (lambda (from to stop)
                       (cond
                         ((and exact? (= 0 (submatches-of r))) (vector from to))
                         ((and exact? (<= (* (program-size r) (+ 1 (- to from))) (most-cells))) (trace r s from to))
                         (exact? (machine r s from to start end #t #t))
                         ;; an assertion may not hold, and the preferred match may end elsewhere
                         ((machine r s from limit start end #t whole?))
                         ((or anchored? (>= from limit)) #f)
                         ((> tries 32) (machine r s (+ from 1) limit start end #f whole?))
                         (else (again (+ from 1) (+ tries 1)))))
                     (lambda (from)
                       (and (< from limit) (machine r s from limit start end #f whole?))))))))))

    ;;;; The machine

    (define-record-type <thread>
      (make-thread pc places)
      thread?
      (pc thread-pc)
      (places thread-places))

    ;; Matches s from i to the limit; the string is taken to go from start to end.  The match begins at i if
    ;; `anchored?`, it ends at the limit if `whole?`.  The places of the best match, or #f.
    (define (machine r s i limit start end anchored? whole?)
      (let* ((program (program-of r))
             (ops (vector-ref program 0)) (xs (vector-ref program 1)) (ys (vector-ref program 2))
             (greedy? (is-greedy? r)) (first (and (not anchored?) (first-of r)))
             ;; the place at which an instruction was reached last
             (reached (make-vector (program-size r) -1))
             (nowhere (make-vector (* 2 (+ 1 (submatches-of r))) #f)))

        ;; The threads, last first, with those that `pc` leads to at place i.
        (define (add threads pc places i)
          (if (eqv? (vector-ref reached pc) i)
              threads
              (let ((op (vector-ref ops pc)))
                (vector-set! reached pc i)
                (cond
                  ((eqv? op (op-jump)) (add threads (vector-ref xs pc) places i))
                  ((eqv? op (op-split))
                   (add (add threads (vector-ref xs pc) places i) (vector-ref ys pc) places i))
                  ((eqv? op (op-save))
                   (let ((new (vector-copy places)))
                     (vector-set! new (vector-ref xs pc) i)
                     (add threads (+ pc 1) new i)))
                  ((eqv? op (op-assert))
                   (if ((vector-ref xs pc) s i start end)
                       (add threads (+ pc 1) places i)
                       threads))
                  (else (cons (make-thread pc places) threads))))))

        (define (begin-at threads i)
          (let ((places (vector-copy nowhere)))
            (vector-set! places 0 i)
            (add threads 0 places i)))

        ;; The first place from i on where a match may begin.
        (define (skip i)
          (if (= i limit)
              i
              (let ((c (string-ref s i)))
                (let loop ((l first))
                  (cond ((null? l) (skip (+ i 1)))
                        ((and (eqv? (vector-ref ops (car l)) (op-set)) (takes? xs ys (car l) c)) i)
                        (else (loop (cdr l))))))))

        (define (ended places i)
          (let ((new (vector-copy places)))
            (vector-set! new 1 i)
            new))

        ;; May this thread still do better than the match?
        (define (hopeful? thread best)
          (or (not best) (<= (vector-ref (thread-places thread) 0) (vector-ref best 0))))
        (define (better? thread best)
          (or (not best) (not greedy?)
              (<= (vector-ref (thread-places thread) 0) (vector-ref best 0))))

        ;; Threads come with the last one first.
        (let step ((i i) (threads (if first '() (begin-at '() i))) (best #f))
          (let ((i (if (and first (null? threads) (not best)) (skip i) i)))
            (let* ((threads (if (and first (not best)) (begin-at threads i) threads))
                   (c (and (< i limit) (string-ref s i))))
              ;; in order of preference: the threads of the next place, and the best match
              (let loop ((l (reverse threads)) (next '()) (best best))
                (cond
                  ((null? l)
                   (if (and c (or (pair? next) (and (not best) (not anchored?))))
                       (step (+ i 1)
                             (if (or first anchored? best) next (begin-at next (+ i 1)))
                             best)
                       best))
                  ((eqv? (vector-ref ops (thread-pc (car l))) (op-match))
                   (cond
                     ((and whole? (< i limit)) (loop (cdr l) next best))
                     ((not (better? (car l) best)) (loop (cdr l) next best))
                     (else
                      (let ((best (if (and best
                                           (= (vector-ref best 0) (vector-ref (thread-places (car l)) 0))
                                           (= (vector-ref best 1) i))
                                      best
                                      (ended (thread-places (car l)) i))))
                        (loop (if greedy? (cdr l) '()) next best)))))
                  ((and c (hopeful? (car l) best) (takes? xs ys (thread-pc (car l)) c))
                   (loop (cdr l) (add next (+ (thread-pc (car l)) 1) (thread-places (car l)) (+ i 1)) best))
                  (else (loop (cdr l) next best)))))))))

    ;;;; Matching

    ;; The range that optional arguments say.
    (define (range-of who s start end)
      (let ((end (or end (if (string? s) (string-length s) 0))))
        (if (not (string? s)) (wrong-type who "a string" s))
        (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end (string-length s))))
            (out-of-range who "not a range of the string:" (cons start end)))
        end))

    (define (match-in who r s start end anchored? whole?)
      (let* ((r (regexp r)) (end (range-of who s start end)) (places (run r s start end start end anchored? whole?)))
        (and places (make-match s places (names-of r)))))

    (define regexp-matches
      (case-lambda
        ((r s) (regexp-matches r s 0 #f))
        ((r s start) (regexp-matches r s start #f))
        ((r s start end) (match-in "regexp-matches" r s start end #t #t))))
    (define (regexp-matches? r s . range)
      (regexp-match? (apply regexp-matches r s range)))
    (define regexp-search
      (case-lambda
        ((r s) (regexp-search r s 0 #f))
        ((r s start) (regexp-search r s start #f))
        ((r s start end) (match-in "regexp-search" r s start end #f #f))))

    (define regexp-fold
      (case-lambda
        ((r kons knil s) (regexp-fold r kons knil s (lambda (i m s acc) acc) 0 #f))
        ((r kons knil s finish) (regexp-fold r kons knil s finish 0 #f))
        ((r kons knil s finish start) (regexp-fold r kons knil s finish start #f))
        ((r kons knil s finish start end)
         (let ((r (regexp r)) (end (range-of "regexp-fold" s start end)))
           (let loop ((from start) (i start) (acc knil))
             (let ((places (and (<= i end) (run r s i end start end #f #f))))
               (if places
                   (let ((to (vector-ref places 1)))
                     ;; behind an empty match the search goes on one character later
                     (loop to
                           (if (= to (vector-ref places 0)) (+ to 1) to)
                           (kons from (make-match s places (names-of r)) s acc)))
                   (finish from #f s acc))))))))

    ;;;; Submatches

    (define (regexp-match-count m) (- (quotient (vector-length (match-places m)) 2) 1))

    (define (field-number m field)
      (cond
        ((and (exact-integer? field) (<= 0 field (regexp-match-count m))) field)
        ((and (symbol? field) (assq field (match-names m)))
         => (lambda (name)
              (let loop ((l (cdr name)))
                (if (or (null? (cdr l)) (vector-ref (match-places m) (* 2 (car l))))
                    (car l)
                    (loop (cdr l))))))
        (else (error "the match has no such submatch:" field))))
    (define (check-match who m)
      (if (regexp-match? m) m (wrong-type who "a match" m)))

    (define (regexp-match-submatch-start m . field)
      (vector-ref (match-places (check-match "regexp-match-submatch-start" m)) (* 2 (field-of m field))))
    (define (regexp-match-submatch-end m . field)
      (vector-ref (match-places (check-match "regexp-match-submatch-end" m)) (+ 1 (* 2 (field-of m field)))))
    (define (field-of m field) (if (null? field) 0 (field-number m (car field))))
    (define (regexp-match-submatch m . field)
      (let ((start (apply regexp-match-submatch-start m field)) (end (apply regexp-match-submatch-end m field)))
        (and start end (substring (match-string m) start end))))
    (define (regexp-match->list m)
      (let loop ((i (regexp-match-count (check-match "regexp-match->list" m))) (l '()))
        (if (< i 0) l (loop (- i 1) (cons (regexp-match-submatch m i) l)))))

    ;;;; What is made of matches

    (define (empty-match? m)
      (= (regexp-match-submatch-start m) (regexp-match-submatch-end m)))

    ;; Folds over matches that are not empty: (proc from match s acc), and at the end (last from s acc end).
    (define (fold-matches proc last r s range)
      (let* ((start (if (pair? range) (car range) 0))
             (end (range-of "regexp-split" s start (and (pair? range) (pair? (cdr range)) (cadr range))))
             (from start))
        (let ((acc (regexp-fold r
                                (lambda (i m s acc)
                                  (if (empty-match? m)
                                      acc
                                      (let ((acc (proc from m s acc)))
                                        (set! from (regexp-match-submatch-end m))
                                        acc)))
                                '() s (lambda (i m s acc) acc) start end)))
          (reverse (last from s acc end)))))

    (define (regexp-extract r s . range)
      (fold-matches (lambda (from m s acc) (cons (regexp-match-submatch m) acc))
                    (lambda (from s acc end) acc)
                    r s range))
    (define (regexp-split r s . range)
      (fold-matches (lambda (from m s acc) (cons (substring s from (regexp-match-submatch-start m)) acc))
                    (lambda (from s acc end) (cons (substring s from end) acc))
                    r s range))
    (define (regexp-partition r s . range)
      (fold-matches (lambda (from m s acc)
                      (cons (regexp-match-submatch m)
                            (cons (substring s from (regexp-match-submatch-start m)) acc)))
                    (lambda (from s acc end)
                      (if (and (= from end) (pair? acc)) acc (cons (substring s from end) acc)))
                    r s range))

    ;; What a template stands for.
    (define (substitution subst m start end)
      (let write ((x subst))
        (cond
          ((string? x) x)
          ((not x) "")
          ((char? x) (string x))
          ((eq? x 'pre) (substring (match-string m) start (regexp-match-submatch-start m)))
          ((eq? x 'post) (substring (match-string m) (regexp-match-submatch-end m) end))
          ((or (symbol? x) (exact-integer? x)) (or (regexp-match-submatch m x) ""))
          ((procedure? x) (write (x m)))
          ((list? x) (apply string-append (map write x)))
          (else (wrong-type "regexp-replace" "a substitution" x)))))

    (define regexp-replace
      (case-lambda
        ((r s subst) (regexp-replace r s subst 0 #f 0))
        ((r s subst start) (regexp-replace r s subst start #f 0))
        ((r s subst start end) (regexp-replace r s subst start end 0))
        ((r s subst start end count)
         (if (not count)
             (regexp-replace-all r s subst start end)
             (let ((r (regexp r)) (end (range-of "regexp-replace" s start end)))
               (let loop ((i start) (count count))
                 (let ((places (and (<= i end) (run r s i end start end #f #f))))
                   (cond
                     ((not places) (substring s start end))
                     ((= count 0)
                      (string-append (substring s start (vector-ref places 0))
                                     (substitution subst (make-match s places (names-of r)) start end)
                                     (substring s (vector-ref places 1) end)))
                     (else (loop (max (vector-ref places 1) (+ i 1)) (- count 1)))))))))))
    (define regexp-replace-all
      (case-lambda
        ((r s subst) (regexp-replace-all r s subst 0 #f))
        ((r s subst start) (regexp-replace-all r s subst start #f))
        ((r s subst start end)
         (let ((end (range-of "regexp-replace-all" s start end)))
           (regexp-fold r
                        (lambda (i m s acc)
                          (cons* (substitution subst m start end)
                                 (substring s i (regexp-match-submatch-start m))
                                 acc))
                        '() s
                        (lambda (i m s acc)
                          (apply string-append (reverse (cons (substring s i end) acc))))
                        start end)))))
    (define (cons* a b l) (cons a (cons b l)))

    ;;;; Char-sets as expressions

    (define (char-set->sre set)
      (list 'char-set (list->string (char-set->list set))))))
