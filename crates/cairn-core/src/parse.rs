//! Reads what [`crate::print`] prints. Used by tests, which write Core as text.
//!
//! The text is scanned and parsed in one recursive descent over its bytes; variables, globals and labels get the
//! numbers they carry, tables grow to fit. Errors tell the line. Comments run from `;` to the end of the line.

use crate::inlined::InlineTable;
use crate::ir::*;
use crate::prim::PrimOp;
use crate::walk::deep;
use cairn_layout::code::Site;
use cairn_layout::object::numeric::NumericKind;
use std::rc::Rc;

/// Parses a program. The error message starts with the line number.
pub fn parse_program(text: &str) -> Result<Program, String> {
    let mut p = Parser { text, at: 0, program: Program::default() };
    while !p.ended() {
        p.form().map_err(|e| format!("line {}: {e}", text[..p.at].matches('\n').count() + 1))?;
    }
    Ok(p.program)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    program: Program,
}

type Res<T> = Result<T, String>;

/// An atom: unescaped text, and whether it began with a bar.
struct Atom {
    text: String,
    barred: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self) {
        while let Some(c) = self.peek() {
            if c == ';' {
                self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
            } else if c.is_whitespace() {
                self.at += c.len_utf8();
            } else {
                break;
            }
        }
    }

    fn ended(&mut self) -> bool {
        self.skip();
        self.peek().is_none()
    }

    fn sees(&mut self, c: char) -> bool {
        self.skip();
        self.peek() == Some(c)
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.sees(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, c: char) -> Res<()> {
        if self.take(c) {
            return Ok(());
        }
        let rest: String = self.text[self.at..].chars().take(20).collect();
        Err(format!("expected `{c}` before `{rest}`"))
    }

    /// Items up to the closing parenthesis, which is consumed.
    fn items<T>(&mut self, mut item: impl FnMut(&mut Self) -> Res<T>) -> Res<Vec<T>> {
        let mut all = Vec::new();
        while !self.take(')') {
            if self.ended() {
                return Err("unexpected end".into());
            }
            all.push(item(self)?);
        }
        Ok(all)
    }

    fn escaped(&mut self, quote: char) -> Res<String> {
        let mut s = String::new();
        loop {
            let c = self.peek().ok_or("unexpected end in a quotation")?;
            self.at += c.len_utf8();
            if c == quote {
                return Ok(s);
            }
            if c != '\\' {
                s.push(c);
                continue;
            }
            let c = self.peek().ok_or("unexpected end in a quotation")?;
            self.at += c.len_utf8();
            match c {
                'n' => s.push('\n'),
                'x' => {
                    let end = self.text[self.at..].find(';').ok_or("bad escape")?;
                    let code =
                        u32::from_str_radix(&self.text[self.at..self.at + end], 16).map_err(|e| e.to_string())?;
                    s.push(char::from_u32(code).ok_or("bad character")?);
                    self.at += end + 1;
                }
                c => s.push(c),
            }
        }
    }

    fn atom(&mut self) -> Res<Atom> {
        self.skip();
        let barred = self.peek() == Some('|');
        let mut text = String::new();
        while let Some(c) = self.peek() {
            if c == '|' {
                self.at += 1;
                text += &self.escaped('|')?;
            } else if c.is_whitespace() || "(){}\"';".contains(c) {
                break;
            } else {
                text.push(c);
                self.at += c.len_utf8();
            }
        }
        if text.is_empty() && !barred {
            let rest: String = self.text[self.at..].chars().take(20).collect();
            return Err(format!("expected a name before `{rest}`"));
        }
        Ok(Atom { text, barred })
    }

    fn site(&mut self) -> Res<Site> {
        if self.peek() != Some('{') {
            return Ok(Site::NONE);
        }
        let end = self.text[self.at..].find('}').ok_or("unclosed position")?;
        let inner = &self.text[self.at + 1..self.at + end];
        self.at += end + 1;
        parse_site(&mut self.program.inlined, inner)
    }

    fn numbered(text: &str) -> Res<(&str, u32)> {
        let bad = || format!("`{text}` is not a variable");
        let (name, number) = text.rsplit_once('.').ok_or_else(bad)?;
        Ok((name, number.parse().map_err(|_| bad())?))
    }

    fn var_named(&mut self, text: &str) -> Res<VarId> {
        let (name, n) = Self::numbered(text)?;
        while self.program.vars.len() <= n as usize {
            self.program.vars.push(VarInfo::new("?"));
        }
        self.program.vars[n as usize].name = name.into();
        Ok(VarId(n))
    }

    fn global_named(&mut self, text: &str) -> Res<GlobalId> {
        let text = text.strip_prefix('@').ok_or_else(|| format!("`{text}` is not a global"))?;
        let (name, n) = Self::numbered(text)?;
        while self.program.globals.len() <= n as usize {
            self.program.globals.push(GlobalInfo::new("?"));
        }
        self.program.globals[n as usize].name = name.into();
        Ok(GlobalId(n))
    }

    fn var(&mut self) -> Res<VarId> {
        let a = self.atom()?;
        self.var_named(&a.text)
    }

    fn global(&mut self) -> Res<GlobalId> {
        let a = self.atom()?;
        self.global_named(&a.text)
    }

    fn label(&mut self) -> Res<LabelId> {
        let a = self.atom()?;
        let n = a.text.strip_prefix('L').and_then(|n| n.parse::<u32>().ok());
        let n = n.ok_or_else(|| format!("`{}` is not a label", a.text))?;
        self.program.labels = self.program.labels.max(n + 1);
        Ok(LabelId(n))
    }

    fn form(&mut self) -> Res<()> {
        self.skip();
        let start = self.at;
        if self.take('(') && !self.sees('(') {
            let head = self.atom()?;
            match head.text.as_str() {
                "define" => {
                    let g = self.global()?;
                    let e = self.expr()?;
                    self.expect(')')?;
                    self.program.forms.push(TopForm::Define(g, e));
                    return Ok(());
                }
                "var" => {
                    let v = self.var()?;
                    let words = self.items(|p| p.atom())?;
                    self.program.vars[v.0 as usize].assigned = words.iter().any(|w| w.text == "assigned");
                    return Ok(());
                }
                "global" => {
                    let g = self.global()?;
                    let words = self.items(|p| p.atom())?;
                    let info = &mut self.program.globals[g.0 as usize];
                    info.assigned = words.iter().any(|w| w.text == "assigned");
                    info.library = words.iter().any(|w| w.text == "library");
                    info.import = import(&words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>())?;
                    return Ok(());
                }
                _ => {}
            }
        }
        self.at = start;
        let e = self.expr()?;
        self.program.forms.push(TopForm::Expr(e));
        Ok(())
    }

    fn boxed(&mut self) -> Res<Box<Expr>> {
        self.expr().map(Box::new)
    }

    fn exprs(&mut self) -> Res<Vec<Expr>> {
        self.items(|p| p.expr())
    }

    /// `(a b . rest)` or `rest`.
    fn parameters(&mut self) -> Res<(Vec<VarId>, Option<VarId>)> {
        let (mut params, mut rest) = (Vec::new(), None);
        if self.take('(') {
            while !self.take(')') {
                let a = self.atom()?;
                if a.text == "." && !a.barred {
                    rest = Some(self.var()?);
                } else {
                    params.push(self.var_named(&a.text)?);
                }
            }
        } else {
            rest = Some(self.var()?);
        }
        Ok((params, rest))
    }

    /// `params body)`.
    fn clause(&mut self) -> Res<Clause> {
        let (params, rest) = self.parameters()?;
        let body = self.expr()?;
        self.expect(')')?;
        Ok(Clause { params, rest, body })
    }

    /// A lambda, after its opening parenthesis and keyword.
    fn lambda(&mut self, keyword: &str) -> Res<Lambda> {
        let name: Rc<str> = self.atom()?.text.into();
        let clauses = if keyword == "lambda" {
            vec![self.clause()?]
        } else {
            self.items(|p| {
                p.expect('(')?;
                p.clause()
            })?
        };
        Ok(Lambda { name, clauses, site: self.site()? })
    }

    fn bindings(&mut self) -> Res<Vec<(VarId, Expr)>> {
        self.expect('(')?;
        self.items(|p| {
            p.expect('(')?;
            let v = p.var()?;
            let e = p.expr()?;
            p.expect(')')?;
            Ok((v, e))
        })
    }

    fn expr(&mut self) -> Res<Expr> {
        deep(|| {
            self.skip();
            match self.peek().ok_or("unexpected end")? {
                '(' => {
                    self.at += 1;
                    self.compound()
                }
                '\'' => {
                    self.at += 1;
                    self.literal().map(Expr::Const)
                }
                '"' | '#' => self.literal().map(Expr::Const),
                _ => {
                    let a = self.atom()?;
                    if a.barred {
                        return self.var_named(&a.text).map(Expr::Local);
                    }
                    if a.text.starts_with('@') {
                        let g = self.global_named(&a.text)?;
                        return Ok(Expr::Global(g, self.site()?));
                    }
                    match cairn_num::parse_number(&a.text, 10) {
                        Some(n) => Ok(Expr::Const(Literal::Number(n))),
                        None => self.var_named(&a.text).map(Expr::Local),
                    }
                }
            }
        })
    }

    /// After an opening parenthesis.
    fn compound(&mut self) -> Res<Expr> {
        let start = self.at;
        let head = self.atom()?;
        if head.barred {
            self.at = start;
            return self.call();
        }
        Ok(match head.text.as_str() {
            "if" => {
                let e = Expr::If(self.boxed()?, self.boxed()?, self.boxed()?);
                self.expect(')')?;
                e
            }
            "seq" => Expr::Seq(self.exprs()?),
            "let" => {
                let e = Expr::Let(self.bindings()?, self.boxed()?);
                self.expect(')')?;
                e
            }
            "letrec" => {
                let e = Expr::Letrec(self.bindings()?, self.boxed()?);
                self.expect(')')?;
                e
            }
            "fix" => {
                self.expect('(')?;
                let bindings = self.items(|p| {
                    p.expect('(')?;
                    let v = p.var()?;
                    p.expect('(')?;
                    let keyword = p.atom()?.text;
                    let l = p.lambda(&keyword)?;
                    p.expect(')')?;
                    Ok((v, l))
                })?;
                let e = Expr::Fix(bindings, self.boxed()?);
                self.expect(')')?;
                e
            }
            keyword @ ("lambda" | "case-lambda") => Expr::Lambda(self.lambda(keyword)?),
            "set!" => {
                let a = self.atom()?;
                if !a.barred && a.text.starts_with('@') {
                    let g = self.global_named(&a.text)?;
                    let e = self.boxed()?;
                    self.expect(')')?;
                    Expr::SetGlobal(g, e, self.site()?)
                } else {
                    let v = self.var_named(&a.text)?;
                    let e = self.boxed()?;
                    self.expect(')')?;
                    Expr::SetLocal(v, e)
                }
            }
            "apply" => Expr::Apply(self.boxed()?, self.exprs()?, self.site()?),
            "values" => Expr::Values(self.exprs()?),
            "receive" => {
                // (receive params producer body)
                let (params, rest) = self.parameters()?;
                let producer = self.boxed()?;
                let body = self.expr()?;
                self.expect(')')?;
                Expr::Receive { producer, clause: Box::new(Clause { params, rest, body }), site: self.site()? }
            }
            name @ ("call/cc" | "call/1cc") => {
                let shots = Shots::named(name).expect("one of them");
                let f = self.boxed()?;
                self.expect(')')?;
                Expr::CallCc(shots, f, self.site()?)
            }
            "labels" => {
                self.expect('(')?;
                let labels = self.items(|p| {
                    p.expect('(')?;
                    let id = p.label()?;
                    p.expect('(')?;
                    let params = p.items(|p| p.var())?;
                    let body = p.expr()?;
                    p.expect(')')?;
                    Ok(Label { id, params, body })
                })?;
                let e = Expr::Labels(labels, self.boxed()?);
                self.expect(')')?;
                e
            }
            "jump" => Expr::Jump(self.label()?, self.exprs()?),
            "call" => return self.call(),
            text if text.starts_with('%') => {
                let name = &text[1..];
                let (op, proven) = match (PrimOp::by_name(name), name.rsplit_once(':')) {
                    (Some(op), _) => (op, 0),
                    (None, Some((op, mask))) => (
                        PrimOp::by_name(op).ok_or_else(|| format!("unknown primitive `%{op}`"))?,
                        mask.parse().map_err(|_| format!("bad mask in `{text}`"))?,
                    ),
                    _ => return Err(format!("unknown primitive `{text}`")),
                };
                Expr::Prim { op, args: self.exprs()?, proven, site: self.site()? }
            }
            _ => {
                self.at = start;
                return self.call();
            }
        })
    }

    fn call(&mut self) -> Res<Expr> {
        let f = self.boxed()?;
        let args = self.exprs()?;
        Ok(Expr::Call(f, args, self.site()?))
    }

    fn literal(&mut self) -> Res<Literal> {
        deep(|| {
            self.skip();
            let rest = &self.text[self.at..];
            if self.take('(') {
                let mut items = Vec::new();
                let mut last = Literal::Nil;
                while !self.take(')') {
                    self.skip();
                    let rest = &self.text[self.at..];
                    if rest.starts_with(". ") {
                        self.at += 1;
                        last = self.literal()?;
                    } else {
                        items.push(self.literal()?);
                    }
                }
                return Ok(items.into_iter().rev().fold(last, |d, a| Literal::Pair(Rc::new((a, d)))));
            }
            if self.take('"') {
                return Ok(Literal::String(self.escaped('"')?.into()));
            }
            if let Some(c) = rest.strip_prefix("#\\") {
                let first = c.chars().next().ok_or("unexpected end")?;
                let hex = c[first.len_utf8()..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(c.len() - 1);
                self.at += 2 + first.len_utf8();
                if first == 'x' && hex > 0 {
                    let code = u32::from_str_radix(&c[1..1 + hex], 16).map_err(|e| e.to_string())?;
                    self.at += hex;
                    return Ok(Literal::Char(char::from_u32(code).ok_or("bad character")?));
                }
                return Ok(Literal::Char(first));
            }
            if rest.starts_with("#u8(") {
                self.at += 4;
                let bytes = self.items(|p| p.atom()?.text.parse::<u8>().map_err(|e| e.to_string()))?;
                return Ok(Literal::Bytes(bytes.into()));
            }
            if let Some((name, _)) = rest.strip_prefix("#bytes-of-").and_then(|r| r.split_once('(')) {
                let kind = NumericKind::by_name(name).ok_or("unknown kind of numbers")?;
                self.at += "#bytes-of-".len() + name.len() + 1;
                let bytes = self.items(|p| p.atom()?.text.parse::<u8>().map_err(|e| e.to_string()))?;
                return Ok(Literal::Numbers(kind, bytes.into()));
            }
            if rest.starts_with("#(") {
                self.at += 2;
                return Ok(Literal::Vector(self.items(|p| p.literal())?.into()));
            }
            let a = self.atom()?;
            if a.barred {
                return Ok(Literal::Symbol(a.text.into()));
            }
            Ok(match a.text.as_str() {
                "#t" => Literal::Bool(true),
                "#f" => Literal::Bool(false),
                "#!unspecified" => Literal::Unspecified,
                "#!eof" => Literal::Eof,
                "#!default" => Literal::Default,
                "#!unbound" => Literal::Unbound,
                text => match cairn_num::parse_number(text, 10) {
                    Some(n) => Literal::Number(n),
                    None => Literal::Symbol(text.into()),
                },
            })
        })
    }
}

/// The import among the words of a declaration.
fn import(words: &[&str]) -> Res<Option<Import>> {
    for pair in words.windows(2) {
        let from = match pair[0] {
            "import" => ImportFrom::Library,
            "cell" => ImportFrom::Cell,
            _ => continue,
        };
        let number = pair[1].parse().map_err(|_| format!("`{}` is not a number", pair[1]))?;
        return Ok(Some(Import { from: from(number), never_returns: words.contains(&"never-returns") }));
    }
    Ok(None)
}

/// What stands between the braces of a position, see [`crate::print::print_site`].
pub fn parse_site(table: &mut InlineTable, text: &str) -> Result<Site, String> {
    let mut chain = Vec::new();
    for part in text.split(" at ") {
        let (place, procedure) = part.split_once(" in ").map_or((part, None), |(s, p)| (s, Some(p.into())));
        chain.push((place.parse::<Site>()?, procedure));
    }
    Ok(table.from_chain(chain))
}
