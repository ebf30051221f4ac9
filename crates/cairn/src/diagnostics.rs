//! Compile-time messages: what, where, the source line with its place marked, and what to do.

use annotate_snippets::{Level, Renderer, Snippet};
use cairn_core::ir::SourceFile;
use cairn_syntax::Diagnostic;
use std::ops::Range;

/// What the compiler has to say about a program, as text with source lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    pub(crate) plain: String,
    pub(crate) colored: String,
}

impl Messages {
    /// Errors, at most [`LIMIT`] of them.
    pub(crate) fn errors(list: &[Diagnostic], sources: &[SourceFile]) -> Messages {
        Messages::new(list, sources, Level::Error)
    }

    /// Warnings, likewise.
    pub(crate) fn warnings(list: &[Diagnostic], sources: &[SourceFile]) -> Messages {
        Messages::new(list, sources, Level::Warning)
    }

    /// Warnings that hold whatever the program loads or evaluates.
    pub(crate) fn certain(list: &[Diagnostic], sources: &[SourceFile]) -> Messages {
        Messages::of(
            &list.iter().filter(|d| !d.undefined).map(|d| (d, Level::Warning)).collect::<Vec<_>>(),
            sources,
        )
    }

    fn new(list: &[Diagnostic], sources: &[SourceFile], level: Level) -> Messages {
        Messages::of(&list.iter().map(|d| (d, level)).collect::<Vec<_>>(), sources)
    }

    fn of(list: &[(&Diagnostic, Level)], sources: &[SourceFile]) -> Messages {
        let text = |renderer: Renderer| shown(list, sources, &renderer);
        Messages { plain: text(Renderer::plain()), colored: text(Renderer::styled()) }
    }

    /// Errors and, behind them, warnings, at most [`LIMIT`] in all.
    pub(crate) fn both(errors: &[Diagnostic], warnings: &[&Diagnostic], sources: &[SourceFile]) -> Messages {
        let errors = errors.iter().map(|d| (d, Level::Error));
        let warnings = warnings.iter().map(|d| (*d, Level::Warning));
        Messages::of(&errors.chain(warnings).collect::<Vec<_>>(), sources)
    }

    /// The text, empty if there is nothing to say; with a terminal's colours or without.
    pub fn text(&self, colored: bool) -> &str {
        if colored { &self.colored } else { &self.plain }
    }
}

/// Most messages shown of one kind.
const LIMIT: usize = 20;

fn shown(list: &[(&Diagnostic, Level)], sources: &[SourceFile], renderer: &Renderer) -> String {
    let mut out = String::new();
    let list: Vec<_> = list.iter().enumerate().filter(|(i, (d, _))| !mended_before(d, &list[..*i])).collect();
    for (_, (d, level)) in list.iter().take(LIMIT) {
        out += &format!("{}\n\n", render(d, sources, *level, renderer));
    }
    if list.len() > LIMIT {
        out += &format!("… and {} more\n", list.len() - LIMIT);
    }
    out
}

/// Does what mends one of these mend this one, too?
fn mended_before(d: &Diagnostic, earlier: &[(&Diagnostic, Level)]) -> bool {
    d.mended_once && earlier.iter().any(|(e, _)| (&e.message, e.span.file) == (&d.message, d.span.file))
}

/// The lines ` --> file:line:column`, the source line, and a mark below a part of it; nothing else.
pub(crate) fn excerpt(path: &str, text: &str, part: Range<usize>, colored: bool) -> String {
    let file = SourceFile::new(path, text, false);
    let d = Diagnostic::new(cairn_syntax::Span::new(0, part.start, part.end), "");
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let shown = render(&d, &[file], Level::Error, &renderer);
    // without the title, and without the margin below the mark
    let mut lines: Vec<&str> = shown.lines().skip(1).filter(|l| !l.is_empty()).collect();
    lines.pop_if(|l| l.trim_matches(|c: char| c.is_whitespace() || c == '|').is_empty());
    let lines = lines.iter();
    lines.map(|l| format!("{l}\n")).collect()
}

/// A piece of a source file to show, and the places in it: the first is where the message points.
struct Piece<'s> {
    path: &'s str,
    text: String,
    first_line: usize,
    /// Where the piece starts, and where its first line does.
    from: usize,
    line_start: usize,
    /// Bytes in front of what starts there: those of an ellipsis.
    lead: usize,
    places: Vec<(Range<usize>, &'s str)>,
}

fn pieces<'s>(d: &'s Diagnostic, sources: &'s [SourceFile]) -> Vec<Piece<'s>> {
    let places = || std::iter::once((d.span, "")).chain(d.notes.iter().map(|(s, t)| (*s, t.as_str())));
    let mut pieces: Vec<Piece> = vec![];
    let mut done: Vec<u32> = vec![];
    for (span, _) in places() {
        let Some(source) = sources.get(span.file as usize).filter(|_| !done.contains(&span.file)) else {
            continue;
        };
        done.push(span.file);
        let text = &source.text;
        let here: Vec<(Range<usize>, &str)> =
            places().filter(|(s, _)| s.file == span.file).map(|(s, note)| (range(s, text), note)).collect();
        if is_long_line(text, &here) {
            pieces.extend(here.into_iter().map(|place| piece(source, vec![place])));
        } else {
            pieces.push(piece(source, here));
        }
    }
    pieces
}

/// Are the places far from each other, with no end of a line between them?
fn is_long_line(text: &str, places: &[(Range<usize>, &str)]) -> bool {
    let start = places.iter().map(|(r, _)| r.start).min().unwrap_or(0);
    let end = places.iter().map(|(r, _)| r.end).max().unwrap_or(0);
    end - start > 3 * AROUND && !text[start..end].contains('\n')
}

/// The lines around places, and not more: sources may be huge.
fn piece<'s>(source: &'s SourceFile, places: Vec<(Range<usize>, &'s str)>) -> Piece<'s> {
    const CUT: &str = "…";
    let text = &source.text;
    let (from, to) = window(text, &places);
    let line_start = text[..from].rfind('\n').map_or(0, |i| i + 1);
    let before = if from > line_start { CUT } else { "" };
    let after = if text[to..].is_empty() || text[to..].starts_with('\n') { "" } else { CUT };
    Piece {
        path: &source.path,
        text: format!("{before}{}{after}", printable(&text[from..to])),
        first_line: text[..from].bytes().filter(|b| *b == b'\n').count() + 1,
        from,
        line_start,
        lead: before.len(),
        places,
    }
}

fn render(d: &Diagnostic, sources: &[SourceFile], level: Level, renderer: &Renderer) -> String {
    let mut message = level.title(&d.message);
    let pieces = pieces(d, sources);
    for (n, p) in pieces.iter().enumerate() {
        let mut snippet = Snippet::source(&p.text).line_start(p.first_line).origin(p.path).fold(true);
        for (i, (r, note)) in p.places.iter().enumerate() {
            let kind = if (n, i) == (0, 0) { level } else { Level::Note };
            snippet =
                snippet.annotation(kind.span(r.start - p.from + p.lead..r.end - p.from + p.lead).label(note));
        }
        message = message.snippet(snippet);
    }
    if let Some(help) = &d.help {
        message = message.footer(Level::Help.title(help));
    }
    let text = renderer.render(message).to_string();
    match pieces.first() {
        // The renderer counts columns from where the line is cut.
        Some(p) if p.from > p.line_start => {
            let file = &sources[d.span.file as usize].text;
            let at = p.places[0].0.start;
            let place = |from: usize, lead: usize| {
                format!("{}:{}:{}", p.path, p.first_line, file[from..at].chars().count() + lead + 1)
            };
            text.replacen(&place(p.from, 1), &place(p.line_start, 0), 1)
        }
        _ => text,
    }
}

/// The text with blanks for control characters, which a terminal might obey; of the same length.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' && c != '\t' {
            out.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters of a long line shown before a place, marked, and shown after it.
const AROUND: usize = 60;

/// The span clipped to the text, at character boundaries, at most to the end of its first line, and not too long.
fn range(s: cairn_syntax::Span, text: &str) -> Range<usize> {
    let clip = |mut i: usize| {
        i = i.min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let (start, end) = (clip(s.start as usize), clip(s.end as usize));
    let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    start..clip(end.clamp(start, line_end.max(start)).min(start + AROUND))
}

/// Byte range of the whole lines that the places touch, kept short on very long lines.
fn window(text: &str, places: &[(Range<usize>, &str)]) -> (usize, usize) {
    let start = places.iter().map(|(r, _)| r.start).min().unwrap_or(0);
    let end = places.iter().map(|(r, _)| r.end).max().unwrap_or(0);
    let from = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let to = text[end..].find('\n').map_or(text.len(), |i| end + i);
    let boundary = |mut i: usize| {
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let from = if start - from > AROUND { boundary(start - AROUND) } else { from };
    let to = if to - end > AROUND { boundary(end + AROUND) } else { to };
    (from, to)
}
