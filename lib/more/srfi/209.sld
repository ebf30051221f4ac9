;;; (srfi 209): enumerations.
;;;
;;; An enumeration type has a vector of its members; a set of members is an integer whose bits are their ordinals.
;;; Procedures with `!` make new sets, too.
(define-library (srfi 209)
  (export
   enum-type? enum? enum-set? enum-type-contains? enum=? enum<? enum>? enum<=? enum>=?
   make-enum-type enum-type enum-name enum-ordinal enum-value enum-name->enum enum-ordinal->enum enum-name->ordinal
   enum-name->value enum-ordinal->name enum-ordinal->value enum-type-size enum-min enum-max enum-type-enums
   enum-type-names enum-type-values enum-next enum-prev make-enum-comparator
   enum-empty-set enum-type->enum-set enum-set list->enum-set enum-set-projection enum-set-copy make-enumeration
   enum-set-universe enum-set-constructor enum-set-contains? enum-set-member? enum-set-empty? enum-set-disjoint?
   enum-set=? enum-set<? enum-set>? enum-set<=? enum-set>=? enum-set-subset? enum-set-any? enum-set-every?
   enum-set-type enum-set-indexer enum-set-adjoin enum-set-adjoin! enum-set-delete enum-set-delete!
   enum-set-delete-all enum-set-delete-all! enum-set-size enum-set->enum-list enum-set->list enum-set-count
   enum-set-filter enum-set-filter! enum-set-remove enum-set-remove! enum-set-map->list enum-set-for-each
   enum-set-fold enum-set-complement enum-set-complement! enum-set-union enum-set-union! enum-set-intersection
   enum-set-intersection! enum-set-difference enum-set-difference! enum-set-xor enum-set-xor!
   define-enum define-enumeration)
  (import (scheme base) (only (srfi 128) make-comparator) (only (cairn control) wrong-type)
          (only (cairn number) bitwise-and bitwise-ior bitwise-xor bitwise-not arithmetic-shift bit-count)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (cairn records) show-fields!))
  (begin

    (define-record-type <enum-type>
      (new-type names)
      enum-type?
      (names names-of)
      (members members-of set-members!))
    (show-fields! <enum-type> '())
    (define-record-type <enum>
      (new-enum name ordinal value type)
      enum?
      (name name-of)
      (ordinal ordinal-of)
      (value value-of)
      (type type-of))
    (show-fields! <enum> '(name ordinal))
    (define-record-type <enum-set>
      (wrap type bits)
      enum-set?
      (type set-type)
      (bits bits-of))
    (show-fields! <enum-set> '())

    (define (check-type who x)
      (if (enum-type? x) x (wrong-type who "an enumeration type" x)))
    (define (check-enum who x)
      (if (enum? x) x (wrong-type who "a member of an enumeration" x)))
    (define (check-set who x)
      (if (enum-set? x) x (wrong-type who "a set of an enumeration" x)))
    (define (check-member who type x)
      (if (not (and (enum? x) (eq? type (type-of x))))
          (error (string-append who ": not a member of the enumeration:") x (names who type))))
    (define (check-procedure who x)
      (if (not (procedure? x)) (wrong-type who "a procedure" x)))
    (define (check-list who x what)
      (if (list? x) x (wrong-type who what x)))

    ;;;; Types

    ;; A list of names and of (name value).
    (define (make-enum-type l)
      (if (not (list? l)) (wrong-type "make-enum-type" "a list of names" l))
      (let* ((type (new-type (make-hash-table eq?))) (members (make-vector (length l))))
        (let loop ((i 0) (l l))
          (if (pair? l)
              (let* ((x (car l))
                     (name (if (pair? x) (car x) x))
                     (value (if (pair? x) (cadr x) i))
                     (enum (new-enum name i value type)))
                (if (not (symbol? name)) (wrong-type "make-enum-type" "a name or (name value)" x))
                (if (hash-table-ref/default (names-of type) name #f)
                    (error "make-enum-type: two members have the same name:" name))
                (hash-table-set! (names-of type) name enum)
                (vector-set! members i enum)
                (loop (+ i 1) (cdr l)))))
        (set-members! type members)
        type))

    (define (enum-type-contains? type x)
      (and (eq? (check-type "enum-type-contains?" type) (type-of (check-enum "enum-type-contains?" x))) #t))
    (define (enum-type x) (type-of (check-enum "enum-type" x)))
    (define (enum-name x) (name-of (check-enum "enum-name" x)))
    (define (enum-ordinal x) (ordinal-of (check-enum "enum-ordinal" x)))
    (define (enum-value x) (value-of (check-enum "enum-value" x)))

    ;; A member by name or ordinal, or #f; and one that must be there.
    (define (by-name who type name)
      (if (not (symbol? name)) (wrong-type who "a symbol" name))
      (hash-table-ref/default (names-of (check-type who type)) name #f))
    (define (by-ordinal who type i)
      (if (not (and (exact-integer? i) (>= i 0))) (wrong-type who "an ordinal" i))
      (let ((members (members-of (check-type who type))))
        (and (< i (vector-length members)) (vector-ref members i))))
    (define (found who x key)
      (or x (error (string-append who ": the enumeration has no such member:") key)))
    (define (enum-name->enum type name) (by-name "enum-name->enum" type name))
    (define (enum-ordinal->enum type i) (by-ordinal "enum-ordinal->enum" type i))
    (define-syntax define-finders
      (syntax-rules ()
        ((_ (name of by) ...)
         (begin
           (define (name type key)
             (let ((who (symbol->string 'name))) (of (found who (by who type key) key))))
           ...))))
    (define-finders
      (enum-name->ordinal ordinal-of by-name) (enum-name->value value-of by-name)
      (enum-ordinal->name name-of by-ordinal) (enum-ordinal->value value-of by-ordinal))

    (define (enums who type) (vector->list (members-of (check-type who type))))
    (define (size who type) (vector-length (members-of (check-type who type))))
    (define (names who type) (map name-of (enums who type)))
    (define (enum-type-size type) (size "enum-type-size" type))
    (define (enum-min type) (by-ordinal "enum-min" type 0))
    (define (enum-max type)
      (let ((n (size "enum-max" type)))
        (and (> n 0) (by-ordinal "enum-max" type (- n 1)))))
    (define (enum-type-enums type) (enums "enum-type-enums" type))
    (define (enum-type-names type) (names "enum-type-names" type))
    (define (enum-type-values type) (map value-of (enums "enum-type-values" type)))
    (define (enum-next x)
      (check-enum "enum-next" x)
      (by-ordinal "enum-next" (type-of x) (+ (ordinal-of x) 1)))
    (define (enum-prev x)
      (let ((i (ordinal-of (check-enum "enum-prev" x))))
        (and (> i 0) (by-ordinal "enum-prev" (type-of x) (- i 1)))))

    (define (comparison who holds?)
      (lambda (a . rest)
        (check-enum who a)
        (for-each (lambda (b) (check-member who (type-of a) b)) rest)
        (let loop ((a a) (rest rest))
          (or (null? rest)
              (and (holds? (ordinal-of a) (ordinal-of (car rest))) (loop (car rest) (cdr rest)))))))
    (define enum=? (comparison "enum=?" =))
    (define enum<? (comparison "enum<?" <))
    (define enum>? (comparison "enum>?" >))
    (define enum<=? (comparison "enum<=?" <=))
    (define enum>=? (comparison "enum>=?" >=))

    (define (make-enum-comparator type)
      (check-type "make-enum-comparator" type)
      (make-comparator (lambda (x) (and (enum? x) (eq? type (type-of x))))
                       eq?
                       (lambda (a b) (< (ordinal-of a) (ordinal-of b)))
                       (lambda (x . bound) (ordinal-of x))))

    ;;;; Sets

    (define (bit x) (arithmetic-shift 1 (ordinal-of x)))
    (define (all-bits type) (- (arithmetic-shift 1 (vector-length (members-of type))) 1))
    (define (add who type bits enums)
      (if (null? enums)
          bits
          (begin
            (check-member who type (car enums))
            (add who type (bitwise-ior bits (bit (car enums))) (cdr enums)))))
    (define (members s)
      (let loop ((l (vector->list (members-of (set-type s)))) (bits (bits-of s)))
        (cond ((= bits 0) '())
              ((odd? bits) (cons (car l) (loop (cdr l) (arithmetic-shift bits -1))))
              (else (loop (cdr l) (arithmetic-shift bits -1))))))

    (define (enum-empty-set type) (wrap (check-type "enum-empty-set" type) 0))
    (define (enum-type->enum-set type) (wrap (check-type "enum-type->enum-set" type) (all-bits type)))
    (define (list->enum-set type enums) (of-list "list->enum-set" type enums))
    (define (of-list who type enums)
      (check-type who type)
      (wrap type (add who type 0 (check-list who enums "a list of members"))))
    (define (enum-set type . enums) (wrap type (add "enum-set" (check-type "enum-set" type) 0 enums)))
    (define (enum-set-copy s) (wrap (set-type (check-set "enum-set-copy" s)) (bits-of s)))
    ;; The members of the other type that have the same names.
    (define (enum-set-projection type-or-set s)
      (let ((type (if (enum-set? type-or-set) (set-type type-or-set) (check-type "enum-set-projection" type-or-set))))
        (of-list
         "enum-set-projection" type
         (map (lambda (x) (member-named "enum-set-projection" type (name-of x)))
              (members (check-set "enum-set-projection" s))))))
    (define (member-named who type name) (found who (by-name who type name) name))

    (define (make-enumeration names)
      (check-list "make-enumeration" names "a list of names")
      (for-each (lambda (name) (if (not (symbol? name)) (wrong-type "make-enumeration" "a symbol" name))) names)
      (enum-type->enum-set (make-enum-type (map (lambda (name) (list name name)) names))))
    (define (enum-set-universe s)
      (let ((type (set-type (check-set "enum-set-universe" s))))
        (wrap type (all-bits type))))
    (define (enum-set-constructor s)
      (let ((type (set-type (check-set "enum-set-constructor" s))))
        (lambda (names)
          (of-list "enum-set-constructor" type
                   (map (lambda (name) (member-named "enum-set-constructor" type name))
                        (check-list "enum-set-constructor" names "a list of names"))))))
    (define (enum-set-indexer s)
      (let ((type (set-type (check-set "enum-set-indexer" s))))
        (lambda (name)
          (let ((x (by-name "enum-set-indexer" type name)))
            (and x (ordinal-of x))))))

    (define (in? x s) (not (= 0 (bitwise-and (bits-of s) (bit x)))))
    (define (enum-set-contains? s x)
      (check-member "enum-set-contains?" (set-type (check-set "enum-set-contains?" s)) x)
      (in? x s))
    (define (enum-set-member? name s)
      (in? (member-named "enum-set-member?" (set-type (check-set "enum-set-member?" s)) name) s))
    (define (enum-set-empty? s) (= 0 (bits-of (check-set "enum-set-empty?" s))))

    (define (check-alike who a b)
      (if (not (eq? (set-type (check-set who a)) (set-type (check-set who b))))
          (error (string-append who ": the sets are of different types:") (enum-set->list a) (enum-set->list b))))
    ;; What holds between the bits of two sets of one type.
    (define-syntax define-between
      (syntax-rules ()
        ((_ (name holds?) ...)
         (begin
           (define (name a b)
             (check-alike (symbol->string 'name) a b)
             (holds? (bits-of a) (bits-of b)))
           ...))))
    (define (within? a b) (= a (bitwise-and a b)))
    (define-between
      (enum-set-disjoint? (lambda (a b) (= 0 (bitwise-and a b))))
      (enum-set=? =)
      (enum-set<? (lambda (a b) (and (within? a b) (not (= a b)))))
      (enum-set>? (lambda (a b) (and (within? b a) (not (= a b)))))
      (enum-set<=? within?)
      (enum-set>=? (lambda (a b) (within? b a))))
    (define (enum-set-subset? a b)
      (let ((names (map name-of (members (check-set "enum-set-subset?" b)))))
        (let loop ((l (members (check-set "enum-set-subset?" a))))
          (or (null? l) (and (memq (name-of (car l)) names) (loop (cdr l)))))))

    (define (enum-set-type s) (set-type (check-set "enum-set-type" s)))
    (define (adjoin who s enums)
      (let ((type (set-type (check-set who s))))
        (wrap type (add who type (bits-of s) enums))))
    (define (enum-set-adjoin s . enums) (adjoin "enum-set-adjoin" s enums))
    (define (enum-set-adjoin! s . enums) (adjoin "enum-set-adjoin!" s enums))
    (define (delete who s enums)
      (let ((type (set-type (check-set who s))))
        (wrap type
              (bitwise-and (bits-of s) (bitwise-not (add who type 0 (check-list who enums "a list of members")))))))
    (define (enum-set-delete s . enums) (delete "enum-set-delete" s enums))
    (define (enum-set-delete! s . enums) (delete "enum-set-delete!" s enums))
    (define (enum-set-delete-all s enums) (delete "enum-set-delete-all" s enums))
    (define (enum-set-delete-all! s enums) (delete "enum-set-delete-all!" s enums))

    ;; The members, for a procedure that is given a procedure and a set.
    (define (for-procedure who proc s)
      (check-procedure who proc)
      (members (check-set who s)))
    (define (enum-set-size s) (bit-count (bits-of (check-set "enum-set-size" s))))
    (define (enum-set->enum-list s) (members (check-set "enum-set->enum-list" s)))
    (define (enum-set->list s) (map name-of (members (check-set "enum-set->list" s))))
    (define (enum-set-map->list proc s) (map proc (for-procedure "enum-set-map->list" proc s)))
    (define (enum-set-for-each proc s) (for-each proc (for-procedure "enum-set-for-each" proc s)))
    (define (fold proc nil l)
      (if (null? l) nil (fold proc (proc (car l) nil) (cdr l))))
    (define (enum-set-fold proc nil s) (fold proc nil (for-procedure "enum-set-fold" proc s)))
    (define (enum-set-count pred s)
      (fold (lambda (x n) (if (pred x) (+ n 1) n)) 0 (for-procedure "enum-set-count" pred s)))
    (define (filter who pred keep? s)
      (let ((l (for-procedure who pred s)))
        (wrap (set-type s) (fold (lambda (x bits) (if (keep? x) (bitwise-ior bits (bit x)) bits)) 0 l))))
    (define (enum-set-filter pred s) (filter "enum-set-filter" pred pred s))
    (define (enum-set-filter! pred s) (filter "enum-set-filter!" pred pred s))
    (define (not-that pred) (lambda (x) (not (pred x))))
    (define (enum-set-remove pred s) (filter "enum-set-remove" pred (not-that pred) s))
    (define (enum-set-remove! pred s) (filter "enum-set-remove!" pred (not-that pred) s))
    (define (any? pred l)
      (and (pair? l) (or (and (pred (car l)) #t) (any? pred (cdr l)))))
    (define (enum-set-any? pred s) (any? pred (for-procedure "enum-set-any?" pred s)))
    (define (enum-set-every? pred s) (not (any? (not-that pred) (for-procedure "enum-set-every?" pred s))))

    (define-syntax define-combiners
      (syntax-rules ()
        ((_ (name combine) ...)
         (begin
           (define (name a b)
             (check-alike (symbol->string 'name) a b)
             (wrap (set-type a) (combine (bits-of a) (bits-of b))))
           ...))))
    (define (without a b) (bitwise-and a (bitwise-not b)))
    (define-combiners
      (enum-set-union bitwise-ior) (enum-set-union! bitwise-ior)
      (enum-set-intersection bitwise-and) (enum-set-intersection! bitwise-and)
      (enum-set-difference without) (enum-set-difference! without)
      (enum-set-xor bitwise-xor) (enum-set-xor! bitwise-xor))
    (define (complement who s)
      (let ((type (set-type (check-set who s))))
        (wrap type (bitwise-xor (all-bits type) (bits-of s)))))
    (define (enum-set-complement s) (complement "enum-set-complement" s))
    (define (enum-set-complement! s) (complement "enum-set-complement!" s))

    ;;;; Definitions

    ;; The set of the members that are named in a form.
    (define (set-of who type names)
      (of-list who type (map (lambda (name) (member-named who type name)) names)))

    (define-syntax define-enum
      (syntax-rules ()
        ((_ type-name (member ...) set-name)
         (begin
           (define type (make-enum-type '(member ...)))
           (define-syntax type-name
             (syntax-rules ()
               ((_ name) (member-named (symbol->string 'type-name) type 'name))))
           (define-syntax set-name
             (syntax-rules ()
               ((_ . names) (set-of (symbol->string 'set-name) type 'names))))))))
    (define-syntax define-enumeration
      (syntax-rules ()
        ((_ type-name (member ...) set-name)
         (begin
           (define type (make-enum-type '(member ...)))
           (define-syntax type-name
             (syntax-rules ()
               ((_ name) (name-of (member-named (symbol->string 'type-name) type 'name)))))
           (define-syntax set-name
             (syntax-rules ()
               ((_ . names) (set-of (symbol->string 'set-name) type 'names))))))))))
