//! The terminal of the prompt.
//!
//! The problem: an interactive session needs a line editor, which is Rust, while what is computed runs on Scheme's
//! frames, can be interrupted, and jumps between inputs through continuations. The idea: the session is a program in
//! Scheme (`lib/cairn/repl.sld`), and this is its terminal: it answers requests and calls nothing back. So a
//! continuation of an earlier input can be entered like any other, and Ctrl-C is a signal like any other.
//!
//! ```text
//!  (cairn repl) ──"input"──▶ Terminal ──▶ expressions of -e │ line editor │ "read from your own port"
//! ```
//!
//! Where input comes from: the expressions of `-e`, one after another; a line editor when standard input and output are
//! a terminal that can do it; else the program reads its own standard input, with a prompt if that is a (dumb)
//! terminal, as under Emacs. So what a program reads from a pipe comes behind the form that reads it.

mod editor;
mod pretty;
mod typed;

use crate::emit::Stage;
use crate::error::Error;
use crate::lsp::Glossary;
use crate::session::Compiler;
use crate::source::Source;
use cairn_layout::lexeme;
use cairn_rt::Options as RunOptions;
use cairn_rt::evaluator::{Console, Data};
use editor::{Line, LineEditor};
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What a session begins with.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// Evaluated instead of what is typed.
    pub expressions: Vec<String>,
    /// Loaded first.
    pub file: Option<PathBuf>,
}

/// A session, until it ends; the result is the exit status.
pub fn prompt(compiler: &Compiler, prompt: Prompt, options: RunOptions) -> Result<i32, Error> {
    let terminal = Terminal::new(compiler.clone(), prompt)?;
    let options = RunOptions { console: Some(Arc::new(Mutex::new(terminal))), ..options };
    compiler.run_library_procedure(
        "(cairn repl) repl",
        "(import (cairn repl)) (repl)",
        Path::new("prompt"),
        options,
    )
}

enum Input {
    Expressions(VecDeque<String>),
    Editor(Box<LineEditor>),
    /// The program's standard input; with a prompt.
    Port(bool),
}

struct Terminal {
    compiler: Compiler,
    input: Input,
    file: Option<PathBuf>,
    color: bool,
    /// Inputs so far.
    count: usize,
    /// Texts of definitions, for `,disassemble`.
    definitions: Vec<String>,
    /// Texts of definitions and imports, also of files that were loaded, for what is said of names.
    meanings: Vec<String>,
    /// Comments before the next input.
    comment: String,
    /// What these say; made when somebody asks.
    glossary: Option<Glossary>,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("count", &self.count).finish_non_exhaustive()
    }
}

/// Where the history of all sessions is: `CAIRN_HISTORY` if that is set (nowhere if it is empty), else in the user's
/// directory for such things.
fn history_file() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("CAIRN_HISTORY") {
        return (!file.is_empty()).then(|| file.into());
    }
    let directory = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|d| d.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| Some(directory("HOME")?.join(".local/state")));
    Some(state?.join("cairn/history"))
}

impl Terminal {
    fn new(compiler: Compiler, prompt: Prompt) -> Result<Terminal, Error> {
        let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let dumb = std::env::var_os("TERM").is_none_or(|t| t.is_empty() || t == "dumb");
        let color =
            std::io::stderr().is_terminal() && !dumb && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let input = if !prompt.expressions.is_empty() {
            Input::Expressions(prompt.expressions.into())
        } else if terminal && !dumb {
            Input::Editor(Box::new(
                LineEditor::new(history_file(), color).map_err(|e| format!("no line editor: {e}"))?,
            ))
        } else {
            Input::Port(terminal)
        };
        Ok(Terminal {
            compiler,
            input,
            file: prompt.file,
            color,
            count: 0,
            definitions: Vec::new(),
            meanings: Vec::new(),
            comment: String::new(),
            glossary: None,
        })
    }

    /// A text to evaluate, asked for by `shown`: `#(text name)`; a string, the prompt, when the program is to read for
    /// itself; end of file; or `interrupt`.
    fn next(&mut self, shown: &str, names: &dyn Fn() -> Vec<(String, bool)>) -> Result<Data, String> {
        let named = |text: String, name: String| Data::Vector(vec![Data::String(text), Data::String(name)]);
        let glossary = if matches!(self.input, Input::Editor(_)) { Some(self.glossary().clone()) } else { None };
        Ok(match &mut self.input {
            Input::Expressions(all) => match all.pop_front() {
                Some(text) => named(text, "-e".into()),
                None => Data::Eof,
            },
            Input::Port(prompt) => Data::String(if *prompt { shown.into() } else { String::new() }),
            Input::Editor(editor) => {
                match editor.read(shown, names().into_iter().map(|(name, _)| name).collect(), glossary)? {
                    Line::Text(text) => {
                        self.count += 1;
                        self.note(&text);
                        named(text, format!("prompt {}", self.count))
                    }
                    Line::Cancelled => Data::Symbol("interrupt".into()),
                    Line::End => Data::Eof,
                }
            }
        })
    }

    fn note(&mut self, text: &str) {
        if text.trim_start().starts_with("(define") {
            self.definitions.push(text.to_string());
        }
        // a comment may come as an input of its own, before what it is about
        let code = code_of(text);
        if code.starts_with("(define") || code.starts_with("(import") {
            self.meanings.push(std::mem::take(&mut self.comment) + text);
        } else if code.is_empty() && !text.trim().is_empty() {
            self.comment += text.trim_end();
            self.comment += "\n";
        } else {
            self.comment.clear();
        }
    }

    /// What is said of names.
    fn glossary(&mut self) -> &Glossary {
        let compiler = &self.compiler;
        let glossary = self
            .glossary
            .get_or_insert_with(|| Glossary::new(compiler.library_path.clone(), compiler.library.clone()));
        glossary.set_text(&self.meanings);
        glossary
    }

    /// The names that contain a text: how they are used and where they are from, a line for each way; then those that
    /// an import would bring.
    fn apropos(&mut self, part: &str) -> String {
        let glossary = self.glossary();
        let (part, also) = (part.to_string(), part.to_string());
        let visible = glossary.visible(move |name| name.contains(&part));
        let mut exported = glossary.exported(move |name| name.contains(&also));
        let mut lines: Vec<(String, String)> = Vec::new();
        for name in visible {
            let home = exported.remove(&name.name).and_then(|libraries| libraries.into_iter().next());
            let from = home.or(name.library).unwrap_or_default();
            lines.extend(name.signatures.into_iter().map(|way| (way, from.clone())));
        }
        let others = exported.into_iter().filter(|(name, _)| !name.starts_with('%'));
        lines
            .extend(others.filter_map(|(name, libraries)| Some((name, format!("import {}", libraries.first()?)))));
        let width = lines.iter().map(|(way, _)| way.chars().count()).max().unwrap_or(0).min(48);
        lines.iter().map(|(way, from)| format!("{way:width$}  {from}").trim_end().to_string() + "\n").collect()
    }

    /// Lets somebody edit a file.
    fn edit(file: &str) -> Result<(), String> {
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into());
        // it may have options
        let mut command = std::process::Command::new("sh");
        let status = command.arg("-c").arg(format!("{editor} \"$1\"")).args(["sh", file]).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(format!("{editor} failed")),
            Err(e) => Err(format!("cannot run {editor}: {e}")),
        }
    }

    /// Machine code of an expression, or of a procedure defined at the prompt, together with the definitions so far.
    fn disassemble(&self, text: &str) -> Result<String, String> {
        let text = text.trim();
        let is_name = lexeme::is_atom(text);
        let name = if is_name { text } else { "disassembled" };
        let mut program = self.definitions.join("\n");
        if !is_name {
            program += &format!("\n(define (disassembled) {text})");
        }
        // Whoever might call it keeps it in the program.
        program += &format!("\n(define kept (make-vector 1))\n(vector-set! kept 0 {name})\n(write kept)");
        let source = Source::new("prompt", program);
        let emitted = self.compiler.emit(&source, Stage::Asm, Some(name));
        emitted.map(|(text, _)| text).map_err(|e| e.to_string())
    }
}

/// A text without the space and comments before its first form.
fn code_of(text: &str) -> &str {
    let first = lexeme::lexemes(text).find(|l| !l.is_atmosphere());
    first.map_or("", |l| &text[l.start..])
}

impl Console for Terminal {
    fn request(
        &mut self,
        what: &str,
        text: &str,
        names: &dyn Fn() -> Vec<(String, bool)>,
    ) -> Result<Data, String> {
        Ok(match what {
            "input" => self.next(text, names)?,
            "colour?" => Data::Bool(self.color),
            "editor?" => Data::Bool(matches!(self.input, Input::Editor(_))),
            "expressions?" => Data::Bool(matches!(self.input, Input::Expressions(_))),
            "file" => match self.file.take() {
                Some(file) => Data::String(file.display().to_string()),
                None => Data::Bool(false),
            },
            // asked for each input that the program has read itself
            "complete?" => {
                let complete = !lexeme::is_unfinished(text);
                if complete {
                    self.note(text);
                }
                Data::Bool(complete)
            }
            "describe" => self.glossary().describe(text).map_or(Data::Bool(false), Data::String),
            "apropos" => Data::String(self.apropos(text)),
            "note" => {
                self.meanings.push(text.to_string());
                Data::Unspecified
            }
            "pretty" => Data::String(pretty::pretty(text)),
            // what somebody has written keeps its line breaks
            "formatted" => {
                let text = format!("{text}\n");
                Data::String(cairn_syntax::format::formatted(&text).unwrap_or(text))
            }
            ",cd" => {
                if !text.is_empty() {
                    std::env::set_current_dir(text).map_err(|e| format!("cannot go to {text}: {e}"))?;
                }
                let here = std::env::current_dir().map_err(|e| e.to_string())?;
                Data::String(here.display().to_string())
            }
            ",explain" => Data::String(crate::explain::explanation(text).ok_or_else(|| {
                format!("nothing explains this; `cairn explain` lists what is explained: {text}")
            })?),
            ",edit" => {
                Self::edit(text)?;
                Data::Unspecified
            }
            // when a file was changed
            "changed" => {
                let time = std::fs::metadata(text).and_then(|m| m.modified()).map_err(|e| e.to_string())?;
                Data::String(format!("{time:?}"))
            }
            "names" => {
                // values have names, too, but nobody has thought of them
                let numbered = |name: &str| name.strip_prefix('$').is_some_and(|n| n.parse::<u64>().is_ok());
                let wanted = |(name, own): &(String, bool)| {
                    if text.is_empty() { *own && !numbered(name) } else { name.contains(text) }
                };
                let names = names().into_iter().filter(wanted).map(|(name, _)| Data::String(name)).collect();
                Data::List(names, Box::new(Data::Nil))
            }
            "disassemble" => Data::String(self.disassemble(text)?),
            _ => return Err(format!("the terminal knows no request {what}")),
        })
    }
}
