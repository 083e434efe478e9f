//! Code lenses above kernels: commands of the client that run the source, check it for races, show its outcomes by the
//! memory models, and show its SPIR-V. All but the last one require a launch in a comment of the source (`kiln run …`).
//! The lens for outcomes also requires a source with atomic operations, fences or barriers.

use kiln_frontend::hir::{ExprKind, visit};
use kiln_session::source::FileId;
use lsp_types::{CodeLens, Command, SymbolKind};
use serde_json::json;

use crate::{analysis::Analysis, features::symbols, uri};

/// The title and the command of each lens. The arguments are the URI of the source and the name of the kernel.
const COMMANDS: [(&str, &str); 4] = [
    ("Run", "kiln.run"),
    ("Check for races", "kiln.races"),
    ("Show outcomes", "kiln.outcomes"),
    ("Show SPIR-V", "kiln.assembly"),
];

/// The lenses of a file.
pub(crate) fn lenses(analysis: &Analysis, file: FileId) -> Vec<CodeLens> {
    let Some(uri) = analysis.file_name(file).and_then(uri::uri) else { return Vec::new() };
    let kernels =
        symbols::symbols(analysis, file).into_iter().filter(|symbol| symbol.kind == SymbolKind::EVENT);
    let has_launch = analysis.text(file).contains("kiln run ");
    let synchronizes = synchronizes(analysis);
    let of_kernel = |kernel: lsp_types::DocumentSymbol| {
        let uri = uri.clone();
        let commands = COMMANDS.into_iter().filter(move |(_, command)| match *command {
            "kiln.assembly" => true,
            "kiln.outcomes" => has_launch && synchronizes,
            _ => has_launch,
        });
        commands.map(move |(title, command)| CodeLens {
            range: kernel.selection_range,
            command: Some(Command {
                title: title.to_owned(),
                command: command.to_owned(),
                arguments: Some(vec![json!(uri), json!(kernel.name)]),
            }),
            data: None,
        })
    };
    kernels.flat_map(of_kernel).collect()
}

/// Whether the program has atomic operations, fences or barriers.
fn synchronizes(analysis: &Analysis) -> bool {
    let mut found = false;
    for function in analysis.survey.program.functions.iter() {
        visit::expressions(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            found |= matches!(expr.kind, ExprKind::Atomic(_) | ExprKind::Fence(_) | ExprKind::Barrier(_));
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn kernels_have_lenses_and_functions_have_none() {
        let text = "int f() { return 1; }\n$0kernel void k(global int *out) { out[0] = f(); }\n";
        let fixture = Fixture::new(text);
        assert_eq!(lenses(&fixture.analysis, fixture.cursor().file).len(), 1);
        let fixture =
            Fixture::new(&format!("// kiln run --global 1, without atomic_add or barrier()\n{text}"));
        let lenses = lenses(&fixture.analysis, fixture.cursor().file);
        let commands = lenses.iter().filter_map(|lens| lens.command.as_ref());
        let shown: Vec<_> =
            commands.map(|it| (it.title.as_str(), it.arguments.clone().expect("two"))).collect();
        assert_eq!(shown.len(), 3);
        assert!(shown.iter().all(|(_, arguments)| arguments[1] == "k" && arguments[0] == "file:///a.cl"));
        assert_eq!(fixture.covered(lenses.iter().map(|lens| lens.range)), ["2:k", "2:k", "2:k"]);
        // Work-items that synchronize have outcomes.
        let fixture =
            Fixture::new(&format!("// kiln run --global 2\n{text}kernel void w() {{ barrier(1); }}\n"));
        let titles = super::lenses(&fixture.analysis, fixture.cursor().file).into_iter();
        let titles: Vec<_> = titles.filter_map(|lens| lens.command).map(|it| it.title).collect();
        assert_eq!(titles.iter().filter(|title| *title == "Show outcomes").count(), 2);
    }
}
