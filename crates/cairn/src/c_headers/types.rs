//! Types of C, as clang writes them, to those of `(cairn c)`.
//!
//! The syntax tree has a type as text: `const char *`, `int (*)(void *, int)`, `struct point[3]`, or the name of a
//! typedef, which is followed.

use std::collections::BTreeMap;

/// What a type is for `(cairn c)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Void,
    /// A number, by its name in `(cairn c)`.
    Number(&'static str),
    /// `const char *`.
    Text,
    Pointer,
    /// A pointer to a function or a function, of this type.
    Function(String),
    /// A structure or union, by its key.
    Record(String),
    Array(Box<Type>, u64),
    /// Nothing that can be passed, and what it is.
    Other(String),
}

/// Names that types have.
#[derive(Default)]
pub(super) struct Names {
    pub(super) typedefs: BTreeMap<String, String>,
    /// Enumerations with a negative constant.
    pub(super) negative: Vec<String>,
}

const NUMBERS: [(&str, &str); 20] = [
    ("char", "char"),
    ("signed char", "signed-char"),
    ("unsigned char", "unsigned-char"),
    ("short", "short"),
    ("unsigned short", "unsigned-short"),
    ("int", "int"),
    ("unsigned int", "unsigned-int"),
    ("long", "long"),
    ("unsigned long", "unsigned-long"),
    ("long long", "long-long"),
    ("unsigned long long", "unsigned-long-long"),
    ("float", "float"),
    ("double", "double"),
    ("_Bool", "bool"),
    ("bool", "bool"),
    ("size_t", "size_t"),
    ("ssize_t", "ssize_t"),
    ("ptrdiff_t", "ptrdiff_t"),
    ("intptr_t", "intptr_t"),
    ("uintptr_t", "uintptr_t"),
];

const QUALIFIERS: [&str; 8] =
    ["const", "volatile", "restrict", "__restrict", "__restrict__", "_Nonnull", "_Nullable", "_Null_unspecified"];

/// Typedefs of typedefs beyond this are none.
const DEEPEST: usize = 100;

impl Names {
    pub(super) fn type_of(&self, text: &str) -> Type {
        self.follow(text, 0)
    }

    fn follow(&self, text: &str, depth: usize) -> Type {
        let text = text.trim();
        let other = || Type::Other(format!("`{text}`"));
        if depth > DEEPEST || text.contains("_Atomic") || text.contains("__va_list_tag") {
            return other();
        }
        if let Some(at) = text.find("(*") {
            // of an array of pointers to functions the name's place says so: (*[3])(int)
            return if text[at + 2..].starts_with('[') { other() } else { Type::Function(text.into()) };
        }
        let text = without_qualifiers_behind(text);
        if let Some(pointee) = text.strip_suffix('*') {
            return match self.follow(pointee, depth + 1) {
                Type::Number("char") if self.is_const(pointee, depth) => Type::Text,
                Type::Function(f) => Type::Function(f),
                Type::Other(t) if t.contains("__va_list_tag") => Type::Other(t),
                _ => Type::Pointer,
            };
        }
        if let Some(inner) = text.strip_suffix(']') {
            let Some((front, last)) = inner.rsplit_once('[') else { return other() };
            let (element, mut length) = (front.split('[').next().unwrap_or(front), last.parse().unwrap_or(0));
            for dimension in front[element.len()..].split(['[', ']']).filter(|d| !d.is_empty()) {
                length *= dimension.parse::<u64>().unwrap_or(0);
            }
            return match self.follow(element, depth + 1) {
                Type::Array(inner, n) => Type::Array(inner, n * length),
                t => Type::Array(t.into(), length),
            };
        }
        if text.contains('(') && !text.contains("(unnamed") && !text.contains("(anonymous") {
            return Type::Function(text.into());
        }
        let words = text.split_whitespace().filter(|w| !QUALIFIERS.contains(w)).collect::<Vec<_>>().join(" ");
        if words == "void" {
            return Type::Void;
        }
        if let Some((_, name)) = NUMBERS.iter().find(|(c, _)| *c == words) {
            return Type::Number(name);
        }
        if words.starts_with("enum ") {
            return Type::Number(if self.negative.contains(&words) { "int" } else { "unsigned-int" });
        }
        if words.starts_with("struct ") || words.starts_with("union ") {
            return Type::Record(words);
        }
        match self.typedefs.get(&words) {
            Some(meant) => self.follow(meant, depth + 1),
            None => other(),
        }
    }

    fn is_const(&self, text: &str, depth: usize) -> bool {
        depth <= DEEPEST
            && text
                .split_whitespace()
                .any(|w| w == "const" || self.typedefs.get(w).is_some_and(|meant| self.is_const(meant, depth + 1)))
    }

    /// Result and parameters of a function's type, `int (*)(void *, int)` or `int (void *, int)`; `None` of one with
    /// variable arguments, or that is too involved.
    pub(super) fn signature(&self, function: &str) -> Option<(Type, Vec<Type>)> {
        let open = function.find('(')?;
        let parameters = match function[open..].strip_prefix("(*") {
            Some(rest) => {
                let (inside, rest) = rest.split_once(')')?;
                if !inside.split_whitespace().all(|w| QUALIFIERS.contains(&w)) {
                    return None;
                }
                rest.trim().strip_prefix('(')?
            }
            None => function[open..].strip_prefix('(')?,
        };
        let mut types = Vec::new();
        let (mut level, mut from) = (0, 0);
        for (i, c) in parameters.char_indices() {
            match c {
                '(' | '[' => level += 1,
                ']' => level -= 1,
                ')' if level > 0 => level -= 1,
                ',' | ')' if level == 0 => {
                    types.push(parameters[from..i].trim());
                    from = i + 1;
                    if c == ')' {
                        break;
                    }
                }
                _ => {}
            }
        }
        if types == ["void"] || types == [""] {
            types.clear();
        }
        if types.contains(&"...") {
            return None;
        }
        Some((self.type_of(&function[..open]), types.into_iter().map(|t| self.type_of(t)).collect()))
    }
}

fn without_qualifiers_behind(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some(rest) = QUALIFIERS.iter().find_map(|q| text.strip_suffix(q))
        && (rest.ends_with(['*', ' ']))
        && rest.contains('*')
    {
        text = rest.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read() {
        let mut names = Names::default();
        for (name, meant) in [
            ("i64", "sqlite_int64"),
            ("sqlite_int64", "long long"),
            ("str", "const char *"),
            ("c", "char"),
            ("cc", "const char"),
            ("cb", "int (*)(void *, int, char **, int (*)(int, int))"),
            ("fn", "void (int)"),
            ("loop", "loop"),
            ("pt", "struct pt"),
            ("row", "int[3]"),
        ] {
            names.typedefs.insert(name.into(), meant.into());
        }
        names.negative.push("enum signed".into());
        let t = |text| names.type_of(text);
        let n = Type::Number;
        assert_eq!(t("i64"), n("long-long"));
        assert_eq!(t("const i64"), n("long-long"));
        assert_eq!(
            (t("str"), t("const c *"), t("const char *restrict"), t("cc *")),
            (Type::Text, Type::Text, Type::Text, Type::Text)
        );
        assert_eq!(
            (t("char *"), t("char *const"), t("const char **")),
            (Type::Pointer, Type::Pointer, Type::Pointer)
        );
        assert_eq!((t("void"), t("void *"), t("const void *")), (Type::Void, Type::Pointer, Type::Pointer));
        assert_eq!((t("enum a"), t("enum signed")), (n("unsigned-int"), n("int")));
        assert_eq!((t("pt"), t("struct pt *")), (Type::Record("struct pt".into()), Type::Pointer));
        assert_eq!(t("row[2][5]"), Type::Array(n("int").into(), 30));
        assert!(matches!(t("loop"), Type::Other(_)));
        assert!(matches!(t("long double"), Type::Other(_)));
        assert!(matches!(t("struct __va_list_tag *"), Type::Other(_)));
        assert!(matches!(t("fn *"), Type::Function(_)));
        let Type::Function(f) = t("cb") else { panic!() };
        let (result, parameters) = names.signature(&f).unwrap();
        assert_eq!((result, parameters.len()), (n("int"), 4));
        assert_eq!((&parameters[2], matches!(parameters[3], Type::Function(_))), (&Type::Pointer, true));
        assert_eq!(names.signature("void (void)"), Some((Type::Void, vec![])));
        assert_eq!(names.signature("int (const char *, ...)"), None);
    }
}
