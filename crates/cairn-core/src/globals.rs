//! Which global variables a program has to do with.
//!
//! The problem: a session numbers the variables of all libraries that it knows, and a module on a library that was
//! compiled beforehand mentions few of them. The idea: [`compact`] numbers those anew, so that the module holds no
//! words for the others.

use crate::ir::{Expr, GlobalId, Program, TopForm};
use crate::walk::{rewrite, visit};

/// What a program does with a global.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mention {
    /// It defines it.
    pub defined: bool,
    /// It reads or assigns it.
    pub used: bool,
}

/// What the program does with each of its globals.
pub fn mentions(program: &Program) -> Vec<Mention> {
    let mut all = vec![Mention::default(); program.globals.len()];
    for form in &program.forms {
        if let TopForm::Define(g, _) = form {
            all[g.0 as usize].defined = true;
        }
        mentioned(form.expr(), &mut |g| all[g.0 as usize].used = true);
    }
    all
}

/// Calls `f` on each global that an expression reads or assigns.
pub fn mentioned(e: &Expr, f: &mut impl FnMut(GlobalId)) {
    visit(e, &mut |e| {
        if let Expr::Global(g, _) | Expr::SetGlobal(g, ..) = e {
            f(*g);
        }
    });
}

/// Leaves only the globals that the program mentions, in their order. The result are their numbers from now on.
pub fn compact(program: &mut Program) -> Vec<Option<GlobalId>> {
    let mut next = 0;
    let numbers: Vec<Option<GlobalId>> = mentions(program)
        .iter()
        .map(|m| {
            let number = (m.defined || m.used).then_some(GlobalId(next));
            next += number.is_some() as u32;
            number
        })
        .collect();
    let mut kept = numbers.iter();
    program.globals.retain(|_| kept.next().is_some_and(|n| n.is_some()));
    let number = |g: &mut GlobalId| *g = numbers[g.0 as usize].expect("mentioned");
    for form in &mut program.forms {
        if let TopForm::Define(g, _) = form {
            number(g);
        }
        rewrite(form.expr_mut(), &mut |e| {
            if let Expr::Global(g, _) | Expr::SetGlobal(g, ..) = e {
                number(g);
            }
        });
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;
    use crate::print::print_program;

    #[test]
    fn only_what_is_mentioned_stays() {
        let text = "(global @far.9 import 3) (define @f.4 (lambda f (x.0) (seq (set! @y.7 x.0) (@far.9 @f.4))))";
        let mut p = parse_program(text).expect("parses");
        let numbers = compact(&mut p);
        let kept: Vec<usize> = (0..numbers.len()).filter(|i| numbers[*i].is_some()).collect();
        assert_eq!(kept, [4, 7, 9]);
        assert_eq!(p.globals.len(), 3);
        let expected =
            "(global @far.2 import 3) (define @f.0 (lambda f (x.0) (seq (set! @y.1 x.0) (@far.2 @f.0))))";
        assert_eq!(print_program(&p), print_program(&parse_program(expected).expect("parses")));
    }
}
