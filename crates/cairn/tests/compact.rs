//! Compact records: widths of references, what compiles and what does not, places, statistics, limits of memory. That
//! they do what plain ones do in every configuration is for `programs.rs`: `tests/programs/compact*.scm`.

use cairn_layout::facts::COLLECTORS;
use std::process::{Command, Output};

mod common;
use common::{Directory, binary, root, with_addresses};

fn run(arguments: &[&str], text: &str) -> Output {
    let directory = Directory::new(&format!("compact-{:x}", text.len() * 31 + arguments.concat().len()));
    let file = directory.0.join("program.scm");
    std::fs::write(&file, text).unwrap();
    Command::new(binary()).arg("run").args(arguments).arg(&file).output().unwrap()
}

fn printed(arguments: &[&str], text: &str) -> String {
    let o = run(arguments, text);
    assert!(o.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&o.stderr));
    String::from_utf8_lossy(&o.stdout).into_owned()
}

#[test]
fn references_of_any_width_are_as_good_as_plain_ones() {
    let program = root().join("tests/programs/compact-model.scm");
    let of = |arguments: &[&str], seed: &str| {
        let o = Command::new(binary()).arg("run").args(arguments).arg(&program).arg(seed).output().unwrap();
        assert!(o.status.success(), "{arguments:?} {seed}: {}", String::from_utf8_lossy(&o.stderr));
        String::from_utf8_lossy(&o.stdout).into_owned()
    };
    for seed in ["1", "2", "3"] {
        let expected = of(&["--compact=off"], seed);
        for collector in COLLECTORS {
            for bits in ["8", "16", "32"] {
                let gc = format!("--gc={}", collector.name);
                let arguments = ["--compact-bits", bits, &gc];
                assert_eq!(of(&arguments, seed), expected, "{arguments:?} {seed}");
            }
        }
    }
}

const LIST: &str = "(import (scheme base) (scheme write))
    (define-record-type (link compact) (make-link n next) link? ((n i32) link-n) ((next (ref link)) link-next))
    (define (made n l) (if (= n 0) l (made (- n 1) (make-link n l))))
    (define (sum l s) (if l (sum (link-next l) (+ s (link-n l))) s))";

#[test]
fn a_long_list_outgrows_16_bits_and_says_so() {
    let text = format!("{LIST} (write (sum (made 70000 #f) 0))");
    for (bits, expansions) in [("8", ", 2 expansions"), ("16", ", 1 expansions"), ("32", "")] {
        let o = run(&["--stats", "--compact-bits", bits], &text);
        assert_eq!(String::from_utf8_lossy(&o.stdout), "2450035000");
        let stats = String::from_utf8_lossy(&o.stderr).into_owned();
        let line = stats.lines().find(|l| l.starts_with("compact")).unwrap_or_else(|| panic!("{stats}"));
        assert!(
            line.contains("link: ") && line.contains(" of 8 bytes (plain: 24), references of 32 bits"),
            "{line}"
        );
        assert!(line.ends_with(expansions) && line.contains("expansions") != expansions.is_empty(), "{line}");
    }
    assert!(!String::from_utf8_lossy(&run(&["--stats", "--compact=off"], &text).stderr).contains("compact"));
}

#[test]
fn garbage_is_found_and_what_lives_has_a_limit() {
    let garbage = format!(
        "{LIST} (define (go n s) (if (= n 0) s (go (- n 1) (sum (made 10000 #f) 0)))) (write (go 5000 0))"
    );
    for gc in ["gen", "marksweep", "mcc"] {
        // 400 MB of records, of which few live at once.
        assert_eq!(printed(&["--heap-max=16M", "--gc", gc], &garbage), "50005000", "{gc}");
        let o = run(&["--heap-max=16M", "--gc", gc], &format!("{LIST} (write (sum (made 10000000 #f) 0))"));
        let message = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(!o.status.success() && message.contains("out of memory"), "{gc}: {message}");
    }
}

#[test]
fn addresses_may_be_few() {
    let directory = Directory::new("compact-addresses");
    directory.write("p.scm", format!("{LIST} (write (sum (made 3000000 #f) 0))"));
    let o = with_addresses(1_000_000, &binary()).arg("run").arg(directory.0.join("p.scm")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&o.stdout), "4500001500000", "{}", String::from_utf8_lossy(&o.stderr));
}

#[test]
fn places_have_pools_of_their_own() {
    let text = "(import (scheme base) (scheme write) (cairn place))
        (define-record-type (leaf compact) (make-leaf x) leaf? ((x f64) leaf-x))
        (define-record-type (link compact) (make-link n leaf next) link?
          ((n i64) link-n) ((leaf (ref leaf)) link-leaf) ((next (ref link)) link-next set-link-next!))
        (define ring (make-link -9223372036854775808 (make-leaf -1.5e300) #f))
        (set-link-next! ring (make-link 7 #f ring))
        (define (garbage n) (if (> n 0) (begin (make-link n #f #f) (garbage (- n 1)))))
        (define (turned l) (make-link (link-n (link-next l)) (make-leaf 2.5) l))
        (define there (place (garbage 100000) (turned ring)))
        (garbage 100000)
        (define back (place-wait there))
        (write (list (link-n back) (leaf-x (link-leaf back)) (link-n (link-next back))
                     (leaf-x (link-leaf (link-next back)))
                     (eq? (link-next back) ring)
                     (let ((r (link-next back))) (eq? r (link-next (link-next r))))))";
    for bits in ["8", "32"] {
        let expected = "(7 2.5 -9223372036854775808 -1.5e300 #f #t)";
        assert_eq!(printed(&["--compact-bits", bits, "--opt=high"], text), expected);
        assert_eq!(printed(&["--compact-bits", bits], text), expected);
    }
}

#[test]
fn what_cannot_be_compact_is_refused() {
    let refused = |text: &str, message: &str| {
        let o = run(&[], &format!("(import (scheme base) (cairn structure)) {text}"));
        let said = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(!o.status.success() && said.contains(message), "{text}: {said}");
    };
    refused(
        "(define-record-type (p compact) (make-p x) p? (x p-x))",
        "the field `x` of a compact record type must say what it holds",
    );
    refused("(define-record-type (p compact) (make-p) p?)", "a compact record type has between 1 and 255 fields");
    refused(
        "(define-record-type q (make-q x) q? (x q-x)) (define-record-type (p compact) (make-p q) p? ((q (ref q)) p-q))",
        "a compact record type refers to `q`, which is not compact",
    );
    const P: &str = "(define-record-type (p compact) (make-p x) p? ((x u8) p-x))";
    refused(&format!("{P} (define-record-type (q p) (make-q x) q?)"), "`p` is compact: nothing can extend it");
    refused(&format!("{P} (define-structure-vector p)"), "`p` is compact: it has no structure vectors");
    refused(
        "(define-record-type q (make-q) q?) (define-record-type (p q compact) (make-p) p? ((x u8) p-x))",
        "a compact record type extends no other",
    );
}

#[test]
fn a_type_that_is_defined_again_is_another_one() {
    let text = format!(
        "{LIST} (define old (made 2 #f)) (define link-next-of-old link-next)
         (import (cairn evaluator))
         (define (again) (guard (c (#t (display (error-object-message c)))) (sum (cons 1 2) 0)))
         (again)"
    );
    let said = printed(&["--opt=low"], &text);
    assert!(said.contains("link-"), "{said}");
    // At the prompt an old record meets the new type's procedures.
    use std::io::Write;
    let mut prompt = Command::new(binary())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let again =
        "(define-record-type (p compact) (make-p n next) p? ((n u8) p-n) ((next (ref p)) p-next set-p-next!))\n";
    let lines = format!(
        "{again}(define a (make-p 1 #f))\n{again}(make-p 2 a)\n(p? a)\na\n(p-n (make-p 3 (make-p 4 #f)))\n"
    );
    prompt.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let o = prompt.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&o.stdout).into_owned() + &String::from_utf8_lossy(&o.stderr);
    assert!(said.contains("expected a record of type p or #f") && said.contains("#<p n: 1 next: #f>"), "{said}");
    assert!(said.contains("#f\n") && said.contains('3'), "{said}");
}

#[test]
fn types_with_links_can_be_compact_without_saying_so() {
    let text = "(import (scheme base) (scheme write))
        (define-record-type tree (make-tree n left) tree? ((n i32) tree-n) ((left (ref tree)) tree-left))
        (define-record-type base (make-base n next) base? ((n i32) base-n) ((next (ref base)) base-next))
        (define-record-type (heir base) (make-heir n next m) heir? ((m i32) heir-m))
        (define-record-type any (make-any x next) any? (x any-x) ((next (ref any)) any-next))
        (write (list (make-tree 1 (make-tree 2 #f)) (base-n (make-heir 1 #f 2)) (any-x (make-any 'a #f))))";
    let stats = |mode: &str| {
        let o = run(&["--stats", mode], text);
        assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
        let expected = "(#<tree n: 1 left: #<tree n: 2 left: #f>> 1 a)";
        assert_eq!(String::from_utf8_lossy(&o.stdout), expected);
        String::from_utf8_lossy(&o.stderr).into_owned()
    };
    let auto = stats("--compact=auto");
    assert!(auto.contains("tree: ") && !auto.contains("base: ") && !auto.contains("any: "), "{auto}");
    assert!(!stats("--compact=declared").contains("tree: "));
}
