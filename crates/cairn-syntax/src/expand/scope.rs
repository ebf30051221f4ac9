//! What identifiers mean.
//!
//! Problem: a symbol inserted by a macro must mean what it meant at the macro's definition, a binding made by
//! inserted symbols must not capture the user's, and looking up must not cost more with deeper nesting.
//!
//! Idea: aliases (Clinger & Rees, *Macros that work*, 1991, in the form of Rees's explicit renaming). Each
//! expansion replaces the template's symbols by fresh aliases; binding an alias binds just that alias. To
//! resolve an identifier in a context: its binding in a scope visible there, else its binding at the module's
//! top level, else, for an alias, its parent in the context of the macro's definition.
//!
//! Scopes are shallow: each identifier heads a chain of its bindings in the open scopes, innermost first, each
//! with the depth of its scope. A context is a module and a depth. The scope at a given depth is the same for
//! every context alive at that time, because a macro can only be used (and its aliases can only occur) inside of
//! the scope where it was defined: so the first chain entry whose depth is not greater than the context's is the
//! answer, O(1) in practice.
//!
//! ```text
//! heads[x] ─▶ (x, depth 5, local 9) ─▶ (x, depth 2, local 3)      x at depth 3 is local 3
//! ```

use super::core::{CORE_FORMS, Core};
use super::items::Redefined;
use super::macros::Way;
use super::meaning::{Binding, Entrance, Family, Mark, Meaning, Module, Origin, Target};
use super::observed::{Form, Role};
use super::state::{Expander, R};
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Context, Ident, Syntax};
use cairn_core::ir::{Expr, GlobalId, GlobalInfo, VarId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

impl Expander<'_> {
    pub(super) fn new_module(&mut self, name: Option<Rc<str>>, builtin: bool) -> u32 {
        let module = Module {
            name,
            builtin,
            table: FxHashMap::default(),
            unbound: FxHashMap::default(),
            hidden: FxHashMap::default(),
        };
        self.s.modules.push(module);
        self.s.modules.len() as u32 - 1
    }

    pub(super) fn module(&mut self) -> &mut Module {
        &mut self.s.modules[self.ctx.module as usize]
    }

    /// The meaning of an identifier in the current context.
    pub(super) fn resolve(&self, id: Ident) -> Meaning {
        self.resolve_in(id, self.ctx)
    }

    pub(super) fn resolve_in(&self, mut id: Ident, mut ctx: Context) -> Meaning {
        loop {
            if let Some(b) = self.local_meaning(id, ctx) {
                return Meaning::Bound(b);
            }
            if let Some(e) = self.s.modules[ctx.module as usize].table.get(&id) {
                return Meaning::Bound(e.binding);
            }
            match self.s.names.parent(id) {
                Some((parent, at)) => (id, ctx) = (parent, at),
                None => return Meaning::Unbound(id, ctx.module),
            }
        }
    }

    /// What binds an identifier inside of a module: a scope, or the keywords of a region.
    fn local_meaning(&self, id: Ident, ctx: Context) -> Option<Binding> {
        let entry = self.scopes.entry(id, ctx.depth);
        let mut at = ctx.region;
        while let Some(i) = at.checked_sub(1) {
            let region = &self.s.regions[i as usize];
            if entry.is_some_and(|e| e.depth > region.depth) {
                break;
            }
            if let Some(b) = region.keywords.get(&id) {
                return Some(*b);
            }
            at = region.outer;
        }
        entry.map(|e| e.binding)
    }

    /// Is this a keyword of a `let-syntax` whose body is spliced into the body where we are?
    fn is_keyword_around(&self, id: Ident) -> bool {
        let mut at = self.ctx.region;
        while let Some(i) = at.checked_sub(1) {
            let region = &self.s.regions[i as usize];
            if region.depth < self.ctx.depth {
                return false;
            }
            if region.keywords.contains_key(&id) {
                return true;
            }
            at = region.outer;
        }
        false
    }

    /// `free-identifier=?`: do two identifiers mean the same? Unbound ones do when their names agree.
    pub(super) fn same_meaning(&self, a: Ident, in_a: Context, b: Ident, in_b: Context) -> bool {
        match (self.resolve_in(a, in_a), self.resolve_in(b, in_b)) {
            (Meaning::Bound(a), Meaning::Bound(b)) => a == b,
            (Meaning::Unbound(a, _), Meaning::Unbound(b, _)) => a == b,
            _ => false,
        }
    }

    /// Does the identifier match a literal of a macro that is defined `at`? A word that means nothing where a macro of
    /// the library is defined is a keyword of that macro's clauses alone: it stays one where a program gives its name a
    /// meaning of its own, as a program with a procedure `get` may.
    pub(super) fn is_literal(&self, id: Ident, literal: Ident, at: Context) -> bool {
        self.same_meaning(id, self.ctx, literal, at)
            || self.s.modules[at.module as usize].builtin
                && self.name(id) == self.name(literal)
                && matches!(self.resolve_in(literal, at), Meaning::Unbound(..))
    }

    /// Is this the auxiliary keyword? Also when the name is unbound: a forgotten import does no harm.
    pub(super) fn is_keyword(&self, x: &Syntax, keyword: Core) -> bool {
        x.as_ident().is_some_and(|id| self.ident_is(id, self.ctx, keyword))
    }

    pub(super) fn ident_is(&self, id: Ident, ctx: Context, keyword: Core) -> bool {
        if &**self.name(id) != keyword.name() {
            return self.resolve_in(id, ctx) == Meaning::Bound(Binding::Core(keyword));
        }
        match self.resolve_in(id, ctx) {
            Meaning::Bound(b) => b == Binding::Core(keyword),
            Meaning::Unbound(..) => true,
        }
    }

    /// Is this variable imported by the module where the identifier gets its meaning?
    pub(super) fn is_imported(&self, mut id: Ident) -> bool {
        let mut ctx = self.ctx;
        loop {
            if self.local_meaning(id, ctx).is_some() {
                return false;
            }
            if let Some(e) = self.s.modules[ctx.module as usize].table.get(&id) {
                return e.origin != Origin::Defined;
            }
            match self.s.names.parent(id) {
                Some((parent, at)) => (id, ctx) = (parent, at),
                None => return false,
            }
        }
    }

    pub(super) fn open_scope(&mut self) -> Mark {
        let mark = Mark { entries: self.scopes.entries.len(), depth: self.ctx.depth };
        self.ctx.depth += 1;
        mark
    }

    pub(super) fn close_scope(&mut self, mark: Mark) {
        self.scopes.truncate(mark.entries);
        self.ctx.depth = mark.depth;
    }

    /// A local variable in the innermost scope.
    pub(super) fn bind_local(&mut self, id: Ident, span: Span, role: Role) -> VarId {
        let name = self.name(id).clone();
        let var = self.s.program.fresh_var(&name);
        self.scopes.bind(id, self.ctx.depth, Binding::Local(var));
        self.mention(id, span, Binding::Local(var), role);
        var
    }

    /// A pattern variable of `syntax-case` in the innermost scope.
    pub(super) fn bind_pattern(&mut self, id: Ident, span: Span, depth: u32) -> VarId {
        let name = self.name(id).clone();
        let var = self.s.program.fresh_var(&name);
        let binding = Binding::Pattern(var, depth);
        self.scopes.bind(id, self.ctx.depth, binding);
        self.mention(id, span, binding, Role::Parameter);
        var
    }

    fn not_defined_yet(&self, id: Ident, span: Span) -> R<()> {
        let depth = self.ctx.depth;
        if depth > 0 && self.scopes.bound_at(id, depth) || self.is_keyword_around(id) {
            let message = format!("`{}` is defined twice in one body", self.name(id));
            return self.err(span, message);
        }
        Ok(())
    }

    /// Declares the variable of a definition in the innermost scope or at top level.
    pub(super) fn declare(&mut self, id: Ident, span: Span) -> R<Target> {
        self.not_defined_yet(id, span)?;
        if self.ctx.depth > 0 {
            let role = Role::Definition(self.observed_form());
            return Ok(Target::Local(self.bind_local(id, span, role)));
        }
        let target = self.declare_top(id, span)?;
        self.mention_definition(id, span, target, Form::Variable);
        Ok(target)
    }

    fn declare_top(&mut self, id: Ident, span: Span) -> R<Target> {
        let name = self.name(id).clone();
        let library = self.module().builtin;
        if let Some(old) = self.module().table.get(&id).copied() {
            match (old.origin, old.binding) {
                (Origin::Defined, Binding::Global(g)) => {
                    self.s.program.globals[g.0 as usize].assigned = true;
                    if self.module().name.is_some() {
                        let d = self.diagnostic(span, format!("`{name}` is defined twice in this library"));
                        self.warn(d.note(old.span, "here it is first"));
                    }
                    return Ok(Target::Global(g));
                }
                (Origin::Imported, binding) => {
                    // What a program without `import` sees, nobody asked for: its names are free.
                    if old.span.start < old.span.end {
                        let d = self
                            .diagnostic(span, format!("`{name}` is imported and defined again"))
                            .note(old.span, "imported here; the definition counts")
                            .help(format!("import it with (except … {name}) or (rename … ({name} other-name))"));
                        self.warn(d);
                    }
                    if matches!(binding, Binding::Global(_) | Binding::Prim(_)) {
                        let g = self.new_global(id, &name, library);
                        self.redefined.insert(g, Redefined { old: binding, first_use: None });
                        self.define_top(id, Binding::Global(g), span);
                        return Ok(Target::Global(g));
                    }
                }
                _ => {}
            }
        }
        let g = self.new_global(id, &name, library);
        self.define_top(id, Binding::Global(g), span);
        Ok(Target::Global(g))
    }

    fn new_global(&mut self, id: Ident, name: &str, library: bool) -> GlobalId {
        let module = self.ctx.module;
        if let Some(g) = self.define_unbound(id, module) {
            return g;
        }
        if let Some(g) = self.module().hidden.remove(&id) {
            self.s.program.globals[g.0 as usize].assigned = true;
            return g;
        }
        self.compiled_variable(id, library).unwrap_or_else(|| self.fresh_global(name, library))
    }

    /// The variable of a library that was compiled beforehand, which its text, read for its macros, defines again.
    fn compiled_variable(&mut self, id: Ident, library: bool) -> Option<GlobalId> {
        if !library || self.s.boot.is_none() || self.s.names.parent(id).is_some() {
            return None;
        }
        let key = format!("{} {}", self.module().name.clone()?, self.name(id));
        self.s.imported(&key)
    }

    pub(super) fn fresh_global(&mut self, name: &str, library: bool) -> GlobalId {
        self.s.program.globals.push(GlobalInfo { library, ..GlobalInfo::new(name) });
        GlobalId(self.s.program.globals.len() as u32 - 1)
    }

    /// Binds an identifier in the innermost scope or at top level to something that is not a variable.
    pub(super) fn bind(&mut self, id: Ident, binding: Binding, span: Span) -> R<()> {
        self.not_defined_yet(id, span)?;
        if self.ctx.depth > 0 {
            self.scopes.bind(id, self.ctx.depth, binding);
        } else {
            self.define_top(id, binding, span);
        }
        Ok(())
    }

    pub(super) fn define_top(&mut self, id: Ident, binding: Binding, span: Span) {
        self.enter_top(id, Entrance { binding, origin: Origin::Defined, family: Family::Other, span });
    }

    /// Gives a name a meaning at top level: what it was before.
    fn enter_top(&mut self, id: Ident, new: Entrance) -> Option<Entrance> {
        self.s.meanings += 1;
        let module = self.module();
        let old = module.table.insert(id, new);
        if let Some(Entrance { binding: Binding::Global(g), origin: Origin::Defined, .. }) = old
            && new.binding != Binding::Global(g)
        {
            module.hidden.insert(id, g);
        }
        old
    }

    /// Adds an imported binding; the latest import wins.
    pub(super) fn import_binding(&mut self, id: Ident, binding: Binding, span: Span) {
        self.import_binding_of(Family::Other, id, binding, span);
    }

    /// Of a name of R6RS that Chez Scheme's library means more by, that meaning wins, and nobody is warned.
    pub(super) fn import_binding_of(&mut self, family: Family, id: Ident, binding: Binding, span: Span) {
        if let Binding::Core(c) = binding {
            self.s.procedural |= Way::of(c).is_some() || c == Core::SyntaxCase;
            self.s.syntax_case |= c == Core::SyntaxCase && !self.module().builtin;
        }
        let present =
            self.module().table.get(&id).filter(|o| o.binding != binding && o.origin == Origin::Imported);
        let of_both = match present.map(|o| o.family) {
            Some(Family::Chez) if family == Family::R6rs => return,
            before => before == Some(Family::R6rs) && family == Family::Chez,
        };
        let old = self.enter_top(id, Entrance { binding, origin: Origin::Imported, family, span });
        let differs =
            |o: &Entrance| o.binding != binding && o.origin == Origin::Imported && o.span != span && !of_both;
        if let Some(old) = old.filter(differs) {
            // one warning for all names of the same two imports
            const ONE: &str = " is imported twice with different meanings";
            const MANY: &str = " are imported twice with different meanings";
            const BEFORE: &str = "imported here before; the later import counts";
            let name = self.name(id).clone();
            let (place, note) = ((span, old.span), |d: &Diagnostic| d.notes.first().map(|n| n.0));
            let mut same = self.s.warnings.iter_mut().filter(|d| Some(place) == note(d).map(|n| (d.span, n)));
            let listed = same.find_map(|d| {
                let names = d.message.strip_suffix(ONE).or_else(|| d.message.strip_suffix(MANY))?;
                let mut names: Vec<&str> = names.trim_matches('`').split("`, `").chain([&*name]).collect();
                names.sort_unstable();
                d.message = format!("`{}`{MANY}", names.join("`, `"));
                Some(())
            });
            if listed.is_none() {
                let d = Diagnostic::new(span, format!("`{name}`{ONE}"))
                    .note(old.span, BEFORE)
                    .help("leave one out with (except …)");
                self.warn(d);
            }
        }
    }

    /// Adds a binding that is imported as long as the name has no other meaning.
    pub(super) fn offer_binding(&mut self, id: Ident, binding: Binding, span: Span) {
        let offered = Entrance { binding, origin: Origin::Offered, family: Family::Other, span };
        self.module().table.entry(id).or_insert(offered);
    }

    /// Runs `f` at the top level of a module, whatever scopes are open now.
    pub(super) fn at_top_level<T>(&mut self, module: u32, f: impl FnOnce(&mut Self) -> T) -> T {
        let ctx = std::mem::replace(&mut self.ctx, Context::top(module));
        let scopes = std::mem::take(&mut self.scopes);
        let trace = std::mem::take(&mut self.trace);
        let redefined = std::mem::take(&mut self.redefined);
        let item = std::mem::replace(&mut self.item, 0);
        let result = f(self);
        self.ctx = ctx;
        self.scopes = scopes;
        self.trace = trace;
        self.redefined = redefined;
        self.item = item;
        result
    }

    /// The expression that refers to a variable.
    pub(super) fn reference(&mut self, id: Ident, span: Span) -> R<Expr> {
        match self.resolve(id) {
            Meaning::Bound(Binding::Local(v)) => {
                self.mention(id, span, Binding::Local(v), Role::Reference);
                if self.initializing.contains(&v) {
                    let site = self.plain_site(span);
                    self.s.program.early_reads.entry(v).or_insert(site);
                }
                Ok(self.local(v))
            }
            Meaning::Bound(Binding::Global(g)) => {
                self.mention(id, span, Binding::Global(g), Role::Reference);
                let outside = !self.module().builtin;
                let info = &self.s.program.globals[g.0 as usize];
                // no other part of lib/ exports these names
                if info.library && outside {
                    self.s.open |= matches!(&*info.name, "load" | "interaction-environment");
                    self.s.makes_environments |= &*info.name == "environment";
                }
                Ok(self.global(g, span))
            }
            Meaning::Bound(Binding::Prim(p)) => {
                self.mention(id, span, Binding::Prim(p), Role::Reference);
                let name = self.name(id).clone();
                self.primitive_value(p, &name, span)
            }
            Meaning::Bound(Binding::Core(_) | Binding::Macro(_)) => {
                let name = self.name(id).clone();
                self.err_help(
                    span,
                    format!("the keyword `{name}` is used as a variable"),
                    format!("a keyword stands at the head of a form: ({name} …)"),
                )
            }
            Meaning::Bound(Binding::Pattern(..)) => {
                let name = self.name(id).clone();
                let message = format!("the pattern variable `{name}` is used outside of a template");
                self.err_help(span, message, format!("#'{name}"))
            }
            Meaning::Unbound(base, module) => {
                let g = self.unbound_global(base, module, span);
                Ok(self.global(g, span))
            }
        }
    }

    pub(super) fn unbound_global(&mut self, base: Ident, module: u32, span: Span) -> GlobalId {
        if let Some((g, _)) = self.s.modules[module as usize].unbound.get(&base) {
            return *g;
        }
        let name = self.name(base).clone();
        let g = self.fresh_global(&name, self.s.modules[module as usize].builtin);
        self.s.program.globals[g.0 as usize].undefined = true;
        self.s.modules[module as usize].unbound.insert(base, (g, span));
        g
    }

    /// The variable that was used under this name before there was a definition: now there is one.
    pub(super) fn define_unbound(&mut self, id: Ident, module: u32) -> Option<GlobalId> {
        let (g, _) = self.s.modules[module as usize].unbound.remove(&id)?;
        self.s.program.globals[g.0 as usize].undefined = false;
        Some(g)
    }

    pub(super) fn local(&mut self, v: VarId) -> Expr {
        let i = v.0 as usize;
        if self.referenced.len() <= i {
            self.referenced.resize(i + 1, false);
        }
        self.referenced[i] = true;
        Expr::Local(v)
    }

    pub(super) fn is_referenced(&self, v: VarId) -> bool {
        self.referenced.get(v.0 as usize).copied().unwrap_or(false)
    }

    pub(super) fn global(&mut self, g: GlobalId, span: Span) -> Expr {
        if !self.redefined.is_empty() {
            let item = self.item;
            if let Some(r) = self.redefined.get_mut(&g) {
                r.first_use.get_or_insert(item);
            }
        }
        Expr::Global(g, self.site(span))
    }

    pub(super) fn target(&mut self, t: Target, span: Span) -> Expr {
        match t {
            Target::Local(v) => self.local(v),
            Target::Global(g) => Expr::Global(g, self.site(span)),
        }
    }

    /// Warnings for globals that are used and never defined.
    pub(super) fn report_unbound(&mut self) {
        self.report_foreign();
        let mut found = Vec::new();
        for module in &self.s.modules {
            for (id, (g, span)) in &module.unbound {
                if !self.s.warned.contains(g) {
                    found.push((*id, *g, *span));
                }
            }
        }
        found.sort_by_key(|(_, g, _)| *g);
        for (i, (id, g, span)) in found.into_iter().enumerate() {
            self.s.warned.insert(g);
            let name = self.name(id).clone();
            let mut d = Diagnostic::new(span, format!("`{name}` is not defined")).undefined();
            // looking for similar names takes time: not for hundreds
            if let Some(help) = (i < 20).then(|| self.suggestion(id, &name)).flatten() {
                d = d.help(help);
            }
            self.warn(d);
        }
    }
}

/// All keywords, for the built-in libraries.
pub(super) fn keywords() -> impl Iterator<Item = (&'static str, Core)> {
    CORE_FORMS.iter().copied()
}
