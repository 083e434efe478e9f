//! Random compositions of atomic objects on every device: the results are those of the reference device, which executes
//! modules of the OpenCL environment. `cargo xtask differential --oracle compositions` runs any range of seeds, and
//! `--oracle compositions-intel` also compares with other implementations.

use kiln_testsuite::{differential::Comparison, nightly};

#[test]
fn compositions_give_the_same_results_on_every_device() {
    let count = nightly::count("compositions", 60, 2000) as u64;
    let jobs = std::thread::available_parallelism().map_or(1, |it| it.get());
    let mut complaints = Vec::new();
    let tally = Comparison::of_compositions()
        .survey(0..count, jobs, |seed, _, reason| complaints.push(format!("program {seed}:\n{reason}")));
    println!("{tally}");
    assert!(complaints.is_empty(), "{}\n{tally}", complaints.join("\n"));
    for (way, count) in &tally.ways {
        let all = count.same + count.different + count.refused + count.late + count.failed;
        assert_eq!(count.late, 0, "{way} is late: {:?}", count.seeds);
        // SwiftShader has no 64-bit atomic operations, which half of the programs need.
        assert!(count.same * 3 > all, "{way}: only {} of {all} runs are right", count.same);
    }
}
