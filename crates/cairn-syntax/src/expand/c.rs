//! `c-procedure`, `c-callback`, `c-type` and `define-c-struct`; `c-export` is in [`super::c_export`].
//!
//! ```text
//! (c-procedure int "abs" (int))
//!   ⟶  (let* ((f (c-function "abs" #f #u8(5 5) #(int int))) (address (c-function-address f)))
//!         (lambda abs (x)
//!           (if (and (%c-quiet? address) (%fixnum? x) (%fx<= -2147483648 x) …)
//!               (%c-call 85 address 0 x)
//!               (c-apply f (%vector x)))))
//! ```
//!
//! Types are known by their names, which nobody has to import, and which mean nothing elsewhere. What `c-apply` does is
//! in `lib/cairn/c.sld`: it checks, converts and calls, whatever the types are. Where none of them needs a copy, the
//! call is written out for arguments that are right ([`cairn_layout::c::direct`]), and `c-apply` has the errors.
//!
//! Of a function of a C source that is small enough to be inlined, `library` is `(c:inlined "number" library)`: the
//! call that is written out goes by the number, and needs no `%c-quiet?`, for such a function calls nothing.
//!
//! ```text
//! (define-c-struct point (x int) (name (array char 8)))
//!   ⟶  point       = (make-c-struct 'point (%vector 'x 5 #f 'name 2 8))
//!      make-point  = (c-struct-maker point)
//!      point-x     = (c-struct-getter point 0)      set-point-x! = (c-struct-setter point 0)   …
//! ```
//!
//! where each of the last three is in a procedure that has the name, so that errors have it:
//!
//! ```text
//!      point-x     = (let ((procedure (c-struct-getter point 0 "point-x"))) (lambda (at) (procedure at)))
//! ```

use super::core::Core;
use super::items::Item;
use super::meaning::{Binding, Meaning, Target};
use super::prims::{fixnum, prim, prim_proven};
use super::record_code::all_of;
use super::state::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::{Datum, Ident, Syntax};
use cairn_core::ir::{Clause, Expr, GlobalId, Lambda, Literal, TopForm, VarId};
use cairn_core::prim::{Op, PrimOp};
use cairn_core::rewrite;
use cairn_layout::c::{CType, Passed, direct};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use std::rc::Rc;

const PROCEDURE: &str = "(c-procedure result-type \"name\" (argument-type …)) or (c-procedure result-type \"name\" \
                         (argument-type …) library), where result-type may be (blocking type)";
const TYPES: &str = "types are void, bool, char, signed-char, short, int, long, long-long, these with unsigned-, \
                     size_t, ssize_t, intptr_t, uintptr_t, int8 to int64, uint8 to uint64, float, double, string, pointer, \
                     bytevector, and structures of define-c-struct; in c-export also f64vector and its kin, \
                     (const f64vector) and (function result-type (argument-type …))";
const CALLBACK: &str = "(c-callback result-type (argument-type …) procedure)";
pub(super) const EXPORT: &str = "(c-export result-type \"name\" (argument-type …) procedure)";
const STRUCT: &str =
    "(define-c-struct name (field type) …), where type is one of C, a structure, or (array type length)";

/// A call that compiled code makes itself.
struct Direct<'a> {
    /// How the result and the arguments travel.
    passed: &'a [Passed],
    signature: &'a Signature,
    /// The variable with the function's address.
    address: VarId,
    /// The number of an inlined function.
    inlined: Option<i64>,
}

/// The types of a call that compiled code makes itself, if there is one. A text that is returned may lie in what was
/// passed, which may move afterwards.
fn types_passed_directly(types: &[CType]) -> Option<Vec<CType>> {
    let lies_somewhere = |t: &CType| matches!(t, CType::String | CType::Bytes);
    if types[0] == CType::String && types[1..].iter().any(lies_somewhere) {
        return None;
    }
    let result = if types[0] == CType::String { CType::Pointer } else { types[0] };
    let arguments = types[1..].iter().map(|t| if lies_somewhere(t) { direct::ELEMENTS } else { *t });
    Some(std::iter::once(result).chain(arguments).collect())
}

/// The type of what is no structure.
fn scalar(p: &Passed) -> Option<CType> {
    match p {
        Passed::Scalar(t) => Some(*t),
        Passed::Struct(_) => None,
    }
}

/// A call of the runtime.
fn runtime(name: &str, args: Vec<Expr>) -> Expr {
    let op = PrimOp::by_name(name).expect("a row of the table of runtime calls");
    Expr::Prim { op, args, site: Site::NONE, proven: 0 }
}

/// The types of a function, that of the result first, with their names.
pub(super) struct Signature {
    pub(super) types: Vec<CType>,
    names: Vec<Rc<str>>,
    /// The variables of those that are structures.
    structs: Vec<Option<Syntax>>,
}

/// Who calls a function: what can be passed depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Scheme calls C.
    Procedure,
    /// C calls a pointer.
    Callback,
}

/// What no function can be called in C.
const C_KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "asm",
    "typeof", "bool", "main",
];

pub(super) fn is_c_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !C_KEYWORDS.contains(&name)
}

pub(super) fn no() -> Expr {
    Expr::Const(Literal::Bool(false))
}

impl Signature {
    fn codes(&self) -> Expr {
        Expr::Const(Literal::Bytes(self.types.iter().map(|t| t.code()).collect()))
    }
    fn symbols(&self) -> Expr {
        Expr::Const(Literal::Vector(self.names.iter().map(|n| Literal::Symbol(n.clone())).collect()))
    }
}

impl Expander<'_> {
    pub(super) fn form_c(&mut self, core: Core, x: &Syntax, args: &[Syntax]) -> R<Expr> {
        match (core, args) {
            (Core::CProcedure, [result, name, types]) => self.c_procedure(x, [result, name, types], no(), None),
            (Core::CProcedure, [result, name, types, library]) => {
                let (library, number) = self.c_inlined(library);
                let library = self.expr(library);
                self.c_procedure(x, [result, name, types], library, number)
            }
            (Core::CCallback, [result, types, procedure]) => {
                let signature = self.c_signature(result, types, Of::Callback, CALLBACK)?;
                let structs = self.c_structs(&signature);
                let procedure = self.expr(procedure);
                let args = vec![signature.codes(), signature.symbols(), structs, procedure];
                self.library_call("c", "make-c-callback", args, x.span)
            }
            (Core::CExport, [result, name, types, procedure]) => self.c_export(x, result, name, types, procedure),
            // the name of a structure is a variable
            (Core::CType, [t]) if self.is_bound(t) => Ok(self.expr(t)),
            (Core::CType, [t]) => match self.c_type(t)? {
                (CType::Void | CType::Bytes, name) => {
                    self.err(t.span, format!("nothing in memory has the type `{name}`"))
                }
                (known, _) => Ok(fixnum(known.code() as i64)),
            },
            (Core::CProcedure, _) => self.err_help(x.span, "bad `c-procedure`", PROCEDURE),
            (Core::CCallback, _) => self.err_help(x.span, "bad `c-callback`", CALLBACK),
            (Core::CExport, _) => self.err_help(x.span, "bad `c-export`", EXPORT),
            _ => self.err_help(x.span, "bad `c-type`", "(c-type type)"),
        }
    }

    /// The name of a type, without what macros made of it.
    pub(super) fn c_name(&self, x: &Syntax) -> Option<Rc<str>> {
        x.as_ident().map(|id| self.name(self.s.names.base(id)).clone())
    }

    /// Is it no type of C, but a variable?
    pub(super) fn is_bound(&self, x: &Syntax) -> bool {
        let no_type = self.c_name(x).is_some_and(|name| CType::by_name(&name).is_none());
        let bound = |id| matches!(self.resolve(id), Meaning::Bound(Binding::Local(_) | Binding::Global(_)));
        no_type && x.as_ident().is_some_and(bound)
    }

    pub(super) fn c_type(&mut self, x: &Syntax) -> R<(CType, Rc<str>)> {
        let Some(name) = self.c_name(x) else {
            return self.err_help(x.span, "the name of a type of C is expected here", TYPES);
        };
        match CType::by_name(&name) {
            Some(t) => Ok((t, name)),
            None => self.err_help(x.span, format!("`{name}` is no type of C"), TYPES),
        }
    }

    /// The type of an argument or a result, with the variable of a structure.
    fn c_passed(&mut self, x: &Syntax) -> R<(CType, Rc<str>, Option<Syntax>)> {
        match self.c_name(x) {
            Some(name) if self.is_bound(x) => {
                // the library of a header has variables of its own for structures that are passed
                let shown = name.strip_prefix("c:by-value:").map(|of_c| of_c.replace(':', " ").into());
                Ok((CType::Struct, shown.unwrap_or(name), Some(x.clone())))
            }
            _ => self.c_type(x).map(|(t, name)| (t, name, None)),
        }
    }

    /// A vector with the structures among the types, `#f` for the others; `#f` if there are none.
    fn c_structs(&mut self, signature: &Signature) -> Expr {
        if signature.structs.iter().all(Option::is_none) {
            return no();
        }
        let args = signature.structs.iter().map(|s| s.as_ref().map_or_else(no, |s| self.expr(s))).collect();
        Expr::Prim { op: PrimOp::Vector, args, site: Site::NONE, proven: 0 }
    }

    /// The types of a function.
    pub(super) fn c_signature(&mut self, result: &Syntax, types: &Syntax, of: Of, help: &str) -> R<Signature> {
        let called = of == Of::Procedure;
        let list = match (&types.datum, types.as_list()) {
            (Datum::Nil, _) => &[][..],
            (_, Some(list)) => list,
            _ => return self.err_help(types.span, "a list of types is expected here", help),
        };
        let (t, name, structure) = self.c_passed(result)?;
        if t == CType::Bytes || t == CType::String && !called {
            let message = format!("a result cannot be a {name}: nobody would keep its memory");
            return self.err_help(result.span, message, "a pointer can");
        }
        let mut signature = Signature { types: vec![t], names: vec![name], structs: vec![structure] };
        let mut varying = false;
        for x in list {
            if called && !varying && self.c_name(x).as_deref() == Some("...") {
                varying = true;
                continue;
            }
            let (t, name, structure) = self.c_passed(x)?;
            let message = match t {
                CType::Void => "only a result can be void".to_string(),
                CType::Bytes if !called => "C has no bytevectors to give: the type is pointer".to_string(),
                CType::F32 if varying => {
                    "a float cannot stand behind `...`: C makes it a double there".to_string()
                }
                _ => {
                    signature.types.push(t);
                    signature.names.push(name);
                    signature.structs.push(structure);
                    continue;
                }
            };
            return self.err_help(x.span, message, help);
        }
        Ok(signature)
    }

    /// The last form of a shared library: it answers C's calls.
    pub(super) fn serve_c(&mut self, span: Span) {
        match self.library_procedure("c", "c-serve", span) {
            // without a place: a backtrace ends with what C has called
            Ok(serve) => {
                let call = Expr::Call(serve.into(), Vec::new(), Site::NONE);
                self.s.program.forms.push(TopForm::Expr(call));
            }
            Err(e) => self.report(e),
        }
    }

    /// The library of a function, and the number by which compiled code inlines it, if that is possible.
    fn c_inlined<'a>(&self, library: &'a Syntax) -> (&'a Syntax, Option<i64>) {
        match library.as_list() {
            Some([head, Syntax { datum: Datum::String(number), .. }, library])
                if self.c_name(head).as_deref() == Some("c:inlined") =>
            {
                (library, number.to_string().parse().ok())
            }
            _ => (library, None),
        }
    }

    pub(super) fn c_procedure(
        &mut self,
        x: &Syntax,
        [result, name, types]: [&Syntax; 3],
        library: Expr,
        inlined: Option<i64>,
    ) -> R<Expr> {
        let Datum::String(text) = &name.datum else {
            return self.err_help(name.span, "the name of a C function is expected here, a string", PROCEDURE);
        };
        let text: Rc<str> = text.to_string().into();
        let (result, blocking) = match result.as_list() {
            Some([head, t]) if self.c_name(head).as_deref() == Some("blocking") => (t, true),
            _ => (result, false),
        };
        let signature = self.c_signature(result, types, Of::Procedure, PROCEDURE)?;
        let structs = self.c_structs(&signature);
        let name = Expr::Const(Literal::String(text.clone()));
        let args = vec![name, library, signature.codes(), signature.symbols(), structs];
        let made = self.library_call("c", "c-function", args, x.span)?;
        let [f, address] = ["f", "address"].map(|name| self.s.program.fresh_var(name));
        let params: Vec<VarId> = signature.names[1..].iter().map(|n| self.s.program.fresh_var(n)).collect();
        let all = params.iter().map(|v| Expr::Local(*v)).collect();
        let all = Expr::Prim { op: PrimOp::Vector, args: all, site: Site::NONE, proven: 0 };
        // Without a place: what is wrong is shown where the user's code has called.
        let apply = self.library_procedure("c", if blocking { "c-apply-blocking" } else { "c-apply" }, x.span)?;
        let general = Expr::Call(apply.into(), vec![Expr::Local(f), all], Site::NONE);
        let types = if blocking { None } else { types_passed_directly(&signature.types) };
        let passed = types.and_then(|types| self.c_passed_directly(&types, &signature.structs));
        let passed = passed.filter(|p| match inlined {
            Some(_) => p
                .iter()
                .map(scalar)
                .collect::<Option<Vec<CType>>>()
                .is_some_and(|types| direct::is_possible(types[0], &types[1..])),
            None => direct::reaches(p[0], &p[1..]),
        });
        let body = match &passed {
            Some(passed) => {
                let of = Direct { passed, signature: &signature, address, inlined };
                self.c_direct(of, &params, general, x.span)?
            }
            None => general,
        };
        let clauses = vec![Clause { params, rest: None, body }];
        let lambda = Expr::Lambda(Lambda { name: text, clauses, site: self.plain_site(x.span) });
        let found = match passed.filter(|p| p.iter().any(|p| matches!(p, Passed::Struct(_)))) {
            None => {
                let found = self.library_procedure("c", "c-function-address", x.span)?;
                Expr::Call(found.into(), vec![Expr::Local(f)], Site::NONE)
            }
            Some(passed) => {
                let found = self.library_procedure("c", "c-direct-address", x.span)?;
                let codes = passed.iter().map(|p| match p {
                    Passed::Struct(shape) => shape.code(),
                    Passed::Scalar(_) => 0,
                });
                let codes = codes.map(|n| Literal::Number(Number::Int(Int::Fix(n)))).collect();
                let codes = Expr::Const(Literal::Vector(codes));
                Expr::Call(found.into(), vec![Expr::Local(f), codes], Site::NONE)
            }
        };
        let inner = Expr::Let(vec![(address, found)], lambda.into());
        self.c_functions.push(f);
        Ok(Expr::Let(vec![(f, made)], inner.into()))
    }

    /// How the types are passed, if that is known of the structures among them.
    fn c_passed_directly(&mut self, types: &[CType], structs: &[Option<Syntax>]) -> Option<Vec<Passed>> {
        let passed = types.iter().zip(structs).map(|(t, structure)| match structure {
            Some(variable) => self.c_layout_of(variable)?.shape().map(Passed::Struct),
            None => Some(Passed::Scalar(*t)),
        });
        passed.collect()
    }

    /// The value of a definition at top level; of a C procedure, function and address become variables of their own,
    /// defined by `out`, so that the lambda has no free variables and its calls are known.
    pub(super) fn lift_c_function(&mut self, e: Expr, library: bool, out: &mut Vec<TopForm>) -> Expr {
        let is_c = |e: &Expr| matches!(e, Expr::Let(b, _) if self.c_functions.contains(&b[0].0));
        if !is_c(&e) {
            return e;
        }
        let mut lifted: Vec<(VarId, GlobalId)> = Vec::new();
        let mut e = e;
        while let Expr::Let(bindings, body) = e {
            for (v, mut init) in bindings {
                let g = self.fresh_global("c-function", library);
                globals_for(&mut init, &lifted);
                out.push(TopForm::Define(g, init));
                lifted.push((v, g));
            }
            e = *body;
        }
        globals_for(&mut e, &lifted);
        e
    }

    /// The call written out for arguments that are right.
    fn c_direct(
        &mut self,
        Direct { passed, signature, address, inlined }: Direct<'_>,
        params: &[VarId],
        general: Expr,
        span: Span,
    ) -> R<Expr> {
        // what is passed for strings and vectors
        let mut elements: Vec<(VarId, Expr)> = Vec::new();
        let mut arguments: Vec<VarId> = params.to_vec();
        for ((p, t), v) in passed[1..].iter().zip(&signature.types[1..]).zip(&mut arguments) {
            if matches!(p, Passed::Scalar(direct::ELEMENTS)) {
                let strings = Expr::Const(Literal::Bool(*t == CType::String));
                let found = runtime("c-elements", vec![Expr::Local(*v), strings]);
                *v = self.s.program.fresh_var("elements");
                elements.push((*v, found));
            }
        }
        let params = &arguments[..];
        let quiet = inlined.is_none().then(|| prim_proven(Op::CIsQuiet, vec![Expr::Local(address)], 1));
        let mut tests: Vec<Expr> = quiet.into_iter().collect();
        if passed.iter().any(|p| matches!(p, Passed::Struct(_))) {
            tests.push(prim(Op::IsFixnum, vec![Expr::Local(address)]));
        }
        for (p, v) in passed[1..].iter().zip(params) {
            let is = |op| prim(op, vec![Expr::Local(*v)]);
            let t = match p {
                Passed::Struct(shape) => {
                    let holds = prim_proven(Op::CHolds, vec![Expr::Local(*v), fixnum(shape.bytes as i64)], 2);
                    let test = self.library_procedure("c", "pointer?", span)?;
                    let test = Expr::Call(test.into(), vec![Expr::Local(*v)], Site::NONE);
                    let yes = Expr::Const(Literal::Bool(true));
                    tests.push(Expr::If(holds.into(), yes.into(), test.into()));
                    continue;
                }
                Passed::Scalar(t) => t,
            };
            match *t {
                CType::Bool => {}
                CType::Char => {
                    let code = prim_proven(Op::CharToInteger, vec![Expr::Local(*v)], 1);
                    tests.push(is(Op::IsChar));
                    tests.push(prim_proven(Op::FxLt, vec![code, fixnum(256)], 3));
                }
                CType::F32 | CType::F64 => tests.push(is(Op::IsFlonum)),
                CType::Pointer | direct::ELEMENTS => {
                    let test = self.library_procedure("c", "pointer?", span)?;
                    let mut test = Expr::Call(test.into(), vec![Expr::Local(*v)], Site::NONE);
                    if *t == direct::ELEMENTS {
                        let holds = prim_proven(Op::CHolds, vec![Expr::Local(*v), fixnum(0)], 2);
                        test = Expr::If(holds.into(), Expr::Const(Literal::Bool(true)).into(), test.into());
                    }
                    let null = Expr::Const(Literal::Bool(true));
                    tests.push(Expr::If(Expr::Local(*v).into(), test.into(), null.into()));
                }
                _ => {
                    tests.push(is(Op::IsFixnum));
                    let (least, greatest) = t.integers().unwrap_or_default();
                    let fits = |n: i128| i64::try_from(n).ok().filter(|n| n.unsigned_abs() < 1 << 60);
                    if let Some(n) = fits(least) {
                        tests.push(prim_proven(Op::FxLe, vec![fixnum(n), Expr::Local(*v)], 3));
                    }
                    if let Some(n) = fits(greatest) {
                        tests.push(prim_proven(Op::FxLe, vec![Expr::Local(*v), fixnum(n)], 3));
                    }
                }
            }
        }
        let (result, types) = direct::types(passed[0], &passed[1..]);
        let code = direct::code(result, &types);
        let mut args = vec![fixnum(code), Expr::Local(address), fixnum(inlined.unwrap_or(0))];
        let shape = |p: &Passed| match p {
            Passed::Struct(shape) => Some(fixnum(shape.code())),
            Passed::Scalar(_) => None,
        };
        args.extend(shape(&passed[0]));
        for (p, v) in passed[1..].iter().zip(params) {
            args.extend(shape(p).into_iter().chain([Expr::Local(*v)]));
        }
        let call = Expr::Prim { op: PrimOp::CCall, args, site: Site::NONE, proven: 0 };
        let call = match result {
            CType::I64 | CType::U64 | CType::Pointer => {
                let r = self.s.program.fresh_var("r");
                let local = || Expr::Local(r);
                let signed = Expr::Const(Literal::Bool(result == CType::I64));
                let wide = runtime("c-wide", vec![signed]);
                let word = Expr::If(prim(Op::IsFixnum, vec![local()]).into(), local().into(), wide.into());
                let value = match result {
                    CType::Pointer if signature.types[0] == CType::String => runtime("c-text", vec![word]),
                    CType::Pointer => {
                        let pointer = self.library_procedure("c", "address->pointer", span)?;
                        Expr::Call(pointer.into(), vec![word], Site::NONE)
                    }
                    _ => word,
                };
                Expr::Let(vec![(r, call)], value.into())
            }
            _ => call,
        };
        if tests.is_empty() {
            return Ok(call);
        }
        // the other way's result is of the type, too; this says so, and loops keep it in a register
        let general = match (inlined, result.integers()) {
            (Some(_), _) if result.is_floating() => {
                let one = Expr::Const(Literal::Number(Number::Flo(1.0)));
                prim_proven(Op::FlMul, vec![general, one], 3)
            }
            (_, Some((least, greatest))) if greatest < 1 << 32 => {
                let [least, most] = [least, greatest - least].map(|n| n as i64);
                let natural = prim_proven(Op::FxSub, vec![general, fixnum(least)], 3);
                let natural = prim_proven(Op::FxAnd, vec![natural, fixnum(most)], 3);
                prim_proven(Op::FxAdd, vec![natural, fixnum(least)], 3)
            }
            _ => general,
        };
        let either = Expr::If(all_of(tests).into(), call.into(), general.into());
        Ok(if elements.is_empty() { either } else { Expr::Let(elements, either.into()) })
    }

    pub(super) fn scan_c_struct(&mut self, form: &Syntax, parts: &[Syntax], items: &mut Vec<Item>) -> R<()> {
        let [_, name, fields @ ..] = parts else {
            return self.err_help(form.span, "bad `define-c-struct`", STRUCT);
        };
        let Some(id) = name.as_ident() else {
            return self.err_help(name.span, "the name of a structure is expected here", STRUCT);
        };
        let shown = self.name(id).clone();
        let symbol = |name: &Rc<str>| Expr::Const(Literal::Symbol(name.clone()));
        let mut described = Vec::new();
        let mut types: Vec<(Syntax, Option<Syntax>)> = Vec::new();
        let mut names: Vec<(Rc<str>, Span)> = Vec::new();
        for field in fields {
            let Some([field_name, t]) = field.as_list() else {
                return self.err_help(field.span, "a field is expected here", STRUCT);
            };
            let Some(field_id) = field_name.as_ident() else {
                return self.err_help(field_name.span, "the name of a field is expected here", STRUCT);
            };
            let field_text = self.name(field_id).clone();
            if names.iter().any(|(other, _)| *other == field_text) {
                return self.err(field_name.span, format!("the field `{field_text}` occurs twice"));
            }
            let (element, length) = match t.as_list() {
                Some([array, element, length]) if self.c_name(array).as_deref() == Some("array") => {
                    types.push((element.clone(), Some(length.clone())));
                    (element.clone(), self.expr(length))
                }
                Some(_) => return self.err_help(t.span, "a type is expected here", STRUCT),
                None => {
                    types.push((t.clone(), None));
                    (t.clone(), no())
                }
            };
            let known = self.c_name(&element).and_then(|n| CType::by_name(&n));
            let element = match known {
                Some(CType::Void | CType::Bytes) => {
                    return self.err(element.span, "nothing in memory has this type");
                }
                Some(t) => fixnum(t.code() as i64),
                None => self.expr(&element),
            };
            described.extend([symbol(&field_text), element, length]);
            names.push((field_text, field_name.span));
        }
        let described = Expr::Prim { op: PrimOp::Vector, args: described, site: Site::NONE, proven: 0 };
        let made = self.library_call("c", "make-c-struct", vec![symbol(&shown), described], form.span)?;
        let layout = self.c_layout(&types);
        let is_array: Vec<bool> = types.iter().map(|(_, length)| length.is_some()).collect();
        let fields = names.iter().zip(types).map(|((name, _), (t, length))| (name.clone(), t, length));
        let declaration = self.c_declaration(&shown, &fields.collect::<Vec<_>>());
        let target = self.declare(id, name.span)?;
        if let Target::Global(g) = target {
            match layout {
                Some(layout) => self.s.c_layouts.insert(g, layout),
                None => self.s.c_layouts.remove(&g),
            };
            match declaration {
                Some(declaration) => self.s.c_declarations.insert(g, declaration),
                None => self.s.c_declarations.remove(&g),
            };
        }
        self.built(items, target, id, made);
        // `arities`: how many arguments it may take
        let mut define = |e: &mut Self,
                          text: String,
                          procedure: &str,
                          i: Option<usize>,
                          arities: std::ops::RangeInclusive<usize>,
                          span: Span|
         -> R<()> {
            let own: Ident = e.s.names.like(id, &text);
            let own_target = e.declare(own, span)?;
            let mut args = vec![e.target(target, span)];
            args.extend(i.map(|i| fixnum(i as i64)));
            let name: Rc<str> = text.into();
            args.push(Expr::Const(Literal::String(name.clone())));
            let made = e.library_call("c", procedure, args, span)?;
            let named = e.under_name(name, made, arities, span);
            e.built(items, own_target, own, named);
            Ok(())
        };
        define(self, format!("make-{shown}"), "c-struct-maker", None, 0..=1, name.span)?;
        for (i, (field, span)) in names.into_iter().enumerate() {
            let (got, set) = if is_array[i] { (1..=2, 3..=3) } else { (1..=1, 2..=2) };
            define(self, format!("{shown}-{field}"), "c-struct-getter", Some(i), got, span)?;
            define(self, format!("set-{shown}-{field}!"), "c-struct-setter", Some(i), set, span)?;
        }
        Ok(())
    }

    /// A procedure of this name that calls the one made: a wrong count of arguments is an error of its own.
    fn under_name(
        &mut self,
        name: Rc<str>,
        made: Expr,
        arities: std::ops::RangeInclusive<usize>,
        span: Span,
    ) -> Expr {
        let site = self.site(span);
        let procedure = self.s.program.fresh_var("procedure");
        let clause = |n| {
            let params: Vec<VarId> = (0..n).map(|_| self.s.program.fresh_var("argument")).collect();
            let args = params.iter().map(|v| self.local(*v)).collect();
            Clause { params, rest: None, body: Expr::Call(self.local(procedure).into(), args, site) }
        };
        let clauses = arities.map(clause).collect();
        Expr::Let(vec![(procedure, made)], Expr::Lambda(Lambda { name, clauses, site }).into())
    }
}

/// Puts variables at top level into the place of local ones.
fn globals_for(e: &mut Expr, lifted: &[(VarId, GlobalId)]) {
    rewrite(e, &mut |e| {
        if let Expr::Local(v) = e
            && let Some((_, g)) = lifted.iter().find(|(l, _)| l == v)
        {
            *e = Expr::Global(*g, Site::NONE);
        }
    });
}
