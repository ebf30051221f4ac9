//! Libraries: `define-library`, `import`, `cond-expand`, `include`.
//!
//! A library is a module (its top-level names) and a table of exports: name to binding. Importing copies
//! bindings, so a keyword, a macro, a primitive and a variable are all imported alike. The forms of a library
//! go into the program when it is first imported, before the forms of whoever imports it.
//!
//! Three libraries are built in: `(cairn syntax)` exports the keywords, `(cairn primitives)` exports every
//! primitive operation as `%name`, `(cairn layout)` numbers that compiler and runtime share.

use super::core::Core;
use super::loader::{DEFAULT_LIBRARIES, LibraryName, NamePart};
use super::meaning::{Binding, Library, Meaning};
use super::observed::Role;
use super::scope::keywords;
use super::state::{Expander, R, grow};
use super::suggest::nearest;
use super::{layout, prims};
use crate::diagnostic::Span;
use crate::syntax::{Datum, Ident, Syntax};
use cairn_num::{Int, Number};
use rustc_hash::{FxHashMap, FxHashSet};

/// What `cond-expand` and `(features)` know.
pub const FEATURES: &[&str] = &[
    "r7rs",
    "full-unicode",
    "ratios",
    "exact-closed",
    "exact-complex",
    "ieee-float",
    "cairn",
    "x86-64",
    "linux",
    "unix",
    "little-endian",
    "srfi-0",
    "srfi-1",
    "srfi-2",
    "srfi-4",
    "srfi-5",
    "srfi-6",
    "srfi-8",
    "srfi-9",
    "srfi-11",
    "srfi-13",
    "srfi-14",
    "srfi-16",
    "srfi-17",
    "srfi-18",
    "srfi-19",
    "srfi-23",
    "srfi-25",
    "srfi-26",
    "srfi-27",
    "srfi-28",
    "srfi-29",
    "srfi-31",
    "srfi-34",
    "srfi-35",
    "srfi-37",
    "srfi-38",
    "srfi-39",
    "srfi-41",
    "srfi-42",
    "srfi-43",
    "srfi-45",
    "srfi-46",
    "srfi-48",
    "srfi-54",
    "srfi-57",
    "srfi-60",
    "srfi-61",
    "srfi-63",
    "srfi-64",
    "srfi-66",
    "srfi-67",
    "srfi-69",
    "srfi-71",
    "srfi-74",
    "srfi-78",
    "srfi-86",
    "srfi-87",
    "srfi-95",
    "srfi-98",
    "srfi-99",
    "srfi-101",
    "srfi-106",
    "srfi-111",
    "srfi-113",
    "srfi-115",
    "srfi-116",
    "srfi-117",
    "srfi-121",
    "srfi-124",
    "srfi-125",
    "srfi-126",
    "srfi-127",
    "srfi-128",
    "srfi-129",
    "srfi-130",
    "srfi-131",
    "srfi-132",
    "srfi-133",
    "srfi-134",
    "srfi-135",
    "srfi-136",
    "srfi-139",
    "srfi-141",
    "srfi-143",
    "srfi-144",
    "srfi-145",
    "srfi-146",
    "srfi-149",
    "srfi-151",
    "srfi-152",
    "srfi-158",
    "srfi-160",
    "srfi-162",
    "srfi-165",
    "srfi-166",
    "srfi-170",
    "srfi-171",
    "srfi-173",
    "srfi-175",
    "srfi-178",
    "srfi-180",
    "srfi-188",
    "srfi-189",
    "srfi-193",
    "srfi-194",
    "srfi-195",
    "srfi-196",
    "srfi-197",
    "srfi-203",
    "srfi-204",
    "srfi-207",
    "srfi-209",
    "srfi-214",
    "srfi-217",
    "srfi-219",
    "srfi-221",
    "srfi-222",
    "srfi-223",
    "srfi-224",
    "srfi-225",
    "srfi-227",
    "srfi-228",
    "srfi-229",
    "srfi-230",
    "srfi-231",
    "srfi-232",
    "srfi-233",
    "srfi-234",
    "srfi-235",
    "srfi-236",
    "srfi-239",
    "srfi-244",
    "srfi-248",
    "srfi-250",
    "srfi-253",
];

/// Forms whose expansions call procedures of (cairn control) with a star behind their names.
const FORMS: [&str; 4] = ["parameterize", "guard", "delay", "delay-force"];

/// Declarations of one library, in the order of the text but sorted by kind.
#[derive(Default)]
struct Declarations {
    exports: Vec<Syntax>,
    body: Vec<Syntax>,
}

impl Expander<'_> {
    /// Does a program begin by importing something?
    pub(super) fn imports_something(&self, forms: &[Syntax]) -> bool {
        for form in forms {
            let Some([head, ..]) = form.as_list() else { return false };
            if self.is_keyword(head, Core::Import) {
                return true;
            }
            if self.is_keyword(head, Core::CondExpand) && self.mentions_import(form) {
                return true;
            }
            if !self.is_keyword(head, Core::DefineLibrary) && !self.is_keyword(head, Core::Library) {
                return false;
            }
        }
        false
    }

    fn mentions_import(&self, form: &Syntax) -> bool {
        let Some(clauses) = form.as_list() else { return false };
        clauses.iter().skip(1).filter_map(Syntax::as_list).flatten().any(|x| {
            x.as_list().and_then(|l| l.first()).is_some_and(|head| {
                self.is_keyword(head, Core::Import)
                    || self.is_keyword(head, Core::CondExpand) && self.mentions_import(x)
            })
        })
    }

    pub(super) fn import_defaults(&mut self, span: Span) {
        for part in DEFAULT_LIBRARIES {
            let name = LibraryName::of(&["scheme", part]);
            if *part == "base" || self.is_available(&name) {
                self.import_whole(&name, span, span);
            }
        }
    }

    /// Imports all of a library, which is asked for at one place; `shown` is where messages say that its names come
    /// from: an empty span if they are free to be defined again.
    pub(super) fn import_whole(&mut self, name: &LibraryName, asked: Span, shown: Span) {
        match self.load(name, asked) {
            Ok(()) => {
                for (id, b) in self.exports_of(name) {
                    self.import_binding(id, b, shown);
                }
            }
            Err(d) => self.report(d),
        }
    }

    /// `(import set …)` at the top level of the current module.
    pub(super) fn import(&mut self, form: Span, sets: &[Syntax]) {
        let sets = self.without_foreign(form, sets);
        for set in &sets {
            match self.import_set(set) {
                Ok(bindings) => {
                    self.observe_import(form, set, &bindings);
                    let free = self.is_language(set);
                    let span = if free { Span { end: set.span.start, ..set.span } } else { set.span };
                    let of_chez = self.is_of_chez(set);
                    let family = self.family(set);
                    for (id, b) in bindings {
                        if of_chez && self.is_beside_chez(id) {
                            self.offer_binding(id, b, span);
                        } else {
                            self.import_binding_of(family, id, b, span);
                        }
                    }
                }
                Err(d) => self.report(d),
            }
        }
    }

    fn import_set(&mut self, x: &Syntax) -> R<Vec<(Ident, Binding)>> {
        const HELP: &str = "(library name), or (only set name …), (except set name …), (prefix set prefix), \
                            (rename set (old new) …)";
        let Some(items) = x.as_list().filter(|l| !l.is_empty()) else {
            return self.err_help(x.span, "not an import set", HELP);
        };
        let modifier = match (items[0].as_ident(), items.get(1)) {
            (Some(id), Some(inner)) if inner.as_list().is_some() => self.name(id).clone(),
            _ => "".into(),
        };
        match (&*modifier, items) {
            // what is imported is there in every phase
            ("for", [_, inner, ..]) | ("library", [_, inner]) => return grow(|| self.import_set(inner)),
            _ => {}
        }
        if !matches!(&*modifier, "only" | "except" | "prefix" | "rename") {
            let name = self.imported_name(x)?;
            self.load(&name, x.span)?;
            self.warn_of_file_in_vain(&name, x.span);
            return Ok(self.exports_of(&name));
        }
        let mut set = grow(|| self.import_set(&items[1]))?;
        let rest = &items[2..];
        match &*modifier {
            "only" | "except" => {
                let mut chosen = FxHashSet::default();
                let present: FxHashSet<Ident> = set.iter().map(|(id, _)| *id).collect();
                for name in rest {
                    let id = self.plain_ident(name, HELP)?;
                    if !present.contains(&id) {
                        let d = self.not_exported(&items[1], id, name.span, &present);
                        self.report(d);
                    }
                    chosen.insert(id);
                }
                let only = &*modifier == "only";
                set.retain(|(id, _)| chosen.contains(id) == only);
            }
            "prefix" => {
                let [prefix] = rest else { return self.err_help(x.span, "bad `prefix`", "(prefix set prefix)") };
                let prefix = self.plain_ident(prefix, "(prefix set prefix)")?;
                let prefix = self.name(prefix).clone();
                for (id, _) in &mut set {
                    let name = format!("{prefix}{}", self.s.names.name(*id));
                    *id = self.s.names.intern(&name);
                }
            }
            _ => {
                let mut renames = FxHashMap::default();
                let present: FxHashSet<Ident> = set.iter().map(|(id, _)| *id).collect();
                for pair in rest {
                    let Some([old, new]) = pair.as_list() else {
                        return self.err_help(pair.span, "not a renaming", "(rename set (old new) …)");
                    };
                    let old_id = self.plain_ident(old, HELP)?;
                    let new_id = self.plain_ident(new, HELP)?;
                    if !present.contains(&old_id) {
                        let d = self.not_exported(&items[1], old_id, old.span, &present);
                        self.report(d);
                    }
                    renames.insert(old_id, new_id);
                }
                // renamed ones last: they count
                set.sort_by_key(|(id, _)| renames.contains_key(id));
                for (id, _) in &mut set {
                    if let Some(new) = renames.get(id) {
                        *id = *new;
                    }
                }
                self.warn_of_one_name_for_two(&set, x.span);
            }
        }
        Ok(set)
    }

    fn warn_of_one_name_for_two(&mut self, set: &[(Ident, Binding)], span: Span) {
        let mut meanings = FxHashMap::default();
        for (id, binding) in set {
            if meanings.insert(*id, *binding).is_some_and(|before| before != *binding) {
                let message = format!("`{}` becomes the name of two things here", self.name(*id));
                let d = self.diagnostic(span, message);
                let help = "the renamed one counts: leave the other out with (except …), or rename it, too";
                self.warn(d.help(help));
            }
        }
    }

    /// A library that is built in, of which somebody has a file of their own.
    fn warn_of_file_in_vain(&mut self, name: &LibraryName, span: Span) {
        let is_users = self.s.sources.get(span.file as usize).is_some_and(|s| !s.library);
        if is_users
            && self.loader.is_builtin(name)
            && let Some(file) = self.loader.file_in_vain(name)
        {
            let message = format!("{name} is built in; {file} is not read");
            let help = "a library that is built in cannot be replaced: give yours another name";
            let d = self.diagnostic(span, message).help(help);
            self.warn(d);
        }
    }

    fn not_exported(
        &self,
        set: &Syntax,
        id: Ident,
        span: Span,
        present: &FxHashSet<Ident>,
    ) -> Box<crate::diagnostic::Diagnostic> {
        let name = self.name(id);
        let mut d = self.diagnostic(span, format!("{} does not export `{name}`", self.source_text(set)));
        if let Some(other) = nearest(name, present.iter().map(|id| &**self.name(*id))) {
            d = d.help(format!("did you mean `{other}`?"));
        }
        d.into()
    }

    fn plain_ident(&mut self, x: &Syntax, help: &str) -> R<Ident> {
        match x.as_ident() {
            Some(id) => Ok(self.s.names.base(id)),
            None => self.err_help(x.span, "a name is expected here", help),
        }
    }

    pub(super) fn exports_of(&self, name: &LibraryName) -> Vec<(Ident, Binding)> {
        let mut all: Vec<_> = self.s.libraries[name].exports.iter().map(|(id, b)| (*id, *b)).collect();
        all.sort_by_key(|(id, _)| *id);
        all
    }

    pub(super) fn library_name(&mut self, x: &Syntax) -> R<LibraryName> {
        let mut parts = Vec::new();
        let items = x.as_list().unwrap_or(&[]);
        for (i, part) in items.iter().enumerate() {
            match &part.datum {
                // R6RS's version, or what it must be: any will do
                Datum::List(_) | Datum::Nil if i > 0 && i + 1 == items.len() && self.is_version(part) => {}
                Datum::Ident(id) => parts.push(NamePart::Symbol(self.name(*id).clone())),
                Datum::String(s) if matches!(parts.first(), Some(NamePart::Symbol(c)) if &**c == "c") => {
                    parts.push(NamePart::Text(s.to_string().into()));
                }
                Datum::Number(n) => match **n {
                    Number::Int(Int::Fix(k)) if k >= 0 => parts.push(NamePart::Number(k as u64)),
                    _ => parts.clear(),
                },
                _ => return self.err_help(part.span, "not a part of a library name", "(scheme base), (srfi 1)"),
            }
        }
        if parts.is_empty() {
            return self.err_help(
                x.span,
                "not the name of a library",
                "a list of identifiers and exact non-negative integers: (scheme base), (srfi 1)",
            );
        }
        Ok(LibraryName(parts))
    }

    /// `(1 2)`, `((>= 1))`, `(or (1) (2 (and (>= 3) (not 5))))`.
    fn is_version(&self, x: &Syntax) -> bool {
        x.as_list().unwrap_or(&[]).iter().all(|part| match &part.datum {
            Datum::Number(_) => true,
            Datum::Ident(id) => matches!(&**self.name(*id), ">=" | "<=" | "and" | "or" | "not"),
            Datum::List(_) => grow(|| self.is_version(part)),
            _ => false,
        })
    }

    pub(super) fn is_available(&mut self, name: &LibraryName) -> bool {
        self.s.libraries.contains_key(name)
            || is_builtin_name(name)
            || matches!(self.loader.load_library(name), Ok(Some(_)))
    }

    /// Makes sure that a library is loaded.
    pub(super) fn load(&mut self, name: &LibraryName, span: Span) -> R<()> {
        match self.s.libraries.get(name) {
            Some(l) if !l.loading => return Ok(()),
            Some(_) => {
                let from = self.loading.iter().position(|n| n == name).unwrap_or(0);
                let mut chain: Vec<String> = self.loading[from..].iter().map(|n| n.to_string()).collect();
                chain.push(name.to_string());
                return self.err(span, format!("libraries import each other in a circle: {}", chain.join(" → ")));
            }
            None => {}
        }
        if is_builtin_name(name) {
            self.make_builtin(name);
            return Ok(());
        }
        if self.load_interface(name) {
            return Ok(());
        }
        let found = if *name == LibraryName::of(&["cairn", "layout"]) {
            Ok(Some((layout::PATH.to_string(), layout::text())))
        } else {
            self.loader.load_library(name)
        };
        let (path, text) = match found {
            Ok(Some(found)) => found,
            Ok(None) => {
                let help = missing_library_help(name, &self.loader.directories_searched());
                let d = self.diagnostic(span, format!("there is no library {name}")).help(help);
                return Err(d.root_cause().into());
            }
            Err(e) => {
                let d = self.diagnostic(span, format!("library {name} cannot be read: {e}"));
                return Err(d.root_cause().into());
            }
        };
        let builtin = self.loader.is_builtin(name);
        let file = self.s.add_source(&path, &text, builtin);
        let forms = self.read(file, &text, false)?;
        let before = self.s.program.forms.len();
        for form in &forms {
            match form.as_list() {
                Some([head, ..])
                    if head
                        .as_ident()
                        .is_some_and(|id| matches!(&**self.name(id), "define-library" | "library")) =>
                {
                    self.define_library(form)?;
                }
                _ => {
                    let message = "only `define-library` and `library` forms may stand in a library's file";
                    let d = self.diagnostic(form.span, message);
                    self.report(d.into());
                }
            }
        }
        if self.s.boot.as_ref().is_some_and(|b| b.contains(name)) {
            self.forget_library_forms(before);
        }
        if self.s.libraries.contains_key(name) {
            return Ok(());
        }
        let path = self.s.sources[file as usize].path.clone();
        self.err(span, format!("the file {path} does not define the library {name}"))
    }

    fn make_builtin(&mut self, name: &LibraryName) {
        let module = self.new_module(Some(name.to_string().into()), true);
        let primitives = name == &LibraryName::of(&["cairn", "primitives"]);
        let mut exports = FxHashMap::default();
        for (text, core) in keywords().filter(|(_, c)| c.is_primitive() == primitives) {
            exports.insert(self.s.names.intern(text), Binding::Core(core));
        }
        if primitives {
            for op in prims::all() {
                exports.insert(self.s.names.intern(&format!("%{}", op.name())), Binding::Prim(op));
            }
        }
        self.s.libraries.insert(name.clone(), Library { module, loading: false, exports });
    }

    /// `(define-library name declaration …)`, or R6RS's `(library name (export …) (import …) form …)`.
    pub(super) fn define_library(&mut self, form: &Syntax) -> R<()> {
        const R6RS: &str = "(library (name …) (export name …) (import set …) form …)";
        let items = form.as_list().unwrap_or(&[]);
        let r6rs = items.first().and_then(Syntax::as_ident).is_some_and(|id| &**self.name(id) == "library");
        let Some(name_form) = items.get(1) else {
            let help = if r6rs { R6RS } else { "(define-library (name …) declaration …)" };
            return self.err_help(form.span, "a library without a name", help);
        };
        if r6rs
            && !matches!(items.get(2..4), Some([e, i]) if self.is_named(e, "export") && self.is_named(i, "import"))
        {
            let message = "behind the name of a `library` come its exports, then its imports";
            return self.err_help(form.span, message, R6RS);
        }
        let name = self.library_name(name_form)?;
        if self.s.libraries.contains_key(&name) && !self.may_define_again(&name) {
            return self.err(name_form.span, format!("library {name} is defined twice"));
        }
        if let Some(text) = self.s.evaluating {
            self.s.defined_in.insert(name.clone(), text);
        }
        let builtin = self.s.sources[form.span.file as usize].library;
        let module = self.new_module(Some(name.to_string().into()), builtin);
        let library = Library { module, loading: true, exports: FxHashMap::default() };
        self.s.libraries.insert(name.clone(), library);
        self.loading.push(name.clone());
        self.observe_library(module, form.span);
        let exports = self.at_top_level(module, |x| {
            let errors = x.s.errors.len();
            let mut declarations = Declarations::default();
            if r6rs {
                x.declarations(&items[2..4], &mut declarations);
                declarations.body.extend_from_slice(&items[4..]);
            } else {
                x.declarations(&items[2..], &mut declarations);
            }
            let public = if builtin { x.public_names(&declarations.exports) } else { FxHashMap::default() };
            match name.c_headers() {
                Some(_) => x.c_header_body(declarations.body),
                None => x.top_level(declarations.body, public),
            }
            // what is wrong in it explains what is not defined
            let is_right = x.s.errors.len() == errors;
            x.exports(&declarations.exports, is_right)
        });
        self.loading.pop();
        let library = self.s.libraries.get_mut(&name).expect("inserted above");
        library.exports = exports;
        library.loading = false;
        Ok(())
    }

    /// Does a session define a library of its own anew, or load a file again that does? Who imports it from now on gets
    /// the new one.
    fn may_define_again(&self, name: &LibraryName) -> bool {
        let (Some(text), Some(old)) = (self.s.evaluating, self.s.libraries.get(name)) else { return false };
        let builtin = self.s.modules[old.module as usize].builtin;
        !old.loading && !builtin && (text == 0 || self.s.defined_in.get(name) != Some(&text))
    }

    /// Is it a form with this word at its head?
    fn is_named(&self, x: &Syntax, word: &str) -> bool {
        x.as_list().and_then(|l| l.first()?.as_ident()).is_some_and(|id| &**self.name(id) == word)
    }

    fn declarations(&mut self, items: &[Syntax], out: &mut Declarations) {
        for item in items {
            if let Err(d) = self.declaration(item, out) {
                self.report(d);
            }
        }
    }

    fn declaration(&mut self, item: &Syntax, out: &mut Declarations) -> R<()> {
        const HELP: &str = "declarations are: export, import, begin, include, include-ci, \
                            include-library-declarations, cond-expand";
        let Some([head, rest @ ..]) = item.as_list() else {
            return self.err_help(item.span, "not a library declaration", HELP);
        };
        let head_name = head.as_ident().map_or("".into(), |id| self.name(id).clone());
        match &*head_name {
            "export" => rest.iter().for_each(|spec| self.export_specs(spec, &mut out.exports)),
            "import" => self.import(item.span, rest),
            "begin" => out.body.extend_from_slice(rest),
            "include" => out.body.extend(self.include(item.span, rest, false)?),
            "include-ci" => out.body.extend(self.include(item.span, rest, true)?),
            "include-library-declarations" => {
                let more = self.include(item.span, rest, false)?;
                grow(|| self.declarations(&more, out));
            }
            "cond-expand" => {
                let more = self.cond_expand(item)?;
                grow(|| self.declarations(&more, out));
            }
            "define" | "define-syntax" | "define-record-type" | "define-values" => {
                return self.err_help(
                    item.span,
                    "a definition is not a library declaration",
                    format!("put it into a begin: (begin ({head_name} …))"),
                );
            }
            _ => return self.err_help(item.span, "not a library declaration", HELP),
        }
        Ok(())
    }

    /// An export as R7RS writes it: `(rename (a b) (c d))` of R6RS is `(rename a b)` and `(rename c d)`.
    fn export_specs(&self, spec: &Syntax, out: &mut Vec<Syntax>) {
        match spec.as_list() {
            Some([rename, pairs @ ..])
                if self.is_named(spec, "rename") && pairs.iter().all(|p| p.as_list().is_some()) =>
            {
                out.extend(pairs.iter().map(|p| {
                    let mut parts = vec![rename.clone()];
                    parts.extend_from_slice(p.as_list().unwrap_or(&[]));
                    Syntax::list(parts, p.span)
                }));
            }
            _ => out.push(spec.clone()),
        }
    }

    /// The exported names of definitions, as indices of [`Site::who`](cairn_layout::code::Site::who): what errors in
    /// them call them.
    fn public_names(&mut self, specs: &[Syntax]) -> FxHashMap<Ident, usize> {
        let mut public = FxHashMap::default();
        for spec in specs {
            let inner_and_outer = match spec.as_list() {
                Some([_, inner, outer]) => inner.as_ident().zip(outer.as_ident()),
                _ => spec.as_ident().map(|id| (id, id)),
            };
            let Some((inner, outer)) = inner_and_outer else { continue };
            let name = self.name(outer).clone();
            if name.starts_with('%') {
                continue; // for other libraries: what runs inside has a better name
            }
            // `parameterize*` is what `parameterize` calls
            let name = name.strip_suffix('*').filter(|n| FORMS.contains(n)).unwrap_or(&name);
            let who = self.s.program.procedure_name(name);
            public.entry(inner).or_insert(who);
        }
        public
    }

    /// `is_right`: whether names without a meaning are mistakes of their own.
    fn exports(&mut self, specs: &[Syntax], is_right: bool) -> FxHashMap<Ident, Binding> {
        let mut exports: FxHashMap<Ident, Binding> = FxHashMap::default();
        for spec in specs {
            match self.export(spec, is_right) {
                Ok(None) => {}
                Ok(Some((id, binding))) => {
                    if exports.insert(id, binding).is_some_and(|old| old != binding) {
                        let message = format!("`{}` is exported twice", self.name(id));
                        let d = self.diagnostic(spec.span, message);
                        self.report(d.into());
                    }
                }
                Err(d) => self.report(d),
            }
        }
        exports
    }

    fn export(&mut self, spec: &Syntax, is_right: bool) -> R<Option<(Ident, Binding)>> {
        const HELP: &str = "(export name (rename name exported-name) …)";
        let (inner, outer) = match spec.as_list() {
            Some([r, inner, outer]) if r.as_ident().is_some_and(|id| &**self.name(id) == "rename") => {
                (inner, outer)
            }
            None if spec.as_ident().is_some() => (spec, spec),
            _ => return self.err_help(spec.span, "not an export", HELP),
        };
        let inner_id = self.plain_ident(inner, HELP)?;
        let outer_id = self.plain_ident(outer, HELP)?;
        match self.resolve(inner_id) {
            Meaning::Bound(b) => {
                self.mention(inner_id, inner.span, b, Role::Export);
                Ok(Some((outer_id, b)))
            }
            Meaning::Unbound(..) if !is_right => Ok(None),
            Meaning::Unbound(..) => {
                let message = format!("`{}` is exported but neither defined nor imported", self.name(inner_id));
                self.err(inner.span, message)
            }
        }
    }

    // conditional expansion

    /// The forms of the chosen clause of `(cond-expand clause …)`.
    pub(super) fn cond_expand(&mut self, form: &Syntax) -> R<Vec<Syntax>> {
        let clauses = form.as_list().unwrap_or(&[]).get(1..).unwrap_or(&[]);
        for clause in clauses {
            let Some([requirement, body @ ..]) = clause.as_list() else {
                return self.err_help(
                    clause.span,
                    "not a clause",
                    "(cond-expand (requirement form …) … (else form …))",
                );
            };
            if self.requirement(requirement)? {
                return Ok(body.to_vec());
            }
        }
        Ok(Vec::new())
    }

    fn requirement(&mut self, x: &Syntax) -> R<bool> {
        grow(|| self.requirement_inner(x))
    }

    fn requirement_inner(&mut self, x: &Syntax) -> R<bool> {
        const HELP: &str = "a feature, (library name), (and …), (or …), (not …) or else";
        if let Some(id) = x.as_ident() {
            let name = self.name(id);
            return Ok(&**name == "else" || FEATURES.contains(&&**name));
        }
        let Some([head, rest @ ..]) = x.as_list() else { return self.err_help(x.span, "not a requirement", HELP) };
        let head = head.as_ident().map_or("".into(), |id| self.name(id).clone());
        match (&*head, rest) {
            ("and", _) => {
                for r in rest {
                    if !self.requirement(r)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ("or", _) => {
                for r in rest {
                    if self.requirement(r)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            ("not", [r]) => Ok(!self.requirement(r)?),
            ("library", [name]) => {
                let name = self.imported_name(name)?;
                Ok(self.is_available(&name))
            }
            _ => self.err_help(x.span, "not a requirement", HELP),
        }
    }

    // files

    /// The forms of the files of `(include "path" …)`.
    pub(super) fn include(&mut self, span: Span, paths: &[Syntax], fold_case: bool) -> R<Vec<Syntax>> {
        let mut forms = Vec::new();
        if paths.is_empty() {
            return self.err_help(span, "`include` without a file", "(include \"path\" …)");
        }
        for path in paths {
            let Datum::String(name) = &path.datum else {
                return self.err_help(path.span, "the path of a file is expected here", "(include \"path\" …)");
            };
            if self.s.sources.len() > 5000 {
                return self.err(path.span, "too many included files; does a file include itself?");
            }
            let (from, library) = match self.s.sources.get(span.file as usize) {
                Some(f) => (f.path.clone(), f.library),
                None => ("".into(), false),
            };
            let (found, text) = match self.loader.load_include(&from, name) {
                Ok(found) => found,
                Err(e) => return self.err(path.span, format!("`{name}` cannot be included: {e}")),
            };
            let file = self.s.add_source(&found, &text, library);
            forms.extend(self.read(file, &text, fold_case)?);
        }
        Ok(forms)
    }
}

fn missing_library_help(name: &LibraryName, directories: &[String]) -> String {
    let symbol = |i: usize| match name.0.get(i) {
        Some(NamePart::Symbol(s)) => &**s,
        _ => "",
    };
    if let ("scheme", 2) = (symbol(0), name.0.len()) {
        // some of the default libraries may be missing
        let others = DEFAULT_LIBRARIES.iter().copied().filter(|l| *l != symbol(1));
        if let Some(other) = nearest(symbol(1), others) {
            return format!("did you mean (scheme {other})?");
        }
    }
    if name.c_headers().is_some() {
        return "headers of C are read when a program is compiled or evaluated by cairn, not by an executable"
            .into();
    }
    let below =
        if directories.is_empty() { String::new() } else { format!(", below {}", directories.join(" or ")) };
    format!("a library {name} is looked for in a file {0}.sld or {0}.sls{below}", name.path())
}

fn is_builtin_name(name: &LibraryName) -> bool {
    name == &LibraryName::of(&["cairn", "syntax"]) || name == &LibraryName::of(&["cairn", "primitives"])
}
