//! Objects without parts.

use super::out::{Mode, Out};
use crate::access::{self, string_chars, word};
use crate::chars;
use crate::machine::frame_reader::described_name;
use crate::num;
use crate::numeric;
use crate::port::{self, Port};
use crate::record;
use cairn_layout::Value;
use cairn_layout::code;
use cairn_layout::object::{self, Type};

/// Prints anything that is no pair, vector or record with parts.
pub(super) fn print_atom(out: &mut impl Out, v: Value, mode: Mode) {
    if v.is_fixnum() {
        return out.str(itoa::Buffer::new().format(v.as_fixnum()));
    }
    if v.is_char() {
        return match mode {
            Mode::Display => out.char(v.as_char()),
            _ => write_char_literal(out, v.as_char()),
        };
    }
    if let Some(x) = access::flonum_of(v) {
        let mut text = String::new();
        cairn_num::format::push_f64(&mut text, x, 10);
        return out.str(&text);
    }
    if v.is_procedure() {
        return print_procedure(out, v);
    }
    if v.is_object() {
        return print_object(out, v, mode);
    }
    if let Some(name) = crate::record_types::type_name(v) {
        out.str("#<record-type ");
        out.str(&name);
        return out.str(">");
    }
    out.str(match v {
        Value::FALSE => "#f",
        Value::TRUE => "#t",
        Value::NIL => "()",
        Value::UNSPECIFIED => "#<unspecified>",
        Value::EOF => "#<eof>",
        Value::DEFAULT => "#<default>",
        Value::UNBOUND => "#<unbound>",
        _ => "#<unknown>",
    })
}

fn print_object(out: &mut impl Out, v: Value, mode: Mode) {
    let literal = mode != Mode::Display;
    let is = |t| access::is(v, t);
    if is(Type::String) {
        return if literal { write_string_literal(out, string_chars(v)) } else { out.chars(string_chars(v)) };
    }
    if is(Type::Symbol) {
        let name = string_chars(word(v, object::symbol::NAME));
        return if literal && needs_bars(name) { write_delimited(out, name, '|') } else { out.chars(name) };
    }
    if is(Type::Vector) {
        return out.str("#()");
    }
    if is(Type::Bytevector) {
        out.str("#u8(");
        let mut buffer = itoa::Buffer::new();
        for (i, byte) in access::byte_slice(v).iter().enumerate() {
            if i > 0 {
                out.str(" ");
            }
            out.str(buffer.format(*byte));
        }
        return out.str(")");
    }
    if let Some(kind) = numeric::kind_of(v) {
        let bytes = numeric::bytes(v);
        match numeric::is_vector(v) {
            true => out.str("#("),
            false => out.str(&format!("#{}(", kind.name())),
        }
        for i in 0..bytes.len() >> kind.shift() {
            if i > 0 {
                out.str(" ");
            }
            out.str(&cairn_num::format_number(&numeric::element(kind, bytes, i), 10));
        }
        return out.str(")");
    }
    if let Some(number) = num::to_number(v) {
        return out.str(&cairn_num::format_number(&number, 10));
    }
    if let Some(port) = Port::of(v) {
        return print_port(out, port);
    }
    if let Some(name) = record::type_of(v).and_then(crate::record_types::type_name) {
        out.str("#<");
        out.str(&name);
        return out.str(">");
    }
    out.str(match access::type_code(v) {
        Some(c) if c == Type::Promise as u8 => match word(v, 0) {
            state if state.is_pair() && access::car(state) == Value::TRUE => "#<promise (forced)>",
            _ => "#<promise>",
        },
        Some(c) if c == Type::Box as u8 => "#<box>",
        _ => "#<opaque>",
    })
}

/// The name that compiled code carries for a procedure (no continuation), or the text of an evaluated one.
fn procedure_name(v: Value) -> Option<String> {
    // SAFETY: callers pass a procedure that is no continuation: its first word is an entry, with an entry's prefix
    // before it.
    let name = unsafe {
        let entry = *(v.address() as *const u64);
        described_name(entry, code::ENTRY_NAME).filter(|n| !n.is_empty())?
    };
    Some(crate::evaluated_marks::procedure_name(v, &name).unwrap_or(name))
}

fn print_procedure(out: &mut impl Out, v: Value) {
    // SAFETY: `v` is a procedure, so its first word is a code address, before which a shape stands.
    let shape = unsafe { *((*(v.address() as *const u64) as i64 + code::SHAPE) as *const u64) };
    if shape & code::flags::CONTINUATION != 0 {
        return out.str("#<continuation>");
    }
    match procedure_name(v) {
        // `make-parameter` of lib/cairn/control.sld calls what it makes so; evaluated code runs on code of the library
        Some(name)
            if name == "parameter"
                && shape & code::flags::LIBRARY != 0
                && crate::evaluated_marks::mark_of_closure(v).is_none() =>
        {
            out.str("#<parameter>")
        }
        Some(name) => {
            out.str("#<procedure ");
            out.str(&name);
            out.str(">");
        }
        None => out.str("#<procedure>"),
    }
}

fn print_port(out: &mut impl Out, port: Port) {
    let flags = port.flags();
    out.str("#<");
    if flags & (port::FLAG_TEXTUAL | port::FLAG_BINARY) == port::FLAG_BINARY {
        out.str("binary-");
    }
    out.str(if flags & port::FLAG_INPUT != 0 { "input-port" } else { "output-port" });
    match port.name() {
        Some(name) => {
            out.str(" \"");
            out.str(&name);
            out.str("\"");
        }
        None => out.str(" string"),
    }
    if flags & port::FLAG_OPEN == 0 {
        out.str(" (closed)");
    }
    out.str(">");
}

/// `#\a`, `#\space`, `#\x7f`.
fn write_char_literal(out: &mut impl Out, c: u32) {
    let name = match c {
        0x00 => "null",
        0x07 => "alarm",
        0x08 => "backspace",
        0x09 => "tab",
        0x0A => "newline",
        0x0D => "return",
        0x1B => "escape",
        0x20 => "space",
        0x7F => "delete",
        _ => "",
    };
    out.str("#\\");
    if !name.is_empty() {
        out.str(name);
    } else if chars::is_graphic(access::to_char(c)) {
        out.char(c);
    } else {
        out.str(&format!("x{c:x}"));
    }
}

/// A string with its quotes and escapes.
fn write_string_literal(out: &mut impl Out, chars: &[u32]) {
    write_delimited(out, chars, '"')
}

/// Characters between two delimiters, with escapes.
fn write_delimited(out: &mut impl Out, chars: &[u32], delimiter: char) {
    out.char(delimiter as u32);
    let mut plain = 0;
    for (i, c) in chars.iter().enumerate() {
        let c = access::to_char(*c);
        let escape = match c {
            '\\' => "\\\\",
            '\n' => "\\n",
            '\t' => "\\t",
            '\r' => "\\r",
            '\x07' => "\\a",
            '\x08' => "\\b",
            '"' if delimiter == '"' => "\\\"",
            '|' if delimiter == '|' => "\\|",
            c if chars::is_graphic(c) => continue,
            _ => "",
        };
        out.chars(&chars[plain..i]);
        plain = i + 1;
        if escape.is_empty() {
            out.str(&format!("\\x{:x};", c as u32));
        } else {
            out.str(escape);
        }
    }
    out.chars(&chars[plain..]);
    out.char(delimiter as u32);
}

/// Does a symbol's name need bars to be read back as that symbol?
fn needs_bars(name: &[u32]) -> bool {
    let special = |c: u32| match access::to_char(c) {
        '(' | ')' | '[' | ']' | '{' | '}' | '"' | ';' | '\'' | '`' | ',' | '|' | '\\' => true,
        c if c.is_ascii() => !c.is_ascii_graphic(),
        c => c.is_whitespace() || !chars::is_graphic(c),
    };
    let Some(first) = name.first() else { return true };
    if name.iter().any(|c| special(*c)) || *first == '#' as u32 {
        return true;
    }
    match access::to_char(*first) {
        '0'..='9' | '+' | '-' | '.' => {
            let text: String = name.iter().map(|c| access::to_char(*c)).collect();
            text == "." || cairn_num::parse_number(&text, 10).is_some()
        }
        _ => false,
    }
}
