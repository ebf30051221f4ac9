;;; (cairn regexp): regular expressions as lists, (srfi 115).
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
;;; That machine is for what the automaton cannot do: where a match begins and ends says a deterministic automaton
;;; (regexp/automaton.scm) in time that is linear in the string, whatever the expression is.  Should it get too many
;;; states, the machine goes on.
;;;
;;; Back-references are not there.  A boundary of graphemes is found by the rules of UAX #29 for controls, Hangul, flags
;;; and extending characters, where everything counts as extending that is beyond ASCII and neither letter, digit,
;;; punctuation, symbol, space nor control character.
(define-library (cairn regexp)
  (export
   regexp rx regexp? valid-sre? regexp->sre char-set->sre regexp-matches regexp-matches? regexp-search regexp-fold
   regexp-extract regexp-split regexp-partition regexp-replace regexp-replace-all
   regexp-match? regexp-match-count regexp-match-submatch regexp-match-submatch-start regexp-match-submatch-end
   regexp-match->list regexp-by-machine)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme cxr)
          (only (srfi 1) any append-map every last-pair take)
          (only (srfi 14) char-set? char-set-contains? char-set->list char-set:title-case char-set:punctuation
                char-set:symbol char-set:iso-control)
          (only (cairn control) out-of-range wrong-type) (only (cairn records) show-fields!)
          (only (cairn number) bitwise-and bitwise-ior)
          (only (rename (cairn primitives)
                        (%u32vector-length u32vector-length) (%u32vector-ref u32vector-ref)
                        (%u32vector-set! u32vector-set!))
                u32vector-length u32vector-ref u32vector-set! %numeric-make %numeric-named %string-scan
                %scan-submatches %syntax-host))
  (begin

    (define-record-type <regexp>
      (make-regexp sre node program size first greedy? submatches names asserts? automaton)
      regexp?
      (sre regexp->sre)
      ;; the tree
      (node node-of)
      ;; three vectors: operations and two operands
      (program program-of)
      (size program-size)
      ;; the instructions that a match begins with, or #f if not all of them take a character
      (first first-of)
      (greedy? is-greedy?)
      (submatches submatches-of)
      ;; list of (name number ...)
      (names names-of)
      ;; are there assertions that ask for more than the characters around a place?
      (asserts? has-asserts?)
      ;; #f before it is needed, or after it was no good: 'none
      (automaton automaton-of set-automaton!))
    (show-fields! <regexp> '(sre))

    (define-record-type <match>
      (make-match string places names)
      regexp-match?
      ;; beginning and end of each submatch, those of the whole first
      (places match-places)
      (string match-string)
      (names match-names))
    (show-fields! <match> '(places))

    (define (not-sre x) (error "not a regular expression:" x))

    ;;;; From expressions to trees
    ;;
    ;; #(set pred wide?)   (seq node ...)   (alt node ...)   (repeat from to greedy? node)   (submatch number node)
    ;; (assert proc kinds)   (look ahead? wanted? node)
    ;; `to` is #f for any number.  A set is a predicate of characters; `wide?`: may
    ;; others than ASCII be in it?

    (define (set pred wide?) (vector 'set pred wide?))
    (define (set? node) (vector? node))
    (define (set-pred node) (vector-ref node 1))
    (define (set-wide? node) (vector-ref node 2))

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
    (define (set-in context pred wide?)
      (let ((pred (if (context-case? context)
                      pred
                      (lambda (c) (or (pred c) (pred (char-downcase c)) (pred (char-upcase c)))))))
        (set (if (context-ascii? context)
                 (lambda (c) (and (ascii? c) (pred c)))
                 pred)
             ;; other letters may be ASCII in the other case
             (and (not (context-ascii? context)) (or wide? (not (context-case? context)))))))
    (define (one context c)
      (if (and (context-case? context) (not (context-ascii? context)))
          (set (lambda (x) (char=? x c)) (not (ascii? c)))
          (let ((folded (char-foldcase c)))
            (set-in context (lambda (x) (or (char=? x c) (char=? x folded))) #t))))

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

    ;; Are there others than ASCII in these characters and strings?
    (define (wide-strings? specs)
      (define (wide? c) (not (ascii? c)))
      (any (lambda (x) (cond ((char? x) (wide? x)) ((string? x) (any wide? (string->list x))) (else #f))) specs))
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
              (set (any-of (map set-pred nodes)) (any set-wide? nodes))
              (cons 'alt nodes))))
      (define (word-assert ok?) (list 'assert (at-word context ok?) (word-kinds context ok?)))
      (cond
        ((char? x) (one context x))
        ((string? x)
         (sequence (map (lambda (c) (one context c)) (string->list x))))
        ((char-set? x) (set-in context (lambda (c) (char-set-contains? x c)) #t))
        ((symbol? x)
         (case x
           ((bos) (list 'assert (lambda (s i start end) (= i start)) bos-kinds))
           ((eos) (list 'assert (lambda (s i start end) (= i end)) eos-kinds))
           ((bol) (list 'assert bol? bol-kinds))
           ((eol) (list 'assert eol? eol-kinds))
           ((bow) (word-assert bow?))
           ((eow) (word-assert eow?))
           ((nwb) (word-assert nwb?))
           ((word) (parse '(word+ any) p context))
           ((bog eog)
            (if (context-ascii? context) '(seq) (list 'assert grapheme-boundary? #f)))
           ((grapheme)
            (if (context-ascii? context)
                (parse 'any p context)
                (let ((any (set (lambda (c) #t) #t))
                      (inside (lambda (s i start end) (not (grapheme-boundary? s i start end)))))
                  (list 'seq any
                        (list 'repeat 0 #f #t (list 'seq (list 'assert inside #f) any))
                        (list 'assert grapheme-boundary? #f)))))
           (else
            (let ((pred (named-set x)))
              (if pred (set-in context pred (not (memq x '(ascii hex-digit xdigit)))) (not-sre x))))))
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
            (set-in context (in-string? (cadr x)) (wide-strings? (cdr x))))
           ((/ char-range) (set-in context (ranges (cdr x)) (wide-strings? (cdr x))))
           ((and &) (set-in context (all-of (preds (cdr x))) #t))
           ((- difference)
            (let ((l (preds (cdr x))))
              (if (null? l) (not-sre x))
              (let ((in? (car l)) (out? (any-of (cdr l))))
                (set-in context (lambda (c) (and (in? c) (not (out? c)))) #t))))
           ((~ complement)
            (let ((out? (any-of (preds (cdr x)))))
              (set (if (context-ascii? context)
                       (lambda (c) (and (ascii? c) (not (out? c))))
                       (lambda (c) (not (out? c))))
                   (not (context-ascii? context)))))
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
    (define (bow? before after) (and (not before) after))
    (define (eow? before after) (and before (not after)))
    (define (nwb? before after) (eq? (not before) (not after)))

    ;; The same for the automaton, if an assertion asks only for the characters around its place: of which kinds these
    ;; may be, and a procedure of both kinds.
    (define-syntax kind-word (syntax-rules () ((_) 1)))
    (define-syntax kind-ascii-word (syntax-rules () ((_) 2)))
    (define-syntax kind-linefeed (syntax-rules () ((_) 4)))
    (define-syntax kind-return (syntax-rules () ((_) 8)))
    ;; no character: the string begins or ends
    (define-syntax kind-edge (syntax-rules () ((_) 16)))
    (define (kind-of c)
      (cond ((char=? c #\newline) (kind-linefeed))
            ((char=? c #\return) (kind-return))
            ((not (word-character? c)) 0)
            ((ascii? c) (bitwise-ior (kind-word) (kind-ascii-word)))
            (else (kind-word))))
    (define (kind? x kinds) (not (eqv? 0 (bitwise-and x kinds))))
    (define line-end (bitwise-ior (kind-linefeed) (kind-return)))
    (define (kinds-of kinds ok?) (cons (bitwise-ior kinds (kind-edge)) ok?))
    (define bos-kinds (kinds-of 0 (lambda (before after) (kind? before (kind-edge)))))
    (define eos-kinds (kinds-of 0 (lambda (before after) (kind? after (kind-edge)))))
    (define (inside-line-end? before after) (and (kind? before (kind-return)) (kind? after (kind-linefeed))))
    (define bol-kinds
      (kinds-of line-end (lambda (before after)
                           (and (kind? before (bitwise-ior line-end (kind-edge)))
                                (not (inside-line-end? before after))))))
    (define eol-kinds
      (kinds-of line-end (lambda (before after)
                           (and (kind? after (bitwise-ior line-end (kind-edge)))
                                (not (inside-line-end? before after))))))
    (define (word-kinds context ok?)
      (let ((word (if (context-ascii? context) (kind-ascii-word) (kind-word))))
        (kinds-of word (lambda (before after) (ok? (kind? before word) (kind? after word))))))

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
      (let ((code '()) (n 0) (sets '()))
        (define (emit! op x y)
          (let ((instruction (vector op x y)))
            (set! code (cons instruction code))
            (set! n (+ n 1))
            instruction))
        (define (put! node)
          (if (set? node)
              (let ((known (assq node sets)))
                (if (not known) (set! sets (cons (cons node (bitmap (set-pred node) (set-wide? node))) sets)))
                (emit! (op-set) (cdr (or known (car sets))) (set-pred node)))
              (case (car node)
                ((seq) (for-each put! (cdr node)))
                ((alt) (put-alternatives! (cdr node)))
                ((repeat) (apply put-repeat! (cdr node)))
                ((submatch)
                 (emit! (op-save) (* 2 (cadr node)) #f)
                 (put! (caddr node))
                 (emit! (op-save) (+ 1 (* 2 (cadr node))) #f))
                ((assert) (emit! (op-assert) (cadr node) (caddr node)))
                ((look) (emit! (op-assert) (apply looker (cdr node)) #f)))))
        ;; (branch! greedy? proc): a split between the code that `proc` puts and what comes behind it.
        (define (branch! greedy? proc)
          (let ((split (emit! (op-split) #f #f)) (inside n))
            (proc)
            (vector-set! split 1 (if greedy? inside n))
            (vector-set! split 2 (if greedy? n inside))))
        (define (put-alternatives! nodes)
          (cond
            ((null? nodes) (emit! (op-set) (bitmap (lambda (c) #f) #f) (lambda (c) #f)))
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

    ;; Which ASCII characters are in the set, and whether others may be.
    (define (bitmap pred wide?)
      (let ((bits (make-bytevector 129 (if wide? 1 0))))
        (do ((i 0 (+ i 1))) ((= i 128) bits)
          (bytevector-u8-set! bits i (if (pred (integer->char i)) 1 0)))))

    ;; The program of a tree: operations, and both operands.
    (define (program-for node)
      (let ((code (instructions node)))
        (vector-map (lambda (i) (list->vector (map (lambda (x) (vector-ref x i)) code))) #(0 1 2))))

    (define (compile sre node p automaton)
      (let* ((program (program-for node)) (ops (vector-ref program 0)))
        (make-regexp sre node program (vector-length ops) (first-instructions program) (parse-greedy? p)
                     (parse-submatches p) (parse-names p)
                     (let asks? ((i 0))
                       (and (< i (vector-length ops))
                            (or (and (= (vector-ref ops i) (op-assert)) (not (vector-ref (vector-ref program 2) i)))
                                (asks? (+ i 1)))))
                     automaton)))

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
      (if (regexp? x) x (parsed x #f)))
    ;; By the machine alone, which tests compare with.
    (define (regexp-by-machine x)
      (parsed x 'none))
    (define (parsed x automaton)
      (let* ((p (make-parse 0 '() #t)) (node (parse x p (make-context #t #f #t))))
        (compile x node p automaton)))

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
      (let ((r (compile #f (without-submatches node) (make-parse 0 '() #t) #f))
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

    ;; The tree of the reversed strings, without submatches and without what looks around, which only restricts.
    (define (reversed node)
      (if (set? node)
          node
          (case (car node)
            ((seq) (cons 'seq (reverse (map reversed (cdr node)))))
            ((alt) (cons 'alt (map reversed (cdr node))))
            ((repeat) (append (take node 4) (list (reversed (list-ref node 4)))))
            ((submatch) (reversed (caddr node)))
            ((look) '(seq))
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

    (define (takes? xs ys pc c)
      (let ((n (char->integer c)))
        (if (< n 128)
            (eqv? 1 (bytevector-u8-ref (vector-ref xs pc) n))
            ((vector-ref ys pc) c))))
    (define (cons* a b l) (cons a (cons b l))))

  (include "regexp/automaton.scm" "regexp/submatches.scm" "regexp/machine.scm")

  (begin

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

    (define (regexp-match-count m) (fields-in (check-match "regexp-match-count" m)))
    (define (fields-in m) (- (quotient (vector-length (match-places m)) 2) 1))

    (define (field-number who m field)
      (cond
        ((and (exact-integer? field) (<= 0 field (fields-in m))) field)
        ((and (symbol? field) (assq field (match-names m)))
         => (lambda (name)
              (let loop ((l (cdr name)))
                (if (or (null? (cdr l)) (vector-ref (match-places m) (* 2 (car l))))
                    (car l)
                    (loop (cdr l))))))
        (else (error (string-append who ": the match has no such submatch:") field))))
    (define (check-match who m)
      (if (regexp-match? m) m (wrong-type who "a match" m)))

    (define (field-of who m field) (if (null? field) 0 (field-number who m (car field))))
    (define (start-of m n) (vector-ref (match-places m) (* 2 n)))
    (define (end-of m n) (vector-ref (match-places m) (+ 1 (* 2 n))))
    (define (text-of m n)
      (let ((start (start-of m n)) (end (end-of m n)))
        (and start end (substring (match-string m) start end))))

    (define (regexp-match-submatch-start m . field)
      (let ((who "regexp-match-submatch-start"))
        (start-of (check-match who m) (field-of who m field))))
    (define (regexp-match-submatch-end m . field)
      (let ((who "regexp-match-submatch-end"))
        (end-of (check-match who m) (field-of who m field))))
    (define (regexp-match-submatch m . field)
      (let ((who "regexp-match-submatch"))
        (text-of (check-match who m) (field-of who m field))))
    (define (regexp-match->list m)
      (let loop ((i (fields-in (check-match "regexp-match->list" m))) (l '()))
        (if (< i 0) l (loop (- i 1) (cons (text-of m i) l)))))

    ;;;; What is made of matches

    (define (empty-match? m)
      (= (start-of m 0) (end-of m 0)))

    ;; Folds over matches that are not empty: (proc from match s acc), and at the end (last from s acc end).
    (define (fold-matches who proc last r s range)
      (let* ((start (if (pair? range) (car range) 0))
             (end (range-of who s start (and (pair? range) (pair? (cdr range)) (cadr range))))
             (from start))
        (let ((acc (regexp-fold r
                                (lambda (i m s acc)
                                  (if (empty-match? m)
                                      acc
                                      (let ((acc (proc from m s acc)))
                                        (set! from (end-of m 0))
                                        acc)))
                                '() s (lambda (i m s acc) acc) start end)))
          (reverse (last from s acc end)))))

    (define (regexp-extract r s . range)
      (fold-matches "regexp-extract"
                    (lambda (from m s acc) (cons (text-of m 0) acc))
                    (lambda (from s acc end) acc)
                    r s range))
    (define (regexp-split r s . range)
      (fold-matches "regexp-split"
                    (lambda (from m s acc) (cons (substring s from (start-of m 0)) acc))
                    (lambda (from s acc end) (cons (substring s from end) acc))
                    r s range))
    (define (regexp-partition r s . range)
      (fold-matches "regexp-partition"
                    (lambda (from m s acc)
                      (cons (text-of m 0)
                            (cons (substring s from (start-of m 0)) acc)))
                    (lambda (from s acc end)
                      (if (and (= from end) (pair? acc)) acc (cons (substring s from end) acc)))
                    r s range))

    ;; What a template stands for.
    (define (substitution who subst m start end)
      (let write ((x subst))
        (cond
          ((string? x) x)
          ((not x) "")
          ((char? x) (string x))
          ((eq? x 'pre) (substring (match-string m) start (start-of m 0)))
          ((eq? x 'post) (substring (match-string m) (end-of m 0) end))
          ((or (symbol? x) (exact-integer? x)) (or (text-of m (field-number who m x)) ""))
          ((procedure? x) (write (x m)))
          ((list? x) (apply string-append (map write x)))
          (else (wrong-type who "a substitution" x)))))

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
                                     (substitution "regexp-replace" subst (make-match s places (names-of r)) start end)
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
                          (cons* (substitution "regexp-replace-all" subst m start end)
                                 (substring s i (start-of m 0))
                                 acc))
                        '() s
                        (lambda (i m s acc)
                          (apply string-append (reverse (cons (substring s i end) acc))))
                        start end)))))

    ;;;; Char-sets as expressions

    (define (char-set->sre set)
      (list 'char-set (list->string (char-set->list set))))))
