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
              (post! t (lambda () (tell-where! t n)))
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
;; them, each as its number and its name.  Threads may answer in any order: one's turn may end while it does.
(define waits '())
(define most-names 5)

;; Where thread `t` waits, the `number`-th that was asked.
(define (tell-where! t number)
  (let ((text (after-line (%describe-error "" (no-site) 0))))
    (mask!)
    (if asked
        (begin
          (let find ((l waits))
            (cond
              ((%null? l)
               (set! waits (%cons (%opaque text 1 (%cons (%cons number (display-name t)) '())) waits)))
              ((%string=? (%opaque-ref (%car l) 0) text)
               (let ((place (%car l)))
                 (%opaque-set! place 1 (%fx+ (%opaque-ref place 1) 1))
                 (%opaque-set! place 2 (with-name number t (%opaque-ref place 2) most-names))))
              (else (find (%cdr l)))))
          (set! asked (%fx- asked 1))
          (if (%fx= asked 0) (show-deadlock! complaint))))
    (unmask!)))

;; `first`, the first of those who wait in a place, in order, with thread `t`, if that is one of the first `most`.
(define (with-name number t first most)
  (cond
    ((%fx= most 0) '())
    ((%null? first) (%cons (%cons number (display-name t)) '()))
    ((%fx< number (%car (%car first)))
     (%cons (%cons number (display-name t)) (all-but-beyond first (%fx- most 1))))
    (else (%cons (%car first) (with-name number t (%cdr first) (%fx- most 1))))))
(define (all-but-beyond l most)
  (if (if (%null? l) #t (%fx= most 0))
      '()
      (%cons (%car l) (all-but-beyond (%cdr l) (%fx- most 1)))))

;; Masked.
(define (show-deadlock! complain)
  (let ((found waits))
    (set! asked #f)
    (set! complaint #f)
    (set! waits '())
    (let show ((l (in-order found)))
      (if (%pair? l)
          (let* ((place (%car l)) (n (%opaque-ref place 1)) (names (%opaque-ref place 2)))
            (print-error
             (%string-concat
              (%cons "error: deadlock: "
                     (%cons (if (%fx= n 1) "a thread waits" (%string-append (%num->string n 10) " threads wait"))
                            (%cons " for ever: "
                                   (names-before names (if (%fx< most-names n) (%cons " and others" '()) '())))))))
            (print-error "\n")
            (print-error (%opaque-ref place 0))
            (show (%cdr l)))))
    (post! main complain)))

;; The place of the thread that was asked first comes first.
(define (in-order places)
  (let next ((places places) (sorted '()))
    (if (%null? places)
        sorted
        (next (%cdr places)
              (let insert ((place (%car places)) (sorted sorted))
                (if (if (%null? sorted) #t (%fx< (first-number place) (first-number (%car sorted))))
                    (%cons place sorted)
                    (%cons (%car sorted) (insert place (%cdr sorted)))))))))
(define (first-number place) (%car (%car (%opaque-ref place 2))))

;; The names as parts of a text before `rest`.
(define (names-before names rest)
  (%cons (%cdr (%car names))
         (if (%null? (%cdr names))
             rest
             (%cons ", " (names-before (%cdr names) rest)))))

;; What follows the first line.
(define (after-line text)
  (let ((end (%string-length text)))
    (let loop ((i 0))
      (cond
        ((%fx= i end) "")
        ((%eq? (%string-ref text i) #\newline) (%substring text (%fx+ i 1) end))
        (else (loop (%fx+ i 1)))))))
