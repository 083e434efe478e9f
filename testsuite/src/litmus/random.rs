//! Random litmus tests that are small enough to explore. The number determines the test.

use super::{Kind, Object, Space, Test};
use crate::random::Random;

const ANY: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const OF_LOADS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const OF_STORES: [&str; 3] = ["relaxed", "release", "seq_cst"];

/// Generates the test with this number, which uses all of its objects. It declares no outcomes.
pub fn test(number: u64) -> Test {
    let uses_all = |test: &Test| {
        ["(x,", "(y,"].into_iter().all(|use_of| test.work_items.iter().any(|text| text.contains(use_of)))
    };
    (0..)
        .map(|turn| random_test(number + (turn << 32)))
        .find(uses_all)
        .expect("some number gives a test that uses all of its objects")
}

fn random_test(number: u64) -> Test {
    let mut chance = Random::new(number);
    let is_mixed = chance.below(3) == 0;
    let mut objects: Vec<Object> = ["x", "y"]
        .into_iter()
        .map(|name| {
            let space = if chance.below(2) == 0 { Space::Global } else { Space::Local };
            Object { name: name.to_owned(), kind: Kind::Atomic, space: is_mixed.then_some(space) }
        })
        .collect();
    let has_data = chance.below(2) == 0;
    if has_data {
        let space = if chance.below(2) == 0 { Space::Global } else { Space::Local };
        objects.push(Object { name: "d".to_owned(), kind: Kind::Plain, space: is_mixed.then_some(space) });
    }
    let count = 2 + chance.below(2);
    let mut written = 0;
    let mut registers = 0;
    let mut left = 6;
    let work_items = (0..count)
        .map(|index| {
            let mut text = String::new();
            if has_data && index == 0 {
                text.push_str("*d = 1;\n");
            }
            let max = (left - (count - index - 1)).min(3);
            let operations = 1 + chance.below(max).max(chance.below(max));
            left -= operations;
            for _ in 0..operations {
                text.push_str(&operation(&mut chance, &mut written, &mut registers));
            }
            // Reads the data only if an earlier read has returned a non-zero value.
            if has_data && index == 1 && registers > 0 {
                let seen = registers - 1;
                if text.contains(&format!("r{seen} =")) {
                    text.push_str(&format!("r{registers} = 7;\nif (r{seen} != 0)\n    r{registers} = *d;\n"));
                    registers += 1;
                }
            }
            text
        })
        .collect();
    Test {
        name: format!("random {}", number & 0xffff_ffff),
        objects,
        work_items,
        finals: vec!["x".to_owned(), "y".to_owned()],
        forbidden: Vec::new(),
        allowed: Vec::new(),
        weak: Vec::new(),
    }
}

fn operation(chance: &mut Random, written: &mut usize, registers: &mut usize) -> String {
    let object = *chance.pick(&["x", "y"]);
    let scope = *chance.pick(&["SCOPE", "SCOPE", "SCOPE", "memory_scope_work_group"]);
    let mut register = || {
        *registers += 1;
        format!("r{}", *registers - 1)
    };
    let mut value = || {
        *written += 1;
        *written
    };
    match chance.below(10) {
        0..3 => {
            let (value, order) = (value(), *chance.pick(&OF_STORES));
            format!("atomic_store_explicit({object}, {value}, memory_order_{order}, {scope});\n")
        }
        3..6 => {
            let (register, order) = (register(), *chance.pick(&OF_LOADS));
            format!("{register} = atomic_load_explicit({object}, memory_order_{order}, {scope});\n")
        }
        6 => {
            let (register, value, order) = (register(), value(), *chance.pick(&ANY));
            format!(
                "{register} = atomic_exchange_explicit({object}, {value}, memory_order_{order}, {scope});\n"
            )
        }
        7 => {
            let (register, value) = (register(), value());
            let (order, failure) = [
                ("relaxed", "relaxed"),
                ("acquire", "acquire"),
                ("release", "acquire"),
                ("acq_rel", "relaxed"),
                ("seq_cst", "relaxed"),
                ("seq_cst", "seq_cst"),
            ][chance.below(6)];
            format!(
                "{register} = 0; atomic_compare_exchange_strong_explicit({object}, &{register}, {value}, \
                 memory_order_{order}, memory_order_{failure}, {scope});\n"
            )
        }
        _ => {
            let order = *chance.pick(&ANY[1..]);
            format!("atomic_work_item_fence(FLAGS, memory_order_{order}, {scope});\n")
        }
    }
}
