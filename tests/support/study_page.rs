//! What pages of studies have in common. Tests include this file.

/// Every sentence under "What holds today" leads to a table or figure of the page, but for so many whose numbers were
/// not asked for; its words are explained.
pub fn check(page: &str, without: usize) {
    let links: Vec<&str> = page.split("<a href=#").skip(1).map(|rest| rest.split('>').next().unwrap()).collect();
    assert_eq!(links.len() + without, page.matches("<li class=").count(), "a link for each sentence: {links:?}");
    for link in links {
        assert_eq!(page.matches(&format!(" id={link}>")).count(), 1, "one place for {link}");
    }
    assert!(page.contains("<h2>Words</h2>"));
}
