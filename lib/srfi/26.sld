;;; (srfi 26): cut and cute, partial application without currying.  `<>` and `<...>` are exported, so that a program may
;;; rename them, and are known where they mean nothing, too, so that one may import `cut` alone.
(define-library (srfi 26)
  (export cut cute (rename slot <>) (rename rest-slot <...>))
  (import (cairn syntax) (only (cairn list) apply))
  (begin
    (define-syntax slot (syntax-rules ()))
    (define-syntax rest-slot (syntax-rules ()))

    ;; (cut-slots (parameter ...) (expression ...) slot ...)
    (define-syntax cut-slots
      (syntax-rules (<> <...> slot rest-slot)
        ((_ (p ...) (f e ...)) (lambda (p ...) ((begin f) e ...)))
        ((_ (p ...) (f e ...) <...>) (lambda (p ... . rest) (apply-with-rest rest f e ...)))
        ((_ (p ...) (f e ...) rest-slot) (lambda (p ... . rest) (apply-with-rest rest f e ...)))
        ((_ (p ...) (e ...) <> . slots) (cut-slots (p ... x) (e ... x) . slots))
        ((_ (p ...) (e ...) slot . slots) (cut-slots (p ... x) (e ... x) . slots))
        ((_ (p ...) (e ...) c . slots) (cut-slots (p ...) (e ... c) . slots))))

    (define-syntax apply-with-rest
      (syntax-rules ()
        ((_ rest f e ...) (apply f e ... rest))))

    (define-syntax cut
      (syntax-rules ()
        ((_ slot ...) (cut-slots () () slot ...))))

    ;; Like cut, but non-slots are evaluated once.
    (define-syntax cute-slots
      (syntax-rules (<> <...> slot rest-slot)
        ((_ (b ...) (done ...)) (let (b ...) (cut done ...)))
        ((_ (b ...) (done ...) <> . slots) (cute-slots (b ...) (done ... <>) . slots))
        ((_ (b ...) (done ...) slot . slots) (cute-slots (b ...) (done ... slot) . slots))
        ((_ (b ...) (done ...) <...>) (let (b ...) (cut done ... <...>)))
        ((_ (b ...) (done ...) rest-slot) (let (b ...) (cut done ... rest-slot)))
        ((_ (b ...) (done ...) c . slots) (cute-slots (b ... (x c)) (done ... x) . slots))))

    (define-syntax cute
      (syntax-rules ()
        ((_ slot ...) (cute-slots () () slot ...))))))
