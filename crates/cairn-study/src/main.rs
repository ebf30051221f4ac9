//! `cairn study`: runs studies, prints their tables, writes reports.

use cairn_study::harness::{Choice, Lab};
use cairn_study::studies::studies;
use cairn_study::study::Study;
use clap::{Arg, ArgAction, Command};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit status of wrong command-line use.
const USAGE: u8 = 2;

fn command() -> Command {
    let all = studies();
    let names: Vec<&'static str> = all.iter().map(|s| s.name()).collect();
    let list: String =
        all.iter().map(|s| format!("\n  {:<12} {}\n  {:<12} {}", s.name(), s.summary(), "", s.paper())).collect();
    Command::new("cairn study")
        .about(
            "Makes the experiments of the papers again, on this machine, and prints the published numbers beside",
        )
        .after_help(format!("Studies:{list}"))
        .arg(Arg::new("study").value_name("STUDY").value_parser(names).help("Which (default: all)"))
        .arg(
            Arg::new("quick")
                .long("quick")
                .action(ArgAction::SetTrue)
                .help("Less work and fewer runs: two minutes a study"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .default_value("study")
                .value_parser(clap::value_parser!(PathBuf))
                .help("Where reports go, and what was measured: an interrupted study goes on from there"),
        )
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("PROGRAM")
                .action(ArgAction::Append)
                .help("Measure only this program, in the studies that have it (may be given several times)"),
        )
        .arg(
            Arg::new("suite")
                .long("suite")
                .value_name("DIR")
                .value_parser(clap::value_parser!(PathBuf))
                .help("A checkout of the llvm-test-suite: compression measures its programs, too"),
        )
        .arg(Arg::new("fresh").long("fresh").action(ArgAction::SetTrue).help("Forget what was measured before"))
        .arg(
            Arg::new("cairn")
                .long("cairn")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("The compiler (default: the one beside this program)"),
        )
}

fn main() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(e) => {
            let _ = e.print();
            return if e.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    let chosen = matches.get_one::<String>("study");
    let directory: &PathBuf = matches.get_one("output").expect("has a default");
    let (quick, fresh) = (matches.get_flag("quick"), matches.get_flag("fresh"));
    let only = Choice(matches.get_many("only").unwrap_or_default().cloned().collect());
    let cairn = matches.get_one::<PathBuf>("cairn").cloned().unwrap_or_else(beside);
    let suite = match matches.get_one::<PathBuf>("suite").map(std::path::absolute).transpose() {
        Ok(suite) => suite,
        Err(e) => {
            eprintln!("cairn: --suite: {e}");
            return ExitCode::from(USAGE);
        }
    };
    let mut studies = studies();
    studies.retain(|s| chosen.is_none_or(|name| name == s.name()));
    if let Err(why) = only.check(studies.iter().flat_map(|s| s.programs())) {
        eprintln!("cairn: {why}");
        return ExitCode::from(USAGE);
    }
    for study in studies {
        let Some(only) = only.among(&study.programs()) else { continue };
        if let Err(why) = run(&*study, &cairn, directory, quick, fresh, only, suite.as_deref()) {
            eprintln!("cairn: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn beside() -> PathBuf {
    std::env::current_exe().map_or("cairn".into(), |me| me.with_file_name("cairn"))
}

/// The directory in which `benchmarks/papers` is: beside this program, where it was installed; or the source tree.
fn programs() -> PathBuf {
    let installed = std::env::current_exe().ok().and_then(|me| Some(me.parent()?.to_path_buf()));
    let installed = installed.filter(|directory| directory.join("benchmarks/papers").is_dir());
    installed.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

fn run(
    study: &dyn Study,
    cairn: &Path,
    directory: &Path,
    quick: bool,
    fresh: bool,
    only: Choice,
    suite: Option<&Path>,
) -> Result<(), String> {
    let root = programs();
    let kind = if quick { "quick" } else { "whole" };
    let mut lab =
        Lab::new(cairn, &root, &directory.join("measurements").join(study.name()).join(kind), quick, fresh)?;
    let chosen = only.0.clone();
    lab.only = only;
    lab.suite = suite.map(Path::to_path_buf);
    let began = std::time::Instant::now();
    let mut report = study.run(&mut lab)?;
    let mut conditions = machine();
    conditions
        .push(("time".into(), format!("{} s{}", began.elapsed().as_secs(), if quick { ", --quick" } else { "" })));
    conditions.append(&mut report.conditions);
    report.conditions = conditions;
    if !chosen.is_empty() {
        report.only_of(&chosen);
    }
    println!("{}", report.text());
    let page = report.write(directory)?;
    println!("report: {}", page.display());
    Ok(())
}

/// What the reader must know of the machine.
fn machine() -> Vec<(String, String)> {
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|l| l.starts_with(name)).and_then(|l| l.split_once(':'));
        line.map_or("unknown".to_string(), |(_, value)| value.trim().to_string())
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let memory =
        field("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse::<u64>().map_or(0, |kb| kb >> 20);
    let model = field("/proc/cpuinfo", "model name");
    vec![("machine".into(), format!("{model}, {processors} processors, {memory} GB"))]
}
