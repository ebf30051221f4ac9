//! How deep recursion may be.
//!
//! The problem: what recurses for ever would fill the heap's maximum first, half of the machine's memory, and take
//! minutes. The idea: frames have a limit of their own (`--frames-max`), and whoever exceeds it is told by a condition.
//! All memory of frames is the heap's, whatever the strategy. So while the heap holds no more than that limit, there is
//! nothing to look at; when it holds more, frames are measured, and again when they may have reached the limit since
//! (`DepthWatch` in `runtime.rs`). That costs a walk over the segments, or frames, for every sixteenth of the limit at
//! most. What `dynamic-wind`, `parameterize`, handlers and guards keep for each level besides frames counts too
//! ([`WINDER`]): with it a level may take ten times its frames. A stack whose range of addresses is nearly used up
//! (`ulimit -v`) is too deep as well.

use super::frames;
use crate::access::{is, words};
use crate::exhaustion::size_text;
use crate::fatal;
use crate::runtime::{Failure, rt};
use cairn_layout::machine::{Machine, error as kind, slot};
use cairn_layout::object::Type;

/// Bytes that a winder counts for: itself, the closures and lists that it refers to, and the room in which a collector
/// copies them.
const WINDER: u64 = 512;

/// How many winders the thread is inside of.
fn winders(ctx: &Machine) -> u64 {
    let innermost = ctx.slot(slot::WINDERS);
    if is(innermost, Type::Opaque) { words(innermost)[frames::winder::DEPTH].as_fixnum() as u64 } else { 0 }
}

/// The stack has grown: is the recursion too deep?
pub fn admit(ctx: &mut Machine) {
    let runtime = rt(ctx);
    let used = runtime.heap.bytes_in_use();
    if used >= runtime.depth.due {
        measure(ctx, used);
    }
    let region = rt(ctx).strategy.stack.region.as_mut();
    if let Some(most) = region.and_then(|r| r.is_short().then(|| r.most())) {
        let most = size_text(most);
        refuse(ctx, format!("recursion is too deep: there is no more than {most} of address space for its frames"))
    }
}

/// Admits what frames may take when a collection is over: what it has freed may be given to them.
pub fn admit_after_collection(ctx: &mut Machine) {
    let runtime = rt(ctx);
    let used = runtime.heap.bytes_in_use();
    runtime.depth.due = runtime.depth.due.min(runtime.depth.next(used, runtime.options.frames_max));
    admit(ctx);
}

#[cold]
fn measure(ctx: &mut Machine, used: u64) {
    let runtime = rt(ctx);
    let most = runtime.options.frames_max;
    runtime.depth.last = frames::depth(ctx, most) + WINDER * winders(ctx);
    runtime.depth.due = runtime.depth.next(used, most);
    if runtime.depth.last <= most {
        return;
    }
    // a handler has room for frames of its own
    runtime.depth.due = used + most / 4;
    let message = format!(
        "recursion is too deep: its frames exceed the limit of {} (raise it with --frames-max)",
        size_text(most)
    );
    refuse(ctx, message)
}

/// The program is told, if there is one.
fn refuse(ctx: &mut Machine, message: String) {
    let runtime = rt(ctx);
    let failure = Failure { kind: kind::OTHER, who: None, message, argument: 0, irritants: Vec::new() };
    // This comes back if there is no program that could be told.
    (runtime.raise)(ctx, &failure);
    (runtime.flush)(ctx);
    fatal::say(ctx, &format!("cairn: {}", failure.message));
    fatal::end(ctx, 1)
}
