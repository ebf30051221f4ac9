//! # cairn-html: HTML and XML, written so that no text is taken for markup
//!
//! ```
//! use cairn_html::{Html, add, html};
//!
//! let name = "a<b";
//! let mut out = html!("<h1>{}</h1>\n", name);
//! add!(out, "<p>{} of {:.1} %</p>\n", html!("<code>{}</code>", name), 12.34);
//! assert_eq!(out.to_string(), "<h1>a&lt;b</h1>\n<p><code>a&lt;b</code> of 12.3 %</p>\n");
//! ```
//!
//! The problem: reports, manuals and coverage are written by format strings, and one forgotten call of an escaping
//! function lets what a program is named, or says, become markup. The idea: what has been written is of a type of its
//! own ([`Html`]), and the format strings are those of [`html!`] and [`add!`], which escape each argument that is not
//! of it. Variables named in the format string would escape that, so there are none: the macros refuse them when they
//! are compiled.
//!
//! Why this is a crate: the manual is `cairn`'s, experiments are reported by `cairn-study` and C by `cairn-ptrcomp`,
//! which have nothing in common but this. It knows nothing of Scheme, and uses nothing.
//!
//! Invariants: an [`Html`] holds what constants of the program say and texts without `<`, `>`, `&` and `"`, but for
//! what was [made elsewhere](Html::made_elsewhere).

use std::fmt::{self, Display, Formatter, Write};

/// Markup.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Html(String);

impl Html {
    /// Nothing yet.
    pub fn new() -> Html {
        Html::default()
    }

    /// Markup that some other library has made, and answers for: a picture.
    pub fn made_elsewhere(markup: String) -> Html {
        Html(markup)
    }

    /// Was nothing written?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What [`add!`] stands for.
    #[doc(hidden)]
    pub fn write(&mut self, what: fmt::Arguments) {
        self.0.write_fmt(what).expect("a string takes everything");
    }
}

impl Display for Html {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Html> for String {
    fn from(html: Html) -> String {
        html.0
    }
}

/// What may stand for `{}` in a format string.
pub trait Argument {
    /// Writes it as markup.
    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

impl Argument for Html {
    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Argument for str {
    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut rest = self;
        while let Some(at) = rest.find(['&', '<', '>', '"']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                _ => "&quot;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

impl Argument for String {
    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result {
        str::show(self, f)
    }
}

impl<T: Argument + ?Sized> Argument for &T {
    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result {
        T::show(self, f)
    }
}

impl<T: Argument> Argument for Option<T> {
    /// `None` is nothing.
    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |x| x.show(f))
    }
}

/// Numbers need no escapes; `{:.1}` says how they are shown.
macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Argument for $number {
            fn show(&self, f: &mut Formatter<'_>) -> fmt::Result {
                Display::fmt(self, f)
            }
        })*
    };
}

numbers! { u32 u64 usize i64 f64 }

/// An argument as the macros hand it on.
#[doc(hidden)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

impl<T: Argument + ?Sized> Display for Shown<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.show(f)
    }
}

/// Names the format string no variable?
#[doc(hidden)]
pub const fn names_nothing(format: &str) -> bool {
    let bytes = format.as_bytes();
    let mut i = 0;
    while i + 1 < bytes.len() {
        if bytes[i] == b'{' {
            match bytes[i + 1] {
                b'{' => i += 1,
                b'}' | b':' => {}
                _ => return false,
            }
        }
        i += 1;
    }
    true
}

/// Markup of a format string and its arguments, those that are not [`Html`] escaped.
#[macro_export]
macro_rules! html {
    ($format:literal $(, $argument:expr)* $(,)?) => {{
        let mut out = $crate::Html::new();
        $crate::add!(out, $format $(, $argument)*);
        out
    }};
}

/// Adds markup to some: `add!(out, "<p>{}</p>\n", text)`. See [`html!`].
#[macro_export]
macro_rules! add {
    ($out:expr, $format:literal $(, $argument:expr)* $(,)?) => {{
        const { assert!($crate::names_nothing($format), "variables in the format string are not escaped") };
        $out.write(format_args!($format $(, $crate::Shown(&$argument))*))
    }};
}

/// A page that needs nothing else, and that phones show at their own width.
pub fn document(title: &str, style: &'static str, body: &Html) -> String {
    let style = Html::made_elsewhere(style.to_string());
    let page = html!(
        "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>{}</style>\n{}</html>\n",
        title,
        style,
        body
    );
    page.into()
}

/// Text for XML, in attributes too, where line breaks would become blanks. Characters that XML does not have become
/// U+FFFD.
pub fn xml(text: &str) -> Html {
    let mut out = Html::new();
    for piece in text.split_inclusive(|c: char| !is_of_xml(c)) {
        let odd = piece.chars().next_back().filter(|c| !is_of_xml(*c));
        add!(out, "{}", &piece[..piece.len() - odd.map_or(0, char::len_utf8)]);
        match odd {
            Some('\n') => out.0 += "&#10;",
            Some('\t') => out.0 += "&#9;",
            Some(_) => out.0.push('\u{fffd}'),
            None => {}
        }
    }
    out
}

/// May the character stand in an attribute of XML as it is, but for escapes?
fn is_of_xml(c: char) -> bool {
    matches!(c, '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::{Html, document, names_nothing, xml};

    #[test]
    fn arguments_are_escaped_once() {
        let text = "<a b=\"c\">&";
        let inner = html!("<i title=\"{}\">{}</i>", text, text.to_string());
        let escaped = "&lt;a b=&quot;c&quot;&gt;&amp;";
        assert_eq!(inner.to_string(), format!("<i title=\"{escaped}\">{escaped}</i>"));
        let mut out = html!("{}|", inner);
        add!(out, "{:>5}|{:.1}|{}|{}", 42usize, 2.0 / 3.0, Some("<"), None::<Html>);
        assert_eq!(out.to_string(), format!("{inner}|   42|0.7|&lt;|"));
        assert!(Html::new().is_empty() && !out.is_empty());
    }

    #[test]
    fn format_strings_name_no_variables() {
        for format in ["", "{}", "a{:>5}b", "{{x}}{}", "{{{}}}", "{"] {
            assert!(names_nothing(format), "{format}");
        }
        for format in ["{x}", "a{0}", "{}{x:>5}", "{{{x}}}"] {
            assert!(!names_nothing(format), "{format}");
        }
    }

    #[test]
    fn documents_escape_their_title_only() {
        let page = document("a<b", "a > b { }", &html!("<p>{}\n", "x"));
        for part in ["<title>a&lt;b</title>", "<style>a > b { }</style>\n<p>x\n</html>\n"] {
            assert!(page.contains(part), "{page}");
        }
    }

    #[test]
    fn xml_has_no_control_characters() {
        let escaped = "&lt;a b=&quot;c&quot;&gt;&amp;&#10;\u{fffd}λ\u{fffd}&#9;";
        assert_eq!(xml("<a b=\"c\">&\n\u{1}λ\u{fffe}\t").to_string(), escaped);
        assert_eq!(xml("").to_string(), "");
    }
}
