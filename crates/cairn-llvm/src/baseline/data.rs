//! Initial values of global variables, and the words before functions, as bytes.

use super::ir::{Address, Bytes, Op, Symbol};
use super::text::{self, Cursor, Symbols};

/// A global variable.
pub(super) struct Global {
    pub symbol: Symbol,
    pub is_global: bool,
    pub is_constant: bool,
    pub align: u32,
    /// Without content: so many zeros.
    pub zeros: usize,
    pub content: Bytes,
}

/// Reads `@… = …`, behind the name.
pub(super) fn global<'a>(c: &mut Cursor<'a>, symbol: Symbol, symbols: &mut Symbols<'a>) -> Result<Global, String> {
    let is_global = !c.eat("internal ");
    c.eat("unnamed_addr ");
    let is_constant = c.eat("constant ");
    if !is_constant {
        c.expect("global ")?;
    }
    let mut g = Global { symbol, is_global, is_constant, align: 8, zeros: 0, content: Bytes::default() };
    match zeros(c)? {
        Some(n) => g.zeros = n,
        None => typed(c, symbols, &mut g.content)?,
    }
    if c.eat(", align ") {
        g.align = c.number()? as u32;
    }
    match c.rest() {
        "" => Ok(g),
        _ => c.unknown("the end of a variable"),
    }
}

/// `[N x i64] zeroinitializer`, if that is what follows.
fn zeros(c: &mut Cursor<'_>) -> Result<Option<usize>, String> {
    let mut ahead = Cursor::new(c.rest());
    if !ahead.eat("[") {
        return Ok(None);
    }
    let n = ahead.number()?;
    if !ahead.eat(" x i") {
        return Ok(None);
    }
    let bits = ahead.number()?;
    if !ahead.eat("] zeroinitializer") {
        return Ok(None);
    }
    *c = ahead;
    Ok(Some((n * bits / 8) as usize))
}

/// A type and a value of it. Words are aligned: our structures have no other holes.
pub(super) fn typed<'a>(c: &mut Cursor<'a>, symbols: &mut Symbols<'a>, out: &mut Bytes) -> Result<(), String> {
    match c.peek() {
        Some(b'[' | b'{' | b'<') => {
            pass_type(c)?;
            c.expect(" ")?;
            aggregate(c, symbols, out)
        }
        Some(b'%') => {
            c.eat("%");
            c.word_and_blank();
            aggregate(c, symbols, out)
        }
        _ => {
            let bytes = match c.word_and_blank() {
                "i64" | "ptr" => 8,
                "i32" => 4,
                "i16" => 2,
                "i8" => 1,
                _ => return c.unknown("a type of data"),
            };
            scalar(c, symbols, bytes, out)
        }
    }
}

/// Passes a type in brackets.
fn pass_type(c: &mut Cursor<'_>) -> Result<(), String> {
    let rest = c.rest();
    let mut depth = 0;
    for (i, b) in rest.bytes().enumerate() {
        match b {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && b != b'<' {
            let packed = rest.starts_with('<');
            return c.expect(&rest[..i + 1 + usize::from(packed)]);
        }
    }
    c.unknown("the end of a type")
}

fn aggregate<'a>(c: &mut Cursor<'a>, symbols: &mut Symbols<'a>, out: &mut Bytes) -> Result<(), String> {
    if c.eat("c\"") {
        out.bytes.extend(text::unescaped(c.find("\"")?)?);
        return Ok(());
    }
    let end = match () {
        () if c.eat("[") => "]",
        () if c.eat("<{ ") => " }>",
        () if c.eat("{ ") => " }",
        () => return c.unknown("a value"),
    };
    while !c.eat(end) {
        typed(c, symbols, out)?;
        c.eat(", ");
    }
    Ok(())
}

fn scalar<'a>(c: &mut Cursor<'a>, symbols: &mut Symbols<'a>, size: usize, out: &mut Bytes) -> Result<(), String> {
    let number = |out: &mut Bytes, n: i64| out.bytes.extend_from_slice(&n.to_le_bytes()[..size]);
    if matches!(c.peek(), Some(b'0'..=b'9' | b'-')) {
        let n = c.number()?;
        number(out, n);
        return Ok(());
    }
    let at = out.bytes.len() as u32;
    let address = |out: &mut Bytes, of, more, from| {
        out.addresses.push(Address { at, of, more, from });
        number(out, 0);
    };
    if c.eat("sub (i64 ") {
        let of = c.constant(symbols)?;
        c.expect(", i64 ")?;
        let from = c.constant(symbols)?;
        c.expect(")")?;
        let (Op::Symbol(of, more), Op::Symbol(from, 0), 8) = (of, from, size) else {
            return c.unknown("a distance");
        };
        address(out, of, more, Some(from));
        return Ok(());
    }
    match c.constant(symbols)? {
        Op::Int(n) => number(out, n),
        Op::Symbol(of, more) if size == 8 => address(out, of, more, None),
        _ => return c.unknown("a constant"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_laid_out() {
        let mut symbols = Symbols::default();
        let mut read = |text| global(&mut Cursor::new(text), 7, &mut symbols).unwrap();
        let g = read("internal constant <{ i64, [2 x i32] }> <{ i64 642, [2 x i32] [i32 1, i32 -2] }>, align 16");
        assert_eq!((g.align, g.is_global, g.is_constant), (16, false, true));
        assert_eq!(g.content.bytes, [130, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF]);
        let g = read("global [3 x i64] zeroinitializer, align 8");
        assert_eq!((g.zeros, g.is_global, g.is_constant), (24, true, false));
        let g = read("internal unnamed_addr constant [3 x i8] c\"a\\22\\FF\", align 1");
        assert_eq!(g.content.bytes, [b'a', b'"', 0xFF]);
        let g =
            read("internal constant { ptr, i64 } { ptr @\"a b\", i64 add (i64 ptrtoint (ptr @c to i64), i64 6) }");
        let address = |at, of, more| Address { at, of, more, from: None };
        assert_eq!(g.content.addresses, [address(0, 0, 0), address(8, 1, 6)]);
    }
}
