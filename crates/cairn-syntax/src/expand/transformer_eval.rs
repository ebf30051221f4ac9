//! `eval` and `environment` in macro transformers: R6RS's `(eval (syntax->datum #'e) (environment '(rnrs)))`.
//!
//! The expression is expanded in a session of its own, which loads the text of the libraries that environments import,
//! and run by the interpreter of the transformer. Its variables get numbers above those of the program and of the
//! library's text ([`transform::EVALUATED_GLOBALS`]), except that variables of Cairn's libraries that are there already
//! are the same: so the transformer handles the errors of what it evaluates. Libraries of the program are loaded once
//! more, for what transformers evaluate. As with all that a transformer does, each use of a macro begins anew: an
//! environment in which something was defined is not given out again.

use super::evaluate::Environment;
use super::loader::{LibraryName, Loader};
use super::meaning::Binding;
use super::state::{Evaluation, Expander, Failed, MAX_EXPANSION_SIZE, Session, grow};
use crate::diagnostic::Span;
use crate::read::Reader;
use crate::syntax::{Datum, Ident, Names, Syntax};
use cairn_core::interp::transform;
use cairn_core::interp::{Atom, Val, Value, boolean, cells};
use cairn_core::ir::{Expr, GlobalId, TopForm};
use cairn_core::rewrite;
use cairn_layout::code::Site;
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// What one use of a macro evaluates.
pub(super) struct Evaluator<'a> {
    loader: RefCell<&'a mut dyn Loader>,
    evaluation: RefCell<Option<Box<Evaluation>>>,
    given: Cell<usize>,
    kept: Kept,
}

/// Code that stays where it is: a list that only grows.
#[derive(Default)]
struct Kept(OnceCell<Box<(Rc<Vec<TopForm>>, Kept)>>);

impl Kept {
    fn keep(&self, forms: Rc<Vec<TopForm>>) -> &[TopForm] {
        let mut end = self;
        while let Some(next) = end.0.get() {
            end = &next.1;
        }
        &end.0.get_or_init(|| Box::new((forms, Kept::default()))).0
    }
}

/// While somebody else has the loader.
struct NoLoader;

impl Loader for NoLoader {
    fn load_library(&mut self, _: &LibraryName) -> Result<Option<(String, String)>, String> {
        Ok(None)
    }
    fn load_include(&mut self, _: &str, _: &str) -> Result<(String, String), String> {
        Err("a transformer is running".into())
    }
}

impl<'a> Expander<'a> {
    /// Lends the loader and what has been evaluated to a use of a macro.
    pub(super) fn evaluator(&mut self) -> Evaluator<'a> {
        let nobody: &'a mut dyn Loader = Box::leak(Box::new(NoLoader)); // of no size: nothing is leaked
        Evaluator {
            loader: RefCell::new(std::mem::replace(&mut self.loader, nobody)),
            evaluation: RefCell::new(self.s.evaluation.take()),
            given: Cell::new(0),
            kept: Kept::default(),
        }
    }

    pub(super) fn take_back(&mut self, evaluator: Evaluator<'a>) {
        self.loader = evaluator.loader.into_inner();
        self.s.evaluation = evaluator.evaluation.into_inner();
    }

    /// `eval`, `environment` and what `read` calls, with the numbers of the procedures that are called in their place.
    pub(super) fn evaluating_procedures(&self) -> Vec<(GlobalId, u32)> {
        let (session, moved) = self.library_session();
        let variable = |(library, name, number)| {
            let library = session.libraries.get(&LibraryName::of(&["cairn", library]))?;
            let table = &session.modules[library.module as usize].table;
            match table.get(&session.names.known(name)?)?.binding {
                Binding::Global(g) => Some((GlobalId(g.0 + moved), number)),
                _ => None,
            }
        };
        [
            ("evaluator", "eval", transform::EVAL),
            ("evaluator", "environment", transform::ENVIRONMENT),
            ("reader", "read:checked", transform::READ),
        ]
        .into_iter()
        .filter_map(variable)
        .collect()
    }

    /// The session with the text of Cairn's libraries that transformers see, and what is added to its variables.
    fn library_session(&self) -> (&Session, u32) {
        match &self.s.library_text.session {
            Some(session) => (session, transform::LIBRARY_GLOBALS),
            None => (self.s, 0),
        }
    }
}

impl Evaluator<'_> {
    /// The text of a file, which is found as one that the program includes.
    pub(super) fn file(&self, path: &str) -> Result<String, String> {
        self.loader.borrow_mut().load_include("", path).map(|(_, text)| text)
    }

    /// The environment of these import sets.
    pub(super) fn environment(&self, sets: &str) -> Result<u32, String> {
        let mut evaluation = self.evaluation.borrow_mut();
        let evaluation = evaluation.get_or_insert_default();
        if let Some(known) = evaluation.environments.get(sets) {
            return Ok(*known);
        }
        let made = evaluation.session.environment(Some(sets), *self.loader.borrow_mut());
        let made = made.map_err(|failed| first_message(&failed))?;
        evaluation.environments.insert(sets.into(), made.number());
        Ok(made.number())
    }

    /// What evaluates an expression: definitions, in parts, and the expression.
    pub(super) fn expand(
        &self,
        expander: &Expander<'_>,
        environment: u32,
        form: &Value<'_>,
    ) -> Result<Vec<&[TopForm]>, String> {
        let mut evaluation = self.evaluation.borrow_mut();
        let Evaluation { session, extent, same, libraries, taken, environments } =
            &mut **evaluation.get_or_insert_default();
        let form = syntax(form, &mut session.names)?;
        let forms =
            session.expand_forms(Environment(environment), 0, vec![form], *self.loader.borrow_mut(), |session| {
                session.program().forms.clone()
            });
        let mut forms = forms.map_err(|failed| first_message(&failed))?;
        if *extent != session.extent() {
            *extent = session.extent();
            let (known, moved) = expander.library_session();
            let known = known.definitions().into_iter().map(|(key, g)| (key, GlobalId(g.0 + moved)));
            // libraries that were not compiled beforehand are the program's
            let known: FxHashMap<String, GlobalId> = known.chain(expander.s.definitions()).collect();
            let both = session.definitions().into_iter();
            *same = both.filter_map(|(key, g)| Some((g, *known.get(&key)?))).collect();
        }
        let define = |forms: &mut Vec<TopForm>| {
            forms.retain(|form| !matches!(form, TopForm::Define(g, _) if same.contains_key(g)));
            let moved =
                |g: GlobalId| same.get(&g).copied().unwrap_or(GlobalId(g.0 + transform::EVALUATED_GLOBALS));
            for form in forms {
                if let TopForm::Define(g, _) = form {
                    *g = moved(*g);
                }
                move_code(form.expr_mut(), &[], &moved);
            }
        };
        let mut new = session.retained.forms[*taken..].to_vec();
        *taken = session.retained.forms.len();
        if !new.is_empty() {
            define(&mut new);
            libraries.push(Rc::new(new));
        }
        let ours = |form: &TopForm| matches!(form, TopForm::Define(g, _) if !session.library_globals.contains(g));
        if forms.iter().any(ours) {
            environments.retain(|_, e| *e != environment);
        }
        define(&mut forms);
        let given = self.given.replace(libraries.len());
        let mut parts: Vec<&[TopForm]> =
            libraries[given..].iter().map(|part| self.kept.keep(part.clone())).collect();
        parts.push(self.kept.keep(Rc::new(forms)));
        Ok(parts)
    }
}

impl Evaluator<'_> {
    /// The name of a variable without a value, and whether nothing defines it.
    pub(super) fn name(&self, g: GlobalId) -> Option<(String, bool)> {
        let evaluation = self.evaluation.borrow();
        let globals = &evaluation.as_ref()?.session.expanded().globals;
        let number = g.0.checked_sub(transform::EVALUATED_GLOBALS)?;
        globals.get(number as usize).map(|info| (info.name.to_string(), info.undefined))
    }
}

/// A datum without parts that is no symbol, as the reader has it.
pub(super) fn simple_datum(v: &Value<'_>) -> Option<Datum> {
    Some(match v {
        Val::Nil => Datum::Nil,
        Val::Atom(Atom::Bool(b)) => Datum::Bool(*b),
        Val::Atom(Atom::Char(c)) => Datum::Char(*c),
        Val::Atom(Atom::Eof) => Datum::Eof,
        Val::Atom(Atom::Default) => Datum::Default,
        Val::Atom(Atom::Unspecified | Atom::Unbound | Atom::Broken) => Datum::Unspecified,
        Val::Num(n) => Datum::Number(Rc::new(n.clone())),
        Val::String(s) => Datum::String(s.borrow().iter().collect::<String>().into()),
        Val::Bytes(b) => Datum::Bytes(b.borrow()[..].into()),
        Val::Numbers(kind, b) => Datum::Numbers(*kind, b.clone()),
        _ => return None,
    })
}

/// The datum that a text begins with, `None` at its end, and how many bytes were read.
pub(super) fn read_datum<'p>(text: &str) -> Result<(Option<Value<'p>>, usize), String> {
    let mut names = Names::default();
    let mut reader = Reader::new(0, text, &mut names);
    let datum = reader.next_datum().map_err(|d| d.message)?;
    let length = reader.position();
    let symbol = |id: Ident| Val::Symbol(names.name(id).clone());
    Ok((datum.map(|x| value(&x, &symbol, &|_, _, _| ())), length))
}

/// A form as data: `identifier` is what an identifier becomes, `made` is told of each pair of a list, with the places
/// of the list from there on and of the element.
pub(super) fn value<'p>(
    x: &Syntax,
    identifier: &dyn Fn(Ident) -> Value<'p>,
    made: &dyn Fn(&Value<'p>, Span, Span),
) -> Value<'p> {
    let part = |x: &Syntax| value(x, identifier, made);
    match &x.datum {
        Datum::Nil => Val::Nil,
        Datum::Bool(b) => boolean(*b),
        Datum::Char(c) => transform::character(*c),
        Datum::Eof => Val::Atom(Atom::Eof),
        Datum::Default => Val::Atom(Atom::Default),
        Datum::Unspecified | Datum::Reference(_) => Val::Atom(Atom::Unspecified),
        Datum::Ident(id) => identifier(*id),
        Datum::Number(n) => Val::Num((**n).clone()),
        Datum::String(s) => transform::string(s),
        Datum::Bytes(b) => Val::Bytes(Rc::new(RefCell::new(b.to_vec()))),
        Datum::Numbers(kind, b) => Val::Numbers(*kind, b.clone()),
        Datum::List(_) | Datum::Dotted(_) => grow(|| {
            let (items, tail) = x.parts();
            let mut list = tail.map_or(Val::Nil, part);
            for item in items.iter().rev() {
                list = Val::Pair(cells(vec![part(item), list]));
                let whole = if std::ptr::eq(item, &items[0]) { x.span } else { item.span };
                made(&list, whole, item.span);
            }
            list
        }),
        Datum::Vector(items) => grow(|| Val::Vector(cells(items.iter().map(part).collect()))),
        Datum::Labeled(_, items) => part(&items[0]),
    }
}

/// Data as a form.
fn syntax(v: &Value<'_>, names: &mut Names) -> Result<Syntax, String> {
    if let Some(datum) = simple_datum(v) {
        return Ok(Syntax::new(datum, Span::default()));
    }
    let datum = match v {
        Val::Symbol(name) | Val::Ident(_, name) => Datum::Ident(names.intern(name)),
        Val::Pair(_) => {
            return grow(|| {
                let (mut rest, mut items) = (v.clone(), Vec::new());
                while let Some((x, next)) = rest.pair() {
                    if items.len() == MAX_EXPANSION_SIZE {
                        return Err("the expression is endless or too large".into());
                    }
                    items.push(syntax(&x, names)?);
                    rest = next;
                }
                let tail = syntax(&rest, names)?;
                Ok(Syntax::dotted(items, tail, Span::default()))
            });
        }
        Val::Vector(items) => {
            let items: Result<Vec<Syntax>, String> =
                grow(|| items.borrow().iter().map(|x| syntax(x, names)).collect());
            Datum::Vector(items?.into())
        }
        v => return Err(format!("the expression contains {}", v.written())),
    };
    Ok(Syntax::new(datum, Span::default()))
}

fn first_message(failed: &Failed) -> String {
    failed.errors.first().map_or_else(|| "an error of syntax".into(), |d| d.message.clone())
}

/// An expression of another session's program in this one: its variables are moved, its places unknown. `who`
/// translates the names that errors give.
pub(super) fn move_code(e: &mut Expr, who: &[usize], moved: &dyn Fn(GlobalId) -> GlobalId) {
    rewrite(e, &mut |e| move_expression(e, who, moved));
}

fn move_expression(e: &mut Expr, who: &[usize], moved: &dyn Fn(GlobalId) -> GlobalId) {
    let place = |site: &mut Site| *site = Site::NONE.with_who(site.who().and_then(|w| who.get(w).copied()));
    match e {
        Expr::Global(g, site) | Expr::SetGlobal(g, _, site) => {
            *g = moved(*g);
            place(site);
        }
        Expr::Call(_, _, site) | Expr::Apply(_, _, site) | Expr::CallCc(_, _, site) => place(site),
        Expr::Prim { site, .. } | Expr::Receive { site, .. } => place(site),
        Expr::Lambda(l) => place(&mut l.site),
        Expr::Fix(lambdas, _) => lambdas.iter_mut().for_each(|(_, l)| place(&mut l.site)),
        _ => {}
    }
}
