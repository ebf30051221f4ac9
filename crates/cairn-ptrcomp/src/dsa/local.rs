//! The local phase: the points-to graph of each function for itself.
//!
//! Each instruction is a few accesses and unifications. Calls of functions that are there are left for the bottom-up
//! phase; the library's are in a table ([`super::externals`]); unknown ones let everything escape that they can reach.
//! A call by address calls the functions that it is assumed to call ([`super::assumed`]).

use super::analysis::{Analysis, CallSite, FunctionGraph};
use super::assumed::can_call;
use super::externals::{self, Allocator, Effect};
use super::points_to::{Cell, Extent, Site, Sites, flag};
use crate::model::*;

/// Larger structures are not copied by words.
const MOST_SPLIT: u64 = 64;

/// Builds the graphs of all functions.
pub(super) fn build(analysis: &mut Analysis) {
    let module = analysis.module;
    for function in &module.functions {
        let values = vec![None; function.values.len()];
        let result = analysis.graph.fresh(0);
        analysis.functions.push(FunctionGraph { values, result, calls: vec![] });
    }
    for id in module.function_ids() {
        let function = module.function(id);
        let params: Vec<Cell> =
            (0..function.params.len()).map(|i| analysis.value(id, ValueId(i as u32))).collect();
        let result = analysis.functions[id.0 as usize].result;
        analysis.graph.signatures.push((params, result));
    }
    for index in 0..module.globals.len() {
        global(analysis, GlobalId(index as u32));
    }
    for id in module.function_ids() {
        let function = module.function(id);
        if function.kept || function.varargs || function.fixed || analysis.assumed.is_entered(id) {
            entered_from_elsewhere(analysis, id);
        }
        if function.declared {
            continue;
        }
        for index in 0..function.values.len() {
            Local { a: analysis, id, value: ValueId(index as u32) }.instruction();
        }
    }
}

/// Functions that are not only called by name from here, or can't have more parameters: all callers share their nodes.
fn entered_from_elsewhere(analysis: &mut Analysis, id: FuncId) {
    let function = analysis.module.function(id);
    let (params, result) = analysis.graph.signatures[id.0 as usize].clone();
    for cell in params.into_iter().chain([result]) {
        analysis.graph.mark(cell, flag::SHARED);
        if function.kept {
            analysis.graph.escape(cell, &format!("{} is called from outside", function.name), At::default());
        }
    }
}

fn global(analysis: &mut Analysis, id: GlobalId) {
    let cell = analysis.global(id);
    let global = &analysis.module.globals[id.0 as usize];
    for &(offset, count, size) in &global.runs {
        if count > 1 {
            let at = Cell { node: cell.node, offset: offset as i64 };
            analysis.graph.step(at, Step::Element { stride: size, count, by: None }, At::default());
        }
    }
    for &(offset, operand) in &global.pointers {
        let place = Cell { node: cell.node, offset: offset as i64 };
        let target = analysis.graph.target(place, 1, At::default());
        if let Some(value) = analysis.operand(None, operand) {
            analysis.graph.unify(target, value);
        }
    }
    if global.declared || global.kept {
        let why = format!("{} is a variable that code outside uses", global.name);
        analysis.graph.escape(cell, &why, At::default());
    }
}

/// How data are accessed.
#[derive(Default)]
struct How {
    simple: bool,
    reading: Reading,
    copied: Copied,
}

/// One instruction.
struct Local<'a, 'm> {
    a: &'a mut Analysis<'m>,
    id: FuncId,
    value: ValueId,
}

impl<'m> Local<'_, 'm> {
    fn this(&self) -> &'m Value {
        &self.a.module.function(self.id).values[self.value.0 as usize]
    }

    fn cell(&mut self, operand: Operand) -> Option<Cell> {
        self.a.operand(Some(self.id), operand)
    }

    fn result(&mut self) -> Cell {
        self.a.value(self.id, self.value)
    }

    fn same(&mut self, a: Cell, b: Operand) {
        if let Some(b) = self.cell(b) {
            self.a.graph.unify(a, b);
        }
    }

    fn escape(&mut self, operand: Operand, why: &str) {
        let at = self.this().at;
        if let Some(cell) = self.cell(operand) {
            self.a.graph.escape(cell, why, at);
        }
    }

    fn instruction(&mut self) {
        let value = self.this();
        let at = value.at;
        match &value.op {
            Op::Param | Op::Plain => {}
            Op::Alloca => {
                let cell = self.result();
                let place = (self.id, self.value, 0);
                self.a.graph.edit(cell, |n| {
                    n.origin = at;
                    n.stack.push(place);
                });
                self.a.graph.mark(cell, flag::STACK);
            }
            Op::Load { from, size, align, simple, reading } => {
                let how = How { simple: *simple, reading: *reading, ..How::default() };
                self.access(*from, value.kind, *size, *align, how, flag::READ, None);
            }
            Op::Store { to, value, kind, size, align, simple, copied } => {
                let how = How { simple: *simple, copied: *copied, ..How::default() };
                self.access(*to, *kind, *size, *align, how, flag::WRITTEN, Some(*value));
            }
            Op::Atomic { on, values, size, kind } => {
                let (whole, low) = (*size >= 8, *size < 8);
                let reading = Reading { whole, low, carried: true, float: whole };
                let copied = if whole { Copied::Integer } else { Copied::No };
                let how = How { reading, copied, ..How::default() };
                self.access(*on, *kind, *size, 1, how, flag::READ | flag::WRITTEN, None);
                for &operand in values {
                    if kind.has_pointer() {
                        self.escape(operand, "an atomic operation");
                    }
                }
                if value.kind.has_pointer() {
                    let cell = self.result();
                    self.a.graph.escape(cell, "an atomic operation", at);
                }
            }
            Op::Address { base, steps } => {
                let Some(mut cell) = self.cell(*base) else {
                    let result = self.result();
                    return self.a.graph.escape(result, "an address computed from null", at);
                };
                for &step in steps {
                    cell = self.a.graph.step(cell, step, at);
                }
                let result = self.result();
                self.a.graph.unify(result, cell);
            }
            Op::Join(operands) => {
                let result = self.result();
                for &operand in operands {
                    self.same(result, operand);
                }
            }
            Op::Compare { left, right, .. } => {
                for operand in [left, right] {
                    if *operand == Operand::Strange {
                        let other = if operand == left { right } else { left };
                        self.freeze_pointer(*other, "compared with a number");
                    }
                }
            }
            Op::ToInteger { of, harmless } => match harmless {
                true => {
                    if let Some(cell) = self.cell(*of) {
                        self.a.graph.freeze(cell, "the distance of two of its addresses is computed", at);
                    }
                }
                false => self.escape(*of, "its address becomes a number"),
            },
            Op::FromInteger => {
                let (result, floats) = (self.result(), self.a.graph.floats());
                for cell in [result, floats] {
                    self.a.graph.escape(cell, "an address made of a number", at);
                }
            }
            Op::BitsOfFloat => {
                let floats = self.a.graph.floats();
                self.a.graph.escape(floats, "a float, which may be a pointer, is read as a number", at);
            }
            Op::Return(operand) => {
                if self.a.module.function(self.id).result.has_pointer() {
                    let result = self.a.functions[self.id.0 as usize].result;
                    self.same(result, *operand);
                }
            }
            Op::Strange(operands) => {
                for &operand in operands {
                    self.escape(operand, "an instruction that the analysis doesn't know");
                }
                if value.kind.has_pointer() {
                    let result = self.result();
                    self.a.graph.escape(result, "an instruction that the analysis doesn't know", at);
                }
            }
            Op::Call(call) => self.call(call),
        }
    }

    fn freeze_pointer(&mut self, operand: Operand, why: &str) {
        self.escape(operand, why);
    }

    #[allow(clippy::too_many_arguments)]
    fn access(
        &mut self,
        on: Operand,
        kind: Kind,
        size: u64,
        align: u32,
        how: How,
        flags: u16,
        stored: Option<Operand>,
    ) {
        let at = self.this().at;
        let Some(place) = self.cell(on) else { return };
        self.a.graph.mark(place, flags);
        if !how.simple {
            self.a.graph.freeze(place, "volatile or atomic access", at);
        }
        match kind {
            Kind::Pointer => {
                let target = self.a.graph.target(place, align, at);
                match stored {
                    Some(value) => self.same(target, value),
                    None => {
                        let result = self.result();
                        self.a.graph.unify(target, result);
                    }
                }
            }
            Kind::Mixed => {
                self.a.graph.collapse(place, "a structure with pointers is read or written as one value", at);
                let target = self.a.graph.target(place, align, at);
                match stored {
                    Some(value) => self.same(target, value),
                    None => {
                        let result = self.result();
                        self.a.graph.unify(target, result);
                    }
                }
            }
            _ => self.a.graph.access(place, size, (how.reading, how.copied), align, at),
        }
    }

    fn call(&mut self, call: &Call) {
        match call.callee {
            Callee::Assembly => {
                let floats = self.a.graph.floats();
                if !call.arguments.is_empty() {
                    self.a.graph.escape(
                        floats,
                        "inline assembly may get a float, which may be a pointer",
                        self.this().at,
                    );
                }
                self.unknown(call, "inline assembly");
            }
            Callee::Indirect(target) => self.indirect(call, target),
            Callee::Known(id) => self.known(call, id),
        }
    }

    fn known(&mut self, call: &Call, id: FuncId) {
        let function = self.a.module.function(id);
        if function.declared {
            return self.external(call, &function.name, function.intrinsic);
        }
        let fixed = function.params.len();
        let mismatch = call.arguments.len() != fixed && !(function.varargs && call.arguments.len() > fixed);
        if call.by_value.iter().any(|b| *b) || mismatch {
            self.passed_by_value(call, mismatch);
        }
        self.a.functions[self.id.0 as usize].calls.push(CallSite {
            value: self.value,
            callee: id,
            copies: Default::default(),
        });
        self.variable_arguments(call, id);
    }

    /// What a function with variable arguments gets beside its parameters.
    fn variable_arguments(&mut self, call: &Call, id: FuncId) {
        let function = self.a.module.function(id);
        if !function.varargs {
            return;
        }
        let (at, name) = (self.this().at, &function.name);
        for &argument in call.arguments.iter().skip(function.params.len()) {
            let Some(cell) = self.cell(argument) else { continue };
            match self.a.printers.contains(&id) {
                true => {
                    self.a.graph.mark(cell, flag::SEEN);
                    self.a.graph.text(cell, (1, 8), &format!("{name} has its bytes printed"), at);
                }
                false => self.a.graph.escape(cell, &format!("a variable argument of {name}"), at),
            }
        }
    }

    fn passed_by_value(&mut self, call: &Call, all: bool) {
        let at = self.this().at;
        for (i, &argument) in call.arguments.iter().enumerate() {
            if (all || call.by_value[i])
                && let Some(cell) = self.cell(argument)
            {
                self.a.graph.mark(cell, flag::STACK);
                self.a.graph.freeze(cell, "passed by value", at);
            }
        }
    }

    /// Code that may do anything with what it gets.
    fn unknown(&mut self, call: &Call, who: &str) {
        let at = self.this().at;
        for &argument in &call.arguments {
            self.escape(argument, &format!("escapes through {who}"));
        }
        if self.this().kind.has_pointer() {
            let result = self.result();
            self.a.graph.escape(result, &format!("comes from {who}"), at);
        }
    }

    fn indirect(&mut self, call: &Call, target: Operand) {
        let at = self.this().at;
        if target == Operand::Strange || target == Operand::Null {
            return self.unknown(call, "a call of an unknown address");
        }
        let Some(target) = self.cell(target) else { return };
        self.a.graph.mark(target, flag::SHARED);
        self.a.indirect.push((self.id, self.value, target));
        let module = self.a.module;
        if let Some(id) = self.a.assumed.named(module, self.id, self.value) {
            return self.known(call, id);
        }
        if self.a.assumed.calls_outside(self.id, self.value) {
            self.unknown(call, "a function pointer from outside");
        }
        for id in self.a.assumed.callees(self.id, self.value) {
            let function = module.function(id);
            if !can_call(module, self.id, self.value, id) {
                continue;
            }
            if function.declared {
                self.external_by_address(call, &function.name);
                continue;
            }
            let (params, result) = self.a.graph.signatures[id.0 as usize].clone();
            for (i, param) in params.into_iter().enumerate() {
                let pointer = function.params[i].has_pointer();
                // What isn't given is whatever there is.
                let argument = call.arguments.get(i).copied().unwrap_or(Operand::Strange);
                match self.cell(argument) {
                    Some(cell) if pointer => self.a.graph.unify(param, cell),
                    Some(cell) => self.a.graph.escape(cell, "passed as a number to a function pointer", at),
                    None if pointer && argument != Operand::Null => {
                        self.a.graph.escape(param, "comes as a number from a call by address", at);
                    }
                    None => {}
                }
            }
            self.variable_arguments(call, id);
            match (function.result.has_pointer(), self.this().kind.has_pointer()) {
                (true, true) => {
                    let cell = self.result();
                    self.a.graph.unify(cell, result);
                }
                (false, true) => {
                    let cell = self.result();
                    self.a.graph.escape(cell, "comes from a function pointer of another type", at);
                }
                (true, false) if self.this().kind == Kind::Data => {
                    self.a.graph.escape(result, "returned as a number to a function pointer", at);
                }
                _ => {}
            }
        }
    }

    /// A function of the library that is called by its address: what it gets and gives stays what it is.
    fn external_by_address(&mut self, call: &Call, name: &str) {
        let (at, why) = (self.this().at, format!("{name} by its address"));
        if externals::allocator(name).is_none() && externals::effects(name, 0).is_none() || name == "qsort" {
            return self.unknown(call, &why);
        }
        self.external(call, name, false);
        let result = self.this().kind.has_pointer().then(|| self.result());
        let arguments: Vec<Cell> = call.arguments.iter().filter_map(|a| self.cell(*a)).collect();
        for cell in arguments.into_iter().chain(result) {
            self.a.graph.mark(cell, flag::SEEN);
            self.a.graph.freeze(cell, &why, at);
        }
    }

    fn external(&mut self, call: &Call, name: &str, intrinsic: bool) {
        if intrinsic {
            return self.intrinsic(call, name);
        }
        if let Some(allocator) = externals::allocator(name) {
            return self.allocate(call, allocator, name == externals::HOME);
        }
        let Some((result, effects)) = externals::effects(name, call.arguments.len()) else {
            return self.unknown(call, name);
        };
        let at = self.this().at;
        for (i, effect) in effects.into_iter().enumerate() {
            let Some(cell) = self.cell(call.arguments[i]) else { continue };
            match effect {
                Effect::Own | Effect::Opaque | Effect::Fresh => self.of_the_library(cell, name, true),
                Effect::Bytes => self.bytes(call, cell, name),
                Effect::PointerInto(n) => {
                    let target = self.a.graph.target(cell, 1, at);
                    self.a.graph.freeze(cell, &format!("{name} stores a pointer in it"), at);
                    self.same(target, call.arguments[n as usize]);
                }
                Effect::Elements => return self.sort(call),
                Effect::Same(_) | Effect::Inside(_) => {}
            }
        }
        if self.this().kind.has_pointer() && (call.used || result == Effect::Own) {
            let cell = self.result();
            match result {
                Effect::Same(n) => self.same(cell, call.arguments[n as usize]),
                Effect::Inside(n) => {
                    let Some(argument) = self.cell(call.arguments[n as usize]) else { return };
                    self.a.graph.collapse(argument, &format!("{name} returns an address inside"), at);
                    self.a.graph.unify(cell, argument);
                }
                Effect::Fresh => self.of_the_library(cell, name, false),
                Effect::Opaque => self.of_the_library(cell, name, true),
                _ => self.a.graph.escape(cell, &format!("comes from {name}"), at),
            }
        }
    }

    /// An object that the library made: its address and its layout are what they are. If it may have pointers in it,
    /// they are addresses, too.
    fn of_the_library(&mut self, cell: Cell, name: &str, pointers: bool) {
        let (at, why) = (self.this().at, format!("{name} has made such an object"));
        self.a.graph.mark(cell, flag::SEEN);
        match pointers {
            true => self.a.graph.expose(cell, &why, at),
            false => self.a.graph.freeze(cell, &why, at),
        }
    }

    /// The library looks at bytes from here on, or writes them.
    fn bytes(&mut self, call: &Call, cell: Cell, name: &str) {
        let (at, why) = (self.this().at, format!("{name} looks at its bytes"));
        let size = |&n: &usize| match call.sizes.get(n) {
            Some(Size::Const(n)) => Some(*n),
            _ => None,
        };
        let least = match externals::counted(name) {
            Some(numbers) => numbers.iter().map(size).try_fold(1, |a: u64, b| a.checked_mul(b?)),
            None => Some(externals::least(name)),
        };
        let bytes = externals::is_of_text(name) || externals::counted(name).is_some();
        let align = if bytes { 1 } else { 8 };
        match least {
            Some(least) if least < 1 << 32 => self.a.graph.text(cell, (least, align), &why, at),
            _ => self.a.graph.expose(cell, &why, at),
        }
    }

    /// `qsort(base, count, size, compare)`: elements are moved, and shown to `compare`.
    fn sort(&mut self, call: &Call) {
        let at = self.this().at;
        let Operand::Function(compare) = call.arguments[3] else { return self.unknown(call, "qsort") };
        let function = self.a.module.function(compare);
        if function.declared || function.params.len() != 2 {
            return self.unknown(call, "qsort");
        }
        self.a.called_back.push(compare);
        let Some(base) = self.cell(call.arguments[0]) else { return };
        self.a.graph.freeze(base, "sorted by qsort", at);
        if let Size::Const(stride) = call.sizes[2] {
            self.a.graph.step(base, Step::Along { stride, by: None }, at);
        } else {
            self.a.graph.collapse(base, "sorted by qsort", at);
        }
        for param in self.a.graph.signatures[compare.0 as usize].0.clone() {
            self.a.graph.unify(param, base);
        }
    }

    fn allocate(&mut self, call: &Call, allocator: Allocator, home: bool) {
        let at = self.this().at;
        if allocator == Allocator::Free {
            if let Some(cell) = call.arguments.first().and_then(|a| self.cell(*a)) {
                self.a.graph.mark(cell, flag::FREED);
            }
            return;
        }
        if self.this().kind != Kind::Pointer {
            return self.unknown(call, "an allocation that is declared otherwise");
        }
        let result = self.result();
        let size = match (allocator, &call.sizes[..]) {
            (Allocator::Malloc, [size]) | (Allocator::Realloc, [_, size]) => *size,
            (Allocator::Calloc, [count, size]) => count.times(*size),
            _ => Size::Unknown,
        };
        let all = vec![Site { way: vec![(self.id, self.value)], size, at }];
        self.a.graph.mark(result, flag::HEAP);
        let place = (self.id, self.value);
        self.a.graph.edit(result, |n| {
            n.origin = at;
            match size {
                Size::Const(size) if home => n.homes.push((place.0, place.1, size)),
                _ => n.allocations.push(Extent { offset: 0, size, at }),
            }
            n.sites.add(Sites::All(all));
        });
        if allocator == Allocator::Realloc {
            self.same(result, call.arguments[0]);
        }
    }

    fn intrinsic(&mut self, call: &Call, name: &str) {
        let at = self.this().at;
        let base = name.trim_start_matches("llvm.");
        let is = |prefix: &str| base.starts_with(prefix);
        if is("memcpy") || is("memmove") {
            self.copy(call);
        } else if is("memset") {
            let Some(cell) = self.cell(call.arguments[0]) else { return };
            self.a.graph.mark(cell, flag::WRITTEN);
            let size = call.sizes[2];
            self.a.graph.edit(cell, |_| {});
            self.extent(cell, size, at);
            match size {
                _ if call.zero[1] => {}
                Size::Const(size) if size < 1 << 32 => {
                    self.a.graph.text(cell, (size, 1), "filled with bytes", at);
                }
                _ => self.a.graph.expose(cell, "filled with bytes", at),
            }
        } else if is("lifetime")
            || is("assume")
            || is("expect")
            || is("objectsize")
            || is("dbg")
            || is("donothing")
        {
        } else if is("stacksave") || is("stackrestore") {
            if self.this().kind.has_pointer() {
                self.result();
            }
        } else if is("prefetch") || is("is.constant") {
        } else if call.arguments.iter().any(|a| !matches!(a, Operand::Data)) || self.this().kind.has_pointer() {
            self.unknown_pointers(call, name);
        }
    }

    /// An intrinsic with pointers that we don't know.
    fn unknown_pointers(&mut self, call: &Call, name: &str) {
        let values = &self.a.module.function(self.id).values;
        let pointers = call.arguments.iter().any(|a| match a {
            Operand::Value(v) => values[v.0 as usize].kind.has_pointer(),
            Operand::Data => false,
            _ => true,
        });
        if pointers || self.this().kind.has_pointer() {
            self.unknown(call, name);
        }
    }

    /// Remembers how much of an object is copied or cleared at once.
    fn extent(&mut self, cell: Cell, size: Size, at: At) {
        let cell = self.a.graph.find(cell);
        self.a.graph.edit(cell, |n| n.copies.push(Extent { offset: cell.offset, size, at }));
    }

    fn copy(&mut self, call: &Call) {
        let at = self.this().at;
        let (Some(to), Some(from)) = (self.cell(call.arguments[0]), self.cell(call.arguments[1])) else { return };
        let size = call.sizes[2];
        self.a.graph.mark(to, flag::WRITTEN);
        self.a.graph.mark(from, flag::READ);
        // A literal has no pointers, and what is copied over them is nothing that anybody points to.
        let literal = match call.arguments[1] {
            Operand::Global(id, _) => self.a.module.globals[id.0 as usize].literal,
            _ => false,
        };
        if literal {
            self.extent(to, size, at);
            let least = if let Size::Const(size) = size { size } else { 1 };
            return match least < 1 << 32 {
                true => self.a.graph.text(to, (least, 1), "bytes are copied into it", at),
                false => self.a.graph.collapse(to, "bytes are copied into it", at),
            };
        }
        let (there, here) = (self.a.graph.find(to), self.a.graph.find(from));
        if let Size::Const(size) = size
            && size <= MOST_SPLIT
            && size.is_multiple_of(8)
        {
            let this = (self.id, self.value, size);
            match there.offset != here.offset {
                true => self.a.graph.to_split.push(this),
                false => self.a.graph.edit(to, |n| n.copied.push(this)),
            }
        }
        self.extent(to, size, at);
        self.extent(from, size, at);
        self.a.graph.unify(to, from);
    }
}
