//! A system that refuses memory to a heap in the making: an error, whatever table it is that lacks room, never a panic.
#![allow(unsafe_code, missing_docs)]

use cairn_heap::{Heap, HeapConfig, HeapError, Scheme};
use cairn_layout::facts::{GEN, MARKSWEEP, MCC};
use std::process::Command;

/// Bytes of addresses that this process uses.
fn addresses() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("a Linux system");
    4096 * text.split(' ').next().unwrap().parse::<u64>().unwrap()
}

/// What `f` gives while the process may use at most this many bytes of addresses.
fn limited<T>(bytes: u64, f: impl FnOnce() -> T) -> T {
    let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid `rlimit`, which the first call fills and the second reads.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &mut before), 0);
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: bytes, ..before }), 0);
        let value = f();
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &before), 0);
        value
    }
}

/// In a process of its own, for the limit is the process's: how many heaps there were, and how many errors.
fn within_limits() {
    for collector in [&GEN, &MCC, &MARKSWEEP] {
        // Pages so small, and mark stacks so large, that their tables are what lacks room at some of the steps.
        let config = HeapConfig { collector, page_bytes: 512, mark_stack: 1 << 23, ..HeapConfig::default() };
        let (mut made, mut refused) = (0, 0);
        // From nothing at all to beyond what the smallest region needs with all of its tables: in between, there is
        // room for some of these, and none for the next.
        for step in 0..1800 {
            match limited(addresses() + (step << 19), || Heap::new(Scheme, config.clone())) {
                Ok(_) => made += 1,
                Err(HeapError::Reserve(e)) if e.kind() == std::io::ErrorKind::OutOfMemory => refused += 1,
                Err(e) => panic!("{}, step {step}: {e}", collector.name),
            }
        }
        println!("{}: {made} made, {refused} refused", collector.name);
        assert!(made > 0 && refused > 0, "{}: {made} made, {refused} refused", collector.name);
    }
}

#[test]
fn a_heap_without_room_for_its_tables_is_an_error() {
    const INSIDE: &str = "CAIRN_TEST_WITHIN_LIMITS";
    if std::env::var_os(INSIDE).is_some() {
        return within_limits();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["a_heap_without_room_for_its_tables_is_an_error", "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && text.contains("marksweep: "), "{}\n{text}", child.status);
}
