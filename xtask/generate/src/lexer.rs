//! Generates the lexer from the tokens in lexer.logos. Committing the result saves users from building Logos with its
//! regular expressions and its Rust parser.

use std::path::PathBuf;

use crate::root;

/// The imports of the generated file.
const HEAD: &str = "use super::{Ending, block_comment, line_comment, literal};\nuse crate::token::Punct;\n";

/// The generated lexer.
pub(crate) fn generate() -> Result<String, String> {
    let path = root().join("compiler/syntax/src/lexer.logos");
    let text =
        std::fs::read_to_string(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    let tokens: proc_macro2::TokenStream = text.parse().map_err(|e| format!("lexer.logos: {e}"))?;
    let items = [logos_codegen::strip_attributes(tokens.clone()), logos_codegen::generate(tokens)];
    let file = syn::parse2(items.into_iter().collect()).map_err(|e| format!("what Logos generates: {e}"))?;
    Ok(format!("{HEAD}{}", prettyplease::unparse(&file)))
}

/// The path of the committed lexer.
pub(crate) fn committed() -> PathBuf {
    root().join("compiler/syntax/src/generated/lexer.rs")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_lexer_is_up_to_date() {
        let committed = std::fs::read_to_string(super::committed()).unwrap_or_default();
        assert!(
            super::generate().unwrap() == committed,
            "the generated lexer is out of date: run `cargo xtask grammar`"
        );
    }
}
