//! Why a program is slow (`--why-slow`): what the optimizer leaves to be done again and again
//! ([`cairn_core::remarks`]), at the lines of the program.

use crate::error::Error;
use crate::pipeline;
use crate::session::Compiler;
use crate::source::Source;
use crate::stages;
use cairn_core::prim::Kind;
use cairn_core::remarks::{self, Cost, NotInlined, Remark, Unknown};
use cairn_layout::lexeme;
use std::fmt::Write;

/// Characters of a form that are shown.
const FORM: usize = 48;

impl Compiler {
    /// What the optimizer leaves to be done in loops and recursive procedures, those deepest inside of loops first.
    pub fn why_slow(&self, source: &Source) -> Result<String, Error> {
        let mut files = self.files(source);
        let front = match pipeline::front_or_open(self, source, &mut files)? {
            Ok(_) => {
                return Ok(
                    "why-slow: this program loads code, or evaluates it where it may define the program's own \
                           names again; so all calls between its definitions look first what they call\n"
                        .into(),
                );
            }
            Err(front) => front,
        };
        let mut program = front.program;
        stages::optimize(&mut program, &self.options);
        let remarks = remarks::of(&program);
        if remarks.is_empty() {
            return Ok("why-slow: nothing in loops is tested, called or allocated that could be spared\n".into());
        }
        let line = |r: &Remark| {
            let text = &program.sources[r.file as usize].text;
            text[..r.start as usize].matches('\n').count() + 1
        };
        // lines where the deepest loop is deepest come first
        let mut groups: Vec<&[Remark]> = remarks.chunk_by(|a, b| (a.file, line(a)) == (b.file, line(b))).collect();
        let deepest = |g: &&[Remark]| g.iter().map(|r| r.depth).max().unwrap_or(0);
        groups.sort_by_key(|g| std::cmp::Reverse(deepest(g)));
        let mut out = String::new();
        for group in groups {
            let Some(first) = group.first() else { continue };
            let file = &program.sources[first.file as usize];
            let depth = match deepest(&group) {
                1 => "in a loop or recursion".to_string(),
                n if n == remarks::DEEPEST => format!("in {n} loops or recursions, or more"),
                n => format!("in {n} loops or recursions"),
            };
            let _ = writeln!(out, "{}:{}: {depth}", file.path, line(first));
            let mut rows: Vec<String> = Vec::new();
            for r in group {
                let form = form(&file.text, r.start as usize);
                let row = format!("    {}: {}\n", shortened(&form), said(&r.cost, &form));
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
            out += &rows.concat();
        }
        Ok(out)
    }
}

/// The form at a place, in one line.
fn form(text: &str, start: usize) -> String {
    let datum = text.get(start..lexeme::datum_end(text, start)).unwrap_or_default();
    datum.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a long form.
fn shortened(form: &str) -> String {
    match form.char_indices().nth(FORM) {
        Some((end, _)) => format!("{}…", &form[..end]),
        None => form.to_string(),
    }
}

/// Is it a name that stands there? Others the compiler has given.
fn is_written(name: &str, form: &str) -> bool {
    lexeme::lexemes(form).any(|l| l.text(form) == name)
}

fn said(cost: &Cost, form: &str) -> String {
    match cost {
        Cost::Kinds(names) => {
            let mut names: Vec<_> =
                names.iter().filter(|n| is_written(n, form)).map(|n| format!("`{n}`")).collect();
            names.dedup();
            match names.as_slice() {
                [] => "the operands may be any numbers, so their kinds are tested".into(),
                [name] => format!("{name} may be any number, so its kind is tested"),
                names => format!("{} may be any numbers, so their kinds are tested", names.join(" and ")),
            }
        }
        Cost::Check { operand, kind } => {
            let operand = operand.as_ref().filter(|n| is_written(n, form));
            let operand = operand.map_or("an operand".into(), |n| format!("`{n}`"));
            format!("{operand} is tested: is it {}?", kind_name(*kind))
        }
        Cost::Index => "the object or the index is tested".into(),
        Cost::Unknown { name, why } => {
            let name = name.as_ref().filter(|n| is_written(n, form));
            let name = name.map_or("the procedure".into(), |n| format!("`{n}`"));
            match why {
                Unknown::Assigned => {
                    format!("{name} is assigned or defined again, so it is called as one not known")
                }
                Unknown::Value => format!("{name} may be any procedure"),
                Unknown::Computed => "the procedure is the value of an expression, so it may be any".into(),
            }
        }
        Cost::NotInlined { name, why } => match why {
            NotInlined::Recursive => format!("`{name}` is called, not inlined: it comes to a call of itself"),
            NotInlined::Large(size, most) => {
                format!("`{name}` is called, not inlined: its body has about {size} operations, more than {most}")
            }
            NotInlined::Enough => format!("`{name}` is called, not inlined: the code around it has grown enough"),
        },
        Cost::Closure(name) => {
            format!("a closure is made of `{name}`: it is a value that uses variables around it")
        }
        Cost::Double => "a double leaves its register: it becomes an argument or part of an object".into(),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Any => "any object",
        Kind::Fixnum => "a fixnum",
        Kind::Flonum => "a flonum",
        Kind::Compnum => "a complex number",
        Kind::Number => "a number",
        Kind::Boolean => "a boolean",
        Kind::Pair => "a pair",
        Kind::Symbol => "a symbol",
        Kind::String => "a string",
        Kind::Char => "a character",
        Kind::Vector => "a vector",
        Kind::Bytevector => "a bytevector",
        Kind::Procedure => "a procedure",
        Kind::Box => "a box",
        Kind::Record => "a record of its type",
        Kind::Port => "a port",
        Kind::Promise => "a promise",
        Kind::Opaque => "an object of the library",
    }
}
