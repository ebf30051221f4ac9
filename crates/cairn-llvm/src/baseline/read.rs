//! From LLVM's text, as [`crate::emit`] writes it, to instructions.

use super::data::{self, Global};
use super::ir::*;
use super::text::{Cursor, Symbols};

/// A module.
pub(super) struct Module<'a> {
    pub symbols: Symbols<'a>,
    /// Where the functions go, if not with all code.
    pub section: Option<&'a str>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
}

/// Reads a module; an error says what is not known here.
pub(super) fn module(ir: &str) -> Result<Module<'_>, String> {
    let mut m = Module { symbols: Symbols::default(), section: None, globals: Vec::new(), functions: Vec::new() };
    let mut lines = ir.lines();
    while let Some(line) = lines.next() {
        match line.as_bytes().first() {
            Some(b'@') => {
                let mut c = Cursor::new(&line[1..]);
                let symbol = m.symbols.number(c.symbol()?);
                c.expect(" = ")?;
                m.globals.push(data::global(&mut c, symbol, &mut m.symbols)?);
            }
            Some(b'd') if line.starts_with("define ") => {
                let f = Reader::new(&mut m.symbols, &mut m.section).function(line, &mut lines)?;
                m.functions.push(f);
            }
            // types, declarations, attributes, metadata
            Some(b'%' | b'd' | b'a' | b'!' | b't' | b';') | None => {}
            _ => return Err(format!("not known: {line}")),
        }
    }
    Ok(m)
}

/// Reads a function.
struct Reader<'s, 'a> {
    symbols: &'s mut Symbols<'a>,
    section: &'s mut Option<&'a str>,
    f: Function,
    /// Blocks by the numbers of their labels; 0: not seen.
    labels: Vec<u32>,
    /// Labels with names of their own.
    names: Vec<&'a str>,
    /// Values with names of their own.
    values: Vec<&'a str>,
    /// Values that are variables.
    variables: Vec<bool>,
}

/// The place of a name in a list, to which it is added if it is not in it.
fn place_of<'a>(names: &mut Vec<&'a str>, name: &'a str) -> u32 {
    let place = names.iter().position(|n| *n == name).unwrap_or(names.len());
    if place == names.len() {
        names.push(name);
    }
    place as u32
}

/// The block a label leads to is not defined yet.
const UNDEFINED: Block = 0..0;

impl<'s, 'a> Reader<'s, 'a> {
    fn new(symbols: &'s mut Symbols<'a>, section: &'s mut Option<&'a str>) -> Self {
        let f = Function { blocks: vec![UNDEFINED], values: parameter::OTHERS, ..Function::default() };
        let (labels, names, values) = (Vec::new(), Vec::new(), Vec::new());
        Reader { symbols, section, f, labels, names, values, variables: vec![false; parameter::OTHERS as usize] }
    }

    fn function(mut self, line: &'a str, lines: &mut std::str::Lines<'a>) -> Result<Function, String> {
        self.head(&mut Cursor::new(line))?;
        let mut here = 0;
        for line in lines {
            if line == "}" {
                self.end_block(here);
                if self.f.blocks.iter().any(|b| b.is_empty()) {
                    return Err("a block without instructions".into());
                }
                self.f.floats.resize(self.f.values as usize, false);
                return Ok(self.f);
            }
            if let Some(instruction) = line.strip_prefix("  ") {
                let mut c = Cursor::new(instruction);
                self.instruction(&mut c)?;
                // attributes of calls, and how an instruction may be optimized; source lines are not ours
                let rest = c.rest();
                let is_end = rest.is_empty() || rest.starts_with(" #") || rest.starts_with(", !");
                if !is_end || rest.contains("!dbg") {
                    return c.unknown("the end of an instruction");
                }
            } else if let Some(label) = line.strip_suffix(':') {
                self.end_block(here);
                here = self.label(&mut Cursor::new(label))?;
                let start = self.f.insts.len() as u32;
                self.f.blocks[here as usize] = start..start;
            }
        }
        Err("a function without an end".into())
    }

    fn end_block(&mut self, block: u32) {
        self.f.blocks[block as usize].end = self.f.insts.len() as u32;
    }

    /// `define … {`
    fn head(&mut self, c: &mut Cursor<'a>) -> Result<(), String> {
        c.expect("define ")?;
        self.f.is_global = !c.eat("internal ");
        self.f.is_c = !c.eat("preserve_nonecc ");
        c.expect("void @")?;
        self.f.symbol = self.symbols.number(c.symbol()?);
        c.expect(if self.f.is_c {
            "(ptr %ctx, i64 %clo)"
        } else {
            "(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4)"
        })?;
        c.expect(" #")?;
        c.number()?;
        if c.eat(" section \"") {
            *self.section = Some(c.find("\"")?);
        }
        c.eat(" align 16");
        if c.eat(" prefix ") {
            data::typed(c, self.symbols, &mut self.f.prefix)?;
        }
        if c.eat(" prologue ") {
            let mut bytes = Bytes::default();
            data::typed(c, self.symbols, &mut bytes)?;
            self.f.prologue = bytes.bytes;
        }
        c.expect(" {")
    }

    /// A label, without `%`.
    fn label(&mut self, c: &mut Cursor<'a>) -> Result<u32, String> {
        if c.eat("entry") {
            return Ok(0);
        }
        let name = c.word();
        let (kind, digits) = name.split_at(usize::from(!name.is_empty()));
        let key = match (kind, digits.parse::<usize>().ok().filter(|n| *n < 1 << 24)) {
            ("b", Some(n)) => 3 * n,
            ("l", Some(n)) => 3 * n + 1,
            ("", _) => return c.unknown("a label"),
            _ => 3 * place_of(&mut self.names, name) as usize + 2,
        };
        if key >= self.labels.len() {
            self.labels.resize(key + 1, 0);
        }
        if self.labels[key] == 0 {
            self.labels[key] = self.f.blocks.len() as u32;
            self.f.blocks.push(UNDEFINED);
        }
        Ok(self.labels[key])
    }

    /// The name of a value, behind `%`.
    fn value(&mut self, c: &mut Cursor<'a>) -> Result<Value, String> {
        let name = c.word();
        let (kind, digits) = name.split_at(usize::from(!name.is_empty()));
        let number = digits.parse::<u32>().ok().filter(|n| *n < 1 << 24);
        let value = match (kind, number) {
            ("t", Some(n)) => parameter::OTHERS + 3 * n,
            ("v", Some(n)) => parameter::OTHERS + 3 * n + 1,
            ("a", Some(n @ 0..=4)) => parameter::CLO + 1 + n,
            _ => match name {
                "ctx" => parameter::CTX,
                "sp" => parameter::SP,
                "lo" => parameter::LO,
                "hi" => parameter::HI,
                "argc" => parameter::ARGC,
                "clo" => parameter::CLO,
                "sp.v" => parameter::SP_VARIABLE,
                "lo.v" => parameter::LO_VARIABLE,
                "hi.v" => parameter::HI_VARIABLE,
                "" => return c.unknown("a value"),
                _ => parameter::OTHERS + 3 * place_of(&mut self.values, name) + 2,
            },
        };
        if value >= self.f.values {
            self.f.values = value + 1;
        }
        Ok(value)
    }

    fn op(&mut self, c: &mut Cursor<'a>) -> Result<Op, String> {
        if c.eat("%") { Ok(Op::Value(self.value(c)?)) } else { c.constant(self.symbols) }
    }

    fn next_op(&mut self, c: &mut Cursor<'a>) -> Result<Op, String> {
        c.expect(", ")?;
        self.op(c)
    }

    /// `, TYPE OP`
    fn typed_op(&mut self, c: &mut Cursor<'a>) -> Result<Op, String> {
        c.expect(", ")?;
        self.ty(c)?;
        self.op(c)
    }

    /// A type and the blank behind it.
    fn ty(&mut self, c: &mut Cursor<'a>) -> Result<Type, String> {
        let ty = match c.word_and_blank() {
            "i64" | "ptr" => Type::I64,
            "i32" => Type::I32,
            "i16" => Type::I16,
            "i8" => Type::I8,
            "i1" => Type::I1,
            "double" => Type::F64,
            "float" => Type::F32,
            _ => return c.unknown("a type"),
        };
        Ok(ty)
    }

    fn set_float(&mut self, value: Value) {
        if self.f.floats.len() <= value as usize {
            self.f.floats.resize(value as usize + 1, false);
        }
        self.f.floats[value as usize] = true;
    }

    fn is_variable(&self, op: Op) -> Option<Value> {
        match op {
            Op::Value(v) => self.variables.get(v as usize).is_some_and(|is| *is).then_some(v),
            _ => None,
        }
    }

    fn instruction(&mut self, c: &mut Cursor<'a>) -> Result<(), String> {
        let inst = if c.eat("%") {
            let to = self.value(c)?;
            c.expect(" = ")?;
            match c.word_and_blank() {
                "alloca" => {
                    if self.ty(c)?.is_float() {
                        self.set_float(to);
                    }
                    if self.variables.len() <= to as usize {
                        self.variables.resize(to as usize + 1, false);
                    }
                    self.variables[to as usize] = true;
                    return Ok(());
                }
                word => self.with_result(c, word, to)?,
            }
        } else {
            match c.word_and_blank() {
                "musttail" => {
                    c.expect("call preserve_nonecc void ")?;
                    let f = self.op(c)?;
                    Inst::Jump { f, operands: self.list(c)? }
                }
                "call" if c.eat("void @llvm.assume(i1 ") => {
                    self.op(c)?;
                    return c.expect(")");
                }
                word => self.without_result(c, word)?,
            }
        };
        self.f.insts.push(inst);
        Ok(())
    }

    fn without_result(&mut self, c: &mut Cursor<'a>, word: &str) -> Result<Inst, String> {
        Ok(match word {
            "store" => {
                c.eat("volatile ");
                let ty = self.ty(c)?;
                let value = self.op(c)?;
                c.expect(", ptr ")?;
                let at = self.op(c)?;
                match self.is_variable(at) {
                    Some(variable) => Inst::Set { variable, value },
                    None => Inst::Store { ty, value, at },
                }
            }
            "br" => {
                if c.eat("label %") {
                    return Ok(Inst::Goto { block: self.label(c)? });
                }
                c.expect("i1 ")?;
                let condition = self.op(c)?;
                c.expect(", label %")?;
                let then = self.label(c)?;
                c.expect(", label %")?;
                let otherwise = self.label(c)?;
                let unlikely = match c.rest() {
                    ", !prof !1" => Some(then),
                    ", !prof !0" => Some(otherwise),
                    _ => None,
                };
                Inst::Branch { condition, then, otherwise, unlikely }
            }
            "ret" => {
                c.expect("void")?;
                Inst::Return
            }
            "unreachable" => Inst::Unreachable,
            "call" => {
                if c.eat("void asm sideeffect \"leaq -8(%rsp), %rax\\0Amovq %rax, ") {
                    let at = c.number()? as i32;
                    c.expect("($0)\", \"r,~{rax},~{memory}\"(ptr %ctx)")?;
                    return Ok(Inst::NoteStack { at });
                }
                if c.eat("preserve_nonecc void ") {
                    let f = self.op(c)?;
                    return Ok(Inst::CallScheme { f, operands: self.list(c)? });
                }
                c.expect("void ")?;
                self.call_c(c, None)?
            }
            _ => return c.unknown("an instruction"),
        })
    }

    /// `(TYPE OP, …)`
    fn list(&mut self, c: &mut Cursor<'a>) -> Result<Operands, String> {
        let start = self.f.operands.len() as u32;
        c.expect("(")?;
        while !c.eat(")") {
            if self.ty(c)?.is_float() {
                return c.unknown("a double passed on");
            }
            let op = self.op(c)?;
            self.f.operands.push(op);
            c.eat(", ");
        }
        Ok(start..self.f.operands.len() as u32)
    }

    fn call_c(&mut self, c: &mut Cursor<'a>, to: Option<Value>) -> Result<Inst, String> {
        let variadic = c.eat("(...) ");
        if c.peek() != Some(b'%') {
            return c.unknown("a function");
        }
        let f = self.op(c)?;
        let operands = self.list(c)?;
        if operands.len() > super::x86::C_ARGUMENTS.len() {
            return c.unknown("so many arguments");
        }
        Ok(Inst::CallC { to, f, variadic, operands })
    }

    fn with_result(&mut self, c: &mut Cursor<'a>, word: &str, to: Value) -> Result<Inst, String> {
        Ok(match word {
            "load" => {
                c.eat("volatile ");
                let ty = self.ty(c)?;
                if ty.is_float() {
                    self.set_float(to);
                }
                c.expect(", ptr ")?;
                let at = self.op(c)?;
                match self.is_variable(at) {
                    Some(variable) => Inst::Get { to, variable },
                    None => Inst::Load { to, ty, at },
                }
            }
            "getelementptr" => {
                c.expect("i8, ptr ")?;
                let base = self.op(c)?;
                c.expect(", i64 ")?;
                let index = self.op(c)?;
                Inst::Address { to, base, index }
            }
            "extractvalue" => {
                c.find("} %")?;
                let of = self.value(c)?;
                c.expect(", ")?;
                Inst::Part { to, of, index: c.number()? as u8 }
            }
            "icmp" => {
                let condition = condition(c)?;
                let ty = self.ty(c)?;
                Inst::Compare { to, ty, condition, a: self.op(c)?, b: self.next_op(c)? }
            }
            "fcmp" => {
                let condition = float_condition(c)?;
                c.expect("double ")?;
                Inst::FloatCompare { to, condition, a: self.op(c)?, b: self.next_op(c)? }
            }
            "select" => {
                c.expect("i1 ")?;
                let condition = self.op(c)?;
                c.expect(", ")?;
                if self.ty(c)?.is_float() {
                    return c.unknown("a choice of doubles");
                }
                Inst::Select { to, condition, a: self.op(c)?, b: self.typed_op(c)? }
            }
            "phi" => self.phi(c, to)?,
            "call" => self.call(c, to)?,
            "inttoptr" | "ptrtoint" | "bitcast" | "zext" | "sext" | "trunc" | "sitofp" | "fptosi" | "fpext"
            | "fptrunc" => self.cast(c, word, to)?,
            "fneg" => {
                c.expect("double ")?;
                self.set_float(to);
                Inst::Intrinsic { to, which: Intrinsic::Negate, a: self.op(c)? }
            }
            "fadd" | "fsub" | "fmul" | "fdiv" => {
                c.expect("double ")?;
                self.set_float(to);
                let op = match word {
                    "fadd" => Float::Add,
                    "fsub" => Float::Sub,
                    "fmul" => Float::Mul,
                    _ => Float::Div,
                };
                Inst::Float { to, op, a: self.op(c)?, b: self.next_op(c)? }
            }
            _ => {
                let Some(op) = binary(word) else { return c.unknown("an instruction") };
                while c.eat("nuw ") || c.eat("nsw ") || c.eat("exact ") || c.eat("disjoint ") {}
                let ty = self.ty(c)?;
                Inst::Binary { to, ty, op, a: self.op(c)?, b: self.next_op(c)? }
            }
        })
    }

    fn phi(&mut self, c: &mut Cursor<'a>, to: Value) -> Result<Inst, String> {
        if self.ty(c)?.is_float() {
            self.set_float(to);
        }
        let (mut values, mut blocks) = (Vec::new(), Vec::new());
        loop {
            c.expect("[ ")?;
            values.push(self.op(c)?);
            c.expect(", %")?;
            blocks.push(Op::Int(self.label(c)?.into()));
            c.expect(" ]")?;
            if !c.eat(", ") {
                break;
            }
        }
        let mut add = |ops: Vec<Op>| {
            let start = self.f.operands.len() as u32;
            self.f.operands.extend(ops);
            start..self.f.operands.len() as u32
        };
        Ok(Inst::Phi { to, operands: add(values), blocks: add(blocks) })
    }

    fn cast(&mut self, c: &mut Cursor<'a>, word: &str, to: Value) -> Result<Inst, String> {
        c.eat("nneg ");
        let from = self.ty(c)?;
        let value = self.op(c)?;
        c.expect(" to ")?;
        let into = self.ty(c)?;
        let cast = match (word, from, into) {
            ("inttoptr" | "ptrtoint" | "trunc", ..) if into != Type::I1 => Cast::Same,
            ("bitcast", Type::I64, Type::F64) => Cast::BitsToDouble,
            ("bitcast", Type::F64, Type::I64) => Cast::DoubleToBits,
            ("zext", ..) => Cast::Zext(from),
            ("sext", Type::I8 | Type::I16 | Type::I32, _) => Cast::Sext(from),
            ("sitofp", Type::I64, Type::F64) => Cast::SignedToDouble,
            ("fptosi", Type::F64, Type::I64) => Cast::DoubleToSigned,
            ("fpext", ..) => Cast::FloatToDouble,
            ("fptrunc", ..) => Cast::DoubleToFloat,
            _ => return c.unknown("a conversion"),
        };
        if into.is_float() {
            self.set_float(to);
        }
        Ok(Inst::Cast { to, cast, value })
    }

    fn call(&mut self, c: &mut Cursor<'a>, to: Value) -> Result<Inst, String> {
        if c.eat("{ i64, i1 } @llvm.") {
            let op = match c.find(".with.overflow.i64(i64 ")? {
                "sadd" => Binary::Add,
                "ssub" => Binary::Sub,
                "smul" => Binary::Mul,
                _ => return c.unknown("an operation"),
            };
            let (a, b) = (self.op(c)?, self.typed_op(c)?);
            c.expect(")")?;
            return Ok(Inst::Checked { to, op, a, b });
        }
        if c.eat("{ i64, i64, i64 } asm sideeffect \"callq *") {
            return self.stub(c, to, false);
        }
        if c.eat("{ i64, i64, i64, i64 } asm sideeffect \"callq *") {
            return self.stub(c, to, true);
        }
        let ty = self.ty(c)?;
        if c.eat("@llvm.") {
            return self.intrinsic(c, to);
        }
        if ty.is_float() {
            return c.unknown("a call for a double");
        }
        self.call_c(c, Some(to))
    }

    /// `N(%r12)", "={rax},…"(i64 …) #1`
    fn stub(&mut self, c: &mut Cursor<'a>, to: Value, moves_sp: bool) -> Result<Inst, String> {
        let at = c.number()? as i32;
        c.expect(if moves_sp {
            "(%r12)\", \"={rax},={r14},={r15},={r13},0,{r12},3"
        } else {
            "(%r12)\", \"={rax},={r14},={r15},0,{r12},{r13}"
        })?;
        for r in ["rsi", "rdx", "rcx", "r8", "r9"] {
            if !c.eat(&format!(",{{{r}}}")) {
                break;
            }
        }
        c.expect(",1,2")?;
        c.eat(",~{memory}");
        c.expect(",~{dirflag},~{fpsr},~{flags}\"")?;
        let operands = self.list(c)?;
        Ok(Inst::Stub { to, at, moves_sp, operands })
    }

    fn intrinsic(&mut self, c: &mut Cursor<'a>, to: Value) -> Result<Inst, String> {
        let name = c.find("(")?;
        self.ty(c)?;
        let a = self.op(c)?;
        let which = match name {
            "fshl.i64" | "fshr.i64" => {
                let b = self.typed_op(c)?;
                let Op::Int(bits @ 0..=63) = self.typed_op(c)? else { return c.unknown("a number of bits") };
                c.expect(")")?;
                return Ok(Inst::Funnel { to, left: name == "fshl.i64", a, b, bits: bits as u8 });
            }
            "ctpop.i64" => Intrinsic::Ones,
            "ctlz.i64" => Intrinsic::LeadingZeros,
            "cttz.i64" => Intrinsic::TrailingZeros,
            "sqrt.f64" => Intrinsic::Sqrt,
            "fabs.f64" => Intrinsic::Fabs,
            "roundeven.f64" => Intrinsic::Round(8),
            "floor.f64" => Intrinsic::Round(9),
            "ceil.f64" => Intrinsic::Round(10),
            "trunc.f64" => Intrinsic::Round(11),
            _ => return c.unknown("a function"),
        };
        if !matches!(which, Intrinsic::Ones | Intrinsic::LeadingZeros | Intrinsic::TrailingZeros) {
            self.set_float(to);
        }
        if !c.eat(", i1 true") {
            c.eat(", i1 false");
        }
        c.expect(")")?;
        Ok(Inst::Intrinsic { to, which, a })
    }
}

fn binary(word: &str) -> Option<Binary> {
    Some(match word {
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "mul" => Binary::Mul,
        "and" => Binary::And,
        "or" => Binary::Or,
        "xor" => Binary::Xor,
        "shl" => Binary::Shl,
        "lshr" => Binary::Lshr,
        "ashr" => Binary::Ashr,
        "sdiv" => Binary::Sdiv,
        "srem" => Binary::Srem,
        _ => return None,
    })
}

fn condition(c: &mut Cursor<'_>) -> Result<Condition, String> {
    Ok(match c.word_and_blank() {
        "eq" => Condition::Equal,
        "ne" => Condition::NotEqual,
        "ult" => Condition::Below,
        "ule" => Condition::BelowOrEqual,
        "ugt" => Condition::Above,
        "uge" => Condition::AboveOrEqual,
        "slt" => Condition::Less,
        "sle" => Condition::LessOrEqual,
        "sgt" => Condition::Greater,
        "sge" => Condition::GreaterOrEqual,
        _ => return c.unknown("a comparison"),
    })
}

fn float_condition(c: &mut Cursor<'_>) -> Result<FloatCondition, String> {
    Ok(match c.word_and_blank() {
        "oeq" => FloatCondition::Equal,
        "une" => FloatCondition::UnorderedOrNotEqual,
        "olt" => FloatCondition::Less,
        "ole" => FloatCondition::LessOrEqual,
        "ogt" => FloatCondition::Greater,
        "oge" => FloatCondition::GreaterOrEqual,
        _ => return c.unknown("a comparison"),
    })
}
