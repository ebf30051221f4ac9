//! Module-wide state and tables: symbols, C strings, descriptors, globals, `@cairn_module`.

use super::brief::{self, Brief};
use super::debug::{self, Debug, Node};
use super::heirs::Heirs;
use super::ir_text::{Val, escape, symbol};
use super::joined::Joined;
use super::literals::Literals;
use super::part::Part;
use crate::split::QUICK;
use crate::strategy::Frames;
use cairn_core::ir::ImportFrom;
use cairn_frame::ir::*;
use cairn_layout::code::{BODY_SHAPE, RETURN_PREFIX, SEVERAL, Site, SlowCall, count_word, flags, tail_call};
use cairn_layout::facts::CollectorFacts;
use cairn_layout::limits::{SHORT_COUNT, SHORT_MAP_WORDS};
use cairn_layout::machine::error;
use cairn_layout::module::{MODULE_VERSION, NOT_LOADED};
use cairn_layout::value::{TAG_PROCEDURE, Value as Word};
use std::collections::{BTreeSet, HashMap};
use std::fmt::{Display, Write};
use std::rc::Rc;

/// State shared by the functions of a module.
pub(crate) struct ModuleCx<'m> {
    /// The input.
    pub module: &'m Module,
    /// What the collector asks of the code.
    pub collector: &'static CollectorFacts,
    /// What the tables say of frames.
    pub frames: &'static dyn Frames,
    /// Constants placed so far.
    pub literals: Literals,
    symbols: Vec<String>,
    closures: BTreeSet<FuncId>,
    names: Strings,
    operations: Strings,
    long_maps: Vec<Vec<u64>>,
    throws: HashMap<String, usize>,
    slow_calls: HashMap<String, usize>,
    /// Where the procedures of these names are written; `None`: several have the name.
    written: HashMap<Rc<str>, Option<Site>>,
    agains: HashMap<String, usize>,
    /// Rows of the table of inlined positions: site, name, next row.
    inlined: HashMap<String, usize>,
    /// Slow paths of allocation note where they are.
    pub(super) notes_sites: bool,
    /// The code may lie anywhere.
    pub(crate) anywhere: bool,
    /// Debug information, if it is wanted.
    pub(super) debug: Option<Debug<'m>>,
    /// Bodies with their return points inside, if frames are native.
    pub(super) joined: &'m HashMap<FuncId, Joined>,
    /// Descriptors of return points in these: the address of the name, and the text of the other words.
    descriptors: HashMap<(String, String), usize>,
    /// How short the arithmetic of each function is.
    pub(super) brief: Vec<Brief>,
    /// Record types that extend others.
    pub(super) heirs: Heirs,
}

/// A pool of C strings.
struct Strings {
    prefix: &'static str,
    index: HashMap<String, usize>,
    texts: Vec<String>,
}

impl Strings {
    fn new(prefix: &'static str) -> Strings {
        Strings { prefix, index: HashMap::new(), texts: Vec::new() }
    }
    /// Symbol of the string with this content, which ends with NUL.
    fn symbol(&mut self, text: &str) -> String {
        let i = *self.index.entry(text.to_string()).or_insert_with(|| {
            self.texts.push(text.to_string());
            self.texts.len() - 1
        });
        format!("@{}.{i}", self.prefix)
    }
    fn emit(&self, out: &mut String) {
        for (i, t) in self.texts.iter().enumerate() {
            let _ = writeln!(
                out,
                "@{}.{i} = internal unnamed_addr constant [{} x i8] c\"{}\", align 8",
                self.prefix,
                t.len(),
                escape(t.as_bytes())
            );
        }
    }
}

/// Where procedures are written, by their names.
fn places_by_name(module: &Module) -> HashMap<Rc<str>, Option<Site>> {
    let mut places = HashMap::new();
    for f in &module.functions {
        if let FuncKind::Entry { site, .. } = &f.kind {
            places.entry(f.procedure.clone()).and_modify(|s| *s = None).or_insert(Some(*site));
        }
    }
    places
}

/// What LLVM is to spend on a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    Full,
    /// As little as for a whole program that is compiled quickly: the function is in a part of its own.
    Quick,
    /// It is not optimized.
    None,
}

/// What stands before a function's code; see `cairn_layout::code`.
pub(crate) enum Head {
    /// Only reached by jumps; no procedure's.
    None,
    /// Only reached by known calls and jumps.
    Body {
        /// C string.
        name: Val,
        /// Where the procedure was written, if its name says which one it is.
        site: Site,
        /// `BODY_SHAPE` and flags: `LIBRARY`; `RETURN` for the body of a return point.
        shape: u64,
    },
    /// Procedure entry.
    Entry {
        /// C string.
        name: Val,
        /// Where the procedure was written.
        site: Site,
        /// Packed arity.
        arity: u64,
        /// Size and flags of its closures.
        shape: u64,
    },
    /// Return point.
    Return {
        /// C string.
        name: Val,
        /// Site of the call.
        site: Site,
        /// Symbol of the multiple-value entry.
        mv: String,
        /// Live map: low word, high word or address of a long map.
        live: [Val; 2],
        /// Size and flags of the frame.
        shape: u64,
    },
}

impl<'m> ModuleCx<'m> {
    pub(super) fn new(
        module: &'m Module,
        collector: &'static CollectorFacts,
        frames: &'static dyn Frames,
        joined: &'m HashMap<FuncId, Joined>,
    ) -> Self {
        ModuleCx {
            module,
            collector,
            frames,
            literals: Literals::default(),
            symbols: module.functions.iter().map(|f| symbol(&f.name)).collect(),
            closures: BTreeSet::new(),
            names: Strings::new("cairn_name"),
            operations: Strings::new("cairn_operation"),
            long_maps: Vec::new(),
            throws: HashMap::new(),
            slow_calls: HashMap::new(),
            written: places_by_name(module),
            agains: HashMap::new(),
            inlined: HashMap::new(),
            notes_sites: false,
            anywhere: false,
            debug: None,
            joined,
            descriptors: HashMap::new(),
            brief: brief::of(module, !joined.is_empty()),
            heirs: Heirs::of(module),
        }
    }

    /// The LLVM symbol of a function.
    pub(crate) fn symbol(&self, f: FuncId) -> String {
        self.symbols[f.0 as usize].clone()
    }

    /// The value of the static closure of an entry.
    pub(crate) fn static_closure(&mut self, f: FuncId) -> Val {
        self.closures.insert(f);
        Val::text(format!("add (i64 ptrtoint (ptr @cairn_closure.{} to i64), i64 {TAG_PROCEDURE})", f.0))
    }

    /// Address of a C string, as a word.
    pub(crate) fn name(&mut self, name: &str) -> Val {
        let s = self.names.symbol(&format!("{}\0", name.replace('\0', "?")));
        Val::text(format!("ptrtoint (ptr {s} to i64)"))
    }

    /// The row for a position in code of `procedure`.
    fn row(&mut self, site: Site, procedure: &str) -> Site {
        let mut next = Site::NONE;
        for (site, own) in self.module.inlined.chain(site).into_iter().rev() {
            let name = self.name(own.map_or(procedure, |p| p));
            let count = self.inlined.len();
            let text = format!("i64 {}, i64 {name}, i64 {}", site.plain().with_who(None).0, next.0);
            next = Site::inlined(*self.inlined.entry(text).or_insert(count) as u32);
            next = if site.is_tail() { next.tail() } else { next };
        }
        next
    }

    /// A position in code of `procedure`, as a fixnum relative to `@cairn_site_base`.
    pub(super) fn position(&mut self, site: Site, procedure: &str) -> Word {
        let site = if site.is_known() { self.row(site, procedure) } else { Site::NONE };
        Word::fixnum(site.0 as i64)
    }

    /// What a tail call at `site` in code of `procedure` says of itself; there is a row that it can be found by.
    pub(super) fn tail_call(&mut self, site: Site, procedure: &str) -> u32 {
        if !site.is_known() {
            return tail_call::SOMEWHERE;
        }
        self.row(site.plain(), procedure);
        let place = |(site, _): (Site, Option<&Rc<str>>)| {
            let source = self.module.sources.get(site.file()? as usize)?;
            Some((source.path.as_bytes(), site.start()))
        };
        let places: Option<Vec<_>> = self.module.inlined.chain(site).into_iter().map(place).collect();
        places.map_or(tail_call::SOMEWHERE, |places| tail_call::at(places.into_iter()))
    }

    /// Symbol of the descriptor of a throw in `procedure`. The site's name takes the place of the operation's.
    pub(crate) fn throw(
        &mut self,
        kind: i64,
        (who, expected): (&str, &str),
        (site, procedure): (Site, &str),
        values: usize,
    ) -> String {
        let named = site.who().filter(|_| kind != error::UNBOUND).and_then(|i| self.module.procedures.get(i));
        let who = named.map_or(who, |name| &**name);
        let site = if site.is_known() { self.row(site, procedure) } else { Site::NONE };
        let operation = if who.is_empty() && expected.is_empty() {
            "0".to_string()
        } else {
            format!("ptrtoint (ptr {} to i64)", self.operation(who, expected))
        };
        let text = format!("i64 {}, i64 {operation}, i64 {}, i64 {values}", Word::fixnum(kind).0, site.0 << 3);
        let next = self.throws.len();
        let i = *self.throws.entry(text).or_insert(next);
        format!("@cairn_throw.{i}")
    }

    /// Symbol of the descriptor of a slow call: offset of the runtime call's pointer, descriptor of the throw, words of
    /// the frame to leave before that, and how much room a collection after it has to leave, if there may be one.
    pub(crate) fn slow_call(&mut self, call: usize, throw: &str, leave: u32, room: Option<u64>) -> String {
        let poll = match (room.is_some(), self.frames.is_value()) {
            (false, _) => SlowCall::NO_POLL,
            (true, false) => SlowCall::POLL,
            (true, true) => SlowCall::POLL_FRAME_VALUE,
        };
        let text = format!(
            "i64 {call}, ptr @cairn_failed, ptr {throw}, i64 {leave}, i64 {poll}, i64 {}",
            room.unwrap_or(0)
        );
        let next = self.slow_calls.len();
        let i = *self.slow_calls.entry(text).or_insert(next);
        format!("@cairn_slow.{i}")
    }

    /// Symbol of what `@cairn_again` has to know: the function, how much room it wants, which registers hold arguments.
    pub(crate) fn again(&mut self, code: &str, bytes: Word, mask: u64) -> String {
        let text = format!("ptr {code}, i64 {}, i64 {mask}", bytes.0);
        let next = self.agains.len();
        let i = *self.agains.entry(text).or_insert(next);
        format!("@cairn_again.{i}")
    }

    /// The scope of a function's debug information.
    pub(super) fn scope(&mut self, f: &Function) -> Option<Node> {
        let written = self.written.get(&f.procedure).copied().flatten();
        let debug = self.debug.as_mut()?;
        Some(debug.procedure(&f.procedure, debug::site_of_function(f, written)))
    }

    /// What native frames have instead of prefix data of a return point: an address behind it.
    pub(crate) fn descriptor(&mut self, ret: FuncId) -> String {
        let Head::Return { name, site, mv, shape, .. } = self.head(self.module.function(ret)) else {
            panic!("calls return to return points")
        };
        let several = u8::from(mv != "@cairn_mv_first");
        let words = format!("i64 {}, i64 {several}, i64 0, i64 0, i64 {shape}", site.0);
        let next = self.descriptors.len();
        let i = *self.descriptors.entry((name.to_string(), words)).or_insert(next);
        behind_descriptor(i)
    }

    /// Symbol of the description of an operation that failed: two C strings in a row.
    fn operation(&mut self, who: &str, expected: &str) -> String {
        self.operations.symbol(&format!("{}\0{}\0", who.replace('\0', "?"), expected.replace('\0', "?")))
    }

    /// Emits a Scheme function with this body.
    pub(crate) fn define(
        &mut self,
        out: &mut String,
        name: &str,
        head: &Head,
        effort: Effort,
        scope: Option<Node>,
        body: &str,
    ) {
        let scope = scope.map_or(String::new(), |s| format!(" !dbg !{s}"));
        let attributes = match effort {
            Effort::Full => " #0 ",
            Effort::Quick => QUICK,
            Effort::None => " #7 ",
        };
        let at = |v: &Val| distance(v, name);
        let prefix = match head {
            Head::None => {
                format!(" prefix <{{ i64, i64, i64, i64 }}> <{{ i64 0, i64 0, i64 0, i64 {BODY_SHAPE} }}>")
            }
            Head::Body { name, site, shape } => {
                format!(
                    " prefix <{{ i64, i64, i64, i64 }}> <{{ i64 {}, i64 {}, i64 0, i64 {shape} }}>",
                    at(name),
                    site.0
                )
            }
            Head::Entry { name, site, arity, shape } => {
                format!(
                    " prefix <{{ i64, i64, i64, i64 }}> <{{ i64 {}, i64 {}, i64 {arity}, i64 {shape} }}>",
                    at(name),
                    site.0
                )
            }
            Head::Return { name, site, mv, live: [low, high], shape } => {
                let (kind, mv, flag) = match self.anywhere {
                    true => ("i64", at(&Val::text(format!("ptrtoint (ptr {mv} to i64)"))), flags::ANYWHERE),
                    false => ("ptr", mv.clone(), 0),
                };
                let high = if shape & flags::LONG_MAP != 0 { at(high) } else { high.to_string() };
                format!(
                    " prefix <{{ i64, i64, {kind}, i64, i64, i64 }}> <{{ i64 {}, i64 {}, {kind} {mv}, i64 {high}, \
                     i64 {low}, i64 {} }}>",
                    at(name),
                    site.0,
                    shape | flag
                )
            }
        };
        let _ = write!(
            out,
            "\ndefine internal preserve_nonecc void {name}(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, \
             i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4){attributes}align 16{prefix}{scope} {{\nentry:\n{body}}}\n"
        );
    }

    /// What stands before a Frame IR function.
    pub(super) fn head(&mut self, f: &Function) -> Head {
        let library = if f.library { flags::LIBRARY } else { 0 };
        match &f.kind {
            FuncKind::Body { .. } => Head::Body {
                name: self.name(&f.procedure),
                site: self.written.get(&f.procedure).copied().flatten().unwrap_or(Site::NONE),
                shape: BODY_SHAPE | library,
            },
            FuncKind::Entry { closure_words, clauses, site } => Head::Entry {
                name: self.name(&f.procedure),
                site: *site,
                arity: arity(clauses),
                shape: (*closure_words).max(2) as u64 | library,
            },
            FuncKind::Return { frame, results, site } => {
                let mv = match results {
                    Results::Single(_) => "@cairn_mv_first".into(),
                    Results::Multi { .. } => symbol(&format!("{}.mv", f.name)),
                };
                let mut map = vec![0u64; (frame.words as usize).div_ceil(64).max(2)];
                for s in &frame.live {
                    let w = self.frames.slot_word(frame.words, *s) as usize;
                    map[w / 64] |= 1 << (w % 64);
                }
                let mut shape = frame.words as u64 | flags::RETURN | library;
                let live = if frame.words as u64 <= SHORT_MAP_WORDS {
                    [Val::word(map[0]), Val::word(map[1])]
                } else {
                    shape |= flags::LONG_MAP;
                    self.long_maps.push(map);
                    let m = format!("ptrtoint (ptr @cairn_map.{} to i64)", self.long_maps.len() - 1);
                    [Val::Int(0), Val::text(m)]
                };
                let inlined = self.module.inlined.get(*site).is_some();
                let site = if inlined { self.row(*site, &f.procedure) } else { *site };
                Head::Return { name: self.name(&f.procedure), site, mv, live, shape }
            }
        }
    }

    fn globals(&mut self, out: &mut String) {
        let mut values = Vec::new();
        for g in &self.module.globals {
            values.push(g.procedure.map_or(Val::word(Word::UNBOUND.0), |f| self.static_closure(f)));
        }
        let _ = write!(out, "@cairn_globals = internal global [{} x i64] [", values.len());
        for (i, v) in values.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}i64 {v}");
        }
        let _ = writeln!(out, "], align 8");
        let imports = self.imports();
        let rows: Vec<String> =
            imports.iter().map(|(g, from)| format!("[2 x i64] [i64 {g}, i64 {from}]")).collect();
        let _ = writeln!(
            out,
            "@cairn_imports = internal constant [{} x [2 x i64]] [{}], align 8",
            rows.len(),
            rows.join(", ")
        );
    }

    /// Rows of `ModuleTable::imports`.
    fn imports(&self) -> Vec<(usize, u64)> {
        let from = |import| match import {
            ImportFrom::Library(n) => 2 * n as u64,
            ImportFrom::Cell(n) => 2 * n as u64 + 1,
        };
        self.module.globals.iter().enumerate().filter_map(|(i, g)| Some((i, from(g.import?)))).collect()
    }

    /// Is the module loaded after others, whose variables it uses?
    pub(super) fn is_beside_others(&self) -> bool {
        self.module.globals.iter().any(|g| g.import.is_some())
    }

    /// Everything but functions; emitted last, when all uses are known.
    pub(super) fn tables(&mut self, prelude: &[Part], out: &mut String) {
        let main = self.static_closure(self.module.main);
        self.globals(out);
        self.literals.emit(out);
        for f in &self.closures {
            // two words: no procedure is smaller
            let s = &self.symbols[f.0 as usize];
            let _ = writeln!(
                out,
                "@cairn_closure.{} = internal constant <{{ ptr, i64 }}> <{{ ptr {s}, i64 0 }}>, align 8",
                f.0
            );
        }
        for (i, m) in self.long_maps.iter().enumerate() {
            let words: Vec<String> = m.iter().map(|w| format!("i64 {}", *w as i64)).collect();
            let _ = writeln!(
                out,
                "@cairn_map.{i} = internal constant [{} x i64] [{}], align 8",
                m.len(),
                words.join(", ")
            );
        }
        numbered(out, "cairn_throw", "[4 x i64] [", &self.throws, "]");
        numbered(out, "cairn_slow", "{ i64, ptr, ptr, i64, i64, i64 } { ", &self.slow_calls, " }");
        numbered(out, "cairn_again", "{ ptr, i64, i64 } { ", &self.agains, " }");
        let descriptors = (self.descriptors.iter())
            .map(|((name, words), i)| (format!("i64 {}, {words}", distance(name, &behind_descriptor(*i))), *i));
        numbered(out, "cairn_frame", "[6 x i64] [", &descriptors.collect(), "]");
        let mut rows: Vec<(&String, &usize)> = self.inlined.iter().collect();
        rows.sort_by_key(|(_, i)| **i);
        let rows: Vec<String> = rows.into_iter().map(|(text, _)| format!("[3 x i64] [{text}]")).collect();
        let _ = writeln!(
            out,
            "@cairn_inlined = internal constant [{} x [3 x i64]] [{}], align 8",
            rows.len(),
            rows.join(", ")
        );
        self.names.emit(out);
        self.operations.emit(out);
        let symbols: Vec<Vec<u8>> = self.literals.symbols().iter().map(|s| s.as_bytes().to_vec()).collect();
        let _ =
            writeln!(out, "@cairn_symbols = internal global [{} x i64] zeroinitializer, align 8", symbols.len());
        counted(out, "cairn_symbol_names", &symbols);
        let mut sources = String::new();
        for (i, s) in self.module.sources.iter().enumerate() {
            let text: &[u8] = if s.library { b"" } else { s.text.as_bytes() };
            blob(out, &format!("@cairn_source_path.{i}"), s.path.as_bytes());
            blob(out, &format!("@cairn_source_text.{i}"), text);
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(
                sources,
                "{comma}%source {{ %bytes {{ ptr @cairn_source_path.{i}, i64 {} }}, \
                 %bytes {{ ptr @cairn_source_text.{i}, i64 {} }}, i64 {} }}",
                s.path.len(),
                text.len(),
                s.lines_before
            );
        }
        let _ = writeln!(
            out,
            "@cairn_sources = internal constant [{} x %source] [{sources}], align 8",
            self.module.sources.len()
        );
        let strategy = self.module.strategy.kind as usize;
        let collector = self.collector.name;
        blob(out, "@cairn_collector", collector.as_bytes());
        let _ = writeln!(out, "@cairn_site_base = internal global i64 {NOT_LOADED}, align 8");
        let first = !self.is_beside_others();
        let own = |symbol| if first && prelude.iter().any(|p| p.symbol == symbol) { symbol } else { "null" };
        let [halt, resume, underflow, continuation, builtins] =
            ["@cairn_halt", "@cairn_resume", "@cairn_underflow", "@cairn_continuation", "@cairn_builtins"]
                .map(own);
        let _ = writeln!(
            out,
            "@cairn_module = constant {{ i64, i64, %bytes, ptr, i64, ptr, i64, ptr, i64, ptr, ptr, i64, ptr, i64, ptr, i64, \
             ptr, i64, ptr, ptr, ptr, ptr, ptr, i64, ptr }} {{ i64 {MODULE_VERSION}, i64 {strategy}, \
             %bytes {{ ptr @cairn_collector, i64 {} }}, ptr @cairn_globals, i64 {}, ptr @cairn_imports, i64 {}, \
             ptr @cairn_literals, i64 {}, ptr @cairn_symbols, ptr @cairn_symbol_names, i64 {}, \
             ptr @cairn_sources, i64 {}, ptr @cairn_inlined, i64 {}, ptr @cairn_enter, i64 {main}, ptr {halt}, \
             ptr {resume}, ptr {underflow}, ptr {continuation}, ptr {builtins}, \
             i64 {}, ptr @cairn_site_base }}, align 8",
            collector.len(),
            self.module.globals.len(),
            self.imports().len(),
            self.literals.word_count(),
            symbols.len(),
            self.module.sources.len(),
            rows.len(),
            u64::from(self.module.shared),
        );
    }
}

/// The address behind descriptor `i` of native frames.
fn behind_descriptor(i: usize) -> String {
    format!("getelementptr (i8, ptr @cairn_frame.{i}, i64 {RETURN_PREFIX})")
}

/// How far an address, a word, is from this one, a pointer: what descriptors say. Of 0 it is 0.
fn distance(word: &impl Display, from: &str) -> String {
    match &*word.to_string() {
        "0" => "0".into(),
        word => format!("sub (i64 {word}, i64 ptrtoint (ptr {from} to i64))"),
    }
}

/// Constants with a number each, in order.
fn numbered(out: &mut String, name: &str, open: &str, items: &HashMap<String, usize>, close: &str) {
    let mut items: Vec<(&String, &usize)> = items.iter().collect();
    items.sort_by_key(|(_, i)| **i);
    for (text, i) in items {
        let _ = writeln!(out, "@{name}.{i} = internal constant {open}{text}{close}, align 8");
    }
}

fn blob(out: &mut String, name: &str, bytes: &[u8]) {
    let _ = writeln!(
        out,
        "{name} = internal unnamed_addr constant [{} x i8] c\"{}\", align 1",
        bytes.len(),
        escape(bytes)
    );
}

/// An array of counted strings over one blob.
fn counted(out: &mut String, name: &str, strings: &[Vec<u8>]) {
    blob(out, &format!("@{name}.text"), &strings.concat());
    let mut at = 0;
    let mut items = String::new();
    for (i, s) in strings.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(
            items,
            "{comma}%bytes {{ ptr getelementptr (i8, ptr @{name}.text, i64 {at}), i64 {} }}",
            s.len()
        );
        at += s.len();
    }
    let _ = writeln!(out, "@{name} = internal constant [{} x %bytes] [{items}], align 8", strings.len());
}

/// The arity word of an entry.
fn arity(clauses: &[EntryClause]) -> u64 {
    let rest = clauses.iter().find(|c| c.rest);
    let required = rest.or(clauses.first()).map_or(0, |c| c.required as u64);
    if clauses.len() < 2 {
        return count_word(required, rest.is_some());
    }
    let least = count_word(required.min(SHORT_COUNT), rest.is_some()) & u32::MAX as u64;
    let counts =
        clauses.iter().filter(|c| !c.rest && c.required < 32).fold(0, |m, c| m | 1u64 << (32 + c.required));
    least | SEVERAL | counts
}
