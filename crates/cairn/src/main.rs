//! # cairn: the command line
//!
//! A shell around the library: reads options ([`cli`]), prints results and messages, chooses exit statuses.

mod cli;
mod said;
mod version;

use cairn::{Error, Level, Source, Verdict};
use cli::{Command, Compile};
use said::{FAILURE, USAGE, failed, print, show};
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// LLVM makes and drops small objects by the million, a sixth of its time in glibc's allocator. This one also takes the
/// place of C's `malloc`, LLVM's included.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit status of tests that were interrupted: what shells say of SIGINT.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args_os()) {
        Ok(command) => command,
        Err(code) => return code,
    };
    let result = match command {
        Command::Repl { prompt, arguments, compile, run } => repl(prompt, arguments, &compile, run),
        Command::Run { file, arguments, compile, run } => self::run(&file, arguments, &compile, run),
        Command::Build { file, output, shared, compile } => build(&file, &output, shared, &compile),
        Command::Study { arguments } => study(&arguments),
        Command::Cc { arguments } => return cairn_ptrcomp::cc(&arguments),
        Command::Background => cairn::compile_in_background().map(|()| ExitCode::SUCCESS),
        Command::Prepare { compile } => compiler(&compile).prepare().map(|()| ExitCode::SUCCESS),
        Command::Check { files, json, compile } => check(&files, json, &compile),
        Command::Test { tests, compile } => test(&tests, &compile),
        Command::New { directory, library } => new(&directory, library),
        Command::Doc { paths, own, output, compile } => doc(&paths, own, &output, &compile),
        Command::Format { files, check } => format(&files, check),
        Command::Lsp { library_path } => lsp(library_path),
        Command::Print { text } => print(&text),
        Command::Emit { file, stage, only, compile } => emit(&file, stage, only.as_deref(), &compile),
    };
    result.unwrap_or_else(failed)
}

/// A session as the options and the environment say.
fn compiler(compile: &Compile) -> cairn::Compiler {
    let report = |report: &cairn::StageReport| eprintln!("{report}");
    cairn::Compiler::new(compile.options)
        .library_path(compile.library_path.clone())
        .library_directory(cairn::library_directory_of_environment())
        .cache(compile.cache.and_then(|room| Some(cairn::Cache::of_environment()?.at_most(room))))
        .coverage(compile.coverage.clone())
        .observer(compile.time.then_some(report))
        // this very file, whatever has become of its name
        .background(Some("/proc/self/exe".into()))
}

fn repl(
    prompt: cairn::Prompt,
    arguments: Vec<String>,
    compile: &Compile,
    mut options: cairn::RunOptions,
) -> Result<ExitCode, Error> {
    options.library_path = std::iter::once("".into()).chain(compile.library_path.iter().cloned()).collect();
    options.command_line = arguments;
    std::process::exit(cairn::prompt(&compiler(compile), prompt, options)?)
}

fn run(
    file: &Path,
    arguments: Vec<String>,
    compile: &Compile,
    mut options: cairn::RunOptions,
) -> Result<ExitCode, Error> {
    let source = Source::read(file)?;
    tell_why_slow(&source, compile)?;
    let compiler = compiler(compile);
    let beside = file.parent().unwrap_or(Path::new("")).to_path_buf();
    options.library_path = std::iter::once(beside).chain(compile.library_path.iter().cloned()).collect();
    options.command_line = std::iter::once(file.display().to_string()).chain(arguments).collect();
    let program = match compiler.compiled_before(&source) {
        Some(program) => program,
        None => {
            if compile.options.level == Level::Auto
                && let Some(program) = compiler.evaluate(&source)?
            {
                show(program.warnings());
                options.counts = compiler.counts()?;
                cairn::leave(program.run(options)?)
            }
            compiler.compile(&source)?
        }
    };
    show(program.warnings());
    options.counts = compiler.counts()?;
    std::process::exit(program.run(&compiler, options)?)
}

/// Says what costs time in loops, if that was asked for.
fn tell_why_slow(source: &Source, compile: &Compile) -> Result<(), Error> {
    if compile.why_slow {
        eprint!("{}", compiler(compile).why_slow(source)?);
    }
    Ok(())
}

fn build(file: &Path, output: &Path, shared: bool, compile: &Compile) -> Result<ExitCode, Error> {
    let source = Source::read(file)?;
    tell_why_slow(&source, compile)?;
    let compiler = compiler(compile).shared(shared);
    let program = compiler.compile(&source)?;
    show(program.warnings());
    program.build(&compiler, output)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what is wrong with files.
fn check(files: &[PathBuf], json: bool, compile: &Compile) -> Result<ExitCode, Error> {
    let mut wholes: Vec<PathBuf> = files.iter().map(|f| cairn::whole(f)).collect();
    let mut seen = HashSet::new();
    wholes.retain(|f| seen.insert(f.clone()));
    let sources = wholes.iter().map(Source::read).collect::<Result<Vec<Source>, Error>>()?;
    let compiler = compiler(compile);
    let mut clean = true;
    for findings in compiler.check(sources.into_iter()) {
        clean &= findings.said.is_empty();
        if json {
            print(findings.json().as_bytes())?;
        } else {
            show(&findings.messages);
        }
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

/// Makes a project, and says what to do with it.
fn new(directory: &Path, library: bool) -> Result<ExitCode, Error> {
    let made = cairn::new_project(directory, library)?;
    let first = if library { "cairn test" } else { "cairn run main.scm" };
    let here = directory.display();
    print(format!("made {here} with {}\nnext: cd {here} && {first}\n", made.join(", ")).as_bytes())
}

/// Writes a manual, and says where it is.
fn doc(paths: &[PathBuf], own: bool, output: &Path, compile: &Compile) -> Result<ExitCode, Error> {
    let (libraries, names) = cairn::manual(&compiler(compile), paths, own, output)?;
    let plural = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    let (libraries, names) = (plural(libraries, "library", "libraries"), plural(names, "name", "names"));
    let index = output.join("index.html");
    print(format!("{}: {libraries}, {names}\n", index.display()).as_bytes())
}

/// Runs tests; the status says how it went.
fn test(tests: &cairn::Tests, compile: &Compile) -> Result<ExitCode, Error> {
    // after an update this takes long, which is no program's fault; without it, they can say why
    let _ = compiler(compile).prepare();
    let verdict = cairn::test(tests, &mut |text| print(text.as_bytes()).map(|_| ()));
    Ok(match verdict {
        Ok(Verdict::Passed) => ExitCode::SUCCESS,
        Ok(Verdict::Failed) => ExitCode::from(FAILURE),
        Ok(Verdict::Nothing) => ExitCode::from(USAGE),
        Ok(Verdict::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(e) => {
            failed(e);
            ExitCode::from(USAGE)
        }
    })
}

/// Formats files, or says which are not. What is wrong with one does not keep the others from it.
fn format(files: &[PathBuf], check: bool) -> Result<ExitCode, Error> {
    let mut status = ExitCode::SUCCESS;
    for file in files {
        let one = || {
            let source = Source::read(file)?;
            let text = cairn::formatted(&source)?;
            let different = cairn::first_difference(source.text(), &text);
            match different {
                Some(line) if check => {
                    print(format!("{}:{line}: not formatted\n", file.display()).as_bytes())?;
                    return Ok(ExitCode::from(FAILURE));
                }
                _ if check => {}
                _ if file == Path::new("-") => return print(text.as_bytes()),
                Some(_) => cairn::rewrite(file, &text)?,
                None => {}
            }
            Ok(ExitCode::SUCCESS)
        };
        let result = one().unwrap_or_else(failed);
        if result != ExitCode::SUCCESS {
            status = result;
        }
    }
    Ok(status)
}

/// Serves an editor. Whoever leaves without saying so has failed, says the protocol.
fn lsp(library_path: Vec<PathBuf>) -> Result<ExitCode, Error> {
    let announced = cairn::serve(library_path, cairn::library_directory_of_environment())?;
    Ok(if announced { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

/// Becomes the program of the studies, which is installed beside this one.
fn study(arguments: &[OsString]) -> Result<ExitCode, Error> {
    let program = std::env::current_exe().map(|me| me.with_file_name("cairn-study"));
    let program = program.map_err(|e| Error::Other(cairn_rt::describe_io(&e)))?;
    let e = std::process::Command::new(&program).args(arguments).exec();
    Err(Error::Other(format!("cannot run {}: {}", program.display(), cairn_rt::describe_io(&e))))
}

fn emit(file: &Path, stage: cairn::Stage, only: Option<&str>, compile: &Compile) -> Result<ExitCode, Error> {
    let (text, warnings) = compiler(compile).emit(&Source::read(file)?, stage, only)?;
    show(&warnings);
    print(text.as_bytes())
}
