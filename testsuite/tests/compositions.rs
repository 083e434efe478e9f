//! Random compositions of atomic objects on every device: the results are those of the reference device, which executes
//! modules of the OpenCL environment. With `KILN_NIGHTLY=1` two thousand; `cargo xtask differential --oracle compositions`
//! runs any range of seeds, and `--oracle compositions-intel` compares with other implementations.

use kiln_testsuite::differential::Comparison;

#[test]
fn compositions_give_the_same_results_on_every_device() {
    let is_nightly = std::env::var_os("KILN_NIGHTLY").is_some_and(|value| value == "1");
    let count = if is_nightly { 2000 } else { 60 };
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
