//! # cairn: the compiler as a library, and the command line
//!
//! A [`Compiler`] is a value: options, a library path, perhaps a cache. It compiles [`Source`]s to [`Compiled`]
//! programs, which run in this process or become executables. All compile-time I/O is here; what a program means is
//! decided in the other crates.
//!
//! ```no_run
//! use cairn::{CompileOptions, Compiler, Source};
//!
//! let compiler = Compiler::new(CompileOptions::default());
//! let program = compiler.compile(&Source::new("hello.scm", "(display \"hello\")"))?;
//! let status = program.run(&compiler, cairn::RunOptions::default())?;
//! # Ok::<(), cairn::Error>(())
//! ```
//!
//! The binary (`main.rs`, `cli.rs`) is a shell around it: it reads options, prints messages, chooses exit statuses.
//!
//! | module | its one job |
//! |---|---|
//! | `session`, `compiler` | what was chosen for a session, and what it does |
//! | `compiled` | the compiled program |
//! | `error` | why compiling, linking or loading failed |
//! | `coverage` | which parts of programs were evaluated |
//! | `options` | what can be chosen about compiling |
//! | `source`, `sources` | texts of programs; where libraries and includes come from, and what was read |
//! | `pipeline`, `stages` | source text → object code, stage by stage; the stages behind the expander |
//! | `boot` | the library, compiled once |
//! | `check` | what is wrong with a text, without running it |
//! | `format` | files with their lines indented |
//! | `evaluated` | programs that are evaluated, and compiled where they are hot |
//! | `lsp` | what an editor shows of a program |
//! | `manual` | a manual of libraries, from their text |
//! | `c_headers` | C headers as libraries |
//! | `open_program`, `open_run` | programs that load, or evaluate in the interaction environment; how they run |
//! | `background` | the compiler beside a running program |
//! | `emit` | a stage as text |
//! | `cache`, `cache_directory` | compiled programs, by content; where they are kept |
//! | `counted_bytes` | how files of the cache are written |
//! | `link` | object code → executable |
//! | `shared_library` | object code → shared library with a header for C |
//! | `project` | a directory to begin in |
//! | `prompt` | the terminal of an interactive session |
//! | `diagnostics` | compile-time messages with their source lines |
//! | `testing` | test programs in processes of their own |
//! | `user_files` | the files below a user's directory |
//! | `unfinished` | files that appear whole or not at all |

mod background;
mod boot;
mod c_headers;
mod cache;
mod cache_directory;
mod cache_room;
mod check;
mod compiled;
mod compiler;
mod counted_bytes;
mod coverage;
mod diagnostics;
mod emit;
mod error;
mod evaluated;
mod explain;
mod flame;
mod format;
mod link;
mod lsp;
mod manual;
mod open_program;
mod open_run;
mod options;
mod pipeline;
mod project;
mod prompt;
mod session;
mod shared_library;
mod source;
mod sources;
mod stage_report;
mod stages;
mod testing;
mod unfinished;
mod unit_modules;
mod user_files;
mod why_slow;

pub use background::{ARGUMENT as BACKGROUND, compile_in_background};
pub use cache_directory::Cache;
pub use cache_room::ROOM as CACHE_ROOM;
pub use cairn_rt::Options as RunOptions;
pub use cairn_rt::start_options::{
    MostlyCopying, StackChunks, Zeal, haste_of_environment, library_path_of_environment, schedule_of_environment,
};
pub use check::{Findings, Place, Said, whole};
pub use compiled::Compiled;
pub use diagnostics::Messages;
pub use emit::Stage;
pub use error::Error;
pub use evaluated::{Evaluation, leave};
pub use explain::{contents as explained_errors, explanation};
pub use flame::draw_flame_graph;
pub use format::{first_difference, formatted, rewrite};
pub use lsp::serve;
pub use manual::manual;
pub use options::{Backend, CompileOptions, Level};
pub use project::new_project;
pub use prompt::{Prompt, prompt};
pub use session::Compiler;
pub use source::{Source, library_directory_of_environment};
pub use stage_report::{Observer, StageReport};
pub use testing::{Pattern, Teller, Tests, Verdict, test};

/// The version of LLVM, if it can be loaded.
pub fn llvm_version() -> Option<[u32; 3]> {
    cairn_llvm::version().ok()
}
