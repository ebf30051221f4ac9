//! Compiling beside a running program, in a process of its own.
//!
//! The problem: LLVM takes ninety megabytes, and what it has once taken stays. A program that is evaluated takes eight.
//! The idea: the command line starts itself again, as a compiler that gets a job on its standard input and answers on
//! its standard output. What comes back is an object file, which is mapped without LLVM.
//!
//! ```text
//!  program   ── job: options, source, texts that were read, task ──▶  cairn --compile-in-background
//!            ◀── answer: object and numbers, or why there is none ──
//! ```
//!
//! A module is for one run only: who makes it dies with the program (`PR_SET_PDEATHSIG`).
//! A program that wants one module often wants more, and to load LLVM takes as long as to compile a loop; so a process
//! waits a while for another job ([`WAITS`]). A whole program, or the library, is for the next run: who makes it goes
//! on when this one ends, at a low priority, and nobody waits for an answer. Both are in process groups of their own,
//! so that the signals of a terminal and of `timeout` do not reach them, and have nowhere to write messages to. Of
//! several processes that would compile the same program as a whole, one does.
//!
//! Where no process can be made, or nobody has said what to start ([`Compiler::background`]), a thread does the same.

use crate::cache_directory::Cache;
use crate::counted_bytes::{Reader, Writer};
use crate::error::Error;
use crate::options::{Backend, CompileOptions, Level};
use crate::session::Compiler;
use crate::source::{Source, Texts};
use crate::stage_report::{Observer, StageReport};
use crate::stages::{Effort, HotObject};
use cairn_core::passes::Disabled;
use cairn_core::tier::{Makers, Request};
use cairn_eval::units::{Place, Step, Unit};
use cairn_layout::facts;
use cairn_layout::object::record::compact::Choice;
use cairn_rt::room_for_threads;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::num::NonZeroU64;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What makes a command line such a process.
pub const ARGUMENT: &str = "--compile-in-background";

/// A program that is to be compiled while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) compiler: Compiler,
    pub(crate) source: Source,
    pub(crate) texts: Texts,
    /// Processes that have answered and wait for another job.
    idle: Arc<Mutex<Vec<Helper>>>,
}

/// A thread that has started another process, and gives it one job after the other. The process dies with the thread
/// (`PR_SET_PDEATHSIG`).
#[derive(Debug)]
struct Helper(Sender<(Vec<u8>, Sender<Vec<u8>>)>);

impl Helper {
    fn start(program: &Path) -> Option<Helper> {
        let mut command = Command::new(program);
        command.arg(ARGUMENT).process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (sender, jobs) = channel::<(Vec<u8>, Sender<Vec<u8>>)>();
        let (started, has_started) = channel();
        let serve = move || {
            let child = command.spawn();
            let _ = started.send(child.is_ok());
            let Ok(mut child) = child else { return };
            if let (Some(mut to), Some(mut from)) = (child.stdin.take(), child.stdout.take()) {
                while let Ok((job, answer_to)) = jobs.recv_timeout(WAITS) {
                    // should it not listen, there is no answer
                    let _ = to.write_all(&job.len().to_le_bytes()).and_then(|()| to.write_all(&job));
                    let Some(answer) = read_message(&mut from) else { break };
                    let _ = answer_to.send(answer);
                }
            }
            let _ = child.wait(); // its standard input is closed
        };
        std::thread::Builder::new().spawn(serve).ok()?;
        has_started.recv().ok()?.then_some(Helper(sender))
    }

    /// Its answer to a job; `None` if it has ended.
    fn ask(&self, job: &[u8]) -> Option<Vec<u8>> {
        let (answer_to, answer) = channel();
        self.0.send((job.to_vec(), answer_to)).ok()?;
        answer.recv().ok()
    }
}

/// Bytes that come behind their number.
fn read_message(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; size_of::<usize>()];
    from.read_exact(&mut length).ok()?;
    let mut message = Vec::new();
    let length = usize::from_le_bytes(length);
    from.take(length as u64).read_to_end(&mut message).ok()?;
    (message.len() == length).then_some(message)
}

/// What is to be compiled of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task<'a> {
    /// What is hot, in the program or in a form that was typed or loaded.
    Module(Option<&'a Unit>, &'a Request, Effort),
    /// Everything, for the cache.
    Whole,
    /// The library, for runs after this one.
    Library,
}

/// A module.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) object: HotObject,
    pub(crate) makers: Makers,
}

impl Work {
    pub(crate) fn new(compiler: Compiler, source: Source, texts: Texts) -> Work {
        Work { compiler, source, texts, idle: Arc::default() }
    }

    /// A module of what is hot, in the program or in a form.
    pub(crate) fn module(&self, unit: Option<&Unit>, request: &Request, effort: Effort) -> Result<Made, Error> {
        match self.ask(Task::Module(unit, request, effort)) {
            None => self.module_here(unit, request, effort),
            Some(answer) => {
                self.understand(&answer).unwrap_or_else(|| Err("the compiler has ended".to_string().into()))
            }
        }
    }

    /// Compiles the program as a whole and keeps that, with what time no other work wants.
    pub(crate) fn whole(&self) {
        if self.ask(Task::Whole).is_none() {
            lower_priority(LOW);
            self.whole_here();
        }
    }

    /// Has the best library made for these options, by another process if at all.
    pub(crate) fn library(&self) {
        let _ = self.ask(Task::Library);
    }

    /// Is there room for the threads that a module takes: who asks for it, who starts its compiler, and one that may
    /// compile the whole?
    pub(crate) fn has_room(&self) -> bool {
        room_for_threads() >= 3
    }

    /// Has another process do it; `None` if there is none. Returns when it has answered, or ended.
    fn ask(&self, task: Task) -> Option<Vec<u8>> {
        let program = self.compiler.background.as_ref()?;
        let (is_module, job) = (matches!(task, Task::Module(..)), self.job(task));
        let next = || self.idle.lock().ok()?.pop();
        while is_module && let Some(helper) = next() {
            // if not, it has waited long enough
            if let Some(answer) = helper.ask(&job) {
                return Some(self.keep(helper, answer));
            }
        }
        let helper = Helper::start(program)?;
        match helper.ask(&job) {
            Some(answer) => Some(self.keep(helper, answer)),
            None => Some(Vec::new()),
        }
    }

    fn keep(&self, helper: Helper, answer: Vec<u8>) -> Vec<u8> {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(helper);
        }
        answer
    }

    fn job(&self, task: Task) -> Vec<u8> {
        let Work { compiler, source, texts, idle: _ } = self;
        let mut w = Writer::default();
        w.count(std::process::id() as usize);
        let CompileOptions { frames, gc, level, backend, sites, debug: _, compact, coverage, disabled, verify } =
            compiler.options;
        w.put(frames.name);
        w.put(gc.name);
        w.count(match level {
            Level::Low => 0,
            Level::High => 1,
            Level::Auto => 2,
        });
        w.count((backend == Backend::Own).into());
        w.count(sites.into());
        w.count(Choice::ALL.iter().position(|c| *c == compact).unwrap_or(0));
        w.count(coverage.into());
        w.count(disabled.bits() as usize);
        w.count(verify.into());
        w.count(compiler.observer.is_some().into());
        w.count(compiler.cache_directory().is_some().into());
        w.path(compiler.cache_directory().unwrap_or(Path::new("")));
        w.count(compiler.keeps().map_or(0, |c| c.room() as usize));
        w.count(compiler.library_path.len());
        compiler.library_path.iter().for_each(|d| w.path(d));
        w.path(&source.path);
        w.put(&source.text);
        w.count(texts.len());
        for (path, text) in texts {
            w.path(path);
            w.count(text.is_some().into());
            w.put(text.as_deref().unwrap_or_default());
        }
        match task {
            Task::Whole => w.count(0),
            Task::Library => w.count(3),
            Task::Module(unit, request, effort) => {
                w.count(if unit.is_some() { 2 } else { 1 });
                w.count(match effort {
                    Effort::First => 0,
                    Effort::Quick => 1,
                    Effort::Again => 2,
                });
                w.request(request);
                unit.into_iter().for_each(|unit| w.unit(unit));
            }
        }
        w.0
    }

    /// What the other process has answered; `None` if that is not an answer.
    fn understand(&self, answer: &[u8]) -> Option<Result<Made, Error>> {
        let mut r = Reader(answer);
        for _ in 0..r.count()? {
            let (stage, time) = (r.text()?, Duration::from_nanos(r.count()? as u64));
            let report = StageReport { stage, time, size: r.count()?, unit: r.text()? };
            if let Some(observer) = self.compiler.observer {
                observer(&report);
            }
        }
        if r.count()? == 0 {
            return Some(Err(Error::Other(String::from_utf8(r.get()?.to_vec()).ok()?)));
        }
        let lambdas = r.counts()?;
        let procedures = r.counts()?.into_iter().map(|n| n as u32).collect();
        let text = NonZeroU64::new(r.count()? as u64);
        let object = HotObject { object: r.get()?.to_vec(), text };
        Some(Ok(Made { object, makers: Makers { lambdas, procedures, ..Makers::default() } }))
    }
}

/// Native stack of a thread that compiles: what the main thread has.
pub(crate) const STACK: usize = 8 << 20;

/// A run that goes on for so long has other processes work for the next ones: they compile the program as a whole, if
/// it has a module, and the library, if it lacks LLVM's.
pub(crate) const LONG: Duration = Duration::from_secs(1);

/// A low priority: enough to come to an end beside programs that keep all processors busy.
const LOW: i32 = 10;

/// This process becomes less urgent.
fn lower_the_priority_of_all() {
    // SAFETY: `setpriority` is given no address; 0 is this process, whose threads are yet to come.
    #[allow(unsafe_code)]
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, LOW);
    }
}

/// The priority beside a program that has no other processor: what it loses by a module that comes too late is little.
const BESIDE: i32 = 8;

fn leave_the_processor_to_the_program() {
    if std::thread::available_parallelism().is_ok_and(|n| n.get() == 1) {
        // SAFETY: `setpriority` is given no address; 0 is this process, which becomes less urgent.
        #[allow(unsafe_code)]
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, BESIDE);
        }
    }
}

/// What the stages of this process took and made.
static STAGES: Mutex<Vec<StageReport>> = Mutex::new(Vec::new());

fn note_stage(report: &StageReport) {
    if let Ok(mut stages) = STAGES.lock() {
        stages.push(report.clone());
    }
}

/// How long a process waits for another job.
const WAITS: Duration = Duration::from_secs(2);

/// Does jobs: what a process does that was started with [`ARGUMENT`].
pub fn compile_in_background() -> Result<(), Error> {
    let no_job = || Error::Other("this is not for users".to_string());
    let next = || read_message(&mut std::io::stdin().lock());
    let mut job = next().ok_or_else(no_job)?;
    let (parent, work, task) = understand_job(&job).ok_or_else(no_job)?;
    match task {
        Asked::Whole => {
            work.whole_for_the_next_run();
            return Ok(());
        }
        Asked::Library => {
            lower_the_priority_of_all();
            return work.compiler.prepare();
        }
        Asked::Module(..) => {}
    }
    // SAFETY: `prctl` is given no address; when the signal comes nothing of this process has to be put in order.
    #[allow(unsafe_code)]
    let orphan = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::getppid() as usize != parent
    };
    if orphan {
        return Ok(());
    }
    leave_the_processor_to_the_program();
    while let Some((_, work, Asked::Module(wanted))) = understand_job(&job) {
        let answer = work.answer_in_turn(wanted);
        let mut out = std::io::stdout().lock();
        let told = out.write_all(&answer.len().to_le_bytes()).and_then(|()| out.write_all(&answer));
        // whoever does not listen has ended
        match told.and_then(|()| out.flush()).ok().and_then(|()| next()) {
            Some(other) => job = other,
            None => break,
        }
    }
    Ok(())
}

impl Work {
    /// Compiles the program as a whole and keeps that, unless another process does.
    fn whole_for_the_next_run(&self) {
        lower_the_priority_of_all();
        if let Some(entry) = self.compiler.entry(&self.source)
            && let Some(_lock) = entry.lock()
            && entry.find().is_none()
        {
            self.whole_here();
        }
    }

    /// [`Work::answer`]; better code than there is has to wait for everybody else.
    fn answer_in_turn(&self, wanted: Wanted) -> Vec<u8> {
        if wanted.2 != Effort::Again {
            return self.answer(wanted);
        }
        let patient = move || {
            lower_priority(BESIDE);
            self.answer(wanted)
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, patient);
            // without an answer this process is taken for one that has ended
            thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_default()
        })
    }

    /// A module, or why there is none, as [`Work::understand`] reads it.
    fn answer(&self, (request, unit, effort): Wanted) -> Vec<u8> {
        let made = self.module_here(unit.as_ref(), &request, effort);
        let mut w = Writer::default();
        let stages = STAGES.lock().map(|mut stages| std::mem::take(&mut *stages)).unwrap_or_default();
        w.count(stages.len());
        for StageReport { stage, time, size, unit } in stages {
            w.put(stage);
            w.count(time.as_nanos() as usize);
            w.count(size);
            w.put(unit);
        }
        match made {
            Err(e) => {
                w.count(0);
                w.put(e.to_string());
            }
            Ok(Made { object, makers: Makers { lambdas, procedures, .. } }) => {
                w.count(1);
                w.counts(lambdas.into_iter());
                w.counts(procedures.into_iter().map(|n| n as usize));
                w.count(object.text.map_or(0, |text| text.get() as usize));
                w.put(object.object);
            }
        }
        w.0
    }
}

/// A module of what: of the program if of no unit.
type Wanted = (Request, Option<Unit>, Effort);

/// What another process has asked for.
enum Asked {
    Whole,
    Library,
    Module(Wanted),
}

/// Who asks, and what for.
fn understand_job(job: &[u8]) -> Option<(usize, Work, Asked)> {
    let mut r = Reader(job);
    let parent = r.count()?;
    let name = |r: &mut Reader| String::from_utf8(r.get()?.to_vec()).ok();
    let frames = facts::strategy(&name(&mut r)?)?;
    let gc = facts::collector(&name(&mut r)?)?;
    let level = *[Level::Low, Level::High, Level::Auto].get(r.count()?)?;
    let backend = if r.count()? != 0 { Backend::Own } else { Backend::Full };
    let (sites, compact) = (r.count()? != 0, *Choice::ALL.get(r.count()?)?);
    let coverage = r.count()? != 0;
    let disabled = Disabled::of_bits(r.count()? as u32);
    let verify = r.count()? != 0;
    let options =
        CompileOptions { frames, gc, level, backend, sites, debug: false, compact, coverage, disabled, verify };
    let observer = (r.count()? != 0).then_some(note_stage as Observer);
    let (keeps, directory, room) = (r.count()? != 0, r.path()?, r.count()? as u64);
    let cache = keeps.then(|| Cache::existing(directory).at_most(room));
    let library_path = (0..r.count()?).map(|_| r.path()).collect::<Option<Vec<PathBuf>>>()?;
    let source = Source::new(r.path()?, name(&mut r)?);
    let mut texts = Texts::new();
    for _ in 0..r.count()? {
        let (path, is_there, text) = (r.path()?, r.count()? != 0, name(&mut r)?);
        texts.push((path, is_there.then_some(text)));
    }
    let task = match r.count()? {
        0 => Asked::Whole,
        3 => Asked::Library,
        kind => {
            let effort = *[Effort::First, Effort::Quick, Effort::Again].get(r.count()?)?;
            let request = r.request()?;
            Asked::Module((request, if kind == 2 { Some(r.unit()?) } else { None }, effort))
        }
    };
    let compiler = Compiler::new(options).library_path(library_path).cache(cache).observer(observer);
    Some((parent, Work::new(compiler, source, texts), task))
}

impl Writer {
    fn path(&mut self, path: &Path) {
        self.put(path.as_os_str().as_bytes());
    }

    fn counts(&mut self, counts: impl ExactSizeIterator<Item = usize>) {
        self.count(counts.len());
        counts.for_each(|n| self.count(n));
    }

    fn request(&mut self, Request { entered, bound, held, ahead: _, room }: &Request) {
        self.counts(entered.iter().map(|n| *n as usize));
        self.counts(bound.iter().map(|b| (*b).into()));
        self.counts(held.iter().map(|b| (*b).into()));
        self.count(*room);
    }

    fn unit(&mut self, Unit { steps, parts }: &Unit) {
        self.count(parts.len());
        for Place { opened, form, fingerprint, cells } in parts {
            self.all([*opened, *form, *fingerprint as usize, *cells]);
        }
        self.count(steps.len());
        for step in steps {
            match step {
                Step::Environment(sets) => {
                    self.count(if sets.is_some() { 1 } else { 0 });
                    self.put(sets.as_deref().unwrap_or_default());
                }
                Step::Open { name, text, lines_before, whole } => {
                    self.count(if *whole { 4 } else { 2 });
                    self.put(name);
                    self.put(text);
                    self.count(*lines_before as usize);
                }
                Step::Next { opened, environment } => self.all([3, *opened, *environment]),
            }
        }
    }

    fn all<const N: usize>(&mut self, counts: [usize; N]) {
        counts.into_iter().for_each(|n| self.count(n));
    }
}

impl Reader<'_> {
    fn path(&mut self) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(self.get()?)))
    }

    fn counts(&mut self) -> Option<Vec<usize>> {
        (0..self.count()?).map(|_| self.count()).collect()
    }

    fn flags(&mut self) -> Option<Vec<bool>> {
        Some(self.counts()?.into_iter().map(|b| b != 0).collect())
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.get()?.to_vec()).ok()
    }

    fn request(&mut self) -> Option<Request> {
        let entered = self.counts()?.into_iter().map(|n| n as u32).collect();
        let (bound, held, room) = (self.flags()?, self.flags()?, self.count()?);
        Some(Request { entered, bound, held, ahead: false, room })
    }

    fn unit(&mut self) -> Option<Unit> {
        let parts = (0..self.count()?).map(|_| self.place()).collect::<Option<_>>()?;
        let steps = (0..self.count()?).map(|_| self.step()).collect::<Option<_>>()?;
        Some(Unit { steps, parts })
    }

    fn place(&mut self) -> Option<Place> {
        let (opened, form, fingerprint) = (self.count()?, self.count()?, self.count()? as i64);
        Some(Place { opened, form, fingerprint, cells: self.count()? })
    }

    fn step(&mut self) -> Option<Step> {
        Some(match self.count()? {
            0 => {
                self.get()?;
                Step::Environment(None)
            }
            1 => Step::Environment(Some(self.text()?)),
            kind @ (2 | 4) => {
                let (name, text) = (self.text()?, self.text()?);
                Step::Open { name, text, lines_before: self.count()? as i32, whole: kind == 4 }
            }
            _ => Step::Next { opened: self.count()?, environment: self.count()? },
        })
    }
}

/// Makes this thread, and those that it makes, less urgent: `nice` counts as the command of that name does.
#[allow(unsafe_code)]
pub(crate) fn lower_priority(nice: i32) {
    // SAFETY: `setpriority` is given no address, and the number is this thread's own. If it fails the thread is as
    // urgent as before.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, nice);
    }
}
