//! Compile-time messages: what, where, the source line with its place marked, and what to do.

use annotate_snippets::{Level, Renderer, Snippet};
use cairn_core::ir::SourceFile;
use cairn_syntax::Diagnostic;
use std::io::IsTerminal;

/// Prints errors, at most [`LIMIT`] of them.
pub fn errors(list: &[Diagnostic], sources: &[SourceFile]) {
    show(list, sources, Level::Error);
}

/// Prints warnings.
pub fn warnings(list: &[Diagnostic], sources: &[SourceFile]) {
    show(list, sources, Level::Warning);
}

/// Most messages shown of one kind.
const LIMIT: usize = 20;

fn show(list: &[Diagnostic], sources: &[SourceFile], level: Level) {
    let renderer = if std::io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() };
    for d in list.iter().take(LIMIT) {
        eprintln!("{}\n", render(d, sources, level, &renderer));
    }
    if list.len() > LIMIT {
        eprintln!("… and {} more", list.len() - LIMIT);
    }
}

fn render(d: &Diagnostic, sources: &[SourceFile], level: Level, renderer: &Renderer) -> String {
    let mut message = level.title(&d.message);
    let places: Vec<(cairn_syntax::Span, &str)> =
        std::iter::once((d.span, "")).chain(d.notes.iter().map(|(s, t)| (*s, t.as_str()))).collect();
    let mut done: Vec<u32> = vec![];
    for (span, _) in &places {
        let Some(source) = sources.get(span.file as usize) else { continue };
        if done.contains(&span.file) {
            continue;
        }
        done.push(span.file);
        let here: Vec<(std::ops::Range<usize>, &str)> = places
            .iter()
            .filter(|(s, _)| s.file == span.file)
            .map(|(s, text)| (range(*s, &source.text), *text))
            .collect();
        // Only the lines around the places: sources may be huge.
        let (from, to) = window(&source.text, &here);
        let first_line = source.text[..from].bytes().filter(|b| *b == b'\n').count() + 1;
        let mut snippet =
            Snippet::source(&source.text[from..to]).line_start(first_line).origin(&source.path).fold(true);
        for (i, (r, text)) in here.into_iter().enumerate() {
            let kind = if i == 0 && *span == d.span { level } else { Level::Note };
            snippet = snippet.annotation(kind.span(r.start - from..r.end - from).label(text));
        }
        message = message.snippet(snippet);
    }
    if let Some(help) = &d.help {
        message = message.footer(Level::Help.title(help));
    }
    renderer.render(message).to_string()
}

/// The span clipped to the text, at character boundaries, at most to the end of its first line when it is long.
fn range(s: cairn_syntax::Span, text: &str) -> std::ops::Range<usize> {
    let clip = |mut i: usize| {
        i = i.min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let (start, end) = (clip(s.start as usize), clip(s.end as usize));
    let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    start..end.clamp(start, line_end.max(start))
}

/// Byte range of the whole lines that the places touch, kept short on very long lines.
fn window(text: &str, places: &[(std::ops::Range<usize>, &str)]) -> (usize, usize) {
    let start = places.iter().map(|(r, _)| r.start).min().unwrap_or(0);
    let end = places.iter().map(|(r, _)| r.end).max().unwrap_or(0);
    let from = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let to = text[end..].find('\n').map_or(text.len(), |i| end + i);
    const LONGEST: usize = 400;
    let boundary = |mut i: usize| {
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let from = if start - from > LONGEST { boundary(start - LONGEST) } else { from };
    let to = if to - end > LONGEST { boundary(end + LONGEST) } else { to };
    (from, to)
}
