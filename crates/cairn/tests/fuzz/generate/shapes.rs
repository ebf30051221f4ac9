//! Larger shapes of programs: loops over several variables, counters in closures, deep recursion, control that leaves
//! and comes back, mutable things seen from two sides.

use super::*;

impl Generator {
    /// One of the shapes, yielding this kind.
    pub(super) fn shape(&mut self, kind: Kind, d: usize) -> String {
        match self.below(19) {
            0 | 1 => self.many_variables(kind, d),
            15 => self.records_at_a_join(kind, d),
            16 => self.clauses(kind, d),
            17 => self.state_entered_again(kind, d),
            18 => self.wide_frame(kind, d),
            2 => {
                // recursion that is not in tail position, deeper than a stack chunk
                let (f, x, n) = (self.name("deep"), self.name("x"), self.pick(&["40", "700", "3000"]).to_string());
                let init = self.expr(kind, d);
                let wrap = self.pick(&[
                    "r",
                    "(car (list r))",
                    "(let ((b (lambda () r))) (b))",
                    "(if (odd? n) (clamp r) r)",
                ]);
                self.cost += 3_000;
                format!("(let {f} ((n {n}) ({x} {init})) (if (= n 0) {x} (let ((r ({f} (- n 1) {x}))) {wrap})))")
            }
            3 => {
                // a counter that two closures share
                let (c, up, k) = (self.name("c"), self.name("up"), self.pick(&["(+ c 1)", "(* c 3)", "(- c 1)"]));
                let start = self.integer();
                let k = k.replace('c', &c);
                let scope = [(up.clone(), Role::Procedure(Int, Int, 3)), (c.clone(), Role::Value(Int))];
                let body = self.with(&scope, |g| g.expr(kind, d));
                format!("(let (({c} {start})) (let (({up} (lambda (y) (set! {c} (clamp {k})) {c}))) {body}))")
            }
            4 => {
                let (f, a, r) = (self.name("cl"), self.name("a"), self.name("r"));
                let one = self.with(&[(a.clone(), Role::Value(Num))], |g| g.expr(kind, d));
                let two = self.with(&[(a.clone(), Role::Value(Num))], |g| g.expr(kind, d.min(2)));
                let scope = [(a.clone(), Role::Value(Num)), (r.clone(), Role::Value(List))];
                let more = self.with(&scope, |g| g.expr(kind, d.min(2)));
                let (x, y) = (self.expr(Num, d.min(2)), self.expr(Num, d.min(2)));
                let call = match self.below(5) {
                    0 => format!("({f} {x})"),
                    1 => format!("({f} {x} {y})"),
                    2 => format!("({f} {x} {y} {y} 5)"),
                    3 => format!("(apply {f} {x} {})", self.expr(List, d.min(2))),
                    _ => format!("({f})"),
                };
                format!("(let (({f} (case-lambda (({a}) {one}) (({a} z) {two}) (({a} z . {r}) {more})))) {call})")
            }
            5 => {
                // a promise is forced once
                let (p, body) = (self.name("p"), self.body(kind, d));
                let note = self.effect(d.min(1));
                let how = self.pick(&["delay", "delay-force (delay"]);
                let close = if how == "delay" { "" } else { ")" };
                format!("(let (({p} ({how} (begin {note} {body})){close})) (force {p}) (force {p}))")
            }
            6 => {
                // out of a dynamic extent, and perhaps in again
                let (k, n, again) = (self.name("k"), self.name("n"), 1 + self.below(3));
                let (before, after) = (self.effect(1), self.effect(1));
                let value = self.repeated(again as u64 + 1, |g| g.expr(kind, d));
                format!(
                    "(let (({k} #f) ({n} 0)) (let ((v (dynamic-wind (lambda () {before}) (lambda () (call/cc (lambda (c) (set! {k} c))) {value}) (lambda () {after})))) (set! {n} (+ {n} 1)) (if (< {n} {again}) ({k} #f) v)))"
                )
            }
            7 => {
                let k = self.name("k");
                let inner = self.with(&[(k.clone(), Role::Escape(kind))], |g| g.body(kind, d));
                format!(
                    "(call/cc (lambda ({k}) (dynamic-wind (lambda () {}) (lambda () (clamp {inner})) (lambda () {}))))",
                    self.effect(1),
                    self.effect(1)
                )
            }
            8 => {
                // a condition that passes one guard, is seen by a handler, and is caught by another guard
                let (e, f) = (self.name("e"), self.name("e"));
                let body = self.body(kind, d);
                let caught = self.with(&[(f.clone(), Role::Value(Any))], |g| g.expr(kind, d.min(2)));
                let seen = self.effect(1);
                format!(
                    "(guard ({f} ((or (symbol? {f}) (number? {f}) (error-object? {f})) {caught})) (with-exception-handler (lambda ({e}) {seen} (raise-continuable {e})) (lambda () (guard ({e} ((and (pair? {e}) (eq? (car {e}) 'never)) (raise 'x))) {body}))))"
                )
            }
            9 => {
                let (b, i) = (self.name("b"), self.name("i"));
                let value = self.repeated(6, |g| g.with(&[(i.clone(), Role::Counter)], |g| g.expr(Int, d.min(2))));
                let at = self.index(d);
                let rest = self.expr(kind, d);
                format!(
                    "(let (({b} (make-bytevector 6 7))) (do (({i} 0 (+ {i} 1))) ((= {i} 6)) (bytevector-u8-set! {b} {i} (modulo {value} 256))) (note (list (bytevector-u8-ref {b} {at}) (bytevector-copy {b} 1 4) (bytevector-append {b} {b}))) {rest})"
                )
            }
            10 => {
                // a vector filled by a loop, then read
                let (v, i, n) = (self.name("v"), self.name("i"), 1 + self.below(6));
                let value = self.repeated(n as u64, |g| g.with(&[(i.clone(), Role::Counter)], |g| g.expr(Num, d)));
                let body = self.with(&[(v.clone(), Role::Value(Vec))], |g| g.expr(kind, d));
                format!(
                    "(let (({v} (make-vector {n} 0.5))) (do (({i} 0 (+ {i} 1))) ((= {i} {n})) (vector-set! {v} {i} {value})) {body})"
                )
            }
            11 => {
                // several values, some of them in a list
                let (a, r) = (self.name("a"), self.name("r"));
                let (x, rest) = (self.expr(Num, d), self.expr(List, d));
                let scope = [(a.clone(), Role::Value(Num)), (r.clone(), Role::Value(List))];
                let body = self.with(&scope, |g| g.expr(kind, d));
                match self.below(3) {
                    0 => format!("(let-values ((({a} . {r}) (apply values {x} {rest}))) {body})"),
                    1 => {
                        format!(
                            "(call-with-values (lambda () (apply values {x} {rest})) (lambda ({a} . {r}) {body}))"
                        )
                    }
                    _ => format!("(let*-values ((({a}) {x}) ({r} (apply values {a} {rest}))) {body})"),
                }
            }
            12 => {
                // what a table holds after a few changes
                let (h, i) = (self.name("h"), self.name("i"));
                let scope = [(i.clone(), Role::Counter)];
                let (key, value) =
                    self.repeated(5, |g| g.with(&scope, |g| (g.expr(Any, d.min(2)), g.expr(Num, d.min(2)))));
                let rest = self.expr(kind, d);
                format!(
                    "(let (({h} (make-hash-table))) (do (({i} 0 (+ {i} 1))) ((= {i} 5)) (hash-table-set! {h} {key} {value})) (note (list (hash-table-size {h}) (hash-table-ref/default {h} 2 'none) (hash-table-exists? {h} 'a))) {rest})"
                )
            }
            13 => {
                // lines written to a port and read back
                let (p, i, n) = (self.name("p"), self.name("i"), 1 + self.below(4));
                let value = self.repeated(n as u64, |g| g.with(&[(i.clone(), Role::Counter)], |g| g.expr(Num, d)));
                let rest = self.expr(kind, d);
                format!(
                    "(let (({p} (open-output-string))) (do (({i} 0 (+ {i} 1))) ((= {i} {n})) (write (clamp {value}) {p}) (newline {p})) (let ((in (open-input-string (get-output-string {p})))) (note (let read-all ((x (read in)) (n 0)) (if (or (eof-object? x) (= n 9)) n (read-all (read in) (+ n 1)))))) {rest})"
                )
            }
            _ => {
                // complex numbers
                let (z, x, y) = (self.name("z"), self.expr(Num, d), self.expr(Num, d));
                let op = self.pick(&["+", "-", "*", "/"]);
                let w = self.pick(&["z", "(make-rectangular 1 2)", "(make-polar 1 2)", "3/4", "0.5", "0"]);
                let w = w.replace('z', &z).replace(&format!("make-rectangu{z}ar"), "make-rectangular");
                let rest = self.expr(kind, d);
                format!(
                    "(let (({z} (make-rectangular {x} {y}))) (note (let ((w ({op} {z} {w}))) (list w (real-part w) (imag-part w) (= w {z}) (exact? w)))) {rest})"
                )
            }
        }
    }

    /// A variable that holds records of one type or the other, from turn to turn.
    fn records_at_a_join(&mut self, kind: Kind, d: usize) -> String {
        let [l, i, r] = ["join", "i", "r"].map(|p| self.name(p));
        let turns = 1 + self.below(4);
        let scope = [(i.clone(), Role::Counter)];
        let [a, b, c] = [self.expr(Num, d.min(2)), self.expr(Num, d.min(2)), self.expr(Bool, d.min(2))];
        let next = self.repeated(turns as u64, |g| g.with(&scope, |g| g.expr(Num, d.min(2))));
        let field = self.pick(&["point-x", "point-y", "pixel-x", "pixel-c"]);
        let rest = self.with(&[(i.clone(), Role::Value(Any))], |g| g.expr(kind, d));
        format!(
            "(let (({i} (let {l} (({i} 0) ({r} (if {c} (make-point {a} {b}) (make-pixel {a})))) \
             (cond ((= {i} {turns}) (if (point? {r}) (list 'p (point-x {r}) (point-y {r})) (list 'c (pixel-x {r}) (pixel-c {r})))) \
             ((and (point? {r}) (even? {i})) ({l} (+ {i} 1) (make-pixel {next}))) \
             ((= {i} 3) ({field} {r})) \
             (else (if (pixel? {r}) (set-pixel-c! {r} {i})) ({l} (+ {i} 1) (if {c} {r} (make-point {i} {r})))))))) (note {i}) {rest})"
        )
    }

    /// A local procedure whose clauses call each other, from operands, producers and tails.
    fn clauses(&mut self, kind: Kind, d: usize) -> String {
        let [f, n, x, y] = ["cl", "n", "x", "y"].map(|p| self.name(p));
        let start = 1 + self.below(4);
        let scope = [(n.clone(), Role::Counter), (x.clone(), Role::Value(kind))];
        let (end, one, two) = self.repeated(8, |g| {
            g.with(&scope, |g| (g.expr(kind, d.min(2)), g.expr(kind, d.min(2)), g.expr(kind, d.min(1))))
        });
        let init = self.expr(kind, d);
        let short = self.pick(&["tail", "operand", "producer"]);
        let step = match short {
            "tail" => format!("({f} (- {n} 1) {one} 7)"),
            "operand" => format!("(let (({y} ({f} (- {n} 1) {one} 7))) (if (odd? {n}) (clamp {y}) {x}))"),
            _ => format!("(let-values ((({y} z) (values ({f} (- {n} 1) {one} {n}) {n}))) (note z) {y})"),
        };
        format!(
            "(let (({f} #f)) (letrec (({f} (case-lambda (({n} {x}) (if (= {n} 0) {end} {step})) \
             (({n} {x} k) (if (= {n} 0) {two} ({f} (- {n} 1) (clamp {x})))) (({n}) {init})))) \
             (note ({f} 1 {init})) ({f} {start} {init})))"
        )
    }

    /// Parameters read before, in and after a dynamic extent that is left and entered again.
    fn state_entered_again(&mut self, kind: Kind, d: usize) -> String {
        let (k, n, again) = (self.name("k"), self.name("n"), 1 + self.below(2));
        let (inner, outer, x) = (self.integer(), self.expr(Num, d.min(1)), self.pick(&["depth", "width"]));
        let value = self.repeated(again as u64 + 1, |g| g.expr(kind, d));
        format!(
            "(let (({k} #f) ({n} 0)) (let ((v (parameterize ((width {outer})) (dynamic-wind (lambda () (note (list 'in ({x}) (width)))) \
             (lambda () (parameterize ((depth {inner})) (call/cc (lambda (c) (set! {k} c))) (note (depth)) {value})) \
             (lambda () (note (list 'out ({x}) (width)))))))) \
             (set! {n} (+ {n} 1)) (if (< {n} {again}) (parameterize ((depth 'other) (width 5)) ({k} #f)) v)))"
        )
    }

    /// Many variables that are needed after a call that recurs.
    fn wide_frame(&mut self, kind: Kind, d: usize) -> String {
        let (f, x) = (self.name("wide"), self.name("x"));
        let width = self.pick(&["5", "40", "70", "140"]).parse::<usize>().expect("a number");
        let init = self.expr(kind, d);
        let names: std::vec::Vec<String> = (0..width).map(|i| format!("w{i}")).collect();
        let values: std::vec::Vec<String> = (0..width).map(|i| format!("(+ n {i})")).collect();
        self.cost += 40 * width as u64 / 5;
        format!(
            "(let {f} ((n 9) ({x} {init})) (if (= n 0) {x} (apply (lambda ({}) (let ((r ({f} (- n 1) {x}))) \
             (if (= (+ {}) (+ (* n {width}) {})) r (note (list 'wrong n))))) (list {}))))",
            names.join(" "),
            names.join(" "),
            width * (width - 1) / 2,
            values.join(" ")
        )
    }

    /// A loop over a counter, a flonum, an integer and the result.
    fn many_variables(&mut self, kind: Kind, d: usize) -> String {
        let [l, i, x, n, acc] = ["loop", "i", "x", "n", "t"].map(|p| self.name(p));
        let turns = 1 + self.below(7);
        let scope = [
            (i.clone(), Role::Counter),
            (x.clone(), Role::Value(Num)),
            (n.clone(), Role::Value(Int)),
            (acc.clone(), Role::Value(kind)),
        ];
        let init = [self.float(), self.integer(), self.expr(kind, d)];
        let step = self.repeated(turns as u64, |g| {
            g.with(&scope, |g| {
                let x = match g.below(3) {
                    0 => format!("(* {x} 1.5)"),
                    1 => format!("(+ {x} {})", g.float()),
                    _ => g.expr(Num, d.min(2)),
                };
                let n = match g.below(3) {
                    0 => format!("(+ {n} {})", g.below(5)),
                    1 => format!("(- {n} {})", g.integer()),
                    _ => g.expr(Int, d.min(2)),
                };
                [x, n, g.expr(kind, d)]
            })
        });
        let test = match self.below(3) {
            0 => format!("(= {i} {turns})"),
            1 => format!("(>= {i} {turns})"),
            _ => format!("(not (< {i} {turns}))"),
        };
        let [x0, n0, t0] = init;
        let [x1, n1, t1] = step;
        format!(
            "(let {l} (({i} 0) ({x} {x0}) ({n} {n0}) ({acc} {t0})) (if {test} {acc} ({l} (+ {i} 1) (clamp {x1}) (clamp {n1}) (clamp {t1}))))"
        )
    }
}
