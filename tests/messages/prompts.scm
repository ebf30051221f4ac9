;; What is said when prompts, effects and generators are used wrongly.
(import (scheme base) (scheme write) (cairn control))

(include "../support/say.scm")
(define mine (make-prompt-tag 'mine))
(define ask (make-effect 'ask))
(define again (letrec ((g (make-coroutine-generator (lambda (yield) (g))))) g))
(define yield-of-one
  (let* ((y #f) (g (make-coroutine-generator (lambda (yield) (set! y yield) (yield 1)))))
    (g)
    y))
(say (abort-to-prompt mine 1) (abort-current-continuation (default-prompt-tag)) (abort-to-prompt 5)
     (shift k 1) (control-at mine k 1) (reset-at mine (shift0 k 1)) (reset (control0-at mine k 1))
     (call-with-composable-continuation list mine) (call-with-composable-continuation 5)
     (call-with-continuation-prompt 5) (call-with-continuation-prompt list 5) (call-with-continuation-prompt list mine 5)
     (call-with-prompt 5 list list) (call-with-prompt mine 5 list) (call-with-prompt mine list 5)
     (continuation-prompt-available? 5) (ask 1 2) (with-handler ((ask (k) (k 1))) (+ (ask) (ask 1)))
     (again) (yield-of-one 5) (make-coroutine-generator 5) (reset (raise 'x))
     (call-with-continuation-prompt (lambda () (abort-to-prompt mine 1 2)) mine (lambda (x) x)))
