//! One-token mistakes in valid programs: the position of the first error, and the number of errors.

use kiln_syntax::{Arena, Interner, parse};

use crate::{mutate::mutants, support::tokenize};

const SAMPLES: [&str; 3] = [
    include_str!("../samples/particles.cl"),
    include_str!("../samples/pixels.cl"),
    include_str!("../samples/reduction.cl"),
];

/// The number of mutants of each sample.
const MUTANTS: usize = 500;

#[test]
fn mutations_are_reported_once_and_in_place() {
    let (mut broken, mut right_line, mut at_most_two) = (0, 0, 0);
    for sample in SAMPLES {
        let line = |at: u32| sample[..at as usize].matches('\n').count();
        let mut interner = Interner::new();
        let tokens = tokenize(sample, &mut interner);
        assert_eq!(
            parse(&tokens, &Arena::default(), &kiln_syntax::parse::NoLayout, kiln_syntax::parse::MAX_DEPTH)
                .errors,
            []
        );
        for mutant in mutants(&tokens, 1, MUTANTS) {
            let errors = parse(
                &mutant.tokens,
                &Arena::default(),
                &kiln_syntax::parse::NoLayout,
                kiln_syntax::parse::MAX_DEPTH,
            )
            .errors;
            let Some(first) = errors.first() else { continue };
            broken += 1;
            let reported = line(first.span.lo);
            right_line += usize::from(mutant.positions.iter().any(|&position| line(position) == reported));
            at_most_two += usize::from(errors.len() <= 2);
        }
    }
    assert!(broken > 1000, "most mutants are wrong: {broken}");
    let percent = |part: usize| 100.0 * part as f64 / broken as f64;
    // Nearly all others are missing braces, which only the indentation reveals.
    assert!(percent(right_line) >= 97.5, "right line: {:.2} %", percent(right_line));
    assert!(percent(at_most_two) >= 98.0, "at most two reports: {:.2} %", percent(at_most_two));
}
