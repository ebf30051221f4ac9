//! What profiles of processor time and of allocation are written as.
//!
//! | ending | format | read by |
//! |---|---|---|
//! | `.txt` | a table of procedures: self and total | people |
//! | `.folded` | a line for each stack, oldest frame first, and its microseconds or bytes | flamegraph.pl, inferno, speedscope |
//! | `.json` | speedscope's | speedscope |
//! | `.pb.gz`, `.pprof` | the protocol buffer of pprof, in gzip's container | pprof |
//! | `.svg` | a flame graph | browsers |
//!
//! This is linked into executables, which are small: so the container holds its bytes as they are, and flame graphs are
//! drawn by whoever has more (`Options::flame_graph`).

use super::stacks::{FrameId, PERIOD, Stacks, Unit};
use crate::json::quoted;
use crate::report::Spot;
use crate::runtime::rt;
use cairn_layout::machine::Machine;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

/// Why there is no flame graph.
pub const NO_FLAME_GRAPH: &str = "an executable writes no .svg: take .folded for inferno-flamegraph, or .json for \
                                  speedscope; or run the program by `cairn run`";

/// See the module's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A table of procedures.
    Table,
    /// A line for each stack.
    Folded,
    /// Speedscope's.
    Speedscope,
    /// Pprof's, in gzip's container.
    Pprof,
    /// SVG.
    FlameGraph,
}

impl Format {
    /// What the ending of a file's name asks for; an error for the user.
    pub fn of(file: &Path) -> Result<Format, String> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let table = [
            (".txt", Format::Table),
            (".folded", Format::Folded),
            (".json", Format::Speedscope),
            (".pb.gz", Format::Pprof),
            (".pprof", Format::Pprof),
            (".svg", Format::FlameGraph),
        ];
        let found = table.into_iter().find(|(ending, _)| name.ends_with(ending));
        found.map(|(_, format)| format).ok_or_else(|| {
            format!(
                "\"{name}\" does not say what to write; end it in .svg (flame graph), .txt (table), \
                 .json (speedscope), .pb.gz (pprof) or .folded"
            )
        })
    }
}

impl Unit {
    /// What pprof calls it, and its unit.
    fn kind(self) -> (&'static str, &'static str) {
        match self {
            Unit::Nanoseconds => ("cpu", "nanoseconds"),
            Unit::Bytes => ("alloc_space", "bytes"),
        }
    }

    /// So many are one of folded stacks.
    fn folded(self) -> u64 {
        match self {
            Unit::Nanoseconds => 1000,
            Unit::Bytes => 1,
        }
    }
}

/// The file's contents.
pub fn bytes(stacks: &Stacks, ctx: &Machine, format: Format) -> Result<Vec<u8>, String> {
    let title = rt(ctx).options.command_line.first().map_or("", String::as_str);
    Ok(match format {
        Format::Folded => stacks.folded().into_bytes(),
        Format::Table => stacks.by_procedure().into_bytes(),
        Format::Speedscope => stacks.speedscope(title).into_bytes(),
        Format::Pprof => gzip(&stacks.pprof()),
        Format::FlameGraph => match rt(ctx).options.flame_graph {
            Some(draw) => {
                let (title, unit) = match stacks.unit {
                    Unit::Nanoseconds => ("Processor time", "µs"),
                    Unit::Bytes => ("Allocation", "bytes"),
                };
                draw(&stacks.folded(), title, unit)?
            }
            None => return Err(NO_FLAME_GRAPH.into()),
        },
    })
}

impl Stacks {
    /// Stacks, the youngest frame first, and their weights, in an order that depends on nothing else.
    fn sorted(&self) -> Vec<(&[FrameId], u64)> {
        let mut stacks: Vec<(&[FrameId], u64)> = self.weights.iter().map(|(s, n)| (s.as_slice(), *n)).collect();
        stacks.sort_by(|(a, _), (b, _)| a.iter().rev().cmp(b.iter().rev()));
        stacks
    }

    /// A line for each stack.
    pub(super) fn folded(&self) -> String {
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, n) in self.sorted() {
            let frames: Vec<String> = stack.iter().rev().map(|id| label(&self.spots[*id as usize])).collect();
            *lines.entry(frames.join(";")).or_default() += n;
        }
        lines.values_mut().for_each(|n| *n /= self.unit.folded());
        lines.iter().filter(|(_, n)| **n > 0).fold(String::new(), |mut out, (line, n)| {
            let _ = writeln!(out, "{line} {n}");
            out
        })
    }

    /// Self and total time by procedure.
    pub fn by_procedure(&self) -> String {
        let all: u64 = self.weights.values().sum();
        if all == 0 {
            return "too short for a profile: there is a sample every few milliseconds\n".into();
        }
        let mut rows: HashMap<(&str, &str), (u64, u64)> = HashMap::new();
        for (stack, n) in &self.weights {
            let mut met = HashSet::new();
            for (i, id) in stack.iter().enumerate() {
                let spot = &self.spots[*id as usize];
                let key = (spot.name.as_str(), spot.path.as_str());
                let row = rows.entry(key).or_default();
                row.0 += if i == 0 { *n } else { 0 };
                row.1 += if met.insert(key) { *n } else { 0 };
            }
        }
        let mut rows: Vec<_> = rows.into_iter().filter(|((name, _), _)| *name != "…").collect();
        rows.sort_by(|(a, m), (b, n)| n.0.cmp(&m.0).then(n.1.cmp(&m.1)).then(a.cmp(b)));
        let ms = |n: u64| n as f64 / 1e6;
        let share = |n: u64| 100.0 * n as f64 / all as f64;
        let mut out = format!("{:>10} {:>6} {:>10} {:>6}  procedure\n", "self ms", "%", "total ms", "%");
        for ((name, path), (own, total)) in rows {
            let place = if path.is_empty() { String::new() } else { format!("  {path}") };
            let (a, b, c, d) = (ms(own), share(own), ms(total), share(total));
            let _ = writeln!(out, "{a:>10.0} {b:>6.1} {c:>10.0} {d:>6.1}  {name}{place}");
        }
        out
    }

    /// The file format of speedscope.app.
    pub(super) fn speedscope(&self, title: &str) -> String {
        let frames: Vec<String> = (self.spots.iter())
            .map(|s| {
                let place = if s.path.is_empty() {
                    String::new()
                } else {
                    format!(", \"file\": {}, \"line\": {}", quoted(&s.path), s.line)
                };
                format!("{{\"name\": {}{place}}}", quoted(&s.name))
            })
            .collect();
        let stacks = self.sorted();
        let samples: Vec<String> = (stacks.iter())
            .map(|(s, _)| format!("[{}]", s.iter().rev().map(u32::to_string).collect::<Vec<String>>().join(",")))
            .collect();
        let weights: Vec<String> = stacks.iter().map(|(_, n)| n.to_string()).collect();
        let end = stacks.iter().map(|(_, n)| n).sum::<u64>();
        format!(
            "{{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\": \"cairn\",\n\
             \"name\": {},\n\"shared\": {{\"frames\": [\n{}\n]}},\n\
             \"profiles\": [{{\"type\": \"sampled\",\n\"name\": {}, \
             \"unit\": \"{}\", \"startValue\": 0, \"endValue\": {end},\n\"samples\": [\n{}\n],\n\"weights\": \
             [{}]}}]}}\n",
            quoted(title),
            frames.join(",\n"),
            quoted(title),
            self.unit.kind().1,
            samples.join(",\n"),
            weights.join(",")
        )
    }

    /// The protocol buffer of pprof (`profile.proto`). A location is a frame.
    pub(super) fn pprof(&self) -> Vec<u8> {
        let mut strings = Strings::default();
        let mut out = Message::default();
        let value_type = |strings: &mut Strings, kind: &str, unit: &str| {
            let mut m = Message::default();
            m.number(1, strings.index(kind));
            m.number(2, strings.index(unit));
            m
        };
        strings.index("");
        let (kind, unit) = self.unit.kind();
        let time = value_type(&mut strings, kind, unit);
        out.message(1, &time);
        for (stack, n) in self.sorted() {
            let mut m = Message::default();
            m.packed(1, stack.iter().map(|id| u64::from(*id) + 1));
            m.packed(2, [n]);
            out.message(2, &m);
        }
        for (i, spot) in self.spots.iter().enumerate() {
            let id = i as u64 + 1;
            let (mut line, mut location, mut function) =
                (Message::default(), Message::default(), Message::default());
            line.number(1, id);
            line.number(2, spot.line as u64);
            location.number(1, id);
            location.message(4, &line);
            out.message(4, &location);
            let name = strings.index(&spot.name);
            function.number(1, id);
            function.number(2, name);
            function.number(3, name);
            function.number(4, strings.index(&spot.path));
            out.message(5, &function);
        }
        let period = value_type(&mut strings, kind, unit);
        for text in &strings.texts {
            out.bytes(6, text.as_bytes());
        }
        out.message(11, &period);
        out.number(12, if self.unit == Unit::Nanoseconds { PERIOD } else { 1 });
        out.0
    }
}

/// A frame for people: what it is and where.
fn label(spot: &Spot) -> String {
    let text = if spot.path.is_empty() {
        spot.name.clone()
    } else {
        format!("{} {}:{}", spot.name, spot.path, spot.line)
    };
    text.replace(';', ",").replace(char::is_control, " ")
}

/// The table of strings of a profile.
#[derive(Default)]
struct Strings {
    texts: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Strings {
    fn index(&mut self, text: &str) -> u64 {
        if let Some(n) = self.numbers.get(text) {
            return *n;
        }
        let n = self.texts.len() as u64;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), n);
        n
    }
}

/// A message of the protocol buffers' wire format.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn number(&mut self, field: u64, n: u64) {
        self.varint(field << 3);
        self.varint(n);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, m: &Message) {
        self.bytes(field, &m.0);
    }

    fn packed(&mut self, field: u64, numbers: impl IntoIterator<Item = u64>) {
        let mut m = Message::default();
        numbers.into_iter().for_each(|n| m.varint(n));
        self.message(field, &m);
    }
}

/// These bytes in gzip's container (RFC 1952), in blocks that are not compressed (RFC 1951).
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 0xFFFF;
    let mut out = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];
    let blocks = bytes.len().div_ceil(BLOCK).max(1);
    for i in 0..blocks {
        let block = &bytes[i * BLOCK..bytes.len().min((i + 1) * BLOCK)];
        out.push(u8::from(i + 1 == blocks));
        out.extend_from_slice(&(block.len() as u16).to_le_bytes());
        out.extend_from_slice(&(!(block.len() as u16)).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&crc32(bytes).to_le_bytes());
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, b| (0..8).fold(crc ^ u32::from(*b), |crc, _| step(crc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_say_the_format() {
        let of = |name: &str| Format::of(Path::new(name));
        assert_eq!(of("a/b.svg"), Ok(Format::FlameGraph));
        assert_eq!(of("b.pb.gz"), Ok(Format::Pprof));
        assert_eq!(of("b.json"), Ok(Format::Speedscope));
        assert!(of("b.gz").unwrap_err().contains(".pb.gz"));
        assert!(of("profile").is_err());
    }

    #[test]
    fn check_values_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        let mut m = Message::default();
        m.number(1, 150); // the example of the format's description
        assert_eq!(m.0, [0x08, 0x96, 0x01]);
        let long = vec![7u8; 70_000];
        let gz = gzip(&long);
        assert_eq!(gz.len(), 10 + 5 + 0xFFFF + 5 + (70_000 - 0xFFFF) + 8);
    }

    #[test]
    fn labels_fit_a_line_of_folded_stacks() {
        let spot = Spot { name: "a;b\n".into(), path: "x.scm".into(), line: 3 };
        assert_eq!(label(&spot), "a,b  x.scm:3");
    }
}
