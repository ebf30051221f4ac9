//! Linking: first as clang does it, then again with what whole-program analysis has made of the bitcode.
//!
//! The first link answers all questions about the program: its errors are the linker's own, its trace names each file
//! and archive member that takes part, and its dynamic symbols are what shared libraries use of the program. And
//! whatever makes compression impossible, the first program stays.

use crate::clang::{Scratch, clang, exit_code, output};
use crate::command::{Command, Piece};
use crate::compilation;
use crate::html_report;
use crate::link_options;
use crate::parts::{Parts, parts};
use crate::sections::{self};
use crate::settings::{Mode, Report, Settings};
use crate::whole_program::{Outcome, Rewritten, transform};
use cairn_html::Html;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// `cairn cc` without `-c`: an executable.
pub(crate) fn program(command: &Command, settings: &Settings, scratch: &Scratch) -> Result<ExitCode, String> {
    let mut pieces = command.pieces.clone();
    for piece in &mut pieces {
        let (source, is_c) = match &piece {
            Piece::Source(source) => (source, true),
            // so that the second link finds what the first one linked
            Piece::Input(source) if compilation::is_other_source(source) => (source, false),
            _ => continue,
        };
        let object = scratch.file(source, "o");
        let made = match is_c {
            true => compilation::object(command, settings, scratch, source, &object)?,
            false => compilation::other_object(command, source, &object)?,
        };
        if let Err(code) = made {
            return Ok(code);
        }
        *piece = Piece::Input(object);
    }
    if settings.emit.is_some() {
        pieces.retain(|p| !matches!(p, Piece::Output(_)));
        pieces.push(Piece::Output(scratch.file(std::path::Path::new("first"), "exe")));
    }
    let result = output(clang().args(words(&pieces, &[])).args(["-Qunused-arguments", "-Wl,-t,-t"]))?;
    // What was said, if it was said.
    let _ = std::io::stderr().write_all(&result.stderr);
    if !result.status.success() {
        return Ok(exit_code(result.status));
    }
    let refused = match settings.mode != Mode::Off && command.without_bitcode.is_none() {
        false => Some(why_not(command, settings)),
        true => again(command, settings, scratch, &pieces, &result.stdout).err(),
    };
    if settings.emit.is_some()
        && let Some(reason) = refused
    {
        return Err(reason);
    }
    match (refused, settings.report) {
        (Some(reason), Report::Text) => eprintln!("cairn cc: compiled as clang does: {reason}"),
        (Some(reason), Report::Html) => write_page(&executable(&pieces), Some(&reason), &Html::new())?,
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn why_not(command: &Command, settings: &Settings) -> String {
    match &command.without_bitcode {
        _ if settings.mode == Mode::Off => "--ptrcomp=off".into(),
        Some(option) => format!("{option} needs the code as it is"),
        None => String::new(),
    }
}

/// The arguments of a link; `bitcode` are the inputs that one merged object takes the place of.
fn words(pieces: &[Piece], bitcode: &[PathBuf]) -> Vec<OsString> {
    let mut words = vec![];
    for piece in pieces {
        match piece {
            Piece::Source(path) | Piece::Input(path) => {
                if !bitcode.contains(path) {
                    words.push(path.clone().into());
                }
            }
            Piece::Output(path) => words.extend(["-o".into(), path.clone().into()]),
            Piece::JustCompile | Piece::Dependencies(_) => {}
            Piece::Debug(word) => words.push(word.clone()),
            Piece::Linker(more) | Piece::Flag(more) => words.extend(more.iter().cloned()),
        }
    }
    words
}

/// The second link; the error says why the program stays what it is.
fn again(
    command: &Command,
    settings: &Settings,
    scratch: &Scratch,
    pieces: &[Piece],
    trace: &[u8],
) -> Result<(), String> {
    let program = executable(pieces);
    let trace = String::from_utf8_lossy(trace);
    if let Some(option) = link_options::strange(pieces) {
        return Err(format!("the linker's option {option} may change what names mean"));
    }
    let parts = parts(&trace, &program)?;
    let edited = match parts.edited.is_empty() {
        true => String::new(),
        false => format!("no longer the object that was compiled: {}", parts.edited.join(", ")),
    };
    if parts.modules.is_empty() && !edited.is_empty() {
        return Err(edited);
    }
    if parts.modules.is_empty() {
        return Err("no object has bitcode: compile with -O, or with --ptrcomp=static".into());
    }
    let transformed = transform(&parts, settings, scratch);
    let transformed = transformed.map_err(|e| if edited.is_empty() { e } else { format!("{e}\n{edited}") })?;
    let Rewritten { bitcode, report, page, dynamic } = match transformed {
        Outcome::Text(text) => {
            return show(command, &text);
        }
        Outcome::Bitcode(rewritten) => rewritten,
    };
    let merged = scratch.file(std::path::Path::new("merged"), "o");
    let mut compile = clang();
    compile.args(command.compile_flags(false)).args(["-Qunused-arguments", "-c"]);
    if !command.optimizes {
        compile.arg("-O2");
    }
    if dynamic {
        // Loops ask once whether objects are narrow; clang does this from -O3 on.
        compile.args(["-mllvm", "-enable-nontrivial-unswitch"]);
    }
    let result = output(compile.arg(&bitcode).arg("-o").arg(&merged))?;
    if !result.status.success() {
        return Err(String::from_utf8_lossy(&result.stderr).into_owned());
    }
    link_again(scratch, pieces, &parts, merged, &program, &trace)?;
    match settings.report {
        Report::Text if edited.is_empty() => eprint!("{report}"),
        Report::Text => eprintln!("{report}{edited}"),
        Report::Html => write_page(&program, None, &page)?,
        Report::None => {}
    }
    Ok(())
}

/// The file that the link writes.
fn executable(pieces: &[Piece]) -> PathBuf {
    let output_of = |p: &Piece| if let Piece::Output(path) = p { Some(path.clone()) } else { None };
    pieces.iter().rev().find_map(output_of).unwrap_or("a.out".into())
}

/// The report beside the program, as `PROGRAM.html`.
fn write_page(program: &std::path::Path, refused: Option<&str>, body: &Html) -> Result<(), String> {
    let mut page = program.as_os_str().to_os_string();
    page.push(".html");
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    std::fs::write(&page, html_report::page(&name, refused, body))
        .map_err(|e| format!("cannot write {}: {e}", std::path::Path::new(&page).display()))
}

/// Prints text, or writes it where the output is to go.
fn show(command: &Command, text: &str) -> Result<(), String> {
    match command.output() {
        Some(path) => std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display())),
        None => std::io::stdout().write_all(text.as_bytes()).map_err(|e| format!("cannot write the output: {e}")),
    }
}

fn merged_name(piece: &Piece) -> String {
    if let Piece::Input(path) = piece { path.to_string_lossy().into_owned() } else { String::new() }
}

/// Links the merged object in place of those it was made of; the first program is only replaced by a whole one.
fn link_again(
    scratch: &Scratch,
    pieces: &[Piece],
    parts: &Parts,
    merged: PathBuf,
    program: &std::path::Path,
    trace: &str,
) -> Result<(), String> {
    let second = scratch.file(program, "exe");
    let mut pieces: Vec<Piece> = pieces.iter().filter(|p| !matches!(p, Piece::Output(_))).cloned().collect();
    let first = pieces.iter().position(|p| matches!(p, Piece::Input(_))).unwrap_or(0);
    pieces.insert(first, Piece::Input(merged));
    pieces.push(Piece::Output(second.clone()));
    let input = merged_name(&pieces[first]);
    let result = output(clang().args(words(&pieces, &parts.objects)).args(["-Qunused-arguments", "-Wl,-t,-t"]))?;
    if !result.status.success() {
        return Err(String::from_utf8_lossy(&result.stderr).into_owned());
    }
    // An object of a library that only code asked for which is gone would be missing, with its constructors.
    let ours: BTreeSet<&str> = parts.objects.iter().filter_map(|p| p.to_str()).chain([&*input]).collect();
    let others = |trace: &str| -> BTreeSet<String> {
        trace.lines().filter(|l| !l.is_empty() && !ours.contains(l)).map(str::to_string).collect()
    };
    let second_trace = String::from_utf8_lossy(&result.stdout);
    let (first, second_time) = (others(trace), others(&second_trace));
    if let Some(other) = first.symmetric_difference(&second_time).find(|n| !sections::of_the_system(n)) {
        return Err(format!("{other} would no longer take part in the link as it does"));
    }
    std::fs::copy(&second, program).map(|_| ()).map_err(|e| format!("cannot write {}: {e}", program.display()))
}
