//! `c-export`: what C may call by name, and how C declares it.
//!
//! ```text
//! (c-export double "area" (shape f64vector (function int (double))) area)
//!   ⟶  (make-c-export 0 "area" #u8(12 16 50 14) #(double shape f64vector function)
//!                     (%vector #f shape #f #f) #(0 131 0 0)
//!                     (%vector #f #f #f (lambda (p) (c-procedure int "function" (double) p))) area)
//! ```
//!
//! The procedure gets a number, by which C asks for it; names and types go to who makes the shared library
//! ([`CExport`]). A structure by value is one of a `define-c-struct` at top level, for the header has its declaration
//! ([`CStruct`]); the library compares the shapes with those of the structures that there are when the program runs
//! (`make-c-export`). A vector is an address and a number of elements, and the element's type is in its name;
//! `(const f64vector)` is one that C lends for reading. A function that C gives becomes a procedure.

use super::c::{EXPORT, Of, is_c_name, no};
use super::meaning::{Binding, Meaning};
use super::prims::fixnum;
use super::state::{CDeclared, CExport, CStruct, Expander, R};
use crate::syntax::{Datum, Syntax};
use cairn_core::ir::{Clause, Expr, Lambda, Literal};
use cairn_core::prim::PrimOp;
use cairn_layout::c::{CType, VectorType};
use cairn_layout::code::Site;
use cairn_layout::object::numeric::NumericKind;
use cairn_num::{Int, Number};
use std::rc::Rc;

/// A type of an exported procedure.
struct Exported {
    declared: CDeclared,
    /// Its number for the runtime.
    code: u8,
    name: Rc<str>,
    /// The structure that it is, and how that travels.
    structure: Option<(Syntax, i64)>,
    /// The types of the function that it is, that of the result first.
    function: Option<[Syntax; 2]>,
}

const FUNCTION: &str = "(function result-type (argument-type …))";

/// The name of a structure or a field in C.
fn in_c(name: &str) -> Option<String> {
    let name = name.replace('-', "_");
    is_c_name(&name).then_some(name)
}

/// The homogeneous vectors that C and C++ have a type for the elements of, by their names.
fn vector_named(name: &str) -> Option<NumericKind> {
    match name {
        "bytevector" => Some(NumericKind::U8),
        name => name.strip_suffix("vector").and_then(NumericKind::by_name).filter(|kind| !kind.is_complex()),
    }
}

impl Expander<'_> {
    /// How C declares a structure with these fields, if it can.
    pub(super) fn c_declaration(
        &mut self,
        name: &str,
        fields: &[(Rc<str>, Syntax, Option<Syntax>)],
    ) -> Option<CStruct> {
        let mut declared: Vec<(String, CDeclared, Option<usize>)> = Vec::new();
        for (name, t, length) in fields {
            let length = match length {
                Some(length) => Some(super::c_structs::natural(length)?),
                None => None,
            };
            let name = in_c(name)?;
            if declared.iter().any(|(other, ..)| *other == name) || length == Some(0) {
                return None;
            }
            declared.push((name, self.c_declared(t)?, length));
        }
        (!declared.is_empty()).then_some(CStruct { name: in_c(name)?, fields: declared })
    }

    /// How C declares something of a type.
    fn c_declared(&mut self, t: &Syntax) -> Option<CDeclared> {
        let name = self.c_name(t)?;
        if CType::by_name(&name).is_some() {
            return Some(CDeclared::Named(name.to_string()));
        }
        let Meaning::Bound(Binding::Global(g)) = self.resolve(t.as_ident()?) else { return None };
        self.s.c_declarations.get(&g).cloned().map(CDeclared::Struct)
    }

    fn c_exported(&mut self, x: &Syntax, is_result: bool) -> R<Exported> {
        let simple = |t: CType, name: &Rc<str>, declared: CDeclared| Exported {
            declared,
            code: t.code(),
            name: name.clone(),
            structure: None,
            function: None,
        };
        if let Some([head, result, types]) = x.as_list()
            && self.c_name(head).as_deref() == Some("function")
        {
            if is_result {
                let message = "a result cannot be a function: the type is pointer, of what `c-callback` makes";
                return self.err_help(x.span, message, EXPORT);
            }
            let signature = self.c_signature(result, types, Of::Procedure, FUNCTION)?;
            let all: Vec<&Syntax> = std::iter::once(result).chain(types.as_list().unwrap_or_default()).collect();
            let mut declared = Vec::new();
            for t in &all {
                let Some(d) = self.c_declared(t) else {
                    let message = "the header has no name for this type";
                    return self.err_help(t.span, message, FUNCTION);
                };
                declared.push(d);
            }
            debug_assert_eq!(signature.types.len(), declared.len());
            let mut made = simple(CType::Pointer, &"function".into(), CDeclared::Function(declared));
            made.function = Some([result.clone(), types.clone()]);
            return Ok(made);
        }
        let (t, constant) = match x.as_list() {
            // what C gets is the library's
            Some([head, t]) if !is_result && self.c_name(head).as_deref() == Some("const") => (t, true),
            _ => (x, is_result),
        };
        let name = self.c_name(t);
        if let Some((name, kind)) = name.as_ref().and_then(|name| Some((name, vector_named(name)?))) {
            let vector = VectorType { kind, constant };
            let mut made = simple(CType::Bytes, name, CDeclared::Vector(vector));
            made.code = vector.code();
            return Ok(made);
        }
        let name = self.c_name(x);
        if let Some(name) = &name
            && self.is_bound(x)
        {
            let shape = self.c_layout_of(x).and_then(|layout| layout.shape());
            let (Some(declared @ CDeclared::Struct(_)), Some(shape)) = (self.c_declared(x), shape) else {
                let message = format!("the header cannot declare the structure `{name}`: the type is pointer");
                let help = "by value go structures of a define-c-struct at top level before this, whose arrays have \
                            literal lengths, and whose names, with _ for -, are names of C";
                return self.err_help(x.span, message, help);
            };
            let mut made = simple(CType::Struct, name, declared);
            made.structure = Some((x.clone(), shape.code()));
            return Ok(made);
        }
        let (t, name) = self.c_type(x)?;
        if t == CType::Void && !is_result {
            return self.err_help(x.span, "only a result can be void", EXPORT);
        }
        Ok(simple(t, &name, CDeclared::Named(name.to_string())))
    }

    pub(super) fn c_export(
        &mut self,
        x: &Syntax,
        result: &Syntax,
        name: &Syntax,
        types: &Syntax,
        procedure: &Syntax,
    ) -> R<Expr> {
        let Datum::String(text) = &name.datum else {
            return self.err_help(name.span, "the name of the function in C is expected here, a string", EXPORT);
        };
        let text: Rc<str> = text.to_string().into();
        if !is_c_name(&text) {
            let help = "a name of C has letters of ASCII, digits and underscores, and is no keyword";
            return self.err_help(name.span, format!("a function of C cannot be called `{text}`"), help);
        }
        let before = self.s.c_exports.iter().position(|e| *e.name == *text);
        // what is typed at a prompt may be typed again
        if before.is_some() && self.s.serves {
            return self.err(name.span, format!("`{text}` is exported twice"));
        }
        let list = match (&types.datum, types.as_list()) {
            (Datum::Nil, _) => &[][..],
            (_, Some(list)) => list,
            _ => return self.err_help(types.span, "a list of types is expected here", EXPORT),
        };
        let mut all = vec![self.c_exported(result, true)?];
        for t in list {
            all.push(self.c_exported(t, false)?);
        }
        let number = before.unwrap_or(self.s.c_exports.len());
        let export = CExport { name: text.to_string(), types: all.iter().map(|t| t.declared.clone()).collect() };
        match self.s.c_exports.get_mut(number) {
            Some(earlier) => *earlier = export,
            None => self.s.c_exports.push(export),
        }
        let codes = Expr::Const(Literal::Bytes(all.iter().map(|t| t.code).collect()));
        let symbols = Expr::Const(Literal::Vector(all.iter().map(|t| Literal::Symbol(t.name.clone())).collect()));
        let vector = |args| Expr::Prim { op: PrimOp::Vector, args, site: Site::NONE, proven: 0 };
        let (mut structs, mut shapes) = (no(), no());
        if all.iter().any(|t| t.structure.is_some()) {
            let variables = all.iter().map(|t| t.structure.as_ref().map_or_else(no, |(s, _)| self.expr(s)));
            structs = vector(variables.collect());
            let codes = all.iter().map(|t| t.structure.as_ref().map_or(0, |(_, shape)| *shape));
            let codes = codes.map(|n| Literal::Number(Number::Int(Int::Fix(n)))).collect();
            shapes = Expr::Const(Literal::Vector(codes));
        }
        let mut functions = no();
        if all.iter().any(|t| t.function.is_some()) {
            let mut made = Vec::new();
            for t in &all {
                made.push(match &t.function {
                    Some([result, types]) => self.c_given(x, name, result, types)?,
                    None => no(),
                });
            }
            functions = vector(made);
        }
        let procedure = self.expr(procedure);
        let name = Expr::Const(Literal::String(text));
        let args = vec![fixnum(number as i64), name, codes, symbols, structs, shapes, functions, procedure];
        self.library_call("c", "make-c-export", args, x.span)
    }

    /// What makes a procedure of a function that C gives to the exported procedure `name`.
    fn c_given(&mut self, x: &Syntax, name: &Syntax, result: &Syntax, types: &Syntax) -> R<Expr> {
        let p = self.s.program.fresh_var("p");
        let body = self.c_procedure(x, [result, name, types], Expr::Local(p), None)?;
        let clauses = vec![Clause { params: vec![p], rest: None, body }];
        Ok(Expr::Lambda(Lambda { name: "function".into(), clauses, site: self.plain_site(x.span) }))
    }
}
