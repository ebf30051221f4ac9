//! Datums as text, for messages and tests.

use crate::syntax::{Datum, Names, Syntax};
use cairn_layout::object::numeric::NumericKind;
use cairn_num::format_number;
use cairn_num::packed::Packing;
use std::fmt::Write;

/// The external representation of a datum. Aliases appear as the symbols that they stand for, labels are numbered in
/// the order of the text.
pub fn show(x: &Syntax, names: &Names) -> String {
    enum Todo<'x> {
        Datum(&'x Syntax),
        Text(&'static str),
    }
    let mut out = String::new();
    let mut labels: Vec<u32> = Vec::new();
    let mut todo = vec![Todo::Datum(x)];
    while let Some(next) = todo.pop() {
        let x = match next {
            Todo::Text(t) => {
                out.push_str(t);
                continue;
            }
            Todo::Datum(x) => x,
        };
        let (open, items, dotted): (_, &[Syntax], _) = match &x.datum {
            Datum::List(items) => ("(", items, false),
            Datum::Dotted(items) => ("(", items, true),
            Datum::Vector(items) => ("#(", items, false),
            Datum::Labeled(label, _) | Datum::Reference(label) => {
                let known = labels.iter().position(|id| *id == label.id);
                let n = known.unwrap_or_else(|| {
                    labels.push(label.id);
                    labels.len() - 1
                });
                match &x.datum {
                    Datum::Labeled(_, items) if known.is_none() => {
                        let _ = write!(out, "#{n}=");
                        todo.push(Todo::Datum(&items[0]));
                    }
                    _ => {
                        let _ = write!(out, "#{n}#");
                    }
                }
                continue;
            }
            _ => {
                atom(x, names, &mut out);
                continue;
            }
        };
        out.push_str(open);
        todo.push(Todo::Text(")"));
        for (i, item) in items.iter().enumerate().rev() {
            todo.push(Todo::Datum(item));
            if dotted && i + 1 == items.len() {
                todo.push(Todo::Text(" . "));
            } else if i > 0 {
                todo.push(Todo::Text(" "));
            }
        }
    }
    out
}

fn atom(x: &Syntax, names: &Names, out: &mut String) {
    let _ = match &x.datum {
        Datum::Nil => write!(out, "()"),
        Datum::Bool(b) => write!(out, "#{}", if *b { 't' } else { 'f' }),
        Datum::Char(c) => match c {
            ' ' => write!(out, "#\\space"),
            '\n' => write!(out, "#\\newline"),
            c if c.is_control() => write!(out, "#\\x{:x}", *c as u32),
            c => write!(out, "#\\{c}"),
        },
        Datum::Eof => write!(out, "#!eof"),
        Datum::Default => write!(out, "#!default"),
        Datum::Unspecified => write!(out, "#!unspecified"),
        Datum::Ident(id) => {
            let name = names.name(*id);
            let plain =
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "!$%&*/:<=>?^_~+-.@".contains(c));
            if plain {
                write!(out, "{name}")
            } else {
                write!(out, "|{}|", name.replace('\\', "\\\\").replace('|', "\\|"))
            }
        }
        Datum::Number(n) => write!(out, "{}", format_number(n, 10)),
        Datum::String(s) => write!(out, "{s:?}"),
        Datum::Bytes(b) => {
            let bytes: Vec<String> = b.iter().map(u8::to_string).collect();
            write!(out, "#u8({})", bytes.join(" "))
        }
        Datum::Numbers(kind, bytes) => {
            let numbers: Vec<String> =
                bytes.chunks(kind.bytes()).map(|b| format_number(&packing(*kind).unpack(b), 10)).collect();
            write!(out, "#{}({})", kind.name(), numbers.join(" "))
        }
        Datum::List(_) | Datum::Dotted(_) | Datum::Vector(_) | Datum::Labeled(..) | Datum::Reference(_) => Ok(()),
    };
}

/// How an element of a vector of this kind lies in memory.
pub(super) fn packing(kind: NumericKind) -> Packing {
    Packing { bytes: kind.bytes(), integers: kind.part().integers(), complex: kind.is_complex() }
}
