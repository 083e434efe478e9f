//! Document links: the names of included files.

use kiln_session::source::FileId;
use lsp_types::DocumentLink;

use crate::{analysis::Analysis, uri};

/// The links of a file.
pub(crate) fn links(analysis: &Analysis, file: FileId) -> Vec<DocumentLink> {
    let includes = analysis.survey.trace.includes.iter().filter_map(|directive| {
        let range = analysis.in_file(file, directive.span)?;
        let path = uri::normal(directive.path.as_ref()?);
        Some(DocumentLink {
            range: analysis.range(file, &range),
            target: uri::uri(&path),
            tooltip: Some(path),
            data: None,
        })
    });
    includes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn existing_files_are_links() {
        let text = "//- /k/a.cl\n#include \"../b.h\"\n#include <c.h>\n//- /b.h\n";
        let fixture = Fixture::new(text);
        let links = links(&fixture.analysis, fixture.cursor().file);
        let targets: Vec<_> = links.iter().map(|link| link.target.as_ref().map(uri::name)).collect();
        assert_eq!(targets, [Some("/b.h".to_owned())]);
        assert_eq!(fixture.covered(links.into_iter().map(|link| link.range)), ["0:\"../b.h\""]);
    }
}
