//! The stubs of programs with native frames: the native stack of compiled code is the program's own, in a region that
//! grows (`frames::stack_region`), and whatever the runtime does is done on the stack of the host.
//!
//! | stub | called or entered by | what |
//! |---|---|---|
//! | [`call`] | `call` | a function of the runtime |
//! | [`call_c`] | `call` | a C function of the program |
//! | [`cold`] | `call` | like [`super::stubs::cold_stub`] |
//! | [`slow`] | `call` | like [`super::stubs::slow_stub`] |
//! | [`go`] | a jump | drops all frames for those of a continuation |
//! | [`return_many`] | a jump | returns several values |
//! | [`halt`], [`underflow`], [`resume`] | `ret` | return points that no call has |
//!
//! The runtime finds the words of a frame's descriptor, and the frame's size, from the return address: there are two
//! instructions that do nothing (`cairn-llvm/src/activations/joined.rs`). Return points without a call begin with the
//! same bytes; the macro `return_point` makes them.
//!
//! A stub that may come to a safepoint leaves a *saved block* on the program's stack, where `Machine::native_sp`
//! points:
//!
//! ```text
//!   native_sp ▶ │ xmm0 … xmm15 │ where rbp's frame is │ descriptor │ spilled │ where to go on │ registers, rbp │ return │
//!               0              256                    264          272       280
//! ```
//!
//! `resume` finds it there and goes on at the address in it.

use super::stubs::{push_registers, restore_and_return, save_vectors};
use cairn_layout::Value;
use cairn_layout::calls::by_symbol;
use cairn_layout::code::{SlowCall, flags};
use cairn_layout::machine::Machine;
use std::mem::offset_of;

/// Bytes at the start of [`resume`]'s frames before the saved block: the return address, the frame's size in bytes, a
/// record.
pub const RESUME_HEAD: u64 = 24;

/// Offset of a runtime call's function pointer.
const fn runtime_call(symbol: &str) -> usize {
    offset_of!(Machine, calls) + 8 * by_symbol(symbol).0 as usize
}

/// Instructions that save all registers but `rax`, `r12`, `r14` and `r15`, and go to the host's stack.
macro_rules! save {
    () => {
        concat!(
            push_registers!(),
            "sub rsp, 288\n",
            "and rsp, -16\n",
            save_vectors!(),
            "mov [rsp + 256], rbp\n",
            "mov [r12 + {sp}], r13\n",
            "mov [r12 + {lo}], r14\n",
            "mov [r12 + {hi}], r15\n",
            "mov [r12 + {native_sp}], rsp\n",
            "mov rbx, rsp\n",
            "mov rsp, [r12 + {host_sp}]\n",
            "sub rsp, 16\n",
        )
    };
}

/// Undoes that, with the saved block at `rbx`, and returns.
macro_rules! restore {
    () => {
        concat!(
            "mov r14, [r12 + {lo}]\n",
            "mov r15, [r12 + {hi}]\n",
            "mov rsp, rbx\n",
            "mov rbp, [rsp + 256]\n",
            restore_and_return!(),
        )
    };
}

/// The first bytes of a return point that no call has; `$size` are those between its frame's return address and the
/// next one. What returns one value enters here, what returns several behind, if `several` says so in the descriptor.
macro_rules! return_point {
    ($size:literal) => {
        concat!(
            ".byte 0x0f, 0x1f, 0x84, 0x24\n.long ",
            $size,
            "\n.byte 0x0f, 0x1f, 0x05\n.long 9f - . - 4\n",
            "mov edi, 1\n",
        )
    };
}

/// The descriptor of such a return point, after its code.
macro_rules! descriptor {
    () => {
        ".p2align 3\n.quad 0, {site}, {several}, 0, 0, {shape}\n9:\n"
    };
}

/// See `NativeStubs::call`.
///
/// # Safety
/// Called by compiled code only.
#[unsafe(naked)]
pub unsafe extern "C" fn call() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov rsp, [r12 + {host_sp}]",
        "sub rsp, 16",
        "mov rdi, r12",
        "call rax",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        host_sp = const offset_of!(Machine, host_sp),
    )
}

/// See `NativeStubs::call_c`. The function may take a variable number of arguments, up to eight of them floating point.
///
/// # Safety
/// Called by compiled code only.
#[unsafe(naked)]
pub unsafe extern "C" fn call_c() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov rsp, [r12 + {host_sp}]",
        "sub rsp, 16",
        "mov eax, 8",
        "call r11",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        host_sp = const offset_of!(Machine, host_sp),
    )
}

/// The cold stub.
///
/// # Safety
/// Called by compiled code with native frames only, with the registers of the protocol of [`super::stubs`].
#[unsafe(naked)]
pub unsafe extern "C" fn cold() {
    std::arch::naked_asm!(
        save!(),
        "lea rdi, [rip + 2f]",
        "mov [rbx + 280], rdi",
        "mov rdi, r12",
        "mov eax, eax",
        "call [r12 + rax]",
        "2:",
        restore!(),
        sp = const offset_of!(Machine, thread.sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        native_sp = const offset_of!(Machine, native_sp),
        host_sp = const offset_of!(Machine, host_sp),
    )
}

/// The slow stub.
///
/// # Safety
/// Called by compiled code with native frames only, with the registers of the protocol of [`super::stubs`]; the
/// descriptor tells the truth about the function that calls.
#[unsafe(naked)]
pub unsafe extern "C" fn slow() {
    std::arch::naked_asm!(
        save!(),
        "mov [rbx + 264], rax", // the descriptor
        "mov rdi, r12",
        "mov rax, [rax + {call}]",
        "call [r12 + rax]",
        "mov rdi, [rbx + 264]",
        "cmp rax, {fail}",
        "je 4f",
        "cmp qword ptr [rdi + {poll}], {no_poll}",
        "je 3f",
        "mov rcx, [r12 + {hi}]",
        "sub rcx, [r12 + {lo}]",
        "mov rsi, [rdi + {room}]",
        "lea rdx, [rsi + {spare}]",
        "cmp rcx, rdx",
        "jae 3f",
        // the result is the one word of the spill area
        "mov [r12 + {spill}], rax",
        "mov qword ptr [r12 + {spilled}], 1",
        "lea rdi, [rip + 2f]",
        "mov [rbx + 280], rdi",
        "mov rdi, r12",
        "shl rsi, 3", // a fixnum
        "call [r12 + {collect}]",
        "2:",
        "mov rax, [r12 + {spill}]",
        "3:",
        restore!(),
        // failed: the function's frame is dropped
        "4:",
        "mov r14, [r12 + {lo}]",
        "mov r15, [r12 + {hi}]",
        "mov rsp, [r12 + {sp}]",
        "jmp [rdi + {failed}]",
        sp = const offset_of!(Machine, thread.sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        native_sp = const offset_of!(Machine, native_sp),
        host_sp = const offset_of!(Machine, host_sp),
        spilled = const offset_of!(Machine, spilled),
        spill = const offset_of!(Machine, spill),
        call = const offset_of!(SlowCall, call),
        failed = const offset_of!(SlowCall, failed),
        poll = const offset_of!(SlowCall, poll),
        no_poll = const SlowCall::NO_POLL,
        room = const offset_of!(SlowCall, room),
        spare = const SlowCall::SPARE,
        collect = const runtime_call("cairn_machine_collect"),
        fail = const Value::FAIL.0,
    )
}

/// See `NativeStubs::go`: `r13` is the continuation; all other registers are passed on.
///
/// # Safety
/// Entered by compiled code only.
#[unsafe(naked)]
pub unsafe extern "C" fn go() {
    std::arch::naked_asm!(
        "mov rsp, [r12 + {host_sp}]",
        "sub rsp, 16",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r11",
        "push r11",
        "mov [r12 + {lo}], r14",
        "mov [r12 + {hi}], r15",
        "mov rdi, r12",
        "mov rsi, r13",
        "call [r12 + {reinstate}]",
        "pop r11",
        "pop r11",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "mov rsp, [r12 + {sp}]",
        "jmp [r12 + {again}]",
        host_sp = const offset_of!(Machine, host_sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        sp = const offset_of!(Machine, thread.sp),
        again = const offset_of!(Machine, again),
        reinstate = const runtime_call("cairn_machine_reinstate"),
    )
}

/// See `NativeStubs::return_many`: `rdi` values, in argument registers and the argument area. Who wants one gets the
/// first.
///
/// # Safety
/// Entered by compiled code only.
#[unsafe(naked)]
pub unsafe extern "C" fn return_many() {
    std::arch::naked_asm!(
        "mov rax, [rsp]",
        "movsxd r10, dword ptr [rax + 11]",
        "cmp qword ptr [rax + r10 + {several}], 0",
        "jne 2f",
        "test rdi, rdi",
        "jne 3f",
        "mov rdx, {unspecified}",
        "3:",
        "ret",
        "2:",
        "add qword ptr [rsp], 20",
        "ret",
        several = const 15 + cairn_layout::code::MV_ENTRY,
        unspecified = const Value::UNSPECIFIED.0,
    )
}

/// The return point of the outermost frame: back to [`super::stubs::enter`].
///
/// # Safety
/// Entered by returns only.
#[unsafe(naked)]
pub unsafe extern "C" fn halt() {
    std::arch::naked_asm!(
        return_point!("8"),
        "lea rax, [rsp - 8]",
        "mov [r12 + {sp}], rax",
        "mov [r12 + {lo}], r14",
        "mov [r12 + {hi}], r15",
        "mov [r12 + {result}], rdx",
        "mov rbx, r12",
        "mov rsp, [r12 + {host_sp}]",
        "sub rsp, 8",
        "ret",
        descriptor!(),
        sp = const offset_of!(Machine, thread.sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        result = const offset_of!(Machine, result),
        host_sp = const offset_of!(Machine, host_sp),
        site = const cairn_layout::code::Site::NONE.0,
        several = const 0,
        shape = const 2 | flags::RETURN | flags::LIBRARY | flags::HALT,
    )
}

/// The return point at the end of the frames that are in place: brings those below back, and returns to them.
///
/// # Safety
/// Entered by returns only.
#[unsafe(naked)]
pub unsafe extern "C" fn underflow() {
    std::arch::naked_asm!(
        return_point!("0"),
        "lea rax, [rsp - 8]",
        "mov [r12 + {sp}], rax",
        "mov rsp, [r12 + {host_sp}]",
        "sub rsp, 16",
        "push rdi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r11",
        "mov [r12 + {lo}], r14",
        "mov [r12 + {hi}], r15",
        "mov rdi, r12",
        "call [r12 + {underflow}]",
        "pop r11",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rdi",
        "mov rsp, [r12 + {sp}]",
        "cmp rdi, 1",
        "jne {return_many}",
        "ret",
        descriptor!(),
        sp = const offset_of!(Machine, thread.sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        host_sp = const offset_of!(Machine, host_sp),
        underflow = const runtime_call("cairn_machine_underflow"),
        return_many = sym return_many,
        site = const cairn_layout::code::Site::NONE.0,
        several = const 1,
        shape = const 1 | flags::RETURN | flags::LIBRARY | flags::UNDERFLOW,
    )
}

/// The return point of a frame that [`super::suspend`] has made: the runtime call of the saved block returns. What was
/// returned is dropped.
///
/// # Safety
/// Entered by returns only.
#[unsafe(naked)]
pub unsafe extern "C" fn resume() {
    std::arch::naked_asm!(
        return_point!("0"),
        "mov rsi, [rsp + 8]",
        "lea rbx, [rsp + 16]",
        "mov [r12 + {native_sp}], rbx",
        "mov [r12 + {lo}], r14",
        "mov [r12 + {hi}], r15",
        "mov rsp, [r12 + {host_sp}]",
        "sub rsp, 16",
        // the saved block's own; below the program's frames, it is found by where it is
        "mov rax, [rbx - 16]",
        "lea rax, [rbx + rax - {head}]",
        "mov [r12 + {sp}], rax",
        "mov rdi, r12",
        "call [r12 + {resume}]",
        "jmp [rbx + 280]",
        descriptor!(),
        sp = const offset_of!(Machine, thread.sp),
        lo = const offset_of!(Machine, cursors.lo),
        hi = const offset_of!(Machine, cursors.hi),
        native_sp = const offset_of!(Machine, native_sp),
        host_sp = const offset_of!(Machine, host_sp),
        head = const RESUME_HEAD,
        resume = const runtime_call("cairn_machine_resume"),
        site = const cairn_layout::code::Site::NONE.0,
        several = const 0,
        shape = const 1 | flags::RETURN | flags::LIBRARY,
    )
}
