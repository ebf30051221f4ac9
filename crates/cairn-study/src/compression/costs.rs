//! What is measured: time and memory of each program in each variant, lists of many lengths, and what building costs.

use super::c_programs::{PROGRAMS, Program};
use super::variants::{VARIANTS, Variant};
use crate::harness::{Cell, Lab, tool};
use crate::measure::{CPU_TIME, Run};
use crate::sample::{Failed, Sample};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Iterations of llubench for Figure 16; each list becomes as long.
const LENGTHS: [u32; 7] = [250, 500, 1000, 2000, 3000, 4000, 6000];
/// Those of a quick study.
const QUICK_LENGTHS: [u32; 3] = [250, 1000, 2000];
/// Runs of each cell, of which the least counts, as in the paper.
pub const REPETITIONS: usize = 3;
/// Lists that our llubench walks.
const LISTS: f64 = 100.0;

/// Everything that the study has measured.
pub struct Measured {
    /// Was there a checkout of the llvm-test-suite?
    pub suite: bool,
    /// The variants that this machine has, but for [`Variant::is_short`].
    pub variants: Vec<Variant>,
    /// One for each program.
    pub programs: Vec<ProgramCosts>,
    /// Figure 16; empty when llubench was not asked for.
    pub lengths: Vec<Length>,
}

/// What was measured of a program.
pub struct ProgramCosts {
    /// The program.
    pub program: &'static Program,
    /// What running costs.
    pub runs: Costs,
    /// What building costs, and what came of it, for the variants with executables of their own.
    pub builds: BTreeMap<Variant, Build>,
    /// Pools that `cairn cc` reports, and how many of them have smaller pointers.
    pub pools: Option<(usize, usize)>,
}

/// By variant.
pub type Costs = BTreeMap<Variant, Result<Cost, Failed>>;

/// What a run costs: the least of all repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Seconds of processor time, the kernel's for the process included: first touches of memory are part of the price.
    pub seconds: f64,
    /// Most memory that was resident at a time, in bytes.
    pub bytes: f64,
}

/// What a build costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Build {
    /// Seconds of processor time, of all the processes.
    pub seconds: Option<f64>,
    /// Bytes of code and constants in the executable.
    pub code: Option<f64>,
}

/// Lists of a length.
pub struct Length {
    /// Elements of each list at the end.
    pub length: f64,
    /// What running costs.
    pub runs: Costs,
}

impl Length {
    /// Nanoseconds for each element visited.
    pub fn nanoseconds(&self, variant: Variant) -> Option<f64> {
        let visits = LISTS * self.length * (self.length + 1.0) / 2.0;
        Some(1e9 * cost(&self.runs, variant)?.seconds / visits)
    }
    /// Megabytes that elements of 16 bytes, two words, would occupy.
    pub fn megabytes(&self) -> f64 {
        LISTS * self.length * 16.0 / 1e6
    }
}

impl Cost {
    /// Of at least one sample.
    fn of(samples: &[Sample]) -> Cost {
        let least = |value: &dyn Fn(&Sample) -> f64| samples.iter().map(value).fold(f64::INFINITY, f64::min);
        Cost { seconds: least(&processor_seconds), bytes: least(&|s| s["process_peak_bytes"]) }
    }
}

fn processor_seconds(sample: &Sample) -> f64 {
    sample[CPU_TIME] / 1e9
}

/// What a variant cost, if it ran.
pub fn cost(costs: &Costs, variant: Variant) -> Option<Cost> {
    costs.get(&variant)?.as_ref().ok().copied()
}

impl ProgramCosts {
    /// Time of one variant divided by that of another.
    pub fn time_ratio(&self, a: Variant, b: Variant) -> Option<f64> {
        Some(cost(&self.runs, a)?.seconds / cost(&self.runs, b)?.seconds)
    }
    /// Peak memory of one variant divided by that of another.
    pub fn memory_ratio(&self, a: Variant, b: Variant) -> Option<f64> {
        Some(cost(&self.runs, a)?.bytes / cost(&self.runs, b)?.bytes)
    }
}

/// A program with its executables.
struct Prepared {
    program: &'static Program,
    sources: Vec<PathBuf>,
    arguments: Vec<String>,
    /// What it prints as clang compiles it; or why it does not.
    expected: Result<String, Failed>,
    executables: BTreeMap<Variant, Result<PathBuf, Failed>>,
}

impl Prepared {
    fn variants<'a>(&'a self, all: &'a [Variant]) -> impl Iterator<Item = Variant> + 'a {
        all.iter().copied().filter(|v| self.program.is_ours() || *v != Variant::Hand)
    }

    fn executable(&self, variant: Variant) -> &Result<PathBuf, Failed> {
        &self.executables[&variant.executable()]
    }
}

/// Measures everything.
pub fn measure(lab: &mut Lab) -> Result<Measured, String> {
    let chosen = chosen(lab)?;
    let variants: Vec<Variant> = VARIANTS.into_iter().filter(|v| v.is_there()).collect();
    if tool("clang-19").is_none() {
        return Err("there is no clang-19, with which C is compiled: `./cairn cc` installs it, or says how".into());
    }
    let prepared = prepare(lab, &chosen, &variants)?;
    let mut batch = Batch::default();
    for p in &prepared {
        for v in p.variants(&variants) {
            batch.add(&p.program.label(), v, p.executable(v), &p.arguments, &p.expected);
        }
    }
    let mut costs = batch.measure(lab)?;
    let builds = prepared.iter().map(|p| builds(lab, p)).collect::<Result<Vec<_>, _>>()?;
    let figures: Vec<Variant> = variants.iter().copied().filter(|v| !v.is_short()).collect();
    let lengths = lengths(lab, &prepared, &figures)?;
    let programs = prepared.iter().zip(builds).map(|(p, builds)| {
        let (runs, rest) = std::mem::take(&mut costs).split_at_variants(p.variants(&variants).count());
        costs = rest;
        ProgramCosts { program: p.program, runs, builds, pools: pools(lab, p) }
    });
    let programs = programs.collect();
    Ok(Measured { suite: lab.suite.is_some(), variants: figures, programs, lengths })
}

/// Costs in the order in which cells were added.
#[derive(Default)]
struct InOrder(Vec<(Variant, Result<Cost, Failed>)>);

impl InOrder {
    fn split_at_variants(mut self, n: usize) -> (Costs, InOrder) {
        let rest = self.0.split_off(n);
        (self.0.into_iter().collect(), InOrder(rest))
    }
}

/// Cells that are measured together, in alternation; those that could not be built or checked have failed already.
#[derive(Default)]
struct Batch {
    order: Vec<(Variant, Result<usize, Failed>)>,
    cells: Vec<Cell>,
}

impl Batch {
    fn add(
        &mut self,
        name: &str,
        variant: Variant,
        executable: &Result<PathBuf, Failed>,
        arguments: &[String],
        expected: &Result<String, Failed>,
    ) {
        let cell = executable.clone().and_then(|file| {
            let run = variant.run(&file, arguments, Some(expected.as_ref().map_err(Clone::clone)?));
            self.cells.push(Cell { name: format!("{name}, {}", variant.name()), run });
            Ok(self.cells.len() - 1)
        });
        self.order.push((variant, cell));
    }

    fn measure(self, lab: &mut Lab) -> Result<InOrder, String> {
        let samples = lab.measure(&self.cells, REPETITIONS)?;
        let cost = |cell: Result<usize, Failed>| Ok(Cost::of(samples[cell?].as_ref().map_err(Clone::clone)?));
        Ok(InOrder(self.order.into_iter().map(|(variant, cell)| (variant, cost(cell))).collect()))
    }
}

/// The programs that were asked for and whose text is there.
fn chosen(lab: &Lab) -> Result<Vec<&'static Program>, String> {
    if let Some(suite) = &lab.suite
        && !suite.join("MultiSource/Benchmarks").is_dir()
    {
        return Err(format!(
            "{} is no checkout of the llvm-test-suite: it has no MultiSource/Benchmarks",
            suite.display()
        ));
    }
    let here = |p: &&Program| p.is_ours() || lab.suite.is_some();
    let chosen: Vec<&Program> = PROGRAMS.iter().filter(here).filter(|p| lab.only.wants(p.name)).collect();
    if chosen.is_empty() {
        return Err(format!(
            "{} is a program of the llvm-test-suite: name a checkout with --suite",
            lab.only.0.join(", ")
        ));
    }
    Ok(chosen)
}

/// Builds the programs, and learns what they print.
fn prepare(lab: &mut Lab, programs: &[&'static Program], variants: &[Variant]) -> Result<Vec<Prepared>, String> {
    let bar = lab.progress(programs.len());
    let mut all = Vec::new();
    for program in programs {
        bar.set_message(format!("building {}", program.label()));
        let folder = program.folder(&lab.root, lab.suite.as_deref());
        let sources = program.sources(&folder)?;
        let arguments = program.arguments(lab.quick, &folder);
        let mut p = Prepared {
            program,
            sources,
            arguments,
            expected: Err(Failed("not built".into())),
            executables: BTreeMap::new(),
        };
        let own: Vec<Variant> = p.variants(variants).filter(|v| v.executable() == *v).collect();
        for v in own {
            let executable = build(lab, &p, v).map_err(Failed);
            p.executables.insert(v, executable);
        }
        let run = p.executable(Variant::Malloc).clone();
        p.expected =
            run.and_then(|file| lab.output(&Variant::Malloc.run(&file, &p.arguments, None)).map_err(Failed));
        all.push(p);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(all)
}

fn build(lab: &mut Lab, p: &Prepared, variant: Variant) -> Result<PathBuf, String> {
    let compiler = variant.compiler(&lab.cairn);
    let name = format!("{}-{}", p.program.label(), variant.name()).replace(' ', "-");
    let options = variant.options(p.program, &p.sources);
    // Built again when a source, a header or our compiler has changed.
    let folder = p.sources[0].parent().expect("a file").to_path_buf();
    let headers = std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    let headers = headers.filter(|f| f.extension().is_some_and(|e| e == "h"));
    let all = p.sources.iter().cloned().chain(headers).chain([PathBuf::from(&compiler)]);
    let youngest = all.max_by_key(|f| std::fs::metadata(f).and_then(|m| m.modified()).ok()).expect("some");
    let built = lab.build_by(&youngest, &name, |output| {
        let mut command = Command::new(&compiler);
        command.args(&options).arg("-o").arg(output);
        command
    });
    built.map_err(|why| format!("{}, {}: {why}", p.program.label(), variant.name()))
}

/// What building costs: each build once more in a quick study, and three times in a whole one.
fn builds(lab: &mut Lab, p: &Prepared) -> Result<BTreeMap<Variant, Build>, String> {
    let built = p.executables.iter().filter_map(|(v, file)| Some((*v, file.as_ref().ok()?.clone())));
    let built: Vec<(Variant, PathBuf)> = built.collect();
    let mut cells = Vec::new();
    for (variant, executable) in &built {
        let Some(compiler) = path_of(&variant.compiler(&lab.cairn)) else { continue };
        let mut run = Run::of(&compiler);
        let options = variant.options(p.program, &p.sources);
        run.arguments = options.iter().map(|o| o.to_string_lossy().into_owned()).collect();
        run.arguments.extend(["-o".into(), executable.with_extension("again").display().to_string()]);
        cells.push(Cell { name: format!("building {}, {}", p.program.label(), variant.name()), run });
    }
    let repetitions = if lab.quick { 1 } else { REPETITIONS };
    let samples = lab.measure(&cells, repetitions)?;
    let seconds = samples.into_iter().map(|s| s.ok().map(|s| Cost::of(&s).seconds));
    Ok(built
        .into_iter()
        .zip(seconds)
        .map(|((variant, file), seconds)| (variant, Build { seconds, code: code_size(&file) }))
        .collect())
}

fn path_of(program: &std::ffi::OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 { Some(path.into()) } else { tool(path.to_str()?) }
}

/// Bytes of code and constants, as `size` of binutils tells.
fn code_size(executable: &Path) -> Option<f64> {
    let output = Command::new("size").arg(executable).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().nth(1)?.split_whitespace().next()?.parse().ok()
}

/// How many pools the compiler reports, and how many of them have smaller pointers.
fn pools(lab: &Lab, p: &Prepared) -> Option<(usize, usize)> {
    let executable = p.executable(Variant::Static).as_ref().ok()?;
    let mut command = Command::new(&lab.cairn);
    command.args(Variant::Static.options(p.program, &p.sources)).arg("--report");
    let output = command.arg("-o").arg(executable.with_extension("again")).output().ok()?;
    output.status.success().then(|| count_pools(&String::from_utf8_lossy(&output.stderr)))
}

/// Lines "pool of struct tree at tree.c:12: 24 → 12 bytes, 2 pointers smaller ..." and "pool of arrays: int[] at ...".
fn count_pools(report: &str) -> (usize, usize) {
    let pools = || report.lines().filter(|l| l.starts_with("pool "));
    (pools().count(), pools().filter(|l| l.contains("pointers smaller")).count())
}

/// Figure 16: our llubench with lists of many lengths.
fn lengths(lab: &mut Lab, prepared: &[Prepared], variants: &[Variant]) -> Result<Vec<Length>, String> {
    let Some(p) = prepared.iter().find(|p| p.program.is_ours() && p.program.name == "llubench") else {
        return Ok(Vec::new());
    };
    let lengths: &[u32] = if lab.quick { &QUICK_LENGTHS } else { &LENGTHS };
    let mut batch = Batch::default();
    for length in lengths {
        let arguments = [length.to_string()];
        let expected = p
            .executable(Variant::Malloc)
            .clone()
            .and_then(|file| lab.output(&Variant::Malloc.run(&file, &arguments, None)).map_err(Failed));
        for v in p.variants(variants) {
            batch.add(&format!("lists of {length}"), v, p.executable(v), &arguments, &expected);
        }
    }
    let mut costs = batch.measure(lab)?;
    let count = p.variants(variants).count();
    Ok(lengths
        .iter()
        .map(|length| {
            let (runs, rest) = std::mem::take(&mut costs).split_at_variants(count);
            costs = rest;
            Length { length: f64::from(*length), runs }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_run_counts() {
        let sample = |user: f64, system: f64, peak: f64| -> Sample {
            [(CPU_TIME, user + system), ("process_peak_bytes", peak)]
                .map(|(name, value)| (name.to_string(), value))
                .into()
        };
        let cost = Cost::of(&[sample(3e9, 1e9, 7.0), sample(2e9, 1e9, 8.0), sample(1e9, 9e9, 9.0)]);
        assert_eq!(cost, Cost { seconds: 3.0, bytes: 7.0 });
    }

    #[test]
    fn pools_are_counted() {
        let report = "pool of struct n at a.c:1: 24 → 12 bytes, 2 pointers smaller [...]\n\
                      pool of arrays: int[] at a.c:2: layout stays, it has no pointer to a pool at a.c:2\n\
                      as before struct m at a.c:3: its address escapes to qsort at a.c:9\n";
        assert_eq!(count_pools(report), (2, 1));
    }

    #[test]
    fn time_for_an_element() {
        let runs = [(Variant::Pool, Ok(Cost { seconds: 1.0, bytes: 0.0 }))].into();
        let length = Length { length: 999.0, runs };
        // 100 lists × 999 × 1000 / 2 visits in a second.
        assert!((length.nanoseconds(Variant::Pool).unwrap() - 1e9 / 49_950_000.0).abs() < 1e-9);
        assert_eq!(length.nanoseconds(Variant::Static), None);
    }
}
