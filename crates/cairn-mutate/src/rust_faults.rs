//! Where a fault can be put into Rust code.
//!
//! Operators: a comparison gets or loses its equality, `+` and `-` (`*` and `/`, `&` and `|`, `<<` and `>>`, `&&` and
//! `||`) take each other's place, `!` and `-` are dropped, a condition is always true or never, a number is one more, a
//! statement is left out, an arm of a match with a last arm `_` is left out, a function returns something simple at
//! once.
//!
//! Not touched: tests, constants, types, patterns and macros. What does not compile is thrown out by the workshop.

use crate::{Mutant, line_at};
use std::ops::Range;
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// All mutants of a file.
pub fn mutants(file: &Path, text: &str) -> Vec<Mutant> {
    let Ok(tree) = syn::parse_file(text) else { return vec![] };
    let mut finder = Finder { file, text, within: vec![], found: vec![] };
    finder.visit_file(&tree);
    finder.found
}

struct Finder<'a> {
    file: &'a Path,
    text: &'a str,
    within: Vec<String>,
    found: Vec<Mutant>,
}

/// Only for tests, or evaluated by the compiler?
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("test")
            || a.path().is_ident("cfg")
                && matches!(&a.meta, syn::Meta::List(l) if l.tokens.to_string().contains("test"))
    })
}

impl Finder<'_> {
    fn range(&self, node: &impl Spanned) -> Range<usize> {
        node.span().byte_range()
    }
    fn add(&mut self, span: Range<usize>, text: String, what: String) {
        let (line, source) = line_at(self.text, span.start);
        let within = self.within.join("::");
        self.found.push(Mutant { id: 0, file: self.file.into(), line, span, text, within, what, source });
    }
    /// This expression becomes that one.
    fn instead(&mut self, node: &impl Spanned, other: String, what: impl Into<String>) {
        let span = self.range(node);
        let text = format!("(if {{on}} {{ {other} }} else {{ {} }})", &self.text[span.clone()]);
        self.add(span, text, what.into());
    }
    fn condition(&mut self, e: &syn::Expr, is_loop: bool) {
        if has_let(e) {
            return;
        }
        let span = self.range(e);
        let old = &self.text[span.clone()];
        let (always, never) = (format!("({{on}} || ({old}))"), format!("(!{{on}} && ({old}))"));
        let shown = short(old);
        if !is_loop {
            self.add(span.clone(), always, format!("condition `{shown}` always true"));
        }
        self.add(span, never, format!("condition `{shown}` never true"));
    }
    fn function(&mut self, name: &syn::Ident, sig: &syn::Signature, block: &syn::Block) {
        if sig.constness.is_some() || block.stmts.is_empty() {
            return;
        }
        self.within.push(name.to_string());
        let at = self.range(block).start + 1;
        for value in simple_values(&sig.output) {
            self.add(at..at, format!(" if {{on}} {{ return {value}; }}"), format!("returns `{value}` at once"));
        }
        visit::visit_block(self, block);
        self.within.pop();
    }
}

fn has_let(e: &syn::Expr) -> bool {
    match e {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        _ => false,
    }
}

fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
}

/// What a function with this result might return without doing anything.
fn simple_values(output: &syn::ReturnType) -> &'static [&'static str] {
    let syn::ReturnType::Type(_, ty) = output else { return &["()"] };
    let syn::Type::Path(path) = &**ty else { return &[] };
    let Some(last) = path.path.segments.last() else { return &[] };
    match last.ident.to_string().as_str() {
        "bool" => &["true", "false"],
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            &["0", "1"]
        }
        "f64" => &["0.0"],
        "Option" => &["None"],
        "Vec" | "String" => &["Default::default()"],
        _ => &[],
    }
}

fn other_operator(op: &syn::BinOp) -> Option<&'static str> {
    use syn::BinOp::*;
    Some(match op {
        Lt(_) => "<=",
        Le(_) => "<",
        Gt(_) => ">=",
        Ge(_) => ">",
        Eq(_) => "!=",
        Ne(_) => "==",
        Add(_) => "-",
        Sub(_) => "+",
        Mul(_) => "+",
        Div(_) => "*",
        Rem(_) => "/",
        And(_) => "||",
        Or(_) => "&&",
        BitAnd(_) => "|",
        BitOr(_) => "&",
        BitXor(_) => "|",
        Shl(_) => ">>",
        Shr(_) => "<<",
        AddAssign(_) => "-=",
        SubAssign(_) => "+=",
        MulAssign(_) => "+=",
        BitAndAssign(_) => "|=",
        BitOrAssign(_) => "&=",
        BitXorAssign(_) => "|=",
        ShlAssign(_) => ">>=",
        ShrAssign(_) => "<<=",
        _ => return None,
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, m: &'ast syn::ItemMod) {
        if !is_test(&m.attrs) {
            visit::visit_item_mod(self, m);
        }
    }
    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        if !is_test(&f.attrs) {
            self.function(&f.sig.ident, &f.sig, &f.block);
        }
    }
    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        if !is_test(&f.attrs) {
            self.function(&f.sig.ident, &f.sig, &f.block);
        }
    }
    fn visit_trait_item_fn(&mut self, f: &'ast syn::TraitItemFn) {
        if let Some(block) = &f.default {
            self.function(&f.sig.ident, &f.sig, block);
        }
    }
    fn visit_item_impl(&mut self, i: &'ast syn::ItemImpl) {
        if is_test(&i.attrs) {
            return;
        }
        // Text for people to look at while they search for an error.
        if i.trait_.as_ref().is_some_and(|t| t.0.segments.last().is_some_and(|s| s.ident == "Debug")) {
            return;
        }
        let name = short(&self.text[self.range(&i.self_ty)]);
        self.within.push(name);
        visit::visit_item_impl(self, i);
        self.within.pop();
    }
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_expr_repeat(&mut self, e: &'ast syn::ExprRepeat) {
        self.visit_expr(&e.expr); // the length is a constant
    }

    fn visit_expr_if(&mut self, e: &'ast syn::ExprIf) {
        self.condition(&e.cond, false);
        visit::visit_expr_if(self, e);
    }
    fn visit_expr_while(&mut self, e: &'ast syn::ExprWhile) {
        self.condition(&e.cond, true);
        visit::visit_expr_while(self, e);
    }
    fn visit_expr_match(&mut self, e: &'ast syn::ExprMatch) {
        let wild = |a: &syn::Arm| matches!(a.pat, syn::Pat::Wild(_));
        let has_rest = e.arms.last().is_some_and(wild);
        for a in &e.arms {
            if let syn::Pat::Guard(p) = &a.pat {
                self.condition(&p.guard, false);
                self.visit_expr(&p.guard);
            } else if has_rest && !wild(a) {
                let at = self.range(&a.pat).end;
                let shown = short(&self.text[self.range(&a.pat)]);
                self.add(at..at, " if !{on}".into(), format!("no arm `{shown}`"));
            }
        }
        visit::visit_expr_match(self, e);
    }
    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        if let Some(op) = other_operator(&e.op)
            && !has_let(&e.left)
            && !has_let(&e.right)
        {
            let (l, r) = (self.range(&e.left), self.range(&e.right));
            let old = self.text[self.range(&e.op)].to_string();
            let other = format!("{} {op} {}", &self.text[l], &self.text[r]);
            self.instead(e, other, format!("`{old}` becomes `{op}`"));
        }
        visit::visit_expr_binary(self, e);
    }
    fn visit_expr_unary(&mut self, e: &'ast syn::ExprUnary) {
        if matches!(e.op, syn::UnOp::Not(_) | syn::UnOp::Neg(_)) {
            let inner = self.text[self.range(&e.expr)].to_string();
            let op = self.text[self.range(&e.op)].to_string();
            self.instead(e, inner, format!("`{op}` is dropped"));
        }
        visit::visit_expr_unary(self, e);
    }
    fn visit_expr_lit(&mut self, e: &'ast syn::ExprLit) {
        match &e.lit {
            syn::Lit::Int(n) => {
                let Ok(value) = n.base10_parse::<u64>() else { return };
                let Some(more) = value.checked_add(1) else { return };
                self.instead(e, format!("{more}{}", n.suffix()), format!("{value} becomes {more}"));
            }
            syn::Lit::Bool(b) => {
                self.instead(e, (!b.value).to_string(), format!("{} becomes {}", b.value, !b.value))
            }
            _ => {}
        }
    }
    fn visit_stmt(&mut self, s: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(e, Some(_)) = s
            && matches!(
                e,
                syn::Expr::Call(_)
                    | syn::Expr::MethodCall(_)
                    | syn::Expr::Assign(_)
                    | syn::Expr::Try(_)
                    | syn::Expr::Continue(_)
                    | syn::Expr::Binary(_)
            )
        {
            let span = self.range(s);
            let old = self.text[span.clone()].to_string();
            let what = format!("no `{}`", short(&old));
            self.add(span, format!("if !{{on}} {{ {old} }}"), what);
        }
        visit::visit_stmt(self, s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        mutants(Path::new("x.rs"), text).into_iter().map(|m| format!("{}: {}", m.within, m.what)).collect()
    }

    #[test]
    fn places_for_faults_are_found() {
        let found = all("fn f(a: u32) -> bool { if a < 2 { g(a); } !h(a) }");
        assert_eq!(
            found,
            [
                "f: returns `true` at once",
                "f: returns `false` at once",
                "f: condition `a < 2` always true",
                "f: condition `a < 2` never true",
                "f: `<` becomes `<=`",
                "f: 2 becomes 3",
                "f: no `g(a);`",
                "f: `!` is dropped",
            ]
        );
        assert_eq!(
            all("fn f(a: u32) { match a { 1 => x(), _ => y() } }"),
            ["f: returns `()` at once", "f: no arm `1`"]
        );
    }

    #[test]
    fn constants_types_patterns_and_tests_are_left_alone() {
        let text = "const A: u32 = 1 + 2; const fn f() -> u32 { 1 } static S: [u8; 3] = [0; 3];
            #[cfg(test)] mod tests { fn f() -> bool { 1 < 2 } } #[test] fn t() { g(); }";
        assert_eq!(all(text), [""; 0]);
    }
}
