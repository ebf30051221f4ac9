//! Where the call stands that gave a procedure a wrong number of arguments.
//!
//! The problem: the procedure finds out, and a tail call leaves no frame that could tell who made it. The idea: a tail
//! call says something of itself beside the count (`cairn_layout::code::tail_call`): a hash of its position, by which
//! the position is found among the rows of all modules. The evaluator's tail calls all stand at the same few places;
//! it leaves the mark of what it evaluates in a slot of the machine.

use crate::evaluated_marks as evaluated;
use crate::machine::frames;
use crate::report::{At, mark_of_frame, resolve, return_point, source, text_of};
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::code::{flags, tail_call};
use cairn_layout::machine::{Machine, slot};

/// The place, a site or a mark, of the call under way, if it is in a text of the user's. `call` is what the call says
/// of itself: one that is no tail call is where the youngest frame is; where nothing is said, it is there if a call of
/// procedure `name` is.
pub fn place_of_call(ctx: &mut Machine, name: Option<&str>, call: u32) -> Option<Value> {
    let at = match call {
        tail_call::NONE => youngest_call(ctx).filter(|at| at.text(&rt(ctx).modules).is_some()),
        tail_call::SOMEWHERE => call_by_name(ctx, name?),
        _ => tail_call_at(ctx, call),
    };
    at.map(|at| at.condition_site(ctx))
}

/// The tail call that says so, unless the library has made it.
fn tail_call_at(ctx: &mut Machine, call: u32) -> Option<At> {
    /// How the paths of the evaluator's sources begin: a library and the files that it includes.
    const EVALUATOR: &str = "cairn/evaluator";
    let row = rt(ctx).modules.tail_call(call)?;
    let modules = &rt(ctx).modules;
    let place = resolve(modules, row).site;
    if At::Site(place).text(modules).is_some() {
        return Some(At::Site(row));
    }
    // SAFETY: `s` is a source of a loaded module, whose tables and texts live as long as its runtime.
    let evaluates = source(modules, place).is_some_and(|s| unsafe { text_of(&s.path) }.contains(EVALUATOR));
    Some(ctx.slot(slot::TAIL_MARK)).filter(|v| evaluates && evaluated::is_mark(*v)).map(At::EvaluatedTail)
}

/// The call of procedure `name` that the youngest frame is at. The mark of the last evaluated tail call is no help: who
/// knows what was called since.
fn call_by_name(ctx: &Machine, name: &str) -> Option<At> {
    youngest_call(ctx).filter(|at| at.is_call_of(&rt(ctx).modules, name))
}

/// Where the youngest frame is.
fn youngest_call(ctx: &Machine) -> Option<At> {
    let modules = &rt(ctx).modules;
    let mut youngest = None;
    frames::walk(ctx, &mut |code: u64, frame: u64| {
        let (shape, site, _) = return_point(ctx, code);
        if shape & (flags::UNDERFLOW | flags::HALT) != 0 {
            return true;
        }
        let site = modules.locate(code, site);
        youngest = Some(match mark_of_frame(ctx, code, frame) {
            Some(mark) => At::Evaluated(mark),
            None if site.is_tail() => At::InlinedTail(site.plain()),
            None => At::Site(resolve(modules, site).site),
        });
        false
    });
    youngest
}
