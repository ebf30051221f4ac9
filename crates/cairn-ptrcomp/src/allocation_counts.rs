//! How many objects can a node have, in the whole program?
//!
//! The problem: a static pool ends the program when it outgrows its indices, so without being asked for it, it is only
//! there where it can't. The idea: count what is ever allocated, freed or not. A call is made as often as its block is
//! executed in one call of its function (`module_reader::executions`), times the calls of the function.
//!
//! ```text
//!  main { for 100 times: a = make(); }    make { return malloc(24); }      a: at most 100 objects, 2400 bytes
//! ```
//!
//! Without bound are: what is in a loop without a counter; functions that are recursive, called by address or by code
//! outside; sizes that are no constants; everything, if the program uses `setjmp` or the like, which run code again.
//!
//! That memory ends before 2³² bytes are full is no bound: addresses need no memory before they are touched, and a
//! program may be run on a larger machine than the one it was compiled on.

use crate::dsa::Analysis;
use crate::dsa::externals::runs_again;
use crate::dsa::points_to::{NodeId, Site, Sites, Why};
use crate::model::*;
use crate::shape;
use std::collections::BTreeSet;
use std::fmt;

/// The calls of functions.
pub struct Bounds {
    /// How often each function is called, at most; or [`UNBOUNDED`].
    calls: Vec<u64>,
    /// May each function be called again before it returns, by calls by name?
    recursive: Vec<bool>,
    /// A function that makes other code run again.
    again: Option<String>,
}

/// What a node's objects are, at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Most {
    pub objects: u64,
    /// That a pool of them has, of objects as they were.
    pub bytes: u64,
}

/// What a pool has besides: its objects begin after up to 4160 bytes, and end before the last 64.
const MARGIN: u64 = 8192;
/// What a pool that is not staggered has besides its objects.
const SMALL_MARGIN: u64 = 96;

impl Most {
    /// Can indices that reach so far tell all objects?
    pub fn fits(self, reach: u64) -> bool {
        let margin = if reach < 1 << 20 { SMALL_MARGIN } else { MARGIN };
        self.bytes.saturating_add(margin) <= reach
    }
}

impl fmt::Display for Most {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let plural = if self.objects == 1 { "" } else { "s" };
        write!(f, "at most {} allocation{plural}, {} bytes", self.objects, self.bytes)
    }
}

/// Of each function: who calls it, and how often in one call.
type Callers = Vec<Vec<(FuncId, u64)>>;

fn calls_itself(callers: &Callers, id: FuncId) -> bool {
    let (mut seen, mut work) = (BTreeSet::new(), vec![id]);
    while let Some(next) = work.pop() {
        for &(caller, _) in &callers[next.0 as usize] {
            if caller == id {
                return true;
            }
            if seen.insert(caller) {
                work.push(caller);
            }
        }
    }
    false
}

impl Bounds {
    pub fn find(module: &Module) -> Bounds {
        let mut callers: Callers = vec![vec![]; module.functions.len()];
        for id in module.function_ids() {
            for value in &module.function(id).values {
                let Op::Call(call) = &value.op else { continue };
                if let Callee::Known(callee) = call.callee {
                    callers[callee.0 as usize].push((id, call.times));
                }
            }
        }
        let mut counts = Counts { module, callers, known: vec![State::New; module.functions.len()] };
        let calls: Vec<u64> = module.function_ids().map(|id| counts.of(id)).collect();
        let ids = module.function_ids();
        // Recursive functions have no bound.
        let recursive =
            ids.map(|id| calls[id.0 as usize] == UNBOUNDED && calls_itself(&counts.callers, id)).collect();
        let again = module.functions.iter().find(|f| f.declared && runs_again(&f.name)).map(|f| f.name.clone());
        Bounds { calls, recursive, again }
    }

    /// How many objects of this node the program ever has; or why that can't be told.
    pub fn most(&self, analysis: &Analysis, id: NodeId) -> Result<Most, Why> {
        let node = analysis.graph.node(id);
        let no = |text: String, at: At| Err(Why { text, at });
        if let Some(again) = &self.again {
            return no(format!("{again} may run any allocation again"), node.origin);
        }
        let (unit, array) = shape::object_size(analysis, node)?;
        let Sites::All(sites) = &node.sites else {
            return no("allocated in more ways than are counted".into(), node.origin);
        };
        if sites.is_empty() {
            return no("no allocation is known".into(), node.origin);
        }
        let mut most = Most { objects: 0, bytes: 0 };
        for site in sites {
            let times = self.times(analysis, site)?;
            let Size::Const(size) = shape::resolved(analysis, site.size, 0) else {
                return no("allocated with sizes that aren't constant".into(), site.at);
            };
            // Arrays have a header, and sizes are rounded, at most by an eighth.
            let bytes =
                if array { size.saturating_mul(2).saturating_add(64) } else { size.max(unit).next_multiple_of(4) };
            most.objects = most.objects.saturating_add(times);
            most.bytes = most.bytes.saturating_add(times.saturating_mul(bytes));
        }
        Ok(most)
    }

    fn times(&self, analysis: &Analysis, site: &Site) -> Result<u64, Why> {
        let module = analysis.module;
        let no = |text: String, at: At| Err(Why { text, at });
        let any_number = |id: FuncId| {
            let name = &module.function(id).name;
            no(format!("allocated in {name}, which may be called any number of times"), site.at)
        };
        let (mut times, mut called) = (1u64, None);
        for &(id, value) in &site.way {
            // What the function before calls: this one, and no other in which it comes back.
            let once = match called {
                None => {
                    times = self.calls[id.0 as usize];
                    times != UNBOUNDED
                }
                Some(callee) => callee == Callee::Known(id) && !self.recursive[id.0 as usize],
            };
            let &Value { op: Op::Call(ref call), at, .. } = &module.function(id).values[value.0 as usize] else {
                return any_number(id);
            };
            if !once {
                return any_number(id);
            }
            if call.times == UNBOUNDED {
                return no("allocated in a loop whose rounds can't be counted".into(), at);
            }
            times = times.saturating_mul(call.times);
            called = Some(call.callee);
        }
        if times == UNBOUNDED { no("allocated more often than can be counted".into(), site.at) } else { Ok(times) }
    }
}

#[derive(Clone, Copy)]
enum State {
    New,
    UnderWay,
    Known(u64),
}

struct Counts<'m> {
    module: &'m Module,
    callers: Callers,
    known: Vec<State>,
}

impl Counts<'_> {
    fn of(&mut self, id: FuncId) -> u64 {
        match self.known[id.0 as usize] {
            State::Known(times) => return times,
            // It calls itself, by way of others or not.
            State::UnderWay => return UNBOUNDED,
            State::New => self.known[id.0 as usize] = State::UnderWay,
        }
        let function = self.module.function(id);
        let mut times = match function.name.as_str() {
            _ if function.address_taken => UNBOUNDED,
            "main" => 1,
            _ if function.kept => UNBOUNDED,
            _ => 0,
        };
        for (caller, each) in self.callers[id.0 as usize].clone() {
            // A function that nobody calls would end a multiplication that is too large.
            times = times.saturating_add(match self.of(caller) {
                0 => 0,
                calls => calls.saturating_mul(each),
            });
        }
        self.known[id.0 as usize] = State::Known(times);
        times
    }
}
