;; gc: not bdw
;; (cairn place): what goes from one heap to another, and how places end.
(import (scheme base) (scheme cxr) (scheme write) (scheme char) (scheme process-context) (cairn place) (cairn thread) (cairn hash-table)
        (cairn structure) (only (cairn control) condition->string))
(include "include/check.scm")

(define (message-of thunk)
  (call/cc (lambda (k)
    (with-exception-handler
      (lambda (e) (k (if (error-object? e) (condition->string e) e)))
      thunk))))

;; the variables of the program come along, as they are when the place begins
(define counter 0)
(define table (make-hash-table equal?))
(hash-table-set! table "one" 1)
(hash-table-set! table 'two 2)
(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define origin (make-point 0 0))
(set! counter 41)
(define (next!) (set! counter (+ counter 1)) counter)
(define parameter (make-parameter 10 (lambda (x) (* x 2))))
(define first-place
  (place-spawn
   (lambda ()
     (set-point-x! origin 7)
     (list (next!) (next!) (hash-table-ref table "one" (lambda () #f)) (hash-table-ref table 'two (lambda () #f))
           (point-x origin) (parameter) (eq? 'two (string->symbol "two")) '(quoted #(1 "a"))))
   "first"))
(check (place-wait first-place) => '(42 43 1 2 7 20 #t (quoted #(1 "a"))))
(check (list counter (point-x origin) (place-name first-place) (place-done? first-place) (place? first-place) (place? 1))
       => '(41 0 "first" #t #t #f))

;; messages keep their structure: sharing, cycles, every type of data
(define (ring n)
  (let* ((last (list n)) (first (let loop ((i (- n 1)) (l last)) (if (= i 0) l (loop (- i 1) (cons i l))))))
    (set-cdr! last first)
    first))
(define (round-trip x) (place-wait (place x)))
(let* ((shared (list 1 2)) (copy (round-trip (vector shared shared "text" (string-copy "copied") (bytevector 1 2 3)))))
  (check (eq? (vector-ref copy 0) (vector-ref copy 1)) => #t)
  (check (eq? (vector-ref copy 0) shared) => #f)
  (check copy => (vector '(1 2) '(1 2) "text" "copied" (bytevector 1 2 3))))
(check (let ((r (round-trip (ring 5)))) (list (car r) (list-ref r 4) (eq? r (list-tail r 5)))) => '(1 5 #t))
(define data
  (list 1 -1 (expt 7 100) (- (expt 7 100)) 1/3 0.5 1e300 1e-300 #\a #\x3bb "" "λx" 'symbol '|odd symbol| '() #t #f
        (vector) (vector 1 #(2)) (bytevector) (if #f #f) (eof-object)))
(check (equal? data (round-trip data)) => #t)
(check (equal? data (place-copy data)) => #t)
(let ((deep (let loop ((i 0) (l '())) (if (= i 100000) l (loop (+ i 1) (list l))))))
  (check (let count ((l (place-copy deep)) (n 0)) (if (null? l) n (count (car l) (+ n 1)))) => 100000))
(let ((p (round-trip (make-point 'a (list (make-point 1 2))))))
  (check (list (point? p) (point-x p) (point-x (car (point-y p)))) => '(#t a 1)))

;; elements of structure vectors, which lie in their vector there too
(define-record-type speck (make-speck x y) speck? ((x f64) speck-x set-speck-x!) ((y u8) speck-y))
(define-structure-vector speck)
(define-record-type knot (make-knot v next) knot? (v knot-v set-knot-v!) (next knot-next set-knot-next!))
(define-structure-vector knot)
(let* ((v (make-speck-vector 9 1.5 7)) (p (speck-vector-ref v 4)))
  (let ((copy (round-trip (list p v p))))
    (check (list (eq? (car copy) (speck-vector-ref (cadr copy) 4)) (eq? (car copy) (caddr copy)) (eq? (car copy) p))
           => '(#t #t #f))
    (set-speck-x! (car copy) 2.5)
    (check (map speck-x (list p (caddr copy) (speck-vector-ref (cadr copy) 4))) => '(1.5 2.5 2.5)))
  (check (speck-y (round-trip (speck-vector-ref (make-speck-vector 100000 0. 9) 99999))) => 9))
(let* ((v (make-knot-vector 3 '() #f)) (a (knot-vector-ref v 0)) (b (knot-vector-ref v 2)))
  (set-knot-next! a b)
  (set-knot-next! b a)
  (set-knot-v! b (list "far" a))
  (let ((copy (round-trip a)))
    (check (list (car (knot-v (knot-next copy))) (eq? copy (cadr (knot-v (knot-next copy)))) (eq? copy a)) => '("far" #t #f))))
(let* ((v (make-speck-vector 50 0. 0)) (t (make-hash-table eq?)))
  (do ((i 0 (+ i 1))) ((= i 50)) (hash-table-set! t (speck-vector-ref v i) i))
  (let* ((copy (place-copy (cons v t))) (v2 (car copy)))
    (check (let loop ((i 0)) (or (= i 50) (and (eqv? i (hash-table-ref (cdr copy) (speck-vector-ref v2 i) (lambda () #f))) (loop (+ i 1)))))
           => #t)))
(define-record-type (dot compact) (make-dot n) dot? ((n i32) dot-n))
(let* ((dots (begin (make-dot 0) (map make-dot '(1 2 3 4 5 6 7 8 9 10 11 12)))) (t (make-hash-table eq?)))
  (for-each (lambda (d) (hash-table-set! t d (dot-n d))) dots)
  (let ((copy (place-copy (cons dots t))))
    (check (map (lambda (d) (hash-table-ref (cdr copy) d (lambda () #f))) (car copy))
           => '(1 2 3 4 5 6 7 8 9 10 11 12))))

;; tables find their keys, also those hashed by address
(let* ((key (list 'key)) (t (make-hash-table eq?)))
  (hash-table-set! t key 'found)
  (do ((i 0 (+ i 1))) ((= i 20)) (hash-table-set! t (list i) i))
  (hash-table-set! t 'symbol 's)
  (let* ((copy (place-copy (cons key t))) (t2 (cdr copy)))
    (check (hash-table-ref t2 (car copy) (lambda () 'lost)) => 'found)
    (check (hash-table-ref t2 'symbol (lambda () 'lost)) => 's)
    (check (hash-table-ref t2 key (lambda () 'other)) => 'other)
    (check (hash-table-size t2) => 22)))

;; closures: with their free variables, also assigned ones, and with one another
(define (make-counter)
  (let ((n 0)) (cons (lambda () (set! n (+ n 1)) n) (lambda () n))))
(let* ((c (make-counter)) (ignored ((car c))) (copy (place-copy c)))
  ((car copy))
  ((car copy))
  (check (list ((cdr c)) ((cdr copy))) => '(1 3)))
(check ((place-wait (place (lambda (x) (* x counter)))) 2) => 82)
(check (map (place-copy char-upcase) '(#\a #\b)) => '(#\A #\B))

;; what is defined after a place has begun is there for procedures sent to it
(define calls (make-place-channel))
(define answers (make-place-channel))
(define server
  (place-spawn
   (lambda ()
     (let loop ()
       (let ((f (place-channel-get! calls)))
         (if (eof-object? f)
             'closed
             (begin
               (place-channel-put! answers (f))
               (loop))))))
   "server"))
(define later (vector 1 2 3))
(define (sum-of-later) (apply + (vector->list later)))
(place-channel-put! calls sum-of-later)
(check (place-channel-get! answers) => 6)
(place-channel-put! calls (lambda () (place-name server)))
(check (place-channel-get! answers) => "server")
(check (place-channel-try-get! answers) => #f)
(check (place-channel-try-get! answers 'nothing) => 'nothing)
(place-channel-close! calls)
(check (place-wait server) => 'closed)
(check (message-of (lambda () (place-channel-put! calls 1))) => "place-channel-put!: the channel is closed: #<place-channel>")
(check (eof-object? (place-channel-get! calls)) => #t)

;; ping-pong; channels and places can be sent, and are the same ones
(let* ((ping (make-place-channel)) (pong (make-place-channel))
       (p (place (let loop ((n 0))
                   (let ((x (place-channel-get! ping)))
                     (if (eq? x 'end) n (begin (place-channel-put! pong (+ x 1)) (loop (+ n 1)))))))))
  (check (let loop ((x 0)) (if (= x 50) x (begin (place-channel-put! ping x) (loop (place-channel-get! pong))))) => 50)
  (place-channel-put! ping 'end)
  (check (place-wait p) => 50)
  (check (let ((copy (place-copy (list ping p ping)))) (list (eq? (car copy) ping) (eq? (cadr copy) p))) => '(#t #t))
  (check (place-wait (place (place-wait p))) => 50))

;; who waits for a place parks its thread only, here and there
(let* ((c (make-place-channel)) (seen '())
       (t (spawn (lambda () (set! seen (cons (place-channel-get! c) seen)))))
       (p (place (let* ((own (make-channel)) (t (spawn (lambda () (channel-put! own 'threads)))))
                   (place-channel-put! c (channel-get! own))
                   'done))))
  (thread-join! t)
  (check (list seen (place-wait p)) => '((threads) done)))

;; threads of the maker that wait for something do not wait in the copy of it
(define (everything-waited-for)
  (let* ((take (make-mvar)) (put (make-mvar 'full)) (many (make-mvar)) (channel (make-channel)) (lock (make-mutex))
         (waiters (begin
                    (mutex-lock! lock)
                    (map spawn
                         (list (lambda () (mvar-take! take)) (lambda () (mvar-put! put 'late))
                               (lambda () (mvar-take! many)) (lambda () (mvar-take! many))
                               (lambda () (channel-get! channel)) (lambda () (mutex-lock! lock)))))))
    (thread-yield!)
    (set! waited-for (list take put many channel lock))
    waiters))
(define waited-for '())
(let ((waiters (everything-waited-for)))
  (check (place-wait
          (place (let ((take (list-ref waited-for 0)) (put (list-ref waited-for 1)) (many (list-ref waited-for 2)))
                   (mvar-put! take 1)
                   (mvar-put! many 2)
                   (mutex-unlock! (list-ref waited-for 4))
                   (list (mvar-take! take) (mvar-take! put) (mvar-empty? put) (mvar-take! many)
                         (channel-try-put! (list-ref waited-for 3) 3) (mutex-lock! (list-ref waited-for 4) 1)
                         (length (all-threads))))))
         => '(1 full #t 2 #f #t 1))
  (for-each thread-terminate! waiters))

;; errors: reported by the place, raised by who waits
(check (message-of (lambda () (place-wait (place (raise 'oops))))) => 'oops)
(check (message-of (lambda () (place-wait (place (car 5))))) => "car: expected a pair, got 5")
(check (message-of (lambda () (place-wait (place (error "no good:" 1 "two"))))) => "no good: 1 \"two\"")
(check (place-wait (place (guard (e (#t (list 'handled e))) (raise 'inside)))) => '(handled inside))
(check (place-wait (place (dynamic-wind (lambda () #f) (lambda () (call/cc (lambda (k) (k 'out)))) (lambda () #f)))) => 'out)

;; what cannot be sent
(define here #f)
(define port (open-input-string "text"))
(call/cc (lambda (k) (set! here k)))
(define-syntax refused
  (syntax-rules () ((_ x) (let ((y x)) (message-of (lambda () (place-channel-put! answers (list 1 (vector y)))))))))
(check (refused (current-output-port)) => "place-channel-put!: cannot be sent to another place: #<output-port \"standard output\">")
(check (refused here) => "place-channel-put!: cannot be sent to another place: #<continuation>")
(check (refused (current-thread)) => "place-channel-put!: cannot be sent to another place: #<thread name: \"main\">")
(check (refused (make-mutex 'm)) => "place-channel-put!: cannot be sent to another place: #<mutex name: m>")
(check (let ((k here)) (message-of (lambda () (place k)))) => "place-spawn: cannot be sent to another place: #<continuation>")
(check (message-of (lambda () (place-wait (place (current-output-port)))))
       => "place: its value cannot be sent to another place: #<output-port \"standard output\">")
(check (message-of (lambda () (place-copy (list port (current-output-port)))))
       => "place-copy: cannot be copied for another place: #<input-port string>")
;; among the variables of the program these come along without life
(check (place-wait (place (list (input-port? port) (message-of (lambda () (here 1))))))
       => '(#t "a continuation of another place was called"))

;; places are ended by others, or by themselves
(let ((p (place (let loop () (loop)))))
  (check (place-done? p) => #f)
  (place-kill! p)
  (check (message-of (lambda () (place-wait p))) => "place-wait: the place was killed: #<place>"))
(let ((p (place (place-channel-get! (make-place-channel)))))
  (place-kill! p)
  (check (message-of (lambda () (place-wait p))) => "place-wait: the place was killed: #<place>")
  (check (place-done? p) => #t))
(check (message-of (lambda () (place-wait (place (exit 3)))))
       => "place-wait: the place ended by itself with exit status 3 #<place>")
(check (message-of (lambda () (place-wait 1))) => "place-wait: expected a place, got 1")
(check (message-of (lambda () (place-channel-get! 1))) => "place-channel-get!: expected a place channel, got 1")

;; a map over places
(check (place-map (lambda (x) (* x x)) '(1 2 3 4 5 6 7)) => '(1 4 9 16 25 36 49))
(check (place-map (lambda (x) x) '()) => '())
(check (place-map (lambda (s) (string-length s)) '("a" "bc") 5) => '(1 2))
(check (message-of (lambda () (place-map (lambda (x) (if (= x 3) (raise 'three) x)) '(1 2 3 4) 2))) => 'three)
(check (message-of (lambda () (place-map car 5))) => "place-map: expected a list, got 5")
(check (message-of (lambda () (place-map car '(1) 0))) => "place-map: expected a number of places, got 0")

;; a place that still runs when the program ends is ended with it
(define endless (place (let loop () (loop))))
(report)
