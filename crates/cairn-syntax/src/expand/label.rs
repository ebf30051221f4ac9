//! Labels in program text.
//!
//! What a label shares matters in literals only. Elsewhere `#n#` means the labelled datum once more, as if it were
//! written there:
//!
//! ```text
//! (let ((x #0=(f y))) (list x #0# '(#1=(a) #1#)))   ⟶   (let ((x (f y))) (list x (f y) '(#1=(a) #1#)))
//! ```
//!
//! One walk over each form with labels, before it is expanded, takes them away outside of quotations, which are
//! known by the names `quote` and `quasiquote`. A datum that contains itself keeps its label: whether it ends up in
//! a quotation, only expansion can tell. Labels in labels can stand for exponentially large forms; those are errors.

use super::state::{Expander, MAX_EXPANSION_SIZE, R, grow};
use crate::diagnostic::Diagnostic;
use crate::read;
use crate::syntax::{Datum, Syntax};
use rustc_hash::FxHashMap;

/// Where a datum stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Program,
    /// In this many quasiquotations more than unquotations.
    Quasi(u32),
}

/// One form.
struct Walk<'e, 'a> {
    x: &'e Expander<'a>,
    /// What labels in program places stand for.
    known: FxHashMap<u32, Syntax>,
}

impl Expander<'_> {
    /// The forms of a file, ready for expansion.
    pub(super) fn read(&mut self, file: u32, text: &str, fold_case: bool) -> R<Vec<Syntax>> {
        let before = self.s.names.label_count();
        let forms = read::read_all(file, text, &mut self.s.names, fold_case)?;
        self.without_labels(forms, before)
    }

    /// The forms, which have been read since there were so many labels, without labels in places of the program.
    pub(super) fn without_labels(&self, mut forms: Vec<Syntax>, before: u32) -> R<Vec<Syntax>> {
        if self.s.names.label_count() > before {
            let mut sizes = FxHashMap::default();
            for form in &mut forms {
                if size(form, &mut sizes) > MAX_EXPANSION_SIZE {
                    return Err(Diagnostic::new(form.span, "the labels make this form too large")
                        .help("a label means its datum at each place that refers to it")
                        .into());
                }
                *form = Walk { x: self, known: FxHashMap::default() }.datum(form, Place::Program);
            }
        }
        Ok(forms)
    }
}

/// How many data there would be without labels.
fn size(x: &Syntax, known: &mut FxHashMap<u32, usize>) -> usize {
    match &x.datum {
        Datum::Labeled(label, items) => match known.get(&label.id) {
            Some(n) => *n,
            None => {
                let n = grow(|| size(&items[0], known));
                known.insert(label.id, n);
                n
            }
        },
        Datum::List(items) | Datum::Dotted(items) | Datum::Vector(items) => {
            grow(|| items.iter().fold(1, |n: usize, i| n.saturating_add(size(i, known))))
        }
        _ => 1,
    }
}

impl Walk<'_, '_> {
    fn datum(&mut self, x: &Syntax, place: Place) -> Syntax {
        match &x.datum {
            Datum::Labeled(label, items) if place == Place::Program && !label.cyclic => {
                if let Some(known) = self.known.get(&label.id) {
                    return Syntax::new(known.datum.clone(), x.span);
                }
                let inner = grow(|| self.datum(&items[0], place));
                self.known.insert(label.id, inner.clone());
                inner
            }
            Datum::List(_) | Datum::Dotted(_) => grow(|| self.list(x, place)),
            Datum::Vector(items) => {
                let items: Vec<Syntax> = grow(|| items.iter().map(|i| self.datum(i, place)).collect());
                Syntax::new(Datum::Vector(items.into()), x.span)
            }
            _ => x.clone(),
        }
    }

    fn list(&mut self, x: &Syntax, place: Place) -> Syntax {
        let (items, tail) = x.parts();
        // `(a . ,b)` is `(a unquote b)`
        let at = items.len().saturating_sub(2);
        let operand_place = match (tail, &items[at..]) {
            (None, [head, _]) => head.as_ident().and_then(|id| match (&**self.x.name(id), place) {
                ("quote", Place::Program) if at == 0 => Some(None),
                ("quasiquote", Place::Program) if at == 0 => Some(Some(Place::Quasi(0))),
                ("quasiquote", Place::Quasi(n)) => Some(Some(Place::Quasi(n + 1))),
                ("unquote", Place::Quasi(0)) => Some(Some(Place::Program)),
                ("unquote-splicing", Place::Quasi(0)) if at == 0 => Some(Some(Place::Program)),
                ("unquote", Place::Quasi(n)) => Some(Some(Place::Quasi(n - 1))),
                ("unquote-splicing", Place::Quasi(n)) if at == 0 => Some(Some(Place::Quasi(n - 1))),
                _ => None,
            }),
            _ => None,
        };
        let mut out: Vec<Syntax> = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            out.push(match operand_place {
                Some(None) if i > at => item.clone(),
                Some(Some(inner)) if i > at => self.datum(item, inner),
                _ => self.datum(item, place),
            });
        }
        match tail {
            Some(t) => {
                let t = self.datum(t, place);
                Syntax::dotted(out, t, x.span)
            }
            None => Syntax::list(out, x.span),
        }
    }
}
