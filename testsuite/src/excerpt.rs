//! One function out of the text that a stage prints, so that a snapshot shows what it is about and no more.

/// The lines of this function in the text that `--emit` makes of `stage`.
pub(crate) fn function<'a>(stage: &str, text: &'a str, name: &str) -> Option<&'a str> {
    match stage {
        "asm" => in_assembly(text, name),
        _ => in_braces(text, name),
    }
}

/// From `%id = OpFunction` to `OpFunctionEnd`, where an entry point or a name says which id.
fn in_assembly<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let quoted = format!("\"{name}\"");
    let id = text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let opcode = words.next()?;
        let is_name = matches!(opcode, "OpEntryPoint" | "OpName") && line.contains(&quoted);
        is_name.then(|| words.find(|word| word.starts_with('%')))?
    })?;
    let start = text.find(&format!("{id} = OpFunction "))?;
    let start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[start..].find("OpFunctionEnd")? + start + "OpFunctionEnd".len();
    Some(&text[start..end])
}

/// From a line at the margin that ends in `{` and has the name as a word, to the `}` at the margin.
fn in_braces<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let is_head = !line.starts_with([' ', '\t', '}']) && line.trim_end().ends_with('{');
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        if is_head && words.any(|word| word == name) {
            let end = text[offset..].find("\n}")? + offset + 2;
            return Some(&text[offset..end]);
        }
        offset += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_cut_out() {
        let ir = "kernel @a() {\n  x\n}\n\nkernel @b(%0: u32) {\n  y {\n  }\n}\n";
        assert_eq!(function("ir", ir, "b"), Some("kernel @b(%0: u32) {\n  y {\n  }\n}"));
        assert_eq!(function("ir", ir, "c"), None);
    }

    #[test]
    fn a_function_of_a_module_is_cut_out() {
        let asm = "OpEntryPoint GLCompute %4 \"k\" %9\n%3 = OpFunction %1 None %2\nOpFunctionEnd\n%4 = OpFunction %1 None %2\nOpReturn\nOpFunctionEnd\n";
        assert_eq!(function("asm", asm, "k"), Some("%4 = OpFunction %1 None %2\nOpReturn\nOpFunctionEnd"));
    }
}
