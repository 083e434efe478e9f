//! Undefined behavior that a device reports: whether an error is one, and its lines.

use kiln_runtime::Error;

use crate::options::FormatArgument;

/// Whether a launch failed because the kernel has undefined behavior.
pub(crate) fn is_undefined(error: &Error) -> bool {
    match error {
        Error::OutsideBuffers { .. } | Error::OutsideObject { .. } => true,
        Error::Strict(report) => !report.is_trap() && !report.is_timeout(),
        _ => false,
    }
}

/// The text for an error of a launch. In the formats with a line per diagnostic, it starts with the location, so that
/// editors find it.
pub(super) fn message(error: &Error, format: FormatArgument) -> String {
    let is_by_line = matches!(format, FormatArgument::Gcc | FormatArgument::Short);
    match error {
        Error::Strict(report) if is_by_line => {
            let Some(location) = &report.location else { return error_line(error) };
            let position = format!("{}:{}", location.file, location.line);
            let [x, y, z] = report.work_item;
            let mut text = format!(
                "{position}: error: kernel `{}`, work-item ({x}, {y}, {z}): {} [{}]",
                report.kernel, report.message, report.kind
            );
            for note in &report.notes {
                text.push_str(&format!("\n{position}: note: {note}"));
            }
            text
        }
        Error::OutsideBuffers { site, .. } | Error::OutsideObject { site, .. }
            if is_by_line && !site.is_empty() =>
        {
            format!("{site}: error: {error}")
        }
        _ => error_line(error),
    }
}

fn error_line(error: &Error) -> String {
    format!("kiln: error: {error}")
}
