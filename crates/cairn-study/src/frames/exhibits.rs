//! The paper's tables and figures, made of what was measured.

use super::appel_shao;
use super::cache_simulator::OnWriteMiss;
use super::native_frames::NativeCost;
use super::programs::{Kind, PROGRAMS};
use super::runs::{Cost, Measured, ProgramResults, default_to_best, growth, words};
use super::{findings, locality, native_frames};
use crate::compiled_code;
use crate::measure::INSTRUCTIONS;
use crate::report::{Column, Content, Figure, Item, Number, Panel, Report, Row, Section, Table};
use crate::study::Study;
use cairn_layout::facts::NATIVE;

/// The whole report.
pub fn report(study: &dyn Study, m: &Measured) -> Report {
    let mut sections = vec![
        section("What holds today", vec![Item::Findings(findings::findings(m))]),
        section("Programs", programs()),
        section(
            "What a frame costs",
            vec![Item::Table(breakdown(m)), Item::Table(by_program(m)), Item::Table(frames(m))],
        ),
        section("Limit checks", vec![Item::Table(limit_checks(m))]),
        section("Allocation and collection", vec![Item::Table(allocation(m)), Item::Table(collection(m))]),
        section("Locality", locality::exhibits(m)),
        section("Time", times(m)),
    ];
    if !m.captures.is_empty() {
        sections.push(section("Continuations", vec![Item::Table(captures(m)), Item::Figure(captures_figure(m))]));
    }
    Report {
        name: study.name().into(),
        title: "Frames: what each way of keeping them costs".into(),
        paper: study.paper().into(),
        conditions: vec![
            ("strategies".into(), legend(m).join(", ")),
            (
                "native frames".into(),
                format!(
                    "with --gc={0}, as the default collector cannot serve them; compared with the stack under {0}",
                    native_frames::collector().name
                ),
            ),
            ("runs of each timed cell".into(), format!("{}, the fastest counts", m.repetitions)),
            ("other systems".into(), peers(m)),
        ],
        sections,
    }
}

fn peers(m: &Measured) -> String {
    let shown: Vec<String> = m.peers.iter().map(|(p, version)| format!("{} {version}", p.name())).collect();
    let missing: Vec<&str> = super::peers::Peer::ALL
        .iter()
        .filter(|p| m.peers.iter().all(|(q, _)| q != *p))
        .map(|p| p.name())
        .collect();
    let absent =
        if missing.is_empty() { String::new() } else { format!("; not installed: {}", missing.join(", ")) };
    format!("{}{absent}", if shown.is_empty() { "none".into() } else { shown.join(", ") })
}

fn section(title: &str, items: Vec<Item>) -> Section {
    Section { title: title.into(), items }
}

/// The strategies and native frames.
fn all_names(m: &Measured) -> impl Iterator<Item = &'static str> {
    m.strategies.iter().map(|s| s.name).chain([NATIVE.name])
}

fn legend(m: &Measured) -> Vec<String> {
    all_names(m).map(str::to_string).collect()
}

/// A row for each program, and one for the mean of the ordinary ones.
fn rows(m: &Measured, columns: usize, values: impl Fn(&ProgramResults, usize) -> Number) -> Vec<Row> {
    let row = |p: &ProgramResults| Row {
        label: p.program.title.into(),
        values: (0..columns).map(|c| values(p, c)).collect(),
    };
    let mean =
        |c: usize| Number { ours: m.mean(|p| values(p, c).ours), published: m.mean(|p| values(p, c).published) };
    let mean = Row { label: "mean".into(), values: (0..columns).map(mean).collect() };
    m.programs.iter().map(row).chain([mean]).collect()
}

fn programs() -> Vec<Item> {
    let of_paper: Vec<&str> = PROGRAMS.iter().filter(|p| p.row.is_some()).map(|p| p.title).collect();
    let small: Vec<&str> = PROGRAMS.iter().filter(|p| p.row.is_none()).map(|p| p.title).collect();
    let named = |kind: Kind| {
        let of_kind = PROGRAMS.iter().filter(|p| p.kind == kind);
        of_kind.map(|p| p.title).collect::<Vec<_>>().join(", ")
    };
    vec![Item::Text(format!(
        "The paper's seven programs, written anew in Scheme (benchmarks/papers): {}. Small ones that do little but \
         call (benchmarks/papers/calls), of the kinds in Farvardin and Reppy 2020: {}. A frame is a call that is not a \
         tail call; what the optimizer unrolled or inlined makes none. Means leave out what is not ordinary: programs \
         that capture continuations again and again ({}), for which a stack copies its frames, and such as make a \
         hundred thousand frames before they leave one ({}).",
        of_paper.join(", "),
        small.join(", "),
        named(Kind::Captures),
        named(Kind::Deep)
    ))]
}

/// Parts of [`Cost`], in its order.
const PARTS: [&str; 6] =
    ["room and stops", "creation", "links", "pop", "other compiled code", "runtime (collection, overflow)"];

/// Figure 1, for instructions: means over all programs.
fn breakdown(m: &Measured) -> Table {
    let mean = |s: usize, part: &dyn Fn(&Cost) -> f64| m.mean(|p| m.cost(p, s).map(|c| part(&c)));
    let row =
        |label: &str, part: &dyn Fn(&Cost) -> f64, paper: &dyn Fn(&appel_shao::Breakdown) -> Option<f64>| Row {
            label: label.into(),
            values: (m.strategies.iter().enumerate())
                .map(|(s, facts)| Number::beside(mean(s, part), appel_shao::breakdown(facts.name).and_then(paper)))
                .collect(),
        };
    let native = |part: &dyn Fn(&NativeCost) -> f64| Number::ours(m.mean(|p| m.native_cost(p).map(|c| part(&c))));
    let mut rows: Vec<Row> = vec![
        row(PARTS[0], &|c| c.room, &|_| None),
        row(PARTS[1], &|c| c.creation, &|b| Some(b.creation)),
        row(PARTS[2], &|c| c.links, &|b| Some(b.pointers)),
        row(PARTS[3], &|c| c.pop, &|b| Some(b.disposal)),
        row(PARTS[4], &|c| c.rest, &|b| Some(b.sharing)),
        row(PARTS[5], &|c| c.runtime, &|_| None),
    ];
    let beside = |label: &str, ours: &dyn Fn(usize) -> Option<f64>, paper: fn(&appel_shao::Breakdown) -> f64| {
        let all = m.strategies.iter().enumerate();
        let values = all.map(|(s, f)| Number::beside(ours(s), appel_shao::breakdown(f.name).map(paper)));
        Row { label: label.into(), values: values.collect() }
    };
    let reads = |s: usize| locality::read_misses(m, s, 1, OnWriteMiss::Allocate);
    rows.push(row("total of instructions", &Cost::total, &|b| Some(b.total - b.read_misses)));
    rows.push(beside("cache read misses (cycles)", &reads, |b| b.read_misses));
    rows.push(beside("cache write misses, if waited for", &|s| locality::write_misses(m, s, 1), |b| {
        b.write_misses
    }));
    for (i, row) in rows.iter_mut().enumerate() {
        row.values.push(match i {
            4 => native(&|c| c.code),
            5 => native(&|c| c.runtime),
            6 => native(&NativeCost::total),
            _ => Number::ours(None),
        });
    }
    Table {
        id: "figure-1".into(),
        title: "Figure 1: instructions per frame, part by part (means over the ordinary programs)".into(),
        label: "part".into(),
        columns: all_names(m).map(|name| Column::beside(name, 2)).collect(),
        rows,
        note: "Storing and loading variables and return address is the same for all and not counted. The paper's creation \
               has the check for room in it, its disposal the collection, and \"other\" stands beside its copying and \
               sharing: here closures are the same under every strategy, but a frame in the heap or of a quasi-stack is \
               written anew for each call, where a stack keeps the frame and stores only what is new. Misses: in 16 KiB, \
               direct-mapped, more than the stack's. Of native frames all of compiled code is one \
               part, the `ret` of each is in the runtime's, and misses are not known."
            .into(),
    }
}

fn by_program(m: &Measured) -> Table {
    Table {
        id: "cost-by-program".into(),
        title: "Instructions per frame, by program and strategy".into(),
        label: "program".into(),
        columns: all_names(m).map(|name| Column::new(name, 2)).collect(),
        rows: rows(m, m.strategies.len() + 1, |p, s| {
            let native = s == m.strategies.len();
            let total = || if native { Some(m.native_cost(p)?.total()) } else { Some(m.cost(p, s)?.total()) };
            Number::ours(total())
        }),
        note: "Below zero: the stack, with which all are compared, copies its frames whenever a continuation is captured."
            .into(),
    }
}

/// Figure 4, as far as it can be made.
fn frames(m: &Measured) -> Table {
    let columns = [
        Column::beside("frames (thousands)", 0),
        Column::beside("instructions per frame, in all", 0),
        Column::new("of the default, × the stack's", 3),
        Column::new("of the heap, × the stack's", 3),
    ];
    let ratio = |p: &ProgramResults, s: Option<usize>| {
        Some(p.count(s?, INSTRUCTIONS)? / p.count(m.strategy("stack")?, INSTRUCTIONS)?)
    };
    Table {
        id: "figure-4".into(),
        title: "Figure 4: frames, and instructions of whole programs".into(),
        label: "program".into(),
        rows: rows(m, columns.len(), |p, c| {
            let paper = p.program.row.map(|r| appel_shao::FRAMES[r]);
            match c {
                0 => Number::beside(m.frames(p).map(|f| f / 1e3), paper.map(|f| f.0)),
                1 => Number::beside(m.instructions_per_frame(p), paper.map(|f| f.1)),
                2 => Number::ours(ratio(p, Some(0))),
                _ => Number::ours(ratio(p, m.strategy("heap"))),
            }
        }),
        columns: columns.into(),
        note: "The paper's Figure 4 compares closures that may point to frames with closures that may not. Cairn's closures \
               never point to frames, under any strategy, so that difference cannot be measured here."
            .into(),
    }
}

fn limit_checks(m: &Measured) -> Table {
    let columns = [
        Column::beside("heap: checks that only frames need", 3),
        Column::new("chunks: checks of the limit", 3),
        Column::new("stack: questions for stops", 3),
    ];
    Table {
        id: "figure-3".into(),
        title: "Figure 3: limit checks per frame".into(),
        label: "program".into(),
        rows: rows(m, columns.len(), |p, c| {
            let more = |of: &str, than: &str, name: &str| {
                let count = |s: &str| p.count(m.strategy(s)?, name);
                Some((count(of)? - count(than)?) / m.frames(p)?)
            };
            match c {
                0 => Number::beside(
                    more("heap", "stack", compiled_code::HEAP_CHECKS),
                    p.program.row.map(|r| appel_shao::LIMIT_CHECKS[r]),
                ),
                1 => Number::ours(more("chunks", "heap", compiled_code::CHECKS)),
                _ => Number::ours(more("stack", "heap", compiled_code::CHECKS)),
            }
        }),
        columns: columns.into(),
        note: "In the heap, a check that another allocation of the same extended basic block needs anyway serves frames as \
               well. A frame of a stack-like strategy is kept for the next call of the same procedure, which asks for no \
               room then: that is why chunks ask less than once a frame."
            .into(),
    }
}

fn allocation(m: &Measured) -> Table {
    let columns = [
        Column::new("frames (thousands of words)", 0),
        Column::new("other (thousands of words)", 0),
        Column::beside("share of frames", 2),
        Column::beside("words of a frame", 1),
    ];
    Table {
        id: "figure-5".into(),
        title: "Figure 5: what is allocated when frames are in the heap".into(),
        label: "program".into(),
        rows: rows(m, columns.len(), |p, c| {
            let (words, frames) = (words(m, p), m.frames(p));
            let paper = p.program.row.map(|r| appel_shao::ALLOCATION[r]);
            match c {
                0 => Number::ours(words.map(|w| w.0 / 1e3)),
                1 => Number::ours(words.map(|w| w.1 / 1e3)),
                2 => Number::beside(words.map(|(f, o)| f / (f + o)), paper.map(|a| a.0)),
                _ => Number::beside(words.zip(frames).map(|((f, _), n)| f / n), paper.map(|a| a.1)),
            }
        }),
        columns: columns.into(),
        note: "Frames: what the heap strategy allocates more than the stack. Where continuations are captured, the stack \
               allocates its copies, and frames seem smaller than they are."
            .into(),
    }
}

fn collection(m: &Measured) -> Table {
    let others: Vec<usize> = (0..m.strategies.len()).filter(|s| m.strategies[*s].name != "stack").collect();
    let columns: Vec<Column> = (others.iter())
        .map(|&s| {
            let name = m.strategies[s].name;
            if name == "heap" { Column::beside(name, 2) } else { Column::new(name, 2) }
        })
        .collect();
    Table {
        id: "figure-10".into(),
        title: "Figure 10: instructions of the runtime per frame, more than under the stack".into(),
        label: "program".into(),
        rows: rows(m, columns.len(), |p, c| {
            let paper = p.program.row.map(|r| appel_shao::COLLECTION[r]);
            let paper = paper.filter(|_| m.strategies[others[c]].name == "heap");
            Number::beside(m.cost(p, others[c]).map(|c| c.runtime), paper)
        }),
        columns,
        note: "Collections, overflows of chunks, captures. The paper's column is Z_h, which it took from times."
            .into(),
    }
}

fn times(m: &Measured) -> Vec<Item> {
    let strategies = m.strategies.len();
    let mut columns: Vec<Column> =
        m.strategies.iter().map(|s| Column::new(format!("{} (s)", s.name), 3)).collect();
    columns.push(Column::new("default / best", 3));
    let collector = native_frames::collector().name;
    columns.push(Column::new(format!("native, {collector} (s)"), 3));
    columns.push(Column::new(format!("stack, {collector} (s)"), 3));
    let by_strategy = Table {
        id: "times".into(),
        title: "Seconds by strategy".into(),
        label: "program".into(),
        rows: rows(m, columns.len(), |p, c| {
            Number::ours(match c.checked_sub(strategies) {
                None => p.seconds(c),
                Some(0) => default_to_best(m, p),
                Some(column) => p.native.seconds(column == 1),
            })
        }),
        columns,
        note: "The fastest of the runs, by the runtime's clock. The best is that of the strategies that run with the default \
               collector."
            .into(),
    };
    let mut items = vec![Item::Table(by_strategy)];
    if !m.peers.is_empty() && m.programs.iter().any(|p| p.program.has_peers()) {
        items.push(Item::Table(beside_peers(m)));
    }
    items
}

fn beside_peers(m: &Measured) -> Table {
    let mut columns = vec![Column::new(format!("{} (s)", m.strategies[0].name), 3)];
    for (peer, _) in &m.peers {
        columns.push(Column::new(format!("{} (s)", peer.name()), 3));
        columns.push(Column::new(format!("default / {}", peer.name()), 2));
    }
    let row = |p: &ProgramResults| {
        let mut values = vec![Number::ours(p.seconds(0))];
        for seconds in &p.peers {
            let seconds = seconds.as_ref().and_then(|s| s.as_ref().ok()).copied();
            values.push(Number::ours(seconds));
            values.push(Number::ours(p.seconds(0).zip(seconds).map(|(a, b)| a / b)));
        }
        Row { label: p.program.title.into(), values }
    };
    Table {
        id: "peers".into(),
        title: "Seconds beside other systems".into(),
        label: "program".into(),
        columns,
        rows: m.programs.iter().filter(|p| p.program.has_peers()).map(row).collect(),
        note: "Of other systems: the time of the process less that of one without work. Chez and Cairn check types and \
               arithmetic and go on with bignums; SML/NJ checks for overflow, OCaml does not. A missing number: there \
               is no call/cc."
            .into(),
    }
}

fn captures(m: &Measured) -> Table {
    let mut rows: Vec<Row> = (m.captures.iter())
        .map(|c| Row {
            label: c.depth.to_string(),
            values: c.instructions.iter().map(|i| Number::ours(i.as_ref().ok().copied())).collect(),
        })
        .collect();
    rows.push(Row {
        label: "growth".into(),
        values: (0..=m.strategies.len()).map(|s| Number::ours(growth(m, s))).collect(),
    });
    let paper: Vec<String> =
        appel_shao::BREAKDOWN.iter().map(|b| format!("{} {}", b.strategy, b.call_cc)).collect();
    Table {
        id: "captures".into(),
        title: "Figure 1, call/cc: instructions of capturing a continuation and entering it, by depth".into(),
        label: "frames below".into(),
        columns: all_names(m).map(|name| Column::new(name, 0)).collect(),
        rows,
        note: format!(
            "Growth: the deepest by the shallowest. In the paper: {}; N is the depth, X the size of a chunk.",
            paper.join(", ")
        ),
    }
}

fn captures_figure(m: &Measured) -> Figure {
    let line = |s: usize| {
        let points = m.captures.iter();
        points
            .filter_map(|c| Some((f64::from(c.depth), c.instructions[s].as_ref().ok()?.max(1.0).log10())))
            .collect()
    };
    Figure {
        id: "figure-1-call-cc".into(),
        title: "Figure 1, call/cc: instructions of a capture by depth".into(),
        legend: legend(m),
        panels: vec![Panel {
            title: "call/cc".into(),
            content: Content::Curves {
                axes: ("frames below".into(), "log10 of instructions".into()),
                series: (0..=m.strategies.len()).map(line).collect(),
            },
        }],
        note: String::new(),
    }
}
