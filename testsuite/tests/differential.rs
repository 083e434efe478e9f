//! Compares random programs on every device with PoCL on the same source, without and with optimization.
//! `cargo xtask differential` runs more, with other references too.

use kiln_testsuite::{differential::Comparison, nightly};

#[test]
fn random_programs_give_the_same_results_as_with_pocl() {
    let count = nightly::count("random programs", 40, 2000) as u64;
    let comparison = Comparison::with_pocl();
    let jobs = std::thread::available_parallelism().map_or(1, |it| it.get());
    let mut complaints = Vec::new();
    let tally = comparison
        .survey(0..count, jobs, |seed, _, reason| complaints.push(format!("program {seed}:\n{reason}")));
    println!("{tally}");
    assert!(complaints.is_empty(), "{}\n{tally}", complaints.join("\n"));
    // Most runs must have results, and timeouts must be rare.
    for (configuration, count) in &tally.configurations {
        let all = count.same + count.different + count.rejected + count.late + count.failed;
        let max = if configuration.starts_with("swiftshader") { all / 4 } else { all / 10 };
        assert!(
            count.late <= max,
            "{configuration} is late {} times of {all}: {:?}",
            count.late,
            count.seeds
        );
        assert!(count.same * 3 > all, "{configuration}: only {} of {all} runs are correct", count.same);
    }
}
