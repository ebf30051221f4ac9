//! The words of the glossary that a page uses, for readers who do not know them.

use std::collections::BTreeSet;

const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// The rows of the glossary with a word that is in this text: the words, and what they mean.
pub(super) fn of(text: &str) -> Vec<(&'static str, &'static str)> {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|w| !w.is_empty()).collect();
    let pairs = words.windows(2).map(|w| w.join(" "));
    let triples = words.windows(3).map(|w| w.join(" "));
    let used: BTreeSet<String> = words.iter().map(|w| w.to_string()).chain(pairs).chain(triples).collect();
    let is_used = |word: &str| {
        let word = word.split(" (").next().unwrap_or(word).to_lowercase();
        used.contains(&word) || used.contains(&format!("{word}s"))
    };
    rows().filter(|(words, _)| words.split(", ").any(is_used)).collect()
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let cells = |line: &'static str| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ");
    GLOSSARY.lines().filter_map(cells).skip(1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_found_in_one_number_and_many_and_not_in_others() {
        let found = super::of("Frames of the runtime; an ambiguous root. Placebo, carded.");
        let words: Vec<&str> = found.iter().map(|(word, _)| *word).collect();
        assert_eq!(words, ["activation, frame", "ambiguous root"]);
        assert!(
            super::rows().count() > 40
                && super::rows().all(|(word, meaning)| word != "---" && !meaning.is_empty())
        );
    }
}
