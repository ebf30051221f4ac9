//! Circles: files of a crate that need each other, so that none can be understood, tested or moved without the rest.
//!
//! A file needs another when it names a path into it: `use` trees, paths in expressions, types, patterns and macros
//! that begin with `crate`, `super`, `self` or a module below. That a parent declares its child, `mod child;`, is no
//! need. `use` of a name that another file only passes on (`pub use`) needs the file that passes it on. Not seen are
//! methods and fields, which name no file. What only tests have (`#[cfg(test)]`) does not count.
//!
//! Files are found as the compiler finds them, by `mod` from the crate's root on. Circles are strongly connected
//! components (Tarjan 1972), in time linear in files and needs.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};

/// The files that each file of a crate needs.
pub type Needs = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// A path of modules from the crate's root.
type Module = Vec<String>;

/// What each file of the crate needs whose root is `root`; `read` gives the text of a file, if it is there.
pub fn needs(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Needs {
    let mut modules = Modules::default();
    let text = read(root).unwrap_or_else(|| panic!("{} is not there", root.display()));
    modules.add_file(vec![], root.to_path_buf(), &text, root.parent().unwrap(), read);
    let mut needs = Needs::new();
    for (module, file, syntax) in &modules.parsed {
        let mut names = Names { modules: &modules, module: module.clone(), named: BTreeSet::new() };
        names.visit_file(syntax);
        let mut others: BTreeSet<PathBuf> = names.named.iter().map(|path| modules.file_of(path)).collect();
        others.remove(file);
        needs.insert(file.clone(), others);
    }
    needs
}

/// The circles: sets of files, each of which needs, in some steps, every other of its set.
pub fn circles(needs: &Needs) -> Vec<BTreeSet<PathBuf>> {
    let mut search = Search { needs, number: BTreeMap::new(), open: vec![], found: vec![] };
    for file in needs.keys() {
        if !search.number.contains_key(file) {
            search.visit(file);
        }
    }
    search.found
}

/// A shortest way around a circle, `a needs b needs a`, one line a file, and the other files of the circle.
pub fn shown(circle: &BTreeSet<PathBuf>, needs: &Needs) -> String {
    let way = circle.iter().filter_map(|from| way_around(from, circle, needs)).min_by_key(Vec::len);
    let way = way.expect("a circle has a way around");
    let name = |file: &Path| file.display().to_string();
    let mut out: Vec<String> = way
        .iter()
        .zip(way.iter().cycle().skip(1))
        .map(|(a, b)| format!("{} needs {}", name(a), name(b)))
        .collect();
    out.extend(circle.iter().filter(|f| !way.contains(f)).map(|f| format!("and also {}", name(f))));
    out.join("\n")
}

fn way_around(from: &PathBuf, circle: &BTreeSet<PathBuf>, needs: &Needs) -> Option<Vec<PathBuf>> {
    let mut before: BTreeMap<&PathBuf, &PathBuf> = BTreeMap::new();
    let mut next = vec![from];
    while !next.is_empty() {
        let mut after = vec![];
        for file in next {
            for other in needs[file].iter().filter(|f| circle.contains(*f)) {
                if other == from {
                    let mut way = vec![file.clone()];
                    while way.last() != Some(from) {
                        way.push(before[way.last()?].clone());
                    }
                    way.reverse();
                    return Some(way);
                }
                if !before.contains_key(other) {
                    before.insert(other, file);
                    after.push(other);
                }
            }
        }
        next = after;
    }
    None
}

/// Tarjan's search: `number` is when a file was first seen, and `usize::MAX` when its component is complete.
struct Search<'a> {
    needs: &'a Needs,
    number: BTreeMap<&'a PathBuf, usize>,
    open: Vec<&'a PathBuf>,
    found: Vec<BTreeSet<PathBuf>>,
}

impl<'a> Search<'a> {
    /// The lowest number that can be reached.
    fn visit(&mut self, file: &'a PathBuf) -> usize {
        let mine = self.number.len();
        self.number.insert(file, mine);
        self.open.push(file);
        let mut lowest = mine;
        for other in &self.needs[file] {
            let reached = match self.number.get(other) {
                Some(&number) => number,
                None => self.visit(other),
            };
            lowest = lowest.min(reached);
        }
        if lowest < mine {
            return lowest;
        }
        let at = self.open.iter().position(|f| *f == file).expect("it was pushed");
        let component = self.open.split_off(at);
        for file in &component {
            self.number.insert(file, usize::MAX);
        }
        if component.len() > 1 {
            self.found.push(component.into_iter().cloned().collect());
        }
        usize::MAX
    }
}

/// The modules of a crate, and the files in which they are.
#[derive(Default)]
struct Modules {
    /// Also those within a file.
    all: BTreeSet<Module>,
    files: BTreeMap<Module, PathBuf>,
    parsed: Vec<(Module, PathBuf, syn::File)>,
}

impl Modules {
    /// Adds a file and all below it; files of its children are in `below`.
    fn add_file(
        &mut self,
        module: Module,
        file: PathBuf,
        text: &str,
        below: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let syntax = syn::parse_file(text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.all.insert(module.clone());
        self.files.insert(module.clone(), file.clone());
        self.add_items(&module, &syntax.items, below, read);
        self.parsed.push((module, file, syntax));
    }

    fn add_items(
        &mut self,
        module: &Module,
        items: &[syn::Item],
        below: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        for item in items {
            let syn::Item::Mod(item) = item else { continue };
            if of_tests(&item.attrs) {
                continue;
            }
            let name = item.ident.unraw().to_string();
            let mut path = module.clone();
            path.push(name.clone());
            if let Some((_, items)) = &item.content {
                self.all.insert(path.clone());
                self.add_items(&path, items, &below.join(&name), read);
                continue;
            }
            let candidates = match path_attribute(&item.attrs) {
                Some(given) => vec![below.join(given)],
                None => vec![below.join(format!("{name}.rs")), below.join(&name).join("mod.rs")],
            };
            let found = candidates.iter().find_map(|file| Some((file.clone(), read(file)?)));
            let (file, text) = found.unwrap_or_else(|| panic!("no file of the module {}", path.join("::")));
            self.add_file(path, file, &text, &below.join(&name), read);
        }
    }

    /// The file of what a path names.
    fn file_of(&self, path: &[String]) -> PathBuf {
        let inner = (0..=path.len()).rev().find_map(|n| self.files.get(&path[..n]));
        inner.expect("the root has a file").clone()
    }
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|a| match &a.meta {
        syn::Meta::NameValue(v) if v.path.is_ident("path") => match &v.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Is it compiled for tests only?
fn of_tests(attributes: &[syn::Attribute]) -> bool {
    fn needs_test(meta: &syn::Meta) -> bool {
        if meta.path().is_ident("test") {
            return true;
        }
        let syn::Meta::List(list) = meta else { return false };
        let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
        list.path.is_ident("all") && list.parse_args_with(parser).is_ok_and(|all| all.iter().any(needs_test))
    }
    attributes.iter().any(|a| {
        a.path().is_ident("test")
            || a.path().is_ident("cfg") && a.parse_args::<syn::Meta>().is_ok_and(|meta| needs_test(&meta))
    })
}

/// Collects the paths into the crate that a file names, as paths from the crate's root.
struct Names<'a> {
    modules: &'a Modules,
    /// Where the visit is, modules within the file included.
    module: Module,
    named: BTreeSet<Module>,
}

impl Names<'_> {
    /// A path as it was written. One word alone, not in a `use`, is no module.
    fn name(&mut self, path: &[String]) {
        let mut from = self.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => {
                from.clear();
                rest = &path[1..];
            }
            Some("self" | "super") => {}
            Some(first) => {
                from.push(first.into());
                if !self.modules.all.contains(&from) {
                    return;
                }
                from.pop();
            }
            None => return,
        }
        while let Some(step @ ("self" | "super")) = rest.first().map(String::as_str) {
            if step == "super" {
                from.pop();
            }
            rest = &rest[1..];
        }
        from.extend(rest.iter().cloned());
        self.named.insert(from);
    }

    fn use_tree(&mut self, before: &mut Module, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.unraw().to_string());
                self.use_tree(before, &path.tree);
                before.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(before, tree)),
            syn::UseTree::Glob(_) => self.name(before),
            syn::UseTree::Name(syn::UseName { ident, .. })
            | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                before.push(ident.unraw().to_string());
                let of_group = before.len() > 1 && ident == "self"; // `use a::{self, b}`
                self.name(&before[..before.len() - usize::from(of_group)]);
                before.pop();
            }
        }
    }

    /// Paths among the tokens of a macro: `a::b`, `a::{b, c}`.
    fn tokens(&mut self, before: &Module, tokens: TokenStream) {
        let mut path = before.clone();
        let (mut colons, mut after_colons) = (0, !before.is_empty());
        for token in tokens {
            match token {
                TokenTree::Punct(p) if p.as_char() == ':' => {
                    colons += 1;
                    after_colons = colons == 2;
                    continue;
                }
                TokenTree::Ident(ident) => {
                    if !after_colons {
                        self.token_path(&path);
                        path.clear();
                    }
                    path.push(ident.unraw().to_string());
                }
                TokenTree::Group(group) => {
                    let inner = if after_colons && !path.is_empty() { std::mem::take(&mut path) } else { vec![] };
                    self.token_path(&path);
                    path.clear();
                    self.tokens(&inner, group.stream());
                }
                TokenTree::Punct(p) => {
                    self.token_path(&path);
                    let goes_on = p.as_char() == ',' && !before.is_empty();
                    path = if goes_on { before.clone() } else { vec![] };
                    (colons, after_colons) = (0, goes_on);
                    continue;
                }
                TokenTree::Literal(_) => {
                    self.token_path(&path);
                    path.clear();
                }
            }
            (colons, after_colons) = (0, false);
        }
        self.token_path(&path);
    }

    fn token_path(&mut self, path: &Module) {
        if path.len() > 1 {
            self.name(path);
        }
    }
}

/// Visits what is not for tests only.
macro_rules! unless_of_tests {
    ($($visit:ident $node:ident)*) => {
        $(fn $visit(&mut self, node: &'ast syn::$node) {
            if !of_tests(&node.attrs) {
                visit::$visit(self, node);
            }
        })*
    };
}

impl<'ast> Visit<'ast> for Names<'_> {
    unless_of_tests! {
        visit_item_fn ItemFn
        visit_item_impl ItemImpl
        visit_item_struct ItemStruct
        visit_item_enum ItemEnum
        visit_item_trait ItemTrait
        visit_item_const ItemConst
        visit_item_static ItemStatic
        visit_item_type ItemType
        visit_item_macro ItemMacro
        visit_impl_item_fn ImplItemFn
        visit_impl_item_const ImplItemConst
        visit_trait_item_fn TraitItemFn
        visit_field Field
        visit_local Local
        visit_arm Arm
        visit_variant Variant
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !of_tests(&node.attrs) {
            self.module.push(node.ident.unraw().to_string());
            visit::visit_item_mod(self, node);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, node: &'ast syn::ItemUse) {
        if !of_tests(&node.attrs) && node.leading_colon.is_none() {
            self.use_tree(&mut vec![], &node.tree);
        }
    }

    fn visit_path(&mut self, node: &'ast syn::Path) {
        if node.leading_colon.is_none() && node.segments.len() > 1 {
            let path: Module = node.segments.iter().map(|s| s.ident.unraw().to_string()).collect();
            self.name(&path);
        }
        visit::visit_path(self, node);
    }

    /// `pub(in path)` says who may need it.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        visit::visit_macro(self, node);
        self.tokens(&vec![], node.tokens.clone());
    }
}

// ---- it can fail

/// What the files of a small crate need; a file is a name and a text.
fn of_texts(files: &[(&str, &str)]) -> Needs {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new("src").join(name) == path);
        found.map(|(_, text)| text.to_string())
    };
    needs(Path::new("src/lib.rs"), &read)
}

/// Does `a.rs` of this text need `b.rs`, beside it?
fn needs_b(a: &str) -> bool {
    let needs = of_texts(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", a),
        ("a/below.rs", "pub struct T;"),
        ("b.rs", "pub mod inside { pub struct T; }"),
    ]);
    needs[Path::new("src/a.rs")].contains(Path::new("src/b.rs"))
}

#[test]
fn paths_are_needs_wherever_they_stand() {
    for text in [
        "use crate::b::T;",
        "use crate::b;",
        "use crate::{c::T, b::{self, inside::T as U}};",
        "use super::b::*;",
        "use super::{c, b};",
        "fn f() { crate::b::g() }",
        "fn f(x: Vec<super::b::T>) {}",
        "fn f() { match x { crate::b::T::Some(y) => y, _ => z } }",
        "impl crate::b::Trait for T {}",
        "fn f<T: super::b::Trait>() {}",
        "fn f() { println!(\"{}\", crate::b::g()) }",
        "macro_rules! m { () => { $crate::b::g() } }",
        "macro_rules! m { () => { use crate::{c, b::T}; } }",
        "mod inner { use super::super::b::T; }",
        "fn f() { use crate::b::T; }",
        "#[cfg(not(test))] use crate::b::T;",
        "use self::super::b::T;",
    ] {
        assert!(needs_b(text), "{text}");
    }
}

#[test]
fn what_names_no_other_file_is_no_need() {
    for text in [
        "//! See [`crate::b`].\nuse std::b::T;",
        "pub(in crate::b) struct T;",
        "fn f(b: u8) -> u8 { b }",
        "fn f() { b::g() }",
        "#[cfg(test)] use crate::b::T;",
        "#[cfg(test)] mod tests { use crate::b::T; }",
        "#[cfg(all(test, unix))] fn f() { crate::b::g() }",
        "#[test] fn f() { crate::b::g() }",
        "fn f() -> &'static str { \"crate::b::g\" }",
        "mod below;",
        "use crate::a::below::T; mod below;",
    ] {
        assert!(!needs_b(text), "{text}");
    }
}

#[test]
fn a_file_needs_the_file_that_passes_a_name_on() {
    let needs = of_texts(&[
        ("lib.rs", "mod a; mod b; pub use b::T;"),
        ("a.rs", "use crate::T;"),
        ("b.rs", "pub struct T;"),
    ]);
    assert_eq!(needs[Path::new("src/a.rs")], [PathBuf::from("src/lib.rs")].into());
    assert_eq!(needs[Path::new("src/lib.rs")], [PathBuf::from("src/b.rs")].into());
    assert!(circles(&needs).is_empty());
}

#[test]
fn a_parent_and_a_child_may_be_a_circle() {
    let files = |parent| of_texts(&[("lib.rs", "mod a;"), ("a/mod.rs", parent), ("a/gen.rs", "use super::T;")]);
    assert!(circles(&files("mod r#gen; pub struct T;")).is_empty());
    let around = files("mod r#gen; pub struct T; fn f() { r#gen::g() }");
    let found = circles(&around);
    assert_eq!(found, [["src/a/mod.rs", "src/a/gen.rs"].map(PathBuf::from).into()]);
    assert_eq!(shown(&found[0], &around), "src/a/gen.rs needs src/a/mod.rs\nsrc/a/mod.rs needs src/a/gen.rs");
}

#[test]
fn circles_are_told_apart_and_shown_by_a_shortest_way() {
    let needs = of_texts(&[
        ("lib.rs", "mod a; mod b; mod c; mod d; mod e; use d::T;"),
        ("a.rs", "use crate::b::T;"),
        ("b.rs", "use crate::c::T;"),
        ("c.rs", "use crate::a::T; use crate::b::T; use crate::d::T;"),
        ("d.rs", "use crate::e::T;"),
        ("e.rs", "use crate::d::T;"),
    ]);
    let mut found = circles(&needs);
    found.sort();
    assert_eq!(found.len(), 2, "{found:?}");
    let way = "src/b.rs needs src/c.rs\nsrc/c.rs needs src/b.rs\nand also src/a.rs";
    assert_eq!(shown(&found[0], &needs), way);
    assert_eq!(shown(&found[1], &needs), "src/d.rs needs src/e.rs\nsrc/e.rs needs src/d.rs");
}
