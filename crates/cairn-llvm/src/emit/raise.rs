//! Runtime calls that can fail, and errors.
//!
//! A *throw* is a jump to `@cairn_throw_tail`, which calls the runtime and then the library's error hook.

use super::builder::{Label, ins};
use super::emitter::{Emitter, Poll};
use super::ir_text::{Mem, Val};
use super::regs::Regs;
use super::runtime_calls::{call_offset, row_of};
use cairn_frame::ir::Var;
use cairn_layout::calls::{ALLOC, COLD, FAIL};
use cairn_layout::code::{Site, SlowCall};
use cairn_layout::machine::{Machine, error, slot, slot_offset};
use cairn_layout::value::Value as Word;
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// A runtime call by symbol, by the way its row prescribes; raises when it fails.
    pub(crate) fn rt_call(&mut self, symbol: &str, args: &[Val], site: Site) -> Val {
        self.rt_call_at(symbol, args, Some(site))
    }

    /// A runtime call by symbol, by the way its row prescribes; without a site the row must not be able to fail.
    pub(crate) fn rt_call_at(&mut self, symbol: &str, args: &[Val], site: Option<Site>) -> Val {
        let row = row_of(symbol).row();
        debug_assert_eq!(row.arity, args.len(), "{symbol}");
        if row.flags & COLD != 0 && row.flags & FAIL != 0 {
            return self.slow_call(symbol, args, site.expect("a site for a call that can fail"), None);
        }
        if row.flags & ALLOC != 0 {
            self.note_allocation(site.unwrap_or(Site::NONE));
        }
        let result = if row.flags & COLD != 0 {
            let sp = self.sp();
            self.cold_call(symbol, &sp, args)
        } else {
            self.c_call(symbol, args)
        };
        if row.flags & FAIL != 0 {
            let site = site.expect("a site for a call that can fail");
            self.check_failed(&result, row.flags, site);
        }
        result
    }

    /// The runtime call of an operation whose fast path gave up, when nothing else of the statement is outstanding:
    /// raises when it fails; collects if the runtime wants it and the frame pass allows it here.
    pub(crate) fn slow_result(&mut self, symbol: &str, args: &[Val], site: Site) -> Val {
        if row_of(symbol).row().flags & COLD != 0 {
            let poll = self.poll.clone();
            return self.slow_call(symbol, args, site, poll);
        }
        let result = self.rt_call(symbol, args, site);
        self.poll(&result)
    }

    /// Calls through the slow stub.
    fn slow_call(&mut self, symbol: &str, args: &[Val], site: Site, poll: Option<Poll>) -> Val {
        let live = poll.as_ref().map(|(live, target)| {
            let outlives = |v: &&Var| Some(**v) != *target;
            self.spill(&live.iter().filter(outlives).copied().collect::<Vec<_>>())
        });
        if let Some(live) = &live {
            self.store_machine(offset_of!(Machine, spilled), &Val::Int(live.len() as i64));
        }
        let procedure = self.func.map_or("", |(_, f)| &f.procedure);
        let throw = self.cx.throw(error::PENDING, ("", ""), (site, procedure), 0);
        let room = live.as_ref().map(|_| self.poll_bytes());
        let descriptor = self.cx.slow_call(call_offset(row_of(symbol)), &throw, self.incoming_words(), room);
        if row_of(symbol).row().flags & ALLOC != 0 {
            self.note_allocation(site);
        }
        let sp = self.sp();
        let (result, sp) = self.slow_stub(symbol, &descriptor, &sp, args, live.is_some());
        if let Some(live) = live {
            self.set_sp(&sp);
            self.reload(&live);
        }
        result
    }

    /// Raises the failure that the runtime recorded if `result` says so.
    pub(crate) fn check_failed(&mut self, result: &Val, flags: u8, site: Site) {
        let ok = ins!(self, "icmp ne i64 {result}, {}", Word::FAIL.0);
        let fail = self.fresh();
        self.out_of_line(&fail, |e| {
            if flags & (ALLOC | COLD) == 0 {
                e.reload_nursery();
            }
            e.throw(error::PENDING, "", "", site, &[]);
        });
        self.guard(&ok, &fail);
    }

    /// A cold block that raises; returns its label. `who` and `expected` describe the operation; at most two values.
    pub(crate) fn throw_block(
        &mut self,
        kind: i64,
        who: &str,
        expected: &str,
        site: Site,
        values: &[&Val],
    ) -> Label {
        let label = self.fresh();
        self.out_of_line(&label, |e| e.throw(kind, who, expected, site, values));
        label
    }

    /// Raises here. All that is constant goes through one descriptor, so a throw is three or four instructions.
    pub(crate) fn throw(&mut self, kind: i64, who: &str, expected: &str, site: Site, values: &[&Val]) {
        let procedure = self.func.map_or("", |(_, f)| &f.procedure);
        let descriptor = self.cx.throw(kind, (who, expected), (site, procedure), values.len());
        let mut regs = Regs { argc: Val::text(format!("ptrtoint (ptr {descriptor} to i64)")), ..Regs::default() };
        for (r, v) in regs.a.iter_mut().zip(values) {
            *r = (*v).clone();
        }
        // A return point leaves its frame first: that frame's site is a call that has already returned.
        let sp = self.leave();
        self.jump(&Val::text("@cairn_throw_tail"), &sp, &regs);
    }

    /// Body of `@cairn_throw_tail`: descriptor `{ kind, operation, site, number of values }` in `argc`, values in `a0`,
    /// `a1`.
    pub(crate) fn throw_tail(&mut self) {
        let d = Val::text("%argc");
        let word = |e: &mut Self, i: i64| e.load_word(&d, 8 * i, Mem::Code);
        let (kind, operation, site, count) = (word(self, 0), word(self, 1), word(self, 2), word(self, 3));
        let base = self.load_at(&Val::text("@cairn_site_base"), 0, Mem::Global);
        let site = ins!(self, "add i64 {site}, {base}");
        let value = |e: &mut Self, i: usize| {
            let given = ins!(e, "icmp ugt i64 {count}, {i}");
            ins!(e, "select i1 {given}, i64 %a{i}, i64 {}", Word::DEFAULT.0)
        };
        let (x, y) = (value(self, 0), value(self, 1));
        self.c_call("cairn_machine_throw", &[kind, operation, site, x, y]);
        self.call_error_hook();
    }

    /// Body of `@cairn_failed`: the slow stub comes here with its descriptor in `argc`.
    pub(crate) fn failed(&mut self) {
        let d = Val::text("%argc");
        let throw = self.load_word(&d, offset_of!(SlowCall, throw) as i64, Mem::Code);
        let words = self.load_word(&d, offset_of!(SlowCall, leave) as i64, Mem::Code);
        let sp = self.activations.leave_counted(self, &words);
        let regs = Regs { argc: throw, ..Regs::default() };
        self.jump(&Val::text("@cairn_throw_tail"), &sp, &regs);
    }

    /// Body of `@cairn_arity_tail`: entered like the procedure whose clauses do not fit. The runtime finds the site, by
    /// the youngest frame or what a tail call says of itself.
    pub(crate) fn arity_tail(&mut self) {
        self.spill_arg_registers(0);
        let count = self.argument_count();
        let count = ins!(self, "shl i64 {count}, 3");
        let list = self.c_call("cairn_machine_rest", &[Val::Int(0), count]);
        let clo = Val::text("%clo");
        let call = ins!(self, "lshr i64 %argc, 32");
        let call = ins!(self, "shl i64 {call}, 3");
        self.c_call(
            "cairn_machine_throw",
            &[Val::word(Word::fixnum(error::ARITY).0), Val::Int(0), call, clo, list],
        );
        self.call_error_hook();
    }

    /// Calls the library's error hook with what `cairn_machine_throw` left in the argument area.
    fn call_error_hook(&mut self) {
        let hook = self.load_machine(slot_offset(slot::ERROR_HOOK));
        let a = self.load_arg_registers();
        let regs = Regs { argc: Val::Int(5), clo: hook.clone(), a };
        let sp = self.sp();
        self.jump_closure(&hook, &sp, &regs);
    }
}
