//! Whole programs in other systems, Chez Scheme and Guile: what Cairn answers must be what one of them does.
//!
//! By hand, with `CAIRN_FUZZ_PEERS=1`; a system that is not installed is left out, and without either there is nothing
//! to do. A batch is one text, so a start is paid for once in hundreds of programs.
//!
//! The text is the generator's but for what the report leaves open, or a system does in a way of its own:
//!
//! - operands and initial values are evaluated in an order that is nobody's duty: [`ordered`] gives them names, so
//!   that they are evaluated from left to right;
//! - values are written as numbers and plain symbols ([`COMMON`]'s `show`): the external forms of floats, of characters
//!   and of symbols with spaces differ, and messages of errors do;
//! - what is called by another name in [`RENAMED`]: the last digit of `exp`, `sin` and `atan` is the C library's,
//!   `number->string` of a float has many right answers, `read` reads what is no datum of R7RS, literals that are
//!   `equal?` may be one object, hash tables are those of SRFI 69 in Cairn alone; an exact zero times or by a float, a
//!   float by zero, the numerator of an infinity, signs of zero in complex numbers, and where sorting puts a NaN are
//!   everybody's own;
//! - letters that Unicode has treated differently from version to version, and case mappings that change a length.

use super::Forms;
use super::observations;
use crate::common::matrix::Configuration;
use crate::common::{Directory, binary};
use crate::shrink::{Datum, parse};
use crate::{generate, patiently};

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::{Command, Stdio};

/// What stands before the common part, in each system.
const CAIRN: &str =
    "(import (scheme base) (scheme write) (scheme char) (scheme inexact) (scheme cxr) (scheme lazy)
        (scheme case-lambda) (scheme complex))
(define (own-condition? e) (error-object? e))
";
const GUILE: &str =
    "(use-modules (scheme base) (scheme write) (scheme char) (scheme inexact) (scheme cxr) (scheme lazy)
        (scheme case-lambda) (scheme complex))
(define (own-condition? e) (error-object? e))
";
const CHEZ: &str = r"
(define (position x l) (if (eq? x (car l)) 0 (+ 1 (position x (cdr l)))))
(define-syntax define-fields
  (syntax-rules ()
    ((_ n all) (begin))
    ((_ n all (f get) . more) (begin (define get (record-accessor n (position 'f 'all))) (define-fields n all . more)))
    ((_ n all (f get set) . more)
     (begin (define get (record-accessor n (position 'f 'all)))
            (define set (record-mutator n (position 'f 'all)))
            (define-fields n all . more)))))
(define-syntax define-record-type
  (syntax-rules ()
    ((_ n (make arg ...) is? (f . access) ...)
     (begin
       (define type (make-record-type-descriptor 'n #f #f #f #f '#((mutable f) ...)))
       (define make
         (let ((c (record-constructor (make-record-constructor-descriptor type #f #f))))
           (lambda (arg ...)
             (let ((given (list (cons 'arg arg) ...)))
               (apply c (map (lambda (z) (cond ((assq z given) => cdr) (else #f))) '(f ...)))))))
       (define is? (record-predicate type))
       (define-fields type (f ...) (f . access) ...)))))
(define (own-condition? e) (condition? e))
(define (error-object? e) (condition? e))
(define (error-object-message e) (if (message-condition? e) (condition-message e) ''none))
(define (error-object-irritants e) (if (irritants-condition? e) (condition-irritants e) '()))
(define raise-error error)
(define (error message . irritants) (apply raise-error 'program message irritants))
(define (string-map f s) (list->string (map f (string->list s))))
(define (vector-append . vs) (list->vector (apply append (map vector->list vs))))
(define whole-vector-copy vector-copy)
(define vector-copy
  (case-lambda
    ((v) (whole-vector-copy v))
    ((v from) (vector-copy v from (vector-length v)))
    ((v from to) (list->vector (list-head (list-tail (vector->list v) from) (- to from))))))
(define (exact-integer? x) (and (integer? x) (exact? x)))
(define (square x) (* x x))
(define (truncate-quotient a b) (quotient a b))
(define (floor-quotient a b) (quotient (- a (modulo a b)) b))
(define (floor-remainder a b) (modulo a b))
(define (read-line p) (get-line p))
(define-syntax delay-force (syntax-rules () ((_ e) (delay (force e)))))
(define (bytes->list b) (let loop ((i (- (bytevector-length b) 1)) (l '())) (if (< i 0) l (loop (- i 1) (cons (bytevector-u8-ref b i) l)))))
(define (bytevector-append . bs) (apply bytevector (apply append (map bytes->list bs))))
(define whole-bytevector-copy bytevector-copy)
(define bytevector-copy
  (case-lambda
    ((b) (whole-bytevector-copy b))
    ((b from) (bytevector-copy b from (bytevector-length b)))
    ((b from to) (apply bytevector (list-head (list-tail (bytes->list b) from) (- to from))))))
";

/// What takes the place of a part of the prelude, everywhere the same.
const COMMON: &str = r"(define (show-real x)
  (cond ((exact? x) x)
        ((not (= x x)) 'nan)
        ((= x (+ x 1.0) (- x 1.0) (* x 0.5)) (if (> x 0) (if (= x 0) 'zero 'infinite) 'minus-infinite))
        ((= x 0) '(fl 0))
        (else (list 'fl (exact x)))))
(define (show x)
  (let show ((x x) (d 20))
    (cond ((= d 0) 'deep)
          ((pixel? x) (list 'pixel (show (pixel-x x) (- d 1)) (show (pixel-c x) (- d 1))))
          ((point? x) (list 'point (show (point-x x) (- d 1)) (show (point-y x) (- d 1))))
          ((procedure? x) 'procedure)
          ((own-condition? x) 'condition)
          ((symbol? x) (list 'sym (show (symbol->string x) d)))
          ((string? x) (cons 'str (map char->integer (string->list x))))
          ((char? x) (list 'char (char->integer x)))
          ((and (number? x) (real? x)) (show-real x))
          ((number? x) (list 'complex (show-real (real-part x)) (show-real (imag-part x))))
          ((pair? x) (cons (show (car x) (- d 1)) (show (cdr x) d)))
          ((vector? x) (cons 'vec (map (lambda (x) (show x (- d 1))) (vector->list x))))
          ((null? x) x)
          ((bytevector? x) (list 'bytes (bytevector-length x) (if (= 0 (bytevector-length x)) 0 (bytevector-u8-ref x 0))))
          ((boolean? x) (if x 'true 'false))
          (else 'other))))
(define (describe e)
  (cond ((error-object? e)
         (if (and (string? (error-object-message e)) (string-prefixed? (error-object-message e)))
             (list 'error (show (error-object-irritants e)))
             'failure))
        (else (list 'raised (show e)))))
(define (string-prefixed? s) (and (<= 4 (string-length s)) (string=? (substring s 0 4) (list->string (list #\u #\s #\e #\r)))))
(define inputs (map (lambda (n x) (cons n x)) '(0 -1 1152921504606846975 7 -1152921504606846976) '(0.0 1/2 -0.0 1e300 +nan.0)))
(define (peer-exp x) (* x 0.5))
(define (peer-sin x) (- x 1.5))
(define (peer-atan x) (+ x 2.5))
(define (peer-* x . r)
  (for-each (lambda (x) (+ x 1)) (cons x r))
  (if (memv 0 (cons x r)) 0 (apply * x r)))
(define (peer-/ x . r)
  (for-each (lambda (x) (if (memv x '(0 0.0 -0.0)) (car x) (+ x 1))) r)
  (if (eqv? x 0) 0 (apply / x r)))
(define (peer-numerator x) (if (rational? x) (numerator x) (car x)))
(define (peer-denominator x) (if (rational? x) (denominator x) (car x)))
(define (peer-complex x y) (+ x y))
(define (peer-number->string x) (if (exact-integer? x) (number->string x) (if (number? x) (string #\f) (car x))))
(define (peer-read p) 'read)
(define (same? a b) (if (or (and (string? a) (string? b)) (and (vector? a) (vector? b))) (equal? a b) (eqv? a b)))
(define (make-peer-table) (list 'table))
(define (peer-table-set! t k v) (let ((p (assoc k (cdr t)))) (if p (set-cdr! p v) (set-cdr! t (cons (cons k v) (cdr t))))))
(define (peer-table-ref t k v) (let ((p (assoc k (cdr t)))) (if p (cdr p) v)))
(define (peer-table-update! t k f v) (peer-table-set! t k (f (peer-table-ref t k v))))
(define (peer-table-size t) (length (cdr t)))
(define (peer-sort less l)
  (let sort ((l l) (sorted '()))
    (if (null? l)
        sorted
        (sort (cdr l)
              (let insert ((s sorted))
                (if (or (null? s) (less (car l) (car s))) (cons (car l) s) (cons (car s) (insert (cdr s)))))))))
(define (peer-sort! less v)
  (let fill ((l (peer-sort less (vector->list v))) (i 0))
    (if (pair? l) (begin (vector-set! v i (car l)) (fill (cdr l) (+ i 1))))))
(define (peer-table-exists? t k) (if (assoc k (cdr t)) #t #f))
";

/// Names that stand for others in the text that is compared.
const RENAMED: &[(&str, &str)] = &[
    ("exp", "peer-exp"),
    ("sin", "peer-sin"),
    ("atan", "peer-atan"),
    ("*", "peer-*"),
    ("/", "peer-/"),
    ("numerator", "peer-numerator"),
    ("denominator", "peer-denominator"),
    ("make-rectangular", "peer-complex"),
    ("make-polar", "peer-complex"),
    ("number->string", "peer-number->string"),
    ("read", "peer-read"),
    ("eqv?", "same?"),
    ("make-hash-table", "make-peer-table"),
    ("hash-table-set!", "peer-table-set!"),
    ("hash-table-ref/default", "peer-table-ref"),
    ("hash-table-update!/default", "peer-table-update!"),
    ("hash-table-size", "peer-table-size"),
    ("hash-table-exists?", "peer-table-exists?"),
    ("list-sort", "peer-sort"),
    ("vector-sort!", "peer-sort!"),
    ("'|a b|", "'a-b"),
    ("#\\ß", "#\\é"),
    ("55000", "250"),
    ("'...", "'deep"),
];

/// Forms whose parts are expressions all, but are no operands.
const SEQUENCES: &[&str] = &["if", "and", "or", "begin", "set!", "delay", "delay-force"];

/// The text of a form in which operands and initial values are evaluated from left to right.
fn ordered(form: &str) -> String {
    Order { names: 0 }.expression(&parse(form)).to_string()
}

/// Gives names to what is to be evaluated first.
struct Order {
    names: usize,
}

fn atom(text: impl Into<String>) -> Datum {
    Datum::Atom(text.into())
}

fn list(items: Vec<Datum>) -> Datum {
    Datum::List(String::new(), items)
}

/// Does evaluating this do nothing but give a value?
fn is_plain(e: &Datum) -> bool {
    match e {
        Datum::Atom(_) => true,
        Datum::List(prefix, _) if prefix.starts_with('\'') => true,
        Datum::List(_, items) => matches!(items.first(), Some(Datum::Atom(head)) if head == "lambda"),
    }
}

/// The elements of a list.
fn parts(e: &Datum) -> &[Datum] {
    match e {
        Datum::Atom(_) => &[],
        Datum::List(_, items) => items,
    }
}

/// Is this form as the generator makes it? What was made smaller may be no program.
fn has_its_parts(head: &str, items: &[Datum]) -> bool {
    let named = matches!(items.get(1), Some(Datum::Atom(_)));
    match head {
        "define" | "lambda" | "define-values" | "case" | "let*" | "letrec" | "let-values" | "let*-values"
        | "parameterize" => items.len() > 2,
        "do" => items.len() > 3,
        "guard" => items.len() > 2 && !parts(&items[1]).is_empty(),
        "let" => {
            let at = 1 + usize::from(named);
            items.len() > at + 1 && parts(&items[at]).iter().all(|b| parts(b).len() == 2)
        }
        _ => items.len() > 2 || !head.starts_with("define-"),
    }
}

impl Order {
    fn expressions(&mut self, es: &[Datum]) -> Vec<Datum> {
        es.iter().map(|e| self.expression(e)).collect()
    }

    /// `whole` of these, which are evaluated before, in order, where that may matter.
    fn in_order(&mut self, es: &[Datum], whole: impl FnOnce(Vec<Datum>) -> Datum) -> Datum {
        let es = self.expressions(es);
        if es.iter().filter(|e| !is_plain(e)).count() < 2 {
            return whole(es);
        }
        let (mut bindings, mut named) = (vec![], vec![]);
        for e in es {
            // a variable may be assigned by what is evaluated after it
            if matches!(&e, Datum::List(..)) && is_plain(&e) {
                named.push(e);
                continue;
            }
            self.names += 1;
            let name = atom(format!("in-order-{}", self.names));
            bindings.push(list(vec![name.clone(), e]));
            named.push(name);
        }
        list(vec![atom("let*"), list(bindings), whole(named)])
    }

    /// The rest of a form whose head and second part stay.
    fn after(&mut self, items: &[Datum], stay: usize) -> Datum {
        let rest = self.expressions(&items[stay..]);
        list([&items[..stay], &rest[..]].concat())
    }

    /// Clauses: a list of expressions each, the first of which may be data.
    fn clauses(&mut self, items: &[Datum], data: bool) -> Vec<Datum> {
        let clause = |c: &Datum| match c {
            Datum::List(prefix, parts) if prefix.is_empty() => {
                let from = usize::from(data);
                list([&parts[..from], &self.expressions(&parts[from..])[..]].concat())
            }
            other => other.clone(),
        };
        items.iter().map(clause).collect()
    }

    /// A `let` of any kind with the initial values that `init` makes.
    fn bindings(&mut self, bs: &Datum) -> Datum {
        let Datum::List(_, bs) = bs else { return bs.clone() };
        list(self.clauses(bs, true))
    }

    fn expression(&mut self, e: &Datum) -> Datum {
        let (prefix, items) = match e {
            Datum::Atom(text) => {
                let renamed = RENAMED.iter().find(|(from, _)| from == text);
                return atom(renamed.map_or(text.as_str(), |(_, to)| to));
            }
            Datum::List(prefix, items) => (prefix.as_str(), items),
        };
        if prefix.starts_with('`') {
            return self.quasi(items);
        }
        if !prefix.is_empty() || items.is_empty() {
            return e.clone();
        }
        let head = match &items[0] {
            Datum::Atom(head) => head.as_str(),
            Datum::List(..) => "",
        };
        if !has_its_parts(head, items) {
            return e.clone();
        }
        match head {
            "quote" | "define-record-type" | "define-syntax" => e.clone(),
            "define" | "lambda" | "define-values" => self.after(items, 2),
            "case-lambda" => list([&items[..1], &self.clauses(&items[1..], true)[..]].concat()),
            "cond" => list([&items[..1], &self.clauses(&items[1..], false)[..]].concat()),
            "case" => {
                let key = self.expression(&items[1]);
                list([&[items[0].clone(), key], &self.clauses(&items[2..], true)[..]].concat())
            }
            "guard" => {
                let clauses = parts(&items[1]);
                let clauses = [&clauses[..1], &self.clauses(&clauses[1..], false)[..]].concat();
                let body = self.expressions(&items[2..]);
                list([&[items[0].clone(), list(clauses)], &body[..]].concat())
            }
            "let" => {
                let at = 1 + usize::from(matches!(items[1], Datum::Atom(_)));
                let bs = parts(&items[at]);
                let names = bs.iter().map(|b| parts(b)[0].clone());
                let inits: Vec<Datum> = bs.iter().map(|b| parts(b)[1].clone()).collect();
                let body = self.expressions(&items[at + 1..]);
                self.in_order(&inits, |inits| {
                    let bs = names.zip(inits).map(|(n, i)| list(vec![n, i])).collect();
                    list([&items[..at], &[list(bs)], &body[..]].concat())
                })
            }
            "let*" | "letrec" | "let-values" | "let*-values" | "parameterize" => {
                let bs = self.bindings(&items[1]);
                let body = self.expressions(&items[2..]);
                list([&[items[0].clone(), bs], &body[..]].concat())
            }
            "do" => {
                let (bs, rest) = (self.bindings(&items[1]), self.expressions(&items[3..]));
                let end = self.clauses(&items[2..3], false);
                list([&[items[0].clone(), bs], &end[..], &rest[..]].concat())
            }
            _ if SEQUENCES.contains(&head) => self.after(items, 1),
            // a use of a macro that defines
            _ if head.starts_with("define-") => self.after(items, 3),
            _ => self.in_order(items, list),
        }
    }

    /// A template: what is unquoted is evaluated before.
    fn quasi(&mut self, items: &[Datum]) -> Datum {
        let mut unquoted = vec![];
        let parts: Vec<Option<String>> = items
            .iter()
            .map(|part| {
                let text = part.to_string();
                let sign = if text.starts_with(",@") { ",@" } else { "," };
                let inner = text.strip_prefix(sign)?;
                unquoted.push(parse(inner));
                Some(sign.to_string())
            })
            .collect();
        self.in_order(&unquoted, |values| {
            let mut values = values.into_iter();
            let part = |(item, sign): (&Datum, &Option<String>)| match sign {
                None => item.clone(),
                Some(sign) => atom(format!("{sign}{}", values.next().expect("as many as signs"))),
            };
            Datum::List("`".into(), items.iter().zip(&parts).map(part).collect())
        })
    }
}

/// A system that runs a text.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Peer {
    Cairn,
    Chez,
    Guile,
}

impl Peer {
    fn command(self) -> Command {
        let mut command = patiently();
        match self {
            Peer::Cairn => {
                command.arg(binary()).args(["run", "--heap-max=512M"]);
                command.args(crate::without_llvm(Configuration { opt: "auto", ..Configuration::usual() }))
            }
            Peer::Chez => command.args(["scheme", "--script"]),
            Peer::Guile => command.args(["guile", "--no-auto-compile"]),
        };
        command
    }

    fn is_installed(self) -> bool {
        let program = match self {
            Peer::Cairn => return true,
            Peer::Chez => "scheme",
            Peer::Guile => "guile",
        };
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    }

    /// The lines that come out.
    fn observe(self, directory: &Directory, programs: &[Forms]) -> Vec<String> {
        let own = match self {
            Peer::Cairn => CAIRN,
            Peer::Chez => CHEZ,
            Peer::Guile => GUILE,
        };
        let forms: Vec<String> = programs.iter().flatten().map(|f| ordered(f)).collect();
        let prelude = generate::PRELUDE;
        let at = |form: &str| prelude.find(form).expect("it is there");
        let before = &prelude[at("(define-record-type")..at("(define (show x)")];
        let behind = &prelude[at("(define (attempt")..];
        let text = format!("{own}{before}{COMMON}{behind}{}\n", forms.join("\n"));
        let file = directory.0.join(format!("{self:?}.scm"));
        std::fs::write(&file, text).unwrap();
        let mut command = self.command();
        command.arg(&file).env("CAIRN_CACHE_DIR", directory.0.join("cache")).stdin(Stdio::null());
        let output = command.output().unwrap();
        // a program that ends early has written less, and is compared no further
        observations(&String::from_utf8_lossy(&output.stdout)).lines().map(String::from).collect()
    }
}

/// The peers that are here.
pub struct Peers(Vec<Peer>);

impl Peers {
    /// None, unless they are asked for.
    pub fn installed() -> Peers {
        let wanted = std::env::var_os("CAIRN_FUZZ_PEERS").is_some();
        Peers([Peer::Chez, Peer::Guile].into_iter().filter(|p| wanted && p.is_installed()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tests in which no peer says what Cairn says, and what each says: the first line that is not everywhere.
    pub fn differences(&self, directory: &Directory, programs: &[Forms]) -> Vec<String> {
        let seen = Seen::of(Peer::Cairn.observe(directory, programs));
        let others: Vec<(Peer, Seen)> =
            self.0.iter().map(|p| (*p, Seen::of(p.observe(directory, programs)))).collect();
        for (peer, s) in &others {
            assert!(s.order.len() * 2 > seen.order.len(), "{peer:?} ended after {} tests", s.order.len());
        }
        let mut found = vec![];
        for tag in &seen.order {
            let ours = &seen.lines[tag];
            // a program that has ended in a peer says nothing
            let theirs: Vec<(Peer, &Vec<String>)> =
                others.iter().filter_map(|(p, s)| Some((*p, s.lines.get(tag)?))).collect();
            if theirs.is_empty() || theirs.iter().any(|(_, lines)| *lines == ours) {
                continue;
            }
            let at = |i: usize, lines: &Vec<String>| lines.get(i).map_or("nothing".into(), String::clone);
            let apart = |i: &usize| theirs.iter().any(|(_, lines)| at(*i, lines) != at(*i, ours));
            let i = (0..=ours.len()).find(apart).unwrap_or_default();
            let mut shown = format!("Cairn: {}", at(i, ours));
            for (peer, lines) in theirs {
                shown += &format!("\n{peer:?}: {}", at(i, lines));
            }
            found.push(shown);
        }
        if let Some(kept) = std::env::var_os("CAIRN_FUZZ_KEEP").filter(|_| !found.is_empty()) {
            for peer in [Peer::Cairn, Peer::Chez, Peer::Guile] {
                let name = format!("{peer:?}.scm");
                let _ = std::fs::copy(directory.0.join(&name), Path::new(&kept).join(name));
            }
        }
        found
    }
}

/// What was written, by the tag that a line begins with.
struct Seen {
    order: Vec<String>,
    lines: HashMap<String, Vec<String>>,
}

impl Seen {
    fn of(lines: Vec<String>) -> Seen {
        let mut seen = Seen { order: vec![], lines: HashMap::new() };
        let mut known = HashSet::new();
        for line in lines {
            let tag = line.trim_start_matches('(').split(' ').next().unwrap_or_default().to_string();
            if known.insert(tag.clone()) {
                seen.order.push(tag.clone());
            }
            seen.lines.entry(tag).or_default().push(line);
        }
        seen
    }
}

#[test]
fn operands_are_evaluated_in_order() {
    let cases = [
        ("(f 1 (g 2))", "(f 1 (g 2))"),
        (
            "(f (g 1) x (h (read p)))",
            "(let* ((in-order-1 f) (in-order-2 (g 1)) (in-order-3 x) (in-order-4 (h (peer-read p)))) \
             (in-order-1 in-order-2 in-order-3 in-order-4))",
        ),
        (
            "(let l ((a (f 1)) (b (g '(h (i 1) (j 2))))) (l a b))",
            "(let* ((in-order-1 (f 1)) (in-order-2 (g '(h (i 1) (j 2))))) (let l ((a in-order-1) (b in-order-2)) (l a b)))",
        ),
        (
            "`(1 ,@(f 1) x ,(g 2))",
            "(let* ((in-order-1 (f 1)) (in-order-2 (g 2))) `(1 ,@in-order-1 x ,in-order-2))",
        ),
        ("(cond ((f 1) => car) (else (g (h 1))))", "(cond ((f 1) => car) (else (g (h 1))))"),
    ];
    for (form, expected) in cases {
        assert_eq!(ordered(form), expected);
    }
}
