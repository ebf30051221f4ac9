//! `--timeline`: which thread ran when, and when memory was collected, for Perfetto and other readers of Chrome's trace
//! format (*Trace Event Format*, Google).
//!
//! ```text
//!  place 0  collections ·······▮·················▮······
//!           main        ▬▬▬▬▬▬▬▬▬      ▬▬▬▬▬▬▬▬▬▬▬
//!           worker               ▬▬▬▬▬▬           ▬▬▬▬▬▬
//!           heap        ▁▂▃▄▅▆▇▂▃▄▅▆▇▂
//! ```
//!
//! The scheduler says whose turn begins, and that nobody's does (`lib/cairn/scheduler.sld`); the heap tells of its
//! collections. Threads with one name are one row. Each place is a process of the trace.
//!
//! Cost: without a time line, one test for each turn. With one, a microsecond for each, and 24 bytes.

use crate::json::quoted;
use cairn_heap::{CollectionEvent, CollectionKind, Observer};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

/// No more turns and collections are kept: of the first ones one learns most.
const MOST: usize = 2_000_000;

/// A time line of all places.
#[derive(Debug)]
pub struct Timeline {
    file: PathBuf,
    /// When the program did.
    began: OnceLock<Instant>,
    places: AtomicU32,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    turns: Vec<Turn>,
    collections: Vec<Collection>,
    left_out: u64,
}

/// Nanoseconds since the time line began.
type Nanos = u64;

#[derive(Debug)]
struct Turn {
    place: u32,
    /// Whose: a number of [`Kept::names`].
    name: u32,
    from: Nanos,
    to: Nanos,
}

#[derive(Debug)]
struct Collection {
    place: u32,
    from: Nanos,
    to: Nanos,
    what: String,
    before: u64,
    after: u64,
}

impl Kept {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(n) = self.numbers.get(name) {
            return *n;
        }
        let n = self.names.len() as u32;
        self.names.push(name.to_string());
        self.numbers.insert(name.to_string(), n);
        n
    }

    /// May one more be kept?
    fn admits(&mut self) -> bool {
        let full = self.turns.len() + self.collections.len() >= MOST;
        self.left_out += u64::from(full);
        !full
    }
}

impl Timeline {
    /// A time line that begins with the program, to be written to this file.
    pub fn new(file: PathBuf) -> Arc<Timeline> {
        let (began, places, kept) = (OnceLock::new(), AtomicU32::new(0), Mutex::default());
        Arc::new(Timeline { file, began, places, kept })
    }

    fn now(&self) -> Nanos {
        self.began.get_or_init(Instant::now).elapsed().as_nanos() as Nanos
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The part of a place that begins now, in which the main thread runs.
    pub(crate) fn track(self: &Arc<Timeline>) -> Track {
        let place = self.places.fetch_add(1, Relaxed);
        let main = self.kept().number("main");
        Track { all: self.clone(), place, turn: Some((main, self.now())) }
    }

    fn json(&self) -> String {
        let kept = self.kept();
        let micros = |n: Nanos| n as f64 / 1000.0;
        let mut events = Vec::new();
        for place in 0..self.places.load(Relaxed) {
            let process = if place == 0 { "program".to_string() } else { format!("place {place}") };
            events.push(format!(
                "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{place},\"args\":{{\"name\":{}}}}}",
                quoted(&process)
            ));
            let rows = std::iter::once(("collections", 0));
            let mut run: Vec<u32> = kept.turns.iter().filter(|t| t.place == place).map(|t| t.name).collect();
            run.sort_unstable();
            run.dedup();
            for (name, row) in rows.chain(run.iter().map(|n| (kept.names[*n as usize].as_str(), n + 1))) {
                events.push(format!(
                    "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{place},\"tid\":{row},\"args\":{{\"name\":{}}}}}",
                    quoted(name)
                ));
            }
        }
        for t in &kept.turns {
            events.push(format!(
                "{{\"ph\":\"X\",\"cat\":\"thread\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3},\"dur\":{:.3}}}",
                quoted(&kept.names[t.name as usize]),
                t.place,
                t.name + 1,
                micros(t.from),
                micros(t.to - t.from)
            ));
        }
        for c in &kept.collections {
            let (from, to) = (micros(c.from), micros(c.to));
            events.push(format!(
                "{{\"ph\":\"X\",\"cat\":\"gc\",\"name\":{},\"pid\":{},\"tid\":0,\"ts\":{from:.3},\"dur\":{:.3},\
                 \"args\":{{\"before\":{},\"after\":{}}}}}",
                quoted(&c.what),
                c.place,
                to - from,
                c.before,
                c.after
            ));
            for (at, bytes) in [(from, c.before), (to, c.after)] {
                events.push(format!(
                    "{{\"ph\":\"C\",\"name\":\"heap\",\"pid\":{},\"ts\":{at:.3},\"args\":{{\"bytes\":{bytes}}}}}",
                    c.place
                ));
            }
        }
        let mut out = format!("{{\"traceEvents\":[\n{}\n],\n\"displayTimeUnit\":\"ms\"", events.join(",\n"));
        if kept.left_out > 0 {
            let _ = write!(out, ",\n\"metadata\":{{\"left-out\":{}}}", kept.left_out);
        }
        out.push_str("}\n");
        out
    }
}

/// A place's part of a time line.
#[derive(Debug)]
pub(crate) struct Track {
    all: Arc<Timeline>,
    place: u32,
    /// Whose turn it is, and since when.
    turn: Option<(u32, Nanos)>,
}

impl Track {
    /// The turn that has been is over; now it is that of the thread with this name, or nobody's.
    pub(crate) fn turn(&mut self, name: Option<&str>) {
        let now = self.all.now();
        let mut kept = self.all.kept();
        if let Some((name, from)) = self.turn.take()
            && kept.admits()
        {
            kept.turns.push(Turn { place: self.place, name, from, to: now });
        }
        self.turn = name.map(|n| (kept.number(n), now));
    }

    /// Who watches the place's heap.
    pub(crate) fn observer(&self) -> impl Observer + use<> {
        Collections { all: self.all.clone(), place: self.place }
    }

    /// The place has ended: what the program's own writes to which file.
    pub(crate) fn end(mut self) -> Option<(PathBuf, String)> {
        self.turn(None);
        (self.place == 0).then(|| (self.all.file.clone(), self.all.json()))
    }
}

struct Collections {
    all: Arc<Timeline>,
    place: u32,
}

impl Observer for Collections {
    fn collection(&mut self, event: &CollectionEvent) {
        let to = self.all.now();
        let mut kept = self.all.kept();
        if kept.admits() {
            let kind = if event.kind == CollectionKind::Minor { "minor" } else { "major" };
            kept.collections.push(Collection {
                place: self.place,
                from: to.saturating_sub(event.pause.as_nanos() as Nanos),
                to,
                what: format!("{kind}: {}", event.reason),
                before: event.before + event.nursery,
                after: event.after,
            });
        }
    }
}
