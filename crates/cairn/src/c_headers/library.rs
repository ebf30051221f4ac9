//! The Scheme text of a library of headers.
//!
//! Names of C have no colon: `c:` is put before all names of Scheme.

use super::declarations::{Declarations, Function, Record};
use super::preprocessed::Preprocessed;
use super::probe::{Bits, Constant, Layout, Probed};
use super::request::{Request, places};
use super::source::Made;
use super::types::Type;
use cairn_layout::c::CType;
use std::collections::BTreeSet;
use std::fmt::Write;

struct Writer<'a> {
    declared: &'a Declarations,
    probed: &'a Probed,
    /// Names that are taken.
    names: BTreeSet<String>,
    exports: Vec<String>,
    body: String,
    library: &'static str,
    source: Option<&'a Made>,
}

/// Structures in structures beyond this are passed by no value.
const DEEPEST: usize = 20;

/// A string as Scheme writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c => _ = write!(out, "\\x{:x};", c as u32),
        }
    }
    out.push('"');
    out
}

fn float(x: f64) -> String {
    match x {
        x if x.is_nan() => "+nan.0".into(),
        x if x.is_infinite() => if x > 0.0 { "+inf.0" } else { "-inf.0" }.into(),
        x => format!("{x:?}"),
    }
}

pub(super) fn write(
    parts: &[&str],
    request: &Request,
    before: &Preprocessed,
    declared: &Declarations,
    probed: &Probed,
    source: Option<&Made>,
) -> String {
    let library = if request.libraries.is_empty() { "#f" } else { "c:libraries" };
    let (names, exports, body) = (BTreeSet::new(), Vec::new(), String::new());
    let mut w = Writer { declared, probed, names, exports, body, library, source };
    if let Some(made) = source {
        _ = writeln!(
            w.body,
            "(c:define c:source (c:c-library {}))",
            quoted(&format!("c-source:{}", made.source.key))
        );
    }
    if !request.libraries.is_empty() {
        let each = request.libraries.iter().map(|name| {
            let names: Vec<String> = places(name, request).iter().map(|n| quoted(n)).collect();
            format!(" (c:c-library {})", names.join(" "))
        });
        let each: String = each.collect();
        _ = writeln!(w.body, "(c:define c:libraries (c:list{each}))");
    } else {
        w.body += "(c:define c:libraries #f)\n";
    }
    // what headers share below their surface; reserved for the implementation of C
    let hidden = |name: &str| name.starts_with("__");
    // a source's static functions are nobody else's business
    let wanted = |f: &&Function| !(hidden(&f.name) || f.is_static && source.is_some());
    declared.functions.iter().filter(wanted).for_each(|f| w.function(f));
    for name in declared.variables.iter().filter(|n| !hidden(n)) {
        w.define(name, "(c:unsupported \"it is a variable of C, not a function\")");
    }
    for (name, value) in &probed.constants {
        let value = match value {
            Constant::Integer(n) => n.to_string(),
            Constant::Float(x) => float(*x),
            Constant::Text(text) => quoted(text),
            Constant::Address(0) => "#f".into(),
            Constant::Address(n) => format!("(c:address->pointer {n})"),
        };
        w.define(name, &value);
    }
    // another name of a function
    for (name, body) in &before.macros {
        if declared.functions.iter().any(|f| f.name == *body) && !hidden(name) {
            w.define(name, body);
        }
    }
    for (name, key) in declared.record_names.iter().filter(|(n, _)| !hidden(n)) {
        if let (Some(record), Some(layout)) = (declared.records.get(key), probed.layouts.get(key)) {
            w.record(name, record, layout);
        }
    }
    for name in declared.typedefs.iter().filter(|n| !hidden(n)) {
        match declared.names.type_of(name) {
            Type::Number(t) if CType::by_name(name).is_none() => w.define(name, &format!("(c:c-type {t})")),
            Type::Function(f) => w.callback(name, &f),
            _ => {}
        }
    }
    let name: Vec<String> = parts.iter().map(|p| quoted(p)).collect();
    let exports = w.exports.join("\n          ");
    format!(
        "(define-library (c {})\n  (export {exports})\n  (import (prefix (cairn c) c:)\n          (prefix (only \
         (cairn syntax) quote define let lambda case-lambda define-syntax \
         syntax-rules c-type _ ...) c:)\n          (prefix (only (scheme base) list \
         vector) c:))\n  (begin\n{}))\n",
        name.join(" "),
        w.body
    )
}

impl Writer<'_> {
    fn define(&mut self, name: &str, value: &str) {
        if self.names.insert(name.into()) {
            _ = writeln!(self.body, "(c:define {name} {value})");
            self.exports.push(name.into());
        }
    }

    fn unsupported(&mut self, name: &str, why: &str) {
        self.define(name, &format!("(c:unsupported {})", quoted(why)));
    }

    fn function(&mut self, f: &Function) {
        let names = &self.declared.names;
        if f.is_static {
            return self.unsupported(&f.name, "it is a static function, which no library has");
        }
        let mut types: Vec<String> = Vec::new();
        for (i, parameter) in f.parameters.iter().enumerate() {
            types.push(match names.type_of(parameter) {
                Type::Number(t) => t.into(),
                Type::Text => "string".into(),
                Type::Pointer | Type::Array(..) => "bytevector".into(),
                Type::Function(_) => "pointer".into(),
                t => match self.passed(&t, 0) {
                    Some(variable) => variable,
                    None => {
                        let why = format!("parameter {} is {}", i + 1, by_value(t, parameter));
                        return self.unsupported(&f.name, &why);
                    }
                },
            });
        }
        if f.variadic {
            types.push("...".into());
        }
        let result = match names.type_of(&f.result) {
            Type::Void => "void".into(),
            Type::Number(t) => t.into(),
            Type::Text => "string".into(),
            Type::Pointer | Type::Function(_) | Type::Array(..) => "pointer".into(),
            t => match self.passed(&t, 0) {
                Some(variable) => variable,
                None => {
                    let why = format!("its result is {}", by_value(t, &f.result));
                    return self.unsupported(&f.name, &why);
                }
            },
        };
        let (symbol, types) = (quoted(&f.symbol), types.join(" "));
        let library = match self.source.and_then(|made| made.functions.get(&f.name)) {
            Some(Some(number)) => format!("(c:inlined \"{number}\" c:source)"),
            Some(None) => "c:source".into(),
            None => self.library.into(),
        };
        self.define(&f.name, &format!("(c:c-procedure {result} {symbol} ({types}) {library})"));
    }

    fn record(&mut self, name: &str, record: &Record, layout: &Layout) {
        let taken = self.names.contains(name) || CType::by_name(name).is_some();
        let name = if taken { format!("struct-{name}") } else { name.to_string() };
        if self.names.contains(&name) {
            return;
        }
        let mut fields: Vec<String> = Vec::new();
        let mut accessors = Vec::new();
        for ((field, offset), bits) in record.fields.iter().zip(&layout.offsets).zip(layout.bits.iter().copied()) {
            let (getter, setter) = (format!("{name}-{}", field.name), format!("set-{name}-{}!", field.name));
            let Some(offset) = offset else {
                let of = self.declared.names.type_of(&field.of);
                let (get, set) = match bits.and_then(|bits| bit_field(bits, &of)) {
                    Some(field) => {
                        let of = |form: &str, who: &str, clause| {
                            under_name(&format!("(c:c-bits-{form} {field} {})", quoted(who)), &[clause])
                        };
                        (of("getter", &getter, "c:at"), of("setter", &setter, "c:at c:x"))
                    }
                    None => {
                        let why = "(c:unsupported \"it is a bit-field, and clang-19 does not say where it lies\")";
                        (why.into(), why.into())
                    }
                };
                accessors.extend([(getter, get), (setter, set)]);
                continue;
            };
            let (element, length) = match self.declared.names.type_of(&field.of) {
                Type::Array(element, n) => (*element, Some(n)),
                t => (t, None),
            };
            let element = match element {
                _ if field.is_nameless => None,
                Type::Number(t) => Some(t.to_string()),
                Type::Text => Some("string".into()),
                Type::Pointer | Type::Function(_) => Some("pointer".into()),
                Type::Record(key) => self.record_variable(&key),
                _ => None,
            };
            let n = fields.len();
            let of = |form: &str, who: &str, clauses: &[&str]| {
                under_name(&format!("(c:c-struct-{form} {name} {n} {})", quoted(who)), clauses)
            };
            let is_array = element.is_none() || length.is_some();
            let (got, changed): (&[&str], &[&str]) =
                if is_array { (&["c:at", "c:at c:i"], &["c:at c:i c:x"]) } else { (&["c:at"], &["c:at c:x"]) };
            let (get, set) = (of("getter", &getter, got), of("setter", &setter, changed));
            let Some(element) = element else {
                // its place is known
                fields.push(format!("(c:quote {}) (c:c-type char) {offset} 0", field.name));
                accessors.push((getter, get));
                accessors.push((setter, "(c:unsupported \"its type is none of (cairn c)\")".into()));
                continue;
            };
            let length = length.map_or("#f".to_string(), |n| n.to_string());
            fields.push(format!("(c:quote {}) (c:c-type {element}) {offset} {length}", field.name));
            accessors.push((getter, get));
            accessors.push((setter, set));
        }
        let Layout { bytes, alignment, .. } = layout;
        let fields = fields.join("\n     ");
        let layout = format!("(c:make-c-layout (c:quote {name}) (c:vector {fields}) {bytes} {alignment})");
        self.define(&name, &layout);
        let maker = format!("make-{name}");
        let made = format!("(c:c-struct-maker {name} {})", quoted(&maker));
        self.define(&maker, &under_name(&made, &["", "c:n"]));
        for (accessor, value) in accessors {
            self.define(&accessor, &value);
        }
    }

    /// The variable of a record, which it gets if it has none: the header has it from another one.
    fn record_variable(&mut self, key: &str) -> Option<String> {
        let layout = self.probed.layouts.get(key)?;
        let variable = format!("c:{}", key.replace(' ', ":"));
        if self.names.insert(variable.clone()) {
            let Layout { bytes, alignment, .. } = layout;
            _ = writeln!(
                self.body,
                "(c:define {variable} (c:make-c-layout (c:quote {variable}) (c:vector) {bytes} {alignment}))"
            );
        }
        Some(variable)
    }

    /// The variable of a structure that is passed by value, with what must be known of its parts for that; `None` if
    /// that is not known.
    fn passed(&mut self, t: &Type, depth: usize) -> Option<String> {
        /// Of a larger structure, C passes a copy in memory, whatever is in it.
        const IN_REGISTERS: u64 = 16;
        let Type::Record(key) = t else { return None };
        let (record, layout) = (self.declared.records.get(key)?, self.probed.layouts.get(key)?);
        let (bytes, alignment) = (layout.bytes, layout.alignment);
        if bytes == 0 || alignment > 8 || depth > DEEPEST {
            return None;
        }
        let mut fields = Vec::new();
        let places = layout.offsets.iter().zip(&layout.bits);
        for (field, (offset, bits)) in record.fields.iter().zip(places).filter(|_| bytes <= IN_REGISTERS) {
            let Some(offset) = *offset else {
                // no floating point is where its bits are
                let bits = (*bits)?;
                for byte in bits.at / 8..(bits.at + bits.width).div_ceil(8) {
                    fields.push(format!("(c:quote {}) (c:c-type uint8) {byte} #f", field.name));
                }
                continue;
            };
            let (element, length) = match self.declared.names.type_of(&field.of) {
                Type::Array(element, n) => (*element, n.to_string()),
                t => (t, "#f".to_string()),
            };
            let (element, alignment) = match element {
                Type::Number(t) => (t.to_string(), CType::by_name(t)?.bytes() as u64),
                Type::Text | Type::Pointer | Type::Function(_) => ("pointer".into(), 8),
                Type::Record(ref inner) => {
                    let alignment = self.probed.layouts.get(inner)?.alignment;
                    (self.passed(&element, depth + 1)?, alignment)
                }
                _ => return None,
            };
            // C passes what is packed in memory
            if offset % alignment != 0 {
                return None;
            }
            fields.push(format!("(c:quote {}) (c:c-type {element}) {offset} {length}", field.name));
        }
        let variable = format!("c:by-value:{}", key.replace(|c: char| !c.is_alphanumeric() && c != '_', ":"));
        if self.names.insert(variable.clone()) {
            let fields = fields.join(" ");
            _ = writeln!(
                self.body,
                "(c:define {variable} (c:make-c-layout (c:quote {variable}) (c:vector {fields}) {bytes} {alignment}))"
            );
        }
        Some(variable)
    }

    /// A macro that makes callbacks of a type of functions.
    fn callback(&mut self, name: &str, function: &str) {
        let Some((result, parameters)) = self.declared.names.signature(function) else { return };
        let mut passed = |t: &Type, is_result: bool| match t {
            Type::Void if is_result => Some("void".to_string()),
            Type::Number(t) => Some(t.to_string()),
            Type::Text if !is_result => Some("string".into()),
            Type::Text | Type::Pointer | Type::Function(_) => Some("pointer".into()),
            Type::Array(..) if !is_result => Some("pointer".into()),
            Type::Record(_) => self.passed(t, 0),
            _ => None,
        };
        let result = passed(&result, true);
        let types: Option<Vec<String>> = parameters.iter().map(|t| passed(t, false)).collect();
        let (Some(result), Some(types)) = (result, types) else { return };
        if self.names.insert(name.into()) {
            let types = types.join(" ");
            _ = writeln!(
                self.body,
                "(c:define-syntax {name} (c:syntax-rules () ((c:_ procedure) (c:c-callback {result} ({types}) \
                 procedure))))"
            );
            self.exports.push(name.into());
        }
    }
}

/// A procedure that calls the one `made`, with arguments as in one of the clauses. It has the name of the variable that
/// it defines, so a wrong count of arguments is an error of that.
fn under_name(made: &str, clauses: &[&str]) -> String {
    let call = |arguments: &str| format!("({arguments}) (c:made {arguments})");
    let procedure = match clauses {
        [arguments] => format!("(c:lambda {})", call(arguments)),
        _ => {
            let clauses: Vec<String> = clauses.iter().map(|arguments| format!("({})", call(arguments))).collect();
            format!("(c:case-lambda {})", clauses.join(" "))
        }
    };
    format!("(c:let ((c:made {made})) {procedure})")
}

/// What `c-bits-getter` takes: the parts in which a bit-field is read and written, its width, and whether it has a sign
/// or is a boolean. A part is a number of C: type, offset, bits below the field's in it, bits of the field in it, bits
/// of the field below those. All of its bytes have bits of the field: so no access goes beyond the record.
///
/// ```text
/// bits 13 to 37:   byte 1              4
///                  ┌──────────────┬───────┐
///                  │ uint16    ▒▒▒│ uint16│  …
/// ```
fn bit_field(bits: Bits, of: &Type) -> Option<String> {
    let Type::Number(name) = of else { return None };
    let t = CType::by_name(name)?;
    let sign = match t {
        CType::Bool => "'boolean",
        CType::Char => "#t",
        t if t.integers()?.0 < 0 => "#t",
        _ => "#f",
    };
    let mut parts: Vec<String> = Vec::new();
    let (mut at, end) = (bits.at, bits.at + bits.width);
    while at < end {
        let (byte, left) = (at / 8, end.div_ceil(8) - at / 8);
        let bytes = [8, 4, 2, 1].into_iter().find(|n| *n <= left)?;
        let width = end.min(8 * (byte + bytes)) - at;
        parts.push(format!("(c:c-type uint{}) {byte} {} {width} {}", 8 * bytes, at % 8, at - bits.at));
        at += width;
    }
    let sign = sign.replace('\'', "c:quote ");
    let sign = if sign.starts_with('#') { sign } else { format!("({sign})") };
    Some(format!("(c:vector {}) {} {sign}", parts.join(" "), bits.width))
}

fn by_value(t: Type, text: &str) -> String {
    match t {
        Type::Record(key) => format!("`{key}` itself, not a pointer to it"),
        Type::Other(t) => format!("of the type {t}, which (cairn c) does not have"),
        _ => format!("of the type `{text}`"),
    }
}
