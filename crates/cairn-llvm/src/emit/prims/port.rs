//! Ports: one character or byte in or out of a buffer.
//!
//! The problem: a call and a check of type, direction and state for every character would cost more than the character.
//! The idea: the runtime keeps a port so that one comparison with its header says that it is a port and may do this at
//! all (`cairn_layout::object::port`, `CAN_*`), and `POS < END` says that the buffer has a byte, or room for one: a
//! closed port has neither. What is not done here (an empty or full buffer, a character beyond ASCII, a console,
//! anything that is an error) gives `#f`, and the library calls the runtime.
//!
//! ```text
//!   tag and header ── no ─▶ #f        POS < END ── no ─▶ #f        ASCII ── no ─▶ #f
//!         │ yes                          │ yes                       │ yes: POS += 1, the character
//! ```

use super::Value;
use crate::emit::builder::{Label, ins, line};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Val};
use cairn_core::prim::Op;
use cairn_frame::ir::Prim;
use cairn_layout::object::{FLAGS_SHIFT, Type, port, type_byte};
use cairn_layout::value::{CHAR_BYTE, TAG_OBJECT, Value as Word};

/// Offset of a field from the tagged port.
const fn field(i: u64) -> i64 {
    8 + 8 * i as i64 - TAG_OBJECT as i64
}

impl Emitter<'_, '_> {
    /// `%port-take-char` and the like.
    pub(super) fn port_op(&mut self, op: Op, p: &Prim) -> Value {
        let slow = self.fresh();
        let done = match op {
            Op::PortTakeChar | Op::PortLookChar => {
                let v = self.operand(&p.args[0]);
                let (pos, at) = self.port_position(&v, port::CAN_READ_TEXT, &slow);
                let byte = ins!(self, "load i8, ptr {at}{}", Mem::Leaf.suffix());
                let ascii = ins!(self, "icmp sge i8 {byte}, 0");
                self.guard(&ascii, &slow);
                if op == Op::PortTakeChar {
                    self.advance_port(&v, &pos);
                }
                let code = ins!(self, "zext nneg i8 {byte} to i64");
                let code = ins!(self, "shl i64 {code}, 8");
                ins!(self, "or i64 {code}, {CHAR_BYTE}")
            }
            Op::PortTakeByte => {
                let v = self.operand(&p.args[0]);
                let (pos, at) = self.port_position(&v, port::CAN_READ_BYTES, &slow);
                let byte = ins!(self, "load i8, ptr {at}{}", Mem::Leaf.suffix());
                self.advance_port(&v, &pos);
                let byte = ins!(self, "zext i8 {byte} to i64");
                ins!(self, "shl i64 {byte}, 3")
            }
            _ => {
                let x = self.operand(&p.args[0]);
                let v = self.operand(&p.args[1]);
                let (first, flag) = if op == Op::PortPutChar {
                    (CHAR_BYTE, port::CAN_WRITE_TEXT)
                } else {
                    (0, port::CAN_WRITE_BYTES)
                };
                // An ASCII character has just these bits beyond `CHAR_BYTE`; a byte is a fixnum of eight bits.
                let bits: i64 = if op == Op::PortPutChar { 0x7F << 8 } else { 0xFF << 3 };
                let offset = ins!(self, "sub i64 {x}, {first}");
                let other = ins!(self, "and i64 {offset}, {}", !bits);
                let plain = ins!(self, "icmp eq i64 {other}, 0");
                self.guard(&plain, &slow);
                let (pos, at) = self.port_position(&v, flag, &slow);
                let byte = ins!(self, "lshr i64 {x}, {}", if op == Op::PortPutChar { 8 } else { 3 });
                let byte = ins!(self, "trunc i64 {byte} to i8");
                line!(self, "store i8 {byte}, ptr {at}{}", Mem::Leaf.suffix());
                self.advance_port(&v, &pos);
                Val::word(Word::TRUE.0)
            }
        };
        let (here, join) = (self.here(), self.fresh());
        self.goto(&join);
        self.out_of_line(&slow, |e| e.goto(&join));
        self.start(&join);
        Value::Word(self.phi("i64", &[(done, here), (Val::word(Word::FALSE.0), slow)]))
    }

    /// Goes on if `v` is a port that `can` do this and whose buffer has a byte: its position, a fixnum word, and the
    /// byte's address.
    fn port_position(&mut self, v: &Val, can: u8, slow: &Label) -> (Val, Val) {
        let tag = self.has_tag(v, TAG_OBJECT);
        self.guard(&tag, slow);
        let h = self.header(v);
        let can = (can as u64) << FLAGS_SHIFT;
        let h = ins!(self, "and i64 {h}, {}", 255 | can);
        let ready = ins!(self, "icmp eq i64 {h}, {}", type_byte(Type::Port) as u64 | can);
        self.guard(&ready, slow);
        let pos = self.load_word(v, field(port::POS), Mem::Heap);
        let end = self.load_word(v, field(port::END), Mem::Heap);
        let more = ins!(self, "icmp ult i64 {pos}, {end}");
        self.guard(&more, slow);
        let buffer = self.load_word(v, field(port::BUF), Mem::Heap);
        let bytes = self.address(&buffer, field(0));
        let index = ins!(self, "lshr i64 {pos}, 3");
        let at = ins!(self, "getelementptr i8, ptr {bytes}, i64 {index}");
        (pos, at)
    }

    /// Moves the position over one byte. It is a fixnum, so there is no barrier.
    fn advance_port(&mut self, v: &Val, pos: &Val) {
        let next = ins!(self, "add i64 {pos}, 8");
        self.store_word(v, field(port::POS), &next, Mem::Heap);
    }
}
