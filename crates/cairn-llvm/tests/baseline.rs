//! Our own code generator beside LLVM: random functions in the language that the emitter writes.
//!
//! A function takes words from memory and puts what it has computed there. Variables are set and got in branches and
//! loops, many values live at once, and some are used blocks later, so that registers run out and phis have work.

#![allow(unsafe_code)]

use cairn_llvm::Jit;
use cairn_llvm::backend::{OptLevel, compile_to_object};
use cairn_llvm::baseline::{Refusal, compile};
use object::{Object, ObjectSymbol};
use std::fmt::Write;

/// Words that a function gets and leaves.
const WORDS: usize = 32;

const HEAD: &str = "target triple = \"x86_64-pc-linux-gnu\"\n\
    declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)\n\
    declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64)\n\
    declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)\n\
    declare i64 @llvm.fshl.i64(i64, i64, i64)\n\
    declare i64 @llvm.fshr.i64(i64, i64, i64)\n\
    declare i64 @llvm.ctpop.i64(i64)\n\
    declare i64 @llvm.ctlz.i64(i64, i1)\n\
    declare i64 @llvm.cttz.i64(i64, i1)\n\
    declare double @llvm.sqrt.f64(double)\n\
    declare double @llvm.fabs.f64(double)\n\
    declare double @llvm.floor.f64(double)\n\
    !0 = !{!\"branch_weights\", i32 2000, i32 1}\n\
    !1 = !{!\"branch_weights\", i32 1, i32 2000}\n\
    attributes #0 = { noredzone nounwind \"frame-pointer\"=\"none\" }\n";

/// Numbers that look random (Vigna's splitmix64).
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Writes a function.
struct Writer {
    random: Random,
    text: String,
    next: usize,
    block: String,
    /// Conditions, words and doubles that are known here.
    conditions: Vec<String>,
    words: Vec<String>,
    doubles: Vec<String>,
    variables: usize,
    double_variables: usize,
}

impl Writer {
    fn function(seed: u64) -> String {
        let mut w = Writer {
            random: Random(seed),
            text: String::new(),
            next: 0,
            block: "entry".into(),
            conditions: Vec::new(),
            words: Vec::new(),
            doubles: Vec::new(),
            variables: 0,
            double_variables: 0,
        };
        w.variables = 2 + w.random.below(14);
        w.double_variables = w.random.below(6);
        for v in 0..w.variables {
            w.line(format!("%v{v} = alloca i64"));
        }
        for v in 0..w.double_variables {
            w.line(format!("%v{} = alloca double", 100 + v));
        }
        for v in 0..w.variables {
            let x = w.input();
            w.line(format!("store i64 {x}, ptr %v{v}"));
        }
        for v in 0..w.double_variables {
            let x = w.input();
            let d = w.double_of(&x);
            w.line(format!("store double {d}, ptr %v{}", 100 + v));
        }
        w.body(3);
        for (k, x) in w.words.clone().into_iter().enumerate() {
            w.output(k % WORDS, &x);
        }
        for v in 0..w.variables {
            let x = w.set(format!("load i64, ptr %v{v}"));
            w.output(v, &x);
        }
        for v in 0..w.double_variables {
            let d = w.set(format!("load double, ptr %v{}", 100 + v));
            let x = w.bits_of(&d);
            w.output(WORDS - 1 - v, &x);
        }
        w.line("ret void".into());
        format!("define void @f(ptr %ctx, i64 %clo) #0 {{\nentry:\n{}}}\n", w.text)
    }

    fn line(&mut self, text: String) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn set(&mut self, text: String) -> String {
        self.next += 1;
        let name = format!("%t{}", self.next);
        self.line(format!("{name} = {text}"));
        name
    }

    fn label(&mut self) -> String {
        self.next += 1;
        format!("l{}", self.next)
    }

    fn start(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
        self.block = label.into();
    }

    fn input(&mut self) -> String {
        let k = self.random.below(WORDS);
        let p = self.set(format!("getelementptr i8, ptr %ctx, i64 {}", 8 * k));
        self.set(format!("load i64, ptr {p}"))
    }

    fn output(&mut self, k: usize, x: &str) {
        let p = self.set(format!("getelementptr i8, ptr %ctx, i64 {}", 8 * k));
        let old = self.set(format!("load i64, ptr {p}"));
        let turned = self.set(format!("call i64 @llvm.fshl.i64(i64 {old}, i64 {old}, i64 7)"));
        let new = self.set(format!("xor i64 {turned}, {x}"));
        self.line(format!("store i64 {new}, ptr {p}"));
    }

    /// A word: one that is known, what a variable holds, or a number.
    fn word(&mut self) -> String {
        match self.random.below(8) {
            0 => {
                self.random.one_of(&["0", "1", "-1", "8", "7", "255", "-129", "2147483647", "-2147483648"]).into()
            }
            1 => self
                .random
                .one_of(&["2147483648", "4294967296", "-9223372036854775808", "81985529216486895"])
                .into(),
            2 | 3 => {
                let v = self.random.below(self.variables);
                self.set(format!("load i64, ptr %v{v}"))
            }
            _ if !self.words.is_empty() => self.random.one_of(&self.words.clone()),
            _ => self.input(),
        }
    }

    /// A word that is no number.
    fn value(&mut self) -> String {
        loop {
            let word = self.word();
            if word.starts_with('%') {
                return word;
            }
        }
    }

    fn double_of(&mut self, x: &str) -> String {
        let small = self.set(format!("ashr i64 {x}, 40"));
        let d = self.set(format!("sitofp i64 {small} to double"));
        let scale = self.random.one_of(&["0x3FB999999999999A", "0xC010000000000000", "0x0000000000000000"]);
        self.set(format!("fmul double {d}, {scale}"))
    }

    /// The bits of a double; of what is no number, which operand it comes from is open.
    fn bits_of(&mut self, d: &str) -> String {
        let bits = self.set(format!("bitcast double {d} to i64"));
        let is_number = self.set(format!("fcmp oeq double {d}, {d}"));
        self.set(format!("select i1 {is_number}, i64 {bits}, i64 77"))
    }

    fn double(&mut self) -> String {
        match self.random.below(5) {
            0 => self.random.one_of(&["0x3FF0000000000000", "0xBFE0000000000000", "0x0000000000000000"]).into(),
            1 if self.double_variables > 0 => {
                let v = 100 + self.random.below(self.double_variables);
                self.set(format!("load double, ptr %v{v}"))
            }
            2 | 3 if !self.doubles.is_empty() => self.random.one_of(&self.doubles.clone()),
            _ => {
                let x = self.value();
                self.double_of(&x)
            }
        }
    }

    /// A condition: one that is known, as it may have been for some blocks, or a new one.
    fn condition(&mut self) -> String {
        if !self.conditions.is_empty() && self.random.below(4) == 0 {
            let k = self.random.below(self.conditions.len());
            return self.conditions.swap_remove(k);
        }
        self.new_condition()
    }

    fn new_condition(&mut self) -> String {
        match self.random.below(7) {
            0 => {
                let (a, b) = (self.double(), self.double());
                let c = self.random.one_of(&["oeq", "une", "olt", "ole", "ogt", "oge"]);
                self.set(format!("fcmp {c} double {a}, {b}"))
            }
            1 => {
                let (a, mask) = (self.value(), self.random.one_of(&["7", "255", "-8", "4294967295", "1"]));
                let t = self.set(format!("and i64 {a}, {mask}"));
                let c = self.random.one_of(&["eq", "ne"]);
                self.set(format!("icmp {c} i64 {t}, 0"))
            }
            2 => {
                let (a, n) = (self.value(), self.random.one_of(&["0", "5", "-1", "100"]));
                let t = self.set(format!("trunc i64 {a} to i32"));
                let c = self.random.one_of(&["eq", "ne", "uge"]);
                self.set(format!("icmp {c} i32 {t}, {n}"))
            }
            3 => {
                let (a, b) = (self.condition(), self.condition());
                let op = self.random.one_of(&["or", "and", "xor"]);
                self.set(format!("{op} i1 {a}, {b}"))
            }
            _ => {
                let (a, b) = (self.word(), self.word());
                let c = self.random.one_of(&["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]);
                self.set(format!("icmp {c} i64 {a}, {b}"))
            }
        }
    }

    /// Something that is computed.
    fn step(&mut self) {
        if self.random.below(6) == 0 {
            let condition = self.new_condition();
            self.conditions.push(condition);
        }
        let x = match self.random.below(17) {
            0 | 1 => {
                let (op, a, b) = (self.random.one_of(&["add", "sub", "mul"]), self.word(), self.word());
                self.set(format!("{op} i64 {a}, {b}"))
            }
            2 => {
                let (op, a, b) = (self.random.one_of(&["and", "or", "xor"]), self.word(), self.word());
                self.set(format!("{op} i64 {a}, {b}"))
            }
            3 => {
                let (op, a) = (self.random.one_of(&["shl", "lshr", "ashr"]), self.word());
                let n = self.random.below(64);
                self.set(format!("{op} i64 {a}, {n}"))
            }
            4 => {
                let (op, a, n) = (self.random.one_of(&["shl", "lshr", "ashr"]), self.word(), self.value());
                let n = self.set(format!("and i64 {n}, 63"));
                self.set(format!("{op} i64 {a}, {n}"))
            }
            5 => {
                let (op, a, b) = (self.random.one_of(&["sdiv", "srem"]), self.word(), self.value());
                let b = self.set(format!("or i64 {b}, 1"));
                let b = self.set(format!("lshr i64 {b}, 1"));
                let b = self.set(format!("or i64 {b}, 1"));
                self.set(format!("{op} i64 {a}, {b}"))
            }
            6 => {
                let (a, b) = (self.word(), self.value());
                let side = self.random.one_of(&["l", "r"]);
                let b = if self.random.below(2) == 0 { a.clone() } else { b };
                let n = 1 + self.random.below(63);
                self.set(format!("call i64 @llvm.fsh{side}.i64(i64 {a}, i64 {b}, i64 {n})"))
            }
            7 => {
                let (c, a, b) = (self.condition(), self.word(), self.word());
                self.set(format!("select i1 {c}, i64 {a}, i64 {b}"))
            }
            8 => {
                let c = self.condition();
                self.set(format!("zext i1 {c} to i64"))
            }
            9 => {
                let (a, ty) = (self.value(), self.random.one_of(&["i8", "i16", "i32"]));
                let t = self.set(format!("trunc i64 {a} to {ty}"));
                let op = self.random.one_of(&["zext", "sext"]);
                self.set(format!("{op} {ty} {t} to i64"))
            }
            10 => {
                let a = self.value();
                let f = self.random.one_of(&[
                    "ctpop.i64(i64 {}",
                    "ctlz.i64(i64 {}, i1 false",
                    "cttz.i64(i64 {}, i1 false",
                ]);
                self.set(format!("call i64 @llvm.{})", f.replace("{}", &a)))
            }
            11 => {
                // a word at a place that is computed
                let i = self.value();
                let i = self.set(format!("and i64 {i}, {}", 8 * (WORDS - 1)));
                let p = self.set(format!("getelementptr i8, ptr %ctx, i64 {i}"));
                let ty = self.random.one_of(&["i64", "i32", "i16", "i8"]);
                let x = self.set(format!("load {ty}, ptr {p}"));
                match ty {
                    "i64" => x,
                    _ => self.set(format!("zext {ty} {x} to i64")),
                }
            }
            12 => {
                let (i, x) = (self.value(), self.value());
                let i = self.set(format!("and i64 {i}, {}", 8 * (WORDS - 1)));
                let p = self.set(format!("getelementptr i8, ptr %ctx, i64 {i}"));
                let ty = self.random.one_of(&["i64", "i32", "i16", "i8"]);
                let t = if ty == "i64" { x.clone() } else { self.set(format!("trunc i64 {x} to {ty}")) };
                self.line(format!("store {ty} {t}, ptr {p}"));
                x
            }
            13 | 14 => {
                let (op, a, b) =
                    (self.random.one_of(&["fadd", "fsub", "fmul", "fdiv"]), self.double(), self.double());
                let d = self.set(format!("{op} double {a}, {b}"));
                self.doubles.push(d.clone());
                self.bits_of(&d)
            }
            15 => {
                let a = self.double();
                let f = self.random.one_of(&["fabs", "floor", "neg"]);
                let d = match f {
                    "neg" => self.set(format!("fneg double {a}")),
                    _ => self.set(format!("call double @llvm.{f}.f64(double {a})")),
                };
                self.doubles.push(d.clone());
                self.bits_of(&d)
            }
            _ => {
                let (op, a, b) = (self.random.one_of(&["sadd", "ssub", "smul"]), self.word(), self.word());
                let r = self.set(format!("call {{ i64, i1 }} @llvm.{op}.with.overflow.i64(i64 {a}, i64 {b})"));
                let o = self.set(format!("extractvalue {{ i64, i1 }} {r}, 1"));
                let x = self.set(format!("extractvalue {{ i64, i1 }} {r}, 0"));
                let y = self.word();
                self.choose(&o, x, y)
            }
        };
        self.words.push(x);
    }

    /// A branch to two empty blocks and a phi.
    fn choose(&mut self, condition: &str, x: String, y: String) -> String {
        let (then, otherwise, join) = (self.label(), self.label(), self.label());
        let odds = self.random.one_of(&["", ", !prof !0", ", !prof !1"]);
        self.line(format!("br i1 {condition}, label %{then}, label %{otherwise}{odds}"));
        for l in [&then, &otherwise] {
            self.start(l);
            self.line(format!("br label %{join}"));
        }
        self.start(&join);
        self.set(format!("phi i64 [ {x}, %{otherwise} ], [ {y}, %{then} ]"))
    }

    fn body(&mut self, depth: usize) {
        for _ in 0..2 + self.random.below(8) {
            match self.random.below(if depth > 0 { 9 } else { 6 }) {
                0..4 => self.step(),
                4 => {
                    let (x, v) = (self.word(), self.random.below(self.variables));
                    self.line(format!("store i64 {x}, ptr %v{v}"));
                }
                5 if self.double_variables > 0 => {
                    let (d, v) = (self.double(), self.random.below(self.double_variables));
                    self.line(format!("store double {d}, ptr %v{}", 100 + v));
                }
                5 => self.step(),
                6 | 7 => self.branch(depth),
                _ => self.repeat(depth),
            }
        }
    }

    /// Two ways, and phis where they meet.
    fn branch(&mut self, depth: usize) {
        let condition = self.condition();
        let (then, otherwise, join) = (self.label(), self.label(), self.label());
        let odds = self.random.one_of(&["", ", !prof !0", ", !prof !1"]);
        self.line(format!("br i1 {condition}, label %{then}, label %{otherwise}{odds}"));
        let (words, doubles) = (self.words.len(), self.doubles.len());
        let conditions = self.conditions.clone();
        let phis = self.random.below(4);
        let mut ways = Vec::new();
        for l in [then, otherwise] {
            self.conditions.clone_from(&conditions);
            self.start(&l);
            self.body(depth - 1);
            let values: Vec<String> = (0..phis).map(|_| self.word()).collect();
            let double = self.double();
            ways.push((values, double, self.block.clone()));
            self.line(format!("br label %{join}"));
            self.words.truncate(words);
            self.doubles.truncate(doubles);
        }
        self.conditions = conditions;
        self.start(&join);
        let [(xs, d, from), (ys, e, other)] = &ways[..] else { unreachable!("two ways") };
        let mut made = Vec::new();
        for (x, y) in xs.iter().zip(ys) {
            made.push(self.set(format!("phi i64 [ {x}, %{from} ], [ {y}, %{other} ]")));
        }
        let d = self.set(format!("phi double [ {d}, %{from} ], [ {e}, %{other} ]"));
        self.words.extend(made);
        self.doubles.push(d);
    }

    /// A loop of some turns, whose phis may change places.
    fn repeat(&mut self, depth: usize) {
        let (head, end) = (self.label(), self.label());
        let count = 1 + self.random.below(5);
        let phis = 1 + self.random.below(4);
        let firsts: Vec<String> = (0..phis).map(|_| self.word()).collect();
        let before = self.block.clone();
        self.line(format!("br label %{head}"));
        self.start(&head);
        // what the phis become is known at the end
        let counter = format!("%t{}", self.next + 1);
        self.next += 2 + phis;
        let names: Vec<String> = (0..phis).map(|k| format!("%t{}", self.next - k)).collect();
        let at = self.text.len();
        let (words, doubles, conditions) = (self.words.len(), self.doubles.len(), self.conditions.clone());
        self.words.extend(names.clone());
        self.words.push(counter.clone());
        self.body(depth - 1);
        let next = self.set(format!("add i64 {counter}, 1"));
        let more = self.set(format!("icmp ult i64 {next}, {count}"));
        let lasts: Vec<String> = match self.random.below(2) {
            0 => (0..phis).map(|k| names[(k + 1) % phis].clone()).collect(),
            _ => (0..phis).map(|_| self.value()).collect(),
        };
        let last = self.block.clone();
        self.line(format!("br i1 {more}, label %{head}, label %{end}"));
        let mut text = format!("  {counter} = phi i64 [ 0, %{before} ], [ {next}, %{last} ]\n");
        for ((name, first), next) in names.iter().zip(&firsts).zip(&lasts) {
            let _ = writeln!(text, "  {name} = phi i64 [ {first}, %{before} ], [ {next}, %{last} ]");
        }
        self.text.insert_str(at, &text);
        self.words.truncate(words);
        self.doubles.truncate(doubles);
        self.conditions = conditions;
        self.words.extend(names);
        self.start(&end);
    }
}

fn run(object: &[u8], input: [u64; WORDS]) -> [u64; WORDS] {
    let jit = Jit::load_object(object).expect("loads");
    let address = jit.lookup("f").expect("f");
    let mut memory = input;
    // SAFETY: the text defines `f` as a function of a pointer to `WORDS` words and a word; `jit` keeps its code.
    unsafe {
        let f: extern "C" fn(*mut u64, u64) = std::mem::transmute(address);
        f(memory.as_mut_ptr(), 0);
    }
    memory
}

#[test]
fn random_functions_do_what_llvm_makes_of_them() {
    if cairn_llvm::available().is_err() {
        return;
    }
    let functions = std::env::var("CAIRN_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    for seed in 0..functions {
        let ir = format!("{HEAD}{}", Writer::function(seed));
        let reference = compile_to_object(&ir, OptLevel::LowNative).expect("LLVM compiles");
        let own = compile(&ir).unwrap_or_else(|e| panic!("{e:?} in\n{ir}"));
        let mut random = Random(seed ^ 0xABCD);
        for _ in 0..4 {
            let input: [u64; WORDS] = std::array::from_fn(|_| match random.below(3) {
                0 => random.word(),
                1 => random.word() >> random.below(64),
                _ => (random.word() as i64 >> random.below(64)) as u64,
            });
            assert_eq!(run(&own, input), run(&reference, input), "seed {seed}\n{ir}");
        }
    }
}

#[test]
fn names_are_those_that_llvm_gives() {
    let ir = "define internal preserve_nonecc void @\"scm.\\CE\\BB, !x \\22y\\22\"(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, \
              i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 {\n\
              entry:\n  musttail call preserve_nonecc void @\"scm.\\CE\\BB, !x \\22y\\22\"(ptr %ctx, i64 %sp, i64 %lo, \
              i64 %hi, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)\n  ret void\n}\n";
    let object = compile(ir).expect("compiles");
    let file = object::File::parse(&object[..]).expect("an object");
    let names: Vec<_> = file.symbols().filter_map(|s| s.name().ok()).filter(|n| !n.is_empty()).collect();
    assert!(names.contains(&"scm.λ, !x \"y\""), "{names:?}");
}

#[test]
fn what_is_left_to_llvm_is_said() {
    let with = |instruction: &str| {
        compile(&format!("define void @f(ptr %ctx, i64 %clo) #0 {{\nentry:\n  {instruction}\n  ret void\n}}\n"))
    };
    assert!(with("%t0 = load i64, ptr %ctx").is_ok());
    assert_eq!(with("%t0 = load i64, ptr %ctx, !dbg !5"), Err(Refusal::Foreign));
    assert_eq!(
        with("%t0 = call { i64, double } asm sideeffect alignstack \"callq *8(%r12)\", \"={rax}\"()"),
        Err(Refusal::Foreign)
    );
    assert!(
        matches!(with("%t0 = frobnicate i64 %clo, 1"), Err(Refusal::Unknown(what)) if what.contains("frobnicate"))
    );
}
