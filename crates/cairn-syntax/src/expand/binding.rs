//! Forms that bind variables: lambda, the let family, `do`, multiple values, local macros.

use super::meaning::{Binding, Target};
use super::observed::{Form, Role};
use super::scan::sequence;
use super::state::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::{Ident, Syntax};
use cairn_core::ir::{Clause, Expr, Lambda, Literal, VarId};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Names with their places: required ones, and the rest.
pub(super) type Formals = (Vec<(Ident, Span)>, Option<(Ident, Span)>);

/// `(name init)` of a binding form.
struct Init {
    id: Ident,
    span: Span,
    init: Syntax,
}

impl Expander<'_> {
    // procedures

    pub(super) fn lambda(&mut self, name: Rc<str>, formals: &Syntax, body: &[Syntax], span: Span) -> R<Lambda> {
        let clause = self.clause(formals, body, span)?;
        let clause = self.counted_clause(span, &name, clause);
        Ok(Lambda { name, clauses: vec![clause], site: self.plain_site(span) })
    }

    pub(super) fn clause(&mut self, formals: &Syntax, body: &[Syntax], span: Span) -> R<Clause> {
        let formals =
            self.formals(formals, "(lambda (parameter …) body …) or (lambda (parameter … . rest) body …)")?;
        let mark = self.open_scope();
        let (params, rest) = self.bind_formals(&formals);
        // by the time that it is called, more may have a value
        let initializing = std::mem::take(&mut self.initializing);
        let body = self.body(body, span, None);
        self.initializing = initializing;
        self.close_scope(mark);
        Ok(Clause { params, rest, body: body? })
    }

    /// `(a b)`, `(a b . c)` or `c`, without duplicates.
    pub(super) fn formals(&mut self, x: &Syntax, help: &str) -> R<Formals> {
        let (front, tail) = x.parts();
        let mut params = Vec::with_capacity(front.len());
        for p in front.iter().chain(tail) {
            match p.as_ident() {
                Some(id) => params.push((id, p.span)),
                None => return self.err_help(p.span, "a parameter must be an identifier", help),
            }
        }
        self.no_duplicates(&params, "parameter")?;
        let rest = if tail.is_some() { params.pop() } else { None };
        Ok((params, rest))
    }

    fn no_duplicates(&self, ids: &[(Ident, Span)], what: &str) -> R<()> {
        let mut seen = FxHashSet::default();
        for (id, span) in ids {
            if !seen.insert(*id) {
                let first = ids.iter().find(|(i, _)| i == id).map_or(*span, |(_, s)| *s);
                let d = self.diagnostic(*span, format!("the {what} `{}` appears twice", self.name(*id)));
                return Err(d.note(first, "here it is first").into());
            }
        }
        Ok(())
    }

    fn bind_formals(&mut self, (params, rest): &Formals) -> (Vec<VarId>, Option<VarId>) {
        let params = params.iter().map(|(id, span)| self.bind_local(*id, *span, Role::Parameter)).collect();
        (params, rest.map(|(id, span)| self.bind_local(id, span, Role::Parameter)))
    }

    /// `(case-lambda (formals body …) …)`.
    pub(super) fn case_lambda(&mut self, clauses: &[Syntax], name: Rc<str>, span: Span) -> R<Expr> {
        const HELP: &str = "(case-lambda ((parameter …) body …) …)";
        if clauses.is_empty() {
            return self.without_clauses(name, span);
        }
        let mut out = Vec::with_capacity(clauses.len());
        for c in clauses {
            let Some([formals, body @ ..]) = c.as_list() else {
                return self.err_help(c.span, "not a clause of `case-lambda`", HELP);
            };
            let clause = self.clause(formals, body, c.span)?;
            out.push(self.counted_clause(c.span, &name, clause));
        }
        Ok(Expr::Lambda(Lambda { name, clauses: out, site: self.plain_site(span) }))
    }

    /// `(case-lambda)`: a procedure that fails whatever it is given.
    ///
    /// The passes rely on a clause for each procedure, so it has one, which takes everything.
    fn without_clauses(&mut self, name: Rc<str>, span: Span) -> R<Expr> {
        let arguments = self.s.program.fresh_var("arguments");
        let called = Expr::Const(Literal::String(name.clone()));
        let body = self.library_call("control", "no-clause", vec![called, Expr::Local(arguments)], span)?;
        let clause = Clause { params: Vec::new(), rest: Some(arguments), body };
        Ok(Expr::Lambda(Lambda { name, clauses: vec![clause], site: self.plain_site(span) }))
    }

    // the let family

    fn inits(&mut self, x: &Syntax, help: &str) -> R<Vec<Init>> {
        let Some(list) = x.as_list() else {
            return self.err_help(x.span, "a list of bindings is expected here", help);
        };
        let mut out = Vec::with_capacity(list.len());
        for b in list {
            match b.as_list() {
                Some([name, init]) => match name.as_ident() {
                    Some(id) => out.push(Init { id, span: name.span, init: init.clone() }),
                    None => return self.err_help(name.span, "a variable must be an identifier", help),
                },
                Some([name]) if name.as_ident().is_some() => {
                    return self.err_help(b.span, format!("`{}` gets no value", self.source_text(name)), help);
                }
                _ => return self.err_help(b.span, "not a binding", help),
            }
        }
        Ok(out)
    }

    fn no_duplicate_inits(&self, inits: &[Init]) -> R<()> {
        let ids: Vec<(Ident, Span)> = inits.iter().map(|i| (i.id, i.span)).collect();
        self.no_duplicates(&ids, "variable")
    }

    /// `let`, also named.
    pub(super) fn form_let(&mut self, form: &Syntax, items: &[Syntax], name: Option<Ident>) -> R<Expr> {
        const HELP: &str = "(let ((variable value) …) body …) or (let name ((variable value) …) body …)";
        if let Some(this) = items.get(1).and_then(Syntax::as_ident) {
            let this_span = items[1].span;
            let [_, _, bindings, body @ ..] = items else {
                return self.err_help(
                    form.span,
                    "a named `let` takes bindings and a body, got nothing after its name",
                    HELP,
                );
            };
            let inits = self.inits(bindings, HELP)?;
            self.no_duplicate_inits(&inits)?;
            let values = inits.iter().map(|i| self.expr_named(&i.init, Some(i.id))).collect();
            let mark = self.open_scope();
            let this = self.bind_local(this, this_span, Role::Parameter);
            let inner = self.open_scope();
            let params = inits.iter().map(|i| self.bind_local(i.id, i.span, Role::Variable)).collect();
            let body = self.body(body, form.span, None);
            self.close_scope(inner);
            self.close_scope(mark);
            let clause = Clause { params, rest: None, body: body? };
            return Ok(self.call_loop(this, clause, values, form.span));
        }
        let [_, bindings, body @ ..] = items else {
            return self.err_help(form.span, "`let` takes bindings and a body, got nothing", HELP);
        };
        let inits = self.inits(bindings, HELP)?;
        self.no_duplicate_inits(&inits)?;
        let values: Vec<Expr> = inits.iter().map(|i| self.expr_named(&i.init, Some(i.id))).collect();
        let mark = self.open_scope();
        let vars: Vec<VarId> = inits.iter().map(|i| self.bind_local(i.id, i.span, Role::Variable)).collect();
        let body = self.body(body, form.span, name);
        self.close_scope(mark);
        let bindings: Vec<_> = vars.into_iter().zip(values).collect();
        self.observe_values(&bindings);
        Ok(if bindings.is_empty() { body? } else { Expr::Let(bindings, body?.into()) })
    }

    /// `(letrec ((this (lambda …))) (this value …))`.
    fn call_loop(&mut self, this: VarId, clause: Clause, values: Vec<Expr>, span: Span) -> Expr {
        let site = self.site(span);
        let name = self.s.program.vars[this.0 as usize].name.clone();
        let lambda = Expr::Lambda(Lambda { name, clauses: vec![clause], site });
        self.observe_value(Target::Local(this), &lambda);
        let call = Expr::Call(self.local(this).into(), values, site);
        Expr::Letrec(vec![(this, lambda)], call.into())
    }

    pub(super) fn form_let_star(&mut self, form: &Syntax, items: &[Syntax], name: Option<Ident>) -> R<Expr> {
        const HELP: &str = "(let* ((variable value) …) body …)";
        let [_, bindings, body @ ..] = items else {
            return self.err_help(form.span, "`let*` takes bindings and a body, got nothing", HELP);
        };
        let inits = self.inits(bindings, HELP)?;
        let mark = self.open_scope();
        let mut bound = Vec::with_capacity(inits.len());
        for i in &inits {
            let value = self.expr_named(&i.init, Some(i.id));
            self.open_scope();
            bound.push((self.bind_local(i.id, i.span, Role::Variable), value));
        }
        let body = self.body(body, form.span, name);
        self.close_scope(mark);
        self.observe_values(&bound);
        let mut e = body?;
        for b in bound.into_iter().rev() {
            e = Expr::Let(vec![b], e.into());
        }
        Ok(e)
    }

    /// `letrec` and `letrec*`.
    pub(super) fn form_letrec(
        &mut self,
        form: &Syntax,
        items: &[Syntax],
        name: Option<Ident>,
        in_order: bool,
    ) -> R<Expr> {
        const HELP: &str = "(letrec ((variable value) …) body …)";
        let [_, bindings, body @ ..] = items else {
            return self.err_help(form.span, "`letrec` takes bindings and a body, got nothing", HELP);
        };
        let inits = self.inits(bindings, HELP)?;
        self.no_duplicate_inits(&inits)?;
        let mark = self.open_scope();
        let vars: Vec<VarId> = inits.iter().map(|i| self.bind_local(i.id, i.span, Role::Variable)).collect();
        self.initializing.extend(&vars);
        let mut values = Vec::with_capacity(inits.len());
        for (i, v) in inits.iter().zip(&vars) {
            values.push(self.expr_named(&i.init, Some(i.id)));
            if in_order {
                self.initializing.remove(v);
            }
        }
        vars.iter().for_each(|v| _ = self.initializing.remove(v));
        let body = self.body(body, form.span, name);
        self.close_scope(mark);
        let mut bindings: Vec<_> = vars.into_iter().zip(values).collect();
        self.observe_values(&bindings);
        if !in_order {
            bindings = self.evaluate_before_binding(bindings);
        }
        Ok(if bindings.is_empty() { body? } else { Expr::Letrec(bindings, body?.into()) })
    }

    /// `letrec` as `letrec*`: all values are there before any variable is, also when a continuation comes back to the
    /// evaluation of one.
    ///
    /// ```text
    /// (letrec ((f (lambda …)) (a (g f)) (b (h)))  ⟶  (letrec* ((f (lambda …)) (t (g f)) (u (h)) (a t) (b u))
    /// ```
    fn evaluate_before_binding(&mut self, bindings: Vec<(VarId, Expr)>) -> Vec<(VarId, Expr)> {
        if bindings.iter().all(|(_, e)| matches!(e, Expr::Lambda(_) | Expr::Const(_))) {
            return bindings;
        }
        let mut late = Vec::new();
        let mut all = Vec::with_capacity(2 * bindings.len());
        for (v, e) in bindings {
            let info = &self.s.program.vars[v.0 as usize];
            match e {
                Expr::Lambda(_) | Expr::Const(_) if !info.assigned => all.push((v, e)),
                e => {
                    let name = info.name.clone();
                    let value = self.s.program.fresh_var(&name);
                    all.push((value, e));
                    late.push((v, Expr::Local(value)));
                }
            }
        }
        all.extend(late);
        all
    }

    /// `(do ((variable init [step]) …) (test result …) command …)`.
    pub(super) fn form_do(&mut self, form: &Syntax, items: &[Syntax]) -> R<Expr> {
        const HELP: &str = "(do ((variable init [step]) …) (test result …) command …)";
        let [_, specs, exit, commands @ ..] = items else {
            return self.takes(form.span, items, "a list of variables and a list of a test and results", HELP);
        };
        let Some(specs) = specs.as_list() else {
            return self.err_help(specs.span, "`do` takes a list of variables here", HELP);
        };
        let Some([test, results @ ..]) = exit.as_list() else {
            return self.err_help(exit.span, "`do` takes a list of a test and results here", HELP);
        };
        let mut inits = Vec::with_capacity(specs.len());
        let mut steps = Vec::with_capacity(specs.len());
        for s in specs {
            let (Some([name, init, step @ ..]), true) = (s.as_list(), s.as_list().is_some_and(|l| l.len() <= 3))
            else {
                return self.err_help(s.span, "not a variable of `do`", HELP);
            };
            let Some(id) = name.as_ident() else {
                return self.err_help(name.span, "a variable must be an identifier", HELP);
            };
            inits.push(Init { id, span: name.span, init: init.clone() });
            steps.push(step.first());
        }
        self.no_duplicate_inits(&inits)?;
        let values = inits.iter().map(|i| self.expr_named(&i.init, Some(i.id))).collect();
        let this = self.s.program.fresh_var("do");
        let mark = self.open_scope();
        let params: Vec<VarId> = inits.iter().map(|i| self.bind_local(i.id, i.span, Role::Variable)).collect();
        let test = self.expr(test);
        let results = self.exprs(results);
        let mut body = self.exprs(commands);
        let mut args = Vec::with_capacity(params.len());
        for (v, step) in params.iter().zip(steps) {
            args.push(match step {
                Some(x) => self.expr(x),
                None => self.local(*v),
            });
        }
        self.close_scope(mark);
        let site = self.site(form.span);
        body.push(Expr::Call(self.local(this).into(), args, site));
        let body = Expr::If(test.into(), sequence(results).into(), sequence(body).into());
        Ok(self.call_loop(this, Clause { params, rest: None, body }, values, form.span))
    }

    // multiple values

    /// `(receive formals producer body …)`.
    pub(super) fn form_receive(&mut self, form: &Syntax, items: &[Syntax]) -> R<Expr> {
        const HELP: &str = "(receive formals expression body …)";
        let [_, formals, producer, body @ ..] = items else {
            return self.takes(form.span, items, "parameters, an expression and a body", HELP);
        };
        let producer = self.expr(producer);
        let clause = self.clause(formals, body, form.span)?;
        Ok(Expr::Receive { producer: producer.into(), clause: clause.into(), site: self.site(form.span) })
    }

    /// `let-values` and, when `sequential`, `let*-values`.
    pub(super) fn form_let_values(&mut self, form: &Syntax, items: &[Syntax], sequential: bool) -> R<Expr> {
        let help = if sequential {
            "(let*-values (((variable …) expression) …) body …)"
        } else {
            "(let-values (((variable …) expression) …) body …)"
        };
        let [_, specs, body @ ..] = items else {
            return self.err_help(
                form.span,
                format!(
                    "`{}` takes bindings and a body, got nothing",
                    if sequential { "let*-values" } else { "let-values" }
                ),
                help,
            );
        };
        let Some(specs) = specs.as_list() else {
            return self.err_help(specs.span, "a list of bindings is expected here", help);
        };
        let mut all = Vec::new();
        let mut parsed = Vec::with_capacity(specs.len());
        for s in specs {
            let Some([formals, producer]) = s.as_list() else {
                return self.err_help(s.span, "not a binding", help);
            };
            let formals = self.formals(formals, help)?;
            all.extend(formals.0.iter().chain(&formals.1).copied());
            parsed.push((formals, producer, s.span));
        }
        if !sequential {
            self.no_duplicates(&all, "variable")?;
        }
        let mark = self.open_scope();
        let mut bound = Vec::with_capacity(parsed.len());
        if sequential {
            for (formals, producer, span) in &parsed {
                let producer = self.expr(producer);
                self.open_scope();
                bound.push((producer, self.bind_formals(formals), *span));
            }
        } else {
            let producers: Vec<Expr> = parsed.iter().map(|(_, p, _)| self.expr(p)).collect();
            self.open_scope();
            for ((formals, _, span), producer) in parsed.iter().zip(producers) {
                bound.push((producer, self.bind_formals(formals), *span));
            }
        }
        let body = self.body(body, form.span, None);
        self.close_scope(mark);
        let mut e = body?;
        for (producer, (params, rest), span) in bound.into_iter().rev() {
            let clause = Clause { params, rest, body: e };
            e = Expr::Receive { producer: producer.into(), clause: clause.into(), site: self.site(span) };
        }
        Ok(e)
    }

    /// Variables and their values, for tools.
    fn observe_values(&mut self, bindings: &[(VarId, Expr)]) {
        for (v, e) in bindings {
            self.observe_value(Target::Local(*v), e);
        }
    }

    // local macros

    /// Binds a keyword whose name stands at the first of the places, in a form at the other.
    pub(super) fn bind_macro(&mut self, id: Ident, binding: Binding, (name, form): (Span, Span)) -> R<()> {
        self.mention_definition(id, name, binding, Form::Macro);
        self.bind(id, binding, form)
    }

    /// `let-syntax` and, when `recursive`, `letrec-syntax`.
    pub(super) fn form_let_syntax(&mut self, form: &Syntax, items: &[Syntax], recursive: bool) -> R<Expr> {
        const HELP: &str = "(let-syntax ((keyword (syntax-rules …)) …) body …)";
        let [_, specs, body @ ..] = items else {
            return self.err_help(form.span, "`let-syntax` takes bindings and a body, got nothing", HELP);
        };
        let inits = self.inits(specs, HELP)?;
        self.no_duplicate_inits(&inits)?;
        let mark;
        if recursive {
            mark = self.open_scope();
            for i in &inits {
                match self.transformer(&i.init, i.id) {
                    Ok(b) => self.bind_macro(i.id, b, (i.span, i.span))?,
                    Err(d) => self.report(d),
                }
            }
        } else {
            let macros: Vec<_> = inits.iter().map(|i| (i, self.transformer(&i.init, i.id))).collect();
            mark = self.open_scope();
            for (i, m) in macros {
                match m {
                    Ok(b) => self.bind_macro(i.id, b, (i.span, i.span))?,
                    Err(d) => self.report(d),
                }
            }
        }
        let body = self.body(body, form.span, None);
        self.close_scope(mark);
        body
    }

    /// `(syntax-parameterize ((keyword transformer) …) body …)` of SRFI 139: while the body is expanded, the macros of
    /// the keywords are others, whatever scope or library the uses come from.
    pub(super) fn form_syntax_parameterize(&mut self, form: &Syntax, items: &[Syntax]) -> R<Expr> {
        const HELP: &str = "(syntax-parameterize ((keyword (syntax-rules …)) …) body …)";
        let [_, specs, body @ ..] = items else {
            return self.err_help(form.span, "bad `syntax-parameterize`", HELP);
        };
        self.with_other_macros(form, specs, body, HELP, |e, id, span| {
            e.resolve_syntax_parameter(id).ok_or_else(|| {
                let message = format!("`{}` is not a syntax parameter", e.name(id));
                let help = "(define-syntax-parameter name (syntax-rules …)) makes one";
                Box::new(e.diagnostic(span, message).help(help))
            })
        })
    }

    /// `(fluid-let-syntax ((keyword transformer) …) body …)` of Chez Scheme: the same for any macros.
    pub(super) fn form_fluid_let_syntax(&mut self, form: &Syntax, items: &[Syntax]) -> R<Expr> {
        const HELP: &str = "(fluid-let-syntax ((keyword (syntax-rules …)) …) body …)";
        let [_, specs, body @ ..] = items else {
            return self.err_help(form.span, "bad `fluid-let-syntax`", HELP);
        };
        self.with_other_macros(form, specs, body, HELP, |e, id, span| {
            e.resolve_macro(id).ok_or_else(|| {
                let message = format!("`{}` is not a macro", e.name(id));
                Box::new(e.diagnostic(span, message).help("(define-syntax name (syntax-rules …)) makes one"))
            })
        })
    }

    /// The body, expanded while the macros that `which` finds for the keywords are others.
    fn with_other_macros(
        &mut self,
        form: &Syntax,
        specs: &Syntax,
        body: &[Syntax],
        help: &str,
        mut which: impl FnMut(&mut Self, Ident, Span) -> R<u32>,
    ) -> R<Expr> {
        let inits = self.inits(specs, help)?;
        self.no_duplicate_inits(&inits)?;
        let mut adjusted = Vec::with_capacity(inits.len());
        for i in &inits {
            adjusted.push((which(self, i.id, i.span)?, self.macro_of(&i.init, i.id)?));
        }
        for (keyword, other) in &mut adjusted {
            std::mem::swap(&mut self.s.macros[*keyword as usize], other);
        }
        let body = self.body(body, form.span, None);
        for (keyword, other) in adjusted {
            self.s.macros[keyword as usize] = other;
        }
        body
    }
}
