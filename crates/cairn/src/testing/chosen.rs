//! What is to be tested, and how.

use super::events::Pattern;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What is to be tested, and how.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Files and directories; none: the working directory.
    pub paths: Vec<PathBuf>,
    /// Only tests whose file or name one of these matches; none: all.
    pub filters: Vec<Pattern>,
    /// Programs that run at the same time.
    pub jobs: usize,
    /// How long a program may take.
    pub timeout: Option<Duration>,
    /// Start nothing more when something has failed.
    pub fail_fast: bool,
    /// Show every test, and what programs print that pass.
    pub verbose: bool,
    /// Run nothing; print what there is.
    pub list: bool,
    /// Write what came of it to this file, as JUnit XML.
    pub junit: Option<PathBuf>,
    /// Count what is evaluated, and write the result into this directory.
    pub coverage: Option<PathBuf>,
    /// Where libraries are looked for, beside those that are tested.
    pub library_path: Vec<PathBuf>,
    /// Variables of the environment that the programs get besides.
    pub environment: Vec<(String, OsString)>,
    /// This command line: what runs programs.
    pub program: PathBuf,
    /// Escape sequences?
    pub color: bool,
}
