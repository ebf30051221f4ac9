//! The line editor: rustyline, with what it must know of Scheme.

use super::typed;
use crate::lsp::Glossary;
use cairn_layout::lexeme::{self, Kind};
use cairn_syntax::format;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler,
    Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The commands of `lib/cairn/repl.sld`.
const COMMANDS: &[&str] = &[
    ",abort",
    ",apropos ",
    ",break ",
    ",bt",
    ",cd ",
    ",continue",
    ",debug ",
    ",describe ",
    ",disassemble ",
    ",edit ",
    ",env",
    ",expand ",
    ",explain ",
    ",frame ",
    ",gc",
    ",help",
    ",import ",
    ",into",
    ",load ",
    ",locals",
    ",out",
    ",over",
    ",pp ",
    ",profile ",
    ",quit",
    ",stats",
    ",step ",
    ",threads",
    ",time ",
    ",trace ",
    ",unbreak ",
    ",untrace ",
    ",watch ",
];

/// Lines of a terminal.
pub(super) struct LineEditor {
    editor: Editor<Scheme, FileHistory>,
    history: Option<PathBuf>,
    /// Columns of the prompt.
    prompt: Arc<AtomicUsize>,
}

/// What came of a line.
pub(super) enum Line {
    Text(String),
    /// Ctrl-C: nothing.
    Cancelled,
    /// Ctrl-D.
    End,
}

impl LineEditor {
    /// An editor of the terminal, with the history of the sessions before.
    pub(super) fn new(history: Option<PathBuf>, color: bool) -> rustyline::Result<LineEditor> {
        let config = Config::builder().max_history_size(10_000)?.completion_type(CompletionType::List).build();
        let mut editor = Editor::with_history(config.clone(), FileHistory::with_config(&config))?;
        editor.set_helper(Some(Scheme {
            names: Vec::new(),
            glossary: None,
            files: FilenameCompleter::new(),
            color,
        }));
        let prompt = Arc::new(AtomicUsize::new(0));
        let pace = Pace(Arc::new(Mutex::new(None)));
        let key = |code| Event::from(KeyEvent(code, Modifiers::NONE));
        let mut bind = |event, handler| editor.bind_sequence(event, EventHandler::Conditional(handler));
        // what is typed before the editor begins, and what some programs send, ends lines by a line feed
        for enter in [key(KeyCode::Enter), Event::from(KeyEvent::ctrl('J'))] {
            bind(enter, Box::new(Enter(pace.clone(), prompt.clone())));
        }
        bind(key(KeyCode::Tab), Box::new(Tab(pace.clone())));
        bind(Event::Any, Box::new(pace));
        if let Some(file) = &history {
            let _ = editor.load_history(file); // the first session has none
        }
        Ok(LineEditor { editor, history, prompt })
    }

    /// Reads a text whose parentheses match.
    pub(super) fn read(
        &mut self,
        prompt: &str,
        names: Vec<String>,
        glossary: Option<Glossary>,
    ) -> Result<Line, String> {
        use rustyline::error::ReadlineError::{Eof, Interrupted};
        if let Some(scheme) = self.editor.helper_mut() {
            scheme.names = names;
            scheme.glossary = glossary;
        }
        self.prompt.store(prompt.len(), Ordering::Relaxed);
        match self.editor.readline(prompt) {
            Ok(text) => {
                if !text.trim().is_empty() {
                    self.remember(&text);
                }
                Ok(Line::Text(text))
            }
            Err(Eof) => Ok(Line::End),
            Err(Interrupted) => Ok(Line::Cancelled),
            Err(e) => Err(e.to_string()),
        }
    }

    /// Adds to the history, also to its file: a session may end in any way. Without a place to write it is forgotten.
    fn remember(&mut self, text: &str) {
        let _ = self.editor.add_history_entry(text);
        if let Some(file) = &self.history {
            let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            let _ = made.map(|()| self.editor.append_history(file));
        }
    }
}

/// When the last key came. Keys that come faster one after the other than anybody types are pasted, by a terminal that
/// does not bracket what it pastes.
#[derive(Clone)]
struct Pace(Arc<Mutex<Option<Instant>>>);

impl Pace {
    /// A key: did it come at once behind another?
    fn is_pasted(&self) -> bool {
        let Ok(mut last) = self.0.lock() else { return false };
        last.replace(Instant::now()).is_some_and(|l| l.elapsed() < Duration::from_millis(10))
    }
}

/// Any other key.
impl ConditionalEventHandler for Pace {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        self.is_pasted();
        None
    }
}

/// Enter ends the input when it is complete, else it begins a new line, indented: what is pasted has its indentation.
struct Enter(Pace, Arc<AtomicUsize>);

impl ConditionalEventHandler for Enter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        let is_pasted = self.0.is_pasted();
        if !lexeme::is_unfinished(ctx.line()) {
            return Some(Cmd::AcceptLine);
        }
        let before = &ctx.line()[..ctx.pos()];
        let columns = if is_pasted { 0 } else { format::indentation(before, self.1.load(Ordering::Relaxed)) };
        Some(Cmd::Insert(1, format!("\n{}", " ".repeat(columns))))
    }
}

/// Tab completes a name, unless it is the indentation of what is pasted.
struct Tab(Pace);

impl ConditionalEventHandler for Tab {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        let line = ctx.line()[..ctx.pos()].rsplit('\n').next()?;
        let is_indentation = self.0.is_pasted() && line.trim_start().is_empty();
        is_indentation.then(|| Cmd::Insert(1, "\t".into()))
    }
}

/// What the editor asks about a line.
struct Scheme {
    names: Vec<String>,
    /// How they are used.
    glossary: Option<Glossary>,
    files: FilenameCompleter,
    color: bool,
}

impl Helper for Scheme {}
impl Validator for Scheme {}
impl Hinter for Scheme {
    type Hint = String;
}

impl Scheme {
    /// The first way to use each name that begins with a word: the name itself for a variable.
    fn signatures(&self, word: &str) -> HashMap<String, String> {
        let Some(glossary) = &self.glossary else { return HashMap::default() };
        let word = word.to_string();
        let visible = glossary.visible(move |name| name.starts_with(&word)).into_iter();
        visible.filter_map(|v| Some((v.name, v.signatures.into_iter().next()?))).collect()
    }
}

impl Completer for Scheme {
    type Candidate = Pair;

    /// File names in strings and behind `,load`, names elsewhere.
    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..pos];
        if typed::open_string(before).is_some() || before.starts_with(",load ") {
            return self.files.complete_path(line, pos);
        }
        let start = match lexeme::word_start(before, pos) {
            1 if before.starts_with(',') => 0, // a command
            start => start,
        };
        let word = &before[start..];
        let commands = COMMANDS.iter().copied().filter(|_| word.starts_with(','));
        let fitting = self.names.iter().map(String::as_str).chain(commands).filter(|n| n.starts_with(word));
        let fitting: Vec<&str> = fitting.collect();
        // one that is completed at once need not be explained
        let explained = if fitting.len() > 1 { self.signatures(word) } else { HashMap::default() };
        let pair = |n: &str| Pair {
            display: explained.get(n).cloned().unwrap_or_else(|| n.to_string()),
            replacement: n.to_string(),
        };
        Ok((start, fitting.into_iter().map(pair).collect()))
    }
}

impl Highlighter for Scheme {
    fn highlight<'l>(&self, line: &'l str, pos: usize) -> Cow<'l, str> {
        if !self.color {
            return line.into();
        }
        let partner = typed::partner(line, pos);
        let mut out = String::with_capacity(line.len() + 64);
        let mut done = 0;
        for l in lexeme::lexemes(line) {
            let text = l.text(line).trim_end_matches(['\n', '\r']);
            let color = match l.kind {
                Kind::LineComment | Kind::BlockComment => "\x1b[90m",
                Kind::String => "\x1b[32m",
                Kind::Character | Kind::Directive => "\x1b[36m",
                Kind::Atom if text.starts_with(|c: char| c.is_ascii_digit() || c == '#') => "\x1b[36m",
                Kind::Open | Kind::Close if partner.is_some_and(|p| (l.start..l.end).contains(&p)) => "\x1b[1;34m",
                _ => continue,
            };
            out += &line[done..l.start];
            out += color;
            out += text;
            out += "\x1b[0m";
            done = l.start + text.len();
        }
        out += &line[done..];
        out.into()
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _default: bool) -> Cow<'b, str> {
        if self.color { format!("\x1b[1;32m{prompt}\x1b[0m").into() } else { prompt.into() }
    }

    fn highlight_char(&self, _line: &str, _pos: usize, _kind: CmdKind) -> bool {
        self.color
    }
}
