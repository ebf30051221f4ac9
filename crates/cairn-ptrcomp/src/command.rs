//! A command line of clang's, understood as far as needed: what is to be done, which arguments are files, which belong
//! to compiling and which to linking.
//!
//! Whatever isn't understood makes the task [`Task::Other`], or stays an argument of both compiling and linking, as for
//! clang itself.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What clang is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Objects (`-c`).
    Compile,
    /// An executable.
    Link,
    /// What is none of our business: preprocessing, assembly, shared libraries, questions about the compiler.
    Other,
}

/// One argument, with its value if that stands apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// A file in C.
    Source(PathBuf),
    /// Any other file.
    Input(PathBuf),
    /// `-o`: the output.
    Output(PathBuf),
    /// `-c`.
    JustCompile,
    /// For the preprocessor's dependency files: they are written once.
    Dependencies(Vec<OsString>),
    /// Debug information.
    Debug(OsString),
    /// For the linker only.
    Linker(Vec<OsString>),
    /// For both.
    Flag(Vec<OsString>),
}

/// A command line.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub task: Task,
    pub pieces: Vec<Piece>,
    /// It optimizes.
    pub optimizes: bool,
    /// An option that no bitcode is made with, since code is instrumented or laid out by it.
    pub without_bitcode: Option<String>,
    /// The option for which a program that is linked is left to clang.
    pub left: Option<String>,
}

/// Options that are followed by their value.
const WITH_VALUE: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-imacros",
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-Xclang",
    "-Xassembler",
    "-Xpreprocessor",
    "-target",
    "-mllvm",
    "--param",
    "-arch",
    "-working-directory",
    "--sysroot",
    "-aux-info",
    "-x",
];
const LINKER_WITH_VALUE: &[&str] = &["-L", "-l", "-Xlinker", "-T", "-u", "-z", "-e", "-rpath", "-soname"];
const DEPENDENCIES_WITH_VALUE: &[&str] = &["-MF", "-MT", "-MQ"];
const DEPENDENCIES: &[&str] = &["-MD", "-MMD", "-MP", "-MG", "-MV"];
/// Prefixes of what asks for something else than an object or an executable.
const OTHER: &[&str] = &[
    "-E",
    "-S",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-shared",
    "-r",
    "-emit-llvm",
    "-###",
    "--version",
    "-v",
    "--help",
    "-dumpversion",
    "-dumpmachine",
    "-cc1",
    "-cc1as",
    "--analyze",
    "--precompile",
    "-emit-ast",
    "--driver-mode",
];
const OTHER_PREFIXES: &[&str] = &["-print-", "--print-", "-flto", "-dump", "--help-", "@", "-dM"];
/// Prefixes of those with which a program, or a library, is linked.
const LINKED: &[&str] = &["-shared", "-r", "-flto", "@"];
/// Prefixes of options that bitcode isn't made with.
const WITHOUT_BITCODE: &[&str] = &[
    "-fsanitize",
    "-fprofile",
    "-pg",
    "--coverage",
    "-fcoverage",
    "-finstrument",
    "-fno-lto-bitcode",
    "-m32",
    "-mx32",
];
const LINKER_PREFIXES: &[&str] = &[
    "-Wl,",
    "-l",
    "-L",
    "-T",
    "-fuse-ld",
    "-static",
    "-pie",
    "-no-pie",
    "-nostartfiles",
    "-nodefaultlibs",
    "-nolibc",
    "-rdynamic",
    "-s",
    "-z",
];

impl Command {
    pub(crate) fn parse(arguments: &[OsString]) -> Command {
        let mut command =
            Command { task: Task::Link, pieces: vec![], optimizes: false, without_bitcode: None, left: None };
        let mut language: Option<String> = None;
        let mut rest = arguments.iter();
        let mut other = false;
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            let text = &*text;
            if OTHER.contains(&text) || OTHER_PREFIXES.iter().any(|p| text.starts_with(p)) {
                other = true;
                command.left = LINKED.iter().any(|p| text.starts_with(p)).then(|| text.to_string());
            }
            let mut with_value = || [argument.clone()].into_iter().chain(rest.next().cloned()).collect::<Vec<_>>();
            let piece = if text == "-o" {
                Piece::Output(with_value().pop().unwrap_or_default().into())
            } else if text == "-c" {
                command.task = Task::Compile;
                Piece::JustCompile
            } else if DEPENDENCIES_WITH_VALUE.contains(&text) {
                Piece::Dependencies(with_value())
            } else if LINKER_WITH_VALUE.contains(&text) {
                Piece::Linker(with_value())
            } else if WITH_VALUE.contains(&text) {
                let pair = with_value();
                if text == "-x" {
                    language = pair.get(1).map(|l| l.to_string_lossy().into_owned());
                }
                Piece::Flag(pair)
            } else if text == "-" || !text.starts_with('-') {
                file(argument, language.as_deref(), &mut other)
            } else {
                command.option(argument, text)
            };
            command.pieces.push(piece);
        }
        let inputs = command.pieces.iter().any(|p| matches!(p, Piece::Source(_) | Piece::Input(_)));
        if command.task == Task::Compile {
            command.left = None;
        } else if let (None, Some(language)) = (&command.left, &language) {
            command.left = (!other).then(|| format!("-x {language}"));
        }
        if other || !inputs || language.is_some() {
            command.task = Task::Other;
        }
        command
    }

    fn option(&mut self, argument: &OsString, text: &str) -> Piece {
        if let Some(level) = text.strip_prefix("-O") {
            self.optimizes = level != "0";
        }
        if WITHOUT_BITCODE.iter().any(|p| text.starts_with(p)) {
            self.without_bitcode = Some(text.to_string());
        }
        if let Some(output) = text.strip_prefix("-o").filter(|o| !o.is_empty() && !text.starts_with("-objc")) {
            return Piece::Output(output.into());
        }
        if DEPENDENCIES.contains(&text) || text.starts_with("-MF") || text.starts_with("-Wp,-M") {
            return Piece::Dependencies(vec![argument.clone()]);
        }
        if text.starts_with("-g") {
            return Piece::Debug(argument.clone());
        }
        if LINKER_PREFIXES.iter().any(|p| text.starts_with(p)) && !text.starts_with("-std") {
            return Piece::Linker(vec![argument.clone()]);
        }
        Piece::Flag(vec![argument.clone()])
    }

    /// Where the output goes, if that is said.
    pub(crate) fn output(&self) -> Option<&Path> {
        self.pieces.iter().rev().find_map(|p| match p {
            Piece::Output(path) => Some(path.as_path()),
            _ => None,
        })
    }

    /// The sources in C.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.pieces.iter().filter_map(|p| match p {
            Piece::Source(path) => Some(path.as_path()),
            _ => None,
        })
    }

    /// The flags of compiling; with those for debugging and dependency files or without.
    pub(crate) fn compile_flags(&self, all: bool) -> Vec<OsString> {
        let mut flags = vec![];
        for piece in &self.pieces {
            match piece {
                Piece::Flag(words) => flags.extend(words.iter().cloned()),
                Piece::Dependencies(words) if all => flags.extend(words.iter().cloned()),
                Piece::Debug(word) if all => flags.push(word.clone()),
                _ => {}
            }
        }
        flags
    }
}

fn file(argument: &OsStr, language: Option<&str>, other: &mut bool) -> Piece {
    let path = PathBuf::from(argument);
    if argument == "-" {
        *other = true;
    }
    if language.is_none() && path.extension().is_some_and(|e| e == "c") {
        return Piece::Source(path);
    }
    Piece::Input(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Command {
        Command::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn tasks() {
        let task = |line| parse(line).task;
        assert_eq!(task("-O2 -c a.c -o a.o"), Task::Compile);
        assert_eq!(task("-O2 a.c b.o -lm -o prog"), Task::Link);
        for line in [
            "-E a.c",
            "-S a.c",
            "-shared a.o -o a.so",
            "--version",
            "-print-file-name=libm.a",
            "-MM a.c",
            "-flto a.c",
            "-x c a.h",
            "-",
            "-O2",
        ] {
            assert_eq!(task(line), Task::Other, "{line}");
        }
    }

    #[test]
    fn what_is_left_to_clang() {
        let left = |line| parse(line).left;
        for (line, option) in
            [("-shared a.o", "-shared"), ("-O2 -flto=thin a.c", "-flto=thin"), ("-x c a.h", "-x c")]
        {
            assert_eq!(left(line).as_deref(), Some(option), "{line}");
        }
        for line in ["-E a.c", "--version", "-flto -c a.c", "-O2 a.c", "-x c -E -"] {
            assert_eq!(left(line), None, "{line}");
        }
    }

    #[test]
    fn values_are_no_files() {
        let command = parse("-I include -D X a.c -L lib -l m -MF a.d -MD -oa -g");
        assert_eq!(command.sources().collect::<Vec<_>>(), [Path::new("a.c")]);
        assert_eq!(command.output(), Some(Path::new("a")));
        assert_eq!(command.compile_flags(false), ["-I", "include", "-D", "X"]);
        assert_eq!(command.compile_flags(true), ["-I", "include", "-D", "X", "-MF", "a.d", "-MD", "-g"]);
    }

    #[test]
    fn what_bitcode_is_not_made_with() {
        assert!(parse("-fsanitize=address -O1 a.c").without_bitcode.is_some());
        assert!(parse("-O0 a.c").without_bitcode.is_none() && !parse("-O0 a.c").optimizes);
        assert!(parse("-Os a.c").optimizes);
    }
}
