//! What is measured: rows of Table 1 over several representations, instructions, memory, and programs of today.
//!
//! ```text
//!  a program:  ROW  N  TIMES     time of a repetition   = (time of TIMES − time of 0) / TIMES
//!                                instructions of one op = (count of TIMES − count of 0) / (N · TIMES)
//!                                bytes of an element    = (peak with 2 N elements − peak with N) / N
//! ```
//!
//! The differences take away what a process does before and after. Times are those of the processor, in user and in
//! system mode: what a new page costs belongs to what asks for it, what another process takes does not. The peak that
//! the kernel tells is at least that of the process that started it, so both runs must be larger than a study.

use crate::harness::{Cell, Lab, tool};
use crate::measure::{CPU_TIME, INSTRUCTIONS, Run};
use crate::sample::{Failed, Sample};
use crate::statistics::median;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A row of Table 1.
pub struct Row {
    /// The paper's name.
    pub paper: &'static str,
    /// The program's name for it.
    pub row: &'static str,
    /// Is the time in the collector asked for?
    pub collector: bool,
    /// Does the paper measure it with checks?
    pub safe: bool,
    /// Number of points and repetitions for a quick study, and for a whole one.
    work: [(u32, u32); 2],
}

const fn row(paper: &'static str, row: &'static str, work: [(u32, u32); 2]) -> Row {
    Row { paper, row, collector: false, safe: false, work }
}

/// Table 1, in the paper's order.
pub const ROWS: [Row; 13] = [
    row("structure alloc", "alloc", [(200_000, 10), (2_000_000, 10)]),
    row("structure20 alloc", "alloc20", TWENTY),
    Row { collector: true, ..row("structure20 alloc gc", "alloc20", TWENTY) },
    row("structure20 alloc no-init", "no-init20", TWENTY),
    row("structure access", "access", EACH),
    row("structure set!", "fill", EACH),
    row("type access", "type", EACH),
    row("prop-access", "prop", EACH),
    row("convex envelope", "envelope", ENVELOPE),
    row("distance sort", "distance", [(1_000, 4), (4_000, 4)]),
    row("quicksort", "quicksort", QUICKSORT),
    Row { safe: true, ..row("convex envelope safe", "envelope", ENVELOPE) },
    Row { safe: true, ..row("quicksort safe", "quicksort", QUICKSORT) },
];
const TWENTY: [(u32, u32); 2] = [(30_000, 10), (300_000, 10)];
const EACH: [(u32, u32); 2] = [(100_000, 20), (1_000_000, 40)];
const ENVELOPE: [(u32, u32); 2] = [(50_000, 1), (500_000, 2)];
const QUICKSORT: [(u32, u32); 2] = [(50_000, 1), (500_000, 2)];

/// What a point is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Points {
    /// A record in a vector.
    Records,
    /// A record in a vector, in a program that has a structure vector of them, too.
    Beside,
    /// An element of a structure vector.
    Structures,
    /// Two words of a vector.
    Inline,
    /// A record in a vector, by Gambit, with the paper's declarations.
    Gambit,
    /// A record in a vector, by Gambit, with the paper's declarations and checks.
    GambitSafe,
}

impl Points {
    /// All of them.
    pub const ALL: [Points; 6] =
        [Points::Records, Points::Beside, Points::Structures, Points::Inline, Points::Gambit, Points::GambitSafe];
    fn file(self) -> &'static str {
        match self {
            Points::Records => "points-records",
            Points::Beside => "points-beside",
            Points::Structures => "points-structures",
            Points::Inline => "points-inline",
            Points::Gambit => "points-gambit",
            Points::GambitSafe => "points-gambit-safe",
        }
    }
    fn is_gambit(self) -> bool {
        matches!(self, Points::Gambit | Points::GambitSafe)
    }
    /// Does it measure this row? Fields inline have no type, and nobody asks what Gambit takes with checks where the
    /// paper does not.
    fn runs(self, r: &Row) -> bool {
        match self {
            Points::Records | Points::Structures => true,
            Points::Beside => false,
            Points::Inline => r.row != "type",
            Points::Gambit => !r.safe && !r.collector,
            Points::GambitSafe => r.safe,
        }
    }
}

/// The operations whose instructions are counted: the program's name for each, and ours.
pub const OPERATIONS: [(&str, &str); 6] = [
    ("access", "two fields of element i are read"),
    ("mutate", "one field of element i is stored"),
    ("fill", "element i becomes a new one"),
    ("prop", "one field of a held one is read"),
    ("mutate-held", "one field of a held one is stored"),
    ("type", "a held one is asked for its type"),
];
/// The representations for which they are counted.
pub const COUNTED: [Points; 4] = [Points::Records, Points::Beside, Points::Structures, Points::Inline];
/// Elements and repetitions of a run that counts.
const COUNT: (u32, u32) = (500, 20);

/// Numbers of points of the two runs that tell what one takes.
const MANY: [(u32, u32); 2] = [(2_000_000, 4_000_000), (4_000_000, 8_000_000)];

/// Who runs a program of today.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Cairn, plain records with typed fields.
    Records,
    /// Cairn, structure vectors with typed fields.
    Structures,
    /// Gambit, plain records.
    Gambit,
    /// C by clang -O2.
    Clang,
    /// C by gcc -O2.
    Gcc,
    /// OCaml.
    OCaml,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 6] = [
        Language::Records,
        Language::Structures,
        Language::Gambit,
        Language::Clang,
        Language::Gcc,
        Language::OCaml,
    ];
    /// What a table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Records => "records (Cairn)",
            Language::Structures => "structure vectors (Cairn)",
            Language::Gambit => "records (Gambit)",
            Language::Clang => "C (clang)",
            Language::Gcc => "C (gcc)",
            Language::OCaml => "records (OCaml)",
        }
    }
}

/// A program of today.
pub struct Workload {
    /// The beginning of its files' names.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Size and repetitions for a quick study, and for a whole one.
    work: [(u32, u32); 2],
    /// Sizes of the two runs that tell what an element takes.
    space: [(u32, u32); 2],
    /// Elements of a size.
    elements: fn(f64) -> f64,
}

/// The programs of today.
pub const WORKLOADS: [Workload; 2] = [
    Workload {
        name: "particles",
        summary: "particles of six doubles fall in a box and bounce off its walls",
        work: [(200_000, 20), (10_000_000, 20)],
        space: [(1_000_000, 2_000_000), (5_000_000, 10_000_000)],
        elements: |n| n,
    },
    Workload {
        name: "mesh",
        summary: "vertices and triangles with their neighbours are smoothed, and walked",
        work: [(200, 20), (1_400, 10)],
        space: [(700, 1_000), (1_000, 1_400)],
        elements: |w| w * w + 2.0 * (w - 1.0) * (w - 1.0),
    },
];

/// A number, or why there is none.
pub type Value = Result<f64, String>;
/// Numbers in an order that is known; `None` stands for what was not asked for.
pub type Values = Vec<Option<Value>>;

/// Everything that the study has measured. Inner vectors are in the order of [`Points::ALL`], [`COUNTED`] and
/// [`Language::ALL`].
pub struct Measured {
    /// Seconds of a repetition; one for each row of Table 1.
    pub rows: Vec<Values>,
    /// Instructions of an operation; one for each of [`OPERATIONS`].
    pub counts: Vec<Values>,
    /// Bytes of a point.
    pub bytes: Values,
    /// Seconds of each of [`WORKLOADS`].
    pub seconds: Vec<Values>,
    /// Bytes of an element of each of [`WORKLOADS`].
    pub workload_bytes: Vec<Values>,
    /// Runs of each cell, of which the median counts.
    pub repetitions: usize,
    /// Sizes and repetitions, for people.
    pub sizes: String,
}

/// How the command line asks for what an element takes.
const MEMORY: &str = "memory";
const NOT_THERE: &str = "is not there";

/// What the command line can choose.
pub fn names() -> Vec<&'static str> {
    let rows = OPERATIONS.iter().map(|o| o.0).chain(ROWS.iter().map(|r| r.row));
    rows.chain(WORKLOADS.iter().map(|w| w.name)).chain([MEMORY]).collect()
}

/// Builds, runs and counts everything.
pub fn measure(lab: &mut Lab) -> Result<Measured, String> {
    let only = lab.only.clone();
    let chosen = move |name: &str| only.wants(name);
    let size = usize::from(!lab.quick);
    let repetitions = if lab.quick { 3 } else { 7 };
    let mut experiments = Experiments { lab, repetitions };
    let any_points = names().iter().any(|k| chosen(k) && WORKLOADS.iter().all(|w| w.name != *k));
    let points = if any_points { experiments.build_points()? } else { Vec::new() };

    let mut rows = Vec::new();
    for r in &ROWS {
        rows.push(if chosen(r.row) { experiments.row(&points, r, size)? } else { nothing(Points::ALL.len()) });
    }
    let mut counts = Vec::new();
    for (row, _) in OPERATIONS {
        counts.push(if chosen(row) { experiments.counts(&points, row)? } else { nothing(COUNTED.len()) });
    }
    let bytes = if chosen(MEMORY) { experiments.bytes(&points, MANY[size])? } else { nothing(Points::ALL.len()) };
    let (mut seconds, mut workload_bytes) = (Vec::new(), Vec::new());
    for w in &WORKLOADS {
        let (time, space) = if chosen(w.name) {
            experiments.workload(w, size, chosen(MEMORY))?
        } else {
            (nothing(Language::ALL.len()), nothing(Language::ALL.len()))
        };
        seconds.push(time);
        workload_bytes.push(space);
    }
    let sizes = WORKLOADS.iter().map(|w| format!("{} {} × {}", w.name, w.work[size].0, w.work[size].1));
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    Ok(Measured { rows, counts, bytes, seconds, workload_bytes, repetitions, sizes })
}

fn nothing(n: usize) -> Values {
    vec![None; n]
}

/// An executable, or why there is none.
type Built = Result<PathBuf, String>;

struct Experiments<'a> {
    lab: &'a mut Lab,
    repetitions: usize,
}

impl Experiments<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.lab.root.join("benchmarks/papers/structures").join(name)
    }

    /// An executable for each of [`Points::ALL`].
    fn build_points(&mut self) -> Result<Vec<Built>, String> {
        let bar = self.lab.progress(Points::ALL.len());
        let mut built = Vec::new();
        for p in Points::ALL {
            bar.set_message(format!("building {}", p.file()));
            let file = self.file(&format!("{}.scm", p.file()));
            built.push(if p.is_gambit() {
                self.build_peer("gsc", &file, p.file())?
            } else {
                Ok(self.lab.build(&file, &[], p.file())?)
            });
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(built)
    }

    /// A program by another compiler, if that is on this machine.
    fn build_peer(&mut self, compiler: &str, file: &Path, name: &str) -> Result<Built, String> {
        let Some(path) = tool(compiler) else { return Ok(Err(format!("{compiler} {NOT_THERE}"))) };
        let built = self.lab.build_in_copy(file, name, |file, executable| {
            let mut command = Command::new(path);
            match compiler {
                "gsc" => command.args(["-exe", "-o"]).arg(executable).arg(file),
                "ocamlopt" => command.args(["-O3", "-inline", "100", "-o"]).arg(executable).arg(file),
                // Without contraction all compilers compute the same sums.
                _ => command.args(["-O2", "-ffp-contract=off", "-o"]).arg(executable).arg(file).arg("-lm"),
            };
            command
        })?;
        Ok(Ok(built))
    }

    fn row(&mut self, points: &[Built], r: &Row, size: usize) -> Result<Values, String> {
        let (n, times) = r.work[size];
        let run = |executable: &Path, times: u32| point_run(executable, r.row, n, times);
        let expected = self.expected(&run(first(points)?, times))?;
        let mut cells = Vec::new();
        for (p, built) in Points::ALL.iter().zip(points) {
            if let (true, Ok(executable)) = (p.runs(r), built) {
                let name = format!("{}, {}", r.paper, p.file());
                let whole = Run { expected: Some(expected.clone()), ..run(executable, times) };
                cells.push(Cell { name: name.clone(), run: whole });
                cells.push(Cell { name, run: run(executable, 0) });
            }
        }
        let mut samples = self.lab.measure(&cells, self.repetitions)?.into_iter();
        let mut values = Vec::new();
        for (p, built) in Points::ALL.iter().zip(points) {
            values.push(match built {
                _ if !p.runs(r) => None,
                Err(why) => Some(Err(why.clone())),
                Ok(_) => {
                    let pair = samples.next().zip(samples.next()).expect("two cells for each");
                    let seconds = if r.collector { collector_seconds } else { processor_seconds };
                    Some(difference(pair, seconds).map(|d| d / f64::from(times)))
                }
            });
        }
        Ok(values)
    }

    fn counts(&mut self, points: &[Built], row: &str) -> Result<Values, String> {
        let (n, times) = COUNT;
        let mut values = Vec::new();
        let bar = self.lab.progress(COUNTED.len());
        for p in COUNTED {
            bar.set_message(format!("counting {row}, {}", p.file()));
            let place = Points::ALL.iter().position(|q| *q == p).expect("one of all");
            values.push(match &points[place] {
                _ if p == Points::Inline && row == "type" => None,
                _ if tool("valgrind").is_none() => Some(Err(format!("valgrind {NOT_THERE}"))),
                Err(why) => Some(Err(why.clone())),
                Ok(executable) => {
                    let count = |times| Run { count: true, ..point_run(executable, row, n, times) };
                    let whole = self.lab.once(&count(times), 0)?.map(|s| vec![s]);
                    let base = self.lab.once(&count(0), 0)?.map(|s| vec![s]);
                    let instructions = |s: &Sample| s.get(INSTRUCTIONS).copied();
                    Some(difference((whole, base), instructions).map(|d| d / f64::from(n * times)))
                }
            });
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(values)
    }

    fn bytes(&mut self, points: &[Built], (few, many): (u32, u32)) -> Result<Values, String> {
        let mut values = Vec::new();
        for (p, built) in Points::ALL.iter().zip(points) {
            values.push(match built {
                _ if matches!(p, Points::Beside | Points::GambitSafe) => None,
                Err(why) => Some(Err(why.clone())),
                Ok(executable) => {
                    let run = |n| point_run(executable, "access", n, 0);
                    Some(self.bytes_each(&run(many), &run(few), f64::from(many - few))?)
                }
            });
        }
        Ok(values)
    }

    /// How much more memory a run takes at its peak than another one, shared by so many.
    fn bytes_each(&mut self, run: &Run, base: &Run, n: f64) -> Result<Value, String> {
        let whole = self.lab.once(run, 0)?.map(|s| vec![s]);
        let base = self.lab.once(base, 0)?.map(|s| vec![s]);
        let peak = |s: &Sample| s.get("process_peak_bytes").copied();
        Ok(difference((whole, base), peak).map(|d| d / n))
    }

    /// Seconds, and, if `memory` is asked for, bytes of an element, in each language.
    fn workload(&mut self, w: &Workload, size: usize, memory: bool) -> Result<(Values, Values), String> {
        let (n, times) = w.work[size];
        let mut built = Vec::new();
        for l in Language::ALL {
            built.push(self.build_workload(w, l)?);
        }
        let run = |executable: &Path, n: u32, times: u32| Run {
            arguments: vec![n.to_string(), times.to_string()],
            ..Run::of(executable)
        };
        let expected = self.expected(&run(first(&built)?, n, times))?;
        let mut cells = Vec::new();
        for (l, built) in Language::ALL.iter().zip(&built) {
            if let Ok(executable) = built {
                let run = Run { expected: Some(expected.clone()), ..run(executable, n, times) };
                cells.push(Cell { name: format!("{}, {}", w.name, l.name()), run });
            }
        }
        let mut samples = self.lab.measure(&cells, self.repetitions)?.into_iter();
        let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
        for executable in &built {
            match executable {
                Err(why) => {
                    seconds.push(Some(Err(why.clone())));
                    bytes.push(Some(Err(why.clone())));
                }
                Ok(executable) => {
                    let samples = samples.next().expect("a cell for each");
                    seconds.push(Some(middle(&samples, processor_seconds)));
                    if !memory {
                        bytes.push(None);
                        continue;
                    }
                    let (few, many) = w.space[size];
                    let more = (w.elements)(f64::from(many)) - (w.elements)(f64::from(few));
                    let (few, many) = (run(executable, few, 1), run(executable, many, 1));
                    bytes.push(Some(self.bytes_each(&many, &few, more)?));
                }
            }
        }
        Ok((seconds, bytes))
    }

    fn build_workload(&mut self, w: &Workload, l: Language) -> Result<Built, String> {
        let of = |suffix: &str| self.file(&format!("{}{suffix}", w.name));
        let (c, ml, gambit) = (of(".c"), of(".ml"), of("-gambit.scm"));
        let (records, structures) = (of("-records.scm"), of("-structures.scm"));
        let name = |suffix: &str| format!("{}-{suffix}", w.name);
        match l {
            Language::Records => Ok(Ok(self.lab.build(&records, &[], &name("records"))?)),
            Language::Structures => Ok(Ok(self.lab.build(&structures, &[], &name("structures"))?)),
            Language::Gambit => self.build_peer("gsc", &gambit, &name("gambit")),
            Language::Clang => self.build_peer("clang-19", &c, &name("clang")),
            Language::Gcc => self.build_peer("gcc", &c, &name("gcc")),
            Language::OCaml => self.build_peer("ocamlopt", &ml, &name("ocaml")),
        }
    }

    /// What all must print: what this run prints.
    fn expected(&mut self, run: &Run) -> Result<String, String> {
        self.lab.output(run).map_err(|why| format!("{} does not run: {why}", run.executable.display()))
    }
}

fn point_run(executable: &Path, row: &str, n: u32, times: u32) -> Run {
    Run {
        arguments: vec![row.into(), n.to_string(), times.to_string()],
        timeout: Duration::from_secs(900),
        ..Run::of(executable)
    }
}

/// The executable that says what is right: Cairn's, with plain records.
fn first(built: &[Built]) -> Result<&Path, String> {
    match built.first() {
        Some(Ok(path)) => Ok(path),
        Some(Err(why)) => Err(why.clone()),
        None => Err("nothing was built".into()),
    }
}

fn processor_seconds(s: &Sample) -> Option<f64> {
    s.get(CPU_TIME).map(|ns| ns / 1e9)
}

fn collector_seconds(s: &Sample) -> Option<f64> {
    Some((s.get("minor_ns")? + s.get("major_ns")?) / 1e9)
}

/// The median of a value over the runs of a cell.
fn middle(samples: &Result<Vec<Sample>, Failed>, value: impl Fn(&Sample) -> Option<f64>) -> Value {
    let samples = samples.as_ref().map_err(|Failed(why)| why.clone())?;
    let values: Vec<f64> = samples.iter().filter_map(value).collect();
    median(&values).ok_or_else(|| "nothing was told".into())
}

/// The samples of a run, and of the one that is subtracted from it.
type Pair = (Result<Vec<Sample>, Failed>, Result<Vec<Sample>, Failed>);

/// How much more the first of two cells took; not less than nothing.
fn difference((whole, base): Pair, value: impl Fn(&Sample) -> Option<f64>) -> Value {
    Ok((middle(&whole, &value)? - middle(&base, &value)?).max(0.0))
}

/// A number that was measured.
pub fn number(values: &[Option<Value>], place: usize) -> Option<f64> {
    values.get(place)?.as_ref()?.as_ref().ok().copied()
}

/// The number for points that are represented so.
pub fn of(values: &Values, p: Points) -> Option<f64> {
    number(values, Points::ALL.iter().position(|q| *q == p)?)
}

/// The number of a language.
pub fn by(values: &Values, l: Language) -> Option<f64> {
    number(values, Language::ALL.iter().position(|k| *k == l)?)
}

/// One number as a multiple of another one, if both are there and the second is not nothing.
pub fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b.filter(|b| *b > 0.0)?)
}

/// The lesser number of the C compilers.
pub fn best_c(values: &Values) -> Option<f64> {
    let both = [by(values, Language::Clang), by(values, Language::Gcc)];
    both.into_iter().flatten().min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Result<Vec<Sample>, Failed> {
        Ok(values.iter().map(|v| [("n".to_string(), *v)].into()).collect())
    }

    #[test]
    fn what_every_run_takes_is_subtracted() {
        let n = |s: &Sample| s.get("n").copied();
        assert_eq!(difference((samples(&[10.0, 90.0, 12.0]), samples(&[2.0, 1.0, 3.0])), n), Ok(10.0));
        assert_eq!(difference((samples(&[1.0]), samples(&[2.0])), n), Ok(0.0));
        let failed = Err(Failed("no memory".into()));
        assert_eq!(difference((samples(&[1.0]), failed), n), Err("no memory".into()));
    }

    #[test]
    fn elements_of_a_mesh() {
        assert_eq!((WORKLOADS[1].elements)(3.0), 9.0 + 8.0);
    }
}
