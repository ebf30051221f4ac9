//! # cairn: the command line
//!
//! The thin shell around the compiler crates: it reads files, prints, runs the linker, keeps the cache. What a
//! program means is decided elsewhere.
//!
//! | module | its one job |
//! |---|---|
//! | [`cli`] | options: the one table behind flags, `CAIRN_*` variables and `--help` |
//! | [`pipeline`] | source file → object code, stage by stage |
//! | [`emit`] | `--emit`: a stage as text |
//! | [`library`] | where libraries and includes come from |
//! | [`cache`] | compiled programs, by content |
//! | [`link`] | object code → executable |
//! | [`diagnostics`] | compile-time messages with their source lines |

mod cache;
mod cli;
mod diagnostics;
mod emit;
mod library;
mod link;
mod pipeline;

use cli::{Command, CompileOptions};
use std::path::Path;
use std::process::ExitCode;

/// Exit status of a failed compilation or run.
pub const FAILURE: u8 = 1;
/// Exit status of wrong command-line use.
pub const USAGE: u8 = 2;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args_os()) {
        Ok(command) => command,
        Err(code) => return code,
    };
    let result = match command {
        Command::Run { file, arguments, compile, run } => self::run(&file, arguments, &compile, run),
        Command::Build { file, output, compile } => build(&file, &output, &compile),
        Command::Emit { file, stage, only, compile } => {
            emit::emit(&file, &compile, stage, only.as_deref()).and_then(|text| print(&text))
        }
    };
    match result {
        Ok(code) => code,
        Err(Failure::Reported) => ExitCode::from(FAILURE),
        Err(Failure::Message(message)) => {
            eprintln!("cairn: {message}");
            ExitCode::from(FAILURE)
        }
    }
}

/// Why a command failed.
pub enum Failure {
    /// Already told to the user.
    Reported,
    /// To be told.
    Message(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Message(message)
    }
}

fn run(
    file: &Path,
    arguments: Vec<String>,
    compile: &CompileOptions,
    mut options: cairn_rt::Options,
) -> Result<ExitCode, Failure> {
    let object = cache::object(file, compile)?;
    let jit = cairn_llvm::Jit::load_object(&object)?;
    let table = jit.lookup("cairn_module").ok_or("the compiled program has no module table".to_string())?
        as *const cairn_layout::module::ModuleTable;
    options.command_line = std::iter::once(file.display().to_string()).chain(arguments).collect();
    // SAFETY: the table belongs to the code just loaded, which lives until the end of this function.
    #[allow(unsafe_code)]
    let status = unsafe { cairn_rt::start::run_program(options, table) };
    // The process ends here: unloading the code would only cost time.
    std::process::exit(status)
}

fn build(file: &Path, output: &Path, compile: &CompileOptions) -> Result<ExitCode, Failure> {
    let object = cache::object(file, compile)?;
    link::executable(&object, output)?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(e) => Err(Failure::Message(cannot_print(&e))),
    }
}

/// What to say when standard output takes no more.
fn cannot_print(error: &std::io::Error) -> String {
    format!("cannot write to standard output: {}", cairn_rt::describe_io(error))
}
