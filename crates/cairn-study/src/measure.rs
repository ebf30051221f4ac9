//! One run of one executable: what it printed, what it cost.
//!
//! Costs come from three places: the clock around the process, the kernel's account of the process (`wait4`), and the
//! numbers that Cairn's runtime writes at its end (`CAIRN_STATS_FILE`). Names of the first two begin with `process_`.

use crate::sample::{Failed, Sample};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::{ResUse, Wait4};

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The executable.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables of its environment, besides ours.
    pub environment: Vec<(String, String)>,
    /// What it must print; `None`: anything.
    pub expected: Option<String>,
    /// Longer runs are ended and have failed.
    pub timeout: Duration,
    /// Count the instructions, under valgrind's callgrind: some fifty times slower, and always the same number. Of
    /// Cairn's executables, count as well what [`crate::compiled_code`] knows.
    pub count: bool,
}

/// The name of the value that [`Run::count`] adds.
pub const INSTRUCTIONS: &str = "process_instructions";

/// The name of the value that says how long processors worked for the process, in user and in system mode.
pub const CPU_TIME: &str = "process_cpu_ns";

impl Run {
    /// A run of an executable without arguments, which may print anything and take ten minutes.
    pub fn of(executable: &Path) -> Run {
        Run {
            executable: executable.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            expected: None,
            timeout: Duration::from_secs(600),
            count: false,
        }
    }

    /// What the system is asked to start; `counts` is the file that callgrind writes.
    fn command(&self, counts: &Path) -> Command {
        if !self.count {
            return Command::new(&self.executable);
        }
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no"]);
        command.args(["--compress-pos=no", "--compress-strings=no"]);
        command.arg(format!("--callgrind-out-file={}", counts.display())).arg(&self.executable);
        command
    }

    /// Runs it once. `scratch` is a file for the runtime's numbers.
    pub fn once(&self, scratch: &Path) -> Result<(Sample, String), Failed> {
        let _ = std::fs::remove_file(scratch);
        let counts = scratch.with_extension("callgrind");
        let mut command = self.command(&counts);
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        command.env("CAIRN_STATS_FILE", scratch);
        // Asked for its own group, the library forks. Otherwise the child borrows our memory until it is another
        // program, and the kernel counts what we hold as its peak; a fork holds those pages alone that we wrote.
        command.gid(rustix::process::getgid().as_raw());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().display().to_string();
        let cannot = |e: std::io::Error| Failed(format!("cannot run {program}: {e}"));
        let began = Instant::now();
        let mut child = command.spawn().map_err(cannot)?;
        let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        // The programs print a line, so pipes do not fill; errors may be longer, and are read beside.
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = err.read_to_end(&mut text);
            text
        });
        let deadline = Deadline::new(child.id(), self.timeout);
        let mut output = Vec::new();
        out.read_to_end(&mut output).map_err(cannot)?;
        let ResUse { status, rusage } = child.wait4().map_err(cannot)?;
        let wall = began.elapsed();
        let late = deadline.lift();
        let errors = errors.join().unwrap_or_default();
        if late {
            return Err(Failed(format!("not done after {} s", self.timeout.as_secs())));
        }
        if !status.success() {
            let errors = String::from_utf8_lossy(&errors);
            let why = errors.lines().next().map_or_else(|| describe(status), str::to_string);
            return Err(Failed(why));
        }
        let output = String::from_utf8_lossy(&output).into_owned();
        if self.expected.as_ref().is_some_and(|e| e.trim_end() != output.trim_end()) {
            return Err(Failed(format!("printed {:?}", output.trim_end())));
        }
        let mut sample = runtime_numbers(scratch);
        sample.insert("process_wall_ns".into(), wall.as_nanos() as f64);
        sample.insert("process_user_ns".into(), rusage.utime.as_nanos() as f64);
        sample.insert(CPU_TIME.into(), (rusage.utime + rusage.stime).as_nanos() as f64);
        sample.insert("process_peak_bytes".into(), rusage.maxrss as f64);
        if self.count {
            let counted = instructions(&counts);
            sample.extend(crate::compiled_code::counts(&self.executable, &counts));
            let _ = std::fs::remove_file(&counts);
            sample.insert(INSTRUCTIONS.into(), counted.ok_or_else(|| Failed("callgrind counted nothing".into()))?);
        }
        Ok((sample, output))
    }
}

fn describe(status: std::process::ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

/// The flat JSON object of integers that the runtime has written; empty when there is none.
fn runtime_numbers(file: &Path) -> Sample {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten();
    fields.filter_map(|(name, v)| Some((name.clone(), v.as_f64()?))).collect()
}

/// The sum that callgrind writes at the end of its file.
fn instructions(file: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().rev().find_map(|l| l.strip_prefix("totals: ")?.trim().parse().ok())
}

/// Ends a process that takes too long.
struct Deadline {
    done: std::sync::mpsc::Sender<()>,
    watcher: std::thread::JoinHandle<bool>,
}

impl Deadline {
    fn new(process: u32, after: Duration) -> Deadline {
        let (done, waiting) = std::sync::mpsc::channel();
        let watcher = std::thread::spawn(move || {
            let late = waiting.recv_timeout(after) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if late && let Some(pid) = rustix::process::Pid::from_raw(process as i32) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            late
        });
        Deadline { done, watcher }
    }
    /// The process has ended; was that our doing?
    fn lift(self) -> bool {
        let _ = self.done.send(());
        self.watcher.join().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, expected: Option<&str>, timeout: u64) -> Result<(Sample, String), Failed> {
        let run = Run {
            executable: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("GREETING".into(), "hello".into())],
            expected: expected.map(str::to_string),
            timeout: Duration::from_millis(timeout),
            count: false,
        };
        let scratch = std::env::temp_dir().join(format!(
            "cairn-study-{}-{}",
            std::process::id(),
            xxhash_rust::xxh3::xxh3_64(script.as_bytes())
        ));
        let result = run.once(&scratch);
        let _ = std::fs::remove_file(scratch);
        result
    }

    #[test]
    fn numbers_of_the_runtime_and_of_the_process() {
        let (sample, output) =
            shell("echo $GREETING; echo '{ \"minor\": 7 }' > $CAIRN_STATS_FILE", Some("hello"), 10_000).unwrap();
        assert_eq!(output, "hello\n");
        assert_eq!(sample["minor"], 7.0);
        assert!(sample["process_wall_ns"] > 0.0 && sample[CPU_TIME] >= sample["process_user_ns"]);
        assert!(sample["process_peak_bytes"] > 1e5);
    }

    #[test]
    fn instructions_are_counted_and_do_not_vary() {
        if crate::harness::tool("valgrind").is_none() {
            return;
        }
        let run = Run { count: true, ..Run::of(Path::new("/bin/true")) };
        let scratch = std::env::temp_dir().join(format!("cairn-study-{}-count", std::process::id()));
        let count = || run.once(&scratch).map(|(sample, _)| sample[INSTRUCTIONS]);
        // Start-up code looks at the environment and the clock of the system: a few instructions more or less.
        let (one, other) = (count().unwrap(), count().unwrap());
        assert!(one > 1e4 && (one / other - 1.0).abs() < 0.01, "{one} {other}");
    }

    #[test]
    fn failures_in_words() {
        assert_eq!(shell("echo no memory >&2; exit 3", None, 10_000), Err(Failed("no memory".into())));
        assert_eq!(shell("exit 3", None, 10_000), Err(Failed("exit status 3".into())));
        assert_eq!(shell("kill -9 $$", None, 10_000), Err(Failed("ended by signal 9".into())));
        assert_eq!(shell("echo 1", Some("2"), 10_000), Err(Failed("printed \"1\"".into())));
        assert_eq!(shell("exec sleep 60", None, 50), Err(Failed("not done after 0 s".into())));
    }
}
