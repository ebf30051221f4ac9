//! Core → code of the evaluator: vectors headed by a symbol.
//!
//! ```text
//!  (lambda (x) (if (pair? x) (f (car x)) y))      #(lambda f #(#(1 #f
//!                                                    #(if #(call #(value 8) #(#(local 0 1)))
//!                                                         #(call #(cell 3 f) #(#(call #(value 7) #(#(local 0 1)))))
//!                                                         #(local 1 2)))))
//! ```
//!
//! | code | meaning |
//! |---|---|
//! | `#(quote x)` | constant |
//! | `#(constant n x)` | constant of a program or form, which it finds in its cell `n` when it has been made |
//! | `#(local depth index)` | variable: `depth` scopes out, element `index` of its vector; element 0 is the scope outside |
//! | `#(far #(depth index …))` | variable: each index but the last leads to another scope, from where it goes on |
//! | `#(value n)` | variable of a library of the running program, or primitive, number `n` of the keys |
//! | `#(object n)` | an object that stands in the evaluated form, by number |
//! | `#(cell n name at)` | any other global variable, by number; raises when unbound |
//! | `#(set n name x at)`, `#(define n x)` | assignment, definition |
//! | `#(if a b c)`, `#(begin x …)` | |
//! | `#(let #(x …) body)` | a scope with the values |
//! | `#(trim x #(y …) rest)` | `x`, then `rest` in a scope of its own, a vector of just the values `y` |
//! | `#(trim-if x #(y …) b c)`, `#(trim-let #(x …) #(y …) body)`, `#(trim-receive x required rest? body at #(y …))` | likewise: what comes behind `x` sees the values `y`, and its own scope |
//! | `#(fix #(lambda …) body #f)` | a scope with procedures that see it |
//! | `#(fix #(lambda …) body #(x …))` | likewise; what the procedures see is another vector: `#f`, themselves, the values |
//! | `#(lambda name #(#(required rest? body) …) at)` | procedure; each clause's body in a scope with its arguments |
//! | `#(close #(x …) procedure)` | the procedure; the scope outside of it is a vector of just these values |
//! | `#(native lambda n #(x …) member?)` | procedure of one clause: lambda `n` of a program or form, with these free variables |
//! | `#(call f #(x …) at want)`, `#(apply f #(x …) at want)`, `#(call/cc f at want)`, `#(call/1cc …)` | |
//! | `#(values x …)` | |
//! | `#(receive x required rest? body at)` | a scope with the values of `x` |
//! | `#(debug at #(name …) #(x …) call)` | a call before which a debugger may stop, and the variables there: a name in a vector is that of a box |
//! | `#(debug-enter at #(name …) #(x …) body n)` | the body of a procedure, likewise; the last `n` are its parameters |
//! | `#(record-ref r rtd i who at)`, `#(record-set! r rtd i x who at)` | errors name the accessor, a symbol |
//! | `#(record-at r rtd i k apart who at)`, `#(record-at-set! r rtd i x k apart who at)` | element `k` of an array |
//!
//! Closures are flat where that makes a difference: what a procedure keeps alive are its free variables (those of its
//! recursive group), in a vector of their own. When the scopes that it would see have no other variables, it sees
//! these. So are frames: where a call leaves an expression unfinished, and the rest does not need all that is visible,
//! the rest has a scope of its own (`trim`, [`cairn_core::liveness`]).
//!
//! Programs written by programs bind a hundred thousand variables, each in the scope of the one before. So that such a
//! variable is reached in a logarithmic number of steps, every [`APART`]th scope of a chain is a *landmark*: behind its
//! variables it has the landmark before it and one further out, at distances that grow as in Myers's stacks (Myers
//! 1983, An applicative random-access stack).
//!
//! Input: dialect `Fixed` without labels ([`cairn_core::passes::prepare`]). A scope's values never change once all are
//! there, so a continuation may enter code again. Primitives are called as procedures, whatever is known about their
//! operands.
//!
//! `at` is a place in the text, or `#f` in library code: its byte offset, plus 2³² times the number of the file plus
//! one if that is not the text being evaluated; or `#(at macro at)`, where a macro's template made it and where the
//! macro is used. `want` says what the surroundings do with the values of a call that has a place: `value` (there is
//! one), `effect` (nothing), `values` (whatever there is). `#f` is a tail call: nothing is left of the procedure when
//! it happens, so backtraces do not show it. Calls of the library are no tail calls, except where R7RS wants them to
//! be: what a reader sees fail in a procedure is shown in it.
//!
//! Code for a debugger ([`Places::debug`]) has points at which it may stop, and every scope that is visible in the
//! text: it is not safe for space, and never becomes native.

use crate::depth::{USUAL_DEPTH, max_program_depth, with_room};
use cairn_core::ir::{
    Clause, Expr, GlobalId, Import, ImportFrom, Lambda, Literal, Program, SourceFile, TopForm, VarId,
};
use cairn_core::liveness::Liveness;
use cairn_core::passes::assign;
use cairn_core::passes::keep_frames::{Ends, callee, never_return};
use cairn_core::passes::known;
use cairn_core::passes::known::GlobalFacts;
use cairn_core::passes::types::field_of;
use cairn_core::passes::wrong_counts;
use cairn_core::prim::{Op, PrimOp};
use cairn_core::tier::Lambdas;
use cairn_layout::calls::by_symbol;
use cairn_layout::code::Site;
use cairn_rt::evaluator::Data;
use cairn_syntax::{BootLibrary, Session, primitive_key};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// What the surroundings of an expression do with its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Want {
    Tail,
    Value,
    Effect,
    Values,
}

impl Want {
    /// When the caller's place is to be seen.
    fn kept(self) -> Want {
        if self == Want::Tail { Want::Values } else { self }
    }
    fn data(self) -> Data {
        Data::Symbol(
            match self {
                Want::Tail => return boolean(false),
                Want::Value => "value",
                Want::Effect => "effect",
                Want::Values => "values",
            }
            .into(),
        )
    }
}

/// What places in code refer to.
pub struct Places<'a> {
    /// The files by number.
    pub sources: &'a [SourceFile],
    /// The one that is evaluated.
    pub here: Option<u32>,
    /// Variables that stand for objects of the evaluated form, by number.
    pub objects: &'a [GlobalId],
    /// Are calls at the top level shown in backtraces? If not, they are tail calls.
    pub top_level: bool,
    /// Is the code for a debugger?
    pub debug: bool,
}

impl Places<'_> {
    /// A place as code has it.
    pub fn data(&self, file: u32, start: u32) -> Data {
        match self.sources.get(file as usize) {
            Some(source) if !source.library => {
                let file = if self.here == Some(file) { 0 } else { file as usize + 1 };
                number(file << 32 | start as usize)
            }
            _ => boolean(false),
        }
    }
}

/// What names of evaluated code stand for.
#[derive(Default)]
pub struct Names {
    /// Variables of the running program: number of their key.
    values: FxHashMap<GlobalId, usize>,
    /// Primitives as procedures under their own names, likewise.
    primitives: FxHashMap<String, usize>,
    /// Cells of other globals.
    cells: FxHashMap<GlobalId, usize>,
    /// The library that was compiled beforehand, if the program runs on it.
    library: Option<Arc<dyn BootLibrary>>,
    /// Cells with smaller numbers belong to a program.
    first_cell: usize,
}

impl Names {
    /// The names of a session whose libraries run already; `keys` as the program gave them.
    pub fn new(session: &Session, keys: &[String]) -> Names {
        let number: FxHashMap<&str, usize> = keys.iter().enumerate().map(|(i, k)| (k.as_str(), i)).collect();
        let found = |(key, g): (String, GlobalId)| Some((g, *number.get(key.as_str())?));
        let primitives = keys.iter().enumerate().filter(|(_, k)| k.starts_with('%'));
        Names {
            values: session.definitions().into_iter().filter_map(found).collect(),
            primitives: primitives.map(|(i, k)| (k.clone(), i)).collect(),
            ..Names::default()
        }
    }

    /// The names of a session on a library that was compiled beforehand.
    pub fn on_library(library: Arc<dyn BootLibrary>) -> Names {
        Names { library: Some(library), ..Names::default() }
    }

    /// The number of the value of a variable of the running program.
    pub fn value(&self, program: &Program, g: GlobalId) -> Option<usize> {
        match program.globals[g.0 as usize].import {
            Some(Import { from: ImportFrom::Library(n), .. }) => Some(n as usize),
            _ => self.values.get(&g).copied(),
        }
    }

    /// The number of a primitive as a procedure, under the name that errors give, if there is one of that name.
    fn primitive(&self, op: PrimOp, who: Option<&str>) -> Option<usize> {
        let named = |name: &str| {
            let key = primitive_key(op, name);
            match self.library.as_ref().and_then(|l| l.export(&key)) {
                Some(Import { from: ImportFrom::Library(n), .. }) => Some(n as usize),
                _ => self.primitives.get(&key).copied(),
            }
        };
        who.and_then(named).or_else(|| named(op.name()))
    }

    /// Cells get numbers from this one on.
    pub fn with_cells_from(self, first_cell: usize) -> Names {
        Names { first_cell, ..self }
    }

    /// The cell of a variable that is none of the running program's.
    pub fn cell(&mut self, g: GlobalId) -> usize {
        let next = self.first_cell + self.cells.len();
        *self.cells.entry(g).or_insert(next)
    }
}

/// The files that places refer to when file `here` is the text evaluated, which is the first:
/// `(#(path text 0) (number . #(path text 0)) …)`.
pub fn sources(sources: &[SourceFile], here: usize) -> Data {
    let text = |s: &str| Data::String(s.to_string());
    let file = |s: &SourceFile| Data::Vector(vec![text(&s.path), text(&s.text), number(0)]);
    let others = sources.iter().enumerate().filter(|(n, s)| *n != here && !s.library);
    let numbered = others.map(|(n, s)| Data::List(vec![number(n + 1)], Box::new(file(s))));
    list(std::iter::once(file(&sources[here])).chain(numbered).collect())
}

/// The forms of a program, a list.
pub fn program(program: &Program, names: &mut Names, places: &Places) -> Result<Data, String> {
    encode(program, names, places, None, Callees::default())
}

/// The forms of one input whose lambdas may become native, a list. Its variables are in the session's cells; constants
/// are in its own.
pub fn unit(program: &Program, names: &mut Names, lambdas: &Lambdas, places: &Places) -> Result<Data, String> {
    encode(program, names, places, Some((lambdas, Extent::Form)), Callees::default())
}

/// The forms of a program whose lambdas may become native, a list; `here` is the number of its file.
pub fn tiered(program: &Program, names: &mut Names, lambdas: &Lambdas, here: u32) -> Result<Data, String> {
    let places =
        Places { sources: &program.sources, here: Some(here), objects: &[], top_level: true, debug: false };
    let facts = known::analyze(program);
    let never = never_return(program, &facts);
    let never_return = (0..never.len()).map(|g| never[facts.resolve(GlobalId(g as u32)).0 as usize]).collect();
    let ends = Ends::new(program, &facts);
    encode(program, names, &places, Some((lambdas, Extent::Program)), Callees { never_return, ends, facts })
}

/// What is known of a whole program's procedures.
#[derive(Default)]
struct Callees {
    /// Which variables hold procedures that never return: their callers are shown in backtraces.
    never_return: Vec<bool>,
    ends: Ends,
    facts: GlobalFacts,
}

/// The procedure that stands at byte `at` of the file [`Places::here`], for a debugger: `#(n code)`, code of the
/// procedure in a scope of its `n` free variables, in the order that evaluated closures have them. `None` if it is not
/// there, or sees others that are made with it.
pub fn variant(program: &Program, names: &mut Names, places: &Places, at: u32) -> Result<Option<Data>, String> {
    let lambdas = Lambdas::of(&[], &program.forms);
    let Some(l) = places.here.and_then(|file| lambdas.at(file, at)) else { return Ok(None) };
    let free = lambdas.get(l).1;
    if free.is_member() {
        return Ok(None);
    }
    let free = free.free.clone();
    let mut encoder = encoder(program, names, places, None, &lambdas, Callees::default());
    let code = encoder.alone(&free, 0, |this| this.procedure(l))?;
    Ok(Some(Data::Vector(vec![number(free.len()), code])))
}

fn encode(
    program: &Program,
    names: &mut Names,
    places: &Places,
    lambdas: Option<(&Lambdas, Extent)>,
    callees: Callees,
) -> Result<Data, String> {
    let own;
    let free = match lambdas {
        Some((lambdas, _)) => lambdas,
        None => {
            own = Lambdas::of(&[], &program.forms);
            &own
        }
    };
    let mut attempt = |callees, most| {
        let mut encoder = Encoder { most, ..encoder(program, names, places, lambdas, free, callees) };
        let forms: Result<Vec<Data>, String> = program.forms.iter().map(|f| encoder.form(f)).collect();
        (forms, encoder.too_deep)
    };
    let whole = lambdas.is_some_and(|(_, extent)| extent == Extent::Program);
    let (mut forms, mut too_deep) = attempt(callees, if whole { max_program_depth() } else { USUAL_DEPTH });
    if !whole && too_deep == Some(Deep::Code) {
        (forms, too_deep) = with_room(|| attempt(Callees::default(), max_program_depth()));
    }
    if too_deep == Some(Deep::Constant) {
        return Err(format!("constants are nested more than {} deep", max_program_depth()));
    }
    Ok(list(forms?))
}

/// What is nested too deep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deep {
    Code,
    Constant,
}

fn encoder<'a>(
    program: &'a Program,
    names: &'a mut Names,
    places: &'a Places,
    lambdas: Option<(&'a Lambdas, Extent)>,
    free: &'a Lambdas<'a>,
    callees: Callees,
) -> Encoder<'a> {
    Encoder {
        callees,
        program,
        names,
        places,
        lambdas: lambdas.map(|(lambdas, _)| lambdas),
        extent: lambdas.map_or(Extent::Form, |(_, extent)| extent),
        free,
        live: if places.debug { Liveness::default() } else { Liveness::of(program) },
        boxes: if places.debug { assign::boxes(program) } else { FxHashSet::default() },
        scopes: 0,
        visible: Vec::new(),
        temporaries: 0,
        places_of: FxHashMap::default(),
        chain: Chain::default(),
        depth: 0,
        most: USUAL_DEPTH,
        too_deep: None,
    }
}

/// How much is encoded at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// A whole program, whose variables are its own.
    Program,
    /// A form of many.
    Form,
}

struct Encoder<'a> {
    program: &'a Program,
    callees: Callees,
    names: &'a mut Names,
    /// Numbers of lambdas and constants, if they may become native.
    lambdas: Option<&'a Lambdas<'a>>,
    extent: Extent,
    /// Knows the free variables of the lambdas.
    free: &'a Lambdas<'a>,
    places: &'a Places<'a>,
    /// How many scopes are around the expression.
    scopes: usize,
    /// The variables in those scopes that the expression sees.
    visible: Vec<VarId>,
    /// What the rest of an expression needs.
    live: Liveness,
    /// Which variables are boxes, if the code is for a debugger.
    boxes: FxHashSet<VarId>,
    /// How many variables have been made for operands that wait for others.
    temporaries: u32,
    /// The scope of each variable, from the outermost, and its place there.
    places_of: FxHashMap<VarId, (usize, usize)>,
    /// The scopes that are linked to where the expression is.
    chain: Chain,
    depth: usize,
    /// How deep code may be nested.
    most: usize,
    /// What is nested deeper than what can be encoded.
    too_deep: Option<Deep>,
}

type R = Result<Data, String>;

/// An operand, or the variable that its value waits in.
enum Operand<'e> {
    Code(&'e Expr),
    Waits(VarId),
}

/// What is visible outside of a scope that stands alone.
struct Outside {
    places: Vec<(VarId, Option<(usize, usize)>)>,
    visible: Vec<VarId>,
    chain: Chain,
}

/// Scopes between one landmark and the next.
const APART: usize = 32;

/// Scopes, each of which links to the one outside of it.
#[derive(Default)]
struct Chain {
    /// The outermost scope's number.
    outermost: usize,
    landmarks: Vec<Landmark>,
}

/// A scope from which others far outside are reached.
struct Landmark {
    /// Its number.
    scope: usize,
    /// The element that holds the landmark before it, if there is one; the next one holds `beyond`.
    first: usize,
    /// A landmark further out, by its place in the chain; the first one's is itself.
    beyond: usize,
}

impl Chain {
    /// Should a scope of this number be a landmark?
    fn wants(&self, scope: usize) -> bool {
        scope - self.landmarks.last().map_or(self.outermost, |l| l.scope) >= APART
    }

    /// Which landmark the next one holds, besides the last.
    fn beyond(&self) -> usize {
        let beyond = |l: usize| self.landmarks[l].beyond;
        let Some(last) = self.landmarks.len().checked_sub(1) else { return 0 };
        let (near, far) = (beyond(last), beyond(beyond(last)));
        if last - near == near - far { far } else { last }
    }

    /// The steps from scope `here` to element `i` of scope `there`.
    fn path(&self, here: usize, there: usize, i: usize) -> Vec<usize> {
        let (mut path, mut here) = (vec![], here);
        let mut at = self.landmarks.len().saturating_sub(1);
        while let Some(landmark) = self.landmarks.get(at)
            && at > 0
            && self.landmarks[at - 1].scope >= there
        {
            let jump = landmark.beyond < at - 1 && self.landmarks[landmark.beyond].scope >= there;
            path.extend([here - landmark.scope, landmark.first + jump as usize]);
            at = if jump { landmark.beyond } else { at - 1 };
            here = self.landmarks[at].scope;
        }
        path.extend([here - there, i]);
        path
    }
}

impl Encoder<'_> {
    fn form(&mut self, form: &TopForm) -> R {
        match form {
            TopForm::Define(g, e) => {
                let value = self.value(e)?;
                Ok(node("define", [number(self.cell(*g)), value]))
            }
            TopForm::Expr(e) => self.expr(e, if self.places.top_level { Want::Values } else { Want::Tail }),
        }
    }

    /// The number of a variable's cell.
    fn cell(&mut self, g: GlobalId) -> usize {
        match self.lambdas {
            Some(all) if self.extent == Extent::Program => all.cell(g),
            _ => self.names.cell(g),
        }
    }

    fn value(&mut self, e: &Expr) -> R {
        self.expr(e, Want::Value)
    }

    fn expr(&mut self, e: &Expr, want: Want) -> R {
        if self.depth == self.most {
            self.too_deep = Some(Deep::Code);
            return Err(format!("expressions are nested more than {} deep", self.most));
        }
        self.depth += 1;
        let data = stacker::maybe_grow(256 * 1024, 8 * 1024 * 1024, || self.expr_here(e, want));
        self.depth -= 1;
        match e {
            Expr::Call(_, _, site)
            | Expr::Apply(_, _, site)
            | Expr::CallCc(_, _, site)
            | Expr::Prim { site, .. }
                if self.places.debug =>
            {
                self.point("debug", *site, data?)
            }
            _ => data,
        }
    }

    /// A point where a debugger may stop before `code`, if it has a place.
    fn point(&self, head: &str, site: Site, code: Data) -> R {
        let at = self.at(site);
        if matches!(at, Data::Bool(_)) {
            return Ok(code);
        }
        // of variables of one name the innermost one is seen
        let mut seen = FxHashSet::default();
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for v in self.visible.iter().rev() {
            let Some(info) = self.program.vars.get(v.0 as usize) else { continue };
            if seen.insert(info.name.clone()) {
                let name = Data::Symbol(info.name.to_string());
                names.push(if self.boxes.contains(v) { Data::Vector(vec![name]) } else { name });
                values.push(self.local(*v)?);
            }
        }
        names.reverse();
        values.reverse();
        Ok(node(head, [at, Data::Vector(names), Data::Vector(values), code]))
    }

    fn expr_here(&mut self, e: &Expr, want: Want) -> R {
        Ok(match e {
            Expr::Const(l) => match self.lambdas.and_then(|all| all.constant(l)) {
                Some(n) => node("constant", [number(n), self.literal(l)]),
                None => node("quote", [self.literal(l)]),
            },
            Expr::Local(v) => self.local(*v)?,
            Expr::Global(g, site) => match self.names.value(self.program, *g) {
                Some(n) => node("value", [number(n)]),
                None => match self.places.objects.iter().position(|o| o == g) {
                    Some(n) => node("object", [number(n)]),
                    None => node("cell", [number(self.cell(*g)), self.name(*g), self.at(*site)]),
                },
            },
            Expr::SetGlobal(g, e, site) => {
                if self.names.value(self.program, *g).is_some() {
                    let name = &self.program.globals[g.0 as usize].name;
                    return Err(format!("`{name}` belongs to a library and cannot be assigned"));
                }
                let value = self.value(e)?;
                node("set", [number(self.cell(*g)), self.name(*g), value, self.at(*site)])
            }
            Expr::If(a, b, c) => match self.live.behind(a, e, &self.visible) {
                None => node("if", [self.value(a)?, self.expr(b, want)?, self.expr(c, want)?]),
                Some(live) => {
                    let (a, values) = (self.value(a)?, self.locals(&live)?);
                    let branches: Result<[Data; 2], String> =
                        self.alone(&live, 0, |this| Ok([this.expr(b, want)?, this.expr(c, want)?]));
                    let [b, c] = branches?;
                    node("trim-if", [a, values, b, c])
                }
            },
            Expr::Seq(es) => self.sequence(es, e, want)?,
            Expr::Let(bs, body) => {
                if let Some(code) = self.trimmed_let(bs, body, e, want)? {
                    return Ok(code);
                }
                let mut inits: Vec<Data> = bs.iter().map(|(_, e)| self.value(e)).collect::<Result<_, _>>()?;
                let vars: Vec<VarId> = bs.iter().map(|(v, _)| *v).collect();
                let landmark = self.chain.wants(self.scopes);
                if landmark {
                    let (first, beyond) = (vars.len() + 1, self.chain.beyond());
                    if let Some(last) = self.chain.landmarks.last() {
                        inits.extend([self.scope(last.scope), self.scope(self.chain.landmarks[beyond].scope)]);
                    }
                    self.chain.landmarks.push(Landmark { scope: self.scopes, first, beyond });
                }
                let body = self.within(&vars, |this| this.expr(body, want))?;
                if landmark {
                    self.chain.landmarks.pop();
                }
                node("let", [Data::Vector(inits), body])
            }
            Expr::Fix(bs, body) => self.fix(bs, body, want)?,
            Expr::Lambda(l) => self.lambda(l)?,
            Expr::Call(f, args, site) => {
                let kept = wrong_counts::fails(&self.callees.facts, f, args.len())
                    || callee(self.program, e).is_some_and(|g| {
                        self.callees.never_return.get(g.0 as usize) == Some(&true)
                            || self.callees.ends.may_keep(self.program, &self.callees.facts, e, g)
                                && (self.names.value(self.program, g).is_some() || self.is_operation(g))
                    });
                let want = if kept { want.kept() } else { want };
                self.call("call", f, args, e, *site, want)?
            }
            Expr::Apply(f, args, site) => self.call("apply", f, args, e, *site, want)?,
            Expr::CallCc(shots, f, site) => node(shots.name(), [self.value(f)?, self.at(*site), want.data()]),
            Expr::Values(es) => self.operands(es, e, |_, values| Ok(node("values", values)))?,
            Expr::Receive { producer, clause, site } => match self.live.behind(producer, e, &self.visible) {
                None => {
                    let producer = self.expr(producer, Want::Values)?;
                    let [required, rest, body] = self.clause(clause, want)?;
                    node("receive", [producer, required, rest, body, self.at(*site)])
                }
                Some(live) => {
                    let (producer, values) = (self.expr(producer, Want::Values)?, self.locals(&live)?);
                    let [required, rest, body] = self.alone(&live, 0, |this| this.clause(clause, want))?;
                    node("trim-receive", [producer, required, rest, body, self.at(*site), values])
                }
            },
            Expr::Prim { op: PrimOp::Op(op), args, site, .. } if op.is_field_access() => {
                self.record(*op, args, e, *site)?
            }
            Expr::Prim { op: PrimOp::Op(Op::RawRecord | Op::CompactRecord), args, site, .. } => {
                let make = PrimOp::Rt(by_symbol("cairn_record_make_raw"));
                return self.primitive(make, &args[..1], e, *site, want);
            }
            Expr::Prim { op, args, site, .. } => return self.primitive(*op, args, e, *site, want),
            Expr::SetLocal(..) | Expr::Letrec(..) | Expr::Labels(..) | Expr::Jump(..) => {
                unreachable!("not in the dialect")
            }
        })
    }

    /// Is it an operation of the program's own records, which nobody has defined otherwise?
    fn is_operation(&self, g: GlobalId) -> bool {
        let info = &self.program.globals[g.0 as usize];
        info.operation && !info.assigned
    }

    /// The last expressions of a sequence, which is `whole`.
    fn sequence(&mut self, es: &[Expr], whole: &Expr, want: Want) -> R {
        let mut parts = Vec::new();
        let last = es.len() - 1;
        for (i, e) in es[..last].iter().enumerate() {
            let live = self.live.behind(e, whole, &self.visible);
            parts.push(self.expr(e, Want::Effect)?);
            if let Some(live) = live {
                let values = self.locals(&live)?;
                let rest = self.alone(&live, 0, |this| this.sequence(&es[i + 1..], whole, want))?;
                let first = parts.pop().expect("just pushed");
                parts.push(node("trim", [first, values, rest]));
                return Ok(if parts.len() == 1 { parts.remove(0) } else { node("begin", parts) });
            }
        }
        let rest = self.expr(&es[last], want)?;
        if parts.is_empty() {
            return Ok(rest);
        }
        parts.push(rest);
        Ok(node("begin", parts))
    }

    /// A `let` of which an initial value is computed by calls, and something that is visible is not needed then; `None`
    /// for others. Initial values do not see variables of the same `let`, so one may be bound after another.
    fn trimmed_let(
        &mut self,
        bs: &[(VarId, Expr)],
        body: &Expr,
        whole: &Expr,
        want: Want,
    ) -> Result<Option<Data>, String> {
        let needed = |(_, init): &(VarId, Expr)| self.live.behind(init, whole, &self.visible).is_some();
        let Some(i) = bs.iter().position(needed) else { return Ok(None) };
        let live = self.live.behind(&bs[i].1, whole, &self.visible).expect("that is why");
        let (now, later) = bs.split_at(i + 1);
        let inits: Vec<Data> = now.iter().map(|(_, e)| self.value(e)).collect::<Result<_, _>>()?;
        let vars: Vec<VarId> = now.iter().map(|(v, _)| *v).collect();
        let rest = |this: &mut Self| {
            if later.is_empty() {
                return this.expr(body, want);
            }
            if let Some(code) = this.trimmed_let(later, body, whole, want)? {
                return Ok(code);
            }
            let inits: Vec<Data> = later.iter().map(|(_, e)| this.value(e)).collect::<Result<_, _>>()?;
            let vars: Vec<VarId> = later.iter().map(|(v, _)| *v).collect();
            let body = this.within(&vars, |this| this.expr(body, want))?;
            Ok(node("let", [Data::Vector(inits), body]))
        };
        self.trim_let(inits, &vars, &live, rest).map(Some)
    }

    /// These values, bound to variables, then `rest`, which sees them and those that live.
    fn trim_let(
        &mut self,
        inits: Vec<Data>,
        vars: &[VarId],
        live: &[VarId],
        rest: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let values = self.locals(live)?;
        let body = self.alone(live, 0, |this| this.within(vars, rest))?;
        Ok(node("trim-let", [Data::Vector(inits), values, body]))
    }

    /// Operands of `whole`; `finish` makes its code of their codes. Those that are there when a call comes which not
    /// all that is visible outlives wait in variables.
    fn operands<'e>(
        &mut self,
        operands: impl IntoIterator<Item = &'e Expr>,
        whole: &Expr,
        finish: impl FnOnce(&mut Self, Vec<Data>) -> R,
    ) -> R {
        let mut operands: Vec<Operand> = operands.into_iter().map(Operand::Code).collect();
        let (mut wrappers, mut first) = (Vec::new(), 0);
        let mut outer = Vec::new();
        while let Some((i, mut live)) = self.trimmed_operand(&operands, first, whole) {
            let (mut inits, mut vars) = (Vec::new(), Vec::new());
            for o in &mut operands[..=i] {
                match o {
                    Operand::Code(Expr::Const(_)) => {}
                    Operand::Code(Expr::Local(v)) => live.push(*v),
                    Operand::Waits(v) => live.push(*v),
                    Operand::Code(e) => {
                        inits.push(self.value(e)?);
                        self.temporaries += 1;
                        let v = VarId(u32::MAX - self.temporaries);
                        vars.push(v);
                        *o = Operand::Waits(v);
                    }
                }
            }
            live.sort();
            live.dedup();
            let values = self.locals(&live)?;
            outer.push(self.enter_alone(&live, 0));
            self.enter(&vars);
            wrappers.push((inits, values, vars.len()));
            first = i + 1;
        }
        let codes: Result<Vec<Data>, String> = operands
            .iter()
            .map(|o| match o {
                Operand::Code(e) => self.value(e),
                Operand::Waits(v) => self.local(*v),
            })
            .collect();
        let mut code = codes.and_then(|codes| finish(self, codes));
        while let Some((inits, values, vars)) = wrappers.pop() {
            self.leave(vars);
            self.leave_alone(outer.pop().expect("one for each"));
            code = code.map(|body| node("trim-let", [Data::Vector(inits), values, body]));
        }
        code
    }

    /// The first operand from `first` on, but for the last one, that something visible does not outlive; and what does.
    fn trimmed_operand(&self, operands: &[Operand], first: usize, whole: &Expr) -> Option<(usize, Vec<VarId>)> {
        let mut all = operands.iter().enumerate().take(operands.len().saturating_sub(1)).skip(first);
        all.find_map(|(i, o)| match o {
            Operand::Code(e) => Some((i, self.live.behind(e, whole, &self.visible)?)),
            Operand::Waits(_) => None,
        })
    }

    fn primitive(&mut self, op: PrimOp, args: &[Expr], whole: &Expr, site: Site, want: Want) -> R {
        let Some(n) = self.names.primitive(op, self.who(site)) else {
            return Err(format!("the primitive `%{}` cannot be evaluated", op.name()));
        };
        let f = node("value", [number(n)]);
        let want = if want == Want::Tail { Want::Value } else { want };
        self.operands(args, whole, |this, args| {
            Ok(node("call", [f, Data::Vector(args), this.at(site), want.data()]))
        })
    }

    fn literal(&mut self, l: &Literal) -> Data {
        if self.depth == max_program_depth() {
            self.too_deep = Some(Deep::Constant);
            return Data::Nil;
        }
        self.depth += 1;
        let data = stacker::maybe_grow(256 * 1024, 8 * 1024 * 1024, || self.literal_here(l));
        self.depth -= 1;
        data
    }

    fn literal_here(&mut self, l: &Literal) -> Data {
        match l {
            Literal::Number(n) => Data::Number(n.clone()),
            Literal::Char(c) => Data::Char(*c),
            Literal::Bool(b) => Data::Bool(*b),
            Literal::Nil => Data::Nil,
            Literal::Unspecified => Data::Unspecified,
            Literal::Eof => Data::Eof,
            Literal::Default => Data::Default,
            Literal::Unbound => Data::Unbound,
            Literal::Symbol(s) => Data::Symbol(s.to_string()),
            Literal::String(s) => self.shared(s, |_| Data::String(s.to_string())),
            Literal::Bytes(b) => self.shared(b, |_| Data::Bytes(b.to_vec())),
            Literal::Numbers(kind, b) => self.shared(b, |_| Data::Numbers(*kind, b.to_vec())),
            Literal::Vector(items) => {
                self.shared(items, |this| Data::Vector(items.iter().map(|x| this.literal(x)).collect()))
            }
            Literal::Pair(first) => self.shared(first, |this| {
                let (mut items, mut rest) = (vec![this.literal(&first.0)], &first.1);
                while let Literal::Pair(p) = rest
                    && this.free.shared(Rc::as_ptr(p).cast()).is_none()
                {
                    items.push(this.literal(&p.0));
                    rest = &p.1;
                }
                Data::List(items, Box::new(this.literal(rest)))
            }),
        }
    }

    /// What occurs more than once in constants is one object.
    fn shared<T: ?Sized>(&mut self, part: &Rc<T>, make: impl FnOnce(&mut Self) -> Data) -> Data {
        let again = self.free.shared(Rc::as_ptr(part).cast());
        let data = make(self);
        match again {
            Some(n) => Data::Shared(n, Box::new(data)),
            None => data,
        }
    }

    fn call(&mut self, head: &str, f: &Expr, args: &[Expr], whole: &Expr, site: Site, want: Want) -> R {
        self.operands(std::iter::once(f).chain(args), whole, |this, mut parts| {
            let f = parts.remove(0);
            Ok(node(head, [f, Data::Vector(parts), this.at(site), want.data()]))
        })
    }

    /// An access to a record's field: record, type, field, what is put there, and index and distance of an array's
    /// element. The type is read first, when that has no effect.
    fn record(&mut self, op: Op, args: &[Expr], whole: &Expr, site: Site) -> R {
        let stores = matches!(op, Op::RecordSet | Op::RecordFlSet | Op::RecordAtSet | Op::RecordFlAtSet);
        let head = match (op.index(), stores) {
            (None, false) => "record-ref",
            (None, true) => "record-set!",
            (_, false) => "record-at",
            (_, true) => "record-at-set!",
        };
        let stored = args.get(3).filter(|_| stores);
        let who = self.who(site).map_or(boolean(false), |name| Data::Symbol(name.to_string()));
        self.operands(std::iter::once(&args[0]).chain(stored), whole, |this, mut parts| {
            let [rtd, field] = [this.value(&args[1])?, this.value(&args[2])?];
            parts.insert(1, rtd);
            parts.insert(2, field);
            if let Some(k) = op.index() {
                // the index is in a variable; how far elements are apart
                let first = field_of(&args[2]);
                parts.extend([this.value(&args[k])?, number((first.element(1).at - first.at) as usize)]);
            }
            Ok(node(head, parts.into_iter().chain([who, this.at(site)])))
        })
    }

    /// The name that errors at a place give, if it is not that of the operation.
    fn who(&self, site: Site) -> Option<&str> {
        Some(self.program.procedures.get(site.who()?)?)
    }

    /// A place, as the module's header describes it.
    fn at(&self, site: Site) -> Data {
        let place = |site: Site| site.file().map_or(boolean(false), |file| self.places.data(file, site.start()));
        let chain = self.program.inlined.chain(site);
        chain.into_iter().rev().fold(boolean(false), |at, (site, mac)| match mac {
            Some(name) => Data::Vector(vec![place(site), Data::Symbol(name.to_string()), at]),
            None => place(site),
        })
    }

    fn local(&self, v: VarId) -> R {
        let (scope, i) = self.places_of[&v]; // Core is well scoped
        Ok(self.element(scope, i))
    }

    /// Element `i` of a scope.
    fn element(&self, scope: usize, i: usize) -> Data {
        match self.chain.path(self.scopes - 1, scope, i)[..] {
            [depth, i] => node("local", [number(depth), number(i)]),
            ref path => node("far", [Data::Vector(path.iter().map(|n| number(*n)).collect())]),
        }
    }

    /// A scope that is not the innermost one.
    fn scope(&self, scope: usize) -> Data {
        self.element(scope + 1, 0)
    }

    fn name(&self, g: GlobalId) -> Data {
        Data::Symbol(self.program.globals[g.0 as usize].name.to_string())
    }

    /// Encodes something in a scope of these variables.
    fn within<T>(&mut self, vars: &[VarId], encode: impl FnOnce(&mut Self) -> T) -> T {
        self.enter(vars);
        let result = encode(self);
        self.leave(vars.len());
        result
    }

    fn enter(&mut self, vars: &[VarId]) {
        self.places_of.extend(vars.iter().enumerate().map(|(i, v)| (*v, (self.scopes, i + 1))));
        self.scopes += 1;
        self.visible.extend(vars);
    }

    fn leave(&mut self, vars: usize) {
        self.scopes -= 1;
        self.visible.truncate(self.visible.len() - vars);
    }

    /// Encodes something that sees a vector of these variables, from element `first` on, and no scope outside.
    fn alone<T>(&mut self, vars: &[VarId], first: usize, encode: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.enter_alone(vars, first);
        let result = encode(self);
        self.leave_alone(outside);
        result
    }

    fn enter_alone(&mut self, vars: &[VarId], first: usize) -> Outside {
        let here = vars.iter().enumerate().map(|(i, v)| (*v, (self.scopes, first + i)));
        let places = here.map(|(v, place)| (v, self.places_of.insert(v, place))).collect();
        let visible = std::mem::replace(&mut self.visible, vars.to_vec());
        let chain = std::mem::replace(&mut self.chain, Chain { outermost: self.scopes, landmarks: vec![] });
        self.scopes += 1;
        Outside { places, visible, chain }
    }

    fn leave_alone(&mut self, outside: Outside) {
        self.scopes -= 1;
        self.visible = outside.visible;
        self.chain = outside.chain;
        for (v, place) in outside.places {
            if let Some(place) = place {
                self.places_of.insert(v, place);
            }
        }
    }

    fn locals(&self, vars: &[VarId]) -> R {
        Ok(Data::Vector(vars.iter().map(|v| self.local(*v)).collect::<Result<_, _>>()?))
    }

    fn fix(&mut self, bs: &[(VarId, Lambda)], body: &Expr, want: Want) -> R {
        let members: Vec<VarId> = bs.iter().map(|(v, _)| *v).collect();
        let free = &self.free.get(&bs[0].1).1.free;
        let own: FxHashSet<VarId> = members.iter().copied().collect();
        let outer: Vec<VarId> = free.iter().copied().filter(|v| !own.contains(v)).collect();
        let lambdas = |this: &mut Self| -> R {
            Ok(Data::Vector(bs.iter().map(|(_, l)| this.procedure(l)).collect::<Result<_, _>>()?))
        };
        if self.places.debug || outer.len() == self.visible.len() {
            return self.within(&members, |this| {
                Ok(node("fix", [lambdas(this)?, this.expr(body, want)?, boolean(false)]))
            });
        }
        let values = self.locals(&outer)?;
        let lambdas = self.alone(&[members.clone(), outer].concat(), 1, lambdas)?;
        let body = self.within(&members, |this| this.expr(body, want))?;
        Ok(node("fix", [lambdas, body, values]))
    }

    fn lambda(&mut self, l: &Lambda) -> R {
        let free = &self.free.get(l).1.free;
        if self.places.debug || free.len() == self.visible.len() {
            return self.procedure(l);
        }
        let values = self.locals(free)?;
        let procedure = self.alone(free, 0, |this| this.procedure(l))?;
        Ok(node("close", [values, procedure]))
    }

    /// A procedure that sees the scopes that are here.
    fn procedure(&mut self, l: &Lambda) -> R {
        let clauses: Vec<Data> = l
            .clauses
            .iter()
            .map(|c| Ok(Data::Vector(self.procedure_clause(c, l.site)?.into())))
            .collect::<Result<_, String>>()?;
        let code = node("lambda", [Data::Symbol(l.name.to_string()), Data::Vector(clauses), self.at(l.site)]);
        let Some((n, info)) = self.lambdas.map(|all| all.get(l)).filter(|_| l.clauses.len() == 1) else {
            return Ok(code);
        };
        let free = self.locals(&info.free)?;
        Ok(node("native", [code, number(n), free, boolean(info.is_member())]))
    }

    fn procedure_clause(&mut self, c: &Clause, site: Site) -> Result<[Data; 3], String> {
        if !self.places.debug {
            return self.clause(c, Want::Tail);
        }
        let vars: Vec<VarId> = c.params.iter().chain(&c.rest).copied().collect();
        let body = self.within(&vars, |this| -> R {
            let body = this.expr(&c.body, Want::Tail)?;
            let mut code = this.point("debug-enter", site, body)?;
            if let Data::Vector(parts) = &mut code
                && matches!(&parts[0], Data::Symbol(head) if head == "debug-enter")
            {
                parts.push(number(vars.len()));
            }
            Ok(code)
        })?;
        Ok([number(c.params.len()), boolean(c.rest.is_some()), body])
    }

    fn clause(&mut self, c: &Clause, want: Want) -> Result<[Data; 3], String> {
        let vars: Vec<VarId> = c.params.iter().chain(&c.rest).copied().collect();
        let body = self.within(&vars, |this| this.expr(&c.body, want))?;
        Ok([number(c.params.len()), boolean(c.rest.is_some()), body])
    }
}

fn node(head: &str, parts: impl IntoIterator<Item = Data>) -> Data {
    Data::Vector(std::iter::once(Data::Symbol(head.into())).chain(parts).collect())
}

/// A small number.
pub fn number(n: usize) -> Data {
    Data::Number(cairn_num::Number::Int(cairn_num::Int::Fix(n as i64)))
}

fn boolean(b: bool) -> Data {
    Data::Bool(b)
}

fn list(items: Vec<Data>) -> Data {
    Data::List(items, Box::new(Data::Nil))
}
