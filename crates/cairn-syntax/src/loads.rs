//! What the files may define that a text loads: `(load "file")`, with the name of the file written there.
//!
//! The problem: a program defines with `load` what its own text does not, and no warning may be wrong. The idea: a
//! form that is a definition defines its name; any other, which may be the use of a macro, may define all names that
//! stand in it. So nothing is expanded, and a name that is written wrongly is missed only if such a form of the file
//! has it, too.
//!
//! Complexity: one pass over each text.

use crate::expand::Loader;
use cairn_layout::lexeme::{self, Kind, Lexeme};
use rustc_hash::FxHashSet;

/// The names that may be defined by the files which the text at `path` loads, and by those that they load.
pub fn names_of_loads(path: &str, text: &str, loader: &mut dyn Loader) -> FxHashSet<String> {
    let (mut names, mut seen) = (FxHashSet::default(), FxHashSet::default());
    let mut texts: Vec<(String, String)> = files(path, text, loader);
    while let Some((path, text)) = texts.pop() {
        if seen.insert(path.clone()) {
            definitions(&text, &mut names);
            texts.extend(files(&path, &text, loader));
        }
    }
    names
}

/// Paths and texts of the files that a text loads.
fn files(path: &str, text: &str, loader: &mut dyn Loader) -> Vec<(String, String)> {
    let loads = lexeme::lexemes(text).filter(|l| l.kind == Kind::Open).filter_map(|open| {
        let head = lexeme::head(text, open.start).filter(|head| head.text(text) == "load")?;
        let file = datum_behind(text, head).filter(|l| l.kind == Kind::String && l.whole)?;
        Some(text[file.start + 1..file.end - 1].to_string())
    });
    loads.filter_map(|file| loader.load_include(path, &file).ok()).collect()
}

/// What is not atmosphere behind a lexeme.
fn datum_behind(text: &str, l: Lexeme) -> Option<Lexeme> {
    std::iter::successors(lexeme::next(text, l.end), |l| lexeme::next(text, l.end)).find(|l| !l.is_atmosphere())
}

/// Adds the names that the forms of a text may define.
fn definitions(text: &str, names: &mut FxHashSet<String>) {
    for start in lexeme::lists(text) {
        match lexeme::head(text, start) {
            Some(head) if head.text(text) == "define" => {
                let mut name = datum_behind(text, head);
                while let Some(open) = name.filter(|l| l.kind == Kind::Open) {
                    name = datum_behind(text, open);
                }
                names.extend(name.map(|l| plain(l.text(text))));
            }
            _ => names.extend(words(&text[start..lexeme::datum_end(text, start)])),
        }
    }
}

fn words(form: &str) -> impl Iterator<Item = String> + '_ {
    lexeme::lexemes(form).filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol)).map(|l| plain(l.text(form)))
}

/// A name as messages show it.
fn plain(name: &str) -> String {
    name.trim_matches('|').to_string()
}
