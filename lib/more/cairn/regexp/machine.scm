;;;; The machine

(define-record-type <thread>
  (make-thread pc places)
  thread?
  (pc thread-pc)
  (places thread-places))

;; Matches s from i to the limit; the string is taken to go from start to end.  The match begins at i if
;; `anchored?`, it ends at the limit if `whole?`.  The places of the best match, or #f.
(define (machine r s i limit start end anchored? whole?)
  (let* ((program (program-of r))
         (ops (vector-ref program 0)) (xs (vector-ref program 1)) (ys (vector-ref program 2))
         (greedy? (is-greedy? r)) (first (and (not anchored?) (first-of r)))
         ;; the place at which an instruction was reached last
         (reached (make-vector (program-size r) -1))
         (nowhere (make-vector (* 2 (+ 1 (submatches-of r))) #f)))

    ;; The threads, last first, with those that `pc` leads to at place i.
    (define (add threads pc places i)
      (if (eqv? (vector-ref reached pc) i)
          threads
          (let ((op (vector-ref ops pc)))
            (vector-set! reached pc i)
            (cond
              ((eqv? op (op-jump)) (add threads (vector-ref xs pc) places i))
              ((eqv? op (op-split))
               (add (add threads (vector-ref xs pc) places i) (vector-ref ys pc) places i))
              ((eqv? op (op-save))
               (let ((new (vector-copy places)))
                 (vector-set! new (vector-ref xs pc) i)
                 (add threads (+ pc 1) new i)))
              ((eqv? op (op-assert))
               (if ((vector-ref xs pc) s i start end)
                   (add threads (+ pc 1) places i)
                   threads))
              (else (cons (make-thread pc places) threads))))))

    (define (begin-at threads i)
      (let ((places (vector-copy nowhere)))
        (vector-set! places 0 i)
        (add threads 0 places i)))

    ;; The first place from i on where a match may begin.
    (define (skip i)
      (if (= i limit)
          i
          (let ((c (string-ref s i)))
            (let loop ((l first))
              (cond ((null? l) (skip (+ i 1)))
                    ((and (eqv? (vector-ref ops (car l)) (op-set)) (takes? xs ys (car l) c)) i)
                    (else (loop (cdr l))))))))

    (define (ended places i)
      (let ((new (vector-copy places)))
        (vector-set! new 1 i)
        new))

    ;; May this thread still do better than the match?
    (define (hopeful? thread best)
      (or (not best) (<= (vector-ref (thread-places thread) 0) (vector-ref best 0))))
    (define (better? thread best)
      (or (not best) (not greedy?)
          (<= (vector-ref (thread-places thread) 0) (vector-ref best 0))))

    ;; Threads come with the last one first.
    (let step ((i i) (threads (if first '() (begin-at '() i))) (best #f))
      (let ((i (if (and first (null? threads) (not best)) (skip i) i)))
        (let* ((threads (if (and first (not best)) (begin-at threads i) threads))
               (c (and (< i limit) (string-ref s i))))
          ;; in order of preference: the threads of the next place, and the best match
          (let loop ((l (reverse threads)) (next '()) (best best))
            (cond
              ((null? l)
               (if (and c (or (pair? next) (and (not best) (not anchored?))))
                   (step (+ i 1)
                         (if (or first anchored? best) next (begin-at next (+ i 1)))
                         best)
                   best))
              ((eqv? (vector-ref ops (thread-pc (car l))) (op-match))
               (cond
                 ((and whole? (< i limit)) (loop (cdr l) next best))
                 ((not (better? (car l) best)) (loop (cdr l) next best))
                 (else
                  (let ((best (if (and best
                                       (= (vector-ref best 0) (vector-ref (thread-places (car l)) 0))
                                       (= (vector-ref best 1) i))
                                  best
                                  (ended (thread-places (car l)) i))))
                    (loop (if greedy? (cdr l) '()) next best)))))
              ((and c (hopeful? (car l) best) (takes? xs ys (thread-pc (car l)) c))
               (loop (cdr l) (add next (+ (thread-pc (car l)) 1) (thread-places (car l)) (+ i 1)) best))
              (else (loop (cdr l) next best)))))))))
