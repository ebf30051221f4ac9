//! What came of a program: its tests, and what is wrong with the program itself.

use super::child::{Ended, How, signal_name};
use super::events::{Event, Kind, Place};
use super::find::Found;
use std::time::Duration;

/// A test.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The groups it is in, the outermost first.
    pub(super) groups: Vec<String>,
    /// Its name, or its text if it has none.
    pub(super) name: String,
    pub(super) place: Option<Place>,
    pub(super) came: Came,
    pub(super) time: Duration,
    /// What is known of it if it failed.
    pub(super) facts: Vec<(String, String)>,
}

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    Of(Kind),
    /// The program ended in the midst of it.
    Died,
    /// It was not run, only named.
    Listed,
}

/// What came of a program.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) program: String,
    pub(super) cases: Vec<Case>,
    /// What is wrong besides failed tests.
    pub(super) problems: Vec<String>,
    /// Are only some of its tests wanted?
    pub(super) filtered: bool,
    pub(super) time: Duration,
    pub(super) output: String,
    /// Was it ended by Ctrl-C?
    pub(super) interrupted: bool,
}

/// Characters of a form that stands for a name.
const NAME: usize = 60;

impl Case {
    /// Groups and name in one.
    pub(super) fn full_name(&self) -> String {
        self.groups.iter().map(|g| g.as_str()).chain([self.name.as_str()]).collect::<Vec<&str>>().join(": ")
    }

    /// Is this what nobody wants?
    pub(super) fn failed(&self) -> bool {
        matches!(self.came, Came::Of(Kind::Fail | Kind::XPass) | Came::Died)
    }

    pub(super) fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str())
    }
}

impl Outcome {
    /// Of a program that was not run.
    pub(super) fn untold(program: &Found, filtered: bool) -> Outcome {
        Outcome {
            program: program.name.clone(),
            cases: Vec::new(),
            problems: Vec::new(),
            filtered,
            time: Duration::ZERO,
            output: String::new(),
            interrupted: false,
        }
    }

    /// Of a program that has told this, and has ended so.
    pub(super) fn new(program: &Found, filtered: bool, events: Vec<Event>, ended: Ended) -> Outcome {
        let mut outcome = Outcome { time: ended.time, output: ended.output, ..Outcome::untold(program, filtered) };
        let told = !events.is_empty();
        let (groups, counts) = outcome.take(events);
        let died = outcome.cases.iter().any(|c| c.came == Came::Died);
        let failed = outcome.cases.iter().any(Case::failed);
        match &ended.how {
            How::NotRun | How::Status(0) => {}
            // what failed tests end with
            How::Status(1) if failed && !died && groups.is_empty() => {}
            How::Status(status) => outcome.problems.push(format!("ended with status {status}")),
            How::Signal(signal) => outcome.problems.push(format!("was killed by {}", signal_name(*signal))),
            How::TimedOut(limit) => {
                outcome.problems.push(format!("did not end within {} s", limit.as_secs_f64()));
            }
            How::Interrupted => outcome.interrupted = true,
            How::Failed(why) => outcome.problems.push(format!("cannot be run: {why}")),
        }
        let ended_itself = matches!(ended.how, How::Status(_));
        if ended_itself && (died || !groups.is_empty()) {
            let group = groups.last().map_or(String::new(), |g| format!(" inside of the group `{g}`"));
            outcome.problems.push(if died {
                "ended in the midst of a test".to_string()
            } else {
                format!("ended{group}, before its (test-end)")
            });
        }
        outcome.problems.extend(counts);
        let listed = outcome.cases.iter().any(|c| c.came == Came::Listed);
        if ended.how == How::Status(0) && program.has_suites && !filtered && outcome.cases.is_empty() && !listed {
            outcome.problems.push("imports (srfi 64), but runs no test".to_string());
        }
        if !program.has_suites && !told && !outcome.interrupted {
            let problems = std::mem::take(&mut outcome.problems);
            outcome.cases.push(Case {
                groups: Vec::new(),
                name: program.name.clone(),
                place: None,
                came: Came::Of(if problems.is_empty() { Kind::Pass } else { Kind::Fail }),
                time: outcome.time,
                facts: problems.into_iter().map(|p| ("problem".to_string(), p)).collect(),
            });
        }
        outcome
    }

    /// Takes up what was told. The result: the groups that have not ended, and wrong counts.
    fn take(&mut self, events: Vec<Event>) -> (Vec<String>, Vec<String>) {
        let (mut groups, mut counts) = (Vec::new(), Vec::new());
        // tests that have begun; a test may run others
        let mut open: Vec<usize> = Vec::new();
        for event in events {
            match event {
                Event::Group(name) => groups.push(name),
                Event::End => {
                    groups.pop();
                }
                Event::Count(was, expected) => {
                    let group = groups.last().map_or("", |g| g.as_str());
                    let tests = if was == 1 { "test" } else { "tests" };
                    counts.push(format!("runs {was} {tests} in the group `{group}`, which announces {expected}"));
                }
                Event::Test(name, place, form) => {
                    open.push(self.cases.len());
                    let name = if name.is_empty() { shortened(&form) } else { name };
                    self.cases.push(Case {
                        groups: groups.clone(),
                        name,
                        place,
                        came: Came::Died,
                        time: Duration::ZERO,
                        facts: Vec::new(),
                    });
                }
                Event::Result(kind, time, facts) => {
                    if let Some(case) = open.pop().and_then(|n| self.cases.get_mut(n)) {
                        (case.came, case.time, case.facts) = (Came::Of(kind), time, facts);
                    }
                }
                Event::Stopped(report) => {
                    if let Some(case) = open.last().and_then(|n| self.cases.get_mut(*n)) {
                        case.facts.push(("report".to_string(), report));
                    }
                }
                Event::Listed(name) => self.cases.push(Case {
                    groups: Vec::new(),
                    name,
                    place: None,
                    came: Came::Listed,
                    time: Duration::ZERO,
                    facts: Vec::new(),
                }),
            }
        }
        (groups, counts)
    }

    /// Has anything failed?
    pub(super) fn failed(&self) -> bool {
        !self.problems.is_empty() || self.cases.iter().any(Case::failed)
    }

    /// How many of its tests ended so.
    pub(super) fn count(&self, is_it: impl Fn(&Case) -> bool) -> usize {
        self.cases.iter().filter(|c| is_it(c)).count()
    }
}

/// A text that may be long, on one line.
fn shortened(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    match line.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
