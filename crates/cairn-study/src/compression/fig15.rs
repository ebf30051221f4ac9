//! The paper's two figures, and tables of what it did not measure: allocators, versions by hand, what building costs.

use super::costs::{Cost, Measured, ProgramCosts, REPETITIONS, cost};
use super::lattner_adve::{self, published};
use super::variants::Variant;
use super::{c_programs, claims};
use crate::report::{Column, Content, Figure, Item, Number, Panel, Report, Row, Section, Table};
use crate::study::Study;

const MEGABYTE: f64 = 1e6;

/// The whole report.
pub fn report(study: &dyn Study, m: &Measured) -> Report {
    let section = |title: &str, items: Vec<Item>| Section { title: title.into(), items };
    let mut sections = vec![
        section("What holds today", vec![Item::Findings(claims::findings(m))]),
        section("Programs", vec![Item::Text(programs(m))]),
        section(
            "Figure 15: ten programs",
            vec![Item::Figure(figure_15(m)), Item::Table(times(m)), Item::Table(memory(m))],
        ),
    ];
    if !m.lengths.is_empty() {
        let items = vec![Item::Figure(figure_16(m)), Item::Table(by_length(m))];
        sections.push(section("Figure 16: lists of many lengths", items));
    }
    sections.push(section("Beside other allocators", vec![Item::Table(allocators(m))]));
    sections.push(section("Beside pools by hand", vec![Item::Table(by_hand(m))]));
    sections.push(section("Pools that can grow", vec![Item::Table(growing(m))]));
    sections.push(section("What it costs to build", vec![Item::Table(building(m))]));
    let failures = failures(m);
    if !failures.is_empty() {
        sections.push(section("What failed", failures.into_iter().map(Item::Text).collect()));
    }
    Report {
        name: study.name().into(),
        title: "Pointer compression: C with 32-bit indices for pointers".into(),
        paper: study.paper().into(),
        conditions: vec![
            ("variants".into(), m.variants.iter().map(|v| v.name()).collect::<Vec<_>>().join(", ")),
            ("runs of each cell".into(), format!("{REPETITIONS}, of which the least counts, as in the paper")),
            ("seconds".into(), "of processor time, the kernel's included".into()),
            ("memory".into(), "most that was resident, the C library's 1.5 MB included".into()),
        ],
        sections,
    }
}

fn programs(m: &Measured) -> String {
    let ours = format!(
        "Programs called \"our\" are of {}: of the kinds of the paper's, written anew. Each has a version by hand, the \
         same text with pools of 32-bit offsets at constant addresses.",
        c_programs::FOLDER
    );
    if m.suite {
        format!("The paper's programs are those of the llvm-test-suite. {ours}")
    } else {
        format!(
            "The paper's own programs are measured with --suite DIR, a checkout of the llvm-test-suite. {ours} The \
             paper's numbers beside them are those of the programs of the same name."
        )
    }
}

/// The program's row in the paper's table; ours stand in where there is no suite.
fn paper(m: &Measured, p: &ProgramCosts) -> Option<&'static lattner_adve::Row> {
    (p.program.is_ours() != m.suite).then(|| published(p.program.name))?
}

fn rows(m: &Measured, values: impl Fn(&ProgramCosts) -> Vec<Number>) -> Vec<Row> {
    m.programs.iter().map(|p| Row { label: p.program.label(), values: values(p) }).collect()
}

fn seconds(p: &ProgramCosts, v: Variant) -> Option<f64> {
    cost(&p.runs, v).map(|c| c.seconds)
}

fn megabytes(p: &ProgramCosts, v: Variant) -> Option<f64> {
    cost(&p.runs, v).map(|c: Cost| c.bytes / MEGABYTE)
}

fn times(m: &Measured) -> Table {
    let rows = rows(m, |p| {
        let [nopa, pa, pc] = paper(m, p).map_or([None; 3], |r| r.seconds.map(Some));
        let divided = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
        vec![
            Number::ours(seconds(p, Variant::Malloc)),
            Number::ours(seconds(p, Variant::Pool)),
            Number::ours(seconds(p, Variant::Static)),
            Number::beside(p.time_ratio(Variant::Static, Variant::Pool), divided(pc, pa)),
            Number::beside(p.time_ratio(Variant::Static, Variant::Malloc), divided(pc, nopa)),
        ]
    });
    Table {
        id: "figure-15-time".into(),
        title: "Figure 15: time as clang-19 -O2 compiles (NoPA), with pools (PA), with small pointers (PC)".into(),
        label: "program".into(),
        columns: vec![
            Column::new("NoPA (s)", 3),
            Column::new("PA (s)", 3),
            Column::new("PC (s)", 3),
            Column::beside("PC/PA", 2),
            Column::beside("PC/NoPA", 2),
        ],
        rows,
        note: "The paper's machine was an UltraSPARC-IIIi with 1 MB of cache.".into(),
    }
}

fn memory(m: &Measured) -> Table {
    let rows = rows(m, |p| {
        let count = |n: Option<usize>| Number::ours(n.map(|n| n as f64));
        vec![
            Number::ours(megabytes(p, Variant::Malloc)),
            Number::ours(megabytes(p, Variant::Pool)),
            Number::ours(megabytes(p, Variant::Static)),
            Number::beside(p.memory_ratio(Variant::Static, Variant::Pool), paper(m, p).map(|r| r.memory)),
            Number::ours(p.memory_ratio(Variant::Static, Variant::Malloc)),
            count(p.pools.map(|p| p.0)),
            count(p.pools.map(|p| p.1)),
        ]
    });
    Table {
        id: "figure-15-memory".into(),
        title: "Figure 15: peak memory".into(),
        label: "program".into(),
        columns: vec![
            Column::new("NoPA (MB)", 1),
            Column::new("PA (MB)", 1),
            Column::new("PC (MB)", 1),
            Column::beside("PC/PA", 2),
            Column::new("PC/NoPA", 2),
            Column::new("pools", 0),
            Column::new("of them smaller", 0),
        ],
        rows,
        note: "The paper has the peak of the heap, here it is that of the process. What is below the pages that the study \
               itself has written, some 4 MB, is not seen."
            .into(),
    }
}

fn figure_15(m: &Measured) -> Figure {
    let bars =
        |title: &str, ours: &dyn Fn(&ProgramCosts) -> Option<f64>, theirs: &dyn Fn(&lattner_adve::Row) -> f64| {
            let row = |p: &ProgramCosts| {
                let values = [Some(ours(p)?), paper(m, p).map(theirs)];
                Some((p.program.label(), values.into_iter().flatten().collect()))
            };
            let rows = m.programs.iter().filter_map(row).collect();
            Panel { title: title.into(), content: Content::Bars { axis: "PC/NoPA; memory PC/PA".into(), rows } }
        };
    let time = bars("time", &|p| p.time_ratio(Variant::Static, Variant::Malloc), &|r| r.seconds[2] / r.seconds[0]);
    let memory = bars("peak memory", &|p| p.memory_ratio(Variant::Static, Variant::Pool), &|r| r.memory);
    Figure {
        id: "figure-15".into(),
        title: "Figure 15: small pointers as a ratio; less is better".into(),
        legend: vec!["here".into(), "paper".into()],
        panels: vec![time, memory],
        note: String::new(),
    }
}

fn figure_16(m: &Measured) -> Figure {
    let line = |v: &Variant| m.lengths.iter().filter_map(|l| Some((l.length, l.nanoseconds(*v)?))).collect();
    Figure {
        id: "figure-16".into(),
        title: "Figure 16: our llubench, time for an element by the length of the lists".into(),
        legend: m.variants.iter().map(|v| v.name().to_string()).collect(),
        panels: vec![Panel {
            title: "100 lists".into(),
            content: Content::Curves {
                axes: ("elements of a list".into(), "ns".into()),
                series: m.variants.iter().map(line).collect(),
            },
        }],
        note: "The paper shows curves without numbers, on four machines of its time.".into(),
    }
}

fn by_length(m: &Measured) -> Table {
    let row = |l: &super::costs::Length| {
        let mut values = vec![Number::ours(Some(l.megabytes()))];
        values.extend(m.variants.iter().map(|v| Number::ours(l.nanoseconds(*v))));
        Row { label: l.length.to_string(), values }
    };
    let mut columns = vec![Column::new("elements of 16 bytes (MB)", 1)];
    columns.extend(m.variants.iter().map(|v| Column::new(format!("{} (ns)", v.name()), 3)));
    Table {
        id: "figure-16".into(),
        title: "Figure 16: nanoseconds for an element visited".into(),
        label: "length".into(),
        columns,
        rows: m.lengths.iter().map(row).collect(),
        note: String::new(),
    }
}

fn allocators(m: &Measured) -> Table {
    let shown: Vec<Variant> = m.variants.iter().copied().filter(|v| *v != Variant::Hand).collect();
    let time = shown.iter().map(|v| Column::new(format!("{} (s)", v.name()), 3));
    let space = shown.iter().map(|v| Column::new(format!("{} (MB)", v.name()), 1));
    let rows = rows(m, |p| {
        let time = shown.iter().map(|v| Number::ours(seconds(p, *v)));
        time.chain(shown.iter().map(|v| Number::ours(megabytes(p, *v)))).collect()
    });
    Table {
        id: "allocators".into(),
        title: "Time and peak memory with other allocators, with pools, and with small pointers".into(),
        label: "program".into(),
        columns: time.chain(space).collect(),
        rows,
        note: "Allocators are preloaded into the executable that clang-19 -O2 made.".into(),
    }
}

fn by_hand(m: &Measured) -> Table {
    let row = |p: &ProgramCosts| Row {
        label: p.program.label(),
        values: vec![
            Number::ours(seconds(p, Variant::Malloc)),
            Number::ours(seconds(p, Variant::Static)),
            Number::ours(seconds(p, Variant::Hand)),
            Number::ours(p.time_ratio(Variant::Static, Variant::Hand)),
            Number::ours(megabytes(p, Variant::Static)),
            Number::ours(megabytes(p, Variant::Hand)),
            Number::ours(p.memory_ratio(Variant::Hand, Variant::Malloc)),
        ],
    };
    Table {
        id: "by-hand".into(),
        title: "Small pointers by the compiler and by hand".into(),
        label: "program".into(),
        columns: vec![
            Column::new("malloc (s)", 3),
            Column::new("static (s)", 3),
            Column::new("by hand (s)", 3),
            Column::new("static/by hand", 2),
            Column::new("static (MB)", 1),
            Column::new("by hand (MB)", 1),
            Column::new("by hand/malloc (MB)", 2),
        ],
        rows: m.programs.iter().filter(|p| p.program.is_ours()).map(row).collect(),
        note: String::new(),
    }
}

fn growing(m: &Measured) -> Table {
    let short = [Variant::Dynamic, Variant::Dynamic16, Variant::Dynamic8];
    let rows = rows(m, |p| {
        let mut values =
            vec![Number::ours(seconds(p, Variant::Static)), Number::ours(seconds(p, Variant::Dynamic))];
        values.extend(short.map(|v| Number::ours(p.time_ratio(v, Variant::Static))));
        values.extend(short.map(|v| Number::ours(p.time_ratio(v, Variant::Malloc))));
        values.extend(short.map(|v| Number::ours(p.memory_ratio(v, Variant::Malloc))));
        values
    });
    let ratios = |to: &str| ["32", "16", "8"].map(|k| Column::new(format!("{k} bits/{to}"), 2));
    Table {
        id: "dynamic".into(),
        title:
            "Dynamic pools beside static, not expanded (32 bits) and expanded when they have 256 KiB (16 bits) or \
                1 KiB (8 bits)"
                .into(),
        label: "program".into(),
        columns: [Column::new("static (s)", 3), Column::new("dynamic (s)", 3)]
            .into_iter()
            .chain(ratios("static"))
            .chain(ratios("malloc"))
            .chain(ratios("malloc (MB)"))
            .collect(),
        rows,
        note: "Objects of a pool that has been expanded have the layout that clang gives them.".into(),
    }
}

fn building(m: &Measured) -> Table {
    let of = [Variant::Malloc, Variant::Pool, Variant::Static, Variant::Dynamic];
    let rows = rows(m, |p| {
        let build = |v: &Variant| p.builds.get(v);
        let code = of.iter().map(|v| Number::ours(build(v).and_then(|b| b.code).map(|c| c / 1e3)));
        code.chain(of.iter().map(|v| Number::ours(build(v).and_then(|b| b.seconds)))).collect()
    });
    Table {
        id: "building".into(),
        title: "Code and constants of the executable, and processor time of the build".into(),
        label: "program".into(),
        columns: of
            .iter()
            .map(|v| Column::new(format!("{} (kB)", v.name()), 1))
            .chain(of.iter().map(|v| Column::new(format!("{} (s)", v.name()), 2)))
            .collect(),
        rows,
        note: "From sources to executable, linker included.".into(),
    }
}

/// "our tsp, static: exit status 3".
fn failures(m: &Measured) -> Vec<String> {
    let of = |label: &str, runs: &super::costs::Costs| -> Vec<String> {
        let failed = runs.iter().filter_map(|(v, r)| Some((v.name(), r.as_ref().err()?)));
        let first = |why: &str| why.chars().take(200).collect::<String>();
        failed.map(|(variant, why)| format!("{label}, {variant}: {}", first(&why.0))).collect()
    };
    let programs = m.programs.iter().flat_map(|p| of(&p.program.label(), &p.runs));
    programs.chain(m.lengths.iter().flat_map(|l| of(&format!("lists of {}", l.length), &l.runs))).collect()
}
