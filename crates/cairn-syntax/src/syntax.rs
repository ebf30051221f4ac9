//! Syntax objects: datums with spans, and the identifiers in them.
//!
//! The reader makes them, macros rearrange them. A list is one shared slice, not a chain of pairs: patterns
//! index it, and a source file costs one allocation per parenthesis.
//!
//! An [`Ident`] is either a *base* identifier, one per symbol name, or an *alias*: what a macro template's
//! symbol becomes in one expansion. An alias remembers the identifier it stands for and the context of the
//! macro's definition; see `expand::scope` for how that makes expansion hygienic.
//!
//! Invariants: `List` is not empty; `Dotted` has at least two items and its last is neither a list nor `()`.
//! Dropping never recurses, so nesting depth is bounded by memory only.

use crate::diagnostic::Span;
use cairn_layout::object::numeric::NumericKind;
use cairn_num::Number;
use rustc_hash::FxHashMap;
use std::ops::Deref;
use std::rc::Rc;

/// An identifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Ident(pub u32);

/// A datum with its place in the source.
#[derive(Clone, Debug)]
pub struct Syntax {
    /// What it is.
    pub datum: Datum,
    /// Where it is.
    pub span: Span,
}

/// A label, unique in its session whatever its number in the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    /// Number of the label.
    pub id: u32,
    /// Is it referred to inside of its own datum?
    pub cyclic: bool,
}

/// The shapes of data.
#[derive(Clone, Debug)]
pub enum Datum {
    /// `()`.
    Nil,
    /// `#t`, `#f`.
    Bool(bool),
    /// Character.
    Char(char),
    /// `#!eof`.
    Eof,
    /// `#!default`.
    Default,
    /// `#!unspecified`.
    Unspecified,
    /// Symbol or alias.
    Ident(Ident),
    /// Number.
    Number(Rc<Number>),
    /// String.
    String(Rc<str>),
    /// Bytevector.
    Bytes(Rc<[u8]>),
    /// Numeric vector that is no bytevector: its elements as they lie in memory.
    Numbers(NumericKind, Rc<[u8]>),
    /// Proper list.
    List(Items),
    /// Improper list: the last item is the tail.
    Dotted(Items),
    /// Vector.
    Vector(Items),
    /// `#n=datum`, one item; `#n#` behind that datum is the same once more.
    Labeled(Label, Items),
    /// `#n#` inside of the datum with that label.
    Reference(Label),
}

/// Shared items of a compound datum. Dropped without recursion.
#[derive(Clone, Debug)]
pub struct Items(Rc<[Syntax]>);

impl Items {
    /// Identity of the shared slice.
    pub fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
    /// Is there more than one reference to the slice?
    pub fn shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }
}

impl From<Vec<Syntax>> for Items {
    fn from(v: Vec<Syntax>) -> Items {
        Items(v.into())
    }
}

impl Deref for Items {
    type Target = [Syntax];
    fn deref(&self) -> &[Syntax] {
        &self.0
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        let mut stack = Vec::new();
        release(&mut self.0, &mut stack);
        while let Some(mut items) = stack.pop() {
            release(&mut items.0, &mut stack);
            // `items` is dropped here; its compound children are gone, so this drop does not go deeper
        }
    }
}

fn release(items: &mut Rc<[Syntax]>, stack: &mut Vec<Items>) {
    if let Some(slice) = Rc::get_mut(items) {
        for x in slice {
            if let Datum::List(_) | Datum::Dotted(_) | Datum::Vector(_) | Datum::Labeled(..) = x.datum {
                match std::mem::replace(&mut x.datum, Datum::Nil) {
                    Datum::List(i) | Datum::Dotted(i) | Datum::Vector(i) | Datum::Labeled(_, i) => stack.push(i),
                    _ => {}
                }
            }
        }
    }
}

impl Syntax {
    /// A datum at a place.
    pub fn new(datum: Datum, span: Span) -> Syntax {
        Syntax { datum, span }
    }
    /// An identifier.
    pub fn ident(id: Ident, span: Span) -> Syntax {
        Syntax { datum: Datum::Ident(id), span }
    }
    /// A proper list, `()` when empty.
    pub fn list(items: Vec<Syntax>, span: Span) -> Syntax {
        let datum = if items.is_empty() { Datum::Nil } else { Datum::List(items.into()) };
        Syntax { datum, span }
    }
    /// A list with a tail: proper when the tail is a list.
    pub fn dotted(mut items: Vec<Syntax>, tail: Syntax, span: Span) -> Syntax {
        if items.is_empty() {
            return tail;
        }
        match &tail.datum {
            Datum::Nil => Syntax::list(items, span),
            Datum::List(more) => {
                items.extend(more.iter().cloned());
                Syntax { datum: Datum::List(items.into()), span }
            }
            Datum::Dotted(more) => {
                items.extend(more.iter().cloned());
                Syntax { datum: Datum::Dotted(items.into()), span }
            }
            _ => {
                items.push(tail);
                Syntax { datum: Datum::Dotted(items.into()), span }
            }
        }
    }
    /// The datum without labels around it.
    pub fn unlabeled(&self) -> &Syntax {
        let mut x = self;
        while let Datum::Labeled(_, items) = &x.datum {
            x = &items[0];
        }
        x
    }
    /// The identifier, if this is one.
    pub fn as_ident(&self) -> Option<Ident> {
        match self.datum {
            Datum::Ident(id) => Some(id),
            _ => None,
        }
    }
    /// The items of a proper list, if this is one.
    pub fn as_list(&self) -> Option<&[Syntax]> {
        match &self.datum {
            Datum::Nil => Some(&[]),
            Datum::List(items) => Some(items),
            _ => None,
        }
    }
    /// Leading items and tail: every datum seen as a possibly improper list.
    pub fn parts(&self) -> (&[Syntax], Option<&Syntax>) {
        match &self.datum {
            Datum::Nil => (&[], None),
            Datum::List(items) => (items, None),
            Datum::Dotted(items) => {
                let (tail, front) = items.split_last().expect("dotted lists are not empty");
                (front, Some(tail))
            }
            _ => (&[], Some(self)),
        }
    }
}

/// Where an identifier is looked up: a module and how many of its open scopes are visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Context {
    /// Index of the module.
    pub module: u32,
    /// Nesting depth of local scopes, 0 at top level.
    pub depth: u32,
    /// The innermost body of a `let-syntax` around that is spliced into the body around it, by number; 0 where there is
    /// none.
    pub region: u32,
}

impl Context {
    /// The top level of a module.
    pub fn top(module: u32) -> Context {
        Context { module, depth: 0, region: 0 }
    }
}

#[derive(Clone, Copy)]
struct IdentInfo {
    name: u32,
    parent: Option<(Ident, Context)>,
    /// Of an alias: the first of those that were made in the same expansion, one after another.
    expansion: Ident,
}

/// The table of identifiers of a session.
#[derive(Default)]
pub struct Names {
    strings: Vec<Rc<str>>,
    map: FxHashMap<Rc<str>, Ident>,
    info: Vec<IdentInfo>,
    /// Aliases that were added to an expansion later.
    late: Vec<Ident>,
    labels: u32,
}

impl Names {
    /// The base identifier called `name`.
    pub fn intern(&mut self, name: &str) -> Ident {
        if let Some(id) = self.map.get(name) {
            return *id;
        }
        let text: Rc<str> = name.into();
        let id = Ident(self.info.len() as u32);
        self.info.push(IdentInfo { name: self.strings.len() as u32, parent: None, expansion: id });
        self.strings.push(text.clone());
        self.map.insert(text, id);
        id
    }
    /// The base identifier called `name`, if it was ever mentioned.
    pub fn known(&self, name: &str) -> Option<Ident> {
        self.map.get(name).copied()
    }
    /// A fresh alias of `parent` as seen from `context`.
    pub fn alias(&mut self, parent: Ident, context: Context) -> Ident {
        let id = Ident(self.info.len() as u32);
        self.alias_in(id, parent, context)
    }
    /// A fresh alias of an expansion whose first alias is `first`, made behind the others of it.
    pub fn alias_in(&mut self, first: Ident, parent: Ident, context: Context) -> Ident {
        let id = Ident(self.info.len() as u32);
        let name = self.info[parent.0 as usize].name;
        self.info.push(IdentInfo { name, parent: Some((parent, context)), expansion: first });
        id
    }
    /// The alias with this name that was made in the same expansion as the alias `id`, in the same context.
    pub fn sibling(&self, id: Ident, name: &str) -> Option<Ident> {
        let wanted = self.info[id.0 as usize];
        let (_, context) = wanted.parent?;
        let first = wanted.expansion;
        let together = (first.0..self.info.len() as u32).map(Ident);
        let together = together.take_while(|i| self.info[i.0 as usize].expansion == first);
        together.chain(self.late.iter().copied()).find(|i| {
            let info = &self.info[i.0 as usize];
            info.expansion == first && info.parent.is_some_and(|(_, c)| c == context) && &**self.name(*i) == name
        })
    }
    /// The identifier with this name that is where the identifier `id` is: as if both had been written in one place.
    pub fn like(&mut self, id: Ident, name: &str) -> Ident {
        let info = self.info[id.0 as usize];
        let Some((parent, context)) = info.parent else { return self.intern(name) };
        if let Some(sibling) = self.sibling(id, name) {
            return sibling;
        }
        let parent = self.like(parent, name);
        let late = self.alias_in(info.expansion, parent, context);
        self.late.push(late);
        late
    }
    /// A new label.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label { id: self.labels - 1, cyclic: false }
    }
    /// Number of labels made so far.
    pub fn label_count(&self) -> u32 {
        self.labels
    }
    /// What an alias stands for.
    pub fn parent(&self, id: Ident) -> Option<(Ident, Context)> {
        self.info[id.0 as usize].parent
    }
    /// The name, whatever macros did to the identifier.
    pub fn name(&self, id: Ident) -> &Rc<str> {
        &self.strings[self.info[id.0 as usize].name as usize]
    }
    /// The base identifier with the same name.
    pub fn base(&self, mut id: Ident) -> Ident {
        while let Some((parent, _)) = self.parent(id) {
            id = parent;
        }
        id
    }
    /// Forgets all but the first `n` identifiers: nobody has the others any more.
    pub fn truncate(&mut self, n: usize) {
        self.late.retain(|id| (id.0 as usize) < n);
        for info in self.info.drain(n..).rev() {
            if info.parent.is_none()
                && let Some(name) = self.strings.pop()
            {
                self.map.remove(&name);
            }
        }
    }
    /// Number of identifiers made so far.
    pub fn len(&self) -> usize {
        self.info.len()
    }
    /// No identifiers yet?
    pub fn is_empty(&self) -> bool {
        self.info.is_empty()
    }
}
