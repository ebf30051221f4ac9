// Names of pools whose memory comes by way of wrappers.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *xmalloc(size_t n) {
  void *p = malloc(n);
  if (!p) abort();
  return p;
}
static void *xcalloc(size_t n, size_t size) { return memset(xmalloc(n * size), 0, n * size); }
static void *xrealloc(void *p, size_t n) {
  p = realloc(p, n);
  if (!p) abort();
  return p;
}
static char *copy(const char *s) { return strcpy(xmalloc(strlen(s) + 1), s); }
struct header { size_t size, magic; };
static void *counted(size_t n) {
  struct header *h = xmalloc(sizeof *h + n);
  h->size = n;
  h->magic = 42;
  return h + 1;
}
static int into(void **place, size_t n) { return (*place = malloc(n)) != 0; }

struct list { struct list *next; int x; };
struct tree { struct tree *l, *r; char *name; int k; };
struct link { struct link *next; };
typedef struct { int n, room; int *data; } vector;
struct row { struct list *list; struct row *below; double d; };
struct behind { struct behind *next; long x; };
struct out { struct out *a, *b; int v; };

static struct list *cons(int x, struct list *next) {
  struct list *p = xmalloc(sizeof *p);
  p->x = x;
  p->next = next;
  return p;
}
static struct tree *grow(int d) {
  if (!d) return 0;
  struct tree *t = xmalloc(sizeof(struct tree));
  t->k = d;
  t->name = copy("name");
  t->l = grow(d - 1);
  t->r = grow(d - 1);
  return t;
}
static int sum(struct tree *t) { return t ? t->k + (int)strlen(t->name) + sum(t->l) + sum(t->r) : 0; }
static void push(vector *v, int x) {
  if (v->n == v->room) v->data = xrealloc(v->data, (v->room = 2 * v->room + 4) * sizeof(int));
  v->data[v->n++] = x;
}
int main(void) {
  int s = 0;
  struct list *a = 0, *b = 0;
  for (int i = 0; i < 10; i++) a = cons(i, a);
  for (int i = 0; i < 10; i++) b = cons(2 * i, b);
  struct link *first = 0;
  for (int i = 0; i < 10; i++) {
    struct link *l = xmalloc(sizeof *l);
    l->next = first;
    first = l;
  }
  for (; first; first = first->next) s++;
  vector *v = xcalloc(1, sizeof *v);
  for (int i = 0; i < 10; i++) push(v, i);
  for (int i = 0; i < v->n; i++) s += v->data[i];
  struct row *rows = xcalloc(9, sizeof *rows);
  for (int i = 0; i < 8; i++) rows[i].list = a, rows[i].below = &rows[i + 1], rows[i].d = i;
  for (struct row *r = rows; r->below; r = r->below) s += (int)r->d + r->list->x;
  struct behind *list = 0;
  for (int i = 0; i < 10; i++) {
    struct behind *n = counted(sizeof *n);
    n->x = i;
    n->next = list;
    list = n;
  }
  for (; list; list = list->next) s += (int)list->x;
  struct out *o = 0;
  for (int i = 0; i < 10; i++) {
    struct out *n;
    if (!into((void **)&n, sizeof *n)) abort();
    n->a = o;
    n->b = i > 4 ? o->a : 0;
    n->v = i;
    o = n;
  }
  for (; o; o = o->a) s += o->v + (o->b ? o->b->v : 0);
  struct list **table = xcalloc(20, sizeof *table);
  for (int i = 0; i < 20; i += 2) table[i] = b, b = b->next ? b->next : b;
  for (int i = 0; i < 20; i++) s += table[i] ? table[i]->x : 0;
  double *d = xmalloc(80);
  for (int i = 0; i < 10; i++) d[i] = i;
  printf("%d %d %g\n", s, sum(grow(5)), d[s % 10]);
  return 0;
}
