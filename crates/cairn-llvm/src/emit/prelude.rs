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

use super::builder::{ins, line};
use super::emitter::{Activations, Emitter};
use super::ir_text::{Odds, Val};
use super::part::Part;
use super::regs::Regs;
use super::tables::{Head, ModuleCx};
use cairn_core::ir::Shots;
use cairn_layout::code::{Site, count_word, flags, tail_call};
use cairn_layout::machine::{slot, slot_offset};
use cairn_layout::module::builtin;
use cairn_layout::object::continuation;
use cairn_layout::value::Value as Word;

/// The prelude: what the activations need, and what all modules have.
pub(crate) fn emit(cx: &mut ModuleCx<'_>, activations: &'static dyn Activations) -> Vec<Part> {
    let mut parts = activations.prelude(cx);
    let mut define =
        |cx: &mut ModuleCx<'_>, symbol: &'static str, head: Head, body: &dyn Fn(&mut Emitter<'_, '_>)| {
            parts.push(Emitter::prelude_part(cx, activations, symbol, &head, body));
        };
    define(cx, "@cairn_throw_tail", Head::None, &|e| e.throw_tail());
    define(cx, "@cairn_again", Head::None, &|e| e.collect_and_enter());
    define(cx, "@cairn_failed", Head::None, &|e| e.failed());
    define(cx, "@cairn_arity_tail", Head::None, &|e| e.arity_tail());
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

/// The frame is pushed; `clo` is a procedure, `argc` what it gets.
fn call_cc(e: &mut Emitter<'_, '_>, shots: Shots) {
    let f = Val::text("%clo");
    let activations = e.activations;
    let bytes = activations.captured() * 8 * continuation::LEN;
    let f = e.make_room(bytes, &[], Some(&f)).expect("an extra value");
    let k = activations.capture(e, shots);
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
    e.activations.return_to(e, &k, &regs);
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
    e.activations.call_in(e, &k, &regs);
}
