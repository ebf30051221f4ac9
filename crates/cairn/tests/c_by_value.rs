//! Structures by value against clang: C that is made at random calls itself, Scheme calls it, both print the same.
//!
//! Every function mixes the bits of all fields of its arguments into one number, which it keeps, and fills its result
//! from that number: so a byte in a wrong place shows in both. Scheme calls it by `c-procedure` with structures of
//! `define-c-struct`, and through the header. `CAIRN_FUZZ_SEED` makes other signatures.

use std::fmt::Write;
use std::fs;
use std::process::Command;

mod common;
use common::{Directory, cairn, printed};

/// Numbers that look random (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }
}

/// Names in Scheme and in C, and bytes.
const SCALARS: [(&str, &str, usize); 12] = [
    ("int8", "int8_t", 1),
    ("uint8", "uint8_t", 1),
    ("int16", "int16_t", 2),
    ("uint16", "uint16_t", 2),
    ("int", "int", 4),
    ("unsigned", "unsigned", 4),
    ("long", "long", 8),
    ("size_t", "size_t", 8),
    ("float", "float", 4),
    ("float", "float", 4),
    ("double", "double", 8),
    ("double", "double", 8),
];

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Void,
    Scalar(usize),
    Struct(usize),
}

struct Structure {
    fields: Vec<(Type, Option<usize>)>,
    bytes: usize,
    alignment: usize,
}

struct Made {
    structs: Vec<Structure>,
    functions: Vec<(Type, Vec<Type>)>,
}

impl Made {
    fn size(&self, t: Type) -> (usize, usize) {
        match t {
            Type::Void => (0, 1),
            Type::Scalar(i) => (SCALARS[i].2, SCALARS[i].2),
            Type::Struct(i) => (self.structs[i].bytes, self.structs[i].alignment),
        }
    }
    fn c(t: Type) -> String {
        match t {
            Type::Void => "void".into(),
            Type::Scalar(i) => SCALARS[i].1.into(),
            Type::Struct(i) => format!("struct s{i}"),
        }
    }
    fn scheme(t: Type) -> String {
        match t {
            Type::Void => "void".into(),
            Type::Scalar(i) => SCALARS[i].0.into(),
            Type::Struct(i) => format!("s{i}"),
        }
    }

    fn new(random: &mut Random, functions: usize) -> Made {
        let mut made = Made { structs: Vec::new(), functions: Vec::new() };
        while made.structs.len() < 24 {
            // the first ones are small
            let most = [8, 16, 16, 24, 72][made.structs.len() * 5 / 24];
            let mut s = Structure { fields: Vec::new(), bytes: 0, alignment: 1 };
            for _ in 0..1 + random.below(6) {
                let t = match (random.below(4), made.structs.len()) {
                    (0, n @ 1..) => Type::Struct(random.below(n)),
                    _ => Type::Scalar(random.below(SCALARS.len())),
                };
                let length = (random.below(4) == 0).then(|| 1 + random.below(4));
                let (bytes, alignment) = made.size(t);
                let end = s.bytes.next_multiple_of(alignment) + bytes * length.unwrap_or(1);
                if end.next_multiple_of(s.alignment.max(alignment)) <= most {
                    (s.bytes, s.alignment) = (end, s.alignment.max(alignment));
                    s.fields.push((t, length));
                }
            }
            if !s.fields.is_empty() {
                s.bytes = s.bytes.next_multiple_of(s.alignment);
                made.structs.push(s);
            }
        }
        for _ in 0..functions {
            let mut any = |none: bool| match random.below(10) {
                0..6 => Type::Struct(random.below(24)),
                6 if none => Type::Void,
                _ => Type::Scalar(random.below(SCALARS.len())),
            };
            let result = any(true);
            let most = [2, 4, 7, 12][made.functions.len() % 4];
            let arguments = (0..1 + made.functions.len() % most).map(|_| any(false)).collect();
            made.functions.push((result, arguments));
        }
        made
    }

    fn header(&self) -> String {
        let mut text = "#include <stddef.h>\n#include <stdint.h>\n".to_string();
        for (i, s) in self.structs.iter().enumerate() {
            let _ = write!(text, "struct s{i} {{");
            for (j, (t, length)) in s.fields.iter().enumerate() {
                let _ =
                    write!(text, " {} f{j}{};", Made::c(*t), length.map_or(String::new(), |n| format!("[{n}]")));
            }
            let _ = writeln!(text, " }};\nuint64_t mix_s{i}(uint64_t h, const void *s);");
        }
        for (i, f) in self.functions.iter().enumerate() {
            let _ = writeln!(text, "{};", Made::prototype(i, f));
        }
        text
    }

    fn prototype(i: usize, (result, arguments): &(Type, Vec<Type>)) -> String {
        let parameters = arguments.iter().enumerate().map(|(j, t)| format!("{} a{j}", Made::c(*t)));
        format!("{} g{i}({})", Made::c(*result), parameters.collect::<Vec<_>>().join(", "))
    }

    /// What does something with each scalar in a field.
    fn each(&self, text: &mut String, (t, length): (Type, Option<usize>), place: &str, verb: &str) {
        for i in 0..length.unwrap_or(1) {
            let place = length.map_or(place.to_string(), |_| format!("{place}[{i}]"));
            let _ = match t {
                Type::Struct(i) => writeln!(text, "  h = {verb}_s{i}(h, &{place});"),
                _ => writeln!(text, "  h = {verb}(h, &{place}, sizeof {place});"),
            };
        }
    }

    fn source(&self) -> String {
        let mut text = "#include \"random.h\"\n#include <string.h>
static uint64_t mix(uint64_t h, const void *p, size_t n) {
  uint64_t word = 0;
  memcpy(&word, p, n);
  return (h ^ word) * 0x9E3779B97F4A7C15 + (h >> 29);
}
static uint64_t fill(uint64_t h, void *p, size_t n) {
  uint64_t word = h >> 7;
  memcpy(p, &word, n);
  return h * 0xD1342543DE82EF95 + 99;
}
static uint64_t kept;
uint64_t last(void) { return kept; }\n"
            .to_string();
        for (i, s) in self.structs.iter().enumerate() {
            for (verb, constant) in [("mix", "const "), ("fill", "")] {
                let access = if verb == "fill" { "static " } else { "" };
                let _ = writeln!(
                    text,
                    "{access}uint64_t {verb}_s{i}(uint64_t h, {constant}void *v) {{\n  {constant}struct s{i} *s = v;"
                );
                for (j, field) in s.fields.iter().enumerate() {
                    self.each(&mut text, *field, &format!("s->f{j}"), verb);
                }
                text += "  return h;\n}\n";
            }
        }
        for (i, f) in self.functions.iter().enumerate() {
            let _ = writeln!(text, "{} {{\n  uint64_t h = {i};", Made::prototype(i, f));
            for (j, t) in f.1.iter().enumerate() {
                self.each(&mut text, (*t, None), &format!("a{j}"), "mix");
            }
            text += "  kept = h;\n";
            match f.0 {
                Type::Void => {}
                Type::Struct(_) => {
                    let _ = writeln!(text, "  {} r;", Made::c(f.0));
                    self.each(&mut text, (f.0, None), "r", "fill");
                    text += "  return r;\n";
                }
                t => {
                    let _ = writeln!(text, "  return ({})(h >> 60);", Made::c(t));
                }
            }
            text += "}\n";
        }
        text
    }

    /// Programs in C and in Scheme that make the same calls.
    fn callers(&self, random: &mut Random) -> (String, String) {
        let mut c =
            "#include \"random.h\"\n#include <stdio.h>\n#include <string.h>\nuint64_t last(void);\n".to_string();
        let mut scheme =
            "(import (scheme base) (scheme write) (cairn c) (srfi 4) (prefix (c \"random.h\" \"random\") h:))
(define lib (c-library \"./librandom.so\"))
(define last (c-procedure uint64 \"last\" () lib))
(define (say . xs) (for-each (lambda (x) (write x) (display \" \")) xs))
(define (behind bytes) (let ((p (c-malloc (bytevector-length bytes)))) (pointer-copy! p bytes) p))\n"
                .to_string();
        for (i, s) in self.structs.iter().enumerate() {
            let _ = write!(scheme, "(define-c-struct s{i}");
            for (j, (t, length)) in s.fields.iter().enumerate() {
                let t = Made::scheme(*t);
                let t = length.map_or(t.clone(), |n| format!("(array {t} {n})"));
                let _ = write!(scheme, " (f{j} {t})");
            }
            let _ =
                writeln!(scheme, ")\n(define mix-s{i} (c-procedure uint64 \"mix_s{i}\" (uint64 bytevector) lib))");
        }
        c += "int main(void) {\n";
        for (i, (result, arguments)) in self.functions.iter().enumerate() {
            let types: Vec<String> = arguments.iter().map(|t| Made::scheme(*t)).collect();
            let _ = writeln!(
                scheme,
                "(define g{i} (c-procedure {} \"g{i}\" ({}) lib))",
                Made::scheme(*result),
                types.join(" ")
            );
            let (mut in_c, mut in_scheme) = (Vec::new(), Vec::new());
            c += "  {\n";
            for (j, t) in arguments.iter().enumerate() {
                if let Type::Struct(s) = t {
                    let n = self.structs[*s].bytes;
                    let bytes: Vec<String> = (0..n).map(|_| (random.next() >> 40 & 255).to_string()).collect();
                    let _ = writeln!(
                        c,
                        "    static const unsigned char b{j}[] = {{{}}};\n    struct s{s} a{j};\n    memcpy(&a{j}, \
                         b{j}, sizeof a{j});",
                        bytes.join(",")
                    );
                    let longer = ["", " 1 2 3"][random.below(2)];
                    in_c.push(format!("a{j}"));
                    let bytes = bytes.join(" ");
                    in_scheme.push(match random.below(4) {
                        0 => format!("(behind (bytevector {bytes}))"),
                        1 => format!("(u8vector {bytes}{longer})"),
                        2 => format!("#u8({bytes}{longer})"),
                        _ => format!("(bytevector {bytes}{longer})"),
                    });
                } else if let Type::Scalar(s) = t {
                    let n = random.below(100);
                    let dot = if matches!(SCALARS[*s].1, "float" | "double") { ".5" } else { "" };
                    in_c.push(format!("{n}{dot}"));
                    in_scheme.push(format!("{n}{dot}"));
                }
            }
            let call = format!("g{i}({})", in_c.join(", "));
            let _ = match result {
                Type::Void => writeln!(c, "    {call}; {call};\n    printf(\"{i} %lu %lu\\n\", last(), last());"),
                Type::Struct(s) => writeln!(
                    c,
                    "    struct s{s} r = {call};\n    uint64_t m = mix_s{s}(1, &r);\n    printf(\"{i} %zu %lu %zu %lu \
                     %lu\\n\", sizeof r, m, sizeof r, m, last());"
                ),
                Type::Scalar(_) => {
                    writeln!(c, "    double r = {call};\n    printf(\"{i} %.0f %.0f %lu\\n\", r, r, last());")
                }
            };
            c += "  }\n";
            let _ = write!(scheme, "(say {i})");
            for prefix in ["", "h:"] {
                let call = format!("({prefix}g{i} {})", in_scheme.join(" "));
                let _ = match result {
                    Type::Void => write!(scheme, "{call}(say (last))"),
                    Type::Struct(s) => {
                        write!(scheme, "(let ((r {call})) (say (bytevector-length r) (mix-s{s} 1 r)))")
                    }
                    Type::Scalar(_) => write!(scheme, "(say (exact {call}))"),
                };
            }
            let end = if *result == Type::Void { "" } else { "(say (last))" };
            let _ = writeln!(scheme, "{end}(newline)");
        }
        c += "  return 0;\n}\n";
        (c, scheme)
    }
}

#[test]
fn clang_and_scheme_agree_on_structures_by_value() {
    let seed = std::env::var("CAIRN_FUZZ_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1_u64);
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let made = Made::new(&mut random, 120);
    let directory = Directory::new("c-by-value");
    let (caller, scheme) = made.callers(&mut random);
    directory.write("random.h", made.header());
    directory.write("random.c", made.source());
    directory.write("caller.c", caller);
    directory.write("calls.scm", scheme);
    let clang = |arguments: &[&str]| Command::new("clang-19").args(arguments).current_dir(&directory.0).output();
    let Ok(output) = clang(&["-O1", "-shared", "-fPIC", "-o", "librandom.so", "random.c"]) else {
        eprintln!("not tested: there is no clang-19 here");
        return;
    };
    printed(&output);
    printed(&clang(&["-o", "caller", "caller.c", "./librandom.so"]).unwrap());
    let expected = printed(&Command::new("./caller").current_dir(&directory.0).output().unwrap());
    let run = |options: &[&str]| {
        let output = cairn(&directory.0, &[&["run"], options, &["calls.scm"]].concat()).output().unwrap();
        let text = printed(&output).replace(" \n", "\n");
        for (expected, line) in expected.lines().zip(text.lines()) {
            assert_eq!(line, expected, "seed {seed}, {options:?}");
        }
        assert_eq!(text.lines().count(), expected.lines().count());
    };
    run(&[]);
    run(&["--opt=high"]);
    run(&["--opt=high", "--frames=native"]);
    run(&["--frames=heap", "--gc=marksweep"]);
    run(&["--frames=stack", "--gc=bdw"]);
    printed(&cairn(&directory.0, &["build", "calls.scm", "-o", "program"]).output().unwrap());
    let built = printed(&Command::new("./program").current_dir(&directory.0).output().unwrap());
    assert_eq!(built.replace(" \n", "\n"), expected, "seed {seed}, built");
    // these are the calls that compiled code makes itself
    let core = printed(&cairn(&directory.0, &["run", "--emit=opt", "calls.scm"]).output().unwrap());
    let direct = core.matches("%c-call").count();
    assert!(direct >= made.functions.len(), "{direct} calls written out");
    let _ = fs::remove_file(directory.0.join("program"));
}
