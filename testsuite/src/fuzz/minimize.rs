//! Minimizes a finding: removes lines, then words, then characters, or the instructions of a module, as long as it remains
//! the same finding.

use super::Target;

/// Returns the ends of the pieces of a text.
type Cut = fn(&[u8]) -> Vec<usize>;

/// The smallest text found that still fails, with a limit on the calls of `fails`.
pub fn minimize(
    target: Target,
    text: &[u8],
    mut budget: usize,
    fails: &mut dyn FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let mut text = text.to_vec();
    let cuts: &[Cut] = if target == Target::Reader { &[instructions] } else { &[lines, words, letters] };
    for &cut in cuts {
        text = shrink(text, cut, &mut budget, fails);
    }
    text
}

/// Removes runs of pieces, longest first.
fn shrink(
    mut text: Vec<u8>,
    cut: fn(&[u8]) -> Vec<usize>,
    budget: &mut usize,
    fails: &mut dyn FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let mut run = cut(&text).len() / 2;
    while run > 0 {
        let mut at = 0;
        let mut has_shrunk = false;
        loop {
            let ends = cut(&text);
            if at >= ends.len() || *budget == 0 {
                break;
            }
            let start = if at == 0 { 0 } else { ends[at - 1] };
            let end = ends[(at + run - 1).min(ends.len() - 1)];
            let shorter = [&text[..start], &text[end..]].concat();
            *budget -= 1;
            if fails(&shorter) {
                (text, has_shrunk) = (shorter, true);
            } else {
                at += run;
            }
        }
        if run > 1 || !has_shrunk {
            run /= 2;
        }
    }
    text
}

fn ends(text: &[u8], together: impl Fn(u8, u8) -> bool) -> Vec<usize> {
    (1..=text.len()).filter(|&at| at == text.len() || !together(text[at - 1], text[at])).collect()
}

fn lines(text: &[u8]) -> Vec<usize> {
    ends(text, |before, _| before != b'\n')
}

fn words(text: &[u8]) -> Vec<usize> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    ends(text, move |before, after| is_word(before) && is_word(after) || before == b' ' && after == b' ')
}

fn letters(text: &[u8]) -> Vec<usize> {
    ends(text, |_, _| false)
}

/// The end of the header, and of each instruction.
fn instructions(module: &[u8]) -> Vec<usize> {
    let mut ends = vec![20.min(module.len())];
    while let Some(&last) = ends.last()
        && last < module.len()
    {
        // The length is the upper half of the first word.
        let length =
            module.get(last + 2..last + 4).map_or(1, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        ends.push((last + 4 * usize::from(length.max(1))).min(module.len()));
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_cut_into_instructions() {
        let words = [0, 0, 0, 0, 0, 2 << 16, 7, 1 << 16, 9 << 16];
        let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        assert_eq!(instructions(&bytes), [20, 28, 32, 36]);
    }

    #[test]
    fn minimization_keeps_the_necessary_parts() {
        let text = b"int a;\nint b = boom(1, 2);\nint c;\n";
        let mut fails = |text: &[u8]| text.windows(5).any(|part| part == b"boom(");
        assert_eq!(minimize(Target::Parser, text, 1000, &mut fails), b"boom(");
        assert_eq!(minimize(Target::Parser, text, 0, &mut fails), text);
    }
}
