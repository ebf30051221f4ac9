//! What pools are called: the types of their objects, and the lines where a programmer would look for them.

mod place;

use place::Place;
use std::collections::BTreeSet;

const HEAD: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";

/// The report of a program in some files, without the directory.
fn report(place: &Place, options: &str, files: &[&str]) -> String {
    let files: Vec<String> = files.iter().map(|f| format!("{{}}/{f}")).collect();
    assert!(place.cc(&format!("{options} -w --emit=pools -o {{}}/pools {}", files.join(" "))));
    let text = std::fs::read_to_string(place.path("pools")).expect("the report");
    text.replace(&format!("{}/", place.0.display()), "")
}

/// The names in a report.
fn names(report: &str) -> Vec<&str> {
    let kinds = ["dynamic pool of ", "pool of ", "pool of arrays: ", "as before "];
    let name = |line| kinds.iter().find_map(|k| str::strip_prefix(line, k)).and_then(|l| l.split(": ").next());
    report.lines().filter_map(name).collect()
}

fn has(report: &str, expected: &[&str]) {
    let found = names(report);
    for name in expected {
        assert!(found.contains(name), "{name} is missing in\n{report}");
    }
    let distinct: BTreeSet<&&str> = found.iter().collect();
    assert_eq!(distinct.len(), found.len(), "two have the same name:\n{report}");
}

/// Two structures from one line.
const TWO: &str = "static void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }\n\
    struct list { struct list *next; int x; };\nstruct tree { struct tree *l, *r; int k; };\n\
    int main(void) { struct list *a = 0; struct tree *t = 0; int s = 0;\n\
    for (int i = 0; i < 9; i++) { struct list *p = xmalloc(sizeof *p);\np->x = i; p->next = a; a = p; }\n\
    for (int i = 0; i < 9; i++) { struct tree *p =\nxmalloc(sizeof *p); p->k = i; p->l = t; p->r = t; t = p; }\n\
    for (; a; a = a->next) s += a->x; for (; t; t = t->l) s += t->r ? t->r->k : 0; printf(\"%d\\n\", s); return 0; }\n";

#[test]
fn pools_are_named_after_the_callers_of_wrappers() {
    let place = Place::new("names-two");
    place.file("a.c", &format!("{HEAD}{TWO}"));
    let list = "struct list at a.c:8, by way of xmalloc (a.c:4)";
    let tree = "struct tree at a.c:11, by way of xmalloc (a.c:4)";
    for options in ["-O2", "-O1 -g", "-O3 -g", "-Os", "-O0 --ptrcomp=auto", "-O2 -fno-strict-aliasing"] {
        has(&report(&place, options, &["a.c"]), &[list, tree]);
    }
    assert!(report(&place, "-O2", &["a.c"]).contains("static: at most 9 allocations, 144 bytes at a.c:8\n"));
}

/// The linker takes structures of the same fields for one: each file knows its own.
#[test]
fn pools_are_named_across_files() {
    let place = Place::new("names-files");
    place.file("util.c", &format!("{HEAD}{}", TWO.lines().next().expect("a wrapper").replacen("static ", "", 1)));
    let part = |name: &str| {
        "#include <stdlib.h>\nvoid *xmalloc(size_t);\nstruct NAME { struct NAME *to; long n; };\n\
         long all_NAME;\nvoid NAME(long n) { struct NAME *p = xmalloc(sizeof *p);\n\
         p->n = n; p->to = 0; while (n--) { struct NAME *q = xmalloc(sizeof *q); q->n = n; q->to = p; p = q; }\n\
         for (; p; p = p->to) all_NAME += p->n; }\n"
            .replace("NAME", name)
    };
    place.file("one.c", &part("one"));
    place.file("two.c", &part("two"));
    place.file(
        "main.c",
        "#include <stdio.h>\nvoid one(long), two(long); extern long all_one, all_two;\n\
         int main(void) { one(5); two(6); printf(\"%ld\\n\", all_one + all_two); return 0; }\n",
    );
    for options in ["-O2", "-O2 -fno-strict-aliasing", "-O2 -g"] {
        let report = report(&place, options, &["util.c", "one.c", "two.c", "main.c"]);
        for name in ["one", "two"] {
            let expected = format!("struct {name} at {name}.c:5 and one more line, by way of xmalloc (util.c:4)");
            has(&report, &[&expected]);
        }
    }
}

/// Functions that are called by address give all callers objects of one node; a single one is called by name.
#[test]
fn wrappers_that_are_called_by_address() {
    let place = Place::new("names-address");
    let hooks = "static void *first(size_t n) { return malloc(n); }\nstatic void *second(size_t n) { return calloc(1, n); }\n\
        static void *(*get)(size_t) = first;\nstruct a { struct a *next; int x; };\n\
        int main(int c, char **v) { SET struct a *l = 0; int s = 0; for (int i = 0; i < 9; i++) {\n\
        struct a *p = get(sizeof *p); p->x = i; p->next = l; l = p; }\n\
        for (; l; l = l->next) s += l->x; printf(\"%d\\n\", s); return 0; }\n";
    place.file("a.c", &format!("{HEAD}{}", hooks.replace("SET", "")));
    has(&report(&place, "-O2", &["a.c"]), &["struct a at a.c:9, by way of first (a.c:4)"]);
    place.file("b.c", &format!("{HEAD}{}", hooks.replace("SET", "if (c > 1) get = second;")));
    has(&report(&place, "-O2", &["b.c"]), &["struct a at b.c:9, by way of first (b.c:4) or second (b.c:5)"]);
}

/// What is behind a header has the name, also where the wrapper was put into its caller.
#[test]
fn headers_and_wrappers_that_were_inlined() {
    let place = Place::new("names-inlined");
    place.file(
        "a.c",
        &format!(
            "{HEAD}struct head {{ size_t size, magic; }}; struct a {{ struct a *next; int x; }};\n\
             __attribute__((always_inline)) static inline void *quick(size_t n) {{\nreturn malloc(n); }}\n\
             static void *counted(size_t n) {{ struct head *h =\nquick(sizeof *h + n); h->size = n; h->magic = 7; return h + 1; }}\n\
             struct pair {{ struct pair *p; struct {{ struct a *a, *b; }} in; }};\n\
             static void set(struct a **place, struct a *a) {{ *place = a; }}\n\
             int main(int c, char **v) {{ struct a *l = 0; struct pair *q = 0; int s = 0;\nfor (int i = 0; i < 9; i++) {{\n\
             struct a *p = counted(sizeof *p); p->x = i; p->next = l; l = p;\n\
             struct pair *n = quick(sizeof *n); n->p = q; q = n; set(&n->in.a, p); set(&n->in.b, l->next); }}\n\
             for (; q; q = q->p) s += q->in.a->x + (q->in.b ? q->in.b->x : 0); for (; l; l = l->next) s += l->x;\n\
             printf(\"%d\\n\", s); return 0; }}\n"
        ),
    );
    let report = report(&place, "-O2", &["a.c"]);
    has(
        &report,
        &[
            "struct a at a.c:13, by way of counted (a.c:8), quick (a.c:6)",
            "struct pair at a.c:14, by way of quick (a.c:6)",
        ],
    );
}

#[test]
fn names_in_messages_and_on_the_page() {
    let place = Place::new("names-page");
    place.file("a.c", &format!("{HEAD}{TWO}"));
    assert!(place.cc("-O2 --report=html {}/a.c -o {}/prog"));
    let page = std::fs::read_to_string(place.path("prog.html")).expect("the page");
    for part in ["<b>struct list</b> at ", "a.c:8, by way of xmalloc (", "struct list *p = xmalloc(sizeof *p);"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let program = std::fs::read(place.path("prog")).expect("the program");
    let name = format!("struct tree at {0}/a.c:11, by way of xmalloc ({0}/a.c:4)\0", place.0.display());
    assert!(place.cc("-O2 --ptrcomp=static {}/a.c -o {}/prog"));
    let with_static = std::fs::read(place.path("prog")).expect("the program");
    let in_either = [&program, &with_static].iter().any(|p| p.windows(name.len()).any(|w| w == name.as_bytes()));
    assert!(in_either, "{name} is in the program, for its message");
}

#[test]
fn objects_that_are_no_structures() {
    let place = Place::new("names-plain");
    place.file(
        "a.c",
        &format!(
            "{HEAD}{}\ntypedef struct {{ int n; void *next; }} vec; union u {{ long n; double d; }};\n\
             int main(int c, char **v) {{\nunion u *u = xmalloc(sizeof *u); u->d = c;\n\
             vec *w = xmalloc(sizeof *w); w->n = c; w->next = 0;\n\
             char **names = xmalloc(c * sizeof *names); names[0] = v[0];\n\
             int (*m)[4] = xmalloc(c * sizeof *m); m[0][1] = 3;\n\
             struct {{ int a; long b; }} *anon = xmalloc(sizeof *anon); anon->a = 1; anon->b = c;\n\
             char *text = xmalloc(c + 1); text[c] = 0;\n\
             printf(\"%g %d %s %d %ld %s\\n\", u->d, w->n, names[0], m[0][1], anon->b, text); return 0; }}\n",
            TWO.lines().next().expect("a wrapper")
        ),
    );
    let lines = ["8-byte objects", "struct vec", "pointers", "int[]", "16-byte objects", "char[]"];
    let named =
        lines.iter().zip(7..).map(|(what, line)| format!("{what} at a.c:{line}, by way of xmalloc (a.c:4)"));
    let named: Vec<String> = named.collect();
    has(&report(&place, "-O2", &["a.c"]), &named.iter().map(String::as_str).collect::<Vec<_>>());
}

/// More lines than are counted, and objects of several types that the program treats as one.
#[test]
fn many_lines_and_types_have_one_name() {
    let place = Place::new("names-many");
    let push = "p = xmalloc(sizeof *p); p->next = l; p->x = c; l = p;\n".repeat(30);
    let wrapper = TWO.lines().next().expect("a wrapper");
    place.file(
        "a.c",
        &format!(
            "{HEAD}{wrapper}\nstruct n {{ struct n *next; int x; }};\n\
             int main(int c, char **v) {{ struct n *l = 0, *p; int s = 0;\n{push}\
             for (; l; l = l->next) s += l->x; printf(\"%d\\n\", s); return 0; }}\n"
        ),
    );
    has(&report(&place, "-O2", &["a.c"]), &["struct n at a.c:7 and more lines, by way of xmalloc (a.c:4)"]);
    place.file(
        "b.c",
        &format!(
            "{HEAD}{wrapper}\nstruct a {{ long tag; struct a *next; }}; struct b {{ long tag, more; void *next; }};\n\
             int main(int c, char **v) {{ void *all = 0; int s = 0;\nfor (int i = 0; i < 9; i++) if (i % c) {{\n\
             struct a *p = xmalloc(sizeof *p); p->tag = 0; p->next = all; all = p; }} else {{\n\
             struct b *p = xmalloc(sizeof *p); p->tag = 1; p->more = i; p->next = all; all = p; }}\n\
             while (all) {{ long t = *(long *)all; s += t; all = t ? ((struct b *)all)->next : ((struct a *)all)->next; }}\n\
             printf(\"%d\\n\", s); return 0; }}\n"
        ),
    );
    let expected = "struct a and struct b at b.c:8 and one more line, by way of xmalloc (b.c:4)";
    has(&report(&place, "-O2", &["b.c"]), &[expected]);
}
