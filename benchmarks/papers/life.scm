;;; Life: Conway's game on a list of living cells, each a pair of coordinates, sorted by them (after Reade, Elements of
;;; Functional Programming, 1989). Every generation is a fresh list; neighbours are counted by sorting and by runs.
(import (scheme base) (scheme write) (scheme process-context))

(define (cell<? a b)
  (or (< (car a) (car b)) (and (= (car a) (car b)) (< (cdr a) (cdr b)))))
(define (cell=? a b)
  (and (= (car a) (car b)) (= (cdr a) (cdr b))))

(define (merge a b)
  (cond ((null? a) b)
        ((null? b) a)
        ((cell<? (car b) (car a)) (cons (car b) (merge a (cdr b))))
        (else (cons (car a) (merge (cdr a) b)))))

;; The cells of one row order are already sorted when shifted, so eight shifted lists need only be merged.
(define (shifted dx dy cells)
  (map (lambda (cell) (cons (+ dx (car cell)) (+ dy (cdr cell)))) cells))

(define (neighbours cells)
  (merge (merge (merge (shifted -1 -1 cells) (shifted -1 0 cells))
                (merge (shifted -1 1 cells) (shifted 0 -1 cells)))
         (merge (merge (shifted 0 1 cells) (shifted 1 -1 cells))
                (merge (shifted 1 0 cells) (shifted 1 1 cells)))))

;; The next generation: what occurs three times among the neighbours, or twice and lives.
(define (next-generation cells)
  (let loop ((counted (neighbours cells)) (living cells))
    (if (null? counted)
        '()
        (let* ((cell (car counted)) (run (run-length cell counted 0)) (rest (list-tail counted run)))
          (let ((living (skip-below cell living)))
            (if (or (= run 3) (and (= run 2) (pair? living) (cell=? cell (car living))))
                (cons cell (loop rest living))
                (loop rest living)))))))

(define (run-length cell cells n)
  (if (and (pair? cells) (cell=? cell (car cells)))
      (run-length cell (cdr cells) (+ n 1))
      n))

(define (skip-below cell cells)
  (if (and (pair? cells) (cell<? (car cells) cell)) (skip-below cell (cdr cells)) cells))

(define (sorted cells)
  (if (or (null? cells) (null? (cdr cells)))
      cells
      (let loop ((a '()) (b '()) (rest cells))
        (if (null? rest)
            (merge (sorted a) (sorted b))
            (loop (cons (car rest) b) a (cdr rest))))))

;; The glider gun of Bill Gosper, and a block that eats what it fires, so that the population stays bounded.
(define gun
  '((0 . 4) (0 . 5) (1 . 4) (1 . 5) (10 . 4) (10 . 5) (10 . 6) (11 . 3) (11 . 7) (12 . 2) (12 . 8) (13 . 2) (13 . 8)
    (14 . 5) (15 . 3) (15 . 7) (16 . 4) (16 . 5) (16 . 6) (17 . 5) (20 . 2) (20 . 3) (20 . 4) (21 . 2) (21 . 3)
    (21 . 4) (22 . 1) (22 . 5) (24 . 0) (24 . 1) (24 . 5) (24 . 6) (34 . 2) (34 . 3) (35 . 2) (35 . 3)))

;; Cells beyond the edge die.
(define edge 80)
(define (inside cells)
  (cond ((null? cells) '())
        ((and (< (caar cells) edge) (< (cdar cells) edge)) (cons (car cells) (inside (cdr cells))))
        (else (inside (cdr cells)))))

(define (main generations)
  (let loop ((n 0) (cells (sorted gun)) (population 0))
    (if (= n generations)
        (begin (write (list (length cells) population)) (newline))
        (let ((next (inside (next-generation cells))))
          (loop (+ n 1) next (+ population (length next)))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 60))
