//! `define-structure-vector`.
//!
//! ```text
//! (define-structure-vector point)
//!   ⟶  word              = (make-structure-word 'point-vector)
//!      points            = (make-structure-type word "a point-vector" "a point" (%structure-type point))
//!      make-point-vector = (case-lambda ((n) (structure-make points "make-point-vector" n))
//!                                       ((n x y) (structure-make-filled points "…" n (%record point x y))))
//!      point-vector-ref  = (lambda (v i)
//!                            (if (and (%record-instance? v word) (%fixnum? i) (%fx<= 0 i) (%fx< i (%record-ref v word 0)))
//!                                #f
//!                                (structure-wrong points "point-vector-ref" v i))
//!                            (let ((storage (%record-ref v word 1)) (offset (%fx* i 16)))
//!                              (%structure-reference v i storage offset point)))
//!      point-vector-set! = the same, then the modifiers' bodies on a reference that nobody else knows  …
//! ```
//!
//! What most procedures do is in `lib/cairn/structures.sld`; here they get their names, and fields, which go through a
//! fresh record, so that they are checked as its constructor does before anything is stored. The two that reach an
//! element are written out: where they are inlined, the optimizer sees that many references are not needed
//! (`cairn-core/src/passes/elements.rs`). `point-vector-set!` makes the fresh record only when a field does not hold
//! what it may, for the error.
//!
//! The compiler must know of which types records may be elements: `GlobalInfo::elements`. So the record type is one of
//! the program. In a body type and procedures are local variables, of which the optimizer knows nothing: there each
//! element that is reached gets its reference.

use super::items::Item;
use super::meaning::Target;
use super::prims::{fixnum, prim_proven};
use super::record_code::{all_of, load};
use super::record_info::RecordInfo;
use super::state::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::{Ident, Syntax};
use cairn_core::ir::{Clause, Expr, Lambda, Literal, VarId};
use cairn_core::prim::{
    NEVER_EXTENDED, Op, STRUCTURE_ELEMENT, STRUCTURE_FILL, STRUCTURE_REFERENCE, STRUCTURE_SWAP, STRUCTURE_TYPE,
};
use cairn_layout::code::Site;
use cairn_layout::object::structure;
use std::rc::Rc;

const HELP: &str =
    "(define-structure-vector type), where (define-record-type type …) of the same program comes before";

/// A parameter of a procedure.
enum Param {
    /// A variable of this name.
    Plain(&'static str),
    /// One for each field, which together make a record.
    Fields,
}

use Param::{Fields, Plain};

/// A procedure: its name, with the type's in the place of `*`, and for each number of arguments its parameters and the
/// procedure of (cairn structures) that does it, which also takes the structure type and the name.
type Procedure = (&'static str, &'static [(&'static [Param], &'static str)]);

/// Elements of more fields change places by a runtime call.
const SWAPPED_FIELDS: usize = 8;

/// In the place of a library procedure: written out.
const REF: &str = "";
/// Written out, too.
const SET: &str = "!";
/// Gets what moves elements along.
const SORT: &str = "structure-sort-range!";
/// Halvings of a part that is sorted, beyond which it is taken for a bad case: no vector has so many good ones.
const SORT_LIMIT: i64 = 128;

const PROCEDURES: &[Procedure] = &[
    ("make-*-vector", &[(&[Plain("n")], "structure-make"), (&[Plain("n"), Fields], "structure-make-filled")]),
    ("*-vector?", &[(&[Plain("object")], "structure-vector?")]),
    ("*-vector-length", &[(&[Plain("v")], "structure-length")]),
    ("*-vector-ref", &[(&[Plain("v"), Plain("i")], REF)]),
    ("*-vector-set!", &[(&[Plain("v"), Plain("i"), Fields], SET)]),
    ("*-vector-fill!", &[(&[Plain("v"), Fields], "structure-fill!")]),
    (
        "*-vector-copy",
        &[
            (&[Plain("v")], "structure-copy"),
            (&[Plain("v"), Plain("start")], "structure-copy"),
            (&[Plain("v"), Plain("start"), Plain("end")], "structure-copy"),
        ],
    ),
    ("*-vector-map", &[(&[Plain("f"), Plain("v")], "structure-map")]),
    ("*-vector-for-each", &[(&[Plain("f"), Plain("v")], "structure-for-each")]),
    ("*-vector-sort!", &[(&[Plain("less?"), Plain("v")], SORT)]),
    ("*-vector-stable-sort!", &[(&[Plain("less?"), Plain("v")], "structure-stable-sort!")]),
    (
        "*-vector->list",
        &[
            (&[Plain("v")], "structure->list"),
            (&[Plain("v"), Plain("start")], "structure->list"),
            (&[Plain("v"), Plain("start"), Plain("end")], "structure->list"),
        ],
    ),
    ("list->*-vector", &[(&[Plain("list")], "list->structure")]),
];

impl Expander<'_> {
    pub(super) fn scan_structure_vector(
        &mut self,
        form: &Syntax,
        parts: &[Syntax],
        items: &mut Vec<Item>,
    ) -> R<()> {
        let [_, name] = parts else {
            return self.err_help(form.span, "bad `define-structure-vector`", HELP);
        };
        let Some(id) = name.as_ident() else {
            return self.err_help(name.span, "the name of a record type is expected here", HELP);
        };
        let known = self.record_named(id).filter(|(_, info)| self.may_have_elements(info));
        let Some((_, info)) = known else {
            let message = format!("`{}` is no record type that can have structure vectors here", self.name(id));
            return self.err_help(name.span, message, HELP);
        };
        if info.compact {
            let message = format!("the record type `{}` is compact: it has no structure vectors", self.name(id));
            return self.err(name.span, message);
        }
        let mut marked = Some(info.clone());
        while let Some(i) = marked {
            if let Target::Global(g) = i.rtd {
                self.s.program.globals[g.0 as usize].elements = true;
            }
            marked = i.parent.clone();
        }
        let full_name = self.name(id).clone();
        let shown =
            full_name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).unwrap_or(&full_name).to_string();
        let article = if shown.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        let text = |s: String| Expr::Const(Literal::String(s.into()));
        let word = self.unnamed(&format!("{shown}-vector"));
        let structure = self.unnamed(&format!("{shown}-vectors"));
        let symbol = Expr::Const(Literal::Symbol(format!("{shown}-vector").into()));
        let made = self.library_call("structures", "make-structure-word", vec![symbol], form.span)?;
        self.built(items, word, id, made);
        let args = vec![
            self.target(word, name.span),
            text(format!("{article} {shown}-vector")),
            text(format!("{article} {shown}")),
            Expr::Prim {
                op: STRUCTURE_TYPE,
                args: vec![self.target(info.rtd, name.span), Expr::Const(Literal::Bool(true))],
                site: Site::NONE,
                proven: 0,
            },
        ];
        let made = self.library_call("structures", "make-structure-type", args, form.span)?;
        self.built(items, structure, id, made);
        let swap = self.unnamed(&format!("{shown}-swap!"));
        let swaps = self.swap(&info, name.span);
        self.built(items, swap, id, swaps);
        for (pattern, cases) in PROCEDURES {
            let own = self.s.names.like(id, &pattern.replace('*', &shown));
            let target = self.declare(own, name.span)?;
            let mut clauses = Vec::new();
            for (params, callee) in *cases {
                let at = (own, name.span);
                clauses.push(if *callee == SORT {
                    self.sort_case((word, structure), swap, &info, at)?
                } else if *callee == REF || *callee == SET {
                    self.element_case(*callee == SET, (word, structure), &info, at)?
                } else {
                    self.structure_case(params, callee, structure, &info, at)?
                });
            }
            let lambda = Lambda { name: self.name(own).clone(), clauses, site: self.plain_site(name.span) };
            self.built(items, target, own, Expr::Lambda(lambda));
        }
        Ok(())
    }

    /// Is it a type of the program?
    fn may_have_elements(&self, info: &RecordInfo) -> bool {
        match info.rtd {
            Target::Global(g) => !self.s.program.globals[g.0 as usize].library,
            Target::Local(_) => true,
        }
    }

    /// A variable that is defined here, but which no name refers to.
    fn unnamed(&mut self, name: &str) -> Target {
        if self.ctx.depth == 0 {
            Target::Global(self.fresh_global(name, false))
        } else {
            Target::Local(self.s.program.fresh_var(name))
        }
    }

    fn structure_case(
        &mut self,
        params: &[Param],
        callee: &str,
        structure: Target,
        info: &RecordInfo,
        (id, span): (Ident, Span),
    ) -> R<Clause> {
        let who = Literal::String(self.name(id).clone());
        let mut args = vec![self.target(structure, span), Expr::Const(who)];
        let mut vars = Vec::new();
        for p in params {
            match p {
                Plain(name) => {
                    let v = self.s.program.fresh_var(name);
                    vars.push(v);
                    args.push(Expr::Local(v));
                }
                Fields => {
                    let names: Vec<Rc<str>> = info.field_names();
                    let own: Vec<VarId> = names.iter().map(|n| self.s.program.fresh_var(n)).collect();
                    let make = self.record_maker(info, (0..names.len()).collect(), (id, span))?;
                    let rtd = self.target(info.rtd, span);
                    args.push(make(rtd, &own, self.accessor_site(id)));
                    vars.extend(own);
                }
            }
        }
        let body = self.call_by_caller(callee, args, span)?;
        Ok(Clause { params: vars, rest: None, body })
    }

    /// A call of a procedure of (cairn structures) without a place: what fails in it is shown where the user's code has
    /// called.
    fn call_by_caller(&mut self, callee: &str, args: Vec<Expr>, span: Span) -> R<Expr> {
        let callee = self.library_procedure("structures", callee, span)?;
        Ok(Expr::Call(callee.into(), args, Site::NONE))
    }

    /// `(lambda (v i) …)`, or `(lambda (v i field …) …)`: a reference to the element, or its fields are stored.
    fn element_case(
        &mut self,
        stores: bool,
        (word, structure): (Target, Target),
        info: &RecordInfo,
        (id, span): (Ident, Span),
    ) -> R<Clause> {
        let names = if stores { info.field_names() } else { Vec::new() };
        let [v, i, storage, offset, element] =
            ["v", "i", "storage", "offset", "element"].map(|name| self.s.program.fresh_var(name));
        let fields: Vec<VarId> = names.iter().map(|n| self.s.program.fresh_var(n)).collect();
        let local = Expr::Local;
        // What has been asked before is known, and that nothing extends the type of the vectors.
        let field = |word: Expr, n| prim_proven(Op::RecordRef, vec![local(v), word, fixnum(n as i64)], 1);
        let (of_length, of_storage) = (self.target(word, span), self.target(word, span));
        let tests = [
            prim_proven(Op::IsInstance, vec![local(v), self.target(word, span)], NEVER_EXTENDED),
            prim_proven(Op::IsFixnum, vec![local(i)], 0),
            prim_proven(Op::FxLe, vec![fixnum(0), local(i)], 3),
            prim_proven(Op::FxLt, vec![local(i), field(of_length, structure::LENGTH)], 3),
        ];
        let who = Expr::Const(Literal::String(self.name(id).clone()));
        let args = vec![self.target(structure, span), who, local(v), local(i)];
        let wrong = self.call_by_caller("structure-wrong", args, span)?;
        let no = || Expr::Const(Literal::Bool(false));
        let mut body = vec![Expr::If(all_of(tests.into()).into(), no().into(), wrong.into())];
        let rtd = self.target(info.rtd, span);
        let place = vec![
            (storage, field(of_storage, structure::STORAGE)),
            (offset, prim_proven(Op::FxMul, vec![local(i), fixnum(info.stride() as i64)], 3)),
        ];
        let made = |op, mut args: Vec<Expr>| {
            args.extend([local(storage), local(offset), rtd.clone()]);
            Expr::Prim { op, args, site: Site::NONE, proven: 0 }
        };
        if !stores {
            let reference = made(STRUCTURE_REFERENCE, vec![local(v), local(i)]);
            body.push(Expr::Let(place, reference.into()));
            return Ok(Clause { params: vec![v, i], rest: None, body: Expr::Seq(body) });
        }
        let site = self.accessor_site(id);
        if info.has_several() {
            let record = self.s.program.fresh_var("record");
            let make = self.record_maker(info, (0..fields.len()).collect(), (id, span))?;
            let made = make(rtd, &fields, site);
            let args = vec![local(storage), local(offset), fixnum(1), local(record)];
            let fill = Expr::Prim { op: STRUCTURE_FILL, args, site: Site::NONE, proven: 0 };
            let fill = Expr::Let(place, Expr::Seq(vec![fill, Expr::Const(Literal::Unspecified)]).into());
            body.push(Expr::Let(vec![(record, made)], fill.into()));
            let params = [vec![v, i], fields].concat();
            return Ok(Clause { params, rest: None, body: Expr::Seq(body) });
        }
        if let Some(test) = self.fields_fit(info, &fields, span) {
            let make = self.record_maker(info, (0..fields.len()).collect(), (id, span))?;
            let record = make(self.target(info.rtd, span), &fields, site);
            body.push(Expr::If(test.into(), no().into(), record.into()));
        }
        let mut stored: Vec<Expr> = info.stores(element, &rtd, &fields, site);
        stored.push(Expr::Const(Literal::Unspecified));
        let bound = Expr::Let(vec![(element, made(STRUCTURE_ELEMENT, vec![]))], Expr::Seq(stored).into());
        body.push(Expr::Let(place, bound.into()));
        let params = [vec![v, i], fields].concat();
        Ok(Clause { params, rest: None, body: Expr::Seq(body) })
    }

    /// `(lambda (storage i j) …)`: the elements that lie `i` and `j` bytes behind the start of the storage change
    /// places.
    fn swap(&mut self, info: &RecordInfo, span: Span) -> Expr {
        let [storage, i, j] = ["storage", "i", "j"].map(|name| self.s.program.fresh_var(name));
        let params = vec![storage, i, j];
        let local = Expr::Local;
        let rtd = self.target(info.rtd, span);
        let body = if info.leaves().len() <= SWAPPED_FIELDS {
            // by references that nobody else knows, which the optimizer need not make
            let [one, other] = ["one", "other"].map(|name| self.s.program.fresh_var(name));
            let made = |o| {
                let args = vec![local(storage), local(o), rtd.clone()];
                Expr::Prim { op: STRUCTURE_ELEMENT, args, site: Site::NONE, proven: 0 }
            };
            let (mut taken, mut stored) = (Vec::new(), Vec::new());
            for (from, to) in [(one, other), (other, one)] {
                let slots = info.leaves();
                let values: Vec<VarId> = slots.iter().map(|_| self.s.program.fresh_var("value")).collect();
                for (slot, v) in slots.into_iter().zip(&values) {
                    taken.push((*v, load(local(from), rtd.clone(), slot, Site::NONE)));
                }
                stored.extend(info.stores(to, &rtd, &values, Site::NONE));
            }
            stored.push(Expr::Const(Literal::Unspecified));
            let swapped = Expr::Let(taken, Expr::Seq(stored).into());
            let second = Expr::Let(vec![(other, made(j))], swapped.into());
            Expr::Let(vec![(one, made(i))], second.into())
        } else {
            let args = vec![local(storage), local(i), local(j), rtd];
            Expr::Prim { op: STRUCTURE_SWAP, args, site: Site::NONE, proven: 0 }
        };
        let clauses = vec![Clause { params, rest: None, body }];
        Expr::Lambda(Lambda { name: "swap!".into(), clauses, site: self.plain_site(span) })
    }

    /// `(lambda (less? v) …)`: the vector is sorted in place.
    fn sort_case(
        &mut self,
        (word, structure): (Target, Target),
        swap: Target,
        info: &RecordInfo,
        (id, span): (Ident, Span),
    ) -> R<Clause> {
        let [less, v, high, storage, i] =
            ["less?", "v", "high", "storage", "i"].map(|name| self.s.program.fresh_var(name));
        let local = Expr::Local;
        let who = Expr::Const(Literal::String(self.name(id).clone()));
        let args = vec![self.target(structure, span), who, local(less), local(v)];
        let checked = self.call_by_caller("structure-sortable", args, span)?;
        let rtd = self.target(info.rtd, span);
        let args = vec![local(storage), local(i), rtd];
        let body = Expr::Prim { op: STRUCTURE_ELEMENT, args, site: Site::NONE, proven: 0 };
        let clauses = vec![Clause { params: vec![storage, i], rest: None, body }];
        let element = Expr::Lambda(Lambda { name: "element".into(), clauses, site: self.plain_site(span) });
        let lies_in = [local(v), self.target(word, span), fixnum(structure::STORAGE as i64)];
        let args = vec![
            prim_proven(Op::RecordRef, lies_in.into(), 1),
            fixnum(0),
            local(high),
            fixnum(info.stride() as i64),
            fixnum(SORT_LIMIT),
            local(less),
            element,
            self.target(swap, span),
        ];
        let sorted = self.call_by_caller(SORT, args, span)?;
        let body = Expr::Let(vec![(high, checked)], sorted.into());
        Ok(Clause { params: vec![less, v], rest: None, body })
    }
}
