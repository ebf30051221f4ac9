//! Core as text: readable s-expressions that [`crate::parse`] reads back.
//!
//! ```text
//! (var acc.2 assigned)                               facts about variables that differ from the usual
//! (global @total.7 assigned library)
//! (global @raise.8 never-returns import 3)           or `cell 3`: defined by another module
//! (define @sum.0
//!   (lambda sum (xs.0 . more.1)
//!     (labels ((L0 (l.3 acc.4)
//!                (if (%null? l.3) acc.4 (jump L0 (%cdr:1 l.3) (%+ acc.4 (%car:1 l.3))))))
//!       (jump L0 xs.0 0))))
//! ```
//!
//! * `x.3` local variable 3, `@x.3` global variable 3, `L3` label 3, `%car:1` primitive with `proven` = 1;
//! * numbers, strings, characters and booleans stand for themselves, other constants are quoted;
//! * `(f x …)` is a call; all other forms start with a keyword;
//! * with positions, `{file:offset}` follows the expression it belongs to; `{file:offset in g at file:offset}` is a
//!   position in the body of `g`, inlined.

use crate::inlined::InlineTable;
use crate::ir::{Clause, Expr, GlobalId, ImportFrom, Lambda, Literal, Program, TopForm, VarId};
use crate::walk::deep;
use cairn_layout::code::Site;
use std::fmt::Write as _;

/// The whole program, without source positions.
pub fn print_program(program: &Program) -> String {
    print_program_with(program, false)
}

/// The whole program; `sites` adds source positions.
pub fn print_program_with(program: &Program, sites: bool) -> String {
    let mut p = Printer { program, sites, out: String::new() };
    p.facts();
    for form in &program.forms {
        p.form(form);
    }
    p.out
}

/// The top-level forms that a procedure called `name` is part of.
pub fn print_procedure(program: &Program, name: &str) -> String {
    let mut p = Printer { program, sites: false, out: String::new() };
    for form in &program.forms {
        let (TopForm::Define(_, e) | TopForm::Expr(e)) = form;
        let mut found = false;
        crate::walk::visit(e, &mut |e| match e {
            Expr::Lambda(l) => found |= &*l.name == name,
            Expr::Fix(lambdas, _) => found |= lambdas.iter().any(|(_, l)| &*l.name == name),
            _ => {}
        });
        if found {
            p.form(form);
        }
    }
    p.out
}

/// A constant as it appears inside a quotation.
pub fn print_literal(l: &Literal) -> String {
    let mut out = String::new();
    literal(&mut out, l);
    out
}

/// A source position as [`Site`] prints it, or `{file:offset in procedure at file:offset}` in an inlined body; nothing
/// when unknown.
pub fn print_site(table: &InlineTable, s: Site) -> String {
    let mut items = Vec::new();
    for (s, procedure) in table.chain(s) {
        let place = s.to_string();
        let mut item = place.trim_matches(['{', '}']).to_string();
        if let Some(procedure) = procedure {
            // spaces and braces are what ends a name here
            let name = procedure.replace(|c: char| c.is_whitespace() || "{}".contains(c), "_");
            let _ = write!(item, " in {name}");
        }
        items.push(item);
    }
    let text = items.join(" at ");
    if text.is_empty() { text } else { format!("{{{text}}}") }
}

struct Printer<'a> {
    program: &'a Program,
    sites: bool,
    out: String,
}

/// Wider expressions are broken into lines.
const WIDTH: usize = 100;

impl Printer<'_> {
    fn facts(&mut self) {
        for (i, g) in self.program.globals.iter().enumerate() {
            if g.assigned || g.library || g.import.is_some() {
                self.out.push_str("(global ");
                self.global(GlobalId(i as u32));
                self.out.push_str(if g.assigned { " assigned" } else { "" });
                if let Some(import) = g.import {
                    self.out.push_str(if import.never_returns { " never-returns" } else { "" });
                    let _ = match import.from {
                        ImportFrom::Library(n) => write!(self.out, " import {n}"),
                        ImportFrom::Cell(n) => write!(self.out, " cell {n}"),
                    };
                }
                self.out.push_str(if g.library { " library)\n" } else { ")\n" });
            }
        }
        for (i, v) in self.program.vars.iter().enumerate().filter(|(_, v)| v.assigned) {
            let _ = v;
            self.out.push_str("(var ");
            self.var(VarId(i as u32));
            self.out.push_str(" assigned)\n");
        }
    }

    fn form(&mut self, form: &TopForm) {
        match form {
            TopForm::Define(g, e) => {
                self.out.push_str("(define ");
                self.global(*g);
                self.line(2);
                self.expr(e, 2);
                self.out.push(')');
            }
            TopForm::Expr(e) => self.expr(e, 0),
        }
        self.out.push('\n');
    }

    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        // indentation is for people; deep nests would make it quadratic
        self.out.extend(std::iter::repeat_n(' ', indent.min(120)));
    }

    fn var(&mut self, v: VarId) {
        match self.program.vars.get(v.0 as usize) {
            // `-` would print as the number -.3
            Some(info) if info.name.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                self.out.push('|');
                escaped(&mut self.out, &info.name, '|');
                self.out.push('|');
            }
            Some(info) => name(&mut self.out, &info.name),
            None => self.out.push('?'),
        }
        let _ = write!(self.out, ".{}", v.0);
    }

    fn global(&mut self, g: GlobalId) {
        self.out.push('@');
        match self.program.globals.get(g.0 as usize) {
            Some(info) => name(&mut self.out, &info.name),
            None => self.out.push('?'),
        }
        let _ = write!(self.out, ".{}", g.0);
    }

    fn site(&mut self, s: Site) {
        if self.sites {
            self.out.push_str(&print_site(&self.program.inlined, s));
        }
    }

    fn params(&mut self, c: &Clause) {
        if let (true, Some(rest)) = (c.params.is_empty(), c.rest) {
            return self.var(rest); // `args` alone
        }
        self.out.push('(');
        for (i, v) in c.params.iter().enumerate() {
            self.out.push_str(if i > 0 { " " } else { "" });
            self.var(*v);
        }
        if let Some(rest) = c.rest {
            self.out.push_str(" . ");
            self.var(rest);
        }
        self.out.push(')');
    }

    /// Prints parts after an opened form, on this line when they fit, else one per line.
    fn tail(&mut self, parts: &[&Expr], indent: usize, site: Site) {
        let start = self.out.len();
        let small = parts.iter().all(|e| flat(e, 12).is_some()) && {
            let total: usize = parts.iter().filter_map(|e| flat(e, 40)).sum();
            total <= 40
        };
        if small {
            for e in parts {
                self.out.push(' ');
                self.expr(e, indent);
            }
            let line_start = self.out[..start].rfind('\n').map_or(0, |i| i + 1);
            if !self.out[start..].contains('\n') && self.out.len() - line_start <= WIDTH {
                self.out.push(')');
                return self.site(site);
            }
            self.out.truncate(start);
        }
        for e in parts {
            self.line(indent);
            self.expr(e, indent);
        }
        self.out.push(')');
        self.site(site);
    }

    fn lambda(&mut self, l: &Lambda, indent: usize) {
        if let [c] = &l.clauses[..] {
            self.out.push_str("(lambda ");
            name(&mut self.out, &l.name);
            self.out.push(' ');
            self.params(c);
            self.tail(&[&c.body], indent + 2, l.site);
        } else {
            self.out.push_str("(case-lambda ");
            name(&mut self.out, &l.name);
            for c in &l.clauses {
                self.line(indent + 2);
                self.out.push('(');
                self.params(c);
                self.tail(&[&c.body], indent + 4, Site::NONE);
            }
            self.out.push(')');
            self.site(l.site);
        }
    }

    fn bindings(&mut self, keyword: &str, bindings: &[(VarId, Expr)], body: &Expr, indent: usize) {
        let _ = write!(self.out, "({keyword} (");
        let inner = indent + keyword.len() + 3;
        for (i, (v, e)) in bindings.iter().enumerate() {
            if i > 0 {
                self.line(inner);
            }
            self.out.push('(');
            self.var(*v);
            self.out.push(' ');
            self.expr(e, inner + 2);
            self.out.push(')');
        }
        self.out.push(')');
        self.line(indent + 2);
        self.expr(body, indent + 2);
        self.out.push(')');
    }

    fn expr(&mut self, e: &Expr, indent: usize) {
        let next = indent + 2;
        deep(|| match e {
            Expr::Const(l) => {
                if !matches!(l, Literal::Number(_) | Literal::Char(_) | Literal::Bool(_) | Literal::String(_)) {
                    self.out.push('\'');
                }
                literal(&mut self.out, l);
            }
            Expr::Local(v) => self.var(*v),
            Expr::Global(g, s) => {
                self.global(*g);
                self.site(*s);
            }
            Expr::SetLocal(v, e) => {
                self.out.push_str("(set! ");
                self.var(*v);
                self.tail(&[e], next, Site::NONE);
            }
            Expr::SetGlobal(g, e, s) => {
                self.out.push_str("(set! ");
                self.global(*g);
                self.tail(&[e], next, *s);
            }
            Expr::If(a, b, c) => {
                self.out.push_str("(if");
                self.tail(&[a, b, c], next, Site::NONE);
            }
            Expr::Seq(es) => {
                self.out.push_str("(seq");
                self.tail(&es.iter().collect::<Vec<_>>(), next, Site::NONE);
            }
            Expr::Let(bs, body) => self.bindings("let", bs, body, indent),
            Expr::Letrec(bs, body) => self.bindings("letrec", bs, body, indent),
            Expr::Fix(bs, body) => {
                self.out.push_str("(fix (");
                for (i, (v, l)) in bs.iter().enumerate() {
                    if i > 0 {
                        self.line(indent + 6);
                    }
                    self.out.push('(');
                    self.var(*v);
                    self.out.push(' ');
                    self.lambda(l, indent + 8);
                    self.out.push(')');
                }
                self.out.push(')');
                self.line(next);
                self.expr(body, next);
                self.out.push(')');
            }
            Expr::Lambda(l) => self.lambda(l, indent),
            Expr::Call(f, es, s) => {
                self.out.push('(');
                if !matches!(**f, Expr::Local(_) | Expr::Global(..)) {
                    self.out.push_str("call ");
                }
                self.expr(f, indent + 1);
                self.tail(&es.iter().collect::<Vec<_>>(), next, *s);
            }
            Expr::Apply(f, es, s) => {
                self.out.push_str("(apply ");
                self.expr(f, next);
                self.tail(&es.iter().collect::<Vec<_>>(), next, *s);
            }
            Expr::Prim { op, args, site, proven } => {
                let _ = write!(self.out, "(%{}", op.name());
                if *proven != 0 {
                    let _ = write!(self.out, ":{proven}");
                }
                self.tail(&args.iter().collect::<Vec<_>>(), next, *site);
            }
            Expr::Values(es) => {
                self.out.push_str("(values");
                self.tail(&es.iter().collect::<Vec<_>>(), next, Site::NONE);
            }
            Expr::Receive { producer, clause, site } => {
                self.out.push_str("(receive ");
                self.params(clause);
                self.tail(&[producer, &clause.body], next, *site);
            }
            Expr::CallCc(shots, f, s) => {
                self.out.push('(');
                self.out.push_str(shots.name());
                self.tail(&[f], next, *s);
            }
            Expr::Labels(ls, body) => {
                self.out.push_str("(labels (");
                for (i, l) in ls.iter().enumerate() {
                    if i > 0 {
                        self.line(indent + 9);
                    }
                    let _ = write!(self.out, "(L{} (", l.id.0);
                    for (i, v) in l.params.iter().enumerate() {
                        self.out.push_str(if i > 0 { " " } else { "" });
                        self.var(*v);
                    }
                    self.out.push(')');
                    self.tail(&[&l.body], indent + 11, Site::NONE);
                }
                self.out.push(')');
                self.line(next);
                self.expr(body, next);
                self.out.push(')');
            }
            Expr::Jump(l, es) => {
                let _ = write!(self.out, "(jump L{}", l.0);
                self.tail(&es.iter().collect::<Vec<_>>(), next, Site::NONE);
            }
        })
    }
}

/// Rough number of words of an expression that may stand on one line; `None` when it must not or is longer.
fn flat(e: &Expr, limit: usize) -> Option<usize> {
    let mut n = 0;
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        n += 1;
        let breaks = matches!(e, Expr::Let(..) | Expr::Letrec(..) | Expr::Fix(..) | Expr::Labels(..))
            || matches!(e, Expr::Lambda(l) if l.clauses.len() > 1);
        if n > limit || breaks {
            return None;
        }
        crate::walk::for_each_child(e, &mut |c| work.push(c));
    }
    Some(n)
}

fn plain(c: char) -> bool {
    c.is_alphanumeric() || "!$%&*/:<=>?^_~+-.".contains(c)
}

/// A name in a place where a name is expected: bars only when needed.
fn name(out: &mut String, s: &str) {
    if !s.is_empty() && s.chars().all(plain) {
        return out.push_str(s);
    }
    out.push('|');
    escaped(out, s, '|');
    out.push('|');
}

fn escaped(out: &mut String, s: &str, quote: char) {
    for c in s.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:x};", c as u32);
            }
            c => out.push(c),
        }
    }
}

fn literal(out: &mut String, l: &Literal) {
    deep(|| match l {
        Literal::Number(n) => cairn_num::format::push_number(out, n, 10),
        Literal::Char(c) => {
            if c.is_ascii_graphic() {
                let _ = write!(out, "#\\{c}");
            } else {
                let _ = write!(out, "#\\x{:x}", *c as u32);
            }
        }
        Literal::Bool(b) => out.push_str(if *b { "#t" } else { "#f" }),
        Literal::Nil => out.push_str("()"),
        Literal::Unspecified => out.push_str("#!unspecified"),
        Literal::Eof => out.push_str("#!eof"),
        Literal::Default => out.push_str("#!default"),
        Literal::Unbound => out.push_str("#!unbound"),
        Literal::Symbol(s) => {
            if cairn_num::parse_number(s, 10).is_some() || **s == *"." {
                out.push('|');
                escaped(out, s, '|');
                out.push('|');
            } else {
                name(out, s);
            }
        }
        Literal::String(s) => {
            out.push('"');
            escaped(out, s, '"');
            out.push('"');
        }
        Literal::Bytes(bytes) => {
            out.push_str("#u8(");
            for (i, b) in bytes.iter().enumerate() {
                let _ = write!(out, "{}{b}", if i > 0 { " " } else { "" });
            }
            out.push(')');
        }
        // `#f64(…)` would read the same, but not every NaN does
        Literal::Numbers(kind, bytes) => {
            let _ = write!(out, "#bytes-of-{}(", kind.name());
            for (i, b) in bytes.iter().enumerate() {
                let _ = write!(out, "{}{b}", if i > 0 { " " } else { "" });
            }
            out.push(')');
        }
        Literal::Pair(p) => {
            out.push('(');
            let mut p = p;
            loop {
                literal(out, &p.0);
                match &p.1 {
                    Literal::Pair(rest) => {
                        out.push(' ');
                        p = rest;
                    }
                    Literal::Nil => break,
                    last => {
                        out.push_str(" . ");
                        literal(out, last);
                        break;
                    }
                }
            }
            out.push(')');
        }
        Literal::Vector(items) => {
            out.push_str("#(");
            for (i, l) in items.iter().enumerate() {
                out.push_str(if i > 0 { " " } else { "" });
                literal(out, l);
            }
            out.push(')');
        }
    })
}
