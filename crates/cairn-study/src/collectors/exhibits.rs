//! The paper's tables and figures, made of what was measured.

use super::measurements::{
    Averages, Measured, ProgramResults, STAGES, live_bytes, ratio_pair, settings, stage_shares,
};
use super::programs::PROGRAMS;
use super::{findings, published};
use crate::report::{Column, Content, Figure, Item, Number, Panel, Report, Row, Section, Table};
use crate::sample::{Failed, Sample};
use crate::study::Study;

/// The whole report.
pub fn report(study: &dyn Study, m: &Measured) -> Report {
    let mut sections = vec![
        section("What holds today", vec![Item::Findings(findings::findings(m))]),
        section("Programs", programs()),
        section("Time by heap size", times(m)),
        section("Space", space(m)),
    ];
    // MCC's tables, or the default collector's where there is no MCC.
    let subject = m.collector("mcc").unwrap_or(0);
    sections.push(section("What the collector did", vec![Item::Table(basic(m, subject))]));
    sections.push(section("Inside of MCC", inside(m)));
    Report {
        name: study.name().into(),
        title: "Collectors: mostly copying against mark-sweep, and against today's default".into(),
        paper: study.paper().into(),
        conditions: vec![
            ("collectors".into(), m.collectors.join(", ")),
            ("settings".into(), settings_shown(m)),
            ("runs of each cell".into(), format!("{}, the longest left out", m.repetitions)),
            ("heap sizes".into(), format!("{} times the smallest heap that works", list(&m.multiples))),
            ("canonical heap size".into(), format!("{} times", m.multiples[m.canonical()])),
        ],
        sections,
    }
}

/// "mcc: frames are ambiguous roots (CAIRN_AMBIGUOUS_FRAMES=1), pages of 2 KB …; gen: as usual".
fn settings_shown(m: &Measured) -> String {
    let of = |name: &&str| settings(cairn_layout::facts::collector(name).expect("of the table"));
    let shown = |name: &&str| {
        let meaning = |variable: &str| match variable {
            "CAIRN_AMBIGUOUS_FRAMES" => "every word of a frame may be a pointer",
            "CAIRN_MCC" => "pages of 2 KB, and the largest heap from the start",
            _ => "set",
        };
        let all: Vec<String> =
            of(name).iter().map(|(name, value)| format!("{} ({name}={value})", meaning(name))).collect();
        format!("{name}: {}", if all.is_empty() { "as usual".into() } else { all.join("; ") })
    };
    m.collectors.iter().map(shown).collect::<Vec<_>>().join(". ")
}

fn list(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

fn section(title: &str, items: Vec<Item>) -> Section {
    Section { title: title.into(), items }
}

/// A row for each program; `values` gets its place in the paper's tables.
fn rows(m: &Measured, values: impl Fn(usize, &ProgramResults) -> Vec<Number>) -> Vec<Row> {
    m.programs.iter().map(|p| Row { label: p.program.paper.into(), values: values(p.place, p) }).collect()
}

fn programs() -> Vec<Item> {
    let text = PROGRAMS.iter().map(|p| format!("{}: {}", p.paper, p.summary)).collect::<Vec<_>>().join("; ");
    vec![Item::Text(format!(
        "The eight programs of the paper's Table 1, written anew in Scheme (benchmarks/papers). {text}."
    ))]
}

fn times(m: &Measured) -> Vec<Item> {
    let all = "Figure 1: time in all (s) by heap size, as a multiple of the smallest heap that works";
    let collector = "Figure 1, collector time alone (s)";
    let mut items = vec![
        Item::Figure(by_heap_size(m, "figure-1", all, Averages::total_seconds)),
        Item::Figure(by_heap_size(m, "figure-1-collector", collector, Averages::collector_seconds)),
        Item::Table(canonical_times(m)),
    ];
    items.extend(m.programs.iter().map(|p| Item::Table(times_of(m, p))));
    items
}

/// A panel for each program, with a curve for each collector.
fn by_heap_size(m: &Measured, id: &str, title: &str, value: fn(&Averages) -> f64) -> Figure {
    let panels = m.programs.iter().map(|p| Panel {
        title: p.program.paper.into(),
        content: Content::Curves {
            axes: ("× smallest heap".into(), "s".into()),
            series: by_collector(m, p, value),
        },
    });
    Figure {
        id: id.into(),
        title: title.into(),
        legend: legend(m),
        panels: panels.collect(),
        note: "A missing point: the program could not be run at that heap size.".into(),
    }
}

fn legend(m: &Measured) -> Vec<String> {
    m.collectors.iter().map(ToString::to_string).collect()
}

fn by_collector(m: &Measured, p: &ProgramResults, value: impl Fn(&Averages) -> f64) -> Vec<Vec<(f64, f64)>> {
    let line = |results: &[Result<Averages, Failed>]| {
        let points = m.multiples.iter().zip(results);
        points.filter_map(|(x, r)| Some((*x, value(r.as_ref().ok()?)))).collect()
    };
    p.collectors.iter().map(|c| line(&c.at)).collect()
}

/// Table 7 at the canonical size, the ratio that the paper is about beside its own.
fn canonical_times(m: &Measured) -> Table {
    let mut columns = Vec::new();
    for name in &m.collectors {
        columns.push(Column::new(format!("{name} client (s)"), 3));
        columns.push(Column::new(format!("{name} collector (s)"), 3));
    }
    let pair = ratio_pair(m);
    if let Some((a, b)) = pair {
        let (a, b) = (m.collectors[a], m.collectors[b]);
        columns.push(Column::beside(format!("collector {a}/{b}"), 2));
        columns.push(Column::beside(format!("total {a}/{b}"), 2));
    }
    let rows = rows(m, |i, p| {
        let mut values = Vec::new();
        for c in 0..m.collectors.len() {
            let at = p.canonical_of(m, c);
            values.push(Number::ours(at.map(Averages::client_seconds)));
            values.push(Number::ours(at.map(Averages::collector_seconds)));
        }
        if let Some((a, b)) = pair {
            let [bdw_client, bdw, mcc_client, mcc] = published::TIMES[i];
            let both = p.canonical_of(m, a).zip(p.canonical_of(m, b));
            let collector = both.map(|(a, b)| a.collector_seconds() / b.collector_seconds());
            let total = both.map(|(a, b)| a.total_seconds() / b.total_seconds());
            let sum = |client: Option<f64>, collector: Option<f64>| Some(client? + collector?);
            let divided = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
            values.push(Number::beside(collector, divided(mcc, bdw)));
            values.push(Number::beside(total, divided(sum(mcc_client, mcc), sum(bdw_client, bdw))));
        }
        values
    });
    Table {
        id: "table-7-canonical".into(),
        title: "Table 7 at the canonical heap size: time of the program and of the collector".into(),
        label: "program".into(),
        columns,
        rows,
        note: "The paper's ratios are MCC/BDW 4.10 on an UltraSparc-5.".into(),
    }
}

fn times_of(m: &Measured, p: &ProgramResults) -> Table {
    let mut columns = vec![Column::new("heap (KB)", 0)];
    for name in &m.collectors {
        columns.push(Column::new(format!("{name} client (s)"), 3));
        columns.push(Column::new("collector (s)", 4));
    }
    let row = |(i, multiple): (usize, &f64)| {
        let mut values = vec![Number::ours(Some(multiple * p.base / 1024.0))];
        for c in &p.collectors {
            let at = c.at[i].as_ref().ok();
            values.push(Number::ours(at.map(Averages::client_seconds)));
            values.push(Number::ours(at.map(Averages::collector_seconds)));
        }
        Row { label: format!("{multiple} ×"), values }
    };
    Table {
        id: format!("table-7-{}", p.program.name),
        title: format!("Table 7: {}", p.program.paper),
        label: "heap".into(),
        columns,
        rows: m.multiples.iter().enumerate().map(row).collect(),
        note: String::new(),
    }
}

fn space(m: &Measured) -> Vec<Item> {
    let mut columns = vec![Column::new("live (KB)", 0)];
    for name in &m.collectors {
        columns.push(Column::new(format!("{name} smallest heap (KB)"), 0));
        columns.push(Column::new("× live", 1));
    }
    let rows = rows(m, |_, p| {
        let live = live_bytes(m, p);
        let mut values = vec![Number::ours(live.map(|l| l / 1024.0))];
        for c in &p.collectors {
            let smallest = c.smallest.as_ref().ok().copied();
            values.push(Number::ours(smallest.map(|s| s / 1024.0)));
            values.push(Number::ours(smallest.zip(live).map(|(s, l)| s / l)));
        }
        values
    });
    let table = Table {
        id: "smallest-heaps".into(),
        title: "The smallest heap that works, as a multiple of the live data".into(),
        label: "program".into(),
        columns,
        rows,
        note: "Live: the least of what the collectors hold after a full collection; they know it best in small heaps. \
               Section 3.1.3 of the paper: MCC needs 4.5 times the live data, BDW about once. Below a megabyte the \
               nursery and the blocks that every heap begins with decide."
            .into(),
    };
    vec![Item::Table(table)]
}

fn basic(m: &Measured, subject: usize) -> Table {
    let megabytes = |bytes: f64| bytes / (1024.0 * 1024.0);
    let columns = vec![
        Column::beside("heap (MB)", 1),
        Column::beside("allocated (MB)", 0),
        Column::beside("live (KB)", 0),
        Column::beside("collections", 0),
        Column::beside("ms each", 3),
        Column::beside("live objects each", 0),
    ];
    let rows = rows(m, |i, p| {
        let (paper, at) = (&published::BASIC[i], p.canonical_of(m, subject));
        let get = |name: &str| at.and_then(|a| a.get(name));
        let collections = at.map(Averages::collections).filter(|n| *n > 0.0);
        vec![
            Number::beside(Some(megabytes(p.canonical)), Some(paper.heap_mb)),
            Number::beside(get("allocated").map(megabytes), Some(paper.allocated_mb)),
            Number::beside(live_bytes(m, p).map(|l| l / 1024.0), Some(paper.live_kb)),
            Number::beside(at.map(Averages::collections), Some(paper.collections)),
            Number::beside(
                at.zip(collections).map(|(a, n)| 1e3 * a.collector_seconds() / n),
                Some(paper.collection_ms),
            ),
            Number::beside(get("live_objects").zip(collections).map(|(o, n)| o / n), Some(paper.live_objects)),
        ]
    });
    Table {
        id: "table-2".into(),
        title: format!("Table 2: basic information, for {} at the canonical heap size", m.collectors[subject]),
        label: "program".into(),
        columns,
        rows,
        note: "The paper's amounts of work were chosen for 1998: counts differ, shapes should not.".into(),
    }
}

/// Tables 3 to 6 and Figures 2 to 4; what nothing could be measured of is left out.
fn inside(m: &Measured) -> Vec<Item> {
    let mut items = Vec::new();
    if let Some(mcc) = m.collector("mcc") {
        let told =
            |name: &str| m.programs.iter().any(|p| p.canonical_of(m, mcc).is_some_and(|a| a.get(name).is_some()));
        if told("promoted_pages") {
            items.push(Item::Table(promotion(m, mcc)));
        }
        if told("pin_ns") {
            items.push(Item::Table(stages(m, mcc)));
            items.push(Item::Figure(stages_figure(m, mcc)));
        }
        if m.programs.iter().any(|p| p.collectors[mcc].census.is_some()) {
            items.push(Item::Table(sizes(m, mcc)));
            items.push(Item::Figure(sizes_figure(m, mcc)));
        }
    }
    if let Some((a, b)) = ratio_pair(m) {
        items.push(Item::Table(client_times(m, a, b)));
    }
    if items.is_empty() {
        items.push(Item::Text("This build has no collector of the paper.".into()));
    }
    items
}

fn promotion(m: &Measured, mcc: usize) -> Table {
    let columns = vec![
        Column::beside("roots", 0),
        Column::beside("promoted pages", 0),
        Column::beside("roots by page", 1),
        Column::beside("fragmentation (KB)", 1),
    ];
    let rows = rows(m, |i, p| {
        let at = p.canonical_of(m, mcc);
        let each = |name: &str| at.and_then(|a| Some(a.get(name)? / a.collections())).filter(|v| v.is_finite());
        let by_page = at.and_then(|a| a.get("roots_per_page_milli")).map(|v| v / 1000.0);
        let paper = published::PROMOTION[i].map(Some);
        vec![
            Number::beside(each("quasi_pointers"), paper[0]),
            Number::beside(each("promoted_pages"), paper[1]),
            Number::beside(by_page, paper[2]),
            Number::beside(each("invalidated").map(|b| b / 1024.0), paper[3]),
        ]
    });
    Table {
        id: "table-3".into(),
        title: "Table 3: roots and promoted pages, averages of a collection of MCC".into(),
        label: "program".into(),
        columns,
        rows,
        note: String::new(),
    }
}

fn stages(m: &Measured, mcc: usize) -> Table {
    let rows = rows(m, |i, p| {
        let shares = p.canonical_of(m, mcc).and_then(stage_shares);
        (0..5).map(|s| Number::beside(shares.map(|v| 100.0 * v[s]), Some(published::STAGES[i][s]))).collect()
    });
    Table {
        id: "table-4".into(),
        title: "Table 4: percentage of MCC's time in each stage".into(),
        label: "program".into(),
        columns: STAGES.iter().map(|(name, _)| Column::beside(format!("{name} (%)"), 0)).collect(),
        rows,
        note: String::new(),
    }
}

fn stages_figure(m: &Measured, mcc: usize) -> Figure {
    let title = "Figure 4: shares of the stages in MCC's time";
    let legend = STAGES.map(|(name, _)| name);
    shares_figure(m, "figure-4", title, &legend, &published::STAGES, |p| {
        p.canonical_of(m, mcc).and_then(stage_shares).map(|s| s.to_vec())
    })
}

/// Shares of each program, here and in the paper, which gives percentages; parts beyond the legend are left out.
fn shares_figure(
    m: &Measured,
    id: &str,
    title: &str,
    legend: &[&str],
    paper: &[[f64; 5]],
    shares: impl Fn(&ProgramResults) -> Option<Vec<f64>>,
) -> Figure {
    let parts = legend.len();
    let ours = m.programs.iter().filter_map(|p| Some((p.program.paper.to_string(), shares(p)?[..parts].to_vec())));
    let published = PROGRAMS.iter().zip(paper);
    let published = published.map(|(p, s)| (p.paper.to_string(), s[..parts].iter().map(|v| v / 100.0).collect()));
    Figure {
        id: id.into(),
        title: title.into(),
        legend: legend.iter().map(ToString::to_string).collect(),
        panels: vec![
            Panel { title: "here".into(), content: Content::Shares(ours.collect()) },
            Panel { title: "paper".into(), content: Content::Shares(published.collect()) },
        ],
        note: String::new(),
    }
}

/// Shares of objects with 1, 2, 3, 4 or more words, and of the data without pointers.
fn size_shares(census: &Sample) -> Option<[f64; 5]> {
    let get = |name: &str| census.get(name).copied();
    let objects = [get("objects_1")?, get("objects_2")?, get("objects_3")?, get("objects_4")?];
    let all: f64 = objects.iter().sum();
    let atomic = get("words_atomic")? / get("words_all")?;
    (all > 0.0).then(|| [objects[0] / all, objects[1] / all, objects[2] / all, objects[3] / all, atomic])
}

fn sizes(m: &Measured, mcc: usize) -> Table {
    let columns = ["1 word (%)", "2 words (%)", "3 words (%)", "4 or more (%)", "data without pointers (%)"];
    let rows = rows(m, |i, p| {
        let shares = p.collectors[mcc].census.as_ref().and_then(size_shares);
        (0..5).map(|s| Number::beside(shares.map(|v| 100.0 * v[s]), Some(published::SIZES[i][s]))).collect()
    });
    Table {
        id: "table-5".into(),
        title: "Table 5: sizes of the objects allocated".into(),
        label: "program".into(),
        columns: columns.iter().map(|c| Column::beside(*c, 0)).collect(),
        rows,
        note: "Words without MCC's own header.".into(),
    }
}

fn sizes_figure(m: &Measured, mcc: usize) -> Figure {
    let title = "Figure 3: percentage of objects allocated of size 1, 2, 3, and 4 or more words";
    let legend = ["1 word", "2 words", "3 words", "4 or more"];
    shares_figure(m, "figure-3", title, &legend, &published::SIZES, |p| {
        p.collectors[mcc].census.as_ref().and_then(size_shares).map(|s| s.to_vec())
    })
}

fn client_times(m: &Measured, a: usize, b: usize) -> Table {
    let rows = rows(m, |i, p| {
        let both = p.canonical_of(m, a).zip(p.canonical_of(m, b));
        let slowdown = both.map(|(a, b)| 100.0 * (a.client_seconds() / b.client_seconds() - 1.0));
        vec![Number::beside(slowdown, Some(published::HEADERS[i][0]))]
    });
    Table {
        id: "table-6".into(),
        title: format!(
            "Table 6: by how much client time under {} exceeds that under {}",
            m.collectors[a], m.collectors[b]
        ),
        label: "program".into(),
        columns: vec![Column::beside("slowdown (%)", 1)],
        rows,
        note: "MCC's objects have a word more; allocation and locality differ as well.".into(),
    }
}
