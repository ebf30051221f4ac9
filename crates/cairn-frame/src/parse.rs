//! Reads what [`crate::print`] prints. Used by tests, which write or damage Frame IR as text.
//!
//! The text is read line by line: a first round collects the names of functions, so that they can be used before they
//! appear; a second fills them. Variables and globals carry their numbers; tables grow to fit. Lines that begin with
//! `;` are comments. Errors tell the line. Only the form is checked here: [`crate::verify`] checks the meaning.

use crate::ir::*;
use cairn_core::inlined::InlineTable;
use cairn_core::ir::{Expr, GlobalId, ImportFrom, Literal, Shots, SourceFile, TopForm};
use cairn_core::parse::parse_site;
use cairn_core::prim::PrimOp;
use cairn_layout::code::Site;
use cairn_layout::facts;
use std::collections::HashMap;
use std::rc::Rc;

type Res<T> = Result<T, String>;

/// Parses a module. The error message starts with the line number.
pub fn parse_module(text: &str) -> Result<Module, String> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(i, l)| (i + 1, l.trim()))
        .filter(|(_, l)| !l.is_empty() && !l.starts_with(';'))
        .collect();
    let mut names = HashMap::new();
    for (n, line) in &lines {
        let mut c = Cursor::new(line);
        if c.keyword("function") {
            let name = c.name().map_err(|e| format!("line {n}: {e}"))?;
            if names.insert(name.clone(), FuncId(names.len() as u32)).is_some() {
                return Err(format!("line {n}: a second function {name}"));
            }
        }
    }
    let mut lines = lines.into_iter();
    let (n, head) = lines.next().ok_or("line 1: no module")?;
    let mut reader = Reader::head(head, names).map_err(|e| format!("line {n}: {e}"))?;
    for (n, line) in lines {
        reader.line(line).map_err(|e| format!("line {n}: {e}"))?;
    }
    reader.end_function()?;
    Ok(reader.module)
}

/// A place in a line.
struct Cursor<'a> {
    line: &'a str,
    at: usize,
    /// The module's, while the line is read.
    inlined: InlineTable,
}

impl<'a> Cursor<'a> {
    fn new(line: &'a str) -> Cursor<'a> {
        Cursor { line, at: 0, inlined: InlineTable::default() }
    }

    fn rest(&mut self) -> &'a str {
        while self.line[self.at..].starts_with(' ') {
            self.at += 1;
        }
        &self.line[self.at..]
    }

    fn ended(&mut self) -> bool {
        self.rest().is_empty()
    }

    fn end(&mut self) -> Res<()> {
        if self.ended() { Ok(()) } else { Err(format!("unexpected `{}`", self.rest())) }
    }

    /// Consumes `what` if it comes next.
    fn take(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        self.at += if found { what.len() } else { 0 };
        found
    }

    fn expect(&mut self, what: &str) -> Res<()> {
        if self.take(what) { Ok(()) } else { Err(format!("expected `{what}` before `{}`", self.rest())) }
    }

    /// The next word without consuming it: up to a delimiter; parts between bars belong to it.
    fn peek_word(&mut self) -> &'a str {
        let rest = self.rest();
        let mut bars = false;
        let mut escaped = false;
        for (i, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if bars => escaped = true,
                '|' => bars = !bars,
                _ if bars => {}
                ' ' | '(' | ')' | '[' | ']' | '{' | '}' | ',' => return &rest[..i],
                _ => {}
            }
        }
        rest
    }

    fn word(&mut self) -> Res<&'a str> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(format!("expected a word before `{}`", self.rest()));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Consumes `what` if it is the next word.
    fn keyword(&mut self, what: &str) -> bool {
        let found = self.peek_word() == what;
        self.at += if found { what.len() } else { 0 };
        found
    }

    fn expect_keyword(&mut self, what: &str) -> Res<()> {
        if self.keyword(what) { Ok(()) } else { Err(format!("expected `{what}` before `{}`", self.rest())) }
    }

    /// A name, without its bars.
    fn name(&mut self) -> Res<Rc<str>> {
        plain_name(self.word()?)
    }

    fn number(&mut self) -> Res<u32> {
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        self.at += digits;
        rest[..digits].parse().map_err(|_| format!("expected a number before `{rest}`"))
    }

    fn block(&mut self) -> Res<BlockId> {
        self.expect("b")?;
        self.number().map(BlockId)
    }

    fn site(&mut self) -> Res<Site> {
        if !self.take("{") {
            return Ok(Site::NONE);
        }
        let (inner, _) = self.rest().split_once('}').ok_or("unclosed position")?;
        self.at += inner.len() + 1;
        parse_site(&mut self.inlined, inner)
    }

    fn literal(&mut self) -> Res<Literal> {
        let rest = self.rest();
        let end = datum_end(rest).ok_or_else(|| format!("expected a constant before `{rest}`"))?;
        self.at += end;
        constant(&rest[..end])
    }

    fn frame(&mut self) -> Res<Frame> {
        self.expect_keyword("frame")?;
        let words = self.number()?;
        self.expect("[")?;
        let mut live = vec![];
        while !self.take("]") {
            if !live.is_empty() {
                self.expect(",")?;
            }
            live.push(self.number()?);
        }
        Ok(Frame { words, live })
    }
}

fn constant(text: &str) -> Res<Literal> {
    let program = cairn_core::parse::parse_program(&format!("'{text}"))?;
    match program.forms.as_slice() {
        [TopForm::Expr(Expr::Const(l))] => Ok(l.clone()),
        _ => Err(format!("`{text}` is not a constant")),
    }
}

fn plain_name(word: &str) -> Res<Rc<str>> {
    if !word.starts_with('|') {
        return Ok(word.into());
    }
    match constant(word)? {
        Literal::Symbol(ref s) => Ok(s.clone()),
        _ => Err(format!("`{word}` is not a name")),
    }
}

/// `name.number`, the name perhaps between bars.
fn numbered(word: &str) -> Res<(Rc<str>, u32)> {
    let bad = || format!("`{word}` is not a variable");
    let (name, number) = word.rsplit_once('.').ok_or_else(bad)?;
    Ok((plain_name(name)?, number.parse().map_err(|_| bad())?))
}

/// Where the datum that `text` begins with ends.
fn datum_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut i, mut depth) = (0, 0);
    loop {
        match *bytes.get(i)? {
            b' ' if depth > 0 => {
                i += 1;
                continue;
            }
            b'(' => {
                depth += 1;
                i += 1;
                continue;
            }
            b')' if depth > 0 => {
                depth -= 1;
                i += 1;
            }
            quote @ (b'"' | b'|') => {
                i += 1;
                while *bytes.get(i)? != quote {
                    i += if bytes[i] == b'\\' { 2 } else { 1 };
                }
                i += 1;
            }
            b'#' if bytes.get(i + 1) == Some(&b'\\') => {
                let c = text[i + 2..].chars().next()?;
                i += 2 + c.len_utf8();
                if c == 'x' {
                    i += bytes[i..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
                }
            }
            _ => {
                let n = bytes[i..].iter().take_while(|b| !b" ()\"'{}".contains(b)).count();
                if n == 0 {
                    return None;
                }
                i += n;
                if bytes.get(i) == Some(&b'(') && matches!(&text[i - n..i], "#" | "#u8") {
                    continue;
                }
            }
        }
        if depth == 0 {
            return Some(i);
        }
    }
}

struct Reader {
    module: Module,
    names: HashMap<Rc<str>, FuncId>,
    /// Reading the blocks or clauses of the last function.
    in_function: bool,
    /// Statements of the last block, and whether its terminator is still to come.
    open: Option<Vec<Stmt>>,
}

impl Reader {
    /// `module STRATEGY [shared] main FUNCTION`.
    fn head(line: &str, names: HashMap<Rc<str>, FuncId>) -> Res<Reader> {
        let mut c = Cursor::new(line);
        c.expect_keyword("module")?;
        let strategy = c.word()?;
        let strategy = facts::strategy(strategy).ok_or_else(|| format!("no strategy `{strategy}`"))?;
        let shared = c.keyword("shared");
        c.expect_keyword("main")?;
        let module = Module {
            strategy,
            functions: vec![],
            globals: vec![],
            main: FuncId(0),
            sources: vec![],
            procedures: vec![],
            inlined: InlineTable::default(),
            shared,
        };
        let mut reader = Reader { module, names, in_function: false, open: None };
        reader.module.main = reader.function_named(&mut c)?;
        c.end()?;
        Ok(reader)
    }

    fn line(&mut self, line: &str) -> Res<()> {
        let mut c = Cursor { inlined: std::mem::take(&mut self.module.inlined), ..Cursor::new(line) };
        if c.keyword("function") {
            self.end_function()?;
            let f = self.function(&mut c)?;
            self.module.functions.push(f);
            self.in_function = true;
        } else if !self.in_function {
            match c.word()? {
                "source" => {
                    let Literal::String(ref path) = c.literal()? else { return Err("a path is a string".into()) };
                    let library = c.keyword("library");
                    self.module.sources.push(SourceFile::new(path, "", library));
                }
                "procedure" => {
                    let Literal::String(ref name) = c.literal()? else { return Err("a name is a string".into()) };
                    self.module.procedures.push(name.clone());
                }
                "global" => {
                    let g = self.global(&mut c)?;
                    c.expect_keyword("=")?;
                    let import = match c.peek_word() {
                        "import" => Some(ImportFrom::Library as fn(u32) -> ImportFrom),
                        "cell" => Some(ImportFrom::Cell as _),
                        _ => None,
                    };
                    if let Some(from) = import {
                        c.word()?;
                        c.rest();
                        self.module.globals[g.0 as usize].import = Some(from(c.number()?));
                    } else {
                        c.expect("&")?;
                        self.module.globals[g.0 as usize].procedure = Some(self.function_named(&mut c)?);
                    }
                }
                word => return Err(format!("unexpected `{word}`")),
            }
        } else {
            self.function_line(&mut c)?;
        }
        c.end()?;
        self.module.inlined = c.inlined;
        Ok(())
    }

    /// A clause, the head of a block, a statement or a terminator.
    fn function_line(&mut self, c: &mut Cursor) -> Res<()> {
        let last = self.module.functions.len() - 1;
        if let FuncKind::Entry { .. } = self.module.functions[last].kind {
            let required = c.number()?;
            let rest = c.take("+");
            let listed = c.keyword("listed");
            c.expect_keyword("->")?;
            let body = self.function_named(c)?;
            let FuncKind::Entry { clauses, .. } = &mut self.module.functions[last].kind else { unreachable!() };
            clauses.push(EntryClause { required, rest, listed, body });
            return Ok(());
        }
        let word = c.peek_word();
        if let Some(number) = word.strip_prefix('b').and_then(|w| w.strip_suffix(':')) {
            self.end_block()?;
            if number.parse() != Ok(self.module.functions[last].blocks.len()) {
                return Err(format!("`{word}` is not the next block"));
            }
            self.open = Some(vec![]);
            c.word()?;
            return Ok(());
        }
        let mut stmts = self.open.take().ok_or("a statement outside of a block")?;
        if matches!(word, "goto" | "if" | "return" | "tail" | "call") {
            let term = self.term(c)?;
            self.module.functions[last].blocks.push(Block { stmts, term });
            return Ok(());
        }
        let stmt = self.stmt(c)?;
        stmts.push(stmt);
        self.open = Some(stmts);
        Ok(())
    }

    fn end_block(&mut self) -> Res<()> {
        if self.open.is_some() { Err("a block without a terminator".into()) } else { Ok(()) }
    }

    fn end_function(&mut self) -> Res<()> {
        self.end_block()?;
        match self.module.functions.last() {
            Some(f) if f.blocks.is_empty() && !matches!(f.kind, FuncKind::Entry { .. }) => {
                Err(format!("{} has no blocks", f.name))
            }
            _ => Ok(()),
        }
    }

    /// The head of a function, after its keyword.
    fn function(&mut self, c: &mut Cursor) -> Res<Function> {
        let name = c.name()?;
        c.expect_keyword("of")?;
        let procedure = c.name()?;
        let library = c.keyword("library");
        let vast = c.keyword("vast");
        let mut vars = vec![];
        let kind = match c.word()? {
            "entry" => {
                c.expect_keyword("words")?;
                FuncKind::Entry { closure_words: c.number()?, clauses: vec![], site: c.site()? }
            }
            "body" => {
                c.expect("(")?;
                let params = var_list(c, &mut vars)?.0;
                let closure = if c.keyword("closure") { Some(var(c.word()?, &mut vars)?) } else { None };
                FuncKind::Body { params, closure }
            }
            "return" => {
                let frame = c.frame()?;
                c.expect_keyword("->")?;
                let results = if c.take("(") {
                    let (params, rest) = var_list(c, &mut vars)?;
                    let site = if c.keyword("of") { c.site()? } else { Site::NONE };
                    Results::Multi { params, rest, site }
                } else {
                    Results::Single(var(c.word()?, &mut vars)?)
                };
                FuncKind::Return { frame, results, site: c.site()? }
            }
            word => return Err(format!("`{word}` is not a kind of function")),
        };
        Ok(Function { name, procedure, library, vast, kind, vars, blocks: vec![] })
    }

    fn vars(&mut self) -> &mut Vec<VarInfo> {
        &mut self.module.functions.last_mut().expect("inside a function").vars
    }

    fn var(&mut self, c: &mut Cursor) -> Res<Var> {
        let word = c.word()?;
        var(word, self.vars())
    }

    fn function_named(&mut self, c: &mut Cursor) -> Res<FuncId> {
        let name = c.name()?;
        self.names.get(&name).copied().ok_or_else(|| format!("no function {name}"))
    }

    fn global(&mut self, c: &mut Cursor) -> Res<GlobalId> {
        c.expect("@")?;
        let (name, n) = numbered(c.word()?)?;
        let globals = &mut self.module.globals;
        while globals.len() <= n as usize {
            globals.push(Global { name: "?".into(), procedure: None, undefined: false, import: None });
        }
        globals[n as usize].name = name;
        Ok(GlobalId(n))
    }

    fn operand(&mut self, c: &mut Cursor) -> Res<Operand> {
        if c.take("'") {
            return c.literal().map(Operand::Const);
        }
        if c.take("&") {
            return self.function_named(c).map(Operand::Procedure);
        }
        self.var(c).map(Operand::Var)
    }

    /// Operands up to the closing parenthesis.
    fn arguments(&mut self, c: &mut Cursor) -> Res<Vec<Operand>> {
        let mut all = vec![];
        while !c.take(")") {
            all.push(self.operand(c)?);
        }
        Ok(all)
    }

    /// Operands up to the end of the line.
    fn operands(&mut self, c: &mut Cursor) -> Res<Vec<Operand>> {
        let mut all = vec![];
        while !c.ended() {
            all.push(self.operand(c)?);
        }
        Ok(all)
    }

    /// A primitive, after its opening parenthesis.
    fn prim(&mut self, c: &mut Cursor) -> Res<Prim> {
        let name = c.word()?;
        let op = PrimOp::by_name(name).ok_or_else(|| format!("unknown primitive `{name}`"))?;
        let args = self.arguments(c)?;
        let mut proven = 0;
        if c.keyword("proven") {
            let bits = c.word()?;
            proven = u8::from_str_radix(bits, 2).map_err(|_| format!("`{bits}` are not bits"))?;
        }
        Ok(Prim { op, args, site: c.site()?, proven })
    }

    fn stmt(&mut self, c: &mut Cursor) -> Res<Stmt> {
        let start = c.at;
        let word = c.peek_word();
        if ["check", "poll", "stack", "stop"].contains(&word) {
            c.word()?;
            let number = if word == "check" || word == "stack" { c.number()? } else { 0 };
            c.expect_keyword("live")?;
            c.expect("(")?;
            let live = var_list(c, self.vars())?.0;
            return Ok(match word {
                "stack" => Stmt::StackCheck { words: number, live },
                "stop" => Stmt::StopCheck { live },
                _ => Stmt::HeapCheck { bytes: number, live },
            });
        }
        if !word.is_empty() && !word.starts_with(['\'', '@', '&']) && numbered(word.trim_end_matches("!d")).is_ok()
        {
            let target = self.var(c)?;
            if c.keyword("=") {
                return Ok(Stmt::Assign(target, self.op(c)?));
            }
            c.at = start;
        }
        self.op(c).map(Stmt::Effect)
    }

    fn op(&mut self, c: &mut Cursor) -> Res<Op> {
        if c.take("(") {
            return self.prim(c).map(Op::Prim);
        }
        if c.rest().starts_with('@') {
            let g = self.global(c)?;
            if c.keyword(":=") {
                let value = self.operand(c)?;
                return Ok(match c.keyword("checked") {
                    true => Op::SetGlobalChecked(g, value, c.site()?),
                    false => Op::SetGlobal(g, value),
                });
            }
            return Ok(if c.keyword("checked") { Op::GlobalChecked(g, c.site()?) } else { Op::Global(g) });
        }
        Ok(match c.peek_word() {
            "free" => {
                c.word()?;
                Op::Free(c.number()?)
            }
            "slot" => {
                c.word()?;
                Op::Slot(c.number()?)
            }
            "closure" => {
                c.word()?;
                Op::Closure { entry: self.function_named(c)?, free: self.operands(c)? }
            }
            "patch" => {
                c.word()?;
                Op::ClosurePatch { closure: self.var(c)?, index: c.number()?, value: self.operand(c)? }
            }
            _ => Op::Copy(self.operand(c)?),
        })
    }

    /// A callee and its arguments.
    fn callee(&mut self, c: &mut Cursor) -> Res<(Callee, Vec<Operand>)> {
        let callee = match c.peek_word() {
            "direct" => {
                c.word()?;
                let f = self.function_named(c)?;
                Callee::Known(f, if c.keyword("closure") { Some(self.operand(c)?) } else { None })
            }
            "apply" => {
                c.word()?;
                Callee::Apply(self.operand(c)?)
            }
            "call/cc" => {
                c.word()?;
                Callee::CallCc(Shots::Many, self.operand(c)?)
            }
            "call/1cc" => {
                c.word()?;
                Callee::CallCc(Shots::One, self.operand(c)?)
            }
            _ => Callee::Unknown(self.operand(c)?),
        };
        c.expect("(")?;
        Ok((callee, self.arguments(c)?))
    }

    fn term(&mut self, c: &mut Cursor) -> Res<Term> {
        Ok(match c.word()? {
            "goto" => Term::Goto(c.block()?),
            "if" => {
                let test = if c.take("(") { Test::Prim(self.prim(c)?) } else { Test::Truthy(self.operand(c)?) };
                let then = c.block()?;
                c.expect_keyword("else")?;
                Term::Branch { test, then, els: c.block()? }
            }
            "return" if c.keyword("values") => Term::ReturnMulti(self.operands(c)?),
            "return" => Term::Return(self.operand(c)?),
            "tail" => {
                let (callee, args) = self.callee(c)?;
                Term::TailCall { callee, args, site: c.site()? }
            }
            "call" => {
                let (callee, args) = self.callee(c)?;
                let site = c.site()?;
                let frame = c.frame()?;
                let mut stores = vec![];
                let store = c.keyword("store");
                while !c.keyword("then") {
                    if !store {
                        return Err(format!("expected `store` or `then` before `{}`", c.rest()));
                    }
                    let slot = c.number()?;
                    c.expect(":=")?;
                    stores.push((slot, self.operand(c)?));
                }
                Term::Call { callee, args, site, frame: NewFrame { frame, stores }, ret: self.function_named(c)? }
            }
            word => return Err(format!("`{word}` is not a terminator")),
        })
    }
}

/// `x.3` or `x.3!d`.
fn var(word: &str, vars: &mut Vec<VarInfo>) -> Res<Var> {
    let (text, rep) = match word.strip_suffix("!d") {
        Some(text) => (text, Rep::Double),
        None => (word, Rep::Tagged),
    };
    let (name, n) = numbered(text)?;
    while vars.len() <= n as usize {
        vars.push(VarInfo { name: "".into(), rep: Rep::Tagged });
    }
    let info = &mut vars[n as usize];
    if info.name.is_empty() {
        *info = VarInfo { name, rep };
    } else if info.name != name || info.rep != rep {
        return Err(format!("variable {n} is `{}` and `{word}`", info.name));
    }
    Ok(Var(n))
}

/// Variables, perhaps a dot and one more, up to the closing parenthesis.
fn var_list(c: &mut Cursor, vars: &mut Vec<VarInfo>) -> Res<(Vec<Var>, Option<Var>)> {
    let mut all = vec![];
    while !c.take(")") {
        if c.keyword(".") {
            let rest = var(c.word()?, vars)?;
            c.expect(")")?;
            return Ok((all, Some(rest)));
        }
        all.push(var(c.word()?, vars)?);
    }
    Ok((all, None))
}
