//! `--report=html`: the report as a page that needs nothing else, with the layouts drawn and the source lines quoted.
//!
//! Says what [`crate::shown::report`] says, in the same order; whatever comes from the program is escaped
//! ([`cairn_html`]).

use crate::dsa::Analysis;
use crate::dsa::points_to::{NodeId, Why};
use crate::names::{Name, Names};
use crate::rewrite::Done;
use crate::shape::{Layout, Part};
use cairn_html::{Html, add, document, html};

/// How to read the bars of [`drawn`].
const LEGEND: &str = "The upper bar is an object as clang lays it out, the lower one as it is now, at the same scale. \
                      Each box is a field with its offset in bytes; green boxes are small pointers (indices), grey ones \
                      other fields. Fields that nothing accesses are left out.";

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:light-dark(#22262b,#e6e6e3);
background:light-dark(#fff,#1b1d20)}:root{color-scheme:light dark}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;
border-bottom:1px solid light-dark(#e0dfda,#3a3d42)}code{white-space:pre-wrap}
.layout{display:flex;height:1.1rem;margin:.15rem 0}.layout span{border-right:1px solid light-dark(#fff,#1b1d20);
overflow:hidden;font-size:.7rem;text-align:center;background:light-dark(#c9ced6,#4a4f57)}
.layout .index{background:light-dark(#7fb08f,#3f7a55)}.layout .gone{background:none}.number{text-align:right}
";

/// What was done and what wasn't: the body of the page. `line` gives the text of a place "file.c:12", if it can.
pub(crate) fn body(
    analysis: &Analysis,
    names: &Names,
    done: &Done,
    line: &dyn Fn(&str) -> Option<String>,
) -> Html {
    let mut out = Html::new();
    let reason = |id: NodeId, why: &Why| {
        let at = names.line(analysis, id, why.at);
        // The objects' own line is quoted beside them.
        let again = names.of(analysis, id).place == at;
        html!("{} at {}", why.text, if again { html!("{}", at) } else { place(&at, line) })
    };
    let (mut pools, mut others) = (Html::new(), Html::new());
    for (_, decision, id) in &done.pools {
        let kind = match (decision.shape.pooled, decision.shape.array) {
            _ if decision.shape.dynamic => "dynamic pool",
            (false, _) => "in no pool, but smaller",
            (true, true) => "pool of arrays",
            (true, false) => "pool",
        };
        add!(pools, "<tr><td>{}<td>{}", called(&names.of(analysis, *id), line), kind);
        match (&decision.shape.layout, &decision.no_layout) {
            (Some(layout), _) => add!(
                pools,
                "<td class=number>{}<td class=number>{}<td class=number>{}<td>{}",
                layout.size,
                layout.new_size,
                layout.small_count(),
                drawn(layout)
            ),
            (None, why) => {
                let why = why.as_ref().map(|why| reason(*id, why));
                add!(pools, "<td><td><td><td>layout stays: {}", why);
            }
        };
        if let Some(why) = &decision.because {
            let kind = if decision.shape.dynamic { "dynamic" } else { "static" };
            add!(pools, "<br>{}: {}", kind, reason(*id, why));
        }
    }
    for (_, decision, id) in &done.refused {
        if let Some(why) = decision.no_pool.as_ref().or(decision.no_layout.as_ref()) {
            add!(others, "<tr><td>{}<td>{}", called(&names.of(analysis, *id), line), reason(*id, why));
        }
    }
    if !pools.is_empty() {
        let head =
            html!("<th>objects<th><th>bytes before<th>bytes now<th>small pointers<th>layout before and now");
        add!(out, "<h2>In pools</h2>\n<p>{}\n<table><tr>{}\n{}</table>\n", LEGEND, head, pools);
    }
    if !others.is_empty() {
        let head = html!("<th>objects<th>why");
        add!(out, "<h2>As before</h2>\n<table><tr>{}\n{}</table>\n", head, others);
    }
    add!(
        out,
        "<p>{} versions of functions, {} small pointers read and {} written, {} accesses rewritten.\n",
        done.versions,
        done.small_loads,
        done.small_stores,
        done.rewritten
    );
    out
}

/// The whole page for a program: a body, and why the program is as clang makes it, if it is.
pub(crate) fn page(program: &str, refused: Option<&str>, body: &Html) -> String {
    let mut all = html!("<h1>Pools of {}</h1>\n", program);
    if let Some(why) = refused {
        add!(all, "<p>Compiled as clang does: {}\n", why);
    }
    add!(all, "{}", body);
    document(&format!("Pools of {program}"), STYLE, &all)
}

fn place(place: &str, line: &dyn Fn(&str) -> Option<String>) -> Html {
    html!("{}{}", place, line(place).map(|l| html!("<br><code>{}</code>", l.trim())))
}

/// What objects are called, with the line where they are allocated.
fn called(name: &Name, line: &dyn Fn(&str) -> Option<String>) -> Html {
    let text = line(&name.place).map(|l| html!("<br><code>{}</code>", l.trim()));
    html!("<b>{}</b> {}{}", name.what, name.after_type(), text)
}

/// Two bars of boxes, as wide as fields are long.
fn drawn(layout: &Layout) -> Html {
    let bar = |size: u64, boxes: Vec<(u64, u64, bool)>| {
        let mut out = html!("<div class=layout>");
        let wide = |bytes: u64| html!("style=\"width:{}%\"", 100 * bytes / layout.size.max(1));
        let mut end = 0;
        for (at, bytes, small) in boxes {
            if at > end {
                add!(out, "<span class=gone {}></span>", wide(at - end));
            }
            let class = small.then(|| html!(" class=index"));
            add!(out, "<span{} title=\"offset {}, {} bytes\" {}>{}</span>", class, at, bytes, wide(bytes), at);
            end = at + bytes;
        }
        if size > end {
            add!(out, "<span class=gone {}></span>", wide(size - end));
        }
        add!(out, "</div>");
        out
    };
    let boxes = |field: &dyn Fn(&Part) -> (u64, u64)| -> Vec<(u64, u64, bool)> {
        let small = |p: &Part| p.small || p.inner.iter().any(|i| i.small);
        layout.parts.iter().map(|p| (field(p).0, field(p).1 * p.count, small(p))).collect()
    };
    let (before, mut after) = (boxes(&|p| (p.old, p.size)), boxes(&|p| (p.new, p.new_size)));
    after.sort();
    html!("{}{}", bar(layout.size, before), bar(layout.new_size, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_escapes_what_the_program_says() {
        let page = page("a<b", Some("x & y"), &html!("<p>body"));
        assert!(
            page.contains("Pools of a&lt;b") && page.contains("x &amp; y") && page.contains("<p>body"),
            "{page}"
        );
        let shown = |line: Option<&str>| place("a.c:1", &|_| line.map(str::to_string)).to_string();
        assert_eq!(shown(Some("  if (a < b)")), "a.c:1<br><code>if (a &lt; b)</code>");
        assert_eq!(shown(None), "a.c:1");
    }

    #[test]
    fn layouts_are_drawn_to_scale() {
        let part =
            |old, new, size, new_size, small| Part { old, new, size, new_size, count: 1, inner: vec![], small };
        let parts = vec![part(0, 0, 4, 4, false), part(8, 4, 8, 4, true)];
        let drawn = drawn(&Layout { size: 16, new_size: 8, align: 4, parts }).to_string();
        assert_eq!(drawn.matches("class=layout").count(), 2);
        for field in [
            "offset 0, 4 bytes\" style=\"width:25%\"",
            "class=index title=\"offset 8, 8 bytes\" style=\"width:50%\"",
            "class=index title=\"offset 4, 4 bytes\" style=\"width:25%\"",
        ] {
            assert!(drawn.contains(field), "{field}: {drawn}");
        }
        assert_eq!(drawn.matches("class=gone").count(), 1, "the hole before the pointer");
    }
}
