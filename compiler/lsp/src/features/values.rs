//! Inline values: the variables whose values a debugger shows next to the executed lines.

use kiln_frontend::sema::Meaning;
use kiln_session::source::FileId;
use lsp_types::{InlineValue, InlineValueVariableLookup, Position, Range};

use crate::{analysis::Analysis, names::Entity};

/// The parameters and variables of the function in which the debugger has stopped, in a range, up to the line of the
/// stop. Variables of other functions have no values there.
pub(crate) fn values(analysis: &Analysis, file: FileId, range: Range, stopped: Range) -> Vec<InlineValue> {
    let Some(function) = function_at(analysis, file, stopped) else { return Vec::new() };
    let names = analysis.names_in(file).iter().filter(|name| {
        function.start <= name.location.range.start && name.location.range.end <= function.end
    });
    let locals = names.filter(|name| matches!(name.entity, Entity::Program(Meaning::Local(..))));
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

/// The function that overlaps a range of lines.
fn function_at(analysis: &Analysis, file: FileId, stopped: Range) -> Option<std::ops::Range<usize>> {
    let (text, lines) = (analysis.text(file), analysis.lines(file)?);
    let line_end = Position::new(stopped.end.line, u32::MAX);
    let stopped = lines.offset(text, stopped.start)..lines.offset(text, line_end);
    let scopes = analysis.survey.facts.scopes.iter().filter_map(|scope| analysis.in_file(file, *scope));
    let around = scopes.filter(|scope| scope.start <= stopped.end && stopped.start <= scope.end);
    around.max_by_key(|scope| scope.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn variables_up_to_the_line_of_the_stop() {
        let fixture = Fixture::new(
            "int g;\nint f(int a) {\n int b = a + g;\n$0 return b;\n}\nint h(int c) { return c; }\n",
        );
        let cursor = fixture.cursor();
        let stopped = |line| Range::new(Position::new(line, 0), Position::new(line, 1));
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
        assert_eq!(shown(5), ["c", "c"]);
        assert_eq!(shown(0), [""; 0]);
    }
}
