//! Copies of library procedures, for the optimizer.
//!
//! ```text
//!  in the library       (define @map.1 (lambda map (f l) … (@map1.2 f l) …))       compiled beforehand, export 7
//!  in a program on it   (@map.1 (lambda (x) (%+ x 1)) l)       with a copy of @map.1, and of @map1.2
//!  optimized            (labels ((L0 (l) … (%+ x 1) …)) …)     inlined; where not, a call of import 7
//! ```
//!
//! The problem: a program on a library that was compiled beforehand imports its variables, and the optimizer knows
//! nothing of an import: no library procedure would be inlined or specialized. The idea: [`add`] puts definitions of
//! library procedures into the program while it is optimized; [`remove`] takes away those that are left, and imports
//! their variables instead. What was specialized has a name of its own and stays.
//!
//! Invariants: a copy refers to no variable that is neither imported nor a copy itself, so the library's state exists
//! once; [`remove`] leaves no copy of an exported variable, so its procedures are the same for all.
//! Complexity: linear.

use crate::globals::mentioned;
use crate::ir::{Expr, GlobalId, Import, Program, TopForm};
use crate::passes::known::copyable;
use crate::tier_links::{cell_value, fresh_global};
use crate::walk::{rewrite, visit};
use rustc_hash::{FxHashMap, FxHashSet};

/// Imports of variables whose definitions the program has copies of.
#[derive(Debug, Default)]
pub struct Copies(Vec<(GlobalId, Import)>);

/// Adds those of the library's forms that may be copied in front of the program's. Its exported variables are imports.
pub fn add(program: &mut Program, library: Vec<TopForm>) -> Copies {
    let mut copies: FxHashMap<GlobalId, Option<&Expr>> = FxHashMap::default();
    for form in &library {
        if let TopForm::Define(g, e) = form {
            let fits = match e {
                Expr::Lambda(_) | Expr::Global(..) => true,
                Expr::Const(l) => copyable(l),
                _ => false,
            };
            let only = !copies.contains_key(g) && !program.globals[g.0 as usize].assigned;
            copies.insert(*g, Some(e).filter(|_| fits && only));
        }
    }
    let imported = |g: &GlobalId| program.globals[g.0 as usize].import.is_some();
    loop {
        let fits = |e: &Expr| {
            let mut fits = true;
            visit(e, &mut |e| match e {
                Expr::Global(g, _) => fits &= imported(g) || matches!(copies.get(g), Some(Some(_))),
                Expr::SetGlobal(..) => fits = false,
                _ => {}
            });
            fits
        };
        let wrong: Vec<GlobalId> =
            copies.iter().filter(|(_, e)| e.is_some_and(|e| !fits(e))).map(|(g, _)| *g).collect();
        if wrong.is_empty() {
            break;
        }
        wrong.iter().for_each(|g| *copies.get_mut(g).expect("one of them") = None);
    }
    let copies: Vec<GlobalId> = copies.into_iter().filter(|(_, e)| e.is_some()).map(|(g, _)| g).collect();
    let mut imports = Vec::new();
    for g in &copies {
        if let Some(import) = program.globals[g.0 as usize].import.take() {
            imports.push((*g, import));
        }
    }
    let copies: FxHashSet<GlobalId> = copies.into_iter().collect();
    let kept = library.into_iter().filter(|f| matches!(f, TopForm::Define(g, _) if copies.contains(g)));
    let own = std::mem::take(&mut program.forms);
    program.forms = kept.chain(own).collect();
    Copies(imports)
}

/// The imports that may be called, or used, from the program's last form: those of what it comes to.
pub fn reached(program: &Program) -> Vec<GlobalId> {
    let mut definitions: FxHashMap<GlobalId, Vec<&Expr>> = FxHashMap::default();
    for form in &program.forms {
        if let TopForm::Define(g, e) = form {
            definitions.entry(*g).or_default().push(e);
        }
    }
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    let mut todo: Vec<&Expr> = program.forms.last().map(TopForm::expr).into_iter().collect();
    while let Some(e) = todo.pop() {
        mentioned(e, &mut |g| {
            if !seen.insert(g) {
                return;
            }
            todo.extend(definitions.get(&g).into_iter().flatten());
            if program.globals[g.0 as usize].import.is_some() {
                found.push(g);
            }
        });
    }
    found
}

/// Makes imports again of the variables that have copies.
pub fn remove(program: &mut Program, copies: Copies) {
    for (g, import) in copies.0 {
        program.globals[g.0 as usize].import = Some(import);
    }
    let globals = &program.globals;
    program.forms.retain(|f| !matches!(f, TopForm::Define(g, _) if globals[g.0 as usize].import.is_some()));
}

/// Takes away procedures of a module that other modules have, and the values of these cells: they were copies, too.
pub fn remove_native(program: &mut Program, native: &[(GlobalId, u32)]) {
    let mut holders: FxHashMap<GlobalId, GlobalId> = FxHashMap::default();
    let mut values = Vec::new();
    for (g, cell) in native {
        let name = program.globals[g.0 as usize].name.clone();
        let holder = fresh_global(program, &name, None);
        values.push(TopForm::Define(holder, cell_value(program, &name, *cell)));
        holders.insert(*g, holder);
    }
    program.forms.retain(|f| !matches!(f, TopForm::Define(g, _) if holders.contains_key(g)));
    let mut used: FxHashSet<GlobalId> = FxHashSet::default();
    for form in &mut program.forms {
        rewrite(form.expr_mut(), &mut |e| {
            if let Expr::Global(g, _) = e
                && let Some(holder) = holders.get(g)
            {
                used.insert(*holder);
                *g = *holder;
            }
        });
    }
    values.retain(|f| matches!(f, TopForm::Define(g, _) if used.contains(g)));
    program.forms.splice(0..0, values);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;
    use crate::passes::{Disabled, Opt, optimize_prepared};
    use crate::print::print_program;

    const LIBRARY: &str = "
        (global @each.0 library import 0)
        (global @help.1 library)
        (global @next.2 library import 1)
        (global @state.3 library assigned)
        (global @size.4 library import 2)
        (define @help.1 (lambda help (f.0 l.1) (if (%pair? l.1) (seq (f.0 (%car l.1)) (@help.1 f.0 (%cdr l.1))) '())))
        (define @each.0 (lambda each (f.2 l.3) (@help.1 f.2 l.3)))
        (define @state.3 0)
        (define @next.2 (lambda next () (seq (set! @state.3 (%+ @state.3 1)) @state.3)))
        (define @size.4 (lambda size (l.4) (%vector (%vector l.4 l.4) (%vector l.4 l.4) (%vector l.4 l.4))))";

    #[test]
    fn what_the_last_form_comes_to_is_reached() {
        let own = "(define @go.5 (lambda go (l.8) (@each.0 @more.6 l.8)))
                   (define @more.6 (lambda more (x.9) (@go.5 x.9)))
                   (define @other.7 (lambda other () @next.2))
                   (@next.2)
                   (%vector @go.5)";
        let p = parse_program(&format!("{LIBRARY}\n{own}")).expect("parses");
        assert_eq!(reached(&p), [GlobalId(0)], "neither what stands beside it nor what is no import");
    }

    #[test]
    fn library_procedures_are_inlined_or_imported() {
        let own = "(define @go.5 (lambda go (l.8) (@each.0 (lambda show (x.9) (%write-object x.9 '() 1)) l.8)))
                   (@go.5 '(1)) (@go.5 '(2))
                   (%write-object (%vector (@next.2) @size.4 (@size.4 1) (@size.4 2)) '() 1)";
        let mut p = parse_program(&format!("{LIBRARY}\n{own}")).expect("parses");
        let own = p.forms.split_off(5);
        let library = std::mem::replace(&mut p.forms, own);
        let copies = add(&mut p, library);
        optimize_prepared(&mut p, Opt::High, Disabled::NOTHING, true);
        remove(&mut p, copies);
        let text = print_program(&p);
        let defined: Vec<&str> = text.lines().filter(|l| l.starts_with("(define")).collect();
        assert!(!text.contains("(@each"), "each is inlined: {text}");
        assert!(text.contains("(@next.2)") && text.contains("(global @next.2 import 1"), "{text}");
        assert!(!text.contains("set! @state"), "state stays where it is: {text}");
        assert!(!defined.iter().any(|d| d.contains("@size.4") || d.contains("@next.2")), "{text}");
    }
}
