//! One call for all signatures: System V's convention puts integers and addresses into six registers, floating point
//! into eight others, and what is left on the stack, in order; so a call with all of them serves every function whose
//! arguments are scalars. A structure of at most 16 bytes goes into registers as its parts would, all of it or nothing;
//! a larger one goes onto the stack, and as a result into room that the caller gives. Functions of variable
//! arguments want the number of vector registers in `al`, too.

use cairn_layout::c::{CType, FLOAT_REGISTERS, INTEGER_REGISTERS, Shape, spread};
use std::mem::offset_of;

/// The words of a call.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Words {
    /// The first arguments that are no floating point.
    pub integers: [u64; INTEGER_REGISTERS],
    /// The first arguments that are floating point, as bits.
    pub floats: [u64; FLOAT_REGISTERS],
    /// The result, if it is no floating point.
    pub integer: u64,
    /// The result, if it is floating point, as bits.
    pub float: u64,
    /// The second register for results that are no floating point.
    pub second_integer: u64,
    /// The second one for results that are.
    pub second_float: u64,
    /// How many arguments are in `integers`.
    pub integer_count: usize,
    /// How many are in `floats`.
    pub float_count: usize,
    /// All others.
    pub stack: Vec<u64>,
    /// Room for a result that lies in memory.
    room: Vec<u64>,
}

/// What a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// A word of this type, or nothing.
    Word(CType),
    /// A structure.
    Struct(Shape),
}

impl Default for Returns {
    fn default() -> Returns {
        Returns::Word(CType::Void)
    }
}

impl Words {
    /// Adds an argument.
    pub fn push(&mut self, floating: bool, word: u64) {
        let (registers, count) = match floating {
            true => (&mut self.floats[..], &mut self.float_count),
            false => (&mut self.integers[..], &mut self.integer_count),
        };
        match registers.get_mut(*count) {
            Some(register) => {
                *register = word;
                *count += 1;
            }
            None => self.stack.push(word),
        }
    }

    /// Adds a structure, whose bytes with zeros behind them are these words.
    pub fn push_struct(&mut self, shape: Shape, words: &[u64]) {
        if !shape.fits((INTEGER_REGISTERS - self.integer_count, FLOAT_REGISTERS - self.float_count)) {
            self.stack.extend_from_slice(words);
            return;
        }
        shape.parts().iter().zip(words).for_each(|(floating, word)| self.push(*floating, *word));
    }

    /// Adds the structure that lies at an address.
    ///
    /// # Safety
    /// `shape.bytes` bytes can be read at `address`.
    pub unsafe fn push_struct_at(&mut self, shape: Shape, address: u64) {
        let mut copy = vec![0; shape.words()];
        // SAFETY: a structure of `shape.bytes` bytes lies at `address` (`# Safety`), and `copy` has at least as many,
        // in whole words.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, copy.as_mut_ptr().cast(), shape.bytes) };
        self.push_struct(shape, &copy);
    }

    /// Makes room for the result, if it needs some: before any argument is added.
    pub fn make_room(&mut self, returns: Returns) {
        if let Returns::Struct(shape) = returns
            && shape.in_memory
        {
            self.room = vec![0; shape.bytes.div_ceil(8)];
            let room = self.room.as_ptr() as u64;
            self.push(false, room);
        }
    }

    /// The structure that the call has returned.
    pub fn structure(&self, shape: Shape) -> Vec<u8> {
        let [mut integers, mut floats] =
            [[self.integer, self.second_integer], [self.float, self.second_float]].map(|words| words.into_iter());
        let words: Vec<u64> = match shape.in_memory {
            true => self.room.clone(),
            false => {
                let part = |floating: &bool| if *floating { floats.next() } else { integers.next() };
                shape.parts().iter().filter_map(part).collect()
            }
        };
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(shape.bytes);
        bytes
    }

    /// The result of the call.
    pub fn result(&self, floating: bool) -> u64 {
        if floating { self.float } else { self.integer }
    }

    /// Calls the function; the results are in the words.
    ///
    /// # Safety
    /// At `function` is a function of C that takes arguments of the kinds that were pushed, and whose result is such
    /// that the room for it, if there is any, suffices; and what it does with them is sound.
    pub unsafe fn call(&mut self, function: u64) {
        // SAFETY: the function takes these arguments (`# Safety`), and the stub reads as many words of the stack part
        // as it has.
        unsafe { call_with(self, function, self.stack.as_ptr(), self.stack.len()) }
    }
}

/// Calls `function` with what is in the words of a machine, [`spread`], `count` of them on the stack.
///
/// # Safety
/// At `function` is a function of C that takes the arguments in the words, and what it does with them is sound; `count`
/// words from [`spread::STACK`] on, not more than there are, are its arguments on the stack.
pub unsafe fn call_spread(words: &mut [u64; spread::WORDS], function: u64, count: usize) {
    let words = words.as_mut_ptr();
    // SAFETY: the function takes these arguments and `count` is below the room for them (`# Safety`); the beginning is
    // laid out as that of `Words`, of which the stub knows no more.
    unsafe { call_with(words.cast(), function, words.add(spread::STACK), count) }
}

const _: () = assert!(offset_of!(Words, integers) == 8 * spread::INTEGERS);
const _: () = assert!(offset_of!(Words, floats) == 8 * spread::FLOATS);
const _: () = assert!(offset_of!(Words, integer) == 8 * spread::RESULTS);
const _: () = assert!(offset_of!(Words, second_float) == 8 * (spread::RESULTS + 3));

/// Calls `function` with the words, and `count` more on the stack.
///
/// # Safety
/// At `function` is a function of C that takes the arguments in `words`, or in as much of them as [`spread`] has before
/// its stack part, and `count` words at `stack`; what it does with them is sound.
#[unsafe(naked)]
unsafe extern "C" fn call_with(words: *mut Words, function: u64, stack: *const u64, count: usize) {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rbx",
        "push rbx", // for the stack's alignment
        "mov rbx, rdi",
        "mov r11, rsi",
        "lea rax, [rcx + 1]",
        "and rax, -2",
        "shl rax, 3",
        "sub rsp, rax",
        "2:",
        "test rcx, rcx",
        "jz 3f",
        "mov rax, [rdx + 8 * rcx - 8]",
        "mov [rsp + 8 * rcx - 8], rax",
        "dec rcx",
        "jmp 2b",
        "3:",
        "movsd xmm0, [rbx + {floats}]",
        "movsd xmm1, [rbx + {floats} + 8]",
        "movsd xmm2, [rbx + {floats} + 16]",
        "movsd xmm3, [rbx + {floats} + 24]",
        "movsd xmm4, [rbx + {floats} + 32]",
        "movsd xmm5, [rbx + {floats} + 40]",
        "movsd xmm6, [rbx + {floats} + 48]",
        "movsd xmm7, [rbx + {floats} + 56]",
        "mov rdi, [rbx + {integers}]",
        "mov rsi, [rbx + {integers} + 8]",
        "mov rdx, [rbx + {integers} + 16]",
        "mov rcx, [rbx + {integers} + 24]",
        "mov r8, [rbx + {integers} + 32]",
        "mov r9, [rbx + {integers} + 40]",
        "mov eax, 8",
        "call r11",
        "mov [rbx + {integer}], rax",
        "movsd [rbx + {float}], xmm0",
        "mov [rbx + {second_integer}], rdx",
        "movsd [rbx + {second_float}], xmm1",
        "mov rbx, [rbp - 8]",
        "leave",
        "ret",
        integers = const offset_of!(Words, integers),
        floats = const offset_of!(Words, floats),
        integer = const offset_of!(Words, integer),
        float = const offset_of!(Words, float),
        second_integer = const offset_of!(Words, second_integer),
        second_float = const offset_of!(Words, second_float),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_arguments_reach_their_places() {
        #[allow(clippy::too_many_arguments)]
        extern "C" fn sum(
            a: i64,
            x: f64,
            b: i32,
            c: i64,
            d: i64,
            e: i64,
            f: i64,
            g: i64,
            y: f64,
            h: i8,
            z: f32,
            i: u16,
        ) -> f64 {
            let integers = [a, b as i64, c, d, e, f, g, h as i64, i as i64];
            let weighted: i64 = integers.iter().enumerate().map(|(i, n)| (i as i64 + 1) * n).sum();
            weighted as f64 + 1000. * x + 10000. * y + 100000. * z as f64
        }
        let mut words = Words::default();
        let int = |n: i64| (false, n as u64);
        let float = |x: f64| (true, x.to_bits());
        let arguments = [
            int(1),
            float(1.5),
            int(-2),
            int(3),
            int(4),
            int(5),
            int(6),
            int(7),
            float(2.5),
            int(-8),
            (true, 3.5_f32.to_bits() as u64),
            int(9),
        ];
        for (floating, word) in arguments {
            words.push(floating, word);
        }
        assert_eq!(words.stack.len(), 3);
        // SAFETY: `sum` takes twelve integers and doubles, in the order and of the types in which they were pushed.
        unsafe { words.call(sum as *const () as u64) };
        let expected = 1 - 4 + 9 + 16 + 25 + 36 + 49 - 64 + 81;
        assert_eq!(f64::from_bits(words.float), expected as f64 + 1500. + 25000. + 350000.);
    }
}
