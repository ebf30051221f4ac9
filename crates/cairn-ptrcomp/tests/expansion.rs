//! Pools that outgrow their indices: `--ptrcomp=dynamic` at every number of bits prints what clang's program prints,
//! and the pool is told to be one that can grow.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Place {
    fn new(name: &str, program: &str) -> Place {
        let path = std::env::temp_dir().join(format!("cairn-cc-expansion-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        std::fs::write(path.join("a.c"), program).expect("a file");
        Place(path)
    }

    /// Compiles the program.
    fn cc(&self, options: &str, output: &str) {
        let mut words: Vec<OsString> = options.split(' ').map(OsString::from).collect();
        words.extend(["-w".into(), self.0.join("a.c").into(), "-o".into(), self.0.join(output).into()]);
        assert_eq!(cairn_ptrcomp::cc(&words), ExitCode::SUCCESS, "{options}");
    }

    fn run(&self) -> (Option<i32>, String) {
        let output = Command::new(self.0.join("program")).output().expect("the program runs");
        let all = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&all).into_owned())
    }

    fn pools(&self, options: &str) -> String {
        self.cc(&format!("-O2 --ptrcomp=dynamic --emit=pools {options}"), "pools");
        std::fs::read_to_string(self.0.join("pools")).expect("the report")
    }
}

/// A program prints the same in all modes, checked and unchecked, and has these lines in its report.
fn check(name: &str, program: &str, pools: &[&str]) {
    let place = Place::new(name, program);
    place.cc("-O1 --ptrcomp=off", "program");
    let expected = place.run();
    assert_eq!(expected.0, Some(0), "{name}: {}", expected.1);
    for options in ["--pool-bits=8", "--pool-bits=16", "--pool-bits=32", "--pool-bits=8 --check-indices"] {
        for level in ["-O0", "-O2"] {
            place.cc(&format!("{level} --ptrcomp=dynamic {options}"), "program");
            assert_eq!(place.run(), expected, "{name} with {level} {options}");
        }
    }
    let report = place.pools("--pool-bits=32");
    for line in pools {
        assert!(report.contains(line), "{name}: {line}\n{report}");
    }
}

#[test]
fn a_list_that_grows() {
    check(
        "list",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
         int main(void) { struct n *f = 0, *tenth = 0; for (int i = 0; i < 100000; i++) {\n\
         struct n *p = malloc(sizeof *p); p->x = i; p->next = f; f = p; if (i == 10) tenth = p; }\n\
         long s = 0; for (struct n *p = f; p; p = p->next) s += p->x; printf(\"%ld %d\\n\", s, tenth->next->x);\n\
         while (f) { struct n *p = f->next; free(f); f = p; } return 0; }\n",
        &["dynamic pool ", "16 → 8 bytes, 1 pointers smaller"],
    );
}

/// Free objects are remembered across the expansion, in both forms, and given out again.
#[test]
fn what_was_freed_is_used_again() {
    check(
        "freed",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; struct n *prev; long x; };\n\
         static struct n *f; static long made;\n\
         static void add(int i) { struct n *p = i % 2 ? calloc(1, sizeof *p) : malloc(sizeof *p); made++;\n\
         p->prev = 0; p->x = (i % 2 ? p->x : 0) + i; p->next = f; if (f) f->prev = p; f = p; }\n\
         static void thin(int k) { for (struct n *p = f; p;) { struct n *q = p->next; if (p->x % k == 0) {\n\
         if (p->prev) p->prev->next = q; else f = q; if (q) q->prev = p->prev; free(p); } p = q; } }\n\
         static long sum(void) { long s = 0; for (struct n *p = f; p; p = p->next)\n\
         s = s * 3 + p->x + (p->next && p->next->prev == p); return s; }\n\
         int main(void) { int i = 0; for (int round = 0; round < 12; round++) {\n\
         for (int n = 0; n < 20 << round; n++) add(i++); thin(3); printf(\"%ld\\n\", sum());\n\
         for (int n = 0; n < 3 << round; n++) add(i++); thin(2); printf(\"%ld\\n\", sum()); }\n\
         printf(\"%ld\\n\", made); return 0; }\n",
        &["24 → 16 bytes, 2 pointers smaller"],
    );
}

/// A pool of leaves outgrows its indices before the trees that point to it: they are expanded as its sources, though
/// they have few objects; the leaves, which point nowhere, stay.
#[test]
fn sources_are_expanded() {
    check(
        "sources",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct leaf { long w; char text[8]; }; struct t { struct t *l, *r; struct leaf *leaf[3]; int x; };\n\
         struct list { struct list *next; struct leaf *leaf; struct t *tree; };\n\
         static struct leaf *leaf(long w) { struct leaf *p = malloc(sizeof *p); p->w = w; snprintf(p->text, 8, \"%ld\", w);\n\
         return p; }\n\
         static struct t *grow(int d) { if (!d) return 0; struct t *t = malloc(sizeof *t); memset(t, 0, sizeof *t);\n\
         t->x = d; t->leaf[d % 3] = leaf(d); t->l = grow(d - 1); t->r = grow(d - 2 > 0 ? d - 2 : 0); return t; }\n\
         static long sum(struct t *t) { long s = 0; if (!t) return 1; for (int i = 0; i < 3; i++)\n\
         if (t->leaf[i]) s += t->leaf[i]->w + strlen(t->leaf[i]->text); return s + t->x + sum(t->l) * 2 + sum(t->r); }\n\
         int main(void) { struct t *t = grow(6); struct list *l = 0; long s = sum(t);\n\
         for (int i = 0; i < 5; i++) { struct list *p = malloc(sizeof *p); p->next = l; p->tree = t; p->leaf = leaf(i); l = p; }\n\
         struct leaf *first = t->leaf[0]; struct leaf *kept = l->leaf; long all = 0;\n\
         for (int i = 0; i < 30000; i++) { struct leaf *p = leaf(i); all += p->w; if (i % 7000 == 0) { l->leaf = p; s += sum(t); } }\n\
         for (struct list *p = l; p; p = p->next) s = s * 5 + p->leaf->w + sum(p->tree);\n\
         printf(\"%ld %ld %s %d\\n\", s, all, kept->text, first == t->leaf[0]); return 0; }\n",
        &["24 → 12 bytes, 3 pointers smaller", "48 → 24 bytes, 5 pointers smaller"],
    );
}

/// Two nodes of a function's graph that are one for its caller: `*p` and `*p->peer->owner`.
#[test]
fn names_of_one_pool_are_compared_through_two_parameters() {
    check(
        "owner",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct b; struct a { struct a *next; struct b *peer; int key; };\n\
         struct b { struct a *owner; struct b *peer; int w; };\n\
         static struct a *make(int n) { struct a *f = 0; struct b *last = 0; for (int i = 0; i < n; i++) {\n\
         struct a *p = calloc(1, sizeof *p); struct b *q = malloc(sizeof *q); q->owner = i % 5 ? p : f; q->peer = last;\n\
         q->w = i; last = q; p->peer = q; p->key = i; p->next = f; f = p; } return f; }\n\
         static long sum(struct a *p, struct a *other) { long t = 0; for (; p; p = p->next) { t += p->key + p->peer->w\n\
         + 3 * (p->peer->owner == p) + 7 * (p->peer->owner != p->next) + (p->peer->peer == other->peer);\n\
         other = other->next ? other->next : other; } return t; }\n\
         int main(void) { struct a *l = make(100), *m = make(2000); printf(\"%ld %ld %ld\\n\", sum(l, l->next),\n\
         sum(l, m), sum(m, m->next)); return 0; }\n",
        &["24 → 12 bytes, 2 pointers smaller"],
    );
}

/// A graph: nodes and edges in pools that point to each other, a table that is no pool and holds names.
#[test]
fn graphs_of_several_pools() {
    check(
        "graph",
        "#include <stdio.h>\n#include <stdlib.h>\n\
         struct edge; struct node { struct edge *out; struct node *next; int mark, id; };\n\
         struct edge { struct node *to; struct edge *next; short weight; };\n\
         static struct node *all; static struct node *table[64];\n\
         static struct node *node(int id) { struct node *n = malloc(sizeof *n); n->out = 0; n->mark = 0; n->id = id;\n\
         n->next = all; all = n; return n; }\n\
         static void edge(struct node *a, struct node *b, int w) { struct edge *e = malloc(sizeof *e);\n\
         e->to = b; e->next = a->out; e->weight = w; a->out = e; }\n\
         static long walk(struct node *n, int mark) { if (!n || n->mark == mark) return 0; n->mark = mark; long s = n->id;\n\
         for (struct edge *e = n->out; e; e = e->next) s += e->weight + walk(e->to, mark); return s; }\n\
         int main(void) { for (int i = 0; i < 64; i++) table[i] = node(i);\n\
         for (int round = 1; round < 200; round++) { for (int i = 0; i < 64; i += 3)\n\
         edge(table[i], table[(i * 7 + round) % 64], round); if (round % 9 == 0) edge(table[round % 64], node(round), 2);\n\
         if (round % 40 == 0) printf(\"%ld\\n\", walk(table[0], round)); }\n\
         struct edge *dead = table[0]->out; table[0]->out = 0; while (dead) { struct edge *e = dead->next; free(dead); dead = e; }\n\
         printf(\"%ld\\n\", walk(all, 1000)); return table[0]->out == 0 ? 0 : 1; }\n",
        &["24 → 16 bytes, 2 pointers smaller", "24 → 12 bytes, 2 pointers smaller"],
    );
}

/// What can have no dynamic pool, with the reason; programs print the same nevertheless.
#[test]
fn refusals_have_reasons() {
    let list = "struct n { struct n *next; int x, y; int a[4]; };\n";
    let make = "struct n *f = 0; for (int i = 0; i < 600; i++) { struct n *p = malloc(sizeof *p); p->x = i; p->y = 2; \
                p->next = f; f = p; }\n";
    let includes = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    for (name, before, after, reason) in [
        (
            "inside",
            "",
            "int *y = f->x % 2 ? &f->a[f->y] : &f->next->a[1]; f = f->next; *y = 5; printf(\"%d\", *y + f->x);",
            "a pointer into an object",
        ),
        (
            "compared",
            "",
            "int *y = f->x % 2 ? &f->y : &f->next->y; f = f->next; printf(\"%d\", y == &f->x);",
            "a pointer into an object is compared",
        ),
        (
            "array",
            "",
            "struct n *a = malloc(9 * sizeof *a); a->next = 0; a[3].x = 4; a[3].next = f; f = f->x % 2 ? a + 3 : f->next; printf(\"%d\", f->x);",
            "a step from an object to the next",
        ),
        (
            "given",
            "static int get(int *x) { return *x; }\n",
            "f->a[f->y] = 3; printf(\"%d\", get(&f->a[f->y]));",
            "is given a pointer into",
        ),
        (
            "stack",
            "",
            "struct n s[2] = { { f, 1, 2 } }; f = f->x % 2 ? s : f->next; printf(\"%d\", f->next->x);",
            "on the stack",
        ),
        (
            "threads",
            "#include <pthread.h>\nstatic void *go(void *p) { return p; }\n",
            "pthread_t t; pthread_create(&t, 0, go, 0); pthread_join(t, 0); printf(\"%d\", f->x);",
            "pthread_create is called, and code outside knows go: threads would see objects move",
        ),
    ] {
        let program = format!("{includes}{list}{before}int main(void) {{ {make} {after} return 0; }}\n");
        let place = Place::new(name, &program);
        place.cc("-O1 --ptrcomp=off", "program");
        let expected = place.run();
        place.cc("-O2 --ptrcomp=dynamic --pool-bits=8", "program");
        assert_eq!(place.run(), expected, "{name}");
        let report = place.pools("");
        assert!(report.contains(reason), "{name}: {reason}\n{report}");
        assert!(!report.contains("dynamic pool"), "{name}: {report}");
    }
}

/// Where the system gives few addresses, a pool asks for no more than it needs, also when it is expanded.
#[test]
fn a_pool_takes_few_addresses() {
    let place = Place::new(
        "addresses",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int x; };\n\
         int main(void) { struct n *f = 0; printf(\"before\"); for (int i = 0; i < 1000; i++) {\n\
         struct n *p = malloc(sizeof *p); p->x = i; p->next = f; f = p; }\n\
         long s = 0; for (; f; f = f->next) s += f->x; printf(\" %ld\\n\", s); return 0; }\n",
    );
    place.cc("-O2 --ptrcomp=dynamic --pool-bits=8", "program");
    for kilobytes in ["8000", "40000", "unlimited"] {
        let program = place.0.join("program");
        let script = format!("ulimit -v {kilobytes}; exec \"$0\"");
        let output = Command::new("sh").arg("-c").arg(script).arg(program).output().expect("sh runs");
        let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!((said.as_ref(), complaint.as_ref()), ("before 499500\n", ""), "{kilobytes} KB");
    }
}

/// Who follows a null pointer is told, as with clang: the page that null indices lead to is not mapped. Small pools
/// have no page to spare for that.
#[test]
fn a_null_index_leads_nowhere() {
    use std::os::unix::process::ExitStatusExt;
    let follows = |how: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nstruct n {{ struct n *next; int v; }};\n\
             int main(int c, char **a) {{ struct n *l = 0; int s = 0;\n\
             for (int i = 0; i < c + 3; i++) {{ struct n *p = malloc(sizeof *p); p->v = i; p->next = l; l = p; }}\n\
             for (int i = 0; i < 10; i++) {{ {how} l = l->next; }} printf(\"%d\\n\", s); }}"
        )
    };
    for (name, program) in [("null-read", follows("s += l->v;")), ("null-write", follows("l->v = s++;"))] {
        let place = Place::new(name, &program);
        for options in ["static", "dynamic", "auto", "pool", "static --check-indices"] {
            place.cc(&format!("-O2 --ptrcomp={options}"), "program");
            let status = Command::new(place.0.join("program")).output().expect("the program begins").status;
            let signal = status.signal().expect("a signal");
            assert!([libc::SIGSEGV, libc::SIGABRT].contains(&signal), "{name} with {options}: {status}");
        }
    }
}
