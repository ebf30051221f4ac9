//! Long data over several lines, as `,pp` shows them.
//!
//! What fits on a line stays on it. A form that does not is broken behind what belongs to its first line (the name and
//! parameters of a definition, the test of an `if`), a list of atoms where lines are full, any other list behind each
//! element. The columns then are those of `cairn fmt`.

use cairn_layout::lexeme::{self, Kind};

/// Columns of a line.
const WIDTH: usize = 79;

/// How many operands of a form stay on its first line.
const ON_FIRST_LINE: &[(&str, usize)] = &[
    ("begin", 0),
    ("case", 1),
    ("define", 1),
    ("define-record-type", 1),
    ("define-syntax", 1),
    ("guard", 1),
    ("if", 1),
    ("lambda", 1),
    ("let", 1),
    ("let*", 1),
    ("letrec", 1),
    ("letrec*", 1),
    ("parameterize", 1),
    ("set!", 1),
    ("unless", 1),
    ("when", 1),
];

/// A piece of text: an atom, or what stands between two parentheses.
enum Piece {
    Atom(String),
    /// Everything up to and with the opening parenthesis, then the elements.
    List(String, Vec<Piece>),
}

impl Piece {
    fn flat(&self) -> String {
        match self {
            Piece::Atom(text) => text.clone(),
            Piece::List(open, items) => {
                let items: Vec<String> = items.iter().map(Piece::flat).collect();
                format!("{open}{})", items.join(" "))
            }
        }
    }

    fn is_atom(&self) -> bool {
        matches!(self, Piece::Atom(_))
    }

    /// The text from this column on, as lines.
    fn lines(&self, column: usize, out: &mut String) {
        let flat = self.flat();
        let Piece::List(open, items) = self else { return out.push_str(&flat) };
        if column + flat.chars().count() <= WIDTH {
            return out.push_str(&flat);
        }
        out.push_str(open);
        let inner = column + open.chars().count();
        let head = items.first().and_then(|x| if let Piece::Atom(name) = x { Some(&**name) } else { None });
        let form = head.and_then(|h| ON_FIRST_LINE.iter().find(|(name, _)| *name == h));
        if items.iter().all(Piece::is_atom) {
            fill(items, inner, out);
        } else {
            // a named `let` has its name there, too
            let named = form.is_some() && head == Some("let") && items.get(1).is_some_and(Piece::is_atom);
            let first = form.map_or(0, |(_, n)| n + usize::from(named));
            let body = match head {
                Some("if") => inner + "if ".len(), // below the test
                _ if form.is_some() => column + 2,
                _ => inner,
            };
            let mut at = inner;
            for (i, item) in items.iter().enumerate() {
                if i > 0 && i <= first {
                    out.push(' ');
                    at += 1;
                } else if i > 0 {
                    out.push('\n');
                    out.push_str(&" ".repeat(body));
                    at = body;
                }
                item.lines(at, out);
                at += item.flat().chars().count();
            }
        }
        out.push(')');
    }
}

/// Atoms, as many on a line as there is room for.
fn fill(items: &[Piece], column: usize, out: &mut String) {
    let mut at = column;
    for (i, item) in items.iter().enumerate() {
        let text = item.flat();
        let width = text.chars().count();
        if i > 0 && at + 1 + width > WIDTH - 1 {
            out.push('\n');
            out.push_str(&" ".repeat(column));
            at = column;
        } else if i > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(&text);
        at += width;
    }
}

/// The pieces of a text up to the parenthesis that ends them.
fn pieces(tokens: &mut dyn Iterator<Item = (Kind, String)>) -> Vec<Piece> {
    let mut found = Vec::new();
    // what stands before a datum: quotes, the beginning of a vector
    let mut before = String::new();
    while let Some((kind, text)) = tokens.next() {
        match kind {
            Kind::Close => break,
            Kind::Open => {
                let open = std::mem::take(&mut before) + &text;
                found.push(Piece::List(open, pieces(tokens)));
            }
            Kind::Prefix => before += &text,
            _ => found.push(Piece::Atom(std::mem::take(&mut before) + &text)),
        }
    }
    found
}

/// A datum as `write` has written it, over several lines if it is long.
pub(super) fn pretty(text: &str) -> String {
    let mut tokens = Vec::new();
    let mut rest = 0;
    while rest < text.len() {
        // what cannot be read back is an atom
        if text[rest..].starts_with("#<") {
            let end = unreadable_end(text, rest);
            tokens.push((Kind::Atom, text[rest..end].to_string()));
            rest = end;
            continue;
        }
        let Some(lexeme) = lexeme::next(text, rest) else { break };
        if !lexeme.is_atmosphere() {
            tokens.push((lexeme.kind, lexeme.text(text).to_string()));
        }
        rest = lexeme.end;
    }
    let mut out = String::new();
    for piece in pieces(&mut tokens.into_iter()) {
        piece.lines(0, &mut out);
        out.push('\n');
    }
    cairn_syntax::format::formatted(&out).unwrap_or(out)
}

/// Where `#<…>` ends.
fn unreadable_end(text: &str, start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("#<") {
            depth += 1;
            at += 2;
        } else if rest.starts_with('"') {
            at = lexeme::delimited_end(text, at).unwrap_or(text.len());
        } else if rest.starts_with('>') {
            depth -= 1;
            at += 1;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[track_caller]
    fn check(written: &str, shown: &str) {
        assert_eq!(pretty(written), shown);
    }

    #[test]
    fn what_fits_stays_on_its_line() {
        check("(1 . #(a \"b c\" 'd))", "(1 . #(a \"b c\" 'd))\n");
        check("#<point x: (1 2) y: #<box value: 3>>", "#<point x: (1 2) y: #<box value: 3>>\n");
    }

    #[test]
    fn long_lists_are_broken() {
        let numbers = (100..130).map(|n| n.to_string()).collect::<Vec<_>>();
        let shown = pretty(&format!("({})", numbers.join(" ")));
        assert_eq!(shown.lines().count(), 2, "{shown}");
        assert!(shown.lines().all(|l| l.len() <= super::WIDTH), "{shown}");
        assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), format!("({})", numbers.join(" ")));
    }

    #[test]
    fn forms_are_broken_as_forms() {
        check(
            "(define (factorial-of-a-really-large-number number) (if (= number 0) 1 (* number (factorial-of-a-really-large-number (- number 1)))))",
            "(define (factorial-of-a-really-large-number number)\n  \
               (if (= number 0)\n      1\n      (* number (factorial-of-a-really-large-number (- number 1)))))\n",
        );
    }
}
