;;; (cairn port): ports, characters and bytes in and out, `write` and `display`.
(define-library (cairn port)
  (export
   current-input-port current-output-port current-error-port
   port? input-port? output-port? textual-port? binary-port? input-port-open? output-port-open?
   close-port close-input-port close-output-port call-with-port
   open-input-file open-output-file open-binary-input-file open-binary-output-file
   call-with-input-file call-with-output-file with-input-from-file with-output-to-file
   (rename %file-exists? file-exists?) (rename %delete-file delete-file)
   (rename %open-input-string open-input-string) (rename %open-output-string open-output-string)
   (rename %get-output-string get-output-string)
   (rename %open-input-bytevector open-input-bytevector)
   (rename %open-output-bytevector open-output-bytevector)
   (rename %get-output-bytevector get-output-bytevector)
   call-with-output-string with-output-to-string with-input-from-string
   (rename %eof-object? eof-object?) eof-object
   %get-char %look-char %put-char text-in? port-buf port-pos port-end set-port-pos!
   read-char peek-char read-line read-string char-ready?
   read-u8 peek-u8 u8-ready? read-bytevector read-bytevector!
   write-char write-string newline fresh-line write-u8 write-bytevector flush-output-port
   write display write-shared write-simple
   open-kept-file custom-port? buffered-char buffered-byte buffer-char! buffer-byte! port-descriptor port-buffer
   port-buffer-start port-buffer-end set-port-buffer-start! port-name (rename %port-line port-line)
   port-fold-case? set-port-fold-case!)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn control))
  (include "port.scm"))
