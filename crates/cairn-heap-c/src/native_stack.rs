//! The native stack as a range of words, registers included.
//!
//! What a function that was called must preserve is still in registers, or was saved by one of the functions between;
//! everything else its callers have on the stack. So these registers are stored, and what lies between them and the
//! base is shown.

/// The registers that a callee preserves (System V ABI, x86-64): rbx, rbp, r12 to r15.
#[cfg(target_arch = "x86_64")]
const PRESERVED: usize = 6;

/// Calls `show` with the words from the innermost on to `base`, registers first.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub fn with_words(base: *const u64, show: &mut dyn FnMut(*const u64, usize)) {
    let mut registers = [0u64; PRESERVED];
    // SAFETY: six registers are stored into `registers`, an array of six words; nothing else changes.
    unsafe {
        std::arch::asm!(
            "mov [{r}], rbx",
            "mov [{r} + 8], rbp",
            "mov [{r} + 16], r12",
            "mov [{r} + 24], r13",
            "mov [{r} + 32], r14",
            "mov [{r} + 40], r15",
            r = in(reg) registers.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
    show(registers.as_ptr(), PRESERVED);
    // The array lies in this frame, below all frames of the program.
    let from = registers.as_ptr();
    if from < base {
        // SAFETY: `from` is in this frame, and `base` in one further up on this thread's stack, which is one range of
        // memory.
        show(from, unsafe { base.offset_from(from) } as usize);
    }
    std::hint::black_box(&registers);
}

#[cfg(not(target_arch = "x86_64"))]
compile_error!("which registers a callee preserves is known for x86-64 only");
