;;; (cairn match): pattern matching.
;;;
;;;     (match e                                   (let ((v e))
;;;       (('add a b) (+ a b))                       (let ((f (lambda () … third clause …)))
;;;       (('neg a) (- a))                   ⟶         (if (pair? v)
;;;       ((? number? n) n))                               (let ((a (car v)) (d (cdr v)))
;;;                                                          (if (eq? a 'add) … (if (eq? a 'neg) … (f))))
;;;                                                        (f))))
;;;
;;; Clauses are rows of a matrix, whose columns are the values still to be looked at (Wadler 1987, in Peyton Jones, The
;;; Implementation of Functional Programming Languages, chapter 5).  The first column is taken away: rows that follow
;;; each other and have variables there bind them; rows with constructors there (pairs, vectors, literals) are sorted by
;;; constructor, and each is tested once for all of them; anything else is a row for itself.  What comes behind such a
;;; run of rows is a thunk, so code is never copied and its size is linear in that of the patterns.
;;;
;;; A pattern is read into a list that begins with what it is:
;;;
;;;     (any) (var id) (literal datum) (pair p p) (vector p …) (record type p …) (fields type (name . p) …)
;;;     (test expr p …) (view expr p) (and p …) (or p …) (not p) (getter id) (setter id)
;;;     (dots p least most tail)     p as often as between least and most (or #f), then the pattern of the rest
;;;     (search p q)                 q somewhere in a tree, p the heads of the lists around it
;;;
;;; A column is an *occurrence*: the variable that holds the value, an expression that gets it where it came from, and
;;; the beginning of one that puts another value there, or #f.  A row is #(patterns bindings can-fail? body), where a
;;; binding is (id variable outer?), and body a procedure that makes the code of the body, given the bindings and the
;;; expression that goes on with the next row.
(define-library (cairn match)
  (export match match* match-lambda match-lambda* match-let match-let* match-letrec match-define
          (rename match-lambda* match-lambda**))
  (import (scheme base) (cairn macro) (only (cairn records) rtd? rtd-all-field-names)
          (only (cairn primitives) %record-instance? %record-ref %record-slot %record-slot-set! %record-type-about)
          (only (cairn control) wrong-type))
  (begin

    ;;;; What the code of a match calls

    (define (no-match who . values)
      (apply error (string-append who ": no pattern fits:") values))

    ;; The number of pairs of a list, proper or not; -1 if it is circular.
    (define (count-pairs l)
      (let loop ((slow l) (fast l) (n 0))
        (cond ((not (pair? fast)) n)
              ((not (pair? (cdr fast))) (+ n 1))
              (else
               (let ((slow (cdr slow)) (fast (cddr fast)))
                 (if (and (pair? fast) (eq? slow fast)) -1 (loop slow fast (+ n 2))))))))

    ;; The record type that was asked about last, and the number of its fields: those of a pattern are looked at without
    ;; a check when there are enough of them and all are plain.
    (define known '(#f . 0))

    (define (check-type type n)
      (if (not (rtd? type)) (wrong-type "match" "a record type" type))
      (let all-plain? ((kinds (%record-type-about type 4)) (m 0))
        (cond
          ((pair? kinds)
           (if (eq? (car kinds) 'any)
               (all-plain? (cdr kinds) (+ m 1))
               (error "match: fields of a declared kind have no position; use (= accessor pattern):" type)))
          ((> n m) (error "match: the record type has fewer fields than the pattern:" type n))
          (else (set! known (cons type m))))))

    ;; Is it a record of the type, which has n fields?
    (define (record-of? x type n)
      (let ((k known))
        (if (not (and (eq? (car k) type) (<= n (cdr k)))) (check-type type n))
        (%record-instance? x type)))

    ;; The position of a field.
    (define (field-index type name)
      (let loop ((i 0) (rest (rtd-all-field-names type)))
        (cond ((null? rest) (error "match: the record type has no field of this name:" type name))
              ((eq? (car rest) name) i)
              (else (loop (+ i 1) (cdr rest))))))

    (define (field record type i)
      (%record-slot record type i))
    (define (set-field! record type i x)
      (%record-slot-set! record type i x 'match))

    ;;;; The compiler of patterns

    (define keywords
      '("_" "..." "___" "..1" "**1" "=.." "*.." "***" "quote" "quasiquote" "unquote" "unquote-splicing" "?" "=" "and"
        "or" "not" "$" "struct" "@" "object" "get!" "set!"))

    (define (find-tail ok? l)
      (cond ((null? l) #f)
            ((ok? (car l)) l)
            (else (find-tail ok? (cdr l)))))

    ;; (matcher rename compare) is (lambda (who occurrences clauses) code); with one argument, the variables of a
    ;; pattern.
    (define (matcher rename compare)
      (define count 0)
      (define (fresh name)
        (set! count (+ count 1))
        (rename (string->symbol (string-append name (number->string count)))))
      (define %and (rename 'and))
      (define %car (rename 'car))
      (define %cdr (rename 'cdr))
      (define %cons (rename 'cons))
      (define %eq? (rename 'eq?))
      (define %equal? (rename 'equal?))
      (define %eqv? (rename 'eqv?))
      (define %if (rename 'if))
      (define %lambda (rename 'lambda))
      (define %let (rename 'let))
      (define %list? (rename 'list?))
      (define %null? (rename 'null?))
      (define %pair? (rename 'pair?))
      (define %quote (rename 'quote))
      (define %reverse (rename 'reverse))
      (define %vector-length (rename 'vector-length))
      (define %vector-ref (rename 'vector-ref))
      (define %vector? (rename 'vector?))

      ;;; Reading

      ;; The keyword that an identifier is, or #f.
      (define (keyword x)
        (and (symbol? x)
             (let ((name (symbol->string x)))
               (and (member name keywords)
                    (let ((symbol (string->symbol name)))
                      (and (compare x (rename symbol)) symbol))))))

      ;; How often `x` says what stands before it may come: (least most), or (exactly), (between) for those that are
      ;; followed by numbers, or #f. `..k` is k times or more.
      (define (repetition x)
        (case (keyword x)
          ((... ___) '(0 #f))
          ((..1 **1) '(1 #f))
          ((=..) '(exactly))
          ((*..) '(between))
          (else
           (and (symbol? x)
                (let* ((name (symbol->string x)) (n (string-length name)))
                  (and (< 2 n)
                       (member (substring name 0 2) '(".." "__"))
                       (let ((k (string->number (substring name 2 n))))
                         (and k (exact-integer? k) (list k #f)))))))))

      (define (bad what p)
        (error (string-append "match: " what) p))
      (define (expect-length p least most)
        (let ((n (length p)))
          (if (or (< n least) (and most (> n most)))
              (bad "this pattern has a wrong number of parts:" p))))

      (define (parse p)
        (cond
          ((symbol? p)
           (cond ((eq? (keyword p) '_) '(any))
                 ((repetition p) (bad "nothing stands before the ellipsis:" p))
                 (else (list 'var p))))
          ((pair? p) (or (and (list? p) (parse-form (keyword (car p)) p)) (parse-pair p parse)))
          ((vector? p) (parse-vector p parse))
          (else (list 'literal p))))

      ;; A pattern that begins with a keyword, or #f.
      (define (parse-form k p)
        (case k
          ((quote)
           (expect-length p 2 2)
           (parse-quoted (cadr p)))
          ((quasiquote)
           (expect-length p 2 2)
           (parse-quasi (cadr p)))
          ((?)
           (expect-length p 2 #f)
           `(test ,(cadr p) ,@(map parse (cddr p))))
          ((=)
           (expect-length p 3 3)
           (list 'view (cadr p) (parse (cadr (cdr p)))))
          ((and) (cons 'and (map parse (cdr p))))
          ((or) (cons 'or (map parse (cdr p))))
          ((not)
           (if (and (pair? (cdr p)) (null? (cddr p)))
               (list 'not (parse (cadr p)))
               (list 'not (cons 'or (map parse (cdr p))))))
          (($ struct)
           (expect-length p 2 #f)
           `(record ,(cadr p) ,@(map parse (cddr p))))
          ((@ object)
           (if (and (pair? (cdr p)) (symbol? (cadr p)))
               `(fields ,(cadr p)
                        ,@(map (lambda (f)
                                 (if (and (list? f) (= (length f) 2) (symbol? (car f)))
                                     (cons (car f) (parse (cadr f)))
                                     (bad "a field is (name pattern):" f)))
                               (cddr p)))
               (bad "the record type is missing:" p)))
          ((get!)
           (expect-length p 2 2)
           (list 'getter (cadr p)))
          ((set!)
           (expect-length p 2 2)
           (list 'setter (cadr p)))
          (else #f)))

      ;; Both parts of a pair are read by `sub`.
      (define (parse-pair p sub)
        (let* ((rest (cdr p)) (mark (and (pair? rest) (symbol? (car rest)) (car rest)))
               (times (and mark (repetition mark))))
          (cond
            (times
             (let ((numbers (case (car times)
                              ((exactly) 1)
                              ((between) 2)
                              (else 0)))
                   (after (cdr rest)))
               (if (not (and (<= numbers (count-pairs after))
                             (or (< numbers 1) (exact-integer? (car after)))
                             (or (< numbers 2) (exact-integer? (cadr after)))))
                   (bad "numbers are missing after the ellipsis:" p))
               (case numbers
                 ((0) (list 'dots (sub (car p)) (car times) (cadr times) (parse-tail after sub)))
                 ((1) (list 'dots (sub (car p)) (car after) (car after) (parse-tail (cdr after) sub)))
                 (else (list 'dots (sub (car p)) (car after) (cadr after) (parse-tail (cddr after) sub))))))
            ((and mark (eq? (keyword mark) '***))
             (if (= (count-pairs rest) 2)
                 (list 'search (sub (car p)) (sub (cadr rest)))
                 (bad "one pattern is expected after ***:" p)))
            (else (list 'pair (sub (car p)) (sub rest))))))

      (define (parse-tail tail sub)
        (cond ((not (pair? tail)) (sub tail))
              ((repetition (car tail)) (bad "two ellipses in one list:" tail))
              ((and (pair? (cdr tail)) (repetition (cadr tail))) (bad "two ellipses in one list:" tail))
              (else (list 'pair (sub (car tail)) (parse-tail (cdr tail) sub)))))

      (define (parse-vector p sub)
        (let ((l (vector->list p)))
          (if (find-tail repetition l)
              `(test ,%vector? (view ,(rename 'vector->list) ,(parse-pair-list l sub)))
              (cons 'vector (map sub l)))))
      ;; A list that is no form, whatever it begins with.
      (define (parse-pair-list l sub)
        (if (pair? l)
            (if (and (pair? (cdr l)) (repetition (cadr l)))
                (parse-pair l sub)
                (list 'pair (sub (car l)) (parse-pair-list (cdr l) sub)))
            '(literal ())))

      (define (parse-quoted d)
        (cond ((pair? d) (list 'pair (parse-quoted (car d)) (parse-quoted (cdr d))))
              ((vector? d) (cons 'vector (map parse-quoted (vector->list d))))
              (else (list 'literal d))))

      (define (parse-quasi d)
        (define (form? x name)
          (and (pair? x) (eq? (keyword (car x)) name) (pair? (cdr x)) (null? (cddr x))))
        (cond
          ((form? d 'unquote) (parse (cadr d)))
          ((form? d 'quasiquote) (bad "a quasiquotation in another one:" d))
          ((and (pair? d) (form? (car d) 'unquote-splicing))
           (let ((p (parse (cadr (car d)))))
             (cond ((null? (cdr d)) p)
                   ((memq (car p) '(any var)) (list 'dots p 0 #f (parse-tail (cdr d) parse-quasi)))
                   (else (bad "only a variable can be spliced before the end of a list:" d)))))
          ((pair? d) (parse-pair d parse-quasi))
          ((vector? d) (parse-vector d parse-quasi))
          (else (list 'literal d))))

      ;; The variables of a pattern, each once, before those of `seen`.
      (define (variables p seen)
        (define (all ps seen)
          (if (pair? ps) (all (cdr ps) (variables (car ps) seen)) seen))
        (case (car p)
          ((var getter setter) (if (memq (cadr p) seen) seen (cons (cadr p) seen)))
          ((pair vector and or search) (all (cdr p) seen))
          ((record test view) (all (cddr p) seen))
          ((fields) (all (map cdr (cddr p)) seen))
          ((dots) (all (list (cadr p) (list-ref p 4)) seen))
          (else seen)))

      ;;; Rows

      (define (row patterns bindings can-fail? body) (vector patterns bindings can-fail? body))
      (define (patterns row) (vector-ref row 0))
      (define (bindings row) (vector-ref row 1))
      (define (can-fail? row) (vector-ref row 2))
      (define (body row) (vector-ref row 3))
      (define (with-patterns r ps) (row ps (bindings r) (can-fail? r) (body r)))
      (define (bind r id variable) (row (patterns r) (cons (list id variable #f) (bindings r)) (can-fail? r) (body r)))

      (define (bound-here r id)
        (let ((b (assq id (bindings r))))
          (and b (not (cadr (cdr b))) b)))

      (define (occurrence name getter setter) (list name getter setter))
      (define (plain name) (list name name #f))

      ;; An expression of the program, which sees the variables to its left.
      (define (scoped expr bindings)
        (define (mentions? x id)
          (cond ((pair? x) (or (mentions? (car x) id) (mentions? (cdr x) id)))
                ((vector? x) (mentions? (vector->list x) id))
                (else (eq? x id))))
        (let loop ((bs bindings) (seen '()) (used '()))
          (cond
            ((null? bs) (if (null? used) expr `(,%let ,used ,expr)))
            ((or (memq (car (car bs)) seen) (not (mentions? expr (car (car bs))))) (loop (cdr bs) seen used))
            (else (loop (cdr bs) (cons (car (car bs)) seen) (cons (list (car (car bs)) (cadr (car bs))) used))))))

      (define (kind r)
        (let ((p (car (patterns r))))
          (case (car p)
            ((any) 'any)
            ((var) (if (bound-here r (cadr p)) 'other 'any))
            ((pair literal vector) 'constructor)
            (else 'other))))

      ;; The code that looks at `occurrences`, as `rows` say, and otherwise is the expression `fail`.
      (define (compile occurrences rows fail)
        (cond
          ((null? rows) fail)
          ((null? occurrences)
           (let ((r (car rows)))
             (if (and (can-fail? r) (pair? (cdr rows)))
                 (later (compile '() (cdr rows) fail) (lambda (fail) ((body r) (bindings r) fail)))
                 ((body r) (bindings r) fail))))
          (else
           (let* ((k (kind (car rows))) (n (if (eq? k 'other) 1 (run-length k rows))) (rest (list-tail rows n)))
             (define (run fail)
               (let ((these (list-copy-n rows n)))
                 (case k
                   ((any) (compile-variables occurrences these fail))
                   ((constructor) (compile-constructors occurrences these fail))
                   (else (compile-other (car occurrences) (cdr occurrences) (car these) fail)))))
             (if (null? rest)
                 (run fail)
                 (later (compile occurrences rest fail) run))))))

      (define (run-length k rows)
        (if (and (pair? rows) (eq? (kind (car rows)) k)) (+ 1 (run-length k (cdr rows))) 0))
      (define (list-copy-n l n)
        (if (= n 0) '() (cons (car l) (list-copy-n (cdr l) (- n 1)))))

      ;; Code that may go on with `code` in several places.
      (define (later code use)
        (if (and (pair? code) (null? (cdr code)))
            (use code)
            (let ((f (fresh "next")))
              `(,%let ((,f (,%lambda () ,code))) ,(use (list f))))))

      (define (compile-variables occurrences rows fail)
        (compile (cdr occurrences)
                 (map (lambda (r)
                        (let ((p (car (patterns r))) (rest (with-patterns r (cdr (patterns r)))))
                          (if (eq? (car p) 'var) (bind rest (cadr p) (car (car occurrences))) rest)))
                      rows)
                 fail))

      (define (same-datum? a b)
        (if (symbol? a)
            (and (symbol? b) (string=? (symbol->string a) (symbol->string b)))
            (equal? a b)))
      (define (same-constructor? p q)
        (and (eq? (car p) (car q))
             (case (car p)
               ((pair) #t)
               ((vector) (= (length p) (length q)))
               (else (same-datum? (cadr p) (cadr q))))))

      (define (compile-constructors occurrences rows fail)
        (let* ((o (car occurrences)) (name (car o)))
          (let next-group ((rows rows))
            (if (null? rows)
                fail
                (let* ((p (car (patterns (car rows))))
                       (here? (lambda (r) (same-constructor? p (car (patterns r)))))
                       (group (select here? rows))
                       (rest (select (lambda (r) (not (here? r))) rows))
                       (opened (map (lambda (r)
                                      (let ((ps (patterns r)))
                                        (with-patterns
                                         r
                                         (if (eq? (car p) 'literal) (cdr ps) (append (cdr (car ps)) (cdr ps))))))
                                    group)))
                  (define (go-on parts)
                    (compile (append parts (cdr occurrences)) opened fail))
                  (case (car p)
                    ((literal)
                     (let ((d (cadr p)))
                       `(,%if ,(cond ((null? d) `(,%null? ,name))
                                     ((or (symbol? d) (boolean? d)) `(,%eq? ,name (,%quote ,d)))
                                     ((or (number? d) (char? d)) `(,%eqv? ,name (,%quote ,d)))
                                     (else `(,%equal? ,name (,%quote ,d))))
                              ,(go-on '())
                              ,(next-group rest))))
                    ((pair)
                     (let ((a (fresh "car")) (d (fresh "cdr")))
                       `(,%if (,%pair? ,name)
                              (,%let ((,a (,%car ,name)) (,d (,%cdr ,name)))
                                ,(go-on (list (occurrence a `(,%car ,name) `(,(rename 'set-car!) ,name))
                                              (occurrence d `(,%cdr ,name) `(,(rename 'set-cdr!) ,name)))))
                              ,(next-group rest))))
                    (else
                     (let* ((n (length (cdr p)))
                            (parts (numbered n (lambda (i)
                                                 (occurrence (fresh "element") `(,%vector-ref ,name ,i)
                                                             `(,(rename 'vector-set!) ,name ,i))))))
                       `(,%if (,%and (,%vector? ,name) (,(rename '=) (,%vector-length ,name) ,n))
                              ,(bind-parts parts (go-on parts))
                              ,(next-group rest))))))))))

      (define (select ok? l)
        (cond ((null? l) '())
              ((ok? (car l)) (cons (car l) (select ok? (cdr l))))
              (else (select ok? (cdr l)))))
      (define (numbered n make)
        (let loop ((i 0))
          (if (= i n) '() (cons (make i) (loop (+ i 1))))))
      (define (bind-parts parts code)
        `(,%let ,(map (lambda (o) (list (car o) (cadr o))) parts) ,code))

      ;; One row whose first pattern is neither a variable nor a constructor.
      (define (compile-other o rest-occurrences r fail)
        (let ((p (car (patterns r))) (name (car o)) (others (cdr (patterns r))))
          ;; the rest of the row, with new columns before it
          (define (go-on occurrences ps fail)
            (compile (append occurrences rest-occurrences) (list (with-patterns r (append ps others))) fail))
          (define (bound id variable)
            (go-on (list (plain variable)) (list (list 'var id)) fail))
          (case (car p)
            ((var)
             `(,%if (,%equal? ,name ,(cadr (bound-here r (cadr p)))) ,(go-on '() '() fail) ,fail))
            ((and) (go-on (map (lambda (p) o) (cdr p)) (cdr p) fail))
            ((or) (compile-or o p r go-on fail))
            ((not)
             (later (go-on '() '() fail)
                    (lambda (success)
                      (compile (list o) (list (row (cdr p) (outer r) #f (lambda (bs no) fail))) success))))
            ((test)
             `(,%if (,(scoped (cadr p) (bindings r)) ,name)
                    ,(go-on (map (lambda (p) o) (cddr p)) (cddr p) fail)
                    ,fail))
            ((view)
             (let ((x (fresh "view")))
               `(,%let ((,x (,(scoped (cadr p) (bindings r)) ,name)))
                  ,(go-on (list (plain x)) (cddr p) fail))))
            ((record)
             (let* ((type (cadr p))
                    (n (length (cddr p)))
                    (parts (numbered n (lambda (i)
                                         (occurrence (fresh "field") `(,(rename '%record-ref) ,name ,type ,i)
                                                     `(,(rename 'set-field!) ,name ,type ,i))))))
               `(,%if (,(rename 'record-of?) ,name ,type ,n)
                      ,(bind-parts parts (go-on parts (cddr p) fail))
                      ,fail)))
            ((fields)
             (let* ((type (cadr p))
                    (parts (map (lambda (f)
                                  (let ((index `(,(rename 'field-index) ,type (,%quote ,(car f)))))
                                    (occurrence (fresh "field") `(,(rename 'field) ,name ,type ,index)
                                                `(,(rename 'set-field!) ,name ,type ,index))))
                                (cddr p))))
               `(,%if (,(rename 'record-of?) ,name ,type ,(length parts))
                      ,(bind-parts parts (go-on parts (map cdr (cddr p)) fail))
                      ,fail)))
            ((getter)
             (let ((g (fresh "get")))
               `(,%let ((,g (,%lambda () ,(cadr o)))) ,(bound (cadr p) g))))
            ((setter)
             (let ((s (fresh "set")) (x (fresh "new")) (setter (cadr (cdr o))))
               (if (not setter) (bad "nothing can be put where this pattern stands:" (cadr p)))
               `(,%let ((,s (,%lambda (,x) (,@setter ,x)))) ,(bound (cadr p) s))))
            ((dots) (compile-dots o p r go-on fail))
            (else (compile-search o p r go-on fail)))))

      ;; The bindings of a row for a part of it whose variables are others.
      (define (outer r)
        (map (lambda (b) (list (car b) (cadr b) #t)) (bindings r)))

      ;; The rest of the row is a procedure of the variables that the alternatives bind, and, if the rest can fail, of
      ;; a thunk that goes on with the next alternative.
      (define (compile-or o p r go-on fail)
        (let* ((old (map car (select (lambda (b) (not (cadr (cdr b)))) (bindings r))))
               (new (select (lambda (id) (not (memq id old))) (variables p '())))
               (names (map (lambda (id) (fresh "or")) new))
               (again? (or (can-fail? r)
                           (find-tail (lambda (p) (not (memq (car p) '(any var)))) (cdr (patterns r)))
                           (pair? old)))
               (k (fresh "then"))
               (again (fresh "again")))
          `(,%let ((,k (,%lambda (,@names ,@(if again? (list again) '()))
                         ,(go-on (map plain names) (map (lambda (id) (list 'var id)) new)
                                 (if again? (list again) fail)))))
             ,(later
               fail
               (lambda (fail)
                 (compile
                  (list o)
                  (map (lambda (p)
                         (row (list p) (bindings r) again?
                              (lambda (bs fail)
                                `(,k ,@(map (lambda (id)
                                              (let ((b (assq id bs)))
                                                (if (and b (not (cadr (cdr b)))) (cadr b) #f)))
                                            new)
                                     ,@(if again? `((,%lambda () ,fail)) '())))))
                       (cdr p))
                  fail))))))

      ;; Loops over elements, keeping in lists what the variables were.
      (define (compile-dots o p r go-on fail)
        (let* ((sub (cadr p)) (least (list-ref p 2)) (most (list-ref p 3)) (tail (list-ref p 4)) (name (car o))
               (to-end? (and (equal? tail '(literal ())) (not most))))
          (if (and to-end? (memq (car sub) '(any var)) (< least 2))
              `(,%if ,(if (= least 0)
                          `(,%list? ,name)
                          `(,%and (,%pair? ,name) (,%list? ,name)))
                     ,(go-on (list o) (list sub) fail)
                     ,fail)
              (let* ((ids (variables sub '()))
                     (collected (map (lambda (id) (fresh "collected")) ids))
                     (lists (map (lambda (id) (fresh "list")) ids))
                     (loop (fresh "loop")) (l (fresh "rest")) (n (fresh "n")) (x (fresh "element"))
                     (counted? (or (not to-end?) (> least 0)))
                     (element
                      `(,%let ((,x (,%car ,l)))
                         ,(compile
                           (list (occurrence x `(,%car ,l) `(,(rename 'set-car!) ,l)))
                           (list (row (list sub) (outer r) #f
                                      (lambda (bs fail)
                                        `(,loop (,%cdr ,l)
                                                ,@(if counted? `((,(rename '-) ,n 1)) '())
                                                ,@(map (lambda (id c) `(,%cons ,(cadr (assq id bs)) ,c)) ids
                                                       collected)))))
                           fail)))
                     (end
                      `(,%let ,(map (lambda (l c) `(,l (,%reverse ,c))) lists collected)
                         ,(go-on (append (map plain lists) (list (plain l)))
                                 (append (map (lambda (id) (list 'var id)) ids) (list tail))
                                 fail)))
                     (starts (map (lambda (c) `(,c (,%quote ()))) collected)))
                (if counted?
                    (let ((all (fresh "all")))
                      `(,%let ((,all (,(rename '-) (,(rename 'count-pairs) ,name) ,(tail-length tail))))
                         (,%if ,(if most
                                    `(,(rename '<=) ,least ,all ,most)
                                    `(,(rename '<=) ,least ,all))
                               (,%let ,loop ((,l ,name) (,n ,all) ,@starts)
                                 (,%if (,(rename '>) ,n 0) ,element ,end))
                               ,fail)))
                    `(,%let ,loop ((,l ,name) ,@starts)
                       (,%if (,%pair? ,l) ,element ,end)))))))
      (define (tail-length tail)
        (if (eq? (car tail) 'pair) (+ 1 (tail-length (cadr (cdr tail)))) 0))

      ;; Tries the tree itself, then the elements of a list behind a head that fits.
      (define (compile-search o p r go-on fail)
        (let* ((head (cadr p)) (goal (cadr (cdr p)))
               (ids (variables head '()))
               (collected (map (lambda (id) (fresh "collected")) ids))
               (lists (map (lambda (id) (fresh "list")) ids))
               (try (fresh "try")) (w (fresh "tree")) (more (fresh "more")) (step (fresh "step"))
               (each (fresh "each")) (l (fresh "rest")) (x (fresh "head")))
          `(,%let ,try ((,w ,(car o)) (,more (,%lambda () ,fail)) ,@(map (lambda (c) `(,c (,%quote ()))) collected))
             (,%let ((,step
                      (,%lambda ()
                        (,%if (,%pair? ,w)
                              (,%let ((,x (,%car ,w)))
                                ,(compile
                                  (list (plain x))
                                  (list (row (list head) (outer r) #f
                                             (lambda (bs fail)
                                               `(,%let ,each ((,l (,%cdr ,w)))
                                                  (,%if (,%pair? ,l)
                                                        (,try (,%car ,l) (,%lambda () (,each (,%cdr ,l)))
                                                              ,@(map (lambda (id c) `(,%cons ,(cadr (assq id bs)) ,c))
                                                                     ids collected))
                                                        (,more))))))
                                  (list more)))
                              (,more))))
                     ,@(map (lambda (l c) `(,l (,%reverse ,c))) lists collected))
               ,(go-on (append (map plain lists) (list (plain w)))
                       (append (map (lambda (id) (list 'var id)) ids) (list goal))
                       (list step))))))

      ;;; Clauses

      ;; ((pattern …) body …), perhaps with (=> id) before the body.
      (define (clause-row clause n)
        (if (not (and (list? clause) (pair? clause) (list? (car clause)) (pair? (cdr clause))))
            (bad "a clause is (pattern body …):" clause))
        (if (not (= (length (car clause)) n))
            (bad "a clause has another number of patterns than there are values:" (car clause)))
        (let* ((forms (cdr clause))
               (failure (and (pair? (car forms)) (list? (car forms)) (= (length (car forms)) 2)
                             (symbol? (car (car forms))) (compare (car (car forms)) (rename '=>))
                             (cadr (car forms))))
               (forms (if failure (cdr forms) forms)))
          (row (map parse (car clause)) '() (and failure #t)
               (lambda (bs fail)
                 `(,%let (,@(map (lambda (b) (list (car b) (cadr b))) (reverse bs))
                          ,@(if failure `((,failure (,%lambda () ,fail))) '()))
                    ,@forms)))))

      (lambda (who . more)
        (if (null? more)
            (reverse (variables (parse who) '()))
            (let ((names (car more)) (clauses (cadr more)))
              (later `(,(rename 'no-match) ,who ,@names)
                     (lambda (fail)
                       (compile (map plain names)
                                (map (lambda (c) (clause-row c (length names))) clauses)
                                fail)))))))

    ;; (match-on "who" (variable …) ((pattern …) body …) …)
    (define-syntax match-on
      (er-macro-transformer
       (lambda (form rename compare)
         ((matcher rename compare) (cadr form) (cadr (cdr form)) (cddr (cdr form))))))

    ;;;; The forms

    (define-syntax match
      (syntax-rules ()
        ((_ e (pattern . body) ...)
         (let ((value e)) (match-on "match" (value) ((pattern) . body) ...)))))

    ;; Several values at once: (match* (e …) ((pattern …) body …) …).
    (define-syntax match*
      (er-macro-transformer
       (lambda (form rename compare)
         (let loop ((es (cadr form)) (names '()))
           (if (pair? es)
               (loop (cdr es)
                     (cons (rename (string->symbol (string-append "value" (number->string (length names))))) names))
               (let ((names (reverse names)))
                 `(,(rename 'let) ,(map list names (cadr form))
                   (,(rename 'match-on) "match*" ,names ,@(cddr form)))))))))

    (define-syntax match-lambda
      (syntax-rules ()
        ((_ (pattern . body) ...)
         (lambda (value) (match-on "match-lambda" (value) ((pattern) . body) ...)))))

    (define-syntax match-lambda*
      (syntax-rules ()
        ((_ (pattern . body) ...)
         (lambda values (match-on "match-lambda*" (values) ((pattern) . body) ...)))))

    (define-syntax match-let
      (syntax-rules ()
        ((_ ((pattern e) ...) . body) (match-let "collect" () () ((pattern e) ...) body))
        ((_ "collect" (p ...) (b ...) ((pattern e) . more) body)
         (match-let "collect" (p ... pattern) (b ... (value e)) more body))
        ((_ "collect" (p ...) ((name e) ...) () body)
         (let ((name e) ...) (match-on "match-let" (name ...) ((p ...) (let () . body)))))
        ((_ loop ((pattern e) ...) . body) (match-let "named" loop () () ((pattern e) ...) body))
        ((_ "named" loop (p ...) (b ...) ((pattern e) . more) body)
         (match-let "named" loop (p ... pattern) (b ... (value e)) more body))
        ((_ "named" loop (p ...) ((name e) ...) () body)
         ((letrec ((loop (lambda (name ...) (match-on "match-let" (name ...) ((p ...) (let () . body)))))) loop) e
          ...))))

    (define-syntax match-let*
      (syntax-rules ()
        ((_ () . body) (let () . body))
        ((_ ((pattern e) . more) . body)
         (let ((value e)) (match-on "match-let*" (value) ((pattern) (match-let* more . body)))))))

    (define-syntax match-letrec
      (syntax-rules ()
        ((_ ((pattern e) ...) . body)
         (let () (match-define pattern e) ... (let () . body)))))

    ;; Defines the variables of a pattern.
    (define-syntax match-define
      (er-macro-transformer
       (lambda (form rename compare)
         (let ((vars ((matcher rename compare) (cadr form))) (value (rename 'value)))
           `(,(rename 'define-values) ,vars
             (,(rename 'let) ((,value ,(cadr (cdr form))))
              (,(rename 'match-on) "match-define" (,value) ((,(cadr form)) (,(rename 'values) ,@vars)))))))))))
