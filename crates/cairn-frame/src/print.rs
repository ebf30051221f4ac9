//! The Frame IR as text, for people, golden files and tests; [`crate::parse`] reads it back.
//!
//! ```text
//! module chunks main program.0.entry
//! source "f.scm"
//! global @f.0 = &f.2.entry
//!
//! function f.2.entry of f entry words 1 {0:8}
//!   1 -> f.3
//!
//! function f.3 of f body (x.0)
//!   b0:
//!     call @f.0 (x.0) frame 2 [0] store 0:=x.0 then f.3.r1
//!
//! function f.3.r1 of f return frame 2 [0] -> t.0 {0:20}
//!   b0:
//!     x.1 = slot 0
//!     u.2 = (+ t.0 x.1)
//!     poll live (u.2)
//!     return u.2
//! ```
//!
//! * `x.3` variable 3 of the function, `x.3!d` an unboxed double, `@x.3` global variable 3, `b3` block 3;
//! * `'1` constant, `&f.2.entry` static closure, `proven 10` operand checks proven (bit 0 is the last digit);
//! * names that would not read as one word stand between bars;
//! * `{file:offset}` is a source position, `{file:offset in g at file:offset}` one in the body of `g`, inlined; unknown
//!   positions are left out.
//!
//! Left out, because nothing depends on them: globals that are unbound at first (their uses name them), entries that
//! nothing uses, and the text of source files.

use crate::ir::*;
use cairn_core::ir::{GlobalId, ImportFrom, Literal};
use cairn_core::print::{print_literal, print_site};
use cairn_layout::code::Site;
use std::fmt::Write;

/// Prints a whole module.
pub fn print_module(m: &Module) -> String {
    let mut out = format!(
        "module {}{} main {}\n",
        m.strategy.name,
        if m.shared { " shared" } else { "" },
        function_name(m, m.main)
    );
    for s in &m.sources {
        let path = print_literal(&Literal::String(s.path.clone()));
        writeln!(out, "source {path}{}", if s.library { " library" } else { "" }).unwrap();
    }
    for name in &m.procedures {
        writeln!(out, "procedure {}", print_literal(&Literal::String(name.clone()))).unwrap();
    }
    for (i, g) in m.globals.iter().enumerate() {
        let name = global(m, GlobalId(i as u32));
        if let Some(f) = g.procedure {
            writeln!(out, "global {name} = &{}", function_name(m, f)).unwrap();
        }
        match g.import {
            None => {}
            Some(ImportFrom::Library(n)) => writeln!(out, "global {name} = import {n}").unwrap(),
            Some(ImportFrom::Cell(n)) => writeln!(out, "global {name} = cell {n}").unwrap(),
        }
    }
    for f in m.functions.iter().filter(|f| f.in_use()) {
        print_function(m, f, &mut out);
    }
    out
}

/// The functions that the procedures called `name` became.
pub fn print_procedure(m: &Module, name: &str) -> String {
    let mut out = String::new();
    for f in m.functions.iter().filter(|f| f.in_use() && &*f.procedure == name) {
        print_function(m, f, &mut out);
    }
    out
}

/// A name as one word. `&` begins procedures, so it does not begin names.
fn word(name: &str) -> String {
    let word = print_literal(&Literal::Symbol(name.into()));
    if word.starts_with('&') { format!("|{word}|") } else { word }
}

fn function_name(m: &Module, f: FuncId) -> String {
    m.functions.get(f.0 as usize).map_or_else(|| format!("?{}", f.0), |f| word(&f.name))
}

fn global(m: &Module, g: GlobalId) -> String {
    let name = m.globals.get(g.0 as usize).map_or("?", |g| &g.name);
    format!("@{}.{}", word(name), g.0)
}

/// A position with a space before it; nothing when unknown.
fn site(m: &Module, s: Site) -> String {
    let text = print_site(&m.inlined, s);
    if text.is_empty() { text } else { format!(" {text}") }
}

fn print_function(m: &Module, f: &Function, out: &mut String) {
    let library = if f.library { " library" } else { "" };
    let vast = if f.vast { " vast" } else { "" };
    write!(out, "\nfunction {} of {}{library}{vast} ", word(&f.name), word(&f.procedure)).unwrap();
    match &f.kind {
        FuncKind::Entry { closure_words, clauses, site: at } => {
            writeln!(out, "entry words {closure_words}{}", site(m, *at)).unwrap();
            for c in clauses {
                let rest = if c.rest { "+" } else { "" };
                let listed = if c.listed { " listed" } else { "" };
                writeln!(out, "  {}{rest}{listed} -> {}", c.required, function_name(m, c.body)).unwrap();
            }
        }
        FuncKind::Body { params, closure } => {
            write!(out, "body ({})", vars(f, params)).unwrap();
            if let Some(c) = closure {
                write!(out, " closure {}", var(f, *c)).unwrap();
            }
            out.push('\n');
        }
        FuncKind::Return { frame, results, site: at } => {
            let results = match results {
                Results::Single(v) => var(f, *v),
                Results::Multi { params, rest, site: of } => {
                    let rest = rest.map_or(String::new(), |r| format!(" . {}", var(f, r)));
                    let of = if *of == Site::NONE { String::new() } else { format!(" of {of}") };
                    format!("({}{rest}){of}", vars(f, params))
                }
            };
            writeln!(out, "return {} -> {results}{}", print_frame(frame), site(m, *at)).unwrap();
        }
    }
    for (i, b) in f.blocks.iter().enumerate() {
        writeln!(out, "  b{i}:").unwrap();
        for s in &b.stmts {
            writeln!(out, "    {}", print_stmt(m, f, s)).unwrap();
        }
        writeln!(out, "    {}", print_term(m, f, &b.term)).unwrap();
    }
}

fn print_frame(frame: &Frame) -> String {
    format!("frame {} {:?}", frame.words, frame.live)
}

fn var(f: &Function, v: Var) -> String {
    match f.vars.get(v.0 as usize) {
        Some(info) => {
            let rep = if info.rep == Rep::Double { "!d" } else { "" };
            format!("{}.{}{rep}", word(&info.name), v.0)
        }
        None => format!("?.{}", v.0),
    }
}

fn vars(f: &Function, list: &[Var]) -> String {
    list.iter().map(|v| var(f, *v)).collect::<Vec<_>>().join(" ")
}

fn operand(m: &Module, f: &Function, o: &Operand) -> String {
    match o {
        Operand::Var(v) => var(f, *v),
        Operand::Const(c) => format!("'{}", print_literal(c)),
        Operand::Procedure(p) => format!("&{}", function_name(m, *p)),
    }
}

/// Operands, each with a space before it.
fn operands(m: &Module, f: &Function, list: &[Operand]) -> String {
    list.iter().map(|o| format!(" {}", operand(m, f, o))).collect()
}

/// Operands in parentheses.
fn arguments(m: &Module, f: &Function, list: &[Operand]) -> String {
    format!("({})", list.iter().map(|o| operand(m, f, o)).collect::<Vec<_>>().join(" "))
}

fn prim(m: &Module, f: &Function, p: &Prim) -> String {
    let proven = if p.proven == 0 { String::new() } else { format!(" proven {:b}", p.proven) };
    format!("({}{}){proven}{}", p.op.name(), operands(m, f, &p.args), site(m, p.site))
}

fn print_op(m: &Module, f: &Function, op: &Op) -> String {
    match op {
        Op::Copy(o) => operand(m, f, o),
        Op::Prim(p) => prim(m, f, p),
        Op::Global(g) => global(m, *g),
        Op::GlobalChecked(g, at) => format!("{} checked{}", global(m, *g), site(m, *at)),
        Op::SetGlobal(g, o) => format!("{} := {}", global(m, *g), operand(m, f, o)),
        Op::SetGlobalChecked(g, o, at) => {
            format!("{} := {} checked{}", global(m, *g), operand(m, f, o), site(m, *at))
        }
        Op::Free(i) => format!("free {i}"),
        Op::Slot(i) => format!("slot {i}"),
        Op::Closure { entry, free } => format!("closure {}{}", function_name(m, *entry), operands(m, f, free)),
        Op::ClosurePatch { closure, index, value } => {
            format!("patch {} {index} {}", var(f, *closure), operand(m, f, value))
        }
    }
}

fn print_stmt(m: &Module, f: &Function, s: &Stmt) -> String {
    match s {
        Stmt::Assign(v, op) => format!("{} = {}", var(f, *v), print_op(m, f, op)),
        Stmt::Effect(op) => print_op(m, f, op),
        Stmt::HeapCheck { bytes: 0, live } => format!("poll live ({})", vars(f, live)),
        Stmt::HeapCheck { bytes, live } => format!("check {bytes} live ({})", vars(f, live)),
        Stmt::StackCheck { words, live } => format!("stack {words} live ({})", vars(f, live)),
        Stmt::StopCheck { live } => format!("stop live ({})", vars(f, live)),
    }
}

fn callee(m: &Module, f: &Function, c: &Callee) -> String {
    match c {
        Callee::Unknown(o) => operand(m, f, o),
        Callee::Known(g, None) => format!("direct {}", function_name(m, *g)),
        Callee::Known(g, Some(o)) => format!("direct {} closure {}", function_name(m, *g), operand(m, f, o)),
        Callee::Apply(o) => format!("apply {}", operand(m, f, o)),
        Callee::CallCc(shots, o) => format!("{} {}", shots.name(), operand(m, f, o)),
    }
}

fn print_term(m: &Module, f: &Function, t: &Term) -> String {
    match t {
        Term::Goto(b) => format!("goto b{}", b.0),
        Term::Branch { test, then, els } => {
            let test = match test {
                Test::Truthy(o) => operand(m, f, o),
                Test::Prim(p) => prim(m, f, p),
            };
            format!("if {test} b{} else b{}", then.0, els.0)
        }
        Term::Return(o) => format!("return {}", operand(m, f, o)),
        Term::ReturnMulti(os) => format!("return values{}", operands(m, f, os)),
        Term::TailCall { callee: c, args, site: at } => {
            format!("tail {} {}{}", callee(m, f, c), arguments(m, f, args), site(m, *at))
        }
        Term::Call { callee: c, args, frame, ret, site: at } => {
            let stores: String = frame.stores.iter().map(|(s, o)| format!(" {s}:={}", operand(m, f, o))).collect();
            let store = if stores.is_empty() { "" } else { " store" };
            format!(
                "call {} {}{} {}{store}{stores} then {}",
                callee(m, f, c),
                arguments(m, f, args),
                site(m, *at),
                print_frame(&frame.frame),
                function_name(m, *ret)
            )
        }
    }
}
