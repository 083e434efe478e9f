//! Replays the fuzzer's findings in `fuzz/findings`, and the first inputs that the fuzzer generates for each target.

use std::{fs, thread};

use kiln_testsuite::fuzz::{Input, Mutator, Target, findings};

/// The default stack size of a Rust thread.
const STACK: usize = 2 << 20;

/// The number of inputs for each target.
const INPUTS: u64 = 400;

fn in_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("the target handles the input");
}

#[test]
fn past_findings_do_not_recur() {
    for target in Target::ALL {
        let Ok(entries) = fs::read_dir(findings(target)) else { continue };
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            println!("{}", path.display());
            let input = Input::from_file(&fs::read(&path).expect("a file"));
            in_small_stack(move || target.execute(&input));
        }
    }
}

#[test]
fn targets_survive_generated_inputs() {
    thread::scope(|scope| {
        for target in Target::ALL {
            scope.spawn(move || {
                in_small_stack(move || {
                    let mutator = Mutator::new(target, 1);
                    for number in 0..INPUTS {
                        let input = mutator.input(number);
                        let text = String::from_utf8_lossy(&input.text).into_owned();
                        let result = std::panic::catch_unwind(|| target.execute(&input));
                        assert!(result.is_ok(), "{} fails on input {number}:\n{text}", target.name());
                    }
                });
            });
        }
    });
}
