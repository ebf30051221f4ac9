//! What is measured: each program under each strategy, counted and timed; the small ones in other systems, timed; and
//! the cost of a capture by depth.
//!
//! Instructions of a frame are a difference. Frames cost nothing to speak of but what the strategies do differently:
//! all store the return address and the variables that are live, and load them again. So
//!
//! ```text
//!   cost(S) = own(stack)  +  (code(S) - code(stack)) / F  +  (runtime(S) - runtime(stack)) / F
//! ```
//!
//! where `own(stack)` are the instructions per frame that the contiguous stack executes for its frames: setting the
//! frame pointer, leaving a frame, asking for stops in recursion ([`compiled_code`]). They are in the paper's Figure 1
//! as "add a constant to the stack pointer" and "pop". Every other instruction that a strategy executes more or fewer
//! than the stack is charged to it: whatever it is.

use super::memory_trace;
use super::native_frames::{self, NativeCost, NativeRuns};
use super::peers::Peer;
use super::programs::{CAPTURE, FrameProgram, Kind, PROGRAMS};
use crate::compiled_code;
use crate::harness::{Cell, Lab, Outcome};
use crate::measure::{INSTRUCTIONS, Run};
use crate::sample::{Failed, Sample, fastest};
use cairn_layout::facts::{NATIVE, PRECISE, StrategyFacts};
use std::path::PathBuf;

/// Everything that the study has measured.
pub struct Measured {
    /// The strategies that run with every collector, and so with the default one: the default is the first.
    pub strategies: &'static [&'static StrategyFacts],
    /// One for each program.
    pub programs: Vec<ProgramResults>,
    /// Cost of a capture by depth.
    pub captures: Vec<Capture>,
    /// Other systems that are installed, with their versions.
    pub peers: Vec<(Peer, String)>,
    /// Timed runs of each cell, of which the fastest counts.
    pub repetitions: usize,
}

/// What was measured of a program.
pub struct ProgramResults {
    /// The program.
    pub program: &'static FrameProgram,
    /// Amount of work of the timed runs.
    pub work: f64,
    /// A run under callgrind for each strategy.
    pub counted: Vec<Outcome>,
    /// The caches, for a program whose memory was traced.
    pub traces: Option<Traces>,
    /// Seconds by strategy: the fastest run, by the runtime's clock.
    pub seconds: Vec<Result<f64, Failed>>,
    /// Native frames beside the stack, with a collector that serves both.
    pub native: NativeRuns,
    /// Seconds of other systems, in the order of [`Measured::peers`]; `None`: there is no text for it.
    pub peers: Vec<Option<Result<f64, Failed>>>,
}

/// What missed in all caches.
pub struct Traces {
    /// Frames of the traced run.
    pub frames: Option<f64>,
    /// By strategy: values of [`memory_trace`].
    pub misses: Vec<Outcome>,
}

/// Cost of `call/cc` under so many frames.
pub struct Capture {
    /// Frames.
    pub depth: u32,
    /// Instructions of capturing and entering, by strategy; native frames are the last.
    pub instructions: Vec<Result<f64, Failed>>,
}

/// Instructions per frame, part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Asking for room: limits, nursery, free list; and for stops, where nothing else asks.
    pub room: f64,
    /// Making the new frame's address.
    pub creation: f64,
    /// Storing the link to the caller's frame, and loading it again.
    pub links: f64,
    /// Leaving the frame.
    pub pop: f64,
    /// Whatever else compiled code executes more than under the stack: instructions that move values between registers,
    /// stores of what the stack finds in a frame that it keeps for the next call.
    pub rest: f64,
    /// What the runtime executes more than under the stack: collections, overflows.
    pub runtime: f64,
}

impl Cost {
    /// All parts.
    pub fn total(&self) -> f64 {
        self.parts().iter().sum()
    }
    /// The parts, in the order above.
    pub fn parts(&self) -> [f64; 6] {
        [self.room, self.creation, self.links, self.pop, self.rest, self.runtime]
    }
}

impl Measured {
    /// The position of a strategy.
    pub fn strategy(&self, name: &str) -> Option<usize> {
        self.strategies.iter().position(|s| s.name == name)
    }
    /// The stack, with which all are compared.
    fn stack(&self) -> usize {
        self.strategy("stack").expect("in the table of strategies")
    }
    /// How many frames a program makes: calls that are no tail calls.
    pub fn frames(&self, p: &ProgramResults) -> Option<f64> {
        p.count(self.stack(), compiled_code::FRAMES).filter(|f| *f > 0.0)
    }
    /// Instructions per frame in all, the program's own work included.
    pub fn instructions_per_frame(&self, p: &ProgramResults) -> Option<f64> {
        Some(p.count(self.stack(), INSTRUCTIONS)? / self.frames(p)?)
    }
    /// What a frame costs under a strategy.
    pub fn cost(&self, p: &ProgramResults, strategy: usize) -> Option<Cost> {
        let (stack, heap) = (self.stack(), self.strategy("heap").expect("in the table of strategies"));
        let sample = |s: usize| p.counted[s].as_ref().ok();
        cost(sample(strategy)?, sample(stack)?, sample(heap)?, self.frames(p)?)
    }
    /// The mean of a number over the ordinary programs that have it.
    pub fn mean(&self, number: impl Fn(&ProgramResults) -> Option<f64>) -> Option<f64> {
        let numbers: Vec<f64> =
            self.programs.iter().filter(|p| p.program.kind == Kind::Ordinary).filter_map(number).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
    }
    /// What a native frame costs in a program.
    pub fn native_cost(&self, p: &ProgramResults) -> Option<NativeCost> {
        let stack = self.cost(p, self.strategy("stack")?)?.total();
        p.native.cost(stack, self.frames(p)?)
    }
}

impl ProgramResults {
    /// A value of the counted run.
    pub fn count(&self, strategy: usize, name: &str) -> Option<f64> {
        self.counted[strategy].as_ref().ok()?.get(name).copied()
    }
    /// Seconds under a strategy.
    pub fn seconds(&self, strategy: usize) -> Option<f64> {
        self.seconds[strategy].as_ref().ok().copied()
    }
}

/// The cost of each of so many frames, from counts under the strategy, the stack and the heap. Loops ask for stops
/// under every strategy; the heap asks nowhere else, so that what it asks is not charged to frames.
fn cost(sample: &Sample, stack: &Sample, heap: &Sample, frames: f64) -> Option<Cost> {
    let of = |s: &Sample, name: &str| s.get(name).map(|v| v / frames);
    let checks = |s: &Sample| Some(of(s, compiled_code::CHECKS)? - of(heap, compiled_code::CHECKS)?);
    let own = |s: &Sample| {
        Some(
            2.0 * checks(s)?
                + of(s, compiled_code::CREATION)?
                + of(s, compiled_code::POP)?
                + of(s, compiled_code::LINK)?,
        )
    };
    let code = of(sample, compiled_code::INSTRUCTIONS)? - of(stack, compiled_code::INSTRUCTIONS)?;
    let in_all = of(sample, INSTRUCTIONS)? - of(stack, INSTRUCTIONS)?;
    let heap_checks = of(sample, compiled_code::HEAP_CHECKS)? - of(stack, compiled_code::HEAP_CHECKS)?;
    let mut cost = Cost {
        room: 2.0 * checks(sample)? + 4.0 * heap_checks + of(sample, compiled_code::FREE_LIST)?,
        creation: of(sample, compiled_code::CREATION)?,
        // What is loaded has been stored.
        links: 2.0 * of(sample, compiled_code::LINK)?,
        pop: of(sample, compiled_code::POP)?,
        rest: 0.0,
        runtime: in_all - code,
    };
    cost.rest = own(stack)? + code - (cost.room + cost.creation + cost.links + cost.pop);
    Some(cost)
}

/// Measures everything.
pub fn measure(lab: &mut Lab) -> Result<Measured, String> {
    let chosen = chosen(lab);
    let strategies = PRECISE;
    let repetitions = if lab.quick { 3 } else { 10 };
    let capture = (CAPTURE, "benchmarks/papers/calls");
    let mut jobs = Vec::new();
    for (name, folder) in chosen.iter().map(|p| (p.name, p.folder())).chain([capture]) {
        let file = lab.root.join(format!("{folder}/{name}.scm"));
        for s in strategies {
            jobs.push((file.clone(), vec![format!("--frames={}", s.name)], format!("{name}-{}", s.name)));
        }
    }
    let built = lab.build_all(&jobs)?;
    let mut executables: Vec<Vec<PathBuf>> = built.chunks(strategies.len()).map(<[_]>::to_vec).collect();
    let mut capturing = executables.pop().expect("the last");
    let counted = counted(lab, &chosen, &executables)?;
    let traces = traced(lab, &chosen, &executables)?;
    let seconds = timed(lab, &chosen, &executables, repetitions)?;
    let native = native_frames::measure(lab, &chosen, repetitions)?;
    let peers: Vec<(Peer, String)> =
        Peer::ALL.into_iter().filter(|p| p.command().is_some()).map(|p| (p, p.version())).collect();
    let mut by_peers = Vec::new();
    for p in &chosen {
        let mut row = Vec::new();
        for (peer, _) in &peers {
            let repetitions = if lab.quick { 1 } else { 5 };
            row.push(if p.has_peers() { seconds_of_peer(lab, *peer, p, repetitions)? } else { None });
        }
        by_peers.push(row);
    }
    let captures = if lab.only.is_all() {
        capturing.push(native_frames::executable(lab, capture.1, capture.0)?);
        captures(lab, &capturing)?
    } else {
        Vec::new()
    };
    let results = chosen.iter().zip(counted).zip(traces).zip(seconds).zip(native).zip(by_peers);
    let programs = results
        .map(|(((((program, counted), traces), seconds), native), peers)| ProgramResults {
            program,
            work: f64::from(if lab.quick { program.timed.0 } else { program.timed.1 }),
            counted,
            traces,
            seconds,
            native,
            peers,
        })
        .collect();
    Ok(Measured { strategies, programs, captures, peers, repetitions })
}

fn chosen(lab: &Lab) -> Vec<&'static FrameProgram> {
    PROGRAMS.iter().filter(|p| lab.only.wants(p.name)).collect()
}

/// A run of each program under each strategy below callgrind. All must print what the first prints.
fn counted(
    lab: &mut Lab,
    chosen: &[&FrameProgram],
    executables: &[Vec<PathBuf>],
) -> Result<Vec<Vec<Outcome>>, String> {
    let mut cells = Vec::new();
    for (p, executables) in chosen.iter().zip(executables) {
        let work = if lab.quick { p.counted.0 } else { p.counted.1 };
        let run = |executable: &PathBuf| Run { arguments: vec![work.to_string()], ..Run::of(executable) };
        let expected =
            lab.output(&run(&executables[0])).map_err(|why| format!("{} does not run: {why}", p.name))?;
        for (s, executable) in PRECISE.iter().zip(executables) {
            let run = Run { expected: Some(expected.clone()), count: true, ..run(executable) };
            cells.push(Cell { name: format!("counting {}, {}", p.name, s.name), run });
        }
    }
    let outcomes = lab.count(&cells)?;
    Ok(outcomes.chunks(PRECISE.len()).map(<[_]>::to_vec).collect())
}

/// Runs with small work whose memory accesses go through all caches, and how many frames each of them makes.
fn traced(
    lab: &mut Lab,
    chosen: &[&FrameProgram],
    executables: &[Vec<PathBuf>],
) -> Result<Vec<Option<Traces>>, String> {
    let work = |p: &FrameProgram| if lab.quick { p.traced.0 } else { p.traced.1 };
    let (mut traced, mut counted) = (Vec::new(), Vec::new());
    for (p, executables) in chosen.iter().zip(executables).filter(|(p, _)| work(p) > 0) {
        for (s, executable) in PRECISE.iter().zip(executables) {
            let run = Run { arguments: vec![work(p).to_string()], ..Run::of(executable) };
            if s.name == "stack" {
                let run = Run { count: true, ..run.clone() };
                counted.push(Cell { name: format!("counting what is traced of {}", p.name), run });
            }
            traced.push(Cell { name: format!("tracing {}, {}", p.name, s.name), run });
        }
    }
    let is_traced: Vec<bool> = chosen.iter().map(|p| work(p) > 0).collect();
    let mut frames = lab.count(&counted)?.into_iter();
    let misses = lab.examine(&traced, "caches", |run, _| memory_trace::traced(run))?;
    let mut misses = misses.chunks(PRECISE.len());
    let mut next = || {
        let frames = frames.next()?.ok().and_then(|s| s.get(compiled_code::FRAMES).copied());
        Some(Traces { frames: frames.filter(|f| *f > 0.0), misses: misses.next()?.to_vec() })
    };
    Ok(is_traced.into_iter().map(|is| if is { next() } else { None }).collect())
}

/// Seconds of the fastest run, for each program and strategy.
fn timed(
    lab: &mut Lab,
    chosen: &[&FrameProgram],
    executables: &[Vec<PathBuf>],
    repetitions: usize,
) -> Result<Vec<Vec<Result<f64, Failed>>>, String> {
    let mut cells = Vec::new();
    for (p, executables) in chosen.iter().zip(executables) {
        let work = if lab.quick { p.timed.0 } else { p.timed.1 };
        for (s, executable) in PRECISE.iter().zip(executables) {
            let run = Run { arguments: vec![work.to_string()], ..Run::of(executable) };
            cells.push(Cell { name: format!("{}, {}", p.name, s.name), run });
        }
    }
    let samples = lab.measure(&cells, repetitions)?;
    let seconds: Vec<_> = samples.into_iter().map(|s| s.map(|s| fastest(&s, "elapsed_ns"))).collect();
    Ok(seconds.chunks(PRECISE.len()).map(<[_]>::to_vec).collect())
}

/// Seconds of another system, less its start.
fn seconds_of_peer(
    lab: &mut Lab,
    peer: Peer,
    p: &FrameProgram,
    repetitions: usize,
) -> Result<Option<Result<f64, Failed>>, String> {
    let scheme = lab.root.join(format!("{}/{}.scm", p.folder(), p.name));
    let Some(run) = peer.prepare(lab, &scheme)? else { return Ok(None) };
    let work = if lab.quick { p.timed.0 } else { p.timed.1 };
    let cells = [0, work].map(|work| {
        let mut run = run.clone();
        run.arguments.push(work.to_string());
        Cell { name: format!("{}, {}", p.name, peer.name()), run }
    });
    let mut samples = lab.measure(&cells, repetitions)?.into_iter();
    let mut next = || samples.next().expect("two cells").map(|s| fastest(&s, "process_wall_ns"));
    let (idle, whole) = (next(), next());
    let working = idle.and_then(|idle| Ok(whole? - idle));
    let too_short = || Failed("its start took longer than its work".into());
    Ok(Some(working.and_then(|s| if s > 0.0 { Ok(s) } else { Err(too_short()) })))
}

/// Captures of the counted runs: a few, and more, so that all else falls away in the difference.
const CAPTURES: (u32, u32) = (10, 60);

/// Instructions of a capture, by depth and strategy; the last executable has native frames.
fn captures(lab: &mut Lab, executables: &[PathBuf]) -> Result<Vec<Capture>, String> {
    let depths: &[u32] = if lab.quick { &[1, 100, 10_000] } else { &[1, 10, 100, 1000, 10_000, 100_000] };
    let mut cells = Vec::new();
    for &depth in depths {
        for (s, executable) in PRECISE.iter().chain([&&NATIVE]).zip(executables) {
            for times in [CAPTURES.0, CAPTURES.1] {
                let arguments = vec![times.to_string(), depth.to_string()];
                let run = Run { arguments, expected: Some(times.to_string()), count: true, ..Run::of(executable) };
                cells.push(Cell { name: format!("captures under {depth} frames, {}", s.name), run });
            }
        }
    }
    let outcomes = lab.count(&cells)?;
    let each = |pair: &[Outcome]| match pair {
        [Ok(few), Ok(many)] => Ok((many[INSTRUCTIONS] - few[INSTRUCTIONS]) / f64::from(CAPTURES.1 - CAPTURES.0)),
        [Err(why), _] | [_, Err(why)] => Err(why.clone()),
        _ => unreachable!("pairs"),
    };
    let of_depth = |outcomes: &[Outcome]| outcomes.chunks(2).map(each).collect();
    let by_depth = depths.iter().zip(outcomes.chunks(2 * executables.len()));
    Ok(by_depth.map(|(&depth, outcomes)| Capture { depth, instructions: of_depth(outcomes) }).collect())
}

/// Words that frames are, and other words that are allocated: the heap's allocation, less and as the stack's.
pub(super) fn words(m: &Measured, p: &ProgramResults) -> Option<(f64, f64)> {
    let allocated = |s: &str| p.count(m.strategy(s)?, "allocated").map(|bytes| bytes / 8.0);
    let other = allocated("stack")?;
    Some((allocated("heap")? - other, other))
}

/// The default's time as a multiple of the shortest of any strategy.
pub(super) fn default_to_best(m: &Measured, p: &ProgramResults) -> Option<f64> {
    let best = (0..m.strategies.len()).filter_map(|s| p.seconds(s)).reduce(f64::min)?;
    p.seconds(0).map(|s| s / best)
}

/// How many times more a capture costs at the greatest depth than at the least; native frames come after the others.
pub(super) fn growth(m: &Measured, strategy: usize) -> Option<f64> {
    let at = |c: &super::runs::Capture| c.instructions[strategy].as_ref().ok().copied();
    Some(at(m.captures.last()?)? / at(m.captures.first()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: [(&str, f64); 8]) -> Sample {
        values.iter().map(|(name, v)| (name.to_string(), *v)).collect()
    }

    /// Ten frames: the stack's cost two instructions each and half a question for stops; a loop asks three times.
    #[test]
    fn costs_are_differences_and_their_parts_sum_to_them() {
        let of = |checks, creation, pop, link, heap_checks, code, all| {
            sample([
                (compiled_code::CHECKS, checks),
                (compiled_code::CREATION, creation),
                (compiled_code::POP, pop),
                (compiled_code::LINK, link),
                (compiled_code::FREE_LIST, 0.0),
                (compiled_code::HEAP_CHECKS, heap_checks),
                (compiled_code::INSTRUCTIONS, code),
                (INSTRUCTIONS, all),
            ])
        };
        let stack = of(8.0, 10.0, 10.0, 0.0, 2.0, 1000.0, 1500.0);
        let heap = of(3.0, 10.0, 0.0, 10.0, 9.0, 1070.0, 1600.0);
        let cost_of = |s: &Sample| cost(s, &stack, &heap, 10.0).unwrap();
        let expected = Cost { room: 1.0, creation: 1.0, links: 0.0, pop: 1.0, rest: 0.0, runtime: 0.0 };
        assert_eq!(cost_of(&stack), expected);
        let of_heap = cost_of(&heap);
        assert!((of_heap.total() - (3.0 + 10.0)).abs() < 1e-9, "{of_heap:?}");
        assert!((of_heap.room - 2.8).abs() < 1e-9 && (of_heap.links - 2.0).abs() < 1e-9, "{of_heap:?}");
        assert!((of_heap.runtime - 3.0).abs() < 1e-9, "{of_heap:?}");
        let mut silent = stack.clone();
        silent.remove(compiled_code::CHECKS);
        assert_eq!(cost(&silent, &stack, &heap, 10.0), None, "without a disassembler");
    }
}
