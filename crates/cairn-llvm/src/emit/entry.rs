//! How functions begin: parameters of bodies, argument counts of entries, values of return points.
//!
//! ```text
//!  entry    argc == 2 ? ──▶ jump body 1      (arguments are already where the body wants them, except 5 and 6)
//!           argc >= 1 ? ──▶ rest list, jump body 2
//!           otherwise   ──▶ jump cairn_arity_tail: throws ARITY(closure, list of arguments)
//! ```
//!
//! A return point that takes several values is two LLVM functions: the multiple-value entry has the body; the
//! single-value entry, whose address frames hold, sets the count to one and jumps there.

use super::builder::{ins, line};
use super::emitter::Emitter;
use super::ir_text::{Odds, Val};
use super::regs::{Place, Regs, known_place};
use crate::alloc;
use cairn_frame::ir::*;
use cairn_layout::code::{Site, expected_values};
use cairn_layout::limits::ARG_REGISTERS;
use cairn_layout::machine::error;
use cairn_layout::object::PAIR_BYTES;
use cairn_layout::value::Value as Word;

impl<'m> Emitter<'_, 'm> {
    /// A body: parameters into variables, then the blocks.
    pub(crate) fn body(&mut self, func: &'m Function, params: &[Var], closure: Option<Var>) {
        if let Some(c) = closure {
            line!(self, "store i64 %clo, ptr %v{}", c.0);
        }
        for (i, p) in params.iter().enumerate() {
            let v = self.known_param(i, closure.is_some());
            line!(self, "store i64 {v}, ptr %v{}", p.0);
        }
        self.blocks(func);
    }

    /// A return point for one value.
    pub(crate) fn single_result(&mut self, func: &'m Function, result: Var) {
        line!(self, "store i64 %a0, ptr %v{}", result.0);
        self.blocks(func);
    }

    /// The multiple-value entry of a return point: count check, values into variables, then the blocks.
    pub(crate) fn multiple_results(&mut self, func: &'m Function, params: &[Var], rest: Option<Var>, site: Site) {
        self.receive(params, rest, site);
        self.blocks(func);
    }

    /// Count check, values into variables.
    pub(crate) fn receive(&mut self, params: &[Var], rest: Option<Var>, site: Site) {
        let n = params.len();
        let argc = self.incoming.argc.clone();
        let comparison = if rest.is_some() { "uge" } else { "eq" };
        let ok = ins!(self, "icmp {comparison} i64 {argc}, {n}");
        let fail = self.fresh();
        self.out_of_line(&fail, |e| {
            let expected = Word::fixnum(expected_values(n, rest.is_some(), site));
            let got = e.rest_list(0);
            e.c_call("cairn_machine_mismatch", &[Val::word(expected.0), got]);
            e.throw(error::PENDING, "", "", site, &[]);
        });
        self.guard(&ok, &fail);
        for (i, p) in params.iter().enumerate() {
            let v = self.unknown_param(i);
            line!(self, "store i64 {v}, ptr %v{}", p.0);
        }
        if let Some(r) = rest {
            let list = self.rest_of_values(n);
            line!(self, "store i64 {list}, ptr %v{}", r.0);
        }
    }

    /// The lower half of `argc`, which counts arguments or values.
    pub(super) fn argument_count(&mut self) -> Val {
        let argc = self.incoming.argc.clone();
        ins!(self, "and i64 {argc}, {}", u32::MAX)
    }

    /// The list of incoming arguments or values from `start` on; at least `start` came in.
    fn rest_list(&mut self, start: usize) -> Val {
        let argc = self.argument_count();
        let none = ins!(self, "icmp eq i64 {argc}, {start}");
        let (some, join) = (self.fresh(), self.fresh());
        let here = self.here();
        self.branch(&none, &join, &some, Odds::Even);
        self.start(&some);
        self.spill_arg_registers(start);
        let argc = ins!(self, "shl i64 {argc}, 3");
        let list = self.c_call("cairn_machine_rest", &[Val::Int(8 * start as i64), argc]);
        let there = self.here();
        self.goto(&join);
        self.start(&join);
        self.phi("i64", &[(Val::word(Word::NIL.0), here), (list, there)])
    }

    /// The list of incoming values from `start` on. A list of one, as where a single value is kept while something
    /// else is done, is made here if there is room.
    fn rest_of_values(&mut self, start: usize) -> Val {
        let argc = self.incoming.argc.clone();
        let one = ins!(self, "icmp eq i64 {argc}, {}", start + 1);
        let [single, make, other, join] = std::array::from_fn(|_| self.fresh());
        self.branch(&one, &single, &other, Odds::Likely);
        self.start(&single);
        let room = self.collector.checked_bytes(PAIR_BYTES);
        let short = self.room_below(room);
        self.branch(&short, &other, &make, Odds::Unlikely);
        self.start(&make);
        let (alloc, value) = (alloc::for_facts(self.collector), self.unknown_param(start));
        alloc.checked(self, room);
        let pair = self.pair(&value, &Val::word(Word::NIL.0));
        let made = self.here();
        self.goto(&join);
        self.start(&other);
        let list = self.rest_list(start);
        let there = self.here();
        self.goto(&join);
        self.start(&join);
        self.phi("i64", &[(pair, made), (list, there)])
    }

    /// The single-value entry of a return point for several values.
    pub(crate) fn single_to_multiple(&mut self, multiple: &str) {
        let mut regs = Regs { argc: Val::Int(1), ..Regs::default() };
        regs.a[0] = Val::text("%a0");
        let sp = self.sp();
        self.jump(&Val::text(multiple), &sp, &regs);
    }

    /// A procedure's entry: the first clause that accepts the argument count.
    pub(crate) fn dispatch(&mut self, clauses: &[EntryClause]) {
        let argc = ins!(self, "trunc i64 %argc to i32");
        for c in clauses {
            let comparison = if c.rest { "uge" } else { "eq" };
            let fits = ins!(self, "icmp {comparison} i32 {argc}, {}", c.required);
            let (yes, no) = (self.fresh(), self.fresh());
            let odds = if clauses.len() == 1 { Odds::Likely } else { Odds::Even };
            self.branch(&fits, &yes, &no, odds);
            self.start(&yes);
            self.enter_clause(c);
            self.start(&no);
        }
        let (sp, regs) = (self.sp(), self.incoming_regs());
        self.jump(&Val::text("@cairn_arity_tail"), &sp, &regs);
    }

    fn enter_clause(&mut self, c: &EntryClause) {
        let body = self.cx.module.function(c.body);
        let FuncKind::Body { closure, params } = &body.kind else { panic!("a clause leads to a body") };
        let spread = c.spread() as usize;
        debug_assert_eq!(params.len(), c.params() as usize, "{}", body.name);
        let has_closure = closure.is_some();
        let list = c.has_list().then(|| self.rest_list(spread));
        let mut regs = Regs::default();
        if has_closure {
            regs.clo = Val::text("%clo");
        }
        for i in 0..params.len() {
            let v = match &list {
                Some(list) if i == spread => list.clone(),
                // beyond the registers, arguments stay where they are
                _ if i >= ARG_REGISTERS && known_place(i, has_closure) == Place::Memory(i) => continue,
                _ => self.unknown_param(i),
            };
            match known_place(i, has_closure) {
                Place::Arg(i) => regs.a[i] = v,
                Place::Argc => regs.argc = v,
                Place::Clo => regs.clo = v,
                Place::Memory(i) => self.store_arg(i, &v),
            }
        }
        let sp = self.sp();
        let code = Val::text(self.cx.symbol(c.body));
        self.jump(&code, &sp, &regs);
    }

    /// A whole function of the module, without its head.
    pub(crate) fn function(&mut self, func: &'m Function) {
        match &func.kind {
            FuncKind::Entry { clauses, .. } => self.dispatch(clauses),
            FuncKind::Body { params, closure } => self.body(func, params, *closure),
            FuncKind::Return { results: Results::Single(v), .. } => self.single_result(func, *v),
            FuncKind::Return { results: Results::Multi { params, rest, site }, .. } => {
                self.multiple_results(func, params, *rest, *site)
            }
        }
    }
}
