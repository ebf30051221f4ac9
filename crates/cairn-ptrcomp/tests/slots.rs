//! Pointers to pointers, pointers into objects, list heads in global variables, and fields that move closer: idioms of
//! C that keep structures from having pools unless each is understood. Each program prints what it prints without
//! pools, also when pools are expanded early.

mod place;

use place::{ALL, Place, has_pools, same};

const START: &str =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdarg.h>\n#include <stddef.h>\n";

/// With every kind of pools, of which these have some, and with indices of 8 and 16 bits.
fn everywhere(name: &str, program: &str, smaller: &[&str]) {
    same(name, &format!("{START}{program}"), smaller);
    let place = Place::new(&format!("{name}-short"));
    place.file("a.c", &format!("{START}{program}"));
    assert!(place.cc("-O2 -w --ptrcomp=off {}/a.c -o {}/plain"));
    let expected = place.run("plain");
    for bits in [8, 16] {
        for mode in ["dynamic", "auto"] {
            let line = format!("-O2 -w --ptrcomp={mode} --pool-bits={bits} --check-indices {{}}/a.c -o {{}}/prog");
            assert!(place.cc(&line));
            assert_eq!(place.run("prog"), expected, "{mode}, {bits} bits");
        }
    }
}

/// The root is a variable, a field of another structure or an element of a table; the places that a pointer walks along
/// are two fields of the nodes.
#[test]
fn a_pointer_walks_from_the_root_down_a_tree() {
    let tree = "struct t { struct t *left, *right; int key, n; struct t *up; };\n\
         static void add(struct t **p, int k) { struct t *up = 0; while (*p) { up = *p; if ((*p)->key == k) { (*p)->n++;\n\
         return; } p = k < (*p)->key ? &(*p)->left : &(*p)->right; } struct t *t = malloc(sizeof *t);\n\
         t->left = t->right = 0; t->key = k; t->n = 1; t->up = up; *p = t; }\n\
         static int drop(struct t **p, int k) { while (*p && (*p)->key != k) p = k < (*p)->key ? &(*p)->left : &(*p)->right;\n\
         if (!*p) return 0; struct t *t = *p; if (t->left && t->right) { struct t **q = &t->right;\n\
         while ((*q)->left) q = &(*q)->left; struct t *m = *q; t->key = m->key; t->n = m->n; *q = m->right;\n\
         if (*q) (*q)->up = m->up; free(m); return 1; } *p = t->left ? t->left : t->right; if (*p) (*p)->up = t->up;\n\
         free(t); return 1; }\n\
         static long sum(struct t *t, int d) { return t ? (t->key * 3L + t->n + (t->up ? t->up->key : 1)) * d % 65537 +\n\
         sum(t->left, d + 1) * 3 + sum(t->right, d + 2) * 5 : 7; }\n";
    for (name, root, at) in [
        ("variable", "static struct t *root;", "&root"),
        ("field", "struct m { int n; struct t *root; long x; }; static struct m *m;", "&m->root"),
        ("first-field", "struct m { struct t *root; long x; }; static struct m *m;", "&m->root"),
        ("table", "static struct t *all[7];", "&all[i % 7]"),
    ] {
        let made = if root.contains("struct m") { "m = calloc(1, sizeof *m);" } else { "" };
        let program = format!(
            "{tree}{root}\nint main(int c, char **v) {{ {made} unsigned r = c; long s = 0; for (int i = 0; i < 900; i++) {{\n\
             r = r * 1103515245 + 12345; add({at}, (r >> 9) % 700); if (i % 4 == 3) s += drop({at}, (r >> 12) % 700); }}\n\
             for (int i = 0; i < 7; i++) s = s * 31 % 1000003 + sum(*({at}), 1); printf(\"%ld\\n\", s); return 0; }}\n"
        );
        everywhere(&format!("walks-{name}"), &program, ALL);
    }
}

/// A chain of a hash table is searched by the place of the pointer; the table grows.
#[test]
fn a_place_in_a_table_or_in_an_entry() {
    let program = "struct e { char *key; struct e *next, *old; int n; };\n\
         struct h { struct e **all; unsigned size, count; }; static struct e *last;\n\
         static unsigned hash(const char *s) { unsigned h = 5; while (*s) h = h * 33 + (unsigned char)*s++; return h; }\n\
         static struct e **find(struct h *h, const char *k) { struct e **p = &h->all[hash(k) % h->size];\n\
         while (*p && strcmp((*p)->key, k)) p = &(*p)->next; return p; }\n\
         static void grow(struct h *h) { struct h n = { calloc(h->size * 2, sizeof *n.all), h->size * 2, 0 };\n\
         for (unsigned i = 0; i < h->size; i++) for (struct e *e = h->all[i], *x; e; e = x) { x = e->next;\n\
         struct e **p = &n.all[hash(e->key) % n.size]; e->next = *p; *p = e; n.count++; } free(h->all); *h = n; }\n\
         int main(int c, char **v) { struct h h = { calloc(8, sizeof *h.all), 8, 0 }; char b[20]; long s = 0;\n\
         for (int i = 0; i < 1500 * c; i++) { sprintf(b, \"k%d\", i * 7919 % 601); struct e **p = find(&h, b);\n\
         if (*p && i % 5 == 0 && *p != last && !(*p)->old) { struct e *e = *p; *p = e->next; free(e->key); free(e); h.count--; }\n\
         else if (*p) (*p)->n++; else { struct e *e = malloc(sizeof *e); e->key = strdup(b); e->n = 1; e->next = 0;\n\
         e->old = i % 3 == 0 ? last : 0; *p = e; last = e; if (++h.count > h.size) grow(&h); } }\n\
         for (unsigned i = 0; i < h.size; i++) for (struct e *e = h.all[i]; e; e = e->next) s = s * 31 % 1000003 + e->n +\n\
         e->key[1] + (e->old != 0); printf(\"%ld %u\\n\", s, h.count); return 0; }\n";
    // Of an entry that was dropped, nobody has the address.
    let program = program.replace("e->old = i % 3 == 0 ? last : 0;", "e->old = 0;");
    everywhere("chains", &program, ALL);
}

/// Places that are compared with null, kept, passed on or counted up are what they were.
#[test]
fn places_that_are_more_than_places_stay() {
    let program = "struct n { struct n *a, *b; int v; }; static struct n *root; static struct n **kept;\n\
         __attribute__((noinline)) static struct n **pick(struct n *p, int k) { return k % 3 ? &p->b : k % 5 ? 0 : &p->a; }\n\
         int main(int c, char **v) { for (int i = 0; i < 300 * c; i++) { struct n *n = malloc(sizeof *n); n->v = i;\n\
         n->a = root; n->b = root ? root->a : n; root = n; } long s = 0; struct n *end = root; int i = 0;\n\
         for (struct n **p = &root; *p; p = &(*p)->a, i++) { struct n **q = pick(*p, i); if (q && *q) s = s * 3 % 65537 + (*q)->v;\n\
         if (i % 50 == 0) kept = p; if (p == kept) s++; } printf(\"%ld %d\\n\", s, (*kept)->v); return 0; }\n";
    same("more-than-places", &format!("{START}{program}"), &[]);
}

/// Pointers into objects lie in objects, are given to functions and come back; a whole object is found from one.
#[test]
fn lists_whose_links_lie_in_the_middle() {
    let lists = "struct l { struct l *next, *prev; };\n\
         static void init(struct l *l) { l->next = l->prev = l; }\n\
         static void add(struct l *n, struct l *h) { n->prev = h->prev; n->next = h; h->prev->next = n; h->prev = n; }\n\
         static void del(struct l *n) { n->prev->next = n->next; n->next->prev = n->prev; }\n\
         #define of(p, m) ((struct job *)((char *)(p) - offsetof(struct job, m)))\n\
         struct job { int id; long cost; struct l all; char name[12]; struct l ready; struct job *after; };\n";
    for (name, heads) in [
        ("variables", "static struct l ALL = { &ALL, &ALL }, READY;"),
        ("objects", "static struct job *top; \n#define ALL (top->all)\n#define READY (top->ready)\n"),
    ] {
        let made = if name == "objects" { "top = calloc(1, sizeof *top); init(&ALL);" } else { "" };
        let program = format!(
            "{lists}{heads}\nint main(int c, char **v) {{ {made} init(&READY); long s = 0; struct job *last = 0;\n\
             for (int i = 0; i < 800 * c; i++) {{ struct job *j = malloc(sizeof *j); j->id = i; j->cost = i * 7 % 31;\n\
             sprintf(j->name, \"j%d\", i); j->after = last; add(&j->all, &ALL); init(&j->ready); if (i % 3) add(&j->ready, &READY);\n\
             last = j; if (i % 7 == 6) {{ struct job *d = of(ALL.next, all); del(&d->all); del(&d->ready);\n\
             s = s * 3 % 65537 + d->cost + d->name[1]; if (d->after) d->after->cost++; }} }}\n\
             for (struct l *p = READY.next, *q; p != &READY; p = q) {{ q = p->next; s = s * 5 % 65537 + of(p, ready)->id; }}\n\
             for (struct l *p = ALL.prev; p != &ALL; p = p->prev) s = s * 5 % 65537 + of(p, all)->cost + strlen(of(p, all)->name);\n\
             printf(\"%ld\\n\", s); return 0; }}\n"
        );
        everywhere(&format!("links-{name}"), &program, ALL);
    }
}

/// The address of a number in an object is kept while pools grow, of an element of an array it is not known which.
#[test]
fn numbers_in_objects_have_addresses() {
    let program = |field: &str| {
        format!(
            "struct n {{ struct n *next, *o; int x, y, a[3]; int *best; }}; static int *most;\n\
             __attribute__((noinline)) static void count(int *to, int by) {{ if (to) *to += by; }}\n\
             __attribute__((noinline)) static int *pick(struct n *p, int k) {{ return k % 4 ? {field} : 0; }}\n\
             int main(int c, char **v) {{ struct n *l = 0; for (int i = 0; i < 700 * c; i++) {{ struct n *n = malloc(sizeof *n);\n\
             n->next = l; n->o = l ? l->o : n; n->x = i; n->y = 1; memset(n->a, 0, sizeof n->a); n->best = pick(n, i);\n\
             count(n->best, i % 9); if (i % 100 == 50) most = n->best; if (most) ++*most; l = n; }} long s = 0;\n\
             for (struct n *p = l; p; p = p->next) {{ s = s * 3 % 65537 + p->x + p->y + p->a[1] + (p->best ? *p->best : 3);\n\
             s += (p->best == most) + (p->o->best != 0); }} printf(\"%ld %d\\n\", s, *most); return 0; }}\n"
        )
    };
    everywhere("numbers", &program("&p->y"), ALL);
    everywhere("elements", &program("&p->a[p->x % 3]"), &["static"]);
}

/// A list begins with a global variable, whose fields are not all zero; other variables point to some.
#[test]
fn lists_begin_with_variables() {
    let start = "struct n { struct n *next, *prev; int v; long k; };\n";
    let rest = "static void put(struct n *at, struct n *n) { n->prev = at; n->next = at->next; at->next->prev = n; at->next = n; }\n\
         int main(int c, char **v) { SET long s = 0; for (int i = 0; i < 500 * c; i++) { struct n *n = malloc(sizeof *n);\n\
         n->v = i; n->k = i * 3; struct n *at = &head; for (int k = 0; k < i % 5 && at->next != &head; k++) at = at->next;\n\
         put(at, n); } for (struct n *p = head.next; p != &head; p = p->next) s = s * 3 % 65537 + p->v + p->k + (p->prev == &head);\n\
         head.v++; printf(\"%ld %d %ld\\n\", s + MORE, head.v, head.k); return 0; }\n";
    let program = |head: &str, set: &str, more: &str| {
        format!("{start}{head}\n{}", rest.replace("SET", set).replace("MORE", more))
    };
    let own = "static struct n head = { &head, &head, 41, 7 };";
    everywhere("itself", &program(own, "", "0"), ALL);
    everywhere("set-later", &program("static struct n head;", "head.next = head.prev = &head;", "0"), ALL);
    let other = format!("{own} static struct n *other = &head;");
    everywhere("other", &program(&other, "other->v++;", "(other == &head ? other->v : 0)"), ALL);
    // It lies in a structure's first value or in an array, code runs before `main`, that is called again.
    let inside = format!("{own} static struct {{ int x; struct n *at; }} other = {{ 1, &head }};");
    everywhere("inside", &program(&inside, "other.at->v++;", "(other.at == &head ? other.at->v : 0)"), &[]);
    let array = "static struct n heads[2] = { { heads, heads, 41, 7 } };\n#define head heads[0]";
    everywhere("array", &program(array, "", "heads[1].v"), &[]);
    let early = format!("{own} __attribute__((constructor)) static void early(void) {{ head.v = 5; }}");
    everywhere("early", &program(&early, "", "0"), &[]);
    let again = format!("{own} static int deep; int main(int, char **);");
    everywhere("again", &program(&again, "if (deep++ < 2) main(c, v);", "deep"), &[]);
}

/// What a function has printed is no more than that; what it reads itself may be everything.
#[test]
fn functions_that_print_their_arguments() {
    let list = "struct n { struct n *next, *o; char *name; int v; };\n";
    let rest = "int main(int c, char **v) { struct n *l = 0; long s = 0; for (int i = 0; i < 400 * c; i++) { struct n *n = malloc(sizeof *n);\n\
         char b[20]; sprintf(b, \"n%d\", i); n->name = strdup(b); n->v = i; n->next = l; n->o = l && l->next ? l->next : n; l = n;\n\
         if (i % 90 == 7) say(\"%s %d %s\\n\", n->name, n->v, n->o->name); }\n\
         for (struct n *p = l; p; p = p->next) s = s * 3 % 65537 + p->v + p->o->v + p->name[1]; printf(\"%ld\\n\", s); return 0; }\n";
    let by_list = "static void list(const char *f, va_list a) { vprintf(f, a); }\n\
         static void say(const char *f, ...) { va_list a; va_start(a, f); list(f, a); va_end(a); fflush(stdout); }\n";
    everywhere("printed", &format!("{list}{by_list}{rest}"), ALL);
    let takes = "static void say(const char *f, ...) { va_list a; va_start(a, f); struct n *n = va_arg(a, struct n *);\n\
         n->next->v++; printf(\"%d\\n\", n->v); va_end(a); }\n";
    let given = rest.replace("n->name, n->v, n->o->name", "n").replace("i % 90 == 7", "i == 7");
    everywhere("taken", &format!("{list}{takes}{given}"), &[]);
}

/// A small pointer leaves a gap before the next field, into which a later one goes. Copies of a part of an object, and
/// what the library sees, keep the order.
#[test]
fn fields_move_into_gaps() {
    let program = |extra: &str| {
        format!(
            "struct n {{ struct n *next; char *name; int v; double d; short s; struct n *o; char c; }};\n\
             int main(int c, char **v) {{ struct n *l = 0; long s = 0; for (int i = 0; i < 400 * c; i++) {{\n\
             struct n *n = malloc(sizeof *n); n->name = i % 2 ? \"odd\" : \"even\"; n->v = i; n->d = i * 1.5; n->s = i % 77;\n\
             n->next = l; n->o = l && l->next ? l->next : n; n->c = 'a' + i % 26; if (i % 9 == 8) {{ {extra} }} l = n; }}\n\
             for (struct n *p = l; p; p = p->next) s = s * 3 % 65537 + p->v + p->o->v + p->name[1] + (long)p->d + p->s + p->c;\n\
             printf(\"%ld\\n\", s); return 0; }}\n"
        )
    };
    everywhere("gaps", &program(""), ALL);
    everywhere("gaps-copied", &program("struct n *m = n->o; *n = *m; n->next = l; n->o = n;"), ALL);
    everywhere(
        "gaps-cleared",
        &program("memset(&n->v, 0, offsetof(struct n, o) - offsetof(struct n, v));"),
        &["static", "dynamic"],
    );

    let place = Place::new("gaps-size");
    place.file("a.c", &format!("{START}{}", program("")));
    assert!(place.cc("-O2 -w --ptrcomp=static {}/a.c -o {}/prog"));
    assert!(has_pools(&place.path("prog")));
    assert!(place.cc("-O2 -w --ptrcomp=static --emit=pools {}/a.c -o {}/pools"));
    let pools = std::fs::read_to_string(place.path("pools")).expect("the report");
    assert!(pools.contains(": 56 → 32 bytes"), "{pools}");
}
