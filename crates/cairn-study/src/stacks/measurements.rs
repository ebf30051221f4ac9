//! What is measured: each program by each contender; `deep` by depth of the recursion; programs by size of the chunks.

use super::contenders::{CHUNKS, CONTENDERS, Executable, OURS};
use super::programs::{BY_SIZE, PROGRAMS, Program, chunk_sizes, depths};
use crate::harness::{Cell, Lab};
use crate::measure::Run;
use crate::sample::{Failed, Sample};
use crate::statistics;
use std::path::PathBuf;

/// Medians of what a cell's runs gave, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Medians(Sample);

/// What a cell gave: nothing where there is no such program.
pub type Entry = Option<Result<Medians, Failed>>;

impl Medians {
    /// Of at least one sample.
    pub fn of(samples: &[Sample]) -> Medians {
        let value = |name: &String| {
            let values: Vec<f64> = samples.iter().filter_map(|s| s.get(name)).copied().collect();
            (name.clone(), statistics::median(&values).unwrap_or(0.0))
        };
        Medians(samples[0].keys().map(value).collect())
    }
    /// The value of that name, if it was told.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }
    /// Seconds from start to end of the process.
    pub fn seconds(&self) -> f64 {
        self.get("process_wall_ns").unwrap_or(0.0) / 1e9
    }
    /// Most memory that the process had, in megabytes.
    pub fn megabytes(&self) -> f64 {
        self.get("process_peak_bytes").unwrap_or(0.0) / 1e6
    }
    /// Seconds in the collector.
    pub fn collector_seconds(&self) -> Option<f64> {
        Some((self.get("minor_ns")? + self.get("major_ns")?) / 1e9)
    }
    /// Words of frames that a minor collection looks at, in the mean.
    pub fn words_scanned(&self) -> Option<f64> {
        let collections = self.get("minor").filter(|n| *n > 0.0)?;
        Some(self.get("frame_words_minor")? / collections)
    }
}

/// What was measured of a program.
pub struct ProgramResults {
    /// The program.
    pub program: &'static Program,
    /// One for each contender.
    pub by: Vec<Entry>,
    /// Under `chunks`, one for each of [`Measured::sizes`]; empty where sizes are not varied.
    pub by_size: Vec<Result<Medians, Failed>>,
}

/// Everything that the study has measured.
pub struct Measured {
    /// Less work.
    pub quick: bool,
    /// Runs of each cell.
    pub repetitions: usize,
    /// Peers that are there, with their versions.
    pub peers: Vec<String>,
    /// Those that are not.
    pub absent: Vec<String>,
    /// One for each program.
    pub programs: Vec<ProgramResults>,
    /// Depths of the recursion in `deep`.
    pub depths: Vec<u32>,
    /// For each depth, what this compiler's contenders did; empty if `deep` was not chosen.
    pub by_depth: Vec<Vec<Result<Medians, Failed>>>,
    /// Sizes of chunks in bytes.
    pub sizes: Vec<u32>,
}

impl Measured {
    /// The results of a program.
    pub fn program(&self, name: &str) -> Option<&ProgramResults> {
        self.programs.iter().find(|p| p.program.name == name)
    }
}

impl ProgramResults {
    /// What a contender did, if it did.
    pub fn by(&self, contender: usize) -> Option<&Medians> {
        self.by[contender].as_ref()?.as_ref().ok()
    }
    /// The time of one contender as a multiple of another's.
    pub fn ratio(&self, a: usize, b: usize) -> Option<f64> {
        Some(self.by(a)?.seconds() / self.by(b)?.seconds())
    }
}

/// A chosen program, and the executables of all contenders.
struct Prepared {
    program: &'static Program,
    executables: Vec<Option<Executable>>,
}

impl Prepared {
    fn run(&self, contender: usize, arguments: &[String], expected: &str) -> Option<Run> {
        let executable = self.executables[contender].as_ref()?;
        let arguments = arguments.to_vec();
        let environment = executable.environment.clone();
        Some(Run { arguments, environment, expected: Some(expected.into()), ..Run::of(&executable.file) })
    }
    /// What the program prints: this compiler's word.
    fn expected(&self, lab: &Lab, arguments: &[String]) -> Result<String, String> {
        let run = self.run(CHUNKS, arguments, "").expect("this compiler is here");
        let output = lab.output(&Run { expected: None, ..run });
        output.map_err(|why| format!("{} does not run: {why}", self.program.name))
    }
}

/// Which part of the report a cell is for.
#[derive(Clone, Copy)]
enum Part {
    Contender(usize),
    Depth,
    Size,
}

/// Measures everything.
pub fn measure(lab: &mut Lab) -> Result<Measured, String> {
    let versions: Vec<_> = CONTENDERS.iter().filter_map(|c| c.version()).collect();
    let (depths, lists) = depths(lab.quick);
    let sizes = chunk_sizes(lab.quick);
    let repetitions = if lab.quick { 3 } else { 5 };
    let prepared = prepare(lab)?;
    let (mut cells, mut parts) = (Vec::new(), Vec::new());
    let mut put = |place: usize, part: Part, name: String, run: Run| {
        cells.push(Cell { name, run });
        parts.push((place, part));
    };
    for (i, p) in prepared.iter().enumerate() {
        let name = p.program.name;
        let arguments: Vec<String> = p.program.arguments(lab.quick).iter().map(ToString::to_string).collect();
        let expected = p.expected(lab, &arguments)?;
        for (c, contender) in CONTENDERS.iter().enumerate() {
            if let Some(run) = p.run(c, &arguments, &expected) {
                put(i, Part::Contender(c), format!("{name}, {}", contender.name), run);
            }
        }
        if BY_SIZE.contains(&name) {
            for size in &sizes {
                let mut run = p.run(CHUNKS, &arguments, &expected).expect("this compiler is here");
                run.environment = vec![("CAIRN_CHUNKS".into(), format!("size={size}"))];
                put(i, Part::Size, format!("{name}, chunks of {size} bytes"), run);
            }
        }
        if name == "deep" {
            for depth in &depths {
                let arguments = [depth.to_string(), lists.to_string()];
                let expected = p.expected(lab, &arguments)?;
                for (c, contender) in CONTENDERS.iter().enumerate().take(OURS) {
                    let run = p.run(c, &arguments, &expected).expect("this compiler is here");
                    put(i, Part::Depth, format!("{depth} deep, {}", contender.name), run);
                }
            }
        }
    }
    let outcomes = lab.measure(&cells, repetitions)?;
    let mut programs: Vec<ProgramResults> = prepared
        .iter()
        .map(|p| ProgramResults {
            program: p.program,
            by: CONTENDERS.iter().map(|_| None).collect(),
            by_size: Vec::new(),
        })
        .collect();
    let mut deep = Vec::new();
    for ((place, part), outcome) in parts.into_iter().zip(outcomes) {
        let outcome = outcome.map(|samples| Medians::of(&samples));
        match part {
            Part::Contender(c) => programs[place].by[c] = Some(outcome),
            Part::Size => programs[place].by_size.push(outcome),
            Part::Depth => deep.push(outcome),
        }
    }
    let by_depth = deep.chunks(OURS).map(<[_]>::to_vec).collect();
    let (peers, absent): (Vec<_>, Vec<_>) = versions.into_iter().partition(Result::is_ok);
    Ok(Measured {
        quick: lab.quick,
        repetitions,
        peers: peers.into_iter().filter_map(Result::ok).collect(),
        absent: absent.into_iter().filter_map(Result::err).collect(),
        programs,
        depths,
        by_depth,
        sizes,
    })
}

/// Builds the chosen programs for all contenders.
fn prepare(lab: &mut Lab) -> Result<Vec<Prepared>, String> {
    let chosen: Vec<&'static Program> = PROGRAMS.iter().filter(|p| lab.only.wants(p.name)).collect();
    let folder: PathBuf = lab.root.join("benchmarks/papers/stacks");
    let bar = lab.progress(chosen.len() * CONTENDERS.len());
    let mut prepared = Vec::new();
    for program in chosen {
        let mut executables = Vec::new();
        for (c, contender) in CONTENDERS.iter().enumerate() {
            bar.set_message(format!("building {}, {}", program.name, contender.name));
            let is_wanted = c < OURS || program.has_peers;
            executables.push(if is_wanted { contender.build(lab, &folder, program.file)? } else { None });
            bar.inc(1);
        }
        prepared.push(Prepared { program, executables });
    }
    bar.finish_and_clear();
    Ok(prepared)
}

/// By how many percent the new value differs from the old one.
pub(super) fn change(old: f64, new: f64) -> f64 {
    100.0 * (new / old - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_name() {
        let sample = |wall: f64, minor: f64| -> Sample {
            let values = [("process_wall_ns", wall), ("minor", minor), ("frame_words_minor", 60.0)];
            values.map(|(name, v)| (name.to_string(), v)).into()
        };
        let m = Medians::of(&[sample(4e9, 2.0), sample(9e9, 3.0), sample(6e9, 4.0)]);
        assert_eq!((m.seconds(), m.words_scanned()), (6.0, Some(20.0)));
        assert_eq!(Medians::of(&[sample(1e9, 0.0)]).words_scanned(), None);
        assert_eq!(m.collector_seconds(), None, "a peer does not tell");
    }
}
