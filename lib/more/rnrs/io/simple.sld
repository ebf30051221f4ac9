;;; (rnrs io simple) of R6RS.
(define-library (rnrs io simple)
  (export
   &i/o make-i/o-error i/o-error? &i/o-read make-i/o-read-error i/o-read-error?
   &i/o-write make-i/o-write-error i/o-write-error?
   &i/o-invalid-position make-i/o-invalid-position-error i/o-invalid-position-error? i/o-error-position
   &i/o-filename make-i/o-filename-error i/o-filename-error? i/o-error-filename
   &i/o-file-protection make-i/o-file-protection-error i/o-file-protection-error?
   &i/o-file-is-read-only make-i/o-file-is-read-only-error i/o-file-is-read-only-error?
   &i/o-file-already-exists make-i/o-file-already-exists-error i/o-file-already-exists-error?
   &i/o-file-does-not-exist make-i/o-file-does-not-exist-error i/o-file-does-not-exist-error?
   &i/o-port make-i/o-port-error i/o-port-error? i/o-error-port
   call-with-input-file call-with-output-file close-input-port close-output-port current-error-port
   current-input-port current-output-port display eof-object eof-object? input-port? newline open-input-file
   open-output-file output-port? peek-char read read-char with-input-from-file with-output-to-file write write-char)
  (import (except (scheme base) error) (scheme file) (scheme read) (scheme write) (cairn rnrs conditions)))
