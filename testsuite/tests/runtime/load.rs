//! Many launches, buffers and threads: memory use must not grow. `--nightly` uses more.

use std::fs;
use std::time::Duration;

use kiln_runtime::{Device, Event, UserEvent};
use kiln_testsuite::nightly;

use crate::{compile, launch};

const COUNT: &str = "kernel void count(global uint *data, uint by) { data[get_global_id(0)] += by; }";

/// The resources of the process: resident memory in MiB, open files, threads.
fn resources() -> [usize; 3] {
    // The callback thread may still hold a device.
    std::thread::sleep(Duration::from_millis(100));
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let resident = pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4 / 1024;
    let count = |folder| fs::read_dir(folder).unwrap().count();
    [resident, count("/proc/self/fd"), count("/proc/self/task")]
}

/// Does the work in rounds: resource use must not grow in the second half of them. No other test runs in this process
/// (`main.rs`).
fn assert_resources_stay_level(rounds: usize, mut work: impl FnMut(usize)) {
    let half = rounds / 2;
    (0..half).for_each(&mut work);
    let before = resources();
    (half..rounds).for_each(&mut work);
    let after = resources();
    assert!(after[0] <= before[0] + 24, "resident memory grew from {} to {} MiB", before[0], after[0]);
    assert!(after[1] <= before[1] + 2, "open files grew from {} to {}", before[1], after[1]);
    assert!(after[2] <= before[2] + 2, "threads grew from {} to {}", before[2], after[2]);
}

pub(crate) fn many_launches(device: &Device) {
    let (program, queue) = (compile(device, COUNT), device.queue().unwrap());
    let launches = nightly::count("launches in a process", 6000, 100_000) as u32;
    let data = device.buffer_from(&[0u32; 64]).unwrap();
    let mut kernel = program.kernel("count").unwrap();
    kernel.set(0, &data).unwrap();
    let mut last: Option<Event> = None;
    assert_resources_stay_level(launches as usize, |round| {
        kernel.set(1, 1u32 + (round % 2) as u32).unwrap();
        last = Some(launch(&queue, &kernel, 64).unwrap());
        if round % 1000 == 999 {
            queue.finish().unwrap();
        }
    });
    last.unwrap().wait().unwrap();
    assert_eq!(queue.read(&data).unwrap(), [launches / 2 * 3; 64]);
}

pub(crate) fn many_buffers(device: &Device) {
    let (program, queue) = (compile(device, COUNT), device.queue().unwrap());
    let buffers = nightly::count("buffers in a process", 1000, 10_000);
    let mut kernel = program.kernel("count").unwrap();
    kernel.set(1, 5u32).unwrap();
    // All at once.
    let all: Vec<_> = (0..buffers as u32).map(|n| device.buffer_from(&[n; 16]).unwrap()).collect();
    for buffer in &all {
        kernel.set(0, buffer).unwrap();
        launch(&queue, &kernel, 16).unwrap();
    }
    for (n, buffer) in (0..).zip(&all) {
        assert_eq!(queue.read(buffer).unwrap(), [n + 5; 16]);
    }
    drop(all);
    // Buffers of all sizes, one at a time.
    assert_resources_stay_level(buffers, |round| {
        let size = 16 + round * 37 % 5000;
        let buffer = device.buffer::<u32>(size).unwrap();
        queue.fill(&buffer, 1).unwrap();
        kernel.set(0, &buffer).unwrap();
        launch(&queue, &kernel, size).unwrap();
        assert_eq!(queue.read(&buffer.slice(size - 1..).unwrap()).unwrap(), [6]);
    });
}

pub(crate) fn many_threads(device: &Device) {
    let program = compile(device, COUNT);
    let rounds = nightly::count("launches in each of 16 threads", 60, 1000) as u32;
    assert_resources_stay_level(4, |_| {
        std::thread::scope(|scope| {
            for thread in 0..16u32 {
                let (program, device) = (program.clone(), device.clone());
                scope.spawn(move || {
                    let queue = if thread % 2 == 0 { device.queue() } else { device.unordered_queue() };
                    let queue = queue.unwrap();
                    let data = device.buffer_from(&[thread; 256]).unwrap();
                    let mut kernel = program.kernel("count").unwrap();
                    kernel.set(0, &data).unwrap().set(1, thread).unwrap();
                    let gate = UserEvent::new();
                    let mut last = queue.after([gate.event()]).marker().unwrap();
                    for _ in 0..rounds {
                        last = launch(&queue.after([&last]), &kernel, 256).unwrap();
                    }
                    gate.complete();
                    let read = queue.after([&last]).read(&data).unwrap();
                    assert_eq!(read, [thread * (rounds + 1); 256]);
                });
            }
        });
    });
}

/// Threads that share a queue build programs, launch each once, and drop it: no result comes from another thread's program
/// (`stale_kernel_code` in docs/driver-bugs.md).
pub(crate) fn programs_of_many_threads(device: &Device) {
    const KERNELS: u32 = 40;
    let rounds = nightly::count("programs built by each of 8 threads", 12, 2000) as u32;
    let queue = device.queue().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let queue = queue.clone();
            scope.spawn(move || {
                let data = device.buffer::<u32>(256).unwrap();
                for round in 0..rounds {
                    let factor = 3 + (thread * 7 + round * 11) % KERNELS;
                    let source = format!(
                        "kernel void f(global uint *out, uint by) {{ uint i = get_global_id(0); out[i] = i * {factor} + by; }}"
                    );
                    let by = thread << 24 | round;
                    let mut kernel = compile(device, &source).kernel("f").unwrap();
                    kernel.set(0, &data).unwrap().set(1, by).unwrap();
                    launch(&queue, &kernel, 256).unwrap();
                    let expected: Vec<u32> = (0..256).map(|i| i * factor + by).collect();
                    assert_eq!(queue.read(&data).unwrap(), expected, "thread {thread}, round {round}");
                }
            });
        }
    });
}

/// A queue, a program and a device are gone when they are dropped.
pub(crate) fn load_of_all_commands(device: &Device) {
    let source = "global uint state = 3; kernel void step(global uint *out) { *out = state++; }";
    let rounds = nightly::count("devices opened and closed", 40, 400);
    assert_resources_stay_level(rounds, |_| {
        let own = crate::same_device(device);
        let (program, queue) = (compile(&own, source), own.queue().unwrap());
        let out = own.buffer::<u32>(1).unwrap();
        let mut kernel = program.kernel("step").unwrap();
        kernel.set(0, &out).unwrap();
        let event = launch(&queue, &kernel, 1).unwrap();
        event.on_end(|result| result.unwrap());
        assert_eq!(queue.read(&out).unwrap(), [3]);
    });
}
