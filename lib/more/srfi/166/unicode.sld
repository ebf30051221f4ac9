;;; (srfi 166 unicode): how wide a terminal shows characters, and upper and lower case.
(define-library (srfi 166 unicode)
  (export terminal-aware string-terminal-width string-terminal-width/wide substring-terminal-width
          substring-terminal-width/wide substring-terminal-preserve upcased downcased)
  (import (scheme base) (scheme char) (srfi 130) (srfi 151) (srfi 166 base))
  (include "width.scm" "unicode.scm"))
