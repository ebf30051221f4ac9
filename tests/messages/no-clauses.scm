;; A case-lambda without clauses is a procedure that takes no number of arguments.
(import (scheme base) (scheme write) (scheme case-lambda) (only (cairn control) condition->string))
(include "../support/say.scm")

(define nothing (case-lambda))
(say (procedure? nothing) (nothing) (nothing 1 2) ((case-lambda) 1) (apply nothing '(1)) (map nothing '(1)))
