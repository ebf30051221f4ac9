//! Types: operand checks that cannot fail are marked as proven, generic operations become fixnum and flonum
//! operations, tests with a known answer are decided.
//!
//! # Example
//!
//! ```text
//! (labels ((L0 (i sum)
//!            (if (%< i (%vector-length v))
//!                (jump L0 (%+ i 1) (%+ sum (%vector-ref v i)))
//!                sum)))
//!   (jump L0 0 0.0))
//! ```
//! becomes
//! ```text
//! (labels ((L0 (i sum)
//!            (if (%fx<:3 i (%vector-length v))
//!                (jump L0 (%fx+:3 i 1) (%+:1 sum (%vector-ref:3 v i)))
//!                sum)))
//!   (jump L0 0 0.0))
//! ```
//!
//! # Idea
//!
//! Abstract interpretation over [`lattice::Type`]. Local variables are immutable, so a fact about a variable holds
//! from the point where it is established in everything that comes after it: a walk in evaluation order carries facts
//! in a table with a trail ([`mod@env`]); branches add what the test says ([`mod@test`]) and are joined; an operation
//! that succeeded says what its operands were ([`operations`]).
//!
//! What flows against the order, that is parameters of labels and of known procedures, their results, assigned
//! globals, contents of boxes that do not escape, lives in [`slots`] that start empty (optimistically) and grow;
//! forms are walked again until nothing grows. A last walk rewrites. This covers the whole program: procedures all of
//! whose calls are seen get the types of their arguments, and code that is never reached says nothing.
//!
//! Ranges of fixnums are widened to a few stops, so the walks are few. Integers beyond the fixnums are two kinds, above
//! and below: a counter that starts at zero and is tested by `(< i n)` for a fixnum `n` cannot be above, and was never
//! below, so it is a fixnum and its step does not overflow. A counter without such a test is a fixnum *or* above, and
//! its step checks for overflow.
//!
//! Trees of arithmetic on values out of objects are tested once for flonums at their leaves ([`speculate`]); then all
//! is analysed once more.
//!
//! # Files, from the bottom up: none names one that is further down in this table
//!
//! | file | what |
//! |---|---|
//! | [`lattice`] | sets of values |
//! | [`held`] | what an analysis of the whole program has said |
//! | [`results`] | types of what operations return, and of the operands with which they can succeed |
//! | [`question`] | tests whose answer is remembered |
//! | [`mod@env`] | what holds at the point of the walk |
//! | [`agenda`] | which forms are still to be walked |
//! | [`records`] | what fields of records hold; records of numbers become raw |
//! | [`vectors`] | what vectors hold that nobody else sees; those of flonums become f64vectors |
//! | [`slots`] | what flows against the order of the walk |
//! | [`targets`] | what is known of procedures and labels |
//! | [`budget`] | how much code the copies may be |
//! | [`twice`] | code that is there twice, and how loops are copied |
//! | [`plans`] | what the last walk of the first round decides |
//! | [`state`] | all of that: the state of a round |
//! | [`several`] | several values, from `values` to who receives them |
//! | [`later`] | steps of counters after the other arguments of a jump |
//! | [`unbox`] | loop parameters that stay doubles |
//! | [`complex`] | complex numbers by parts |
//! | [`apart`] | flonums met by integers that may be bignums |
//! | [`speculate`] | flonum trees |
//! | [`operations`] | primitives: proofs, cheaper operations |
//! | [`mod@test`] | what branches may assume |
//! | [`control`] | procedures and labels |
//! | [`order`] | evaluation order |
//! | [`peel`] | loops whose parameters become flonums |
//! | [`version`] | loops and recursive procedures, once more for fixnums |
//! | [`paths`] | code after reads of numbers, once more for flonums |
//! | [`counting`] | loops that count, and the objects that are the same in every turn |
//! | [`bounds`] | such loops, once more without tests of bounds and overflow |
//! | [`invariant`] | doubles decoded before the loops that do not change them |
//! | [`found`] | what is known when nothing grows any more, for others |
//! | [`fields`] | reads of fields and globals that nobody assigns to, before loops |
//! | [`rounds`] | the rounds of walks, and the copies between them |
//!
//! # Invariants
//!
//! The program is closed: every assignment and call of its globals is in it. Dialect in and out: `Fixed` or `Opt`.
//! Effects, their order, and failures stay as they are. Complexity: linear per walk; a form is walked again at most a
//! few times for each slot it depends on.

mod agenda;
mod apart;
mod bounds;
mod budget;
mod complex;
mod control;
mod counting;
mod env;
mod fields;
mod found;
mod held;
mod invariant;
mod later;
mod lattice;
mod operations;
mod order;
mod paths;
mod peel;
mod plans;
mod question;
mod records;
mod results;
mod rounds;
mod several;
mod slots;
mod speculate;
mod state;
mod targets;
mod test;
mod twice;
mod unbox;
mod vectors;
mod version;

use crate::ir::Program;

pub(crate) use found::{Found, of_program};
pub use records::field_of;

/// Proves and rewrites throughout `program`.
pub fn run(program: &mut Program) {
    rounds::run(program);
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::inline::{self, random};

    #[test]
    fn random_programs_do_the_same_afterwards() {
        random::check_pass(300, run);
    }

    #[test]
    fn also_after_inlining_and_twice() {
        random::check_pass(200, |p| {
            inline::run(p);
            run(p);
            inline::run(p);
            run(p);
        });
    }
}
