"""Uses libwords.so, which is written in Scheme: words.scm says how."""
import ctypes
import pathlib

words = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libwords.so")))
words.count_words.restype = ctypes.c_long
for function in (words.most_frequent, words.words_error):
    function.restype = ctypes.c_char_p
EACH = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_char_p, ctypes.c_int)


@EACH
def show(word, count):
    print(word.decode(), count)
    return count > 1


text = "Zwölf Boxkämpfer jagen zwölf Füchse, zwölf Boxkämpfer.".encode()
print(words.count_words(text), "words, most often", words.most_frequent(text).decode())
words.each_word(text, show)
if words.most_frequent(b"1, 2, 3") is None:
    print(words.words_error().decode())
