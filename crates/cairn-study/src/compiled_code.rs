//! What the compiled code of an executable did, by kind of instruction: frames, limit checks, moves of the frame
//! pointer.
//!
//! The idea: callgrind tells how often each instruction was executed; the disassembly tells what each is. Compiled code
//! keeps to one convention (`cairn-layout/src/machine.rs`): `r12` is the machine's context, `r13` the frame pointer,
//! `r14` and `r15` the nursery. So a few patterns say what an instruction is for:
//!
//! ```text
//!   leaq -24(%r13),%rcx    creation    the new frame's address
//!   cmpq (%r12),%rcx       check       word 0 of the context is the limit, and asks for stops
//!   jb   slow
//!   movq $f.r10,(%rcx)                 return address and variables: not counted, every strategy stores them
//!   movq %rcx,%r13         creation
//!   addq $24,%r13          pop
//!   movq 2(%r13),%r13      link        (heap) back to the caller's frame
//!   movq 96(%r12),%rsi     free list   (quasi) the first free frame
//!   subq %r14,%rax         heap check  bytes left in the nursery
//! ```
//!
//! A *frame* is a call that is not a tail call (Appel & Shao 1996, Figure 1). Compiled code is split there, and what
//! follows is a function of its own, a return point: `scm.NAME.N.rM`. So frames are the executions of first
//! instructions of return points. Not seen are calls that are left by a continuation or return several values; nothing
//! else is missing, also not in the library's procedures.

use crate::sample::Sample;
use cairn_layout::machine::Machine;
use std::collections::{BTreeMap, HashMap};
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

/// Calls that were not tail calls, and returned.
pub const FRAMES: &str = "code_frames";
/// Instructions of compiled Scheme, without the runtime's.
pub const INSTRUCTIONS: &str = "code_instructions";
/// Comparisons with the limit of frames, which are requests for stops as well; each is followed by a branch.
pub const CHECKS: &str = "code_checks";
/// Instructions that make the address of a new frame out of the frame pointer, or set the frame pointer.
pub const CREATION: &str = "code_creation";
/// Instructions that make the address of the caller's frame out of the frame pointer: the pop of a stack.
pub const POP: &str = "code_pop";
/// Loads of the frame pointer from the frame: of frames that link to the caller's.
pub const LINK: &str = "code_link";
/// Loads and stores of the head of the list of free frames.
pub const FREE_LIST: &str = "code_free_list";
/// Checks for room in the nursery, of four instructions each.
pub const HEAP_CHECKS: &str = "code_heap_checks";

/// How often each instruction was executed; and where the functions of compiled Scheme begin.
#[derive(Default)]
struct Executed {
    instructions: BTreeMap<u64, f64>,
    /// Lowest executed address by name. The first instruction of a function is executed whenever it is entered.
    entries: HashMap<String, u64>,
}

/// The counts of a run under callgrind with `--dump-instr=yes --compress-pos=no --compress-strings=no`; empty for an
/// executable that is not Cairn's, and without `objdump`.
pub fn counts(executable: &Path, callgrind: &Path) -> Sample {
    let executed = std::fs::read_to_string(callgrind).map(|text| executed(&text)).unwrap_or_default();
    if executed.entries.is_empty() {
        return Sample::new();
    }
    let addresses = executed.instructions.keys();
    let (first, last) = (addresses.clone().next().unwrap_or(&0), addresses.last().unwrap_or(&0));
    let mut command = Command::new("objdump");
    command.args(["--disassemble", "--no-show-raw-insn"]).arg(executable);
    command.arg(format!("--start-address={first:#x}")).arg(format!("--stop-address={:#x}", last + 1));
    let Ok(output) = command.output() else { return Sample::new() };
    classified(&executed, &String::from_utf8_lossy(&output.stdout))
}

/// Reads callgrind's file; keeps the functions of compiled Scheme.
fn executed(text: &str) -> Executed {
    let mut result = Executed::default();
    let mut function: Option<&str> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("fn=") {
            // Levels of recursion are functions of their own: `scm.f.1'2`.
            let name = name.split_once('\'').map_or(name, |(name, _)| name);
            function = name.starts_with("scm.").then_some(name);
        } else if line.starts_with("calls=") {
            lines.next(); // what the callee cost
        } else if let (Some(name), Some((address, count))) = (function, executed_line(line)) {
            *result.instructions.entry(address).or_default() += count;
            let entry = result.entries.entry(name.into()).or_insert(address);
            *entry = address.min(*entry);
        }
    }
    result
}

/// `0x41a080 12`
fn executed_line(line: &str) -> Option<(u64, f64)> {
    let (address, count) = line.strip_prefix("0x")?.split_once(' ')?;
    Some((u64::from_str_radix(address, 16).ok()?, count.parse().ok()?))
}

/// Is this the name of a return point, `scm.NAME.N.rM`?
fn is_return_point(name: &str) -> bool {
    let last = name.rsplit('.').next().and_then(|l| l.strip_prefix('r'));
    last.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn classified(executed: &Executed, disassembly: &str) -> Sample {
    let count = |address: u64| executed.instructions.get(&address).copied().unwrap_or(0.0);
    let mut returns: Vec<u64> =
        executed.entries.iter().filter(|(name, _)| is_return_point(name)).map(|(_, &a)| a).collect();
    returns.sort_unstable();
    returns.dedup(); // one function may have several names
    let kinds = [CHECKS, CREATION, POP, LINK, FREE_LIST, HEAP_CHECKS];
    let mut sample: Sample = kinds.map(|name| (name.to_string(), 0.0)).into();
    sample.insert(FRAMES.into(), returns.iter().map(|&a| count(a)).sum());
    sample.insert(INSTRUCTIONS.into(), executed.instructions.values().sum());
    let free_list = format!("{:#x}(%r12)", offset_of!(Machine, free_parts));
    for line in disassembly.lines() {
        let Some((address, instruction)) = line.trim_start().split_once(":\t") else { continue };
        let Ok(address) = u64::from_str_radix(address, 16) else { continue };
        if let Some(kind) = kind(instruction, &free_list) {
            *sample.get_mut(kind).expect("all kinds are there") += count(address);
        }
    }
    sample
}

/// What an instruction is for, if it is one of those that are counted.
fn kind(instruction: &str, free_list: &str) -> Option<&'static str> {
    let (name, operands) = instruction.split_once(char::is_whitespace)?;
    let operands = operands.trim();
    if operands.starts_with("(%r12)") || operands.contains(",(%r12)") {
        // A store there would be a write to the limit; compiled code has none.
        return (name.starts_with("cmp") || operands.starts_with("(%r12)")).then_some(CHECKS);
    }
    if operands.contains(free_list) {
        return Some(FREE_LIST);
    }
    if name.starts_with("sub") && operands.starts_with("%r14,") {
        return Some(HEAP_CHECKS);
    }
    let sets = operands.ends_with(",%r13") && !name.starts_with("cmp") && !name.starts_with("test");
    let computes = name.starts_with("lea") && operands.contains("(%r13)");
    let amount = operands.trim_start_matches('$');
    let negative = amount.starts_with('-') || amount.starts_with("0xffffffff");
    match () {
        () if sets && name.starts_with("mov") && operands.contains("(%r13)") => Some(LINK),
        () if !sets && !computes => None,
        () if name.starts_with("mov") || name.starts_with("sub") != negative => Some(CREATION),
        () => Some(POP),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: &str = "\
positions: instr
events: Ir

fn=start
0x100 7
cfn=scm.f.1
calls=1 0x200
0x104 5000

fn=scm.f.1
0x200 3
0x204 3
cfn=scm.f.1'2
calls=3 0x200
0x208 77
0x208 400

fn=scm.f.1'2
0x200 10
0x204 9

fn=scm.f.1.r12
0x300 4
0x304 4

fn=scm.f.1.b3
0x400 2
totals: 45
";

    #[test]
    fn frames_are_entries_of_return_points() {
        let disassembly = "\
0000000000000200 <scm.f.1>:
     200:\tlea    -0x18(%r13),%rcx
     204:\tcmp    (%r12),%rcx
     208:\tmov    %rcx,%r13
     300:\tmov    0x8(%r13),%rax
     304:\tadd    $0x18,%r13
     400:\tsub    %r14,%rax
     500:\tadd    $0x18,%r13
";
        let sample = classified(&executed(COUNTS), disassembly);
        let expected = [
            (FRAMES, 4.0),
            (INSTRUCTIONS, 13.0 + 12.0 + 400.0 + 8.0 + 2.0),
            (CHECKS, 12.0),
            (CREATION, 13.0 + 400.0),
            (POP, 4.0),
            (LINK, 0.0),
            (FREE_LIST, 0.0),
            (HEAP_CHECKS, 2.0),
        ];
        assert_eq!(sample, expected.map(|(name, n)| (name.to_string(), n)).into());
    }

    #[test]
    fn kinds_of_instructions() {
        for (instruction, expected) in [
            ("cmpq   $0x0,(%r12)", Some(CHECKS)),
            ("mov    (%r12),%rax", Some(CHECKS)),
            ("mov    0x70(%r12),%rax", None),
            ("mov    0x60(%r12),%rsi", Some(FREE_LIST)),
            ("mov    %rsi,0x60(%r12)", Some(FREE_LIST)),
            ("mov    0x2(%r13),%r13", Some(LINK)),
            ("mov    %rcx,%r13", Some(CREATION)),
            ("lea    -0x18(%r13),%rcx", Some(CREATION)),
            ("add    $0xffffffffffffffe8,%r13", Some(CREATION)),
            ("sub    $0xffffffffffffff80,%r13", Some(POP)),
            ("lea    0x18(%r13),%rcx", Some(POP)),
            ("add    $0x18,%r13", Some(POP)),
            ("mov    %rax,-0x8(%r13)", None),
            ("cmp    %rax,%r13", None),
            ("sub    %r14,%rax", Some(HEAP_CHECKS)),
            ("sub    %rax,%r14", None),
            ("ret", None),
        ] {
            assert_eq!(kind(instruction, "0x60(%r12)"), expected, "{instruction}");
        }
        assert!(
            is_return_point("scm.f.1.r12") && !is_return_point("scm.for.12") && !is_return_point("scm.r.1.b2")
        );
    }
}
