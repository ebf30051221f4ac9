//! How frames are made, found and left: one implementation per way of keeping frames, selected by its kind.
//!
//! Nothing else in this crate knows which strategy is in use. A new strategy is a new file here plus its facts in
//! `cairn_layout::facts`.

mod chunks;
mod heap;
mod native;
mod operations;
mod quasi;
mod stack;

use cairn_layout::facts::FrameKind;
pub(crate) use operations::{Push, Strategy};

/// The lowering of a strategy.
pub(crate) fn lowering(kind: FrameKind) -> &'static dyn Strategy {
    match kind {
        FrameKind::Chunks => &chunks::StackFrames,
        FrameKind::Heap => &heap::HeapFrames,
        FrameKind::Native => &native::NativeFrames,
        FrameKind::Quasi => &quasi::QuasiFrames,
        FrameKind::Stack | FrameKind::Resize => &stack::WholeStack,
    }
}
