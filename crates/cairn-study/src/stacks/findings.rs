//! The post's claims and our goals, tested on the numbers.

use super::contenders::{ALL_DIRTY, CHUNKS, GHC, OLD};
use super::measurements::{Measured, Medians, ProgramResults, change};
use super::programs::USUAL_CHUNK;
use super::published;
use crate::report::{Finding, Findings};
use crate::statistics::geometric_mean;

/// The ratio that the post reports of binary trees, and that ours is to reach.
const OLD_WAY: f64 = 3.6;

/// The post's claims, and our goals.
pub fn findings(m: &Measured) -> Findings {
    Findings {
        paper: vec![
            (traversals(m), "collections"),
            (marks(m), "collections"),
            (trees(m), "binary-trees"),
            (thread_programs(m), "peers-time"),
        ],
        ours: vec![
            (recursion(m), "changes"),
            (ring(m), "peers-time"),
            (million_time(m), "peers-time"),
            (million_memory(m), "peers-memory"),
            (chunk_size(m), "size-time"),
        ],
        partial: false,
    }
}

fn not_measured(claim: impl Into<String>, what: &str) -> Finding {
    Finding { claim: claim.into(), holds: None, evidence: format!("Not measured: {what}.") }
}

/// Results of this compiler's contenders at the deepest recursion that all of them have done.
fn deepest(m: &Measured) -> Option<(u32, Vec<&Medians>)> {
    let done = |by: &'_ Vec<_>| by.iter().all(Result::is_ok);
    let at = m.by_depth.iter().rposition(done)?;
    Some((m.depths[at], m.by_depth[at].iter().filter_map(|r| r.as_ref().ok()).collect()))
}

fn traversals(m: &Measured) -> Finding {
    let claim = "Of a deep stack, minor collections look at what has been run since the last: at a tenth of the words \
                 or less.";
    let found =
        deepest(m).and_then(|(depth, r)| Some((depth, r[OLD].words_scanned()?, r[CHUNKS].words_scanned()?)));
    let Some((depth, old, new)) = found else { return not_measured(claim, "deep recursion") };
    Finding {
        claim: claim.into(),
        holds: Some(10.0 * new <= old),
        evidence: format!(
            "{depth} deep, a minor collection looks at {old:.0} words the old way, at {new:.0} with chunks."
        ),
    }
}

fn marks(m: &Measured) -> Finding {
    let claim = "What the old way costs is the repeated traversal, not the copying when a stack grows.";
    let Some((depth, r)) = deepest(m) else { return not_measured(claim, "deep recursion") };
    let [new, old, dirty] = [CHUNKS, OLD, ALL_DIRTY].map(|c| r[c].seconds());
    let share = (dirty - new) / (old - new);
    Finding {
        claim: claim.into(),
        holds: (old > new).then_some(share >= 0.5),
        evidence: format!(
            "{depth} deep: {old:.3} s the old way, {new:.3} s with chunks, {dirty:.3} s with chunks that are scanned \
             again and again: {:.0} % of the difference.",
            100.0 * share
        ),
    }
}

fn trees(m: &Measured) -> Finding {
    let (before, after) = published::BINARY_TREES;
    let claim = format!(
        "Binary trees take {OLD_WAY} times as long the old way ({before} s before, {after} s after in the post; our \
         goal)."
    );
    let of = |name: &str| m.program(name).and_then(|p| p.ratio(OLD, CHUNKS));
    let Some(ratio) = of("trees") else { return not_measured(claim, "binary trees") };
    let shallow =
        of("trees-loop").map_or(String::new(), |r| format!(" In a loop instead of a recursion: {r:.2}."));
    Finding { claim, holds: Some(ratio >= OLD_WAY), evidence: format!("Here {ratio:.2} times.{shallow}") }
}

fn recursion(m: &Measured) -> Finding {
    let claim =
        format!("Deep recursion above minor collections takes {OLD_WAY} times as long the old way (our goal).");
    let seconds = |by: &[Result<Medians, _>], c: usize| by[c].as_ref().ok().map(Medians::seconds);
    let ratios: Vec<(u32, f64)> = m
        .depths
        .iter()
        .zip(&m.by_depth)
        .filter_map(|(depth, by)| Some((*depth, seconds(by, OLD)? / seconds(by, CHUNKS)?)))
        .collect();
    let at_work = m.program("deep").and_then(|p| p.ratio(OLD, CHUNKS));
    let Some(at_work) = at_work else { return not_measured(claim, "deep recursion") };
    let curve: Vec<String> = ratios.iter().map(|(depth, r)| format!("{r:.2} at {depth}")).collect();
    Finding {
        claim,
        holds: Some(at_work >= OLD_WAY),
        evidence: format!(
            "Here {at_work:.2} times for the program `deep`, a million frames deep. The curve makes fewer lists at \
             each depth, so starting counts for more there: {}.",
            curve.join(", ")
        ),
    }
}

fn thread_programs(m: &Measured) -> Finding {
    let (least, most, mean) = published::ELAPSED;
    let claim = format!(
        "Programs of threads do not get slower by chunks (the post: {least} % to {most} %, in the mean {mean} %)."
    );
    let changed =
        |p: &ProgramResults| Some((change(p.by(OLD)?.seconds(), p.by(CHUNKS)?.seconds()), p.program.name));
    let changes: Vec<(f64, &str)> = m.programs.iter().filter(|p| p.program.threads).filter_map(changed).collect();
    let worst = changes.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
    let best = changes.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
    let factors: Vec<f64> = changes.iter().map(|c| 1.0 + c.0 / 100.0).collect();
    let (Some(worst), Some(best), Some(mean)) = (worst, best, geometric_mean(&factors)) else {
        return not_measured(claim, "programs of threads");
    };
    Finding {
        claim,
        holds: Some(worst.0 <= most),
        evidence: format!(
            "Here {:.1} % ({}) to {:.1} % ({}), in the mean {:.1} %.",
            best.0,
            best.1,
            worst.0,
            worst.1,
            100.0 * (mean - 1.0)
        ),
    }
}

fn ring(m: &Measured) -> Finding {
    let claim = "A hop in the ring takes no longer than GHC's (our goal).";
    let Some(p) = m.program("ring") else { return not_measured(claim, "the ring") };
    let Some((ours, theirs)) = p.by(CHUNKS).zip(p.by(GHC)) else { return not_measured(claim, "GHC") };
    let processor = [ours, theirs].map(|r| r.get("process_user_ns").unwrap_or(0.0) / 1e9);
    let (ours, theirs) = (ours.seconds(), theirs.seconds());
    Finding {
        claim: claim.into(),
        holds: Some(ours <= theirs),
        evidence: format!(
            "{ours:.3} s against {theirs:.3} s: {:.2} of GHC's time; on the processor {:.3} s against {:.3} s.",
            ours / theirs,
            processor[0],
            processor[1]
        ),
    }
}

/// Number of threads of `million`, and its results.
fn million(m: &Measured) -> Option<(f64, &ProgramResults)> {
    let p = m.program("million")?;
    Some((p.program.arguments(m.quick)[0].parse().ok()?, p))
}

/// The verdict, if there were a million threads: `--quick` has fewer, which shows nothing about a million.
fn of_a_million(threads: f64, holds: bool) -> Option<bool> {
    (threads >= 1e6).then_some(holds)
}

fn million_time(m: &Measured) -> Finding {
    let claim = "A million threads are made, wait, answer and end in half of GHC's time (our goal).";
    let Some((threads, p)) = million(m) else { return not_measured(claim, "that many threads") };
    let Some((ours, theirs)) = p.by(CHUNKS).zip(p.by(GHC)) else { return not_measured(claim, "GHC") };
    let (ours, theirs) = (ours.seconds(), theirs.seconds());
    Finding {
        claim: claim.into(),
        holds: of_a_million(threads, ours <= 0.5 * theirs),
        evidence: format!(
            "{threads} threads: {ours:.3} s against {theirs:.3} s: {:.2} of GHC's time.",
            ours / theirs
        ),
    }
}

fn million_memory(m: &Measured) -> Finding {
    let claim = "A million threads need at most 0.5 GB in all (our goal).";
    let Some((threads, p)) = million(m) else { return not_measured(claim, "that many threads") };
    let Some(ours) = p.by(CHUNKS).map(Medians::megabytes) else { return not_measured(claim, "a run that works") };
    let each = 1e6 * ours / threads;
    let theirs = p.by(GHC).map_or(String::new(), |r| format!("; GHC {:.0} MB", r.megabytes()));
    Finding {
        claim: claim.into(),
        holds: of_a_million(threads, each <= 500.0),
        evidence: format!("{threads} threads: {ours:.0} MB, {each:.0} bytes each{theirs}."),
    }
}

fn chunk_size(m: &Measured) -> Finding {
    let claim =
        format!("Chunks of {} KB cost at most a tenth more time than those of the best size.", USUAL_CHUNK >> 10);
    let usual = m.sizes.iter().position(|s| *s == USUAL_CHUNK);
    let compared = |p: &ProgramResults| {
        let seconds = |i: usize| Some(p.by_size.get(i)?.as_ref().ok()?.seconds());
        let best = (0..m.sizes.len()).min_by(|&a, &b| {
            seconds(a).unwrap_or(f64::INFINITY).total_cmp(&seconds(b).unwrap_or(f64::INFINITY))
        })?;
        Some((p.program.name, seconds(usual?)? / seconds(best)?, m.sizes[best] >> 10))
    };
    let all: Vec<(&str, f64, u32)> = m.programs.iter().filter_map(compared).collect();
    let shown: Vec<String> =
        all.iter().map(|(name, ratio, kb)| format!("{name} {ratio:.2} (best {kb} KB)")).collect();
    if all.is_empty() {
        return not_measured(claim, "sizes of chunks");
    }
    Finding {
        claim,
        holds: Some(all.iter().all(|(_, ratio, _)| *ratio <= 1.1)),
        evidence: format!("Here the ratio is: {}.", shown.join(", ")),
    }
}
