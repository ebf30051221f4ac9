//! How the lines of a form are indented, by its head.
//!
//! ```text
//! Body(1)                 Aligned                  Call                 Data
//! (let ((x 1)             (cond ((f x) 1)          (list 1              (1
//!       (y 2))                  (else 2))                2)              2
//!   (f x y))              (cond                    (list                 3)
//!                           ((f x) 1))              1)
//! ```
//!
//! The forms of the standard and of the libraries have rows in a table. A macro of the text is looked at: a pattern of
//! `syntax-rules` that ends in `body ...` says that what matches it is a body, and how many operands come before it.

use crate::syntax::{Datum, Names, Syntax};
use rustc_hash::FxHashMap;

/// How lines behind the first are indented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// Under the first datum.
    Data,
    /// Under the first operand; without one in the head's line, under the head.
    Call,
    /// Under the first operand; without one in the head's line, by two columns.
    Aligned,
    /// By two columns, but for so many operands that come before the body: these by four. `Body(0)` is a procedure
    /// whose last operand is one that has a body.
    Body(usize),
}

/// Forms with a body, and the number of operands before it.
const BODIES: &[(&str, usize)] = &[
    ("and-let*", 1),
    ("case", 1),
    ("do", 2),
    ("effect-lambda", 1),
    ("eval-when", 1),
    ("fluid-let", 1),
    ("fluid-let-syntax", 1),
    ("guard", 1),
    ("lambda", 1),
    ("let", 1),
    ("let*", 1),
    ("let*-values", 1),
    ("let-syntax", 1),
    ("let-values", 1),
    ("let/cc", 1),
    ("letrec", 1),
    ("letrec*", 1),
    ("letrec-syntax", 1),
    ("library", 1),
    ("match", 1),
    ("named-lambda", 1),
    ("parameterize", 1),
    ("receive", 2),
    ("stream-lambda", 1),
    ("stream-let", 2),
    ("syntax-case", 2),
    ("syntax-parameterize", 1),
    ("syntax-rules", 1),
    ("test-group", 1),
    ("test-group-with-cleanup", 1),
    ("unless", 1),
    ("when", 1),
    ("while", 1),
    ("λ", 1),
];

/// Forms whose operands are equals: clauses, or expressions one after another.
const ALIGNED: &[&str] = &[
    "begin",
    "call-with-current-continuation",
    "call/cc",
    "case-lambda",
    "cond",
    "cond-expand",
    "delay",
    "delay-force",
    "dynamic-wind",
    "er-macro-transformer",
    "ir-macro-transformer",
    "make-parameter",
    "match-lambda",
    "sc-macro-transformer",
];

/// A pattern of a macro that ends in a body.
#[derive(Clone, Copy)]
struct Pattern {
    /// Operands before the body.
    before: usize,
    /// Is the first of them a list?
    list_first: bool,
}

/// The styles of the forms of a text.
pub(super) struct Styles {
    macros: FxHashMap<String, Vec<Pattern>>,
}

impl Styles {
    /// With the macros that these data define.
    pub(super) fn new(data: &[Syntax], names: &Names) -> Styles {
        let mut macros: FxHashMap<String, Vec<Pattern>> = FxHashMap::default();
        let mut todo: Vec<&[Syntax]> = vec![data];
        while let Some(items) = todo.pop() {
            if let [.., name, rules] = items
                && let (Some(name), Some(patterns)) = (name.as_ident(), patterns(rules, names))
            {
                macros.insert(names.name(name).to_string(), patterns);
            }
            todo.extend(items.iter().filter_map(|x| match &x.datum {
                Datum::List(items) | Datum::Dotted(items) | Datum::Labeled(_, items) => Some(&**items),
                _ => None,
            }));
        }
        Styles { macros }
    }

    /// The style of a form with this head, as far as that says.
    pub(super) fn of(&self, head: &str) -> Style {
        if let Some(patterns) = self.macros.get(head) {
            return patterns.first().map_or(Style::Call, |p| Style::Body(p.before));
        }
        // lib/ calls its own forms so
        let head = head.trim_start_matches('%');
        if let Ok(i) = BODIES.binary_search_by(|(name, _)| (*name).cmp(head)) {
            return Style::Body(BODIES[i].1);
        }
        if ALIGNED.binary_search(&head).is_ok() {
            return Style::Aligned;
        }
        let body = head == "define" || head == "define*" || head.starts_with("define-");
        let procedure = head.starts_with("with-") || head.starts_with("call-with-");
        match () {
            () if body => Style::Body(1),
            () if procedure => Style::Body(0),
            () => Style::Call,
        }
    }

    /// The style of a form with a body whose first operand is a list or is none: a `let` can have a name.
    pub(super) fn with_operand(&self, head: &str, is_list: bool) -> Style {
        if let Some(patterns) = self.macros.get(head) {
            let fits = patterns.iter().find(|p| p.list_first == is_list).or(patterns.first());
            return fits.map_or(Style::Call, |p| Style::Body(p.before));
        }
        match (head, is_list) {
            // a name, or an ellipsis
            ("let" | "syntax-rules", false) => Style::Body(2),
            _ => self.of(head),
        }
    }
}

/// The patterns with a body of a `syntax-rules`; none of them for a macro without bodies.
fn patterns(rules: &Syntax, names: &Names) -> Option<Vec<Pattern>> {
    let name = |x: &Syntax| x.as_ident().map(|id| &**names.name(id));
    let items = rules.as_list()?;
    if items.first().and_then(name) != Some("syntax-rules") {
        return None;
    }
    let own = items.get(1).and_then(name);
    let ellipsis = own.unwrap_or("...");
    let rules = items.get(if own.is_some() { 3 } else { 2 }..)?;
    let is_body = |x: &Syntax| name(x).is_some_and(|n| n.starts_with("body"));
    let one = |rule: &Syntax| {
        let (pattern, tail) = rule.as_list()?.first()?.parts();
        let operands = pattern.get(1..)?;
        let before_body = match (operands, tail) {
            (_, Some(tail)) => is_body(tail).then_some(operands)?,
            ([before @ .., body, dots], None) if name(dots) == Some(ellipsis) && is_body(body) => before,
            _ => return None,
        };
        // `body0 body ...`
        let first = before_body.iter().rposition(|x| !is_body(x)).map_or(0, |i| i + 1);
        let list_first = before_body[..first].first().is_some_and(|x| x.as_ident().is_none());
        Some(Pattern { before: first, list_first })
    };
    Some(rules.iter().filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::{ALIGNED, BODIES};

    #[test]
    fn the_tables_are_in_order() {
        assert!(BODIES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(ALIGNED.is_sorted_by(|a, b| a < b));
    }
}
