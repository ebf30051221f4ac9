//! Moves that are made all at once: operands to their registers, phis.

use super::allocate::Place;
use super::selector::{Located, Move, Selector};
use super::x86::*;

impl Selector<'_, '_> {
    /// Makes moves as if all were made at once. `rax` and `xmm0` break cycles; `r10` and `xmm1` help on the way to a
    /// slot, `r10` also for a double that is a number, so where such moves are made it must be free.
    pub(super) fn shuffle(&mut self, mut moves: Vec<Move>) -> Result<(), String> {
        moves.retain(|m| !m.is_idle());
        while !moves.is_empty() {
            let is_ready =
                |m: &Move| moves.iter().filter(|other| other.reads(m.to)).count() == usize::from(m.reads(m.to));
            match moves.iter().position(is_ready) {
                Some(k) => {
                    let m = moves.swap_remove(k);
                    self.move_now(&m);
                }
                None => self.break_cycle(&mut moves)?,
            }
        }
        Ok(())
    }

    /// Everybody waits for somebody: what is in the way of one move goes elsewhere.
    fn break_cycle(&mut self, moves: &mut [Move]) -> Result<(), String> {
        let (to, float) = (moves[0].to, moves[0].float);
        let away = if float { Place::Vector(0) } else { Place::Register(RAX) };
        // Moves of one value each are cycles apart, of which one is open at a time.
        if moves.iter().any(|m| m.reads(away)) {
            return Err("two cycles of moves at once".into());
        }
        match (to, float) {
            (place, false) => self.code.load(RAX, self.operand_at(place)),
            (place, true) => self.code.load_float(true, 0, self.operand_at(place)),
        }
        for m in moves {
            for place in m.from.values.iter_mut().flatten().filter(|place| **place == to) {
                *place = away;
            }
        }
        Ok(())
    }

    fn move_now(&mut self, m: &Move) {
        match (m.to, m.float) {
            (Place::Register(r), _) => self.put_located(r, &m.from),
            (Place::Vector(r), _) => self.put_double(r, &m.from),
            (Place::Slot(slot), false) => {
                self.put_located(R10, &m.from);
                self.code.store(Width::Quad, self.slot(slot), R10);
            }
            (Place::Slot(slot), true) => {
                self.put_double(1, &m.from);
                self.code.store_float(true, self.slot(slot), 1);
            }
            (Place::Nowhere, _) => {}
        }
    }

    fn put_double(&mut self, to: u8, from: &Located) {
        match from.values[0] {
            Some(place) => self.code.load_float(true, to, self.operand_at(place)),
            None if from.more == 0 => self.code.zero_double(to),
            None => {
                self.code.number(R10, from.more);
                self.code.bits_to_double(to, R10);
            }
        }
    }
}
