//! A place's beginning and end.

use super::family::{Copy, Family, Places, globals, literals, lock};
use super::freeze::freeze_program;
use super::shared::{Message, Outcome, Shared};
use super::thaw::thaw;
use crate::fatal;
use crate::machine::load::LoadError;
use crate::runtime::{Runtime, rt};
use crate::start_options::{Host, Options};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, SLOTS, THREAD_SLOTS, slot};
use cairn_layout::module::ModuleTable;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Native stack of a place: compiled code needs next to none, printing of what is deep some more.
const STACK: usize = 8 << 20;

/// The host of a place: what the program's host is, but it goes on when the place ends.
#[derive(Debug)]
struct PlaceHost(Arc<dyn Host>);

impl Host for PlaceHost {
    fn say(&self, text: &str) {
        self.0.say(text);
    }
    fn exit(&self, ctx: &mut Machine, status: i32) -> ! {
        fatal::return_to_host(ctx, status)
    }
}

/// What a place begins with, on its way to its OS thread.
struct Seed {
    family: Arc<Family>,
    shared: Arc<Shared>,
    types: [Value; 2],
    gone: Value,
    /// The procedure; globals, literals, machine slots.
    message: Message,
    options: Options,
}

/// Machine slots that a place has from its maker: the library's hooks.
fn slots() -> impl Iterator<Item = usize> {
    let own = [slot::STDIN, slot::STDOUT, slot::STDERR, slot::RAISED, slot::EXPORTS];
    (THREAD_SLOTS..SLOTS).filter(move |s| !own.contains(s))
}

/// What a new place tells its maker: whether it has begun.
#[derive(Default)]
struct Begun {
    result: Mutex<Option<Result<(), String>>>,
    told: Condvar,
}

impl Begun {
    fn tell(&self, result: Result<(), String>) {
        *lock(&self.result) = Some(result);
        self.told.notify_one();
    }

    fn wait(&self) -> Result<(), String> {
        let mut result = lock(&self.result);
        loop {
            match result.take() {
                Some(told) => return told,
                None => result = self.told.wait(result).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Why a place cannot be made.
pub enum Unmade {
    /// Something in its procedure cannot be sent.
    Refused(Value),
    /// In one sentence.
    Other(String),
}

/// Makes a place that calls `procedure`, and waits until it has begun.
pub fn start(ctx: &mut Machine, shared: &Arc<Shared>, procedure: Value) -> Result<(), Unmade> {
    let places = rt(ctx).places.take().expect("there are places");
    let result = start_with(ctx, &places, shared, procedure);
    rt(ctx).places = Some(places);
    result
}

fn start_with(ctx: &mut Machine, places: &Places, shared: &Arc<Shared>, procedure: Value) -> Result<(), Unmade> {
    let family = &places.family;
    let module = places.module();
    let unbound = globals(module).iter().enumerate().filter(|(_, v)| **v == Value::UNBOUND).map(|(i, _)| i);
    let unbound: BTreeSet<usize> = unbound.collect();
    lock(&family.late).extend(&unbound);
    lock(&family.lacking).insert(shared.id, unbound);
    let hooks: Vec<Value> = slots().map(|s| ctx.slot(s)).collect();
    let words = globals(module).iter().chain(literals(module)).copied().chain(hooks);
    let message = freeze_program(ctx, places, procedure, words);
    let message = message.map_err(|v| {
        lock(&family.lacking).remove(&shared.id);
        Unmade::Refused(v)
    })?;
    let o = &rt(ctx).options;
    let options = Options {
        collector: o.collector,
        heap_max: o.heap_max,
        frames_max: o.frames_max,
        trace_gc: o.trace_gc,
        timeline: o.timeline.clone(),
        ambiguous_frames: o.ambiguous_frames,
        mostly_copying: o.mostly_copying,
        gc_threads: o.gc_threads,
        zeal: o.zeal,
        schedule: o.schedule,
        command_line: o.command_line.clone(),
        library_path: o.library_path.clone(),
        host: if places.own.is_some() { o.host.clone() } else { Arc::new(PlaceHost(o.host.clone())) },
        ..Options::default()
    };
    let (family, types, gone) = (family.clone(), places.types, places.gone);
    let seed = Seed { family: family.clone(), shared: shared.clone(), types, gone, message, options };
    let begun = Arc::new(Begun::default());
    let tells = begun.clone();
    lock(&family.running).push(shared.clone());
    family.board.enter();
    let thread = std::thread::Builder::new().name("place".into()).stack_size(STACK).spawn(move || {
        let (family, shared) = (seed.family.clone(), seed.shared.clone());
        live(seed, &tells);
        family.board.leave();
        lock(&family.running).retain(|p| !Arc::ptr_eq(p, &shared));
        lock(&family.lacking).remove(&shared.id);
        family.ended.notify_all();
    });
    let began = match thread {
        Ok(_) => begun.wait(),
        Err(e) => {
            family.board.leave();
            lock(&family.running).retain(|p| !Arc::ptr_eq(p, shared));
            lock(&family.lacking).remove(&shared.id);
            Err(crate::failure::describe_io(&e))
        }
    };
    began.map_err(Unmade::Other)
}

/// A place's life, on its OS thread.
fn live(seed: Seed, begun: &Begun) {
    let Seed { family, shared, types, gone, message, options } = seed;
    // SAFETY: the family's table is that of a loaded module, which stays loaded as long as there are places.
    let copy = Box::new(Copy::of(unsafe { &*family.table.0 }));
    let options = Options { literals: Some(copy.table.literals as u64), ..options };
    let mut places = Places::new(family.clone(), types, gone);
    places.own = Some(shared.clone());
    let made = Runtime::new(options).and_then(|runtime| {
        let doorbell = places.doorbell().map_err(|e| crate::failure::describe_io(&e))?;
        Ok((runtime, doorbell))
    });
    let (mut runtime, doorbell) = match made {
        Ok(made) => made,
        Err(e) => {
            return begun.tell(Err(e));
        }
    };
    let table = &raw const copy.table;
    let machine = runtime.machine();
    // SAFETY: the runtime has just been made, and with it its machine; no compiled code runs on it yet.
    unsafe { (*machine).statics = copy.distance };
    places.copy = Some(copy);
    runtime.places = Some(Box::new(places));
    // SAFETY: `table` is a copy of a loaded module's table, whose words are this runtime's own; the code stays loaded
    // as long as there are places.
    let procedure = unsafe { begin(&mut runtime, table, &family.code, message) };
    let procedure = match procedure {
        Ok(procedure) => procedure,
        Err(e) => {
            return begun.tell(Err(e.to_string()));
        }
    };
    shared.set_machine(Some((machine, doorbell)));
    begun.tell(Ok(()));
    // SAFETY: the runtime was made in this function, and no runtime call of it is under way; `begin` has loaded a
    // module.
    let status = unsafe { runtime.call_with_hooks(procedure) };
    // SAFETY: the machine is the runtime's box, which is dropped below, and nothing runs on it any more.
    let status = match status {
        Ok(_) => fatal::finish(unsafe { &mut *machine }, 0),
        Err(status) => status,
    };
    shared.set_machine(None);
    lock(&family.made).push(std::mem::take(&mut runtime.record_types));
    let ends_with = runtime.places.as_mut().and_then(|p| p.ends_with.take());
    // Whoever waits for the place finds its memory and its files gone.
    drop(runtime);
    shared.change(|s| {
        let otherwise = || if s.killed { Outcome::Killed } else { Outcome::Exited(status) };
        s.outcome = Some(Arc::new(ends_with.unwrap_or_else(otherwise)));
    });
}

/// Loads the program and fills its variables: the procedure to be called.
///
/// # Safety
/// `table` is a copy of the table of a loaded module, and stays as long as the runtime, as the module does, whose code
/// lies in `code`; `Machine::statics` leads to the copy's words, which are this runtime's own.
unsafe fn begin(
    runtime: &mut Runtime,
    table: *const ModuleTable,
    code: &Range<u64>,
    message: Message,
) -> Result<Value, LoadError> {
    // SAFETY: `table` is such a copy (`# Safety`), so its counts are those of globals and literals, which nobody uses
    // yet; `split_at` has made sure that there are as many values.
    unsafe {
        runtime.load_copy(table, code.clone())?;
        let ctx = &mut *runtime.machine();
        let values = thaw(&message, ctx);
        let (global_count, literal_count) = ((*table).global_count as usize, (*table).literal_count as usize);
        let (procedure, rest) = values.split_first().expect("a procedure");
        let (globals, rest) = rest.split_at(global_count);
        let (literals, hooks) = rest.split_at(literal_count);
        std::ptr::copy_nonoverlapping(globals.as_ptr(), (*table).globals, global_count);
        std::ptr::copy_nonoverlapping(literals.as_ptr(), (*table).literals.cast(), literal_count);
        rt(ctx).heap.mark_static((*table).globals as *const u64, global_count);
        rt(ctx).heap.mark_static((*table).literals, literal_count);
        for (s, v) in slots().zip(hooks) {
            *ctx.slot_mut(s) = *v;
        }
        Ok(*procedure)
    }
}

/// Ends all places but the first one, which this must be, and waits until they have ended.
pub fn end_others(ctx: &mut Machine) {
    let Some(places) = rt(ctx).places.as_ref().filter(|p| p.own.is_none()) else { return };
    let family = places.family.clone();
    let mut running = lock(&family.running);
    while !running.is_empty() {
        running.iter().for_each(|p| p.kill());
        running = family.ended.wait(running).unwrap_or_else(PoisonError::into_inner);
    }
}
