//! # cairn-llvm-c: LLVM's C interface, loaded when the first program is compiled
//!
//! The problem: a compiled program is cached as an object, and running it needs nothing of LLVM, but a library that the
//! binary is linked with is mapped and relocated at every start: 50 MB and 25 ms before the first instruction of the
//! program. The idea: the back end uses some thirty functions of a stable C interface, so a table of their addresses,
//! filled by `dlopen` and `dlsym`, takes the place of linking. Building Cairn so needs no LLVM either.
//!
//! Entry point: [`llvm`]. Whoever compiles through LLVM shares this crate and its one loaded library; what is done with
//! the functions is the user's business.
//!
//! Invariants: the declarations below are those of LLVM 19's `llvm-c` headers, and a library that says it is another
//! version is refused; the library stays loaded until the process ends, initialized for x86-64 once. The functions keep
//! their names in LLVM's manual, which also says what each does.
#![allow(unsafe_code)]

use libc::{RTLD_LAZY, RTLD_LOCAL, c_char, c_int, c_uint, c_void, dlerror, dlopen, dlsym, size_t};
use std::ffi::CStr;
use std::mem::transmute;
use std::ptr::null;
use std::sync::OnceLock;

/// The version whose interface this is.
const MAJOR: c_uint = 19;

/// What the library is called: upstream's name, then that of Debian's link.
const FILES: [&CStr; 2] = [c"libLLVM.so.19.1", c"libLLVM-19.so"];

/// Pointers to LLVM's objects, each of a type of its own.
macro_rules! references {
    ($($name:ident)*) => {
        /// What is behind the pointers: only LLVM knows.
        mod object {
            $(pub enum $name {})*
        }
        $(#[doc = concat!("LLVM's `LLVM", stringify!($name), "`.")] pub type $name = *mut object::$name;)*
    };
}

references! {
    ContextRef ModuleRef MemoryBufferRef TargetRef TargetMachineRef TargetDataRef PassBuilderOptionsRef ErrorRef
}

/// `LLVMCodeGenOptLevel`: the first that schedules nothing.
pub const CODEGEN_LESS: c_int = 1;
/// `LLVMCodeGenOptLevel`: the default.
pub const CODEGEN_DEFAULT: c_int = 2;
/// `LLVMCodeGenFileType`: assembly text.
pub const ASSEMBLY_FILE: c_int = 0;
/// `LLVMCodeGenFileType`: an object.
pub const OBJECT_FILE: c_int = 1;
/// `LLVMRelocMode`: not position independent.
pub const RELOC_STATIC: c_int = 1;
/// `LLVMCodeModel`: all symbols in the low 2 GiB.
pub const CODE_MODEL_SMALL: c_int = 3;
/// `LLVMVerifierFailureAction`: tell the caller.
pub const RETURN_STATUS: c_int = 2;

/// The table: a field for each function, found by its name.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions we use. All are unsafe as C's are: references must be live, messages are disposed of by the
        /// caller.
        #[allow(non_snake_case)]
        pub struct Llvm {
            $(#[doc = concat!("`", stringify!($name), "`.")] pub $name: unsafe extern "C" fn($($argument: $type),*) $(-> $result)?,)*
        }

        impl Llvm {
            fn find(library: *mut c_void) -> Result<Llvm, String> {
                Ok(Llvm {
                    // SAFETY: the function of this name has this type (llvm-c, version 19).
                    $($name: unsafe {
                        transmute::<*mut c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(
                            symbol(library, stringify!($name))?
                        )
                    },)*
                })
            }
        }
    };
}

functions! {
    LLVMGetVersion(major: *mut c_uint, minor: *mut c_uint, patch: *mut c_uint);
    LLVMParseCommandLineOptions(count: c_int, options: *const *const c_char, overview: *const c_char);
    LLVMDisposeMessage(message: *mut c_char);
    LLVMGetErrorMessage(error: ErrorRef) -> *mut c_char;
    LLVMDisposeErrorMessage(message: *mut c_char);

    LLVMContextCreate() -> ContextRef;
    LLVMContextSetDiscardValueNames(context: ContextRef, discard: c_int);
    LLVMContextDispose(context: ContextRef);

    LLVMCreateMemoryBufferWithMemoryRangeCopy(data: *const c_char, size: size_t, name: *const c_char) -> MemoryBufferRef;
    LLVMGetBufferStart(buffer: MemoryBufferRef) -> *const c_char;
    LLVMGetBufferSize(buffer: MemoryBufferRef) -> size_t;
    LLVMDisposeMemoryBuffer(buffer: MemoryBufferRef);

    LLVMParseIRInContext(context: ContextRef, text: MemoryBufferRef, module: *mut ModuleRef, message: *mut *mut c_char) -> c_int;
    LLVMSetModuleDataLayout(module: ModuleRef, layout: TargetDataRef);
    LLVMPrintModuleToString(module: ModuleRef) -> *mut c_char;
    LLVMVerifyModule(module: ModuleRef, action: c_int, message: *mut *mut c_char) -> c_int;
    LLVMDisposeModule(module: ModuleRef);

    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMGetTargetFromTriple(triple: *const c_char, target: *mut TargetRef, message: *mut *mut c_char) -> c_int;
    LLVMCreateTargetMachine(target: TargetRef, triple: *const c_char, cpu: *const c_char, features: *const c_char,
        level: c_int, relocation: c_int, code_model: c_int) -> TargetMachineRef;
    LLVMCreateTargetDataLayout(machine: TargetMachineRef) -> TargetDataRef;
    LLVMDisposeTargetData(layout: TargetDataRef);
    LLVMTargetMachineEmitToMemoryBuffer(machine: TargetMachineRef, module: ModuleRef, kind: c_int,
        message: *mut *mut c_char, buffer: *mut MemoryBufferRef) -> c_int;
    LLVMDisposeTargetMachine(machine: TargetMachineRef);

    LLVMCreatePassBuilderOptions() -> PassBuilderOptionsRef;
    LLVMRunPasses(module: ModuleRef, passes: *const c_char, machine: TargetMachineRef,
        options: PassBuilderOptionsRef) -> ErrorRef;
    LLVMDisposePassBuilderOptions(options: PassBuilderOptionsRef);
}

/// LLVM, loaded and initialized; or what is missing.
pub fn llvm() -> Result<&'static Llvm, String> {
    static LLVM: OnceLock<Result<Llvm, String>> = OnceLock::new();
    LLVM.get_or_init(|| {
        let llvm = load(&FILES)?;
        llvm.initialize();
        Ok(llvm)
    })
    .as_ref()
    .map_err(String::clone)
}

/// Loads the first library of these that is there.
fn load(files: &[&CStr]) -> Result<Llvm, String> {
    let mut why = String::new();
    for file in files {
        // SAFETY: initializers of a library found on the system's path; the name is NUL-terminated.
        let library = unsafe { dlopen(file.as_ptr(), RTLD_LAZY | RTLD_LOCAL) };
        if !library.is_null() {
            return Llvm::find(library)?.checked();
        }
        if why.is_empty() {
            why = last_error();
        }
    }
    Err(format!(
        "compiling needs LLVM {MAJOR}, and its library cannot be loaded: {why}\n\
         (apt-get install libllvm{MAJOR}; if it lies in an unusual place, name the directory in LD_LIBRARY_PATH)"
    ))
}

fn symbol(library: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    let terminated = std::ffi::CString::new(name).expect("a C name");
    // SAFETY: `library` is loaded and stays so.
    let address = unsafe { dlsym(library, terminated.as_ptr()) };
    if address.is_null() {
        return Err(format!("the library found as LLVM {MAJOR} is something else: {}", last_error()));
    }
    Ok(address)
}

/// What went wrong in the last call of `dlopen` or `dlsym`.
fn last_error() -> String {
    // SAFETY: null, or a string that stays until this thread's next call of these functions.
    unsafe {
        let text = dlerror();
        if text.is_null() { "no reason given".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

impl Llvm {
    fn checked(self) -> Result<Llvm, String> {
        let mut version = [0; 3];
        let [major, minor, patch] = &mut version;
        // SAFETY: three places for the answer.
        unsafe { (self.LLVMGetVersion)(major, minor, patch) };
        if version[0] != MAJOR {
            return Err(format!("the library found as LLVM {MAJOR} is version {}.{}", version[0], version[1]));
        }
        Ok(self)
    }

    fn initialize(&self) {
        // SAFETY: registration functions without preconditions.
        unsafe {
            (self.LLVMInitializeX86TargetInfo)();
            (self.LLVMInitializeX86Target)();
            (self.LLVMInitializeX86TargetMC)();
            (self.LLVMInitializeX86AsmPrinter)();
            (self.LLVMInitializeX86AsmParser)();
            // The machine scheduler costs an eighth of the compile time; our blocks are short and processors reorder.
            // Hoisting constants out of loops takes registers from values: even rbp, which alone has to be saved.
            let options = [c"cairn", c"-enable-misched=false", c"-disable-machine-licm"].map(CStr::as_ptr);
            (self.LLVMParseCommandLineOptions)(options.len() as c_int, options.as_ptr(), null());
        }
    }

    /// Copies and frees a string of LLVM's.
    ///
    /// # Safety
    /// `message` is null or a string that LLVM allocated and nobody else frees.
    pub unsafe fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        // SAFETY: a NUL-terminated string of LLVM's.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.LLVMDisposeMessage)(message);
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(file: &CStr) -> String {
        load(&[file]).err().expect("not LLVM")
    }

    #[test]
    fn a_missing_library_is_named_with_what_to_do() {
        let text = complaint(c"libLLVM-of-nowhere.so.1");
        assert!(text.contains("LLVM 19") && text.contains("libLLVM-of-nowhere.so.1"), "{text}");
        assert!(text.contains("apt-get install libllvm19"), "{text}");
    }

    #[test]
    fn another_library_is_refused() {
        let text = complaint(c"libc.so.6");
        assert!(text.contains("LLVMGetVersion"), "{text}");
    }
}
