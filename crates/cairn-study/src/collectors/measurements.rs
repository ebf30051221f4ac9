//! What is measured: for each program and collector the smallest heap that works, then times at multiples of it.

use super::programs::{PROGRAMS, Program};
use crate::harness::{Cell, Lab, Outcome};
use crate::measure::Run;
use crate::sample::{Failed, Sample};
use crate::statistics;
use cairn_layout::collector::{Ambiguity, Barrier, Pinning};
use cairn_layout::facts::{COLLECTORS, CollectorFacts};
use std::path::PathBuf;
use std::time::Duration;

/// The heap sizes, as multiples of the smallest in which some collector can run the program.
pub const MULTIPLES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
/// Those of a quick study.
const QUICK_MULTIPLES: [f64; 4] = [1.0, 4.0, 16.0, 64.0];
/// The paper's "canonical heap size", at which everything but Figure 1 is measured, as such a multiple.
const CANONICAL: f64 = 16.0;
/// The search for the smallest heap ends when it is known to this factor.
const PRECISION: f64 = 1.06;
/// Heaps below this size are not tried.
const LEAST_HEAP: f64 = 64.0 * 1024.0;

/// Everything that the study has measured.
pub struct Measured {
    /// Names of the collectors.
    pub collectors: Vec<&'static str>,
    /// One for each program.
    pub programs: Vec<ProgramResults>,
    /// Heap sizes as multiples of [`ProgramResults::base`].
    pub multiples: Vec<f64>,
    /// Runs of each cell, of which the worst does not count.
    pub repetitions: usize,
}

/// What was measured of a program.
pub struct ProgramResults {
    /// The program.
    pub program: &'static Program,
    /// Its place in the paper's tables.
    pub place: usize,
    /// Bytes of the smallest heap in which some collector can run it.
    pub base: f64,
    /// The canonical heap size in bytes.
    pub canonical: f64,
    /// One for each collector.
    pub collectors: Vec<CollectorResults>,
}

/// What was measured of a program under a collector.
pub struct CollectorResults {
    /// Bytes of the smallest heap that works; or why none does.
    pub smallest: Result<f64, Failed>,
    /// One for each multiple.
    pub at: Vec<Result<Averages, Failed>>,
    /// A run that counts objects, at the canonical size.
    pub census: Option<Sample>,
}

/// Values of a cell: means over its runs but the worst, which is that of the longest time.
#[derive(Clone, Debug, PartialEq)]
pub struct Averages(Sample);

impl Averages {
    /// Of at least one sample.
    pub fn of(samples: &[Sample]) -> Averages {
        let times: Vec<f64> = samples.iter().map(|s| s.get("elapsed_ns").copied().unwrap_or(0.0)).collect();
        let worst = statistics::worst(&times);
        let kept: Vec<&Sample> =
            samples.iter().enumerate().filter(|(i, _)| Some(*i) != worst).map(|(_, s)| s).collect();
        let names = kept[0].keys();
        let mean = |name: &String| kept.iter().filter_map(|s| s.get(name)).sum::<f64>() / kept.len() as f64;
        Averages(names.map(|name| (name.clone(), mean(name))).collect())
    }
    /// The value of that name, if the runtime has told it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }
    /// Seconds in the collector.
    pub fn collector_seconds(&self) -> f64 {
        (self.get("minor_ns").unwrap_or(0.0) + self.get("major_ns").unwrap_or(0.0)) / 1e9
    }
    /// Seconds in the program proper.
    pub fn client_seconds(&self) -> f64 {
        self.total_seconds() - self.collector_seconds()
    }
    /// Seconds in all.
    pub fn total_seconds(&self) -> f64 {
        self.get("elapsed_ns").unwrap_or(0.0) / 1e9
    }
    /// Number of collections.
    pub fn collections(&self) -> f64 {
        self.get("minor").unwrap_or(0.0) + self.get("major").unwrap_or(0.0)
    }
}

impl Measured {
    /// The position of a collector.
    pub fn collector(&self, name: &str) -> Option<usize> {
        self.collectors.iter().position(|c| *c == name)
    }
    /// The position of the canonical multiple.
    pub fn canonical(&self) -> usize {
        self.multiples.iter().position(|m| *m == CANONICAL).expect("one of the multiples")
    }
}

impl ProgramResults {
    /// What a collector did at the canonical size.
    pub fn canonical_of(&self, measured: &Measured, collector: usize) -> Option<&Averages> {
        self.collectors[collector].at[measured.canonical()].as_ref().ok()
    }
}

/// Variables of the environment.
pub type Settings = Vec<(&'static str, &'static str)>;

/// How a collector is run: as in the paper, where it can. Words of frames and registers are ambiguous roots for all
/// that can be without knowing them (a generational collector must know which frames it has seen); MCC has pages of
/// 2 KB, and its heap the maximal size from the start.
pub fn settings(facts: &CollectorFacts) -> Settings {
    let ambiguous = facts.ambiguity == Ambiguity::Words && facts.barrier == Barrier::None;
    let frames = ambiguous.then_some(("CAIRN_AMBIGUOUS_FRAMES", "1"));
    let pages = (facts.pinning == Pinning::Pages).then_some(("CAIRN_MCC", "page=2K,fixed"));
    frames.into_iter().chain(pages).collect()
}

struct Prepared {
    program: &'static Program,
    place: usize,
    expected: String,
    executables: Vec<PathBuf>,
    settings: Vec<Settings>,
    work: u32,
    limit: Duration,
}

impl Prepared {
    fn run(&self, collector: usize, heap: f64) -> Run {
        Run {
            executable: self.executables[collector].clone(),
            arguments: vec![self.work.to_string()],
            environment: [("CAIRN_HEAP_MAX".into(), format!("{heap:.0}"))]
                .into_iter()
                .chain(self.settings[collector].iter().map(|(name, value)| (name.to_string(), value.to_string())))
                .collect(),
            expected: Some(self.expected.clone()),
            timeout: self.limit,
            count: false,
        }
    }
}

/// Measures everything.
pub fn measure(lab: &mut Lab) -> Result<Measured, String> {
    let collectors: Vec<&'static str> = COLLECTORS.iter().map(|c| c.name).collect();
    let multiples = if lab.quick { QUICK_MULTIPLES.to_vec() } else { MULTIPLES.to_vec() };
    let repetitions = if lab.quick { 3 } else { 10 };
    let prepared = prepare(lab, &collectors)?;
    let smallest = smallest_heaps(lab, &prepared, &collectors)?;
    let bases: Vec<f64> = smallest
        .iter()
        .zip(&prepared)
        .map(|(row, p)| {
            let least = row.iter().filter_map(|s| s.as_ref().ok()).copied().fold(f64::INFINITY, f64::min);
            if least.is_finite() { Ok(least) } else { Err(format!("no collector can run {}", p.program.name)) }
        })
        .collect::<Result<_, _>>()?;
    let mut cells = Vec::new();
    for (p, base) in prepared.iter().zip(&bases) {
        for multiple in &multiples {
            for (c, collector) in collectors.iter().enumerate() {
                let name = format!("{}, {collector}, {multiple} × smallest heap", p.program.name);
                cells.push(Cell { name, run: p.run(c, multiple * base) });
            }
        }
    }
    let mut samples = lab.measure(&cells, repetitions)?.into_iter();
    let mut programs = Vec::new();
    for ((p, base), smallest) in prepared.iter().zip(bases).zip(smallest) {
        let mut results: Vec<CollectorResults> = smallest
            .into_iter()
            .map(|smallest| CollectorResults { smallest, at: Vec::new(), census: None })
            .collect();
        for _ in &multiples {
            for result in &mut results {
                let outcome = samples.next().expect("a result for each cell");
                result.at.push(outcome.map(|samples| Averages::of(&samples)));
            }
        }
        for (c, result) in results.iter_mut().enumerate() {
            let mut run = p.run(c, CANONICAL * base);
            run.environment.push(("CAIRN_CENSUS".into(), "1".into()));
            result.census = lab.once(&run, 0)?.ok().filter(|s| s.contains_key("objects_1"));
        }
        programs.push(ProgramResults {
            program: p.program,
            place: p.place,
            base,
            canonical: CANONICAL * base,
            collectors: results,
        });
    }
    Ok(Measured { collectors, programs, multiples, repetitions })
}

/// Builds the chosen programs for all collectors, and learns what they print.
fn prepare(lab: &mut Lab, collectors: &[&str]) -> Result<Vec<Prepared>, String> {
    let chosen: Vec<_> = PROGRAMS.iter().enumerate().filter(|(_, p)| lab.only.wants(p.name)).collect();
    let bar = lab.progress(chosen.len() * collectors.len());
    let mut prepared = Vec::new();
    for (place, program) in chosen {
        let mut executables = Vec::new();
        for collector in collectors {
            bar.set_message(format!("building {}, {collector}", program.name));
            let file = lab.root.join(format!("benchmarks/papers/{}.scm", program.name));
            let option = format!("--gc={collector}");
            executables.push(lab.build(&file, &[option], &format!("{}-{collector}", program.name))?);
            bar.inc(1);
        }
        let work = if lab.quick { program.work.0 } else { program.work.1 };
        let limit = Duration::from_secs(600);
        let settings = collectors
            .iter()
            .map(|c| settings(cairn_layout::facts::collector(c).expect("of the table")))
            .collect();
        let mut p = Prepared { program, place, expected: String::new(), executables, settings, work, limit };
        let run = Run { environment: vec![], expected: None, ..p.run(0, 0.0) };
        p.expected = lab.output(&run).map_err(|why| format!("{} does not run: {why}", program.name))?;
        prepared.push(p);
    }
    bar.finish_and_clear();
    Ok(prepared)
}

/// For each program and collector: bytes of the smallest heap that works, to the precision above; a heap of which the
/// program makes fifty times more collections work than it does work itself is not called working.
fn smallest_heaps(
    lab: &mut Lab,
    prepared: &[Prepared],
    collectors: &[&str],
) -> Result<Vec<Vec<Result<f64, Failed>>>, String> {
    let bar = lab.progress(prepared.len() * collectors.len());
    let mut all = Vec::new();
    for p in prepared {
        let mut row = Vec::new();
        for (c, collector) in collectors.iter().enumerate() {
            bar.set_message(format!("smallest heap of {}, {collector}", p.program.name));
            row.push(smallest_heap(&mut |heap, limit| {
                let run = Run { timeout: limit, ..p.run(c, heap) };
                lab.once(&run, 0)
            })?);
            bar.inc(1);
        }
        all.push(row);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// Halves a heap that works until it does not, then searches between.
fn smallest_heap(
    run: &mut dyn FnMut(f64, Duration) -> Result<Outcome, String>,
) -> Result<Result<f64, Failed>, String> {
    let patience = Duration::from_secs(600);
    let mut works = 1024.0 * 1024.0 * 1024.0;
    let ample = match run(works, patience)? {
        Ok(sample) => sample,
        Err(failed) => return Ok(Err(failed)),
    };
    let seconds = ample.get("elapsed_ns").copied().unwrap_or(0.0) / 1e9;
    let limit = Duration::from_secs_f64((50.0 * seconds).clamp(2.0, 600.0));
    let live = ample.get("peak").copied().unwrap_or(works);
    works = (2.0 * live).clamp(2.0 * LEAST_HEAP, works);
    while run(works, limit)?.is_err() {
        works *= 2.0;
    }
    let mut fails = works;
    while fails > LEAST_HEAP {
        fails /= 2.0;
        match run(fails, limit)? {
            Ok(_) => works = fails,
            Err(_) => break,
        }
    }
    while works > fails * PRECISION {
        let middle = (works * fails).sqrt();
        match run(middle, limit)? {
            Ok(_) => works = middle,
            Err(_) => fails = middle,
        }
    }
    Ok(Ok(works))
}

/// MCC and the collector that stands for BDW: libgc itself, or our mark-sweep.
pub(super) fn ratio_pair(m: &Measured) -> Option<(usize, usize)> {
    m.collector("mcc").zip(m.collector("bdw").or_else(|| m.collector("marksweep")))
}

/// The least of what any collector has held after a full collection in any cell; live data cannot be more.
pub(super) fn live_bytes(m: &Measured, p: &ProgramResults) -> Option<f64> {
    let cells =
        (0..m.multiples.len()).flat_map(|i| p.collectors.iter().filter_map(move |c| c.at[i].as_ref().ok()));
    let live = cells.filter(|a| a.get("major") > Some(0.0)).filter_map(|a| a.get("live")).filter(|l| *l > 0.0);
    live.reduce(f64::min)
}

/// Stages of MCC, as the paper and the runtime's numbers call them.
pub(super) const STAGES: [(&str, &str); 5] =
    [("pin", "pin_ns"), ("root", "root_ns"), ("graph", "graph_ns"), ("free", "free_ns"), ("sweep", "sweep_ns")];

/// Shares of the five stages, which sum to 1; `None` when the collector did not say, or did nothing.
pub(super) fn stage_shares(at: &Averages) -> Option<[f64; 5]> {
    let times: Vec<f64> = STAGES.iter().map(|(_, name)| at.get(name)).collect::<Option<_>>()?;
    let sum: f64 = times.iter().sum();
    (sum > 0.0).then(|| std::array::from_fn(|i| times[i] / sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(elapsed: f64, minor: f64) -> Sample {
        [("elapsed_ns".to_string(), elapsed), ("minor_ns".to_string(), minor)].into()
    }

    #[test]
    fn the_longest_run_does_not_count() {
        let a = Averages::of(&[sample(4e9, 1e9), sample(9e9, 8e9), sample(6e9, 3e9)]);
        assert_eq!((a.total_seconds(), a.collector_seconds(), a.client_seconds()), (5.0, 2.0, 3.0));
        assert_eq!(Averages::of(&[sample(4e9, 1e9)]).total_seconds(), 4.0);
    }

    #[test]
    fn the_smallest_heap_is_found() {
        for least in [100_000.0, 3_000_000.0, 200_000_000.0] {
            let mut runs = 0;
            let found = smallest_heap(&mut |heap, _| {
                runs += 1;
                let peak = [("peak".to_string(), 900_000.0), ("elapsed_ns".to_string(), 1e8)].into();
                Ok(if heap >= least { Ok(peak) } else { Err(Failed("no memory".into())) })
            });
            let found = found.unwrap().unwrap();
            assert!(found >= least && found < least * PRECISION, "{found} for {least}");
            assert!(runs < 24, "{runs} runs");
        }
    }

    #[test]
    fn a_program_that_never_runs_says_why() {
        let result = smallest_heap(&mut |_, _| Ok(Err(Failed("exit status 1".into()))));
        assert_eq!(result, Ok(Err(Failed("exit status 1".into()))));
    }
}
