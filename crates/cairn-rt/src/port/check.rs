//! Is it a port, and one that can do what is asked of it? A port that reads and writes is turned to the side asked for.

use super::object::{Port, drop_buffer};
use crate::access;
use crate::alloc::{make_bytevector, store_word};
use crate::failure::{other, wrong_type};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::port as field;
use cairn_layout::object::port::*;

/// Does the port write now? Only one that reads and writes is asked.
pub(super) fn writes(port: Port) -> bool {
    access::word(port.value(), field::OTHER) != Value::FALSE
}

fn set_other(ctx: &mut Machine, port: Port, other: Value) {
    store_word(ctx, port.value(), field::OTHER, other)
}

/// Turns a port that reads and writes to what is wanted. It is not turned to reading while it holds what was written.
pub(super) fn turn(ctx: &mut Machine, port: Port, wanted: i64) {
    if wanted & FLAG_OUTPUT != 0 && !writes(port) {
        let kept = make_bytevector(ctx, port.unread());
        drop_buffer(ctx, port);
        set_other(ctx, port, kept);
    } else if wanted & FLAG_INPUT != 0 && writes(port) && port.pos() == 0 {
        let kept = access::word(port.value(), field::OTHER);
        port.set_buffer(ctx, kept);
        port.restart(access::length(kept));
        set_other(ctx, port, Value::FALSE);
    }
}

/// Checks that `v` is an open port with all of `wanted` flags.
pub(crate) fn check_port(ctx: &mut Machine, who: &str, argument: u32, v: Value, wanted: i64) -> Option<Port> {
    let Some(port) = Port::of(v) else {
        wrong_type(ctx, who, argument, "a port", v);
        return None;
    };
    let flags = port.flags();
    if flags & wanted != wanted {
        let side = if wanted & FLAG_INPUT != 0 { "input" } else { "output" };
        let expected = match wanted & (FLAG_TEXTUAL | FLAG_BINARY) {
            FLAG_TEXTUAL => format!("a textual {side} port"),
            FLAG_BINARY => format!("a binary {side} port"),
            _ => format!("an {side} port"),
        };
        wrong_type(ctx, who, argument, &expected, v);
        return None;
    }
    if flags & FLAG_OPEN == 0 {
        other(ctx, who, "the port is closed:", &[v]);
        return None;
    }
    if flags & (FLAG_INPUT | FLAG_OUTPUT) == FLAG_INPUT | FLAG_OUTPUT {
        turn(ctx, port, wanted);
    }
    Some(port)
}
