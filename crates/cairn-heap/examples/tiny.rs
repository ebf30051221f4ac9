//! A mark-sweep collector of a hundred lines, as docs/add-a-collector.md builds it up: on the interfaces of this crate,
//! for any object model and any client. Run it: `cargo run --release -p cairn-heap --example tiny`.
#![allow(unsafe_code)]

// step 1: memory
use cairn_heap::model::{ObjectReference, RefKind};
use cairn_heap::{Address, AmbiguousVisitor, Client, ObjectModel, RootVisitor};

const CELL_WORDS: usize = 4;
const CELLS: usize = 1024;

/// Cells of one size. A cell is in use, or free and its first word is the number of the next free one.
pub struct Tiny<M> {
    model: M,
    cells: Box<[[u64; CELL_WORDS]]>,
    marks: Box<[bool]>,
    free: usize,
    budget: usize,
}

const NONE: usize = usize::MAX;

impl<M: ObjectModel> Tiny<M> {
    /// An empty heap.
    pub fn new(model: M) -> Tiny<M> {
        let mut tiny = Tiny {
            model,
            cells: vec![[0; CELL_WORDS]; CELLS].into_boxed_slice(),
            marks: vec![false; CELLS].into_boxed_slice(),
            free: NONE,
            budget: 0,
        };
        tiny.sweep();
        tiny
    }
}

// step 2: allocation
impl<M: ObjectModel> Tiny<M> {
    /// The heap check: is there room for so many objects? Here, and nowhere else, is a collection.
    pub fn safepoint<C: Client>(&mut self, objects: usize, client: &mut C) -> bool {
        if self.budget < objects {
            self.collect(client);
        }
        self.budget >= objects
    }

    /// Memory for an object, after a heap check. Never collects. All of its words are to be set at once.
    pub fn alloc(&mut self, bytes: u64) -> Address {
        assert!(bytes as usize <= 8 * CELL_WORDS && self.budget > 0, "no heap check");
        self.budget -= 1;
        let cell = &mut self.cells[self.free];
        self.free = cell[0] as usize;
        Address(cell.as_ptr() as u64)
    }
}

// step 3: marking
struct Marker<'a> {
    base: u64,
    marks: &'a mut [bool],
    grey: Vec<u64>,
}

impl Marker<'_> {
    /// The cell that an address lies in.
    fn cell(&self, a: Address) -> Option<usize> {
        let i = a.0.wrapping_sub(self.base) as usize / (8 * CELL_WORDS);
        (i < self.marks.len()).then_some(i)
    }
    fn reach<M: ObjectModel>(&mut self, word: u64) {
        let Some(r) = ObjectReference::from_word::<M>(word) else { return };
        let Some(i) = self.cell(r.address()) else { return };
        if !std::mem::replace(&mut self.marks[i], true) {
            self.grey.push(word);
        }
    }
}

/// A visitor knows the object model, too.
struct Visitor<'a, 'b, M>(&'b mut Marker<'a>, std::marker::PhantomData<M>);

impl<M: ObjectModel> RootVisitor for Visitor<'_, '_, M> {
    unsafe fn slot(&mut self, slot: *mut u64) {
        // SAFETY: `slot` is a valid word, as `RootVisitor::slot` demands of whoever calls it. Nothing moves, so nothing
        // is written.
        self.0.reach::<M>(unsafe { *slot });
    }
    fn mark_chunk(&mut self, _: Address) {
        unreachable!("there are no stack chunks in this heap")
    }
}

impl<M: ObjectModel> AmbiguousVisitor for Visitor<'_, '_, M> {
    fn ambiguous(&mut self, _: u64) {
        unreachable!("this heap's clients know their roots")
    }
}

// step 4: collection
impl<M: ObjectModel> Tiny<M> {
    fn collect<C: Client>(&mut self, client: &mut C) {
        const { assert!(!C::AMBIGUOUS && !M::AMBIGUOUS) };
        let base = self.cells.as_ptr() as u64;
        let mut marker = Marker { base, marks: &mut self.marks, grey: Vec::new() };
        client.visit_roots(&mut Visitor::<M>(&mut marker, std::marker::PhantomData));
        while let Some(word) = marker.grey.pop() {
            let (a, kind) = (M::address(word), M::kind(word));
            let mut visitor = Visitor::<M>(&mut marker, std::marker::PhantomData);
            // SAFETY: `word` was reached as a reference to an object of this heap, whose words are initialised.
            unsafe {
                if kind == RefKind::Pair {
                    visitor.words(a.words(), 2);
                    continue;
                }
                let m = self.model.measure(kind, a.load());
                if !m.leaf {
                    let whole = cairn_heap::address::Span::new(a, a.plus(m.bytes));
                    self.model.scan(a, m.bytes, whole, &mut visitor);
                }
            }
        }
        self.sweep();
    }

    /// What is unmarked is free.
    fn sweep(&mut self) {
        (self.free, self.budget) = (NONE, 0);
        for i in (0..CELLS).rev() {
            if !std::mem::take(&mut self.marks[i]) {
                self.cells[i][0] = std::mem::replace(&mut self.free, i) as u64;
                self.budget += 1;
            }
        }
    }
}

// step 5: a client
use cairn_heap::Scheme;
use cairn_layout::Value;
use cairn_layout::value::TAG_PAIR;

struct Program {
    list: u64,
}

impl Client for Program {
    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        // SAFETY: `self.list` is a word that holds a value: a reference to a pair that lives, or none.
        unsafe { v.slot(&raw mut self.list) }
    }
    fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
}

/// Ten thousand times a list of a hundred numbers, in room for a thousand pairs.
pub fn main() {
    let mut heap = Tiny::new(Scheme);
    let mut p = Program { list: Value::NIL.0 };
    for round in 0..10_000 {
        p.list = Value::NIL.0;
        for i in 0..100 {
            assert!(heap.safepoint(1, &mut p), "out of memory");
            let a = heap.alloc(16);
            // SAFETY: `alloc` has just given the two words of a pair.
            unsafe {
                a.store(Value::fixnum(round + i).0);
                a.plus(8).store(p.list);
            }
            p.list = a.0 | TAG_PAIR;
        }
        let (mut sum, mut l) = (0, p.list);
        while l != Value::NIL.0 {
            // SAFETY: `l` is a pair of the list, which lives.
            let (car, cdr) = unsafe { (Scheme::address(l).load(), Scheme::address(l).plus(8).load()) };
            (sum, l) = (sum + Value(car).as_fixnum(), cdr);
        }
        assert_eq!(sum, 100 * round + 4950, "a pair was lost");
    }
    println!("one million pairs in {CELLS} cells");
}
// end
