//! Better code for functions that a program is in the middle of.
//!
//! ```text
//!  first                            later, from the same text
//!  f:   nop  (five bytes)    ──▶    f:   jmp f'            f':  …
//!       …                                …                      … the first object's data …
//! ```
//!
//! The problem: code that is there soon is not the best, and the best takes twice the time to make; but the program has
//! called the first by then, frames and closures are full of its addresses. The idea: each function of the first object
//! begins with room for a jump, and the object of the second try has functions only, which use the data of the first. A
//! function with a jump is the new one, for whoever calls it or returns to it: all our calls and returns enter
//! functions at their beginning ([`crate::emit`]). What runs goes on in old code until it calls or returns.
//!
//! Invariants: both objects are of one text, so conventions, frames and data are the same. Jumps are written while no
//! thread is in the code's first five bytes: at a safepoint.

use crate::loader::Jit;
use std::collections::HashMap;

/// What a function begins with whose code may be replaced: an instruction of five bytes that does nothing.
pub const ROOM: [u8; 5] = [0x0F, 0x1F, 0x44, 0, 0];

/// The text of a module with [`ROOM`] in all functions.
pub(crate) fn with_room(ir: &str) -> String {
    let bytes: String = ROOM.iter().map(|b| format!("\\{b:02X}")).collect();
    let prologue = format!(" prologue [{} x i8] c\"{bytes}\" {{", ROOM.len());
    let mut out = String::with_capacity(ir.len() + ir.len() / 32);
    for line in ir.lines() {
        match line.strip_suffix(" {").filter(|l| l.starts_with("define ")) {
            Some(signature) => {
                out.push_str(signature);
                out.push_str(&prologue);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// An object that was made with [`crate::backend::compile_replaceable`], and is loaded.
pub struct Replaceable {
    jit: &'static Jit,
    names: HashMap<String, u64>,
}

/// The object that takes its place.
pub struct Replacement {
    jit: &'static Jit,
    /// Where functions of the first object begin, and those of this one that take their place.
    functions: Vec<(u64, u64)>,
    old: &'static Jit,
}

impl Replaceable {
    /// The object stays loaded.
    pub fn load(object: &[u8]) -> Result<Replaceable, String> {
        let (jit, names) = Jit::load_with_names(object, &HashMap::new())?;
        Ok(Replaceable { jit: Box::leak(Box::new(jit)), names })
    }

    /// The code and the global symbols.
    pub fn jit(&self) -> &'static Jit {
        self.jit
    }

    /// Loads what [`crate::backend::compile_functions`] has made of the same text. It stays, too.
    pub fn replacement(&self, object: &[u8]) -> Result<Replacement, String> {
        let (jit, names) = Jit::load_with_names(object, &self.names)?;
        let (old, new) = (self.jit.code(), jit.code());
        let functions = (self.names.iter())
            .filter_map(|(name, from)| Some((*from, *names.get(name)?)))
            .filter(|(from, to)| old.contains(from) && new.contains(to))
            .collect();
        Ok(Replacement { jit: Box::leak(Box::new(jit)), functions, old: self.jit })
    }
}

impl Replacement {
    /// Where the new code lies.
    pub fn code(&self) -> std::ops::Range<u64> {
        self.jit.code()
    }

    /// Where the old code lies.
    pub fn old_code(&self) -> std::ops::Range<u64> {
        self.old.code()
    }

    /// From now on, whoever enters old code comes to new code.
    ///
    /// # Safety
    /// Nobody runs old code at this moment, or is about to go on within the first five bytes of a function.
    pub unsafe fn install(self) -> Result<(), String> {
        let jump = |from: u64, to: u64| {
            let distance = (to as i64 - (from as i64 + ROOM.len() as i64)) as i32; // both lie in the low 2 GiB
            let mut code = [0xE9, 0, 0, 0, 0];
            code[1..].copy_from_slice(&distance.to_le_bytes());
            code
        };
        let jumps: Vec<(u64, [u8; 5])> =
            self.functions.iter().map(|(from, to)| (*from, jump(*from, *to))).collect();
        // SAFETY: nobody runs old code at this moment, or goes on within the first five bytes of a function (`#
        // Safety`).
        unsafe { self.old.overwrite(&jumps, ROOM) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{OptLevel, compile_functions, compile_replaceable};

    /// `f` adds what the data holds, and calls `g` if there is something to count.
    const TEXT: &str = "target triple = \"x86_64-pc-linux-gnu\"
define i64 @f(i64 %n) align 16 {
  %zero = icmp eq i64 %n, 0
  br i1 %zero, label %end, label %more
end:
  %s = load i64, ptr @data
  ret i64 %s
more:
  %r = call i64 @g(i64 %n)
  ret i64 %r
}
define internal i64 @g(i64 %n) align 16 {
  %old = load i64, ptr @data
  %new = add i64 %old, %n
  store i64 %new, ptr @data
  %m = sub i64 %n, 1
  %r = call i64 @f(i64 %m)
  ret i64 %r
}
@data = internal global i64 1000
";

    #[test]
    fn new_code_goes_on_with_old_data() {
        if crate::available().is_err() {
            return;
        }
        let first = Replaceable::load(&compile_replaceable(TEXT, OptLevel::Low).unwrap()).unwrap();
        let address = first.jit().lookup("f").expect("f");
        // SAFETY: `TEXT` defines `f` as a function of one `i64` that returns one, and `first` keeps its code.
        let f: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(address) };
        assert_eq!(f(3), 1006);
        // another text, to see which one runs
        let other = TEXT.replace("add i64 %old, %n", "add i64 %old, 7");
        let second = first.replacement(&compile_functions(&other, OptLevel::High).unwrap()).unwrap();
        assert_eq!(f(3), 1012, "nothing has happened yet");
        // SAFETY: `f` has returned, and nobody else runs this code.
        unsafe { second.install() }.unwrap();
        assert_eq!(f(3), 1033);
    }
}
