//! What the rewriting of a program knows: of pools and nodes, of copies under way, of what has been done.

use super::instructions::Emitter;
use super::lines::Lines;
use crate::dsa::Analysis;
use crate::dsa::points_to::{NodeId, Why};
use crate::model::*;
use crate::plan::{Decision, Planner};
use crate::settings::Settings;
use crate::shape::{Shape, Version};
use cairn_llvm_c::{BasicBlockRef, ValueRef};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A pool as code names it.
#[derive(Clone, Copy)]
pub(super) struct Pool {
    pub(super) descriptor: ValueRef,
    /// A 64-bit integer.
    pub(super) base: ValueRef,
}

/// What code of one version knows of a node.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) shape: usize,
    /// How far the caller's objects begin before those the callee sees.
    pub(super) delta: i64,
    pub(super) pool: Option<Pool>,
    /// The node whose shape was decided: of the function, or of one that calls it.
    pub(super) decided: NodeId,
}

impl View {
    /// Of a node to which nothing is done.
    pub(super) fn plain(decided: NodeId) -> View {
        View { shape: 0, delta: 0, pool: None, decided }
    }
}

/// Why the rewriting can't go on as planned.
#[derive(Debug)]
pub(crate) struct Stop {
    pub why: Why,
    /// The node without whose pool it may go on; nothing if there is none.
    pub node: Option<NodeId>,
}

/// What was done, for the report and the tests.
#[derive(Default)]
pub struct Done {
    pub pools: Vec<(String, Decision, NodeId)>,
    pub refused: Vec<(String, Decision, NodeId)>,
    pub versions: usize,
    pub small_loads: usize,
    pub small_stores: usize,
    pub rewritten: usize,
}

/// Rewrites a program.
pub(crate) struct Rewriter<'a, 'm> {
    pub(super) e: Emitter<'a>,
    pub(super) analysis: &'a Analysis<'m>,
    pub(super) planner: &'a Planner<'a, 'm>,
    pub(super) settings: &'a Settings,
    pub(super) shapes: Vec<Shape>,
    pub(super) shared: BTreeMap<NodeId, View>,
    pub(super) versions: HashMap<Version, ValueRef>,
    /// Versions to be filled, with the nodes that their first caller has for those of the interface.
    pub(super) queue: VecDeque<(Version, ValueRef, Vec<NodeId>)>,
    pub(super) next_pool: u64,
    pub(super) program_wide: BTreeMap<FuncId, bool>,
    pub(super) dynamic_pools: Vec<Unfinished>,
    pub(super) quiet: BTreeMap<FuncId, Option<BTreeSet<NodeId>>>,
    /// Labels that are values, in functions that have been copied.
    pub(super) labels: Vec<Label>,
    /// Where debuggers are to find their way.
    pub(super) lines: Option<Lines<'a>>,
    pub done: Done,
}

/// A dynamic pool whose descriptor is complete when all pools are known.
pub(super) struct Unfinished {
    pub(super) descriptor: ValueRef,
    pub(super) base: u64,
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) sources: BTreeSet<ValueRef>,
}

/// A label whose address is a value, and its copy.
pub(super) struct Label {
    pub(super) old: ValueRef,
    pub(super) function: ValueRef,
    pub(super) block: BasicBlockRef,
}

/// A copy under way.
pub(super) struct Copy {
    pub id: FuncId,
    pub views: BTreeMap<NodeId, View>,
    /// The new instruction of each value.
    pub values: Vec<ValueRef>,
    /// Objects of dynamic pools are known to be narrow.
    pub narrow: bool,
    /// What stands for an instruction without a single new one, or no result; for dynamic pools the narrow form first.
    pub made: HashMap<ValueId, Vec<ValueRef>>,
    /// Addresses made of indices that were loaded, with the lower halves they were made of.
    pub(super) expanded: HashMap<ValueRef, ValueRef>,
}
