;;; (cairn macro): macro transformers that are procedures.
;;;
;;; The keywords are the expander's (crates/cairn-syntax/src/expand/procedural.rs), which also knows the two kinds of
;;; opaque objects here: an environment is #(tag definition? compare), a syntactic closure #(tag environment form).
(define-library (cairn macro)
  (export er-macro-transformer sc-macro-transformer rsc-macro-transformer
          make-syntactic-closure close-syntax syntactic-closure? identifier? identifier=?
          derived-identifier refuse-form raise-refusal)
  (import (cairn syntax) (cairn primitives) (cairn layout)
          (only (cairn control) error wrong-type raise make-condition))
  (begin

    (define (tagged? x tag)
      (if (%opaque? x) (%eq? (%opaque-ref x 0) tag) #f))

    (define (environment? x) (tagged? x 'syntactic-environment))
    (define (syntactic-closure? x) (tagged? x 'syntactic-closure))

    (define (close who form env)
      (if (environment? env)
          (%opaque 'syntactic-closure env form)
          (wrong-type who "a syntactic environment" env)))

    (define (close-syntax form env) (close "close-syntax" form env))

    (define (make-syntactic-closure env free-names form)
      (if (%null? free-names)
          (close "make-syntactic-closure" form env)
          (error "make-syntactic-closure: free names are not possible:" free-names)))

    (define (identifier? x)
      (if (%symbol? x)
          #t
          (if (syntactic-closure? x) (identifier? (%opaque-ref x 2)) #f)))

    ;; An identifier whose name is that of the parts, which are symbols, written where `id` was: what a form that
    ;; defines names gives to them.  If a macro has written both the form and such a name, they are the same.
    (define (derived-identifier id . parts)
      (let ((name (%string->symbol (text-of parts))))
        ;; 3: see (cairn syntax-case); #f for a symbol
        (let ((own (%syntax-host 3 id name)))
          (if own own name))))

    (define (text-of symbols)
      (if (%null? symbols)
          ""
          (%string-append (%symbol->string (%car symbols)) (text-of (%cdr symbols)))))

    ;; A transformer does not take the form: the message is about a part of it, or about something that stands
    ;; nowhere in it, and the help, or #f, shows how the form is written.
    (define (refuse-form message part help)
      (let ((about (%cons part '())))
        (raise-refusal (make-condition (kind-other) #f message about (no-site)) #f message about help)))

    ;; Raises a condition. If nobody handles it the expander says: who, unless that is #f, the message, at the place of
    ;; the first of the forms `about` that is part of the macro's use, and the help, unless that is #f.
    (define (raise-refusal condition who message about help)
      ;; 6: see cairn-core/src/interp/transform.rs
      (%syntax-host 6 condition (%vector who message about help))
      (raise condition))

    ;; Do two identifiers mean the same in their environments?
    (define (identifier=? env1 id1 env2 id2)
      (let ((a (close "identifier=?" id1 env1)) (b (close "identifier=?" id2 env2)))
        ((%opaque-ref env1 2) a b)))))
