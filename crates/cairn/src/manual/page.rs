//! The manual's pages: HTML that needs no server and no other files than its own.

use super::contents::{Export, Library, Manual, order};
use cairn_html::{Html, add, html};

/// Names and texts of all files.
pub(super) fn pages(manual: &Manual) -> Vec<(String, String)> {
    let mut out = vec![("index.html".to_string(), index(manual)), ("search.js".to_string(), search(manual))];
    for library in manual.libraries.values() {
        out.push((library_page(&library.name), document(&library.name, &self::library(manual, library))));
    }
    for (path, text) in &manual.sources {
        out.push((source_page(path), document(path, &source(path, text))));
    }
    out
}

/// A name of a file for any text: what is not plain is written as its number.
fn plain(text: &str) -> String {
    let one = |c: char| match c {
        ' ' | '/' => "-".to_string(),
        '(' | ')' => String::new(),
        c if c.is_ascii_alphanumeric() || c == '.' || c == '_' => c.to_string(),
        c => format!("~{:x}", c as u32),
    };
    text.chars().map(one).collect()
}

fn library_page(name: &str) -> String {
    format!("{}.html", plain(name))
}

fn source_page(path: &str) -> String {
    format!("source-{}.html", plain(path))
}

/// The mark of a name in its page.
fn anchor(name: &str) -> String {
    format!("n-{}", plain(name))
}

/// The first sentence of a comment.
fn sentence(comment: &str) -> String {
    let paragraph = comment.split("\n\n").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |i| i + 1);
    paragraph[..end].to_string()
}

fn index(manual: &Manual) -> String {
    let mut out = html!("<h1>Libraries</h1>\n<dl>\n");
    let mut group = None;
    for (order, l) in &manual.libraries {
        // many, under the first word of their names
        let first = order.first().filter(|_| manual.libraries.len() > 30);
        if first.is_some() && group != first {
            group = first;
            let word = l.name.trim_start_matches('(').split([' ', ')']).next().unwrap_or("");
            add!(out, "</dl>\n<h2>{}</h2>\n<dl>\n", word);
        }
        let names = l.exports.len();
        add!(out, "<dt><a href=\"{}\"><code>{}</code></a> ", library_page(&l.name), l.name);
        add!(out, "<small>{} name{}</small>", names, if names == 1 { "" } else { "s" });
        add!(out, "<dd>{}\n", code_in(&sentence(&l.about)));
    }
    add!(out, "</dl>\n");
    document("Libraries", &out)
}

/// What the search looks through: name, library, page and mark, first signature.
fn search(manual: &Manual) -> String {
    let mut rows: Vec<serde_json::Value> = Vec::new();
    for l in manual.libraries.values() {
        rows.push(serde_json::json!([l.name, "", library_page(&l.name), ""]));
        for e in &l.exports {
            let place = format!("{}#{}", library_page(&l.name), anchor(&e.name));
            rows.push(serde_json::json!([e.name, l.name, place, e.signatures.first()]));
        }
    }
    let rows = rows.iter().map(|r| r.to_string()).collect::<Vec<String>>().join(",\n");
    format!("const NAMES = [\n{rows}\n];\n{SEARCH}")
}

fn library(manual: &Manual, l: &Library) -> Html {
    let mut out = html!("<h1><code>{}</code></h1>\n", l.name);
    if let Some(link) = link(&l.place) {
        add!(out, "<p class=place>{}</p>\n", link);
    }
    add!(out, "{}<pre>(import {})</pre>\n<p class=names>\n", prose(&l.about), l.name);
    for e in &l.exports {
        add!(out, "<a href=\"#{}\"><code>{}</code></a>\n", anchor(&e.name), e.name);
    }
    add!(out, "</p>\n");
    l.exports.iter().for_each(|e| add!(out, "{}", export(manual, e)));
    out
}

fn export(manual: &Manual, e: &Export) -> Html {
    let mut out = html!("<section id=\"{}\">\n<h2>", anchor(&e.name));
    match &e.signatures[..] {
        [] => add!(out, "<code>{}</code>", e.name),
        all => all.iter().for_each(|s| add!(out, "<code>{}</code>", s)),
    }
    add!(out, "</h2>\n<p class=place>{}", e.kind);
    if let Some(from) = &e.from {
        match manual.libraries.contains_key(&order(from)) {
            true => add!(out, " of <a href=\"{}\"><code>{}</code></a>", library_page(from), from),
            false => add!(out, " of <code>{}</code>", from),
        }
    }
    if let Some(renamed) = &e.renamed {
        add!(out, ", defined as <code>{}</code>", renamed);
    }
    if let Some(link) = link(&e.place) {
        add!(out, " · {}", link);
    }
    add!(out, "</p>\n{}</section>\n", prose(&e.comment));
    out
}

fn link(place: &Option<(String, usize)>) -> Option<Html> {
    let (path, line) = place.as_ref()?;
    Some(html!("<a href=\"{}#L{}\">{}:{}</a>", source_page(path), line, path, line))
}

/// A comment as paragraphs: what is indented is shown as it is, without its margin, what stands between backquotes is
/// code.
fn prose(comment: &str) -> Html {
    let mut out = Html::new();
    for paragraph in comment.split("\n\n").filter(|p| !p.trim().is_empty()) {
        let mut lines = paragraph.lines().peekable();
        while let Some(first) = lines.next() {
            let indented = |l: &str| l.starts_with("   ");
            let mut piece = vec![first];
            while let Some(next) = lines.next_if(|l| indented(l) == indented(first)) {
                piece.push(next);
            }
            match indented(first) {
                true => add!(out, "<pre>{}</pre>\n", without_margin(&piece)),
                false => add!(out, "<p>{}</p>\n", code_in(&piece.join("\n"))),
            }
        }
    }
    out
}

/// Lines without the blanks that all of them begin with.
fn without_margin(lines: &[&str]) -> String {
    let of = |line: &&str| line.len() - line.trim_start().len();
    let margin = lines.iter().filter(|l| !l.trim().is_empty()).map(of).min().unwrap_or(0);
    lines.iter().map(|l| l.get(margin..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Text with code between backquotes.
fn code_in(text: &str) -> Html {
    let mut out = Html::new();
    let parts: Vec<&str> = text.split('`').collect();
    for (i, part) in parts.iter().enumerate() {
        match i % 2 {
            // a last backquote that nothing closes
            1 if i + 1 == parts.len() => add!(out, "`{}", part),
            1 => add!(out, "<code>{}</code>", part),
            _ => add!(out, "{}", part),
        }
    }
    out
}

fn source(path: &str, text: &str) -> Html {
    let mut out = html!("<h1>{}</h1>\n<pre class=source>", path);
    for (i, line) in text.lines().enumerate() {
        let n = i + 1;
        add!(out, "<span id=L{}><a href=\"#L{}\">{:>5}</a>  {}</span>\n", n, n, n, line);
    }
    add!(out, "</pre>\n");
    out
}

fn document(title: &str, body: &Html) -> String {
    let body = html!(
        "<header><a href=\"index.html\">Libraries</a>\n\
         <input id=search type=search placeholder=\"Search names\" aria-label=\"Search names\" autocomplete=off></header>\n\
         <ol id=found hidden></ol>\n<main>\n{}</main>\n<script src=\"search.js\"></script>\n",
        body
    );
    cairn_html::document(title, STYLE, &body)
}

const STYLE: &str = "
:root { color-scheme: light dark; --line: #ddd; --soft: #f4f4f4; --dull: #666; --mark: #fff3c4; --link: #0b57d0; }
@media (prefers-color-scheme: dark) {
  :root { --line: #444; --soft: #262626; --dull: #aaa; --mark: #4d4110; --link: #8ab4f8; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre { font: .92em/1.45 ui-monospace, 'DejaVu Sans Mono', monospace; }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; border-radius: .3rem; }
header { display: flex; gap: 1rem; align-items: center; padding: .6rem 0; position: sticky; top: 0;
  background: Canvas; border-bottom: 1px solid var(--line); z-index: 1; }
#search { flex: 1; min-width: 0; font: inherit; padding: .35rem .6rem; }
#found { list-style: none; margin: 0; padding: .4rem 0; border-bottom: 1px solid var(--line); }
#found a { display: block; padding: .2rem .4rem; overflow-wrap: anywhere; }
#found a:focus, #found a:hover { background: var(--soft); } #found small { color: var(--dull); }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0; } h2 code { display: block; font-weight: 600; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .8rem 0 .2rem; scroll-margin-top: 3.5rem; }
section:target { background: var(--mark); }
.place { margin: .1rem 0; color: var(--dull); font-size: .9rem; overflow-wrap: anywhere; }
.names a { display: inline-block; margin-right: .7rem; }
dt { margin-top: .7rem; } dt small { color: var(--dull); } dd { margin: 0 0 0 1.2rem; }
.source { padding: .4rem 0; } .source span { display: block; padding: 0 .6rem; scroll-margin-top: 4rem; }
.source span:target { background: var(--mark); } .source a { color: var(--dull); user-select: none; }
";

const SEARCH: &str = r#"
// Names that begin with the text come first, then those that contain it; short ones before long ones.
(() => {
  const box = document.getElementById("search"), list = document.getElementById("found");
  const find = text => {
    const rank = name => name === text ? 0 : name.startsWith(text) ? 1 : 2;
    return NAMES.filter(row => row[0].toLowerCase().includes(text))
      .sort((a, b) => rank(a[0].toLowerCase()) - rank(b[0].toLowerCase()) || a[0].length - b[0].length ||
        (a[0] < b[0] ? -1 : 1))
      .slice(0, 30);
  };
  const show = () => {
    const text = box.value.trim().toLowerCase();
    list.replaceChildren(...(text ? find(text) : []).map(([name, library, page, signature]) => {
      const item = document.createElement("li"), link = document.createElement("a");
      const code = document.createElement("code"), small = document.createElement("small");
      code.textContent = signature || name;
      small.textContent = "  " + library;
      link.href = page;
      link.append(code, small);
      link.addEventListener("click", () => { box.value = ""; show(); });
      item.append(link);
      return item;
    }));
    list.hidden = !list.firstChild;
  };
  box.addEventListener("input", show);
  box.addEventListener("keydown", event => {
    if (event.key === "Enter" && list.firstChild) list.querySelector("a").click();
    if (event.key === "Escape") { box.value = ""; show(); }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
  });
})();
"#;
