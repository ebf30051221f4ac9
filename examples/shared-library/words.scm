;;; A shared library in Scheme: words of a text, for C, Python and Rust.
;;;
;;;     cairn build --shared words.scm            # makes libwords.so and words.h
;;;     python3 words.py
;;;     cc words.c -L. -lwords -Wl,-rpath,. -o words && ./words
;;;     rustc --edition=2024 words.rs -L. -C link-arg=-Wl,-rpath,. && ./words
(import (scheme base) (scheme char) (srfi 69) (srfi 132) (cairn c))

;; The words of a text, in small letters.
(define (words text)
  (let loop ((l (reverse (string->list (string-downcase text)))) (word '()) (found '()))
    (define (with-word) (if (null? word) found (cons (list->string word) found)))
    (cond
      ((null? l) (with-word))
      ((char-alphabetic? (car l)) (loop (cdr l) (cons (car l) word) found))
      (else (loop (cdr l) '() (with-word))))))

;; Words and how often each occurs, the most frequent first.
(define (tally text)
  (let ((counts (make-hash-table string=?)))
    (for-each (lambda (word) (hash-table-update!/default counts word (lambda (n) (+ n 1)) 0)) (words text))
    (list-sort (lambda (a b) (if (= (cdr a) (cdr b)) (string<? (car a) (car b)) (> (cdr a) (cdr b))))
               (hash-table->alist counts))))

(define (most-frequent text)
  (let ((all (tally text)))
    (if (null? all) (error "there is no word in the text:" text))
    (caar all)))

;; Calls a function of C with each word and its number, and comes to an end when that returns false.
(define (each-word text function)
  (let loop ((l (tally text)))
    (if (and (pair? l) (function (caar l) (cdar l))) (loop (cdr l)))))

(c-export long "count_words" (string) (lambda (text) (length (words text))))
(c-export string "most_frequent" (string) most-frequent)
(c-export void "each_word" (string (function bool (string int))) each-word)
