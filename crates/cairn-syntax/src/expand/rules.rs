//! `syntax-rules`.
//!
//! A macro is compiled when it is defined: pattern variables become slots, the other symbols of a template
//! become indices into a list, and each ellipsis of a template knows the slots that it iterates over.
//!
//! ```text
//! (_ (name value) ...)    Seq { repeat: Seq { before: [Slot 0, Slot 1] } }       slots 0, 1 of depth 1
//! (let ((name value) ...) #t)   ⟶   Seq [Ident 0, Seq [Seq [Slot 0, Slot 1] ...{0,1}], #t]     idents: let
//! ```
//!
//! Instantiating makes one fresh alias per symbol and expansion (see `scope`). A variable followed by more
//! ellipses in the template than in its pattern is repeated by the innermost ones.

use super::core::Core;
use super::macros::{Body, Element, Macro, Pattern, Rule, SeqPattern, Template, Way};
use super::meaning::{Binding, Meaning};
use super::state::{Expander, MAX_EXPANSION_DEPTH, R, grow};
use super::trace::{MAKERS_SHOWN, Root, Step, maker};
use crate::diagnostic::Span;
use crate::syntax::{Datum, Ident, Items, Label, Syntax};
use cairn_core::ir::Expr;
use cairn_layout::code::Site;
use std::cell::Cell;
use std::rc::Rc;

/// What a slot holds.
#[derive(Clone)]
enum Match {
    None,
    One(Syntax),
    Many(Rc<Vec<Match>>),
}

/// What a `syntax-rules` consists of.
pub(super) struct RulesText {
    pub(super) ellipsis: Option<Ident>,
    pub(super) literals: Vec<Ident>,
    /// Patterns, each a list that is not empty, and templates.
    pub(super) rules: Vec<(Syntax, Syntax)>,
}

/// State of compiling one rule.
struct RuleCompiler {
    ellipsis: Option<Ident>,
    literals: Vec<Ident>,
    /// Which ellipses of a template are too many for a variable that has fewer in its pattern?
    innermost: bool,
    /// Pattern variables with their depths; index = slot.
    vars: Vec<(Ident, usize)>,
    idents: Vec<Ident>,
}

impl Expander<'_> {
    /// The meaning of the second operand of `define-syntax`.
    pub(super) fn transformer(&mut self, x: &Syntax, name: Ident) -> R<Binding> {
        const HELP: &str = "(syntax-rules (literal …) (pattern template) …)";
        let outer = self.trace.clone();
        let mut x = x.clone();
        let result = loop {
            if let Some(id) = x.as_ident() {
                break match self.resolve(id) {
                    Meaning::Bound(b @ (Binding::Core(_) | Binding::Macro(_))) => {
                        self.mention_head(&x, b);
                        Ok(b)
                    }
                    Meaning::Bound(Binding::Global(_)) if self.has_syntax_case() => {
                        self.transforming_procedure(&x, name)
                    }
                    _ => self.err_help(x.span, "a macro is expected here", HELP),
                };
            }
            let head = x.as_list().and_then(|l| l.first()).and_then(Syntax::as_ident);
            if let Some(Meaning::Bound(Binding::Core(core))) = head.map(|id| self.resolve(id))
                && let Some(way) = Way::of(core)
            {
                break self.procedure(&x, way).map(|p| self.new_macro(name, x.span, Body::Procedure(p)));
            }
            match head.map(|id| self.resolve(id)) {
                Some(Meaning::Bound(Binding::Core(core @ (Core::SyntaxRules | Core::InnermostSyntaxRules)))) => {
                    let innermost = core == Core::InnermostSyntaxRules;
                    break self
                        .syntax_rules(&x, innermost)
                        .map(|rules| self.new_macro(name, x.span, Body::Rules(rules)));
                }
                Some(Meaning::Bound(Binding::Macro(m))) => match self.expand_macro(m, &x) {
                    Ok(y) => x = y,
                    Err(d) => break Err(d),
                },
                _ if x.as_list().is_some_and(|l| !l.is_empty()) && self.has_syntax_case() => {
                    break self.transforming_procedure(&x, name);
                }
                _ => {
                    let name = head.map(|id| self.name(id).clone());
                    let help = match name.as_deref() {
                        Some("lambda") => "(import (rnrs syntax-case)) brings syntax-case",
                        Some(n) if n.ends_with("-macro-transformer") => {
                            "(import (cairn macro)) brings transformers that are procedures"
                        }
                        _ => HELP,
                    };
                    break self.err_help(x.span, "`syntax-rules` is expected here", help);
                }
            }
        };
        self.trace = outer;
        result
    }

    /// Are transformers expressions where we are?
    pub(super) fn has_syntax_case(&mut self) -> bool {
        self.s.syntax_case || self.module().builtin
    }

    fn transforming_procedure(&mut self, x: &Syntax, name: Ident) -> R<Binding> {
        let p = self.procedure_of(x, x.span, Way::Syntax)?;
        Ok(self.new_macro(name, x.span, Body::Procedure(p)))
    }

    /// The macro whose transformer is a procedure of this body.
    pub(super) fn transforming_lambda(
        &mut self,
        name: Ident,
        formals: &Syntax,
        body: &[Syntax],
        span: Span,
    ) -> R<Binding> {
        let text = self.name(name).clone();
        let make = |x: &mut Self| {
            let r = x.lambda(text, formals, body, span).map(Expr::Lambda);
            x.recover(r)
        };
        let p = self.procedure_by(make, span, Way::Syntax)?;
        Ok(self.new_macro(name, span, Body::Procedure(p)))
    }

    fn new_macro(&mut self, name: Ident, span: Span, body: Body) -> Binding {
        let library = self.s.sources.get(span.file as usize).is_some_and(|f| f.library);
        self.s.macros.push(Rc::new(Macro { name, context: self.ctx, library, body, span }));
        Binding::Macro(self.s.macros.len() as u32 - 1)
    }

    /// The macro that a transformer makes.
    pub(super) fn macro_of(&mut self, x: &Syntax, name: Ident) -> R<Rc<Macro>> {
        match self.transformer(x, name)? {
            Binding::Macro(m) => Ok(self.s.macros[m as usize].clone()),
            _ => self.err_help(
                x.span,
                "a keyword cannot be the value of a syntax parameter",
                "(syntax-rules () ((_ form ...) (keyword form ...))) makes a macro of it",
            ),
        }
    }

    /// `(define-syntax-parameter name transformer)`: a macro of its own, which `syntax-parameterize` may replace.
    pub(super) fn syntax_parameter(&mut self, x: &Syntax, name: Ident) -> R<Binding> {
        let m = self.macro_of(x, name)?;
        self.s.macros.push(m);
        let parameter = self.s.macros.len() as u32 - 1;
        self.s.syntax_parameters.insert(parameter);
        Ok(Binding::Macro(parameter))
    }

    /// The macro that a keyword names, if it is a syntax parameter.
    pub(super) fn resolve_syntax_parameter(&mut self, id: Ident) -> Option<u32> {
        match self.resolve(id) {
            Meaning::Bound(Binding::Macro(m)) if self.s.syntax_parameters.contains(&m) => Some(m),
            _ => None,
        }
    }

    /// The macro that a keyword names, if it is one of a program or a library.
    pub(super) fn resolve_macro(&mut self, id: Ident) -> Option<u32> {
        match self.resolve(id) {
            Meaning::Bound(Binding::Macro(m)) => Some(m),
            _ => None,
        }
    }

    /// Variables that more ellipses follow in a template than in their pattern go along with the inner ones, as R6RS
    /// has it, or, when `innermost`, with the outer ones, as SRFI 149 has it: its excess is the innermost.
    ///
    /// ```text
    /// ((_ (a b ...) ...) '(((a b) ...) ...)) of (_ (1 2 3) (4 5 6)):
    ///     (((1 2) (4 3)) ((1 5) (4 6)))      innermost: (((1 2) (1 3)) ((4 5) (4 6)))
    /// ```
    fn syntax_rules(&mut self, x: &Syntax, innermost: bool) -> R<Vec<Rule>> {
        let RulesText { ellipsis, literals, rules } = self.rules_text(x)?;
        let mut compiled = Vec::with_capacity(rules.len());
        for (pattern, template) in &rules {
            let literals = literals.clone();
            let mut c = RuleCompiler { ellipsis, literals, innermost, vars: Vec::new(), idents: Vec::new() };
            let (front, tail) = pattern.parts();
            let span = pattern.span;
            let shown = Span { start: front[0].span.end, ..span };
            let pattern = self.seq_pattern(&mut c, &front[1..], tail, 0, span)?;
            let template = self.template(&mut c, template, &mut Vec::new(), true)?;
            compiled.push(Rule {
                pattern: Pattern::Seq(pattern.into()),
                template,
                slots: c.vars.len(),
                span: shown,
                idents: c.idents,
            });
        }
        Ok(compiled)
    }

    /// The parts of a `syntax-rules`.
    pub(super) fn rules_text(&mut self, x: &Syntax) -> R<RulesText> {
        const HELP: &str = "(syntax-rules (literal …) (pattern template) …) or \
                            (syntax-rules ellipsis (literal …) (pattern template) …)";
        let items = x.as_list().unwrap_or(&[]);
        let (ellipsis, rest) = match items.get(1).and_then(Syntax::as_ident) {
            Some(id) => (Some(id), items.get(2..).unwrap_or(&[])),
            None => (None, items.get(1..).unwrap_or(&[])),
        };
        let Some((literal_list, rules)) = rest.split_first() else {
            return self.takes(x.span, items, "a list of literals and rules", HELP);
        };
        let Some(literal_list) = literal_list.as_list() else {
            return self.err_help(literal_list.span, "a list of literals is expected here", HELP);
        };
        let mut literals = Vec::new();
        for l in literal_list {
            match l.as_ident() {
                Some(id) => literals.push(id),
                None => return self.err_help(l.span, "a literal must be an identifier", HELP),
            }
        }
        let mut read = Vec::with_capacity(rules.len());
        for rule in rules {
            let Some([pattern, template]) = rule.as_list() else {
                return self.err_help(rule.span, "not a rule", "((keyword pattern …) template)");
            };
            if pattern.parts().0.is_empty() {
                return self.err_help(pattern.span, "a pattern must be a list that begins with the keyword", HELP);
            }
            read.push((pattern.clone(), template.clone()));
        }
        Ok(RulesText { ellipsis, literals, rules: read })
    }

    fn is_ellipsis(&self, c: &RuleCompiler, x: &Syntax) -> bool {
        let Some(id) = x.as_ident() else { return false };
        match c.ellipsis {
            Some(e) => id == e && !c.literals.contains(&id),
            None => !c.literals.contains(&id) && self.ident_is(id, self.ctx, Core::Ellipsis),
        }
    }

    // patterns

    fn pattern(&mut self, c: &mut RuleCompiler, x: &Syntax, depth: usize) -> R<Pattern> {
        match &x.datum {
            Datum::Ident(id) => {
                if c.literals.contains(id) {
                    return Ok(Pattern::Literal(*id));
                }
                if self.is_ellipsis(c, x) {
                    return self.err_help(
                        x.span,
                        "misplaced ellipsis",
                        "an ellipsis follows the pattern it repeats: (x ...)",
                    );
                }
                if self.ident_is(*id, self.ctx, Core::Underscore) {
                    return Ok(Pattern::Any);
                }
                if c.vars.iter().any(|(v, _)| v == id) {
                    let message = format!("the pattern variable `{}` appears twice", self.name(*id));
                    return self.err(x.span, message);
                }
                c.vars.push((*id, depth));
                Ok(Pattern::Slot(c.vars.len() - 1))
            }
            Datum::Nil | Datum::List(_) | Datum::Dotted(_) => grow(|| {
                let (items, tail) = x.parts();
                Ok(Pattern::Seq(self.seq_pattern(c, items, tail, depth, x.span)?.into()))
            }),
            Datum::Vector(items) => {
                grow(|| Ok(Pattern::Vector(self.seq_pattern(c, items, None, depth, x.span)?.into())))
            }
            _ => Ok(Pattern::Datum(x.clone())),
        }
    }

    fn seq_pattern(
        &mut self,
        c: &mut RuleCompiler,
        items: &[Syntax],
        tail: Option<&Syntax>,
        depth: usize,
        span: Span,
    ) -> R<SeqPattern> {
        let at = items.iter().position(|x| self.is_ellipsis(c, x));
        let mut seq = SeqPattern { before: Vec::new(), repeat: None, after: Vec::new(), tail: None };
        let fixed = match at {
            None => items.len(),
            Some(0) => {
                return self.err_help(
                    items[0].span,
                    "misplaced ellipsis",
                    "an ellipsis follows the pattern it repeats: (x ...)",
                );
            }
            Some(i) => i - 1,
        };
        for x in &items[..fixed] {
            seq.before.push(self.pattern(c, x, depth)?);
        }
        if let Some(i) = at {
            let first = c.vars.len();
            let p = self.pattern(c, &items[i - 1], depth + 1)?;
            seq.repeat = Some((p, (first..c.vars.len()).collect()));
            for x in &items[i + 1..] {
                if self.is_ellipsis(c, x) {
                    return self.err(x.span, "a second ellipsis at the same level of a pattern").map_err(
                        |mut d: Box<crate::diagnostic::Diagnostic>| {
                            d.notes.push((span, "in this pattern".into()));
                            d
                        },
                    );
                }
                seq.after.push(self.pattern(c, x, depth)?);
            }
        }
        if let Some(t) = tail {
            seq.tail = Some(self.pattern(c, t, depth)?);
        }
        Ok(seq)
    }

    // templates

    /// `open` holds, for each enclosing ellipsis, the slots found so far that it iterates over.
    fn template(
        &mut self,
        c: &mut RuleCompiler,
        x: &Syntax,
        open: &mut Vec<Vec<usize>>,
        escapes: bool,
    ) -> R<Template> {
        match &x.datum {
            Datum::Ident(id) => {
                if let Some(slot) = c.vars.iter().position(|(v, _)| v == id) {
                    let depth = c.vars[slot].1;
                    if depth > open.len() {
                        let message = format!(
                            "`{}` is repeated in the pattern; it needs {depth} ellips{} in the template",
                            self.name(*id),
                            if depth == 1 { "is" } else { "es" }
                        );
                        return self.err_help(x.span, message, format!("{} ...", self.name(*id)));
                    }
                    let first = if c.innermost { 0 } else { open.len() - depth };
                    for level in &mut open[first..first + depth] {
                        if !level.contains(&slot) {
                            level.push(slot);
                        }
                    }
                    return Ok(Template::Slot(slot));
                }
                if escapes && self.is_ellipsis(c, x) {
                    return self.err_help(
                        x.span,
                        "misplaced ellipsis",
                        "an ellipsis follows the template it repeats; (... ...) stands for an ellipsis itself",
                    );
                }
                let index = match c.idents.iter().position(|i| i == id) {
                    Some(i) => i,
                    None => {
                        c.idents.push(*id);
                        c.idents.len() - 1
                    }
                };
                Ok(Template::Ident(index, x.span))
            }
            Datum::List(items) if escapes && self.is_ellipsis(c, &items[0]) => match &items[..] {
                [_, inner] => grow(|| self.template(c, inner, open, false)),
                _ => self.err_help(x.span, "bad escaped template", "(... template)"),
            },
            Datum::List(_) | Datum::Dotted(_) => grow(|| {
                let (items, tail) = x.parts();
                let elements = self.elements(c, items, open, escapes)?;
                let tail = match tail {
                    Some(t) => Some(self.template(c, t, open, escapes)?.into()),
                    None => None,
                };
                Ok(Template::Seq(elements, tail, x.span))
            }),
            Datum::Vector(items) => grow(|| Ok(Template::Vector(self.elements(c, items, open, escapes)?, x.span))),
            Datum::Labeled(label, items) => grow(|| {
                let inner = self.template(c, &items[0], open, escapes)?;
                Ok(Template::Labeled(*label, inner.into(), x.span))
            }),
            Datum::Reference(label) => Ok(Template::Reference(*label, x.span)),
            _ => Ok(Template::Datum(x.clone())),
        }
    }

    fn elements(
        &mut self,
        c: &mut RuleCompiler,
        items: &[Syntax],
        open: &mut Vec<Vec<usize>>,
        escapes: bool,
    ) -> R<Vec<Element>> {
        let mut out = Vec::with_capacity(items.len());
        let mut i = 0;
        while i < items.len() {
            let x = &items[i];
            let mut n = 0;
            while escapes && items.get(i + 1 + n).is_some_and(|y| self.is_ellipsis(c, y)) {
                n += 1;
            }
            let base = open.len();
            open.resize(base + n, Vec::new());
            let template = self.template(c, x, open, escapes)?;
            let ellipses = open.split_off(base);
            if ellipses.iter().any(Vec::is_empty) {
                return self.err_help(
                    x.span,
                    "nothing to repeat: no pattern variable with an ellipsis stands before this ellipsis",
                    "an ellipsis repeats a template with variables that an ellipsis follows in the pattern",
                );
            }
            out.push(Element { template, ellipses });
            i += 1 + n;
        }
        Ok(out)
    }

    // use

    /// What is expanded from here on has come out of this use.
    fn enter(&mut self, m: &Macro, span: Span, depth: u32, origin: Span, root: Rc<Root>) {
        let began = self.began(m, span);
        self.trace =
            Some(Rc::new(Step { name: m.name, span, began, depth, origin, root, outer: self.trace.take() }));
    }

    /// See [`Step::began`].
    fn began(&mut self, m: &Macro, span: Span) -> Site {
        let by = if m.library { None } else { maker(span, self.trace.as_ref()) };
        match by {
            Some(s) if self.name(s.name) == self.name(m.name) => s.began,
            Some(s) if self.s.program.inlined.depth(s.began) >= MAKERS_SHOWN => s.began,
            Some(s) => {
                let (name, at) = (self.name(s.name).clone(), s.began);
                self.made_site(span, name, at)
            }
            None => Site::new(span.file, span.start),
        }
    }

    /// One step of expansion. The trace remembers it. After an endless expansion was found, all fail.
    pub(super) fn expand_macro(&mut self, m: u32, form: &Syntax) -> R<Syntax> {
        let m = self.s.macros[m as usize].clone();
        let (depth, origin) = match &self.trace {
            Some(s) if !form.span.is_strictly_inside(s.origin) => (s.depth + 1, s.origin),
            _ => (0, form.span),
        };
        let root = match &self.trace {
            Some(s) => s.root.clone(),
            None => Rc::new(Root { name: m.name, span: form.span, size: Cell::new(0) }),
        };
        if self.endless {
            return Err(crate::diagnostic::Diagnostic::new(form.span, "").into()); // reported once is enough
        }
        if depth > MAX_EXPANSION_DEPTH {
            self.endless = true;
            let message = format!("the expansion of `{}` does not end", self.name(m.name));
            return self.err(form.span, message);
        }
        let rules = match &m.body {
            Body::Rules(rules) => rules,
            Body::Procedure(p) => {
                let out = self.run_procedure(&m, p, form, &root)?;
                self.enter(&m, form.span, depth, origin, root);
                return Ok(out);
            }
        };
        let (front, tail) = form.parts();
        let args = front.get(1..).unwrap_or(&[]);
        for rule in rules {
            let mut slots = vec![Match::None; rule.slots];
            let Pattern::Seq(seq) = &rule.pattern else { continue };
            if self.match_seq(seq, args, tail, form.span, &mut slots, &m) {
                let aliases = vec![None; rule.idents.len()];
                let labels = Vec::new();
                let mut run = Instance { m: &m, rule, aliases, first: None, slots, labels, span: form.span, root };
                let out = self.instantiate(&mut run, &rule.template)?;
                let root = run.root;
                self.enter(&m, form.span, depth, origin, root);
                return Ok(out);
            }
        }
        let message = format!("no pattern of the macro `{}` matches this", self.name(m.name));
        let mut d = self.diagnostic(form.span, message);
        if !m.library {
            d = d.note(m.span, "the macro is defined here");
        }
        let name = self.name(m.name);
        let show = |r: &Rule| match self.text_at(r.span, 60) {
            rest if rest == ")" => format!("({name})"),
            rest => format!("({name} {rest}"),
        };
        let patterns: Vec<String> = rules.iter().take(4).map(show).collect();
        let more = if rules.len() > 4 { " or …" } else { "" };
        Err(d.help(patterns.join(" or ") + more).into())
    }

    fn matches(&self, p: &Pattern, x: &Syntax, slots: &mut [Match], m: &Macro) -> bool {
        let x = if let Pattern::Slot(_) = p { x } else { x.unlabeled() };
        match p {
            Pattern::Any => true,
            Pattern::Slot(i) => {
                slots[*i] = Match::One(x.clone());
                true
            }
            Pattern::Literal(l) => x.as_ident().is_some_and(|id| self.is_literal(id, *l, m.context)),
            Pattern::Datum(d) => same_datum(d, x),
            Pattern::Seq(seq) => {
                let (items, tail) = x.parts();
                grow(|| self.match_seq(seq, items, tail, x.span, slots, m))
            }
            Pattern::Vector(seq) => match &x.datum {
                Datum::Vector(items) => grow(|| self.match_seq(seq, items, None, x.span, slots, m)),
                _ => false,
            },
        }
    }

    fn match_seq(
        &self,
        seq: &SeqPattern,
        items: &[Syntax],
        tail: Option<&Syntax>,
        span: Span,
        slots: &mut [Match],
        m: &Macro,
    ) -> bool {
        let needed = seq.before.len() + seq.after.len();
        if items.len() < needed {
            return false;
        }
        if !seq.before.iter().zip(items).all(|(p, x)| self.matches(p, x, slots, m)) {
            return false;
        }
        let mut rest = &items[seq.before.len()..];
        if let Some((p, vars)) = &seq.repeat {
            let (middle, after) = rest.split_at(rest.len() - seq.after.len());
            let mut found: Vec<Vec<Match>> = vars.iter().map(|_| Vec::with_capacity(middle.len())).collect();
            for x in middle {
                if !self.matches(p, x, slots, m) {
                    return false;
                }
                for (v, list) in vars.iter().zip(&mut found) {
                    list.push(std::mem::replace(&mut slots[*v], Match::None));
                }
            }
            for (v, list) in vars.iter().zip(found) {
                slots[*v] = Match::Many(Rc::new(list));
            }
            if !seq.after.iter().zip(after).all(|(p, x)| self.matches(p, x, slots, m)) {
                return false;
            }
            rest = &[];
        }
        match &seq.tail {
            None => rest.is_empty() && tail.is_none(),
            Some(p) => {
                let span = match (rest.first(), tail) {
                    (Some(first), _) => Span { start: first.span.start, ..span },
                    (None, Some(t)) => t.span,
                    (None, None) => span,
                };
                let x = match tail {
                    Some(t) => Syntax::dotted(rest.to_vec(), t.clone(), span),
                    None => Syntax::list(rest.to_vec(), span),
                };
                self.matches(p, &x, slots, m)
            }
        }
    }

    fn instantiate(&mut self, run: &mut Instance, t: &Template) -> R<Syntax> {
        match t {
            Template::Slot(i) => match &run.slots[*i] {
                Match::One(x) => Ok(x.clone()),
                _ => self.err(run.span, "a pattern variable has different ellipsis depths in one template"),
            },
            Template::Ident(i, span) => {
                let id = match run.aliases[*i] {
                    Some(id) => id,
                    None => {
                        let parent = run.rule.idents[*i];
                        let first = *run.first.get_or_insert(Ident(self.s.names.len() as u32));
                        let id = self.s.names.alias_in(first, parent, run.m.context);
                        run.aliases[*i] = Some(id);
                        id
                    }
                };
                Ok(Syntax::ident(id, run.place(*span)))
            }
            Template::Datum(x) => Ok(Syntax::new(x.datum.clone(), run.place(x.span))),
            Template::Seq(elements, tail, span) => grow(|| {
                let items = self.instantiate_all(run, elements)?;
                let span = run.place(*span);
                match tail {
                    Some(t) => {
                        let tail = self.instantiate(run, t)?;
                        self.count_expansion(&run.root, tail.parts().0.len())?; // copied
                        Ok(Syntax::dotted(items, tail, span))
                    }
                    None => Ok(Syntax::list(items, span)),
                }
            }),
            Template::Vector(elements, span) => grow(|| {
                let items = self.instantiate_all(run, elements)?;
                Ok(Syntax::new(Datum::Vector(items.into()), run.place(*span)))
            }),
            Template::Labeled(label, inner, span) => {
                if let Some(NewLabel { datum: Some(d), .. }) = run.label(*label) {
                    return Ok(Syntax::new(d.clone(), run.place(*span)));
                }
                let new = Label { cyclic: label.cyclic, ..self.s.names.label() };
                let at = run.labels.len();
                run.labels.push(NewLabel { old: label.id, new, datum: None });
                let inner = grow(|| self.instantiate(run, inner))?;
                let datum = Datum::Labeled(new, Items::from(vec![inner]));
                run.labels[at].datum = Some(datum.clone());
                Ok(Syntax::new(datum, run.place(*span)))
            }
            Template::Reference(label, span) => {
                let new = run.label(*label).map_or(*label, |l| l.new);
                Ok(Syntax::new(Datum::Reference(new), run.place(*span)))
            }
        }
    }

    fn instantiate_all(&mut self, run: &mut Instance, elements: &[Element]) -> R<Vec<Syntax>> {
        let mut out = Vec::with_capacity(elements.len());
        for e in elements {
            self.repeat(run, e, 0, &mut out)?;
        }
        Ok(out)
    }

    fn repeat(&mut self, run: &mut Instance, e: &Element, level: usize, out: &mut Vec<Syntax>) -> R<()> {
        let Some(vars) = e.ellipses.get(level) else {
            self.count_expansion(&run.root, 1)?;
            let mark = run.labels.len();
            out.push(self.instantiate(run, &e.template)?);
            if level > 0 {
                run.labels.truncate(mark);
            }
            return Ok(());
        };
        let mut saved = Vec::with_capacity(vars.len());
        for v in vars {
            match &run.slots[*v] {
                Match::Many(list) => saved.push((*v, list.clone())),
                _ => {
                    return self.err(run.span, "a pattern variable has different ellipsis depths in one template");
                }
            }
        }
        let len = saved.first().map_or(0, |(_, l)| l.len());
        if let Some((_, other)) = saved.iter().find(|(_, l)| l.len() != len) {
            let message = format!(
                "parts of this macro use that belong together differ in number: {len} and {}",
                other.len()
            );
            return self.err(run.span, message);
        }
        for i in 0..len {
            for (v, list) in &saved {
                run.slots[*v] = list[i].clone();
            }
            self.repeat(run, e, level + 1, out)?;
        }
        for (v, list) in saved {
            run.slots[v] = Match::Many(list);
        }
        Ok(())
    }

    /// A datum as text, for messages.
    pub(super) fn show(&self, x: &Syntax) -> String {
        crate::read::show(x, &self.s.names)
    }
}

/// One expansion.
struct Instance<'m> {
    m: &'m Macro,
    rule: &'m Rule,
    aliases: Vec<Option<Ident>>,
    /// The first of them that was made.
    first: Option<Ident>,
    slots: Vec<Match>,
    labels: Vec<NewLabel>,
    span: Span,
    root: Rc<Root>,
}

/// What became of a template's label in this expansion, or in this repetition of an ellipsis.
struct NewLabel {
    old: u32,
    new: Label,
    /// Absent while inside of it.
    datum: Option<Datum>,
}

impl Instance<'_> {
    fn label(&self, old: Label) -> Option<&NewLabel> {
        self.labels.iter().rev().find(|l| l.old == old.id)
    }

    /// Code from templates in lib/ takes the place of the use.
    fn place(&self, span: Span) -> Span {
        if self.m.library { self.span } else { span }
    }
}

fn same_datum(a: &Syntax, b: &Syntax) -> bool {
    match (&a.datum, &b.datum) {
        (Datum::Bool(a), Datum::Bool(b)) => a == b,
        (Datum::Char(a), Datum::Char(b)) => a == b,
        (Datum::String(a), Datum::String(b)) => a == b,
        (Datum::Bytes(a), Datum::Bytes(b)) => a == b,
        (Datum::Numbers(k, a), Datum::Numbers(l, b)) => k == l && a == b,
        (Datum::Number(a), Datum::Number(b)) => format!("{a:?}") == format!("{b:?}"),
        (Datum::Eof, Datum::Eof) | (Datum::Default, Datum::Default) | (Datum::Unspecified, Datum::Unspecified) => {
            true
        }
        _ => false,
    }
}
