//! The walk over a function: blocks, statements, terminators, and the operations that are not primitives.

use super::again::{fresh_blocks, repeatable};
use super::builder::{Label, ins, line};
use super::debug::{site_of_end, site_of_statement};
use super::decoded::Decoded;
use super::emitter::Emitter;
use super::ir_text::{Mem, Val};
use super::prims::{Value, never_heap_pointer};
use super::regs::{Call, Regs, Target};
use crate::alloc::after_store;
use cairn_core::ir::Shots;
use cairn_core::prim::Kind;
use cairn_frame::ir::*;
use cairn_layout::code::{Site, tail_call};
use cairn_layout::value::{TAG_PROCEDURE, Value as Word};

impl<'m> Emitter<'_, 'm> {
    /// Emits all blocks; block 0 first.
    pub(crate) fn blocks(&mut self, func: &'m Function) {
        let decoded = Decoded::of(func);
        for v in &decoded.twins {
            line!(self, "%d{} = alloca double", v.0);
        }
        self.twins = decoded.twins;
        let mut at_start = decoded.at_start.into_iter();
        self.goto(&block_label(BlockId(0)));
        let fresh = fresh_blocks(func);
        for (i, b) in func.blocks.iter().enumerate() {
            self.start(&block_label(BlockId(i as u32)));
            self.fixnum_flags.clear();
            self.doubles = at_start.next().unwrap_or_default();
            self.fresh_start = fresh[i];
            let mut stmts = b.stmts.iter().enumerate().peekable();
            while let Some((k, s)) = stmts.next() {
                if let Stmt::HeapCheck { bytes: 1.., .. } = s {
                    self.allocation = self.first_allocation(&b.stmts[k + 1..], &b.term);
                }
                // A poll right after an operation with a slow path belongs into that path.
                if let (Some(target), Some((_, Stmt::HeapCheck { bytes: 0, live }))) =
                    (self.polled_target(s), stmts.peek())
                {
                    self.poll = Some((live.clone(), target));
                    stmts.next();
                }
                self.locate(site_of_statement(s));
                self.stmt(s);
                self.poll = None;
                self.fresh_start &= repeatable(s);
            }
            self.locate(site_of_end(&b.term));
            self.terminator(&b.term);
        }
    }

    /// The target of a statement that allocates in the runtime on a slow path only.
    fn polled_target(&self, s: &Stmt) -> Option<Option<Var>> {
        match s {
            Stmt::Assign(v, Op::Prim(p)) if p.boxes_its_result() && self.rep(*v) == Rep::Tagged => Some(Some(*v)),
            Stmt::Effect(Op::Prim(p)) if p.boxes_its_result() => Some(None),
            _ => None,
        }
    }

    fn stmt(&mut self, s: &'m Stmt) {
        match s {
            Stmt::Assign(v, op) => {
                self.result_flag = None;
                let value = self.op(op);
                self.assign(*v, value);
                let flag = match op {
                    Op::Copy(o) => self.fixnum_flag(o),
                    Op::Prim(p) => match p.op.result() {
                        Kind::Fixnum => Some(Val::text("true")),
                        Kind::Flonum => Some(Val::text("false")),
                        _ => self.result_flag.take(),
                    },
                    _ => None,
                };
                match flag {
                    Some(f) => self.fixnum_flags.insert(*v, f),
                    None => self.fixnum_flags.remove(v),
                };
            }
            Stmt::Effect(op) => {
                self.op(op);
            }
            Stmt::HeapCheck { bytes, live } => self.heap_check(*bytes, live),
            Stmt::StackCheck { words, live } => self.stack_check(*words, live),
            Stmt::StopCheck { live } => self.stop_check(live),
        }
    }

    /// Assigns a variable, converting between representations.
    fn assign(&mut self, v: Var, value: Value) {
        self.doubles.remove(&v);
        match self.rep(v) {
            Rep::Tagged => {
                let w = match value {
                    Value::Double(d) => self.encode_result(&d),
                    other => self.tagged(other),
                };
                line!(self, "store i64 {w}, ptr %v{}", v.0);
            }
            Rep::Double => {
                let d = match value {
                    Value::Double(d) => d,
                    other => {
                        let w = self.tagged(other);
                        self.decode_flonum(&w, None)
                    }
                };
                line!(self, "store double {d}, ptr %v{}", v.0);
            }
        }
    }

    fn terminator(&mut self, t: &'m Term) {
        match t {
            Term::Goto(b) => self.goto(&block_label(*b)),
            Term::Branch { test, then, els } => self.test(test, &block_label(*then), &block_label(*els)),
            Term::Return(o) => {
                let v = self.operand(o);
                let sp = self.leave();
                self.return_one(&sp, &v);
            }
            Term::ReturnMulti(os) => {
                let vs = self.operands(os);
                let sp = self.leave();
                if let [v] = &vs[..] {
                    return self.return_one(&sp, v);
                }
                let regs = self.unknown_regs(&vs, None);
                self.return_many(&sp, &regs);
            }
            Term::TailCall { callee, args, site } => {
                let mut call = self.prepare_call(callee, args, *site);
                self.note_tail_call(&mut call, callee, *site);
                let sp = self.leave();
                self.leave_for(call, sp);
            }
            Term::Call { callee, args, site, frame, ret } => {
                let call = self.prepare_call(callee, args, *site);
                self.activations.call(self, call, frame, *ret);
            }
        }
    }

    /// Evaluates callee and arguments; checks what can fail, while the incoming frame is still in place.
    fn prepare_call(&mut self, callee: &'m Callee, args: &[Operand], site: Site) -> Call {
        match callee {
            Callee::Known(f, clo) => {
                let args = self.operands(args);
                let clo = clo.as_ref().map(|c| self.operand(c));
                let regs = self.known_regs(&args, clo);
                Call { regs, to: Target::Code(Val::text(self.cx.symbol(*f))) }
            }
            Callee::Unknown(Operand::Procedure(f)) => {
                let args = self.operands(args);
                let clo = self.cx.static_closure(*f);
                let regs = self.unknown_regs(&args, Some(clo));
                Call { regs, to: Target::Code(Val::text(self.cx.symbol(*f))) }
            }
            Callee::Unknown(o) => {
                let f = self.operand(o);
                let args = self.operands(args);
                self.check_procedure(&f, site);
                let regs = self.unknown_regs(&args, Some(f.clone()));
                Call { regs, to: Target::Closure(f) }
            }
            Callee::Apply(o) => {
                let f = self.operand(o);
                let list = self.operands(args);
                self.check_procedure(&f, site);
                let n = self.rt_call("cairn_machine_spread", &list, site);
                let n = ins!(self, "lshr i64 {n}, 3");
                let a = self.load_arg_registers();
                Call { regs: Regs { argc: n, clo: f.clone(), a }, to: Target::Closure(f) }
            }
            Callee::CallCc(shots, o) => {
                let f = self.operand(o);
                self.check_procedure(&f, site);
                let regs = Regs { argc: Val::Int(1), clo: f, ..Regs::default() };
                Call {
                    regs,
                    to: Target::Code(Val::text(match shots {
                        Shots::Many => "@cairn_call_cc",
                        Shots::One => "@cairn_call_1cc",
                    })),
                }
            }
        }
    }

    /// A procedure that gets a wrong count can say where the tail call stands.
    fn note_tail_call(&mut self, call: &mut Call, callee: &Callee, site: Site) {
        if matches!(callee, Callee::Known(..)) {
            return;
        }
        let procedure = self.func.map_or("", |(_, f)| &f.procedure);
        let place = self.cx.tail_call(site, procedure);
        call.regs.argc = match &call.regs.argc {
            Val::Int(n) => Val::Int(tail_call::count(*n as u32, place)),
            n => ins!(self, "or i64 {n}, {}", tail_call::count(0, place)),
        };
    }

    fn check_procedure(&mut self, f: &Val, site: Site) {
        use cairn_layout::machine::error::NOT_PROCEDURE;
        let ok = self.has_tag(f, TAG_PROCEDURE);
        // a call that fails is shown, be it a tail call
        let fail = self.throw_block(NOT_PROCEDURE, "", "", site.plain(), &[f]);
        self.guard(&ok, &fail);
    }

    /// Leaves for what is called.
    pub(crate) fn leave_for(&mut self, call: Call, sp: Val) {
        match call.to {
            Target::Code(f) => self.jump(&f, &sp, &call.regs),
            Target::Closure(f) => self.jump_closure(&f, &sp, &call.regs),
        }
    }

    // ---- operations that are not primitives

    fn op(&mut self, op: &'m Op) -> Value {
        match op {
            Op::Copy(Operand::Var(v)) if self.rep(*v) == Rep::Double => {
                Value::Double(ins!(self, "load double, ptr %v{}", v.0))
            }
            Op::Copy(o) => Value::Word(self.operand(o)),
            Op::Prim(p) => self.prim(p),
            Op::Global(g) => Value::Word(self.load_global(g.0)),
            Op::GlobalChecked(g, site) => Value::Word(self.checked_global(g.0, *site)),
            Op::SetGlobal(g, o) => {
                let v = self.operand(o);
                self.store_global(g.0, o, &v);
                Value::unspecified()
            }
            Op::SetGlobalChecked(g, o, site) => {
                let v = self.operand(o);
                self.checked_global(g.0, *site);
                self.store_global(g.0, o, &v);
                Value::unspecified()
            }
            Op::Free(i) => {
                let Some((_, Function { kind: FuncKind::Body { closure: Some(c), .. }, .. })) = self.func else {
                    panic!("free variable outside a closure's body")
                };
                let c = ins!(self, "load i64, ptr %v{}", c.0);
                Value::Word(self.load_word(&c, 8 * (1 + *i as i64) - TAG_PROCEDURE as i64, Mem::Closure))
            }
            Op::Slot(s) => Value::Word(self.activations.slot(self, *s)),
            Op::Closure { entry, free } => {
                let values = self.operands(free);
                let code = self.cx.symbol(*entry);
                Value::Word(self.closure(&code, &values))
            }
            Op::ClosurePatch { closure, index, value } => {
                let v = self.operand(value);
                let c = ins!(self, "load i64, ptr %v{}", closure.0);
                self.store_word(&c, 8 * (1 + *index as i64) - TAG_PROCEDURE as i64, &v, Mem::Closure);
                Value::unspecified()
            }
        }
    }

    pub(super) fn load_global(&mut self, g: u32) -> Val {
        let (m, p) = (Mem::Global.suffix(), self.static_word("@cairn_globals", g as usize));
        ins!(self, "load i64, ptr {p}{m}")
    }

    /// Stores `v`, the value of `o`. A minor collection looks at no other globals than those stored to.
    fn store_global(&mut self, g: u32, o: &Operand, v: &Val) {
        let (m, p) = (Mem::Global.suffix(), self.static_word("@cairn_globals", g as usize));
        line!(self, "store i64 {v}, ptr {p}{m}");
        if never_heap_pointer(o) {
            return;
        }
        let address = match self.cx.module.shared {
            false => Val::text(format!("add (i64 ptrtoint (ptr @cairn_globals to i64), i64 {})", 8 * g)),
            true => ins!(self, "ptrtoint ptr {p} to i64"),
        };
        after_store(self, &address, Some(v));
    }

    fn checked_global(&mut self, g: u32, site: Site) -> Val {
        use cairn_layout::machine::error::{A_DEFINITION, UNBOUND};
        let v = self.load_global(g);
        let ok = ins!(self, "icmp ne i64 {v}, {}", Word::UNBOUND.0);
        let global = &self.cx.module.globals[g as usize];
        let (name, expected) = (global.name.clone(), if global.undefined { A_DEFINITION } else { "" });
        let fail = self.throw_block(UNBOUND, &name, expected, site, &[]);
        self.guard(&ok, &fail);
        v
    }
}

/// The label of a Frame IR block.
pub(crate) fn block_label(b: BlockId) -> Label {
    Label(format!("b{}", b.0).into())
}
