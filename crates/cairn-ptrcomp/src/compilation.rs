//! C to objects that also carry bitcode.
//!
//! Clang compiles each source twice: to machine code exactly as asked, and to bitcode before any optimization, which
//! `objcopy` then adds to the object as a section that linkers drop. Before optimization, because the analysis reads
//! which types the program uses from address computations, and LLVM's first passes already rewrite those to bytes.
//! The bitcode has line numbers for the report and nothing else for debuggers.
//!
//! Whenever bitcode can't be made, the object is just what clang makes, and the link treats it as foreign code.

use crate::clang::{Scratch, clang, exit_code, output, status};
use crate::command::{Command, Piece};
use crate::sections;
use crate::settings::{Mode, Settings};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `cairn cc -c`: an object for each source.
pub(crate) fn all(command: &Command, settings: &Settings, scratch: &Scratch) -> Result<ExitCode, String> {
    let sources: Vec<&Path> = command.sources().collect();
    let others: Vec<&PathBuf> = command
        .pieces
        .iter()
        .filter_map(|p| match p {
            Piece::Input(path) => Some(path),
            _ => None,
        })
        .collect();
    if !others.is_empty() || command.output().is_some() && sources.len() > 1 {
        // Assembly, C++, or a mistake that clang explains.
        return crate::clang::just_clang(&words(command));
    }
    for source in sources {
        let target = command.output().map_or_else(|| beside(source), Path::to_path_buf);
        if let Err(code) = object(command, settings, scratch, source, &target)? {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The object clang names when it isn't told a name.
fn beside(source: &Path) -> PathBuf {
    Path::new(source.file_name().unwrap_or_default()).with_extension("o")
}

/// The command line as it was.
fn words(command: &Command) -> Vec<OsString> {
    let mut words = vec![];
    for piece in &command.pieces {
        match piece {
            Piece::Source(path) | Piece::Input(path) => words.push(path.clone().into()),
            Piece::Output(path) => words.extend(["-o".into(), path.clone().into()]),
            Piece::JustCompile => words.push("-c".into()),
            Piece::Debug(word) => words.push(word.clone()),
            Piece::Dependencies(more) | Piece::Linker(more) | Piece::Flag(more) => {
                words.extend(more.iter().cloned())
            }
        }
    }
    words
}

/// Is bitcode of use?
pub(crate) fn wants_bitcode(command: &Command, settings: &Settings) -> bool {
    settings.mode != Mode::Off && command.without_bitcode.is_none() && (command.optimizes || settings.explicit)
}

/// Compiles one source; the inner error is clang's exit code, after it has said why.
pub(crate) fn object(
    command: &Command,
    settings: &Settings,
    scratch: &Scratch,
    source: &Path,
    target: &Path,
) -> Result<Result<(), ExitCode>, String> {
    let bitcode = wants_bitcode(command, settings).then(|| scratch.file(source, "bc"));
    let flags = command.compile_flags(true);
    let native = || status(clang().args(&flags).arg("-c").arg(source).arg("-o").arg(target));
    let make = |bitcode: &Path| make_bitcode(command, source, bitcode);
    // Both at a time, since most machines have more than one processor; but not where both would write the same files.
    let (native, made) = match flags.iter().any(|f| f.to_string_lossy().contains("save-temps")) {
        true => (native(), bitcode.as_deref().map(make)),
        false => std::thread::scope(|scope| {
            let made = bitcode.as_deref().map(|bitcode| scope.spawn(move || make(bitcode)));
            (native(), made.map(|m| m.join().unwrap_or_else(|_| Err("bitcode was not made".into()))))
        }),
    };
    let native = native?;
    if !native.success() {
        return Ok(Err(exit_code(native)));
    }
    // What isn't a file can't be given a section.
    if let (Some(bitcode), Some(made)) = (bitcode, made)
        && made?
        && target.is_file()
    {
        sections::embed(target, &bitcode, scratch)?;
    }
    Ok(Ok(()))
}

/// Is it a source in another language, which clang would compile, or assemble, as it links?
pub(crate) fn is_other_source(path: &Path) -> bool {
    const ENDINGS: [&str; 13] = ["s", "S", "sx", "cc", "cp", "cpp", "cxx", "c++", "C", "ii", "i", "bc", "ll"];
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| ENDINGS.contains(&e))
}

/// Has clang make an object of such a source; the inner error is its exit code.
pub(crate) fn other_object(
    command: &Command,
    source: &Path,
    target: &Path,
) -> Result<Result<(), ExitCode>, String> {
    let made = status(clang().args(command.compile_flags(true)).arg("-c").arg(source).arg("-o").arg(target))?;
    Ok(if made.success() { Ok(()) } else { Err(exit_code(made)) })
}

/// Bitcode of a source, unoptimized but of the kind that optimization wants; false if clang refuses.
pub(crate) fn make_bitcode(command: &Command, source: &Path, target: &Path) -> Result<bool, String> {
    let mut compile = clang();
    compile.args(command.compile_flags(false));
    if !command.optimizes {
        compile.arg("-O1");
    }
    compile.args(["-Xclang", "-disable-llvm-passes", "-gline-tables-only", "-w", "-emit-llvm", "-c"]);
    let result = output(compile.arg(source).arg("-o").arg(target))?;
    Ok(result.status.success())
}
