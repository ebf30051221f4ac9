//! The cache never runs another program than the one asked for, and its own failures do not matter.

use cairn::{Cache, CompileOptions, Compiler, Level, Source};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

mod common;
use common::{Directory, binary};

/// Output of a program run with the cache in `cache` below the directory.
fn run(d: &Directory, at: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(binary());
    command.arg("run").args(arguments).current_dir(d.0.join(at)).env("CAIRN_CACHE_DIR", d.0.join("cache"));
    output(command.env("CAIRN_OPT", "low"))
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat()
}

fn library(name: &str, value: &str) -> String {
    format!("(define-library {name} (export x) (import (scheme base)) (begin (define x \"{value}\")))")
}

#[test]
fn a_program_edited_while_it_is_compiled_is_compiled_again() {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let d = Directory::new("edited");
    d.write("p.scm", "(display \"old\")");
    FILE.set(d.0.join("p.scm")).unwrap();
    let options = CompileOptions { level: Level::Low, ..CompileOptions::default() };
    let session = || Compiler::new(options).cache(Some(Cache::new(d.0.join("cache"))));
    let edit = |_: &cairn::StageReport| fs::write(FILE.get().unwrap(), "(display \"new\")").unwrap();
    let compile = |c: Compiler| c.compile(&Source::read(FILE.get().unwrap()).unwrap()).unwrap().object().to_vec();
    let contains = |object: &[u8], text: &str| object.windows(text.len()).any(|w| w == text.as_bytes());
    let old = compile(session().observer(Some(edit)));
    assert!(contains(&old, "old"));
    let new = compile(session());
    assert!(contains(&new, "new") && !contains(&new, "old"));
}

#[test]
fn a_library_that_appears_nearer_is_used() {
    let d = Directory::new("nearer");
    d.write("p.scm", "(import (scheme base) (scheme write) (my lib)) (display x)");
    d.write("far/my/lib.sld", library("(my lib)", "far"));
    let run = || {
        let mut command = Command::new(binary());
        command.args(["run", "p.scm"]).current_dir(&d.0).env("CAIRN_PATH", "near::far").env("CAIRN_OPT", "low");
        output(command.env("CAIRN_CACHE_DIR", d.0.join("cache")))
    };
    assert_eq!(run(), "far");
    d.write("near/my/lib.sld", library("(my lib)", "near"));
    assert_eq!(run(), "near");
    d.write("my/lib.sld", library("(my lib)", "beside"));
    assert_eq!(run(), "beside");
    fs::remove_file(d.0.join("my/lib.sld")).unwrap();
    assert_eq!(run(), "near");
}

#[test]
fn cond_expand_notices_a_library_that_comes_or_goes() {
    let d = Directory::new("conditional");
    d.write(
        "p.scm",
        "(import (scheme base) (scheme write)) (display (cond-expand ((library (my lib)) 1) (else 2)))",
    );
    assert_eq!(run(&d, "", &["p.scm"]), "2");
    d.write("my/lib.sld", library("(my lib)", ""));
    assert_eq!(run(&d, "", &["p.scm"]), "1");
    fs::remove_file(d.0.join("my/lib.sld")).unwrap();
    assert_eq!(run(&d, "", &["p.scm"]), "2");
}

#[test]
fn a_relative_library_path_means_the_current_directory() {
    let d = Directory::new("relative");
    d.write("p.scm", "(import (scheme base) (scheme write) (my lib)) (display x)");
    d.write("a/lib/my/lib.sld", library("(my lib)", "a"));
    d.write("b/lib/my/lib.sld", library("(my lib)", "b"));
    let run = |at: &str| {
        let mut command = Command::new(binary());
        command.arg("run").arg(d.0.join("p.scm")).current_dir(d.0.join(at)).env("CAIRN_PATH", "lib");
        output(command.env("CAIRN_CACHE_DIR", d.0.join("cache")).env("CAIRN_OPT", "low"))
    };
    assert_eq!([run("a"), run("b"), run("a")], ["a", "b", "a"]);
}

#[test]
fn libraries_are_beside_the_name_that_was_given() {
    let d = Directory::new("links");
    d.write("real/p.scm", "(import (scheme base) (scheme write) (my lib)) (display x)");
    d.write("real/my/lib.sld", library("(my lib)", "real"));
    d.write("other/my/lib.sld", library("(my lib)", "other"));
    std::os::unix::fs::symlink("../real/p.scm", d.0.join("other/p.scm")).unwrap();
    let run = |file: &str| run(&d, "", &[file]);
    assert_eq!([run("real/p.scm"), run("other/p.scm"), run("real/p.scm")], ["real", "other", "real"]);
}

/// Messages name the file as this run gave it, not as an earlier one did.
#[test]
fn positions_are_named_as_given() {
    let d = Directory::new("names");
    d.write("sub/p.scm", "(car 5)");
    assert!(run(&d, "", &["sub/p.scm"]).contains("sub/p.scm:1:1"));
    let here = run(&d, "sub", &["p.scm"]);
    assert!(here.contains("p.scm:1:1") && !here.contains("sub/p.scm"), "{here}");
}

#[test]
fn a_damaged_cache_only_means_a_compilation() {
    let d = Directory::new("damaged");
    d.write("p.scm", "(display \"right\")");
    assert_eq!(run(&d, "", &["p.scm"]), "right");
    let files: Vec<_> = fs::read_dir(d.0.join("cache")).unwrap().map(|f| f.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let whole = fs::read(file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for damaged in [&flipped[..], &whole[..whole.len() - 1], &whole[..20], b"", b"nonsense"] {
        fs::write(file, damaged).unwrap();
        assert_eq!(run(&d, "", &["p.scm"]), "right");
        assert_eq!(fs::read(file).unwrap(), whole, "kept anew");
    }
}

#[test]
fn empty_variables_are_absent() {
    let d = Directory::new("empty");
    d.write("here/p.scm", "(display 1)");
    let run = |variables: &[(&str, &str)]| {
        let mut command = Command::new(binary());
        command.args(["run", "p.scm"]).current_dir(d.0.join("here")).env("CAIRN_OPT", "low");
        for name in ["CAIRN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(name);
        }
        assert_eq!(output(command.envs(variables.iter().copied())), "1", "{variables:?}");
        let names: Vec<_> = fs::read_dir(d.0.join("here")).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert_eq!(names, ["p.scm"], "{variables:?}");
    };
    run(&[]);
    run(&[("HOME", "")]);
    run(&[("XDG_CACHE_HOME", ""), ("HOME", "")]);
    run(&[("CAIRN_CACHE_DIR", ""), ("XDG_CACHE_HOME", "relative"), ("HOME", "relative")]);
    let home = d.0.join("home");
    run(&[("CAIRN_CACHE_DIR", ""), ("XDG_CACHE_HOME", ""), ("HOME", home.to_str().unwrap())]);
    assert_eq!(fs::read_dir(home.join(".cache/cairn")).unwrap().count(), 1);
}

/// A limit on the size of files stands for a full disk: writing fails half-way.
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let d = Directory::new("full");
    d.write("p.scm", "(display 1)");
    d.write("p", "what was there");
    fs::create_dir(d.0.join("cache")).unwrap();
    let limited = |arguments: &str| {
        let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
        let mut command = Command::new("bash");
        command.args(["-c", script]).arg(binary()).args(arguments.split(' '));
        command.current_dir(&d.0).env("CAIRN_OPT", "low");
        output(command.env("CAIRN_CACHE_DIR", d.0.join("cache")))
    };
    let names = |at: &str| {
        let mut names: Vec<_> = fs::read_dir(d.0.join(at)).unwrap().map(|f| f.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(limited("run p.scm"), "1");
    assert!(names("cache").is_empty());
    let message = limited("build p.scm");
    assert!(message.starts_with("cairn: "), "{message}");
    assert_eq!(names(""), ["cache", "p", "p.scm"]);
    assert_eq!(fs::read(d.0.join("p")).unwrap(), b"what was there");
}

/// Pipes can be read once only.
#[test]
fn programs_and_included_files_may_be_pipes() {
    let d = Directory::new("pipe");
    for name in ["p.scm", "part.scm"] {
        assert!(Command::new("mkfifo").arg(d.0.join(name)).status().unwrap().success());
    }
    let run = |program: &str, part: &str| {
        std::thread::scope(|scope| {
            for (name, text) in [("p.scm", program), ("part.scm", part)] {
                let path = d.0.join(name);
                scope.spawn(move || fs::write(path, text).unwrap());
            }
            let mut command = Command::new("timeout");
            command.arg("60").arg(binary()).args(["run", "p.scm"]).current_dir(&d.0);
            output(command.env("CAIRN_CACHE_DIR", d.0.join("cache")).env("CAIRN_OPT", "low"))
        })
    };
    let twice = "(include \"part.scm\") (include \"part.scm\")";
    assert_eq!(run(twice, "(display 1)"), "11");
    assert_eq!(run(twice, "(display 2)"), "22");
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$0\" run <(echo '(display 3)')"]).arg(binary()).env("CAIRN_NO_CACHE", "0");
    assert_eq!(output(shell.env("CAIRN_CACHE_DIR", d.0.join("cache"))), "3");
}

#[test]
fn what_was_not_used_for_long_makes_room() {
    let d = Directory::new("room");
    let kept = || programs(&d.0.join("cache"));
    let aged = |path: &PathBuf, days: u64| {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(24 * 60 * 60 * days)).unwrap();
    };
    let mut paths = Vec::new();
    for (i, days) in [(1, 30), (2, 20), (3, 10)] {
        let name = format!("{i}.scm");
        d.write(&name, format!("(import (scheme base) (scheme write)) (display {i})"));
        assert_eq!(run(&d, "", &[&name]), i.to_string());
        let new = kept().into_iter().find(|p| !paths.contains(p)).unwrap();
        aged(&new, days);
        paths.push(new);
    }
    fs::write(d.0.join("cache/other"), vec![0; 1 << 20]).unwrap();
    // the first one is used once more
    assert_eq!(run(&d, "", &["1.scm"]), "1");
    let size = paths[0].metadata().unwrap().len();
    d.write("4.scm", "(import (scheme base) (scheme write)) (display 4)");
    assert_eq!(run(&d, "", &["--cache-max", &(4 * size - size / 2).to_string(), "4.scm"]), "4");
    let left = kept();
    assert!(left.contains(&paths[0]) && !left.contains(&paths[1]), "{left:?}");
    assert_eq!(run(&d, "", &["--cache-max=0", "2.scm"]), "2");
    assert_eq!(kept(), [paths[1].clone()]);
    assert!(d.0.join("cache/other").exists());
}

/// The compiled programs of a cache.
fn programs(cache: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(cache).unwrap().map(|file| file.unwrap().path());
    files.filter(|p| p.extension().is_some_and(|e| e == "program")).collect()
}
