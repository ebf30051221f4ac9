//! How procedures are called and left, chosen by the way of keeping frames.
//!
//! | file | a procedure is | calls and returns are | frames are |
//! |---|---|---|---|
//! | `split` | cut at its calls into functions | jumps | ours, as a strategy (`crate::strategy`) keeps them |
//! | `joined` | one function | `call` and `ret` | LLVM's |
//!
//! Both implement `Activations` (`emit/emitter.rs`), and what of that concerns only the native stack, `Footing`
//! (`emit/builder.rs`). Nothing else in this crate knows which is in use.

mod joined;
mod split;

use crate::emit::emitter::Activations;
use crate::strategy::{Frames, chunks, heap, quasi, stack};
use cairn_layout::facts::FrameKind;
use joined::Joined;
use split::Split;

/// The lowering of calls and returns, and what tables say of frames.
pub(crate) fn of(kind: FrameKind) -> (&'static dyn Activations, &'static dyn Frames) {
    match kind {
        FrameKind::Chunks => (&Split(&chunks::StackFrames), &chunks::StackFrames),
        FrameKind::Heap => (&Split(&heap::HeapFrames), &heap::HeapFrames),
        FrameKind::Native => (&Joined, &Joined),
        FrameKind::Quasi => (&Split(&quasi::QuasiFrames), &quasi::QuasiFrames),
        FrameKind::Stack | FrameKind::Resize => (&Split(&stack::WholeStack), &stack::WholeStack),
    }
}
