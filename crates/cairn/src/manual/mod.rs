//! `cairn doc`: a manual of libraries, from their text.
//!
//! The problem: what a library offers is spread over its exports, what it imports and exports again, files that it
//! includes, and macros. The idea: the expander reads it as for an editor, and says of each exported name what it
//! stands for and where that is defined; the comment above the definition is its description, as in an editor's hover.
//!
//! ```text
//!  files ──expander──▶ exports: name ▶ kind, signatures, place, comment ──page──▶ index.html, a page for each library,
//!                                                                                 a page for each source, search.js
//! ```

mod contents;
mod page;

use crate::diagnostics::Messages;
use crate::error::Error;
use crate::lsp::{comment_above, library_root, signatures};
use crate::session::Compiler;
use crate::source::Source;
use crate::sources::Files;
use crate::unfinished::write_whole;
use crate::user_files;
use cairn_eval::library_loader;
use cairn_layout::lexeme;
use cairn_rt::describe_io;
use cairn_syntax::diagnostic::line_column;
use cairn_syntax::lint::Checker;
use cairn_syntax::{Entity, LibraryName, Session, Span};
use contents::{Export, Library, Manual, order};
use std::path::{Path, PathBuf};

/// Writes the manual of these files, and of the libraries below these directories, into a directory; with `own`, that
/// of Cairn's own library, too. The result: how many libraries, and how many names.
pub fn manual(compiler: &Compiler, paths: &[PathBuf], own: bool, output: &Path) -> Result<(usize, usize), Error> {
    let mut manual = Manual::default();
    let mut checker = Checker::default();
    for file in library_files(paths)? {
        let source = Source::read(&file)?;
        let root = library_root(&file, source.text());
        let mut directories = compiler.library_path.clone();
        directories.extend(root);
        let mut files = Files::new(&source, &directories, compiler.library());
        let report = checker.check(&file.display().to_string(), source.text(), &mut files);
        if !report.errors.is_empty() {
            let sources = checker.session().sources();
            return Err(Error::Rejected(Messages::errors(&report.errors, sources)));
        }
        let file = report.checked.file;
        let session = checker.session();
        let found: Vec<(String, Span)> = session.libraries_of(file).collect();
        for (name, span) in found {
            manual.add(session, &name, Some(span));
        }
    }
    if own {
        let mut session = Session::new();
        session.observe();
        let nothing = Source::new("", "");
        let names: Vec<LibraryName> =
            library_loader::names().into_iter().filter(|n| n.to_string() != "(cairn primitives)").collect();
        session.load_libraries(&names, &mut compiler.files(&nothing));
        names.iter().for_each(|name| manual.add(&session, &name.to_string(), None));
    }
    let names = manual.libraries.values().map(|l| l.exports.len()).sum();
    if manual.libraries.is_empty() {
        return Err(Error::Other("there is no library to be documented: files ….sld define them".to_string()));
    }
    let unwritable = |file: &Path, e: &std::io::Error| {
        Error::Other(format!("cannot write {}: {}", file.display(), describe_io(e)))
    };
    std::fs::create_dir_all(output).map_err(|e| unwritable(output, &e))?;
    for (name, text) in page::pages(&manual) {
        let file = output.join(name);
        write_whole(&file, text.as_bytes()).map_err(|e| unwritable(&file, &e))?;
    }
    Ok((manual.libraries.len(), names))
}

/// The files of libraries: those that are named, and those below directories.
fn library_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let libraries =
                user_files::below(path)?.into_iter().filter(|p| p.extension().is_some_and(|e| e == "sld"));
            found.extend(libraries.map(|p| p.strip_prefix("./").map_or(p.clone(), Path::to_path_buf)));
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

impl Manual {
    /// Adds a library that a session knows; `written` is its definition, if that is in a file of the user.
    fn add(&mut self, session: &Session, name: &str, written: Option<Span>) {
        let Some(parsed) = LibraryName::parse(name) else { return };
        let Some(exports) = session.exports_of(&parsed) else { return };
        let span = written.or_else(|| own_definition(session, &parsed));
        let place = span.and_then(|span| self.place(session, span));
        let about = span.and_then(|span| {
            let text = &session.sources().get(span.file as usize)?.text;
            comment_above(text, span.start as usize).or_else(|| first_comment(text))
        });
        let mut exports: Vec<Export> =
            exports.into_iter().map(|(exported, entity)| self.export(session, name, exported, entity)).collect();
        exports.sort_by(|a, b| a.name.cmp(&b.name));
        let about = about.unwrap_or_default();
        let about = about.strip_prefix(&format!("{name}: ")).unwrap_or(&about).to_string();
        self.libraries.insert(order(name), Library { name: name.to_string(), about, place, exports });
    }

    fn export(&mut self, session: &Session, library: &str, name: String, entity: Entity) -> Export {
        let definition = session.definition(entity);
        let span = definition.as_ref().map(|(_, span)| *span);
        let signatures = signatures(session, span, &name, entity);
        let text = span.and_then(|s| session.sources().get(s.file as usize)).map_or("", |s| &s.text);
        let start = span.map_or(0, |s| s.start as usize);
        let written = text.get(start..span.map_or(0, |s| s.end as usize)).unwrap_or("");
        let is_name = lexeme::is_atom(written);
        let comment = if span.is_some() { comment_above(text, start).unwrap_or_default() } else { String::new() };
        let from =
            definition.and_then(|(from, _)| from).map(|from| from.to_string()).filter(|from| from != library);
        Export {
            renamed: Some(written.to_string()).filter(|w| is_name && *w != name),
            kind: kind(session, entity, text, start),
            place: span.and_then(|span| self.place(session, span)),
            name,
            signatures,
            from,
            comment,
        }
    }

    /// File and line, and keeps the file's text.
    fn place(&mut self, session: &Session, span: Span) -> Option<(String, usize)> {
        let source = session.sources().get(span.file as usize).filter(|s| !s.text.is_empty())?;
        let path = source.path.to_string();
        self.sources.entry(path.clone()).or_insert_with(|| source.text.to_string());
        Some((path, line_column(&source.text, span.start).0))
    }
}

/// Where a library of `lib/` is defined.
fn own_definition(session: &Session, name: &LibraryName) -> Option<Span> {
    let places = library_loader::places(name).map(|p| format!("{}{p}", library_loader::BUILT_IN));
    let file = session.sources().iter().position(|s| places.iter().any(|p| **p == *s.path))?;
    let start = session.sources()[file].text.find("(define-library")?;
    Some(Span::new(file as u32, start, start + 1))
}

/// What a name stands for, in a word or two.
fn kind(session: &Session, entity: Entity, text: &str, at: usize) -> String {
    match entity {
        Entity::Keyword(_) => return "syntax".to_string(),
        Entity::Macro(_) => return "macro".to_string(),
        Entity::Primitive(_) => return "procedure".to_string(),
        Entity::Local(_) | Entity::Global(_) => {}
    }
    let form = form_around(text, at);
    let words: Vec<&str> = form.split_whitespace().take(3).collect();
    match words[..] {
        ["(define-record-type", ..] => "part of a record type".to_string(),
        ["(define-structure-vector", ..] => "part of a structure vector type".to_string(),
        ["(define", _, value] if value.starts_with("(make-parameter") => "parameter".to_string(),
        _ if session.is_procedure(entity) => "procedure".to_string(),
        ["(define", _, value] if value.starts_with("(lambda") => "procedure".to_string(),
        ["(define", _, value]
            if form.split_whitespace().count() == 3 && value.starts_with(char::is_alphabetic) =>
        {
            format!("another name for {}", value.trim_end_matches(')'))
        }
        _ => "variable".to_string(),
    }
}

/// The definition around a place: of the parentheses that enclose it, the innermost behind which there is `define`.
fn form_around(text: &str, at: usize) -> &str {
    let before = &text[..at.min(text.len())];
    let start = before.rfind("(define").filter(|start| lexeme::datum_end(text, *start) > at);
    start.map_or("", |start| &text[start..lexeme::datum_end(text, start)])
}

/// The comment that a file begins with.
fn first_comment(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().take_while(|l| l.starts_with(';')).collect();
    let end = lines.iter().map(|l| l.len() + 1).sum::<usize>();
    comment_above(text, end.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_around_names() {
        let text = "(begin\n (define-record-type point (make x) point? (x point-x))\n (define (f) 1) (g))";
        let at = |what: &str| form_around(text, text.find(what).unwrap());
        assert!(at("point-x").starts_with("(define-record-type point"));
        assert_eq!(at("f) 1"), "(define (f) 1)");
        assert_eq!(at("(g)"), "");
        assert_eq!(first_comment(";;; (a): b\n;;; c\n\n(define-library (a))"), Some("(a): b\nc".into()));
    }
}
