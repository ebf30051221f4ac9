//! What the machine keeps besides its context: plain data, one part for each strategy that needs it.

use super::audit::Auditor;
use super::frames::quasi_blocks::Quasi;
use super::frames::sealed_frames::Found;
use super::frames::stack_region::StackRegion;
use crate::start_options::{StackChunks, Zeal};
use cairn_heap::RootVisitor;
use cairn_layout::facts::FrameKind;
use cairn_layout::limits::RED_ZONE;
use cairn_layout::module::builtin;

/// Size of a chunk in bytes.
pub const CHUNK_BYTES: u64 = 32 * 1024;

/// How chunks are used.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// The usual size of a chunk in bytes.
    pub bytes: u64,
    /// Most room that a fresh chunk offers beyond what is asked for and the red zone.
    pub room_max: u64,
}

impl Geometry {
    /// What programs run with.
    pub const USUAL: Geometry = Geometry { bytes: CHUNK_BYTES, room_max: CHUNK_BYTES };
    /// A few small frames in each chunk: under zeal.
    pub const TINY: Geometry = Geometry { bytes: 2 * RED_ZONE, room_max: 256 };
}

impl Default for Geometry {
    fn default() -> Geometry {
        Geometry::USUAL
    }
}

/// State of the strategy `chunks`.
#[derive(Default)]
pub struct Chunks {
    /// Bounds of the current chunk.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// A chunk of the usual size kept for the next overflow: start and end.
    pub spare: Option<(u64, u64)>,
    /// Chunks left since the last collection that may not be freed by hand.
    pub left: Vec<(u64, u64)>,
    /// Minor collections look at all frames of the thread, as if there were no dirty marks.
    pub all_dirty: bool,
    /// In that case: the spans of the frames below the current segment, from before a collection until it looks.
    pub below: Vec<(u64, u64)>,
    /// How chunks are used.
    pub geometry: Geometry,
    /// What the last collection of everything has found.
    pub found: Found,
}

/// State of the strategy `stack`.
#[derive(Default)]
pub struct Stack {
    /// Where the frames are.
    pub region: Option<StackRegion>,
    /// Addresses of the underflow frames among them, the oldest first.
    pub marks: Vec<u64>,
    /// Frames from this address on have been visited by a collection, and not been changed since.
    pub visited: u64,
}

/// What the machine keeps besides its context.
pub struct State {
    /// The loaded program's way of keeping frames.
    pub kind: FrameKind,
    /// Code address of the underflow return point.
    pub underflow: u64,
    /// Code address of the outermost return point.
    pub halt: u64,
    /// Code address of the return point that goes back to a safepoint.
    pub resume: u64,
    /// A safepoint's part of the native stack, on its way back.
    pub native_stack: Vec<u8>,
    /// Code address of continuation objects.
    pub continuation: u64,
    /// Return address of the frame where the frames of a prompt end, or 0.
    pub prompt_base: u64,
    /// Code addresses of the prelude's procedures.
    pub builtins: [u64; builtin::COUNT],
    /// Stack chunks (`chunks`).
    pub chunks: Chunks,
    /// The contiguous stack (`stack`).
    pub stack: Stack,
    /// The blocks of a quasi-stack (`quasi`).
    pub quasi: Quasi,
    /// Words of the thread's frames that collections of young objects have looked at.
    pub young_words: u64,
    /// Words of frames of continuations that they have looked at: each once, when it is promoted.
    pub promoted_words: u64,
    /// Words of frames that collections of everything have looked at.
    pub full_words: u64,
    /// Reads frames for the heap's checker, under zeal.
    pub auditor: Auditor,
}

impl State {
    /// Of a machine without frames. Zeal has as many overflows as can be.
    pub fn new(zeal: Zeal, chunks: StackChunks) -> State {
        let bytes = chunks.bytes.unwrap_or(CHUNK_BYTES);
        let geometry = if zeal == Zeal::Off { Geometry { bytes, room_max: bytes } } else { Geometry::TINY };
        State {
            kind: FrameKind::Chunks,
            underflow: 0,
            halt: 0,
            resume: 0,
            native_stack: Vec::new(),
            continuation: 0,
            prompt_base: 0,
            builtins: [0; builtin::COUNT],
            chunks: Chunks { geometry, all_dirty: chunks.all_dirty, ..Chunks::default() },
            stack: Stack::default(),
            quasi: Quasi::default(),
            young_words: 0,
            promoted_words: 0,
            full_words: 0,
            auditor: Auditor::default(),
        }
    }

    /// A collection looks at so many words of the thread's frames.
    pub fn looks_at<V: RootVisitor>(&mut self, words: u64) {
        *(if V::YOUNG_ONLY { &mut self.young_words } else { &mut self.full_words }) += words;
    }

    /// A collection looks at so many words of the frames of a continuation.
    pub fn looks_at_continuation<V: RootVisitor>(&mut self, words: u64) {
        *(if V::YOUNG_ONLY { &mut self.promoted_words } else { &mut self.full_words }) += words;
    }
}
