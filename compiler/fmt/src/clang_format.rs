//! Reads `.clang-format` files: the part of YAML that they use, and the options that the formatter honors.

use crate::style::{Braces, Operators, Parens, Pointer, ShortBlocks, ShortFunctions, ShortIfs, Style, Tabs};

/// The result of reading a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Configured {
    /// The style.
    pub style: Style,
    /// Whether the file in a parent folder is the base (`BasedOnStyle: InheritParentConfig`).
    pub inherits: bool,
    /// The names of options that have no effect.
    pub ignored: Vec<String>,
    /// Invalid values: their line, and a message.
    pub mistakes: Vec<(usize, String)>,
}

/// The style of a source, and the file that sets it.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceStyle {
    /// The path and the contents of the file. `None` if there is none: the default style applies.
    pub file: Option<(String, Configured)>,
    /// The style.
    pub style: Style,
}

/// Finds the style of the sources in a folder: the nearest `.clang-format` there or above. `folders` are the paths of
/// the folder and of those above it, innermost first; `read` returns the text of a file.
pub fn find<'f>(
    folders: impl Iterator<Item = &'f str>,
    read: &dyn Fn(&str) -> Option<String>,
) -> SourceStyle {
    let mut files: Vec<(String, String)> = Vec::new();
    for folder in folders {
        let folder = folder.trim_end_matches('/');
        let paths = [".clang-format", "_clang-format"].map(|name| format!("{folder}/{name}"));
        let Some((path, text)) = paths.into_iter().find_map(|path| Some((path.clone(), read(&path)?))) else {
            continue;
        };
        let inherits = configure(&text, &Style::default()).inherits;
        files.push((path, text));
        if !inherits {
            break;
        }
    }
    // The outermost file is the base of the others.
    let mut found = SourceStyle { file: None, style: Style::default() };
    for (path, text) in files.into_iter().rev() {
        let configured = configure(&text, &found.style);
        found = SourceStyle { style: configured.style.clone(), file: Some((path, configured)) };
    }
    found
}

/// Options that are accepted without an effect on the style.
const NO_EFFECT: [&str; 2] = ["Language", "Standard"];

/// An option of a file.
struct Entry<'t> {
    line: usize,
    /// The name; options of `BraceWrapping` follow a dot.
    name: String,
    value: &'t str,
}

/// Reads the text of a `.clang-format`. `parent` is the style of the parent folders.
pub fn configure(text: &str, parent: &Style) -> Configured {
    let entries = entries(text);
    let mut configured =
        Configured { style: Style::default(), inherits: false, ignored: Vec::new(), mistakes: Vec::new() };
    if let Some(base) = entries.iter().find(|entry| entry.name == "BasedOnStyle") {
        if base.value == "InheritParentConfig" {
            configured.inherits = true;
            configured.style = parent.clone();
        } else if let Some(style) = Style::named(base.value) {
            configured.style = style;
        } else {
            configured.mistakes.push((base.line, format!("there is no style `{}`", base.value)));
        }
    } else {
        // As in clang-format, a file without a base starts from LLVM's style.
        configured.style = Style::named("LLVM").unwrap_or_default();
    }
    // The options of `BraceWrapping` apply only with `Custom`, after `BreakBeforeBraces`.
    let (wrapping, others): (Vec<_>, Vec<_>) =
        entries.iter().partition(|entry| entry.name.starts_with("BraceWrapping."));
    let is_custom = others.iter().any(|entry| entry.name == "BreakBeforeBraces" && entry.value == "Custom");
    for entry in others.into_iter().chain(wrapping.into_iter().filter(|_| is_custom)) {
        match apply(&mut configured.style, &entry.name, entry.value) {
            Applied::Yes => {}
            Applied::Unknown => configured.ignored.push(entry.name.clone()),
            Applied::Wrong => {
                let message = format!("`{}` is not a value of {}", entry.value, entry.name);
                configured.mistakes.push((entry.line, message));
            }
        }
    }
    configured
}

/// The options of the document for C: the one without `Language`, or with `Cpp` or `C`.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut documents: Vec<Vec<Entry<'_>>> = vec![Vec::new()];
    let mut outer = String::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.split(" #").next().unwrap_or_default();
        let content = if content.trim_start().starts_with('#') { "" } else { content.trim_end() };
        if content.starts_with("---") || content == "..." {
            documents.push(Vec::new());
            continue;
        }
        let Some((name, value)) = content.split_once(':') else { continue };
        let is_nested = name.starts_with([' ', '\t']);
        let (name, value) = (name.trim().trim_start_matches("- "), unquoted(value.trim()));
        if !is_nested {
            outer = name.to_owned();
        }
        let name = if is_nested { format!("{outer}.{name}") } else { name.to_owned() };
        let is_heading = value.is_empty() && !is_nested;
        if let (false, Some(entries)) = (is_heading, documents.last_mut()) {
            entries.push(Entry { line: number + 1, name, value });
        }
    }
    let language = |entries: &Vec<Entry<'_>>| {
        entries.iter().find(|entry| entry.name == "Language").map_or("", |entry| entry.value).to_owned()
    };
    // The precedence of a document: for C, for C++, for all languages.
    let rank = |entries: &Vec<Entry<'_>>| match language(entries).as_str() {
        _ if entries.is_empty() => None,
        "C" => Some(3),
        "Cpp" => Some(2),
        "" => Some(1),
        _ => None,
    };
    let ranked = documents.into_iter().filter_map(|entries| Some((rank(&entries)?, entries)));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, entries)| entries).unwrap_or_default()
}

fn unquoted(value: &str) -> &str {
    value.trim_matches(['"', '\''])
}

enum Applied {
    Yes,
    Unknown,
    Wrong,
}

impl From<Option<()>> for Applied {
    fn from(found: Option<()>) -> Self {
        if found.is_some() { Self::Yes } else { Self::Wrong }
    }
}

/// Applies an option with a number or a truth value, or else one with named values.
fn apply(style: &mut Style, name: &str, value: &str) -> Applied {
    let number = match name {
        "IndentWidth" => Some(&mut style.indent_width),
        "ContinuationIndentWidth" => Some(&mut style.continuation_width),
        "ColumnLimit" => Some(&mut style.column_limit),
        "TabWidth" => Some(&mut style.tab_width),
        "MaxEmptyLinesToKeep" => Some(&mut style.empty_lines),
        "SpacesBeforeTrailingComments" => Some(&mut style.before_comment),
        _ => None,
    };
    if let Some(number) = number {
        let parsed = value.parse().ok().filter(|value| *value <= 1000);
        return parsed.map(|value: usize| *number = value).into();
    }
    let truth = match name {
        "DisableFormat" => Some(&mut style.disabled),
        "KeepEmptyLinesAtTheStartOfBlocks" | "KeepEmptyLines.AtStartOfBlock" => {
            Some(&mut style.empty_lines_in_blocks)
        }
        "IndentCaseLabels" => Some(&mut style.indent_case_labels),
        "IndentGotoLabels" => Some(&mut style.indent_goto_labels),
        "SpaceAfterCStyleCast" => Some(&mut style.space_after_cast),
        "SpaceAfterLogicalNot" => Some(&mut style.space_after_not),
        "SpaceBeforeAssignmentOperators" => Some(&mut style.space_before_assignment),
        "SpacesInParentheses" => Some(&mut style.spaces_in_parens),
        "SpacesInSquareBrackets" => Some(&mut style.spaces_in_squares),
        "BreakBeforeTernaryOperators" => Some(&mut style.before_ternary),
        "AllowShortLoopsOnASingleLine" => Some(&mut style.short_loops),
        "AllowShortCaseLabelsOnASingleLine" => Some(&mut style.short_cases),
        "AllowShortEnumsOnASingleLine" => Some(&mut style.short_enums),
        _ => None,
    };
    match truth {
        Some(truth) => boolean(value).map(|value| *truth = value).into(),
        None => apply_named(style, name, value),
    }
}

fn boolean(value: &str) -> Option<bool> {
    match value {
        "true" | "True" | "yes" => Some(true),
        "false" | "False" | "no" => Some(false),
        _ => None,
    }
}

fn apply_named(style: &mut Style, name: &str, value: &str) -> Applied {
    let found = match name {
        "BasedOnStyle" => Some(()),
        "UseTab" => tabs(value).map(|tabs| style.tabs = tabs),
        "PointerAlignment" => pointer(value).map(|pointer| style.pointer = pointer),
        "SpaceBeforeParens" => parens(value).map(|parens| style.parens = parens),
        "BreakBeforeBraces" if value == "Custom" => Some(()),
        "BreakBeforeBraces" => Braces::named(value).map(|braces| style.braces = braces),
        "BreakBeforeBinaryOperators" => operators(value).map(|operators| style.operators = operators),
        "AlignTrailingComments" | "AlignTrailingComments.Kind" => {
            switch(value, &["Always", "Leave"], "Never").map(|value| style.align_comments = value)
        }
        "AlignAfterOpenBracket" => match value {
            "BlockIndent" | "AlwaysBreak" => return Applied::Unknown,
            _ => switch(value, &["Align"], "DontAlign").map(|value| style.align_brackets = value),
        },
        "AlignOperands" => switch(value, &["Align", "AlignAfterOperator"], "DontAlign")
            .map(|value| style.align_operands = value),
        "Cpp11BracedListStyle" => switch(value, &["FunctionCall", "AlignFirstComment"], "Block")
            .map(|value| style.spaces_in_braces = !value),
        "AllowShortFunctionsOnASingleLine" => short_functions(value).map(|it| style.short_functions = it),
        "AllowShortIfStatementsOnASingleLine" => short_ifs(value).map(|it| style.short_ifs = it),
        "AllowShortBlocksOnASingleLine" => short_blocks(value).map(|it| style.short_blocks = it),
        name if NO_EFFECT.contains(&name) => Some(()),
        name => match name.strip_prefix("BraceWrapping.") {
            Some(name) => return brace(&mut style.braces, name, value),
            None => return Applied::Unknown,
        },
    };
    found.into()
}

/// A truth value that newer versions of clang-format write as names.
fn switch(value: &str, yes: &[&str], no: &str) -> Option<bool> {
    boolean(value).or_else(|| yes.contains(&value).then_some(true)).or_else(|| (value == no).then_some(false))
}

fn tabs(value: &str) -> Option<Tabs> {
    Some(match value {
        "ForIndentation" | "ForContinuationAndIndentation" | "AlignWithSpaces" => Tabs::ForIndentation,
        _ => match switch(value, &["Always"], "Never")? {
            true => Tabs::Always,
            false => Tabs::Never,
        },
    })
}

fn pointer(value: &str) -> Option<Pointer> {
    Some(match value {
        "Left" => Pointer::Left,
        "Right" => Pointer::Right,
        "Middle" => Pointer::Middle,
        _ => return None,
    })
}

fn parens(value: &str) -> Option<Parens> {
    Some(match value {
        "Never" => Parens::Never,
        "ControlStatements"
        | "ControlStatementsExceptControlMacros"
        | "ControlStatementsExceptForEachMacros" => Parens::ControlStatements,
        "Always" | "NonEmptyParentheses" => Parens::Always,
        _ => return None,
    })
}

fn operators(value: &str) -> Option<Operators> {
    Some(match value {
        "NonAssignment" => Operators::BeforeNonAssignment,
        _ => match switch(value, &["All"], "None")? {
            true => Operators::Before,
            false => Operators::After,
        },
    })
}

fn short_functions(value: &str) -> Option<ShortFunctions> {
    Some(match value {
        "Empty" => ShortFunctions::Empty,
        // `Inline` and `InlineOnly` concern members of classes.
        "InlineOnly" => ShortFunctions::None,
        "Inline" => ShortFunctions::Empty,
        _ => match switch(value, &["All"], "None")? {
            true => ShortFunctions::All,
            false => ShortFunctions::None,
        },
    })
}

fn short_ifs(value: &str) -> Option<ShortIfs> {
    Some(match value {
        "AllIfsAndElse" => ShortIfs::All,
        _ => match switch(value, &["WithoutElse", "OnlyFirstIf"], "Never")? {
            true => ShortIfs::WithoutElse,
            false => ShortIfs::Never,
        },
    })
}

fn short_blocks(value: &str) -> Option<ShortBlocks> {
    Some(match value {
        "Empty" => ShortBlocks::Empty,
        _ => match switch(value, &["Always"], "Never")? {
            true => ShortBlocks::Always,
            false => ShortBlocks::Never,
        },
    })
}

fn brace(braces: &mut Braces, name: &str, value: &str) -> Applied {
    let option = match name {
        "AfterFunction" => &mut braces.after_function,
        "AfterControlStatement" => &mut braces.after_control,
        "AfterStruct" => &mut braces.after_struct,
        "AfterUnion" => &mut braces.after_union,
        "AfterEnum" => &mut braces.after_enum,
        "AfterCaseLabel" => &mut braces.after_case,
        "BeforeElse" => &mut braces.before_else,
        "BeforeWhile" => &mut braces.before_while,
        _ => return Applied::Unknown,
    };
    // `MultiLine` depends on the layout of the condition; the brace stays with short conditions.
    switch(value, &["Always"], "Never")
        .or((value == "MultiLine").then_some(false))
        .map(|it| *option = it)
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Configured {
        configure(text, &Style::default())
    }

    #[test]
    fn options_change_the_base() {
        let text = "---\n# ours\nBasedOnStyle: Google\nIndentWidth: 3 # three\nBreakBeforeBraces: Custom\n\
            BraceWrapping:\n  AfterFunction: true\n  AfterControlStatement: Always\n  AfterClass: true\n\
            SortIncludes: true\n...\n";
        let read = read(text);
        assert_eq!((read.style.indent_width, read.style.pointer), (3, Pointer::Left));
        assert!(read.style.braces.after_function && read.style.braces.after_control);
        assert_eq!(read.ignored, ["SortIncludes", "BraceWrapping.AfterClass"]);
        assert_eq!(read.mistakes, []);
    }

    #[test]
    fn the_document_for_c_takes_precedence() {
        let text =
            "Language: Java\nIndentWidth: 1\n---\nLanguage: Cpp\nIndentWidth: 5\n---\nIndentWidth: 6\n";
        assert_eq!(read(text).style.indent_width, 5);
        assert_eq!(read("").style, Style::named("LLVM").expect("a style"));
    }

    #[test]
    fn a_file_can_inherit_the_parent_configuration() {
        let parent = Style { column_limit: 33, ..Style::default() };
        let read = configure("BasedOnStyle: InheritParentConfig\nIndentWidth: 8\n", &parent);
        assert_eq!((read.inherits, read.style.column_limit, read.style.indent_width), (true, 33, 8));
    }

    #[test]
    fn the_nearest_file_takes_precedence() {
        let read = |path: &str| match path {
            "/a/b/.clang-format" => Some("BasedOnStyle: InheritParentConfig\nIndentWidth: 8\n".to_owned()),
            "/a/_clang-format" => Some("BasedOnStyle: Google\nIndentWidth: 3\n".to_owned()),
            "/.clang-format" => Some("IndentWidth: 1\n".to_owned()),
            _ => None,
        };
        let found = find(["/a/b/c", "/a/b", "/a", "/"].into_iter(), &read);
        assert_eq!(found.file.map(|(path, _)| path).as_deref(), Some("/a/b/.clang-format"));
        assert_eq!((found.style.indent_width, found.style.pointer), (8, Pointer::Left));
        assert_eq!(find(["/c"].into_iter(), &read).style, Style::default());
    }

    #[test]
    fn wrong_values_are_reported_with_their_line() {
        let read = read("IndentWidth: wide\nBasedOnStyle: Ours\nUseTab: Sometimes\n");
        let lines: Vec<usize> = read.mistakes.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 1, 3]);
        assert_eq!(read.mistakes[0].1, "there is no style `Ours`");
    }
}
