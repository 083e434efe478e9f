//! Inline values: the variables whose values a debugger shows beside the lines that were executed.

use kiln_frontend::sema::Meaning;
use kiln_session::source::FileId;
use lsp_types::{InlineValue, InlineValueVariableLookup, Range};

use crate::{analysis::Analysis, names::Thing};

/// The parameters and variables of functions in a range, up to the line where the debugger has stopped.
pub(crate) fn values(analysis: &Analysis, file: FileId, range: Range, stopped: Range) -> Vec<InlineValue> {
    let names = analysis.names_in(file).iter();
    let locals = names.filter(|name| matches!(name.thing, Thing::Program(Meaning::Local(..))));
    let locations = locals.map(|name| (analysis.range(file, &name.location.range), &name.location));
    let is_shown = |location: &Range| {
        range.start <= location.start && location.end <= range.end && location.start.line <= stopped.end.line
    };
    let value = |(range, location): (Range, &kiln_session::source::FileRange)| {
        InlineValue::VariableLookup(InlineValueVariableLookup {
            range,
            variable_name: Some(analysis.survey.sources.text(location).to_owned()),
            case_sensitive_lookup: true,
        })
    };
    locations.filter(|(location, _)| is_shown(location)).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn variables_up_to_the_line_of_the_stop() {
        let fixture = Fixture::new("int g;\nint f(int a) {\n int b = a + g;\n$0 return b;\n}\n");
        let cursor = fixture.cursor();
        let stopped = |line| Range::new(lsp_types::Position::new(line, 0), lsp_types::Position::new(line, 1));
        let whole = fixture.analysis.range(cursor.file, &(0..cursor.text().len()));
        let shown = |line| {
            let found = values(&fixture.analysis, cursor.file, whole, stopped(line));
            let names = found.into_iter().map(|value| match value {
                InlineValue::VariableLookup(lookup) => lookup.variable_name.expect("a name"),
                other => panic!("{other:?}"),
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(shown(2), ["a", "b", "a"]);
        assert_eq!(shown(3), ["a", "b", "a", "b"]);
    }
}
