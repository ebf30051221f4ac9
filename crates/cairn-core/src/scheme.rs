//! Core as Scheme for people: what `,expand` shows. It can be read and evaluated where it came from.
//!
//! ```text
//! (fix ((loop.0 (lambda loop (i.1) …))) (loop.0 0))              (let loop ((i 0)) …)
//! (let ((or.3 (@f.1 x.2))) (if or.3 or.3 (@g.4)))                (or (f x) (g))
//! (@guard*.9 (lambda guard (e.0) …) (lambda () …))               (guard (e (…)) …)
//! ```
//!
//! The problem: expanded code names variables by number and calls procedures that only the library can name. The idea:
//! a tree of what is to be written, in which the usual shapes are found again: named `let`, `and`, `or`, `let-values`,
//! record types, and the forms that are calls of the library's own procedures. Local variables keep their names, with
//! a number where another variable in scope, or a global one that is mentioned, has the same.
//!
//! The program is as the expander leaves it: variables are assigned, not boxes.

use crate::ir::{Clause, Expr, GlobalId, Lambda, Literal, Program, TopForm, VarId};
use crate::prim::{Kind, MAKE_RECORD_TYPE, Op, PrimOp};
use crate::print::print_literal;
use crate::walk::{deep, visit};
use cairn_num::{Int, Number};
use rustc_hash::{FxHashMap, FxHashSet};

/// Columns of a line.
const WIDTH: usize = 79;

/// Procedures of the library that forms are calls of.
const FORMS: [&str; 4] = ["guard*", "parameterize*", "delay*", "delay-force*"];

/// What is written.
#[derive(Clone, PartialEq, Debug)]
enum Tree {
    Atom(String),
    List(Vec<Tree>),
}

use Tree::{Atom, List};

fn atom(s: &str) -> Tree {
    Atom(s.to_string())
}

/// The forms of a program, as Scheme.
pub fn print_scheme(program: &Program) -> String {
    let mut taken = FxHashSet::default();
    for form in &program.forms {
        let (TopForm::Define(_, e) | TopForm::Expr(e)) = form;
        visit(e, &mut |e| {
            if let Expr::Global(g, _) | Expr::SetGlobal(g, _, _) = e {
                taken.insert(global(program, *g));
            }
            if let Expr::Prim { op, .. } = e {
                taken.insert(op.name().to_string());
            }
        });
    }
    for keyword in KEYWORDS {
        taken.insert(keyword.to_string());
    }
    let mut writer = Writer { program, names: FxHashMap::default(), taken };
    let mut out = String::new();
    let definitions = program.forms.iter().map(|f| match f {
        TopForm::Define(g, e) => (Some(Variable::Global(*g)), e),
        TopForm::Expr(e) => (None, e),
    });
    for tree in writer.definitions(&definitions.collect::<Vec<_>>()) {
        write(&tree, 0, 0, &mut out);
        out.push('\n');
    }
    out
}

/// What local variables are not called.
const KEYWORDS: [&str; 22] = [
    "define",
    "lambda",
    "case-lambda",
    "let",
    "letrec",
    "letrec*",
    "let-values",
    "if",
    "set!",
    "begin",
    "quote",
    "and",
    "or",
    "cond",
    "else",
    "guard",
    "parameterize",
    "delay",
    "delay-force",
    "values",
    "apply",
    "call/cc",
];

/// What a global variable is called. One that no name refers to gets one of its own.
fn global(program: &Program, g: GlobalId) -> String {
    let info = &program.globals[g.0 as usize];
    let name =
        if info.hidden && !info.library { format!("{}-{}", info.name, g.0).into() } else { info.name.clone() };
    print_literal(&Literal::Symbol(name))
}

/// What is defined.
#[derive(Clone, Copy, PartialEq)]
enum Variable {
    Global(GlobalId),
    Local(VarId),
}

impl Variable {
    fn is(self, e: &Expr) -> bool {
        match e {
            Expr::Global(g, _) => self == Variable::Global(*g),
            Expr::Local(v) => self == Variable::Local(*v),
            _ => false,
        }
    }
}

/// A variable, if it is a definition, and its value.
type Definition<'e> = (Option<Variable>, &'e Expr);

struct Writer<'a> {
    program: &'a Program,
    names: FxHashMap<VarId, String>,
    /// Names that a variable bound now must not have.
    taken: FxHashSet<String>,
}

impl Writer<'_> {
    /// Definitions and expressions, one after the other.
    fn definitions(&mut self, mut all: &[Definition]) -> Vec<Tree> {
        let mut trees = Vec::new();
        while let [(name, value), rest @ ..] = all {
            let used = match (self.record_type(all), name) {
                (Some((tree, used)), _) => {
                    trees.push(tree);
                    used
                }
                (None, Some(name)) => {
                    trees.push(self.definition(*name, value));
                    1
                }
                (None, None) => {
                    trees.push(self.expr(value));
                    1
                }
            };
            all = &rest[used - 1..];
        }
        trees
    }

    fn definition(&mut self, name: Variable, value: &Expr) -> Tree {
        let name = self.variable(name);
        if let Expr::Lambda(l) = value
            && let [clause] = &l.clauses[..]
        {
            return self.clause(clause, |params, body| {
                let head = match params {
                    List(params) => List(std::iter::once(name).chain(params).collect()),
                    rest => List(vec![name, atom("."), rest]),
                };
                [vec![atom("define"), head], body].concat()
            });
        }
        List(vec![atom("define"), name, self.expr(value)])
    }

    fn variable(&self, v: Variable) -> Tree {
        match v {
            Variable::Global(g) => atom(&global(self.program, g)),
            Variable::Local(v) => self.local(v),
        }
    }

    // ---- record types

    /// A record type whose definitions begin here, and how many there are.
    fn record_type(&mut self, all: &[Definition]) -> Option<(Tree, usize)> {
        let [(Some(rtd), Expr::Prim { op, args, .. }), rest @ ..] = all else { return None };
        let [Expr::Const(Literal::Symbol(name)), Expr::Const(fields), ..] = &args[..] else { return None };
        if *op != MAKE_RECORD_TYPE {
            return None;
        }
        let fields = symbols(fields)?;
        let is_rtd = |e: &Expr| rtd.is(e);
        let (mut constructor, mut predicate) = (atom("#f"), None);
        let mut of_fields: Vec<(Option<Tree>, Option<Tree>)> = vec![(None, None); fields.len()];
        let mut name = atom(name);
        let mut used = 1;
        for (variable, value) in rest {
            let Some(variable) = variable else { break };
            let own = self.variable(*variable);
            let lambda = match value {
                Expr::Lambda(Lambda { clauses, .. }) => match &clauses[..] {
                    [c] if c.rest.is_none() => c,
                    _ => break,
                },
                e if is_rtd(e) => {
                    name = own;
                    used += 1;
                    continue;
                }
                _ => break,
            };
            let Expr::Prim { op, args, .. } = &lambda.body else { break };
            let slot = |e: &Expr| match e {
                Expr::Const(Literal::Number(Number::Int(Int::Fix(n)))) => usize::try_from(*n).ok(),
                _ => None,
            };
            match (op, &args[..]) {
                (PrimOp::Record, [t, values @ ..]) if is_rtd(t) => {
                    let by_param = |p: &VarId| {
                        let mut set = values.iter().zip(&fields);
                        set.find(|(e, _)| is_local(e, *p)).map(|(_, f)| atom(f))
                    };
                    let parts: Option<Vec<Tree>> = lambda.params.iter().map(by_param).collect();
                    constructor = List(std::iter::once(own).chain(parts?).collect());
                }
                (PrimOp::Op(Op::IsInstance), [_, t]) if is_rtd(t) => predicate = Some(own),
                (PrimOp::Op(Op::RecordRef), [_, t, i]) if is_rtd(t) => of_fields.get_mut(slot(i)?)?.0 = Some(own),
                (PrimOp::Op(Op::RecordSet), [_, t, i, _]) if is_rtd(t) => {
                    of_fields.get_mut(slot(i)?)?.1 = Some(own)
                }
                _ => break,
            }
            used += 1;
        }
        let fields = fields.iter().zip(of_fields).map(|(f, (get, set))| match (get, set) {
            (Some(get), set) => Some(List([vec![atom(f), get], set.into_iter().collect()].concat())),
            (None, None) => Some(List(vec![atom(f)])),
            (None, Some(_)) => None,
        });
        let fields: Option<Vec<Tree>> = fields.collect();
        let head = vec![atom("define-record-type"), name, constructor, predicate.unwrap_or(atom("#f"))];
        if used == 1 {
            return None;
        }
        Some((List([head, fields?].concat()), used))
    }

    // ---- variables

    /// With names for these variables.
    fn bound<T>(&mut self, vars: &[VarId], f: impl FnOnce(&mut Self) -> T) -> T {
        let mut added = Vec::new();
        for v in vars {
            let base = print_literal(&Literal::Symbol(self.program.vars[v.0 as usize].name.clone()));
            let numbered = (1..).map(|i| format!("{base}{i}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|n| !self.taken.contains(n));
            let name = name.expect("numbers do not end");
            self.taken.insert(name.clone());
            self.names.insert(*v, name.clone());
            added.push(name);
        }
        let t = f(self);
        added.iter().for_each(|n| {
            self.taken.remove(n);
        });
        t
    }

    fn local(&self, v: VarId) -> Tree {
        atom(self.names.get(&v).map_or("?", |n| n))
    }

    fn clause(&mut self, c: &Clause, put: impl FnOnce(Tree, Vec<Tree>) -> Vec<Tree>) -> Tree {
        let all: Vec<VarId> = c.params.iter().chain(&c.rest).copied().collect();
        self.bound(&all, |w| {
            let params = w.params(c);
            let body = w.body(&c.body);
            List(put(params, body))
        })
    }

    fn params(&self, c: &Clause) -> Tree {
        let mut params: Vec<Tree> = c.params.iter().map(|p| self.local(*p)).collect();
        match c.rest {
            None => List(params),
            Some(r) if params.is_empty() => self.local(r),
            Some(r) => {
                params.extend([atom("."), self.local(r)]);
                List(params)
            }
        }
    }

    // ---- expressions

    fn body(&mut self, e: &Expr) -> Vec<Tree> {
        match e {
            Expr::Seq(es) => es.iter().flat_map(|e| self.body(e)).collect(),
            e => vec![self.expr(e)],
        }
    }

    fn all(&mut self, es: &[Expr]) -> Vec<Tree> {
        es.iter().map(|e| self.expr(e)).collect()
    }

    fn call(&mut self, head: &str, es: &[Expr]) -> Tree {
        let args = self.all(es);
        List([vec![atom(head)], args].concat())
    }

    fn expr(&mut self, e: &Expr) -> Tree {
        deep(|| match e {
            Expr::Const(l) => constant(l),
            Expr::Local(v) => self.local(*v),
            Expr::Global(g, _) => atom(&global(self.program, *g)),
            Expr::SetLocal(v, e) => List(vec![atom("set!"), self.local(*v), self.expr(e)]),
            Expr::SetGlobal(g, e, _) => List(vec![atom("set!"), atom(&global(self.program, *g)), self.expr(e)]),
            Expr::If(a, b, c) => self.conditional(a, b, c),
            Expr::Seq(_) => {
                let body = self.body(e);
                List([vec![atom("begin")], body].concat())
            }
            Expr::Let(bs, body) => self.binding(bs, body),
            Expr::Letrec(bs, body) => self.recursive("letrec*", bs.iter().map(|(v, e)| (*v, e)).collect(), body),
            Expr::Fix(bs, body) => {
                let lambdas: Vec<Expr> = bs.iter().map(|(_, l)| Expr::Lambda(l.clone())).collect();
                self.recursive("letrec", bs.iter().map(|b| b.0).zip(&lambdas).collect(), body)
            }
            Expr::Lambda(l) => self.lambda(l),
            Expr::Call(f, args, _) => self.special(f, args).unwrap_or_else(|| {
                let f = self.expr(f);
                let args = self.all(args);
                List([vec![f], args].concat())
            }),
            Expr::Apply(f, args, _) => {
                let f = self.expr(f);
                let args = self.all(args);
                List([vec![atom("apply"), f], args].concat())
            }
            Expr::Prim { op, args, .. } => self.call(op.name(), args),
            Expr::Values(es) => self.call("values", es),
            Expr::Receive { producer, clause, .. } => {
                let producer = self.expr(producer);
                self.clause(clause, |params, body| {
                    [vec![atom("let-values"), List(vec![List(vec![params, producer])])], body].concat()
                })
            }
            Expr::CallCc(shots, f, _) => List(vec![atom(shots.name()), self.expr(f)]),
            // the expander makes none
            Expr::Labels(..) | Expr::Jump(..) => atom("…"),
        })
    }

    fn conditional(&mut self, a: &Expr, b: &Expr, c: &Expr) -> Tree {
        if let (Expr::Const(Literal::Bool(true)), Expr::Prim { op, .. }) = (b, a)
            && op.result() == Kind::Boolean
        {
            let a = self.expr(a);
            return self.either(a, c);
        }
        if let Expr::Const(Literal::Bool(false)) = c {
            let mut parts = vec![atom("and"), self.expr(a)];
            match self.expr(b) {
                List(items) if items.first() == Some(&atom("and")) => parts.extend(items.into_iter().skip(1)),
                b => parts.push(b),
            }
            return List(parts);
        }
        let mut parts = vec![atom("if"), self.expr(a), self.expr(b)];
        if !matches!(c, Expr::Const(Literal::Unspecified)) {
            parts.push(self.expr(c));
        }
        List(parts)
    }

    /// `(or a b)`.
    fn either(&mut self, a: Tree, b: &Expr) -> Tree {
        let mut parts = vec![atom("or"), a];
        match self.expr(b) {
            List(items) if items.first() == Some(&atom("or")) => parts.extend(items.into_iter().skip(1)),
            b => parts.push(b),
        }
        List(parts)
    }

    fn binding(&mut self, bs: &[(VarId, Expr)], body: &Expr) -> Tree {
        if let ([(v, value)], Expr::If(a, b, c)) = (bs, body)
            && is_local(a, *v)
            && is_local(b, *v)
            && !mentions(c, *v)
        {
            let value = self.expr(value);
            return self.either(value, c);
        }
        let values: Vec<Tree> = bs.iter().map(|(_, e)| self.expr(e)).collect();
        let vars: Vec<VarId> = bs.iter().map(|b| b.0).collect();
        self.bound(&vars, |w| {
            let pairs = vars.iter().zip(values).map(|(v, e)| List(vec![w.local(*v), e])).collect();
            let body = w.body(body);
            List([vec![atom("let"), List(pairs)], body].concat())
        })
    }

    fn recursive(&mut self, form: &str, bs: Vec<(VarId, &Expr)>, body: &Expr) -> Tree {
        let vars: Vec<VarId> = bs.iter().map(|b| b.0).collect();
        if let ([(v, Expr::Lambda(l))], Expr::Call(f, args, _)) = (&bs[..], body)
            && let [c] = &l.clauses[..]
            && is_local(f, *v)
            && c.rest.is_none()
            && c.params.len() == args.len()
            && !args.iter().any(|a| mentions(a, *v))
        {
            let values = self.all(args);
            return self.bound(&vars, |w| {
                let name = w.local(*v);
                w.bound(&c.params, |w| {
                    let pairs = c.params.iter().zip(values).map(|(p, e)| List(vec![w.local(*p), e])).collect();
                    let body = w.body(&c.body);
                    List([vec![atom("let"), name, List(pairs)], body].concat())
                })
            });
        }
        let has_type = bs.iter().any(|(_, e)| matches!(e, Expr::Prim { op, .. } if *op == MAKE_RECORD_TYPE));
        self.bound(&vars, |w| {
            if has_type {
                let all: Vec<Definition> = bs.iter().map(|(v, e)| (Some(Variable::Local(*v)), *e)).collect();
                let definitions = w.definitions(&all);
                let body = w.body(body);
                return List([vec![atom("let"), List(vec![])], definitions, body].concat());
            }
            let pairs = bs.iter().map(|(v, e)| List(vec![w.local(*v), w.expr(e)])).collect();
            let body = w.body(body);
            List([vec![atom(form), List(pairs)], body].concat())
        })
    }

    fn lambda(&mut self, l: &Lambda) -> Tree {
        if let [c] = &l.clauses[..] {
            return self.clause(c, |params, body| [vec![atom("lambda"), params], body].concat());
        }
        let clauses = l.clauses.iter().map(|c| self.clause(c, |params, body| [vec![params], body].concat()));
        let clauses: Vec<Tree> = clauses.collect();
        List([vec![atom("case-lambda")], clauses].concat())
    }

    /// A form that is a call of one of the library's own procedures.
    fn special(&mut self, f: &Expr, args: &[Expr]) -> Option<Tree> {
        let Expr::Global(g, _) = f else { return None };
        let info = &self.program.globals[g.0 as usize];
        let name = FORMS.iter().find(|n| info.library && **n == &*info.name)?;
        match (*name, args) {
            ("guard*", [Expr::Lambda(handler), thunk]) => {
                let [Clause { params, rest: None, body: clauses }] = &handler.clauses[..] else { return None };
                let [condition] = params[..] else { return None };
                let body = self.body(thunk_body(thunk)?);
                let clauses = guard_clauses(clauses)?;
                Some(self.bound(&[condition], |w| {
                    let mut parts = vec![w.local(condition)];
                    for (test, then) in clauses {
                        parts.push(match test {
                            None => List([vec![atom("else")], w.body(then)].concat()),
                            Some((test, None)) => List([vec![w.expr(test)], w.body(then)].concat()),
                            Some((test, Some(t))) => {
                                let test = w.expr(test);
                                let receiver = w.bound(&[t], |w| {
                                    List([vec![atom("lambda"), List(vec![w.local(t)])], w.body(then)].concat())
                                });
                                List(vec![test, atom("=>"), receiver])
                            }
                        });
                    }
                    List([vec![atom("guard"), List(parts)], body].concat())
                }))
            }
            ("parameterize*", [bindings, thunk]) => {
                let mut pairs = Vec::new();
                let mut rest = bindings;
                while let Expr::Prim { op: PrimOp::Op(Op::Cons), args, .. } = rest {
                    let [Expr::Prim { op: PrimOp::Op(Op::Cons), args: pair, .. }, more] = &args[..] else {
                        return None;
                    };
                    pairs.push(List(self.all(pair)));
                    rest = more;
                }
                if !matches!(rest, Expr::Const(Literal::Nil)) {
                    return None;
                }
                let body = self.body(thunk_body(thunk)?);
                Some(List([vec![atom("parameterize"), List(pairs)], body].concat()))
            }
            ("delay*" | "delay-force*", [thunk]) => {
                let body = self.expr(thunk_body(thunk)?);
                Some(List(vec![atom(name.trim_end_matches('*')), body]))
            }
            _ => None,
        }
    }
}

/// A test, and the variable that its value has in what follows it.
type Test<'a> = Option<(&'a Expr, Option<VarId>)>;

/// The clauses of a guard, each a test (`None`: `else`) and what follows it.
fn guard_clauses(mut e: &Expr) -> Option<Vec<(Test<'_>, &Expr)>> {
    let mut clauses = Vec::new();
    loop {
        match e {
            Expr::Const(Literal::Bool(false)) => return Some(clauses),
            Expr::If(test, then, otherwise) => {
                clauses.push((Some((&**test, None)), thunk_body(then)?));
                e = otherwise;
            }
            Expr::Let(bindings, body) => {
                let ([(t, test)], Expr::If(_, then, otherwise)) = (&bindings[..], &**body) else { return None };
                clauses.push((Some((test, Some(*t))), thunk_body(then)?));
                e = otherwise;
            }
            e => {
                clauses.push((None, thunk_body(e)?));
                return Some(clauses);
            }
        }
    }
}

fn thunk_body(e: &Expr) -> Option<&Expr> {
    let Expr::Lambda(l) = e else { return None };
    match &l.clauses[..] {
        [Clause { params, rest: None, body }] if params.is_empty() => Some(body),
        _ => None,
    }
}

fn symbols(list: &Literal) -> Option<Vec<String>> {
    let (mut all, mut rest) = (Vec::new(), list);
    while let Literal::Pair(p) = rest {
        let Literal::Symbol(s) = &p.0 else { return None };
        all.push(s.to_string());
        rest = &p.1;
    }
    matches!(rest, Literal::Nil).then_some(all)
}

fn is_local(e: &Expr, v: VarId) -> bool {
    matches!(e, Expr::Local(w) if *w == v)
}

fn mentions(e: &Expr, v: VarId) -> bool {
    let mut found = false;
    visit(e, &mut |e| found |= matches!(e, Expr::Local(w) | Expr::SetLocal(w, _) if *w == v));
    found
}

fn constant(l: &Literal) -> Tree {
    match l {
        Literal::Unspecified => List(vec![atom("if"), atom("#f"), atom("#f")]),
        Literal::Eof => List(vec![atom("eof-object")]),
        Literal::Symbol(_) | Literal::Pair(_) | Literal::Vector(_) | Literal::Nil => {
            Atom(format!("'{}", print_literal(l)))
        }
        l => Atom(print_literal(l)),
    }
}

// ---- lines

fn flat(t: &Tree) -> String {
    match t {
        Atom(s) => s.clone(),
        List(items) => {
            let items: Vec<String> = items.iter().map(flat).collect();
            format!("({})", items.join(" "))
        }
    }
}

/// How many operands stand beside the keyword when a form takes several lines, if its body is indented.
fn beside(head: &str) -> Option<usize> {
    match head {
        "define" | "lambda" | "let-values" | "guard" | "parameterize" | "letrec" | "letrec*" => Some(1),
        "define-record-type" => Some(1),
        "case-lambda" | "begin" => Some(0),
        _ => None,
    }
}

/// Writes a tree that begins at `column`, with `behind` parentheses to follow it.
fn write(t: &Tree, column: usize, behind: usize, out: &mut String) {
    let line = flat(t);
    let List(items) = t else { return out.push_str(&line) };
    if column + line.chars().count() + behind <= WIDTH || items.len() < 2 {
        return out.push_str(&line);
    }
    deep(|| {
        let break_at = |out: &mut String, column: usize| {
            out.push('\n');
            out.push_str(&" ".repeat(column));
        };
        out.push('(');
        let head = flat(&items[0]);
        let (next, indentation, rest) = match (&items[0], &items[1..]) {
            // bindings, clauses
            (List(_), _) => {
                write(&items[0], column + 1, 0, out);
                (0, column + 1, &items[1..])
            }
            (Atom(word), operands) => {
                out.push_str(word);
                let is_named = word == "let" && matches!(operands[0], Atom(_));
                match if word == "let" { Some(1 + usize::from(is_named)) } else { beside(word) } {
                    Some(n) => {
                        let mut at = column + 1 + head.chars().count();
                        for o in operands.iter().take(n) {
                            out.push(' ');
                            write(o, at + 1, 0, out);
                            at += 1 + flat(o).chars().count();
                        }
                        (n.min(operands.len()), column + 2, operands)
                    }
                    None => {
                        out.push(' ');
                        let at = column + 2 + head.chars().count();
                        write(&operands[0], at, if operands.len() == 1 { behind + 1 } else { 0 }, out);
                        (1, at, operands)
                    }
                }
            }
        };
        for (i, item) in rest.iter().enumerate().skip(next) {
            break_at(out, indentation);
            write(item, indentation, if i + 1 == rest.len() { behind + 1 } else { 0 }, out);
        }
        out.push(')');
    });
}
