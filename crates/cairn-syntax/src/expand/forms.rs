//! Expressions: references, calls, and the forms that are not about binding (`if`, `set!`, `cond`, `case`, `guard`, …).
//!
//! Derived forms become Core directly, not by way of macros: faster, and a message names the form that the user wrote.

use super::core::{CORE_FORMS, Core};
use super::meaning::{Binding, Meaning};
use super::observed::Role;
use super::prims::{prim, unspecified};
use super::scan::sequence;
use super::state::{Expander, R};
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Datum, Ident, Syntax};
use cairn_core::ir::{Clause, Expr, Lambda, Literal, Shots, VarId};
use cairn_core::prim::{Kind, Op, PrimOp};
use cairn_num::{Int, Number};
use std::rc::Rc;

/// A clause of `cond` or `case` after expansion.
enum Consequence {
    /// The test's value.
    Test,
    /// Expressions.
    Body(Expr),
    /// `=> receiver`.
    Receiver(Expr, Span),
}

impl Expander<'_> {
    /// Expands an expression. Errors are reported; the result is then an unspecified constant.
    pub(super) fn expr(&mut self, x: &Syntax) -> Expr {
        self.expr_named(x, None)
    }

    /// Expands an expression; a lambda gets the name of the variable that it is bound to.
    pub(super) fn expr_named(&mut self, x: &Syntax, name: Option<Ident>) -> Expr {
        let r = match &x.datum {
            Datum::List(_) | Datum::Dotted(_) => self.nested(x.span, |e| {
                let outer = e.trace.clone();
                let r = e.compound(x, name);
                let result = e.recover(r);
                e.trace = outer;
                Ok(result)
            }),
            Datum::Ident(id) => match self.identifier_macro(*id) {
                Some(m) => self.nested(x.span, |e| {
                    let outer = e.trace.clone();
                    e.mention_head(x, Binding::Macro(m));
                    let r = e.expand_macro(m, x).map(|y| e.expr_named(&y, name));
                    let result = e.recover(r);
                    e.trace = outer;
                    Ok(result)
                }),
                None => self.reference(*id, x.span),
            },
            Datum::Labeled(label, _) if !label.cyclic => return self.expr_named(x.unlabeled(), name),
            Datum::Nil => {
                self.err_help(x.span, "an empty combination is not an expression", "the empty list is '()")
            }
            _ => match self.embedded_object(x) {
                Some(e) => Ok(e),
                None => self.literal(x).map(Expr::Const),
            },
        };
        let e = self.recover(r);
        self.counted_expression(x.span, matches!(x.datum, Datum::List(_)), e)
    }

    pub(super) fn exprs(&mut self, xs: &[Syntax]) -> Vec<Expr> {
        if let Some(root) = self.trace.as_ref().map(|step| step.root.clone())
            && let Err(d) = self.count_expansion(&root, xs.len() + 1)
        {
            self.report(d);
            return xs.iter().map(|_| unspecified()).collect();
        }
        xs.iter().map(|x| self.expr(x)).collect()
    }

    fn compound(&mut self, x: &Syntax, name: Option<Ident>) -> R<Expr> {
        let mut x = x.clone();
        loop {
            let items = match &x.datum {
                Datum::List(items) => items,
                Datum::Dotted(items) => match items[0].as_ident().map(|id| self.resolve(id)) {
                    Some(Meaning::Bound(Binding::Macro(m))) => {
                        self.mention_head(&items[0], Binding::Macro(m));
                        x = self.expand_macro(m, &x)?;
                        continue;
                    }
                    _ => return self.err(x.span, "a call must be a proper list; this one has a dot"),
                },
                _ => return Ok(self.expr_named(&x, name)),
            };
            let Some(id) = items[0].as_ident() else { return self.call(&x, items) };
            match self.resolve(id) {
                Meaning::Bound(Binding::Core(core)) => {
                    self.mention_head(&items[0], Binding::Core(core));
                    return self.core_form(core, &x, items, name);
                }
                Meaning::Bound(Binding::Macro(m)) => {
                    self.mention_head(&items[0], Binding::Macro(m));
                    x = self.expand_macro(m, &x)?;
                }
                Meaning::Bound(Binding::Prim(op)) => {
                    self.mention_head(&items[0], Binding::Prim(op));
                    return self.primitive_call(op, &x, items);
                }
                _ => return self.call(&x, items),
            }
        }
    }

    fn call(&mut self, x: &Syntax, items: &[Syntax]) -> R<Expr> {
        if let Some(d) = self.forgotten_keyword(&items[0]) {
            return Err(d);
        }
        let undefined = items[0].as_ident().filter(|id| matches!(self.resolve(*id), Meaning::Unbound(..)));
        if undefined.is_some() && self.is_foreign_import(x, items) {
            return Ok(unspecified());
        }
        let errors = self.s.errors.len();
        let callee = self.expr(&items[0]);
        let args = self.exprs(&items[1..]);
        self.observe_call(&items[0], args.len(), x.span);
        if let Some(id) = undefined {
            self.undefined_form(id, &items[0], errors)?;
        }
        if let Expr::Const(_) = callee
            && !matches!(items[0].datum, Datum::List(_))
        {
            let shown = self.source_text(&items[0]);
            let d = self
                .diagnostic(items[0].span, format!("`{shown}` is called, but it is not a procedure"))
                .help("to write a list of data, quote it: '(…)");
            self.warn(d);
        }
        Ok(Expr::Call(callee.into(), args, self.site(x.span)))
    }

    /// Is the form whose head is not defined wrong as a call? Then a macro was meant, and the errors in its parts,
    /// those from `errors` on, only follow from that.
    fn undefined_form(&mut self, id: Ident, head: &Syntax, errors: usize) -> R<()> {
        let name = self.name(self.s.names.base(id)).clone();
        let follow = self.s.errors.get(errors..).unwrap_or_default();
        let defines = name.starts_with("define-") && self.ctx.depth == 0;
        if self.endless || follow.iter().any(|d| d.root_cause) || follow.is_empty() && !defines {
            return Ok(());
        }
        let mut d = self.diagnostic(head.span, format!("`{name}` is not defined"));
        if let Some(first) = self.s.errors.drain(errors..).next() {
            d = d.note(first.span, format!("as a call it is wrong here: {}", first.message));
        }
        let help = match &*name {
            "define-structure" | "define-struct" => Some(
                "(define-record-type name (constructor field …) predicate (field accessor modifier) …)".into(),
            ),
            _ => self.suggestion(self.s.names.base(id), &name),
        };
        if let Some(help) = help {
            d = d.help(help);
        }
        Err(d.into())
    }

    /// The macro that an identifier is, if its transformer takes identifiers and assignments.
    fn identifier_macro(&self, id: Ident) -> Option<u32> {
        match self.resolve(id) {
            Meaning::Bound(Binding::Macro(m)) if self.s.macros[m as usize].takes_identifiers() => Some(m),
            _ => None,
        }
    }

    /// A standard keyword that is not imported: its form would make no sense as a call.
    fn forgotten_keyword(&self, head: &Syntax) -> Option<Box<Diagnostic>> {
        let Meaning::Unbound(base, _) = self.resolve(head.as_ident()?) else { return None };
        let name = self.name(base);
        let (_, core) = CORE_FORMS.iter().find(|(n, _)| *n == &**name)?;
        let home = match core {
            Core::Assert | Core::Receive | Core::NamedLambda => return None,
            Core::Import | Core::DefineLibrary | Core::Library => {
                let message = format!("`{name}` is not allowed here");
                let help = "it stands at the top level of a program; imports also among library declarations";
                return Some(self.diagnostic(head.span, message).help(help).into());
            }
            _ if core.is_primitive() => "(cairn primitives)",
            Core::CaseLambda => "(scheme case-lambda)",
            Core::Delay | Core::DelayForce => "(scheme lazy)",
            Core::DefineStructureVector => "(cairn structure)",
            Core::CProcedure
            | Core::CCallback
            | Core::CExport
            | Core::CType
            | Core::DefineCStruct
            | Core::CSource
            | Core::DefineCLibrary => "(cairn c)",
            Core::SyntaxCase | Core::Syntax | Core::Quasisyntax | Core::Unsyntax | Core::UnsyntaxSplicing => {
                "(rnrs syntax-case)"
            }
            Core::SplicingLetSyntax | Core::SplicingLetrecSyntax => "(srfi 188)",
            Core::DefineSyntaxParameter | Core::SyntaxParameterize => "(srfi 139)",
            Core::FluidLetSyntax => "(chezscheme)",
            Core::InnermostSyntaxRules => "(cairn syntax)",
            _ => "(scheme base)",
        };
        let d = self.diagnostic(head.span, format!("the keyword `{name}` is not imported"));
        Some(d.help(format!("(import {home})")).mended_once().into())
    }

    fn primitive_call(&mut self, op: PrimOp, x: &Syntax, items: &[Syntax]) -> R<Expr> {
        let args = self.exprs(&items[1..]);
        let mut site = self.site(x.span);
        if let (None, Some(id)) = (self.who, items[0].as_ident())
            && !self.module().builtin
        {
            // errors give the name of lib/ that the program uses: `(exact->inexact 'a)` is not an error of `inexact`
            let used_as = self.name(id).clone();
            let name = self.exported_name(op, &used_as);
            if &*name != op.name() {
                site = site.with_who(Some(self.s.program.procedure_name(&name)));
            }
        }
        match op.arity() {
            Some(n) if n != args.len() => {
                let plural = if n == 1 { "" } else { "s" };
                let message = format!(
                    "`{}` takes {n} argument{plural}, but gets {} here",
                    self.source_text(&items[0]),
                    args.len()
                );
                let d = self.diagnostic(x.span, message);
                self.warn(d);
                let name = self.source_text(&items[0]);
                let callee =
                    Expr::Global(self.wrapper(op, name.trim_start_matches('%')), self.site(items[0].span));
                Ok(Expr::Call(callee.into(), args, site))
            }
            _ => Ok(Expr::Prim { op, args, site, proven: 0 }),
        }
    }

    fn core_form(&mut self, core: Core, x: &Syntax, items: &[Syntax], name: Option<Ident>) -> R<Expr> {
        let args = &items[1..];
        let lambda_name = |e: &Self| -> Rc<str> { name.map_or_else(|| "lambda".into(), |id| e.name(id).clone()) };
        match (core, args) {
            (Core::Quote, [datum]) => self.quote(datum),
            (Core::Quasiquote, [datum]) => self.quasiquote(datum),
            (Core::Lambda, [formals, body @ ..]) => {
                let name = lambda_name(self);
                Ok(Expr::Lambda(self.lambda(name, formals, body, x.span)?))
            }
            (Core::NamedLambda, [formals, body @ ..]) => {
                let (front, tail) = formals.parts();
                let [name, params @ ..] = front else {
                    return self.err_help(
                        formals.span,
                        "the name is missing",
                        "(named-lambda (name parameter …) body …)",
                    );
                };
                let Some(id) = name.as_ident() else {
                    return self.err(name.span, "the name of the procedure is expected here");
                };
                let params = match tail {
                    Some(t) => Syntax::dotted(params.to_vec(), t.clone(), formals.span),
                    None => Syntax::list(params.to_vec(), formals.span),
                };
                let name = self.name(id).clone();
                Ok(Expr::Lambda(self.lambda(name, &params, body, x.span)?))
            }
            (Core::CaseLambda, clauses) => {
                let name = lambda_name(self);
                self.case_lambda(clauses, name, x.span)
            }
            (Core::If, [test, then]) => {
                let (test, then) = (self.expr(test), self.expr(then));
                Ok(self.two_ways(x.span, test, then, unspecified()))
            }
            (Core::If, [test, then, other]) => {
                let (test, then, other) = (self.expr(test), self.expr(then), self.expr(other));
                Ok(self.two_ways(x.span, test, then, other))
            }
            (Core::Set, [target, value]) => match target.as_ident().and_then(|id| self.identifier_macro(id)) {
                Some(m) => {
                    self.mention_head(target, Binding::Macro(m));
                    let y = self.expand_macro(m, x)?;
                    Ok(self.expr(&y))
                }
                None => self.form_set(target, value, x.span),
            },
            (Core::Begin, [_, ..]) => Ok(sequence(self.exprs(args))),
            (Core::Let, _) => self.form_let(x, items, name),
            (Core::LetStar, _) => self.form_let_star(x, items, name),
            (Core::Letrec, _) => self.form_letrec(x, items, name, false),
            (Core::LetrecStar, _) => self.form_letrec(x, items, name, true),
            (Core::LetValues, _) => self.form_let_values(x, items, false),
            (Core::LetStarValues, _) => self.form_let_values(x, items, true),
            (Core::Receive | Core::PrimReceive, _) => self.form_receive(x, items),
            (Core::LetSyntax | Core::SplicingLetSyntax, _) => self.form_let_syntax(x, items, false),
            (Core::LetrecSyntax | Core::SplicingLetrecSyntax, _) => self.form_let_syntax(x, items, true),
            (Core::SyntaxParameterize, _) => self.form_syntax_parameterize(x, items),
            (Core::FluidLetSyntax, _) => self.form_fluid_let_syntax(x, items),
            (Core::SyntaxCase, _) => self.form_syntax_case(x, items),
            (Core::SyntaxRules, _) if self.has_syntax_case() => self.form_syntax_rules(x),
            (Core::Syntax, [template]) => self.form_syntax(template, false, x.span),
            (Core::Quasisyntax, [template]) => self.form_syntax(template, true, x.span),
            (Core::Do, _) => self.form_do(x, items),
            (Core::Cond, [_, ..]) => self.form_cond(args, unspecified(), x.span),
            (Core::Case, [key, clauses @ ..]) if !clauses.is_empty() => self.form_case(key, clauses, x.span),
            (Core::And, []) => Ok(Expr::Const(Literal::Bool(true))),
            (Core::And, _) => {
                let mut exprs = self.exprs(args);
                let mut e = exprs.pop().unwrap_or_else(unspecified);
                for test in exprs.into_iter().rev() {
                    e = Expr::If(test.into(), e.into(), Expr::Const(Literal::Bool(false)).into());
                }
                Ok(e)
            }
            (Core::Or, []) => Ok(Expr::Const(Literal::Bool(false))),
            (Core::Or, _) => {
                let mut exprs = self.exprs(args);
                let mut e = exprs.pop().unwrap_or_else(unspecified);
                for test in exprs.into_iter().rev() {
                    e = self.or(test, e);
                }
                Ok(e)
            }
            (Core::When, [test, body @ ..]) if !body.is_empty() => {
                let (test, body) = (self.expr(test), sequence(self.exprs(body)));
                Ok(self.two_ways(x.span, test, body, unspecified()))
            }
            (Core::Unless, [test, body @ ..]) if !body.is_empty() => {
                let (test, body) = (self.expr(test), sequence(self.exprs(body)));
                Ok(self.two_ways(x.span, test, unspecified(), body))
            }
            (Core::Parameterize, [bindings, body @ ..]) => self.form_parameterize(bindings, body, x.span),
            (Core::Guard, [clauses, body @ ..]) => self.form_guard(clauses, body, x.span),
            (Core::Delay, [e]) => self.form_delay("delay*", e, x.span),
            (Core::DelayForce, [e]) => self.form_delay("delay-force*", e, x.span),
            (Core::Assert, [e, ..]) => {
                let test = self.expr(e);
                let shown = self.literal(e)?;
                let message = Expr::Const(Literal::String("assertion failed".into()));
                let fail = self.library_call("control", "error", vec![message, Expr::Const(shown)], x.span)?;
                Ok(Expr::If(test.into(), unspecified().into(), fail.into()))
            }
            (Core::CondExpand, _) => {
                let forms = self.cond_expand(x)?;
                Ok(sequence(self.exprs(&forms)))
            }
            (Core::Include, _) => {
                let forms = self.include(x.span, args, false)?;
                self.body(&forms, x.span, name)
            }
            (Core::IncludeCi, _) => {
                let forms = self.include(x.span, args, true)?;
                self.body(&forms, x.span, name)
            }
            (Core::CProcedure | Core::CCallback | Core::CExport | Core::CType, _) => self.form_c(core, x, args),
            (Core::SyntaxError, [message, irritants @ ..]) => {
                let mut text = match &message.datum {
                    Datum::String(s) => s.to_string(),
                    _ => self.show(message),
                };
                for i in irritants {
                    text.push(' ');
                    text.push_str(&self.show(i));
                }
                // the macro's use is what the user wrote
                let span = self.trace.as_ref().map_or(x.span, |s| s.span);
                let mut d = self.diagnostic(span, text);
                d.notes.retain(|(s, _)| *s != span);
                Err(d.into())
            }
            (Core::PrimValues, [value]) => Ok(self.expr(value)),
            (Core::PrimValues, _) => Ok(Expr::Values(self.exprs(args))),
            (Core::PrimApply, [f, rest @ ..]) if !rest.is_empty() => {
                let f = self.expr(f);
                Ok(Expr::Apply(f.into(), self.exprs(rest), self.site(x.span)))
            }
            (Core::PrimCallCc, [f]) => Ok(Expr::CallCc(Shots::Many, self.expr(f).into(), self.site(x.span))),
            (Core::PrimCall1cc, [f]) => Ok(Expr::CallCc(Shots::One, self.expr(f).into(), self.site(x.span))),
            (Core::PrimPlace, [x]) => Ok(Expr::Const(self.place(x.span))),
            _ => self.bad_form(core, x),
        }
    }

    /// Where a text stands: its file, the line from 1, and the first and the last byte's offset.
    fn place(&mut self, span: Span) -> Literal {
        let Some(source) = self.s.sources.get(span.file as usize) else { return Literal::Bool(false) };
        let path = Literal::String(source.path.clone());
        let number = |n: usize| Literal::Number(Number::Int(Int::Fix(n as i64)));
        let (start, end) = (span.start as usize, span.end as usize);
        // places come in order, most of the time
        let (from, line) = match &self.s.counted_lines {
            Some((text, before, line)) if Rc::ptr_eq(text, &source.text) && *before <= start => (*before, *line),
            _ => (0, 1),
        };
        let line = line + source.text.as_bytes()[from..start].iter().filter(|b| **b == b'\n').count();
        self.s.counted_lines = Some((source.text.clone(), start, line));
        Literal::Vector([path, number(line), number(start), number(end)].into())
    }

    fn bad_form<T>(&mut self, core: Core, x: &Syntax) -> R<T> {
        let name = core.name();
        let help = match core {
            Core::Quote => "(quote datum) or 'datum",
            Core::Quasiquote => "(quasiquote template) or `template",
            Core::Lambda => "(lambda (parameter …) body …)",
            Core::NamedLambda => "(named-lambda (name parameter …) body …)",
            Core::If => "(if test consequent) or (if test consequent alternative)",
            Core::Set => "(set! variable expression)",
            Core::Begin => "(begin expression …)",
            Core::Cond => "(cond (test expression …) … (else expression …))",
            Core::Case => "(case key ((datum …) expression …) … (else expression …))",
            Core::When => "(when test expression …)",
            Core::Unless => "(unless test expression …)",
            Core::Parameterize => "(parameterize ((parameter value) …) body …)",
            Core::Guard => "(guard (variable clause …) body …)",
            Core::Delay => "(delay expression)",
            Core::DelayForce => "(delay-force expression)",
            Core::Assert => "(assert expression)",
            Core::SyntaxError => "(syntax-error \"message\" form …)",
            Core::PrimApply => "(%apply procedure argument … list)",
            Core::PrimCallCc => "(%call/cc procedure)",
            Core::PrimCall1cc => "(%call/1cc procedure)",
            Core::PrimPlace => "(%place datum)",
            Core::Define
            | Core::DefineValues
            | Core::DefineRecordType
            | Core::DefineStructureVector
            | Core::DefineCStruct
            | Core::CSource
            | Core::DefineCLibrary
            | Core::DefineSyntax
            | Core::DefineSyntaxParameter => {
                return self.err_help(
                    x.span,
                    format!("`{name}` stands where an expression is expected"),
                    "definitions belong at the top level or at the start of a body; (let () (define …) …) makes a body",
                );
            }
            Core::SyntaxCase => "(syntax-case expression (literal …) (pattern [fender] expression) …)",
            Core::Syntax => "(syntax template) or #'template",
            Core::Quasisyntax => "(quasisyntax template) or #`template",
            Core::Import | Core::DefineLibrary | Core::Library => {
                return self.err(x.span, format!("`{name}` is not allowed here"));
            }
            Core::SyntaxRules | Core::InnermostSyntaxRules => {
                return self.err_help(
                    x.span,
                    "`syntax-rules` is not an expression",
                    "(define-syntax name (syntax-rules (literal …) (pattern template) …))",
                );
            }
            Core::ErMacroTransformer | Core::ScMacroTransformer | Core::RscMacroTransformer => {
                return self.err_help(
                    x.span,
                    format!("`{name}` is not an expression"),
                    format!("(define-syntax name ({name} procedure))"),
                );
            }
            Core::Unsyntax | Core::UnsyntaxSplicing => {
                return self.err_help(x.span, format!("`{name}` outside of a quasisyntax"), "#`(a #,b #,@c)");
            }
            Core::Unquote | Core::UnquoteSplicing => {
                return self.err_help(x.span, format!("`{name}` outside of a quasiquotation"), "`(a ,b ,@c)");
            }
            _ => {
                let message = format!("`{name}` cannot stand here");
                return self.err(x.span, message);
            }
        };
        // what is wrong: the form has no part, or not as many as it takes
        let parts = x.as_list().map_or(0, |items| items.len() - 1);
        let takes = match (core, parts) {
            (Core::If, _) => "a test and one or two expressions",
            (Core::Quote | Core::PrimPlace, _) => "one datum",
            (Core::Quasiquote | Core::Syntax | Core::Quasisyntax, _) => "one template",
            (Core::Set, _) => "a variable and an expression",
            (Core::Delay | Core::DelayForce | Core::Assert | Core::PrimCallCc | Core::PrimCall1cc, _) => {
                "one expression"
            }
            (Core::PrimApply, _) => "a procedure and at least one argument",
            (Core::Lambda | Core::NamedLambda, _) => "parameters and a body",
            (Core::Begin, _) => "at least one expression",
            (Core::Cond, _) => "at least one clause",
            (Core::Case, 0) => "a key and at least one clause",
            (Core::Case, _) => "at least one clause after its key",
            (Core::When | Core::Unless, 0) => "a test and at least one expression",
            (Core::When | Core::Unless, _) => "at least one expression after its test",
            (Core::Parameterize, _) => "bindings and a body",
            (Core::Guard, _) => "a variable with clauses, and a body",
            (Core::SyntaxError, _) => "a message",
            _ => return self.err_help(x.span, format!("bad `{name}`"), help),
        };
        let got = match (core, parts) {
            (_, 0) => "nothing".to_string(),
            (Core::Case | Core::When | Core::Unless, _) => "none".to_string(),
            _ => parts.to_string(),
        };
        self.err_help(x.span, format!("`{name}` takes {takes}, got {got}"), help)
    }

    /// `(or a b)` from expanded parts.
    fn or(&mut self, a: Expr, b: Expr) -> Expr {
        if let Expr::Prim { op: PrimOp::Op(op), .. } = &a
            && op.info().result == Kind::Boolean
        {
            return Expr::If(a.into(), Expr::Const(Literal::Bool(true)).into(), b.into());
        }
        let t = self.s.program.fresh_var("or");
        Expr::Let(vec![(t, a)], Expr::If(Expr::Local(t).into(), Expr::Local(t).into(), b.into()).into())
    }

    fn form_set(&mut self, target: &Syntax, value: &Syntax, span: Span) -> R<Expr> {
        let Some(id) = target.as_ident() else {
            return self.err_help(target.span, "only a variable can be assigned", "(set! variable expression)");
        };
        let meaning = self.resolve(id);
        let value = self.expr_named(value, Some(id));
        let site = self.site(span);
        if let Meaning::Bound(b) = meaning {
            self.mention(id, target.span, b, Role::Assignment);
        }
        match meaning {
            Meaning::Bound(Binding::Local(v)) => {
                self.s.program.vars[v.0 as usize].assigned = true;
                Ok(Expr::SetLocal(v, value.into()))
            }
            Meaning::Bound(Binding::Global(_) | Binding::Prim(_)) if self.is_imported(id) => {
                let name = self.name(id).clone();
                self.err_help(
                    target.span,
                    format!("`{name}` is imported and cannot be assigned"),
                    format!("define a variable of your own first: (define {name} …)"),
                )
            }
            Meaning::Bound(Binding::Global(g)) => {
                self.s.program.globals[g.0 as usize].assigned = true;
                self.global(g, span);
                Ok(Expr::SetGlobal(g, value.into(), site))
            }
            Meaning::Unbound(base, module) => {
                let g = self.unbound_global(base, module, target.span);
                self.s.program.globals[g.0 as usize].assigned = true;
                Ok(Expr::SetGlobal(g, value.into(), site))
            }
            Meaning::Bound(_) => {
                let message = format!("the keyword `{}` cannot be assigned", self.name(id));
                self.err(target.span, message)
            }
        }
    }

    // conditionals

    /// What follows the test of a clause: nothing, `=> receiver`, or expressions.
    fn consequence(&mut self, rest: &[Syntax], span: Span) -> R<Consequence> {
        match rest {
            [] => Ok(Consequence::Test),
            [arrow, receiver] if self.is_keyword(arrow, Core::Arrow) => {
                Ok(Consequence::Receiver(self.expr(receiver), receiver.span))
            }
            [arrow, ..] if self.is_keyword(arrow, Core::Arrow) => {
                self.err_help(span, "one receiver follows `=>`", "(test => receiver)")
            }
            _ => Ok(Consequence::Body(sequence(self.exprs(rest)))),
        }
    }

    fn two_ways(&mut self, span: Span, test: Expr, then: Expr, other: Expr) -> Expr {
        let (then, other) = (self.way(span, 0, then), self.way(span, 1, other));
        Expr::If(test.into(), then.into(), other.into())
    }

    /// Clauses of `cond`; `otherwise` is the value when none applies.
    fn form_cond(&mut self, clauses: &[Syntax], otherwise: Expr, span: Span) -> R<Expr> {
        self.clauses(clauses, otherwise, span, &|_, e| e)
    }

    /// Clauses of `cond` or `guard`: `follow` makes what has to be done of what follows a test that holds.
    fn clauses(
        &mut self,
        clauses: &[Syntax],
        otherwise: Expr,
        span: Span,
        follow: &dyn Fn(&mut Self, Expr) -> Expr,
    ) -> R<Expr> {
        const HELP: &str = "(cond (test expression …) … (else expression …))";
        let mut tests = Vec::with_capacity(clauses.len());
        let mut result = self.way(span, clauses.len(), otherwise);
        for (i, c) in clauses.iter().enumerate() {
            let Some([test, rest @ ..]) = c.as_list() else {
                return self.err_help(c.span, "not a clause of `cond`", HELP);
            };
            if self.is_keyword(test, Core::Else) {
                if i + 1 != clauses.len() {
                    return self.err_help(c.span, "`else` must be the last clause", HELP);
                }
                if rest.is_empty() {
                    return self.err_help(c.span, "`else` without an expression", HELP);
                }
                result = sequence(self.exprs(rest));
                result = self.way(span, i, result);
                result = follow(self, result);
                break;
            }
            let test = self.expr(test);
            let consequence = match self.consequence(rest, c.span)? {
                Consequence::Body(e) => Consequence::Body(self.way(span, i, e)),
                Consequence::Receiver(e, at) => Consequence::Receiver(self.way(span, i, e), at),
                Consequence::Test => Consequence::Test,
            };
            tests.push((test, consequence));
        }
        for (test, consequence) in tests.into_iter().rev() {
            result = match consequence {
                Consequence::Body(e) => Expr::If(test.into(), follow(self, e).into(), result.into()),
                Consequence::Test => {
                    let t = self.s.program.fresh_var("t");
                    let value = follow(self, Expr::Local(t));
                    Expr::Let(vec![(t, test)], Expr::If(Expr::Local(t).into(), value.into(), result.into()).into())
                }
                Consequence::Receiver(f, span) => {
                    let t = self.s.program.fresh_var("t");
                    let call = Expr::Call(f.into(), vec![Expr::Local(t)], self.site(span));
                    let call = follow(self, call);
                    Expr::Let(vec![(t, test)], Expr::If(Expr::Local(t).into(), call.into(), result.into()).into())
                }
            };
        }
        Ok(result)
    }

    fn form_case(&mut self, key: &Syntax, clauses: &[Syntax], span: Span) -> R<Expr> {
        const HELP: &str = "(case key ((datum …) expression …) … (else expression …))";
        let key = self.expr(key);
        let k = self.s.program.fresh_var("key");
        let mut tests = Vec::with_capacity(clauses.len());
        let mut result = self.way(span, clauses.len(), unspecified());
        for (i, c) in clauses.iter().enumerate() {
            let Some([data, rest @ ..]) = c.as_list().filter(|l| l.len() >= 2) else {
                return self.err_help(c.span, "not a clause of `case`", HELP);
            };
            let otherwise = self.is_keyword(data, Core::Else);
            let body = match self.consequence(rest, c.span)? {
                Consequence::Body(e) => e,
                Consequence::Receiver(f, span) => Expr::Call(f.into(), vec![Expr::Local(k)], self.site(span)),
                Consequence::Test => unspecified(),
            };
            let body = self.way(span, i, body);
            if otherwise {
                if i + 1 != clauses.len() {
                    return self.err_help(c.span, "`else` must be the last clause", HELP);
                }
                result = body;
                break;
            }
            let Some(data) = data.as_list() else {
                return self.err_help(data.span, "a list of data is expected here", HELP);
            };
            let mut choices = Vec::with_capacity(data.len());
            for d in data {
                let literal = self.literal(d)?;
                choices.push(prim(equality(&literal), vec![Expr::Local(k), Expr::Const(literal)]));
            }
            tests.push((choices, body));
        }
        for (choices, body) in tests.into_iter().rev() {
            let mut test = Expr::Const(Literal::Bool(false));
            for (i, c) in choices.into_iter().rev().enumerate() {
                test = match i {
                    0 => c,
                    _ => Expr::If(c.into(), Expr::Const(Literal::Bool(true)).into(), test.into()),
                };
            }
            result = Expr::If(test.into(), body.into(), result.into());
        }
        Ok(Expr::Let(vec![(k, key)], result.into()))
    }

    // dynamic state: through procedures of lib/

    fn thunk(&mut self, body: Expr, span: Span) -> Expr {
        let clause = Clause { params: Vec::new(), rest: None, body };
        Expr::Lambda(Lambda { name: "lambda".into(), clauses: vec![clause], site: self.plain_site(span) })
    }

    fn form_parameterize(&mut self, bindings: &Syntax, body: &[Syntax], span: Span) -> R<Expr> {
        const HELP: &str = "(parameterize ((parameter value) …) body …)";
        let Some(bindings) = bindings.as_list() else {
            return self.err_help(bindings.span, "a list of bindings is expected here", HELP);
        };
        let mut pairs = Vec::with_capacity(bindings.len());
        for b in bindings {
            let Some([parameter, value]) = b.as_list() else {
                return self.err_help(b.span, "not a binding", HELP);
            };
            pairs.push(prim(Op::Cons, vec![self.expr(parameter), self.expr(value)]));
        }
        let body = self.body(body, span, None)?;
        if pairs.is_empty() {
            return Ok(body);
        }
        let args = vec![self.list(pairs), self.thunk(body, span)];
        self.library_call("control", "parameterize*", args, span)
    }

    fn form_guard(&mut self, clauses: &Syntax, body: &[Syntax], span: Span) -> R<Expr> {
        const HELP: &str = "(guard (variable clause …) body …)";
        let Some([variable, clauses @ ..]) = clauses.as_list() else {
            return self.err_help(clauses.span, "`guard` takes a list of a variable and clauses here", HELP);
        };
        let Some(id) = variable.as_ident() else {
            return self.err_help(variable.span, "a variable for the condition is expected here", HELP);
        };
        if let [continuation, clauses @ ..] = clauses
            && let Some(k) = continuation.as_ident()
        {
            let ids = [(id, variable.span), (k, continuation.span)];
            return self.form_unwinding_guard(ids, clauses, body, span);
        }
        let mark = self.open_scope();
        let condition = self.bind_local(id, variable.span, Role::Parameter);
        let none = Expr::Const(Literal::Bool(false));
        let handler = self.clauses(clauses, none, span, &|x, e| x.thunk(e, span));
        self.close_scope(mark);
        self.guarded("guard*", vec![condition], handler?, body, span)
    }

    /// SRFI 248: `(guard (variable continuation clause …) body …)`.
    fn form_unwinding_guard(
        &mut self,
        ids: [(Ident, Span); 2],
        clauses: &[Syntax],
        body: &[Syntax],
        span: Span,
    ) -> R<Expr> {
        let mark = self.open_scope();
        let [condition, continuation] = ids.map(|(id, span)| self.bind_local(id, span, Role::Parameter));
        let args = vec![Expr::Local(continuation), Expr::Local(condition)];
        let otherwise = self.library_call("control", "reraise-to", args, span)?;
        let handler = self.form_cond(clauses, otherwise, span);
        self.close_scope(mark);
        self.guarded("with-unwind-handler", vec![condition, continuation], handler?, body, span)
    }

    /// Calls `procedure` with a handler of these parameters and with the body.
    fn guarded(
        &mut self,
        procedure: &str,
        params: Vec<VarId>,
        handler: Expr,
        body: &[Syntax],
        span: Span,
    ) -> R<Expr> {
        let clause = Clause { params, rest: None, body: handler };
        let handler =
            Expr::Lambda(Lambda { name: "guard".into(), clauses: vec![clause], site: self.plain_site(span) });
        let body = self.body(body, span, None)?;
        let thunk = self.thunk(body, span);
        self.library_call("control", procedure, vec![handler, thunk], span)
    }

    fn form_delay(&mut self, procedure: &str, e: &Syntax, span: Span) -> R<Expr> {
        let body = self.expr(e);
        let thunk = self.thunk(body, span);
        self.library_call("control", procedure, vec![thunk], span)
    }
}

/// The primitive that compares with a constant like `eqv?`.
fn equality(literal: &Literal) -> Op {
    match literal {
        Literal::Number(Number::Int(Int::Fix(_))) => Op::Eq,
        Literal::Number(_) => Op::Eqv,
        _ => Op::Eq,
    }
}
