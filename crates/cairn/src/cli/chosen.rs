//! What the options say that a command was given.

use cairn::{
    Backend, CompileOptions, Level, MostlyCopying, Pattern, RunOptions, StackChunks, Teller, Zeal,
    haste_of_environment, schedule_of_environment,
};
use cairn_core::passes::Disabled;
use cairn_layout::facts;
use cairn_layout::object::record::compact;
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of a compilation and of how it is done.
#[derive(Default)]
pub struct Compile {
    /// What is compiled.
    pub options: CompileOptions,
    /// Where libraries are looked for, after the program's own directory.
    pub library_path: Vec<PathBuf>,
    /// Use the cache of compiled programs, and let it take so many bytes.
    pub cache: Option<u64>,
    /// Report the time of each stage on standard error.
    pub time: bool,
    /// Say what is left in loops.
    pub why_slow: bool,
    /// Count what is evaluated, in files whose names begin so.
    pub coverage: Option<PathBuf>,
}

pub(super) fn compile_options(m: &ArgMatches) -> Compile {
    let text = |name: &str| m.get_one::<String>(name).expect("has a default").as_str();
    // Only commands that run programs have the other option.
    let profiled = m.try_get_one::<PathBuf>("heap-profile").ok().flatten().is_some();
    let frames = facts::strategy(text("frames")).expect("a possible value");
    let gc = match m.value_source("gc") {
        Some(ValueSource::DefaultValue) => facts::collector_for(frames),
        _ => facts::collector(text("gc")).expect("a possible value"),
    };
    let mut disabled = Disabled::NOTHING;
    for name in m.get_many::<String>("disable-pass").into_iter().flatten() {
        assert!(disabled.add(name), "a possible value");
    }
    let options = CompileOptions {
        sites: m.get_flag("sites") || profiled,
        debug: m.get_flag("debug"),
        frames,
        gc,
        backend: if text("llvm") == "none" { Backend::Own } else { Backend::Full },
        level: match text("opt") {
            "low" => Level::Low,
            // What is evaluated does not know its lines as exactly.
            "high" => Level::High,
            _ if disabled != Disabled::NOTHING => Level::High,
            _ if profiled || m.get_flag("debug") || wants_compiled_code(m) => Level::High,
            _ => Level::Auto,
        },
        compact: compact_choice(m),
        coverage: false,
        disabled,
        verify: m.get_flag("verify") || cfg!(debug_assertions),
    };
    let library_path = library_path(m);
    let cache = (!m.get_flag("no-cache")).then(|| m.get_one("cache-max").copied().unwrap_or(cairn::CACHE_ROOM));
    let coverage = m.try_get_one::<PathBuf>("count-evaluations").ok().flatten().cloned();
    let cache = cache.filter(|_| coverage.is_none());
    let why_slow = matches!(m.try_get_one("why-slow"), Ok(Some(true)));
    Compile { options, library_path, cache, time: m.get_flag("time"), why_slow, coverage }
}

/// Which record types are compact.
fn compact_choice(m: &ArgMatches) -> compact::Choice {
    let text = |name: &str| m.try_get_one::<String>(name).ok().flatten().map_or("", |s| s.as_str());
    compact::Choice::by_names(text("compact"), text("compact-bits")).unwrap_or_default()
}

/// Where libraries are looked for, after the program's own directory.
pub(super) fn library_path(m: &ArgMatches) -> Vec<PathBuf> {
    let mut library_path: Vec<PathBuf> = m.get_many("library").unwrap_or_default().cloned().collect();
    library_path.extend(cairn::library_path_of_environment());
    library_path
}

/// Without `--opt`: does the user look at compiled code? Whoever chooses frames, a collector or zeal measures or tests
/// that; and the library that evaluation runs on is compiled beforehand for the usual ones only.
fn wants_compiled_code(m: &ArgMatches) -> bool {
    let chosen = |option: &str| m.value_source(option) != Some(ValueSource::DefaultValue);
    let zeal = || Zeal::from_environment().is_ok_and(|zeal| zeal != Zeal::Off);
    !chosen("opt") && (chosen("frames") || chosen("gc") || chosen("compact") || chosen("compact-bits") || zeal())
}

/// Who is told of tests, if `cairn test` runs this.
fn teller(m: &ArgMatches) -> Result<Option<Arc<dyn cairn_rt::start_options::TestListener>>, String> {
    let Some(file) = m.try_get_one::<PathBuf>("tell-tests").ok().flatten() else { return Ok(None) };
    let wanted = m.get_many::<String>("wanted-test").unwrap_or_default().map(Pattern::new).collect();
    let teller = Teller::new(file, wanted, m.get_flag("list-tests"))
        .map_err(|e| format!("cannot write {}: {}", file.display(), cairn_rt::describe_io(&e)))?;
    Ok(Some(Arc::new(teller)))
}

pub(super) fn run_options(m: &ArgMatches) -> Result<RunOptions, String> {
    Ok(RunOptions {
        tests: teller(m)?,
        heap_max: m.get_one::<u64>("heap-max").copied(),
        frames_max: m.get_one("frames-max").copied().unwrap_or(cairn_rt::start_options::FRAMES_MAX),
        stats: m.get_flag("stats"),
        stats_file: m.get_one::<PathBuf>("stats-file").cloned(),
        heap_profile: m.get_one::<PathBuf>("heap-profile").cloned(),
        profile: m.get_one::<PathBuf>("profile").cloned(),
        timeline: m.get_one::<PathBuf>("timeline").cloned().map(cairn_rt::timeline::Timeline::new),
        flame_graph: Some(cairn::draw_flame_graph),
        trace_gc: m.get_flag("trace-gc"),
        ambiguous_frames: m.get_flag("ambiguous-frames"),
        gc_threads: m.get_one("gc-threads").copied(),
        mostly_copying: MostlyCopying::from_environment()?,
        stack_chunks: StackChunks::from_environment()?,
        compact: compact_choice(m),
        zeal: Zeal::from_environment()?,
        schedule: schedule_of_environment()?,
        haste: haste_of_environment()?,
        ..RunOptions::default()
    })
}
