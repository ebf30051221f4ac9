;;; How numbers look.

;;;; Digits of real numbers

;;; What a real number looks like: its sign, the power of ten of its first digit, and its digits.  Behind them come
;;; zeros; from the power `vague` on, if there is one, nobody knows.  Zero has no digits.
(define-record-type <decimal>
  (make-decimal negative? power digits vague)
  decimal?
  (negative? decimal-negative?)
  (power decimal-power)
  (digits decimal-digits)
  (vague decimal-vague))

(define (decimal-zero? d) (null? (decimal-digits d)))
(define (decimal-shift d k)
  (if (= k 0)
      d
      (make-decimal (decimal-negative? d)
                    (+ (decimal-power d) k)
                    (decimal-digits d)
                    (and (decimal-vague d) (+ (decimal-vague d) k)))))
(define (decimal-magnitude d)
  (make-decimal #f (decimal-power d) (decimal-digits d) (decimal-vague d)))

(define (sign-bit? x)
  (or (< x 0.0) (eqv? x -0.0)))

;; The digits of a flonum: as many as it takes to know it, or down to the power of ten `last`, or so many.
(define (shortest-digits x) (digits-of x #f))
(define (digits-to x last)
  (or (rounded-digits x last) (digits-of x (lambda (power) last))))
(define (leading-digits x n) (digits-of x (lambda (power) (- (+ power 1) n))))

;; `cut`: the power of ten of the last digit wanted, for a number whose first digit has the power given; #f: none.
(define (digits-of x cut)
  (if (= x 0.0)
      (make-decimal (sign-bit? x) 0 '() #f)
      (let*-values (((v) (exact (abs x)))
                    ((below above even-mantissa?) (half-gaps v))
                    ((inclusive?) (and (not cut) even-mantissa?))
                    ((power) (power-of (+ v above) inclusive?)))
        (if cut
            (widen (sign-bit? x) v below above #f power cut)
            (generate (sign-bit? x) v below above inclusive? power #f)))))

;; The digits down to the power of ten `last` where a unit there is more than the way to the next flonum and `x` is not
;; in the middle of two such numbers: those of the nearest one.  Else #f.
(define (rounded-digits x last)
  (let ((size (abs x)))
    (and (< 1e-9 size 1e15)
         (< -20 last 15)
         (> (expt 10. last) (* 2.3e-16 size))
         (let* ((v (exact size))
                (n (if (< last 0) (* (numerator v) (expt 10 (- last))) (numerator v)))
                (d (if (> last 0) (* (denominator v) (expt 10 last)) (denominator v))))
           (let-values (((q r) (floor/ (+ n n d) (+ d d))))
             (and (> q 0)
                  (not (= r 0))
                  (let loop ((q q) (power last) (digits '()))
                    (let ((rest (quotient q 10)) (digit (remainder q 10)))
                      ;; no zeros at the end
                      (let ((digits (if (and (= digit 0) (null? digits)) '() (cons digit digits))))
                        (if (= rest 0)
                            (make-decimal (sign-bit? x) power digits #f)
                            (loop rest (+ power 1) digits)))))))))))

;; Half of the way to the next flonum below and above; has this one an even mantissa?
(define (half-gaps v)
  (let* ((e (max -1074 (- (integer-length (numerator v)) (integer-length (denominator v)) 52)))
         (mantissa (/ v (expt 2 e)))
         (half (expt 2 (- e 1))))
    (values (if (and (= mantissa (expt 2 52)) (> e -1074)) (/ half 2) half) half (even? mantissa))))

;; The power of ten of the first digit of what is below `high`, or is `high`.
(define (power-of high inclusive?)
  (let loop ((p (- (exact (floor (* (- (integer-length (numerator high)) (integer-length (denominator high)))
                                    0.30102999566398120)))
                   1)))
    (if (reaches? high p inclusive?) (loop (+ p 1)) p)))
(define (reaches? high power inclusive?)
  (let ((unit (expt 10 (+ power 1))))
    (if inclusive? (>= high unit) (> high unit))))

;; An interval at least as wide as the last digit wanted allows, which may move the first digit.  Its ends belong to it
;; then.
(define (widen negative? v below above inclusive? power cut)
  (let* ((last (cut power)) (half (/ (expt 10 last) 2)))
    (if (> half below)
        (let ((above* (max above half)) (inclusive? (or inclusive? (<= above half))))
          (if (reaches? (+ v above*) power inclusive?)
              (widen negative? v half above* inclusive? (+ power 1) cut)
              (generate negative? v half above* inclusive? power last)))
        (generate negative? v below above inclusive? power last))))

;; The shortest digits of a number between v - below and v + above.
(define (generate negative? v below above inclusive? power last)
  (define upper (if (> above below) (* 2 below) above))
  (define (done digits vague) (make-decimal negative? power (reverse digits) vague))
  (let loop ((p power) (r v) (digits '()))
    (let* ((unit (expt 10 p))
           (d (floor (/ r unit)))
           (r (- r (* d unit)))
           (low? (if inclusive? (<= r below) (< r below)))
           (high? (if inclusive? (>= (+ r upper) unit) (> (+ r upper) unit))))
      (if (or low? high?)
          (let* ((up? (and high? (or (not low?) (>= (* 2 r) unit))))
                 (all (cons (if up? (+ d 1) d) digits)))
            (cond ((not last) (done all #f))
                  ((< p last) (done digits #f))
                  ((= p last) (done all #f))
                  (else (done all (vague-from p (- (+ r upper) (if up? unit 0)) last)))))
          (loop (- p 1) r (cons d digits))))))

;; Zeros behind the digits say something as long as a unit of their place would lead out of the interval.
(define (vague-from p room last)
  (let loop ((p p))
    (cond ((>= room (expt 10 p)) (- p 1))
          ((= (- p 1) last) #f)
          (else (loop (- p 1))))))

(define (digit->char n) (integer->char (+ 48 n)))

;; In fixed notation: so many digits behind the point, or all; at least so many before it.
(define (decimal->text d places before sign?)
  (let* ((power (decimal-power d))
         (zero? (decimal-zero? d))
         (whole (cond ((< power 0) before)
                      (zero? (if (and (= before 0) (eqv? places 0)) 1 before))
                      (else (max before (+ power 1)))))
         (places (or places (if zero? 1 (max 1 (- (length (decimal-digits d)) (+ power 1))))))
         (sign (cond ((decimal-negative? d) #\-) (sign? #\+) (else #f)))
         (start (if sign 1 0))
         (point (+ start whole))
         (text (make-string (+ point 1 places) #\0))
         (vague (decimal-vague d)))
    ;; the place of the digit for a power of ten
    (define (place power) (if (>= power 0) (- point 1 power) (- point power)))
    (if sign (string-set! text 0 sign))
    (string-set! text point #\.)
    (if (not zero?)
        (let loop ((p power) (digits (decimal-digits d)))
          (if (>= p (- places))
              (cond ((pair? digits)
                     (string-set! text (place p) (digit->char (car digits)))
                     (loop (- p 1) (cdr digits)))
                    (vague
                     (if (<= p vague) (string-set! text (place p) #\#))
                     (loop (- p 1) digits))))))
    text))

;;;; ~f

;; k: the number is written multiplied by 10^k.
(define (fixed-text x w d k sign?)
  (cond
    (d (fixed-places (decimal-shift (digits-to x (- (+ k d))) k) w d sign?))
    (w (fixed-in-width x w k sign?))
    (else
     (let* ((all (decimal-shift (shortest-digits x) k)) (n (length (decimal-digits all))))
       (decimal->text (if (<= n (+ (decimal-power all) 1)) (decimal-shift (digits-to x (- -1 k)) k) all) #f 1 sign?)))))

(define (fixed-places dec w d sign?)
  (decimal->text dec
                 d
                 (if (and w (< (decimal-power dec) 0) (> (+ (if (or sign? (decimal-negative? dec)) 3 2) d) w)) 0 1)
                 sign?))

;; As many digits as fit.
(define (fixed-in-width x w k sign?)
  (define (rounded last) (decimal-shift (digits-to x (- last k)) k))
  (let* ((all (decimal-shift (shortest-digits x) k))
         (negative? (decimal-negative? all))
         (power (decimal-power all))
         (n (length (decimal-digits all))))
    (if (< power 0)
        (let ((room (+ w power (if (or sign? negative?) -1 0))) (n (max n 1)))
          (if (<= n room)
              (decimal->text all #f (if (= n room) 0 1) sign?)
              (let ((dec (rounded (- (max (- room power 1) 1)))))
                (if (decimal-zero? dec)
                    (string-append (cond (negative? "-") (sign? "+") (else ""))
                                   (if (< w (if (or negative? sign?) 4 3)) ".0" "0.0"))
                    (decimal->text dec #f 0 sign?)))))
        (let* ((room (- w (if (or sign? negative?) 2 1))) (left (- room n)) (behind (- power n)))
          (cond
            ((< left 0)
             (let ((p (- power (max 0 (+ room 1)))))
               (if (< p -1)
                   (decimal->text (rounded (+ p 2)) (and (= p -2) 0) 1 sign?)
                   (decimal->text (rounded 0) 0 1 sign?))))
            ((< behind 0) (decimal->text all (and (= behind -1) (= left 0) 0) 1 sign?))
            ((< behind (- left 1))
             (decimal->text (decimal-shift (digits-to x (- k (- left behind))) k) #f 1 sign?))
            (else (decimal->text (rounded 0) 0 1 sign?)))))))

;;;; ~e

;; The text, or #f if the exponent does not fit and there is a character for that.
(define (exponent-text x w d ew k overflow ec sign?)
  (define (exponent e width)
    (string-append (string ec) (if (< e 0) "-" "+") (padded-left (number->string (abs e)) (or width 0) #\0)))
  (define (mantissa dec places before)
    (decimal->text (decimal-shift dec (- k 1 (decimal-power dec))) places before sign?))
  (define (exponent-of dec) (- (decimal-power dec) (- k 1)))
  (define (digits-for d) (leading-digits x (if (<= k 0) (+ d k) (+ d 1))))
  (define (places-for d) (if (<= k 0) d (+ (- d k) 1)))
  (define signed? (or sign? (sign-bit? x)))
  (cond
    ((= x 0.0)
     (let* ((sign (cond ((sign-bit? x) "-") (sign? "+") (else "")))
            (d (and d (places-for d)))
            (end (exponent 0 (or ew 1)))
            (fraction (make-string (or d 1) #\0))
            (full? (and w (> (+ (string-length sign) 2 (string-length fraction) (string-length end)) w))))
       (string-append sign
                      (cond ((not full?) (string-append "0." fraction))
                            ((if d (= d 0) (> k 0)) "0.")
                            (else (string-append "." fraction)))
                      end)))
    (d (let* ((dec (digits-for d)) (e (exponent-of dec)) (n (string-length (number->string (abs e)))))
         (if (and w overflow ew (> n ew))
             #f
             (let ((ew (if ew (max ew n) n)))
               (string-append (mantissa dec (places-for d) (if (and w (> (+ (if signed? 5 4) ew d) w)) 0 1))
                              (exponent e ew))))))
    (w (let loop ((guess (or ew 1)))
         (let* ((d (max (- w (if signed? 5 4) guess) (cond ((= k 0) 0) ((< k 0) (- 1 k)) (else (- k 1)))))
                (dec (digits-for d))
                (e (exponent-of dec))
                (n (string-length (number->string (abs e)))))
           (cond
             ((<= n guess)
              (let* ((ew (if ew (max ew n) n)) (full (+ (if signed? 5 4) ew d)))
                (string-append (mantissa dec (and (= (- k d) 1) (>= full w) 0) (if (> full w) 0 1)) (exponent e ew))))
             ((and overflow ew) #f)
             (else (loop n))))))
    (else
     (let ((dec (shortest-digits x)))
       (string-append (mantissa dec #f 1) (exponent (exponent-of dec) ew))))))

;;;; Integers

(define (padded-left s width c)
  (let ((n (string-length s)))
    (if (< n width) (string-append (make-string (- width n) c) s) s)))

;; With `c` between groups of `size` digits.
(define (grouped s c size)
  (let* ((n (string-length s)) (start (if (memv (string-ref s 0) '(#\+ #\-)) 1 0)))
    (let loop ((end n) (parts '()))
      (if (<= (- end size) start)
          (apply string-append (string-copy s 0 end) parts)
          (loop (- end size) (cons (string c) (cons (string-copy s (- end size) end) parts)))))))

;; A number, or the numbers in an object, in a radix, with capital letters.
(define (radix-text x radix)
  (define (digits x)
    (let ((s (number->string x radix)))
      (if (and (> radix 10) (finite? x)) (string-upcase s) s)))
  (define (walk x)
    (cond ((number? x) (digits x))
          ((pair? x) (cons (walk (car x)) (walk (cdr x))))
          ((vector? x) (vector-map walk x))
          (else x)))
  (if (number? x)
      (digits x)
      (displayed (if (= radix 10) x (walk x)))))

(define (displayed x)
  (let ((out (open-output-string)))
    (display x out)
    (get-output-string out)))

;;;; Numbers in words

(define ones
  '#("zero" "one" "two" "three" "four" "five" "six" "seven" "eight" "nine" "ten" "eleven" "twelve" "thirteen" "fourteen"
     "fifteen" "sixteen" "seventeen" "eighteen" "nineteen"))
(define tens '#("" "" "twenty" "thirty" "forty" "fifty" "sixty" "seventy" "eighty" "ninety"))
(define limit-of-words 1000000000)

;; 1100 to 1999 are counted in hundreds.
(define (cardinal-text n)
  (define (with-rest head rest)
    (if (= rest 0) head (string-append head " " (words rest))))
  (define (words n)
    (cond
      ((< n 20) (vector-ref ones n))
      ((< n 100)
       (let ((ten (vector-ref tens (quotient n 10))) (one (remainder n 10)))
         (if (= one 0) ten (string-append ten "-" (vector-ref ones one)))))
      ((or (< n 1000) (<= 1100 n 1999))
       (with-rest (string-append (words (quotient n 100)) " hundred") (remainder n 100)))
      ((< n 1000000) (with-rest (string-append (words (quotient n 1000)) " thousand") (remainder n 1000)))
      (else (with-rest (string-append (words (quotient n 1000000)) " million") (remainder n 1000000)))))
  (cond ((>= (abs n) limit-of-words) (grouped (number->string n) #\, 3))
        ((< n 0) (string-append "minus " (words (- n))))
        (else (words n))))

(define irregular-ordinals
  '(("one" . "first") ("two" . "second") ("three" . "third") ("five" . "fifth") ("eight" . "eighth") ("nine" . "ninth")
    ("twelve" . "twelfth")))

;; The last word says that it is an ordinal.
(define (ordinal-text n)
  (if (>= (abs n) limit-of-words)
      (string-append (grouped (number->string n) #\, 3)
                     (if (<= 11 (remainder (abs n) 100) 19)
                         "th"
                         (case (remainder (abs n) 10) ((1) "st") ((2) "nd") ((3) "rd") (else "th"))))
      (let* ((s (cardinal-text n))
             (start (let loop ((i (string-length s)))
                      (if (or (= i 0) (memv (string-ref s (- i 1)) '(#\space #\-))) i (loop (- i 1)))))
             (word (string-copy s start))
             (end (- (string-length word) 1)))
        (string-append
         (string-copy s 0 start)
         (cond ((assoc word irregular-ordinals) => cdr)
               ((char=? (string-ref word end) #\y) (string-append (string-copy word 0 end) "ieth"))
               (else (string-append word "th")))))))

(define roman '((1000 . "M") (900 . "CM") (500 . "D") (400 . "CD") (100 . "C") (90 . "XC") (50 . "L") (40 . "XL")
                (10 . "X") (9 . "IX") (5 . "V") (4 . "IV") (1 . "I")))
(define old-roman '((1000 . "M") (500 . "D") (100 . "C") (50 . "L") (10 . "X") (5 . "V") (1 . "I")))
(define (roman-text n table limit)
  (if (<= 1 n limit)
      (let loop ((n n) (table table) (parts '()))
        (cond ((= n 0) (apply string-append (reverse parts)))
              ((>= n (caar table)) (loop (- n (caar table)) table (cons (cdar table) parts)))
              (else (loop n (cdr table) parts))))
      (number->string n)))
