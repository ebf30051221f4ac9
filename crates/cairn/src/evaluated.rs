//! Programs that are evaluated at first, and compiled where they are hot.
//!
//! The problem: LLVM needs tens of milliseconds to start and about one for each procedure; most programs run for less
//! than that, and most of what is in a program runs once. The idea: `run` expands the program on the library that was
//! compiled beforehand and hands its Core to the evaluator of that library, with no code to generate. Evaluation counts
//! how often procedures are entered. When that becomes much, the compiler makes a module of what is hot beside the
//! program, with all passes and LLVM's, while evaluation goes on; it is loaded when it is done. The program never waits
//! for that, and when it fails (a compiler that was killed) evaluation has been going on all the time.
//!
//! ```text
//!  the program                expand ─ encode ─ evaluate ···· hot! ············· load ─ native code
//!  another process                                              └ expand ─ optimize ─ LLVM ┘
//! ```
//!
//! The other process is there so that the program's stays small ([`crate::background`]); a thread waits for it. What a
//! module is, is said in `cairn_core::tier`; how the two halves meet, in `cairn-rt/src/native.rs`.
//!
//! Where LLVM would need long for a module it first makes code with less effort. A program that still runs a while
//! later gets the best code, in place of that ([`cairn_llvm::Replaceable`]).
//!
//! A program that runs for long is also compiled as a whole, at a low priority, and kept in the cache, be it after
//! its end: the next time it runs from there. Only what was compiled as a whole is cached: modules depend on what a run
//! has done before.
//!
//! Invariants: both halves expand the same texts with sessions of their own, and leave out the same definitions, before
//! the compiler reads any more of the library's text, so their numbers agree; what the program read from files is kept
//! for that. Whoever leaves while a thread compiles must not tear LLVM down: [`leave`].

use crate::background::{LONG, Made, STACK, Work};
use crate::boot;
use crate::diagnostics::Messages;
use crate::error::Error;
use crate::open_program::OpenProgram;
use crate::session::Compiler;
use crate::source::Source;
use crate::sources::Files;
use crate::stages;
use crate::stages::{Effort, HotObject};
use cairn_core::ir::{GlobalId, ImportFrom, SourceFile, TopForm};
use cairn_core::passes::{self, Opt};
use cairn_core::tier::{self, Lambdas, Makers, Request};
use cairn_core::tier_types;
use cairn_core::{copies, globals};
use cairn_eval::encode::{self, Names};
use cairn_eval::units::{Found, Unit};
use cairn_layout::machine::{Machine, stop};
use cairn_layout::module::ModuleTable;
use cairn_llvm::{Jit, Replaceable};
use cairn_rt::Options as RunOptions;
use cairn_rt::evaluated_program::{BetterCode, Evaluated, Native, Progress, Stopper};
use cairn_rt::evaluator::Data;
use cairn_rt::start::{OnLibrary, run_on_library};
use cairn_rt::start_options::{Host, MakeEvaluator};
use cairn_syntax::{BootLibrary, Session};
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Key of the procedure that runs a program.
const RUN_PROGRAM: &str = "(cairn evaluator) run-program";
/// Keys of what makes places, which share the code of a program that is compiled as a whole.
const PLACES: [&str; 2] = ["(cairn place) place-spawn", "(cairn place) place-map"];

/// A program ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Evaluation {
    kind: Kind,
    warnings: Messages,
}

#[derive(Clone, Debug)]
enum Kind {
    /// As a whole.
    Whole(Arc<Hot>),
    /// Form by form.
    Open(Box<(Compiler, OpenProgram)>),
}

/// The program's code.
#[derive(Debug)]
struct Hot {
    forms: Vec<Data>,
    sources: Data,
    undefined: Data,
    sizes: [usize; 4],
    compilation: Arc<Compilation>,
}

impl Drop for Hot {
    fn drop(&mut self) {
        let forms = std::mem::take(&mut self.forms);
        cairn_eval::depth::with_room(|| drop(forms));
    }
}

/// What the other thread has to do with.
#[derive(Debug)]
struct Compilation {
    work: Work,
    began: Instant,
    /// The module that was asked for last.
    module: Mutex<Progress>,
    /// Is the program to be compiled as a whole when it runs for long?
    whole: AtomicBool,
    /// Better code that has come and was not looked for yet.
    better: Mutex<Vec<BetterCode>>,
    /// Is it a test of transitions? Then all come soon.
    haste: AtomicBool,
}

/// A program that runs for so long with a module's first code gets LLVM's code for it: half as long as LLVM takes to be
/// loaded, and so many nanoseconds for each byte of object code.
const SOON: (Duration, u64) = (Duration::from_millis(30), 1500);

/// Each millisecond that a program has run lets its next module be so many expressions larger: about as many as become
/// native in a millisecond.
const COMPILED: usize = 60;

/// A program's first module may be so large.
const FIRST: usize = 3000;

/// Nobody panics with these locks.
fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program on the library compiled beforehand, for the evaluator; `None` when it must be compiled.
pub(crate) fn prepare(
    compiler: &Compiler,
    source: &Source,
    files: &mut Files,
) -> Result<Option<Evaluation>, Error> {
    let began = Instant::now();
    let Some(library) = compiler.boot() else { return Ok(None) };
    let library = library.index();
    if library.number(RUN_PROGRAM).is_none() {
        return Ok(None);
    }
    let mut session = stages::prepared(Session::on_library(library.clone()), &compiler.options);
    let expanded = session.expand_program(&source.path.display().to_string(), &source.text, files);
    if let Some(open) = OpenProgram::found(&session, source, files) {
        let kind = Kind::Open((compiler.clone(), open).into());
        let warnings =
            expanded.map_or_else(|_| Messages::default(), |e| Messages::certain(&e.warnings, &e.sources));
        return Ok(Some(Evaluation { kind, warnings }));
    }
    compiler.note_points(&session)?;
    let expanded = match expanded {
        Ok(expanded) if expanded.missing.is_empty() => expanded,
        Ok(_) => return Ok(None),
        Err(failed) => return Err(Error::Rejected(Messages::errors(&failed.errors, &failed.sources))),
    };
    let warnings = Messages::warnings(&expanded.warnings, &expanded.sources);
    let mut program = expanded.program;
    let of_places: Vec<ImportFrom> = PLACES.iter().filter_map(|key| Some(library.export(key)?.from)).collect();
    if program.globals.iter().any(|g| g.import.as_ref().is_some_and(|i| of_places.contains(&i.from))) {
        return Ok(None);
    }
    passes::prepare_used(&mut program);
    let mut names = Names::on_library(library);
    let lambdas = Lambdas::of(&program.globals, &program.forms);
    let is_program = |s: &SourceFile| !s.library && *s.path == *source.path.display().to_string();
    let Some(here) = program.sources.iter().position(is_program) else { return Ok(None) };
    let encoded = cairn_eval::depth::with_room(|| encode::tiered(&program, &mut names, &lambdas, here as u32));
    let Ok(Data::List(forms, _)) = encoded else { return Ok(None) };
    let undefined = lambdas.variables().into_iter().filter(|g| program.globals[g.0 as usize].undefined);
    let undefined = undefined.map(|g| encode::number(lambdas.cell(g))).collect();
    let compilation = Compilation {
        work: Work::new(compiler.clone(), source.clone(), files.texts()),
        began,
        module: Mutex::new(Progress::Failed),
        better: Mutex::default(),
        haste: AtomicBool::new(false),
        whole: AtomicBool::new(compiler.keeps().is_some() && files.dependencies().is_some()),
    };
    let program = Hot {
        sizes: [forms.len(), lambdas.len(), lambdas.value_cell(), lambdas.cells()],
        sources: encode::sources(&program.sources, here),
        undefined: Data::List(undefined, Data::Nil.into()),
        forms,
        compilation: Arc::new(compilation),
    };
    Ok(Some(Evaluation { kind: Kind::Whole(Arc::new(program)), warnings }))
}

impl Evaluation {
    /// What there was to say about the program.
    pub fn warnings(&self) -> &Messages {
        &self.warnings
    }

    /// Runs the program in this process, in a runtime of its own; the result is its exit status. A program that calls
    /// `exit`, or leaves an exception uncaught, ends the process. Whoever ends it afterwards calls [`leave`].
    pub fn run(&self, options: RunOptions) -> Result<i32, Error> {
        let program = match &self.kind {
            Kind::Whole(program) => program.clone(),
            Kind::Open(open) => {
                return open.1.run(&open.0, RunOptions { host: Arc::new(Process), ..options });
            }
        };
        program.compilation.haste.store(options.haste.is_some(), Ordering::Relaxed);
        let library = boot::find_or_make_soon(&program.compilation.work.compiler)?;
        let index = library.index();
        let export = index.number(RUN_PROGRAM).ok_or("the library cannot evaluate".to_string())?;
        let library = library.load()?;
        let [_, _, _, cells] = program.sizes;
        let options = RunOptions {
            evaluator: Some(MakeEvaluator(Arc::new(move |o| cairn_eval::on_library(o, index.clone(), None)))),
            first_cell: cells,
            program: Some(program),
            host: Arc::new(Process),
            ..options
        };
        // SAFETY: `library` keeps its table and code until the end of this function, and `code` says where the code
        // lies.
        #[allow(unsafe_code)]
        Ok(unsafe { run_on_library(options, (library.table, library.code.code()), OnLibrary::Export(export)) })
    }
}

/// The process, in which another thread may be compiling.
#[derive(Debug)]
struct Process;

impl Host for Process {
    fn exit(&self, _: &mut Machine, status: i32) -> ! {
        leave(status)
    }
}

/// Ends the process at once: what LLVM has for the end of a process must not run beside a thread that compiles.
pub fn leave(status: i32) -> ! {
    // SAFETY: `_exit` runs no code of this process any more; ports were flushed by the runtime.
    #[allow(unsafe_code)]
    unsafe {
        libc::_exit(status)
    }
}

impl Evaluated for Hot {
    fn sizes(&self) -> [usize; 4] {
        self.sizes
    }

    fn undefined(&self) -> &Data {
        &self.undefined
    }

    fn sources(&self) -> &Data {
        &self.sources
    }

    fn form(&self, n: usize) -> &Data {
        &self.forms[n]
    }

    fn request(&self, entered: Vec<u32>, bound: Vec<bool>, stopper: Stopper) -> bool {
        if !self.compilation.work.has_room() {
            return false;
        }
        let request = Request { entered, bound, room: self.compilation.room(), ..Request::default() };
        let compilation = self.compilation.clone();
        *lock(&compilation.module) = Progress::UnderWay;
        let compile = move || {
            let Ok((native, first)) = compilation.module(&request) else {
                // without a module the program goes on as it is
                *lock(&compilation.module) = Progress::Failed;
                return;
            };
            *lock(&compilation.module) = Progress::Made(native);
            // neither waits for the other
            if compilation.whole.swap(false, Ordering::Relaxed) {
                let compilation = compilation.clone();
                let _ = std::thread::Builder::new().stack_size(STACK).spawn(move || compilation.compile_whole());
            }
            if let Some(first) = first
                && compilation.replace(&first, &request)
            {
                stopper.request(stop::CODE);
            }
        };
        std::thread::Builder::new().stack_size(STACK).spawn(compile).is_ok()
    }

    fn ready(&self) -> Progress {
        let mut module = lock(&self.compilation.module);
        match *module {
            Progress::UnderWay => Progress::UnderWay,
            _ => std::mem::replace(&mut module, Progress::Failed),
        }
    }

    fn better_code(&self) -> Vec<BetterCode> {
        std::mem::take(&mut lock(&self.compilation.better))
    }
}

impl Compilation {
    /// How large the next module may be. As long as the program has run it may go on, as far as one can tell, so that
    /// is how long compiling may take.
    fn room(&self) -> usize {
        if self.haste.load(Ordering::Relaxed) {
            return Request::ROOM;
        }
        FIRST.max(self.began.elapsed().as_millis() as usize * COMPILED)
    }

    /// Compiles the program as a whole and keeps that, with what time no other work wants, if the program runs for
    /// long: the next time it begins with the code that this time it gets.
    fn compile_whole(&self) {
        std::thread::sleep((self.began + LONG).saturating_duration_since(Instant::now()));
        if let Some(cache) = self.work.compiler.keeps() {
            cache.make();
            self.work.whole();
        }
    }

    /// Has a module of what is hot compiled, and loads it.
    fn module(&self, request: &Request) -> Result<(Native, Option<First>), Error> {
        let effort = if self.haste.load(Ordering::Relaxed) { Effort::Quick } else { Effort::First };
        self.work.module(None, request, effort)?.load()
    }

    /// If the program goes on for long, has better code made for a module. Is there some? If not, the first is good
    /// enough.
    fn replace(&self, first: &First, request: &Request) -> bool {
        if !self.haste.load(Ordering::Relaxed) {
            std::thread::sleep(first.soon());
        }
        let better = self.work.better(None, request, first);
        let comes = better.is_some();
        lock(&self.better).extend(better);
        comes
    }
}

/// Code that may be replaced, and of which text it was made.
pub(crate) struct First {
    code: Replaceable,
    text: NonZeroU64,
    soon: Duration,
}

impl First {
    /// After so long it pays to replace it.
    pub(crate) fn soon(&self) -> Duration {
        self.soon
    }

    /// What takes its place, if that was made of the same text.
    fn better(&self, HotObject { object, text }: &HotObject) -> Option<BetterCode> {
        let replacement = (*text == Some(self.text)).then(|| self.code.replacement(object).ok()).flatten()?;
        Some(BetterCode {
            old: replacement.old_code(),
            code: replacement.code(),
            // SAFETY: `take_better_code` calls this at a safepoint, so this thread runs no code of a module, and no
            // other one runs this.
            #[allow(unsafe_code)]
            install: Box::new(|| drop(unsafe { replacement.install() })),
        })
    }
}

impl Made {
    /// Maps the module.
    pub(crate) fn load(self) -> Result<(Native, Option<First>), Error> {
        let Made { object: HotObject { object, text }, makers: Makers { lambdas, procedures, .. } } = self;
        let (code, first): (&'static Jit, _) = match text {
            None => (Box::leak(Box::new(Jit::load_object(&object)?)), None), // modules stay
            Some(text) => {
                let code = Replaceable::load(&object)?;
                let soon = SOON.0 + Duration::from_nanos(SOON.1 * object.len() as u64);
                (code.jit(), Some(First { code, text, soon }))
            }
        };
        let table = code.lookup("cairn_module").ok_or("the module has no table".to_string())?;
        Ok((Native { code: (table as *const ModuleTable, code.code()), lambdas, cells: procedures }, first))
    }
}

impl Work {
    /// Compiles the program as a whole and keeps that.
    pub(crate) fn whole_here(&self) {
        let compiler = self.compiler.clone().observer(None);
        let mut files = compiler.files(&self.source);
        files.use_texts(&self.texts);
        // should it fail, it is tried again the next time
        let _ = compiler.compile_with(&self.source, &mut files);
    }

    /// Has the best code made for what has a module.
    pub(crate) fn better(&self, unit: Option<&Unit>, request: &Request, first: &First) -> Option<BetterCode> {
        first.better(&self.module(unit, request, Effort::Again).ok()?.object)
    }

    /// Compiles a module of what is hot.
    pub(crate) fn module_here(
        &self,
        unit: Option<&Unit>,
        request: &Request,
        effort: Effort,
    ) -> Result<Made, Error> {
        let (module, makers) = self.hot_module(unit, request)?;
        Ok(Made { object: stages::hot_object(&self.compiler, &module, effort, request.room)?, makers })
    }

    /// A module of what is hot, as Frame IR.
    pub(crate) fn hot_module(
        &self,
        unit: Option<&Unit>,
        request: &Request,
    ) -> Result<(cairn_frame::ir::Module, Makers), Error> {
        let compiler = &self.compiler;
        let library = compiler.boot().ok_or("the library is gone".to_string())?;
        let mut files = compiler.files(&self.source);
        files.use_texts(&self.texts);
        let mut session = stages::prepared(Session::on_library(library.index()), &compiler.options);
        let Found { mut program, library: count, others, defined } = match unit {
            None => self.expanded(session, &mut files, request)?,
            Some(unit) => {
                session.keep_library_forms();
                unit.find(session, &mut files)?
            }
        };
        let own = program.forms.split_off(count);
        let library = std::mem::replace(&mut program.forms, own);
        if unit.is_some() {
            tier::open(&mut program, &others, defined)?;
        } else {
            tier_types::note(&mut program, &library);
        }
        let makers = tier::module(&mut program, 0, &others, request);
        let copies = copies::add(&mut program, library);
        passes::optimize_prepared(&mut program, Opt::High, compiler.options.disabled, compiler.options.verify);
        copies::remove(&mut program, copies);
        copies::remove_native(&mut program, &makers.native);
        globals::compact(&mut program);
        let always_bound = stages::always_bound(&program);
        Ok((stages::lower_program(compiler, &program, &always_bound), makers))
    }

    /// The program behind the definitions of the library that what is hot comes to: other text of the library is not
    /// read.
    fn expanded(&self, mut session: Session, files: &mut Files, request: &Request) -> Result<Found, Error> {
        session.keep_some_library_forms();
        let path = self.source.path.display().to_string();
        let expanded = session
            .expand_program(&path, &self.source.text, files)
            .map_err(|failed| Error::Rejected(Messages::errors(&failed.errors, &failed.sources)))?;
        let (mut program, mut forms) = (expanded.program, expanded.library);
        passes::prepare_used(&mut program);
        let mut hot = program.clone();
        tier::module(&mut hot, 0, &[], request);
        // the rest is of the module only
        let mut wanted = copies::reached(&hot);
        wanted.retain(|g| (g.0 as usize) < program.globals.len());
        session.go_on_from(&program);
        read_definitions(&mut session, files, wanted, &mut forms);
        session.know_more(&mut program);
        let library = forms.len();
        let mut own = std::mem::replace(&mut program.forms, forms);
        passes::prepare(&mut program);
        program.forms.append(&mut own);
        Ok(Found { program, library, others: Vec::new(), defined: Default::default() })
    }
}

/// Reads the definitions of some variables of the library, and of what these refer to, in front of `forms`.
fn read_definitions(session: &mut Session, files: &mut Files, wanted: Vec<GlobalId>, forms: &mut Vec<TopForm>) {
    let mut mentions: HashMap<GlobalId, Vec<GlobalId>> = HashMap::new();
    let note = |forms: &[TopForm], mentions: &mut HashMap<_, _>| {
        for form in forms {
            if let TopForm::Define(g, e) = form {
                let mut found = Vec::new();
                globals::mentioned(e, &mut |g| found.push(g));
                mentions.insert(*g, found);
            }
        }
    };
    note(forms, &mut mentions);
    let (mut todo, mut seen) = (wanted, HashSet::new());
    while let Some(g) = todo.pop() {
        if !seen.insert(g) {
            continue;
        }
        if !mentions.contains_key(&g) {
            let read = session.read_definition(g, files);
            note(&read, &mut mentions);
            forms.splice(0..0, read);
        }
        todo.extend(mentions.get(&g).into_iter().flatten());
    }
}
