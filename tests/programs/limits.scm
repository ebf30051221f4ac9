;; Things that must work however large: parameters, arguments, recursion, continuations. Under zeal, a hundredth of it.
(import (scheme base) (scheme write) (scheme process-context))

(define (show . xs) (for-each display xs) (newline))
(define (scaled n) (if (member (get-environment-variable "CAIRN_ZEAL") '(#f "" "0")) n (quotient n 100)))
(define (check what result expected) (show what ": " (if (equal? result expected) "right" result)))

;; a procedure of 300 parameters, called directly, through a variable, and by apply
(define (wide
   p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14
   p15 p16 p17 p18 p19 p20 p21 p22 p23 p24 p25 p26 p27 p28 p29
   p30 p31 p32 p33 p34 p35 p36 p37 p38 p39 p40 p41 p42 p43 p44
   p45 p46 p47 p48 p49 p50 p51 p52 p53 p54 p55 p56 p57 p58 p59
   p60 p61 p62 p63 p64 p65 p66 p67 p68 p69 p70 p71 p72 p73 p74
   p75 p76 p77 p78 p79 p80 p81 p82 p83 p84 p85 p86 p87 p88 p89
   p90 p91 p92 p93 p94 p95 p96 p97 p98 p99 p100 p101 p102 p103 p104
   p105 p106 p107 p108 p109 p110 p111 p112 p113 p114 p115 p116 p117 p118 p119
   p120 p121 p122 p123 p124 p125 p126 p127 p128 p129 p130 p131 p132 p133 p134
   p135 p136 p137 p138 p139 p140 p141 p142 p143 p144 p145 p146 p147 p148 p149
   p150 p151 p152 p153 p154 p155 p156 p157 p158 p159 p160 p161 p162 p163 p164
   p165 p166 p167 p168 p169 p170 p171 p172 p173 p174 p175 p176 p177 p178 p179
   p180 p181 p182 p183 p184 p185 p186 p187 p188 p189 p190 p191 p192 p193 p194
   p195 p196 p197 p198 p199 p200 p201 p202 p203 p204 p205 p206 p207 p208 p209
   p210 p211 p212 p213 p214 p215 p216 p217 p218 p219 p220 p221 p222 p223 p224
   p225 p226 p227 p228 p229 p230 p231 p232 p233 p234 p235 p236 p237 p238 p239
   p240 p241 p242 p243 p244 p245 p246 p247 p248 p249 p250 p251 p252 p253 p254
   p255 p256 p257 p258 p259 p260 p261 p262 p263 p264 p265 p266 p267 p268 p269
   p270 p271 p272 p273 p274 p275 p276 p277 p278 p279 p280 p281 p282 p283 p284
   p285 p286 p287 p288 p289 p290 p291 p292 p293 p294 p295 p296 p297 p298 p299)
  (list p0 p4 p5 p6 p7 p8 p150 p299
        ((lambda () (+ p1 p298)))))

(define (iota* n) (let loop ((i (- n 1)) (acc '())) (if (< i 0) acc (loop (- i 1) (cons i acc)))))
(show "wide by apply: " (apply wide (iota* 300)))
(define wide-alias (car (list wide)))
(show "wide directly: " (wide-alias 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137 138 139 140 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159 160 161 162 163 164 165 166 167 168 169 170 171 172 173 174 175 176 177 178 179 180 181 182 183 184 185 186 187 188 189 190 191 192 193 194 195 196 197 198 199 200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 259 260 261 262 263 264 265 266 267 268 269 270 271 272 273 274 275 276 277 278 279 280 281 282 283 284 285 286 287 288 289 290 291 292 293 294 295 296 297 298 299))

;; a million arguments
(define many (scaled 1000000))
(check "apply +" (apply + (iota* many)) (quotient (* many (- many 1)) 2))
(check "apply list" (length (apply list (iota* many))) many)
(define (count-rest a b . rest) (length rest))
(check "rest" (apply count-rest (iota* (scaled 100000))) (- (scaled 100000) 2))
(show "rest, known call: " (count-rest 1 2 3 4 5 6 7 8 9 10))

;; recursion ten million deep
(define (depth n) (if (= n 0) 0 (+ 1 (depth (- n 1)))))
(check "deep" (depth (scaled 10000000)) (scaled 10000000))
(define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
(check "deep build" (length (build (scaled 3000000))) (scaled 3000000))
(define (even?* n) (if (= n 0) #t (odd?* (- n 1))))
(define (odd?* n) (if (= n 0) #f (even?* (- n 1))))
(show "tail calls: " (even?* 10000000))

;; many values
(show "values: " (call-with-values (lambda () (apply values (iota* 1000))) (lambda all (length all))))
(call-with-values (lambda () (values 1 2 3 4 5 6 7 8))
  (lambda (a b c d e f g h) (show "eight: " (list h g f e d c b a))))

;; a continuation captured deep inside, entered again and again
(define saved #f)
(define entered 0)
(define (deep-capture n)
  (if (= n 0)
      (call-with-current-continuation (lambda (k) (set! saved k) 1))
      (+ 1 (deep-capture (- n 1)))))
(define (run)
  (let ((r (deep-capture (scaled 100000))))
    (set! entered (+ entered 1))
    (if (< entered 5) (saved entered) r)))
(check "re-entered" (let ((r (run))) (list r entered)) (list (+ 4 (scaled 100000)) 5))

;; generators that switch back and forth at depth
(define (make-generator walk)
  (define return #f)
  (define (resume)
    (walk (lambda (x)
            (call-with-current-continuation
              (lambda (k)
                (set! resume (lambda () (k #f)))
                (return x)))))
    (return 'done))
  (lambda () (call-with-current-continuation (lambda (r) (set! return r) (resume)))))
(define (tree d) (if (= d 0) d (cons (tree (- d 1)) (tree (- d 1)))))
(define (leaves t yield) (if (pair? t) (begin (leaves (car t) yield) (leaves (cdr t) yield)) (yield t)))
(define g (make-generator (lambda (yield) (leaves (tree (if (= many 1000000) 12 8)) yield))))
(check "leaves" (let loop ((n 0)) (if (eq? (g) 'done) n (loop (+ n 1)))) (if (= many 1000000) 4096 256))

;; allocation far beyond the heap's size stays bounded
(define (churn n keep) (if (= n 0) (length keep) (churn (- n 1) (if (= 0 (modulo n 1000)) '() (cons (make-vector 100 n) keep)))))
(check "churn" (churn (scaled 1000000) '()) 0)
(define (grow n s) (if (= n 0) (string-length s) (grow (- n 1) (string-append "abc" (number->string n)))))
(show "strings: " (grow (scaled 300000) ""))
(define (big n acc) (if (= n 0) (modulo acc 1000007) (big (- n 1) (* acc n))))
(show "bignums: " (big 3000 1))
(define (floats n x) (if (= n 0) x (floats (- n 1) (* x 1.0000001))))
(show "boxed flonums: " (> (floats (scaled 3000000) 1e200) 1e200))
