//! The study's tables: Table 1 with the paper's ratios, instructions, memory, programs of today.

use super::experiments::{
    COUNTED, Language, Measured, OPERATIONS, Points, ROWS, WORKLOADS, best_c, by, number, of, ratio,
};
use super::findings;
use super::published::{BITS_64, TABLE};
use crate::report::{Column, Item, Number, Report, Row, Section, Table};
use crate::study::Study;

/// The whole report.
pub fn report(study: &dyn Study, m: &Measured) -> Report {
    let section = |title: &str, items: Vec<Item>| Section { title: title.into(), items };
    let missing = missing(m);
    let mut sections = vec![
        section("What holds today", vec![Item::Findings(findings::findings(m))]),
        section("Table 1", vec![Item::Table(table_1(m)), Item::Text(REPRESENTATIONS.into())]),
        section("Instructions", vec![Item::Table(instructions(m))]),
        section("Memory", vec![Item::Table(memory(m))]),
        section("Programs of today", workloads(m)),
    ];
    if !missing.is_empty() {
        sections.push(section("What could not be measured", missing.into_iter().map(Item::Text).collect()));
    }
    Report {
        name: study.name().into(),
        title: "Structure vectors: records without headers, side by side".into(),
        paper: study.paper().into(),
        conditions: vec![
            ("runs of each cell".into(), format!("{}, of which the median counts", m.repetitions)),
            ("times".into(), "of the processor, without what a run of no repetitions takes".into()),
            ("programs of today".into(), m.sizes.clone()),
        ],
        sections,
    }
}

const REPRESENTATIONS: &str = "A point has two fields of any kind. Records lie in a vector; elements in a structure \
    vector; inline are two words of a vector. `set!` makes each point a new one. Cairn checks everything that it cannot \
    prove, in all rows; Gambit is told `(not safe)` in the rows that the paper measures so. Sources: \
    benchmarks/papers/structures/points*.scm.";

fn table_1(m: &Measured) -> Table {
    let columns = vec![
        Column::new("records (ms)", 3),
        Column::new("structures (ms)", 3),
        Column::beside("structures/records", 2),
        Column::new("32 bits", 2),
        Column::new("inline (ms)", 3),
        Column::beside("inline/records", 2),
        Column::new("Gambit records (ms)", 3),
        Column::new("structures/Gambit", 2),
    ];
    let rows = ROWS.iter().zip(&TABLE).zip(&m.rows).map(|((r, paper), values)| {
        let ms = |p| of(values, p).map(|s| 1000.0 * s);
        let (records, structures, inline) = (ms(Points::Records), ms(Points::Structures), ms(Points::Inline));
        let gambit = ms(if r.safe { Points::GambitSafe } else { Points::Gambit });
        let theirs = |bits: usize| paper.structures[bits] / paper.records[bits];
        Row {
            label: r.paper.into(),
            values: vec![
                Number::ours(records),
                Number::ours(structures),
                Number::beside(ratio(structures, records), Some(theirs(BITS_64))),
                Number::beside(None, Some(theirs(1 - BITS_64))),
                Number::ours(inline),
                Number::beside(
                    ratio(inline, records),
                    paper.inline.map(|seconds| seconds[BITS_64] / paper.records[BITS_64]),
                ),
                Number::ours(gambit),
                Number::ours(ratio(structures, gambit)),
            ],
        }
    });
    let mut columns = columns;
    columns[3].published = true;
    Table {
        id: "table-1".into(),
        title: "Table 1: milliseconds of a repetition".into(),
        label: "row".into(),
        columns,
        rows: rows.collect(),
        note: "The paper's ratios are those on 64 bits; on 32 bits they stand in a column of their own.".into(),
    }
}

fn instructions(m: &Measured) -> Table {
    let columns = COUNTED.iter().map(|p| {
        Column::new(
            match p {
                Points::Beside => "record, structure vector in the program",
                Points::Structures => "element",
                Points::Inline => "fields inline",
                _ => "record",
            },
            1,
        )
    });
    let rows = OPERATIONS.iter().zip(&m.counts).map(|((_, what), values)| Row {
        label: (*what).into(),
        values: (0..COUNTED.len()).map(|i| Number::ours(number(values, i))).collect(),
    });
    Table {
        id: "instructions".into(),
        title: "Instructions of an operation, with the loop around it".into(),
        label: "operation".into(),
        columns: columns.collect(),
        rows: rows.collect(),
        note:
            "Counted by callgrind. Element i is reached by its number; a held one is a reference that nothing is \
               known of."
                .into(),
    }
}

fn memory(m: &Measured) -> Table {
    let mut rows = Vec::new();
    let mut row = |label: String, value: Option<f64>| {
        rows.push(Row { label, values: vec![Number::ours(value)] });
    };
    for (p, what) in [
        (Points::Records, "point of two fields, record in a vector"),
        (Points::Structures, "point of two fields, structure vector"),
        (Points::Inline, "point of two fields, inline"),
        (Points::Gambit, "point of two fields, Gambit's record in a vector"),
    ] {
        row(what.into(), of(&m.bytes, p));
    }
    for (w, values) in WORKLOADS.iter().zip(&m.workload_bytes) {
        for l in Language::ALL {
            row(format!("{}: {}", w.name, l.name()), by(values, l));
        }
    }
    Table {
        id: "memory".into(),
        title: "Memory of an element: growth of the process's peak when there are more".into(),
        label: "element".into(),
        columns: vec![Column::new("bytes", 1)],
        rows,
        note: "With what the collector takes to work, and with garbage. Elements of a mesh are vertices and triangles."
            .into(),
    }
}

fn workloads(m: &Measured) -> Vec<Item> {
    let columns = |w: usize| {
        let best = best_c(&m.seconds[w]);
        move |l: Language| [by(&m.seconds[w], l), ratio(by(&m.seconds[w], l), best)]
    };
    let values = [columns(0), columns(1)];
    let rows = Language::ALL.into_iter().map(|l| Row {
        label: l.name().into(),
        values: values.iter().flat_map(|v| v(l)).map(Number::ours).collect(),
    });
    let columns = WORKLOADS
        .iter()
        .flat_map(|w| [Column::new(format!("{} (s)", w.name), 3), Column::new(format!("{} / C", w.name), 2)]);
    let summaries: Vec<String> = WORKLOADS.iter().map(|w| format!("{}: {}", w.name, w.summary)).collect();
    let table = Table {
        id: "workloads".into(),
        title: "Programs of today: seconds of a run".into(),
        label: "implementation".into(),
        columns: columns.collect(),
        rows: rows.collect(),
        note: "C is the faster of clang and gcc. All print the same.".into(),
    };
    vec![Item::Text(format!("{}.", summaries.join("; "))), Item::Table(table)]
}

/// A sentence for each number that was asked for and is not there.
fn missing(m: &Measured) -> Vec<String> {
    let mut all = Vec::new();
    let labels = ROWS.iter().map(|r| r.paper).zip(&m.rows);
    let labels = labels.chain(OPERATIONS.iter().map(|o| o.1).zip(&m.counts));
    let labels = labels.chain(WORKLOADS.iter().map(|w| w.name).zip(&m.seconds));
    for (label, values) in labels.chain([("memory of a point", &m.bytes)]) {
        for why in values.iter().flatten().filter_map(|v| v.as_ref().err()) {
            all.push(format!("{label}: {why}"));
        }
    }
    all.dedup();
    all
}
