//! Debug information: which procedure and which line each instruction belongs to, as LLVM's metadata, of which LLVM
//! makes DWARF.
//!
//! The idea: every operation has a [`Site`] already, for messages. The builder writes the location of the operation
//! under way behind each of its instructions ([`super::builder::Builder::set_location`]).
//!
//! ```text
//!  %t3 = add i64 %t1, %t2, !dbg !112        !112 = !DILocation(line: 8, column: 15, scope: !104)
//!  define … @"scm.sum.2"(…) !dbg !104 {     !104 = distinct !DISubprogram(name: "sum", line: 3, …)
//! ```
//!
//! Inlined procedures, and macros, whose templates are like inlined bodies, are scopes of their own. An operation
//! without a position belongs to what comes before it.

use super::ir_text::escape;
use cairn_core::ir::SourceFile;
use cairn_frame::ir::*;
use cairn_layout::code::Site;
use std::collections::HashMap;
use std::fmt::Write;

/// The first number of its nodes; those before it are [`super::ir_text::METADATA`]'s.
const FIRST: usize = 100;

/// The node of the compilation unit.
const UNIT: usize = FIRST;

/// A node's number.
pub(super) type Node = usize;

/// The nodes of a module.
pub(super) struct Debug<'m> {
    module: &'m Module,
    /// What paths start from, escaped.
    directory: String,
    nodes: Vec<String>,
    /// Nodes by their text: equal ones are one.
    known: HashMap<String, Node>,
    /// Where the lines of sources begin.
    lines: HashMap<u32, Vec<usize>>,
}

impl<'m> Debug<'m> {
    /// The unit alone.
    pub(super) fn new(module: &'m Module) -> Debug<'m> {
        let (nodes, known, lines) = (vec![String::new()], HashMap::new(), HashMap::new());
        let directory = std::env::current_dir().unwrap_or_default();
        let directory = escape(directory.as_os_str().as_encoded_bytes());
        let mut debug = Debug { module, directory, nodes, known, lines };
        let file = debug.file(None);
        debug.nodes[UNIT - FIRST] = format!(
            "distinct !DICompileUnit(language: DW_LANG_C99, file: !{file}, producer: \"cairn {}\", isOptimized: true, \
             runtimeVersion: 0, emissionKind: FullDebug)",
            env!("CARGO_PKG_VERSION")
        );
        debug
    }

    /// The scope of a piece of a procedure, which is written there.
    pub(super) fn procedure(&mut self, name: &str, site: Site) -> Node {
        let (file, line) = self.place(site).map_or((self.file(None), 0), |(file, line, _)| (file, line));
        let text = self.subprogram(name, file, line);
        self.nodes.push(text);
        FIRST + self.nodes.len() - 1
    }

    /// The location of an operation in the procedure with this scope.
    pub(super) fn location(&mut self, site: Site, scope: Node) -> Option<Node> {
        let module = self.module;
        let chain = module.inlined.chain(site.with_who(None));
        let mut around: Option<Node> = None;
        for (site, inlined) in chain.into_iter().rev() {
            let Some((file, line, column)) = self.place(site) else { continue };
            let at = around.map_or(String::new(), |a| format!(", inlinedAt: !{a}"));
            let scope = match inlined {
                Some(procedure) if around.is_some() => {
                    let text = self.subprogram(procedure, file, line);
                    // one for all that is inlined of it: its line is that of the first operation seen
                    let key = format!("{procedure} in {file}");
                    self.node_for(key, text)
                }
                _ => self.node(format!("!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)")),
            };
            // what is inlined at it needs one of its own
            let text = format!("!DILocation(line: {line}, column: {column}, scope: !{scope}{at})");
            around = Some(self.node(format!("distinct {text}")));
        }
        around
    }

    /// Where a procedure without text begins: the scope itself.
    pub(super) fn nowhere(&mut self, scope: Node) -> Node {
        self.node(format!("!DILocation(line: 0, scope: !{scope})"))
    }

    fn subprogram(&mut self, name: &str, file: Node, line: usize) -> String {
        let nothing = self.node("!{null}".into());
        let kind = self.node(format!("!DISubroutineType(types: !{nothing})"));
        format!(
            "distinct !DISubprogram(name: \"{}\", scope: !{file}, file: !{file}, line: {line}, type: !{kind}, \
             scopeLine: {line}, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !{UNIT})",
            escape(name.as_bytes())
        )
    }

    /// A source of the program; none: that of the first form.
    fn file(&mut self, index: Option<u32>) -> Node {
        let sources = &self.module.sources;
        let own = || sources.iter().find(|s| !s.library).or(sources.first());
        let source: Option<&SourceFile> = index.and_then(|i| sources.get(i as usize)).or_else(own);
        let path = source.map_or("", |s| &s.path);
        let text =
            format!("!DIFile(filename: \"{}\", directory: \"{}\")", escape(path.as_bytes()), self.directory);
        self.node(text)
    }

    /// File, line and column of a site that is not inlined. Lines and columns count from 1; those of a column that LLVM
    /// cannot hold are 0.
    fn place(&mut self, site: Site) -> Option<(Node, usize, usize)> {
        let index = site.plain().file()?;
        let text = &self.module.sources.get(index as usize)?.text;
        let starts = self.lines.entry(index).or_insert_with(|| {
            let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect()
        });
        let start = site.plain().start() as usize;
        let line = starts.partition_point(|s| *s <= start);
        let column = start - starts[line - 1] + 1;
        Some((self.file(Some(index)), line, if column > u16::MAX.into() { 0 } else { column }))
    }

    fn node(&mut self, text: String) -> Node {
        self.node_for(text.clone(), text)
    }

    fn node_for(&mut self, key: String, text: String) -> Node {
        if let Some(n) = self.known.get(&key) {
            return *n;
        }
        self.nodes.push(text);
        let n = FIRST + self.nodes.len() - 1;
        self.known.insert(key, n);
        n
    }

    /// Writes all nodes.
    pub(super) fn emit(&self, out: &mut String) {
        for (i, text) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "!{} = {text}", FIRST + i);
        }
        let flags = FIRST + self.nodes.len();
        let _ = writeln!(
            out,
            "!llvm.dbg.cu = !{{!{UNIT}}}\n!llvm.module.flags = !{{!{flags}, !{}}}\n\
             !{flags} = !{{i32 2, !\"Debug Info Version\", i32 3}}\n!{} = !{{i32 7, !\"Dwarf Version\", i32 4}}",
            flags + 1,
            flags + 1
        );
    }
}

/// The position of what a statement does.
pub(super) fn site_of_statement(s: &Stmt) -> Site {
    match s {
        Stmt::Assign(_, op) | Stmt::Effect(op) => match op {
            Op::Prim(p) => p.site,
            Op::GlobalChecked(_, site) | Op::SetGlobalChecked(_, _, site) => *site,
            _ => Site::NONE,
        },
        _ => Site::NONE,
    }
}

/// The position of what ends a block.
pub(super) fn site_of_end(t: &Term) -> Site {
    match t {
        Term::Branch { test: Test::Prim(p), .. } => p.site,
        Term::TailCall { site, .. } | Term::Call { site, .. } => *site,
        _ => Site::NONE,
    }
}

/// Where the text of a function stands: the procedure's, or that of its first operation.
pub(super) fn site_of_function(f: &Function, written: Option<Site>) -> Site {
    if let FuncKind::Entry { site, .. } = &f.kind {
        return *site;
    }
    let sites = f.blocks.iter().flat_map(|b| b.stmts.iter().map(site_of_statement).chain([site_of_end(&b.term)]));
    written.filter(|s| s.is_known()).or_else(|| sites.into_iter().find(|s| s.is_known())).unwrap_or(Site::NONE)
}
