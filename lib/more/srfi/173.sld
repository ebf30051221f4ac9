;;; (srfi 173): hooks: lists of procedures that are called one after the other.
(define-library (srfi 173)
  (export make-hook hook? list->hook list->hook! hook-add! hook-delete! hook-reset! hook->list hook-run)
  (import (scheme base) (only (cairn control) wrong-type check-procedure))
  (begin

    (define-record-type hook
      (new-hook arity procedures)
      hook?
      (arity arity-of)
      (procedures procedures-of set-procedures!))

    (define (check who h)
      (if (hook? h) h (wrong-type who "a hook" h)))

    (define (make-hook arity)
      (if (not (and (exact-integer? arity) (>= arity 0))) (wrong-type "make-hook" "a number of arguments" arity))
      (new-hook arity '()))
    (define (list->hook arity procedures)
      (list->hook! (make-hook arity) procedures))
    (define (list->hook! h procedures)
      (for-each (lambda (p) (check-procedure "list->hook" p)) procedures)
      (set-procedures! (check "list->hook!" h) (list-copy procedures))
      h)
    (define (hook-add! h proc)
      (set-procedures! (check "hook-add!" h) (cons (check-procedure "hook-add!" proc) (procedures-of h))))
    (define (hook-delete! h proc)
      (set-procedures! (check "hook-delete!" h)
                       (let delete ((l (procedures-of h)))
                         (cond ((null? l) '())
                               ((eq? (car l) proc) (delete (cdr l)))
                               (else (cons (car l) (delete (cdr l))))))))
    (define (hook-reset! h)
      (set-procedures! (check "hook-reset!" h) '()))
    (define (hook->list h) (list-copy (procedures-of (check "hook->list" h))))

    (define (hook-run h . args)
      (if (not (= (length args) (arity-of (check "hook-run" h))))
          (error "hook-run: the hook takes another number of arguments:" (arity-of h) args))
      (for-each (lambda (p) (apply p args)) (procedures-of h)))))
