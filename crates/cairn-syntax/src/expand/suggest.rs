//! What somebody probably meant who wrote a name that is not defined.
//!
//! The problem: a forgotten import and a slip of the pen look the same to the expander. The idea: a name that a library
//! exports is that one, and which libraries there are can be asked ([`super::Loader::library_names`]); otherwise the
//! nearest name that is visible is offered, if it is near enough.
//!
//! Suggestions are looked for when there is something to warn of, and only then are the exports of all libraries read,
//! once in a session.

use super::{Binding, Environment, Expander, Loader, Session};
use crate::read::Reader;
use crate::syntax::{Ident, Names, Syntax};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The library to import for a name, as text.
pub(super) type Homes = FxHashMap<String, String>;

/// Libraries in the order in which they are suggested: those of the standard, the SRFIs, the last standard, ours.
fn rank(library: &str) -> (usize, usize) {
    const FAMILIES: [&str; 5] = ["(scheme base)", "(scheme r5rs)", "(scheme ", "(srfi ", "("];
    const ORDER: [usize; 5] = [0, 3, 1, 2, 4];
    let family = FAMILIES.iter().position(|f| library.starts_with(f)).unwrap_or(0);
    (ORDER[family], library.len())
}

/// Which library exports what, as their texts say.
fn homes(loader: &mut dyn Loader) -> Homes {
    let mut libraries: Vec<(String, String)> = Vec::new();
    for name in loader.library_names() {
        if let Ok(Some((_, text))) = loader.load_library(&name) {
            libraries.push((name.to_string(), text));
        }
    }
    // the best one is entered last
    libraries.sort_by_cached_key(|(name, _)| Reverse((rank(name), name.clone())));
    let mut homes = Homes::default();
    for (library, text) in libraries {
        for name in exports(&text) {
            homes.insert(name, library.clone());
        }
    }
    homes
}

/// The names that a library exports, by its text.
fn exports(text: &str) -> Vec<String> {
    let mut names = Names::default();
    let mut found = Vec::new();
    for (at, _) in text.match_indices("(export ").chain(text.match_indices("(export\n")) {
        let Ok(Some(form)) = Reader::new(0, &text[at..], &mut names).next_datum() else { continue };
        // (rename inner outer)
        let exported = |item: &Syntax| item.as_ident().or_else(|| item.as_list()?.last()?.as_ident());
        found.extend(form.as_list().unwrap_or_default().iter().skip(1).filter_map(exported));
    }
    found.into_iter().map(|id| names.name(id).to_string()).collect()
}

impl Session {
    /// What to do about a name that is not defined in an environment, if there is something to say.
    pub fn suggestion(&mut self, name: &str, environment: Environment, loader: &mut dyn Loader) -> Option<String> {
        let id = self.names.intern(name);
        Expander::new(self, loader).suggestion_in(environment.0 as usize, id, name)
    }
}

impl Expander<'_> {
    /// What to do about a name that is not defined.
    pub(super) fn suggestion(&mut self, id: Ident, name: &str) -> Option<String> {
        let module = self.s.modules.iter().rposition(|m| m.unbound.contains_key(&id))?;
        self.suggestion_in(module, id, name)
    }

    /// What to do about a name that is not defined in a module.
    fn suggestion_in(&mut self, module: usize, id: Ident, name: &str) -> Option<String> {
        if self.s.homes.is_none() {
            self.s.homes = Some(homes(self.loader));
        }
        let homes = self.s.homes.as_ref()?;
        let module = self.s.modules.get(module)?;
        let limit = match name.chars().count() {
            0..=2 => 0,
            3..=5 => 1,
            _ => 2,
        };
        // nearest first, variables before keywords, what is visible before what is in a library of the standard
        let mut best: Option<(usize, u8, &str)> = None;
        let mut offer = |other, kind| {
            if str::starts_with(other, '%') || str::len(other).abs_diff(name.len()) > limit {
                return;
            }
            let d = distance(name, other);
            let choice = (d, kind, other);
            if d <= limit && best.is_none_or(|b| choice < b) {
                best = Some(choice);
            }
        };
        for (other, entrance) in &module.table {
            if self.s.names.base(*other) == id && *other != id {
                return Some(format!(
                    "a macro defines a `{name}` here, but a name that a macro inserts is visible to that expansion \
                     only; pass the name to the macro as an argument"
                ));
            }
            let keyword = matches!(entrance.binding, Binding::Core(_) | Binding::Macro(_));
            offer(self.name(*other), keyword.into());
        }
        let standard = homes.iter().filter(|(_, home)| home.starts_with("(scheme "));
        standard.for_each(|(other, _)| offer(other, 2));
        let loaded =
            || self.s.libraries.iter().filter(|(_, l)| l.get(id).is_some()).map(|(n, _)| n.to_string()).min();
        if let Some(home) = homes.get(name).cloned().or_else(loaded) {
            return Some(format!("it is exported by {home}: (import {home})"));
        }
        let (_, kind, other) = best?;
        let home = homes.get(other).filter(|_| kind == 2).map(|home| format!(" of {home}"));
        Some(format!("did you mean `{other}`{}?", home.unwrap_or_default()))
    }
}

/// The candidate that was probably meant.
pub(super) fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    candidates.map(|c| (distance(name, c), c)).filter(|(d, _)| *d <= 2 && *d < name.len()).min().map(|(_, c)| c)
}

/// Edit distance with transpositions.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mut d = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 1);
            }
            row.push(d);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
