//! Random Core programs lower to correct Frame IR under every strategy.
//!
//! The generator makes well-scoped programs of dialect `Opt` and cares for what the frame pass cares for: nests of
//! calls that keep variables alive, procedures that escape or not, recursive groups, loops with and without calls,
//! several values, flonums, allocation. They need not terminate or make sense otherwise. `CAIRN_SEED=n` runs one seed,
//! `CAIRN_SEEDS=n` the first n; without, it takes a few seconds.

mod common;

use cairn_core::ir::*;
use cairn_core::passes::testing::run_pass;
use cairn_core::prim::PrimOp;
use cairn_core::verify::{Dialect, verify};
use cairn_layout::code::Site;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

struct Generator {
    random: Random,
    program: Program,
    scope: Vec<VarId>,
    /// Labels that may be jumped to from here (tail position), with their parameter counts.
    labels: Vec<(LabelId, usize)>,
    budget: u32,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn site(&mut self) -> Site {
        if self.below(3) == 0 { Site::NONE } else { Site::new(0, self.below(1000) as u32) }
    }

    fn var(&mut self) -> VarId {
        let name = ["x", "y", "a b", "z.1", "&w"][self.below(5)];
        let v = self.program.fresh_var(name);
        self.scope.push(v);
        v
    }

    fn vars(&mut self, most: usize) -> Vec<VarId> {
        (0..self.below(most + 1)).map(|_| self.var()).collect()
    }

    /// Runs `f` in an inner scope.
    fn scoped<T>(&mut self, f: impl FnOnce(&mut Generator) -> T) -> T {
        let mark = self.scope.len();
        let result = f(self);
        self.scope.truncate(mark);
        result
    }

    /// Runs `f` where no label can be jumped to: not in tail position.
    fn inner<T>(&mut self, f: impl FnOnce(&mut Generator) -> T) -> T {
        let labels = std::mem::take(&mut self.labels);
        let result = f(self);
        self.labels = labels;
        result
    }

    fn operand(&mut self) -> Expr {
        self.inner(|r| r.expr())
    }

    fn operands(&mut self, most: usize) -> Vec<Expr> {
        (0..self.below(most + 1)).map(|_| self.operand()).collect()
    }

    fn leaf(&mut self) -> Expr {
        let globals = self.program.globals.len();
        match self.below(8) {
            0 => Expr::Const(Literal::Nil),
            1 => Expr::Const(Literal::Number(cairn_num::Number::Flo(self.below(9) as f64 / 4.0))),
            2 => Expr::Const(Literal::Symbol("a |b|".into())),
            3 => Expr::Global(GlobalId(self.below(globals) as u32), self.site()),
            _ if self.scope.is_empty() => Expr::Const(Literal::Bool(self.below(2) == 0)),
            _ => {
                let i = self.below(self.scope.len());
                Expr::Local(self.scope[i])
            }
        }
    }

    fn prim(&mut self) -> Expr {
        const NAMES: &[&str] = &[
            "cons",
            "car",
            "cdr",
            "set-car!",
            "+",
            "*",
            "<",
            "=",
            "fx+",
            "fx<",
            "fl+",
            "fl*",
            "fl<",
            "fl+",
            "fl*",
            "fl-",
            "flsqrt",
            "null?",
            "pair?",
            "not",
            "eq?",
            "box",
            "unbox",
            "vector-ref",
            "vector",
            "opaque",
            "num-gcd",
            "num-floor",
            "inexact",
        ];
        let op = PrimOp::by_name(NAMES[self.below(NAMES.len())]).expect("in the table");
        // Vectors too long to be allocated inline; only the library makes opaque objects, and short ones.
        let most = if op == PrimOp::Vector && self.below(20) == 0 { 600 } else { 4 };
        let args = match op.arity() {
            Some(n) => (0..n).map(|_| self.operand()).collect(),
            None if most > 4 => (0..self.below(most)).map(|_| self.leaf()).collect(),
            None => self.operands(most),
        };
        let proven = self.below(4) as u8 & ((1u8 << args.len().min(2)) - 1);
        Expr::Prim { op, args, site: self.site(), proven }
    }

    fn clause(&mut self, most: usize) -> Clause {
        self.inner(|r| {
            r.scoped(|r| {
                let params = r.vars(most);
                let rest = if r.below(4) == 0 { Some(r.var()) } else { None };
                Clause { params, rest, body: r.expr() }
            })
        })
    }

    fn lambda(&mut self) -> Lambda {
        let clauses = (0..if self.below(4) == 0 { 2 } else { 1 }).map(|_| self.clause(4)).collect();
        Lambda { name: ["f", "a b", "g.1.r2", ""][self.below(4)].into(), clauses, site: self.site() }
    }

    /// A call of a known or unknown procedure, with a fitting count more often than not.
    fn call(&mut self) -> Expr {
        let f = if self.below(5) == 0 { self.operand() } else { self.leaf() };
        Expr::Call(Box::new(f), self.operands(5), self.site())
    }

    /// A group of procedures; the body may call them.
    fn fix(&mut self) -> Expr {
        self.scoped(|r| {
            let names: Vec<VarId> = (0..1 + r.below(4)).map(|_| r.var()).collect();
            let bindings: Vec<(VarId, Lambda)> = names.iter().map(|v| (*v, r.lambda())).collect();
            let calls: Vec<Expr> = bindings
                .iter()
                .map(|(v, l)| {
                    let count = l.clauses[0].params.len();
                    let args = (0..count).map(|_| r.leaf()).collect();
                    Expr::Call(Box::new(Expr::Local(*v)), args, Site::NONE)
                })
                .collect();
            let last = r.expr();
            Expr::Fix(bindings, Box::new(Expr::Seq(calls.into_iter().chain([last]).collect())))
        })
    }

    /// Loops and join points. Label bodies may jump to all labels of the group and of enclosing ones.
    fn labels(&mut self) -> Expr {
        let outer = self.labels.len();
        let group: Vec<(LabelId, Vec<VarId>)> = (0..1 + self.below(2))
            .map(|_| {
                let params = self.scoped(|r| r.vars(3));
                (self.program.fresh_label(), params)
            })
            .collect();
        for (id, params) in &group {
            self.labels.push((*id, params.len()));
        }
        let labels = group
            .into_iter()
            .map(|(id, params)| {
                let body = self.scoped(|r| {
                    r.scope.extend(&params);
                    r.expr()
                });
                Label { id, params, body }
            })
            .collect();
        let (first, count) = self.labels[outer];
        let args = (0..count).map(|_| self.operand()).collect();
        let jump = Expr::Jump(first, args);
        let other = self.expr();
        self.labels.truncate(outer);
        let test = self.operand();
        Expr::Labels(labels, Box::new(Expr::If(Box::new(test), Box::new(jump), Box::new(other))))
    }

    fn jump(&mut self) -> Expr {
        if self.labels.is_empty() {
            return self.call();
        }
        let i = self.below(self.labels.len());
        let (id, count) = self.labels[i];
        Expr::Jump(id, (0..count).map(|_| self.operand()).collect())
    }

    fn expr(&mut self) -> Expr {
        if self.budget == 0 {
            return self.leaf();
        }
        self.budget -= 1;
        match self.below(20) {
            0..=3 => self.call(),
            4 | 5 => self.prim(),
            6 | 7 => {
                let test = self.operand();
                let then = self.expr();
                Expr::If(Box::new(test), Box::new(then), Box::new(self.expr()))
            }
            8 | 9 => {
                let bindings: Vec<(usize, Expr)> = (0..1 + self.below(3)).map(|i| (i, self.operand())).collect();
                self.scoped(|r| {
                    let bindings = bindings.into_iter().map(|(_, e)| (r.var(), e)).collect();
                    Expr::Let(bindings, Box::new(r.expr()))
                })
            }
            10 => self.fix(),
            11 | 12 => self.labels(),
            13 | 14 => self.jump(),
            15 => {
                let effects = self.operands(2);
                let last = self.expr();
                Expr::Seq(effects.into_iter().chain([last]).collect())
            }
            16 => Expr::Lambda(self.lambda()),
            17 => {
                let producer = if self.below(2) == 0 { Expr::Values(self.operands(3)) } else { self.operand() };
                self.scoped(|r| {
                    let params = r.vars(3);
                    let rest = if r.below(3) == 0 { Some(r.var()) } else { None };
                    let clause = Clause { params, rest, body: r.expr() };
                    Expr::Receive { producer: Box::new(producer), clause: Box::new(clause), site: Site::NONE }
                })
            }
            18 => match self.below(4) {
                0 => Expr::CallCc(
                    [Shots::Many, Shots::One][self.random.below(2)],
                    Box::new(self.operand()),
                    self.site(),
                ),
                1 => Expr::Values(self.operands(3)),
                2 => {
                    let f = self.operand();
                    let mut args = self.operands(2);
                    args.push(self.leaf());
                    Expr::Apply(Box::new(f), args, self.site())
                }
                _ => {
                    let g = GlobalId(self.below(self.program.globals.len()) as u32);
                    self.program.globals[g.0 as usize].assigned = true;
                    Expr::SetGlobal(g, Box::new(self.operand()), self.site())
                }
            },
            _ => self.leaf(),
        }
    }
}

fn program(seed: u64) -> Program {
    let mut r = Generator {
        random: Random::seeded(seed + 1),
        program: Program::default(),
        scope: vec![],
        labels: vec![],
        budget: 0,
    };
    for i in 0..2 + r.below(4) {
        let (name, library) = (format!("g{i}"), r.below(2) == 0);
        r.program.globals.push(GlobalInfo { library, ..GlobalInfo::new(name.as_str()) });
    }
    for i in 0..r.program.globals.len() {
        r.budget = 20 + r.below(60) as u32;
        let e = if r.below(4) > 0 { Expr::Lambda(r.lambda()) } else { r.expr() };
        r.program.forms.push(TopForm::Define(GlobalId(i as u32), e));
    }
    r.budget = 60;
    let e = r.expr();
    r.program.forms.push(TopForm::Expr(e));
    r.program
}

#[test]
fn random_programs_lower_to_correct_modules() {
    let seeds = match std::env::var("CAIRN_SEED") {
        Ok(seed) => seed.parse::<u64>().map(|s| s..s + 1).expect("a number"),
        Err(_) => 0..std::env::var("CAIRN_SEEDS").map_or(25, |n| n.parse().expect("a number")),
    };
    let mut features = Features::default();
    let all = seeds.end - seeds.start > 1;
    for seed in seeds {
        let mut p = program(seed);
        if let Err(complaints) = verify(&p, Dialect::Opt) {
            panic!("seed {seed}: the generator is wrong: {}", complaints.join("\n"));
        }
        check(seed, &p, &mut features);
        // Loops found by the optimizer rather than by chance.
        run_pass(&mut p, "contify");
        check(seed, &p, &mut features);
    }
    assert!(!all || features.all(), "the generator never made {:?}", features.seen);
}

fn check(seed: u64, p: &Program, features: &mut Features) {
    for s in common::strategies() {
        let lowered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| common::lower(p, s)));
        let module = lowered.unwrap_or_else(|_| panic!("seed {seed} under {}", s.name));
        features.note(&cairn_frame::print::print_module(&module));
    }
}

/// What the generated modules must contain, all together, for the test to mean something.
#[derive(Default)]
struct Features {
    seen: std::collections::HashSet<&'static str>,
}

const FEATURES: &[&str] = &[
    "patch ",
    "!d",
    "poll ",
    "direct ",
    " closure ",
    "slot ",
    "free ",
    "call/cc ",
    "apply ",
    "return values",
    "+ -> ",
    " . ",
    "] then",
];

impl Features {
    fn note(&mut self, text: &str) {
        self.seen.extend(FEATURES.iter().filter(|f| text.contains(**f)));
    }
    fn all(&self) -> bool {
        self.seen.len() == FEATURES.len()
    }
}

/// A group of closures larger than one heap check may be is not cut: a collection between the allocation of a closure
/// and its patch might promote the closure, and patches have no write barrier.
#[test]
fn large_recursive_groups_are_allocated_in_one_piece() {
    let n = 60;
    let params: String = (0..9).map(|i| format!("p.{i} ")).collect();
    let used = (0..9).fold("'()".to_string(), |e, i| format!("(%cons p.{i} {e})"));
    let member = |i: usize| {
        let (own, next) = (10 + i, 10 + (i + 1) % n);
        format!("(f.{own} (lambda f (x.{}) (if x.{} f.{next} {used})))", 200 + i, 200 + i)
    };
    let members: String = (0..n).map(member).collect();
    let source = format!(
        "(define @g.0 (lambda g ({params}) (let ((b.150 (%num-gcd p.0 p.1))) (fix ({members}) (%cons f.10 b.150)))))\n(@g.0 0 1 2 3 4 5 6 7 8)"
    );
    let program = common::core(&source, "as it is");
    for s in common::strategies() {
        let text = cairn_frame::print::print_module(&common::lower(&program, s));
        assert!(text.contains("patch f."), "{text}");
        let g = text.split("function g").find(|f| f.contains("patch")).expect("there");
        let checks: Vec<&str> = g.lines().filter(|l| l.contains("check ")).map(str::trim).collect();
        assert!(checks.iter().any(|c| c.starts_with("check 5296 ")), "{checks:?}");
    }
}

/// Allocations that fit one by one, but not together, get several checks.
#[test]
fn long_blocks_are_cut_at_the_limit() {
    let vectors: String = (1..9).map(|i| format!("(v.{i} (%vector{}))", " x.0".repeat(180))).collect();
    let all: String = (1..9).map(|i| format!(" v.{i}")).collect();
    let source = format!("(define @f.0 (lambda f (x.0) (let ({vectors}) (%vector{all}))))\n(@f.0 1)");
    for s in common::strategies() {
        let text = cairn_frame::print::print_module(&common::lower(&common::core(&source, "as it is"), s));
        let checks: Vec<&str> = text.lines().map(str::trim).filter(|l| l.starts_with("check 2")).collect();
        assert_eq!(checks.len(), 4, "{checks:?}");
    }
}
