//! Searching a short constant list: a test for each element.
//!
//! ```text
//! (if (memv c '(#\a #\e)) x y)   ⟶   (if (if (%eq? c #\a) #t (%eq? c #\e)) x y)
//! (assq s '((+ . 1) (- . 2)))    ⟶   (let ((l '(…))) (if (%eq? s '+) (%car l) (if (%eq? s '-) (%car (%cdr l)) #f)))
//! ```
//!
//! The problem: the library's procedures go along lists of any length, which may be circular or no lists; inlined, they
//! are a loop of four pairs at a time. The idea: what is found is a part of the constant, read from it so that it is
//! the same object everywhere, and a test that asks only whether there is one keeps nothing but comparisons. `eqv?` and
//! `equal?` are `eq?` where the elements are symbols, characters, fixnums and the like.

use super::{DEPTH, Inliner, Var};
use crate::ir::{Expr, GlobalId, Literal};
use crate::prim::{Op, PrimOp};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

/// Lists of at most this many elements are compared one by one.
const LONGEST: usize = 16;
/// What an element costs, in units of code.
const TEST: usize = 2;

impl Inliner<'_> {
    /// The tests that a call of `memq`, `assq` or one of their kin in the library comes to.
    pub(super) fn search(&mut self, g: GlobalId, args: Vec<Expr>, site: Site) -> Result<Expr, Vec<Expr>> {
        let Some((keys, in_pairs)) = self.keys(g, &args) else { return Err(args) };
        self.growth -= TEST * keys.len();
        self.global_uses[g.0 as usize] -= 1; // the call that goes away
        let mut fresh = |name: &str| {
            self.vars.push(Var::default());
            self.program.fresh_var(name)
        };
        let (wanted, list) = (fresh("wanted"), fresh("list"));
        let part = |op: Op, of: Expr| Expr::Prim { op: PrimOp::Op(op), args: vec![of], site, proven: 0 };
        let mut e = Expr::Const(Literal::Bool(false));
        for (i, key) in keys.into_iter().enumerate().rev() {
            let operands = vec![Expr::Local(wanted), Expr::Const(key)];
            let equal = Expr::Prim { op: PrimOp::Op(Op::Eq), args: operands, site, proven: 0 };
            let rest = (0..i).fold(Expr::Local(list), |rest, _| part(Op::Cdr, rest));
            let found = if in_pairs { part(Op::Car, rest) } else { rest };
            e = Expr::If(Box::new(equal), Box::new(found), Box::new(e));
        }
        self.count(&e);
        let bs = [wanted, list].into_iter().zip(args).collect();
        self.depth += 1;
        let e = self.let_(bs, e);
        self.depth -= 1;
        Ok(e)
    }

    /// What a call compares its first argument with, and whether these are the cars of pairs.
    fn keys(&self, g: GlobalId, args: &[Expr]) -> Option<(Vec<Literal>, bool)> {
        let [_, list] = args else { return None };
        let global = &self.program.globals[g.0 as usize];
        let in_pairs = match &*global.name {
            "memq" | "memv" | "member" => false,
            "assq" | "assv" | "assoc" => true,
            _ => return None,
        };
        if !global.library || self.depth >= DEPTH {
            return None;
        }
        let (mut keys, mut rest) = (Vec::new(), self.quoted(list)?);
        while let Literal::Pair(p) = &rest {
            let key = match &p.0 {
                Literal::Pair(pair) if in_pairs => pair.0.clone(),
                _ if in_pairs => return None,
                element => element.clone(),
            };
            if keys.len() == LONGEST || !is_a_word(&key) {
                return None;
            }
            keys.push(key);
            let next = p.1.clone();
            rest = next;
        }
        let fits = matches!(rest, Literal::Nil) && !keys.is_empty() && TEST * keys.len() <= self.growth;
        fits.then_some((keys, in_pairs))
    }
}

/// Is what is `equal?` to the constant the same word?
fn is_a_word(l: &Literal) -> bool {
    matches!(
        l,
        Literal::Number(Number::Int(Int::Fix(_)))
            | Literal::Char(_)
            | Literal::Bool(_)
            | Literal::Nil
            | Literal::Symbol(_)
            | Literal::Eof
    )
}

#[cfg(test)]
mod tests {
    use crate::parse::parse_program;
    use crate::passes::known::analyze;
    use crate::print::print_program;

    /// The call in a procedure of `x`, after two rounds of this pass.
    fn searched(call: &str) -> String {
        let name =
            call.trim_start_matches("(if ").trim_start_matches("(@").split('.').next().expect("there is a name");
        let text = format!(
            "(global @{name}.0 library) (define @{name}.0 (lambda {name} (x.0 l.1) (%machine-ref 1)))
             (define @f.1 (lambda f (x.2) {call})) (%machine-set! 1 @f.1)"
        );
        let mut p = parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for _ in 0..2 {
            super::super::run(&mut p);
            let facts = analyze(&p);
            crate::passes::simplify::run(&mut p, &facts);
        }
        let text = print_program(&p);
        text.split_once("lambda f").map_or(text.clone(), |p| p.1.to_string())
    }

    #[test]
    fn a_search_that_is_tested_compares() {
        for call in ["(if (@memq.0 x.2 '(a b)) 1 2)", "(if (@assv.0 x.2 '((a . 1) (b))) 1 2)"] {
            let text = searched(call);
            assert!(text.contains("(%eq? x.2 'a)") && text.contains("(%eq? x.2 'b)"), "{text}");
            assert!(!text.contains("cdr") && !text.contains("car") && !text.contains("machine-ref"), "{text}");
        }
    }

    #[test]
    fn what_is_found_is_a_part_of_the_constant() {
        let text = searched("(@member.0 x.2 '(1 #\\a b))");
        assert!(text.contains("(%eq? x.2 #\\a)") && text.contains("%cdr"), "{text}");
        // of which nothing is known but how it was written: a program may have changed it
        assert!(text.contains("(%cdr (%cdr:1 "), "{text}");
        let text = searched("(@assoc.0 x.2 '((1 . 2) (() . 3)))");
        assert!(text.contains("(%eq? x.2 '())") && text.contains("%car"), "{text}");
    }

    #[test]
    fn other_lists_are_searched_in_memory() {
        // what has contents, what is no list or no pair, and what is long
        let long = format!("(@memq.0 x.2 '({}))", "a ".repeat(17));
        for call in [
            "(@member.0 x.2 '(\"a\"))",
            "(@memv.0 x.2 '(1.5 2))",
            "(@memv.0 x.2 '(2000000000000000000000 2))",
            "(@memq.0 x.2 '(a . b))",
            "(@assq.0 x.2 '((a . 1) b))",
            "(@memq.0 x.2 x.2)",
            "(@memq.0 x.2 (%cdr '(a)))",
            &long,
        ] {
            let text = searched(call);
            assert!(!text.contains("%eq?"), "{text}");
        }
    }
}
