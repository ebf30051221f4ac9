//! Numbers and addresses of rewritten code as sums, so that the checker need not know how the code computes them.
//!
//! ```text
//!  inttoptr (or base, (zext i)) + gep { i8 } -8        base + 1·i - 8
//!  trunc (ptrtoint p)                                  1·p, without bases, modulo 2^32
//! ```
//!
//! Two values are alike if their sums are. An unknown value is its own sum, so what isn't understood is never alike by
//! mistake. Sums are modulo 2^64.
#![allow(unsafe_code)]

use crate::llvm_codes::{opcode, type_kind, value_kind};
use crate::rewrite::instructions::SATURATING_PRODUCT;
use cairn_llvm_c::{ModuleFunctions, TargetDataRef, TypeRef, ValueRef};
use std::collections::BTreeMap;
use std::ffi::c_uint;

/// What is added up.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Atom {
    Value(ValueRef),
    /// The start of a dynamic pool's objects, in the form they have now: of the pool with this descriptor.
    Start(ValueRef),
    /// A sum divided by a number.
    Quotient(Form, u64),
    Product(Form, Form),
    /// The lower half of a sum.
    Half(Form),
}

/// A sum of multiples.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Form {
    pub constant: u64,
    terms: BTreeMap<Atom, u64>,
}

impl Form {
    pub fn number(constant: u64) -> Form {
        Form { constant, terms: BTreeMap::new() }
    }

    pub fn atom(atom: Atom) -> Form {
        Form { constant: 0, terms: BTreeMap::from([(atom, 1)]) }
    }

    /// This and a multiple of the other.
    pub fn plus(mut self, other: &Form, times: u64) -> Form {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        for (atom, count) in &other.terms {
            let sum = self.terms.get(atom).unwrap_or(&0).wrapping_add(count.wrapping_mul(times));
            match sum {
                0 => self.terms.remove(atom),
                sum => self.terms.insert(atom.clone(), sum),
            };
        }
        self
    }

    pub fn times(&self, times: u64) -> Form {
        Form::default().plus(self, times)
    }

    pub fn divided(&self, by: u64) -> Form {
        if self.terms.is_empty() && by != 0 {
            return Form::number(self.constant / by);
        }
        Form::atom(Atom::Quotient(self.clone(), by))
    }

    /// The product of two sums.
    pub fn product(&self, other: &Form) -> Form {
        match (self.is_number(), other.is_number()) {
            (Some(n), _) => other.times(n),
            (_, Some(n)) => self.times(n),
            _ => Form::atom(Atom::Product(self.min(other).clone(), self.max(other).clone())),
        }
    }

    fn is_number(&self) -> Option<u64> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// Reads sums out of code.
pub struct Forms<'a> {
    pub f: &'a ModuleFunctions,
    pub layout: TargetDataRef,
    /// First addresses of pools, whose lower halves are zero.
    pub bases: Vec<ValueRef>,
    /// Descriptors of dynamic pools, whose first words are flags.
    pub dynamic: Vec<ValueRef>,
}

impl Forms<'_> {
    pub fn operand(&self, value: ValueRef, n: u32) -> ValueRef {
        // SAFETY: callers have asked for the opcode, and `n` is below the number of operands of such values.
        unsafe { (self.f.LLVMGetOperand)(value, n) }
    }

    /// The opcode of an instruction or of an expression of constants; 0 of anything else.
    pub fn opcode(&self, value: ValueRef) -> i32 {
        // SAFETY: `value` is live (*Live handles*), and is asked for the opcode that its kind has.
        unsafe {
            match (self.f.LLVMGetValueKind)(value) {
                value_kind::INSTRUCTION => (self.f.LLVMGetInstructionOpcode)(value),
                value_kind::CONSTANT_EXPR => (self.f.LLVMGetConstOpcode)(value),
                _ => 0,
            }
        }
    }

    pub fn kind(&self, value: ValueRef) -> i32 {
        // SAFETY: `value` is live (*Live handles*), which is all that is asked for.
        unsafe { (self.f.LLVMGetValueKind)(value) }
    }

    /// Bits of an integer; of anything else as of an address.
    pub fn width(&self, value: ValueRef) -> u32 {
        // SAFETY: `value` is live (*Live handles*), and its type an integer where the width is asked for.
        unsafe {
            let kind = (self.f.LLVMTypeOf)(value);
            match (self.f.LLVMGetTypeKind)(kind) {
                type_kind::INTEGER => (self.f.LLVMGetIntTypeWidth)(kind),
                _ => 64,
            }
        }
    }

    /// The sum that a pointer or integer is; integers of fewer than 64 bits without a sign.
    pub fn of(&self, value: ValueRef) -> Form {
        let own = || Form::atom(Atom::Value(value));
        let at = |n| self.operand(value, n);
        match self.kind(value) {
            value_kind::NULL => return Form::default(),
            value_kind::INT if self.width(value) <= 64 => {
                // SAFETY: `value` is a constant integer, as its kind says, of at most 64 bits.
                let number = unsafe { (self.f.LLVMConstIntGetSExtValue)(value) } as u64;
                let width = self.width(value);
                return Form::number(if width < 64 { number & ((1 << width) - 1) } else { number });
            }
            _ => {}
        }
        let width = self.width(value);
        match self.opcode(value) {
            opcode::INT_TO_PTR | opcode::PTR_TO_INT if width == 64 && self.width(at(0)) == 64 => self.of(at(0)),
            opcode::GEP => self.address(value).unwrap_or_else(own),
            opcode::ADD if width == 64 => self.of(at(0)).plus(&self.of(at(1)), 1),
            opcode::SUB if width == 64 => self.of(at(0)).plus(&self.of(at(1)), u64::MAX),
            // Of a base and what is less than 2^32.
            opcode::OR if width == 64 && self.is_base(at(0)) && self.opcode(at(1)) == opcode::ZEXT => {
                self.of(at(0)).plus(&self.of(at(1)), 1)
            }
            // Indices of fewer bits, times four, are less than 2^32.
            opcode::MUL if self.opcode(at(0)) == opcode::ZEXT && self.of(at(1)) == Form::number(4) => {
                self.of(at(0)).times(4)
            }
            opcode::CALL if self.is_product(value) => self.of(at(0)).product(&self.of(at(1))),
            opcode::MUL if width == 64 => self.of(at(0)).product(&self.of(at(1))),
            opcode::UDIV if width == 64 => self.quotient(value).unwrap_or_else(own),
            opcode::ZEXT => self.of(at(0)),
            opcode::TRUNC if width == 32 && self.width(at(0)) == 64 => {
                let half = self.low(self.of(at(0)));
                if half.terms.is_empty() { half } else { Form::atom(Atom::Half(half)) }
            }
            opcode::SELECT => self.start(value).map_or_else(own, |pool| Form::atom(Atom::Start(pool))),
            opcode::LOAD if width == 64 && self.is_flag(value) => Form::atom(Atom::Start(at(0))),
            _ => own(),
        }
    }

    /// A product of sizes, not cut off.
    fn is_product(&self, call: ValueRef) -> bool {
        // SAFETY: `of` has found the opcode of a call; LLVM gives the name's bytes and their number, and they live as
        // long as the callee.
        unsafe {
            let mut length = 0;
            let text = (self.f.LLVMGetValueName2)((self.f.LLVMGetCalledValue)(call), &mut length);
            std::slice::from_raw_parts(text.cast::<u8>(), length) == SATURATING_PRODUCT.as_bytes()
        }
    }

    fn quotient(&self, value: ValueRef) -> Option<Form> {
        let by = self.of(self.operand(value, 1)).is_number()?;
        Some(self.of(self.operand(value, 0)).divided(by))
    }

    /// The lower half of a sum: bases are no part of it.
    pub fn low(&self, form: Form) -> Form {
        let mut low = Form::number(form.constant & 0xffff_ffff);
        for (atom, times) in form.terms {
            let times = times & 0xffff_ffff;
            match atom {
                Atom::Value(v) if self.bases.contains(&v) => {}
                Atom::Half(half) => low = low.plus(&half, times),
                atom => low = low.plus(&Form::atom(atom), times),
            }
        }
        low.constant &= 0xffff_ffff;
        low.terms.values_mut().for_each(|times| *times &= 0xffff_ffff);
        low.terms.retain(|_, times| *times != 0);
        low
    }

    fn is_base(&self, value: ValueRef) -> bool {
        self.bases.contains(&value) || self.of(value).is_number().is_some_and(|n| n & 0xffff_ffff == 0)
    }

    fn is_flag(&self, load: ValueRef) -> bool {
        self.dynamic.contains(&self.operand(load, 0))
    }

    /// `flag == 0 ? base : flag`: the pool whose flag and base these are.
    fn start(&self, select: ValueRef) -> Option<ValueRef> {
        let [test, base, flag] = [0, 1, 2].map(|n| self.operand(select, n));
        let zero = self.opcode(test) == opcode::ICMP && self.operand(test, 0) == flag && self.equals_zero(test);
        let flag = (self.opcode(flag) == opcode::LOAD && self.is_flag(flag)).then(|| self.operand(flag, 0));
        flag.filter(|_| zero && self.is_base(base))
    }

    /// Is this comparison one for equality with zero?
    pub fn equals_zero(&self, test: ValueRef) -> bool {
        // SAFETY: callers have found that `test` is a comparison of integers.
        let equal = unsafe { (self.f.LLVMGetICmpPredicate)(test) } == super::super::instructions::EQUAL;
        equal && self.of(self.operand(test, 1)) == Form::default()
    }

    /// A number that an address computation takes: signed, so what widens it is left out.
    pub fn index(&self, mut value: ValueRef) -> Form {
        if self.kind(value) == value_kind::INT {
            // SAFETY: `value` is a constant integer, as its kind says; of a wider one an address computation takes the
            // lower bits.
            return Form::number(unsafe { (self.f.LLVMConstIntGetSExtValue)(value) } as u64);
        }
        while self.opcode(value) == opcode::SEXT {
            value = self.operand(value, 0);
        }
        Form::atom(Atom::Value(value))
    }

    fn address(&self, gep: ValueRef) -> Option<Form> {
        let f = self.f;
        let mut sum = self.of(self.operand(gep, 0));
        // SAFETY: `of` has found the opcode of an address computation; its types have sizes, and its indices are in
        // them.
        unsafe {
            let mut kind: TypeRef = (f.LLVMGetGEPSourceElementType)(gep);
            for n in 1..(f.LLVMGetNumOperands)(gep) as c_uint {
                let index = self.index(self.operand(gep, n));
                if n > 1 {
                    match (f.LLVMGetTypeKind)(kind) {
                        type_kind::STRUCT => {
                            let field = index.is_number()? as c_uint;
                            sum.constant =
                                sum.constant.wrapping_add((f.LLVMOffsetOfElement)(self.layout, kind, field));
                            kind = (f.LLVMStructGetTypeAtIndex)(kind, field);
                            continue;
                        }
                        type_kind::ARRAY => kind = (f.LLVMGetElementType)(kind),
                        _ => return None,
                    }
                }
                sum = sum.plus(&index, (f.LLVMABISizeOfType)(self.layout, kind));
            }
        }
        Some(sum)
    }
}
