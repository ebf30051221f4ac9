//! `cairn build --shared`: object code → a shared library, and a header for C beside it.
//!
//! The functions that C calls are C: they put their arguments into words and hand them to the runtime
//! ([`cairn_rt::library`]), so a C compiler decides how arguments travel. The runtime is part of the library, and none
//! of its symbols can be seen from outside: several such libraries in a process have nothing in common.
//!
//! ```text
//! (c-export int "add" (int int) +)    int32_t add(int32_t a, int32_t b) {
//!                                       words[0] = a; words[1] = b; return call(&library, 0, words);
//!                                     }
//! ```
//!
//! The loader writes nothing into the code (`-z text`): the descriptors that lie there have distances for addresses. The
//! library is never unloaded: compiled code is entered once (`-z nodelete`). GMP's archive, as distributions have it, refers to C's `stderr` as only executables can; so here
//! that is a variable of the library (`--wrap`).

use crate::CompileOptions;
use crate::Error;
use crate::compiler::{Compiled, Kind};
use crate::link::{Link, linked, runtime_library};
use crate::unfinished::{Unfinished, write_whole};
use cairn_layout::collector::BDW;
use cairn_rt::describe_io;
use cairn_syntax::CExport;
use std::fmt::Write;
use std::path::Path;

/// Can there be such a library?
pub(crate) fn check(options: &CompileOptions) -> Result<(), Error> {
    match options.gc.name == BDW.name {
        false => Ok(()),
        true => Err(Error::Other(format!(
            "a shared library cannot have --gc={}: it is one collector for the whole process, and looks for references \
             on stacks that are not this library's\nhelp: --gc=marksweep moves nothing either",
            options.gc.name
        ))),
    }
}

/// Makes the library and its header.
pub(crate) fn build(program: &Compiled, debug: bool, output: &Path) -> Result<(), Error> {
    let exports = &program.exports;
    if exports.is_empty() {
        let message = "the program exports nothing to C\nhelp: (c-export result \"name\" (type …) procedure), of \
                       (cairn c), says what a shared library is for";
        return Err(Error::Other(message.into()));
    }
    let names = Names::of(output)?;
    if let Some(e) = exports.iter().find(|e| names.own().contains(&e.name)) {
        return Err(Error::Other(format!(
            "the library has a function {} of its own\nhelp: export under another name, or give the library another \
             one with -o",
            e.name
        )));
    }
    // The library's own code would call the program's.
    if let Some(e) = exports.iter().find(|e| cairn_rt::is_taken(&e.name)) {
        return Err(Error::Other(format!(
            "C's own library has a function {}\nhelp: export under another name, such as {}_{}",
            e.name, names.prefix, e.name
        )));
    }
    let (link, runtime) = match program.kind {
        Kind::Whole => (Link::Runtime, "rt"),
        Kind::Evaluating | Kind::OnLibrary => (Link::Evaluating, "eval"),
    };
    let archive = runtime_library(link.archives())?;
    let cannot_write =
        |path: &Path, e: std::io::Error| format!("cannot write {}: {}", path.display(), describe_io(&e));
    let map = Unfinished::beside(output, "map");
    std::fs::write(map.path(), names.version_script(exports)).map_err(|e| cannot_write(map.path(), e))?;
    let script = format!("-Wl,--version-script={}", map.path().display());
    let soname = format!("-Wl,-soname,{}", names.file);
    let mut options = vec!["-shared", "-fPIC", "-Wl,-Bsymbolic", "-Wl,-z,text", "-Wl,-z,nodelete"];
    options.extend(["-Wl,--wrap=stderr", &script, &soname]);
    options.extend((!debug).then_some("-Wl,--strip-debug"));
    linked(program, &names.functions(exports, runtime), &[], &archive, &options, output)?;
    let header = output.with_file_name(format!("{}.h", names.stem));
    Ok(write_whole(&header, names.header(exports).as_bytes()).map_err(|e| cannot_write(&header, e))?)
}

/// What a library is called.
struct Names {
    /// `libgeometry.so`
    file: String,
    /// `geometry`: the name of the header.
    stem: String,
    /// The stem as a name of C.
    prefix: String,
}

impl Names {
    fn of(output: &Path) -> Result<Names, Error> {
        let file = output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = file.split(".so").next().unwrap_or_default();
        let stem = stem.strip_prefix("lib").unwrap_or(stem).to_string();
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut prefix: String = stem.chars().map(letter).collect();
        if prefix.starts_with(|c: char| c.is_ascii_digit()) {
            prefix.insert(0, '_');
        }
        if prefix.is_empty() {
            return Err(Error::Other(format!("{file} is no name for a shared library; libNAME.so is one")));
        }
        Ok(Names { file, stem, prefix })
    }

    /// The functions that every library has.
    fn own(&self) -> [String; 3] {
        ["start", "error", "close"].map(|name| format!("{}_{name}", self.prefix))
    }

    /// Which symbols can be seen.
    fn version_script(&self, exports: &[CExport]) -> String {
        let all = exports.iter().map(|e| e.name.clone()).chain(self.own());
        format!("{{ global: {}; local: *; }};\n", all.collect::<Vec<_>>().join("; "))
    }

    fn header(&self, exports: &[CExport]) -> String {
        let (prefix, file) = (&self.prefix, &self.file);
        let [start, error, close] = self.own();
        let guard = format!("{}_H", prefix.to_ascii_uppercase());
        let mut text = format!(
            "/* {file}: Scheme procedures as functions of C. Made by `cairn build --shared`. */\n\
             #ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\
             #include <sys/types.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
        );
        for e in exports {
            let _ = writeln!(text, "{};", prototype(e, false));
        }
        let _ = write!(
            text,
            "\n/* What went wrong in this thread's last call, which has returned 0 then; or NULL. Such a text, and\n   \
             a string that a function has returned, is there until this thread has got 16 others. */\n\
             const char *{error}(void);\n\n\
             /* Starts the library, which the first call does otherwise: 0, or -1 after an error. */\n\
             int {start}(void);\n\n\
             /* Ends the library and frees its memory; whatever is called then is an error. 0, or -1 while it is in \
             use. */\nint {close}(void);\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
        );
        text
    }

    /// The functions. `runtime` is in the names of those that they call.
    fn functions(&self, exports: &[CExport], runtime: &str) -> String {
        let [start, error, close] = self.own();
        let file = self.file.replace(['\\', '"'], "_");
        let mut text = format!(
            "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\
             #include <sys/types.h>\n\
             struct library {{ const char *name; const void *module; const char *code, *code_end; }};\n\
             extern const char cairn_module[], __ehdr_start[], etext[];\n\
             extern uint64_t cairn_{runtime}_library_call(const struct library *, size_t, const uint64_t *);\n\
             extern int cairn_{runtime}_library_start(const struct library *);\n\
             extern const char *cairn_rt_library_error(void);\n\
             extern int cairn_rt_library_close(bool at_exit);\n\
             static const struct library library = {{ \"{file}\", cairn_module, __ehdr_start, etext }};\n\
             int {start}(void) {{ return cairn_{runtime}_library_start(&library); }}\n\
             const char *{error}(void) {{ return cairn_rt_library_error(); }}\n\
             int {close}(void) {{ return cairn_rt_library_close(false); }}\n\
             extern void *__real_stderr;\nvoid *__wrap_stderr;\n\
             __attribute__((constructor)) static void at_start(void) {{ __wrap_stderr = __real_stderr; }}\n\
             __attribute__((destructor)) static void at_exit(void) {{ cairn_rt_library_close(true); }}\n"
        );
        for (number, e) in exports.iter().enumerate() {
            let count = e.types.len() - 1;
            let _ = writeln!(text, "{} {{\n  uint64_t words[{}] = {{ 0 }};", prototype(e, true), count.max(1));
            for i in 0..count {
                let _ = writeln!(text, "  memcpy(&words[{i}], &a{i}, sizeof a{i});");
            }
            let call = format!("cairn_{runtime}_library_call(&library, {number}, words)");
            let _ = match &*e.types[0] {
                "void" => writeln!(text, "  {call};\n}}"),
                t => writeln!(
                    text,
                    "  uint64_t word = {call};\n  {} result;\n  memcpy(&result, &word, sizeof result);\n  return \
                     result;\n}}",
                    c_type(t)
                ),
            };
        }
        text
    }
}

/// The declaration of a function. `named`: its parameters have names.
fn prototype(e: &CExport, named: bool) -> String {
    let declared = |t: &str, name: &str| {
        let t = c_type(t);
        let space = if t.ends_with('*') || name.is_empty() { "" } else { " " };
        format!("{t}{space}{name}")
    };
    let parameter = |(i, t): (usize, &String)| declared(t, &if named { format!("a{i}") } else { String::new() });
    let parameters: Vec<String> = e.types[1..].iter().enumerate().map(parameter).collect();
    let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
    format!("{}({parameters})", declared(&e.types[0], &e.name))
}

/// A type of `(cairn c)` in C.
fn c_type(name: &str) -> String {
    match name {
        "string" => "const char *".into(),
        "pointer" => "void *".into(),
        _ if name.ends_with(|c: char| c.is_ascii_digit()) => format!("{name}_t"),
        _ => name.replace('-', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_layout::c::CType;

    #[test]
    fn names_and_prototypes() {
        let names = Names::of(Path::new("out/libnear-by.so.1")).unwrap();
        assert_eq!((&*names.stem, &*names.prefix, &*names.file), ("near-by", "near_by", "libnear-by.so.1"));
        assert!(Names::of(Path::new("lib.so")).is_err());
        let types = ["void", "string", "unsigned-long", "int8", "size_t", "pointer"].map(String::from).to_vec();
        let export = CExport { name: "f".into(), types };
        assert_eq!(prototype(&export, false), "void f(const char *, unsigned long, int8_t, size_t, void *)");
        let export = CExport { name: "g".into(), types: vec!["string".into()] };
        assert_eq!(prototype(&export, true), "const char *g(void)");
    }

    #[test]
    fn every_type_has_a_name_in_c() {
        for (name, _) in CType::NAMES {
            let c = c_type(name);
            assert!(c.chars().all(|c| c.is_ascii_alphanumeric() || " _*".contains(c)), "{name}: {c}");
        }
    }
}
