//! Random programs that end, and say what they saw.
//!
//! An expression is generated for a *kind* of value, so most programs mean something; now and then another kind takes
//! its place, and the error is one more observation. What keeps programs short: loops count to small numbers,
//! procedures call only procedures before them, every repetition multiplies an estimate of the cost which calls must
//! fit into, and values that go round in loops are clamped.

mod shapes;
mod whole;

/// What an expression is to yield.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Exact integer.
    Int,
    /// Real number of any kind.
    Num,
    Bool,
    Char,
    Str,
    Sym,
    /// List of numbers.
    List,
    /// Vector of numbers.
    Vec,
    /// A record `point`.
    Rec,
    /// Anything that can be written.
    Any,
}

use Kind::*;

const KINDS: [Kind; 10] = [Int, Num, Bool, Char, Str, Sym, List, Vec, Rec, Any];

/// What a name in scope stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Role {
    /// A variable of a kind.
    Value(Kind),
    /// A counter that ends a repetition, not to be assigned.
    Counter,
    /// A procedure of one argument, and the cost of calling it.
    Procedure(Kind, Kind, u64),
    /// An escaping continuation that takes a value.
    Escape(Kind),
}

/// A top-level procedure.
struct Function {
    name: String,
    parameters: std::vec::Vec<Kind>,
    rest: bool,
    result: Kind,
    cost: u64,
}

/// See the module's header.
pub struct Generator {
    state: u64,
    names: usize,
    scope: std::vec::Vec<(String, Role)>,
    functions: std::vec::Vec<Function>,
    /// Global variables, which procedures see, too.
    globals: std::vec::Vec<(String, Role)>,
    /// How often what is being generated is evaluated.
    times: u64,
    cost: u64,
    /// Expressions in the form so far.
    size: usize,
}

/// What a program may cost, in evaluated expressions per test.
const COST_MAX: u64 = 6_000;
/// Expressions in a form, about. Compilation takes nearly all of the time, so more small forms find more than few large
/// ones.
const SIZE_MAX: usize = 70;

/// Definitions that all programs share.
pub const PRELUDE: &str = r#"(import (scheme base) (scheme write) (scheme char) (scheme inexact) (scheme cxr) (scheme lazy)
        (scheme case-lambda) (scheme read) (scheme complex) (srfi 69) (srfi 132))
(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define-record-type pixel (pixel x c) pixel? (x pixel-x) (c pixel-c set-pixel-c!))
(define (make-pixel x) (pixel x 0))
(define limit 1000000000000000000000000000000)
(define (clamp x)
  (cond ((and (number? x) (not (real? x))) (if (exact? x) 7 x))
        ((and (number? x) (exact? x))
         (if (integer? x)
             (if (< (- limit) x limit) x (modulo x limit))
             (if (and (< (denominator x) limit) (< (- limit) (numerator x) limit))
                 x
                 (/ (modulo (numerator x) limit) (+ 1 (modulo (denominator x) limit))))))
        ((string? x) (if (> (string-length x) 30) (substring x 0 30) x))
        ((pair? x) (let loop ((x x) (n 0)) (if (or (not (pair? x)) (= n 12)) '() (cons (clamp (car x)) (loop (cdr x) (+ n 1))))))
        ((vector? x) (if (> (vector-length x) 12) (vector-copy x 0 12) x))
        (else x)))
(define notes '())
(define (note x) (set! notes (cons x notes)) x)
(define depth (make-parameter 0))
(define width (make-parameter 10 (lambda (x) (if (number? x) (clamp x) 0))))
(define (show x)
  (let show ((x x) (d 20))
    (cond ((= d 0) '...)
          ((pixel? x) (list 'pixel (show (pixel-x x) (- d 1)) (show (pixel-c x) (- d 1))))
          ((point? x) (list 'point (show (point-x x) (- d 1)) (show (point-y x) (- d 1))))
          ((procedure? x) 'procedure)
          ((pair? x) (cons (show (car x) (- d 1)) (show (cdr x) d)))
          ((vector? x) (vector-map (lambda (x) (show x (- d 1))) x))
          (else x))))
(define (describe e)
  (cond ((error-object? e)
         (if (string-prefix? "user" (error-object-message e))
             (list 'error (error-object-message e) (show (error-object-irritants e)))
             (list 'failure (error-object-message e))))
        (else (list 'raised (show e)))))
(define (string-prefix? p s)
  (and (<= (string-length p) (string-length s)) (string=? p (substring s 0 (string-length p)))))
; what no optimizer knows
(define inputs
  (read (open-input-string "((0 . 0.0) (-1 . 1/2) (1152921504606846975 . -0.0) (7 . 1e300) (-1152921504606846976 . +nan.0))")))
(define (attempt thunk)
  (call/cc (lambda (k) (with-exception-handler (lambda (e) (k (describe e))) thunk))))
(define (observe name thunk)
  (set! notes '())
  (let ((result (attempt thunk)))
    (write (list name (show result) (show notes)))
    (newline)))
(define (test number thunk)
  (for-each
    (lambda (in)
      (set! notes '())
      (let ((result (call/cc (lambda (k)
                      (with-exception-handler (lambda (e) (k (describe e))) (lambda () (thunk (car in) (cdr in))))))))
        (write (list number (show result) (show notes)))
        (newline)))
    inputs))
"#;

impl Generator {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Generator {
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B;
        let mut g = Generator {
            state,
            names: 0,
            scope: vec![],
            functions: vec![],
            globals: vec![],
            times: 1,
            cost: 0,
            size: 0,
        };
        for _ in 0..4 {
            g.next();
        }
        g
    }

    /// Top-level forms after the prelude: procedures, then this many tests.
    pub fn program(&mut self, tests: usize) -> std::vec::Vec<String> {
        let mut forms = vec![];
        for i in 0..tests {
            if self.below(2) == 0 {
                forms.push(self.function());
            }
            (self.cost, self.size) = (0, 0);
            let kind = self.kind();
            let inputs = [("n".to_string(), Role::Value(Int)), ("x".to_string(), Role::Value(Num))];
            let body = self.with(&inputs, |g| g.body(kind, 6));
            forms.push(format!("(test {i} (lambda (n x) {body}))"));
        }
        forms
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
    fn kind(&mut self) -> Kind {
        KINDS[self.below(KINDS.len())]
    }
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Generates with more names in scope.
    fn with<T>(&mut self, names: &[(String, Role)], f: impl FnOnce(&mut Self) -> T) -> T {
        let n = self.scope.len();
        self.scope.extend_from_slice(names);
        let result = f(self);
        self.scope.truncate(n);
        result
    }
    /// Generates what is evaluated `n` times.
    fn repeated<T>(&mut self, n: u64, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.times;
        self.times *= n;
        let result = f(self);
        self.times = before;
        result
    }

    fn function(&mut self) -> String {
        (self.cost, self.size) = (0, SIZE_MAX / 2);
        let outer = std::mem::replace(&mut self.scope, self.globals.clone());
        let name = self.name("f");
        let most = if self.below(6) == 0 { 9 } else { 4 };
        let n = self.below(most);
        let parameters: std::vec::Vec<Kind> = (0..n).map(|_| self.kind()).collect();
        let names: std::vec::Vec<String> = (0..n).map(|_| self.name("a")).collect();
        let mut scope: std::vec::Vec<(String, Role)> =
            names.iter().cloned().zip(parameters.iter().map(|k| Role::Value(*k))).collect();
        let rest = self.below(5) == 0;
        let result = self.kind();
        let mut tail = String::new();
        if rest {
            let r = self.name("r");
            tail = format!(" . {r}");
            scope.push((r, Role::Value(List)));
        }
        let body = self.with(&scope, |g| g.body(result, 5));
        self.scope = outer;
        let text = match self.below(4) {
            0 if !rest && n > 0 => {
                let short = self.with(&scope[..n - 1], |g| g.expr(result, 2));
                let fewer = names[..n - 1].join(" ");
                format!("(define {name} (case-lambda (({}) {body}) (({fewer}) {short})))", names.join(" "))
            }
            1 => {
                // recursive, by a counter
                let go = self.name("go");
                let args = names.join(" ");
                self.cost *= 4;
                format!(
                    "(define ({name}{}{args}{tail}) (define ({go} n) (if (= n 0) {body} (let ((v ({go} (- n 1)))) (if (odd? n) (clamp v) {body})))) ({go} 3))",
                    if n > 0 { " " } else { "" }
                )
            }
            _ => format!(
                "(define ({name}{}{}{tail}) (clamp {body}))",
                if n > 0 { " " } else { "" },
                names.join(" ")
            ),
        };
        self.functions.push(Function { name, parameters, rest, result, cost: self.cost + 1 });
        text
    }

    /// A body: perhaps with internal definitions and assignments.
    fn body(&mut self, kind: Kind, depth: usize) -> String {
        match self.below(4) {
            0 => {
                let (k, x) = (self.kind(), self.name("d"));
                let init = self.expr(k, depth.saturating_sub(1));
                let rest = self.with(&[(x.clone(), Role::Value(k))], |g| g.body(kind, depth.saturating_sub(1)));
                format!("(let () (define {x} {init}) {rest})")
            }
            1 => format!(
                "(begin {} {})",
                self.effect(depth.saturating_sub(1)),
                self.expr(kind, depth.saturating_sub(1))
            ),
            _ => self.expr(kind, depth),
        }
    }

    /// Something done for its effect.
    fn effect(&mut self, depth: usize) -> String {
        self.cost += self.times;
        let d = depth.saturating_sub(1);
        match self.below(9) {
            0 | 1 => {
                let values: std::vec::Vec<(String, Kind)> = self
                    .scope
                    .iter()
                    .filter_map(|(n, r)| match r {
                        Role::Value(k) => Some((n.clone(), *k)),
                        _ => None,
                    })
                    .collect();
                if values.is_empty() {
                    return format!("(note {})", self.expr(Any, d));
                }
                let (x, k) = values[self.below(values.len())].clone();
                format!("(set! {x} (clamp {}))", self.expr(k, d))
            }
            2 => format!("(vector-set! {} {} {})", self.expr(Vec, d), self.index(d), self.expr(Num, d)),
            3 => format!("(if (pair? {}) (note {}))", self.expr(List, d), self.expr(Any, d)),
            4 => format!("(set-point-x! {} {})", self.expr(Rec, d), self.expr(Any, d)),
            5 => {
                let (x, n) = (self.name("i"), 1 + self.below(4));
                let e = self.repeated(n as u64, |g| g.with(&[(x.clone(), Role::Counter)], |g| g.effect(d)));
                format!("(do (({x} 0 (+ {x} 1))) ((= {x} {n})) {e})")
            }
            6 => {
                let x = self.name("x");
                let l = self.expr(List, d);
                let e = self.repeated(4, |g| g.with(&[(x.clone(), Role::Value(Num))], |g| g.effect(d)));
                format!("(for-each (lambda ({x}) {e}) (clamp {l}))")
            }
            7 => format!("(vector-fill! {} {})", self.expr(Vec, d), self.expr(Num, d)),
            _ => format!("(note {})", self.expr(Any, d)),
        }
    }

    /// Mostly a small index.
    fn index(&mut self, depth: usize) -> String {
        if self.below(20) == 0 { self.expr(Int, depth.min(2)) } else { (self.below(8) / 5).to_string() }
    }

    /// An expression of a kind.
    fn expr(&mut self, kind: Kind, depth: usize) -> String {
        self.cost += self.times;
        self.size += 1;
        // an error, now and then
        let kind = if self.below(400) == 0 { self.kind() } else { kind };
        if depth == 0 || self.cost > COST_MAX || self.size > SIZE_MAX {
            return self.leaf(kind);
        }
        let d = depth - 1;
        match self.below(13) {
            0 | 1 => self.leaf(kind),
            2 | 3 => self.control(kind, d),
            4 => self.call(kind, d),
            5 => self.shape(kind, d),
            _ => self.operation(kind, d),
        }
    }

    fn leaf(&mut self, kind: Kind) -> String {
        let known: std::vec::Vec<String> =
            self.scope.iter().filter(|(_, r)| stands_for(*r, kind)).map(|(n, _)| n.clone()).collect();
        if !known.is_empty() && self.below(3) > 0 {
            return known[self.below(known.len())].clone();
        }
        match kind {
            Int => self.integer(),
            Num => match self.below(4) {
                0 => self.integer(),
                1 => format!("{}/{}", self.below(40) as i64 - 20, 1 + self.below(9)),
                _ => self.float(),
            },
            Bool => self.pick(&["#t", "#f"]).into(),
            Char => self.pick(&["#\\a", "#\\Z", "#\\space", "#\\0", "#\\λ", "#\\x1F600", "#\\nul", "#\\ß"]).into(),
            Str => self.pick(&["\"\"", "\"abc\"", "\"Hello, World\"", "\"λx.x\"", "\"12\"", "\"a\\nb\""]).into(),
            Sym => self.pick(&["'a", "'b", "'hello", "'|a b|"]).into(),
            List => match self.below(6) {
                0 => "'()".into(),
                1 | 2 => "(list 3 1 2)".into(),
                _ => format!("(list {} {})", self.leaf(Num), self.leaf(Num)),
            },
            Vec => match self.below(8) {
                0 => "(vector)".into(),
                1..=3 => format!("(make-vector {} {})", 2 + self.below(3), self.leaf(Num)),
                _ => format!("(vector {} {} {})", self.leaf(Num), self.leaf(Num), self.leaf(Num)),
            },
            Rec => format!("(make-point {} {})", self.leaf(Num), self.leaf(Num)),
            Any => {
                let k = KINDS[self.below(KINDS.len() - 2)];
                self.leaf(k)
            }
        }
    }

    fn integer(&mut self) -> String {
        let special = [
            "0",
            "1",
            "-1",
            "2",
            "10",
            "1152921504606846975",
            "-1152921504606846976",
            "1152921504606846976",
            "576460752303423488",
            "4611686018427387904",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551616",
            "100000000000000000000000",
            "4294967296",
            "-4294967295",
        ];
        if self.below(2) == 0 { self.pick(&special).into() } else { (self.below(200) as i64 - 100).to_string() }
    }
    fn float(&mut self) -> String {
        let special = [
            "0.0",
            "-0.0",
            "1.5",
            "-2.25",
            "1e300",
            "1e-300",
            "1e200",
            "+inf.0",
            "-inf.0",
            "+nan.0",
            "3.0",
            "1e18",
            "0.1",
            "4.9e-324",
            "1.7976931348623157e308",
            "-1e-160",
        ];
        self.pick(&special).into()
    }

    /// Forms that yield whatever kind is wanted.
    fn control(&mut self, kind: Kind, d: usize) -> String {
        match self.below(21) {
            0 => format!("(if {} {} {})", self.expr(Bool, d), self.expr(kind, d), self.expr(kind, d)),
            1 => {
                let (k, x) = (self.kind(), self.name("v"));
                let init = self.expr(k, d);
                let body = self.with(&[(x.clone(), Role::Value(k))], |g| g.body(kind, d));
                format!("(let (({x} {init})) {body})")
            }
            2 => {
                // a closure over what is in scope
                let (k, f, x) = (self.kind(), self.name("p"), self.name("y"));
                let (made, before) = (self.cost, self.times);
                self.times = 1;
                let inner = self.with(&[(x.clone(), Role::Value(k))], |g| g.body(kind, d));
                let cost = self.cost - made;
                (self.times, self.cost) = (before, made + before);
                let role = Role::Procedure(k, kind, cost);
                let body = self.with(&[(f.clone(), role)], |g| g.expr(kind, d));
                format!("(let (({f} (lambda ({x}) {inner}))) {body})")
            }
            3 | 4 => {
                let (l, i, acc, n) = (self.name("loop"), self.name("i"), self.name("t"), 1 + self.below(6));
                let init = self.expr(kind, d);
                let scope = [(i.clone(), Role::Counter), (acc.clone(), Role::Value(kind))];
                let step = self.repeated(n as u64, |g| g.with(&scope, |g| g.expr(kind, d)));
                format!("(let {l} (({i} 0) ({acc} {init})) (if (= {i} {n}) {acc} ({l} (+ {i} 1) (clamp {step}))))")
            }
            5 => {
                let k = self.name("k");
                let role = Role::Escape(kind);
                let body = self.with(&[(k.clone(), role)], |g| g.body(kind, d));
                format!("(call/cc (lambda ({k}) {body}))")
            }
            6 => {
                // a continuation entered again, a few times
                let (k, v, n, times) = (self.name("k"), self.name("v"), self.name("n"), 2 + self.below(3));
                let scope = [(v.clone(), Role::Value(kind)), (n.clone(), Role::Counter)];
                let first = self.expr(kind, d);
                let again = self.repeated(times as u64, |g| g.with(&scope, |g| g.expr(kind, d)));
                let last = self.with(&scope, |g| g.expr(kind, d));
                format!(
                    "(let* (({k} #f) ({n} 0) ({v} (call/cc (lambda (c) (set! {k} c) {first})))) \
                     (set! {n} (+ {n} 1)) (if (< {n} {times}) ({k} (clamp {again})) {last}))"
                )
            }
            7 => format!(
                "(dynamic-wind (lambda () {}) (lambda () {}) (lambda () {}))",
                self.effect(d.min(1)),
                self.body(kind, d),
                self.effect(d.min(1))
            ),
            8 | 9 => {
                let e = self.name("e");
                let body = self.body(kind, d);
                let role = [(e.clone(), Role::Value(Any))];
                let (a, b) = self.with(&role, |g| (g.expr(kind, d), g.expr(kind, d)));
                match self.below(3) {
                    0 => format!("(guard ({e} ((symbol? {e}) {a}) ((error-object? {e}) {b})) {body})"),
                    1 => format!("(guard ({e} ((assq 'a {e}) => cdr) (else {b})) {body})"),
                    _ => format!("(guard ({e} ((string? {e}) {a}) (else (note (describe {e})) {b})) {body})"),
                }
            }
            10 => match self.below(3) {
                0 => format!("(raise {})", self.expr(Any, d)),
                1 => format!("(error \"user: trouble\" {})", self.expr(Any, d)),
                _ => {
                    let e = self.name("e");
                    let handler = self.with(&[(e.clone(), Role::Value(Any))], |g| g.expr(kind, d));
                    let raised = self.expr(Any, d);
                    format!(
                        "(with-exception-handler (lambda ({e}) {handler}) (lambda () (raise-continuable {raised})))"
                    )
                }
            },
            11 => {
                let (a, b) = (self.name("q"), self.name("q"));
                let k = self.kind();
                let (x, y) = (self.expr(k, d), self.expr(kind, d));
                let scope = [(a.clone(), Role::Value(k)), (b.clone(), Role::Value(kind))];
                let body = self.with(&scope, |g| g.expr(kind, d));
                match self.below(3) {
                    0 => format!("(call-with-values (lambda () (values {x} {y})) (lambda ({a} {b}) {body}))"),
                    1 => format!("(let-values ((({a} {b}) (values {x} {y}))) {body})"),
                    _ => format!("(let () (define-values ({a} {b}) (values {x} {y})) {body})"),
                }
            }
            12 => format!(
                "(parameterize (({} {})) {})",
                self.pick(&["depth", "width"]),
                self.expr(Num, d),
                self.body(kind, d)
            ),
            13 => format!("(begin {} {})", self.effect(d), self.expr(kind, d)),
            14 => {
                let x = self.leaf(Int);
                format!(
                    "(case (modulo {x} 4) ((0) {}) ((1 2) {}) (else {}))",
                    self.expr(kind, d),
                    self.expr(kind, d),
                    self.expr(kind, d)
                )
            }
            15 => format!(
                "(cond ({} {}) ({} {}) (else {}))",
                self.expr(Bool, d),
                self.expr(kind, d),
                self.expr(Bool, d),
                self.expr(kind, d),
                self.expr(kind, d)
            ),
            16 => {
                // mutual recursion, with an argument that stays
                let (p, q, n, x) = (self.name("even"), self.name("odd"), self.name("n"), self.name("x"));
                let init = self.expr(kind, d);
                let scope = [(n.clone(), Role::Counter), (x.clone(), Role::Value(kind))];
                let (a, b) = self.repeated(2, |g| g.with(&scope, |g| (g.expr(kind, d), g.expr(kind, d))));
                format!(
                    "(letrec (({p} (lambda ({n} {x}) (if (= {n} 0) {x} ({q} (- {n} 1) (clamp {a}))))) \
                     ({q} (lambda ({n} {x}) (if (= {n} 0) {x} (let ((z ({p} (- {n} 1) {x}))) (clamp {b})))))) ({p} 3 {init}))"
                )
            }
            17 => {
                // a generator: two continuations that take turns
                let (x, out) = (self.name("x"), self.name("g"));
                let items = self.expr(List, d);
                let role = [(x.clone(), Role::Value(Num))];
                let step = self.repeated(3, |g| g.with(&role, |g| g.expr(Num, d.min(2))));
                let scope = [(out.clone(), Role::Value(List))];
                let body = self.with(&scope, |g| g.expr(kind, d));
                format!(
                    "(let (({out} (let ((return #f) (items (clamp {items}))) \
                     (define (walk) (for-each (lambda ({x}) (call/cc (lambda (k) (set! walk (lambda () (k #f))) (return {step})))) items) (return 'end)) \
                     (define (next) (call/cc (lambda (r) (set! return r) (walk)))) \
                     (let loop ((n 0) (l '())) (let ((v (next))) (if (or (eq? v 'end) (= n 3)) l (loop (+ n 1) (cons v l)))))))) {body})"
                )
            }
            18 => {
                let escapes: std::vec::Vec<(String, Kind)> = self
                    .scope
                    .iter()
                    .filter_map(|(n, r)| match r {
                        Role::Escape(k) => Some((n.clone(), *k)),
                        _ => None,
                    })
                    .collect();
                if escapes.is_empty() {
                    return self.operation(kind, d);
                }
                let (k, of) = escapes[self.below(escapes.len())].clone();
                format!("({k} {})", self.expr(of, d))
            }
            19 => format!("(force (delay {}))", self.expr(kind, d)),
            _ => format!("(let* ((z {}) (z (list z z))) (car z))", self.expr(kind, d)),
        }
    }

    /// A call of a procedure in scope, if one fits.
    fn call(&mut self, kind: Kind, d: usize) -> String {
        let room = COST_MAX.saturating_sub(self.cost) / self.times;
        let locals: std::vec::Vec<(String, Kind, u64)> = self
            .scope
            .iter()
            .filter_map(|(n, r)| match r {
                Role::Procedure(from, to, cost) if *to == kind && *cost < room => Some((n.clone(), *from, *cost)),
                _ => None,
            })
            .collect();
        if !locals.is_empty() && self.below(3) > 0 {
            let (f, from, cost) = locals[self.below(locals.len())].clone();
            self.cost += cost * self.times;
            return format!("({f} {})", self.expr(from, d));
        }
        let fitting: std::vec::Vec<usize> = (0..self.functions.len())
            .filter(|i| self.functions[*i].result == kind && self.functions[*i].cost < room)
            .collect();
        if fitting.is_empty() {
            return self.operation(kind, d);
        }
        let f = fitting[self.below(fitting.len())];
        self.cost += self.functions[f].cost * self.times;
        let (name, parameters, rest) = {
            let f = &self.functions[f];
            (f.name.clone(), f.parameters.clone(), f.rest)
        };
        let mut args: std::vec::Vec<String> = parameters.iter().map(|k| self.expr(*k, d.min(3))).collect();
        if self.below(30) == 0 {
            args.pop();
        }
        if rest {
            args.extend((0..self.below(3)).map(|_| "7".to_string()));
        }
        if self.below(6) == 0 {
            return format!("(apply {name} {})", list("list", &args));
        }
        list(&name, &args)
    }

    /// A primitive or library procedure that yields the kind.
    fn operation(&mut self, kind: Kind, d: usize) -> String {
        match kind {
            Int => self.integer_operation(d),
            Num => self.number_operation(d),
            Bool => match self.below(14) {
                0..=2 => {
                    let op = self.pick(&["<", ">", "=", "<=", ">="]);
                    format!("({op} {} {})", self.expr(Num, d), self.expr(Num, d))
                }
                3 => format!("({} {})", self.pick(&["even?", "odd?", "zero?", "negative?"]), self.expr(Int, d)),
                4 => format!("({} {} {})", self.pick(&["eqv?", "equal?"]), self.expr(Any, d), self.expr(Any, d)),
                5 => format!("(not {})", self.expr(Bool, d)),
                6 => format!("({} {} {})", self.pick(&["and", "or"]), self.expr(Bool, d), self.expr(Bool, d)),
                7 => {
                    let op = self.pick(&["string<?", "string=?", "string>?", "string-ci=?"]);
                    format!("({op} {} {})", self.expr(Str, d), self.expr(Str, d))
                }
                8 => format!(
                    "({} {} {})",
                    self.pick(&["char<?", "char=?", "char-ci=?"]),
                    self.expr(Char, d),
                    self.expr(Char, d)
                ),
                9 => format!(
                    "({} {})",
                    self.pick(&["char-alphabetic?", "char-numeric?", "char-upper-case?"]),
                    self.expr(Char, d)
                ),
                10 => {
                    let op = self.pick(&[
                        "pair?",
                        "null?",
                        "number?",
                        "exact?",
                        "integer?",
                        "string?",
                        "vector?",
                        "boolean?",
                        "procedure?",
                        "char?",
                        "symbol?",
                        "rational?",
                        "nan?",
                        "point?",
                    ]);
                    format!("({op} {})", self.expr(Any, d))
                }
                11 => format!("(integer? {})", self.expr(Num, d)),
                12 => format!("(exact? {})", self.expr(Num, d)),
                _ => format!("(if (memv {} {}) #t #f)", self.expr(Num, d), self.expr(List, d)),
            },
            Char => match self.below(4) {
                0 => format!("(string-ref {} {})", self.expr(Str, d), self.index(d)),
                1 => format!(
                    "({} {})",
                    self.pick(&["char-upcase", "char-downcase", "char-foldcase"]),
                    self.expr(Char, d)
                ),
                2 => format!("(integer->char (modulo {} 55000))", self.expr(Int, d)),
                _ => format!(
                    "(let ((p (open-input-string {}))) (read-char p) (let ((c (peek-char p))) (if (char? c) c #\\e)))",
                    self.expr(Str, d)
                ),
            },
            Str => match self.below(13) {
                0 => format!("(string-append {} {})", self.expr(Str, d), self.expr(Str, d)),
                1 => format!("(number->string {})", self.expr(Num, d)),
                2 => format!("(substring {} {} {})", self.expr(Str, d), self.index(d), self.index(d)),
                3 => format!("(symbol->string {})", self.expr(Sym, d)),
                4 => format!(
                    "({} {})",
                    self.pick(&["string-upcase", "string-downcase", "string-copy", "string-foldcase"]),
                    self.expr(Str, d)
                ),
                5 => format!("(make-string {} {})", self.below(8), self.expr(Char, d)),
                6 => format!("(string {} {})", self.expr(Char, d), self.expr(Char, d)),
                7 => format!("(list->string (string->list {}))", self.expr(Str, d)),
                8 => format!(
                    "(let ((p (open-output-string))) ({} (show {}) p) (get-output-string p))",
                    self.pick(&["write", "display"]),
                    self.expr(Any, d)
                ),
                9 => {
                    let x = self.name("c");
                    let s = self.expr(Str, d);
                    let e = self.repeated(6, |g| g.with(&[(x.clone(), Role::Value(Char))], |g| g.expr(Char, d)));
                    format!("(string-map (lambda ({x}) {e}) (clamp {s}))")
                }
                10 => format!(
                    "(let ((s (string-copy {}))) (string-set! s {} {}) s)",
                    self.expr(Str, d),
                    self.index(d),
                    self.expr(Char, d)
                ),
                11 => format!(
                    "(let ((l (read-line (open-input-string {})))) (if (string? l) l \"eof\"))",
                    self.expr(Str, d)
                ),
                _ => format!("(utf8->string (string->utf8 {}))", self.expr(Str, d)),
            },
            Sym => match self.below(3) {
                0 => format!("(string->symbol {})", self.expr(Str, d)),
                1 => format!("(if {} {} {})", self.expr(Bool, d), self.expr(Sym, d), self.expr(Sym, d)),
                _ => format!("(car (list {} {}))", self.expr(Sym, d), self.expr(Any, d)),
            },
            List => self.list_operation(d),
            Vec => match self.below(7) {
                0 => format!("(vector-copy {})", self.expr(Vec, d)),
                1 => format!("(list->vector {})", self.expr(List, d)),
                2 => {
                    let x = self.name("x");
                    let v = self.expr(Vec, d);
                    let e = self.repeated(4, |g| g.with(&[(x.clone(), Role::Value(Num))], |g| g.expr(Num, d)));
                    format!("(vector-map (lambda ({x}) {e}) (clamp {v}))")
                }
                3 => format!(
                    "(let ((v {})) (vector-set! v {} {}) v)",
                    self.expr(Vec, d),
                    self.index(d),
                    self.expr(Num, d)
                ),
                4 => format!("(vector-append {} {})", self.expr(Vec, d), self.expr(Vec, d)),
                5 => format!("(let ((v (vector-copy {}))) (vector-sort! < v) v)", self.expr(Vec, d)),
                _ => format!("(vector {} {})", self.expr(Num, d), self.expr(Num, d)),
            },
            Rec => match self.below(3) {
                0 => format!("(let ((p {})) (set-point-x! p {}) p)", self.expr(Rec, d), self.expr(Any, d)),
                _ => format!("(make-point {} {})", self.expr(Any, d), self.expr(Num, d)),
            },
            Any => match self.below(12) {
                0 => format!("(cons {} {})", self.expr(Any, d), self.expr(Any, d)),
                1 => format!("(list {} {} {})", self.expr(Any, d), self.expr(Any, d), self.expr(Any, d)),
                2 => format!("`({} ,@{} x ,{})", self.leaf(Int), self.expr(List, d), self.expr(Any, d)),
                3 => format!("(point-x {})", self.expr(Rec, d)),
                4 => format!("(vector {} {})", self.expr(Any, d), self.expr(Any, d)),
                5 => format!("(read (open-input-string {}))", self.expr(Str, d)),
                6 => format!("({} {})", self.pick(&["car", "cdr", "cadr", "cddr"]), self.expr(List, d)),
                7 => format!("(assv {} (map (lambda (x) (cons x x)) {}))", self.expr(Num, d), self.expr(List, d)),
                8 => format!("(string->number {})", self.expr(Str, d)),
                _ => {
                    let k = KINDS[self.below(KINDS.len() - 1)];
                    self.expr(k, d)
                }
            },
        }
    }

    fn integer_operation(&mut self, d: usize) -> String {
        match self.below(20) {
            0..=4 => {
                let op = self.pick(&["+", "-", "*"]);
                format!("({op} {} {})", self.expr(Int, d), self.expr(Int, d))
            }
            5 | 6 => {
                let op = self.pick(&[
                    "quotient",
                    "remainder",
                    "modulo",
                    "floor-quotient",
                    "floor-remainder",
                    "truncate-quotient",
                    "gcd",
                    "lcm",
                ]);
                format!("({op} {} {})", self.expr(Int, d), self.expr(Int, d))
            }
            7 => format!("({} {})", self.pick(&["abs", "-", "square"]), self.expr(Int, d)),
            8 => format!("({} {} {})", self.pick(&["min", "max"]), self.expr(Int, d), self.expr(Int, d)),
            9 => format!("(string-length {})", self.expr(Str, d)),
            10 => format!("(vector-length {})", self.expr(Vec, d)),
            11 => format!("(length {})", self.expr(List, d)),
            12 => format!("(char->integer {})", self.expr(Char, d)),
            13 => format!(
                "(exact ({} {}))",
                self.pick(&["floor", "round", "truncate", "ceiling"]),
                self.expr(Num, d)
            ),
            14 => format!(
                "(call-with-values (lambda () (exact-integer-sqrt (abs {}))) (lambda (s r) (+ s r)))",
                self.expr(Int, d)
            ),
            15 => format!("(expt {} {})", self.leaf(Int), self.below(5)),
            16 => format!("(numerator {})", self.expr(Num, d)),
            17 => {
                let x = self.name("h");
                format!(
                    "(let (({x} (make-hash-table))) (hash-table-set! {x} {} {}) (hash-table-update!/default {x} {} (lambda (o) (+ o 1)) 5) (+ (hash-table-size {x}) (hash-table-ref/default {x} {} 0)))",
                    self.expr(Any, d),
                    self.expr(Int, d),
                    self.expr(Any, d),
                    self.expr(Any, d)
                )
            }
            18 => format!(
                "(bytevector-u8-ref (bytevector 1 2 (modulo {} 256)) {})",
                self.expr(Int, d),
                self.index(d)
            ),
            _ => format!(
                "(apply + {} (map (lambda (x) (if (exact-integer? x) x 1)) {}))",
                self.expr(Int, d),
                self.expr(List, d)
            ),
        }
    }

    fn number_operation(&mut self, d: usize) -> String {
        match self.below(16) {
            0..=5 => {
                let op = self.pick(&["+", "-", "*", "/"]);
                format!("({op} {} {})", self.expr(Num, d), self.expr(Num, d))
            }
            6 => format!("({} {})", self.pick(&["-", "abs", "square", "inexact"]), self.expr(Num, d)),
            7 => format!("({} {})", self.pick(&["floor", "round", "truncate", "ceiling"]), self.expr(Num, d)),
            8 => format!("({} {} {})", self.pick(&["min", "max"]), self.expr(Num, d), self.expr(Num, d)),
            9 => format!("(sqrt (abs {}))", self.expr(Num, d)),
            10 => format!("(vector-ref {} {})", self.expr(Vec, d), self.index(d)),
            11 => match self.below(4) {
                0 => format!("({} {})", self.pick(&["car", "cadr"]), self.expr(List, d)),
                _ => format!("(let ((l {})) (if (pair? l) (car l) {}))", self.expr(List, d), self.leaf(Num)),
            },
            12 => format!("(point-y {})", self.expr(Rec, d)),
            13 => format!("({} {})", self.pick(&["exp", "sin", "atan"]), self.expr(Num, d)),
            14 => format!("({})", self.pick(&["depth", "width"])),
            _ => format!("(let ((x {})) (* x x 1.0))", self.expr(Num, d)),
        }
    }

    fn list_operation(&mut self, d: usize) -> String {
        match self.below(14) {
            0 | 1 => format!("(cons {} {})", self.expr(Num, d), self.expr(List, d)),
            2 => format!("(append {} {})", self.expr(List, d), self.expr(List, d)),
            3 => format!("(reverse {})", self.expr(List, d)),
            4 | 5 => {
                let x = self.name("x");
                let l = self.expr(List, d);
                let e = self.repeated(5, |g| g.with(&[(x.clone(), Role::Value(Num))], |g| g.expr(Num, d)));
                format!("(map (lambda ({x}) {e}) (clamp {l}))")
            }
            6 => format!("(list-sort {} {})", self.pick(&["<", ">"]), self.expr(List, d)),
            7 => format!("(cdr {})", self.expr(List, d)),
            8 => format!("(vector->list {})", self.expr(Vec, d)),
            9 => format!("(list-copy {})", self.expr(List, d)),
            10 => format!(
                "(let ((l (list {} {}))) (set-car! l {}) (set-cdr! (cdr l) {}) l)",
                self.expr(Num, d),
                self.expr(Num, d),
                self.expr(Num, d),
                self.expr(List, d)
            ),
            11 => format!("(list-tail {} {})", self.expr(List, d), self.below(3)),
            12 => format!("(apply list {} {})", self.expr(Num, d), self.expr(List, d)),
            _ => format!(
                "((lambda (a . r) (cons a r)) {} {} {})",
                self.expr(Num, d),
                self.expr(Num, d),
                self.expr(Num, d)
            ),
        }
    }
}

/// May a name with this role stand where this kind is wanted?
fn stands_for(role: Role, kind: Kind) -> bool {
    match role {
        Role::Value(k) => k == kind || kind == Num && k == Int || kind == Any,
        Role::Counter => matches!(kind, Int | Num | Any),
        Role::Procedure(..) | Role::Escape(_) => false,
    }
}

/// `(head item …)`.
fn list(head: &str, items: &[String]) -> String {
    let space = if items.is_empty() { "" } else { " " };
    format!("({head}{space}{})", items.join(" "))
}
