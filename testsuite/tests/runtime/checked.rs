//! Programs compiled with bounds checks: what lies outside is not touched, and told with its place.

use kiln_runtime::{Device, Error, Event};

use crate::{compile_with, launch};

const SOURCE: &str = "
typedef struct { float weight; uint3 v; } item;
global uint seen = 7;
kernel void put(global uint *out, uint at) {
    out[at] = 99;                           // line 5
}
kernel void get(global const item *items, global uint *out, int at) {
    out[0] = items[at].v.y + seen;          // line 8
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

pub(crate) fn accesses_outside_are_told(device: &Device) {
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
    // The device is as good as before, and what is inside is done.
    launch(&queue, put.set(1, 7u32).unwrap(), 1).unwrap();
    assert_eq!(queue.read(&whole).unwrap()[15], 99);

    // An `item` is 32 bytes, its vector at 16.
    let items = device.buffer_from(&(0..16u32).collect::<Vec<_>>()).unwrap();
    let out = device.buffer_from(&[0u32; 2]).unwrap();
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
    // The addition did not happen, what followed it did.
    assert_eq!(queue.read(&out).unwrap(), [1, before[1]]);
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
