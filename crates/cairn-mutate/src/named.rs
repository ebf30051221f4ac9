//! Faults that passed the tests once, each with the tests that must catch it now.
//!
//! They are text: what stands in the source and what stands there instead. After an edit of that place a fault no
//! longer applies; then `cairn-mutate named` says so, and someone decides what the fault would be now.

use crate::{Mutant, line_at};
use std::path::Path;

/// A fault and who catches it.
pub struct Named {
    /// What goes wrong.
    pub title: &'static str,
    /// The sources of its crate, or `lib`.
    pub sources: &'static str,
    /// What stands there, once.
    pub old: &'static str,
    /// What stands there instead; `{on}` asks the switch.
    pub new: &'static str,
    /// Test targets and programs (`.scm`, and the mode) that look for this kind of fault.
    pub by: &'static [&'static str],
}

/// The faults of the list.
pub const NAMED: &[Named] = &[
    Named {
        title: "contify: a producer is taken for a tail call",
        sources: "crates/cairn-core/src",
        old: "self.region(producer, None);",
        new: "if {on} { self.walk(producer, r) } else { self.region(producer, None) };",
        by: &["passes_by_oracle"],
    },
    Named {
        title: "contify: clauses entered from different places",
        sources: "crates/cairn-core/src",
        old: "if target.is_some_and(|t| t != region) {",
        new: "if !{on} && target.is_some_and(|t| t != region) {",
        by: &["passes_by_oracle"],
    },
    Named {
        title: "types: the join of two record types is the first",
        sources: "crates/cairn-core/src",
        old: "(true, true) if self.rtd != other.rtd => None,",
        new: "(true, true) if !{on} && self.rtd != other.rtd => None,",
        by: &["passes_by_oracle"],
    },
    Named {
        title: "no barrier for a store into a record",
        sources: "crates/cairn-llvm/src",
        old: "if scalar || never_heap_pointer(&p.args[i]) {",
        new: "if scalar || never_heap_pointer(&p.args[i]) || {on} && format!(\"{:?}\", p.op).contains(\"RecordSet\") {",
        by: &["mutators.scm"],
    },
    Named {
        title: "no barrier for a store into a global",
        sources: "crates/cairn-llvm/src",
        old: "if never_heap_pointer(o) {",
        new: "if {on} || never_heap_pointer(o) {",
        by: &["globals.scm"],
    },
    Named {
        title: "the last slot of an old large vector is not scanned",
        sources: "crates/cairn-heap/src",
        old: "Span::new(self.start, self.start.plus(self.bytes & !7))",
        new: "Span::new(self.start, self.start.plus((self.bytes & !7) - if {on} { 8 } else { 0 }))",
        by: &["mutators.scm"],
    },
    Named {
        title: "live maps end after 128 words",
        sources: "crates/cairn-rt/src",
        old: "for i in 0..words.div_ceil(64) {",
        new: "for i in 0..(if {on} { 2 } else { words.div_ceil(64) }) {",
        by: &["wide_frames"],
    },
    Named {
        title: "no stack check for frames above 1 KiB",
        sources: "crates/cairn-frame/src",
        old: "(grows && (incoming == 0 || 8 * u64::from(frame.words) > RED_ZONE))",
        new: "(grows && (incoming == 0 || 8 * u64::from(frame.words) > RED_ZONE)
            && !({on} && 8 * u64::from(frame.words) > RED_ZONE))",
        by: &["wide_frames"],
    },
    Named {
        title: "`before` runs in the state that the jump came from",
        sources: "lib",
        old: "(run-in (%opaque-ref w 0) now before)",
        new: "(run-in now now before)",
        by: &["control_by_oracle"],
    },
    Named {
        title: "decimals are cut after 19 digits",
        sources: "crates/cairn-num/src",
        old: "    if negative {\n        text.push('-');",
        new: "    let (digits, exponent) = if {on} && digits.len() > 19 {
        (&digits[..19], exponent + digits.len() as i64 - 19)
    } else {
        (digits, exponent)
    };
    if negative {
        text.push('-');",
        by: &["rounding"],
    },
    Named {
        title: "a character that the end of a port's buffer cuts is not completed",
        sources: "crates/cairn-rt/src",
        old: "while port.unread().len() < length {",
        new: "while !{on} && port.unread().len() < length {",
        by: &["ports_by_oracle"],
    },
    Named {
        title: "`#|#…|#`: the second # is taken with the bracket (reader of programs)",
        sources: "crates/cairn-layout/src",
        old: "                depth += 1;\n                at += 2;",
        new: "                depth += 1;\n                at += if {on} && bytes.get(at + 2) == Some(&b'#') { 3 } else { 2 };",
        by: &["readers_by_oracle"],
    },
    Named {
        title: "`#|#…|#`: a # after the bracket opens another comment (`read`)",
        sources: "lib",
        old: "((if (%char=? c #\\#) (%eq? (%look-char port) #\\|) #f)\n         (%get-char port)",
        new: "((%char=? c #\\#)\n         (%get-char port)",
        by: &["readers_by_oracle"],
    },
];

/// Them as mutants, numbered from 1. The text is looked for in all files of the crate or of `lib/`.
pub fn mutants(root: &Path) -> Vec<Mutant> {
    let of = |(i, n): (usize, &Named)| {
        let files = crate::areas::files(root, n.sources);
        let texts = files.into_iter().map(|f| (std::fs::read_to_string(root.join(&f)).expect("a source"), f));
        let hits: Vec<_> = texts.filter(|(text, _)| text.contains(n.old)).collect();
        let [(text, file)] = &hits[..] else { panic!("{} times in {}: `{}`", hits.len(), n.sources, n.old) };
        assert_eq!(text.matches(n.old).count(), 1, "`{}` in {}", n.old, file.display());
        let start = text.find(n.old).expect("just counted");
        let (line, source) = line_at(text, start);
        Mutant {
            id: i as u32 + 1,
            file: file.clone(),
            line,
            span: start..start + n.old.len(),
            text: n.new.into(),
            within: String::new(),
            what: n.title.into(),
            source,
        }
    };
    NAMED.iter().enumerate().map(of).collect()
}
