;;; (srfi 64): test suites.
;;;
;;; A runner counts and knows where it is: a stack of groups, each with its name, its expected number of tests and what
;;; is to be skipped or expected to fail inside of it.  The facts of the current test are an association list.  The
;;; simple runner writes failures as they come and the counts at the end; it makes no log file.  Once one of its tests
;;; has failed, a program that does not call `exit` ends with status 1.
;;;
;;; Under `cairn test` runners that the program has not made itself tell what happens, one datum an event; the simple
;;; runner writes nothing then:
;;;
;;;     (group "name") (end)                           a group begins and ends
;;;     (count 3 4)                                    there were 3 tests in it, not 4
;;;     (test "name" #("file" line start end) "form")  a test begins
;;;     (result kind nanoseconds fact ...)             it has ended; a fact is a symbol and a text
;;;     (stopped "report")                             a signal has come in the midst of a test
(define-library (srfi 64)
  (export
   test-begin test-end test-group test-group-with-cleanup
   test-assert test-eqv test-eq test-equal test-approximate test-error test-read-eval-string
   test-skip test-expect-fail test-match-name test-match-nth test-match-any test-match-all
   test-apply test-with-runner
   test-runner? test-runner-null test-runner-simple test-runner-create test-runner-factory test-runner-current
   test-runner-get test-runner-reset test-runner-aux-value test-runner-aux-value!
   test-runner-pass-count test-runner-fail-count test-runner-xpass-count test-runner-xfail-count
   test-runner-skip-count test-runner-test-name test-runner-group-path test-runner-group-stack
   test-runner-on-test-begin test-runner-on-test-begin! test-runner-on-test-end test-runner-on-test-end!
   test-runner-on-group-begin test-runner-on-group-begin! test-runner-on-group-end test-runner-on-group-end!
   test-runner-on-final test-runner-on-final! test-runner-on-bad-count test-runner-on-bad-count!
   test-runner-on-bad-end-name test-runner-on-bad-end-name!
   test-on-test-begin-simple test-on-test-end-simple test-on-group-begin-simple test-on-group-end-simple
   test-on-final-simple test-on-bad-count-simple test-on-bad-end-name-simple
   test-result-kind test-passed? test-result-ref test-result-set! test-result-remove test-result-clear
   test-result-alist)
  (import (scheme base) (scheme case-lambda) (scheme write) (scheme read) (scheme eval) (scheme repl)
          (only (cairn control) call-with-interrupts interrupt? condition? condition->string condition-site exit
                wrong-type write-to-string)
          (only (cairn layout) no-site)
          (only (cairn primitives)
                %current-jiffy %describe-error %end-status %place %test-event %test-wanted?))
  (begin

    (define-record-type <test-runner>
      (make-runner passed failed xpassed xfailed skipped result groups skip fail run-list aux decides reports
                   test-begin test-end group-begin group-end final bad-count bad-end-name)
      test-runner?
      (passed test-runner-pass-count set-passed!)
      (failed test-runner-fail-count set-failed!)
      (xpassed test-runner-xpass-count set-xpassed!)
      (xfailed test-runner-xfail-count set-xfailed!)
      (skipped test-runner-skip-count set-skipped!)
      (result test-result-alist set-result!)
      ;; the innermost first
      (groups runner-groups set-groups!)
      ;; predicates over the runner
      (skip runner-skip set-skip!)
      (fail runner-fail set-fail!)
      ;; with `test-apply`: the only tests to be run
      (run-list run-list set-run-list!)
      (aux test-runner-aux-value test-runner-aux-value!)
      ;; do its failures decide about the program's exit status?
      (decides runner-decides? set-decides!)
      ;; is what happens told to `cairn test`?
      (reports runner-reports? set-reports!)
      (test-begin test-runner-on-test-begin test-runner-on-test-begin!)
      (test-end test-runner-on-test-end test-runner-on-test-end!)
      (group-begin test-runner-on-group-begin test-runner-on-group-begin!)
      (group-end test-runner-on-group-end test-runner-on-group-end!)
      (final test-runner-on-final test-runner-on-final!)
      (bad-count test-runner-on-bad-count test-runner-on-bad-count!)
      (bad-end-name test-runner-on-bad-end-name test-runner-on-bad-end-name!))

    ;; The lists of skipped and failing tests are those outside; `start` is the number of tests before it.
    (define-record-type <group>
      (make-group name count start skip fail)
      group?
      (name group-name)
      (count group-count)
      (start group-start)
      (skip group-skip)
      (fail group-fail))

    (define (test-runner-null)
      (define (nothing . arguments) #f)
      (make-runner 0 0 0 0 0 '() '() '() '() #f #f #f #f nothing nothing nothing nothing nothing nothing nothing))

    (define (test-runner-simple)
      (let ((runner (test-runner-null)))
        (test-runner-on-test-begin! runner test-on-test-begin-simple)
        (test-runner-on-test-end! runner test-on-test-end-simple)
        (test-runner-on-group-begin! runner test-on-group-begin-simple)
        (test-runner-on-group-end! runner test-on-group-end-simple)
        (test-runner-on-final! runner test-on-final-simple)
        (test-runner-on-bad-count! runner test-on-bad-count-simple)
        (test-runner-on-bad-end-name! runner test-on-bad-end-name-simple)
        (set-decides! runner #t)
        (reporting runner)))

    (define (reporting runner)
      (set-reports! runner (%test-event ""))
      runner)
    (define (tell runner . event)
      (if (runner-reports? runner) (%test-event (write-to-string event))))

    (define test-runner-factory (make-parameter test-runner-simple))
    (define (test-runner-create) (reporting ((test-runner-factory))))
    (define test-runner-current (make-parameter #f))
    (define (test-runner-get)
      (or (test-runner-current) (error "test-runner-get: there is no test runner")))

    (define (check-runner who x)
      (if (test-runner? x) x (wrong-type who "a test-runner" x)))

    (define (test-runner-reset runner)
      (check-runner "test-runner-reset" runner)
      (for-each (lambda (set) (set runner 0)) (list set-passed! set-failed! set-xpassed! set-xfailed! set-skipped!))
      (for-each (lambda (set) (set runner '())) (list set-result! set-groups! set-skip! set-fail!))
      (set-run-list! runner #f))

    (define (group-names who runner) (map group-name (runner-groups (check-runner who runner))))
    (define (test-runner-group-stack runner) (group-names "test-runner-group-stack" runner))
    (define (test-runner-group-path runner) (reverse (group-names "test-runner-group-path" runner)))
    (define (test-runner-test-name runner) (fact-of "test-runner-test-name" runner 'test-name ""))

    (define (tests-so-far r)
      (+ (test-runner-pass-count r) (test-runner-fail-count r) (test-runner-xpass-count r)
         (test-runner-xfail-count r) (test-runner-skip-count r)))

    ;;;; Groups

    (define test-begin
      (case-lambda
        ((name) (test-begin name #f))
        ((name count)
         (if (not (test-runner-current)) (test-runner-current (test-runner-create)))
         (let ((r (test-runner-current)) (name (if (symbol? name) (symbol->string name) name)))
           (tell r 'group (if (string? name) name (write-to-string name)))
           ((test-runner-on-group-begin r) r name count)
           (set-groups! r (cons (make-group name count (tests-so-far r) (runner-skip r) (runner-fail r))
                                (runner-groups r)))))))

    (define test-end
      (case-lambda
        (() (test-end #f))
        ((name)
         (let* ((r (test-runner-get)) (groups (runner-groups r))
                (name (if (symbol? name) (symbol->string name) name)))
           (if (null? groups)
               (error "test-end: there is no group to be ended:" name))
           (let* ((g (car groups)) (tests (- (tests-so-far r) (group-start g))))
             (if (and name (not (equal? name (group-name g))))
                 ((test-runner-on-bad-end-name r) r (group-name g) name))
             (if (and (group-count g) (not (= (group-count g) tests)))
                 (begin
                   (tell r 'count tests (group-count g))
                   ((test-runner-on-bad-count r) r tests (group-count g))))
             (tell r 'end)
             ((test-runner-on-group-end r) r)
             (set-groups! r (cdr groups))
             (set-skip! r (group-skip g))
             (set-fail! r (group-fail g))
             (if (null? (cdr groups))
                 ((test-runner-on-final r) r)))))))

    (define-syntax test-group
      (syntax-rules ()
        ((_ name body ...) (call-in-group name (lambda () body ... #f)))))
    (define (call-in-group name thunk)
      (let ((r (or (test-runner-current)
                   (begin
                     (test-runner-current (test-runner-create))
                     (test-runner-current)))))
        (test-result-clear r)
        (test-result-set! r 'test-name name)
        (if (chosen? r)
            (dynamic-wind
             (lambda () (test-begin name))
             thunk
             (lambda () (test-end name))))))

    (define-syntax test-group-with-cleanup
      (syntax-rules ()
        ((_ name body ... cleanup)
         (test-group name
           (dynamic-wind (lambda () #f) (lambda () #f body ...) (lambda () cleanup))))))

    ;;;; Choosing tests

    (define (test-match-name name)
      (lambda (runner) (equal? name (test-runner-test-name runner))))
    (define test-match-nth
      (case-lambda
        ((n) (test-match-nth n 1))
        ((n count)
         (let ((i 0))
           (lambda (runner)
             (set! i (+ i 1))
             (and (>= i n) (< i (+ n count))))))))
    ;; All are asked, for some count.
    (define (ask-all specifiers runner) (map (lambda (s) (s runner)) specifiers))
    (define (test-match-any . specifiers)
      (let ((all (map specifier specifiers)))
        (lambda (runner) (let loop ((l (ask-all all runner))) (and (pair? l) (or (car l) (loop (cdr l))))))))
    (define (test-match-all . specifiers)
      (let ((all (map specifier specifiers)))
        (lambda (runner) (let loop ((l (ask-all all runner))) (or (null? l) (and (car l) (loop (cdr l))))))))
    (define (specifier x)
      (cond ((procedure? x) x)
            ((integer? x) (test-match-nth 1 x))
            ((string? x) (test-match-name x))
            (else (error "not a test specifier:" x))))

    (define (test-skip . specifiers)
      (let ((r (test-runner-get)))
        (set-skip! r (cons (apply test-match-all specifiers) (runner-skip r)))))
    (define (test-expect-fail . specifiers)
      (let ((r (test-runner-get)))
        (set-fail! r (cons (apply test-match-all specifiers) (runner-fail r)))))

    (define (any-holds? specifiers r)
      (let loop ((l (ask-all specifiers r))) (and (pair? l) (or (car l) (loop (cdr l))))))
    (define (chosen? r)
      (let ((run (or (not (run-list r)) (any-holds? (run-list r) r))) (skip (any-holds? (runner-skip r) r)))
        (and run (not skip))))

    (define (test-apply first . rest)
      (if (test-runner? first)
          (let ((outer (test-runner-current)))
            (dynamic-wind
             (lambda () (test-runner-current first))
             (lambda () (apply test-apply rest))
             (lambda () (test-runner-current outer))))
          (let* ((all (cons first rest))
                 (thunk (list-ref all (- (length all) 1)))
                 (specifiers (map specifier (list-copy (reverse (cdr (reverse all))))))
                 (current (test-runner-current))
                 (r (or current (test-runner-create)))
                 (outer (run-list r)))
            (if (pair? specifiers) (set-run-list! r specifiers))
            (if current
                (begin
                  (thunk)
                  (set-run-list! r outer))
                (begin
                  (test-with-runner r (thunk))
                  (set-run-list! r outer))))))

    (define-syntax test-with-runner
      (syntax-rules ()
        ((_ runner body ...)
         (let ((outer (test-runner-current)) (r runner))
           (dynamic-wind
            (lambda () (test-runner-current r))
            (lambda () #f body ...)
            (lambda () (test-runner-current outer)))))))

    ;;;; Results

    (define (fact-of who runner key default)
      (let ((p (assq key (test-result-alist (check-runner who runner))))) (if p (cdr p) default)))
    (define test-result-ref
      (case-lambda
        ((runner key) (fact-of "test-result-ref" runner key #f))
        ((runner key default) (fact-of "test-result-ref" runner key default))))
    (define (test-result-set! runner key value)
      (let ((p (assq key (test-result-alist (check-runner "test-result-set!" runner)))))
        (if p
            (set-cdr! p value)
            (set-result! runner (cons (cons key value) (test-result-alist runner))))))
    (define (test-result-remove runner key)
      (set-result! (check-runner "test-result-remove" runner)
                   (let loop ((l (test-result-alist runner)))
                     (cond ((null? l) '())
                           ((eq? (caar l) key) (loop (cdr l)))
                           (else (cons (car l) (loop (cdr l))))))))
    (define (test-result-clear runner) (set-result! (check-runner "test-result-clear" runner) '()))

    (define test-result-kind
      (case-lambda
        (() (test-result-kind (test-runner-current)))
        ((runner) (fact-of "test-result-kind" runner 'result-kind #f))))
    (define test-passed?
      (case-lambda
        (() (test-passed? (test-runner-get)))
        ((runner) (and (memq (fact-of "test-passed?" runner 'result-kind #f) '(pass xpass)) #t))))

    ;;;; Tests

    ;; `check` gets the value of the thunk: did the test pass?
    (define (run-test name form place facts thunk check)
      (let ((r (test-runner-get)))
        (test-result-clear r)
        (if name (test-result-set! r 'test-name name))
        (test-result-set! r 'source-form form)
        (if place
            (begin
              (test-result-set! r 'source-file (vector-ref place 0))
              (test-result-set! r 'source-line (vector-ref place 1))))
        (let ((chosen (chosen? r)) (fails (any-holds? (runner-fail r) r)))
          (if (wanted? r name form)
              (let ((start (%current-jiffy)))
                (if (runner-reports? r)
                    (tell r 'test (if name (text-of name) "") place (shortened (write-to-string form))))
                (if chosen
                    (begin
                      (if fails (test-result-set! r 'result-kind 'xfail))
                      ((test-runner-on-test-begin r) r)
                      (for-each (lambda (f) (test-result-set! r (car f) ((cdr f)))) facts)
                      (let ((ok? (call-with-current-continuation
                                  (lambda (leave)
                                    (with-exception-handler
                                     (lambda (e)
                                       (test-result-set! r 'actual-error e)
                                       (if (runner-reports? r)
                                           (begin
                                             (if (interrupt? e) (stop r))
                                             (test-result-set! r 'report (report e))))
                                       (leave #f))
                                     (lambda ()
                                       (let ((x (if (runner-reports? r) (call-with-interrupts thunk) (thunk))))
                                         (test-result-set! r 'actual-value x)
                                         (check x))))))))
                        (cond
                          ((and ok? fails) (finish r 'xpass start set-xpassed! test-runner-xpass-count))
                          (ok? (finish r 'pass start set-passed! test-runner-pass-count))
                          (fails (finish r 'xfail start set-xfailed! test-runner-xfail-count))
                          (else (finish r 'fail start set-failed! test-runner-fail-count)))))
                    (finish r 'skip start set-skipped! test-runner-skip-count)))))))

    (define (finish r kind start set count)
      (test-result-set! r 'result-kind kind)
      (set r (+ 1 (count r)))
      (if (and (runner-decides? r) (memq kind '(fail xpass))) (%end-status 1))
      (if (runner-reports? r)
          (apply tell r 'result kind (- (%current-jiffy) start) (if (memq kind '(fail xpass)) (facts r) '())))
      ((test-runner-on-test-end r) r))

    ;; Has whoever started `cairn test` chosen this test?
    (define (wanted? r name form)
      (or (not (runner-reports? r))
          (%test-wanted?
           (apply string-append
                  (append (map (lambda (group) (string-append group ": "))
                               (filter-strings (test-runner-group-path r)))
                          (list (if name (text-of name) (shortened (write-to-string form)))))))))

    ;; What is known of a test that has failed, as texts.
    (define (facts r)
      (let loop ((keys '(expected-value expected-error actual-value report)))
        (if (pair? keys)
            (let ((fact (assq (car keys) (test-result-alist r))))
              (if fact
                  (cons (list (car fact)
                              (shortened (if (eq? (car fact) 'report) (cdr fact) (write-to-string (cdr fact)))))
                        (loop (cdr keys)))
                  (loop (cdr keys))))
            '())))
    (define (text-of x) (if (string? x) x (write-to-string x)))
    (define (shortened text)
      (let ((most 20000))
        (if (> (string-length text) most)
            (string-append (string-copy text 0 most) "…")
            text)))
    ;; The test takes too long, and is not to go on.
    (define (stop r)
      (tell r 'stopped (%describe-error "stopped here" (no-site) 0))
      (exit 143))
    ;; Called where it was raised: with the backtrace.
    (define (report e)
      (if (condition? e)
          (%describe-error (condition->string e) (condition-site e) 0)
          (%describe-error (string-append "raised: " (write-to-string e)) (no-site) 0)))

    (define-syntax test-assert
      (syntax-rules ()
        ((_ name expression)
         (run-test name 'expression (%place expression) '() (lambda () expression) (lambda (x) x)))
        ((_ expression)
         (run-test #f 'expression (%place expression) '() (lambda () expression) (lambda (x) x)))))

    (define (compare name form place expected thunk same?)
      (run-test name form place (list (cons 'expected-value (lambda () expected))) thunk
                (lambda (x) (same? expected x))))

    (define-syntax define-comparison
      (syntax-rules ()
        ((_ test same?)
         (define-syntax test
           (syntax-rules ()
             ((_ name expected expression)
              (compare name 'expression (%place expression) expected (lambda () expression) same?))
             ((_ expected expression)
              (compare #f 'expression (%place expression) expected (lambda () expression) same?)))))))
    (define-comparison test-eq eq?)
    (define-comparison test-eqv eqv?)
    (define-comparison test-equal equal?)

    (define (within error)
      (lambda (a b) (<= (- a error) b (+ a error))))
    (define-syntax test-approximate
      (syntax-rules ()
        ((_ name expected expression error)
         (compare name 'expression (%place expression) expected (lambda () expression) (within error)))
        ((_ expected expression error)
         (compare #f 'expression (%place expression) expected (lambda () expression) (within error)))))

    ;; An expression that raises something that the predicate holds for.
    (define (raising name form place type thunk)
      (run-test name form place (list (cons 'expected-error (lambda () type)))
                (lambda () (guard (e (#t (cons 'raised e))) (cons 'returned (thunk))))
                (lambda (x)
                  (let ((r (test-runner-get)))
                    (if (eq? (car x) 'raised)
                        (let ((right (if (procedure? type) (type (cdr x)) type)))
                          (test-result-remove r 'actual-value)
                          (test-result-set! r 'actual-error (cdr x))
                          (if (and (runner-reports? r) (not right))
                              (test-result-set! r 'report (report (cdr x))))
                          right)
                        (begin
                          (test-result-set! r 'actual-value (cdr x))
                          #f))))))
    (define-syntax test-error
      (syntax-rules ()
        ((_ name type expression) (raising name 'expression (%place expression) type (lambda () expression)))
        ((_ type expression) (raising #f 'expression (%place expression) type (lambda () expression)))
        ((_ expression) (raising #f 'expression (%place expression) #t (lambda () expression)))))

    (define (test-read-eval-string string)
      (let* ((port (open-input-string string)) (form (read port)))
        (if (eof-object? (read-char port))
            (eval form (interaction-environment))
            (error "test-read-eval-string: more than one form:" string))))

    ;;;; The simple runner

    (define (say . items)
      (for-each display items)
      (newline))

    (define (test-on-test-begin-simple runner) #f)
    (define (test-on-group-begin-simple runner name count)
      (if (and (null? (runner-groups runner)) (not (runner-reports? runner))) (say "%%%% Starting test " name)))
    (define (test-on-group-end-simple runner) #f)

    (define (test-on-test-end-simple runner)
      (let ((kind (test-result-kind runner)))
        (if (and (memq kind '(fail xpass)) (not (runner-reports? runner)))
            (begin
              (say (if (eq? kind 'fail) "FAIL " "XPASS ")
                   (apply string-append
                          (map (lambda (g) (string-append g ": ")) (filter-strings (test-runner-group-path runner))))
                   (test-runner-test-name runner))
              (write-fact runner "  form: " 'source-form)
              (write-fact runner "  expected value: " 'expected-value)
              (write-fact runner "  actual value: " 'actual-value)
              (let ((e (assq 'actual-error (test-result-alist runner))))
                (if e
                    (if (condition? (cdr e))
                        (say "  raised: " (condition->string (cdr e)))
                        (write-fact runner "  raised: " 'actual-error))))))))
    (define (filter-strings l)
      (cond ((null? l) '())
            ((string? (car l)) (cons (car l) (filter-strings (cdr l))))
            (else (filter-strings (cdr l)))))
    (define (write-fact runner text key)
      (let ((p (assq key (test-result-alist runner))))
        (if p
            (begin
              (display text)
              (write (cdr p))
              (newline)))))

    (define (test-on-final-simple runner)
      (define (count text n) (if (and (> n 0) (not (runner-reports? runner))) (say text n)))
      (count "# of expected passes      " (test-runner-pass-count runner))
      (count "# of expected failures    " (test-runner-xfail-count runner))
      (count "# of unexpected successes " (test-runner-xpass-count runner))
      (count "# of unexpected failures  " (test-runner-fail-count runner))
      (count "# of skipped tests        " (test-runner-skip-count runner)))

    (define (test-on-bad-count-simple runner count expected)
      (if (not (runner-reports? runner))
          (say "*** Total number of tests was " count " but should be " expected ". ***")))
    (define (test-on-bad-end-name-simple runner begin-name end-name)
      (error "test-end: the name differs from that of test-begin:" begin-name end-name))))
