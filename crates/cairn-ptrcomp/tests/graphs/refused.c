// What can't be in a pool of small pointers, each with its reason.
#include <stdlib.h>
#include <stdint.h>
struct node { struct node *next; long x; };
void unknown(struct node *);
void unknown(struct node *p) { (void)p; }
struct node on_stack_too(int n) {
  struct node here = {0, 1}, *p = n ? malloc(sizeof *p) : &here;
  p->next = p;
  return *p;
}
struct node global, *list_with_global = &global;
void push(void) { struct node *p = malloc(sizeof *p); p->next = list_with_global; list_with_global = p; }
uintptr_t as_number(void) { struct node *p = malloc(sizeof *p); p->next = p; return (uintptr_t)p; }
int sorted_by(const void *a, const void *b) {
  return (int)((*(struct node *const *)a)->x - (*(struct node *const *)b)->x);
}
long sorted(int n) {
  struct node **all = malloc(n * sizeof *all);
  for (int i = 0; i < n; i++) all[i] = malloc(sizeof **all), all[i]->x = -i, all[i]->next = 0;
  qsort(all, n, sizeof *all, sorted_by);
  return all[0]->x;
}
union both { union both *p; long n; };
long punned(void) { union both *u = malloc(sizeof *u); u->p = u; return u->n != 0; }
void *escaping(void) { struct node *p = malloc(sizeof *p); p->next = 0; return realloc(p, (size_t)rand()); }
int main(void) {
  push();
  return (int)(on_stack_too(3).x + as_number() + sorted(3) + punned() + (escaping() != 0));
}
