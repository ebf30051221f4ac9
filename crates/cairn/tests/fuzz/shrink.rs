//! Making a program that fails smaller.
//!
//! Forms are left out from the last to the first, then each form is taken apart: a list is replaced by one of its parts
//! or by a constant, as long as the failure remains. Every attempt compiles and runs programs, so there is a limit.

use std::fmt;
use std::time::{Duration, Instant};

/// A datum as text: enough of the syntax for what the generator writes.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// Anything without parts, with the quotes before it.
    Atom(String),
    /// What stands before the parenthesis, and the elements.
    List(String, Vec<Datum>),
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Atom(text) => f.write_str(text),
            Datum::List(prefix, items) => {
                let items: Vec<String> = items.iter().map(Datum::to_string).collect();
                write!(f, "{prefix}({})", items.join(" "))
            }
        }
    }
}

/// The datum that is this text.
pub fn parse(text: &str) -> Datum {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    let datum = datum(&chars, &mut at);
    assert_eq!(at, chars.len(), "unbalanced: {text}");
    datum
}

fn datum(s: &[char], at: &mut usize) -> Datum {
    let start = *at;
    while "'`,@".contains(s[*at]) {
        *at += 1;
    }
    let prefix: String = s[start..*at].iter().collect();
    if s[*at] == '(' {
        *at += 1;
        let mut items = vec![];
        loop {
            while s[*at].is_whitespace() {
                *at += 1;
            }
            if s[*at] == ')' {
                *at += 1;
                return Datum::List(prefix, items);
            }
            items.push(datum(s, at));
        }
    }
    match s[*at] {
        quote @ ('"' | '|') => {
            *at += 1;
            while s[*at] != quote {
                *at += if s[*at] == '\\' { 2 } else { 1 };
            }
            *at += 1;
        }
        c => {
            *at += if c == '#' && s.get(*at + 1) == Some(&'\\') { 3 } else { 1 };
            while s.get(*at).is_some_and(|c| !c.is_whitespace() && !"()".contains(*c)) {
                *at += 1;
            }
        }
    }
    Datum::Atom(s[start..*at].iter().collect())
}

impl Datum {
    fn size(&self) -> usize {
        match self {
            Datum::Atom(_) => 1,
            Datum::List(_, items) => 1 + items.iter().map(Datum::size).sum::<usize>(),
        }
    }

    /// Part number `n` in preorder.
    fn part(&mut self, n: usize) -> &mut Datum {
        let mut n = n;
        let mut here = self;
        while n > 0 {
            n -= 1;
            let Datum::List(_, items) = here else { unreachable!("no such part") };
            let mut i = 0;
            while n >= items[i].size() {
                n -= items[i].size();
                i += 1;
            }
            here = &mut items[i];
        }
        here
    }
}

/// No new attempt after this many seconds.
const SECONDS: u64 = 60;

/// The smallest program found for which `fails` still holds.
pub fn shrink(mut forms: Vec<String>, fails: impl Fn(&[String]) -> bool) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(SECONDS);
    let still = |forms: &[String]| Instant::now() < end && fails(forms);
    for i in (0..forms.len()).rev() {
        let mut fewer = forms.clone();
        fewer.remove(i);
        if still(&fewer) {
            forms = fewer;
        }
    }
    for i in (0..forms.len()).rev() {
        let mut whole = parse(&forms[i]);
        let mut n = 1;
        while n < whole.size() {
            let Datum::List(_, items) = whole.part(n).clone() else {
                n += 1;
                continue;
            };
            let constant = ["1", "'()", "#f", "\"abc\""].map(|a| Datum::Atom(a.into()));
            let candidates = items.into_iter().rev().chain(constant);
            let smaller = candidates.into_iter().find_map(|part| {
                let mut other = whole.clone();
                *other.part(n) = part;
                let mut program = forms.clone();
                program[i] = other.to_string();
                still(&program).then_some(other)
            });
            match smaller {
                Some(other) => {
                    whole = other;
                    forms[i] = whole.to_string();
                }
                None => n += 1,
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fails_remains() {
        let forms =
            ["(define (f x) x)", "(test 1 (lambda () (list 1 (car 5) #\\( \"a)\" '(b . c))))", "(test 2 3)"];
        let small = shrink(forms.map(String::from).to_vec(), |f| f.iter().any(|f| f.contains("car")));
        assert_eq!(small.len(), 1);
        assert!(small[0].len() <= 12, "{small:?}");
    }
}
