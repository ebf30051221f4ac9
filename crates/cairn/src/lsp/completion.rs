//! Names to go on with: those that are visible, and those that an import would make visible.

use super::meaning::signatures;
use super::structure::{self, Within};
use super::text::Lines;
use super::workspace::{Known, Workspace};
use cairn_layout::lexeme;
use cairn_syntax::{Entity, Loader};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemLabelDetails, CompletionList, CompletionTextEdit, Position,
    Range, TextEdit,
};
use std::collections::BTreeMap;

/// Most names of other libraries that are offered at once. More letters make them fewer.
const MOST_OTHERS: usize = 100;

/// What can stand at a place; with each key the editor asks anew.
pub(super) fn completion(workspace: &mut Workspace, uri: &str, position: Position) -> Option<CompletionList> {
    let mut known = workspace.known(uri)?;
    let offset = known.lines.offset(&known.text, position);
    let (open, within) = structure::around(&known.text, offset);
    if within != Within::Code || open.last().is_some_and(|o| o.quoted) {
        return None;
    }
    let head = |o: &structure::Open| o.head.map_or("", |(a, b)| &known.text[a..b]).to_string();
    let is_import = |o: &structure::Open| matches!(&*head(o), "import" | "only" | "except" | "rename" | "prefix");
    let in_import = open.iter().any(|o| head(o) == "import");
    if in_import {
        let items = match &open[..] {
            // a library is being named
            [.., outer, inner]
                if is_import(outer) && !is_import(inner) && outer.data < 3
                    || head(outer) == "import" && !is_import(inner) =>
            {
                libraries(&known, inner.start, offset)
            }
            [.., inner] if is_import(inner) && head(inner) != "import" => listed(&mut known, inner.start, offset),
            _ => Vec::new(),
        };
        return Some(CompletionList { is_incomplete: true, items });
    }
    let start = lexeme::word_start(&known.text, offset);
    let items = names(&mut known, start, offset);
    Some(CompletionList { is_incomplete: true, items })
}

/// Names of the program.
fn names(known: &mut Known, start: usize, offset: usize) -> Vec<CompletionItem> {
    let prefix = known.text[start..offset].to_string();
    let range = known.lines.range(&known.text, start, offset);
    let fits = |name: &str| name.starts_with(&*prefix) && name != "..." && name != "_" && !name.starts_with('%');
    let module = known.session.module_at(known.file, offset as u32);
    let mut visible: BTreeMap<String, (Entity, bool)> = BTreeMap::new();
    for (name, entity) in module.into_iter().flat_map(|m| known.session.visible(m)).filter(|(n, _)| fits(n)) {
        visible.insert(name.to_string(), (entity, false));
    }
    // inner ones hide outer ones: those of smaller forms come later
    let inside = |m: &&cairn_syntax::Mention| {
        let form = m.form;
        let here = (form.start as usize) < offset && offset <= form.end as usize;
        m.local && m.role.binds() && form.file == known.file && here
    };
    let mut locals: Vec<_> = known.session.mentions().iter().filter(inside).collect();
    locals.sort_by_key(|m| std::cmp::Reverse(m.form.end - m.form.start));
    for m in locals {
        let name = known.text_of(m.span);
        // what is being typed is no name yet
        if fits(name) && m.span.end as usize != offset {
            visible.insert(name.to_string(), (m.entity, true));
        }
    }
    let mut items = Vec::new();
    for (name, (entity, local)) in &visible {
        let detail = signatures(known.session, known.definition(*entity), name, *entity).into_iter().next();
        let kind = match entity {
            Entity::Keyword(_) | Entity::Macro(_) => CompletionItemKind::KEYWORD,
            Entity::Primitive(_) => CompletionItemKind::FUNCTION,
            _ if detail.is_some() => CompletionItemKind::FUNCTION,
            _ => CompletionItemKind::VARIABLE,
        };
        items.push(item(name, kind, detail, if *local { "0" } else { "1" }, range));
    }
    // without a letter there would be thousands
    if prefix.is_empty() {
        return items;
    }
    let mut others: Vec<(String, String)> = known
        .session
        .exported(&mut known.loader)
        .iter()
        .filter(|(name, _)| fits(name) && !visible.contains_key(*name))
        .filter_map(|(name, libraries)| Some((name.clone(), libraries.first()?.clone())))
        .collect();
    others.sort_by(|a, b| (a.0.len(), a).cmp(&(b.0.len(), b)));
    for (name, library) in others.into_iter().take(MOST_OTHERS) {
        let Some(edit) = import_edit(known, offset, &library) else { continue };
        let detail = Some(format!("imports {library}"));
        let mut item = item(&name, CompletionItemKind::FUNCTION, detail, "2", range);
        item.label_details = Some(CompletionItemLabelDetails { detail: None, description: Some(library) });
        item.additional_text_edits = Some(vec![edit]);
        items.push(item);
    }
    items
}

fn item(
    name: &str,
    kind: CompletionItemKind,
    detail: Option<String>,
    order: &str,
    range: Range,
) -> CompletionItem {
    CompletionItem {
        label: name.to_string(),
        kind: Some(kind),
        detail,
        sort_text: Some(format!("{order}{name}")),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, name.to_string()))),
        ..CompletionItem::default()
    }
}

/// Libraries, in the place of the list that begins at `start`.
fn libraries(known: &Known, start: usize, offset: usize) -> Vec<CompletionItem> {
    // an editor that closes parentheses has already done so
    let end = if known.text[offset..].starts_with(')') { offset + 1 } else { offset };
    let range = known.lines.range(&known.text, start, end);
    let written = &known.text[start..offset];
    let names = known.loader.library_names().into_iter().map(|name| name.to_string());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(written)).collect();
    names.sort();
    names.iter().map(|name| item(name, CompletionItemKind::MODULE, None, "0", range)).collect()
}

/// What the library exports that an `only` or its like, which begins at `start`, has as its operand.
fn listed(known: &mut Known, start: usize, offset: usize) -> Vec<CompletionItem> {
    let Some(open) = known.text[start + 1..offset].find('(').map(|i| start + 1 + i) else { return Vec::new() };
    let Some(close) = known.text[open..offset].find(')').map(|i| open + i + 1) else { return Vec::new() };
    let library = known.text[open..close].split_whitespace().collect::<Vec<_>>().join(" ");
    let word = lexeme::word_start(&known.text, offset);
    let (prefix, range) = (&known.text[word..offset], known.lines.range(&known.text, word, offset));
    let exported = known.session.exported(&mut known.loader);
    let of_library = exported.iter().filter(|(name, l)| name.starts_with(prefix) && l.contains(&library));
    let mut names: Vec<&String> = of_library.map(|(name, _)| name).collect();
    names.sort();
    names.into_iter().map(|name| item(name, CompletionItemKind::FUNCTION, None, "0", range)).collect()
}

/// The edit that imports a library at a place: into the last import before the place's code; for a program that imports
/// nothing, and so has all of R7RS, a new import also of what it uses.
pub(super) fn import_edit(known: &mut Known, offset: usize, library: &str) -> Option<TextEdit> {
    let (text, lines) = (known.text.clone(), Lines::new(&known.text));
    let module = known.session.module_at(known.file, offset as u32)?;
    let sets = known.session.imported_sets();
    let last = sets.iter().rfind(|set| set.module == module && set.form.file == known.file);
    if let Some(last) = last {
        // sets that stand below each other go on so
        let (at, set) = (last.form.end as usize - 1, last.span.start as usize);
        let line = text[..set].rfind('\n').map_or(0, |i| i + 1);
        let alone = text[line..set].chars().all(char::is_whitespace);
        let before = if alone { format!("\n{}", &text[line..set]) } else { " ".to_string() };
        return text[at..].starts_with(')').then(|| TextEdit::new(lines.range(&text, at, at), before + library));
    }
    if known.report.checked.imports {
        return None;
    }
    let all = known.session.imports_with(library, &mut known.loader);
    let at = if text.starts_with("#!") { text.find('\n').map_or(text.len(), |i| i + 1) } else { 0 };
    Some(TextEdit::new(lines.range(&text, at, at), format!("(import {})\n", all.join(" "))))
}
