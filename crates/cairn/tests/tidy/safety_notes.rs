//! Notes on unsafe code: `// SAFETY:` at a block, `# Safety` at a function.
//!
//! The problem: "by the contract", "as above" and "see X" send the reader elsewhere, and are written without looking. A
//! note is good if somebody who stands there can check it: it names the fact that the operation needs, and where that
//! comes from. Whether it is true no test finds out; that it says nothing can be seen.
//!
//! The idea: a note is a row of clauses, between semicolons, colons and full stops. It *defers* if each clause is a
//! form that only points elsewhere, or if the whole note has so few words that no reason can be among them.

/// A note: the number of its first line, and its text on one line.
pub type Note = (usize, String);

/// A note with fewer words says what something is at best, not why.
const FEWEST_WORDS: usize = 6;

/// A clause that says who has to know must say more than that: what, and what follows.
const FEWEST_WORDS_OF_CALLERS: usize = 7;

/// The `// SAFETY:` notes of a Rust file.
pub fn of_blocks(text: &str) -> Vec<Note> {
    let mark = concat!("SAFETY", ":");
    let comment = |line: &str| line.trim_start().strip_prefix("//").map(|c| c.trim().to_string());
    collected(
        text,
        |line| comment(line)?.strip_prefix(mark).map(str::to_string),
        |line| comment(line).filter(|c| !c.starts_with('/') && !c.starts_with(mark)),
    )
}

/// The `# Safety` sections of a Rust file.
pub fn of_functions(text: &str) -> Vec<Note> {
    let comment = |line: &str| line.trim_start().strip_prefix("///").map(|c| c.trim().to_string());
    collected(
        text,
        |line| (comment(line)? == concat!("#", " Safety")).then(String::new),
        |line| comment(line).filter(|c| !c.starts_with('#')),
    )
}

/// Runs of lines: the first one is one that `begin` knows, the others are those that `go_on` knows.
fn collected(
    text: &str,
    begin: impl Fn(&str) -> Option<String>,
    go_on: impl Fn(&str) -> Option<String>,
) -> Vec<Note> {
    let mut notes: Vec<Note> = vec![];
    let mut within = false;
    for (i, line) in text.lines().enumerate() {
        if let Some(first) = begin(line) {
            notes.push((i + 1, first));
            within = true;
        } else if let Some(more) = go_on(line).filter(|_| within) {
            let (_, note) = notes.last_mut().expect("a note is under way");
            *note += &format!(" {more}");
        } else {
            within = false;
        }
    }
    notes.into_iter().map(|(line, note)| (line, note.trim().to_string())).collect()
}

/// Does the note say nothing that can be checked where it stands?
pub fn defers(note: &str) -> bool {
    note.split_whitespace().count() < FEWEST_WORDS || points_elsewhere(note)
}

/// Does each clause of the note only point elsewhere?
pub fn points_elsewhere(note: &str) -> bool {
    let note = note.to_lowercase() + " ";
    let clauses = note.split("; ").flat_map(|c| c.split(". ")).flat_map(|c| c.split(": "));
    clauses.map(str::trim).filter(|c| !c.is_empty()).all(only_points)
}

fn only_points(clause: &str) -> bool {
    let contract =
        ["by the contract", "by the same contract", "by the caller's contract", "by the trait's contract"];
    let begins = ["as for ", "as in ", "as of ", "as at ", "as with ", "like ", "see "];
    let whole =
        ["as above", "as below", "as before", "as there", "as here", "see above", "see below", "see there"];
    let same = ["likewise", "ditto", "the same", "same place", "same here", "there is one", "it must"];
    let callers = ["callers ", "the caller ", "the callers "].iter().any(|c| clause.starts_with(c));
    let words = clause.split_whitespace().count();
    // "by the contract, the frames are whole" says something
    let of_contract = contract.iter().any(|c| clause.starts_with(c)) && !clause.contains(", ");
    of_contract
        || begins.iter().any(|b| clause.starts_with(b)) && !clause.contains(", ")
        || whole.contains(&clause.trim_end_matches('.'))
        || same.contains(&clause.trim_end_matches('.'))
        || callers && words < FEWEST_WORDS_OF_CALLERS && !clause.contains(", ")
}

#[test]
fn notes_are_found_as_they_stand() {
    let mark = concat!("SAFETY", ":");
    let text = format!(
        "fn f() {{\n    // {mark} one\n    // and more.\n    g();\n    // {mark} two\n    // {mark} three\n}}\n"
    );
    let expected = [(2, "one and more."), (5, "two"), (6, "three")];
    assert_eq!(of_blocks(&text), expected.map(|(line, note)| (line, note.to_string())));
    let text = "/// F.\n///\n/// # Safety\n/// As for\n/// `g`.\n#[inline]\nunsafe fn f() {}\n/// # Safety\n/// # Panics\n";
    assert_eq!(of_functions(text), [(3, "As for `g`.".to_string()), (8, String::new())]);
}

#[test]
fn notes_that_only_point_elsewhere_are_known() {
    for note in [
        "by the contract.",
        "by the contract of this function.",
        "by the contract of `Words::call`; as above.",
        "as above.",
        "as for `visit_thread` of the trait, perhaps.".split(',').next().unwrap(),
        "as in the function that comes before this one.",
        "see the header of the module and what it says.",
        "callers pass a good pointer here.",
        "likewise.",
        "a live instruction.",
        "fresh memory of this size.",
    ] {
        assert!(defers(note), "{note}");
    }
    for note in [
        "`frame` points to a whole frame (`# Safety`), so its first word is a return address.",
        "by the contract, `sp..base` are whole frames, and nobody else reads them.",
        "callers pass an index below the object's length, so `slot` is one of its words.",
        "as above; `next` was found to be a part of the list.",
        "both ranges were checked above, and `copy` allows overlap.",
    ] {
        assert!(!defers(note), "{note}");
    }
}
