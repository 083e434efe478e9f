//! Reduces a program while it still reproduces a finding: removes statements first, then parts of expressions.

use std::{iter, thread};

/// The smallest program, found by removing lines and operands, for which `holds` is true. Tries as many programs at the same
/// time as there are workers.
pub fn reduce<B: Send>(
    source: &str,
    workers: &mut [B],
    holds: impl Fn(&mut B, &str) -> bool + Sync,
) -> String {
    let mut search = Search { workers, holds };
    let mut smaller = search.without_lines(source);
    loop {
        let simpler = search.with_simpler_expressions(&smaller);
        let simpler = search.without_lines(&simpler);
        if simpler.len() == smaller.len() {
            return simpler;
        }
        smaller = simpler;
    }
}

/// The workers that try programs, and the property that a program must have.
struct Search<'b, B, H> {
    workers: &'b mut [B],
    holds: H,
}

/// A smaller program, and where it differs from the larger one.
struct Attempt {
    start: usize,
    text: String,
}

impl<B: Send, H: Fn(&mut B, &str) -> bool + Sync> Search<'_, B, H> {
    /// The first attempt that has the property.
    fn first(&mut self, mut attempts: impl Iterator<Item = Attempt>) -> Option<Attempt> {
        let holds = &self.holds;
        loop {
            let batch: Vec<Attempt> = attempts.by_ref().take(self.workers.len()).collect();
            if batch.is_empty() {
                return None;
            }
            let has_held: Vec<bool> = thread::scope(|scope| {
                let pairs = batch.iter().zip(self.workers.iter_mut());
                let running: Vec<_> =
                    pairs.map(|(attempt, worker)| scope.spawn(|| holds(worker, &attempt.text))).collect();
                running.into_iter().map(|it| it.join().expect("an attempt does not panic")).collect()
            });
            let found = iter::zip(batch, has_held).find_map(|(attempt, held)| held.then_some(attempt));
            if found.is_some() {
                return found;
            }
        }
    }

    /// Replaces parenthesized expressions by numbers, or removes operands within them.
    fn with_simpler_expressions(&mut self, source: &str) -> String {
        let mut text = source.to_owned();
        let mut start = 0;
        // The search continues at the replacement, to simplify that further.
        while let Some(found) = self.first(simpler_expressions(&text, start)) {
            Attempt { start, text } = found;
        }
        text
    }

    /// Removes ranges of lines, large ones first. Goes from the end to the start: uses go before declarations.
    fn without_lines(&mut self, source: &str) -> String {
        let mut text = source.to_owned();
        let mut size = text.lines().count() / 2;
        while size > 0 {
            let mut has_shrunk = false;
            let mut start = usize::MAX;
            while let Some(found) = self.first(shorter_programs(&text, start, size)) {
                Attempt { start, text } = found;
                has_shrunk = true;
            }
            if !has_shrunk || size > 1 {
                size /= 2;
            }
        }
        text
    }
}

/// The programs with one simpler parenthesized expression, which opens at `from` or after it.
fn simpler_expressions(text: &str, from: usize) -> impl Iterator<Item = Attempt> {
    let opening = text[from..].match_indices('(').map(move |(index, _)| from + index);
    opening.flat_map(move |start| {
        let inside = closing(text, start).map_or("", |end| &text[start + 1..end]);
        // Skips casts and expressions that are already simple.
        let is_simple = inside.len() < 2 || inside.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let instead = ["1", "0"].into_iter().chain(operands(inside));
        let shorter: Vec<&str> = instead.filter(|part| !is_simple && part.len() < inside.len()).collect();
        let rest = start + inside.len() + 1;
        shorter
            .into_iter()
            .map(move |part| Attempt { start, text: format!("{}({part}{}", &text[..start], &text[rest..]) })
    })
}

/// The programs without one range of at least this many lines, or without the frame around a line. Goes from the line `from`
/// to the start.
fn shorter_programs(text: &str, from: usize, size: usize) -> impl Iterator<Item = Attempt> {
    let lines: Vec<&str> = text.lines().collect();
    let step = size.div_ceil(2);
    let next = move |start: usize| (start > 0).then(|| start.saturating_sub(step));
    iter::successors(next(from.min(lines.len())), move |&start| next(start)).flat_map(move |start| {
        let frame = if size == 1 { without_frame(&lines, start) } else { None };
        let shorter = without_lines(&lines, start, size).into_iter().chain(frame);
        shorter.map(move |rest| Attempt { start, text: rest.join("\n") + "\n" }).collect::<Vec<_>>()
    })
}

/// The position of the matching closing parenthesis.
fn closing(text: &str, start: usize) -> Option<usize> {
    let mut open = 0;
    text[start..].char_indices().find_map(|(index, c)| {
        open += i32::from(c == '(') - i32::from(c == ')');
        (open == 0).then_some(start + index)
    })
}

/// The top-level words of a text: operands, conditions, arguments. No addresses: they differ between devices, but their differences and
/// comparisons do not.
fn operands(text: &str) -> Vec<&str> {
    let mut open = 0;
    let is_between = |c: char| {
        open += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        open == 0 && (c == ' ' || c == ',')
    };
    let is_operand =
        |part: &&str| !part.starts_with('&') && part.contains(|c: char| c.is_ascii_alphanumeric());
    text.split(is_between).filter(is_operand).collect()
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
        for jobs in [1, 3] {
            let reduced = |source: &str, holds: fn(&str) -> bool| {
                reduce(source, &mut vec![(); jobs], |(), it| holds(it))
            };
            assert_eq!(reduced(source, |it| it.contains("e;") && it.contains("a;")), "a;\n        e;\n");
            assert_eq!(reduced("a = ((b + 2u) * f(c, (d + e)));\n", |it| it.contains("f(")), "a = (f(1));\n");
            let difference = "a = (long)(&b[(c + 1)] - &b[2]);\n";
            assert_eq!(reduced(difference, |it| it.contains('&')), "a = (long)(&b[(1)] - &b[2]);\n");
            let frame = reduced(source, |it| it.contains("while (d) {") && it.contains('}'));
            assert_eq!(frame, "    while (d) {\n    }\n");
        }
    }
}
