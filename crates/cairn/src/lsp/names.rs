//! All places of a name, and another name for them.
//!
//! The expander knows which identifiers of a text stand for the same thing, also in macros and what they make. In other
//! texts that are open, it is the thing that is defined at the same place. The template of a macro that nobody uses is
//! not expanded: what it has of a global name is found by its letters, if the rule does not bind it.

use super::structure;
use super::workspace::{Known, Workspace};
use cairn_layout::lexeme::{self, Kind};
use cairn_syntax::{Entity, Mention, Span};
use lsp_types::{Location, Position, Range, TextEdit, Uri, WorkspaceEdit};
use std::collections::{BTreeSet, HashMap};

/// A place of a file: path, first byte, and the byte behind.
type Place = (String, u32, u32);

/// What stands for one thing.
struct Occurrences {
    name: String,
    entity: Entity,
    all: BTreeSet<Place>,
    /// Where it is defined.
    defined: Option<Place>,
}

fn place(known: &Known, span: Span) -> Option<Place> {
    let source = known.session.sources().get(span.file as usize).filter(|s| !s.library)?;
    Some((source.path.to_string(), span.start, span.end))
}

fn occurrences(workspace: &mut Workspace, uri: &str, position: Position) -> Option<Occurrences> {
    let known = workspace.known(uri)?;
    let mention = known.mention_at(known.lines.offset(&known.text, position))?;
    let name = known.text_of(mention.span).to_string();
    let defined = known.definition(mention.entity).and_then(|span| place(&known, span));
    let mut found =
        Occurrences { name, entity: mention.entity, all: of(&known, mention.entity, mention.span), defined };
    if matches!(mention.entity, Entity::Local(_)) {
        return Some(found);
    }
    let others: Vec<String> = workspace.documents.keys().filter(|other| *other != uri).cloned().collect();
    for other in others {
        let Some(known) = workspace.known(&other) else { continue };
        let same_name =
            |m: &&Mention| known.text_of(m.span) == found.name && !matches!(m.entity, Entity::Local(_));
        let candidates: Vec<Mention> = known.session.mentions().iter().filter(same_name).copied().collect();
        let is_same = |m: &&Mention| match found.entity {
            Entity::Keyword(_) | Entity::Primitive(_) => m.entity == found.entity,
            _ => {
                let defined = known.definition(m.entity).and_then(|span| place(&known, span));
                defined.is_some() && defined == found.defined
            }
        };
        if let Some(m) = candidates.iter().find(is_same) {
            found.all.extend(of(&known, m.entity, m.span));
        }
    }
    Some(found)
}

/// The places of a thing in a text and what belongs to it, as they are written in `like`.
fn of(known: &Known, entity: Entity, like: Span) -> BTreeSet<Place> {
    let name = known.text_of(like);
    let here = |m: &&Mention| m.entity == entity && known.text_of(m.span) == name;
    let mut all: BTreeSet<Place> =
        known.session.mentions().iter().filter(here).filter_map(|m| place(known, m.span)).collect();
    if matches!(entity, Entity::Global(_) | Entity::Macro(_)) {
        let files: BTreeSet<u32> = known.session.mentions().iter().map(|m| m.span.file).collect();
        for file in files {
            let Some(source) = known.session.sources().get(file as usize) else { continue };
            let mentioned: BTreeSet<u32> =
                known.session.mentions().iter().filter(|m| m.span.file == file).map(|m| m.span.start).collect();
            let written = in_templates(&source.text, name).into_iter().filter(|(at, _)| !mentioned.contains(at));
            all.extend(written.map(|(start, end)| (source.path.to_string(), start, end)));
        }
    }
    all
}

/// Where a word stands in the rules of macros whose patterns do not have it.
fn in_templates(text: &str, word: &str) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("(syntax-rules") {
        let end = lexeme::datum_end(text, at);
        let mut rules = at + "(syntax-rules".len();
        while let Some(start) = text[rules..end].find("((").map(|i| rules + i) {
            let rule_end = lexeme::datum_end(text, start).min(end);
            let pattern_end = lexeme::datum_end(text, start + 1).min(rule_end);
            let words = |from: usize, to: usize| {
                let all = lexeme::lexemes(&text[from..to]).filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol));
                all.filter(move |l| l.text(&text[from..to]) == word)
                    .map(move |l| ((from + l.start) as u32, (from + l.end) as u32))
            };
            let is_quoted = |at: u32| {
                let (open, _) = structure::around(&text[start..], at as usize - start);
                text[..at as usize].ends_with('\'') || open.iter().any(|o| o.quoted)
            };
            if words(start, pattern_end).next().is_none() {
                found.extend(words(pattern_end, rule_end).filter(|(at, _)| !is_quoted(*at)));
            }
            rules = rule_end.max(start + 2);
        }
    }
    found
}

/// Places as ranges of files, by URI.
fn ranges(workspace: &mut Workspace, all: &BTreeSet<Place>) -> Vec<(Uri, Range)> {
    let mut out = Vec::new();
    for (path, start, end) in all {
        let path = std::path::Path::new(path);
        let text = match workspace.open_at(path) {
            Some((_, document)) => document.text.clone(),
            None => match std::fs::read_to_string(path) {
                Ok(text) => text,
                Err(_) => continue,
            },
        };
        if let Some(uri) = workspace.uri_of(path) {
            out.push((uri, super::text::Lines::new(&text).range(&text, *start as usize, *end as usize)));
        }
    }
    out
}

/// Where the thing at a place is mentioned.
pub(super) fn references(
    workspace: &mut Workspace,
    uri: &str,
    position: Position,
    with_definition: bool,
) -> Option<Vec<Location>> {
    let mut found = occurrences(workspace, uri, position)?;
    if let (false, Some(defined)) = (with_definition, &found.defined) {
        found.all.remove(defined);
    }
    Some(ranges(workspace, &found.all).into_iter().map(|(uri, range)| Location::new(uri, range)).collect())
}

/// The places in the same text, to be highlighted.
pub(super) fn highlights(workspace: &mut Workspace, uri: &str, position: Position) -> Option<Vec<Range>> {
    let known = workspace.known(uri)?;
    let mention = known.mention_at(known.lines.offset(&known.text, position))?;
    let here = |m: &&Mention| m.entity == mention.entity && m.span.file == known.file;
    let starts: BTreeSet<(u32, u32)> =
        known.session.mentions().iter().filter(here).map(|m| (m.span.start, m.span.end)).collect();
    Some(starts.into_iter().map(|(a, b)| known.lines.range(&known.text, a as usize, b as usize)).collect())
}

/// The name at a place, if it can have another; or why not.
pub(super) fn prepare_rename(workspace: &mut Workspace, uri: &str, position: Position) -> Result<Range, String> {
    let known = workspace.known(uri).ok_or("this text is not open")?;
    let mention = known.mention_at(known.lines.offset(&known.text, position)).ok_or("no name is here")?;
    let name = known.text_of(mention.span);
    match known.definition(mention.entity).and_then(|span| place(&known, span)) {
        Some((path, ..)) if !super::workspace::is_built_in(std::path::Path::new(&path)) => {
            Ok(known.lines.of(&known.text, mention.span))
        }
        _ => Err(format!("`{name}` is not defined by this program, so it keeps its name")),
    }
}

/// The edits that give the thing at a place another name; or why that cannot be.
pub(super) fn rename(
    workspace: &mut Workspace,
    uri: &str,
    position: Position,
    name: &str,
) -> Result<WorkspaceEdit, String> {
    prepare_rename(workspace, uri, position)?;
    let is_name = {
        let mut lexemes = lexeme::lexemes(name);
        let first = lexemes.next().filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol) && l.whole);
        let is_number = cairn_num::parse_number(name, 10).is_some();
        first.is_some() && lexemes.next().is_none() && !is_number && !name.starts_with('#') && name != "."
    };
    if !is_name {
        return Err(format!("`{name}` is not a name"));
    }
    let found = occurrences(workspace, uri, position).ok_or("no name is here")?;
    taken(workspace, uri, position, &found, name)?;
    #[allow(clippy::mutable_key_type)] // it is the protocol's, and nobody changes a part of it
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (uri, range) in ranges(workspace, &found.all) {
        changes.entry(uri).or_default().push(TextEdit::new(range, name.to_string()));
    }
    Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

/// Would the new name mean something else somewhere? Of a local variable, the form that it is visible in must not have
/// the name, otherwise none of the texts.
fn taken(
    workspace: &mut Workspace,
    uri: &str,
    position: Position,
    found: &Occurrences,
    name: &str,
) -> Result<(), String> {
    let known = workspace.known(uri).ok_or("this text is not open")?;
    let binding = known.session.mentions().iter().find(|m| m.entity == found.entity && m.role.binds());
    let scope = binding.filter(|m| m.local).map(|m| m.form);
    // whoever needs the imported one does not get it any more
    let module = known.session.module_at(known.file, known.lines.offset(&known.text, position) as u32);
    if scope.is_none() && module.is_some_and(|m| known.session.visible(m).any(|(n, _)| n == name)) {
        return Err(format!("`{name}` already means something here"));
    }
    let has = |text: &str| {
        let mut words = lexeme::lexemes(text).filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol));
        words.any(|l| l.text(text) == name)
    };
    let place = match scope {
        Some(form) => {
            has(known.text_of(form)).then(|| known.text_of(form).lines().next().unwrap_or("").to_string())
        }
        None => {
            let paths: BTreeSet<&String> = found.all.iter().map(|(path, ..)| path).collect();
            let sources = known.session.sources().iter().filter(|s| paths.contains(&s.path.to_string()));
            sources.filter(|s| has(&s.text)).map(|s| s.path.to_string()).next()
        }
    };
    match place {
        Some(place) => Err(format!("`{name}` is already used in {place}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::in_templates;

    #[test]
    fn words_of_templates_are_found_unless_the_pattern_binds_them() {
        let text = "(f x) (define-syntax m (syntax-rules () ((_ a) (f a '(f))) ((_ f b) (f b))))";
        let found = in_templates(text, "f");
        assert_eq!(found.iter().map(|(a, _)| *a).collect::<Vec<_>>(), [48]);
    }
}
