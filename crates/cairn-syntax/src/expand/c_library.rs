//! `define-c-library` and `c-source`: libraries of C headers and sources where a program needs them.
//!
//! ```text
//! (define-c-library posix (header "unistd.h"))
//!   ⟶  (import (c "unistd.h")), but
//!      write          is C's only if the module has no other `write`, now or later
//!      posix:write    is C's
//!      posix          is what the functions are looked up in, for c-procedure
//! ```
//!
//! The problem: a header brings hundreds of names, and some are Scheme's (`read`, `write`, `abs`, `exit`). A program
//! that has worked must go on working when it gets a header. The idea: the names are *offered*
//! ([`Origin::Offered`](super::meaning::Origin)): an import or a definition of the program comes before them, wherever
//! it stands. What `only` lists was asked for, and is imported as by `import`.

use super::loader::{LibraryName, NamePart};
use super::meaning::Binding;
use super::state::{Expander, R};
use super::suggest::nearest;
use crate::diagnostic::Span;
use crate::syntax::{Datum, Ident, Items, Syntax};
use cairn_num::{Int, Number};
use std::rc::Rc;

const HELP: &str = "(define-c-library name clause …), where a clause is (header \"file.h\" …), (source \"file.c\" …), \
                    (link \"library\" …), (include-directory \"directory\" …), (define \"MACRO\" value), \
                    (option \"clang option\" …), (prefix p) or (only name …)";

/// The clauses of a form.
#[derive(Default)]
struct Clauses<'a> {
    headers: Vec<Rc<str>>,
    libraries: Vec<Rc<str>>,
    options: Vec<Rc<str>>,
    prefix: Option<Rc<str>>,
    only: Option<Vec<&'a Syntax>>,
}

impl Expander<'_> {
    /// `(c-source "kernel.c" …)` is `(import (c "kernel.c" …))`, and may stand in a library's body.
    pub(super) fn scan_c_source(&mut self, form: &Syntax, parts: &Items) -> R<()> {
        let is_text = |p: &Syntax| matches!(p.datum, Datum::String(_));
        if parts.len() < 2 || !parts[1..].iter().all(is_text) {
            return self.err_help(form.span, "bad `c-source`", "(c-source \"file.c\" …)");
        }
        let of_c = Syntax::ident(self.s.names.intern("c"), parts[0].span);
        let set = std::iter::once(of_c).chain(parts[1..].iter().cloned()).collect();
        self.import(form.span, &[Syntax::list(set, form.span)]);
        Ok(())
    }

    /// `(define-c-library name clause …)`.
    pub(super) fn scan_c_library(&mut self, form: &Syntax, parts: &Items) -> R<()> {
        let [_, name, clauses @ ..] = &parts[..] else {
            return self.err_help(form.span, "bad `define-c-library`", HELP);
        };
        let Some(id) = name.as_ident() else {
            return self.err_help(name.span, "the name of a C library is expected here", HELP);
        };
        let mut all = Clauses::default();
        for clause in clauses {
            self.c_clause(clause, &mut all)?;
        }
        if all.headers.is_empty() {
            return self.err_help(form.span, "a C library without a header or source", HELP);
        }
        let texts = all.headers.into_iter().chain(all.libraries).chain(all.options).map(NamePart::Text);
        let library = LibraryName(std::iter::once(NamePart::Symbol("c".into())).chain(texts).collect());
        self.load(&library, form.span)?;
        let exports = self.exports_of(&library);
        let module = self.s.libraries[&library].module;
        let only = all.only.map(|names| self.c_chosen(&names, &exports));
        let called = self.name(self.s.names.base(id)).clone();
        let prefix = all.prefix.unwrap_or_default();
        for (export, binding) in exports {
            let text = self.s.names.name(export).clone();
            let own = self.s.names.intern(&format!("{prefix}{text}"));
            match &only {
                Some(chosen) if chosen.contains(&export) => self.import_binding(own, binding, form.span),
                Some(_) => {}
                None => self.offer_binding(own, binding, form.span),
            }
            let long = self.s.names.intern(&format!("{called}:{text}"));
            self.offer_binding(long, binding, form.span);
        }
        let libraries = self.s.names.intern("c:libraries");
        let table = &self.s.modules[module as usize].table;
        match table.get(&libraries).map(|e| e.binding) {
            Some(binding) => self.bind(id, binding, form.span),
            None => Ok(()),
        }
    }

    fn c_clause<'a>(&mut self, clause: &'a Syntax, out: &mut Clauses<'a>) -> R<()> {
        let Some([head, rest @ ..]) = clause.as_list() else {
            return self.err_help(clause.span, "a clause is expected here", HELP);
        };
        let word = head.as_ident().map_or("".into(), |id| self.name(self.s.names.base(id)).clone());
        match (&*word, rest) {
            ("header", _) => {
                out.headers.extend(self.c_texts(clause.span, rest, &[".h", ".hh", ".hpp"], "a header")?)
            }
            ("source", _) => out.headers.extend(self.c_texts(clause.span, rest, &[".c"], "a source")?),
            ("link", _) => {
                let names = self.c_texts(clause.span, rest, &[""], "a library")?;
                out.libraries.extend(names.iter().map(|n| n.strip_prefix("-l").unwrap_or(n).into()));
            }
            ("include-directory", _) => {
                let names = self.c_texts(clause.span, rest, &[""], "a directory")?;
                out.options.extend(names.iter().map(|n| format!("-I{n}").into()));
            }
            ("option", _) => {
                let options = self.c_texts(clause.span, rest, &[""], "an option of clang")?;
                if let Some(bad) = options.iter().position(|o| !o.starts_with('-')) {
                    return self.err(rest[bad].span, "an option of clang begins with `-`");
                }
                out.options.extend(options);
            }
            ("define", [name, value @ ..]) if value.len() < 2 => {
                let text = match (&name.datum, name.as_ident()) {
                    (Datum::String(s), _) => s.to_string().into(),
                    (_, Some(id)) => self.name(self.s.names.base(id)).clone(),
                    _ => return self.err_help(name.span, "the name of a macro of C is expected here", HELP),
                };
                let value = match value.first().map(|v| (&v.datum, v.span)) {
                    None => String::new(),
                    Some((Datum::String(s), _)) => format!("={s}"),
                    Some((Datum::Number(n), span)) => match **n {
                        Number::Int(Int::Fix(k)) => format!("={k}"),
                        _ => return self.err_help(span, "a string or an integer is expected here", HELP),
                    },
                    Some((_, span)) => {
                        return self.err_help(span, "a string or an integer is expected here", HELP);
                    }
                };
                out.options.push(format!("-D{text}{value}").into());
            }
            ("prefix", [prefix]) => match prefix.as_ident() {
                Some(id) => out.prefix = Some(self.name(self.s.names.base(id)).clone()),
                None => return self.err_help(prefix.span, "a prefix is expected here", HELP),
            },
            ("only", _) => out.only.get_or_insert_default().extend(rest),
            _ => return self.err_help(clause.span, "no clause of `define-c-library`", HELP),
        }
        Ok(())
    }

    /// The strings of a clause, which end in one of these ways.
    fn c_texts(&mut self, clause: Span, texts: &[Syntax], ends: &[&str], what: &str) -> R<Vec<Rc<str>>> {
        let mut out = Vec::new();
        for text in texts {
            match &text.datum {
                Datum::String(s) if ends.iter().any(|end| s.to_string().ends_with(end)) => {
                    out.push(s.to_string().into());
                }
                Datum::String(_) => {
                    return self.err(text.span, format!("the name of {what} ends in {}", ends[0]));
                }
                _ => {
                    return self.err_help(
                        text.span,
                        format!("the name of {what} is expected here, a string"),
                        HELP,
                    );
                }
            }
        }
        if out.is_empty() {
            return self.err_help(clause, format!("the name of {what} is expected here"), HELP);
        }
        Ok(out)
    }

    /// The exports that `only` lists. With a structure come its procedures: no name of C has a hyphen.
    fn c_chosen(&mut self, names: &[&Syntax], exports: &[(Ident, Binding)]) -> Vec<Ident> {
        let mut chosen = Vec::new();
        for name in names {
            let Some(text) = name.as_ident().map(|id| self.name(self.s.names.base(id)).clone()) else {
                let d = self.diagnostic(name.span, "a name is expected here").help(HELP);
                self.report(d.into());
                continue;
            };
            let (maker, getter, setter) = (format!("make-{text}"), format!("{text}-"), format!("set-{text}-"));
            let before = chosen.len();
            let mut found = false;
            for (export, _) in exports {
                let own = &**self.s.names.name(*export);
                found |= own == &*text;
                if own == &*text || *own == maker || own.starts_with(&getter) || own.starts_with(&setter) {
                    chosen.push(*export);
                }
            }
            if !found {
                chosen.truncate(before);
                let mut d = self.diagnostic(name.span, format!("the C library has no `{text}`"));
                if let Some(other) = nearest(&text, exports.iter().map(|(id, _)| &**self.s.names.name(*id))) {
                    d = d.help(format!("did you mean `{other}`?"));
                }
                self.report(d.into());
            }
        }
        chosen
    }
}
