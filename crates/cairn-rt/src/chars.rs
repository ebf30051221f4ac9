//! Characters: categories and simple case mapping.
//!
//! Categories and full case mappings come from the standard library and `unicode-properties`, simple folding from
//! `unicode-case-mapping`.

use crate::failure::wrong_type;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The simple upper-case mapping: one character to one.
pub fn upcase(c: char) -> char {
    let mut all = c.to_uppercase();
    match (all.next(), all.next()) {
        (Some(u), None) => u,
        // Greek letters with iota subscript: the full mapping is two letters, the simple one is the title-case letter.
        _ => match c as u32 {
            u @ (0x1F80..=0x1F87 | 0x1F90..=0x1F97 | 0x1FA0..=0x1FA7) => char::from_u32(u + 8).unwrap_or(c),
            u @ (0x1FB3 | 0x1FC3 | 0x1FF3) => char::from_u32(u + 9).unwrap_or(c),
            _ => c,
        },
    }
}

/// The simple lower-case mapping.
pub fn downcase(c: char) -> char {
    let mut all = c.to_lowercase();
    match (all.next(), all.next()) {
        (Some(l), None) => l,
        // U+0130 is the only character whose full mapping is longer.
        (Some(l), _) => l,
        _ => c,
    }
}

/// The simple case folding.
pub fn foldcase(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    match unicode_case_mapping::case_folded(c) {
        Some(f) => char::from_u32(f.get()).unwrap_or(c),
        None => c,
    }
}

/// The full case folding, appended to `out`: `ß` gives `ss`.
pub fn foldcase_full(c: char, out: &mut Vec<u32>) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase() as u32);
        return;
    }
    let mut upper = c.to_uppercase();
    let several = upper.len() > 1;
    match c {
        '\u{1E9E}' => out.extend(['s' as u32, 's' as u32]),
        '\u{130}' => out.extend(['i' as u32, 0x307]),
        _ if several => out.extend(upper.by_ref().map(|u| foldcase(u) as u32)),
        // The capital letters with iota subscript: two letters once folded.
        '\u{1F88}'..='\u{1F8F}'
        | '\u{1F98}'..='\u{1F9F}'
        | '\u{1FA8}'..='\u{1FAF}'
        | '\u{1FBC}'
        | '\u{1FCC}'
        | '\u{1FFC}' => out.extend(downcase(c).to_uppercase().map(|u| foldcase(u) as u32)),
        _ => out.push(foldcase(c) as u32),
    }
}

/// The value of a decimal digit of any script.
pub fn digit_value(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let decimal =
        |u: u32| char::from_u32(u).is_some_and(|c| c.general_category() == GeneralCategory::DecimalNumber);
    if !decimal(c as u32) {
        return None;
    }
    // Unicode keeps decimal digits in runs of ten in ascending order, so the position in the run is the value.
    let mut start = c as u32;
    while decimal(start - 1) {
        start -= 1;
    }
    Some((c as u32 - start) % 10)
}

/// Is it a decimal digit?
pub fn is_numeric(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { c.general_category() == GeneralCategory::DecimalNumber }
}

/// Can it be shown as it is, in a literal? (No control, format, surrogate, private or unassigned characters, no
/// separators but the space.)
pub fn is_graphic(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    !matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}

/// The number of the general category in the order of Unicode: Lu 0, Ll 1, Lt, Lm, Lo, Mn 5, Mc, Me, Nd 8, Nl, No,
/// Pc 11, Pd, Ps, Pe, Pi, Pf, Po, Sm 18, Sc, Sk, So, Zs 22, Zl, Zp, Cc 25, Cf, Cs, Co, Cn 29.
pub fn category(c: char) -> u32 {
    match c.general_category() {
        GeneralCategory::UppercaseLetter => 0,
        GeneralCategory::LowercaseLetter => 1,
        GeneralCategory::TitlecaseLetter => 2,
        GeneralCategory::ModifierLetter => 3,
        GeneralCategory::OtherLetter => 4,
        GeneralCategory::NonspacingMark => 5,
        GeneralCategory::SpacingMark => 6,
        GeneralCategory::EnclosingMark => 7,
        GeneralCategory::DecimalNumber => 8,
        GeneralCategory::LetterNumber => 9,
        GeneralCategory::OtherNumber => 10,
        GeneralCategory::ConnectorPunctuation => 11,
        GeneralCategory::DashPunctuation => 12,
        GeneralCategory::OpenPunctuation => 13,
        GeneralCategory::ClosePunctuation => 14,
        GeneralCategory::InitialPunctuation => 15,
        GeneralCategory::FinalPunctuation => 16,
        GeneralCategory::OtherPunctuation => 17,
        GeneralCategory::MathSymbol => 18,
        GeneralCategory::CurrencySymbol => 19,
        GeneralCategory::ModifierSymbol => 20,
        GeneralCategory::OtherSymbol => 21,
        GeneralCategory::SpaceSeparator => 22,
        GeneralCategory::LineSeparator => 23,
        GeneralCategory::ParagraphSeparator => 24,
        GeneralCategory::Control => 25,
        GeneralCategory::Format => 26,
        GeneralCategory::Surrogate => 27,
        GeneralCategory::PrivateUse => 28,
        GeneralCategory::Unassigned => 29,
    }
}

macro_rules! char_calls {
    ($($(#[$doc:meta])* $symbol:ident $who:literal |$c:ident| $result:expr;)*) => {
        $($(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $symbol(ctx: &mut Machine, v: Value) -> Value {
            match v.is_char().then(|| char::from_u32(v.as_char())).flatten() {
                Some($c) => $result,
                None => wrong_type(ctx, $who, 0, "a character", v),
            }
        })*
    };
}

char_calls! {
    /// `(char-upcase c)`.
    cairn_char_upcase "char-upcase" |c| Value::char(upcase(c) as u32);
    /// `(char-downcase c)`.
    cairn_char_downcase "char-downcase" |c| Value::char(downcase(c) as u32);
    /// `(char-foldcase c)`.
    cairn_char_foldcase "char-foldcase" |c| Value::char(foldcase(c) as u32);
    /// `(char-alphabetic? c)`.
    cairn_char_is_alphabetic "char-alphabetic?" |c| Value::bool(c.is_alphabetic());
    /// `(char-numeric? c)`.
    cairn_char_is_numeric "char-numeric?" |c| Value::bool(is_numeric(c));
    /// `(char-whitespace? c)`.
    cairn_char_is_whitespace "char-whitespace?" |c| Value::bool(c.is_whitespace());
    /// `(char-upper-case? c)`.
    cairn_char_is_upper "char-upper-case?" |c| Value::bool(c.is_uppercase());
    /// `(char-lower-case? c)`.
    cairn_char_is_lower "char-lower-case?" |c| Value::bool(c.is_lowercase());
    /// The general category of a character, a fixnum: see [`category`].
    cairn_char_category "char-category" |c| Value::fixnum(category(c) as i64);
    /// `(digit-value c)`: a fixnum or `#f`.
    cairn_char_digit_value "digit-value" |c| match digit_value(c) {
        Some(n) => Value::fixnum(n as i64),
        None => Value::FALSE,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(s: &str) -> String {
        let mut out = Vec::new();
        s.chars().for_each(|c| foldcase_full(c, &mut out));
        out.into_iter().filter_map(char::from_u32).collect()
    }

    #[test]
    fn simple_mappings_are_one_to_one() {
        assert_eq!(upcase('a'), 'A');
        assert_eq!(upcase('ß'), 'ß');
        assert_eq!(upcase('λ'), 'Λ');
        assert_eq!(upcase('\u{1F80}'), '\u{1F88}');
        assert_eq!(downcase('Σ'), 'σ');
        assert_eq!(foldcase('ς'), 'σ');
        assert_eq!(foldcase('ı'), 'ı');
    }

    #[test]
    fn full_folding_expands() {
        assert_eq!(full("Straße"), "strasse");
        assert_eq!(full("ΧΑΟΣς"), "χαοσσ");
        assert_eq!(full("\u{1E9E}ﬁ"), "ssfi");
        assert_eq!(full("\u{1F88}"), full("\u{1F80}"));
    }

    #[test]
    fn digits_of_every_script_have_values() {
        assert_eq!(digit_value('7'), Some(7));
        assert_eq!(digit_value('\u{0664}'), Some(4));
        assert_eq!(digit_value('\u{1D7D9}'), Some(1));
        assert_eq!(digit_value('½'), None);
        assert!(!is_numeric('Ⅷ'));
    }

    #[test]
    fn categories_are_numbered_as_the_libraries_expect() {
        let numbers: Vec<u32> = "Aaǅʰªॄः\u{20dd}0Ⅷ½_-(«»!+$^©".chars().map(category).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21]);
        let others: Vec<u32> =
            ")\u{a0}\u{2028}\u{2029}\u{7f}\u{ad}\u{e000}\u{378}".chars().map(category).collect();
        assert_eq!(others, [14, 22, 23, 24, 25, 26, 28, 29]);
    }
}
