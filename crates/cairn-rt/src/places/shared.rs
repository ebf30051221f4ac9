//! What several places have hold of: channels, places as seen from outside, and the messages ([`super::freeze`]) that
//! they hold.
//!
//! Whoever waits for one of them is woken through a [`Doorbell`]. To *listen* is to leave the doorbell; the next change
//! rings it, once. Changes and listening happen under one lock, so whoever listens, looks once more and then waits
//! misses nothing.

use super::doorbell::Doorbell;
use crate::machine::stop_word;
use cairn_layout::machine::{Machine, stop};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

// Words with a pointer's tag: what the two bits at the top say of the rest.
/// Number of a node, shifted by the tag.
pub const NODE: u64 = 0;
/// An address that is the same in all places, with its tag.
pub const COMMON: u64 = 1 << 62;
/// Bytes from the first literal, and the tag.
pub const LITERAL: u64 = 2 << 62;
/// The object that a global holds: its number, shifted by the tag.
pub const GLOBAL: u64 = 3 << 62;
/// These bits.
pub const CLASS: u64 = 3 << 62;

/// What a node is to become, and what its words are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Two values.
    Pair,
    /// Code address and values.
    Procedure,
    /// Header and values.
    Values,
    /// Header and what holds no values.
    Leaf,
    /// Number of characters, then the characters, as they are in a string.
    Symbol,
    /// Header and values.
    Weak,
    /// Type word of a compact record, then for each field a reference, or two fixnums: the halves of its bits.
    Compact,
    /// What a word refers to without being its address: an element of a structure vector. The storage, how many bytes
    /// behind its first word (a fixnum), type word.
    Element,
    /// Type word, number among what is shared, the other fields.
    Shared,
    /// Number of a machine slot.
    StandardPort,
    /// Its flags.
    ClosedPort,
}

/// An object.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What kind of object.
    pub kind: Kind,
    /// Its first word.
    pub start: usize,
    /// How many there are.
    pub len: usize,
}

/// A message. Words are as said above.
#[derive(Debug, Default)]
pub struct Message {
    /// The objects.
    pub nodes: Vec<Node>,
    /// Their words.
    pub words: Vec<u64>,
    /// Places and channels in it.
    pub shared: Vec<Arc<Shared>>,
    /// What was sent.
    pub roots: Vec<u64>,
    /// Globals and what they hold.
    pub definitions: Vec<(usize, u64)>,
}

impl Message {
    /// How much memory it takes.
    fn bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>() + self.words.capacity() * 8) as u64
    }
}

/// A message on its way, which counts against a limit until it is received or given up.
#[derive(Debug)]
pub struct Letter {
    /// What is sent.
    pub message: Message,
    bytes: u64,
    on_the_way: Arc<AtomicU64>,
}

impl Letter {
    /// `message` takes its way, where all messages together take at most `limit` bytes; the error is how many this one
    /// takes.
    pub fn new(message: Message, on_the_way: &Arc<AtomicU64>, limit: u64) -> Result<Letter, u64> {
        let bytes = message.bytes();
        let letter = Letter { message, bytes, on_the_way: on_the_way.clone() };
        let before = on_the_way.fetch_add(bytes, Relaxed);
        // Dropped, it does not count any more.
        if before.saturating_add(bytes) <= limit { Ok(letter) } else { Err(bytes) }
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        self.on_the_way.fetch_sub(self.bytes, Relaxed);
    }
}

impl Node {
    /// Are its words references and other values, all of them?
    pub fn has_values(self) -> bool {
        use Kind::*;
        matches!(self.kind, Pair | Procedure | Values | Weak | Compact | Element | Shared)
    }
}

/// How a place has ended.
#[derive(Debug)]
pub enum Outcome {
    /// With a value.
    Value(Message),
    /// With an error, which it has reported.
    Raised(Message),
    /// By `exit`, or for lack of memory.
    Exited(i32),
    /// Somebody wanted it.
    Killed,
}

/// A machine that may be asked to stop, from any OS thread.
struct Stopped(*mut Machine);

// SAFETY: all that other threads do with the pointer is `stop_word::request`, which any thread may call; the pointer is
// taken back before the machine ends.
unsafe impl Send for Stopped {}

/// State of what is shared.
#[derive(Default)]
pub struct State {
    /// What a channel holds, the oldest first.
    pub messages: VecDeque<Letter>,
    /// Nothing is put into the channel any more.
    pub closed: bool,
    /// What a place has ended with.
    pub outcome: Option<Arc<Outcome>>,
    /// The place is to end.
    pub killed: bool,
    /// The place's machine while it runs, and its doorbell.
    machine: Option<(Stopped, Arc<Doorbell>)>,
    /// Who is told of the next change.
    listeners: Vec<Weak<Doorbell>>,
}

/// A channel or a place.
pub struct Shared {
    /// Unique among the places of a program.
    pub id: u64,
    state: Mutex<State>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shared({})", self.id)
    }
}

impl Shared {
    /// A channel that is empty, or a place that has not begun.
    pub fn new(id: u64) -> Shared {
        Shared { id, state: Mutex::default() }
    }

    /// Its state, to be looked at.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and tells who listens.
    pub fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let result = change(&mut state);
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        listeners.iter().filter_map(Weak::upgrade).for_each(|d| d.ring());
        result
    }

    /// The next change rings this.
    pub fn listen(&self, doorbell: &Arc<Doorbell>) {
        let mut state = self.state();
        // Those of places that have ended are gone.
        state.listeners.retain(|d| d.strong_count() > 0);
        if !state.listeners.iter().any(|d| std::ptr::eq(d.as_ptr(), &**doorbell)) {
            state.listeners.push(Arc::downgrade(doorbell));
        }
    }

    /// The place begins, or, with `None`, has ended.
    pub fn set_machine(&self, machine: Option<(*mut Machine, Arc<Doorbell>)>) {
        let mut state = self.state();
        state.machine = machine.map(|(m, d)| (Stopped(m), d));
        if state.killed {
            state.end();
        }
    }

    /// Has the place end at its next safepoint.
    pub fn kill(&self) {
        let mut state = self.state();
        state.killed = true;
        state.end();
    }
}

impl State {
    fn end(&self) {
        if let Some((machine, doorbell)) = &self.machine {
            // SAFETY: `set_machine(None)` comes before the machine ends and waits for the lock held here, so the
            // machine is alive.
            unsafe { stop_word::request(machine.0, stop::END) };
            doorbell.ring();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Events;
    use std::time::Duration;

    #[test]
    fn a_change_rings_once_for_each_time_somebody_listens() {
        let mut events = Events::new().unwrap();
        let doorbell = Arc::new(Doorbell::new(Arc::default()).unwrap());
        events.hear(doorbell.fd()).unwrap();
        let channel = Shared::new(1);
        let put = |s: &mut State| {
            s.messages.push_back(Letter::new(Message::default(), &Arc::default(), 0).unwrap());
        };
        let mut hears = || !events.wait(Some(Duration::from_millis(5))).unwrap().is_empty();
        channel.change(put);
        assert!(!hears(), "nobody listens");
        for _ in 0..3 {
            channel.listen(&doorbell);
            channel.listen(&doorbell);
            assert!(!hears());
            channel.change(put);
            assert!(hears());
            assert!(!hears());
            channel.change(|s| s.closed = true);
            assert!(!hears(), "told once");
        }
        assert_eq!(channel.state().messages.len(), 4);
    }

    #[test]
    fn letters_count_until_they_are_gone() {
        let on_the_way = Arc::<AtomicU64>::default();
        let of = |words: usize| Message { words: vec![0; words], ..Message::default() };
        let first = Letter::new(of(10), &on_the_way, 100).unwrap();
        assert_eq!(Letter::new(of(3), &on_the_way, 100).err(), Some(24));
        let second = Letter::new(of(2), &on_the_way, 100).unwrap();
        assert_eq!(on_the_way.load(Relaxed), 96);
        drop(first);
        assert!(Letter::new(of(10), &on_the_way, 100).is_ok(), "received at once");
        drop(second);
        assert_eq!(on_the_way.load(Relaxed), 0);
    }
}
