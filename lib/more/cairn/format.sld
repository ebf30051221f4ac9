;;; (cairn format): control strings as Common Lisp has them, in Chez Scheme's dialect.
;;;
;;;   ~a ~s ~w            display, write (twice)         ~% ~n ~& ~| ~~       line ends, form feed, tilde
;;;   ~d ~b ~o ~x ~r      integers by radix, in words    ~t                   columns
;;;   ~f ~e ~g ~$         real numbers                   ~? ~*                other control strings, other arguments
;;;   ~c ~p               characters, plurals            ~( ~[ ~{ ~< ~^       letter case, choice, loops, fields, end
;;;
;;; A control string is first read as a whole, so mistakes in it show before anything is written: it becomes a list of
;;; strings and of operations, procedures of the arguments that are left, a sink and a scope.  An operation returns the
;;; arguments that are left behind it, and `#f`, or how ~^ ended the text around it: `end`, or `end-all` with a colon.
;;;
;;; A sink is where text goes: a port, or, where columns count, a record that counts them on the way to another sink.
;;; Digits of real numbers are those of Steele & White (1990) and of Burger & Dybvig (1996), whose fixed format writes #
;;; for what a double does not say.  The rules for widths follow what Chez Scheme 9.5 prints.
(define-library (cairn format)
  (export format printf fprintf)
  (import (scheme base) (scheme char) (scheme cxr) (scheme inexact) (only (cairn chez print) write display)
          (only (cairn number) integer-length)
          (only (cairn port) fresh-line)
          (prefix (only (cairn rnrs conditions) error) r6-))
  (include "format-numbers.scm" "format-reading.scm" "format-writing.scm"))
