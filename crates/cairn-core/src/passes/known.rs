//! Facts about global variables: what they hold, and whether they are bound whenever they are read.
//!
//! ```text
//! (define f (lambda (x) (g x)))      f, g: known lambdas, bound whenever read
//! (define g (lambda (x) x))
//! (f 1)
//! (define early (lambda () late))    late: may be read before its definition
//! (early)
//! (define late 5)
//! ```
//!
//! The problem: every library procedure is a global, so nearly every call goes through one; without facts each call
//! checks for "unbound", then for "procedure", then the argument count. The idea: a global that is defined once and
//! never assigned holds the value of its right-hand side whenever it holds anything. And it is bound whenever read
//! unless code that reads it can run before its definition. Code runs only when a top-level form *acts* (calls
//! something); so we go through the forms in order, keep the set of globals whose code may have run by now (everything
//! reachable from the forms that acted), and call a variable *early* when it joins the set before it is defined.
//!
//! Invariants: facts hold for the program analysed, and passes keep them valid: none adds a read of a global to code
//! that runs earlier than code that read it before. (Inlining copies reads, but to places from which they could be
//! reached already; replacing a lambda by the procedure that it calls reads where nothing was read.) [`lost`] checks
//! that after every pass. Complexity: linear.

use crate::effects::Effects;
use crate::ir::{Expr, GlobalId, Lambda, Literal, Program, TopForm};
use crate::prim::Effect;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What a global holds once it is defined.
#[derive(Clone, Debug)]
pub enum Known {
    /// The lambda defined by form number `form` of the program.
    Lambda {
        /// Index into `Program::forms`.
        form: usize,
    },
    /// A constant that may be copied freely (never a string, pair, vector or bytevector: those have identity).
    Const(Literal),
    /// The same as another global of which as much is known.
    Alias(GlobalId),
    /// Some value, always the same.
    Fixed,
    /// Assigned, defined several times or never.
    Unknown,
}

/// Facts about one global.
#[derive(Clone, Debug)]
pub struct GlobalFact {
    /// Its value once defined.
    pub value: Known,
    /// Bound whenever it is read: a read needs no check.
    pub always_bound: bool,
    /// Index of its (first) definition in `Program::forms`.
    pub form: Option<usize>,
}

/// Facts about all globals, indexed by [`GlobalId`].
#[derive(Clone, Debug, Default)]
pub struct GlobalFacts {
    facts: Vec<GlobalFact>,
    nothing: GlobalFact,
    /// For forms that define lambdas: parameter count and "takes more" of each clause.
    arities: FxHashMap<usize, Vec<(usize, bool)>>,
    /// Forms that define lambdas that return their operand when they get one.
    identities: FxHashSet<usize>,
}

impl Default for GlobalFact {
    fn default() -> GlobalFact {
        GlobalFact { value: Known::Unknown, always_bound: false, form: None }
    }
}

impl GlobalFacts {
    /// Facts about `g`.
    pub fn get(&self, g: GlobalId) -> &GlobalFact {
        self.facts.get(g.0 as usize).unwrap_or(&self.nothing)
    }
    /// Is `g` bound whenever it is read?
    pub fn always_bound(&self, g: GlobalId) -> bool {
        self.get(g).always_bound
    }
    /// The form that defines `g` as a lambda, when every read of `g` gives that lambda.
    pub fn lambda(&self, g: GlobalId) -> Option<usize> {
        match self.get(g) {
            GlobalFact { value: Known::Lambda { form }, always_bound: true, .. } => Some(*form),
            _ => None,
        }
    }
    /// The constant that every read of `g` gives.
    pub fn constant(&self, g: GlobalId) -> Option<&Literal> {
        match self.get(g) {
            GlobalFact { value: Known::Const(l), always_bound: true, .. } => Some(l),
            _ => None,
        }
    }
    /// The global that every read of `g` may be replaced by: the end of a chain of aliases.
    pub fn resolve(&self, mut g: GlobalId) -> GlobalId {
        let mut steps = 0;
        while let GlobalFact { value: Known::Alias(h), always_bound: true, .. } = self.get(g) {
            if !self.always_bound(*h) || steps > self.facts.len() {
                break;
            }
            g = *h;
            steps += 1;
        }
        g
    }
    /// Does every read of `g` succeed and give the same value?
    pub fn is_constant(&self, g: GlobalId) -> bool {
        let f = self.get(g);
        f.always_bound && !matches!(f.value, Known::Unknown)
    }
    /// Clauses of the lambda that form `form` defines: parameter count, and whether there is a rest parameter.
    pub fn arity(&self, form: usize) -> Option<&[(usize, bool)]> {
        self.arities.get(&form).map(|a| &a[..])
    }
    /// Does every call of `g` with one operand return it?
    pub fn is_identity(&self, g: GlobalId) -> bool {
        self.lambda(g).is_some_and(|form| self.identities.contains(&form))
    }
    /// Effects of reading `g`, for the questions of [`crate::effects`].
    pub fn read_effects(&self, g: GlobalId) -> Effects {
        match self.get(g) {
            GlobalFact { always_bound: false, .. } => Effects::READ.and(Effects::FAIL),
            GlobalFact { value: Known::Unknown, .. } => Effects::READ,
            _ => Effects::NONE,
        }
    }
}

/// May a literal be copied without anybody noticing?
pub fn copyable(l: &Literal) -> bool {
    !matches!(
        l,
        Literal::String(_) | Literal::Bytes(_) | Literal::Numbers(..) | Literal::Pair(_) | Literal::Vector(_)
    )
}

/// Collects the facts.
pub fn analyze(program: &Program) -> GlobalFacts {
    let count = program.globals.len();
    let mut definitions: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut assigned: Vec<bool> = program.globals.iter().map(|g| g.assigned).collect();
    // what each form mentions (anywhere), and whether evaluating it runs code
    let mut mentions: Vec<Vec<GlobalId>> = Vec::with_capacity(program.forms.len());
    for (i, form) in program.forms.iter().enumerate() {
        if let TopForm::Define(g, _) = form {
            definitions[g.0 as usize].push(i);
        }
        let mut here = Vec::new();
        walk::visit(form.expr(), &mut |e| match e {
            Expr::Global(g, _) => here.push(*g),
            Expr::SetGlobal(g, ..) => {
                assigned[g.0 as usize] = true;
                here.push(*g);
            }
            _ => {}
        });
        here.sort();
        here.dedup();
        mentions.push(here);
    }
    let early = find_early(program, &definitions, &mentions);
    let facts = (0..count)
        .map(|i| {
            let form = definitions[i].first().copied();
            if program.globals[i].import.is_some() {
                return GlobalFact { value: Known::Fixed, always_bound: true, form: None };
            }
            let value = match (form, assigned[i], definitions[i].len()) {
                (Some(form), false, 1) => match program.forms[form].expr() {
                    Expr::Lambda(_) => Known::Lambda { form },
                    Expr::Const(l) if copyable(l) => Known::Const(l.clone()),
                    Expr::Global(g, _) if definitions[g.0 as usize].len() == 1 && !assigned[g.0 as usize] => {
                        Known::Alias(*g)
                    }
                    _ => Known::Fixed,
                },
                _ => Known::Unknown,
            };
            GlobalFact { value, always_bound: form.is_some() && !early[i], form }
        })
        .collect();
    let arities = (program.forms.iter().enumerate())
        .filter_map(|(i, f)| match f.expr() {
            Expr::Lambda(l) => Some((i, l.clauses.iter().map(|c| (c.params.len(), c.rest.is_some())).collect())),
            _ => None,
        })
        .collect();
    let identities = (program.forms.iter().enumerate())
        .filter(|(_, f)| matches!(f.expr(), Expr::Lambda(l) if returns_operand(l)))
        .map(|(i, _)| i)
        .collect();
    GlobalFacts { facts, nothing: GlobalFact::default(), arities, identities }
}

/// Names of the globals that were bound whenever they were read in the program of the facts `before`, and need not be
/// in `program`, which a pass made of it: what no pass may do. Globals that the pass made count, too.
pub fn lost(before: &GlobalFacts, program: &Program) -> Vec<Rc<str>> {
    let after = analyze(program);
    let mut read = vec![false; program.globals.len()];
    for form in &program.forms {
        walk::visit(form.expr(), &mut |e| {
            if let Expr::Global(g, _) = e {
                read[g.0 as usize] = true;
            }
        });
    }
    let was = |g: GlobalId| before.facts.len() <= g.0 as usize || before.always_bound(g);
    let lost = |g: &GlobalId| read[g.0 as usize] && was(*g) && !after.always_bound(*g);
    let globals = (0..program.globals.len()).map(|i| GlobalId(i as u32));
    globals.filter(lost).map(|g| program.globals[g.0 as usize].name.clone()).collect()
}

/// Does the lambda return its operand when it gets one?
fn returns_operand(l: &Lambda) -> bool {
    walk::select_clause(l, 1).is_some_and(|i| {
        let c = &l.clauses[i];
        c.rest.is_none() && matches!((&c.params[..], &c.body), ([p], Expr::Local(v)) if p == v)
    })
}

/// Does evaluating `e` run code other than `e` itself: calls, writes that could hand code to somebody, loops?
pub(super) fn acts(e: &Expr) -> bool {
    let mut found = false;
    walk::visit_now(e, &mut |e| {
        found |= match e {
            Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) | Expr::SetGlobal(..) | Expr::SetLocal(..) => true,
            Expr::Prim { op, .. } => op.effect() == Effect::Write,
            _ => false,
        };
    });
    found
}

/// Globals that may be read before they are defined.
fn find_early(program: &Program, definitions: &[Vec<usize>], mentions: &[Vec<GlobalId>]) -> Vec<bool> {
    let count = definitions.len();
    let mut early = vec![false; count];
    let mut defined: Vec<bool> = program.globals.iter().map(|g| g.import.is_some()).collect();
    let mut reached = vec![false; count]; // code reachable from forms that acted
    let mut waiting: Vec<usize> = Vec::new(); // forms defining reached globals, to be followed when code runs next
    for (i, form) in program.forms.iter().enumerate() {
        let e = form.expr();
        if acts(e) {
            waiting.push(i);
            while let Some(f) = waiting.pop() {
                for g in &mentions[f] {
                    let at = g.0 as usize;
                    early[at] |= !defined[at];
                    if !std::mem::replace(&mut reached[at], true) {
                        waiting.extend(definitions[at].iter().filter(|d| **d < i));
                    }
                }
            }
        } else {
            // only what is read outside lambdas is read now
            walk::visit_now(e, &mut |e| {
                if let Expr::Global(g, _) = e {
                    early[g.0 as usize] |= !defined[g.0 as usize];
                }
            });
        }
        if let TopForm::Define(g, _) = form {
            defined[g.0 as usize] = true;
            if reached[g.0 as usize] {
                waiting.push(i);
            }
        }
    }
    early
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;

    /// Names of the globals that are bound whenever they are read.
    fn check(text: &str, bound: &[&str]) {
        let p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let facts = analyze(&p);
        let names: Vec<&str> = (p.globals.iter().enumerate())
            .filter(|(i, _)| facts.always_bound(GlobalId(*i as u32)))
            .map(|(_, g)| &*g.name)
            .collect();
        assert_eq!(names, bound, "{text}");
    }

    #[test]
    fn procedures_may_mention_each_other() {
        check("(define @f.0 (lambda f () (@g.1))) (define @g.1 (lambda g () (@f.0))) (@f.0)", &["f", "g"]);
    }

    #[test]
    fn code_that_runs_too_early_is_noticed() {
        check("(define @f.0 (lambda f () @late.1)) (define @x.2 (@f.0)) (define @late.1 1)", &["f", "x"]);
        // through data, and through a procedure defined after the table that holds it was used
        check(
            "(define @t.0 (%vector (lambda h () @late.1))) (define @u.2 (%car (@k.3 @t.0))) (define @late.1 1)
             (define @k.3 (lambda k (x.0) x.0))",
            &["t", "u"],
        );
        check("(define @a.0 @b.1) (define @b.1 1)", &["a"]);
        check("(%machine-set! 1 (lambda hook () @late.0)) (define @late.0 1)", &[]);
    }

    #[test]
    fn a_definition_is_no_read() {
        check(
            "(define @f.0 (lambda f () @later.1)) (define @v.2 (%cons @f.0 1)) (define @later.1 1)",
            &["f", "later", "v"],
        );
        // `f` runs only afterwards
        check("(define @f.0 (lambda f () @x.1)) (define @x.1 (@g.2)) (define @g.2 (lambda g () 1))", &["f", "x"]);
    }

    #[test]
    fn values() {
        let p = parse_program(
            "(global @set.3 assigned) (define @c.0 5) (define @a.1 @f.2) (define @f.2 (lambda f (x.0) x.0)) (define @set.3 1)
             (define @s.4 \"text\") (define @twice.5 1) (define @twice.5 2) (define @b.6 @f.2)",
        )
        .expect("parses");
        let facts = analyze(&p);
        assert!(matches!(facts.constant(GlobalId(0)), Some(Literal::Number(_))));
        assert_eq!(facts.lambda(GlobalId(2)), None, "read by `a` before its definition");
        assert!(facts.constant(GlobalId(3)).is_none() && facts.constant(GlobalId(4)).is_none());
        assert!(!facts.is_constant(GlobalId(5)));
        assert!(matches!(facts.get(GlobalId(6)).value, Known::Alias(GlobalId(2))));
        assert_eq!(facts.resolve(GlobalId(6)), GlobalId(6), "`f` may be unbound");
    }

    #[test]
    fn a_pass_that_reads_too_early_is_noticed() {
        let before = parse_program(
            "(define @f.0 (lambda f (x.0) (@g.1 x.0))) (define @g.1 (lambda g (y.1) y.1)) (define @h.2 (lambda h () 1))
             (@f.0 1)",
        )
        .expect("parses");
        let facts = analyze(&before);
        assert!(lost(&facts, &before).is_empty());
        let after = |text: &str| lost(&facts, &parse_program(text).expect("parses"));
        // a lambda became the procedure that it calls; what nothing reads any more is no loss
        assert_eq!(after("(define @f.0 @g.1) (define @g.1 (lambda g (y.1) y.1)) (@f.0 1)"), ["g".into()]);
        // a form moved above a definition; a new variable that is not bound
        assert_eq!(after("(define @f.0 (lambda f (x.0) (@g.1 x.0))) (@f.0 1) (define @g.1 1)"), ["g".into()]);
        assert_eq!(after("(define @f.0 (lambda f (x.0) @new.3)) (@f.0 1) (define @new.3 1)"), ["new".into()]);
        assert!(after("(define @g.1 (lambda g (y.1) y.1)) (@g.1 1)").is_empty());
    }
}
