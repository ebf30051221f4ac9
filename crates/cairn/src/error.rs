//! Why compiling, linking or loading failed.

use crate::diagnostics::Messages;

/// Why compiling, linking or loading failed.
#[derive(Debug)]
pub enum Error {
    /// The program is wrong.
    Rejected(Messages),
    /// Something else, in one sentence.
    Other(String),
}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::Other(message)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Rejected(messages) => f.write_str(&messages.plain),
            Error::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
