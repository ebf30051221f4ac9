//! `cairn lsp`: what an editor shows of a program, over the Language Server Protocol.
//!
//! The problem: an editor sends each key and asks what the text means now. The idea: everything comes from the expander
//! that also compiles, which reads past mistakes; a text is checked as a whole after each change ([`workspace`]). The
//! server has one thread. It takes all messages that are there before it checks a text, so that it is never behind the
//! keys, and checks the other texts that are open when nothing has come for a moment.
//!
//! | module | its one job |
//! |---|---|
//! | `workspace` | the texts that are open, and what is known of them |
//! | `text`, `uri` | places and files as the protocol writes them |
//! | `structure` | lists around a place, comments above it |
//! | `meaning` | hover, signature help, definition |
//! | `names` | references, rename |
//! | `completion` | names to go on with, imports added |
//! | `glossary` | the same at the prompt |
//! | `outline` | symbols, folds, semantic tokens |
//! | `hints` | what the optimizer knows, found by a thread of its own |
//! | `actions` | edits that mend what is complained of |
//!
//! Diagnostics are those of `cairn check`. Where a request makes no sense (no name is at the place), the answer is
//! null.

mod actions;
mod completion;
mod glossary;
mod hints;
mod meaning;
mod names;
mod outline;
mod structure;
mod text;
mod uri;
mod workspace;

use crate::error::Error;
use cairn_syntax::{Diagnostic, Session, Span};
pub(crate) use glossary::Glossary;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::request::{InlayHintRequest, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability, CompletionOptions,
    CompletionParams, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams,
    DocumentHighlight, DocumentSymbolParams, FoldingRangeParams, FoldingRangeProviderCapability,
    HoverProviderCapability, InlayHintParams, Location, OneOf, PublishDiagnosticsParams, ReferenceParams,
    RenameOptions, RenameParams, SaveOptions, SemanticTokensFullOptions, SemanticTokensOptions,
    SemanticTokensParams, ServerCapabilities, SignatureHelpOptions, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
};
pub(crate) use meaning::signatures;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
pub(crate) use structure::comment_above;
use workspace::Workspace;
pub(crate) use workspace::library_root;

/// Serves an editor on standard input and output until it says `exit`. Libraries are looked for in these directories
/// and in those that the editor has open; `library` stands for Cairn's own. Was the end announced?
pub fn serve(library_path: Vec<PathBuf>, library: Option<PathBuf>) -> Result<bool, Error> {
    let (connection, threads) = Connection::stdio();
    let ended = talk(&connection, library_path, library).map_err(|e| Error::Other(format!("lsp: {e}")))?;
    drop(connection);
    // the reader waits for input that nobody sends any more
    if ended {
        threads.join().map_err(|e| Error::Other(format!("lsp: {}", cairn_rt::describe_io(&e))))?;
    }
    Ok(ended)
}

/// What this server can do.
fn capabilities() -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["(".into()]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec![" ".into()]),
            ..SignatureHelpOptions::default()
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: outline::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

fn talk(
    connection: &Connection,
    mut library_path: Vec<PathBuf>,
    library: Option<PathBuf>,
) -> Result<bool, Box<dyn std::error::Error + Sync + Send>> {
    let (id, params) = connection.initialize_start()?;
    let info = json!({ "name": "cairn", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": info }))?;
    library_path.extend(roots(&params));
    let sender = connection.sender.clone();
    // an editor that does not listen any more is noticed where it does not speak
    let hints = hints::Worker::new(move |message| drop(sender.send(message)));
    let mut server = Server {
        connection,
        hints,
        workspace: Workspace::new(library_path, library),
        waiting: VecDeque::new(),
        published: BTreeMap::new(),
    };
    let mut hurry = false;
    loop {
        let message = match server.next(hurry) {
            Next::Message(message) => message,
            Next::Idle => {
                server.check_one();
                hurry = false;
                continue;
            }
            Next::End => return Ok(false),
        };
        match message {
            Message::Request(request) if connection.handle_shutdown(&request)? => return Ok(true),
            Message::Request(request) if request.method == InlayHintRequest::METHOD => {
                if let Some(answer) = server.ask_for_hints(request) {
                    connection.sender.send(Message::Response(answer))?;
                }
            }
            Message::Request(request) => {
                let answer = server.answer(request);
                connection.sender.send(Message::Response(answer))?;
            }
            Message::Notification(notification) if notification.method == "exit" => return Ok(false),
            Message::Notification(notification) => hurry |= server.notice(notification).is_some(),
            Message::Response(_) => {}
        }
    }
}

/// The directories that the editor has open. Names with letters that should have been encoded are understood, too.
fn roots(params: &Value) -> Vec<PathBuf> {
    let folders = params["workspaceFolders"].as_array().into_iter().flatten().map(|f| &f["uri"]);
    // older editors say it so
    let root = [&params["rootUri"]];
    let mut roots: Vec<PathBuf> = folders.chain(root).filter_map(Value::as_str).filter_map(uri::path_of).collect();
    roots.dedup();
    roots
}

/// How long nothing must come before the texts that were not changed are looked at.
const PAUSE: Duration = Duration::from_millis(200);

enum Next {
    Message(Message),
    /// There is time to check a text.
    Idle,
    End,
}

struct Server<'c> {
    connection: &'c Connection,
    hints: hints::Worker,
    workspace: Workspace,
    /// Texts to be checked, the one that was changed last first.
    waiting: VecDeque<String>,
    /// Files that are not open and about which something was said, by the text whose check said it.
    published: BTreeMap<String, BTreeSet<String>>,
}

/// What came with a request.
fn params<P: DeserializeOwned>(value: Value) -> Result<P, String> {
    serde_json::from_value(value).map_err(|e| e.to_string())
}

/// The answer as JSON; null if there is none.
fn to_json(answer: impl serde::Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|e| e.to_string())
}

impl Server<'_> {
    /// The next message. With `hurry`, a text has changed, and is checked as soon as no message is there.
    fn next(&self, hurry: bool) -> Next {
        let receiver = &self.connection.receiver;
        let message = match () {
            () if self.waiting.is_empty() => receiver.recv().map_err(|_| false),
            () if hurry => receiver.try_recv().map_err(|e| e.is_empty()),
            () => receiver.recv_timeout(PAUSE).map_err(|e| e.is_timeout()),
        };
        match message {
            Ok(message) => Next::Message(message),
            Err(true) => Next::Idle,
            Err(false) => Next::End,
        }
    }

    /// Takes note of something; is a text to be checked at once?
    fn notice(&mut self, notification: Notification) -> Option<()> {
        let value = notification.params;
        match &*notification.method {
            "textDocument/didOpen" => {
                let p: DidOpenTextDocumentParams = params(value).ok()?;
                self.workspace.put(p.text_document.uri.as_str(), p.text_document.text);
                self.check_soon(p.text_document.uri.as_str());
            }
            "textDocument/didChange" => {
                let p: DidChangeTextDocumentParams = params(value).ok()?;
                let uri = p.text_document.uri.as_str();
                let text = std::mem::take(&mut self.workspace.documents.get_mut(uri)?.text);
                self.workspace.put(uri, text::changed(text, p.content_changes));
                self.check_soon(uri);
            }
            "textDocument/didClose" => {
                let p: DidCloseTextDocumentParams = params(value).ok()?;
                let uri = p.text_document.uri.as_str();
                self.workspace.close(uri);
                self.waiting.retain(|w| w != uri);
                self.publish(uri, Vec::new());
                for other in self.published.remove(uri).unwrap_or_default() {
                    self.publish(&other, Vec::new());
                }
                return None;
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.workspace.files_changed();
                self.waiting = self.workspace.documents.keys().cloned().collect();
            }
            _ => return None,
        }
        Some(())
    }

    /// This text is checked next, the others when there is time.
    fn check_soon(&mut self, uri: &str) {
        let others = self.workspace.documents.keys().filter(|other| *other != uri);
        self.waiting = std::iter::once(uri.to_string()).chain(others.cloned()).collect();
    }

    /// Checks a text that waits for it, and says what is found.
    fn check_one(&mut self) {
        let Some(uri) = self.waiting.pop_front() else { return };
        let Some(document) = self.workspace.documents.get(&uri) else { return };
        if workspace::is_built_in(&document.path) {
            return;
        }
        let by_file = self.messages(&uri);
        let before = self.published.remove(&uri).unwrap_or_default();
        let mut published = BTreeSet::new();
        for (other, messages) in by_file {
            if other == uri || !self.workspace.documents.contains_key(&other) {
                self.publish(&other, messages);
                if other != uri {
                    published.insert(other);
                }
            }
        }
        for gone in before.difference(&published) {
            if !self.workspace.documents.contains_key(gone) {
                self.publish(gone, Vec::new());
            }
        }
        self.published.insert(uri, published);
    }

    /// What there is to say about a text, by URI: also about files that it uses.
    fn messages(&mut self, uri: &str) -> BTreeMap<String, Vec<lsp_types::Diagnostic>> {
        let mut by_file: BTreeMap<String, Vec<lsp_types::Diagnostic>> = BTreeMap::new();
        by_file.insert(uri.to_string(), Vec::new());
        let Some(known) = self.workspace.known(uri) else { return by_file };
        let errors = known.report.errors.iter().map(|d| (d.clone(), true, false));
        let warnings = known.report.warnings.iter();
        let warnings = warnings.map(|f| (f.message.clone(), false, f.unused));
        let all: Vec<(Diagnostic, bool, bool)> = errors.chain(warnings).collect();
        let places = Places::new(known.session, &all);
        for (message, error, unused) in &all {
            let Some((path, range)) = places.get(message.span) else { continue };
            let Some(file) = self.workspace.uri_of(path) else { continue };
            let related = message.notes.iter().filter_map(|(span, note)| {
                let (path, range) = places.get(*span)?;
                let location = Location::new(self.workspace.uri_of(path)?, range);
                Some(DiagnosticRelatedInformation { location, message: note.clone() })
            });
            let related: Vec<_> = related.collect();
            let help = message.help.as_ref().map_or(String::new(), |h| format!("\n{h}"));
            by_file.entry(file.as_str().to_string()).or_default().push(lsp_types::Diagnostic {
                range,
                severity: Some(if *error { DiagnosticSeverity::ERROR } else { DiagnosticSeverity::WARNING }),
                source: Some("cairn".into()),
                message: format!("{}{help}", message.message),
                related_information: Some(related).filter(|r| !r.is_empty()),
                tags: unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
                ..lsp_types::Diagnostic::default()
            });
        }
        by_file
    }

    fn publish(&self, uri: &str, diagnostics: Vec<lsp_types::Diagnostic>) {
        let Ok(uri) = Uri::from_str(uri) else { return };
        let params = PublishDiagnosticsParams { uri, diagnostics, version: None };
        let notification = Notification::new(PublishDiagnostics::METHOD.to_string(), params);
        // an editor that does not listen any more is noticed where it does not speak
        let _ = self.connection.sender.send(Message::Notification(notification));
    }

    /// The answer comes later, unless there is nothing to find out.
    fn ask_for_hints(&mut self, request: Request) -> Option<Response> {
        let p: InlayHintParams = match params(request.params) {
            Ok(p) => p,
            Err(message) => return Some(Response::new_err(request.id, ErrorCode::InvalidParams as i32, message)),
        };
        let uri = p.text_document.uri.as_str();
        match self.workspace.hints_job(uri, request.id.clone(), p.range) {
            Some(job) => {
                self.hints.ask(job);
                None
            }
            None => Some(Response::new_ok(request.id, Value::Null)),
        }
    }

    fn answer(&mut self, request: Request) -> Response {
        let w = &mut self.workspace;
        let value = request.params;
        let result = match &*request.method {
            "textDocument/hover" => at(value, |uri, at| to_json(meaning::hover(w, uri, at))),
            "textDocument/definition" => at(value, |uri, at| to_json(meaning::definition(w, uri, at))),
            "textDocument/signatureHelp" => at(value, |uri, at| to_json(meaning::signature_help(w, uri, at))),
            "textDocument/prepareRename" => at(value, |uri, at| to_json(names::prepare_rename(w, uri, at).ok())),
            "textDocument/documentHighlight" => at(value, |uri, at| {
                let ranges = names::highlights(w, uri, at).unwrap_or_default();
                let highlights = ranges.into_iter().map(|range| DocumentHighlight { range, kind: None });
                to_json(highlights.collect::<Vec<_>>())
            }),
            "textDocument/references" => params(value).and_then(|p: ReferenceParams| {
                let TextDocumentPositionParams { text_document, position } = p.text_document_position;
                to_json(names::references(w, text_document.uri.as_str(), position, p.context.include_declaration))
            }),
            "textDocument/rename" => params(value).and_then(|p: RenameParams| {
                let TextDocumentPositionParams { text_document, position } = p.text_document_position;
                names::rename(w, text_document.uri.as_str(), position, &p.new_name).and_then(to_json)
            }),
            "textDocument/completion" => params(value).and_then(|p: CompletionParams| {
                let TextDocumentPositionParams { text_document, position } = p.text_document_position;
                to_json(completion::completion(w, text_document.uri.as_str(), position))
            }),
            "textDocument/documentSymbol" => params(value)
                .and_then(|p: DocumentSymbolParams| to_json(outline::symbols(w, p.text_document.uri.as_str()))),
            "textDocument/foldingRange" => params(value)
                .and_then(|p: FoldingRangeParams| to_json(outline::folds(w, p.text_document.uri.as_str()))),
            "textDocument/semanticTokens/full" => params(value)
                .and_then(|p: SemanticTokensParams| to_json(outline::tokens(w, p.text_document.uri.as_str()))),
            "textDocument/codeAction" => params(value).and_then(|p: CodeActionParams| {
                to_json(actions::actions(w, p.text_document.uri.as_str(), p.range))
            }),
            "textDocument/formatting" => params(value).and_then(|p: DocumentFormattingParams| {
                let text = w.documents.get(p.text_document.uri.as_str()).map(|d| &d.text);
                // what cannot be read has its message already
                let edits = text.and_then(|text| {
                    let formatted = cairn_syntax::format::formatted(text).ok()?;
                    Some(text::difference(text, &formatted).into_iter().collect::<Vec<_>>())
                });
                to_json(edits)
            }),
            method => {
                let message = format!("this server does not know {method}");
                return Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match result {
            Ok(value) => Response::new_ok(request.id, value),
            Err(message) => Response::new_err(request.id, ErrorCode::InvalidParams as i32, message),
        }
    }
}

/// Answers a request about a place.
fn at(
    value: Value,
    answer: impl FnOnce(&str, lsp_types::Position) -> Result<Value, String>,
) -> Result<Value, String> {
    let p: TextDocumentPositionParams = params(value)?;
    answer(p.text_document.uri.as_str(), p.position)
}

/// The files and ranges of the spans of messages.
struct Places(BTreeMap<(u32, u32, u32), (PathBuf, lsp_types::Range)>);

impl Places {
    fn new(session: &Session, all: &[(Diagnostic, bool, bool)]) -> Places {
        let spans = all.iter().flat_map(|(d, ..)| std::iter::once(d.span).chain(d.notes.iter().map(|(s, _)| *s)));
        let mut lines: BTreeMap<u32, text::Lines> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for span in spans {
            let Some(source) = session.sources().get(span.file as usize).filter(|s| !s.library) else { continue };
            let lines = lines.entry(span.file).or_insert_with(|| text::Lines::new(&source.text));
            let range = lines.first_line_of(&source.text, span);
            places.insert((span.file, span.start, span.end), (PathBuf::from(&*source.path), range));
        }
        Places(places)
    }

    fn get(&self, span: Span) -> Option<(&Path, lsp_types::Range)> {
        let (path, range) = self.0.get(&(span.file, span.start, span.end))?;
        Some((path, *range))
    }
}
