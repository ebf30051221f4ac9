//! The optimizer: passes over Core and the order they run in.

pub mod assign;
pub mod contify;
pub mod inline;
pub mod known;
pub mod letrec;
pub mod shake;
pub mod testing;

pub use known::GlobalFacts;

use crate::ir::Program;
use crate::verify::{Dialect, verify as check};
use crate::walk;

/// How much to optimize.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opt {
    /// Only what is needed, and loops.
    Low,
    /// Everything.
    High,
}

/// Runs the optimizer. With `verify`, checks the program after every pass and panics with the pass's name and the first
/// complaints if a pass broke it. `observe` sees the program after every pass.
pub fn optimize(program: &mut Program, level: Opt, verify: bool, observe: &mut dyn FnMut(&str, &Program)) {
    // passes drop and clone subtrees recursively
    let depth = walk::program_depth(program);
    walk::with_room(depth, || Pipeline { program, verify, observe }.run(level));
}

struct Pipeline<'a> {
    program: &'a mut Program,
    verify: bool,
    observe: &'a mut dyn FnMut(&str, &Program),
}

impl Pipeline<'_> {
    fn run(&mut self, level: Opt) {
        self.after("source", Some(Dialect::Source));
        let facts = known::analyze(self.program);
        shake::run(self.program, &facts);
        self.after("shake", Some(Dialect::Source));
        letrec::run(self.program);
        self.after("letrec", None); // assignments and `fix` together: no dialect
        assign::run(self.program);
        self.after("assign", Some(Dialect::Fixed));
        let _ = level;
        contify::run(self.program);
        self.after("contify", Some(Dialect::Opt));
    }

    fn after(&mut self, pass: &str, dialect: Option<Dialect>) {
        if self.verify
            && let Some(dialect) = dialect
            && let Err(complaints) = check(self.program, dialect)
        {
            panic!("the program is wrong after pass `{pass}`:\n  {}", complaints.join("\n  "));
        }
        (self.observe)(pass, self.program);
    }
}
