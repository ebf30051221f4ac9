//! What a link may contain besides C: options that give names other meanings, objects that were joined or edited, code
//! of other compilers, libraries that start threads, an allocator of the program's own, a system without memory. The
//! rule: what clang's program does, ours does; what isn't proven isn't compressed.

mod place;

use place::{Place, has_pools};
use std::path::Path;
use std::process::Command;

/// A list of five whose elements are summed by way of `twice`.
const LIST: &str = "#include <stdlib.h>\nstruct n { struct n *next; int v; struct n *o; };\n\
    struct n *mk(int k) { struct n *h = 0; for (int i = 0; i < k; i++) {\n\
    struct n *p = malloc(sizeof *p); p->v = i; p->o = h; p->next = h; h = p; } return h; }\n\
    int twice(int x) { return 2 * x; }\n";
const USER: &str = "#include <stdio.h>\nstruct n { struct n *next; int v; struct n *o; };\n\
    struct n *mk(int k); int twice(int x);\nint main(void) { int s = 0;\n\
    for (struct n *p = mk(5); p; p = p->next) s += twice(p->v); puts(\"hello\"); printf(\"%d\\n\", s); return 0; }\n";

impl Place {
    /// Runs a tool in the directory.
    fn tool(&self, line: &str) -> String {
        let mut words = line.split(' ');
        let output = Command::new(words.next().unwrap()).args(words).current_dir(&self.0).output();
        let output = output.unwrap_or_else(|e| panic!("{line}: {e}"));
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Compiles `a.c` and `b.c`, the list and its user, to objects.
    fn list(&self) {
        self.file("a.c", LIST);
        self.file("b.c", USER);
        assert!(self.cc("-O2 -c {}/a.c -o {}/a.o") && self.cc("-O2 -c {}/b.c -o {}/b.o"));
    }

    /// Links, and expects this of the program.
    fn expect(&self, line: &str, output: &str, pools: bool) {
        assert!(self.cc(&format!("-O2 {line} -o {{}}/prog")), "{line}");
        assert_eq!(self.run("prog"), (Some(0), output.to_string()), "{line}");
        assert_eq!(has_pools(&self.path("prog")), pools, "pools of {line}");
    }
}

#[test]
fn options_that_give_names_other_meanings_are_obeyed() {
    let place = Place::new("names");
    place.list();
    place.file("w.c", "int __real_twice(int); int __wrap_twice(int x) { return __real_twice(x) + 1000; }\n");
    place.file("t.c", "int thrice(int x) { return 3 * x; }\n");
    place.file("v", "{ global: main; local: *; };\n");
    place.file("o", "thrice = twice;\n");
    assert!(place.cc("-O2 -c {}/w.c -o {}/w.o") && place.cc("-O2 -c {}/t.c -o {}/t.o"));
    let both = "{}/a.o {}/b.o";
    place.expect(both, "hello\n20\n", true);
    place.expect(&format!("{both} {{}}/w.o -Wl,--wrap=twice"), "hello\n5020\n", false);
    place.expect(&format!("{both} -Xlinker --defsym -Xlinker thrice=twice"), "hello\n20\n", false);
    place.expect(&format!("{both} -Wl,--version-script={{}}/v"), "hello\n20\n", false);
    place.expect(&format!("{both} {{}}/o"), "hello\n20\n", false);
    place.expect(
        &format!("{both} -Wl,-O1,--as-needed -Wl,-z,relro -Wl,-rpath=/x -rdynamic"),
        "hello\n20\n",
        false,
    );
    place.expect(&format!("{both} -Wl,-O1,--as-needed -Wl,-z,relro -Wl,-rpath=/x -lm"), "hello\n20\n", true);
    // A definition that gives way to another one's.
    place.file("weak.c", &LIST.replace("int twice", "__attribute__((weak)) int twice"));
    place.file("strong.c", "int twice(int x) { return 3 * x; }\n");
    place.tool("clang-19 -O2 -c strong.c -o strong.o");
    place.expect("{}/weak.c {}/b.o {}/strong.o", "hello\n30\n", false);
    place.expect("{}/weak.c {}/b.o {}/strong.c", "hello\n30\n", true);
}

#[test]
fn objects_that_were_joined_or_edited_are_what_they_are() {
    let place = Place::new("joined");
    place.list();
    place.file(
        "c.c",
        "#include <stdio.h>\n__attribute__((constructor)) static void c(void) { puts(\"first\"); }\n",
    );
    place.file("p.c", "#include <stdio.h>\nint my_puts(const char *s) { return printf(\"my %s\\n\", s); }\n");
    place.tool("clang-19 -O2 -c c.c -o c.o");
    place.tool("clang-19 -O2 -c p.c -o p.o");
    place.tool("ld -r a.o b.o -o ab.o");
    place.expect("{}/ab.o", "hello\n20\n", true);
    for order in ["a.o b.o c.o", "c.o a.o b.o", "a.o c.o b.o"] {
        place.tool(&format!("ld -r {order} -o abc.o"));
        place.expect("{}/abc.o", "first\nhello\n20\n", false);
    }
    place.tool("objcopy --redefine-sym puts=my_puts b.o edited.o");
    place.expect("{}/a.o {}/edited.o {}/p.o", "my hello\n20\n", false);
    place.tool("objcopy --redefine-sym puts=my_puts ab.o edited.o");
    place.expect("{}/edited.o {}/p.o", "my hello\n20\n", false);
    // What says nothing of the code may go.
    assert!(place.cc("-O2 -g -c {}/a.c -o {}/a.o"));
    place.tool("strip --strip-debug a.o");
    place.tool("objcopy --strip-unneeded b.o");
    place.expect("{}/a.o {}/b.o", "hello\n20\n", true);
}

/// An allocator that counts, and never frees.
const OWN: &str = "#include <stddef.h>\n#include <string.h>\nstatic char heap[1 << 22]; static size_t at; int calls;\n\
    void *malloc(size_t n) { calls++; void *p = heap + at; at += (n + 15) & ~(size_t)15; return p; }\n\
    void free(void *p) { (void)p; }\nvoid *calloc(size_t a, size_t b) { return memset(malloc(a * b), 0, a * b); }\n\
    void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }\n";

#[test]
fn a_program_may_have_its_own_allocator() {
    let place = Place::new("allocator");
    place.list();
    place.file("own.c", OWN);
    place.file(
        "main.c",
        &USER
            .replace("puts(\"hello\")", "printf(\"%d \", calls >= 5)")
            .replace("struct n *mk", "extern int calls; struct n *mk"),
    );
    place.tool("clang-19 -O2 -fno-builtin -c own.c -o own.o");
    place.tool("clang-19 -O2 -fno-builtin -fPIC -shared own.c -o libown.so");
    for own in ["{}/own.o", "{}/own.c", "{}/libown.so -Wl,-rpath={}"] {
        place.expect(&format!("{{}}/a.o {{}}/main.c {own}"), "1 20\n", false);
    }
    // Whoever says so may have one at any time.
    place.expect("-fno-builtin-malloc {}/a.c {}/b.c", "hello\n20\n", false);
}

/// Lists that two functions make and drop at the same time, if somebody calls them so.
const WORK: &str = "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int v; struct n *o; };\n\
    static struct n *slot[2]; static long res[2]; static const int ids[2] = { 0, 1 };\n\
    static void *work(void *p) { int me = *(const int *)p; long t = 0; for (int r = 0; r < 2000; r++) {\n\
    for (int i = 0; i < 200; i++) { struct n *q = malloc(sizeof *q); q->v = i; q->o = slot[me]; q->next = slot[me]; slot[me] = q; }\n\
    long s = 0; while (slot[me]) { struct n *d = slot[me]; s = s * 3 + d->v + (d->o ? d->o->v : 1); slot[me] = d->next; free(d); }\n\
    t = t * 5 + s; } res[me] = t; return 0; }\n";

#[test]
fn threads_that_others_start_are_reckoned_with() {
    let place = Place::new("threads");
    let main = "void both(void *(*f)(void *), void *a, void *b);\n\
        int main(void) { both(work, (void *)&ids[0], (void *)&ids[1]); printf(\"%d\\n\", res[0] && res[0] == res[1]); return 0; }\n";
    place.file("main.c", &format!("{WORK}{main}"));
    place.file(
        "both.c",
        "#include <pthread.h>\nvoid both(void *(*f)(void *), void *a, void *b) { pthread_t t;\n\
         pthread_create(&t, 0, f, a); f(b); pthread_join(t, 0); }\n",
    );
    place.tool("clang-19 -O2 -fPIC -shared both.c -o libboth.so");
    place.tool("clang-19 -O2 -c both.c -o both.o");
    for other in ["{}/libboth.so -Wl,-rpath={}", "{}/both.o", "{}/both.c"] {
        place.expect(&format!("{{}}/main.c {other}"), "1\n", false);
        place.expect(&format!("{{}}/main.c {other} --ptrcomp=static"), "1\n", true);
    }
    // A timer whose function runs in a thread.
    place.file(
        "timer.c",
        &format!(
            "#include <signal.h>\n#include <time.h>\n#include <unistd.h>\n{WORK}static volatile int done;\n\
             static void tick(union sigval v) {{ work(v.sival_ptr); done = 1; }}\n\
             int main(void) {{ struct sigevent e = {{ 0 }}; e.sigev_notify = SIGEV_THREAD; e.sigev_notify_function = tick;\n\
             e.sigev_value.sival_ptr = (void *)&ids[0]; timer_t t; if (timer_create(CLOCK_MONOTONIC, &e, &t)) return 1;\n\
             struct itimerspec s = {{ {{ 0, 0 }}, {{ 0, 1000 }} }}; timer_settime(t, 0, &s, 0); work((void *)&ids[1]);\n\
             while (!done) usleep(1000); printf(\"%d\\n\", res[0] && res[0] == res[1]); return 0; }}\n"
        ),
    );
    place.expect("{}/timer.c", "1\n", false);
    // Nobody outside knows a function of this program, so no thread of a library's can be in it.
    place.file(
        "alone.c",
        &format!("{WORK}int main(void) {{ work((void *)&ids[0]); printf(\"%d\\n\", res[0] != 0); return 0; }}\n"),
    );
    place.expect("{}/alone.c {}/libboth.so -Wl,-rpath={}", "1\n", true);
}

/// A list for as long as there is memory, three times; between them as much for something else.
const UNTIL_FULL: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <sys/resource.h>\nstruct n { struct n *next; int v; struct n *o; };\n\
    static struct n *all; static struct n *build(long most) { struct n *h = 0; long c = 0; while (most--) {\n\
    struct n *p = calloc(1, sizeof *p); if (!p) break; p->v += c++; p->next = h; p->o = h ? h->next : 0; h = p; } return h; }\n\
    static void drop(struct n *h) { while (h) { struct n *d = h; h = h->next; free(d); } }\n\
    int main(void) { all = build(1000); struct rlimit r = { MOST, MOST }; setrlimit(RLIMIT_AS, &r);\n\
    for (int k = 0; k < 3; k++) { struct n *x = build(1L << 40); long s = 0, c = 0;\n\
    for (struct n *p = x; p; p = p->next, c++) s += p->v + (p->o ? p->o->v : 1);\n\
    printf(\"%d \", c > 100000 && s); drop(x); char *big = malloc(60 << 20);\n\
    printf(\"%d\\n\", big != 0); if (big) big[k] = 1; free(big); }\n\
    long s = 0; for (struct n *p = all; p; p = p->next) s = s * 3 + p->v; printf(\"%ld\\n\", s); return 0; }\n";

#[test]
fn without_memory_there_is_null() {
    let place = Place::new("memory");
    place.file("a.c", &UNTIL_FULL.replace("MOST", "100 << 20"));
    place.tool("clang-19 -O1 a.c -o plain");
    let expected = place.run("plain");
    assert!(expected.1.starts_with("1 1\n1 1\n1 1\n"), "{expected:?}");
    for mode in ["auto", "auto --pool-bits=8", "static", "pool"] {
        assert!(place.cc(&format!("-O2 --ptrcomp={mode} {{}}/a.c -o {{}}/prog")));
        assert_eq!(place.run("prog"), expected, "--ptrcomp={mode}");
        assert!(has_pools(&place.path("prog")), "--ptrcomp={mode}");
    }
}

#[test]
fn sizes_that_nothing_has_are_refused() {
    let place = Place::new("sizes");
    place.file(
        "a.c",
        "#include <stdio.h>\n#include <stdlib.h>\nstruct e { struct e *to; long v; }; struct h { struct e *t; struct e *u; };\n\
         __attribute__((noinline)) static struct e *table(size_t n) { return calloc(n, sizeof(struct e)); }\n\
         int main(int c, char **v) { (void)v; struct h *h = malloc(sizeof *h); h->t = table(9 + c);\n\
         for (int i = 0; i < 10; i++) { h->t[i].to = &h->t[(i + 3) % 10]; h->t[i].v = i; }\n\
         h->u = table(~(size_t)0 / 16 + 1 + c); struct e *more = realloc(h->t, (size_t)c << 60);\n\
         printf(\"%d %d %ld\\n\", !h->u, !more, h->t[4].to->v); more = realloc(h->t, 40 * sizeof *more);\n\
         h->t = more; printf(\"%ld\\n\", h->t[9].v); return 0; }\n",
    );
    assert!(place.cc("-O2 --ptrcomp=static {}/a.c -o {}/prog"));
    assert_eq!(place.run("prog"), (Some(0), "1 1 7\n9\n".into()));
    assert!(has_pools(&place.path("prog")));
}

#[test]
fn what_is_rewritten_can_be_debugged() {
    let place = Place::new("lines");
    place.list();
    assert!(place.cc("-O1 -g -fno-inline -c {}/a.c -o {}/a.o") && place.cc("-O1 -g -c {}/b.c -o {}/b.o"));
    place.expect("{}/a.o {}/b.o", "hello\n20\n", true);
    let names = place.tool("nm prog");
    for (function, at) in [("main", "b.c:4"), ("mk", "a.c:3")] {
        let address = names.lines().find_map(|l| {
            l.split_once([' '])
                .filter(|w| w.1.ends_with(&format!(" {function}")) || w.1.contains(&format!(" {function}.pooled")))
        });
        let address = address.unwrap_or_else(|| panic!("no {function} in\n{names}")).0;
        let found = place.tool(&format!("addr2line -f -e prog {address}"));
        assert!(
            found.starts_with(&format!("{function}\n")) && found.trim_end().ends_with(at),
            "{function}: {found}"
        );
    }
    // Without -g, as small as before.
    place.list();
    place.expect("{}/a.o {}/b.o", "hello\n20\n", true);
    assert!(!place.tool("objdump -h prog").contains(".debug_line"));
}

#[test]
fn reports_name_files_wherever_they_lie() {
    // A directory that has its beginning in common with the one where the compiler works.
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let place = Place(directory);
    place.list();
    assert!(place.cc("-O2 {}/a.o {}/b.o -o {}/prog --report=html"));
    let page = std::fs::read_to_string(place.path("prog.html")).expect("the page");
    assert!(page.contains("struct n *p = malloc(sizeof *p);"), "the line of a.c is not quoted:\n{page}");
}
