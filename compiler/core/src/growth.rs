//! Tests that the number of values after a pass is proportional to the size of the program.

use crate::{
    Artifact, Emit, compile,
    session::{NoFiles, Options, Source},
};

/// The number of values after a pass.
fn values(source: String, pass: &str) -> usize {
    let source = Source { name: "a.cl".into(), text: source.into_bytes() };
    let output = compile(source, &Options::default(), &NoFiles, &Emit::IrAfter(pass.to_owned()));
    let Some(Artifact::Text(text)) = output.artifact else { panic!("{:?}", output.diagnostics) };
    text.split([' ', '(']).filter(|word| word.starts_with('%') && word.ends_with(':')).count()
}

/// The values of a variable of an inner loop do not pass through the loops around it.
#[test]
fn nested_loops_add_a_constant_number_of_values() {
    let nested = |depth: usize| {
        let loops: String =
            (0..depth).map(|i| format!("for (int i{i} = 0; i{i} < n; i{i}++) {{\n")).collect();
        let source = format!(
            "kernel void k(global int *p, int n) {{ int x = 0;\n{loops} x += p[x];\n{} p[0] = x; }}",
            "}".repeat(depth)
        );
        values(source, "promote_early")
    };
    let [few, more, max] = [10, 20, 30].map(nested);
    assert!(few < more);
    assert_eq!(max - more, more - few);
}
