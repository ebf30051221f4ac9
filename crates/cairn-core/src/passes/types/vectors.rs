//! Vectors that nobody else sees: what they hold; and vectors of flonums.
//!
//! ```text
//!  (define u (make-vector n 0.))                           (define u (%numeric-make 9 n 0. "make-vector"))
//!  (%vector-set! u i (%* 2. (%vector-ref u j)))      ⟶     (%f64vector-set!:129 u i (%* 2. (%f64vector-ref:129 u j)))
//! ```
//!
//! The problem: what comes out of a vector may be anything, so numeric programs test, decode and encode every element.
//! The idea: values that may meet are put in one class, vectors and what lies in them (Steensgaard 1996). Vectors of a
//! class are *seen* if they only come from `make-vector` with a fill, and are only operands of operations on vectors.
//! Then all stores into them are in the program, and they hold what those store ([`Vectors::grow`]) and what they were
//! filled with ([`Vectors::filled`]). If that is flonums only, the vectors become f64vectors.
//!
//! Fields of the types of [`Records::of_any_values`] have classes, too: so the elements of a matrix in a record are
//! found.
//!
//! Nobody can tell: whatever could ask or copy such a vector has not seen it, a failing access tells index and length,
//! and [`AS_VECTOR`] makes it say "vector"; who prints a record sees by [`VECTOR`] in its header what to print. Where
//! something else than a vector may come in its place, `#f` for one, accesses ask for the kind as before.
//!
//! Invariants: whoever is no operation listed in `Classes::primitive`, and whatever is stored in pairs and in records
//! of other types, given to unknown procedures or returned from such, is in the class of what is not seen. Complexity:
//! almost linear.

use super::lattice::{Slot, Type};
use super::records::{Records, field};
use crate::ir::{Clause, Expr, GlobalId, LabelId, Lambda, Literal, Program, TopForm, VarId};
use crate::passes::known::{GlobalFacts, Known};
use crate::prim::{AS_VECTOR, Kind, NUMERIC_MAKE, Op, PrimOp};
use crate::walk::{deep, for_each_child, rewrite, visit};
use cairn_layout::object::numeric::{NumericKind, VECTOR};
use cairn_num::{Int, Number};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of vectors that are seen.
#[derive(Default)]
pub(super) struct Vectors {
    /// Classes of variables and of globals.
    vars: Vec<u32>,
    globals: Vec<u32>,
    /// By class: that of the elements, if somebody asks for them.
    elements: Vec<u32>,
    /// Classes of the fields of records, by type and code.
    fields: FxHashMap<(GlobalId, i64), u32>,
    seen: FxHashMap<u32, Seen>,
    /// What vectors that are made are filled with, by where that is in memory: it stays there until the first walk that
    /// rewrites.
    fills: FxHashMap<usize, u32>,
}

/// A class of vectors that are seen.
#[derive(Default)]
struct Seen {
    contents: Slot,
    /// Forms that have read it.
    readers: Vec<usize>,
    /// Its members are vectors.
    pure: bool,
}

impl Vectors {
    pub(super) fn new(program: &Program, facts: &GlobalFacts, forms: &[TopForm], records: &Records) -> Vectors {
        let mut classes = Classes::new(program, facts, forms, records);
        if !classes.makes {
            return Vectors::default();
        }
        for form in forms {
            match form {
                TopForm::Define(g, Expr::Lambda(l)) if classes.knows(Name::Global(*g)) => {
                    classes.known_lambda(Name::Global(*g), l)
                }
                TopForm::Define(g, e) => {
                    let into = classes.global(*g);
                    classes.flow(e, into);
                }
                TopForm::Expr(e) => classes.flow(e, UNSEEN),
            }
        }
        classes.result()
    }

    /// The class of the vector that the expression gives.
    fn class_of(&self, e: &Expr) -> Option<u32> {
        match e {
            Expr::Local(v) => self.vars.get(v.0 as usize).copied(),
            Expr::Global(g, _) => self.globals.get(g.0 as usize).copied(),
            Expr::Prim { op: PrimOp::Op(Op::VectorRef | Op::Unbox), args, .. } => {
                let of = self.class_of(&args[0])?;
                self.elements.get(of as usize).copied().filter(|e| *e != NOWHERE)
            }
            Expr::Prim { op: PrimOp::Op(Op::RecordRef), args, .. } => self.fields.get(&field(args)?).copied(),
            _ => None,
        }
    }

    /// What the vector `e` holds, if that is known, read in form `reader`.
    pub(super) fn get(&mut self, e: &Expr, reader: usize) -> Option<Type> {
        let class = self.class_of(e)?;
        let seen = self.seen.get_mut(&class)?;
        if !seen.readers.contains(&reader) {
            seen.readers.push(reader);
        }
        let t = seen.contents.ty;
        Some(Type { hint: !t.is_flonum() && t.may_be(super::lattice::bits::FLONUM), ..t })
    }

    /// What the vectors in a class hold, and the class of that.
    pub(super) fn contents(&self, class: u32) -> Option<(Type, u32)> {
        let seen = self.seen.get(&class)?;
        Some((seen.contents.ty, self.elements.get(class as usize).copied().unwrap_or(NOWHERE)))
    }

    /// The class of the vector in a variable, or in the box that it holds.
    pub(super) fn class_of_var(&self, v: VarId, boxed: bool) -> Option<u32> {
        let class = *self.vars.get(v.0 as usize)?;
        if boxed { self.elements.get(class as usize).copied() } else { Some(class) }
    }

    /// The class of the vector in a global variable.
    pub(super) fn class_of_global(&self, g: GlobalId) -> Option<u32> {
        self.globals.get(g.0 as usize).copied()
    }

    /// The forms that must be walked again because the vector `e` holds more than they saw.
    pub(super) fn grow(&mut self, e: &Expr, t: Type) -> Vec<usize> {
        let class = self.class_of(e);
        self.grow_class(class, t)
    }

    /// The forms that must be walked again if `fill` is what a new vector is filled with, of this type.
    pub(super) fn filled(&mut self, fill: &Expr, t: Type) -> Vec<usize> {
        let class = self.fills.get(&address(fill)).copied();
        self.grow_class(class, t)
    }

    fn grow_class(&mut self, class: Option<u32>, t: Type) -> Vec<usize> {
        let Some(seen) = class.and_then(|class| self.seen.get_mut(&class)) else { return Vec::new() };
        if seen.contents.grow(t, &[]) { seen.readers.clone() } else { Vec::new() }
    }

    /// Makes f64vectors of vectors that hold flonums only; says whether there are any. The forms are those that the
    /// classes were made of.
    pub(super) fn make_raw(&self, forms: &mut [TopForm]) -> bool {
        let raw: FxHashMap<u32, bool> =
            self.seen.iter().filter(|(_, s)| s.contents.ty.is_flonum()).map(|(c, s)| (*c, s.pure)).collect();
        if raw.is_empty() {
            return false;
        }
        for form in forms {
            rewrite(form.expr_mut(), &mut |e| self.make_operation_raw(&raw, e));
        }
        true
    }

    fn make_operation_raw(&self, raw: &FxHashMap<u32, bool>, e: &mut Expr) {
        match e {
            Expr::Prim { op: PrimOp::Op(o), args, proven, .. } => {
                let new = match o {
                    Op::VectorRef => Op::F64VectorRef,
                    Op::VectorSet => Op::F64VectorSet,
                    Op::VectorLength => Op::F64VectorLength,
                    Op::IsVector => Op::IsF64Vector,
                    _ => return,
                };
                let Some(pure) = self.class_of(&args[0]).and_then(|c| raw.get(&c)) else { return };
                *o = new;
                if new != Op::IsF64Vector {
                    *proven = *proven & 3 | u8::from(*pure) | AS_VECTOR;
                }
            }
            Expr::Call(_, args, site) | Expr::Prim { op: PrimOp::Rt(_), args, site, .. } => {
                let class = args.get(1).and_then(|fill| self.fills.get(&address(fill)));
                if !class.is_some_and(|c| raw.contains_key(c)) {
                    return;
                }
                let (mut made, site) = (std::mem::take(args), *site);
                let kind = NumericKind::F64 as i64 | VECTOR;
                let kind = Expr::Const(Literal::Number(Number::Int(Int::Fix(kind))));
                made.insert(0, kind);
                made.push(Expr::Const(Literal::String("make-vector".into())));
                *e = Expr::Prim { op: NUMERIC_MAKE, args: made, site, proven: 0 };
            }
            _ => {}
        }
    }
}

/// Gives the operands of operations on vectors names, so that their classes can be told: they may be calls, for one.
/// Nothing is done where no vector is made whose elements could be known.
pub(super) fn name_objects(program: &mut Program) {
    let mut makes = false;
    for form in &program.forms {
        visit(form.expr(), &mut |e| makes |= fill(program, e).is_some());
    }
    if !makes {
        return;
    }
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        rewrite(form.expr_mut(), &mut |e| {
            let Expr::Prim { op: PrimOp::Op(o), args, .. } = e else { return };
            if !matches!(o, Op::VectorRef | Op::VectorSet | Op::VectorLength | Op::IsVector) || has_class(&args[0])
            {
                return;
            }
            let v = program.fresh_var("vector");
            let object = std::mem::replace(&mut args[0], Expr::Local(v));
            let operation = std::mem::replace(e, Expr::Seq(Vec::new()));
            *e = Expr::Let(vec![(v, object)], Box::new(operation));
        });
    }
    program.forms = forms;
}

/// Do operands like this one have a class?
fn has_class(e: &Expr) -> bool {
    let read = [Op::VectorRef, Op::Unbox, Op::RecordRef].map(PrimOp::Op);
    match e {
        Expr::Local(_) | Expr::Global(..) | Expr::Const(_) => true,
        Expr::Prim { op, args, .. } => read.contains(op) && has_class(&args[0]),
        _ => false,
    }
}

/// The class of what is not seen.
const UNSEEN: u32 = 0;
/// No class: nobody gets the value.
const NOWHERE: u32 = u32::MAX;

/// A variable that may hold a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Local(VarId),
    Global(GlobalId),
}

/// Classes under construction.
struct Classes<'a> {
    program: &'a Program,
    parents: Vec<u32>,
    elements: Vec<u32>,
    /// By class: something in it is no vector.
    others: Vec<bool>,
    /// Vectors that are made: class, and where that is what they are filled with.
    made: Vec<(u32, usize)>,
    /// Procedures all of whose calls are seen: parameters, and the class of the result.
    procedures: FxHashMap<Name, (Vec<VarId>, u32)>,
    labels: FxHashMap<LabelId, &'a [VarId]>,
    /// Types of records whose fields have classes, and those.
    types: FxHashSet<GlobalId>,
    fields: FxHashMap<(GlobalId, i64), u32>,
    /// Some vector is made.
    makes: bool,
}

impl<'a> Classes<'a> {
    fn new(program: &'a Program, facts: &GlobalFacts, forms: &'a [TopForm], records: &Records) -> Classes<'a> {
        let mut c = Classes {
            program,
            parents: Vec::new(),
            elements: Vec::new(),
            others: Vec::new(),
            made: Vec::new(),
            procedures: FxHashMap::default(),
            labels: FxHashMap::default(),
            types: FxHashSet::default(),
            fields: FxHashMap::default(),
            makes: false,
        };
        for form in forms {
            visit(form.expr(), &mut |e| c.makes |= fill(program, e).is_some());
        }
        if !c.makes {
            return c;
        }
        let nodes = 1 + program.vars.len() + program.globals.len();
        c.parents = (0..nodes as u32).collect();
        c.elements = vec![NOWHERE; nodes];
        c.elements[UNSEEN as usize] = UNSEEN;
        c.others = vec![false; nodes];
        let mut defined = vec![false; program.globals.len()];
        for form in forms {
            if let TopForm::Define(g, _) = form {
                defined[g.0 as usize] = true;
            }
        }
        for (i, g) in program.globals.iter().enumerate() {
            if g.import.is_some() || g.library || !defined[i] {
                c.unify(c.global(GlobalId(i as u32)), UNSEEN);
            }
        }
        c.find_procedures(facts, forms);
        c.types = records.of_any_values(program, forms);
        c
    }

    /// Finds labels, and procedures that are only called, with as many arguments as they take.
    fn find_procedures(&mut self, facts: &GlobalFacts, forms: &'a [TopForm]) {
        let mut lambdas: FxHashMap<Name, &Lambda> = FxHashMap::default();
        let mut mentions: FxHashMap<Name, i64> = FxHashMap::default();
        let mut calls: Vec<(Name, usize)> = Vec::new();
        for form in forms {
            if let TopForm::Define(g, Expr::Lambda(l)) = form
                && matches!(facts.get(*g).value, Known::Lambda { .. })
                && !self.program.globals[g.0 as usize].library
            {
                lambdas.insert(Name::Global(*g), l);
            }
            visit(form.expr(), &mut |e| match e {
                Expr::Let(bs, _) => lambdas.extend(bs.iter().filter_map(|(v, e)| match e {
                    Expr::Lambda(l) => Some((Name::Local(*v), l)),
                    _ => None,
                })),
                Expr::Fix(bs, _) => lambdas.extend(bs.iter().map(|(v, l)| (Name::Local(*v), l))),
                Expr::Labels(ls, _) => self.labels.extend(ls.iter().map(|l| (l.id, &l.params[..]))),
                Expr::Call(f, args, _) => {
                    if let Some(name) = name_of(f) {
                        *mentions.entry(name).or_default() -= 1;
                        calls.push((name, args.len()));
                    }
                }
                e => {
                    if let Some(name) = name_of(e) {
                        *mentions.entry(name).or_default() += 1;
                    }
                }
            });
        }
        let takes =
            |l: &Lambda, n: usize| matches!(&l.clauses[..], [c] if c.rest.is_none() && c.params.len() == n);
        let wrong: FxHashSet<Name> = calls
            .iter()
            .filter(|(name, n)| lambdas.get(name).is_some_and(|l| !takes(l, *n)))
            .map(|c| c.0)
            .collect();
        for (name, l) in lambdas {
            if let [clause] = &l.clauses[..]
                && clause.rest.is_none()
                && mentions.get(&name).is_none_or(|n| *n == 0)
                && !wrong.contains(&name)
            {
                let result = self.fresh();
                self.procedures.insert(name, (clause.params.clone(), result));
            }
        }
    }

    fn knows(&self, name: Name) -> bool {
        self.procedures.contains_key(&name)
    }

    // --- classes

    fn var(&self, v: VarId) -> u32 {
        1 + v.0
    }

    fn global(&self, g: GlobalId) -> u32 {
        1 + self.program.vars.len() as u32 + g.0
    }

    /// The class of a field.
    fn field(&mut self, t: GlobalId, code: i64) -> u32 {
        if !self.types.contains(&t) {
            return UNSEEN;
        }
        if let Some(class) = self.fields.get(&(t, code)) {
            return *class;
        }
        let class = self.fresh();
        self.fields.insert((t, code), class);
        class
    }

    fn fresh(&mut self) -> u32 {
        let n = self.parents.len() as u32;
        self.parents.push(n);
        self.elements.push(NOWHERE);
        self.others.push(false);
        n
    }

    fn find(&mut self, mut n: u32) -> u32 {
        while self.parents[n as usize] != n {
            let up = self.parents[n as usize];
            self.parents[n as usize] = self.parents[up as usize];
            n = up;
        }
        n
    }

    fn unify(&mut self, a: u32, b: u32) {
        if a == NOWHERE || b == NOWHERE {
            return;
        }
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            let (a, b) = (self.find(a), self.find(b));
            // what is not seen stays class 0
            let (a, b) = (a.min(b), a.max(b));
            if a == b {
                continue;
            }
            self.parents[b as usize] = a;
            self.others[a as usize] |= self.others[b as usize];
            match (self.elements[a as usize], self.elements[b as usize]) {
                (_, NOWHERE) => {}
                (NOWHERE, of_b) => self.elements[a as usize] = of_b,
                both => todo.push(both),
            }
        }
    }

    /// The class of the elements of `n`.
    fn elements_of(&mut self, n: u32) -> u32 {
        if n == NOWHERE {
            return UNSEEN;
        }
        let n = self.find(n);
        if self.elements[n as usize] == NOWHERE {
            self.elements[n as usize] = self.fresh();
        }
        self.elements[n as usize]
    }

    /// Something that is no vector comes into the class.
    fn other(&mut self, into: u32) {
        if into != NOWHERE {
            let n = self.find(into);
            self.others[n as usize] = true;
        }
    }

    // --- flow

    /// The value of `e` comes into the class.
    fn flow(&mut self, e: &'a Expr, into: u32) {
        deep(|| self.flow_here(e, into))
    }

    fn flow_here(&mut self, e: &'a Expr, into: u32) {
        if let Some(fill) = fill(self.program, e) {
            let (Expr::Call(_, args, _) | Expr::Prim { args, .. }) = e else { return };
            self.flow(&args[0], UNSEEN);
            let class = if into == NOWHERE { UNSEEN } else { into };
            self.made.push((class, address(fill)));
            let elements = self.elements_of(class);
            return self.flow(fill, elements);
        }
        match e {
            // a literal f64vector is no vector, but one that has become an f64vector is
            Expr::Const(Literal::Vector(_) | Literal::Numbers(..)) => self.unify(into, UNSEEN),
            Expr::Const(_) => self.other(into),
            Expr::Local(v) => self.unify(into, self.var(*v)),
            Expr::Global(g, _) => self.unify(into, self.global(*g)),
            Expr::SetLocal(v, x) => {
                self.flow(x, self.var(*v));
                self.other(into);
            }
            Expr::SetGlobal(g, x, _) => {
                self.flow(x, self.global(*g));
                self.other(into);
            }
            Expr::If(test, then, other) => {
                self.flow(test, NOWHERE);
                self.flow(then, into);
                self.flow(other, into);
            }
            Expr::Seq(es) => {
                for (i, e) in es.iter().enumerate() {
                    self.flow(e, if i + 1 == es.len() { into } else { NOWHERE });
                }
            }
            Expr::Let(bs, body) | Expr::Letrec(bs, body) => {
                for (v, x) in bs {
                    match x {
                        Expr::Lambda(l) if self.knows(Name::Local(*v)) => self.known_lambda(Name::Local(*v), l),
                        x => self.flow(x, self.var(*v)),
                    }
                }
                self.flow(body, into);
            }
            Expr::Fix(bs, body) => {
                for (v, l) in bs {
                    match self.knows(Name::Local(*v)) {
                        true => self.known_lambda(Name::Local(*v), l),
                        false => self.unknown_lambda(l),
                    }
                }
                self.flow(body, into);
            }
            Expr::Lambda(l) => {
                self.unknown_lambda(l);
                self.other(into);
            }
            Expr::Call(f, args, _) => {
                if let Some((params, result)) = name_of(f).and_then(|name| self.procedures.get(&name)) {
                    let (params, result) = (params.clone(), *result);
                    for (a, p) in args.iter().zip(params) {
                        self.flow(a, self.var(p));
                    }
                    return self.unify(into, result);
                }
                self.unseen(e, into);
            }
            Expr::Labels(labels, body) => {
                for l in labels {
                    self.flow(&l.body, into);
                }
                self.flow(body, into);
            }
            Expr::Jump(l, args) => {
                let params = self.labels[l];
                for (a, p) in args.iter().zip(params) {
                    self.flow(a, self.var(*p));
                }
            }
            Expr::Receive { producer, clause, .. } => {
                self.flow(producer, UNSEEN);
                self.unknown_parameters(clause);
                self.flow(&clause.body, into);
            }
            Expr::Prim { op, args, .. } => self.primitive(e, *op, args, into),
            Expr::Apply(..) | Expr::CallCc(..) | Expr::Values(_) => self.unseen(e, into),
        }
    }

    /// Nothing is known of what happens to the parts, nor where the value comes from.
    fn unseen(&mut self, e: &'a Expr, into: u32) {
        for_each_child(e, &mut |e| self.flow(e, UNSEEN));
        self.unify(into, UNSEEN);
    }

    fn known_lambda(&mut self, name: Name, l: &'a Lambda) {
        let result = self.procedures[&name].1;
        l.clauses.iter().for_each(|c| self.flow(&c.body, result));
    }

    fn unknown_lambda(&mut self, l: &'a Lambda) {
        for c in &l.clauses {
            self.unknown_parameters(c);
            self.flow(&c.body, UNSEEN);
        }
    }

    fn unknown_parameters(&mut self, c: &Clause) {
        for p in c.params.iter().chain(&c.rest) {
            self.unify(self.var(*p), UNSEEN);
        }
    }

    fn primitive(&mut self, e: &'a Expr, op: PrimOp, args: &'a [Expr], into: u32) {
        if op == PrimOp::Record
            && let [Expr::Global(t, _), values @ ..] = args
        {
            for (i, x) in (0..).zip(values) {
                let class = self.field(*t, i);
                self.flow(x, class);
            }
            return self.other(into);
        }
        let PrimOp::Op(o) = op else { return self.unseen(e, into) };
        match o {
            Op::RecordRef => {
                let class = self.field_read(args);
                self.unify(into, class);
            }
            Op::RecordSet if field(args).is_some() => {
                let class = self.field_read(args);
                self.flow(&args[3], class);
                self.other(into);
            }
            Op::VectorRef => {
                let of = self.object(&args[0]);
                // an error shows what is no index
                self.flow(&args[1], UNSEEN);
                let elements = self.elements_of(of);
                self.unify(into, elements);
            }
            Op::VectorSet => {
                let of = self.object(&args[0]);
                self.flow(&args[1], UNSEEN);
                let elements = self.elements_of(of);
                self.flow(&args[2], elements);
                self.other(into);
            }
            Op::VectorLength | Op::IsVector => {
                self.object(&args[0]);
                self.other(into);
            }
            Op::MakeBox => {
                let elements = self.elements_of(into);
                self.flow(&args[0], elements);
                self.other(into);
            }
            Op::Unbox => {
                let of = self.object(&args[0]);
                let elements = self.elements_of(of);
                self.unify(into, elements);
            }
            Op::SetBox => {
                let of = self.object(&args[0]);
                let elements = self.elements_of(of);
                self.flow(&args[1], elements);
                self.other(into);
            }
            Op::Eq
            | Op::Not
            | Op::IsPair
            | Op::IsNull
            | Op::IsFixnum
            | Op::IsFlonum
            | Op::IsNumber
            | Op::IsBoolean
            | Op::IsSymbol
            | Op::IsString
            | Op::IsChar
            | Op::IsProcedure => {
                args.iter().for_each(|a| self.flow(a, NOWHERE));
                self.other(into);
            }
            _ => {
                args.iter().for_each(|a| self.flow(a, UNSEEN));
                match o.info().result {
                    Kind::Any | Kind::Vector => self.unify(into, UNSEEN),
                    _ => self.other(into),
                }
            }
        }
    }

    /// The class of the field that an operation asks for. What is no record is shown by an error.
    fn field_read(&mut self, args: &'a [Expr]) -> u32 {
        args[..3].iter().for_each(|a| self.flow(a, UNSEEN));
        field(args).map_or(UNSEEN, |(t, code)| self.field(t, code))
    }

    /// The class of an operand that is a vector or a box.
    fn object(&mut self, e: &'a Expr) -> u32 {
        match e {
            Expr::Local(v) => self.var(*v),
            Expr::Global(g, _) => self.global(*g),
            Expr::Prim { op: PrimOp::Op(o @ (Op::VectorRef | Op::Unbox)), args, .. } => {
                let of = self.object(&args[0]);
                if *o == Op::VectorRef {
                    self.flow(&args[1], UNSEEN);
                }
                self.elements_of(of)
            }
            Expr::Prim { op: PrimOp::Op(Op::RecordRef), args, .. } => self.field_read(args),
            e => {
                self.flow(e, UNSEEN);
                UNSEEN
            }
        }
    }

    fn result(mut self) -> Vectors {
        let (mut seen, mut fills) = (FxHashMap::<u32, Seen>::default(), FxHashMap::default());
        for (class, fill) in std::mem::take(&mut self.made) {
            let class = self.find(class);
            if class != UNSEEN {
                seen.entry(class).or_default();
                fills.insert(fill, class);
            }
        }
        for (class, seen) in &mut seen {
            seen.pure = !self.others[*class as usize];
        }
        let vars = (0..self.program.vars.len() as u32).map(|v| self.find(1 + v)).collect();
        let first = 1 + self.program.vars.len() as u32;
        let globals = (0..self.program.globals.len() as u32).map(|g| self.find(first + g)).collect();
        let elements = (0..self.elements.len())
            .map(|i| match self.elements[i] {
                NOWHERE => NOWHERE,
                e => self.find(e),
            })
            .collect();
        let fields = std::mem::take(&mut self.fields);
        let fields = fields.into_iter().map(|(f, class)| (f, self.find(class))).collect();
        Vectors { vars, globals, elements, fields, seen, fills }
    }
}

/// What the vector is filled with that the expression makes, if it is given.
fn fill<'a>(program: &Program, e: &'a Expr) -> Option<&'a Expr> {
    let args = match e {
        Expr::Call(f, args, _) => match &**f {
            Expr::Global(g, _) => {
                let g = &program.globals[g.0 as usize];
                (g.library && &*g.name == "make-vector").then_some(args)?
            }
            _ => return None,
        },
        Expr::Prim { op: op @ PrimOp::Rt(_), args, .. } if op.name() == "make-vector" => args,
        _ => return None,
    };
    match &args[..] {
        [_, Expr::Const(Literal::Vector(_) | Literal::Numbers(..) | Literal::Default)] => None,
        [_, fill] => Some(fill),
        _ => None,
    }
}

/// Where the expression is in memory.
fn address(e: &Expr) -> usize {
    std::ptr::from_ref(e) as usize
}

fn name_of(e: &Expr) -> Option<Name> {
    match e {
        Expr::Local(v) => Some(Name::Local(*v)),
        Expr::Global(g, _) => Some(Name::Global(*g)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::parse_program;
    use crate::print::print_program;

    /// The program after the analysis of types.
    fn optimized(text: &str) -> String {
        let mut p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        super::super::run(&mut p);
        crate::verify::verify(&p, crate::verify::Dialect::Opt).expect("the program is right");
        print_program(&p)
    }

    /// Do the vectors of the program become f64vectors, all of them or none?
    fn check(raw: bool, text: &str) {
        let text = optimized(text);
        assert_eq!(text.contains("%numeric-make"), raw, "{text}");
        assert_ne!(text.contains("%make-vector"), raw, "{text}");
        assert_eq!(text.contains("%f64vector-ref"), raw, "{text}");
        assert_ne!(text.contains("%vector-ref"), raw, "{text}");
    }

    #[test]
    fn vectors_of_flonums_are_found() {
        check(
            true,
            "(define @v.0 (%make-vector 9 0.)) (%vector-set! @v.0 1 2.) (%machine-set! 1 (%vector-ref @v.0 1))",
        );
        // a store of what came out of it, through variables, a procedure, a loop and a box
        check(
            true,
            "(define @v.0 (%make-vector 9 0.)) (define @w.1 (%make-vector 9 1.))
             (define @f.2 (lambda f (a.0 b.1) (%vector-set! a.0 1 (%* 2. (%vector-ref b.1 0)))))
             (@f.2 @v.0 @w.1) (@f.2 @w.1 @v.0)",
        );
        check(
            true,
            "(labels ((L0 (v.0 i.1) (if (%fx=:3 i.1 9) (%vector-ref v.0 0) (jump L0 v.0 (%fx+:3 i.1 1)))))
               (jump L0 (%make-vector 9 0.) 0))",
        );
        check(true, "(let ((b.0 (%box (%make-vector 9 0.)))) (%machine-set! 1 (%vector-ref (%unbox b.0) 0)))");
        // perhaps `#f`: accesses ask
        let text = optimized(
            "(let ((v.0 (if (%machine-ref 1) (%make-vector 9 0.) #f))) (%machine-set! 1 (%vector-ref v.0 0)))",
        );
        assert!(text.contains("%f64vector-ref:130 v.0 0"), "{text}");
    }

    #[test]
    fn rows_of_a_matrix_are_found() {
        let text = optimized(
            "(define @m.0 (%make-vector 9 #f)) (%vector-set! @m.0 1 (%make-vector 9 0.))
             (%machine-set! 1 (%vector-ref (%vector-ref @m.0 1) 2))",
        );
        assert!(text.contains("(%f64vector-ref:130 (%vector-ref:3 @m.0 1) 2)"), "{text}");
    }

    #[test]
    fn vectors_in_records_are_found() {
        let made = "(define @t.0 (%make-record-type 'm '(a b) 32))
                    (define @r.1 (%record @t.0 1 (%make-vector 9 0.)))
                    (%vector-set! (%record-ref @r.1 @t.0 1) 1 2.)
                    (%machine-set! 1 (%vector-ref (%record-ref @r.1 @t.0 1) 1))";
        check(true, made);
        // who prints a record sees what is in it
        check(true, &format!("{made} (%machine-set! 1 @r.1)"));
        for other in [
            "(%machine-set! 1 (%record-ref @r.1 @t.0 1))",
            "(%record-set! @r.1 @t.0 1 (%machine-ref 1))",
            "(%vector-set! (%record-ref @r.1 @t.0 1) 0 1)",
            // the type may be extended; a type that was asked of a record
            "(%machine-set! 1 @t.0)",
            "(%machine-set! 1 (%record-ref @r.1 (%machine-ref 1) 0))",
        ] {
            check(false, &format!("{made} {other}"));
        }
        // other fields are others
        check(true, &format!("{made} (%record-set! @r.1 @t.0 0 (%machine-ref 1))"));
    }

    #[test]
    fn vectors_are_filled_with_what_comes_from_elsewhere() {
        let matrix = "(define @row.0 (lambda row (n.0 x.1) (%make-vector n.0 x.1)))
                      (define @m.1 (%make-vector 9 (@row.0 9 2.5)))
                      (%vector-set! @m.1 1 (@row.0 9 X))
                      (%machine-set! 1 (%vector-ref (%vector-ref @m.1 1) 2))";
        for (raw, x) in
            [(true, "0."), (true, "(%fl+ (%machine-ref 1) 1.)"), (false, "0"), (false, "(%machine-ref 1)")]
        {
            let text = optimized(&matrix.replace('X', x));
            assert_eq!(text.contains("%f64vector-ref:131 (%vector-ref:3 @m.1 1) 2"), raw, "{text}");
            assert_eq!(text.contains("%numeric-make"), raw, "{text}");
        }
        // the fill is seen elsewhere, where it may be stored into
        // the library's procedure, whose body is in the program; what is not stored but filled in counts
        let library = "(global @make-vector.7 library)
            (define @make-vector.7 (case-lambda make-vector ((n.10) (%make-vector n.10 0)) ((n.11 x.12) (%make-vector n.11 x.12))))
            (define @v.0 (@make-vector.7 9 FILL)) (%vector-set! @v.0 3 1.5)
            (if (%flonum? (%vector-ref @v.0 0)) (%machine-set! 1 (%vector-ref @v.0 1)) (%machine-set! 2 1))";
        for (raw, fill) in [(true, "2.5"), (false, "#t"), (false, "(%machine-ref 1)")] {
            let text = optimized(&library.replace("FILL", fill));
            assert_eq!(text.contains("%f64vector-ref"), raw, "{text}");
            assert_eq!(
                text.contains("(%machine-set! 2 1)") || text.contains("(%machine-set!:1 2 1)"),
                !raw,
                "{text}"
            );
        }
        let filled = "(define @v.0 (%make-vector 9 0.)) (define @m.1 (%make-vector 9 @v.0))
                      (%machine-set! 1 (%vector-ref (%vector-ref @m.1 1) 2))";
        check(true, "(define @v.0 (%make-vector 9 0.)) (%machine-set! 1 (%vector-ref @v.0 1))");
        assert!(optimized(filled).contains("%f64vector-ref"));
        for other in ["(%vector-set! @v.0 0 'x)", "(%machine-set! 1 (%vector-ref @m.1 0))"] {
            assert!(!optimized(&format!("{filled} {other}")).contains("%f64vector-ref"), "{other}");
        }
    }

    #[test]
    fn operands_get_names() {
        check(
            true,
            "(define @f.0 (lambda f () (%make-vector 9 0.)))
             (%machine-set! 1 (%vector-ref (if (%machine-ref 1) (@f.0) (%make-vector 3 1.)) 1))",
        );
    }

    #[test]
    fn others_stay_vectors() {
        // an integer is stored, at once or later; somebody else sees it; it is in a pair, in a procedure that may be
        // called by anybody, an error may show it
        let made = "(define @v.0 (%make-vector 9 0.)) (%machine-set! 1 (%vector-ref @v.0 1))";
        check(false, "(define @v.0 (%make-vector 9 0)) (%machine-set! 1 (%vector-ref @v.0 1))");
        for other in [
            "(%vector-set! @v.0 1 2)",
            "(%vector-set! @v.0 1 (%machine-ref 1))",
            "(%machine-set! 1 @v.0)",
            "(%machine-set! 1 (%cons @v.0 1))",
            "(%machine-set! 1 (lambda f () @v.0))",
            "(%machine-set! 1 (%+ 1 @v.0))",
            "(%machine-set! 1 (%vector-ref @v.0 @v.0))",
            "(@v.0 1)",
            "(define @w.1 @v.0) (%vector-set! @w.1 0 1)",
            "(define @f.1 (lambda f (a.0) (%vector-set! a.0 0 0))) (@f.1 @v.0)",
            "(let ((b.0 (%box @v.0))) (%vector-set! (%unbox b.0) 0 'x))",
        ] {
            check(false, &format!("{made} {other}"));
        }
    }
}
