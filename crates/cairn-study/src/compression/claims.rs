//! The paper's claims and our goals, tested on the numbers.

use super::costs::{Measured, ProgramCosts};
use super::variants::Variant;
use crate::report::{Finding, Findings};
use crate::statistics::geometric_mean;

/// The paper's claims, and our goals.
pub fn findings(m: &Measured) -> Findings {
    Findings {
        paper: vec![
            (llubench_twice(m), "figure-15-time"),
            (four_faster_than_pools(m), "figure-15-time"),
            (memory_as_published(m), "figure-15-memory"),
            (longer_lists_gain_more(m), "figure-16"),
        ],
        ours: vec![
            (close_to_hand(m), "by-hand"),
            (never_slower(m), "figure-15-time"),
            (dynamic_near_static(m), "dynamic"),
            (half_the_memory(m), "figure-15-memory"),
            (beats_allocators(m), "allocators"),
            (partly_compressed(m), "figure-15-memory"),
        ],
        partial: false,
    }
}

/// A ratio, and the program it is of.
type Ratio = (f64, String);

/// Ratios of the programs of these names, of the suite and of ours.
fn ratios(m: &Measured, names: &[&str], of: impl Fn(&ProgramCosts) -> Option<f64>) -> Vec<Ratio> {
    let wanted = m.programs.iter().filter(|p| names.contains(&p.program.name));
    wanted.filter_map(|p| Some((of(p)?, p.program.label()))).collect()
}

/// "our treeadd 0.41, our tsp 0.92".
fn listed(ratios: &[Ratio]) -> String {
    ratios.iter().map(|(r, name)| format!("{name} {r:.2}")).collect::<Vec<_>>().join(", ")
}

/// A claim that holds when all ratios do; not measured where there are none.
fn all(claim: &str, ratios: &[Ratio], what: &str, holds: impl Fn(f64) -> bool) -> Finding {
    let evidence = if ratios.is_empty() {
        "None of these programs was measured.".to_string()
    } else {
        let held = ratios.iter().filter(|r| holds(r.0)).count();
        format!("Here {held} of {}; {what}: {}.", ratios.len(), listed(ratios))
    };
    let verdict = (!ratios.is_empty()).then(|| ratios.iter().all(|r| holds(r.0)));
    Finding { claim: claim.into(), holds: verdict, evidence }
}

fn llubench_twice(m: &Measured) -> Finding {
    let pools = ratios(m, &["llubench"], |p| p.time_ratio(Variant::Static, Variant::Pool));
    let malloc = ratios(m, &["llubench"], |p| p.time_ratio(Variant::Static, Variant::Malloc));
    let mut finding = all(
        "Small pointers make llubench more than twice as fast as pools do, and about three times as fast as it was \
         (section 6.1).",
        &pools,
        "time as a ratio to that with pools",
        |r| r <= 0.5,
    );
    if !malloc.is_empty() {
        finding.evidence += &format!(" To that without pools: {}.", listed(&malloc));
        finding.holds = finding.holds.map(|h| h && malloc.iter().all(|r| r.0 <= 0.4));
    }
    finding
}

fn four_faster_than_pools(m: &Measured) -> Finding {
    let names = ["perimeter", "treeadd", "tsp", "ft"];
    let measured = ratios(m, &names, |p| p.time_ratio(Variant::Static, Variant::Pool));
    let claim = "perimeter, treeadd, tsp and ft are 6 to 32 % faster than with pools alone (section 6.1).";
    all(claim, &measured, "time as a ratio to that with pools", |r| r <= 0.94)
}

fn memory_as_published(m: &Measured) -> Finding {
    let names = ["llubench", "treeadd", "bisort", "ft", "perimeter", "tsp"];
    // The process has memory besides its heap, so the ratio of a small heap is nearer to 1.
    let measured = ratios(m, &names, |p| p.memory_ratio(Variant::Static, Variant::Pool));
    let claim = "Memory falls to half of that with pools for llubench, treeadd, bisort and ft, to 0.57 for perimeter, \
                 to 0.75 for tsp (Figure 15); with pools and all else in the process, to 0.8 at most.";
    all(claim, &measured, "peak memory as a ratio to that with pools", |r| r <= 0.8)
}

fn longer_lists_gain_more(m: &Measured) -> Finding {
    let claim = "The longer its lists, the more llubench gains from small pointers (section 6.2).".to_string();
    let ratio = |l: &super::costs::Length| {
        Some((l.nanoseconds(Variant::Static)? / l.nanoseconds(Variant::Malloc)?, l.length))
    };
    let measured: Vec<(f64, f64)> = m.lengths.iter().filter_map(ratio).collect();
    let (Some(first), Some(last)) = (measured.first(), measured.last().filter(|_| measured.len() > 1)) else {
        return Finding { claim, holds: None, evidence: "llubench was not measured.".into() };
    };
    Finding {
        claim,
        holds: Some(last.0 < first.0),
        evidence: format!(
            "Here the time is {:.2} of that with malloc for lists of {}, {:.2} for lists of {}.",
            first.0, first.1, last.0, last.1
        ),
    }
}

fn close_to_hand(m: &Measured) -> Finding {
    let names = ["treeadd", "perimeter", "bisort", "tsp", "llubench"];
    let measured = ratios(m, &names, |p| p.time_ratio(Variant::Static, Variant::Hand));
    let claim = "Our goal: within 5 % of pools by hand for treeadd, perimeter, bisort, tsp, llubench.";
    all(claim, &measured, "time as a ratio to that by hand", |r| r <= 1.05)
}

fn never_slower(m: &Measured) -> Finding {
    let names = ["em3d", "bh", "power", "ks", "health", "mst", "voronoi"];
    let measured = ratios(m, &names, |p| p.time_ratio(Variant::Static, Variant::Malloc));
    let claim = "Our goal: em3d, bh, power, ks, health, mst, voronoi never take more than 1.03 times as long as \
                 compiled by clang-19.";
    all(claim, &measured, "time as a ratio to clang's", |r| r <= 1.03)
}

fn dynamic_near_static(m: &Measured) -> Finding {
    let names = ["treeadd", "perimeter", "bisort", "tsp", "llubench"];
    let measured = ratios(m, &names, |p| p.time_ratio(Variant::Dynamic, Variant::Static));
    let claim = "Our goal: treeadd, perimeter, bisort, tsp, llubench take at most 1.15 times as long with pools that can \
                 be expanded as with static ones.";
    all(claim, &measured, "time as a ratio to that with static pools", |r| r <= 1.15)
}

fn half_the_memory(m: &Measured) -> Finding {
    // Of ours, the version by hand tells where half of the memory is enough.
    let bound = |p: &ProgramCosts| {
        let bounded = p.memory_ratio(Variant::Hand, Variant::Malloc).is_some_and(|r| r <= 0.5);
        if bounded { p.memory_ratio(Variant::Static, Variant::Malloc) } else { None }
    };
    let names: Vec<&str> = m.programs.iter().map(|p| p.program.name).collect();
    let claim =
        "Our goal: at most half of the memory with malloc, where the version by hand needs no more than that.";
    all(claim, &ratios(m, &names, bound), "peak memory as a ratio to that with malloc", |r| r <= 0.5)
}

fn beats_allocators(m: &Measured) -> Finding {
    let claim =
        "Small pointers bring more than another allocator does: the mean time of our programs is less than with \
                 mimalloc and with jemalloc."
            .to_string();
    let ours: Vec<&ProgramCosts> = m.programs.iter().filter(|p| p.program.is_ours()).collect();
    let mean = |v: Variant| {
        let ratios: Vec<f64> = ours.iter().filter_map(|p| p.time_ratio(Variant::Static, v)).collect();
        Some((geometric_mean(&ratios)?, v))
    };
    let means: Vec<(f64, Variant)> = [Variant::Mimalloc, Variant::Jemalloc].into_iter().filter_map(mean).collect();
    if means.is_empty() {
        return Finding { claim, holds: None, evidence: "Neither is installed.".into() };
    }
    let shown: Vec<String> = means.iter().map(|(r, v)| format!("{r:.2} of that with {}", v.name())).collect();
    Finding {
        claim,
        holds: Some(means.iter().all(|(r, _)| *r < 1.0)),
        evidence: format!("Here {} (geometric mean of {} programs).", shown.join(", "), ours.len()),
    }
}

fn partly_compressed(m: &Measured) -> Finding {
    let claim = "Our goal: voronoi, health and mst, which the paper could not compress, are compressed in part.";
    let wanted = m.programs.iter().filter(|p| ["voronoi", "health", "mst"].contains(&p.program.name));
    let pools: Vec<(usize, String)> = wanted.filter_map(|p| Some((p.pools?.1, p.program.label()))).collect();
    let shown: Vec<String> = pools.iter().map(|(n, name)| format!("{name} {n}")).collect();
    Finding {
        claim: claim.into(),
        holds: (!pools.is_empty()).then(|| pools.iter().all(|p| p.0 > 0)),
        evidence: if pools.is_empty() {
            "They are in the llvm-test-suite: --suite DIR.".into()
        } else {
            format!("Here pools with smaller pointers: {}.", shown.join(", "))
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::c_programs::PROGRAMS;
    use super::super::costs::{Cost, Costs};
    use super::*;
    use crate::sample::Failed;
    use std::collections::BTreeMap;

    /// Our programs of these names, with seconds for malloc, pool, static, by hand.
    fn measured(programs: &[(&str, [f64; 4])]) -> Measured {
        let variants = [Variant::Malloc, Variant::Pool, Variant::Static, Variant::Hand];
        let costs = |seconds: [f64; 4]| -> Costs {
            variants.into_iter().zip(seconds.map(|s| Ok(Cost { seconds: s, bytes: s * 1e6 }))).collect()
        };
        let of = |(name, seconds): &(&str, [f64; 4])| ProgramCosts {
            program: PROGRAMS.iter().find(|p| p.is_ours() && p.name == *name).unwrap(),
            runs: costs(*seconds),
            builds: BTreeMap::new(),
            pools: None,
        };
        let programs = programs.iter().map(of).collect();
        Measured { suite: false, variants: variants.to_vec(), programs, lengths: Vec::new() }
    }

    #[test]
    fn a_goal_holds_only_if_every_program_meets_it() {
        let m = measured(&[("treeadd", [2.0, 1.5, 1.0, 1.0]), ("tsp", [2.0, 1.5, 1.1, 1.0])]);
        let finding = close_to_hand(&m);
        assert_eq!(finding.holds, Some(false));
        assert_eq!(
            finding.evidence,
            "Here 1 of 2; time as a ratio to that by hand: our treeadd 1.00, our tsp 1.10."
        );
        assert_eq!(close_to_hand(&measured(&[("treeadd", [2.0, 1.5, 1.04, 1.0])])).holds, Some(true));
    }

    #[test]
    fn what_was_not_measured_is_not_claimed() {
        let m = measured(&[("treeadd", [2.0, 1.5, 1.0, 1.0])]);
        for finding in [llubench_twice(&m), never_slower(&m), longer_lists_gain_more(&m), beats_allocators(&m)] {
            assert_eq!(finding.holds, None, "{}", finding.claim);
        }
        let mut m = measured(&[("em3d", [1.0, 1.0, 1.0, 1.0])]);
        assert_eq!(never_slower(&m).holds, Some(true));
        m.programs[0].runs.insert(Variant::Static, Err(Failed("exit status 1".into())));
        assert_eq!(never_slower(&m).holds, None, "a failed run is no number");
    }

    #[test]
    fn half_of_the_memory_is_asked_for_where_it_can_be_had() {
        // By hand em3d needs 0.7 of malloc's memory, bisort 0.4.
        let m = measured(&[("em3d", [1.0, 1.0, 0.8, 0.7]), ("bisort", [1.0, 0.8, 0.6, 0.4])]);
        let finding = half_the_memory(&m);
        assert_eq!(finding.holds, Some(false));
        assert!(finding.evidence.contains("our bisort 0.60") && !finding.evidence.contains("em3d"));
    }
}
