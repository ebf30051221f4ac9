//! A reference interpreter for the Frame IR, for tests: what a module does, in the plainest way, to be compared with
//! what [`cairn_core::interp`] says of the program that it was made from.
//!
//! The problem: the verifier says that a module is well formed, not that it does what the program does. The idea: run
//! it. And run it with no mercy: a safepoint takes away every tagged variable that its live list lacks, a call leaves
//! nothing of a frame but the slots that the return point declares live, memory and stack may be used as far as checks
//! have asked for them, and a closure is patched before a safepoint or never. What breaks this stops the run with
//! [`Stop::Unsound`], which no test may accept.
//!
//! Primitive operations are those of Core's interpreter. A return point of one value takes the first of several, where
//! Core's interpreter complains: programs under test must not do that. Continuations are whole: frames are immutable
//! here.

use crate::ir::*;
use crate::verify::bounds::allocated;
use cairn_core::interp::{Atom, Outcome, Res, Stop, Val, World, items, list};
use cairn_layout::limits::RED_ZONE;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

type Value = Val<Procedure>;

enum Procedure {
    Closure { entry: FuncId, free: RefCell<Vec<Value>> },
    Continuation(Stack),
}

type Stack = Option<Rc<Activation>>;

/// A frame, with those below it.
struct Activation {
    ret: FuncId,
    words: u32,
    slots: BTreeMap<u32, Value>,
    below: Stack,
}

impl Drop for Activation {
    /// Not by recursion: frames are many.
    fn drop(&mut self) {
        let mut next = self.below.take();
        while let Some(mut frame) = next.and_then(Rc::into_inner) {
            next = frame.below.take();
        }
    }
}

/// Where control is.
struct State {
    function: FuncId,
    block: usize,
    vars: Vec<Option<Value>>,
    /// The frame that a return point was entered with.
    incoming: Stack,
    /// The frames below.
    stack: Stack,
    /// Bytes that may be allocated.
    room: u32,
    /// Words by which the stack may grow.
    growth: u32,
    /// Closures that no safepoint has seen.
    fresh: Vec<Rc<Procedure>>,
}

struct Machine<'m> {
    m: &'m Module,
    world: World<Procedure>,
    globals: Vec<Option<Value>>,
    statics: RefCell<HashMap<FuncId, Value>>,
}

fn unsound<T>(what: impl Into<String>) -> Res<T> {
    Err(Stop::Unsound(what.into()))
}

/// Runs a module for at most `fuel` steps.
pub fn run(m: &Module, fuel: usize) -> Outcome {
    let mut machine = Machine { m, world: World::new(fuel), globals: vec![], statics: RefCell::default() };
    machine.globals = m.globals.iter().map(|g| g.procedure.map(|f| machine.procedure(f))).collect();
    let result = machine.run().map(|values| values.iter().map(Val::to_string).collect::<Vec<_>>().join(" "));
    Outcome { trace: machine.world.into_trace(), result }
}

/// Where a step of control leads.
enum Next {
    Go(State),
    End(Vec<Value>),
}

impl Machine<'_> {
    fn run(&mut self) -> Res<Vec<Value>> {
        let main = self.procedure(self.m.main);
        let mut next = self.apply(main, vec![], None)?;
        loop {
            match next {
                Next::Go(state) => next = self.block(state)?,
                Next::End(values) => return Ok(values),
            }
        }
    }

    /// The static closure of an entry.
    fn procedure(&self, entry: FuncId) -> Value {
        let make = || Val::Procedure(Rc::new(Procedure::Closure { entry, free: RefCell::default() }));
        self.statics.borrow_mut().entry(entry).or_insert_with(make).clone()
    }

    /// Enters a body.
    fn enter(&self, f: FuncId, args: Vec<Value>, closure: Option<Value>, stack: Stack) -> Res<Next> {
        let FuncKind::Body { params, closure: wanted } = &self.m.function(f).kind else {
            return unsound(format!("{} is no body", self.m.function(f).name));
        };
        if params.len() != args.len() || wanted.is_some() != closure.is_some() {
            return unsound(format!("{} is entered with {} arguments", self.m.function(f).name, args.len()));
        }
        let mut state = self.state(f, None, stack);
        for (v, x) in params.iter().zip(args) {
            state.vars[v.0 as usize] = Some(x);
        }
        if let Some(v) = wanted {
            state.vars[v.0 as usize] = closure;
        }
        Ok(Next::Go(state))
    }

    fn state(&self, function: FuncId, incoming: Stack, stack: Stack) -> State {
        let vars = vec![None; self.m.function(function).vars.len()];
        State { function, block: 0, vars, incoming, stack, room: 0, growth: 0, fresh: vec![] }
    }

    /// Calls any value.
    fn apply(&self, f: Value, args: Vec<Value>, stack: Stack) -> Res<Next> {
        let Val::Procedure(p) = &f else { return Err(Stop::NotProcedure) };
        let (entry, free) = match &**p {
            Procedure::Continuation(stack) => return self.give(args, stack.clone()),
            Procedure::Closure { entry, free } => (*entry, free.borrow().len()),
        };
        let FuncKind::Entry { closure_words, clauses, .. } = &self.m.function(entry).kind else {
            return unsound("a closure of a function that is no entry");
        };
        if *closure_words as usize != 1 + free {
            return unsound(format!("a closure of {free} variables for {closure_words} words"));
        }
        let n = args.len();
        let fits = |c: &&EntryClause| n == c.required as usize || c.rest && n > c.required as usize;
        let clause = clauses.iter().find(fits).ok_or(Stop::Arity)?;
        let mut spread = args;
        if clause.has_list() {
            let rest = spread.split_off(clause.spread() as usize);
            spread.push(list(rest));
        }
        let wants = matches!(self.m.function(clause.body).kind, FuncKind::Body { closure: Some(_), .. });
        self.enter(clause.body, spread, wants.then_some(f), stack)
    }

    /// Returns values to the topmost frame.
    fn give(&self, values: Vec<Value>, stack: Stack) -> Res<Next> {
        let Some(frame) = stack else { return Ok(Next::End(values)) };
        let FuncKind::Return { frame: shape, results, .. } = &self.m.function(frame.ret).kind else {
            return unsound("a return to a function that is no return point");
        };
        if shape.words != frame.words || !shape.live.iter().eq(frame.slots.keys()) {
            return unsound(format!("{} finds another frame than it expects", self.m.function(frame.ret).name));
        }
        let mut state = self.state(frame.ret, Some(frame.clone()), frame.below.clone());
        let mut set = |v: &Var, x: Value| state.vars[v.0 as usize] = Some(x);
        match results {
            Results::Single(v) => {
                let first = values.into_iter().next();
                set(v, first.unwrap_or(Val::Atom(Atom::Unspecified)));
            }
            Results::Multi { params, rest, .. } => {
                let n = params.len();
                if values.len() < n || values.len() > n && rest.is_none() {
                    return Err(Stop::Arity);
                }
                let mut values = values;
                let more = values.split_off(n);
                params.iter().zip(values).for_each(|(v, x)| set(v, x));
                if let Some(v) = rest {
                    set(v, list(more));
                }
            }
        }
        Ok(Next::Go(state))
    }

    // ---- blocks

    fn block(&mut self, mut at: State) -> Res<Next> {
        let block = &self.m.function(at.function).blocks[at.block];
        for s in &block.stmts {
            self.world.step()?;
            self.statement(s, &mut at)?;
        }
        self.world.step()?;
        match &block.term {
            Term::Goto(b) => at.block = b.0 as usize,
            Term::Branch { test, then, els } => {
                let holds = match test {
                    Test::Truthy(o) => !matches!(self.operand(o, &at)?, Val::Atom(Atom::Bool(false))),
                    Test::Prim(p) => match self.prim(p, &at)? {
                        Val::Atom(Atom::Bool(b)) => b,
                        x => return unsound(format!("{x} from a test")),
                    },
                };
                at.block = if holds { then.0 } else { els.0 } as usize;
            }
            Term::Return(o) => return self.give(vec![self.operand(o, &at)?], at.stack),
            Term::ReturnMulti(os) => return self.give(self.operands(os, &at)?, at.stack),
            Term::TailCall { callee, args, .. } => {
                let args = self.operands(args, &at)?;
                return self.call(callee, args, &at, at.stack.clone());
            }
            Term::Call { callee, args, frame, ret, .. } => {
                let args = self.operands(args, &at)?;
                let stack = Some(self.push(frame, *ret, &at)?);
                return self.call(callee, args, &at, stack);
            }
        }
        Ok(Next::Go(at))
    }

    fn call(&self, callee: &Callee, mut args: Vec<Value>, at: &State, stack: Stack) -> Res<Next> {
        match callee {
            Callee::Known(f, closure) => {
                let closure = closure.as_ref().map(|o| self.operand(o, at)).transpose()?;
                self.enter(*f, args, closure, stack)
            }
            Callee::Unknown(o) => self.apply(self.operand(o, at)?, args, stack),
            Callee::Apply(o) => {
                let last = args.pop().unwrap_or(Val::Nil);
                self.apply(self.operand(o, at)?, items(&last)?, stack)
            }
            Callee::CallCc(_, o) => {
                let k = Val::Procedure(Rc::new(Procedure::Continuation(stack.clone())));
                self.apply(self.operand(o, at)?, vec![k], stack)
            }
        }
    }

    /// The frame of a call: what is stored, and what may stay of the incoming one.
    fn push(&self, new: &NewFrame, ret: FuncId, at: &State) -> Res<Rc<Activation>> {
        let facts = self.m.strategy;
        let words = new.frame.words;
        let found = at.incoming.as_ref().filter(|_| facts.reuse).map_or(0, |f| f.words);
        let in_red_zone = found > 0 && 8 * u64::from(words) <= RED_ZONE;
        if facts.limit_check && words > found + at.growth && !in_red_zone {
            return unsound(format!("the stack grows by {} words unasked", words - found));
        }
        if facts.frames_in_heap && at.room < (8 * words).max(16) {
            return unsound("a frame is allocated without a check");
        }
        let mut slots = BTreeMap::new();
        for s in &new.frame.live {
            let kept = || at.incoming.as_ref().filter(|_| facts.reuse).and_then(|f| f.slots.get(s).cloned());
            let value = match new.stores.iter().find(|(t, _)| t == s) {
                Some((_, o)) => Some(self.operand(o, at)?),
                None => kept(),
            };
            let Some(value) = value else { return unsound(format!("slot {s} holds nothing")) };
            slots.insert(*s, value);
        }
        Ok(Rc::new(Activation { ret, words, slots, below: at.stack.clone() }))
    }

    // ---- statements

    fn statement(&mut self, s: &Stmt, at: &mut State) -> Res<()> {
        match s {
            Stmt::Assign(v, op) => {
                let x = self.operation(op, at)?;
                let f = self.m.function(at.function);
                if !f.is_tagged(*v) && !x.is(cairn_core::prim::Kind::Flonum) {
                    return unsound(format!("{x} in an unboxed double"));
                }
                at.vars[v.0 as usize] = Some(x);
            }
            Stmt::Effect(op) => drop(self.operation(op, at)?),
            Stmt::HeapCheck { bytes, live } => {
                self.keep(live, at)?;
                at.room = at.room.max(*bytes);
                at.growth = 0;
            }
            Stmt::StackCheck { words, live } => {
                self.keep(live, at)?;
                (at.room, at.growth) = (0, *words);
            }
            Stmt::StopCheck { live } => {
                self.keep(live, at)?;
                (at.room, at.growth) = (0, 0);
            }
        }
        Ok(())
    }

    /// A safepoint: nothing tagged is left but what lives.
    fn keep(&self, live: &[Var], at: &mut State) -> Res<()> {
        let f = self.m.function(at.function);
        for v in live {
            self.variable(*v, at)?;
        }
        for (i, x) in at.vars.iter_mut().enumerate() {
            let v = Var(i as u32);
            if f.is_tagged(v) && !live.contains(&v) {
                *x = None;
            }
        }
        at.fresh.clear();
        Ok(())
    }

    fn operation(&mut self, op: &Op, at: &mut State) -> Res<Value> {
        let need = allocated(op);
        let Some(room) = at.room.checked_sub(need).or((need == 0).then_some(at.room)) else {
            return unsound(format!("{need} bytes are allocated without a check"));
        };
        at.room = room;
        let unspecified = Val::Atom(Atom::Unspecified);
        match op {
            Op::Copy(o) => self.operand(o, at),
            Op::Prim(p) => self.prim(p, at),
            Op::Global(g) => match &self.globals[g.0 as usize] {
                Some(x) => Ok(x.clone()),
                None => unsound("a global that is certainly defined is not"),
            },
            Op::GlobalChecked(g, _) => self.globals[g.0 as usize].clone().ok_or(Stop::Unbound),
            Op::SetGlobal(g, o) => {
                self.globals[g.0 as usize] = Some(self.operand(o, at)?);
                Ok(unspecified)
            }
            Op::SetGlobalChecked(g, o, _) => {
                let x = self.operand(o, at)?;
                *self.globals[g.0 as usize].as_mut().ok_or(Stop::Unbound)? = x;
                Ok(unspecified)
            }
            Op::Free(i) => {
                let Some(v) = self.m.function(at.function).closure() else { return unsound("no closure") };
                let closure = self.variable(v, at)?;
                let (_, free) = closure_parts(&closure)?;
                let x = free.borrow().get(*i as usize).cloned();
                x.map_or_else(|| unsound(format!("no free variable {i}")), Ok)
            }
            Op::Slot(s) => match at.incoming.as_ref().and_then(|f| f.slots.get(s)) {
                Some(x) => Ok(x.clone()),
                None => unsound(format!("slot {s} is dead")),
            },
            Op::Closure { entry, free } => {
                let free = RefCell::new(self.operands(free, at)?);
                let closure = Rc::new(Procedure::Closure { entry: *entry, free });
                at.fresh.push(closure.clone());
                Ok(Val::Procedure(closure))
            }
            Op::ClosurePatch { closure, index, value } => {
                let closure = self.variable(*closure, at)?;
                let value = self.operand(value, at)?;
                let (p, free) = closure_parts(&closure)?;
                if !at.fresh.iter().any(|f| Rc::ptr_eq(f, p)) {
                    return unsound("a closure is patched after a safepoint");
                }
                match free.borrow_mut().get_mut(*index as usize) {
                    Some(x) => *x = value,
                    None => return unsound(format!("no free variable {index} to patch")),
                }
                Ok(unspecified)
            }
        }
    }

    fn prim(&self, p: &Prim, at: &State) -> Res<Value> {
        let args = self.operands(&p.args, at)?;
        self.world.prim(p.op, args, p.proven)
    }

    fn operands(&self, os: &[Operand], at: &State) -> Res<Vec<Value>> {
        os.iter().map(|o| self.operand(o, at)).collect()
    }

    fn operand(&self, o: &Operand, at: &State) -> Res<Value> {
        match o {
            Operand::Var(v) => self.variable(*v, at),
            Operand::Const(l) => Ok(self.world.literal(l)),
            Operand::Procedure(f) => Ok(self.procedure(*f)),
        }
    }

    fn variable(&self, v: Var, at: &State) -> Res<Value> {
        let f = self.m.function(at.function);
        match &at.vars[v.0 as usize] {
            Some(x) => Ok(x.clone()),
            None => unsound(format!("{} holds nothing in {}", f.vars[v.0 as usize].name, f.name)),
        }
    }
}

fn closure_parts(v: &Value) -> Res<(&Rc<Procedure>, &RefCell<Vec<Value>>)> {
    if let Val::Procedure(p) = v
        && let Procedure::Closure { free, .. } = &**p
    {
        return Ok((p, free));
    }
    unsound(format!("{v} is no closure"))
}
