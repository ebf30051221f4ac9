//! Caches: the paper's Figure 7, its cost of misses per frame (section 6), and the towers of Hanoi (Figures 8 and 9).

use super::appel_shao;
use super::cache_simulator::{Geometry, OnWriteMiss};
use super::hanoi::{self, Place};
use super::memory_trace::{INSTRUCTIONS, KILOBYTES, PENALTY, WAYS, name};
use super::runs::{Measured, ProgramResults, Traces};
use crate::report::{Column, Content, Figure, Item, Number, Panel, Row, Table};

/// KiB of the cache of which the paper gives numbers; and of one in which all fits.
const SMALL: u64 = 16;
const LARGE: u64 = 2048;

/// All exhibits, for programs that were traced.
pub fn exhibits(m: &Measured) -> Vec<Item> {
    let mut items = Vec::new();
    if m.programs.iter().any(|p| p.traces.is_some()) {
        for on_write_miss in super::memory_trace::POLICIES {
            items.extend(WAYS.map(|ways| Item::Figure(by_size(m, ways, on_write_miss))));
        }
        items.push(Item::Table(cost(m)));
    }
    items.push(Item::Table(towers()));
    items
}

fn misses(traces: &Traces, strategy: usize, reads: bool, geometry: Geometry) -> Option<f64> {
    traces.misses[strategy].as_ref().ok()?.get(&name(reads, geometry)).copied()
}

fn policy(on_write_miss: OnWriteMiss) -> &'static str {
    if on_write_miss == OnWriteMiss::Allocate { "write-allocate" } else { "write-around" }
}

fn kind(ways: usize) -> String {
    if ways == 1 { "direct-mapped".into() } else { format!("{ways} lines a set") }
}

/// Figure 7, a panel for each program.
fn by_size(m: &Measured, ways: usize, on_write_miss: OnWriteMiss) -> Figure {
    let line = |traces: &Traces, s: usize| -> Vec<(f64, f64)> {
        let point = |k: &u64| {
            let misses = misses(traces, s, true, Geometry { bytes: k << 10, ways, on_write_miss })?;
            let instructions = traces.misses[s].as_ref().ok()?.get(INSTRUCTIONS)?;
            Some((*k as f64, (instructions + PENALTY * misses) / 1e6))
        };
        KILOBYTES.iter().filter_map(point).collect()
    };
    let panel = |p: &ProgramResults| {
        let traces = p.traces.as_ref()?;
        let series = (0..m.strategies.len()).map(|s| line(traces, s)).collect();
        let axes = ("KiB".to_string(), "million cycles".to_string());
        Some(Panel { title: p.program.title.into(), content: Content::Curves { axes, series } })
    };
    Figure {
        id: format!("figure-7-{}-{ways}", policy(on_write_miss)),
        title: format!("Figure 7: cycles by size of a {} cache, {}", policy(on_write_miss), kind(ways)),
        legend: m.strategies.iter().map(|s| s.name.to_string()).collect(),
        panels: m.programs.iter().filter_map(panel).collect(),
        note: "Read misses wait ten cycles, write misses none; lines of 32 bytes. Starting the program is in it."
            .into(),
    }
}

/// Cycles of read misses per frame that a strategy has more than the stack, as the paper computes them: what a small
/// cache misses and a large one does not. Mean of the traced programs.
pub fn read_misses(m: &Measured, strategy: usize, ways: usize, on_write_miss: OnWriteMiss) -> Option<f64> {
    let of = |traces: &Traces, s: usize| {
        let at = |k: u64| misses(traces, s, true, Geometry { bytes: k << 10, ways, on_write_miss });
        Some(at(SMALL)? - at(LARGE)?)
    };
    m.mean(|p| {
        let traces = p.traces.as_ref()?;
        Some((of(traces, strategy)? - of(traces, m.strategy("stack")?)?) * PENALTY / traces.frames?)
    })
}

/// Cycles of write misses per frame that a strategy has more than the stack, if each waits as long as a read.
pub fn write_misses(m: &Measured, strategy: usize, ways: usize) -> Option<f64> {
    let geometry = Geometry { bytes: SMALL << 10, ways, on_write_miss: OnWriteMiss::Allocate };
    m.mean(|p| {
        let traces = p.traces.as_ref()?;
        let of = |s: usize| misses(traces, s, false, geometry);
        Some((of(strategy)? - of(m.strategy("stack")?)?) * PENALTY / traces.frames?)
    })
}

fn cost(m: &Measured) -> Table {
    let columns = WAYS.iter().flat_map(|&ways| {
        [
            Column::beside(format!("reads, write-allocate, {}", kind(ways)), 2),
            Column::beside(format!("reads, write-around, {}", kind(ways)), 2),
            Column::beside(format!("writes, {}", kind(ways)), 2),
        ]
    });
    let row = |s: usize| {
        let is_heap = m.strategies[s].name == "heap";
        let values = WAYS.iter().flat_map(|&ways| {
            let paper = |v: f64| (is_heap && ways == 1).then_some(v);
            let (allocate, around) = appel_shao::READ_MISSES;
            [
                Number::beside(read_misses(m, s, ways, OnWriteMiss::Allocate), paper(allocate)),
                Number::beside(read_misses(m, s, ways, OnWriteMiss::Around), paper(around)),
                Number::beside(write_misses(m, s, ways), paper(appel_shao::WRITE_MISSES)),
            ]
        });
        Row { label: m.strategies[s].name.into(), values: values.collect() }
    };
    Table {
        id: "cache-misses".into(),
        title: format!("Cycles of cache misses per frame, more than the stack's, in {SMALL} KiB"),
        label: "strategy".into(),
        columns: columns.collect(),
        rows: (0..m.strategies.len()).map(row).collect(),
        note: format!(
            "A miss is {PENALTY} cycles. Reads: what {SMALL} KiB miss and {} KiB do not (section 6.2). Writes: if the \
             processor waits for them (section 6.1). Means of the traced programs.",
            LARGE
        ),
    }
}

/// Caches of so many frames, and towers of so many discs.
const TOWERS: [(u32, u32); 5] = [(16, 7), (16, 14), (64, 16), (256, 18), (512, 18)];

/// By how much the model is off where it matters: misses in the heap by the model, and simulated, of the largest tower.
pub fn largest_tower() -> (u32, f64, f64) {
    let (frames, d) = TOWERS[TOWERS.len() - 1];
    let per_call = |misses: f64| hanoi::calls(d) / misses;
    let simulated = hanoi::simulated(Place::Heap, d, frames, false);
    (frames, per_call(hanoi::model(Place::Heap, d, frames)), per_call(simulated))
}

fn towers() -> Table {
    let row = |&(frames, d): &(u32, u32)| {
        let model = |place| Number::ours(Some(hanoi::model(place, d, frames)));
        let simulated = |place, printing| Number::ours(Some(hanoi::simulated(place, d, frames, printing)));
        Row {
            label: format!("T({d}), {frames} frames"),
            values: vec![
                Number::ours(Some(hanoi::calls(d))),
                model(Place::Heap),
                simulated(Place::Heap, false),
                simulated(Place::Heap, true),
                model(Place::Stack),
                simulated(Place::Stack, false),
            ],
        }
    };
    let columns = [
        "calls",
        "heap, model",
        "heap, simulated",
        "heap, simulated, printing moves (Figure 9)",
        "stack, model",
        "stack, simulated",
    ];
    Table {
        id: "figures-8-9".into(),
        title: "Figures 8 and 9: read misses of the towers of Hanoi".into(),
        label: "tower and cache".into(),
        columns: columns.iter().map(|c| Column::new(*c, 0)).collect(),
        rows: TOWERS.iter().map(row).collect(),
        note: "The model: one miss every C calls in the heap, C the frames that the cache holds. A miss brings a frame back \
               over another, so that more are missed than the model says."
            .into(),
    }
}
