//! Native code for forms that were typed at the prompt or loaded there.
//!
//! The problem and the idea are those of [`crate::evaluated`], but there is no program: each form with procedures is a
//! unit by itself ([`cairn_eval::units`]). What is defined in one unit may be defined again in another, so code of a
//! unit reaches all variables through their cells. Units are compiled by a process each, on processors that the program
//! leaves free, and asked for by their tickets.
//!
//! A unit that cannot be compiled stays evaluated, and nothing is said, except under `CAIRN_HASTE`, for tests: the form
//! means what it meant. So does all when no process can compile beside this one: LLVM in this process would be in the
//! way when it ends. When several units in a row could not be compiled, that is taken for granted of the others.

use crate::background::STACK;
use crate::background::{Made, Work};
use crate::session::Compiler;
use crate::source::{Source, Texts};
use crate::stages::Effort;
use cairn_core::tier::Request;
use cairn_eval::units::{Unit, UnitCompiler};
use cairn_layout::machine::stop;
use cairn_rt::evaluated_program::{BetterCode, Native, Progress, Stopper};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

/// What makes modules of units.
#[derive(Debug)]
pub(crate) struct UnitModules {
    work: Work,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    jobs: Mutex<Jobs>,
    /// A compiler has ended.
    ended: Condvar,
}

/// So many failures in a row are enough.
const MOST_FAILURES: u32 = 4;

#[derive(Debug, Default)]
struct Jobs {
    last: i64,
    pending: BTreeSet<i64>,
    ready: BTreeMap<i64, Native>,
    /// How many modules have failed since the last that did not.
    failures: u32,
    /// Compilers at work.
    at_work: usize,
    /// Better code that has come and was not looked for yet.
    better: Vec<BetterCode>,
}

impl Shared {
    /// Nobody panics with the lock.
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a processor is free for a compiler: the program has one, and more at once would all be late.
    fn turn(&self) -> Turn<'_> {
        let most = available_parallelism().map_or(1, |n| n.get() - 1).max(1);
        let jobs = self.ended.wait_while(self.jobs(), |jobs| jobs.at_work >= most);
        jobs.unwrap_or_else(PoisonError::into_inner).at_work += 1;
        Turn(self)
    }
}

/// A compiler is at work while this is there.
struct Turn<'s>(&'s Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.jobs().at_work -= 1;
        self.0.ended.notify_one();
    }
}

impl UnitModules {
    /// Libraries are looked for beside `path`, too.
    pub(crate) fn new(compiler: &Compiler, path: &Path) -> UnitModules {
        let work = Work::new(compiler.clone(), Source::new(path, ""), Texts::new());
        UnitModules { work, shared: Arc::default() }
    }
}

impl UnitCompiler for UnitModules {
    fn request(&self, unit: Unit, request: Request, stopper: Stopper) -> Option<i64> {
        self.work.compiler.background.as_ref().filter(|_| self.work.has_room())?;
        let (work, shared) = (self.work.clone(), self.shared.clone());
        let ticket = {
            let mut jobs = shared.jobs();
            if jobs.failures >= MOST_FAILURES {
                return None;
            }
            jobs.last += 1;
            let ticket = jobs.last;
            jobs.pending.insert(ticket);
            ticket
        };
        let tells = std::env::var_os("CAIRN_HASTE").is_some();
        let compile = move || {
            let turn = shared.turn();
            let made = work.module(Some(&unit), &request, Effort::First).and_then(Made::load);
            drop(turn);
            let (native, first) = match made {
                Ok((native, first)) => (Ok(native), first),
                Err(e) => (Err(e), None),
            };
            if let (Err(reason), true) = (&native, tells) {
                eprintln!("no native code: {reason}");
            }
            let mut jobs = shared.jobs();
            jobs.pending.remove(&ticket);
            jobs.failures = if native.is_ok() { 0 } else { jobs.failures + 1 };
            jobs.ready.extend(native.ok().map(|native| (ticket, native)));
            drop(jobs);
            let Some(first) = first else { return };
            std::thread::sleep(first.soon());
            let turn = shared.turn();
            let better = work.better(Some(&unit), &request, &first);
            drop(turn);
            if let Some(better) = better {
                shared.jobs().better.push(better);
                stopper.request(stop::CODE);
            }
        };
        std::thread::Builder::new().stack_size(STACK).spawn(compile).is_ok().then_some(ticket)
    }

    fn better_code(&self) -> Vec<BetterCode> {
        std::mem::take(&mut self.shared.jobs().better)
    }

    fn ready(&self, ticket: i64) -> Progress {
        let mut jobs = self.shared.jobs();
        if jobs.pending.contains(&ticket) {
            return Progress::UnderWay;
        }
        jobs.ready.remove(&ticket).map_or(Progress::Failed, Progress::Made)
    }
}
