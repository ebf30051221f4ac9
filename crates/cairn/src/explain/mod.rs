//! `cairn explain`: the most common errors, each with why it happens, a program that is wrong and the program mended.
//!
//! The pages are text, `pages.md`: a name, the message, an explanation, two programs, which `tests/explain.rs` runs.

/// The pages.
const PAGES: &str = include_str!("pages.md");

/// What is told of one error.
struct Page {
    name: &'static str,
    /// The message; `…` stands for what differs.
    message: &'static str,
    /// All that follows.
    text: &'static str,
}

fn pages() -> impl Iterator<Item = Page> {
    PAGES.split("## ").skip(1).map(|page| {
        let (name, rest) = page.split_once("\n\nMessage: ").expect("a page begins with its name and message");
        let (message, text) = rest.split_once("\n\n").expect("an explanation comes after the message");
        Page { name, message, text }
    })
}

/// What there is to be explained: names and messages, one to a line.
pub fn contents() -> String {
    let width = pages().map(|p| p.name.len()).max().unwrap_or(0);
    let own = |p: &Page| if p.message == "…" { "(a message of the program's own)" } else { p.message }.to_string();
    let lines = pages().map(|p| format!("  {:width$}  {}\n", p.name, own(&p)));
    format!(
        "These errors are explained by `cairn explain NAME`, or by `cairn explain` and the message in quotation marks:\n\n{}",
        lines.collect::<String>()
    )
}

/// The explanation of the error of this name, or of the one that a report or message tells of.
pub fn explanation(what: &str) -> Option<String> {
    // of a report, its first line
    let message = what.lines().find(|line| line.starts_with("error: ")).unwrap_or(what);
    let fits = |p: &Page| message.lines().any(|line| fits(line, p.message));
    let longest = || pages().filter(|p| p.message != "…" && fits(p)).max_by_key(|p| p.message.chars().count());
    pages().find(|p| p.name == what.trim()).or_else(longest).map(|p| text(&p))
}

/// Do the parts of the message stand in this line, in their order?
fn fits(line: &str, message: &str) -> bool {
    let mut rest = line;
    message.split('…').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// A page as a terminal shows it: programs are indented.
fn text(page: &Page) -> String {
    let mut out = format!("{}\n\n", page.name);
    let mut in_program = false;
    for line in page.text.trim_end().lines() {
        match (line.starts_with("```"), in_program) {
            (true, _) => in_program = !in_program,
            (false, true) => out += &format!("    {line}\n"),
            (false, false) => out += &format!("{line}\n"),
        }
    }
    out
}
