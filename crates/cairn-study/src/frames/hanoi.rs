//! The towers of Hanoi: the paper's model of read misses, and its simulation (section 6.3, Figures 8 and 9).
//!
//! ```text
//!   procedure T(d) = if d > 1 then { T(d-1); T(d-1) }
//! ```
//!
//! A cache holds C frames and is direct-mapped; a frame is a line. A call writes a frame, a return reads the caller's.
//! On a stack the frame at a depth is always the same line; in the heap each frame is the next one. The model: on a
//! stack, a return from T(e) misses if e > C, which is 2^(d-C) - 1 times. In the heap, what takes longer than C calls
//! misses when it returns, which is 2^(d - log2 C) times: one miss every C calls.

use super::cache_simulator::{Cache, Geometry, LINE, OnWriteMiss};

/// Where frames are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The frame at a depth has one address.
    Stack,
    /// Each frame has the address after the one before.
    Heap,
}

/// Calls of T(d).
pub fn calls(d: u32) -> f64 {
    2f64.powi(d as i32) - 1.0
}

/// Read misses of T(d) by the model, in a cache of so many frames.
pub fn model(place: Place, d: u32, frames: u32) -> f64 {
    match place {
        Place::Stack if d > frames => 2f64.powi((d - frames) as i32) - 1.0,
        Place::Stack => 0.0,
        Place::Heap => 2f64.powi(d as i32) / f64::from(frames),
    }
}

/// Read misses of T(d), simulated; with `printing`, as in Figure 9: each move calls a procedure between the two.
pub fn simulated(place: Place, d: u32, frames: u32, printing: bool) -> f64 {
    let geometry = Geometry { bytes: u64::from(frames) * LINE, ways: 1, on_write_miss: OnWriteMiss::Allocate };
    let mut run = Simulation { cache: Cache::new(geometry), place, next: 0, printing };
    run.call(d, 0);
    run.cache.read_misses as f64
}

struct Simulation {
    cache: Cache,
    place: Place,
    next: u64,
    printing: bool,
}

impl Simulation {
    /// A call at a depth; 0 calls nobody.
    fn call(&mut self, d: u32, depth: u64) {
        let frame = LINE * if self.place == Place::Stack { depth } else { self.next };
        self.next += 1;
        self.cache.write(frame, LINE);
        if d <= 1 {
            return;
        }
        self.call(d - 1, depth + 1);
        self.cache.read(frame, LINE);
        if self.printing {
            self.call(0, depth + 1);
            self.cache.read(frame, LINE);
        }
        self.call(d - 1, depth + 1);
        self.cache.read(frame, LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T(3) makes frames 0 to 6 in the order 0 (1 (2 3)) (4 (5 6)); even ones share a place in a cache of two, and odd.
    #[test]
    fn misses_by_hand() {
        // Back to 1 after 2: it is there. After 3, which took its place: a miss. Back to 0, whose place 2 took: a miss.
        // Back to 4 after 5: it is there. After 6, which took its place: a miss. Back to 0, whose place 4 took: a miss.
        assert_eq!(simulated(Place::Heap, 3, 2, false), 4.0);
        // On a stack of two frames, depth 2 takes the place of depth 0: each of the returns to it from T(2) misses.
        assert_eq!(simulated(Place::Stack, 3, 2, false), 2.0);
        assert_eq!(simulated(Place::Stack, 3, 4, false), 0.0);
        assert_eq!(simulated(Place::Heap, 3, 8, false), 0.0, "all fit");
    }

    #[test]
    fn the_model_is_near_the_simulation() {
        for frames in [16, 64, 256] {
            let (model, simulated) = (model(Place::Heap, 16, frames), simulated(Place::Heap, 16, frames, false));
            assert!((model / simulated - 1.0).abs() < 0.6, "{frames}: {model} {simulated}");
        }
        assert_eq!(model(Place::Stack, 7, 16), 0.0);
        assert_eq!(calls(7), 127.0);
    }
}
