//! `--heap-profile`: what the heap held at its peak and at the end, by type and by the line that made it.
//!
//! What lives is counted by a census (`cairn_heap`, `census.rs`), so numbers by type are exact. Which lines made it is
//! estimated from samples of allocation (`sampling.rs`). The word that samples are given, `Machine::allocation_site`,
//! is a position, if the program was compiled to note such; else, and where the position is in the library, the line is
//! that of the youngest call under way in the user's code.
//!
//! ```text
//!  allocation_site    position (fixnum)       written by compiled code
//!                     place << 3 | 1          written here, at the slow path of a heap check: a row of `places`
//! ```
//!
//! The peak is looked for after collections, whenever the heap holds a fifth more than when it was looked at last, or a
//! little more for longer: so the size of a peak is known to a fifth at least, that of a plateau well, and all
//! censuses together cost a few times the last one, or as much as collections do. Programs that are not
//! profiled pay one test on the slow path of heap checks.

use crate::allocation_profile::{self, AllocationProfile};
use crate::evaluated_marks as evaluated;
use crate::json::quoted;
use crate::machine::collect::{self, NO_SITE};
use crate::machine::frame_reader::described_name;
use crate::report;
use crate::runtime::{Profiler, rt};
use cairn_heap::{Bytes, Sample, Scheme};
use cairn_layout::Value;
use cairn_layout::code::{ENTRY_NAME, SHAPE, Site, flags};
use cairn_layout::element;
use cairn_layout::machine::Machine;
use cairn_layout::object::record::is_type_word;
use cairn_layout::object::{Type, header_type_code};
use std::collections::HashMap;
use std::fmt::Write;

/// A line of the program, and the procedure it belongs to.
type Place = (String, String);
/// Objects and bytes.
type Count = (u64, u64);

/// What has been found out so far.
pub struct HeapProfile {
    places: Vec<Place>,
    rows: HashMap<Place, u64>,
    /// Positions seen so far, and their places.
    sites: HashMap<u64, Option<u64>>,
    /// Compiled code has said where it is.
    positions: bool,
    peak: Snapshot,
    /// What the heap held when it was looked at last, and what had been allocated.
    looked_at: (u64, u64),
}

/// The heap at some moment.
#[derive(Default, Clone)]
struct Snapshot {
    live: Count,
    allocated: u64,
    types: Vec<(String, Count)>,
    /// By place (`None`: unknown) and type; how many samples.
    lines: Vec<(Option<u64>, String, Count, u64)>,
}

/// What objects are told apart by.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Class {
    Pair,
    /// Code address.
    Procedure(u64),
    /// Type word.
    Record(u64),
    /// Type code.
    Other(u8),
}

/// Bytes between samples.
const INTERVAL: u64 = 4 << 10;

/// Starts a profile, if one is wanted.
pub fn start(ctx: &mut Machine) {
    ctx.allocation_site = NO_SITE;
    if let Some(file) = rt(ctx).options.heap_profile.clone() {
        let stacks = AllocationProfile::wanted(&file);
        let interval = if stacks.is_some() { allocation_profile::INTERVAL } else { INTERVAL };
        let site = &raw const ctx.allocation_site;
        // SAFETY: `site` is a word of the machine, which lives as long as its runtime, and so as its heap.
        unsafe { rt(ctx).heap.sample_allocation(&mut ctx.cursors, site, interval) };
        if let Some(stacks) = stacks {
            rt(ctx).heap_profile = Some(Box::new(stacks));
            return;
        }
        rt(ctx).heap_profile = Some(Box::new(HeapProfile {
            places: Vec::new(),
            rows: HashMap::new(),
            sites: HashMap::new(),
            positions: false,
            peak: Snapshot::default(),
            looked_at: (0, 0),
        }));
    }
}

impl Profiler for HeapProfile {
    fn note(&mut self, ctx: &mut Machine) {
        let place = self.place(ctx, ctx.allocation_site).or_else(|| {
            let youngest = report::youngest_user_place(ctx)?;
            Some(self.row(youngest))
        });
        ctx.allocation_site = place.map_or(NO_SITE, |row| row << 3 | 1);
    }

    /// Is this the peak so far?
    fn collected(&mut self, ctx: &mut Machine) {
        let held = rt(ctx).heap.bytes_in_use();
        let allocated = rt(ctx).heap.stats().allocated;
        let (least, since) = (self.looked_at.0, allocated - self.looked_at.1);
        if held >= least + least / 5 || held > least + least / 64 && since >= 4 * held {
            self.looked_at = (held, allocated);
            let now = self.snapshot(ctx, true);
            self.keep(now);
        }
    }

    fn report(&mut self, ctx: &mut Machine, frames: bool) -> Result<Vec<u8>, String> {
        let end = self.snapshot(ctx, frames);
        self.keep(end.clone());
        let file = rt(ctx).options.heap_profile.as_ref();
        let json = file.is_some_and(|f| f.extension().is_some_and(|e| e == "json"));
        Ok(if json { self.json(ctx, &end) } else { self.text(ctx, &end) }.into_bytes())
    }
}

impl HeapProfile {
    fn row(&mut self, place: Place) -> u64 {
        let next = self.places.len() as u64;
        let row = *self.rows.entry(place.clone()).or_insert(next);
        if row == next {
            self.places.push(place);
        }
        row
    }

    /// The row for what `Machine::allocation_site` said.
    fn place(&mut self, ctx: &Machine, tag: u64) -> Option<u64> {
        if tag & 1 != 0 {
            return Some(tag >> 3);
        }
        if tag == NO_SITE {
            return None;
        }
        if let Some(known) = self.sites.get(&tag) {
            return *known;
        }
        let place = report::user_place(ctx, Site(Value(tag).as_fixnum() as u64));
        self.positions |= place.is_some();
        let row = place.map(|p| self.row(p));
        self.sites.insert(tag, row);
        row
    }

    fn keep(&mut self, now: Snapshot) {
        if now.live.1 > self.peak.live.1 {
            self.peak = now;
        }
    }

    /// Counts what lives.
    fn snapshot(&mut self, ctx: &mut Machine, frames: bool) -> Snapshot {
        let mut classes: HashMap<Class, Count> = HashMap::new();
        // SAFETY: this is a safepoint or the end of the program, so what has been allocated is initialised.
        let samples: Vec<Sample> = unsafe { rt(ctx).heap.samples(ctx.cursors) }.to_vec();
        let census = collect::census(ctx, frames, |word, bytes| {
            let n = classes.entry(class(word)).or_default();
            (n.0, n.1) = (n.0 + 1, n.1 + bytes);
        });
        let Ok(census) = census else { return Snapshot::default() };
        let mut names: HashMap<Class, String> = HashMap::new();
        let mut types: HashMap<String, Count> = HashMap::new();
        for (class, n) in &classes {
            let name = names.entry(*class).or_insert_with(|| name_of(*class));
            add(types.entry(name.clone()).or_default(), *n);
        }
        let mut lines: HashMap<(Option<u64>, Class), (f64, u64, u64)> = HashMap::new();
        for s in samples.iter().filter(|s| census.has_met::<Scheme>(s.word)) {
            let row = self.place(ctx, s.tag);
            let n = lines.entry((row, class(s.word))).or_default();
            *n = (n.0 + s.weight as f64 / s.bytes as f64, n.1 + s.weight, n.2 + 1);
        }
        let mut by_name: HashMap<(Option<u64>, String), (Count, u64)> = HashMap::new();
        for ((row, class), (objects, bytes, count)) in lines {
            let name = names.entry(class).or_insert_with(|| name_of(class)).clone();
            let n = by_name.entry((row, name)).or_default();
            add(&mut n.0, (objects.round() as u64, bytes));
            n.1 += count;
        }
        let mut types: Vec<_> = types.into_iter().collect();
        types.sort_by(|(a, m), (b, n)| n.1.cmp(&m.1).then(a.cmp(b)));
        let mut lines: Vec<_> =
            by_name.into_iter().map(|((row, name), (n, count))| (row, name, n, count)).collect();
        lines.sort_by(|a, b| b.2.1.cmp(&a.2.1).then((a.0, &a.1).cmp(&(b.0, &b.1))));
        let mut live = (0, 0);
        types.iter().for_each(|(_, n)| add(&mut live, *n));
        Snapshot { live, allocated: rt(ctx).heap.stats().allocated, types, lines }
    }

    fn shown(&self, row: Option<u64>) -> (&str, &str) {
        row.map_or(("?", "?"), |r| {
            let (line, procedure) = &self.places[r as usize];
            (line, procedure)
        })
    }

    /// What the reader has to know about the lines.
    fn remark(&self, ctx: &Machine) -> &'static str {
        if !rt(ctx).heap.is_sampling() {
            "Which lines made the objects is known with the collector gen only."
        } else if !self.positions {
            "The program was not compiled with --sites: lines are those of the calls under way."
        } else {
            "Numbers of objects and bytes by type are exact, by line they are estimated from samples."
        }
    }

    fn text(&self, ctx: &Machine, end: &Snapshot) -> String {
        let name = rt(ctx).options.command_line.first().map_or("", String::as_str);
        let mut out = format!("Heap profile of {name}\n{}\n", self.remark(ctx));
        for (when, s) in [("the peak", &self.peak), ("the end", end)] {
            let share = |bytes: u64| 100.0 * bytes as f64 / s.live.1.max(1) as f64;
            let _ = writeln!(
                out,
                "\nAt {when}: {} objects, {}, when {} had been allocated",
                s.live.0,
                Bytes(s.live.1),
                Bytes(s.allocated)
            );
            let _ = writeln!(out, "\n{:>12} {:>9} {:>6}  type", "objects", "bytes", "%");
            for (name, (objects, bytes)) in &s.types {
                let size = Bytes(*bytes).to_string();
                let _ = writeln!(out, "{objects:>12} {size:>9} {:>6.1}  {name}", share(*bytes));
            }
            if s.lines.is_empty() {
                continue;
            }
            let _ = writeln!(out, "\n{:>12} {:>9} {:>6}  type, made at", "about", "bytes", "%");
            for (row, name, (objects, bytes), _) in &s.lines {
                let size = Bytes(*bytes).to_string();
                let (line, procedure) = self.shown(*row);
                let _ =
                    writeln!(out, "{objects:>12} {size:>9} {:>6.1}  {name}  {line} ({procedure})", share(*bytes));
            }
        }
        out
    }

    fn json(&self, ctx: &Machine, end: &Snapshot) -> String {
        let moment = |s: &Snapshot| {
            let types: Vec<String> = (s.types.iter())
                .map(|(name, n)| {
                    format!("{{\"type\": {}, \"objects\": {}, \"bytes\": {}}}", quoted(name), n.0, n.1)
                })
                .collect();
            let lines: Vec<String> = (s.lines.iter())
                .map(|(row, name, n, samples)| {
                    let (line, procedure) = self.shown(*row);
                    format!(
                        "{{\"line\": {}, \"procedure\": {}, \"type\": {}, \"objects\": {}, \"bytes\": {}, \
                         \"samples\": {samples}}}",
                        quoted(line),
                        quoted(procedure),
                        quoted(name),
                        n.0,
                        n.1
                    )
                })
                .collect();
            format!(
                "{{\n  \"allocated\": {},\n  \"objects\": {},\n  \"bytes\": {},\n  \"types\": [\n    {}\n  ],\n  \
                 \"lines\": [\n    {}\n  ]\n}}",
                s.allocated,
                s.live.0,
                s.live.1,
                types.join(",\n    "),
                lines.join(",\n    ")
            )
        };
        let remark = quoted(self.remark(ctx));
        format!("{{\n\"remark\": {remark},\n\"peak\": {},\n\"end\": {}\n}}\n", moment(&self.peak), moment(end))
    }
}

fn add(n: &mut Count, more: Count) {
    *n = (n.0 + more.0, n.1 + more.1);
}

fn class(word: u64) -> Class {
    let v = Value(word);
    if v.is_pair() {
        return Class::Pair;
    }
    // SAFETY: the census met it, or the heap made it: a headed object or a procedure.
    let first = unsafe { *(v.address() as *const u64) };
    if v.is_procedure() {
        Class::Procedure(first)
    } else if is_type_word(first) {
        Class::Record(first)
    } else {
        Class::Other(header_type_code(first))
    }
}

/// What people call it.
fn name_of(class: Class) -> String {
    let code = match class {
        Class::Pair => return "pair".into(),
        Class::Procedure(code) => return procedure_name(code),
        Class::Record(element::OBJECT) => return "element reference".into(),
        Class::Record(rtd) => {
            return crate::record_types::type_name(Value(rtd)).map_or("record".into(), |n| format!("record {n}"));
        }
        Class::Other(code) => code,
    };
    let names = [
        (Type::Vector, "vector"),
        (Type::Record, "record"),
        (Type::Symbol, "symbol"),
        (Type::Box, "variable"),
        (Type::Ratnum, "ratio"),
        (Type::Compnum, "complex number"),
        (Type::Port, "port"),
        (Type::Promise, "promise"),
        (Type::Opaque, "internal"),
        (Type::String, "string"),
        (Type::Bytevector, "bytevector"),
        (Type::NumericVector, "numeric vector"),
        (Type::Bignum, "bignum"),
        (Type::Flonum, "flonum"),
        (Type::Weak, "weak reference"),
    ];
    names.into_iter().find(|(t, _)| *t as u8 == code).map_or("?".into(), |(_, name)| name.into())
}

fn procedure_name(code: u64) -> String {
    // SAFETY: `code` is the first word of a procedure, so a descriptor stands before it, and callers pass offsets in
    // it.
    let at = |offset: i64| unsafe { *((code as i64 + offset) as *const u64) };
    let shape = at(SHAPE);
    if shape & flags::CONTINUATION != 0 {
        return "continuation".into();
    }
    if shape & flags::RETURN != 0 {
        return "frame".into();
    }
    // SAFETY: the shape is neither that of a continuation nor of a return point, so `code` is an entry, and entries
    // have a name.
    match unsafe { described_name(code, ENTRY_NAME) } {
        Some(name) if !name.is_empty() && !evaluated::is_shared_name(&name) => format!("procedure {name}"),
        _ => "procedure".into(),
    }
}
