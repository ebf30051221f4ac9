//! The formatter: a text with the same data and comments, its lines indented by what the forms mean.
//!
//! ```text
//! (define (fact n )              (define (fact n)
//!    (if (= n 0)                   (if (= n 0)
//!        1                             1
//!      (* n (fact(- n 1)))   ⟶       (* n (fact (- n 1)))))
//!  )
//! )
//! ```
//!
//! The problem: people break lines where they like and count columns badly, and a text has more than its data: comments
//! of three kinds, blank lines, columns that somebody aligned. The idea: lexemes stay as they are, and in their order;
//! only what is between them is made anew. The writer's line breaks remain, but for those before a `)` and behind a
//! quote; how far a line is indented says the form it is in ([`styles`]).
//!
//! There is more than one good way to indent a call: under its first operand, or by two columns. The first line inside
//! of a form says which the writer likes, if it is one of them; the form's kind says it otherwise.
//!
//! What is aligned stays aligned: comments behind code that stand in one column move together, and more than one blank
//! remains where the next or the previous line has something in the same column. A form can lose that neighbour when
//! lines are indented; then the blanks go, so formatting is repeated until nothing changes, and formatting the result
//! again changes nothing.
//!
//! Invariants: the lexemes are the same before and after, and so are the data that the reader makes of them. Both are
//! looked at before a text is given back: [`formatted`] fails rather than change a program.
//!
//! Complexity: linear in the text, times the passes, of which there are two for nearly every text.

mod styles;

use crate::diagnostic::{Diagnostic, Span};
use crate::expand::without_language;
use crate::read::{read_all, show};
use crate::syntax::{Names, Syntax};
use cairn_layout::lexeme::{self, Kind, Lexeme};
use std::cell::Cell;
use styles::{Style, Styles};

/// The text, formatted; or why it cannot be read. The spans of the message are of file 0.
pub fn formatted(text: &str) -> Result<String, Diagnostic> {
    // The reader takes both for one newline, also in strings.
    let crlf = text.find('\n').is_some_and(|i| text[..i].ends_with('\r'));
    let unified = text.replace("\r\n", "\n");
    let mut names = Names::default();
    let data = match read_all(0, &without_language(&unified), &mut names, false) {
        Ok(data) => data,
        // its places are those of the text as it is
        Err(e) => {
            return Err(read_all(0, &without_language(text), &mut Names::default(), false).err().unwrap_or(e));
        }
    };
    let styles = Styles::new(&data, &names);
    let mut result = pass(&unified, &styles, true);
    for keeps_columns in std::iter::repeat_n(true, MOST_PASSES).chain(std::iter::once(false)) {
        let again = pass(&result, &styles, keeps_columns);
        if again == result {
            break;
        }
        result = again;
    }
    let mut after_names = Names::default();
    let after = read_all(0, &without_language(&result), &mut after_names, false)?;
    let shown = |data: &[Syntax], names: &Names| data.iter().map(|x| show(x, names)).collect::<Vec<_>>();
    if shown(&data, &names) != shown(&after, &after_names) || !words(&unified).eq(words(&result)) {
        let place = Span::new(0, 0, text.len().min(1));
        return Err(Diagnostic::new(place, "formatting would change this program, so it is left as it is")
            .help("this is a fault of Cairn: please report it with the program"));
    }
    Ok(if crlf { result.replace('\n', "\r\n") } else { result })
}

/// The column in which the next line of an unfinished text begins, whose first line begins in column `first`: where the
/// formatter would put it if all stayed where it is.
pub fn indentation(text: &str, first: usize) -> usize {
    if lexeme::lexemes(text).last().is_some_and(|l| !l.whole) {
        return 0; // inside of a string
    }
    let text = format!("{}{text}", " ".repeat(first));
    let styles = Styles::new(&[], &Names::default());
    let mut w = Writer::new(&text, &styles, true);
    lexeme::lexemes(&text).for_each(|l| w.lexeme(l));
    w.frames.split_off(1).pop().map_or(0, |open| open.in_source().indentation(false))
}

/// After so many passes nothing is held in its column any more. Each but the last takes blanks away somewhere.
const MOST_PASSES: usize = 8;

/// What a text consists of, but for what is between.
fn words(text: &str) -> impl Iterator<Item = &str> {
    lexeme::lexemes(text).filter(|l| l.kind != Kind::Space).map(|l| l.text(text).trim_end())
}

/// Most blank lines in a row: between the forms of a file, and inside of them.
const BLANK_LINES: [usize; 2] = [2, 1];

/// Most blanks between code and a comment that belongs beside it.
const CLOSE: usize = 2;

/// Lines between two comments in the same column that are still one group.
const GROUP_REACH: usize = 3;

/// A list that is open, or the text around all lists.
struct Frame<'t> {
    /// Column of the parenthesis, and of what is behind it.
    column: usize,
    inner: usize,
    style: Style,
    /// Data in it so far.
    items: usize,
    /// Those of them that are atoms.
    atoms: usize,
    head: Option<&'t str>,
    /// Line of the head, and the column of the first operand if that is in the same line.
    head_line: usize,
    operand: Option<usize>,
    /// Is it part of quoted data?
    quoted: bool,
    /// Data that `#;` still waits for.
    commented: usize,
    /// Columns of the source: of the parenthesis, and of the first operand if that is in the head's line.
    source: usize,
    source_operand: Option<usize>,
    /// Has a line inside been broken, and how are they indented then?
    broken: bool,
    way: Option<Way>,
}

impl<'t> Frame<'t> {
    /// Where a line in it begins.
    fn indentation(&self, outermost: bool) -> usize {
        if outermost {
            return 0;
        }
        if self.items == 0 {
            return self.inner;
        }
        match self.style {
            Style::Body(n) if self.items <= n => self.column + 4,
            Style::Body(1..) => self.column + 2,
            _ => match self.way {
                Some(Way::By(columns)) => self.column + columns,
                Some(Way::Operand) => self.operand.unwrap_or(self.inner),
                None => self.usual(),
            },
        }
    }

    /// Where a line begins if the writer has not said it.
    fn usual(&self) -> usize {
        match self.style {
            Style::Data => self.inner,
            Style::Call => self.operand.unwrap_or(self.inner),
            Style::Aligned => self.operand.unwrap_or(self.column + 2),
            Style::Body(_) => self.column + 2,
        }
    }

    /// The list as it stands in the source: with the columns there.
    fn in_source(self) -> Frame<'t> {
        let inner = self.source + (self.inner - self.column);
        Frame { column: self.source, inner, operand: self.source_operand, ..self }
    }

    /// Does it look like parameters, or other data that nobody calls?
    fn lists_names(&self) -> bool {
        self.atoms == self.items && self.items >= 4
    }

    /// The way the writer indents it, whose first line inside begins in this column of the source; if it is a good one.
    fn way_of(&self, column: usize) -> Option<Way> {
        if self.head.is_none() || self.style == Style::Data && !self.quoted {
            return None;
        }
        match column.checked_sub(self.source)? {
            _ if self.source_operand == Some(column) => Some(Way::Operand),
            1 if self.operand.is_none() || self.lists_names() => Some(Way::By(1)),
            2 => Some(Way::By(2)),
            _ => None,
        }
    }
}

/// A way to indent the lines of a form.
#[derive(Clone, Copy)]
enum Way {
    /// By so many columns.
    By(usize),
    /// Under the first operand.
    Operand,
}

/// A comment at the end of a line of code, or one that goes on with it in the next line.
struct Trailing<'t> {
    text: &'t str,
    /// Where in the output it goes.
    at: usize,
    line: usize,
    /// Columns of code before it.
    width: usize,
    /// Its column in the source, and the blanks before it there.
    source: usize,
    gap: usize,
}

/// What was written last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing yet.
    Nothing,
    Open,
    Prefix,
    DatumComment,
    LineComment,
    /// A datum, its end, or a block comment.
    Datum,
}

struct Writer<'t> {
    text: &'t str,
    styles: &'t Styles,
    keeps_columns: bool,
    out: String,
    line: usize,
    column: usize,
    frames: Vec<Frame<'t>>,
    comments: Vec<Trailing<'t>>,
    last: Last,
    /// Newlines in the source since then.
    breaks: usize,
    /// Where each line of the source begins.
    lines: Vec<usize>,
    /// The place whose column was asked for last, and that column.
    measured: Cell<(usize, usize)>,
    /// Was the last prefix a quote?
    quote: Option<bool>,
}

/// Formats once.
fn pass(text: &str, styles: &Styles, keeps_columns: bool) -> String {
    let mut w = Writer::new(text, styles, keeps_columns);
    lexeme::lexemes(text).for_each(|l| w.lexeme(l));
    w.finish()
}

impl<'t> Writer<'t> {
    fn new(text: &'t str, styles: &'t Styles, keeps_columns: bool) -> Writer<'t> {
        let outermost = Frame {
            column: 0,
            inner: 0,
            style: Style::Data,
            items: 0,
            atoms: 0,
            head: None,
            head_line: 0,
            operand: None,
            quoted: false,
            commented: 0,
            source: 0,
            source_operand: None,
            broken: false,
            way: None,
        };
        let starts = text.char_indices().filter(|(_, c)| matches!(c, '\n' | '\r')).map(|(i, _)| i + 1);
        Writer {
            text,
            styles,
            keeps_columns,
            out: String::with_capacity(text.len() + text.len() / 8),
            line: 0,
            column: 0,
            frames: vec![outermost],
            comments: Vec::new(),
            last: Last::Nothing,
            breaks: 0,
            lines: std::iter::once(0).chain(starts).collect(),
            measured: Cell::new((0, 0)),
            quote: None,
        }
    }

    fn lexeme(&mut self, l: Lexeme) {
        let text = l.text(self.text);
        match l.kind {
            Kind::Space => {
                self.breaks += text.matches(['\n', '\r']).count();
                return;
            }
            Kind::LineComment => return self.line_comment(l),
            Kind::BlockComment => {
                self.gap(l);
                self.last = Last::Datum;
            }
            Kind::DatumComment => {
                self.gap(l);
                self.last = Last::DatumComment;
                self.top().commented += 1;
            }
            Kind::Prefix => {
                self.gap(l);
                self.begin_datum(l);
                self.last = Last::Prefix;
                self.quote = match text {
                    "'" => Some(true),
                    "`" | "," | ",@" => Some(false),
                    _ => self.quote,
                };
            }
            Kind::Open => {
                self.gap(l);
                let column = self.column;
                self.begin_datum(l);
                self.open(column, l);
                self.last = Last::Open;
            }
            Kind::Close => {
                if self.last == Last::LineComment {
                    self.new_line(1, l);
                }
                if self.frames.len() > 1 {
                    self.frames.pop();
                }
                self.last = Last::Datum;
            }
            Kind::String | Kind::Symbol | Kind::Character | Kind::Directive | Kind::Atom => {
                self.gap(l);
                self.begin_datum(l);
                self.last = Last::Datum;
            }
        }
        if l.kind != Kind::Prefix {
            self.quote = None;
        }
        self.write(text);
        self.breaks = 0;
    }

    fn top(&mut self) -> &mut Frame<'t> {
        self.frames.last_mut().expect("the text around all lists is never left")
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        match text.rfind('\n') {
            Some(i) => {
                self.line += text.matches('\n').count();
                self.column = text[i + 1..].chars().count();
            }
            None => self.column += text.chars().count(),
        }
    }

    /// The line ends here; the next one begins with this lexeme, behind so many newlines, indented.
    fn new_line(&mut self, breaks: usize, l: Lexeme) {
        let frame = &self.frames[self.frames.len() - 1];
        if frame.items > 0 && !frame.broken {
            let way = self.datum_in_line(l).and_then(|column| frame.way_of(column));
            let frame = self.top();
            frame.broken = true;
            frame.way = way;
        }
        let outermost = self.frames.len() == 1;
        let most = if self.last == Last::Open { 0 } else { BLANK_LINES[usize::from(!outermost)] };
        let columns = self.frames.last().map_or(0, |f| f.indentation(outermost));
        for _ in 0..breaks.clamp(1, most + 1) {
            self.write("\n");
        }
        self.write(&" ".repeat(columns));
    }

    /// What comes between what was written last and this lexeme, which is no comment of a line.
    fn gap(&mut self, l: Lexeme) {
        match self.last {
            Last::Nothing => {}
            Last::LineComment => self.new_line(self.breaks, l),
            // `,@` is something else
            Last::Prefix if self.out.ends_with(',') && l.text(self.text).starts_with('@') => self.write(" "),
            Last::Prefix => {}
            Last::Open | Last::DatumComment | Last::Datum if self.breaks > 0 => self.new_line(self.breaks, l),
            Last::Open | Last::DatumComment => {}
            Last::Datum => {
                let blanks = self.blanks_before(l.start);
                let kept = if blanks > 1 && self.keeps_columns && self.is_aligned(l.start) { blanks } else { 1 };
                self.write(&" ".repeat(kept));
            }
        }
    }

    /// The column of the source in which this lexeme, or the first datum behind it if it is a comment, begins; if a
    /// line begins with it.
    fn datum_in_line(&self, l: Lexeme) -> Option<usize> {
        let mut all = std::iter::successors(Some(l), |l| lexeme::next(self.text, l.end));
        let datum = all.find(|l| !l.is_atmosphere())?;
        let start = self.lines[self.source_line(datum.start)];
        let begins_line = self.text[start..datum.start].chars().all(char::is_whitespace);
        (datum.kind != Kind::Close && begins_line).then(|| self.source_column(datum.start))
    }

    /// Blanks in the source before this place, a tab for as many as it makes.
    fn blanks_before(&self, at: usize) -> usize {
        let before = self.text[..at].trim_end_matches([' ', '\t']).len();
        let column = self.source_column(before);
        self.text[before..at].chars().fold(column, advance) - column
    }

    fn source_line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at) - 1
    }

    fn source_column(&self, at: usize) -> usize {
        let line = self.lines[self.source_line(at)];
        let (known, column) = self.measured.get();
        // from the last place on, if that is before this one in its line: a line may be as long as the text
        let (from, column) = if (line..=at).contains(&known) { (known, column) } else { (line, 0) };
        let column = self.text[from..at].chars().fold(column, advance);
        self.measured.set((at, column));
        column
    }

    /// Does something begin behind blanks in the same column of the line before or the line after?
    fn is_aligned(&self, at: usize) -> bool {
        let line = self.source_line(at);
        let column = self.source_column(at);
        let begins_there = |line: usize| {
            let Some(start) = self.lines.get(line).copied() else { return false };
            let end = self.lines.get(line + 1).map_or(self.text.len(), |next| next - 1);
            let (mut width, mut blank) = (0, false);
            for c in self.text[start..end].chars() {
                if width >= column {
                    return width == column && blank && !c.is_whitespace();
                }
                blank = matches!(c, ' ' | '\t');
                width = advance(width, c);
            }
            false
        };
        line.checked_sub(1).is_some_and(begins_there) || begins_there(line + 1)
    }

    /// A datum begins where the output ends.
    fn begin_datum(&mut self, l: Lexeme) {
        if self.last == Last::Prefix {
            return; // it began there
        }
        let (styles, text, line, column) = (self.styles, self.text, self.line, self.column);
        let source = self.source_column(l.start);
        let frame = self.top();
        if frame.commented > 0 {
            frame.commented -= 1;
            return;
        }
        match frame.items {
            0 => {
                frame.head_line = line;
                let is_name = matches!(l.kind, Kind::Atom | Kind::Symbol);
                frame.head = is_name.then(|| l.text(text));
                if let (Some(head), Style::Call, false) = (frame.head, frame.style, frame.quoted) {
                    frame.style = styles.of(head);
                } else if frame.head.is_none() || frame.quoted {
                    frame.style = Style::Data;
                }
            }
            1 => {
                let is_list = l.kind == Kind::Open;
                frame.operand = (line == frame.head_line).then_some(column);
                frame.source_operand = frame.operand.map(|_| source);
                let head = frame.head.unwrap_or("");
                match frame.style {
                    Style::Body(_) => frame.style = styles.with_operand(head, is_list),
                    // what looks like a program is one, for `eval`
                    Style::Data if frame.quoted && is_list && matches!(styles.of(head), Style::Body(_)) => {
                        frame.style = styles.with_operand(head, is_list);
                        frame.quoted = false;
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        frame.items += 1;
        frame.atoms += usize::from(l.kind == Kind::Atom);
    }

    /// A list is opened in this column. It is counted in the one around it.
    fn open(&mut self, column: usize, l: Lexeme) {
        let lexeme = l.text(self.text);
        let source = self.source_column(l.start);
        let around = &self.frames[self.frames.len() - 1];
        let quoted = self.quote.unwrap_or(around.quoted) || around.head == Some("quote");
        // parameters, and the data of a clause of `case`
        let lists_names = match (around.head, around.items) {
            (Some("lambda" | "define-values" | "receive"), 2) => true,
            (None, 1) => {
                let outer = self.frames.iter().rev().nth(1).and_then(|f| f.head);
                matches!(outer, Some("case" | "case-lambda"))
            }
            _ => false,
        };
        let is_list = matches!(lexeme, "(" | "[");
        self.frames.push(Frame {
            column,
            inner: column + lexeme.chars().count(),
            style: if is_list && !lists_names { Style::Call } else { Style::Data },
            items: 0,
            atoms: 0,
            head: None,
            head_line: 0,
            operand: None,
            quoted,
            commented: 0,
            source,
            source_operand: None,
            broken: false,
            way: None,
        });
    }

    fn line_comment(&mut self, l: Lexeme) {
        let text = l.text(self.text).trim_end();
        let gap = self.blanks_before(l.start).max(1);
        let source = self.source_column(l.start);
        let comment = |w: &Writer, width, gap| {
            let at = w.out.len();
            Trailing { text, at, line: w.line, width, source, gap }
        };
        let goes_on = || {
            let is_single = !text.starts_with(";;");
            let before = self.comments.last().filter(|c| c.line == self.line);
            self.last == Last::LineComment
                && self.breaks == 1
                && is_single
                && before.is_some_and(|c| c.source == source)
        };
        if self.last != Last::Nothing && self.breaks == 0 {
            self.comments.push(comment(self, self.column, gap));
        } else if goes_on() {
            self.write("\n");
            self.comments.push(comment(self, 0, source));
        } else {
            if self.last != Last::Nothing {
                self.new_line(self.breaks, l);
            }
            self.write(text);
        }
        self.last = Last::LineComment;
        self.breaks = 1;
    }

    /// The whole, with the comments behind code in their columns.
    fn finish(self) -> String {
        let mut out = String::with_capacity(self.out.len());
        let mut from = 0;
        let mut rest = &self.comments[..];
        while let Some(first) = rest.first() {
            let together =
                |pair: &[Trailing]| pair[0].source == pair[1].source && pair[1].line - pair[0].line <= GROUP_REACH;
            let count = rest.windows(2).take_while(|pair| together(pair)).count() + 1;
            let (group, behind) = rest.split_at(count);
            let gap = group.iter().map(|c| c.gap).min().unwrap_or(1);
            let width = group.iter().map(|c| c.width).max().unwrap_or(0);
            // close to the code they move with it, otherwise they stay if there is room
            let column = if gap <= CLOSE { width + gap } else { first.source.max(width + 1) };
            for c in group {
                out.push_str(&self.out[from..c.at]);
                out.extend(std::iter::repeat_n(' ', column - c.width));
                out.push_str(c.text);
                from = c.at;
            }
            rest = behind;
        }
        out.push_str(&self.out[from..]);
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }
}

/// The column behind a character; a tab goes to the next multiple of eight.
fn advance(column: usize, c: char) -> usize {
    match c {
        '\t' => (column / 8 + 1) * 8,
        '\u{feff}' => column,
        _ => column + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{formatted, indentation};

    #[test]
    fn the_next_line_is_indented_by_what_stands_before_it() {
        for (text, columns) in [
            ("(define (f x)", 2),
            ("(define", 4),
            ("(let ((x 1)", 6),
            ("(let* ((x 1))", 2),
            ("(let loop ((i 0))", 2),
            ("(let loop", 4),
            ("(do ((i 0 (+ i 1)))", 4),
            ("(do ((i 0 (+ i 1)))\n    ((= i 10))", 2),
            ("(f", 1),
            ("(list 1", 6),
            ("(list 1\n      (if x", 10),
            ("(list\n  1", 2),
            ("((f) 1", 1),
            ("(cond ((= x 1) 2)", 6),
            ("(cond\n ((= x 1) 2)", 1),
            ("(case x\n  ((a b)", 3),
            ("(begin", 2),
            ("'#(1", 3),
            ("'(1 2", 2),
            ("\"abc", 0),
            ("(f \"abc\n", 0),
            ("(a))", 0),
            ("(f ; why", 1),
            ("(f #;(g", 6),
        ] {
            assert_eq!(indentation(text, 0), columns, "{text}");
        }
        assert_eq!(indentation("(define (f x)", 2), 4);
        assert_eq!(indentation("(list 1\n  (list 2", 20), 8);
    }

    /// What is typed line by line, each begun where [`indentation`] says, is formatted.
    #[test]
    fn what_is_typed_so_is_formatted() {
        let text = include_str!("../../../../tests/scheme/hot-types.scm");
        let mut typed = String::new();
        for line in formatted(text).unwrap().lines() {
            let columns =
                if typed.ends_with("\n\n") || typed.is_empty() { 0 } else { indentation(typed.trim_end(), 0) };
            typed += &format!("{}{}\n", " ".repeat(if line.is_empty() { 0 } else { columns }), line.trim_start());
        }
        assert_eq!(formatted(&typed).unwrap(), typed);
    }
}
