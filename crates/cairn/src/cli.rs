//! Command-line options: one table makes the flags, the `CAIRN_*` variables and `--help`.
//!
//! Wrong use is answered with what was wrong and the right form, exit status 2.

mod chosen;

use crate::said::{USAGE, failed, print};
use crate::version;
use cairn::{Pattern, Prompt, RunOptions, Stage, Tests};
use cairn_core::passes::Disabled;
use cairn_layout::facts;
pub use chosen::Compile;
use chosen::{compile_options, library_path, run_options};
use clap::builder::FalseyValueParser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The names of commands.
const COMMANDS: [&str; 15] = [
    "repl",
    "run",
    "build",
    "new",
    "test",
    "doc",
    "check",
    "fmt",
    "lsp",
    "explain",
    "prepare",
    "study",
    "cc",
    "completions",
    "manual",
];

/// What the user asked for.
pub enum Command {
    /// An interactive session.
    Repl {
        /// What it begins with.
        prompt: Prompt,
        /// The program's name and arguments.
        arguments: Vec<String>,
        /// How to compile.
        compile: Compile,
        /// How to run.
        run: RunOptions,
    },
    /// Compile in memory and run.
    Run {
        /// Program.
        file: PathBuf,
        /// The program's arguments.
        arguments: Vec<String>,
        /// How to compile.
        compile: Compile,
        /// How to run.
        run: RunOptions,
    },
    /// Make an executable.
    Build {
        /// Program.
        file: PathBuf,
        /// Executable, or shared library.
        output: PathBuf,
        /// A shared library?
        shared: bool,
        /// How to compile.
        compile: Compile,
    },
    /// Say what is wrong with programs and libraries.
    Check {
        /// They.
        files: Vec<PathBuf>,
        /// As JSON?
        json: bool,
        /// Where libraries are.
        compile: Compile,
    },
    /// Indent programs and libraries.
    Format {
        /// They.
        files: Vec<PathBuf>,
        /// Only say which are not as they should be?
        check: bool,
    },
    /// Serve an editor.
    Lsp {
        /// Where libraries are.
        library_path: Vec<PathBuf>,
    },
    /// Make a directory to begin in.
    New {
        /// Its path; the last part is the name.
        directory: PathBuf,
        /// For a library, without a program?
        library: bool,
    },
    /// Write a manual of libraries.
    Doc {
        /// Files and directories.
        paths: Vec<PathBuf>,
        /// Cairn's own library, too?
        own: bool,
        /// Where to.
        output: PathBuf,
        /// Where libraries are.
        compile: Compile,
    },
    /// Run test programs.
    Test {
        /// Which, and how.
        tests: Tests,
        /// How to compile.
        compile: Compile,
    },
    /// Make experiments: another program does.
    Study {
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// Compile C: all arguments are for that compiler.
    Cc {
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// Compile for a process that runs a program.
    Background,
    /// Compile the library beforehand: `./cairn` does it right after the binary.
    Prepare {
        /// How to compile.
        compile: Compile,
    },
    /// Print something about the command line itself.
    Print {
        /// The text.
        text: Vec<u8>,
    },
    /// Print a stage of compilation.
    Emit {
        /// Program.
        file: PathBuf,
        /// Which stage.
        stage: Stage,
        /// Only the procedures of this name.
        only: Option<String>,
        /// How to compile.
        compile: Compile,
    },
}

fn library_argument() -> Arg {
    Arg::new("library")
        .short('I')
        .value_name("DIR")
        .action(ArgAction::Append)
        .value_parser(clap::value_parser!(PathBuf))
        .help("Look for libraries in this directory, too; before those of CAIRN_PATH")
}

fn compile_arguments() -> Vec<Arg> {
    let strategies: Vec<PossibleValue> =
        facts::STRATEGIES.iter().map(|s| PossibleValue::new(s.name).help(s.summary)).collect();
    let collectors: Vec<PossibleValue> =
        facts::COLLECTORS.iter().map(|c| PossibleValue::new(c.name).help(c.summary)).collect();
    vec![
        Arg::new("frames")
            .long("frames")
            .env("CAIRN_FRAMES")
            .value_name("STRATEGY")
            .default_value("chunks")
            .hide_env(true)
            .value_parser(PossibleValuesParser::new(strategies))
            .help("Where activation records live"),
        Arg::new("gc")
            .long("gc")
            .env("CAIRN_GC")
            .value_name("COLLECTOR")
            .default_value(facts::COLLECTORS[0].name)
            .hide_env(true)
            .value_parser(PossibleValuesParser::new(collectors))
            .help("How memory is collected; an executable carries its collector"),
        Arg::new("compact")
            .long("compact")
            .env("CAIRN_COMPACT")
            .value_name("TYPES")
            .default_value("declared")
            .hide_env(true)
            .value_parser(["declared", "off", "auto"])
            .help("Record types with compact records; auto: also those of the program that can have them"),
        Arg::new("compact-bits")
            .long("compact-bits")
            .env("CAIRN_COMPACT_BITS")
            .value_name("BITS")
            .default_value("32")
            .hide_env(true)
            .value_parser(["8", "16", "32"])
            .help("Bits of references in compact records at first; wider when a pool outgrows them"),
        Arg::new("opt")
            .long("opt")
            .env("CAIRN_OPT")
            .value_name("LEVEL")
            .default_value("auto")
            .hide_env(true)
            .value_parser(["auto", "low", "high"])
            .help("How much to optimize; auto: evaluate at once, compile what is hot"),
        Arg::new("llvm")
            .long("llvm")
            .env("CAIRN_LLVM")
            .value_name("EFFORT")
            .default_value("full")
            .hide_env(true)
            .value_parser(["full", "none"])
            .help(
                "How hard LLVM works; none: Cairn's own code generator, code that takes about 1.4 times the time",
            ),
        Arg::new("disable-pass")
            .long("disable-pass")
            .value_name("PASS")
            .action(ArgAction::Append)
            .value_delimiter(',')
            .hide_short_help(true)
            .value_parser(Disabled::names())
            .help("Compile without this pass of the optimizer"),
        Arg::new("sites")
            .long("sites")
            .env("CAIRN_SITES")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Let the program know where it makes objects, for --heap-profile"),
        Arg::new("debug")
            .long("debug")
            .short('g')
            .env("CAIRN_DEBUG")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Debug information: gdb, perf and valgrind show procedures and lines"),
        library_argument(),
        Arg::new("verify")
            .long("verify")
            .env("CAIRN_VERIFY")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Check the program after every compiler pass"),
        Arg::new("no-cache")
            .long("no-cache")
            .env("CAIRN_NO_CACHE")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Compile even if the same program was compiled before"),
        Arg::new("cache-max")
            .long("cache-max")
            .env("CAIRN_CACHE_MAX")
            .value_name("SIZE")
            .hide_env(true)
            .value_parser(parse_size)
            .help("What compiled programs may take on the disk, such as 2G (default: 512M)"),
        Arg::new("time")
            .long("time")
            .env("CAIRN_TIME")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Report the time of each compiler stage on standard error"),
    ]
}

fn why_slow_argument() -> Arg {
    Arg::new("why-slow")
        .long("why-slow")
        .action(ArgAction::SetTrue)
        .help("Say on standard error what is left in loops: tests, calls, closures")
}

fn run_arguments() -> Vec<Arg> {
    vec![
        Arg::new("heap-max")
            .long("heap-max")
            .env("CAIRN_HEAP_MAX")
            .value_name("SIZE")
            .hide_env(true)
            .value_parser(parse_size)
            .help("Memory the program may use, such as 512M or 4G (default: half of the machine's)"),
        Arg::new("frames-max")
            .long("frames-max")
            .env("CAIRN_FRAMES_MAX")
            .value_name("SIZE")
            .hide_env(true)
            .value_parser(parse_size)
            .help("Memory the frames of a thread may take: how deep recursion may be (default: 1G)"),
        Arg::new("stats")
            .long("stats")
            .env("CAIRN_STATS")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Report memory use on standard error when the program ends"),
        Arg::new("stats-file")
            .long("stats-file")
            .env("CAIRN_STATS_FILE")
            .value_name("FILE")
            .hide_env(true)
            .value_parser(clap::value_parser!(PathBuf))
            .help("Write the numbers of memory use to FILE when the program ends, as JSON"),
        Arg::new("heap-profile")
            .long("heap-profile")
            .env("CAIRN_HEAP_PROFILE")
            .value_name("FILE")
            .hide_env(true)
            .value_parser(clap::value_parser!(PathBuf))
            .help(
                "Write to FILE what the heap held, by type and by source line (.json: as JSON), or which calls allocate: \
                 .svg (flame graph), .speedscope.json, .pb.gz (pprof), .folded",
            ),
        Arg::new("profile")
            .long("profile")
            .env("CAIRN_PROFILE")
            .value_name("FILE")
            .hide_env(true)
            .value_parser(parse_profile)
            .help(
                "Write to FILE where processor time goes: .svg (flame graph), .txt (table), .json (speedscope), .pb.gz \
                 (pprof), .folded",
            ),
        Arg::new("timeline")
            .long("timeline")
            .env("CAIRN_TIMELINE")
            .value_name("FILE")
            .hide_env(true)
            .value_parser(clap::value_parser!(PathBuf))
            .help("Write to FILE when which thread ran and memory was collected, for ui.perfetto.dev (JSON)"),
        Arg::new("ambiguous-frames")
            .long("ambiguous-frames")
            .env("CAIRN_AMBIGUOUS_FRAMES")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Take whatever looks like a reference in a frame for one (not with --gc=gen)"),
        Arg::new("gc-threads")
            .long("gc-threads")
            .env("CAIRN_GC_THREADS")
            .value_name("N")
            .hide_env(true)
            .value_parser(parse_threads)
            .help("Threads that trace a large heap, of collectors that can have several (default: 2)"),
        Arg::new("trace-gc")
            .long("trace-gc")
            .env("CAIRN_TRACE_GC")
            .hide_env(true)
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Report each garbage collection on standard error"),
    ]
}

/// What `cairn test` adds to the command line of a program.
fn told_arguments() -> [Arg; 4] {
    [
        Arg::new("count-evaluations")
            .long("count-evaluations")
            .value_name("FILES")
            .hide(true)
            .value_parser(clap::value_parser!(PathBuf)),
        Arg::new("tell-tests")
            .long("tell-tests")
            .value_name("FILE")
            .hide(true)
            .value_parser(clap::value_parser!(PathBuf)),
        Arg::new("wanted-test").long("wanted-test").value_name("PATTERN").hide(true).action(ArgAction::Append),
        Arg::new("list-tests").long("list-tests").hide(true).action(ArgAction::SetTrue),
    ]
}

fn test_arguments() -> Vec<Arg> {
    vec![
        Arg::new("filter")
            .long("filter")
            .value_name("PATTERN")
            .action(ArgAction::Append)
            .help("Only tests whose file or name (with its groups: \"group: name\") contains this; * stands for any text"),
        Arg::new("list").long("list").action(ArgAction::SetTrue).help("Print the names of the tests, run none"),
        Arg::new("jobs")
            .long("jobs")
            .short('j')
            .value_name("N")
            .value_parser(clap::value_parser!(u16).range(1..))
            .help("Programs that run at the same time (default: as many as there are processors)"),
        Arg::new("timeout")
            .long("timeout")
            .value_name("SECONDS")
            .default_value("60")
            .value_parser(parse_seconds)
            .help("How long a program may take; 0: as long as it likes"),
        Arg::new("fail-fast").long("fail-fast").action(ArgAction::SetTrue).help("Start nothing more when something has failed"),
        Arg::new("verbose")
            .long("verbose")
            .short('v')
            .action(ArgAction::SetTrue)
            .help("Show every test, and what programs print that pass"),
        Arg::new("coverage")
            .long("coverage")
            .value_name("DIR")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("coverage")
            .value_parser(clap::value_parser!(PathBuf))
            .help("Count what is evaluated of the files that tests use; write lcov.info and HTML into DIR (default: coverage)"),
        Arg::new("junit")
            .long("junit")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("Write the results to FILE, as JUnit XML"),
        Arg::new("paths")
            .value_name("PATH")
            .num_args(0..)
            .value_parser(clap::value_parser!(PathBuf))
            .help("Test programs, and directories to look for them in (default: this directory)"),
    ]
}

/// A time, or none.
fn parse_seconds(text: &str) -> Result<f64, &'static str> {
    let seconds = text.parse().ok().filter(|s: &f64| (0.0..1e9).contains(s));
    seconds.ok_or("it must be a number of seconds, or 0")
}

/// The tests to be run.
fn tests(m: &ArgMatches) -> Tests {
    // options are passed on by the environment
    let passed = compile_arguments().into_iter().chain(run_arguments());
    let given = |a: &Arg| m.value_source(a.get_id().as_str()) == Some(ValueSource::CommandLine);
    let environment = passed.filter(|a| given(a)).filter_map(|a| {
        let mut values = m.get_raw(a.get_id().as_str())?;
        let value =
            if matches!(a.get_action(), ArgAction::SetTrue) { "1".into() } else { values.next()?.to_os_string() };
        Some((a.get_env()?.to_str()?.to_string(), value))
    });
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let seconds = *m.get_one::<f64>("timeout").expect("has a default");
    Tests {
        paths: m.get_many("paths").unwrap_or_default().cloned().collect(),
        filters: m.get_many::<String>("filter").unwrap_or_default().map(Pattern::new).collect(),
        jobs: m.get_one::<u16>("jobs").map_or(processors, |n| (*n).into()),
        timeout: (seconds > 0.0).then(|| Duration::from_secs_f64(seconds)),
        fail_fast: m.get_flag("fail-fast"),
        verbose: m.get_flag("verbose"),
        list: m.get_flag("list"),
        junit: m.get_one::<PathBuf>("junit").cloned(),
        coverage: m.get_one::<PathBuf>("coverage").cloned().filter(|_| !m.get_flag("list")),
        library_path: m.get_many("library").unwrap_or_default().cloned().collect(),
        environment: environment.collect(),
        program: "/proc/self/exe".into(),
        color: colored_output(),
    }
}

/// Does standard output show colours?
fn colored_output() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

fn files_argument() -> Arg {
    Arg::new("files")
        .value_name("FILE")
        .required(true)
        .num_args(1..)
        .value_parser(clap::value_parser!(PathBuf))
        .help("Programs and libraries; - for the standard input")
}

fn file_argument() -> Arg {
    Arg::new("file")
        .value_name("FILE.scm")
        .required(true)
        .value_parser(clap::value_parser!(PathBuf))
        .help("The program; - for the standard input")
}

fn program_arguments() -> Arg {
    Arg::new("arguments")
        .value_name("ARG")
        .num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true)
        .help("Arguments for the program: (command-line) returns them")
}

fn emit_arguments() -> [Arg; 2] {
    let only = Arg::new("only")
        .long("only")
        .value_name("NAME")
        .requires("emit")
        .help("With --emit: only the procedures of this name");
    let emit = Arg::new("emit")
        .long("emit")
        .value_name("STAGE")
        .value_parser(
            PossibleValuesParser::new(Stage::NAMES).map(|s| Stage::by_name(&s).expect("a possible value")),
        )
        .help("Print the program at this stage of compilation instead");
    [emit, only]
}

fn command() -> clap::Command {
    clap::Command::new("cairn")
        .version(env!("CARGO_PKG_VERSION"))
        .about("An R7RS Scheme that compiles to native code")
        .after_help(
            "Each long option can also be set by an environment variable: --heap-max by CAIRN_HEAP_MAX, and so on.\n\
             At the root of its source tree, `./cairn test` runs Cairn's own tests: everything that CI checks.",
        )
        .override_usage(
            "cairn <COMMAND>\n       \
             cairn [-e EXPR]...           as `cairn repl`\n       \
             cairn <FILE.scm> [ARG]...    as `cairn run`, for scripts",
        )
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand(
            clap::Command::new("repl")
                .about("Evaluate what is typed, piped, or given with -e; `cairn` alone does the same")
                .args(compile_arguments())
                .args(run_arguments())
                .arg(
                    Arg::new("expression")
                        .short('e')
                        .value_name("EXPR")
                        .action(ArgAction::Append)
                        .allow_hyphen_values(true)
                        .help("Evaluate this, print its values, and end"),
                )
                .arg(file_argument().required(false).help("A file to load first"))
                .arg(program_arguments()),
        )
        .subcommand(
            clap::Command::new("run")
                .about("Compile a program in memory and run it")
                .args(compile_arguments())
                .args(run_arguments())
                .args(emit_arguments())
                .arg(why_slow_argument())
                .args(told_arguments())
                .arg(file_argument())
                .arg(program_arguments()),
        )
        .subcommand(
            clap::Command::new("prepare")
                .about("Compile the library that programs run on, unless it is there")
                .hide(true)
                .args(compile_arguments()),
        )
        .subcommand(
            clap::Command::new("build")
                .about("Compile a program to an executable, or to a shared library for C")
                .args(compile_arguments())
                .args(emit_arguments())
                .arg(why_slow_argument())
                .arg(
                    Arg::new("shared")
                        .long("shared")
                        .action(ArgAction::SetTrue)
                        .help("Make a shared library of what the program exports by c-export, and a header beside it"),
                )
                .arg(file_argument())
                .arg(
                    Arg::new("output")
                        .short('o')
                        .long("output")
                        .value_name("EXE")
                        .value_parser(clap::value_parser!(PathBuf))
                        .help(
                            "The executable or library (default: the program's name without its suffix, or libNAME.so)",
                        ),
                ),
        )
        .subcommand(
            clap::Command::new("new")
                .about("Make a directory with a program, a library and a test to begin with")
                .arg(
                    Arg::new("only-library")
                        .long("library")
                        .action(ArgAction::SetTrue)
                        .help("A library without a program"),
                )
                .arg(
                    Arg::new("name")
                        .value_name("NAME")
                        .required(true)
                        .value_parser(clap::value_parser!(PathBuf))
                        .help("The directory; its name becomes that of the library"),
                ),
        )
        .subcommand(
            clap::Command::new("test")
                .about("Run test programs, several at a time, and say what fails")
                .after_help(
                    "A test program is a file that is named, or one in a directory that imports (srfi 64) or is called \
                     ...-test.scm. The exit status is 1 if something fails, 2 if there is nothing to be tested.",
                )
                .args(test_arguments())
                .args(compile_arguments())
                .args(run_arguments()),
        )
        .subcommand(
            clap::Command::new("doc")
                .about("Write a manual of libraries, from the comments above their definitions")
                .arg(
                    Arg::new("output")
                        .short('o')
                        .long("output")
                        .value_name("DIR")
                        .default_value("manual")
                        .value_parser(clap::value_parser!(PathBuf))
                        .help("Where to; index.html is the beginning"),
                )
                .arg(
                    Arg::new("cairn")
                        .long("cairn")
                        .action(ArgAction::SetTrue)
                        .help("Cairn's own library, too, or alone if there is no PATH"),
                )
                .arg(library_argument())
                .arg(
                    Arg::new("paths")
                        .value_name("PATH")
                        .num_args(0..)
                        .value_parser(clap::value_parser!(PathBuf))
                        .help("Files of libraries, and directories to look for them in (default: this directory)"),
                ),
        )
        .subcommand(
            clap::Command::new("check")
                .about("Say what is wrong with programs and libraries, without running them")
                .arg(
                    Arg::new("format")
                        .long("format")
                        .value_name("FORMAT")
                        .default_value("text")
                        .value_parser(["text", "json"])
                        .help("How it is said; json: one object a line"),
                )
                .arg(library_argument())
                .arg(files_argument()),
        )
        .subcommand(
            clap::Command::new("fmt")
                .about("Indent programs and libraries, and set their blanks; comments and line breaks stay")
                .after_help(
                    "Nothing but blanks and newlines changes, which is checked: a file is left as it is if its data \
                     would become others. With - as FILE, the standard input is formatted to standard output.",
                )
                .arg(
                    Arg::new("check")
                        .long("check")
                        .action(ArgAction::SetTrue)
                        .help("Change nothing; name the files that would change, and end with status 1"),
                )
                .arg(files_argument()),
        )
        .subcommand(
            clap::Command::new("lsp")
                .about("Serve an editor: the Language Server Protocol on standard input and output")
                .after_help("docs/editors.md says how to set up Emacs, Neovim, Helix, Zed and VS Code.")
                .arg(
                    Arg::new("stdio")
                        .long("stdio")
                        .action(ArgAction::SetTrue)
                        .help("What is done anyway; some editors say it"),
                )
                .arg(library_argument()),
        )
        .subcommand(
            clap::Command::new("explain")
                .about("Explain an error by an example, and how it is mended")
                .override_usage("cairn explain [NAME | MESSAGE]      or: cairn --explain [NAME | MESSAGE]")
                .arg(
                    Arg::new("what")
                        .value_name("NAME | MESSAGE")
                        .num_args(0..)
                        .help("The error's name, or its message as it was printed; without it, all names"),
                ),
        )
        .subcommand(
            clap::Command::new("cc")
                .about("Compile C with pool allocation and pointer compression; takes clang's options")
                .override_usage("cairn cc [--ptrcomp=off|pool|static|dynamic|auto] [--report] [CLANG'S OPTIONS] FILE.c... -o EXE"),
        )
        .subcommand(
            clap::Command::new("completions")
                .about("Print what a shell must know to complete these commands")
                .arg(
                    Arg::new("shell")
                        .value_name("SHELL")
                        .required(true)
                        .value_parser(["bash", "zsh", "fish"]),
                ),
        )
        .subcommand(clap::Command::new("manual").about("Print the manual page").hide(true))
        .subcommand(
            clap::Command::new("study")
                .about("Make the experiments of the papers again; `cairn study --help` tells which")
                .disable_help_flag(true)
                .arg(
                    Arg::new("arguments")
                        .num_args(0..)
                        .trailing_var_arg(true)
                        .allow_hyphen_values(true)
                        .value_parser(clap::value_parser!(OsString)),
                ),
        )
}

/// The command line with the command that its first word stands for: without any, or before options, a session; a
/// file is run, and whatever follows are its own arguments.
fn with_command(mut args: Vec<OsString>) -> Result<Vec<OsString>, ExitCode> {
    let first = args.get(1).map_or("", |a| a.to_str().unwrap_or("/"));
    if COMMANDS.contains(&first) || ["-h", "--help", "-V", "--version"].contains(&first) {
        return Ok(args);
    }
    // `help`, and `help build`
    if first == "help" {
        args.remove(1);
        args.push("--help".into());
        return with_command(args);
    }
    if first == "--explain" {
        args[1] = "explain".into();
        return Ok(args);
    }
    if first.is_empty() || first != "-" && first.starts_with('-') {
        args.insert(1, "repl".into());
        return Ok(args);
    }
    if !first.contains(['.', '/', '-']) && !Path::new(first).exists() {
        eprintln!("cairn: there is no command `{first}`, and no such file; --help lists the commands");
        return Err(ExitCode::from(USAGE));
    }
    args.splice(1..1, ["run", "--"].map(OsString::from));
    Ok(args)
}

/// Parses the command line; on failure or `--help` everything has been printed.
pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Command, ExitCode> {
    let args: Vec<OsString> = args.collect();
    if args.len() == 2 && args[1] == cairn::BACKGROUND {
        return Ok(Command::Background);
    }
    let args = with_command(args)?;
    if args.get(1).is_some_and(|a| a == "cc") {
        // All that follows are another compiler's options.
        return Ok(Command::Cc { arguments: args[2..].to_vec() });
    }
    // what it says takes looking for
    let is_version = args.get(1).is_some_and(|a| a == "--version");
    let command = || if is_version { command().long_version(version::long()) } else { command() };
    let matches = command().try_get_matches_from(args).map_err(|e| {
        if e.use_stderr() {
            let _ = e.print();
            return ExitCode::from(USAGE);
        }
        let text = e.render();
        let printed = print(if colored_output() { text.ansi().to_string() } else { text.to_string() }.as_bytes());
        printed.unwrap_or_else(failed)
    })?;
    let (name, m) = matches.subcommand().expect("a subcommand is required");
    match name {
        "completions" => return Ok(completions(command(), m.get_one::<String>("shell").expect("required"))),
        "manual" => return Ok(Command::Print { text: version::manual(command()) }),
        _ => {}
    }
    if name == "explain" {
        let words: Vec<String> = m.get_many("what").unwrap_or_default().cloned().collect();
        if words.is_empty() {
            return Ok(Command::Print { text: cairn::explained_errors().into() });
        }
        return cairn::explanation(&words.join(" ")).map(|text| Command::Print { text: text.into() }).ok_or_else(
            || {
                eprintln!(
                    "cairn: nothing explains `{}`; `cairn explain` lists what is explained",
                    words.join(" ")
                );
                ExitCode::from(USAGE)
            },
        );
    }
    if name == "study" {
        let arguments = m.get_many::<OsString>("arguments").unwrap_or_default().cloned().collect();
        return Ok(Command::Study { arguments });
    }
    if name == "check" {
        let files = m.get_many::<PathBuf>("files").unwrap_or_default().cloned().collect();
        let json = m.get_one::<String>("format").is_some_and(|f| f == "json");
        let compile = Compile { library_path: library_path(m), ..Compile::default() };
        return Ok(Command::Check { files, json, compile });
    }
    if name == "new" {
        let directory = m.get_one::<PathBuf>("name").expect("required").clone();
        return Ok(Command::New { directory, library: m.get_flag("only-library") });
    }
    if name == "doc" {
        let mut paths: Vec<PathBuf> = m.get_many("paths").unwrap_or_default().cloned().collect();
        let own = m.get_flag("cairn");
        if paths.is_empty() && !own {
            paths.push(".".into());
        }
        let output = m.get_one::<PathBuf>("output").expect("has a default").clone();
        let compile = Compile { library_path: library_path(m), ..Compile::default() };
        return Ok(Command::Doc { paths, own, output, compile });
    }
    if name == "lsp" {
        return Ok(Command::Lsp { library_path: library_path(m) });
    }
    if name == "fmt" {
        let files = m.get_many::<PathBuf>("files").unwrap_or_default().cloned().collect();
        return Ok(Command::Format { files, check: m.get_flag("check") });
    }
    let compile = compile_options(m);
    if let Some(why) = facts::why_apart(compile.options.frames, compile.options.gc) {
        eprintln!("cairn: {why}");
        return Err(ExitCode::from(USAGE));
    }
    if name == "prepare" {
        return Ok(Command::Prepare { compile });
    }
    if name == "test" {
        return Ok(Command::Test { tests: tests(m), compile });
    }
    let arguments = || m.get_many::<String>("arguments").unwrap_or_default().cloned().collect::<Vec<String>>();
    let run = || {
        run_options(m).map_err(|message| {
            eprintln!("cairn: {message}");
            ExitCode::from(USAGE)
        })
    };
    if name == "repl" {
        let expressions = m.get_many::<String>("expression").unwrap_or_default().cloned().collect();
        let file = m.get_one::<PathBuf>("file").cloned();
        let name = file.as_ref().map_or("cairn".into(), |f| f.display().to_string());
        let arguments = std::iter::once(name).chain(arguments()).collect();
        return Ok(Command::Repl { prompt: Prompt { expressions, file }, arguments, compile, run: run()? });
    }
    let file: PathBuf = m.get_one::<PathBuf>("file").expect("required").clone();
    if let Some(stage) = m.get_one::<Stage>("emit") {
        let only = m.get_one::<String>("only").cloned();
        return Ok(Command::Emit { file, stage: *stage, only, compile });
    }
    Ok(match name {
        "run" => Command::Run { file, arguments: arguments(), compile, run: run()? },
        _ => {
            let shared = m.get_flag("shared");
            let usual = || match shared {
                false => file.with_extension(""),
                true => {
                    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                    file.with_file_name(format!("lib{stem}.so"))
                }
            };
            let output = m.get_one::<PathBuf>("output").cloned().unwrap_or_else(usual);
            if output == file {
                eprintln!(
                    "cairn: the executable would overwrite the program `{}`; name another one with -o EXE",
                    file.display()
                );
                return Err(ExitCode::from(USAGE));
            }
            Command::Build { file, output, shared, compile }
        }
    })
}

fn completions(mut command: clap::Command, shell: &str) -> Command {
    let shell: clap_complete::Shell = shell.parse().expect("a possible value");
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "cairn", &mut text);
    Command::Print { text }
}

fn parse_profile(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    cairn_rt::time_profile::check_name(&file, true).map(|()| file)
}

fn parse_threads(text: &str) -> Result<u32, &'static str> {
    cairn_rt::start_options::parse_threads(text)
}

fn parse_size(text: &str) -> Result<u64, String> {
    cairn_rt::start_options::parse_size(text)
        .ok_or_else(|| "write a number of bytes, or one with K, M or G, like 512M".into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_option_table_is_consistent() {
        super::command().debug_assert();
    }
}
