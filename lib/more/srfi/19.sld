;;; (srfi 19): times and dates.
;;;
;;; A time is a type, seconds and nanoseconds.  UTC counts from 1970 without leap seconds, TAI with them; here monotonic
;;; time is TAI.  Dates are Gregorian, before 1582, too: the number of a day is computed by eras of 400 years, which
;;; begin in March, so that a leap day comes last (Hinnant, chrono-compatible low-level date algorithms).  The time
;;; zone, where none is given, is UTC.
(define-library (srfi 19)
  (export
   time-duration time-monotonic time-process time-tai time-thread time-utc
   current-date current-julian-day current-modified-julian-day current-time time-resolution
   make-time time? time-type time-nanosecond time-second set-time-type! set-time-nanosecond! set-time-second! copy-time
   time<=? time<? time=? time>=? time>? time-difference time-difference! add-duration add-duration! subtract-duration
   subtract-duration!
   make-date date? date-nanosecond date-second date-minute date-hour date-day date-month date-year date-zone-offset
   date-year-day date-week-day date-week-number
   date->julian-day date->modified-julian-day date->time-monotonic date->time-tai date->time-utc
   julian-day->date julian-day->time-monotonic julian-day->time-tai julian-day->time-utc
   modified-julian-day->date modified-julian-day->time-monotonic modified-julian-day->time-tai
   modified-julian-day->time-utc
   time-monotonic->date time-monotonic->julian-day time-monotonic->modified-julian-day time-monotonic->time-tai
   time-monotonic->time-tai! time-monotonic->time-utc time-monotonic->time-utc!
   time-tai->date time-tai->julian-day time-tai->modified-julian-day time-tai->time-monotonic
   time-tai->time-monotonic! time-tai->time-utc time-tai->time-utc!
   time-utc->date time-utc->julian-day time-utc->modified-julian-day time-utc->time-monotonic
   time-utc->time-monotonic! time-utc->time-tai time-utc->time-tai!
   date->string string->date)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme time) (only (cairn control) wrong-type)
          (only (cairn primitives) %process-nanoseconds))
  (begin

    (define time-duration 'time-duration)
    (define time-monotonic 'time-monotonic)
    (define time-process 'time-process)
    (define time-tai 'time-tai)
    (define time-thread 'time-thread)
    (define time-utc 'time-utc)

    ;;;; Times

    (define-record-type time
      (new-time type nanosecond second)
      time?
      (type time-type set-time-type!)
      (nanosecond time-nanosecond set-time-nanosecond!)
      (second time-second set-time-second!))

    (define types (list time-duration time-monotonic time-process time-tai time-thread time-utc))
    (define (make-time type nanosecond second)
      (if (not (memq type types)) (wrong-type "make-time" "a type of times" type))
      (for-each (lambda (n) (if (not (integer? n)) (wrong-type "make-time" "an integer" n))) (list nanosecond second))
      (new-time type nanosecond second))
    (define (copy-time t)
      (if (not (time? t)) (wrong-type "copy-time" "a time" t))
      (new-time (time-type t) (time-nanosecond t) (time-second t)))

    (define (check who type t)
      (if (not (and (time? t) (eq? type (time-type t))))
          (wrong-type who (string-append "a time of type " (symbol->string type)) t)))

    (define billion 1000000000)
    (define (nanoseconds t) (+ (* billion (time-second t)) (time-nanosecond t)))
    ;; Durations that are negative have parts that are.
    (define (duration n) (new-time time-duration (truncate-remainder n billion) (truncate-quotient n billion)))
    (define (point type n) (new-time type (floor-remainder n billion) (floor-quotient n billion)))

    (define current-time
      (case-lambda
        (() (current-time time-utc))
        ((type)
         (cond
           ((memq type (list time-utc time-tai time-monotonic))
            (let ((utc (point time-utc (exact (floor (* billion (current-second)))))))
              (if (eq? type time-utc) utc (utc->tai utc type))))
           ((memq type (list time-process time-thread))
            (point type (%process-nanoseconds)))
           (else (wrong-type "current-time" "a type of times that has a clock" type))))))
    (define time-resolution
      (case-lambda
        (() (time-resolution time-utc))
        ((type)
         (cond ((memq type (list time-utc time-tai time-monotonic)) 1000)
               ((memq type (list time-process time-thread)) 1)
               (else (wrong-type "time-resolution" "a type of times that has a clock" type))))))

    (define (comparison who holds?)
      (lambda (a b)
        (if (not (and (time? a) (time? b) (eq? (time-type a) (time-type b))))
            (error (string-append who ": not two times of one type:") a b))
        (holds? (nanoseconds a) (nanoseconds b))))
    (define time=? (comparison "time=?" =))
    (define time<? (comparison "time<?" <))
    (define time>? (comparison "time>?" >))
    (define time<=? (comparison "time<=?" <=))
    (define time>=? (comparison "time>=?" >=))

    (define (difference who a b)
      (if (not (and (time? a) (time? b) (eq? (time-type a) (time-type b))))
          (error (string-append who ": not two times of one type:") a b))
      (duration (- (nanoseconds a) (nanoseconds b))))
    (define (time-difference a b) (difference "time-difference" a b))
    (define (time-difference! a b) (difference "time-difference!" a b))
    (define (shifted who t d combine)
      (if (not (time? t)) (wrong-type who "a time" t))
      (check who time-duration d)
      (let ((n (combine (nanoseconds t) (nanoseconds d))))
        (if (eq? (time-type t) time-duration) (duration n) (point (time-type t) n))))
    (define (add-duration t d) (shifted "add-duration" t d +))
    (define (subtract-duration t d) (shifted "subtract-duration" t d -))
    (define (add-duration! t d) (shifted "add-duration!" t d +))
    (define (subtract-duration! t d) (shifted "subtract-duration!" t d -))

    ;;;; Days

    ;; The number of a day, where that of 1970-01-01 is 0.
    (define (day-number year month day)
      (let* ((y (if (<= month 2) (- year 1) year))
             (era (floor-quotient y 400))
             (in-era (- y (* era 400)))
             (in-year (+ (quotient (+ (* 153 (modulo (+ month 9) 12)) 2) 5) (- day 1))))
        (+ (* era 146097) (* in-era 365) (quotient in-era 4) (- (quotient in-era 100)) in-year -719468)))
    ;; Calls `use` with year, month and day.
    (define (with-day n use)
      (let* ((z (+ n 719468))
             (era (floor-quotient z 146097))
             (day (- z (* era 146097)))
             (in-era (quotient (- day (quotient day 1460) (- (quotient day 36524)) (quotient day 146096)) 365))
             (in-year (- day (+ (* 365 in-era) (quotient in-era 4) (- (quotient in-era 100)))))
             (m (quotient (+ (* 5 in-year) 2) 153))
             (month (if (< m 10) (+ m 3) (- m 9))))
        (use (+ in-era (* era 400) (if (<= month 2) 1 0)) month (+ 1 (- in-year (quotient (+ (* 153 m) 2) 5))))))

    ;;;; Leap seconds

    ;; From when on TAI is how far ahead: the second of UTC, and the difference, latest first.
    (define leaps
      (let loop ((dates '((1972 . 1) (1972 . 7) (1973 . 1) (1974 . 1) (1975 . 1) (1976 . 1) (1977 . 1) (1978 . 1)
                          (1979 . 1)
                          (1980 . 1) (1981 . 7) (1982 . 7) (1983 . 7) (1985 . 7) (1988 . 1) (1990 . 1) (1991 . 1)
                          (1992 . 7) (1993 . 7) (1994 . 7) (1996 . 1) (1997 . 7) (1999 . 1) (2006 . 1) (2009 . 1)
                          (2012 . 7) (2015 . 7) (2017 . 1)))
                 (ahead 10)
                 (done '()))
        (if (null? dates)
            done
            (loop (cdr dates)
                  (+ ahead 1)
                  (cons (cons (* 86400 (day-number (car (car dates)) (cdr (car dates)) 1)) ahead) done)))))
    (define (ahead-of-utc second)
      (let loop ((l leaps))
        (cond ((null? l) 0)
              ((>= second (car (car l))) (cdr (car l)))
              (else (loop (cdr l))))))
    (define (ahead-of-tai second)
      (let loop ((l leaps))
        (cond ((null? l) 0)
              ((>= second (+ (car (car l)) (cdr (car l)))) (cdr (car l)))
              (else (loop (cdr l))))))
    ;; Is it the second that was put in?
    (define (leap-second? tai)
      (let loop ((l leaps))
        (and (pair? l)
             (pair? (cdr l))
             (or (= tai (+ (car (car l)) (cdr (car l)) -1)) (loop (cdr l))))))

    (define (utc->tai t type)
      (new-time type (time-nanosecond t) (+ (time-second t) (ahead-of-utc (time-second t)))))
    (define (tai->utc t)
      (new-time time-utc (time-nanosecond t) (- (time-second t) (ahead-of-tai (time-second t)))))

    ;; Those with ! make new times, too.
    (define-syntax define-conversion
      (syntax-rules ()
        ((_ name name! (t type) result)
         (begin
           (define (name t)
             (check (symbol->string 'name) type t)
             result)
           (define (name! t)
             (check (symbol->string 'name!) type t)
             result)))))
    (define-conversion time-utc->time-tai time-utc->time-tai! (t time-utc)
      (utc->tai t time-tai))
    (define-conversion time-utc->time-monotonic time-utc->time-monotonic! (t time-utc)
      (utc->tai t time-monotonic))
    (define-conversion time-tai->time-utc time-tai->time-utc! (t time-tai)
      (tai->utc t))
    (define-conversion time-monotonic->time-utc time-monotonic->time-utc! (t time-monotonic)
      (tai->utc t))
    (define-conversion time-tai->time-monotonic time-tai->time-monotonic! (t time-tai)
      (new-time time-monotonic (time-nanosecond t) (time-second t)))
    (define-conversion time-monotonic->time-tai time-monotonic->time-tai! (t time-monotonic)
      (new-time time-tai (time-nanosecond t) (time-second t)))

    ;;;; Dates

    (define-record-type date
      (new-date nanosecond second minute hour day month year zone-offset)
      date?
      (nanosecond date-nanosecond)
      (second date-second)
      (minute date-minute)
      (hour date-hour)
      (day date-day)
      (month date-month)
      (year date-year)
      (zone-offset date-zone-offset))

    (define (make-date nanosecond second minute hour day month year zone-offset)
      (for-each (lambda (n) (if (not (exact-integer? n)) (wrong-type "make-date" "an exact integer" n)))
                (list nanosecond second minute hour day month year zone-offset))
      (new-date nanosecond second minute hour day month year zone-offset))

    (define (utc->date t offset)
      (let* ((s (+ (time-second t) offset)) (in-day (floor-remainder s 86400)))
        (with-day (floor-quotient s 86400)
                  (lambda (year month day)
                    (new-date (time-nanosecond t) (remainder in-day 60) (remainder (quotient in-day 60) 60)
                              (quotient in-day 3600) day month year offset)))))
    (define (tai->date t offset)
      (if (leap-second? (time-second t))
          (let ((d (utc->date (new-time time-utc (time-nanosecond t) (- (time-second (tai->utc t)) 1)) offset)))
            (new-date (date-nanosecond d) 60 (date-minute d) (date-hour d) (date-day d) (date-month d) (date-year d)
                      offset))
          (utc->date (tai->utc t) offset)))

    (define-syntax define-with-offset
      (syntax-rules ()
        ((_ (name x offset) body)
         (define name
           (case-lambda
             ((x) (name x 0))
             ((x offset)
              (if (not (exact-integer? offset)) (wrong-type (symbol->string 'name) "an offset in seconds" offset))
              body))))))
    (define-with-offset (time-utc->date t offset)
      (begin
        (check "time-utc->date" time-utc t)
        (utc->date t offset)))
    (define-with-offset (time-tai->date t offset)
      (begin
        (check "time-tai->date" time-tai t)
        (tai->date t offset)))
    (define-with-offset (time-monotonic->date t offset)
      (begin
        (check "time-monotonic->date" time-monotonic t)
        (tai->date t offset)))
    (define current-date
      (case-lambda
        (() (current-date 0))
        ((offset) (utc->date (current-time) offset))))

    (define (day-of d) (day-number (date-year d) (date-month d) (date-day d)))
    (define (check-date who d)
      (if (date? d) d (wrong-type who "a date" d)))
    (define (date->utc d)
      (new-time time-utc (date-nanosecond d)
                (+ (* 86400 (day-of d)) (* 3600 (date-hour d)) (* 60 (date-minute d)) (date-second d)
                   (- (date-zone-offset d)))))
    (define (date->time-utc d) (date->utc (check-date "date->time-utc" d)))
    (define (date->tai d type)
      (let ((tai (utc->tai (date->utc d) type)))
        ;; the second 60 is that before the next day in TAI
        (if (= 60 (date-second d))
            (new-time type (time-nanosecond tai) (- (time-second tai) 1))
            tai)))
    (define (date->time-tai d) (date->tai (check-date "date->time-tai" d) time-tai))
    (define (date->time-monotonic d) (date->tai (check-date "date->time-monotonic" d) time-monotonic))

    (define (year-day d) (+ 1 (- (day-of d) (day-number (date-year d) 1 1))))
    (define (date-year-day d) (year-day (check-date "date-year-day" d)))
    (define (date-week-day d) (floor-remainder (+ 4 (day-of (check-date "date-week-day" d))) 7))
    ;; The days of the year before the first day of a whole week.
    (define (days-before-week year start)
      (floor-remainder (- start (+ 4 (day-number year 1 1))) 7))
    (define (date-week-number d start)
      (check-date "date-week-number" d)
      (if (not (exact-integer? start)) (wrong-type "date-week-number" "a day of the week" start))
      (floor-quotient (- (year-day d) (days-before-week (date-year d) start)) 7))

    ;;;; Julian days

    (define (utc->julian t) (+ 4881175/2 (/ (nanoseconds t) (* 86400 billion))))
    (define (julian->utc who jd)
      (if (not (and (real? jd) (rational? jd))) (wrong-type who "a day" jd))
      (point time-utc (exact (round (* 86400 billion (- (exact jd) 4881175/2))))))
    (define (modified jd) (- jd 4800001/2))
    (define (modified->utc who mjd)
      (if (not (and (real? mjd) (rational? mjd))) (wrong-type who "a day" mjd))
      (julian->utc who (+ mjd 4800001/2)))

    (define-syntax define-julian
      (syntax-rules ()
        ((_ to-julian to-modified (t type) utc)
         (begin
           (define (to-julian t)
             (check (symbol->string 'to-julian) type t)
             (utc->julian utc))
           (define (to-modified t)
             (check (symbol->string 'to-modified) type t)
             (modified (utc->julian utc)))))))
    (define-julian time-utc->julian-day time-utc->modified-julian-day (t time-utc) t)
    (define-julian time-tai->julian-day time-tai->modified-julian-day (t time-tai) (tai->utc t))
    (define-julian time-monotonic->julian-day time-monotonic->modified-julian-day (t time-monotonic) (tai->utc t))
    (define (date->julian-day d) (utc->julian (date->utc (check-date "date->julian-day" d))))
    (define (current-julian-day) (utc->julian (current-time)))
    (define (date->modified-julian-day d)
      (modified (utc->julian (date->utc (check-date "date->modified-julian-day" d)))))
    (define (current-modified-julian-day) (modified (current-julian-day)))
    (define (julian-day->time-utc jd) (julian->utc "julian-day->time-utc" jd))
    (define (julian-day->time-tai jd) (utc->tai (julian->utc "julian-day->time-tai" jd) time-tai))
    (define (julian-day->time-monotonic jd)
      (utc->tai (julian->utc "julian-day->time-monotonic" jd) time-monotonic))
    (define-with-offset (julian-day->date jd offset) (utc->date (julian->utc "julian-day->date" jd) offset))
    (define (modified-julian-day->time-utc mjd) (modified->utc "modified-julian-day->time-utc" mjd))
    (define (modified-julian-day->time-tai mjd)
      (utc->tai (modified->utc "modified-julian-day->time-tai" mjd) time-tai))
    (define (modified-julian-day->time-monotonic mjd)
      (utc->tai (modified->utc "modified-julian-day->time-monotonic" mjd) time-monotonic))
    (define-with-offset (modified-julian-day->date mjd offset)
      (utc->date (modified->utc "modified-julian-day->date" mjd) offset))

    ;;;; Text

    (define days '#("Sunday" "Monday" "Tuesday" "Wednesday" "Thursday" "Friday" "Saturday"))
    (define months
      '#("January" "February" "March" "April" "May" "June" "July" "August" "September" "October" "November" "December"))
    (define (short name) (substring name 0 3))

    (define (padded n width c)
      (let* ((digits (number->string (abs n))) (k (- width (string-length digits))))
        (string-append (if (< n 0) "-" "") (if (> k 0) (make-string k c) "") digits)))

    (define (hour-12 d)
      (let ((h (remainder (date-hour d) 12)))
        (if (= h 0) 12 h)))
    ;; The week is that of the Thursday in it.
    (define (iso-week d)
      (let ((thursday (+ (day-of d) (- 3 (floor-remainder (+ 3 (day-of d)) 7)))))
        (with-day thursday
                  (lambda (year month day)
                    (+ 1 (quotient (- thursday (day-number year 1 1)) 7))))))
    (define (week-of-year d start)
      (quotient (+ (date-year-day d) 6 (- (floor-remainder (- (date-week-day d) start) 7))) 7))
    (define (zone d colon z?)
      (let* ((offset (date-zone-offset d)) (minutes (quotient (abs offset) 60)))
        (if (and z? (= offset 0))
            "Z"
            (string-append (if (< offset 0) "-" "+") (padded (quotient minutes 60) 2 #\0) colon
                           (padded (remainder minutes 60) 2 #\0)))))
    (define (fraction d)
      (let ((n (date-nanosecond d)))
        (if (= n 0)
            ""
            (let ((digits (padded n 9 #\0)))
              (let loop ((k 9))
                (if (char=? #\0 (string-ref digits (- k 1)))
                    (loop (- k 1))
                    (string-append "." (substring digits 0 k))))))))

    (define date->string
      (case-lambda
        ((d) (date->string d "~c"))
        ((d format)
         (if (not (date? d)) (wrong-type "date->string" "a date" d))
         (let ((out (open-output-string)) (n (string-length format)))
           (let loop ((i 0))
             (cond
               ((= i n) (get-output-string out))
               ((not (char=? #\~ (string-ref format i)))
                (write-char (string-ref format i) out)
                (loop (+ i 1)))
               ((= (+ i 1) n) (error "date->string: a directive is missing behind ~ at the end of the format:" format))
               (else
                (write-string (directive d (string-ref format (+ i 1)) format) out)
                (loop (+ i 2)))))))))
    (define (directive d c format)
      (define (two n) (padded n 2 #\0))
      (case c
        ((#\~) "~")
        ((#\a) (short (vector-ref days (date-week-day d))))
        ((#\A) (vector-ref days (date-week-day d)))
        ((#\b #\h) (short (vector-ref months (- (date-month d) 1))))
        ((#\B) (vector-ref months (- (date-month d) 1)))
        ((#\c) (date->string d "~a ~b ~d ~H:~M:~S~z ~Y"))
        ((#\d) (two (date-day d)))
        ((#\D) (date->string d "~m/~d/~y"))
        ((#\e) (padded (date-day d) 2 #\space))
        ((#\f) (string-append (two (date-second d)) (fraction d)))
        ((#\H) (two (date-hour d)))
        ((#\I) (two (hour-12 d)))
        ((#\j) (padded (date-year-day d) 3 #\0))
        ((#\k) (padded (date-hour d) 2 #\space))
        ((#\l) (padded (hour-12 d) 2 #\space))
        ((#\m) (two (date-month d)))
        ((#\M) (two (date-minute d)))
        ((#\n) "\n")
        ((#\N) (padded (date-nanosecond d) 9 #\0))
        ((#\p) (if (< (date-hour d) 12) "AM" "PM"))
        ((#\r) (date->string d "~I:~M:~S ~p"))
        ((#\s) (number->string (time-second (date->time-utc d))))
        ((#\S) (two (date-second d)))
        ((#\t) "\t")
        ((#\T #\X) (date->string d "~H:~M:~S"))
        ((#\U) (two (week-of-year d 0)))
        ((#\V) (two (iso-week d)))
        ((#\w) (number->string (date-week-day d)))
        ((#\W) (two (week-of-year d 1)))
        ((#\x) (date->string d "~m/~d/~y"))
        ((#\y) (two (floor-remainder (date-year d) 100)))
        ((#\Y) (padded (date-year d) 4 #\0))
        ((#\z) (zone d "" #t))
        ((#\Z) (zone d ":" #t))
        ((#\1) (date->string d "~Y-~m-~d"))
        ((#\2) (date->string d "~H:~M:~S~z"))
        ((#\3) (date->string d "~H:~M:~S"))
        ((#\4) (date->string d "~Y-~m-~dT~H:~M:~S~z"))
        ((#\5) (date->string d "~Y-~m-~dT~H:~M:~S"))
        (else (error "date->string: not a directive:" (string #\~ c) format))))

    ;; The text is gone through together with the template.
    (define (string->date text template)
      (let ((end (string-length text)) (n (string-length template))
            (nanosecond 0) (second 0) (minute 0) (hour 0) (day 1) (month 1) (year #f) (offset 0))
        (define (fail what)
          (error (string-append "string->date: " what) text template))
        (define (skip-until i ok?)
          (cond ((= i end) (fail "the text ends too early:"))
                ((ok? (string-ref text i)) i)
                (else (skip-until (+ i 1) ok?))))
        ;; Digits from i on, at most so many: calls (use number next).
        (define (digits i most use)
          (let loop ((j i) (x 0))
            (if (and (< j end) (< (- j i) most) (char<=? #\0 (string-ref text j) #\9))
                (loop (+ j 1) (+ (* 10 x) (- (char->integer (string-ref text j)) 48)))
                (if (= j i) (fail "a number is missing:") (use x j)))))
        (define (numeric i most use)
          (digits (skip-until i (lambda (c) (char<=? #\0 c #\9))) most use))
        ;; The index of the name that stands at i, in full or short: calls (use index next).
        (define (name i names shorten use)
          (let ((i (skip-until i char-alphabetic?)))
            (let loop ((k 0))
              (if (= k (vector-length names))
                  (fail "no name of a day or a month:")
                  (let* ((name (shorten (vector-ref names k))) (j (+ i (string-length name))))
                    (if (and (<= j end) (string-ci=? name (substring text i j)))
                        (use k j)
                        (loop (+ k 1))))))))
        (define (whole x) x)
        (define (read-zone i use)
          (let ((c (if (< i end) (string-ref text i) #\space)))
            (case c
              ((#\Z #\z) (use 0 (+ i 1)))
              ((#\+ #\-)
               (digits (+ i 1) 2
                       (lambda (hours i)
                         (digits (if (and (< i end) (char=? #\: (string-ref text i))) (+ i 1) i) 2
                                 (lambda (minutes i)
                                   (use (* (if (char=? c #\-) -60 60) (+ (* 60 hours) minutes)) i))))))
              (else (fail "no time zone:")))))
        (define (near-year x)
          (let* ((now (date-year (current-date))) (guess (+ x (- now (floor-remainder now 100)))))
            (cond ((> guess (+ now 50)) (- guess 100))
                  ((< guess (- now 50)) (+ guess 100))
                  (else guess))))
        (define (field c i next)
          (define-syntax put
            (syntax-rules ()
              ((_ variable) (lambda (x i)
                              (set! variable x)
                              (next i)))))
          (define (skip-blank i)
            (if (and (< i end) (char=? #\space (string-ref text i))) (skip-blank (+ i 1)) i))
          (case c
            ((#\~)
             (if (and (< i end) (char=? #\~ (string-ref text i))) (next (+ i 1)) (fail "~ is missing:")))
            ((#\a) (name i days short (lambda (k i) (next i))))
            ((#\A) (name i days whole (lambda (k i) (next i))))
            ((#\b #\h)
             (name i months short (lambda (k i)
                                    (set! month (+ k 1))
                                    (next i))))
            ((#\B)
             (name i months whole (lambda (k i)
                                    (set! month (+ k 1))
                                    (next i))))
            ((#\d) (numeric i 2 (put day)))
            ((#\e) (digits (skip-blank i) 2 (put day)))
            ((#\H) (numeric i 2 (put hour)))
            ((#\k) (digits (skip-blank i) 2 (put hour)))
            ((#\m) (numeric i 2 (put month)))
            ((#\M) (numeric i 2 (put minute)))
            ((#\S) (numeric i 2 (put second)))
            ((#\N) (numeric i 9 (put nanosecond)))
            ((#\y) (digits i 2 (lambda (x i)
                                 (set! year (near-year x))
                                 (next i))))
            ((#\Y) (numeric i 4 (put year)))
            ((#\z) (read-zone i (put offset)))
            (else (fail (string-append "not a directive: ~" (string c))))))
        (let loop ((i 0) (k 0))
          (cond
            ((= k n)
             (if (not year) (fail "the template has no year:"))
             (make-date nanosecond second minute hour day month year offset))
            ((and (char=? #\~ (string-ref template k)) (< (+ k 1) n))
             (field (string-ref template (+ k 1)) i (lambda (i) (loop i (+ k 2)))))
            ((and (< i end) (char=? (string-ref text i) (string-ref template k))) (loop (+ i 1) (+ k 1)))
            (else (fail "the text is not as the template has it:"))))))))
