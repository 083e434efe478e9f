//! Every request is answered for any source, valid or invalid.

use std::{fs, path::Path};

use lsp_types::Range;

use super::{
    actions, calls, completion, definition, folding, highlight, hints, hover, lenses, links, references,
    rename, selection, signature, symbols, tokens, values,
};
use crate::{
    analysis::{Analysis, Cursor},
    configuration::InlayHints,
    diagnostics,
    fixture::Fixture,
};

/// Sends all requests at an offset.
fn send_requests(fixture: &Fixture, analysis: &Analysis, offset: usize) {
    let file = analysis.file(&fixture.name).expect("the source");
    let cursor = Cursor { analysis, client_state: &fixture.client_state, file, offset, newer: None };
    hover::hover(&cursor);
    completion::complete(&cursor);
    signature::help(&cursor);
    definition::definition(&cursor);
    definition::type_definition(&cursor);
    highlight::highlight(&cursor);
    selection::enclosing_ranges(&cursor);
    actions::actions(analysis, file, &(offset..offset), None);
    actions::actions(analysis, file, &(0..offset), None);
    calls::prepare(&cursor);
    calls::outgoing(&cursor);
    if let Some(key) = references::key(&cursor) {
        assert!(references::entity(analysis, &key).is_some(), "{key:?}");
    }
    if let (Ok((_, old)), Some(name)) = (rename::prepare(&cursor), cursor.name()) {
        rename::rejection(analysis, name.entity, &old, "another");
    }
}

/// Sends all requests for a text.
fn send_requests_throughout(text: &str, step: usize) {
    let fixture = Fixture::new(&text.replace("$0", ""));
    let analysis = &fixture.analysis;
    let file = analysis.file(&fixture.name).expect("the source");
    let length = analysis.text(file).len();
    let whole: Range = analysis.range(file, &(0..length));
    diagnostics::by_file(analysis);
    symbols::symbols(analysis, file);
    folding::ranges(analysis, file);
    links::links(analysis, file);
    hints::hints(analysis, file, whole, InlayHints::default());
    tokens::tokens(analysis, file, None);
    lenses::lenses(analysis, file);
    values::values(analysis, file, whole, whole);
    for offset in (0..=length).step_by(step).filter(|offset| analysis.text(file).is_char_boundary(*offset)) {
        send_requests(&fixture, analysis, offset);
    }
}

/// The sources of the examples.
fn examples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folders = fs::read_dir(folder).expect("the examples").flatten();
    let files = folders.filter_map(|folder| fs::read_dir(folder.path()).ok()).flatten().flatten();
    let sources = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|it| it == "cl"));
    let mut sources: Vec<_> = sources.collect();
    sources.sort();
    sources.into_iter().map(|path| fs::read_to_string(path).expect("it is text")).collect()
}

#[test]
fn everywhere_in_the_examples() {
    let examples = examples();
    assert!(examples.len() > 4);
    examples.iter().for_each(|text| send_requests_throughout(text, 61));
}

#[test]
fn in_truncated_and_shortened_examples() {
    for text in examples() {
        for part in 1..8 {
            let mut cut = text.len() * part / 8;
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            send_requests_throughout(&text[..cut], 499);
            send_requests_throughout(&text[cut..], 499);
        }
    }
}

#[test]
fn in_malformed_texts() {
    let odd = [
        "",
        "\n\n",
        "é",
        "/*",
        "\"",
        "#",
        "#include",
        "#include \"",
        "#define F(x",
        "#define F(x) x\nint f() { return F(F(1)",
        "#define é 1\nint a = é;",
        "#if 1\n#if 0\n",
        "struct { struct { int a; }; } s; int f() { return s.",
        "int f() { f(f(f(",
        "}}}}",
        "kernel void k(global int *a, ",
        "void f() { goto",
        "typedef struct S S; void f(S *s) { s->",
        "enum { A = B, B = A };",
        "int a[] = { [",
        "void f() { ^{ return 1; }(); }",
        "void f(float4 v) { v.xyzw.",
        "void f() { for (int i = 0; i",
        "\u{FEFF}int a;",
        "int a;\r\nint b;\rint c;",
        "__attribute__((",
        "#pragma OPENCL EXTENSION",
        "int \\\nf\\\noo() { return fo\\\no(); }",
    ];
    odd.iter().for_each(|text| send_requests_throughout(text, 1));
}
