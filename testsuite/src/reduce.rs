//! Reduces a program while it still reproduces a finding: removes statements first, then parts of expressions.

/// The smallest program, found by removing lines and operands, for which `holds` is true.
pub fn reduce(source: &str, mut holds: impl FnMut(&str) -> bool) -> String {
    let mut smaller = lines(source, &mut holds);
    loop {
        let simpler = lines(&parentheses(&smaller, &mut holds), &mut holds);
        if simpler.len() == smaller.len() {
            return simpler;
        }
        smaller = simpler;
    }
}

/// Replaces parenthesized expressions by numbers, or removes operands within them.
fn parentheses(source: &str, holds: &mut impl FnMut(&str) -> bool) -> String {
    let mut text = source.to_owned();
    let mut at = 0;
    while let Some(start) = text[at..].find('(').map(|found| at + found) {
        at = start + 1;
        let Some(end) = closing(&text, start) else { continue };
        let inside = &text[start + 1..end];
        // Skips casts and expressions that are already simple.
        if inside.len() < 2 || inside.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let mut instead = vec!["1".to_owned(), "0".to_owned()];
        instead.extend(operands(inside).into_iter().map(str::to_owned));
        let with = |part: &str| format!("{}({part}){}", &text[..start], &text[end + 1..]);
        let shorter = instead.iter().filter(|part| part.len() < inside.len()).map(|part| with(part));
        if let Some(shorter) = shorter.into_iter().find(|text| holds(text)) {
            text = shorter;
            // Tries to simplify the replacement further.
            at = start;
        }
    }
    text
}

/// The position of the matching closing parenthesis.
fn closing(text: &str, start: usize) -> Option<usize> {
    let mut open = 0;
    text[start..].char_indices().find_map(|(index, c)| {
        open += i32::from(c == '(') - i32::from(c == ')');
        (open == 0).then_some(start + index)
    })
}

/// The top-level words of a text: operands, conditions, arguments.
fn operands(text: &str) -> Vec<&str> {
    let mut open = 0;
    let is_between = |c: char| {
        open += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        open == 0 && (c == ' ' || c == ',')
    };
    let is_operand = |part: &&str| part.contains(|c: char| c.is_ascii_alphanumeric());
    text.split(is_between).filter(is_operand).collect()
}

/// Removes ranges of lines, large ones first. Goes from the end to the start: uses go before declarations.
fn lines(source: &str, holds: &mut impl FnMut(&str) -> bool) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    let mut size = lines.len() / 2;
    while size > 0 {
        let mut has_shrunk = false;
        let mut start = lines.len();
        while start > 0 {
            start = start.min(lines.len()).saturating_sub(size.div_ceil(2));
            if let Some(rest) = without_lines(&lines, start, size).filter(|rest| holds(&rest.join("\n"))) {
                lines = rest;
                has_shrunk = true;
            } else if size == 1
                && let Some(bare) = without_frame(&lines, start).filter(|bare| holds(&bare.join("\n")))
            {
                lines = bare;
                has_shrunk = true;
            }
        }
        if !has_shrunk || size > 1 {
            size /= 2;
        }
    }
    lines.join("\n") + "\n"
}

/// Removes at least this many lines with balanced braces.
fn without_lines<'t>(lines: &[&'t str], start: usize, size: usize) -> Option<Vec<&'t str>> {
    let end = balanced_end(lines, start, size);
    // Keeps the return statement of a function, without which the program would be invalid.
    let is_inside = lines.get(start)?.starts_with(' ');
    let returns = is_inside && lines[start..end].iter().any(|line| line.trim_start().starts_with("return"));
    (end > start && !returns).then(|| lines[..start].iter().chain(&lines[end..]).copied().collect())
}

/// The change of brace depth in a line.
fn depth(line: &str) -> i32 {
    line.chars().map(|c| i32::from(c == '{') - i32::from(c == '}')).sum()
}

/// The end of the smallest range of at least this many lines with balanced braces.
fn balanced_end(lines: &[&str], start: usize, size: usize) -> usize {
    let mut open = 0;
    for (index, line) in lines.iter().enumerate().skip(start) {
        if open == 0 && line.trim_start().starts_with('}') {
            return start;
        }
        open += depth(line);
        if open < 0 {
            return start;
        }
        if open == 0 && index + 1 - start >= size {
            return index + 1;
        }
    }
    start
}

/// Removes the first and last line of a construct, and keeps its contents.
fn without_frame<'t>(lines: &[&'t str], start: usize) -> Option<Vec<&'t str>> {
    if depth(lines[start]) != 1 {
        return None;
    }
    let mut open = 0;
    for (index, line) in lines.iter().enumerate().skip(start) {
        open += depth(line);
        if open == 0 {
            let mut rest = lines.to_vec();
            rest.remove(index);
            rest.remove(start);
            return Some(rest);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_removes_irrelevant_lines() {
        let source = "a;\nif (b) {\n    c;\n    while (d) {\n        e;\n    }\n}\nf;";
        assert_eq!(reduce(source, |it| it.contains("e;") && it.contains("a;")), "a;\n        e;\n");
        assert_eq!(reduce("a = ((b + 2u) * f(c, (d + e)));", |it| it.contains("f(")), "a = (f(1));\n");
        assert_eq!(
            reduce(source, |it| it.contains("while (d) {") && it.contains('}')),
            "    while (d) {\n    }\n"
        );
    }
}
