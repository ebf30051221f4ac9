//! Whole programs (`generate/whole.rs`) in every way that people run them: all must answer alike.
//!
//! Starting Cairn and compiling the library cost more than a program does, so a *batch* of programs is one text; their
//! names are apart, and their tests are numbered. What differs is looked for among the programs of the batch, then made
//! small by leaving out forms and parts of forms.
//!
//! `cargo test` tries a batch. `CAIRN_FUZZ_SECONDS=600` goes on for so long, from the seed `CAIRN_FUZZ_SEED` on;
//! `CAIRN_FUZZ_KEEP=directory` keeps what was found, `CAIRN_FUZZ_BATCH=400` makes larger batches, and
//! `CAIRN_FUZZ_CHEAP=1` takes none but ways in which nothing is compiled beforehand: so hundreds of programs run in a
//! second. `CAIRN_FUZZ_PEERS=1` compares with other systems, too (`peers.rs`).

#[path = "peers.rs"]
mod peers;

use super::common::matrix::{Configuration, pairs};
use super::common::{Directory, binary};
use super::{generate, number, patiently, shrink};

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Programs of a batch.
fn batch() -> usize {
    number("CAIRN_FUZZ_BATCH").map_or(12, |n| n as usize)
}

/// The level at which nothing is compiled before it is hot.
const EVALUATED: &str = "auto";

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Way {
    /// As a whole, under these options.
    Run(Configuration),
    /// Evaluated, and compiled where it is hot.
    Evaluated,
    /// Evaluated, and compiled after so many entries of its procedures, which is waited for (`CAIRN_HASTE`).
    Hasty(u32),
    /// Typed at the prompt, likewise.
    HastyPrompt(u32),
    /// Each program a file that is loaded.
    Load,
    /// As an executable.
    Built,
    /// As an executable that loads each program, with native code for them.
    BuiltLoad,
    /// Typed at the prompt, form by form.
    Prompt,
    /// The definitions of each program in a library of its own, at this level of optimization.
    Libraries(&'static str),
    /// Each form given to `eval`.
    Eval,
}

impl Way {
    fn all(seed: u64, early: bool) -> Vec<Way> {
        if number("CAIRN_FUZZ_CHEAP").is_some() {
            let mut ways = vec![Way::Evaluated, Way::Libraries(EVALUATED)];
            if !early {
                ways.extend([Way::Prompt, Way::Load, Way::Eval]);
            }
            return ways;
        }
        let low = Configuration { opt: "low", ..Configuration::usual() };
        let mut ways = vec![Way::Run(Configuration::usual()), Way::Run(low), Way::Evaluated, Way::Built];
        // the points of the transitions differ from batch to batch
        let entries = [1, 2, 5, 17, 60, 250, 1000][seed as usize % 7];
        ways.extend([Way::Hasty(entries), Way::Libraries("high")]);
        if !early {
            ways.extend([Way::Prompt, Way::HastyPrompt(entries), Way::Eval, Way::Load, Way::BuiltLoad]);
        }
        let others: Vec<Configuration> = pairs().skip(1).collect();
        ways.push(Way::Run(others[seed as usize % others.len()]));
        ways
    }

    fn name(self) -> String {
        match self {
            Way::Run(c) => c.name(),
            other => format!("{other:?}"),
        }
    }
}

/// A program: its forms after the prelude.
type Forms = Vec<String>;

fn whole_text(programs: &[Forms]) -> String {
    let all: Vec<&str> = programs.iter().flatten().map(String::as_str).collect();
    format!("{}{}\n", generate::PRELUDE, all.join("\n"))
}

/// The imports of the prelude, and the rest of it.
fn prelude() -> (&'static str, &'static str) {
    generate::PRELUDE.split_at(generate::PRELUDE.find("(define-record-type").expect("imports come first"))
}

/// The prelude as a library, and each program as one that it runs in.
fn libraries_text(programs: &[Forms]) -> String {
    let (imports, definitions) = prelude();
    let exports = "point make-point point? point-x set-point-x! point-y pixel? pixel-x pixel-c set-pixel-c! make-pixel \
                   clamp note depth width show describe attempt observe test";
    let mut text = format!("(define-library (prelude) (export {exports}) {imports} (begin {definitions}))\n");
    for (i, forms) in programs.iter().enumerate() {
        text += &format!(
            "(define-library (program {i}) {imports} (import (prelude)) (begin\n{}))\n",
            forms.join("\n")
        );
    }
    text += "(import (scheme base))";
    (0..programs.len()).for_each(|i| text += &format!("(import (program {i}))"));
    text
}

/// Each form is data for `eval`, in an environment where definitions are possible.
fn eval_text(programs: &[Forms]) -> String {
    let (imports, definitions) = prelude();
    let all: Vec<&str> = programs.iter().flatten().map(String::as_str).collect();
    format!(
        "(import (scheme base) (scheme eval) (scheme repl))
         (define there (interaction-environment))
         (for-each (lambda (form) (eval form there)) '({imports} {definitions} {}))\n",
        all.join("\n")
    )
}

/// Loads the prelude, and each program, from files that it writes.
fn load_text(directory: &Path, programs: &[Forms]) -> String {
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    write("prelude.scm", generate::PRELUDE);
    let mut text = "(load \"prelude.scm\")\n".to_string();
    for (i, forms) in programs.iter().enumerate() {
        write(&format!("part-{i}.scm"), &forms.join("\n"));
        text += &format!("(load \"part-{i}.scm\")\n");
    }
    text
}

/// The lines that the prelude writes, of what came out: at the prompt, there may be others.
fn observations(out: &str) -> String {
    let ours = |l: &&str| {
        let mut rest = l.strip_prefix('(').unwrap_or_default().chars();
        matches!(rest.next(), Some('0'..='9' | 'g')) && rest.next().is_some_and(|c| c.is_ascii_digit() || c == ' ')
    };
    out.lines().filter(ours).map(|l| format!("{l}\n")).collect()
}

/// What the programs write, run in this way, and how that ends.
fn observe(shop: &Directory, way: Way, programs: &[Forms]) -> String {
    let directory = shop.0.join(way.name().chars().filter(char::is_ascii_alphanumeric).collect::<String>());
    std::fs::create_dir_all(&directory).unwrap();
    let text = match way {
        Way::Libraries(_) => libraries_text(programs),
        Way::Eval => eval_text(programs),
        Way::Load | Way::BuiltLoad => load_text(&directory, programs),
        _ => whole_text(programs),
    };
    let file = directory.join("program.scm");
    std::fs::write(&file, &text).unwrap();
    let mut cairn = patiently();
    cairn.arg(binary()).current_dir(&directory).env("CAIRN_CACHE_DIR", shop.0.join("cache"));
    cairn.env("CAIRN_LLVM", "none");
    let usual = "--heap-max=512M";
    match way {
        Way::Run(c) => cairn.arg("run").arg(usual).args(super::without_llvm(c)).arg(&file),
        Way::Evaluated | Way::Eval | Way::Load => cairn.arg("run").arg(usual).arg(&file),
        Way::Hasty(n) => cairn.arg("run").arg(usual).arg(&file).env("CAIRN_HASTE", n.to_string()),
        Way::HastyPrompt(n) => cairn.arg("repl").arg(usual).env("CAIRN_HASTE", n.to_string()),
        Way::Libraries(opt) => cairn.arg("run").arg(format!("--opt={opt}")).arg(usual).arg(&file),
        Way::Built | Way::BuiltLoad => cairn.arg("build").arg(&file).args(["-o", "program"]),
        Way::Prompt => cairn.arg("repl").arg(usual),
    };
    let run = |mut command: Command, input: &str| {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_string();
        let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let _ = feeder.join().unwrap();
        output
    };
    let mut output = run(cairn, if matches!(way, Way::Prompt | Way::HastyPrompt(_)) { &text } else { "" });
    if matches!(way, Way::Built | Way::BuiltLoad) && output.status.success() {
        let mut built = patiently();
        built.arg(directory.join("program")).current_dir(&directory);
        output = run(built, "");
    }
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut seen = observations(&out);
    // a form may mean something else when its module is made; there is no other reason to do without
    let excused = |l: &&str| !l.contains("the form means something else") && !l.contains("cannot be followed");
    seen.extend(
        err.lines().filter(|l| l.starts_with("no native code: ")).filter(excused).map(|l| format!("{l}\n")),
    );
    match output.status.code() {
        Some(0) => seen,
        status => {
            let why = err.lines().find(|l| !l.is_empty() && !l.starts_with("warning")).unwrap_or("");
            format!("{seen}\n{why}\nstatus {}", status.map_or("killed".into(), |s| s.to_string()))
        }
    }
}

/// What the programs write in each of these ways, on two processors.
fn observe_all(shop: &Directory, ways: &[Way], programs: &[Forms]) -> Vec<(Way, String)> {
    let next = AtomicUsize::new(0);
    let seen = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(way) = ways.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let other = observe(shop, *way, programs);
                    seen.lock().unwrap().push((*way, other));
                }
            });
        }
    });
    seen.into_inner().unwrap()
}

/// The program of the batch that the first different line belongs to.
fn culprit<'p>(programs: &'p [Forms], left: &str, right: &str) -> Option<&'p Forms> {
    let differ = left.lines().zip(right.lines()).find(|(a, b)| a != b);
    let line = differ.map(|(a, _)| a).or_else(|| left.lines().nth(right.lines().count()));
    let tag = line?.trim_start_matches('(').split(' ').next()?.to_string();
    let test = [format!("(test {tag} "), format!("(observe '{tag} ")];
    programs.iter().find(|p| p.iter().any(|f| test.iter().any(|t| f.contains(t.as_str()))))
}

/// Tries a batch; the result describes a difference.
fn try_batch(seed: u64) -> Result<usize, String> {
    let mut generator = generate::Generator::new(seed);
    let early = seed.is_multiple_of(3);
    let (mut programs, mut tests) = (vec![], 0);
    for _ in 0..batch() {
        let (forms, n) = generator.whole(tests, early);
        programs.push(forms);
        tests += n;
    }
    let directory = Directory::new(&format!("ways-{seed}"));
    let ways = Way::all(seed, early);
    let first = observe(&directory, ways[0], &programs);
    if first.lines().count() < tests * super::INPUTS || first.contains("\nstatus ") {
        let text = whole_text(&programs);
        return Err(format!("seed {seed}: the programs do not run to their end:\n{first}\n{text}"));
    }
    // where memory ends depends on who makes what: nothing to compare
    if first.contains("out of memory") {
        return Ok(0);
    }
    for (way, other) in observe_all(&directory, &ways[1..], &programs) {
        if other == first {
            continue;
        }
        let pair = [ways[0], way];
        let differs = |programs: &[Forms]| {
            let [a, b] = pair.map(|w| observe(&directory, w, programs));
            a != b && !a.contains("\nstatus ")
        };
        let (left, right) = first.lines().zip(other.lines()).find(|(a, b)| a != b).unwrap_or(("…", "…"));
        eprintln!("seed {seed}: {} differs, making it smaller\n  {left}\n  {right}", way.name());
        let mut small = programs.clone();
        if let Some(one) = culprit(&programs, &first, &other)
            && differs(std::slice::from_ref(one))
        {
            small = vec![one.clone()];
        }
        let flat: Forms = small.concat();
        let small = vec![shrink::shrink(flat, |forms| differs(&[forms.to_vec()]))];
        let [a, b] = pair.map(|w| format!("{}:\n{}", w.name(), observe(&directory, w, &small)));
        let shown = small[0].join("\n");
        if let Some(kept) = std::env::var_os("CAIRN_FUZZ_KEEP") {
            let path = std::path::Path::new(&kept).join(format!("ways-{seed}.scm"));
            let _ = std::fs::write(path, whole_text(&small));
        }
        return Err(format!("seed {seed}: two ways differ\n--- {a}\n--- {b}\n--- after the prelude\n{shown}"));
    }
    let peers = peers::Peers::installed();
    if !early && !peers.is_empty() {
        let seen = peers.differences(&directory, &programs);
        if let Some(first) = seen.first() {
            eprintln!("seed {seed}: {} tests that no peer agrees with:\n{}", seen.len(), seen.join("\n"));
            let mut small = programs.clone();
            let differs = |programs: &[Forms]| !peers.differences(&directory, programs).is_empty();
            if let Some(one) = culprit(&programs, first.trim_start_matches("Cairn: "), "")
                && differs(std::slice::from_ref(one))
            {
                small = vec![one.clone()];
            }
            let small = shrink::shrink(small.concat(), |forms| differs(&[forms.to_vec()]));
            let seen = peers.differences(&directory, std::slice::from_ref(&small)).join("\n");
            let shown = small.join("\n");
            return Err(format!("seed {seed}: no peer agrees\n{seen}\n--- after the prelude\n{shown}"));
        }
    }
    Ok(programs.len())
}

#[test]
fn whole_programs_answer_alike_in_every_way() {
    let first = number("CAIRN_FUZZ_SEED").unwrap_or(1);
    let end = number("CAIRN_FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let (mut problems, mut tried, mut seed) = (vec![], 0, first);
    let start = Instant::now();
    while end.map_or(seed == first, |end| Instant::now() < end) {
        match try_batch(seed) {
            Ok(programs) => tried += programs,
            Err(problem) => {
                eprintln!("{problem}\n");
                problems.push(problem);
            }
        }
        seed += 1;
    }
    let rate = tried as f64 / start.elapsed().as_secs_f64();
    eprintln!("{tried} programs without a difference, {} with one, {rate:.1} a second", problems.len());
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
