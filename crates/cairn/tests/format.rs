//! `cairn fmt`: golden files of forms; every program of the tree keeps its data, whatever its blanks are; the command.

use cairn::{Source, formatted};
use cairn_layout::lexeme::{Kind, lexemes};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{Directory, binary, root};

#[path = "../../../tests/support/golden.rs"]
mod golden;
#[path = "../../../tests/support/random.rs"]
mod random;

fn format(text: &str) -> String {
    formatted(&Source::new("x.scm", text)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn forms() {
    golden::check_folder("format", |case| {
        let text = format(case.source);
        assert_eq!(format(&text), text, "`{}` is not stable", case.title);
        text
    });
}

/// All programs and libraries of the tree.
fn programs() -> Vec<(PathBuf, String)> {
    fn walk(directory: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "scm" || e == "sld") {
                // one of them tests what is not UTF-8
                out.extend(fs::read_to_string(&path).ok().map(|text| (path, text)));
            }
        }
    }
    let mut all = Vec::new();
    for directory in ["lib", "tests", "examples", "benchmarks"] {
        walk(&root().join(directory), &mut all);
    }
    assert!(all.len() > 350, "{}", all.len());
    all
}

/// What the text consists of, without blanks and newlines.
fn words(text: &str) -> Vec<&str> {
    lexemes(text).filter(|l| l.kind != Kind::Space).map(|l| l.text(text).trim_end()).collect()
}

/// These are wrong on purpose.
const UNREADABLE: [&str; 2] = ["unclosed-string.scm", "unclosed.scm"];

#[test]
fn programs_of_the_tree_keep_their_words_and_are_formatted_once() {
    for (path, text) in programs() {
        let name = path.file_name().unwrap().to_str().unwrap();
        match formatted(&Source::new(&path, &*text)) {
            Ok(once) => {
                assert_eq!(words(&once), words(&text), "{}", path.display());
                assert_eq!(format(&once), once, "{} is not stable", path.display());
            }
            Err(_) => assert!(UNREADABLE.contains(&name), "{}", path.display()),
        }
    }
}

/// The text with other blanks and newlines wherever it has some; line comments keep the ends of their lines.
fn scrambled(text: &str, random: &mut random::Random) -> String {
    let mut out = String::new();
    for l in lexemes(text) {
        if l.kind == Kind::Space {
            out += random.pick(&[" ", "  ", "\n", "\n    ", "\n\n\n\n ", "\t", " \n\t "]);
        } else {
            out += l.text(text);
        }
    }
    out
}

#[test]
fn blanks_do_not_matter_to_the_words() {
    let mut random = random::Random::seeded(34);
    let programs = programs();
    for (path, text) in programs.iter().filter(|(_, text)| text.len() < 30_000) {
        let text = scrambled(text, &mut random);
        let Ok(once) = formatted(&Source::new(path, &*text)) else {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(UNREADABLE.contains(&name) || text.contains("#lang"), "{}\n{text}", path.display());
            continue;
        };
        assert_eq!(words(&once), words(&text), "{}", path.display());
        assert_eq!(format(&once), once, "{} is not stable:\n{text}", path.display());
        assert!(!once.contains("\n\n\n\n") && !once.starts_with('\n'), "{}", path.display());
    }
}

#[test]
fn long_lines_take_no_longer_than_many() {
    let data: String = (0..40_000).map(|i| format!("(a  {i} \"x\") ")).collect();
    let (one, many) = (format!("'({data})"), format!("'({})", data.replace(") ", ")\n")));
    let time = |text: &str| {
        let begun = Instant::now();
        format(text);
        begun.elapsed()
    };
    let (many, one) = (time(&many), time(&one));
    // quadratic, it would be a thousand times
    assert!(one < many * 20 + Duration::from_secs(1), "{one:?}, {many:?} for many lines");
}

#[test]
fn newlines_of_windows_stay() {
    assert_eq!(format("(f\r\nx)\r\n; a\r\n\r\n(g)"), "(f\r\n x)\r\n; a\r\n\r\n(g)\r\n");
    assert_eq!(format("\u{feff}(f)"), "(f)\n");
    assert_eq!(format(""), "");
    assert_eq!(format("#!/usr/bin/env cairn\n(f)"), "#!/usr/bin/env cairn\n(f)\n");
}

fn fmt(directory: &Directory, arguments: &[&str]) -> Output {
    Command::new(binary()).arg("fmt").args(arguments).current_dir(&directory.0).output().unwrap()
}

#[test]
fn the_command_rewrites_files_or_says_which() {
    let d = Directory::new("fmt");
    d.write("a.scm", "(f\nx)\n");
    d.write("real/b.scm", "(g\n   x)\n");
    d.write("good.scm", "(g x)\n");
    symlink("real/b.scm", d.0.join("b.scm")).unwrap();
    fs::set_permissions(d.0.join("a.scm"), fs::Permissions::from_mode(0o751)).unwrap();
    let read = |name: &str| fs::read_to_string(d.0.join(name)).unwrap();

    let output = fmt(&d, &["--check", "a.scm", "good.scm", "b.scm"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a.scm:2: not formatted\nb.scm:2: not formatted\n");
    assert_eq!(read("a.scm"), "(f\nx)\n");

    let before = fs::metadata(d.0.join("good.scm")).unwrap().modified().unwrap();
    let output = fmt(&d, &["a.scm", "b.scm", "good.scm"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    assert_eq!((read("a.scm"), read("real/b.scm")), ("(f\n x)\n".into(), "(g\n x)\n".into()));
    assert_eq!(fs::metadata(d.0.join("a.scm")).unwrap().permissions().mode() & 0o777, 0o751);
    assert!(fs::symlink_metadata(d.0.join("b.scm")).unwrap().is_symlink());
    assert_eq!(fs::metadata(d.0.join("good.scm")).unwrap().modified().unwrap(), before);
    assert_eq!(fmt(&d, &["--check", "a.scm", "good.scm", "b.scm"]).status.code(), Some(0));
    assert_eq!(fs::read_dir(&d.0).unwrap().count(), 4, "something is left behind");
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    let d = Directory::new("fmt-wrong");
    let text = "(define (f x)\n(g x)\n\n(define y 1)\n";
    d.write("wrong.scm", text);
    d.write("right.scm", "( f )");
    let output = fmt(&d, &["wrong.scm", "absent.scm", "right.scm"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("this parenthesis is never closed") && said.contains("wrong.scm:1:1"), "{said}");
    assert!(said.contains('^') && said.contains("no such file: absent.scm"), "{said}");
    assert_eq!(fs::read_to_string(d.0.join("wrong.scm")).unwrap(), text);
    assert_eq!(fs::read_to_string(d.0.join("right.scm")).unwrap(), "(f)\n");
}

#[test]
fn the_standard_input_goes_to_the_standard_output() {
    let mut child =
        Command::new(binary()).args(["fmt", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all("(let ((x 1))\nx)".as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "(let ((x 1))\n  x)\n");
}
