//! The report of an uncaught error.
//!
//! ```text
//! error: car: expected a pair, got 5
//!  --> sum.scm:3:8
//!   |
//! 3 |     (+ (car l) (sum (cdr l)))
//!   |        ^^^^^^^
//! backtrace:
//!    0: sum   sum.scm:3:20
//!    1: main  sum.scm:6:1
//! ```
//!
//! Positions come from sites (file and byte offset) and the module's source table; the backtrace from the
//! descriptors before return addresses. Frames of library code are left out, runs of the same frame are counted
//! once; without any there is the program itself. Colours only when standard error is a terminal.

use crate::access::{self, string_of};
use crate::alloc;
use crate::evaluated_marks as evaluated;
use crate::fatal;
use crate::machine::frame_reader::described_name;
use crate::machine::frames;
use crate::machine::modules::Modules;
use crate::passage::{Passage, position};
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::code::{self, Site};
use cairn_layout::lexeme;
use cairn_layout::machine::{Machine, error};
use cairn_layout::module::{Bytes, Source};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// Frames shown at most.
const FRAMES_MAX: usize = 20;
/// Characters of a message shown at most.
const MESSAGE_MAX: usize = 1000;
/// Columns of a source line shown at most.
const COLUMNS_MAX: usize = 110;

/// Escape sequences, or none.
#[derive(Clone, Copy)]
pub struct Style {
    error: &'static str,
    bold: &'static str,
    gutter: &'static str,
    reset: &'static str,
}

impl Style {
    /// No colours.
    pub const PLAIN: Style = Style { error: "", bold: "", gutter: "", reset: "" };
    /// For terminals.
    pub const COLOR: Style =
        Style { error: "\x1b[1;31m", bold: "\x1b[1m", gutter: "\x1b[1;34m", reset: "\x1b[0m" };

    /// What standard error can show.
    pub fn of_stderr() -> Style {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        if wanted && std::io::stderr().is_terminal() { Style::COLOR } else { Style::PLAIN }
    }
}

/// Length in characters of the datum that starts at `offset`, as far as this line goes; at least 1.
fn datum_width(text: &str, offset: usize) -> usize {
    let Some(rest) = text.get(offset..) else { return 1 };
    let line = rest.lines().next().unwrap_or("");
    let datum = &rest[..lexeme::datum_end(text, offset) - offset];
    let shown = if datum.len() < line.len() { datum } else { line.trim_end() };
    shown.chars().count().max(1)
}

/// The ` --> file:line:column` line, the source line and its caret.
pub fn excerpt(passage: &Passage, style: Style) -> String {
    let Style { gutter, error, reset, .. } = style;
    let Passage { path, text, start: offset, .. } = passage;
    let (p, shown_line) = (position(text, *offset), passage.position().line);
    let digits = shown_line.to_string().len();
    let mut out = String::new();
    let _ = writeln!(out, "{gutter}{:digits$}-->{reset} {path}:{shown_line}:{}", "", p.column);
    let Some(line) = text.lines().nth(p.line - 1) else { return out };
    let start = text.lines().take(p.line - 1).map(|l| l.len() + 1).sum::<usize>();
    let width = datum_width(text, (*offset).max(start));
    // A window of the line around the column.
    let chars: Vec<char> = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    let column = (p.column - 1).min(chars.len());
    let from = if chars.len() <= COLUMNS_MAX { 0 } else { column.saturating_sub(COLUMNS_MAX / 2) };
    let to = chars.len().min(from + COLUMNS_MAX);
    let cut = |i: usize| if i == from && from > 0 || i + 1 == to && to < chars.len() { '…' } else { chars[i] };
    let shown: String = (from..to).map(cut).collect();
    let shown = shown.trim_end();
    let width = width.min((to - column).max(1));
    let _ = writeln!(out, "{gutter}{:digits$} |{reset}", "");
    let _ = writeln!(out, "{gutter}{shown_line:>digits$} |{reset} {shown}");
    let _ = writeln!(
        out,
        "{gutter}{:digits$} |{reset} {:pad$}{error}{:^<width$}{reset}",
        "",
        "",
        "",
        pad = column - from
    );
    out
}

/// The text in `b`.
///
/// # Safety
/// `b` describes `len` bytes at `data`, which stay valid as long as the result is used.
pub(crate) unsafe fn text_of<'a>(b: &Bytes) -> Cow<'a, str> {
    if b.len == 0 {
        return "".into();
    }
    // SAFETY: `len` bytes are at `data`, and stay valid (`# Safety`).
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(b.data, b.len as usize) })
}

/// The source table's entry for a site.
pub(crate) fn source(modules: &Modules, site: Site) -> Option<&Source> {
    let (module, file) = (modules.of_site(site)?, site.file()? as u64);
    // SAFETY: `file` is below the count of the sources of a loaded module, whose tables live as long as its runtime.
    (file < module.source_count).then(|| unsafe { &*module.sources.add(file as usize) })
}

/// Where something is: in a text that was compiled, or in one that was evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    Site(Site),
    /// A mark.
    Evaluated(Value),
    /// The mark of a tail call, whose procedure has no frame any more: a pair of the mark and `#t`.
    EvaluatedTail(Value),
    /// The call of the youngest frame of user code, which was written as a tail call of a body that has been inlined: a
    /// pair of the row and `#t`.
    InlinedTail(Site),
}

impl At {
    /// A condition's field `site`.
    fn of(v: Value) -> At {
        if v.is_fixnum() {
            At::Site(Site(v.as_fixnum() as u64))
        } else if evaluated::is_mark(v) {
            At::Evaluated(v)
        } else if v.is_pair() {
            match At::of(access::car(v)) {
                At::Site(site) => At::InlinedTail(site),
                At::Evaluated(mark) => At::EvaluatedTail(mark),
                at => at,
            }
        } else {
            At::Site(Site::NONE)
        }
    }

    /// The site or the mark.
    fn value(self) -> Value {
        match self {
            At::Site(site) | At::InlinedTail(site) => Value::fixnum(site.0 as i64),
            At::Evaluated(mark) | At::EvaluatedTail(mark) => mark,
        }
    }

    /// What [`At::of`] makes this of.
    pub(crate) fn condition_site(self, ctx: &mut Machine) -> Value {
        match self {
            At::Site(_) | At::Evaluated(_) => self.value(),
            At::EvaluatedTail(_) | At::InlinedTail(_) => crate::alloc::alloc_pair(ctx, self.value(), Value::TRUE),
        }
    }

    /// Its passage, unless it is in the library or unknown.
    pub(crate) fn text<'a>(self, modules: &Modules) -> Option<Passage<'a>> {
        match self {
            At::InlinedTail(site) => At::Site(resolve(modules, site).site).text(modules),
            At::Site(site) => {
                let source = source(modules, site)?;
                // SAFETY: `source` is one of a loaded module, whose texts live as long as its runtime.
                let (path, text) = unsafe { (text_of(&source.path), text_of(&source.text)) };
                let (lines_before, start) = (source.lines_before as isize, site.start() as usize);
                (!text.is_empty()).then_some(Passage { path, text, lines_before, start })
            }
            At::Evaluated(mark) | At::EvaluatedTail(mark) => evaluated::place(mark),
        }
    }

    /// Does a call of `name` stand here? Takes the same time in a text of any length, but for a glance at each
    /// character before the place in an evaluated one.
    pub(crate) fn is_call_of(self, modules: &Modules, name: &str) -> bool {
        // white space may stand before the name
        let length = name.len() + 256;
        let text = match self {
            At::InlinedTail(site) => return At::Site(resolve(modules, site).site).is_call_of(modules, name),
            At::Site(site) => source(modules, site).and_then(|source| {
                let Bytes { data, len } = source.text;
                let start = site.start() as u64;
                let length = len.checked_sub(start)?.min(length as u64);
                // SAFETY: a loaded module's texts live as long as its runtime; `start` is at most `len`, and `length`
                // at most what is behind it.
                Some(unsafe { text_of(&Bytes { data: data.add(start as usize), len: length }) })
            }),
            At::Evaluated(mark) | At::EvaluatedTail(mark) => evaluated::text_at(mark, length).map(Cow::Owned),
        };
        text.is_some_and(|text| is_call_of(&text, name))
    }
}

/// What a site stands for.
pub(crate) struct Place<'a> {
    pub(crate) site: Site,
    /// The procedure, when the site tells.
    procedure: Option<&'a str>,
    /// The call that the code around it was inlined at.
    at: Site,
}

/// Looks a site up in its module's table of inlined positions.
pub(crate) fn resolve(modules: &Modules, site: Site) -> Place<'_> {
    let plain = Place { site: site.plain(), procedure: None, at: Site::NONE };
    let (Some(row), Some(module)) = (site.row(), modules.of_site(site)) else { return plain };
    if u64::from(row) >= module.inlined_count {
        return plain;
    }
    // SAFETY: `row` is below the count of a loaded module's rows, which live as long as its runtime; the names in them
    // are C strings.
    unsafe {
        let row = &*module.inlined.add(row as usize);
        let name = std::ffi::CStr::from_ptr(row.procedure as *const std::ffi::c_char);
        let here = |s: u64| Site(s).in_module(site.module());
        Place { site: here(row.site), procedure: name.to_str().ok(), at: here(row.at) }
    }
}

/// The frames that a call at `site` in code of `procedure` would have without inlining, youngest first. Positions in
/// library code are left out when `procedure` is in the library or the code is inlined; so are calls without a
/// position, which the expander has made.
fn frames_at(modules: &Modules, site: Site, procedure: &str, library: bool) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut site = site;
    loop {
        let place = resolve(modules, site);
        let inlined = place.procedure.is_some();
        let hidden = library || inlined;
        if site.is_tail() {
            // the frame of a tail call would be gone
        } else if !hidden && place.site.is_known() || source(modules, place.site).is_some_and(|s| s.text.len > 0) {
            let name = place.procedure.unwrap_or(procedure).to_string();
            frames.push(Frame { name, at: At::Site(place.site) });
        }
        if place.at == Site::NONE {
            return frames;
        }
        site = place.at;
    }
}

/// `file:line:column` of what is in user code.
fn place(modules: &Modules, at: At) -> Option<String> {
    let passage = at.text(modules)?;
    let p = passage.position();
    Some(format!("{}:{}:{}", passage.path, p.line, p.column))
}

/// A frame of the backtrace.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Frame {
    name: String,
    at: At,
}

impl Frame {
    /// Are both frames of one procedure at one place, the one evaluated, the other native?
    fn is_like(&self, other: &Frame, modules: &Modules) -> bool {
        let kinds_differ = matches!(self.at, At::Site(_)) != matches!(other.at, At::Site(_));
        kinds_differ && self.name == other.name && {
            let (a, b) = (place(modules, self.at), place(modules, other.at));
            a.is_some() && a == b
        }
    }
}

/// Frames of a backtrace, youngest first, with how often each is repeated.
struct Rows {
    rows: Vec<(Frame, usize)>,
    /// Are there older ones, which nobody has looked at?
    cut: bool,
}

/// What looking at frames may cost, where one that is like the one before costs 1: half a second. A recursion
/// may have left a hundred million.
const LOOKS: usize = 8_000_000;
/// What it costs to find out what a frame is of.
const LOOK: usize = 16;
/// How many return addresses without a row are kept in mind.
const SILENT: usize = 8;
/// More rows are of no use to anybody.
const ROWS_MAX: usize = 100_000;

/// The frames of user code when an error at `site` occurs; where that is `the_call_of` the youngest frame, this is
/// shown once.
fn frames(ctx: &Machine, site: Site, mut the_call_of: bool) -> Rows {
    let modules = &rt(ctx).modules;
    let mut frames: Vec<(Frame, usize)> = Vec::new();
    // the failing check's procedure, and those it was inlined into
    if site.row().is_some() {
        frames_at(modules, site, "?", true).into_iter().for_each(|f| push(&mut frames, f));
    }
    let (mut looks, mut cut) = (LOOKS, false);
    // a return address that stands for one row, which is the last
    let mut last = None;
    // the last return addresses that stood for no row: a recursion of the library has few, and many frames
    let (mut silent, mut next) = ([0; SILENT], 0);
    frames::walk(ctx, &mut |code: u64, frame: u64| {
        cut = looks < LOOK || frames.len() >= ROWS_MAX;
        if cut {
            return false;
        }
        if let (true, Some((_, n))) = (last == Some(code), frames.last_mut()) {
            *n += 1;
            looks -= 1;
            return true;
        }
        if silent.contains(&code) && mark_of_frame(ctx, code, frame).is_none() {
            looks -= 2;
            return true;
        }
        if the_call_of && modules.locate(code, return_point(ctx, code).1).plain() == site {
            the_call_of = false;
            return true;
        }
        let found = frames_of(ctx, code, frame);
        if found.is_empty() {
            silent[next % SILENT] = code;
            next += 1;
        }
        last = matches!(found[..], [Frame { at: At::Site(_), .. }]).then_some(code);
        found.into_iter().for_each(|f| push(&mut frames, f));
        looks -= LOOK;
        true
    });
    Rows { rows: join(modules, frames), cut }
}

/// Counts frames of evaluated and of native code together where both are at one place.
fn join(modules: &Modules, frames: Vec<(Frame, usize)>) -> Vec<(Frame, usize)> {
    let mut joined: Vec<(Frame, usize)> = Vec::new();
    for (frame, n) in frames {
        match joined.last_mut() {
            Some((last, m)) if last.is_like(&frame, modules) => *m += n,
            _ => joined.push((frame, n)),
        }
    }
    joined
}

/// Line and procedure of a frame, if it is in the user's code.
fn line_of(modules: &Modules, frame: &Frame) -> Option<(String, String)> {
    let passage = frame.at.text(modules)?;
    Some((format!("{}:{}", passage.path, passage.position().line), frame.name.clone()))
}

/// Where the form is that made a procedure, if it is the user's.
pub fn procedure_place(ctx: &Machine, procedure: Value) -> Option<Passage<'static>> {
    if let Some(mark) = evaluated::mark_of_closure(procedure) {
        return evaluated::place(mark);
    }
    // SAFETY: callers pass a procedure, whose first word is a code address; the words of an entry's prefix can be read
    // before any.
    let (entry, shape, site) = unsafe {
        let entry = *(procedure.address() as *const u64);
        let at = |offset: i64| *((entry as i64 + offset) as *const u64);
        (entry, at(code::SHAPE), Site(at(code::ENTRY_SITE)))
    };
    if shape & (code::flags::LIBRARY | code::flags::CONTINUATION | code::flags::RETURN) != 0 {
        return None;
    }
    let modules = &rt(ctx).modules;
    At::Site(resolve(modules, modules.locate(entry, site)).site).text(modules)
}

/// Line and procedure of a position; in the library, those of the call in the user's code that it was inlined at.
pub fn user_place(ctx: &Machine, site: Site) -> Option<(String, String)> {
    let modules = &rt(ctx).modules;
    frames_at(modules, site, "?", true).iter().find_map(|f| line_of(modules, f))
}

/// The places in the user's code of a position, the youngest first: more than one where code was inlined.
pub fn user_spots(ctx: &Machine, site: Site) -> Vec<Spot> {
    let modules = &rt(ctx).modules;
    let frames = frames_at(modules, site, "?", true);
    frames.iter().filter(|f| line_of(modules, f).is_some()).map(|f| Spot::of(modules, f)).collect()
}

/// Line and procedure of the youngest call under way in the user's code.
pub fn youngest_user_place(ctx: &Machine) -> Option<(String, String)> {
    let modules = &rt(ctx).modules;
    let mut found = None;
    walk_frames(ctx, &mut |frame| {
        found = line_of(modules, &frame);
        found.is_none()
    });
    found
}

/// Shows `f` the frames of user code, youngest first, until it says no.
fn walk_frames(ctx: &Machine, f: &mut dyn FnMut(Frame) -> bool) {
    frames::walk(ctx, &mut |code: u64, frame: u64| frames_of(ctx, code, frame).into_iter().all(&mut *f));
}

/// The frames of user code that a frame with this return address stands for, youngest first.
fn frames_of(ctx: &Machine, code: u64, frame: u64) -> Vec<Frame> {
    match calls_at(ctx, code) {
        Some(calls) => calls,
        None => (marks_of(ctx, frame).into_iter())
            .map(|m| Frame { name: evaluated::name(m), at: At::Evaluated(m) })
            .collect(),
    }
}

/// The compiled calls that a return address stands for, youngest first; `None`: it is that of evaluated calls, each of
/// which has its own marks.
fn calls_at(ctx: &Machine, code: u64) -> Option<Vec<Frame>> {
    let modules = &rt(ctx).modules;
    let (shape, site, name) = return_point(ctx, code);
    if shape & (code::flags::UNDERFLOW | code::flags::HALT) != 0 {
        return Some(Vec::new());
    }
    let library = shape & code::flags::LIBRARY != 0;
    if library && name.as_deref() == Some(evaluated::CALL) {
        return None;
    }
    Some(frames_at(modules, modules.locate(code, site), name.as_deref().unwrap_or("?"), library))
}

/// Shape, site and name of a return address.
pub(crate) fn return_point(ctx: &Machine, code: u64) -> (u64, Site, Option<String>) {
    let behind = frames::behind_descriptor(ctx, code) as i64;
    // SAFETY: `code` is a return address of a frame, so `behind` is the end of a return point's descriptor.
    unsafe {
        let at = |offset: i64| *((behind + offset) as *const u64);
        (at(code::SHAPE), Site(at(code::RETURN_SITE)), described_name(behind as u64, code::RETURN_NAME))
    }
}

/// Adds an older frame.
fn push(frames: &mut Vec<(Frame, usize)>, frame: Frame) {
    match frames.last_mut() {
        Some((last, n)) if *last == frame => *n += 1,
        _ => frames.push((frame, 1)),
    }
}

/// Does the text begin with a call of `name`?
fn is_call_of(text: &str, name: &str) -> bool {
    lexeme::head(text, 0).is_some_and(|l| l.text(text) == name && l.end < text.len())
}

/// A place in the program, for profiles: a procedure and, if known, file and line.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// The procedure's name.
    pub name: String,
    /// As the user gave it; empty: unknown.
    pub path: String,
    /// From 1; 0: unknown.
    pub line: usize,
}

impl Spot {
    /// Something without a place.
    pub fn named(name: &str) -> Spot {
        Spot { name: name.into(), path: String::new(), line: 0 }
    }

    fn of(modules: &Modules, frame: &Frame) -> Spot {
        let (path, line) = match frame.at.text(modules) {
            Some(passage) => {
                let line = passage.position().line;
                (passage.path.into_owned(), line)
            }
            None => (String::new(), 0),
        };
        Spot { name: frame.name.clone(), path, line }
    }
}

/// What the frames with a return address are of.
pub enum Kind {
    /// Evaluated calls: each has its own marks.
    Evaluated,
    /// Calls in compiled code, the youngest first; none if they are the library's.
    Compiled(Vec<Spot>),
}

/// What the frames with this return address are of.
pub fn kind_of(ctx: &Machine, code: u64) -> Kind {
    let modules = &rt(ctx).modules;
    match calls_at(ctx, code) {
        Some(calls) => Kind::Compiled(calls.iter().map(|f| Spot::of(modules, f)).collect()),
        None => Kind::Evaluated,
    }
}

/// The marks of the frame of an evaluated call: its own, and those of the uses of macros that it comes from.
pub fn marks_of(ctx: &Machine, frame: u64) -> Vec<Value> {
    let mark = frames::live_values(ctx, frame).into_iter().find(|v| evaluated::is_mark(*v));
    std::iter::successors(mark, |m| evaluated::use_of(*m)).collect()
}

/// What tells marks apart: name, the place in the text, and the text's lines before it.
pub fn mark_key(mark: Value) -> (String, u64, u64) {
    let (start, path) = evaluated::key(mark);
    (format!("{}\0{path}", evaluated::name(mark)), start.0, start.1)
}

/// The place that a mark stands for.
pub fn spot_of_mark(mark: Value) -> Spot {
    let name = evaluated::name(mark);
    match evaluated::place(mark) {
        Some(passage) => {
            let line = passage.position().line;
            Spot { name, path: passage.path.into_owned(), line }
        }
        None => Spot::named(&name),
    }
}

/// The mark of the evaluated procedure that runs, if these live values show it.
pub fn evaluated_at(values: &[Value]) -> Option<Value> {
    values.iter().find_map(|v| match *v {
        v if evaluated::is_mark(v) => Some(v),
        v if v.is_procedure() => evaluated::mark_of_closure(v),
        v => evaluated::mark_of_state(v),
    })
}

/// A function of compiled code, as profiles see it.
pub struct Running {
    /// Its code address.
    pub code: u64,
    /// It is the evaluator's.
    pub evaluator: bool,
    /// Its frames, the youngest first.
    pub spots: Vec<Spot>,
}

/// The function around an instruction of compiled code; `again` says which one, if that is the code that enters a
/// function again.
pub fn function_at(ctx: &Machine, pc: u64, again: impl Fn() -> Option<u64>) -> Option<Running> {
    let modules = &rt(ctx).modules;
    let word = |at: u64| {
        // SAFETY: `code_around` found `pc` in the code of a loaded module, and `code` stays `2 * RETURN_PREFIX` behind
        // its start.
        unsafe { *(at as *const u64) }
    };
    let mut pc = pc;
    for _ in 0..2 {
        let start = modules.code_around(pc)?.start.next_multiple_of(FUNCTION_ALIGN);
        let mut code = pc & !(FUNCTION_ALIGN - 1);
        let found = loop {
            if code < start + 2 * code::RETURN_PREFIX {
                return None;
            }
            let shape = word(code - 8);
            if let Some(found) = head_at(code, shape, word) {
                break found;
            }
            code -= FUNCTION_ALIGN;
        };
        let (name, site, returns, library) = found;
        if name == 0 {
            pc = again()?;
            continue;
        }
        let name = readable_text(name)?;
        let site = modules.locate(code, site);
        let path = source(modules, resolve(modules, site).site).map_or(String::new(), |s| {
            // SAFETY: `s` is a source of a loaded module, whose texts live as long as its runtime.
            unsafe { text_of(&s.path) }.into_owned()
        });
        let evaluator = library && (path.contains("evaluator") || name.starts_with("evaluated"));
        let mut frames = Vec::new();
        if returns && !site.is_tail() {
            frames = frames_at(modules, site, &name, library);
        } else if !library {
            frames.push(Frame { name: name.clone(), at: At::Site(site) });
        }
        let mut spots: Vec<Spot> = frames.iter().map(|f| Spot::of(modules, f)).collect();
        if library && !path.is_empty() && !evaluator && !name.starts_with('%') {
            spots.insert(0, Spot::named(&name));
        }
        return Some(Running { code, evaluator, spots });
    }
    None
}

/// Where functions begin.
const FUNCTION_ALIGN: u64 = 16;

/// If what stands before `code` is the prefix of a function: the address of its name, its site, whether it is a return
/// point and whether it is the library's.
fn head_at(code: u64, shape: u64, word: impl Fn(u64) -> u64) -> Option<(u64, Site, bool, bool)> {
    let at = |offset: i64| word((code as i64 + offset) as u64);
    let name_at = |offset: i64| code::target(code, at(offset));
    let library = shape & code::flags::LIBRARY != 0;
    let returns = shape & code::flags::RETURN != 0;
    if shape & !(code::flags::LIBRARY | code::flags::RETURN) == code::BODY_SHAPE {
        return Some((name_at(code::ENTRY_NAME), Site(at(code::ENTRY_SITE)), returns, library));
    }
    let words = code::shape_words(shape);
    let is_site = |s: u64| s >> 60 == 0;
    let is_address = |a: u64| a > 4096 && a < 1 << 47;
    let is_distance = |d: u64| d != 0 && d as i64 == d as i32 as i64;
    let known = if returns { code::flags::OF_RETURNS } else { (1 << 38) - 1 };
    if shape >> 32 & !(known >> 32) != 0 || words == 0 || words > 1 << 20 {
        return None;
    }
    if returns {
        let (name, site) = (at(code::RETURN_NAME), at(code::RETURN_SITE));
        let several = code::mv_entry(code, shape, at(code::MV_ENTRY));
        let special = shape & (code::flags::HALT | code::flags::UNDERFLOW) != 0;
        return (is_site(site) && (special || is_distance(name) && is_address(several))).then_some((
            if special { 0 } else { name_at(code::RETURN_NAME) },
            Site(site),
            true,
            library,
        ));
    }
    let (name, site, arity) = (at(code::ENTRY_NAME), at(code::ENTRY_SITE), at(code::ARITY));
    (words >= 2 && is_site(site) && is_distance(name) && arity >> 18 & 0x3FFF == 0).then_some((
        name_at(code::ENTRY_NAME),
        Site(site),
        false,
        library,
    ))
}

/// The C string at an address that may be none.
fn readable_text(address: u64) -> Option<String> {
    let mut bytes = [0u8; 256];
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: both vectors describe `bytes.len()` bytes: the kernel writes no more to ours, and reads nothing that is
    // not mapped.
    let n = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    let end = bytes[..usize::try_from(n).ok()?].iter().position(|b| *b == 0)?;
    String::from_utf8(bytes[..end].to_vec()).ok()
}

/// The mark in a frame with this return address, if it is the frame of an evaluated call.
pub(crate) fn mark_of_frame(ctx: &Machine, code: u64, frame: u64) -> Option<Value> {
    let behind = frames::behind_descriptor(ctx, code) as i64;
    // SAFETY: `code` is a return address of a frame, so `behind` is the end of a return point's descriptor.
    let (shape, name) = unsafe {
        let at = |offset: i64| *((behind + offset) as *const u64);
        (at(code::SHAPE), described_name(behind as u64, code::RETURN_NAME))
    };
    if shape & code::flags::LIBRARY == 0 || name.as_deref() != Some(evaluated::CALL) {
        return None;
    }
    frames::live_values(ctx, frame).into_iter().find(|v| evaluated::is_mark(*v))
}

fn render_backtrace(modules: &Modules, rows: &Rows, most: usize, style: Style) -> String {
    let frames = &rows.rows;
    let mut out = String::new();
    if frames.is_empty() && !rows.cut {
        return out;
    }
    let _ = writeln!(out, "{}backtrace:{}", style.bold, style.reset);
    let shown = &frames[..frames.len().min(most)];
    let width = shown.iter().map(|(f, _)| f.name.chars().count()).max().unwrap_or(0).min(40);
    for (i, (frame, times)) in shown.iter().enumerate() {
        let place = place(modules, frame.at).unwrap_or_default();
        let mut line = format!("{i:>4}: {:width$}  {place}", frame.name);
        if *times > 1 {
            let _ = write!(line, "  ({times} times)");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let rest: usize = frames[shown.len()..].iter().map(|(_, n)| n).sum();
    if rows.cut {
        let _ = writeln!(out, "      … more frames, too many to count");
    } else if rest > 0 {
        let _ = writeln!(out, "      … {rest} more frame{}", if rest == 1 { "" } else { "s" });
    }
    out
}

/// The frames that the report of an error shows, and where it is.
fn rows(ctx: &Machine, at: At) -> (Rows, Option<At>) {
    let modules = &rt(ctx).modules;
    let (mut frames, at) = match at {
        At::Site(site) | At::InlinedTail(site) => {
            (frames(ctx, site, matches!(at, At::InlinedTail(_))), At::Site(resolve(modules, site).site))
        }
        At::Evaluated(_) => (frames(ctx, Site::NONE, false), at),
        At::EvaluatedTail(mark) => {
            let mut frames = frames(ctx, Site::NONE, false);
            let at = At::Evaluated(mark);
            frames.rows.insert(0, (Frame { name: evaluated::name(mark), at }, 1));
            (frames, at)
        }
    };
    // Without a position of its own, or with one in the library, the error is where user code called last.
    let user = |at: &At| at.text(modules).is_some();
    let at = std::iter::once(at).chain(frames.rows.iter().map(|(f, _)| f.at)).find(user);
    if let (true, Some(at)) = (frames.rows.is_empty(), at) {
        // everything was inlined into the program, or left by tail calls
        let name = match at {
            At::Site(_) | At::InlinedTail(_) => "program".to_string(),
            At::Evaluated(mark) | At::EvaluatedTail(mark) => evaluated::name(mark),
        };
        frames.rows.push((Frame { name, at }, 1));
    }
    (frames, at)
}

/// The frames of the report of an error at a place, or of all calls under way: names, and sites or marks. A debugger
/// looks at so many.
pub fn frames_for_debugger(ctx: &Machine, at: Value) -> Vec<(String, Value)> {
    const MOST: usize = 10_000;
    rows(ctx, At::of(at)).0.rows.into_iter().take(MOST).map(|(f, _)| (f.name, f.at.value())).collect()
}

/// The text of the form at a site or mark.
pub fn form_at(ctx: &Machine, at: Value) -> Option<String> {
    At::of(at).text(&rt(ctx).modules)?.form().map(str::to_string)
}

/// `path:line:column` of a site or mark, and the line with carets below it.
pub fn shown_place(ctx: &Machine, at: Value, style: Style) -> Option<(String, String)> {
    let modules = &rt(ctx).modules;
    let at = At::of(at);
    Some((place(modules, at)?, excerpt(&at.text(modules)?, style)))
}

/// The whole report, with at most so many frames.
fn render(ctx: &Machine, message: &str, at: At, most: usize, style: Style) -> String {
    let modules = &rt(ctx).modules;
    let (frames, at) = rows(ctx, at);
    let Style { error, bold, reset, .. } = style;
    let mut out = format!("{error}error{reset}{bold}: {message}{reset}\n");
    if let Some(mut passage) = at.and_then(|at| at.text(modules)) {
        if let Some(name) = [error::UNKNOWN, error::EARLY].iter().find_map(|said| message.strip_prefix(said)) {
            passage.narrow(name);
        }
        out.push_str(&excerpt(&passage, style));
    }
    out.push_str(&render_backtrace(modules, &frames, most, style));
    out
}

/// Reports an error that nobody handled, with the source line and a backtrace, and ends the process with status 1.
/// What was written before is flushed first.
fn fatal(ctx: &mut Machine, message: &str, at: At) -> ! {
    (rt(ctx).flush)(ctx);
    let mut report = render(ctx, message, at, FRAMES_MAX, Style::of_stderr());
    // on a screen, a report begins a line, whatever the program has written
    if rt(ctx).last_output != b'\n' && std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
        report.insert(0, '\n');
    }
    rt(ctx).options.host.say(&report);
    fatal::end(ctx, 1)
}

/// A message may carry whole data structures: cut it to what a person reads.
fn shorten(mut message: String) -> String {
    if let Some((cut, _)) = message.char_indices().nth(MESSAGE_MAX) {
        message.truncate(cut);
        message.push_str(" …");
    }
    message
}

/// `(fatal message site)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_fatal(ctx: &mut Machine, message: Value, site: Value) -> Value {
    let message = sentence(message);
    fatal(ctx, &message, At::of(site))
}

/// The message of an error, cut to what a person reads.
fn sentence(message: Value) -> String {
    shorten(match string_of(message) {
        Some(_) => access::string_text(message),
        None => crate::print::describe(message),
    })
}

/// `(describe-error message site how)`: the report, as a string; bits of `how` are 1 for colours, 2 for all frames.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_describe_error(
    ctx: &mut Machine,
    message: Value,
    site: Value,
    how: Value,
) -> Value {
    let how = access::fixnum_of(how).unwrap_or(0);
    let style = if how & 1 != 0 { Style::COLOR } else { Style::PLAIN };
    let most = if how & 2 != 0 { usize::MAX } else { FRAMES_MAX };
    let report = render(ctx, &sentence(message), At::of(site), most, style);
    alloc::make_string(ctx, &report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passage::Position;
    use cairn_layout::module::ModuleTable;

    const TEXT: &str = "(define (f l)\n\t(+ 1 (car l)))\n(f 'λ)\n";

    fn shown(path: &str, text: &str, start: usize) -> String {
        excerpt(&Passage { path: path.into(), text: text.into(), lines_before: 0, start }, Style::PLAIN)
    }

    #[test]
    fn excerpts_underline_the_datum() {
        let expected = " --> a.scm:2:7\n  |\n2 |  (+ 1 (car l)))\n  |       ^^^^^^^\n";
        assert_eq!(shown("a.scm", TEXT, TEXT.find("(car").unwrap()), expected);
        let expected = " --> a.scm:3:5\n  |\n3 | (f 'λ)\n  |     ^\n";
        assert_eq!(shown("a.scm", TEXT, TEXT.find('λ').unwrap()), expected);
    }

    #[test]
    fn positions_beyond_the_text_do_no_harm() {
        assert_eq!(shown("a", "", 99), " --> a:1:1\n");
        assert_eq!(position("ab\n", 99), Position { line: 2, column: 1 });
        assert!(shown("a", "λ", 1).contains("a:1:1"));
        let long = format!("{}(x){}", "y ".repeat(500), " z".repeat(500));
        let shown = shown("a", &long, 1000);
        assert!(shown.contains("(x)") && shown.lines().all(|l| l.chars().count() < 130));
        assert!(shown.lines().any(|l| l.starts_with("1 | …") && l.ends_with('…')), "{shown}");
    }

    #[test]
    fn calls_are_recognized_by_name() {
        assert!(is_call_of("(f 1)", "f") && is_call_of("( f)", "f") && is_call_of("(f\n1)", "f"));
        assert!(!is_call_of("(fg 1)", "f") && !is_call_of("f", "f") && !is_call_of("(g f)", "f"));
    }

    #[test]
    fn datum_widths() {
        for (text, width) in
            [("(a (b) \")\") c", 11), ("abc d", 3), ("abc)", 3), ("\"a b\" c", 5), ("", 1), ("(a", 2)]
        {
            assert_eq!(datum_width(text, 0), width, "{text}");
        }
    }

    #[test]
    fn backtraces_are_aligned_and_cut() {
        let bytes = |t: &'static str| Bytes { data: t.as_ptr(), len: t.len() as u64 };
        let source = |path: &'static str| [Source { path: bytes(path), text: bytes(TEXT), lines_before: 0 }];
        let sources = [source("a.scm"), source("b.scm")];
        let tables: Vec<ModuleTable> = (sources.iter())
            .map(|s| {
                // SAFETY: all zeros is a table: null pointers, and counts of 0.
                let empty: ModuleTable = unsafe { std::mem::zeroed() };
                ModuleTable { sources: s.as_ptr(), source_count: 1, ..empty }
            })
            .collect();
        let mut modules = Modules::default();
        for (i, table) in tables.iter().enumerate() {
            // SAFETY: the tables are in a vector that lives until the end of the test.
            unsafe { modules.add(table, i as u64..i as u64 + 1) };
        }
        let frame = |name: &str, at: u32| Frame { name: name.to_string(), at: At::Site(Site::new(0, at)) };
        let other = Frame { name: "loop".into(), at: At::Site(Site::new(0, 32).in_module(1)) };
        let nowhere = Frame { name: "?".into(), at: At::Site(Site::NONE) };
        let mut frames = Rows { rows: vec![(frame("f", 16), 1), (other, 3), (nowhere, 1)], cut: false };
        let expected = "backtrace:\n   0: f     a.scm:2:3\n   1: loop  b.scm:3:3  (3 times)\n   2: ?\n";
        assert_eq!(render_backtrace(&modules, &frames, FRAMES_MAX, Style::PLAIN), expected);
        frames.cut = true;
        let expected = format!("{expected}      … more frames, too many to count\n");
        assert_eq!(render_backtrace(&modules, &frames, FRAMES_MAX, Style::PLAIN), expected);
        let frames = Rows { rows: (0..50).map(|i| (frame("f", i % 7), 2)).collect(), cut: false };
        let text = render_backtrace(&modules, &frames, FRAMES_MAX, Style::PLAIN);
        assert!(text.ends_with("      … 60 more frames\n"));
        assert_eq!(text.lines().count(), FRAMES_MAX + 2);
    }
}
