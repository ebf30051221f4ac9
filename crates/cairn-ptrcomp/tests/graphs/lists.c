// The paper's example: two lists made by the same function, one of them used as bytes.
#include <stdlib.h>
struct list { int x; struct list *next; };
static struct list *make_list(int n) {
  struct list *first = 0;
  for (int i = 0; i < n; i++) {
    struct list *node = malloc(sizeof *node);
    node->x = i;
    node->next = first;
    first = node;
  }
  return first;
}
static int length(struct list *l) { return l ? length(l->next) + 1 : 0; }
int test(void) {
  struct list *a = make_list(100), *b = make_list(20);
  ((char *)b)[2] = 'c';
  return length(a) + length(b);
}
int main(void) { return test(); }
