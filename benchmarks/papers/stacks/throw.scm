;; An exception is raised in another thread, so many times as the argument says; that thread handles it and waits for
;; the next. (Like the post's `threads006`.)
(import (scheme base) (scheme write) (scheme process-context) (cairn thread))

(define rounds (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define ready (make-mvar))
(define never (make-mvar))
(define caught 0)

(define (victim)
  (let loop ()
    (guard (e ((eq? e 'wake) (set! caught (+ caught 1))))
      (mvar-put! ready #t)
      (mvar-take! never))
    (if (< caught rounds) (loop) (mvar-put! ready #t))))

(define thread (spawn victim))
(let loop ((i 0))
  (mvar-take! ready)
  (if (< i rounds)
      (begin
        (thread-raise! thread 'wake)
        (loop (+ i 1)))))
(write caught)
(newline)
