//! May two threads run code of the program at the same time?
//!
//! The problem: pools without locks, and pools whose objects move, are wrong where they may, and threads have many
//! names: OpenMP, timers, other languages, libraries that start them. So they are there unless their absence is proven:
//! a thread other than the first needs somebody who starts it, and a function of the program where it begins, which
//! code outside must know. The C library's own ways of starting threads are known by name; all other code outside, of
//! objects without bitcode and of other libraries, may know more.

use crate::dsa::Analysis;
use crate::dsa::externals::starts_threads;

/// Why there may be several threads; nothing if there is one.
pub(crate) fn find(analysis: &Analysis, foreign: &[String]) -> Option<String> {
    let module = analysis.module;
    let name = |index: usize| &module.functions[index].name;
    let used = |i: &usize| module.functions[*i].declared && starts_threads(name(*i));
    let starter = (0..module.functions.len()).find(used).map(|i| format!("{} is called", name(i)));
    let starter = starter.or_else(|| Some(format!("{} may start threads", foreign.first()?)))?;
    let entered = module.function_ids().find(|&id| {
        let function = module.function(id);
        !function.declared && (function.kept && function.name != "main" || analysis.leaves(id))
    })?;
    Some(format!("{starter}, and code outside knows {}", module.function(entered).name))
}
