//! Ports of text: what is written is collected, what is read is there as a whole.

use super::stop::{Res, Stop};
use cairn_layout::object::port;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A port of text.
#[derive(Default)]
pub struct Port {
    pub(super) text: RefCell<String>,
    /// Where it is read, in bytes; a port without collects what is written.
    at: Option<Cell<usize>>,
    closed: Cell<bool>,
}

impl Port {
    /// One from which this can be read.
    pub(super) fn reading(text: String) -> Rc<Port> {
        Rc::new(Port { text: RefCell::new(text), at: Some(Cell::new(0)), closed: Cell::new(false) })
    }

    pub(super) fn is_output(&self) -> bool {
        self.at.is_none()
    }

    /// What `read` makes of the text that is not read yet; it also tells how many bytes it takes.
    pub(super) fn take<T>(&self, read: impl FnOnce(&str) -> (T, usize)) -> Res<T> {
        let at = self.at.as_ref().filter(|_| !self.closed.get()).ok_or(Stop::Operand)?;
        let (result, length) = read(&self.text.borrow()[at.get()..]);
        at.set(at.get() + length);
        Ok(result)
    }

    pub(super) fn close(&self) {
        self.closed.set(true);
    }

    /// The flags of a port object ([`port::FLAGS`]).
    pub(super) fn flags(&self) -> i64 {
        let direction = if self.is_output() { port::FLAG_OUTPUT } else { port::FLAG_INPUT };
        let open = if self.closed.get() { 0 } else { port::FLAG_OPEN };
        direction | port::FLAG_TEXTUAL | open
    }
}
