//! Figures as SVG. Drawn with stand-ins for colours, which then become fixed colours (a file of its own) or variables
//! of the page's style (light or dark).

use super::document::{Content, Figure, Panel};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::fmt::Display;

/// Where colours come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    /// From the picture.
    Fixed,
    /// From variables of the page.
    OfThePage,
}

const fn stand_in(n: u8) -> RGBColor {
    RGBColor(1, 2, n)
}
const INK: RGBColor = stand_in(1);
const SOFT: RGBColor = stand_in(2);
const GRID: RGBColor = stand_in(3);
/// Series repeat their colours after so many.
const SERIES: usize = 6;
const fn series(n: usize) -> RGBColor {
    stand_in(16 + (n % SERIES) as u8)
}

/// Stand-in, variable of `page.css`, and the colour on paper.
const PALETTE: [(RGBColor, &str, &str); 3 + SERIES] = [
    (INK, "--ink", "#22262b"),
    (SOFT, "--soft", "#6b727b"),
    (GRID, "--grid", "#e8e7e2"),
    (series(0), "--s0", "#2f6db5"),
    (series(1), "--s1", "#d9822b"),
    (series(2), "--s2", "#3f9b6a"),
    (series(3), "--s3", "#a8498f"),
    (series(4), "--s4", "#8a7a2e"),
    (series(5), "--s5", "#7a7f87"),
];

const WIDTH: u32 = 1040;
const LEGEND: u32 = 30;
const ROW: u32 = 22;
const FONT: &str = "system-ui, sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

pub(super) fn render(figure: &Figure, colours: Colours) -> String {
    let columns = match figure.panels.first().map(|p| &p.content) {
        Some(Content::Curves { .. }) => figure.panels.len().clamp(1, 4),
        _ => figure.panels.len().clamp(1, 2),
    };
    let rows = figure.panels.len().div_ceil(columns).max(1);
    let height = figure.panels.iter().map(panel_height).max().unwrap_or(0);
    let size = (WIDTH, LEGEND + height * rows as u32);
    let mut picture = String::new();
    draw(figure, &mut picture, size, (rows, columns)).expect("drawing to memory does not fail");
    for (stand_in, variable, fixed) in PALETTE {
        let RGBColor(r, g, b) = stand_in;
        let colour = match colours {
            Colours::Fixed => fixed.to_string(),
            Colours::OfThePage => format!("var({variable})"),
        };
        picture = picture.replace(&format!("#{r:02X}{g:02X}{b:02X}"), &colour);
    }
    // The size is a proportion: the page decides how wide it is.
    let fixed_size = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    if colours == Colours::OfThePage { picture.replacen(&fixed_size, "role=\"img\"", 1) } else { picture }
}

fn panel_height(panel: &Panel) -> u32 {
    match &panel.content {
        Content::Curves { .. } => 230,
        Content::Shares(rows) => 64 + ROW * rows.len() as u32,
        Content::Bars { rows, .. } => 84 + ROW * rows.len() as u32 * 2,
    }
}

fn draw<'a>(figure: &Figure, picture: &'a mut String, size: (u32, u32), grid: (usize, usize)) -> Drawn<'a> {
    let root = SVGBackend::with_string(picture, size).into_drawing_area();
    let (head, body) = root.split_vertically(LEGEND);
    legend(&head, &figure.legend)?;
    for (area, panel) in body.split_evenly(grid).iter().zip(&figure.panels) {
        match &panel.content {
            Content::Curves { axes, series } => curves(area, &panel.title, axes, series)?,
            Content::Shares(rows) => shares(area, &panel.title, rows)?,
            Content::Bars { axis, rows } => bars(area, &panel.title, axis, rows)?,
        }
    }
    root.present()
}

fn legend<'a>(area: &Area<'a>, names: &[String]) -> Drawn<'a> {
    let mut x = 8;
    for (i, name) in names.iter().enumerate() {
        area.draw(&Rectangle::new([(x, 9), (x + 14, 19)], series(i).filled()))?;
        area.draw(&Text::new(name.clone(), (x + 20, 8), (FONT, 13).into_font().color(&INK)))?;
        x += 44 + 8 * name.chars().count() as i32;
    }
    Ok(())
}

/// The least range that holds all values, and zero.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((0.0f64, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    if low == high { (low, low + 1.0) } else { (low * 1.08, high * 1.08) }
}

/// Two digits that say something.
fn short(v: &f64) -> impl Display + use<> {
    let decimals = match v.abs() {
        0.0 => 0,
        a if a >= 10.0 || a == a.trunc() => 0,
        a => (1 - a.log10().floor() as i32).clamp(1, 6) as usize,
    };
    let text = format!("{v:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').to_string() } else { text }
}

fn curves<'a>(area: &Area<'a>, title: &str, axes: &(String, String), lines: &[Vec<(f64, f64)>]) -> Drawn<'a> {
    let points = || lines.iter().flatten();
    let (_, high) = range(points().map(|p| p.1));
    let left = points().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let right = points().map(|p| p.0).fold(0.0, f64::max);
    if left > right {
        return area.draw(&Text::new(
            format!("{title}: nothing measured"),
            (8, 8),
            (FONT, 12).into_font().color(&SOFT),
        ));
    }
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 14).into_font().color(&INK))
        .margin(6)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d((left * 0.9..right * 1.1).log_scale().base(2.0), 0.0..high)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(SOFT)
        .x_desc(&axes.0)
        .y_desc(&axes.1)
        .x_labels(7)
        .y_labels(5)
        .x_label_formatter(&|v| short(v).to_string())
        .y_label_formatter(&|v| short(v).to_string())
        .label_style((FONT, 11).into_font().color(&SOFT))
        .draw()?;
    for (i, line) in lines.iter().enumerate() {
        chart.draw_series(LineSeries::new(line.iter().copied(), series(i).stroke_width(2)))?;
        chart.draw_series(line.iter().map(|&p| Circle::new(p, 3, series(i).filled())))?;
    }
    Ok(())
}

fn label<'a>(area: &Area<'a>, text: &str, y: i32) -> Drawn<'a> {
    area.draw(&Text::new(text.to_string(), (8, y), (FONT, 12).into_font().color(&INK)))
}

/// Where the bars of a row begin, and how wide the longest may be.
const LABELS: i32 = 120;

fn shares<'a>(area: &Area<'a>, title: &str, rows: &[(String, Vec<f64>)]) -> Drawn<'a> {
    let width = f64::from(area.dim_in_pixel().0 as i32 - LABELS - 24);
    area.draw(&Text::new(title.to_string(), (8, 4), (FONT, 14).into_font().color(&INK)))?;
    for (i, (name, parts)) in rows.iter().enumerate() {
        let y = 28 + ROW as i32 * i as i32;
        label(area, name, y + 2)?;
        let mut sum = 0.0;
        for (n, part) in parts.iter().enumerate() {
            let (from, to) = (LABELS + (sum * width) as i32, LABELS + ((sum + part) * width) as i32);
            area.draw(&Rectangle::new([(from, y), (to, y + 16)], series(n).filled()))?;
            sum += part;
        }
    }
    let foot = 28 + ROW as i32 * rows.len() as i32;
    for percent in [0, 25, 50, 75, 100] {
        let x = LABELS + (width * f64::from(percent) / 100.0) as i32;
        area.draw(&PathElement::new([(x, 24), (x, foot)], GRID))?;
        area.draw(&Text::new(format!("{percent} %"), (x - 8, foot + 4), (FONT, 11).into_font().color(&SOFT)))?;
    }
    Ok(())
}

fn bars<'a>(area: &Area<'a>, title: &str, axis: &str, rows: &[(String, Vec<f64>)]) -> Drawn<'a> {
    let (low, high) = range(rows.iter().flat_map(|r| r.1.iter().copied()));
    let width = f64::from(area.dim_in_pixel().0 as i32 - LABELS - 70);
    let place = |v: f64| LABELS + ((v - low) / (high - low) * width) as i32;
    area.draw(&Text::new(format!("{title} ({axis})"), (8, 4), (FONT, 14).into_font().color(&INK)))?;
    let mut y = 30;
    for (name, values) in rows {
        label(area, name, y + 2)?;
        for (n, &v) in values.iter().enumerate() {
            let (from, to) = (place(v.min(0.0)), place(v.max(0.0)));
            area.draw(&Rectangle::new([(from, y), (to.max(from + 1), y + 11)], series(n).filled()))?;
            area.draw(&Text::new(short(&v).to_string(), (to + 4, y - 1), (FONT, 11).into_font().color(&SOFT)))?;
            y += 14;
        }
        y += 8;
    }
    area.draw(&PathElement::new([(place(0.0), 26), (place(0.0), y)], SOFT))
}

#[cfg(test)]
mod tests {
    use super::super::Figure;
    use super::super::tests::sample;
    use super::*;
    use crate::report::Item;

    fn figure() -> Figure {
        let Item::Figure(figure) = sample().sections[0].items[2].clone() else {
            panic!("the sample's third item")
        };
        figure
    }

    #[test]
    fn colours_are_fixed_or_the_pages() {
        let fixed = render(&figure(), Colours::Fixed);
        assert!(fixed.contains("#2f6db5") && !fixed.contains("var("), "{fixed}");
        let page = render(&figure(), Colours::OfThePage);
        assert!(page.contains("var(--s1)") && !page.contains("#0102"), "{page}");
        assert!(!fixed.contains("#0102"));
    }

    #[test]
    fn every_value_is_drawn() {
        let picture = render(&figure(), Colours::Fixed);
        assert_eq!(picture.matches("<circle").count(), 4, "points of the curves");
        for text in ["life", "seconds", "gen", "mcc", "-3", "12", "50 %"] {
            assert!(picture.contains(text), "{text}");
        }
    }

    #[test]
    fn a_figure_without_points_says_so() {
        let mut empty = figure();
        let Content::Curves { series, .. } = &mut empty.panels[0].content else { panic!("curves") };
        series.iter_mut().for_each(Vec::clear);
        assert!(render(&empty, Colours::Fixed).contains("nothing measured"));
    }
}
