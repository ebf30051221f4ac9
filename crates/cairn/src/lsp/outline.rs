//! The shape of a text: symbols, folds, colours.

use super::workspace::{Known, Workspace};
use cairn_layout::lexeme::{self, Kind};
use cairn_syntax::{Entity, Form, Mention, Role};
use lsp_types::{
    DocumentSymbol, FoldingRange, FoldingRangeKind, Range, SemanticToken, SemanticTokenModifier,
    SemanticTokenType, SemanticTokens, SemanticTokensLegend, SymbolKind,
};
use std::collections::BTreeMap;

/// What a text defines: libraries with their definitions, records with their parts.
pub(super) fn symbols(workspace: &mut Workspace, uri: &str) -> Option<Vec<DocumentSymbol>> {
    let known = workspace.known(uri)?;
    let is_definition = |m: &&Mention| {
        let here = m.span.file == known.file && m.form.file == known.file;
        matches!(m.role, Role::Definition(_)) && !m.local && here && m.span.is_strictly_inside(m.form)
    };
    // by form: the first name is the form's
    let mut forms: BTreeMap<(u32, u32), Vec<Mention>> = BTreeMap::new();
    for m in known.session.mentions().iter().filter(is_definition) {
        let names = forms.entry((m.form.start, m.form.end)).or_default();
        if names.iter().all(|other| other.span != m.span) {
            names.push(*m);
        }
    }
    let mut top: Vec<DocumentSymbol> = Vec::new();
    let libraries: Vec<_> = known.session.libraries_of(known.file).collect();
    for (name, span) in &libraries {
        top.push(symbol(name, SymbolKind::MODULE, known.lines.of(&known.text, *span), None));
    }
    for ((start, end), mut names) in forms {
        names.sort_by_key(|m| m.span.start);
        let range = known.lines.range(&known.text, start as usize, end as usize);
        let mut all = names.iter().map(|m| {
            let selected = known.lines.of(&known.text, m.span);
            symbol(known.text_of(m.span), kind(&known, m), range, Some(selected))
        });
        let Some(mut first) = all.next() else { continue };
        let mut parts: Vec<DocumentSymbol> = all.collect();
        for part in &mut parts {
            part.range = part.selection_range;
        }
        first.children = Some(parts).filter(|p| !p.is_empty());
        let library = libraries.iter().rposition(|(_, span)| span.start <= start && end <= span.end);
        match library {
            Some(i) => top[i].children.get_or_insert_default().push(first),
            None => top.push(first),
        }
    }
    Some(top)
}

#[allow(deprecated)] // the field must be there
fn symbol(name: &str, kind: SymbolKind, range: Range, selected: Option<Range>) -> DocumentSymbol {
    let selection_range = selected.unwrap_or(Range::new(range.start, range.start));
    DocumentSymbol {
        name: name.to_string(),
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children: None,
    }
}

fn kind(known: &Known, m: &Mention) -> SymbolKind {
    match (m.role, m.entity) {
        (Role::Definition(Form::Macro), _) => SymbolKind::OPERATOR,
        (Role::Definition(Form::Record), _) if !known.session.is_procedure(m.entity) => SymbolKind::STRUCT,
        (_, entity) if known.session.is_procedure(entity) => SymbolKind::FUNCTION,
        _ => SymbolKind::VARIABLE,
    }
}

/// Lists and comments of several lines. Of those that begin in one line, the outermost.
pub(super) fn folds(workspace: &mut Workspace, uri: &str) -> Option<Vec<FoldingRange>> {
    let known = workspace.known(uri)?;
    let (text, lines) = (&known.text, &known.lines);
    let line = |at: usize| lines.position(text, at).line;
    let mut folds: BTreeMap<u32, (u32, FoldingRangeKind)> = BTreeMap::new();
    let mut add = |start: u32, end: u32, kind: FoldingRangeKind| {
        if end > start && folds.get(&start).is_none_or(|(e, _)| *e < end) {
            folds.insert(start, (end, kind));
        }
    };
    let mut open: Vec<u32> = Vec::new();
    let mut comment: Option<(u32, u32)> = None;
    for l in lexeme::lexemes(text) {
        match l.kind {
            Kind::Open => open.push(line(l.start)),
            Kind::Close => {
                if let Some(start) = open.pop() {
                    add(start, line(l.start), FoldingRangeKind::Region);
                }
            }
            Kind::BlockComment => add(line(l.start), line(l.end), FoldingRangeKind::Comment),
            Kind::LineComment => {
                let here = line(l.start);
                let begins_line = text[..l.start].rfind('\n').is_none_or(|i| text[i..l.start].trim().is_empty());
                comment = match comment {
                    Some((start, last)) if last + 1 == here && begins_line => Some((start, here)),
                    other => {
                        if let Some((start, last)) = other {
                            add(start, last, FoldingRangeKind::Comment);
                        }
                        begins_line.then_some((here, here))
                    }
                };
            }
            _ => {}
        }
    }
    if let Some((start, last)) = comment {
        add(start, last, FoldingRangeKind::Comment);
    }
    let fold = |(start_line, (end_line, kind))| FoldingRange {
        start_line,
        end_line,
        kind: Some(kind),
        ..FoldingRange::default()
    };
    Some(folds.into_iter().map(fold).collect())
}

/// The kinds of words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Comment,
    String,
    Number,
    Keyword,
    Macro,
    Function,
    Variable,
    Parameter,
}

/// Their names in the protocol, in the same order.
const TYPES: [SemanticTokenType; Word::Parameter as usize + 1] = [
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::MACRO,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
];

/// What is said of a word beside its kind: bits, in the order of the legend.
const DEFINITION: u32 = 1;
const OF_LIBRARY: u32 = 2;

/// What the numbers of [`tokens`] mean.
pub(super) fn legend() -> SemanticTokensLegend {
    let modifiers = vec![SemanticTokenModifier::DEFINITION, SemanticTokenModifier::DEFAULT_LIBRARY];
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: modifiers }
}

/// The words of a text with their kinds. An identifier has the one that the expander knows; without one it has none.
pub(super) fn tokens(workspace: &mut Workspace, uri: &str) -> Option<SemanticTokens> {
    let known = workspace.known(uri)?;
    let mut words: BTreeMap<usize, (usize, Word, u32)> = BTreeMap::new();
    for m in known.session.mentions().iter().filter(|m| m.span.file == known.file) {
        let (kind, modifiers) = word(&known, m);
        // a place in a template may have several meanings: the first one
        words.entry(m.span.start as usize).or_insert((m.span.end as usize, kind, modifiers));
    }
    for l in lexeme::lexemes(&known.text) {
        let kind = match l.kind {
            Kind::LineComment | Kind::BlockComment | Kind::DatumComment => Word::Comment,
            Kind::String | Kind::Character => Word::String,
            Kind::Atom if cairn_num::parse_number(l.text(&known.text), 10).is_some() => Word::Number,
            _ => continue,
        };
        words.insert(l.start, (l.end, kind, 0));
    }
    let mut data = Vec::new();
    let (mut last_line, mut last_column) = (0, 0);
    for (start, (end, kind, token_modifiers_bitset)) in words {
        // a token is in one line
        let mut from = start;
        for piece in known.text[start..end].split_inclusive('\n') {
            let text = piece.trim_end_matches(['\n', '\r']);
            let at = known.lines.position(&known.text, from);
            from += piece.len();
            let length = text.encode_utf16().count() as u32;
            if length == 0 {
                continue;
            }
            let same_line = at.line == last_line;
            data.push(SemanticToken {
                delta_line: at.line - last_line,
                delta_start: if same_line { at.character - last_column } else { at.character },
                length,
                token_type: kind as u32,
                token_modifiers_bitset,
            });
            (last_line, last_column) = (at.line, at.character);
        }
    }
    Some(SemanticTokens { result_id: None, data })
}

/// The kind of an identifier, and what else is to be said of it.
fn word(known: &Known, m: &Mention) -> (Word, u32) {
    let definition = if m.role.binds() { DEFINITION } else { 0 };
    match m.entity {
        Entity::Keyword(_) => (Word::Keyword, definition),
        Entity::Macro(_) => (Word::Macro, definition),
        Entity::Primitive(_) => (Word::Function, OF_LIBRARY),
        Entity::Local(_) if m.role.is_parameter() => (Word::Parameter, definition),
        entity => {
            let library = if known.session.is_of_library(entity) { OF_LIBRARY } else { 0 };
            let is_procedure = known.session.is_procedure(entity);
            (if is_procedure { Word::Function } else { Word::Variable }, definition | library)
        }
    }
}
