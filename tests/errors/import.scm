(import (scheme base) (scheme wirte))
(display "never")
