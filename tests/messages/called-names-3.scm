;; Procedures that are made of others fail by the name that was called: times and dates, regular expressions.
(import (scheme base) (scheme write) (srfi 19) (srfi 115) (only (cairn control) condition->string))
(include "../support/say.scm")

(define five 5)
(define epoch (make-time time-utc 0 0))
(define new-year (make-date 0 0 0 0 1 1 2017 0))

;; times and dates
(say (copy-time five) (time-difference! five epoch) (add-duration! five epoch) (subtract-duration! epoch five)
     (time-utc->time-tai! five) (time-utc->time-monotonic! five) (time-tai->time-utc! epoch)
     (time-monotonic->time-utc! five) (time-tai->time-monotonic! five) (time-monotonic->time-tai! five)
     (date-year-day five) (date-week-day five) (date-week-number five 0) (date-week-number new-year 'monday)
     (date->time-tai five) (date->time-monotonic five) (date->julian-day five) (date->modified-julian-day five)
     (time-tai->julian-day five) (time-monotonic->julian-day epoch) (time-utc->modified-julian-day five)
     (time-tai->modified-julian-day five) (time-monotonic->modified-julian-day five) (julian-day->time-utc 'x)
     (julian-day->time-tai 'x) (julian-day->time-monotonic 'x) (julian-day->date +nan.0) (julian-day->date 0 'x)
     (modified-julian-day->time-utc 'x) (modified-julian-day->time-tai 'x) (modified-julian-day->time-monotonic 'x)
     (modified-julian-day->date 'x) (modified-julian-day->date 0 'x) (time-utc->date epoch "UTC"))
;; and where nothing is wrong
(define tai (date->time-tai new-year))
(say (time-second tai) (time-second (date->time-monotonic new-year)) (time-type (date->time-monotonic new-year))
     (time-second (time-tai->time-utc! tai)) (time-second (time-difference! tai (make-time time-tai 0 0)))
     (time-tai->julian-day tai) (time-tai->modified-julian-day tai) (date->julian-day new-year)
     (date-year (julian-day->date (date->julian-day new-year))) (date-day (modified-julian-day->date 51544))
     (date-second (time-tai->date (subtract-duration! tai (make-time time-duration 0 1)))))

;; regular expressions
(define m (regexp-search '(: ($ "a") (-> b "b")) "xab"))
(say (regexp-extract "a" five) (regexp-partition "a" five) (regexp-split "a" five) (regexp-extract "a" "a" 2)
     (regexp-match-count five) (regexp-match-submatch five) (regexp-match-submatch m 3) (regexp-match-submatch m 'c)
     (regexp-match-submatch-start m 3) (regexp-match-submatch-end m 'c) (regexp-replace "a" "a" 1)
     (regexp-replace-all "a" "a" 1) (regexp-replace-all "a" "a" 1/2)
     (regexp-match-count m) (regexp-match->list m) (regexp-match-submatch m 'b) (regexp-match-submatch-start m 'b)
     (regexp-partition '(+ "a") "xaayaz") (regexp-extract '(+ "a") "xaayaz")
     (regexp-replace-all '($ "a") "banana" '(1 1)))
