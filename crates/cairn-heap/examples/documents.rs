//! A store of documents: values as JSON has them, with an object model of their own, on the collectors of this crate.
//! Run it: `cargo run --release -p cairn-heap --example documents`.
//!
//! The problem: a language's values live in a heap whose collectors know nothing of them. The idea: [`Json`] says what
//! a word and an object mean, [`Stack`] shows the roots, and [`Store`] allocates, reads and writes. The invariants:
//! only [`Store::allocate`] collects, so what is to survive it is on the stack, not in a variable; an object is filled
//! right after it was allocated; each later store of a reference marks the card of its slot.
//!
//! ```text
//!  word    …000 an integer (61 bits)   …001 a reference   …010 a header   …100 null, true, false
//!  array   header │ value │ value │ …
//!  object  header │ key │ value │ key │ value │ …
//!  text    header │ bytes …                                        (a leaf: collectors do not look into it)
//!  header  count << 8 │ shape << 3 │ 010                           (words, or bytes of a text)
//! ```
//!
//! Numbers are integers and texts have no `\u`: enough to show a heap.
#![allow(unsafe_code)]

use cairn_heap::address::{Span, WORD};
use cairn_heap::blocks::POISON;
use cairn_heap::model::{Described, Measure, RefKind};
use cairn_heap::{
    Address, AllocKind, AmbiguousVisitor, Client, Cursors, Heap, HeapConfig, HeapError, ObjectModel, OutOfMemory,
    Request, RootVisitor,
};
use cairn_layout::facts::{GEN, MARKSWEEP, MCC};
use cairn_layout::limits::CHECK_RESERVE;

// What words and objects are.

const TAGS: u64 = 0b111;
const REFERENCE: u64 = 0b001;
const HEADER: u64 = 0b010;
const fn constant(n: u64) -> u64 {
    n << 3 | 0b100
}
const NULL: u64 = constant(0);
const FALSE: u64 = constant(1);
const TRUE: u64 = constant(2);

const ARRAY: u64 = 0;
const OBJECT: u64 = 1;
const TEXT: u64 = 2;

fn integer(n: i64) -> u64 {
    (n << 3) as u64
}
fn header(shape: u64, count: u64) -> u64 {
    count << 8 | shape << 3 | HEADER
}
fn shape(header: u64) -> u64 {
    header >> 3 & 0b11
}
fn count(header: u64) -> u64 {
    header >> 8
}
/// The header and at least one word.
fn bytes(shape: u64, count: u64) -> u64 {
    let words = if shape == TEXT { count.div_ceil(WORD) } else { count };
    WORD + words.max(1) * WORD
}

/// The object model.
pub struct Json;

impl ObjectModel for Json {
    const PAIR_MOVED: u64 = constant(3);
    const BROKEN: u64 = constant(4);
    const SELF_DESCRIBING: bool = true;
    const AMBIGUOUS: bool = false;

    fn is_reference(word: u64) -> bool {
        word & TAGS == REFERENCE
    }
    fn is_pair(_: u64) -> bool {
        false
    }
    fn is_object(_: u64) -> bool {
        true
    }
    fn address(reference: u64) -> Address {
        Address(reference & !TAGS)
    }
    fn pair_address(reference: u64) -> Address {
        Json::address(reference)
    }
    fn reference(a: Address, _: RefKind) -> u64 {
        a.0 | REFERENCE
    }
    fn moved(_: RefKind, first: u64) -> Option<u64> {
        Json::is_reference(first).then_some(first)
    }
    unsafe fn measure(&self, _: RefKind, first: u64) -> Measure {
        Measure { bytes: bytes(shape(first), count(first)), leaf: shape(first) == TEXT, continuation: false }
    }
    fn kind_of(_: u64) -> RefKind {
        RefKind::Object
    }
    unsafe fn scan<V: RootVisitor + AmbiguousVisitor>(&self, a: Address, bytes: u64, part: Span, visitor: &mut V) {
        let part = Span::new(a, a.plus(bytes)).intersection(part);
        // SAFETY: an object of `bytes` bytes is at `a` (`# Safety` of the trait), and `part` is cut to it; every word
        // says itself whether it is a reference.
        unsafe { visitor.words(part.start.words(), (part.bytes() / WORD) as usize) }
    }
    fn is_prefixed(_: RefKind) -> bool {
        false
    }
    fn describe(&self, meta: u64) -> Described {
        let (shape, count) = (shape(meta), count(meta));
        Described { kind: RefKind::Object, whole: bytes(shape, count), leaf: shape == TEXT, untyped: false }
    }
    fn stray(word: u64) -> Option<&'static str> {
        (word == POISON).then_some("freed memory")
    }
    unsafe fn audit(&self, a: Address) -> Result<(RefKind, Measure), String> {
        // SAFETY: the word at `a` is initialised (`# Safety` of the trait).
        let first = unsafe { a.load() };
        if first == POISON || first & TAGS != HEADER || shape(first) > TEXT || count(first) >= 1 << 32 {
            return Err(format!("no header ({first:#x})"));
        }
        // SAFETY: `first` was found to be a header above, which is all that `measure` looks at.
        Ok((RefKind::Object, unsafe { self.measure(RefKind::Object, first) }))
    }
}

/// The roots: values at work, from the bottom to the top.
#[derive(Default)]
struct Stack(Vec<u64>);

impl Client for Stack {
    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        // SAFETY: all words of the vector are values, to objects that live if they are references.
        unsafe { v.words(self.0.as_mut_ptr(), self.0.len()) }
    }
    fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
}

/// Why there is no document.
#[derive(Debug)]
enum Failure {
    /// The text is no JSON from this byte on.
    Syntax(usize),
    /// The heap is full. It is intact, and goes on when something was dropped.
    Memory(OutOfMemory),
}

impl From<OutOfMemory> for Failure {
    fn from(e: OutOfMemory) -> Failure {
        Failure::Memory(e)
    }
}

/// See the file's header. Documents are on the stack.
struct Store {
    heap: Heap<Json>,
    cursors: Cursors,
    stack: Stack,
}

impl Store {
    fn new(config: HeapConfig) -> Result<Store, HeapError> {
        let mut heap = Heap::new(Json, config)?;
        let cursors = heap.current();
        Ok(Store { heap, cursors, stack: Stack::default() })
    }

    /// A new object, to be filled at once; first, when it is time, a collection.
    fn allocate(&mut self, shape: u64, count: u64) -> Result<Address, OutOfMemory> {
        let need = self.heap.facts().checked_bytes(2 * WORD + CHECK_RESERVE);
        if self.cursors.room() < need {
            self.heap.safepoint(&mut self.cursors, need, &mut self.stack)?;
        }
        let (bytes, kind) =
            (bytes(shape, count), if shape == TEXT { AllocKind::Leaf } else { AllocKind::Scannable });
        let a = Address(self.heap.alloc(&mut self.cursors, bytes, kind)?);
        // SAFETY: `alloc` has just given `bytes` bytes at `a`. The last word is not filled by all who come here.
        unsafe {
            a.plus(bytes - WORD).store(0);
            a.store(header(shape, count));
        }
        Ok(a)
    }

    /// An array, or an object, of the values from `base` on takes their place.
    fn gather(&mut self, shape: u64, base: usize) -> Result<(), Failure> {
        let a = self.allocate(shape, (self.stack.0.len() - base) as u64)?;
        for (i, word) in self.stack.0.drain(base..).enumerate() {
            // SAFETY: `allocate` made room for as many words as `drain` gives, behind the header.
            unsafe { a.plus((1 + i as u64) * WORD).store(word) }
        }
        self.stack.0.push(Json::reference(a, RefKind::Object));
        Ok(())
    }

    /// Pushes the document that the text is. On a failure the stack is as it was.
    fn parse(&mut self, text: &str) -> Result<(), Failure> {
        let (base, mut at) = (self.stack.0.len(), 0);
        let text = text.as_bytes();
        let outcome = self.value(text, &mut at).and_then(|()| match next(text, &mut at) {
            None => Ok(()),
            Some(_) => Err(Failure::Syntax(at)),
        });
        if outcome.is_err() {
            self.stack.0.truncate(base);
        }
        outcome
    }

    fn value(&mut self, text: &[u8], at: &mut usize) -> Result<(), Failure> {
        let first = next(text, at).ok_or(Failure::Syntax(*at))?;
        for (name, word) in [("null", NULL), ("false", FALSE), ("true", TRUE)] {
            if text[*at..].starts_with(name.as_bytes()) {
                *at += name.len();
                self.stack.0.push(word);
                return Ok(());
            }
        }
        match first {
            b'"' => self.text(text, at),
            b'[' => self.items(text, at, b']', ARRAY),
            b'{' => self.items(text, at, b'}', OBJECT),
            _ => {
                let rest = &text[*at..];
                let end = rest.iter().position(|c| !c.is_ascii_digit() && *c != b'-').unwrap_or(rest.len());
                let n = std::str::from_utf8(&rest[..end]).ok().and_then(|n| n.parse::<i64>().ok());
                let n = n.filter(|n| n << 3 >> 3 == *n).ok_or(Failure::Syntax(*at))?;
                self.stack.0.push(integer(n));
                *at += end;
                Ok(())
            }
        }
    }

    /// What stands in brackets: values, or keys and values.
    fn items(&mut self, text: &[u8], at: &mut usize, close: u8, shape: u64) -> Result<(), Failure> {
        let base = self.stack.0.len();
        *at += 1;
        if !accept(text, at, close) {
            loop {
                if shape == OBJECT {
                    if next(text, at) != Some(b'"') {
                        return Err(Failure::Syntax(*at));
                    }
                    self.text(text, at)?;
                    if !accept(text, at, b':') {
                        return Err(Failure::Syntax(*at));
                    }
                }
                self.value(text, at)?;
                if accept(text, at, close) {
                    break;
                }
                if !accept(text, at, b',') {
                    return Err(Failure::Syntax(*at));
                }
            }
        }
        self.gather(shape, base)
    }

    fn text(&mut self, text: &[u8], at: &mut usize) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        loop {
            *at += 1;
            match text.get(*at) {
                None => return Err(Failure::Syntax(*at)),
                Some(b'"') => break,
                Some(b'\\') => {
                    *at += 1;
                    bytes.push(match text.get(*at) {
                        Some(b'n') => b'\n',
                        Some(c @ (b'"' | b'\\' | b'/')) => *c,
                        _ => return Err(Failure::Syntax(*at)),
                    });
                }
                Some(c) => bytes.push(*c),
            }
        }
        *at += 1;
        let a = self.allocate(TEXT, bytes.len() as u64)?;
        // SAFETY: `allocate` made room for `bytes.len()` bytes behind the header.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), a.plus(WORD).bytes(), bytes.len()) };
        self.stack.0.push(Json::reference(a, RefKind::Object));
        Ok(())
    }

    /// Where the value of this key of an object is.
    fn slot(&self, object: u64, key: &str) -> Option<Address> {
        let at = |i| Json::address(object).plus((1 + i) * WORD);
        let i = (0..fields(object)).step_by(2).find(|&i| contents(word(at(i))) == key.as_bytes())?;
        Some(at(i + 1))
    }
    /// The value of this key.
    fn get(&self, object: u64, key: &str) -> Option<u64> {
        self.slot(object, key).map(word)
    }
    /// The key gets the value on top of the stack, which is popped; false: the object does not have it.
    fn set(&mut self, object: u64, key: &str) -> bool {
        let (slot, value) = (self.slot(object, key), self.stack.0.pop());
        let (Some(slot), Some(value)) = (slot, value) else { return false };
        // SAFETY: `slot` is the address of a word of an object that lives.
        unsafe { slot.store(value) };
        self.heap.mark_card(slot.0); // the object may be old, the value young
        true
    }

    /// Everything that lives is in order; the number of objects.
    fn objects(&mut self) -> u64 {
        self.heap.check(self.cursors, &mut self.stack).expect("a heap in order").objects
    }
    fn collect(&mut self, request: Request) -> Result<(), OutOfMemory> {
        self.heap.collect(&mut self.cursors, &mut self.stack, request)
    }
}

/// The next byte that is not white.
fn next(text: &[u8], at: &mut usize) -> Option<u8> {
    *at += text[*at..].iter().take_while(|c| c.is_ascii_whitespace()).count();
    text.get(*at).copied()
}
/// Passes this byte if it is the next.
fn accept(text: &[u8], at: &mut usize, byte: u8) -> bool {
    let there = next(text, at) == Some(byte);
    *at += there as usize;
    there
}
fn word(a: Address) -> u64 {
    // SAFETY: callers have `a` from a reference to an object that lives: it is one of its words.
    unsafe { a.load() }
}
fn fields(object: u64) -> u64 {
    count(word(Json::address(object)))
}
/// The bytes of a text, good until the next allocation.
fn contents<'a>(text: u64) -> &'a [u8] {
    let a = Json::address(text);
    // SAFETY: a text has as many bytes as its header says.
    unsafe { std::slice::from_raw_parts(a.plus(WORD).bytes(), count(word(a)) as usize) }
}

/// A value as JSON.
fn show(value: u64, out: &mut String) {
    match value {
        NULL => *out += "null",
        FALSE => *out += "false",
        TRUE => *out += "true",
        _ if !Json::is_reference(value) => *out += &((value as i64) >> 3).to_string(),
        _ => match shape(word(Json::address(value))) {
            TEXT => {
                let text = String::from_utf8_lossy(contents(value));
                *out += &format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
            }
            kind => {
                out.push(if kind == ARRAY { '[' } else { '{' });
                for i in 0..fields(value) {
                    *out += match i {
                        0 => "",
                        i if kind == OBJECT && i % 2 == 1 => ":",
                        _ => ",",
                    };
                    show(word(Json::address(value).plus((1 + i) * WORD)), out);
                }
                out.push(if kind == ARRAY { ']' } else { '}' });
            }
        },
    }
}
fn shown(value: u64) -> String {
    let mut out = String::new();
    show(value, &mut out);
    out
}

/// What a program does with a store: reads, changes, drops, runs out of memory and goes on.
fn work(config: HeapConfig) {
    const CATALOGUE: &str = r#"{"name":"a \"small\" one","items":[1,-2,[],{},true,null,"ünï"],"last":false}"#;
    let mut store = Store::new(HeapConfig { heap_max: Some(8 << 20), ..config }).expect("a heap");

    store.parse(CATALOGUE).expect("a document");
    assert_eq!(shown(store.stack.0[0]), CATALOGUE);
    for (wrong, place) in [("[1,", 3), ("{\"a\" 1}", 5), ("[1] 2", 4), ("\"", 1), ("9223372036854775807", 0)] {
        assert!(matches!(store.parse(wrong), Err(Failure::Syntax(at)) if at == place), "{wrong}");
    }

    // Changes: the catalogue is old by now, what it refers to is not.
    for round in 0..2000 {
        store
            .parse(&format!("{{\"round\":{round},\"squares\":[{},{}]}}", round * round, "7,".repeat(40) + "7"))
            .expect("room: the last one is dropped");
        let catalogue = store.stack.0[0];
        assert!(store.set(catalogue, "last"));
        if round % 500 == 499 {
            store.collect(if round % 1000 == 499 { Request::Minor } else { Request::Major }).expect("room");
        }
        let last = store.get(store.stack.0[0], "last").expect("a key");
        assert_eq!(store.get(last, "round"), Some(integer(round)));
    }

    // An object's death is noticed.
    store.parse("[[\"short-lived\"]]").expect("a document");
    let weak = store.heap.make_weak_handle(store.stack.0[1]);
    store.collect(Request::Major).expect("room");
    assert_eq!(store.heap.weak_handle(weak), Some(store.stack.0[1]));
    store.stack.0.truncate(1);
    store.collect(Request::Major).expect("room");
    assert_eq!(store.heap.weak_handle(weak), None);
    store.heap.free_weak_handle(weak);

    // A heap that is full says so; what is dropped makes room.
    let page = format!("[{}]", "\"text of some length\",".repeat(3000) + "0");
    let full = loop {
        match store.parse(&page) {
            Ok(()) => assert!(store.stack.0.len() < 200, "8 MB do not hold that many"),
            Err(failure) => break failure,
        }
    };
    assert!(matches!(&full, Failure::Memory(e) if e.heap_max == 8 << 20), "{full:?}");
    assert!(store.stack.0.len() > 10, "{full:?} after {} pages", store.stack.0.len());
    assert_eq!(shown(store.stack.0[9]), page);
    store.stack.0.truncate(1);
    store.collect(Request::Major).expect("room");
    // The catalogue: itself, its array of three, three keys, two texts; in it the last: itself, an array, two keys.
    assert_eq!(store.objects(), 1 + 3 + 3 + 2 + 4);
    store.parse(&page).expect("there is room again");
    println!("{:10} {}", store.heap.facts().name, store.heap.stats());
}

/// Does the work with each collector, also with one that checks itself.
pub fn main() {
    for collector in [&GEN, &MCC, &MARKSWEEP] {
        work(HeapConfig { collector, ..HeapConfig::default() });
        work(HeapConfig { collector, ..HeapConfig::zealous() });
    }
}
