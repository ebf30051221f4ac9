//! Unions of pointers and numbers: what they point to has pools where no number can tell a name from an address, and
//! nothing else. Each program prints what it prints without pools, also when pools are expanded early.

mod place;

use place::{ALL, Place, has_pools, same};

const START: &str = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                     struct n { int tag; union { double d; int i; float f; struct n *p; } u; struct n *next; };\n\
                     static struct n *make(int tag, struct n *next) { struct n *n = malloc(sizeof *n); if (!n) abort();\n\
                     n->tag = tag; n->next = next; return n; }\n";

/// With every kind of pools, and with indices of 8 bits; does the program have pools?
fn pools(name: &str, program: &str, wanted: bool) {
    let program = format!("{START}{program}");
    same(name, &program, if wanted { &["dynamic", "auto"] } else { &[] });
    let place = Place::new(&format!("{name}-short"));
    place.file("a.c", &program);
    assert!(place.cc("-O2 -w --ptrcomp=off {}/a.c -o {}/plain"));
    let expected = place.run("plain");
    for mode in ["dynamic", "auto"] {
        let line = format!("-O2 -w --ptrcomp={mode} --pool-bits=8 --check-indices {{}}/a.c -o {{}}/prog");
        assert!(place.cc(&line));
        assert_eq!(place.run("prog"), expected, "{mode}");
        assert_eq!(has_pools(&place.path("prog")), wanted, "{mode}");
    }
}

/// An expression is a number, a variable, or has one operand or two.
#[test]
fn expressions_of_floats() {
    let program = "struct e { int op; union { double value; int var; struct e *arg; struct { struct e *l, *r; } b; } u; };\n\
         static unsigned seed = 7;\n\
         static struct e *node(int op) { struct e *e = malloc(sizeof *e); e->op = op; return e; }\n\
         static struct e *build(int d) { seed = seed * 1664525 + 1013904223; struct e *e = node(d ? 2 + seed % 3 : seed >> 31);\n\
         if (e->op == 0) e->u.value = (seed >> 8) % 100; else if (e->op == 1) e->u.var = (seed >> 9) % 3;\n\
         else if (e->op == 2) e->u.arg = build(d - 1); else { e->u.b.l = build(d - 1); e->u.b.r = build(d - 1); }\n\
         return e; }\n\
         static double eval(struct e *e, double *v) { switch (e->op) { case 0: return e->u.value; case 1: return v[e->u.var];\n\
         case 2: return -eval(e->u.arg, v); case 3: return eval(e->u.b.l, v) + eval(e->u.b.r, v);\n\
         default: return eval(e->u.b.l, v) * eval(e->u.b.r, v) / 64; } }\n\
         static struct e *fold(struct e *e) { if (e->op < 2) return e; if (e->op == 2) { struct e *a = e->u.arg =\n\
         fold(e->u.arg); if (!a->op) { double v = -a->u.value; free(a); e->op = 0; e->u.value = v; } return e; }\n\
         struct e *l = e->u.b.l = fold(e->u.b.l), *r = e->u.b.r = fold(e->u.b.r); if (!l->op && !r->op) {\n\
         double v = eval(e, 0); free(l); free(r); e->op = 0; e->u.value = v; } return e; }\n\
         int main(int c, char **v) { struct e *e = build(8 + c); double x[3] = {c, 2, .5}; printf(\"%g\\n\", eval(e, x));\n\
         e = fold(e); printf(\"%g\\n\", eval(e, x)); return 0; }\n";
    pools("expressions", program, true);
}

/// A pointer is copied as a float: at once, by way of functions, variables, arrays and the library, or with zero
/// added.
#[test]
fn pointers_that_are_copied_as_floats() {
    for (name, copy) in [
        ("at-once", "b->u.d = a->u.d;"),
        ("result", "b->u.d = get(a);"),
        ("argument", "put(b, a->u.d);"),
        ("variable", "kept = a->u.d; b->u.d = kept;"),
        ("array", "row[i % 4] = a->u.d; b->u.d = row[i % 4];"),
        ("library", "b->u.d = fmax(a->u.d, -1);"),
        ("negative", "b->u.d = -get(a); b->u.d = -b->u.d;"),
        ("sum", "b->u.d = a->u.d + zero;"),
        ("product", "b->u.d = a->u.d * one;"),
        ("choice", "b->u.d = a->u.d > 1 ? 1 : a->u.d;"),
        ("two-of-them", "struct m m; m.u.d = a->u.d; other(&m, a); b->u.p = m.u.p;"),
    ] {
        let program = format!(
            "struct m {{ int k; union {{ struct n *p; double d; }} u; }};\n\
             static double kept, row[4]; volatile double zero = 0, one = 1;\n\
             __attribute__((noinline)) static double get(struct n *a) {{ return a->u.d; }}\n\
             __attribute__((noinline)) static void put(struct n *b, double d) {{ b->u.d = d; }}\n\
             __attribute__((noinline)) static void other(struct m *m, struct n *a) {{ if (!m->u.p) m->u.p = a; }}\n\
             int main(int c, char **v) {{ struct n *l = 0; for (int i = 0; i < 900 * c; i++) {{ struct n *a = make(i, l);\n\
             a->u.p = l ? l : a; struct n *b = make(-i, a); {copy} l = b; if (b->u.p->tag == 7) b->tag++; }}\n\
             long s = 0; for (struct n *n = l; n; n = n->next) s = s * 31 % 1000003 + n->u.p->tag + n->u.p->next->tag * 3L;\n\
             printf(\"%ld\\n\", s); return 0; }}\n"
        )
        .replace("n->u.p->next->tag * 3L", "(n->u.p->next ? n->u.p->next->tag : 2) * 3L");
        pools(&format!("floats-{name}"), &program, true);
    }
}

/// Null is zero, and a pointer isn't, as a float and as an integer of half the size; the lowest bits of a pointer are
/// zero, so programs can hide numbers there.
#[test]
fn numbers_that_are_pointers() {
    let program = "int main(int c, char **v) { struct n *l = 0; int zeros = 0, odd = 0, numbers = 0; long s = 0;\n\
         for (int i = 0; i < 900 * c; i++) { struct n *a = make(i, l); if (i % 3 == 1) a->u.p = 0; else if (i % 3) a->u.p = l;\n\
         else { a->u.d = 0; a->u.i = i * 16 + 5; } l = a; }\n\
         for (struct n *n = l; n; n = n->next) { if (n->u.d == 0 || n->u.i == 0) zeros++; else if (n->u.i & 15) {\n\
         if ((n->u.i & 15) == 5) numbers += n->u.i >> 4; else odd++; } else s = s * 3 % 65537 + n->u.p->tag; }\n\
         printf(\"%d %d %d %ld\\n\", zeros, odd, numbers, s); return 0; }\n";
    pools("lowest-bits", program, true);
}

/// What reads the whole of a pointer as an integer can tell small numbers from addresses, and compute others.
#[test]
fn whole_integers_see_addresses() {
    let tests = [
        ("small", "k < 4096", "n->u.p = l; if (i % 2) n->u.k = i % 4096;", "n->u.p"),
        ("tag", "k & 7", "n->u.p = l; if (!l || i % 2) n->u.k = i * 8 + 3;", "n->u.p"),
        ("upper", "n->u.half[1] == 0", "n->u.p = l; if (!l || i % 2) n->u.k = i;", "n->u.p"),
        ("upper-float", "n->u.f[1] == 0", "n->u.p = l; if (!l || i % 2) n->u.k = i;", "n->u.p"),
        ("hidden", "k == 0", "n->u.p = l; if (l) n->u.k |= 1;", "(n->u.k &= ~1L, n->u.p)"),
    ];
    for (name, is_number, fill, pointer) in tests {
        let read = if is_number.starts_with('k') { "long k = n->u.k;" } else { "" };
        let program = format!(
            "struct k {{ union {{ struct k *p; long k; int half[2]; float f[2]; }} u; struct k *next; int v; }};\n\
             int main(int c, char **v) {{ struct k *l = 0; for (int i = 0; i < 700 * c; i++) {{ struct k *n = malloc(sizeof *n);\n\
             n->next = l; n->v = i; {fill} l = n; }} long s = 0; for (struct k *n = l; n; n = n->next) {{ {read}\n\
             s = s * 31 % 1000003 + ({is_number} ? n->u.half[0] : {pointer}->v); }} printf(\"%ld\\n\", s); return 0; }}\n"
        );
        pools(&format!("whole-{name}"), &program, false);
    }
}

/// A float whose bits become an address, by way of memory, of a register, or of another union.
#[test]
fn floats_whose_bits_are_numbers() {
    for (name, back) in [
        ("bits", "double d = a->u.d; long k; memcpy(&k, &d, 8); q = (struct n *)k;"),
        ("function", "q = (struct n *)bits(a->u.d);"),
        ("union", "union { double d; long k; } w; w.d = a->u.d; kept = w.k; q = (struct n *)kept;"),
        ("memory", "cell.d = get(a); q = (struct n *)cell.k;"),
    ] {
        let program = format!(
            "static long kept; static union {{ double d; long k; }} cell;\n\
             __attribute__((noinline)) static double get(struct n *a) {{ return a->u.d; }}\n\
             __attribute__((noinline)) static long bits(double d) {{ long k; memcpy(&k, &d, 8); return k; }}\n\
             int main(int c, char **v) {{ struct n *l = 0; long s = 0; for (int i = 0; i < 500 * c; i++) {{\n\
             struct n *a = make(i, l); a->u.p = l ? l : a; l = a; struct n *q; {back} s = s * 31 % 1000003 + q->tag; }}\n\
             printf(\"%ld\\n\", s); return 0; }}\n"
        );
        pools(&format!("bits-{name}"), &program, false);
    }
}

/// Whole structures with such unions are copied, cleared, kept on the stack and in arrays.
#[test]
fn structures_with_unions_are_copied() {
    let program = "static struct n table[8];\n\
         __attribute__((noinline)) static double weigh(struct n *n) { return n->tag % 2 ? n->u.p->tag : n->u.d; }\n\
         int main(int c, char **v) { struct n *l = 0; double s = 0; for (int i = 0; i < 900 * c; i++) { struct n *a = make(i, l);\n\
         if (i % 2) a->u.p = l; else a->u.d = i / 4.0; struct n *b = calloc(1, sizeof *b); *b = *a; b->tag += 2; b->next = a;\n\
         struct n t = *b; table[i % 8].u = t.u; table[i % 8].tag = t.tag; s += weigh(&t) + weigh(b); l = b; if (i % 7 == 0) { free(b);\n\
         l = a; } }\n\
         for (int i = 0; i < 8; i++) s = s * 3 + (table[i].tag % 2 ? table[i].u.p->tag : table[i].u.d);\n\
         for (struct n *n = l; n; n = n->next) s += n->tag % 2 ? n->u.p->tag : n->u.d;\n\
         printf(\"%.3f\\n\", s); return 0; }\n";
    let whole = format!("{START}{program}");
    same("copied-unions", &whole, &[]);
}

/// The bits of a float tell a small number from an address, even if they are only compared, and so does half of them.
#[test]
fn bits_of_floats_that_are_compared() {
    for (name, number) in [
        ("register", "small(n->u.d)"),
        ("memory", "(cell.d = get(n), cell.k < 65536)"),
        ("upper", "(cell.d = get(n), cell.half[1] == 0)"),
        ("vector", "((lv)(dv){1, get(n)})[1] < 65536"),
        ("assembly", "of(get(n)) < 65536"),
        ("unsigned", "(unsigned) n->u.i < 4096"),
        ("tiny", "n->u.d < 1e-315"),
    ] {
        let program = format!(
            "static union {{ double d; long k; int half[2]; }} cell; typedef double dv __attribute__((vector_size(16)));\n\
             typedef long lv __attribute__((vector_size(16)));\n\
             static long of(double d) {{ long k; asm(\"movq %1,%0\" : \"=r\"(k) : \"x\"(d)); return k; }}\n\
             __attribute__((noinline)) static double get(struct n *n) {{ return n->u.d; }}\n\
             __attribute__((noinline)) static int small(double d) {{ long k; memcpy(&k, &d, 8); return k < 65536; }}\n\
             int main(int c, char **v) {{ struct n *l = 0; long s = 0; for (int i = 0; i < 900 * c; i++) {{\n\
             struct n *n = make(i, l); n->u.d = 0; if (i % 3 && l) n->u.p = l; l = n; }}\n\
             for (struct n *n = l; n; n = n->next) s = s * 31 % 1000003 + ({number} ? 5 : n->u.p->tag);\n\
             printf(\"%ld\\n\", s); return 0; }}\n"
        );
        pools(&format!("compared-{name}"), &program, false);
    }
}

/// A pointer is copied in pieces, one by one or as a structure of numbers: what it points to keeps its layout.
#[test]
fn pointers_that_are_copied_in_pieces() {
    for (name, pieces, copy) in [
        ("ints", "int a, b;", "b->u.h.a = a->u.h.a; b->u.h.b = a->u.h.b;"),
        ("structure", "int a, b;", "b->u.h = a->u.h;"),
        ("floats", "float a, b;", "b->u.h = a->u.h;"),
        ("shorts", "short a, b, c, d;", "b->u.h = a->u.h;"),
        ("variable", "int a, b;", "row[i % 4] = a->u.h; b->u.h = row[i % 4];"),
        (
            "bytes",
            "int a, b;",
            "memcpy(buf, &a->u, 8); for (int j = 0; j < 8; j++) ring[j + i % 8] = buf[j]; memcpy(&b->u, ring + i % 8, 8);",
        ),
    ] {
        let program = format!(
            "struct k {{ int v; struct k *next; }}; struct m {{ struct k *f, *g; int x; }}; struct h {{ {pieces} }};\n\
             struct a {{ int i; union {{ struct h h; struct m *p; }} u; struct a *next; }}; static struct h row[4];\n\
             struct b {{ int i; union {{ struct h h; struct m *p; }} u; struct b *next; }};\n\
             static char buf[8], ring[16];\n\
             int main(int c, char **v) {{ struct k *ks = 0; struct a *as = 0; struct b *bs = 0; long s = 0;\n\
             for (int i = 0; i < 900 * c; i++) {{ struct k *k = malloc(sizeof *k); k->v = i; k->next = ks; ks = k;\n\
             struct m *m = malloc(sizeof *m); m->f = k; m->g = k->next ? k->next : k; m->x = -i;\n\
             struct a *a = malloc(sizeof *a); a->u.p = m; a->next = as; as = a;\n\
             struct b *b = malloc(sizeof *b); {copy} a->i = b->i = i; b->next = bs; bs = b; }}\n\
             for (struct a *a = as; a; a = a->next) s += a->u.p->f->v + a->i;\n\
             for (struct b *b = bs; b; b = b->next) s = s * 31 % 1000003 + b->u.p->g->v + b->u.p->x + b->i;\n\
             printf(\"%ld\\n\", s); return 0; }}\n"
        );
        same(&format!("pieces-{name}"), &format!("{START}{program}"), ALL);
    }
}
