//! Wide code: what exceeds the limits of `cairn_layout::limits` is brought into another form, Core to Core.
//!
//! The problem: operands, parameters, values and live variables travel in areas of fixed size, and a frame or a closure
//! is one allocation under one heap check. Programs have no such limits; above all, programs written by programs. The
//! idea, in two steps, of which ordinary code sees neither:
//!
//! 1. [`lists`]: calls, returns and allocations of very many operands take a list, procedures and receivers of very
//!    many parameters get one, jumps carry packs. Deep nests of operands are taken apart into a chain of bindings, so
//!    that every value in waiting has a name;
//! 2. [`packs`]: where too many variables live, the oldest are put into a *pack*, an immutable object of a few dozen
//!    fields, and read from there. Packs are variables like others, so packs of packs form by themselves: a variable is
//!    reached in a logarithmic number of steps.
//!
//! ```text
//!  (f x1 … x6000)                 (let ((t1 (cons x1 '()))          (lambda (p1 … p6000) b)     (lambda all
//!                                       (t2 (cons x2 t1)) …)                                     (let ((v (list->vector all)))
//!                          ──▶      (apply f (reversed t6000)))                            ──▶    b, with (v i) for pi))
//!
//!  (let* ((x1 e1) … (x6000 e6000)) b)   ──▶   (let* ((x1 e1) … (x240 e240) (p (pack x1 … x64)) …) b, with (p 0) for x1)
//! ```
//!
//! Packs are never changed, so a continuation that is entered again finds what it left. A pack keeps all of its
//! variables as long as one of them is needed: only here is a program less than safe for space, by the width of a pack
//! for each variable.
//!
//! What comes out is Core with one liberty: a `Let` binds in order. It serves closure analysis and translation only.
//!
//! Complexity: linear in the program for the search; for wide forms times the number of variables kept live, a
//! constant.

mod lists;
mod packs;
pub(crate) mod widths;

use cairn_core::ir::Program;
use std::borrow::Cow;
pub use widths::{Listed, WIDTHS, Widths};

/// The program without wide code.
pub fn narrow<'a>(program: &'a Program, always_bound: &[bool], widths: Widths) -> (Cow<'a, Program>, Listed) {
    let wide = widths::scan(program, widths);
    if wide.is_empty() {
        return (Cow::Borrowed(program), Listed::new());
    }
    let (program, listed) = lists::run(program, &wide);
    let wide = widths::scan(&program, widths);
    let program = if wide.is_empty() { program } else { packs::run(&program, always_bound, &wide, &listed) };
    (Cow::Owned(program), listed)
}
