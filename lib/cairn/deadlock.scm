;;; What a deadlock shows: part of (cairn scheduler).
;;;
;;; Problem.  A program in which nobody can run has to say who waits where; of a million threads that wait in one place
;;; nobody wants to read a million backtraces.
;;;
;;; Idea.  Each thread is asked where it is, by an interrupt, for only a thread that runs can tell; what is the same is
;;; shown once, with names of some who are there.  When all have answered, the main thread gets an error.

;; Every thread waits for another one, or for another place.
(define (deadlock complain)
  (if (%not asked)
      (let ask ((t (younger main)) (n 0))
        (if (%eq? t main)
            (set! asked n)
            (begin
              (post! t (lambda () (tell-where! t)))
              (ask (younger t) (%fx+ n 1)))))
      ;; Nobody runs and some have not answered: they wait where they may not be interrupted.
      (set! asked 0))
  (if (%fx= asked 0)
      (show-deadlock! complain)
      (set! complaint complain)))

;; How many threads have not answered yet, or #f; what the main thread is to do then.
(define asked #f)
(define complaint #f)
;; Of each place in the program where threads wait: 0 position and backtrace as shown, 1 how many, 2 the first of
;; their names, the last one first.  The place found last comes first.
(define waits '())
(define most-names 5)

(define (tell-where! t)
  (let ((text (after-line (%describe-error "" (no-site) 0))))
    (mask!)
    (if asked
        (begin
          (let find ((l waits))
            (cond
              ((%null? l) (set! waits (%cons (%opaque text 1 (%cons (display-name t) '())) waits)))
              ((%string=? (%opaque-ref (%car l) 0) text)
               (let* ((place (%car l)) (n (%opaque-ref place 1)))
                 (%opaque-set! place 1 (%fx+ n 1))
                 (if (%fx< n most-names)
                     (%opaque-set! place 2 (%cons (display-name t) (%opaque-ref place 2))))))
              (else (find (%cdr l)))))
          (set! asked (%fx- asked 1))
          (if (%fx= asked 0) (show-deadlock! complaint))))
    (unmask!)))

;; Masked.
(define (show-deadlock! complain)
  (let ((found waits))
    (set! asked #f)
    (set! complaint #f)
    (set! waits '())
    (let show ((l found))
      (if (%pair? l)
          (begin
            (show (%cdr l))
            (let ((n (%opaque-ref (%car l) 1)) (names (%opaque-ref (%car l) 2)))
              (print-error
               (%string-concat
                (%cons "error: deadlock: "
                       (%cons (if (%fx= n 1) "a thread waits" (%string-append (%num->string n 10) " threads wait"))
                              (%cons " for ever: "
                                     (names-before names (if (%fx< most-names n)
                                                             (%cons " and others" '())
                                                             '())))))))
              (print-error "\n")
              (print-error (%opaque-ref (%car l) 0))))))
    (post! main complain)))

;; The names, the last one first, as parts of a text before `rest`.
(define (names-before names rest)
  (let ((rest (%cons (%car names) rest)))
    (if (%null? (%cdr names))
        rest
        (names-before (%cdr names) (%cons ", " rest)))))

;; What follows the first line.
(define (after-line text)
  (let ((end (%string-length text)))
    (let loop ((i 0))
      (cond
        ((%fx= i end) "")
        ((%eq? (%string-ref text i) #\newline) (%substring text (%fx+ i 1) end))
        (else (loop (%fx+ i 1)))))))
