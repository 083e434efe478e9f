//! Vector loads and stores (OpenCL C 6.15.7), copies by a work-group (6.15.11), and shuffles (6.15.13).

use kiln_testsuite::{
    launch::{Input, Job, launch},
    random::Random,
};

use crate::{Device, INTEGERS, Scalar};

const ITEMS: usize = 64;

/// A kernel's body, the number of results for each item, and the input index of each result.
struct Move {
    body: String,
    per_item: usize,
    from: Box<dyn Fn(usize, usize) -> usize>,
}

fn moves(ty: Scalar) -> Vec<Move> {
    let name = ty.name;
    let mut all = Vec::new();
    for width in [2usize, 3, 4, 8, 16] {
        // Indices wrap around, so that all reads are in bounds.
        let groups = ITEMS / width;
        all.push(Move {
            body: format!("vstore{width}(vload{width}(j % {groups}, a), j, out);"),
            per_item: width,
            from: Box::new(move |item, part| item % groups * width + part),
        });
        all.push(Move {
            body: format!(
                "local {name} part[64]; {name} own[16]; vstore{width}(vload{width}(j % {groups}, a), 0, own);\n    \
                 part[get_local_id(0)] = 0; barrier(CLK_LOCAL_MEM_FENCE);\n    \
                 if (get_local_id(0) == 0) vstore{width}(vload{width}(0, own), 1, part);\n    \
                 barrier(CLK_LOCAL_MEM_FENCE);\n    vstore{width}(vload{width}(1, part), j, out);"
            ),
            per_item: width,
            // The first item of the group has stored its value.
            from: Box::new(move |item, part| item / 16 * 16 % groups * width + part),
        });
        if width != 3 {
            all.push(Move {
                body: format!(
                    "{name}{width} v = vload{width}(j % {groups}, a);\n    {unsigned}{width} mask;\n    \
                     for (int i = 0; i < {width}; i++) (({unsigned} *)&mask)[i] = (i * 3 + j) % {width};\n    \
                     vstore{width}(shuffle(v, mask), j, out);",
                    unsigned = ty.unsigned()
                ),
                per_item: width,
                from: Box::new(move |item, part| item % groups * width + (part * 3 + item) % width),
            });
            all.push(Move {
                body: format!(
                    "{name}{width} v = vload{width}(j % {groups}, a), w = vload{width}((j + 1) % {groups}, a);\n    \
                     vstore2(shuffle2(v, w, ({unsigned}2)(1, {})), j, out);",
                    width + 1,
                    unsigned = ty.unsigned()
                ),
                per_item: 2,
                from: Box::new(move |item, part| (item + part) % groups * width + 1),
            });
        }
    }
    all.push(Move {
        body: format!(
            "local {name} part[16];\n    size_t group = get_group_id(0);\n    \
             event_t e = async_work_group_copy(part, a + group * 16, 16, 0);\n    wait_group_events(1, &e);\n    \
             {name} x = part[15 - get_local_id(0)];\n    barrier(CLK_LOCAL_MEM_FENCE);\n    part[get_local_id(0)] = x;\n    \
             barrier(CLK_LOCAL_MEM_FENCE);\n    e = async_work_group_copy(out + group * 16, part, 16, 0);\n    \
             wait_group_events(1, &e);"
        ),
        per_item: 1,
        from: Box::new(|item, _| item / 16 * 16 + 15 - item % 16),
    });
    all.push(Move {
        body: format!(
            "local {name} part[16];\n    size_t group = get_group_id(0);\n    prefetch(a, 4);\n    \
             event_t e = async_work_group_strided_copy(part, a + group, 16, 4, 0);\n    wait_group_events(1, &e);\n    \
             e = async_work_group_strided_copy(out + group * 16, part, 8, 2, 0);\n    wait_group_events(1, &e);\n    \
             barrier(CLK_GLOBAL_MEM_FENCE);\n    if (get_local_id(0) % 2 == 1) out[j] = part[0];"
        ),
        per_item: 1,
        from: Box::new(|item, _| item / 16 + if item % 2 == 1 { 0 } else { item % 16 / 2 * 4 }),
    });
    all.push(Move {
        body: format!(
            "local {name} part[24];\n    size_t group = get_group_id(0);\n    \
             event_t e = async_work_group_copy_2D2D(part, 0, a + group * 16, 1, sizeof({name}), 3, 4, 4, 5, 0);\n    \
             wait_group_events(1, &e);\n    out[j] = part[get_local_id(0) / 4 * 5 + min(get_local_id(0) % 4, (size_t)2)];"
        ),
        per_item: 1,
        from: Box::new(|item, _| item / 16 * 16 + item % 16 / 4 * 4 + 1 + (item % 4).min(2)),
    });
    all
}

pub(crate) fn memory(device: Device) {
    for &ty in INTEGERS.iter().chain(device.reals()) {
        let mut random = Random::new(31);
        // Avoids NaNs, whose bits a device may change.
        let exponent = if ty.bits == 16 { 0x7bff } else { ty.mask() >> 2 };
        let values: Vec<u64> = (0..ITEMS).map(|_| random.wide() & exponent | 1 << (ty.bits - 3)).collect();
        let mut all = moves(ty);
        all.retain(|it| device.has(&it.body));
        for moves in all.chunks(12) {
            let jobs: Vec<Job> = moves
                .iter()
                .enumerate()
                .map(|(number, it)| Job {
                    kernel: format!(
                        "kernel void k{number}(global {} *out, global {} *a) {{\n    size_t j = get_global_id(0);\n    {}\n}}\n",
                        ty.name, ty.name, it.body
                    ),
                    out: ty.argument(),
                    per_item: it.per_item,
                    local: Some(16),
                })
                .collect();
            let inputs = [Input::new(ty.argument(), ty.size(), &values)];
            let results = launch(device.device, &["-cl-ext=+all"], device.pragmas(), &jobs, &inputs);
            for (it, results) in moves.iter().zip(&results) {
                for (index, &got) in results.iter().enumerate() {
                    let (item, part) = (index / it.per_item, index % it.per_item);
                    let expected = values[(it.from)(item, part)] & ty.mask();
                    assert_eq!(
                        got, expected,
                        "{} by {item}, {part} on {}:\n{}",
                        ty.name, device.name, it.body
                    );
                }
            }
        }
    }
}
