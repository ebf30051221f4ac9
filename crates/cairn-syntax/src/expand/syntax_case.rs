//! `syntax-case`, `syntax` and `quasisyntax`; `let-syntax` whose body is spliced into the body around it.
//!
//! Patterns and templates become data, and lib/more/cairn/syntax-case.sld matches with the ones and builds from the
//! others:
//!
//! ```text
//! (syntax-case x (=>)                       (let ((s x))
//!   ((_ a => b ...) (ok #'a)                  (let ((m (match-syntax '(#t 0 #(literal => #f 268435456) . #(repeat …))
//! 2 s))
//!    #'(f (b a) ...)))              ⟶               (next (lambda () (no-clause s))))
//!                                               (if m (let ((a (vector-ref m 0)) (b (vector-ref m 1)))
//!                                                       (if (ok a) (build-syntax '#(id f …) …) (next)))
//!                                                     (next))))
//! ```
//!
//! | pattern | | template | |
//! |---|---|---|---|
//! | `#t` | anything | | |
//! | `k` | anything: slot `k` | `k` | what slot `k` holds |
//! | `#(literal name number place)` | an identifier that means this | `#(id name number place)` | an identifier |
//! | `#(datum x)` | this datum | `#(datum x)` | this datum |
//! | `(p . q)`, `()` | a pair, nothing | `(t . u)`, `()` | a pair, nothing |
//! | `#(vector p)` | a vector: the list of its elements | `#(vector t)` | a vector of a list |
//! | `#(repeat p slots after tail)` | `p ... after … . tail` | `#(repeat t levels rest)` | `t` for each element of the
//! slots of a level, levels outermost first; then the rest |
//! | | | `#(splice k rest)` | the list in slot `k`, then the rest |
//!
//! A pattern variable is a variable of the code around it ([`Binding::Pattern`]); for a template, those that it
//! mentions are put into slots. Of an identifier there are its name, its number unless it is a plain one, and where its
//! template stands: where the macro is defined inside of a transformer, else the top level of the module.

use super::core::Core;
use super::meaning::{Binding, Meaning, Region};
use super::observed::Form;
use super::procedural::place_code;
use super::state::{Expander, R, grow};
use crate::diagnostic::Span;
use crate::syntax::{Context, Datum, Ident, Syntax};
use cairn_core::ir::{Clause, Expr, Lambda, Literal, VarId};
use cairn_core::prim::{Op, PrimOp};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;
use std::rc::Rc;

const HELP: &str = "(syntax-case expression (literal …) (pattern [fender] expression) …)";

/// A pattern that is being read.
struct Pattern<'l> {
    literals: &'l [Ident],
    /// Pattern variables with their depths; index = slot.
    vars: Vec<(Ident, Span, u32)>,
}

/// A template that is being read.
struct Template {
    /// What the slots hold.
    values: Vec<Expr>,
    /// The slots of pattern variables.
    slots: FxHashMap<VarId, usize>,
    /// For each ellipsis around: the slots that it iterates over.
    open: Vec<Vec<usize>>,
    /// Is it one of `quasisyntax`?
    quasi: bool,
}

/// An element of a list in a template.
enum Piece {
    One(Literal),
    Repeat(Literal, Vec<Vec<usize>>),
    Splice(usize),
}

fn fixnum(n: i64) -> Literal {
    Literal::Number(Number::Int(Int::Fix(n)))
}

fn symbol(name: &str) -> Literal {
    Literal::Symbol(name.into())
}

fn vector(items: Vec<Literal>) -> Literal {
    Literal::Vector(items.into())
}

fn pair(a: Literal, b: Literal) -> Literal {
    Literal::Pair(Rc::new((a, b)))
}

fn list(items: impl DoubleEndedIterator<Item = Literal>) -> Literal {
    items.rev().fold(Literal::Nil, |tail, x| pair(x, tail))
}

fn fixnums(numbers: &[usize]) -> Literal {
    list(numbers.iter().map(|n| fixnum(*n as i64)))
}

impl Expander<'_> {
    pub(super) fn form_syntax_case(&mut self, form: &Syntax, items: &[Syntax]) -> R<Expr> {
        let [_, subject, literals, clauses @ ..] = items else {
            return self.err_help(form.span, "bad `syntax-case`", HELP);
        };
        let Some(literals) = literals.as_list() else {
            return self.err_help(literals.span, "a list of literals is expected here", HELP);
        };
        let mut ids = Vec::with_capacity(literals.len());
        for l in literals {
            match l.as_ident() {
                Some(id) => ids.push(id),
                None => return self.err_help(l.span, "a literal must be an identifier", HELP),
            }
        }
        let subject = self.expr(subject);
        let v = self.s.program.fresh_var("syntax");
        let mut code = self.no_clause(v, form.span)?;
        for clause in clauses.iter().rev() {
            code = grow(|| self.syntax_clause(clause, &ids, v, code))?;
        }
        Ok(Expr::Let(vec![(v, subject)], code.into()))
    }

    /// What is done with a form that no clause matches.
    fn no_clause(&mut self, v: VarId, span: Span) -> R<Expr> {
        let subject = self.local(v);
        self.library_call("syntax-case", "no-clause", vec![subject], span)
    }

    /// `syntax-rules` as an expression: a procedure that takes a form, as `syntax-case` makes them.
    pub(super) fn form_syntax_rules(&mut self, form: &Syntax) -> R<Expr> {
        let text = self.rules_text(form)?;
        let v = self.s.program.fresh_var("syntax");
        let mut body = self.no_clause(v, form.span)?;
        let outer = std::mem::replace(&mut self.ellipsis, text.ellipsis);
        for (pattern, template) in text.rules.iter().rev() {
            let clause = grow(|| {
                let mut p = Pattern { literals: &text.literals, vars: Vec::new() };
                let (front, tail) = pattern.parts();
                let operands = self.syntax_patterns(&mut p, &front[1..], tail, 0)?;
                let code = pair(Literal::Bool(true), operands);
                let output = |x: &mut Self| {
                    let e = x.form_syntax(template, false, template.span);
                    (None, x.recover(e))
                };
                self.matched_clause((p, code), output, v, body, pattern.span)
            });
            match clause {
                Ok(e) => body = e,
                Err(d) => {
                    self.ellipsis = outer;
                    return Err(d);
                }
            }
        }
        self.ellipsis = outer;
        let site = self.plain_site(form.span);
        let name = "syntax-rules".into();
        Ok(Expr::Lambda(Lambda { name, clauses: vec![Clause { params: vec![v], rest: None, body }], site }))
    }

    /// A clause, and `rest` where it does not match.
    fn syntax_clause(&mut self, clause: &Syntax, literals: &[Ident], v: VarId, rest: Expr) -> R<Expr> {
        let (pattern, fender, output) = match clause.as_list() {
            Some([pattern, output]) => (pattern, None, output),
            Some([pattern, fender, output]) => (pattern, Some(fender), output),
            _ => return self.err_help(clause.span, "not a clause of `syntax-case`", HELP),
        };
        let mut p = Pattern { literals, vars: Vec::new() };
        let code = self.syntax_pattern(&mut p, pattern, 0)?;
        let output = |x: &mut Self| (fender.map(|f| x.expr(f)), x.expr(output));
        self.matched_clause((p, code), output, v, rest, clause.span)
    }

    /// A clause whose pattern has been read; `output` makes its fender and its output.
    fn matched_clause(
        &mut self,
        (p, code): (Pattern<'_>, Literal),
        output: impl FnOnce(&mut Self) -> (Option<Expr>, Expr),
        v: VarId,
        rest: Expr,
        span: Span,
    ) -> R<Expr> {
        let mark = self.open_scope();
        let vars: Vec<VarId> =
            p.vars.iter().map(|(id, span, depth)| self.bind_pattern(*id, *span, *depth)).collect();
        let (fender, output) = output(self);
        self.close_scope(mark);
        let matched = self.s.program.fresh_var("match");
        let subject = self.local(v);
        let args = vec![Expr::Const(code), Expr::Const(fixnum(vars.len() as i64)), subject];
        let call = self.library_call("syntax-case", "match-syntax", args, span)?;
        let slots: Vec<(VarId, Expr)> = vars
            .into_iter()
            .enumerate()
            .map(|(i, var)| {
                let args = vec![Expr::Local(matched), Expr::Const(fixnum(i as i64))];
                (var, Expr::Prim { op: PrimOp::Op(Op::VectorRef), args, site: Site::NONE, proven: 0 })
            })
            .collect();
        let with_slots = |e: Expr| if slots.is_empty() { e } else { Expr::Let(slots, e.into()) };
        let test = Expr::Local(matched);
        let Some(fender) = fender else {
            let chosen = Expr::If(test.into(), with_slots(output).into(), rest.into());
            return Ok(Expr::Let(vec![(matched, call)], chosen.into()));
        };
        let next = self.s.program.fresh_var("next");
        let site = self.plain_site(span);
        let others = Lambda {
            name: "next".into(),
            clauses: vec![Clause { params: Vec::new(), rest: None, body: rest }],
            site,
        };
        let go_on = || Expr::Call(Expr::Local(next).into(), Vec::new(), Site::NONE);
        let output = with_slots(Expr::If(fender.into(), output.into(), go_on().into()));
        let chosen = Expr::If(test.into(), output.into(), go_on().into());
        Ok(Expr::Let(vec![(matched, call), (next, Expr::Lambda(others))], chosen.into()))
    }

    /// Where the identifiers of a template or pattern are looked up.
    fn template_place(&self) -> Context {
        self.transformer_at.unwrap_or(Context::top(self.ctx.module))
    }

    /// `#(kind name number place)`.
    fn syntax_identifier(&self, kind: &str, id: Ident) -> Literal {
        let number = match self.s.names.parent(id) {
            Some(_) => fixnum(i64::from(id.0)),
            None => Literal::Bool(false),
        };
        let place = fixnum(place_code(self.template_place()));
        vector(vec![symbol(kind), symbol(self.name(id)), number, place])
    }

    fn is_syntax_ellipsis(&self, x: &Syntax, literals: &[Ident]) -> bool {
        x.as_ident().is_some_and(|id| {
            !literals.contains(&id)
                && self.ellipsis.map_or_else(|| self.ident_is(id, self.ctx, Core::Ellipsis), |own| id == own)
        })
    }

    fn syntax_pattern(&mut self, p: &mut Pattern<'_>, x: &Syntax, depth: u32) -> R<Literal> {
        match &x.datum {
            Datum::Ident(id) => {
                if p.literals.contains(id) {
                    return Ok(self.syntax_identifier("literal", *id));
                }
                if self.is_syntax_ellipsis(x, p.literals) {
                    return self.misplaced_ellipsis(x.span);
                }
                if self.ident_is(*id, self.ctx, Core::Underscore) {
                    return Ok(Literal::Bool(true));
                }
                if p.vars.iter().any(|(v, ..)| v == id) {
                    let message = format!("the pattern variable `{}` appears twice", self.name(*id));
                    return self.err(x.span, message);
                }
                p.vars.push((*id, x.span, depth));
                Ok(fixnum(p.vars.len() as i64 - 1))
            }
            Datum::Nil => Ok(Literal::Nil),
            Datum::List(_) | Datum::Dotted(_) => grow(|| {
                let (items, tail) = x.parts();
                self.syntax_patterns(p, items, tail, depth)
            }),
            Datum::Vector(items) => grow(|| {
                let inner = self.syntax_patterns(p, items, None, depth)?;
                Ok(vector(vec![symbol("vector"), inner]))
            }),
            _ => Ok(vector(vec![symbol("datum"), self.literal(x)?])),
        }
    }

    fn misplaced_ellipsis<T>(&self, span: Span) -> R<T> {
        self.err_help(span, "misplaced ellipsis", "an ellipsis follows the pattern it repeats: (x ...)")
    }

    fn syntax_patterns(
        &mut self,
        p: &mut Pattern<'_>,
        items: &[Syntax],
        tail: Option<&Syntax>,
        depth: u32,
    ) -> R<Literal> {
        let at = items.iter().position(|x| self.is_syntax_ellipsis(x, p.literals));
        let fixed = match at {
            None => items.len(),
            Some(0) => return self.misplaced_ellipsis(items[0].span),
            Some(i) => i - 1,
        };
        let mut before = Vec::with_capacity(fixed);
        for x in &items[..fixed] {
            before.push(self.syntax_pattern(p, x, depth)?);
        }
        let mut end = Literal::Nil;
        let repeat = match at {
            None => None,
            Some(i) => {
                let first = p.vars.len();
                let repeated = self.syntax_pattern(p, &items[i - 1], depth + 1)?;
                let slots: Vec<usize> = (first..p.vars.len()).collect();
                let mut after = Vec::new();
                for x in &items[i + 1..] {
                    if self.is_syntax_ellipsis(x, p.literals) {
                        return self.err(x.span, "a second ellipsis at the same level of a pattern");
                    }
                    after.push(self.syntax_pattern(p, x, depth)?);
                }
                Some((repeated, slots, after))
            }
        };
        if let Some(t) = tail {
            end = self.syntax_pattern(p, t, depth)?;
        }
        if let Some((repeated, slots, after)) = repeat {
            end = vector(vec![symbol("repeat"), repeated, fixnums(&slots), list(after.into_iter()), end]);
        }
        Ok(before.into_iter().rev().fold(end, |tail, x| pair(x, tail)))
    }

    /// `(syntax template)` and `(quasisyntax template)`.
    pub(super) fn form_syntax(&mut self, template: &Syntax, quasi: bool, span: Span) -> R<Expr> {
        let mut t = Template { values: Vec::new(), slots: FxHashMap::default(), open: Vec::new(), quasi };
        let code = self.syntax_template(&mut t, template, true, 0)?;
        if let (Literal::Number(_), 1) = (&code, t.values.len()) {
            return Ok(t.values.remove(0)); // just a pattern variable
        }
        let slots = Expr::Prim { op: PrimOp::Vector, args: t.values, site: Site::NONE, proven: 0 };
        self.library_call("syntax-case", "build-syntax", vec![Expr::Const(code), slots], span)
    }

    fn syntax_template(&mut self, t: &mut Template, x: &Syntax, escapes: bool, level: usize) -> R<Literal> {
        match &x.datum {
            Datum::Ident(id) => {
                if let Meaning::Bound(Binding::Pattern(var, depth)) = self.resolve(*id) {
                    return self.template_variable(t, (*id, x.span), var, depth as usize);
                }
                if escapes && self.is_syntax_ellipsis(x, &[]) {
                    return self.err_help(
                        x.span,
                        "misplaced ellipsis",
                        "an ellipsis follows the template it repeats; (... ...) stands for an ellipsis itself",
                    );
                }
                Ok(self.syntax_identifier("id", *id))
            }
            Datum::List(items) if t.quasi => match &items[..] {
                [head, e] if self.is_keyword(head, Core::Unsyntax) => {
                    if level == 0 {
                        t.values.push(self.expr(e));
                        return Ok(fixnum(t.values.len() as i64 - 1));
                    }
                    grow(|| self.syntax_list(t, x, escapes, level - 1))
                }
                [head, _] if self.is_keyword(head, Core::Quasisyntax) => {
                    grow(|| self.syntax_list(t, x, escapes, level + 1))
                }
                _ => grow(|| self.syntax_list(t, x, escapes, level)),
            },
            Datum::Nil => Ok(Literal::Nil),
            Datum::List(_) | Datum::Dotted(_) => grow(|| self.syntax_list(t, x, escapes, level)),
            Datum::Vector(items) => grow(|| {
                let inner = self.syntax_elements(t, items, Literal::Nil, escapes, level)?;
                Ok(vector(vec![symbol("vector"), inner]))
            }),
            _ => Ok(vector(vec![symbol("datum"), self.literal(x)?])),
        }
    }

    fn template_variable(
        &mut self,
        t: &mut Template,
        (id, span): (Ident, Span),
        var: VarId,
        depth: usize,
    ) -> R<Literal> {
        if depth > t.open.len() {
            let name = self.name(id);
            let plural = if depth == 1 { "is" } else { "es" };
            let message =
                format!("`{name}` is repeated in the pattern; it needs {depth} ellips{plural} in the template");
            return self.err_help(span, message, format!("{name} ..."));
        }
        self.mention_head(&Syntax::ident(id, span), Binding::Pattern(var, depth as u32));
        let value = self.local(var);
        let slot = *t.slots.entry(var).or_insert_with(|| {
            t.values.push(value);
            t.values.len() - 1
        });
        let outer = t.open.len() - depth;
        for level in &mut t.open[outer..] {
            if !level.contains(&slot) {
                level.push(slot);
            }
        }
        Ok(fixnum(slot as i64))
    }

    fn syntax_list(&mut self, t: &mut Template, x: &Syntax, escapes: bool, level: usize) -> R<Literal> {
        let (items, tail) = x.parts();
        if escapes && tail.is_none() && self.is_syntax_ellipsis(&items[0], &[]) {
            return match items {
                [_, inner] => self.syntax_template(t, inner, false, level),
                _ => self.err_help(x.span, "bad escaped template", "(... template)"),
            };
        }
        // `(a . #,e)` is read as `(a unsyntax e)`
        let (items, tail) = match items {
            [before @ .., head, e]
                if t.quasi && tail.is_none() && !before.is_empty() && self.is_of_quasi(head) =>
            {
                let span = Span { start: head.span.start, ..e.span };
                (before, Some(Syntax::new(Datum::List(vec![head.clone(), e.clone()].into()), span)))
            }
            _ => (items, tail.cloned()),
        };
        let end = match tail {
            Some(tail) => self.syntax_template(t, &tail, escapes, level)?,
            None => Literal::Nil,
        };
        self.syntax_elements(t, items, end, escapes, level)
    }

    fn is_of_quasi(&mut self, head: &Syntax) -> bool {
        self.is_keyword(head, Core::Unsyntax) || self.is_keyword(head, Core::Quasisyntax)
    }

    fn syntax_elements(
        &mut self,
        t: &mut Template,
        items: &[Syntax],
        end: Literal,
        escapes: bool,
        level: usize,
    ) -> R<Literal> {
        let mut pieces = Vec::with_capacity(items.len());
        let mut i = 0;
        while i < items.len() {
            let x = &items[i];
            let mut n = 0;
            while escapes && items.get(i + 1 + n).is_some_and(|y| self.is_syntax_ellipsis(y, &[])) {
                n += 1;
            }
            i += 1 + n;
            if let (true, 0, Some([head, values @ ..])) = (t.quasi && level == 0, n, x.as_list()) {
                let spliced = self.is_keyword(head, Core::UnsyntaxSplicing);
                if spliced || values.len() != 1 && self.is_keyword(head, Core::Unsyntax) {
                    for e in values {
                        t.values.push(self.expr(e));
                        let slot = t.values.len() - 1;
                        pieces.push(if spliced { Piece::Splice(slot) } else { Piece::One(fixnum(slot as i64)) });
                    }
                    continue;
                }
            }
            let base = t.open.len();
            t.open.resize(base + n, Vec::new());
            let inner = match x.as_list() {
                Some([head, ..]) if t.quasi && level > 0 && self.is_keyword(head, Core::UnsyntaxSplicing) => {
                    self.syntax_list(t, x, escapes, level - 1)?
                }
                _ => self.syntax_template(t, x, escapes, level)?,
            };
            let levels = t.open.split_off(base);
            if levels.iter().any(Vec::is_empty) {
                return self.err_help(
                    x.span,
                    "nothing to repeat: no pattern variable with an ellipsis stands before this ellipsis",
                    "an ellipsis repeats a template with variables that an ellipsis follows in the pattern",
                );
            }
            pieces.push(if n == 0 { Piece::One(inner) } else { Piece::Repeat(inner, levels) });
        }
        Ok(pieces.into_iter().rev().fold(end, |rest, piece| match piece {
            Piece::One(x) => pair(x, rest),
            Piece::Repeat(x, levels) => {
                let levels = list(levels.iter().map(|level| fixnums(level)));
                vector(vec![symbol("repeat"), x, levels, rest])
            }
            Piece::Splice(slot) => vector(vec![symbol("splice"), fixnum(slot as i64), rest]),
        }))
    }

    /// R6RS's `let-syntax` or `letrec-syntax`, whose body stands in the place of the form: its definitions belong to
    /// the body around it, but its keywords mean something in its region only. That is where we are from now on.
    pub(super) fn splicing_let_syntax(&mut self, form: &Syntax, parts: &[Syntax], recursive: bool) -> R<()> {
        const HELP: &str = "(let-syntax ((keyword transformer) …) form …)";
        let [_, specs, ..] = parts else {
            return self.err_help(form.span, "`let-syntax` takes bindings and a body, got nothing", HELP);
        };
        let outer = self.ctx;
        self.s.regions.push(Region { keywords: FxHashMap::default(), depth: outer.depth, outer: outer.region });
        let region = self.s.regions.len() as u32;
        let transformers_at = if recursive { region } else { outer.region };
        for spec in specs.as_list().unwrap_or(std::slice::from_ref(specs)) {
            let Some([name, transformer]) = spec.as_list() else {
                return self.err_help(spec.span, "not a binding", HELP);
            };
            let Some(id) = name.as_ident() else {
                return self.err_help(name.span, "a keyword must be an identifier", HELP);
            };
            self.ctx.region = transformers_at;
            let binding = self.transformer(transformer, id);
            self.ctx.region = outer.region;
            let binding = binding?;
            // the body is no part of the definition
            self.observe_scan(spec.span, false);
            self.mention_definition(id, name.span, binding, Form::Macro);
            self.s.regions[region as usize - 1].keywords.insert(id, binding);
        }
        self.ctx.region = region;
        Ok(())
    }
}
