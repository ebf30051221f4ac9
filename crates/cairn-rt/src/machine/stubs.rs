//! The cold stub: how compiled code makes rarely executed runtime calls.
//!
//! The problem: a C call in a hot function costs a stack adjustment on its fast path and forces values out of
//! registers. The idea: compiled code calls this stub from inline assembly which declares that nothing but the results
//! changes, so the compiler treats the call like an instruction. The stub pays instead: it saves every register, those
//! of the caller in C's convention too: at a safepoint the call may return a second time, when other code has run
//! ([`return_again`]).
//!
//! Protocol: `r12` context, `r13` sp, `r14` lo, `r15` hi; `eax` byte offset in `Machine` of the function pointer;
//! arguments in `rsi, rdx, rcx, r8, r9` (the C positions after the context). Result in `rax`; `r14` and `r15` are
//! reloaded.
//!
//! [`slow_stub`] is for calls behind an operation's fast path; it saves compiled code the tests for failure and for a
//! collection that is due.
//!
//! The other two stubs are how a run begins and how it can be ended from inside: [`enter`] notes the native stack
//! pointer in `Machine::host_sp`, [`leave`] goes back there.

use cairn_layout::Value;
use cairn_layout::calls::by_symbol;
use cairn_layout::code::SlowCall;
use cairn_layout::machine::Machine;
use std::mem::offset_of;

/// Instructions that save the general registers which `preserve_none` code may use, below a frame of `rbp`.
macro_rules! push_registers {
    () => {
        concat!(
            "push rbp\n",
            "mov rbp, rsp\n",
            "push rcx\n",
            "push rdx\n",
            "push rsi\n",
            "push rdi\n",
            "push r8\n",
            "push r9\n",
            "push r10\n",
            "push r11\n",
            "push rbx\n",
            "push r13\n",
        )
    };
}

/// Instructions that save the vector registers where `rsp` points.
macro_rules! save_vectors {
    () => {
        concat!(
            "movaps [rsp], xmm0\n",
            "movaps [rsp + 16], xmm1\n",
            "movaps [rsp + 32], xmm2\n",
            "movaps [rsp + 48], xmm3\n",
            "movaps [rsp + 64], xmm4\n",
            "movaps [rsp + 80], xmm5\n",
            "movaps [rsp + 96], xmm6\n",
            "movaps [rsp + 112], xmm7\n",
            "movaps [rsp + 128], xmm8\n",
            "movaps [rsp + 144], xmm9\n",
            "movaps [rsp + 160], xmm10\n",
            "movaps [rsp + 176], xmm11\n",
            "movaps [rsp + 192], xmm12\n",
            "movaps [rsp + 208], xmm13\n",
            "movaps [rsp + 224], xmm14\n",
            "movaps [rsp + 240], xmm15\n",
        )
    };
}

/// Instructions that undo both, and return.
macro_rules! restore_and_return {
    () => {
        concat!(
            "movaps xmm0, [rsp]\n",
            "movaps xmm1, [rsp + 16]\n",
            "movaps xmm2, [rsp + 32]\n",
            "movaps xmm3, [rsp + 48]\n",
            "movaps xmm4, [rsp + 64]\n",
            "movaps xmm5, [rsp + 80]\n",
            "movaps xmm6, [rsp + 96]\n",
            "movaps xmm7, [rsp + 112]\n",
            "movaps xmm8, [rsp + 128]\n",
            "movaps xmm9, [rsp + 144]\n",
            "movaps xmm10, [rsp + 160]\n",
            "movaps xmm11, [rsp + 176]\n",
            "movaps xmm12, [rsp + 192]\n",
            "movaps xmm13, [rsp + 208]\n",
            "movaps xmm14, [rsp + 224]\n",
            "movaps xmm15, [rsp + 240]\n",
            "lea rsp, [rbp - 80]\n",
            "pop r13\n",
            "pop rbx\n",
            "pop r11\n",
            "pop r10\n",
            "pop r9\n",
            "pop r8\n",
            "pop rdi\n",
            "pop rsi\n",
            "pop rdx\n",
            "pop rcx\n",
            "pop rbp\n",
            "ret\n",
        )
    };
}

pub(super) use {push_registers, restore_and_return, save_vectors};

/// See the module's header. Its address goes to `Machine::cold_stub`.
///
/// # Safety
/// Called by compiled code only, with the registers of the protocol above.
#[unsafe(naked)]
pub unsafe extern "C" fn cold_stub() {
    std::arch::naked_asm!(
        push_registers!(),
        "sub rsp, 272",
        "and rsp, -16",
        "mov [rsp + 256], rbp",
        save_vectors!(),
        "mov [r12 + {sp}], r13",
        "mov [r12 + {lo}], r14",
        "mov [r12 + {hi}], r15",
        "mov rdi, r12",
        "mov eax, eax",
        "mov [r12 + {native_sp}], rsp",
        "call [r12 + rax]",
        "mov r14, [r12 + {lo}]",
        "mov r15, [r12 + {hi}]",
        restore_and_return!(),
        sp = const offset_of!(Machine, thread.sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        native_sp = const offset_of!(Machine, native_sp),
    )
}

/// The stub behind `Machine::slow_stub`: like [`cold_stub`], but `rax` is the address of a [`SlowCall`], and the call
/// may fail or be followed by a collection. `r13` is reloaded, too.
///
/// # Safety
/// Called by compiled code only, with the registers of the protocol above; the descriptor tells the truth about the
/// function that calls.
#[unsafe(naked)]
pub unsafe extern "C" fn slow_stub() {
    std::arch::naked_asm!(
        push_registers!(),
        "sub rsp, 288",
        "and rsp, -16",
        "mov [rsp + 256], rbp",
        "mov [rsp + 264], rax", // the descriptor
        save_vectors!(),
        "mov [r12 + {sp}], r13",
        "mov [r12 + {lo}], r14",
        "mov [r12 + {hi}], r15",
        "mov rdi, r12",
        "mov rax, [rax + {call}]",
        "mov [r12 + {native_sp}], rsp",
        "call [r12 + rax]",
        "mov r14, [r12 + {lo}]",
        "mov r15, [r12 + {hi}]",
        "mov rdi, [rsp + 264]",
        "cmp rax, {fail}",
        "je 3f",
        "cmp qword ptr [rdi + {poll}], {no_poll}",
        "je 2f",
        "mov rcx, r15",
        "sub rcx, r14",
        "mov rsi, [rdi + {room}]",
        "lea rdx, [rsi + {spare}]",
        "cmp rcx, rdx",
        "jae 2f",
        // the result and `sp` become two more spilled values
        "mov rcx, [r12 + {spilled}]",
        "mov [r12 + rcx * 8 + {spill}], rax",
        "mov [r12 + rcx * 8 + {spill} + 8], r13",
        "mov [rsp + 272], rcx",
        "add rcx, 2",
        "mov [r12 + {spilled}], rcx",
        "mov rdi, r12",
        "shl rsi, 3", // a fixnum
        "call [r12 + {collect}]",
        // nothing but `rsp` and `r12` is sure to hold what it did
        "mov r14, [r12 + {lo}]",
        "mov r15, [r12 + {hi}]",
        "mov rdi, [rsp + 264]",
        "mov rcx, [rsp + 272]",
        "mov rbp, [rsp + 256]",
        "cmp qword ptr [rdi + {poll}], {frame_value}",
        "cmove rax, [r12 + rcx * 8 + {spill} + 8]",
        "mov [rbp - 80], rax",
        "mov rax, [r12 + rcx * 8 + {spill}]",
        "2:",
        restore_and_return!(),
        // failed: the function's native frame is dropped
        "3:",
        "mov r13, [rbp - 80]",
        "mov rsp, [r12 + {entry_sp}]",
        "jmp [rdi + {failed}]",
        sp = const offset_of!(Machine, thread.sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        native_sp = const offset_of!(Machine, native_sp),
        entry_sp = const offset_of!(Machine, entry_sp),
        spilled = const offset_of!(Machine, spilled),
        spill = const offset_of!(Machine, spill),
        call = const offset_of!(SlowCall, call),
        failed = const offset_of!(SlowCall, failed),
        poll = const offset_of!(SlowCall, poll),
        no_poll = const SlowCall::NO_POLL,
        frame_value = const SlowCall::POLL_FRAME_VALUE,
        room = const offset_of!(SlowCall, room),
        spare = const SlowCall::SPARE,
        collect = const offset_of!(Machine, calls) + 8 * by_symbol("cairn_machine_collect").0 as usize,
        fail = const Value::FAIL.0,
    )
}

/// Puts `bytes` bytes back where they were on the native stack, right below [`enter`]'s; the first of them is the
/// return address of a runtime call made through the cold stub. That call returns `result`.
///
/// # Safety
/// The bytes were copied from there, under an `enter` of the same `host_sp`; they are not on the native stack.
#[unsafe(naked)]
pub unsafe extern "C" fn return_again(ctx: &mut Machine, from: *const u8, bytes: usize, result: u64) -> ! {
    std::arch::naked_asm!(
        "mov r12, rdi",
        "mov rax, rcx",
        "mov rdi, [r12 + {host_sp}]",
        "sub rdi, rdx",
        "mov rsp, rdi",
        "mov rcx, rdx",
        "rep movsb",
        "mov rbp, [rsp + 8 + 256]", // the stub's
        "ret",
        host_sp = const offset_of!(Machine, host_sp),
    )
}

/// Runs `code(ctx, closure)`, a module's `enter`. The result is -1, or what [`leave`] was given meanwhile.
///
/// # Safety
/// `code` is the `enter` of a loaded module, the machine is ready for it.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(ctx: *mut Machine, closure: Value, code: *const u8) -> i64 {
    std::arch::naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push [rdi + {entry_sp}]", // an outer entry's
        "push [rdi + {host_sp}]",
        "sub rsp, 8", // the stack is aligned
        "mov rbx, rdi",
        "mov [rdi + {host_sp}], rsp",
        "call rdx",
        "mov rax, -1",
        "add rsp, 8",
        "pop [rbx + {host_sp}]",
        "pop [rbx + {entry_sp}]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        host_sp = const offset_of!(Machine, host_sp),
        entry_sp = const offset_of!(Machine, entry_sp),
    )
}

/// Makes the [`enter`] under way return `result`.
///
/// # Safety
/// There is one, further up this stack. The frames between need not be unwound.
#[unsafe(naked)]
pub unsafe extern "C" fn leave(ctx: &mut Machine, result: i64) -> ! {
    std::arch::naked_asm!(
        "mov rax, rsi",
        "mov rsp, [rdi + {host_sp}]",
        "add rsp, 8",
        "pop [rdi + {host_sp}]",
        "pop [rdi + {entry_sp}]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        host_sp = const offset_of!(Machine, host_sp),
        entry_sp = const offset_of!(Machine, entry_sp),
    )
}
