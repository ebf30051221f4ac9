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

    (define (check-type who x)
      (if (enum-type? x) x (wrong-type who "an enumeration type" x)))
    (define (check-enum who x)
      (if (enum? x) x (wrong-type who "a member of an enumeration" x)))
    (define (check-set who x)
      (if (enum-set? x) x (wrong-type who "a set of an enumeration" x)))
    (define (check-member who type x)
      (if (not (and (enum? x) (eq? type (type-of x))))
          (error (string-append who ": not a member of the enumeration:") x (enum-type-names type))))

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

    (define (enum-name->enum type name)
      (if (not (symbol? name)) (wrong-type "enum-name->enum" "a symbol" name))
      (hash-table-ref/default (names-of (check-type "enum-name->enum" type)) name #f))
    (define (enum-ordinal->enum type i)
      (if (not (and (exact-integer? i) (>= i 0))) (wrong-type "enum-ordinal->enum" "an ordinal" i))
      (let ((members (members-of (check-type "enum-ordinal->enum" type))))
        (and (< i (vector-length members)) (vector-ref members i))))
    (define (found x key)
      (or x (error "the enumeration has no such member:" key)))
    (define (enum-name->ordinal type name) (ordinal-of (found (enum-name->enum type name) name)))
    (define (enum-name->value type name) (value-of (found (enum-name->enum type name) name)))
    (define (enum-ordinal->name type i) (name-of (found (enum-ordinal->enum type i) i)))
    (define (enum-ordinal->value type i) (value-of (found (enum-ordinal->enum type i) i)))

    (define (enum-type-size type) (vector-length (members-of (check-type "enum-type-size" type))))
    (define (enum-min type) (enum-ordinal->enum type 0))
    (define (enum-max type) (enum-ordinal->enum type (- (enum-type-size type) 1)))
    (define (enum-type-enums type) (vector->list (members-of (check-type "enum-type-enums" type))))
    (define (enum-type-names type) (map name-of (enum-type-enums type)))
    (define (enum-type-values type) (map value-of (enum-type-enums type)))
    (define (enum-next x) (enum-ordinal->enum (enum-type x) (+ (ordinal-of x) 1)))
    (define (enum-prev x)
      (let ((i (enum-ordinal x)))
        (and (> i 0) (enum-ordinal->enum (type-of x) (- i 1)))))

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
    (define (all-bits type) (- (arithmetic-shift 1 (enum-type-size type)) 1))
    (define (add who type bits enums)
      (if (null? enums)
          bits
          (begin
            (check-member who type (car enums))
            (add who type (bitwise-ior bits (bit (car enums))) (cdr enums)))))
    (define (members s)
      (let loop ((l (enum-type-enums (set-type s))) (bits (bits-of s)))
        (cond ((= bits 0) '())
              ((odd? bits) (cons (car l) (loop (cdr l) (arithmetic-shift bits -1))))
              (else (loop (cdr l) (arithmetic-shift bits -1))))))

    (define (enum-empty-set type) (wrap (check-type "enum-empty-set" type) 0))
    (define (enum-type->enum-set type) (wrap (check-type "enum-type->enum-set" type) (all-bits type)))
    (define (list->enum-set type enums) (wrap type (add "list->enum-set" (check-type "list->enum-set" type) 0 enums)))
    (define (enum-set type . enums) (wrap type (add "enum-set" (check-type "enum-set" type) 0 enums)))
    (define (enum-set-copy s) (wrap (set-type (check-set "enum-set-copy" s)) (bits-of s)))
    ;; The members of the other type that have the same names.
    (define (enum-set-projection type-or-set s)
      (let ((type (if (enum-set? type-or-set) (set-type type-or-set) (check-type "enum-set-projection" type-or-set))))
        (list->enum-set
         type
         (map (lambda (x) (found (enum-name->enum type (name-of x)) (name-of x)))
              (members (check-set "enum-set-projection" s))))))

    (define (make-enumeration names)
      (enum-type->enum-set (make-enum-type (map (lambda (name) (list name name)) names))))
    (define (enum-set-universe s) (enum-type->enum-set (set-type (check-set "enum-set-universe" s))))
    (define (enum-set-constructor s)
      (let ((type (set-type (check-set "enum-set-constructor" s))))
        (lambda (names)
          (list->enum-set type (map (lambda (name) (found (enum-name->enum type name) name)) names)))))
    (define (enum-set-indexer s)
      (let ((type (set-type (check-set "enum-set-indexer" s))))
        (lambda (name)
          (let ((x (enum-name->enum type name)))
            (and x (ordinal-of x))))))

    (define (enum-set-contains? s x)
      (check-member "enum-set-contains?" (set-type (check-set "enum-set-contains?" s)) x)
      (not (= 0 (bitwise-and (bits-of s) (bit x)))))
    (define (enum-set-member? name s)
      (let ((x (found (enum-name->enum (set-type (check-set "enum-set-member?" s)) name) name)))
        (enum-set-contains? s x)))
    (define (enum-set-empty? s) (= 0 (bits-of (check-set "enum-set-empty?" s))))

    ;; What holds between the bits of two sets of one type.
    (define (between who holds?)
      (lambda (a b)
        (if (not (eq? (set-type (check-set who a)) (set-type (check-set who b))))
            (error (string-append who ": the sets are of different types:") (enum-set->list a) (enum-set->list b)))
        (holds? (bits-of a) (bits-of b))))
    (define (within? a b) (= a (bitwise-and a b)))
    (define enum-set-disjoint? (between "enum-set-disjoint?" (lambda (a b) (= 0 (bitwise-and a b)))))
    (define enum-set=? (between "enum-set=?" =))
    (define enum-set<? (between "enum-set<?" (lambda (a b) (and (within? a b) (not (= a b))))))
    (define enum-set>? (between "enum-set>?" (lambda (a b) (and (within? b a) (not (= a b))))))
    (define enum-set<=? (between "enum-set<=?" within?))
    (define enum-set>=? (between "enum-set>=?" (lambda (a b) (within? b a))))
    (define (enum-set-subset? a b)
      (let ((names (enum-set->list b)))
        (let loop ((l (enum-set->list a)))
          (or (null? l) (and (memq (car l) names) (loop (cdr l)))))))

    (define (enum-set-type s) (set-type (check-set "enum-set-type" s)))
    (define (enum-set-adjoin s . enums)
      (wrap (set-type (check-set "enum-set-adjoin" s)) (add "enum-set-adjoin" (set-type s) (bits-of s) enums)))
    (define (enum-set-delete-all s enums)
      (let ((type (set-type (check-set "enum-set-delete" s))))
        (wrap type (bitwise-and (bits-of s) (bitwise-not (add "enum-set-delete" type 0 enums))))))
    (define (enum-set-delete s . enums) (enum-set-delete-all s enums))

    (define (enum-set-size s) (bit-count (bits-of (check-set "enum-set-size" s))))
    (define (enum-set->enum-list s) (members (check-set "enum-set->enum-list" s)))
    (define (enum-set->list s) (map name-of (members (check-set "enum-set->list" s))))
    (define (enum-set-map->list proc s) (map proc (members (check-set "enum-set-map->list" s))))
    (define (enum-set-for-each proc s) (for-each proc (members (check-set "enum-set-for-each" s))))
    (define (enum-set-fold proc nil s)
      (let loop ((l (members (check-set "enum-set-fold" s))) (acc nil))
        (if (null? l) acc (loop (cdr l) (proc (car l) acc)))))
    (define (enum-set-count pred s) (enum-set-fold (lambda (x n) (if (pred x) (+ n 1) n)) 0 s))
    (define (enum-set-filter pred s)
      (wrap (enum-set-type s) (enum-set-fold (lambda (x bits) (if (pred x) (bitwise-ior bits (bit x)) bits)) 0 s)))
    (define (enum-set-remove pred s) (enum-set-filter (lambda (x) (not (pred x))) s))
    (define (enum-set-any? pred s)
      (let loop ((l (members (check-set "enum-set-any?" s))))
        (and (pair? l) (or (and (pred (car l)) #t) (loop (cdr l))))))
    (define (enum-set-every? pred s) (not (enum-set-any? (lambda (x) (not (pred x))) s)))

    (define (combiner who combine)
      (let ((bits (between who combine)))
        (lambda (a b) (wrap (set-type (check-set who a)) (bits a b)))))
    (define enum-set-union (combiner "enum-set-union" bitwise-ior))
    (define enum-set-intersection (combiner "enum-set-intersection" bitwise-and))
    (define enum-set-difference
      (combiner "enum-set-difference" (lambda (a b) (bitwise-and a (bitwise-not b)))))
    (define enum-set-xor (combiner "enum-set-xor" bitwise-xor))
    (define (enum-set-complement s)
      (wrap (enum-set-type s) (bitwise-xor (all-bits (set-type s)) (bits-of s))))

    (define enum-set-adjoin! enum-set-adjoin)
    (define enum-set-delete! enum-set-delete)
    (define enum-set-delete-all! enum-set-delete-all)
    (define enum-set-filter! enum-set-filter)
    (define enum-set-remove! enum-set-remove)
    (define enum-set-union! enum-set-union)
    (define enum-set-intersection! enum-set-intersection)
    (define enum-set-difference! enum-set-difference)
    (define enum-set-xor! enum-set-xor)
    (define enum-set-complement! enum-set-complement)

    ;;;; Definitions

    (define (named type name) (found (enum-name->enum type name) name))

    (define-syntax define-enum
      (syntax-rules ()
        ((_ type-name (member ...) set-name)
         (begin
           (define type (make-enum-type '(member ...)))
           (define-syntax type-name
             (syntax-rules ()
               ((_ name) (named type 'name))))
           (define-syntax set-name
             (syntax-rules ()
               ((_ . names) (list->enum-set type (map (lambda (name) (named type name)) 'names)))))))))
    (define-syntax define-enumeration
      (syntax-rules ()
        ((_ type-name (member ...) set-name)
         (begin
           (define type (make-enum-type '(member ...)))
           (define-syntax type-name
             (syntax-rules ()
               ((_ name) (name-of (named type 'name)))))
           (define-syntax set-name
             (syntax-rules ()
               ((_ . names) (list->enum-set type (map (lambda (name) (named type name)) 'names)))))))))))
