//! What the analysis of a program knows, while it is made and after.

use super::assumed::Assumed;
use super::points_to::{Cell, Graph, NodeId, flag};
use crate::model::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// The graph of a program.
pub struct Analysis<'m> {
    pub module: &'m Module,
    pub graph: Graph,
    pub functions: Vec<FunctionGraph>,
    pub(super) globals: Vec<Option<Cell>>,
    pub(super) function_cells: Vec<Option<Cell>>,
    /// What calls by address were taken to call; it includes what they can.
    pub(super) assumed: Assumed,
    /// Functions whose variable arguments are printed, no more.
    pub(super) printers: BTreeSet<FuncId>,
    /// Calls by address, with the cell of the address.
    pub(super) indirect: Vec<(FuncId, ValueId, Cell)>,
    /// Functions that the C library calls by their addresses.
    pub(super) called_back: Vec<FuncId>,
    /// Calls by name of each function: who calls, and where.
    pub callers: Vec<Vec<(FuncId, ValueId)>>,
    pub(super) interfaces: RefCell<HashMap<FuncId, Rc<Vec<NodeId>>>>,
}

/// What is known of one function.
pub struct FunctionGraph {
    /// Where each value points.
    pub values: Vec<Option<Cell>>,
    /// Where its result points.
    pub result: Cell,
    /// Calls by name, of functions with bodies.
    pub calls: Vec<CallSite>,
}

/// A call by name.
pub struct CallSite {
    pub value: ValueId,
    pub callee: FuncId,
    /// Of each node of the callee that its parameters or result reach: the cell in the caller. Empty where both share
    /// their graph.
    pub copies: BTreeMap<NodeId, Cell>,
}

impl Analysis<'_> {
    /// What calls by address were taken to call.
    pub fn assumption(&self) -> Assumed {
        self.assumed.clone()
    }

    /// The cell of a value, found or made.
    pub(super) fn value(&mut self, function: FuncId, value: ValueId) -> Cell {
        let slot = &mut self.functions[function.0 as usize].values[value.0 as usize];
        let cell = *slot.get_or_insert_with(|| self.graph.fresh(0));
        self.graph.find(cell)
    }

    pub(super) fn global(&mut self, id: GlobalId) -> Cell {
        let cell = *self.globals[id.0 as usize].get_or_insert_with(|| {
            let cell = self.graph.fresh(flag::GLOBAL | flag::SHARED);
            self.graph.edit(cell, |n| n.globals.push(id));
            cell
        });
        Cell { node: cell.node, offset: cell.offset }
    }

    pub(super) fn function_cell(&mut self, id: FuncId) -> Cell {
        *self.function_cells[id.0 as usize].get_or_insert_with(|| {
            let cell = self.graph.fresh(flag::FUNCTION | flag::SHARED);
            self.graph.edit(cell, |n| n.functions.push(id));
            cell
        })
    }

    /// Where an operand points, if it is a pointer to something.
    pub(super) fn operand(&mut self, function: Option<FuncId>, operand: Operand) -> Option<Cell> {
        match operand {
            Operand::Value(value) => {
                let function = function.expect("a value has a function");
                let kind = self.module.function(function).values[value.0 as usize].kind;
                kind.has_pointer().then(|| self.value(function, value))
            }
            Operand::Global(id, offset) => {
                let cell = self.global(id);
                Some(self.graph.find(Cell { node: cell.node, offset: cell.offset + offset }))
            }
            Operand::Function(id) => Some(self.function_cell(id)),
            Operand::Null | Operand::Data => None,
            Operand::Strange => {
                let cell = self.graph.fresh(0);
                self.graph.escape(cell, "an address that is a number", At::default());
                Some(cell)
            }
        }
    }

    /// The cell of an operand, of an analysis that is complete.
    pub fn known(&self, function: FuncId, operand: Operand) -> Option<Cell> {
        match operand {
            Operand::Value(value) => {
                self.functions[function.0 as usize].values[value.0 as usize].map(|c| self.graph.find(c))
            }
            Operand::Global(id, offset) => {
                let cell = self.globals[id.0 as usize]?;
                Some(self.graph.find(Cell { node: cell.node, offset: cell.offset + offset }))
            }
            Operand::Function(id) => self.function_cells[id.0 as usize].map(|c| self.graph.find(c)),
            _ => None,
        }
    }

    /// Nodes that the parameters and the result of a function reach, without shared ones; of a function whose own calls
    /// are done.
    pub fn interface(&self, id: FuncId) -> Rc<Vec<NodeId>> {
        let known = self.interfaces.borrow().get(&id).cloned();
        known.unwrap_or_else(|| {
            let found = Rc::new(self.find_interface(id));
            self.interfaces.borrow_mut().insert(id, found.clone());
            found
        })
    }

    fn find_interface(&self, id: FuncId) -> Vec<NodeId> {
        let (params, result) = &self.graph.signatures[id.0 as usize];
        let mut seen = HashSet::new();
        let mut order = vec![];
        let mut work: Vec<Cell> = params.iter().chain([result]).copied().collect();
        work.reverse();
        while let Some(cell) = work.pop() {
            let node = self.graph.find(cell).node;
            if self.graph.node(node).flags & flag::SHARED != 0 || !seen.insert(node) {
                continue;
            }
            order.push(node);
            work.extend(self.graph.node(node).fields.values().rev().filter_map(|f| f.link));
        }
        order
    }
}
