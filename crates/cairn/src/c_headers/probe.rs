//! Values of constants and layouts of records, computed by clang.
//!
//! ```text
//! #include <zlib.h>
//! __typeof__(… (ZLIB_VERSION) …) cairn_k0 = ZLIB_VERSION; …     ⟶  @cairn_k0 = … [7 x i8] c"1.2.13\00", …
//! unsigned long cairn_l0[] = {sizeof(struct z_stream_s), …};    ⟶  @cairn_l0 = … [17 x i64] [i64 112, i64 8, …], …
//! ```
//!
//! Each macro is tried, whatever its text is. Those of which clang says that they initialize no variable are left out.

use super::declarations::Declarations;
use super::preprocessed::Preprocessed;
use super::request::Request;
use std::collections::{BTreeMap, BTreeSet};

/// The value of a constant.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Constant {
    Integer(i128),
    Float(f64),
    Text(String),
    /// The address of nothing in particular.
    Address(u64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    pub(super) bytes: u64,
    pub(super) alignment: u64,
    /// By field; `None` of a bit-field.
    pub(super) offsets: Vec<Option<u64>>,
    /// By field; `None` of all others, and of one whose place clang does not tell.
    pub(super) bits: Vec<Option<Bits>>,
}

/// The place of a bit-field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bits {
    /// Bits from the beginning of the record, the least significant one of a byte first.
    pub(super) at: u64,
    pub(super) width: u64,
}

#[derive(Default)]
pub(super) struct Probed {
    pub(super) constants: BTreeMap<String, Constant>,
    /// By the key of the record.
    pub(super) layouts: BTreeMap<String, Layout>,
}

const TYPES_WITHOUT_SIGN: &str =
    "_Bool:1,unsigned char:1,unsigned short:1,unsigned int:1,unsigned long:1,unsigned long long:1,default:0";

pub(super) fn read(request: &Request, before: &Preprocessed, d: &Declarations) -> Result<Probed, String> {
    let reserved =
        |n: &&String| n.starts_with("__") || n.starts_with('_') && n[1..].starts_with(char::is_uppercase);
    let macros = before.macros.keys().filter(|n| !reserved(n));
    let constants: BTreeSet<&String> = macros.chain(&d.constants).collect();
    let constants: Vec<&String> = constants.into_iter().collect();
    let mut lines: Vec<String> = constants
        .iter()
        .enumerate()
        .map(|(i, name)| {
            format!(
                "__typeof__(_Generic(({name}), long double: 0.0, default: ({name}))) cairn_k{i} = {name}; \
                 const char cairn_u{i} = _Generic(({name}), {TYPES_WITHOUT_SIGN});"
            )
        })
        .collect();
    for (i, record) in d.records.values().enumerate() {
        let t = &record.spelled;
        let fields = record.fields.iter().filter(|f| !f.is_bit_field);
        let offsets: String = fields.map(|f| format!(", __builtin_offsetof({t}, {})", f.path)).collect();
        lines.push(format!("unsigned long cairn_l{i}[] = {{sizeof({t}), _Alignof({t}){offsets}}};"));
    }
    let program = |lines: &[String]| format!("{}{}\n", request.includes(), lines.join("\n"));
    let checked = request.clang(&["-fsyntax-only", "-ferror-limit=0"], &program(&lines))?;
    for line in String::from_utf8_lossy(&checked.stderr).lines() {
        let number = |rest: &str| rest.split(':').next()?.parse::<usize>().ok();
        if line.contains("error:")
            && let Some(n) = line.strip_prefix("<stdin>:").and_then(number)
            && let Some(bad) = n.checked_sub(request.headers.len() + 1).and_then(|i| lines.get_mut(i))
        {
            bad.clear();
        }
    }
    let text = request.printed(&["-S", "-emit-llvm", "-o", "-"], &program(&lines))?;
    let mut initial: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines() {
        if let Some((name, value)) = line.strip_prefix("@cairn_").and_then(|l| l.split_once(" = dso_local ")) {
            let value = value.strip_prefix("global ").or_else(|| value.strip_prefix("constant ")).unwrap_or(value);
            initial.insert(name, value.rsplit_once(", align").map_or(value, |(v, _)| v));
        }
    }
    let mut probed = Probed::default();
    for (i, name) in constants.iter().enumerate() {
        let without_sign = initial.get(&*format!("u{i}")) == Some(&"i8 1");
        let value = initial.get(&*format!("k{i}")).and_then(|v| constant(v, without_sign));
        if let Some(value) = value {
            probed.constants.insert(name.to_string(), value);
        }
    }
    let places = bit_fields(request, d)?;
    for (i, (key, record)) in d.records.iter().enumerate() {
        let Some(numbers) = initial.get(&*format!("l{i}")).and_then(|v| numbers(v)) else { continue };
        let [bytes, alignment, offsets @ ..] = &numbers[..] else { continue };
        let mut offsets = offsets.iter().copied();
        let offsets = record.fields.iter().map(|f| if f.is_bit_field { None } else { offsets.next() }).collect();
        let of_record = places.get(&i);
        let bits =
            record.fields.iter().map(|f| of_record?.get(&f.path).filter(|_| f.is_bit_field).copied()).collect();
        probed.layouts.insert(key.clone(), Layout { bytes: *bytes, alignment: *alignment, offsets, bits });
    }
    Ok(probed)
}

/// The places of bit-fields by their paths, of the records that have some, by number.
///
/// No expression of C has them; clang prints them. It calls records as it likes, so each is the only field of one whose
/// name is ours.
fn bit_fields(request: &Request, d: &Declarations) -> Result<BTreeMap<usize, BTreeMap<String, Bits>>, String> {
    let with = d.records.values().enumerate().filter(|(_, r)| r.fields.iter().any(|f| f.is_bit_field));
    let lines: Vec<String> = with.map(|(i, r)| format!("struct cairn_b{i} {{ {} x; }};", r.spelled)).collect();
    if lines.is_empty() {
        return Ok(BTreeMap::new());
    }
    let program = format!("{}{}\n", request.includes(), lines.join("\n"));
    let arguments = ["-fsyntax-only", "-ferror-limit=0", "-Xclang", "-fdump-record-layouts-complete"];
    let text = request.clang(&arguments, &program)?.stdout;
    let mut all = BTreeMap::new();
    for text in String::from_utf8_lossy(&text).split("*** Dumping AST Record Layout\n") {
        let mut lines = text.lines();
        let number = |first: &str| first.split_once("| struct cairn_b")?.1.trim().parse::<usize>().ok();
        if let Some(i) = lines.next().and_then(number) {
            all.insert(i, record_layout(lines));
        }
    }
    Ok(all)
}

/// The bit-fields of what clang prints of a record in a record.
///
/// ```text
///          0 |   struct flags x
///          4 |     struct (unnamed at f.h:3:3) in
///     4:0-2  |       unsigned int a                ⟶  in.a at bit 32, 3 bits wide
///          8 |     union (anonymous at f.h:4:3)
///    8:3-13  |       unsigned int b                ⟶  b at bit 67, 11 bits wide
///            | [sizeof=12, align=4]
/// ```
fn record_layout<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<String, Bits> {
    let mut found = BTreeMap::new();
    // the names around a line, of those without a name the empty one
    let mut around: Vec<&str> = Vec::new();
    for line in lines {
        let Some((place, declared)) = line.split_once("| ") else { break };
        let inner = declared.trim_start();
        let depth = (declared.len() - inner.len()) / 2;
        if inner.starts_with('[') || depth == 0 {
            break;
        }
        let name = inner.rsplit(' ').next().unwrap_or("");
        around.truncate(depth - 1);
        around.push(name);
        let bits = |place: &str| {
            let (byte, bits) = place.trim().split_once(':')?;
            let (first, last) = bits.split_once('-')?;
            let [byte, first, last] = [byte, first, last].map(|n| n.parse::<u64>().ok());
            let (first, last) = (first?, last?);
            Some(Bits { at: 8 * byte? + first, width: last.checked_sub(first)? + 1 })
        };
        if let Some(bits) = bits(place).filter(|_| !name.is_empty()) {
            let path: Vec<&str> = around[1..].iter().copied().filter(|n| !n.is_empty()).collect();
            found.insert(path.join("."), bits);
        }
    }
    found
}

/// The value of an initializer: `i32 -1`, `double 0x400921FB54442D18`, `[3 x i8] c"ab\00"`.
fn constant(value: &str, without_sign: bool) -> Option<Constant> {
    if value.starts_with('[') {
        return string(value).map(Constant::Text);
    }
    let (of, value) = value.split_once(' ')?;
    match of {
        "float" | "double" => {
            let x = match value.strip_prefix("0x") {
                Some(bits) => f64::from_bits(u64::from_str_radix(bits, 16).ok()?),
                None => value.parse().ok()?,
            };
            Some(Constant::Float(x))
        }
        "ptr" => {
            let address = value.strip_prefix("inttoptr (i64 ").and_then(|v| v.split(' ').next());
            match address {
                Some(n) => Some(Constant::Address(n.parse::<i128>().ok()? as u64)),
                None => (value == "null").then_some(Constant::Address(0)),
            }
        }
        "i1" => Some(Constant::Integer((value == "true") as i128)),
        _ => {
            let bits: u32 = of.strip_prefix('i')?.parse().ok().filter(|bits| *bits <= 64)?;
            let n: i128 = value.parse().ok()?;
            Some(Constant::Integer(if without_sign && n < 0 { n + (1 << bits) } else { n }))
        }
    }
}

/// The text of an array of bytes, without the NUL behind it.
fn string(value: &str) -> Option<String> {
    let (of, value) = value.split_once("] ")?;
    if !of.ends_with(" x i8") {
        return None;
    }
    if value == "zeroinitializer" {
        return (of == "[1 x i8").then(String::new);
    }
    let escaped = value.strip_prefix("c\"")?.strip_suffix('"')?.as_bytes();
    let mut bytes = Vec::new();
    let mut rest = escaped;
    while let [first, more @ ..] = rest {
        match (first, more) {
            (b'\\', [a, b, more @ ..]) => {
                let hex = std::str::from_utf8(&[*a, *b]).ok().and_then(|h| u8::from_str_radix(h, 16).ok())?;
                bytes.push(hex);
                rest = more;
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    let text = bytes.strip_suffix(b"\0")?;
    (!text.contains(&0)).then(|| String::from_utf8(text.to_vec()).ok()).flatten()
}

/// The numbers of `[3 x i64] [i64 112, i64 8, i64 0]`.
fn numbers(value: &str) -> Option<Vec<u64>> {
    let (_, list) = value.split_once("] [")?;
    list.strip_suffix(']')?.split(", ").map(|n| n.strip_prefix("i64 ")?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initializers_are_read() {
        let c = |v| constant(v, false);
        assert_eq!(
            (c("i32 -7"), constant("i32 -1", true)),
            (Some(Constant::Integer(-7)), Some(Constant::Integer(4_294_967_295)))
        );
        assert_eq!(constant("i64 -1", true), Some(Constant::Integer(u64::MAX as i128)));
        assert_eq!(c("double 0x400921FB54442D18"), Some(Constant::Float(std::f64::consts::PI)));
        assert_eq!(c("float 1.500000e+00"), Some(Constant::Float(1.5)));
        assert_eq!(c("[4 x i8] c\"a\\22b\\00\""), Some(Constant::Text("a\"b".into())));
        assert_eq!(c("[1 x i8] zeroinitializer"), Some(Constant::Text("".into())));
        assert_eq!(c("[2 x i32] [i32 1, i32 0]"), None);
        assert_eq!(c("ptr inttoptr (i64 -1 to ptr)"), Some(Constant::Address(u64::MAX)));
        assert_eq!((c("ptr null"), c("ptr @f")), (Some(Constant::Address(0)), None));
        assert_eq!(c("%struct.color { i8 1 }"), None);
        assert_eq!(numbers("[3 x i64] [i64 112, i64 8, i64 0]"), Some(vec![112, 8, 0]));
    }

    #[test]
    fn places_of_bit_fields_are_read() {
        let text = "         0 |   struct flags x\n     0:0-2 |     int a\n       4:- |     int \n         \
                    4 |     struct (unnamed at a b.h:3:3) in\n    4:7-66 |       unsigned long b\n        \
                    16 |     union (anonymous at f.h:4:3) \n   16:3-13 |       enum e c\n        20 |     int d\n           \
                    | [sizeof=24, align=8]\n";
        let found = record_layout(text.lines());
        let at = |at, width| Some(&Bits { at, width }).copied();
        assert_eq!(found.get("a").copied(), at(0, 3));
        assert_eq!(found.get("in.b").copied(), at(39, 60));
        assert_eq!(found.get("c").copied(), at(131, 11));
        assert_eq!(found.len(), 3);
    }
}
