//! Random programs in dialect `Opt`, for tests that compare what a program does before and after a pass, or lowered. A
//! test includes this file.
//!
//! Expressions are generated for a wanted type, so that most programs run to the end; now and then a wrong type slips
//! in, so that errors are compared too. Loops count to small bounds; recursion between globals goes to earlier ones
//! or counts down.

#![allow(dead_code)] // each test uses its part

use cairn_core::interp;
use cairn_core::ir::{Clause, Expr, GlobalId, GlobalInfo, Label, Lambda, Literal, Program, TopForm, VarId};
use cairn_core::prim::{Op, PrimOp};
use cairn_core::print::print_program;
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

#[path = "random.rs"]
mod numbers;
use numbers::Random;

/// Types of generated expressions.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Ty {
    Int,
    Float,
    Bool,
    List,
    Vector,
    /// Procedure from integers to an integer.
    Proc(usize),
}

struct Generator {
    random: Random,
    program: Program,
    scope: Vec<(VarId, Ty)>,
    globals: Vec<(GlobalId, Vec<Ty>, Option<Ty>, Ty)>,
    budget: usize,
}

/// A random program.
pub fn program(seed: u64) -> Program {
    let mut r = Generator {
        random: Random::seeded(seed),
        program: Program::default(),
        scope: Vec::new(),
        globals: Vec::new(),
        budget: 0,
    };
    r.forms();
    r.program
}

/// Runs `pass` on many random programs; fails when one behaves differently afterwards.
pub fn check_pass(count: u64, pass: impl Fn(&mut Program)) {
    let mut finished = 0;
    for seed in 0..count {
        let mut p = program(seed);
        let before = interp::run(&p, 20_000);
        let source = p.clone();
        pass(&mut p);
        let after = interp::run(&p, 200_000);
        if before.result == Err(interp::Stop::Fuel) {
            continue;
        }
        finished += u64::from(before.result.is_ok());
        assert!(
            before == after,
            "seed {seed}\nbefore: {before:?}\n{}\nafter: {after:?}\n{}",
            print_program(&source),
            print_program(&p)
        );
    }
    assert!(finished * 3 > count, "only {finished} of {count} programs run to the end: the generator is too wild");
}

fn int(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}

fn prim(op: Op, args: Vec<Expr>) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven: 0 }
}

fn call(f: Expr, args: Vec<Expr>) -> Expr {
    Expr::Call(Box::new(f), args, Site::NONE)
}

fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn var(&mut self, ty: Ty) -> VarId {
        let v = self.program.fresh_var("v");
        self.scope.push((v, ty));
        v
    }

    fn ty(&mut self) -> Ty {
        [Ty::Int, Ty::Int, Ty::Float, Ty::Bool, Ty::List, Ty::Vector, Ty::Proc(1), Ty::Proc(2)][self.below(8)]
    }

    fn write(&mut self, x: Expr) -> Expr {
        let op = PrimOp::by_name("write-object").expect("in the table");
        Expr::Prim { op, args: vec![x, Expr::Const(Literal::Nil), int(1)], site: Site::NONE, proven: 0 }
    }

    fn forms(&mut self) {
        for _ in 0..2 + self.below(6) {
            let name = format!("g{}", self.globals.len());
            let g = GlobalId(self.program.globals.len() as u32);
            let library = self.below(2) == 0;
            self.program.globals.push(GlobalInfo { library, ..GlobalInfo::new(name.as_str()) });
            self.budget = 30 + self.below(40);
            let params: Vec<Ty> = (0..self.below(4)).map(|_| self.ty()).collect();
            let rest = (self.below(4) == 0).then_some(Ty::List);
            let result = self.ty();
            let lambda = if self.below(4) == 0 {
                self.recursive(g, &params, rest, result)
            } else {
                self.lambda(&params, rest, result)
            };
            self.globals.push((g, params, rest, result));
            self.program.forms.push(TopForm::Define(g, Expr::Lambda(lambda)));
        }
        for _ in 0..1 + self.below(3) {
            self.budget = 40;
            let ty = self.ty();
            let e = self.expr(ty, 5);
            let e = self.write(e);
            self.program.forms.push(TopForm::Expr(e));
        }
    }

    fn lambda(&mut self, params: &[Ty], rest: Option<Ty>, result: Ty) -> Lambda {
        let mut clauses = Vec::new();
        let decoys = self.below(4);
        if decoys == 0 {
            // another clause, never the one called
            clauses.push(self.clause(&vec![Ty::Int; params.len() + 7], None, result));
        }
        clauses.push(self.clause(params, rest, result));
        Lambda { name: "random".into(), clauses, site: Site::NONE }
    }

    fn clause(&mut self, params: &[Ty], rest: Option<Ty>, result: Ty) -> Clause {
        let mark = self.scope.len();
        let params = params.iter().map(|t| self.var(*t)).collect();
        let rest = rest.map(|t| self.var(t));
        let body = self.expr(result, 5);
        self.scope.truncate(mark);
        Clause { params, rest, body }
    }

    /// A procedure that calls itself with a smaller first argument.
    fn recursive(&mut self, g: GlobalId, params: &[Ty], rest: Option<Ty>, result: Ty) -> Lambda {
        let mut lambda = self.lambda(params, rest, result);
        if params.first() == Some(&Ty::Int)
            && rest.is_none()
            && let Some(clause) = lambda.clauses.last_mut()
        {
            let base = std::mem::replace(&mut clause.body, int(0));
            let mark = self.scope.len();
            self.scope.extend(clause.params.iter().copied().zip(params.iter().copied()));
            let n = Expr::Local(clause.params[0]);
            let mut args = vec![prim(Op::Sub, vec![n.clone(), int(1)])];
            args.extend(params[1..].iter().map(|t| self.expr(*t, 1)));
            self.scope.truncate(mark);
            let again = call(Expr::Global(g, Site::NONE), args);
            let test = prim(Op::NumLt, vec![n.clone(), int(6)]);
            let positive = prim(Op::NumLt, vec![int(0), n]);
            let inner = Expr::If(boxed(positive), boxed(again), boxed(base));
            let other = self.expr_closed(result);
            clause.body = Expr::If(boxed(test), boxed(inner), boxed(other));
        }
        lambda
    }

    fn expr_closed(&mut self, ty: Ty) -> Expr {
        let scope = std::mem::take(&mut self.scope);
        let e = self.expr(ty, 1);
        self.scope = scope;
        e
    }

    fn args(&mut self, n: usize, depth: usize) -> Vec<Expr> {
        (0..n).map(|_| self.expr(Ty::Int, depth)).collect()
    }

    fn leaf(&mut self, ty: Ty) -> Expr {
        let candidates: Vec<VarId> = self.scope.iter().filter(|(_, t)| *t == ty).map(|(v, _)| *v).collect();
        if !candidates.is_empty() && self.below(4) > 0 {
            return Expr::Local(candidates[self.below(candidates.len())]);
        }
        match ty {
            Ty::Int if self.below(12) == 0 => int((1 << 60) - 1 - self.below(3) as i64),
            Ty::Int => int(self.below(20) as i64 - 5),
            Ty::Float => Expr::Const(Literal::Number(Number::Flo(self.below(64) as f64 / 4.0 - 3.0))),
            Ty::Bool => Expr::Const(Literal::Bool(self.below(2) == 0)),
            Ty::List => Expr::Const(Literal::Nil),
            Ty::Vector => {
                let n = 1 + self.below(3);
                Expr::Prim { op: PrimOp::Vector, args: self.args(n, 0), site: Site::NONE, proven: 0 }
            }
            Ty::Proc(n) => {
                let l = self.lambda(&vec![Ty::Int; n], None, Ty::Int);
                Expr::Lambda(l)
            }
        }
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> Expr {
        if depth == 0 || self.budget == 0 {
            return if let Ty::Proc(n) = ty { self.small_proc(n) } else { self.leaf(ty) };
        }
        self.budget -= 1;
        let d = depth - 1;
        if self.below(150) == 0 {
            let ty = self.ty();
            return self.expr(ty, d); // wrong on purpose
        }
        match self.below(16) {
            0 => {
                let test = self.expr(Ty::Bool, d);
                let then = self.expr(ty, d);
                Expr::If(boxed(test), boxed(then), boxed(self.expr(ty, d)))
            }
            1 | 2 => self.let_(ty, d),
            3 => {
                let x = self.expr(Ty::Int, d);
                Expr::Seq(vec![self.write(x), self.expr(ty, d)])
            }
            4 => self.global_call(ty, d),
            5 => self.local_procedure(ty, d),
            6 => self.loop_(ty, d),
            7 => self.receive(ty, d),
            8 => self.join(ty, d),
            _ => self.typed(ty, d),
        }
    }

    fn small_proc(&mut self, n: usize) -> Expr {
        let params: Vec<VarId> = (0..n).map(|_| self.program.fresh_var("p")).collect();
        let body = match params.first() {
            Some(p) => prim(Op::Add, vec![Expr::Local(*p), int(1)]),
            None => int(3),
        };
        let clauses = vec![Clause { params, rest: None, body }];
        Expr::Lambda(Lambda { name: "small".into(), clauses, site: Site::NONE })
    }

    fn let_(&mut self, ty: Ty, d: usize) -> Expr {
        let n = 1 + self.below(3);
        let types: Vec<Ty> = (0..n).map(|_| self.ty()).collect();
        let rhs: Vec<Expr> = types.iter().map(|t| self.expr(*t, d)).collect();
        let mark = self.scope.len();
        let bs = types.iter().zip(rhs).map(|(t, e)| (self.var(*t), e)).collect();
        let body = self.expr(ty, d);
        self.scope.truncate(mark);
        Expr::Let(bs, boxed(body))
    }

    fn global_call(&mut self, ty: Ty, d: usize) -> Expr {
        let fitting: Vec<usize> = (0..self.globals.len()).filter(|i| self.globals[*i].3 == ty).collect();
        if fitting.is_empty() {
            return self.typed(ty, d);
        }
        let chosen = fitting[self.below(fitting.len())];
        let (g, params, rest, _) = self.globals[chosen].clone();
        let mut args: Vec<Expr> = params.iter().map(|t| self.expr(*t, d)).collect();
        if rest.is_some() {
            let n = self.below(4);
            args.extend(self.args(n, 1));
        }
        if rest.is_some() && self.below(3) == 0 {
            args.push(self.expr(Ty::List, 2));
            return Expr::Apply(boxed(Expr::Global(g, Site::NONE)), args, Site::new(1, 7));
        }
        Expr::Call(boxed(Expr::Global(g, Site::NONE)), args, Site::new(1, 3))
    }

    /// A group of one or two local procedures.
    fn local_procedure(&mut self, ty: Ty, d: usize) -> Expr {
        let mark = self.scope.len();
        if self.below(3) > 0 {
            let n = 1 + self.below(2);
            let l = self.lambda(&vec![Ty::Int; n], None, Ty::Int);
            let f = self.var(Ty::Proc(n));
            let body = self.expr(ty, d);
            self.scope.truncate(mark);
            return Expr::Fix(vec![(f, l)], boxed(body));
        }
        // two procedures that call each other, counting down
        let f = self.program.fresh_var("f");
        let g = self.program.fresh_var("g");
        let lambda = |r: &mut Generator, other: VarId| {
            let mark = r.scope.len();
            let n = r.var(Ty::Int);
            let base = r.expr(Ty::Int, 2);
            let work = r.expr(Ty::Int, 2);
            r.scope.truncate(mark);
            let next = call(Expr::Local(other), vec![prim(Op::Sub, vec![Expr::Local(n), int(1)])]);
            let step = if r.below(2) == 0 { next } else { prim(Op::Add, vec![work, next]) };
            let test = prim(Op::NumLt, vec![Expr::Local(n), int(1)]);
            let body = Expr::If(boxed(test), boxed(base), boxed(step));
            let clauses = vec![Clause { params: vec![n], rest: None, body }];
            Lambda { name: "even".into(), clauses, site: Site::NONE }
        };
        let lf = lambda(self, g);
        let lg = lambda(self, f);
        let start = call(Expr::Local(f), vec![int(self.below(6) as i64)]);
        let v = self.var(Ty::Int);
        let body = self.expr(ty, d);
        self.scope.truncate(mark);
        Expr::Fix(vec![(f, lf), (g, lg)], boxed(Expr::Let(vec![(v, start)], boxed(body))))
    }

    /// A counting loop with an accumulator, as a recursive procedure or as a label.
    fn loop_(&mut self, ty: Ty, d: usize) -> Expr {
        let init = self.expr(ty, d);
        let mark = self.scope.len();
        let i = self.var(Ty::Int);
        let acc = self.var(ty);
        let step = self.expr(ty, d);
        self.scope.truncate(mark);
        let (vi, va) = (i, acc);
        let (i, acc) = (Expr::Local(i), Expr::Local(acc));
        let up = self.below(2) == 0;
        let (start, next) = if up { (0, Op::Add) } else { (4, Op::Sub) };
        let next = vec![prim(next, vec![i.clone(), int(1)]), step];
        let test = if up { prim(Op::NumLt, vec![i, int(4)]) } else { prim(Op::NumGt, vec![i, int(0)]) };
        if self.below(2) == 0 {
            let l = self.program.fresh_label();
            let body = Expr::If(boxed(test), boxed(Expr::Jump(l, next)), boxed(acc));
            let label = Label { id: l, params: vec![vi, va], body };
            Expr::Labels(vec![label], boxed(Expr::Jump(l, vec![int(start), init])))
        } else {
            let f = self.program.fresh_var("loop");
            let body = Expr::If(boxed(test), boxed(call(Expr::Local(f), next)), boxed(acc));
            let clauses = vec![Clause { params: vec![vi, va], rest: None, body }];
            let l = Lambda { name: "loop".into(), clauses, site: Site::NONE };
            Expr::Fix(vec![(f, l)], boxed(call(Expr::Local(f), vec![int(start), init])))
        }
    }

    /// A join label jumped to from nested tests, which may know things about a variable of any type.
    fn join(&mut self, ty: Ty, d: usize) -> Expr {
        let start = [Ty::Int, Ty::List, Ty::Float][self.below(3)];
        let initial = self.expr(start, 1);
        let mark = self.scope.len();
        let x = self.program.fresh_var("x");
        let param = self.var(ty);
        let inspect = |r: &mut Generator, e: Expr| {
            let op = [Op::IsPair, Op::IsFixnum, Op::IsNull, Op::IsFlonum][r.below(4)];
            Expr::If(boxed(prim(op, vec![Expr::Local(x)])), boxed(e), boxed(r.leaf(ty)))
        };
        let body = self.expr(ty, 1);
        let body = inspect(self, body);
        self.scope.truncate(mark);
        let l = self.program.fresh_label();
        let one = Expr::Jump(l, vec![self.expr(ty, d.min(2))]);
        let two = Expr::Jump(l, vec![self.leaf(ty)]);
        let test = self.expr(Ty::Bool, 1);
        let inner = Expr::If(boxed(test), boxed(one), boxed(two));
        let start = inspect(self, inner);
        let outer = if self.below(2) == 0 { start } else { inspect(self, start) };
        let labels = Expr::Labels(vec![Label { id: l, params: vec![param], body }], boxed(outer));
        let after = inspect(self, Expr::Local(param));
        let result = Expr::Let(vec![(param, labels)], boxed(after));
        Expr::Let(vec![(x, initial)], boxed(rename_param(&mut self.program, result, param)))
    }

    fn receive(&mut self, ty: Ty, d: usize) -> Expr {
        let n = self.below(4);
        let values = self.args(n, d);
        let mut producer = Expr::Values(values);
        if self.below(2) == 0 {
            let test = self.expr(Ty::Bool, 1);
            let other = Expr::Values(self.args(n, 1));
            producer = Expr::If(boxed(test), boxed(producer), boxed(other));
        }
        let clause = if self.below(3) == 0 {
            // call-with-values as the library defines it
            let l = self.lambda(&vec![Ty::Int; n], None, ty);
            let f = self.program.fresh_var("consumer");
            let list = self.program.fresh_var("vals");
            let body = Expr::Apply(boxed(Expr::Local(f)), vec![Expr::Local(list)], Site::NONE);
            let clause = Clause { params: vec![], rest: Some(list), body };
            let receive =
                Expr::Receive { producer: boxed(producer), clause: boxed_clause(clause), site: Site::NONE };
            return Expr::Let(vec![(f, Expr::Lambda(l))], boxed(receive));
        } else if n > 0 && self.below(3) == 0 {
            self.clause(&vec![Ty::Int; n - 1], Some(Ty::List), ty)
        } else {
            self.clause(&vec![Ty::Int; n], None, ty)
        };
        Expr::Receive { producer: boxed(producer), clause: boxed_clause(clause), site: Site::NONE }
    }

    fn typed(&mut self, ty: Ty, d: usize) -> Expr {
        let pick = self.below(8);
        match (ty, pick) {
            (Ty::Int, 0 | 1) => prim(Op::Add, self.args(2, d)),
            (Ty::Int, 2) => prim(Op::Sub, self.args(2, d)),
            (Ty::Int, 3) => prim(Op::Mul, self.args(2, d)),
            (Ty::Int, 4) => {
                let l = self.expr(Ty::List, d);
                let v = self.var(Ty::List);
                self.scope.pop();
                let l2 = Expr::Local(v);
                let test = prim(Op::IsPair, vec![l2.clone()]);
                let choice = Expr::If(boxed(test), boxed(prim(Op::Car, vec![l2])), boxed(int(7)));
                Expr::Let(vec![(v, l)], boxed(choice))
            }
            (Ty::Int, 5) => {
                let n = 1 + self.below(2);
                let f = self.expr(Ty::Proc(n), d);
                call(f, self.args(n, d))
            }
            (Ty::Int, 6) => {
                let v = self.expr(Ty::Vector, d);
                prim(Op::VectorRef, vec![v, int(0)])
            }
            (Ty::Int, 7) => prim(Op::Quotient, vec![self.expr(Ty::Int, d), int(3)]),
            (Ty::Float, 0 | 1) => {
                let a = self.expr(Ty::Float, d);
                prim(Op::Add, vec![a, self.expr(Ty::Float, d)])
            }
            (Ty::Float, 2 | 3) => {
                let a = self.expr(Ty::Float, d);
                prim(Op::Mul, vec![a, self.expr(Ty::Float, d)])
            }
            (Ty::Float, 4) => {
                let a = self.expr(Ty::Int, d);
                prim(Op::Add, vec![a, self.expr(Ty::Float, d)])
            }
            (Ty::Float, 5) => prim(Op::Inexact, self.args(1, d)),
            (Ty::Bool, 0..=2) => {
                let op = [Op::NumLt, Op::NumEq, Op::NumGe][pick];
                prim(op, self.args(2, d))
            }
            (Ty::Bool, 3) => {
                let ty = self.ty();
                let op = [Op::IsPair, Op::IsFixnum, Op::IsNull, Op::IsProcedure, Op::IsFlonum][self.below(5)];
                prim(op, vec![self.expr(ty, d)])
            }
            (Ty::Bool, 4) => prim(Op::Not, vec![self.expr(Ty::Bool, d)]),
            (Ty::Bool, 5) => prim(Op::Eqv, self.args(2, d)),
            (Ty::List, 0..=3) => {
                let x = self.expr(Ty::Int, d);
                prim(Op::Cons, vec![x, self.expr(Ty::List, d)])
            }
            (Ty::List, 4) => {
                // an inlinable map
                let l = self.expr(Ty::List, d);
                let f = self.expr(Ty::Proc(1), d);
                self.map(f, l)
            }
            (Ty::Proc(n), 0..=3) => {
                let l = self.lambda(&vec![Ty::Int; n], None, Ty::Int);
                Expr::Lambda(l)
            }
            (Ty::Proc(n), 4) => {
                let test = self.expr(Ty::Bool, d);
                let a = self.expr(Ty::Proc(n), d);
                Expr::If(boxed(test), boxed(a), boxed(self.expr(Ty::Proc(n), d)))
            }
            _ => self.leaf(ty),
        }
    }

    /// `((lambda (f l) (fix ((loop …)) (loop l))) f l)`
    fn map(&mut self, f: Expr, l: Expr) -> Expr {
        let mut fresh = |name: &str| self.program.fresh_var(name);
        let (pf, pl, go, list, x) = (fresh("f"), fresh("l"), fresh("loop"), fresh("l"), fresh("x"));
        let at = |op| prim(op, vec![Expr::Local(list)]);
        let next = call(Expr::Local(go), vec![at(Op::Cdr)]);
        let pair = prim(Op::Cons, vec![Expr::Local(x), next]);
        let item = call(Expr::Local(pf), vec![at(Op::Car)]);
        let then = Expr::Let(vec![(x, item)], boxed(pair));
        let body = Expr::If(boxed(at(Op::IsPair)), boxed(then), boxed(Expr::Const(Literal::Nil)));
        let clauses = vec![Clause { params: vec![list], rest: None, body }];
        let lambda = Lambda { name: "loop".into(), clauses, site: Site::NONE };
        let body = Expr::Fix(vec![(go, lambda)], boxed(call(Expr::Local(go), vec![Expr::Local(pl)])));
        let clauses = vec![Clause { params: vec![pf, pl], rest: None, body }];
        call(Expr::Lambda(Lambda { name: "map".into(), clauses, site: Site::NONE }), vec![f, l])
    }
}

/// `(let ((p labels-with-parameter-p)) body)` binds `p` twice: gives the outer one another name.
fn rename_param(program: &mut Program, e: Expr, param: VarId) -> Expr {
    let Expr::Let(mut bs, mut body) = e else { return e };
    let fresh = program.fresh_var("result");
    bs[0].0 = fresh;
    cairn_core::rewrite(&mut body, &mut |e| {
        if matches!(e, Expr::Local(v) if *v == param) {
            *e = Expr::Local(fresh);
        }
    });
    Expr::Let(bs, body)
}

fn boxed_clause(c: Clause) -> Box<Clause> {
    Box::new(c)
}
