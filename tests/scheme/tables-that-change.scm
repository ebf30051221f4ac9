;; Equivalences that change the table in which they are asked, and tables of such whose values die.
(import (scheme base) (scheme write) (cairn hash-table))

(define (show x)
  (write x)
  (newline))

;; What is to happen once, at the next comparison.
(define hook #f)
(define (happen)
  (if hook
      (let ((now hook))
        (set! hook #f)
        (now))))
(define (make hash . options)
  (apply make-hash-table (lambda (a b) (happen) (equal? a b)) hash options))
(define (filled t n)
  (do ((i 0 (+ i 1))) ((= i n) t) (hash-table-set! t i (* 10 i))))

;; entries close up while a key is looked for
(let ((t (filled (make values) 8)))
  (set! hook (lambda ()
    (for-each (lambda (k) (hash-table-delete! t k)) '(0 1 2))
    (hash-table-set! t 100 1000)))
  (show (hash-table-ref/default t 4 'none))
  (show (hash-table->alist t)))

;; a key that is to be compared is deleted
(let ((t (make (lambda (k) 0))))
  (for-each (lambda (k) (hash-table-set! t k k)) '("a" "b" "c"))
  (set! hook (lambda () (hash-table-delete! t "a")))
  (show (hash-table-ref/default t "zz" 'none))
  (set! hook (lambda () (hash-table-delete! t "b")))
  (show (hash-table-ref/default t "b" 'none))
  (show (hash-table-keys t)))

;; the table is cleared, weak ones too: what is written afterwards is in the new entries
(for-each
 (lambda (options)
   (let* ((t (filled (apply make (lambda (k) 0) options) 200)) (canary #f))
     (set! hook (lambda ()
       (hash-table-clear! t)
       (set! canary (make-vector 3000 'ok))))
     (hash-table-set! t 150 'new)
     (show (hash-table->alist t))
     (show (let loop ((i 0)) (or (= i 3000) (and (eq? (vector-ref canary i) 'ok) (loop (+ i 1))))))
     (filled t 50)
     (set! hook (lambda () (hash-table-clear! t)))
     (hash-table-update!/default t 40 (lambda (x) (list 'was x)) 'none)
     (show (hash-table->alist t))))
 '(() (weak-keys)))

;; values die while keys are compared
(let ((t (make-hash-table (lambda (a b) (equal? (string-append "" a) (string-append "" b))) string-length 'weak-values)))
  (do ((i 0 (+ i 1))) ((= i 6000))
    (let ((key (number->string (modulo i 300))))
      (case (modulo i 3)
        ((0) (hash-table-set! t key (list i)))
        ((1) (hash-table-update!/default t key (lambda (x) (if (pair? x) (list i) (show x))) (list i)))
        (else
         (let ((x (hash-table-ref/default t key '(0))))
           (if (not (pair? x)) (show x)))))))
  (show (<= 0 (hash-table-size t) 300)))

(define (message thunk)
  (call/cc (lambda (k) (with-exception-handler (lambda (c) (k (error-object-message c))) thunk))))
(show (message (lambda () (hash-table-merge! 5 (make-hash-table)))))
(show (message (lambda () (alist->hash-table '((a . 1)) string=?))))
