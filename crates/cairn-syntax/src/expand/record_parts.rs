//! Fields of several values: arrays of numbers, and records inside of records.
//!
//! ```text
//! (pos (array f64 3)) particle-pos set-particle-pos!
//!   ⟶  particle-pos      = (lambda (r k) (if (and (%fixnum? k) (%fx<= 0 k) (%fx< k 3)) #f (wrong-element … k))
//!                                        (%record-fl-at r particle code k))
//!      set-particle-pos! = (lambda (r k x) …)
//! (at (inline point)) particle-at set-particle-at!
//!   ⟶  particle-at       = (lambda (r) (%record-part r particle '((code-of-x . its-code-in-r) …) 2 point))
//!      set-particle-at!  = (lambda (r p) …)
//! ```
//!
//! Their values lie in the record as so many fields would, which is what the runtime takes them for
//! (`cairn-rt/src/record_types.rs`). Where a copy is only read, the optimizer makes none
//! (`cairn-core/src/passes/elements.rs`).

use super::items::Item;
use super::prims::{prim_at, prim_proven};
use super::record_code::{all_of, code, fixnum, load, store};
use super::record_info::{Field, FieldInfo, RecordInfo, Referent, Shape};
use super::state::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::{Datum, Syntax};
use cairn_core::ir::{Expr, Literal, VarId};
use cairn_core::prim::{Op, RECORD_PART};
use cairn_layout::code::Site;
use cairn_layout::object::record::{FieldKind, Slot};
use cairn_num::{Int, Number};
use std::rc::Rc;

const ARRAYS: &str = "(array kind length): kind f64 f32 i8 i16 i32 i64 u8 u16 u32 u64, length from 1 to 4096";

/// The longest array.
const ARRAY_MAX: i64 = 4096;
/// Records inside of records have no more values.
const INLINE_PARTS: usize = 64;

impl Expander<'_> {
    /// `(array kind length)`
    pub(super) fn array_kind(&mut self, x: &Syntax, parts: &[Syntax]) -> R<(FieldKind, Option<Referent>, Shape)> {
        let [_, kind, length] = parts else { return self.err_help(x.span, "bad kind of field", ARRAYS) };
        let named = kind.as_ident().and_then(|id| FieldKind::by_name(self.name(id)));
        let number = |k: &FieldKind| matches!(k, FieldKind::F64 | FieldKind::F32) || k.integers().is_some();
        let Some(kind) = named.filter(number) else {
            return self.err_help(kind.span, "an array does not hold this", ARRAYS);
        };
        let n = match &length.datum {
            Datum::Number(n) => match **n {
                Number::Int(Int::Fix(n)) => n,
                _ => 0,
            },
            _ => 0,
        };
        if !(1..=ARRAY_MAX).contains(&n) {
            return self.err_help(length.span, "no length of an array", ARRAYS);
        }
        Ok((kind, None, Shape::Array(n as u32)))
    }

    /// `(inline record-type)`
    pub(super) fn inline_kind(&mut self, x: &Syntax, parts: &[Syntax]) -> R<(FieldKind, Option<Referent>, Shape)> {
        const HELP: &str =
            "(inline record-type), where all fields of the type hold numbers, characters or booleans";
        let [_, of] = parts else { return self.err_help(x.span, "bad kind of field", HELP) };
        let Some((_, info)) = of.as_ident().and_then(|id| self.record_named(id)) else {
            let message = format!("`{}` is no record type that is known here", self.source_text(of));
            return self.err_help(of.span, message, HELP);
        };
        let leaves = info.leaves();
        if !info.raw || leaves.len() > INLINE_PARTS {
            let why = if info.raw { "has more than 64 values" } else { "is not raw" };
            let message = format!("records of `{}` cannot lie in others: it {why}", self.source_text(of));
            return self.err_help(of.span, message, HELP);
        }
        Ok((leaves[0].kind, None, Shape::Inline(info)))
    }

    /// Accessor and modifier of an array, which take an index, or of a record inside of the record, which copy it.
    pub(super) fn several_operations(
        &mut self,
        spec: &Field,
        field: &FieldInfo,
        info: &RecordInfo,
        items: &mut Vec<Item>,
    ) -> R<()> {
        for (operation, stores) in [(spec.accessor, false), (spec.modifier, true)] {
            let Some((id, span)) = operation else { continue };
            let target = self.declare(id, span)?;
            let slot = field.slot;
            if let Shape::Inline(inner) = &field.shape {
                let copying = self.copying(field, inner, span);
                if stores {
                    let put =
                        |rtd: Expr, vars: &[VarId], site| copying.store_in((vars[0], &rtd, 0), vars[1], site);
                    self.record_lambda(items, target, (id, span), &["record", "value"], put, info.rtd);
                } else {
                    let get = |rtd: Expr, vars: &[VarId], site| copying.taken_out(vars[0], rtd, site);
                    self.record_lambda(items, target, (id, span), &["record"], get, info.rtd);
                }
                continue;
            }
            let Shape::Array(n) = field.shape else { continue };
            let k = self.s.program.fresh_var("index");
            let tests = [
                prim_proven(Op::IsFixnum, vec![Expr::Local(k)], 0),
                prim_proven(Op::FxLe, vec![Expr::Const(fixnum(0)), Expr::Local(k)], 3),
                prim_proven(Op::FxLt, vec![Expr::Local(k), Expr::Const(fixnum(n.into()))], 3),
            ];
            let what = format!("the field {} of {n} numbers", field.name);
            let texts = [
                self.name(id).to_string(),
                format!("index out of range for {what}:"),
                format!("an index of {what}"),
            ];
            let mut args: Vec<Expr> = texts.map(|t| Expr::Const(Literal::String(t.into()))).into();
            args.push(Expr::Local(k));
            let wrong = self.library_procedure("control", "wrong-element", span)?;
            // shown where the operation is called
            let wrong = Expr::Call(wrong.into(), args, Site::NONE);
            let in_range =
                Expr::If(all_of(tests.into()).into(), Expr::Const(Literal::Bool(false)).into(), wrong.into());
            let body = |rtd: Expr, vars: &[VarId], site| {
                let op = match (stores, slot.is_double()) {
                    (false, false) => Op::RecordAt,
                    (false, true) => Op::RecordFlAt,
                    (true, false) => Op::RecordAtSet,
                    (true, true) => Op::RecordFlAtSet,
                };
                let mut args = vec![Expr::Local(vars[0]), rtd, code(slot)];
                args.extend(stores.then(|| Expr::Local(vars[2])));
                args.push(Expr::Local(k));
                let element = Expr::Seq(vec![in_range.clone(), prim_at(op, args, site)]);
                Expr::Let(vec![(k, Expr::Local(vars[1]))], element.into())
            };
            let params: &[&str] = if stores { &["record", "index", "value"] } else { &["record", "index"] };
            self.record_lambda(items, target, (id, span), params, body, info.rtd);
        }
        Ok(())
    }

    /// What copies records of the type `inner` into the field, and out of it.
    pub(super) fn copying(&mut self, field: &FieldInfo, inner: &RecordInfo, span: Span) -> Copying {
        let inside = inner.leaves();
        Copying {
            rtd: self.target(inner.rtd, span),
            words: inner.length(),
            values: inside.iter().map(|_| self.s.program.fresh_var(&field.name)).collect(),
            slots: inside.into_iter().zip(field.leaves()).collect(),
        }
    }
}

/// Copying a record into a field that holds one, and out of it.
pub(super) struct Copying {
    /// The type of the record.
    rtd: Expr,
    /// Its words.
    words: i64,
    /// Where its values are while they are copied.
    values: Vec<VarId>,
    /// Where each is in the record, and in the field.
    slots: Vec<(Slot, Slot)>,
}

impl Copying {
    /// From the record in the variable `from`, whose type is checked.
    pub(super) fn store_in(&self, (to, rtd, proven): (VarId, &Expr, u8), from: VarId, site: Site) -> Expr {
        let values = self.values.iter().zip(&self.slots);
        let loads =
            values.clone().map(|(v, (inside, _))| (*v, load(Expr::Local(from), self.rtd.clone(), *inside, site)));
        let mut stores: Vec<Expr> = values
            .map(|(v, (_, slot))| {
                let mut store = store(Expr::Local(to), rtd.clone(), *slot, Expr::Local(*v), site);
                if let Expr::Prim { proven: known, .. } = &mut store {
                    *known = proven;
                }
                store
            })
            .collect();
        stores.push(Expr::Const(Literal::Unspecified));
        Expr::Let(loads.collect(), Expr::Seq(stores).into())
    }

    /// A fresh record.
    fn taken_out(&self, from: VarId, rtd: Expr, site: Site) -> Expr {
        let pair = |a, b| Literal::Pair(Rc::new((a, b)));
        let places = self.slots.iter().rev().fold(Literal::Nil, |rest, (inside, slot)| {
            pair(pair(fixnum(inside.code()), fixnum(slot.code())), rest)
        });
        let words = Expr::Const(fixnum(self.words));
        // what evaluated code fails with says who
        let checked = load(Expr::Local(from), rtd.clone(), self.slots[0].1, site);
        let args = vec![Expr::Local(from), rtd, Expr::Const(places), words, self.rtd.clone()];
        Expr::Seq(vec![checked, Expr::Prim { op: RECORD_PART, args, site, proven: 0 }])
    }
}

impl Field {
    /// Bytes and alignment in a raw record, and how many values it has.
    pub(super) fn extent(&self) -> (u32, u32, u32) {
        let one = self.kind.raw_bytes().unwrap_or(8) as u32;
        match &self.shape {
            Shape::Single => (one, one, 1),
            Shape::Array(n) => (one * n, one, *n),
            Shape::Inline(info) => {
                let leaves = info.leaves();
                let align = leaves.iter().map(|slot| slot.bytes()).max().unwrap_or(1);
                (info.stride() as u32, align as u32, leaves.len() as u32)
            }
        }
    }
}

impl FieldInfo {
    /// Is it an array, or a record inside of the record?
    pub(super) fn is_several(&self) -> bool {
        !matches!(self.shape, Shape::Single)
    }
    /// Where its values are.
    pub(super) fn leaves(&self) -> impl Iterator<Item = Slot> + '_ {
        let slot = self.slot;
        let inside = match &self.shape {
            Shape::Inline(info) => info.leaves(),
            _ => Vec::new(),
        };
        let n = match self.shape {
            Shape::Array(n) => n as usize,
            Shape::Single => 1,
            Shape::Inline(_) => inside.len(),
        };
        (0..n).map(move |i| match inside.get(i) {
            None => slot.element(i as i64),
            Some(inside) => {
                let at = if slot.raw { inside.at } else { i as u32 };
                Slot::new(inside.kind, slot.raw, slot.at + at)
            }
        })
    }
    /// Runs of its values, each with the code of the first and how many there are, as the runtime takes them.
    pub(super) fn described(&self) -> Literal {
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for slot in self.leaves() {
            match runs.last_mut() {
                Some((first, n)) if Slot::of(*first).element(*n) == slot => *n += 1,
                _ => runs.push((slot.code(), 1)),
            }
        }
        let pair = |a, b| Literal::Pair(Rc::new((a, b)));
        runs.into_iter().rev().fold(Literal::Nil, |rest, (code, n)| pair(pair(fixnum(code), fixnum(n)), rest))
    }
}
