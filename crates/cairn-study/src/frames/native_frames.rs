//! Native frames: those that LLVM makes, by `call` and `ret`.
//!
//! Nothing is known of their words, so the default collector cannot serve them. They run with the quickest one that
//! can, and beside them the stack with the same one: what these two differ in is frames alone. So
//!
//! ```text
//!   cost(native) = cost(stack)  +  (native - stack, both with that collector) / F
//! ```
//!
//! in instructions. How compiled code gets at them is LLVM's affair: the cost has no parts but compiled code and
//! runtime. Their memory is not traced: with another collector the objects lie elsewhere, too.

use super::programs::FrameProgram;
use crate::compiled_code;
use crate::harness::{Cell, Lab, Outcome};
use crate::measure::{INSTRUCTIONS, Run};
use crate::sample::{Failed, fastest};
use cairn_layout::facts::{COLLECTORS, CollectorFacts, NATIVE, STACK, StrategyFacts, why_apart};
use std::path::PathBuf;

/// The two that are compared: native frames come first.
const PAIR: [&StrategyFacts; 2] = [&NATIVE, &STACK];

/// A program's runs with [`collector`], native frames first, then the stack.
pub struct NativeRuns {
    /// Under callgrind.
    pub counted: [Outcome; 2],
    /// Seconds of the fastest run.
    pub seconds: [Result<f64, Failed>; 2],
}

/// The collector of native frames: the last of the table that serves them is the quickest.
pub fn collector() -> &'static CollectorFacts {
    let serving = COLLECTORS.iter().rfind(|collector| why_apart(&NATIVE, collector).is_none());
    serving.expect("one that takes ambiguous roots")
}

/// Options of a build with that collector.
fn options(frames: &StrategyFacts) -> Vec<String> {
    vec![format!("--frames={}", frames.name), format!("--gc={}", collector().name)]
}

/// An executable with native frames.
pub fn executable(lab: &mut Lab, folder: &str, name: &str) -> Result<PathBuf, String> {
    let job = (lab.root.join(format!("{folder}/{name}.scm")), options(&NATIVE), format!("{name}-native"));
    Ok(lab.build_all(&[job])?.remove(0))
}

/// Counts and times the programs.
pub fn measure(lab: &mut Lab, chosen: &[&FrameProgram], repetitions: usize) -> Result<Vec<NativeRuns>, String> {
    let mut jobs = Vec::new();
    for p in chosen {
        let file = lab.root.join(format!("{}/{}.scm", p.folder(), p.name));
        for s in PAIR {
            jobs.push((file.clone(), options(s), format!("{}-{}-{}", p.name, s.name, collector().name)));
        }
    }
    let executables = lab.build_all(&jobs)?;
    let quick = lab.quick;
    let cells = |verb: &str, work: &dyn Fn(&FrameProgram) -> (u32, u32), count: bool| -> Vec<Cell> {
        let of_program = chosen.iter().flat_map(|p| PAIR.map(|s| (p, s)));
        let cell = |((p, s), executable): ((&&FrameProgram, &StrategyFacts), &PathBuf)| {
            let work = if quick { work(p).0 } else { work(p).1 };
            let run = Run { arguments: vec![work.to_string()], count, ..Run::of(executable) };
            Cell { name: format!("{verb}{}, {}, {}", p.name, s.name, collector().name), run }
        };
        of_program.zip(&executables).map(cell).collect()
    };
    let counted = lab.count(&cells("counting ", &|p| p.counted, true))?;
    let samples = lab.measure(&cells("", &|p| p.timed, false), repetitions)?;
    let seconds: Vec<_> = samples.into_iter().map(|s| s.map(|s| fastest(&s, "elapsed_ns"))).collect();
    let pairs = counted.chunks(2).zip(seconds.chunks(2));
    Ok(pairs
        .map(|(counted, seconds)| NativeRuns {
            counted: [counted[0].clone(), counted[1].clone()],
            seconds: [seconds[0].clone(), seconds[1].clone()],
        })
        .collect())
}

/// What a native frame costs, in instructions: in compiled code, and in the runtime more than under the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NativeCost {
    /// Compiled code.
    pub code: f64,
    /// The runtime.
    pub runtime: f64,
}

impl NativeCost {
    /// Both.
    pub fn total(&self) -> f64 {
        self.code + self.runtime
    }
}

impl NativeRuns {
    /// By how much the number of native frames exceeds the stack's.
    fn more(&self, name: &str) -> Option<f64> {
        let of = |i: usize| self.counted[i].as_ref().ok()?.get(name).copied();
        Some(of(0)? - of(1)?)
    }
    /// Seconds of native frames, or of the stack with the same collector.
    pub fn seconds(&self, native: bool) -> Option<f64> {
        self.seconds[usize::from(!native)].as_ref().ok().copied()
    }
    /// Time as a multiple of the stack's.
    pub fn slowdown(&self) -> Option<f64> {
        Some(self.seconds(true)? / self.seconds(false)?)
    }
    /// The cost of each of so many frames, where the stack's is `stack`.
    pub fn cost(&self, stack: f64, frames: f64) -> Option<NativeCost> {
        let code = self.more(compiled_code::INSTRUCTIONS)?;
        Some(NativeCost { code: stack + code / frames, runtime: (self.more(INSTRUCTIONS)? - code) / frames })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_the_difference_to_the_stack_with_the_same_collector() {
        let outcome = |code: f64, all: f64| -> Outcome {
            Ok([(compiled_code::INSTRUCTIONS.to_string(), code), (INSTRUCTIONS.to_string(), all)].into())
        };
        let seconds = [Ok(3.0), Ok(2.0)];
        let runs = NativeRuns { counted: [outcome(970.0, 1510.0), outcome(1000.0, 1500.0)], seconds };
        assert_eq!(runs.cost(4.0, 10.0), Some(NativeCost { code: 1.0, runtime: 4.0 }));
        assert_eq!(runs.slowdown(), Some(1.5));
        let failed = || Err(Failed("no objdump".into()));
        let runs = NativeRuns {
            counted: [failed(), outcome(1000.0, 1500.0)],
            seconds: [Err(Failed("no run".into())), Ok(2.0)],
        };
        assert_eq!((runs.cost(4.0, 10.0), runs.slowdown()), (None, None));
    }

    #[test]
    fn the_collector_serves_native_frames() {
        assert_eq!(why_apart(&NATIVE, collector()), None);
    }
}
