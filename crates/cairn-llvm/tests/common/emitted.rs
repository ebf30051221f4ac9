//! What emitted code does about memory, read off its text, against what the program and the collector's facts demand.
//!
//! This knows nothing of the emitter: it recognizes loads and stores of the nursery's ends, of the free lists, of cards
//! and of the spill area by their addresses, and runtime calls by their rows; what is demanded it computes from the
//! Frame IR.

use cairn_core::ir::Literal;
use cairn_core::prim::{Numeric, Op as P, PrimOp, scalar_bit};
use cairn_frame::ir::*;
use cairn_layout::calls::{ALLOC, FAIL, RT_CALLS, by_symbol};
use cairn_layout::collector::*;
use cairn_layout::facts::FrameKind;
use cairn_layout::limits::SPILL_WORDS;
use cairn_layout::machine::Machine;
use cairn_layout::object::{AllocKind, continuation, headed_bytes};
use std::collections::HashMap;
use std::fmt::Debug;
use std::mem::offset_of;
use std::ops::Range;

/// Ways in which the text contradicts the facts.
pub fn contradictions(m: &Module, facts: &CollectorFacts, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = 0;
    let slow_calls = slow_calls(text);
    for (name, body) in functions(text) {
        if name == "@cairn_again" {
            continue; // for all functions whose check comes first: the roots are what came in
        }
        let demanded = demands(m, name, facts.indirect);
        seen += demanded.is_some() as usize;
        compare(name, &demanded.unwrap_or_default(), facts, &effects(body, &slow_calls), &mut found);
    }
    let emitted = m.functions.iter().filter(|f| f.in_use()).count();
    if seen != emitted + 2 {
        found
            .push(format!("{seen} functions are recognized, {emitted} should be, and the prelude's two captures"));
    }
    found
}

// ---- what is demanded

#[derive(Default)]
struct Demands {
    objects: Vec<(AllocKind, u64)>,
    checks: Vec<u64>,
    barriers: usize,
    /// Compact records lie in pools.
    compact: bool,
}

/// Of the function with this symbol; `None` for others of the prelude and for single-value entries of multiple-value
/// ones.
fn demands(m: &Module, symbol: &str, compact: bool) -> Option<Demands> {
    let mut d = Demands { compact, ..Demands::default() };
    if ["@cairn_call_cc", "@cairn_call_1cc"].contains(&symbol) {
        // Where frames are copied or marked, the runtime makes the object; chunks may have to make one of what is
        // below.
        let made = match m.strategy.kind {
            FrameKind::Chunks => 2,
            FrameKind::Heap => 1,
            FrameKind::Stack | FrameKind::Resize | FrameKind::Quasi | FrameKind::Native => 0,
        };
        let bytes = 8 * continuation::LEN;
        d.objects.extend(vec![(AllocKind::Procedure, bytes); made]);
        d.checks.push(bytes * made.max(1) as u64);
        return Some(d);
    }
    let name = symbol.strip_prefix("@\"scm.")?.strip_suffix('"')?;
    let function = m.functions.iter().find(|f| match &f.kind {
        FuncKind::Return { results: Results::Multi { .. }, .. } => name.strip_suffix(".mv") == Some(&*f.name),
        _ => name == &*f.name,
    })?;
    // a list of one value
    if let FuncKind::Return { results: Results::Multi { rest: Some(_), .. }, .. } = &function.kind {
        d.objects.push((AllocKind::Pair, 16));
        d.checks.push(16);
    }
    for b in &function.blocks {
        for s in &b.stmts {
            match s {
                Stmt::Assign(_, op) | Stmt::Effect(op) => operation(op, &mut d),
                Stmt::HeapCheck { bytes, .. } => d.checks.push((*bytes).into()),
                #[allow(unreachable_patterns)]
                _ => {}
            }
        }
        match &b.term {
            Term::Branch { test: Test::Prim(p), .. } => primitive(p, &mut d),
            Term::Call { frame, .. } if m.strategy.frames_in_heap => {
                d.objects.push((AllocKind::Procedure, 8 * u64::from(frame.frame.words)));
            }
            _ => {}
        }
    }
    Some(d)
}

fn operation(op: &Op, d: &mut Demands) {
    match op {
        Op::Prim(p) => primitive(p, d),
        Op::SetGlobal(_, o) | Op::SetGlobalChecked(_, o, _) => d.barriers += may_be_young(o) as usize,
        Op::Closure { free, .. } => d.objects.push((AllocKind::Procedure, headed_bytes(free.len()))),
        _ => {}
    }
}

fn primitive(p: &Prim, d: &mut Demands) {
    let headed = match p.op {
        PrimOp::Op(P::Cons) => return d.objects.push((AllocKind::Pair, 16)),
        PrimOp::Op(P::MakeBox | P::MakePromise) => 1,
        PrimOp::Op(P::FlRectangular) => 2,
        PrimOp::Op(op) if op.numeric().is_some_and(|(access, k)| access == Numeric::Ref && k.is_complex()) => 2,
        PrimOp::Op(P::RawRecord) => {
            return d.objects.push((AllocKind::Leaf, headed_bytes(p.raw_words())));
        }
        PrimOp::CCall => match p.c_struct_words() {
            Some(words) => return d.objects.push((AllocKind::Leaf, headed_bytes(words))),
            None => return,
        },
        PrimOp::Op(P::CompactRecord) if d.compact => return,
        PrimOp::Op(P::CompactRecord) => p.raw_words(),
        PrimOp::Record => p.args.len() - 1,
        PrimOp::Vector | PrimOp::Opaque => p.args.len(),
        PrimOp::Op(P::SetCar | P::SetCdr | P::SetBox | P::PromiseSet) => return stored(p, 1, d),
        PrimOp::Op(P::VectorSet | P::PortSet | P::OpaqueSet) => return stored(p, 2, d),
        PrimOp::Op(P::RecordSet | P::RecordAtSet | P::StructureSet) => return stored(p, 3, d),
        _ => return,
    };
    d.objects.push((AllocKind::Scannable, headed_bytes(headed)));
}

/// Operand `i` is put into an object that may be old.
fn stored(p: &Prim, i: usize, d: &mut Demands) {
    let scalar = p.op.stored_operand().is_some() && p.proven & scalar_bit(i) != 0;
    d.barriers += (may_be_young(&p.args[i]) && !scalar) as usize;
}

/// May the operand be a pointer to a young object?
fn may_be_young(o: &Operand) -> bool {
    match o {
        Operand::Var(_) | Operand::Const(Literal::Symbol(_)) => true,
        Operand::Const(_) | Operand::Procedure(_) => false,
    }
}

// ---- what is done

#[derive(Default, Debug)]
struct Effects {
    /// What is added to `lo`, taken from `hi`.
    lo: Vec<u64>,
    hi: Vec<u64>,
    /// Lists whose first cell is loaded; lists that are refilled.
    pops: Vec<u8>,
    refills: Vec<u8>,
    /// Objects asked of the runtime.
    asked: Vec<(u64, u64)>,
    /// Constants stored as headers.
    headers: Vec<u64>,
    cards: usize,
    spilled: usize,
    reloaded: usize,
    /// Loads that may read anything.
    unclassified: usize,
    /// Calls that allocate, yet are said to leave memory alone.
    secretive: Vec<&'static str>,
    strange: Vec<String>,
}

/// The functions of a module's text: symbol and lines.
fn functions(text: &str) -> Vec<(&str, Vec<&str>)> {
    text.split("\ndefine ")
        .skip(1)
        .map(|part| {
            let body = part.split("\n}").next().expect("a body");
            let head = body.lines().next().expect("a head");
            let at = head.find('@').expect("a symbol");
            let rest = &head[at..];
            let end = match rest.strip_prefix("@\"") {
                Some(quoted) => quoted.find('"').expect("a closing quote") + 3,
                None => rest.find('(').expect("parameters"),
            };
            (&rest[..end], body.lines().skip(1).map(str::trim).collect())
        })
        .collect()
}

fn number(text: &str) -> Option<u64> {
    text.parse::<i64>().ok().map(|n| n as u64)
}

/// The runtime calls of the descriptors of slow calls, as offsets in the machine context.
fn slow_calls(text: &str) -> HashMap<&str, usize> {
    let lines = text.lines().filter(|l| l.starts_with("@cairn_slow."));
    lines
        .map(|l| {
            let (name, value) = l.split_once(" = ").expect("a definition");
            let offset = value.split("{ i64 ").nth(1).and_then(|v| v.split(',').next()).expect("an offset");
            (name, offset.parse().expect("a number"))
        })
        .collect()
}

fn effects(lines: Vec<&str>, slow_calls: &HashMap<&str, usize>) -> Effects {
    let mut e = Effects::default();
    let defined: HashMap<&str, &str> = lines.iter().filter_map(|l| l.split_once(" = ")).collect();
    let machine = |p: &str| -> Option<usize> {
        let offset = defined.get(p)?.strip_prefix("getelementptr i8, ptr %ctx, i64 ")?;
        offset.parse().ok()
    };
    let list_of = |p: &str| {
        let start = offset_of!(Machine, free);
        let offset = machine(p).filter(|o| (start..start + 8 * FREE_LISTS).contains(o))?;
        Some(((offset - start) / 8) as u8)
    };
    let spill: Range<usize> = offset_of!(Machine, spill)..offset_of!(Machine, spill) + 8 * SPILL_WORDS;
    for line in &lines {
        let (result, text) = line.split_once(" = ").unwrap_or(("", line));
        if let Some(rest) = text.strip_prefix("store i64 ") {
            let Some((value, place)) = rest.split_once(", ptr ") else { continue };
            let (place, class) = place.split_once(", ").unwrap_or((place, ""));
            match place {
                "%lo.v" => moved(value, "add", "%lo", &defined, &mut e.lo, &mut e.strange),
                "%hi.v" => moved(value, "sub", "%hi", &defined, &mut e.hi, &mut e.strange),
                _ => {}
            }
            if class == "!tbaa !12"
                && let Some(n) = number(value)
            {
                e.headers.push(n);
            }
            e.spilled += machine(place).is_some_and(|o| spill.contains(&o)) as usize;
        } else if let Some(rest) = text.strip_prefix("store i8 -1, ptr ") {
            e.cards += rest.ends_with("!tbaa !16") as usize;
        } else if let Some(rest) = text.strip_prefix("load i64, ptr ") {
            let (place, class) = rest.split_once(", ").unwrap_or((rest, ""));
            e.pops.extend(list_of(place));
            e.reloaded += machine(place).is_some_and(|o| spill.contains(&o)) as usize;
            let slot = place.ends_with(".v") || place.starts_with("%v") || place.starts_with("getelementptr");
            e.unclassified += (class.is_empty() && !slot && !result.is_empty()) as usize;
        } else if text.contains("asm sideeffect \"callq") {
            stub_call(text, slow_calls, &mut e);
        }
    }
    e
}

/// A new value of `lo` or `hi`: what it was, moved, or what the runtime says.
fn moved(
    value: &str,
    operation: &str,
    register: &str,
    defined: &HashMap<&str, &str>,
    by: &mut Vec<u64>,
    strange: &mut Vec<String>,
) {
    let definition = defined.get(value).copied().unwrap_or("");
    let from_runtime = definition.starts_with("extractvalue") || definition.ends_with("!tbaa !10");
    if value == register || from_runtime {
        return;
    }
    let step = definition.strip_prefix(operation).and_then(|d| d.split_once(", ")).and_then(|(_, n)| number(n));
    match step {
        Some(n) => by.push(n),
        None => strange.push(format!("{register} becomes {value} = {definition}")),
    }
}

fn stub_call(text: &str, slow_calls: &HashMap<&str, usize>, e: &mut Effects) {
    let operands = &text[text.find("\"(").expect("operands") + 2..];
    let slow =
        operands.strip_prefix("i64 ptrtoint (ptr ").map(|o| slow_calls[o.split(' ').next().expect("a symbol")]);
    let operands: Vec<&str> = operands.split([',', ')']).filter_map(|o| o.trim().strip_prefix("i64 ")).collect();
    let offset = slow.unwrap_or_else(|| operands[0].parse().expect("an offset"));
    let row = (offset - offset_of!(Machine, calls)) / 8;
    let row = &RT_CALLS[row];
    if row.flags & (ALLOC | FAIL) != 0 && !text.contains("~{memory}") {
        e.secretive.push(row.symbol);
    }
    // offset, sp, arguments
    let argument = |i: usize| number(operands[2 + i]).expect("a constant") >> 3;
    if row.symbol == by_symbol("cairn_machine_cells").row().symbol {
        e.refills.push(argument(0) as u8);
    } else if row.symbol == by_symbol("cairn_machine_object").row().symbol {
        e.asked.push((argument(0), argument(1)));
    }
}

// ---- the comparison

fn same<T: Ord + Debug>(name: &str, what: &str, mut demanded: Vec<T>, mut done: Vec<T>, found: &mut Vec<String>) {
    demanded.sort();
    done.sort();
    if demanded != done {
        found.push(format!("{name}: {what}: {demanded:?} demanded, {done:?} done"));
    }
}

fn compare(name: &str, d: &Demands, facts: &CollectorFacts, e: &Effects, found: &mut Vec<String>) {
    let (mut lo, mut hi, mut pops, mut asked, mut headers) = (vec![], vec![], vec![], vec![], vec![]);
    for (kind, bytes) in &d.objects {
        let whole = bytes + if has_prefix(facts, *kind) { 8 } else { 0 };
        let mut by_call = matches!(facts.allocation, Allocation::Call);
        match facts.allocation {
            Allocation::TwoEnded if *kind == AllocKind::Pair => lo.push(whole),
            Allocation::TwoEnded => hi.push(whole),
            Allocation::FreeLists { largest } if whole <= largest => {
                pops.push(if *kind == AllocKind::Pair { 0 } else { whole.div_ceil(16) as u8 });
            }
            Allocation::FreeLists { .. } => by_call = true,
            Allocation::Call => {}
        }
        if by_call {
            asked.push((*kind as u64, *bytes));
        } else if has_prefix(facts, *kind) {
            headers.push(bytes << 16 | (*kind as u64) << 8);
        }
    }
    if let Allocation::FreeLists { .. } = facts.allocation {
        // the budget
        let spent = d.checks.iter().map(|n| facts.checked_bytes(*n)).filter(|n| *n > 0);
        hi.extend(spent);
        if e.unclassified != pops.len() {
            found.push(format!("{name}: {} loads without a class, {} links", e.unclassified, pops.len()));
        }
        if !e.secretive.is_empty() {
            found.push(format!("{name}: {:?} are said to leave the free lists alone", e.secretive));
        }
    }
    same(name, "lo", lo, e.lo.clone(), found);
    same(name, "hi", hi, e.hi.clone(), found);
    same(name, "pops", pops.clone(), e.pops.clone(), found);
    same(name, "refills", pops, e.refills.clone(), found);
    same(name, "objects asked for", asked, e.asked.clone(), found);
    let prefixes = e.headers.iter().copied().filter(|h| h & 0xFF == 0).collect();
    same(name, "prefixes", headers, prefixes, found);
    let barriers = if facts.barrier == Barrier::Card { d.barriers } else { 0 };
    same(name, "cards", vec![barriers], vec![e.cards], found);
    let reloaded = if facts.moving == Moving::Never { 0 } else { e.spilled };
    same(name, "words reloaded", vec![reloaded], vec![e.reloaded], found);
    found.extend(e.strange.iter().map(|s| format!("{name}: {s}")));
}

/// Is there a word before such an object? Said once more, apart from the layout's code.
fn has_prefix(facts: &CollectorFacts, kind: AllocKind) -> bool {
    facts.prefix == Prefix::Headerless && matches!(kind, AllocKind::Pair | AllocKind::Procedure)
}
