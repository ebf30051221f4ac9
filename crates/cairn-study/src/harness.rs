//! Programs × configurations: built, run, repeated, kept.
//!
//! A [`Lab`] has a directory. In it lie the executables, and `results.jsonl`: a line for each run, written at its end.
//! A study that was interrupted, or is asked for again, finds there what it has measured. A result belongs to the
//! fingerprint of what was run: the executable's bytes, the arguments, the environment and the repetition.

use crate::measure::Run;
use crate::sample::{Failed, Sample};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use xxhash_rust::xxh3::Xxh3;

/// What a run gave.
pub type Outcome = Result<Sample, Failed>;

/// A cell of an experiment: what is run, and what it is called on the progress bar.
pub struct Cell {
    /// For people: `life, mcc, 4 × smallest`.
    pub name: String,
    /// What is run.
    pub run: Run,
}

/// Names of the programs to measure; none: all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice(pub Vec<String>);

impl Choice {
    /// Was nothing chosen?
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Is this program to be measured?
    pub fn wants(&self, name: &str) -> bool {
        self.is_all() || self.0.iter().any(|chosen| chosen == name)
    }

    /// An error that names the known programs if one was chosen that is none of them.
    pub fn check<'k>(&self, known: impl IntoIterator<Item = &'k str>) -> Result<(), String> {
        let known: BTreeSet<&str> = known.into_iter().collect();
        match self.0.iter().find(|name| !known.contains(name.as_str())) {
            Some(unknown) => {
                let known: Vec<&str> = known.into_iter().collect();
                Err(format!("there is no program {unknown}; there are {}", known.join(", ")))
            }
            None => Ok(()),
        }
    }

    /// What was chosen among these; `None` when that is nothing, although something was chosen.
    pub fn among(&self, known: &[&str]) -> Option<Choice> {
        let chosen: Vec<String> = self.0.iter().filter(|name| known.contains(&name.as_str())).cloned().collect();
        (self.is_all() || !chosen.is_empty()).then_some(Choice(chosen))
    }
}

/// Where a study measures.
pub struct Lab {
    /// The compiler.
    pub cairn: PathBuf,
    /// The root of the source tree, for programs.
    pub root: PathBuf,
    /// A study of two minutes.
    pub quick: bool,
    /// The programs to measure.
    pub only: Choice,
    /// A checkout of the public llvm-test-suite, for C programs that are not ours.
    pub suite: Option<PathBuf>,
    directory: PathBuf,
    results: HashMap<u128, Outcome>,
    log: File,
    executables: HashMap<PathBuf, u64>,
    visible: bool,
}

impl Lab {
    /// A lab in a directory, which is made; `fresh` forgets what was measured there.
    pub fn new(cairn: &Path, root: &Path, directory: &Path, quick: bool, fresh: bool) -> Result<Lab, String> {
        let failed = |e: std::io::Error| format!("cannot use {}: {e}", directory.display());
        fs::create_dir_all(directory.join("bin")).map_err(failed)?;
        let file = directory.join("results.jsonl");
        if fresh {
            let _ = fs::remove_file(&file);
        }
        let results = fs::read_to_string(&file).unwrap_or_default();
        let results: HashMap<_, _> = results.lines().filter_map(parse).collect();
        let mut log = OpenOptions::new().create(true).append(true).open(&file).map_err(failed)?;
        // A line that an interrupt cut off must not join the next.
        log.write_all(b"\n").map_err(failed)?;
        Ok(Lab {
            cairn: cairn.into(),
            root: root.into(),
            quick,
            only: Choice::default(),
            suite: None,
            directory: directory.into(),
            results,
            log,
            executables: HashMap::new(),
            visible: true,
        })
    }

    /// No progress bar.
    pub fn silent(mut self) -> Lab {
        self.visible = false;
        self
    }

    /// Compiles a program to `bin/NAME`, unless the executable there is younger than the compiler, the program, and the
    /// files beside it, which it may include.
    pub fn build(&mut self, program: &Path, options: &[String], name: &str) -> Result<PathBuf, String> {
        self.built(program, options, name)
    }

    fn built(&self, program: &Path, options: &[String], name: &str) -> Result<PathBuf, String> {
        let executable = self.directory.join("bin").join(name);
        if modified(&executable) > modified_beside(program).max(modified(&self.cairn)) {
            return Ok(executable);
        }
        let mut command = Command::new(&self.cairn);
        command.arg("build").args(options).arg(program).arg("-o").arg(&executable);
        succeed(command, program)?;
        Ok(executable)
    }

    /// Compiles a program by another compiler, to `bin/NAME`, unless the executable there is younger than the program
    /// and the files beside it: `command` is asked for the command that writes the executable to the path it is given.
    pub fn build_by(
        &mut self,
        program: &Path,
        name: &str,
        command: impl FnOnce(&Path) -> Command,
    ) -> Result<PathBuf, String> {
        let executable = self.directory.join("bin").join(name);
        if modified(&executable) <= modified_beside(program) {
            succeed(command(&executable), program)?;
        }
        Ok(executable)
    }

    /// Compiles a program as [`Lab::build_by`] does, in a copy of its folder: other compilers leave files beside what
    /// they read, and Gambit finds none whose path has a space. `command` is given names in the copy, where it runs:
    /// that of the program, and that of the executable.
    pub fn build_in_copy(
        &mut self,
        program: &Path,
        name: &str,
        command: impl FnOnce(&Path, &Path) -> Command,
    ) -> Result<PathBuf, String> {
        let executable = self.directory.join("bin").join(name);
        if modified(&executable) > modified_beside(program) {
            return Ok(executable);
        }
        let failed = |e: std::io::Error| format!("cannot copy {}: {e}", program.display());
        let folder = self.directory.join("copies").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(failed)?;
        for file in files_beside(program) {
            fs::copy(&file, folder.join(file.file_name().expect("a file"))).map_err(failed)?;
        }
        let (source, built) = (Path::new(program.file_name().expect("a file")), Path::new("built"));
        let mut command = command(source, built);
        command.current_dir(&folder);
        succeed(command, program)?;
        fs::rename(folder.join(built), &executable).map_err(failed)?;
        let _ = fs::remove_dir_all(&folder);
        Ok(executable)
    }

    /// A text for another system, as `bin/STEM_HASH.SUFFIX`: another text is another file, so that what is known of
    /// runs that read it (which a fingerprint does not see) is known of this text.
    pub fn write(&self, stem: &str, suffix: &str, text: &str) -> Result<PathBuf, String> {
        let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
        let path = self.directory.join("bin").join(format!("{}_{hash:016x}.{suffix}", stem.replace('-', "_")));
        if !path.exists() {
            fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        }
        Ok(path)
    }

    /// Compiles programs as [`Lab::build`] does, several at once: each is program, options and name.
    pub fn build_all(&mut self, all: &[(PathBuf, Vec<String>, String)]) -> Result<Vec<PathBuf>, String> {
        let bar = self.progress(all.len());
        let this = &*self;
        let built = at_once(all, |(program, options, name)| {
            bar.set_message(format!("building {name}"));
            let built = this.built(program, options, name);
            bar.inc(1);
            built
        });
        bar.finish_and_clear();
        built.into_iter().collect()
    }

    /// Runs of which only what is counted matters, no time: several at once, each once.
    pub fn count(&mut self, cells: &[Cell]) -> Result<Vec<Outcome>, String> {
        self.examine(cells, "", |run, scratch| run.once(scratch).map(|(sample, _)| sample))
    }

    /// Runs that are looked at in another way, which has a name: several at once, each once. `examine` gets a file of
    /// its own.
    pub fn examine(
        &mut self,
        cells: &[Cell],
        way: &str,
        examine: impl Fn(&Run, &Path) -> Outcome + Sync,
    ) -> Result<Vec<Outcome>, String> {
        let bar = self.progress(cells.len());
        let keys = cells.iter().map(|c| self.fingerprint(&c.run, 0)).collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<u128> = keys.into_iter().map(|key| key ^ of_way(way)).collect();
        let numbered: Vec<usize> = (0..cells.len()).collect();
        let this = Mutex::new(&mut *self);
        let outcomes = at_once(&numbered, |&i| {
            let (cell, key) = (&cells[i], keys[i]);
            bar.set_message(cell.name.clone());
            let locked = || this.lock().unwrap_or_else(PoisonError::into_inner);
            let known = locked().results.get(&key).cloned();
            let outcome = match known {
                Some(known) => Ok(known),
                None => {
                    let scratch = locked().directory.join(format!("stats-{i}.json"));
                    let outcome = examine(&cell.run, &scratch);
                    let _ = fs::remove_file(scratch);
                    locked().keep(key, outcome)
                }
            };
            bar.inc(1);
            outcome
        });
        bar.finish_and_clear();
        outcomes.into_iter().collect()
    }

    /// One run, or what is known of it.
    pub fn once(&mut self, run: &Run, repetition: usize) -> Result<Outcome, String> {
        let key = self.fingerprint(run, repetition)?;
        if let Some(known) = self.results.get(&key) {
            return Ok(known.clone());
        }
        let outcome = run.once(&self.directory.join("stats.json")).map(|(sample, _)| sample);
        self.keep(key, outcome)
    }

    /// Writes down what a run gave.
    fn keep(&mut self, key: u128, outcome: Outcome) -> Result<Outcome, String> {
        let line = match &outcome {
            Ok(sample) => json!({ "key": format!("{key:032x}"), "values": sample }),
            Err(Failed(why)) => json!({ "key": format!("{key:032x}"), "failed": why }),
        };
        writeln!(self.log, "{line}").map_err(|e| format!("cannot write results: {e}"))?;
        self.results.insert(key, outcome.clone());
        Ok(outcome)
    }

    /// What the program prints.
    pub fn output(&self, run: &Run) -> Result<String, String> {
        run.once(&self.directory.join("stats.json")).map(|(_, output)| output).map_err(|Failed(why)| why)
    }

    /// Runs all cells so often, in alternation. A cell that failed is not tried again: its samples are the failure.
    pub fn measure(
        &mut self,
        cells: &[Cell],
        repetitions: usize,
    ) -> Result<Vec<Result<Vec<Sample>, Failed>>, String> {
        let bar = self.progress(cells.len() * repetitions);
        let mut samples: Vec<Result<Vec<Sample>, Failed>> = cells.iter().map(|_| Ok(Vec::new())).collect();
        for repetition in 0..repetitions {
            for (cell, samples) in cells.iter().zip(&mut samples) {
                bar.set_message(cell.name.clone());
                if let Ok(so_far) = samples {
                    match self.once(&cell.run, repetition)? {
                        Ok(sample) => so_far.push(sample),
                        Err(failed) => *samples = Err(failed),
                    }
                }
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(samples)
    }

    /// A progress bar for so many steps; nothing where nobody looks.
    pub fn progress(&self, steps: usize) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(
            Some(steps as u64),
            if self.visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
        );
        let style =
            ProgressStyle::with_template("{bar:32} {pos}/{len}  {eta} left  {msg}").expect("a valid template");
        bar.with_style(style)
    }

    fn fingerprint(&mut self, run: &Run, repetition: usize) -> Result<u128, String> {
        let content = match self.executables.get(&run.executable) {
            Some(&hash) => hash,
            None => {
                let bytes = fs::read(&run.executable)
                    .map_err(|e| format!("cannot read {}: {e}", run.executable.display()))?;
                let hash = xxhash_rust::xxh3::xxh3_64(&bytes);
                self.executables.insert(run.executable.clone(), hash);
                hash
            }
        };
        let mut hash = Xxh3::new();
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(&content.to_le_bytes());
        part(&(repetition as u64).to_le_bytes());
        part(&[u8::from(run.count)]);
        run.arguments.iter().for_each(|a| part(a.as_bytes()));
        part(b"environment");
        run.environment.iter().for_each(|(name, value)| {
            part(name.as_bytes());
            part(value.as_bytes());
        });
        Ok(hash.digest128())
    }
}

/// What distinguishes the fingerprints of a way of looking at runs; nothing for the ordinary one.
fn of_way(way: &str) -> u128 {
    if way.is_empty() { 0 } else { xxhash_rust::xxh3::xxh3_128(way.as_bytes()) }
}

/// Does jobs on as many processors as there are; results are in the order of the jobs.
fn at_once<T: Sync, R: Send>(jobs: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { return done };
            done.push((i, work(job)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(share)).collect();
        started.into_iter().flat_map(|t| t.join().expect("a worker does not panic")).collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

/// The program of that name in the directories of `PATH`: a peer, or a tool, that may or may not be there.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|p| p.is_file())
}

/// When a file was written; the beginning of time if it is not there.
fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// When the youngest of the files in a file's directory was written.
fn modified_beside(path: &Path) -> SystemTime {
    files_beside(path).map(|file| modified(&file)).max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The files in a file's directory, itself included.
fn files_beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    let beside = path.parent().and_then(|directory| fs::read_dir(directory).ok());
    beside.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).filter(|file| file.is_file())
}

/// Runs a compiler.
fn succeed(mut command: Command, program: &Path) -> Result<(), String> {
    let compiler = command.get_program().to_os_string();
    // Gambit reads the names of files by the locale, of which it knows this variable only.
    command.env("LANG", "C.UTF-8");
    let output = command.output().map_err(|e| format!("cannot run {}: {e}", compiler.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("cannot build {}: {}", program.display(), errors.trim_end()))
}

/// A line of `results.jsonl`.
fn parse(line: &str) -> Option<(u128, Outcome)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let key = u128::from_str_radix(value["key"].as_str()?, 16).ok()?;
    if let Some(why) = value["failed"].as_str() {
        return Some((key, Err(Failed(why.into()))));
    }
    let values = value["values"].as_object()?;
    let sample = values.iter().map(|(name, v)| Some((name.clone(), v.as_f64()?))).collect::<Option<Sample>>()?;
    Some((key, Ok(sample)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn shell(script: &str) -> Run {
        Run {
            executable: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![],
            expected: None,
            timeout: Duration::from_secs(10),
            count: false,
        }
    }

    struct Place(PathBuf);
    impl Place {
        fn new(name: &str) -> Place {
            let path = std::env::temp_dir().join(format!("cairn-study-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Place(path)
        }
        fn lab(&self, fresh: bool) -> Lab {
            Lab::new(Path::new("cairn"), Path::new("/"), &self.0, true, fresh).unwrap().silent()
        }
        fn runs(&self) -> usize {
            fs::read_to_string(self.0.join("ran")).map_or(0, |t| t.len())
        }
    }
    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn another_compiler_sees_no_path_and_leaves_nothing_beside_the_source() {
        let place = Place::new("copy");
        let mut lab = place.lab(true);
        let folder = place.0.join("ein Klon");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("p.x"), "program").unwrap();
        fs::write(folder.join("included.x"), ", included").unwrap();
        // It reads a file beside the program, leaves one there, and splits what it is told at spaces.
        let script = "set -- $0 $1; cat \"$1\" included.x >\"$2\"; touch \"$1.o\"";
        let build = |source: &Path, built: &Path| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).arg(source).arg(built);
            command
        };
        let built = lab.build_in_copy(&folder.join("p.x"), "p", build).unwrap();
        assert_eq!(fs::read_to_string(built).unwrap(), "program, included");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }

    #[test]
    fn a_study_resumes_where_it_was_interrupted() {
        let place = Place::new("resume");
        let script = format!("printf x >> '{}/ran'; echo '{{\"n\": 5}}' > $CAIRN_STATS_FILE", place.0.display());
        let cells = || vec![Cell { name: "a".into(), run: shell(&script) }];
        assert_eq!(place.lab(false).measure(&cells(), 2).unwrap()[0].as_ref().unwrap()[1]["n"], 5.0);
        assert_eq!(place.runs(), 2);
        // The last line is cut in the middle, as by a kill.
        let file = place.0.join("results.jsonl");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, &text[..text.len() - 10]).unwrap();
        assert_eq!(place.lab(false).measure(&cells(), 3).unwrap()[0].as_ref().unwrap().len(), 3);
        assert_eq!(place.runs(), 4, "the run that was lost, and a third");
        place.lab(false).measure(&cells(), 3).unwrap();
        assert_eq!(place.runs(), 4);
        place.lab(true).measure(&cells(), 1).unwrap();
        assert_eq!(place.runs(), 5, "a fresh study forgets");
    }

    #[test]
    fn cells_alternate_and_a_failed_one_is_left_alone() {
        let place = Place::new("alternate");
        let say = |c: &str, status: u8| Cell {
            name: c.into(),
            run: shell(&format!("printf {c} >> '{}/ran'; exit {status}", place.0.display())),
        };
        let results = place.lab(false).measure(&[say("a", 0), say("b", 1), say("c", 0)], 2).unwrap();
        assert_eq!(fs::read_to_string(place.0.join("ran")).unwrap(), "abcac");
        assert_eq!(results[1], Err(Failed("exit status 1".into())));
        assert_eq!(results[2].as_ref().unwrap().len(), 2);
    }

    #[test]
    fn what_is_only_counted_runs_at_once_and_is_kept() {
        let place = Place::new("at-once");
        let cell = |n: usize| Cell {
            name: n.to_string(),
            run: shell(&format!(
                "printf x >> '{}/ran'; echo '{{\"n\": {n}}}' > $CAIRN_STATS_FILE; exit $(({n} == 3))",
                place.0.display()
            )),
        };
        let cells: Vec<Cell> = (0..7).map(cell).collect();
        for _ in 0..2 {
            let outcomes = place.lab(false).count(&cells).unwrap();
            for (n, outcome) in outcomes.iter().enumerate() {
                match outcome {
                    Ok(sample) => assert_eq!(sample["n"], n as f64),
                    Err(why) => assert_eq!((n, why), (3, &Failed("exit status 1".into()))),
                }
            }
            assert_eq!(place.runs(), 7, "the second time, all is known");
        }
    }

    #[test]
    fn another_text_is_another_file() {
        let place = Place::new("text");
        let lab = place.lab(false);
        let write = |text| lab.write("a-b", "ml", text).unwrap();
        assert_eq!(fs::read_to_string(write("1")).unwrap(), "1");
        assert_eq!(write("1"), write("1"));
        assert_ne!(write("1"), write("2"));
        assert!(write("1").file_name().unwrap().to_str().unwrap().starts_with("a_b_"));
    }

    #[test]
    fn programs_are_chosen_by_name() {
        let (all, one) = (Choice::default(), Choice(vec!["b".into()]));
        assert!(all.wants("a") && all.is_all() && one.wants("b") && !one.wants("a") && !one.is_all());
        assert_eq!(all.check(["a"]), Ok(()));
        assert_eq!(one.check(["a", "b"]), Ok(()));
        assert_eq!(one.check(["c", "a", "a"]), Err("there is no program b; there are a, c".into()));
        assert_eq!(one.among(&["a", "b"]), Some(one.clone()));
        assert_eq!(one.among(&["a"]), None);
        assert_eq!(all.among(&["a"]), Some(all.clone()));
    }

    #[test]
    fn another_environment_is_another_cell() {
        let place = Place::new("environment");
        let mut lab = place.lab(false);
        let run = shell("exit 0");
        let mut other = run.clone();
        other.environment.push(("A".into(), "1".into()));
        let counted = Run { count: true, ..run.clone() };
        let keys = [(&run, 0), (&run, 1), (&other, 0), (&counted, 0)].map(|(r, n)| lab.fingerprint(r, n).unwrap());
        assert!(keys[1..].iter().all(|k| *k != keys[0]));
        assert_eq!(lab.fingerprint(&run, 0).unwrap(), keys[0]);
    }
}
