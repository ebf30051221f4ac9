//! # cairn-ptrcomp: C compiled with pool allocation and pointer compression
//!
//! The problem: half of what a linked data structure occupies on a 64-bit machine is the upper half of its pointers.
//! The idea (Lattner & Adve 2005): a points-to analysis of the whole program finds data structures whose objects can
//! be told apart from all others and are used by type; each gets a pool of its own; inside, a pointer needs only tell
//! the place in the pool.
//!
//! Entry point: [`cc`], the command `cairn cc`. The path of a program:
//!
//! ```text
//!  a.c ──clang-19──▶ a.o: machine code, and bitcode in a section of its own (`compilation`, `sections`)
//!  link ──ld──▶ the program as clang makes it (`linking`): what stays whenever something below is refused
//!       └─ bitcode of all objects ──▶ merged module ──▶ ... ──clang-19──▶ the program with smaller pointers
//! ```
//!
//! Invariants: what clang-19 accepts is accepted, with the same messages and the same exit status; a program is only
//! changed where the analysis has proven that nothing can notice; everything else is as clang compiles it.
//!
//! *Live handles.* LLVM's functions ask for little more than that a handle is live, and of the kind that they are for.
//! What files here get as `ModuleRef`, `ValueRef`, `TypeRef` and so on belongs to the one context of the session under
//! way (`whole_program`), which is disposed of last, and nobody uses the handle of a value that was erased. SAFETY
//! notes take that for granted, and say how the kind is known.

mod allocation_counts;
mod clang;
mod command;
mod compilation;
mod data_copies;
mod dsa;
mod fingerprint;
mod global_homes;
mod homes;
mod html_report;
mod link_options;
mod linking;
mod llvm_codes;
mod model;
mod module_reader;
mod names;
mod object_index;
mod parts;
mod plan;
mod rewrite;
mod sections;
mod settings;
mod shape;
mod shown;
mod slots;
mod threads;
mod whole_program;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs `cairn cc` with these arguments, without the program's name; messages go to standard error.
pub fn cc(arguments: &[OsString]) -> ExitCode {
    match run(arguments) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("cairn cc: {message}");
            ExitCode::FAILURE
        }
    }
}

const HELP: &str = "\
Compiles C with clang-19, with pool allocation and pointer compression when linking

Usage: cairn cc [OPTION]... [CLANG'S OPTION]... FILE...

  --ptrcomp=off|pool|static|dynamic|auto  what is done with data structures: nothing, pools, pools with small
                             pointers, with pointers that are small until a pool outgrows them, or static where
                             that is proven to suffice and dynamic where not (default)
  --pool-bits=8|16|32        how many bits a small pointer has; a pool holds 1 KiB, 256 KiB or 4 GiB (default: 32)
  --report[=html]            say what was done at a link, and why the rest was not: on standard error, or as PROGRAM.html
  --emit=graph|dot|pools|llvm  print the points-to graph, the pools or the code of the linked program
  --check-indices            check each small pointer when the program runs

Each can also be set by an environment variable: CAIRN_PTRCOMP, CAIRN_POOL_BITS, CAIRN_REPORT, CAIRN_EMIT,
CAIRN_CHECK_INDICES.
`make CC=\"cairn cc\"` works: objects (-c) carry bitcode, which is used when a program is linked with -O.
";

fn run(arguments: &[OsString]) -> Result<ExitCode, String> {
    if arguments == ["--help"] {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let (settings, rest) = settings::Settings::parse(arguments)?;
    let command = command::Command::parse(&rest);
    if let command::Task::Other = command.task {
        if let (Some(option), settings::Report::Text) = (&command.left, settings.report) {
            eprintln!("cairn cc: compiled as clang does: {option} is left to clang");
        }
        return clang::just_clang(&rest);
    }
    let scratch = clang::Scratch::new()?;
    match &command.task {
        command::Task::Compile => compilation::all(&command, &settings, &scratch),
        _ => linking::program(&command, &settings, &scratch),
    }
}
