;; Procedures of (cairn mit) with wrong arguments.
(import (scheme base) (scheme case-lambda) (scheme write)
        (only (cairn mit) except-last-pair except-last-pair! guarantee access-condition)
        (only (cairn control) condition->string))

(include "../support/say.scm")
(include "../support/wrong.scm")

(say (except-last-pair '()) (except-last-pair! five) (guarantee string? five)
     (access-condition (guard (e (#t e)) (error "text")) 'place))
