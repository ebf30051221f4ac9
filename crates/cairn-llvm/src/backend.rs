//! LLVM text to object code, through LLVM's C API.
//!
//! The pass lists are short on purpose: a Scheme program is thousands of small functions whose calls are already jumps,
//! so what pays is SSA construction, common subexpressions (tag tests, headers), jump threading and the instruction
//! selector. No inliner but for small functions of C ([`crate::c_functions`]), no loop optimizer: the Core optimizer
//! has done that with more knowledge. Code generation is four fifths of the time, about a millisecond per function;
//! large modules are cut into parts (`split`, `merge`).
//!
//! Target: the instructions of x86-64-v2 (every x86-64 processor since 2009), so that rounding is inline, with the
//! generic tuning (that of "x86-64-v2" is for processors where `shld` is a fast rotation); small code model, not
//! position independent but for shared libraries: see [`crate::loader`] for how code gets into the low 2 GiB.

use crate::baseline::{self, Refusal};
use crate::split::{self, Part};
use cairn_llvm_c::*;
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null_mut, slice_from_raw_parts};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How much work LLVM puts into the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OptLevel {
    /// Our own code generator ([`crate::baseline`]): a twentieth of the time of `Low`, code that takes about 1.1 times
    /// the time. Where it does not know something, `Low`.
    Own,
    /// Quick: LLVM's fast selection of instructions takes half of the time of the other; the code takes about 1.3 times
    /// the time.
    Low,
    /// As few passes as `Low`, but LLVM's own selection of instructions: for native frames, whose calls name more
    /// registers than the fast one can keep apart.
    LowNative,
    /// The default.
    #[default]
    High,
}

/// Where code may lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Where {
    /// In the low 2 GiB.
    Low,
    /// Anywhere: for shared libraries.
    Anywhere,
}

impl Where {
    fn relocation(self) -> c_int {
        match self {
            Where::Low => RELOC_STATIC,
            Where::Anywhere => RELOC_PIC,
        }
    }
}

impl OptLevel {
    fn passes(self) -> &'static CStr {
        match self {
            OptLevel::Own | OptLevel::Low | OptLevel::LowNative => c"function(sroa,early-cse,jump-threading,simplifycfg)",
            // Jump threading comes before `simplifycfg` merges branches: it carries what a test has shown to the next
            // test.
            OptLevel::High => {
                c"function(sroa,early-cse<memssa>,jump-threading,simplifycfg,instcombine<no-verify-fixpoint>,gvn,dse,simplifycfg)"
            }
        }
    }

    fn codegen(self) -> c_int {
        match self {
            OptLevel::Own | OptLevel::Low => CODEGEN_NONE,
            OptLevel::LowNative => CODEGEN_LESS,
            OptLevel::High => CODEGEN_DEFAULT,
        }
    }
}

/// The version of the LLVM that is found: major, minor, patch.
pub fn version() -> Result<[u32; 3], String> {
    Ok(llvm()?.version())
}

/// Is LLVM there? If not, what is missing.
pub fn available() -> Result<(), String> {
    llvm().map(|_| ())
}

/// An ELF object with the module's code. A large module is compiled in parts, on all processors; the parts do not
/// depend on how many there are, so the object does not either.
pub fn compile_to_object(ir: &str, opt: OptLevel) -> Result<Vec<u8>, String> {
    compile_in_parts(ir, opt, part_count(ir.len()))
}

/// As [`compile_to_object`], for a shared library: the code may lie anywhere. One part, if that is wanted.
pub fn compile_position_independent(ir: &str, opt: OptLevel, one_part: bool) -> Result<Vec<u8>, String> {
    let parts = if one_part { 1 } else { part_count(ir.len()) };
    compile_parts(&split::split(ir, parts), opt, Where::Anywhere)
}

/// What our own code generator makes of a module, if that is wanted and its work.
fn own(ir: &str, opt: OptLevel) -> Option<Vec<u8>> {
    if opt != OptLevel::Own || crate::c_functions::called_by(ir).is_ok_and(|functions| !functions.is_empty()) {
        return None;
    }
    match baseline::compile(ir) {
        Ok(object) => Some(object),
        // LLVM knows more; but this is a fault, and tests must see it
        Err(Refusal::Unknown(what)) if cfg!(debug_assertions) => {
            panic!("our own code generator does not know {what}")
        }
        Err(_) => None,
    }
}

/// As [`compile_to_object`], but functions begin with [`crate::replace::ROOM`].
pub fn compile_replaceable(ir: &str, opt: OptLevel) -> Result<Vec<u8>, String> {
    compile_to_object(&crate::replace::with_room(ir), opt)
}

/// The functions alone of a module that was compiled before: the object refers to that one's data.
pub fn compile_functions(ir: &str, opt: OptLevel) -> Result<Vec<u8>, String> {
    compile_parts(&split::split_functions(ir, part_count(ir.len())), opt, Where::Low)
}

/// Parts of a module with so much text. Several for each processor: they end at about the same time, and memory is
/// taken for those under way only. But each costs some milliseconds.
fn part_count(bytes: usize) -> usize {
    const LARGE: usize = 1 << 20;
    match bytes {
        0..LARGE => (bytes / split::PART_MIN).clamp(1, 2),
        _ => (bytes / (LARGE / 2)).next_multiple_of(2).min(MAX_PARTS),
    }
}

/// The merged object has a few sections for each part, whose numbers have 16 bits.
const MAX_PARTS: usize = 1000;

/// Compiles a module in at most this many parts.
pub fn compile_in_parts(ir: &str, opt: OptLevel, parts: usize) -> Result<Vec<u8>, String> {
    match own(ir, opt) {
        Some(object) => Ok(object),
        None => compile_parts(&split::split(ir, parts), opt, Where::Low),
    }
}

fn compile_parts(parts: &[Part], opt: OptLevel, place: Where) -> Result<Vec<u8>, String> {
    let compile = |part: &Part| {
        let opt = if part.quick && opt == OptLevel::High { OptLevel::Low } else { opt };
        let m = Module::of_program(&part.text, opt, place)?;
        m.optimize(opt)?;
        m.emit(OBJECT_FILE)
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((i, part)) = Some(next.fetch_add(1, Relaxed)).and_then(|i| Some((i, parts.get(i)?))) {
            done.push((i, compile(part)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(parts.len());
    let mut objects = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for thread in others {
            done.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    objects.sort_by_key(|(i, _)| *i);
    crate::merge::merge(&objects.into_iter().map(|(_, o)| o).collect::<Result<Vec<_>, _>>()?)
}

/// The module's assembly text.
pub fn compile_to_assembly(ir: &str, opt: OptLevel) -> Result<String, String> {
    let m = Module::of_program(ir, opt, Where::Low)?;
    m.optimize(opt)?;
    let bytes = m.emit(ASSEMBLY_FILE)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The module's LLVM text after the passes.
pub fn optimize_text(ir: &str, opt: OptLevel) -> Result<String, String> {
    let m = Module::of_program(ir, opt, Where::Low)?;
    m.optimize(opt)?;
    Ok(m.text())
}

/// Runs LLVM's own verifier.
pub fn verify(ir: &str) -> Result<(), String> {
    let m = Module::parse(ir.as_bytes(), OptLevel::Low, Where::Low, &[])?;
    let mut message: *mut c_char = null_mut();
    // SAFETY: `self` keeps the module live; `message` receives a string that `take_message` frees.
    unsafe {
        let bad = (m.llvm.LLVMVerifyModule)(m.module, RETURN_STATUS, &mut message);
        let text = m.llvm.take_message(message);
        if bad != 0 { Err(text) } else { Ok(()) }
    }
}

/// A module in a context of its own.
pub(crate) struct Module {
    context: ContextRef,
    module: ModuleRef,
    machine: TargetMachineRef,
    llvm: &'static Llvm,
    /// Does it have functions of C, which are to be inlined?
    has_c: bool,
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: `parse` created them, and they are disposed of here alone, the context last.
        unsafe {
            if !self.module.is_null() {
                (self.llvm.LLVMDisposeModule)(self.module);
            }
            if !self.machine.is_null() {
                (self.llvm.LLVMDisposeTargetMachine)(self.machine);
            }
            (self.llvm.LLVMContextDispose)(self.context);
        }
    }
}

/// Reads text or bitcode.
///
/// # Safety
/// `context` is live, and outlives the module that is made.
unsafe fn read(llvm: &Llvm, context: ContextRef, ir: &[u8]) -> Result<ModuleRef, String> {
    let mut message: *mut c_char = null_mut();
    let mut module = null_mut();
    // SAFETY: the context is live (`# Safety`); the buffer is a copy of `ir`, and the parser consumes it.
    unsafe {
        let name = c"scheme".as_ptr();
        let buffer = (llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy)(ir.as_ptr().cast(), ir.len(), name);
        match (llvm.LLVMParseIRInContext)(context, buffer, &mut module, &mut message) {
            0 => Ok(module),
            _ => Err(format!("LLVM cannot read the emitted code: {}", llvm.take_message(message))),
        }
    }
}

impl Module {
    /// A part of a program, with the functions of C that it calls and that are inlined.
    fn of_program(ir: &str, opt: OptLevel, place: Where) -> Result<Module, String> {
        Module::parse(ir.as_bytes(), opt, place, &crate::c_functions::called_by(ir)?)
    }

    /// A module of text or bitcode, and with it what it calls of these others.
    pub(crate) fn parse(ir: &[u8], opt: OptLevel, place: Where, others: &[Arc<str>]) -> Result<Module, String> {
        let llvm = llvm()?;
        // SAFETY: every reference is created here and owned by the result; a buffer is consumed by the parser, a module
        // by linking it; `ir` is copied.
        unsafe {
            let context = (llvm.LLVMContextCreate)();
            let has_c = !others.is_empty();
            let mut m = Module { context, module: null_mut(), machine: null_mut(), llvm, has_c };
            let mut message: *mut c_char = null_mut();
            m.module = read(llvm, context, ir)?;
            let mut target: TargetRef = null_mut();
            let triple = c"x86_64-pc-linux-gnu";
            if (llvm.LLVMGetTargetFromTriple)(triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(llvm.take_message(message));
            }
            m.machine = (llvm.LLVMCreateTargetMachine)(
                target,
                triple.as_ptr(),
                c"x86-64".as_ptr(),
                c"+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2".as_ptr(),
                opt.codegen(),
                place.relocation(),
                CODE_MODEL_SMALL,
            );
            if m.machine.is_null() {
                return Err("LLVM has no x86-64 target machine".into());
            }
            let layout = (llvm.LLVMCreateTargetDataLayout)(m.machine);
            (llvm.LLVMSetModuleDataLayout)(m.module, layout);
            let linked = others.iter().try_for_each(|other| {
                let other = read(llvm, context, other.as_bytes())?;
                (llvm.LLVMSetModuleDataLayout)(other, layout);
                match (module_functions()?.LLVMLinkModules2)(m.module, other) {
                    0 => Ok(()),
                    _ => Err("LLVM cannot link functions of C with the program".to_string()),
                }
            });
            (llvm.LLVMDisposeTargetData)(layout);
            linked?;
            // the reader needs names; what the passes make does not
            (llvm.LLVMContextSetDiscardValueNames)(context, 1);
            Ok(m)
        }
    }

    pub(crate) fn module(&self) -> ModuleRef {
        self.module
    }

    pub(crate) fn context(&self) -> ContextRef {
        self.context
    }

    /// As LLVM writes it.
    pub(crate) fn text(&self) -> String {
        // SAFETY: `self` keeps the module live; the string is LLVM's, freed by its own function.
        unsafe {
            let s = (self.llvm.LLVMPrintModuleToString)(self.module);
            self.llvm.take_message(s)
        }
    }

    fn optimize(&self, opt: OptLevel) -> Result<(), String> {
        match self.has_c {
            true => self.run(&crate::c_functions::inlining(opt.passes())),
            false => self.run(opt.passes()),
        }
    }

    /// Runs passes.
    pub(crate) fn run(&self, passes: &CStr) -> Result<(), String> {
        // SAFETY: `self` keeps module and machine live; the options are disposed of after the run; the error is
        // consumed.
        unsafe {
            let options = (self.llvm.LLVMCreatePassBuilderOptions)();
            let error = (self.llvm.LLVMRunPasses)(self.module, passes.as_ptr(), self.machine, options);
            (self.llvm.LLVMDisposePassBuilderOptions)(options);
            if error.is_null() {
                return Ok(());
            }
            let s = (self.llvm.LLVMGetErrorMessage)(error);
            let text = CStr::from_ptr(s).to_string_lossy().into_owned();
            (self.llvm.LLVMDisposeErrorMessage)(s);
            Err(text)
        }
    }

    pub(crate) fn emit(&self, kind: c_int) -> Result<Vec<u8>, String> {
        let mut message: *mut c_char = null_mut();
        let mut buffer: MemoryBufferRef = null_mut();
        // SAFETY: `self` keeps module and machine live; the buffer is copied and disposed of.
        unsafe {
            if (self.llvm.LLVMTargetMachineEmitToMemoryBuffer)(
                self.machine,
                self.module,
                kind,
                &mut message,
                &mut buffer,
            ) != 0
            {
                return Err(self.llvm.take_message(message));
            }
            let bytes = slice_from_raw_parts(
                (self.llvm.LLVMGetBufferStart)(buffer).cast::<u8>(),
                (self.llvm.LLVMGetBufferSize)(buffer),
            );
            let bytes = (*bytes).to_vec();
            (self.llvm.LLVMDisposeMemoryBuffer)(buffer);
            Ok(bytes)
        }
    }
}
