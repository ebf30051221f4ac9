//! The programs: seven of Appel and Shao (`benchmarks/papers/`), and small ones that do nothing but call
//! (`benchmarks/papers/calls/`), of the kinds that Farvardin and Reppy measured ("From folklore to fact: comparing
//! implementations of stacks and continuations", PLDI 2020).

/// What a program does with its frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Makes them and leaves them: means are of these.
    Ordinary,
    /// Makes very many before it leaves any, so that collections meet them all.
    Deep,
    /// Captures continuations, so that a stack copies frames again and again.
    Captures,
}

/// One of the programs.
pub struct FrameProgram {
    /// Name of its file, without folder and suffix.
    pub name: &'static str,
    /// What the report calls it.
    pub title: &'static str,
    /// What it does with its frames.
    pub kind: Kind,
    /// Its row in the tables of Appel and Shao; none for the small ones.
    pub row: Option<usize>,
    /// Amount of work (its argument) of counted runs, in a quick study and in a whole one.
    pub counted: (u32, u32),
    /// Amount of work of timed runs, likewise.
    pub timed: (u32, u32),
    /// Amount of work of runs whose memory is traced, likewise; 0: they are not.
    pub traced: (u32, u32),
}

impl FrameProgram {
    /// Has it a text for other systems? The small ones do.
    pub fn has_peers(&self) -> bool {
        self.row.is_none()
    }
    /// Folder of its text.
    pub fn folder(&self) -> &'static str {
        if self.row.is_some() { "benchmarks/papers" } else { "benchmarks/papers/calls" }
    }
}

const fn paper(
    row: usize,
    name: &'static str,
    title: &'static str,
    counted: (u32, u32),
    timed: (u32, u32),
) -> FrameProgram {
    FrameProgram { name, title, kind: Kind::Ordinary, row: Some(row), counted, timed, traced: (0, 0) }
}

const fn small(name: &'static str, title: &'static str, counted: (u32, u32), timed: (u32, u32)) -> FrameProgram {
    FrameProgram { name, title, kind: Kind::Ordinary, row: None, counted, timed, traced: (0, 0) }
}

impl FrameProgram {
    const fn traced(self, quick: u32, whole: u32) -> FrameProgram {
        FrameProgram { traced: (quick, whole), ..self }
    }
    const fn of(self, kind: Kind) -> FrameProgram {
        FrameProgram { kind, ..self }
    }
}

/// The paper's first, in the order of its tables.
pub const PROGRAMS: &[FrameProgram] = &[
    paper(0, "boyer", "Boyer", (4, 16), (40, 400)).traced(0, 1),
    paper(1, "knuth-bendix", "Knuth-B", (0, 1), (1, 4)).of(Kind::Captures),
    paper(2, "lexgen", "Lexgen", (1, 4), (10, 100)).traced(0, 1),
    paper(3, "life", "Life", (100, 1000), (2_000, 20_000)).traced(20, 150),
    paper(4, "lalr", "YACC", (1, 4), (4, 40)),
    paper(5, "simple", "Simple", (40, 400), (400, 4_000)).traced(0, 6),
    paper(6, "vliw", "VLIW", (8, 80), (100, 1_000)).traced(0, 3),
    small("fib", "fib", (40, 400), (3_000, 30_000)).traced(0, 10),
    small("tak", "tak", (60, 600), (5_000, 50_000)).traced(0, 12),
    small("ack", "ack", (60, 600), (5_000, 50_000)).traced(0, 12),
    small("deep", "deep", (2, 10), (40, 200)).of(Kind::Deep),
    small("mutual", "mutual", (200, 2000), (20_000, 200_000)).traced(0, 40),
    small("higher-order", "higher-order", (200, 2000), (10_000, 100_000)).traced(15, 40),
    small("ctak", "ctak", (40, 400), (1_000, 10_000)).of(Kind::Captures),
    small("yielding", "yielding", (50, 500), (1_000, 10_000)).of(Kind::Captures),
];

/// The program whose steps are measured as a generator's, and how many steps are one unit of work.
pub const GENERATOR: (&str, f64) = ("yielding", 1024.0);
/// The program that captures continuations at a depth: arguments are how often, and how deep.
pub const CAPTURE: &str = "call-cc";
