//! The one way in which the heap fails.

use crate::stats::Bytes;

/// More memory is needed than the heap may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory {
    /// Bytes that were asked for; 0 when a full collection left too little room.
    pub requested: u64,
    /// Bytes in use.
    pub used: u64,
    /// The heap's maximum.
    pub heap_max: u64,
}

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "out of memory: ")?;
        if self.requested > 0 {
            write!(f, "{} more are needed, ", Bytes(self.requested))?;
        }
        write!(f, "the heap holds {} and may hold {}", Bytes(self.used), Bytes(self.heap_max))
    }
}

impl std::error::Error for OutOfMemory {}

/// Why a heap could not be made.
#[derive(Debug)]
pub enum HeapError {
    /// The system refused to reserve address space.
    Reserve(std::io::Error),
    /// The maximum asked for is beyond what the reserved addresses can hold.
    TooLarge {
        /// Bytes that were asked for.
        asked: u64,
        /// The largest possible maximum.
        most: u64,
    },
    /// No collector has this name.
    NoSuchCollector(String),
    /// The system's libgc cannot be loaded: why.
    NoLibgc(String),
    /// The process's libgc has a heap already.
    OneLibgc,
    /// This collector does not work with the object model.
    NotForModel(&'static str),
}

impl std::fmt::Display for HeapError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HeapError::Reserve(e) => write!(f, "cannot reserve address space for the heap: {e}"),
            HeapError::TooLarge { asked, most } => {
                write!(f, "a heap cannot hold {}; the largest possible maximum is {}", Bytes(*asked), Bytes(*most))
            }
            HeapError::NoSuchCollector(name) => write!(f, "no collector is called `{name}`"),
            HeapError::NoLibgc(why) => {
                write!(f, "the collector `bdw` needs libgc: install the package libgc1 ({why})")
            }
            HeapError::OneLibgc => write!(f, "the collector `bdw` can have one heap at a time in a process"),
            HeapError::NotForModel(name) => {
                write!(f, "the collector `{name}` does not find what refers to the middle of such objects")
            }
        }
    }
}

impl std::error::Error for HeapError {}

impl From<std::io::Error> for HeapError {
    fn from(e: std::io::Error) -> HeapError {
        HeapError::Reserve(e)
    }
}
