//! What somebody probably meant who wrote a name that is not defined.
//!
//! The problem: a forgotten import, a name of another dialect and a slip of the pen look the same to the expander. The
//! idea: a name that a library exports is that one, and which libraries there are can be asked
//! ([`Loader::library_names`]); `(cairn dialects)` has the names that other dialects have. Otherwise the nearest
//! name that is visible is offered, if it is what a slip makes of the name ([`slip`]).
//!
//! Help is one edit. A program that imports nothing has the names of R7RS, and loses them when it imports something: so
//! it is told all that it needs ([`Expander::imports_of`]).
//!
//! Suggestions are looked for when there is something to warn of, and only then are the exports of all libraries read,
//! once in a session.

use super::evaluate::Environment;
use super::foreign::LANGUAGES;
use super::language::without_language;
use super::loader::{DEFAULT_LIBRARIES, LibraryName, Loader};
use super::meaning::Binding;
use super::state::{Expander, Homes, Session};
use crate::read::Reader;
use crate::syntax::{Datum, Ident, Names, Syntax};
use rustc_hash::FxHashSet;

/// Libraries in the order in which they are suggested: those of the standard, the SRFIs, the last standard, ours.
fn rank(library: &str) -> (usize, usize) {
    const FAMILIES: [&str; 5] = ["(scheme base)", "(scheme r5rs)", "(scheme ", "(srfi ", "("];
    const ORDER: [usize; 5] = [0, 3, 1, 2, 4];
    let family = FAMILIES.iter().position(|f| library.starts_with(f)).unwrap_or(0);
    (ORDER[family], library.len())
}

/// How the names of libraries begin that others are made of.
const INTERNAL: [&str; 2] = ["(cairn rnrs ", "(cairn syntax-case)"];

/// Which library exports what, as their texts say.
fn homes(loader: &mut dyn Loader) -> Homes {
    let mut libraries: Vec<(String, String)> = Vec::new();
    for name in loader.library_names() {
        let full = name.to_string();
        if INTERNAL.iter().any(|internal| full.starts_with(internal)) {
            continue;
        }
        if let Ok(Some((_, text))) = loader.load_library(&name) {
            libraries.push((full, text));
        }
    }
    libraries.sort_by_cached_key(|(name, _)| (rank(name), name.clone()));
    let mut homes = Homes::default();
    for (library, text) in libraries {
        for name in exports(&text) {
            homes.entry(name).or_default().push(library.clone());
        }
    }
    // a whole language is for its programs, not for a name that something smaller has; R6RS's parts come before that
    let choices: [fn(&str) -> bool; 3] = [
        |l| !LANGUAGES.contains(&l) && !l.starts_with("(rnrs"),
        |l| l.starts_with("(rnrs "),
        |l| !LANGUAGES.contains(&l),
    ];
    for libraries in homes.values_mut() {
        if let Some(choice) = choices.iter().find(|choice| libraries.iter().any(|l| choice(l))) {
            libraries.retain(|l| choice(l));
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

/// What the standard writes instead of constants of other dialects.
const SPELLINGS: [(&str, &str); 4] = [("false", "#f"), ("true", "#t"), ("nil", "'()"), ("null", "'()")];

/// What R7RS writes instead of forms of other languages, for which `(cairn dialects)` has no macro.
const FORMS: [(&str, &str); 12] = [
    ("struct", "(define-record-type point (make-point x y) point? (x point-x) (y point-y))"),
    ("define-struct", "(define-record-type point (make-point x y) point? (x point-x) (y point-y))"),
    ("defun", "(define (name parameter ...) body ...)"),
    ("defn", "(define (name parameter ...) body ...)"),
    ("defvar", "(define name value)"),
    ("defparameter", "(define name value)"),
    ("setq", "(set! name value)"),
    ("setf", "(set! name value)"),
    ("incf", "(set! name (+ name 1))"),
    ("decf", "(set! name (- name 1))"),
    ("progn", "(begin expression ...)"),
    ("for", "(do ((i 0 (+ i 1))) ((= i n)) body ...)"),
];

impl Expander<'_> {
    /// What to do about a name that is not defined.
    pub(super) fn suggestion(&mut self, id: Ident, name: &str) -> Option<String> {
        let module = self.s.modules.iter().rposition(|m| m.unbound.contains_key(&id))?;
        self.suggestion_in(module, id, name)
    }

    /// What to do about a name that is not defined in a module.
    pub(super) fn suggestion_in(&mut self, module: usize, id: Ident, name: &str) -> Option<String> {
        let inserted = self.s.modules.get(module)?.table.keys().any(|o| self.s.names.base(*o) == id && *o != id);
        if inserted {
            return Some(format!(
                "a macro defines a `{name}` here, but a name that a macro inserts is visible to that expansion only; \
                 pass the name to the macro as an argument"
            ));
        }
        let mut home = self.home(name);
        if home.is_none() {
            let libraries = self.s.libraries.iter().filter(|(_, l)| l.get(id).is_some());
            home = libraries.map(|(n, _)| n.to_string()).min();
        }
        match home {
            Some(home) => Some(self.import_help(module, name, &home)),
            None => match FORMS.iter().find(|(form, _)| *form == name) {
                Some((_, instead)) => Some(format!("R7RS writes {instead}")),
                None => self.nearest_name(module, name),
            },
        }
    }

    /// The libraries of each name that one exports.
    fn homes(&mut self) -> &Homes {
        let loader = &mut *self.loader;
        self.s.homes.get_or_insert_with(|| homes(loader))
    }

    /// Sees to it that the session knows which library exports what.
    pub(super) fn know_homes(&mut self) {
        self.homes();
    }

    /// The libraries of R7RS that the program uses.
    pub(super) fn defaults(&mut self) -> Vec<String> {
        self.defaults_used().into_iter().map(|part| format!("(scheme {part})")).collect()
    }

    /// The libraries that export a name, the best one first.
    pub(super) fn libraries_with(&mut self, name: &str) -> Vec<String> {
        self.homes().get(name).cloned().unwrap_or_default()
    }

    /// The best library that exports a name.
    fn home(&mut self, name: &str) -> Option<String> {
        self.homes().get(name)?.first().cloned()
    }

    /// How to import `name` of the library `home`.
    fn import_help(&mut self, module: usize, name: &str, home: &str) -> String {
        let spelling = SPELLINGS.iter().find(|(n, _)| *n == name);
        let spelling = spelling.map_or(String::new(), |(_, s)| format!("R7RS writes {s}; "));
        if self.s.without_import != Some(module as u32) {
            let all = self.imports_of(module as u32, false, &[]);
            return match all.len() > 1 && all.iter().any(|l| l == home) {
                true => {
                    let all = all.join(" ");
                    format!("{spelling}it is exported by {home}; with what else is missing: (import {all})")
                }
                false => format!("{spelling}it is exported by {home}: (import {home})"),
            };
        }
        let libraries = self.imports_of(module as u32, true, &[]);
        let home = libraries.iter().find(|l| self.s.homes.as_ref().is_some_and(|h| exported_by(h, name, l)));
        let home = home.map_or("", |l| l);
        format!("{spelling}it is exported by {home}; begin the program with\n(import {})", libraries.join(" "))
    }

    /// The libraries that define what a module refers to and has not, with `defaults` also those parts of R7RS that
    /// the program uses, since it imports nothing.
    /// `here` are libraries that are imported anyway.
    pub(super) fn imports_of(&mut self, module: u32, defaults: bool, here: &[String]) -> Vec<String> {
        let mut libraries = here.to_vec();
        if defaults {
            libraries.extend(self.defaults());
        }
        let names = self.s.modules[module as usize].unbound.keys();
        let mut names: Vec<String> = names.map(|id| self.name(*id).to_string()).collect();
        names.sort();
        let homes = self.homes();
        // Without a comparator it is what other systems mean by that name.
        let older =
            names.iter().any(|n| n == "make-hash-table") && !names.iter().any(|n| n.contains("comparator"));
        let known = homes.get("make-hash-table").is_some_and(|c| c.iter().any(|l| l == "(srfi 69)"));
        if older && known && !libraries.iter().any(|l| l == "(srfi 69)") {
            libraries.push("(srfi 69)".to_string());
        }
        // names that leave no choice first
        names.sort_by_key(|n| homes.get(n).map_or(0, Vec::len));
        for name in names {
            let Some(candidates) = homes.get(&name) else { continue };
            if !candidates.iter().any(|c| libraries.contains(c)) {
                libraries.push(candidates[0].clone());
            }
        }
        libraries.retain(|l| !here.contains(l));
        libraries.sort_by_key(|l| rank(l).0);
        libraries
    }

    /// The parts of R7RS whose names occur in the program's text, `base` always.
    fn defaults_used(&mut self) -> Vec<&'static str> {
        let mut written = FxHashSet::default();
        for i in 0..self.s.sources.len() {
            let source = &self.s.sources[i];
            if source.library {
                continue;
            }
            let text = without_language(&source.text);
            let mut reader = Reader::new(i as u32, &text, &mut self.s.names);
            while let Ok(Some(x)) = reader.next_datum() {
                identifiers(x, &mut written);
            }
        }
        let mut parts: Vec<&'static str> = vec!["base"];
        // (scheme r5rs) has most names of the others: last
        let others = DEFAULT_LIBRARIES.iter().filter(|p| !matches!(**p, "base" | "r5rs"));
        for part in others.chain(["r5rs"].iter()) {
            let exports = |part: &str| self.s.libraries.get(&LibraryName::of(&["scheme", part]));
            let found = exports(part).is_some_and(|l| {
                l.exports.keys().any(|id| {
                    written.contains(id) && !parts.iter().any(|p| exports(p).is_some_and(|l| l.get(*id).is_some()))
                })
            });
            if found {
                parts.push(part);
            }
        }
        parts
    }

    /// The name that a slip of the pen made of this one.
    fn nearest_name(&mut self, module: usize, name: &str) -> Option<String> {
        self.homes();
        let homes = self.s.homes.as_ref()?;
        let module = self.s.modules.get(module)?;
        // nearest first, variables before keywords, what is visible before what is in a library of the standard
        let mut best: Option<(usize, u8, &str)> = None;
        let mut offer = |other, kind| {
            if str::starts_with(other, '%') {
                return;
            }
            if let Some(d) = slip(name, other) {
                let choice = (d, kind, other);
                if best.is_none_or(|b| choice < b) {
                    best = Some(choice);
                }
            }
        };
        for (other, entrance) in &module.table {
            let keyword = matches!(entrance.binding, Binding::Core(_) | Binding::Macro(_));
            offer(self.name(*other), keyword.into());
        }
        let standard = homes.iter().filter(|(_, homes)| homes[0].starts_with("(scheme "));
        standard.for_each(|(other, _)| offer(other, 2));
        let (_, kind, other) = best?;
        let home = homes.get(other).filter(|_| kind == 2).map(|homes| format!(" of {}", homes[0]));
        Some(format!("did you mean `{other}`{}?", home.unwrap_or_default()))
    }
}

fn exported_by(homes: &Homes, name: &str, library: &str) -> bool {
    homes.get(name).is_some_and(|h| h.iter().any(|l| l == library))
}

/// The identifiers in a datum.
fn identifiers(x: Syntax, found: &mut FxHashSet<Ident>) {
    let mut todo = vec![x];
    while let Some(x) = todo.pop() {
        match &x.datum {
            Datum::Ident(id) => drop(found.insert(*id)),
            Datum::List(items) | Datum::Dotted(items) => todo.extend(items.iter().cloned()),
            _ => {}
        }
    }
}

/// How far `name` is from `other`, if it is what a slip of the pen may have made of it: letters that changed places,
/// one too many or too few, and in longer names also wrong ones. First letters are right or have changed places, for a
/// name that begins otherwise is another name; a short one of which a letter is different is, too.
fn slip(name: &str, other: &str) -> Option<usize> {
    let (n, o) = (name.chars().count(), other.chars().count());
    let limit = match n {
        0..=2 => return None,
        3..=7 => 1,
        _ => 2,
    };
    if n.abs_diff(o) > limit {
        return None;
    }
    let d = distance(name, other);
    let (mut a, mut b) = (name.chars(), other.chars());
    let (a, b) = ((a.next(), a.next()), (b.next(), b.next()));
    let begins_alike = a.0 == b.0 || (a.0 == b.1 && a.1 == b.0);
    let mut letters: [Vec<char>; 2] = [name.chars().collect(), other.chars().collect()];
    letters.iter_mut().for_each(|l| l.sort_unstable());
    let substituted = n == o && letters[0] != letters[1];
    (d <= limit && begins_alike && !(n <= 5 && substituted)).then_some(d)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_told_from_other_names() {
        let slips = [
            ("lenght", "length"),
            ("dispaly", "display"),
            ("crd", "cdr"),
            ("null", "null?"),
            ("vector-set", "vector-set!"),
            ("stringappend", "string-append"),
            ("defin", "define"),
            ("lamdba", "lambda"),
            ("ocns", "cons"),
            ("newlin", "newline"),
            ("call-with-current-contination", "call-with-current-continuation"),
        ];
        for (name, other) in slips {
            assert!(slip(name, other).is_some(), "{name} for {other}");
        }
        let others = [
            ("get", "let"),
            ("height", "eighth"),
            ("cond", "cons"),
            ("last", "list"),
            ("put", "cut"),
            ("node", "mode"),
            ("add", "and"),
            ("map1", "cap"),
            ("sum", "sin"),
            ("max-size", "make-list"),
            ("go", "do"),
        ];
        for (name, other) in others {
            assert!(slip(name, other).is_none(), "{name} for {other}");
        }
    }
}
