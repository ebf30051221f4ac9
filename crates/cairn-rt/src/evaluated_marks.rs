//! Evaluated code as messages see it.
//!
//! The problem: evaluated code runs on frames of the evaluator (`lib/cairn/evaluator.sld`), whose descriptors say
//! nothing of the text that is evaluated, and its procedures are closures that all have the same code. The idea: a
//! *mark*, a record of a type named `evaluated-place`, is live in the frame of each evaluated call, a frame of a
//! procedure called `evaluated-call`, and free in each evaluated procedure. Whoever needs a name or a position looks
//! for it there.
//!
//! ```text
//!  mark     [type word][name: symbol][source][byte offset][use][scope]
//!  name     that of the procedure, or of the macro whose template made this
//!  use      the mark of the macro's use, or #f
//!  source   #(path text lines-before)
//!  scope    #f; in code for a debugger something else (`lib/cairn/evaluator-debug.scm`)
//! ```

use crate::access;
use crate::machine::frame_reader::{described_name, descriptor};
use crate::passage::Passage;
use crate::record;
use cairn_layout::Value;
use cairn_layout::code::{ENTRY_NAME, SHAPE, flags, shape_words};
use cairn_layout::object::Type;

/// The name of the evaluator's procedures that call for evaluated code, and return.
pub const CALL: &str = "evaluated-call";
/// The name that all evaluated procedures have in their code.
const NAME: &str = "evaluated";

/// Is this a mark?
pub fn is_mark(v: Value) -> bool {
    access::is(v, Type::Record)
        && access::length(v) == 5
        && record::type_of(v).and_then(crate::record_types::type_name).as_deref() == Some("evaluated-place")
}

/// The procedure's name in a mark.
pub fn name(mark: Value) -> String {
    let name = access::word(mark, 0);
    if access::is(name, Type::Symbol) { access::symbol_text(name) } else { "?".into() }
}

/// The mark of the use of the macro that made what this is the mark of.
pub fn use_of(mark: Value) -> Option<Value> {
    Some(access::word(mark, 3)).filter(|v| is_mark(*v))
}

/// Where a mark is, if it has a source.
pub fn place(mark: Value) -> Option<Passage<'static>> {
    let source = access::word(mark, 1);
    let [path, text, lines_before] = access::vector_of(source)? else { return None };
    let string = |v: &Value| access::string_of(*v).map(|_| access::string_text(*v));
    let start = access::fixnum_of(access::word(mark, 2))?;
    let lines_before = isize::try_from(access::fixnum_of(*lines_before)?).ok()?;
    let (path, text) = (string(path)?.into(), string(text)?.into());
    Some(Passage { path, text, lines_before, start: usize::try_from(start).ok()? })
}

/// The text from where a mark is, at most `length` characters.
pub fn text_at(mark: Value, length: usize) -> Option<String> {
    let [_, text, _] = access::vector_of(access::word(mark, 1))? else { return None };
    let chars = access::string_of(*text)?;
    let start = usize::try_from(access::fixnum_of(access::word(mark, 2))?).ok()?;
    // the place is counted in bytes, which are characters in most texts
    let is_ascii = |chars: &[u32]| chars.iter().fold(0, |all, c| all | c) < 0x80;
    let index = if chars.get(..start).is_some_and(is_ascii) {
        start
    } else {
        let mut bytes = 0;
        chars.iter().position(|c| {
            let here = bytes == start;
            bytes += access::to_char(*c).len_utf8();
            here
        })?
    };
    Some(chars[index..].iter().take(length).map(|c| access::to_char(*c)).collect())
}

/// What tells the places of marks apart, without their texts: byte offset and lines before, and the path.
pub fn key(mark: Value) -> ((u64, u64), String) {
    let start = access::word(mark, 2).0;
    match access::vector_of(access::word(mark, 1)) {
        Some([path, _, lines_before]) if access::string_of(*path).is_some() => {
            ((start, lines_before.0), access::string_text(*path))
        }
        _ => ((start, 0), String::new()),
    }
}

/// The mark in the state of an evaluated procedure that may become native (`lib/cairn/evaluator.sld`).
pub fn mark_of_state(v: Value) -> Option<Value> {
    const WORDS: usize = 8;
    const MARK: usize = 2;
    access::vector_of(v).filter(|state| state.len() == WORDS).map(|state| state[MARK]).filter(|v| is_mark(*v))
}

/// The state of an evaluated procedure that may become native.
pub fn state_of_closure(v: Value) -> Option<Value> {
    mark_of_closure(v)?;
    // SAFETY: `v` is an evaluated procedure (`mark_of_closure`), so it has a free variable, behind its entry.
    let first = Value(unsafe { *((v.address() + 8) as *const u64) });
    mark_of_state(first).map(|_| first)
}

/// The mark of a procedure, if it is an evaluated one.
pub fn mark_of_closure(v: Value) -> Option<Value> {
    // SAFETY: callers pass a procedure, whose first word is a code address; a shape stands before it, and a name before
    // an entry.
    let name = unsafe {
        let entry = *(v.address() as *const u64);
        let shape = descriptor(entry, SHAPE);
        if shape & (flags::RETURN | flags::CONTINUATION) != 0 {
            return None;
        }
        described_name(entry, ENTRY_NAME)
    };
    procedure_mark(v, name.as_deref()?)
}

/// Is this the name that all evaluated procedures have in their code?
pub fn is_shared_name(code_name: &str) -> bool {
    code_name == NAME
}

/// The name of an evaluated procedure, if `code_name` says that it is one.
pub fn procedure_name(procedure: Value, code_name: &str) -> Option<String> {
    procedure_mark(procedure, code_name).map(name)
}

/// The mark of an evaluated procedure, if `code_name` says that it is one.
pub fn procedure_mark(procedure: Value, code_name: &str) -> Option<Value> {
    if code_name != NAME {
        return None;
    }
    // SAFETY: the name is that of an evaluated procedure, so its first word is an entry, whose shape says how many
    // words there are.
    let words = unsafe {
        let entry = *(procedure.address() as *const u64);
        shape_words(*((entry as i64 + SHAPE) as *const u64))
    };
    // SAFETY: `i` is below `words`, and all words of a procedure but the first are values.
    let mut free = (1..words).map(|i| Value(unsafe { *((procedure.address() + 8 * i) as *const u64) }));
    // or in the state of one that may become native
    free.find_map(|v| match access::vector_of(v) {
        Some(state) => state.iter().copied().find(|v| is_mark(*v)),
        None => is_mark(v).then_some(v),
    })
}
