//! One page that needs nothing else: styles and figures are in it; light or dark as the reader's system is.

use super::document::{Item, Number, Report, Table, grouped};
use super::svg;

const STYLE: &str = include_str!("page.css");

pub(super) fn render(report: &Report) -> String {
    let mut body =
        format!("<h1>{}</h1>\n<p class=paper>{}</p>\n<dl>\n", escaped(&report.title), escaped(&report.paper));
    for (name, value) in &report.conditions {
        body += &format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
    }
    body += "</dl>\n";
    for section in &report.sections {
        body += &format!("<section>\n<h2>{}</h2>\n", escaped(&section.title));
        for item in &section.items {
            match item {
                Item::Text(text) => body += &format!("<p>{}</p>\n", escaped(text)),
                Item::Table(t) => body += &table(t),
                Item::Figure(f) => {
                    let picture = svg::render(f, svg::Colours::OfThePage);
                    body += &format!("<figure>\n<figcaption>{}</figcaption>\n{picture}\n", escaped(&f.title));
                    body += &remark(&f.note);
                    body += "</figure>\n";
                }
                Item::Findings(findings) => {
                    body += "<ul class=findings>\n";
                    for f in findings {
                        let class = f.verdict().replace(' ', "-");
                        let (claim, evidence) = (escaped(&f.claim), escaped(&f.evidence));
                        body += &format!(
                            "<li class={class}><b>{}</b> {claim} <span>{evidence}</span></li>\n",
                            f.verdict()
                        );
                    }
                    body += "</ul>\n";
                }
            }
        }
        body += "</section>\n";
    }
    format!(
        "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta name=viewport \
         content=\"width=device-width, initial-scale=1\">\n<meta name=color-scheme content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(&report.title),
    )
}

fn table(t: &Table) -> String {
    let mut out = format!(
        "<div class=table><table>\n<caption>{}</caption>\n<thead><tr><th>{}</th>",
        escaped(&t.title),
        escaped(&t.label)
    );
    for column in &t.columns {
        let span = if column.published { " colspan=2" } else { "" };
        out += &format!("<th{span}>{}</th>", escaped(&column.name));
    }
    out += "</tr>";
    if t.columns.iter().any(|c| c.published) {
        out += "\n<tr class=whose><th></th>";
        for column in &t.columns {
            out += if column.published { "<th>here</th><th class=published>paper</th>" } else { "<th></th>" };
        }
        out += "</tr>";
    }
    out += "</thead>\n<tbody>\n";
    for row in &t.rows {
        out += &format!("<tr><th>{}</th>", escaped(&row.label));
        for (value, column) in row.values.iter().zip(&t.columns) {
            let Number { ours, published } = *value;
            let show = |v: Option<f64>| v.map_or("–".into(), |v| grouped(v, column.decimals));
            out += &format!("<td>{}</td>", show(ours));
            if column.published {
                out += &format!("<td class=published>{}</td>", show(published));
            }
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table>\n" + &remark(&t.note) + "</div>\n"
}

fn remark(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p class=note>{}</p>\n", escaped(text)) }
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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
            "<li class=holds><b>holds</b> A beats B. <span>1.2 against 2.4 s.</span></li>",
            "<li class=not-measured>",
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
