//! The memory accesses of a run, from valgrind's lackey, through caches of all sizes at once.
//!
//! Nothing is stored: the trace is read as it is made, and each access goes to every cache. Instructions cost a cycle,
//! read misses [`PENALTY`] more; writes that miss cost nothing, as in the paper's Figure 7, but are counted. The
//! program's start and its collections are in the trace.

use super::cache_simulator::{Cache, Geometry, OnWriteMiss};
use crate::measure::Run;
use crate::sample::{Failed, Sample};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Cycles that a read waits whose line is not there.
pub const PENALTY: f64 = 10.0;
/// Sizes of caches in KiB.
pub const KILOBYTES: [u64; 11] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];
/// Lines of a set.
pub const WAYS: [usize; 2] = [1, 4];
/// Both policies.
pub const POLICIES: [OnWriteMiss; 2] = [OnWriteMiss::Allocate, OnWriteMiss::Around];
/// The name of the number of instructions.
pub const INSTRUCTIONS: &str = "trace_instructions";

/// The name of the read misses, or of the write misses, of a cache.
pub fn name(reads: bool, geometry: Geometry) -> String {
    let Geometry { bytes, ways, on_write_miss } = geometry;
    let policy = if on_write_miss == OnWriteMiss::Allocate { "allocate" } else { "around" };
    format!("trace_{}_misses_{}k_{ways}_{policy}", if reads { "read" } else { "write" }, bytes >> 10)
}

/// Every cache.
pub fn geometries() -> impl Iterator<Item = Geometry> {
    POLICIES.into_iter().flat_map(|on_write_miss| {
        WAYS.into_iter().flat_map(move |ways| {
            KILOBYTES.into_iter().map(move |k| Geometry { bytes: k << 10, ways, on_write_miss })
        })
    })
}

/// Runs a program under lackey; tells what missed in every cache.
pub fn traced(run: &Run) -> Result<Sample, Failed> {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=lackey", "--trace-mem=yes"]).arg(&run.executable).args(&run.arguments);
    command
        .envs(run.environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let cannot = |e: std::io::Error| Failed(format!("cannot trace: {e}"));
    let mut child = command.spawn().map_err(cannot)?;
    let counted = simulate(BufReader::with_capacity(1 << 20, child.stderr.take().expect("piped"))).map_err(cannot);
    let status = child.wait().map_err(cannot)?;
    if !status.success() {
        return Err(Failed("the traced run failed".into()));
    }
    counted
}

fn simulate(mut trace: impl BufRead) -> std::io::Result<Sample> {
    let mut caches: Vec<Cache> = geometries().map(Cache::new).collect();
    let mut instructions = 0u64;
    let mut line = Vec::new();
    while trace.read_until(b'\n', &mut line)? > 0 {
        match line.first() {
            Some(b'I') => instructions += 1,
            Some(b' ') => {
                if let Some((address, bytes)) = access(&line[2..]) {
                    for cache in &mut caches {
                        // M: a read and a write.
                        if line[1] != b'S' {
                            cache.read(address, bytes);
                        }
                        if line[1] != b'L' {
                            cache.write(address, bytes);
                        }
                    }
                }
            }
            _ => {}
        }
        line.clear();
    }
    let mut sample: Sample = [(INSTRUCTIONS.to_string(), instructions as f64)].into();
    for cache in &caches {
        sample.insert(name(true, cache.geometry()), cache.read_misses as f64);
        sample.insert(name(false, cache.geometry()), cache.write_misses as f64);
    }
    Ok(sample)
}

/// ` 1fff000688,8`
fn access(text: &[u8]) -> Option<(u64, u64)> {
    let (address, bytes) = std::str::from_utf8(text).ok()?.trim().split_once(',')?;
    Some((u64::from_str_radix(address, 16).ok()?, bytes.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_of_five_accesses() {
        // Lines 0 and 64 (2 KiB further), which share a place in the smallest cache alone.
        let trace = "I  0401ab70,3\n S 00000000,8\n L 00000000,8\nI  0401ab73,5\n L 00000800,8\n M 00000000,8\n==1== end\n";
        let sample = simulate(trace.as_bytes()).unwrap();
        assert_eq!(sample[INSTRUCTIONS], 2.0);
        let misses = |reads, k: u64, ways, on_write_miss| {
            sample[&name(reads, Geometry { bytes: k << 10, ways, on_write_miss })]
        };
        use OnWriteMiss::{Allocate, Around};
        assert_eq!(misses(true, 2, 1, Allocate), 2.0, "the second line, and the first again");
        assert_eq!(misses(true, 4, 1, Allocate), 1.0);
        assert_eq!(misses(true, 2, 4, Allocate), 1.0);
        assert_eq!(misses(true, 2, 1, Around), 3.0, "the write did not bring the line");
        assert_eq!((misses(false, 2, 1, Allocate), misses(false, 2, 1, Around)), (1.0, 1.0));
        assert_eq!(sample.len(), 1 + 2 * 44);
    }
}
