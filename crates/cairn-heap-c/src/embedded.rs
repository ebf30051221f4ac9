//! A heap as C sees it: the cursors that inline functions use, then everything else.
//!
//! Collectors that hand out extents let the program allocate between `lo` and `hi` (`CAIRN_NEW` in the header); for
//! all others, and under zeal, the program's `lo` and `hi` are equal, so that every allocation comes here.

use crate::native_stack;
use cairn_heap::{
    Address, AmbiguousVisitor, CObjects, Client, CollectionEvent, CollectionKind, Cursors, Heap, HeapConfig,
    HeapError, LayoutId, Nature, Observer, OutOfMemory, Request, RootVisitor, WeakVisitor,
};
use cairn_layout::collector::Allocation;
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::object::LARGE_BYTES;
use std::collections::{HashMap, VecDeque};
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::null_mut;

/// `cairn_finalizer`.
pub type Finalizer = extern "C" fn(*mut Embedded, *mut c_void, *mut c_void);
/// `cairn_limit`.
pub type Limit = extern "C" fn(*mut Embedded, usize, *mut c_void) -> c_int;
/// `cairn_listener`.
pub type Listener = extern "C" fn(*mut Embedded, *const Event, *mut c_void);

/// `cairn_event`.
#[repr(C)]
pub struct Event {
    number: u64,
    everything: c_int,
    before: u64,
    after: u64,
    nursery: u64,
    copied: u64,
    pause_ns: u64,
}

/// `cairn_frame`.
#[repr(C)]
pub struct Frame {
    up: *mut Frame,
    count: usize,
    variables: *const *mut u64,
}

/// `cairn_weak`.
pub struct WeakCell {
    /// 0 once it has died.
    object: u64,
    /// Place in the table of the heap.
    index: usize,
}

impl WeakCell {
    /// The object, or 0.
    pub fn object(&self) -> u64 {
        self.object
    }
}

struct Finalized {
    object: u64,
    run: Finalizer,
    data: *mut c_void,
}

/// Everything that keeps objects alive, or wants to know of their death.
#[derive(Default)]
pub struct Roots {
    /// Runs of words.
    pub precise: Vec<(*mut u64, usize)>,
    /// Runs of words.
    pub ambiguous: Vec<(*const u64, usize)>,
    /// Pinned objects, and how often they are.
    pub pins: HashMap<u64, usize>,
    /// Where the native stack that is scanned begins.
    pub stack_base: Option<*const u64>,
    frames: *mut Frame,
    /// Boxes, whose addresses the program has; freed cells are taken out.
    weak: Vec<*mut WeakCell>,
    finalized: Vec<Finalized>,
    ready: VecDeque<Finalized>,
}

impl Roots {
    /// A weak reference.
    pub fn add_weak(&mut self, object: u64) -> *mut WeakCell {
        let cell = Box::into_raw(Box::new(WeakCell { object, index: self.weak.len() }));
        self.weak.push(cell);
        cell
    }
    /// Frees a weak reference.
    ///
    /// # Safety
    /// `cell` came from [`Roots::add_weak`] of this value, and was not freed.
    pub unsafe fn remove_weak(&mut self, cell: *mut WeakCell) {
        // SAFETY: `cell` is a box of `add_weak` that was not freed (`# Safety`); those that are left in the table were
        // not, either.
        unsafe {
            let index = Box::from_raw(cell).index;
            self.weak.swap_remove(index);
            if let Some(&moved) = self.weak.get(index) {
                (*moved).index = index;
            }
        }
    }
    /// Something to be done when an object dies.
    pub fn add_finalizer(&mut self, object: u64, run: Finalizer, data: *mut c_void) {
        self.finalized.push(Finalized { object, run, data });
    }
    /// How many finalizers wait.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }
    /// The next finalizer, with its object.
    pub fn next_ready(&mut self) -> Option<(u64, Finalizer, *mut c_void)> {
        self.ready.pop_front().map(|f| (f.object, f.run, f.data))
    }
}

impl Drop for Roots {
    fn drop(&mut self) {
        for &cell in &self.weak {
            // SAFETY: the table holds boxes of `add_weak` that were not freed, each once; the program may not use them
            // any more.
            drop(unsafe { Box::from_raw(cell) });
        }
    }
}

impl Client for Roots {
    const AMBIGUOUS: bool = true;

    fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, v: &mut V) {
        self.pins.keys().for_each(|&object| v.ambiguous(object));
        for &(start, n) in &self.ambiguous {
            // SAFETY: the program has said, by `cairn_add_ambiguous`, that `n` words can be read at `start`.
            unsafe { v.ambiguous_words(start, n) }
        }
        if let Some(base) = self.stack_base {
            // SAFETY: the words of this thread's stack between here and `base`, which lies in a frame that has not
            // returned.
            native_stack::with_words(base, &mut |start, n| unsafe { v.ambiguous_words(start, n) });
        }
    }

    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        // SAFETY: the program has said, by `cairn_add_root` and its frames, that these words are valid, and hold null
        // or references to objects that live; words of `ready` are ours.
        unsafe {
            for &(start, n) in &self.precise {
                v.words(start, n);
            }
            let mut frame = self.frames;
            while !frame.is_null() {
                for i in 0..(*frame).count {
                    v.slot(*(*frame).variables.add(i));
                }
                frame = (*frame).up;
            }
            for f in &mut self.ready {
                v.slot(&raw mut f.object);
            }
        }
    }

    fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}

    fn visit_dying<V: WeakVisitor>(&mut self, v: &mut V) {
        // SAFETY: what has a finalizer was alive after the last collection, or is new.
        let is_dying = |f: &Finalized| unsafe { v.survivor(f.object) }.is_none();
        let (dying, alive): (Vec<_>, Vec<_>) = std::mem::take(&mut self.finalized).into_iter().partition(is_dying);
        self.finalized = alive;
        for mut f in dying {
            // SAFETY: `f.object` is whole until the collection has ended without a visit.
            unsafe { v.slot(&raw mut f.object) };
            self.ready.push_back(f);
        }
    }

    fn visit_weak<V: WeakVisitor>(&mut self, v: &mut V) {
        // SAFETY: cells are boxes that were not freed; all objects here were alive after the last collection, or are
        // new.
        unsafe {
            for &cell in &self.weak {
                if (*cell).object != 0 {
                    (*cell).object = v.survivor((*cell).object).unwrap_or(0);
                }
            }
            for f in &mut self.finalized {
                f.object = v.survivor(f.object).expect("what was dying is not among them");
            }
        }
    }
}

/// An object that could not be made.
pub struct Refused {
    /// Its size.
    pub bytes: usize,
    /// Why.
    pub message: String,
}

/// Hands events to the program.
struct Told {
    heap: *mut Embedded,
    call: Listener,
    data: *mut c_void,
}

impl Observer for Told {
    fn collection(&mut self, e: &CollectionEvent) {
        let event = Event {
            number: e.number,
            everything: c_int::from(e.kind == CollectionKind::Major),
            before: e.before,
            after: e.after,
            nursery: e.nursery,
            copied: e.copied,
            pause_ns: e.pause.as_nanos() as u64,
        };
        (self.call)(self.heap, &raw const event, self.data);
    }
}

/// A heap, `cairn_heap`: the first six members are the program's, `lo` and `hi` two of them.
#[repr(C)]
pub struct Embedded {
    cursors: Cursors,
    cards: *mut u8,
    card_mask: u64,
    young: u64,
    frames: *mut Frame,
    /// What is held.
    pub heap: Heap<CObjects>,
    /// What keeps it.
    pub roots: Roots,
    /// Whom to ask when there is no more.
    pub limit: Option<(Limit, *mut c_void)>,
    /// Every allocation is a safepoint, however much room there is.
    zealous: bool,
    /// The cursors, when the program may not use them.
    hidden: Option<Cursors>,
    layouts: Vec<LayoutId>,
    error: CString,
}

impl Embedded {
    /// A heap.
    pub fn new(config: HeapConfig) -> Result<Box<Embedded>, HeapError> {
        let zealous = config.zeal.every_safepoint;
        let inline = config.collector.allocation == Allocation::TwoEnded && !zealous;
        let mut heap = Heap::new(CObjects::default(), config)?;
        let cursors = heap.current();
        let mut embedded = Box::new(Embedded {
            cursors: if inline { cursors } else { Cursors::default() },
            cards: heap.cards_ptr(),
            card_mask: heap.card_mask(),
            young: 0,
            frames: null_mut(),
            heap,
            roots: Roots::default(),
            limit: None,
            zealous,
            hidden: (!inline).then_some(cursors),
            layouts: Vec::new(),
            error: CString::default(),
        });
        let place = &raw mut embedded.young;
        // SAFETY: `young` and `heap` are parts of one box, which nobody moves out of; nobody else writes `young`.
        unsafe { embedded.heap.publish_young(place) };
        Ok(embedded)
    }

    /// Why the last function failed.
    pub fn error(&self) -> &CStr {
        &self.error
    }
    /// Notes why a function fails; what it returns.
    pub fn fail(&mut self, why: &str) -> *mut c_void {
        self.error = CString::new(why.replace('\0', " ")).unwrap_or_default();
        null_mut()
    }

    /// A new layout.
    pub fn define(&mut self, words: u32, references: u64) -> Option<u32> {
        if !(1..=64).contains(&words) {
            self.fail("a layout has 1 to 64 words");
            return None;
        }
        if words < 64 && references >> words != 0 {
            self.fail("a layout's references are among its words");
            return None;
        }
        if self.layouts.len() >= (1 << 20) - 1 {
            self.fail("there are too many layouts");
            return None;
        }
        self.layouts.push(self.heap.model_mut().define(words, references));
        Some(self.layouts.len() as u32 - 1)
    }
    /// A layout by its number.
    pub fn layout(&self, number: u32) -> Option<LayoutId> {
        self.layouts.get(number as usize).copied()
    }

    /// A cleared object, after a collection if one is due.
    pub fn make(&mut self, nature: Nature) -> Result<u64, Refused> {
        // More elements, or words, than any memory has: sizes must not overflow.
        let (Nature::Typed(_, count) | Nature::Untyped(count) | Nature::Atomic(count)) = nature;
        if count >= 1 << 39 {
            let message = "out of memory: no heap can hold an object of this size".into();
            return Err(Refused { bytes: usize::MAX, message });
        }
        let bytes = self.heap.model().bytes(nature);
        let need = bytes.min(LARGE_BYTES) + CHECK_RESERVE;
        let zealous = self.zealous;
        let made = self.with_cursors(|heap, roots, at| {
            // Fails at once when a collection is wanted: then the extent has less than this left.
            if zealous || at.room() < need {
                heap.safepoint(at, need, roots)?;
            }
            // The heap lets large objects go beyond its maximum until the next collection; this is it.
            if bytes > LARGE_BYTES && heap.bytes_in_use() + bytes > heap.heap_max() {
                heap.collect(at, roots, Request::Major)?;
                let used = heap.bytes_in_use();
                if used + bytes > heap.heap_max() {
                    return Err(OutOfMemory { requested: bytes, used, heap_max: heap.heap_max() });
                }
            }
            heap.make(at, nature).or_else(|_| {
                heap.collect(at, roots, Request::Major)?;
                heap.make(at, nature)
            })
        });
        made.map_err(|e: OutOfMemory| Refused { bytes: bytes as usize, message: e.to_string() })
    }
    /// Collects; false when too much is left.
    pub fn collect(&mut self, request: Request) -> bool {
        let outcome = self.with_cursors(|heap, roots, at| heap.collect(at, roots, request));
        match outcome {
            Ok(()) => true,
            Err(e) => {
                self.fail(&e.to_string());
                false
            }
        }
    }
    /// Walks everything; false when something is wrong.
    pub fn check(&mut self) -> bool {
        let outcome = self.with_cursors(|heap, roots, at| heap.check(*at, roots));
        match outcome {
            Ok(_) => true,
            Err(problems) => {
                let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
                self.fail(&text.join("; "));
                false
            }
        }
    }
    /// Who hears of collections, and what it is told of where this is.
    pub fn listen(&mut self, heap: *mut Embedded, call: Option<Listener>, data: *mut c_void) {
        let told = call.map(|call| Box::new(Told { heap, call, data }) as Box<dyn Observer>);
        self.heap.set_observer(told);
    }

    fn with_cursors<R>(&mut self, f: impl FnOnce(&mut Heap<CObjects>, &mut Roots, &mut Cursors) -> R) -> R {
        self.roots.frames = self.frames;
        let cursors = self.hidden.as_mut().unwrap_or(&mut self.cursors);
        f(&mut self.heap, &mut self.roots, cursors)
    }
}
