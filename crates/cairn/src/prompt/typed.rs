//! Scheme text as a line editor sees it: half of it may be missing.
//!
//! What the editor wants to know follows from the lexemes: whether more lines must come
//! ([`cairn_layout::lexeme::is_unfinished`]), how far the next one is indented ([`cairn_syntax::format::indentation`]),
//! which parenthesis belongs to which ([`partner`]). The reader proper is not asked: it stops at the first mistake, and
//! a text with one is wanted whole, too, so that what follows the mistake is not taken for the next input.

use cairn_layout::lexeme::{self, Kind, Lexeme};

/// All but what is between words.
fn words(text: &str) -> Vec<Lexeme> {
    lexeme::lexemes(text).filter(|l| !l.is_atmosphere()).collect()
}

/// Is a string open at the end of the text? Then where its contents begin.
pub(super) fn open_string(text: &str) -> Option<usize> {
    let last = lexeme::lexemes(text).last()?;
    (!last.whole && last.kind == Kind::String).then_some(last.start + 1)
}

/// The parenthesis that belongs to the one just before byte `at`, or at it.
pub(super) fn partner(text: &str, at: usize) -> Option<usize> {
    let words = words(text);
    let here = words.iter().position(|l| match l.kind {
        Kind::Close => l.end == at,
        Kind::Open => l.start == at,
        _ => false,
    })?;
    let mut open = Vec::new();
    for (i, word) in words.iter().enumerate() {
        match word.kind {
            Kind::Open => open.push(i),
            Kind::Close => {
                let opener = open.pop();
                if i == here {
                    return opener.map(|o| words[o].end - 1);
                }
                if opener == Some(here) {
                    return Some(word.start);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_syntax::read::Reader;
    use cairn_syntax::syntax::{Names, Syntax};

    /// What the reader makes of a text: its data, or whether more text could mend what is wrong.
    fn read(text: &str) -> Result<Vec<Syntax>, bool> {
        let mut names = Names::default();
        let mut reader = Reader::new(0, text, &mut names);
        let mut data = Vec::new();
        loop {
            match reader.next_datum() {
                Ok(Some(x)) => data.push(x),
                Ok(None) => return Ok(data),
                Err(_) => return Err(reader.incomplete()),
            }
        }
    }

    /// Says how prompt and reader differ on a text. One with mistakes that more of it does not mend is the prompt's
    /// affair.
    fn difference(text: &str) -> Option<String> {
        let unfinished = lexeme::is_unfinished(text);
        let data = match read(text) {
            Ok(data) => data,
            Err(incomplete) => return (incomplete && !unfinished).then(|| "the reader wants more".into()),
        };
        if unfinished {
            return Some("only the prompt wants more".into());
        }
        for x in data {
            let (start, end) = (x.span.start as usize, x.span.end as usize);
            if lexeme::datum_end(text, start) != end {
                return Some(format!("the reader reads {:?}", &text[start..end]));
            }
            let first = lexeme::next(text, start)?;
            // between two parentheses, the one before is meant
            let is_between = lexeme::lexemes(text).any(|l| l.kind == Kind::Close && l.end == start);
            if first.kind == Kind::Open && !is_between && partner(text, start) != Some(end - 1) {
                return Some(format!("the parenthesis at {start} belongs to {:?}", partner(text, start)));
            }
            if first.kind == Kind::Open && partner(text, end) != Some(first.end - 1) {
                return Some(format!("the parenthesis before {end} belongs to {:?}", partner(text, end)));
            }
        }
        None
    }

    #[test]
    fn prompt_and_reader_agree_on_strange_lexemes() {
        let finished = [
            "",
            "x",
            "'a",
            "(f '|a)b| x)",
            "|a\\|(b|",
            "(f #| ) |# x)",
            "(f #| #| ) |# ( |# x)",
            "(f #\\) x)",
            "#\\(",
            "(f #\\\" #\\; #\\space #\\x41 #\\λ)",
            "(f #;(g ) x)",
            "#;#;a b",
            "(f #; ; c )\n x y)",
            "\"a)\\\"(b\\\\\"",
            "\"a \\\n   b \\x41; \"",
            "#u8(1 2)",
            "#vu8(1)",
            "(if #t(f)#f)",
            "#f64(1. 2.)",
            "#(a #(b))",
            "[f (x)]",
            "#0=(a . #0#)",
            "#'(a #`b #,c #,@d)",
            "`(a ,b ,@c)",
            "; (",
            "(f) ; (",
            "#!fold-case (f)",
            "#!eof",
            "(f #!eof #!fold-case)",
            "#!/usr/bin/cairn (\n(f)",
            "\u{feff}(f\u{a0}x)",
            "(f\r; )\rx)",
        ];
        for text in finished {
            assert!(!lexeme::is_unfinished(text), "{text:?}");
            assert_eq!(read(text).err(), None, "{text:?}");
            assert_eq!(difference(text), None, "{text:?}");
        }
        let unfinished = [
            "(",
            "(f '|a)",
            "|a\\|",
            "(f #| ) ",
            "#| #| |#",
            "#\\",
            "(f #\\)",
            "(f #;",
            "#;(f",
            "#;#;a",
            "'#;a",
            "'#!fold-case",
            "' ; c",
            "\"a\\\"",
            "\"a\\",
            "(f \")\"",
            "#u8(1",
            "#f64(1.",
            "#(a",
            "#0=",
            "#,@",
            "(f ; )",
            "[f (x)",
        ];
        for text in unfinished {
            assert!(lexeme::is_unfinished(text), "{text:?}");
            assert_eq!(read(text).err(), Some(true), "{text:?}");
        }
        // mistakes are wanted whole, too: what follows them is not the next input
        for (text, unfinished) in
            [("(f #x) (", true), ("(f #x", true), ("(f #x)", false), (")", false), ("{", false)]
        {
            assert_eq!(lexeme::is_unfinished(text), unfinished, "{text:?}");
            assert_eq!(read(text).err(), Some(false), "{text:?}");
        }
    }

    #[test]
    fn prompt_and_reader_agree_on_random_texts() {
        let words =
            "( ( ) ) [ ] # \\ | \" ; #| |# #; #\\ ' , @ #u8( #( #0= #0# a 1 . λ #!eof #!fold-case \\x41; #t {";
        let pieces: Vec<&str> = words.split(' ').chain([" ", "\n", "\u{a0}"]).collect();
        let (mut state, mut readable, mut unfinished) = (1u64, 0, 0);
        for i in 0..60_000 {
            let mut text = String::new();
            for _ in 0..1 + i % 9 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text += pieces[(state >> 33) as usize % pieces.len()];
            }
            match read(&text) {
                Ok(_) => readable += 1,
                Err(incomplete) => unfinished += usize::from(incomplete),
            }
            assert_eq!(difference(&text), None, "{text:?}");
        }
        assert!(readable > 5_000 && unfinished > 5_000, "{readable} {unfinished}");
    }

    #[test]
    fn parentheses_find_each_other() {
        let text = "(a (b) \")\" #\\) c)";
        for (at, partner_at) in [(0, Some(16)), (17, Some(0)), (3, Some(5)), (6, Some(3)), (9, None), (1, None)] {
            assert_eq!(partner(text, at), partner_at, "{at}");
        }
    }

    #[test]
    fn parentheses_in_lexemes_are_none() {
        let text = "(f |a)| #| ) |# #\\) \")\" ; )\n #u8(1))";
        assert_eq!(partner(text, 0), Some(text.len() - 1));
        assert_eq!(partner(text, text.len()), Some(0));
        let bytes = text.find("#u8(").unwrap();
        assert_eq!(partner(text, text.len() - 1), Some(bytes + 3));
        assert_eq!(partner(text, text.find(")|").unwrap() + 1), None);
    }

    #[test]
    fn strings_are_open_until_their_quote() {
        assert_eq!(open_string("(load \"a/b"), Some(7));
        assert_eq!(open_string("(load \"a/b\""), None);
        assert_eq!(open_string("(load"), None);
    }
}
