//! The operations on frames that each strategy lowers in its way.

use crate::emit::builder::Builder;
use crate::emit::ir_text::Val;
use cairn_core::ir::Shots;
use cairn_frame::ir::Frame;

/// A frame to be made.
pub(crate) struct Push<'a> {
    /// Its shape.
    pub frame: &'a Frame,
    /// What to store: slots that already hold the right value (the frame is reused) are left out.
    pub stores: &'a [(u32, Val)],
    /// Words of the frame that the function finds at `sp`; 0 unless it is a return point.
    pub incoming: u32,
    /// Symbol of the return point.
    pub ret: String,
    /// The return point is the function that pushes.
    pub returns_here: bool,
    /// Where a stack check has found room for it; without one the room is certain.
    pub reserved: Option<Val>,
}

/// What the tables of a module say of frames.
pub(crate) trait Frames: Sync {
    /// Is `sp` a value that the collector moves?
    fn is_value(&self) -> bool {
        false
    }

    /// Word of the live map that stands for a slot: from the end of the frame down.
    fn slot_word(&self, words: u32, slot: u32) -> u32 {
        words - 1 - slot
    }
}

/// Lowering of frame operations. `sp` values are words: what compiled code carries in the `sp` register.
pub(crate) trait Strategy: Frames {
    /// Where a stack check looks for the room of a frame of `words` words more: what `Push::reserved` is then.
    fn place(&self, b: &mut Builder, words: u32) -> Val {
        b.below_sp(words)
    }

    /// An `i1`: is there no room at `place`, or is a stop requested? See `Stmt::StackCheck`.
    fn lacks_room(&self, b: &mut Builder, _words: u32, place: &Val) -> Val {
        b.is_below_guard(place)
    }

    /// Base word and offset of a slot in the frame of `words` words at `sp`.
    fn slot(&self, b: &mut Builder, sp: &Val, words: u32, slot: u32) -> (Val, i64);

    /// `sp` of the caller's frame, given that the function's own frame of `words` words is at the current `sp`.
    fn leave(&self, b: &mut Builder, words: u32) -> Val;

    /// `sp` of the caller's frame, if the number of words of the function's own frame is known at run time only; 0:
    /// there is no own frame.
    fn leave_counted(&self, b: &mut Builder, words: &Val) -> Val;

    /// Makes a frame in place of the incoming one if there is one; returns its `sp`.
    fn push(&self, b: &mut Builder, push: &Push<'_>) -> Val;

    /// The code pointer a return through the frame at `sp` jumps to.
    fn return_code(&self, b: &mut Builder, sp: &Val) -> Val;

    /// What is to be done at the base of a segment, if frames lie in segments.
    fn segments(&self) -> Option<&dyn Segments> {
        None
    }

    /// Makes a continuation object of the frames at `sp`, for so many uses or more; a heap check has covered it. Sets
    /// `sp` and returns the object.
    fn capture(&self, b: &mut Builder, shots: Shots) -> Val;

    /// How many such objects that heap check has to cover.
    fn captured(&self) -> u64 {
        1
    }

    /// Makes continuation `k`, which is not used up, the one that a procedure called next has; returns its `sp`.
    fn enter(&self, b: &mut Builder, k: &Val) -> Val {
        self.reinstate(b, k)
    }

    /// Makes continuation `k` the current one; returns the `sp` of its youngest frame.
    fn reinstate(&self, b: &mut Builder, k: &Val) -> Val;
}

/// Frames in segments, at whose base is a return point of its own.
pub(crate) trait Segments {
    /// Code of that return point: brings back the frame below the segment; returns its `sp`.
    fn underflow(&self, b: &mut Builder) -> Val;
}
