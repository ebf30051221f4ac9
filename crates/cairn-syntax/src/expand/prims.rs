//! Primitives, and procedures that expansions call without naming them in the program.
//!
//! A primitive in operator position with the right number of operands is [`Expr::Prim`]. Anywhere else it is a
//! *wrapper*: a global, made once, that holds `(lambda (a b) (%op a b))`.

use super::loader::LibraryName;
use super::meaning::{Binding, Meaning};
use super::state::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::Context;
use cairn_core::ir::{Clause, Expr, GlobalId, Lambda, Literal, TopForm};
use cairn_core::prim::{OPS, Op, PrimOp};
use cairn_layout::calls::{RT_CALLS, RtIndex};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use std::rc::Rc;

/// Every primitive.
pub(super) fn all() -> impl Iterator<Item = PrimOp> {
    let ops = OPS.iter().map(|i| PrimOp::Op(i.op));
    let calls = (0..RT_CALLS.len()).map(|i| PrimOp::Rt(RtIndex(i as u16)));
    [PrimOp::Vector, PrimOp::Record, PrimOp::Opaque, PrimOp::CCall].into_iter().chain(ops).chain(calls)
}

/// The key of a primitive as the procedure of this name.
pub fn primitive_key(op: PrimOp, name: &str) -> String {
    format!("%{} {name}", op.name())
}

pub(super) fn unspecified() -> Expr {
    Expr::Const(Literal::Unspecified)
}

/// The operation of a fixed-arity primitive applied to operands, without position.
pub(super) fn prim(op: Op, args: Vec<Expr>) -> Expr {
    prim_at(op, args, Site::NONE)
}

/// The operation of a primitive, without position, and without the checks of the operands whose bits are set.
pub(super) fn prim_proven(op: Op, args: Vec<Expr>, proven: u8) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven }
}

pub(super) fn fixnum(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}

pub(super) fn prim_at(op: Op, args: Vec<Expr>, site: Site) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args, site, proven: 0 }
}

/// Every primitive that is also a procedure; calls that only compiled code makes are none.
pub(super) fn procedures() -> impl Iterator<Item = PrimOp> {
    let internal = |op: &PrimOp| match op {
        PrimOp::Rt(i) => {
            let symbol = i.row().symbol;
            symbol.starts_with("cairn_machine_")
                && !["cairn_machine_winders", "cairn_machine_unbound"].contains(&symbol)
        }
        _ => false,
    };
    all().filter(move |op| !only_called(*op) && !internal(op))
}

/// The name of the procedure that performs an operation in a program that calls it `used_as`.
pub(super) fn name_as_procedure(used_as: &str) -> &str {
    used_as.trim_start_matches('%')
}

fn only_called(op: PrimOp) -> bool {
    matches!(
        op,
        PrimOp::Opaque
            | PrimOp::Op(
                Op::RecordRef
                    | Op::RecordSet
                    | Op::RecordFlRef
                    | Op::RecordFlSet
                    | Op::RecordAt
                    | Op::RecordAtSet
                    | Op::RecordFlAt
                    | Op::RecordFlAtSet
                    | Op::StructureRef
                    | Op::StructureSet
                    | Op::StructureFlRef
                    | Op::StructureFlSet
                    | Op::RawRecord
                    | Op::CompactRecord
                    | Op::PortRef
                    | Op::PortSet
                    | Op::OpaqueRef
                    | Op::OpaqueSet
                    | Op::MachineRef
                    | Op::MachineSet
            )
    )
}

impl Expander<'_> {
    /// A primitive as a procedure. It is known by the name that the program uses, as lib/ has it: under whatever names
    /// it is imported, it is one procedure.
    pub(super) fn primitive_value(&mut self, op: PrimOp, used_as: &str, span: Span) -> R<Expr> {
        if only_called(op) {
            return self.err(span, format!("`%{}` is not a procedure: it can only be called", op.name()));
        }
        let name = self.exported_name(op, name_as_procedure(used_as));
        let g = self.wrapper(op, &name);
        Ok(Expr::Global(g, self.site(span)))
    }

    /// The name of a primitive that the program calls `used_as`: an import that renames does not give it another one.
    pub(super) fn exported_name(&mut self, op: PrimOp, used_as: &str) -> Rc<str> {
        if used_as == op.name() || self.module().builtin {
            return used_as.into();
        }
        let (id, primitive) = (self.s.names.intern(used_as), Binding::Prim(op));
        let of_lib = self.s.libraries.values().filter(|l| self.s.modules[l.module as usize].builtin);
        if of_lib.clone().any(|l| l.get(id) == Some(primitive)) {
            return used_as.into();
        }
        let exported = of_lib.flat_map(|l| l.bindings()).filter(|(_, b)| *b == primitive);
        let names = exported.map(|(id, _)| self.s.names.name(id)).filter(|name| !name.starts_with('%'));
        names.min_by_key(|name| (name.len(), *name)).cloned().unwrap_or_else(|| used_as.into())
    }

    /// The procedure of this name that performs `op`.
    pub(super) fn wrapper(&mut self, op: PrimOp, name: &str) -> GlobalId {
        let key = (op, Rc::from(name));
        if let Some(g) = self.s.wrappers.get(&key) {
            return *g;
        }
        let imported = self.s.imported(&primitive_key(op, name));
        let g = imported.unwrap_or_else(|| self.fresh_global(name, true));
        self.s.wrappers.insert(key, g);
        if imported.is_some() && self.s.library_forms.is_none() {
            return g;
        }
        let before = self.s.program.forms.len();
        let clause = match op.arity() {
            Some(n) => {
                let who = (name != op.name()).then(|| self.s.program.procedure_name(name));
                let site = Site::NONE.with_who(who);
                let params: Vec<_> =
                    (0..n).map(|i| self.s.program.fresh_var(["a", "b", "c", "d", "e"][i.min(4)])).collect();
                let args = params.iter().map(|v| Expr::Local(*v)).collect();
                Clause { params, rest: None, body: Expr::Prim { op, args, site, proven: 0 } }
            }
            None => {
                // of any number of operands: through a list
                let rest = self.s.program.fresh_var("xs");
                let (first, maker): (&[&str], _) = match op {
                    PrimOp::Record => (&["rtd"], "make-record"),
                    PrimOp::CCall => (&["signature", "address", "inlined"], "c-direct"),
                    _ => (&[], "list->vector"),
                };
                let call = PrimOp::by_name(maker).expect("a row of the table of runtime calls");
                let params: Vec<_> = first.iter().map(|name| self.s.program.fresh_var(name)).collect();
                // evaluated code inlines nothing
                let passed = if op == PrimOp::CCall { &params[..2] } else { &params };
                let args = passed.iter().copied().chain([rest]).map(Expr::Local).collect();
                let body = Expr::Prim { op: call, args, site: Site::NONE, proven: 0 };
                Clause { params, rest: Some(rest), body }
            }
        };
        self.define_hidden(g, name, clause);
        if imported.is_some() {
            self.forget_library_forms(before);
        }
        g
    }

    fn define_hidden(&mut self, g: GlobalId, name: &str, clause: Clause) {
        let lambda = Lambda { name: name.into(), clauses: vec![clause], site: Site::NONE };
        self.push_form(TopForm::Define(g, Expr::Lambda(lambda)));
    }

    /// A call of a procedure that lib/ exports for the expander's use.
    pub(super) fn library_call(&mut self, library: &str, name: &str, args: Vec<Expr>, span: Span) -> R<Expr> {
        let callee = self.library_procedure(library, name, span)?;
        Ok(Expr::Call(callee.into(), args, self.site(span)))
    }

    pub(super) fn library_procedure(&mut self, library: &str, name: &str, span: Span) -> R<Expr> {
        let library = LibraryName::of(&["cairn", library]);
        let id = self.s.names.intern(name);
        let loading = self.s.libraries.get(&library).filter(|l| l.loading).map(|l| l.module);
        if let Some(module) = loading {
            // used inside of that library itself, or of one that it imports
            let g = match self.resolve_in(id, Context::top(module)) {
                Meaning::Bound(Binding::Global(g)) => g,
                _ => self.unbound_global(id, module, span),
            };
            return Ok(Expr::Global(g, self.site(span)));
        }
        self.load(&library, span)?;
        match self.s.libraries.get(&library).and_then(|l| l.get(id)) {
            Some(Binding::Global(g)) => Ok(Expr::Global(g, self.site(span))),
            Some(Binding::Prim(op)) => self.primitive_value(op, name, span),
            _ => self.err(span, format!("{library} does not export the procedure `{name}`")),
        }
    }

    /// `(append a b)` for `unquote-splicing`.
    pub(super) fn append(&mut self, a: Expr, b: Expr, site: Site) -> Expr {
        let g = match self.s.helpers.get("append") {
            Some(g) => *g,
            None => {
                if let Some(g) = self.s.imported("% append") {
                    return Expr::Call(Expr::Global(g, site).into(), vec![a, b], site);
                }
                let g = self.fresh_global("append", true);
                self.s.helpers.insert("append", g);
                let (a, b) = (self.s.program.fresh_var("a"), self.s.program.fresh_var("b"));
                let local = Expr::Local;
                let again = Expr::Call(
                    Expr::Global(g, Site::NONE).into(),
                    vec![prim(Op::Cdr, vec![local(a)]), local(b)],
                    Site::NONE,
                );
                let body = Expr::If(
                    prim(Op::IsNull, vec![local(a)]).into(),
                    local(b).into(),
                    prim(Op::Cons, vec![prim(Op::Car, vec![local(a)]), again]).into(),
                );
                self.define_hidden(g, "append", Clause { params: vec![a, b], rest: None, body });
                g
            }
        };
        Expr::Call(Expr::Global(g, site).into(), vec![a, b], site)
    }

    /// `(list x …)`.
    pub(super) fn list(&self, items: Vec<Expr>) -> Expr {
        let mut list = Expr::Const(Literal::Nil);
        for x in items.into_iter().rev() {
            list = prim(Op::Cons, vec![x, list]);
        }
        list
    }
}
