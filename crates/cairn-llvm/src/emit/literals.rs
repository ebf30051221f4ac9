//! Constants of the program as static data.
//!
//! ```text
//!  fixnum, char, #t, self-tagged flonum …   a word in the code
//!  string, bytevector, bignum, boxed flonum leaf: its own constant, never scanned
//!  pair, vector, ratnum, compnum            words of one array @cairn_literals: roots (programs mutate them)
//!  symbol                                   a load from @cairn_symbols
//! ```
//!
//! Inside the array, symbols, pairs and objects are placeholders, replaced at load: an array of plain numbers costs
//! LLVM a tenth of one of addresses, and a quoted list may be long.
//!
//! A literal that occurs several times as the same shared node is emitted once, so `eq?` on it holds. Equal short
//! strings are shared as well: they are immutable.

use super::ir_text::{Val, escape};
use cairn_core::deep;
use cairn_core::ir::Literal;
use cairn_layout::module::{NODE_PLACEHOLDER, SYMBOL_PLACEHOLDER};
use cairn_layout::object::numeric::NumericKind;
use cairn_layout::object::{FLAG_LITERAL, FLAG_NEGATIVE, Type, header};
use cairn_layout::value::{TAG_OBJECT, TAG_PAIR, Value as Word};
use cairn_num::{Int, Number};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

/// A constant, placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lit {
    /// An immediate word.
    Word(u64),
    /// Leaf object number.
    Leaf(usize),
    /// Word index into the literal array, and tag.
    Node(usize, u64),
    /// Symbol number.
    Symbol(usize),
}

impl Lit {
    /// The constant expression of the value; not for symbols.
    pub(crate) fn constant(self) -> Val {
        match self {
            Lit::Word(w) => Val::word(w),
            Lit::Leaf(i) => {
                Val::text(format!("add (i64 ptrtoint (ptr @cairn_leaf.{i} to i64), i64 {TAG_OBJECT})"))
            }
            Lit::Node(i, tag) => {
                Val::text(format!("add (i64 ptrtoint (ptr @cairn_literals to i64), i64 {})", 8 * i as u64 + tag))
            }
            Lit::Symbol(_) => unreachable!("a symbol is loaded"),
        }
    }

    /// The word in the literal array, before the module is loaded.
    fn element(self) -> Val {
        match self {
            Lit::Word(_) | Lit::Leaf(_) => self.constant(),
            Lit::Node(i, tag) => Val::word((8 * i as u64 + tag) << 8 | NODE_PLACEHOLDER),
            Lit::Symbol(i) => Val::word((i as u64) << 8 | SYMBOL_PLACEHOLDER),
        }
    }
}

/// All constants of a module.
#[derive(Default)]
pub(crate) struct Literals {
    words: Vec<Lit>,
    leaves: Vec<String>,
    symbols: Vec<Rc<str>>,
    symbol_index: HashMap<Rc<str>, usize>,
    /// By address of the shared node: nodes outlive the emission.
    shared: HashMap<*const u8, Lit>,
    strings: HashMap<Rc<str>, Lit>,
}

/// Strings up to this many bytes are shared when equal.
const SHARED_STRING_BYTES: usize = 64;

impl Literals {
    /// Number of words of the literal array.
    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }
    /// Names of all symbols.
    pub(crate) fn symbols(&self) -> &[Rc<str>] {
        &self.symbols
    }

    /// Number of a symbol.
    pub(crate) fn symbol(&mut self, name: &Rc<str>) -> usize {
        if let Some(&i) = self.symbol_index.get(name) {
            return i;
        }
        self.symbols.push(name.clone());
        self.symbol_index.insert(name.clone(), self.symbols.len() - 1);
        self.symbols.len() - 1
    }

    /// Places a constant.
    pub(crate) fn value(&mut self, l: &Literal) -> Lit {
        match l {
            Literal::Char(c) => Lit::Word(Word::char(*c as u32).0),
            Literal::Bool(b) => Lit::Word(Word::bool(*b).0),
            Literal::Nil => Lit::Word(Word::NIL.0),
            Literal::Unspecified => Lit::Word(Word::UNSPECIFIED.0),
            Literal::Eof => Lit::Word(Word::EOF.0),
            Literal::Default => Lit::Word(Word::DEFAULT.0),
            Literal::Unbound => Lit::Word(Word::UNBOUND.0),
            Literal::Number(n) => self.number(n),
            Literal::Symbol(s) => Lit::Symbol(self.symbol(s)),
            Literal::String(s) => self.string(s),
            Literal::Bytes(b) => self.packed(NumericKind::U8, b),
            Literal::Numbers(kind, b) => self.packed(*kind, b),
            Literal::Pair(p) => self.pair(p),
            Literal::Vector(v) => self.shared(v.as_ptr().cast(), |t| {
                let items: Vec<Lit> = deep(|| v.iter().map(|l| t.value(l)).collect());
                t.node(Type::Vector, items)
            }),
        }
    }

    /// A bytevector or another numeric vector.
    fn packed(&mut self, kind: NumericKind, b: &Rc<[u8]>) -> Lit {
        self.shared(b.as_ptr().cast(), |t| {
            let h = kind.header(true, (b.len() >> kind.shift()) as u64);
            let padding = padding(b.len());
            t.leaf(format!(
                "<{{ i64, [{} x i8] }}> <{{ i64 {h}, [{} x i8] c\"{}{}\" }}>",
                b.len() + padding,
                b.len() + padding,
                escape(b),
                "\\00".repeat(padding)
            ))
        })
    }

    fn shared(&mut self, key: *const u8, make: impl FnOnce(&mut Self) -> Lit) -> Lit {
        if let Some(l) = self.shared.get(&key) {
            return *l;
        }
        let l = make(self);
        self.shared.insert(key, l);
        l
    }

    /// A list is placed along its spine without recursion; other nesting is bounded by memory only.
    fn pair(&mut self, p: &Rc<(Literal, Literal)>) -> Lit {
        let key = |p: &Rc<(Literal, Literal)>| Rc::as_ptr(p).cast::<u8>();
        if let Some(l) = self.shared.get(&key(p)) {
            return *l;
        }
        let (mut cell, first) = (p, self.words.len());
        let mut at = first;
        loop {
            self.words.extend([Lit::Word(0), Lit::Word(0)]);
            self.shared.insert(key(cell), Lit::Node(at, TAG_PAIR));
            let car = deep(|| self.value(&cell.0));
            self.words[at] = car;
            match &cell.1 {
                Literal::Pair(next) if !self.shared.contains_key(&key(next)) => {
                    let below = self.words.len();
                    self.words[at + 1] = Lit::Node(below, TAG_PAIR);
                    (cell, at) = (next, below);
                }
                other => {
                    let cdr = self.value(other);
                    self.words[at + 1] = cdr;
                    return Lit::Node(first, TAG_PAIR);
                }
            }
        }
    }

    fn node(&mut self, t: Type, items: Vec<Lit>) -> Lit {
        let at = self.words.len();
        self.words.push(Lit::Word(header(t, 0, items.len() as u64)));
        if items.is_empty() {
            self.words.push(Lit::Word(0));
        }
        self.words.extend(items);
        Lit::Node(at, TAG_OBJECT)
    }

    fn leaf(&mut self, text: String) -> Lit {
        self.leaves.push(text);
        Lit::Leaf(self.leaves.len() - 1)
    }

    fn string(&mut self, s: &Rc<str>) -> Lit {
        if let Some(l) = self.strings.get(s) {
            return *l;
        }
        let l = self.shared(s.as_ptr(), |t| {
            let chars: Vec<u32> = s.chars().map(|c| c as u32).collect();
            let n = (chars.len() + chars.len() % 2).max(2);
            let mut text = format!(
                "<{{ i64, [{n} x i32] }}> <{{ i64 {}, [{n} x i32] [",
                header(Type::String, FLAG_LITERAL, chars.len() as u64)
            );
            for i in 0..n {
                let comma = if i == 0 { "" } else { ", " };
                let _ = write!(text, "{comma}i32 {}", chars.get(i).copied().unwrap_or(0));
            }
            text.push_str("] }>");
            t.leaf(text)
        });
        if s.len() <= SHARED_STRING_BYTES {
            self.strings.insert(s.clone(), l);
        }
        l
    }

    fn integer(&mut self, i: &Int) -> Lit {
        match i {
            Int::Fix(i) => Lit::Word(Word::fixnum(*i).0),
            Int::Big { negative, limbs } => {
                let flag = if *negative { FLAG_NEGATIVE } else { 0 };
                let mut text =
                    format!("[{} x i64] [i64 {}", limbs.len() + 1, header(Type::Bignum, flag, limbs.len() as u64));
                for l in limbs {
                    let _ = write!(text, ", i64 {}", *l as i64);
                }
                text.push(']');
                self.leaf(text)
            }
        }
    }

    fn number(&mut self, n: &Number) -> Lit {
        match n {
            Number::Int(i) => self.integer(i),
            Number::Ratio(a, b) => {
                let items = vec![self.integer(a), self.integer(b)];
                self.node(Type::Ratnum, items)
            }
            Number::Flo(x) => match Word::try_flonum(*x) {
                Some(w) => Lit::Word(w.0),
                None => self.leaf(format!(
                    "[2 x i64] [i64 {}, i64 {}]",
                    header(Type::Flonum, 0, 1),
                    x.to_bits() as i64
                )),
            },
            Number::Complex(a, b) => {
                let items = vec![self.number(a), self.number(b)];
                self.node(Type::Compnum, items)
            }
        }
    }

    /// Definitions of all constants.
    pub(crate) fn emit(&self, out: &mut String) {
        for (i, text) in self.leaves.iter().enumerate() {
            let _ = writeln!(out, "@cairn_leaf.{i} = internal constant {text}, align 8");
        }
        let n = self.words.len();
        let _ = write!(out, "@cairn_literals = internal global [{n} x i64] [");
        for (i, l) in self.words.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}i64 {}", l.element());
        }
        let _ = writeln!(out, "], align 16");
    }
}

/// Bytes that fill `n` bytes up to whole words, at least one word.
fn padding(n: usize) -> usize {
    n.next_multiple_of(8).max(8) - n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[Literal]) -> Literal {
        items.iter().rev().fold(Literal::Nil, |tail, l| Literal::Pair(Rc::new((l.clone(), tail))))
    }

    #[test]
    fn shared_nodes_are_placed_once() {
        let l = list(&[Literal::Bool(true), Literal::Char('x')]);
        let mut t = Literals::default();
        let a = t.value(&l);
        assert_eq!(t.value(&l), a);
        assert_eq!(t.word_count(), 4);
        assert_eq!(t.value(&list(&[Literal::Nil])), Lit::Node(4, TAG_PAIR));
    }

    #[test]
    fn long_lists_need_no_stack() {
        let l = list(&vec![Literal::Nil; 20_000]);
        let mut t = Literals::default();
        t.value(&l);
        assert_eq!(t.word_count(), 40_000);
    }

    #[test]
    fn nesting_is_bounded_by_memory_only() {
        let mut l = Literal::Nil;
        for i in 0..200_000 {
            l = if i % 2 == 0 { Literal::Pair(Rc::new((l, Literal::Nil))) } else { Literal::Vector([l].into()) };
        }
        let mut t = Literals::default();
        t.value(&l);
        assert_eq!(t.word_count(), 400_000);
    }

    #[test]
    fn leaves_have_padding_and_symbols_placeholders() {
        let mut t = Literals::default();
        assert_eq!(t.value(&Literal::Bytes(Rc::from([1u8, 2, 3].as_slice()))), Lit::Leaf(0));
        assert!(t.leaves[0].contains("[8 x i8] c\"\\01\\02\\03\\00\\00\\00\\00\\00\""), "{}", t.leaves[0]);
        let v = t.value(&Literal::Vector(Rc::from([Literal::Symbol("a".into())].as_slice())));
        assert_eq!(v, Lit::Node(0, TAG_OBJECT));
        assert_eq!(t.words[1].element(), Val::word(SYMBOL_PLACEHOLDER));
    }
}
