//! Inlay hints: what the optimizer knows of a program ([`cairn_core::hints`]).
//!
//! The problem: to know it, the whole program has to be optimized, which takes longer than a key may. The idea: a
//! thread of its own does it, with a low priority, when an editor asks, and answers when it is there. Of several
//! requests that wait only the last one counts. What it found stays, so that a text that has not changed is optimized
//! once.
//!
//! While a text has errors the hints are those of the last one without, in the lines that are still the same.

use super::text::Lines;
use crate::background;
use crate::pipeline;
use crate::source::{Source, Texts};
use crate::sources::Files;
use cairn_core::hints::{self, Hint};
use cairn_core::passes::{self, Opt};
use cairn_layout::lexeme;
use lsp_server::{ErrorCode, Message, RequestId, Response};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip, Position, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Programs of more bytes get no hints: optimizing them takes seconds.
const MOST_BYTES: usize = 100_000;
/// What the thread's priority is less than that of the server, as `nice` counts.
const NICE: i32 = 10;
/// As much as a process begins with.
const STACK: usize = 8 << 20;

/// A request, and all it takes to answer it.
pub(super) struct Job {
    pub(super) id: RequestId,
    pub(super) range: Range,
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) directories: Vec<PathBuf>,
    pub(super) library: Option<PathBuf>,
    /// Those that are open.
    pub(super) texts: Texts,
}

/// Where answers go, until the server ends.
type Out = Arc<Mutex<Option<Box<dyn Fn(Message) + Send>>>>;

/// The thread, if there was a request.
pub(super) struct Worker {
    out: Out,
    jobs: Option<Sender<Job>>,
}

impl Drop for Worker {
    /// Whoever waits for the end of all that is sent must not wait for an optimizer.
    fn drop(&mut self) {
        *self.out.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Worker {
    pub(super) fn new(send: impl Fn(Message) + Send + 'static) -> Worker {
        Worker { out: Arc::new(Mutex::new(Some(Box::new(send)))), jobs: None }
    }

    /// Answers when it is known.
    pub(super) fn ask(&mut self, job: Job) {
        let out = self.out.clone();
        let jobs = self.jobs.get_or_insert_with(|| {
            let (sender, jobs) = channel();
            // without a thread the channel is closed, and nobody is answered
            let _ = std::thread::Builder::new().stack_size(STACK).spawn(move || work(&jobs, &out));
            sender
        });
        if let Err(refused) = jobs.send(job) {
            answer(&self.out, Response::new_ok(refused.0.id, Vec::<InlayHint>::new()));
        }
    }
}

fn answer(out: &Out, response: Response) {
    if let Some(send) = &*out.lock().unwrap_or_else(PoisonError::into_inner) {
        send(Message::Response(response));
    }
}

/// What was found in a text.
struct Known {
    path: PathBuf,
    /// The text, and the others that it was optimized with.
    text: String,
    texts: Texts,
    hints: Vec<(usize, Hint)>,
}

fn work(jobs: &Receiver<Job>, out: &Out) {
    background::lower_priority(NICE);
    let mut known: Option<Known> = None;
    while let Ok(mut job) = jobs.recv() {
        for newer in jobs.try_iter() {
            let old = std::mem::replace(&mut job, newer);
            let message = "the text has changed".to_string();
            answer(out, Response::new_err(old.id, ErrorCode::ContentModified as i32, message));
        }
        let same = |k: &Known| k.path == job.path && k.text == job.text && k.texts == job.texts;
        if !known.as_ref().is_some_and(same) {
            let found = catch_unwind(AssertUnwindSafe(|| found(&job))).ok().flatten();
            match found {
                Some(hints) => {
                    let (path, text, texts) = (job.path.clone(), job.text.clone(), job.texts.clone());
                    known = Some(Known { path, text, texts, hints });
                }
                None => known = known.filter(|k| k.path == job.path).map(|k| moved(k, &job)),
            }
        }
        let hints = known.as_ref().map_or(&[][..], |k| &k.hints);
        answer(out, Response::new_ok(job.id, shown(&job.text, job.range, hints)));
    }
}

/// Where the hints go, by byte; `None` of a text with errors.
fn found(job: &Job) -> Option<Vec<(usize, Hint)>> {
    if job.text.len() > MOST_BYTES {
        return Some(Vec::new());
    }
    let source = Source::new(&job.path, job.text.clone());
    let mut files = Files::new(&source, &job.directories, job.library.as_deref());
    files.use_texts(&job.texts);
    let front = pipeline::front(&source, &mut files).ok()?;
    let mut program = front.program;
    let path = source.path.display().to_string();
    let file = program.sources.iter().position(|s| *s.path == *path)? as u32;
    // programs that evaluate have all of the library in them
    if pipeline::evaluates(&mut program) {
        return Some(Vec::new());
    }
    let before = program.clone();
    passes::optimize(&mut program, Opt::High, false, &mut |_, _| {});
    let hints = hints::of(&before, &program, file);
    Some(hints.into_iter().map(|(start, hint)| (start as usize, hint)).collect())
}

/// The hints in lines that are in both texts: those before the first change and behind the last one.
fn moved(known: Known, job: &Job) -> Known {
    let (old, new) = (known.text.as_str(), job.text.as_str());
    let whole_lines = |pairs: &mut dyn Iterator<Item = (&str, &str)>| {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum::<usize>()
    };
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let head = whole_lines(&mut a.iter().copied().zip(b.iter().copied()));
    let tail = whole_lines(&mut a.iter().rev().copied().zip(b.iter().rev().copied()));
    let tail = tail.min(old.len() - head).min(new.len() - head);
    let hints = known.hints.into_iter().filter_map(|(at, hint)| match at {
        at if at < head => Some((at, hint)),
        at if at >= old.len() - tail => Some((at + new.len() - old.len(), hint)),
        _ => None,
    });
    let hints = hints.collect();
    // as it was: the next text without errors is optimized
    Known { hints, text: job.text.clone(), texts: job.texts.clone(), path: known.path }
}

fn shown(text: &str, range: Range, hints: &[(usize, Hint)]) -> Vec<InlayHint> {
    let lines = Lines::new(text);
    let wanted = lines.offset(text, range.start)..=lines.offset(text, range.end);
    let all = hints.iter().filter_map(|(start, hint)| {
        let end = lexeme::head(text, *start)?.end;
        wanted.contains(&end).then(|| inlay(lines.position(text, end), *hint))
    });
    all.collect()
}

fn inlay(position: Position, hint: Hint) -> InlayHint {
    let (label, tooltip) = match hint {
        Hint::Flonum => ("flonum", "Always flonums: no test of types."),
        Hint::Fixnum => ("fixnum", "Always fixnums: no test of types."),
        Hint::Unchecked => ("unchecked", "Types and bounds are known: no test."),
        Hint::Inlined => ("inlined", "The body of the procedure is here in place of a call."),
        Hint::NoClosure => ("no closure", "The procedure is part of the code around it; no closure is allocated."),
    };
    InlayHint {
        position,
        label: InlayHintLabel::String(label.into()),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(tooltip.into())),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_move_with_their_lines() {
        let text = "(a)\n(b)\n(c)\n";
        let known = |hints| Known { path: "x".into(), text: text.into(), texts: Texts::new(), hints };
        let after = |new: &str| {
            let job = Job {
                id: 1.into(),
                range: Range::default(),
                path: "x".into(),
                text: new.into(),
                directories: Vec::new(),
                library: None,
                texts: Texts::new(),
            };
            let all = vec![(0, Hint::Fixnum), (4, Hint::Flonum), (8, Hint::Inlined)];
            moved(known(all), &job).hints.into_iter().map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(after(text), [0, 4, 8]);
        assert_eq!(after("(a)\n(b\n(c)\n"), [0, 7]);
        assert_eq!(after("(a)\n(x\n(b)\n(c)\n"), [0, 7, 11]);
        assert_eq!(after("(a)\n(c)\n"), [0, 4]);
        assert_eq!(after(""), [0; 0]);
    }
}
