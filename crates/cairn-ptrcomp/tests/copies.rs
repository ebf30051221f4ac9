//! Structures of numbers that lie in nodes and elsewhere, and are copied from here to there: where they lie stays
//! apart. Each program prints what it prints without pools.

mod place;

use place::{ALL, same};

const START: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                     static unsigned seed = 5; static int rnd(int n) { seed = seed * 1664525 + 1013904223;\n\
                     return (seed >> 8) % n; }\n";

/// Points of an array are taken into the nodes of a tree, by way of variables and functions, and back into another.
#[test]
fn points_go_from_arrays_to_trees() {
    let program = "struct point { int x, y; }; struct t { struct point p; int mid; struct t *left, *right; };\n\
         static int by_x(const void *a, const void *b) { const struct point *p = a, *q = b; return p->x - q->x; }\n\
         static struct t *build(struct point *a, int n) { if (n == 0) return NULL; int best = 0;\n\
         for (int i = 1; i < n; i++) if (a[i].y > a[best].y) best = i; struct t *t = malloc(sizeof *t); t->p = a[best];\n\
         for (int i = best; i + 1 < n; i++) a[i] = a[i + 1]; n--; t->mid = n ? a[n / 2].x : t->p.x;\n\
         t->left = build(a, n / 2); t->right = build(a + n / 2, n - n / 2); return t; }\n\
         static int flat(struct t *t, struct point *to) { if (!t) return 0; int n = flat(t->left, to); to[n++] = t->p;\n\
         return n + flat(t->right, to + n); }\n\
         static void add(const struct point *p, long *s) { *s = *s * 31 % 1000003 + (p->x ^ p->y); }\n\
         static void each(struct t *t, void (*f)(const struct point *, long *), long *s) { if (t) { struct point p = t->p;\n\
         f(&t->p, s); each(t->left, f, s); if (memcmp(&p, &t->p, sizeof p)) abort(); each(t->right, f, s); } }\n\
         int main(int c, char **v) { int n = 500 * c; struct point *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);\n\
         for (int i = 0; i < n; i++) a[i] = (struct point){rnd(1 << 20), rnd(1 << 20)}; qsort(a, n, sizeof *a, by_x);\n\
         struct t *t = build(a, n); long s = 0; each(t, add, &s); printf(\"%ld\", s);\n\
         n = flat(t, b); for (int i = 0; i < n; i++) add(&b[i], &s); printf(\" %d %ld\\n\", n, s); return 0; }\n";
    same("points", &format!("{START}{program}"), ALL);
}

/// Numbers of several kinds, in structures that overlap when they are copied.
#[test]
fn numbers_of_several_kinds() {
    let program = "struct v { double x; long n; float f; int i; short a, b; unsigned k; };\n\
         struct e { struct e *next, *peer; struct v v; }; static struct v last, row[5];\n\
         __attribute__((noinline)) static void set(struct v *to, const struct v *from) { *to = *from; }\n\
         int main(int c, char **a) { struct e *l = 0; for (int i = 0; i < 700 * c; i++) { struct e *e = malloc(sizeof *e);\n\
         e->next = l; e->peer = l ? l->next : 0; struct v v = { i / 8.0, i * 3L, i / 2.0f, -i, i, i * 7, i * 11u };\n\
         if (i % 3) e->v = v; else if (l) e->v = l->v; else e->v = last; last = e->v; row[i % 5] = last; set(&e->v, &e->v);\n\
         if (e->peer && i % 4 == 0) { struct v t = e->v; e->v = e->peer->v; e->peer->v = t; } l = e; }\n\
         double s = 0; for (struct e *e = l; e; e = e->next) s += e->v.x + e->v.n + e->v.f + e->v.i + e->v.a + e->v.b +\n\
         e->v.k + (e->peer ? e->peer->v.n : 1); for (int i = 0; i < 5; i++) s = s * 3 + row[i].x + row[i].k;\n\
         printf(\"%.3f\\n\", s); return 0; }\n";
    same("numbers", &format!("{START}{program}"), &["static", "dynamic"]);
}

/// One structure of a union is written, another read: nothing is known of them by their types.
#[test]
fn structures_that_share_a_place() {
    let program = "struct i { int a, b; }; struct f { float x, y; }; union u { struct i i; struct f f; };\n\
         struct n { union u u; struct n *next; int k; };\n\
         __attribute__((noinline)) static double sum(union u *a, union u *b, const struct i *p, int n) { double s = 0;\n\
         for (int i = 0; i < n; i++) { a->i = p[i]; struct f f = b->f; s += f.x + f.y; } return s; }\n\
         int main(int c, char **v) { struct n *l = 0; double s = 0;\n\
         struct i row[3] = {{0x3f800000, 0x40000000}, {0x3f900000, 0x40400000}, {0x3fa00000, 0x40010000}};\n\
         for (int i = 0; i < 700 * c; i++) { struct n *n = malloc(sizeof *n); n->next = l; n->k = i; n->u.f = (struct f){0, 0};\n\
         s += sum(&n->u, c ? &n->u : &l->u, row, 3); l = n; } for (struct n *n = l; n; n = n->next) s += n->k + n->u.f.x;\n\
         printf(\"%g\\n\", s); return 0; }\n";
    same("shared", &format!("{START}{program}"), ALL);
}
