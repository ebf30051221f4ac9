//! Enumerating frames.
//!
//! Everything needed is in the descriptor before each return address (`cairn_layout::code`): the frame's size and which of
//! its words are live values. Nothing else of a frame is looked at, so a dead slot may hold anything.

use super::continuation_word;
use crate::runtime::rt;
use cairn_heap::RootVisitor;
use cairn_layout::Value;
use cairn_layout::code::{LIVE_HIGH, LIVE_LOW, SHAPE, flags, shape_words};
use cairn_layout::machine::Machine;
use cairn_layout::object::continuation;

/// Reads the descriptor word at `offset` from a code address.
///
/// # Safety
/// `code` is the address of compiled code with prefix data.
#[inline]
pub unsafe fn descriptor(code: u64, offset: i64) -> u64 {
    // SAFETY: by the contract of this function.
    unsafe { *((code as i64 + offset) as *const u64) }
}

/// Visits the live words of the frames in `sp..base`.
///
/// # Safety
/// `sp..base` is a sequence of whole frames.
pub unsafe fn visit_frames<V: RootVisitor>(sp: u64, base: u64, visitor: &mut V) {
    let mut sp = sp;
    while sp < base {
        // SAFETY: `sp` is the start of a frame: a return address, then the words its live map speaks of.
        unsafe {
            let code = *(sp as *const u64);
            let shape = descriptor(code, SHAPE);
            let words = shape_words(shape);
            if shape & flags::LONG_MAP != 0 {
                let map = descriptor(code, LIVE_HIGH) as *const u64;
                for i in 0..words.div_ceil(64) {
                    visit_bits(*map.add(i as usize), sp + 512 * i, visitor);
                }
            } else {
                visit_bits(descriptor(code, LIVE_LOW), sp, visitor);
                if words > 64 {
                    visit_bits(descriptor(code, LIVE_HIGH), sp + 512, visitor);
                }
            }
            sp += 8 * words;
        }
    }
}

#[inline]
unsafe fn visit_bits<V: RootVisitor>(mut bits: u64, start: u64, visitor: &mut V) {
    while bits != 0 {
        let i = bits.trailing_zeros() as u64;
        bits &= bits - 1;
        // SAFETY: the caller's live map says that this word is a value.
        unsafe { visitor.slot((start + 8 * i) as *mut u64) };
    }
}

/// Calls `f` with the return address of each frame, youngest first, until it returns false. `Machine::sp` must be current.
pub fn walk_frames(ctx: &Machine, f: &mut dyn FnMut(u64) -> bool) {
    let state = &rt(ctx).strategy;
    if state.facts.frames_in_heap {
        let mut frame = Value(ctx.thread.sp);
        while frame.is_procedure() {
            // SAFETY: a heap frame is a return address and the frame below it.
            let (code, parent) =
                unsafe { (*(frame.address() as *const u64), *((frame.address() + 8) as *const u64)) };
            if code == state.halt || !f(code) {
                return;
            }
            frame = Value(parent);
        }
        return;
    }
    let (mut sp, mut base) = (ctx.thread.sp, ctx.thread.base);
    let (mut under, mut under_sp) = (ctx.thread.under, ctx.thread.under_sp);
    loop {
        while sp < base {
            // SAFETY: whole frames lie between `sp` and `base`.
            let (code, words) = unsafe {
                let code = *(sp as *const u64);
                (code, shape_words(descriptor(code, SHAPE)))
            };
            if code == state.halt || !f(code) {
                return;
            }
            sp += 8 * words;
        }
        if under == Value::FALSE {
            return;
        }
        sp = if under_sp == 0 { continuation_word(under, continuation::SP) } else { under_sp };
        base = continuation_word(under, continuation::BASE);
        under = Value(continuation_word(under, continuation::NEXT));
        under_sp = 0;
    }
}
