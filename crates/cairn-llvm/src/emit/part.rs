//! The parts of a module's prelude, and which of them it needs.

/// The LLVM text of a function or table of the prelude.
pub(crate) struct Part {
    pub symbol: &'static str,
    pub text: String,
}

/// Those parts that are referred to in the text, or in one another. A module that is loaded beside others needs no
/// more: the runtime uses those of the first one.
pub(crate) fn referred_to(mut parts: Vec<Part>, text: &str) -> Vec<Part> {
    let mut kept: Vec<Part> = Vec::new();
    let mut looked_at = None;
    loop {
        // Of two symbols that begin alike, both may stay.
        let text = looked_at.map_or(text, |i: usize| &kept[i].text);
        let (found, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|p| text.contains(p.symbol));
        parts = rest;
        kept.extend(found);
        looked_at = Some(looked_at.map_or(0, |i| i + 1));
        if looked_at == Some(kept.len()) {
            return kept;
        }
    }
}

/// Appends the parts.
pub(crate) fn put(parts: &[Part], out: &mut String) {
    parts.iter().for_each(|p| out.push_str(&p.text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_referred_to_stays_and_what_that_refers_to() {
        let part = |symbol, text: &str| Part { symbol, text: text.into() };
        let parts =
            || vec![part("@a", "jump @b"), part("@b", "jump @c, @a"), part("@c", "ret"), part("@d", "jump @a")];
        let kept = |text| referred_to(parts(), text).iter().map(|p| p.symbol).collect::<Vec<_>>();
        assert_eq!(kept("nothing"), [""; 0]);
        assert_eq!(kept("jump @c"), ["@c"]);
        assert_eq!(kept("jump @a"), ["@a", "@b", "@c"]);
        assert_eq!(kept("jump @d"), ["@d", "@a", "@b", "@c"]);
    }
}
