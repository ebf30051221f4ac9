//! The points-to graph and the pools as text.

use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, NodeId, Why, flag};
use crate::names::Names;
use crate::rewrite::Done;
use crate::shape::Part;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Letters for flags, as in the paper where it has them.
fn letters(flags: u16) -> String {
    let all = [
        (flag::HEAP, 'H'),
        (flag::STACK, 'S'),
        (flag::GLOBAL, 'G'),
        (flag::FUNCTION, 'F'),
        (flag::ESCAPED, 'E'),
        (flag::READ, 'R'),
        (flag::WRITTEN, 'M'),
        (flag::FREED, 'D'),
    ];
    all.iter().filter(|(f, _)| flags & f != 0).map(|(_, c)| c).collect()
}

/// Numbers for nodes in the order in which they are met.
#[derive(Default)]
struct Numbers {
    numbers: BTreeMap<NodeId, usize>,
    order: Vec<NodeId>,
}

impl Numbers {
    fn cell(&mut self, analysis: &Analysis, cell: Cell) -> String {
        let cell = analysis.graph.find(cell);
        let next = self.numbers.len();
        let number = *self.numbers.entry(cell.node).or_insert_with(|| {
            self.order.push(cell.node);
            next
        });
        if cell.offset == 0 { format!("n{number}") } else { format!("n{number}+{}", cell.offset) }
    }
}

fn node_line(analysis: &Analysis, names: &mut Numbers, id: NodeId) -> String {
    let node = analysis.graph.node(id);
    let mut line = format!("{} [{}]", names.cell(analysis, Cell { node: id, offset: 0 }), letters(node.flags));
    for &global in &node.globals {
        let _ = write!(line, " {}", analysis.module.globals[global.0 as usize].name);
    }
    for &function in &node.functions {
        let _ = write!(line, " {}()", analysis.module.function(function).name);
    }
    if node.stride != 0 {
        let _ = write!(line, " rows of {}", node.stride);
    }
    for (offset, run) in &node.runs {
        let _ = write!(line, " {offset}:{}x{}", run.count, run.size);
    }
    for (offset, field) in &node.fields {
        match field.link {
            Some(link) => {
                let _ = write!(line, " {offset}→{}", names.cell(analysis, link));
            }
            None => {
                let _ = write!(line, " {offset}:{}", field.size);
            }
        }
    }
    let mut why = |what: &str, why: &Option<Why>| {
        if let Some(why) = why {
            let _ = write!(line, " {what}: {} at {}", why.text, analysis.module.place(why.at));
        }
    };
    why("collapsed", &node.collapsed);
    why("frozen", &node.frozen);
    why("escapes", &node.escaped);
    line
}

/// The graph of each function, and of what all share.
pub(crate) fn graph(analysis: &Analysis) -> String {
    let mut out = String::new();
    for id in analysis.module.function_ids() {
        let function = analysis.module.function(id);
        if function.declared {
            continue;
        }
        let mut names = Numbers::default();
        let (params, result) = &analysis.graph.signatures[id.0 as usize];
        let mut parameters = vec![];
        for (param, cell) in function.params.iter().zip(params) {
            parameters.push(if param.has_pointer() { names.cell(analysis, *cell) } else { "_".into() });
        }
        let result = if function.result.has_pointer() {
            format!(" → {}", names.cell(analysis, *result))
        } else {
            String::new()
        };
        let _ = writeln!(out, "{}({}){result}", function.name, parameters.join(", "));
        for value in analysis.functions[id.0 as usize].values.iter().flatten() {
            names.cell(analysis, *value);
        }
        let mut next = 0;
        while let Some(&node) = names.order.get(next) {
            let _ = writeln!(out, "  {}", node_line(analysis, &mut names, node));
            next += 1;
        }
    }
    out
}

/// The graph of each function, and of what all share, for Graphviz.
pub(crate) fn dot(analysis: &Analysis) -> String {
    let mut out = String::from("digraph points_to {\n  node [shape=record, fontname=monospace];\n");
    let mut seen: Vec<NodeId> = vec![];
    for id in analysis.module.function_ids().filter(|id| !analysis.module.function(*id).declared) {
        let function = analysis.module.function(id);
        let _ = writeln!(out, "  subgraph \"cluster_{0}\" {{\n    label=\"{0}\";", function.name);
        let mut work: Vec<Cell> = analysis.functions[id.0 as usize].values.iter().flatten().copied().collect();
        let mut edges = String::new();
        while let Some(cell) = work.pop() {
            let node = analysis.graph.find(cell).node;
            if seen.contains(&node) {
                continue;
            }
            seen.push(node);
            let description = analysis.graph.node(node);
            let _ = writeln!(out, "    n{} [label=\"{}\"];", node.0, letters(description.flags));
            for (offset, field) in &description.fields {
                let Some(link) = field.link else { continue };
                let to = analysis.graph.find(link);
                let _ = writeln!(edges, "  n{} -> n{} [label=\"{offset}→{}\"];", node.0, to.node.0, to.offset);
                work.push(link);
            }
        }
        let _ = write!(out, "  }}\n{edges}");
    }
    out.push_str("}\n");
    out
}

fn parts(parts: &[Part], out: &mut Vec<String>) {
    for part in parts {
        let count = if part.count > 1 { format!("{}x", part.count) } else { String::new() };
        let small = if part.small { " index" } else { "" };
        out.push(format!("{}→{}:{count}{}{small}", part.old, part.new, part.new_size));
        parts_inside(part, out);
    }
}

fn parts_inside(part: &Part, out: &mut Vec<String>) {
    if !part.inner.is_empty() {
        let mut inner = vec![];
        parts(&part.inner, &mut inner);
        out.push(format!("({})", inner.join(" ")));
    }
}

/// What was done and what wasn't.
pub(crate) fn report(analysis: &Analysis, names: &Names, done: &Done) -> String {
    let mut out = String::new();
    for (name, decision, id) in &done.pools {
        let place = |at| names.line(analysis, *id, at);
        let shape = &decision.shape;
        let kind = match (shape.pooled, shape.array) {
            _ if shape.dynamic => "dynamic pool of",
            (false, _) => "in no pool, but smaller:",
            (true, true) => "pool of arrays:",
            (true, false) => "pool of",
        };
        let _ = write!(out, "{kind} {name}");
        match (&shape.layout, &decision.no_layout) {
            (Some(layout), _) => {
                let mut list = vec![];
                parts(&layout.parts, &mut list);
                let _ = writeln!(
                    out,
                    ": {} → {} bytes, {} pointers smaller [{}]",
                    layout.size,
                    layout.new_size,
                    layout.small_count(),
                    list.join(" ")
                );
            }
            (None, Some(why)) => {
                let _ = writeln!(out, ": layout stays, {} at {}", why.text, place(why.at));
            }
            (None, None) => out.push('\n'),
        }
        if let Some(why) = &decision.because {
            let kind = if shape.dynamic { "dynamic" } else { "static" };
            let _ = writeln!(out, "    {kind}: {} at {}", why.text, place(why.at));
        }
    }
    for (name, decision, id) in &done.refused {
        let place = |at| names.line(analysis, *id, at);
        if let Some(why) = decision.no_pool.as_ref().or(decision.no_layout.as_ref()) {
            let _ = writeln!(out, "as before {name}: {} at {}", why.text, place(why.at));
        }
    }
    if done.versions > 0 {
        let _ = writeln!(
            out,
            "{} versions of functions, {} small pointers read and {} written, {} accesses rewritten",
            done.versions, done.small_loads, done.small_stores, done.rewritten
        );
    }
    out
}
