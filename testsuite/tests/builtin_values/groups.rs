//! Collective functions of sub-groups (OpenCL C 6.15.20 and its extensions) and of work-groups (6.15.16), for every type.

use kiln_testsuite::{
    launch::{Input, Job, launch},
    nightly,
};

use crate::{Device, INTEGERS, Kind, Scalar};

/// A group, from the viewpoint of one work-item.
struct Group<'a> {
    values: &'a [i128],
    active: &'a [bool],
    lane: usize,
}

impl Group<'_> {
    fn value(&self) -> i128 {
        self.values[self.lane]
    }

    /// The values of the active work-items in part of the group.
    fn part(&self, from: usize, to: usize) -> impl Iterator<Item = i128> {
        (from..to.min(self.values.len())).filter(|&lane| self.active[lane]).map(|lane| self.values[lane])
    }

    fn all(&self) -> impl Iterator<Item = i128> {
        self.part(0, self.values.len())
    }

    /// The ballot: a bit for each active work-item that satisfies the predicate.
    fn ballot(&self, holds: impl Fn(i128) -> bool) -> u128 {
        (0..self.values.len())
            .filter(|&lane| self.active[lane] && holds(self.values[lane]))
            .fold(0, |bits, lane| bits | 1 << lane)
    }

    fn first(&self) -> usize {
        self.active.iter().position(|&it| it).unwrap_or(0)
    }
}

type Exact = Box<dyn Fn(&Group) -> Option<i128>>;

/// A call with the value `x` of lane `l`, and a function that computes its result: `None` if it is undefined.
struct Call {
    text: String,
    /// Whether all work-items participate; otherwise two of three.
    is_uniform: bool,
    /// Whether the result has the type of the values.
    is_of_type: bool,
    exact: Exact,
}

fn call(
    text: &str,
    is_uniform: bool,
    is_of_type: bool,
    exact: impl Fn(&Group) -> Option<i128> + 'static,
) -> Call {
    Call { text: text.to_owned(), is_uniform, is_of_type, exact: Box::new(exact) }
}

/// A name, and the function that combines values.
type Fold = (&'static str, fn(i128, i128) -> i128);

const NUMBERS: [Fold; 4] =
    [("add", |a, b| a + b), ("min", |a, b| a.min(b)), ("max", |a, b| a.max(b)), ("mul", |a, b| a * b)];
const BITS: [Fold; 3] = [("and", |a, b| a & b), ("or", |a, b| a | b), ("xor", |a, b| a ^ b)];

/// The identity element, if it is the same for every type.
fn identity(name: &str) -> Option<i128> {
    match name {
        "add" | "or" | "xor" | "logical_or" | "logical_xor" => Some(0),
        "mul" | "logical_and" => Some(1),
        _ => None,
    }
}

/// Adds the reductions and scans with this prefix.
fn push_reductions_and_scans(calls: &mut Vec<Call>, prefix: &str, is_uniform: bool, all: &[Fold]) {
    for &(name, fold) in all {
        calls.push(call(&format!("{prefix}reduce_{name}(x)"), is_uniform, true, move |it| {
            it.all().reduce(fold)
        }));
        calls.push(call(&format!("{prefix}scan_inclusive_{name}(x)"), is_uniform, true, move |it| {
            it.part(0, it.lane + 1).reduce(fold)
        }));
        calls.push(call(&format!("{prefix}scan_exclusive_{name}(x)"), is_uniform, true, move |it| {
            it.part(0, it.lane).reduce(fold).or(identity(name))
        }));
    }
}

fn sub_group_calls(ty: Scalar) -> Vec<Call> {
    let mut calls = vec![
        call("sub_group_all(x > 1)", true, false, |it| Some(it.all().all(|x| x > 1).into())),
        call("sub_group_any(x > 2)", true, false, |it| Some(it.all().any(|x| x > 2).into())),
        call("sub_group_broadcast(x, 2)", true, true, |it| Some(it.values[2])),
        call("sub_group_elect()", false, false, |it| Some((it.first() == it.lane).into())),
        call("sub_group_non_uniform_all(x > 1)", false, false, |it| Some(it.all().all(|x| x > 1).into())),
        call("sub_group_non_uniform_any(x > 2)", false, false, |it| Some(it.all().any(|x| x > 2).into())),
        call("sub_group_non_uniform_all_equal(x)", false, false, |it| {
            Some(it.all().all(|x| x == it.value()).into())
        }),
        call("sub_group_non_uniform_broadcast(x, 2)", false, true, |it| Some(it.values[2])),
        call("sub_group_broadcast_first(x)", false, true, |it| Some(it.values[it.first()])),
        call("sub_group_ballot(x > 1).x", false, false, |it| Some(it.ballot(|x| x > 1) as i128)),
        call("sub_group_inverse_ballot((uint4)(5, 0, 0, 0))", false, false, |it| Some(5 >> it.lane & 1)),
        call("sub_group_ballot_bit_extract((uint4)(5, 0, 0, 0), l)", false, false, |it| {
            Some(5 >> it.lane & 1)
        }),
        call("sub_group_ballot_bit_count(sub_group_ballot(x > 1))", false, false, |it| {
            Some(it.ballot(|x| x > 1).count_ones().into())
        }),
        call("sub_group_ballot_inclusive_scan(sub_group_ballot(x > 1))", false, false, |it| {
            Some((it.ballot(|x| x > 1) & ((2u128 << it.lane) - 1)).count_ones().into())
        }),
        call("sub_group_ballot_exclusive_scan(sub_group_ballot(x > 1))", false, false, |it| {
            Some((it.ballot(|x| x > 1) & ((1u128 << it.lane) - 1)).count_ones().into())
        }),
        call("sub_group_ballot_find_lsb(sub_group_ballot(1))", false, false, |it| {
            Some(it.ballot(|_| true).trailing_zeros().into())
        }),
        call("sub_group_ballot_find_msb(sub_group_ballot(1))", false, false, |it| {
            Some((127 - it.ballot(|_| true).leading_zeros()).into())
        }),
        call("get_sub_group_eq_mask().x", true, false, |it| Some(1 << it.lane)),
        call("get_sub_group_lt_mask().x", true, false, |it| Some((1 << it.lane) - 1)),
        call("get_sub_group_le_mask().x", true, false, |it| Some((2 << it.lane) - 1)),
        call("get_sub_group_ge_mask().x", true, false, |it| Some((1 << it.values.len()) - (1 << it.lane))),
        call("get_sub_group_gt_mask().x", true, false, |it| Some((1 << it.values.len()) - (2 << it.lane))),
        call("sub_group_shuffle(x, (3 * l + 1) % get_sub_group_size())", true, true, |it| {
            Some(it.values[(3 * it.lane + 1) % it.values.len()])
        }),
        call("sub_group_shuffle_xor(x, 1)", true, true, |it| Some(it.values[it.lane ^ 1])),
        call("sub_group_shuffle_up(x, 1)", true, true, |it| {
            it.lane.checked_sub(1).map(|from| it.values[from])
        }),
        call("sub_group_shuffle_down(x, 1)", true, true, |it| it.values.get(it.lane + 1).copied()),
        call("sub_group_rotate(x, 3)", true, true, |it| Some(it.values[(it.lane + 3) % it.values.len()])),
        call("sub_group_rotate(x, -1)", true, true, |it| {
            Some(it.values[(it.lane + it.values.len() - 1) % it.values.len()])
        }),
        call("sub_group_clustered_rotate(x, 1, 2)", true, true, |it| Some(it.values[it.lane ^ 1])),
    ];
    for (name, fold) in [
        ("logical_and", (|a, b| (a != 0 && b != 0).into()) as fn(i128, i128) -> i128),
        ("logical_or", |a, b| (a != 0 || b != 0).into()),
        ("logical_xor", |a, b| ((a != 0) != (b != 0)).into()),
    ] {
        let over = move |values: &mut dyn Iterator<Item = i128>| {
            values.map(|x| i128::from(x > 1)).reduce(fold).or(identity(name))
        };
        for (form, from) in [("reduce", 0), ("scan_inclusive", 1), ("scan_exclusive", 2)] {
            let text = format!("sub_group_non_uniform_{form}_{name}(x > 1)");
            calls.push(call(&text, false, false, move |it| {
                let end = [it.values.len(), it.lane + 1, it.lane][from];
                over(&mut it.part(0, end))
            }));
        }
        let text = format!("sub_group_clustered_reduce_{name}(x > 1, 4)");
        calls.push(call(&text, false, false, move |it| over(&mut it.part(it.lane & !3, (it.lane & !3) + 4))));
    }
    push_reductions_and_scans(&mut calls, "sub_group_", true, &NUMBERS[..3]);
    push_reductions_and_scans(&mut calls, "sub_group_non_uniform_", false, &NUMBERS);
    let mut clustered = NUMBERS.to_vec();
    if ty.kind != Kind::Real {
        push_reductions_and_scans(&mut calls, "sub_group_non_uniform_", false, &BITS);
        clustered.extend(BITS);
    }
    for (name, fold) in clustered {
        for size in [1usize, 2, 4] {
            let text = format!("sub_group_clustered_reduce_{name}(x, {size})");
            calls.push(call(&text, false, true, move |it| {
                let first = it.lane & !(size - 1);
                it.part(first, first + size).reduce(fold)
            }));
        }
    }
    calls
}

fn work_group_calls() -> Vec<Call> {
    let mut calls = vec![
        call("work_group_all(x > 1)", true, false, |it| Some(it.all().all(|x| x > 1).into())),
        call("work_group_any(x > 2)", true, false, |it| Some(it.all().any(|x| x > 2).into())),
        call("work_group_broadcast(x, 5)", true, true, |it| Some(it.values[5])),
        call("work_group_broadcast(x, 6, 0)", true, true, |it| Some(it.values[6])),
        call("work_group_broadcast(x, 7, 0, 0)", true, true, |it| Some(it.values[7])),
    ];
    push_reductions_and_scans(&mut calls, "work_group_", true, &NUMBERS[..3]);
    calls
}

/// Runs the calls on groups of this size, and compares the results.
fn check(device: Device, ty: Scalar, calls: &[Call], items: usize, local: usize, group: usize) {
    let values: Vec<i128> = (0..items).map(|item| (item as i128 * 5 + item as i128 / 3) % 3 + 1).collect();
    let bits: Vec<u64> = values.iter().map(|&it| ty.bits_of(it as f64)).collect();
    for calls in calls.chunks(30) {
        let jobs: Vec<Job> = calls
            .iter()
            .enumerate()
            .map(|(number, call)| {
                let condition = if call.is_uniform { "" } else { "if (l % 3 != 1) " };
                let lane = if group == local { "get_local_id(0)" } else { "get_sub_group_local_id()" };
                Job {
                    kernel: format!(
                        "kernel void k{number}(global uint *out, global {} *a) {{\n    size_t j = get_global_id(0);\n    \
                         uint l = {lane};\n    {} x = a[j];\n    {condition}out[j] = (uint)(int)({});\n}}\n",
                        ty.name, ty.name, call.text
                    ),
                    out: "u32",
                    per_item: 1,
                    local: Some(local),
                }
            })
            .collect();
        let inputs = [Input::new(ty.argument(), ty.size(), &bits)];
        // Some work-items have undefined results. This test ignores them, but the reference device would report them.
        let strictness = device.device.is_strict().then_some("--no-checks");
        let options: Vec<&str> = ["-cl-ext=+all"].into_iter().chain(strictness).collect();
        let results = launch(device.device, &options, device.pragmas(), &jobs, &inputs);
        for (call, results) in calls.iter().zip(&results) {
            for (item, &got) in results.iter().enumerate() {
                let first = item / group * group;
                let lane = item - first;
                let active: Vec<bool> = (0..group).map(|lane| call.is_uniform || lane % 3 != 1).collect();
                if !active[lane] {
                    continue;
                }
                let own = Group { values: &values[first..first + group], active: &active, lane };
                let Some(expected) = (call.exact)(&own) else { continue };
                let expected = if call.is_of_type && ty.kind != Kind::Real {
                    ty.integer(expected as u64)
                } else {
                    expected
                };
                let text = &call.text;
                assert_eq!(
                    got,
                    u64::from(expected as u32),
                    "{text} of {} by {item} on {}",
                    ty.name,
                    device.name
                );
            }
        }
    }
}

pub(crate) fn sub_groups(device: Device) {
    // A sample of the types.
    let chosen = ["char", "ushort", "int", "ulong", "half", "float", "double"];
    let tests_all = nightly::tests_all("7 of 11 types of sub-group functions");
    let types = INTEGERS.iter().chain(device.reals());
    for &ty in types.filter(|ty| tests_all || chosen.contains(&ty.name)) {
        // Products of eight numbers up to three exceed the exact integers of half, and larger products exceed `int`.
        let has_products = ty.kind != Kind::Real || ty.name != "half" && device.sub_group <= 32;
        let mut calls = sub_group_calls(ty);
        calls.retain(|call| has_products || !call.text.contains("mul(") && !call.text.contains("_mul"));
        let items = device.sub_group.max(32);
        check(device, ty, &calls, items, items, device.sub_group);
    }
}

pub(crate) fn work_groups(device: Device) {
    for &ty in INTEGERS[4..].iter().chain(device.reals()) {
        for size in [48, device.work_group.saturating_sub(56).clamp(49, 300)] {
            check(device, ty, &work_group_calls(), 2 * size, size, size);
        }
    }
}
