;;; (srfi 37): options of the command line, as those of GNU programs: -v, -ofile, -o file, --output=file, --output file.
(define-library (srfi 37)
  (export option option? option-names option-required-arg? option-optional-arg? option-processor args-fold)
  (import (scheme base) (only (cairn control) wrong-type check-procedure))
  (begin

    (define-record-type <option>
      (make-option names required-arg? optional-arg? processor)
      option?
      (names option-names)
      (required-arg? option-required-arg?)
      (optional-arg? option-optional-arg?)
      (processor option-processor))

    ;; Names are characters and strings; the processor gets the option, the name, the argument or #f, and the seeds.
    (define (option names required-arg? optional-arg? processor)
      (if (not (list? names)) (wrong-type "option" "a list of names" names))
      (for-each
       (lambda (name)
         (if (not (or (char? name) (string? name))) (wrong-type "option" "a character or a string" name)))
       names)
      (make-option names required-arg? optional-arg? (check-procedure "option" processor)))

    (define (find-option name options)
      (cond ((null? options) #f)
            ((member name (option-names (car options))) (car options))
            (else (find-option name (cdr options)))))

    (define (index-of c text)
      (let loop ((i 0))
        (and (< i (string-length text)) (if (char=? c (string-ref text i)) i (loop (+ i 1))))))

    (define (args-fold args options unrecognized operand . seeds)
      (for-each (lambda (o) (if (not (option? o)) (wrong-type "args-fold" "an option" o))) options)
      ;; Calls a procedure with the seeds behind its arguments, and goes on with what it returns.
      (define (step proc arguments args)
        (lambda (seeds)
          (call-with-values (lambda () (apply proc (append arguments seeds)))
            (lambda seeds (all args seeds)))))
      (define (all args seeds)
        (if (null? args)
            (apply values seeds)
            (let* ((arg (car args)) (n (string-length arg)))
              (cond
                ((string=? arg "--") (operands (cdr args) seeds))
                ((and (> n 2) (string=? "--" (substring arg 0 2)))
                 (let ((place (index-of #\= arg)))
                   (if place
                       (long (substring arg 2 place) (substring arg (+ place 1) n) (cdr args) seeds)
                       (long (substring arg 2 n) #f (cdr args) seeds))))
                ((and (> n 1) (char=? #\- (string-ref arg 0))) (short arg 1 (cdr args) seeds))
                (else ((step operand (list arg) (cdr args)) seeds))))))
      (define (operands args seeds)
        (if (null? args)
            (apply values seeds)
            (call-with-values (lambda () (apply operand (car args) seeds))
              (lambda seeds (operands (cdr args) seeds)))))
      (define (long name value args seeds)
        (let ((o (find-option name options)))
          (cond
            ((not o)
             ((step unrecognized (list (make-option (list name) (and value #t) #f unrecognized) name value) args)
              seeds))
            ((and (option-required-arg? o) (not value) (pair? args))
             ((step (option-processor o) (list o name (car args)) (cdr args)) seeds))
            (else ((step (option-processor o) (list o name value) args) seeds)))))
      ;; The options of one letter from place i on.
      (define (short arg i args seeds)
        (if (= i (string-length arg))
            (all args seeds)
            (let* ((name (string-ref arg i))
                   (o (find-option name options))
                   (rest (and (< (+ i 1) (string-length arg)) (substring arg (+ i 1) (string-length arg)))))
              (define (next proc o)
                (call-with-values (lambda () (apply proc o name #f seeds))
                  (lambda seeds (short arg (+ i 1) args seeds))))
              (cond
                ((not o) (next unrecognized (make-option (list name) #f #f unrecognized)))
                ((and rest (or (option-required-arg? o) (option-optional-arg? o)))
                 ((step (option-processor o) (list o name rest) args) seeds))
                ((and (option-required-arg? o) (pair? args))
                 ((step (option-processor o) (list o name (car args)) (cdr args)) seeds))
                (else (next (option-processor o) o))))))
      (all args seeds))))
