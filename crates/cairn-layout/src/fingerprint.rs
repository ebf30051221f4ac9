//! Which compiler a runtime library belongs to.
//!
//! The problem: an executable is linked with the runtime library that lies beside `cairn`, and one of another build
//! (half installed, or being made anew) has other runtime calls at the same places: the program would compute
//! something else. The idea: a number that is made of what they must agree on is in the name of a symbol of the
//! runtime, which the linker must find.

use crate::calls::RT_CALLS;
use crate::machine::Machine;

/// How the symbol's name begins; the number in decimal digits follows.
pub const SYMBOL: &str = "cairn_runtime_";

/// The number: FNV-1a of the table of runtime calls and the size of the machine context.
pub const FINGERPRINT: u64 = {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut row = 0;
    while row < RT_CALLS.len() {
        let call = &RT_CALLS[row];
        let (symbol, mut i) = (call.symbol.as_bytes(), 0);
        while i < symbol.len() {
            hash = with_byte(hash, symbol[i]);
            i += 1;
        }
        hash = with_byte(hash, call.arity as u8);
        hash = with_byte(hash, call.flags);
        row += 1;
    }
    let (mut size, mut i) = (size_of::<Machine>(), 0);
    while i < 8 {
        hash = with_byte(hash, size as u8);
        size >>= 8;
        i += 1;
    }
    hash
};

const fn with_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3)
}
