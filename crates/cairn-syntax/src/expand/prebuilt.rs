//! The library compiled beforehand, and programs on it.
//!
//! ```text
//!  when Cairn is built                        a program on the library
//!  all of lib/ is one program, whose value    libraries are loaded for their macros and names; references to their
//!  leaves what its variables hold in a vector variables are imports: elements of that vector, found by key
//! ```
//!
//! Keys are those of [`Session::definitions`].

use super::library::LibraryName;
use super::prims::prim;
use super::{Expanded, Expander, Failed, Loader, Session};
use crate::diagnostic::Span;
use cairn_core::globals::mentions;
use cairn_core::ir::{Expr, GlobalId, Import, Literal, TopForm};
use cairn_core::prim::{Op, PrimOp};
use cairn_layout::code::Site;
use cairn_layout::machine::slot;
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;

/// A library that was compiled beforehand.
pub trait BootLibrary {
    /// Is this one of its parts?
    fn contains(&self, name: &LibraryName) -> bool;
    /// The variable with this key.
    fn export(&self, key: &str) -> Option<Import>;
}

/// All libraries as one program, whose value is a vector.
pub struct BootProgram {
    /// The program.
    pub expanded: Expanded,
    /// Key and variable of each element of the vector.
    pub exports: Vec<(String, GlobalId)>,
}

impl Session {
    /// A session for programs on a library that was compiled beforehand.
    pub fn on_library(library: std::rc::Rc<dyn BootLibrary>) -> Session {
        Session { boot: Some(library), ..Session::default() }
    }

    /// The libraries as a program to be compiled beforehand. The session has expanded nothing yet.
    pub fn boot_program(
        &mut self,
        libraries: &[LibraryName],
        loader: &mut dyn Loader,
    ) -> Result<BootProgram, Failed> {
        let mut x = Expander::new(self, loader);
        for name in libraries {
            if let Err(d) = x.load(name, Span::default()) {
                x.report(d);
            }
        }
        // the helper is there when it has been called for
        let nil = || Expr::Const(Literal::Nil);
        x.append(nil(), nil(), Site::NONE);
        let mut exports = Vec::new();
        if let Some((bindings, definitions)) = x.define_running_bindings() {
            // element 2 is a list of vectors of values
            let bindings = Expr::Call(Expr::Global(bindings, Site::NONE).into(), vec![], Site::NONE);
            let index = |i: usize| Expr::Const(Literal::Number(Number::Int(Int::Fix(i as i64))));
            let args = vec![prim(Op::VectorRef, vec![bindings, index(2)])];
            let op = PrimOp::by_name("vector-append").expect("a row of the table of runtime calls");
            let values = Expr::Prim { op, args, site: Site::NONE, proven: 0 };
            x.push_form(TopForm::Expr(prim(Op::MachineSet, vec![index(slot::EXPORTS), values])));
            exports = definitions;
        }
        x.report_unbound();
        Ok(BootProgram { expanded: self.finish()?, exports })
    }

    /// Makes imports of the library's variables that the program refers to; says which of them the library does not
    /// export: then the program cannot be compiled on it.
    pub(super) fn import_library(&mut self) -> Vec<GlobalId> {
        let Some(library) = self.boot.clone() else { return Vec::new() };
        let keys: FxHashMap<GlobalId, String> = self.definitions().into_iter().map(|(key, g)| (g, key)).collect();
        let mut missing = Vec::new();
        for (g, mention) in mentions(&self.program).into_iter().enumerate() {
            let info = &mut self.program.globals[g];
            if mention.used && !mention.defined && info.library && info.import.is_none() {
                let g = GlobalId(g as u32);
                info.import = keys.get(&g).and_then(|key| library.export(key));
                if info.import.is_none() {
                    missing.push(g);
                }
            }
        }
        missing
    }
}
