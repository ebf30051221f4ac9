//! `--heap-profile=FILE.svg` and its like: which calls allocate, as stacks with bytes.
//!
//! The problem: what lives says nothing of what was made and is garbage already, and the line that made something
//! nothing of who wanted it. The idea: the heap makes extents short when allocation is sampled, so compiled code comes
//! to the slow path of a heap check every so often ([`cairn_heap`], `sampling.rs`). There all frames are whole.
//! The bytes of the extent that is full then are for the calls under way: code is met in proportion to the bytes it
//! takes.
//!
//! ```text
//!  heap check fails ──▶ note: the stack           ──▶ refilled: the stack += bytes of the extent that was closed
//!  a runtime call leaves its extent ──▶ stop      ──▶ next safepoint: its stack += what calls have made since
//! ```
//!
//! Objects that runtime calls make, such as strings, are counted with the next safepoint. Collectors without short
//! extents would be sampled too seldom. Programs that are not profiled pay a test on slow paths.

use crate::machine::collect::NO_SITE;
use crate::machine::stop_word;
use crate::runtime::{Profiler, rt};
use crate::time_profile::formats::{self, Format};
use crate::time_profile::stacks::{FrameId, Stacks, Unit};
use cairn_layout::Value;
use cairn_layout::code::Site;
use cairn_layout::machine::{Machine, stop as reason};
use std::path::Path;

/// Bytes between samples: reading all frames takes longer than making a few kilobytes.
pub const INTERVAL: u64 = 128 << 10;

/// See the module's header.
pub struct AllocationProfile {
    format: Format,
    stacks: Stacks,
    /// What had been allocated when it was counted last.
    counted: u64,
    /// The calls under way at the last heap check.
    noted: Vec<FrameId>,
}

impl AllocationProfile {
    /// If the name of the file asks for stacks.
    pub fn wanted(file: &Path) -> Option<AllocationProfile> {
        let name = file.file_name()?.to_string_lossy();
        let format = match Format::of(file).ok()? {
            Format::Speedscope if name.ends_with(".speedscope.json") => Format::Speedscope,
            Format::Table | Format::Speedscope => return None,
            format => format,
        };
        Some(AllocationProfile { format, stacks: Stacks::new(Unit::Bytes), counted: 0, noted: Vec::new() })
    }

    /// What has been allocated since it was counted last is for these calls.
    fn count(&mut self, ctx: &mut Machine, stack: Vec<FrameId>) {
        let now = rt(ctx).heap.stats().allocated;
        self.stacks.add(stack, now - self.counted);
        self.counted = now;
    }
}

impl Profiler for AllocationProfile {
    fn note(&mut self, ctx: &mut Machine) {
        let site = Site(Value(ctx.allocation_site).as_fixnum() as u64);
        self.noted = self.stacks.at_site(ctx, site);
        ctx.allocation_site = NO_SITE;
    }

    fn refilled(&mut self, ctx: &mut Machine) {
        let stack = self.noted.clone();
        self.count(ctx, stack);
    }

    fn called(&mut self, ctx: &mut Machine) {
        // SAFETY: `ctx` is a reference, so the machine is alive.
        unsafe { stop_word::request(ctx, reason::PROFILE) }
    }

    fn stopped(&mut self, ctx: &mut Machine) {
        let stack = self.stacks.at_safepoint(ctx);
        self.count(ctx, stack);
    }

    fn collected(&mut self, ctx: &mut Machine) {
        self.refilled(ctx);
    }

    fn report(&mut self, ctx: &mut Machine, _frames: bool) -> Result<Vec<u8>, String> {
        if !rt(ctx).heap.is_sampling() {
            return Err("which calls allocate is known with --gc=gen only".into());
        }
        formats::bytes(&self.stacks, ctx, self.format)
    }
}
