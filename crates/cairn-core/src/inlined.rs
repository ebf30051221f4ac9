//! Where inlined code came from.
//!
//! The problem: an error in a procedure that was inlined must be reported like any other, with the calls that led to
//! it, though no frame tells of them. The idea: a [`Site`] in an inlined body names a row of this table, which says
//! where the text stands, in which procedure, and at which call that procedure was inlined, which may itself be such a
//! site.
//!
//! ```text
//! (define (g x) (car x))             (car x)  row 1: the text 0:14 in g at row 0
//! (define (f x) (+ 1 (g x)))         (g x)    row 0: the text 0:42 in f at 0:58
//! (display (f 5))
//! ```
//!
//! Calls in tail position ([`Site::is_tail`]) have no frame to return to: backtraces leave them out, so that they show
//! what continues after an error, the same at every level of optimization. Positions in inlined library code are of no
//! use to anyone: they become that of the call. Procedures nested in an inlined body keep their positions (those of the
//! library point at the call, but count for no frame), for they may be called from anywhere; when one becomes a loop of
//! the body after all, it is told where it is ([`InlineTable::inline`]).
//!
//! What a macro's template has made is like an inlined body: the macro is its procedure, the use is the call. The
//! expander makes such rows, and messages show the template and the use.
//!
//! Invariants: equal rows are one row; a row's `site` is never inlined itself; `at` names an earlier row, if any.

use cairn_layout::code::Site;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A position in an inlined body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Inlined {
    /// Where the text stands.
    pub site: Site,
    /// Name of the procedure that it is written in.
    pub procedure: Rc<str>,
    /// The call that the body replaces.
    pub at: Site,
}

/// All positions in inlined bodies.
#[derive(Clone, Default, Debug)]
pub struct InlineTable {
    rows: Vec<Inlined>,
    /// Of each row the number of its procedure's name: so rows are compared without a look at the text.
    names_of_rows: Vec<u32>,
    index: FxHashMap<(Site, u32, Site), u32>,
    names: FxHashMap<Rc<str>, u32>,
    /// Which sources are the library's.
    pub(crate) library: Vec<bool>,
}

impl InlineTable {
    /// The site of what a template of `mac` has made for a use at `at`.
    pub fn expanded(&mut self, site: Site, mac: Rc<str>, at: Site) -> Site {
        self.intern(Inlined { site: site.with_who(None), procedure: mac, at: at.with_who(None) })
            .with_who(site.who())
    }

    /// The site of a call in tail position of its procedure, before anything is inlined. The macro uses that it comes
    /// from are so, too.
    pub fn tail(&mut self, s: Site) -> Site {
        let new = match self.get(s).map(|row| row.at) {
            Some(at) => {
                let at = self.tail(at);
                self.with_at(s, at).with_who(s.who())
            }
            None => s,
        };
        new.tail()
    }

    /// What a site of an inlined body stands for.
    pub fn get(&self, s: Site) -> Option<&Inlined> {
        self.rows.get(s.row()? as usize)
    }

    /// In how many bodies, each inlined in the next, the site stands.
    pub fn depth(&self, mut s: Site) -> usize {
        let mut depth = 0;
        while let Some(row) = self.get(s) {
            s = row.at;
            depth += 1;
        }
        depth
    }

    /// The site of this row.
    pub fn intern(&mut self, row: Inlined) -> Site {
        let next = self.names.len() as u32;
        let name = match self.names.get(&row.procedure) {
            Some(name) => *name,
            None => *self.names.entry(row.procedure.clone()).or_insert(next),
        };
        self.intern_named(row, name)
    }

    /// The site of this row, when the number of its procedure's name is known.
    fn intern_named(&mut self, row: Inlined, name: u32) -> Site {
        let next = self.rows.len() as u32;
        let i = *self.index.entry((row.site, name, row.at)).or_insert(next);
        if i == next {
            self.rows.push(row);
            self.names_of_rows.push(name);
        }
        Site::inlined(i)
    }

    /// The site of the row of `s`, which is one of an inlined body, when the call is `at`.
    fn with_at(&mut self, s: Site, at: Site) -> Site {
        let i = s.row().expect("inlined") as usize;
        let (row, name) = (&self.rows[i], self.names_of_rows[i]);
        match self.index.get(&(row.site, name, at)) {
            Some(i) => Site::inlined(*i),
            None => {
                let row = Inlined { at, ..row.clone() };
                self.intern_named(row, name)
            }
        }
    }

    /// Site `s` of the body of `procedure` after that was inlined at the call `at`; code without a position, and
    /// library code, take that of the call. An unknown `at` leaves the site *open*: a later call of this may say more.
    pub fn inline(&mut self, s: Site, procedure: &Rc<str>, at: Site) -> Site {
        if at.is_known() && s.is_tail() && self.text(s) == self.text(at) {
            return at.with_who(s.who()); // library code that was moved there before
        }
        let new = match self.get(s).map(|row| row.at) {
            None if !s.is_known() || self.is_library(s) => return s.moved_to(at),
            None => self.intern(Inlined {
                site: s.plain().with_who(None),
                procedure: procedure.clone(),
                at: at.with_who(None),
            }),
            Some(Site::NONE) => self.with_at(s, at.with_who(None)),
            Some(outer) => {
                let outer = self.inline(outer, procedure, at);
                self.with_at(s, outer)
            }
        };
        let new = new.with_who(s.who());
        if s.is_tail() { new.tail() } else { new }
    }

    /// Site `s` of a procedure nested in a body that was inlined at the call `at`. Errors in library code are shown
    /// there.
    pub fn inline_nested(&mut self, s: Site, at: Site) -> Site {
        match self.get(s).map(|row| row.at) {
            None if at.is_known() && self.is_library(s) => {
                let place = if self.get(at).is_some() { self.with_at(at, Site::NONE) } else { at };
                place.with_who(s.who()).tail()
            }
            None => s,
            Some(outer) => {
                let at = self.inline_nested(outer, at);
                let new = if at == outer { s } else { self.with_at(s, at).with_who(s.who()) };
                if s.is_tail() { new.tail() } else { new }
            }
        }
    }

    /// Where the text of `s` stands.
    fn text(&self, s: Site) -> Site {
        self.get(s).map_or(s, |row| row.site).plain().with_who(None)
    }

    /// Is it in a copy of a procedure that is not said to be at any call?
    pub fn is_open(&self, s: Site) -> bool {
        let mut s = s;
        while let Some(row) = self.get(s) {
            if row.at == Site::NONE {
                return true;
            }
            s = row.at;
        }
        false
    }

    fn is_library(&self, s: Site) -> bool {
        s.file().and_then(|f| self.library.get(f as usize)).is_some_and(|l| *l)
    }

    /// The positions that a site stands for, innermost first, each with the procedure it is written in, if that is not
    /// the one whose code it is. All but the first are calls.
    pub fn chain(&self, s: Site) -> Vec<(Site, Option<&Rc<str>>)> {
        let mut chain = Vec::new();
        let mut s = s;
        while let Some(row) = self.get(s) {
            let site = row.site.with_who(s.who());
            chain.push((if s.is_tail() { site.tail() } else { site }, Some(&row.procedure)));
            s = row.at;
        }
        if s != Site::NONE || chain.is_empty() {
            chain.push((s, None));
        }
        chain
    }

    /// The reverse of [`InlineTable::chain`].
    pub fn from_chain(&mut self, chain: Vec<(Site, Option<Rc<str>>)>) -> Site {
        chain.into_iter().rev().fold(Site::NONE, |at, (site, procedure)| match procedure {
            Some(procedure) => {
                self.intern(Inlined { site: site.with_who(None), procedure, at }).with_who(site.who())
            }
            None => site,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(t: &InlineTable, s: Site) -> String {
        let place = |s: Site| if s == Site::NONE { "?".into() } else { s.start().to_string() };
        let item = |(s, p): &(Site, Option<&Rc<str>>)| match p {
            Some(p) => format!("{} in {p}", place(*s)),
            None => place(*s),
        };
        t.chain(s).iter().map(item).collect::<Vec<_>>().join(" at ")
    }

    #[test]
    fn chains_grow_at_their_outer_end() {
        let mut t = InlineTable::default();
        let (f, g): (Rc<str>, Rc<str>) = ("f".into(), "g".into());
        let inner = t.inline(Site::new(0, 1), &g, Site::new(0, 2));
        assert_eq!(show(&t, inner), "1 in g at 2");
        let both = t.inline(inner, &f, Site::new(0, 3));
        assert_eq!(show(&t, both), "1 in g at 2 in f at 3");
        // the other order: f inlined first, then g at the call in its copy
        let call = t.inline(Site::new(0, 2), &f, Site::new(0, 3));
        assert_eq!(t.inline(Site::new(0, 1), &g, call), both);
        let chain = t.chain(both).into_iter().map(|(s, p)| (s, p.cloned())).collect();
        assert_eq!(t.from_chain(chain), both);
    }

    #[test]
    fn tail_calls_keep_their_mark() {
        let mut t = InlineTable::default();
        let (f, g): (Rc<str>, Rc<str>) = ("f".into(), "g".into());
        let inner = t.inline(Site::new(0, 1), &g, Site::new(0, 2).tail());
        let both = t.inline(inner, &f, Site::new(0, 3));
        assert_eq!(show(&t, both), "1 in g at 2 in f at 3");
        let tails: Vec<bool> = t.chain(both).iter().map(|(s, _)| s.is_tail()).collect();
        assert_eq!(tails, [false, true, false]);
        assert_eq!(t.inline(Site::NONE, &g, inner), inner);
    }

    #[test]
    fn library_code_takes_the_position_of_its_call() {
        let mut t = InlineTable { library: vec![false, true], ..InlineTable::default() };
        let (f, map): (Rc<str>, Rc<str>) = ("f".into(), "map".into());
        let call = Site::new(0, 7);
        assert_eq!(t.inline(Site::new(1, 5), &map, call), call);
        // a lambda inlined in the library procedure first
        let lambda = t.inline(Site::new(0, 9), &f, Site::new(1, 5));
        let moved = t.inline(lambda, &map, call);
        assert_eq!(show(&t, moved), "9 in f at 7");
    }

    #[test]
    fn loops_are_told_where_they_are() {
        let mut t = InlineTable::default();
        let (f, next): (Rc<str>, Rc<str>) = ("f".into(), "next".into());
        let entry = t.inline(Site::new(0, 1), &f, Site::new(0, 2));
        let moved = t.inline(Site::new(0, 5), &next, entry);
        assert_eq!(show(&t, moved), "5 in next at 1 in f at 2");
        // the other order
        let early = t.inline(Site::new(0, 5), &next, Site::new(0, 1));
        assert_eq!(t.inline(early, &f, Site::new(0, 2)), moved);
        // a loop copied from another procedure
        let open = t.inline(Site::new(0, 8), &f, Site::NONE);
        assert_eq!(show(&t, open), "8 in f");
        let moved = t.inline(open, &f, Site::new(0, 6));
        assert_eq!(show(&t, moved), "8 in f at 6");
    }
}
