//! Runtimes inside of another program: several modules in one, several of them in one process, and a host that outlives
//! what its programs do. Everything under zeal.
#![allow(unsafe_code)]

use cairn::{CompileOptions, Compiler, Level, Source};
use cairn_layout::Value;
use cairn_layout::facts::{PRECISE, StrategyFacts};
use cairn_layout::machine::{CARD_SHIFT, DIRTY, Machine};
use cairn_layout::module::ModuleTable;
use cairn_llvm::Jit;
use cairn_rt::machine::load::LoadError;
use cairn_rt::machine::modules::ModuleId;
use cairn_rt::start_options::Zeal;
use cairn_rt::{Host, Options, Runtime};
use std::sync::{Arc, Mutex};

/// A host that writes down what is said, and goes on when a program ends.
#[derive(Default)]
struct Listener {
    said: Mutex<String>,
    /// What to do while a program is reporting its end.
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

impl Host for Listener {
    fn say(&self, text: &str) {
        self.said.lock().unwrap().push_str(text);
        let task = self.meanwhile.lock().unwrap().take();
        if let Some(task) = task {
            task();
        }
    }

    fn exit(&self, ctx: &mut Machine, status: i32) -> ! {
        cairn_rt::fatal::return_to_host(ctx, status)
    }
}

fn compile(path: &str, text: &str, frames: &'static StrategyFacts) -> Vec<u8> {
    let options = CompileOptions { frames, level: Level::Low, ..CompileOptions::default() };
    match Compiler::new(options).compile(&Source::new(path, text)) {
        Ok(compiled) => compiled.object().to_vec(),
        Err(e) => panic!("{e}"),
    }
}

/// Code in memory.
struct Code {
    jit: Jit,
    table: *const ModuleTable,
}

impl Code {
    fn new(object: &[u8]) -> Code {
        let jit = Jit::load_object(object).unwrap();
        let table = jit.lookup("cairn_module").unwrap() as *const ModuleTable;
        Code { jit, table }
    }
}

/// A runtime, its host, and the code in it. Fields are dropped in this order.
struct Embedded {
    runtime: Box<Runtime>,
    host: Arc<Listener>,
    code: Vec<Code>,
}

impl Embedded {
    fn new() -> Embedded {
        Embedded::with(Options { zeal: Zeal::On, ..Options::default() })
    }

    fn with(options: Options) -> Embedded {
        let host = Arc::new(Listener::default());
        let options = Options { host: host.clone(), ..options };
        Embedded { runtime: Runtime::new(options).unwrap(), host, code: vec![] }
    }

    fn load(&mut self, object: &[u8]) -> Result<ModuleId, LoadError> {
        self.load_code(Code::new(object))
    }

    fn load_code(&mut self, code: Code) -> Result<ModuleId, LoadError> {
        // SAFETY: the code stays in `self.code` longer than the runtime.
        let id = unsafe { self.runtime.load(code.table, code.jit.code()) };
        self.code.push(code);
        id
    }

    /// Runs a program: its exit status, or 0 when it came to its end; and what was said.
    fn run(&mut self, program: ModuleId) -> (i32, String) {
        // SAFETY: tests call this outside of runtime calls, and a program that ran out of memory is not run again.
        let status = unsafe { self.runtime.run(program) }.map_or_else(|status| status, |_| 0);
        (status, std::mem::take(&mut *self.host.said.lock().unwrap()))
    }

    /// The word after the symbol `name` among a program's literals: a place through which programs of a test meet.
    fn place(&mut self, program: ModuleId, name: &str) -> *mut Value {
        let table = self.runtime.modules.get(program).unwrap();
        // SAFETY: the module is loaded, so its symbols and literals are complete.
        unsafe {
            let bytes = |i: usize| {
                let b = &*table.symbol_names.add(i);
                std::slice::from_raw_parts(b.data, b.len as usize)
            };
            let symbol = (0..table.symbol_count as usize).find(|i| bytes(*i) == name.as_bytes()).unwrap();
            let symbol = *table.symbols.add(symbol);
            let at = (0..table.literal_count as usize).find(|i| *table.literals.add(*i) == symbol.0).unwrap();
            table.literals.add(at + 1) as *mut Value
        }
    }
}

/// Deep recursion over fresh pairs and strings, then an error in the middle of a call.
const A: &str = r#"(import (scheme base))
(define (build n) (if (= n 0) '() (cons (number->string n) (build (- n 1)))))
(define (sum l) (if (null? l) 0 (+ (string-length (car l)) (sum (cdr l)))))
(define (fail-in-a x)
  (+ 1 (car x)))
(define meeting '#(place-in-a #f))
(define (main total)
  (let ((f (vector-ref meeting 1)))
    (if f (+ 1 (f total)) (+ 1 (fail-in-a total)))))
(vector-map main (vector (sum (build 300))))
"#;

/// Continuations and dynamic-wind, then another error, or none when `place-in-b` says so.
const B: &str = r#"; another length of text
(import (scheme base) (scheme process-context))
(define meeting '#(place-in-b #f))
(define (twice x)
  (call-with-current-continuation
    (lambda (k) (dynamic-wind (lambda () #f) (lambda () (k (* 2 x))) (lambda () (set! count (+ count 1)))))))
(define count 0)
(define (fail-in-b v) (list (vector-ref v (twice 5)) count))
(define (loop n) (if (= n 0) 0 (+ 1 (loop (- n 1)))))
(if (eq? (vector-ref meeting 1) #t) (exit (+ 40 (twice 1))))
(vector-set! meeting 1 (lambda (x) (list (vector-ref (vector x) (loop 400)))))
(list (fail-in-b (make-vector 10 'x)))
"#;

const SAID_BY_A: &str = "error: car: expected a pair, got 792
 --> a.scm:5:8
  |
5 |   (+ 1 (car x)))
  |        ^^^^^^^
backtrace:
   0: fail-in-a  a.scm:5:8
   1: main       a.scm:9:32
";

const SAID_BY_B: &str = "error: vector-ref: a vector of length 10 has no element 10
 --> b.scm:8:29
  |
8 | (define (fail-in-b v) (list (vector-ref v (twice 5)) count))
  |                             ^^^^^^^^^^^^^^^^^^^^^^^^
backtrace:
   0: fail-in-b  b.scm:8:29
";

/// `said` begins with `expected`: what follows are frames of the top level, which depend on the order of evaluation.
fn check(said: &(i32, String), expected: &str) {
    assert_eq!(said.0, 1);
    assert!(said.1.starts_with(expected), "{}", said.1);
}

#[test]
fn two_modules_in_one_runtime() {
    for frames in PRECISE {
        let mut e = Embedded::new();
        let a = e.load(&compile("a.scm", A, frames)).unwrap();
        let b = e.load(&compile("b.scm", B, frames)).unwrap();
        check(&e.run(a), SAID_BY_A);
        check(&e.run(b), SAID_BY_B);
        check(&e.run(a), SAID_BY_A);

        // A calls a procedure of B: the error is in B, the backtrace goes through both.
        let (from, to) = (e.place(b, "place-in-b"), e.place(a, "place-in-a"));
        // SAFETY: slots of vectors of constants; the store marks its card, as compiled code would.
        unsafe {
            assert!((*from).is_procedure());
            *to = *from;
            let machine = &*e.runtime.machine();
            *machine.cards.add((to as u64 >> CARD_SHIFT & machine.card_mask) as usize) = DIRTY;
        }
        let said = e.run(a);
        let expected = "error: vector-ref: a vector of length 1 has no element 400\n  --> b.scm:11:42\n";
        check(&said, expected);
        let expected = "backtrace:\n   0: lambda   b.scm:11:42\n   1: main     a.scm:9:16\n";
        assert!(said.1.contains(expected), "{}", said.1);

        // B ends by itself, by an exit status of its own, again and again.
        // SAFETY: `from` is a slot of a vector of constants; a boolean needs no card.
        unsafe { *from = Value::TRUE };
        for _ in 0..3 {
            assert_eq!(e.run(b), (42, String::new()));
        }
    }
}

#[test]
fn two_runtimes_in_one_process() {
    let mut all: Vec<(Embedded, ModuleId, ModuleId)> = PRECISE
        .iter()
        .map(|frames| {
            let mut e = Embedded::new();
            let a = e.load(&compile("a.scm", A, frames)).unwrap();
            let b = e.load(&compile("b.scm", B, frames)).unwrap();
            (e, a, b)
        })
        .collect();
    // In turn.
    for _ in 0..2 {
        for (e, a, b) in &mut all {
            check(&e.run(*a), SAID_BY_A);
            check(&e.run(*b), SAID_BY_B);
        }
    }
    // One in the middle of the other: it runs from beginning to end while the first one reports its error.
    let (mut inner, a, b) = all.pop().unwrap();
    let (outer, program, _) = &mut all[0];
    let said = Arc::new(Mutex::new(vec![]));
    let kept = said.clone();
    // SAFETY: the task runs on this thread, before `run` below returns.
    struct OnThisThread<T>(T);
    unsafe impl<T> Send for OnThisThread<T> {}
    let task = OnThisThread(move || {
        kept.lock().unwrap().extend([inner.run(b), inner.run(a)]);
    });
    *outer.host.meanwhile.lock().unwrap() = Some(Box::new(move || {
        let mut task = task;
        (task.0)()
    }));
    check(&outer.run(*program), SAID_BY_A);
    let said = said.lock().unwrap();
    check(&said[0], SAID_BY_B);
    check(&said[1], SAID_BY_A);
}

#[test]
fn a_runtime_on_each_thread() {
    std::thread::scope(|scope| {
        for i in 0..4 {
            scope.spawn(move || {
                let frames = PRECISE[i % PRECISE.len()];
                let mut e = Embedded::new();
                let a = e.load(&compile("a.scm", A, frames)).unwrap();
                let b = e.load(&compile("b.scm", B, frames)).unwrap();
                for _ in 0..3 {
                    check(&e.run(a), SAID_BY_A);
                    check(&e.run(b), SAID_BY_B);
                }
            });
        }
    });
}

/// A module's variables and constants are in its code, so each runtime needs a copy; and frames are of one kind.
#[test]
fn what_cannot_be_loaded() {
    let mut e = Embedded::new();
    let object = compile("b.scm", B, PRECISE[0]);
    let b = e.load(&object).unwrap();
    let code = &e.code[0];
    // SAFETY: a module that is taken is refused before anything of it changes.
    let again = unsafe { e.runtime.load(code.table, code.jit.code()) };
    assert_eq!(again, Err(LoadError::Taken));
    let mut other = Embedded::new();
    // SAFETY: a module that is taken is refused before anything of it changes.
    assert_eq!(unsafe { other.runtime.load(code.table, code.jit.code()) }, Err(LoadError::Taken));
    let copy = e.load(&object).unwrap();
    for frames in &PRECISE[1..] {
        let refused = e.load(&compile("b.scm", B, frames)).unwrap_err();
        assert_eq!(refused, LoadError::Frames { found: frames.name, loaded: PRECISE[0].name });
        assert!(refused.to_string().contains(frames.name));
    }
    check(&e.run(b), SAID_BY_B);
    check(&e.run(copy), SAID_BY_B);
}

/// Assigns `many` globals once, then four of them again and again while there are collections. All are in order when
/// the exit status is 9.
fn program_of_globals(many: usize, rounds: usize) -> String {
    let mut text = String::from("(import (scheme base) (scheme process-context))\n(define wrong 0)\n");
    let all: Vec<usize> = (0..many).collect();
    for i in &all {
        text += &format!("(define g{i} '())\n");
    }
    for (part, globals) in all.chunks(100).enumerate() {
        let sets: Vec<String> = globals.iter().map(|i| format!("(set! g{i} (list (+ k {i})))")).collect();
        text += &format!("(define (assign-{part} k) {})\n(assign-{part} 7)\n", sets.join(" "));
        let check = |i| format!("(if (not (= (car g{i}) (+ k {i}))) (set! wrong (+ wrong 1)))");
        let checks: Vec<String> = globals.iter().map(check).collect();
        text += &format!("(define (check-{part} k) {})\n", checks.join(" "));
    }
    let last = many - 1;
    text += &format!(
        "(do ((i 0 (+ i 1))) ((= i {rounds}))
           (set! g0 (list i)) (set! g77 (vector i i)) (set! g{last} (string #\\a))
           (set! g1 (make-vector 10 g0))
           (if (not (eqv? (car (vector-ref g1 9)) (vector-ref g77 1))) (set! wrong (+ wrong 1))))
         (set! g0 '(7)) (set! g1 '(8)) (set! g77 '(84)) (set! g{last} '({}))\n",
        last + 7
    );
    for part in 0..many.div_ceil(100) {
        text += &format!("(check-{part} 7)\n");
    }
    text + "(exit (if (= wrong 0) 9 1))\n"
}

/// Words of globals and literals that a collection of young objects looks at, and how many collections there were.
fn words_looked_at(many: usize, zeal: Zeal, frames: &'static StrategyFacts) -> (u64, u64) {
    let rounds = if zeal == Zeal::Off { 200_000 } else { 50 };
    let object = compile("globals.scm", &program_of_globals(many, rounds), frames);
    let code = Code::new(&object);
    // SAFETY: `code` keeps the table, which is one of this version.
    let literals = unsafe { (*code.table).literals } as u64;
    let mut e = Embedded::with(Options { zeal, literals: Some(literals), ..Options::default() });
    let program = e.load_code(code).unwrap();
    // Another copy has been run and has collected: the first one's cards are as they were.
    let copy = e.load(&object).unwrap();
    assert_eq!(e.run(copy), (9, String::new()));
    let before = e.runtime.heap.stats();
    assert_eq!(e.run(program), (9, String::new()));
    let after = e.runtime.heap.stats();
    let collections = after.minor - before.minor;
    ((after.static_words - before.static_words) / collections, collections)
}

#[test]
fn collections_look_at_globals_that_were_assigned_only() {
    for frames in PRECISE {
        let (few, n) = words_looked_at(100, Zeal::Off, frames);
        let (many, m) = words_looked_at(800, Zeal::Off, frames);
        assert!(n > 10 && m > 10 && many < few + 500, "{few} words {n} times, {many} words {m} times");
        words_looked_at(100, Zeal::On, frames);
    }
}
