//! Imports as other dialects write them.
//!
//! The problem: `(import (chicken base))`, `(use-modules (srfi srfi-1))`, `#lang racket` name libraries that are not
//! here, and whatever the program means by its names follows from that. The idea: such a form is an error that waits
//! until the program is expanded, as if it had the names of R7RS. What is missing then, and what it uses of R7RS, makes
//! up the import to write instead ([`Expander::imports_of`]).
//!
//! SRFIs have many names. Those of SRFI 97 and Guile mean the same libraries as R7RS's: [`Expander::srfi`].

use super::loader::{LibraryName, NamePart};
use super::meaning::Family;
use super::state::{Expander, Foreign, R};
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Datum, Ident, Syntax};
use cairn_num::{Int, Number};

/// How the names of other systems' libraries begin.
const FAMILIES: [&str; 17] = [
    "rnrs",
    "r6rs",
    "chezscheme",
    "chicken",
    "chibi",
    "gambit",
    "gauche",
    "gerbil",
    "guile",
    "ice-9",
    "ikarus",
    "kawa",
    "larceny",
    "mit",
    "racket",
    "rackunit",
    "sagittarius",
];

/// Units of Chicken, which are imported by a plain name.
const UNITS: [&str; 8] = ["chicken", "data-structures", "extras", "lolevel", "ports", "posix", "scheme", "utils"];

/// Forms that import, and whose they are.
const FORMS: [(&str, &str); 5] = [
    ("use-modules", "Guile"),
    ("require", "Racket"),
    ("use", "Chicken"),
    ("require-extension", "Chicken"),
    ("require-library", "Chicken"),
];

/// Libraries that are whole languages: see [`Expander::is_language`].
pub(super) const LANGUAGES: [&str; 3] = ["(sicp)", "(cairn chez)", "(cairn mit)"];

/// What SRFI 97 calls SRFIs.
const MNEMONICS: [(u64, &str); 52] = [
    (0, "cond-expand"),
    (1, "lists"),
    (2, "and-let*"),
    (5, "let"),
    (6, "basic-string-ports"),
    (8, "receive"),
    (9, "records"),
    (11, "let-values"),
    (13, "strings"),
    (14, "char-sets"),
    (16, "case-lambda"),
    (17, "generalized-set!"),
    (18, "multithreading"),
    (19, "time"),
    (21, "real-time-multithreading"),
    (23, "error"),
    (25, "multi-dimensional-arrays"),
    (26, "cut"),
    (27, "random-bits"),
    (28, "basic-format-strings"),
    (29, "localization"),
    (31, "rec"),
    (37, "args-fold"),
    (38, "with-shared-structure"),
    (39, "parameters"),
    (41, "streams"),
    (42, "eager-comprehensions"),
    (43, "vectors"),
    (44, "collections"),
    (45, "lazy"),
    (46, "syntax-rules"),
    (47, "arrays"),
    (48, "intermediate-format-strings"),
    (51, "rest-values"),
    (54, "cat"),
    (57, "records"),
    (59, "vicinities"),
    (60, "integer-bits"),
    (61, "cond"),
    (63, "arrays"),
    (64, "testing"),
    (66, "octet-vectors"),
    (67, "compare-procedures"),
    (69, "basic-hash-tables"),
    (71, "let"),
    (74, "blobs"),
    (78, "lightweight-testing"),
    (86, "mu-and-nu"),
    (87, "case"),
    (95, "sorting-and-merging"),
    (98, "os-environment-variables"),
    (99, "records"),
];

/// What `(cairn chez)` has and Chez Scheme has not: programs for it may import or define something else by these names.
const NOT_OF_CHEZ: &[&str] = &[
    "bytevector-append",
    "cond-expand",
    "current-jiffy",
    "current-second",
    "delay-force",
    "digit-value",
    "emergency-exit",
    "error-object-irritants",
    "error-object-message",
    "error-object?",
    "exact-integer?",
    "features",
    "file-error?",
    "floor-quotient",
    "floor-remainder",
    "floor/",
    "get-environment-variable",
    "get-output-bytevector",
    "include-ci",
    "input-port-open?",
    "jiffies-per-second",
    "list-set!",
    "make-promise",
    "open-input-bytevector",
    "open-output-bytevector",
    "output-port-open?",
    "peek-u8",
    "promise?",
    "read-bytevector",
    "read-bytevector!",
    "read-error?",
    "read-line",
    "read-string",
    "read-u8",
    "square",
    "string->vector",
    "string-map",
    "symbol<?",
    "truncate-quotient",
    "truncate-remainder",
    "truncate/",
    "u8-ready?",
    "vector->string",
    "vector-append",
    "vector-copy!",
    "write-bytevector",
    "write-shared",
    "write-simple",
    "write-string",
    "write-u8",
];

impl Expander<'_> {
    /// The import sets of a form without those that name other systems' libraries, or libraries of ours without
    /// parentheses.
    pub(super) fn without_foreign(&mut self, form: Span, mut sets: &[Syntax]) -> Vec<Syntax> {
        let (mut missing, mut bare) = (None, Vec::new());
        let mut kept = Vec::new();
        while let Some((set, rest)) = sets.split_first() {
            if let Some((library, rest)) = self.bare_library(sets) {
                bare.push(library.to_string());
                sets = rest;
                continue;
            }
            match self.foreign_library(set) {
                Some(name) => drop(missing.get_or_insert(name)),
                None => kept.push(set.clone()),
            }
            sets = rest;
        }
        let message = match missing {
            Some(name) => format!("there is no library {name}"),
            None if !bare.is_empty() => "the name of a library is a list".to_string(),
            None => return kept,
        };
        let texts = kept.iter().map(|set| self.text_at(set.span, 1000));
        let texts = texts.chain(bare).collect();
        self.foreign_form(form, message, texts);
        kept
    }

    /// The library that identifiers and numbers at the beginning of these import sets name, and the sets behind them.
    fn bare_library<'s>(&mut self, sets: &'s [Syntax]) -> Option<(LibraryName, &'s [Syntax])> {
        let mut parts = Vec::new();
        for set in sets {
            match &set.datum {
                Datum::Ident(id) => parts.push(NamePart::Symbol(self.name(*id).clone())),
                Datum::Number(n) => match **n {
                    Number::Int(Int::Fix(k)) if k >= 0 => parts.push(NamePart::Number(k as u64)),
                    _ => break,
                },
                _ => break,
            }
        }
        while !parts.is_empty() {
            let name = LibraryName(parts);
            if self.is_available(&name) {
                let rest = &sets[name.0.len()..];
                return Some((name, rest));
            }
            parts = name.0;
            parts.pop();
        }
        None
    }

    /// The text of the library that an import set names, if another system has it.
    fn foreign_library(&mut self, set: &Syntax) -> Option<String> {
        if let Some(id) = set.as_ident() {
            let name = self.name(id);
            return (name.starts_with("srfi-") || UNITS.contains(&&**name)).then(|| name.to_string());
        }
        let mut inner = set;
        while let Some([head, set, ..]) = inner.as_list()
            && set.as_list().is_some()
            && head.as_ident().is_some_and(|id| {
                matches!(&**self.name(id), "only" | "except" | "prefix" | "rename" | "for" | "library")
            })
        {
            inner = set;
        }
        let head = self.name(inner.as_list()?.first()?.as_ident()?).clone();
        if !FAMILIES.contains(&&*head) {
            return None;
        }
        let whole = self.imported_name(inner).is_ok_and(|name| self.is_available(&name));
        (!whole).then(|| self.source_text(inner))
    }

    /// Is it a form by which other systems import, at the top level of the program? Then it is noted.
    pub(super) fn is_foreign_import(&mut self, x: &Syntax, items: &[Syntax]) -> bool {
        if self.ctx.depth > 0 || self.s.main != Some(self.ctx.module) || items.len() < 2 {
            return false;
        }
        let Some(name) = items[0].as_ident().map(|id| self.name(id).clone()) else { return false };
        let Some((_, whose)) = FORMS.iter().find(|(n, _)| *n == &*name) else { return false };
        let names_module =
            |x: &Syntax| x.as_ident().is_some() || x.as_list().is_some() || matches!(x.datum, Datum::String(_));
        if !items[1..].iter().all(names_module) {
            return false;
        }
        let libraries: Vec<_> = items[1..].iter().filter_map(|x| self.srfi_of_module(x)).collect();
        let message = format!("`{name}` is how {whose} imports; it is not defined here");
        self.foreign_form(x.span, message, libraries);
        true
    }

    /// `(srfi srfi-1)`, `srfi-1` or `srfi/1` as R7RS writes it, if it is here.
    fn srfi_of_module(&mut self, x: &Syntax) -> Option<String> {
        let id = match x.as_list() {
            Some([_, name]) => name.as_ident()?,
            Some(_) => return None,
            None => x.as_ident()?,
        };
        let number = self.name(id).strip_prefix("srfi-").or_else(|| self.name(id).strip_prefix("srfi/"))?;
        let name = LibraryName(vec![NamePart::Symbol("srfi".into()), NamePart::Number(number.parse().ok()?)]);
        self.is_available(&name).then(|| name.to_string())
    }

    /// The first line of a program for Racket. `#lang sicp` imports `(sicp)`: then `true`.
    pub(super) fn language(&mut self, file: u32, text: &str, line: std::ops::Range<usize>) -> bool {
        let span = Span::new(file, line.start, line.end);
        let name = LibraryName(vec![NamePart::Symbol("sicp".into())]);
        if text[line].strip_prefix("#lang").map(str::trim) == Some("sicp") && self.is_available(&name) {
            self.import_whole(&name, span, Span { end: span.start, ..span });
            return true;
        }
        self.foreign_form(span, "`#lang` is Racket's; programs import libraries here".to_string(), Vec::new());
        false
    }

    fn foreign_form(&mut self, span: Span, message: String, kept: Vec<String>) {
        let module = self.ctx.module;
        let first = self.s.foreign.iter().all(|f| f.module != module);
        if first && (self.s.main == Some(module) || !self.loading.is_empty()) {
            self.import_defaults(span);
        }
        self.s.foreign.push(Foreign { module, span, message, kept });
    }

    /// Reports them, each with what to write instead.
    pub(super) fn report_foreign(&mut self) {
        let mut modules = Vec::new();
        for form in std::mem::take(&mut self.s.foreign) {
            let mut sets = form.kept;
            if !modules.contains(&form.module) {
                modules.push(form.module);
                // at the prompt all of R7RS is there, and what else is missing is said when it is used
                if self.s.main == Some(form.module) || self.s.modules[form.module as usize].name.is_some() {
                    let more = self.imports_of(form.module, true, &sets);
                    sets.splice(0..0, more);
                }
            }
            let help = match &sets[..] {
                [] => "leave this out".to_string(),
                sets => format!("write instead:\n(import {})", sets.join(" ")),
            };
            self.report(Diagnostic::new(form.span, form.message).help(help).root_cause().into());
        }
    }

    /// The R7RS name of an SRFI that is named as SRFI 97 or Guile do: `(srfi :1)`, `(srfi :1 lists)`, `(srfi 1 lists)`,
    /// `(srfi srfi-1)`. A library of just this name comes first. Names of later SRFIs are nobody's to give: behind a
    /// colon, any will do.
    pub(super) fn srfi(&mut self, name: LibraryName) -> LibraryName {
        let [NamePart::Symbol(family), number, rest @ ..] = &name.0[..] else { return name };
        let colon = matches!(number, NamePart::Symbol(s) if s.starts_with(':'));
        let number = match number {
            NamePart::Number(n) if !rest.is_empty() => Some(*n),
            NamePart::Number(_) | NamePart::Text(_) => None,
            NamePart::Symbol(s) => {
                s.strip_prefix(':').or_else(|| s.strip_prefix("srfi-")).and_then(|n| n.parse().ok())
            }
        };
        let (Some(number), "srfi") = (number, &**family) else { return name };
        if self.is_available(&name) {
            return name;
        }
        let of = |rest: &[NamePart]| LibraryName([&[name.0[0].clone(), NamePart::Number(number)], rest].concat());
        let is_mnemonic = matches!(rest, [NamePart::Symbol(s)] if colon || MNEMONICS.contains(&(number, &**s)));
        let mut usual = vec![of(rest)];
        usual.extend(is_mnemonic.then(|| of(&[])));
        usual.into_iter().find(|n| self.is_available(n)).unwrap_or(name)
    }

    /// The name of a library that is imported or asked for.
    pub(super) fn imported_name(&mut self, x: &Syntax) -> R<LibraryName> {
        let name = self.library_name(x)?;
        if let [NamePart::Symbol(only)] = &name.0[..]
            && matches!(&**only, "chezscheme" | "scheme")
            && !self.is_available(&name)
        {
            let ours = LibraryName(["cairn", "chez"].map(|s| NamePart::Symbol(s.into())).to_vec());
            return Ok(if self.is_available(&ours) { ours } else { name });
        }
        Ok(self.srfi(name))
    }

    /// Does an import set name the language of a dialect or a book, as a whole? Its programs define again what it has:
    /// those of SICP `square`, those for Chez Scheme `iota`.
    pub(super) fn is_language(&mut self, set: &Syntax) -> bool {
        self.imported_name(set).is_ok_and(|name| LANGUAGES.contains(&&*name.to_string()))
    }

    /// Is it Chez Scheme's own library of which a set imports something?
    pub(super) fn is_of_chez(&mut self, set: &Syntax) -> bool {
        let mut set = set;
        while let Some([_, inner, ..]) = set.as_list()
            && inner.as_list().is_some()
        {
            set = inner;
        }
        let Some([only]) = set.as_list() else { return false };
        only.as_ident().is_some_and(|id| matches!(&**self.name(id), "chezscheme" | "scheme"))
            && self.imported_name(set).is_ok_and(|name| name == LibraryName::of(&["cairn", "chez"]))
    }

    /// Of which libraries are the names of a set, under their own names?
    pub(super) fn family(&mut self, set: &Syntax) -> Family {
        let mut set = set;
        while let Some([modifier, inner, ..]) = set.as_list()
            && inner.as_list().is_some()
        {
            match modifier.as_ident().map(|id| &**self.name(id)) {
                Some("only" | "except" | "for" | "library") => set = inner,
                _ => return Family::Other,
            }
        }
        if self.is_of_chez(set) {
            return Family::Chez;
        }
        let first = set.as_list().and_then(|l| l.first()).and_then(Syntax::as_ident);
        if first.is_some_and(|id| &**self.name(id) == "rnrs") { Family::R6rs } else { Family::Other }
    }

    /// Is this a name of `(cairn chez)` that Chez Scheme does not have?
    pub(super) fn is_beside_chez(&self, id: Ident) -> bool {
        NOT_OF_CHEZ.contains(&&**self.name(id))
    }
}
