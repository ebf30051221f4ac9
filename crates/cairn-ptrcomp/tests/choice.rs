//! Without `--ptrcomp`, a pool is static where it is proven to fit its indices, dynamic where not, and there is none
//! where it can be neither: no program ends because a pool is full, and the report says of each why it is what it is.

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
        let path = std::env::temp_dir().join(format!("cairn-cc-choice-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        std::fs::write(path.join("a.c"), program).expect("a file");
        Place(path)
    }

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

    fn report(&self, bits: u32) -> String {
        self.cc(&format!("-O2 --ptrcomp=auto --pool-bits={bits} --emit=pools"), "pools");
        std::fs::read_to_string(self.0.join("pools"))
            .expect("the report")
            .replace(&format!("{}/", self.0.display()), "")
    }
}

const START: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <setjmp.h>\n\
    struct n { struct n *next; int x; }; static volatile int many = 700;\n\
    static struct n *add(struct n *f, int x) { struct n *p = malloc(sizeof *p); p->x = x; p->next = f; return p; }\n\
    static long sum(struct n *p) { long s = 0; for (; p; p = p->next) s = s * 7 + p->x; return s % 1000003; }\n";

/// A program prints with 8 bits, 1 KiB of indices, what it prints with clang, and these are in its report.
fn check(name: &str, program: &str, parts: &[&str]) {
    let place = Place::new(name, &format!("{START}{program}"));
    place.cc("-O1 --ptrcomp=off", "program");
    let expected = place.run();
    assert_eq!(expected.0, Some(0), "{name}: {}", expected.1);
    for options in ["--pool-bits=8", "--pool-bits=8 --check-indices"] {
        place.cc(&format!("-O2 {options}"), "program");
        assert_eq!(place.run(), expected, "{name} with {options}\n{}", place.report(8));
    }
    let report = place.report(8);
    for part in parts {
        assert!(report.contains(part), "{name}: {part}\n{report}");
    }
}

/// A main that makes one list in this way, `f`, and prints what is in it.
fn list(name: &str, before: &str, make: &str, parts: &[&str]) {
    let program = format!(
        "{before}\nint main(void) {{ struct n *f = 0;\n{make}\nprintf(\"%ld\\n\", sum(f)); return 0; }}\n"
    );
    check(name, &program, parts);
}

#[test]
fn counted_loops_are_static() {
    for (name, make, most) in [
        ("up", "for (int i = 0; i < 50; i++) f = add(f, i);", 50),
        ("down", "for (int i = 100; i > 50; i--) f = add(f, i);", 50),
        ("threes", "for (unsigned i = 3; i <= 150; i += 3) f = add(f, i);", 50),
        ("inside", "for (int i = 0; i != 5; i++) for (long k = 10; k-- > 0;) f = add(f, i * k);", 50),
        ("once", "f = add(add(f, 5), many);", 2),
        (
            "leaves",
            "for (int i = 0; i < 50; i++) { if (i == many) break; if (i % 3) continue; f = add(f, i); }",
            50,
        ),
        ("last", "int i = 0; do { f = add(f, i); } while (++i < 50);", 50),
    ] {
        list(
            name,
            "",
            make,
            &["pool of struct n at a.c:5: 16 → 8 bytes", &format!("static: at most {most} allocations")],
        );
    }
}

/// What a proof by counting must not believe.
#[test]
fn what_can_t_be_counted_is_dynamic() {
    let loops = "dynamic: allocated in a loop whose rounds can't be counted";
    let calls = "which may be called any number of times";
    for (name, before, make, reason) in [
        ("variable", "", "for (int i = 0; i < many; i++) f = add(f, i);", loops),
        ("changed", "", "for (int i = 0; i < 60; i++) { f = add(f, i); if (many-- > 0) i--; }", loops),
        (
            "doubled",
            "",
            "for (unsigned i = 1; i < 1u << 31 && many; i = many ? i + 3000000 : 2) f = add(f, i);",
            loops,
        ),
        ("skipped", "", "for (int i = 0;;) { f = add(f, i); if (many-- < 0 && ++i > 5) break; }", loops),
        ("wraps", "", "for (unsigned char i = 1; i != 0; i += 2) { f = add(f, i); if (!many--) break; }", loops),
        (
            "overflows",
            "",
            "for (unsigned i = 4294967200u; i >= 9; i += 50) { f = add(f, i); if (!many--) break; }",
            loops,
        ),
        ("goto", "", "int i = 0; if (many & 1) goto b; a: i++; b: f = add(f, i); if (i < 600) goto a;", loops),
        (
            "recursion",
            "static struct n *more(struct n *f, int d) { f = add(f, d); return d ? more(f, d - 1) : f; }",
            "f = more(f, many);",
            calls,
        ),
        (
            "circle",
            "struct n *odd(struct n *, int); struct n *even(struct n *f, int d) { f = add(f, d); return d ? odd(f, d - 1) : f; }\n\
             struct n *odd(struct n *f, int d) { return d ? even(add(f, 1), d - 1) : f; }",
            "f = even(f, many);",
            calls,
        ),
        (
            "main",
            "static struct n *all; static int runs;\nint main(void);\nstatic int again(void) { return runs++ < 700 ? main() : 0; }",
            "all = add(all, runs); if (again()) return 1; f = all; if (--runs) return 0;",
            calls,
        ),
        (
            "pointers",
            "static struct n *all; static void one(void) { all = add(all, 1); }\nstatic void two(void) { all = add(all, 2); }\n\
             static void (*volatile which[2])(void) = { one, two };",
            "for (int i = 0; i < many; i++) which[i % 2](); f = all;",
            calls,
        ),
        (
            "constructor",
            "static struct n *all; static void more(int x) { all = add(all, x); }\n\
             __attribute__((constructor)) static void first(void) { for (int i = 0; i < 50; i++) more(i); }",
            "for (int i = 0; i < 50; i++) more(i); f = all;",
            calls,
        ),
        (
            "exit",
            "static struct n *all; static void last(void) { for (int i = 0; i < 9; i++) all = add(all, i); printf(\"%ld\\n\", sum(all)); }",
            "for (int i = 0; i < 31; i++) atexit(last);",
            calls,
        ),
        (
            "product",
            "static struct n *few(struct n *f) { for (int i = 0; i < 30; i++) f = add(f, i); return f; }",
            "for (int i = 0; i < 40; i++) f = few(f);",
            "dynamic: at most 1200 allocations, 19200 bytes",
        ),
        (
            "setjmp",
            "static jmp_buf here;",
            "int volatile v = 0; setjmp(here); f = add(f, ++v); if (v < 600) longjmp(here, 1);",
            "dynamic: _setjmp may run any allocation again",
        ),
    ] {
        list(name, before, make, &["dynamic pool of struct n at a.c:5", reason]);
    }
}

/// For one program, a proof depends on what indices reach.
#[test]
fn a_bound_may_be_too_large_for_short_indices() {
    let program = format!(
        "{START}int main(void) {{ struct n *f = 0; for (int i = 0; i < 5000; i++) f = add(f, i);\n\
         printf(\"%ld\\n\", sum(f)); return 0; }}\n"
    );
    let place = Place::new("bits", &program);
    assert!(place.report(8).contains("dynamic: at most 5000 allocations, 80000 bytes at a.c:5"));
    for bits in [16, 32] {
        let report = place.report(bits);
        assert!(report.contains("static: at most 5000 allocations, 80000 bytes at a.c:5"), "{report}");
    }
}

/// Both kinds beside each other: static objects that hold names, dynamic ones that hold addresses of static ones, and a
/// table that nothing is known of.
#[test]
fn static_and_dynamic_pools_in_one_program() {
    check(
        "both",
        "struct t { struct t *next, *last; struct n *mine; int v; struct n *fixed; };\n\
         struct head { struct t *first; struct n *fixed; struct head *other; int count; };\n\
         static struct head *head(struct n *fixed, struct head *other) { struct head *h = malloc(sizeof *h);\n\
         h->first = 0; h->fixed = fixed; h->other = other; h->count = 0; return h; }\n\
         static void push(struct head *h, int v) { struct t *t = calloc(1, sizeof *t); t->v = v; t->mine = add(0, v);\n\
         t->fixed = v % 3 ? h->fixed : 0; t->next = h->first;\n\
         if (h->first) h->first->last = t; h->first = t; h->count++; }\n\
         int main(void) { struct n *fixed = 0; for (int i = 0; i < 20; i++) fixed = add(fixed, i);\n\
         struct head *a = head(fixed, 0), *b = head(fixed->next, a); for (int i = 0; i < many; i++) push(i % 2 ? a : b, i);\n\
         long s = sum(fixed); for (struct head *h = b; h; h = h->other) for (struct t *t = h->first; t; t = t->next)\n\
         s = s * 3 + t->v + t->mine->x + (t->fixed ? t->fixed->x : 5) + (t->fixed == h->fixed) + (t->mine != 0)\n\
         + (t->next ? t->next->last == t : 9);\n\
         for (struct t *t = a->first; t;) { struct t *next = t->next; free(t->mine); free(t); t = next; } a->first = 0;\n\
         printf(\"%ld %d\\n\", s % 1000003, a->count + b->count); return 0; }\n",
        &["\ndynamic pool ", "\npool ", "    static: at most ", "    dynamic: allocated in a loop"],
    );
}

/// An address and a name are nothing that can be compared: one of the two pools is given up.
#[test]
fn names_are_not_compared_with_addresses() {
    check(
        "compared",
        "int main(void) { struct n *fixed = 0, *f = 0; for (int i = 0; i < 20; i++) fixed = add(fixed, i);\n\
         long s = 0; for (int i = 0; i < many; i++) { f = add(f, i); s += f == fixed; s += f->next == fixed->next; }\n\
         printf(\"%ld %ld %ld\\n\", s, sum(f), sum(fixed)); return 0; }\n",
        &["a pointer to a dynamic pool is compared with one to a static pool at a.c:8", "    static: at most 20 "],
    );
}

/// What is saved must be something beside the objects that stay as they are.
#[test]
fn layouts_that_save_too_little_stay() {
    let numbers =
        "struct leaf { double a, b, c, d; }; struct tree { struct leaf *all[12]; struct tree *next; };\n";
    let make = "struct tree *t = 0; for (int i = 0; i < many; i++) { struct tree *p = malloc(sizeof *p); p->next = t; t = p;\n\
        for (int k = 0; k < 12; k++) { p->all[k] = malloc(sizeof(struct leaf)); p->all[k]->a = i + k; } }\n\
        for (; t; t = t->next) f = add(f, (int)t->all[3]->a);";
    list("leaves", numbers, make, &["smaller pointers would save only 88 of 488 bytes", "16 → 8 bytes"]);
}

/// Arrays can't be dynamic, so what may outgrow its indices stays with malloc, for both reasons.
#[test]
fn what_is_neither_is_left_alone() {
    list(
        "neither",
        "",
        "for (int i = 0; i < many; i++) { struct n *p = malloc(2 * sizeof *p); p[1].x = i; p[1].next = f; p[0].next = p + 1;\n\
         p[0].x = 1; f = p; }",
        &[
            "as before struct n[] at a.c:9: it may outgrow its indices (allocated in a loop whose rounds can't be counted at a.c:9) and \
           can't be dynamic: ",
        ],
    );
    list(
        "sizes",
        "struct t { struct n *list[3]; };",
        "struct n **table = calloc(many, sizeof *table); struct t *t = malloc(sizeof *t); t->list[0] = f = add(f, 7);\n\
         t->list[1] = f = add(f, 8); table[5] = t->list[0]; f = add(table[5], 3);",
        &["static: at most 3 allocations"],
    );
}
