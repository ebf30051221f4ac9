//! Structures with text and other members that only the C library looks at, and the sizes that wrappers of allocators
//! are given. Each program prints with every kind of pools what it prints without.

mod place;

use place::{ALL, same};

const START: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <setjmp.h>\n\
                     #include <time.h>\n#include <sys/time.h>\n#include <unistd.h>\n";

/// Names in structures are written, compared and printed; the structures around get smaller, and what lies beside a
/// name is where it was, seen from there.
#[test]
fn names_inside_of_structures() {
    let program = "struct p { struct p *boss, *first; char name[20]; int age; struct p *next; char mail[10]; double pay;\n\
         struct p *peer; struct timeval born; };\n\
         static struct p *make(const char *n, int a, struct p *b, struct p *next) { struct p *p = calloc(1, sizeof *p);\n\
         strcpy(p->name, n); p->age = a; p->boss = b; p->next = next;\n\
         p->first = next ? next->first : p; snprintf(p->mail, sizeof p->mail, \"%d@x\", a);\n\
         p->pay = a * 1.5; p->peer = b && b->peer ? b->peer : p; gettimeofday(&p->born, 0); return p; }\n\
         int main(int c, char **v) { struct p *l = 0; char b[32]; for (int i = 0; i < 600 * c; i++) {\n\
         sprintf(b, \"person %d\", i * 7919 % 1009); l = make(b, i % 90, i % 3 ? l : l ? l->boss : 0, l); }\n\
         long s = 0; for (struct p *p = l; p; p = p->next) s = s * 31 % 1000003 + strlen(p->name) * p->name[7] +\n\
         (p->boss ? strcmp(p->name, p->boss->name) > 0 : 2) + p->peer->mail[0] + (long)p->pay + p->first->age +\n\
         (p->born.tv_sec > 1000) + (memcmp(p->mail, \"12\", 2) == 0);\n\
         printf(\"%ld %s %.20s %s\\n\", s, l->name, l->next->name, l->boss->mail);\n\
         strncpy(l->name, \"a long name that is cut\", sizeof l->name - 1); memset(l->mail, 'z', 9);\n\
         printf(\"%s %s %d %d\\n\", l->name, l->mail, l->age, l->next->age); return 0; }\n";
    same("inside", &format!("{START}{program}"), &["static", "dynamic"]);
}

/// Functions that take and give text, in arrays of texts, too; the result of `strcpy` is its argument.
#[test]
fn texts_that_functions_get_and_return() {
    let program = "struct w { struct w *next, *old; int n; char words[4][12]; struct w *third; };\n\
         __attribute__((noinline)) static char *put(char *to, const char *text) { return strcpy(to, text); }\n\
         __attribute__((noinline)) static long weigh(const char *text) { return strlen(text) * 7 + atoi(text); }\n\
         int main(int c, char **v) { struct w *l = 0; char b[16]; for (int i = 0; i < 400 * c; i++) {\n\
         struct w *w = malloc(sizeof *w); w->next = l; w->old = l ? l->old : w; w->third = l ? l->next : 0; w->n = i;\n\
         for (int k = 0; k < 4; k++) { sprintf(b, \"%d\", i * k * 37 % 1009); put(w->words[k], b); } l = w; }\n\
         long s = 0; for (struct w *w = l; w; w = w->next) { for (int k = 0; k < 4; k++) s = s * 31 % 1000003 +\n\
         weigh(w->words[k]) + (w->third ? strcmp(w->words[k], w->third->words[3 - k]) < 0 : 3);\n\
         s += w->old->n + w->n; } printf(\"%ld %s\\n\", s, l->words[2]); return 0; }\n";
    same("texts", &format!("{START}{program}"), &["static"]);
}

/// Handlers with what `setjmp` remembers; nothing can be counted then.
#[test]
fn places_to_jump_to_lie_beside_pointers() {
    let program = "struct h { struct h *up, *first; jmp_buf env; struct h *a, *b, *c, *d, *e, *f, *g, *i, *j, *k, *l, *m,\n\
         *n, *o, *p, *q, *r, *s, *t, *u, *v, *w; int code; }; static struct h *top;\n\
         __attribute__((noinline)) static void fail(int k) { top->code = k; longjmp(top->env, 1); }\n\
         int main(int c, char **v) { long s = 0; for (volatile int i = 0; i < 500 * c; i++) {\n\
         struct h *h = malloc(sizeof *h); h->up = top; h->first = top ? top->first : h; h->code = 0;\n\
         h->a = h->b = h->c = h->d = h->e = h->f = h->g = h->i = h->j = h->k = h->l = h->m = h;\n\
         h->n = h->o = h->p = h->q = h->r = h->s = h->t = h->u = h->v = h->w = h->up; top = h;\n\
         if (!setjmp(top->env)) { if (i % 3) fail(i); } else s = s * 3 % 65537 + top->code;\n\
         if (i % 5 == 0) { h = top; s += h->a->code + (h->w ? h->w->code : 1) + (h->first == h); top = h->up; free(h); } }\n\
         printf(\"%ld\\n\", s); return 0; }\n";
    same("jumps", &format!("{START}{program}"), ALL);
}

/// What is copied from a structure's text is no reason for the structure to stay.
#[test]
fn texts_that_are_copied() {
    let program = "struct w { struct w *next, *old; char name[12]; char *copy; };\n\
         int main(int c, char **v) { struct w *l = 0; for (int i = 0; i < 400 * c; i++) {\n\
         struct w *w = malloc(sizeof *w); w->next = l; w->old = l ? l->old : w; sprintf(w->name, \"%d\", i * 37 % 1009);\n\
         w->copy = i % 2 ? strdup(w->name) : strndup(w->name, 2); l = w; }\n\
         long s = 0; for (struct w *w = l; w; w = w->next) s = s * 31 % 1000003 + strlen(w->copy) * 3 +\n\
         (strcmp(w->name, w->old->copy) < 0) + access(w->name, 0);\n\
         for (struct w *w = l; w; w = w->next) free(w->copy); printf(\"%ld %s\\n\", s, l->name); return 0; }\n";
    same("copied", &format!("{START}{program}"), ALL);
}

/// Where the library sees pointers, too, they stay as they are: whole structures as bytes, a structure of the library's
/// with a pointer in it, an address in the middle of which a text is looked for.
#[test]
fn pointers_that_the_library_sees_stay() {
    let start = format!("{START}struct n {{ struct n *next, *other; char name[8]; struct tm day; int v; }};\n");
    let rest = "int main(int c, char **v) { struct n *l = 0; long s = 0; for (int i = 0; i < 100 * c; i++) {\n\
         struct n *p = calloc(1, sizeof *p); p->next = l; p->other = l && l->next ? l->next : p; p->v = i;\n\
         p->day.tm_year = 100; p->day.tm_mday = i % 28 + 1; p->day.tm_zone = \"none\"; l = p; }\n\
         for (struct n *p = l, *q = l->next; q; p = q, q = q->next) s = s * 3 % 65537 + look(p, q) + p->v +\n\
         p->other->v + (p->day.tm_zone != 0);\n\
         printf(\"%ld\\n\", s); return 0; }\n";
    for (name, look) in [
        ("compared", "return memcmp(p, q, sizeof *p) != 0;"),
        ("from-the-second", "return memcmp(&p->other, &q->other, 16) == 0;"),
        ("written", "static FILE *f; if (!f) f = tmpfile(); return fwrite(p, sizeof *p, 1, f);"),
        (
            "filled",
            "struct n *x = malloc(sizeof *x); *x = *p; memset(&x->other, 1, 10); int k = x->other == q; free(x);\n\
                    return k;",
        ),
        ("of-the-day", "return mktime(&p->day) != 7;"),
        (
            "scanned",
            "char t[40]; sprintf(t, \"%p\", (void *)q); sscanf(t, \"%p\", (void **)&p->other); return p->other == q;",
        ),
    ] {
        let program = format!(
            "{start}__attribute__((noinline)) static int look(struct n *p, struct n *q) {{ {look} }}\n{rest}"
        );
        same(name, &program, &[]);
    }
    let look = "strcpy(p->name, \"a b\"); char *q2 = strchr(p->name, ' '); return q2 ? q2 - p->name : 9;";
    let program =
        format!("{start}__attribute__((noinline)) static int look(struct n *p, struct n *q) {{ {look} }}\n{rest}");
    same("inside-of-a-name", &program, &[]);
}

/// `xmalloc` and its kin: no byte becomes one, a number times a size, in functions that call each other; nothing is
/// asked for, too.
#[test]
fn sizes_that_wrappers_are_given() {
    let program = "static void die(const char *why) { fprintf(stderr, \"%s\\n\", why); exit(2); }\n\
         __attribute__((noinline)) static void *xmalloc(size_t n) { void *p = malloc(n ? n : 1); if (!p) die(\"full\");\n\
         return p; }\n\
         __attribute__((noinline)) static void *xcalloc(size_t n, size_t size) { void *p = calloc(n, size);\n\
         if (!p) die(\"full\"); return p; }\n\
         __attribute__((noinline)) static void *xzalloc(size_t n) { if (n == 0) n = 1; return memset(xmalloc(n), 0, n); }\n\
         __attribute__((noinline)) static void *xnmalloc(size_t n, size_t size) { return xmalloc(n * size); }\n\
         struct n { struct n *next, *o; int v; }; struct m { struct m *a, *b; long v; }; struct k { struct k *a, *b; int v; };\n\
         struct e { struct e *next, *last; double x; };\n\
         int main(int c, char **v) { struct n *l = 0; struct m *m = 0; struct k *k = 0; struct e *e = 0; long s = 0;\n\
         for (int i = 0; i < 300 * c; i++) { struct n *p = xmalloc(sizeof *p); p->next = l; p->o = l ? l->o : p;\n\
         p->v = i; l = p; struct m *q = xcalloc(1, sizeof *q); q->a = m; s += q->v + (q->b == 0); q->b = m ? m->a : 0;\n\
         q->v = i; m = q; struct k *r = xzalloc(sizeof *r); r->a = k; s += r->v; r->b = r; r->v = i * 3; k = r;\n\
         struct e *d = xnmalloc(1, sizeof *d); d->next = e; d->last = e ? e->last : d; d->x = i; e = d; }\n\
         void *none = xmalloc(0), *none2 = xcalloc(0, sizeof *l), *none3 = xzalloc(c - 1); s += none != none2;\n\
         free(none); free(none2); free(none3);\n\
         for (; l; l = l->next, m = m->a, k = k->a, e = e->next) s = s * 3 % 65537 + l->v + l->o->v + m->v +\n\
         (m->b ? m->b->v : 1) + k->b->v + (long)(e->x + e->last->x);\n\
         printf(\"%ld\\n\", s); return 0; }\n";
    same("wrappers", &format!("{START}{program}"), ALL);
}
