//! Edits that mend what is complained of: an import, another name, something left out.

use super::completion::import_edit;
use super::workspace::{Known, Workspace};
use cairn_layout::lexeme;
use cairn_syntax::lint::undefined_name;
use cairn_syntax::{Diagnostic, Span};
use lsp_types::{CodeAction, CodeActionKind, Range, TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;
use std::str::FromStr;

/// Most libraries offered for one name.
const MOST_LIBRARIES: usize = 3;

/// What can be done about the messages of a range.
pub(super) fn actions(workspace: &mut Workspace, uri: &str, range: Range) -> Option<Vec<CodeAction>> {
    let mut known = workspace.known(uri)?;
    let from = known.lines.offset(&known.text, range.start) as u32;
    let to = known.lines.offset(&known.text, range.end) as u32;
    let file = known.file;
    let touches = |d: &Diagnostic| d.span.file == file && d.span.start <= to && from <= d.span.end;
    let errors = known.report.errors.iter().map(|d| (d, None));
    let warnings = known.report.warnings.iter().map(|f| (&f.message, f.removable));
    let all: Vec<(Diagnostic, Option<Span>)> =
        errors.chain(warnings).filter(|(d, _)| touches(d)).map(|(d, removable)| (d.clone(), removable)).collect();
    let document = Uri::from_str(uri).ok()?;
    let mut actions: Vec<CodeAction> = Vec::new();
    for (message, removable) in all {
        for (title, edits, preferred) in mends(&mut known, &message, removable) {
            if actions.iter().all(|a| a.title != title) {
                let changes = Some(HashMap::from([(document.clone(), edits)]));
                actions.push(CodeAction {
                    title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    edit: Some(WorkspaceEdit { changes, ..WorkspaceEdit::default() }),
                    is_preferred: preferred.then_some(true),
                    ..CodeAction::default()
                });
            }
        }
    }
    Some(actions)
}

/// Titles and edits that mend one message; is it likely the right one?
fn mends(known: &mut Known, message: &Diagnostic, removable: Option<Span>) -> Vec<(String, Vec<TextEdit>, bool)> {
    let mut found = Vec::new();
    let here = known.lines.of(&known.text, message.span);
    if let Some(span) = removable {
        let (start, end) = without(known, span);
        let title = format!("Remove {}", known.text_of(span));
        found.push((title, vec![TextEdit::new(known.lines.range(&known.text, start, end), String::new())], true));
    }
    if let Some(name) = undefined_name(message) {
        let libraries = known.session.exporters(name, &mut known.loader);
        for (i, library) in libraries.iter().take(MOST_LIBRARIES).enumerate() {
            if let Some(edit) = import_edit(known, message.span.start as usize, library) {
                found.push((format!("Import {library}"), vec![edit], i == 0));
            }
        }
    }
    let quoted = |before: &str| {
        let rest = message.help.as_ref()?.split_once(before)?.1;
        rest.split_once('`').map(|(name, behind)| (name.to_string(), behind.to_string()))
    };
    if let Some((name, behind)) = quoted("did you mean `") {
        let mut edits = vec![TextEdit::new(here, name.clone())];
        let library = behind.strip_prefix(" of ").and_then(|l| l.strip_suffix('?'));
        edits.extend(library.and_then(|l| import_edit(known, message.span.start as usize, l)));
        found.push((format!("Write `{name}`"), edits, true));
    }
    if let Some((name, _)) = quoted("call it `") {
        found.push((format!("Call it `{name}`"), vec![TextEdit::new(here, name)], false));
    }
    found
}

/// What to leave out with an import set or one of its names: the blanks before it, or the whole import if nothing else
/// is in it.
fn without(known: &Known, span: Span) -> (usize, usize) {
    let text = &known.text;
    let (start, end) = (span.start as usize, span.end as usize);
    let form = known.session.imported_sets().iter().find(|set| set.span == span).map(|set| set.form);
    if let Some(form) = form {
        let sets = known.session.imported_sets().iter().filter(|set| set.form == form).count();
        if sets == 1 {
            let (start, end) = (form.start as usize, form.end as usize);
            let newline = lexeme::next(text, end).is_some_and(|l| l.text(text).starts_with('\n'));
            return (start, end + usize::from(newline));
        }
    }
    let before = text[..start].trim_end().len();
    // the first one takes the blanks behind it
    if text[..before].ends_with("(import") {
        let behind = text[end..].len() - text[end..].trim_start().len();
        return (start, end + behind);
    }
    (before, end)
}
