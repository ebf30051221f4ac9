;; What `read` says of text that is no datum.
(import (scheme base) (scheme read) (scheme write) (only (cairn control) condition->string))

(include "../support/say.scm")

;; reading
(say (read (open-input-string "(. 1)")) (read (open-input-string "(1 . 2 3)")) (read (open-input-string "."))
     (read (open-input-string "#(1 . 2)")) (read (open-input-string "\x7f;b")) (read (open-input-string "\"\\q\""))
     (read (open-input-string "\"\\ a\"")) (read (open-input-string "\"\\xD800;\"")) (read (open-input-string "#\\xD800"))
     (read (open-input-string "#tru")) (read (open-input-string "#xyz")) (read (open-input-string "#u9(1)"))
     (read (open-input-string "#u8(256)")) (read (open-input-string "#!nonsense")) (read (open-input-string "#0#"))
     (read (open-input-string "(#0=1 #0=2)")) (read (open-input-string "#0=#0#")) (read (open-input-string "#0x"))
     (read (open-input-string "#d1a")) (read (open-input-string "")) (read (open-input-string "#\\")) (read (open-input-string "#<a"))
     (read (open-input-string "(a]")) (read (open-input-string "#f64(a)"))
     (read (open-input-string "(a {b c} d)")) (read (open-input-string "}"))
     (read (open-input-string "#2(a b c)")) (read (open-input-string "#9999999(0)")) (read (open-input-string "#5(a"))
     (assq 'a 5))
