//! Values of constants and layouts of records, computed by clang.
//!
//! ```text
//! #include <zlib.h>
//! __typeof__(… (ZLIB_VERSION) …) cairn_k0 = ZLIB_VERSION; …     ⟶  @cairn_k0 = … [7 x i8] c"1.2.13\00", …
//! unsigned long cairn_l0[] = {sizeof(struct z_stream_s), …};    ⟶  @cairn_l0 = … [17 x i64] [i64 112, i64 8, …], …
//! ```
//!
//! Each macro is tried, whatever its text is. Those of which clang says that they initialize no variable are left out.

use super::Request;
use super::declarations::Declarations;
use super::preprocessed::Preprocessed;
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
    for (i, (key, record)) in d.records.iter().enumerate() {
        let Some(numbers) = initial.get(&*format!("l{i}")).and_then(|v| numbers(v)) else { continue };
        let [bytes, alignment, offsets @ ..] = &numbers[..] else { continue };
        let mut offsets = offsets.iter().copied();
        let offsets = record.fields.iter().map(|f| if f.is_bit_field { None } else { offsets.next() }).collect();
        probed.layouts.insert(key.clone(), Layout { bytes: *bytes, alignment: *alignment, offsets });
    }
    Ok(probed)
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
}
