//! The Frame IR as text, for people and golden files.
//!
//! ```text
//! function f.r2 of "f" return frame 2 [0] single v0
//!   b0:
//!     v1 = slot 0
//!     v2 = (+ v0 v1) proven 0
//!     return v2
//! ```

use crate::ir::*;
use cairn_core::print::print_literal;
use std::fmt::Write;

/// Prints a whole module.
pub fn print_module(m: &Module) -> String {
    let mut out = format!("module {} main {}\n", m.strategy.name, m.function(m.main).name);
    for g in &m.globals {
        match &g.init {
            GlobalInit::Unbound => {}
            GlobalInit::Const(c) => writeln!(out, "global {} = {}", g.name, print_literal(c)).unwrap(),
            GlobalInit::Procedure(f) => writeln!(out, "global {} = &{}", g.name, name(m, *f)).unwrap(),
        }
    }
    for f in &m.functions {
        if matches!(&f.kind, FuncKind::Entry { clauses, .. } if clauses.is_empty()) {
            continue;
        }
        print_function(m, f, &mut out);
    }
    out
}

fn name(m: &Module, f: FuncId) -> String {
    m.function(f).name.to_string()
}

fn print_function(m: &Module, f: &Function, out: &mut String) {
    write!(out, "\nfunction {}{} ", f.name, if f.library { " library" } else { "" }).unwrap();
    match &f.kind {
        FuncKind::Entry { closure_words, clauses, .. } => {
            writeln!(out, "entry words {closure_words}").unwrap();
            for c in clauses {
                let rest = if c.rest { "+" } else { "" };
                writeln!(out, "  {}{rest} -> {}", c.required, name(m, c.body)).unwrap();
            }
        }
        FuncKind::Body { params, closure } => {
            write!(out, "body ({})", vars(f, params)).unwrap();
            if let Some(c) = closure {
                write!(out, " closure {}", var(f, *c)).unwrap();
            }
            out.push('\n');
        }
        FuncKind::Return { frame, results, .. } => {
            let results = match results {
                Results::Single(v) => var(f, *v),
                Results::Multi { params, rest } => {
                    let rest = rest.map_or(String::new(), |r| format!(" . {}", var(f, r)));
                    format!("({}{rest})", vars(f, params))
                }
            };
            writeln!(out, "return {} -> {results}", print_frame(frame)).unwrap();
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
    let info = &f.vars[v.0 as usize];
    let rep = if info.rep == Rep::Double { "!d" } else { "" };
    format!("{}.{}{rep}", info.name, v.0)
}

fn vars(f: &Function, list: &[Var]) -> String {
    list.iter().map(|v| var(f, *v)).collect::<Vec<_>>().join(" ")
}

fn operand(m: &Module, f: &Function, o: &Operand) -> String {
    match o {
        Operand::Var(v) => var(f, *v),
        Operand::Const(c) => format!("'{}", print_literal(c)),
        Operand::Procedure(p) => format!("&{}", name(m, *p)),
    }
}

fn operands(m: &Module, f: &Function, list: &[Operand]) -> String {
    list.iter().map(|o| format!(" {}", operand(m, f, o))).collect()
}

fn prim(m: &Module, f: &Function, p: &Prim) -> String {
    let proven = if p.proven == 0 { String::new() } else { format!(" proven {:b}", p.proven) };
    format!("({}{}){proven}", p.op.name(), operands(m, f, &p.args))
}

fn print_op(m: &Module, f: &Function, op: &Op) -> String {
    let global = |g: cairn_core::ir::GlobalId| format!("@{}", m.globals[g.0 as usize].name);
    match op {
        Op::Copy(o) => operand(m, f, o),
        Op::Prim(p) => prim(m, f, p),
        Op::Global(g) => global(*g),
        Op::GlobalChecked(g, _) => format!("{} checked", global(*g)),
        Op::SetGlobal(g, o) => format!("{} := {}", global(*g), operand(m, f, o)),
        Op::SetGlobalChecked(g, o, _) => format!("{} := {} checked", global(*g), operand(m, f, o)),
        Op::Free(i) => format!("free {i}"),
        Op::Slot(i) => format!("slot {i}"),
        Op::Closure { entry, free } => format!("closure {}{}", name(m, *entry), operands(m, f, free)),
        Op::ClosurePatch { closure, index, value } => {
            format!("patch {} {index} {}", var(f, *closure), operand(m, f, value))
        }
    }
}

fn print_stmt(m: &Module, f: &Function, s: &Stmt) -> String {
    match s {
        Stmt::Assign(v, op) => format!("{} = {}", var(f, *v), print_op(m, f, op)),
        Stmt::Effect(op) => print_op(m, f, op),
        Stmt::HeapCheck { bytes, live } => format!("check {bytes} live ({})", vars(f, live)),
    }
}

fn callee(m: &Module, f: &Function, c: &Callee) -> String {
    match c {
        Callee::Unknown(o) => operand(m, f, o),
        Callee::Known(g, None) => format!("direct {}", name(m, *g)),
        Callee::Known(g, Some(o)) => format!("direct {} closure {}", name(m, *g), operand(m, f, o)),
        Callee::Apply(o) => format!("apply {}", operand(m, f, o)),
        Callee::CallCc(o) => format!("call/cc {}", operand(m, f, o)),
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
        Term::TailCall { callee: c, args, .. } => format!("tail {}({} )", callee(m, f, c), operands(m, f, args)),
        Term::Call { callee: c, args, frame, ret, .. } => {
            let stores: String = frame.stores.iter().map(|(s, o)| format!(" {s}:={}", operand(m, f, o))).collect();
            format!(
                "call {}({} ) {} store{stores} then {}",
                callee(m, f, c),
                operands(m, f, args),
                print_frame(&frame.frame),
                name(m, *ret)
            )
        }
    }
}
