//! Which forms are still to be walked.

use std::collections::VecDeque;

pub(super) struct Forms {
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    /// The form being walked.
    pub(super) here: usize,
    /// It must be walked again.
    pub(super) again: bool,
}

impl Forms {
    /// An empty agenda for `count` forms.
    pub(super) fn new(count: usize) -> Forms {
        Forms { queue: VecDeque::new(), queued: vec![false; count], here: 0, again: false }
    }

    pub(super) fn enqueue(&mut self, form: usize) {
        if !std::mem::replace(&mut self.queued[form], true) {
            self.queue.push_back(form);
        }
    }

    /// A form must be walked again, perhaps this one.
    pub(super) fn touch(&mut self, form: usize) {
        if form == self.here {
            self.again = true;
        } else {
            self.enqueue(form);
        }
    }

    pub(super) fn next(&mut self) -> Option<usize> {
        let form = self.queue.pop_front()?;
        self.queued[form] = false;
        Some(form)
    }

    pub(super) fn all_walked(&self) -> bool {
        self.queue.is_empty()
    }
}
