(import (scheme base))
(define-syntax one (er-macro-transformer (lambda (form rename compare) 1)))
(one)
