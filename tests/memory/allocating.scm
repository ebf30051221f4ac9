;; Calls that allocate in the runtime, each in a loop that allocates little or nothing itself: 60 MB by each. Before
;; each loop the program builds up what it keeps, 6 MB, so that the heap takes what comes next for long-lived, too.
(import (scheme base) (scheme write) (scheme inexact) (scheme char) (scheme read) (srfi 69) (cairn weak))

(define kept #f)
(define (build-up)
  (set! kept #f)
  (let ((v (make-vector 40000 0)))
    (do ((i 0 (+ i 1))) ((= i 40000))
      (vector-set! v i (vector i (list i) #f #f #f #f #f #f #f #f #f #f)))
    (set! kept v)))

(define items (make-list 1000 7))
(define numbers (list->vector items))
(define text (make-string 1000 #\a))
(define wide (make-string 1000 #\x3bb))
(define bytes (make-bytevector 4000 65))
(define text-bytes (make-bytevector 1000 65))
(define big (expt 3 20000)) ; 4 KB
(define sink #f)

(define-syntax calls
  (syntax-rules ()
    ((_ i (times expression) ...)
     (begin
       (begin
         (build-up)
         (do ((i 0 (+ i 1))) ((= i times)) (set! sink expression)))
       ...))))

(calls i
  ;; numbers
  (15000 (* big i)) (15000 (+ big i)) (15000 (- big i)) (15000 (quotient big (+ i 2)))
  (500000 (+ 4611686018427387900 i)) (500000 (* 1e300 i)) (300000 (/ (+ i 1) 4611686018427387901))
  (200000 (number->string (+ i .1)))
  ;; strings
  (15000 (make-string 1000 #\a)) (7500 (string-append text text)) (15000 (string-copy text 1))
  (15000 (substring text 1 999)) (5000 (list->string (string->list text))) (15000 (string-upcase text))
  (7500 (string->vector text)) (15000 (string->utf8 wide)) (15000 (utf8->string text-bytes))
  ;; vectors and lists
  (7500 (make-vector 1000 i)) (7500 (list->vector items)) (4000 (vector->list numbers)) (4000 (vector-copy numbers 1))
  (4000 (vector-append numbers numbers)) (4000 (append items items)) (4000 (list-copy items)) (4000 (reverse items))
  (4000 (map + items items)) (4000 (vector-map + numbers)) (4000 (make-list 1000 i))
  ;; arguments and values as lists
  (4000 (apply list items)) (4000 (apply vector items)) (4000 (apply (lambda all all) items))
  (4000 (call-with-values (lambda () (apply values items)) list))
  (4000 (call-with-values (lambda () (apply values items)) (lambda all all)))
  ;; bytevectors
  (15000 (make-bytevector 4000 1)) (7500 (bytevector-append bytes bytes)) (15000 (bytevector-copy bytes 1))
  ;; ports
  (5000 (let ((p (open-output-string))) (write items p) (get-output-string p)))
  (5000 (let ((p (open-output-bytevector))) (write-bytevector bytes p) (get-output-bytevector p)))
  (5000 (read-line (open-input-string text))) (5000 (read (open-input-string "(1 (2 #(3)) \"four\" 5.5)")))
  ;; others
  (7500 (make-weak-vector 1000)) (1000 (make-hash-table)) (50000 (call-with-current-continuation (lambda (k) k)))
  ;; large objects
  (400 (make-vector 20000 i)) (400 (make-string 40000 #\a)) (400 (make-bytevector 150000 1))
  (400 (string-copy (make-string 20000 #\b))) (400 (apply vector (make-list 10000 i))))
(write (vector-length kept))
(newline)
