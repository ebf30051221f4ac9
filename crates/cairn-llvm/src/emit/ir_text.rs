//! Pieces of LLVM text: values, quoted symbols, escaped strings, alias classes.
//!
//! Alias classes ([`Mem`]) become type-based alias metadata. They are sound because memory never changes its role
//! between two safepoints, and a safepoint is an inline-assembly call that clobbers all memory. (A cell of a free list
//! does when it becomes an object; so the load of its link has no class.)

use std::fmt;
use std::rc::Rc;

/// An LLVM value as it is written in an operand position (without its type).
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// Numbered temporary of the current function.
    Temp(u32),
    /// Integer constant.
    Int(i64),
    /// Anything else: parameter, symbol, constant expression.
    Text(Rc<str>),
}

impl Val {
    /// A written-out value.
    pub fn text(s: impl Into<Rc<str>>) -> Val {
        Val::Text(s.into())
    }
    /// A word constant.
    pub fn word(w: u64) -> Val {
        Val::Int(w as i64)
    }
    /// The value that costs nothing.
    pub fn poison() -> Val {
        Val::text("poison")
    }
}

impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Temp(n) => write!(f, "%t{n}"),
            Val::Int(i) => write!(f, "{i}"),
            Val::Text(s) => f.write_str(s),
        }
    }
}

/// What a word of memory is used for: loads and stores of different classes never alias.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mem {
    /// Fields of the machine context.
    Machine,
    /// Argument area.
    Args,
    /// Object headers.
    Header,
    /// Fields of pairs, vectors, records, boxes.
    Heap,
    /// Words of closures and continuations.
    Closure,
    /// Words of frames.
    Frame,
    /// Bytes of the card table.
    Card,
    /// Characters, bytes, boxed doubles.
    Leaf,
    /// Global variables and symbol slots.
    Global,
    /// Words before a code address: constant.
    Code,
}

impl Mem {
    /// Metadata suffix of an access.
    pub fn suffix(self) -> &'static str {
        match self {
            Mem::Machine => ", !tbaa !10",
            Mem::Args => ", !tbaa !11",
            Mem::Header => ", !tbaa !12",
            Mem::Heap => ", !tbaa !13",
            Mem::Closure => ", !tbaa !14",
            Mem::Frame => ", !tbaa !15",
            Mem::Card => ", !tbaa !16",
            Mem::Leaf => ", !tbaa !17",
            Mem::Global => ", !tbaa !18",
            Mem::Code => ", !invariant.load !3",
        }
    }
}

/// Metadata referred to by emitted code.
pub const METADATA: &str = "\
!0 = !{!\"branch_weights\", i32 2000, i32 1}
!1 = !{!\"branch_weights\", i32 1, i32 2000}
!2 = !{!\"branch_weights\", i32 8, i32 1}
!3 = !{}
!4 = !{!\"cairn\"}
!10 = !{!20, !20, i64 0}
!11 = !{!21, !21, i64 0}
!12 = !{!22, !22, i64 0}
!13 = !{!23, !23, i64 0}
!14 = !{!24, !24, i64 0}
!15 = !{!25, !25, i64 0}
!16 = !{!26, !26, i64 0}
!17 = !{!27, !27, i64 0}
!18 = !{!28, !28, i64 0}
!20 = !{!\"machine\", !4, i64 0}
!21 = !{!\"args\", !4, i64 0}
!22 = !{!\"header\", !4, i64 0}
!23 = !{!\"heap\", !4, i64 0}
!24 = !{!\"closure\", !4, i64 0}
!25 = !{!\"frame\", !4, i64 0}
!26 = !{!\"card\", !4, i64 0}
!27 = !{!\"leaf\", !4, i64 0}
!28 = !{!\"global\", !4, i64 0}
";

/// How likely a condition is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Odds {
    /// Almost always.
    Likely,
    /// Almost never.
    Unlikely,
    /// More often than not.
    Probable,
    /// Unknown.
    Even,
}

impl Odds {
    /// Metadata suffix of a branch.
    pub fn suffix(self) -> &'static str {
        match self {
            Odds::Likely => ", !prof !0",
            Odds::Unlikely => ", !prof !1",
            Odds::Probable => ", !prof !2",
            Odds::Even => "",
        }
    }
}

/// `bytes` as the inside of an LLVM string constant.
pub fn escape(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut s = String::with_capacity(bytes.len() + 8);
    for &b in bytes {
        if (0x20..0x7F).contains(&b) && b != b'"' && b != b'\\' {
            s.push(b as char);
        } else {
            let _ = write!(s, "\\{b:02X}");
        }
    }
    s
}

/// The quoted symbol of a Scheme function, `@"scm.NAME"`; the prefix keeps it apart from the symbols of prelude and
/// runtime.
pub fn symbol(name: &str) -> String {
    format!("@\"scm.{}\"", escape(name.as_bytes()))
}

/// A double as an LLVM constant.
pub fn double(x: f64) -> Val {
    Val::text(format!("0x{:016X}", x.to_bits()))
}
