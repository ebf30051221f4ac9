//! What `eval` asks of the expander, which is not part of the runtime.
//!
//! A form travels to the expander as text; it comes back as [`Data`]: code for the evaluator in
//! `lib/cairn/evaluator.sld`. The expander is a session behind the trait [`Evaluator`], made when it is first needed by
//! the function in [`crate::Options::evaluator`] (crate `cairn-eval`). It holds no values of the heap: variables and
//! cells are numbers that the evaluator in Scheme resolves, so nothing here is a root.

use crate::access;
use crate::alloc;
use crate::evaluated_marks;
use crate::failure::{self, fail, other, with_article, wrong_type};
use crate::num::operand::from_number;
use crate::numeric;
use crate::record_types::Compact;
use crate::report;
use crate::runtime::rt;
use crate::symbol;
use crate::{record, record_types};
use cairn_layout::Value;
use cairn_layout::code::{SEVERAL, count_word, tail_call};
use cairn_layout::machine::{Machine, error};
use cairn_layout::object::record::Slot;
use cairn_layout::object::{self, Type};
use cairn_layout::value::TAG_PAIR;
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;

pub use crate::expander::{Console, Data, Evaluator, Rejection};

/// Parts of data that occur again, by number.
pub(crate) enum Parts<'a> {
    /// In cells, pairs: forms of a program share them.
    Cells(&'a [Value]),
    /// Those of one datum. Nothing is collected while it is made.
    Own(FxHashMap<usize, Value>),
}

/// The value of a datum by itself.
pub(crate) fn value(ctx: &mut Machine, data: &Data) -> Value {
    on_known_stack(ctx, |ctx| value_of(ctx, data, &mut Parts::Own(FxHashMap::default())))
}

/// Does something that may recurse deeply. `stacker` knows how much is left of an OS thread's own stack and of those it
/// has made; the program of a shared library runs on neither.
fn on_known_stack<R>(ctx: &mut Machine, work: impl FnOnce(&mut Machine) -> R) -> R {
    const BYTES: usize = 8 << 20;
    if rt(ctx).c.server.is_null() { work(ctx) } else { stacker::grow(BYTES, || work(ctx)) }
}

/// The value of a datum; strings and bytevectors are literals.
pub(crate) fn value_of(ctx: &mut Machine, data: &Data, parts: &mut Parts) -> Value {
    stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || value_here(ctx, data, parts))
}

fn value_here(ctx: &mut Machine, data: &Data, parts: &mut Parts) -> Value {
    match data {
        Data::Nil => Value::NIL,
        Data::Bool(b) => Value::bool(*b),
        Data::Char(c) => Value::char(*c as u32),
        Data::Unspecified => Value::UNSPECIFIED,
        Data::Eof => Value::EOF,
        Data::Default => Value::DEFAULT,
        Data::Unbound => Value::UNBOUND,
        Data::Number(n) => from_number(ctx, n),
        Data::Symbol(name) => symbol::intern(ctx, name),
        Data::String(text) => literal(alloc::make_string(ctx, text)),
        Data::Bytes(bytes) => literal(alloc::make_bytevector(ctx, bytes)),
        Data::Numbers(kind, bytes) => literal(numeric::make(ctx, *kind, bytes)),
        Data::List(items, tail) => {
            let items: Vec<Value> = items.iter().map(|x| value_of(ctx, x, parts)).collect();
            let tail = value_of(ctx, tail, parts);
            items.iter().rev().fold(tail, |list, x| alloc::alloc_pair(ctx, *x, list))
        }
        Data::Vector(items) => {
            let items: Vec<Value> = items.iter().map(|x| value_of(ctx, x, parts)).collect();
            alloc::make_vector(ctx, &items)
        }
        Data::Shared(n, data) => {
            let cell = match parts {
                Parts::Cells(cells) => cells[*n],
                Parts::Own(made) => {
                    if let Some(value) = made.get(n) {
                        return *value;
                    }
                    let value = value_of(ctx, data, parts);
                    if let Parts::Own(made) = parts {
                        made.insert(*n, value);
                    }
                    return value;
                }
            };
            if access::car(cell) == Value::UNBOUND {
                let value = value_of(ctx, data, parts);
                let slot = (cell.0 - TAG_PAIR) as *mut Value;
                // SAFETY: `cell` is a pair, as all cells are (`car` has asserted it), so `slot` is its first word.
                unsafe { *slot = value };
                alloc::write_barrier(ctx, slot);
            }
            access::car(cell)
        }
    }
}

/// A fresh leaf that must not be changed from now on.
fn literal(v: Value) -> Value {
    // SAFETY: callers pass a fresh leaf, which begins with a header, and nobody else knows it yet.
    unsafe { *(v.address() as *mut u64) |= (object::FLAG_LITERAL as u64) << object::FLAGS_SHIFT };
    v
}

/// Does something with the expander, which is made if there is none.
fn with<T>(ctx: &mut Machine, f: impl FnOnce(&mut dyn Evaluator) -> Result<T, String>) -> Result<T, String> {
    let runtime = rt(ctx);
    let make = runtime.options.evaluator.clone().ok_or("this program was built without an evaluator")?;
    on_known_stack(ctx, |_| f(&mut **runtime.evaluator.get_or_insert_with(|| (make.0)(&runtime.options))))
}

fn failed(ctx: &mut Machine, who: &str, message: &str) -> Value {
    other(ctx, who, message, &[])
}

/// The strings in a vector that the compiler made.
fn strings(v: Value) -> Vec<String> {
    let items = access::vector_of(v).unwrap_or_default();
    items.iter().filter_map(|s| text(*s)).collect()
}

fn text(v: Value) -> Option<String> {
    access::string_of(v).map(|_| access::string_text(v))
}

/// `(evaluator-start libraries keys)`: vectors of strings.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_start(ctx: &mut Machine, libraries: Value, keys: Value) -> Value {
    let (libraries, keys) = (strings(libraries), strings(keys));
    match with(ctx, |e| e.start(libraries, keys)) {
        Ok(()) => Value::UNSPECIFIED,
        Err(message) => failed(ctx, "eval", &message),
    }
}

/// `(evaluator-environment text)`: the number of a new environment, or what is wrong; `#f` for the default bindings.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_environment(ctx: &mut Machine, sets: Value) -> Value {
    let number = |n: i64| Data::Number(Number::Int(Int::Fix(n)));
    answer(ctx, |e| e.environment(text(sets).as_deref()).map(|n| Some(number(n))))
}

/// Asks the evaluator; a rejection becomes a vector of message, text, help, place, files
/// and violation.
fn answer(ctx: &mut Machine, f: impl FnOnce(&mut dyn Evaluator) -> Result<Option<Data>, Rejection>) -> Value {
    match with(ctx, |e| Ok(f(e))) {
        Ok(Ok(Some(code))) => {
            let made = value(ctx, &code);
            code.take_apart();
            made
        }
        Ok(Ok(None)) => Value::FALSE,
        Ok(Err(Rejection { message, text, help, place, violation, files })) => {
            let help = help.map_or(Data::Bool(false), Data::String);
            let files = Data::List(files, Box::new(Data::Nil));
            let parts = vec![Data::String(message), Data::String(text), help, *place, files, *violation];
            value(ctx, &Data::Vector(parts))
        }
        Err(message) => failed(ctx, "eval", &message),
    }
}

// In what follows the evaluator passes its own strings and numbers.

/// `(evaluator-expand text environment)`: code, or what is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_expand(ctx: &mut Machine, form: Value, environment: Value) -> Value {
    let text = text(form).unwrap_or_default();
    answer(ctx, |e| e.expand(&text, number(environment)).map(Some))
}

/// `(evaluator-open text name lines-before whole?)`: the number of an open text.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_open(
    ctx: &mut Machine,
    contents: Value,
    name: Value,
    lines: Value,
    whole: Value,
) -> Value {
    let lines_before = i32::try_from(number(lines)).unwrap_or(0);
    let (contents, name) = (text(contents).unwrap_or_default(), text(name).unwrap_or_default());
    match with(ctx, |e| Ok(e.open(&contents, &name, lines_before, whole != Value::FALSE))) {
        Ok(n) => Value::fixnum(n),
        Err(message) => failed(ctx, "load", &message),
    }
}

/// `(evaluator-bring directories files)`: vectors of strings; files are paths, each with its text behind it.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_bring(ctx: &mut Machine, directories: Value, files: Value) -> Value {
    let (directories, files) = (strings(directories), strings(files));
    let _ = with(ctx, |e| {
        e.bring(directories, files);
        Ok(())
    });
    Value::UNSPECIFIED
}

/// `(evaluator-next number environment)`: code of the next form of an open text, what is wrong with it, or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_next(ctx: &mut Machine, text: Value, environment: Value) -> Value {
    answer(ctx, |e| e.next(number(text), number(environment)))
}

/// `(evaluator-close number)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_close(ctx: &mut Machine, text: Value) -> Value {
    let _ = with(ctx, |e| {
        e.close(number(text));
        Ok(())
    });
    Value::UNSPECIFIED
}

/// `(evaluator-variable name environment)`: the cell of a variable.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_variable(ctx: &mut Machine, name: Value, environment: Value) -> Value {
    let name = text(name).unwrap_or_default();
    match with(ctx, |e| e.variable(&name, number(environment))) {
        Ok(n) => Value::fixnum(n),
        Err(message) => failed(ctx, "eval", &message),
    }
}

/// `(evaluator-console request text environment)`: what the terminal answers. Instead of a text there may be a
/// procedure, or a place.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_console(
    ctx: &mut Machine,
    request: Value,
    argument: Value,
    environment: Value,
) -> Value {
    let request = text(request).unwrap_or_default();
    if argument.is_procedure() {
        return about_procedure(ctx, &request, argument);
    }
    match &*request {
        "variant" => return variant(ctx, argument, number(environment)),
        "frames" => return frames(ctx, argument),
        "form" => {
            let form = report::form_at(ctx, argument);
            return form.map_or(Value::FALSE, |form| alloc::make_string(ctx, &form));
        }
        "place" => return shown_place(ctx, argument, number(environment)),
        _ => {}
    }
    let argument = text(argument).unwrap_or_default();
    let answer = match &*request {
        "expand" => return explained(ctx, &argument, number(environment)),
        "suggestion" => {
            let environment = number(environment);
            let help = rt(ctx).evaluator.as_mut().and_then(|e| e.suggestion(&argument, environment));
            Ok(help.map_or(Data::Bool(false), Data::String))
        }
        "defined-later?" => {
            Ok(Data::Bool(rt(ctx).evaluator.as_ref().is_some_and(|e| e.is_defined_later(&argument))))
        }
        "debug" => {
            let on = argument == "on";
            return match with(ctx, |e| {
                e.debug(on);
                Ok(())
            }) {
                Ok(()) => Value::UNSPECIFIED,
                Err(message) => failed(ctx, &request, &message),
            };
        }
        "cell" => {
            let environment = number(environment);
            let cell = rt(ctx).evaluator.as_mut().and_then(|e| e.cell(&argument, environment));
            return cell.map_or(Value::FALSE, Value::fixnum);
        }
        "statistics" => Ok(Data::String(rt(ctx).heap.stats().to_string())),
        "counters" => {
            let stats = rt(ctx).heap.stats();
            let number = |n: u64| Data::Number(Number::Int(Int::Fix(n as i64)));
            Ok(Data::Vector(vec![number(stats.minor + stats.major), number(stats.allocated)]))
        }
        "collect" => {
            let heap = &mut rt(ctx).heap;
            heap.request_collection(&mut ctx.cursors, true).map(|()| Data::Unspecified).map_err(|e| e.to_string())
        }
        "new-line" => {
            rt(ctx).last_output = b'\n';
            Ok(Data::Unspecified)
        }
        "inside-line?" => {
            (rt(ctx).flush)(ctx);
            Ok(Data::Bool(rt(ctx).last_output != b'\n'))
        }
        _ => match rt(ctx).options.console.clone() {
            None => Err("this program has no terminal".to_string()),
            Some(console) => {
                (rt(ctx).flush)(ctx);
                let names = || match &rt(ctx).evaluator {
                    Some(e) => e.names(number(environment)),
                    None => Vec::new(),
                };
                let mut console = console.lock().unwrap_or_else(|e| e.into_inner());
                console.request(&request, &argument, &names)
            }
        },
    };
    match answer {
        Ok(data) => value(ctx, &data),
        Err(message) => failed(ctx, &request, &message),
    }
}

/// What a prompt asks of a procedure: `"mark"` of an evaluated one, else `#(path text start)` of where it is written;
/// `"state"` of one that may become native; or its place and the text of the form there.
fn about_procedure(ctx: &mut Machine, request: &str, procedure: Value) -> Value {
    let string = |s: &str| Data::String(s.to_string());
    let about = match request {
        "mark" => match evaluated_marks::mark_of_closure(procedure) {
            Some(mark) => return mark,
            None => report::procedure_place(ctx, procedure).map(|p| {
                let start = Data::Number(Number::Int(Int::Fix(p.start as i64)));
                Data::Vector(vec![string(&p.path), string(&p.text), start])
            }),
        },
        "state" => return evaluated_marks::state_of_closure(procedure).unwrap_or(Value::FALSE),
        _ => report::procedure_place(ctx, procedure).map(|passage| {
            let p = passage.position();
            let form = passage.form().unwrap_or_default();
            Data::Vector(vec![string(&format!("{}:{}:{}", passage.path, p.line, p.column)), string(form)])
        }),
    };
    about.map_or(Value::FALSE, |about| value(ctx, &about))
}

/// Code for a debugger of the procedure at `#(path text start)`, or `#f`.
fn variant(ctx: &mut Machine, place: Value, environment: i64) -> Value {
    let Some([path, contents, start]) = access::vector_of(place) else { return Value::FALSE };
    let (Some(path), Some(contents)) = (text(*path), text(*contents)) else { return Value::FALSE };
    let start = usize::try_from(number(*start)).unwrap_or(usize::MAX);
    let code = rt(ctx).evaluator.as_mut().and_then(|e| e.variant(&path, &contents, start, environment));
    code.map_or(Value::FALSE, |code| value(ctx, &code))
}

/// `(#(name place) …)` of the calls under way when an error happened at a place.
fn frames(ctx: &mut Machine, at: Value) -> Value {
    let frames = report::frames_for_debugger(ctx, at);
    frames.into_iter().rev().fold(Value::NIL, |list, (name, at)| {
        let name = alloc::make_string(ctx, &name);
        let frame = alloc::make_vector(ctx, &[name, at]);
        alloc::alloc_pair(ctx, frame, list)
    })
}

/// `(where . excerpt)` of a place, or `#f`; with colours if `style` is 1.
fn shown_place(ctx: &mut Machine, at: Value, style: i64) -> Value {
    let style = if style == 1 { report::Style::COLOR } else { report::Style::PLAIN };
    match report::shown_place(ctx, at, style) {
        Some((place, excerpt)) => {
            let (place, excerpt) = (alloc::make_string(ctx, &place), alloc::make_string(ctx, &excerpt));
            alloc::alloc_pair(ctx, place, excerpt)
        }
        None => Value::FALSE,
    }
}

fn explained(ctx: &mut Machine, text: &str, environment: i64) -> Value {
    answer(ctx, |e| e.explain(text, environment).map(|text| Some(Data::String(text))))
}

fn number(v: Value) -> i64 {
    access::fixnum_of(v).unwrap_or(-1)
}

/// `(count-message clauses values? got)`: what is said of a wrong count of arguments, or values, for `#(required rest?
/// …)` in a list.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_count_message(
    ctx: &mut Machine,
    clauses: Value,
    values: Value,
    got: Value,
) -> Value {
    let counts = access::list_items(clauses).filter_map(|c| match access::vector_of(c)? {
        [required, rest, ..] => Some((number(*required).max(0) as u64, *rest != Value::FALSE)),
        _ => None,
    });
    let noun = if values == Value::FALSE { "argument" } else { "value" };
    let message =
        failure::count_message(arity_word(&counts.collect::<Vec<_>>()), noun, number(got).max(0) as usize);
    alloc::make_string(ctx, &message)
}

/// The arity word of a procedure with these clauses: required arguments, and whether there may be more.
fn arity_word(clauses: &[(u64, bool)]) -> u64 {
    let &[(required, rest)] = clauses else {
        let exact =
            clauses.iter().filter(|(n, rest)| !rest && *n < 32).fold(0, |bits, (n, _)| bits | 1 << (32 + n));
        let rest = clauses.iter().find(|(_, rest)| *rest).map_or(0, |(n, _)| count_word(*n, true));
        return SEVERAL | exact | rest;
    };
    count_word(required, rest)
}

/// `(place-of-call mark)`: where the call of the procedure with this mark stands, if that is certain; else the mark.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_place_of_call(ctx: &mut Machine, mark: Value) -> Value {
    crate::call_place::place_of_call(ctx, Some(&evaluated_marks::name(mark)), tail_call::SOMEWHERE).unwrap_or(mark)
}

/// `(record-slot record type code)`: an accessor whose field is known only now.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_record_slot(ctx: &mut Machine, record: Value, rtd: Value, code: Value) -> Value {
    match slot(record, rtd, code) {
        Some(slot) => record::get(ctx, record, slot),
        None => no_instance(ctx, record, rtd, Value::FALSE),
    }
}

/// `(record-slot-set! record type code value who)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_evaluator_record_slot_set(
    ctx: &mut Machine,
    record: Value,
    rtd: Value,
    code: Value,
    x: Value,
    who: Value,
) -> Value {
    match slot(record, rtd, code) {
        Some(slot) if record::put(ctx, record, slot, x) => Value::UNSPECIFIED,
        Some(slot) => {
            let who = name(who);
            wrong_type(ctx, &who, 0, &record::with_article(slot.kind), x);
            if who.is_empty() { Value::FAIL } else { crate::failure::keep_who(ctx) }
        }
        None => no_instance(ctx, record, rtd, who),
    }
}

fn name(who: Value) -> String {
    if access::is(who, Type::Symbol) { access::symbol_text(who) } else { String::new() }
}

fn no_instance(ctx: &mut Machine, record: Value, rtd: Value, who: Value) -> Value {
    let expected = crate::record_types::type_name(rtd).unwrap_or_else(|| "record".into());
    let message = record::instead_of(record, rtd, &with_article(&expected));
    fail(ctx, error::TYPE, &name(who), message, &[record])
}

/// The field of this code, if the record has it.
fn slot(record: Value, rtd: Value, code: Value) -> Option<Slot> {
    let slot = Slot::of(access::fixnum_of(code)?);
    let fields = record_types::get(rtd)?;
    let slot = if fields.compact == Some(Compact::Plain) { slot.plain() } else { slot };
    (record::is_a(record, rtd) && fields.fields.iter().any(|f| f.slot == slot)).then_some(slot)
}
