//! Calls by address, structures inside of structures, and unions: what real programs have beside lists and trees. Each
//! program prints with every kind of pools what it prints without.

mod place;

use place::{ALL, Place, same};
use std::process::Command;

/// As in cJSON: `malloc` and `free` by their addresses, in a structure that others have copies of.
#[test]
fn allocators_in_tables_are_found() {
    same(
        "hooks",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct hooks { void *(*get)(size_t); void (*put)(void *); void *(*more)(void *, size_t); };\n\
         static struct hooks hooks = { malloc, free, realloc };\n\
         struct item { struct item *next, *child; char *name; int kind; };\n\
         struct text { char *start; size_t used; struct hooks hooks; };\n\
         void use(struct hooks *h) { hooks.get = h->get; hooks.put = h->put; }\n\
         __attribute__((noinline)) static struct item *item(const struct hooks *h, int kind, struct item *next) {\n\
         struct item *i = h->get(sizeof *i); memset(i, 0, sizeof *i); i->kind = kind; i->next = next;\n\
         i->name = h->get(8); sprintf(i->name, \"n%d\", kind); return i; }\n\
         static void drop(struct item *i) { while (i) { struct item *n = i->next; if (i->child) drop(i->child);\n\
         hooks.put(i->name); hooks.put(i); i = n; } }\n\
         __attribute__((noinline)) static void add(struct text *t, const char *s) { size_t n = strlen(s);\n\
         if (!t->start) t->start = t->hooks.get(n + 1); else t->start = t->hooks.more(t->start, t->used + n + 1);\n\
         strcpy(t->start + t->used, s); t->used += n; }\n\
         static void print(struct text *t, struct item *i) { for (; i; i = i->next) { add(t, i->name);\n\
         if (i->child) { add(t, \"(\"); print(t, i->child); add(t, \")\"); } } }\n\
         int main(int c, char **v) { struct item *all = 0; for (int i = 0; i < 20 * c; i++) {\n\
         all = item(&hooks, i, all); if (i % 3 == 0) all->child = item(&hooks, -i, 0); }\n\
         struct text t = { 0, 0 }; t.hooks = hooks; print(&t, all); puts(t.start); drop(all); return 0; }\n",
        &["static", "dynamic", "auto"],
    );
}

/// Functions of the library in tables get what they get by name: an object's text is no index.
#[test]
fn the_library_called_by_address_sees_addresses() {
    same(
        "by-address",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstruct n { struct n *next; char text[12]; };\n\
         static int none(const char *s, ...) { return 1; }\n\
         int main(int c, char **v) { int (*say)(const char *, ...) = c > 7 ? none : printf;\n\
         size_t (*length)(const char *) = c > 7 ? 0 : strlen; struct n *f = 0; size_t s = 0;\n\
         for (int i = 0; i < 5 * c; i++) { struct n *p = malloc(sizeof *p); sprintf(p->text, \"%d.\", i); p->next = f; f = p; }\n\
         for (struct n *p = f; p; p = p->next) { say(\"%s %s\", p->text, p->next ? p->next->text : \"\"); s += length(p->text); }\n\
         say(\"%zu\\n\", s); return 0; }\n",
        &[],
    );
    same(
        "read-by-address",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
         int main(int c, char **v) { int (*read)(const char *, const char *, ...) = c > 7 ? 0 : sscanf; int s = 0;\n\
         struct n *f = 0; for (int i = 0; i < 5 * c; i++) { struct n *p = malloc(sizeof *p); p->next = f; f = p;\n\
         read(\"7 8\", \"%d\", &p->x); read(\"9 8\", \"%d\", p); p->next = i ? f : 0; }\n\
         for (struct n *p = f; p; p = p->next == p ? 0 : p->next) s += p->x; printf(\"%d\\n\", s); return 0; }\n",
        &[],
    );
}

/// What a function gives to a function pointer that came from outside has escaped in its callers, too.
#[test]
fn what_unknown_functions_get_stays() {
    let place = Place::new("unknown");
    let list = "struct n { struct n *next; int x; }; typedef void visitor(struct n *);\n";
    place.file(
        "b.c",
        &format!(
            "#include <stdio.h>\n{list}static void v(struct n *n) {{ for (; n; n = n->next)\n\
         printf(\"%d \", n->x); }}\nvisitor *give(void) {{ return v; }}\n"
        ),
    );
    place.file(
        "a.c",
        &format!(
            "#include <stdlib.h>\n{list}visitor *give(void); static visitor *known;\n\
         __attribute__((noinline)) static void apply(struct n *n) {{ known(n); }}\n\
         int main(int c, char **v) {{ known = give(); struct n *f = 0; for (int i = 0; i < 9 * c; i++) {{\n\
         struct n *p = malloc(sizeof *p); p->x = i; p->next = f; f = p; }} apply(f); return 0; }}\n"
        ),
    );
    let (source, object) = (place.path("b.c"), place.path("b.o"));
    let clang = Command::new("clang-19").arg("-c").arg(source).arg("-o").arg(object).status();
    assert!(clang.expect("clang-19 runs").success());
    for mode in ALL {
        assert!(place.cc(&format!("-O2 --ptrcomp={mode} {{}}/a.c {{}}/b.o -o {{}}/prog")));
        assert_eq!(place.run("prog"), (Some(0), "8 7 6 5 4 3 2 1 0 ".into()), "{mode}");
    }
}

/// A pointer that goes from one union to another as a number is a pointer where it comes out.
#[test]
fn pointers_hidden_in_numbers() {
    let program = "#include <stdio.h>\n#include <stdlib.h>\nstruct leaf { struct leaf *next; int v; };\n\
         struct node { int pad; struct leaf *list, *last; int n; };\nunion u { long i; struct node *p; };\n\
         struct a { int x; union u u; }; struct b { int y, z; union u u; };\nstatic struct a *as[50]; static struct b *bs[50];\n\
         __attribute__((noinline)) long get(struct a *a) { return READ; }\n\
         __attribute__((noinline)) void put(struct b *b, long i) { b->u.i = i; }\n\
         int main(int c, char **v) { long s = 0; for (int i = 0; i < 50; i++) {\n\
         struct node *n = malloc(sizeof *n); n->pad = 1; n->list = n->last = 0; n->n = i;\n\
         for (int k = 0; k < 9; k++) { struct leaf *l = malloc(sizeof *l); l->v = k + i; l->next = n->list; n->list = l;\n\
         if (!n->last) n->last = l; }\nas[i] = malloc(sizeof **as); as[i]->x = i; as[i]->u.p = n; bs[i] = malloc(sizeof **bs);\n\
         if (c > 5) bs[i]->u.p = 0; put(bs[i], get(as[i])); bs[i]->y = i; }\n\
         for (int i = 0; i < 50; i++) { struct node *n = bs[i]->u.p; for (struct leaf *l = n->list; l; l = l->next)\n\
         s = s * 3 + l->v; s += n->n + n->last->v + as[i]->u.p->last->v; } printf(\"%ld\\n\", s); return 0; }\n";
    same("hidden", &program.replace("READ", "a->u.i"), &[]);
    same("tagged", &program.replace("READ", "(a->u.i | 1) - 1"), &[]);
}

/// A union of a number and a text does not stand in the way of the pointers beside it.
#[test]
fn pointers_beside_unions_are_small() {
    let program = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct n { struct n *left, *right; int kind; union { long number; char *text; double real; } u; };\n\
         static struct n *leaf(int i) { struct n *n = calloc(1, sizeof *n); n->kind = i % 3;\n\
         if (i % 3 == 0) n->u.number = i; else if (i % 3 == 1) { n->u.text = malloc(9); sprintf(n->u.text, \"t%d\", i); }\n\
         else n->u.real = i * 0.5; return n; }\n\
         static long value(struct n *n) { if (!n) return 0; long v = value(n->left) * 3 + value(n->right);\n\
         return v % 1000003 + (n->kind == 0 ? n->u.number : n->kind == 1 ? (long)strlen(n->u.text) : (long)n->u.real); }\n\
         int main(int c, char **v) { struct n *root = 0; for (int i = 1; i < 300 * c; i++) { struct n *n = leaf(i * 7 % 301);\n\
         if (i % 2) n->left = root; else n->right = root; if (i % 5 == 0) n->left = leaf(i); root = n; }\n\
         printf(\"%ld\\n\", value(root)); return 0; }\n";
    same("beside", program, ALL);
}

/// Callbacks of the library are called by address, also if the program calls them by name.
#[test]
fn callbacks_share_what_they_get() {
    let program = "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
         static int by_x(const void *a, const void *b) { const struct n *m = *(struct n *const *)a, *n = *(struct n *const *)b;\n\
         return m->x - n->x; }\n\
         int main(int c, char **v) { struct n **t = malloc(9 * sizeof *t), *f = 0, *g; for (int i = 0; i < 9; i++) {\n\
         struct n *p = malloc(sizeof *p); p->x = i * 5 % 9; p->next = f; f = p; t[i] = p; }\n\
         g = malloc(sizeof *g); g->x = 4; g->next = 0; qsort(t, 9, sizeof *t, by_x); int s = by_x(&g, &f);\n\
         for (int i = 0; i < 9; i++) printf(\"%d%d \", t[i]->x, t[i]->next ? t[i]->next->x : -1);\n\
         printf(\"%d\\n\", s); return 0; }\n";
    let place = Place::new("callbacks");
    place.file("a.c", program);
    for mode in ALL {
        assert!(place.cc(&format!("-O2 --ptrcomp={mode} {{}}/a.c -o {{}}/prog")));
        assert_eq!(place.run("prog"), (Some(0), "0-1 15 26 37 48 50 61 72 83 0\n".into()), "{mode}");
    }
}

/// Old programs call functions through pointers of other types: with a result that nobody looks at, with too few
/// arguments, with a zero for a null pointer; and variadic ones.
#[test]
fn function_pointers_of_other_types() {
    let start = "#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
         typedef void *visitor(void *); static long sum;\n\
         static void each(visitor *f, struct n *l) { for (; l; l = l->next) f(l); }\n\
         static void add(struct n *n) { sum = sum * 3 % 1009 + n->x + (n->next ? n->next->x : 0); }\n\
         static void old(struct n *n, long unused, struct n *more) { add(n); }\n\
         static void some(int count, ...) { va_list l; va_start(l, count); while (count--) add(va_arg(l, struct n *)); va_end(l); }\n\
         static void null(struct n *n, char *text) { if (text) puts(text); add(n); }\n\
         int main(int c, char **v) { struct n *l = 0; for (int i = 0; i < 30 * c; i++) {\n\
         struct n *p = malloc(sizeof *p); p->x = i; p->next = l; l = p; }\n";
    let uses = [
        "each((visitor *)add, l);",
        "void (*volatile f)(void *) = (void (*)(void *))old; for (struct n *p = l; p; p = p->next) f(p);",
        "void (*f)(int, ...) = c > 9 ? 0 : some; f(2, l, l->next);",
        "void (*f)(struct n *, int) = c > 9 ? (void (*)(struct n *, int))old : (void (*)(struct n *, int))null; f(l, 0);",
    ];
    let place = Place::new("other-types");
    for uses in uses {
        place.file("a.c", &format!("{start}{uses} printf(\"%ld\\n\", sum); return 0; }}\n"));
        assert!(place.cc("-O2 -w --ptrcomp=off {}/a.c -o {}/plain"));
        for mode in ALL {
            assert!(place.cc(&format!("-O2 -w --ptrcomp={mode} {{}}/a.c -o {{}}/prog")));
            assert_eq!(place.run("prog"), place.run("plain"), "{mode}: {uses}");
        }
    }
}
