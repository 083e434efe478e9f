//! `kiln litmus` on the headers `<kiln/…>`: their atomic operations have the weakest orders that suffice.

use std::collections::BTreeSet;

use serde_json::Value;

use super::litmus::{findings, shown};

/// Two work-groups of one work-item.
const PAIR: [u32; 2] = [2, 1];

/// A small launch that calls a header.
struct Launch<'a> {
    /// The work-items, and those of a work-group.
    sizes: [u32; 2],
    arguments: &'a [&'a str],
    kernel: &'a str,
    /// The values that OpenCL allows, and the module for Vulkan too.
    outcomes: &'a [&'a str],
}

/// Proves that the launches have these outcomes and no race, and that no order can be weaker in all of them.
fn prove(head: &str, launches: &[Launch]) {
    let mut weaker: Option<BTreeSet<String>> = None;
    for launch in launches {
        let [items, group] = launch.sizes.map(|size| size.to_string());
        let mut options = vec!["--weakest", "--global", &items, "--local", &group];
        options.extend(launch.arguments.iter().flat_map(|argument| ["--arg", argument]));
        let (code, found) = findings(&format!("{head}\n{}\n", launch.kernel), &options);
        assert_eq!(code, Some(0), "{found:#}");
        let first = launch.outcomes.first().expect("an outcome");
        let names: Vec<&str> = first.split(' ').filter_map(|it| Some(it.split_once('=')?.0)).collect();
        let expected: BTreeSet<String> = launch.outcomes.iter().map(|&it| it.to_owned()).collect();
        for model in ["opencl", "vulkan"] {
            assert_eq!(shown(&found, model, &names), expected, "{model}");
        }
        // A launch of few work-items needs less than the scopes that the functions promise.
        let orders = found["weaker"].as_array().expect("a list").iter().filter_map(|it: &Value| {
            let [from, to] = [&it["from"]["order"], &it["to"]["order"]];
            (from != to).then(|| format!("line {}: {from} instead of {to}", it["line"]))
        });
        let orders = orders.collect();
        weaker = Some(match weaker {
            None => orders,
            Some(earlier) => earlier.intersection(&orders).cloned().collect(),
        });
    }
    assert_eq!(weaker, Some(BTreeSet::new()));
}

#[test]
fn locks() {
    let kernel = "kernel void k(global atomic_uint *lock, global int *count) {
        kiln_lock(lock);
        *count += 1;
        kiln_unlock(lock);
    }";
    let arguments = &["buf:uint[1]", "buf:int[1]"];
    prove(
        "#include <kiln/lock.h>",
        &[Launch { sizes: PAIR, arguments, kernel, outcomes: &["lock=0 count=2"] }],
    );
}

/// The argument for a queue with two slots: the number of values ever pushed, then the ticket and the value of each slot.
fn queue(tail: u32, slots: [u32; 4]) -> String {
    let mut words = [0; 68];
    words[0] = tail;
    words[64..].copy_from_slice(&slots);
    format!("buf:uint[68]={}", words.map(|word| word.to_string()).join(","))
}

#[test]
fn queues() {
    let (empty, full) = (queue(0, [0, 0, 1, 0]), queue(2, [1, 5, 2, 6]));
    let message = Launch {
        sizes: PAIR,
        arguments: &[&empty, "buf:int[1]", "buf:uint[2]"],
        kernel: "kernel void k(global uint *queue, global int *data, global uint *out) {
            uint value = 0;
            if (get_group_id(0) == 0) {
                *data = 7;
                kiln_queue_push(queue, 2, 5);
            } else if (kiln_queue_pop(queue, 2, &value)) {
                out[0] = value;
                out[1] = *data;
            }
        }",
        outcomes: &["out[0]=0 out[1]=0", "out[0]=5 out[1]=7"],
    };
    let reuse = Launch {
        sizes: PAIR,
        arguments: &[&full, "buf:uint[2]"],
        kernel: "kernel void k(global uint *queue, global uint *out) {
            uint value = 0;
            if (get_group_id(0) == 0) {
                out[0] = kiln_queue_push(queue, 2, 7);
            } else {
                kiln_queue_pop(queue, 2, &value);
                out[1] = value;
            }
        }",
        outcomes: &["queue[65]=5 out[0]=0 out[1]=5", "queue[65]=7 out[0]=1 out[1]=5"],
    };
    prove("#include <kiln/queue.h>", &[message, reuse]);
}

#[test]
fn device_barriers() {
    let launch = Launch {
        // With one work-item in each group, the fences of the groups' own barriers would suffice.
        sizes: [4, 2],
        arguments: &["buf:uint[1]", "buf:int[4]", "buf:int[4]"],
        kernel: "kernel void k(global atomic_uint *word, global int *a, global int *b) {
            int i = get_global_id(0);
            a[i] = i + 1;
            kiln_device_barrier(word);
            b[i] = a[3 - i];
        }",
        outcomes: &["word=2147483648 b[0]=4 b[1]=3 b[2]=2 b[3]=1"],
    };
    prove("#include <kiln/device_barrier.h>", &[launch]);
}

/// With 64-bit atomics in one word, and without them.
#[test]
fn states_of_scans() {
    let head = "#define KILN_NAME sum\n#define KILN_TYPE uint\n#define KILN_OP(a, b) ((a) + (b))\n\
                #define KILN_IDENTITY 0u\n#include <kiln/scan.h>";
    for before in ["", "#undef cl_khr_int64_base_atomics\n"] {
        let launch = Launch {
            sizes: PAIR,
            arguments: &["buf:ulong[4]", "buf:uint[2]"],
            kernel: "kernel void k(global ulong *state, global uint *out) {
                uint bits = 0;
                if (get_group_id(0) == 0) {
                    kiln_scan_publish(state, 0, 1, KILN_SCAN_SUM, 5);
                } else {
                    out[0] = kiln_scan_look(state, 0, 1, &bits);
                    out[1] = bits;
                }
            }",
            outcomes: &["out[0]=0 out[1]=0", "out[0]=1 out[1]=5"],
        };
        prove(&format!("{before}{head}"), &[launch]);
    }
}

#[test]
fn arrivals_of_reductions() {
    let launch = Launch {
        sizes: PAIR,
        arguments: &["buf:ulong[1]", "buf:int[2]", "buf:int[1]"],
        kernel: "kernel void k(global ulong *state, global int *parts, global int *out) {
            parts[get_group_id(0)] = get_group_id(0) + 5;
            if (kiln_reduce_arrive(state, 2))
                *out = parts[0] + parts[1];
        }",
        outcomes: &["out=11"],
    };
    let head = "#define KILN_NAME sum\n#define KILN_TYPE int\n#define KILN_OP(a, b) ((a) + (b))\n\
                #define KILN_IDENTITY 0\n#include <kiln/scan.h>";
    prove(head, &[launch]);
}

/// The second tile publishes its own count and then that of both tiles; the third one finds either. Relaxed operations suffice,
/// because a word contains the count and its state.
#[test]
fn counts_of_sorts() {
    let launch = Launch {
        sizes: [3, 1],
        arguments: &["buf:uint[768]", "buf:uint[1]"],
        kernel: "kernel void k(global uint *counts, global uint *out) {
            uint tile = get_group_id(0);
            if (tile == 2) {
                *out = kiln_sort_look_back(counts, tile, 1);
            } else {
                kiln_sort_publish(counts, tile, 1, tile + 3, tile == 0 ? KILN_SORT_ALL : KILN_SORT_OWN);
                if (tile == 1)
                    kiln_sort_publish(counts, tile, 1, 7, KILN_SORT_ALL);
            }
        }",
        outcomes: &["out=7"],
    };
    prove("#define KILN_NAME by_key\n#define KILN_SORT_LOOKS 2\n#include <kiln/sort.h>", &[launch]);
}

#[test]
fn hash_tables() {
    let launch = Launch {
        sizes: PAIR,
        arguments: &["buf:uint[4]=4294967295,0,4294967295,0", "buf:uint[2]"],
        kernel: "kernel void k(global uint *table, global uint *out) {
            uint i = get_group_id(0);
            kiln_hash_count(table, 2, 3, i + 1);
            uint value = 0;
            kiln_hash_find(table, 2, 3, &value);
            out[i] = value;
        }",
        outcomes: &["out[0]=1 out[1]=3", "out[0]=3 out[1]=2", "out[0]=3 out[1]=3"],
    };
    prove("#include <kiln/hash_table.h>", &[launch]);
}

#[test]
fn histograms() {
    let kernel = "kernel void k(global uint *bins) {
        local uint counts[KILN_HISTOGRAM_COPIES * 2];
        kiln_histogram_begin(counts, 2);
        kiln_histogram_count(counts, 2, 1);
        kiln_histogram_end(counts, 2, bins);
    }";
    prove(
        "#include <kiln/histogram.h>",
        &[Launch { sizes: [4, 2], arguments: &["buf:uint[2]"], kernel, outcomes: &["bins[1]=4"] }],
    );
}
