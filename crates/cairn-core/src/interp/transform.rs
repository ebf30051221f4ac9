//! Running macro transformers.
//!
//! A transformer is an expression whose value is a procedure. Each use of the macro runs it afresh, with variables of
//! libraries as they are after their definitions: so an expansion depends on its form alone, whatever was expanded
//! before. A variable gets its value when it is first referred to; of other top-level forms only stores into machine
//! slots are run, which set up errors and the dynamic state.
//!
//! Errors go the way of the compiled program, through the error hook of `(cairn control)`: transformers can handle
//! them, and what nobody handles ends the run with the message that the program would give ([`Stop::Raised`]). A run
//! ends after [`MAX_STEPS`] steps or at [`MAX_DEPTH`] calls inside each other.

pub use super::machine::Natives;
use super::machine::{Host, Machine, Out, Procedure, Value};
use super::stop::{Res, Stop};
use super::values::{Atom, Val, boolean, cells, fixnum, list, unspecified};
use crate::ir::{Expr, GlobalId, Import, ImportFrom, Program, TopForm};
use crate::prim::{Kind, Op, PrimOp};
use cairn_layout::code::Site;
use cairn_layout::machine::{error, slot};
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Steps of one run.
pub const MAX_STEPS: usize = 20_000_000;
/// Calls inside each other.
pub const MAX_DEPTH: usize = 100_000;

/// The slots of the dynamic state.
const DYNAMIC_STATE: [usize; 3] = [slot::WINDERS, slot::HANDLERS, slot::PARAMETERS];

/// The number of the procedure that makes identifiers for `generate-symbol`; its argument counts them.
pub const FRESH: u32 = u32::MAX;

/// The numbers of the procedures in the places of `eval` and `environment`.
pub const EVAL: u32 = FRESH - 1;
/// See [`EVAL`].
pub const ENVIRONMENT: u32 = FRESH - 2;
/// The number of the procedure in the place of the one that reads a datum from a port.
pub const READ: u32 = FRESH - 3;

/// The number of the procedure that is called with what nobody handles. If that says that a form is wrong
/// ([`REFUSES`]), the host is called with this number, and with what is said.
pub const UNCAUGHT: u32 = FRESH - 4;

/// By `syntax-host`, a transformer says that a form is wrong: the condition that it will raise, and what is wrong,
/// which is the host's to understand.
pub const REFUSES: u32 = ASKED + 6;

/// What `syntax-host` asks for is this and more: the procedure of the host with that number.
pub const ASKED: u32 = 1 << 16;

/// The tag in the vector around a transformer that may expand assignments.
const VARIABLE_TRANSFORMER: &str = "variable-transformer";

/// Globals of this number and above are variables of another program, the library's, with this subtracted.
pub const LIBRARY_GLOBALS: u32 = 1 << 24;

/// Globals from here on are variables of what transformers evaluate.
pub const EVALUATED_GLOBALS: u32 = 1 << 25;

/// The tag of an environment, which `environment` returns.
const ENVIRONMENT_TAG: &str = "environment";

/// Calls the value of `transformer` with arguments, which are an assignment's if `assignment`. `forms` are those of the
/// libraries and of the definitions that it refers to, `program` has their variables and names; imports from the
/// library that was compiled beforehand are the variables `exports`, by number, from [`LIBRARY_GLOBALS`] on.
pub fn run_transformer<'p>(
    program: &'p Program,
    forms: impl Iterator<Item = &'p TopForm>,
    transformer: &'p Expr,
    args: Vec<Value<'p>>,
    assignment: bool,
    exports: &'p FxHashMap<u32, GlobalId>,
    natives: &'p dyn Natives<'p>,
) -> Res<Value<'p>> {
    let mut definitions = FxHashMap::default();
    let mut stores = Vec::new();
    for form in forms {
        match form {
            TopForm::Define(g, e) => {
                definitions.insert(*g, e);
            }
            TopForm::Expr(e @ Expr::Prim { op: PrimOp::Op(Op::MachineSet), .. }) => stores.push(e),
            TopForm::Expr(_) => {}
        }
    }
    let machine = Machine::new(
        program,
        MAX_STEPS,
        Some(Host { definitions: RefCell::new(definitions), audits: false, ..Host::auditing(natives, exports) }),
    );
    for e in stores {
        machine.value(e, &None)?;
    }
    machine.world.set_slot(slot::UNCAUGHT_HOOK, native(UNCAUGHT));
    for (variable, number) in natives.evaluating() {
        machine.assign(variable, native(number));
    }
    let procedure = match (machine.value(transformer, &None)?, assignment) {
        (Val::Vector(parts), _) => match &parts.borrow()[..] {
            [Val::Symbol(tag), procedure] if &**tag == VARIABLE_TRANSFORMER => procedure.clone(),
            _ => return Err(Stop::Raised("it is no procedure".into(), Site::NONE)),
        },
        (_, true) => {
            let message = "it cannot be assigned: its transformer is none of make-variable-transformer";
            return Err(Stop::Raised(message.into(), Site::NONE));
        }
        (procedure, _) if procedure.is(Kind::Procedure) => procedure,
        (other, _) => return Err(Stop::Raised(format!("it is no procedure but {}", other.written()), Site::NONE)),
    };
    match machine.apply(procedure, args)? {
        Out::One(v) => Ok(v),
        _ => Err(Stop::Raised("the transformer returned several values".into(), Site::NONE)),
    }
}

impl<'p> Machine<'p> {
    /// The value of a library's variable, computed now.
    pub(super) fn define(&self, g: GlobalId, site: Site) -> Res<Value<'p>> {
        let host = self.host.as_ref().expect("only of transformers");
        if let Some(value) = host.values.borrow().get(&g) {
            return Ok(value.clone());
        }
        let info = self.program.globals.get(g.0 as usize);
        if let Some(Import { from: ImportFrom::Library(n), .. }) = info.and_then(|i| i.import)
            && let Some(variable) = host.exports.get(&n)
        {
            return self.define(*variable, site);
        }
        let definition = host.definitions.borrow().get(&g).copied();
        let Some(e) = definition else {
            if host.audits {
                return Err(Stop::Unsupported("a variable that is not there, or whose value is not to be had"));
            }
            if let Some((name, undefined)) = host.natives.evaluated_name(g) {
                let message = error::unbound(&name, undefined);
                let stop = Stop::Raised(message.clone(), site);
                self.call_hook(stop, error::UNBOUND, "", &message, Vec::new(), site)?;
                return Err(Stop::Unbound);
            }
            let name = info.map_or("a variable of the library", |i| &i.name);
            let message = format!(
                "`{name}` has no value during expansion: a transformer sees imported procedures, and those that the \
                 same program or library defines before it"
            );
            return Err(Stop::Raised(message, site));
        };
        let value = self.value(e, &None)?;
        if g.0 < LIBRARY_GLOBALS {
            self.globals.borrow_mut()[g.0 as usize] = Some(value.clone());
        } else {
            host.values.borrow_mut().insert(g, value.clone());
        }
        Ok(value)
    }

    /// Assigns a variable that has a value.
    pub(super) fn assign(&self, g: GlobalId, x: Value<'p>) {
        match &self.host {
            Some(host) if g.0 >= LIBRARY_GLOBALS => {
                host.values.borrow_mut().insert(g, x);
            }
            _ => self.globals.borrow_mut()[g.0 as usize] = Some(x),
        }
    }

    pub(super) fn native(&self, n: u32, args: &[Value<'p>]) -> Res<Out<'p>> {
        let Some(host) = &self.host else { return Err(Stop::NotProcedure) };
        let result = match (n, args) {
            (ENVIRONMENT, _) => {
                let sets: Vec<String> = args.iter().map(Val::written).collect();
                host.natives.environment(&sets.join(" ")).map(|number| {
                    let tag = Val::Symbol(ENVIRONMENT_TAG.into());
                    Out::One(Val::Opaque(cells(vec![tag, fixnum(i64::from(number))])))
                })
            }
            (EVAL, [form, environment]) => match environment_number(environment) {
                Some(number) => match host.natives.expand(number, form) {
                    Ok(parts) => return self.run_evaluated(host, &parts),
                    Err(message) => Err(message),
                },
                None => Err("expected an environment of `environment`".into()),
            },
            (EVAL, _) => Err("expected an expression and an environment".into()),
            (READ, [Val::Port(p)]) => match self.read_datum(p) {
                Ok(result) => result.map(Out::One),
                Err(_) => Err("expected an open input port".into()),
            },
            (READ, _) => Err("only ports that a transformer has opened can be read".into()),
            (UNCAUGHT, [raised]) => {
                if let Some((condition, what)) = &*host.refusal.borrow()
                    && condition.is_eq(raised)
                {
                    self.ask(UNCAUGHT, std::slice::from_ref(what))?;
                }
                return Ok(Out::One(unspecified()));
            }
            _ => return self.ask(n, args).map(Out::One),
        };
        // which the transformer may handle
        result.or_else(|message| {
            let name = match n {
                EVAL => "eval",
                READ => "read",
                _ => "environment",
            };
            let stop = Stop::Raised(format!("{name}: {message}"), Site::NONE);
            self.call_hook(stop, error::TYPE, name, &message, Vec::new(), Site::NONE)
        })
    }

    fn run_evaluated(&self, host: &Host<'p>, parts: &[&'p [TopForm]]) -> Res<Out<'p>> {
        let mut result = Out::One(Val::Atom(Atom::Unspecified));
        for form in parts.iter().copied().flatten() {
            match form {
                TopForm::Define(g, e) => {
                    host.definitions.borrow_mut().insert(*g, e);
                    host.values.borrow_mut().remove(g);
                }
                TopForm::Expr(Expr::Prim { op: PrimOp::Op(Op::MachineSet), .. }) => {}
                TopForm::Expr(e) => result = self.values(e, &None)?,
            }
        }
        Ok(result)
    }

    fn ask(&self, n: u32, args: &[Value<'p>]) -> Res<Value<'p>> {
        match &self.host {
            Some(h) => h.natives.call(n, args).map_err(|message| Stop::Raised(message, Site::NONE)),
            None => Err(Stop::NotProcedure),
        }
    }

    /// A symbol that nobody can write.
    pub(super) fn fresh_symbol(&self) -> Res<Value<'p>> {
        let Some(host) = &self.host else { return Err(Stop::Unsupported("generate-symbol")) };
        let n = host.symbols.get();
        host.symbols.set(n + 1);
        host.natives.call(FRESH, &[fixnum(i64::from(n))]).map_err(|message| Stop::Raised(message, Site::NONE))
    }

    /// `(syntax-host what a b)`.
    pub(super) fn ask_host(&self, args: &[Value<'p>]) -> Res<Value<'p>> {
        match args {
            [Val::Num(Number::Int(Int::Fix(what))), operands @ ..] if self.host.is_some() => {
                match (ASKED + *what as u32, operands, &self.host) {
                    (REFUSES, [condition, what], Some(host)) => {
                        *host.refusal.borrow_mut() = Some((condition.clone(), what.clone()));
                        Ok(boolean(false))
                    }
                    (what, ..) => self.ask(what, operands),
                }
            }
            _ => Err(Stop::Unsupported("syntax-host")),
        }
    }

    /// Winders, handlers and parameters.
    pub(super) fn dynamic_state(&self) -> [Value<'p>; 3] {
        DYNAMIC_STATE.map(|slot| self.world.slot(slot))
    }

    /// A continuation returns to an earlier state: the thunks of `dynamic-wind` between are not run.
    pub(super) fn set_dynamic_state(&self, state: [Value<'p>; 3]) {
        for (slot, x) in DYNAMIC_STATE.into_iter().zip(state) {
            self.world.set_slot(slot, x);
        }
    }

    /// A primitive operation; errors go to the error hook.
    pub(super) fn host_prim(&self, op: PrimOp, args: Vec<Value<'p>>, proven: u8, site: Site) -> Res<Out<'p>> {
        let audits = self.host.as_ref().is_some_and(|host| host.audits);
        let result = match (op, &args[..]) {
            (PrimOp::Rt(i), [x, Val::Nil, _]) if audits && i.row().name == "write-object" => {
                self.world.note(x.written());
                Ok(boolean(false))
            }
            (PrimOp::Rt(i), _) => self.runtime(i.row().name, &args),
            (op, _) => self.world.prim(op, args.clone(), if audits { proven } else { 0 }),
        };
        match result {
            Err(Stop::Operand) => self.complain_of_operand(op, args, site),
            result => result.map(Out::One),
        }
    }

    /// What the error hook does; `stop` when there is none.
    pub(super) fn complain(
        &self,
        stop: Stop,
        kind: i64,
        name: &str,
        irritants: Vec<Value<'p>>,
        site: Site,
    ) -> Res<Out<'p>> {
        let message = match stop {
            Stop::NotProcedure => "tried to call what is not a procedure:",
            Stop::Arity => "wrong number of arguments:",
            _ => "not possible with",
        };
        self.call_hook(stop, kind, name, message, irritants, site)
    }

    /// An inline operation or a runtime call refused its operands.
    fn complain_of_operand(&self, op: PrimOp, args: Vec<Value<'p>>, site: Site) -> Res<Out<'p>> {
        let name = op.name();
        if let PrimOp::Op(o) = op
            && let Some((kind, x)) = o.info().args.iter().zip(&args).find(|(kind, x)| !x.is(**kind))
        {
            let message = format!("expected {}, got", described(*kind));
            return self.call_hook(Stop::Operand, error::TYPE, name, &message, vec![x.clone()], site);
        }
        let zero = args.len() == 2 && matches!(&args[1], Val::Num(n) if n.is_zero());
        let (kind, message) = match op {
            PrimOp::Op(Op::Div | Op::Quotient | Op::Remainder | Op::Modulo | Op::FloorQuotient) if zero => {
                (error::DIVISION, "division by zero, of")
            }
            PrimOp::Op(Op::VectorRef | Op::VectorSet | Op::StringRef | Op::StringSet | Op::BytevectorRef) => {
                (error::RANGE, "index out of range:")
            }
            _ => (error::TYPE, "not possible with"),
        };
        self.call_hook(Stop::Operand, kind, name, message, args, site)
    }

    fn call_hook(
        &self,
        stop: Stop,
        kind: i64,
        name: &str,
        message: &str,
        irritants: Vec<Value<'p>>,
        site: Site,
    ) -> Res<Out<'p>> {
        let hook = self.world.slot(slot::ERROR_HOOK);
        if self.host.is_none() || !hook.is(Kind::Procedure) {
            return Err(stop);
        }
        let who = match site.who() {
            Some(who) => self.program.procedures.get(who).map_or(name, |w| w),
            None => name,
        };
        let who = if who.is_empty() { boolean(false) } else { string(who) };
        let args = vec![fixnum(kind), who, string(message), list(irritants), fixnum(site.0 as i64)];
        self.apply(hook, args)
    }
}

fn environment_number(x: &Value<'_>) -> Option<u32> {
    let Val::Opaque(parts) = x else { return None };
    match &parts.borrow()[..] {
        [Val::Symbol(tag), Val::Num(Number::Int(Int::Fix(number)))] if &**tag == ENVIRONMENT_TAG => {
            u32::try_from(*number).ok()
        }
        _ => None,
    }
}

/// A fresh string.
pub fn string<P>(s: &str) -> Val<P> {
    Val::String(Rc::new(RefCell::new(s.chars().collect())))
}

/// A procedure of the host.
pub fn native<'p>(number: u32) -> Value<'p> {
    Val::Procedure(Rc::new(Procedure::Native(number)))
}

/// A character.
pub fn character<P>(c: char) -> Val<P> {
    Val::Atom(Atom::Char(c))
}

fn described(kind: Kind) -> &'static str {
    match kind {
        Kind::Any => "a value",
        Kind::Fixnum => "a small exact integer",
        Kind::Flonum => "an inexact real number",
        Kind::Compnum | Kind::Number => "a number",
        Kind::Boolean => "a boolean",
        Kind::Pair => "a pair",
        Kind::Symbol => "a symbol",
        Kind::String => "a string",
        Kind::Char => "a character",
        Kind::Vector => "a vector",
        Kind::Bytevector => "a bytevector",
        Kind::Procedure => "a procedure",
        Kind::Box => "a box",
        Kind::Record => "a record",
        Kind::Port => "a port",
        Kind::Promise => "a promise",
        Kind::Opaque => "another object",
    }
}
