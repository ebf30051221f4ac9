;;; A preprocessor of mdBook: links that lead out of docs/ lead to pages of the book.
;;;
;;; The manual names files of the source tree: ARCHITECTURE.md, programs of examples/, files of crates/. On a site there
;;; is no tree beside the manual. So each of these files becomes a page, below tree/, in a part of its own at the end;
;;; of a link to a directory, only the text stays.
;;;
;;; mdBook writes `[context, book]` as JSON, and reads the book: https://rust-lang.github.io/mdBook/for_developers/

(import (scheme base) (scheme file) (scheme process-context)
        (srfi 1) (except (srfi 13) string-map string-for-each) (srfi 180))

(define (get object key)
  (cdr (assq key object)))

;; The same object with another value of the key.
(define (with object key value)
  (map (lambda (field) (if (eq? (car field) key) (cons key value) field)) object))

;;; Paths, as lists of names from the root of the source tree.

(define (split path)
  (remove string-null? (string-split path)))

(define (string-split path)
  (let ((slash (string-index path #\/)))
    (if slash
        (cons (substring path 0 slash) (string-split (substring path (+ slash 1) (string-length path))))
        (list path))))

;; Where a relative path leads from a directory; #f if that is outside of the tree.
(define (resolve directory path)
  (let loop ((names (split path)) (at (reverse directory)))
    (cond ((null? names) (reverse at))
          ((string=? (car names) ".") (loop (cdr names) at))
          ((not (string=? (car names) "..")) (loop (cdr names) (cons (car names) at)))
          ((null? at) #f)
          (else (loop (cdr names) (cdr at))))))

;; From a directory to a file.
(define (relative directory file)
  (if (and (pair? directory) (pair? (cdr file)) (string=? (car directory) (car file)))
      (relative (cdr directory) (cdr file))
      (string-join (append (map (lambda (_) "..") directory) file) "/")))

(define (markdown? file)
  (string-suffix? ".md" (last file)))

;; The page of a file of the tree, as a path in the book. mdBook calls README.md index.md.
(define (page-of file)
  (let ((page (cond ((string=? (car file) "docs") (cdr file))
                    ((markdown? file) (cons "tree" file))
                    (else (cons "tree" (append (drop-right file 1) (list (string-append (last file) ".md"))))))))
    (if (string=? (last page) "README.md")
        (append (drop-right page 1) '("index.md"))
        page)))

;;; Links.

(define root #f)

;; The text of a file of the tree, or #f where there is none or it is a directory.
(define (text-of file)
  (guard (e (#t #f))
    (call-with-input-file (string-append root "/" (string-join file "/"))
      (lambda (port)
        (let ((text (read-string 10000000 port)))
          (if (eof-object? text) "" text))))))

;; Files that have become pages: an association list from paths to texts, the last one first.
(define pages '())

(define (page! file)
  (or (assoc file pages)
      (let ((text (text-of file)))
        (and text
             (begin (set! pages (cons (cons file text) pages)) #t)))))

;; What a link of a file means in the book: `text` is what stands in brackets.
(define (link text target from)
  (define (as-is) (string-append "[" text "](" target ")"))
  (let* ((hash (or (string-index target #\#) (string-length target)))
         (path (substring target 0 hash))
         (file (and (not (string-contains target "://"))
                    (not (string-null? path))
                    (resolve (drop-right from 1) path))))
    (cond ((or (not file) (null? file)) (as-is))
          ((equal? file '("docs" "SUMMARY.md")) text)
          ((or (and (string=? (car file) "docs") (markdown? file))
               (and (not (string=? (car file) "docs")) (page! file)))
           (let ((page (relative (drop-right (page-of from) 1) (page-of file))))
             (string-append "[" text "](" page (substring target hash (string-length target)) ")")))
          ((string=? (car file) "docs") (as-is))
          (else text))))

;; A line of markdown with its links changed.
(define (line-with-links line from)
  (let* ((middle (string-contains line "]("))
         (open (and middle (string-index-right line #\[ 0 middle)))
         (close (and middle (string-index line #\) middle))))
    (if (and open close)
        (string-append (substring line 0 open)
                       (link (substring line (+ open 1) middle) (substring line (+ middle 2) close) from)
                       (line-with-links (substring line (+ close 1) (string-length line)) from))
        line)))

(define (lines text)
  (let ((port (open-input-string text)))
    (let loop ((lines '()))
      (let ((line (read-line port)))
        (if (eof-object? line) (reverse lines) (loop (cons line lines)))))))

;; A text of markdown with its links changed, but for blocks of code.
(define (with-links text from)
  (let loop ((lines (lines text)) (code? #f) (out '()))
    (if (null? lines)
        (string-concatenate-reverse out)
        (let* ((line (car lines))
               (fence? (string-prefix? "```" line)))
          (loop (cdr lines)
                (if fence? (not code?) code?)
                (cons* "\n" (if (or code? fence?) line (line-with-links line from)) out))))))

;;; The book.

(define (item-with-links item)
  (if (and (pair? item) (assq 'Chapter item))
      (let* ((chapter (get item 'Chapter))
             (path (get chapter 'source_path))
             (content (get chapter 'content))
             (content (if (string? path) (with-links content (cons "docs" (split path))) content))
             (sub-items (vector-map item-with-links (get chapter 'sub_items))))
        (list (cons 'Chapter (with (with chapter 'content content) 'sub_items sub-items))))
      item))

(define languages '(("scm" . "scheme") ("sld" . "scheme") ("rs" . "rust") ("c" . "c")))

(define (page file text)
  (let* ((name (string-join file "/"))
         (dot (string-index-right name #\.))
         (language (assoc (if dot (substring name (+ dot 1) (string-length name)) "") languages)))
    `((Chapter (name . ,name)
               (content . ,(if (markdown? file)
                               (with-links text file)
                               (string-append "# " name "\n\n````" (if language (cdr language) "text") "\n"
                                              text "````\n")))
               (number . null)
               (sub_items . #())
               (path . ,(string-join (page-of file) "/"))
               (source_path . null)
               (parent_names . #())))))

;; The pages of the tree, also those that these link to.
(define (tree-pages)
  (let loop ((done '()))
    (let ((next (find (lambda (p) (not (assoc (car p) done))) (reverse pages))))
      (if next
          (loop (cons (cons (car next) (page (car next) (cdr next))) done))
          (map cdr (reverse done))))))

(define (book-with-tree book)
  (let* ((items (vector->list (vector-map item-with-links (get book 'items))))
         (tree (tree-pages)))
    (with book 'items (list->vector (append items '(((PartTitle . "Files of the source tree"))) tree)))))

(if (member "supports" (command-line))
    (exit #t))
(let ((input (json-read)))
  (set! root (string-append (get (vector-ref input 0) 'root) "/.."))
  (json-write (book-with-tree (vector-ref input 1))))
