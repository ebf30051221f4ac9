;;; SQLite by its C library: a table is made, filled and queried.  (apt-get install libsqlite3-0)
;;;
;;; The library's functions are procedures; its handles are pointers, closed when nothing refers to them any more.

(import (scheme base) (scheme write) (cairn c) (cairn weak))

(define sqlite (c-library "libsqlite3.so.0" "libsqlite3.so"))

(define-c-procedures sqlite
  (sqlite-open int "sqlite3_open" (string bytevector))
  (sqlite-close int "sqlite3_close_v2" (pointer))
  (sqlite-message string "sqlite3_errmsg" (pointer))
  (sqlite-execute int "sqlite3_exec" (pointer string pointer pointer pointer))
  (sqlite-prepare int "sqlite3_prepare_v2" (pointer string int bytevector pointer))
  (sqlite-bind-text int "sqlite3_bind_text" (pointer int string int pointer))
  (sqlite-bind-int int "sqlite3_bind_int64" (pointer int int64))
  (sqlite-bind-double int "sqlite3_bind_double" (pointer int double))
  (sqlite-step int "sqlite3_step" (pointer))
  (sqlite-reset int "sqlite3_reset" (pointer))
  (sqlite-finalize int "sqlite3_finalize" (pointer))
  (sqlite-columns int "sqlite3_column_count" (pointer))
  (sqlite-type int "sqlite3_column_type" (pointer int))
  (sqlite-int int64 "sqlite3_column_int64" (pointer int))
  (sqlite-double double "sqlite3_column_double" (pointer int))
  (sqlite-text string "sqlite3_column_text" (pointer int)))

;; SQLite copies text that is given with this for a destructor.
(define transient (address->pointer (- (expt 2 64) 1)))

(define (check database status)
  (unless (memv status '(0 100 101))
    (error (string-append "SQLite: " (sqlite-message database)))))

;; The pointer that a function puts where an argument says.
(define (out call)
  (let ((place (make-bytevector (c-sizeof pointer) 0)))
    (let ((status (call place)))
      (values (c-ref place pointer) status))))

(define (open-database name)
  (let-values (((database status) (out (lambda (place) (sqlite-open name place)))))
    (check database status)
    (add-finalizer! database sqlite-close)
    database))

(define (prepare database text)
  (let-values (((statement status) (out (lambda (place) (sqlite-prepare database text -1 place #f)))))
    (check database status)
    statement))

(define (bind! statement values)
  (do ((i 1 (+ i 1)) (values values (cdr values)))
      ((null? values))
    (let ((x (car values)))
      (cond
        ((string? x) (sqlite-bind-text statement i x -1 transient))
        ((exact-integer? x) (sqlite-bind-int statement i x))
        (else (sqlite-bind-double statement i x))))))

(define (row statement)
  (let loop ((i (- (sqlite-columns statement) 1)) (row '()))
    (if (< i 0)
        row
        (loop (- i 1)
              (cons (case (sqlite-type statement i)
                      ((1) (sqlite-int statement i))
                      ((2) (sqlite-double statement i))
                      ((3) (sqlite-text statement i))
                      (else #f))
                    row)))))

;; The rows that a statement gives for these values.
(define (query database text . values)
  (let ((statement (prepare database text)))
    (dynamic-wind
     (lambda () #f)
     (lambda ()
       (bind! statement values)
       (let loop ((rows '()))
         (let ((status (sqlite-step statement)))
           (check database status)
           (if (= status 100) (loop (cons (row statement) rows)) (reverse rows)))))
     (lambda () (sqlite-finalize statement)))))

(define db (open-database ":memory:"))
(query db "create table planet (name text, moons integer, radius real)")
(query db "begin")
(let ((insert (prepare db "insert into planet values (?, ?, ?)")))
  (for-each
   (lambda (values)
     (bind! insert values)
     (check db (sqlite-step insert))
     (sqlite-reset insert))
   '(("Merkur" 0 2439.7) ("Venus" 0 6051.8) ("Erde" 1 6371.0) ("Mars" 2 3389.5)
     ("Jupiter" 95 69911.0) ("Saturn" 146 58232.0) ("Uranus" 28 25362.0) ("Neptun" 16 24622.0)))
  (sqlite-finalize insert))
(query db "commit")

(for-each
 (lambda (row) (write row) (newline))
 (query db "select name, moons, radius from planet where moons > ? order by radius" 1))

;; SQLite calls a procedure for each row.
(define (for-each-row database text procedure)
  (define (strings n at)
    (let loop ((i (- n 1)) (l '()))
      (if (< i 0) l (loop (- i 1) (cons (c-ref at string (* i (c-sizeof pointer))) l)))))
  (let ((callback
         (c-callback int (pointer int pointer pointer)
           (lambda (context n values names)
             (procedure (map cons (strings n names) (strings n values)))
             0))))
    (dynamic-wind
     (lambda () #f)
     (lambda () (check database (sqlite-execute database text callback #f #f)))
     (lambda () (free-callback! callback)))))

(for-each-row db "select count(*) as planets, sum(moons) as moons from planet"
  (lambda (row) (write row) (newline)))

(write (guard (e (#t (error-object-message e))) (query db "select nothing")))
(newline)
(write
 (guard (e ((symbol? e) e))
   (for-each-row db "select name from planet" (lambda (row) (raise 'enough)))))
(newline)
