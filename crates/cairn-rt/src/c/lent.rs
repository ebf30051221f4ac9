//! What C is lent for the duration of a call: copies that it may read, and copies that it may write, which go back into
//! vectors afterwards.

/// The copies.
#[derive(Default)]
pub struct Lent {
    /// Of strings and literals.
    kept: Vec<Box<[u8]>>,
    /// Of vectors that C may change: which argument, the copy.
    back: Vec<(usize, Box<[u8]>)>,
}

impl Lent {
    /// Keeps the bytes; where they are.
    pub fn keep(&mut self, bytes: Box<[u8]>) -> u64 {
        let address = bytes.as_ptr() as u64;
        self.kept.push(bytes);
        address
    }

    /// Keeps the bytes of argument `i`, which get back what C makes of them; where they are.
    pub fn keep_for(&mut self, i: usize, bytes: Box<[u8]>) -> u64 {
        let address = bytes.as_ptr() as u64;
        self.back.push((i, bytes));
        address
    }

    /// What goes back: which argument, and its bytes.
    pub fn returned(&self) -> &[(usize, Box<[u8]>)] {
        &self.back
    }
}
