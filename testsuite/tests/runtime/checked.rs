//! Programs compiled with bounds checks: accesses outside have no effect and are reported with their position.

use kiln_runtime::{Device, Error, Event};

use crate::{compile_with, launch};

const SOURCE: &str = "
typedef struct { float weight; uint3 v; } item;
global uint seen = 7;
kernel void put(global uint *out, uint at) {
    out[at] = 99;                           // line 5
}
kernel void get(global const item *items, global uint *out, int at) {
    out[get_global_id(0)] = items[at].v.y + seen;  // line 8
}
kernel void add(volatile global int *out, long at) {
    out[0] = atomic_add(&out[at], 5) + 1;   // line 11
}
kernel void follow(global uint *global *table, global uint *out) {
    out[0] = table[0][1];                   // line 14
}";

fn outside(result: kiln_runtime::Result<Event>) -> (String, u32, u64) {
    match result {
        Err(Error::OutsideBuffers { site, address, bytes, .. }) => {
            (site.split(':').nth(1).unwrap_or_default().to_owned(), bytes, address)
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn accesses_outside_objects_are_reported(device: &Device) {
    let program = compile_with(device, SOURCE, |options| options.bounds_checks = true);
    let queue = device.queue().unwrap();
    // One allocation, of which the kernel gets the middle.
    let whole = device.buffer_from(&[1u32; 32]).unwrap();
    let part = whole.slice(8..16).unwrap();
    let mut put = program.kernel("put").unwrap();
    put.set(0, &part).unwrap();
    for (at, address) in [(8u32, 32), (u32::MAX, 4 * u64::from(u32::MAX)), (20, 80)] {
        put.set(1, at).unwrap();
        let address = part.address().wrapping_add(address);
        assert_eq!(outside(launch(&queue, &put, 1)), ("5".to_owned(), 4, address));
    }
    assert_eq!(queue.read(&whole).unwrap(), [1; 32]);
    // The device still works, and accesses inside the bounds have taken effect.
    launch(&queue, put.set(1, 7u32).unwrap(), 1).unwrap();
    assert_eq!(queue.read(&whole).unwrap()[15], 99);

    // An `item` is 32 bytes, its vector at 16.
    let items = device.buffer_from(&(0..16u32).collect::<Vec<_>>()).unwrap();
    let out = device.buffer_from(&[0u32; 64]).unwrap();
    let mut get = program.kernel("get").unwrap();
    get.set(0, &items).unwrap().set(1, &out).unwrap();
    launch(&queue, get.set(2, 1i32).unwrap(), 1).unwrap();
    assert_eq!(queue.read(&out).unwrap()[0], 13 + 7);
    assert_eq!(outside(launch(&queue, get.set(2, -1i32).unwrap(), 1)).0, "8");
    assert_eq!(outside(launch(&queue, get.set(2, 2i32).unwrap(), 64)).0, "8");

    let mut add = program.kernel("add").unwrap();
    add.set(0, &out.slice(..1).unwrap()).unwrap();
    launch(&queue, add.set(1, 0i64).unwrap(), 1).unwrap();
    let before = queue.read(&out).unwrap();
    assert_eq!(outside(launch(&queue, add.set(1, 1i64 << 32).unwrap(), 1)).0, "11");
    assert_eq!(outside(launch(&queue, add.set(1, 1i64).unwrap(), 1)).1, 4);
    // The addition was skipped, and the statements after it were executed.
    assert_eq!(queue.read(&out).unwrap()[..2], [1, before[1]]);
}

pub(crate) fn stored_pointers_are_named(device: &Device) {
    let program = compile_with(device, SOURCE, |options| options.bounds_checks = true);
    let queue = device.queue().unwrap();
    let row = device.buffer_from(&[4u32, 5]).unwrap();
    let table = device.buffer_from(&[row.address()]).unwrap();
    let out = device.buffer_from(&[0u32]).unwrap();
    let mut follow = program.kernel("follow").unwrap();
    follow.set(0, &table).unwrap().set(1, &out).unwrap();
    assert_eq!(outside(launch(&queue, &follow, 1)), ("14".to_owned(), 4, row.address() + 4));
    launch(&queue, follow.reaches(&row), 1).unwrap();
    assert_eq!(queue.read(&out).unwrap(), [5]);
}

/// A program whose bounds checks the caller guarantees needs no `unsafe`.
pub(crate) fn checked_launches_are_safe(device: &Device) {
    let checked = crate::compile_checked(device, SOURCE);
    let queue = device.queue().unwrap();
    let out = device.buffer_from(&[1u32; 4]).unwrap();
    let mut put = checked.kernel("put").unwrap();
    put.set(0, &out).unwrap();
    queue.launch_checked(put.set(1, 3u32).unwrap(), 1).unwrap();
    assert_eq!(outside(queue.launch_checked(put.set(1, 4u32).unwrap(), 1)).0, "5");
    assert_eq!(queue.read(&out).unwrap(), [1, 1, 1, 99]);
    let rejected = |result: kiln_runtime::Result<Event>| match result {
        Err(Error::Launch { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let shared = device.svm::<u32>(4).unwrap();
    put.set(0, &shared).unwrap();
    assert!(rejected(queue.launch_checked(&put, 1)).contains("memory shared with the host"));
    let mut plain = crate::compile(device, SOURCE).kernel("put").unwrap();
    plain.set(0, &out).unwrap().set(1, 0u32).unwrap();
    assert!(rejected(queue.launch_checked(&plain, 1)).contains("no bounds checks"));
    // The module's own claim is not enough.
    let mut claimed =
        compile_with(device, SOURCE, |options| options.bounds_checks = true).kernel("put").unwrap();
    claimed.set(0, &out).unwrap().set(1, 0u32).unwrap();
    assert!(rejected(queue.launch_checked(&claimed, 1)).contains("are not trusted"));
}

const OBJECTS: &str = "
constant uint primes[4] = {2, 3, 5, 7};
kernel void local_array(global uint *out, int at) {
    local uint tile[16];
    uint id = get_local_id(0);
    tile[id] = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) out[0] = tile[at] + 100;                       // line 8
}
kernel void local_argument(global uint *out, local ushort *scratch, int at) {
    uint id = get_local_id(0);
    scratch[id] = id + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 3) scratch[at] = 77;                              // line 14
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id] = scratch[id];
}
kernel void private_array(global uint *out, int at) {
    uint history[8];
    for (int i = 0; i < 8; ++i) history[i] = out[i];
    history[at] += 5;                                           // line 21
    for (int i = 0; i < 8; ++i) out[i] = history[i];
}
kernel void constants(global uint *out, int at) {
    out[0] = primes[at];                                        // line 25
}
typedef struct { uchar tag[3]; float v[2]; } part;
kernel void members(global float *out, int which, int at) {
    part parts[2];
    for (int i = 0; i < 2; ++i) parts[i].v[0] = parts[i].v[1] = i;
    out[0] = parts[which].v[at];                                // line 31
}
kernel void walks(global uint *out, uint steps) {
    local uint ring[4];
    local uint *at = ring;
    for (uint i = 0; i < steps; ++i) *at++ = i;                 // line 36
    for (uint i = 0; i < 4; ++i) out[i] = ring[i];
}
kernel void either(global uint *out, int which, int at) {
    uint small[2] = {1, 2}, large[6] = {3, 4, 5, 6, 7, 8};
    uint *chosen = which ? large : small;
    out[0] = chosen[at];                                        // line 42
}
kernel void counts(global uint *out, int at) {
    local atomic_uint bins[4];
    uint id = get_local_id(0);
    if (id < 4) atomic_init(&bins[id], 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&bins[at], 1, memory_order_relaxed, memory_scope_work_group);  // line 49
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 4) out[id] = atomic_load_explicit(&bins[id], memory_order_relaxed, memory_scope_work_group);
}";

/// The line, the object, and the offset from its start.
fn outside_object(result: kiln_runtime::Result<Event>) -> (String, String, i64) {
    match result {
        Err(Error::OutsideObject { site, objects, distance, .. }) => {
            (site.split(':').nth(1).unwrap_or_default().to_owned(), objects, distance)
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn local_and_private_objects_are_kept(device: &Device) {
    let program = compile_with(device, OBJECTS, |options| options.bounds_checks = true);
    let queue = device.queue().unwrap();
    let of = |line: u32, object: &str, distance: i64| (line.to_string(), object.to_owned(), distance);
    let first: Vec<u32> = (10..18).collect();
    let out = device.buffer_from(&first).unwrap();
    let kernel = |name: &str| {
        let mut kernel = program.kernel(name).unwrap();
        kernel.set(0, &out).unwrap();
        kernel
    };
    let mut tile = kernel("local_array");
    launch(&queue, tile.set(1, 5i32).unwrap(), 8).unwrap();
    assert_eq!(queue.read(&out).unwrap()[0], 105);
    for at in [16, -1, i32::MAX] {
        let found = outside_object(launch(&queue, tile.set(1, at).unwrap(), 8));
        assert_eq!(found, of(8, "tile", 4 * i64::from(at)));
        // Reads out of bounds return zero.
        assert_eq!(queue.read(&out).unwrap()[0], 100);
    }
    let mut scratch = kernel("local_argument");
    scratch.set(1, kiln_runtime::Local::array::<u16>(8)).unwrap();
    launch(&queue, scratch.set(2, 7i32).unwrap(), kiln_runtime::NdRange::from(8).local(8)).unwrap();
    assert_eq!(queue.read(&out).unwrap(), [1, 2, 3, 4, 5, 6, 7, 77]);
    let found = outside_object(launch(&queue, scratch.set(2, 8i32).unwrap(), 8));
    assert_eq!(found, of(14, "scratch", 16));
    assert_eq!(queue.read(&out).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);

    let mut history = kernel("private_array");
    assert_eq!(outside_object(launch(&queue, history.set(1, 8i32).unwrap(), 1)), of(21, "history", 32));
    assert_eq!(queue.read(&out).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    launch(&queue, history.set(1, 7i32).unwrap(), 1).unwrap();
    assert_eq!(queue.read(&out).unwrap()[7], 13);

    let mut constants = kernel("constants");
    launch(&queue, constants.set(1, 3i32).unwrap(), 1).unwrap();
    assert_eq!(queue.read(&out).unwrap()[0], 7);
    assert_eq!(outside(launch(&queue, constants.set(1, 1i32 << 20).unwrap(), 1)).0, "25");

    let mut members = kernel("members");
    members.set(1, 1i32).unwrap();
    launch(&queue, members.set(2, 1i32).unwrap(), 1).unwrap();
    assert_eq!(f32::from_bits(queue.read(&out).unwrap()[0]), 1.0);
    assert_eq!(outside_object(launch(&queue, members.set(2, 2i32).unwrap(), 1)), of(31, "parts", 24));

    let mut walks = kernel("walks");
    launch(&queue, walks.set(1, 4u32).unwrap(), 1).unwrap();
    assert_eq!(queue.read(&out).unwrap()[..4], [0, 1, 2, 3]);
    assert_eq!(outside_object(launch(&queue, walks.set(1, 5u32).unwrap(), 1)), of(36, "ring", 16));

    let mut either = kernel("either");
    either.set(1, 1i32).unwrap();
    launch(&queue, either.set(2, 5i32).unwrap(), 1).unwrap();
    assert_eq!(queue.read(&out).unwrap()[0], 8);
    either.set(1, 0i32).unwrap();
    let found = outside_object(launch(&queue, either.set(2, 2i32).unwrap(), 1));
    assert_eq!((found.0.as_str(), found.1.contains("small") && found.1.contains("large")), ("42", true));

    let mut counts = kernel("counts");
    launch(&queue, counts.set(1, 2i32).unwrap(), kiln_runtime::NdRange::from(8).local(8)).unwrap();
    assert_eq!(queue.read(&out).unwrap()[..4], [0, 0, 8, 0]);
    assert_eq!(outside_object(launch(&queue, counts.set(1, 4i32).unwrap(), 8)), of(49, "bins", 16));
    assert_eq!(queue.read(&out).unwrap()[..4], [0, 0, 0, 0]);
}
