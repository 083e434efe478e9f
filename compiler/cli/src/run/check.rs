//! Prints and checks ranges of buffers after a launch.

use std::cmp::Ordering;

use kiln_runtime::Queue;

use super::{
    buffers::Memory,
    fill::numbers,
    range::buffer_range,
    value::{Number, rounded},
};
use crate::{
    arguments::LaunchArguments,
    exit::{Failure, Outcome, failure, stderr_line},
    files::print,
    paths,
};

/// Prints and checks the parts of buffers that the launch requests. `printed` is the output of the kernel.
pub(crate) fn print_and_check(
    queue: &Queue,
    launch: &LaunchArguments,
    memory: &Memory,
    printed: String,
) -> Result<Outcome, Failure> {
    let Results { printed, complaints } = results(queue, launch, memory, printed)?;
    print(&printed)?;
    for complaint in &complaints {
        stderr_line!("kiln: check failed: {complaint}");
    }
    Ok(if complaints.is_empty() { Outcome::Success } else { Outcome::Diagnostics })
}

/// The results of a launch.
pub(crate) struct Results {
    /// The output of the kernel, and the parts of buffers to print.
    pub(crate) printed: String,
    /// The checks that failed.
    pub(crate) complaints: Vec<String>,
}

/// The results that the launch requests. `printed` is the output of the kernel.
pub(crate) fn results(
    queue: &Queue,
    launch: &LaunchArguments,
    memory: &Memory,
    mut printed: String,
) -> Result<Results, Failure> {
    for text in &launch.print {
        let buffer_range = buffer_range(text)?;
        let (range, values) = memory.read(queue, buffer_range.name, buffer_range.range)?;
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        printed.push_str(&format!(
            "{}[{}..{}] = {}\n",
            buffer_range.name,
            range.start,
            range.end,
            values.join(" ")
        ));
    }
    let mut complaints = Vec::new();
    for text in &launch.check {
        complaints.extend(check(queue, text, memory)?);
    }
    if let Some(path) = &launch.expect {
        let expected = std::fs::read_to_string(paths::path(path))
            .map_err(|e| Failure(format!("cannot read `{path}`: {e}")))?;
        if expected.trim() != printed.trim() {
            complaints.push(format!("the output differs from `{path}`:\n{}", expected.trim()));
        }
    }
    Ok(Results { printed, complaints })
}

/// Whether a comparison operator holds for this ordering of its operands.
type Holds = fn(Option<Ordering>) -> bool;

/// Describes the first value that differs from the expected one.
fn check(queue: &Queue, text: &str, memory: &Memory) -> Result<Option<String>, Failure> {
    let buffer_range = buffer_range(text)?;
    let operators: [(&str, Holds); 7] = [
        ("<=", |it| matches!(it, Some(Ordering::Less | Ordering::Equal))),
        (">=", |it| matches!(it, Some(Ordering::Greater | Ordering::Equal))),
        ("!=", |it| it != Some(Ordering::Equal)),
        ("==", |it| it == Some(Ordering::Equal)),
        ("<", |it| it == Some(Ordering::Less)),
        (">", |it| it == Some(Ordering::Greater)),
        ("=", |it| it == Some(Ordering::Equal)),
    ];
    let Some((operator, holds, list)) = operators
        .iter()
        .find_map(|(op, holds)| buffer_range.rest.strip_prefix(op).map(|list| (op, holds, list)))
    else {
        return failure(format!("`{text}` is not a check such as `out[0..4]=1,2,3,4`"));
    };
    let expected = numbers(list)?;
    let (range, found) = memory.read(queue, buffer_range.name, buffer_range.range)?;
    let expects = match expected.as_slice() {
        [] => return failure(format!("`{text}` has no value")),
        [one] => vec![*one; found.len()],
        several if several.len() == found.len() => several.to_vec(),
        several => {
            return failure(format!("`{text}` has {} values for {} components", several.len(), found.len()));
        }
    };
    let per_element = found.len().checked_div(range.len()).unwrap_or(1).max(1);
    let wrong = found
        .iter()
        .zip(&expects)
        .position(|(found, expected)| !holds(compare(*found, rounded_for(*found, *expected))));
    Ok(wrong.map(|index| {
        let element = range.start + index / per_element;
        let relation = if matches!(*operator, "=" | "==") { String::new() } else { format!("{operator} ") };
        format!("{}[{element}] is {}, not {relation}{}", buffer_range.name, found[index], expects[index])
    }))
}

/// The expected number for a comparison with a value: rounded to the value's type, unless this makes it infinite.
fn rounded_for(found: Number, expected: Number) -> Number {
    let Number::Narrow(_, bytes) = found else { return expected };
    let rounded = rounded(expected.as_f64(), bytes);
    if rounded.is_finite() { Number::Narrow(rounded, bytes) } else { expected }
}

/// Treats NaN as equal to NaN, so that users can check for it.
fn compare(found: Number, expected: Number) -> Option<Ordering> {
    if found.as_f64().is_nan() && expected.as_f64().is_nan() {
        return Some(Ordering::Equal);
    }
    found.partial_cmp(&expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_values_are_rounded_to_the_type_unless_they_become_infinite() {
        let found = Number::Narrow(0.1_f32.into(), 4);
        assert_eq!(rounded_for(found, Number::Float(0.1)), found);
        assert_eq!(rounded_for(found, Number::Float(1e39)), Number::Float(1e39));
        assert_eq!(rounded_for(Number::Float(0.1), Number::Float(0.1)), Number::Float(0.1));
        let found = Number::Narrow(123456790528.0, 4);
        assert_eq!(rounded_for(found, Number::Int(123456790000)), found);
    }
}
