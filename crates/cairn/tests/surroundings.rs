//! Cairn works wherever it and its programs lie, and whoever runs it: in a path with spaces and letters that are not
//! ASCII, through a symbolic link, without a home directory or with one that nobody can write to, with a TMPDIR of its
//! own, with no locale.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod common;
use common::{Directory, binary};

/// A way in which somebody's machine may be unlike ours.
#[derive(Clone, Copy, Debug)]
enum Surroundings {
    /// Nothing but PATH is set.
    Bare,
    /// HOME is a directory in which nothing can be made.
    HomeNotWritable,
    /// HOME and TMPDIR have spaces and letters that are not ASCII in their names.
    OddNames,
    /// The temporary directory does not exist.
    NoTemporaryDirectory,
    /// A locale that is not UTF-8.
    Latin,
    /// A user who owns nothing and has no home, if the tests are run by root.
    Nobody,
}

use Surroundings::*;

const NOBODY: u32 = 65534;

/// A command in these surroundings; what it knows of others is gone.
fn command(program: &Path, surroundings: Surroundings, d: &Directory) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(d.0.join("où il est"));
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    match surroundings {
        Bare => &mut command,
        HomeNotWritable => command.env("HOME", "/proc"),
        OddNames => command.env("HOME", d.0.join("ho me")).env("TMPDIR", d.0.join("t m p λ")),
        NoTemporaryDirectory => command.env("TMPDIR", d.0.join("nowhere")).env("HOME", d.0.join("ho me")),
        Latin => command.env("LC_ALL", "fr_FR.ISO-8859-1").env("HOME", d.0.join("ho me")),
        Nobody => command.env("HOME", "/nonexistent"),
    };
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
    if matches!(surroundings, Nobody) && is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The binary through a symbolic link in an odd path, and programs beside it. Nobody may look into the directories of
/// others, and has a copy.
fn place(name: &str, surroundings: Surroundings) -> (Directory, PathBuf) {
    let d = Directory::new(&format!("{name} sur ç"));
    for directory in ["ho me", "t m p λ", "où il est", "b i n"] {
        let directory = d.0.join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::set_permissions(directory, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let link = d.0.join("b i n/cai rn");
    let binary = std::fs::canonicalize(binary()).unwrap();
    if matches!(surroundings, Nobody) {
        std::fs::copy(binary, &link).unwrap();
    } else {
        std::os::unix::fs::symlink(binary, &link).unwrap();
    }
    d.write(
        "où il est/my/lib éé.sld",
        "(define-library (my |lib éé|) (export twice) (import (scheme base)) (begin (define (twice x) (* 2 x))))",
    );
    d.write(
        "où il est/prog ram.scm",
        "(import (scheme base) (scheme write) (scheme eval) (scheme file) (my |lib éé|))
         (call-with-output-file \"écrit\" (lambda (p) (write 'λ p)))
         (write (list (twice 21) (eval '(+ 1 2) (environment '(scheme base))) (call-with-input-file \"écrit\" read-line)))",
    );
    let compiled = "(import (scheme base) (scheme write) (my |lib éé|)) (write (twice 21))";
    d.write("où il est/compiled.scm", compiled);
    d.write("où il est/in c.c", "#include <stdio.h>\nint main(void) { puts(\"of C\"); return 0; }\n");
    (d, link)
}

const EXPECTED: &str = "(42 3 \"λ\")";

#[test]
fn programs_run_and_are_built_in_all_of_them() {
    for surroundings in [Bare, HomeNotWritable, OddNames, NoTemporaryDirectory, Latin, Nobody] {
        let (d, cairn) = place("run", surroundings);
        let run = |arguments: &[&str]| {
            let output = command(&cairn, surroundings, &d).args(arguments).output().unwrap();
            assert!(output.status.success(), "{surroundings:?} {arguments:?}: {}", text(&output));
            text(&output)
        };
        if matches!(surroundings, Nobody) {
            // no cache can be made, so what evaluates would compile the library for each command
            assert_eq!(run(&["run", "--opt=high", "--llvm=none", "compiled.scm"]), "42", "{surroundings:?}");
            continue;
        }
        assert_eq!(run(&["prog ram.scm"]), EXPECTED, "{surroundings:?}");
        assert_eq!(run(&["run", "--opt=high", "--llvm=none", "prog ram.scm"]), EXPECTED, "{surroundings:?}");
        assert_eq!(run(&["-e", "(write (string #\\λ))"]), "\"λ\"", "{surroundings:?}");
        if !matches!(surroundings, NoTemporaryDirectory) {
            assert_eq!(run(&["build", "prog ram.scm", "-o", "exé cutable"]), "", "{surroundings:?}");
            let built = command(&d.0.join("où il est/exé cutable"), surroundings, &d).output().unwrap();
            assert_eq!(text(&built), EXPECTED, "{surroundings:?}");
        }
    }
}

#[test]
fn c_is_compiled_in_all_of_them() {
    for surroundings in [Bare, HomeNotWritable, OddNames, Latin, Nobody] {
        let (d, cairn) = place("cc", surroundings);
        let output =
            command(&cairn, surroundings, &d).args(["cc", "-O2", "in c.c", "-o", "of c"]).output().unwrap();
        assert!(output.status.success(), "{surroundings:?}: {}", text(&output));
        let run = command(&d.0.join("où il est/of c"), surroundings, &d).output().unwrap();
        assert_eq!(text(&run), "of C\n", "{surroundings:?}");
    }
}
