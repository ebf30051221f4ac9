//! The post's tables, and curves that it did not have, made of what was measured.

use super::contenders::{ALL_DIRTY, CHUNKS, CONTENDERS, GHC, OLD, OURS};
use super::measurements::{Measured, Medians, ProgramResults, change};
use super::programs::{PROGRAMS, Program, USUAL_CHUNK};
use super::{findings, published};
use crate::report::{Column, Content, Figure, Item, Number, Panel, Report, Row, Section, Table};
use crate::study::Study;

/// The whole report.
pub fn report(study: &dyn Study, m: &Measured) -> Report {
    let mut old_and_new = vec![Item::Table(changes(m)), Item::Table(collections(m)), Item::Table(binary_trees(m))];
    if !m.by_depth.is_empty() {
        old_and_new.extend([Item::Figure(by_depth(m)), Item::Table(depth_table(m))]);
    }
    let sizes =
        [("time (s)", "size-time", Medians::seconds as Value), ("memory (MB)", "size-memory", Medians::megabytes)];
    let sizes = sizes.map(|(what, id, value)| Item::Figure(by_size(m, what, id, value)));
    let mut beside = vec![
        Item::Text(peers_shown(m)),
        Item::Table(by_contender(m, ("peers-time", "Time (s)", 3), Medians::seconds, ABSENT)),
        Item::Table(by_contender(
            m,
            ("peers-memory", "Most memory of a process (MB)", 1),
            Medians::megabytes,
            FLOOR,
        )),
    ];
    beside.extend(thread_ring(m).map(Item::Table));
    let sections = vec![
        section("What holds today", vec![Item::Findings(findings::findings(m))]),
        section("Programs", vec![Item::Text(programs(m))]),
        section("The old way and chunks", old_and_new),
        section("The size of chunks", sizes.into()),
        section("Beside others", beside),
    ];
    Report {
        name: study.name().into(),
        title: "Stacks: chunks against the old way, and threads beside others".into(),
        paper: study.paper().into(),
        conditions: vec![
            ("old way".into(), "--frames=resize: one stack, doubled when full, scanned whole".into()),
            ("chunks".into(), "--frames=chunks: 32 KB each; minor collections scan what has run since".into()),
            ("all dirty".into(), "the same with CAIRN_CHUNKS=all-dirty: minor collections scan all".into()),
            ("runs of each cell".into(), format!("{}; numbers are medians", m.repetitions)),
            ("peers".into(), peers_shown(m)),
        ],
        sections,
    }
}

type Value = fn(&Medians) -> f64;

/// Below the tables of contenders.
const ABSENT: &str = "Missing: a peer that is not here, for which the program is not written, or that failed.";
/// Where memory is told.
const FLOOR: &str = "The system counts what a process had before it became the program, too: the least numbers are \
                     the study's own.";

fn section(title: &str, items: Vec<Item>) -> Section {
    Section { title: title.into(), items }
}

fn peers_shown(m: &Measured) -> String {
    let list = |names: &[String]| if names.is_empty() { "none".to_string() } else { names.join(", ") };
    if m.absent.is_empty() {
        return format!("Here: {}.", list(&m.peers));
    }
    format!("Here: {}. Not here: {}.", list(&m.peers), list(&m.absent))
}

/// "ring 10000000 (the post's threads003)".
fn label(m: &Measured, p: &Program) -> String {
    let arguments = p.arguments(m.quick).join(" ");
    let post = p.post.map_or(String::new(), |name| format!(" ({name})"));
    format!("{} {}{post}", p.file, arguments)
}

fn programs(m: &Measured) -> String {
    let one = |p: &Program| format!("{}: {}", label(m, p), p.summary);
    let text = PROGRAMS.iter().map(one).collect::<Vec<_>>().join("; ");
    format!(
        "In benchmarks/papers/stacks, in Scheme for this compiler, and in Haskell, Scheme for Gambit, and Go; in \
         brackets what the post calls a program like it. The post's callback001 and callback002, which are called back \
         from C, have no counterpart. {text}."
    )
}

/// A row for each program that was chosen.
fn rows(m: &Measured, values: impl Fn(&ProgramResults) -> Vec<Number>) -> Vec<Row> {
    m.programs.iter().map(|p| Row { label: label(m, p.program), values: values(p) }).collect()
}

fn changes(m: &Measured) -> Table {
    let columns = vec![
        Column::new("old way (s)", 3),
        Column::new("chunks (s)", 3),
        Column::beside("change (%)", 1),
        Column::beside("allocation (%)", 1),
        Column::new("old memory (MB)", 1),
        Column::new("chunks (MB)", 1),
        Column::new("change (%)", 1),
    ];
    let rows = rows(m, |p| {
        let published = published::CHANGES.iter().find(|c| Some(c.name) == p.program.post);
        let post = if p.program.post == Some("BinaryTrees") {
            Some(change(published::BINARY_TREES.0, published::BINARY_TREES.1))
        } else {
            published.map(|c| c.elapsed)
        };
        let (old, new) = (p.by(OLD), p.by(CHUNKS));
        let changed = |value: &dyn Fn(&Medians) -> Option<f64>| Some(change(value(old?)?, value(new?)?));
        vec![
            Number::ours(old.map(Medians::seconds)),
            Number::ours(new.map(Medians::seconds)),
            Number::beside(changed(&|r| Some(r.seconds())), post),
            Number::beside(changed(&|r| r.get("allocated")), published.map(|c| c.allocation)),
            Number::ours(old.map(Medians::megabytes)),
            Number::ours(new.map(Medians::megabytes)),
            Number::ours(changed(&|r| Some(r.megabytes()))),
        ]
    });
    let (least, most, mean) = published::ELAPSED;
    Table {
        id: "changes".into(),
        title: "What chunks change: time, allocation, memory".into(),
        label: "program".into(),
        columns,
        rows,
        note: format!(
            "In brackets the post's changes. Its table of thread benchmarks goes from {least} % to {most} %, with a \
             geometric mean of {mean} %. {FLOOR}"
        ),
    }
}

fn collections(m: &Measured) -> Table {
    let mut columns = Vec::new();
    for c in &CONTENDERS[..OURS] {
        columns.push(Column::new(format!("{}: collector (ms)", c.name), 1));
        columns.push(Column::new("longest pause (ms)", 3));
        columns.push(Column::new("words scanned", 0));
    }
    columns.push(Column::new("minor collections", 0));
    let rows = rows(m, |p| {
        let mut values = Vec::new();
        for c in 0..OURS {
            let r = p.by(c);
            values.push(Number::ours(r.and_then(|r| Some(1e3 * r.collector_seconds()?))));
            values.push(Number::ours(r.and_then(|r| Some(r.get("pause_max_ns")? / 1e6))));
            values.push(Number::ours(r.and_then(Medians::words_scanned)));
        }
        values.push(Number::ours(p.by(CHUNKS).and_then(|r| r.get("minor"))));
        values
    });
    Table {
        id: "collections".into(),
        title: "What collections cost".into(),
        label: "program".into(),
        columns,
        rows,
        note: "Words scanned: words of frames that a minor collection looks at, in the mean; those of a continuation, \
               such as a waiting thread, once when it is promoted. Minor collections: under chunks."
            .into(),
    }
}

fn binary_trees(m: &Measured) -> Table {
    let seconds = |name: &str, c: usize| m.program(name).and_then(|p| p.by(c)).map(Medians::seconds);
    let (before, after) = published::BINARY_TREES;
    let row = |label: &str, name: &str, published: [Option<f64>; 3]| {
        let ours = [seconds(name, OLD), seconds(name, CHUNKS), m.program(name).and_then(|p| p.ratio(OLD, CHUNKS))];
        let values = (0..3).map(|i| Number::beside(ours[i], published[i])).collect();
        Row { label: label.into(), values }
    };
    Table {
        id: "binary-trees".into(),
        title: "Binary trees".into(),
        label: "sizes added up".into(),
        columns: vec![
            Column::beside("old way (s)", 2),
            Column::beside("chunks (s)", 2),
            Column::beside("ratio", 2),
        ],
        rows: vec![
            row("by recursion", "trees", [Some(before), Some(after), Some(before / after)]),
            row("in a loop", "trees-loop", [None; 3]),
        ],
        note: "The post does not say what its program has on the stack; here a frame for each tree made so far."
            .into(),
    }
}

/// Curves of the contenders of this compiler over the depth.
fn depth_series(m: &Measured, value: impl Fn(&Medians) -> Option<f64>) -> Vec<Vec<(f64, f64)>> {
    let point = |c: usize, i: usize| {
        let r = m.by_depth[i][c].as_ref().ok()?;
        Some((f64::from(m.depths[i]), value(r)?))
    };
    (0..OURS).map(|c| (0..m.by_depth.len()).filter_map(|i| point(c, i)).collect()).collect()
}

fn by_depth(m: &Measured) -> Figure {
    let panel = |title: &str, unit: &str, series| Panel {
        title: title.into(),
        content: Content::Curves { axes: ("depth".into(), unit.into()), series },
    };
    let millions = |r: &Medians| r.words_scanned().map(|w| w / 1e6);
    Figure {
        id: "by-depth".into(),
        title: "Minor collections above a deep recursion, by its depth".into(),
        legend: CONTENDERS[..OURS].iter().map(|c| c.name.to_string()).collect(),
        panels: vec![
            panel("time", "s", depth_series(m, |r| Some(r.seconds()))),
            panel("longest pause", "ms", depth_series(m, |r| Some(r.get("pause_max_ns")? / 1e6))),
            panel("words scanned by a minor collection", "millions", depth_series(m, millions)),
        ],
        note: "A missing point: a run that failed.".into(),
    }
}

fn depth_table(m: &Measured) -> Table {
    let mut columns: Vec<Column> =
        CONTENDERS[..OURS].iter().map(|c| Column::new(format!("{} (s)", c.name), 3)).collect();
    columns.push(Column::new("old way/chunks", 2));
    columns.push(Column::new("all dirty/chunks", 2));
    let rows = m.depths.iter().zip(&m.by_depth).map(|(depth, by)| {
        let seconds = |c: usize| by[c].as_ref().ok().map(Medians::seconds);
        let ratio = |c: usize| Some(seconds(c)? / seconds(CHUNKS)?);
        let mut values: Vec<Number> = (0..OURS).map(|c| Number::ours(seconds(c))).collect();
        values.extend([OLD, ALL_DIRTY].map(|c| Number::ours(ratio(c))));
        Row { label: depth.to_string(), values }
    });
    Table {
        id: "by-depth".into(),
        title: "Time by depth of the recursion".into(),
        label: "depth".into(),
        columns,
        rows: rows.collect(),
        note: String::new(),
    }
}

fn by_size(m: &Measured, what: &str, id: &str, value: Value) -> Figure {
    let curve = |p: &ProgramResults| -> Vec<(f64, f64)> {
        let points = m.sizes.iter().zip(&p.by_size);
        points.filter_map(|(size, r)| Some((f64::from(*size) / 1024.0, value(r.as_ref().ok()?)))).collect()
    };
    let varied = m.programs.iter().filter(|p| !p.by_size.is_empty());
    let panels = varied.map(|p| Panel {
        title: label(m, p.program),
        content: Content::Curves { axes: ("KB of a chunk".into(), what.into()), series: vec![curve(p)] },
    });
    Figure {
        id: id.into(),
        title: format!("Size of chunks: {what}"),
        legend: vec!["chunks".into()],
        panels: panels.collect(),
        note: format!("Usual chunks have {} KB.", USUAL_CHUNK >> 10),
    }
}

/// A column for each contender that is not only there to show what marks do.
fn by_contender(m: &Measured, (id, title, decimals): (&str, &str, usize), value: Value, note: &str) -> Table {
    let shown: Vec<usize> = (0..CONTENDERS.len()).filter(|c| *c != ALL_DIRTY).collect();
    let mut columns: Vec<Column> = shown.iter().map(|c| Column::new(CONTENDERS[*c].name, decimals)).collect();
    columns.push(Column::new("chunks/GHC", 2));
    let rows = rows(m, |p| {
        let get = |c: usize| p.by(c).map(value);
        let mut values: Vec<Number> = shown.iter().map(|c| Number::ours(get(*c))).collect();
        values.push(Number::ours(get(CHUNKS).zip(get(GHC)).map(|(ours, theirs)| ours / theirs)));
        values
    });
    Table { id: id.into(), title: title.into(), label: "program".into(), columns, rows, note: note.into() }
}

/// The post's update on `threadring`: our numbers, and those of GHC then, when it did so many hops.
fn thread_ring(m: &Measured) -> Option<Table> {
    let p = m.program("ring")?;
    let hops: f64 = p.program.arguments(m.quick)[0].parse().expect("a number");
    let nanoseconds = |s: f64| 1e9 * s / hops;
    let ours = CONTENDERS.iter().enumerate().filter(|(c, _)| *c != ALL_DIRTY).map(|(c, contender)| Row {
        label: contender.name.into(),
        values: vec![Number::ours(p.by(c).map(|r| nanoseconds(r.seconds())))],
    });
    let then = published::THREAD_RING.iter().flat_map(|(version, single, threaded)| {
        [(version.to_string(), single), (format!("{version}, -threaded"), threaded)].map(|(label, s)| Row {
            label: format!("{label}, 2010"),
            values: vec![Number::beside(None, Some(s * 100.0))],
        })
    });
    Some(Table {
        id: "threadring".into(),
        title: "Thread ring: nanoseconds a hop".into(),
        label: "by".into(),
        columns: vec![Column::beside("ns", 0)],
        rows: ours.chain(then).collect(),
        note: "The post gives seconds for ten million hops.".into(),
    })
}
