;;; What operations do.

;;; Where an operation stands: who is called, the control string, all of its arguments, and, in a loop over lists, the
;;; lists that come after this one.
(define-record-type <scope>
  (make-scope who text all later)
  scope?
  (who scope-who)
  (text scope-text)
  (all scope-all)
  (later scope-later))

(define (next-argument arguments scope)
  (if (null? arguments) (fail (scope-who scope) "too few arguments for control string" (scope-text scope)))
  (car arguments))

(define (run operations arguments sink scope)
  (let loop ((operations operations) (arguments arguments))
    (cond
      ((null? operations) (values arguments #f))
      ((string? (car operations))
       (put (car operations) sink)
       (loop (cdr operations) arguments))
      (else
       (let-values (((arguments ended) ((car operations) arguments sink scope)))
         (if ended
             (values arguments ended)
             (loop (cdr operations) arguments)))))))

;; Columns count from where the text of this control string begins.
(define (run-control control arguments sink scope)
  (run (control-operations control)
       arguments
       (if (control-columns? control) (make-columns sink 0) sink)
       scope))

;;;; Sinks

(define-record-type <columns>
  (make-columns under column)
  columns?
  (under columns-under)
  (column columns-column set-columns-column!))

(define (put s sink)
  (if (columns? sink)
      (let loop ((i 0) (column (columns-column sink)))
        (cond
          ((= i (string-length s))
           (set-columns-column! sink column)
           (put s (columns-under sink)))
          (else (loop (+ i 1) (if (char=? (string-ref s i) #\newline) 0 (+ column 1))))))
      (write-string s sink)))

(define (put-with writer object sink)
  (cond ((columns? sink) (put (written writer object) sink))
        ((string? object) (writer object sink))
        (else (writer object sink))))
(define (written writer object)
  (let ((out (open-output-string)))
    (writer object out)
    (get-output-string out)))

;; What operations write, as a string: `finish` gets it, the arguments left, and how it ended.
(define (collect operations arguments sink scope finish)
  (let ((out (open-output-string)))
    (let-values (((arguments ended) (run operations arguments (if (columns? sink) (make-columns out 0) out) scope)))
      (finish (get-output-string out) arguments ended))))

(define (put-padded s width pad sink)
  (put (if width (padded-left s width pad) s) sink))
;; Too long for a field that has a character for that.
(define (put-number s width overflow pad sink)
  (if (and width overflow (> (string-length s) width))
      (put (make-string (max width 0) overflow) sink)
      (put-padded s width pad sink)))

;;;; ~& ~t

(define (put-fresh-line parameters arguments sink scope)
  (let ((n (car parameters)))
    (if (> n 0)
        (begin
          (cond ((not (columns? sink)) (fresh-line sink))
                ((> (columns-column sink) 0) (put "\n" sink)))
          (put (make-string (- n 1) #\newline) sink)))
    (values arguments #f)))

(define (put-tab relative?)
  (lambda (parameters arguments sink scope)
    (let* ((to (car parameters))
           (step (cadr parameters))
           (column (columns-column sink))
           (spaces (cond
                     (relative?
                      (+ to (if (= step 0) 0 (modulo (- (+ column to)) step))))
                     ((< column to) (- to column))
                     ((= step 0) 0)
                     (else (- step (modulo (- column to) step))))))
      (put (make-string spaces #\space) sink)
      (values arguments #f))))

;;;; One argument

(define (put-object writer left?)
  (lambda (object parameters sink scope)
    (let ((width (car parameters)) (step (cadr parameters)) (least (caddr parameters)) (pad (cadddr parameters)))
      (if (and (= width 0) (= least 0))
          (put-with writer object sink)
          (let* ((s (written writer object))
                 (missing (max 0 (- width least (string-length s))))
                 (padding (make-string (+ least (* step (quotient (+ missing (- step 1)) step))) pad)))
            (if left? (put padding sink))
            (put s sink)
            (if (not left?) (put padding sink)))))))

(define character-names
  '((0 . "nul") (7 . "alarm") (8 . "backspace") (9 . "tab") (10 . "newline") (11 . "vtab") (12 . "page") (13 . "return")
    (27 . "esc") (32 . "space") (127 . "delete") (133 . "nel") (#x2028 . "ls")))
(define (put-character name? literal?)
  (lambda (c parameters sink scope)
    (if (not (char? c)) (fail (scope-who scope) "expected character for ~c, received" c))
    (let ((n (char->integer c)))
      (cond
        ((and name? (assv n character-names))
         => (lambda (entry) (put (string-append "<" (cdr entry) ">") sink)))
        ((and name? (< n 32)) (put (string #\^ (integer->char (+ n 64))) sink))
        ((and literal? (not name?)) (put-with write c sink))
        (else (put (string c) sink))))))

(define (put-integer radix commas? sign?)
  (lambda (x parameters sink scope)
    (let*-values (((radix parameters)
                   (if radix (values radix parameters) (values (car parameters) (cdr parameters))))
                  ((width pad comma size)
                   (values (car parameters) (cadr parameters) (caddr parameters) (cadddr parameters))))
      (let* ((s (radix-text x radix))
             (s (if (and sign? (exact-integer? x) (>= x 0)) (string-append "+" s) s)))
        (put-padded (if (and commas? (exact-integer? x)) (grouped s comma size) s) width pad sink)))))

(define (put-words colon? at?)
  (lambda (n parameters sink scope)
    (if (not (exact-integer? n)) (fail (scope-who scope) "expected exact integer for ~r, received" n))
    (put (cond ((not at?) ((if colon? ordinal-text cardinal-text) n))
               (colon? (roman-text n old-roman 4999))
               (else (roman-text n roman 3999)))
         sink)))

(define (put-plural back? y? text)
  (lambda (parameters arguments sink scope)
    (let ((from (if back? (list-tail-before (scope-all scope) arguments) arguments)))
      (if (not from) (fail (scope-who scope) "no previous argument for" text))
      (put (if (eqv? (next-argument from scope) 1) (if y? "y" "") (if y? "ies" "s")) sink)
      (values (cdr from) #f))))
;; The tail of a list before this one, or #f.
(define (list-tail-before l tail)
  (let loop ((l l))
    (cond ((or (null? l) (eq? l tail)) #f)
          ((eq? (cdr l) tail) l)
          (else (loop (cdr l))))))

;;;; Real numbers

;; `text` gets the flonum and the parameters before those for padding and the one behind them, and returns a string, or
;; #f if it does not fit.
(define (real-directive letter width-of show)
  (lambda (x parameters sink scope)
    (if (not (real? x)) (fail (scope-who scope) (string-append "expected real number for " letter ", received") x))
    (let ((x (inexact x)))
      (if (finite? x)
          (show x parameters sink)
          (let-values (((width overflow pad) (width-of parameters)))
            (put-number (number->string x) width overflow pad sink))))))

(define (fixed-field p) (values (car p) (cadddr p) (list-ref p 4)))
(define (exponent-field p) (values (car p) (list-ref p 4) (list-ref p 5)))
(define (money-field p) (values (caddr p) #f (cadddr p)))

(define (put-fixed sign?)
  (real-directive "~f"
                  fixed-field
                  (lambda (x parameters sink)
                    (let-values (((w d k overflow pad) (apply values parameters)))
                      (put-number (fixed-text x w d k sign?) w overflow pad sink)))))

(define (put-exponent sign?)
  (real-directive "~e"
                  exponent-field
                  (lambda (x parameters sink)
                    (let-values (((w d e k overflow pad letter) (apply values parameters)))
                      (cond
                        ((or (not d) (< (- d) k (+ d 2))) (put-exponential x w d e k overflow pad letter sign? sink))
                        ((and w overflow) (put (make-string w overflow) sink))
                        (else
                         (put-exponential x w (if (> k 0) (- k 1) (- 1 k)) e k overflow pad letter sign? sink)))))))
(define (put-exponential x w d e k overflow pad letter sign? sink)
  (let ((s (exponent-text x w d e k overflow letter sign?)))
    (if s
        (put-number s w overflow pad sink)
        (put (make-string w overflow) sink))))

;; ~f where the digits wanted are enough for it, with blanks where an exponent would be; or ~e.
(define (put-general sign?)
  (real-directive
   "~g"
   exponent-field
   (lambda (x parameters sink)
     (let-values (((w d e k overflow pad letter) (apply values parameters)))
       (define blanks (if e (+ e 2) 4))
       (define room (and w (- w blanks)))
       (define (exponential) (put-exponential x w d e k overflow pad letter sign? sink))
       (define (fixed s)
         (put-number s room overflow pad sink)
         (if w (put (make-string blanks #\space) sink)))
       (if d
           (let loop ((n (if (= x 0.0) 0 (+ (exact (floor (- (/ (log (abs x)) (log 10)) 1e-10))) 1))))
             (let ((places (- d n)))
               (if (not (<= 0 places d))
                   (exponential)
                   (let* ((dec (digits-to x (- places))) (actual (+ (decimal-power dec) 1)))
                     (if (> actual n)
                         (loop actual)
                         (fixed (fixed-places dec room places sign?)))))))
           (let* ((dec (shortest-digits x))
                  (n (+ (decimal-power dec) 1))
                  (digits (max (length (decimal-digits dec)) (min n 7)))
                  (places (- digits n)))
             (if (<= 0 places digits)
                 (fixed (fixed-text x room places 0 sign?))
                 (exponential))))))))

(define (put-money sign-first? sign?)
  (real-directive
   "~$"
   money-field
   (lambda (x parameters sink)
     (let-values (((places before width pad) (apply values parameters)))
       (let* ((dec (digits-to x (- places))) (negative? (decimal-negative? dec)))
         (if (and sign-first? (or sign? negative?))
             (begin
               (put (if negative? "-" "+") sink)
               (put-padded (decimal->text (decimal-magnitude dec) places before #f) (- width 1) pad sink))
             (put-padded (decimal->text dec places before sign?) width pad sink)))))))

;;;; Other arguments, other control strings

(define (goto back? absolute? text)
  (lambda (parameters arguments sink scope)
    (define all (scope-all scope))
    (define n (or (car parameters) (if absolute? 0 1)))
    (define (beyond) (fail (scope-who scope) "would move beyond argument list" text))
    (values (cond
              (absolute? (if (<= n (length all)) (list-tail all n) (beyond)))
              (back?
               (let ((at (- (length all) (length arguments) n)))
                 (if (< at 0) (fail (scope-who scope) "would move before first argument" text))
                 (list-tail all at)))
              ((<= n (length arguments)) (list-tail arguments n))
              (else (beyond)))
            #f)))

(define (proper-list l scope)
  (if (not (list? l)) (fail (scope-who scope) "not a proper list" l))
  l)

(define (put-indirect splice? text)
  (lambda (parameters arguments sink scope)
    (let* ((who (scope-who scope)) (inner (next-argument arguments scope)))
      (if (not (string? inner)) (fail who "first argument is not a string" text inner))
      (let ((control (control-of who inner)) (rest (cdr arguments)))
        (if splice?
            (let-values (((left ended)
                          (run-control control rest sink (make-scope who (scope-text scope) (scope-all scope) #f))))
              (values left #f))
            (let ((l (proper-list (next-argument rest scope) scope)))
              (run-control control l sink (make-scope who inner l #f))
              (values (cdr rest) #f)))))))

(define (escape all?)
  (lambda (parameters arguments sink scope)
    (let ((n (car parameters)) (m (cadr parameters)))
      (values arguments
              (and (cond ((and n m) (eqv? n m))
                         (n (eqv? n 0))
                         (else (null? (if all? (scope-later scope) arguments))))
                   (if all? 'end-all 'end))))))

;;;; Loops, choices

(define (iterate body lists? rest? once?)
  (lambda (parameters arguments sink scope)
    (define who (scope-who scope))
    (define (iterate-with control arguments)
      ;; One turn: the arguments left, and how it ended.
      (define text (if control (control-text control) (scope-text scope)))
      (define (turn arguments all later)
        (let ((inner (make-scope who text all later)))
          (if control
              (run-control control arguments sink inner)
              (run body arguments sink inner))))
      (define (loop arguments all)
        (let next ((n (car parameters)) (left arguments) (once? once?))
          (if (or (eqv? n 0) (and (null? left) (not once?)))
              left
              (let ((n (and n (- n 1))))
                (if lists?
                    (let ((l (if (null? left) '() (proper-list (car left) scope)))
                          (later (if (null? left) '() (cdr left))))
                      (let-values (((_ ended) (turn l l later)))
                        (if (eq? ended 'end-all)
                            later
                            (next n later #f))))
                    (let-values (((left _) (turn left all #f)))
                      (next n left #f)))))))
      (if rest?
          (values (loop arguments (scope-all scope)) #f)
          (let ((l (proper-list (next-argument arguments scope) scope)))
            (loop l l)
            (values (cdr arguments) #f))))
    (if (null? body)
        (iterate-with (control-of who (next-argument arguments scope)) (cdr arguments))
        (iterate-with #f arguments))))

(define (choose-if-there then)
  (lambda (parameters arguments sink scope)
    (if (next-argument arguments scope)
        (run then arguments sink scope)
        (values (cdr arguments) #f))))

(define (choose-if else then)
  (lambda (parameters arguments sink scope)
    (run (if (next-argument arguments scope) then else) (cdr arguments) sink scope)))

(define (choose-case cases default)
  (define table (list->vector cases))
  (lambda (parameters arguments sink scope)
    (let* ((given (car parameters)) (n (or given (next-argument arguments scope))))
      (run (if (and (count? n) (< n (vector-length table))) (vector-ref table n) default)
           (if given arguments (cdr arguments))
           sink
           scope))))

;;;; Letter case, fields

(define (put-cased body colon? at?)
  (define change
    (cond ((and colon? at?) (lambda (s) (string-map char-upcase s)))
          (colon? capitalize)
          (at?
           (lambda (s)
             (if (string=? s "")
                 s
                 (string-append (string (char-upcase (string-ref s 0))) (string-map char-downcase (string-copy s 1))))))
          (else (lambda (s) (string-map char-downcase s)))))
  (lambda (parameters arguments sink scope)
    (collect body
             arguments
             sink
             scope
             (lambda (s arguments ended)
               (put (change s) sink)
               (values arguments ended)))))

;; Every word begins with a capital letter.
(define (capitalize s)
  (let ((out (open-output-string)))
    (let loop ((i 0) (inside? #f))
      (if (= i (string-length s))
          (get-output-string out)
          (let* ((c (string-ref s i)) (letter? (or (char-alphabetic? c) (char-numeric? c))))
            (write-char (if (and letter? (not inside?)) (char-upcase c) (char-downcase c)) out)
            (loop (+ i 1) letter?))))))

;; `first`: #f, or the operations of a segment that is written before all if the line has not room for the fields, with
;; two parameters: how much else the line must have room for, and its length.
(define (put-fields segments before? after? first)
  (lambda (parameters arguments sink scope)
    (let-values (((width step least pad) (apply values parameters)))
      (define (fields texts head)
        (let* ((texts `(,@(if before? '("") '()) ,@texts ,@(if after? '("") '())))
               (texts (if (null? texts) '("") texts))
               (letters (apply + (map string-length texts)))
               (gaps (- (length texts) 1))
               (size (+ letters (* least gaps)))
               (size (if (<= size width)
                         width
                         (+ size (if (= step 0) 0 (modulo (- width size) step)))))
               (blanks (- size letters)))
          (if (and head (> (+ (columns-column sink) size (cadr first)) (caddr first)))
              (put head sink))
          (if (= gaps 0)
              (begin
                (put (make-string blanks pad) sink)
                (put (car texts) sink))
              (spread texts (quotient blanks gaps) (remainder blanks gaps) gaps pad sink))))
      (define (all segments done arguments head)
        (if (null? segments)
            (begin
              (fields (reverse done) head)
              (values arguments #f))
            (collect (car segments)
                     arguments
                     sink
                     (make-scope (scope-who scope) (scope-text scope) (scope-all scope) #f)
                     (lambda (s left ended)
                       (if ended
                           (begin
                             (fields (reverse done) head)
                             (values left #f))
                           (all (cdr segments) (cons s done) left head))))))
      (if first
          (collect (car first)
                   arguments
                   sink
                   (make-scope (scope-who scope) (scope-text scope) (scope-all scope) #f)
                   (lambda (head left ended)
                     (if ended
                         (begin
                           (fields '() #f)
                           (values left #f))
                         (all segments '() left head))))
          (all segments '() arguments #f)))))

;; Texts with so many blanks between them; `more` gaps, as evenly as may be, have one more.
(define (spread texts blanks more gaps pad sink)
  (define every-so-many (if (= more 0) 0 (quotient gaps more)))
  (put (car texts) sink)
  (let loop ((texts (cdr texts)) (in 1) (more more))
    (if (pair? texts)
        (let ((one-more? (and (> more 0) (= in 1))))
          (put (make-string (if one-more? (+ blanks 1) blanks) pad) sink)
          (put (car texts) sink)
          (if one-more?
              (loop (cdr texts) every-so-many (- more 1))
              (loop (cdr texts) (- in 1) more))))))

;;;; format

(define (format-on who sink text arguments)
  (let* ((control (control-of who text)) (n (control-arguments control)))
    (if (and n (not (= n (length arguments))))
        (fail who
              (if (< (length arguments) n)
                  "too few arguments for control string"
                  "too many arguments for control string")
              text))
    (run-control control arguments sink (make-scope who text arguments #f))
    (if #f #f)))

(define (format-to-string text arguments)
  (let ((out (open-output-string)))
    (format-on 'format out text arguments)
    (get-output-string out)))

(define (check-port who port)
  (if (not (and (output-port? port) (textual-port? port))) (fail who "not a textual output port" port)))

(define (format first . rest)
  (cond
    ((string? first) (format-to-string first rest))
    ((null? rest) (fail 'format "not a control string" first))
    ((not first) (format-to-string (car rest) (cdr rest)))
    ((eq? first #t) (format-on 'format (current-output-port) (car rest) (cdr rest)))
    ((port? first)
     (check-port 'format first)
     (format-on 'format first (car rest) (cdr rest)))
    (else (fail 'format "not a control string" first))))

(define (printf text . arguments)
  (format-on 'printf (current-output-port) text arguments))

(define (fprintf port text . arguments)
  (check-port 'fprintf port)
  (format-on 'fprintf port text arguments))
