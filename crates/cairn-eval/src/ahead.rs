//! Native code, in an executable, for the forms of a program that loads or evaluates.
//!
//! ```text
//!  cairn build                                          the executable
//!  (define (fib n) …)   a unit, its module ──linker──▶  the same form comes, with the same fingerprint:
//!  (load "more.scm")    read, followed, likewise        its lambdas are native before it runs
//!  (display (fib 30))   …                               (no module: it is evaluated)
//! ```
//!
//! The problem: such a program is a session ([`crate::units`]), what a form means is known when those before it have
//! run, and in an executable there is no compiler then. The idea: most forms mean what they seem to mean. Who builds
//! the executable expands the text as the program will, without running it, and follows calls of `load` with the name
//! of a file; the module of each form goes into the executable, under the form's fingerprint and that of its text. The
//! program uses a module when the form that it has expanded is the one that the module was made of, and evaluates what
//! came out otherwise: another file is loaded, a macro means something else.
//!
//! Invariants: modules are made before anything runs (`Request::ahead`): variables may be unbound, or defined again.
//! A module is handed out once in a process, for its globals belong to one runtime; a form that comes again is
//! evaluated.

use crate::library_index::LibraryIndex;
use crate::units::{Log, Place, Unit, library_variable};
use cairn_core::globals;
use cairn_core::ir::{Expr, GlobalId, ImportFrom, Literal, Program, TopForm};
use cairn_core::passes;
use cairn_core::tier::{self, Lambdas};
use cairn_rt::evaluated_program::{Native, Progress};
use cairn_syntax::{Environment, Loader, Session};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::VecDeque;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The variable that holds `load`.
const LOAD: &str = "(cairn evaluator) load";

/// A program that loads itself ends, too.
const MOST_FILES: usize = 100;

/// A form, and what its module is found by.
#[derive(Debug)]
pub struct Form {
    /// How to come to it.
    pub unit: Unit,
    /// Is each of its lambdas wanted in the module? Those of library procedures that neither the program nor what it
    /// loads comes to are not: a form that imports `(rnrs)` has thousands.
    pub wanted: Vec<bool>,
    /// What it means: see [`tier::fingerprint`].
    pub fingerprint: i64,
    /// See [`text_fingerprint`].
    pub text: u64,
}

/// What tells texts apart.
pub fn text_fingerprint(text: &str) -> u64 {
    let mut hash = FxHasher::default();
    hash.write(text.as_bytes());
    hash.finish()
}

/// A definition or expression of a form that was followed.
struct Seen {
    /// The variable that it defines, if that is a library's.
    library: Option<GlobalId>,
    lambdas: usize,
    mentions: Vec<GlobalId>,
}

impl Seen {
    fn of(program: &Program, form: &TopForm) -> Seen {
        let mut mentions = Vec::new();
        globals::mentioned(form.expr(), &mut |g| mentions.push(g));
        mentions.retain(|g| program.globals[g.0 as usize].library);
        let lambdas = Lambdas::of(&program.globals, std::slice::from_ref(form)).len();
        Seen { library: library_variable(program, form), lambdas, mentions }
    }
}

/// The library variables that code outside of the libraries comes to.
fn reached(seen: &[Vec<Seen>]) -> FxHashSet<GlobalId> {
    let all = || seen.iter().flatten();
    let mut definitions: FxHashMap<GlobalId, Vec<&Seen>> = FxHashMap::default();
    all().for_each(|s| s.library.into_iter().for_each(|g| definitions.entry(g).or_default().push(s)));
    let mut reached = FxHashSet::default();
    let mut work: Vec<&Seen> = all().filter(|s| s.library.is_none()).collect();
    while let Some(s) = work.pop() {
        for g in &s.mentions {
            if reached.insert(*g) {
                work.extend(definitions.get(g).into_iter().flatten());
            }
        }
    }
    reached
}

/// Follows a program.
struct Follower<'a> {
    session: Session,
    loader: &'a mut dyn Loader,
    load: Option<ImportFrom>,
    log: Log,
    environment: Environment,
    /// Files that are being loaded, innermost last; the program first.
    loading: Vec<PathBuf>,
    files: usize,
    found: Vec<Form>,
    /// What is in each form found.
    seen: Vec<Vec<Seen>>,
}

/// The forms with procedures of a program that loads, and of the files that it loads, as far as they can be told.
pub fn forms(
    mut session: Session,
    library: &LibraryIndex,
    loader: &mut dyn Loader,
    (name, text): (&str, &str),
) -> Vec<Form> {
    let Ok(environment) = session.environment(None, loader) else { return Vec::new() };
    if session.expand_in(environment, "", loader, |_| ()).is_err() {
        return Vec::new();
    }
    let mut log = Log::default();
    log.environment(None);
    let load = library.number(LOAD).map(ImportFrom::Library);
    let mut follower = Follower {
        session,
        loader,
        load,
        log,
        environment,
        loading: vec![name.into()],
        files: 0,
        found: Vec::new(),
        seen: Vec::new(),
    };
    follower.text(name, text);
    let Follower { mut found, seen, .. } = follower;
    let reached = reached(&seen);
    for (form, seen) in found.iter_mut().zip(seen) {
        let wanted = |s: &Seen| s.library.is_none_or(|g| reached.contains(&g));
        form.wanted = seen.iter().flat_map(|s| std::iter::repeat_n(wanted(s), s.lambdas)).collect();
    }
    found
}

impl Follower<'_> {
    fn text(&mut self, name: &str, text: &str) {
        self.files += 1;
        let number = self.files as i64;
        let mut open = self.session.open_text(name, text, 0, true);
        self.log.open(number, name, text, 0, true);
        let hash = text_fingerprint(text);
        while let Some(place) = self.log.next(number, 0, &self.session) {
            let load = self.load;
            let form = self.session.expand_next(self.environment, &mut open, self.loader, |s| {
                passes::prepare(s.program());
                let program = s.expanded();
                let lambdas = Lambdas::of(&program.globals, &program.forms);
                let fingerprint = tier::fingerprint(program, &program.forms);
                let seen: Vec<Seen> = program.forms.iter().map(|form| Seen::of(program, form)).collect();
                debug_assert_eq!(seen.iter().map(|s| s.lambdas).sum::<usize>(), lambdas.len());
                (lambdas.len(), lambdas.cells(), fingerprint, loaded(program, load), seen)
            });
            // what is wrong may be right when the program runs
            let Ok(Some((lambdas, cells, fingerprint, loads, seen))) = form else { break };
            self.log.expanded(number, &self.session, lambdas > 0);
            if lambdas > 0
                && let Some(unit) =
                    self.log.unit(vec![Place { opened: place.0, form: place.1, fingerprint, cells }])
            {
                self.found.push(Form { unit, wanted: Vec::new(), fingerprint, text: hash });
                self.seen.push(seen);
            }
            for file in loads {
                self.file(&file);
            }
        }
        self.session.close_text(open);
        self.log.close(number);
    }

    /// As `file-to-load` in `lib/cairn/evaluator-environments.scm` finds it.
    fn file(&mut self, name: &str) {
        let beside = self.loading.iter().rev().map(|f| f.parent().unwrap_or(Path::new("")).join(name));
        let Some(path) = std::iter::once(PathBuf::from(name)).chain(beside).find(|p| p.is_file()) else { return };
        let Ok(text) = std::fs::read_to_string(&path) else { return };
        if self.files < MOST_FILES {
            self.loading.push(path.clone());
            self.text(&path.display().to_string(), &text);
            self.loading.pop();
        }
    }
}

/// The files that these forms load, if that is all that they do.
fn loaded(program: &Program, load: Option<ImportFrom>) -> Vec<String> {
    let file = |form: &TopForm| {
        let TopForm::Expr(Expr::Call(f, args, _)) = form else { return None };
        let (Expr::Global(g, _), [Expr::Const(Literal::String(name))]) = (&**f, &args[..]) else { return None };
        let import = program.globals[g.0 as usize].import?;
        (Some(import.from) == load).then(|| name.to_string())
    };
    program.forms.iter().map_while(file).collect()
}

/// The modules of an executable.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// Those that nobody has asked for, by what their form and its text are.
    free: Mutex<FxHashMap<(i64, u64), VecDeque<usize>>>,
    ready: Mutex<FxHashMap<usize, Native>>,
}

impl Ahead {
    /// Each with the fingerprints of its form and its text.
    pub(crate) fn new(modules: impl Iterator<Item = ((i64, u64), Native)>) -> Ahead {
        let mut free: FxHashMap<(i64, u64), VecDeque<usize>> = FxHashMap::default();
        let mut ready = FxHashMap::default();
        for (n, (key, native)) in modules.enumerate() {
            free.entry(key).or_default().push_back(n);
            ready.insert(n, native);
        }
        Ahead { free: Mutex::new(free), ready: Mutex::new(ready) }
    }

    /// The number of a module of this form, for whoever asks first.
    pub(crate) fn find(&self, fingerprint: i64, text: u64) -> Option<usize> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.get_mut(&(fingerprint, text))?.pop_front()
    }

    /// The module of that number, once.
    pub(crate) fn ready(&self, number: i64) -> Progress {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        ready.remove(&(number as usize)).map_or(Progress::Failed, Progress::Made)
    }
}
