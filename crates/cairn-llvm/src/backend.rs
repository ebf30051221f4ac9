//! LLVM text to object code, through LLVM's C API.
//!
//! The pass lists are short on purpose: a Scheme program is thousands of small functions whose calls are already jumps,
//! so what pays is SSA construction, common subexpressions (tag tests, headers), jump threading and the instruction
//! selector. No inliner, no loop optimizer: the Core optimizer has done that with more knowledge. Code generation is
//! four fifths of the time, about a millisecond per function; large modules are cut into parts (`split`, `merge`).
//!
//! Target: the instructions of x86-64-v2 (every x86-64 processor since 2009), so that rounding is inline, with the generic tuning
//! (that of "x86-64-v2" is for processors where `shld` is a fast rotation); not position independent, small code model:
//! see [`crate::loader`] for how code gets into the low 2 GiB.

use llvm_sys::core::*;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::prelude::*;
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut, slice_from_raw_parts};
use std::sync::Once;

/// How much work LLVM puts into the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OptLevel {
    /// Quick: for code that runs once.
    Low,
    /// The default.
    #[default]
    High,
}

impl OptLevel {
    fn passes(self) -> &'static CStr {
        match self {
            OptLevel::Low => c"function(sroa,early-cse,simplifycfg)",
            // Jump threading comes before `simplifycfg` merges branches: it carries what a test has shown to the next test.
            OptLevel::High => {
                c"function(sroa,early-cse<memssa>,jump-threading,simplifycfg,instcombine<no-verify-fixpoint>,gvn,dse,simplifycfg)"
            }
        }
    }
}

impl OptLevel {
    fn codegen(self) -> LLVMCodeGenOptLevel {
        match self {
            OptLevel::Low => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            OptLevel::High => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
        }
    }
}

/// An ELF object with the module's code; a large module is compiled on all processors.
pub fn compile_to_object(ir: &str, opt: OptLevel) -> Result<Vec<u8>, String> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(MAX_THREADS);
    compile_in_parts(ir, opt, threads)
}

/// More threads than this gain nothing: the merge and the largest part decide.
const MAX_THREADS: usize = 16;

/// The same with a given number of parts at most.
pub fn compile_in_parts(ir: &str, opt: OptLevel, parts: usize) -> Result<Vec<u8>, String> {
    let compile = |ir: &str| {
        let m = Module::parse(ir, opt)?;
        m.optimize(opt)?;
        m.emit(LLVMCodeGenFileType::LLVMObjectFile)
    };
    let parts = crate::split::split(ir, parts);
    let objects: Vec<Result<Vec<u8>, String>> = std::thread::scope(|scope| {
        let running: Vec<_> = parts[1..].iter().map(|p| scope.spawn(|| compile(p))).collect();
        let first = compile(&parts[0]);
        let join = |t: std::thread::ScopedJoinHandle<'_, _>| {
            t.join().unwrap_or_else(|_| Err("a compiling thread panicked".to_string()))
        };
        std::iter::once(first).chain(running.into_iter().map(join)).collect()
    });
    crate::merge::merge(&objects.into_iter().collect::<Result<Vec<_>, _>>()?)
}

/// The module's assembly text.
pub fn compile_to_assembly(ir: &str, opt: OptLevel) -> Result<String, String> {
    let m = Module::parse(ir, opt)?;
    m.optimize(opt)?;
    let bytes = m.emit(LLVMCodeGenFileType::LLVMAssemblyFile)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The module's LLVM text after the passes.
pub fn optimize_text(ir: &str, opt: OptLevel) -> Result<String, String> {
    let m = Module::parse(ir, opt)?;
    m.optimize(opt)?;
    // SAFETY: the module is live; the string is LLVM's, freed by its own function.
    unsafe {
        let s = LLVMPrintModuleToString(m.module);
        Ok(take_message(s))
    }
}

/// Runs LLVM's own verifier.
pub fn verify(ir: &str) -> Result<(), String> {
    use llvm_sys::analysis::*;
    let m = Module::parse(ir, OptLevel::Low)?;
    let mut message: *mut c_char = null_mut();
    // SAFETY: the module is live; `message` receives a string that `take_message` frees.
    unsafe {
        let bad = LLVMVerifyModule(m.module, LLVMVerifierFailureAction::LLVMReturnStatusAction, &mut message);
        let text = take_message(message);
        if bad != 0 { Err(text) } else { Ok(()) }
    }
}

/// A module in a context of its own.
struct Module {
    context: LLVMContextRef,
    module: LLVMModuleRef,
    machine: LLVMTargetMachineRef,
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: created in `parse`, disposed of once, the context last.
        unsafe {
            if !self.module.is_null() {
                LLVMDisposeModule(self.module);
            }
            if !self.machine.is_null() {
                LLVMDisposeTargetMachine(self.machine);
            }
            LLVMContextDispose(self.context);
        }
    }
}

/// Copies and frees a string of LLVM's.
///
/// # Safety
/// `s` is null or a string that LLVM allocated and nobody else frees.
unsafe fn take_message(s: *mut c_char) -> String {
    if s.is_null() {
        return String::new();
    }
    // SAFETY: a NUL-terminated string of LLVM's.
    unsafe {
        let text = CStr::from_ptr(s).to_string_lossy().into_owned();
        LLVMDisposeMessage(s);
        text
    }
}

fn initialize() {
    static ONCE: Once = Once::new();
    // SAFETY: registration functions without preconditions.
    ONCE.call_once(|| unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
        // The machine scheduler costs an eighth of the compile time; our blocks are short and processors reorder. Hoisting
        // constants out of loops takes registers from values: even rbp, which alone has to be saved.
        let options = [c"cairn", c"-enable-misched=false", c"-disable-machine-licm"].map(CStr::as_ptr);
        LLVMParseCommandLineOptions(options.len() as i32, options.as_ptr(), null());
    });
}

impl Module {
    fn parse(ir: &str, opt: OptLevel) -> Result<Module, String> {
        initialize();
        // SAFETY: every reference is created here and owned by the result; the buffer is consumed by the parser; `ir` is copied.
        unsafe {
            let context = LLVMContextCreate();
            let mut m = Module { context, module: null_mut(), machine: null_mut() };
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(ir.as_ptr().cast(), ir.len(), c"scheme".as_ptr());
            let mut message: *mut c_char = null_mut();
            if LLVMParseIRInContext(context, buffer, &mut m.module, &mut message) != 0 {
                m.module = null_mut();
                return Err(format!("LLVM cannot read the emitted code: {}", take_message(message)));
            }
            // the reader needs names; what the passes make does not
            LLVMContextSetDiscardValueNames(context, 1);
            let mut target: LLVMTargetRef = null_mut();
            let triple = c"x86_64-pc-linux-gnu";
            if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(take_message(message));
            }
            m.machine = LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                c"x86-64".as_ptr(),
                c"+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2".as_ptr(),
                opt.codegen(),
                LLVMRelocMode::LLVMRelocStatic,
                LLVMCodeModel::LLVMCodeModelSmall,
            );
            if m.machine.is_null() {
                return Err("LLVM has no x86-64 target machine".into());
            }
            let layout = LLVMCreateTargetDataLayout(m.machine);
            LLVMSetModuleDataLayout(m.module, layout);
            LLVMDisposeTargetData(layout);
            Ok(m)
        }
    }

    fn optimize(&self, opt: OptLevel) -> Result<(), String> {
        let passes = opt.passes();
        // SAFETY: module and machine are live; the options are disposed of after the run; the error is consumed.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(self.module, passes.as_ptr(), self.machine, options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let s = LLVMGetErrorMessage(error);
            let text = CStr::from_ptr(s).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(s);
            Err(text)
        }
    }

    fn emit(&self, kind: LLVMCodeGenFileType) -> Result<Vec<u8>, String> {
        let mut message: *mut c_char = null_mut();
        let mut buffer: LLVMMemoryBufferRef = null_mut();
        // SAFETY: module and machine are live; the buffer is copied and disposed of.
        unsafe {
            if LLVMTargetMachineEmitToMemoryBuffer(self.machine, self.module, kind, &mut message, &mut buffer) != 0
            {
                return Err(take_message(message));
            }
            let bytes = slice_from_raw_parts(LLVMGetBufferStart(buffer).cast::<u8>(), LLVMGetBufferSize(buffer));
            let bytes = (*bytes).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            Ok(bytes)
        }
    }
}
