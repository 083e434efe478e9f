//! Signature help: the overloads of the called function, and the active parameter.

use kiln_frontend::sema::Meaning;
use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureInformation,
};

use crate::{
    analysis::{Analysis, Cursor},
    features::hover,
};

/// The overloads, if the cursor is in a call.
pub(crate) fn help(cursor: &Cursor<'_>) -> Option<SignatureHelp> {
    let call = cursor.open_call(cursor.offset)?;
    let name = &cursor.text()[call.name.clone()];
    let forms = forms(cursor.analysis, name);
    let takes = |form: &Form| {
        form.parameters.len() > call.argument || form.parameters.last().is_some_and(|last| last == "...")
    };
    let active = forms.iter().position(takes).unwrap_or(0);
    let signatures: Vec<_> = forms.into_iter().map(|form| information(form, call.argument)).collect();
    (!signatures.is_empty()).then_some(SignatureHelp {
        signatures,
        active_signature: Some(active as u32),
        active_parameter: Some(call.argument as u32),
    })
}

/// An overload: its text, and its parameters.
pub(crate) struct Form {
    pub(crate) line: String,
    pub(crate) parameters: Vec<String>,
    documentation: String,
}

/// The signatures of a name. The program's functions and macros take precedence over built-in functions.
pub(crate) fn forms(analysis: &Analysis, name: &str) -> Vec<Form> {
    let program = &analysis.survey.program;
    let functions =
        program.functions.entries().filter(|(_, function)| analysis.symbol(function.name) == name);
    let mut forms: Vec<Form> = functions
        .map(|(id, _)| Form {
            line: hover::signature(analysis, id),
            parameters: hover::parameters(analysis, id),
            documentation: hover::entity_text(analysis, Meaning::Function(id), name).unwrap_or_default(),
        })
        .collect();
    for definition in &analysis.survey.trace.definitions {
        if let Some(parameters) = &definition.parameters
            && analysis.symbol(definition.name) == name
        {
            let parameters: Vec<String> =
                parameters.iter().map(|parameter| analysis.symbol(*parameter).to_owned()).collect();
            let line = format!("{name}({})", parameters.join(", "));
            let documentation = hover::code(&hover::macro_line(analysis, definition.span, name));
            forms.push(Form { line, parameters, documentation });
        }
    }
    if forms.is_empty() && kiln_builtins::is_name(name) {
        forms = hover::forms(analysis, name)
            .into_iter()
            .map(|line| Form {
                parameters: written_parameters(&line),
                line,
                documentation: hover::about(name),
            })
            .collect();
    }
    forms
}

/// The parameters in a declaration.
fn written_parameters(line: &str) -> Vec<String> {
    let inside = line.split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest));
    inside
        .split(", ")
        .filter(|parameter| !parameter.is_empty() && *parameter != "void")
        .map(str::to_owned)
        .collect()
}

fn information(form: Form, argument: usize) -> SignatureInformation {
    let value = form.documentation;
    let documentation = Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value });
    let last = form.parameters.len().saturating_sub(1);
    let parameters = form
        .parameters
        .into_iter()
        .map(|label| ParameterInformation { label: ParameterLabel::Simple(label), documentation: None })
        .collect();
    SignatureInformation {
        label: form.line,
        documentation: Some(documentation),
        parameters: Some(parameters),
        active_parameter: Some(argument.min(last) as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[track_caller]
    fn check(text: &str, label: &str, parameter: &str) {
        let fixture = Fixture::new(text);
        let help = help(&fixture.cursor()).expect("in a call");
        let signature = &help.signatures[help.active_signature.expect("one") as usize];
        assert_eq!(signature.label, label);
        let parameters = signature.parameters.as_ref().expect("some");
        let active = &parameters[signature.active_parameter.expect("one") as usize];
        assert_eq!(active.label, ParameterLabel::Simple(parameter.to_owned()));
    }

    #[test]
    fn functions_macros_and_built_in_functions() {
        check("int add(int a, int b);\nint f() { return add(1, $0", "int add(int a, int b)", "int b");
        check("#define ADD(a, b) (a + b)\nint f() { return ADD($0", "ADD(a, b)", "a");
        check("void f() { get_global_id($0) }", "ulong get_global_id(uint dimension)", "uint dimension");
        check(
            "void f(read_only image2d_t i, sampler_t s) { read_imagef(i, s, $0); }",
            "float4 read_imagef(image image, sampler_t sampler, gentype coordinates)",
            "gentype coordinates",
        );
    }
}
