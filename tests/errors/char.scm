(display (+ 1 (string->symbol "x")))
