//! The lexer as Rust, generated from the tokens in lexer.logos. What Logos generates when a program is compiled costs each who
//! compiles it regular expressions and a parser of Rust.

use std::path::PathBuf;

use crate::root;

/// What the generated file needs of the one that owns it.
const HEAD: &str = "use super::{Ending, block_comment, line_comment, literal};\nuse crate::token::Punct;\n";

/// The lexer of what stands in lexer.logos.
pub(crate) fn generate() -> Result<String, String> {
    let path = root().join("compiler/syntax/src/lexer.logos");
    let text =
        std::fs::read_to_string(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    let tokens: proc_macro2::TokenStream = text.parse().map_err(|e| format!("lexer.logos: {e}"))?;
    let items = [logos_codegen::strip_attributes(tokens.clone()), logos_codegen::generate(tokens)];
    let file = syn::parse2(items.into_iter().collect()).map_err(|e| format!("what Logos generates: {e}"))?;
    Ok(format!("{HEAD}{}", prettyplease::unparse(&file)))
}

/// Where it is committed.
pub(crate) fn committed() -> PathBuf {
    root().join("compiler/syntax/src/generated/lexer.rs")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_lexer_is_fresh() {
        let committed = std::fs::read_to_string(super::committed()).unwrap_or_default();
        assert!(
            super::generate().unwrap() == committed,
            "the generated lexer is out of date: run `cargo xtask grammar`"
        );
    }
}
