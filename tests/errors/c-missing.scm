(import (scheme base) (cairn c))
(define hello (c-procedure int "say_hello" (string)))
(hello "world")
