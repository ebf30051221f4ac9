//! libgc, the collector of Boehm, Demers and Weiser, loaded when a heap wants it.
//!
//! The problem: whoever does not choose `--gc=bdw` should not need libgc, neither to build Cairn nor to run it. The
//! idea: a table of functions, filled by `dlopen` and `dlsym`, takes the place of linking. The library is the system's
//! own (Debian's package `libgc1`); nothing of it is part of this project.
//!
//! libgc knows one heap in a process, so one [`Libgc`] can be in use at a time ([`Libgc::claim`]). Its state stays when
//! that is over.

use crate::address::{Address, Span};
use crate::blocks::BlockTable;
use crate::error::HeapError;
use crate::space::own::{Holds, OwnSpaces, Place};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The file that the system's loader looks for.
const FILE: &CStr = c"libgc.so.1";

/// `GC_EVENT_MARK_END`: everything is marked, nothing is swept.
pub(super) const MARK_END: c_int = 2;

/// `GC_I_PTRFREE`: the kind of what `GC_malloc_atomic` gives.
pub(super) const ATOMIC: c_int = 0;

/// `struct GC_stack_base`.
#[repr(C)]
pub(super) struct StackBase {
    pub base: *mut c_void,
}

/// Told of an object and its size.
pub(super) type Reachable = unsafe extern "C" fn(*mut c_void, usize, *mut c_void);

macro_rules! functions {
    ($($name:ident: $type:ty,)*) => {
        /// The functions that we use, by their names without `GC_`.
        #[derive(Clone, Copy)]
        pub(super) struct Functions { $(pub $name: $type,)* }

        impl Functions {
            /// Looks all of them up.
            ///
            /// # Safety
            /// The library is libgc, of version 8.
            unsafe fn find(library: *mut c_void) -> Result<Functions, String> {
                $(let $name = concat!("GC_", stringify!($name));)*
                Ok(Functions {
                    // SAFETY: the library is libgc, version 8 (`# Safety`), whose functions of these names have these
                    // types; `symbol` gave no null.
                    $($name: unsafe { std::mem::transmute::<*mut c_void, $type>(symbol(library, $name)?) },)*
                })
            }
        }
    };
}

functions! {
    init: unsafe extern "C" fn(),
    is_init_called: unsafe extern "C" fn() -> c_int,
    set_no_dls: unsafe extern "C" fn(c_int),
    set_all_interior_pointers: unsafe extern "C" fn(c_int),
    set_warn_proc: unsafe extern "C" fn(*const c_void),
    ignore_warn_proc: *const c_void,
    clear_roots: unsafe extern "C" fn(),
    register_displacement: unsafe extern "C" fn(usize),
    allow_register_threads: unsafe extern "C" fn(),
    get_stack_base: unsafe extern "C" fn(*mut StackBase) -> c_int,
    register_my_thread: unsafe extern "C" fn(*const StackBase) -> c_int,
    unregister_my_thread: unsafe extern "C" fn() -> c_int,
    set_stackbottom: unsafe extern "C" fn(*mut c_void, *const StackBase),
    enable: unsafe extern "C" fn(),
    disable: unsafe extern "C" fn(),
    gcollect: unsafe extern "C" fn(),
    gcollect_and_unmap: unsafe extern "C" fn(),
    malloc_many: unsafe extern "C" fn(usize) -> *mut c_void,
    malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    malloc_atomic: unsafe extern "C" fn(usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    base: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    size: unsafe extern "C" fn(*const c_void) -> usize,
    get_kind_and_size: unsafe extern "C" fn(*const c_void, *mut usize) -> c_int,
    is_heap_ptr: unsafe extern "C" fn(*const c_void) -> c_int,
    is_marked: unsafe extern "C" fn(*const c_void) -> c_int,
    set_mark_bit: unsafe extern "C" fn(*const c_void),
    enumerate_reachable_objects_inner: unsafe extern "C" fn(Reachable, *mut c_void),
    push_all: unsafe extern "C" fn(*const c_void, *const c_void),
    set_push_other_roots: unsafe extern "C" fn(Option<unsafe extern "C" fn()>),
    set_on_collection_event: unsafe extern "C" fn(Option<unsafe extern "C" fn(c_int)>),
    get_heap_size: unsafe extern "C" fn() -> usize,
    get_free_bytes: unsafe extern "C" fn() -> usize,
}

// SAFETY: addresses of code, which is never unloaded and any thread may call as far as libgc's own rules allow it.
unsafe impl Send for Functions {}
// SAFETY: nothing changes in a value: it holds addresses of code, which is never unloaded.
unsafe impl Sync for Functions {}

/// What went wrong in the last call of `dlopen` or `dlsym`.
fn last_error() -> String {
    // SAFETY: `dlerror` gives null or a C string, valid until this thread's next such call; it is copied before.
    unsafe {
        let text: *const c_char = libc::dlerror();
        if text.is_null() { "no reason given".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

/// The address of a function or variable.
///
/// # Safety
/// `library` comes from `dlopen`, and was not closed.
unsafe fn symbol(library: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    let name = CString::new(name).expect("no NUL in a name");
    // SAFETY: `library` comes from `dlopen` (`# Safety`), and `name` is a C string.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() { Err(last_error()) } else { Ok(found) }
}

fn load(file: &CStr) -> Result<Functions, String> {
    // SAFETY: `file` is a C string; loading libgc runs nothing but its constructors, which touch nothing of ours.
    let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        return Err(last_error());
    }
    // SAFETY: `library` is not null, and the file's name, `libgc.so.1`, stands for the interface of version 8.
    unsafe { Functions::find(library) }
}

static LIBGC: OnceLock<Result<Functions, String>> = OnceLock::new();
static IN_USE: AtomicBool = AtomicBool::new(false);

/// The process's libgc, in the hands of one heap.
pub(crate) struct Libgc {
    pub(super) functions: &'static Functions,
    /// libgc did not know this thread before.
    registered: bool,
}

impl Libgc {
    /// Loads and initialises it, for a heap whose references are tagged with these displacements.
    pub fn claim(displacements: &[usize]) -> Result<Libgc, HeapError> {
        let loaded = LIBGC.get_or_init(|| {
            let f = load(FILE)?;
            // SAFETY: `get_or_init` runs this once, before all other calls. Nothing but what we show are roots.
            unsafe {
                let known_before = (f.is_init_called)() != 0;
                (f.set_no_dls)(1);
                (f.set_all_interior_pointers)(0);
                (f.set_warn_proc)(f.ignore_warn_proc);
                (f.init)();
                (f.clear_roots)();
                (f.allow_register_threads)();
                (f.disable)();
                // libgc takes this thread for the main one, and would wait for it at every collection; it may end long
                // before the process does
                if !known_before {
                    (f.unregister_my_thread)();
                }
            }
            Ok(f)
        });
        let f = loaded.as_ref().map_err(|why| HeapError::NoLibgc(why.clone()))?;
        if IN_USE.swap(true, SeqCst) {
            return Err(HeapError::OneLibgc);
        }
        // SAFETY: the library is initialised, see above; a thread that it knows already is left as it is.
        let registered = unsafe {
            displacements.iter().for_each(|d| (f.register_displacement)(*d));
            let mut base = StackBase { base: std::ptr::null_mut() };
            (f.get_stack_base)(&raw mut base) == 0 && (f.register_my_thread)(&raw const base) == 0
        };
        Ok(Libgc { functions: f, registered })
    }
    /// The object around an address, which may be anything.
    pub fn object_around(&self, a: Address) -> Option<Span> {
        // SAFETY: any address may be asked about, and what comes back is null, or the start of an object, which has a
        // size.
        unsafe {
            let start = (self.functions.base)(a.bytes().cast());
            let from = Address(start as u64);
            (!start.is_null()).then(|| Span::new(from, from.plus((self.functions.size)(start) as u64)))
        }
    }
}

impl OwnSpaces for Libgc {
    fn place(&self, _: &BlockTable, a: Address) -> Option<Place> {
        self.object_around(a).map(|span| Place { span, holds: Holds::Unknown })
    }
    /// As libgc counts: of its blocks that are not free as a whole.
    fn outside_pool(&self) -> u64 {
        // SAFETY: both only read counters of libgc, which is initialised.
        unsafe { ((self.functions.get_heap_size)() - (self.functions.get_free_bytes)()) as u64 }
    }
}

impl Drop for Libgc {
    fn drop(&mut self) {
        // SAFETY: the heap, and with it whoever showed roots, is gone; this thread was registered by `claim` if
        // `registered`.
        unsafe {
            (self.functions.set_push_other_roots)(None);
            (self.functions.set_on_collection_event)(None);
            if self.registered {
                (self.functions.unregister_my_thread)();
            }
        }
        IN_USE.store(false, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_an_error_that_says_what_to_install() {
        let why = load(c"libgc-of-nobody.so.1").err().expect("there is no such library");
        assert!(why.contains("libgc-of-nobody.so.1"), "{why}");
        let text = HeapError::NoLibgc(why).to_string();
        assert!(text.contains("package libgc1") && text.contains("cannot open"), "{text}");
        // Another library is none.
        let why = load(c"libc.so.6").err().expect("the C library is not libgc");
        assert!(why.contains("GC_init"), "{why}");
    }
}
