//! Which values need no place: sums that the addressing of x86-64 computes where they are used, and conditions that are
//! tested where they are used.
//!
//! ```text
//!  %p = inttoptr i64 %v to ptr
//!  %q = getelementptr i8, ptr %p, i64 5        nothing
//!  %w = load i64, ptr %q                       mov rcx, [rdx + 5]
//!  %c = icmp eq i64 %w, 58                     nothing
//!  br i1 %c, …                                 cmp rcx, 58; je …
//! ```
//!
//! What a variable holds needs a place only where the variable is set before the last use ([`Forms::copies`]).

use super::ir::*;

/// The sum of up to two values, the address of a symbol, and a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sum {
    pub base: Option<Value>,
    pub index: Option<Value>,
    pub symbol: Option<Symbol>,
    pub more: i64,
    pub poison: bool,
}

impl Sum {
    const ZERO: Sum = Sum { base: None, index: None, symbol: None, more: 0, poison: false };

    fn of(value: Value) -> Sum {
        Sum { base: Some(value), ..Sum::ZERO }
    }

    fn plus(self, other: Sum) -> Option<Sum> {
        let values: Vec<Value> = [self.base, self.index, other.base, other.index].into_iter().flatten().collect();
        let more = self.more.wrapping_add(other.more);
        let fits = values.len() <= 2
            && (self.symbol.is_none() || other.symbol.is_none())
            && !(self.poison || other.poison)
            && more as i32 as i64 == more;
        fits.then(|| Sum {
            base: values.first().copied(),
            index: values.get(1).copied(),
            symbol: self.symbol.or(other.symbol),
            more,
            poison: false,
        })
    }

    /// The value alone, if it is that.
    pub fn single(&self) -> Option<Value> {
        match self {
            Sum { base: Some(v), index: None, symbol: None, more: 0, .. } => Some(*v),
            _ => None,
        }
    }

    /// A number, if it is that.
    pub fn number(&self) -> Option<i64> {
        match self {
            Sum { base: None, index: None, symbol: None, more, poison: false } => Some(*more),
            _ => None,
        }
    }
}

/// What is known of each value of a function.
pub(super) struct Forms {
    /// In the order in which a value is made before it is used; cold ones directly behind what leads to them.
    pub order: Vec<u32>,
    sums: Vec<Option<Sum>>,
    /// The instruction that makes each value.
    makers: Vec<u32>,
    /// Conditions that are tested where they are used, and the `and` in them.
    late: Vec<bool>,
    /// Results of an instruction with several.
    parts: Vec<[Value; 2]>,
    /// How often values are used.
    uses: Vec<u32>,
}

/// No instruction, no value.
pub(super) const NONE: u32 = u32::MAX;

impl Forms {
    pub fn of(f: &Function) -> Result<Forms, String> {
        let n = f.values as usize;
        let mut forms = Forms {
            order: order(f),
            sums: vec![None; n],
            makers: vec![NONE; n],
            late: vec![false; n],
            parts: Vec::new(),
            uses: vec![0; n],
        };
        forms.find_makers(f);
        forms.find_late(f);
        let copies = forms.copies(f)?;
        forms.find_sums(f, &copies);
        Ok(forms)
    }

    /// What an operand is.
    pub fn sum(&self, op: Op) -> Sum {
        match op {
            Op::Value(v) => self.sums[v as usize].unwrap_or(Sum::of(v)),
            Op::Int(more) => Sum { more, ..Sum::ZERO },
            Op::Symbol(symbol, more) => Sum { symbol: Some(symbol), more, ..Sum::ZERO },
            Op::Poison => Sum { poison: true, ..Sum::ZERO },
        }
    }

    /// Has the value a place of its own?
    pub fn has_place(&self, value: Value) -> bool {
        self.sums[value as usize].is_none() && !self.late[value as usize]
    }

    /// Does an instruction nothing but make a value that nobody uses?
    pub fn is_idle(&self, inst: &Inst) -> bool {
        let is_pure = matches!(
            inst,
            Inst::Compare { .. } | Inst::FloatCompare { .. } | Inst::Select { .. } | Inst::Binary { .. }
        );
        is_pure && result(inst).is_some_and(|to| self.uses[to as usize] == 0)
    }

    /// Is this a condition, or the `and` in one, that is tested where it is used?
    pub fn is_late(&self, op: Op) -> Option<u32> {
        match op {
            Op::Value(v) if self.late[v as usize] => Some(self.makers[v as usize]),
            _ => None,
        }
    }

    /// A result of an instruction that has several, if somebody wants it.
    pub fn part(&self, of: Value, index: usize) -> Option<Value> {
        self.parts.get(of as usize).map(|parts| parts[index]).filter(|v| *v != NONE)
    }

    fn find_makers(&mut self, f: &Function) {
        for (i, inst) in f.insts.iter().enumerate() {
            if let Some(to) = result(inst) {
                self.makers[to as usize] = i as u32;
            }
            if let Inst::Part { to, of, index: index @ (0 | 1) } = inst {
                if self.parts.is_empty() {
                    self.parts = vec![[NONE; 2]; f.values as usize];
                }
                self.parts[*of as usize][*index as usize] = *to;
            }
        }
    }

    fn maker<'f>(&self, f: &'f Function, op: Op) -> Option<&'f Inst> {
        match op {
            Op::Value(v) => f.insts.get(self.makers[v as usize] as usize),
            _ => None,
        }
    }

    /// Conditions with one use, by a branch or a selection.
    fn find_late(&mut self, f: &Function) {
        let mut uses = std::mem::take(&mut self.uses);
        for inst in &f.insts {
            operands(f, inst, &mut |op| {
                if let Op::Value(v) = op {
                    uses[v as usize] += 1;
                }
            });
        }
        for block in &f.blocks {
            for i in block.clone() {
                if let Inst::Compare { condition, a, b, .. } = &f.insts[i as usize] {
                    self.find_test(f, *condition, *a, *b, block, &uses);
                }
                let condition = match &f.insts[i as usize] {
                    Inst::Branch { condition, .. } | Inst::Select { condition, .. } => *condition,
                    _ => continue,
                };
                let Op::Value(v) = condition else { continue };
                let Some(at) = Some(self.makers[v as usize]).filter(|at| *at != NONE) else { continue };
                if uses[v as usize] != 1 {
                    continue;
                }
                let (is_branch, is_here) = (i + 1 == block.end, block.contains(&at));
                match &f.insts[at as usize] {
                    Inst::Compare { .. } => self.late[v as usize] = is_branch || is_here,
                    Inst::FloatCompare { .. } => self.late[v as usize] = is_branch && is_here,
                    Inst::Part { of, index: 1, .. } if is_branch && is_here => {
                        let checked = self.makers[*of as usize];
                        let is_near = block.contains(&checked)
                            && (checked + 1..i).all(|j| matches!(f.insts[j as usize], Inst::Part { .. }));
                        self.late[v as usize] = is_near;
                    }
                    _ => {}
                }
            }
        }
        self.uses = uses;
    }

    /// `and`, and whether something is left: one instruction.
    fn find_test(&mut self, f: &Function, condition: Condition, a: Op, b: Op, block: &Block, uses: &[u32]) {
        let (Op::Value(v), Op::Int(0)) = (a, b) else { return };
        let is_test = matches!(condition, Condition::Equal | Condition::NotEqual)
            && uses[v as usize] == 1
            && block.contains(&self.makers[v as usize])
            && matches!(self.maker(f, a), Some(Inst::Binary { op: Binary::And, ty: Type::I64 | Type::I32, .. }));
        self.late[v as usize] = is_test;
    }

    /// What a variable held, where it may hold something else at a use: by the values that got it.
    fn copies(&self, f: &Function) -> Result<Vec<bool>, String> {
        let mut walk = Walk {
            f,
            forms: self,
            versions: vec![0; f.values as usize],
            gets: vec![(NONE, 0); f.values as usize],
            copies: vec![false; f.values as usize],
            is_stale: false,
            sets: vec![0; f.values as usize],
        };
        for inst in &f.insts {
            if let Inst::Set { variable, .. } = inst {
                walk.sets[*variable as usize] += 1;
            }
        }
        // stubs set these, too
        (parameter::SP_VARIABLE..parameter::OTHERS).for_each(|v| walk.sets[v as usize] += 1);
        for &block in &self.order {
            for i in f.blocks[block as usize].clone() {
                walk.pass(i, block);
            }
        }
        match walk.is_stale {
            true => Err("a register is used after it was set".into()),
            false => Ok(walk.copies),
        }
    }

    fn find_sums(&mut self, f: &Function, copies: &[bool]) {
        for k in 0..self.order.len() {
            for i in f.blocks[self.order[k] as usize].clone() {
                let inst = &f.insts[i as usize];
                let (to, sum) = match inst {
                    Inst::Get { to, variable } => (*to, (!copies[*to as usize]).then(|| Sum::of(*variable))),
                    Inst::Part { to, of, index } => match (self.maker(f, Op::Value(*of)), index) {
                        (Some(Inst::Stub { .. }), 1..=3) => (*to, Some(Sum::of(register(*index)))),
                        _ => {
                            let first = self.parts[*of as usize][*index as usize];
                            (*to, (first != *to).then(|| Sum::of(first)))
                        }
                    },
                    _ if passes_on(inst) => match result(inst) {
                        Some(to) => (to, self.passed_on(inst)),
                        None => continue,
                    },
                    _ => continue,
                };
                self.sums[to as usize] = sum;
            }
        }
    }

    /// What an instruction makes that [passes on](passes_on) what it takes, if that is one sum.
    fn passed_on(&self, inst: &Inst) -> Option<Sum> {
        match inst {
            Inst::Cast { value, .. } => Some(self.sum(*value)),
            Inst::Binary { op: Binary::Sub, a, b: Op::Int(n), .. } => {
                self.sum(*a).plus(self.sum(Op::Int(n.wrapping_neg())))
            }
            Inst::Address { base: a, index: b, .. } | Inst::Binary { a, b, .. } => self.sum(*a).plus(self.sum(*b)),
            _ => None,
        }
    }
}

/// The variable that a part of what a stub returns goes to.
fn register(part: u8) -> Value {
    [parameter::LO_VARIABLE, parameter::HI_VARIABLE, parameter::SP_VARIABLE][part as usize - 1]
}

/// Has an instruction no code where it stands, because what it makes is computed where it is used? What it takes is
/// used there, then.
fn passes_on(inst: &Inst) -> bool {
    match inst {
        Inst::Cast { cast: Cast::Same, .. } | Inst::Address { .. } => true,
        Inst::Binary { ty: Type::I64, op: Binary::Add, a, b, .. } => {
            matches!(a, Op::Int(_)) || matches!(b, Op::Int(_))
        }
        Inst::Binary { ty: Type::I64, op: Binary::Sub, b: Op::Int(_), .. } => true,
        _ => false,
    }
}

/// A walk through a function that sees which variables are set before what they held is used.
struct Walk<'f> {
    f: &'f Function,
    forms: &'f Forms,
    versions: Vec<u32>,
    /// In which block, and in which version of a variable, a value was got.
    gets: Vec<(u32, u32)>,
    copies: Vec<bool>,
    is_stale: bool,
    /// How often variables are set.
    sets: Vec<u32>,
}

impl Walk<'_> {
    fn pass(&mut self, i: u32, block: u32) {
        let f = self.f;
        let inst = &f.insts[i as usize];
        let is_late = result(inst).is_some_and(|to| self.forms.late[to as usize]);
        if !is_late && !passes_on(inst) {
            // operands of phis are used where the predecessors end, which comes after this; their variables are got
            // in other blocks, so they are copies
            operands(f, inst, &mut |op| self.used(op, block));
        }
        match inst {
            Inst::Get { to, variable } => self.gets[*to as usize] = (block, self.versions[*variable as usize]),
            Inst::Set { variable, .. } => self.versions[*variable as usize] += 1,
            Inst::Stub { .. } => {
                for v in [parameter::SP_VARIABLE, parameter::LO_VARIABLE, parameter::HI_VARIABLE] {
                    self.versions[v as usize] += 1;
                }
            }
            Inst::Part { to, of, index: index @ 1..=3 } => {
                if let Some(Inst::Stub { .. }) = self.forms.maker(f, Op::Value(*of)) {
                    self.gets[*to as usize] = (block, self.versions[register(*index) as usize]);
                }
            }
            _ => {}
        }
    }

    fn used(&mut self, op: Op, block: u32) {
        let Op::Value(v) = op else { return };
        if let parameter::SP..=parameter::HI = v {
            let variable = parameter::SP_VARIABLE + (v - parameter::SP);
            self.is_stale |= self.versions[variable as usize] > 1;
            return;
        }
        match self.forms.maker(self.f, op) {
            Some(Inst::Get { to, variable }) => {
                // what is set once is set before it is got, so never between that and a use
                self.copies[*to as usize] |= self.sets[*variable as usize] > 1
                    && self.gets[*to as usize] != (block, self.versions[*variable as usize]);
            }
            Some(Inst::Part { index: index @ 1..=3, .. }) if self.gets[v as usize].0 != NONE => {
                self.is_stale |= self.gets[v as usize] != (block, self.versions[register(*index) as usize]);
            }
            Some(inst) if self.forms.late[v as usize] || passes_on(inst) => {
                let f = self.f;
                operands(f, inst, &mut |op| self.used(op, block));
            }
            _ => {}
        }
    }
}

/// What an instruction makes.
pub(super) fn result(inst: &Inst) -> Option<Value> {
    match inst {
        Inst::Get { to, .. }
        | Inst::Load { to, .. }
        | Inst::Address { to, .. }
        | Inst::Cast { to, .. }
        | Inst::Binary { to, .. }
        | Inst::Funnel { to, .. }
        | Inst::Checked { to, .. }
        | Inst::Compare { to, .. }
        | Inst::FloatCompare { to, .. }
        | Inst::Float { to, .. }
        | Inst::Intrinsic { to, .. }
        | Inst::Select { to, .. }
        | Inst::Phi { to, .. }
        | Inst::Part { to, .. }
        | Inst::Stub { to, .. } => Some(*to),
        Inst::CallC { to, .. } => *to,
        _ => None,
    }
}

/// What an instruction takes.
pub(super) fn operands(f: &Function, inst: &Inst, each: &mut impl FnMut(Op)) {
    match inst {
        Inst::Get { .. }
        | Inst::NoteStack { .. }
        | Inst::Goto { .. }
        | Inst::Return
        | Inst::Unreachable
        | Inst::Part { .. } => {}
        Inst::Set { value, .. } | Inst::Cast { value, .. } => each(*value),
        Inst::Load { at, .. } => each(*at),
        Inst::Store { value: a, at: b, .. }
        | Inst::Address { base: a, index: b, .. }
        | Inst::Binary { a, b, .. }
        | Inst::Funnel { a, b, .. }
        | Inst::Checked { a, b, .. }
        | Inst::Compare { a, b, .. }
        | Inst::FloatCompare { a, b, .. }
        | Inst::Float { a, b, .. } => {
            each(*a);
            each(*b);
        }
        Inst::Intrinsic { a, .. } => each(*a),
        Inst::Select { condition, a, b, .. } => {
            each(*condition);
            each(*a);
            each(*b);
        }
        Inst::Phi { operands, .. } | Inst::Stub { operands, .. } => {
            f.operands(operands).iter().copied().for_each(each);
        }
        Inst::CallC { f: code, operands, .. }
        | Inst::CallScheme { f: code, operands }
        | Inst::Jump { f: code, operands } => {
            each(*code);
            f.operands(operands).iter().copied().for_each(each);
        }
        Inst::Branch { condition, .. } => each(*condition),
    }
}

/// Blocks that can be reached, in reverse postorder. What is unlikely is visited last, and so comes first.
fn order(f: &Function) -> Vec<u32> {
    let mut order = Vec::with_capacity(f.blocks.len());
    let mut seen = vec![false; f.blocks.len()];
    let mut stack = vec![(0u32, 0usize)];
    seen[0] = true;
    while let Some((block, visited)) = stack.pop() {
        let (mut successors, count) = f.successors(block);
        if let Inst::Branch { unlikely: Some(u), .. } = f.terminator(block)
            && successors[0] == *u
        {
            successors.swap(0, 1);
        }
        if visited < count {
            stack.push((block, visited + 1));
            let next = successors[visited];
            if !std::mem::replace(&mut seen[next as usize], true) {
                stack.push((next, 0));
            }
        } else {
            order.push(block);
        }
    }
    order.reverse();
    order
}
