//! Stacks of samples, and what each of them weighs: nanoseconds, or bytes.
//!
//! Only the youngest [`DEPTH`] frames are read, so that a sample in a deep recursion costs no more than others. What a
//! return address stands for is found out once.

use crate::machine::frames;
use crate::report::{self, Kind, Spot};
use cairn_layout::Value;
use cairn_layout::code::Site;
use cairn_layout::machine::Machine;
use std::collections::HashMap;

/// Nanoseconds of processor time between samples, if the kernel looks so often.
pub const PERIOD: u64 = 1_000_000;

/// Frames of a sample at most.
const DEPTH: usize = 192;
/// Where the cold stub keeps `rbp`, behind which the address lies that it returns to (`machine::stubs`).
const SAVED_RBP: u64 = 256;

/// A frame of a sample: a number of [`Stacks::spots`].
pub type FrameId = u32;

/// What evaluated code is known by: its place, without its text.
type MarkKey = (String, u64, u64);

/// What samples weigh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Of processor time.
    Nanoseconds,
    /// Of allocation.
    Bytes,
}

/// See the module's header.
pub struct Stacks {
    pub(super) unit: Unit,
    pub(super) spots: Vec<Spot>,
    ids: HashMap<Spot, FrameId>,
    /// By return address; `None`: frames of evaluated code.
    codes: HashMap<u64, Option<Vec<FrameId>>>,
    /// By address of the instruction that came to a safepoint.
    functions: HashMap<u64, Vec<FrameId>>,
    /// By position of compiled code.
    sites: HashMap<u64, Vec<FrameId>>,
    marks: HashMap<MarkKey, FrameId>,
    /// Weights by frames, the youngest first.
    pub(super) weights: HashMap<Vec<FrameId>, u64>,
}

impl Stacks {
    /// None yet.
    pub fn new(unit: Unit) -> Stacks {
        Stacks {
            unit,
            spots: Vec::new(),
            ids: HashMap::new(),
            codes: HashMap::new(),
            functions: HashMap::new(),
            sites: HashMap::new(),
            marks: HashMap::new(),
            weights: HashMap::new(),
        }
    }

    /// A sample.
    pub fn add(&mut self, stack: Vec<FrameId>, weight: u64) {
        if weight > 0 {
            *self.weights.entry(stack).or_default() += weight;
        }
    }

    /// The stack with something that is no call on top.
    pub fn above(&mut self, name: &str, stack: &[FrameId]) -> Vec<FrameId> {
        let mut all = vec![self.id(Spot::named(name))];
        all.extend_from_slice(stack);
        all
    }

    /// The function that came to the safepoint where the program is, and the calls under way.
    pub fn at_safepoint(&mut self, ctx: &Machine) -> Vec<FrameId> {
        let mut stack = Vec::with_capacity(64);
        let running = self.running(ctx, &mut stack);
        if youngest(ctx) == Some(running) {
            stack.clear(); // a return point that has not left its frame yet: the frame says the same
        }
        self.walk(ctx, stack, 0)
    }

    /// The position that compiled code says it is at, and the calls under way.
    pub fn at_site(&mut self, ctx: &Machine, site: Site) -> Vec<FrameId> {
        if !self.sites.contains_key(&site.0) {
            let ids = report::user_spots(ctx, site).into_iter().map(|s| self.id(s)).collect();
            self.sites.insert(site.0, ids);
        }
        let stack = self.sites[&site.0].clone();
        if stack.is_empty() {
            return self.at_safepoint(ctx);
        }
        // the position says more than the frame of the same function
        let own = youngest(ctx) == Some(self.running(ctx, &mut Vec::new()));
        self.walk(ctx, stack, usize::from(own))
    }

    /// Adds the calls under way, but for the youngest ones.
    fn walk(&mut self, ctx: &Machine, mut stack: Vec<FrameId>, mut skipped: usize) -> Vec<FrameId> {
        let mut cut = false;
        frames::walk(ctx, &mut |code: u64, frame: u64| {
            if skipped > 0 {
                skipped -= 1;
                return true;
            }
            cut = stack.len() >= DEPTH;
            if !cut {
                self.add_frame(ctx, code, frame, &mut stack);
            }
            !cut
        });
        if cut {
            stack.push(self.id(Spot::named("…")));
        }
        if stack.is_empty() {
            stack.push(self.id(Spot::named("program")));
        }
        stack
    }

    /// The frames of the function that came to the safepoint; its address.
    fn running(&mut self, ctx: &Machine, stack: &mut Vec<FrameId>) -> u64 {
        // SAFETY: a safepoint is a runtime call by way of the cold stub, so its saved block is at `native_sp`, with the
        // `rbp` whose frame holds the function's return address.
        let pc = unsafe {
            let rbp = *((ctx.native_sp + SAVED_RBP) as *const u64);
            *((rbp + 8) as *const u64)
        };
        // SAFETY: `again` is 0 or the address of a constant that begins with a code address.
        let again = || unsafe { (ctx.again as *const u64).as_ref().copied() };
        let found = report::function_at(ctx, pc, again);
        let key = found.as_ref().map_or(pc, |f| f.code);
        if found.as_ref().is_some_and(|f| f.evaluator) {
            if let Some(mark) = report::evaluated_at(&ctx.spill[..ctx.spilled as usize]) {
                stack.push(self.mark(mark));
            }
            return key;
        }
        if let Some(known) = self.functions.get(&key) {
            stack.extend_from_slice(known);
            return key;
        }
        let spots = found.map(|f| f.spots).unwrap_or_default();
        let ids: Vec<FrameId> = spots.into_iter().map(|s| self.id(s)).collect();
        stack.extend_from_slice(&ids);
        self.functions.insert(key, ids);
        key
    }

    fn add_frame(&mut self, ctx: &Machine, code: u64, frame: u64, stack: &mut Vec<FrameId>) {
        if !self.codes.contains_key(&code) {
            let ids = match report::kind_of(ctx, code) {
                Kind::Evaluated => None,
                Kind::Compiled(spots) => Some(spots.into_iter().map(|s| self.id(s)).collect()),
            };
            self.codes.insert(code, ids);
        }
        match &self.codes[&code] {
            Some(ids) => stack.extend_from_slice(ids),
            None => {
                for mark in report::marks_of(ctx, frame) {
                    let id = self.mark(mark);
                    stack.push(id);
                }
            }
        }
    }

    fn mark(&mut self, mark: Value) -> FrameId {
        let key = report::mark_key(mark);
        if let Some(id) = self.marks.get(&key) {
            return *id;
        }
        let id = self.id(report::spot_of_mark(mark));
        self.marks.insert(key, id);
        id
    }

    fn id(&mut self, spot: Spot) -> FrameId {
        if let Some(id) = self.ids.get(&spot) {
            return *id;
        }
        let id = self.spots.len() as FrameId;
        self.spots.push(spot.clone());
        self.ids.insert(spot, id);
        id
    }
}

/// The return address of the youngest frame.
fn youngest(ctx: &Machine) -> Option<u64> {
    let mut found = None;
    frames::walk(ctx, &mut |code: u64, _| {
        found = Some(code);
        false
    });
    found
}
