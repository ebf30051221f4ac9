;;; Continuations that only leave: every form that the compiler turns into a return, a jump or a one-shot capture
;;; (crates/cairn-core/src/passes/escapes/), next to those that look alike and must stay, because something enters
;;; them again.
;;;
;;; In this program no frames go on elsewhere, as nothing in it makes a prompt: calls of continuations in tail calls of
;;; known procedures are returns, too. See composing-escapes.scm.
(import (scheme base) (scheme case-lambda) (scheme write))
(include "include/escapes.scm")
