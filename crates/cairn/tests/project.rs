//! `cairn new`: what it makes works, and nothing is overwritten.

use std::path::Path;
use std::process::{Command, Output};

mod common;
use common::{Directory, binary};

fn new(d: &Directory, arguments: &[&str]) -> Output {
    Command::new(binary()).arg("new").args(arguments).current_dir(&d.0).output().unwrap()
}

/// Runs the blocks of shell in a README, where `cairn` is the command under test.
fn run_readme(d: &Directory, project: &Path) -> String {
    let bin = d.0.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let link = bin.join("cairn");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(binary().canonicalize().unwrap(), link).unwrap();
    let readme = std::fs::read_to_string(project.join("README.md")).unwrap();
    let blocks: Vec<&str> = readme.split("```sh\n").skip(1).map(|b| b.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 3, "{readme}");
    let output = Command::new("bash")
        .args(["-e", "-c", &blocks.concat()])
        .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()))
        .current_dir(project)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned()
}

/// Every file of a directory, and its text.
fn files(directory: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in directory.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[test]
fn every_command_of_a_readme_works() {
    let d = Directory::new("project");
    for (arguments, name, said) in [
        (
            &["hello"][..],
            "hello",
            "made hello with main.scm, hello/greeting.sld, tests/greeting-test.scm, README.md",
        ),
        (
            &["--library", "deep/er_2"][..],
            "deep/er_2",
            "made deep/er_2 with er_2.sld, tests/er_2-test.scm, README.md",
        ),
    ] {
        let output = new(&d, arguments);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output).contains(said), "{output:?}");
        let project = d.0.join(name);
        let before = files(&project);
        let printed = run_readme(&d, &project);
        assert!(printed.contains("Hello, Ada!") && printed.contains("2 passed"), "{printed}");
        assert!(printed.contains("100.0 %"), "{printed}");
        // `fmt` has found nothing to do
        before.iter().for_each(|file| assert!(files(&project).contains(file), "{}", file.0));
        // what is made by running is ignored by git
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(&project).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            text(&output)
        };
        git(&["init", "-q"]);
        assert_eq!(git(&["ls-files", "-o", "--exclude-standard"]).lines().count(), before.len());
    }
}

#[test]
fn nothing_is_overwritten() {
    let d = Directory::new("project-again");
    d.write("here/file", "text");
    d.write("name", "a file");
    std::fs::create_dir(d.0.join("empty")).unwrap();
    for (arguments, said) in [
        (&["here"][..], "here exists already"),
        (&["name"][..], "name exists already"),
        (&["name/inside"][..], "cannot write name/inside/main.scm: "),
        (&["5x"][..], "`5x` is not a name for a library: letters, digits, - and _, a letter first"),
        (&["a b"][..], "`a b` is not a name"),
        (&["."][..], "`` is not a name"),
        (&["srfi"][..], "`srfi` is the name of libraries that are not yours"),
    ] {
        let output = new(&d, arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output).contains(&format!("cairn: {said}")), "{output:?}");
    }
    assert_eq!(files(&d.0).len(), 2);
    assert!(new(&d, &["empty"]).status.success());
    assert_eq!(new(&d, &[]).status.code(), Some(2));
}
