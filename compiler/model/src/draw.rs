//! Executions as text and as pictures: a column for each work-item, and arrows from writes to the reads of their values.

use std::fmt::Write as _;

use crate::{
    event::{Action, Event, Location, scope, semantics},
    explore::Witness,
};

/// Names the locations of a drawing.
pub type Names<'n> = &'n dyn Fn(Location) -> String;

/// An event in words: `x = 1, seq_cst, device`.
pub fn label(event: &Event, names: Names<'_>) -> String {
    let name = event.location.map(names).unwrap_or_default();
    let order = semantics::order_name(event.semantics);
    let scope = scope::opencl_name(event.scope);
    let suffix = if event.is_atomic { format!(", {order}, {scope}") } else { String::new() };
    match event.action {
        Action::Read => format!("{name} is {}{suffix}", event.read),
        Action::Write => format!("{name} = {}{suffix}", event.written),
        Action::Modify => format!("{name} = {}, was {}{suffix}", event.written, event.read),
        Action::Fence => format!("fence, {order}, {scope}"),
        Action::Arrive => "arrive at the barrier".to_owned(),
        Action::Leave => "leave the barrier".to_owned(),
        Action::MakeAvailable => "make all writes available to the device".to_owned(),
        Action::MakeVisible => "make all writes visible".to_owned(),
    }
}

/// The position of an event: its work-item and its line.
pub fn position(item: usize, event: &Event) -> String {
    match event.line {
        0 => format!("work-item {item}"),
        line => format!("work-item {item}, line {line}"),
    }
}

/// An execution as text: the events of each work-item, and where each read gets its value from.
pub fn text(witness: &Witness, names: Names<'_>) -> String {
    let mut text = String::new();
    for item in 0..witness.positions.len() {
        let _ = writeln!(text, "  work-item {item}");
        for (index, (_, event)) in witness.events.iter().enumerate().filter(|(_, it)| it.0 == item) {
            let line = if event.line == 0 { String::new() } else { format!("{:>4}", event.line) };
            let _ = write!(text, "  {line:>4}  {}", label(event, names));
            match witness.reads_from[index] {
                Some(source) => {
                    let (other, source) = &witness.events[source];
                    let _ = writeln!(text, "  <- {}", position(*other, source));
                }
                None if event.reads() => text.push_str("  <- the initial value\n"),
                None => text.push('\n'),
            }
        }
    }
    text
}

const WIDTH: usize = 250;
const BOX: usize = 210;
const ROW: usize = 54;

/// An execution as an SVG picture.
pub fn svg(witness: &Witness, title: &str, names: Names<'_>) -> String {
    let columns = witness.positions.len();
    let rows: Vec<usize> = (0..witness.events.len())
        .map(|index| witness.events[..index].iter().filter(|it| it.0 == witness.events[index].0).count())
        .collect();
    let height = 80 + ROW * (rows.iter().max().copied().unwrap_or_default() + 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{height}\" viewBox=\"0 0 {0} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#0a6\"/></marker></defs>\n\
         <text x=\"10\" y=\"20\" font-weight=\"bold\">{1}</text>\n",
        columns * WIDTH + 10,
        escaped(title),
    );
    for item in 0..columns {
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"48\" fill=\"#555\">work-item {item}</text>", 10 + item * WIDTH);
    }
    let corner = |index: usize| (10 + witness.events[index].0 * WIDTH, 58 + rows[index] * ROW);
    for (index, (_, event)) in witness.events.iter().enumerate() {
        let (x, y) = corner(index);
        let line = if event.line == 0 { String::new() } else { format!("{}: ", event.line) };
        let label = escaped(&format!("{line}{}", label(event, names)));
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{BOX}\" height=\"30\" rx=\"5\" fill=\"#eef4ff\" stroke=\"#88a\"/>\
             <text x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{label}</text>",
            x + 8,
            y + 20,
            (label.len() * 7).min(BOX - 16),
        );
    }
    for (read, source) in witness.reads_from.iter().enumerate() {
        let Some(source) = source else { continue };
        let ((from, top), (to, bottom)) = (corner(*source), corner(read));
        let (start, end) = if from < to { (from + BOX, to) } else { (from, to + BOX) };
        let _ = writeln!(
            svg,
            "<line x1=\"{start}\" y1=\"{}\" x2=\"{end}\" y2=\"{}\" stroke=\"#0a6\" stroke-width=\"1.5\" \
             marker-end=\"url(#a)\"/>",
            top + 15,
            bottom + 15
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
