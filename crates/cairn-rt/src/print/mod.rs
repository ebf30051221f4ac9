//! `write`, `display` and their kin: external representations.
//!
//! The problem: data may be circular, shared, or nested a million deep. The idea: one pass decides which objects
//! need datum labels ([`datum_labels`]), a second pass prints with an explicit stack of tasks, so nesting is bounded by
//! memory only. Text goes straight into the port's buffer.
//!
//! | mode | labels | strings and characters |
//! |---|---|---|
//! | `display` | on cycles | as they are |
//! | `write` | on cycles | as literals |
//! | `write-shared` | on all sharing | as literals |
//! | `write-simple` | never | as literals |
//!
//! Records print as `#<point x: 1 y: 2>`, conditions as `#<condition car: expected a pair, got 5>`, hash tables as
//! `#<hash-table (a . 1) (b . 2)>`, pointers of C as `#<pointer 0x7f00>`; what has no external representation prints as
//! `#<kind …>`.

mod atoms;
mod datum_labels;
mod out;

use crate::access::{self, car, cdr, words};
use crate::list;
use crate::record::{self, Contents};
use crate::record_types::{self, Part, RecordType};
use crate::table;
use cairn_layout::Value;
use cairn_layout::object::Type;
use datum_labels::Labels;
use std::sync::Arc;

use out::Limited;
pub use out::{Mode, Out};

/// The representation as a string, cut after about `limit` bytes (then it ends in `…`).
pub fn to_text(v: Value, mode: Mode, limit: usize) -> String {
    let mut out = Limited { text: String::new(), limit };
    print(&mut out, v, mode);
    if out.is_full() {
        let cut = (0..=limit).rev().find(|i| out.text.is_char_boundary(*i)).unwrap_or(0);
        out.text.truncate(cut);
        out.text.push('…');
    }
    out.text
}

/// A name for an object in a sentence: its representation, cut to a reasonable length.
pub fn describe(v: Value) -> String {
    to_text(v, Mode::Write, 200)
}

/// What is left to print.
enum Task {
    /// An object.
    Object(Value),
    /// What follows a car: the cdr, then the closing parenthesis.
    Rest(Value),
    /// The elements of a vector from an index.
    Elements(Value, usize),
    /// The fields of a record of this type from an index.
    Fields(Value, Arc<RecordType>, usize),
    /// The entries of a hash table from an index.
    Entries(Value, usize),
    /// Fixed text.
    Text(&'static str),
}

/// Prints an object.
pub fn print(out: &mut impl Out, v: Value, mode: Mode) {
    if !datum_labels::is_node(v) {
        return atoms::print_atom(out, v, mode);
    }
    let mut labels = match mode {
        Mode::Simple => Labels::none(),
        Mode::Shared => Labels::shared(v),
        Mode::Display | Mode::Write => Labels::cyclic(v),
    };
    let mut tasks = vec![Task::Object(v)];
    while let Some(task) = tasks.pop() {
        if out.is_full() {
            return;
        }
        match task {
            Task::Text(text) => out.str(text),
            Task::Object(v) if !datum_labels::is_node(v) => atoms::print_atom(out, v, mode),
            Task::Object(v) => {
                if let Some(label) = labels.get(v) {
                    if label.printed {
                        out.str(&format!("#{}#", label.number));
                        continue;
                    }
                    out.str(&format!("#{}=", label.number));
                }
                open(out, v, mode, &mut tasks);
            }
            Task::Rest(Value::NIL) => out.str(")"),
            Task::Rest(v) if v.is_pair() && !labels.has(v) => {
                out.str(" ");
                tasks.push(Task::Rest(cdr(v)));
                tasks.push(Task::Object(car(v)));
            }
            Task::Rest(v) => {
                out.str(" . ");
                tasks.push(Task::Text(")"));
                tasks.push(Task::Object(v));
            }
            Task::Elements(v, i) => match words(v).get(i) {
                None => out.str(")"),
                Some(item) => {
                    if i > 0 {
                        out.str(" ");
                    }
                    tasks.push(Task::Elements(v, i + 1));
                    tasks.push(Task::Object(*item));
                }
            },
            Task::Entries(v, i) => match table::entry_from(v, i) {
                None => out.str(">"),
                Some((i, key, value)) => {
                    out.str(" (");
                    tasks.push(Task::Entries(v, i + 1));
                    tasks.push(Task::Text(")"));
                    tasks.push(Task::Object(value));
                    tasks.push(Task::Text(" . "));
                    tasks.push(Task::Object(key));
                }
            },
            Task::Fields(v, t, i) => match t.shown().get(i) {
                None => out.str(">"),
                Some(field) => {
                    out.str(" ");
                    if field.part != Part::More {
                        out.str(&field.name);
                        out.str(": ");
                    }
                    let contents = record::contents(v, field.slot);
                    tasks.push(Task::Fields(v, t, i + 1));
                    match contents {
                        Contents::Value(x) => tasks.push(Task::Object(x)),
                        Contents::Number(n) => out.str(&cairn_num::format_number(&n, 10)),
                    }
                }
            },
        }
    }
}

/// Begins a pair, vector or record; prints all of a vector of flonums.
fn open(out: &mut impl Out, v: Value, mode: Mode, tasks: &mut Vec<Task>) {
    if v.is_pair() {
        out.str("(");
        tasks.push(Task::Rest(cdr(v)));
        tasks.push(Task::Object(car(v)));
    } else if access::is(v, Type::Vector) {
        out.str("#(");
        tasks.push(Task::Elements(v, 0));
    } else if access::is(v, Type::NumericVector) {
        atoms::print_atom(out, v, mode);
    } else if table::is_table(v) {
        match table::weak_count(v) {
            Some(count) => out.str(&format!("#<weak-hash-table of {count}>")),
            None => {
                out.str("#<hash-table");
                tasks.push(Task::Entries(v, 0));
            }
        }
    } else if let Some(c) = record::condition(v).or_else(|| compound_condition(v)) {
        out.str("#<condition ");
        if let Some(who) = c.who {
            out.str(&who);
            out.str(": ");
        }
        out.str(&c.message);
        tasks.push(Task::Text(">"));
        for irritant in c.irritants.into_iter().rev() {
            tasks.push(Task::Object(irritant));
            tasks.push(Task::Text(" "));
        }
    } else if let Some(address) = record::pointer(v) {
        out.str(&format!("#<pointer 0x{address:x}>"));
    } else if let Some(rtd) = record::type_of(v)
        && let Some(t) = record_types::get(rtd)
    {
        out.str("#<");
        out.str(&crate::record_types::type_name(rtd).unwrap_or_default());
        tasks.push(Task::Fields(v, t, 0));
    }
}

/// A condition of several parts, as `(rnrs conditions)` makes them: a record of a type named `compound-condition`. One
/// without a message says of what kinds its parts are.
fn compound_condition(v: Value) -> Option<record::Condition> {
    if !access::is(v, Type::Record) || access::length(v) != 1 {
        return None;
    }
    if record_types::type_name(record::type_of(v)?).as_deref() != Some("compound-condition") {
        return None;
    }
    let parts: Vec<(String, Value)> = access::list_items(access::word(v, 0))
        .filter_map(|part| Some((record_types::type_name(record::type_of(part)?)?, part)))
        .collect();
    let found = |name: &str| {
        let part = parts.iter().find(|(n, p)| n == name && access::length(*p) == 1);
        part.map(|(_, p)| access::word(*p, 0))
    };
    let text = |v: Value| to_text(v, Mode::Display, 200);
    let kinds = || parts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ");
    let irritants = found("&irritants").filter(|l| matches!(list::shape(*l), list::Shape::Proper(_)));
    Some(record::Condition {
        who: found("&who").filter(|who| *who != Value::FALSE).map(text),
        message: found("&message").map_or_else(kinds, text),
        irritants: irritants.map(|l| access::list_items(l).collect()).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
