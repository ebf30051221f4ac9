//! Compiling one module on several processors.
//!
//! The problem: LLVM spends about a millisecond on each function and uses one thread. The idea: cut the emitted text
//! into parts of about the same size, compile each in a context of its own, and merge the objects ([`crate::merge`]).
//!
//! ```text
//!  define internal f …          part 0: define hidden f …     part 1: declare hidden f
//!  define internal g …    ▶             declare hidden g …            define hidden g …
//!  @table = internal …                  @table = hidden …             @table = external hidden …
//! ```
//!
//! Functions that run once ([`QUICK`]) get parts of their own, on which LLVM spends less.
//!
//! Invariants: only text made by [`crate::emit_module`] is cut: a function starts with `define` at the start of a line
//! and ends with a line `}`; a global is one line that starts with `@`. Everything between functions goes to part 0,
//! but declarations, types, attributes and metadata go to all.

use std::collections::{HashMap, HashSet};

/// A part is not made smaller than this (bytes of text): starting a context costs a few milliseconds.
pub(crate) const PART_MIN: usize = 64 * 1024;

/// What is in the first line of functions that are not worth LLVM's full effort: attributes like those of others.
pub(crate) const QUICK: &str = " #8 ";

/// A part of a module.
pub(crate) struct Part {
    pub text: String,
    /// Are its functions not worth LLVM's full effort?
    pub quick: bool,
}

/// The text of `ir` in at most `parts` parts, or one more.
pub(crate) fn split(ir: &str, parts: usize) -> Vec<Part> {
    let parts = parts.min(ir.len() / PART_MIN).max(1);
    if parts == 1 { vec![Part { text: ir.to_string(), quick: false }] } else { cut(ir, parts, true) }
}

/// The functions of `ir` in at most `parts` parts, or one more, which refer to globals that are elsewhere.
pub(crate) fn split_functions(ir: &str, parts: usize) -> Vec<Part> {
    cut(ir, parts.min(ir.len() / PART_MIN).max(1), false)
}

/// The first part has the globals if any has.
fn cut(ir: &str, parts: usize, with_globals: bool) -> Vec<Part> {
    let pieces = pieces(ir);
    let functions = pieces.functions;
    let (quick, others): (Vec<_>, Vec<_>) = functions.iter().partition(|f| f.quick);
    let [of_quick, of_others] = [&quick, &others].map(|fs| fs.iter().map(|f| f.text.len()).sum::<usize>());
    let for_quick = parts * of_quick / (of_quick + of_others).max(1);
    let mut groups = groups(&others, of_others, (parts - for_quick).max(1));
    let first_quick = groups.len();
    groups.extend(self::groups(&quick, of_quick, for_quick.max(1)));
    let function_names: HashMap<&str, &str> = functions.iter().map(|f| (f.name, f.signature)).collect();
    let globals: HashMap<&str, &str> = pieces.globals.iter().map(|g| (symbol_at(g), *g)).collect();
    let mut result = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        let mut out = String::with_capacity(ir.len() / parts * 5 / 4);
        out.push_str(&pieces.head);
        let mut body = String::new();
        for f in group {
            body.push_str(&f.text.replacen("define internal", "define hidden", 1));
        }
        let has_globals = with_globals && i == 0;
        if has_globals {
            for g in &pieces.globals {
                body.push_str(&g.replacen("= internal", "= hidden", 1));
                body.push('\n');
            }
        }
        let own: HashSet<&str> = group.iter().map(|f| f.name).collect();
        for name in symbols(&body) {
            if own.contains(name) {
                continue;
            }
            if let Some(signature) = function_names.get(name) {
                out.push_str("declare hidden ");
                out.push_str(signature);
                out.push('\n');
            } else if !has_globals && globals.contains_key(name) {
                out.push_str(name);
                out.push_str(" = external hidden global i8\n");
            }
        }
        out.push_str(&body);
        out.push_str(&pieces.tail);
        result.push(Part { text: out, quick: i >= first_quick });
    }
    result
}

/// The functions, `total` bytes of text, in at most so many groups of about the same size.
fn groups<'f, 'a>(functions: &[&'f Function<'a>], total: usize, parts: usize) -> Vec<Vec<&'f Function<'a>>> {
    let mut groups: Vec<Vec<_>> = Vec::new();
    let mut done = 0;
    for f in functions {
        if groups.is_empty() || done >= total * groups.len() / parts {
            groups.push(Vec::new());
        }
        done += f.text.len();
        groups.last_mut().expect("a group").push(*f);
    }
    groups
}

/// A function's text.
struct Function<'a> {
    /// Symbol with its `@`.
    name: &'a str,
    /// Convention, type, symbol and parameters.
    signature: &'a str,
    text: &'a str,
    quick: bool,
}

/// Text cut into pieces.
struct Pieces<'a> {
    /// Types and target: at the start of every part.
    head: String,
    /// Attributes, metadata, declarations of intrinsics: at the end of every part.
    tail: String,
    functions: Vec<Function<'a>>,
    globals: Vec<&'a str>,
}

fn pieces(ir: &str) -> Pieces<'_> {
    let mut p = Pieces { head: String::new(), tail: String::new(), functions: Vec::new(), globals: Vec::new() };
    let mut at = 0;
    while at < ir.len() {
        let end = ir[at..].find('\n').map_or(ir.len(), |n| at + n + 1);
        let line = &ir[at..end];
        if line.starts_with("define ") {
            let close = ir[at..].find("\n}\n").map_or(ir.len(), |n| at + n + 3);
            let symbol = symbol_at(&line[line.find('@').expect("a symbol")..]);
            let start =
                line.strip_prefix("define internal ").map_or("define ".len(), |_| "define internal ".len());
            let parameters = line.find(symbol).expect("its name") + symbol.len();
            let stop = parameters + line[parameters..].find(')').expect("parameters") + 1;
            p.functions.push(Function {
                name: symbol,
                signature: &line[start..stop],
                text: &ir[at..close],
                quick: line[stop..].starts_with(QUICK),
            });
            at = close;
            continue;
        }
        match line.as_bytes().first() {
            Some(b'@') => p.globals.push(line.trim_end()),
            Some(b't' | b'%') => p.head.push_str(line),
            _ => p.tail.push_str(line),
        }
        at = end;
    }
    p
}

/// The symbol at the start of `s`, which begins with `@`.
fn symbol_at(s: &str) -> &str {
    let b = s.as_bytes();
    if b.get(1) == Some(&b'"') {
        let close = s[2..].find('"').map_or(s.len(), |n| n + 3);
        return &s[..close];
    }
    let plain = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'$' | b'-');
    let n = b[1..].iter().take_while(|c| plain(c)).count();
    &s[..1 + n]
}

/// All symbols in `text`, each once, in order.
fn symbols(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(i) = rest.find('@') {
        let s = symbol_at(&rest[i..]);
        if s.len() > 1 && seen.insert(s) {
            found.push(s);
        }
        rest = &rest[i + s.len().max(1)..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_define_everything_once_and_declare_what_they_use() {
        let padding = "  ; padding\n".repeat(PART_MIN / 10);
        let ir = format!(
            "target triple = \"x\"\n%t = type {{ ptr }}\n\
             define internal cc void @\"a b\"(ptr %x) #0 {{\n  call cc void @c(ptr @g.1)\n{padding}}}\n\
             define internal cc void @c(ptr %x) #0 {{\n  call cc void @\"a b\"(ptr @g.1)\n{padding}}}\n\
             @g.1 = internal constant i64 5\n@h = constant ptr @c\n\nattributes #0 = {{ nounwind }}\n"
        );
        let parts = split(&ir, 2);
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|p| !p.quick));
        let parts: Vec<String> = parts.into_iter().map(|p| p.text).collect();
        assert!(parts[0].contains("define hidden cc void @\"a b\"(ptr %x)"));
        assert!(parts[0].contains("declare hidden cc void @c(ptr %x)"));
        assert!(parts[0].contains("@g.1 = hidden constant i64 5"));
        assert!(parts[1].contains("define hidden cc void @c(ptr %x)"));
        assert!(parts[1].contains("declare hidden cc void @\"a b\"(ptr %x)"));
        assert!(parts[1].contains("@g.1 = external hidden global i8"));
        assert!(!parts[1].contains("@h"));
        assert!(parts.iter().all(|p| p.ends_with("attributes #0 = { nounwind }\n") && p.starts_with("target")));
    }

    #[test]
    fn functions_that_run_once_have_parts_of_their_own() {
        let padding = "  ; padding\n".repeat(PART_MIN / 10);
        let function = |name: &str, attributes| {
            format!(
                "define internal cc void @{name}(ptr %x) #{attributes} {{\n  call cc void @d(ptr %x)\n{padding}}}\n"
            )
        };
        let ir = [function("a", 0), function("b", 8), function("c", 0), function("d", 8)].concat();
        for count in [2, 3, 4, 8] {
            let parts = split(&ir, count);
            assert!((2..=count + 1).contains(&parts.len()), "{count} parts");
            let texts =
                |quick| -> String { parts.iter().filter(|p| p.quick == quick).map(|p| &*p.text).collect() };
            for (name, quick) in [("a", false), ("b", true), ("c", false), ("d", true)] {
                let definition = format!("define hidden cc void @{name}(");
                assert_eq!(texts(quick).matches(&definition).count(), 1, "{name}");
                assert!(!texts(!quick).contains(&definition), "{name}");
            }
        }
        assert!(split(&ir, 1).iter().all(|p| !p.quick), "one part has all");
    }
}
