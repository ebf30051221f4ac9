//! `cairn cc` as its users meet it: programs, objects, libraries; points-to graphs and pools against golden files
//! (`CAIRN_UPDATE=1` writes them).

mod place;

use place::{Place, has_pools};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[path = "../../../tests/support/package.rs"]
mod package;

fn graphs() -> PathBuf {
    package::package().join("tests/graphs")
}

fn golden(stage: &str, source: &str) {
    let place = Place::new(&format!("{stage}-{source}"));
    let (input, output) = (graphs().join(format!("{source}.c")), place.path("text"));
    let words = [
        OsString::from("-O2"),
        "--ptrcomp=static".into(),
        format!("--emit={stage}").into(),
        "-o".into(),
        output.clone().into(),
        input.into(),
    ];
    assert_eq!(cairn_ptrcomp::cc(&words), ExitCode::SUCCESS);
    let directory = format!("{}/", graphs().display());
    let found = std::fs::read_to_string(output).expect("text").replace(&directory, "");
    let expected_file = graphs().join(format!("{source}.{stage}"));
    if std::env::var_os("CAIRN_UPDATE").is_some() {
        std::fs::write(&expected_file, &found).expect("writing the golden file");
    }
    let expected = std::fs::read_to_string(&expected_file).unwrap_or_default();
    assert_eq!(found, expected, "{stage} of {source}.c");
}

#[test]
fn points_to_graphs() {
    for source in ["lists", "table"] {
        golden("graph", source);
    }
}

#[test]
fn pools() {
    for source in ["lists", "table", "refused", "wrappers"] {
        golden("pools", source);
    }
}

const LIST: &str = "#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
    struct n *make(int n) { struct n *f = 0; while (n--) { struct n *p = malloc(sizeof *p); p->x = n; p->next = f; f = p; } return f; }\n";
const USER: &str = "#include <stdio.h>\nstruct n { struct n *next; int x; };\nstruct n *make(int);\n\
    int main(void) { int s = 0; for (struct n *p = make(10); p; p = p->next) s += p->x; printf(\"%d\\n\", s); return 7; }\n";

#[test]
fn objects_carry_bitcode_to_the_link() {
    let place = Place::new("objects");
    place.file("a.c", LIST);
    place.file("b.c", USER);
    assert!(place.cc("-O2 -c {}/a.c -o {}/a.o") && place.cc("-O2 -c {}/b.c -o {}/b.o"));
    assert!(place.cc("{}/a.o {}/b.o -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(7), "45\n".into()));
    assert!(has_pools(&place.path("prog")), "whole-program analysis has found the list");
    // The same with one of them in a library.
    let archive = Command::new("ar").arg("rc").arg(place.path("liba.a")).arg(place.path("a.o")).status();
    assert!(archive.expect("ar runs").success());
    assert!(place.cc("-O2 {}/b.o -L{} -la -o {}/prog2"));
    assert_eq!(place.run("prog2"), (Some(7), "45\n".into()));
    assert!(has_pools(&place.path("prog2")));
}

#[test]
fn foreign_objects_keep_what_they_use() {
    let place = Place::new("foreign");
    place.file("a.c", LIST);
    place.file("b.c", USER);
    assert!(place.cc("-O2 -c {}/a.c -o {}/a.o"));
    let (source, object) = (place.path("b.c"), place.path("b.o"));
    let clang = Command::new("clang-19").arg("-c").arg(source).arg("-o").arg(object).status();
    assert!(clang.expect("clang-19 runs").success());
    assert!(place.cc("-O2 {}/a.o {}/b.o -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(7), "45\n".into()));
    assert!(!has_pools(&place.path("prog")), "code outside reads the list");
}

/// Assembly, and C in another form, in one command with C: pools are made of what is C.
#[test]
fn sources_in_other_languages_stand_beside_c() {
    let place = Place::new("languages");
    place.file("a.c", LIST);
    place.file("b.c", USER);
    place.file("c.s", ".globl beside\nbeside: ret\n.section .note.GNU-stack,\"\",@progbits\n");
    place.file("d.c", "int other(void) { return 1; }\n");
    assert!(place.cc("-O2 --ptrcomp=off -c -emit-llvm {}/d.c -o {}/d.bc"));
    assert!(place.cc("-O2 {}/a.c {}/c.s {}/b.c {}/d.bc -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(7), "45\n".into()));
    assert!(has_pools(&place.path("prog")));
    place.file("wrong.s", "no such instruction\n");
    assert!(!place.cc("-O2 {}/a.c {}/b.c {}/wrong.s -o {}/prog2"));
    assert!(!place.path("prog2").exists());
}

#[test]
fn off_and_shared_libraries_are_as_clang_makes_them() {
    let place = Place::new("off");
    place.file("a.c", LIST);
    place.file("b.c", USER);
    assert!(place.cc("-O2 --ptrcomp=off {}/a.c {}/b.c -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(7), "45\n".into()));
    assert!(!has_pools(&place.path("prog")));
    assert!(place.cc("-O2 -fPIC -shared {}/a.c -o {}/liba.so"));
    assert!(place.cc("-O2 {}/b.c {}/liba.so -o {}/prog2"));
    assert_eq!(place.run("prog2").0, Some(7));
}

#[test]
fn a_wrong_program_is_refused_as_by_clang() {
    let place = Place::new("wrong");
    place.file("a.c", "int main(void) { return x; }\n");
    assert!(!place.cc("-O2 {}/a.c -o {}/prog"));
    place.file("b.c", "int f(void); int main(void) { return f(); }\n");
    assert!(!place.cc("-O2 {}/b.c -o {}/prog"));
    assert!(!place.path("prog").exists());
}

#[test]
fn recursion_does_not_use_up_addresses() {
    let place = Place::new("deep");
    place.file(
        "a.c",
        "#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
         static int deep(int d) { struct n *f = 0; for (int i = 0; i < 3; i++) {\n\
         struct n *p = malloc(sizeof *p); p->x = i; p->next = f; f = p; }\n\
         int s = d ? deep(d - 1) : 0; while (f) { struct n *q = f->next; s += f->x; free(f); f = q; } return s % 100; }\n\
         int main(void) { return deep(20000); }\n",
    );
    assert!(place.cc("-O2 {}/a.c -o {}/prog"));
    assert_eq!(place.run("prog").0, Some(60003 % 100));
    assert!(has_pools(&place.path("prog")));
}

/// As tcc's `tcc_mallocz`: what the helper clears has a length of its own for each caller.
/// A function that is called again and again has the memory of its pool from the last call.
#[test]
fn pools_of_calls_take_no_new_memory() {
    let program = "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/resource.h>\n\
        struct n { struct n *next; int v; };\n\
        static __attribute__((noinline)) int one(int k) { struct n *l = 0; int s = 0;\n\
        for (int i = 0; i < 4; i++) { struct n *p = malloc(sizeof *p); p->v = i + k; p->next = l; l = p; }\n\
        while (l) { struct n *t = l->next; s += l->v; free(l); l = t; } return s; }\n\
        int main(void) { long s = 0; for (int i = 0; i < 20000; i++) s += one(i);\n\
        struct rusage u; getrusage(RUSAGE_SELF, &u); printf(\"%ld %d\\n\", s, u.ru_minflt < 5000); }\n";
    for bits in [8, 16, 32] {
        let place = Place::new(&format!("calls-{bits}"));
        place.file("a.c", program);
        assert!(place.cc(&format!("-O2 --ptrcomp=static --pool-bits={bits} {{}}/a.c -o {{}}/prog")));
        assert!(has_pools(&place.path("prog")), "{bits} bits");
        assert_eq!(place.run("prog"), (Some(0), "800080000 1\n".into()), "{bits} bits");
    }
}

#[test]
fn helpers_that_clear_what_they_allocate_are_understood() {
    let place = Place::new("zeroed");
    place.file(
        "a.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct n { struct n *next; int x; };\nstruct t { struct t *l, *r; int a, b, c; };\n\
         struct r { struct n *head[3]; long tail; };\n\
         static void clear(void *p, size_t size) { memset(p, 0, size); }\n\
         static void *zeroed(size_t size) { void *p = malloc(size); if (!p) exit(1); clear(p, size); return p; }\n\
         int main(void) { struct n *f = 0; struct t *t = 0; struct r *r = zeroed(sizeof *r); long s = r->tail;\n\
         for (int i = 0; i < 10; i++) { struct n *p = zeroed(sizeof *p); s += p->x; p->x = i; p->next = f; f = p; }\n\
         for (int i = 0; i < 10; i++) { struct t *p = zeroed(sizeof *p); s += p->a + p->b; p->c = i;\n\
         p->l = t; p->r = i % 2 ? t : 0; t = p; }\n\
         r->head[1] = f; r->tail = 7; for (f = r->head[1]; f; f = f->next) s += f->x;\n\
         for (; t; t = t->l) s += t->c * 2 + !t->r; s += r->tail;\n\
         clear(r, 2 * sizeof(void *)); s += !r->head[1] + r->tail;\n\
         char *text = zeroed(7); s += text[6]; printf(\"%ld\\n\", s); return 0; }\n",
    );
    assert!(place.cc("-O2 {}/a.c -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(0), "155\n".into()));
    assert!(has_pools(&place.path("prog")));
    assert!(place.cc("-O2 --emit=pools {}/a.c -o {}/pools"));
    let pools = std::fs::read_to_string(place.path("pools")).expect("the report");
    for smaller in ["16 → 8 bytes", "32 → 20 bytes"] {
        assert!(pools.contains(smaller), "{smaller}:\n{pools}");
    }
}

#[test]
fn a_full_pool_says_so_after_what_was_written() {
    let place = Place::new("full");
    place.file(
        "a.c",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; char *bytes; };\n\
         int main(void) { struct n *f = 0; printf(\"before\"); for (int i = 0; i < 6; i++) {\n\
         struct n *p = malloc(sizeof *p); p->bytes = malloc((size_t)1 << 30); p->next = f; f = p; f->bytes[0] = i; }\n\
         return f->next->bytes[0]; }\n",
    );
    assert!(place.cc("-O2 --ptrcomp=static {}/a.c -o {}/prog"));
    let output = Command::new(place.path("prog")).output().expect("the program runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "before");
    assert!(message.contains("a.c:5 is full") && message.contains("--ptrcomp=off"), "{message}");
    assert!(place.cc("-O2 {}/a.c -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(4), "before".into()), "six blocks of a gigabyte are in no static pool");
}

/// A tree, a table of its nodes, a pointer into the middle of one, and one behind the end of an array.
const SHORT: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    struct n { struct n *l, *r; int x; }; struct e { struct n *n; };\n\
    struct h { struct n *root; int *inside; struct e *table, *end; char *text; };\n\
    static struct n *grow(int d) { if (!d) return 0; struct n *n = malloc(sizeof *n);\n\
    n->x = d; n->l = grow(d - 1); n->r = grow(d - 1); return n; }\n\
    static int sum(struct n *n) { return n ? n->x + sum(n->l) + sum(n->r) : 0; }\n\
    int main(int c, char **v) { (void)v; struct h *h = malloc(sizeof *h); h->root = grow(c + 4);\n\
    h->inside = &h->root->l->x; h->table = calloc(9, sizeof *h->table); h->end = h->table + 9; h->text = malloc(9) ;\n\
    for (int i = 0; i < 8; i++) { h->table[i].n = i % 2 ? h->root->r : h->root->l->l; h->text[i] = 'a' + i; }\n\
    h->text[8] = 0; h->text += 3; printf(\"%d %d\", sum(h->root), *h->inside); *h->inside = 40; int s = 0;\n\
    for (struct e *e = h->table; e != h->end; e++) s += e->n ? e->n->x : 1000;\n\
    printf(\" %d %d %s %d\\n\", s, sum(h->root), h->text, h->root->r == h->table[7].n); return 0; }\n";

#[test]
fn indices_of_fewer_bits() {
    let place = Place::new("bits");
    place.file("a.c", SHORT);
    assert!(place.cc("-O2 --ptrcomp=off {}/a.c -o {}/plain"));
    let expected = place.run("plain");
    assert_eq!(expected.0, Some(0));
    for (bits, smaller) in [(32, "24 → 12 bytes"), (16, "24 → 8 bytes"), (8, "24 → 8 bytes")] {
        assert!(
            place.cc(&format!("-O2 --ptrcomp=static --check-indices --pool-bits={bits} {{}}/a.c -o {{}}/prog"))
        );
        assert_eq!(place.run("prog"), expected, "{bits} bits");
        assert!(place.cc(&format!("-O2 --ptrcomp=static --emit=pools --pool-bits={bits} {{}}/a.c -o {{}}/pools")));
        let pools = std::fs::read_to_string(place.path("pools")).expect("the report");
        assert!(pools.contains(smaller), "{bits} bits: {smaller}\n{pools}");
        // The pointer into the middle of an object, and that into the text, can be no short index.
        let holder = pools.lines().find(|l| l.contains(": 40 → ")).expect("the structure that holds all");
        let indices = holder.matches("index").count();
        assert_eq!(indices, if bits == 32 { 5 } else { 3 }, "{bits} bits: {holder}");
    }
}

#[test]
fn a_pool_that_outgrows_its_indices_says_so() {
    let place = Place::new("outgrown");
    place.file(
        "a.c",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
         int main(void) { struct n *f = 0; printf(\"before\"); for (int i = 0; i < 40000; i++) {\n\
         struct n *p = malloc(sizeof *p); p->x = i; p->next = f; f = p; }\n\
         long s = 0; for (; f; f = f->next) s += f->x; printf(\" %ld\\n\", s); return 0; }\n",
    );
    for (bits, size) in [(8, "(960 bytes in use)"), (16, "(262080 bytes in use)")] {
        assert!(place.cc(&format!("-O2 --pool-bits={bits} {{}}/a.c -o {{}}/prog")));
        assert_eq!(
            place.run("prog"),
            (Some(0), "before 799980000\n".into()),
            "{bits} bits, without being asked for"
        );
        assert!(place.cc(&format!("-O2 --ptrcomp=static --pool-bits={bits} {{}}/a.c -o {{}}/prog")));
        let output = Command::new(place.path("prog")).output().expect("the program runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "before");
        for part in ["a.c:5 is full: compile with a larger --pool-bits", size] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
    assert!(place.cc("-O2 --ptrcomp=static --pool-bits=32 {}/a.c -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(0), "before 799980000\n".into()));
}

#[test]
fn the_report_as_a_page() {
    let place = Place::new("page");
    place.file("a.c", SHORT);
    assert!(place.cc("-O2 --ptrcomp=static --report=html {}/a.c -o {}/prog"));
    let page = std::fs::read_to_string(place.path("prog.html")).expect("the page");
    for part in [
        "<h1>Pools of prog</h1>",
        "In pools",
        "<td class=number>24<td class=number>12<td class=number>2",
        "struct n *n = malloc(sizeof *n);",
        "class=index",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    place.file("b.c", "#include <stdio.h>\nint main(void) { puts(\"1 < 2\"); return 0; }\n");
    assert!(place.cc("-O2 --report=html {}/b.c -o {}/prog2"));
    let page = std::fs::read_to_string(place.path("prog2.html")).expect("the page");
    assert!(page.contains("Compiled as clang does: it has no objects on the heap"), "{page}");
    assert!(!place.cc("--report=pdf {}/b.c -o {}/prog2"));
}

/// Labels as values: in tables, in a function that nobody calls, and taken without a computed goto.
const GOTOS: &str = "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int k; };\n\
    long unused(int i) { static void *const t[] = { &&a, &&b }; goto *t[i]; a: return 1; b: return 2; }\n\
    static const char *where(int i) { static void *t[2] = { &&here, 0 }; if (i) { here: return t[0] ? \"set\" : \"\"; } return \"\"; }\n\
    static long run(const unsigned char *p, long n) {\n\
    static void *const table[] = { &&push, &&add, &&loop, &&stop }; struct n *top = 0; long sum = 0;\n\
    const unsigned char *start = p; goto *table[*p++];\n\
    push: { struct n *e = malloc(sizeof *e); e->k = *p++; e->next = top; top = e; } goto *table[*p++];\n\
    add: for (struct n *e = top; e; e = e->next) sum += e->k; goto *table[*p++];\n\
    loop: if (n-- > 0) p = start; goto *table[*p++];\n\
    stop: return sum; }\n\
    int main(void) { unsigned char code[] = { 0, 5, 0, 7, 1, 2, 3 };\n\
    printf(\"%ld %s\\n\", run(code, 9), where(1)); return 0; }\n";

#[test]
fn functions_with_computed_gotos_get_small_pointers() {
    let place = Place::new("gotos");
    place.file("a.c", GOTOS);
    for mode in ["auto", "dynamic", "pool", "off", "static"] {
        assert!(place.cc(&format!("-O2 --ptrcomp={mode} {{}}/a.c -o {{}}/prog")));
        assert_eq!(place.run("prog"), (Some(0), "660 set\n".into()), "--ptrcomp={mode}");
    }
    assert!(has_pools(&place.path("prog")), "the list has small pointers");
}

#[test]
fn tentative_definitions_are_common_where_clang_has_them_so() {
    let place = Place::new("common");
    place.file("a.c", &format!("int many;\n{LIST}"));
    place.file("b.c", &format!("int many;\n{USER}"));
    assert!(place.cc("-O2 -fcommon {}/a.c {}/b.c -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(7), "45\n".into()));
    assert!(has_pools(&place.path("prog")), "what is common stays in the way of nothing");
    assert!(!place.cc("-O2 {}/a.c {}/b.c -o {}/prog2"), "the linker refuses two definitions, as with clang");
    assert!(!place.path("prog2").exists());
}

/// Objects with tables of functions, of which some take numbers and some objects.
const METHODS: &str = "#include <stdio.h>\n#include <stdlib.h>\nstruct n; typedef struct n n;\n\
    struct ops { n *(*make)(int); long (*value)(const n *); void (*end)(n *); };\n\
    struct n { const struct ops *ops; n *l, *r; WORD v; };\n\
    static n *make(int); static long value(const n *p) { return p->v + (p->l ? p->l->ops->value(p->l) * 2 : 0) + (p->r ? 1 : 0); }\n\
    static void end(n *p) { if (p->l) p->l->ops->end(p->l); free(p); }\n\
    static const struct ops ops = { make, value, end };\n\
    static n *make(int d) { n *p = malloc(sizeof *p); p->ops = &ops; p->v = d; p->l = d ? p->ops->make(d - 1) : 0; p->r = p->l; return p; }\n\
    static int seen; static void note(WORD x) { seen = x == 7; }\nstatic void (*volatile check)(WORD) = note;\n\
    int main(void) { n *p = make(9); check(7); printf(\"%ld %d\\n\", p->ops->value(p), seen); p->ops->end(p); return 0; }\n";

#[test]
fn calls_by_address_call_what_flows_there() {
    let place = Place::new("methods");
    for word in ["int", "long"] {
        place.file("a.c", &METHODS.replace("WORD", word));
        assert!(place.cc("-O2 -w --ptrcomp=static {}/a.c -o {}/prog"));
        assert_eq!(place.run("prog"), (Some(0), "1524 1\n".into()), "{word}");
        assert!(place.cc("-O2 -w --ptrcomp=static --emit=pools {}/a.c -o {}/pools"));
        let pools = std::fs::read_to_string(place.path("pools")).expect("the report");
        // A long may be an address, but `end` isn't called where `check` is.
        assert!(pools.starts_with("pool "), "{word}: {pools}");
    }
}
