//! Converts the compiler's diagnostics to the protocol's, grouped by file.

use std::collections::BTreeMap;

use kiln_session::diag::{Code, Severity};
use kiln_syntax::Span;
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    NumberOrString,
};

use crate::{analysis::Analysis, pages};

/// The `source` field of diagnostics.
pub(crate) const SOURCE: &str = "kiln";

/// The diagnostics of an analysis by file name. Every file read gets an entry, even if empty, so that stale
/// diagnostics are cleared.
pub(crate) fn by_file(analysis: &Analysis) -> BTreeMap<String, Vec<Diagnostic>> {
    let mut files: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for name in analysis.file_names() {
        files.entry(name.to_owned()).or_default();
    }
    for diagnostic in &analysis.survey.diagnostics {
        let (name, range) = file_and_range(analysis, diagnostic.span);
        let rows = files.entry(name.to_owned()).or_default();
        let converted = convert(analysis, diagnostic, range);
        // A header that is included twice reports its diagnostics twice.
        if !rows.contains(&converted) {
            rows.push(converted);
        }
    }
    files
}

/// The location for a message about a span, or the start of the source if that is not in one of the user's files.
fn file_and_range(analysis: &Analysis, span: Span) -> (&str, lsp_types::Range) {
    let location = analysis.resolve(span);
    let found = location.and_then(|location| {
        Some((analysis.file_name(location.file)?, analysis.range(location.file, &location.range)))
    });
    found.unwrap_or_else(|| (&analysis.root, lsp_types::Range::default()))
}

/// Converts a diagnostic.
pub(crate) fn convert(
    analysis: &Analysis,
    diagnostic: &kiln_session::diag::Diagnostic,
    range: lsp_types::Range,
) -> Diagnostic {
    let mut message = diagnostic.message.clone();
    if !diagnostic.label.is_empty() {
        message = format!("{message}: {}", diagnostic.label);
    }
    let further = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    message.extend(further.chain(diagnostic.notes.iter().map(|note| format!("\nnote: {note}"))));
    let related: Vec<_> = diagnostic
        .labels
        .iter()
        .filter_map(|label| related(analysis, label.span, label.text.clone()))
        .chain(in_macros(analysis, diagnostic.span))
        .collect();
    Diagnostic {
        range,
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(diagnostic.code.name().to_owned())),
        code_description: pages::diagnostic(diagnostic.code).map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: tags(diagnostic.code),
        data: None,
    }
}

fn related(analysis: &Analysis, span: Span, message: String) -> Option<DiagnosticRelatedInformation> {
    let location = analysis.location(&analysis.resolve(span)?)?;
    Some(DiagnosticRelatedInformation { location, message })
}

/// The locations in the macro definitions that a span expands from.
fn in_macros(analysis: &Analysis, span: Span) -> Vec<DiagnosticRelatedInformation> {
    let survey = &analysis.survey;
    let related = survey.sources.macro_trail(span).into_iter().filter_map(|step| {
        let location = analysis.location(&step.definition)?;
        let message = format!("in the definition of macro `{}`", analysis.symbol(step.name));
        Some(DiagnosticRelatedInformation { location, message })
    });
    related.collect()
}

/// Tags for an editor: unnecessary code is dimmed, deprecated code struck through.
fn tags(code: Code) -> Option<Vec<DiagnosticTag>> {
    let tag = match code {
        Code::UnusedVariable
        | Code::UnusedParameter
        | Code::UnusedLabel
        | Code::UnusedValue
        | Code::ExtraTokens
        | Code::IgnoredAttribute
        | Code::ExcessInitializers => DiagnosticTag::UNNECESSARY,
        Code::LongLong | Code::RgbaComponents | Code::MemFenceImage => DiagnosticTag::DEPRECATED,
        _ => return None,
    };
    Some(vec![tag])
}
