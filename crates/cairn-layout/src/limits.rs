//! Limits: how much of anything compiled code and the runtime may hand each other.
//!
//! The problem: registers, areas and fields of descriptors have a size; code that trusts a size which the other side
//! does not keep corrupts memory. The idea: every such size is here and nowhere else, and the assertions at the end tie
//! those that depend on each other. What a program may write has no limit: the frame pass brings what is wider than a
//! limit into list form, or packs variables into vectors (`cairn-frame/src/wide`), the Frame IR's verifier holds every
//! function against the limits, and the emitter refuses what would not fit.
//!
//! | area | where | words | used for |
//! |---|---|---|---|
//! | argument area | `Machine::args` | [`ARGS_MIN`], more when it has grown | operands, values beyond the registers |
//! | spill area | `Machine::spill` | [`SPILL_WORDS`] | what lives on across a collection |
//! | reserve of a nursery block | `hi - lo` | [`CHECK_RESERVE`] bytes | a heap check's promise, across runtime calls |
//! | red zone of a chunk | below `stack_limit` | [`RED_ZONE`] bytes | frames that grow in place |
//! | space below the red zone | | [`BELOW_RED_ZONE`] bytes | copying frames in blocks of [`COPY_WORDS`] |

/// Number of arguments or values carried in `a0..a4`.
pub const ARG_REGISTERS: usize = 5;
/// Number of parameters of a known function carried in registers.
pub const KNOWN_REGISTERS: usize = 7;

/// Fewest words the argument area ever has; compiled code stores this many without asking.
pub const ARGS_MIN: usize = 4096;
/// Number of words a slow path can spill for the collector.
pub const SPILL_WORDS: usize = 4096;
/// Words that a slow path spills besides the variables: the result at hand, and `sp` when frames are values.
pub const SPILL_EXTRA: usize = 2;

/// Entries that pay for compiling a lambda, whatever its size: evaluation takes about 50 ns for each operation in it,
/// LLVM about 10 to 30 µs. The evaluator (`lib/cairn/evaluator.sld`) asks for no module without such a lambda.
pub const HOT_ENTRIES: u32 = 200;

/// Stands for the number of entries of what has native code already.
pub const IS_NATIVE: u32 = u32::MAX;

/// Bytes that allocation inside runtime calls always leaves in a nursery block. A heap check of at most this many bytes
/// stays valid across runtime calls.
pub const CHECK_RESERVE: u64 = 4096;

/// Bytes below `Machine::stack_limit` that frames may use without a check: a frame may grow in place up to this size.
pub const RED_ZONE: u64 = 1024;
/// Underflow copies frames in blocks of this many words. It may read, but does not use, words below the lowest frame of
/// a chunk.
pub const COPY_WORDS: u64 = 8;
/// Bytes below the red zone: the chunk's end and low-water mark are recorded there, and copying in blocks may read
/// there.
pub const BELOW_RED_ZONE: u64 = 8 * COPY_WORDS;

/// Most variables that live on across a call or a heap check, or are free in a closure.
pub const LIVE_MAX: usize = 500;
/// Most operands of a call, values of a return, fields of an allocation, and parameters of a function.
pub const OPERANDS_MAX: usize = LIVE_MAX;
/// Most words of a frame: header, and a slot for each live variable.
pub const FRAME_WORDS_MAX: u64 = CHECK_RESERVE / 8;
/// Most header words of a frame, under any strategy.
pub const FRAME_HEADER_MAX: u64 = 2;

/// Largest count of arguments or values in bits 0..16 of an arity word; a larger one stands in bits 32..64.
pub const SHORT_COUNT: u64 = 0xFFFF;
/// Words of a frame whose live map is in its descriptor.
pub const SHORT_MAP_WORDS: u64 = 128;

/// Private frames that cannot be run where they are move in portions of at least this many bytes, and compiled code
/// moves no more than that.
pub const MOVED_BYTES: u64 = 192;

const _: () = {
    assert!(ARG_REGISTERS <= KNOWN_REGISTERS && KNOWN_REGISTERS <= OPERANDS_MAX);
    // the closure and lifted variables may come on top
    assert!(OPERANDS_MAX + KNOWN_REGISTERS < ARGS_MIN);
    assert!(LIVE_MAX + SPILL_EXTRA <= SPILL_WORDS);
    // a frame in the heap, a closure, and an object are covered by one heap check
    assert!(FRAME_HEADER_MAX + LIVE_MAX as u64 <= FRAME_WORDS_MAX);
    assert!(8 * FRAME_WORDS_MAX <= CHECK_RESERVE);
    assert!(crate::object::headed_bytes(OPERANDS_MAX) <= CHECK_RESERVE);
    assert!(crate::object::headed_bytes(LIVE_MAX) <= CHECK_RESERVE);
    assert!(8 * COPY_WORDS <= BELOW_RED_ZONE && RED_ZONE.is_multiple_of(8));
};
