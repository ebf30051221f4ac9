//! Flame graphs of profiles, drawn by the crate `inferno`.

use inferno::flamegraph::{Options, from_lines};

/// A flame graph (SVG) of folded stacks: a line each, frames separated by semicolons, then a number
/// of units.
pub fn draw_flame_graph(folded: &str, title: &str, unit: &str) -> Result<Vec<u8>, String> {
    if folded.trim().is_empty() {
        return Err(
            "there are no samples to draw: the program took less than a millisecond, or allocated nothing".into(),
        );
    }
    let mut options = Options::default();
    options.title = title.into();
    options.count_name = unit.into();
    options.deterministic = true;
    let mut svg = Vec::new();
    from_lines(&mut options, folded.lines(), &mut svg).map_err(|e| format!("cannot draw a flame graph: {e}"))?;
    Ok(svg)
}
