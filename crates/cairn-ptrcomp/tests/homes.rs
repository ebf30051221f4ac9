//! Objects on the stack that belong to data structures of the heap: list heads, places for the first pointer, copies
//! on the way. Each program prints with every kind of pools what it prints without.

mod place;

use place::{ALL, same};

const START: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <setjmp.h>\n\
                     struct n { struct n *next, *o; int v; };\n";

/// As in chibicc: a list begins with a node on the stack, which the last one is.
#[test]
fn a_list_begins_on_the_stack() {
    let program = "static struct n *make(int k) { struct n head = {0}; struct n *c = &head;\n\
         for (int i = 0; i < k; i++) { struct n *p = calloc(1, sizeof *p); p->v = i; p->o = c; c = c->next = p; }\n\
         if (head.next) head.next->o = 0; return head.next; }\n\
         int main(int c, char **v) { struct n *l = make(20 * c); long s = 0;\n\
         for (struct n *p = l; p; p = p->next) s = s * 3 + p->v + (p->o ? p->o->v : 7);\n\
         printf(\"%ld\\n\", s); return 0; }\n";
    same("stack-head", &format!("{START}{program}"), ALL);
}

/// `struct node **`: the place of the first pointer is taken for a node's first field.
#[test]
fn the_first_pointer_is_on_the_stack() {
    let program = "static void insert(struct n **pp, int v) { while (*pp && (*pp)->v < v) pp = &(*pp)->next;\n\
         struct n *p = malloc(sizeof *p); p->v = v; p->next = *pp; p->o = *pp; *pp = p; }\n\
         static void drop(struct n **pp, int k) { while (*pp) if ((*pp)->v % k == 0) { struct n *d = *pp;\n\
         *pp = d->next; free(d); } else pp = &(*pp)->next; }\n\
         int main(int c, char **v) { for (int t = 0; t < 3; t++) { struct n *l = 0; long s = 0;\n\
         for (int i = 0; i < 50 * c; i++) insert(&l, i * 37 % 101); for (struct n *p = l; p; p = p->next) p->o = 0;\n\
         drop(&l, 3 + t); for (struct n *p = l; p; p = p->next) s = s * 3 + p->v; printf(\"%ld\\n\", s); } return 0; }\n";
    same("first-pointer", &format!("{START}{program}"), ALL);
}

/// Each call of a recursive function has its own object, which ends with it; copies go both ways.
#[test]
fn calls_have_objects_of_their_own() {
    let program = "static struct n *make(int v, struct n *o) { struct n *p = malloc(sizeof *p);\n\
         p->v = v; p->next = 0; p->o = o; return p; }\n\
         static long walk(struct n *up, int depth) { struct n here = *up; here.v += depth; here.o = up;\n\
         if (depth == 0) { long s = 0; for (struct n *p = &here; p; p = p->o) s = s * 5 + p->v; return s; }\n\
         struct n *more = make(depth, &here); long s = walk(more, depth - 1) + here.v; *more = here; s += more->v;\n\
         free(more); return s; }\n\
         int main(int c, char **v) { struct n *first = make(c, 0); long s = 0;\n\
         for (int i = 0; i < 2000; i++) s += walk(first, i % 40); printf(\"%ld\\n\", s); return 0; }\n";
    same("recursive", &format!("{START}{program}"), ALL);
}

/// What `longjmp` leaves would never be freed, and a handler of signals must not allocate; what is as large as the
/// stack allows, or several, stays there.
#[test]
fn what_can_t_be_moved_stays() {
    let program = "static jmp_buf out; static struct n *kept; static void leave(int k) { struct n head = { kept };\n\
         for (int i = 0; i < k; i++) { struct n *p = malloc(sizeof *p); p->v = i; p->next = head.next; head.next = p; }\n\
         struct n *p = &head; while (p->next && p->v != 3) p = p->next; kept = p == &head ? 0 : p;\n\
         if (k % 2) longjmp(out, 1); }\n\
         int main(int c, char **v) { for (volatile int i = 0; i < 9 * c; i++) if (!setjmp(out)) leave(i);\n\
         printf(\"%d\\n\", kept->v); return 0; }\n";
    same("longjmp", &format!("{START}{program}"), &[]);
    let program = "#include <signal.h>\nstatic volatile long seen; static void handle(int s) { struct n head = {0};\n\
         struct n *p = &head; p->v = s; for (struct n *q = p; q; q = q->next) seen += q->v; }\n\
         static struct n *make(int k) { struct n head = {0}; struct n *c = &head; for (int i = 0; i < k; i++) {\n\
         struct n *p = calloc(1, sizeof *p); p->v = i; c = c->next = p; if (i % 4 == 0) raise(SIGUSR1); }\n\
         return head.next; }\n\
         int main(int c, char **v) { signal(SIGUSR1, handle); struct n *l = make(20 * c); long s = 0;\n\
         for (struct n *p = l; p; p = p->next) s = s * 3 + p->v; printf(\"%ld %d\\n\", s, seen > 0); return 0; }\n";
    same("signals", &format!("{START}{program}"), &[]);
    let program = "int main(int c, char **v) { struct n rows[3] = {0}; long s = 0; for (int i = 0; i < 9 * c; i++) {\n\
         struct n *p = malloc(sizeof *p); p->v = i; p->o = 0; p->next = rows[i % 3].next; rows[i % 3].next = p;\n\
         rows[i % 3].o = &rows[(i + 1) % 3]; }\n\
         for (int i = 0; i < 3; i++) for (struct n *p = &rows[i]; p; p = p->next) s = s * 3 + p->v;\n\
         printf(\"%ld\\n\", s); return 0; }\n";
    same("rows", &format!("{START}{program}"), &[]);
}

/// Objects of the stack and global ones that lie inside of others are no reason to know nothing of those: a table of
/// its own and one in a structure, with the same functions.
#[test]
fn tables_alone_and_in_structures() {
    let program = "struct table { struct n **rows; int count, used; }; struct scope { struct scope *up; struct table a, b; };\n\
         static struct table all;\n\
         __attribute__((noinline)) static void put(struct table *t, struct n *p) {\n\
         if (!t->rows) { t->count = 8; t->rows = calloc(8, sizeof *t->rows); }\n\
         if (t->used > t->count) { struct table more = {0}; more.count = t->count * 2;\n\
         more.rows = calloc(more.count, sizeof *more.rows);\n\
         for (int i = 0; i < t->count; i++) for (struct n *q = t->rows[i], *x; q; q = x) { x = q->next; q->next = 0; put(&more, q); }\n\
         free(t->rows); *t = more; }\n\
         struct n **row = &t->rows[p->v % t->count]; p->next = *row; *row = p; t->used++; }\n\
         __attribute__((noinline)) static long sum(struct table *t) { long s = 0; for (int i = 0; i < t->count; i++)\n\
         for (struct n *p = t->rows[i]; p; p = p->next) s = s * 3 % 65537 + p->v + (p->o ? p->o->v : 1); return s; }\n\
         static struct n *last; static struct n *node(int v) { struct n *p = malloc(sizeof *p);\n\
         p->v = v; p->next = 0; p->o = last; last = p; return p; }\n\
         int main(int c, char **v) { struct scope *top = 0; for (int i = 0; i < 5; i++) {\n\
         struct scope *s = calloc(1, sizeof *s); s->up = top; top = s; for (int k = 0; k < 40 * c; k++) {\n\
         put(&s->a, node(k)); put(&all, node(k + i)); if (k % 3) put(&s->b, node(k * 7)); } }\n\
         long t = sum(&all); for (; top; top = top->up) t = t * 5 % 99991 + sum(&top->a) * 2 + sum(&top->b);\n\
         printf(\"%ld\\n\", t); return 0; }\n";
    same("tables", &format!("{START}{program}"), ALL);
}

/// Functions that call each other, with places of pointers in different parts of one object.
#[test]
fn circles_get_places_in_different_parts() {
    let program = "struct t { struct t *left, *right, *third; int v; }; static struct t *walk(struct t *t, int d);\n\
         static void both(struct t **a, struct t **b, int d) { *a = walk(*a, d + 1); struct t *x = walk(*b, d + 2); *b = x; }\n\
         static struct t *walk(struct t *t, int d) { if (!t) { if (d > 6) return 0;\n\
         t = malloc(sizeof *t); t->left = t->right = t->third = 0; t->v = d; return t; }\n\
         if (d % 3) both(&t->left, &t->right, d); else both(&t->right, &t->third, d); return t; }\n\
         static long sum(struct t *t) { return t ? t->v + sum(t->left) * 3 + sum(t->right) * 5 + sum(t->third) * 7 : 1; }\n\
         int main(int c, char **v) { struct t *t = 0; for (int i = 0; i < 7 * c; i++) t = walk(t, 0);\n\
         printf(\"%ld\\n\", sum(t)); return 0; }\n";
    same("circles", &format!("{START}{program}"), ALL);
}
