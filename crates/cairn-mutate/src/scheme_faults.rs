//! Where a fault can be put into Scheme code.
//!
//! Operators: a procedure's name gives way to its counterpart (`<` and `<=`, `car` and `cdr`, `and` and `or`, …), a
//! test of `if` or a clause of `cond` always or never holds, a number is one more, a boolean is the other one, an
//! expression before the last of a body is left out. Quoted data, `import`s, `export`s and macros are not touched.

use crate::{Mutant, line_at};
use cairn_syntax::read::read_all;
use cairn_syntax::syntax::{Names, Syntax};
use std::ops::Range;
use std::path::Path;

struct Datum {
    span: Range<usize>,
    /// Those of a list that is an expression.
    items: Option<Vec<Datum>>,
}

/// All mutants of a file.
pub fn mutants(file: &Path, text: &str) -> Vec<Mutant> {
    let data = read_all(0, text, &mut Names::default(), false).expect("a text that can be read");
    let mut finder = Finder { file, text, within: String::new(), found: vec![] };
    data.iter().for_each(|x| finder.walk(&Datum::of(text, x)));
    finder.found
}

impl Datum {
    fn of(text: &str, x: &Syntax) -> Datum {
        let span = x.span.start as usize..x.span.end as usize;
        let (items, tail) = x.parts();
        // quoted data have no parts
        let is_list = text[span.clone()].starts_with('(');
        let items = is_list.then(|| items.iter().chain(tail).map(|x| Datum::of(text, x)).collect());
        Datum { span, items }
    }
}

const COUNTERPARTS: &[(&str, &str)] = &[
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("+", "-"),
    ("-", "+"),
    ("car", "cdr"),
    ("cdr", "car"),
    ("cadr", "cddr"),
    ("and", "or"),
    ("or", "and"),
    ("when", "unless"),
    ("unless", "when"),
    ("not", "begin"),
    ("null?", "pair?"),
    ("pair?", "null?"),
    ("max", "min"),
    ("min", "max"),
    ("eof-object?", "not"),
    ("let*", "let"),
    ("char=?", "char<?"),
    ("append", "list"),
    ("reverse", "begin"),
    ("quotient", "remainder"),
    ("zero?", "not"),
    ("negative?", "positive?"),
    ("positive?", "negative?"),
    ("even?", "odd?"),
    ("set-car!", "set-cdr!"),
    ("set-cdr!", "set-car!"),
];

/// The counterpart of a procedure or of the primitive operation of that name (`%car`, `%fx<`).
fn counterpart(name: &str) -> Option<String> {
    let find = |name: &str| COUNTERPARTS.iter().find(|(n, _)| *n == name).map(|(_, other)| *other);
    if let Some(other) = find(name) {
        return Some(other.into());
    }
    let (prefix, rest) = ["%fx", "%fl", "%"].iter().find_map(|p| Some((*p, name.strip_prefix(p)?)))?;
    // these are primitive operations, too; the other counterparts may not be
    let kept = ["<", "<=", ">", ">=", "+", "-", "car", "cdr", "null?", "pair?"];
    let other = find(rest).filter(|_| kept.contains(&rest))?;
    Some(if other == "begin" { other.into() } else { format!("{prefix}{other}") })
}

/// Forms whose parts are not expressions.
const OPAQUE: &[&str] = &[
    "import",
    "export",
    "quote",
    "quasiquote",
    "define-syntax",
    "let-syntax",
    "letrec-syntax",
    "define-record-type",
    "include",
];

struct Finder<'a> {
    file: &'a Path,
    text: &'a str,
    within: String,
    found: Vec<Mutant>,
}

impl<'a> Finder<'a> {
    fn of(&self, d: &Datum) -> &'a str {
        &self.text[d.span.clone()]
    }
    fn add(&mut self, d: &Datum, text: &str, what: String) {
        let (line, source) = line_at(self.text, d.span.start);
        self.found.push(Mutant {
            id: 0,
            file: self.file.into(),
            line,
            span: d.span.clone(),
            text: text.into(),
            within: self.within.clone(),
            what,
            source,
        });
    }

    fn atom(&mut self, d: &Datum) {
        let text = self.of(d);
        match text {
            "#t" => self.add(d, "#f", "#t becomes #f".into()),
            "#f" => self.add(d, "#t", "#f becomes #t".into()),
            _ => {
                if let Ok(n) = text.parse::<i64>() {
                    self.add(d, &(n + 1).to_string(), format!("{n} becomes {}", n + 1));
                }
            }
        }
    }

    /// The test of a conditional.
    fn test(&mut self, d: &Datum) {
        let old: String = self.of(d).split_whitespace().collect::<Vec<_>>().join(" ");
        if !old.starts_with('#') {
            self.add(d, "#t", format!("test `{old}` always true"));
            self.add(d, "#f", format!("test `{old}` never true"));
        }
    }

    /// What stands before the last expression of a body.
    fn body(&mut self, items: &[Datum]) {
        let Some((_, before)) = items.split_last() else { return };
        for d in before {
            let text = self.of(d);
            let defines = ["(define", "(begin", "(import", "(let-syntax"].iter().any(|f| text.starts_with(f));
            if d.items.is_some() && !defines {
                let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                self.add(d, "", format!("no `{shown}`"));
            }
        }
    }

    fn walk(&mut self, d: &Datum) {
        let Some(items) = &d.items else { return self.atom(d) };
        let Some(head) = items.first() else { return };
        let name = self.of(head);
        if OPAQUE.contains(&name) {
            return;
        }
        if let Some(other) = counterpart(name) {
            self.add(head, &other, format!("`{name}` becomes `{other}`"));
        }
        match name {
            "define-library" => items[2..].iter().for_each(|d| self.walk(d)),
            "define" | "define-values" if items.len() > 2 => {
                let before = std::mem::take(&mut self.within);
                let defined = self.of(&items[1]).trim_start_matches('(');
                let defined = defined.split([' ', ')', '\n']).next().unwrap_or_default();
                self.within = if before.is_empty() { defined.into() } else { format!("{before}::{defined}") };
                self.body(&items[2..]);
                items[2..].iter().for_each(|d| self.walk(d));
                self.within = before;
            }
            "lambda" if items.len() > 2 => {
                self.body(&items[2..]);
                items[2..].iter().for_each(|d| self.walk(d));
            }
            "let" | "let*" | "letrec" | "letrec*" | "let-values" | "let*-values" | "do" | "parameterize"
                if items.len() > 2 =>
            {
                let bindings = if items[1].items.is_some() { 1 } else { 2 };
                for b in items[bindings].items.iter().flatten() {
                    b.items.iter().flatten().skip(1).for_each(|d| self.walk(d));
                }
                if name != "do" {
                    self.body(&items[bindings + 1..]);
                }
                items[bindings + 1..].iter().for_each(|d| self.walk(d));
            }
            "if" | "when" | "unless" => {
                self.test(&items[1]);
                items[1..].iter().for_each(|d| self.walk(d));
            }
            "cond" => {
                for clause in items[1..].iter().filter_map(|c| c.items.as_ref()) {
                    if !clause.is_empty() && self.of(&clause[0]) != "else" {
                        self.test(&clause[0]);
                    }
                    self.body(clause.get(1..).unwrap_or_default());
                    clause.iter().for_each(|d| self.walk(d));
                }
            }
            "case" => {
                self.walk(&items[1]);
                for clause in items[2..].iter().filter_map(|c| c.items.as_ref()) {
                    clause.iter().skip(1).for_each(|d| self.walk(d));
                }
            }
            "case-lambda" => {
                for clause in items[1..].iter().filter_map(|c| c.items.as_ref()) {
                    self.body(clause.get(1..).unwrap_or_default());
                    clause.iter().skip(1).for_each(|d| self.walk(d));
                }
            }
            "begin" => {
                self.body(&items[1..]);
                items[1..].iter().for_each(|d| self.walk(d));
            }
            _ => items.iter().for_each(|d| self.walk(d)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_for_faults_are_found() {
        let text = "(define (f x) ; (car x)\n (g x) (if (null? x) '(1 #t) (let ((y 2)) (cond ((< x y) (h)) (else #\\( )))))";
        let found: Vec<String> =
            mutants(Path::new("x.scm"), text).into_iter().map(|m| format!("{}: {}", m.within, m.what)).collect();
        assert_eq!(
            found,
            [
                "f: no `(g x)`",
                "f: test `(null? x)` always true",
                "f: test `(null? x)` never true",
                "f: `null?` becomes `pair?`",
                "f: 2 becomes 3",
                "f: test `(< x y)` always true",
                "f: test `(< x y)` never true",
                "f: `<` becomes `<=`",
            ]
        );
    }
}
