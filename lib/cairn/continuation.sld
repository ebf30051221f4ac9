;;; (cairn continuation): continuations and continuation marks as SRFI 226 has them.
;;;
;;; Problem.  (cairn control) has continuations as bare procedures: nothing tells them from others or knows what
;;; they are up to.  SRFI 226 asks for that, for continuations that replace only what is up to a prompt, for barriers,
;;; and for marks on frames.
;;;
;;; Idea.  A weak table has a record for each continuation that was captured here.  A *non-composable* one goes
;;; back to its own winders if the prompt that it is called under is the one it was captured under; elsewhere its
;;; frames and winders are put on that other prompt, as those of a composable one are put on a call.  Marks are in
;;; winders (prompts.scm), innermost first.
;;;
;;; A program has no prompt around it.  With the default tag, a continuation captured outside of all prompts is the
;;; whole one, as that of `call/cc` in (scheme base): calling it leaves everything.
;;;
;;; Cost: a capture and a call take time in proportion to the winders up to the prompt, and one entry in the table.

(define-library (cairn continuation)
  (export
   call-with-non-composable-continuation
   (rename call/cc-to-prompt call-with-current-continuation) (rename call/cc-to-prompt call/cc)
   (rename call-with-composable call-with-composable-continuation)
   call-in-continuation call-in return-to
   (rename prompt-available? continuation-prompt-available?)
   unwind-protect make-continuation-violation
   continuation? non-composable-continuation?
   with-continuation-mark with-continuation-marks call-with-immediate-continuation-mark
   continuation-marks current-continuation-marks continuation-mark-set?
   continuation-mark-set->list continuation-mark-set->list* continuation-mark-set->iterator
   continuation-mark-set-first make-continuation-mark-key continuation-mark-key?)
  (import (except (scheme base) call/cc call-with-current-continuation)
          (scheme case-lambda) (cairn primitives) (cairn layout)
          (rename (except (cairn control) call/cc call-with-current-continuation call-with-composable-continuation)
                  (call-in %call-in))
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!))
  (begin

    ;;;; What is known of continuations

    (define-record-type <about>
      (make-about k prompt tag composable?)
      about?
      (k about-k)                       ; its frames: a raw continuation
      (prompt about-prompt)             ; winder of its prompt; () if it is the whole continuation
      (tag about-tag)
      (composable? about-composable?))

    (define known (make-hash-table eq? 'weak-keys))

    (define (known-as about continuation)
      (hash-table-set! known continuation about)
      continuation)

    ;; The record of a continuation, or #f.
    (define (about x)
      (cond
        ((hash-table-ref/default known x #f))
        ((and (procedure? x) (raw? x)) (make-about x '() (default-continuation-prompt-tag) #f))
        (else #f)))

    ;; Is it one of `call/cc` in (scheme base)?
    (define (raw? x)
      (guard (e (#t #f))
        (%continuation-winders x)
        #t))

    (define (check-continuation who x)
      (or (about x) (wrong-type who "a continuation" x)))

    (define (continuation? x)
      (and (about x) #t))

    (define (non-composable-continuation? x)
      (let ((a (about x)))
        (and a (not (about-composable? a)))))

    ;;;; Capturing

    (define (winders-now) (%machine-ref (slot-winders)))

    ;; The winder of the prompt that delimits a continuation with these winders: () stands for the end of the whole one.
    (define (delimiter who winders tag)
      (if (eq? tag (default-continuation-prompt-tag))
          (%find-prompt winders tag)
          (%prompt-for who winders (%check-tag who tag))))

    (define call-with-non-composable-continuation
      (case-lambda
        ((proc) (call-with-non-composable-continuation proc (default-continuation-prompt-tag)))
        ((proc tag)
         (check-procedure "call-with-non-composable-continuation" proc)
         (%call/cc
          (lambda (k)
            (let* ((prompt (delimiter "call-with-non-composable-continuation" (%continuation-winders k) tag))
                   (a (make-about k prompt tag #f)))
              (proc
               (known-as a
                         (case-lambda
                           ((x) (continue a (lambda () x)))
                           (vals (continue a (lambda () (list->values vals)))))))))))))

    (define (call/cc-to-prompt proc)
      (check-procedure "call-with-current-continuation" proc)
      (call-with-non-composable-continuation proc))

    (define call-with-composable
      (case-lambda
        ((proc) (call-with-composable proc (default-continuation-prompt-tag)))
        ((proc tag)
         (check-procedure "call-with-composable-continuation" proc)
         (%check-tag "call-with-composable-continuation" tag)
         (%call/cc
          (lambda (k)
            (let* ((prompt (%prompt-for "call-with-composable-continuation" (%continuation-winders k) tag))
                   (c (%captured k prompt)))
              (proc (known-as (make-about k prompt tag #t) c))))))))

    ;;;; Going on

    ;; Calls `thunk` with the continuation.
    (define (continue a thunk)
      (let ((k (about-k a)) (prompt (about-prompt a)))
        (cond
          ((about-composable? a)
           (%call-composed k (reverse (about-winders a)) prompt thunk))
          ((null? prompt)
           (go-back k thunk))
          (else
           (go-to-prompt k (about-tag a) prompt thunk)))))

    ;; To the frames of `k`, which end at winder `prompt`, in the innermost prompt with this tag.
    (define (go-to-prompt k tag prompt thunk)
      (define winders (live-winders k))
      (define (innermost-prompt here) (%prompt-for "continuation" here tag))
      (define (target here)
        (let ((now (innermost-prompt here)))
          (if (eq? now prompt) winders now)))
      (let ((above (chain winders prompt)))
        (refuse-barriers above (if (eq? prompt (innermost-prompt (winders-now))) (winders-now) '()))
        ;; Whoever captures what is done here may have it done in another prompt: that is seen at the end.
        (let retry ((here (winders-now)))
          (%rewind-from here (target here) target)
          (let ((here (winders-now)))
            (cond
              ((eq? here winders)
               (%call-in k thunk))
              ((%has-tag? here tag)
               (%wind-above (reverse above) prompt)
               (%call-in k thunk))
              (else (retry here)))))))

    ;; To where it was captured; it is the whole continuation.
    (define (go-back k thunk)
      (let ((winders (live-winders k)))
        (refuse-barriers (chain winders '()) (winders-now))
        (%rewind-to winders)
        (%call-in k thunk)))

    ;; The winders of a raw continuation; an error for a one-shot one that was used.
    (define (live-winders k)
      (or (%continuation-winders k) (k)))

    ;; The winders above its prompt, innermost first.
    (define (about-winders a)
      (chain (%continuation-winders (about-k a)) (about-prompt a)))

    ;; Winder `w` and those around it up to `end`.
    (define (chain w end)
      (if (eq? w end)
          '()
          (cons w (chain (%opaque-ref w 0) end))))

    ;; Winders that are entered may not be barriers, unless they are among `here` and those around it.
    (define (refuse-barriers winders here)
      (for-each
       (lambda (w)
         (if (and (%barrier? w) (not (memq w (chain here '()))))
             (%raise-violation #f "a continuation behind a barrier can't be entered again" #f)))
       winders))

    (define (call-in-continuation k proc . args)
      (let ((a (check-continuation "call-in-continuation" k)))
        (check-procedure "call-in-continuation" proc)
        (continue a (lambda () (apply proc args)))))

    (define (check-non-composable who k)
      (let ((a (about k)))
        (if (and a (not (about-composable? a)))
            a
            (wrong-type who "a non-composable continuation" k))))

    (define (call-in k proc . args)
      (let ((a (check-non-composable "call-in" k)))
        (check-procedure "call-in" proc)
        (continue a (lambda () (apply proc args)))))

    (define (return-to k . vals)
      (continue (check-non-composable "return-to" k) (lambda () (list->values vals))))

    ;; Is there a prompt with the tag in the continuation, or does it end at one?
    (define prompt-available?
      (case-lambda
        ((tag) (continuation-prompt-available? tag))
        ((tag k)
         (let ((a (check-continuation "continuation-prompt-available?" k)))
           (or (and (not (about-composable? a)) (eq? tag (about-tag a)))
               (and (find-tag tag (%continuation-winders (about-k a)) (about-prompt a)) #t))))))

    ;; The innermost of winder `w` and those around it, short of `end`, that is a prompt with this tag, or #f.
    (define (find-tag tag w end)
      (cond
        ((eq? w end) #f)
        ((%has-tag? w tag) w)
        (else (find-tag tag (%opaque-ref w 0) end))))

    (define-syntax unwind-protect
      (syntax-rules ()
        ((_ protected cleanup ...)
         (dynamic-wind
          (lambda () #f)
          (lambda () (call-with-continuation-barrier (lambda () protected)))
          (lambda () #f cleanup ...)))))

    (define (make-continuation-violation tag)
      (%make-violation #f "continuation violation" '() tag))

    ;;;; Marks

    (define-syntax with-continuation-mark
      (syntax-rules ()
        ((_ key value expression)
         (with-continuation-marks ((key value)) expression))))

    (define-syntax with-continuation-marks
      (syntax-rules ()
        ((_ ((key value) ...) body0 body ...)
         (let ((new (list (cons key value) ...)))
           (%call-with-marks (lambda (old) (merge new (or old '()))) (lambda () body0 body ...))))))

    ;; The marks of both lists; those of `new` prevail.
    (define (merge new old)
      (cond
        ((null? old) new)
        ((assv (caar old) new) (merge new (cdr old)))
        (else (cons (car old) (merge new (cdr old))))))

    (define call-with-immediate-continuation-mark
      (case-lambda
        ((key proc) (call-with-immediate-continuation-mark key proc #f))
        ((key proc default)
         (check-procedure "call-with-immediate-continuation-mark" proc)
         (%call/cc (lambda (k) (proc (mark-of key (or (%immediate-marks k) '()) default)))))))

    (define (mark-of key marks default)
      (let ((mark (assv key marks)))
        (if mark (cdr mark) default)))

    ;;;; Sets of marks

    ;; The marks of the winders from `from`, the innermost, up to `end`.
    (define-record-type <continuation-mark-set>
      (make-set from end)
      continuation-mark-set?
      (from set-from)
      (end set-end))

    (define continuation-marks
      (case-lambda
        ((k) (continuation-marks k (default-continuation-prompt-tag)))
        ((k tag)
         (let* ((a (check-continuation "continuation-marks" k))
                (winders (%continuation-winders (about-k a)))
                (w (find-tag tag winders (about-prompt a))))
           (cond
             (w (make-set winders w))
             ((eq? tag (about-tag a)) (make-set winders (about-prompt a)))
             (else
              (%raise-violation "continuation-marks" "the continuation has no prompt with this tag:" tag)))))))

    (define current-continuation-marks
      (case-lambda
        (() (current-continuation-marks (default-continuation-prompt-tag)))
        ((tag)
         (let ((winders (winders-now)))
           (make-set winders (delimiter "current-continuation-marks" winders tag))))))

    (define (check-set who set tag)
      (cond
        ((not set) (current-continuation-marks tag))
        ((continuation-mark-set? set) set)
        (else (wrong-type who "a continuation mark set or #f" set))))

    ;; The innermost frame with marks among winder `w` and those around it, up to `end` or to a prompt with this tag, or
    ;; #f.
    (define (next-frame w end tag)
      (cond
        ((eq? w end) #f)
        ((pair? (or (%winder-marks w) '())) w)
        ((%has-tag? w tag) #f)
        (else (next-frame (%opaque-ref w 0) end tag))))

    (define continuation-mark-set-first
      (case-lambda
        ((set key) (continuation-mark-set-first set key #f))
        ((set key default) (continuation-mark-set-first set key default (default-continuation-prompt-tag)))
        ((set key default tag)
         (let* ((set (check-set "continuation-mark-set-first" set tag)) (end (set-end set)))
           (let loop ((w (next-frame (set-from set) end tag)))
             (if w
                 (let ((mark (assv key (%winder-marks w))))
                   (if mark
                       (cdr mark)
                       (loop (next-frame (%opaque-ref w 0) end tag))))
                 default))))))

    (define continuation-mark-set->list
      (case-lambda
        ((set key) (continuation-mark-set->list set key (default-continuation-prompt-tag)))
        ((set key tag)
         (map (lambda (marks) (vector-ref marks 0))
              (continuation-mark-set->list* set (list key) #f tag)))))

    (define continuation-mark-set->list*
      (case-lambda
        ((set keys) (continuation-mark-set->list* set keys #f))
        ((set keys default) (continuation-mark-set->list* set keys default (default-continuation-prompt-tag)))
        ((set keys default tag)
         (let loop ((next (frames "continuation-mark-set->list*" set keys default tag)) (found '()))
           (let-values (((marks next) (next)))
             (if marks
                 (loop next (cons marks found))
                 (reverse found)))))))

    (define continuation-mark-set->iterator
      (case-lambda
        ((set keys) (continuation-mark-set->iterator set keys #f))
        ((set keys default) (continuation-mark-set->iterator set keys default (default-continuation-prompt-tag)))
        ((set keys default tag) (frames "continuation-mark-set->iterator" set keys default tag))))

    ;; A procedure that returns a vector with the marks of the innermost frame that has any for the keys, and a
    ;; procedure like it for the frames below; at the end #f, and a procedure that complains.
    (define (frames who set keys default tag)
      (let* ((set (check-set who set tag)) (end (set-end set)))
        (define (from w)
          (lambda ()
            (let loop ((w (next-frame w end tag)))
              (cond
                ((not w) (values #f (lambda () (error (string-append who ": there are no more frames")))))
                ((any-marked? keys (%winder-marks w))
                 (values (list->vector (map (lambda (key) (mark-of key (%winder-marks w) default)) keys))
                         (from (%opaque-ref w 0))))
                (else (loop (next-frame (%opaque-ref w 0) end tag)))))))
        (from (set-from set))))

    (define (any-marked? keys marks)
      (and (pair? keys)
           (or (pair? (assv (car keys) marks)) (any-marked? (cdr keys) marks))))

    (define-record-type <continuation-mark-key> (make-key name) continuation-mark-key? (name key-name))
    (define make-continuation-mark-key
      (case-lambda
        (() (make-key 'mark))
        ((name) (make-key name))))))
