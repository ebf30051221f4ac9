; comments of three kinds
foo #| block #| nested |# still |# bar #;(ignored #;inner datum) baz #; #|x|# gone
(a . (b . c)) (a . ((b) . (c . ()))) (a . (b . c) ) (a b . c) (a . (b . (c))) (a b . (c d)) () #() #(1 (2) #(3)) #u8(0 16 #xff)
'a `(b ,c ,@d) '() ''a
|a b| |a\x41;b\|c| |foo| || FooBar |FooBar|
"plain" "esc \a\b\t\n\r\"\\\|\x3bb; λ" "line \
   continued" "two
lines"
#\a #\A #\space #\newline #\x41 #\x #\( #\) #\; #\λ #\alarm #\null #\delete #\escape #\backspace #\tab #\return #\x3BB
#t #f #true #false
1 -1 +1 .5 -.5e3 1/2 -6/4 #xFF #b101 #o17 #d10 #e1.5 #i1/3 #x#e1F 1e10 +inf.0 -inf.0 1+2i +i -i 123456789012345678901234567890
+ - ... .foo -> ->x a.b +a -a 1+ 1- +.x !$%&*/:<=>?^_~
(#0=(a b) #0#) #1=(x . #1#) #2=#(1 #2# (#2#))
#!fold-case ABC #\SPACE #\A |ABC| #!no-fold-case ABC
#!eof #!default #!unspecified
(a'b`c,d"e"f)
(quote (quasiquote (unquote (unquote-splicing x))))
