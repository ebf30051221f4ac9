//! Bitcode of a whole program → its graph, its pools, or the bitcode with small pointers.
//!
//! ```text
//!  modules ─link─▶ one module ─internalize, sroa, early-cse, simplifycfg─▶ ─read─▶ model ─analyze─▶ graph
//!                                                    rewritten ◀─rewrite── shapes ◀─plan──┘
//!            program's bitcode ◀─verify── with runtime/pool.c ◀─┘
//! ```
#![allow(unsafe_code)]

use crate::allocation_counts::Bounds;
use crate::clang::{Scratch, clang, output};
use crate::data_copies;
use crate::dsa::points_to::{NodeId, Why};
use crate::dsa::{self, Analysis, Assumed, Singles};
use crate::homes::{self, Homes, Place};
use crate::html_report;
use crate::model::*;
use crate::module_reader::{self, TypeNames};
use crate::object_index::Refused;
use crate::parts::Parts;
use crate::plan::Planner;
use crate::rewrite::{Done, Rewriter, Stop};
use crate::settings::{Emit, Mode, Report, Settings};
use crate::shown;
use crate::slots;
use crate::threads;
use cairn_html::Html;
use cairn_llvm_c::{
    ContextRef, Llvm, ModuleFunctions, ModuleRef, RETURN_STATUS, ValueRef, llvm, module_functions,
};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_uint};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// What is linked with programs.
const RUNTIME: &str = include_str!("../runtime/pool.c");
const DYNAMIC_RUNTIME: &str = include_str!("../runtime/dynamic_pool.c");
const HOMES_RUNTIME: &str = include_str!("../runtime/homes.c");

/// What came of a program.
pub(crate) enum Outcome {
    /// Text to print.
    Text(String),
    /// Bitcode to compile.
    Bitcode(Rewritten),
}

/// A program that was rewritten.
pub(crate) struct Rewritten {
    pub bitcode: PathBuf,
    /// The report.
    pub report: String,
    /// The body of the page that `--report=html` writes.
    pub page: Html,
    /// Some of its pools are dynamic.
    pub dynamic: bool,
}

/// LLVM, with a context of its own.
struct Session {
    llvm: &'static Llvm,
    f: &'static ModuleFunctions,
    context: ContextRef,
    /// What the modules called their structures before they were linked.
    called: RefCell<TypeNames>,
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the session made the context; modules have been disposed of or end with it, and nobody uses handles
        // any more.
        unsafe { (self.llvm.LLVMContextDispose)(self.context) }
    }
}

/// After this many dropped pools the program stays as clang makes it.
const MOST_DROPPED: usize = 60;

/// Does to a program what the settings say; the error tells why it stays as it is. When the rewriting stops at one
/// node, it begins again without that node's pool.
pub(crate) fn transform(parts: &Parts, settings: &Settings, scratch: &Scratch) -> Result<Outcome, String> {
    let mut dropped = BTreeMap::new();
    let mut banned = BTreeSet::new();
    loop {
        match attempt(parts, settings, scratch, &dropped, &banned)? {
            Attempt::Done(outcome) => return Ok(outcome),
            Attempt::Staying(places) => {
                // With other objects the nodes have other numbers.
                banned.extend(places);
                dropped.clear();
            }
            Attempt::Without(node, why) => {
                let text = why.text.clone();
                if dropped.insert(node, why).is_some() || dropped.len() > MOST_DROPPED {
                    return Err(text);
                }
            }
        }
    }
}

/// So often calls by address are made calls by name, and the like, and the program is analysed again.
const MOST_NAMED: usize = 8;

/// Larger functions are not put where they are called.
const MOST_INLINED: usize = 300;

/// Can this function be put where it is called?
fn may_be_inlined(model: &Module, id: FuncId) -> bool {
    let function = model.function(id);
    let itself = |v: &Value| matches!(&v.op, Op::Call(call) if call.callee == Callee::Known(id));
    let small = function.values.len() <= MOST_INLINED;
    small && !function.declared && !function.varargs && !function.fixed && !function.values.iter().any(itself)
}

/// A program that was read.
struct Read {
    model: Module,
    /// What its calls by address were taken to call in the end: so it need not be found again.
    assumed: Assumed,
    /// Objects on the stack that may be moved.
    candidates: BTreeSet<Place>,
}

/// What came of an attempt.
enum Attempt {
    Done(Outcome),
    /// Nothing, but it may work without this node's pool. The same bitcode gives the same nodes.
    Without(NodeId, Why),
    /// Nothing, but it may work if these objects stay on the stack.
    Staying(BTreeSet<Place>),
}

fn attempt(
    parts: &Parts,
    settings: &Settings,
    scratch: &Scratch,
    dropped: &BTreeMap<NodeId, Why>,
    banned: &BTreeSet<Place>,
) -> Result<Attempt, String> {
    let done = |outcome| Ok(Attempt::Done(outcome));
    let (llvm, f) = (llvm()?, module_functions()?);
    // SAFETY: a new context belongs to nobody else, and the session disposes of it.
    let context = unsafe { (llvm.LLVMContextCreate)() };
    let session = Session { llvm, f, context, called: RefCell::default() };
    let module = session.linked(&parts.modules)?;
    session.internalize(module, parts);
    data_copies::take_apart(f, context, module);
    session.run_passes(module, c"globaldce,function(sroa,early-cse,simplifycfg)")?;
    let Read { model, assumed, candidates } = session.read_named(module, parts);
    if let Some(strange) = &model.strange {
        return Err(strange.clone());
    }
    let layouts = matches!(settings.mode, Mode::Static | Mode::Dynamic | Mode::Auto);
    let asked = matches!(settings.emit, Some(Emit::Graph | Emit::Dot));
    let (model, assumed, homes) = match candidates.is_subset(banned) || !layouts || asked {
        true => (model, assumed, Homes::default()),
        false => session.move_home(module, parts, model, &(&candidates - banned), settings),
    };
    if !parts.lines {
        // SAFETY: the session keeps the module live (*Live handles*). Lines have been read.
        unsafe { (f.LLVMStripModuleDebugInfo)(module) };
    }
    let analysis = dsa::analyze_again(&model, assumed);
    match settings.emit {
        Some(Emit::Graph) => return done(Outcome::Text(shown::graph(&analysis))),
        Some(Emit::Dot) => return done(Outcome::Text(shown::dot(&analysis))),
        _ => {}
    }
    let threads = threads::find(&analysis, &parts.foreign);
    let threaded = threads.is_some();
    let planner = planner(&analysis, settings, threads.as_deref(), dropped);
    let mut rewriter = Rewriter::new(f, session.context, module, &planner, settings, parts.lines);
    let any = match rewriter.run() {
        Ok(any) => any,
        Err(Stop { why, node: Some(node) }) => {
            let moved = analysis.graph.node(node).homes.iter().map(|&(function, value, _)| (function, value));
            let moved = homes.before(&model, moved);
            return Ok(if moved.is_empty() { Attempt::Without(node, why) } else { Attempt::Staying(moved) });
        }
        Err(Stop { why, node: None }) => return Err(why.text),
    };
    let what = std::mem::take(&mut rewriter.done);
    drop(rewriter);
    let report = shown::report(&analysis, planner.names(), &what);
    if settings.emit == Some(Emit::Pools) {
        return done(Outcome::Text(report));
    }
    if !any {
        return Err(nothing(&report, &what));
    }
    let page = match settings.report {
        Report::Html => html_report::body(&analysis, planner.names(), &what, &source_line),
        _ => Html::new(),
    };
    session.verify(module)?;
    let dynamic = what.pools.iter().any(|(_, decision, _)| decision.shape.dynamic);
    if dynamic {
        session.add_runtime(module, DYNAMIC_RUNTIME, threaded, scratch)?;
    }
    if what.pools.iter().any(|(_, decision, _)| decision.shape.pooled && !decision.shape.dynamic) {
        session.add_runtime(module, RUNTIME, threaded, scratch)?;
    }
    if !homes.is_empty() {
        session.add_runtime(module, HOMES_RUNTIME, threaded, scratch)?;
    }
    session.verify(module)?;
    if settings.emit == Some(Emit::Llvm) {
        // SAFETY: the session keeps the module live (*Live handles*), and `take_message` frees the string.
        let text = unsafe { llvm.take_message((llvm.LLVMPrintModuleToString)(module)) };
        return done(Outcome::Text(text));
    }
    let file = scratch.file(Path::new("merged"), "bc");
    let name = CString::new(file.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: the session keeps the module live (*Live handles*), and `name` is a C string.
    match unsafe { (f.LLVMWriteBitcodeToFile)(module, name.as_ptr()) } {
        0 => done(Outcome::Bitcode(Rewritten { bitcode: file, report, page, dynamic })),
        _ => Err(format!("cannot write {}", file.display())),
    }
}

fn planner<'a, 'm>(
    analysis: &'a Analysis<'m>,
    settings: &Settings,
    threads: Option<&str>,
    dropped: &'a BTreeMap<NodeId, Why>,
) -> Planner<'a, 'm> {
    let refused = match settings.mode {
        Mode::Dynamic | Mode::Auto => Refused::find(analysis, threads),
        _ => Refused::default(),
    };
    let bounds = Bounds::find(analysis.module);
    let Settings { mode, bits, .. } = *settings;
    Planner { analysis, mode, bits, refused, bounds, dropped, threaded: threads.is_some(), names: OnceCell::new() }
}

/// The text of "file.c:12".
fn source_line(place: &str) -> Option<String> {
    let (file, line) = place.rsplit_once(':')?;
    let number: usize = line.parse().ok()?;
    std::fs::read_to_string(file).ok()?.lines().nth(number.checked_sub(1)?).map(str::to_string)
}

fn nothing(report: &str, done: &Done) -> String {
    if done.refused.is_empty() {
        "it has no objects on the heap".into()
    } else {
        format!("no pointer can be smaller\n{report}")
    }
}

impl Session {
    fn parse(&self, bytes: &[u8]) -> Result<ModuleRef, String> {
        let mut module = null_mut();
        // SAFETY: the buffer is a copy of `bytes`, and is disposed of once, here, for this parser does not consume it.
        let failed = unsafe {
            let buffer = (self.llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                bytes.as_ptr().cast(),
                bytes.len(),
                c"module".as_ptr(),
            );
            let failed = (self.f.LLVMParseBitcodeInContext2)(self.context, buffer, &mut module);
            (self.llvm.LLVMDisposeMemoryBuffer)(buffer);
            failed
        };
        if failed == 0 { Ok(module) } else { Err("bitcode that LLVM 19 can't read".into()) }
    }

    /// All modules in one.
    fn linked(&self, modules: &[Vec<u8>]) -> Result<ModuleRef, String> {
        let read = |bytes: &[u8]| {
            let module = self.parse(bytes)?;
            if modules.len() > 1 {
                self.called.borrow_mut().add(self.f, module);
            }
            Ok::<_, String>(module)
        };
        let (first, rest) = modules.split_first().ok_or("no bitcode")?;
        let whole = read(first)?;
        for module in rest {
            let module = read(module)?;
            // SAFETY: both are modules of the session's context (*Live handles*); the second is used up, and not used
            // again.
            if unsafe { (self.f.LLVMLinkModules2)(whole, module) } != 0 {
                return Err("modules that can't be linked".into());
            }
        }
        Ok(whole)
    }

    /// Symbols that nobody outside needs become internal.
    fn internalize(&self, module: ModuleRef, parts: &Parts) {
        let f = self.f;
        // SAFETY: the session keeps the module live (*Live handles*); symbols come from LLVM's iteration, and names
        // have their lengths.
        unsafe {
            for (first, next) in
                [(f.LLVMGetFirstFunction, f.LLVMGetNextFunction), (f.LLVMGetFirstGlobal, f.LLVMGetNextGlobal)]
            {
                let mut symbol = first(module);
                while !symbol.is_null() {
                    let mut length = 0;
                    let text = (f.LLVMGetValueName2)(symbol, &mut length);
                    let name =
                        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned();
                    // External, weak and link-once definitions.
                    let linkage = (f.LLVMGetLinkage)(symbol);
                    let defined = (f.LLVMIsDeclaration)(symbol) == 0 && [0, 2, 3, 4, 5, 6, 14].contains(&linkage);
                    if defined && !name.starts_with("llvm.") && !parts.kept.contains(&name) {
                        (f.LLVMSetLinkage)(symbol, 8);
                        (f.LLVMSetVisibility)(symbol, 0);
                        (f.LLVMSetComdat)(symbol, null_mut());
                    }
                    symbol = next(symbol);
                }
            }
        }
    }

    /// Reads the module when calls by address that can only call one function are calls by name, and structures inside
    /// of others are copied by words: to copy them as a whole would be to say that what they lie in are one. Each may
    /// tell another from the rest.
    fn read_named(&self, module: ModuleRef, parts: &Parts) -> Read {
        for _ in 0..MOST_NAMED {
            self.take_slots_apart(module);
            let model = module_reader::read(self.f, module, &parts.kept, &self.called.borrow());
            if model.strange.is_some() {
                return Read { model, assumed: Assumed::default(), candidates: BTreeSet::new() };
            }
            let analysis = dsa::analyze(&model, Singles::Named);
            let (named, mut split) = (analysis.named(), analysis.graph.to_split.clone());
            split.sort();
            split.dedup();
            let mut inline: BTreeSet<FuncId> = analysis.graph.to_inline.iter().copied().collect();
            inline.retain(|&id| may_be_inlined(&model, id) && self.ask_to_inline(model.function(id).handle));
            if named.is_empty() && split.is_empty() && inline.is_empty() {
                let candidates = homes::candidates(&analysis);
                let assumed = analysis.assumption();
                return Read { model, assumed, candidates };
            }
            for (function, copy, size) in split {
                self.split(model.function(function).values[copy.0 as usize].handle, size);
            }
            for (function, call, callee) in named {
                let call = model.function(function).values[call.0 as usize].handle;
                self.name_callee(call, model.function(callee).handle);
            }
            let passes = c"always-inline,globaldce,function(sroa,early-cse,simplifycfg)";
            if !inline.is_empty() && self.run_passes(module, passes).is_err() {
                break;
            }
        }
        let model = module_reader::read(self.f, module, &parts.kept, &self.called.borrow());
        Read { model, assumed: Assumed::default(), candidates: BTreeSet::new() }
    }

    /// Takes pointers to pointers apart, where that is a matter of one function; small ones are put where they are
    /// called.
    fn take_slots_apart(&self, module: ModuleRef) {
        for _ in 0..MOST_NAMED {
            let mut functions = slots::to_inline(self.f, module);
            functions.retain(|&function| self.ask_to_inline(function));
            let passes = c"always-inline,globaldce,function(sroa,early-cse,simplifycfg)";
            if functions.is_empty() || self.run_passes(module, passes).is_err() {
                break;
            }
        }
        if slots::take_apart(self.f, self.context, module) {
            // What is left over is taken away; if it stays, it does no harm.
            let _ = self.run_passes(module, c"function(early-cse,simplifycfg)");
        }
    }

    /// Moves objects of the stack to the heap where that gives others a pool; the others stay.
    fn move_home(
        &self,
        module: ModuleRef,
        parts: &Parts,
        model: Module,
        candidates: &BTreeSet<Place>,
        settings: &Settings,
    ) -> (Module, Assumed, Homes) {
        let mut homes = Homes::make(self.f, self.context, module, &model, candidates);
        loop {
            let model = module_reader::read(self.f, module, &parts.kept, &self.called.borrow());
            if homes.is_empty() {
                return (model, Assumed::default(), homes);
            }
            let analysis = dsa::analyze(&model, Singles::Kept);
            let threads = threads::find(&analysis, &parts.foreign);
            let none = BTreeMap::new();
            let useless = homes::useless(&planner(&analysis, settings, threads.as_deref(), &none));
            let useless = homes.before(&model, useless);
            if useless.is_empty() {
                let assumed = analysis.assumption();
                return (model, assumed, homes);
            }
            homes.restore(self.f, self.context, &useless);
        }
    }

    /// Copies a structure by words that may be pointers. All are read before one is written, for both may overlap.
    fn split(&self, copy: ValueRef, size: u64) {
        let f = self.f;
        // SAFETY: `copy` is a call of `memcpy` or `memmove`, which is replaced, and five operands are counted before
        // they are asked for.
        unsafe {
            if (f.LLVMGetNumOperands)(copy) != 5 || (f.LLVMConstIntGetSExtValue)((f.LLVMGetOperand)(copy, 3)) != 0
            {
                return;
            }
            let builder = (f.LLVMCreateBuilderInContext)(self.context);
            (f.LLVMPositionBuilderBefore)(builder, copy);
            let pointer = (f.LLVMPointerTypeInContext)(self.context, 0);
            let (byte, word) =
                ((f.LLVMIntTypeInContext)(self.context, 8), (f.LLVMIntTypeInContext)(self.context, 64));
            let places = |n: u32| -> Vec<ValueRef> {
                let start = (f.LLVMGetOperand)(copy, n);
                let at = |offset: u64| match offset {
                    0 => start,
                    _ => {
                        let offset = (f.LLVMConstInt)(word, offset, 0);
                        (f.LLVMBuildInBoundsGEP2)(builder, byte, start, &offset, 1, c"".as_ptr())
                    }
                };
                (0..size).step_by(8).map(at).collect()
            };
            let from = places(1);
            let values: Vec<ValueRef> =
                from.iter().map(|&p| (f.LLVMBuildLoad2)(builder, pointer, p, c"".as_ptr())).collect();
            let stores: Vec<ValueRef> = places(0)
                .iter()
                .zip(&values)
                .map(|(&to, &value)| (f.LLVMBuildStore)(builder, value, to))
                .collect();
            for access in values.into_iter().chain(stores) {
                (f.LLVMSetAlignment)(access, 1);
            }
            (f.LLVMInstructionEraseFromParent)(copy);
            (f.LLVMDisposeBuilder)(builder);
        }
    }

    /// Has this function put where it is called; false if that was asked for before.
    fn ask_to_inline(&self, function: ValueRef) -> bool {
        let f = self.f;
        // SAFETY: `function` is one of the module (*Live handles*).
        unsafe {
            let kind = |name: &str| (f.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len());
            let has = |name| !(f.LLVMGetEnumAttributeAtIndex)(function, c_uint::MAX, kind(name)).is_null();
            if ["alwaysinline", "noinline", "optnone"].iter().any(|n| has(n)) {
                return false;
            }
            let attribute = (f.LLVMCreateEnumAttribute)(self.context, kind("alwaysinline"), 0);
            (f.LLVMAddAttributeAtIndex)(function, c_uint::MAX, attribute);
            true
        }
    }

    /// Makes a call by address one of this function, which has the call's type.
    fn name_callee(&self, call: ValueRef, callee: ValueRef) {
        let f = self.f;
        // SAFETY: `call` is a call, whose last operand is what it calls, and `callee` a function of that type.
        unsafe { (f.LLVMSetOperand)(call, (f.LLVMGetNumOperands)(call) as u32 - 1, callee) }
    }

    fn run_passes(&self, module: ModuleRef, passes: &std::ffi::CStr) -> Result<(), String> {
        // SAFETY: the session keeps the module live (*Live handles*); target-independent passes need no machine.
        unsafe {
            let options = (self.llvm.LLVMCreatePassBuilderOptions)();
            let error = (self.llvm.LLVMRunPasses)(module, passes.as_ptr(), null_mut(), options);
            (self.llvm.LLVMDisposePassBuilderOptions)(options);
            if error.is_null() {
                return Ok(());
            }
            let message = (self.llvm.LLVMGetErrorMessage)(error);
            let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.llvm.LLVMDisposeErrorMessage)(message);
            Err(text)
        }
    }

    fn verify(&self, module: ModuleRef) -> Result<(), String> {
        let mut message = null_mut();
        // SAFETY: the session keeps the module live (*Live handles*); `take_message` frees the message.
        unsafe {
            let broken = (self.llvm.LLVMVerifyModule)(module, RETURN_STATUS, &mut message);
            let text = self.llvm.take_message(message);
            if broken == 0 { Ok(()) } else { Err(format!("LLVM's verifier: {text}")) }
        }
    }

    /// Links the runtime of one kind of pools in.
    fn add_runtime(&self, module: ModuleRef, text: &str, threaded: bool, scratch: &Scratch) -> Result<(), String> {
        let (source, bitcode) = (scratch.file(Path::new("pool"), "c"), scratch.file(Path::new("pool"), "bc"));
        std::fs::write(&source, text).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
        let mut compile = clang();
        compile.args(["-O2", "-fno-strict-aliasing", "-fPIC", "-w", "-emit-llvm", "-c"]);
        if threaded {
            compile.arg("-DCAIRN_THREADS");
        }
        let result = output(compile.arg(&source).arg("-o").arg(&bitcode))?;
        if !result.status.success() {
            return Err(String::from_utf8_lossy(&result.stderr).into_owned());
        }
        let runtime = self.parse(&std::fs::read(&bitcode).map_err(|e| e.to_string())?)?;
        let f = self.f;
        // SAFETY: both are modules of the session's context (*Live handles*); the second is used up, and its functions
        // are found by their names.
        unsafe {
            if (f.LLVMLinkModules2)(module, runtime) != 0 {
                return Err("the runtime can't be linked".into());
            }
            let mut function = (f.LLVMGetFirstFunction)(module);
            while !function.is_null() {
                let mut length = 0;
                let text = (f.LLVMGetValueName2)(function, &mut length);
                let name = std::slice::from_raw_parts(text.cast::<u8>(), length);
                let ours =
                    [&b"cairn_pool_"[..], b"cairn_dynamic_", b"cairn_home_"].iter().any(|p| name.starts_with(p));
                if ours && (f.LLVMIsDeclaration)(function) == 0 {
                    (f.LLVMSetLinkage)(function, 8);
                    (f.LLVMSetVisibility)(function, 0);
                }
                function = (f.LLVMGetNextFunction)(function);
            }
        }
        Ok(())
    }
}
