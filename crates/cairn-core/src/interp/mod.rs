//! A reference interpreter for Core, all dialects: what programs mean, in the plainest way.
//!
//! It has two uses. **Tests**: an optimizer pass must not change what a program does, so programs run before and
//! after a pass and the [`Outcome`]s are compared; random programs make good tests. The interpreter also audits the
//! optimizer's claims: an operand whose check was removed (`proven`) is checked here anyway, and a false claim stops
//! the run with [`Stop::Unsound`], which no test may accept. **Macro transformers** written as procedures run here
//! during expansion ([`transform`]), in the compiler as in programs that call `eval`: nothing but the forms of
//! libraries is needed.
//!
//! It is slow, environments are linked lists, continuations can only escape. In tests only a few runtime calls are
//! there ([`Stop::Unsupported`] otherwise), and `(%write-object x port mode)` adds `x` to the outcome's trace.
//!
//! | file | what |
//! |---|---|
//! | `values`, `port`, `stop` | values, ports of text among them; why there are none |
//! | `machine` | the state of a run |
//! | `primitives` | inline operations; the runtime calls that tests need |
//! | `whole` | whole programs with the library, for tests of passes |
//! | `transform`, `transformer_calls` | macro transformers: errors, limits, definitions on demand; their runtime calls |
//! | `transformer_ports`, `transformer_tables` | their ports, which read files and strings; their hash tables |

mod machine;
mod port;
mod primitives;
mod stop;
pub mod transform;
mod transformer_calls;
mod transformer_ports;
mod transformer_tables;
mod values;
mod whole;

pub use machine::{Env, Node, Procedure, Value};
use machine::{Host, Machine, Out};
pub use primitives::World;
pub use stop::{Res, Stop};
pub use values::{Atom, Cells, Val, boolean, cells, items, list};
pub use whole::{Notes, run_whole};

use crate::ir::{Clause, Expr, GlobalId, Program, TopForm, VarId};
use crate::walk::deep;
use cairn_layout::code::Site;
use cairn_layout::machine::error;
use cairn_layout::module::builtin;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use values::unspecified;

/// What a program did.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What it wrote, in order.
    pub trace: Vec<String>,
    /// The values of its last form, written; or why it stopped.
    pub result: Result<String, Stop>,
}

/// Runs a program for at most `fuel` steps.
pub fn run(program: &Program, fuel: usize) -> Outcome {
    let machine = Machine::new(program, fuel, None);
    let mut result = Ok(Out::One(Val::Atom(Atom::Unspecified)));
    for form in &program.forms {
        result = match form {
            TopForm::Define(g, e) => machine.value(e, &None).map(|v| {
                machine.globals.borrow_mut()[g.0 as usize] = Some(v);
                Out::One(Val::Atom(Atom::Unspecified))
            }),
            TopForm::Expr(e) => machine.values(e, &None),
        };
        if result.is_err() {
            break;
        }
    }
    let result = result.map(|out| match out {
        Out::One(v) => v.to_string(),
        Out::Many(vs) => vs.iter().map(Val::to_string).collect::<Vec<_>>().join(" "),
        Out::Tail(..) | Out::Jump(..) => unreachable!("calls and jumps are run by `values`"),
    });
    Outcome { trace: machine.world.into_trace(), result }
}

fn bind<'p>(env: &Env<'p>, var: VarId, value: Value<'p>) -> Env<'p> {
    Some(Rc::new(Node { var, value: RefCell::new(value), next: env.clone() }))
}

impl<'p> Machine<'p> {
    /// Before the first form of a program, with so many steps to go.
    fn new(program: &'p Program, fuel: usize, host: Option<Host<'p>>) -> Machine<'p> {
        Machine {
            program,
            globals: RefCell::new(vec![None; program.globals.len()]),
            world: World::new(fuel),
            thrown: RefCell::new(Vec::new()),
            captures: Cell::new(0),
            depth: Cell::new(0),
            host,
        }
    }

    fn lookup(&self, env: &Env<'p>, v: VarId) -> Res<Rc<Node<'p>>> {
        let mut at = env;
        while let Some(n) = at {
            if n.var == v {
                return Ok(n.clone());
            }
            at = &n.next;
        }
        Err(Stop::Unsound(format!("variable {} ({}) is not in scope", v.0, self.program.vars[v.0 as usize].name)))
    }

    fn value(&self, e: &'p Expr, env: &Env<'p>) -> Res<Value<'p>> {
        match self.values(e, env)? {
            Out::One(v) => Ok(v),
            _ => Err(Stop::Arity),
        }
    }

    fn all(&self, es: &'p [Expr], env: &Env<'p>) -> Res<Vec<Value<'p>>> {
        es.iter().map(|e| self.value(e, env)).collect()
    }

    /// The values of `e`: calls and jumps are run to their end.
    fn values(&self, e: &'p Expr, env: &Env<'p>) -> Res<Out<'p>> {
        if matches!(e, Expr::Const(_) | Expr::Local(_) | Expr::Lambda(_)) {
            return self.eval(e, env.clone());
        }
        self.depth.set(self.depth.get() + 1);
        if self.host.is_some() && self.depth.get() > transform::MAX_DEPTH {
            return Err(Stop::Fuel);
        }
        let result = self.run_to_end(e, env);
        self.depth.set(self.depth.get() - 1);
        result
    }

    fn run_to_end(&self, e: &'p Expr, env: &Env<'p>) -> Res<Out<'p>> {
        match deep(|| self.eval(e, env.clone()))? {
            Out::Tail(f, args) => self.apply(f, args),
            Out::Jump(..) => Err(Stop::Unsound("jump out of an operand".into())),
            out => Ok(out),
        }
    }

    fn apply(&self, mut f: Value<'p>, mut args: Vec<Value<'p>>) -> Res<Out<'p>> {
        loop {
            let Val::Procedure(p) = &f else {
                return self.complain(Stop::NotProcedure, error::NOT_PROCEDURE, "", vec![f], Site::NONE);
            };
            let (lambda, env) = match &**p {
                Procedure::Closure(lambda, env) => (*lambda, env.clone()),
                Procedure::Continuation(k) => {
                    *self.thrown.borrow_mut() = args;
                    return Err(Stop::Throw(*k, String::new()));
                }
                Procedure::Native(n) => return self.native(*n, &args),
                Procedure::Builtin(n) => return self.builtin(*n, args),
            };
            let fits =
                |c: &&Clause| c.params.len() == args.len() || (c.rest.is_some() && c.params.len() <= args.len());
            let Some(clause) = lambda.clauses.iter().find(fits) else {
                return self.complain(Stop::Arity, error::ARITY, &lambda.name, args, lambda.site);
            };
            let env = self.enter(clause, args, env)?;
            match deep(|| self.eval(&clause.body, env))? {
                Out::Tail(g, more) => (f, args) = (g, more),
                Out::Jump(..) => return Err(Stop::Unsound("jump out of a procedure".into())),
                out => return Ok(out),
            }
        }
    }

    /// Calls a procedure of the machine.
    fn builtin(&self, number: usize, mut args: Vec<Value<'p>>) -> Res<Out<'p>> {
        match (number, args.len()) {
            (builtin::RETURN_VALUES, 1) => Ok(Out::One(args.remove(0))),
            (builtin::RETURN_VALUES, _) => Ok(Out::Many(args)),
            // Continuations are left here, never entered again: so the thunk may as well run before.
            (builtin::CALL_IN, 2) => {
                let vs = match self.apply(args.remove(1), vec![])? {
                    Out::One(v) => vec![v],
                    Out::Many(vs) => vs,
                    Out::Tail(..) | Out::Jump(..) => unreachable!("`apply` runs them"),
                };
                self.apply(args.remove(0), vs)
            }
            _ => Err(Stop::Arity),
        }
    }

    fn enter(&self, clause: &'p Clause, mut args: Vec<Value<'p>>, mut env: Env<'p>) -> Res<Env<'p>> {
        let n = clause.params.len();
        if args.len() < n || (args.len() > n && clause.rest.is_none()) {
            return Err(Stop::Arity);
        }
        let rest = args.split_off(n);
        for (v, x) in clause.params.iter().zip(args) {
            env = bind(&env, *v, x);
        }
        if let Some(r) = clause.rest {
            env = bind(&env, r, list(rest));
        }
        Ok(env)
    }

    /// Evaluates in tail position.
    fn eval(&self, mut e: &'p Expr, mut env: Env<'p>) -> Res<Out<'p>> {
        loop {
            self.world.step()?;
            match e {
                Expr::Const(l) => return Ok(Out::One(self.world.literal(l))),
                Expr::Local(v) => {
                    return match self.lookup(&env, *v)?.value.borrow().clone() {
                        Val::Atom(Atom::Unbound) => Err(Stop::Unbound),
                        x => Ok(Out::One(x)),
                    };
                }
                Expr::Global(g, site) => return self.global(*g, *site).map(Out::One),
                Expr::SetLocal(v, e) => {
                    let x = self.value(e, &env)?;
                    *self.lookup(&env, *v)?.value.borrow_mut() = x;
                    return Ok(Out::One(unspecified()));
                }
                Expr::SetGlobal(g, e, site) => {
                    let x = self.value(e, &env)?;
                    self.global(*g, *site)?;
                    self.assign(*g, x);
                    return Ok(Out::One(unspecified()));
                }
                Expr::If(test, then, other) => {
                    let test = self.value(test, &env)?;
                    e = if matches!(test, Val::Atom(Atom::Bool(false))) { other } else { then };
                }
                Expr::Seq(es) => {
                    let Some((last, init)) = es.split_last() else {
                        return Err(Stop::Unsound("empty sequence".into()));
                    };
                    for e in init {
                        self.values(e, &env)?;
                    }
                    e = last;
                }
                Expr::Let(bs, body) => {
                    let mut inner = env.clone();
                    for (v, e) in bs {
                        let x = self.value(e, &env)?;
                        inner = bind(&inner, *v, x);
                    }
                    env = inner;
                    e = body;
                }
                Expr::Letrec(bs, body) => {
                    for (v, _) in bs {
                        env = bind(&env, *v, Val::Atom(Atom::Unbound));
                    }
                    for (v, e) in bs {
                        let x = self.value(e, &env)?;
                        *self.lookup(&env, *v)?.value.borrow_mut() = x;
                    }
                    e = body;
                }
                Expr::Fix(bs, body) => {
                    for (v, _) in bs {
                        env = bind(&env, *v, Val::Nil);
                    }
                    for (v, l) in bs {
                        *self.lookup(&env, *v)?.value.borrow_mut() =
                            Val::Procedure(Rc::new(Procedure::Closure(l, env.clone())));
                    }
                    e = body;
                }
                Expr::Lambda(l) => return Ok(Out::One(Val::Procedure(Rc::new(Procedure::Closure(l, env))))),
                Expr::Call(f, args, _) => {
                    let f = self.value(f, &env)?;
                    return Ok(Out::Tail(f, self.all(args, &env)?));
                }
                Expr::Apply(f, args, _) => {
                    let f = self.value(f, &env)?;
                    let mut args = self.all(args, &env)?;
                    let last = args.pop().unwrap_or(Val::Nil);
                    args.extend(items(&last)?);
                    return Ok(Out::Tail(f, args));
                }
                Expr::Prim { op, args, proven, site } => {
                    let args = self.all(args, &env)?;
                    if self.host.is_some() {
                        return self.host_prim(*op, args, *proven, *site);
                    }
                    return self.world.prim(*op, args, *proven).map(Out::One);
                }
                Expr::Values(es) => {
                    let mut vs = self.all(es, &env)?;
                    return Ok(if vs.len() == 1 { Out::One(vs.remove(0)) } else { Out::Many(vs) });
                }
                Expr::Receive { producer, clause, .. } => {
                    let vs = match self.values(producer, &env)? {
                        Out::One(v) => vec![v],
                        Out::Many(vs) => vs,
                        Out::Tail(..) | Out::Jump(..) => unreachable!("`values` runs them"),
                    };
                    env = self.enter(clause, vs, env)?;
                    e = &clause.body;
                }
                Expr::CallCc(_, f, _) => {
                    let f = self.value(f, &env)?;
                    let k = self.captures.get();
                    self.captures.set(k + 1);
                    let (state, depth) = (self.dynamic_state(), self.depth.get());
                    return match self.apply(f, vec![Val::Procedure(Rc::new(Procedure::Continuation(k)))]) {
                        Err(Stop::Throw(to, _)) if to == k => {
                            self.set_dynamic_state(state);
                            self.depth.set(depth);
                            let mut vs = std::mem::take(&mut *self.thrown.borrow_mut());
                            Ok(if vs.len() == 1 { Out::One(vs.remove(0)) } else { Out::Many(vs) })
                        }
                        out => out,
                    };
                }
                Expr::Labels(labels, body) => {
                    let mut out = deep(|| self.eval(body, env.clone()))?;
                    loop {
                        let Out::Jump(id, args) = out else { return Ok(out) };
                        let Some(l) = labels.iter().find(|l| l.id == id) else { return Ok(Out::Jump(id, args)) };
                        if l.params.len() != args.len() {
                            return Err(Stop::Unsound("jump with a wrong number of arguments".into()));
                        }
                        let mut inner = env.clone();
                        for (v, x) in l.params.iter().zip(args) {
                            inner = bind(&inner, *v, x);
                        }
                        out = deep(|| self.eval(&l.body, inner))?;
                    }
                }
                Expr::Jump(l, args) => return Ok(Out::Jump(*l, self.all(args, &env)?)),
            }
        }
    }

    fn global(&self, g: GlobalId, site: Site) -> Res<Value<'p>> {
        let value = self.globals.borrow().get(g.0 as usize).cloned().flatten();
        match (value, &self.host) {
            (Some(value), _) => Ok(value),
            (None, Some(_)) => self.define(g, site),
            (None, None) => Err(Stop::Unbound),
        }
    }
}
