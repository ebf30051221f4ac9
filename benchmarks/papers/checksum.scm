;;; Checksum: the Internet checksum (RFC 1071) of one packet, again and again, through first-class iterators.
;;;
;;; The packet is a bytevector of 4 KB. A word of 16 bits is fetched by a cursor, a record of three words; each step
;;; gives a fresh cursor and a fresh pair of sum and carries. So much is allocated and next to nothing is live. Which
;;; iterator is used is known at run time only: two byte orders, chosen in turn.
(import (scheme base) (scheme write) (scheme process-context))

(define packet-size 4096)

(define-record-type cursor (make-cursor bytes position end) cursor?
  (bytes cursor-bytes) (position cursor-position) (end cursor-end))

(define (done? c) (>= (cursor-position c) (cursor-end c)))
(define (next c) (make-cursor (cursor-bytes c) (+ 2 (cursor-position c)) (cursor-end c)))

(define (big-endian c)
  (let ((bytes (cursor-bytes c)) (i (cursor-position c)))
    (+ (* 256 (bytevector-u8-ref bytes i)) (bytevector-u8-ref bytes (+ i 1)))))
(define (little-endian c)
  (let ((bytes (cursor-bytes c)) (i (cursor-position c)))
    (+ (bytevector-u8-ref bytes i) (* 256 (bytevector-u8-ref bytes (+ i 1))))))

;; Folds f over the words that fetch finds.
(define (fold-words f start fetch c)
  (if (done? c)
      start
      (fold-words f (f (fetch c) start) fetch (next c))))

;; A state is a pair: the sum of the low 16 bits, and how many carries left them.
(define (add-word word state)
  (let ((sum (+ word (car state))))
    (if (< sum 65536)
        (cons sum (cdr state))
        (cons (- sum 65536) (+ 1 (cdr state))))))

(define (fold-carries state)
  (let ((sum (+ (car state) (cdr state))))
    (if (< sum 65536) sum (fold-carries (cons (remainder sum 65536) (quotient sum 65536))))))

(define (checksum fetch bytes)
  (- 65535 (fold-carries (fold-words add-word (cons 0 0) fetch (make-cursor bytes 0 (bytevector-length bytes))))))

(define (make-packet seed)
  (let ((bytes (make-bytevector packet-size 0)))
    (do ((i 0 (+ i 1)) (x seed (remainder (+ (* x 1103515245) 12345) 2147483648)))
        ((= i packet-size) bytes)
      (bytevector-u8-set! bytes i (remainder (quotient x 65536) 256)))))

(define iterators (vector big-endian little-endian))

(define (main rounds)
  (let ((bytes (make-packet 42)))
    (let loop ((round 0) (all 0))
      (if (= round rounds)
          (begin (write all) (newline))
          (let ((sum (checksum (vector-ref iterators (remainder round 2)) bytes)))
            (bytevector-u8-set! bytes (remainder round packet-size) (remainder sum 256))
            (loop (+ round 1) (remainder (+ (* 31 all) sum) 1000003)))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 200))
