//! Shared virtual memory (OpenCL API 5.6): structures with pointers that one side builds and the other follows.

use std::sync::atomic::Ordering;

use fastrand::Rng;
use kiln_runtime::Device;

use crate::{compile, launch};

const LIST: &str = "
typedef struct node { global struct node *next; uint value; } node;
kernel void walk(global node *first, global uint *out) {
    uint sum = 0, count = 0;
    for (global node *at = first; at; at = at->next) {
        sum += at->value;
        at->value += 1000;
        count++;
    }
    out[0] = sum;
    out[1] = count;
}
kernel void build(global node *nodes, uint count) {
    // In the order 0, 7, 14, … modulo the count.
    uint at = get_global_id(0);
    nodes[at].value = at * at;
    nodes[at].next = (at + 7) % count == 0 ? 0 : &nodes[(at + 7) % count];
}";

/// `node`: an address, a number, padding.
type Node = [u64; 2];

pub(crate) fn linked_lists(device: &Device) {
    let (program, queue) = (compile(device, LIST), device.queue().unwrap());
    let out = device.buffer::<u32>(2).unwrap();
    // Two allocations whose nodes point into each other, in no order.
    let mut halves = [device.svm::<Node>(300).unwrap(), device.svm::<Node>(300).unwrap()];
    let mut random = Rng::with_seed(5);
    let mut order: Vec<usize> = (0..600).collect();
    random.shuffle(&mut order);
    let mut next = 0;
    for node in order {
        let (half, index) = (node / 300, node % 300);
        halves[half][index] = [next, node as u64];
        next = halves[half].pointer(index);
    }
    let mut walk = program.kernel("walk").unwrap();
    // The head of the list is a pointer that the host computed: into the middle of an allocation.
    walk.set(0, kiln_runtime::Pointer(next)).unwrap().set(1, &out).unwrap();
    for round in 0..3 {
        let event = launch(&queue, &walk, 1).unwrap();
        event.wait().unwrap();
        assert_eq!(queue.read(&out).unwrap(), [(0..600).sum::<u32>() + round * 600_000, 600]);
        // The host sees the kernel's writes without a mapping.
        let added = u64::from(round + 1) * 1000;
        assert_eq!(halves[1][7][1], 307 + added);
        assert_eq!(halves[0][299][1], 299 + added);
    }
}

pub(crate) fn lists_built_by_kernels(device: &Device) {
    let (program, queue) = (compile(device, LIST), device.queue().unwrap());
    let nodes = device.svm::<Node>(100).unwrap();
    assert!(nodes.iter().all(|node| *node == [0; 2]));
    let mut build = program.kernel("build").unwrap();
    build.set(0, &nodes).unwrap().set(1, 100u32).unwrap();
    launch(&queue, &build, 100).unwrap().wait().unwrap();
    let (mut at, mut visited) = (Some(0), Vec::new());
    while let Some(index) = at {
        assert_eq!(nodes[index][1] & 0xffff_ffff, (index * index) as u64);
        visited.push(index);
        at = nodes.index_of(nodes[index][0]);
    }
    assert_eq!(visited, (0..100).map(|i| i * 7 % 100).collect::<Vec<_>>());
    assert_eq!(nodes.index_of(nodes.pointer(3) + 4), None);
    assert_eq!(nodes.index_of(nodes.pointer(99) + 16), None);
}

/// The host and a running kernel count together where the device supports it, and in turn on all devices.
pub(crate) fn fine_grain(device: &Device) {
    let source = "
        kernel void count(global atomic_uint *counter, uint times) {
            for (uint i = 0; i < times; i++)
                atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_all_svm_devices);
        }";
    let (program, queue) = (compile(device, source), device.queue().unwrap());
    let counter = device.svm::<u32>(1).unwrap().into_atomics();
    let mut kernel = program.kernel("count").unwrap();
    kernel.set(0, &counter).unwrap().set(1, 100u32).unwrap();
    let event = launch(&queue, &kernel, 1000).unwrap();
    queue.flush().unwrap();
    if !device.capabilities().svm_atomics {
        event.wait().unwrap();
        assert_eq!(counter[0].load(Ordering::Relaxed), 100_000);
    }
    for _ in 0..10_000 {
        counter[0].fetch_add(1, Ordering::Relaxed);
    }
    event.wait().unwrap();
    assert_eq!(counter[0].load(Ordering::Relaxed), 110_000);
}

/// Copies, fills, reads and writes of shared virtual memory, in order with launches and host commands.
#[allow(unsafe_code, reason = "the test waits before it uses the memory")]
pub(crate) fn commands(device: &Device) {
    let queue = device.queue().unwrap();
    let (mut one, two) = (device.svm::<u32>(64).unwrap(), device.svm::<u32>(64).unwrap());
    (0..64).for_each(|at| one[at] = at as u32);
    // SAFETY: the test waits for the queue before it uses the memory.
    let [source, target] = [&one, &two].map(|svm| unsafe { svm.buffer() });
    queue.copy(&source.slice(8..16).unwrap(), &target.slice(40..).unwrap()).unwrap();
    queue.fill_pattern(&target.slice(..4).unwrap().cast().unwrap(), &[1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    let wide = [device.buffer_from(&[5u32; 4]).unwrap(), target.slice(4..8).unwrap()];
    queue.copy(&wide[0], &wide[1]).unwrap();
    queue.nothing().unwrap();
    // A write reads memory that earlier commands change only when it runs.
    let copy = device.buffer_from(&[0u32; 64]).unwrap();
    super::host::write_from(&queue, &copy, &two);
    queue.finish().unwrap();
    assert_eq!(two[..8], [1, 2, 1, 2, 5, 5, 5, 5]);
    assert_eq!(two[40..48], [8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(queue.read(&copy).unwrap(), two[..]);
    // It is freed in the order of the queue.
    let launched = queue.fill(&target, 3).unwrap();
    drop((source, target, wide));
    let freed = queue.host(move || {
        assert!(two.iter().all(|word| *word == 3));
        drop(two);
        Ok(())
    });
    freed.unwrap().wait().unwrap();
    launched.wait().unwrap();
}
