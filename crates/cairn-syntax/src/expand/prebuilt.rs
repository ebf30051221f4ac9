//! The library compiled beforehand, and programs on it.
//!
//! ```text
//!  when Cairn is built                        a program on the library
//!  all of lib/ is one program, which leaves   what a library exports is known without its text; references to its
//!  what its variables hold in a vector        variables are imports: elements of that vector
//! ```
//!
//! Variables are known by the keys of [`Session::definitions`] and by their number, the place of the key. Libraries
//! that export macros are read and expanded, and their forms forgotten; their variables, too, are imports.

use super::core::CORE_FORMS;
use super::loader::{BootLibrary, Exported, LibraryName, Loader};
use super::meaning::{Binding, Library};
use super::prims::{self, fixnum, prim};
use super::state::{Expanded, Expander, Failed, Session};
use crate::diagnostic::Span;
use cairn_core::globals::{Mention, mentions};
use cairn_core::ir::{Expr, GlobalId, GlobalInfo, ImportFrom, Literal, Program, TopForm};
use cairn_core::prim::{Op, PrimOp};
use cairn_layout::code::Site;
use cairn_layout::machine::slot;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// All libraries as one program, whose value is a vector.
pub struct BootProgram {
    /// The program.
    pub expanded: Expanded,
    /// Key and variable of each element of the vector.
    pub exports: Vec<(String, GlobalId)>,
    /// What each library exports, by name; those that export macros are left out.
    pub interfaces: Vec<(String, Vec<(String, Exported)>)>,
}

impl Session {
    /// A session for programs on a library that was compiled beforehand.
    pub fn on_library(library: Arc<dyn BootLibrary>) -> Session {
        Session { boot: Some(library), ..Session::default() }
    }

    /// Keeps the forms of that library: the optimizer may copy their procedures. All variables that it exports become
    /// imports.
    pub fn keep_library_forms(&mut self) {
        self.library_forms = Some(Vec::new());
    }

    /// Keeps the forms of those parts of the library whose texts are read: because they export macros, or because
    /// somebody asks for a definition ([`Session::read_definition`]).
    pub fn keep_some_library_forms(&mut self) {
        self.keep_library_forms();
        self.unread = Some(FxHashSet::default());
    }

    /// Reads the part of the library that defines an imported variable, and gives its forms, if nobody has done so.
    pub fn read_definition(&mut self, g: GlobalId, loader: &mut dyn Loader) -> Vec<TopForm> {
        let import = self.program.globals.get(g.0 as usize).and_then(|info| info.import);
        let Some(ImportFrom::Library(number)) = import.map(|i| i.from) else { return Vec::new() };
        let Some(name) = self.boot.as_ref().and_then(|library| library.home(number)) else { return Vec::new() };
        let known = self.libraries.remove(&name);
        let unread = self.unread.as_mut().is_some_and(|unread| unread.remove(&name));
        if known.is_none() || unread {
            self.wanted = Some(name.clone());
            // what cannot be read is not copied
            let read = Expander::new(self, loader).load(&name, Span::default());
            self.wanted = None;
            drop(read);
            self.errors.clear();
            self.warnings.clear();
        }
        if let Some(known) = known {
            self.libraries.entry(name).or_insert(known);
        }
        self.library_forms.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A program of this session has got more variables since it was expanded: what is read from now on has others.
    pub fn go_on_from(&mut self, program: &Program) {
        self.program.vars.clone_from(&program.vars);
        self.program.globals.clone_from(&program.globals);
        self.program.procedures.clone_from(&program.procedures);
        self.program.inlined.clone_from(&program.inlined);
    }

    /// What is known of variables and texts by now, for a program that the session has gone on from.
    pub fn know_more(&self, program: &mut Program) {
        program.vars.clone_from(&self.program.vars);
        program.globals.clone_from(&self.program.globals);
        program.sources.clone_from(&self.sources);
        program.procedures.clone_from(&self.program.procedures);
        program.inlined.clone_from(&self.program.inlined);
        program.early_reads.extend(&self.program.early_reads);
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
        if let Some((definitions, values)) = x.define_exports() {
            let op = PrimOp::by_name("vector-append").expect("a row of the table of runtime calls");
            let values = Expr::Prim { op, args: vec![values], site: Site::NONE, proven: 0 };
            x.push_form(TopForm::Expr(prim(Op::MachineSet, vec![fixnum(slot::EXPORTS as i64), values])));
            exports = definitions;
        }
        x.report_unbound();
        let interfaces =
            libraries.iter().filter_map(|l| Some((l.to_string(), self.interface(l, &exports)?))).collect();
        Ok(BootProgram { expanded: self.finish()?, exports, interfaces })
    }

    /// What a library exports, sorted by name.
    fn interface(&self, library: &LibraryName, keys: &[(String, GlobalId)]) -> Option<Vec<(String, Exported)>> {
        let number: FxHashMap<GlobalId, u32> = keys.iter().zip(0..).map(|((_, g), n)| (*g, n)).collect();
        let primitive = |op| prims::all().zip(0..).find(|(p, _)| *p == op).map(|(_, n)| n);
        let exported = |b| match b {
            Binding::Core(core) => Some(Exported::Keyword(core as u32)),
            Binding::Prim(op) => primitive(op).map(Exported::Primitive),
            Binding::Global(g) => number.get(&g).copied().map(Exported::Variable),
            Binding::Macro(_) | Binding::Local(_) | Binding::Pattern(..) => None,
        };
        let bindings = self.libraries.get(library)?.bindings();
        let mut all: Vec<(String, Exported)> = bindings
            .map(|(id, b)| Some((self.names.name(id).to_string(), exported(b)?)))
            .collect::<Option<_>>()?;
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Some(all)
    }

    /// Variables of the library that the program refers to and that are no imports: it cannot be compiled on it.
    pub(super) fn not_exported(&self) -> Vec<GlobalId> {
        if self.boot.is_none() {
            return Vec::new();
        }
        let is = |(g, m): (usize, Mention)| {
            let info = &self.program.globals[g];
            (m.used && !m.defined && info.library && info.import.is_none()).then_some(GlobalId(g as u32))
        };
        mentions(&self.program).into_iter().enumerate().filter_map(is).collect()
    }

    /// The variable of the library that has this key, if there is a library and it exports that.
    pub(super) fn imported(&mut self, key: &str) -> Option<GlobalId> {
        let number = match self.boot.as_ref()?.export(key)?.from {
            ImportFrom::Library(n) => n,
            ImportFrom::Cell(_) => return None,
        };
        self.imported_variable(number)
    }

    /// The variable of the library that has this number.
    fn imported_variable(&mut self, number: u32) -> Option<GlobalId> {
        if let Some(g) = self.imported.get(&number) {
            return Some(*g);
        }
        let library = self.boot.clone()?;
        let (name, import) = library.variable(number)?;
        self.program.globals.push(GlobalInfo { library: true, import: Some(import), ..GlobalInfo::new(name) });
        let g = GlobalId(self.program.globals.len() as u32 - 1);
        self.imported.insert(number, g);
        Some(g)
    }
}

impl Expander<'_> {
    /// Makes a part of the library known by its interface, without its text, if that is possible.
    pub(super) fn load_interface(&mut self, name: &LibraryName) -> bool {
        let Some(library) = self.s.boot.clone() else { return false };
        let all = self.s.library_forms.is_some() && self.s.unread.is_none();
        if all || self.s.wanted.as_ref() == Some(name) {
            return false; // its text is wanted
        }
        let Some(interface) = library.interface(name) else { return false };
        if let Some(unread) = &mut self.s.unread {
            unread.insert(name.clone());
        }
        if self.s.primitives.is_empty() {
            self.s.primitives = prims::all().collect();
        }
        let module = self.new_module(Some(name.to_string().into()), true);
        let mut exports = FxHashMap::default();
        for (text, exported) in interface {
            let binding = match exported {
                Exported::Keyword(n) => CORE_FORMS.get(n as usize).map(|(_, core)| Binding::Core(*core)),
                Exported::Primitive(n) => self.s.primitives.get(n as usize).map(|op| Binding::Prim(*op)),
                Exported::Variable(n) => self.s.imported_variable(n).map(Binding::Global),
            };
            exports.extend(binding.map(|b| (self.s.names.intern(text), b)));
        }
        self.s.libraries.insert(name.clone(), Library { module, loading: false, exports });
        true
    }
}

impl Expander<'_> {
    /// The forms from `first` on are of a library whose code is there already.
    pub(super) fn forget_library_forms(&mut self, first: usize) {
        let forms = self.s.program.forms.split_off(first);
        if let Some(kept) = &mut self.s.library_forms {
            kept.extend(forms);
        }
    }
}
