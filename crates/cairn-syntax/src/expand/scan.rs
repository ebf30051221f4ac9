//! Bodies: finding the definitions, then expanding what they define.
//!
//! ```text
//! (define x (f))             Letrec x = (f)
//! (my-macro …)          ⟶           _ = (display "!")          expressions between definitions
//! (define (g) x)                    g = (lambda () x)
//! (g)                          in (g)
//! ```
//!
//! Scanning expands macro uses at the heads of forms until each form is known to be a definition or an
//! expression; definitions declare their variables at once. At top level the variables are globals.
//!
//! **Redefined imports.** A program or library may define a name that it also imports, and scripts do:
//! `(define old-car car) (define (car x) …)`. There is a warning if the import was asked for. All references of the
//! body then mean the new variable. If one might be evaluated before the definition, it starts out with the imported
//! value.

use super::core::Core;
use super::items::{Item, ItemKind, Rhs};
use super::meaning::{Binding, Meaning, Target};
use super::prims::{fixnum, prim, unspecified};
use super::state::{Expander, R, grow};
use super::trace::Trace;
use crate::diagnostic::Span;
use crate::syntax::{Ident, Items, Syntax};
use cairn_core::ir::{Clause, Expr, Program, TopForm, VarId};
use cairn_core::prim::{Op, PrimOp};
use cairn_layout::code::Site;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A form of a body, and where it is: [`Item::trace`], [`Item::region`].
type Unscanned = (Syntax, Trace, u32);

impl Expander<'_> {
    /// Declares the definitions among the forms in the innermost scope.
    pub(super) fn scan(&mut self, forms: Vec<Syntax>) -> Vec<Item> {
        let (outer, region) = (self.trace.clone(), self.ctx.region);
        let mut items = Vec::with_capacity(forms.len());
        let mut todo: Vec<Unscanned> = forms.into_iter().rev().map(|f| (f, outer.clone(), region)).collect();
        while let Some((form, trace, region)) = todo.pop() {
            self.trace = trace;
            self.ctx.region = region;
            if let Err(d) = self.scan_form(form, &mut todo, &mut items) {
                self.report(d);
            }
        }
        self.trace = outer;
        self.ctx.region = region;
        items
    }

    /// What a form of the body is, where we are.
    fn item(&self, kind: ItemKind) -> Item {
        Item { kind, trace: self.trace.clone(), region: self.ctx.region }
    }

    fn scan_form(&mut self, form: Syntax, todo: &mut Vec<Unscanned>, items: &mut Vec<Item>) -> R<()> {
        let mut form = form;
        self.observe_scan(form.span, false);
        let core = loop {
            let [head, ..] = form.parts().0 else { break None };
            let Some(id) = head.as_ident() else { break None };
            match self.resolve(id) {
                Meaning::Bound(Binding::Macro(m)) => {
                    self.mention_head(&form.parts().0[0], Binding::Macro(m));
                    form = self.expand_macro(m, &form)?;
                }
                Meaning::Bound(Binding::Core(c)) => break Some(c),
                Meaning::Unbound(..) if self.ctx.depth == 0 => {
                    let keyword =
                        [Core::Import, Core::DefineLibrary, Core::Library, Core::CondExpand, Core::Include];
                    break keyword.into_iter().find(|c| c.name() == &**self.name(id));
                }
                _ => break None,
            }
        };
        let parts = match &form.datum {
            crate::syntax::Datum::List(parts) => parts.clone(),
            _ => {
                items.push(self.item(ItemKind::Expr(form)));
                return Ok(());
            }
        };
        if let Some(c) = core.filter(|c| c.is_definition()) {
            self.mention_head(&parts[0], Binding::Core(c));
        }
        let mut splice = |x: &Self, forms: &[Syntax]| {
            todo.extend(forms.iter().rev().map(|f| (f.clone(), x.trace.clone(), x.ctx.region)));
        };
        match core {
            Some(Core::Begin) => splice(self, &parts[1..]),
            Some(Core::Define) => self.scan_define(&form, &parts, items)?,
            Some(Core::DefineValues) => {
                let [_, formals, rhs] = &parts[..] else {
                    const HELP: &str = "(define-values (name …) expression)";
                    return self.takes(form.span, &parts, "names in parentheses and one expression", HELP);
                };
                let (required, rest) = self.formals(formals, "(define-values (name …) expression)")?;
                let mut targets = Vec::new();
                for (id, span) in required {
                    targets.push(self.declare(id, span)?);
                }
                let rest = match rest {
                    Some((id, span)) => Some(self.declare(id, span)?),
                    None => None,
                };
                let kind = ItemKind::DefineValues { targets, rest, rhs: rhs.clone(), span: form.span };
                items.push(self.item(kind));
            }
            Some(Core::DefineRecordType) => {
                self.observe_scan(form.span, true);
                self.scan_record(&form, &parts, items)?;
            }
            Some(Core::DefineStructureVector) => {
                self.observe_scan(form.span, true);
                self.scan_structure_vector(&form, &parts, items)?;
            }
            Some(Core::DefineCStruct) => {
                self.observe_scan(form.span, true);
                self.scan_c_struct(&form, &parts, items)?;
            }
            Some(Core::DefineSyntax) => {
                const HELP: &str = "(define-syntax name (syntax-rules (literal …) (pattern template) …))";
                if let Some((name, formals)) = self.transformer_with_formals(&parts) {
                    let binding = self.transforming_lambda(name, &formals, &parts[2..], form.span)?;
                    return self.bind_macro(name, binding, (parts[1].span, form.span));
                }
                let [_, name, transformer] = &parts[..] else {
                    return self.takes(form.span, &parts, "a name and a transformer", HELP);
                };
                let Some(name) = name.as_ident() else {
                    return self.err_help(name.span, "the name of a macro must be an identifier", HELP);
                };
                let binding = self.transformer(transformer, name)?;
                self.bind_macro(name, binding, (parts[1].span, form.span))?;
            }
            Some(Core::DefineSyntaxParameter) => {
                const HELP: &str =
                    "(define-syntax-parameter name (syntax-rules (literal …) (pattern template) …))";
                let [_, name, transformer] = &parts[..] else {
                    return self.takes(form.span, &parts, "a name and a transformer", HELP);
                };
                let Some(name) = name.as_ident() else {
                    return self.err_help(name.span, "the name of a macro must be an identifier", HELP);
                };
                let binding = self.syntax_parameter(transformer, name)?;
                self.bind_macro(name, binding, (parts[1].span, form.span))?;
            }
            Some(core @ (Core::SplicingLetSyntax | Core::SplicingLetrecSyntax)) => {
                self.splicing_let_syntax(&form, &parts, core == Core::SplicingLetrecSyntax)?;
                splice(self, &parts[2..]);
            }
            Some(Core::Include) => {
                let forms = self.include(form.span, &parts[1..], false)?;
                splice(self, &forms);
            }
            Some(Core::IncludeCi) => {
                let forms = self.include(form.span, &parts[1..], true)?;
                splice(self, &forms);
            }
            Some(Core::CondExpand) => {
                let forms = self.cond_expand(&form)?;
                splice(self, &forms);
            }
            Some(Core::Import) if self.is_program_level() => self.import(form.span, &parts[1..]),
            Some(Core::DefineLibrary | Core::Library) if self.is_program_level() => self.define_library(&form)?,
            Some(Core::CSource) if self.ctx.depth == 0 => self.scan_c_source(&form, &parts)?,
            Some(Core::DefineCLibrary) if self.ctx.depth == 0 => self.scan_c_library(&form, &parts)?,
            Some(Core::Import) => {
                return self.err_help(
                    form.span,
                    "`import` is not allowed here",
                    "imports stand at the top level of a program, or among the declarations of define-library",
                );
            }
            _ => items.push(self.item(ItemKind::Expr(form))),
        }
        Ok(())
    }

    /// Of `(define-syntax (name form) body …)`, as Chez Scheme and Racket have it: the name, and what its transformer
    /// takes.
    fn transformer_with_formals(&mut self, parts: &Items) -> Option<(Ident, Syntax)> {
        let (front, tail) = parts.get(1)?.parts();
        let (name, params) = front.split_first()?;
        let name = name.as_ident().filter(|_| parts.len() > 2 && self.has_syntax_case())?;
        Some((name, with_tail(params, tail, parts[1].span)))
    }

    fn is_program_level(&mut self) -> bool {
        self.ctx.depth == 0 && self.module().name.is_none()
    }

    fn scan_define(&mut self, form: &Syntax, parts: &Items, items: &mut Vec<Item>) -> R<()> {
        const HELP: &str = "(define name expression) or (define (name parameter …) body …)";
        let Some(what) = parts.get(1) else { return self.err_help(form.span, "`define` of nothing", HELP) };
        let (id, id_span, rhs) = if let Some(id) = what.as_ident() {
            let rhs = match &parts[2..] {
                [rhs] => Rhs::Expr(rhs.clone()),
                [] => Rhs::Built(unspecified()),
                [_, extra, ..] => {
                    return self.err_help(extra.span, "too much in this `define`", HELP);
                }
            };
            (id, what.span, rhs)
        } else {
            let (front, tail) = what.parts();
            let Some((name, params)) = front.split_first() else {
                return self.err_help(what.span, "a name, or a name with parameters, is expected here", HELP);
            };
            let Some(id) = name.as_ident() else {
                return self.err_help(name.span, "the name of the procedure is expected here", HELP);
            };
            if parts.len() < 3 {
                return self.err_help(form.span, format!("the procedure `{}` has no body", self.name(id)), HELP);
            }
            let formals = with_tail(params, tail, what.span);
            (id, name.span, Rhs::Procedure { form: parts.clone(), formals, span: form.span })
        };
        let target = self.declare(id, id_span)?;
        self.push_definition(target, id, rhs, items);
        Ok(())
    }

    pub(super) fn push_definition(&mut self, target: Target, id: Ident, rhs: Rhs, items: &mut Vec<Item>) {
        if let (true, Target::Global(g)) = (self.s.procedural, target) {
            self.remember_source(g, id, &rhs);
        }
        items.push(self.item(ItemKind::Define { target, id, rhs }));
    }

    pub(super) fn rhs(&mut self, rhs: Rhs, id: Ident) -> Expr {
        match rhs {
            Rhs::Built(e) => e,
            Rhs::Expr(x) => {
                let e = self.expr_named(&x, Some(id));
                // an atom, too: the line is that of a definition
                let is_atom = x.as_list().is_none();
                if is_atom { self.counted_atom(x.span, e) } else { e }
            }
            Rhs::Procedure { form, formals, span } => {
                let name = self.name(id).clone();
                let r = self.nested(span, |e| e.lambda(name, &formals, &form[2..], span)).map(Expr::Lambda);
                self.recover(r)
            }
        }
    }

    // local bodies

    /// The body of a lambda or of a binding form, with its own scope. A lambda that is its value gets the name.
    pub(super) fn body(&mut self, forms: &[Syntax], span: Span, name: Option<Ident>) -> R<Expr> {
        if forms.is_empty() {
            return self.err(span, "the body is empty: at least one expression is needed");
        }
        let mark = self.open_scope();
        let errors = self.s.errors.len();
        let items = self.scan(forms.to_vec());
        let has_value = items.last().is_some_and(|i| matches!(i.kind, ItemKind::Expr(_)));
        if !has_value && self.s.errors.len() == errors {
            let d = self.diagnostic(span, "the body ends with a definition: it has no value");
            self.warn(d.help("the value of a body is that of the expression behind its definitions"));
        }
        let e = self.emit_body(items.into(), name);
        self.close_scope(mark);
        Ok(e)
    }

    fn emit_body(&mut self, mut items: VecDeque<Item>, name: Option<Ident>) -> Expr {
        let (outer, region) = (self.trace.clone(), self.ctx.region);
        let mut bindings: Vec<(VarId, Expr)> = Vec::new();
        let mut pending: Vec<Expr> = Vec::new();
        let mut last = None;
        self.initializing.extend(items.iter().flat_map(|i| i.kind.vars()));
        while let Some(item) = items.pop_front() {
            self.trace = item.trace;
            self.ctx.region = item.region;
            let defined = item.kind.vars();
            match item.kind {
                ItemKind::Expr(x) => {
                    let e = self.expr_named(&x, name.filter(|_| items.is_empty()));
                    pending.push(self.counted_use(e));
                }
                ItemKind::Define { target, id, rhs } => {
                    self.flush(&mut pending, &mut bindings);
                    let e = self.rhs(rhs, id);
                    self.observe_value(target, &e);
                    if let Target::Local(v) = target {
                        bindings.push((v, e));
                    }
                }
                ItemKind::DefineValues { targets, rest, rhs, span: form } => {
                    self.flush(&mut pending, &mut bindings);
                    let producer = self.expr(&rhs);
                    let site = self.site(form);
                    let params: Vec<VarId> = targets.iter().filter_map(|t| t.var()).collect();
                    let rest = rest.and_then(|t| t.var());
                    let unused =
                        |x: &Self, v: &VarId| !x.is_referenced(*v) && !x.s.program.vars[v.0 as usize].assigned;
                    let later = items.iter().flat_map(|i| i.kind.vars()).collect::<Vec<_>>();
                    if params.iter().chain(&rest).chain(&later).all(|v| unused(self, v)) {
                        // nothing before this can see what is defined from here on: an inner scope
                        defined.iter().for_each(|v| _ = self.initializing.remove(v));
                        let body =
                            if items.is_empty() { unspecified() } else { grow(|| self.emit_body(items, name)) };
                        let clause = Clause { params, rest, body };
                        last = Some(Expr::Receive { producer: producer.into(), clause: clause.into(), site });
                        break;
                    }
                    let packed = self.s.program.fresh_var("values");
                    let names: Vec<VarId> = params.iter().chain(&rest).copied().collect();
                    bindings.push((packed, self.pack(producer, params.len(), rest.is_some(), site)));
                    for (i, v) in names.into_iter().enumerate() {
                        bindings.push((v, unpack(Expr::Local(packed), i)));
                    }
                }
            }
            defined.iter().for_each(|v| _ = self.initializing.remove(v));
        }
        self.trace = outer;
        self.ctx.region = region;
        let body = last.unwrap_or_else(|| sequence(pending));
        if bindings.is_empty() { body } else { Expr::Letrec(bindings, body.into()) }
    }

    /// Expressions before a definition become the binding of a variable that nobody reads.
    fn flush(&mut self, pending: &mut Vec<Expr>, bindings: &mut Vec<(VarId, Expr)>) {
        if !pending.is_empty() {
            let v = self.s.program.fresh_var("_");
            bindings.push((v, sequence(std::mem::take(pending))));
        }
    }

    /// The values of `producer` in a vector.
    fn pack(&mut self, producer: Expr, required: usize, rest: bool, site: Site) -> Expr {
        let params: Vec<VarId> = (0..required).map(|_| self.s.program.fresh_var("value")).collect();
        let rest = rest.then(|| self.s.program.fresh_var("values"));
        let args = params.iter().chain(&rest).map(|v| Expr::Local(*v)).collect();
        let body = Expr::Prim { op: PrimOp::Vector, args, site: Site::NONE, proven: 0 };
        Expr::Receive { producer: producer.into(), clause: Clause { params, rest, body }.into(), site }
    }

    // top level

    /// Expands the forms of a module and appends them to the program.
    ///
    /// Errors in procedures that a library of lib/ exports give the names of `public`.
    pub(super) fn top_level(&mut self, forms: Vec<Syntax>, public: FxHashMap<Ident, usize>) {
        let outer = (self.who.take(), std::mem::replace(&mut self.public, public));
        let items = self.scan(forms);
        let library = self.module().builtin;
        let library_module = self.module().name.is_some();
        let mut out: Vec<TopForm> = Vec::with_capacity(items.len());
        // for each item: the global it defines, and whether evaluating it calls nothing
        let mut quiet: Vec<(Option<Target>, bool)> = Vec::with_capacity(items.len());
        for (i, item) in items.into_iter().enumerate() {
            self.item = i;
            self.trace = item.trace;
            self.ctx.region = item.region;
            let mut fact = (None, false);
            match item.kind {
                ItemKind::Expr(x) => {
                    self.observe_action();
                    let e = self.expr(&x);
                    let e = self.counted_use(e);
                    out.push(TopForm::Expr(e));
                }
                ItemKind::Define { target, id, rhs } => {
                    self.who = self.public_name(id);
                    let called = self.called(id);
                    let e = self.rhs(rhs, called);
                    self.observe_value(target, &e);
                    self.who = None;
                    let e = self.lift_c_function(e, library, &mut out);
                    fact = (Some(target), matches!(e, Expr::Lambda(_)));
                    if let Target::Global(g) = target {
                        out.push(TopForm::Define(g, e));
                        if library_module {
                            self.s.library_globals.insert(g);
                        }
                    }
                }
                ItemKind::DefineValues { targets, rest, rhs, span } => {
                    let producer = self.expr(&rhs);
                    let site = self.site(span);
                    let packed = self.fresh_global("values", library);
                    let e = self.pack(producer, targets.len(), rest.is_some(), site);
                    out.push(TopForm::Define(packed, e));
                    for (i, t) in targets.iter().chain(&rest).enumerate() {
                        if let Target::Global(g) = t {
                            out.push(TopForm::Define(*g, unpack(Expr::Global(packed, site), i)));
                        }
                    }
                    fact = (targets.first().copied(), false);
                }
            }
            quiet.push(fact);
        }
        self.trace = None;
        self.ctx.region = 0;
        (self.who, self.public) = outer;
        self.initialize_redefined(&quiet);
        if library_module || self.s.errors.is_empty() {
            self.s.program.forms.append(&mut out);
        } else {
            // a Program drops deep expressions without recursion
            let mut dropped = Program::default();
            dropped.forms = out;
        }
    }

    /// What errors in the definition of `id` in lib/ give as the name of the procedure. A helper `max:2` fails as
    /// `max`.
    pub(super) fn public_name(&mut self, id: Ident) -> Option<usize> {
        if let Some(who) = self.public.get(&id) {
            return Some(*who);
        }
        let name = self.name(id).clone();
        let (main, _) = name.split_once(':')?;
        let main = self.s.names.intern(main);
        self.public.get(&main).copied()
    }

    /// What the procedure that `id` is defined as is called: in lib/ by the first name under which it is exported, so
    /// that a wrong number of arguments is blamed on a name that the program knows.
    pub(super) fn called(&mut self, id: Ident) -> Ident {
        match self.public.get(&id) {
            Some(who) => {
                let name = self.s.program.procedures[*who].clone();
                self.s.names.intern(&name)
            }
            None => id,
        }
    }

    fn initialize_redefined(&mut self, items: &[(Option<Target>, bool)]) {
        let mut redefined: Vec<_> = std::mem::take(&mut self.redefined).into_iter().collect();
        redefined.sort_by_key(|(g, _)| *g);
        for (g, r) in redefined {
            let defined = items.iter().position(|(t, _)| *t == Some(Target::Global(g))).unwrap_or(items.len());
            let Some(first) = r.first_use.filter(|f| *f <= defined) else { continue };
            let end = (defined + 1).min(items.len());
            if items[first..end].iter().all(|(_, quiet)| *quiet) {
                continue;
            }
            let old = match r.old {
                Binding::Global(old) => Expr::Global(old, Site::NONE),
                Binding::Prim(op) => match self.primitive_value(op, op.name(), Span::default()) {
                    Ok(e) => e,
                    Err(_) => continue,
                },
                _ => continue,
            };
            self.s.program.globals[g.0 as usize].assigned = true;
            self.push_form(TopForm::Define(g, old));
        }
    }
}

impl Target {
    fn var(self) -> Option<VarId> {
        match self {
            Target::Local(v) => Some(v),
            Target::Global(_) => None,
        }
    }
}

impl ItemKind {
    fn vars(&self) -> Vec<VarId> {
        match self {
            ItemKind::Define { target, .. } => target.var().into_iter().collect(),
            ItemKind::DefineValues { targets, rest, .. } => {
                targets.iter().chain(rest).filter_map(|t| t.var()).collect()
            }
            ItemKind::Expr(_) => Vec::new(),
        }
    }
}

/// `params`, before a tail if there is one.
fn with_tail(params: &[Syntax], tail: Option<&Syntax>, span: Span) -> Syntax {
    match tail {
        Some(tail) => Syntax::dotted(params.to_vec(), tail.clone(), span),
        None => Syntax::list(params.to_vec(), span),
    }
}

fn unpack(vector: Expr, i: usize) -> Expr {
    prim(Op::VectorRef, vec![vector, fixnum(i as i64)])
}

/// The expressions one after another; unspecified when there are none.
pub(super) fn sequence(mut exprs: Vec<Expr>) -> Expr {
    match exprs.len() {
        0 => unspecified(),
        1 => exprs.remove(0),
        _ => Expr::Seq(exprs),
    }
}
