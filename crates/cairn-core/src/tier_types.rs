//! What a program's variables hold, for modules of what is hot in it.
//!
//! ```text
//!  (define (sum v)                              the whole program says: v is a vector, i a fixnum, s a flonum
//!    (let loop ((i 0) (s 0.0))                  hot, and compiled by itself: who enters `loop` is not in the module
//!      (if (< i (vector-length v))
//!          (loop (+ i 1) (+ s (sqrt i)))
//!          s)))
//! ```
//!
//! The problem: a module is entered from evaluated code, so nothing is known of what comes in: arithmetic in it is made
//! for every kind of number, ten times the code, and LLVM's time with it. The idea: the program is closed, and says
//! itself what its variables hold. It is analysed as a whole, without being compiled, and what was found is noted where
//! variables are declared; the types pass of the module looks there.
//!
//! Invariants: a fact holds for every binding of the variable in evaluated code, so evaluated code must be the program
//! that was analysed, all of it. Forms that are typed or loaded have no facts: others may call what they define.
//! Complexity: a few walks over the program.

use crate::copies;
use crate::ir::{Program, TopForm};
use crate::passes;
use crate::walk::size;

/// Larger programs are not analysed: it would take longer than LLVM does for a module.
const LARGEST: usize = 60_000;

/// Notes what the variables of the program hold; `library` is what is known of its imports. Dialect `Fixed`.
pub fn note(program: &mut Program, library: &[TopForm]) {
    let expressions: usize = program.forms.iter().map(|f| size(f.expr())).sum();
    if expressions > LARGEST {
        return;
    }
    let mut whole = program.clone();
    copies::add(&mut whole, library.to_vec());
    let found = passes::what_is_held(&mut whole);
    for (v, held) in found.vars {
        if let Some(info) = program.vars.get_mut(v.0 as usize) {
            info.held = Some(held);
        }
    }
    for (g, held) in found.globals {
        if let Some(info) = program.globals.get_mut(g.0 as usize) {
            info.held = Some(held);
        }
    }
}

#[cfg(test)]
mod tests;
