//! Random C programs over linked structures: what they print must not depend on the compiler.
//!
//! A program is a few *themes* (a list, a tree, a table, ...), each with structure types of its own whose fields are
//! random in number, type and order, in two or three files, called in random order. Themes are written without
//! undefined behaviour: all pointers are null or valid, no address is printed, nothing depends on the order of
//! addresses.

mod place_themes;
mod stack_themes;
mod text_themes;
mod themes;

/// A generator of random numbers (xorshift), the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A program: files by name. The first of those in C has `main`, the last, [`STARTER`], may be code of another
/// compiler's; [`WRAPPER`] is for links with `--wrap=tick`.
pub struct Program {
    pub files: Vec<(String, String)>,
}

/// The file that starts threads, if there are any.
pub const STARTER: &str = "starter.c";
/// The file with `__wrap_tick`.
pub const WRAPPER: &str = "wrapper.c";

/// A structure type whose objects are linked.
pub struct Structure {
    pub name: String,
    /// Declarations of fields.
    fields: Vec<String>,
    /// Statements that fill the fields that the theme doesn't know, of `p` with the number `v`.
    pub fill: String,
    /// An expression of their values, of `p`.
    pub value: String,
}

impl Structure {
    /// With these fields, and others, in random order.
    pub fn new(random: &mut Random, name: &str, known: &[&str]) -> Structure {
        let mut fields: Vec<String> = known.iter().map(|f| f.to_string()).collect();
        let (mut fill, mut value) = (String::new(), String::from("0"));
        for i in 0..random.below(4) {
            let (field, set, get) = match random.below(9) {
                0 => (format!("int a{i}"), format!("p->a{i} = v * 3;"), format!("p->a{i}")),
                1 => (format!("double a{i}"), format!("p->a{i} = v * 0.5;"), format!("(long)p->a{i}")),
                2 => (format!("char a{i}"), format!("p->a{i} = (char)v;"), format!("p->a{i}")),
                3 => (
                    format!("short a{i}[3]"),
                    format!("p->a{i}[v % 3] = 7; p->a{i}[0] = 1;"),
                    format!("p->a{i}[0]"),
                ),
                4 => (
                    format!("char a{i}[12]"),
                    format!("snprintf(p->a{i}, 12, \"%d\", v);"),
                    format!("(long)strlen(p->a{i})"),
                ),
                5 => (
                    format!("union {{ int i; float f; }} a{i}"),
                    format!("p->a{i}.f = 1; p->a{i}.i = v;"),
                    format!("p->a{i}.i"),
                ),
                6 => (format!("long a{i}"), format!("p->a{i} = v;"), format!("p->a{i}")),
                7 => {
                    (format!("struct {{ char c; long l; }} a{i}"), format!("p->a{i}.l = v;"), format!("p->a{i}.l"))
                }
                _ => {
                    (format!("unsigned a{i}:5, b{i}:9"), format!("p->a{i} = v; p->b{i} = v;"), format!("p->b{i}"))
                }
            };
            let spread = random.below(fields.len() as u64 + 1) as usize;
            fields.insert(spread, field);
            fill.push_str(&set);
            value.push_str(&format!(" + {get}"));
        }
        if random.chance(30) {
            let first = fields.remove(0);
            fields.push(first);
        }
        Structure { name: name.to_string(), fields, fill, value }
    }

    pub fn declaration(&self) -> String {
        format!("struct {} {{ {}; }};\n", self.name, self.fields.join("; "))
    }
}

/// What a theme adds to the program.
#[derive(Default)]
pub struct Theme {
    /// Types and prototypes.
    pub header: String,
    /// Functions, each for some file.
    pub functions: Vec<String>,
    /// A statement that runs it and adds to `sum`.
    pub run: String,
}

/// A program of this seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let files = 1 + random.below(3) as usize;
    let mut header = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdarg.h>\n#include <setjmp.h>\n\
         void *xmalloc(size_t n);\nvoid *xcalloc(size_t n, size_t s);\n",
    );
    let mut texts: Vec<String> = (0..files).map(|_| "#include \"all.h\"\n".to_string()).collect();
    texts[0].push_str("void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }\n");
    texts[0]
        .push_str("void *xcalloc(size_t n, size_t s) { void *p = calloc(n, s); if (!p) abort(); return p; }\n");
    let mut main = String::from("int main(void) { long sum = 0;\n");
    for number in 0..4 + random.below(6) {
        let theme = themes::theme(&mut random, number);
        header.push_str(&theme.header);
        for function in theme.functions {
            let file = random.below(files as u64) as usize;
            texts[file].push_str(&function);
            texts[file].push('\n');
        }
        main.push_str(&format!("  {}\n  printf(\"%ld\\n\", sum);\n", theme.run));
        if random.chance(20) {
            main.push_str(&format!("  {}\n", theme.run));
        }
    }
    header.push_str("int tick(int x);\nint beat(int x);\n");
    texts[files - 1].push_str("int tick(int x) { return x + 3; }\n");
    let beat = random.below(files as u64) as usize;
    texts[beat].push_str("int beat(int x) { return tick(x) * 2; }\n");
    main.push_str("  sum += beat((int)(sum & 7));\n");
    let mut more = vec![(WRAPPER.to_string(), WRAPPED.to_string())];
    match random.below(10) {
        0 | 1 => {
            let links = Structure::new(&mut random, "par", &["struct par *next", "struct par *o", "int v"]);
            header.push_str("void both(void *(*f)(void *), void *a, void *b);\n");
            texts[0].push_str(&format!("{}{}", links.declaration(), parallel(&links)));
            main.push_str("  both(par_work, (void *)&par_ids[0], (void *)&par_ids[1]);\n");
            main.push_str("  printf(\"%ld %d\\n\", par_res[0], par_res[0] == par_res[1]);\n");
            more.push((STARTER.to_string(), STARTS.to_string()));
        }
        2 | 3 => {
            let links = Structure::new(&mut random, "last", &["struct last *next", "struct last *o", "int v"]);
            header.push_str("#include <sys/resource.h>\n");
            texts[0].push_str(&format!("{}{}", links.declaration(), until_full(&links)));
            main.push_str("  until_full();\n");
        }
        _ => {}
    }
    main.push_str("  printf(\"%ld\\n\", sum);\n  return (int)(sum & 63);\n}\n");
    texts[0].push_str(&main);
    let mut all = vec![("all.h".to_string(), header)];
    all.extend(texts.into_iter().enumerate().map(|(i, t)| (format!("f{i}.c"), t)));
    all.extend(more);
    Program { files: all }
}

const WRAPPED: &str = "int __real_tick(int);\nint __wrap_tick(int x) { return __real_tick(x) + 1000; }\n";

const STARTS: &str = "#include <pthread.h>\nvoid both(void *(*f)(void *), void *a, void *b) {\n\
    pthread_t t; pthread_create(&t, 0, f, a); f(b); pthread_join(t, 0); }\n";

/// Two threads make and drop lists at the same time.
fn parallel(links: &Structure) -> String {
    format!(
        "static struct par *par_slot[2]; static long par_res[2]; static const int par_ids[2] = {{ 0, 1 }};\n\
         static void *par_work(void *q) {{ int me = *(const int *)q; long t = 0; for (int r = 0; r < 40; r++) {{\n\
         for (int v = 0; v < 50; v++) {{ struct par *p = calloc(1, sizeof *p); p->v = v; {} p->o = par_slot[me];\n\
         p->next = par_slot[me]; par_slot[me] = p; }}\n\
         while (par_slot[me]) {{ struct par *p = par_slot[me]; t = t * 3 + p->v + ({}) + (p->o ? p->o->v : 1);\n\
         par_slot[me] = p->next; free(p); }} }} par_res[me] = t; return 0; }}\n",
        links.fill, links.value
    )
}

/// A list for as long as there is memory, which is there for other things when the list is gone.
fn until_full(links: &Structure) -> String {
    format!(
        "static void until_full(void) {{ struct rlimit r = {{ 100 << 20, 100 << 20 }}; setrlimit(RLIMIT_AS, &r);\n\
         for (int k = 0; k < 2; k++) {{ struct last *h = 0; int v = 0; long s = 0; for (;; v++) {{\n\
         struct last *p = malloc(sizeof *p); if (!p) break; memset(p, 0, sizeof *p); p->v = v; {}\n\
         p->next = h; p->o = h; h = p; }} while (h) {{ struct last *p = h; s += (p->o ? p->o->v + 1 : 0) - p->v;\n\
         h = h->next; free(p); }} char *big = malloc(50 << 20); printf(\"%d %ld %d\\n\", v > 10000, s, big != 0);\n\
         if (big) big[v % 1000] = 1; free(big); }} }}\n",
        links.fill
    )
}
