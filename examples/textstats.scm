;;; Text statistics: reads files, counts, and draws.
;;;
;;;     ./cairn run examples/textstats.scm FILE ...
;;;     ./cairn run examples/textstats.scm              for the text in examples/data

(import (scheme base) (scheme char) (scheme file) (scheme write) (scheme process-context)
        (srfi 1) (cairn sort) (cairn hash-table))

(define-record-type stats
  (make-stats lines characters sentences words lengths)
  stats?
  (lines stats-lines set-stats-lines!)
  (characters stats-characters set-stats-characters!)
  (sentences stats-sentences set-stats-sentences!)
  (words stats-words)          ; hash table: word -> count
  (lengths stats-lengths))     ; hash table: length -> count

(define (bump! table key)
  (hash-table-update!/default table key (lambda (n) (+ n 1)) 0))

(define (note-word! s word)
  (unless (string=? word "")
    (bump! (stats-words s) word)
    (bump! (stats-lengths s) (string-length word))))

(define (note-line! s line)
  (set-stats-lines! s (+ 1 (stats-lines s)))
  (set-stats-characters! s (+ 1 (string-length line) (stats-characters s)))
  (let ((n (string-length line)))
    (let loop ((i 0) (start 0))
      (if (= i n)
          (note-word! s (string-downcase (substring line start n)))
          (let ((c (string-ref line i)))
            (if (memv c '(#\. #\! #\?))
                (set-stats-sentences! s (+ 1 (stats-sentences s))))
            (if (or (char-alphabetic? c) (char=? c #\'))
                (loop (+ i 1) start)
                (begin
                  (note-word! s (string-downcase (substring line start i)))
                  (loop (+ i 1) (+ i 1)))))))))

(define (read-stats port)
  (let ((s (make-stats 0 0 0 (make-hash-table string=?) (make-hash-table eqv?))))
    (let loop ()
      (let ((line (read-line port)))
        (unless (eof-object? line)
          (note-line! s line)
          (loop))))
    s))

(define (pad-left x width)
  (let ((s (if (string? x) x (number->string x))))
    (string-append (make-string (max 0 (- width (string-length s))) #\space) s)))

(define (pad-right s width)
  (string-append s (make-string (max 0 (- width (string-length s))) #\space)))

;; One digit after the point.
(define (tenths x)
  (let* ((n (exact (round (* 10 x)))))
    (string-append (number->string (quotient n 10)) "." (number->string (remainder n 10)))))

(define (line . parts)
  (for-each display parts)
  (newline))

(define (bar n most width)
  (make-string (exact (ceiling (* width (/ n most)))) #\#))

(define (report name s)
  (let* ((counts (hash-table->alist (stats-words s)))
         (total (fold + 0 (map cdr counts)))
         (ranked (list-sort (lambda (a b)
                              (or (> (cdr a) (cdr b))
                                  (and (= (cdr a) (cdr b)) (string<? (car a) (car b)))))
                            counts)))
    (line name)
    (line (pad-left (stats-lines s) 8) " lines")
    (line (pad-left (stats-characters s) 8) " characters")
    (line (pad-left (stats-sentences s) 8) " sentences")
    (line (pad-left total 8) " words, " (length counts) " different")
    (when (> total 0)
      (line (pad-left (tenths (/ (fold (lambda (e sum) (+ sum (* (string-length (car e)) (cdr e)))) 0 counts) total)) 8)
            " letters per word")
      (when (> (stats-sentences s) 0)
        (line (pad-left (tenths (/ total (stats-sentences s))) 8) " words per sentence"))
      (newline)
      (line "most frequent words")
      (for-each
       (lambda (e)
         (line "  " (pad-right (car e) 10) (pad-left (cdr e) 4) " " (bar (cdr e) (cdar ranked) 40)))
       (take ranked (min 10 (length ranked))))
      (newline)
      (line "word lengths")
      (let* ((lengths (hash-table->alist (stats-lengths s)))
             (most (fold max 0 (map cdr lengths))))
        (for-each
         (lambda (e) (line "  " (pad-left (car e) 3) " " (pad-left (cdr e) 4) " " (bar (cdr e) most 40)))
         (list-sort (lambda (a b) (< (car a) (car b))) lengths)))
      (newline)
      (line "longest: "
            (let ((longest (fold (lambda (e best) (if (> (string-length (car e)) (string-length best)) (car e) best)) "" ranked)))
              longest)))))

(define (stats-of file)
  (guard (e ((file-error? e)
             (line (error-object-message e))
             (exit 1)))
    (call-with-input-file file read-stats)))

;; The sample, from the root of the repository or from this directory.
(define samples '("examples/data/cairns.txt" "data/cairns.txt"))

(let ((files (cdr (command-line))))
  (if (pair? files)
      (for-each (lambda (file) (report file (stats-of file))) files)
      (let ((sample (find file-exists? samples)))
        (if sample
            (report "cairns.txt" (stats-of sample))
            (line "which files? textstats FILE ...")))))
