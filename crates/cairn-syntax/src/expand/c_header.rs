//! Definitions of C headers.
//!
//! ```text
//! (import (c "zlib.h" "z"))        (define crc32 (c:c-procedure unsigned-long "crc32" …))     waits
//!                                  (define inflate (c:c-procedure int "inflate" …))           waits
//! (crc32 0 v 5)                    crc32 is referred to: its definition, and what that refers to, goes into the program
//! ```
//!
//! The problem: a header declares hundreds of functions, of which a program calls a few, and each definition costs:
//! it is expanded, compiled and, since a function is looked up where it is defined, run. The idea: such a library only
//! declares its variables. When the forms of a program, or of something evaluated, have been expanded, the definitions
//! of those that they refer to go where the library was loaded.
//!
//! The text of the library is made from the header by the loader. `(define name (c:unsupported "why"))` stands for what
//! cannot be called; that is an error where the program refers to it.
//!
//! Invariant: each definition goes into one program, before every reference.

use super::items::{ItemKind, Rhs};
use super::meaning::Target;
use super::state::{Definition, Expander};
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Datum, Syntax};
use cairn_core::ir::{Expr, GlobalId, TopForm};
use cairn_core::visit;
use cairn_layout::code::Site;
use cairn_layout::lexeme::{self, Kind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The variables that an expression refers to, each with a place where.
fn references(e: &Expr, out: &mut Vec<(GlobalId, Site)>) {
    visit(e, &mut |e| match e {
        Expr::Global(g, site) | Expr::SetGlobal(g, _, site) => out.push((*g, *site)),
        _ => {}
    });
}

impl Expander<'_> {
    /// Declares what a header has.
    pub(super) fn c_header_body(&mut self, forms: Vec<Syntax>) {
        let module = self.ctx.module;
        let at = self.s.program.forms.len();
        self.s.c_headers.places.insert(module, at);
        for item in self.scan(forms) {
            if let ItemKind::Define { target: Target::Global(g), id, rhs: Rhs::Expr(value) } = item.kind {
                self.s.c_headers.definitions.insert(g, Definition { module, id, value });
            }
        }
    }

    /// Why this cannot be used, if it cannot.
    fn unsupported(&self, value: &Syntax) -> Option<String> {
        match value.as_list()? {
            [head, Syntax { datum: Datum::String(why), .. }] => {
                let named = head.as_ident().is_some_and(|id| &**self.name(id) == "c:unsupported");
                named.then(|| why.to_string())
            }
            _ => None,
        }
    }

    /// What defines the variable of a header, if nothing has referred to it.
    pub(super) fn c_header_definition(&self, g: GlobalId) -> Option<Syntax> {
        self.s.c_headers.definitions.get(&g).map(|definition| definition.value.clone())
    }

    /// Defines what the forms of the present program refer to.
    pub(super) fn define_wanted_of_c_headers(&mut self) {
        if self.s.c_headers.definitions.is_empty() {
            return;
        }
        let mut todo = Vec::new();
        self.s.program.forms.iter().for_each(|form| references(form.expr(), &mut todo));
        let mut seen = FxHashSet::default();
        let mut made: BTreeMap<u32, Vec<Vec<TopForm>>> = BTreeMap::new();
        let mut failed = false;
        while let Some((g, site)) = todo.pop() {
            let Some(definition) = self.s.c_headers.definitions.get(&g) else { continue };
            if !seen.insert(g) {
                continue;
            }
            let (module, id, value) = (definition.module, definition.id, definition.value.clone());
            if let Some(why) = self.unsupported(&value) {
                let name = self.name(id).clone();
                let at = site.file().map(|file| (file, site.start()));
                let span = at.map_or(value.span, |(file, start)| {
                    Span::new(file, start as usize, start as usize + self.written(file, start, &name))
                });
                self.report(Diagnostic::new(span, format!("`{name}` cannot be used: {why}")).into());
                failed = true;
                continue;
            }
            let mut out = Vec::new();
            self.at_top_level(module, |x| {
                let e = x.rhs(Rhs::Expr(value), id);
                let e = x.lift_c_function(e, false, &mut out);
                out.push(TopForm::Define(g, e));
            });
            out.iter().for_each(|form| references(form.expr(), &mut todo));
            made.entry(module).or_default().push(out);
        }
        if failed {
            return;
        }
        for (module, definitions) in made.into_iter().rev() {
            let at = self.s.c_headers.places.get(&module).copied().unwrap_or(0);
            let ordered = in_order(definitions);
            for form in &ordered {
                if let TopForm::Define(g, _) = form {
                    self.s.c_headers.definitions.remove(g);
                    self.s.library_globals.insert(*g);
                }
            }
            self.s.program.forms.splice(at..at, ordered);
        }
    }

    /// The length of what stands for the name at a place: the name itself, a renaming of it, or a call.
    fn written(&self, file: u32, start: u32, name: &str) -> usize {
        let text = self.s.sources.get(file as usize).map_or("", |f| &f.text);
        let rest = text.get(start as usize..).unwrap_or("");
        match lexeme::next(rest, 0) {
            Some(l) if matches!(l.kind, Kind::Atom | Kind::Symbol) => l.end,
            _ => rest.len().min(1 + name.len()),
        }
    }
}

/// The definitions of a library, each behind those that it refers to: they never refer to each other in a circle.
fn in_order(definitions: Vec<Vec<TopForm>>) -> Vec<TopForm> {
    let defines = |forms: &[TopForm]| match forms.last() {
        Some(TopForm::Define(g, _)) => Some(*g),
        _ => None,
    };
    let index: FxHashMap<GlobalId, usize> =
        definitions.iter().enumerate().filter_map(|(i, forms)| Some((defines(forms)?, i))).collect();
    let needs: Vec<Vec<usize>> = definitions
        .iter()
        .map(|forms| {
            let mut out = Vec::new();
            forms.iter().for_each(|form| references(form.expr(), &mut out));
            out.iter().filter_map(|(g, _)| index.get(g).copied()).collect()
        })
        .collect();
    let mut placed = vec![false; definitions.len()];
    let mut order = Vec::new();
    let mut todo: Vec<(usize, bool)> = (0..definitions.len()).rev().map(|i| (i, false)).collect();
    while let Some((i, ready)) = todo.pop() {
        if ready {
            order.push(i);
        } else if !std::mem::replace(&mut placed[i], true) {
            todo.push((i, true));
            todo.extend(needs[i].iter().map(|n| (*n, false)));
        }
    }
    let mut definitions: Vec<Option<Vec<TopForm>>> = definitions.into_iter().map(Some).collect();
    order.into_iter().filter_map(|i| definitions[i].take()).flatten().collect()
}
