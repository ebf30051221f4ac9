//! Whole programs as people write them: definitions in any order, thin procedures that only call others, mutual
//! recursion at top level, macros that define, records, tables of closures, variables that are assigned, data that is
//! computed while some definitions are still to come.
//!
//! A program is a list of *items*, each one top-level form. An item names those that must stand above it (a macro above
//! its use, what `(define f g)` reads); otherwise the order is random. So an item may run before a variable that it
//! needs is defined: [`PRELUDE`](super::PRELUDE)'s `observe` and `attempt` turn the error into one more observation.
//! What such a read gives is not the same in all ways (a program that is compiled has its procedures from the start),
//! so there are programs without.

use super::*;

/// A top-level form, and which items must stand above it.
struct Item {
    text: String,
    after: std::vec::Vec<usize>,
}

/// What [`Generator::whole`] has made so far.
#[derive(Default)]
struct Items {
    items: std::vec::Vec<Item>,
    /// The item that defines each function of the generator, by position.
    functions: std::vec::Vec<usize>,
    /// May code run before what it needs is defined?
    early: bool,
}

impl Items {
    fn add(&mut self, text: String, after: &[usize]) -> usize {
        self.items.push(Item { text, after: after.to_vec() });
        self.items.len() - 1
    }

    /// What code that calls something must stand below, at this point.
    fn needed(&self) -> std::vec::Vec<usize> {
        if self.early { vec![] } else { (0..self.items.len()).collect() }
    }
}

impl Generator {
    /// A program of its own: top-level forms that follow the prelude, with tests numbered from `first`; how many tests.
    /// With `early`, some code runs before what it needs is defined.
    pub fn whole(&mut self, first: usize, early: bool) -> (std::vec::Vec<String>, usize) {
        self.functions.clear();
        self.globals.clear();
        self.scope.clear();
        let mut made = Items { early, ..Items::default() };
        for _ in 0..2 + self.below(5) {
            self.variable(&mut made);
            self.definition(&mut made);
            for _ in 0..self.below(3) {
                self.forwarder(&mut made);
            }
        }
        let definitions = made.items.len();
        let tests = 2 + self.below(3);
        for i in 0..tests {
            (self.cost, self.size) = (0, SIZE_MAX / 2);
            let kind = self.kind();
            self.scope = self.globals.clone();
            let inputs = [("n".to_string(), Role::Value(Int)), ("x".to_string(), Role::Value(Num))];
            let body = self.with(&inputs, |g| g.body(kind, 4));
            let number = first + i;
            let all: std::vec::Vec<usize> = (0..definitions).collect();
            let last = !early || i == 0 || self.below(3) > 0;
            made.add(format!("(test {number} (lambda (n x) {body}))"), if last { &all } else { &[] });
        }
        (self.shuffled(made.items), tests)
    }

    /// The items in a random order that keeps each below what it must follow.
    fn shuffled(&mut self, items: std::vec::Vec<Item>) -> std::vec::Vec<String> {
        let mut left: std::vec::Vec<usize> = (0..items.len()).collect();
        // as written bottom-up or top-down, or without any order
        match self.below(4) {
            0 => {}
            1 => left.reverse(),
            _ => {
                for i in (1..left.len()).rev() {
                    left.swap(i, self.below(i + 1));
                }
            }
        }
        let mut placed = vec![false; items.len()];
        let mut forms = vec![];
        while !left.is_empty() {
            let ready = |i: &usize| items[*i].after.iter().all(|a| placed[*a]);
            let at = left.iter().position(ready).expect("items follow earlier ones only");
            let i = left.remove(at);
            placed[i] = true;
            forms.push(items[i].text.clone());
        }
        forms
    }

    fn parameters(&mut self, n: usize) -> (std::vec::Vec<Kind>, std::vec::Vec<String>) {
        ((0..n).map(|_| self.kind()).collect(), (0..n).map(|_| self.name("a")).collect())
    }

    fn register(
        &mut self,
        made: &mut Items,
        name: String,
        parameters: std::vec::Vec<Kind>,
        result: Kind,
        item: usize,
    ) {
        self.functions.push(Function { name, parameters, rest: false, result, cost: self.cost + 1 });
        made.functions.push(item);
    }

    /// A global variable, sometimes.
    fn variable(&mut self, made: &mut Items) {
        if self.below(3) > 0 {
            return;
        }
        (self.cost, self.size) = (0, SIZE_MAX / 2);
        let (name, kind) = (self.name("g"), self.kind());
        self.scope = self.globals.clone();
        let text = match self.below(4) {
            0 => format!("(define {name} {})", self.constant(kind)),
            1 => format!("(define {name} (attempt (lambda () {})))", self.body(kind, 3)),
            2 => {
                // computed from another variable, which must be there
                format!("(define-values ({name}) (attempt (lambda () {})))", self.expr(kind, 3))
            }
            _ => format!("(begin (define {name} {}) (observe '{name} (lambda () {})))", self.constant(kind), {
                self.expr(Any, 2)
            }),
        };
        let needed = made.needed();
        made.add(text, &needed);
        self.globals.push((name, Role::Value(kind)));
    }

    /// A leaf that reads no variable.
    fn constant(&mut self, kind: Kind) -> String {
        let scope = std::mem::take(&mut self.scope);
        let e = self.leaf(kind);
        self.scope = scope;
        e
    }

    /// A procedure in one of the ways that people define one.
    fn definition(&mut self, made: &mut Items) {
        (self.cost, self.size) = (0, SIZE_MAX / 2);
        self.scope = self.globals.clone();
        match self.below(10) {
            0 => self.mutual(made),
            1 => self.macro_definition(made),
            2 => self.record(made),
            3 => self.local_procedures(made),
            4 => self.private_state(made),
            _ => {
                let text = self.function();
                let item = made.add(text, &[]);
                made.functions.push(item);
            }
        }
    }

    /// Two to four procedures that call one another, some of them thin.
    fn mutual(&mut self, made: &mut Items) {
        let kind = self.kind();
        let size = 2 + self.below(3);
        let names: std::vec::Vec<String> = (0..size).map(|_| self.name("m")).collect();
        let mut last = 0;
        for i in 0..size {
            let next = &names[(i + 1) % size];
            let scope = [("n".to_string(), Role::Counter), ("x".to_string(), Role::Value(kind))];
            let text = match self.below(3) {
                // not all of them may be thin, or the recursion has no end
                0 if i > 0 => format!("(define ({} n x) ({next} n x))", names[i]),
                1 => {
                    let e = self.repeated(5, |g| g.with(&scope, |g| g.expr(kind, 2)));
                    format!(
                        "(define ({} n x) (if (<= n 0) x (let ((r ({next} (- n 1) x))) (clamp {e}))))",
                        names[i]
                    )
                }
                _ => {
                    let e = self.repeated(5, |g| g.with(&scope, |g| g.expr(kind, 2)));
                    format!(
                        "(define {} (lambda (n x) (cond ((<= n 0) x) (else ({next} (- n 1) (clamp {e}))))))",
                        names[i]
                    )
                }
            };
            last = made.add(text, &[]);
        }
        let go = self.name("f");
        last = made.add(format!("(define ({go} x) ({} {} x))", names[0], 3 + self.below(4)), &[]).max(last);
        self.cost += 20;
        self.register(made, go, vec![kind], kind, last);
    }

    /// A macro that defines, and a definition by it.
    fn macro_definition(&mut self, made: &mut Items) {
        let (define, name, kind) = (self.name("define-"), self.name("f"), self.kind());
        let scope = [("v".to_string(), Role::Value(kind))];
        let e = self.with(&scope, |g| g.expr(kind, 3));
        let text = match self.below(3) {
            0 => format!(
                "(define-syntax {define} (syntax-rules () ((_ name arg e) (define (name arg) (let ((t 1)) (note t) e)))))"
            ),
            1 => format!(
                "(define-syntax {define} (syntax-rules () ((_ name arg e) \
                 (begin (define (helper arg) e) (define (name z) (helper z))))))"
            ),
            _ => format!(
                "(define-syntax {define} (syntax-rules () ((_ name arg e) \
                 (begin (define (name z) (helper z)) (define (helper arg) e)))))"
            ),
        };
        let syntax = made.add(text, &[]);
        let item = made.add(format!("({define} {name} v {e})"), &[syntax]);
        self.register(made, name, vec![kind], kind, item);
    }

    /// A record type of the program, and a procedure that makes, changes and reads a record.
    fn record(&mut self, made: &mut Items) {
        let (r, name, kind) = (self.name("r"), self.name("f"), self.kind());
        let init = if self.below(2) == 0 { "a b" } else { "b a" };
        made.add(
            format!(
                "(define-record-type {r} (make-{r} {init}) {r}? (a {r}-a set-{r}-a!) (b {r}-b) (c {r}-c set-{r}-c!))"
            ),
            &[],
        );
        let scope = [("v".to_string(), Role::Value(kind))];
        let (x, y) = self.with(&scope, |g| (g.expr(kind, 2), g.expr(kind, 2)));
        let item = made.add(
            format!(
                "(define ({name} v) (let ((r (make-{r} {x} v))) (set-{r}-c! r {y}) (set-{r}-a! r ({r}-c r)) \
                 (if ({r}? r) ({r}-{} r) v)))",
                self.pick(&["a", "b", "c"])
            ),
            &[],
        );
        self.register(made, name, vec![kind], kind, item);
    }

    /// Internal definitions, thin ones above what they call.
    fn local_procedures(&mut self, made: &mut Items) {
        let (name, kind) = (self.name("f"), self.kind());
        let scope = [("x".to_string(), Role::Value(kind)), ("v".to_string(), Role::Value(kind))];
        let (e, init) = self.with(&scope, |g| (g.expr(kind, 3), g.leaf(kind)));
        let mut lines = [
            "(define (p x) (q x))".to_string(),
            "(define (q x) (if (vector? x) x (s x)))".to_string(),
            format!("(define s (lambda (x) {e}))"),
            format!("(define t {init})"),
        ];
        // `t` reads `v` alone; the procedures run when all are there
        for i in (1..lines.len()).rev() {
            lines.swap(i, self.below(i + 1));
        }
        let item = made.add(format!("(define ({name} v) {} (p (if (pair? t) t v)))", lines.join(" ")), &[]);
        self.register(made, name, vec![kind], kind, item);
    }

    /// A procedure with private state.
    fn private_state(&mut self, made: &mut Items) {
        let (name, kind) = (self.name("f"), self.kind());
        let start = self.constant(kind);
        let scope = [("state".to_string(), Role::Value(kind)), ("v".to_string(), Role::Value(kind))];
        let e = self.with(&scope, |g| g.expr(kind, 3));
        let text = match self.below(3) {
            0 => format!("(define {name} (let ((state {start})) (lambda (v) (set! state (clamp {e})) state)))"),
            1 => format!(
                "(define {name} (let* ((state {start}) (step (lambda (v) {e}))) (lambda (v) (set! state (clamp (step v))) state)))"
            ),
            _ => {
                format!("(define {name} (let ((state {start})) (define (in v) (out v)) (define (out v) {e}) in))")
            }
        };
        let item = made.add(text, &[]);
        self.register(made, name, vec![kind], kind, item);
    }

    /// A procedure, or a place in a table, that only leads to another procedure.
    fn forwarder(&mut self, made: &mut Items) {
        let fitting: std::vec::Vec<usize> =
            (0..self.functions.len()).filter(|i| !self.functions[*i].rest).collect();
        if fitting.is_empty() {
            return;
        }
        let f = fitting[self.below(fitting.len())];
        let (to, parameters, result) =
            (self.functions[f].name.clone(), self.functions[f].parameters.clone(), self.functions[f].result);
        self.cost = self.functions[f].cost;
        let target = made.functions[f];
        let names = self.parameters(parameters.len()).1;
        let (name, args) = (self.name("w"), names.join(" "));
        let call = list(&to, &names);
        let space = if names.is_empty() { "" } else { " " };
        let known = to.starts_with('(');
        let (text, after, name): (String, std::vec::Vec<usize>, String) = match self.below(14) {
            0..=2 => (format!("(define ({name}{space}{args}) {call})"), vec![], name),
            3 => (format!("(define {name} (lambda ({args}) {call}))"), vec![], name),
            4 => (format!("(define ({name} . r) (apply {to} r))"), vec![], name),
            5 => (format!("(define-values ({name}) (lambda ({args}) {call}))"), vec![], name),
            6 => (format!("(define {name} (case-lambda (({args}) {call}) (r (apply {to} r))))"), vec![], name),
            7 => (format!("(begin (define {name} #f) (set! {name} (lambda ({args}) {call})))"), vec![], name),
            8 if !known => (format!("(define {name} {to})"), vec![target], name),
            9 => (
                format!("(define {name} (let ((f (lambda ({args}) {call}))) (list f f)))"),
                vec![],
                format!("(car {name})"),
            ),
            10 => (
                format!("(define {name} (list (cons 'a (lambda ({args}) {call})) (cons 'b car)))"),
                vec![],
                format!("(cdr (assq 'a {name}))"),
            ),
            11 => (
                format!("(define {name} (vector 1 (lambda ({args}) {call})))"),
                vec![],
                format!("(vector-ref {name} 1)"),
            ),
            12 => {
                (format!("(define {name} (make-parameter (lambda ({args}) {call})))"), vec![], format!("({name})"))
            }
            _ => (format!("(define ({name}{space}{args}) (let ((v {call})) v))"), vec![], name),
        };
        let item = made.add(text, &after);
        self.register(made, name, parameters, result, item);
    }
}
