//! Layouts of C's structures, as far as the expander can know them.
//!
//! The problem: a structure is a value, which `lib/cairn/c.sld` makes when the program runs; but compiled code that
//! passes one by value itself must know how. The idea: `define-c-struct` at top level, and the definitions that the
//! library of a header has, are understood here, too. A variable whose definition is not understood has no layout, and
//! the function that takes such a structure is called the longer way.
//!
//! Invariant: a guess cannot do harm. The library compares the shapes with those of the structures that there are when
//! the function is looked up (`c-direct-address`).

use super::meaning::{Binding, Meaning};
use super::state::{Expander, Layout};
use crate::syntax::{Datum, Syntax};
use cairn_layout::c::{CType, Shape};
use cairn_num::{Int, Number};

/// Of a larger structure, C passes a copy in memory, whatever is in it.
const IN_REGISTERS: usize = 16;

impl Layout {
    /// How it travels by value, if it does.
    pub(super) fn shape(&self) -> Option<Shape> {
        let floating = |eight: usize| {
            let mut there = self.leaves.iter().filter(|(at, _)| at / 8 == eight);
            there.all(|(_, t)| t.is_floating())
        };
        let in_memory = self.bytes > IN_REGISTERS;
        let floating = if in_memory { [false; 2] } else { [floating(0), floating(1)] };
        (self.bytes > 0 && self.alignment <= 8).then_some(Shape { bytes: self.bytes, in_memory, floating })
    }

    /// Adds what is at an offset, so many times.
    fn put(&mut self, element: &Element, at: usize, times: usize) {
        for i in 0..times {
            let at = at + i * element.bytes();
            if at >= IN_REGISTERS {
                break;
            }
            match element {
                Element::Scalar(t) => self.leaves.push((at, *t)),
                Element::Struct(inner) => {
                    self.leaves.extend(inner.leaves.iter().map(|(inner, t)| (at + inner, *t)));
                }
            }
        }
    }

    /// Adds a field behind the others; `None` if nothing is so large.
    fn append(&mut self, element: &Element, length: Option<usize>) -> Option<()> {
        let at = self.bytes.checked_next_multiple_of(element.alignment())?;
        self.put(element, at, length.unwrap_or(1));
        self.bytes = element.bytes().checked_mul(length.unwrap_or(1))?.checked_add(at)?;
        self.alignment = self.alignment.max(element.alignment());
        Some(())
    }
}

/// The type of a field, or of the elements of one.
enum Element {
    Scalar(CType),
    Struct(Layout),
}

impl Element {
    fn bytes(&self) -> usize {
        match self {
            Element::Scalar(t) => t.bytes(),
            Element::Struct(inner) => inner.bytes,
        }
    }
    fn alignment(&self) -> usize {
        match self {
            Element::Scalar(t) => t.bytes(),
            Element::Struct(inner) => inner.alignment,
        }
    }
}

/// The natural number that stands there.
pub(super) fn natural(x: &Syntax) -> Option<usize> {
    match &x.datum {
        Datum::Number(n) => match **n {
            Number::Int(Int::Fix(n)) => usize::try_from(n).ok(),
            _ => None,
        },
        _ => None,
    }
}

impl Expander<'_> {
    /// The layout that `define-c-struct` gives these fields, types with lengths of arrays.
    pub(super) fn c_layout(&mut self, fields: &[(Syntax, Option<Syntax>)]) -> Option<Layout> {
        let mut layout = Layout { alignment: 1, ..Layout::default() };
        for (t, length) in fields {
            let length = match length {
                Some(length) => Some(natural(length)?),
                None => None,
            };
            let element = self.c_element(t)?;
            layout.append(&element, length)?;
        }
        layout.bytes = layout.bytes.checked_next_multiple_of(layout.alignment)?;
        Some(layout)
    }

    fn c_element(&mut self, t: &Syntax) -> Option<Element> {
        let name = self.c_name(t)?;
        match CType::by_name(&name) {
            Some(CType::Void | CType::Bytes) => None,
            Some(t) => Some(Element::Scalar(t)),
            None => self.c_layout_of(t).map(Element::Struct),
        }
    }

    /// The layout of the structure that a variable stands for.
    pub(super) fn c_layout_of(&mut self, variable: &Syntax) -> Option<Layout> {
        let Meaning::Bound(Binding::Global(g)) = self.resolve(variable.as_ident()?) else { return None };
        if let Some(layout) = self.s.c_layouts.get(&g) {
            return Some(layout.clone());
        }
        let definition = self.c_header_definition(g)?;
        let layout = self.c_layout_in_header(&definition)?;
        self.s.c_layouts.insert(g, layout.clone());
        Some(layout)
    }

    /// Of `(c:make-c-layout (c:quote name) (c:vector field …) bytes alignment)`, where a field is `(c:quote name)
    /// (c:c-type type) offset length`.
    fn c_layout_in_header(&mut self, definition: &Syntax) -> Option<Layout> {
        let [_, _, fields, bytes, alignment] = definition.as_list()? else { return None };
        let (bytes, alignment) = (natural(bytes)?, natural(alignment)?);
        let mut layout = Layout { bytes, alignment, leaves: Vec::new() };
        if bytes > IN_REGISTERS {
            return Some(layout);
        }
        for field in fields.as_list()?.get(1..)?.chunks(4) {
            let [_, t, offset, length] = field else { return None };
            let [_, t] = t.as_list()? else { return None };
            let times = if matches!(length.datum, Datum::Bool(false)) { 1 } else { natural(length)? };
            let element = self.c_element(t)?;
            layout.put(&element, natural(offset)?, times);
        }
        Some(layout)
    }
}
