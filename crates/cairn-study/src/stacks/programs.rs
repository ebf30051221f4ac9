//! The programs: `benchmarks/papers/stacks/`.

/// One of the programs, with amounts of work.
#[derive(Debug)]
pub struct Program {
    /// What the study calls it.
    pub name: &'static str,
    /// Name of its file, without the suffix.
    pub file: &'static str,
    /// What the post calls a program like it.
    pub post: Option<&'static str>,
    /// What it does.
    pub summary: &'static str,
    /// Its arguments in a quick study, and in a whole one.
    pub work: (&'static [&'static str], &'static [&'static str]),
    /// Is it about threads?
    pub threads: bool,
    /// Has it counterparts in other languages?
    pub has_peers: bool,
}

impl Program {
    /// Arguments.
    pub fn arguments(&self, quick: bool) -> &'static [&'static str] {
        if quick { self.work.0 } else { self.work.1 }
    }
}

const THREADS: Program =
    Program { name: "", file: "", post: None, summary: "", work: (&[], &[]), threads: true, has_peers: true };

/// Threads first.
pub const PROGRAMS: [Program; 9] = [
    Program {
        name: "create",
        file: "create",
        post: Some("threads001"),
        summary: "makes one thread after the other",
        work: (&["1000000"], &["10000000"]),
        ..THREADS
    },
    Program {
        name: "pingpong",
        file: "pingpong",
        summary: "two threads hand a number to and fro through MVars",
        work: (&["1000000"], &["10000000"]),
        ..THREADS
    },
    Program {
        name: "ring",
        file: "ring",
        post: Some("threads003"),
        summary: "a token goes round in a ring of 503 threads",
        work: (&["3000000"], &["10000000"]),
        ..THREADS
    },
    Program {
        name: "throw",
        file: "throw",
        post: Some("threads006"),
        summary: "exceptions are raised in another thread",
        work: (&["300000"], &["3000000"]),
        ..THREADS
    },
    Program {
        name: "sieve",
        file: "sieve",
        post: Some("sieve"),
        summary: "the sieve of Eratosthenes, a thread for each prime, channels between them",
        work: (&["1000"], &["3000"]),
        ..THREADS
    },
    Program {
        name: "million",
        file: "million",
        summary: "many threads wait at one MVar and answer through MVars of their own",
        work: (&["100000"], &["1000000"]),
        ..THREADS
    },
    Program {
        name: "trees",
        file: "trees",
        post: Some("BinaryTrees"),
        summary: "binary trees, their sizes added up by recursion",
        work: (&["19"], &["20"]),
        threads: false,
        ..THREADS
    },
    Program {
        name: "trees-loop",
        file: "trees",
        summary: "the same trees, their sizes added up in a loop: the stack stays shallow",
        work: (&["19", "loop"], &["20", "loop"]),
        threads: false,
        has_peers: false,
        ..THREADS
    },
    Program {
        name: "deep",
        file: "deep",
        summary: "lists are made and dropped below a deep recursion",
        work: (&["1000000", "15000"], &["1000000", "100000"]),
        threads: false,
        ..THREADS
    },
];

/// Depths of the recursion in `deep` for which curves are drawn, and how many lists are made below it.
pub fn depths(quick: bool) -> (Vec<u32>, u32) {
    if quick {
        (vec![1_000, 10_000, 100_000, 1_000_000], 6_000)
    } else {
        (vec![1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000], 100_000)
    }
}

/// Programs for which the size of chunks is varied.
pub const BY_SIZE: [&str; 4] = ["trees", "deep", "ring", "million"];

/// Sizes of chunks in bytes.
pub fn chunk_sizes(quick: bool) -> Vec<u32> {
    let shifts: &[u32] = if quick { &[11, 15, 20] } else { &[11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24] };
    shifts.iter().map(|s| 1 << s).collect()
}

/// The size that programs have otherwise.
pub const USUAL_CHUNK: u32 = 32 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_fit_together() {
        assert!(BY_SIZE.iter().all(|name| PROGRAMS.iter().any(|p| p.name == *name)));
        assert!([true, false].iter().all(|quick| chunk_sizes(*quick).contains(&USUAL_CHUNK)));
        let known = |name: &str| super::super::published::CHANGES.iter().any(|c| c.name == name);
        assert_eq!(PROGRAMS.iter().filter(|p| p.post.is_some_and(known)).count(), 4);
    }
}
