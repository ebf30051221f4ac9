//! Code that runs once: inlining there makes a program larger, never faster.
//!
//! ```text
//! (define (check thunk) (if (thunk) (pass!) (fail!)))
//! (check (lambda () (equal? (reverse '(1 2)) '(2 1))))   ; the call and the lambda's body run once
//! (let loop ((i 0)) (if (< i n) (begin (work i) (loop (+ i 1)))))   ; the loop's body does not
//! ```
//!
//! The problem: a test file is thousands of top-level expressions. Each holds lambdas that run once too: the parts of a
//! `guard`, the thunk of a `parameterize`. With the library inlined into all of them, nine tenths of the compiled code
//! are copies that run once. The idea: follow "runs at most once" from the top level inwards. It holds
//!
//! * at the top level, outside of loops;
//! * in a lambda that is called where it stands, passed to `call/cc`, or passed for a parameter that the procedure
//!   calls at most once each time it runs ([`Once::passes`]);
//! * in a procedure whose only use is a call in such code ([`Once::form`]).
//!
//! In the library a parameter may also be stored: what is kept there is a handler, a converter, the body of a promise.
//!
//! It is a guess about frequency (a continuation may enter code again), so nothing but sizes may depend on it. Facts
//! are found from below: a procedure that hands its parameter to itself is never found to call it once. [`ROUNDS`]
//! walks over the program: linear.

use crate::ir::{Expr, GlobalId, Label, LabelId, Lambda, Program, TopForm, VarId};
use crate::passes::known::GlobalFacts;
use crate::walk::{deep, for_each_child, visit};
use rustc_hash::FxHashSet;

/// How many procedures a parameter may be passed on through.
const ROUNDS: usize = 4;

/// What runs once.
#[derive(Default)]
pub(super) struct Once {
    /// Form and parameter: the argument is called at most once by a call.
    params: FxHashSet<(usize, usize)>,
    /// Forms that define procedures whose bodies run once.
    forms: FxHashSet<usize>,
    /// Labels that a jump from them, or from those beside them, comes back to.
    loops: FxHashSet<LabelId>,
    /// The first label that did not exist yet.
    labels: u32,
}

impl Once {
    /// Is argument `i` of a call of the procedure that `form` defines called at most once?
    pub fn passes(&self, form: usize, i: usize) -> bool {
        self.params.contains(&(form, i))
    }

    /// Does the body of the procedure that `form` defines run once?
    pub fn form(&self, form: usize) -> bool {
        self.forms.contains(&form)
    }

    /// Can a jump from these labels come back to them?
    pub fn is_loop(&self, labels: &[Label]) -> bool {
        let is_own = |to: &LabelId| labels.iter().any(|l| l.id == *to);
        if labels.iter().all(|l| l.id.0 < self.labels) {
            return labels.iter().any(|l| self.loops.contains(&l.id));
        }
        let mut seen = false;
        for l in labels {
            visit(&l.body, &mut |e| seen |= matches!(e, Expr::Jump(to, _) if is_own(to)));
        }
        seen
    }
}

/// Adds the labels that are jumped to from their bodies, or from those beside them. `around`: the labels whose bodies,
/// or whose neighbours' bodies, the expression is in. Looks at each expression once: labels may be nested by thousands.
fn find_loops(e: &Expr, around: &mut FxHashSet<LabelId>, loops: &mut FxHashSet<LabelId>) {
    deep(|| match e {
        Expr::Labels(labels, body) => {
            around.extend(labels.iter().map(|l| l.id));
            labels.iter().for_each(|l| find_loops(&l.body, around, loops));
            labels.iter().for_each(|l| {
                around.remove(&l.id);
            });
            find_loops(body, around, loops);
        }
        e => {
            if let Expr::Jump(to, _) = e
                && around.contains(to)
            {
                loops.insert(*to);
            }
            for_each_child(e, &mut |e| find_loops(e, around, loops));
        }
    })
}

/// Analyses the program. `uses` counts the occurrences of each global.
pub(super) fn analyze(program: &Program, facts: &GlobalFacts, uses: &[u32]) -> Once {
    let mut once = Once { labels: program.labels, ..Once::default() };
    for f in &program.forms {
        find_loops(f.expr(), &mut FxHashSet::default(), &mut once.loops);
    }
    for _ in 0..ROUNDS {
        let before = once.params.len();
        for (form, f) in program.forms.iter().enumerate() {
            let TopForm::Define(g, Expr::Lambda(l)) = f else { continue };
            let [clause] = &l.clauses[..] else { continue };
            if clause.rest.is_some() || facts.lambda(*g) != Some(form) {
                continue;
            }
            let stored = program.globals[g.0 as usize].library;
            let mut walk =
                Walk { facts, once: &once, stored, params: &clause.params, repeated: vec![], calls: None };
            walk.expr(&clause.body, true);
            let repeated = walk.repeated;
            once.params.extend(
                clause.params.iter().enumerate().filter(|(_, p)| !repeated.contains(p)).map(|(i, _)| (form, i)),
            );
        }
        if once.params.len() == before {
            break;
        }
    }
    // from the top level inwards: each procedure found is a place to find more
    let mut places: Vec<&Expr> = program.forms.iter().filter(|f| !defines_lambda(f)).map(TopForm::expr).collect();
    while let Some(e) = places.pop() {
        let mut calls = Vec::new();
        let mut walk =
            Walk { facts, once: &once, stored: false, params: &[], repeated: vec![], calls: Some(&mut calls) };
        walk.expr(e, true);
        for g in calls {
            if uses[g.0 as usize] != 1 {
                continue;
            }
            let Some(form) = facts.lambda(g) else { continue };
            if once.forms.insert(form)
                && let Expr::Lambda(Lambda { clauses, .. }) = program.forms[form].expr()
            {
                places.extend(clauses.iter().map(|c| &c.body));
            }
        }
    }
    once
}

fn defines_lambda(f: &TopForm) -> bool {
    matches!(f, TopForm::Define(_, Expr::Lambda(_)))
}

/// One walk over a body: `here` says whether the expression runs at most once when the body does.
struct Walk<'a, 'c> {
    facts: &'a GlobalFacts,
    once: &'a Once,
    /// May parameters and lambdas be stored?
    stored: bool,
    /// The parameters that are looked for.
    params: &'a [VarId],
    /// Those that may be called more than once.
    repeated: Vec<VarId>,
    /// Procedures called where the code runs once.
    calls: Option<&'c mut Vec<GlobalId>>,
}

impl Walk<'_, '_> {
    fn expr(&mut self, e: &Expr, here: bool) {
        deep(|| self.expr_here(e, here))
    }

    fn expr_here(&mut self, e: &Expr, here: bool) {
        match e {
            Expr::Local(_) | Expr::Lambda(_) => self.passed(e, here && self.stored),
            Expr::Call(f, args, _) => {
                let form = match &**f {
                    Expr::Global(g, _) => {
                        let g = self.facts.resolve(*g);
                        if here && let Some(calls) = &mut self.calls {
                            calls.push(g);
                        }
                        self.facts.lambda(g)
                    }
                    _ => None,
                };
                self.passed(f, here);
                for (i, a) in args.iter().enumerate() {
                    let called_once = match form {
                        Some(form) => self.once.passes(form, i),
                        None => self.stored,
                    };
                    match a {
                        Expr::Local(_) | Expr::Lambda(_) => self.passed(a, here && called_once),
                        a => self.expr(a, here),
                    }
                }
            }
            Expr::CallCc(_, f, _) => self.passed(f, here),
            Expr::Labels(labels, body) => {
                let inside = here && !self.once.is_loop(labels);
                labels.iter().for_each(|l| self.expr(&l.body, inside));
                self.expr(body, here);
            }
            Expr::Fix(bs, body) => {
                for (_, l) in bs {
                    let mut recursive = false;
                    for c in &l.clauses {
                        visit(&c.body, &mut |e| {
                            recursive |= matches!(e, Expr::Local(v) if bs.iter().any(|(w, _)| w == v));
                        });
                    }
                    self.lambda(l, here && self.stored && !recursive);
                }
                self.expr(body, here);
            }
            e => for_each_child(e, &mut |c| self.expr(c, here)),
        }
    }

    /// `e` comes to where it is called at most once, if `once`.
    fn passed(&mut self, e: &Expr, once: bool) {
        match e {
            Expr::Local(v) if !once && self.params.contains(v) => self.repeated.push(*v),
            Expr::Local(_) => {}
            Expr::Lambda(l) => self.lambda(l, once),
            e => self.expr(e, once),
        }
    }

    fn lambda(&mut self, l: &Lambda, once: bool) {
        l.clauses.iter().for_each(|c| self.expr(&c.body, once));
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::parse_program;
    use crate::passes::inline;
    use crate::passes::known;
    use crate::print::print_program;

    /// Library procedures in the shape of `guard*` and of `for-each`, and procedures of the program.
    const PROCEDURES: &str = "
        (global @wind.0 library)
        (global @protect.1 library)
        (global @each.2 library)
        (define @wind.0 (lambda wind (handlers.0 thunk.1)
          (let ((outer.2 (%machine-ref 1)))
            (seq
              (%machine-set! 1 handlers.0)
              (let ((value.3 (thunk.1))) (seq (%machine-set! 1 outer.2) value.3))))))
        (define @protect.1 (lambda protect (handler.4 body.5)
          (call/cc (lambda receiver (k.6)
            (@wind.0 (%cons (lambda handle (c.7) (k.6 (handler.4 c.7))) (%machine-ref 1)) (lambda thunk () (body.5)))))))
        (define @each.2 (lambda each (f.8 l.9)
          (if (%pair? l.9) (seq (f.8 (%car l.9)) (@each.2 f.8 (%cdr l.9))) '())))
        (define @twice.3 (lambda twice (f.10) (seq (f.10) (f.10))))
        (define @kept.4 (lambda kept (f.11) (%cons f.11 '())))
        (define @loop.5 (lambda loop (f.12) (labels ((L0 (i.13) (if (f.12) (jump L0 (%+ i.13 1)) i.13))) (jump L0 0))))";

    fn facts() -> Vec<(String, Vec<bool>)> {
        let p = parse_program(PROCEDURES).expect("parses");
        let once = super::analyze(&p, &known::analyze(&p), &vec![2; p.globals.len()]);
        let parameters = [2, 2, 2, 1, 1, 1];
        let passes = |form: usize, n: usize| (0..n).map(|i| once.passes(form, i)).collect();
        parameters.iter().enumerate().map(|(f, n)| (p.globals[f].name.to_string(), passes(f, *n))).collect()
    }

    #[test]
    fn parameters_called_at_most_once() {
        let expected = [
            ("wind", vec![true, true]),
            ("protect", vec![true, true]),
            ("each", vec![false, true]),
            ("twice", vec![true]),
            ("kept", vec![false]),
            ("loop", vec![false]),
        ];
        for ((name, found), (wanted, passes)) in facts().iter().zip(&expected) {
            assert_eq!((name.as_str(), found), (*wanted, passes));
        }
    }

    /// The program after inlining, without what stands before its first expression.
    fn inlined(expression: &str) -> String {
        let mut p = parse_program(&format!(
            "{PROCEDURES}
             (define @small.6 (lambda small (x.20) (%+ (%* x.20 x.20) (%* x.20 3))))
             (define @again.7 (lambda again (x.21) (%- (@small.6 x.21) (@small.6 2))))
             (@small.6 3)
             (@again.7 1) (@again.7 2)
             {expression}"
        ))
        .expect("parses");
        inline::run(&mut p);
        let text = print_program(&p);
        text[text.find("(@again.7 2)").expect("the marker")..].to_string()
    }

    #[test]
    fn nothing_is_copied_into_code_that_runs_once() {
        for e in [
            "(@small.6 5)",
            "(@protect.1 (lambda guard (c.30) (@small.6 c.30)) (lambda body () (@small.6 5)))",
            "(call/cc (lambda receiver (k.30) (k.30 (@small.6 5))))",
            "(define @main.8 (lambda main () (%write-object (@small.6 7) '() 1)))\n(@main.8)",
        ] {
            let text = inlined(e);
            assert!(text.contains("@small.6") && !text.contains("%*"), "{text}");
        }
        assert!(inlined("(@protect.1 (lambda guard (c.30) c.30) (lambda body () 5))").contains("(@protect.1"));
    }

    #[test]
    fn loops_and_procedures_get_their_copies() {
        for e in [
            "(labels ((L1 (i.30) (if (%< (@small.6 i.30) 9) (jump L1 (%+ i.30 1)) i.30))) (jump L1 0))",
            "(@each.2 (lambda work (x.30) (@small.6 x.30)) '(1 2))",
            "(@loop.5 (lambda work () (@small.6 4)))",
            "(define @main.8 (lambda main (x.30) (%write-object (@small.6 x.30) '() 1)))\n(@main.8 1)\n(@main.8 2)",
        ] {
            let text = inlined(e);
            assert!(text.contains("%*") && !text.contains("@small.6"), "{text}");
        }
    }
}
