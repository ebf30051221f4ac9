// A hash table with an array of pointers inside, from an allocator of the program's own.
#include <stdlib.h>
struct entry { int key; struct entry *next; double value; };
struct table { int count; struct entry *bucket[16]; };
static void *get(size_t n) { return malloc(n); }
static struct table *new_table(void) {
  struct table *t = get(sizeof *t);
  t->count = 0;
  for (int i = 0; i < 16; i++) t->bucket[i] = 0;
  return t;
}
static double *find(struct table *t, int key) {
  for (struct entry *e = t->bucket[key & 15]; e; e = e->next)
    if (e->key == key) return &e->value;
  struct entry *e = get(sizeof *e);
  e->key = key;
  e->value = 0;
  e->next = t->bucket[key & 15];
  t->bucket[key & 15] = e;
  t->count++;
  return &e->value;
}
int main(void) {
  struct table *t = new_table();
  for (int i = 0; i < 100; i++) *find(t, i * i % 37) += 1;
  return t->count;
}
