//! Too many live variables: the oldest go into packs.
//!
//! First every expression of a wide form gets its place in the order of evaluation, and every variable the place of its
//! last use (a loop's variables are used until the loop ends). Then the form is walked once more: wherever more
//! variables live than allowed, the oldest are packed right there, in the scope where they are visible to all that
//! follows.
//!
//! A variable that is needed after an expression cannot be packed inside of it: it counts as *across* there. So it is
//! packed before the expression begins, if there are many; and if there are many all the same, because expressions are
//! nested deep, the expression becomes a procedure, which has a frame of its own.

use super::widths::{Listed, Wide, is_atom};
use crate::analyze::{Closures, LamId, analyze};
use cairn_core::ir::*;
use cairn_core::prim::{Op, PrimOp};
use cairn_core::{deep, for_each_child};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use std::collections::{HashMap, HashSet};

/// A place in the order of evaluation.
type Place = u32;

/// Variables found in a field of an object.
pub type Fields = HashMap<VarId, (VarId, usize)>;

/// Reads a variable, from the pack it is in, if it is in one.
pub fn field(fields: &Fields, v: VarId) -> Expr {
    match fields.get(&v) {
        None => Expr::Local(v),
        Some((pack, i)) => {
            let i = Expr::Const(Literal::Number(Number::Int(Int::Fix(*i as i64))));
            let args = vec![field(fields, *pack), i];
            // Packs, and vectors made here, have the field: nothing is checked.
            Expr::Prim { op: PrimOp::Op(Op::OpaqueRef), args, site: Site::NONE, proven: u8::MAX }
        }
    }
}

/// The program with other forms.
pub fn with_forms(program: &Program, forms: Vec<TopForm>, vars: Vec<VarInfo>) -> Program {
    Program {
        vars,
        forms,
        globals: program.globals.clone(),
        labels: program.labels,
        sources: program.sources.clone(),
        procedures: program.procedures.clone(),
        name_places: Default::default(),
        inlined: program.inlined.clone(),
        early_reads: program.early_reads.clone(),
        hidden: program.hidden,
    }
}

/// The expression with other parts. Not for those that bind variables.
pub fn rebuild(e: &Expr, f: &mut impl FnMut(&Expr) -> Expr) -> Expr {
    match e {
        Expr::Const(_) | Expr::Local(_) | Expr::Global(..) => e.clone(),
        Expr::SetGlobal(g, e, site) => Expr::SetGlobal(*g, f(e).into(), *site),
        Expr::CallCc(n, e, site) => Expr::CallCc(*n, f(e).into(), *site),
        Expr::If(a, b, c) => Expr::If(f(a).into(), f(b).into(), f(c).into()),
        Expr::Seq(es) => Expr::Seq(es.iter().map(f).collect()),
        Expr::Values(es) => Expr::Values(es.iter().map(f).collect()),
        Expr::Jump(l, es) => Expr::Jump(*l, es.iter().map(f).collect()),
        Expr::Let(bs, body) => {
            let bs = bs.iter().map(|(v, e)| (*v, f(e))).collect();
            Expr::Let(bs, f(body).into())
        }
        Expr::Call(g, es, site) => {
            let g = f(g).into();
            Expr::Call(g, es.iter().map(f).collect(), *site)
        }
        Expr::Apply(g, es, site) => {
            let g = f(g).into();
            Expr::Apply(g, es.iter().map(f).collect(), *site)
        }
        Expr::Prim { op, args, site, proven } => {
            Expr::Prim { op: *op, args: args.iter().map(f).collect(), site: *site, proven: *proven }
        }
        Expr::Fix(..) | Expr::Lambda(_) | Expr::Receive { .. } | Expr::Labels(..) => {
            unreachable!("binds variables")
        }
        Expr::SetLocal(..) | Expr::Letrec(..) => unreachable!("fixed Core has no such form"),
    }
}

/// Packs variables in the forms with wide expressions.
pub fn run(program: &Program, always_bound: &[bool], wide: &Wide, listed: &Listed) -> Program {
    let closures = analyze(program, always_bound, listed);
    let mut order = Order::new(&closures, program);
    let mut forms = program.forms.clone();
    // places first: the walk looks back at them
    let wide_forms: Vec<usize> = (0..forms.len()).filter(|i| wide.form(*i)).collect();
    wide_forms.iter().for_each(|i| order.form(program.forms[*i].expr()));
    let Order { places, last, .. } = order;
    let mut p = Packer {
        closures: &closures,
        wide,
        places,
        last,
        vars: program.vars.clone(),
        fields: Fields::new(),
        packed: vec![],
        heights: HashMap::new(),
        scope: Scope::new(wide.widths.easy),
    };
    for i in wide_forms {
        forms[i] = match &program.forms[i] {
            TopForm::Define(g, e) => TopForm::Define(*g, p.scoped(e)),
            TopForm::Expr(e) => TopForm::Expr(p.scoped(e)),
        };
    }
    with_forms(program, forms, p.vars)
}

// ---- the order of evaluation

struct Order<'a> {
    closures: &'a Closures<'a>,
    next: Place,
    /// First and last place inside each expression.
    places: HashMap<*const Expr, (Place, Place)>,
    born: Vec<Place>,
    last: Vec<Place>,
    /// Labels that some label of the same form jumps back to.
    loops: HashSet<LabelId>,
    /// Loops around the expression at hand: where they begin, and what of outside they use.
    open: Vec<(Place, HashSet<VarId>)>,
}

impl<'a> Order<'a> {
    fn new(closures: &'a Closures<'a>, program: &Program) -> Self {
        let n = program.vars.len();
        Order {
            closures,
            next: 0,
            places: HashMap::new(),
            born: vec![0; n],
            last: vec![0; n],
            loops: HashSet::new(),
            open: vec![],
        }
    }

    fn form(&mut self, e: &Expr) {
        self.find_loops(e, &mut HashSet::new());
        self.expr(e);
    }

    /// Collects labels that are jumped to from their own body or from a label after them.
    fn find_loops(&mut self, e: &Expr, seen: &mut HashSet<LabelId>) {
        deep(|| match e {
            Expr::Labels(ls, body) => {
                self.find_loops(body, seen);
                for l in ls {
                    seen.insert(l.id);
                    self.find_loops(&l.body, seen);
                }
                for l in ls {
                    seen.remove(&l.id);
                }
            }
            Expr::Jump(l, args) => {
                if seen.contains(l) {
                    self.loops.insert(*l);
                }
                args.iter().for_each(|e| self.find_loops(e, seen));
            }
            e => for_each_child(e, &mut |c| self.find_loops(c, seen)),
        })
    }

    fn bind(&mut self, v: VarId) {
        self.born[v.0 as usize] = self.next;
    }

    fn reference(&mut self, v: VarId) {
        match self.closures.local.get(&v).map(|l| self.closures.lam(*l)) {
            Some(lam) if !lam.has_closure() => lam.free.iter().for_each(|x| self.use_at(*x)),
            _ => self.use_at(v),
        }
    }

    fn use_at(&mut self, v: VarId) {
        let i = v.0 as usize;
        self.last[i] = self.last[i].max(self.next);
        let outermost = self.open.partition_point(|(start, _)| *start <= self.born[i]);
        if let Some((_, used)) = self.open.get_mut(outermost) {
            used.insert(v);
        }
    }

    fn lambda(&mut self, l: &Lambda) {
        for c in &l.clauses {
            c.params.iter().chain(&c.rest).for_each(|v| self.bind(*v));
            self.expr(&c.body);
        }
    }

    fn expr(&mut self, e: &Expr) {
        deep(|| {
            self.next += 1;
            let start = self.next;
            self.expr_inner(e);
            self.places.insert(e, (start, self.next));
        })
    }

    fn expr_inner(&mut self, e: &Expr) {
        match e {
            Expr::Local(v) => self.reference(*v),
            Expr::Lambda(l) => self.lambda(l),
            Expr::Let(bs, body) => {
                for (v, e) in bs {
                    self.expr(e);
                    self.next += 1;
                    self.bind(*v);
                }
                self.expr(body);
            }
            Expr::Fix(bs, body) => {
                bs.iter().for_each(|(v, _)| self.bind(*v));
                bs.iter().for_each(|(_, l)| self.lambda(l));
                self.expr(body);
            }
            Expr::Receive { producer, clause, .. } => {
                self.expr(producer);
                clause.params.iter().chain(&clause.rest).for_each(|v| self.bind(*v));
                self.expr(&clause.body);
            }
            Expr::Labels(ls, body) => {
                let looping = ls.iter().any(|l| self.loops.contains(&l.id));
                self.next += 1;
                if looping {
                    self.open.push((self.next, HashSet::new()));
                }
                self.expr(body);
                for l in ls {
                    self.next += 1;
                    l.params.iter().for_each(|v| self.bind(*v));
                    self.expr(&l.body);
                }
                if looping {
                    let (_, used) = self.open.pop().expect("opened above");
                    used.into_iter().for_each(|v| self.use_at(v));
                }
            }
            e => for_each_child(e, &mut |c| self.expr(c)),
        }
    }
}

// ---- packing

/// What lives where the walk is, in the procedure at hand.
struct Scope {
    /// Needed after the expression at hand.
    across: usize,
    /// Others, oldest first; some may be dead already.
    live: Vec<VarId>,
    /// How many there may be.
    most: usize,
}

impl Scope {
    fn new(most: usize) -> Scope {
        Scope { across: 0, live: vec![], most }
    }
}

struct Packer<'a> {
    closures: &'a Closures<'a>,
    wide: &'a Wide,
    places: HashMap<*const Expr, (Place, Place)>,
    last: Vec<Place>,
    vars: Vec<VarInfo>,
    fields: Fields,
    /// Variables in `fields`, by age.
    packed: Vec<VarId>,
    /// Of packs.
    heights: HashMap<VarId, u32>,
    scope: Scope,
}

impl Packer<'_> {
    fn place(&self, e: &Expr) -> (Place, Place) {
        self.places[&(e as *const Expr)]
    }

    /// A variable begins to live.
    fn born(&mut self, v: VarId) {
        let lam = self.closures.local.get(&v).map(|l| self.closures.lam(*l));
        if lam.is_none_or(|l| l.has_closure()) {
            self.scope.live.push(v);
        }
    }

    /// Packs variables if too many live at this place.
    fn relieve(&mut self, at: Place, out: &mut Vec<(VarId, Expr)>) {
        let most = self.scope.most.saturating_sub(self.scope.across).max(self.wide.widths.few);
        if self.scope.live.len() > most {
            self.pack(at, most, self.wide.widths.few / 4, out);
        }
    }

    /// Packs all but the youngest variables while more than `most` live: variables with variables, packs with packs of
    /// the same height, as long as there are two of a kind.
    fn pack(&mut self, at: Place, most: usize, young: usize, out: &mut Vec<(VarId, Expr)>) {
        let last = &self.last;
        self.scope.live.retain(|v| last[v.0 as usize] >= at);
        while self.scope.live.len() > most {
            let young = self.scope.live.split_off(self.scope.live.len() - young);
            let mut count: HashMap<u32, usize> = HashMap::new();
            self.scope.live.iter().for_each(|v| *count.entry(self.height(*v)).or_default() += 1);
            let most_common = count.iter().max_by_key(|(h, n)| (**n, std::cmp::Reverse(**h)));
            let height = most_common.filter(|(_, n)| **n > 1).map(|(h, _)| *h);
            let old = std::mem::take(&mut self.scope.live);
            let (old, others): (Vec<VarId>, Vec<VarId>) =
                old.into_iter().partition(|v| height.is_none_or(|h| self.height(*v) == h));
            self.scope.live = others;
            for group in old.chunks(self.wide.widths.pack) {
                let pack = self.fresh("pack");
                self.last[pack.0 as usize] = group.iter().map(|v| self.last[v.0 as usize]).max().unwrap_or(0);
                self.heights.insert(pack, 1 + group.iter().map(|v| self.height(*v)).max().unwrap_or(0));
                let args = group.iter().map(|v| Expr::Local(*v)).collect();
                out.push((pack, Expr::Prim { op: PrimOp::Opaque, args, site: Site::NONE, proven: 0 }));
                for (i, v) in group.iter().enumerate() {
                    self.fields.insert(*v, (pack, i));
                    self.packed.push(*v);
                }
                self.scope.live.push(pack);
            }
            self.scope.live.extend(young);
            self.scope.most = self.wide.widths.few;
        }
    }

    /// 0 for a variable, one more than its highest field for a pack.
    fn height(&self, v: VarId) -> u32 {
        self.heights.get(&v).copied().unwrap_or(0)
    }

    /// Before a wide expression `e` that is not the last: it has much to pack itself, but cannot pack what is needed
    /// after it.
    fn pack_around(&mut self, e: &Expr, at: Place, out: &mut Vec<(VarId, Expr)>) {
        if self.wide.contains(e) {
            self.pack(at, self.wide.widths.nested, 0, out);
        }
    }

    /// The expression, after which nothing packed inside of it is known any more.
    fn scoped(&mut self, e: &Expr) -> Expr {
        if !self.wide.contains(e) {
            return self.easy(e);
        }
        let (packed, live) = (self.packed.len(), self.scope.live.clone());
        let e = self.walk(e);
        self.forget(packed);
        self.scope.live = live;
        e
    }

    fn forget(&mut self, packed: usize) {
        for v in self.packed.drain(packed..) {
            self.fields.remove(&v);
        }
    }

    /// An expression after which others are evaluated.
    fn nested(&mut self, e: &Expr) -> Expr {
        if !self.wide.contains(e) {
            return self.easy(e);
        }
        let (start, end) = self.place(e);
        let last = &self.last;
        let live = self.scope.live.clone();
        self.scope.live.retain(|v| last[v.0 as usize] >= start);
        let all = self.scope.live.len();
        self.scope.live.retain(|v| last[v.0 as usize] <= end);
        let across = all - self.scope.live.len();
        self.scope.across += across;
        let e = if self.scope.across > self.wide.widths.easy / 2 { self.apart(e) } else { self.scoped(e) };
        self.scope.across -= across;
        self.scope.live = live;
        e
    }

    /// A wide expression around which so much waits already that it becomes a procedure of its own: in its frame
    /// nothing waits yet. So nests may be of any depth.
    fn apart(&mut self, e: &Expr) -> Expr {
        let own = Scope { across: 0, live: self.scope.live.clone(), most: self.wide.widths.easy };
        let outer = std::mem::replace(&mut self.scope, own);
        let packed = self.packed.len();
        let body = self.walk(e);
        self.forget(packed);
        self.scope = outer;
        let f = self.fresh("apart");
        let clauses = vec![Clause { params: vec![], rest: None, body }];
        let lambda = Lambda { name: "".into(), clauses, site: Site::NONE };
        Expr::Fix(vec![(f, lambda)], Expr::Call(Expr::Local(f).into(), vec![], Site::NONE).into())
    }

    /// An expression that is not wide: only variables are read from where they are.
    fn easy(&mut self, e: &Expr) -> Expr {
        deep(|| match e {
            Expr::Local(v) => field(&self.fields, *v),
            Expr::Lambda(l) => Expr::Lambda(self.lambda(l)),
            Expr::Fix(bs, body) => {
                let bs = bs.iter().map(|(v, l)| (*v, self.lambda(l))).collect();
                Expr::Fix(bs, self.easy(body).into())
            }
            Expr::Receive { producer, clause, site } => {
                let producer = self.easy(producer).into();
                let Clause { params, rest, body } = &**clause;
                let clause = Clause { params: params.clone(), rest: *rest, body: self.easy(body) };
                Expr::Receive { producer, clause: clause.into(), site: *site }
            }
            Expr::Labels(ls, body) => {
                let labels = ls
                    .iter()
                    .map(|l| Label { id: l.id, params: l.params.clone(), body: self.easy(&l.body) })
                    .collect();
                Expr::Labels(labels, self.easy(body).into())
            }
            Expr::If(..) | Expr::Seq(_) | Expr::Let(..) => rebuild(e, &mut |c| self.easy(c)),
            e => self.operation(e),
        })
    }

    /// An operation on operands. Packed variables are read last, so that they do not wait for the other operands.
    fn operation(&mut self, e: &Expr) -> Expr {
        let (mut packed, mut late) = (false, false);
        for_each_child(e, &mut |c| match c {
            Expr::Local(v) => packed |= self.fields.contains_key(v),
            c => late |= packed && !is_atom(c),
        });
        if !late {
            return rebuild(e, &mut |c| self.easy(c));
        }
        let mut bs = vec![];
        let e = rebuild(e, &mut |c| {
            let value = self.easy(c);
            if is_atom(c) {
                return value;
            }
            let t = self.fresh("t");
            bs.push((t, value));
            Expr::Local(t)
        });
        Expr::Let(bs, e.into())
    }

    fn fresh(&mut self, name: &str) -> VarId {
        self.vars.push(VarInfo::new(name));
        self.last.push(0);
        VarId(self.vars.len() as u32 - 1)
    }

    /// A wide expression.
    fn walk(&mut self, e: &Expr) -> Expr {
        let mut out = vec![];
        let e = deep(|| self.walk_inner(e, &mut out));
        if out.is_empty() { e } else { Expr::Let(out, e.into()) }
    }

    fn walk_inner(&mut self, e: &Expr, out: &mut Vec<(VarId, Expr)>) -> Expr {
        let place = self.place(e).0;
        self.relieve(place, out);
        match e {
            e if !self.wide.contains(e) => self.easy(e),
            Expr::Let(bs, body) => {
                for (v, e) in bs {
                    let place = self.place(e).0;
                    self.relieve(place, out);
                    self.pack_around(e, place, out);
                    let value = self.nested(e);
                    out.push((*v, value));
                    self.born(*v);
                }
                self.walk_inner(body, out)
            }
            Expr::If(a, b, c) => {
                self.pack_around(a, place, out);
                let a = self.nested(a);
                Expr::If(a.into(), self.scoped(b).into(), self.scoped(c).into())
            }
            Expr::Seq(es) => {
                let (last, init) = es.split_last().expect("empty sequence");
                init.iter().for_each(|e| self.pack_around(e, place, out));
                let mut es: Vec<Expr> = init.iter().map(|e| self.nested(e)).collect();
                es.push(self.scoped(last));
                Expr::Seq(es)
            }
            Expr::Fix(bs, body) => {
                bs.iter().for_each(|(v, _)| self.born(*v));
                let bs = bs.iter().map(|(v, l)| (*v, self.lambda(l))).collect();
                Expr::Fix(bs, self.walk(body).into())
            }
            Expr::Receive { producer, clause, site } => {
                self.pack_around(producer, place, out);
                let producer = self.nested(producer).into();
                let Clause { params, rest, body } = &**clause;
                params.iter().chain(rest).for_each(|v| self.born(*v));
                let clause = Clause { params: params.clone(), rest: *rest, body: self.walk(body) };
                Expr::Receive { producer, clause: clause.into(), site: *site }
            }
            Expr::Labels(ls, body) => {
                let (packed, live) = (self.packed.len(), self.scope.live.clone());
                let body = self.scoped(body).into();
                let mut labels = vec![];
                for l in ls {
                    l.params.iter().for_each(|v| self.born(*v));
                    labels.push(Label { id: l.id, params: l.params.clone(), body: self.walk(&l.body) });
                    self.forget(packed);
                    self.scope.live.clone_from(&live);
                }
                Expr::Labels(labels, body)
            }
            e => self.easy(e),
        }
    }

    /// A procedure: what it closes over, and its parameters, live at its beginning.
    fn lambda(&mut self, l: &Lambda) -> Lambda {
        let id: LamId = self.closures.ids[&(l as *const Lambda)];
        let mut live: Vec<VarId> = vec![];
        let mut seen = HashSet::new();
        for v in &self.closures.lam(id).free {
            let mut v = *v;
            while let Some((pack, _)) = self.fields.get(&v) {
                v = *pack;
            }
            if seen.insert(v) {
                live.push(v);
            }
        }
        let outer = std::mem::replace(&mut self.scope, Scope::new(self.wide.widths.easy));
        let packed = self.packed.len();
        let mut clauses = vec![];
        for c in &l.clauses {
            self.scope = Scope { across: 0, live: live.clone(), most: self.wide.widths.easy };
            c.params.iter().chain(&c.rest).for_each(|v| self.born(*v));
            clauses.push(Clause { params: c.params.clone(), rest: c.rest, body: self.walk(&c.body) });
            self.forget(packed);
        }
        self.scope = outer;
        Lambda { name: l.name.clone(), clauses, site: l.site }
    }
}
