//! Frame IR to LLVM text.
//!
//! The problem: turn every Frame IR function into one LLVM function with the uniform prototype, so that calls are
//! `musttail` jumps. The idea: generate *text*: it can be read, diffed and tested without linking LLVM. Variables
//! become `alloca`s (LLVM's SROA makes SSA form of them), so the emitter needs no dominance and no phi placement.
//!
//! | file | what it emits |
//! |---|---|
//! | `text` | values, alias classes |
//! | `builder` | the text of one function: instructions, labels, memory, machine registers |
//! | `regs` | who sits in which register of the uniform prototype; jumps |
//! | `runtime_calls` | runtime calls, cold calls |
//! | `objects` | objects made inline |
//! | `literals` | constants of the program |
//! | `tables` | module-wide tables: symbols, globals, descriptors' strings, `@cairn_module` |
//! | `debug` | debug information |
//! | `heirs` | record types of the module that extend others |
//! | `emitter` | state while one function is emitted: its builder, the tables, the variables |
//! | `safepoint` | heap checks |
//! | `again` | heap checks that start their function again |
//! | `raise` | runtime calls that can fail, errors |
//! | `joined` | a procedure with its return points inside, for native frames |
//! | `part` | the parts of the prelude |
//! | `prims/` | primitive operations |
//! | `function` | the walk: blocks, statements, terminators of one function |
//! | `entry` | argument count dispatch and return points with many values |
//! | `prelude` | functions every module has: entry from C, halt, underflow, continuations, throwing |
//!
//! Each uses the ones above it only; frame strategies (`crate::strategy`) stand on `builder`, `regs` and `objects`, the
//! two ways of calling and returning (`crate::activations`) on all but `prelude`.
//!
//! ```text
//!  HeapCheck 16            %t3 = sub i64 %t2, %t1 ; hi - lo
//!  v2 = cons v0 v1    ▶    %t4 = icmp ult i64 %t3, 16
//!                          br i1 %t4, label %c0, label %l1, !prof !1
//! ```
//!
//! Invariants: nothing here asks which frame strategy or collector is in use (`crate::activations` chooses, from
//! published facts); every slow path leaves the fast path by a branch marked unlikely and never by a C call in line,
//! because a C call makes LLVM adjust the stack on the fast path too.

mod again;
mod allocation_sites;
mod brief;
pub(crate) mod builder;
mod debug;
mod decoded;
pub(crate) mod emitter;
mod entry;
pub(crate) mod function;
mod heirs;
pub(crate) mod ir_text;
pub(crate) mod joined;
mod literals;
mod objects;
pub(crate) mod part;
mod prelude;
pub(crate) mod prims;
mod raise;
mod registers;
pub(crate) mod regs;
mod runtime_calls;
mod safepoint;
pub(crate) mod tables;

use crate::activations;
use brief::Brief;
use cairn_frame::ir::{FuncId, Module};
use cairn_layout::code::{BODY_SHAPE, flags};
use cairn_layout::facts::CollectorFacts;
use debug::Debug;
use emitter::{Activations, Emitter};
use ir_text::METADATA;
use std::fmt::Write;
use tables::{Effort, Head, ModuleCx};

/// LLVM text of a module for programs that use this collector.
pub fn emit_module(module: &Module, collector: &'static CollectorFacts) -> String {
    emit_module_with(module, collector, Notes::default())
}

/// What code can say of itself besides, and where it may lie.
#[derive(Clone, Copy, Default, Debug)]
pub struct Notes {
    /// Slow paths of allocation say where they are (`allocation_sites.rs`).
    pub sites: bool,
    /// Debug information (`debug.rs`).
    pub debug: bool,
    /// It is for [`crate::backend::compile_position_independent`]: descriptors have no addresses.
    pub anywhere: bool,
}

/// LLVM text of a module that says this of itself.
pub fn emit_module_with(module: &Module, collector: &'static CollectorFacts, notes: Notes) -> String {
    let (activations, frames) = activations::of(module.strategy.kind);
    let joined = activations.joined(module);
    let mut cx = ModuleCx::new(module, collector, frames, &joined);
    cx.notes_sites = notes.sites;
    cx.anywhere = notes.anywhere;
    cx.debug = notes.debug.then(|| Debug::new(module));
    emit(cx, activations)
}

fn emit(mut cx: ModuleCx, activations: &'static dyn Activations) -> String {
    let module = cx.module;
    let mut out = String::with_capacity(1 << 16);
    out.push_str("target triple = \"x86_64-pc-linux-gnu\"\n\n%bytes = type { ptr, i64 }\n%source = type { %bytes, %bytes, i64 }\n");
    for (i, _) in module.functions.iter().enumerate().filter(|(_, f)| activations.is_function(f)) {
        function(&mut cx, activations, FuncId(i as u32), &mut out);
    }
    let mut prelude = prelude::emit(&mut cx, activations);
    let mut tables = String::new();
    cx.tables(&prelude, &mut tables);
    if cx.is_beside_others() {
        let text = [&out[..], &tables].concat();
        prelude = part::referred_to(prelude, &text);
    }
    part::put(&prelude, &mut out);
    out.push('\n');
    out.push_str(&tables);
    out.push('\n');
    for f in ["sadd", "ssub", "smul"] {
        let _ = writeln!(out, "declare {{ i64, i1 }} @llvm.{f}.with.overflow.i64(i64, i64)");
    }
    for f in ["fshl", "fshr"] {
        let _ = writeln!(out, "declare i64 @llvm.{f}.i64(i64, i64, i64)");
    }
    out.push_str("declare i64 @llvm.ctpop.i64(i64)\n");
    for f in ["ctlz", "cttz"] {
        let _ = writeln!(out, "declare i64 @llvm.{f}.i64(i64, i1)");
    }
    for f in ["sqrt", "fabs", "floor", "ceil", "trunc", "roundeven"] {
        let _ = writeln!(out, "declare double @llvm.{f}.f64(double)");
    }
    prims::c::declare_inlined(module, &mut out);
    let words = activations.attributes();
    let _ = writeln!(out, "\nattributes #0 = {{ noredzone nounwind {words}\"frame-pointer\"=\"none\" }}");
    out.push_str(
        "attributes #1 = { nounwind }\n\
         attributes #2 = { nounwind willreturn memory(read) }\n\
         attributes #3 = { nounwind memory(none) }\n\
         attributes #4 = { nounwind memory(read) }\n\n",
    );
    if cx.brief.contains(&Brief::Quick) {
        let _ = writeln!(out, "attributes #8 = {{ noredzone nounwind {words}\"frame-pointer\"=\"none\" }}");
    }
    if module.functions.iter().any(|f| f.vast) {
        out.push_str("attributes #7 = { noinline optnone noredzone nounwind \"frame-pointer\"=\"none\" }\n");
    }
    out.push_str(METADATA);
    out.push_str(activations.declarations());
    if let Some(debug) = &cx.debug {
        debug.emit(&mut out);
    }
    out
}

/// One function of the module.
fn function(cx: &mut ModuleCx<'_>, activations: &'static dyn Activations, id: FuncId, out: &mut String) {
    let f = &cx.module.functions[id.0 as usize];
    let head = cx.head(f);
    let name = cx.symbol(id);
    let joined = cx.joined.get(&id);
    let f = joined.map_or(f, |j| &j.function);
    let scope = cx.scope(f);
    let brief = cx.brief[id.0 as usize];
    let effort = activations.effort(match brief {
        _ if f.vast => Effort::None,
        Brief::Quick => Effort::Quick,
        _ => Effort::Full,
    });
    let mut e = Emitter::new(cx, activations, Some((id, f)));
    e.brief = brief;
    e.enter_scope(scope);
    if let Some(j) = joined {
        e.returns = j.returns.clone();
    }
    e.function(f);
    let body = e.finish();
    if let Head::Return { mv, name: procedure, site, shape, .. } = &head
        && mv != "@cairn_mv_first"
    {
        // the body belongs to the multiple-value entry
        let mv = mv.clone();
        let shape = BODY_SHAPE | shape & (flags::RETURN | flags::LIBRARY);
        let body_head = Head::Body { name: procedure.clone(), site: *site, shape };
        cx.define(out, &mv, &body_head, effort, scope, &body);
        let mut e = Emitter::new(cx, activations, None);
        e.single_to_multiple(&mv);
        let body = e.finish();
        cx.define(out, &name, &head, effort, None, &body);
    } else {
        cx.define(out, &name, &head, effort, scope, &body);
    }
}
