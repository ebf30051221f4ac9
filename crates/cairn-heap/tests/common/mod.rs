//! A mutator without a compiler: allocates, stores and takes safepoints as compiled code and runtime would.
#![allow(dead_code, unsafe_code)]

use cairn_heap::{
    Address, AllocKind, AmbiguousVisitor, Client, Cursors, Heap, HeapConfig, HeapError, OutOfMemory, Request,
    RootVisitor, Scheme, WeakVisitor,
};
use cairn_layout::Value;
use cairn_layout::code::flags;
use cairn_layout::collector::{Allocation, FREE_LISTS, FreeList, prefix};
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::object::{Type, continuation, header, object_bytes};
use cairn_layout::value::{TAG_OBJECT, TAG_PAIR, TAG_PROCEDURE};

/// A client with precise and ambiguous roots, and nothing else.
#[derive(Default)]
pub struct AmbiguousRoots {
    pub words: Vec<u64>,
    pub maybe: Vec<u64>,
}

impl Client for AmbiguousRoots {
    const AMBIGUOUS: bool = true;

    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        unsafe { v.words(self.words.as_mut_ptr(), self.words.len()) }
    }
    fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, v: &mut V) {
        unsafe { v.ambiguous_words(self.maybe.as_ptr(), self.maybe.len()) }
    }
    fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
}

/// Code of a procedure: its descriptor ends with the shape word, then "code".
#[repr(C, align(16))]
pub struct Code {
    _pad: u64,
    shape: u64,
    code: u64,
}

impl Code {
    pub const fn new(shape: u64) -> Code {
        Code { _pad: 0, shape, code: 0xCCCC }
    }
    pub fn address(&'static self) -> u64 {
        &raw const self.code as u64
    }
}

pub static CODES: [Code; 8] = [
    Code::new(2),
    Code::new(2),
    Code::new(2),
    Code::new(3),
    Code::new(4),
    Code::new(5),
    Code::new(6),
    Code::new(7),
];
pub static CONTINUATION: Code = Code::new(continuation::LEN | flags::CONTINUATION);

/// Roots: explicit words, and the chunks of the "current stack".
#[derive(Default)]
pub struct AnyRoots<const AMBIGUOUS: bool> {
    pub words: Vec<u64>,
    /// Words that may or may not be references.
    pub maybe: Vec<u64>,
    /// References that keep nothing alive; `None` when their objects have died.
    pub weak: Vec<Option<u64>>,
    /// Current chunks: address, number of words that are frames.
    pub stack: Vec<(u64, usize)>,
    /// Static data.
    pub statics: Vec<u64>,
    /// Continuations traced so far.
    pub traced: usize,
}

pub type Roots = AnyRoots<false>;

impl<const A: bool> Client for AnyRoots<A> {
    const AMBIGUOUS: bool = A;

    fn visit_weak<V: WeakVisitor>(&mut self, v: &mut V) {
        for w in &mut self.weak {
            *w = w.and_then(|w| unsafe { v.survivor(w) });
        }
    }
    fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, v: &mut V) {
        unsafe { v.ambiguous_words(self.maybe.as_ptr(), self.maybe.len()) }
    }
    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        unsafe {
            v.words(self.words.as_mut_ptr(), self.words.len());
            // Two arrays, side by side in the middle of a card.
            let third = self.statics.len() / 3;
            let (first, second) = self.statics.split_at_mut(third);
            v.static_words(first.as_mut_ptr(), first.len());
            v.static_words(second.as_mut_ptr(), second.len());
            for &(chunk, n) in &self.stack {
                v.words(chunk as *mut u64, n);
                v.mark_chunk(Address(chunk));
            }
        }
    }
    fn trace_continuation<V: RootVisitor>(&mut self, k: Address, v: &mut V) {
        self.traced += 1;
        unsafe {
            let w = |i: u64| k.plus(8 * i).load();
            let (chunk, sp, base) = (w(continuation::CHUNK), w(continuation::SP), w(continuation::BASE));
            v.words(sp as *mut u64, ((base - sp) / 8) as usize);
            v.mark_chunk(Address(chunk));
        }
    }
}

/// The mutator.
pub struct AnyMutator<const AMBIGUOUS: bool> {
    pub heap: Heap<Scheme>,
    pub cursors: Cursors,
    pub roots: AnyRoots<AMBIGUOUS>,
    /// Compiled code's free lists.
    free: [u64; FREE_LISTS],
}

pub type Mutator = AnyMutator<false>;

pub fn fix(n: i64) -> u64 {
    Value::fixnum(n).0
}

pub const NIL: u64 = Value::NIL.0;

impl<const A: bool> AnyMutator<A> {
    pub fn new(config: HeapConfig) -> Self {
        let mut heap = loop {
            match Heap::new(Scheme, config.clone()) {
                // Another test of this process has it.
                Err(HeapError::OneLibgc) => std::thread::sleep(std::time::Duration::from_millis(5)),
                heap => break heap.unwrap(),
            }
        };
        let cursors = heap.current();
        AnyMutator { heap, cursors, roots: AnyRoots::default(), free: [0; FREE_LISTS] }
    }
    pub fn zealous() -> Self {
        Self::new(HeapConfig::zealous())
    }
    /// A heap check of compiled code that notices at once when a collection is wanted.
    pub fn check(&mut self, need: u64) -> Result<(), OutOfMemory> {
        self.plain_check(need + CHECK_RESERVE)
    }
    /// A heap check of compiled code that does not count the reserve.
    pub fn plain_check(&mut self, need: u64) -> Result<(), OutOfMemory> {
        let need = self.heap.facts().checked_bytes(need);
        if self.cursors.room() < need {
            self.heap.return_cells(&mut self.free);
            self.heap.safepoint(&mut self.cursors, need, &mut self.roots)?;
            assert!(self.cursors.room() >= need);
        }
        Ok(())
    }
    pub fn collect(&mut self, request: Request) {
        self.heap.return_cells(&mut self.free);
        self.heap.collect(&mut self.cursors, &mut self.roots, request).unwrap();
    }
    pub fn minor(&mut self) {
        self.collect(Request::Minor);
    }
    pub fn major(&mut self) {
        self.collect(Request::Major);
    }
    pub fn verify(&mut self) -> cairn_heap::check::Report {
        self.heap.return_cells(&mut self.free);
        match self.heap.check(self.cursors, &mut self.roots) {
            Ok(r) => r,
            Err(p) => panic!("{}", p.iter().map(|p| format!("{p}\n")).collect::<String>()),
        }
    }
    pub fn try_alloc(&mut self, bytes: u64, kind: AllocKind) -> Result<u64, OutOfMemory> {
        self.heap.alloc(&mut self.cursors, bytes, kind)
    }
    fn alloc(&mut self, bytes: u64, kind: AllocKind) -> u64 {
        self.try_alloc(bytes, kind).unwrap()
    }
    /// Like a runtime call: never collects.
    pub fn cons(&mut self, car: u64, cdr: u64) -> u64 {
        let a = self.alloc(16, AllocKind::Pair);
        put(a, 0, car);
        put(a, 1, cdr);
        a | TAG_PAIR
    }
    /// Like compiled code after a heap check.
    pub fn inline_cons(&mut self, car: u64, cdr: u64) -> u64 {
        if self.heap.facts().allocation != Allocation::TwoEnded {
            // The budget: compiled code spends at the check what it takes here.
            self.cursors.hi -= 16.min(self.cursors.room());
            let a = self.pop(FreeList::PAIRS);
            put(a, 0, car);
            put(a, 1, cdr);
            return a | TAG_PAIR;
        }
        let before = self.heap.facts().prefix_bytes(AllocKind::Pair);
        if before > 0 {
            put(self.cursors.lo, 0, prefix(AllocKind::Pair, 16));
        }
        let a = self.cursors.lo + before;
        self.cursors.lo = a + 16;
        assert!(self.cursors.lo <= self.cursors.hi);
        put(a, 0, car);
        put(a, 1, cdr);
        a | TAG_PAIR
    }
    /// A cell of a free list.
    pub fn pop(&mut self, list: FreeList) -> u64 {
        let head = self.free[list.0 as usize];
        let a = if head == 0 { self.heap.cells(&mut self.cursors, list).unwrap() } else { head };
        self.free[list.0 as usize] = get(a, 0);
        a
    }
    pub fn vector(&mut self, n: u64, fill: u64) -> u64 {
        let h = header(Type::Vector, 0, n);
        let a = self.alloc(object_bytes(h), AllocKind::Scannable);
        put(a, 0, h);
        put(a, 1, fix(0)); // an empty vector has a word of padding
        for i in 1..=n {
            put(a, i, fill);
        }
        a | TAG_OBJECT
    }
    pub fn string(&mut self, n: u64, c: u32) -> u64 {
        let h = header(Type::String, 0, n);
        let a = self.alloc(object_bytes(h), AllocKind::Leaf);
        put(a, 0, h);
        for i in 0..n {
            unsafe { *((a + 8 + 4 * i) as *mut u32) = c };
        }
        a | TAG_OBJECT
    }
    /// A string of `n` characters, whatever they are.
    pub fn blank_string(&mut self, n: u64) -> u64 {
        let h = header(Type::String, 0, n);
        let a = self.alloc(object_bytes(h), AllocKind::Leaf);
        put(a, 0, h);
        a | TAG_OBJECT
    }
    /// A closure of `n` free variables, 1 to 6.
    pub fn closure(&mut self, n: u64, fill: u64) -> u64 {
        let a = self.alloc(8 * (n + 1), AllocKind::Procedure);
        put(a, 0, CODES[n as usize + 1].address());
        for i in 1..=n {
            put(a, i, fill);
        }
        a | TAG_PROCEDURE
    }
    /// A continuation over words `from..to` of a chunk.
    pub fn continuation(&mut self, chunk: u64, from: u64, to: u64, next: u64) -> u64 {
        let a = self.alloc(8 * continuation::LEN, AllocKind::Procedure);
        put(a, continuation::CODE, CONTINUATION.address());
        put(a, continuation::CHUNK, chunk);
        put(a, continuation::SP, chunk + 8 * from);
        put(a, continuation::BASE, chunk + 8 * to);
        put(a, continuation::NEXT, next);
        put(a, continuation::WINDERS, NIL);
        put(a, continuation::STATE, continuation::state::SHARED);
        a | TAG_PROCEDURE
    }
    /// A store with write barrier, into word `i` of an object.
    pub fn set(&mut self, object: u64, i: u64, value: u64) {
        let slot = (object & !7) + 8 * i;
        unsafe { *(slot as *mut u64) = value };
        self.heap.mark_card(slot);
    }
    /// A list of the fixnums `0..n`, kept in root 0 while growing.
    pub fn list(&mut self, n: i64) -> Result<u64, OutOfMemory> {
        let root = self.roots.words.len();
        self.roots.words.push(NIL);
        for i in (0..n).rev() {
            self.check(16)?;
            let p = self.inline_cons(fix(i), self.roots.words[root]);
            self.roots.words[root] = p;
        }
        Ok(self.roots.words.pop().unwrap())
    }
}

/// Stores without barrier: initialisation.
pub fn put(address: u64, i: u64, word: u64) {
    unsafe { *((address + 8 * i) as *mut u64) = word }
}

/// Word `i` of an object.
pub fn get(object: u64, i: u64) -> u64 {
    unsafe { *(((object & !7) + 8 * i) as *const u64) }
}

/// Asserts that this is the list `0..n`.
pub fn assert_list(mut list: u64, n: i64) {
    for i in 0..n {
        assert_eq!(list & 7, TAG_PAIR, "at {i}");
        assert_eq!(get(list, 0), fix(i));
        list = get(list, 1);
    }
    assert_eq!(list, NIL);
}

/// Resident memory of this process in bytes.
pub fn resident() -> u64 {
    let s = std::fs::read_to_string("/proc/self/statm").unwrap();
    s.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// A small generator of pseudo-random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
