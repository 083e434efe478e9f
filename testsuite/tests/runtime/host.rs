//! Host commands, transfers to and from memory of the caller, and callbacks for each status.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use kiln_runtime::{Buffer, Device, Error, Event, Queue, QueueOptions, QueueOrder, Status, UserEvent};

const SOURCE: &str = "kernel void add(global uint *data, uint n) { data[get_global_id(0)] += n; }";
const WORDS: usize = 1000;
/// Sizes in words of transfers whose chunks are in flight together, and of one whose chunks are not.
const SIZES: [(QueueOrder, u32); 4] = [
    (QueueOrder::InOrder, 3_000_001),
    (QueueOrder::OutOfOrder, 3_000_001),
    (QueueOrder::InOrder, 5_000_001),
    (QueueOrder::OutOfOrder, 5_000_001),
];
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads into a slice without blocking.
#[allow(unsafe_code, reason = "the tests keep the slices")]
pub(crate) fn read_to<T: bytemuck::Pod>(queue: &Queue, buffer: &Buffer<T>, target: &mut [T]) -> Event {
    // SAFETY: the tests wait for the event before they use the slice.
    unsafe { queue.read_to(buffer, NonNull::from(target)).unwrap() }
}

/// Writes from a slice without blocking.
#[allow(unsafe_code, reason = "the tests keep the slices")]
pub(crate) fn write_from<T: bytemuck::Pod>(queue: &Queue, buffer: &Buffer<T>, source: &[T]) -> Event {
    // SAFETY: the tests wait for the event before they change the slice.
    unsafe { queue.write_from(buffer, NonNull::from(source)).unwrap() }
}

fn profiled(device: &Device, order: QueueOrder) -> Queue {
    device.queue_with(QueueOptions { order, profiling: true }).unwrap()
}

/// A host command runs after the earlier commands of an in-order queue and before the later ones.
pub(crate) fn in_order(device: &Device) {
    let program = super::compile(device, SOURCE);
    let (queue, other) = (profiled(device, QueueOrder::InOrder), device.queue().unwrap());
    let data = device.buffer_from(&[0u32; WORDS]).unwrap();
    let mut kernel = program.kernel("add").unwrap();
    kernel.set(0, &data).unwrap().set(1, 1u32).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut events = Vec::new();
    for _ in 0..10 {
        let launched = super::launch(&queue, &kernel, WORDS).unwrap();
        events.push(launched.clone());
        let (seen, other, data) = (seen.clone(), other.clone(), data.clone());
        let host = queue.host(move || {
            assert_eq!(launched.status(), Ok(Status::Complete));
            // Another queue sees the writes of this one.
            seen.lock().unwrap().push(other.read(&data)?);
            Ok(())
        });
        events.push(host.unwrap());
    }
    queue.finish().unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 10);
    for (words, number) in seen.iter().zip(1..) {
        assert!(words.iter().all(|word| *word == number), "{number}: {}", words[0]);
    }
    let times: Vec<_> = events.iter().map(|event| event.times().unwrap()).collect();
    assert!(times.iter().all(|t| t.queued <= t.submitted && t.submitted <= t.start && t.start <= t.end));
    for pair in times.windows(2) {
        assert!(pair[0].end <= pair[1].end && pair[0].queued <= pair[1].queued, "{pair:?}");
    }
}

/// Out of order, only wait lists and barriers order host commands, also across queues.
pub(crate) fn wait_lists(device: &Device) {
    let (queue, other) = (device.unordered_queue().unwrap(), device.queue().unwrap());
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = order.clone();
        move || {
            order.lock().unwrap().push(name);
            Ok(())
        }
    };
    let gate = UserEvent::new();
    let held = queue.after([gate.event()]).host(note("held")).unwrap();
    let free = queue.host(note("free")).unwrap();
    free.wait().unwrap();
    let behind = other.after([&held]).host(note("behind")).unwrap();
    let data = device.buffer_from(&[0u32; WORDS]).unwrap();
    let filled = queue.after([&behind]).fill(&data, 3).unwrap();
    let barrier = queue.barrier().unwrap();
    let last = queue.host(note("last")).unwrap();
    assert_eq!(held.status(), Ok(Status::Queued));
    for event in [&behind, &filled, &barrier, &last] {
        assert_eq!(event.status(), Ok(Status::Queued));
    }
    gate.complete();
    last.wait().unwrap();
    assert_eq!(*order.lock().unwrap(), ["free", "held", "behind", "last"]);
    assert_eq!(filled.status(), Ok(Status::Complete));
    assert_eq!(other.after([&filled]).read(&data).unwrap(), [3; WORDS]);
}

/// A host command that fails stops the commands that wait for it, and no others.
pub(crate) fn failures(device: &Device) {
    let queue = device.queue().unwrap();
    let other = device.queue().unwrap();
    let data = device.buffer_from(&[0u32; 4]).unwrap();
    let failed = queue.host(|| Err(Error::HostCommand { reason: "no reason".to_owned() })).unwrap();
    let panicked = queue.host(|| panic!("for a test")).unwrap();
    let follower = queue.fill(&data, 1).unwrap();
    let doomed = other.after([&failed]).fill(&data, 2).unwrap();
    let doomed_too = other.after([&doomed]).host(|| unreachable!("its wait list has failed")).unwrap();
    follower.wait().unwrap();
    assert!(failed.wait().unwrap_err().to_string().contains("no reason"));
    assert!(panicked.wait().unwrap_err().to_string().contains("for a test"));
    for event in [&doomed, &doomed_too] {
        assert!(matches!(event.wait(), Err(Error::WaitList { .. })));
    }
    assert_eq!(queue.read(&data).unwrap(), [1; 4]);
}

/// Reads and writes of the caller's memory happen in the order of the queue.
#[allow(unsafe_code, reason = "the tests keep the slices")]
pub(crate) fn transfers(device: &Device) {
    for (order, words) in SIZES {
        let queue = device.queue_with(QueueOptions { order, profiling: true }).unwrap();
        let numbers: Vec<u32> = (0..words).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let source = device.buffer_from(&numbers).unwrap();
        let target = device.buffer_from(&vec![0u32; numbers.len()]).unwrap();
        let mut through = vec![7u32; numbers.len()];
        let mut again = vec![0u32; numbers.len()];
        let gate = UserEvent::new();
        // The second command writes what the first has read.
        let read = read_to(&queue.after([gate.event()]), &source, &mut through);
        let wrote = write_from(&queue.after([&read]), &target, &through);
        let back = read_to(&queue.after([&wrote]), &target, &mut again);
        let quick = device.unordered_queue().unwrap().host(|| Ok(())).unwrap();
        quick.wait().unwrap();
        assert_eq!(back.status(), Ok(Status::Queued));
        assert_eq!(again[..3], [0; 3]);
        gate.complete();
        back.wait().unwrap();
        assert!(again == numbers);
        for times in [&read, &wrote, &back].map(|event| event.times().unwrap()) {
            assert!(times.queued <= times.submitted && times.submitted <= times.start);
            assert!(times.start < times.end);
        }
        // No command is held back, so the write may read the memory immediately or later.
        let part = target.slice(5..9).unwrap();
        write_from(&queue, &part, &[1, 2, 3, 4]).wait().unwrap();
        assert_eq!(queue.read(&part).unwrap(), [1, 2, 3, 4]);
        let mut five = [0; 5];
        // SAFETY: the slice outlives the call, which fails.
        let outside = unsafe { queue.read_to(&part, NonNull::from(&mut five[..])) };
        assert!(matches!(outside, Err(Error::OutOfBounds { .. })));
        read_to(&queue, &part, &mut []).wait().unwrap();
    }
}

/// A blocking read returns with the contents, and the memory of a blocking write may be reused at once.
pub(crate) fn blocking_transfers(device: &Device) {
    for (order, words) in SIZES {
        let queue = device.queue_with(QueueOptions { order, ..QueueOptions::default() }).unwrap();
        let numbers: Vec<u32> = (0..words).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let (data, mut source) = (device.buffer::<u32>(numbers.len()).unwrap(), numbers.clone());
        let wrote = write_from(&queue.blocking(), &data, &source);
        source.fill(1);
        let mut target = vec![0; numbers.len()];
        let _ = read_to(&queue.blocking().after([&wrote]), &data, &mut target);
        assert!(target == numbers);
        let gate = UserEvent::new();
        let held = queue.blocking().after([gate.event()]);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                write_from(&held, &data, &source);
                source.fill(2);
            });
            gate.complete();
            writer.join().unwrap();
        });
        queue.finish().unwrap();
        assert!(queue.read(&data).unwrap().iter().all(|word| *word == 1));
    }
}

/// A blocking write from memory that an earlier kernel writes sees what the kernel has written.
#[allow(unsafe_code, reason = "the test keeps the memory")]
pub(crate) fn writes_of_shared_memory(device: &Device) {
    let (program, queue) = (super::compile(device, SOURCE), device.queue().unwrap());
    let mut shared = device.svm::<u32>(WORDS).unwrap();
    let memory = NonNull::from(&mut shared[..]);
    let target = device.buffer::<u32>(WORDS).unwrap();
    let mut kernel = program.kernel("add").unwrap();
    kernel.set(0, &shared).unwrap().set(1, 3u32).unwrap();
    for round in 1..20 {
        super::launch(&queue, &kernel, WORDS).unwrap();
        // SAFETY: the memory outlives the queue's commands, and the host does not access it before the next wait.
        unsafe { queue.blocking().write_from(&target, memory).unwrap() };
        assert_eq!(queue.read(&target).unwrap(), [3 * round; WORDS]);
    }
}

/// Callbacks run when their status is reached, and receive the error of a failure. Those of different statuses can run
/// on different threads, so a test can rely on their order only where the command cannot advance.
pub(crate) fn callbacks(device: &Device) {
    let queue = device.queue().unwrap();
    let data = device.buffer_from(&[0u32; WORDS]).unwrap();
    let (sender, receiver) = mpsc::channel();
    let listen = |event: &Event| {
        for status in [Status::Complete, Status::Running, Status::Submitted, Status::Queued] {
            let sender = sender.clone();
            event.on_status(status, move |result| sender.send((status, result.is_ok())).unwrap());
        }
    };
    let next = || receiver.recv_timeout(PATIENCE).unwrap();
    let gate = UserEvent::new();
    let (inside, outside) = (mpsc::channel(), mpsc::channel());
    let host = queue
        .after([gate.event()])
        .host(move || {
            inside.0.send(()).unwrap();
            outside.1.recv_timeout(PATIENCE).unwrap();
            Ok(())
        })
        .unwrap();
    listen(&host);
    assert_eq!(next(), (Status::Queued, true));
    assert!(receiver.recv_timeout(Duration::from_millis(5)).is_err());
    gate.complete();
    let mut statuses = [next(), next()];
    statuses.sort_unstable();
    assert_eq!(statuses, [Status::Submitted, Status::Running].map(|status| (status, true)));
    inside.1.recv_timeout(PATIENCE).unwrap();
    assert_eq!(host.status(), Ok(Status::Running));
    assert!(receiver.recv_timeout(Duration::from_millis(5)).is_err());
    outside.0.send(()).unwrap();
    assert_eq!(next(), (Status::Complete, true));
    // The statuses of a device command.
    let filled = queue.fill(&data, 1).unwrap();
    listen(&filled);
    let mut statuses = [next(), next(), next(), next()];
    statuses.sort_unstable();
    let all = [Status::Queued, Status::Submitted, Status::Running, Status::Complete];
    assert_eq!(statuses, all.map(|status| (status, true)));
    // The statuses of a command that does not run.
    let gate = UserEvent::new();
    listen(&queue.after([gate.event()]).fill(&data, 2).unwrap());
    assert_eq!(next(), (Status::Queued, true));
    gate.fail("for a test");
    let mut statuses = [next(), next(), next()];
    statuses.sort_unstable();
    assert_eq!(
        statuses,
        [Status::Submitted, Status::Running, Status::Complete].map(|status| (status, false))
    );
}

/// Host commands and callbacks may call any function of the API without a deadlock.
pub(crate) fn no_deadlocks(device: &Device) {
    let [one, two] = [0; 2].map(|_| device.queue().unwrap());
    let data = device.buffer_from(&[0u32; WORDS]).unwrap();
    // A host command waits for another queue, whose command waits for a user event that a callback completes.
    let (gate, trigger) = (UserEvent::new(), UserEvent::new());
    let filled = two.after([gate.event()]).fill(&data, 5).unwrap();
    trigger.event().on_end(move |_| gate.complete());
    let (reader, target, waited) = (two.clone(), data.clone(), filled.clone());
    let host = one.host(move || {
        trigger.complete();
        waited.wait()?;
        assert_eq!(reader.read(&target)?, [5; WORDS]);
        Ok(())
    });
    host.unwrap().wait().unwrap();
    // A callback waits for a host command that it enqueues, and a host command enqueues commands that follow it.
    let (sender, receiver) = mpsc::channel();
    let queue = one.clone();
    one.fill(&data, 6).unwrap().on_end(move |_| {
        queue.host(|| Ok(())).unwrap().wait().unwrap();
        sender.send(()).unwrap();
    });
    receiver.recv_timeout(PATIENCE).unwrap();
    let (sender, receiver) = mpsc::channel();
    let queue = one.clone();
    one.host(move || {
        sender.send(queue.host(|| Ok(()))?).unwrap();
        Ok(())
    })
    .unwrap();
    receiver.recv_timeout(PATIENCE).unwrap().wait().unwrap();
    // Commands outlive their queue, and host commands their device's last handle.
    let count = Arc::new(AtomicU32::new(0));
    let events: Vec<_> = (0..50)
        .map(|_| {
            let (queue, count) = (super::same_device(device).queue().unwrap(), count.clone());
            queue
                .host(move || {
                    count.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                })
                .unwrap()
        })
        .take(5)
        .collect();
    Event::wait_all(&events).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 5);
}

/// Threads enqueue commands of the host and the device on queues of both kinds, and every command sees what the commands of
/// its wait list did.
pub(crate) fn many_threads(device: &Device) {
    let queues = [device.queue().unwrap(), device.unordered_queue().unwrap()];
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let queues = &queues;
            scope.spawn(move || {
                let data = device.buffer_from(&[0u32; 16]).unwrap();
                let last = Arc::new(AtomicU32::new(0));
                let mut event: Option<Event> = None;
                for round in 1..60u32 {
                    let queue = queues[(round * (thread + 3) / 2) as usize % 2].after(&event);
                    event = Some(if round % 3 == 0 {
                        let last = last.clone();
                        let (reader, data) = (device.queue().unwrap(), data.clone());
                        queue
                            .host(move || {
                                assert_eq!(reader.read(&data)?, [round - 1; 16]);
                                assert_eq!(last.swap(round, Ordering::Relaxed), round.saturating_sub(3));
                                reader.fill(&data, round)?.wait()
                            })
                            .unwrap()
                    } else {
                        queue.fill(&data, round).unwrap()
                    });
                }
                event.unwrap().wait().unwrap();
                assert_eq!(device.queue().unwrap().read(&data).unwrap(), [59; 16]);
            });
        }
    });
}

/// Both timers advance together, and events of all queues use the device's.
pub(crate) fn timers(device: &Device) {
    let queue = profiled(device, QueueOrder::InOrder);
    let before = device.timers();
    let event = queue
        .host(|| {
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        })
        .unwrap();
    event.wait().unwrap();
    let filled = queue.fill(&device.buffer::<u32>(WORDS).unwrap(), 1).unwrap();
    filled.wait().unwrap();
    let after = device.timers();
    let (by_device, by_host) = (after.device - before.device, after.host - before.host);
    assert!(by_device >= 20_000_000 && by_device == by_host, "{by_device} {by_host}");
    assert!(after.host <= kiln_runtime::Timers::host() && before.host > 0);
    for times in [&event, &filled].map(|event| event.times().unwrap()) {
        assert!(before.device <= times.queued && times.end <= after.device, "{before:?} {times:?} {after:?}");
    }
    let (data, other) = (device.buffer::<u32>(WORDS).unwrap(), profiled(device, QueueOrder::InOrder));
    for _ in 0..40 {
        let first = queue.fill(&data, 1).unwrap();
        let second = other.after([&first]).fill(&data, 2).unwrap();
        let [first, second] = [first, second].map(|event| {
            event.wait().unwrap();
            event.times().unwrap()
        });
        assert!(first.end <= second.start, "{first:?} {second:?}");
    }
}
