//! What happens when memory runs out.
//!
//! The problem: memory is asked for in a hundred places of the runtime, most of which cannot fail; and what the heap
//! refuses, a collection might yet grant, but runtime calls never collect. The idea: the heap's maximum is overdrawn,
//! and the next safepoint collects. If that makes room, nothing has happened. If not, the program gets a condition
//! which it can handle: it can drop data and go on. The heap leaves it a reserve for that.
//!
//! ```text
//!                 refused                     safepoint, no room
//!   plenty ─────────────────▶ overdrawn ───────────────────────────▶ raised ──▶ reserve used up: the run ends
//!     ▲ ◀─────────────────────────┘  safepoint, room again              │
//!     └─────────────────────────────────────────────────────────────────┘
//! ```
//!
//! While overdrawn, the heap may hold twice its maximum: the object asked for, and what else the runtime call under way
//! needs. Requests that are beyond even that raise at once.

use crate::fatal;
use crate::runtime::{Exhaustion, Failure, rt};
use cairn_heap::OutOfMemory;
use cairn_layout::machine::{Machine, error as kind};

/// Bytes that a handler has.
fn reserve(heap_max: u64) -> u64 {
    (heap_max / 16).clamp(256 << 10, 1 << 20)
}

/// The heap has refused `bytes`: asks `again`, overdrawing.
#[cold]
pub fn overdraw<T>(
    ctx: &mut Machine,
    bytes: u64,
    again: impl FnOnce(&mut Machine) -> Result<T, OutOfMemory>,
) -> T {
    let rt = rt(ctx);
    if rt.exhaustion == Exhaustion::Plenty {
        rt.exhaustion = Exhaustion::Overdrawn(bytes);
        rt.heap.set_overdraft(rt.heap.heap_max());
        // Should even this fail, `again` will, too.
        let _ = rt.heap.request_collection(&mut ctx.cursors, true);
    }
    again(ctx).unwrap_or_else(|_| refuse(ctx, bytes))
}

/// `bytes` are out of the question.
#[cold]
pub fn refuse(ctx: &mut Machine, bytes: u64) -> ! {
    let rt = rt(ctx);
    let limit = rt.heap.heap_max();
    let what = match bytes {
        0 => format!("live data exceed the heap limit of {}", size_text(limit)),
        _ => format!("{} more would exceed the heap limit of {}", size_text(bytes), size_text(limit)),
    };
    let message = format!("out of memory: {what} (raise it with --heap-max)");
    let before = std::mem::replace(&mut rt.exhaustion, Exhaustion::Raised);
    if before == Exhaustion::Plenty {
        // Nobody has asked for a collection yet: the next heap check is to find that there is room for all else.
        let _ = rt.heap.request_collection(&mut ctx.cursors, true);
    }
    if before != Exhaustion::Raised {
        let beyond = rt.heap.bytes_in_use().saturating_sub(limit);
        rt.heap.set_overdraft(beyond + reserve(limit));
        let message = message.clone();
        // This comes back if there is no program that could be told.
        (rt.raise)(ctx, &Failure { kind: kind::OTHER, who: None, message, argument: 0, irritants: Vec::new() });
    }
    (rt.flush)(ctx);
    fatal::say(ctx, &format!("cairn: {message}"));
    fatal::end(ctx, 1)
}

/// `512 bytes`, `64 MiB`.
pub fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit < UNITS.len() - 1 {
        size /= 1024.0;
        unit += 1;
    }
    if size.fract() == 0.0 { format!("{size} {}", UNITS[unit]) } else { format!("{size:.1} {}", UNITS[unit]) }
}

/// Is there memory, as far as is known?
pub fn is_plenty(ctx: &Machine) -> bool {
    rt(ctx).exhaustion == Exhaustion::Plenty
}

/// Has the program been told, and no collection found room since?
pub fn is_raised(ctx: &Machine) -> bool {
    rt(ctx).exhaustion == Exhaustion::Raised
}

/// Is a collection to find out whether memory has run out?
pub fn is_overdrawn(ctx: &Machine) -> bool {
    matches!(rt(ctx).exhaustion, Exhaustion::Overdrawn(_))
}

/// A safepoint has collected, or tried to, to make room for `need` bytes.
pub fn collected(ctx: &mut Machine, outcome: Result<(), OutOfMemory>, need: u64) {
    let rt = rt(ctx);
    match (outcome, rt.exhaustion) {
        (Ok(()), Exhaustion::Plenty) => {}
        (Ok(()), _) => {
            rt.exhaustion = Exhaustion::Plenty;
            rt.heap.set_overdraft(0);
        }
        // The program is busy with the condition.
        (Err(_), Exhaustion::Raised) if ctx.cursors.room() >= need && !rt.heap.is_overdrawn() => {}
        (Err(_), Exhaustion::Overdrawn(bytes)) => refuse(ctx, bytes),
        (Err(e), _) => refuse(ctx, e.requested),
    }
}
