//! One page that needs nothing else: styles and figures are in it; light or dark as the reader's system is.

use super::document::{Item, Number, Report, Table, grouped};
use super::{svg, words};
use cairn_html::{Html, add, document, html};
use std::collections::HashSet;

const STYLE: &str = include_str!("page.css");

pub(super) fn render(report: &Report) -> String {
    let mut body = html!("<main>\n<h1>{}</h1>\n<p class=paper>{}</p>\n<dl>\n", report.title, report.paper);
    for (name, value) in &report.conditions {
        add!(body, "<dt>{}</dt><dd>{}</dd>\n", name, value);
    }
    add!(body, "</dl>\n");
    // A figure and the table of its numbers may have one name: links lead to the first.
    let mut named = HashSet::new();
    let mut anchor = |id: &str| named.insert(id.to_string()).then(|| html!(" id={}", id));
    for section in &report.sections {
        add!(body, "<section>\n<h2>{}</h2>\n", section.title);
        for item in &section.items {
            match item {
                Item::Text(text) => add!(body, "<p>{}</p>\n", text),
                Item::Table(t) => add!(body, "{}", table(t, anchor(&t.id))),
                Item::Figure(f) => {
                    let picture = Html::made_elsewhere(svg::render(f, svg::Colours::OfThePage));
                    add!(body, "<figure{}>\n<figcaption>{}</figcaption>\n{}\n", anchor(&f.id), f.title, picture);
                    add!(body, "{}</figure>\n", remark(&f.note));
                }
                Item::Findings(findings) => {
                    for (whose, heading, all) in findings.groups() {
                        add!(body, "<h3>{}</h3>\n<ul class=findings>\n", heading);
                        for (f, shown_in) in all {
                            let verdict = findings.verdict(whose, f);
                            let is_there = report.ids().any(|id| id == *shown_in);
                            let link = is_there.then(|| html!(" <a href=#{}>its numbers</a>", shown_in));
                            add!(body, "<li class={}><b>{}</b> ", verdict.replace(' ', "-"), verdict);
                            add!(body, "{} <span>{}</span>{}</li>\n", f.claim, f.evidence, link);
                        }
                        add!(body, "</ul>\n");
                    }
                }
            }
        }
        add!(body, "</section>\n");
    }
    let used = words::of(&report.text());
    if !used.is_empty() {
        add!(body, "<section>\n<h2>Words</h2>\n<dl>\n");
        for (word, meaning) in used {
            add!(body, "<dt>{}</dt><dd>{}</dd>\n", word, meaning);
        }
        add!(body, "</dl>\n</section>\n");
    }
    add!(body, "</main>\n");
    document(&report.title, STYLE, &body)
}

fn table(t: &Table, anchor: Option<Html>) -> Html {
    let mut out = html!(
        "<div class=table{}><table>\n<caption>{}</caption>\n<thead><tr><th>{}</th>",
        anchor,
        t.title,
        t.label
    );
    for column in &t.columns {
        let span = column.published.then(|| html!(" colspan=2"));
        add!(out, "<th{}>{}</th>", span, column.name);
    }
    add!(out, "</tr>");
    if t.columns.iter().any(|c| c.published) {
        add!(out, "\n<tr class=whose><th></th>");
        for column in &t.columns {
            match column.published {
                true => add!(out, "<th>here</th><th class=published>paper</th>"),
                false => add!(out, "<th></th>"),
            }
        }
        add!(out, "</tr>");
    }
    add!(out, "</thead>\n<tbody>\n");
    for row in &t.rows {
        add!(out, "<tr><th>{}</th>", row.label);
        for (value, column) in row.values.iter().zip(&t.columns) {
            let Number { ours, published } = *value;
            let show = |v: Option<f64>| v.map_or("–".into(), |v| grouped(v, column.decimals));
            add!(out, "<td>{}</td>", show(ours));
            if column.published {
                add!(out, "<td class=published>{}</td>", show(published));
            }
        }
        add!(out, "</tr>\n");
    }
    add!(out, "</tbody>\n</table>\n{}</div>\n", remark(&t.note));
    out
}

fn remark(text: &str) -> Option<Html> {
    (!text.is_empty()).then(|| html!("<p class=note>{}</p>\n", text))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_page_holds_everything_and_escapes_it() {
        let page = super::render(&super::super::tests::sample());
        for part in [
            "<h1>A sample</h1>",
            "<p>Some words &lt;here&gt;.</p>",
            "<tr><th>life &amp; death</th><td>1.23</td><td class=published>2.00</td><td>12,345</td></tr>",
            "<tr><th>logic</th><td>–</td><td class=published>3.50</td><td>–</td></tr>",
            "<li class=holds><b>holds</b> A beats B. <span>1.2 against 2.4 s.</span> <a href=#table-1>its numbers</a></li>",
            "<span>no B here.</span></li>",
            "<div class=table id=table-1>",
            "<figure id=figure-1>",
            "<h3>The paper's claims: 1 of 2 hold, 1 not measured</h3>",
            "<li class=not-measured>",
            "<li class=missed>",
            "<svg",
            "prefers-color-scheme: dark",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        let outside: Vec<&str> = page.matches("http").collect();
        assert!(outside.len() <= 3, "only the names of SVG: nothing is loaded");
        assert!(!page.contains("<script") && !page.contains("<link"));
    }
}
