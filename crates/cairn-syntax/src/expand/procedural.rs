//! Macro transformers that are procedures: `er-macro-transformer`, `sc-macro-transformer`, `rsc-macro-transformer`.
//!
//! ```text
//! (define-syntax swap!
//!   (er-macro-transformer
//!     (lambda (form rename compare)
//!       (let ((a (cadr form)) (b (caddr form)))
//!         `(,(rename 'let) ((,(rename 'tmp) ,a)) (,(rename 'set!) ,a ,b) (,(rename 'set!) ,b ,(rename 'tmp)))))))
//! ```
//!
//! The expression is expanded where it stands and run, for each use of the macro, by the interpreter of cairn-core
//! ([`cairn_core::interp::transform`]); so it works alike in the compiler and in programs that call `eval`. It sees
//! what its module imports, and procedures that the module defines before the macro: their right-hand sides are
//! expanded ahead of their turn ([`Source`]). Local variables of the program around it have no values yet.
//!
//! **Identifiers.** A symbol of the form or of the expansion is an identifier of the user's text. Aliases, which other
//! macros made, are [`Val::Ident`] with their number. `rename` gives an alias of the place where the macro is defined:
//! while the transformer runs, it only has a number above those in use; the table learns of those that are in the
//! expansion. `sc-macro-transformer` renames all symbols but those in syntactic closures, `rsc-macro-transformer` only
//! those there. `(cairn macro)` makes closures: opaque objects of a tag, an environment and a form.
//!
//! **`syntax-case`** ([`super::syntax_case`]): the transformer is called with the form alone. All identifiers of the
//! form are [`Val::Ident`], so symbols are data: one in the expansion is an error. What lib/more/cairn/syntax-case.sld
//! cannot know by itself it asks by the runtime call `syntax-host`, which comes here as [`transform::ASKED`] and more.
//!
//! **Files** can be read, which R6RS's libraries do to include them: the loader has them, and knows then that the
//! program depends on them.
//!
//! **Positions.** Lists of the form that come back in the expansion keep their places, everything else takes the place
//! of the use.

use super::core::Core;
use super::items::{Rhs, Source};
use super::loader::{BootLibrary, LibraryName};
use super::macros::{Macro, Procedure, Way};
use super::meaning::{Binding, Meaning};
use super::state::{Expander, LibraryText, R, grow};
use super::trace::Root;
use super::transformer_eval::{Evaluator, move_code, read_datum, simple_datum, value};
use crate::diagnostic::{Diagnostic, Span, Violation};
use crate::syntax::{Context, Datum, Ident, Syntax};
use cairn_core::interp::transform::{self, FRESH, Natives, native};
use cairn_core::interp::{Atom, Stop, Val, Value, boolean, cells, items};
use cairn_core::ir::{Expr, GlobalId, Import, ImportFrom, Literal, TopForm};
use cairn_core::visit;
use cairn_layout::code::Site;
use cairn_layout::lexeme;
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;
use rustix::process::{Resource, getrlimit};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Tags of the opaque objects of `(cairn macro)`.
const CLOSURE: &str = "syntactic-closure";
const ENVIRONMENT: &str = "syntactic-environment";
/// Numbers of the procedures that transformers are given.
const RENAME: u32 = 0;
const COMPARE: u32 = 1;
/// What lib/more/cairn/syntax-case.sld asks: is this an identifier and no symbol …
const IS_IDENTIFIER: u32 = transform::ASKED;
/// … do two mean the same …
const SAME_MEANING: u32 = transform::ASKED + 1;
/// … the identifier of a template: its name or number, and the place of the template ([`place_code`]) …
const OF_TEMPLATE: u32 = transform::ASKED + 2;
/// … the identifier that has this name and is where another one is …
const LIKE: u32 = transform::ASKED + 3;
/// … the symbol that names an identifier …
const NAME: u32 = transform::ASKED + 4;
/// … and an identifier like no other.
const TEMPORARY: u32 = transform::ASKED + 5;

/// Bits of a depth in a code of a context, of a module's number, and of a region's; nothing is nested so deep.
const PLACE_BITS: [u32; 3] = [18, 21, 21];

/// A context as a fixnum.
pub(super) fn place_code(ctx: Context) -> i64 {
    let numbers = [ctx.depth, ctx.module, ctx.region];
    assert!(
        std::iter::zip(numbers, PLACE_BITS).all(|(n, bits)| n < 1 << bits),
        "a context that has no code: {ctx:?}"
    );
    let [depth, module, region] = numbers.map(i64::from);
    (region << PLACE_BITS[1] | module) << PLACE_BITS[0] | depth
}

fn place_of(code: i64) -> Context {
    let [depth, module, _] = PLACE_BITS;
    let low = |n: i64, bits: u32| (n & ((1 << bits) - 1)) as u32;
    let (outer, region) = (code >> depth, (code >> depth >> module) as u32);
    Context { module: low(outer, module), depth: low(code, depth), region }
}

/// An identifier that the table does not have yet.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Pending {
    /// An alias, made in this context, of the base identifier with this name.
    Renamed(Rc<str>, Context),
    /// An alias, made in this context, of another alias.
    Again(Ident, Context),
    /// The identifier with this name where an alias is, which has none of this name yet.
    Like(Ident, Rc<str>),
    /// A base identifier with this name.
    Plain(Rc<str>),
    /// An alias that is like no other.
    Fresh(u32),
}

/// One use of a macro while its transformer runs.
struct Use<'x, 'a> {
    expander: &'x Expander<'a>,
    m: &'x Macro,
    way: Way,
    /// The first number that the table does not use.
    first: u32,
    pending: RefCell<Vec<Pending>>,
    numbers: RefCell<FxHashMap<Pending, u32>>,
    /// Places of the form's pairs: of the list from here on, and of the element.
    places: RefCell<FxHashMap<usize, (Span, Span)>>,
    /// Data in the expansion so far.
    size: Cell<usize>,
    limit: usize,
    form: Syntax,
    /// What the transformer finds wrong with the form, and where.
    refusal: RefCell<Option<Refusal>>,
    /// `eval`.
    evaluator: Evaluator<'a>,
}

/// A message of a transformer about its form.
struct Refusal {
    message: String,
    span: Option<Span>,
    help: Option<String>,
    violation: Violation,
}

/// What an identifier means, for comparison.
#[derive(PartialEq)]
enum Sense {
    Bound(Binding),
    Unbound(Rc<str>),
}

impl Expander<'_> {
    /// `(er-macro-transformer expression)` and its relatives.
    pub(super) fn procedure(&mut self, x: &Syntax, way: Way) -> R<Procedure> {
        let Some([_, expression]) = x.as_list() else {
            return self.err_help(
                x.span,
                "a transformer is one expression",
                "(er-macro-transformer (lambda (form rename compare) body …))",
            );
        };
        self.procedure_of(expression, x.span, way)
    }

    /// The transformer that an expression makes.
    pub(super) fn procedure_of(&mut self, expression: &Syntax, span: Span, way: Way) -> R<Procedure> {
        self.procedure_by(|x| x.expr(expression), span, way)
    }

    /// A transformer whose code `make` makes.
    pub(super) fn procedure_by(
        &mut self,
        make: impl FnOnce(&mut Self) -> Expr,
        span: Span,
        way: Way,
    ) -> R<Procedure> {
        let before = self.s.errors.len();
        // what runs when it is used is no part of the program
        let counters = self.s.counters.take();
        let outer = self.transformer_at.replace(self.ctx);
        // nor are its constants objects of the program's memory
        let embedded = std::mem::take(&mut self.s.embedded);
        let open = (self.s.open, self.s.makes_environments);
        let code = make(self);
        (self.s.open, self.s.makes_environments) = open;
        self.s.embedded = embedded;
        self.transformer_at = outer;
        let is_right = self.s.errors.len() == before;
        if is_right {
            self.expand_sources(&code);
        }
        self.s.counters = counters;
        if !is_right {
            return Err(Diagnostic::new(span, "").into()); // reported
        }
        Ok(Procedure { way, code })
    }

    pub(super) fn remember_source(&mut self, g: GlobalId, id: Ident, rhs: &Rhs) {
        let rhs = match rhs {
            Rhs::Expr(x) => Rhs::Expr(x.clone()),
            Rhs::Procedure { form, formals, span } => {
                Rhs::Procedure { form: form.clone(), formals: formals.clone(), span: *span }
            }
            Rhs::Built(e) => Rhs::Built(e.clone()),
        };
        self.sources.insert(g, Source { place: self.ctx, id, rhs });
    }

    /// Expands the definitions that the code needs.
    fn expand_sources(&mut self, code: &Expr) {
        let mut wanted = globals_of(code);
        while let Some(g) = wanted.pop() {
            if let Some(Source { place, id, rhs }) = self.sources.remove(&g) {
                let e = self.at_top_level(place.module, |x| {
                    x.ctx.region = place.region;
                    x.rhs(rhs, id)
                });
                wanted.extend(globals_of(&e));
                self.s.retained.forms.push(TopForm::Define(g, e));
            }
        }
    }

    /// Expands the library's text, as far as the code of a transformer comes to it, if its forms are not at hand.
    fn expand_library(&mut self, code: &Expr) {
        let Some(boot) = self.s.boot.clone() else { return };
        let missing: Vec<u32> = self.imports_reached(code).into_iter().collect();
        if !missing.is_empty() || self.s.library_text.session.is_none() {
            let homes = missing.iter().filter_map(|n| boot.home(*n));
            let mut names: Vec<_> = homes.chain([LibraryName::of(&["cairn", "control"])]).collect();
            names.sort();
            names.dedup();
            // what is evaluated may come to anything
            if !names.contains(&LibraryName::of(&["cairn", "evaluator"])) {
                self.add_library_text(&*boot, &names);
            }
        }
        if missing.iter().any(|n| !self.s.library_text.exports.contains_key(n)) {
            let modules = &self.s.modules;
            let known = self.s.libraries.iter().filter(|(_, l)| !l.loading && modules[l.module as usize].builtin);
            let mut names: Vec<_> = known.map(|(name, _)| name.clone()).collect();
            names.sort();
            if names.len() != self.s.library_text.libraries {
                self.s.library_text.libraries = names.len();
                self.add_library_text(&*boot, &names);
            }
        }
    }

    /// Variables of the library that some code comes to and whose text is not there, by their numbers as exports.
    fn imports_reached(&mut self, code: &Expr) -> BTreeSet<u32> {
        let session = &mut *self.s;
        let LibraryText { exports, searched, .. } = &mut session.library_text;
        let mut missing = BTreeSet::new();
        let mut definitions = None;
        let mut todo = globals_of(code);
        while let Some(g) = todo.pop() {
            let Some(info) = session.program.globals.get(g.0 as usize).filter(|_| !searched.contains(&g)) else {
                continue;
            };
            if let Some(Import { from: ImportFrom::Library(n), .. }) = info.import {
                if !exports.contains_key(&n) {
                    missing.insert(n);
                }
                continue;
            }
            let definitions = definitions.get_or_insert_with(|| {
                let forms = session.retained.forms.iter().chain(&session.program.forms);
                let definition = |form| match form {
                    &TopForm::Define(g, ref e) => Some((g, e)),
                    TopForm::Expr(_) => None,
                };
                forms.filter_map(definition).collect::<FxHashMap<GlobalId, &Expr>>()
            });
            if let Some(e) = definitions.get(&g) {
                searched.insert(g);
                todo.extend(globals_of(e));
            }
        }
        missing
    }

    /// Expands the text of libraries.
    fn add_library_text(&mut self, boot: &dyn BootLibrary, names: &[LibraryName]) {
        let mut session = self.s.library_text.session.take().unwrap_or_default();
        if session.preload(names, self.loader).is_err() {
            return; // what it lacks is reported when it is needed
        }
        // quasiquotation calls it, whatever is imported
        let nil = || Expr::Const(Literal::Nil);
        Expander::new(&mut session, self.loader).append(nil(), nil(), Site::NONE);
        session.retained.forms.append(&mut session.program.forms);
        let who: Vec<usize> =
            session.program.procedures.iter().map(|name| self.s.program.procedure_name(name)).collect();
        for mut form in std::mem::take(&mut session.retained.forms) {
            if let TopForm::Define(g, _) = &mut form {
                *g = moved(*g);
            }
            move_code(form.expr_mut(), &who, &moved);
            self.s.retained.forms.push(form);
        }
        let text = &mut self.s.library_text;
        for (key, g) in session.definitions() {
            if let Some(Import { from: ImportFrom::Library(n), .. }) = boot.export(&key) {
                text.exports.insert(n, moved(g));
            }
        }
        text.session = Some(session);
    }

    /// The expansion of a use of the macro `m`.
    pub(super) fn run_procedure(&mut self, m: &Macro, p: &Procedure, form: &Syntax, root: &Root) -> R<Syntax> {
        self.expand_library(&p.code);
        let limit = self.s.expansion_limit.unwrap_or(crate::expand::state::MAX_EXPANSION_SIZE);
        let evaluator = self.evaluator();
        let u = Use {
            expander: self,
            m,
            way: p.way,
            first: self.s.names.len() as u32,
            pending: RefCell::default(),
            numbers: RefCell::default(),
            places: RefCell::default(),
            size: Cell::new(0),
            limit,
            form: form.clone(),
            refusal: RefCell::default(),
            evaluator,
        };
        let expansion = stacker::grow(stack_bytes(), || u.expand(p, form));
        let (size, pending) = (u.size.get(), u.pending.into_inner());
        let refusal = u.refusal.into_inner();
        self.take_back(u.evaluator);
        let x = match (expansion, refusal) {
            (Ok(x), _) => x,
            (Err(Stop::Raised(..)), Some(refusal)) => return Err(self.form_refused(m, form, refusal)),
            (Err(stop), _) => return Err(self.transformer_failed(m, form, stop)),
        };
        self.count_expansion(root, size)?;
        let names = &mut self.s.names;
        let first = names.len() as u32;
        for p in &pending {
            if let Pending::Plain(name) | Pending::Renamed(name, _) = p {
                names.intern(name);
            }
        }
        // the aliases of this expansion, one behind the other
        let together = names.len() as u32;
        let mut made = vec![Ident(0); pending.len()];
        for (p, id) in pending.iter().zip(&mut made) {
            *id = match p {
                Pending::Plain(name) => names.intern(name),
                Pending::Again(of, ctx) => names.alias_in(Ident(together), *of, *ctx),
                Pending::Renamed(name, ctx) => {
                    let base = names.intern(name);
                    names.alias_in(Ident(together), base, *ctx)
                }
                Pending::Like(..) | Pending::Fresh(_) => continue,
            };
        }
        for (p, id) in pending.iter().zip(&mut made) {
            *id = match p {
                Pending::Like(of, name) => names.like(*of, name),
                Pending::Fresh(n) => {
                    let base = names.intern(&format!("g{n}"));
                    names.alias(base, m.context())
                }
                _ => continue,
            };
        }
        Ok(if made.is_empty() { x } else { settle(&x, first, &made) })
    }

    /// A transformer says what is wrong with its form: an error of syntax like those of Cairn's own forms.
    fn form_refused(&self, m: &Macro, form: &Syntax, refusal: Refusal) -> Box<Diagnostic> {
        let is_library = |span: Span| self.s.sources.get(span.file as usize).is_none_or(|f| f.library);
        let span = refusal.span.filter(|span| !is_library(*span)).unwrap_or(form.span);
        let mut d = self.diagnostic(span, refusal.message);
        d.notes.retain(|(s, _)| *s != span);
        if !is_library(m.span()) {
            d = d.note(m.span(), "the macro is defined here");
        }
        d.help = refusal.help;
        d.violation = Some(refusal.violation.into());
        d.into()
    }

    fn transformer_failed(&self, m: &Macro, form: &Syntax, stop: Stop) -> Box<Diagnostic> {
        let name = self.name(m.name());
        let mut help = None;
        let mut place = None;
        let message = match stop {
            Stop::Raised(message, site) => {
                place = self.visible_place(site);
                format!("the transformer of `{name}` failed: {message}")
            }
            Stop::Fuel => {
                help = Some(format!(
                    "a transformer may take {} million steps, with {} calls inside each other",
                    transform::MAX_STEPS / 1_000_000,
                    transform::MAX_DEPTH
                ));
                format!("the transformer of `{name}` does not end")
            }
            Stop::Unsupported(what) => {
                help = Some(
                    "while macros are expanded, files can only be read, as text, and the system is not there"
                        .into(),
                );
                format!("the transformer of `{name}` failed: `{what}` is not possible during expansion")
            }
            Stop::Throw(..) => {
                format!(
                    "the transformer of `{name}` failed: a continuation cannot be entered again during expansion"
                )
            }
            Stop::Unbound => {
                format!("the transformer of `{name}` failed: a variable is used before its definition")
            }
            Stop::Unsound(why) if why.contains("not in scope") => {
                help = Some("define it inside of the transformer, or at top level before the macro".into());
                format!(
                    "the transformer of `{name}` refers to a local variable, which has no value during expansion"
                )
            }
            stop => format!("the transformer of `{name}` failed: {stop:?}"),
        };
        let mut d = self.diagnostic(form.span, message);
        if let Some(place) = place {
            d = d.note(place, "the error was raised here");
        } else if !self.s.sources.get(m.span().file as usize).is_some_and(|f| f.library) {
            d = d.note(m.span(), "the transformer");
        }
        if let Some(help) = help {
            d = d.help(help);
        }
        d.into()
    }

    /// A position of the user's text.
    fn visible_place(&self, site: Site) -> Option<Span> {
        let file = site.file().filter(|_| site.is_known())?;
        let source = self.s.sources.get(file as usize).filter(|f| !f.library)?;
        let start = site.start();
        let rest = source.text.get(start as usize..)?;
        // as much of the form as is in its first line
        let end = lexeme::line_end(rest, 0).min(lexeme::datum_end(rest, 0));
        let length = rest[..end].trim_end_matches(['\n', '\r']).len().max(1);
        Some(Span { file, start, end: start + length as u32 })
    }
}

fn globals_of(e: &Expr) -> Vec<GlobalId> {
    let mut found = Vec::new();
    visit(e, &mut |e| {
        if let Expr::Global(g, _) = e {
            found.push(*g);
        }
    });
    found
}

fn moved(g: GlobalId) -> GlobalId {
    GlobalId(g.0 + transform::LIBRARY_GLOBALS)
}

/// Puts identifiers of the table in the place of numbers from `first` on.
fn settle(x: &Syntax, first: u32, made: &[Ident]) -> Syntax {
    let all =
        |items: &[Syntax]| -> Vec<Syntax> { grow(|| items.iter().map(|x| settle(x, first, made)).collect()) };
    let datum = match &x.datum {
        Datum::Ident(id) if id.0 >= first => Datum::Ident(made[(id.0 - first) as usize]),
        Datum::List(items) => Datum::List(all(items).into()),
        Datum::Dotted(items) => Datum::Dotted(all(items).into()),
        Datum::Vector(items) => Datum::Vector(all(items).into()),
        datum => datum.clone(),
    };
    Syntax::new(datum, x.span)
}

impl Use<'_, '_> {
    fn expand(&self, p: &Procedure, form: &Syntax) -> Result<Syntax, Stop> {
        let assignment = p.way == Way::Syntax
            && form
                .parts()
                .0
                .first()
                .and_then(Syntax::as_ident)
                .is_some_and(|head| self.expander.resolve(head) == Meaning::Bound(Binding::Core(Core::Set)));
        let form = self.value(form);
        let environment = |of_macro: bool| {
            let tag = Val::Symbol(ENVIRONMENT.into());
            Val::Opaque(cells(vec![tag, boolean(of_macro), native(COMPARE)]))
        };
        let args = match p.way {
            Way::Renaming => vec![form.clone(), native(RENAME), native(COMPARE)],
            Way::Closures => vec![form.clone(), environment(false)],
            Way::ReversedClosures => vec![form.clone(), environment(true)],
            Way::Syntax => vec![form.clone()],
        };
        let session = &self.expander.s;
        let forms = session.retained.forms.iter().chain(&session.program.forms);
        let expansion = transform::run_transformer(
            &session.program,
            forms,
            &p.code,
            args,
            assignment,
            &session.library_text.exports,
            self,
        )?;
        self.syntax(&expansion, p.way == Way::Closures, self.form.span).map_err(|m| Stop::Raised(m, Site::NONE))
    }

    // identifiers

    fn number(&self, p: Pending) -> u32 {
        *self.numbers.borrow_mut().entry(p).or_insert_with_key(|p| {
            let mut pending = self.pending.borrow_mut();
            pending.push(p.clone());
            self.first + pending.len() as u32 - 1
        })
    }

    /// The identifier with this name that is where the one with this number is.
    fn like<'p>(&self, id: u32, name: &Rc<str>) -> Value<'p> {
        let pending = match id.checked_sub(self.first) {
            Some(i) => match &self.pending.borrow()[i as usize] {
                Pending::Renamed(_, ctx) | Pending::Again(_, ctx) => Pending::Renamed(name.clone(), *ctx),
                Pending::Like(of, _) => Pending::Like(*of, name.clone()),
                Pending::Plain(_) => Pending::Plain(name.clone()),
                Pending::Fresh(_) => Pending::Renamed(name.clone(), self.m.context()),
            },
            None => {
                let names = &self.expander.s.names;
                let existing = match names.parent(Ident(id)) {
                    None => names.known(name),
                    Some(_) => names.sibling(Ident(id), name),
                };
                match existing {
                    Some(id) => return Val::Ident(id.0, name.clone()),
                    None if names.parent(Ident(id)).is_none() => Pending::Plain(name.clone()),
                    None => Pending::Like(Ident(id), name.clone()),
                }
            }
        };
        Val::Ident(self.number(pending), name.clone())
    }

    /// What an identifier means, seen from the use, or from the macro's definition.
    fn sense(&self, x: &Value<'_>, of_macro: bool) -> Option<Sense> {
        let x_ = self.expander;
        let ctx = if of_macro { self.m.context() } else { x_.ctx };
        let of_name = |name: &Rc<str>, ctx| match x_.s.names.known(name) {
            Some(id) => self.meaning(x_.resolve_in(id, ctx)),
            None => Sense::Unbound(name.clone()),
        };
        match x {
            Val::Symbol(name) => Some(of_name(name, ctx)),
            Val::Ident(id, name) if *id >= self.first => {
                Some(match &self.pending.borrow()[(*id - self.first) as usize] {
                    Pending::Renamed(name, ctx) => of_name(name, *ctx),
                    Pending::Again(id, ctx) => self.meaning(x_.resolve_in(*id, *ctx)),
                    Pending::Like(id, name) => {
                        let (mut id, mut ctx) = (*id, ctx);
                        loop {
                            match (x_.s.names.parent(id), x_.s.names.sibling(id, name)) {
                                (_, Some(sibling)) => break self.meaning(x_.resolve_in(sibling, ctx)),
                                (None, _) => break of_name(name, ctx),
                                (Some((parent, at)), None) => (id, ctx) = (parent, at),
                            }
                        }
                    }
                    Pending::Plain(name) => of_name(name, ctx),
                    Pending::Fresh(_) => Sense::Unbound(name.clone()),
                })
            }
            Val::Ident(id, _) => Some(self.meaning(x_.resolve_in(Ident(*id), ctx))),
            Val::Opaque(_) => {
                let (of_macro, form) = closure_parts(x)?;
                self.sense(&form, of_macro)
            }
            _ => None,
        }
    }

    fn meaning(&self, m: Meaning) -> Sense {
        match m {
            Meaning::Bound(b) => Sense::Bound(b),
            Meaning::Unbound(id, _) => Sense::Unbound(self.expander.name(id).clone()),
        }
    }

    /// What `raise-refusal` of (cairn macro) has noted: who or #f, the message, what it is about, the innermost first,
    /// and help or #f.
    fn refuse(&self, what: &[Value<'_>]) {
        let [who, message, about, help] = what else { return };
        let said = |x: &Value<'_>| match x {
            Val::Atom(Atom::Bool(false)) => None,
            Val::String(s) => Some(s.borrow().iter().collect::<String>()),
            x => Some(x.written()),
        };
        let message = said(message).unwrap_or_default();
        let mut text = message.clone();
        let by = said(who).map(|name| {
            text = format!("{name}: {text}");
            who.written()
        });
        let about = items(about).unwrap_or_default();
        // the innermost first: behind a part stands what it is a part of
        let mut written = about.iter().map(|x| x.written()).rev();
        let form = written.next().unwrap_or_default();
        let violation = Violation { who: by, message, form, subform: written.next_back() };
        let places: Vec<Option<Span>> = about.iter().map(|x| self.place_in_form(x)).collect();
        // what is not marked is written
        if let (Some(x), Some(None)) = (about.first(), places.first()) {
            text = format!("{text}: {}", x.written());
        }
        let span = places.into_iter().flatten().next();
        *self.refusal.borrow_mut() = Some(Refusal { message: text, span, help: said(help), violation });
    }

    /// Where this stands in the form, if that is one place.
    fn place_in_form(&self, x: &Value<'_>) -> Option<Span> {
        if let Val::Pair(p) = x
            && let Some((whole, _)) = self.places.borrow().get(&(Rc::as_ptr(p) as usize))
        {
            return Some(*whole);
        }
        let (mut found, mut todo) = (None, vec![&self.form]);
        while let Some(part) = todo.pop() {
            if self.is_written_as(part, x) {
                if found.is_some() {
                    return None;
                }
                found = Some(part.span);
            } else if let Datum::List(parts) | Datum::Dotted(parts) | Datum::Vector(parts) = &part.datum {
                todo.extend(parts.iter());
            }
        }
        found
    }

    /// Is this what a text stands for? A symbol may come from `syntax->datum`.
    fn is_written_as(&self, text: &Syntax, x: &Value<'_>) -> bool {
        match (&text.datum, x) {
            (Datum::Ident(id), Val::Ident(n, _)) => id.0 == *n,
            (Datum::Ident(id), Val::Symbol(name)) => self.expander.s.names.name(*id) == name,
            (Datum::List(_) | Datum::Dotted(_), Val::Pair(_)) => grow(|| {
                let (parts, tail) = text.parts();
                let mut rest = x.clone();
                for part in parts {
                    let Some((x, next)) = rest.pair() else { return false };
                    if !self.is_written_as(part, &x) {
                        return false;
                    }
                    rest = next;
                }
                tail.map_or(matches!(rest, Val::Nil), |tail| self.is_written_as(tail, &rest))
            }),
            (Datum::Vector(parts), Val::Vector(x)) => grow(|| {
                let x = x.borrow();
                parts.len() == x.len() && parts.iter().zip(&*x).all(|(part, x)| self.is_written_as(part, x))
            }),
            (Datum::Ident(_) | Datum::List(_) | Datum::Dotted(_) | Datum::Vector(_), _)
            | (_, Val::Ident(..) | Val::Pair(_) | Val::Vector(_)) => false,
            (_, x) => self.value(text).to_string() == x.to_string(),
        }
    }

    // syntax to values and back

    fn value<'p>(&self, x: &Syntax) -> Value<'p> {
        let names = &self.expander.s.names;
        let identifier = |id: Ident| {
            let name = names.name(id).clone();
            let symbol = names.parent(id).is_none() && self.way != Way::Syntax;
            if symbol { Val::Symbol(name) } else { Val::Ident(id.0, name) }
        };
        value(x, &identifier, &|pair, whole, element| {
            if let Val::Pair(pair) = pair {
                self.places.borrow_mut().insert(Rc::as_ptr(pair) as usize, (whole, element));
            }
        })
    }

    /// `renamed`: symbols are aliases of the macro's definition.
    fn syntax(&self, v: &Value<'_>, renamed: bool, span: Span) -> Result<Syntax, String> {
        self.size.set(self.size.get() + 1);
        if self.size.get() > self.limit {
            return Err("the expansion is endless or too large".into());
        }
        if let Some(datum) = simple_datum(v) {
            return Ok(Syntax::new(datum, span));
        }
        let datum = match v {
            Val::Symbol(name) if self.way == Way::Syntax => {
                return Err(format!(
                    "the expansion contains the symbol {name}, which is no identifier: #'{name} is one, and \
                     datum->syntax makes them"
                ));
            }
            Val::Symbol(name) if renamed => {
                Datum::Ident(Ident(self.number(Pending::Renamed(name.clone(), self.m.context()))))
            }
            Val::Symbol(name) => Datum::Ident(match self.expander.s.names.known(name) {
                Some(id) => id,
                None => Ident(self.number(Pending::Plain(name.clone()))),
            }),
            Val::Ident(id, _) => Datum::Ident(Ident(*id)),
            Val::Pair(_) => return grow(|| self.list(v, renamed, span)),
            Val::Vector(items) => {
                let items: Result<Vec<Syntax>, String> =
                    grow(|| items.borrow().iter().map(|x| self.syntax(x, renamed, span)).collect());
                Datum::Vector(items?.into())
            }
            Val::Opaque(_) => match closure_parts(v) {
                Some((of_macro, form)) => return grow(|| self.syntax(&form, of_macro, span)),
                None => return Err(format!("the expansion contains {}", v.written())),
            },
            v => return Err(format!("the expansion contains {}", v.written())),
        };
        Ok(Syntax::new(datum, span))
    }

    fn list(&self, v: &Value<'_>, renamed: bool, span: Span) -> Result<Syntax, String> {
        let place = |v: &Value<'_>| match v {
            Val::Pair(p) => self.places.borrow().get(&(Rc::as_ptr(p) as usize)).copied(),
            _ => None,
        };
        let span = place(v).map_or(span, |(whole, _)| whole);
        let (mut rest, mut items) = (v.clone(), Vec::new());
        while let Some((x, next)) = rest.pair() {
            let at = place(&rest).map_or(span, |(_, element)| element);
            items.push(self.syntax(&x, renamed, at)?);
            rest = next;
        }
        let tail = self.syntax(&rest, renamed, span)?;
        Ok(Syntax::dotted(items, tail, span))
    }
}

impl<'p> Natives<'p> for Use<'_, '_> {
    fn call(&self, n: u32, args: &[Value<'p>]) -> Result<Value<'p>, String> {
        match (n, args) {
            (RENAME, [Val::Symbol(name)]) => {
                Ok(Val::Ident(self.number(Pending::Renamed(name.clone(), self.m.context())), name.clone()))
            }
            (RENAME, [Val::Ident(id, name)]) if *id < self.first => {
                Ok(Val::Ident(self.number(Pending::Again(Ident(*id), self.m.context())), name.clone()))
            }
            (RENAME, [x @ Val::Ident(..)]) => Ok(x.clone()),
            (RENAME, [x]) => Err(format!("rename: expected a symbol, got {}", x.written())),
            (COMPARE, [a, b]) => Ok(boolean(match (self.sense(a, false), self.sense(b, false)) {
                (Some(a), Some(b)) => a == b,
                _ => a.is_eqv(b),
            })),
            (IS_IDENTIFIER, [x, ..]) => Ok(boolean(matches!(x, Val::Ident(..)))),
            (SAME_MEANING, [a, b]) => {
                Ok(boolean(self.sense(a, false).zip(self.sense(b, false)).is_some_and(|(a, b)| a == b)))
            }
            (OF_TEMPLATE, [what, Val::Num(Number::Int(Int::Fix(place)))]) => {
                let ctx = place_of(*place);
                Ok(match what {
                    Val::Num(Number::Int(Int::Fix(id))) => {
                        let id = Ident(*id as u32);
                        Val::Ident(self.number(Pending::Again(id, ctx)), self.expander.name(id).clone())
                    }
                    Val::Symbol(name) => {
                        Val::Ident(self.number(Pending::Renamed(name.clone(), ctx)), name.clone())
                    }
                    _ => boolean(false),
                })
            }
            (LIKE, [Val::Ident(id, _), Val::Symbol(name)]) => Ok(self.like(*id, name)),
            (NAME, [Val::Ident(_, name), _]) => Ok(Val::Symbol(name.clone())),
            (TEMPORARY, _) => {
                let n = self.first + self.pending.borrow().len() as u32;
                Ok(Val::Ident(self.number(Pending::Fresh(n)), format!("g{n}").into()))
            }
            (transform::UNCAUGHT, [Val::Vector(what)]) => {
                self.refuse(&what.borrow());
                Ok(boolean(false))
            }
            (IS_IDENTIFIER..=TEMPORARY, _) => Ok(boolean(false)),
            (FRESH, [Val::Num(Number::Int(Int::Fix(k)))]) => {
                let number = self.number(Pending::Fresh(self.first + *k as u32));
                Ok(Val::Ident(number, format!("g{}", self.first + *k as u32).into()))
            }
            (RENAME, _) => Err(format!("rename: expected 1 argument, got {}", args.len())),
            _ => Err(format!("compare: expected 2 arguments, got {}", args.len())),
        }
    }
    fn environment(&self, sets: &str) -> Result<u32, String> {
        self.evaluator.environment(sets)
    }
    fn expand(&'p self, environment: u32, form: &Value<'p>) -> Result<Vec<&'p [TopForm]>, String> {
        self.evaluator.expand(self.expander, environment, form)
    }
    fn evaluating(&self) -> Vec<(GlobalId, u32)> {
        self.expander.evaluating_procedures()
    }
    fn file(&self, path: &str) -> Result<String, String> {
        self.evaluator.file(path)
    }
    fn read(&self, text: &str) -> Result<(Option<Value<'p>>, usize), String> {
        read_datum(text)
    }
    fn evaluated_name(&self, g: GlobalId) -> Option<(String, bool)> {
        self.evaluator.name(g)
    }
}

/// Does the environment of a syntactic closure belong to the macro's definition, and what is closed?
fn closure_parts<'p>(x: &Value<'p>) -> Option<(bool, Value<'p>)> {
    let Val::Opaque(parts) = x else { return None };
    match &parts.borrow()[..] {
        [Val::Symbol(tag), Val::Opaque(env), form] if &**tag == CLOSURE => match &env.borrow()[..] {
            [Val::Symbol(tag), Val::Atom(Atom::Bool(of_macro)), _] if &**tag == ENVIRONMENT => {
                Some((*of_macro, form.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A stack for expansions: long lists are dropped by recursion. What is not touched costs nothing but addresses, of
/// which there may be few (`ulimit -v`).
fn stack_bytes() -> usize {
    let addresses = getrlimit(Resource::As).current.and_then(|n| usize::try_from(n).ok());
    addresses.map_or(1 << 30, |n| (n / 16).min(1 << 30))
}
