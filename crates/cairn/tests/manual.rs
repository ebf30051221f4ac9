//! `cairn doc`: what it says of each kind of name, that all links lead somewhere, that the search finds.

use std::collections::BTreeMap;
use std::process::{Command, Output};

mod common;
use common::{Directory, binary};

fn doc(d: &Directory, arguments: &[&str]) -> Output {
    Command::new(binary()).arg("doc").args(arguments).current_dir(&d.0).env_remove("CAIRN_PATH").output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned()
}

/// The files of a manual.
fn pages(d: &Directory, manual: &str) -> BTreeMap<String, String> {
    let entries = d.0.join(manual).read_dir().unwrap().map(|e| e.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), std::fs::read_to_string(e.path()).unwrap())).collect()
}

/// What stands between `<a href="` and `"`, and between `id=` and the next blank or bracket.
fn links_and_marks(page: &str) -> (Vec<String>, Vec<String>) {
    let body = &page[page.find("</style>").unwrap()..];
    let links = body.split("href=\"").skip(1).map(|l| l.split('"').next().unwrap().to_string());
    let marks =
        body.split(" id=").skip(1).map(|l| l.trim_start_matches('"').split(['"', '>', ' ']).next().unwrap());
    (links.collect(), marks.map(str::to_string).collect())
}

fn check_links(pages: &BTreeMap<String, String>) -> usize {
    let marks: BTreeMap<&str, Vec<String>> = (pages.iter().filter(|(name, _)| name.ends_with(".html")))
        .map(|(name, page)| (name.as_str(), links_and_marks(page).1))
        .collect();
    let mut checked = 0;
    for name in marks.keys() {
        for link in links_and_marks(&pages[*name]).0 {
            let (page, mark) = link.split_once('#').unwrap_or((&link, ""));
            let page = if page.is_empty() { name } else { page };
            let there = marks.get(page).unwrap_or_else(|| panic!("{name} links to {link}"));
            assert!(mark.is_empty() || there.iter().any(|m| m == mark), "{name} links to {link}");
            checked += 1;
        }
    }
    checked
}

const KINDS: &str = r#";;; (things many): things of many kinds.
;;;
;;; A second paragraph with `code` & <tags>, and
;;;
;;;     (an example)
(define-library (things many)
  (export swap! depth (rename inner outer) total make-point point-x set-point-x! unicode-λ scale both if again lower
          car)
  (import (scheme base) (scheme case-lambda) (shop price))
  (begin
    ;; Swaps two variables.
    (define-syntax swap!
      (syntax-rules ()
        ((_ a b) (let ((t a)) (set! a b) (set! b t)))))
    ;; How deep.
    (define depth (make-parameter 3))
    ;; Adds. Uses `x`.
    (define (inner x . rest) x)
    (define-record-type point (make-point x) point? (x point-x set-point-x!))
    (define (unicode-λ y) y)
    (define scale 2.5)
    (define again inner)
    (define (less<? a b) (< a b))
    (define lower less<?)
    ;;;; A section
    (define both (case-lambda ((a) a) ((a b) b)))))
"#;

#[test]
fn each_kind_of_name_is_described() {
    let d = Directory::new("manual");
    d.write("things/many.sld", KINDS);
    d.write(
        "shop/price.sld",
        "(define-library (shop price) (export total) (import (scheme base)) (include \"price.scm\"))",
    );
    d.write("shop/price.scm", "\n;; The sum.\n(define (total prices)\n  (apply + prices))\n");
    d.write(".hidden/x.sld", "(define-library (x) (export y))");
    let output = doc(&d, &[]);
    assert_eq!(text(&output), "manual/index.html: 2 libraries, 15 names\n");
    let pages = pages(&d, "manual");
    assert!(check_links(&pages) > 30);
    let page = &pages["things-many.html"];
    let section = |name: &str| {
        let start = page.find(&format!("<section id=\"n-{name}\">")).unwrap_or_else(|| panic!("{name}: {page}"));
        page[start..].split("</section>").next().unwrap().to_string()
    };
    for (name, parts) in [
        (
            "swap~21",
            &["<code>(swap! a b)</code>", ">macro", "things/many.sld:12", "<p>Swaps two variables.</p>"][..],
        ),
        ("depth", &["<code>depth</code>", ">parameter", "<p>How deep.</p>"]),
        (
            "outer",
            &[
                "(outer x . rest)",
                ">procedure, defined as <code>inner</code>",
                "<p>Adds. Uses <code>x</code>.</p>",
            ],
        ),
        (
            "total",
            &[
                "(total prices)",
                "procedure of <a href=\"shop-price.html\"><code>(shop price)</code></a>",
                "price.scm:3",
                "The sum.",
            ],
        ),
        ("make~2dpoint", &["(make-point x)", "part of a record type"]),
        ("point~2dx", &["(point-x ", "part of a record type"]),
        ("unicode~2d~3bb", &["(unicode-λ y)", ">procedure"]),
        ("scale", &["<code>scale</code>", ">variable"]),
        ("again", &["another name for inner"]),
        ("lower", &[">another name for less&lt;? · "]),
        ("both", &["<code>(both a)</code><code>(both a b)</code>", ">procedure"]),
        ("if", &["(if test consequent alternate)", ">syntax"]),
        ("car", &["(car pair)", ">procedure"]),
    ] {
        let section = section(name);
        parts.iter().for_each(|part| assert!(section.contains(part), "{part:?} is not in {section}"));
    }
    assert!(!section("both").contains("A section"));
    let about = "<p>things of many kinds.</p>\n<p>A second paragraph with <code>code</code> &amp; &lt;tags&gt;, and</p>\n\
                 <pre>(an example)</pre>";
    assert!(page.contains(about), "{page}");
    assert!(pages["index.html"].contains("<dd>things of many kinds."));
    assert!(
        pages["source-shop-price.scm.html"]
            .contains("<span id=L3><a href=\"#L3\">    3</a>  (define (total prices)")
    );
    // nothing is fetched from elsewhere
    for (name, page) in &pages {
        assert!(!page.contains("http:") && !page.contains("https:"), "{name}");
    }
    let search = &pages["search.js"];
    let rows = &search[search.find('[').unwrap()..search.find("];").unwrap() + 1];
    let rows: serde_json::Value = serde_json::from_str(rows).unwrap();
    let found = rows.as_array().unwrap().iter().find(|r| r[0] == "outer").unwrap();
    assert_eq!(
        *found,
        serde_json::json!(["outer", "(things many)", "things-many.html#n-outer", "(outer x . rest)"])
    );
    assert_eq!(rows.as_array().unwrap().len(), 17);
}

#[test]
fn the_manual_of_the_library_is_whole() {
    let d = Directory::new("manual-own");
    let output = doc(&d, &["--cairn", "-o", "out/own"]);
    assert!(output.status.success(), "{output:?}");
    let pages = pages(&d, "out/own");
    assert!(check_links(&pages) > 20_000);
    for (page, part) in [
        ("scheme-base.html", "<section id=\"n-vector~2dmap\">"),
        (
            "cairn-process.html",
            "Runs a program to its end, with this text as its input: its output, and its status.",
        ),
        ("srfi-1.html", "procedure of <a href=\"cairn-list.html\"><code>(cairn list)</code></a>"),
        ("index.html", "<h2>srfi</h2>"),
    ] {
        assert!(pages[page].contains(part), "{page}: {part}");
    }
    let index = &pages["index.html"];
    let at = |name: &str| index.find(&format!("<code>{name}</code>")).unwrap_or_else(|| panic!("{name}"));
    assert!(at("(srfi 2)") < at("(srfi 13)") && at("(srfi 13)") < at("(srfi 128)"));
}

#[test]
fn what_cannot_be_documented_is_said() {
    let d = Directory::new("manual-wrong");
    let said = |arguments: &[&str], parts: &[&str], status: i32| {
        let output = doc(&d, arguments);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        parts.iter().for_each(|p| assert!(text(&output).contains(p), "{p}: {output:?}"));
    };
    said(&[], &["cairn: there is no library to be documented: files ….sld define them"], 1);
    said(&["absent.sld"], &["cairn: no such file: absent.sld"], 1);
    d.write("bad.sld", "(define-library (bad) (export x)\n");
    said(&[], &["error: this parenthesis is never closed", "bad.sld:1:1"], 1);
    d.write("bad.sld", "(define-library (bad) (export x) (import (scheme base)) (begin (define x 1)))\n");
    d.write("file", "");
    said(&["-o", "file/x"], &["cairn: cannot write file/x: "], 1);
    said(&["--nothing"], &["--nothing"], 2);
}
