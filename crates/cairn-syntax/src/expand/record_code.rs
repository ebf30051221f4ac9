//! The code of tests of record types and of accesses to fields.

use super::prims::prim_at;
use cairn_core::ir::{Expr, Literal};
use cairn_core::prim::{MAKE_RAW_RECORD, Op};
use cairn_layout::code::Site;
use cairn_layout::object::record::Slot;
use cairn_num::{Int, Number};

/// Raw records of more words than this are made by the runtime.
const INLINE_WORDS: i64 = 64;

/// `(and test …)`, of at least one.
pub(super) fn all_of(tests: Vec<Expr>) -> Expr {
    let mut rest = tests.into_iter().rev();
    let last = rest.next().expect("a test");
    rest.fold(last, |all, test| Expr::If(test.into(), all.into(), Expr::Const(Literal::Bool(false)).into()))
}

/// A fresh raw record of so many words.
pub(super) fn raw_record(rtd: Expr, words: i64) -> Expr {
    if words <= INLINE_WORDS {
        return prim_at(Op::RawRecord, vec![rtd, Expr::Const(fixnum(words))], Site::NONE);
    }
    Expr::Prim { op: MAKE_RAW_RECORD, args: vec![rtd], site: Site::NONE, proven: 0 }
}

pub(super) fn load(record: Expr, rtd: Expr, slot: Slot, site: Site) -> Expr {
    let op = if slot.is_double() { Op::RecordFlRef } else { Op::RecordRef };
    prim_at(op, vec![record, rtd, code(slot)], site)
}

pub(super) fn store(record: Expr, rtd: Expr, slot: Slot, value: Expr, site: Site) -> Expr {
    let op = if slot.is_double() { Op::RecordFlSet } else { Op::RecordSet };
    prim_at(op, vec![record, rtd, code(slot), value], site)
}

pub(super) fn code(slot: Slot) -> Expr {
    // fields of any value are known by their number
    Expr::Const(fixnum(slot.code()))
}

pub(super) fn fixnum(n: i64) -> Literal {
    Literal::Number(Number::Int(Int::Fix(n)))
}
