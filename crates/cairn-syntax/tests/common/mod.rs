//! What the tests share: a loader over memory and over `lib/`, a printer of Core as S-expressions, golden files.

#![allow(dead_code)]
use cairn_core::ir::{Clause, Expr, Lambda, Literal, Program, SourceFile, TopForm};
use cairn_core::verify::{Dialect, verify};
use cairn_num::{Int, Number};
use cairn_syntax::diagnostic::line_column;
use cairn_syntax::{Diagnostic, LibraryName, Loader, Session};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[path = "../../../../tests/support/golden.rs"]
pub mod golden;

/// The name that the source of a golden case goes by: its title begins with it.
pub fn file_name<'a>(case: &golden::Case<'a>) -> &'a str {
    case.title.split(',').next().unwrap_or_default()
}

/// Libraries and files in memory; optionally the real `lib/`.
#[derive(Default)]
pub struct Memory {
    pub libraries: HashMap<String, String>,
    pub files: HashMap<String, String>,
    pub real: bool,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Memory {
    pub fn stub() -> Memory {
        let mut m = Memory::default();
        for text in STUBS {
            m.add(text);
        }
        m
    }
    pub fn add(&mut self, text: &str) {
        let start = text.find("define-library").expect("a library") + "define-library".len();
        let name = &text[start + text[start..].find('(').expect("a name")..];
        let name = &name[..=name.find(')').expect("a name")];
        self.libraries.insert(name.to_string(), text.to_string());
    }
}

impl Loader for Memory {
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String> {
        if let Some(text) = self.libraries.get(&name.to_string()) {
            return Ok(Some((format!("lib/{}.sld", name.path()), text.clone())));
        }
        for folder in ["lib", "lib/more"] {
            let path = format!("{folder}/{}.sld", name.path());
            if self.real && root().join(&path).exists() {
                let text = std::fs::read_to_string(root().join(&path)).map_err(|e| e.to_string())?;
                return Ok(Some((path, text)));
            }
        }
        Ok(None)
    }
    fn load_include(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        match self.files.get(path) {
            Some(text) => Ok((path.to_string(), text.clone())),
            None if self.real => {
                let full = root().join(from).with_file_name(path);
                std::fs::read_to_string(&full).map(|t| (path.to_string(), t)).map_err(|e| e.to_string())
            }
            None => Err("no such file".to_string()),
        }
    }
}

/// Enough of lib/ for the expander's own tests.
const STUBS: &[&str] = &[
    "(define-library (cairn control)
       (import (cairn syntax) (cairn primitives))
       (export parameterize* guard* delay* delay-force* error wrong-type values call-with-values)
       (begin
         (define (parameterize* alist thunk) (thunk))
         (define (guard* handler thunk) (thunk))
         (define (delay* thunk) (%make-promise-object thunk))
         (define (delay-force* thunk) (%make-promise-object thunk))
         (define (error message . irritants) (%fatal message 0))
         (define (wrong-type who expected got) (%fatal expected 0))
         (define (values . xs) (%call/cc (lambda (k) (%apply k xs))))
         (define (call-with-values producer consumer)
           (%receive xs (producer) (%apply consumer xs)))))",
    "(define-library (scheme base)
       (import (cairn syntax) (cairn primitives) (cairn control))
       (export begin define define-values define-record-type define-syntax include include-ci cond-expand
               quote quasiquote unquote unquote-splicing lambda if set! let let* letrec letrec* let-values
               let*-values let-syntax letrec-syntax do case cond and or when unless parameterize guard
               syntax-rules syntax-error else => ... _
               values call-with-values error list append + - < = display
               (rename %car car) (rename %cdr cdr) (rename %cons cons) (rename %eq? eq?) (rename %null? null?)
               * > >= <= zero? reverse map length apply call/cc vector-ref
               (rename %not not) (rename %vector vector) (rename %pair? pair?) (rename %eqv? eqv?))
       (begin
         (define (list . xs) xs)
         (define (append a b) (if (%null? a) b (%cons (%car a) (append (%cdr a) b))))
         (define (+ a b) (%+ a b))
         (define (- a b) (%- a b))
         (define (< a b) (%< a b))
         (define (= a b) (%= a b))
         (define (* a b) (%* a b))
         (define (> a b) (%> a b))
         (define (>= a b) (%>= a b))
         (define (<= a b) (%<= a b))
         (define (zero? a) (%= a 0))
         (define (reverse xs) (let loop ((xs xs) (r '())) (if (%null? xs) r (loop (%cdr xs) (%cons (%car xs) r)))))
         (define (map f xs) (if (%null? xs) '() (%cons (f (%car xs)) (map f (%cdr xs)))))
         (define (length xs) (if (%null? xs) 0 (%+ 1 (length (%cdr xs)))))
         (define (apply f . xs) (%apply f (%car xs)))
         (define (call/cc f) (%call/cc f))
         (define (vector-ref v i) (%vector-ref v i))
         (define (display x) (%write-object x #f 0))))",
    "(define-library (scheme case-lambda) (import (cairn syntax)) (export case-lambda))",
    "(define-library (scheme lazy) (import (cairn syntax)) (export delay delay-force))",
];

/// The user's part of the expanded program (no forms of lib/), or the messages.
pub fn expand_text(path: &str, text: &str, loader: &mut Memory) -> String {
    match Session::new().expand_program(path, text, loader) {
        Ok(x) => {
            if let Err(complaints) = verify(&x.program, Dialect::Source) {
                panic!("{path} expands to a program that is not well-formed:\n{}", complaints.join("\n"));
            }
            let mut out = String::new();
            let p = Printer { program: &x.program, numbers: RefCell::default() };
            for form in &x.program.forms {
                let library = match form {
                    TopForm::Define(g, _) => x.program.globals[g.0 as usize].library,
                    TopForm::Expr(_) => false,
                };
                if !library {
                    let _ = writeln!(out, "{}", p.form(form));
                }
            }
            for w in &x.warnings {
                let _ = write!(out, "warning: {}", render(w, &x.sources));
            }
            out
        }
        Err(failed) => failed.errors.iter().map(|d| format!("error: {}", render(d, &failed.sources))).collect(),
    }
}

/// A message with line:column positions.
pub fn render(d: &Diagnostic, sources: &[SourceFile]) -> String {
    let at = |span: cairn_syntax::Span| {
        let Some(s) = sources.get(span.file as usize) else { return "?".to_string() };
        let (line, column) = line_column(&s.text, span.start);
        let (end_line, end_column) = line_column(&s.text, span.end);
        format!("{}:{line}:{column}-{end_line}:{end_column}", s.path)
    };
    let mut out = format!("{}: {}\n", at(d.span), d.message);
    for (span, text) in &d.notes {
        let _ = writeln!(out, "  note: {}: {text}", at(*span));
    }
    if let Some(help) = &d.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}

struct Printer<'p> {
    program: &'p Program,
    /// Local variables are numbered as they appear, so that the stubs can change.
    numbers: RefCell<HashMap<u32, usize>>,
}

impl Printer<'_> {
    fn form(&self, f: &TopForm) -> String {
        match f {
            TopForm::Define(g, e) => format!("(define {} {})", self.global(g.0), self.expr(e)),
            TopForm::Expr(e) => self.expr(e),
        }
    }
    fn global(&self, g: u32) -> String {
        let info = &self.program.globals[g as usize];
        format!("{}{}", info.name, if info.assigned { "!" } else { "" })
    }
    fn var(&self, v: u32) -> String {
        let info = &self.program.vars[v as usize];
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len() + 1;
        let n = *numbers.entry(v).or_insert(next);
        format!("{}{}.{n}", info.name, if info.assigned { "!" } else { "" })
    }
    fn all(&self, xs: &[Expr]) -> String {
        xs.iter().map(|x| format!(" {}", self.expr(x))).collect()
    }
    fn bindings(&self, bs: &[(cairn_core::ir::VarId, Expr)]) -> String {
        let all: Vec<String> = bs.iter().map(|(v, e)| format!("({} {})", self.var(v.0), self.expr(e))).collect();
        all.join(" ")
    }
    fn expr(&self, e: &Expr) -> String {
        match e {
            Expr::Const(l) => match l {
                Literal::Symbol(_) | Literal::Pair(_) | Literal::Nil => format!("'{}", literal(l)),
                _ => literal(l),
            },
            Expr::Local(v) => self.var(v.0),
            Expr::Global(g, _) => self.global(g.0),
            Expr::SetLocal(v, e) => format!("(set! {} {})", self.var(v.0), self.expr(e)),
            Expr::SetGlobal(g, e, _) => format!("(set! {} {})", self.global(g.0), self.expr(e)),
            Expr::If(a, b, c) => format!("(if {} {} {})", self.expr(a), self.expr(b), self.expr(c)),
            Expr::Seq(xs) => format!("(begin{})", self.all(xs)),
            Expr::Let(bs, body) => format!("(let ({}) {})", self.bindings(bs), self.expr(body)),
            Expr::Letrec(bs, body) => format!("(letrec ({}) {})", self.bindings(bs), self.expr(body)),
            Expr::Lambda(l) => self.lambda(l),
            Expr::Call(f, args, _) => format!("({}{})", self.expr(f), self.all(args)),
            Expr::Apply(f, args, _) => format!("(%apply {}{})", self.expr(f), self.all(args)),
            Expr::Prim { op, args, .. } => format!("(%{}{})", op.name(), self.all(args)),
            Expr::Values(xs) => format!("(%values{})", self.all(xs)),
            Expr::Receive { producer, clause, .. } => {
                format!("(%receive {} {} {})", self.formals(clause), self.expr(producer), self.expr(&clause.body))
            }
            Expr::CallCc(shots, f, _) => format!("(%{} {})", shots.name(), self.expr(f)),
            Expr::Fix(..) | Expr::Labels(..) | Expr::Jump(..) => panic!("not in Source"),
        }
    }
    fn formals(&self, c: &Clause) -> String {
        let mut s: Vec<String> = c.params.iter().map(|v| self.var(v.0)).collect();
        if let Some(r) = c.rest {
            s.push(format!(". {}", self.var(r.0)));
        }
        format!("({})", s.join(" "))
    }
    fn lambda(&self, l: &Lambda) -> String {
        let clauses: Vec<String> =
            l.clauses.iter().map(|c| format!("{} {}", self.formals(c), self.expr(&c.body))).collect();
        match &clauses[..] {
            [one] => format!("(lambda:{} {one})", l.name),
            _ => format!(
                "(case-lambda:{} {})",
                l.name,
                clauses.iter().map(|c| format!("[{c}]")).collect::<String>()
            ),
        }
    }
}

fn literal(l: &Literal) -> String {
    match l {
        Literal::Number(Number::Int(Int::Fix(n))) => n.to_string(),
        Literal::Number(Number::Flo(x)) => format!("{x:?}"),
        Literal::Number(n) => format!("{n:?}"),
        Literal::Char(c) => format!("#\\{c}"),
        Literal::Bool(b) => format!("#{}", if *b { 't' } else { 'f' }),
        Literal::Nil => "()".into(),
        Literal::Unspecified => "#!unspecified".into(),
        Literal::Eof => "#!eof".into(),
        Literal::Default => "#!default".into(),
        Literal::Unbound => "#!unbound".into(),
        Literal::Symbol(s) => s.to_string(),
        Literal::String(s) => format!("{s:?}"),
        Literal::Bytes(b) => format!("#u8{b:?}"),
        Literal::Numbers(kind, b) => format!("#bytes-of-{}{b:?}", kind.name()),
        Literal::Pair(p) => {
            let mut out = format!("({}", literal(&p.0));
            let mut tail = &p.1;
            while let Literal::Pair(p) = tail {
                out += &format!(" {}", literal(&p.0));
                tail = &p.1;
            }
            if !matches!(tail, Literal::Nil) {
                out += &format!(" . {}", literal(tail));
            }
            out + ")"
        }
        Literal::Vector(v) => format!("#({})", v.iter().map(literal).collect::<Vec<_>>().join(" ")),
    }
}
