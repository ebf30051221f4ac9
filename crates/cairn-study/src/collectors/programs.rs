//! The eight programs, in the paper's order: `benchmarks/papers/NAME.scm`.

/// One of the programs.
pub struct Program {
    /// Name of its file, without the suffix.
    pub name: &'static str,
    /// The paper's name.
    pub paper: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Amount of work for a quick study, and for a whole one: its argument.
    pub work: (u32, u32),
}

/// In the order of the paper's tables.
pub const PROGRAMS: [Program; 8] = [
    Program {
        name: "checksum",
        paper: "Checksum",
        summary: "the Internet checksum of a 4 KB packet, again and again",
        work: (400, 20_000),
    },
    Program {
        name: "knuth-bendix",
        paper: "Knuth-Bendix",
        summary: "completes the axioms of two groups to rewrite rules",
        work: (1, 8),
    },
    Program { name: "lexgen", paper: "Lexgen", summary: "makes a lexical analyser for ML", work: (6, 100) },
    Program { name: "life", paper: "Life", summary: "generations of a glider gun", work: (2_000, 60_000) },
    Program {
        name: "logic",
        paper: "Logic",
        summary: "proves theorems by back-tracking and unification",
        work: (12, 300),
    },
    Program {
        name: "mergesort",
        paper: "Mergesort",
        summary: "sorts a long list, again and again",
        work: (10, 150),
    },
    Program {
        name: "pia",
        paper: "Pia",
        summary: "finds an object's place in a perspective image",
        work: (4, 60),
    },
    Program {
        name: "groebner",
        paper: "Groebner",
        summary: "a Gröbner basis of the cyclic n-roots",
        work: (5, 6),
    },
];
