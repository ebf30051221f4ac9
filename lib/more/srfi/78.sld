;;; (srfi 78): tests that are checks of expressions against values.
(define-library (srfi 78)
  (export check check-ec check-report check-set-mode! check-reset! check-passed?)
  (import (scheme base) (scheme write) (srfi 42) (only (cairn control) wrong-type))
  (begin

    (define mode 'report)
    (define passed 0)
    ;; The checks that failed, last first: what was checked, what came out, what should have.
    (define failures '())

    (define (check-set-mode! m)
      (if (not (memq m '(off summary report-failed report)))
          (wrong-type "check-set-mode!" "off, summary, report-failed or report" m))
      (set! mode m))
    (define (check-reset!)
      (set! passed 0)
      (set! failures '()))
    (define (check-passed? n)
      (and (null? failures) (= passed n)))

    (define (show . parts)
      (for-each (lambda (x) (if (string? x) (display x) (write (car x)))) parts))
    (define (show-failure f)
      (show (list (car f)) " => " (list (cadr f)) " ; *** failed ***\n ; expected result: " (list (list-ref f 2)) "\n"))

    (define (note expression actual same? expected shown)
      (let ((ok? (same? actual expected)))
        (if ok?
            (set! passed (+ passed 1))
            (set! failures (cons (list expression actual expected) failures)))
        (cond
          ((and ok? (eq? mode 'report)) (show (list expression) " => " (list actual) " ; correct" shown "\n"))
          ((and (not ok?) (memq mode '(report report-failed))) (show-failure (car failures))))))

    (define (check-report)
      (if (not (eq? mode 'off))
          (begin
            (show "\n; *** checks *** : " (list passed) " correct, " (list (length failures)) " failed.")
            (if (pair? failures)
                (begin
                  (show " First failed example:\n\n")
                  (show-failure (car (reverse failures))))
                (newline)))))

    (define-syntax check
      (syntax-rules (=>)
        ((_ e => expected) (check e (=> equal?) expected))
        ((_ e (=> same?) expected)
         (if (not (eq? mode 'off)) (note 'e e same? expected "")))))

    ;; One check of many cases; the first case that fails is shown with the arguments.
    (define-syntax check-ec
      (syntax-rules (=>)
        ((_ q ... e (=> same?) expected (arg ...))
         (if (not (eq? mode 'off))
             (let* ((cases 0)
                    (failure
                     (first-ec #f
                               q ...
                               (:let actual e)
                               (:let wanted expected)
                               (begin (set! cases (+ cases 1)))
                               (if (not (same? actual wanted)))
                               (list (list 'let (list (list 'arg arg) ...) 'e) actual wanted))))
               (if failure
                   (note (car failure) (cadr failure) same? (list-ref failure 2) "")
                   (note 'e 'ok eq? 'ok (string-append " in " (number->string cases) " cases"))))))
        ((_ q ... e => expected (arg ...)) (check-ec q ... e (=> equal?) expected (arg ...)))
        ((_ q ... e (=> same?) expected) (check-ec q ... e (=> same?) expected ()))
        ((_ q ... e => expected) (check-ec q ... e (=> equal?) expected ()))))))
