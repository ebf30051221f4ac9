//! Ports of macro transformers: strings that are written or read, and files that are read, which the host has.
//!
//! A file is read as a whole when it is opened, so a transformer that includes files, as R6RS's libraries do by
//! `(call-with-input-file name (lambda (p) … (read p)))`, needs nothing of the runtime. Data are read by the reader of
//! the host: [`super::machine::Natives::read`].

use super::machine::{Machine, Value};
use super::port::Port;
use super::stop::{Res, Stop};
use super::transform::{character, string};
use super::values::{Atom, Val, boolean, unspecified};
use cairn_layout::code::Site;
use cairn_layout::object::port;
use cairn_num::{Int, Number};
use std::rc::Rc;

fn end_of_file<'p>() -> Value<'p> {
    Val::Atom(Atom::Eof)
}

impl<'p> Machine<'p> {
    /// A runtime call that has to do with ports; `None` if it is another one.
    pub(super) fn port_call(&self, name: &'static str, args: &[Value<'p>]) -> Option<Res<Value<'p>>> {
        Some(match (name, args) {
            ("file-exists?", [Val::String(path)]) => self.file(&path.borrow()).map(|text| boolean(text.is_ok())),
            ("open-file", [Val::String(path), Val::Num(Number::Int(Int::Fix(flags)))])
                if *flags == port::FLAG_INPUT | port::FLAG_TEXTUAL =>
            {
                self.file(&path.borrow()).and_then(|text| match text {
                    Ok(text) => Ok(Val::Port(Port::reading(text))),
                    Err(message) => Err(Stop::Raised(message, Site::NONE)),
                })
            }
            ("open-input-string", [Val::String(s)]) => Ok(Val::Port(Port::reading(s.borrow().iter().collect()))),
            ("open-output-string", []) => Ok(Val::Port(Rc::default())),
            ("get-output-string", [Val::Port(p)]) if p.is_output() => Ok(string(&p.text.borrow())),
            ("write-char", [Val::Atom(Atom::Char(c)), Val::Port(p)]) if p.is_output() => {
                p.text.borrow_mut().push(*c);
                Ok(unspecified())
            }
            ("read-char" | "peek-char", [Val::Port(p)]) => p.take(|rest| match rest.chars().next() {
                Some(c) => (character(c), if name == "read-char" { c.len_utf8() } else { 0 }),
                None => (end_of_file(), 0),
            }),
            ("char-ready?", [Val::Port(p)]) => p.take(|_| (boolean(true), 0)),
            ("read-line", [Val::Port(p)]) => p.take(|rest| match rest.split_once('\n') {
                Some((line, _)) => (string(line), line.len() + 1),
                None if rest.is_empty() => (end_of_file(), 0),
                None => (string(rest), rest.len()),
            }),
            ("read-string", [Val::Num(Number::Int(Int::Fix(k))), Val::Port(p)]) => p.take(|rest| {
                let end = rest.char_indices().nth(*k as usize).map_or(rest.len(), |(end, _)| end);
                (if end == 0 && *k > 0 { end_of_file() } else { string(&rest[..end]) }, end)
            }),
            ("close-port", [Val::Port(p)]) => {
                p.close();
                Ok(unspecified())
            }
            ("flush-port", [Val::Port(_)]) => Ok(unspecified()),
            _ => return None,
        })
    }

    /// The text of a file, or why it is not to be had.
    fn file(&self, path: &[char]) -> Res<Result<String, String>> {
        match &self.host {
            Some(host) if !host.audits => Ok(host.natives.file(&path.iter().collect::<String>())),
            _ => Err(Stop::Unsupported("open-file")),
        }
    }

    /// `read`: the next datum in a port.
    pub(super) fn read_datum(&self, p: &Port) -> Res<Result<Value<'p>, String>> {
        let Some(host) = &self.host else { return Err(Stop::Unsupported("read")) };
        p.take(|rest| match host.natives.read(rest) {
            Ok((datum, length)) => (Ok(datum.unwrap_or_else(end_of_file)), length),
            Err(message) => (Err(message), 0),
        })
    }
}
