/* Uses libwords.so, which is written in Scheme: words.scm says how. */
#include "words.h"
#include <stdio.h>

static bool show(const char *word, int count) {
  printf("%s %d\n", word, count);
  return count > 1;
}

int main(void) {
  const char *text = "The cat and the hat and the bat.";
  printf("%ld words, most often \"%s\"\n", count_words(text), most_frequent(text));
  each_word(text, show);
  if (most_frequent("1, 2, 3") == NULL) printf("%s\n", words_error());
  return 0;
}
