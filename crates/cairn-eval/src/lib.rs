//! # cairn-eval: the expander inside a running program
//!
//! The problem: `eval` needs reader, expander and the macros of the libraries while a program runs, also in an
//! executable that was made by `cairn build` and knows nothing of Cairn's compiler. The idea: reader and expander need
//! no LLVM and are linked into programs that evaluate; what they make, Core, is [`encode`]d as vectors that an
//! evaluator written in Scheme (`lib/cairn/evaluator.sld`) turns into closures. So evaluated code has the frames, tail
//! calls, continuations and collector of the program itself, under every strategy, and the runtime knows nothing of it.
//!
//! | module | what |
//! |---|---|
//! | [`ahead`] | native code in an executable for the forms of a program that loads |
//! | [`encode`] | Core → code of the evaluator |
//! | [`library_index`] | names and variables of the library that was compiled beforehand |
//! | [`library_loader`] | the sources of `lib/`, which are part of the program |
//! | [`units`] | forms that become native where they are hot |
//!
//! Invariants: libraries that are part of the running program are expanded for their macros only, their variables are
//! the program's own ([`cairn_syntax::Session::definitions`]); other libraries are expanded and evaluated when they are
//! first imported. A session holds no values of the heap.

pub mod ahead;
pub mod depth;
pub mod encode;
pub mod library_index;
pub mod library_loader;
pub mod units;

use ahead::Ahead;
use cairn_core::tier::{self, Lambdas, Request};
use cairn_layout::lexeme;
use cairn_rt::evaluated_program::{BetterCode, Native, Progress, Stopper};
use cairn_rt::evaluator::{Data, Evaluator, Rejection};
use cairn_rt::library::LibraryTable;
use cairn_rt::start::{ModuleTable, OnLibrary, run_executable, run_executable_on_library};
use cairn_rt::{MakeEvaluator, Options};
use cairn_syntax::diagnostic::Diagnostic;
use cairn_syntax::{BootLibrary, Environment, Failed, LibraryName, OpenText, Session};
use encode::{Names, Places};
use library_index::LibraryIndex;
use library_loader::Files;
use rustc_hash::FxHashMap;
use std::ffi::{c_char, c_int};
use std::sync::Arc;
use units::{Log, Place, UnitCompiler};

/// The expander of one runtime.
#[derive(Default)]
pub struct Expander {
    session: Session,
    files: Files,
    names: Names,
    environments: Vec<Environment>,
    /// The program runs on a library that was compiled beforehand.
    on_library: bool,
    /// Texts whose forms are being evaluated, and their fingerprints, if there are modules that go by them.
    texts: FxHashMap<i64, (OpenText, u64)>,
    texts_opened: i64,
    /// Files below this number are known to the evaluator.
    sources_told: usize,
    /// Makes native code of forms that are hot.
    compiler: Option<Arc<dyn UnitCompiler>>,
    /// What the session was told, if there is a compiler.
    log: Log,
    /// Native code that an executable has for forms.
    ahead: Option<Arc<Ahead>>,
    /// Is code made for a debugger?
    debug: bool,
}

/// A new expander, for [`cairn_rt::Options::evaluator`].
pub fn new(options: &Options) -> Box<dyn Evaluator> {
    let mut session = Session::default();
    session.choose_compact(options.compact);
    Box::new(Expander { files: Files::new(options.library_path.clone()), session, ..Expander::default() })
}

/// A new expander for programs on a library that was compiled beforehand. What is loaded or typed may become native, if
/// there is a compiler.
pub fn on_library(
    options: &Options,
    library: Arc<dyn BootLibrary>,
    compiler: Option<Arc<dyn UnitCompiler>>,
) -> Box<dyn Evaluator> {
    Box::new(Expander { compiler, ..Expander::on_library(options, library) })
}

/// As [`on_library`], in an executable that has native code for forms.
fn with_modules(options: &Options, library: Arc<dyn BootLibrary>, ahead: Arc<Ahead>) -> Box<dyn Evaluator> {
    Box::new(Expander { ahead: Some(ahead), ..Expander::on_library(options, library) })
}

impl Expander {
    fn on_library(options: &Options, library: Arc<dyn BootLibrary>) -> Expander {
        let mut session = Session::on_library(library.clone());
        session.choose_compact(options.compact);
        Expander {
            files: Files::new(options.library_path.clone()),
            names: Names::on_library(library).with_cells_from(options.first_cell),
            session,
            on_library: true,
            ..Expander::default()
        }
    }

    fn environment_of(&self, number: i64) -> Option<Environment> {
        usize::try_from(number).ok().and_then(|n| self.environments.get(n)).copied()
    }

    /// What the evaluator gets: the code, and the files that it has not seen.
    fn answer(&mut self, code: Data) -> Data {
        let files = self.new_files();
        Data::List(vec![code], Box::new(Data::List(files, Box::new(Data::Nil))))
    }

    /// The files that the evaluator has not seen, for it.
    fn new_files(&mut self) -> Vec<Data> {
        let mut files = Vec::new();
        let all = self.session.sources();
        for (n, source) in all.iter().enumerate().skip(self.sources_told).filter(|(_, s)| !s.library) {
            let text = |s: &str| Data::String(s.to_string());
            files.push(Data::Vector(vec![encode::number(n + 1), text(&source.path), text(&source.text)]));
        }
        self.sources_told = all.len();
        files
    }

    /// What is wrong, with the files that it may be in.
    fn rejected(&mut self, failed: Failed, here: Option<u32>) -> Rejection {
        Rejection { files: self.new_files(), ..rejection(failed, here) }
    }
}

/// Optimizes as little as possible and encodes.
fn encoded(
    session: &mut Session,
    names: &mut Names,
    here: Option<u32>,
    (top_level, debug): (bool, bool),
) -> Result<Data, String> {
    cairn_core::passes::prepare(session.program());
    let places = Places { sources: session.sources(), here, objects: session.objects(), top_level, debug };
    encode::program(session.expanded(), names, &places)
}

/// Optimizes as little as possible and encodes a form that may become native, at a place in the log: `#(text form
/// fingerprint lambdas cells variables code)`, where `variables` are numbers of cells. If it has a module already,
/// `text` is `#f` and `form` the module's number. `place` says where a form of this fingerprint is, if it may become
/// native. A form without procedures is not worth it.
fn encoded_unit(
    session: &mut Session,
    names: &mut Names,
    here: Option<u32>,
    place: impl FnOnce(i64) -> Option<[Data; 2]>,
) -> Result<Data, String> {
    cairn_core::passes::prepare(session.program());
    let places =
        Places { sources: session.sources(), here, objects: session.objects(), top_level: true, debug: false };
    let program = session.expanded();
    let lambdas = Lambdas::of(&program.globals, &program.forms);
    if lambdas.is_empty() {
        return encode::program(program, names, &places);
    }
    let fingerprint = tier::fingerprint(program, &program.forms);
    let Some(place) = place(fingerprint) else { return encode::program(program, names, &places) };
    let code = encode::unit(program, names, &lambdas, &places)?;
    let variables = lambdas.variables().into_iter().map(|g| encode::number(names.cell(g))).collect();
    let mut parts: Vec<Data> = place.into();
    parts.extend([fingerprint as usize, lambdas.len(), lambdas.cells()].map(encode::number));
    parts.extend([Data::Vector(variables), code]);
    Ok(Data::Vector(parts))
}

impl Evaluator for Expander {
    fn start(&mut self, libraries: Vec<String>, keys: Vec<String>) -> Result<(), String> {
        if self.on_library {
            return Ok(()); // it tells all that is to be known
        }
        let libraries: Vec<LibraryName> = libraries.iter().filter_map(|l| LibraryName::parse(l)).collect();
        self.session.preload(&libraries, &mut self.files).map_err(|f| rejection(f, None).sentence())?;
        self.names = Names::new(&self.session, &keys);
        Ok(())
    }

    fn environment(&mut self, sets: Option<&str>) -> Result<i64, Rejection> {
        let environment = self.session.environment(sets, &mut self.files).map_err(|failed| {
            // nobody sees the text of the import sets: the call that they are arguments of is the place
            let in_sets =
                failed.errors.first().is_some_and(|d| Some(d.span.file) == self.session.evaluated_source());
            let rejected = self.rejected(failed, None);
            if in_sets { Rejection { place: Box::new(Data::Bool(false)), ..rejected } } else { rejected }
        });
        self.environments.push(environment?);
        if self.compiler.is_some() {
            self.log.environment(sets);
        }
        Ok(self.environments.len() as i64 - 1)
    }

    fn expand(&mut self, text: &str, environment: i64) -> Result<Data, Rejection> {
        let environment = self.environment_of(environment).ok_or_else(no_environment)?;
        let (names, debug) = (&mut self.names, self.debug);
        let code = self.session.expand_in(environment, text, &mut self.files, |s| {
            let here = s.evaluated_source();
            encoded(s, names, here, (false, debug))
        });
        match code {
            Ok(Ok(code)) => Ok(self.answer(code)),
            Ok(Err(message)) => Err(plain(message)),
            Err(failed) => Err(self.rejected(failed, self.session.evaluated_source())),
        }
    }

    fn open(&mut self, text: &str, name: &str, lines_before: i32, whole: bool) -> i64 {
        let open = self.session.open_text(name, text, lines_before, whole);
        self.texts_opened += 1;
        if self.compiler.is_some() {
            self.log.open(self.texts_opened, name, text, lines_before, whole);
        }
        let fingerprint = self.ahead.as_ref().map_or(0, |_| ahead::text_fingerprint(text));
        self.texts.insert(self.texts_opened, (open, fingerprint));
        self.texts_opened
    }

    fn bring(&mut self, directories: Vec<String>, files: Vec<String>) {
        self.files.bring(directories, files);
    }

    fn next(&mut self, text: i64, number: i64) -> Result<Option<Data>, Rejection> {
        let environment = self.environment_of(number).ok_or_else(no_environment)?;
        let Some((open, fingerprint)) = self.texts.get_mut(&text) else { return Ok(None) };
        let (names, file) = (&mut self.names, open.file());
        let (place, debug) = (self.log.next(text, number, &self.session), self.debug);
        let (ahead, here) = (&self.ahead, Some(file));
        let code = self.session.expand_next(environment, open, &mut self.files, |s| match (place, ahead) {
            (Some((text, form)), _) if !debug => {
                encoded_unit(s, names, here, |_| Some([text, form].map(encode::number)))
            }
            (_, Some(ahead)) if !debug => encoded_unit(s, names, here, |form| {
                Some([Data::Bool(false), encode::number(ahead.find(form, *fingerprint)?)])
            }),
            _ => encoded(s, names, here, (true, debug)),
        });
        self.log.expanded(text, &self.session, matches!(code, Ok(Some(Ok(Data::Vector(_))))));
        // the last form may never come back: an error leaves it
        if self.texts.get(&text).is_some_and(|(open, _)| open.is_at_end()) {
            self.close(text);
        }
        match code {
            Ok(Some(Ok(code))) => Ok(Some(self.answer(code))),
            Ok(Some(Err(message))) => Err(plain(message)),
            Ok(None) => Ok(None),
            Err(failed) => Err(self.rejected(failed, Some(file))),
        }
    }

    fn close(&mut self, text: i64) {
        if let Some((open, _)) = self.texts.remove(&text) {
            self.session.close_text(open);
            self.log.close(text);
        }
    }

    fn variable(&mut self, name: &str, environment: i64) -> Result<i64, String> {
        let environment = self.environment_of(environment).ok_or("no such environment")?;
        let g = self.session.define_variable(environment, name, &mut self.files);
        Ok(self.names.cell(g) as i64)
    }

    fn debug(&mut self, on: bool) {
        self.debug = on;
    }

    fn cell(&mut self, name: &str, environment: i64) -> Option<i64> {
        let g = self.session.variable_of(self.environment_of(environment)?, name)?;
        self.names.value(self.session.expanded(), g).is_none().then(|| self.names.cell(g) as i64)
    }

    fn variant(&mut self, name: &str, text: &str, at: usize, environment: i64) -> Option<Data> {
        let environment = self.environment_of(environment)?;
        let (mut open, environment) =
            self.session.open_definition(name, text, at, environment, &mut self.files)?;
        let (names, here) = (&mut self.names, open.file());
        let code = self.session.expand_next(environment, &mut open, &mut self.files, |s| {
            cairn_core::passes::prepare(s.program());
            let places =
                Places { sources: s.sources(), here: Some(here), objects: &[], top_level: true, debug: true };
            encode::variant(s.expanded(), names, &places, at as u32)
        });
        self.session.close_text(open);
        Some(self.answer(code.ok()??.ok()??))
    }

    fn names(&self, environment: i64) -> Vec<(String, bool)> {
        self.environment_of(environment).map(|e| self.session.bound_names(e)).unwrap_or_default()
    }

    fn is_defined_later(&self, name: &str) -> bool {
        let sources = &self.session.expanded().sources;
        let texts = self.texts.values().filter_map(|(open, _)| sources.get(open.file() as usize));
        texts.into_iter().any(|source| defines(&source.text, name))
    }

    fn suggestion(&mut self, name: &str, environment: i64) -> Option<String> {
        let environment = self.environment_of(environment)?;
        self.session.suggestion(name, environment, &mut self.files)
    }

    fn explain(&mut self, text: &str, environment: i64) -> Result<String, Rejection> {
        let environment = self.environment_of(environment).ok_or_else(no_environment)?;
        let mut open = self.session.open_text("prompt", text, 0, false);
        let file = open.file();
        let mut all = String::new();
        let failed = loop {
            let core = self.session.expand_next(environment, &mut open, &mut self.files, |s| {
                cairn_core::scheme::print_scheme(s.program())
            });
            match core {
                Ok(Some(core)) => all += &core,
                Ok(None) => break None,
                Err(failed) => break Some(failed),
            }
        };
        self.session.close_text(open);
        failed.map_or(Ok(all), |failed| Err(self.rejected(failed, Some(file))))
    }

    fn request(
        &mut self,
        parts: Vec<[i64; 4]>,
        entered: Vec<u32>,
        bound: Vec<bool>,
        held: Vec<bool>,
        stopper: Stopper,
    ) -> Option<i64> {
        if self.ahead.is_some() {
            return parts.first().map(|[_, module, ..]| *module);
        }
        let unit = self.log.unit(parts.into_iter().map(Place::from).collect())?;
        self.compiler.as_ref()?.request(unit, Request { entered, bound, held, ..Request::default() }, stopper)
    }

    fn ready(&mut self, ticket: i64) -> Progress {
        if let Some(ahead) = &self.ahead {
            return ahead.ready(ticket);
        }
        self.compiler.as_ref().map_or(Progress::Failed, |c| c.ready(ticket))
    }

    fn better_code(&mut self) -> Vec<BetterCode> {
        self.compiler.as_ref().map_or(Vec::new(), |c| c.better_code())
    }
}

fn no_environment() -> Rejection {
    plain("no such environment".into())
}

fn plain(message: String) -> Rejection {
    let nothing = || Box::new(Data::Bool(false));
    Rejection {
        message,
        text: String::new(),
        help: None,
        place: nothing(),
        violation: nothing(),
        files: Vec::new(),
    }
}

/// The first message. Places in the file `here` are as they are in its code.
fn rejection(failed: Failed, here: Option<u32>) -> Rejection {
    let Some(d) = failed.errors.first() else { return plain("this cannot be expanded".into()) };
    let text = failed.sources.get(d.span.file as usize).map_or("", |f| &f.text);
    let text = text.get(d.span.start as usize..d.span.end as usize).unwrap_or("");
    let violation = violation(d, text);
    let text = text.chars().take(80).collect();
    let places = Places { sources: &failed.sources, here, objects: &[], top_level: false, debug: false };
    let place = places.data(d.span.file, d.span.start);
    Rejection {
        message: d.message.clone(),
        text,
        help: d.help.clone(),
        place: Box::new(place),
        violation: violation.into(),
        files: Vec::new(),
    }
}

/// Who, message, form and subform that `syntax-violation` was given; of other errors of syntax, the form at the place.
fn violation(d: &Diagnostic, text: &str) -> Data {
    let part = |s: Option<String>| s.map_or(Data::Bool(false), Data::String);
    Data::Vector(match &d.violation {
        Some(v) => vec![
            part(v.who.clone()),
            Data::String(v.message.clone()),
            Data::String(v.form.clone()),
            part(v.subform.clone()),
        ],
        None => {
            let is_datum = lexeme::whole_datum_end(text, 0) == Some(text.len());
            vec![Data::Bool(false), Data::Bool(false), part(is_datum.then(|| text.to_string())), Data::Bool(false)]
        }
    })
}

/// `main` of an executable that evaluates: [`cairn_rt::start::cairn_rt_main`] with an expander.
///
/// # Safety
/// Called by the executable's `main` with its arguments, its module, and where its code begins and ends.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_eval_main(
    argc: c_int,
    argv: *const *const c_char,
    table: *const ModuleTable,
    code: *const c_char,
    code_end: *const c_char,
) -> c_int {
    // SAFETY: `main` passes its arguments, its module, and where its code begins and ends (`# Safety`).
    unsafe { run_executable(argc, argv, table, code as u64..code_end as u64, Some(MakeEvaluator(Arc::new(new)))) }
}

/// As [`cairn_rt::library::cairn_rt_library_call`], for a shared library whose program evaluates.
///
/// # Safety
/// The table is that of this library, the procedure has a number below that of its exports, and `words` are its
/// arguments.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_eval_library_call(library: &LibraryTable, number: usize, words: *const u64) -> u64 {
    // SAFETY: the table is this library's, `number` one of its exports, `words` the call's arguments (`# Safety`).
    unsafe { cairn_rt::library::call(library, Some(|| MakeEvaluator(Arc::new(new))), number, words) }
}

/// As [`cairn_rt::library::cairn_rt_library_start`], for a shared library whose program evaluates.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn cairn_eval_library_start(library: &LibraryTable) -> c_int {
    cairn_rt::library::start(library, Some(|| MakeEvaluator(Arc::new(new))))
}

/// The library that was compiled beforehand, in an executable: its module table, where its code lies, and its index.
/// `data` is there for the linker, which would leave it out.
#[repr(C)]
pub struct LinkedLibrary {
    table: *const ModuleTable,
    code: *const c_char,
    code_end: *const c_char,
    data: *const c_char,
    index: *const u8,
    index_end: *const u8,
    /// Native code for the forms of a program that loads.
    units: *const LinkedUnit,
    unit_count: usize,
}

/// A module for a form of a program that loads: the fingerprints of the form and of its text, its table, where its code
/// lies, and the lambdas that its makers are for.
#[repr(C)]
pub struct LinkedUnit {
    form: i64,
    text: u64,
    table: *const ModuleTable,
    code: *const c_char,
    code_end: *const c_char,
    lambdas: *const u32,
    lambda_count: usize,
}

impl LinkedUnit {
    /// The fingerprints, and the module for the runtime.
    ///
    /// # Safety
    /// What it describes is part of the executable.
    #[allow(unsafe_code)]
    unsafe fn module(&self) -> ((i64, u64), Native) {
        // SAFETY: what `self` describes is part of the executable (`# Safety`), so `lambda_count` numbers are at
        // `lambdas`.
        let lambdas = unsafe { std::slice::from_raw_parts(self.lambdas, self.lambda_count) };
        let code = (self.table, self.code as u64..self.code_end as u64);
        let lambdas = lambdas.iter().map(|n| *n as usize).collect();
        ((self.form, self.text), Native { code, lambdas, cells: Vec::new() })
    }
}

/// `main` of an executable whose program evaluates and runs on the library compiled beforehand, which is in the
/// executable.
///
/// # Safety
/// Called by the executable's `main` with its arguments, its module, and where its code begins and ends; `library`
/// describes the library that the program was compiled on, a part of the executable.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_eval_main_on_library(
    argc: c_int,
    argv: *const *const c_char,
    table: *const ModuleTable,
    code: *const c_char,
    code_end: *const c_char,
    library: *const LinkedLibrary,
) -> c_int {
    // SAFETY: `library` describes a part of the executable (`# Safety`): its index lies between the two addresses, and
    // `unit_count` units are at `units`.
    let (library, index, units) = unsafe {
        let library = &*library;
        let length = library.index_end.offset_from(library.index) as usize;
        let units = std::slice::from_raw_parts(library.units, library.unit_count);
        (library, std::slice::from_raw_parts(library.index, length), Ahead::new(units.iter().map(|u| u.module())))
    };
    let (index, units) =
        (Arc::new(LibraryIndex::new(index.into()).expect("`cairn build` checked it")), Arc::new(units));
    let evaluator = MakeEvaluator(Arc::new(move |o: &Options| with_modules(o, index.clone(), units.clone())));
    let library = (library.table, library.code as u64..library.code_end as u64);
    let program = OnLibrary::Module((table, code as u64..code_end as u64));
    // SAFETY: `main` passes its arguments and its module, and `library` describes that of the program (`# Safety`).
    unsafe { run_executable_on_library(argc, argv, library, program, evaluator) }
}
/// Is there a line that begins a definition of this name?
fn defines(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let Some(target) = line.strip_prefix("(define ") else { return false };
        let rest = target.trim_start().trim_start_matches('(').strip_prefix(name);
        rest.is_some_and(|rest| rest.bytes().next().is_none_or(lexeme::is_delimiter))
    })
}
