//! The paper's claims and our goals, tested on the numbers.

use super::experiments::{
    COUNTED, Language, Measured, Points, ROWS, Values, WORKLOADS, best_c, by, number, of, ratio,
};
use super::published::{BITS_64, TABLE};
use crate::report::{Finding, Findings};

/// Our goals for rows of Table 1: the row, and how many times the time of plain records it may take.
const GOALS: [(&str, f64); 6] = [
    ("structure alloc", 0.02),
    ("structure access", 1.0),
    ("structure set!", 0.27),
    ("type access", 1.2),
    ("convex envelope safe", 0.9),
    ("quicksort safe", 0.9),
];

/// The paper's claims, and our goals.
pub fn findings(m: &Measured) -> Findings {
    let mut ours: Vec<_> = GOALS.iter().map(|(row, goal)| (row_goal(m, row, *goal), "table-1")).collect();
    ours.push((others(m), "instructions"));
    let least_c = |values: &Values| best_c(values);
    for i in [0, 1] {
        let (time, memory) = ((&m.seconds, "s"), (&m.workload_bytes, "bytes an element"));
        ours.push((workload(m, i, "time", time.0, 1.5, least_c, time.1), "workloads"));
        ours.push((workload(m, i, "memory", memory.0, 1.1, least_c, memory.1), "workloads"));
    }
    ours.push((gambit(m), "table-1"));
    let paper = vec![(allocation(m), "table-1"), (sorting(m), "table-1"), (smaller_than_records(m), "memory")];
    Findings { paper, ours, partial: false }
}

fn finding(claim: String, holds: Option<bool>, evidence: String) -> Finding {
    let evidence = if holds.is_some() { evidence } else { "It was not asked for, or could not be run.".into() };
    Finding { claim, holds, evidence }
}

/// How many times the time of records structure vectors take, in a row.
fn row_ratio(m: &Measured, paper: &str) -> Option<f64> {
    let place = ROWS.iter().position(|r| r.paper == paper)?;
    ratio(of(&m.rows[place], Points::Structures), of(&m.rows[place], Points::Records))
}

fn shown(value: Option<f64>) -> String {
    value.map_or("none".into(), |v| format!("{v:.2}"))
}

fn allocation(m: &Measured) -> Finding {
    let both = [row_ratio(m, "structure alloc"), row_ratio(m, "structure20 alloc")];
    let claim = "Structure vectors are allocated in 2 % of the time of records of two fields, and in 12 % with twenty \
                 (section 4.2).";
    let holds = both[0].zip(both[1]).map(|(two, twenty)| two <= 0.025 && twenty <= 0.125);
    finding(claim.into(), holds, format!("Here {} and {}.", shown(both[0]), shown(both[1])))
}

fn sorting(m: &Measured) -> Finding {
    let rows = ["convex envelope", "distance sort", "quicksort"];
    let ratios: Vec<Option<f64>> = rows.iter().map(|r| row_ratio(m, r)).collect();
    let claim = "Real programs take 0.85 to 1.05 of the time with records (Table 1: convex envelope, distance sort, \
                 quicksort).";
    let all: Option<Vec<f64>> = ratios.iter().copied().collect();
    let holds = all.map(|all| all.iter().all(|r| *r <= 1.05));
    let shown: Vec<String> = ratios.into_iter().map(shown).collect();
    finding(claim.into(), holds, format!("Here {}.", shown.join(", ")))
}

fn row_goal(m: &Measured, row: &str, goal: f64) -> Finding {
    let have = row_ratio(m, row);
    let place = ROWS.iter().position(|r| r.paper == row).expect("a row of the table");
    let theirs = TABLE[place].structures[BITS_64] / TABLE[place].records[BITS_64];
    let claim = format!("{row} takes at most {goal} times as long as with records (our goal).");
    finding(claim, have.map(|r| r <= goal), format!("Here {}; in the paper {theirs:.2}.", shown(have)))
}

/// What plain records cost where there are structure vectors, by instructions.
fn others(m: &Measured) -> Finding {
    let place = |p: Points| COUNTED.iter().position(|q| *q == p).expect("counted");
    let (alone, beside) = (place(Points::Records), place(Points::Beside));
    let pairs = m.counts.iter().map(|c| ratio(number(c, beside), number(c, alone)));
    let ratios: Vec<f64> = pairs.flatten().collect();
    let worst = ratios.iter().copied().max_by(f64::total_cmp);
    let claim = "Operations on plain records take the same instructions, to 1 %, when the program also has structure \
                 vectors of their type (the paper: 4 to 9 % more time in all programs).";
    finding(
        claim.into(),
        worst.map(|w| w <= 1.01),
        format!("Here the largest of {} ratios is {}.", ratios.len(), shown(worst)),
    )
}

fn smaller_than_records(m: &Measured) -> Finding {
    let (structures, records) = (of(&m.bytes, Points::Structures), of(&m.bytes, Points::Records));
    let claim = "Points of two fields take a quarter of the memory (section 1: 2 + 4/f times less under a copying \
                 collector).";
    let share = ratio(structures, records);
    let evidence = format!("Here {} of {} bytes, {}.", shown(structures), shown(records), shown(share));
    finding(claim.into(), share.map(|s| s <= 0.25), evidence)
}

fn workload(
    m: &Measured,
    w: usize,
    what: &str,
    values: &[Values],
    goal: f64,
    best: impl Fn(&Values) -> Option<f64>,
    unit: &str,
) -> Finding {
    debug_assert_eq!(values.len(), m.seconds.len());
    let (ours, theirs) = (by(&values[w], Language::Structures), best(&values[w]));
    let have = ratio(ours, theirs);
    let name = WORKLOADS[w].name;
    let claim = format!("The program {name} takes at most {goal} times C's {what} (our goal).");
    let digits = |v: Option<f64>| v.map_or("none".into(), |v| format!("{v:.3}"));
    let evidence = format!("Here {}: {} against {} {unit}.", shown(have), digits(ours), digits(theirs));
    finding(claim, have.map(|r| r <= goal), evidence)
}

/// Structure vectors against Gambit's plain records, row by row.
fn gambit(m: &Measured) -> Finding {
    let mut ratios = Vec::new();
    for (r, values) in ROWS.iter().zip(&m.rows) {
        let theirs = of(values, if r.safe { Points::GambitSafe } else { Points::Gambit });
        if let Some(ratio) = ratio(of(values, Points::Structures), theirs) {
            ratios.push((ratio, r.paper));
        }
    }
    let won = ratios.iter().filter(|r| r.0 <= 1.0).count();
    let worst = ratios.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
    let claim = "Structure vectors with their checks are faster than Gambit's records without, in every row.";
    let evidence = format!(
        "They are in {won} of {} rows; the worst ratio is {}.",
        ratios.len(),
        worst.map_or("none".into(), |(r, row)| format!("{r:.2} ({row})"))
    );
    finding(claim.into(), worst.map(|w| w.0 <= 1.0), evidence)
}
