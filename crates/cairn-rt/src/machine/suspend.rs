//! Leaving a safepoint for other code, and coming back.
//!
//! The problem: a safepoint may lie anywhere in a function. Its tagged variables are in the spill area, but unboxed
//! doubles and what else LLVM keeps are in registers and on the native stack; there is no code address at which the
//! function could be entered again. The idea: every call of compiled code is a jump, so the native stack between
//! `stubs::enter` and a runtime call is the frame of one function and of the cold stub, with all registers in it: some
//! hundred bytes. They are copied to the heap together with the spilled values, and a frame is pushed whose return
//! point, `cairn_resume`, puts everything back and lets the runtime call return.
//!
//! ```text
//!  native stack      host_sp ─▶ │ cairn_enter │ function │ cold stub: all registers │ return address │ ◀─ native_sp - 8
//!                               └──────────────────────────────┬───────────────────────────────────┘
//!  record, a vector             │ bytes │ host_sp │ room needed: heap, stack, kept │ empty? │ spilled values … │
//!  frames            …  frame of the function, if it has one │ cairn_resume: record │ ◀─ sp
//! ```
//!
//! A record is never changed, so a continuation with such a frame may be invoked any number of times. What the native
//! stack holds besides doubles and addresses of code is not used again: compiled code loads its variables from the
//! spill area.
//!
//! Native frames stay where they are, and so does what is below them: the frame that is pushed begins with the saved
//! block of the stub (`native_stubs`), and the record is `room` and the spilled values.
//!
//! Invariant: the bytes go back to where they were, so `host_sp` must be the same. It is, during one run; a
//! continuation of an earlier run at another depth of the host is refused.

use super::collect::{Room, make_room};
use super::{frames, stubs};
use crate::runtime::rt;
use crate::{access, alloc, fatal};
use cairn_layout::Value;
use cairn_layout::machine::Machine;

const HEAD: usize = 6;
const NATIVE_HEAD: usize = 3;

/// Makes a frame that comes back to the safepoint under way when it is returned to.
pub fn suspend(ctx: &mut Machine, room: &Room) {
    if rt(ctx).strategy.kind.facts().is_joined() {
        let mut record = [room.heap, room.stack, room.kept].map(|n| Value::fixnum(n as i64)).to_vec();
        record.extend_from_slice(&ctx.spill[..ctx.spilled as usize]);
        let record = alloc::make_vector(ctx, &record);
        return frames::push(ctx, rt(ctx).strategy.resume, record);
    }
    let bottom = ctx.native_sp - 8;
    // SAFETY: `bottom..host_sp` is the native stack from the runtime call's return address to `stubs::enter`, which is
    // in use as long as this call is under way.
    let bytes = unsafe { std::slice::from_raw_parts(bottom as *const u8, (ctx.host_sp - bottom) as usize) };
    let bytes = alloc::make_bytevector(ctx, bytes);
    let number = |n: u64| Value::fixnum(n as i64);
    let empty = Value::bool(frames::is_empty(ctx));
    let mut record =
        vec![bytes, number(ctx.host_sp), number(room.heap), number(room.stack), number(room.kept), empty];
    record.extend_from_slice(&ctx.spill[..ctx.spilled as usize]);
    let record = alloc::make_vector(ctx, &record);
    frames::push(ctx, rt(ctx).strategy.resume, record);
}

/// Goes back to a safepoint: its runtime call returns.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_resume(ctx: &mut Machine, record: Value) -> Value {
    if rt(ctx).strategy.kind.facts().is_joined() {
        let (head, spilled) = access::words(record).split_at(NATIVE_HEAD);
        let [heap, stack, kept] = [0, 1, 2].map(|i| head[i].as_fixnum() as u64);
        ctx.spill[..spilled.len()].copy_from_slice(spilled);
        ctx.spilled = spilled.len() as u64;
        return make_room(ctx, &Room { heap, stack, kept });
    }
    let (head, spilled) = access::words(record).split_at(HEAD);
    let number = |i: usize| head[i].as_fixnum() as u64;
    if number(1) != ctx.host_sp {
        fatal::say(ctx, "cairn: a computation that was interrupted in an earlier run cannot go on in this one");
        fatal::end(ctx, 1)
    }
    ctx.spill[..spilled.len()].copy_from_slice(spilled);
    ctx.spilled = spilled.len() as u64;
    let room = Room { heap: number(2), stack: number(3), kept: number(4) };
    let bytes = access::byte_slice(head[0]);
    let native_stack = &mut rt(ctx).strategy.native_stack;
    native_stack.clear();
    native_stack.extend_from_slice(bytes);
    // A function without a frame of its own must not use up the continuation below, which may be a one-shot one.
    if head[5] == Value::FALSE {
        frames::settle(ctx);
    }
    let sp = make_room(ctx, &room);
    let native_stack = &rt(ctx).strategy.native_stack;
    // SAFETY: the bytes are those that `suspend` copied from below `host_sp`, which is the same again (see above), so
    // they return to their place; nothing on this stack is needed any more.
    unsafe { stubs::return_again(ctx, native_stack.as_ptr(), native_stack.len(), sp.0) }
}
