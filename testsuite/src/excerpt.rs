//! Extracts one function from a stage's output, so that a snapshot contains only what it tests.

use std::collections::HashMap;

/// The lines of this function in the output of `--emit` for `stage`.
pub(crate) fn function(stage: &str, text: &str, name: &str) -> Option<String> {
    match stage {
        "asm" => in_assembly(text, name).map(|function| by_itself(function, text)),
        _ => in_braces(text, name).map(str::to_owned),
    }
}

/// Replaces the ids of constants by their values, and renumbers other ids in order of appearance. The result does not
/// depend on the rest of the module.
fn by_itself(function: &str, module: &str) -> String {
    let mut names: HashMap<&str, String> = HashMap::new();
    for line in module.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [id, "=", "OpConstant", _, value] => drop(names.insert(id, value.to_owned())),
            [id, "=", "OpConstantTrue", _] => drop(names.insert(id, "true".to_owned())),
            [id, "=", "OpConstantFalse", _] => drop(names.insert(id, "false".to_owned())),
            _ => {}
        }
    }
    let mut count = 0;
    let mut renamed = |word| {
        let number = || {
            count += 1;
            format!("%{count}")
        };
        names.entry(word).or_insert_with(number).clone()
    };
    let mut lines = Vec::new();
    for line in function.lines() {
        let words = line.split_whitespace();
        let words: Vec<String> =
            words.map(|word| if word.starts_with('%') { renamed(word) } else { word.to_owned() }).collect();
        lines.push(words.join(" "));
    }
    lines.join("\n")
}

/// The text from `%id = OpFunction` to `OpFunctionEnd`; an entry point or a name determines the id.
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

/// The text from an unindented line that contains the name and ends in `{`, to the unindented `}`.
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
    fn a_function_is_extracted() {
        let ir = "kernel @a() {\n  x\n}\n\nkernel @b(%0: u32) {\n  y {\n  }\n}\n";
        assert_eq!(function("ir", ir, "b").as_deref(), Some("kernel @b(%0: u32) {\n  y {\n  }\n}"));
        assert_eq!(function("ir", ir, "c"), None);
    }

    #[test]
    fn a_function_of_a_module_is_extracted() {
        let asm = "\
OpEntryPoint GLCompute %4 \"k\" %9
%7 = OpConstant %2 264
%3 = OpFunction %1 None %2
OpFunctionEnd
%4 = OpFunction  %1 None %5
%6 = OpLabel
OpMemoryBarrier %7 %7
OpBranch %6
OpFunctionEnd
";
        let wanted = "\
%1 = OpFunction %2 None %3
%4 = OpLabel
OpMemoryBarrier 264 264
OpBranch %4
OpFunctionEnd";
        assert_eq!(function("asm", asm, "k").as_deref(), Some(wanted));
    }
}
