//! Making objects from messages: see [`super::freeze`]. The objects are made first, all of them, then their words are
//! filled; nothing collects in between.

use super::shared::{CLASS, COMMON, GLOBAL, Kind, LITERAL, Message, Node, Shared};
use crate::access;
use crate::alloc;
use crate::compact;
use crate::port;
use crate::runtime::rt;
use crate::structure;
use crate::symbol;
use crate::weak;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object;
use cairn_layout::value::TAG_PROCEDURE;
use std::sync::Arc;

/// Makes the objects of a message in this heap: the roots.
pub fn thaw(message: &Message, ctx: &mut Machine) -> Vec<Value> {
    let mut made: Vec<Value> = message.nodes.iter().map(|node| make(message, ctx, *node)).collect();
    for (i, Node { start, .. }) in message.nodes.iter().enumerate().filter(|(_, n)| n.kind == Kind::Element) {
        // The storage is an object of the message.
        let [storage, offset, rtd] = [0, 1, 2].map(|k| message.words[start + k]);
        let storage = made[(storage & !CLASS) as usize >> 3];
        made[i] = structure::cairn_structure_element(ctx, storage, Value(offset), Value(rtd));
    }
    let places = rt(ctx).places.as_mut().expect("only places send and receive");
    let (globals, literals) = (places.module().globals, places.module().literals as u64);
    let word = |w: u64| {
        if !Value(w).is_pointer() {
            return w;
        }
        let rest = w & !CLASS;
        match w & CLASS {
            COMMON => rest,
            LITERAL => literals + rest,
            // SAFETY: a number of a global, below `global_count`: every place has the same program, and so the same
            // ones.
            GLOBAL => unsafe { (*globals.add(rest as usize >> 3)).0 },
            _ => made[rest as usize >> 3].0,
        }
    };
    for (Node { kind, start, len }, v) in message.nodes.iter().zip(&made) {
        let words = &message.words[*start..start + len];
        match kind {
            Kind::Pair | Kind::Procedure | Kind::Values => {
                let first = v.address() as *mut u64;
                for (i, w) in words.iter().enumerate() {
                    // SAFETY: `make` made this object with `len` words, of which `i` is one, and nobody else knows it
                    // yet.
                    unsafe { *first.add(i) = word(*w) };
                }
                if *kind == Kind::Values {
                    alloc::written(ctx, *v);
                    if object::header_is_still(access::header(*v)) {
                        alloc::write_barrier_range(ctx, access::word_address(*v, 0), access::length(*v));
                    }
                }
            }
            Kind::Compact => {
                let parts: Vec<u64> = words.iter().map(|w| word(*w)).collect();
                compact::fill(ctx, *v, &parts);
            }
            Kind::Shared => {
                // One that was known here has its fields.
                for i in 1..access::length(*v) {
                    if access::word(*v, i as u64) == Value::FALSE {
                        alloc::store_word(ctx, *v, i as u64, Value(word(words[1 + i])));
                    }
                }
            }
            Kind::Weak => {
                let stored = words[1..].iter().take(access::length(*v)).enumerate();
                stored.for_each(|(i, w)| weak::store(ctx, *v, i as u64, Value(word(*w))));
            }
            _ => {}
        }
    }
    for &(global, w) in &message.definitions {
        // SAFETY: `global` is the number of a global of the program, which all places have.
        let slot = unsafe { globals.add(global) };
        // SAFETY: `slot` is one of the module's globals, which only this place uses.
        unsafe {
            if *slot == Value::UNBOUND {
                *slot = Value(word(w));
                alloc::write_barrier(ctx, slot);
            }
        }
    }
    let roots = message.roots.iter().map(|w| Value(word(*w))).collect();
    let places = rt(ctx).places.as_ref().expect("as above");
    if let (Some(own), false) = (&places.own, message.definitions.is_empty()) {
        // SAFETY: `g` is the number of a global of the program, which all places have.
        places.family.lacks_less(own.id, |g| unsafe { *globals.add(g) } == Value::UNBOUND);
    }
    roots
}

/// An object whose words are not filled yet, unless it is a leaf.
fn make(message: &Message, ctx: &mut Machine, node: Node) -> Value {
    let words = &message.words[node.start..node.start + node.len];
    match node.kind {
        Kind::Pair => alloc::alloc_pair(ctx, Value::NIL, Value::NIL),
        Kind::Procedure => {
            let address = alloc::alloc_procedure(ctx, node.len as u64);
            Value(address | TAG_PROCEDURE)
        }
        Kind::Values => structure::alloc_perhaps_still(ctx, words[0]),
        Kind::Leaf => {
            let v = structure::alloc_perhaps_still(ctx, words[0]);
            // SAFETY: `v` was made with the header `words[0]`, which says that there are `words.len()` words, all of
            // them no references.
            unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), v.address() as *mut u64, words.len()) };
            v
        }
        Kind::Symbol => {
            let chars = words[1..].iter().flat_map(|w| [*w as u32, (w >> 32) as u32]);
            let chars: Vec<u32> = chars.take(words[0] as usize).collect();
            symbol::intern_chars(ctx, &chars)
        }
        Kind::Weak => {
            let kind = weak::kind_of_header(words[0]);
            weak::make(ctx, kind, object::header_length(words[0]))
        }
        Kind::Compact => compact::make(ctx, Value(words[0])),
        // Made when its storage is there.
        Kind::Element => Value::FALSE,
        Kind::Shared => {
            let number = Value(words[1]).as_fixnum() as usize;
            hold(ctx, &message.shared[number], Value(words[0]))
        }
        Kind::StandardPort => ctx.slot(words[0] as usize),
        Kind::ClosedPort => port::make_closed(ctx, words[0] as i64),
    }
}

/// Has this record stand for `shared`.
pub fn hold_in(ctx: &mut Machine, shared: &Arc<Shared>, record: Value) {
    // SAFETY: `record` is a record that stands for something shared: its first field is a number, which needs no
    // barrier.
    unsafe { *access::word_address(record, 0) = Value::fixnum(shared.id as i64) };
    let handle = rt(ctx).heap.make_weak_handle(record.0);
    let heap = &mut rt(ctx).heap;
    let places = rt(ctx).places.as_mut().expect("there are places");
    if let Some((_, old)) = places.held.insert(shared.id, (shared.clone(), handle)) {
        heap.free_weak_handle(old);
    }
    if places.held.len() >= places.crowd {
        places.held.retain(|_, (_, handle)| {
            let lives = heap.weak_handle(*handle).is_some();
            if !lives {
                heap.free_weak_handle(*handle);
            }
            lives
        });
        places.crowd = 2 * places.held.len().max(8);
    }
}

/// The record that stands for `shared` in this place, of this type; the other fields of a new one are `#f`.
fn hold(ctx: &mut Machine, shared: &Arc<Shared>, type_word: Value) -> Value {
    let places = rt(ctx).places.as_ref().expect("there are places");
    let known = places.held.get(&shared.id).and_then(|(_, handle)| rt(ctx).heap.weak_handle(*handle));
    match known {
        Some(word) => Value(word),
        None => {
            let record = alloc::alloc_object_of(ctx, type_word.0);
            access::words_mut(record).fill(Value::FALSE);
            hold_in(ctx, shared, record);
            record
        }
    }
}
