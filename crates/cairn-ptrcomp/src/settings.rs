//! Cairn's own options, which clang doesn't see: each also is an environment variable, for `make`.

use std::ffi::{OsStr, OsString};

/// What is done with data structures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Nothing: what clang does.
    Off,
    /// Pools, with pointers as they are.
    Pool,
    /// Pools, and pointers in them that are indices of [`Bits`].
    Static,
    /// Pools of objects of one size, whose pointers are indices until they no longer suffice.
    Dynamic,
    /// Each pool by itself: `Static` where it is proven to fit, `Dynamic` where not.
    Auto,
}

/// Bits of a small pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bits {
    Eight,
    Sixteen,
    ThirtyTwo,
}

impl Bits {
    pub(crate) fn count(self) -> u64 {
        match self {
            Bits::Eight => 8,
            Bits::Sixteen => 16,
            Bits::ThirtyTwo => 32,
        }
    }
    /// Bytes of a small pointer.
    pub(crate) fn bytes(self) -> u64 {
        self.count() / 8
    }
    /// The bytes that an index counts by, a power of two: indices of 32 bits tell every byte of a pool, shorter ones
    /// every fourth, to which all objects of pools are aligned.
    pub(crate) fn unit(self) -> u64 {
        if self == Bits::ThirtyTwo { 1 } else { 4 }
    }
    /// Bytes of a pool that indices can tell apart.
    pub(crate) fn reach(self) -> u64 {
        self.unit() << self.count()
    }
}

/// What the report looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Report {
    None,
    /// On standard error.
    Text,
    /// A page beside the program.
    Html,
}

/// What to print instead of linking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Emit {
    Graph,
    Dot,
    Pools,
    Llvm,
}

/// The options.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub mode: Mode,
    /// The user chose the mode: it holds without `-O`, too.
    pub explicit: bool,
    pub bits: Bits,
    pub report: Report,
    pub emit: Option<Emit>,
    /// Each index is checked when the program runs.
    pub check: bool,
}

const OPTIONS: [(&str, &str); 5] = [
    ("ptrcomp", "CAIRN_PTRCOMP"),
    ("pool-bits", "CAIRN_POOL_BITS"),
    ("report", "CAIRN_REPORT"),
    ("emit", "CAIRN_EMIT"),
    ("check-indices", "CAIRN_CHECK_INDICES"),
];

impl Settings {
    /// Takes ours out of the arguments.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<(Settings, Vec<OsString>), String> {
        let mut settings = Settings {
            mode: Mode::Auto,
            explicit: false,
            bits: Bits::ThirtyTwo,
            report: Report::None,
            emit: None,
            check: false,
        };
        for (name, variable) in OPTIONS {
            if let Some(value) = std::env::var_os(variable).filter(|v| !v.is_empty()) {
                settings.set(name, &value.to_string_lossy()).map_err(|e| format!("{variable}: {e}"))?;
            }
        }
        let mut rest = vec![];
        for argument in arguments {
            match own(argument) {
                Some((name, value)) => settings.set(name, &value).map_err(|e| format!("--{name}: {e}"))?,
                None => rest.push(argument.clone()),
            }
        }
        Ok((settings, rest))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match (name, value) {
            ("ptrcomp", "off") => self.mode = Mode::Off,
            ("ptrcomp", "pool") => self.mode = Mode::Pool,
            ("ptrcomp", "static") => self.mode = Mode::Static,
            ("ptrcomp", "dynamic") => self.mode = Mode::Dynamic,
            ("ptrcomp", "auto") => self.mode = Mode::Auto,
            ("ptrcomp", _) => return Err(format!("expected auto, off, pool, static or dynamic, not `{value}`")),
            ("pool-bits", "8") => self.bits = Bits::Eight,
            ("pool-bits", "16") => self.bits = Bits::Sixteen,
            ("pool-bits", "32") => self.bits = Bits::ThirtyTwo,
            ("pool-bits", _) => return Err(format!("expected 8, 16 or 32, not `{value}`")),
            ("report", "" | "text" | "1") => self.report = Report::Text,
            ("report", "html") => self.report = Report::Html,
            ("report", _) => return Err(format!("expected text or html, not `{value}`")),
            ("emit", "graph") => self.emit = Some(Emit::Graph),
            ("emit", "dot") => self.emit = Some(Emit::Dot),
            ("emit", "pools") => self.emit = Some(Emit::Pools),
            ("emit", "llvm") => self.emit = Some(Emit::Llvm),
            ("emit", _) => return Err(format!("expected graph, dot, pools or llvm, not `{value}`")),
            _ => self.check = value != "0",
        }
        self.explicit |= name == "ptrcomp" || name == "emit";
        Ok(())
    }
}

/// The name and value, if this is an option of ours.
fn own(argument: &OsStr) -> Option<(&'static str, String)> {
    let text = argument.to_str()?.strip_prefix("--")?;
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let (name, _) = OPTIONS.into_iter().find(|o| o.0 == name)?;
    Some((name, value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<(Settings, Vec<OsString>), String> {
        Settings::parse(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn ours_are_taken_out() {
        let (settings, rest) = parse(&["-O2", "--ptrcomp=pool", "a.c", "--report"]).unwrap();
        assert_eq!(rest, ["-O2", "a.c"]);
        assert_eq!((settings.mode, settings.explicit, settings.report), (Mode::Pool, true, Report::Text));
    }

    #[test]
    fn indices_reach_as_far_as_they_have_bits() {
        let bits = |argument| parse(&[argument]).unwrap().0.bits;
        assert_eq!(bits("--pool-bits=32").reach(), 1 << 32);
        assert_eq!((bits("--pool-bits=16").reach(), bits("--pool-bits=16").bytes()), (256 << 10, 2));
        assert_eq!((bits("--pool-bits=8").reach(), bits("--pool-bits=8").bytes()), (1 << 10, 1));
    }

    #[test]
    fn a_wrong_value_is_refused() {
        assert_eq!(parse(&["--pool-bits=12"]).unwrap_err(), "--pool-bits: expected 8, 16 or 32, not `12`");
        assert_eq!(
            parse(&["--ptrcomp=all"]).unwrap_err(),
            "--ptrcomp: expected auto, off, pool, static or dynamic, not `all`"
        );
    }
}
