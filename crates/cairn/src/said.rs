//! What commands tell: texts, messages, exit statuses.

use cairn::{Error, Messages};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

/// Exit status of a failed compilation or run.
pub const FAILURE: u8 = 1;

/// Exit status of wrong command-line use.
pub const USAGE: u8 = 2;

/// Tells why a command failed.
pub fn failed(error: Error) -> ExitCode {
    match error {
        Error::Rejected(messages) => show(&messages),
        Error::Other(message) => eprintln!("cairn: {message}"),
    }
    ExitCode::from(FAILURE)
}

/// Writes to standard output. Not by way of [`std::io::Stdout`]: that takes a closed standard output for a success.
pub fn print(text: &[u8]) -> Result<ExitCode, Error> {
    let out = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    match out.and_then(|mut out| out.write_all(text)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(e) => Err(Error::Other(format!("cannot write to standard output: {}", cairn_rt::describe_io(&e)))),
    }
}

/// Prints messages as the terminal likes them.
pub fn show(messages: &Messages) {
    eprint!("{}", messages.text(std::io::stderr().is_terminal()));
}
