//! `cairn build --shared`: object code → a shared library, and a header for C beside it.
//!
//! The functions that C calls are C: they put their arguments into words and hand them to the runtime
//! ([`cairn_rt::library`]), so a C compiler decides how arguments travel. The runtime is part of the library, and none
//! of its symbols can be seen from outside: several such libraries in a process have nothing in common.
//!
//! ```text
//! (c-export int "add" (int int) +)    int add(int a, int b) {
//!                                       words[1] = a; words[2] = b; return call(&library, 0, words);
//!                                     }
//! ```
//!
//! What the words are is said in `cairn-rt/src/c/exports.rs`: the first one is where a structure goes that is the
//! result, or the length of a vector.
//!
//! The loader writes nothing into the code (`-z text`): the descriptors that lie there have distances for addresses.
//! The library is never unloaded: compiled code is entered once (`-z nodelete`). GMP's archive, as distributions have
//! it, refers to C's `stderr` as only executables can; so here that is a variable of the library (`--wrap`).

use crate::compiled::{Compiled, Kind};
use crate::error::Error;
use crate::link::{Link, linked, runtime_library};
use crate::options::CompileOptions;
use crate::unfinished::{Unfinished, write_whole};
use cairn_layout::c::VectorType;
use cairn_layout::collector::BDW;
use cairn_layout::object::numeric::NumericKind;
use cairn_rt::describe_io;
use cairn_syntax::{CDeclared, CExport, CStruct};
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
    let structures = structures(exports)?;
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
    linked(program, &names.functions(&structures, exports, runtime), &[], &archive, &options, output)?;
    let header = output.with_file_name(format!("{}.h", names.stem));
    Ok(write_whole(&header, names.header(&structures, exports).as_bytes())
        .map_err(|e| cannot_write(&header, e))?)
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

    fn header(&self, structures: &[&CStruct], exports: &[CExport]) -> String {
        let (prefix, file) = (&self.prefix, &self.file);
        let [start, error, close] = self.own();
        let guard = format!("{}_H", prefix.to_ascii_uppercase());
        let mut text = format!(
            "/* {file}: Scheme procedures as functions of C. Made by `cairn build --shared`. */\n\
             #ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\
             #include <sys/types.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
        );
        for s in structures {
            text += &definition(s);
        }
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

    /// The functions, and the structures that they pass. `runtime` is in the names of those that they call.
    fn functions(&self, structures: &[&CStruct], exports: &[CExport], runtime: &str) -> String {
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
        for s in structures {
            text += &definition(s);
        }
        for (number, e) in exports.iter().enumerate() {
            text += &function(number, e, runtime);
        }
        text
    }
}

/// The function of an exported procedure.
fn function(number: usize, e: &CExport, runtime: &str) -> String {
    let (mut passed, mut count) = (String::new(), 1);
    for (i, t) in e.types[1..].iter().enumerate() {
        let _ = match t {
            CDeclared::Struct(_) => writeln!(passed, "  words[{count}] = (uintptr_t) &a{i};"),
            CDeclared::Vector(_) => {
                count += 1;
                writeln!(passed, "  words[{}] = (uintptr_t) a{i};\n  words[{count}] = n{i};", count - 1)
            }
            _ => writeln!(passed, "  memcpy(&words[{count}], &a{i}, sizeof a{i});"),
        };
        count += 1;
    }
    let call = format!("cairn_{runtime}_library_call(&library, {number}, words)");
    let t = declared(&e.types[0], "");
    let mut body = String::new();
    let _ = match &e.types[0] {
        CDeclared::Named(t) if t == "void" => writeln!(body, "{passed}  {call};"),
        CDeclared::Struct(_) => writeln!(
            body,
            "  {t} result;\n  memset(&result, 0, sizeof result);\n  words[0] = (uintptr_t) &result;\n{passed}  \
             {call};\n  return result;"
        ),
        CDeclared::Vector(_) => writeln!(
            body,
            "  size_t length = 0;\n  words[0] = (uintptr_t) &length;\n{passed}  {t}result = ({t}) (uintptr_t) \
             {call};\n  if (count) *count = length;\n  return result;"
        ),
        _ => writeln!(
            body,
            "{passed}  uint64_t word = {call};\n  {t} result;\n  memcpy(&result, &word, sizeof result);\n  return \
             result;"
        ),
    };
    format!("{} {{\n  uint64_t words[{count}] = {{ 0 }};\n{body}}}\n", prototype(e, true))
}

/// The structures of the functions, each behind those that are in it; an error if two have one name.
fn structures(exports: &[CExport]) -> Result<Vec<&CStruct>, Error> {
    fn visit<'a>(t: &'a CDeclared, all: &mut Vec<&'a CStruct>) -> Result<(), Error> {
        match t {
            CDeclared::Named(_) | CDeclared::Vector(_) => Ok(()),
            CDeclared::Function(types) => types.iter().try_for_each(|t| visit(t, all)),
            CDeclared::Struct(s) => {
                s.fields.iter().try_for_each(|(_, t, _)| visit(t, all))?;
                match all.iter().find(|other| other.name == s.name) {
                    Some(other) if **other == *s => {}
                    Some(_) => {
                        return Err(Error::Other(format!(
                            "C would have two structures called {}\nhelp: one of them needs another name in its \
                             define-c-struct",
                            s.name
                        )));
                    }
                    None => all.push(s),
                }
                Ok(())
            }
        }
    }
    let mut all = Vec::new();
    exports.iter().flat_map(|e| &e.types).try_for_each(|t| visit(t, &mut all))?;
    Ok(all)
}

/// The definition of a structure.
fn definition(s: &CStruct) -> String {
    let mut text = format!("struct {} {{\n", s.name);
    for (name, t, length) in &s.fields {
        let length = length.map_or(String::new(), |n| format!("[{n}]"));
        let _ = writeln!(text, "  {};", declared(t, &format!("{name}{length}")));
    }
    text + "};\n\n"
}

/// The declaration of a function. `named`: its parameters have names.
fn prototype(e: &CExport, named: bool) -> String {
    let mut parameters = Vec::new();
    for (i, t) in e.types[1..].iter().enumerate() {
        let name = |letter: &str| if named { format!("{letter}{i}") } else { String::new() };
        parameters.push(declared(t, &name("a")));
        if let CDeclared::Vector(_) = t {
            parameters.push(format!("size_t {}", name("n")).trim_end().into());
        }
    }
    if let CDeclared::Vector(_) = &e.types[0] {
        parameters.push(format!("size_t *{}", if named { "count" } else { "" }));
    }
    declared(&e.types[0], &format!("{}({})", e.name, list(parameters)))
}

fn list(parameters: Vec<String>) -> String {
    if parameters.is_empty() { "void".into() } else { parameters.join(", ") }
}

/// The declaration of something of a type; of its type alone, if the name is empty.
fn declared(t: &CDeclared, name: &str) -> String {
    let t = match t {
        CDeclared::Named(t) => c_type(t),
        CDeclared::Vector(VectorType { kind, constant }) => {
            format!("{}{} *", if *constant { "const " } else { "" }, element(*kind))
        }
        CDeclared::Struct(s) => format!("struct {}", s.name),
        CDeclared::Function(types) => {
            let parameters = list(types[1..].iter().map(|t| declared(t, "")).collect());
            return declared(&types[0], &format!("(*{name})({parameters})"));
        }
    };
    let space = if t.ends_with('*') || name.is_empty() { "" } else { " " };
    format!("{t}{space}{name}")
}

/// The type of the elements of a vector in C.
fn element(kind: NumericKind) -> String {
    match (kind, kind.name()) {
        (NumericKind::F32, _) => "float".into(),
        (NumericKind::F64, _) => "double".into(),
        (_, name) => format!("{}int{}_t", if name.starts_with('u') { "u" } else { "" }, &name[1..]),
    }
}

/// A type of `(cairn c)` in C.
fn c_type(name: &str) -> String {
    match name {
        "string" => "const char *".into(),
        // a vector is an argument of functions that C gives
        "pointer" | "bytevector" => "void *".into(),
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
        let named = |names: &[&str]| names.iter().map(|n| CDeclared::Named(n.to_string())).collect::<Vec<_>>();
        let prototype = |types: Vec<CDeclared>, named| prototype(&CExport { name: "f".into(), types }, named);
        let types = named(&["void", "string", "unsigned-long", "int8", "size_t", "pointer"]);
        assert_eq!(prototype(types, false), "void f(const char *, unsigned long, int8_t, size_t, void *)");
        assert_eq!(prototype(named(&["string"]), true), "const char *f(void)");
        let point =
            CStruct { name: "point".into(), fields: vec![("x".into(), named(&["int"])[0].clone(), Some(3))] };
        let point = CDeclared::Struct(point);
        let given =
            CDeclared::Function(vec![point.clone(), CDeclared::Function(named(&["string", "bytevector"]))]);
        let vector = |constant| CDeclared::Vector(VectorType { kind: NumericKind::F64, constant });
        assert_eq!(
            prototype(vec![vector(true), vector(false), given.clone(), point.clone()], true),
            "const double *f(double *a0, size_t n0, struct point (*a1)(const char *(*)(void *)), struct point a2, \
             size_t *count)"
        );
        assert_eq!(
            prototype(vec![vector(true), vector(true)], false),
            "const double *f(const double *, size_t, size_t *)"
        );
        let outer = CStruct { name: "outer".into(), fields: vec![("p".into(), point.clone(), None)] };
        let export = CExport { name: "f".into(), types: vec![given, CDeclared::Struct(outer)] };
        let all = structures(std::slice::from_ref(&export)).unwrap();
        assert_eq!(all.iter().map(|s| &*s.name).collect::<Vec<_>>(), ["point", "outer"]);
        assert_eq!(definition(all[0]), "struct point {\n  int x[3];\n};\n\n");
        assert_eq!(definition(all[1]), "struct outer {\n  struct point p;\n};\n\n");
    }

    #[test]
    fn every_kind_of_elements_has_a_type() {
        for (kind, _) in NumericKind::ALL.iter().filter(|(kind, _)| !kind.is_complex()) {
            let t = element(*kind);
            let bits =
                |t: &str| t.trim_start_matches('u').trim_start_matches("int").trim_end_matches("_t").parse();
            let bytes = match &*t {
                "float" => 4,
                "double" => 8,
                t => bits(t).unwrap_or(0) / 8,
            };
            assert_eq!(bytes, kind.bytes(), "{t}");
        }
    }

    #[test]
    fn every_type_has_a_name_in_c() {
        for (name, _) in CType::NAMES {
            let c = c_type(name);
            assert!(c.chars().all(|c| c.is_ascii_alphanumeric() || " _*".contains(c)), "{name}: {c}");
        }
    }
}
