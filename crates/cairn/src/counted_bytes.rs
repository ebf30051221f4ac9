//! Files of numbers and counted bytes.

/// Writes numbers and counted bytes.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn count(&mut self, n: usize) {
        self.0.extend((n as u64).to_le_bytes());
    }
    pub(crate) fn hash(&mut self, hash: u128) {
        self.0.extend(hash.to_le_bytes());
    }
    pub(crate) fn put(&mut self, bytes: impl AsRef<[u8]>) {
        self.count(bytes.as_ref().len());
        self.0.extend(bytes.as_ref());
    }
}

/// Reads what a [`Writer`] wrote; `None` when it is not that.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }
    pub(crate) fn count(&mut self) -> Option<usize> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?) as usize)
    }
    pub(crate) fn hash(&mut self) -> Option<u128> {
        Some(u128::from_le_bytes(self.take(16)?.try_into().ok()?))
    }
    pub(crate) fn get(&mut self) -> Option<&'a [u8]> {
        let n = self.count()?;
        self.take(n)
    }
}
