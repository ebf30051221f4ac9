//! Procedures cut at their calls: every call and every return is a jump, and frames are ours.
//!
//! All functions share one frame of the native stack, the runtime's. A call makes a frame, which says where it returns,
//! and jumps; a return jumps to what the frame says. How frames are kept is the strategy's.

use crate::emit::builder::{Builder, Footing, ins, line};
use crate::emit::emitter::{Activations, Emitter};
use crate::emit::ir_text::{Mem, Val};
use crate::emit::part::Part;
use crate::emit::regs::{Call, Regs};
use crate::emit::tables::{Head, ModuleCx};
use crate::strategy::{Push, Strategy};
use cairn_core::ir::Shots;
use cairn_frame::ir::{FuncId, NewFrame};
use cairn_layout::code::{MV_ENTRY, Site, flags};
use cairn_layout::machine::Machine;
use cairn_layout::value::{TAG_PROCEDURE, Value as Word};
use std::fmt::Write;
use std::mem::offset_of;

pub(super) struct Split(pub &'static dyn Strategy);

impl Footing for Split {
    fn sp(&self, b: &mut Builder) -> Val {
        ins!(b, "load i64, ptr %sp.v")
    }

    fn passed(&self, sp: &Val) -> Val {
        sp.clone()
    }

    fn call_runtime(&self, b: &mut Builder, f: &Val, args: &[Val], pure: bool) -> Val {
        let mut list = String::new();
        for a in args {
            let _ = write!(list, ", i64 {a}");
        }
        let attributes = if pure { " #2" } else { " #1" };
        ins!(b, "call i64 {f}(ptr %ctx{list}){attributes}")
    }

    fn object(&self, _: &mut Builder, at: Val) -> Val {
        at
    }

    fn serves_c(&self) -> bool {
        true
    }

    fn is_read_as_it_is(&self) -> bool {
        false
    }
}

impl Activations for Split {
    fn call(&self, e: &mut Emitter<'_, '_>, call: Call, frame: &NewFrame, ret: FuncId) {
        let stores: Vec<(u32, Val)> = frame.stores.iter().map(|(s, o)| (*s, e.operand(o))).collect();
        let push = Push {
            frame: &frame.frame,
            stores: &stores,
            incoming: e.incoming_words(),
            ret: e.cx.symbol(ret),
            returns_here: e.func.is_some_and(|(id, _)| id == ret),
            reserved: e.reserved.take(),
        };
        let sp = self.0.push(e, &push);
        e.leave_for(call, sp);
    }

    fn return_one(&self, e: &mut Emitter<'_, '_>, sp: &Val, v: &Val) {
        let mut regs = Regs::default();
        regs.a[0] = v.clone();
        let code = self.0.return_code(e, sp);
        e.jump(&code, sp, &regs);
    }

    fn return_many(&self, e: &mut Emitter<'_, '_>, sp: &Val, regs: &Regs) {
        let code = self.0.return_code(e, sp);
        let p = ins!(e, "getelementptr i8, ptr {code}, i64 {MV_ENTRY}");
        let m = Mem::Code.suffix();
        let mv = match e.cx.anywhere {
            true => {
                let distance = ins!(e, "load i64, ptr {p}{m}");
                ins!(e, "getelementptr i8, ptr {code}, i64 {distance}")
            }
            false => ins!(e, "load ptr, ptr {p}{m}"),
        };
        e.jump(&mv, sp, regs);
    }

    fn slot(&self, e: &mut Emitter<'_, '_>, slot: u32) -> Val {
        let (words, sp) = (e.incoming_words(), e.sp());
        let (base, offset) = self.0.slot(e, &sp, words, slot);
        e.load_word(&base, offset, Mem::Frame)
    }

    fn leave(&self, b: &mut Builder, words: u32) -> Val {
        self.0.leave(b, words)
    }

    fn leave_counted(&self, b: &mut Builder, words: &Val) -> Val {
        self.0.leave_counted(b, words)
    }

    fn place(&self, b: &mut Builder, words: u32) -> Val {
        self.0.place(b, words)
    }

    fn lacks_room(&self, b: &mut Builder, words: u32, place: &Val) -> Val {
        self.0.lacks_room(b, words, place)
    }

    fn captured(&self) -> u64 {
        self.0.captured()
    }

    fn capture(&self, b: &mut Builder, shots: Shots) -> Val {
        self.0.capture(b, shots)
    }

    fn return_to(&self, e: &mut Emitter<'_, '_>, k: &Val, regs: &Regs) {
        let sp = self.0.reinstate(e, k);
        e.return_counted(&sp, regs);
    }

    fn call_in(&self, e: &mut Emitter<'_, '_>, k: &Val, regs: &Regs) {
        let sp = self.0.enter(e, k);
        e.jump_closure(&regs.clo, &sp, regs);
    }

    fn prelude(&'static self, cx: &mut ModuleCx<'_>) -> Vec<Part> {
        let strategy = self.0;
        let header_words = cx.module.strategy.header_words as u64;
        let mut parts = vec![Part { symbol: "@cairn_enter", text: enter(cx, self) }];
        let mut define =
            |cx: &mut ModuleCx<'_>, symbol: &'static str, head: &Head, body: &dyn Fn(&mut Emitter<'_, '_>)| {
                parts.push(Emitter::prelude_part(cx, self, symbol, head, body));
            };
        let special = |flag: u64, words: u64, mv: &str| Head::Return {
            name: Val::Int(0),
            site: Site::NONE,
            mv: mv.into(),
            live: [Val::Int(0), Val::Int(0)],
            shape: words | flags::RETURN | flags::LIBRARY | flag,
        };
        define(cx, "@cairn_mv_first", &Head::None, &|e| {
            let none = ins!(e, "icmp eq i64 %argc, 0");
            let v = ins!(e, "select i1 {none}, i64 {}, i64 %a0", Word::UNSPECIFIED.0);
            let sp = e.sp();
            e.return_one(&sp, &v);
        });
        define(cx, "@cairn_halt", &special(flags::HALT, header_words, "@cairn_mv_first"), &|e| {
            for (r, at) in [
                ("sp", offset_of!(Machine, thread.sp)),
                ("lo", offset_of!(Machine, cursors.lo)),
                ("hi", offset_of!(Machine, cursors.hi)),
            ] {
                e.store_machine(at, &Val::text(format!("%{r}")));
            }
            e.store_machine(offset_of!(Machine, result), &Val::text("%a0"));
            line!(e, "ret void");
        });
        let words = header_words + 1;
        let head = Head::Return {
            name: Val::Int(0),
            site: Site::NONE,
            mv: "@cairn_mv_first".into(),
            live: [Val::Int(1 << strategy.slot_word(words as u32, 0)), Val::Int(0)],
            shape: words | flags::RETURN | flags::LIBRARY,
        };
        define(cx, "@cairn_resume", &head, &|e| {
            let sp = e.sp();
            let (base, offset) = strategy.slot(e, &sp, words as u32, 0);
            let record = e.load_word(&base, offset, Mem::Frame);
            let sp = strategy.leave(e, words as u32);
            e.set_sp(&sp);
            e.c_call("cairn_machine_resume", &[record]);
            line!(e, "unreachable");
        });
        if let Some(segments) = strategy.segments() {
            define(
                cx,
                "@cairn_underflow",
                &special(flags::UNDERFLOW, header_words, "@cairn_underflow_mv"),
                &|e| {
                    let sp = segments.underflow(e);
                    e.return_one(&sp, &Val::text("%a0"));
                },
            );
            define(cx, "@cairn_underflow_mv", &Head::None, &|e| {
                let sp = segments.underflow(e);
                let regs = e.incoming_regs();
                e.return_many(&sp, &regs);
            });
        }
        parts
    }
}

/// `void cairn_enter(ctx, closure)`, C convention.
fn enter(cx: &ModuleCx<'_>, footing: &'static dyn Footing) -> String {
    let mut e = Builder::c_function(cx.collector, footing);
    let sp = e.load_machine(offset_of!(Machine, thread.sp));
    let lo = e.load_machine(offset_of!(Machine, cursors.lo));
    let hi = e.load_machine(offset_of!(Machine, cursors.hi));
    let code = e.load_code(&Val::text("%clo"), -(TAG_PROCEDURE as i64), Mem::Closure);
    // the function is entered with a return address below this; nothing is pushed in between
    let at = offset_of!(Machine, entry_sp);
    line!(
        e,
        "call void asm sideeffect \"leaq -8(%rsp), %rax\\0Amovq %rax, {at}($0)\", \"r,~{{rax}},~{{memory}}\"(ptr %ctx)"
    );
    line!(
        e,
        "call preserve_nonecc void {code}(ptr %ctx, i64 {sp}, i64 {lo}, i64 {hi}, i64 0, i64 %clo, i64 poison, i64 poison, \
         i64 poison, i64 poison, i64 poison)"
    );
    line!(e, "ret void");
    let text = e.finish();
    format!("\ndefine internal void @cairn_enter(ptr %ctx, i64 %clo) #0 {{\nentry:\n{text}}}\n")
}
