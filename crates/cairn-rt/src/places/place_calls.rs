//! What `lib/cairn/place.sld` asks of the runtime.

use super::family::{Family, Places, Table};
use super::freeze;
use super::life::{Unmade, start};
use super::shared::{Letter, Message, Outcome, Shared};
use super::thaw::{self, hold_in};
use crate::alloc::{make_filled, make_list};
use crate::exhaustion::size_text;
use crate::failure::{describe_io, other};
use crate::machine::modules::ModuleId;
use crate::runtime::rt;
use crate::waiting;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// `(place-types! place channel gone)`: types of the records that stand for places and channels; the procedure that
/// takes the place of continuations.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_types(ctx: &mut Machine, place: Value, channel: Value, gone: Value) -> Value {
    let runtime = rt(ctx);
    let mut modules = runtime.modules.iter();
    if runtime.places.is_none()
        && let (Some(module), None) = (modules.next(), modules.next())
        && module.shared != 0
        && !runtime.heap.contains(gone.address())
        && let Some(code) = runtime.modules.code(ModuleId(0))
    {
        let family = Family {
            table: Table(module),
            code,
            ids: AtomicU64::new(1),
            running: Default::default(),
            ended: Default::default(),
            late: Default::default(),
            lacking: Default::default(),
            made: Default::default(),
            board: Default::default(),
            on_the_way: Default::default(),
        };
        family.board.enter();
        runtime.places = Some(Box::new(Places::new(Arc::new(family), [place, channel], gone)));
    }
    Value::UNSPECIFIED
}

/// What a record stands for; it is one of those that the library makes.
fn shared(ctx: &Machine, record: Value) -> Arc<Shared> {
    let places = rt(ctx).places.as_ref();
    places.and_then(|p| p.get(record)).expect("the library hands over what stands for something")
}

/// Makes a record stand for something new; `None`: there can be no places.
fn stand(ctx: &mut Machine, record: Value) -> Option<Arc<Shared>> {
    let Some(places) = rt(ctx).places.as_ref() else {
        let message = "places need a program that is compiled as a whole: there are none at the prompt, in programs that \
                       call `eval` or `load`, in evaluated code, and in programs inside of others";
        other(ctx, "place-spawn", message, &[]);
        return None;
    };
    let shared = Arc::new(Shared::new(places.family.next_id()));
    hold_in(ctx, &shared, record);
    Some(shared)
}

/// `(place-channel! record)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_channel(ctx: &mut Machine, record: Value) -> Value {
    if stand(ctx, record).is_some() { Value::UNSPECIFIED } else { Value::FAIL }
}

/// `(place-start! record thunk)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_start(ctx: &mut Machine, record: Value, thunk: Value) -> Value {
    let Some(shared) = stand(ctx, record) else { return Value::FAIL };
    match start(ctx, &shared, thunk) {
        Ok(()) => Value::UNSPECIFIED,
        Err(Unmade::Refused(v)) => refuse(ctx, "place-spawn", v),
        Err(Unmade::Other(e)) => other(ctx, "place-spawn", format!("cannot make a place: {e}"), &[]),
    }
}

fn refuse(ctx: &mut Machine, who: &str, v: Value) -> Value {
    other(ctx, who, "cannot be sent to another place:", &[v])
}

fn freeze(ctx: &mut Machine, v: Value) -> Result<Message, Value> {
    let places = rt(ctx).places.take().expect("there are places");
    let frozen = freeze::freeze(ctx, &places, v);
    rt(ctx).places = Some(places);
    frozen
}

fn thaw(ctx: &mut Machine, message: &Message) -> Value {
    thaw::thaw(message, ctx)[0]
}

/// `(place-put! channel message)`: `#t`; `#f` if the channel is closed; or a vector of what cannot be sent.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_put(ctx: &mut Machine, channel: Value, v: Value) -> Value {
    let message = match freeze(ctx, v) {
        Ok(message) => message,
        Err(v) => return make_filled(ctx, Type::Vector, 1, v),
    };
    let limit = rt(ctx).heap.heap_max();
    let places = rt(ctx).places.as_ref().expect("there are places");
    let letter = match Letter::new(message, &places.family.on_the_way, limit) {
        Ok(letter) => letter,
        Err(bytes) => {
            let message = format!(
                "out of memory: a message of {} beside those that nobody has received yet would exceed the limit of \
                 {} (raise it with --heap-max)",
                size_text(bytes),
                size_text(limit)
            );
            return other(ctx, "place-channel-put!", message, &[]);
        }
    };
    let put = shared(ctx, channel).change(|s| {
        if !s.closed {
            s.messages.push_back(letter);
        }
        !s.closed
    });
    Value::bool(put)
}

/// `(place-get channel)`: a vector of one message; `()` if it is closed and empty; `#f` if it is empty.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_get(ctx: &mut Machine, channel: Value) -> Value {
    let taken = {
        let channel = shared(ctx, channel);
        let mut state = channel.state();
        match state.messages.pop_front() {
            Some(letter) => letter,
            None => return if state.closed { Value::NIL } else { Value::FALSE },
        }
    };
    let v = thaw(ctx, &taken.message);
    make_filled(ctx, Type::Vector, 1, v)
}

/// `(place-close! channel)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_close(ctx: &mut Machine, channel: Value) -> Value {
    shared(ctx, channel).change(|s| s.closed = true);
    Value::UNSPECIFIED
}

/// `(place-outcome place)`: `#f` while it runs; else a list: `value` and its value, `raised` and what it raised, as 1
/// and 2; 3 and its exit status; 4: it was killed.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_outcome(ctx: &mut Machine, place: Value) -> Value {
    let outcome = shared(ctx, place).state().outcome.clone();
    let parts = match outcome.as_deref() {
        None => return Value::FALSE,
        Some(Outcome::Value(m)) => vec![Value::fixnum(1), thaw(ctx, m)],
        Some(Outcome::Raised(m)) => vec![Value::fixnum(2), thaw(ctx, m)],
        Some(Outcome::Exited(status)) => vec![Value::fixnum(3), Value::fixnum((*status).into())],
        Some(Outcome::Killed) => vec![Value::fixnum(4)],
    };
    make_list(ctx, &parts)
}

/// `(place-finish! how value)`: what this place ends with. `#f`, or a vector of what cannot be sent.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_finish(ctx: &mut Machine, how: Value, v: Value) -> Value {
    let message = match freeze(ctx, v) {
        Ok(message) => message,
        Err(v) => return make_filled(ctx, Type::Vector, 1, v),
    };
    let outcome = if how == Value::fixnum(1) { Outcome::Value(message) } else { Outcome::Raised(message) };
    let places = rt(ctx).places.as_mut().expect("a place");
    places.ends_with = Some(outcome);
    Value::FALSE
}

/// `(place-kill! place)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_kill(ctx: &mut Machine, place: Value) -> Value {
    shared(ctx, place).kill();
    Value::UNSPECIFIED
}

/// `(place-listen! record)`: the next change of a place or channel is told of by the descriptor that is the result.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_listen(ctx: &mut Machine, record: Value) -> Value {
    let shared = shared(ctx, record);
    match waiting::doorbell(rt(ctx)) {
        Ok(doorbell) => {
            shared.listen(&doorbell);
            Value::fixnum(doorbell.fd().into())
        }
        Err(e) => other(ctx, "", format!("cannot wait for another place: {}", describe_io(&e)), &[]),
    }
}

/// `(place-processors)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_processors(_: &mut Machine) -> Value {
    Value::fixnum(std::thread::available_parallelism().map_or(1, |n| n.get() as i64))
}

/// `(record-type-sent! type how)`: whether records of the type can be sent to other places; see `record_types::Sent`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_place_sent(_: &mut Machine, rtd: Value, how: Value) -> Value {
    if let Some(t) = crate::record_types::get(rtd) {
        t.set_sent(how.as_fixnum());
    }
    Value::UNSPECIFIED
}
