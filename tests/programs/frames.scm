;; Frames of every shape across collections, overflows and captures: small, but hard on frame maps. Run under zeal too.
(import (scheme base) (scheme cxr) (scheme write) (scheme case-lambda))

(define (show . xs) (for-each display xs) (newline))
(define (recur n) (if (= n 0) 0 (+ 1 (recur (- n 1)))))

;; live maps of one word, of two, and in memory
(define (frame-5 seed)
  (let* ((v0 (cons seed 0)) (v1 (cons seed 1)) (v2 (cons seed 2)) (v3 (cons seed 3)) (v4 (cons seed 4)))
    (let ((deep (recur 20)))
      (let ((again (recur deep)))
        (+ again (cdr v0) (cdr v1) (cdr v2) (cdr v3) (cdr v4))))))
(show "frame of 5 slots: " (frame-5 'x))
(define (frame-70 seed)
  (let* ((v0 (cons seed 0)) (v1 (cons seed 1)) (v2 (cons seed 2)) (v3 (cons seed 3)) (v4 (cons seed 4)) (v5 (cons seed 5)) (v6 (cons seed 6)) (v7 (cons seed 7)) (v8 (cons seed 8)) (v9 (cons seed 9)) (v10 (cons seed 10)) (v11 (cons seed 11)) (v12 (cons seed 12)) (v13 (cons seed 13)) (v14 (cons seed 14)) (v15 (cons seed 15)) (v16 (cons seed 16)) (v17 (cons seed 17)) (v18 (cons seed 18)) (v19 (cons seed 19)) (v20 (cons seed 20)) (v21 (cons seed 21)) (v22 (cons seed 22)) (v23 (cons seed 23)) (v24 (cons seed 24)) (v25 (cons seed 25)) (v26 (cons seed 26)) (v27 (cons seed 27)) (v28 (cons seed 28)) (v29 (cons seed 29)) (v30 (cons seed 30)) (v31 (cons seed 31)) (v32 (cons seed 32)) (v33 (cons seed 33)) (v34 (cons seed 34)) (v35 (cons seed 35)) (v36 (cons seed 36)) (v37 (cons seed 37)) (v38 (cons seed 38)) (v39 (cons seed 39)) (v40 (cons seed 40)) (v41 (cons seed 41)) (v42 (cons seed 42)) (v43 (cons seed 43)) (v44 (cons seed 44)) (v45 (cons seed 45)) (v46 (cons seed 46)) (v47 (cons seed 47)) (v48 (cons seed 48)) (v49 (cons seed 49)) (v50 (cons seed 50)) (v51 (cons seed 51)) (v52 (cons seed 52)) (v53 (cons seed 53)) (v54 (cons seed 54)) (v55 (cons seed 55)) (v56 (cons seed 56)) (v57 (cons seed 57)) (v58 (cons seed 58)) (v59 (cons seed 59)) (v60 (cons seed 60)) (v61 (cons seed 61)) (v62 (cons seed 62)) (v63 (cons seed 63)) (v64 (cons seed 64)) (v65 (cons seed 65)) (v66 (cons seed 66)) (v67 (cons seed 67)) (v68 (cons seed 68)) (v69 (cons seed 69)))
    (let ((deep (recur 20)))
      (let ((again (recur deep)))
        (+ again (cdr v0) (cdr v1) (cdr v2) (cdr v3) (cdr v4) (cdr v5) (cdr v6) (cdr v7) (cdr v8) (cdr v9) (cdr v10) (cdr v11) (cdr v12) (cdr v13) (cdr v14) (cdr v15) (cdr v16) (cdr v17) (cdr v18) (cdr v19) (cdr v20) (cdr v21) (cdr v22) (cdr v23) (cdr v24) (cdr v25) (cdr v26) (cdr v27) (cdr v28) (cdr v29) (cdr v30) (cdr v31) (cdr v32) (cdr v33) (cdr v34) (cdr v35) (cdr v36) (cdr v37) (cdr v38) (cdr v39) (cdr v40) (cdr v41) (cdr v42) (cdr v43) (cdr v44) (cdr v45) (cdr v46) (cdr v47) (cdr v48) (cdr v49) (cdr v50) (cdr v51) (cdr v52) (cdr v53) (cdr v54) (cdr v55) (cdr v56) (cdr v57) (cdr v58) (cdr v59) (cdr v60) (cdr v61) (cdr v62) (cdr v63) (cdr v64) (cdr v65) (cdr v66) (cdr v67) (cdr v68) (cdr v69))))))
(show "frame of 70 slots: " (frame-70 'x))
(define (frame-140 seed)
  (let* ((v0 (cons seed 0)) (v1 (cons seed 1)) (v2 (cons seed 2)) (v3 (cons seed 3)) (v4 (cons seed 4)) (v5 (cons seed 5)) (v6 (cons seed 6)) (v7 (cons seed 7)) (v8 (cons seed 8)) (v9 (cons seed 9)) (v10 (cons seed 10)) (v11 (cons seed 11)) (v12 (cons seed 12)) (v13 (cons seed 13)) (v14 (cons seed 14)) (v15 (cons seed 15)) (v16 (cons seed 16)) (v17 (cons seed 17)) (v18 (cons seed 18)) (v19 (cons seed 19)) (v20 (cons seed 20)) (v21 (cons seed 21)) (v22 (cons seed 22)) (v23 (cons seed 23)) (v24 (cons seed 24)) (v25 (cons seed 25)) (v26 (cons seed 26)) (v27 (cons seed 27)) (v28 (cons seed 28)) (v29 (cons seed 29)) (v30 (cons seed 30)) (v31 (cons seed 31)) (v32 (cons seed 32)) (v33 (cons seed 33)) (v34 (cons seed 34)) (v35 (cons seed 35)) (v36 (cons seed 36)) (v37 (cons seed 37)) (v38 (cons seed 38)) (v39 (cons seed 39)) (v40 (cons seed 40)) (v41 (cons seed 41)) (v42 (cons seed 42)) (v43 (cons seed 43)) (v44 (cons seed 44)) (v45 (cons seed 45)) (v46 (cons seed 46)) (v47 (cons seed 47)) (v48 (cons seed 48)) (v49 (cons seed 49)) (v50 (cons seed 50)) (v51 (cons seed 51)) (v52 (cons seed 52)) (v53 (cons seed 53)) (v54 (cons seed 54)) (v55 (cons seed 55)) (v56 (cons seed 56)) (v57 (cons seed 57)) (v58 (cons seed 58)) (v59 (cons seed 59)) (v60 (cons seed 60)) (v61 (cons seed 61)) (v62 (cons seed 62)) (v63 (cons seed 63)) (v64 (cons seed 64)) (v65 (cons seed 65)) (v66 (cons seed 66)) (v67 (cons seed 67)) (v68 (cons seed 68)) (v69 (cons seed 69)) (v70 (cons seed 70)) (v71 (cons seed 71)) (v72 (cons seed 72)) (v73 (cons seed 73)) (v74 (cons seed 74)) (v75 (cons seed 75)) (v76 (cons seed 76)) (v77 (cons seed 77)) (v78 (cons seed 78)) (v79 (cons seed 79)) (v80 (cons seed 80)) (v81 (cons seed 81)) (v82 (cons seed 82)) (v83 (cons seed 83)) (v84 (cons seed 84)) (v85 (cons seed 85)) (v86 (cons seed 86)) (v87 (cons seed 87)) (v88 (cons seed 88)) (v89 (cons seed 89)) (v90 (cons seed 90)) (v91 (cons seed 91)) (v92 (cons seed 92)) (v93 (cons seed 93)) (v94 (cons seed 94)) (v95 (cons seed 95)) (v96 (cons seed 96)) (v97 (cons seed 97)) (v98 (cons seed 98)) (v99 (cons seed 99)) (v100 (cons seed 100)) (v101 (cons seed 101)) (v102 (cons seed 102)) (v103 (cons seed 103)) (v104 (cons seed 104)) (v105 (cons seed 105)) (v106 (cons seed 106)) (v107 (cons seed 107)) (v108 (cons seed 108)) (v109 (cons seed 109)) (v110 (cons seed 110)) (v111 (cons seed 111)) (v112 (cons seed 112)) (v113 (cons seed 113)) (v114 (cons seed 114)) (v115 (cons seed 115)) (v116 (cons seed 116)) (v117 (cons seed 117)) (v118 (cons seed 118)) (v119 (cons seed 119)) (v120 (cons seed 120)) (v121 (cons seed 121)) (v122 (cons seed 122)) (v123 (cons seed 123)) (v124 (cons seed 124)) (v125 (cons seed 125)) (v126 (cons seed 126)) (v127 (cons seed 127)) (v128 (cons seed 128)) (v129 (cons seed 129)) (v130 (cons seed 130)) (v131 (cons seed 131)) (v132 (cons seed 132)) (v133 (cons seed 133)) (v134 (cons seed 134)) (v135 (cons seed 135)) (v136 (cons seed 136)) (v137 (cons seed 137)) (v138 (cons seed 138)) (v139 (cons seed 139)))
    (let ((deep (recur 20)))
      (let ((again (recur deep)))
        (+ again (cdr v0) (cdr v1) (cdr v2) (cdr v3) (cdr v4) (cdr v5) (cdr v6) (cdr v7) (cdr v8) (cdr v9) (cdr v10) (cdr v11) (cdr v12) (cdr v13) (cdr v14) (cdr v15) (cdr v16) (cdr v17) (cdr v18) (cdr v19) (cdr v20) (cdr v21) (cdr v22) (cdr v23) (cdr v24) (cdr v25) (cdr v26) (cdr v27) (cdr v28) (cdr v29) (cdr v30) (cdr v31) (cdr v32) (cdr v33) (cdr v34) (cdr v35) (cdr v36) (cdr v37) (cdr v38) (cdr v39) (cdr v40) (cdr v41) (cdr v42) (cdr v43) (cdr v44) (cdr v45) (cdr v46) (cdr v47) (cdr v48) (cdr v49) (cdr v50) (cdr v51) (cdr v52) (cdr v53) (cdr v54) (cdr v55) (cdr v56) (cdr v57) (cdr v58) (cdr v59) (cdr v60) (cdr v61) (cdr v62) (cdr v63) (cdr v64) (cdr v65) (cdr v66) (cdr v67) (cdr v68) (cdr v69) (cdr v70) (cdr v71) (cdr v72) (cdr v73) (cdr v74) (cdr v75) (cdr v76) (cdr v77) (cdr v78) (cdr v79) (cdr v80) (cdr v81) (cdr v82) (cdr v83) (cdr v84) (cdr v85) (cdr v86) (cdr v87) (cdr v88) (cdr v89) (cdr v90) (cdr v91) (cdr v92) (cdr v93) (cdr v94) (cdr v95) (cdr v96) (cdr v97) (cdr v98) (cdr v99) (cdr v100) (cdr v101) (cdr v102) (cdr v103) (cdr v104) (cdr v105) (cdr v106) (cdr v107) (cdr v108) (cdr v109) (cdr v110) (cdr v111) (cdr v112) (cdr v113) (cdr v114) (cdr v115) (cdr v116) (cdr v117) (cdr v118) (cdr v119) (cdr v120) (cdr v121) (cdr v122) (cdr v123) (cdr v124) (cdr v125) (cdr v126) (cdr v127) (cdr v128) (cdr v129) (cdr v130) (cdr v131) (cdr v132) (cdr v133) (cdr v134) (cdr v135) (cdr v136) (cdr v137) (cdr v138) (cdr v139))))))
(show "frame of 140 slots: " (frame-140 'x))

;; values that become dead between two calls of one frame
(define (fading n)
  (let* ((a (list n 1)) (b (list n 2)) (x (recur 3)) (c (list a x)) (y (recur 4)) (d (list b y)) (z (recur 5)))
    (list c d z)))
(show "fading: " (fading 0))
(define (many n) (if (= n 0) '() (cons (fading n) (many (- n 1)))))
(show "many: " (apply + (map (lambda (x) (caaar x)) (many 500))))

;; doubles and boxed doubles in frames
(define (floats n x y) (if (= n 0) (list x y) (let ((r (floats (- n 1) (* x 1e3) (/ y 3.0)))) (cons (+ x y) r))))
(show "floats: " (length (floats 300 1e-200 1e200)) " " (list-ref (floats 60 1.0 1.0) 59))

;; bignums made by the runtime between heap checks
(define (power b n) (if (= n 0) 1 (* b (power b (- n 1)))))
(show "bignum: " (power 12345 40))
(define (sum-of-bignums n acc) (if (= n 0) acc (sum-of-bignums (- n 1) (+ acc (power 3 60)))))
(show "bignums: " (sum-of-bignums 200 0))

;; assigned variables, closures, mutual recursion, rest arguments, clauses
(define (counter) (let ((n 0) (log '())) (lambda (x) (set! n (+ n 1)) (set! log (cons x log)) (list n (length log)))))
(define c (counter))
(show "counter: " (let loop ((i 0) (r #f)) (if (= i 300) r (loop (+ i 1) (c (list i))))))
(define (closures n) (if (= n 0) '() (let ((k (list n))) (cons (lambda (x) (cons x k)) (closures (- n 1))))))
(show "closures: " (map (lambda (f) ((car (list f)) 1)) (closures 6)))
(define (ping n acc) (if (= n 0) acc (pong (- n 1) (cons n acc))))
(define (pong n acc) (if (= n 0) acc (car (list (ping (- n 1) (cons (- n) acc))))))
(show "mutual: " (apply + (ping 400 '())))
(define clauses (case-lambda ((a) (list a)) ((a b) (list b a)) ((a . r) (cons r a))))
(show "clauses: " (clauses 1) (clauses 1 2) (clauses 1 2 3) (apply clauses 1 2 (map list '(3 4 5 6 7 8 9))))
(define (wide a b c d e f g h i j . r) (recur 10) (list j i h g f e d c b a (length r)))
(show "wide: " (wide 1 2 3 4 5 6 7 8 9 (list 10)) (apply wide (map (lambda (x) (list x)) '(1 2 3 4 5 6 7 8 9 10 11 12))))

;; several values across frames
(define (two n) (if (= n 0) (values (list 1) (list 2)) (call-with-values (lambda () (two (- n 1))) (lambda (a b) (values (cons n b) a)))))
(call-with-values (lambda () (two 100)) (lambda (a b) (show "values: " (length a) " " (length b))))

;; captured deep inside, entered again; frames above the capture differ each time
(define saved #f)
(define entered 0)
(define (deep n) (if (= n 0) (call/cc (lambda (k) (set! saved k) 1)) (let ((here (list n))) (+ (car here) (- n) 1 (deep (- n 1))))))
(define (again)
  (let ((r (deep 300)))
    (set! entered (+ entered 1))
    (if (< entered 4) (begin (recur (* entered 50)) (saved (list-ref '(0 10 20 30) entered))) r)))
(show "re-entered: " (again) " " entered)

;; generators: two stacks that take turns
(define (generator walk)
  (define return #f)
  (define (resume) (walk (lambda (x) (call/cc (lambda (k) (set! resume (lambda () (k #f))) (return x))))) (return 'done))
  (lambda () (call/cc (lambda (r) (set! return r) (resume)))))
(define (leaves t yield) (if (pair? t) (begin (leaves (car t) yield) (leaves (cdr t) yield)) (yield t)))
(define (tree d) (if (= d 0) (list->string (list #\a #\b)) (cons (tree (- d 1)) (tree (- d 1)))))
(define g1 (generator (lambda (yield) (leaves (tree 5) yield))))
(define g2 (generator (lambda (yield) (leaves (tree 4) yield))))
(show "generators: "
      (let loop ((n 0)) (let* ((a (g1)) (b (if (even? n) (g2) 'skip))) (if (eq? a 'done) (list n b) (loop (+ n 1))))))

;; winding in and out, errors on the way
(define trace '())
(define (note x) (set! trace (cons x trace)))
(define (guarded n)
  (guard (e ((symbol? e) (note e) n) ((error-object? e) (note (error-object-message e)) (- n)))
    (dynamic-wind (lambda () (note 'in)) (lambda () (recur n) (if (odd? n) (raise 'odd) (error "even" n))) (lambda () (note 'out)))))
(show "guarded: " (map guarded '(1 2 30)) " " (reverse trace))
(define p (make-parameter (list 0) (lambda (x) (if (pair? x) x (list x)))))
(define (nested n) (if (= n 0) (p) (parameterize ((p n)) (append (nested (- n 1)) (p)))))
(show "parameters: " (nested 5))
