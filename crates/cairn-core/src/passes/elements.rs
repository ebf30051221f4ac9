//! Elements of structure vectors: a reference that is only used to reach fields is not made.
//!
//! ```text
//!  (let ((p (let ((s (%record-ref v points 1)) (o (%fx* i 16)))       (let ((s (%record-ref v points 1)) (o (%fx* i 16)))
//!             (if … #f (structure-wrong … v i))                   ⟶     (if … #f (structure-wrong … v i))
//!             (%structure-reference v i s o point))))                   (%+ (%structure-get s o 0) (%structure-get s o 1)))
//!    (%+ (%record-ref p point 0) (%record-ref p point 1)))
//! ```
//!
//! The problem: `(point-x (point-vector-ref v i))` makes an object, or looks for the one that is in use, and the access
//! asks the runtime where the element's fields are. The idea: nobody else sees that object if all that is done with it
//! is to reach fields of its very type, or to ask whether it is of that type, and then storage and offset do.
//!
//! So it is with copies of records that lie in others, of which nothing but fields is read: these are read where the
//! copy would be made. Other copies become code that makes them.
//!
//! Invariants: dialect `Opt` in and out. Bindings stay in their order. Variables do not change, so storage and offset
//! are the same wherever the reference would be. A body is walked once for each reference that is bound in it.

use super::types::field_of;
use crate::ir::{Expr, GlobalId, Literal, Program, VarId};
use crate::prim::{MAKE_RAW_RECORD, Op, PrimOp, RECORD_PART, STRUCTURE_ELEMENT, STRUCTURE_REFERENCE, scalar_bit};
use crate::walk::{rewrite, take, visit};
use cairn_layout::code::Site;
use cairn_layout::object::record::Slot;
use cairn_num::{Int, Number};

/// Copies of more words are made by the runtime.
const RAW_WORDS: i64 = 64;

/// Reaches fields of elements directly wherever the references to them are not needed.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        let mut parts = false;
        visit(form.expr(), &mut |e| parts |= is_part(e));
        rewrite(form.expr_mut(), &mut |e| expression(program, e));
        if !parts {
            continue;
        }
        // then fields of elements are read where copies of their parts would have been made
        rewrite(form.expr_mut(), &mut |e| {
            if is_part(e) {
                let made = take(e);
                *e = copy(program, made);
            }
        });
        rewrite(form.expr_mut(), &mut |e| expression(program, e));
    }
    program.forms = forms;
}

fn expression(program: &mut Program, e: &mut Expr) {
    let is_field = is_use(e).is_some();
    match e {
        Expr::Prim { args, .. } if is_field && tail(&args[0]).is_some() => {
            let mut outer = take(&mut args[0]);
            let v = program.fresh_var("element");
            args[0] = Expr::Local(v);
            let used = take(e);
            replace_tail(&mut outer, |made| bound(program, v, made, used));
            *e = outer;
        }
        Expr::Let(bindings, _) if bindings.iter().any(|(_, x)| tail(x).is_some()) => {
            let Expr::Let(bindings, body) = take(e) else { return };
            let mut after = Vec::new();
            let mut inner = *body;
            for (v, mut x) in bindings.into_iter().rev() {
                if tail(&x).is_none() {
                    after.push((v, x));
                    continue;
                }
                inner = around(&mut after, inner);
                replace_tail(&mut x, |made| bound(program, v, made, inner));
                inner = x;
            }
            *e = around(&mut after, inner);
        }
        _ => {}
    }
}

/// Binds what was collected from the last to the first.
fn around(bindings: &mut Vec<(VarId, Expr)>, body: Expr) -> Expr {
    if bindings.is_empty() {
        return body;
    }
    Expr::Let(bindings.drain(..).rev().collect(), body.into())
}

/// Does the body make a reference to an element, as what it returns or for itself, or give somebody what makes one?
/// Inlined, it mostly makes none. That is worth a copy in code that runs once, too: as long as no reference is kept,
/// the type's records cost what others do.
pub(super) fn makes_reference(body: &Expr) -> bool {
    let mut e = body;
    while tail(e).is_none() {
        e = match e {
            Expr::Let(bindings, _) if bindings.iter().any(|(_, x)| tail(x).is_some()) => return true,
            Expr::Let(_, body) => body,
            Expr::Seq(es) => es.last().expect("a sequence is not empty"),
            Expr::Call(_, args, _) => {
                return args.iter().any(|a| match a {
                    Expr::Lambda(l) => l.clauses.iter().any(|c| tail(&c.body).is_some()),
                    _ => false,
                });
            }
            _ => return false,
        }
    }
    true
}

/// The reference that `e` makes last, if it does.
fn tail(e: &Expr) -> Option<&Expr> {
    let mut e = e;
    loop {
        e = match e {
            Expr::Let(_, body) => body,
            Expr::Seq(es) => es.last()?,
            Expr::Prim { op: STRUCTURE_REFERENCE | STRUCTURE_ELEMENT, .. } => return Some(e),
            e if is_part(e) => return Some(e),
            _ => return None,
        }
    }
}

/// Puts something in the place of the reference that `e` makes last.
fn replace_tail(e: &mut Expr, by: impl FnOnce(Expr) -> Expr) {
    let mut e = e;
    loop {
        e = match e {
            Expr::Let(_, body) => body,
            Expr::Seq(es) => es.last_mut().expect("a sequence is not empty"),
            _ => break,
        }
    }
    let made = take(e);
    *e = by(made);
}

/// `body`, in which `v` is the reference that `made` makes: without it, if possible.
fn bound(program: &mut Program, v: VarId, made: Expr, mut body: Expr) -> Expr {
    let of = match &made {
        Expr::Prim { args, .. } => args.last(),
        _ => None,
    };
    let Some(Expr::Global(rtd, _)) = of else { return Expr::Let(vec![(v, made)], body.into()) };
    let rtd = *rtd;
    let (mut all, mut good) = (0, 0);
    visit(&body, &mut |e| {
        all += usize::from(matches!(e, Expr::Local(w) if *w == v));
        good += usize::from(is_use(e) == Some((rtd, Some(v))));
    });
    if all != good {
        return Expr::Let(vec![(v, made)], body.into());
    }
    if is_part(&made) {
        return read_in_place(program, v, made, body);
    }
    let Expr::Prim { mut args, .. } = made else { unreachable!("looked at above") };
    args.pop();
    let offset = args.pop().expect("an operand");
    let storage = args.pop().expect("an operand");
    let (s, o) = (program.fresh_var("storage"), program.fresh_var("offset"));
    rewrite(&mut body, &mut |e| {
        if is_use(e) == Some((rtd, Some(v))) {
            direct(e, s, o);
        }
    });
    args.retain(|x| !matches!(x, Expr::Local(_) | Expr::Const(_)));
    args.push(Expr::Let(vec![(s, storage), (o, offset)], body.into()));
    if args.len() == 1 { args.swap_remove(0) } else { Expr::Seq(args) }
}

/// Does it copy a record that lies in another one, at places that are said?
fn is_part(e: &Expr) -> bool {
    matches!(e, Expr::Prim { op: RECORD_PART, args, .. } if matches!(args[2..4], [Expr::Const(_), Expr::Const(_)]))
}

/// A record that lies in another one.
struct Part {
    /// The other one, its type, and the place of the operation.
    record: Expr,
    rtd: Expr,
    site: Site,
    /// Codes of each value, in the part and in the other one.
    places: Vec<(Slot, Slot)>,
    /// Its words and type.
    words: i64,
    part: Expr,
}

impl Part {
    fn of(made: Expr) -> Part {
        let Expr::Prim { mut args, site, .. } = made else { unreachable!("callers look") };
        let part = args.pop().expect("an operand");
        let words = args.pop().and_then(|e| fixnum_in(&e)).expect("a literal");
        let (mut places, list) = (Vec::new(), args.pop());
        let mut rest = match &list {
            Some(Expr::Const(list)) => list,
            _ => unreachable!("a literal"),
        };
        while let Literal::Pair(p) = rest {
            let Literal::Pair(codes) = &p.0 else { unreachable!("a pair of codes") };
            let slot = |l: &Literal| Slot::of(fixnum_of(l).expect("a code"));
            places.push((slot(&codes.0), slot(&codes.1)));
            rest = &p.1;
        }
        let rtd = args.pop().expect("an operand");
        Part { record: args.pop().expect("an operand"), rtd, site, places, words, part }
    }

    /// The variable that the other one is in, and its binding if it is in none yet.
    fn variable(&mut self, program: &mut Program) -> (VarId, Option<(VarId, Expr)>) {
        match take(&mut self.record) {
            Expr::Local(v) => (v, None),
            record => {
                let v = program.fresh_var("record");
                (v, Some((v, record)))
            }
        }
    }

    /// Reads a value of the part where it lies.
    fn load(&self, record: VarId, slot: Slot) -> Expr {
        let op = if slot.is_double() { Op::RecordFlRef } else { Op::RecordRef };
        let args = vec![Expr::Local(record), self.rtd.clone(), number(slot.code())];
        Expr::Prim { op: PrimOp::Op(op), args, site: self.site, proven: 0 }
    }
}

fn fixnum_of(l: &Literal) -> Option<i64> {
    match l {
        Literal::Number(Number::Int(Int::Fix(n))) => Some(*n),
        _ => None,
    }
}

fn fixnum_in(e: &Expr) -> Option<i64> {
    match e {
        Expr::Const(l) => fixnum_of(l),
        _ => None,
    }
}

fn number(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}

/// `body`, which only reads fields of the copy `v` that `made` makes, or asks for its type: with variables for them. It
/// may be one that stores into the copy, which then is made.
fn read_in_place(program: &mut Program, v: VarId, made: Expr, mut body: Expr) -> Expr {
    let (mut only_read, mut read) = (true, Vec::new());
    visit(&body, &mut |e| {
        let Expr::Prim { op: PrimOp::Op(op), args, .. } = e else { return };
        if !matches!(args.first(), Some(Expr::Local(w)) if *w == v) {
            return;
        }
        match op {
            Op::RecordRef | Op::RecordFlRef => read.push(field_of(&args[2])),
            Op::IsInstance => {}
            _ => only_read = false,
        }
    });
    if !only_read {
        return Expr::Let(vec![(v, made)], body.into());
    }
    let mut part = Part::of(made);
    let (record, outer) = part.variable(program);
    // the first one is read in any case: it checks the record's type
    let needed = part.places.iter().enumerate().filter(|(i, (slot, _))| *i == 0 || read.contains(slot));
    let mut values = Vec::new();
    let mut names = Vec::new();
    for (_, (inside, slot)) in needed {
        let value = program.fresh_var("value");
        values.push((value, part.load(record, *slot)));
        names.push((*inside, value));
    }
    rewrite(&mut body, &mut |e| {
        let Expr::Prim { op: PrimOp::Op(op), args, .. } = e else { return };
        if !matches!(args.first(), Some(Expr::Local(w)) if *w == v) {
            return;
        }
        *e = match op {
            Op::IsInstance => Expr::Const(Literal::Bool(true)),
            _ => {
                let slot = field_of(&args[2]);
                let (_, value) = names.iter().find(|(inside, _)| *inside == slot).expect("a field of the type");
                Expr::Local(*value)
            }
        };
    });
    around(&mut outer.into_iter().collect(), Expr::Let(values, body.into()))
}

/// Code that makes the copy.
fn copy(program: &mut Program, made: Expr) -> Expr {
    let mut part = Part::of(made);
    let copy = program.fresh_var("copy");
    let (record, outer) = part.variable(program);
    let (mut values, mut body) = (Vec::new(), Vec::new());
    for (inside, slot) in &part.places {
        let value = program.fresh_var("value");
        values.push((value, part.load(record, *slot)));
        let op = if inside.is_double() { Op::RecordFlSet } else { Op::RecordSet };
        let args = vec![Expr::Local(copy), part.part.clone(), number(inside.code()), Expr::Local(value)];
        body.push(Expr::Prim { op: PrimOp::Op(op), args, site: part.site, proven: 1 });
    }
    body.push(Expr::Local(copy));
    let fresh = if part.words <= RAW_WORDS {
        let args = vec![part.part.clone(), number(part.words)];
        Expr::Prim { op: PrimOp::Op(Op::RawRecord), args, site: Site::NONE, proven: 0 }
    } else {
        Expr::Prim { op: MAKE_RAW_RECORD, args: vec![part.part.clone()], site: Site::NONE, proven: 0 }
    };
    let made = Expr::Let(vec![(copy, fresh)], Expr::Seq(body).into());
    around(&mut outer.into_iter().collect(), Expr::Let(values, made.into()))
}

/// If `e` does what a reference is not needed for: the type of the operation, and the variable that is its operand.
fn is_use(e: &Expr) -> Option<(GlobalId, Option<VarId>)> {
    let Expr::Prim { op: PrimOp::Op(op), args, .. } = e else { return None };
    if !op.asks_type() {
        return None;
    }
    let Expr::Global(rtd, _) = &args[1] else { return None };
    let v = match &args[0] {
        Expr::Local(v) => Some(*v),
        _ => None,
    };
    Some((*rtd, v))
}

/// The operation on the element itself.
fn direct(e: &mut Expr, storage: VarId, offset: VarId) {
    let Expr::Prim { op, args, proven, .. } = e else { return };
    let mut lies = Expr::Local(offset);
    if let PrimOp::Op(o) = op
        && let Some(k) = o.index()
    {
        let sum = |op, a, b| Expr::Prim { op: PrimOp::Op(op), args: vec![a, b], site: Site::NONE, proven: 3 };
        let bytes = Expr::Const(Literal::Number(Number::Int(Int::Fix(field_of(&args[2]).bytes() as i64))));
        lies = sum(Op::FxAdd, lies, sum(Op::FxMul, args.remove(k), bytes));
    }
    *op = PrimOp::Op(match op {
        PrimOp::Op(Op::RecordRef | Op::RecordAt) => Op::StructureRef,
        PrimOp::Op(Op::RecordSet | Op::RecordAtSet) => Op::StructureSet,
        PrimOp::Op(Op::RecordFlRef | Op::RecordFlAt) => Op::StructureFlRef,
        PrimOp::Op(Op::RecordFlSet | Op::RecordFlAtSet) => Op::StructureFlSet,
        _ => {
            *e = Expr::Const(Literal::Bool(true));
            return;
        }
    });
    *proven &= 1 << 3 | scalar_bit(3);
    args[0] = Expr::Local(storage);
    args[1] = lies;
}
