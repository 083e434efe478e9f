//! Makes a program smaller while it still does what it was found for: whole statements go, as long as the rest holds.

/// The smallest program that is found by leaving out lines, for which `holds` is true.
pub fn reduce(source: &str, mut holds: impl FnMut(&str) -> bool) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    let mut size = lines.len() / 2;
    while size > 0 {
        let mut has_shrunk = false;
        let mut start = 0;
        while start < lines.len() {
            let end = balanced_end(&lines, start, size);
            let rest: Vec<&str> = lines[..start].iter().chain(&lines[end..]).copied().collect();
            if end > start && rest.len() < lines.len() && holds(&rest.join("\n")) {
                lines = rest;
                has_shrunk = true;
            } else if let Some(bare) = without_frame(&lines, start).filter(|bare| holds(&bare.join("\n"))) {
                lines = bare;
                has_shrunk = true;
            } else {
                start += 1;
            }
        }
        if !has_shrunk || size > 1 {
            size /= 2;
        }
    }
    lines.join("\n") + "\n"
}

/// How deep in braces a line leads.
fn depth(line: &str) -> i32 {
    line.chars().map(|c| i32::from(c == '{') - i32::from(c == '}')).sum()
}

/// The end of at least so many lines that open as many braces as they close, and close none of others.
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

/// The program in which a construct's first and last line are gone, and what is in it remains.
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
    fn what_does_not_matter_goes() {
        let source = "a;\nif (b) {\n    c;\n    while (d) {\n        e;\n    }\n}\nf;";
        assert_eq!(reduce(source, |it| it.contains("e;") && it.contains("a;")), "a;\n        e;\n");
        assert_eq!(
            reduce(source, |it| it.contains("while (d) {") && it.contains('}')),
            "    while (d) {\n    }\n"
        );
    }
}
