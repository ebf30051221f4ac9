//! Messages: objects on their way from one heap to another.
//!
//! The problem: runtimes share no heap, and no two collectors may see one object. The idea: a message is a copy outside
//! of all heaps, made by the sender (*frozen*), from which the receiver makes objects (*thawed*). It has a *node* for
//! each object; all words lie in one vector, where a reference is the number of a node. So sharing and cycles come
//! through, nothing is recursive, and both directions are linear.
//!
//! ```text
//!  (a . #0=(b . #0#))     nodes   0 pair │ 1 symbol a │ 2 pair │ 3 symbol b
//!                         words   →1 →2  │ "a"        │ →3 →2  │ "b"
//! ```
//!
//! What is not copied: code addresses, constant leaves and static closures, which all places of a program have in
//! common; literals that are words of a place's own become words at the same place among the receiver's. Symbols travel
//! by name, record types by their number, which is unique in the process. An opaque object that a variable of the
//! program holds is a landmark: libraries compare with it, so the receiver's object of that variable takes its place.
//!
//! What cannot be sent ends a message with the object: ports, continuations, weak objects, and records of types that
//! say so. Where everything must come through, in the copy of a program's variables, something harmless takes the
//! place of these: a closed port, a procedure that raises, a weak object of the same kind, a record as it is.
//!
//! A message with procedures also brings values of variables that some place has none for: the compiler knows that a
//! procedure is not called before what it uses has been defined, and leaves out the tests. So they come to each place
//! once.

use super::family::{Places, globals};
use super::shared::{COMMON, GLOBAL, Kind, LITERAL, Message, NODE, Node};
use crate::access::{self, string_of};
use crate::compact;
use crate::machine::is_continuation;
use crate::port::Port;
use crate::record;
use crate::record_types::{self, Sent};
use crate::runtime::rt;
use crate::structure;
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, shape_words};
use cairn_layout::machine::{Machine, slot};
use cairn_layout::module::ModuleTable;
use cairn_layout::object::{self, Type, table as field};
use cairn_layout::value::{TAG_MASK, TAG_OBJECT};
use rustc_hash::FxHashMap;

/// Freezes one object; the error is an object in it that cannot be sent.
pub fn freeze(ctx: &mut Machine, places: &Places, v: Value) -> Result<Message, Value> {
    let mut f = Freezer::new(ctx, places);
    f.root(v)?;
    if f.has_code {
        let lacked = places.family.lacked_by_others(places.own.as_ref().map(|own| own.id));
        f.strict = false;
        for i in lacked {
            let v = globals(f.module)[i];
            if v != Value::UNBOUND {
                let word = f.word(v.0)?;
                f.message.definitions.push((i, word));
                f.all()?;
            }
        }
    }
    Ok(f.message)
}

/// Freezes what a place begins with: a procedure, then these words, among which everything comes through.
pub fn freeze_program(
    ctx: &mut Machine,
    places: &Places,
    procedure: Value,
    words: impl Iterator<Item = Value>,
) -> Result<Message, Value> {
    let mut f = Freezer::new(ctx, places);
    f.landmarks = Some(FxHashMap::default());
    f.root(procedure)?;
    f.strict = false;
    for v in words {
        f.root(v)?;
    }
    Ok(f.message)
}

struct Freezer<'a> {
    ctx: &'a mut Machine,
    places: &'a Places,
    module: &'a ModuleTable,
    message: Message,
    /// Nodes of the objects met so far, by their words.
    index: FxHashMap<u64, usize>,
    /// How many nodes have been looked into.
    done: usize,
    /// What cannot be sent is an error.
    strict: bool,
    /// There is a procedure in the message.
    has_code: bool,
    /// Globals by the opaque objects they hold, when one has been met.
    landmarks: Option<FxHashMap<u64, usize>>,
}

impl<'a> Freezer<'a> {
    fn new(ctx: &'a mut Machine, places: &'a Places) -> Freezer<'a> {
        Freezer {
            ctx,
            places,
            module: places.module(),
            message: Message::default(),
            index: FxHashMap::default(),
            done: 0,
            strict: true,
            has_code: false,
            landmarks: None,
        }
    }

    fn root(&mut self, v: Value) -> Result<(), Value> {
        let word = self.word(v.0)?;
        self.message.roots.push(word);
        self.all()
    }

    /// Looks into all nodes.
    fn all(&mut self) -> Result<(), Value> {
        while let Some(&node) = self.message.nodes.get(self.done) {
            if node.has_values() {
                for i in node.start..node.start + node.len {
                    self.message.words[i] = self.word(self.message.words[i])?;
                }
            }
            self.done += 1;
        }
        Ok(())
    }

    /// A word, as it is in messages.
    fn word(&mut self, w: u64) -> Result<u64, Value> {
        let v = Value(w);
        if v.is_indirect() {
            let node = match self.index.get(&w) {
                Some(node) => *node,
                None => {
                    let node = self.indirect(v);
                    self.index.insert(w, node);
                    node
                }
            };
            return Ok(NODE | (node as u64) << 3 | TAG_OBJECT);
        }
        if !v.is_pointer() {
            return Ok(w);
        }
        let tag = w & TAG_MASK;
        self.has_code |= v.is_procedure();
        if let Some(node) = self.index.get(&w) {
            return Ok(NODE | (*node as u64) << 3 | tag);
        }
        if !rt(self.ctx).heap.contains(v.address()) {
            let from_literals = w.wrapping_sub(self.module.literals as u64);
            let own = from_literals < 8 * self.module.literal_count;
            return Ok(if own { LITERAL | from_literals } else { COMMON | w });
        }
        let node = if v.is_pair() {
            self.node(Kind::Pair, v.address(), 2)
        } else if v.is_procedure() {
            if is_continuation(v) {
                if self.strict {
                    return Err(v);
                }
                return Ok(COMMON | self.places.gone.0);
            }
            // SAFETY: `v` is a procedure, so its first word is a code address, before which a shape says how many words
            // there are.
            let words = unsafe { shape_words(*((*(v.address() as *const u64) as i64 + SHAPE) as *const u64)) };
            self.node(Kind::Procedure, v.address(), words as usize)
        } else {
            return self.object(v);
        };
        self.index.insert(w, node);
        Ok(NODE | (node as u64) << 3 | tag)
    }

    /// The node of a compact record, or of an element of a structure vector.
    fn indirect(&mut self, v: Value) -> usize {
        if v.is_compact() {
            return self.node_of(Kind::Compact, &compact::parts(v));
        }
        let (storage, offset) = structure::storage_of(self.ctx, v).expect("an element lies in its storage");
        let rtd = record::type_of(v).expect("an element has a type");
        self.node_of(Kind::Element, &[storage.0, offset.0, rtd.0])
    }

    /// A node with the words of an object: `len` of them from `address` on.
    fn node(&mut self, kind: Kind, address: u64, len: usize) -> usize {
        // SAFETY: callers pass the address of a pair, a procedure or an object, and its size in words.
        let words = unsafe { std::slice::from_raw_parts(address as *const u64, len) };
        self.node_of(kind, words)
    }

    fn node_of(&mut self, kind: Kind, words: &[u64]) -> usize {
        let start = self.message.words.len();
        self.message.words.extend_from_slice(words);
        self.message.nodes.push(Node { kind, start, len: words.len() });
        self.message.nodes.len() - 1
    }

    fn object(&mut self, v: Value) -> Result<u64, Value> {
        let header = access::header(v);
        let words = (object::object_bytes(header) / 8) as usize;
        let code = object::header_type_code(header);
        let node = if code == Type::Symbol as u8 {
            self.symbol(v)
        } else if code == Type::Port as u8 {
            self.port(v, words)?
        } else if code == Type::Weak as u8 {
            if self.strict {
                return Err(v);
            }
            self.node(Kind::Weak, v.address(), words)
        } else if object::header_is_leaf(header) {
            self.node(Kind::Leaf, v.address(), words)
        } else if code == Type::Record as u8 {
            self.record(v, header, words)?
        } else {
            if code == Type::Opaque as u8
                && let Some(global) = self.landmark(v)
            {
                return Ok(GLOBAL | (global as u64) << 3 | TAG_OBJECT);
            }
            self.node(Kind::Values, v.address(), words)
        };
        self.index.insert(v.0, node);
        Ok(NODE | (node as u64) << 3 | TAG_OBJECT)
    }

    fn symbol(&mut self, v: Value) -> usize {
        let (name, hash) = (access::word(v, 0), access::word(v, 1));
        let chars = string_of(name).unwrap_or_default();
        if rt(self.ctx).symbols.find(hash.as_fixnum(), |other| other == chars) != Some(v) {
            // One that its name does not lead to.
            return self.node(Kind::Values, v.address(), 1 + object::symbol::LEN as usize);
        }
        let mut words = vec![chars.len() as u64];
        words.extend(chars.chunks(2).map(|c| u64::from(c[0]) | u64::from(*c.get(1).unwrap_or(&0)) << 32));
        self.node_of(Kind::Symbol, &words)
    }

    fn port(&mut self, v: Value, words: usize) -> Result<usize, Value> {
        if self.strict {
            return Err(v);
        }
        let standard = [slot::STDIN, slot::STDOUT, slot::STDERR].into_iter().find(|s| self.ctx.slot(*s) == v);
        Ok(match (standard, Port::of(v).filter(|p| p.fd().is_some())) {
            (Some(slot), _) => self.node_of(Kind::StandardPort, &[slot as u64]),
            (_, Some(port)) => self.node_of(Kind::ClosedPort, &[port.flags() as u64]),
            _ => self.node(Kind::Values, v.address(), words),
        })
    }

    fn record(&mut self, v: Value, header: u64, words: usize) -> Result<usize, Value> {
        if self.places.types.contains(&Value(header)) {
            let Some(shared) = self.places.get(v) else { return Err(v) };
            self.message.shared.push(shared);
            let number = self.message.shared.len() as u64 - 1;
            let node = self.node(Kind::Shared, v.address(), words);
            let start = self.message.nodes[node].start;
            self.message.words[start + 1] = Value::fixnum(number as i64).0;
            return Ok(node);
        }
        let sent = record_types::get(Value(header)).map_or(Sent::Copied, |t| t.sent());
        if sent == Sent::Never && self.strict {
            return Err(v);
        }
        let node = self.node(Kind::Values, v.address(), words);
        if sent == Sent::Table {
            // Addresses have changed, all of them.
            let start = self.message.nodes[node].start + 1;
            let changed = Value::fixnum(-1).0;
            self.message.words[start + field::COLLECTIONS as usize] = changed;
            let moves = &mut self.message.words[start + field::MOVES as usize];
            if *moves != Value::FALSE.0 {
                *moves = changed;
            }
        }
        Ok(node)
    }

    /// The variable that holds this object, which every place has.
    fn landmark(&mut self, v: Value) -> Option<usize> {
        let (module, places) = (self.module, self.places);
        let landmarks = self.landmarks.get_or_insert_with(|| {
            let late = places.family.late_globals();
            let all = globals(module).iter().enumerate();
            let marks = all.filter(|(i, v)| access::is(**v, Type::Opaque) && late.binary_search(i).is_err());
            marks.map(|(i, v)| (v.0, i)).collect()
        });
        landmarks.get(&v.0).copied()
    }
}
