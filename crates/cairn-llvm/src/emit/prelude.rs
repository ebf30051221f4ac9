//! Functions that every module has.
//!
//! | symbol | what it does |
//! |---|---|
//! | `cairn_enter` | C function: runs a closure of no arguments; at `sp` is a frame returning to `cairn_halt` |
//! | `cairn_halt` | return point that leaves the value and the machine state in the context and returns to C |
//! | `cairn_resume` | return point that goes back to the safepoint which the runtime has left |
//! | `cairn_underflow` | return point at the base of a stack segment: brings the frames below, goes on returning |
//! | `cairn_call_cc`, `cairn_call_1cc` | captures the continuation and passes it to the procedure in `clo` |
//! | `cairn_continuation` | code of continuation objects |
//! | `cairn_call_in`, `cairn_return_values` | procedures: `cairn_layout::module::builtin` |
//! | `cairn_mv_first` | multiple-value entry of return points that want one value |
//! | `cairn_throw_tail` | common end of all throws |
//! | `cairn_failed` | where the slow stub goes when a runtime call has failed |
//! | `cairn_again` | collects and enters a function once more |
//! | `cairn_arity_tail` | where a procedure goes whose clauses do not fit |

use super::builder::{Builder, ins, line};
use super::emitter::Emitter;
use super::ir_text::{Mem, Odds, Val};
use super::regs::Regs;
use super::tables::{Effort, Head, ModuleCx};
use cairn_core::ir::Shots;
use cairn_layout::code::{Site, count_word, flags, tail_call};
use cairn_layout::machine::{Machine, slot, slot_offset};
use cairn_layout::module::builtin;
use cairn_layout::object::continuation;
use cairn_layout::value::{TAG_PROCEDURE, Value as Word};
use std::mem::offset_of;

/// The LLVM text of a function or table of the prelude.
pub(crate) struct Part {
    symbol: &'static str,
    text: String,
}

/// Those parts that are referred to in the text, or in one another. A module that is loaded beside others needs no
/// more: the runtime uses those of the first one.
pub(crate) fn referred_to(mut parts: Vec<Part>, text: &str) -> Vec<Part> {
    let mut kept: Vec<Part> = Vec::new();
    let mut looked_at = None;
    loop {
        // Of two symbols that begin alike, both may stay.
        let text = looked_at.map_or(text, |i: usize| &kept[i].text);
        let (found, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|p| text.contains(p.symbol));
        parts = rest;
        kept.extend(found);
        looked_at = Some(looked_at.map_or(0, |i| i + 1));
        if looked_at == Some(kept.len()) {
            return kept;
        }
    }
}

/// Appends the parts.
pub(crate) fn put(parts: &[Part], out: &mut String) {
    parts.iter().for_each(|p| out.push_str(&p.text));
}

/// The prelude.
pub(crate) fn emit(cx: &mut ModuleCx<'_>) -> Vec<Part> {
    let strategy = cx.strategy;
    let facts = cx.module.strategy;
    let mut parts = vec![Part { symbol: "@cairn_enter", text: enter(cx) }];
    if facts.native {
        parts.push(Part { symbol: "@cairn_return", text: returns() });
    }
    let header_words = facts.header_words as u64;
    let mut define =
        |cx: &mut ModuleCx<'_>, symbol: &'static str, head: Head, body: &dyn Fn(&mut Emitter<'_, '_>)| {
            let mut e = Emitter::new(cx, None);
            body(&mut e);
            let body = e.finish();
            let mut text = String::new();
            cx.define(&mut text, symbol, &head, Effort::Full, None, &body);
            parts.push(Part { symbol, text });
        };
    let special = |flag: u64, words: u64, mv: &str| Head::Return {
        name: Val::Int(0),
        site: Site::NONE,
        mv: mv.into(),
        live: [Val::Int(0), Val::Int(0)],
        shape: words | flags::RETURN | flags::LIBRARY | flag,
    };
    define(cx, "@cairn_throw_tail", Head::None, &|e| e.throw_tail());
    define(cx, "@cairn_again", Head::None, &|e| e.collect_and_enter());
    define(cx, "@cairn_failed", Head::None, &|e| e.failed());
    define(cx, "@cairn_arity_tail", Head::None, &|e| e.arity_tail());
    if !facts.native {
        define(cx, "@cairn_mv_first", Head::None, &|e| {
            let none = ins!(e, "icmp eq i64 %argc, 0");
            let v = ins!(e, "select i1 {none}, i64 {}, i64 %a0", Word::UNSPECIFIED.0);
            let sp = e.sp();
            e.return_one(&sp, &v);
        });
        define(cx, "@cairn_halt", special(flags::HALT, header_words, "@cairn_mv_first"), &|e| {
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
        define(cx, "@cairn_resume", head, &|e| {
            let sp = e.sp();
            let (base, offset) = strategy.slot(e, &sp, words as u32, 0);
            let record = e.load_word(&base, offset, Mem::Frame);
            let sp = strategy.leave(e, words as u32);
            e.set_sp(&sp);
            e.c_call("cairn_machine_resume", &[record]);
            line!(e, "unreachable");
        });
        if strategy.underflows() {
            define(cx, "@cairn_underflow", special(flags::UNDERFLOW, header_words, "@cairn_underflow_mv"), &|e| {
                let sp = strategy.underflow(e);
                e.return_one(&sp, &Val::text("%a0"));
            });
            define(cx, "@cairn_underflow_mv", Head::None, &|e| {
                let sp = strategy.underflow(e);
                let regs = e.incoming_regs();
                e.return_many(&sp, &regs);
            });
        }
    }
    define(cx, "@cairn_call_cc", Head::None, &|e| call_cc(e, Shots::Many));
    define(cx, "@cairn_call_1cc", Head::None, &|e| call_cc(e, Shots::One));
    let head = Head::Entry {
        name: cx.name("continuation"),
        site: Site::NONE,
        arity: 1 << 16,
        shape: continuation::LEN | flags::CONTINUATION | flags::LIBRARY,
    };
    define(cx, "@cairn_continuation", head, &invoke_continuation);
    let head = |cx: &mut ModuleCx<'_>, name: &str, arity: u64| Head::Entry {
        name: cx.name(name),
        site: Site::NONE,
        arity,
        shape: 2 | flags::LIBRARY,
    };
    let call_in_head = head(cx, "call-in", count_word(2, false));
    define(cx, "@cairn_call_in", call_in_head, &call_in);
    let values_head = head(cx, "values", count_word(0, true));
    define(cx, "@cairn_return_values", values_head, &|e| {
        let regs = Regs { argc: e.argument_count(), ..e.incoming_regs() };
        let sp = e.sp();
        e.return_counted(&sp, &regs);
    });
    let text = format!(
        "@cairn_builtins = internal constant [{} x ptr] [ptr @cairn_call_in, ptr @cairn_return_values], align 8\n",
        builtin::COUNT
    );
    parts.push(Part { symbol: "@cairn_builtins", text });
    parts
}

/// What native frames have instead of return points: `ret`. In a function's place, so that values leave in the
/// registers of its arguments.
fn returns() -> String {
    "\ndefine internal preserve_nonecc void @cairn_return(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, \
         i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #5 align 16 {\nentry:\n  \
         call void asm sideeffect \"retq\", \"\"()\n  unreachable\n}\n"
        .into()
}

/// `void cairn_enter(ctx, closure)`, C convention, for native frames: leaves the native stack for the program's.
fn enter_native() -> String {
    let [sp, lo, hi] =
        [offset_of!(Machine, thread.sp), offset_of!(Machine, cursors.lo), offset_of!(Machine, cursors.hi)];
    format!(
        "\ndefine internal void @cairn_enter(ptr %ctx, i64 %clo) #5 {{\nentry:\n  call void asm sideeffect \
         \"movq %rdi, %r12\\0Amovq {sp}(%r12), %rsp\\0Amovq {lo}(%r12), %r14\\0Amovq {hi}(%r12), %r15\\0A\
         xorl %edi, %edi\\0Ajmpq *-{TAG_PROCEDURE}(%rsi)\", \"\"()\n  unreachable\n}}\n"
    )
}

/// `void cairn_enter(ctx, closure)`, C convention.
fn enter(cx: &ModuleCx<'_>) -> String {
    if cx.module.strategy.native {
        return enter_native();
    }
    let mut e = Builder::c_function(cx.collector);
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

/// The frame is pushed; `clo` is a procedure, `argc` what it gets.
fn call_cc(e: &mut Emitter<'_, '_>, shots: Shots) {
    let f = Val::text("%clo");
    let strategy = e.cx.strategy;
    let bytes = strategy.captured() * 8 * continuation::LEN;
    let f = e.make_room(bytes, &[], Some(&f)).expect("an extra value");
    let k = strategy.capture(e, shots);
    let mut regs = Regs { argc: Val::text("%argc"), clo: f.clone(), ..Regs::default() };
    regs.a[0] = k;
    let sp = e.sp();
    e.jump_closure(&f, &sp, &regs);
}

/// Same winders: the frames come back and the arguments are returned to them. Other winders: the library's hook does
/// it.
///
/// A loop that invokes continuations may pass no other safepoint: it brings frames back without making them. So a stop
/// is served here; the arguments are in a list meanwhile.
fn invoke_continuation(e: &mut Emitter<'_, '_>) {
    let [stop, go] = std::array::from_fn(|_| e.fresh());
    let asked = e.stop_asked();
    let count = e.argument_count();
    let incoming = Regs { argc: count.clone(), clo: Val::text("%clo"), ..e.incoming_regs() };
    let entry = e.here();
    e.branch(&asked, &stop, &go, Odds::Unlikely);
    let (reloaded, after) = e.out_of_line(&stop, |e| {
        e.spill_arg_registers(0);
        let argc = ins!(e, "shl i64 {count}, 3");
        let list = e.c_call("cairn_machine_rest", &[Val::Int(0), argc]);
        let zero = Val::word(Word::fixnum(0).0);
        let live = e.safepoint("cairn_machine_guard", &[zero.clone(), zero], &[], &[&Val::text("%clo"), &list]);
        e.c_call("cairn_machine_spread", &[live[1].clone()]);
        let a = e.load_arg_registers();
        e.goto(&go);
        (Regs { argc: incoming.argc.clone(), clo: live[0].clone(), a }, e.here())
    });
    e.start(&go);
    let mut join = |x: &Val, y: &Val| e.phi("i64", &[(x.clone(), entry.clone()), (y.clone(), after.clone())]);
    let clo = join(&incoming.clo, &reloaded.clo);
    let a = std::array::from_fn(|i| join(&incoming.a[i], &reloaded.a[i]));
    let regs = Regs { argc: incoming.argc, clo: clo.clone(), a };
    let k = clo;
    let (winders, now) = (e.continuation_word(&k, continuation::WINDERS), e.winders());
    let same = ins!(e, "icmp eq i64 {winders}, {now}");
    let (yes, no) = (e.fresh(), e.fresh());
    e.branch(&same, &yes, &no, Odds::Likely);
    e.start(&yes);
    if e.native {
        e.native_go(&k, &Val::text("@cairn_return_values"), &regs);
    } else {
        let strategy = e.cx.strategy;
        let sp = strategy.reinstate(e, &k);
        e.return_counted(&sp, &regs);
    }
    e.start(&no);
    regs.a.iter().enumerate().for_each(|(i, v)| e.store_arg(i, v));
    let argc = ins!(e, "shl i64 {}, 3", regs.argc);
    let list = e.c_call("cairn_machine_rest", &[Val::Int(0), argc]);
    let hook = e.load_machine(slot_offset(slot::REWIND_HOOK));
    let mut regs = Regs { argc: Val::Int(2), clo: hook.clone(), ..Regs::default() };
    regs.a[0] = k;
    regs.a[1] = list;
    let sp = e.sp();
    e.jump_closure(&hook, &sp, &regs);
}

/// A continuation in `a0` and a thunk in `a1`, which callers have checked.
///
/// Loops may go through here and pass no other safepoint, so a stop is served.
fn call_in(e: &mut Emitter<'_, '_>) {
    let [stop, go, used, fresh] = std::array::from_fn(|_| e.fresh());
    let (k, thunk, entry) = (Val::text("%a0"), Val::text("%a1"), e.here());
    let asked = e.stop_asked();
    e.branch(&asked, &stop, &go, Odds::Unlikely);
    let (moved, after) = e.out_of_line(&stop, |e| {
        let zero = Val::word(Word::fixnum(0).0);
        let live = e.safepoint("cairn_machine_guard", &[zero.clone(), zero], &[], &[&k, &thunk]);
        e.goto(&go);
        (live, e.here())
    });
    e.start(&go);
    let mut join =
        |x: &Val, i: usize| e.phi("i64", &[(x.clone(), entry.clone()), (moved[i].clone(), after.clone())]);
    let (k, thunk) = (join(&k, 0), join(&thunk, 1));
    let state = e.continuation_word(&k, continuation::STATE);
    let is_used = ins!(e, "icmp eq i64 {state}, {}", continuation::state::USED);
    e.branch(&is_used, &used, &fresh, Odds::Unlikely);
    e.out_of_line(&used, |e| {
        e.c_call("cairn_machine_used", &[]);
        line!(e, "unreachable");
    });
    e.start(&fresh);
    let argc = Val::Int(tail_call::count(0, tail_call::SOMEWHERE));
    let regs = Regs { argc, clo: thunk.clone(), ..Regs::default() };
    if e.native {
        let code = e.load_code(&thunk, -(TAG_PROCEDURE as i64), Mem::Closure);
        return e.native_go(&k, &code, &regs);
    }
    let strategy = e.cx.strategy;
    let sp = strategy.enter(e, &k);
    e.jump_closure(&thunk, &sp, &regs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_referred_to_stays_and_what_that_refers_to() {
        let part = |symbol, text: &str| Part { symbol, text: text.into() };
        let parts =
            || vec![part("@a", "jump @b"), part("@b", "jump @c, @a"), part("@c", "ret"), part("@d", "jump @a")];
        let kept = |text| referred_to(parts(), text).iter().map(|p| p.symbol).collect::<Vec<_>>();
        assert_eq!(kept("nothing"), [""; 0]);
        assert_eq!(kept("jump @c"), ["@c"]);
        assert_eq!(kept("jump @a"), ["@a", "@b", "@c"]);
        assert_eq!(kept("jump @d"), ["@d", "@a", "@b", "@c"]);
    }
}
