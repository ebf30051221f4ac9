//! Which objects get datum labels.
//!
//! For cycles: the targets of back edges of a depth-first walk; each cycle contains one, and data without cycles
//! has none. Most data is small and has no cycle, so a plain walk within a budget of steps comes first: when it
//! ends, there is no cycle and nothing was remembered. Of what is large, most has no cycle either: whenever the
//! walk that remembers has met four times as many objects as before, a plain one is tried again, which takes about
//! as long as what was remembered since. For sharing: every object met twice.

use crate::access::{self, car, cdr, words};
use crate::numeric;
use crate::record;
use crate::record_types;
use crate::table;
use cairn_layout::Value;
use cairn_layout::object::Type;
use rustc_hash::FxHashMap;

/// Steps of the plain walk that comes first.
const BUDGET: usize = 10_000;
/// When the walk that remembers has met so many objects, another plain one is tried; and again at each power of
/// [`GROWTH`] times as many.
const MANY: usize = 10_000;
const GROWTH: usize = 4;
/// The plain walk has so many steps for each object that was met: they take about as long.
const STEPS_FOR_EACH: usize = 30;

/// Is it an object whose parts are printed?
pub fn is_node(v: Value) -> bool {
    v.is_pair()
        || v.is_indirect()
        || (v.is_object()
            && match access::type_code(v) {
                Some(c) if c == Type::Vector as u8 => access::length(v) > 0,
                Some(c) if c == Type::Record as u8 || c == Type::RawRecord as u8 => access::length(v) > 0,
                // one that is printed as a vector may have a label like any vector
                Some(c) if c == Type::NumericVector as u8 => numeric::is_vector(v) && access::length(v) > 0,
                _ => false,
            })
}

/// Calls `f` with the parts of a node, the first part last.
fn parts(v: Value, mut f: impl FnMut(Value)) {
    if v.is_pair() {
        f(cdr(v));
        f(car(v));
    } else if record::is_element(v) || v.is_compact() {
        let t = record::type_of(v).and_then(record_types::get);
        for field in t.iter().flat_map(|t| t.shown()).rev() {
            if let record::Contents::Value(x) = record::contents(v, field.slot) {
                f(x);
            }
        }
    } else if table::is_table(v) {
        if table::weak_count(v).is_none() {
            let entries = std::iter::successors(table::entry_from(v, 0), |(i, ..)| table::entry_from(v, i + 1));
            let entries: Vec<_> = entries.collect();
            entries.iter().rev().for_each(|(_, key, value)| {
                f(*value);
                f(*key);
            });
        }
    } else if !access::is(v, Type::RawRecord) && !access::is(v, Type::NumericVector) {
        let shown = record::type_of(v).and_then(record_types::get).map_or(usize::MAX, |t| t.shown().len());
        words(v).iter().take(shown).rev().for_each(|x| f(*x));
    }
}

/// The labels of one print operation. Numbers are handed out in the order of printing.
pub struct Labels {
    /// Labelled objects; `None` until printed.
    numbers: FxHashMap<u64, Option<u32>>,
    next: u32,
}

/// A label.
pub struct Label {
    /// Its number.
    pub number: u32,
    /// The object was printed before: refer to it.
    pub printed: bool,
}

impl Labels {
    /// No labels.
    pub fn none() -> Labels {
        Labels { numbers: FxHashMap::default(), next: 0 }
    }

    /// Labels for cycles.
    pub fn cyclic(root: Value) -> Labels {
        let mut labels = Labels::none();
        if ends_within(BUDGET, root) {
            return labels;
        }
        #[derive(Clone, Copy)]
        enum Step {
            Enter(Value),
            Leave(Value),
        }
        let mut on_path: FxHashMap<u64, bool> = FxHashMap::default();
        let mut steps = vec![Step::Enter(root)];
        let mut next_try = MANY;
        while let Some(step) = steps.pop() {
            match step {
                Step::Leave(v) => {
                    on_path.insert(v.0, false);
                }
                Step::Enter(v) => match on_path.get(&v.0) {
                    Some(true) => {
                        labels.numbers.insert(v.0, None);
                    }
                    Some(false) => {}
                    None => {
                        on_path.insert(v.0, true);
                        if on_path.len() == next_try {
                            if ends_within(STEPS_FOR_EACH * next_try, root) {
                                return Labels::none();
                            }
                            next_try *= GROWTH;
                        }
                        steps.push(Step::Leave(v));
                        parts(v, |x| {
                            if is_node(x) {
                                steps.push(Step::Enter(x));
                            }
                        });
                    }
                },
            }
        }
        labels
    }

    /// Labels for all sharing.
    pub fn shared(root: Value) -> Labels {
        let mut labels = Labels::none();
        let mut seen: FxHashMap<u64, ()> = FxHashMap::default();
        let mut todo = vec![root];
        while let Some(v) = todo.pop() {
            if seen.insert(v.0, ()).is_some() {
                labels.numbers.insert(v.0, None);
                continue;
            }
            parts(v, |x| {
                if is_node(x) {
                    todo.push(x);
                }
            });
        }
        labels
    }

    /// Is the object labelled?
    pub fn has(&self, v: Value) -> bool {
        !self.numbers.is_empty() && self.numbers.contains_key(&v.0)
    }

    /// The label of an object about to be printed.
    pub fn get(&mut self, v: Value) -> Option<Label> {
        if self.numbers.is_empty() {
            return None;
        }
        let next = self.next;
        match self.numbers.get_mut(&v.0)? {
            Some(number) => Some(Label { number: *number, printed: true }),
            place => {
                *place = Some(next);
                self.next += 1;
                Some(Label { number: next, printed: false })
            }
        }
    }
}

/// Does a walk that remembers nothing come to an end within so many steps? Then there is no cycle.
fn ends_within(budget: usize, root: Value) -> bool {
    let mut todo = vec![root];
    let mut left = budget;
    while let Some(v) = todo.pop() {
        if access::is(v, Type::Vector) {
            left = left.saturating_sub(access::length(v));
        }
        if left == 0 {
            return false;
        }
        left -= 1;
        parts(v, |x| {
            if is_node(x) {
                todo.push(x);
            }
        });
    }
    true
}
